/* What the suites of the lowerer share. */
#ifndef TW_TESTS_LOWER_HELPERS_H
#define TW_TESTS_LOWER_HELPERS_H

#include "tests/test.h"

#include "ir/kernel.h"
#include "jit/compiler.h"
#include "lower/lower.h"

/* All targets, those with a choice of wave size twice. */
extern const char *const lower_targets[];
extern const size_t lower_target_count;

tw_target target_named(const char *name);
/* The text of `kernel`; fails the test where it is refused. free() it. */
char *lower_text(const tw_kernel *kernel, tw_flavor flavor, size_t *length);
/* The assembly that LLVM 22 makes of `kernel`. free() it. */
char *assembly_of(tw_compiler *compiler, const tw_kernel *kernel);
/* A kernel from text, for `target` in place of the text's. */
tw_kernel *kernel_from_text(tw_context *ctx, const char *text, tw_target target);
/* Times that `part` stands in `text`. */
size_t count_of(const char *text, const char *part);

#endif
