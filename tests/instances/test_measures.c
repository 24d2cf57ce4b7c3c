#include "tests/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instances/measures.h"

static void ulps_are_counted_in_the_order_of_the_values(void **state) {
    (void)state;
    assert_int_equal(tw_ulp_distance(TW_FLOAT_F32, 0x3f800000, 0x3f800003), 3);
    assert_int_equal(tw_ulp_distance(TW_FLOAT_F32, 0x00000000, 0x80000000), 0); /* both zeros */
    assert_int_equal(tw_ulp_distance(TW_FLOAT_F32, 0x00000001, 0x80000001), 2); /* through zero */
    assert_int_equal(tw_ulp_distance(TW_FLOAT_F32, 0x7f7fffff, 0x7f800000), 1); /* the largest and infinity */
    assert_int_equal(tw_ulp_distance(TW_FLOAT_F16, 0x7c00, 0xfc00), 2 * 0x7c00);
    assert_int_equal(tw_ulp_distance(TW_FLOAT_BF16, 0x3f80, 0x3f7f), 1);
    assert_true(tw_ulp_distance(TW_FLOAT_F16, 0x7e00, 0x7e00) == UINT64_MAX);
    assert_true(tw_ulp_distance(TW_FLOAT_FP8_FNUZ, 0x80, 0) == UINT64_MAX);
    assert_int_equal(tw_ulp_distance(TW_FLOAT_FP8_OCP, 0x7e, 0xfe), 2 * 0x7e);
}

static void spacing_follows_the_format(void **state) {
    (void)state;
    assert_true(tw_float_spacing(TW_FLOAT_F32, 1) == 0x1p-23);
    assert_true(tw_float_spacing(TW_FLOAT_F32, 1.999) == 0x1p-23);
    assert_true(tw_float_spacing(TW_FLOAT_F32, -2) == 0x1p-22);
    assert_true(tw_float_spacing(TW_FLOAT_F32, 0) == 0x1p-149);
    assert_true(tw_float_spacing(TW_FLOAT_F32, 0x1p-126) == 0x1p-149);
    assert_true(tw_float_spacing(TW_FLOAT_F32, 0x1p-125) == 0x1p-148);
    assert_true(tw_float_spacing(TW_FLOAT_F16, 1000) == 0.5);
    assert_true(tw_float_spacing(TW_FLOAT_F16, 0x1p-20) == 0x1p-24);
    assert_true(tw_float_spacing(TW_FLOAT_BF16, 1) == 0x1p-7);
    assert_true(isnan(tw_float_spacing(TW_FLOAT_F32, INFINITY)));
}

static void bounds_come_from_the_arithmetic(void **state) {
    (void)state;
    double f32 = tw_accumulation_bound(100, 3.0, 2.0, TW_F32);
    assert_true(fabs(f32 - 4 * 10 * 0x1p-24 * 3.0) < 1e-20);
    assert_true(tw_accumulation_bound(100, 3.0, 2.0, TW_F16) == f32 + 0x1p-10); /* half of 2^-9 */
    assert_true(tw_accumulation_bound(100, 3.0, 2.0, TW_BF16) == f32 + 0x1p-7);
    assert_true(tw_accumulation_bound(4, 0, 0, TW_F32) == 4 * 0x1p-150);
}

/* ---- measuring ---- */

static tw_measures measure_f32(const float *got, const double *expected, const double *scale,
                               const double *bound, size_t count) {
    tw_measures m;
    tw_measure_input input = {TW_F32, got, expected, scale, bound, count};
    assert_int_equal(tw_measure(&input, &m, NULL), TW_OK);
    return m;
}

static void errors_are_measured(void **state) {
    (void)state;
    const float got[] = {1.0f, 2.0f, 3.5f, 0.0f};
    const double expected[] = {1.0, 2.0 + 0x1p-22, 3.0, 0.0};
    const double scale[] = {1, 2, 8, 0}, bound[] = {0, 0x1p-22, 0.25, 0};
    tw_measures m = measure_f32(got, expected, scale, bound, 4);
    assert_int_equal(m.count, 4);
    assert_int_equal(m.exact, 2);
    assert_int_equal(m.passed, 3);
    assert_int_equal(m.max_ulp, 1u << 21); /* 0.5 at a spacing of 2^-22 */
    assert_true(m.mean_ulp == ((1u << 21) + 1) / 4.0);
    assert_true(m.max_error == 0.5);
    assert_true(m.mean_error == (0.5 + 0x1p-22) / 4);
    assert_true(m.max_scaled == 0.0625);
    assert_true(m.mean_scaled == (0.0625 + 0x1p-23) / 4);
    assert_int_equal(m.worst, 2);
    assert_int_equal(m.nan_errors + m.inf_errors, 0);
    assert_int_equal(m.first_error, 4);
    /* Without a scale the reference is the scale, and an error at 0 is infinitely large. */
    const float wrong = 1e-30f;
    const double zero = 0;
    assert_true(isinf(measure_f32(&wrong, &zero, NULL, NULL, 1).max_scaled));
    assert_int_equal(measure_f32(&wrong, &zero, NULL, NULL, 1).passed, 0);
}

