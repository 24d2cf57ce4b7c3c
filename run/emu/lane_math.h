/* The arithmetic of one lane, as the rows of the .def files use it. Included once for each instruction set of
 * the host: everything is static. */
#ifndef TW_RUN_EMU_LANE_MATH_H
#define TW_RUN_EMU_LANE_MATH_H

#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LM static inline __attribute__((always_inline, unused))

/* Every lane reads all that it needs before it writes, and touches no other lane: loops may run in vectors
 * even where `d` is one of the sources. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* some loops stay as they are */
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < 32; l++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (unsigned l = 0; l < 32; l++)
#endif

typedef struct pair_u32 {
    uint32_t x, y;
} pair_u32;
typedef struct pair_f32 {
    float x, y;
} pair_f32;

LM float as_f32(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
LM uint32_t f32_bits(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}
LM double as_f64(uint64_t bits) {
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
LM uint64_t f64_bits(double f) {
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* To the nearest integer, ties to even, whatever the host's rounding mode is. */
LM float round_even(float f) {
    float down = __builtin_floorf(f), rest = f - down, half = down * 0.5f;
    bool up = rest > 0.5f || (rest == 0.5f && half != __builtin_floorf(half));
    float r = up ? down + 1.0f : down;
    return f - f == 0 ? __builtin_copysignf(r, f) : f;
}
LM double round_even64(double f) {
    double down = __builtin_floor(f), rest = f - down, half = down * 0.5;
    bool up = rest > 0.5 || (rest == 0.5 && half != __builtin_floor(half));
    double r = up ? down + 1.0 : down;
    return f - f == 0 ? __builtin_copysign(r, f) : f;
}

/* ---- half and bfloat16: conversions in the host's current rounding direction ---- */

LM float half_to_f32(uint32_t h) {
    uint32_t sign = (h & 0x8000u) << 16, em = h & 0x7fffu;
    uint32_t normal = (em << 13) + 0x38000000u + (em >= 0x7c00u ? 0x38000000u : 0);
    uint32_t small = f32_bits((float)(int32_t)em * 0x1p-24f);
    uint32_t bits = em < 0x400u ? small : normal;
    bits |= em > 0x7c00u ? 0x400000u : 0; /* a signalling NaN becomes quiet */
    return as_f32(bits | sign);
}

LM uint32_t f32_to_half_nearest(float f) {
    uint32_t bits = f32_bits(f), sign = bits >> 16 & 0x8000u, a = bits & 0x7fffffffu;
    uint32_t normal = (a + 0xc8000fffu + (a >> 13 & 1)) >> 13;
    uint32_t small = f32_bits(as_f32(a) + 0.5f) - 0x3f000000u;
    uint32_t r = a < 0x38800000u ? small : normal;
    r = a >= 0x477ff000u ? 0x7c00u : r;
    r = a > 0x7f800000u ? 0x7e00u | (a >> 13 & 0x3ffu) : r;
    return sign | r;
}

/* Any rounding direction, one value: `direction` is one of the FE_ numbers. */
static __attribute__((unused)) uint32_t f32_to_half_directed(float f, int direction) {
    uint32_t bits = f32_bits(f), sign = bits >> 16 & 0x8000u, a = bits & 0x7fffffffu;
    if (a > 0x7f800000u) return sign | 0x7e00u | (a >> 13 & 0x3ffu);
    if (a == 0x7f800000u) return sign | 0x7c00u;
    bool up = (direction == FE_UPWARD && !sign) || (direction == FE_DOWNWARD && sign);
    uint32_t exponent = a >> 23, mantissa = (a & 0x7fffffu) | (exponent ? 0x800000u : 0);
    if (exponent >= 143) return sign | (up ? 0x7c00u : 0x7bffu);
    unsigned shift = exponent >= 113 ? 13 : exponent == 0 ? 31 : 13 + 113 - exponent;
    if (shift > 31) shift = 31;
    uint32_t kept = mantissa >> shift, lost = mantissa & ((1u << shift) - 1);
    uint32_t r = exponent >= 113 ? ((exponent - 113) << 10) + kept : kept;
    return sign | (r + (up && lost));
}

LM float bf16_to_f32(uint32_t b) { return as_f32(b << 16); }

LM uint32_t f32_to_bf16_nearest(float f) {
    uint32_t bits = f32_bits(f);
    uint32_t r = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16 | 0x40u) : r;
}

static __attribute__((unused)) uint32_t f32_to_bf16_directed(float f, int direction) {
    uint32_t bits = f32_bits(f), sign = bits >> 31;
    if ((bits & 0x7fffffffu) > 0x7f800000u) return bits >> 16 | 0x40u;
    bool up = (direction == FE_UPWARD && !sign) || (direction == FE_DOWNWARD && sign);
    return (bits >> 16) + (up && (bits & 0xffffu));
}

/* A double as a float that the next rounding, to 22 bits or fewer, cannot be fooled by: rounded to odd. */
LM float round_to_odd(double d) {
    float f = (float)d;
    double e = (double)f;
    uint32_t bits = f32_bits(f);
    uint32_t away = (e < 0 ? -e : e) > (d < 0 ? -d : d);
    uint32_t change = (e != d) & ~bits & 1u & (e - e == 0);
    return as_f32(bits + (change ? (away ? 0xffffffffu : 1u) : 0u));
}

/* a * b + c rounded once to half (22 bits of product and 11 of addend leave doubles exact enough). */
LM float fma_half(float a, float b, float c) { return round_to_odd((double)a * (double)b + (double)c); }

/* a + b rounded to odd, for two doubles that are exact. */
LM double sum_to_odd(double a, double b) {
    double s = a + b, t = s - a, lost = (a - (s - t)) + (b - t);
    uint64_t bits = f64_bits(s);
    bool change = lost != 0 && lost - lost == 0 && !(bits & 1);
    return as_f64(change ? ((lost < 0) != (s < 0) ? bits - 1 : bits + 1) : bits);
}
/* The same for bfloat16, whose exponents are wide. */
LM float fma_bf16(float a, float b, float c) {
    return round_to_odd(sum_to_odd((double)a * (double)b, (double)c));
}

/* ---- NaNs, minima, maxima ---- */

LM bool is_nan(float f) { return f != f; }
LM bool is_signalling(float f) {
    uint32_t bits = f32_bits(f);
    return (bits & 0x7fffffffu) > 0x7f800000u && !(bits & 0x400000u);
}
LM float quiet(float f) { return as_f32(f32_bits(f) | 0x400000u); }
LM bool is_signalling64(double f) {
    uint64_t bits = f64_bits(f) & 0x7fffffffffffffffu;
    return bits > 0x7ff0000000000000u && !(bits & 0x8000000000000u);
}
LM double quiet64(double f) { return as_f64(f64_bits(f) | 0x8000000000000u); }

/* Numbers win over NaNs; of two NaNs the first, made quiet. Zeros are ordered. */
LM float min_number(float a, float b) {
    float r = a < b ? a : b;
    r = a == b ? as_f32(f32_bits(a) | f32_bits(b)) : r;
    r = is_nan(b) ? a : r;
    r = is_nan(a) ? b : r;
    return is_nan(r) ? quiet(is_nan(a) ? a : b) : r;
}
LM float max_number(float a, float b) {
    float r = a > b ? a : b;
    r = a == b ? as_f32(f32_bits(a) & f32_bits(b)) : r;
    r = is_nan(b) ? a : r;
    r = is_nan(a) ? b : r;
    return is_nan(r) ? quiet(is_nan(a) ? a : b) : r;
}
LM double min_number64(double a, double b) {
    double r = a < b ? a : b;
    r = a == b ? as_f64(f64_bits(a) | f64_bits(b)) : r;
    r = b != b ? a : r;
    r = a != a ? b : r;
    return r != r ? quiet64(a != a ? a : b) : r;
}
LM double max_number64(double a, double b) {
    double r = a > b ? a : b;
    r = a == b ? as_f64(f64_bits(a) & f64_bits(b)) : r;
    r = b != b ? a : r;
    r = a != a ? b : r;
    return r != r ? quiet64(a != a ? a : b) : r;
}
LM uint32_t quiet_half(uint32_t h) { return (h & 0x7fffu) > 0x7c00u ? h | 0x200u : h; }

/* Up to gfx11: in IEEE mode a signalling NaN wins, made quiet; else what stands beside a NaN, as it is. */
LM float min_ieee(float a, float b, uint32_t mode) {
    float r = is_nan(a) ? b : min_number(a, b);
    r = (mode & 1) && is_signalling(b) ? quiet(b) : r;
    return (mode & 1) && is_signalling(a) ? quiet(a) : r;
}
LM float max_ieee(float a, float b, uint32_t mode) {
    float r = is_nan(a) ? b : max_number(a, b);
    r = (mode & 1) && is_signalling(b) ? quiet(b) : r;
    return (mode & 1) && is_signalling(a) ? quiet(a) : r;
}
LM double min_ieee64(double a, double b, uint32_t mode) {
    double r = a != a ? b : min_number64(a, b);
    r = (mode & 1) && is_signalling64(b) ? quiet64(b) : r;
    return (mode & 1) && is_signalling64(a) ? quiet64(a) : r;
}
LM double max_ieee64(double a, double b, uint32_t mode) {
    double r = a != a ? b : max_number64(a, b);
    r = (mode & 1) && is_signalling64(b) ? quiet64(b) : r;
    return (mode & 1) && is_signalling64(a) ? quiet64(a) : r;
}
/* IEEE 754-2019 minimum and maximum: a NaN wins, a signalling one over a quiet one. */
LM float nan_or(float a, float b, float number) {
    float r = is_nan(b) ? quiet(b) : number;
    return is_nan(a) && (is_signalling(a) || !is_signalling(b)) ? quiet(a) : r;
}
LM double nan_or64(double a, double b, double number) {
    double r = b != b ? quiet64(b) : number;
    return a != a && (is_signalling64(a) || !is_signalling64(b)) ? quiet64(a) : r;
}
LM float minimum(float a, float b) { return nan_or(a, b, min_number(a, b)); }
LM float maximum(float a, float b) { return nan_or(a, b, max_number(a, b)); }
LM double minimum64(double a, double b) { return nan_or64(a, b, min_number64(a, b)); }
LM double maximum64(double a, double b) { return nan_or64(a, b, max_number64(a, b)); }
LM float med3(float a, float b, float c) {
    float most = max_number(max_number(a, b), c);
    float r = most == a ? max_number(b, c) : most == b ? max_number(a, c) : max_number(a, b);
    return is_nan(a) || is_nan(b) || is_nan(c) ? min_number(min_number(a, b), c) : r;
}
LM float med3_ieee(float a, float b, float c, uint32_t mode) {
    return is_nan(a) || is_nan(b) || is_nan(c) ? min_ieee(min_ieee(a, b, mode), c, mode) : med3(a, b, c);
}

/* A zero times anything, a NaN too, is +0. */
LM float fma_dx9_zero(float a, float b, float c) {
    bool zero = a == 0 || b == 0;
    float r = zero ? 0.0f + c : __builtin_fmaf(a, b, c);
    float nan = is_nan(c) ? quiet(c) : as_f32(0x7fc00000u);
    nan = is_nan(b) && !zero ? quiet(b) : nan;
    nan = is_nan(a) && !zero ? quiet(a) : nan;
    return is_nan(r) ? nan : r;
}

LM int32_t imin(int32_t a, int32_t b) { return a < b ? a : b; }
LM int32_t imax(int32_t a, int32_t b) { return a > b ? a : b; }
LM uint32_t umin(uint32_t a, uint32_t b) { return a < b ? a : b; }
LM uint32_t umax(uint32_t a, uint32_t b) { return a > b ? a : b; }
LM int32_t imed(int32_t a, int32_t b, int32_t c) { return imax(imin(a, b), imin(imax(a, b), c)); }
LM uint32_t umed(uint32_t a, uint32_t b, uint32_t c) { return umax(umin(a, b), umin(umax(a, b), c)); }

LM int32_t sext(uint32_t value, unsigned bits) { return (int32_t)(value << (32 - bits)) >> (32 - bits); }
LM int32_t s16(uint32_t value) { return (int16_t)value; }
LM int32_t s24(uint32_t value) { return sext(value, 24); }
LM int32_t clamp_i32(int64_t v) { return v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : (int32_t)v; }
LM uint32_t clamp_u32(int64_t v) { return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v; }
LM uint32_t clamp_i16(int32_t v) { return (uint16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v); }
LM uint32_t clamp_u16(int32_t v) { return v < 0 ? 0 : v > 65535 ? 65535 : (uint32_t)v; }
LM uint32_t clamped_mad_u16(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t v = (uint64_t)a * b + c;
    return v > 0xffff ? 0xffff : (uint32_t)v;
}

/* Whether a + b, as long as it is, is negative. */
LM bool negative_sum(int64_t a, int64_t b) {
    int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);
    return (a < 0) == (b < 0) ? a < 0 : sum < 0;
}

/* ---- bits ---- */

LM uint32_t bfe_u32(uint32_t a, uint32_t offset, uint32_t width) {
    uint32_t w = width & 31, v = a >> (offset & 31);
    return v & ((1u << w) - 1);
}
LM uint32_t bfe_i32(uint32_t a, uint32_t offset, uint32_t width) {
    uint32_t o = offset & 31, w = width & 31, left = 32 - w;
    uint32_t v = (uint32_t)((int32_t)a >> o);
    return w == 0 ? 0 : (uint32_t)((int32_t)(v << (left & 31)) >> (left & 31));
}
LM uint32_t reverse_bits(uint32_t v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
LM uint32_t count_bits(uint32_t v) {
    v = v - (v >> 1 & 0x55555555u);
    v = (v & 0x33333333u) + (v >> 2 & 0x33333333u);
    return ((v + (v >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
LM uint32_t leading_zeros(uint32_t v) { return v ? (uint32_t)__builtin_clz(v) : 0xffffffffu; }
LM uint32_t trailing_zeros(uint32_t v) { return v ? (uint32_t)__builtin_ctz(v) : 0xffffffffu; }
LM uint32_t leading_signs(uint32_t v) {
    uint32_t x = v ^ (uint32_t)((int32_t)v >> 31);
    return x ? (uint32_t)__builtin_clz(x) : 0xffffffffu;
}
LM uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selectors) {
    uint64_t data = (uint64_t)a << 32 | b;
    uint32_t r = 0;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t s = selectors >> (8 * i) & 0xff, byte;
        if (s < 8)
            byte = (uint32_t)(data >> (8 * s)) & 0xff;
        else if (s < 12)
            byte = (data >> (16 * (s - 8) + 15) & 1) ? 0xff : 0;
        else
            byte = s == 12 ? 0 : 0xff;
        r |= byte << (8 * i);
    }
    return r;
}
LM uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
    uint32_t r = 0;
    for (unsigned i = 0; i < 8; i++) {
        uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        r |= table >> i & 1 ? term : 0;
    }
    return r;
}
LM uint32_t sad_u8(uint32_t a, uint32_t b, uint32_t c, bool masked) {
    uint32_t sum = c;
    for (unsigned i = 0; i < 32; i += 8) {
        int32_t x = a >> i & 0xff, y = b >> i & 0xff;
        sum += masked && y == 0 ? 0 : (uint32_t)(x > y ? x - y : y - x);
    }
    return sum;
}
LM uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t r = 0;
    for (unsigned i = 0; i < 32; i += 8)
        r |= (((a >> i & 0xff) + (b >> i & 0xff) + (c >> i & 1)) >> 1) << i;
    return r;
}

/* ---- conversions ---- */

LM uint32_t f32_to_u32(float f) {
    double d = f;
    return !(d > 0) ? 0 : d >= 4294967295.0 ? 0xffffffffu : (uint32_t)(int64_t)d;
}
LM uint32_t f32_to_i32(float f) {
    float g = f >= 0x1p31f ? 0 : f < -0x1p31f ? 0 : f != f ? 0 : f;
    uint32_t r = (uint32_t)(int32_t)g;
    r = f >= 0x1p31f ? 0x7fffffffu : r;
    return f < -0x1p31f ? 0x80000000u : r;
}
LM uint32_t f64_to_u32(double d) {
    return !(d > 0) ? 0 : d >= 4294967295.0 ? 0xffffffffu : (uint32_t)(int64_t)d;
}
LM uint32_t f64_to_i32(double d) {
    return d != d               ? 0
           : d >= 2147483647.0  ? 0x7fffffffu
           : d <= -2147483648.0 ? 0x80000000u
                                : (uint32_t)(int32_t)d;
}
LM uint32_t f32_to_i16(float f) {
    return f != f ? 0 : f >= 32767.0f ? 0x7fffu : f <= -32768.0f ? 0x8000u : (uint16_t)(int16_t)f;
}
LM uint32_t f32_to_u16(float f) { return !(f > 0) ? 0 : f >= 65535.0f ? 0xffffu : (uint32_t)f; }
LM uint32_t norm_i16(float f) {
    double c = f != f ? 0 : f < -1 ? -1 : f > 1 ? 1 : f; /* the product is exact */
    return (uint16_t)(int16_t)__builtin_rint(c * 32767.0);
}
LM uint32_t norm_u16(float f) {
    double c = f != f ? 0 : f < 0 ? 0 : f > 1 ? 1 : f;
    return (uint16_t)(int32_t)__builtin_rint(c * 65535.0);
}
LM uint32_t f32_to_u8(float f) {
    float r = __builtin_rintf(f);
    return !(r > 0) ? 0 : r >= 255.0f ? 255u : (uint32_t)r;
}
LM float off_i4(uint32_t v) { return (float)sext(v & 15, 4) * 0.0625f; }

/* ---- exponents ---- */

LM float frexp_mant(float f) {
    int e;
    return f - f != 0 ? f : frexpf(f, &e);
}
LM uint32_t frexp_exp(float f) {
    int e = 0;
    if (f - f == 0) (void)frexpf(f, &e);
    return (uint32_t)e;
}
LM double frexp_mant64(double f) {
    int e;
    return f - f != 0 ? f : frexp(f, &e);
}
LM uint32_t frexp_exp64(double f) {
    int e = 0;
    if (f - f == 0) (void)frexp(f, &e);
    return (uint32_t)e;
}
LM float fract(float f) {
    float r = f - __builtin_floorf(f);
    return r < 0x1.fffffep-1f ? r : r == r ? 0x1.fffffep-1f : r;
}
LM float fract_half(float f) {
    float r = f - __builtin_floorf(f);
    return r < 0x1.ffcp-1f ? r : r == r ? 0x1.ffcp-1f : r;
}
LM double fract64(double f) {
    double r = f - __builtin_floor(f);
    return r < 0x1.fffffffffffffp-1 ? r : r == r ? 0x1.fffffffffffffp-1 : r;
}

/* Transcendentals: from double, rounded to float. */
LM float sin_turns(float f) {
    return (float)sin(2 * 3.14159265358979323846 * ((double)f - floor((double)f)));
}
LM float cos_turns(float f) {
    return (float)cos(2 * 3.14159265358979323846 * ((double)f - floor((double)f)));
}

/* ---- classes ---- */

LM bool class_f32(uint32_t bits, uint32_t mask) {
    uint32_t a = bits & 0x7fffffffu, negative = bits >> 31;
    unsigned k = a > 0x7f800000u    ? (a & 0x400000u ? 1 : 0)
                 : a == 0x7f800000u ? (negative ? 2 : 9)
                 : a >= 0x800000u   ? (negative ? 3 : 8)
                 : a                ? (negative ? 4 : 7)
                                    : (negative ? 5 : 6);
    return mask >> k & 1;
}
LM bool class_f16(uint32_t bits, uint32_t mask) {
    uint32_t a = bits & 0x7fffu, negative = bits >> 15 & 1;
    unsigned k = a > 0x7c00u    ? (a & 0x200u ? 1 : 0)
                 : a == 0x7c00u ? (negative ? 2 : 9)
                 : a >= 0x400u  ? (negative ? 3 : 8)
                 : a            ? (negative ? 4 : 7)
                                : (negative ? 5 : 6);
    return mask >> k & 1;
}
LM bool class_f64(uint64_t bits, uint32_t mask) {
    uint64_t a = bits & 0x7fffffffffffffffu, negative = bits >> 63;
    unsigned k = a > 0x7ff0000000000000u    ? (a & 0x8000000000000u ? 1 : 0)
                 : a == 0x7ff0000000000000u ? (negative ? 2 : 9)
                 : a >= 0x10000000000000u   ? (negative ? 3 : 8)
                 : a                        ? (negative ? 4 : 7)
                                            : (negative ? 5 : 6);
    return mask >> k & 1;
}

#include "run/emu/lane_division.h"

/* ---- dot products of small integers; `m` bit 0: a is signed, bit 1: b is signed ---- */

LM int64_t dot_bits(uint32_t a, uint32_t b, unsigned width, uint32_t m) {
    int64_t sum = 0;
    for (unsigned i = 0; i < 32; i += width) {
        uint32_t mask = width == 32 ? 0xffffffffu : (1u << width) - 1;
        uint32_t x = a >> i & mask, y = b >> i & mask;
        int64_t p = m & 1 ? sext(x, width) : (int64_t)x, q = m & 2 ? sext(y, width) : (int64_t)y;
        sum += p * q;
    }
    return sum;
}

/* c + a0*b0 + a1*b1: products exact, the sum in double, rounded once to float. */
LM float dot2(float a0, float b0, float a1, float b1, float c) {
    return (float)((double)a0 * b0 + (double)a1 * b1 + (double)c);
}

/* ---- helpers of scalar rows ---- */

LM uint64_t field_u64(uint64_t v, unsigned offset, unsigned width) {
    return width >= 64 ? v >> offset : v >> offset & ((1ull << width) - 1);
}
LM uint64_t field_i64(uint64_t v, unsigned offset, unsigned width) {
    uint64_t f = field_u64((uint64_t)((int64_t)v >> offset), 0, width);
    return width == 0 ? 0 : width >= 64 ? f : (uint64_t)((int64_t)(f << (64 - width)) >> (64 - width));
}
LM uint32_t leading_signs64(uint64_t v) {
    uint64_t x = v ^ (uint64_t)((int64_t)v >> 63);
    return x ? (uint32_t)__builtin_clzll(x) : 0xffffffffu;
}
LM uint64_t whole_quads(uint64_t v) {
    v |= v >> 1;
    v |= v >> 2;
    v &= 0x1111111111111111u;
    return v * 15;
}
LM uint64_t quad_mask(uint64_t v) {
    uint64_t r = 0;
    for (unsigned i = 0; i < 16; i++)
        r |= (uint64_t)((v >> (4 * i) & 15) != 0) << i;
    return r;
}
LM uint64_t double_bits(uint32_t v) {
    uint64_t r = 0;
    for (unsigned i = 0; i < 32; i++)
        r |= (uint64_t)(v >> i & 1) * 3 << (2 * i);
    return r;
}

#include "run/emu/lane_rare.h"

#endif
