/* What ops give for one element, against values worked out by hand. */
#include "tests/test.h"

#include "ir/build.h"
#include "ir/eval.h"

#define ANY UINT64_MAX /* the result is unspecified */

typedef struct alu_row {
    tw_opcode opcode;
    tw_scalar scalar;
    uint64_t in[3], out;
} alu_row;

static const alu_row alu_rows[] = {
    {TW_OP_ADD, TW_I8, {200, 100}, 44},
    {TW_OP_SUB, TW_I16, {0, 1}, 0xffff},
    {TW_OP_MUL, TW_I64, {0x100000001, 0x100000001}, 0x200000001},
    {TW_OP_MULHI_S, TW_I32, {0xffffffff, 0xffffffff}, 0},
    {TW_OP_MULHI_S, TW_I32, {0x80000000, 2}, 0xffffffff},
    {TW_OP_MULHI_U, TW_I32, {0xffffffff, 0xffffffff}, 0xfffffffe},
    {TW_OP_SDIV, TW_I32, {(uint32_t)-7, 2}, (uint32_t)-3},
    {TW_OP_SDIV, TW_I32, {7, 0}, ANY},
    {TW_OP_SDIV, TW_I32, {0x80000000, 0xffffffff}, ANY},
    {TW_OP_SDIV, TW_I64, {(uint64_t)1 << 63, UINT64_MAX}, ANY},
    {TW_OP_SDIV, TW_I32, {0x80000000, 1}, 0x80000000},
    {TW_OP_UDIV, TW_I8, {250, 7}, 35},
    {TW_OP_UDIV, TW_I8, {250, 0}, ANY},
    {TW_OP_SREM, TW_I16, {(uint16_t)-7, 2}, (uint16_t)-1},
    {TW_OP_SREM, TW_I16, {0x8000, 0xffff}, ANY},
    {TW_OP_UREM, TW_I16, {0xfff9, 10}, 9},
    {TW_OP_UREM, TW_I16, {1, 0}, ANY},
    {TW_OP_AND, TW_I1, {1, 0}, 0},
    {TW_OP_OR, TW_I1, {1, 0}, 1},
    {TW_OP_XOR, TW_I1, {1, 1}, 0},
    {TW_OP_XOR, TW_I64, {UINT64_MAX, 1}, UINT64_MAX - 1},
    {TW_OP_SHL, TW_I32, {0x80000001, 33}, 2},
    {TW_OP_LSHR, TW_I8, {0x80, 7}, 1},
    {TW_OP_LSHR, TW_I8, {0x80, 8}, 0x80},
    {TW_OP_ASHR, TW_I8, {0x80, 3}, 0xf0},
    {TW_OP_SMIN, TW_I8, {0x80, 0x7f}, 0x80},
    {TW_OP_SMAX, TW_I8, {0x80, 0x7f}, 0x7f},
    {TW_OP_UMIN, TW_I8, {0x80, 0x7f}, 0x7f},
    {TW_OP_UMAX, TW_I8, {0x80, 0x7f}, 0x80},
    {TW_OP_CTPOP, TW_I16, {0xf0f1}, 9},
    /* 1 + 2^-24 is a tie, to even; 1 + 3 * 2^-24 as well */
    {TW_OP_FADD, TW_F32, {0x3f800000, 0x33800000}, 0x3f800000},
    {TW_OP_FADD, TW_F32, {0x3f800001, 0x33800000}, 0x3f800002},
    {TW_OP_FADD, TW_F16, {0x7bff, 0x4c00}, 0x7c00}, /* 65504 + 16: a tie, to infinity */
    {TW_OP_FADD, TW_F16, {0x7bff, 0x4bff}, 0x7bff}, /* a little less */
    {TW_OP_FADD, TW_BF16, {0x3f80, 0x3b80}, 0x3f80},
    {TW_OP_FADD, TW_BF16, {0x3f81, 0x3b80}, 0x3f82},
    {TW_OP_FADD, TW_F32, {0x00000001, 0x00000001}, 0x00000002}, /* denormals */
    {TW_OP_FADD, TW_F32, {0x80000000, 0x80000000}, 0x80000000},
    {TW_OP_FADD, TW_F32, {0x80000000, 0x00000000}, 0x00000000},
    {TW_OP_FADD, TW_F32, {0x3f800000, 0x7f800001}, 0x7fc00001}, /* a signaling NaN is made quiet */
    {TW_OP_FADD, TW_F32, {0xffc00002, 0x7fc00001}, 0xffc00002}, /* the first of two */
    {TW_OP_FSUB, TW_F32, {0x7f800000, 0x7f800000}, 0x7fc00000},
    {TW_OP_FSUB, TW_F16, {0x3c00, 0x3c01}, 0x9400},
    {TW_OP_FMUL, TW_F32, {0x7f7fffff, 0x40000000}, 0x7f800000},
    {TW_OP_FMUL, TW_BF16, {0x3fc0, 0x3fc0}, 0x4010},
    {TW_OP_FMUL, TW_F32, {0x7f800000, 0x00000000}, 0x7fc00000},
    {TW_OP_FDIV, TW_F32, {0x3f800000, 0x40400000}, 0x3eaaaaab},
    {TW_OP_FDIV, TW_F16, {0x3c00, 0x0000}, 0x7c00},
    {TW_OP_FDIV, TW_F32, {0x00000000, 0x80000000}, 0x7fc00000},
    /* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, which a product rounded before the sum loses */
    {TW_OP_FMA, TW_F32, {0x3f800800, 0x3f800800, 0xbf801000}, 0x33800000},
    {TW_OP_FMA, TW_F16, {0x3c01, 0x3c01, 0xbc02}, 0x0010},
    {TW_OP_FMA, TW_BF16, {0x3f81, 0x3f81, 0xbf82}, 0x3880},
    {TW_OP_FNEG, TW_F32, {0x7f800001}, 0xff800001},
    {TW_OP_FNEG, TW_F16, {0x0000}, 0x8000},
    {TW_OP_FABS, TW_BF16, {0xff81}, 0x7f81},
    {TW_OP_FMIN, TW_F32, {0x00000000, 0x80000000}, 0x80000000},
    {TW_OP_FMIN, TW_F32, {0x80000000, 0x00000000}, 0x80000000},
    {TW_OP_FMIN, TW_F32, {0x7fc00000, 0x3f800000}, 0x3f800000},
    {TW_OP_FMIN, TW_F32, {0x3f800000, 0x7fc00000}, 0x3f800000},
    {TW_OP_FMIN, TW_F32, {0x7fc00005, 0xffc00000}, 0x7fc00005},
    {TW_OP_FMAX, TW_F16, {0x8000, 0x0000}, 0x0000},
    {TW_OP_FMAX, TW_F16, {0x0000, 0x8000}, 0x0000},
    {TW_OP_FMAX, TW_F16, {0xfc00, 0x7e00}, 0xfc00},
    {TW_OP_FLOOR, TW_F32, {0xbf000000}, 0xbf800000},
    {TW_OP_CEIL, TW_F32, {0xbf000000}, 0x80000000},
    {TW_OP_FTRUNC, TW_F32, {0xbfd9999a}, 0xbf800000},
    {TW_OP_RINT, TW_F16, {0x4100}, 0x4000}, /* 2.5 to 2 */
    {TW_OP_RINT, TW_F16, {0x4300}, 0x4400}, /* 3.5 to 4 */
    {TW_OP_EXP2, TW_F32, {0x40400000}, 0x41000000},
    {TW_OP_LOG2, TW_F32, {0x41000000}, 0x40400000},
    {TW_OP_LOG2, TW_F32, {0x80000000}, 0xff800000},
    {TW_OP_SQRT, TW_F32, {0x40000000}, 0x3fb504f3},
    {TW_OP_SQRT, TW_F32, {0xbf800000}, 0x7fc00000},
    {TW_OP_RSQRT, TW_F32, {0x40800000}, 0x3f000000},
    {TW_OP_RCP, TW_F32, {0x40400000}, 0x3eaaaaab},
    {TW_OP_RCP, TW_F32, {0x80000000}, 0xff800000},
};

