/* Float arithmetic. Nothing carries a fast-math flag, so LLVM neither contracts nor reorders. */
#include "lower/lowering.h"

static const tw_type *result_type(const tw_lowering *l, const tw_op *op) {
    return tw_ll_type_of(l, op->first_result);
}

/* `value` in every lane, from a register that LLVM knows nothing of; `type` is of integers. */
static tw_ref hidden_constant(tw_lowering *l, const tw_type *type, int value) {
    const tw_type *element = tw_type_scalar(type->scalar), *lanes = tw_ll_like(type, TW_I32);
    const tw_type *word = type->scalar == TW_I16 ? tw_type_scalar(TW_I32) : element;
    tw_ref hidden = tw_ll_let(l, "call %t asm \"\", \"=s,0\"(%t %d)", word, word, value);
    if (word != element) hidden = tw_ll_let(l, "trunc %t %r to %t", word, hidden, element);
    if (type->lanes == 1) return hidden;
    hidden = tw_ll_let(l, "insertelement %t poison, %t %r, i32 0", type, element, hidden);
    return tw_ll_let(l, "shufflevector %t %r, %t poison, %t zeroinitializer", type, hidden, type, lanes);
}

/* LLVM takes +0 - x for -x, and gives -0 where x is +0. */
tw_ref tw_ll_minuend(tw_lowering *l, const tw_op *op) {
    tw_ref value = tw_ref_value(op->operands[0]);
    if (op->opcode != TW_OP_FSUB || !tw_ll_may_be_plus_zero(l, op->operands[0])) return value;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    const unsigned width = tw_scalar_bits(type->scalar);
    const tw_type *bits = tw_ll_like(type, width == 64 ? TW_I64 : width == 32 ? TW_I32 : TW_I16);
    value = tw_ll_let(l, "bitcast %t %r to %t", type, value, bits);
    value = tw_ll_let(l, "or %t %r, %r", bits, value, hidden_constant(l, bits, 0));
    return tw_ll_let(l, "bitcast %t %r to %t", bits, value, type);
}

void tw_ll_float_binary(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    if (tw_ll_flushes(l, type->scalar)) {
        tw_ll_flushed_binary(l, op, rule);
    } else if (type->scalar == TW_BF16) {
        tw_ll_bf16_binary(l, op, type, rule->word);
    } else {
        tw_ref a = tw_ll_minuend(l, op);
        tw_ll_set(l, op->first_result, "%s %t %r, %v", rule->word, type, a, op->operands[1]);
    }
}

/* LLVM's own division of 16-bit floats is correctly rounded in later releases only; an f32 quotient, rounded
 * again, is in all of them. LLVM must not make its own of it. */
void tw_ll_fdiv(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *floats = tw_ll_like(type, TW_F32);
    if (tw_ll_flushes(l, type->scalar)) {
        tw_ll_flushed_binary(l, op, rule);
        return;
    }
    if (type->scalar == TW_F32) {
        tw_ll_set(l, op->first_result, "fdiv %t %v, %v", type, op->operands[0], op->operands[1]);
        return;
    }
    tw_ref wide[2];
    for (unsigned i = 0; i < 2; i++) {
        tw_ref operand = tw_ref_value(op->operands[i]);
        wide[i] = type->scalar == TW_BF16 ? tw_ll_widen(l, type, operand)
                                          : tw_ll_let(l, "fpext %t %r to %t", type, operand, floats);
    }
    tw_ref quotient = tw_ll_let(l, "fdiv %t %r, %r", floats, wide[0], wide[1]);
    quotient = tw_ll_keep_apart(l, floats, quotient);
    if (type->scalar == TW_BF16) {
        tw_ref narrow = tw_ll_narrow(l, type, quotient);
        tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, narrow, type);
    } else {
        tw_ll_set(l, op->first_result, "fptrunc %t %r to %t", floats, quotient, type);
    }
}

void tw_ll_fma(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    if (tw_ll_flushes(l, type->scalar)) {
        tw_ll_flushed_fma(l, op, rule);
        return;
    }
    if (type->scalar == TW_BF16) {
        tw_ll_bf16_fma(l, op, type);
        return;
    }
    tw_ll_set(l, op->first_result, "call %t %G(%t %v, %t %v, %t %v)", type, TW_LL_FMA, type, type,
              op->operands[0], type, op->operands[1], type, op->operands[2]);
}

