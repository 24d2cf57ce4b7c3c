/* Which f32 values may be products when LLVM has simplified the kernel.
 *
 * LLVM makes one mixed instruction of a product that is rounded to f16 or bf16, "v_fma_mixlo a, b, 0": it
 * adds +0, so that a product of -0 comes out as +0. Where a value that is rounded may be a product, the
 * lowerer puts llvm.canonicalize between the two: no instruction, as products are canonical. Elsewhere it
 * would cost one. */
#include "lower/lowering.h"

#define VISITS 64 /* values looked at for one answer; past them the answer is yes */

typedef struct search {
    const tw_lowering *l;
    unsigned visits;
    bool loads; /* the answer for what comes from memory */
} search;

typedef bool question(search *s, tw_value value);

/* What a value that is passed on may be: the answer for any of its sources. */
static bool any_operand(search *s, const tw_op *op, uint32_t first, question *ask) {
    for (uint32_t i = first; i < op->operand_count; i++)
        if (ask(s, op->operands[i])) return true;
    return false;
}

/* A result of scf.for or scf.if, or a carried value. */
static bool any_yielded(search *s, const tw_op *op, uint32_t index, question *ask) {
    if (op->opcode == TW_OP_FOR && ask(s, op->operands[index + 3])) return true;
    for (uint32_t i = 0; i < op->block_count; i++)
        if (ask(s, op->blocks[i].last->operands[index])) return true;
    return false;
}

/* Sets *answer for arguments of blocks, and for ops that pass values on. */
static bool is_passed_on(search *s, tw_value value, question *ask, bool *answer) {
    const tw_value_info *info = tw_value_get(s->l->kernel, value);
    *answer = true;
    if (!s->visits) return true;
    s->visits--;
    *answer = false;
    if (!info->op) { /* a parameter, the index of a loop or what it carries */
        if (info->block->parent && info->index)
            *answer = any_yielded(s, info->block->parent, info->index - 1, ask);
        return true;
    }
    switch (info->op->opcode) {
    case TW_OP_FOR:
    case TW_OP_IF: *answer = any_yielded(s, info->op, info->index, ask); return true;
    case TW_OP_SELECT: *answer = any_operand(s, info->op, 1, ask); return true;
    case TW_OP_BITCAST:
    case TW_OP_VECTOR_BUILD:
    case TW_OP_VECTOR_EXTRACT:
    case TW_OP_VECTOR_INSERT:
    case TW_OP_VECTOR_SPLAT:
    case TW_OP_VECTOR_SHUFFLE: *answer = any_operand(s, info->op, 0, ask); return true;
    default: return false;
    }
}

static bool is_constant(const tw_lowering *l, tw_value value, uint64_t *bits) {
    const tw_op *op = tw_value_get(l->kernel, value)->op;
    if (!op || op->opcode != TW_OP_CONSTANT) return false;
    *bits = (uint64_t)op->attrs[0].as.i;
    return true;
}

/* LLVM computes the value: everything that goes into it is constant. */
static bool is_computed(search *s, tw_value value) {
    uint64_t bits;
    if (is_constant(s->l, value, &bits)) return true;
    if (!s->visits) return true;
    s->visits--;
    const tw_op *op = tw_value_get(s->l->kernel, value)->op;
    if (!op || !op->operand_count || op->block_count) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!is_computed(s, op->operands[i])) return false;
    return true;
}

static bool may_be_zero(search *s, tw_value value, question *ask, uint64_t wanted) {
    bool answer;
    uint64_t bits;
    if (is_passed_on(s, value, ask, &answer)) return answer;
    if (is_constant(s->l, value, &bits)) return bits == wanted;
    return is_computed(s, value);
}

static bool may_be_plus_zero(search *s, tw_value value) { return may_be_zero(s, value, may_be_plus_zero, 0); }
static bool may_be_minus_zero(search *s, tw_value value) {
    return may_be_zero(s, value, may_be_minus_zero, 0x80000000);
}

static bool may_be_product(search *s, tw_value value) {
    bool answer;
    if (is_passed_on(s, value, may_be_product, &answer)) return answer;
    const tw_op *op = tw_value_get(s->l->kernel, value)->op;
    switch (op->opcode) {
    case TW_OP_FMUL:
    case TW_OP_FDIV: return true; /* by a constant: a product with its reciprocal */
    case TW_OP_FNEG:
    case TW_OP_FABS:
    case TW_OP_FMIN:
    case TW_OP_FMAX: return any_operand(s, op, 0, may_be_product);
    /* Adding -0 and subtracting +0 are dropped; subtracting from -0 is a change of the sign. */
    case TW_OP_FMA: return may_be_minus_zero(s, op->operands[2]);
    case TW_OP_FADD: return any_operand(s, op, 0, may_be_minus_zero);
    case TW_OP_FSUB:
        return may_be_minus_zero(s, op->operands[0]) || may_be_minus_zero(s, op->operands[1]) ||
               may_be_plus_zero(s, op->operands[1]);
    case TW_OP_GLOBAL_LOAD:
    case TW_OP_LDS_LOAD: return s->loads;
    default: return false;
    }
}

bool tw_ll_may_be_plus_zero(const tw_lowering *l, tw_value value) {
    search s = {l, VISITS, false};
    return may_be_plus_zero(&s, value);
}

static bool ask(const tw_lowering *l, tw_value value, bool loads) {
    search s = {l, VISITS, loads};
    return may_be_product(&s, value);
}

/* The kernel stores an f32 that may be a product: a load of the same place may be given the product itself.
 */
static bool stores_product(const tw_lowering *l, const tw_block *block) {
    for (const tw_op *op = block->first; op; op = op->next) {
        bool stores = op->opcode == TW_OP_GLOBAL_STORE || op->opcode == TW_OP_LDS_STORE;
        if (stores && tw_ll_type_of(l, op->operands[0])->scalar == TW_F32 && ask(l, op->operands[0], false))
            return true;
        for (uint32_t i = 0; i < op->block_count; i++)
            if (stores_product(l, &op->blocks[i])) return true;
    }
    return false;
}

bool tw_ll_may_be_product(tw_lowering *l, tw_value value) {
    if (ask(l, value, false)) return true;
    if (!ask(l, value, true)) return false;
    if (l->stores_product == TW_UNKNOWN)
        l->stores_product = stores_product(l, &l->kernel->body) ? TW_YES : TW_NO;
    return l->stores_product == TW_YES;
}