static void quantiles_are_nearest_rank(void **state) {
    (void)state;
    enum { N = 1000 };
    float got[N];
    double expected[N], scale[N];
    for (int i = 0; i < N; i++) { /* errors 0, 1, ... 999 ULP, in another order */
        int error = (i * 7) % N;
        expected[i] = 1;
        scale[i] = 1;
        got[i] = 1.0f + (float)error * 0x1p-23f;
    }
    tw_measures m = measure_f32(got, expected, scale, NULL, N);
    assert_int_equal(m.ulp_quantile[TW_MEASURE_Q50], 499);
    assert_int_equal(m.ulp_quantile[TW_MEASURE_Q90], 899);
    assert_int_equal(m.ulp_quantile[TW_MEASURE_Q99], 989);
    assert_int_equal(m.ulp_quantile[TW_MEASURE_Q999], 998);
    assert_int_equal(m.max_ulp, 999);
    assert_true(m.scaled_quantile[TW_MEASURE_Q50] == 499 * 0x1p-23);
    assert_true(m.scaled_quantile[TW_MEASURE_Q999] == 998 * 0x1p-23);
}

static void a_nan_or_an_infinity_passes_only_where_the_reference_has_it(void **state) {
    (void)state;
    static const struct {
        double got, expected;
        int exact, nan_errors, inf_errors;
    } cases[] = {
        {NAN, NAN, 1, 0, 0},
        {NAN, 1, 0, 1, 0},
        {1, NAN, 0, 1, 0},
        {INFINITY, NAN, 0, 1, 0},
        {INFINITY, INFINITY, 1, 0, 0},
        {INFINITY, 1e30, 0, 0, 1},
        {1, INFINITY, 0, 0, 1},
        {-INFINITY, INFINITY, 0, 0, 1},
        {INFINITY, 1e39, 1, 0, 0}, /* overflows f32 */
        {3e38, 1e39, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const float got = (float)cases[i].got;
        const double bound = INFINITY;
        tw_measures m = measure_f32(&got, &cases[i].expected, NULL, &bound, 1);
        assert_int_equal(m.exact, cases[i].exact);
        assert_int_equal(m.passed, cases[i].exact);
        assert_int_equal(m.nan_errors, cases[i].nan_errors);
        assert_int_equal(m.inf_errors, cases[i].inf_errors);
        assert_int_equal(m.first_error, cases[i].exact);
        tw_status status = tw_measure_check(&m, &(tw_measure_budget){0}, NULL);
        assert_int_equal(status, cases[i].exact ? TW_OK : TW_ERR_MISMATCH);
    }
}

static void sixteen_bit_formats_are_measured_in_their_own_ulps(void **state) {
    (void)state;
    const uint16_t f16[] = {0x3c01}, bf16[] = {0x3f81};
    const double one = 1;
    tw_measures m;
    tw_measure_input input = {TW_F16, f16, &one, NULL, NULL, 1};
    assert_int_equal(tw_measure(&input, &m, NULL), TW_OK);
    assert_int_equal(m.max_ulp, 1);
    assert_true(m.max_error == 0x1p-10);
    input = (tw_measure_input){TW_BF16, bf16, &one, NULL, NULL, 1};
    assert_int_equal(tw_measure(&input, &m, NULL), TW_OK);
    assert_int_equal(m.max_ulp, 1);
    assert_true(m.max_error == 0x1p-7);
    tw_diag *diag = tw_diag_new(NULL);
    input.format = TW_I32;
    assert_int_equal(tw_measure(&input, &m, diag), TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(diag), "the measured format must be a float (got i32)");
    tw_diag_free(diag);
}

/* ---- budgets ---- */

static void each_limit_of_a_budget_is_checked(void **state) {
    (void)state;
    const float got[] = {1.0f, 1.0f + 0x1p-22f, 3.0f};
    const double expected[] = {1, 1, 3}, scale[] = {1, 1, 1}, bound[] = {0, 0, 0};
    tw_measures m = measure_f32(got, expected, scale, bound, 3);
    static const struct {
        tw_measure_budget budget;
        const char *text;
    } cases[] = {
        {{.checks = 0}, ""},
        {{.checks = TW_BUDGET_MAX_ULP, .max_ulp = 2}, ""},
        {{.checks = TW_BUDGET_MAX_ULP, .max_ulp = 1}, "every element must be within 1 ULP (got 2)"},
        {{.checks = TW_BUDGET_MAX_SCALED, .max_scaled = 0x1p-22}, ""},
        {{.checks = TW_BUDGET_MAX_SCALED, .max_scaled = 0x1p-23},
         "the scaled error of element 1, the largest, must be at most 1.1920928955078125e-7 (got "
         "2.384185791015625e-7)"},
        {{.checks = TW_BUDGET_MEAN_SCALED, .mean_scaled = 0x1p-22}, ""},
        {{.checks = TW_BUDGET_MEAN_SCALED, .mean_scaled = 0},
         "the mean scaled error must be at most 0.0 (got 7.947285970052083e-8)"},
        {{.checks = TW_BUDGET_ULP_QUANTILES, .ulp_quantile = {0, 2, 2, 2}}, ""},
        {{.checks = TW_BUDGET_ULP_QUANTILES, .ulp_quantile = {0, 1, 2, 2}},
         "90 % of the elements must be within 1 ULP (got 2)"},
        {{.checks = TW_BUDGET_PASS_RATE, .pass_rate = 2.0 / 3}, ""},
        {{.checks = TW_BUDGET_PASS_RATE, .pass_rate = 0.75},
         "a share of 0.75 of the elements must be within its bound (got 2 of 3)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_diag *diag = tw_diag_new(NULL);
        tw_status status = tw_measure_check(&m, &cases[i].budget, diag);
        assert_string_equal(tw_diag_first_error(diag), cases[i].text);
        assert_int_equal(status, cases[i].text[0] ? TW_ERR_MISMATCH : TW_OK);
        tw_diag_free(diag);
    }
}

static void nothing_compared_is_a_failure(void **state) {
    (void)state;
    tw_diag *diag = tw_diag_new(NULL);
    tw_measures m = measure_f32(NULL, NULL, NULL, NULL, 0);
    assert_int_equal(tw_measure_check(&m, &(tw_measure_budget){0}, diag), TW_ERR_MISMATCH);
    assert_string_equal(tw_diag_first_error(diag), "at least 1 element must be compared (got 0)");
    tw_diag_free(diag);
    /* A pass rate without bounds has nothing to count. */
    const float got = 1;
    const double one = 1;
    m = measure_f32(&got, &one, NULL, NULL, 1);
    tw_measure_budget budget = {.checks = TW_BUDGET_PASS_RATE, .pass_rate = 0.5};
    assert_int_equal(tw_measure_check(&m, &budget, NULL), TW_ERR_MISMATCH);
}

static void all_measures_are_printed(void **state) {
    (void)state;
    const float got[] = {1.0f, 2.5f};
    const double expected[] = {1, 2}, bound[] = {0, 1};
    tw_measures m = measure_f32(got, expected, NULL, bound, 2);
    char *text = tw_measures_text(&m);
    assert_string_equal(text, "elements               2 (f32)\n"
                              "exact                  1\n"
                              "within bound           2\n"
                              "NaN errors             0\n"
                              "infinity errors        0\n"
                              "max ULP                2097152\n"
                              "mean ULP               1048576.0\n"
                              "ULP 50 90 99 99.9 %    0 2097152 2097152 2097152\n"
                              "max error              0.5\n"
                              "mean error             0.25\n"
                              "max scaled error       0.25\n"
                              "mean scaled error      0.125\n"
                              "scaled 50 90 99 99.9 % 0.0 0.25 0.25 0.25\n");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ulps_are_counted_in_the_order_of_the_values),
        cmocka_unit_test(spacing_follows_the_format),
        cmocka_unit_test(bounds_come_from_the_arithmetic),
        cmocka_unit_test(errors_are_measured),
        cmocka_unit_test(quantiles_are_nearest_rank),
        cmocka_unit_test(a_nan_or_an_infinity_passes_only_where_the_reference_has_it),
        cmocka_unit_test(sixteen_bit_formats_are_measured_in_their_own_ulps),
        cmocka_unit_test(each_limit_of_a_budget_is_checked),
        cmocka_unit_test(nothing_compared_is_a_failure),
        cmocka_unit_test(all_measures_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
