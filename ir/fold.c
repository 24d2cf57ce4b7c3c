/* Constant folding: ops of constants become constants where they stand, ops that change nothing are passed
 * by, loops of at most one round and branches of known conditions are opened; and common subexpressions
 * (ir/cse.c). One walk in program order: operands are final when their op is reached, so what one of the two
 * makes possible for the other further on is done in the same walk. */
#include "ir/fold.h"
#include "ir/cse.h"
#include "ir/eval.h"

#include "support/fail.h"

/* What a walk does. */
enum { FOLD = 1, FIND_EQUAL = 2 };

typedef struct folder {
    tw_kernel *kernel;
    tw_value *instead; /* by value: what stands for it, or poison */
    unsigned does;
    tw_cse cse;
    bool changed;
} folder;

/* What stands for the value now. Follows replacements of replacements and shortens the way for the next time.
 */
static tw_value current(folder *f, tw_value value) {
    tw_value end = value;
    while (f->instead[end.id].id)
        end = f->instead[end.id];
    while (value.id != end.id) {
        tw_value next = f->instead[value.id];
        f->instead[value.id] = end;
        value = next;
    }
    return end;
}

static void rewrite_operands(folder *f, tw_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        tw_value value = current(f, op->operands[i]);
        if (value.id == op->operands[i].id) continue;
        op->operands[i] = value;
        f->changed = true;
    }
}

static void replace(folder *f, tw_value value, tw_value instead) { f->instead[value.id] = instead; }

static void become_constant(folder *f, tw_op *op, uint64_t bits) {
    op->opcode = TW_OP_CONSTANT;
    op->operand_count = 0;
    op->attrs[0] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)bits};
    f->changed = true;
}

/* ---- ops without regions ---- */

/* All operands are constants: evaluates the op for one element. */
static bool fold_constants(const folder *f, const tw_op *op, uint64_t *out) {
    uint64_t in[3] = {0};
    if (!op->operand_count || op->operand_count > 3 || op->result_count != 1) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!tw_is_constant(f->kernel, op->operands[i], &in[i])) return false;
    tw_scalar from = tw_type_of(f->kernel, op->operands[0])->scalar;
    const tw_type *type = tw_type_of(f->kernel, op->first_result);
    if (!tw_type_in_class(type, T_LOGIC_OR_FLOAT)) return false;
    if (op->opcode == TW_OP_ICMP || op->opcode == TW_OP_FCMP)
        return tw_fold_compare(f->kernel, op, from, in, out);
    if (op->operand_count == 1 && tw_fold_convert(f->kernel, op, from, type->scalar, in[0], out)) return true;
    return tw_fold_element(f->kernel, op, from, in, out);
}

static void pass_by(folder *f, tw_op *op, tw_value instead) {
    replace(f, op->first_result, instead);
    tw_block_remove(op);
    f->changed = true;
}

/* False when the op is gone. */
static bool fold_simple(folder *f, tw_op *op) {
    uint64_t bits;
    if (fold_constants(f, op, &bits)) {
        become_constant(f, op, bits);
        return true;
    }
    tw_fold fold = tw_fold_identity(f->kernel, op);
    if (fold.kind == TW_FOLD_TO_BITS) become_constant(f, op, fold.bits);
    if (fold.kind != TW_FOLD_TO_VALUE) return true;
    pass_by(f, op, fold.value);
    return false;
}

static tw_op *visit_simple(folder *f, tw_op *op) {
    tw_op *next = op->next;
    if (f->does & FOLD && !fold_simple(f, op)) return next;
    const tw_op *equal = f->does & FIND_EQUAL ? tw_cse_find_or_add(&f->cse, op) : NULL;
    if (equal) pass_by(f, op, equal->first_result);
    return next;
}

/* ---- regions ---- */

static void replace_results(folder *f, const tw_op *op, const tw_value *values) {
    for (uint32_t i = 0; i < op->result_count; i++)
        replace(f, tw_op_result(op, i), values[i]);
}

static tw_op *drop(folder *f, tw_op *op) {
    tw_op *next = op->next;
    tw_block_remove(op);
    f->changed = true;
    return next;
}

