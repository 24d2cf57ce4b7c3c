#include "support/float_formats.h"

#include <math.h>
#include <stdio.h>

#include "tests/test.h"

#define MODES  4
#define LIMITS 3 /* overflow modes */

static const tw_float_format small_formats[] = {TW_FLOAT_F16,     TW_FLOAT_BF16,     TW_FLOAT_FP8_OCP,
                                                TW_FLOAT_BF8_OCP, TW_FLOAT_FP8_FNUZ, TW_FLOAT_BF8_FNUZ};
#define SMALL_FORMATS (sizeof small_formats / sizeof small_formats[0])

/* ---- a reference that knows no bits: all values of a format in order, and a search among them ---- */

typedef struct ladder {
    tw_float_format format;
    unsigned finite; /* how many non-negative finite values there are */
    double at[0x8000];
} ladder;

/* From the definition of each format; at[finite] is where the next value would be. */
static void make_ladder(ladder *l, tw_float_format format) {
    static const struct {
        int exponent_bits, mantissa_bits, bias;
        unsigned finite;
    } rows[TW_FLOAT_FORMAT_COUNT] = {
        [TW_FLOAT_F16] = {5, 10, 15, 0x7c00},  [TW_FLOAT_BF16] = {8, 7, 127, 0x7f80},
        [TW_FLOAT_FP8_OCP] = {4, 3, 7, 0x7f},  [TW_FLOAT_BF8_OCP] = {5, 2, 15, 0x7c},
        [TW_FLOAT_FP8_FNUZ] = {4, 3, 8, 0x80}, [TW_FLOAT_BF8_FNUZ] = {5, 2, 16, 0x80},
    };
    int steps = 1 << rows[format].mantissa_bits;
    l->format = format;
    l->finite = rows[format].finite;
    for (unsigned code = 0; code <= l->finite && code < 0x8000; code++) {
        int exponent = (int)code / steps, mantissa = (int)code % steps;
        double fraction = (exponent ? 1.0 : 0.0) + (double)mantissa / steps;
        l->at[code] = ldexp(fraction, (exponent ? exponent : 1) - rows[format].bias);
    }
}

static uint64_t sign_of(const ladder *l) { return 1ull << (tw_float_format_info(l->format)->bits - 1); }

/* The code of |x| rounded between neighbours, which may be the place after the largest. */
static unsigned round_between(const ladder *l, double magnitude, bool negative, tw_round_mode mode) {
    unsigned low = 0, high = l->finite + 1; /* at[low] <= magnitude < at[high] */
    while (high - low > 1) {
        unsigned between = (low + high) / 2;
        if (l->at[between] <= magnitude) {
            low = between;
        } else {
            high = between;
        }
    }
    if (l->at[low] == magnitude || low == l->finite) return low;
    double middle = (l->at[low] + l->at[low + 1]) / 2;
    switch (mode) {
    case TW_ROUND_NEAREST_EVEN: return low + (magnitude > middle || (magnitude == middle && low % 2));
    case TW_ROUND_UP: return low + !negative;
    case TW_ROUND_DOWN: return low + negative;
    case TW_ROUND_TOWARD_ZERO: break;
    }
    return low;
}

static uint64_t expected(const ladder *l, double x, tw_round_mode mode, tw_overflow_mode limit) {
    bool negative = signbit(x) != 0;
    bool no_infinity = l->format >= TW_FLOAT_FP8_OCP && l->format != TW_FLOAT_BF8_OCP;
    bool fnuz = l->format >= TW_FLOAT_FP8_FNUZ;
    uint64_t sign = negative ? sign_of(l) : 0;
    unsigned code = round_between(l, fabs(x), negative, mode);
    if (code == l->finite) {
        bool inward = mode == TW_ROUND_TOWARD_ZERO || mode == (negative ? TW_ROUND_UP : TW_ROUND_DOWN);
        if (inward || limit != TW_OVERFLOW_IEEE) return sign | (l->finite - 1);
        if (!no_infinity) return sign | l->finite;
        return fnuz ? 0x80 : sign | 0x7f;
    }
    return fnuz && !code ? 0 : sign | code;
}

