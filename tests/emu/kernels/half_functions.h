/* Functions on half and bfloat16: the device uses its types, the host the exact conversions of support/. */
#ifndef TW_TESTS_EMU_HALF_FUNCTIONS_H
#define TW_TESTS_EMU_HALF_FUNCTIONS_H

#include "tests/emu/kernels/functions.h"

#ifdef __HIP__
FN f16 h_of(u32 bits) {
    u16 b = (u16)bits;
    f16 h;
    __builtin_memcpy(&h, &b, 2);
    return h;
}
FN u32 h_bits(f16 h) {
    u16 b;
    __builtin_memcpy(&b, &h, 2);
    return h != h ? 0x7e00u : b;
}
FN bf16 b_of(u32 bits) {
    u16 b = (u16)bits;
    bf16 h;
    __builtin_memcpy(&h, &b, 2);
    return h;
}
FN u32 b_bits(bf16 h) {
    u16 b;
    __builtin_memcpy(&b, &h, 2);
    return (float)h != (float)h ? 0x7fc0u : b;
}
#define H_OP(name, expression)        \
    FN u32 name(u32 p, u32 q) {       \
        f16 a = h_of(p), b = h_of(q); \
        return h_bits(expression);    \
    }
#define B_OP(name, expression)         \
    FN u32 name(u32 p, u32 q) {        \
        bf16 a = b_of(p), b = b_of(q); \
        return b_bits(expression);     \
    }
FN u32 h_fma(u32 a, u32 b, u32 c) { return h_bits(__builtin_elementwise_fma(h_of(a), h_of(b), h_of(c))); }
FN u32 h_from_f32(float f) { return h_bits((f16)f); }
FN float h_to_f32(u32 h) { return (float)h_of(h); }
FN u32 b_from_f32(float f) { return b_bits((bf16)f); }
FN float b_to_f32(u32 b) { return (float)b_of(b); }
FN u32 h_from_i32(i32 v) { return h_bits((f16)v); }
FN u32 h_from_i16(u32 v) { return h_bits((f16)(i16)v); }
FN i32 h_to_i32(u32 h) { return (i32)h_of(h); }
FN u32 h_from_f64(double d) { return h_bits((f16)d); }
FN u32 h_sqrt(u32 h) { return h_bits(__builtin_elementwise_sqrt(h_of(h))); }
FN u32 h_floor(u32 h) { return h_bits(__builtin_elementwise_floor(h_of(h))); }
FN u32 h_abs_neg(u32 h) { return h_bits(-__builtin_elementwise_abs(h_of(h))); }
#else
#include "support/float_formats.h"
FN u32 h_fix(u32 h) { return (h & 0x7fff) > 0x7c00 ? 0x7e00 : h; }
FN u32 b_fix(u32 b) { return (b & 0x7fff) > 0x7f80 ? 0x7fc0 : b; }
#define H_OP(name, expression)                                      \
    FN u32 name(u32 p, u32 q) {                                     \
        float a = tw_f16_to_f32((u16)p), b = tw_f16_to_f32((u16)q); \
        return h_fix(tw_f32_to_f16(expression));                    \
    }
#define B_OP(name, expression)                                        \
    FN u32 name(u32 p, u32 q) {                                       \
        float a = tw_bf16_to_f32((u16)p), b = tw_bf16_to_f32((u16)q); \
        return b_fix(tw_f32_to_bf16(expression));                     \
    }
FN u32 h_fma(u32 a, u32 b, u32 c) { return h_fix(tw_f16_fma((u16)a, (u16)b, (u16)c)); }
FN u32 h_from_f32(float f) { return h_fix(tw_f32_to_f16(f)); }
FN float h_to_f32(u32 h) { return tw_f16_to_f32((u16)h); }
FN u32 b_from_f32(float f) { return b_fix(tw_f32_to_bf16(f)); }
FN float b_to_f32(u32 b) { return tw_bf16_to_f32((u16)b); }
FN u32 h_from_i32(i32 v) { return (u32)tw_float_from_f64(TW_FLOAT_F16, v); }
FN u32 h_from_i16(u32 v) { return tw_f32_to_f16((float)(i16)v); }
FN i32 h_to_i32(u32 h) { return (i32)tw_f16_to_f32((u16)h); }
FN u32 h_from_f64(double d) { return h_fix((u32)tw_float_from_f64(TW_FLOAT_F16, d)); }
FN u32 h_sqrt(u32 h) { return h_fix(tw_f32_to_f16(sqrtf(tw_f16_to_f32((u16)h)))); }
FN u32 h_floor(u32 h) { return h_fix(tw_f32_to_f16(floorf(tw_f16_to_f32((u16)h)))); }
FN u32 h_abs_neg(u32 h) { return h_fix(h | 0x8000); }
#endif

