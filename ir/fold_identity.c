/* Algebra that is exact for every operand, and vectors whose lanes are known. */
#include "ir/eval.h"
#include "ir/fold.h"

static tw_fold nothing(void) { return (tw_fold){.kind = TW_FOLD_NOTHING}; }
static tw_fold to_bits(uint64_t bits) { return (tw_fold){.kind = TW_FOLD_TO_BITS, .bits = bits}; }
static tw_fold to_value(tw_value value) { return (tw_fold){.kind = TW_FOLD_TO_VALUE, .value = value}; }

bool tw_is_constant(const tw_kernel *kernel, tw_value value, uint64_t *bits) {
    const tw_op *op = tw_value_get(kernel, value)->op;
    if (!op || op->opcode != TW_OP_CONSTANT) return false;
    *bits = (uint64_t)op->attrs[0].as.i;
    return true;
}

/* ---- integers ---- */

/* x and x. */
static tw_fold fold_same(const tw_op *op) {
    switch (op->opcode) {
    case TW_OP_SUB:
    case TW_OP_XOR: return to_bits(0);
    case TW_OP_AND:
    case TW_OP_OR:
    case TW_OP_SMIN:
    case TW_OP_SMAX:
    case TW_OP_UMIN:
    case TW_OP_UMAX: return to_value(op->operands[0]);
    default: return nothing();
    }
}

/* x and the constant c; `right`: c is the second operand. */
static tw_fold fold_with(const tw_op *op, tw_value x, uint64_t c, unsigned width, bool right) {
    uint64_t ones = tw_width_mask(width);
    switch (op->opcode) {
    case TW_OP_ADD:
    case TW_OP_XOR: return c == 0 ? to_value(x) : nothing();
    case TW_OP_OR: return c == 0 ? to_value(x) : c == ones ? to_bits(ones) : nothing();
    case TW_OP_AND: return c == ones ? to_value(x) : c == 0 ? to_bits(0) : nothing();
    case TW_OP_MUL: return c == 1 ? to_value(x) : c == 0 ? to_bits(0) : nothing();
    case TW_OP_MULHI_S:
    case TW_OP_MULHI_U: return c == 0 ? to_bits(0) : nothing();
    case TW_OP_SUB: return right && c == 0 ? to_value(x) : nothing();
    case TW_OP_SHL:
    case TW_OP_LSHR:
    case TW_OP_ASHR:
        if (!right && c == 0) return to_bits(0);
        return right && (c & (width - 1)) == 0 ? to_value(x) : nothing();
    case TW_OP_SDIV:
    case TW_OP_UDIV: return right && c == 1 ? to_value(x) : nothing();
    case TW_OP_SREM:
    case TW_OP_UREM: return right && c == 1 ? to_bits(0) : nothing();
    default: return nothing();
    }
}

static tw_fold fold_pair(const tw_kernel *kernel, const tw_op *op) {
    const tw_type *type = tw_type_of(kernel, op->operands[0]);
    unsigned width = tw_scalar_bits(type->scalar);
    tw_value x = op->operands[0], y = op->operands[1];
    uint64_t c;
    if (x.id == y.id) return fold_same(op);
    if (tw_is_constant(kernel, y, &c)) return fold_with(op, x, c, width, true);
    if (tw_is_constant(kernel, x, &c)) return fold_with(op, y, c, width, false);
    return nothing();
}

static tw_fold fold_icmp_same(const tw_op *op) {
    switch ((tw_icmp_predicate)op->attrs[0].as.i) {
    case TW_EQ:
    case TW_SLE:
    case TW_SGE:
    case TW_ULE:
    case TW_UGE: return to_bits(1);
    default: return to_bits(0);
    }
}

/* ---- choice ---- */

static tw_fold fold_select(const tw_kernel *kernel, const tw_op *op) {
    uint64_t condition;
    if (tw_is_constant(kernel, op->operands[0], &condition)) return to_value(op->operands[condition ? 1 : 2]);
    return op->operands[1].id == op->operands[2].id ? to_value(op->operands[1]) : nothing();
}

/* ---- vectors ---- */

