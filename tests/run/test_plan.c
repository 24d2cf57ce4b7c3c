#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "run/plan.h"

static tw_plan *two_launches(void) {
    tw_plan *plan = tw_plan_new("wgrad n=2");
    uint32_t x = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, 4000);
    uint32_t slabs = tw_plan_add_buffer(plan, "slabs", TW_PLAN_SCRATCH, 64);
    uint32_t dw = tw_plan_add_buffer(plan, "dw", TW_PLAN_OUTPUT, 16);
    tw_plan_add_launch(plan, 0, "accumulate", (tw_dim3){3, 2, 1}, (tw_dim3){256, 1, 1}, 128);
    tw_plan_zero(plan, slabs);
    tw_plan_arg_buffer(plan, "x", x, 8);
    tw_plan_arg_buffer(plan, "slabs", slabs, 0);
    tw_plan_arg_i32(plan, "bytes", 2147483647);
    tw_plan_arg_f32(plan, "alpha", 1.0f);
    tw_plan_add_launch(plan, 1, "reduce", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 0);
    tw_plan_arg_buffer(plan, NULL, slabs, 0);
    tw_plan_arg_buffer(plan, NULL, dw, 0);
    tw_plan_arg_i64(plan, "n", -5);
    tw_plan_arg_f64(plan, "beta", 0.5);
    tw_plan_arg_bytes(plan, "s", "abc", 3);
    tw_plan_arg_null(plan, "none");
    return plan;
}

static void a_plan_keeps_what_it_is_given(void **state) {
    (void)state;
    tw_plan *plan = two_launches();
    assert_int_equal(tw_plan_check(plan, NULL), TW_OK);
    assert_string_equal(tw_plan_label(plan), "wgrad n=2");
    assert_int_equal(tw_plan_buffer_count(plan), 3);
    assert_int_equal(tw_plan_buffer_at(plan, 0)->bytes, 4000);
    assert_null(tw_plan_buffer_at(plan, 3));
    assert_int_equal(tw_plan_object_count(plan), 2);
    const tw_plan_launch *first = tw_plan_launch_at(plan, 0), *second = tw_plan_launch_at(plan, 1);
    assert_int_equal(first->zeroed_count, 1);
    assert_int_equal(first->zeroed[0], 1);
    assert_int_equal(first->arg_count, 4);
    assert_int_equal(first->args[0].as.buffer.offset, 8);
    assert_int_equal(first->args[2].as.i32, INT32_MAX);
    assert_int_equal(second->zeroed_count, 0);
    assert_int_equal(second->arg_count, 6);
    assert_memory_equal(second->args[4].as.bytes.data, "abc", 3);
    assert_null(tw_plan_launch_at(plan, 2));
    char *text = tw_plan_text(plan);
    assert_string_equal(text,
                        "plan wgrad n=2\n"
                        "  buffer x: input, 4000 bytes\n"
                        "  buffer slabs: scratch, 64 bytes\n"
                        "  buffer dw: output, 16 bytes\n"
                        "  zero slabs\n"
                        "  launch accumulate: grid 3x2x1, block 256x1x1, dynamic LDS 128: x=x+8 slabs=slabs "
                        "bytes=i32:2147483647 alpha=f32:0x3F800000\n"
                        "  launch reduce: grid 1x1x1, block 64x1x1, dynamic LDS 0: slabs dw n=i64:-5 "
                        "beta=f64:0x3FE0000000000000 s=bytes:3 none=null\n");
    free(text);
    tw_plan_free(plan);
}

static void many_entries_survive_growth(void **state) {
    (void)state;
    tw_plan *plan = tw_plan_new("many");
    uint32_t buffer = tw_plan_add_buffer(plan, "b", TW_PLAN_INOUT, 8);
    for (int launch = 0; launch < 40; launch++) {
        assert_int_equal(tw_plan_add_launch(plan, 0, "k", (tw_dim3){1, 1, 1}, (tw_dim3){1, 1, 1}, 0), launch);
        tw_plan_arg_buffer(plan, "b", buffer, 0);
        for (int i = 0; i < 40; i++)
            tw_plan_arg_i32(plan, "i", launch * 100 + i);
    }
    assert_int_equal(tw_plan_check(plan, NULL), TW_OK);
    for (int launch = 0; launch < 40; launch++) {
        assert_int_equal(tw_plan_launch_at(plan, (size_t)launch)->arg_count, 41);
        for (int i = 0; i < 40; i++)
            assert_int_equal(tw_plan_launch_at(plan, (size_t)launch)->args[i + 1].as.i32, launch * 100 + i);
    }
    tw_plan_free(plan);
}

/* ---- refusals: each breaks a good plan in one way ---- */

static const tw_dim3 one = {1, 1, 1};

