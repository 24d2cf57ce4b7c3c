#include "support/float_formats.h"

/* How a format writes NaN (and whether it has infinity). */
typedef enum nan_kind {
    NAN_IEEE,     /* the largest exponent holds infinity and the NaNs */
    NAN_ALL_ONES, /* one NaN of each sign, all other bits set */
    NAN_MINUS_0   /* the bits of -0 */
} nan_kind;

static const tw_float_info formats[TW_FLOAT_FORMAT_COUNT] = {
    /*                     name        bits exp mant bias  inf    -0     largest              NaN */
    [TW_FLOAT_F16] = {"f16", 16, 5, 10, 15, true, true, 0x7bff, 0x7e00},
    [TW_FLOAT_BF16] = {"bf16", 16, 8, 7, 127, true, true, 0x7f7f, 0x7fc0},
    [TW_FLOAT_F32] = {"f32", 32, 8, 23, 127, true, true, 0x7f7fffff, 0x7fc00000},
    [TW_FLOAT_F64] = {"f64", 64, 11, 52, 1023, true, true, 0x7fefffffffffffff, 0x7ff8000000000000},
    [TW_FLOAT_FP8_OCP] = {"fp8-ocp", 8, 4, 3, 7, false, true, 0x7e, 0x7f},
    [TW_FLOAT_BF8_OCP] = {"bf8-ocp", 8, 5, 2, 15, true, true, 0x7b, 0x7e},
    [TW_FLOAT_FP8_FNUZ] = {"fp8-fnuz", 8, 4, 3, 8, false, false, 0x7f, 0x80},
    [TW_FLOAT_BF8_FNUZ] = {"bf8-fnuz", 8, 5, 2, 16, false, false, 0x7f, 0x80},
};

static nan_kind kind_of(const tw_float_info *f) {
    return f->has_infinity ? NAN_IEEE : f->has_negative_zero ? NAN_ALL_ONES : NAN_MINUS_0;
}

const tw_float_info *tw_float_format_info(tw_float_format format) {
    return (unsigned)format < TW_FLOAT_FORMAT_COUNT ? &formats[format] : NULL;
}

/* A value taken apart: (-1)^negative * significand * 2^exponent where it is finite. */
typedef enum value_class { ZERO, FINITE, INFINITE, NOT_A_NUMBER } value_class;
typedef struct unpacked {
    value_class class;
    bool negative;
    int exponent;
    uint64_t significand; /* of a NaN: its payload, from bit 63 down */
} unpacked;

static uint64_t sign_bit(const tw_float_info *f) { return 1ull << (f->bits - 1); }
static uint64_t mantissa_mask(const tw_float_info *f) { return (1ull << f->mantissa_bits) - 1; }
static uint64_t exponent_mask(const tw_float_info *f) { return (1ull << f->exponent_bits) - 1; }

static unpacked unpack(const tw_float_info *f, uint64_t bits) {
    uint64_t magnitude = bits & (sign_bit(f) - 1);
    uint64_t mantissa = bits & mantissa_mask(f);
    uint64_t exponent = magnitude >> f->mantissa_bits;
    unpacked v = {.negative = (bits & sign_bit(f)) != 0};
    switch (kind_of(f)) {
    case NAN_IEEE:
        if (exponent != exponent_mask(f)) break;
        v.class = mantissa ? NOT_A_NUMBER : INFINITE;
        v.significand = mantissa << (64 - f->mantissa_bits);
        return v;
    case NAN_ALL_ONES:
        if (magnitude != sign_bit(f) - 1) break;
        v.class = NOT_A_NUMBER;
        return v;
    case NAN_MINUS_0:
        if (magnitude || !v.negative) break;
        return (unpacked){.class = NOT_A_NUMBER};
    }
    v.class = magnitude ? FINITE : ZERO;
    v.significand = exponent ? mantissa | 1ull << f->mantissa_bits : mantissa;
    v.exponent = (exponent ? (int)exponent : 1) - f->bias - f->mantissa_bits;
    return v;
}

