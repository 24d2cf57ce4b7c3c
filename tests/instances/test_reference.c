/* The exact reference and its bound: against naive loops, and against fp32 sums in many orders. */
#include "tests/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instances/data.h"
#include "instances/exact_sum.h"
#include "instances/wgrad_reference.h"
#include "support/float_formats.h"
#include "support/random.h"
#include "tests/instances/instance_text.h"

typedef struct result {
    double expected, bound, scale;
    uint64_t terms;
} result;

static result finish(const tw_exact_sum *sum, tw_scalar format) {
    result r;
    tw_exact_sum_finish(sum, format, &(tw_reference){&r.expected, &r.bound, &r.scale, &r.terms}, 0);
    return r;
}

static result sum_of(const double *terms, size_t count, tw_scalar format) {
    tw_exact_sum sum;
    tw_exact_sum_init(&sum);
    for (size_t i = 0; i < count; i++)
        tw_exact_sum_add(&sum, terms[i]);
    return finish(&sum, format);
}

#define SUM(format, ...) \
    sum_of((double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double), format)

static void expect(result r, double expected, double bound) {
    assert_true(r.expected == expected);
    assert_true(r.bound == bound);
}

static void sums_on_a_grid_are_exact(void **state) {
    (void)state;
    expect(SUM(TW_F32, 1, 2, -3, 4), 4, 0);
    expect(SUM(TW_F32, 0, -0.0, 0), 0, 0);
    assert_true(SUM(TW_F32, 0, 1.5, -0.25).scale == 1.75);
    assert_int_equal(SUM(TW_F32, 0, 1.5, -0.25).terms, 3);
    /* One product of two f16 has 22 bits. */
    expect(SUM(TW_F32, 2047.0 * 2047.0), 2047.0 * 2047.0, 0);
    /* 2^24 is the last sum of integers that is exact for certain. */
    expect(SUM(TW_F32, 0x1p24 - 1, 1), 0x1p24, 0);
    assert_true(SUM(TW_F32, 0x1p24, 1).bound > 0);
    /* f32 has no bit below 2^-149. */
    expect(SUM(TW_F32, 0x1p-149, 0x1p-148), 0x3p-149, 0);
    assert_true(SUM(TW_F32, 0x1p-150).bound > 0x1p-151);
    /* Exact sums are converted exactly. */
    expect(SUM(TW_F16, 2048, 1), 2048, 0);
    expect(SUM(TW_F16, 2048, 3), 2052, 0);
    expect(SUM(TW_BF16, 256, 1), 256, 0);
    expect(SUM(TW_F16, 65519), 65504, 0);
    expect(SUM(TW_F16, 65520), INFINITY, 0);
    expect(SUM(TW_F16, -65520), -INFINITY, 0);
}

static void what_is_not_finite_stays(void **state) {
    (void)state;
    assert_true(isnan(SUM(TW_F32, 1, NAN, 2).expected));
    assert_true(SUM(TW_F32, 1, NAN, 2).bound == 0);
    assert_true(isnan(SUM(TW_F16, INFINITY, -INFINITY).expected));
    expect(SUM(TW_BF16, INFINITY, 1), INFINITY, 0);
    expect(SUM(TW_F32, -INFINITY, 1e30), -INFINITY, 0);
}

static void overflow_is_certain_or_open(void **state) {
    (void)state;
    expect(SUM(TW_F32, 0x1p127, 0x1p127), INFINITY, 0);
    expect(SUM(TW_F32, -0x1p127, -0x1p127, -0x1p127), -INFINITY, 0);
    assert_true(isinf(SUM(TW_F32, 0x1p127, 0x1p127, -0x1p127).bound));
    assert_true(isfinite(SUM(TW_F32, 0x1p126, -0x1p126, 0x1p-10).bound));
    /* A sum that is not exact, near the threshold of f16: either side may come. */
    assert_true(isinf(SUM(TW_F16, 65520, 0x1p-30).bound));
    assert_true(isfinite(SUM(TW_F16, 65500, 0x1p-30).bound));
    result past = SUM(TW_F16, 70000, 0x1p-30);
    expect(past, INFINITY, 0);
}

