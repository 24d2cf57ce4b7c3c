/* Single instructions that compilers offer by name, beside formulas of the host. */
#include "tests/hip/kernel.h"

#ifdef __HIP__
#define sad_bytes(a, b, c)    __builtin_amdgcn_sad_u8(a, b, c)
#define msad_bytes(a, b, c)   __builtin_amdgcn_msad_u8(a, b, c)
#define sad_shorts(a, b, c)   __builtin_amdgcn_sad_u16(a, b, c)
#define sad_high(a, b, c)     __builtin_amdgcn_sad_hi_u8(a, b, c)
#define qsad(a, b, c)         __builtin_amdgcn_qsad_pk_u16_u8(a, b, c)
#define mqsad(a, b, c)        __builtin_amdgcn_mqsad_pk_u16_u8(a, b, c)
#define lerp_bytes(a, b, c)   __builtin_amdgcn_lerp(a, b, c)
#define permuted(a, b, c)     __builtin_amdgcn_perm(a, b, c)
#define align_bits(a, b, c)   __builtin_amdgcn_alignbit(a, b, c)
#define align_bytes(a, b, c)  __builtin_amdgcn_alignbyte(a, b, c)
#define field(a, b, c)        __builtin_amdgcn_ubfe(a, b, c)
#define signed_field(a, b, c) ((u32)__builtin_amdgcn_sbfe((int)(a), b, c))
typedef __attribute__((ext_vector_type(4))) u32 word4;
FN void mqsad_words(u64 a, u32 b, u32 *to) {
    word4 c = {1, 2, 3, 4};
    c = __builtin_amdgcn_mqsad_u32_u8(a, b, c);
    for (u32 i = 0; i < 4; i++)
        to[i] = c[i];
}
FN u32 packed_shorts(i32 a, i32 b) { return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_i16(a, b)); }
FN u32 packed_ushorts(u32 a, u32 b) { return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pk_u16(a, b)); }
FN u32 packed_half_toward_zero(float a, float b) {
    return __builtin_bit_cast(u32, __builtin_amdgcn_cvt_pkrtz(a, b));
}
FN u32 byte_into(float f, u32 at, u32 old) { return (u32)__builtin_amdgcn_cvt_pk_u8_f32(f, at, (int)old); }
#define middle(a, b, c)     __builtin_amdgcn_fmed3f(a, b, c)
#define fraction(a)         __builtin_amdgcn_fractf(a)
#define reciprocal(a)       __builtin_amdgcn_rcpf(a)
#define trig_segment(a, b)  __builtin_amdgcn_trig_preop(a, b)
#define cube_face(x, y, z)  __builtin_amdgcn_cubeid(x, y, z)
#define cube_s(x, y, z)     __builtin_amdgcn_cubesc(x, y, z)
#define cube_t(x, y, z)     __builtin_amdgcn_cubetc(x, y, z)
#define cube_major(x, y, z) __builtin_amdgcn_cubema(x, y, z)
FN u32 doubled_bits(u32 v, u32 high) {
    u64 r;
    __asm__("s_bitreplicate_b64_b32 %0, %1" : "=s"(r) : "s"(__builtin_amdgcn_readfirstlane((int)v)));
    return high ? (u32)(r >> 32) : (u32)r;
}
FN u32 whole_quads(u32 v) {
    u32 r;
    __asm__("s_wqm_b32 %0, %1" : "=s"(r) : "s"(__builtin_amdgcn_readfirstlane((int)v)) : "scc");
    return r;
}
FN u32 quads(u32 v) {
    u32 r;
    __asm__("s_quadmask_b32 %0, %1" : "=s"(r) : "s"(__builtin_amdgcn_readfirstlane((int)v)) : "scc");
    return r;
}
#else
#include "support/float_formats.h"
FN u32 sad_some(u64 a, u32 b, u32 c, bool masked) {
    for (u32 i = 0; i < 4; i++) {
        i32 x = (u8)(a >> 8 * i), y = (u8)(b >> 8 * i);
        if (!masked || y) c += (u32)abs(x - y);
    }
    return c;
}
FN u32 sad_bytes(u32 a, u32 b, u32 c) { return sad_some(a, b, c, false); }
FN u32 msad_bytes(u32 a, u32 b, u32 c) { return sad_some(a, b, c, true); }
FN u32 sad_high(u32 a, u32 b, u32 c) { return (sad_some(a, b, 0, false) << 16) + c; }
FN u32 sad_shorts(u32 a, u32 b, u32 c) {
    return c + (u32)abs((i32)(u16)a - (i32)(u16)b) + (u32)abs((i32)(a >> 16) - (i32)(b >> 16));
}
FN u64 sad_four(u64 a, u32 b, u64 c, bool masked) {
    u16 s[4];
    memcpy(s, &c, 8);
    for (u32 k = 0; k < 4; k++)
        s[k] = (u16)sad_some(a >> 8 * k, b, s[k], masked);
    memcpy(&c, s, 8);
    return c;
}
FN u64 qsad(u64 a, u32 b, u64 c) { return sad_four(a, b, c, false); }
FN u64 mqsad(u64 a, u32 b, u64 c) { return sad_four(a, b, c, true); }
FN void mqsad_words(u64 a, u32 b, u32 *to) {
    for (u32 i = 0; i < 4; i++)
        to[i] = sad_some(a >> 8 * i, b, i + 1, true);
}
FN u32 lerp_bytes(u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (u32 i = 0; i < 32; i += 8)
        r |= ((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) / 2 << i;
    return r;
}
FN u32 permuted(u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 s = c >> 8 * i & 255, v = s < 4 ? b >> 8 * s : s < 8 ? a >> 8 * (s - 4) : 0;
        if (s >= 8 && s < 12) v = ((s < 10 ? b : a) >> (s & 1 ? 31 : 15) & 1) ? 255 : 0;
        if (s > 12) v = 255;
        r |= (v & 255) << 8 * i;
    }
    return r;
}
FN u32 align_bits(u32 a, u32 b, u32 c) { return (u32)(wide(b, a) >> (c & 31)); }
FN u32 align_bytes(u32 a, u32 b, u32 c) { return (u32)(wide(b, a) >> 8 * (c & 3)); }
FN u32 field(u32 a, u32 b, u32 c) { return a >> b & ((1u << c) - 1); }
FN u32 signed_field(u32 a, u32 b, u32 c) {
    u32 f = field(a, b, c);
    return c && f >> (c - 1) & 1 ? f | ~0u << c : f;
}
FN u32 packed_shorts(i32 a, i32 b) {
    return (u16)imin(imax(a, -32768), 32767) | (u32)(u16)imin(imax(b, -32768), 32767) << 16;
}
FN u32 packed_ushorts(u32 a, u32 b) { return umin(a, 65535) | umin(b, 65535) << 16; }
FN u32 half_toward_zero(float f) {
    return (u32)tw_float_convert(TW_FLOAT_F32, bits_of(f), TW_FLOAT_F16, TW_ROUND_TOWARD_ZERO,
                                 TW_OVERFLOW_IEEE);
}
FN u32 packed_half_toward_zero(float a, float b) { return half_toward_zero(a) | half_toward_zero(b) << 16; }
FN u32 byte_into(float f, u32 at, u32 old) {
    float r = rintf(f);
    return (old & ~(255u << 8 * at)) | (r <= 0 ? 0 : r >= 255 ? 255 : (u32)r) << 8 * at;
}
FN float middle(float a, float b, float c) { return fmaxf(fminf(a, b), fminf(fmaxf(a, b), c)); }
FN float fraction(float a) { return fminf(a - floorf(a), 0x1.fffffep-1f); }
FN float reciprocal(float a) { return 1.0f / a; }
/* 2/pi in pieces of 24 bits after the point, as mathematical libraries have it. */
static const u32 PIECES[12] = {0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1, 0xf534dd, 0xc0db62,
                               0x95993c, 0x439041, 0xfe5163, 0xabdebb, 0xc561b7, 0x246e3a};