static void element_wise_ops(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof alu_rows / sizeof alu_rows[0]; i++) {
        const alu_row *row = &alu_rows[i];
        uint64_t out;
        bool known = tw_eval_alu(row->opcode, row->scalar, false, row->in, &out);
        if (known != (row->out != ANY) || (known && out != row->out))
            fail_msg("row %zu: got 0x%llx, expected 0x%llx", i, (unsigned long long)out,
                     (unsigned long long)row->out);
        /* NaNs, zeros and normal numbers are the same where denormals are flushed. */
        bool denormal = row->in[0] == 1;
        if (known && !denormal) {
            assert_true(tw_eval_alu(row->opcode, row->scalar, true, row->in, &out));
            assert_int_equal(out, row->out);
        }
    }
}

static void flushed_denormals_count_as_zero(void **state) {
    (void)state;
    uint64_t out;
    tw_eval_alu(TW_OP_FADD, TW_F32, true, (uint64_t[]){0x00000001, 0x807fffff, 0}, &out);
    assert_int_equal(out, 0);
    tw_eval_alu(TW_OP_FMUL, TW_F32, true, (uint64_t[]){0x80800000, 0x3f000000, 0}, &out);
    assert_int_equal(out, 0x80000000); /* the result would be a denormal */
    tw_eval_alu(TW_OP_FMUL, TW_F32, false, (uint64_t[]){0x80800000, 0x3f000000, 0}, &out);
    assert_int_equal(out, 0x80400000);
    tw_eval_alu(TW_OP_FNEG, TW_F32, true, (uint64_t[]){0x00000001, 0, 0}, &out);
    assert_int_equal(out, 0x80000001); /* bits, not a number */
    tw_eval_alu(TW_OP_FADD, TW_F16, true, (uint64_t[]){0x0001, 0x0001, 0}, &out);
    assert_int_equal(out, 2); /* f16 denormals are kept */
    tw_eval_alu(TW_OP_FADD, TW_BF16, true, (uint64_t[]){0x0001, 0x8081, 0}, &out);
    assert_int_equal(out, 0x8081);
    tw_eval_alu(TW_OP_FMUL, TW_BF16, true, (uint64_t[]){0x3f7f, 0x0080, 0}, &out);
    assert_int_equal(out, 0); /* 2^-126 as bf16, but a denormal as f32 */
    tw_eval_alu(TW_OP_FMA, TW_BF16, true, (uint64_t[]){0x3f7f, 0x8080, 0}, &out);
    assert_int_equal(out, 0x8000);
    assert_int_equal(tw_eval_convert_operand(TW_OP_FPTRUNC, TW_F32, true, 0x80700000), 0x80000000);
    assert_int_equal(tw_eval_convert_operand(TW_OP_FPTRUNC, TW_F32, false, 0x80700000), 0x80700000);
    assert_int_equal(tw_eval_convert_operand(TW_OP_FPEXT, TW_BF16, true, 0x8070), 0x8070); /* exact */
    assert_true(tw_eval_fcmp(TW_FOEQ, TW_F32, true, 0x00000001, 0x80000000));
    assert_false(tw_eval_fcmp(TW_FOEQ, TW_F32, false, 0x00000001, 0x80000000));
}

