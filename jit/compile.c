#include "jit/compile.h"

#include <stdlib.h>

#include "jit/backend.h"
#include "lower/lower.h"
#include "support/fail.h"

tw_status tw_compile(tw_compiler *compiler, const tw_kernel *kernel, const tw_compile_options *options,
                     tw_code_object **out, tw_diag *diag) {
    if (!compiler || !kernel || !out)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compile: compiler, kernel and out must not be NULL");
    *out = NULL;
    tw_compile_options used = {0};
    if (options) {
        used = *options;
    } else {
        used.cache = tw_compiler_default_cache(compiler, diag);
    }
    if (!used.name) used.name = tw_kernel_name(kernel);
    tw_compile_times unwanted;
    if (!used.times) used.times = &unwanted;
    *used.times = (tw_compile_times){0};
    tw_compiler_choice choice;
    tw_target target = tw_kernel_target(kernel);
    tw_status status = tw_compiler_choose(compiler, target, &choice, diag);
    if (status) return status;
    char *text;
    size_t length;
    uint64_t start = tw_now();
    status = tw_lower(kernel, choice.flavor, &text, &length, diag);
    uint64_t lowering = tw_now() - start;
    used.times->lower = lowering;
    if (status) return status;
    status = tw_compile_llvm_ir(compiler, text, length, target, &used, out, diag);
    used.times->lower = lowering; /* the call before began the times anew */
    free(text);
    return status;
}
