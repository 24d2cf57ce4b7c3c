#include "tests/ir/check_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "ir/ir.h"
#include "tests/ir/all_ops.h"

static check_outcome failed(const char *what, const char *text, size_t length) {
    fprintf(stderr, "%s:\n%.*s\n", what, (int)length, text);
    return CHECK_FAILED;
}

/* ---- running ---- */

#define PARAMS_MAX 8
#define BYTES      131072
#define PATTERN    65536 /* bytes that do not start as 0 */
#define OPS_MAX    3000
#define WORK_MAX   256 /* work-items */
#define VALUES_MAX 2000

typedef struct memory {
    uint8_t bytes[PARAMS_MAX][BYTES];
} memory;

static bool is_small(const tw_kernel *kernel) {
    const tw_kernel_options *o = &kernel->options;
    uint32_t y = o->workgroup_size_y ? o->workgroup_size_y : 1,
             z = o->workgroup_size_z ? o->workgroup_size_z : 1;
    return kernel->body.arg_count <= PARAMS_MAX && kernel->value_count < VALUES_MAX &&
           o->workgroup_size * y * z <= WORK_MAX;
}

/* Runs one workgroup on memory with a pattern. */
static tw_status run(const tw_kernel *kernel, memory *m) {
    tw_interp_arg args[PARAMS_MAX];
    for (uint32_t i = 0; i < kernel->body.arg_count; i++) {
        bool pointer = tw_type_of(kernel, kernel->body.args[i])->kind == TW_TYPE_POINTER;
        for (size_t at = 0; pointer && at < PATTERN; at++)
            m->bytes[i][at] = (uint8_t)((at * 7 + i) % 61);
        args[i] = pointer ? TW_INTERP_MEMORY(m->bytes[i], BYTES) : TW_INTERP_BITS(i + 1);
    }
    const tw_interp_options options = {.max_ops = OPS_MAX};
    return tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, kernel->body.arg_count, &options, NULL);
}

/* After the passes the kernel verifies, and computes what it did before. */
static bool passes_keep_meaning(tw_context *ctx, const char *text) {
    tw_kernel *kernel;
    memory *before = calloc(2, sizeof *before);
    if (!before || tw_kernel_parse(ctx, text, strlen(text), NULL, &kernel)) {
        free(before);
        return false;
    }
    memory *after = before + 1;
    bool runs = is_small(kernel) && !run(kernel, before);
    bool same = !tw_kernel_optimize(kernel, NULL) && !tw_kernel_verify(kernel, NULL);
    if (same && runs) same = !run(kernel, after) && !memcmp(before, after, sizeof *before);
    free(before);
    return same;
}

/* ---- text ---- */

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

static check_outcome check_canonical(tw_context *ctx, const char *text) {
    check_outcome outcome = CHECK_ACCEPTED;
    size_t length = strlen(text);
    char *again = canonical(ctx, text, length);
    if (!again) {
        outcome = failed(tw_context_diagnostics(ctx), text, length);
    } else if (strcmp(text, again)) {
        outcome = failed("the canonical text does not read back as itself", text, length);
    } else if (!passes_keep_meaning(ctx, text)) {
        outcome = failed("the passes change what the kernel computes", text, length);
    }
    free(again);
    return outcome;
}

check_outcome check_text(const char *text, size_t length) {
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return failed("out of memory", "", 0);
    check_outcome outcome;
    char *first = canonical(ctx, text, length);
    if (first) {
        outcome = check_canonical(ctx, first);
    } else {
        bool said_why = tw_diag_count(tw_context_diag(ctx));
        outcome = said_why ? CHECK_REFUSED : failed("refused without a word", text, length);
        print_unverified(ctx, text, length);
    }
    free(first);
    tw_context_free(ctx);
    return outcome;
}

char *check_text_seed(size_t index, size_t *length) {
    /* Together they have every op, and both wave sizes. */
    static const char *const targets[] = {"gfx1250", "gfx950"};
    tw_target target;
    char *text = NULL;
    size_t which = index / all_ops_count();
    if (which >= sizeof targets / sizeof targets[0] || tw_target_parse(targets[which], &target, NULL))
        return NULL;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = ctx ? all_ops_build(ctx, target, index % all_ops_count()) : NULL;
    if (kernel) tw_kernel_to_text(kernel, &text, length, NULL);
    tw_context_free(ctx);
    return text;
}
