/* The folder against expectations that are computed another way: wide integers for integers, the host's own
 * float arithmetic for f32, exact long doubles for f16 and bf16. */
#include "tests/test.h"

#include <math.h>
#include <string.h>

#include "ir/ir.h"

#define SAMPLES 60

/* What the fold of one op should be; `known` false where it must be left alone. */
typedef struct expectation {
    bool known;
    uint64_t bits;
} expectation;

static uint64_t seed = 0x2545F4914F6CDD1D;

static uint64_t random_bits(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed * 0x9E3779B97F4A7C15;
}

static uint64_t cut(uint64_t bits, unsigned width) {
    return width == 64 ? bits : bits & ((1ull << width) - 1);
}

/* ---- integers ---- */

typedef __int128 wide;

static wide as_signed(uint64_t bits, unsigned width) {
    wide value = (wide)bits;
    return bits >> (width - 1) & 1 ? value - ((wide)1 << width) : value;
}

static expectation known(wide value, unsigned width) {
    return (expectation){true, cut((uint64_t)value, width)};
}

/* floor(value / 2^count) by division. */
static wide floor_shift(wide value, unsigned count) {
    wide divisor = (wide)1 << count, quotient = value / divisor;
    return value % divisor < 0 ? quotient - 1 : quotient;
}

static expectation expect_int(tw_opcode opcode, uint64_t a, uint64_t b, unsigned width) {
    const expectation unknown = {false, 0};
    wide ua = (wide)a, ub = (wide)b, sa = as_signed(a, width), sb = as_signed(b, width);
    wide least = -((wide)1 << (width - 1));
    unsigned count = (unsigned)(b % width);
    int bits = 0;
    switch (opcode) {
    case TW_OP_ADD: return known(ua + ub, width);
    case TW_OP_SUB: return known(ua - ub, width);
    case TW_OP_MUL: return known((wide)((unsigned __int128)ua * (unsigned __int128)ub), width);
    case TW_OP_MULHI_S: return known(floor_shift(sa * sb, 32), width);
    case TW_OP_MULHI_U: return known(floor_shift(ua * ub, 32), width);
    case TW_OP_SDIV: return !b || (sa == least && sb == -1) ? unknown : known(sa / sb, width);
    case TW_OP_SREM: return !b || (sa == least && sb == -1) ? unknown : known(sa - sa / sb * sb, width);
    case TW_OP_UDIV: return !b ? unknown : known(ua / ub, width);
    case TW_OP_UREM: return !b ? unknown : known(ua - ua / ub * ub, width);
    case TW_OP_AND: return known(ua + ub - (wide)(a | b), width);
    case TW_OP_OR: return known((wide)(a & b) + (wide)(a ^ b), width);
    case TW_OP_XOR: return known((wide)(a | b) - (wide)(a & b), width);
    case TW_OP_SHL: return known(ua * ((wide)1 << count), width);
    case TW_OP_LSHR: return known(floor_shift(ua, count), width);
    case TW_OP_ASHR: return known(floor_shift(sa, count), width);
    case TW_OP_SMIN: return known(sb < sa ? sb : sa, width);
    case TW_OP_SMAX: return known(sb > sa ? sb : sa, width);
    case TW_OP_UMIN: return known(ub < ua ? ub : ua, width);
    case TW_OP_UMAX: return known(ub > ua ? ub : ua, width);
    case TW_OP_CTPOP:
        for (; a; a /= 2)
            bits += a % 2;
        return known(bits, width);
    default: fail_msg("no expectation for opcode %d", opcode); return unknown;
    }
}

/* ---- floats ---- */

typedef struct shape {
    unsigned exponent, mantissa;
    int bias;
} shape;

static shape shape_of(tw_scalar scalar) {
    if (scalar == TW_F16) return (shape){5, 10, 15};
    return (shape){8, scalar == TW_BF16 ? 7 : 23, 127};
}

static bool is_nan(uint64_t bits, shape s) {
    uint64_t exponent = bits >> s.mantissa & ((1u << s.exponent) - 1);
    return exponent == (1u << s.exponent) - 1 && cut(bits, s.mantissa);
}

static bool is_denormal(uint64_t bits, shape s) {
    return !(bits >> s.mantissa & ((1u << s.exponent) - 1)) && cut(bits, s.mantissa);
}