static void check(const ladder *l, double x, tw_float_format from, uint64_t bits) {
    int limits = fabs(x) < l->at[l->finite - 1] ? 1 : LIMITS; /* far from overflow they are all alike */
    for (int mode = 0; mode < MODES; mode++)
        for (int limit = 0; limit < limits; limit++) {
            uint64_t want = expected(l, x, (tw_round_mode)mode, (tw_overflow_mode)limit);
            uint64_t got =
                tw_float_convert(from, bits, l->format, (tw_round_mode)mode, (tw_overflow_mode)limit);
            if (want != got) {
                print_message("%s of %a, mode %d, overflow %d\n", tw_float_format_info(l->format)->name, x,
                              mode, limit);
                assert_int_equal(got, want);
            }
        }
}

/* x and its neighbours in f32 (where x is an f32) and in f64, of both signs. */
static void check_around(const ladder *l, double x) {
    for (int sign = 0; sign < 2; sign++) {
        double s = sign ? -x : x;
        double wide[] = {s, nextafter(s, -HUGE_VAL), nextafter(s, HUGE_VAL)};
        for (int i = 0; i < 3; i++)
            check(l, wide[i], TW_FLOAT_F64, tw_f64_bits(wide[i]));
        if ((double)(float)s != s) continue;
        float narrow[] = {(float)s, nextafterf((float)s, -HUGE_VALF), nextafterf((float)s, HUGE_VALF)};
        for (int i = 0; i < 3; i++) {
            if (!isfinite(narrow[i])) continue;
            check(l, narrow[i], TW_FLOAT_F32, tw_f32_bits(narrow[i]));
            if (l->format == TW_FLOAT_F16)
                assert_int_equal(tw_f32_to_f16(narrow[i]), expected(l, narrow[i], 0, 0));
            if (l->format == TW_FLOAT_BF16)
                assert_int_equal(tw_f32_to_bf16(narrow[i]), expected(l, narrow[i], 0, 0));
        }
    }
}

static void every_rounding_boundary(void **state) {
    (void)state;
    static ladder l;
    for (size_t f = 0; f < SMALL_FORMATS; f++) {
        make_ladder(&l, small_formats[f]);
        for (unsigned code = 0; code < l.finite; code++) {
            check_around(&l, l.at[code]);
            check_around(&l, (l.at[code] + l.at[code + 1]) / 2);
        }
        check_around(&l, l.at[l.finite]);
        check_around(&l, 0x1p900);
        check_around(&l, 0x1p-1074);
    }
}

static void every_value_round_trips(void **state) {
    (void)state;
    static ladder l;
    for (size_t f = 0; f < SMALL_FORMATS; f++) {
        make_ladder(&l, small_formats[f]);
        const tw_float_info *info = tw_float_format_info(l.format);
        assert_int_equal(info->largest, l.finite - 1);
        for (uint64_t code = 0; code < 2 * sign_of(&l); code++) {
            uint64_t magnitude = code & (sign_of(&l) - 1);
            float narrow = tw_float_to_f32(l.format, code);
            double wide = tw_float_to_f64(l.format, code);
            bool minus_zero = code == sign_of(&l) && !info->has_negative_zero;
            if (magnitude < l.finite && !minus_zero) {
                double value = code == magnitude ? l.at[magnitude] : -l.at[magnitude];
                assert_memory_equal(&wide, &value, sizeof value);
                assert_true((double)narrow == wide && !signbit(narrow) == !signbit(wide));
                assert_int_equal(tw_float_from_f32(l.format, narrow), code);
                assert_int_equal(tw_float_from_f64(l.format, wide), code);
                assert_false(tw_float_is_nan(l.format, code));
                assert_int_equal(tw_float_is_denormal(l.format, code),
                                 magnitude && magnitude < 1u << info->mantissa_bits);
            } else if (magnitude == l.finite && info->has_infinity) {
                assert_true(isinf(narrow) && isinf(wide) && !signbit(wide) == (code == magnitude));
                assert_int_equal(tw_float_from_f32(l.format, narrow), code);
                assert_int_equal(tw_float_from_f64(l.format, wide), code);
            } else {
                uint64_t quiet = info->has_infinity ? code | 1u << (info->mantissa_bits - 1) : code;
                assert_true(isnan(narrow) && isnan(wide) && tw_float_is_nan(l.format, code));
                assert_int_equal(tw_float_from_f32(l.format, narrow), quiet);
                assert_int_equal(tw_float_from_f64(l.format, wide), quiet);
            }
        }
    }
}

