/* The arithmetic of instructions that few kernels have. Included by lane_math.h. */
#ifndef TW_RUN_EMU_LANE_RARE_H
#define TW_RUN_EMU_LANE_RARE_H

/* v_trig_preop_f64: 53 bits of 2/pi, from bit 53 * segment (and further on for large arguments) after the
 * binary point. Its 1201 bits, the first ones first. */
static const uint64_t TWO_OVER_PI[19] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};
LM double trig_preop(double a, uint32_t segment) {
    unsigned exponent = (unsigned)(f64_bits(a) >> 52 & 0x7ff), shift = (segment & 31) * 53;
    if (exponent > 1077) shift += exponent - 1077;
    uint64_t high = shift / 64 < 19 ? TWO_OVER_PI[shift / 64] : 0,
             low = shift / 64 + 1 < 19 ? TWO_OVER_PI[shift / 64 + 1] : 0;
    uint64_t top = shift % 64 ? high << shift % 64 | low >> (64 - shift % 64) : high;
    return ldexp((double)(top >> 11), -53 - (int)shift + (exponent >= 1968 ? 128 : 0));
}

/* Which face of a cube a direction hits, and where. */
LM int cube_axis(float x, float y, float z) {
    float a = __builtin_fabsf(x), b = __builtin_fabsf(y), c = __builtin_fabsf(z);
    return c >= a && c >= b ? 2 : b >= a ? 1 : 0;
}
LM float cube_id(float x, float y, float z) {
    int axis = cube_axis(x, y, z);
    float major = axis == 2 ? z : axis == 1 ? y : x;
    return (float)(2 * axis + (major < 0));
}
LM float cube_ma(float x, float y, float z) {
    int axis = cube_axis(x, y, z);
    return 2.0f * (axis == 2 ? z : axis == 1 ? y : x);
}
LM float cube_sc(float x, float y, float z) {
    int axis = cube_axis(x, y, z);
    return axis == 2 ? (z < 0 ? -x : x) : axis == 1 ? x : x < 0 ? z : -z;
}
LM float cube_tc(float x, float y, float z) {
    int axis = cube_axis(x, y, z);
    return axis == 1 ? (y < 0 ? -z : z) : -y;
}

/* Four sums of absolute differences of bytes: those of `a` from byte k on. */
LM uint64_t quad_sad(uint64_t a, uint32_t b, uint64_t c, bool masked) {
    uint64_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t sum = sad_u8((uint32_t)(a >> (8 * k)), b, (uint32_t)(c >> (16 * k)) & 0xffff, masked);
        r |= (uint64_t)(sum & 0xffff) << (16 * k);
    }
    return r;
}
/* Four signed or unsigned bytes, each limited to 4 bits. */
LM uint32_t saturated_nibbles(uint32_t a, bool sign) {
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        int32_t v = sign ? (int8_t)(a >> (8 * k)) : (int32_t)(a >> (8 * k) & 0xff);
        v = sign ? imin(imax(v, -8), 7) : imin(v, 15);
        r |= ((uint32_t)v & 15) << (4 * k);
    }
    return r;
}
LM uint32_t shift_saturated(uint32_t a, uint32_t b, uint32_t by, int32_t low, int32_t high) {
    int32_t x = imin(imax((int32_t)a >> (by & 31), low), high),
            y = imin(imax((int32_t)b >> (by & 31), low), high);
    return ((uint32_t)x & 0xff) | ((uint32_t)y & 0xff) << 8;
}

#endif
