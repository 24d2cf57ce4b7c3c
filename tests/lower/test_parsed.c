/* A kernel that was printed and read back lowers to the same bytes as the one that was built. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "tests/ir/all_ops.h"

static char *lowered(tw_context *ctx, const tw_kernel *kernel) {
    char *text;
    if (tw_lower(kernel, TW_FLAVOR_LLVM22, &text, NULL, tw_context_diag(ctx)))
        fail_msg("%s", tw_context_diagnostics(ctx));
    return text;
}

static tw_kernel *read_back(tw_context *ctx, const tw_kernel *kernel) {
    char *text;
    size_t length;
    tw_kernel *again;
    assert_int_equal(tw_kernel_to_text(kernel, &text, &length, NULL), TW_OK);
    if (tw_kernel_parse(ctx, text, length, NULL, &again)) fail_msg("%s", tw_context_diagnostics(ctx));
    free(text);
    return again;
}

static void assert_same(tw_context *ctx, const tw_kernel *built, const tw_kernel *parsed) {
    char *from_built = lowered(ctx, built), *from_parsed = lowered(ctx, parsed);
    assert_string_equal(from_parsed, from_built);
    free(from_parsed);
    free(from_built);
}

static void built_and_parsed_kernels_lower_alike(void **state) {
    (void)state;
    static const char *const targets[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250"};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        for (size_t k = 0; k < all_ops_count(); k++) {
            tw_target target;
            assert_int_equal(tw_target_parse(targets[t], &target, NULL), TW_OK);
            tw_context *ctx = tw_context_new(NULL);
            tw_kernel *built = all_ops_build(ctx, target, k);
            assert_non_null(built);
            tw_kernel *parsed = read_back(ctx, built);
            assert_same(ctx, built, parsed);
            assert_int_equal(tw_kernel_optimize(built, tw_context_diag(ctx)), TW_OK);
            assert_int_equal(tw_kernel_optimize(parsed, tw_context_diag(ctx)), TW_OK);
            assert_same(ctx, built, parsed);
            assert_same(ctx, built, read_back(ctx, built));
            tw_context_free(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_and_parsed_kernels_lower_alike)};
    return cmocka_run_group_tests_name("lower-parsed", tests, NULL, NULL);
}
