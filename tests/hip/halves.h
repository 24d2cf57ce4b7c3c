/* Half and bfloat16, alone and in pairs. The host computes with the exact conversions of support/. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

typedef __attribute__((ext_vector_type(2))) f16 half2;
typedef __attribute__((ext_vector_type(4))) f16 half4;
typedef __attribute__((ext_vector_type(2))) bf16 bfloat2;
typedef __attribute__((ext_vector_type(2))) i16 short2;
typedef __attribute__((ext_vector_type(2))) u16 ushort2;

FN half2 half2_of(u32 v) {
    /* Finite ones. */
    v = (v & 0x7c00) == 0x7c00 ? v ^ 0x4000 : v;
    v = (v & 0x7c000000) == 0x7c000000 ? v ^ 0x40000000 : v;
    half2 h;
    __builtin_memcpy(&h, &v, 4);
    return h;
}
FN u32 half2_bits(half2 h) {
    u32 v;
    __builtin_memcpy(&v, &h, 4);
    if (h.x != h.x) v = (v & 0xffff0000) | 0x7e00;
    if (h.y != h.y) v = (v & 0xffff) | 0x7e000000;
    return v;
}
GROUP_KERNEL(half2_arithmetic) {
    half2 a = half2_of(in[3 * G]), b = half2_of(in[3 * G + 1]), c = half2_of(in[3 * G + 2]);
    u32 *o = out + 8 * G;
    UNUSED_N;
    o[0] = half2_bits(a + b);
    o[1] = half2_bits(a * b);
    o[2] = half2_bits(__builtin_elementwise_fma(a, b, c));
    o[3] = half2_bits(a.yx - c);
    o[4] = half2_bits(a.xx * b);
    o[5] = half2_bits(-a + __builtin_elementwise_abs(b));
    o[6] = half2_bits(__builtin_elementwise_fma(-a.yx, b, c.xx));
    o[7] = half2_bits(a * (half2){2, 0.5});
}
GROUP_KERNEL(half_dot_products) {
    half4 s = {0, 0, 0, 0};
    float f = 0;
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        half2 a = half2_of(in[8 * G + i] & 0xbfffbfff), b = half2_of(in[8 * G + (i + 1) % 8] & 0xbfffbfff);
        half4 p = {a.x, a.y, b.x, b.y}, q = {b.y, b.x, a.y, a.x};
        s = __builtin_elementwise_fma(p, q, s);
        f = __builtin_fmaf((float)a.x, (float)b.y, f);
    }
    out[3 * G] = half2_bits(s.xy);
    out[3 * G + 1] = half2_bits(s.zw);
    out[3 * G + 2] = bits_of(f);
}
GROUP_KERNEL(half_conversions) {
    u32 v = in[2 * G], *o = out + 6 * G;
    half2 h = half2_of(v);
    float f = moderate(in[2 * G + 1]) * 16.0f;
    UNUSED_N;
    o[0] = half2_bits((half2){(f16)f, (f16)(i16)v});
    o[1] = half2_bits((half2){(f16)(u16)(v >> 20), (f16)(i32)(v >> 18)});
    o[2] = bits_of((float)h.x) ^ bits_of((float)h.y);
    o[3] = (u16)(i16)(h.x * (f16)0x1p-2) | (u32)(u16)__builtin_elementwise_abs(h.y) << 16;
    put64(o + 4, bits_of64((double)h.y));
}
GROUP_KERNEL(half_compares) {
    half2 a = half2_of(in[2 * G]), b = half2_of(in[2 * G + 1] % 5 ? in[2 * G + 1] : in[2 * G]);
    UNUSED_N;
    u32 r = (a.x < b.x) | (a.y <= b.y) << 1 | (a.x == b.x) << 2 | (a.y != b.y) << 3 | (a.x > b.y) << 4 |
            (a.y >= b.x) << 5;
    r |= __builtin_isnan(a.x) << 6 | __builtin_isinf(b.y) << 7 | __builtin_isnormal(a.y) << 8;
    out[3 * G] = r;
    out[3 * G + 1] = half2_bits((half2){a.x < b.x ? a.y : b.x, a.y > b.y ? -a.x : b.y});
    out[3 * G + 2] = half2_bits((half2){__builtin_elementwise_floor(a.x), __builtin_elementwise_trunc(b.y)});
}
FN bfloat2 bfloat2_of(u32 v) {
    v = (v & 0x7f80) == 0x7f80 ? v ^ 0x4000 : v;
    v = (v & 0x7f800000) == 0x7f800000 ? v ^ 0x40000000 : v;
    bfloat2 h;
    __builtin_memcpy(&h, &v, 4);
    return h;
}
FN u32 bfloat2_bits(bfloat2 h) {
    u32 v;
    __builtin_memcpy(&v, &h, 4);
    return v;
}
GROUP_KERNEL(bfloat_pairs) {
    bfloat2 a = bfloat2_of(in[2 * G]), b = bfloat2_of(in[2 * G + 1]);
    UNUSED_N;
    float f = (float)a.x * (float)b.x + (float)a.y;
    out[4 * G] = bfloat2_bits(a + b);
    out[4 * G + 1] = bfloat2_bits(a - b.yx);
    out[4 * G + 2] = bfloat2_bits((bfloat2){(bf16)moderate(in[2 * G]), (bf16)(f * 0x1p-64f)});
    out[4 * G + 3] = (a.x < b.y) | (a.y == b.y) << 1 | (a.x >= b.x) << 2;
}
GROUP_KERNEL(short_pairs) {
    u32 v = in[3 * G], w = in[3 * G + 1], by = in[3 * G + 2], *o = out + 9 * G;
    short2 a = __builtin_bit_cast(short2, v), b = __builtin_bit_cast(short2, w);
    ushort2 c = __builtin_bit_cast(ushort2, v), d = __builtin_bit_cast(ushort2, w),
            s = __builtin_bit_cast(ushort2, by & 0xf000f);
    UNUSED_N;
    o[0] = __builtin_bit_cast(u32, c + d);
    o[1] = __builtin_bit_cast(u32, c * d + s);
    o[2] = __builtin_bit_cast(u32, __builtin_elementwise_min(a, b));
    o[3] = __builtin_bit_cast(u32, __builtin_elementwise_max(c, d));
    o[4] = __builtin_bit_cast(u32, c << s);
    o[5] = __builtin_bit_cast(u32, a >> (short2){(i16)s.x, (i16)s.y});
    o[6] = __builtin_bit_cast(u32, __builtin_elementwise_add_sat(a, b));
    o[7] = __builtin_bit_cast(u32, __builtin_elementwise_sub_sat(c, d));
    o[8] = __builtin_bit_cast(u32, c.yx - d.xx);
}