static void conversion_adds_half_a_unit(void **state) {
    (void)state;
    result f32 = SUM(TW_F32, 1, 0x1p-40), f16 = SUM(TW_F16, 1, 0x1p-40), bf16 = SUM(TW_BF16, 1, 0x1p-40);
    assert_true(f32.bound > 0x1p-24 && f32.bound < 0x1.1p-23);
    assert_true(f16.bound == f32.bound + 0x1p-11);
    assert_true(bf16.bound == f32.bound + 0x1p-8);
    result small = SUM(TW_F16, 0x1p-20, 0x1p-60);
    assert_true(small.bound > 0x1p-25 && small.bound < 0x1.0001p-25);
}

/* fp32 sums of random terms, in the order given, reversed, and by halves: all within the bound. */
static float tree(const double *terms, size_t count) {
    if (count == 1) return (float)terms[0];
    return tree(terms, count / 2) + tree(terms + count / 2, count - count / 2);
}

static void fp32_sums_stay_within_the_bound(void **state) {
    (void)state;
    tw_random random;
    tw_random_seed(&random, 7);
    double worst = 0;
    for (int round = 0; round < 400; round++) {
        double terms[600];
        size_t count = 2 + tw_random_below(&random, 590);
        int spread = (int)tw_random_below(&random, 40);
        for (size_t i = 0; i < count; i++) {
            float a = tw_f16_to_f32((uint16_t)tw_random_below(&random, 0x7c00));
            float b =
                ldexpf((float)tw_random_unit(&random), -(int)tw_random_below(&random, (uint64_t)spread + 1));
            terms[i] = (double)a * tw_bf16_to_f32(tw_f32_to_bf16(tw_random_bool(&random) ? b : -b));
        }
        result r = sum_of(terms, count, TW_F32);
        assert_true(isfinite(r.bound));
        float up = 0, down = 0;
        for (size_t i = 0; i < count; i++) {
            up = (float)(up + terms[i]);
            down = (float)(down + terms[count - 1 - i]);
        }
        float orders[3] = {up, down, tree(terms, count)};
        for (int i = 0; i < 3; i++) {
            assert_true(fabs(orders[i] - r.expected) <= r.bound);
            if (r.bound > 0) worst = fmax(worst, fabs(orders[i] - r.expected) / r.bound);
        }
    }
    /* The bound is no more generous than its theory: small sums come near it. */
    assert_true(worst > 0.1);
}

/* Written from the definition, with one test a tap. */
static double naive(const tw_wgrad_sizes *z, const uint16_t *x, const uint16_t *dy, int64_t k, int64_t r,
                    int64_t s, int64_t c) {
    double sum = 0;
    for (int64_t n = 0; n < z->n; n++)
        for (int64_t ho = 0; ho < z->ho; ho++)
            for (int64_t wo = 0; wo < z->wo; wo++) {
                int64_t h = ho * z->stride + r - z->pad_h, w = wo * z->stride + s - z->pad_w;
                if (h < 0 || h >= z->h || w < 0 || w >= z->w) continue;
                double a = tw_f16_to_f32(x[((n * z->h + h) * z->w + w) * z->c + c]);
                double b = tw_f16_to_f32(dy[((n * z->ho + ho) * z->wo + wo) * z->k + k]);
                sum += a * b;
            }
    return sum;
}

