/* Floating-point formats as bits: conversions and fused multiply-add that do not depend on the host's
 * floating point, its modes or its compiler. All results are exact to the last bit. */
#ifndef TW_SUPPORT_FLOAT_FORMATS_H
#define TW_SUPPORT_FLOAT_FORMATS_H

#include <string.h>

#include "support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are part of the ABI: append only. */
typedef enum tw_float_format {
    TW_FLOAT_F16 = 0,
    TW_FLOAT_BF16,
    TW_FLOAT_F32,
    TW_FLOAT_F64,
    TW_FLOAT_FP8_OCP,  /* E4M3: no infinity, NaN is 0x7f and 0xff, largest 448 */
    TW_FLOAT_BF8_OCP,  /* E5M2: as IEEE, largest 57344 */
    TW_FLOAT_FP8_FNUZ, /* E4M3, bias 8: no infinity, no -0, NaN is 0x80, largest 240 */
    TW_FLOAT_BF8_FNUZ, /* E5M2, bias 16: the same, largest 57344 */
    TW_FLOAT_FORMAT_COUNT
} tw_float_format;

/* How a value between two neighbours is rounded; numbered as the round fields of the hardware's MODE
 * register. */
typedef enum tw_round_mode {
    TW_ROUND_NEAREST_EVEN = 0,
    TW_ROUND_UP,   /* toward +infinity */
    TW_ROUND_DOWN, /* toward -infinity */
    TW_ROUND_TOWARD_ZERO
} tw_round_mode;

/* What a result beyond the largest finite value becomes. */
typedef enum tw_overflow_mode {
    TW_OVERFLOW_IEEE = 0, /* infinity, NaN in a format that has none; largest where rounding leads there */
    TW_OVERFLOW_SATURATE_FINITE, /* the largest finite value; an infinite operand stays infinite (or NaN) */
    TW_OVERFLOW_SATURATE         /* the largest finite value, of an infinite operand too */
} tw_overflow_mode;

typedef struct tw_float_info {
    const char *name; /* "f16", "bf16", "fp8-ocp", ... */
    uint8_t bits, exponent_bits, mantissa_bits;
    uint16_t bias;
    bool has_infinity, has_negative_zero;
    uint64_t largest; /* finite, positive, as bits */
    uint64_t nan;     /* the quiet NaN that an invalid operation gives */
} tw_float_info;

/* NULL for a number that is no format. Constant data. */
TW_API const tw_float_info *tw_float_format_info(tw_float_format format);

/* Converts with one rounding. A NaN becomes a quiet NaN of the same sign with the leading bits of its
 * payload, as far as the format can hold them. Bits above the format's width are ignored. 0 where a format is
 * none. */
TW_API uint64_t tw_float_convert(tw_float_format from, uint64_t bits, tw_float_format to, tw_round_mode round,
                                 tw_overflow_mode overflow);
/* a * b + c with one rounding, all of one format. The first NaN of a, b, c is the result, made quiet; an
 * invalid operation (0 * inf, inf - inf) gives the format's own NaN, positive. (Sums and products of f16 and
 * bf16 may be computed in f32 and then converted: that second rounding never changes a result.) */
TW_API uint64_t tw_float_fma(tw_float_format format, uint64_t a, uint64_t b, uint64_t c, tw_round_mode round,
                             tw_overflow_mode overflow);
TW_API bool tw_float_is_nan(tw_float_format format, uint64_t bits);
TW_API bool tw_float_is_denormal(tw_float_format format, uint64_t bits);

/* Every format but f64 fits float, and every one fits double, exactly. */
TW_API float tw_float_to_f32(tw_float_format format, uint64_t bits);
TW_API double tw_float_to_f64(tw_float_format format, uint64_t bits);
/* To nearest even, with TW_OVERFLOW_IEEE. */
TW_API uint64_t tw_float_from_f32(tw_float_format format, float value);
TW_API uint64_t tw_float_from_f64(tw_float_format format, double value);

/* The everyday conversions, to nearest even. */
TW_API float tw_f16_to_f32(uint16_t bits);
TW_API uint16_t tw_f32_to_f16(float value);
TW_API float tw_bf16_to_f32(uint16_t bits); /* a shift, as compiled code does it: a NaN is not made quiet */
TW_API uint16_t tw_f32_to_bf16(float value);
TW_API uint16_t tw_f16_fma(uint16_t a, uint16_t b, uint16_t c);
TW_API uint16_t tw_bf16_fma(uint16_t a, uint16_t b, uint16_t c);

static inline uint32_t tw_f32_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float tw_f32_of_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t tw_f64_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double tw_f64_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#ifdef __cplusplus
}
#endif
#endif
