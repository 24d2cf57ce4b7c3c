/* Public structs and numbers of run/ and of the accuracy measures, as they were released with a
 * TW_ABI_VERSION. A change here means: move the version, then write down the new values. */
#include "tests/test.h"

#include "instances/measures.h"
#include "run/bundle.h"

#define SIZE(type, size)           assert_int_equal(sizeof(type), size)
#define FIELD(type, field, offset) assert_int_equal(offsetof(type, field), offset)

static void the_version_is_the_one_pinned_here(void **state) {
    (void)state;
    assert_int_equal(TW_ABI_VERSION, 2);
}

static void devices_keep_their_layout(void **state) {
    (void)state;
    SIZE(tw_dim3, 12);
    SIZE(tw_launch_arg, 24);
    FIELD(tw_launch_arg, as, 8);
    FIELD(tw_launch_arg, as.buffer.offset, 16);
    FIELD(tw_launch_arg, as.bytes.size, 16);
    SIZE(tw_kernarg_pointer, 24);
    FIELD(tw_kernarg_pointer, buffer, 8);
    FIELD(tw_kernarg_pointer, byte_offset, 16);
    SIZE(tw_launch_counts, 168);
    FIELD(tw_launch_counts, valu, 8);
    FIELD(tw_launch_counts, matrix, 48);
    FIELD(tw_launch_counts, global_bytes_read, 72);
    FIELD(tw_launch_counts, lds_bank_conflicts, 104);
    FIELD(tw_launch_counts, nanoseconds, 128);
    FIELD(tw_launch_counts, scratch_bytes_written, 160);
    assert_int_equal(TW_LAUNCH_BUFFER, 0);
    assert_int_equal(TW_LAUNCH_F64, 4);
    assert_int_equal(TW_LAUNCH_NULL, 6);
}

static void plans_keep_their_layout(void **state) {
    (void)state;
    SIZE(tw_plan_buffer, 24);
    FIELD(tw_plan_buffer, role, 8);
    FIELD(tw_plan_buffer, bytes, 16);
    SIZE(tw_plan_arg, 32);
    FIELD(tw_plan_arg, kind, 8);
    FIELD(tw_plan_arg, as, 16);
    FIELD(tw_plan_arg, as.buffer.offset, 24);
    SIZE(tw_plan_launch, 80);
    FIELD(tw_plan_launch, kernel, 8);
    FIELD(tw_plan_launch, grid, 16);
    FIELD(tw_plan_launch, block, 28);
    FIELD(tw_plan_launch, dynamic_lds, 40);
    FIELD(tw_plan_launch, zeroed, 48);
    FIELD(tw_plan_launch, arg_count, 72);
    SIZE(tw_plan_host, 16);
    FIELD(tw_plan_host, output, 8);
    assert_int_equal(TW_PLAN_INPUT, 0);
    assert_int_equal(TW_PLAN_SCRATCH, 3);
}

static void bundles_keep_their_layout(void **state) {
    (void)state;
    SIZE(tw_bundle_output, 96);
    FIELD(tw_bundle_output, format, 4);
    FIELD(tw_bundle_output, shape, 16);
    FIELD(tw_bundle_output, expected, 80);
    SIZE(tw_bundle_source, 64);
    FIELD(tw_bundle_source, objects, 16);
    FIELD(tw_bundle_source, hosts, 32);
    FIELD(tw_bundle_source, outputs, 48);
    SIZE(tw_bundle_mismatch, 104);
    FIELD(tw_bundle_mismatch, index, 72);
    FIELD(tw_bundle_mismatch, bound, 96);
    SIZE(tw_bundle_report, 1864);
    FIELD(tw_bundle_report, worst, 16);
    FIELD(tw_bundle_report, first, 32);
    FIELD(tw_bundle_report, counts, 1696);
    assert_int_equal(TW_BUNDLE_VERSION, 1);
}

static void measures_keep_their_layout(void **state) {
    (void)state;
    SIZE(tw_measure_input, 48);
    FIELD(tw_measure_input, expected, 16);
    FIELD(tw_measure_input, count, 40);
    SIZE(tw_measures, 184);
    FIELD(tw_measures, count, 8);
    FIELD(tw_measures, first_error, 32);
    FIELD(tw_measures, has_bound, 56);
    FIELD(tw_measures, ulp_quantile, 80);
    FIELD(tw_measures, max_error, 112);
    FIELD(tw_measures, scaled_quantile, 144);
    FIELD(tw_measures, worst, 176);
    SIZE(tw_measure_budget, 72);
    FIELD(tw_measure_budget, ulp_quantile, 16);
    FIELD(tw_measure_budget, pass_rate, 64);
    assert_int_equal(TW_BUDGET_MAX_ULP, 1);
    assert_int_equal(TW_BUDGET_PASS_RATE, 16);
    assert_int_equal(TW_MEASURE_QUANTILES, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_one_pinned_here),
        cmocka_unit_test(devices_keep_their_layout),
        cmocka_unit_test(plans_keep_their_layout),
        cmocka_unit_test(bundles_keep_their_layout),
        cmocka_unit_test(measures_keep_their_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