H_OP(h_add, a + b)
H_OP(h_sub, a - b)
H_OP(h_mul, a *b)
H_OP(h_div, a / b)
H_OP(h_select, a < b ? b : a)
B_OP(b_add, a + b)
B_OP(b_sub, a - b)
/* Without the sign of zero: LLVM adds +0 to the product where the target has v_fma_mixlo_bf16. */
FN u32 no_negative_zero(u32 b) { return b == 0x8000 ? 0 : b; }
B_OP(b_signed_mul, a *b)
FN u32 b_mul(u32 p, u32 q) { return no_negative_zero(b_signed_mul(p, q)); }
B_OP(b_select, a < b ? b : a)

/* Applies an operation to both halves of two words. */
#define BOTH(op, p, q) (op((p)&0xffff, (q)&0xffff) | op((p) >> 16, (q) >> 16) << 16)

FUNCTION(half_arith) {
    return QUAD(BOTH(h_add, A, B), BOTH(h_sub, A, B), BOTH(h_mul, A, B), BOTH(h_mul, C, D));
}
FUNCTION(half_fma) {
    return QUAD(h_fma(A & 0xffff, B & 0xffff, C & 0xffff) | h_fma(A >> 16, B >> 16, C >> 16) << 16,
                h_fma(D & 0xffff, A >> 16, B & 0xffff), h_fma(C >> 16, C & 0xffff, D >> 16) << 16,
                h_fma(B & 0xffff, 0x3c00, D & 0xffff));
}
FUNCTION(half_divide) {
    return QUAD(BOTH(h_div, A, B), h_div(0x3c00, C & 0xffff), h_sqrt(D & 0x7fff), h_sqrt(D >> 16));
}
FUNCTION(half_select) {
    return QUAD(BOTH(h_select, A, B), h_abs_neg(C & 0xffff), h_floor(D & 0xffff), BOTH(h_select, C, D));
}
FUNCTION(half_convert) {
    return QUAD(h_from_f32(f32_of(A)) | h_from_f32(moderate(B)) << 16, bits_of(h_to_f32(C & 0xffff)),
                bits_of(h_to_f32(C >> 16)), h_from_f32(moderate(D) * 600.0f));
}
FUNCTION(half_ints) {
    return QUAD(h_from_i32((i32)A), h_from_i16(B), (C & 0x7c00) < 0x7800 ? h_to_i32(C & 0xffff) : 0,
                h_from_f64(moderate64(C, D)));
}
FUNCTION(half_mix) {
    /* f32 sums of half products, as a matrix product has them. */
    float s = moderate(D);
    for (int k = 0; k < 3; k++)
        s = __builtin_fmaf(h_to_f32(x.w[k] & 0xffff), h_to_f32(x.w[k] >> 16), s);
    return QUAD(bits_of(s), h_from_f32(s),
                bits_of(__builtin_fmaf(-h_to_f32(A & 0xffff), h_to_f32(B >> 16), s)),
                h_from_f32(__builtin_fmaf(h_to_f32(C & 0xffff), 0.5f, moderate(A))));
}
FUNCTION(half_dot) {
    u32 lo = 0, hi = 0;
    for (int k = 0; k < 2; k++) {
        lo = h_add(lo, h_mul(x.w[k] & 0xffff, x.w[k + 2] & 0xffff));
        hi = h_add(hi, h_mul(x.w[k] >> 16, x.w[k + 2] >> 16));
    }
    return QUAD(lo, hi, lo | hi << 16, h_add(lo, hi));
}
FUNCTION(bfloat_arith) {
    return QUAD(BOTH(b_add, A, B), BOTH(b_sub, A, B), BOTH(b_mul, C, D), b_select(A & 0xffff, C >> 16));
}
FUNCTION(bfloat_convert) {
    return QUAD(b_from_f32(f32_of(A)) | b_from_f32(moderate(B)) << 16, bits_of(b_to_f32(C & 0xffff)),
                bits_of(b_to_f32(C >> 16)), b_from_f32(f32_of(D)));
}
FUNCTION(bfloat_mix) {
    float s = moderate(D);
    for (int k = 0; k < 3; k++)
        s = __builtin_fmaf(b_to_f32(x.w[k] & 0xffff), b_to_f32(x.w[k] >> 16), s);
    return QUAD(bits_of(s), b_from_f32(s),
                bits_of(__builtin_fmaf(-b_to_f32(A & 0xffff), b_to_f32(B >> 16), s)), BOTH(b_select, A, B));
}

/* clang-format off */
#define FUNCTION_LIST_HALF(X) \
    X(half_arith) X(half_fma) X(half_divide) X(half_select) X(half_convert) X(half_ints) X(half_mix) \
    X(half_dot) X(bfloat_arith) X(bfloat_convert) X(bfloat_mix)
/* clang-format on */

#endif
