/* Helpers of the lane functions: the steps of a division. Included by lane_math.h. */
#ifndef TW_RUN_EMU_LANE_DIVISION_H
#define TW_RUN_EMU_LANE_DIVISION_H

/* What is alike in both widths: LANE(exponent), div_scale, div_special, div_fixup. */
#define LANE(name)     name##32
#define LANE_FLOAT     float
#define LANE_BITS      uint32_t
#define LANE_BITS_OF   f32_bits
#define LANE_OF_BITS   as_f32
#define LANE_QUIET     quiet
#define LANE_LDEXP     ldexpf
#define LANE_FRACTION  23
#define LANE_EXPONENTS 0xffu
#define DIV_FAR        96  /* exponents of numerator and denominator so far apart ask for scaling */
#define DIV_SMALL      24  /* a numerator's exponent that asks for it */
#define DIV_LARGE      253 /* a denominator's: its reciprocal is a denormal */
#define DIV_LOST       150 /* further apart, and the quotient is zero */
#define DIV_SCALE      64
#include "run/emu/lane_division_width.h"

#define LANE(name)     name##64
#define LANE_FLOAT     double
#define LANE_BITS      uint64_t
#define LANE_BITS_OF   f64_bits
#define LANE_OF_BITS   as_f64
#define LANE_QUIET     quiet64
#define LANE_LDEXP     ldexp
#define LANE_FRACTION  52
#define LANE_EXPONENTS 0x7ffull
#define DIV_FAR        768
#define DIV_SMALL      53
#define DIV_LARGE      2045
#define DIV_LOST       1075
#define DIV_SCALE      128
#include "run/emu/lane_division_width.h"

/* Halves, as f32: no quotient can be lost to the range of the exponents. */
LM float div_fixup16(float q, float den, float num) {
    return div_special32(den, num, div_signed32(q, den, num));
}

/* v_div_fmas: a * b + c, scaled back, rounded once. */
LM float div_fmas32(float a, float b, float c, bool scale) {
    if (!scale) return __builtin_fmaf(a, b, c);
    double s = sum_to_odd((double)a * (double)b, (double)c);
    return (float)ldexp(s, exponent32(c) > 127 ? 64 : -64);
}
/* Rounding again, to a denormal, only goes wrong where the first rounding made a tie: then what that rounding
 * lost decides. */
static __attribute__((unused)) double scale_fma64(double a, double b, double c, int scale) {
    volatile double x = a, y = b, z = c;
    int host = fegetround();
    fesetround(FE_DOWNWARD);
    double below = __builtin_fma(x, y, z);
    fesetround(FE_UPWARD);
    double above = __builtin_fma(x, y, z);
    fesetround(host);
    double r = __builtin_fma(x, y, z);
    if (below == above) return ldexp(r, scale);
    int lost_bits = -1022 - (ilogb(r) + scale); /* of the denormal result */
    uint64_t half = lost_bits > 0 && lost_bits < 53 ? 1ull << (lost_bits - 1) : 0;
    if (half && (f64_bits(r) & (2 * half - 1)) == half) r = r == below ? above : below;
    return ldexp(r, scale);
}
LM double div_fmas64(double a, double b, double c, bool scale) {
    if (!scale) return __builtin_fma(a, b, c);
    return scale_fma64(a, b, c, exponent64(c) > 1023 ? 128 : -128);
}

#endif
