/* Where a work-item is, and values across the lanes of a wave. */
#include "lower/lowering.h"

#define DPP_QUAD_PERM(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6)
#define DPP_SAME_LANE             DPP_QUAD_PERM(0, 1, 2, 3)
#define DPP_ROW_SHL               0x100 /* + 1..15: from a higher lane */
#define DPP_ROW_SHR               0x110
#define DPP_ROW_ROR               0x120
#define DPP_ROW_MIRROR            0x140 /* lane ^ 15 */
#define DPP_ROW_HALF_MIRROR       0x141 /* lane ^ 7 */
#define DPP_ROW_BCAST15           0x142 /* from lane 15 of the row before */
#define DPP_ROW_BCAST31           0x143
#define DPP_ROW_XMASK             0x160 /* + 1..15: lane ^ mask */
#define ALL_ROWS                  15

static unsigned wave_size(const tw_lowering *l) { return l->kernel->target.wave_size; }

/* ---- where am I ---- */

static const unsigned workitem_needs[] = {0, TW_NEED_WORKITEM_ID_Y, TW_NEED_WORKITEM_ID_Z};

void tw_ll_workitem_id(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    unsigned dim = (unsigned)tw_ll_attr(op, 0);
    uint64_t bits;
    if (tw_ll_known(l, op->first_result, &bits)) return; /* it stands where it is used */
    l->needs |= workitem_needs[dim];
    tw_ll_set(l, op->first_result, "call i32 %I()", (tw_intrinsic)(rule->intrinsic + dim));
}

void tw_ll_workgroup_id(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    unsigned dim = (unsigned)tw_ll_attr(op, 0);
    l->needs |= TW_NEED_WORKGROUP_ID_X << dim;
    tw_ll_set(l, op->first_result, "call i32 %I()", (tw_intrinsic)(rule->intrinsic + dim));
}

/* Code objects of version 5 have the number of workgroups among the hidden arguments; before that there is
 * the dispatch packet with the number of work-items, a multiple of the workgroup's size. */
void tw_ll_num_workgroups(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    unsigned dim = (unsigned)tw_ll_attr(op, 0);
    bool hidden = l->flavor->group_count == TW_GROUP_COUNT_HIDDEN_ARGUMENT;
    l->needs |= hidden ? TW_NEED_HIDDEN_ARGUMENTS : TW_NEED_DISPATCH_PACKET;
    tw_ref base =
        tw_ll_let(l, "call ptr addrspace(4) %I()", hidden ? TW_LL_IMPLICITARG_PTR : TW_LL_DISPATCH_PTR);
    tw_ref place = tw_ll_let(l, "getelementptr i8, ptr addrspace(4) %r, i32 %d", base,
                             (int)((hidden ? 0 : 12) + 4 * dim));
    if (hidden) {
        tw_ll_set(l, op->first_result, "load i32, ptr addrspace(4) %r, align 4", place);
    } else {
        tw_ref items = tw_ll_let(l, "load i32, ptr addrspace(4) %r, align 4", place);
        tw_ll_set(l, op->first_result, "udiv i32 %r, %d", items, (int)tw_ll_workgroup_size(l, dim));
    }
}

/* How many lanes below this one there are among the first 32. */
static tw_ref low_lanes(tw_lowering *l) { return tw_ll_let(l, "call i32 %I(i32 -1, i32 0)", TW_LL_MBCNT_LO); }

static tw_ref lane_id(tw_lowering *l) {
    tw_ref low = low_lanes(l);
    return wave_size(l) == 32 ? low : tw_ll_let(l, "call i32 %I(i32 -1, i32 %r)", TW_LL_MBCNT_HI, low);
}

void tw_ll_lane_id(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    if (wave_size(l) == 32) {
        tw_ll_set(l, op->first_result, "call i32 %I(i32 -1, i32 0)", TW_LL_MBCNT_LO);
    } else {
        tw_ll_set(l, op->first_result, "call i32 %I(i32 -1, i32 %r)", TW_LL_MBCNT_HI, low_lanes(l));
    }
}