FN double trig_segment(double a, u32 segment) {
    double sum = 0;
    (void)a;
    for (u32 i = 53 * segment; i < 53 * segment + 53; i++)
        if (PIECES[i / 24] >> (23 - i % 24) & 1) sum += ldexp(1.0, -1 - (int)i);
    return sum;
}
FN u32 face(float x, float y, float z) {
    float a = fabsf(x), b = fabsf(y), c = fabsf(z);
    return c >= a && c >= b ? (z < 0 ? 5 : 4) : b >= a ? (y < 0 ? 3 : 2) : x < 0 ? 1 : 0;
}
FN float cube_face(float x, float y, float z) { return (float)face(x, y, z); }
FN float cube_major(float x, float y, float z) {
    return 2 * (face(x, y, z) >= 4 ? z : face(x, y, z) >= 2 ? y : x);
}
FN float cube_s(float x, float y, float z) {
    const float s[6] = {-z, z, x, x, x, -x};
    return s[face(x, y, z)];
}
FN float cube_t(float x, float y, float z) {
    const float t[6] = {-y, -y, z, -z, -y, -y};
    return t[face(x, y, z)];
}
FN u32 doubled_bits(u32 v, u32 high) {
    u64 r = 0;
    for (u32 i = 0; i < 32; i++)
        r |= (u64)(v >> i & 1) * 3 << 2 * i;
    return high ? (u32)(r >> 32) : (u32)r;
}
FN u32 whole_quads(u32 v) {
    for (u32 i = 0; i < 32; i += 4)
        v |= v >> i & 15 ? 15u << i : 0;
    return v;
}
FN u32 quads(u32 v) {
    u32 r = 0;
    for (u32 i = 0; i < 32; i += 4)
        r |= (v >> i & 15 ? 1u : 0) << i / 4;
    return r;
}
#endif

