/* bf16 <-> f32, and the arithmetic of bf16 that LLVM does not give exactly. A bf16 is the upper half of an
 * f32. */
#include "lower/lowering.h"

static bool has_bfloat(const tw_lowering *l) { return tw_flavor_has_bfloat(l->flavor); }

tw_ref tw_ll_widen_bits(tw_lowering *l, const tw_type *type, tw_ref value) {
    const tw_type *halves = tw_ll_like(type, TW_I16), *words = tw_ll_like(type, TW_I32);
    tw_ref half = tw_ll_let(l, "bitcast %t %r to %t", type, value, halves);
    tw_ref word = tw_ll_let(l, "zext %t %r to %t", halves, half, words);
    tw_ref bits = tw_ll_let(l, "shl %t %r, %c", words, word, words, (uint64_t)16);
    return tw_ll_let(l, "bitcast %t %r to %t", words, bits, tw_ll_like(type, TW_F32));
}

tw_ref tw_ll_widen(tw_lowering *l, const tw_type *type, tw_ref value) {
    if (!has_bfloat(l)) return tw_ll_widen_bits(l, type, value);
    return tw_ll_let(l, "fpext %t %r to %t", type, value, tw_ll_like(type, TW_F32));
}

static tw_ref upper_half_of_bits(tw_lowering *l, const tw_type *type, tw_ref bits) {
    const tw_type *halves = tw_ll_like(type, TW_I16), *words = tw_ll_like(type, TW_I32);
    tw_ref word = tw_ll_let(l, "lshr %t %r, %c", words, bits, words, (uint64_t)16);
    tw_ref half = tw_ll_let(l, "trunc %t %r to %t", words, word, halves);
    return tw_ll_let(l, "bitcast %t %r to %t", halves, half, type);
}

tw_ref tw_ll_upper_half(tw_lowering *l, const tw_type *type, tw_ref f32) {
    tw_ref bits =
        tw_ll_let(l, "bitcast %t %r to %t", tw_ll_like(type, TW_F32), f32, tw_ll_like(type, TW_I32));
    return upper_half_of_bits(l, type, bits);
}

tw_ref tw_ll_narrow(tw_lowering *l, const tw_type *type, tw_ref f32) {
    const tw_type *floats = tw_ll_like(type, TW_F32), *words = tw_ll_like(type, TW_I32);
    const tw_type *condition = tw_ll_like(type, TW_I1);
    if (has_bfloat(l)) return tw_ll_let(l, "fptrunc %t %r to %t", floats, f32, type);
    /* Adding 0x7fff, or 0x8000 where the upper half is odd, rounds to nearest even. A NaN must not turn into
     * an infinity: its quiet bit is set instead. */
    tw_ref bits = tw_ll_let(l, "bitcast %t %r to %t", floats, f32, words);
    tw_ref upper = tw_ll_let(l, "lshr %t %r, %c", words, bits, words, (uint64_t)16);
    tw_ref odd = tw_ll_let(l, "and %t %r, %c", words, upper, words, (uint64_t)1);
    tw_ref bias = tw_ll_let(l, "add %t %r, %c", words, odd, words, (uint64_t)0x7fff);
    tw_ref rounded = tw_ll_let(l, "add %t %r, %r", words, bits, bias);
    tw_ref quiet = tw_ll_let(l, "or %t %r, %c", words, bits, words, (uint64_t)0x400000);
    tw_ref nan = tw_ll_let(l, "fcmp uno %t %r, %r", floats, f32, f32);
    tw_ref chosen = tw_ll_let(l, "select %t %r, %t %r, %t %r", condition, nan, words, quiet, words, rounded);
    return upper_half_of_bits(l, type, chosen);
}

/* ---- packed instructions ---- */

/* LLVM makes scalar operations of a vector operation whose lanes it can see through, and its scalar product
 * and fma of bf16 are not exact: a product of -0 comes out as +0, an fma is rounded twice. So operands and
 * results of a packed instruction are hidden as one word. */