static void the_reference_is_the_definition(void **state) {
    (void)state;
    static const tw_wgrad_sizes cases[] = {
        {2, 5, 7, 3, 5, 7, 3, 3, 3, 3, 1, 1, 1, TW_F16, TW_F32, false},   /* depthwise */
        {1, 6, 5, 4, 3, 3, 4, 4, 5, 2, 2, 2, 1, TW_F16, TW_F32, false},   /* stride 2 */
        {1, 2, 3, 2, 5, 9, 2, 2, 4, 3, 1, 3, 4, TW_F16, TW_F32, false},   /* padding wider than the image */
        {1, 4, 4, 6, 2, 2, 4, 2, 3, 3, 1, 0, 0, TW_F16, TW_F32, false},   /* groups */
        {1, 4, 4, 3, 4, 4, 5, 1, 1, 1, 1, 0, 0, TW_F16, TW_F32, false},   /* dense 1x1 */
        {1, 16, 16, 3, 1, 1, 8, 1, 8, 8, 8, 0, 0, TW_F16, TW_F32, false}, /* patches */
        {0, 4, 4, 2, 4, 4, 2, 2, 3, 3, 1, 1, 1, TW_F16, TW_F32, false},   /* nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const tw_wgrad_sizes *z = &cases[i];
        uint16_t x[1024] = {0}, dy[1024] = {0};
        tw_random random;
        tw_random_seed(&random, i);
        for (int j = 0; j < 1024; j++) {
            x[j] = tw_f32_to_f16((float)tw_random_between(&random, -8, 8));
            dy[j] = tw_f32_to_f16((float)tw_random_between(&random, -8, 8));
        }
        x[3] = 0x7e00; /* a NaN must reach just the taps that see it */
        double expected[2048], bound[2048];
        tw_wgrad_reference(z, x, dy, &(tw_reference){.expected = expected, .bound = bound});
        const int64_t cg = z->c / z->groups, kg = z->k / z->groups;
        int64_t at = 0, nans = 0;
        for (int64_t k = 0; k < z->k; k++)
            for (int64_t r = 0; r < z->kh; r++)
                for (int64_t s = 0; s < z->kw; s++)
                    for (int64_t c = 0; c < cg; c++, at++) {
                        double want = naive(z, x, dy, k, r, s, k / kg * cg + c);
                        nans += isnan(want) != 0;
                        assert_true(isnan(want) ? isnan(expected[at]) : expected[at] == want);
                        assert_true(bound[at] == 0);
                    }
        assert_true(nans < at);
    }
}

static void patterns_repeat_and_cover(void **state) {
    (void)state;
    static const char *const lines[] = {"direct_wgrad_depthwise dtype=f16 n=2 h=9 w=9 c=37",
                                        "direct_wgrad_depthwise dtype=bf16 n=2 h=9 w=9 c=37"};
    for (int d = 0; d < 2; d++) {
        tw_instance instance;
        read_instance(lines[d], &instance);
        tw_target target;
        assert_int_equal(tw_target_parse("gfx1100", &target, NULL), TW_OK);
        tw_job *job;
        assert_int_equal(tw_job_new(&instance, target, &job, NULL), TW_OK);
        const size_t count = job->tensors[0].elements;
        uint16_t *x = malloc(count * 2), *again = malloc(count * 2),
                 *dy = malloc(job->tensors[1].elements * 2);
        const tw_float_format format = d ? TW_FLOAT_BF16 : TW_FLOAT_F16;
        for (int p = 0; tw_data_pattern_name((tw_data_pattern)p); p++) {
            assert_int_equal(tw_job_fill(job, 0, (tw_data_pattern)p, 5, x, NULL), TW_OK);
            assert_int_equal(tw_job_fill(job, 0, (tw_data_pattern)p, 5, again, NULL), TW_OK);
            assert_memory_equal(x, again, count * 2);
            assert_int_equal(tw_job_fill(job, 0, (tw_data_pattern)p, 6, again, NULL), TW_OK);
            assert_memory_not_equal(x, again, count * 2);
        }
        assert_int_equal(tw_job_fill(job, 0, TW_DATA_INTEGERS, 5, x, NULL), TW_OK);
        for (size_t i = 0; i < count; i++) {
            double value = tw_float_to_f64(format, x[i]);
            assert_true(value == trunc(value) && fabs(value) <= 4);
        }
        assert_int_equal(tw_job_fill(job, 0, TW_DATA_UNIFORM, 5, x, NULL), TW_OK);
        for (size_t i = 0; i < count; i++)
            assert_true(fabs(tw_float_to_f64(format, x[i])) <= 1 && tw_float_to_f64(format, x[i]) != 0);
        /* Special values: denormals, both zeros, large ones, and results that can be checked. */
        size_t denormals = 0, plus = 0, minus = 0, large = 0;
        assert_int_equal(tw_job_fill(job, 0, TW_DATA_SPECIAL, 5, x, NULL), TW_OK);
        assert_int_equal(tw_job_fill(job, 1, TW_DATA_SPECIAL, 5, dy, NULL), TW_OK);
        for (size_t i = 0; i < count; i++) {
            denormals += tw_float_is_denormal(format, x[i]);
            plus += x[i] == 0;
            minus += x[i] == 0x8000;
            large += fabs(tw_float_to_f64(format, x[i])) > 10000;
        }
        assert_true(denormals > count / 8 && plus > count / 32 && minus > count / 32 && large > count / 8);
        const size_t outputs = job->tensors[3].elements;
        double *memory = malloc(3 * outputs * sizeof *memory);
        tw_reference out[4] = {[3] = {memory, memory + outputs, memory + 2 * outputs, NULL}};
        const void *inputs[4] = {x, dy};
        assert_int_equal(tw_job_reference(job, inputs, out, NULL), TW_OK);
        for (size_t i = 0; i < outputs; i++)
            assert_true(isfinite(out[3].expected[i]) && isfinite(out[3].bound[i]));
        assert_int_equal(tw_job_fill(job, 9, TW_DATA_UNIFORM, 1, x, NULL), TW_ERR_USAGE);
        job->tensors[0].dtype = TW_F8E4M3;
        assert_int_equal(tw_job_fill(job, 0, TW_DATA_UNIFORM, 1, x, NULL), TW_ERR_UNSUPPORTED);
        free(memory);
        free(x), free(again), free(dy);
        tw_job_free(job);
    }
}

