/* Conversions of 32 lanes between half, bfloat16 and float, with the host's instructions where it has them.
 */
#ifndef TW_RUN_EMU_LANE_BLOCKS_H
#define TW_RUN_EMU_LANE_BLOCKS_H

#include "run/emu/lane_math.h"

#ifdef LANES_F16C
#include <immintrin.h>

LM void half_block(float *out, const uint32_t *in) {
    for (unsigned l = 0; l < 32; l += 8) {
        __m256i w =
            _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(in + l)), _mm256_set1_epi32(0xffff));
        __m128i h = _mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
        _mm256_storeu_ps(out + l, _mm256_cvtph_ps(h));
    }
}
LM void half_block_high(float *out, const uint32_t *in) {
    for (unsigned l = 0; l < 32; l += 8) {
        __m256i w = _mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)(in + l)), 16);
        __m128i h = _mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
        _mm256_storeu_ps(out + l, _mm256_cvtph_ps(h));
    }
}
LM __m256i halves_of(const float *in) {
    return _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_CUR_DIRECTION));
}
LM void to_half_block(uint32_t *out, const float *in) {
    for (unsigned l = 0; l < 32; l += 8)
        _mm256_storeu_si256((__m256i *)(out + l), halves_of(in + l));
}
LM void to_half_pair_block(uint32_t *out, const float *low, const float *high) {
    for (unsigned l = 0; l < 32; l += 8)
        _mm256_storeu_si256((__m256i *)(out + l),
                            _mm256_or_si256(halves_of(low + l), _mm256_slli_epi32(halves_of(high + l), 16)));
}
#else
LM void half_block(float *out, const uint32_t *in) {
    for (unsigned l = 0; l < 32; l++)
        out[l] = half_to_f32(in[l] & 0xffffu);
}
LM void half_block_high(float *out, const uint32_t *in) {
    for (unsigned l = 0; l < 32; l++)
        out[l] = half_to_f32(in[l] >> 16);
}
LM void to_half_block(uint32_t *out, const float *in) {
    int direction = fegetround();
    if (direction == FE_TONEAREST) {
        for (unsigned l = 0; l < 32; l++)
            out[l] = f32_to_half_nearest(in[l]);
    } else {
        for (unsigned l = 0; l < 32; l++)
            out[l] = f32_to_half_directed(in[l], direction);
    }
}
LM void to_half_pair_block(uint32_t *out, const float *low, const float *high) {
    uint32_t h[32];
    to_half_block(h, high);
    to_half_block(out, low);
    for (unsigned l = 0; l < 32; l++)
        out[l] |= h[l] << 16;
}
#endif

LM void to_bf16_block(uint32_t *out, const float *in) {
    int direction = fegetround();
    if (direction == FE_TONEAREST) {
        for (unsigned l = 0; l < 32; l++)
            out[l] = f32_to_bf16_nearest(in[l]);
    } else {
        for (unsigned l = 0; l < 32; l++)
            out[l] = f32_to_bf16_directed(in[l], direction);
    }
}
LM void to_bf16_pair_block(uint32_t *out, const float *low, const float *high) {
    uint32_t h[32];
    to_bf16_block(h, high);
    to_bf16_block(out, low);
    for (unsigned l = 0; l < 32; l++)
        out[l] |= h[l] << 16;
}
LM void to_f32_pair_block(uint32_t *out, const float *low, const float *high) {
    for (unsigned l = 0; l < 32; l++)
        out[l] = f32_bits(low[l]);
    for (unsigned l = 0; l < 32; l++)
        out[l + 32] = f32_bits(high[l]);
}

#endif
