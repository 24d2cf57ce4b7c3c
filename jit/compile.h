/* From a kernel to its code object in one call. */
#ifndef TW_JIT_COMPILE_H
#define TW_JIT_COMPILE_H

#include "ir/kernel.h"
#include "jit/compiler.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Verifies and lowers `kernel` in the flavor that the compiler has for its target, and compiles the text.
 * With NULL for `options` it goes through the kernel cache in its usual folder, which the compiler opens
 * once; options say what they want: their `cache`, or none. A cache that cannot be opened or written costs a
 * warning. On success *out belongs to the caller. The kernel is only read: threads may compile one kernel, or
 * share one compiler, each with a `diag` of its own. */
TW_API tw_status tw_compile(tw_compiler *compiler, const tw_kernel *kernel, const tw_compile_options *options,
                            tw_code_object **out, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