/* x + size_x * (y + size_y * z), without the dimensions of one work-item. */
static tw_ref flat_workitem_id(tw_lowering *l) {
    tw_ref flat = tw_ref_text("0");
    bool first = true;
    for (unsigned i = 3; i-- > 0;) {
        uint32_t size = tw_ll_workgroup_size(l, i);
        if (size == 1) continue;
        l->needs |= workitem_needs[i];
        tw_ref id = tw_ll_let(l, "call i32 %I()", (tw_intrinsic)(TW_LL_WORKITEM_ID_X + i));
        if (!first) {
            tw_ref outer = tw_ll_let(l, "mul i32 %r, %d", flat, (int)size);
            id = tw_ll_let(l, "add i32 %r, %r", outer, id);
        }
        flat = id;
        first = false;
    }
    return flat;
}

void tw_ll_wave_id(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    uint64_t bits;
    if (tw_ll_known(l, op->first_result, &bits)) return; /* it stands where it is used */
    if (tw_ll_has(l, TW_LL_WAVE_ID)) {
        tw_ll_set(l, op->first_result, "call i32 %I()", TW_LL_WAVE_ID);
        return;
    }
    tw_ref wave = tw_ll_let(l, "lshr i32 %r, %d", flat_workitem_id(l), wave_size(l) == 32 ? 5 : 6);
    tw_ll_set(l, op->first_result, "call i32 %I(i32 %r)", TW_LL_READFIRSTLANE, wave);
}

/* ---- 32 bits of any type as an i32, and back ---- */

static tw_ref to_word(tw_lowering *l, tw_value value) {
    const tw_type *type = tw_ll_type_of(l, value), *word = tw_type_scalar(TW_I32);
    return type == word ? tw_ref_value(value) : tw_ll_let(l, "bitcast %t %v to i32", type, value);
}

static void set_from_word(tw_lowering *l, const tw_op *op, tw_ref word) {
    tw_ll_set(l, op->first_result, "bitcast i32 %r to %t", word, tw_ll_type_of(l, op->first_result));
}

static tw_ref dpp(tw_lowering *l, tw_ref word, unsigned control) {
    return tw_ll_let(l, "call i32 %I(i32 poison, i32 %r, i32 %d, i32 %d, i32 15, i1 true)", TW_LL_UPDATE_DPP,
                     word, (int)control, ALL_ROWS);
}

static tw_ref bpermute(tw_lowering *l, tw_ref word, tw_ref lane) {
    tw_ref address = tw_ll_let(l, "shl i32 %r, 2", lane);
    return tw_ll_let(l, "call i32 %I(i32 %r, i32 %r)", TW_LL_DS_BPERMUTE, address, word);
}

/* ---- shuffles ---- */

void tw_ll_readfirstlane(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref word = to_word(l, op->operands[0]);
    /* Where some of a vector's elements are used LLVM computes them from a value that it defines later. */
    if (tw_ll_type_of(l, op->operands[0])->lanes > 1) word = tw_ll_hide(l, word);
    set_from_word(l, op, tw_ll_let(l, "call i32 %I(i32 %r)", TW_LL_READFIRSTLANE, word));
}

/* The instruction takes the lane modulo the wave size; where it reaches only the own half of a wave of 64,
 * both halves are asked. */
void tw_ll_shuffle(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref word = to_word(l, op->operands[0]), lane = tw_ref_value(op->operands[1]);
    if (wave_size(l) == 32 || tw_ll_feature(l, TW_ARCH_HAS_WAVE64_BPERMUTE)) {
        set_from_word(l, op, bpermute(l, word, lane));
        return;
    }
    tw_ref swapped = tw_ll_let(l, "call i32 %I(i32 %r)", TW_LL_PERMLANE64, word);
    /* LLVM reads lane n of the whole wave where it knows the number to be n: it must not know. */
    lane = tw_ll_hide(l, lane);
    tw_ref same = bpermute(l, word, lane), other = bpermute(l, swapped, lane);
    tw_ref difference = tw_ll_let(l, "xor i32 %r, %r", lane, lane_id(l));
    tw_ref bit = tw_ll_let(l, "and i32 %r, 32", difference);
    tw_ref near = tw_ll_let(l, "icmp eq i32 %r, 0", bit);
    set_from_word(l, op, tw_ll_let(l, "select i1 %r, i32 %r, i32 %r", near, same, other));
}