BODY(byte_differences) {
    u32 a = in[4 * G], b = in[4 * G + 1] & (G & 1 ? ~0u : 0xff00ffff), c = in[4 * G + 2], *o = out + 12 * G;
    u64 d = wide(a, c), e = wide(c, in[4 * G + 3]);
    UNUSED_N;
    o[0] = sad_bytes(a, b, c);
    o[1] = msad_bytes(a, b, c);
    o[2] = sad_shorts(a, b, c);
    o[3] = sad_high(a, b, c);
    put64(o + 4, qsad(d, b, e));
    put64(o + 6, mqsad(d, b, e));
    mqsad_words(d, b, o + 8);
}
BODY(byte_selection) {
    u32 a = in[3 * G], b = in[3 * G + 1], c = in[3 * G + 2], *o = out + 6 * G;
    UNUSED_N;
    o[0] = lerp_bytes(a, b, c);
    o[1] = permuted(a, b, c & 0x0f0f0f0f);
    o[2] = align_bits(a, b, c);
    o[3] = align_bytes(a, b, c);
    o[4] = field(a, c & 15, c >> 5 & 15);
    o[5] = signed_field(b, c & 15, c >> 5 & 15);
}
BODY(packed_conversions) {
    i32 a = (i32)in[2 * G] >> (G & 31), b = (i32)in[2 * G + 1] >> (G & 31);
    float f = moderate(in[2 * G]) * 300.0f;
    u32 *o = out + 4 * G;
    UNUSED_N;
    o[0] = packed_shorts(a, b);
    o[1] = packed_ushorts((u32)a, (u32)b);
    o[2] = packed_half_toward_zero(f, moderate(in[2 * G + 1]));
    o[3] = byte_into(f, 2, (u32)b);
}
BODY(float_builtins) {
    float a = moderate(in[3 * G]), b = moderate(in[3 * G + 1]), c = moderate(in[3 * G + 2]);
    u32 *o = out + 7 * G;
    UNUSED_N;
    o[0] = bits_of(middle(a, b, c));
    o[1] = bits_of(fraction(a));
    o[2] = bits_of(reciprocal(f32_of((in[3 * G] & 0x8f800000) + 0x38000000)));
    o[3] = bits_of(cube_face(a, b, c));
    o[4] = bits_of(cube_s(a, b, c));
    o[5] = bits_of(cube_t(a, b, c));
    o[6] = bits_of(cube_major(a, b, c));
}
BODY(trig_segments) {
    UNUSED_N;
    put64(out + 2 * G, bits_of64(trig_segment(moderate64(in[2 * G], in[2 * G + 1]), G & 3)));
}
/* Of one value for the whole wave. */
BODY(scalar_bits) {
    u32 v = in[BX] & in[BX + 1], *o = out + 4 * G;
    UNUSED_N;
    o[0] = doubled_bits(v, 0);
    o[1] = doubled_bits(v, 1);
    o[2] = whole_quads(v);
    o[3] = quads(v);
}