static uint64_t pack_nan(const tw_float_info *f, bool negative, uint64_t payload) {
    uint64_t sign = negative ? sign_bit(f) : 0;
    if (kind_of(f) != NAN_IEEE) return kind_of(f) == NAN_ALL_ONES ? f->nan | sign : f->nan;
    return f->nan | sign | payload >> (64 - f->mantissa_bits);
}

static uint64_t pack_largest(const tw_float_info *f, bool negative) {
    return f->largest | (negative ? sign_bit(f) : 0);
}

static uint64_t pack_infinity(const tw_float_info *f, bool negative) {
    if (!f->has_infinity) return pack_nan(f, negative, 0);
    return (f->largest + 1) | (negative ? sign_bit(f) : 0);
}

static uint64_t pack_zero(const tw_float_info *f, bool negative) {
    return negative && f->has_negative_zero ? sign_bit(f) : 0;
}

static uint64_t pack_overflow(const tw_float_info *f, bool negative, tw_round_mode round,
                              tw_overflow_mode overflow) {
    bool inward = round == TW_ROUND_TOWARD_ZERO || round == (negative ? TW_ROUND_UP : TW_ROUND_DOWN);
    if (overflow != TW_OVERFLOW_IEEE || inward) return pack_largest(f, negative);
    return pack_infinity(f, negative);
}

/* Drops the low `shift` bits (1..64 or more) and rounds. */
static uint64_t shift_and_round(uint64_t significand, unsigned shift, bool negative, tw_round_mode round) {
    uint64_t kept = shift < 64 ? significand >> shift : 0;
    if (shift > 64) { /* less than half of the last place, and not zero */
        return round == (negative ? TW_ROUND_DOWN : TW_ROUND_UP);
    }
    uint64_t dropped = shift < 64 ? significand << (64 - shift) : significand;
    switch (round) {
    case TW_ROUND_NEAREST_EVEN: return kept + (dropped > 1ull << 63 || (dropped == 1ull << 63 && kept & 1));
    case TW_ROUND_UP: return kept + (dropped && !negative);
    case TW_ROUND_DOWN: return kept + (dropped && negative);
    case TW_ROUND_TOWARD_ZERO: break;
    }
    return kept;
}

/* Rounds significand * 2^exponent, significand not 0. The lowest bit may stand for any number of lower ones,
 * as long as it is at least two places below the format's last. */
static uint64_t pack_finite(const tw_float_info *f, bool negative, int exponent, uint64_t significand,
                            tw_round_mode round, tw_overflow_mode overflow) {
    unsigned zeros = (unsigned)__builtin_clzll(significand);
    significand <<= zeros;
    int e = exponent - (int)zeros + 63; /* 2^e <= value < 2^(e+1) */
    int smallest = 1 - f->bias;
    if (e > (int)exponent_mask(f) - f->bias) return pack_overflow(f, negative, round, overflow);
    unsigned shift = 63u - f->mantissa_bits;
    uint64_t code;
    if (e >= smallest) {
        /* The leading 1 adds one to the exponent field, and so does a carry out of the mantissa. */
        code = shift_and_round(significand, shift, negative, round) +
               ((uint64_t)(e - smallest) << f->mantissa_bits);
    } else {
        code = shift_and_round(significand, shift + (unsigned)(smallest - e), negative, round);
    }
    if (code > f->largest) return pack_overflow(f, negative, round, overflow);
    if (!code) return pack_zero(f, negative);
    return code | (negative ? sign_bit(f) : 0);
}

static uint64_t pack(const tw_float_info *f, unpacked v, tw_round_mode round, tw_overflow_mode overflow) {
    switch (v.class) {
    case ZERO: break;
    case FINITE: return pack_finite(f, v.negative, v.exponent, v.significand, round, overflow);
    case INFINITE:
        return overflow == TW_OVERFLOW_SATURATE ? pack_largest(f, v.negative) : pack_infinity(f, v.negative);
    case NOT_A_NUMBER: return pack_nan(f, v.negative, v.significand);
    }
    return pack_zero(f, v.negative);
}