static void short_forms_agree_with_the_general_ones(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        assert_int_equal(tw_f32_bits(tw_f16_to_f32((uint16_t)bits)),
                         tw_f32_bits(tw_float_to_f32(TW_FLOAT_F16, bits)));
        assert_int_equal(tw_f32_bits(tw_bf16_to_f32((uint16_t)bits)), bits << 16);
    }
    for (uint64_t bits = 0; bits < 1ull << 32; bits += 1021) {
        float value = tw_f32_of_bits((uint32_t)bits);
        assert_int_equal(tw_f32_to_f16(value), tw_float_from_f32(TW_FLOAT_F16, value));
        assert_int_equal(tw_f32_to_bf16(value), tw_float_from_f32(TW_FLOAT_BF16, value));
    }
}

static void special_values(void **state) {
    (void)state;
    static const struct {
        float from;
        tw_float_format to;
        uint64_t ieee, finite, saturate;
    } rows[] = {
        {INFINITY, TW_FLOAT_F16, 0x7c00, 0x7c00, 0x7bff},
        {-INFINITY, TW_FLOAT_BF16, 0xff80, 0xff80, 0xff7f},
        {INFINITY, TW_FLOAT_FP8_OCP, 0x7f, 0x7f, 0x7e},
        {-INFINITY, TW_FLOAT_FP8_OCP, 0xff, 0xff, 0xfe},
        {INFINITY, TW_FLOAT_BF8_OCP, 0x7c, 0x7c, 0x7b},
        {-INFINITY, TW_FLOAT_FP8_FNUZ, 0x80, 0x80, 0xff},
        {INFINITY, TW_FLOAT_BF8_FNUZ, 0x80, 0x80, 0x7f},
        {448.0f, TW_FLOAT_FP8_OCP, 0x7e, 0x7e, 0x7e},
        {464.0f, TW_FLOAT_FP8_OCP, 0x7e, 0x7e, 0x7e},
        {464.1f, TW_FLOAT_FP8_OCP, 0x7f, 0x7e, 0x7e},
        {-1000.0f, TW_FLOAT_FP8_OCP, 0xff, 0xfe, 0xfe},
        {240.0f, TW_FLOAT_FP8_FNUZ, 0x7f, 0x7f, 0x7f},
        {247.9f, TW_FLOAT_FP8_FNUZ, 0x7f, 0x7f, 0x7f},
        {248.0f, TW_FLOAT_FP8_FNUZ, 0x80, 0x7f, 0x7f},
        {-0.0f, TW_FLOAT_FP8_FNUZ, 0, 0, 0},
        {-0.0f, TW_FLOAT_FP8_OCP, 0x80, 0x80, 0x80},
        {-0x1p-30f, TW_FLOAT_BF8_FNUZ, 0, 0, 0},
        {-0x1p-30f, TW_FLOAT_BF8_OCP, 0x80, 0x80, 0x80},
        {57344.0f, TW_FLOAT_BF8_OCP, 0x7b, 0x7b, 0x7b},
        {61440.0f, TW_FLOAT_BF8_OCP, 0x7c, 0x7b, 0x7b},
        {57344.0f, TW_FLOAT_BF8_FNUZ, 0x7f, 0x7f, 0x7f},
        {65519.0f, TW_FLOAT_F16, 0x7bff, 0x7bff, 0x7bff},
        {65520.0f, TW_FLOAT_F16, 0x7c00, 0x7bff, 0x7bff},
        {0x1p-10f, TW_FLOAT_FP8_OCP, 0, 0, 0},
        {0x1.8p-10f, TW_FLOAT_FP8_OCP, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t want[LIMITS] = {rows[i].ieee, rows[i].finite, rows[i].saturate};
        for (int limit = 0; limit < LIMITS; limit++)
            assert_int_equal(tw_float_convert(TW_FLOAT_F32, tw_f32_bits(rows[i].from), rows[i].to,
                                              TW_ROUND_NEAREST_EVEN, (tw_overflow_mode)limit),
                             want[limit]);
    }
    /* NaN: the sign and the leading payload stay, and it gets quiet. */
    static const struct {
        uint32_t from;
        tw_float_format to;
        uint64_t bits;
    } nans[] = {
        {0x7fc00000, TW_FLOAT_F16, 0x7e00},
        {0xffa02000, TW_FLOAT_F16, 0xff01},
        {0x7f800001, TW_FLOAT_F16, 0x7e00},
        {0xff800001, TW_FLOAT_BF16, 0xffc0},
        {0x7fa10000, TW_FLOAT_BF16, 0x7fe1},
        {0xff800001, TW_FLOAT_FP8_OCP, 0xff},
        {0xffa00000, TW_FLOAT_BF8_OCP, 0xff},
        {0x7f800001, TW_FLOAT_BF8_OCP, 0x7e},
        {0x7fc00000, TW_FLOAT_FP8_FNUZ, 0x80},
        {0xffc00000, TW_FLOAT_BF8_FNUZ, 0x80},
        {0x7f800001, TW_FLOAT_F64, 0x7ff8000020000000},
    };
    for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++)
        for (int limit = 0; limit < LIMITS; limit++)
            assert_int_equal(tw_float_convert(TW_FLOAT_F32, nans[i].from, nans[i].to, TW_ROUND_NEAREST_EVEN,
                                              (tw_overflow_mode)limit),
                             nans[i].bits);
    assert_null(tw_float_format_info(TW_FLOAT_FORMAT_COUNT));
    assert_int_equal(tw_float_convert(TW_FLOAT_FORMAT_COUNT, 1, TW_FLOAT_F16, 0, 0), 0);
}