/* Masks 1..15, in a row of 16 lanes: one or two DPP moves. */
static tw_ref xor_in_row(tw_lowering *l, tw_ref word, unsigned mask) {
    if (!mask) return word;
    if (mask > 3 && tw_ll_feature(l, TW_ARCH_HAS_DPP_ROW_XMASK)) return dpp(l, word, DPP_ROW_XMASK + mask);
    static const unsigned control[] = {0, DPP_ROW_HALF_MIRROR, DPP_ROW_ROR + 8, DPP_ROW_MIRROR};
    static const unsigned does[] = {0, 7, 8, 15};
    unsigned upper = mask >> 2, rest = mask ^ does[upper];
    if (upper) word = dpp(l, word, control[upper]);
    return rest ? dpp(l, word, DPP_QUAD_PERM(rest, rest ^ 1, rest ^ 2, rest ^ 3)) : word;
}

/* Lanes 0..15 of each 32 (or 0..31) swap with the others: the two results of a swap of a value with itself
 * are the lower and the upper part, each in all lanes; rows in `mask` take the upper. */
static tw_ref xor_by_swap(tw_lowering *l, tw_ref word, tw_intrinsic swap, int rows) {
    tw_ref both = tw_ll_let(l, "call { i32, i32 } %I(i32 %r, i32 %r, i1 false, i1 false)", swap, word, word);
    tw_ref lower = tw_ll_let(l, "extractvalue { i32, i32 } %r, 0", both);
    tw_ref upper = tw_ll_let(l, "extractvalue { i32, i32 } %r, 1", both);
    return tw_ll_let(l, "call i32 %I(i32 %r, i32 %r, i32 %d, i32 %d, i32 15, i1 false)", TW_LL_UPDATE_DPP,
                     lower, upper, DPP_SAME_LANE, rows);
}

/* Masks 16..31. */
static tw_ref xor_in_half(tw_lowering *l, tw_ref word, unsigned mask) {
    if (tw_ll_has(l, TW_LL_PERMLANEX16)) {
        uint32_t select[2] = {0, 0}; /* of each lane, the lane of the other row */
        for (unsigned i = 0; i < 16; i++)
            select[i / 8] |= (i ^ (mask & 15)) << 4 * (i % 8);
        return tw_ll_let(l, "call i32 %I(i32 poison, i32 %r, i32 %d, i32 %d, i1 false, i1 true)",
                         TW_LL_PERMLANEX16, word, (int32_t)select[0], (int32_t)select[1]);
    }
    if (tw_ll_has(l, TW_LL_PERMLANE16_SWAP))
        return xor_by_swap(l, xor_in_row(l, word, mask & 15), TW_LL_PERMLANE16_SWAP, 5);
    return tw_ll_let(l, "call i32 %I(i32 %r, i32 %d)", TW_LL_DS_SWIZZLE, word, (int)(mask << 10 | 31));
}

/* Masks 32..63. */
static tw_ref xor_across_halves(tw_lowering *l, tw_ref word, unsigned mask) {
    if (tw_ll_has(l, TW_LL_PERMLANE64)) return tw_ll_let(l, "call i32 %I(i32 %r)", TW_LL_PERMLANE64, word);
    if (tw_ll_has(l, TW_LL_PERMLANE32_SWAP)) return xor_by_swap(l, word, TW_LL_PERMLANE32_SWAP, 3);
    return bpermute(l, word, tw_ll_let(l, "xor i32 %r, %d", lane_id(l), (int)mask));
}

