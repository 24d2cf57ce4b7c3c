/* Kernels compute the same bytes, in the interpreter, as they are built, after the passes, and read back. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "tests/ir/all_ops.h"

static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1100:wave64", "gfx1200", "gfx1250"};

/* What a kernel may write. */
typedef struct memory {
    uint8_t out[ALL_OPS_OUT_BYTES];
    uint16_t halves[ALL_OPS_HALVES];
    float singles[ALL_OPS_SINGLES];
} memory;

static uint8_t in[ALL_OPS_IN_BYTES];

static memory *run(tw_context *ctx, const tw_kernel *kernel) {
    memory *m = calloc(1, sizeof *m);
    assert_non_null(m);
    for (size_t i = 0; i < ALL_OPS_HALVES; i++)
        m->halves[i] = (uint16_t)(0x3c00 + i % 64);
    for (size_t i = 0; i < ALL_OPS_SINGLES; i++)
        m->singles[i] = (float)i;
    const tw_interp_arg args[] = {TW_INTERP_MEMORY(in, sizeof in),
                                  TW_INTERP_MEMORY(m->out, sizeof m->out),
                                  TW_INTERP_MEMORY(m->halves, sizeof m->halves),
                                  TW_INTERP_MEMORY(m->singles, sizeof m->singles),
                                  TW_INTERP_BITS(ALL_OPS_N),
                                  TW_INTERP_BITS(ALL_OPS_FAR),
                                  TW_INTERP_BITS(ALL_OPS_X)};
    if (tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 7, NULL, tw_context_diag(ctx)))
        fail_msg("%s", tw_context_diagnostics(ctx));
    return m;
}

static tw_kernel *read_back(tw_context *ctx, const tw_kernel *kernel) {
    char *text;
    size_t length;
    tw_kernel *again;
    assert_int_equal(tw_kernel_to_text(kernel, &text, &length, NULL), TW_OK);
    assert_int_equal(tw_kernel_parse(ctx, text, length, NULL, &again), TW_OK);
    free(text);
    return again;
}

/* A kernel that writes nothing would prove nothing. */
static void assert_wrote(const memory *m, const char *name) {
    for (size_t i = 0; i < sizeof m->out; i++)
        if (m->out[i]) return;
    fail_msg("%s keeps nothing", name);
}

static void assert_same(const memory *expected, memory *got, const char *what, const char *name) {
    if (memcmp(expected, got, sizeof *got)) fail_msg("%s: %s computes something else", name, what);
    free(got);
}

static void passes_keep_meaning(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof in; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        in[i] = (uint8_t)(random >> 32);
    }
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        tw_target target;
        assert_int_equal(tw_target_parse(targets[t], &target, NULL), TW_OK);
        for (size_t k = 0; k < all_ops_count(); k++) {
            tw_context *ctx = tw_context_new(NULL);
            tw_kernel *kernel = all_ops_build(ctx, target, k);
            if (!kernel) fail_msg("%s: %s", all_ops_name(k), tw_context_diagnostics(ctx));
            memory *expected = run(ctx, kernel);
            assert_wrote(expected, all_ops_name(k));
            assert_same(expected, run(ctx, read_back(ctx, kernel)), "the kernel read back", all_ops_name(k));
            assert_int_equal(tw_kernel_optimize(kernel, tw_context_diag(ctx)), TW_OK);
            assert_same(expected, run(ctx, kernel), "the optimised kernel", all_ops_name(k));
            free(expected);
            tw_context_free(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(passes_keep_meaning)};
    return cmocka_run_group_tests_name("passes_keep_meaning", tests, NULL, NULL);
}
