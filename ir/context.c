#include "ir/context.h"

#include "ir/ir.h"
#include "support/arena.h"

tw_context *tw_context_new(const tw_context_options *options) {
    const tw_allocator *allocator =
        options && options->allocator ? options->allocator : &tw_allocator_default;
    tw_context *ctx = allocator->allocate(allocator->user, sizeof *ctx);
    if (!ctx) return NULL;
    *ctx = (tw_context){.allocator = allocator, .diag = tw_diag_new(allocator)};
    if (!ctx->diag) {
        allocator->release(allocator->user, ctx);
        return NULL;
    }
    if (options) tw_diag_set_callback(ctx->diag, options->on_diagnostic, options->user);
    return ctx;
}

void tw_context_free(tw_context *ctx) {
    if (!ctx) return;
    while (ctx->kernels)
        tw_kernel_free(ctx->kernels);
    tw_diag_free(ctx->diag);
    ctx->allocator->release(ctx->allocator->user, ctx);
}

tw_diag *tw_context_diag(tw_context *ctx) { return ctx->diag; }

const char *tw_context_diagnostics(tw_context *ctx) { return tw_diag_text(ctx->diag); }