static tw_ref xor_lanes(tw_lowering *l, tw_ref word, unsigned mask) {
    if (mask & 32) {
        word = xor_across_halves(l, word, mask);
        bool done = !tw_ll_has(l, TW_LL_PERMLANE64) && !tw_ll_has(l, TW_LL_PERMLANE32_SWAP);
        if (done) return word;
        mask &= 31;
    }
    return mask & 16 ? xor_in_half(l, word, mask) : xor_in_row(l, word, mask);
}

static bool is_plain_alu(tw_opcode opcode) {
    switch (opcode) {
    case TW_OP_ADD:
    case TW_OP_SUB:
    case TW_OP_AND:
    case TW_OP_OR:
    case TW_OP_XOR:
    case TW_OP_SMIN:
    case TW_OP_SMAX:
    case TW_OP_UMIN:
    case TW_OP_UMAX:
    case TW_OP_FADD:
    case TW_OP_FSUB:
    case TW_OP_FMUL:
    case TW_OP_FMIN:
    case TW_OP_FMAX: return true;
    default: return false;
    }
}

enum { USES_NONE = 0, USES_ONE_ALU, USES_OTHER };

/* What uses each value: USES_*, found in one walk over the kernel. NULL when memory is out. */
static const uint8_t *uses_of_values(tw_lowering *l) {
    if (l->uses) return l->uses;
    uint8_t *uses = TW_ARENA_NEW(&l->arena, uint8_t, (size_t)l->kernel->value_count + 1);
    if (!uses) {
        l->out.failed = true;
        return NULL;
    }
    for (const tw_op *op = l->kernel->body.first; op; op = tw_op_after(op))
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint8_t *use = &uses[op->operands[i].id];
            *use = *use == USES_NONE && is_plain_alu(op->opcode) ? USES_ONE_ALU : USES_OTHER;
        }
    l->uses = uses;
    return uses;
}

/* LLVM makes a DPP move part of the instruction that uses it, and drops the move without seeing that it is
 * also part of a wider register. So only a move with a single use, by such an instruction, is shown to it. */
static bool may_become_part_of_its_use(tw_lowering *l, tw_value value) {
    const uint8_t *uses = uses_of_values(l);
    return uses && uses[value.id] != USES_OTHER;
}

static void set_from_dpp(tw_lowering *l, const tw_op *op, tw_ref word) {
    if (!may_become_part_of_its_use(l, op->first_result)) word = tw_ll_hide(l, word);
    set_from_word(l, op, word);
}

void tw_ll_shuffle_xor(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    set_from_dpp(l, op, xor_lanes(l, to_word(l, op->operands[0]), (unsigned)tw_ll_attr(op, 0)));
}

void tw_ll_row_shift(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    int amount = (int)tw_ll_attr(op, 0);
    unsigned control = amount > 0 ? DPP_ROW_SHR + (unsigned)amount : DPP_ROW_SHL + (unsigned)-amount;
    set_from_dpp(l, op, dpp(l, to_word(l, op->operands[0]), control));
}

/* ---- reductions ---- */

typedef struct reduction {
    const char *type, *word; /* an instruction, or */
    tw_intrinsic intrinsic;  /* of two operands */
} reduction;

static const reduction reductions[] = {
    [TW_REDUCE_ADD] = {"i32", "add", 0},
    [TW_REDUCE_SMIN] = {"i32", NULL, TW_LL_SMIN},
    [TW_REDUCE_SMAX] = {"i32", NULL, TW_LL_SMAX},
    [TW_REDUCE_UMIN] = {"i32", NULL, TW_LL_UMIN},
    [TW_REDUCE_UMAX] = {"i32", NULL, TW_LL_UMAX},
    [TW_REDUCE_AND] = {"i32", "and", 0},
    [TW_REDUCE_OR] = {"i32", "or", 0},
    [TW_REDUCE_XOR] = {"i32", "xor", 0},
    [TW_REDUCE_FADD] = {"float", "fadd", 0},
    [TW_REDUCE_FMIN] = {"float", NULL, TW_LL_FMIN},
    [TW_REDUCE_FMAX] = {"float", NULL, TW_LL_FMAX},
};

