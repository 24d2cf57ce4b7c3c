#include "tests/test.h"

#include <string.h>

#include "ir/build.h"

static tw_target target_of(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

/* The design's example: a loop with a carried sum, a guarded buffer atomic. */
static void the_example_builds(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_target target = target_of("gfx1250");
    tw_builder *b = tw_kernel_begin(ctx, "accumulate", target, &(tw_kernel_options){.workgroup_size = 256});
    tw_value dst = tw_param_ptr(b, "dst", TW_F32, TW_PARAM_NOALIAS);
    tw_value bytes = tw_param(b, "bytes", TW_I32);
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value tid = tw_workitem_id(b, 0);
    tw_value rsrc = tw_buffer_rsrc(b, dst, bytes);
    tw_value zero = tw_f32(b, 0);
    tw_value step = tw_i32(b, 256);
    tw_value acc, sum;
    tw_value i = tw_for_begin(b, tid, n, step, 1, &zero, &acc);
    tw_value f = tw_sitofp(b, i, TW_F32);
    tw_value a = tw_fadd(b, acc, f);
    tw_for_end(b, 1, &a, &sum);
    tw_value in = tw_icmp(b, TW_SLT, tid, n);
    tw_if_begin(b, in);
    tw_value two = tw_i32(b, 2);
    tw_value off = tw_shl(b, tid, two);
    tw_value none = tw_i32(b, 0);
    tw_buffer_atomic_fadd(b, sum, rsrc, off, none, tw_cache_policy(target, TW_ATOMIC_CASCADE_DEVICE));
    tw_if_end(b, 0, NULL, NULL);
    tw_kernel *k = tw_kernel_end(b);
    assert_string_equal(tw_context_diagnostics(ctx), "");
    assert_non_null(k);
    assert_string_equal(tw_kernel_name(k), "accumulate");
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_builds),
    };
    return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