static void no_launch(tw_plan *p) { (void)p; }
static void zero_before_launch(tw_plan *p) { tw_plan_zero(p, 0); }
static void arg_before_launch(tw_plan *p) { tw_plan_arg_i32(p, "n", 1); }
static void big_i32(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_arg_i32(p, "dy_bytes", (int64_t)INT32_MAX + 1);
    tw_plan_arg_i32(p, "later", (int64_t)INT32_MIN - 1);
}
static void small_i32(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_arg_i32(p, "pad", (int64_t)INT32_MIN - 1);
}
static void unused_buffer(tw_plan *p) { tw_plan_add_launch(p, 0, "k", one, one, 0); }
static void name_twice(tw_plan *p) { tw_plan_add_buffer(p, "b", TW_PLAN_INPUT, 1); }
static void name_with_slash(tw_plan *p) { tw_plan_add_buffer(p, "../b", TW_PLAN_INPUT, 1); }
static void name_with_dot(tw_plan *p) { tw_plan_add_buffer(p, ".b", TW_PLAN_INPUT, 1); }
static void name_empty(tw_plan *p) { tw_plan_add_buffer(p, "", TW_PLAN_INPUT, 1); }
static void role_unknown(tw_plan *p) { tw_plan_add_buffer(p, "r", (tw_plan_role)7, 1); }
static void bytes_too_many(tw_plan *p) { tw_plan_add_buffer(p, "r", TW_PLAN_INPUT, UINT64_MAX); }
static void grid_zero(tw_plan *p) { tw_plan_add_launch(p, 0, "k", (tw_dim3){1, 0, 1}, one, 0); }
static void block_zero(tw_plan *p) { tw_plan_add_launch(p, 0, "k", one, (tw_dim3){1, 1, 0}, 0); }
static void kernel_missing(tw_plan *p) { tw_plan_add_launch(p, 0, "", one, one, 0); }
static void object_gap(tw_plan *p) { tw_plan_add_launch(p, 1, "k", one, one, 0); }
static void buffer_unknown(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_arg_buffer(p, "b", 1, 0);
}
static void offset_outside(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_arg_buffer(p, "b", 0, 9);
}
static void input_cleared(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_zero(p, 0);
}
static void bytes_missing(tw_plan *p) {
    tw_plan_add_launch(p, 0, "k", one, one, 0);
    tw_plan_arg_bytes(p, "s", NULL, 4);
}
static void own_reason(tw_plan *p) { tw_plan_refuse(p, "ho must be at least 1 (got %d)", 0); }

static void a_bad_plan_says_which_rule_it_breaks(void **state) {
    (void)state;
    static const struct {
        void (*break_it)(tw_plan *plan);
        tw_status status;
        const char *text;
    } cases[] = {
        {no_launch, TW_ERR_USAGE, "a plan must have at least 1 launch (got 0)"},
        {zero_before_launch, TW_ERR_USAGE,
         "an argument belongs to a launch, and the plan has none yet (got 0 launches)"},
        {arg_before_launch, TW_ERR_USAGE,
         "an argument belongs to a launch, and the plan has none yet (got 0 launches)"},
        {big_i32, TW_ERR_INVALID,
         "dy_bytes is an i32 argument and must be -2147483648..2147483647 (got 2147483648)"},
        {small_i32, TW_ERR_INVALID,
         "pad is an i32 argument and must be -2147483648..2147483647 (got -2147483649)"},
        {unused_buffer, TW_ERR_USAGE, "every buffer is an argument of a launch (got b)"},
        {name_twice, TW_ERR_INVALID, "a buffer's name must be there once (got b)"},
        {name_with_slash, TW_ERR_INVALID,
         "a buffer's name must be 1 to 64 letters, digits, '_', '-' and '.', no '.' first (got ../b)"},
        {name_with_dot, TW_ERR_INVALID,
         "a buffer's name must be 1 to 64 letters, digits, '_', '-' and '.', no '.' first (got .b)"},
        {name_empty, TW_ERR_INVALID,
         "a buffer's name must be 1 to 64 letters, digits, '_', '-' and '.', no '.' first (got )"},
        {role_unknown, TW_ERR_USAGE, "the role of buffer r must be a tw_plan_role (got 7)"},
        {bytes_too_many, TW_ERR_INVALID, "buffer r must fit in memory (got 18446744073709551615 bytes)"},
        {grid_zero, TW_ERR_INVALID, "the grid of launch 0 must be at least 1x1x1 (got 1x0x1)"},
        {block_zero, TW_ERR_INVALID, "the block of launch 0 must be at least 1x1x1 (got 1x1x0)"},
        {kernel_missing, TW_ERR_USAGE, "launch 0 needs the name of a kernel (got none)"},
        {object_gap, TW_ERR_USAGE,
         "launch 0 must use one of the code objects so far or the next one, 0 (got 1)"},
        {buffer_unknown, TW_ERR_USAGE, "a buffer must be one of the plan's 1 (got index 1)"},
        {offset_outside, TW_ERR_INVALID, "an offset into buffer b must be at most 8 bytes (got 9)"},
        {input_cleared, TW_ERR_USAGE, "an input is not cleared (got b)"},
        {bytes_missing, TW_ERR_USAGE, "a by-value argument needs bytes (got 0)"},
        {own_reason, TW_ERR_INVALID, "ho must be at least 1 (got 0)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_plan *plan = tw_plan_new("bad");
        tw_diag *diag = tw_diag_new(NULL);
        tw_plan_add_buffer(plan, "b", TW_PLAN_INPUT, 8);
        cases[i].break_it(plan);
        assert_int_equal(tw_plan_check(plan, diag), cases[i].status);
        assert_string_equal(tw_diag_first_error(diag), cases[i].text);
        assert_string_equal(tw_diag_get(diag, 0)->where, "bad");
        char *text = tw_plan_text(plan);
        assert_non_null(text);
        free(text);
        tw_diag_free(diag);
        tw_plan_free(plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_keeps_what_it_is_given),
        cmocka_unit_test(many_entries_survive_growth),
        cmocka_unit_test(a_bad_plan_says_which_rule_it_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