uint64_t tw_float_convert(tw_float_format from, uint64_t bits, tw_float_format to, tw_round_mode round,
                          tw_overflow_mode overflow) {
    if ((unsigned)from >= TW_FLOAT_FORMAT_COUNT || (unsigned)to >= TW_FLOAT_FORMAT_COUNT) return 0;
    return pack(&formats[to], unpack(&formats[from], bits), round, overflow);
}

bool tw_float_is_nan(tw_float_format format, uint64_t bits) {
    return (unsigned)format < TW_FLOAT_FORMAT_COUNT && unpack(&formats[format], bits).class == NOT_A_NUMBER;
}

bool tw_float_is_denormal(tw_float_format format, uint64_t bits) {
    if ((unsigned)format >= TW_FLOAT_FORMAT_COUNT) return false;
    const tw_float_info *f = &formats[format];
    uint64_t magnitude = bits & (sign_bit(f) - 1);
    return magnitude && magnitude <= mantissa_mask(f);
}

/* ---- fused multiply-add ---- */

typedef unsigned __int128 wide;

/* A wide significand, moved so that its highest bit is bit 126: one above it is left for a carry. */
typedef struct term {
    bool negative;
    int exponent;
    wide significand;
} term;

static term normalized(bool negative, int exponent, wide significand) {
    uint64_t high = (uint64_t)(significand >> 64), low = (uint64_t)significand;
    int zeros = high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
    if (!zeros) return (term){negative, exponent + 1, significand >> 1 | (significand & 1)};
    return (term){negative, exponent - (zeros - 1), significand << (zeros - 1)};
}

/* What is shifted out stays visible in the lowest bit. */
static wide shift_right_jam(wide significand, unsigned shift) {
    if (!shift) return significand;
    if (shift > 127) return significand != 0;
    return significand >> shift | ((significand << (128 - shift)) != 0);
}

static uint64_t pack_term(const tw_float_info *f, term t, tw_round_mode round, tw_overflow_mode overflow) {
    uint64_t top = (uint64_t)(t.significand >> 63) | ((uint64_t)(t.significand << 1) != 0);
    return pack_finite(f, t.negative, t.exponent + 63, top, round, overflow);
}

/* Both terms are not zero. Bits are lost below bit 0 only when the exponents are far apart, and then no more
 * than one leading bit cancels: the lowest bit keeps telling "more than" from "exactly" for the rounding. */
static uint64_t pack_sum(const tw_float_info *f, term a, term b, tw_round_mode round,
                         tw_overflow_mode overflow) {
    if (a.exponent < b.exponent) {
        term t = a;
        a = b;
        b = t;
    }
    wide small = shift_right_jam(b.significand, (unsigned)(a.exponent - b.exponent));
    wide sum;
    bool negative = a.negative;
    if (a.negative == b.negative) {
        sum = a.significand + small;
    } else if (a.significand >= small) {
        sum = a.significand - small;
    } else {
        sum = small - a.significand;
        negative = b.negative;
    }
    if (!sum) return pack_zero(f, round == TW_ROUND_DOWN);
    return pack_term(f, normalized(negative, a.exponent, sum), round, overflow);
}