static long double value_of(uint64_t bits, shape s) {
    int exponent = (int)(bits >> s.mantissa & ((1u << s.exponent) - 1));
    long double fraction = (long double)cut(bits, s.mantissa);
    long double sign = bits >> (s.exponent + s.mantissa) & 1 ? -1 : 1;
    if (exponent == (1 << s.exponent) - 1) return sign * (long double)INFINITY;
    if (!exponent) return sign * ldexpl(fraction, 1 - s.bias - (int)s.mantissa);
    return sign * ldexpl(fraction + ldexpl(1, (int)s.mantissa), exponent - s.bias - (int)s.mantissa);
}

/* To the nearest, ties to even, with rintl on the scaled value. */
static uint64_t bits_of(long double value, shape s) {
    uint64_t sign = (uint64_t)(signbit(value) != 0) << (s.exponent + s.mantissa);
    uint64_t infinity = ((1ull << s.exponent) - 1) << s.mantissa;
    long double magnitude = fabsl(value);
    if (isinf(magnitude)) return sign | infinity;
    int exponent = magnitude ? ilogbl(magnitude) : 1 - s.bias;
    if (exponent < 1 - s.bias) exponent = 1 - s.bias;
    long double units = rintl(ldexpl(magnitude, (int)s.mantissa - exponent));
    /* A carry into the next binade, or out of the denormals, is what the sum of the fields gives by itself.
     */
    uint64_t bits = (uint64_t)units + ((uint64_t)(exponent + s.bias - 1) << s.mantissa);
    return sign | (bits > infinity ? infinity : bits);
}

static long double least_of(long double a, long double b) {
    if (a == b) return signbit(a) ? a : b;
    return a < b ? a : b;
}

/* One operation in long double: exact, or with so many bits that rounding again is harmless. */
static long double operate(tw_opcode opcode, long double a, long double b, long double c) {
    switch (opcode) {
    case TW_OP_FADD: return a + b;
    case TW_OP_FSUB: return a - b;
    case TW_OP_FMUL: return a * b;
    case TW_OP_FDIV: return a / b;
    case TW_OP_FMA: return a * b + c;
    case TW_OP_FMIN: return least_of(a, b);
    case TW_OP_FMAX: return -least_of(-a, -b);
    case TW_OP_FLOOR: return floorl(a);
    case TW_OP_CEIL: return ceill(a);
    case TW_OP_FTRUNC: return truncl(a);
    case TW_OP_RINT: return rintl(a);
    default: fail_msg("no expectation for opcode %d", opcode); return 0;
    }
}

/* The host's f32 arithmetic. */
static float operate_f32(tw_opcode opcode, float a, float b, float c) {
    switch (opcode) {
    case TW_OP_FADD: return a + b;
    case TW_OP_FSUB: return a - b;
    case TW_OP_FMUL: return a * b;
    case TW_OP_FDIV: return a / b;
    case TW_OP_FMA: return fmaf(a, b, c);
    default: return (float)operate(opcode, a, b, c);
    }
}

static expectation expect_float(tw_opcode opcode, tw_scalar scalar, bool flush, const uint64_t in[3],
                                unsigned count) {
    shape s = shape_of(scalar);
    unsigned sign = s.exponent + s.mantissa;
    expectation e = {true, 0};
    bool open = false, is_bits = opcode == TW_OP_FNEG || opcode == TW_OP_FABS;
    uint64_t x_bits[3];
    for (unsigned i = 0; i < 3; i++) {
        x_bits[i] = flush && is_denormal(in[i], s) ? in[i] & 1ull << sign : in[i];
        open |= i < count && is_nan(in[i], s);
    }
    if (opcode == TW_OP_FNEG) {
        e.bits = in[0] ^ 1ull << sign;
    } else if (opcode == TW_OP_FABS) {
        e.bits = cut(in[0], sign);
    } else if (open) {
        return (expectation){false, 0};
    } else if (scalar == TW_F32) {
        float x[3], result;
        for (int i = 0; i < 3; i++)
            memcpy(&x[i], &x_bits[i], sizeof x[i]);
        result = operate_f32(opcode, x[0], x[1], x[2]);
        memcpy(&e.bits, &result, sizeof result);
        if (isnan(result)) e.known = false;
    } else {
        long double result = operate(opcode, value_of(in[0], s), value_of(in[1], s), value_of(in[2], s));
        e.known = !isnan(result);
        e.bits = e.known ? bits_of(result, s) : 0;
    }
    if (is_nan(e.bits, s)) e.known = false;
    if (flush && !is_bits && is_denormal(e.bits, s)) e.bits &= 1ull << sign;
    return e;
}

