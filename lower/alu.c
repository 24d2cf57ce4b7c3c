/* Integers, comparisons and choice. */
#include "lower/lowering.h"

static const tw_type *result_type(const tw_lowering *l, const tw_op *op) {
    return tw_ll_type_of(l, op->first_result);
}

void tw_ll_binary(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    tw_ll_set(l, op->first_result, "%s %t %v, %v", rule->word, result_type(l, op), op->operands[0],
              op->operands[1]);
}

void tw_ll_convert(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    tw_ll_set(l, op->first_result, "%s %t %v to %t", rule->word, tw_ll_type_of(l, op->operands[0]),
              op->operands[0], result_type(l, op));
}

void tw_ll_call1(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    tw_ll_set(l, op->first_result, "call %t %G(%t %v)", type, rule->intrinsic, type, type, op->operands[0]);
}

void tw_ll_call2(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    tw_ll_set(l, op->first_result, "call %t %G(%t %v, %t %v)", type, rule->intrinsic, type, type,
              op->operands[0], type, op->operands[1]);
}

void tw_ll_mulhi(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *wide = tw_ll_like(type, TW_I64);
    tw_ref a = tw_ll_let(l, "%s %t %v to %t", rule->word, type, op->operands[0], wide);
    tw_ref b = tw_ll_let(l, "%s %t %v to %t", rule->word, type, op->operands[1], wide);
    tw_ref product = tw_ll_let(l, "mul %t %r, %r", wide, a, b);
    tw_ref high = tw_ll_let(l, "lshr %t %r, %c", wide, product, wide, (uint64_t)32);
    tw_ll_set(l, op->first_result, "trunc %t %r to %t", wide, high, type);
}

/* The amount counts modulo the width: LLVM makes poison of any other. The hardware does the same, so the mask
 * costs an instruction only where elements are narrower than 32 bits. */
void tw_ll_shift(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op);
    uint64_t mask = tw_scalar_bits(type->scalar) - 1, amount;
    if (tw_ll_known(l, op->operands[1], &amount)) {
        tw_ll_set(l, op->first_result, "%s %t %v, %c", rule->word, type, op->operands[0], type,
                  amount & mask);
    } else {
        tw_ref masked = tw_ll_let(l, "and %t %v, %c", type, op->operands[1], type, mask);
        tw_ll_set(l, op->first_result, "%s %t %v, %r", rule->word, type, op->operands[0], masked);
    }
}

/* ---- division ---- */

static uint64_t ones(const tw_type *type) { return UINT64_MAX >> (64 - tw_scalar_bits(type->scalar)); }

/* A division by 0, and a signed one that overflows, is undefined behaviour to LLVM: such lanes divide by 1.
 * freeze gives an uninitialised operand one value, the same for the test and for the division. */
void tw_ll_division(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *condition = tw_ll_like(type, TW_I1);
    uint64_t divisor;
    if (tw_ll_known(l, op->operands[1], &divisor)) {
        tw_ll_set(l, op->first_result, "%s %t %v, %c", rule->word, type, op->operands[0], type,
                  divisor ? divisor : (uint64_t)1);
        return;
    }
    tw_ref b = tw_ll_let(l, "freeze %t %v", type, op->operands[1]);
    tw_ref zero = tw_ll_let(l, "icmp eq %t %r, %c", type, b, type, (uint64_t)0);
    tw_ref safe =
        tw_ll_let(l, "select %t %r, %t %c, %t %r", condition, zero, type, type, (uint64_t)1, type, b);
    tw_ll_set(l, op->first_result, "%s %t %v, %r", rule->word, type, op->operands[0], safe);
}

void tw_ll_signed_division(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *type = result_type(l, op), *condition = tw_ll_like(type, TW_I1);
    uint64_t divisor, sign = (uint64_t)1 << (tw_scalar_bits(type->scalar) - 1);
    if (tw_ll_known(l, op->operands[1], &divisor) && divisor != ones(type)) {
        tw_ll_division(l, op, rule);
        return;
    }
    tw_ref a = tw_ll_let(l, "freeze %t %v", type, op->operands[0]);
    tw_ref b = tw_ll_let(l, "freeze %t %v", type, op->operands[1]);
    tw_ref zero = tw_ll_let(l, "icmp eq %t %r, %c", type, b, type, (uint64_t)0);
    tw_ref least = tw_ll_let(l, "icmp eq %t %r, %c", type, a, type, sign);
    tw_ref minus_one = tw_ll_let(l, "icmp eq %t %r, %c", type, b, type, ones(type));
    tw_ref overflow = tw_ll_let(l, "and %t %r, %r", condition, least, minus_one);
    tw_ref bad = tw_ll_let(l, "or %t %r, %r", condition, zero, overflow);
    tw_ref safe =
        tw_ll_let(l, "select %t %r, %t %c, %t %r", condition, bad, type, type, (uint64_t)1, type, b);
    tw_ll_set(l, op->first_result, "%s %t %r, %r", rule->word, type, a, safe);
}

/* ---- comparison and choice ---- */

void tw_ll_icmp(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const char *predicate = tw_op_info_get(op->opcode)->attrs[0].words[op->attrs[0].as.i];
    tw_ll_set(l, op->first_result, "icmp %s %t %v, %v", predicate, tw_ll_type_of(l, op->operands[0]),
              op->operands[0], op->operands[1]);
}

void tw_ll_fcmp(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const char *predicate = tw_op_info_get(op->opcode)->attrs[0].words[op->attrs[0].as.i];
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ref a = tw_ref_value(op->operands[0]), b = tw_ref_value(op->operands[1]);
    if (tw_ll_flushes(l, type->scalar)) {
        a = tw_ll_flushed_operand(l, op, 0);
        b = tw_ll_flushed_operand(l, op, 1);
        type = tw_ll_like(type, TW_F32);
    } else if (type->scalar == TW_BF16) {
        a = tw_ll_widen(l, type, a);
        b = tw_ll_widen(l, type, b);
        type = tw_ll_like(type, TW_F32);
    }
    tw_ll_set(l, op->first_result, "fcmp %s %t %r, %r", predicate, type, a, b);
}

void tw_ll_select(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = result_type(l, op);
    tw_ll_set(l, op->first_result, "select %t %v, %t %v, %t %v", tw_ll_type_of(l, op->operands[0]),
              op->operands[0], type, op->operands[1], type, op->operands[2]);
}