/* Lanes 2 * pair and 2 * pair + 1 as a hidden pair; the second is missing at the end of an odd vector. */
static tw_ref hidden_pair(tw_lowering *l, const tw_type *type, tw_value vector, unsigned pair) {
    const tw_type *two = tw_type_vector(TW_BF16, 2);
    tw_ref value = tw_ref_value(vector);
    if (type->lanes > 2 && 2 * pair + 1 < type->lanes) {
        value = tw_ll_slice(l, type, value, 2 * pair, 2);
    } else if (type->lanes != 2) {
        if (type->lanes > 1) value = tw_ll_slice(l, type, value, 2 * pair, 1);
        value = tw_ll_let(l, "insertelement %t poison, bfloat %r, i32 0", two, value);
    }
    tw_ref word = tw_ll_hide(l, tw_ll_let(l, "bitcast %t %r to i32", two, value));
    return tw_ll_let(l, "bitcast i32 %r to %t", word, two);
}

static tw_ref packed_result(tw_lowering *l, const tw_op *op, const tw_ref *operands) {
    const tw_type *two = tw_type_vector(TW_BF16, 2);
    tw_ref result = op->opcode == TW_OP_FMUL
                        ? tw_ll_let(l, "fmul %t %r, %r", two, operands[0], operands[1])
                        : tw_ll_let(l, "call %t %G(%t %r, %t %r, %t %r)", two, TW_LL_FMA, two, two,
                                    operands[0], two, operands[1], two, operands[2]);
    tw_ref word = tw_ll_hide(l, tw_ll_let(l, "bitcast %t %r to i32", two, result));
    return tw_ll_let(l, "bitcast i32 %r to %t", word, two);
}

/* fmul and fma, two lanes at once. */
static void packed(tw_lowering *l, const tw_op *op, const tw_type *type) {
    const tw_type *two = tw_type_vector(TW_BF16, 2);
    tw_ref vector = tw_ref_text("poison");
    for (unsigned pair = 0; 2 * pair < type->lanes; pair++) {
        tw_ref operands[3];
        for (uint32_t i = 0; i < op->operand_count; i++)
            operands[i] = hidden_pair(l, type, op->operands[i], pair);
        tw_ref result = packed_result(l, op, operands);
        for (unsigned lane = 2 * pair; lane < 2 * pair + 2 && lane < type->lanes; lane++) {
            tw_ref element = tw_ll_slice(l, two, result, lane % 2, 1);
            vector = type->lanes == 1 ? element
                                      : tw_ll_let(l, "insertelement %t %r, bfloat %r, i32 %d", type, vector,
                                                  element, (int)lane);
        }
    }
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, vector, type);
}

/* ---- arithmetic ---- */

static void set_narrow(tw_lowering *l, const tw_op *op, const tw_type *type, tw_ref f32) {
    tw_ref narrow = tw_ll_narrow(l, type, f32);
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, narrow, type);
}

/* Sums, differences and products: f32 has more than twice the digits of bf16 and two more, so that rounding
 * its result again gives what one rounding does. LLVM does the same where it knows bf16. */
void tw_ll_bf16_binary(tw_lowering *l, const tw_op *op, const tw_type *type, const char *word) {
    bool product = op->opcode == TW_OP_FMUL;
    if (product && tw_ll_feature(l, TW_ARCH_HAS_PACKED_BF16)) {
        packed(l, op, type);
    } else if (has_bfloat(l)) {
        tw_ref a = tw_ll_minuend(l, op);
        tw_ll_set(l, op->first_result, "%s %t %r, %v", word, type, a, op->operands[1]);
    } else {
        tw_ref a = tw_ll_widen(l, type, tw_ll_minuend(l, op));
        tw_ref b = tw_ll_widen(l, type, tw_ref_value(op->operands[1]));
        set_narrow(l, op, type, tw_ll_let(l, "%s %t %r, %r", word, tw_ll_like(type, TW_F32), a, b));
    }
}

#define DOUBLE(lanes) "double", (lanes)

/* What a * b + c, of which `sum` is the nearest f32, is more than `sum`: a double with the right sign, 0
 * where it is nothing. The product of two bf16 is exact in a double, and so is the difference of the larger
 * summand and the sum. */