/* ---- samples ---- */

static uint64_t sample_int(unsigned width) {
    uint64_t bits = random_bits();
    switch (bits >> 60) {
    case 0: return 0;
    case 1: return 1;
    case 2: return cut(UINT64_MAX, width);
    case 3: return 1ull << (width - 1);
    case 4: return (1ull << (width - 1)) - 1;
    case 5:
    case 6:
    case 7: return cut(bits, width) >> (bits >> 50 & (width - 1));
    default: return cut(bits, width);
    }
}

/* Exponents of the two 16-bit formats stay so close together that a * b + c is exact in the 64 bits of long
 * double. */
static uint64_t sample_float(tw_scalar scalar) {
    shape s = shape_of(scalar);
    uint64_t bits = random_bits(), sign = (bits >> 59 & 1) << (s.exponent + s.mantissa);
    uint64_t ones = ((1ull << s.exponent) - 1) << s.mantissa, fraction = cut(bits, s.mantissa);
    switch (bits >> 60) {
    case 0: return sign;
    case 1: return sign | ones;
    case 2: return sign | ones | fraction | 1;
    case 3: return sign | fraction;
    case 4: return sign | (ones - (1ull << s.mantissa)) | fraction;
    default: break;
    }
    if (scalar == TW_F32 && bits >> 58 & 1) return sign | cut(bits, 31);
    uint64_t exponent = (uint64_t)(s.bias - 4) + (bits >> 40) % 9;
    return sign | exponent << s.mantissa | fraction;
}

/* ---- the comparison ---- */

static bool exact_in_long_double(const uint64_t in[3], unsigned count, tw_scalar scalar) {
    shape s = shape_of(scalar);
    int low = 1 << 20, high = -(1 << 20);
    for (unsigned i = 0; i < count; i++) {
        long double value = value_of(in[i], s);
        if (value == 0 || isinf(value)) continue;
        int exponent = ilogbl(value);
        low = exponent < low ? exponent : low;
        high = exponent > high ? exponent : high;
    }
    return count < 2 || high - low < 12;
}

static void fold_one_kernel(const tw_op_info *info, tw_scalar scalar, unsigned lanes, bool flush) {
    tw_target target;
    tw_target_parse("gfx1250", &target, NULL);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel_options options = {.workgroup_size = 64, .flush_f32_denormals = flush};
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &options);
    const tw_type *type = tw_type_vector(scalar, lanes);
    tw_value results[SAMPLES];
    expectation expected[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t in[3] = {0};
        tw_value operands[3];
        do {
            for (unsigned o = 0; o < info->operand_count; o++)
                in[o] = tw_scalar_is_int(scalar) ? sample_int(tw_scalar_bits(scalar)) : sample_float(scalar);
        } while (!tw_scalar_is_int(scalar) && scalar != TW_F32 &&
                 !exact_in_long_double(in, info->operand_count, scalar));
        for (unsigned o = 0; o < info->operand_count; o++)
            operands[o] = tw_constant(b, type, in[o]);
        results[i] = tw_build_op(b, info->opcode, NULL, operands, info->operand_count, NULL, 0);
        expected[i] = tw_scalar_is_int(scalar)
                          ? expect_int(info->opcode, in[0], in[1], tw_scalar_bits(scalar))
                          : expect_float(info->opcode, scalar, flush, in, info->operand_count);
    }
    tw_kernel *kernel = tw_kernel_end(b);
    assert_non_null(kernel);
    bool changed = false;
    assert_int_equal(tw_pass_fold(kernel, &changed, NULL), TW_OK);
    assert_int_equal(tw_kernel_verify(kernel, NULL), TW_OK);
    for (int i = 0; i < SAMPLES; i++) {
        const tw_op *op = tw_value_get(kernel, results[i])->op;
        bool folded = op->opcode == TW_OP_CONSTANT;
        if (folded != expected[i].known || (folded && (uint64_t)op->attrs[0].as.i != expected[i].bits))
            fail_msg("%s on %s, sample %d: folded %d to %llx, expected %d and %llx", info->name,
                     tw_scalar_name(scalar), i, folded, folded ? (unsigned long long)op->attrs[0].as.i : 0ull,
                     expected[i].known, (unsigned long long)expected[i].bits);
    }
    tw_context_free(ctx);
}

