/* fp8 and bf8 in lanes. The conversions themselves are those of support/float_formats.h. */
#ifndef TW_RUN_EMU_LANE_FP8_H
#define TW_RUN_EMU_LANE_FP8_H

#include "run/emu/lane_math.h"
#include "run/emu/state.h"
#include "support/float_formats.h"

LM tw_float_format fp8_format(uint32_t m) { return m & EMU_MODE_FNUZ ? TW_FLOAT_FP8_FNUZ : TW_FLOAT_FP8_OCP; }
LM tw_float_format bf8_format(uint32_t m) { return m & EMU_MODE_FNUZ ? TW_FLOAT_BF8_FNUZ : TW_FLOAT_BF8_OCP; }

LM float fp8_to_f32(uint32_t v, uint32_t m) { return tw_float_to_f32(fp8_format(m), v & 0xff); }
LM float bf8_to_f32(uint32_t v, uint32_t m) { return tw_float_to_f32(bf8_format(m), v & 0xff); }
LM uint32_t fp8_to_half(uint32_t v, uint32_t m) { return f32_to_half_nearest(fp8_to_f32(v, m)); }
LM uint32_t bf8_to_half(uint32_t v, uint32_t m) { return f32_to_half_nearest(bf8_to_f32(v, m)); }

LM uint32_t limited_half(float f, uint32_t m) {
    uint32_t h = f32_to_half_nearest(f);
    bool overflows = m & EMU_MODE_FP16_OVFL && (h & 0x7fffu) == 0x7c00u && f - f == 0;
    return overflows ? h - 1 : h;
}

/* Without FP16_OVFL what is too large becomes infinity, or NaN where there is none. With it infinite sources
 * become the largest number too (util/data_types.h of AMD's emulator), but on gfx1200 and gfx1201, whose NaNs
 * are also all alike (captures of a gfx1201 in github.com/bjacob/goc). */
LM uint32_t narrow_f32(float f, tw_float_format format, tw_round_mode round, uint32_t m) {
    if (m & EMU_MODE_RDNA4) {
        if (f != f) return format == TW_FLOAT_FP8_OCP ? 0xff : 0xfe;
        if (f - f != 0) m &= ~(uint32_t)EMU_MODE_FP16_OVFL;
    }
    tw_overflow_mode overflow = m & EMU_MODE_FP16_OVFL ? TW_OVERFLOW_SATURATE : TW_OVERFLOW_IEEE;
    return (uint32_t)tw_float_convert(TW_FLOAT_F32, f32_bits(f), format, round, overflow);
}
LM uint32_t f32_to_fp8(float f, uint32_t m) { return narrow_f32(f, fp8_format(m), TW_ROUND_NEAREST_EVEN, m); }
LM uint32_t f32_to_bf8(float f, uint32_t m) { return narrow_f32(f, bf8_format(m), TW_ROUND_NEAREST_EVEN, m); }

/* Stochastic rounding: the leading bits of `random` are added below the `kept` bits of the mantissa that
 * stay, and the rest is cut off. Of a denormal result (the exponents of floats below `least`) fewer bits
 * stay: its steps are those of the smallest normal numbers. */
LM uint32_t random_cut(float f, uint32_t random, unsigned kept, uint32_t least) {
    uint32_t bits = f32_bits(f), exponent = bits >> 23 & 0xff, lost = 23 - kept;
    if (exponent == 0xff) return bits;
    if (exponent >= least || least <= 1) return (bits + (random >> (9 + kept))) >> lost << lost;
    uint32_t significand = (bits & 0x7fffffu) | (exponent ? 0x800000u : 0);
    unsigned shift = least - (exponent ? exponent : 1);
    significand = shift < 32 ? significand >> shift : 0;
    significand = (significand + (random >> (9 + kept))) >> lost << lost;
    return f32_bits((float)significand * as_f32((least - 23) << 23)) | (bits & 0x80000000u);
}
LM uint32_t random_f32(float f, uint32_t random, unsigned kept, tw_float_format format, uint32_t m) {
    uint32_t least = 128u - tw_float_format_info(format)->bias;
    return narrow_f32(as_f32(random_cut(f, random, kept, least)), format, TW_ROUND_NEAREST_EVEN, m);
}
LM uint32_t f32_to_fp8_random(float f, uint32_t random, uint32_t m) {
    return random_f32(f, random, 3, fp8_format(m), m);
}
LM uint32_t f32_to_bf8_random(float f, uint32_t random, uint32_t m) {
    return random_f32(f, random, 2, bf8_format(m), m);
}

LM uint32_t f32_to_bf16_random(float f, uint32_t random) {
    uint32_t bits = random_cut(f, random, 7, 1);
    return f != f ? bits >> 16 | 0x40u : bits >> 16;
}
LM uint32_t f32_to_half_random(float f, uint32_t random, uint32_t m) {
    return random_f32(f, random, 10, TW_FLOAT_F16, m);
}
LM uint32_t next_random(uint32_t a) { return a << 1 ^ (a >> 31 ? 0xc5u : 0); }

/* Products in order, each fused with the sum so far. */
#define DOT4_STEP(l, r, n, sum) __builtin_fmaf(l##_to_f32(A >> 8 * (n), m), r##_to_f32(B >> 8 * (n), m), sum)
#define DOT4(l, r)              DOT4_STEP(l, r, 3, DOT4_STEP(l, r, 2, DOT4_STEP(l, r, 1, DOT4_STEP(l, r, 0, C))))

#endif