/* `word` combined with what `other` has; both and the result are i32. */
static tw_ref combine(tw_lowering *l, const reduction *r, const tw_type *type, tw_ref word, tw_ref other) {
    bool is_float = type->scalar == TW_F32;
    if (is_float) {
        word = tw_ll_let(l, "bitcast i32 %r to float", word);
        other = tw_ll_let(l, "bitcast i32 %r to float", other);
    }
    tw_ref result =
        r->word ? tw_ll_let(l, "%s %t %r, %r", r->word, type, word, other)
                : tw_ll_let(l, "call %t %G(%t %r, %t %r)", type, r->intrinsic, type, type, word, type, other);
    return is_float ? tw_ll_let(l, "bitcast float %r to i32", result) : result;
}

/* A butterfly: at step n the groups of n lanes hold one value each, so a lane may take its partner group's
 * from any of its lanes. That leaves the result of xor n, and has cheap forms on every target. Where rows
 * pass their last lane on, the last two steps are right in the last lane, which is then read by all. */
void tw_ll_wave_reduce(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result);
    const reduction *r = &reductions[tw_ll_attr(op, 0)];
    bool pass_on = tw_ll_feature(l, TW_ARCH_HAS_DPP_ROW_BCAST);
    tw_ref word = to_word(l, op->operands[0]);
    if (tw_ll_flushes(l, type->scalar))
        word = tw_ll_let(l, "bitcast float %r to i32", tw_ll_flushed_operand(l, op, 0));
    static const unsigned in_row[] = {1, 2, 7, 15};
    for (unsigned i = 0; i < 4; i++)
        word = combine(l, r, type, word, xor_in_row(l, word, in_row[i]));
    if (pass_on) {
        word = combine(l, r, type, word, dpp(l, word, DPP_ROW_BCAST15));
        word = combine(l, r, type, word, dpp(l, word, DPP_ROW_BCAST31));
        word = tw_ll_let(l, "call i32 %I(i32 %r, i32 63)", TW_LL_READLANE, word);
    } else {
        for (unsigned mask = 16; mask < wave_size(l); mask *= 2)
            word = combine(l, r, type, word, xor_lanes(l, word, mask));
        /* Lanes that combined several NaNs, in one order or the other, have different ones. */
        if (type->scalar == TW_F32) word = tw_ll_let(l, "call i32 %I(i32 %r)", TW_LL_READFIRSTLANE, word);
    }
    set_from_word(l, op, word);
}

/* The condition of a ballot. LLVM makes one instruction of a comparison and its ballot, and takes "ordered
 * and not equal" for "unordered or not equal": what it might see as that comparison is hidden. */
static tw_ref ballot_condition(tw_lowering *l, tw_value condition) {
    const tw_op *op = tw_value_get(l->kernel, condition)->op;
    tw_opcode opcode = op ? op->opcode : TW_OP_INVALID;
    bool safe = opcode == TW_OP_ICMP || opcode == TW_OP_CONSTANT || opcode == TW_OP_TRUNC ||
                (opcode == TW_OP_FCMP && tw_ll_attr(op, 0) != TW_FONE);
    if (safe) return tw_ref_value(condition);
    tw_ref word = tw_ll_let(l, "zext i1 %v to i32", condition);
    word = tw_ll_hide(l, word);
    return tw_ll_let(l, "icmp ne i32 %r, 0", word);
}

void tw_ll_ballot(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ref condition = ballot_condition(l, op->operands[0]);
    if (wave_size(l) == 64) {
        tw_ll_set(l, op->first_result, "call i64 %I(i1 %r)", TW_LL_BALLOT_I64, condition);
    } else {
        tw_ref bits = tw_ll_let(l, "call i32 %I(i1 %r)", TW_LL_BALLOT_I32, condition);
        tw_ll_set(l, op->first_result, "zext i32 %r to i64", bits);
    }
}
