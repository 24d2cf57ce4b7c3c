/* Single instructions, assembled by LLVM, against formulas that do not come from the emulator. */
#include "tests/emu/harness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "support/float_formats.h"
#include "support/strbuf.h"

enum {
    GFX90A = 1,
    GFX942 = 2,
    _950 = 4,
    GFX1100 = 8,
    _1151 = 16,
    GFX1200 = 32,
    GFX1201 = 64,
    _1250 = 128,
    W64_1100 = 256, /* in waves of 64 */
    W64_1201 = 512,
    W64 = W64_1100 | W64_1201,
    _940 = GFX942 | _950,
    _9 = GFX90A | _940,
    _11 = GFX1100 | _1151 | W64_1100,
    _12 = GFX1200 | GFX1201 | _1250 | W64_1201,
    RDNA4 = _12 & ~_1250,
    ANY = _9 | _11 | _12
};

/* ---- the other way to write it ---- */

#define SIGN   0x80000000u
#define SIGN64 0x8000000000000000u
#define ONE    0x3f800000u
#define ONE16  0x3c00u
#define ONE64  0x3ff0000000000000u

static uint32_t fma_in(tw_float_format f, uint64_t a, uint64_t b, uint64_t c) {
    return (uint32_t)tw_float_fma(f, a, b, c, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static uint32_t f32(uint64_t a, uint64_t b, uint64_t c) {
    return fma_in(TW_FLOAT_F32, (uint32_t)a, (uint32_t)b, (uint32_t)c);
}
static uint32_t f16(uint32_t a, uint32_t b, uint32_t c) {
    return fma_in(TW_FLOAT_F16, a & 0xffff, b & 0xffff, c & 0xffff);
}
static uint64_t f64(uint64_t a, uint64_t b, uint64_t c) {
    return tw_float_fma(TW_FLOAT_F64, a, b, c, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static bool is_nan32(uint32_t a) { return (a & ~SIGN) > 0x7f800000u; }
/* A product: the addend is a zero that does not change the sign of a zero. */
static uint32_t mul32(uint64_t a, uint64_t b) { return f32(a, b, ((uint32_t)(a ^ b) & SIGN)); }
static uint32_t mul16(uint32_t a, uint32_t b) { return f16(a, b, (a ^ b) & 0x8000); }
static uint64_t mul64(uint64_t a, uint64_t b) { return f64(a, b, (a ^ b) & SIGN64); }
/* The sign of a NaN is not turned. */
static uint32_t sub32(uint32_t a, uint32_t b) { return f32(a, ONE, is_nan32(b) ? b : b ^ SIGN); }
static uint32_t subrev32(uint32_t a, uint32_t b) {
    if (is_nan32(a)) return a | 0x400000;
    return is_nan32(b) ? b | 0x400000 : f32(b, ONE, a ^ SIGN);
}
static double number(uint32_t a) { return tw_float_to_f64(TW_FLOAT_F32, a); }
static double wide_number(uint64_t a) { return tw_f64_of_bits(a); }
static uint32_t widened(uint32_t half) { return tw_f32_bits(tw_f16_to_f32((uint16_t)half)); }
static uint32_t clamp32(uint32_t a) {
    double d = number(a);
    return !(d > 0) ? 0 : d > 1 ? ONE : a; /* a NaN becomes 0 */
}
static bool is_signalling(uint32_t a) { return is_nan32(a) && !(a & 0x400000); }
/* Signalling NaNs before quiet ones, then the first. */
static uint32_t winning_nan(uint32_t a, uint32_t b) {
    if (is_signalling(a) || is_signalling(b)) return (is_signalling(a) ? a : b) | 0x400000;
    return is_nan32(a) ? a : is_nan32(b) ? b : 0;
}
static uint32_t minmax32(uint32_t a, uint32_t b, bool largest, bool ieee) {
    (void)ieee;
    if (is_nan32(a)) return is_nan32(b) ? a | 0x400000 : b;
    if (is_nan32(b)) return a;
    /* As integers that are ordered like the floats, -0 before +0. */
    int64_t x = a & SIGN ? -(int64_t)(a & ~SIGN) - 1 : a, y = b & SIGN ? -(int64_t)(b & ~SIGN) - 1 : b;
    return (x < y) != largest ? a : b;
}
/* Up to gfx11: in IEEE mode a signalling NaN beats a number. Otherwise whatever stands beside a NaN. */
static uint32_t minmax_ieee32(uint32_t a, uint32_t b, bool largest, bool ieee) {
    if (ieee && is_signalling(a)) return a | 0x400000;
    if (ieee && is_signalling(b)) return b | 0x400000;
    return is_nan32(a) ? b : is_nan32(b) ? a : minmax32(a, b, largest, false);
}
static uint32_t middle32(uint32_t a, uint32_t b, uint32_t c, uint32_t (*pick)(uint32_t, uint32_t, bool, bool),
                         bool ieee) {
    if (is_nan32(a) || is_nan32(b) || is_nan32(c)) return pick(pick(a, b, false, ieee), c, false, ieee);
    /* By equality of numbers, as the ISA manuals and LLVM's folding have it: of two zeros the later one
     * counts. */
    double most = fmax(fmax(number(a), number(b)), number(c));
    return number(a) == most ? minmax32(b, c, true, false)
                             : minmax32(a, number(b) == most ? c : b, true, false);
}
/* Bit 64 of the sum: its sign, however large it is. */
static uint32_t negative_sum(uint32_t a, uint32_t b, uint64_t c) {
    int64_t product = (int64_t)(int32_t)a * (int32_t)b, sum;
    return __builtin_add_overflow(product, (int64_t)c, &sum) ? (int64_t)c < 0 : sum < 0;
}
static double half_number(uint32_t a) { return tw_f16_to_f32((uint16_t)a); }
static uint32_t norm_of(double d, double low, double units) {
    d = isnan(d) ? 0 : d < low ? low : d > 1 ? 1 : d;
    return (uint16_t)(int32_t)nearbyint(d * units);
}
static uint32_t quieted(uint32_t a) { return is_nan32(a) ? a | 0x400000 : a; }
static uint64_t quieted64(uint64_t a) { return isnan(tw_f64_of_bits(a)) ? a | 0x8000000000000u : a; }
static uint32_t quiet_half(uint32_t a) { return (a & 0x7fff) > 0x7c00 ? (a & 0xffff) | 0x200 : a & 0xffff; }
static uint32_t flushed32(uint32_t a) { return a & 0x7f800000u ? a : a & SIGN; }
static uint64_t flushed64(uint64_t a) { return a & 0x7ff0000000000000u ? a : a & SIGN64; }
static uint64_t doubled64(uint64_t a) {
    return isnan(tw_f64_of_bits(a)) ? quieted64(a) : tw_f64_bits(2 * tw_f64_of_bits(a));
}
/* The product of a zero is +0; denormals count as zeros, everywhere. */
static uint32_t dx9_fma(uint32_t a, uint32_t b, uint32_t c) {
    a = flushed32(a), b = flushed32(b), c = flushed32(c);
    if (!(a & ~SIGN) || !(b & ~SIGN)) return f32(0, 0, c);
    return flushed32(f32(a, b, c));
}
/* What is no normal number becomes +0; what the factor makes too small keeps its sign. */
static uint64_t output_scaled64(uint64_t a, int by) {
    double d = tw_f64_of_bits(a);
    if (isnan(d)) return quieted64(a);
    if (fabs(d) < 0x1p-1022) return 0;
    d = ldexp(d, by);
    return tw_f64_bits(fabs(d) < 0x1p-1022 ? copysign(0, d) : d);
}
static uint32_t output_scaled(uint32_t a, int by) {
    double d = number(a);
    if (isnan(d)) return quieted(a);
    if (fabs(d) < 0x1p-126) return 0;
    d = ldexp(d, by);
    return (uint32_t)tw_float_from_f64(TW_FLOAT_F32, fabs(d) < 0x1p-126 ? copysign(0, d) : d);
}
static uint32_t output_scaled16(uint32_t a, int by) {
    double d = half_number(a);
    if (isnan(d)) return quiet_half(a);
    if (fabs(d) < 0x1p-14) return 0;
    d = ldexp(d, by);
    return (uint32_t)tw_float_from_f64(TW_FLOAT_F16, fabs(d) < 0x1p-14 ? copysign(0, d) : d);
}
static uint32_t limited16(uint32_t result, uint32_t a, uint32_t b, uint32_t c) {
    bool infinite = (a & 0x7fff) == 0x7c00 || (b & 0x7fff) == 0x7c00 || (c & 0x7fff) == 0x7c00;
    return (result & 0x7fff) == 0x7c00 && !infinite ? (result & 0x8000) | 0x7bff : result;
}
static uint32_t rounded32(uint32_t a, double (*round)(double)) {
    if (is_nan32(a)) return a | 0x400000;
    uint32_t r = (uint32_t)tw_float_from_f64(TW_FLOAT_F32, round(number(a)));
    return r | (a & SIGN);
}
static uint32_t scaled32(uint32_t a, uint32_t by) {
    int32_t n = (int32_t)by;
    if (is_nan32(a)) return a | 0x400000;
    if (n > 400) n = 400;
    if (n < -400) n = -400;
    return (uint32_t)tw_float_from_f64(TW_FLOAT_F32, ldexp(number(a), n));
}
/* The first step of a division, by the exponents of both; bit 32 asks to scale back. A division by or of zero
 * is -NaN. */
static uint64_t division_scaled(uint32_t which, uint32_t num, uint32_t den) {
    int n = (int)(num >> 23 & 255), d = (int)(den >> 23 & 255), by = 0;
    bool far = n - d >= 96, near_zero = d - n >= 96, is_den = which == den;
    if (far && is_den) by = 64;
    if (!far && d > 252) by = near_zero && !is_den ? 0 : -64;
    if (!far && d <= 252) by = d == 0 || (n < 25 && !near_zero) || (near_zero && !is_den) ? 64 : 0;
    uint64_t back = far || (near_zero && d) ? 1ull << 32 : 0;
    if (!(num & ~SIGN) || !(den & ~SIGN)) return back | 0xffc00000u;
    return back | scaled32(which, (uint32_t)by);
}
static uint32_t exponent_of(uint32_t a) {
    int e = 0;
    if (isfinite(number(a)) && number(a) != 0) e = ilogb(number(a)) + 1;
    return (uint32_t)e;
}
static uint32_t mantissa_of(uint32_t a) {
    if (is_nan32(a)) return a | 0x400000;
    if (!isfinite(number(a)) || number(a) == 0) return a;
    return (uint32_t)tw_float_from_f64(TW_FLOAT_F32, ldexp(number(a), -(int)exponent_of(a)));
}
static uint32_t class_of(uint32_t a) {
    bool negative = a & SIGN;
    if (is_nan32(a)) return a & 0x400000 ? 2 : 1;
    if (isinf(number(a))) return negative ? 4 : 512;
    if (number(a) == 0) return negative ? 32 : 64;
    if (tw_float_is_denormal(TW_FLOAT_F32, a)) return negative ? 16 : 128;
    return negative ? 8 : 256;
}
static uint32_t integer_of(double d, int64_t low, int64_t high) {
    if (isnan(d)) return 0;
    return (uint32_t)(d <= (double)low ? low : d >= (double)high ? high : (int64_t)d);
}
static uint32_t half_toward_zero(uint32_t a) {
    return (uint32_t)tw_float_convert(TW_FLOAT_F32, a, TW_FLOAT_F16, TW_ROUND_TOWARD_ZERO, TW_OVERFLOW_IEEE);
}
static uint32_t byte_of(double d) {
    d = rint(d);
    return !(d > 0) ? 0 : d > 255 ? 255 : (uint32_t)d;
}
static uint32_t field_signed(uint32_t a, uint32_t offset, uint32_t width) {
    uint32_t r = 0;
    for (uint32_t i = 0; i < 32 && width; i++) {
        uint32_t from = offset + (i < width ? i : width - 1);
        r |= (from < 32 ? a >> from & 1 : a >> 31) << i;
    }
    return r;
}
static int64_t low_signed(uint32_t a, unsigned bits) {
    int64_t v = a & ((1u << bits) - 1);
    return v >= 1 << (bits - 1) ? v - (1 << bits) : v;
}
static uint32_t reversed(uint32_t a) {
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (a >> i & 1) << (31 - i);
    return r;
}
static uint32_t bit_count(uint32_t a) {
    uint32_t n = 0;
    for (; a; a &= a - 1)
        n++;
    return n;
}
static uint32_t leading(uint32_t a, uint32_t bit) {
    for (uint32_t i = 0; i < 32; i++)
        if ((a >> (31 - i) & 1) != bit) return i;
    return UINT32_MAX;
}
static uint32_t trailing(uint32_t a) {
    for (uint32_t i = 0; i < 32; i++)
        if (a >> i & 1) return i;
    return UINT32_MAX;
}
static uint32_t leading_sign(uint32_t a) { return leading(a, a >> 31); }
static uint32_t picked_bytes(uint32_t a, uint32_t b, uint32_t selectors) {
    uint8_t from[8], out[4];
    uint32_t r;
    memcpy(from, &b, 4);
    memcpy(from + 4, &a, 4);
    for (int i = 0; i < 4; i++) {
        uint32_t s = selectors >> 8 * i & 255;
        out[i] = s < 8 ? from[s] : s < 12 ? (from[2 * (s - 8) + 1] & 128 ? 255 : 0) : s == 12 ? 0 : 255;
    }
    memcpy(&r, out, 4);
    return r;
}
static uint32_t add_to(uint64_t a, uint64_t b, uint64_t limit) {
    return (uint32_t)(a + b > limit ? limit : a + b);
}
static uint32_t signed_limit(int64_t v) {
    return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v);
}
static uint32_t short_limit(int32_t v) { return (uint32_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v); }
/* An arithmetic shift, and the low byte of what is left of it between two limits. */
static uint32_t byte_limited(uint32_t a, uint32_t by, int32_t low, int32_t high) {
    int64_t v = (int64_t)(int32_t)a >> (by & 31);
    return (uint32_t)(v < low ? low : v > high ? high : v) & 255;
}
/* Bytes cut to four bits between two limits. */
static uint32_t nibbles(uint32_t a, int low, int high, bool sign) {
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        int v = sign ? (int8_t)(a >> 8 * i) : (int)(a >> 8 * i & 255);
        r |= (uint32_t)((v < low ? low : v > high ? high : v) & 15) << 4 * i;
    }
    return r;
}
static int compare_i(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}
static int compare_u(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}
static uint32_t ordered_i(uint32_t a, uint32_t b, uint32_t c, int which) {
    uint32_t v[3] = {a, b, c};
    qsort(v, 3, sizeof *v, compare_i);
    return v[which];
}
static uint32_t ordered_u(uint32_t a, uint32_t b, uint32_t c, int which) {
    uint32_t v[3] = {a, b, c};
    qsort(v, 3, sizeof *v, compare_u);
    return v[which];
}
static uint32_t byte_differences(uint32_t a, uint32_t b) {
    uint32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (uint32_t)abs((int)(a >> i & 255) - (int)(b >> i & 255));
    return sum;
}
static uint32_t byte_products(uint32_t a, uint32_t b, bool signed_a, bool signed_b) {
    int32_t sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += (signed_a ? (int8_t)(a >> i) : (int)(a >> i & 255)) *
               (signed_b ? (int8_t)(b >> i) : (int)(b >> i & 255));
    return (uint32_t)sum;
}

static uint64_t wide_bits(tw_float_format f, uint32_t a) {
    return tw_float_convert(f, a & 255, TW_FLOAT_F32, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static uint32_t half_bits(tw_float_format f, uint32_t a) {
    return (uint32_t)tw_float_convert(f, a & 255, TW_FLOAT_F16, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static uint32_t narrow_bits(tw_float_format f, uint32_t a) {
    return (uint32_t)tw_float_convert(TW_FLOAT_F32, a, f, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static uint32_t narrow_half(tw_float_format f, uint32_t a) {
    return (uint32_t)tw_float_convert(TW_FLOAT_F16, a & 0xffff, f, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
}
static uint32_t random_bits(tw_float_format f, uint32_t a, uint32_t random) {
    double d = harness_stochastic(f, number(a), random);
    if (isnan(d)) return narrow_bits(f, a);
    return (uint32_t)tw_float_convert(TW_FLOAT_F64, tw_f64_bits(d), f, TW_ROUND_NEAREST_EVEN,
                                      TW_OVERFLOW_IEEE);
}
/* All NaNs alike. */
static uint32_t narrow_rdna4(tw_float_format f, uint32_t a) {
    return is_nan32(a) ? (f == TW_FLOAT_FP8_OCP ? 0xff : 0xfe) : narrow_bits(f, a);
}
static uint32_t random_rdna4(tw_float_format f, uint32_t a, uint32_t random) {
    return is_nan32(a) ? narrow_rdna4(f, a) : random_bits(f, a, random);
}
/* A NaN of C comes out quiet; any other gives +NaN. */
static uint32_t dot_bits(tw_float_format fa, tw_float_format fb, uint32_t a, uint32_t b, uint32_t c) {
    if (is_nan32(c)) return c | 0x400000;
    for (int i = 0; i < 32; i += 8)
        c = f32((uint32_t)wide_bits(fa, a >> i), (uint32_t)wide_bits(fb, b >> i), c);
    return is_nan32(c) ? 0x7fc00000u : c;
}

/* ---- the table ---- */

typedef struct instruction {
    unsigned targets;
    const char *types, *text;
    uint64_t (*expected)(const uint64_t *in);
} instruction;

#define A             ((uint32_t)in[0])
#define B             ((uint32_t)in[1])
#define C             ((uint32_t)in[2])
#define AA            (in[0])
#define BB            (in[1])
#define CC            (in[2])
#define NAME_AT(line) expected_##line
#define NAME(line)    NAME_AT(line)
#define I(targets, types, text, ...)                     \
    static uint64_t NAME(__LINE__)(const uint64_t *in) { \
        (void)in;                                        \
        return (uint64_t)(__VA_ARGS__);                  \
    }
#include "tests/emu/instructions.def"
#undef I
#define I(targets, types, text, ...) {targets, types, text, NAME(__LINE__)},
static const instruction TABLE[] = {
#include "tests/emu/instructions.def"
};
enum { COUNT = sizeof TABLE / sizeof TABLE[0] };
#undef A
#undef B
#undef C

/* ---- kernels of inline assembly ---- */

static void append_asm(tw_strbuf *ir, const char *text, bool wave64) {
    for (; *text; text++) {
        if (*text == '\n')
            tw_strbuf_append(ir, "\\0A");
        else if (*text == '\t')
            tw_strbuf_append(ir, "\\09");
        else if (!strncmp(text, "@VCC@", 5)) {
            tw_strbuf_append(ir, wave64 ? "vcc" : "vcc_lo");
            text += 4;
        } else
            tw_strbuf_char(ir, *text);
    }
}

static void append_kernel(tw_strbuf *ir, const instruction *t, unsigned number, bool wave64) {
    const char *result = strchr(t->types, ':') + 1;
    bool scalar = *result == 's';
    const char *type = *result == 'd' ? "i64" : *result == 'h' ? "i16" : "i32";
    tw_strbuf_printf(ir,
                     "define amdgpu_kernel void @i%u(ptr addrspace(1) %%out, ptr addrspace(1) %%in) #0 {\n"
                     "  %%i = call i32 @llvm.amdgcn.work%s.id.x()\n"
                     "  %%p = getelementptr [4 x i64], ptr addrspace(1) %%in, i32 %%i\n"
                     "  %%q = getelementptr i64, ptr addrspace(1) %%out, i32 %%i\n",
                     number, scalar ? "group" : "item");
    unsigned n = 0;
    for (; t->types[n] != ':'; n++) {
        const char *source = t->types[n] == 'd' ? "i64" : t->types[n] == 'h' ? "i16" : "i32";
        tw_strbuf_printf(ir,
                         "  %%a%u = getelementptr i64, ptr addrspace(1) %%p, i32 %u\n"
                         "  %%%s%u = load %s, ptr addrspace(1) %%a%u\n",
                         n, n, scalar ? "w" : "v", n, source, n);
        if (scalar)
            tw_strbuf_printf(ir, "  %%v%u = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %%w%u)\n", n, n);
    }
    tw_strbuf_printf(ir, "  %%r = call %s asm sideeffect \"", type);
    append_asm(ir, t->text, wave64);
    tw_strbuf_append(ir, scalar ? "\", \"=&s" : "\", \"=&v");
    for (unsigned k = 0; k < n; k++)
        tw_strbuf_append(ir, scalar ? ",s" : ",v");
    tw_strbuf_append(ir, ",~{vcc},~{scc},~{v40},~{v42},~{v43},~{s40},~{s41},~{s42},~{s43},~{s44},~{s45}"
                         ",~{s46},~{s47}\"(");
    for (unsigned k = 0; k < n; k++) {
        const char *source = t->types[k] == 'd' ? "i64" : t->types[k] == 'h' ? "i16" : "i32";
        tw_strbuf_printf(ir, "%s%s %%v%u", k ? ", " : "", source, k);
    }
    tw_strbuf_append(ir, ")\n");
    if (*result != 'd') tw_strbuf_printf(ir, "  %%z = zext %s %%r to i64\n", type);
    tw_strbuf_printf(ir, "  store i64 %s, ptr addrspace(1) %%q\n  ret void\n}\n",
                     *result == 'd' ? "%r" : "%z");
}

static tw_code_object *assemble(const char *target, unsigned bit, bool wave64) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_strbuf ir;
    tw_compiler *compiler;
    tw_code_object *object = NULL;
    tw_target t;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, "target triple = \"amdgcn-amd-amdhsa\"\n"
                          "declare i32 @llvm.amdgcn.workitem.id.x()\n"
                          "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
                          "declare i32 @llvm.amdgcn.readfirstlane.i32(i32)\n"
                          "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" "
                          "\"amdgpu-flat-work-group-size\"=\"1,64\" }\n");
    for (unsigned k = 0; k < COUNT; k++)
        if (TABLE[k].targets & bit) append_kernel(&ir, &TABLE[k], k, wave64);
    assert_int_equal(tw_target_parse(target, &t, diag), TW_OK);
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag), TW_OK);
    tw_status status = tw_compile_llvm_ir(compiler, tw_strbuf_text(&ir), ir.length, t, NULL, &object, diag);
    if (status != TW_OK) fail_msg("%s", tw_diag_text(diag));
    tw_compiler_close(compiler);
    tw_strbuf_free(&ir);
    tw_diag_free(diag);
    return object;
}

/* ---- running them ---- */

enum { ITEMS = 64, ROUNDS = 6 };

static uint64_t pick(uint32_t *seed) {
    static const uint32_t EDGES[] = {
        0,           0x00400001u, 0x80200003u, SIGN,        1,           0xffffffffu, 0x7fffffffu,
        0x7f800000u, 0xff800000u, 0x7fc00001u, 0x7f800001u, 0xffc12345u, 0x00800000u, 0x007fffffu,
        0x3f800000u, 0xbf800000u, 0x7f7fffffu, 0x3c003c00u, 0x7c00fc00u, 0x7e017c01u, 0x040003ffu,
        0x4f000000u, 0xcf000000u, 0x4b000001u, 31,          0x33800001u};
    uint32_t r = harness_random(seed), v = harness_random(seed);
    if (r % 3 == 0) return EDGES[r / 3 % (sizeof EDGES / sizeof EDGES[0])];
    if (r % 3 == 1) v = 0x3f000000u + (v & 0x81ffffffu); /* floats that meet each other */
    return v;
}

static void run_table(void **state) {
    const char *target = *state;
    static const char *const NAMES[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1151",
                                        "gfx1200", "gfx1201", "gfx1250", "gfx1100:wave64", "gfx1201:wave64"};
    unsigned bit = 1;
    for (unsigned k = 0; strcmp(NAMES[k], target); k++)
        bit *= 2;
    harness h;
    harness_open_object(&h, assemble(target, bit, bit & (_9 | W64)), target);
    uint32_t seed = 99;
    static uint64_t in[ITEMS][4], out[ITEMS];
    uint64_t din = harness_buffer(&h, "in", NULL, sizeof in),
             dout = harness_buffer(&h, "out", NULL, sizeof out);
    unsigned wrong = 0;
    for (unsigned k = 0; k < COUNT; k++) {
        if (!(TABLE[k].targets & bit)) continue;
        const char *result = strchr(TABLE[k].types, ':') + 1;
        char name[16];
        snprintf(name, sizeof name, "i%u", k);
        for (unsigned round = 0; round < ROUNDS && wrong < 10; round++) {
            for (int i = 0; i < ITEMS; i++) {
                for (int s = 0; s < 3; s++) {
                    bool wide = s < (int)(result - 1 - TABLE[k].types) && TABLE[k].types[s] == 'd';
                    uint64_t low = pick(&seed);
                    in[i][s] = wide ? low | pick(&seed) << 32 : low;
                }
            }
            harness_write(&h, din, in, sizeof in);
            if (*result == 's')
                RUN(&h, name, ITEMS, 1, PTR(dout), PTR(din));
            else
                RUN(&h, name, 1, ITEMS, PTR(dout), PTR(din));
            harness_read(&h, dout, out, sizeof out);
            for (int i = 0; i < ITEMS; i++) {
                uint64_t mask = *result == 'd' ? UINT64_MAX : *result == 'h' ? 0xffff : UINT32_MAX;
                uint64_t want = TABLE[k].expected(in[i]) & mask;
                if ((out[i] & mask) == want) continue;
                print_error("%s: %llx, %llx, %llx gives %llx, not %llx\n", TABLE[k].text,
                            (unsigned long long)in[i][0], (unsigned long long)in[i][1],
                            (unsigned long long)in[i][2], (unsigned long long)(out[i] & mask),
                            (unsigned long long)want);
                wrong++;
                round = ROUNDS;
                break;
            }
        }
    }
    harness_close(&h);
    assert_int_equal(wrong, 0);
}

int main(void) {
#define TARGET(name) \
    { name, run_table, NULL, NULL, name }
    static char names[10][16] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1151",
                                 "gfx1200", "gfx1201", "gfx1250", "gfx1100:wave64", "gfx1201:wave64"};
    const struct CMUnitTest tests[] = {TARGET(names[0]), TARGET(names[1]), TARGET(names[2]), TARGET(names[3]),
                                       TARGET(names[4]), TARGET(names[5]), TARGET(names[6]), TARGET(names[7]),
                                       TARGET(names[8]), TARGET(names[9])};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