/* What the matrix unit of gfx90a makes of denormals: X and dY count as zeros, sums lose what is below 2^-126.
 */
static void flushed_denormals_are_zeros(void **state) {
    (void)state;
    static const struct {
        tw_scalar dtype;
        uint16_t denormal, normal, one;
        double smallest;
    } formats[] = {{TW_F16, 0x83ff, 0x0400, 0x3c00, 0x1p-14}, {TW_BF16, 0x007f, 0x8080, 0x3f80, -0x1p-126}};
    for (int i = 0; i < 2; i++)
        for (int flush = 0; flush < 2; flush++) {
            const tw_wgrad_sizes z = {.n = 1,
                                      .h = 1,
                                      .w = 1,
                                      .c = 2,
                                      .ho = 1,
                                      .wo = 1,
                                      .k = 1,
                                      .kh = 1,
                                      .kw = 1,
                                      .groups = 1,
                                      .stride = 1,
                                      .dtype = formats[i].dtype,
                                      .out_dtype = TW_F32,
                                      .flush = flush};
            const uint16_t x[2] = {formats[i].denormal, formats[i].normal}, dy[1] = {formats[i].one};
            double expected[2], bound[2];
            tw_wgrad_reference(&z, x, dy, &(tw_reference){expected, bound, NULL, NULL});
            assert_true(flush ? expected[0] == 0 : fabs(expected[0]) > 0);
            assert_true(expected[1] == formats[i].smallest && bound[1] == 0);
        }
    tw_exact_sum sum;
    tw_exact_sum_init(&sum);
    tw_exact_sum_add(&sum, 0x1p-120);
    tw_exact_sum_add(&sum, -0x1.01p-120); /* their sum is a denormal */
    assert_true(finish(&sum, TW_F32).bound == 0);
    sum.flush = true;
    assert_true(finish(&sum, TW_F32).bound >= 0x1p-125);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_on_a_grid_are_exact),        cmocka_unit_test(what_is_not_finite_stays),
        cmocka_unit_test(overflow_is_certain_or_open),     cmocka_unit_test(conversion_adds_half_a_unit),
        cmocka_unit_test(fp32_sums_stay_within_the_bound), cmocka_unit_test(the_reference_is_the_definition),
        cmocka_unit_test(patterns_repeat_and_cover),       cmocka_unit_test(flushed_denormals_are_zeros),
    };
    return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