static tw_fold fold_extract(const tw_kernel *kernel, const tw_op *op) {
    uint64_t bits;
    int64_t index = op->attrs[0].as.i;
    tw_value vector = op->operands[0];
    if (tw_is_constant(kernel, vector, &bits)) return to_bits(bits);
    for (int step = 0; step < TW_MAX_LANES; step++) {
        const tw_op *from = tw_value_get(kernel, vector)->op;
        if (!from) return nothing();
        if (from->opcode == TW_OP_VECTOR_BUILD) return to_value(from->operands[index]);
        if (from->opcode == TW_OP_VECTOR_SPLAT) return to_value(from->operands[0]);
        if (from->opcode != TW_OP_VECTOR_INSERT) return nothing();
        if (from->attrs[0].as.i == index) return to_value(from->operands[0]);
        vector = from->operands[1];
        /* A constant under the lanes that were inserted. */
        if (tw_is_constant(kernel, vector, &bits)) return to_bits(bits);
    }
    return nothing();
}

/* Operands that are all one constant. */
static tw_fold fold_all_equal(const tw_kernel *kernel, const tw_op *op) {
    uint64_t first, bits;
    if (!tw_is_constant(kernel, op->operands[0], &first)) return nothing();
    for (uint32_t i = 1; i < op->operand_count; i++)
        if (!tw_is_constant(kernel, op->operands[i], &bits) || bits != first) return nothing();
    return to_bits(first);
}

static tw_fold fold_bitcast(const tw_kernel *kernel, const tw_op *op) {
    const tw_type *from = tw_type_of(kernel, op->operands[0]), *to = tw_type_of(kernel, op->first_result);
    if (from == to) return to_value(op->operands[0]);
    uint64_t bits, out;
    if (!tw_is_constant(kernel, op->operands[0], &bits)) return nothing();
    /* Constants of fp8 formats are not written. */
    if (!tw_type_in_class(to, T_LOGIC_OR_FLOAT)) return nothing();
    return tw_fold_bitcast(from->scalar, to->scalar, bits, &out) ? to_bits(out) : nothing();
}

/* ---- places, lanes, pointers ---- */

static tw_fold fold_workitem_id(const tw_kernel *kernel, const tw_op *op) {
    const tw_kernel_options *o = &kernel->options;
    const uint32_t sizes[3] = {o->workgroup_size, o->workgroup_size_y, o->workgroup_size_z};
    return sizes[op->attrs[0].as.i] <= 1 ? to_bits(0) : nothing();
}

static tw_fold fold_ptr_offset(const tw_kernel *kernel, const tw_op *op) {
    uint64_t offset;
    bool stays = tw_is_constant(kernel, op->operands[1], &offset) && offset == 0;
    return stays ? to_value(op->operands[0]) : nothing();
}

tw_fold tw_fold_identity(const tw_kernel *kernel, const tw_op *op) {
    uint64_t bits;
    switch (op->opcode) {
    case TW_OP_ICMP: return op->operands[0].id == op->operands[1].id ? fold_icmp_same(op) : nothing();
    case TW_OP_SELECT: return fold_select(kernel, op);
    case TW_OP_BITCAST: return fold_bitcast(kernel, op);
    case TW_OP_VECTOR_EXTRACT: return fold_extract(kernel, op);
    case TW_OP_VECTOR_BUILD:
    case TW_OP_VECTOR_INSERT:
    case TW_OP_VECTOR_SPLAT:
    case TW_OP_VECTOR_SHUFFLE: return fold_all_equal(kernel, op);
    case TW_OP_WORKITEM_ID: return fold_workitem_id(kernel, op);
    case TW_OP_PTR_OFFSET: return fold_ptr_offset(kernel, op);
    /* All lanes hold the same, whichever is asked. */
    case TW_OP_READFIRSTLANE:
    case TW_OP_SHUFFLE:
    case TW_OP_SHUFFLE_XOR:
        return tw_is_constant(kernel, op->operands[0], &bits) ? to_value(op->operands[0]) : nothing();
    default: return op->operand_count == 2 ? fold_pair(kernel, op) : nothing();
    }
}