/* Whether the row has a FOLD column that gives something. */
static bool row_folds(tw_opcode opcode) {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU1(number, ENUM, ident, name, class, result, fold, doc) \
    if (opcode == TW_OP_##ENUM) return fold;
#define ALU2              ALU1
#define ALU3              ALU1
#define FOLD_INT(e)       true
#define FOLD_INT_IF(c, e) true
#define FOLD_FLOAT(e)     true
#define FOLD_FMA          true
#define FOLD_BITS(e)      true
#define NO_FOLD           false
#include "ir/opcodes.def"
    return false;
}

static void each_row_folds_as_expected(void **state) {
    (void)state;
    int rows = 0;
    for (int number = 0; number < TW_OPCODE_LIMIT; number++) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)number);
        if (!info || !row_folds(info->opcode)) continue;
        rows++;
        for (int s = TW_I1; s <= TW_F32; s++) {
            if (!tw_type_in_class(tw_type_scalar((tw_scalar)s), info->operands[0])) continue;
            for (unsigned lanes = 1; lanes <= 2; lanes++) {
                fold_one_kernel(info, (tw_scalar)s, lanes, false);
                if (s == TW_F32) fold_one_kernel(info, (tw_scalar)s, lanes, true);
            }
        }
    }
    assert_true(rows >= 33);
}

/* ---- conversions and comparisons of constants ---- */

static tw_kernel *kernel_of(tw_context *ctx, tw_value (*build)(tw_builder *b, uint64_t x, uint64_t y),
                            uint64_t x, uint64_t y, tw_value *result, bool flush) {
    tw_target target;
    tw_target_parse("gfx1250", &target, NULL);
    tw_kernel_options options = {.workgroup_size = 64, .flush_f32_denormals = flush};
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &options);
    *result = build(b, x, y);
    tw_kernel *kernel = tw_kernel_end(b);
    assert_non_null(kernel);
    bool changed = false;
    assert_int_equal(tw_pass_fold(kernel, &changed, NULL), TW_OK);
    return kernel;
}

static tw_value constant_of(tw_builder *b, tw_scalar scalar, uint64_t bits) {
    return tw_constant(b, tw_type_scalar(scalar), bits);
}

#define CONVERT(name, call, from, to)                             \
    static tw_value name(tw_builder *b, uint64_t x, uint64_t y) { \
        (void)y;                                                  \
        tw_value in = constant_of(b, from, x);                    \
        return call(b, in, to);                                   \
    }
#define COMPARE(name, call, predicate, scalar)                    \
    static tw_value name(tw_builder *b, uint64_t x, uint64_t y) { \
        tw_value left = constant_of(b, scalar, x);                \
        tw_value right = constant_of(b, scalar, y);               \
        return call(b, predicate, left, right);                   \
    }

CONVERT(f16_to_f32, tw_fpext, TW_F16, TW_F32)
CONVERT(f32_to_f16, tw_fptrunc, TW_F32, TW_F16)
CONVERT(f32_to_bf16, tw_fptrunc, TW_F32, TW_BF16)
CONVERT(i32_to_f32, tw_sitofp, TW_I32, TW_F32)
CONVERT(u32_to_f32, tw_uitofp, TW_I32, TW_F32)
CONVERT(i1_to_f32, tw_uitofp, TW_I1, TW_F32)
CONVERT(f32_to_i8, tw_fptosi, TW_F32, TW_I8)
CONVERT(f32_to_u8, tw_fptoui, TW_F32, TW_I8)
CONVERT(f32_to_i64, tw_fptosi, TW_F32, TW_I64)
CONVERT(i8_to_i32, tw_sext, TW_I8, TW_I32)
CONVERT(i1_to_i32, tw_sext, TW_I1, TW_I32)
CONVERT(u8_to_i32, tw_zext, TW_I8, TW_I32)
CONVERT(i64_to_i16, tw_trunc, TW_I64, TW_I16)
COMPARE(slt_i8, tw_icmp, TW_SLT, TW_I8)
COMPARE(ult_i8, tw_icmp, TW_ULT, TW_I8)
COMPARE(oeq_f32, tw_fcmp, TW_FOEQ, TW_F32)
COMPARE(ueq_f32, tw_fcmp, TW_FUEQ, TW_F32)
COMPARE(olt_f32, tw_fcmp, TW_FOLT, TW_F32)
COMPARE(uno_f16, tw_fcmp, TW_FUNO, TW_F16)