static tw_ref fma_remainder(tw_lowering *l, const tw_type *floats, const tw_ref f32[3], tw_ref sum) {
    const tw_type *condition = tw_ll_like(floats, TW_I1);
    unsigned n = floats->lanes;
    tw_ref nearly = tw_ll_let(l, "fmul %t %r, %r", floats, f32[0], f32[1]); /* enough to compare sizes */
    tw_ref size0 = tw_ll_let(l, "call %t %G(%t %r)", floats, TW_LL_FABS, floats, floats, nearly);
    tw_ref size1 = tw_ll_let(l, "call %t %G(%t %r)", floats, TW_LL_FABS, floats, floats, f32[2]);
    tw_ref order = tw_ll_let(l, "fcmp oge %t %r, %r", floats, size0, size1);
    tw_ref a = tw_ll_let(l, "fpext %t %r to %n", floats, f32[0], DOUBLE(n));
    tw_ref b = tw_ll_let(l, "fpext %t %r to %n", floats, f32[1], DOUBLE(n));
    tw_ref c = tw_ll_let(l, "fpext %t %r to %n", floats, f32[2], DOUBLE(n));
    tw_ref rounded = tw_ll_let(l, "fpext %t %r to %n", floats, sum, DOUBLE(n));
    tw_ref product = tw_ll_let(l, "fmul %n %r, %r", DOUBLE(n), a, b);
    tw_ref large =
        tw_ll_let(l, "select %t %r, %n %r, %n %r", condition, order, DOUBLE(n), product, DOUBLE(n), c);
    tw_ref small =
        tw_ll_let(l, "select %t %r, %n %r, %n %r", condition, order, DOUBLE(n), c, DOUBLE(n), product);
    tw_ref rest = tw_ll_let(l, "fsub %n %r, %r", DOUBLE(n), large, rounded);
    return tw_ll_let(l, "fadd %n %r, %r", DOUBLE(n), rest, small);
}

/* An f32 fma rounds once to f32, and rounding that to bf16 goes wrong exactly where it lies halfway between
 * two bf16 while the true result does not: there it is moved by one unit toward the true result. */
void tw_ll_bf16_exact_fma(tw_lowering *l, const tw_op *op, const tw_type *type, const tw_ref f32[3],
                          bool flush) {
    const tw_type *floats = tw_ll_like(type, TW_F32), *words = tw_ll_like(type, TW_I32);
    const tw_type *condition = tw_ll_like(type, TW_I1);
    unsigned n = type->lanes;
    tw_ref sum = tw_ll_let(l, "call %t %G(%t %r, %t %r, %t %r)", floats, TW_LL_FMA, floats, floats, f32[0],
                           floats, f32[1], floats, f32[2]);
    if (flush) sum = tw_ll_keep_apart(l, floats, sum);
    tw_ref remainder = fma_remainder(l, floats, f32, sum);
    tw_ref bits = tw_ll_let(l, "bitcast %t %r to %t", floats, sum, words);
    tw_ref lower = tw_ll_let(l, "and %t %r, %c", words, bits, words, (uint64_t)0xffff);
    tw_ref halfway = tw_ll_let(l, "icmp eq %t %r, %c", words, lower, words, (uint64_t)0x8000);
    tw_ref inexact = tw_ll_let(l, "fcmp one %n %r, zeroinitializer", DOUBLE(n), remainder);
    tw_ref below = tw_ll_let(l, "fcmp olt %n %r, zeroinitializer", DOUBLE(n), remainder);
    tw_ref negative = tw_ll_let(l, "icmp slt %t %r, zeroinitializer", words, bits);
    tw_ref inward = tw_ll_let(l, "xor %t %r, %r", condition, below, negative);
    tw_ref unit = tw_ll_let(l, "select %t %r, %t %c, %t %c", condition, inward, words, words,
                            (uint64_t)0xffffffff, words, words, (uint64_t)1);
    tw_ref move = tw_ll_let(l, "and %t %r, %r", condition, halfway, inexact);
    tw_ref step =
        tw_ll_let(l, "select %t %r, %t %r, %t zeroinitializer", condition, move, words, unit, words);
    tw_ref moved = tw_ll_let(l, "add %t %r, %r", words, bits, step);
    set_narrow(l, op, type, tw_ll_let(l, "bitcast %t %r to %t", words, moved, floats));
}

void tw_ll_bf16_fma(tw_lowering *l, const tw_op *op, const tw_type *type) {
    if (tw_ll_feature(l, TW_ARCH_HAS_PACKED_BF16)) {
        packed(l, op, type);
    } else {
        tw_ref f32[3];
        for (unsigned i = 0; i < 3; i++)
            f32[i] = tw_ll_widen(l, type, tw_ref_value(op->operands[i]));
        tw_ll_bf16_exact_fma(l, op, type, f32, false);
    }
}