/* The region's ops take the place of its op, whose results are what the region yields. Returns where the walk
 * goes on: at the first of them. */
static tw_op *open_region(folder *f, tw_op *op, tw_block *region) {
    tw_op *yield = region->last, *first = region->first;
    replace_results(f, op, yield->operands);
    while (region->first != yield) {
        tw_op *inner = region->first;
        tw_block_remove(inner);
        tw_block_insert_before(op, inner);
    }
    tw_op *next = drop(f, op);
    return first == yield ? next : first;
}

typedef enum rounds { ROUNDS_UNKNOWN, ROUNDS_NONE, ROUNDS_ONE } rounds;

static rounds count_rounds(const folder *f, const tw_op *op) {
    uint64_t from, to, step;
    if (!(f->does & FOLD)) return ROUNDS_UNKNOWN;
    if (op->operands[0].id == op->operands[1].id) return ROUNDS_NONE;
    if (!tw_is_constant(f->kernel, op->operands[0], &from) ||
        !tw_is_constant(f->kernel, op->operands[1], &to))
        return ROUNDS_UNKNOWN;
    unsigned width = tw_type_bits(tw_type_of(f->kernel, op->operands[0]));
    if (tw_sign_extend(from, width) >= tw_sign_extend(to, width)) return ROUNDS_NONE;
    if (!tw_is_constant(f->kernel, op->operands[2], &step)) return ROUNDS_UNKNOWN;
    return ((to - from) & tw_width_mask(width)) <= step ? ROUNDS_ONE : ROUNDS_UNKNOWN;
}

static void fold_block(folder *f, tw_block *block);

static tw_op *fold_for(folder *f, tw_op *op) {
    tw_block *body = &op->blocks[0];
    switch (count_rounds(f, op)) {
    case ROUNDS_NONE: replace_results(f, op, op->operands + 3); return drop(f, op);
    case ROUNDS_ONE:
        replace(f, body->args[0], op->operands[0]);
        for (uint32_t i = 0; i < op->result_count; i++)
            replace(f, body->args[1 + i], op->operands[3 + i]);
        return open_region(f, op, body);
    case ROUNDS_UNKNOWN: break;
    }
    fold_block(f, body);
    return op->next;
}

static tw_op *fold_if(folder *f, tw_op *op) {
    uint64_t condition;
    if (f->does & FOLD && tw_is_constant(f->kernel, op->operands[0], &condition)) {
        uint32_t region = condition ? 0 : 1;
        return region < op->block_count ? open_region(f, op, &op->blocks[region]) : drop(f, op);
    }
    for (uint32_t i = 0; i < op->block_count; i++)
        fold_block(f, &op->blocks[i]);
    return op->next;
}

static void fold_block(folder *f, tw_block *block) {
    uint32_t known = f->cse.entry_count;
    for (tw_op *op = block->first; op;) {
        rewrite_operands(f, op);
        if (op->opcode == TW_OP_FOR) {
            op = fold_for(f, op);
        } else if (op->opcode == TW_OP_IF) {
            op = fold_if(f, op);
        } else {
            op = visit_simple(f, op);
        }
    }
    tw_cse_forget(&f->cse, known);
}

static tw_status walk(tw_kernel *kernel, unsigned does, bool *changed, tw_diag *diag) {
    tw_arena scratch;
    tw_arena_init(&scratch, kernel->ctx->allocator);
    folder f = {.kernel = kernel,
                .does = does,
                .instead = TW_ARENA_NEW(&scratch, tw_value, (size_t)kernel->value_count + 1)};
    bool ok = f.instead && (!(does & FIND_EQUAL) || tw_cse_init(&f.cse, kernel, &scratch));
    if (ok) fold_block(&f, &kernel->body);
    tw_arena_free(&scratch);
    if (!ok) return tw_fail_no_memory(diag);
    *changed |= f.changed;
    kernel->verified &= !f.changed;
    return TW_OK;
}

tw_status tw_pass_fold(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    return walk(kernel, FOLD, changed, diag);
}

tw_status tw_pass_cse(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    return walk(kernel, FIND_EQUAL, changed, diag);
}

tw_status tw_pass_simplify(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    return walk(kernel, FOLD | FIND_EQUAL, changed, diag);
}
