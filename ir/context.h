/* A context owns the allocator, the diagnostics and the kernels made with it. One thread at a time; two
 * contexts never wait for each other. */
#ifndef TW_IR_CONTEXT_H
#define TW_IR_CONTEXT_H

#include "support/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_context tw_context;

typedef struct tw_context_options {
    const tw_allocator *allocator;  /* NULL: malloc; must outlive the context */
    tw_diag_callback on_diagnostic; /* may be NULL */
    void *user;                     /* given to on_diagnostic */
} tw_context_options;

/* `options` may be NULL. NULL when memory is out. */
TW_API tw_context *tw_context_new(const tw_context_options *options);
/* Frees the kernels that are left, too. NULL is fine. */
TW_API void tw_context_free(tw_context *ctx);
/* The context's list of diagnostics: belongs to the context; pass it to calls that take a tw_diag. */
TW_API tw_diag *tw_context_diag(tw_context *ctx);
/* tw_diag_text of that list: valid until the next call with the context. */
TW_API const char *tw_context_diagnostics(tw_context *ctx);

#ifdef __cplusplus
}
#endif
#endif