static void only_math_is_approximate(void **state) {
    (void)state;
    for (int opcode = TW_OP_EXP2; opcode <= TW_OP_RCP; opcode++)
        assert_true(tw_eval_is_approximate((tw_opcode)opcode));
    assert_false(tw_eval_is_approximate(TW_OP_ADD));
    assert_false(tw_eval_is_approximate(TW_OP_FDIV));
    assert_false(tw_eval_is_approximate(TW_OP_FMA));
}

static void integers_compare(void **state) {
    (void)state;
    /* for (1, 2), (2, 1), (1, 1), (0xff, 1): bit p is predicate p */
    static const struct {
        uint64_t a, b;
        unsigned holds;
    } rows[] = {
        {1, 2, 1 << TW_NE | 1 << TW_SLT | 1 << TW_SLE | 1 << TW_ULT | 1 << TW_ULE},
        {2, 1, 1 << TW_NE | 1 << TW_SGT | 1 << TW_SGE | 1 << TW_UGT | 1 << TW_UGE},
        {1, 1, 1 << TW_EQ | 1 << TW_SLE | 1 << TW_SGE | 1 << TW_ULE | 1 << TW_UGE},
        {0xff, 1, 1 << TW_NE | 1 << TW_SLT | 1 << TW_SLE | 1 << TW_UGT | 1 << TW_UGE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int p = TW_EQ; p <= TW_UGE; p++)
            assert_int_equal(tw_eval_icmp(p, TW_I8, rows[i].a, rows[i].b), rows[i].holds >> p & 1);
}

static void floats_compare(void **state) {
    (void)state;
    const unsigned less = 1 << TW_FONE | 1 << TW_FOLT | 1 << TW_FOLE | 1 << TW_FORD | 1 << TW_FUNE |
                          1 << TW_FULT | 1 << TW_FULE;
    const unsigned more = 1 << TW_FONE | 1 << TW_FOGT | 1 << TW_FOGE | 1 << TW_FORD | 1 << TW_FUNE |
                          1 << TW_FUGT | 1 << TW_FUGE;
    const unsigned same = 1 << TW_FOEQ | 1 << TW_FOLE | 1 << TW_FOGE | 1 << TW_FORD | 1 << TW_FUEQ |
                          1 << TW_FULE | 1 << TW_FUGE;
    const unsigned none = 1 << TW_FUEQ | 1 << TW_FUNE | 1 << TW_FULT | 1 << TW_FULE | 1 << TW_FUGT |
                          1 << TW_FUGE | 1 << TW_FUNO;
    for (int p = TW_FOEQ; p <= TW_FUNO; p++) {
        assert_int_equal(tw_eval_fcmp(p, TW_F16, false, 0xbc00, 0x3c00), less >> p & 1);
        assert_int_equal(tw_eval_fcmp(p, TW_F16, false, 0x3c00, 0xbc00), more >> p & 1);
        assert_int_equal(tw_eval_fcmp(p, TW_F16, false, 0x8000, 0x0000), same >> p & 1);
        assert_int_equal(tw_eval_fcmp(p, TW_F16, false, 0x7e00, 0x3c00), none >> p & 1);
        assert_int_equal(tw_eval_fcmp(p, TW_F16, false, 0x3c00, 0xfe00), none >> p & 1);
    }
}

static const struct {
    tw_opcode opcode;
    tw_scalar from, to;
    uint64_t in, out;
} convert_rows[] = {
    {TW_OP_SEXT, TW_I1, TW_I32, 1, 0xffffffff},
    {TW_OP_SEXT, TW_I8, TW_I64, 0x80, 0xffffffffffffff80},
    {TW_OP_ZEXT, TW_I8, TW_I64, 0x80, 0x80},
    {TW_OP_ZEXT, TW_I1, TW_I8, 1, 1},
    {TW_OP_TRUNC, TW_I64, TW_I16, 0x123456789abcdef0, 0xdef0},
    {TW_OP_TRUNC, TW_I32, TW_I1, 6, 0},
    {TW_OP_SITOFP, TW_I32, TW_F32, 16777217, 0x4b800000},
    {TW_OP_SITOFP, TW_I32, TW_F32, 16777219, 0x4b800002},
    {TW_OP_SITOFP, TW_I32, TW_F32, 0x80000000, 0xcf000000},
    /* 2^60 + 2^36 + 1 lies just above a tie, which a double rounds it to */
    {TW_OP_SITOFP, TW_I64, TW_F32, ((uint64_t)1 << 60) + ((uint64_t)1 << 36) + 1, 0x5d800001},
    {TW_OP_SITOFP, TW_I64, TW_F32, -(((uint64_t)1 << 60) + ((uint64_t)1 << 36) + 1), 0xdd800001},
    {TW_OP_SITOFP, TW_I64, TW_F32, ((uint64_t)1 << 60) + ((uint64_t)1 << 36), 0x5d800000},
    {TW_OP_SITOFP, TW_I64, TW_F32, (uint64_t)1 << 63, 0xdf000000},
    {TW_OP_UITOFP, TW_I64, TW_F32, UINT64_MAX, 0x5f800000},
    {TW_OP_UITOFP, TW_I1, TW_F32, 1, 0x3f800000},
    {TW_OP_SITOFP, TW_I8, TW_F16, 0xff, 0xbc00},
    {TW_OP_UITOFP, TW_I8, TW_BF16, 0xff, 0x437f},
    {TW_OP_UITOFP, TW_I32, TW_F16, 65519, 0x7bff},
    {TW_OP_UITOFP, TW_I32, TW_F16, 65520, 0x7c00},
    {TW_OP_FPTOSI, TW_F32, TW_I32, 0x4079999a, 3},
    {TW_OP_FPTOSI, TW_F32, TW_I32, 0xc079999a, (uint32_t)-3},
    {TW_OP_FPTOSI, TW_F32, TW_I32, 0x501502f9, 0x7fffffff}, /* 1e10 */
    {TW_OP_FPTOSI, TW_F32, TW_I32, 0xff800000, 0x80000000},
    {TW_OP_FPTOSI, TW_F32, TW_I32, 0x7fc00000, 0},
    {TW_OP_FPTOSI, TW_F32, TW_I64, 0x5f000000, INT64_MAX}, /* 2^63 */
    {TW_OP_FPTOSI, TW_F32, TW_I64, 0x5effffff, 0x7fffff8000000000},
    {TW_OP_FPTOSI, TW_F16, TW_I8, 0x5800, 127}, /* 128 */
    {TW_OP_FPTOUI, TW_F32, TW_I8, 0x43960000, 255},
    {TW_OP_FPTOUI, TW_F32, TW_I32, 0xbf800000, 0},
    {TW_OP_FPTOUI, TW_F32, TW_I64, 0x7f800000, UINT64_MAX},
    {TW_OP_FPTOUI, TW_F32, TW_I32, 0x4f7fffff, 0xffffff00},
    {TW_OP_FPTRUNC, TW_F32, TW_F16, 0x477ff000, 0x7c00}, /* 65520 */
    {TW_OP_FPTRUNC, TW_F32, TW_F16, 0x477fefff, 0x7bff},
    {TW_OP_FPTRUNC, TW_F32, TW_F16, 0x33000000, 0x0000}, /* 2^-25: a tie, to zero */
    {TW_OP_FPTRUNC, TW_F32, TW_F16, 0x33000001, 0x0001},
    {TW_OP_FPTRUNC, TW_F32, TW_BF16, 0x3f808000, 0x3f80},
    {TW_OP_FPTRUNC, TW_F32, TW_BF16, 0x3f818000, 0x3f82},
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E4M3, 0x447a0000, 0x7e}, /* 1000 to 448 */
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E4M3, 0xff800000, 0xfe},
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E4M3, 0x7fc00000, 0x7f},
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E5M2, 0x7f7fffff, 0x7b},
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E4M3FNUZ, 0x447a0000, 0x7f},
    {TW_OP_FPTRUNC_SAT, TW_F32, TW_F8E4M3FNUZ, 0x80000000, 0x00},
    {TW_OP_FPEXT, TW_F8E4M3, TW_F32, 0x38, 0x3f800000},
    {TW_OP_FPEXT, TW_F8E4M3FNUZ, TW_F32, 0x38, 0x3f000000},
    {TW_OP_FPEXT, TW_F16, TW_F32, 0x0001, 0x33800000},
    {TW_OP_FPEXT, TW_BF16, TW_F32, 0x0001, 0x00010000},
};

static void conversions(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof convert_rows / sizeof convert_rows[0]; i++) {
        uint64_t out;
        assert_true(tw_eval_convert(convert_rows[i].opcode, convert_rows[i].from, convert_rows[i].to,
                                    convert_rows[i].in, &out));
        if (out != convert_rows[i].out)
            fail_msg("row %zu: got 0x%llx, expected 0x%llx", i, (unsigned long long)out,
                     (unsigned long long)convert_rows[i].out);
    }
    uint64_t out;
    assert_false(tw_eval_convert(TW_OP_BITCAST, TW_F32, TW_I32, 0, &out));
    assert_false(tw_eval_convert(TW_OP_ADD, TW_I32, TW_I32, 0, &out));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(element_wise_ops),         cmocka_unit_test(flushed_denormals_count_as_zero),
        cmocka_unit_test(only_math_is_approximate), cmocka_unit_test(integers_compare),
        cmocka_unit_test(floats_compare),           cmocka_unit_test(conversions),
    };
    return cmocka_run_group_tests_name("eval", tests, NULL, NULL);
}