/* ---- against the compiler and the C library ---- */

static uint64_t next_random(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void agrees_with_the_compiler(void **state) {
    (void)state;
#ifdef __FLT16_MANT_DIG__
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (int i = 0; i < 1000000; i++) {
        uint64_t bits = next_random(&seed);
        /* Every other value has an exponent near those of f16. */
        uint32_t narrow = (uint32_t)bits;
        if (i % 2) narrow = (narrow & 0x807fffff) | (96 + (uint32_t)(bits >> 32) % 64) << 23;
        float value = tw_f32_of_bits(narrow);
        _Float16 half = (_Float16)value;
        uint16_t compiled;
        memcpy(&compiled, &half, sizeof compiled);
        if (!isnan(value)) assert_int_equal(tw_f32_to_f16(value), compiled);
        double wide = tw_f64_of_bits((bits & 0x800fffffffffffff) | (0x3e0 + bits % 0x40) << 52);
        half = (_Float16)wide;
        memcpy(&compiled, &half, sizeof compiled);
        assert_int_equal(tw_float_from_f64(TW_FLOAT_F16, wide), compiled);
    }
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        uint16_t code = (uint16_t)bits;
        _Float16 half;
        memcpy(&half, &code, sizeof half);
        if (!tw_float_is_nan(TW_FLOAT_F16, code)) assert_true((float)half == tw_f16_to_f32(code));
    }
#else
    skip(); /* this compiler has no _Float16 */
#endif
}

