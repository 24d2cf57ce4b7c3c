#include "tests/ir/run_text.h"

#include "tests/test.h"

#include <string.h>

tw_status run_text(const char *text, const uint32_t grid[3], const tw_interp_arg *args, size_t arg_count,
                   const tw_interp_options *options, char message[512]) {
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel;
    if (tw_kernel_parse(ctx, text, strlen(text), NULL, &kernel)) fail_msg("%s", tw_context_diagnostics(ctx));
    tw_status status = tw_interp_run(kernel, grid, args, arg_count, options, tw_context_diag(ctx));
    if (message) {
        strncpy(message, tw_context_diagnostics(ctx), 511);
        message[511] = '\0';
    } else if (status) {
        fail_msg("%s", tw_context_diagnostics(ctx));
    }
    tw_context_free(ctx);
    return status;
}
