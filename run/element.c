#include "run/element.h"

enum { INTEGER = -1, NONE = -2 };

/* What tw_scalar is as a tw_float_format, or one of the two above. */
static int float_format_of(tw_scalar format) {
    static const int formats[TW_SCALAR_COUNT] = {
        [TW_I1] = NONE,
        [TW_I8] = INTEGER,
        [TW_I16] = INTEGER,
        [TW_I32] = INTEGER,
        [TW_I64] = NONE,
        [TW_F16] = TW_FLOAT_F16,
        [TW_BF16] = TW_FLOAT_BF16,
        [TW_F32] = TW_FLOAT_F32,
        [TW_F8E4M3] = TW_FLOAT_FP8_OCP,
        [TW_F8E5M2] = TW_FLOAT_BF8_OCP,
        [TW_F8E4M3FNUZ] = TW_FLOAT_FP8_FNUZ,
        [TW_F8E5M2FNUZ] = TW_FLOAT_BF8_FNUZ,
    };
    return (unsigned)format < TW_SCALAR_COUNT ? formats[format] : NONE;
}

bool tw_element_float_format(tw_scalar format, tw_float_format *out) {
    int float_format = float_format_of(format);
    if (float_format < 0) return false;
    *out = (tw_float_format)float_format;
    return true;
}

size_t tw_element_bytes(tw_scalar format) {
    return float_format_of(format) == NONE ? 0 : tw_scalar_bits(format) / 8;
}

double tw_element_get(tw_scalar format, const void *bytes, size_t index) {
    int float_format = float_format_of(format);
    size_t size = tw_element_bytes(format);
    if (!size) return 0;
    const uint8_t *at = (const uint8_t *)bytes + index * size;
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits |= (uint64_t)at[i] << (8 * i);
    if (float_format != INTEGER) return tw_float_to_f64((tw_float_format)float_format, bits);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (double)((int64_t)(bits ^ sign) - (int64_t)sign);
}
