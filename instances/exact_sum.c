#include "instances/exact_sum.h"

#include <float.h>
#include <limits.h>
#include <math.h>

#include "support/float_formats.h"

void tw_exact_sum_init(tw_exact_sum *sum) { *sum = (tw_exact_sum){.grid = INT_MAX}; }

/* The exponent of the lowest bit that is set in a normal number. */
static int lowest_bit(double value) {
    uint64_t bits = tw_f64_bits(value);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
    return exponent + __builtin_ctzll(bits | 1ull << 52);
}

void tw_exact_sum_add(tw_exact_sum *sum, double term) {
    sum->terms++;
    if (!isfinite(term)) {
        sum->special += term;
        return;
    }
    if (term == 0) return;
    int grid = lowest_bit(term);
    if (grid < sum->grid) sum->grid = grid;
    sum->magnitude += fabs(term);
    double total = sum->high + term; /* and what the addition lost: Knuth's two-sum */
    double part = total - sum->high;
    sum->low += (sum->high - (total - part)) + (term - part);
    sum->high = total;
}

static tw_float_format format_of(tw_scalar scalar) {
    return scalar == TW_F16 ? TW_FLOAT_F16 : scalar == TW_BF16 ? TW_FLOAT_BF16 : TW_FLOAT_F32;
}

/* From this magnitude on a value rounds to infinity. */
static double overflow_threshold(const tw_float_info *info) {
    int top = info->bias + 1; /* 2^top is past the largest exponent */
    return ldexp(1, top) - ldexp(1, top - info->mantissa_bits - 2);
}

static double half_ulp(const tw_float_info *info, double magnitude) {
    int lowest = 1 - (int)info->bias, exponent = lowest;
    if (magnitude > 0 && ilogb(magnitude) > lowest) exponent = ilogb(magnitude);
    return ldexp(1, exponent - info->mantissa_bits - 1);
}

/* How far the fp32 sum may be from the exact one. */
static double sum_error(const tw_exact_sum *sum) {
    if (sum->magnitude == 0) return 0;
    const int smallest = sum->flush ? -126 : -149;
    if (sum->grid >= smallest && sum->magnitude <= ldexp(1, 24 + sum->grid < 128 ? 24 + sum->grid : 128))
        return 0;
    double n = (double)sum->terms, nu = ldexp(n, -24);
    if (nu >= 0.5) return INFINITY;
    double own = ldexp(1, -50); /* the reference's own rounding, generously */
    return (nu / (1 - nu) + own) * sum->magnitude + ldexp(n, sum->flush ? -126 : -150);
}

static void overflowed(double value, double *expected, double *bound) {
    *expected = copysign(INFINITY, value);
    *bound = 0;
}

static void finish_finite(const tw_exact_sum *sum, tw_scalar format, double *expected, double *bound) {
    double value = sum->high + sum->low, error = sum_error(sum);
    const tw_float_info *f32 = tw_float_format_info(TW_FLOAT_F32);
    const tw_float_info *out = tw_float_format_info(format_of(format));
    *expected = value;
    *bound = error;
    if (sum->magnitude + error >= overflow_threshold(f32)) {
        /* Partial sums may overflow: they surely do where all terms have one sign and the total does. */
        if (fabs(value) == sum->magnitude && fabs(value) - error >= overflow_threshold(f32))
            overflowed(value, expected, bound);
        else
            *bound = INFINITY;
        return;
    }
    if (format == TW_F32) return;
    double limit = overflow_threshold(out);
    if (error == 0) {
        *expected = tw_float_to_f64(format_of(format), tw_float_from_f64(format_of(format), value));
    } else if (fabs(value) - error >= limit) {
        overflowed(value, expected, bound);
    } else if (fabs(value) + error >= limit) {
        *bound = INFINITY;
    } else {
        *bound = error + half_ulp(out, fabs(value) + error);
    }
}

void tw_exact_sum_finish(const tw_exact_sum *sum, tw_scalar format, const tw_reference *out, int64_t at) {
    if (out->scale) out->scale[at] = sum->magnitude;
    if (out->terms) out->terms[at] = sum->terms;
    if (isfinite(sum->special)) {
        finish_finite(sum, format, &out->expected[at], &out->bound[at]);
    } else {
        out->expected[at] = sum->special;
        out->bound[at] = 0;
    }
}