#else

#include "support/float_formats.h"

static u16 half_of(u32 v) { return (u16)((v & 0x7c00) == 0x7c00 ? v ^ 0x4000 : v); }
static u32 fixed16(u32 h) { return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h; }
static u32 fma16(u16 a, u16 b, u16 c) { return fixed16(tw_f16_fma(a, b, c)); }
static u32 add16(u16 a, u16 b) { return fixed16(tw_f32_to_f16(tw_f16_to_f32(a) + tw_f16_to_f32(b))); }
static u32 mul16(u16 a, u16 b) { return fixed16(tw_f32_to_f16(tw_f16_to_f32(a) * tw_f16_to_f32(b))); }

REFERENCE(half2_arithmetic) {
    for (u32 i = 0; i < n / 3; i++) {
        u16 a[2], b[2], c[2];
        for (u32 k = 0; k < 2; k++) {
            a[k] = half_of(in[3 * i] >> 16 * k);
            b[k] = half_of(in[3 * i + 1] >> 16 * k);
            c[k] = half_of(in[3 * i + 2] >> 16 * k);
        }
        for (u32 k = 0; k < 2; k++) {
            u32 *o = out + 8 * i, by = 16 * k;
            o[0] |= add16(a[k], b[k]) << by;
            o[1] |= mul16(a[k], b[k]) << by;
            o[2] |= fma16(a[k], b[k], c[k]) << by;
            o[3] |= add16(a[!k], c[k] ^ 0x8000) << by;
            o[4] |= mul16(a[0], b[k]) << by;
            o[5] |= add16(a[k] ^ 0x8000, b[k] & 0x7fff) << by;
            o[6] |= fma16(a[!k] ^ 0x8000, b[k], c[0]) << by;
            o[7] |= mul16(a[k], k ? 0x3800 : 0x4000) << by;
        }
    }
}
REFERENCE(half_dot_products) {
    for (u32 i = 0; i < n / 8; i++) {
        u16 s[4] = {0};
        float f = 0;
        for (u32 k = 0; k < 8; k++) {
            u32 p = in[8 * i + k] & 0xbfffbfff, q = in[8 * i + (k + 1) % 8] & 0xbfffbfff;
            u16 a = half_of(p), b = half_of(p >> 16), c = half_of(q), d = half_of(q >> 16);
            s[0] = (u16)fma16(a, d, s[0]);
            s[1] = (u16)fma16(b, c, s[1]);
            s[2] = (u16)fma16(c, b, s[2]);
            s[3] = (u16)fma16(d, a, s[3]);
            f = fmaf(tw_f16_to_f32(a), tw_f16_to_f32(d), f);
        }
        out[3 * i] = s[0] | (u32)s[1] << 16;
        out[3 * i + 1] = s[2] | (u32)s[3] << 16;
        out[3 * i + 2] = bits_of(f);
    }
}
REFERENCE(half_conversions) {
    for (u32 i = 0; i < n / 2; i++) {
        u32 v = in[2 * i], *o = out + 6 * i;
        float x = tw_f16_to_f32(half_of(v)), y = tw_f16_to_f32(half_of(v >> 16)),
              f = moderate(in[2 * i + 1]) * 16.0f;
        o[0] = tw_f32_to_f16(f) | (u32)tw_f32_to_f16((float)(i16)v) << 16;
        o[1] = tw_f32_to_f16((float)(v >> 20)) | (u32)tw_f32_to_f16((float)(v >> 18)) << 16;
        o[2] = bits_of(x) ^ bits_of(y);
        o[3] = (u16)(i16)tw_f16_to_f32(tw_f32_to_f16(x * 0.25f)) | (u32)(u16)fabsf(y) << 16;
        put64(o + 4, bits_of64((double)y));
    }
}
REFERENCE(half_compares) {
    for (u32 i = 0; i < n / 2; i++) {
        u32 v = in[2 * i], w = in[2 * i + 1] % 5 ? in[2 * i + 1] : v;
        u16 a[2] = {half_of(v), half_of(v >> 16)}, b[2] = {half_of(w), half_of(w >> 16)};
        float ax = tw_f16_to_f32(a[0]), ay = tw_f16_to_f32(a[1]), bx = tw_f16_to_f32(b[0]),
              by = tw_f16_to_f32(b[1]);
        out[3 * i] = (ax < bx) | (ay <= by) << 1 | (ax == bx) << 2 | (ay != by) << 3 | (ax > by) << 4 |
                     (ay >= bx) << 5 | ((a[1] & 0x7c00) != 0) << 8;
        out[3 * i + 1] = (ax < bx ? a[1] : b[0]) | (u32)(ay > by ? a[0] ^ 0x8000 : b[1]) << 16;
        out[3 * i + 2] = tw_f32_to_f16(floorf(ax)) | (u32)tw_f32_to_f16(truncf(by)) << 16;
    }
}
REFERENCE(bfloat_pairs) {
    for (u32 i = 0; i < n / 2; i++) {
        u16 a[2], b[2];
        for (u32 k = 0; k < 2; k++) {
            a[k] = (u16)(in[2 * i] >> 16 * k);
            b[k] = (u16)(in[2 * i + 1] >> 16 * k);
            if ((a[k] & 0x7f80) == 0x7f80) a[k] ^= 0x4000;
            if ((b[k] & 0x7f80) == 0x7f80) b[k] ^= 0x4000;
        }
        float ax = tw_bf16_to_f32(a[0]), ay = tw_bf16_to_f32(a[1]), bx = tw_bf16_to_f32(b[0]),
              by = tw_bf16_to_f32(b[1]);
        float f = ax * bx + ay;
        out[4 * i] = tw_f32_to_bf16(ax + bx) | (u32)tw_f32_to_bf16(ay + by) << 16;
        out[4 * i + 1] = tw_f32_to_bf16(ax - by) | (u32)tw_f32_to_bf16(ay - bx) << 16;
        out[4 * i + 2] = tw_f32_to_bf16(moderate(in[2 * i])) | (u32)tw_f32_to_bf16(f * 0x1p-64f) << 16;
        out[4 * i + 3] = (ax < by) | (ay == by) << 1 | (ax >= bx) << 2;
    }
}
REFERENCE(short_pairs) {
    for (u32 i = 0; i < n / 3; i++) {
        u16 c[2], d[2], s[2];
        for (u32 k = 0; k < 2; k++) {
            c[k] = (u16)(in[3 * i] >> 16 * k);
            d[k] = (u16)(in[3 * i + 1] >> 16 * k);
            s[k] = in[3 * i + 2] >> 16 * k & 15;
        }
        for (u32 k = 0; k < 2; k++) {
            u32 *o = out + 9 * i, by = 16 * k;
            i32 a = (i16)c[k], b = (i16)d[k];
            o[0] |= (u32)(u16)(c[k] + d[k]) << by;
            o[1] |= (u32)(u16)((u32)c[k] * d[k] + s[k]) << by;
            o[2] |= (u32)(u16)imin(a, b) << by;
            o[3] |= umax(c[k], d[k]) << by;
            o[4] |= (u32)(u16)(c[k] << s[k]) << by;
            o[5] |= (u32)(u16)(a >> s[k]) << by;
            o[6] |= (u32)(u16)imin(imax(a + b, -32768), 32767) << by;
            o[7] |= (u32)imax(c[k] - d[k], 0) << by;
            o[8] |= (u32)(u16)(c[!k] - d[0]) << by;
        }
    }
}

#endif