/* The sign of bf16 is changed with integers: no release needs more than one instruction for that. */
static void set_sign(tw_lowering *l, const tw_op *op, const tw_type *type, const char *word, uint64_t mask) {
    const tw_type *halves = tw_ll_like(type, TW_I16);
    tw_ref bits = tw_ll_let(l, "bitcast %t %v to %t", type, op->operands[0], halves);
    tw_ref changed = tw_ll_let(l, "%s %t %r, %c", word, halves, bits, halves, mask);
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", halves, changed, type);
}

/* LLVM makes a packed sum of two changes of the sign, which flushes denormals. It must not know that it is
 * the sign that an integer operation changes. */
static void flip_f32(tw_lowering *l, const tw_op *op, const tw_type *type) {
    const tw_type *words = tw_ll_like(type, TW_I32);
    tw_ref mask = hidden_constant(l, words, INT32_MIN);
    tw_ref bits = tw_ll_let(l, "bitcast %t %v to %t", type, op->operands[0], words);
    tw_ref changed = tw_ll_let(l, "xor %t %r, %r", words, bits, mask);
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", words, changed, type);
}

void tw_ll_fneg(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = result_type(l, op);
    if (type->scalar == TW_BF16) {
        set_sign(l, op, type, "xor", 0x8000);
    } else if (tw_ll_flushes(l, type->scalar) && tw_ll_feature(l, TW_ARCH_HAS_PACKED_F32)) {
        flip_f32(l, op, type);
    } else {
        tw_ll_set(l, op->first_result, "fneg %t %v", type, op->operands[0]);
    }
}

void tw_ll_fabs(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = result_type(l, op);
    if (type->scalar == TW_BF16) {
        set_sign(l, op, type, "and", 0x7fff);
    } else {
        tw_ll_set(l, op->first_result, "call %t %G(%t %v)", type, TW_LL_FABS, type, type, op->operands[0]);
    }
}

/* Minimum and maximum give one of their operands, and rounding to an integer gives no more digits than there
 * were: f32 does it for bf16 without rounding. Integers around it, as LLVM would otherwise expand its bf16
 * forms. */
void tw_ll_float_minmax(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *floats = tw_ll_like(type, TW_F32);
    tw_intrinsic key = rule->intrinsic;
    bool bf16 = type->scalar == TW_BF16;
    if (tw_ll_flushes(l, type->scalar)) {
        tw_ll_flushed_call(l, op, rule);
        return;
    }
    if (bf16 && !tw_ll_feature(l, TW_ARCH_HAS_PACKED_BF16)) {
        tw_ref a = tw_ll_widen_bits(l, type, tw_ref_value(op->operands[0]));
        tw_ref b = tw_ll_widen_bits(l, type, tw_ref_value(op->operands[1]));
        tw_ref f32 = tw_ll_let(l, "call %t %G(%t %r, %t %r)", floats, key, floats, floats, a, floats, b);
        tw_ref half = tw_ll_upper_half(l, type, f32);
        tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, half, type);
        return;
    }
    if (bf16) key = key == TW_LL_FMIN ? TW_LL_FMIN_BF16 : TW_LL_FMAX_BF16;
    tw_ll_set(l, op->first_result, "call %t %G(%t %v, %t %v)", type, key, type, type, op->operands[0], type,
              op->operands[1]);
}

void tw_ll_float_round(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *floats = tw_ll_like(type, TW_F32);
    if (tw_ll_flushes(l, type->scalar)) {
        tw_ll_flushed_call(l, op, rule);
    } else if (type->scalar == TW_BF16) {
        tw_ref a = tw_ll_widen_bits(l, type, tw_ref_value(op->operands[0]));
        tw_ref f32 = tw_ll_let(l, "call %t %G(%t %r)", floats, rule->intrinsic, floats, floats, a);
        tw_ref half = tw_ll_upper_half(l, type, f32);
        tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, half, type);
    } else {
        tw_ll_call1(l, op, rule);
    }
}

/* The hardware's approximations take one float. */
void tw_ll_each_lane(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    if (type->lanes == 1) {
        tw_ll_set(l, op->first_result, "call float %I(float %v)", rule->intrinsic, op->operands[0]);
        return;
    }
    tw_ref vector = tw_ref_text("poison");
    for (unsigned i = 0; i < type->lanes; i++) {
        tw_ref element = tw_ll_let(l, "extractelement %t %v, i32 %d", type, op->operands[0], (int)i);
        tw_ref result = tw_ll_let(l, "call float %I(float %r)", rule->intrinsic, element);
        if (i + 1u == type->lanes) {
            tw_ll_set(l, op->first_result, "insertelement %t %r, float %r, i32 %d", type, vector, result,
                      (int)i);
        } else {
            vector = tw_ll_let(l, "insertelement %t %r, float %r, i32 %d", type, vector, result, (int)i);
        }
    }
}