static const struct {
    tw_value (*build)(tw_builder *b, uint64_t x, uint64_t y);
    uint64_t x, y;
    bool flush, known;
    uint64_t bits;
} values[] = {
    {f16_to_f32, 0x3555, 0, false, true, 0x3eaaa000},
    {f16_to_f32, 0x0001, 0, false, true, 0x33800000},
    {f16_to_f32, 0x7e00, 0, false, false, 0},
    {f32_to_f16, 0x477ff000, 0, false, true, 0x7c00}, /* 65520, half way to 65536 */
    {f32_to_f16, 0x477fefff, 0, false, true, 0x7bff},
    {f32_to_f16, 0x7fc00000, 0, false, false, 0},
    {f32_to_f16, 0x00000001, 0, false, true, 0x0000},
    {f32_to_f16, 0x80000001, 0, true, true, 0x8000}, /* a denormal that is flushed */
    {f32_to_bf16, 0x807f8000, 0, false, true, 0x8080},
    {f32_to_bf16, 0x807f8000, 0, true, true, 0x8000}, /* a denormal that is flushed */
    {f32_to_bf16, 0x3f808000, 0, false, true, 0x3f80},
    {f32_to_bf16, 0x3f818000, 0, false, true, 0x3f82},
    {i32_to_f32, 0xffffffff, 0, false, true, 0xbf800000},
    {u32_to_f32, 0xffffffff, 0, false, true, 0x4f800000},
    {i32_to_f32, 0x01000001, 0, false, true, 0x4b800000}, /* 2^24 + 1, a tie */
    {i1_to_f32, 1, 0, false, true, 0x3f800000},
    {f32_to_i8, 0xc3000000, 0, false, true, 0x80}, /* -128 */
    {f32_to_i8, 0xc4000000, 0, false, true, 0x80}, /* saturates */
    {f32_to_i8, 0x42fe6666, 0, false, true, 0x7f},
    {f32_to_i8, 0xbf7fffff, 0, false, true, 0x00},
    {f32_to_u8, 0xbf800000, 0, false, true, 0x00},
    {f32_to_u8, 0x437fffff, 0, false, true, 0xff},
    {f32_to_u8, 0x7f800000, 0, false, true, 0xff},
    {f32_to_i8, 0x7fc00000, 0, false, false, 0},
    {f32_to_i64, 0x5f000000, 0, false, true, INT64_MAX},
    {i8_to_i32, 0x80, 0, false, true, 0xffffff80},
    {i1_to_i32, 1, 0, false, true, 0xffffffff},
    {u8_to_i32, 0x80, 0, false, true, 0x80},
    {i64_to_i16, 0x123456789, 0, false, true, 0x6789},
    {slt_i8, 0x80, 0x7f, false, true, 1},
    {ult_i8, 0x80, 0x7f, false, true, 0},
    {oeq_f32, 0x80000000, 0, false, true, 1},
    {oeq_f32, 0x7fc00000, 0x7fc00000, false, true, 0},
    {ueq_f32, 0x7fc00000, 0, false, true, 1},
    {olt_f32, 0, 1, false, true, 1},
    {olt_f32, 0, 1, true, true, 0}, /* a denormal that is flushed */
    {uno_f16, 0x7e00, 0x3c00, false, true, 1},
    {uno_f16, 0x7c00, 0x3c00, false, true, 0},
};

static void conversions_and_comparisons_fold(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_value result;
        tw_kernel *kernel =
            kernel_of(ctx, values[i].build, values[i].x, values[i].y, &result, values[i].flush);
        const tw_op *op = tw_value_get(kernel, result)->op;
        bool folded = op->opcode == TW_OP_CONSTANT;
        if (folded != values[i].known || (folded && (uint64_t)op->attrs[0].as.i != values[i].bits))
            fail_msg("row %zu: folded %d to %llx", i, folded,
                     folded ? (unsigned long long)op->attrs[0].as.i : 0ull);
        tw_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_folds_as_expected),
        cmocka_unit_test(conversions_and_comparisons_fold),
    };
    return cmocka_run_group_tests_name("fold", tests, NULL, NULL);
}