uint64_t tw_float_fma(tw_float_format format, uint64_t a, uint64_t b, uint64_t c, tw_round_mode round,
                      tw_overflow_mode overflow) {
    if ((unsigned)format >= TW_FLOAT_FORMAT_COUNT) return 0;
    const tw_float_info *f = &formats[format];
    unpacked x = unpack(f, a), y = unpack(f, b), z = unpack(f, c);
    const unpacked *operands[] = {&x, &y, &z};
    for (int i = 0; i < 3; i++)
        if (operands[i]->class == NOT_A_NUMBER) return pack(f, *operands[i], round, overflow);
    bool negative = x.negative != y.negative;
    bool infinite = x.class == INFINITE || y.class == INFINITE;
    if (infinite && (x.class == ZERO || y.class == ZERO)) return f->nan;
    if (infinite && z.class == INFINITE && negative != z.negative) return f->nan;
    if (infinite) return pack(f, (unpacked){.class = INFINITE, .negative = negative}, round, overflow);
    if (z.class == INFINITE) return pack(f, z, round, overflow);
    if (x.class == ZERO || y.class == ZERO) {
        if (z.class != ZERO) return pack(f, z, round, overflow);
        return pack_zero(f, negative == z.negative ? negative : round == TW_ROUND_DOWN);
    }
    term product = normalized(negative, x.exponent + y.exponent, (wide)x.significand * y.significand);
    if (z.class == ZERO) return pack_term(f, product, round, overflow);
    return pack_sum(f, product, normalized(z.negative, z.exponent, z.significand), round, overflow);
}

/* ---- everyday forms ---- */

float tw_float_to_f32(tw_float_format format, uint64_t bits) {
    return tw_f32_of_bits(
        (uint32_t)tw_float_convert(format, bits, TW_FLOAT_F32, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE));
}

double tw_float_to_f64(tw_float_format format, uint64_t bits) {
    return tw_f64_of_bits(
        tw_float_convert(format, bits, TW_FLOAT_F64, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE));
}

uint64_t tw_float_from_f32(tw_float_format format, float value) {
    return tw_float_convert(TW_FLOAT_F32, tw_f32_bits(value), format, TW_ROUND_NEAREST_EVEN,
                            TW_OVERFLOW_IEEE);
}

uint64_t tw_float_from_f64(tw_float_format format, double value) {
    return tw_float_convert(TW_FLOAT_F64, tw_f64_bits(value), format, TW_ROUND_NEAREST_EVEN,
                            TW_OVERFLOW_IEEE);
}

float tw_f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t result;
    if (magnitude < 0x0400) { /* denormal: a small integer times 2^-24 is exact in any mode of the host */
        result = tw_f32_bits((float)magnitude * 0x1p-24f);
    } else if (magnitude < 0x7c00) {
        result = (magnitude << 13) + ((127 - 15) << 23);
    } else {
        result = 0x7f800000 | magnitude << 13 | (magnitude > 0x7c00 ? 0x00400000 : 0);
    }
    return tw_f32_of_bits(sign | result);
}

uint16_t tw_f32_to_f16(float value) {
    uint32_t bits = tw_f32_bits(value), magnitude = bits & 0x7fffffff;
    uint32_t result;
    if (magnitude > 0x7f800000) {
        result = 0x7e00 | (magnitude >> 13 & 0x3ff);
    } else if (magnitude >= 0x47800000) { /* 2^16 */
        result = 0x7c00;
    } else if (magnitude >= 0x38800000) { /* 2^-14: a carry reaches the exponent, and infinity, by itself */
        result = (magnitude - ((127 - 15) << 23) + 0x0fff + (magnitude >> 13 & 1)) >> 13;
    } else {
        result = (uint32_t)shift_and_round((magnitude & 0x7fffff) | 0x800000, 126 - (magnitude >> 23), false,
                                           TW_ROUND_NEAREST_EVEN);
    }
    return (uint16_t)((bits >> 16 & 0x8000) | result);
}

float tw_bf16_to_f32(uint16_t bits) { return tw_f32_of_bits((uint32_t)bits << 16); }

uint16_t tw_f32_to_bf16(float value) {
    uint32_t bits = tw_f32_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t tw_f16_fma(uint16_t a, uint16_t b, uint16_t c) {
    return (uint16_t)tw_float_fma(TW_FLOAT_F16, a, b, c, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}

uint16_t tw_bf16_fma(uint16_t a, uint16_t b, uint16_t c) {
    return (uint16_t)tw_float_fma(TW_FLOAT_BF16, a, b, c, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
