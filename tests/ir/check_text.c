#include "tests/ir/check_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tests/ir/all_ops.h"

static check_outcome failed(const char *what, const char *text, size_t length) {
    fprintf(stderr, "%s:\n%.*s\n", what, (int)length, text);
    return CHECK_FAILED;
}

/* The canonical text of a kernel that parses; NULL where it does not. */
static char *canonical(tw_context *ctx, const char *text, size_t length) {
    tw_kernel *kernel;
    char *out = NULL;
    if (tw_kernel_parse(ctx, text, length, NULL, &kernel)) return NULL;
    tw_kernel_to_text(kernel, &out, NULL, NULL);
    return out;
}

/* What the verifier has not seen must print, too. */
static void print_unverified(tw_context *ctx, const char *text, size_t length) {
    tw_kernel *kernel;
    char *out;
    if (tw_kernel_parse_unverified(ctx, text, length, NULL, &kernel)) return;
    if (!tw_kernel_to_text(kernel, &out, NULL, NULL)) free(out);
}

check_outcome check_text(const char *text, size_t length) {
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return failed("out of memory", "", 0);
    check_outcome outcome = CHECK_ACCEPTED;
    char *first = canonical(ctx, text, length);
    if (first) {
        char *second = canonical(ctx, first, strlen(first));
        if (!second) {
            outcome = failed(tw_context_diagnostics(ctx), first, strlen(first));
        } else if (strcmp(first, second)) {
            outcome = failed("the canonical text does not read back as itself", first, strlen(first));
        }
        free(second);
    } else {
        outcome = tw_diag_count(tw_context_diag(ctx)) ? CHECK_REFUSED
                                                      : failed("refused without a word", text, length);
        print_unverified(ctx, text, length);
    }
    free(first);
    tw_context_free(ctx);
    return outcome;
}

char *check_text_seed(size_t index, size_t *length) {
    tw_target target;
    char *text = NULL;
    if (index >= all_ops_count() || tw_target_parse("gfx1250", &target, NULL)) return NULL;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = ctx ? all_ops_build(ctx, target, index) : NULL;
    if (kernel) tw_kernel_to_text(kernel, &text, length, NULL);
    tw_context_free(ctx);
    return text;
}