/* f32 and f64: random operands whose exponents are close enough to meet, against the C library's fma. */
static void fma_agrees_with_the_library(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < 400000; i++) {
        uint64_t r[3];
        for (int k = 0; k < 3; k++)
            r[k] = next_random(&seed);
        uint32_t n[3];
        uint64_t w[3];
        unsigned spread = (unsigned)(r[0] >> 20) % 30;
        for (int k = 0; k < 3; k++) {
            unsigned near = 127 + (unsigned)(r[k] >> 40) % (spread + 1) - spread / 2;
            n[k] = (uint32_t)(i % 4 ? (r[k] & 0x807fffff) | near << 23 : r[k]);
            w[k] = i % 4 ? (r[k] & 0x800fffffffffffff) | (uint64_t)(near + 1023 - 127) << 52 : r[k];
            if (i % 8 == 1) n[k] &= ~0u << (r[1] % 23), w[k] &= ~0ull << (r[1] % 52);
        }
        if (i % 8 == 2) n[2] = 0, w[2] = 0;
        float f = fmaf(tw_f32_of_bits(n[0]), tw_f32_of_bits(n[1]), tw_f32_of_bits(n[2]));
        double d = fma(tw_f64_of_bits(w[0]), tw_f64_of_bits(w[1]), tw_f64_of_bits(w[2]));
        uint64_t got = tw_float_fma(TW_FLOAT_F32, n[0], n[1], n[2], TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        if (isnan(f)) {
            assert_true(tw_float_is_nan(TW_FLOAT_F32, got));
        } else {
            assert_int_equal(got, tw_f32_bits(f));
        }
        got = tw_float_fma(TW_FLOAT_F64, w[0], w[1], w[2], TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        if (isnan(d)) {
            assert_true(tw_float_is_nan(TW_FLOAT_F64, got));
        } else {
            assert_int_equal(got, tw_f64_bits(d));
        }
    }
}

/* A double that, rounded once more to a small format, gives what the exact sum gives: rounding to odd. */
static double sum_to_odd(double a, double b) {
    double sum = a + b;
    double part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    if (error != 0 && !(tw_f64_bits(sum) & 1)) sum = nextafter(sum, error > 0 ? HUGE_VAL : -HUGE_VAL);
    return sum;
}

static void fma_of_small_formats_rounds_once(void **state) {
    (void)state;
    static const tw_float_format pair[] = {TW_FLOAT_F16, TW_FLOAT_BF16};
    static ladder l;
    uint64_t seed = 1234567;
    for (int f = 0; f < 2; f++) {
        make_ladder(&l, pair[f]);
        for (int i = 0; i < 500000; i++) {
            uint64_t r = next_random(&seed);
            uint16_t a = (uint16_t)r, b = (uint16_t)(r >> 16), c = (uint16_t)(r >> 32);
            if (i % 4 == 1)
                b = (uint16_t)((b & 0x83ff) | 0x3800), c = (uint16_t)((c & 0x0fff) | (a & 0x7000) | 0x8000);
            double x = tw_float_to_f64(pair[f], a), y = tw_float_to_f64(pair[f], b);
            double z = tw_float_to_f64(pair[f], c);
            if (!isfinite(x) || !isfinite(y) || !isfinite(z)) continue;
            double sum = sum_to_odd(x * y, z);
            for (int mode = 0; mode < MODES; mode++) {
                uint64_t want = expected(&l, sum, (tw_round_mode)mode, 0);
                if (sum == 0 && !signbit(x * y) != !signbit(z)) want = mode == TW_ROUND_DOWN ? 0x8000 : 0;
                assert_int_equal(tw_float_fma(pair[f], a, b, c, (tw_round_mode)mode, 0), want);
            }
            uint16_t everyday = f ? tw_bf16_fma(a, b, c) : tw_f16_fma(a, b, c);
            assert_int_equal(everyday,
                             tw_float_fma(pair[f], a, b, c, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE));
        }
    }
}

static void fma_special_values(void **state) {
    (void)state;
    enum { ONE = 0x3c00, INF = 0x7c00, NEG = 0x8000, QNAN = 0x7e00 };
    static const struct {
        uint16_t a, b, c;
        tw_round_mode round;
        uint16_t result;
    } rows[] = {
        {INF, 0, ONE, 0, QNAN},
        {0, NEG | INF, 0xfe01, 0, 0xfe01},
        {INF, ONE, NEG | INF, 0, QNAN},
        {INF, NEG | ONE, NEG | INF, 0, NEG | INF},
        {ONE, ONE, NEG | INF, 0, NEG | INF},
        {0x7d01, 0xfe02, 0x7e03, 0, 0x7f01}, /* the first NaN, quiet */
        {ONE, 0xfd02, 0x7e03, 0, 0xff02},
        {ONE, ONE, NEG | ONE, TW_ROUND_NEAREST_EVEN, 0},
        {ONE, ONE, NEG | ONE, TW_ROUND_DOWN, NEG},
        {NEG, ONE, NEG, TW_ROUND_NEAREST_EVEN, NEG},
        {NEG, ONE, 0, TW_ROUND_NEAREST_EVEN, 0},
        {NEG, ONE, 0, TW_ROUND_DOWN, NEG},
        {0, ONE, 0, TW_ROUND_DOWN, 0},
        {0, ONE, 0x0001, 0, 0x0001},
        {0x7bff, 0x7bff, 0, 0, INF},
        {0x7bff, 0xfbff, 0, TW_ROUND_TOWARD_ZERO, 0xfbff},
        {0x0001, 0x0001, NEG, TW_ROUND_UP, 0x0001},
        {0x0001, 0x8001, 0x3c00, TW_ROUND_NEAREST_EVEN, 0x3c00},
        {0x0001, 0x8001, 0x3c00, TW_ROUND_TOWARD_ZERO, 0x3bff},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(
            tw_float_fma(TW_FLOAT_F16, rows[i].a, rows[i].b, rows[i].c, rows[i].round, TW_OVERFLOW_IEEE),
            rows[i].result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rounding_boundary),
        cmocka_unit_test(every_value_round_trips),
        cmocka_unit_test(short_forms_agree_with_the_general_ones),
        cmocka_unit_test(special_values),
        cmocka_unit_test(agrees_with_the_compiler),
        cmocka_unit_test(fma_agrees_with_the_library),
        cmocka_unit_test(fma_of_small_formats_rounds_once),
        cmocka_unit_test(fma_special_values),
    };
    return cmocka_run_group_tests_name("support-float-formats", tests, NULL, NULL);
}
