/* Arithmetic in kernels that flush f32 denormals.
 *
 * The hardware's mode does it, as long as LLVM leaves the instructions there: LLVM drops a product with 1 or
 * a sum with -0, computes constants through intrinsics without the mode, and compares constants without it.
 * So operands and results pass through llvm.canonicalize, which LLVM removes where an instruction in that
 * mode has just made the value. bf16 has no mode of its own on most targets; it is computed in f32
 * everywhere. */
#include "lower/lowering.h"

bool tw_ll_flushes(const tw_lowering *l, tw_scalar scalar) {
    return l->kernel->options.flush_f32_denormals && (scalar == TW_F32 || scalar == TW_BF16);
}

/* Made by an op that gives no denormals. */
static bool is_flushed(const tw_lowering *l, tw_value value) {
    const tw_op *op = tw_value_get(l->kernel, value)->op;
    switch (op ? op->opcode : TW_OP_INVALID) {
    case TW_OP_FADD:
    case TW_OP_FSUB:
    case TW_OP_FMUL:
    case TW_OP_FDIV:
    case TW_OP_FMA:
    case TW_OP_FMIN:
    case TW_OP_FMAX:
    case TW_OP_FLOOR:
    case TW_OP_CEIL:
    case TW_OP_FTRUNC:
    case TW_OP_RINT:
    case TW_OP_SITOFP:
    case TW_OP_UITOFP:
    case TW_OP_WAVE_REDUCE: return true;
    default: return false;
    }
}

tw_ref tw_ll_flushed_operand(tw_lowering *l, const tw_op *op, unsigned index) {
    tw_value value = op->operands[index];
    const tw_type *type = tw_ll_type_of(l, value), *floats = tw_ll_like(type, TW_F32);
    tw_ref x = index ? tw_ref_value(value) : tw_ll_minuend(l, op);
    if (type->scalar == TW_BF16) x = tw_ll_widen_bits(l, type, x);
    return is_flushed(l, value) ? x : tw_ll_keep_apart(l, floats, x);
}

/* Takes an f32 result, rounds it where `rounds`, else takes the half of it that holds all its digits. */
static void set_result(tw_lowering *l, const tw_op *op, tw_ref f32, bool rounds) {
    const tw_type *type = tw_ll_type_of(l, op->first_result), *floats = tw_ll_like(type, TW_F32);
    if (type->scalar == TW_F32) {
        tw_ll_set(l, op->first_result, "call %t %G(%t %r)", type, TW_LL_CANONICALIZE, type, type, f32);
        return;
    }
    f32 = tw_ll_keep_apart(l, floats, f32);
    tw_ref half = rounds ? tw_ll_narrow(l, type, f32) : tw_ll_upper_half(l, type, f32);
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, half, type);
}

void tw_ll_flushed_binary(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *floats = tw_ll_like(tw_ll_type_of(l, op->first_result), TW_F32);
    tw_ref a = tw_ll_flushed_operand(l, op, 0), b = tw_ll_flushed_operand(l, op, 1);
    const char *word = op->opcode == TW_OP_FDIV ? "fdiv" : rule->word;
    set_result(l, op, tw_ll_let(l, "%s %t %r, %r", word, floats, a, b), true);
}

void tw_ll_flushed_fma(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result);
    tw_ref x[3];
    for (unsigned i = 0; i < 3; i++)
        x[i] = tw_ll_flushed_operand(l, op, i);
    if (type->scalar == TW_BF16) {
        tw_ll_bf16_exact_fma(l, op, type, x, true);
        return;
    }
    tw_ref sum = tw_ll_let(l, "call %t %G(%t %r, %t %r, %t %r)", type, TW_LL_FMA, type, type, x[0], type,
                           x[1], type, x[2]);
    set_result(l, op, sum, true);
}

void tw_ll_flushed_call(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *floats = tw_ll_like(tw_ll_type_of(l, op->first_result), TW_F32);
    tw_ref a = tw_ll_flushed_operand(l, op, 0), result;
    if (op->operand_count == 1) {
        result = tw_ll_let(l, "call %t %G(%t %r)", floats, rule->intrinsic, floats, floats, a);
    } else {
        tw_ref b = tw_ll_flushed_operand(l, op, 1);
        result =
            tw_ll_let(l, "call %t %G(%t %r, %t %r)", floats, rule->intrinsic, floats, floats, a, floats, b);
    }
    set_result(l, op, result, false);
}
