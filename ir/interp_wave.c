/* Ops that know of the wave: where a work-item is, and what other lanes have. */
#include <string.h>

#include "ir/eval.h"
#include "ir/interp_state.h"

#define ROW 16 /* lanes of a DPP row */

/* Flat work-item indices of a wave: first, and one past the last. */
static uint32_t wave_first(const tw_interp *in, uint32_t item) { return item - item % in->wave_size; }
static uint32_t wave_end(const tw_interp *in, uint32_t item) {
    uint32_t end = wave_first(in, item) + in->wave_size;
    return end < in->items ? end : in->items;
}

/* ---- where am I ---- */

tw_status tw_interp_id(tw_interp *in, const tw_op *op) {
    int64_t dim = tw_op_attr_value(op, "dim"); /* 0 for the ops that have none */
    TW_EACH_ACTIVE(in, item) {
        uint32_t at[3] = {item % in->block[0], item / in->block[0] % in->block[1],
                          item / in->block[0] / in->block[1]};
        uint32_t value = 0;
        switch (op->opcode) {
        case TW_OP_WORKITEM_ID: value = at[dim]; break;
        case TW_OP_WORKGROUP_ID: value = in->group[dim]; break;
        case TW_OP_NUM_WORKGROUPS: value = in->grid[dim]; break;
        case TW_OP_LANE_ID: value = item % in->wave_size; break;
        default: value = item / in->wave_size; break;
        }
        tw_interp_out(in, op, item)[0] = value;
    }
    return TW_OK;
}

/* ---- what other lanes have ---- */

static void copy_from(tw_interp *in, const tw_op *op, uint32_t item, uint32_t source) {
    uint32_t width = in->slots[op->first_result.id].width;
    memcpy(tw_interp_out(in, op, item), tw_interp_in(in, op, 0, source), width * sizeof(uint64_t));
}

static tw_status copy_from_lane(tw_interp *in, const tw_op *op, uint32_t item, uint32_t lane) {
    uint32_t source = wave_first(in, item) + lane;
    if (source >= in->items || !in->active[source])
        return tw_interp_refuse(in, op, item, "the lane that is read must be active (got lane %u)",
                                (unsigned)lane);
    copy_from(in, op, item, source);
    return TW_OK;
}

static uint32_t first_active(const tw_interp *in, uint32_t item) {
    uint32_t first = wave_first(in, item);
    while (!in->active[first])
        first++;
    return first;
}

static void row_shift(tw_interp *in, const tw_op *op, uint32_t item) {
    int64_t lane = item % in->wave_size % ROW, from = lane - tw_op_attr_value(op, "amount");
    uint32_t width = in->slots[op->first_result.id].width;
    int64_t source = (int64_t)item - lane + from;
    if (from >= 0 && from < ROW && source < in->items && in->active[source]) {
        copy_from(in, op, item, (uint32_t)source);
    } else {
        memset(tw_interp_out(in, op, item), 0, width * sizeof(uint64_t));
    }
}

static uint64_t ballot(const tw_interp *in, const tw_op *op, uint32_t item) {
    uint64_t bits = 0;
    for (uint32_t i = wave_first(in, item); i < wave_end(in, item); i++)
        if (in->active[i] && tw_interp_in(in, op, 0, i)[0]) bits |= (uint64_t)1 << (i % in->wave_size);
    return bits;
}

tw_status tw_interp_check_whole_wave(const tw_interp *in, const tw_op *op, uint32_t first) {
    const uint8_t *wave = in->active + first;
    const uint8_t *off = memchr(wave, 0, in->wave_size);
    if (!off || !memchr(wave, 1, in->wave_size)) return TW_OK;
    return tw_interp_refuse(in, op, first, "all lanes of the wave must be active (got lane %u inactive)",
                            (unsigned)(off - wave));
}

/* The op that combines two lanes, by the place of the word in the enum set. */
static tw_opcode reduction(int64_t kind) {
    static const tw_opcode ops[] = {TW_OP_ADD, TW_OP_SMIN, TW_OP_SMAX, TW_OP_UMIN, TW_OP_UMAX, TW_OP_AND,
                                    TW_OP_OR,  TW_OP_XOR,  TW_OP_FADD, TW_OP_FMIN, TW_OP_FMAX};
    return ops[kind];
}

/* One wave, by a butterfly: after step m each lane holds the reduction over 2m lanes. */
static tw_status reduce_wave(tw_interp *in, const tw_op *op, uint32_t first) {
    tw_scalar scalar = tw_type_of(in->kernel, op->first_result)->scalar;
    tw_opcode combine = reduction(tw_op_attr_value(op, "kind"));
    uint64_t now[64], next[64];
    for (uint32_t lane = 0; lane < in->wave_size; lane++) {
        uint32_t item = first + lane;
        if (item >= in->items || !in->active[item])
            return tw_interp_refuse(
                in, op, first, "all lanes of the wave must be active (got lane %u inactive)", (unsigned)lane);
        now[lane] = tw_interp_in(in, op, 0, item)[0];
    }
    for (uint32_t mask = 1; mask < in->wave_size; mask *= 2) {
        for (uint32_t lane = 0; lane < in->wave_size; lane++)
            tw_eval_alu(combine, scalar, in->flush, (uint64_t[3]){now[lane], now[lane ^ mask], 0},
                        &next[lane]);
        memcpy(now, next, sizeof now);
    }
    /* Which of several NaNs a lane has depends on the order of its operands: one lane's stands for all. */
    for (uint32_t lane = 0; lane < in->wave_size; lane++)
        tw_interp_out(in, op, first + lane)[0] = now[0];
    return TW_OK;
}

static tw_status reduce(tw_interp *in, const tw_op *op) {
    tw_status status = TW_OK;
    TW_EACH_ACTIVE(in, item) {
        if (item != first_active(in, item)) continue;
        status = reduce_wave(in, op, wave_first(in, item));
        if (status) break;
    }
    return status;
}

tw_status tw_interp_across_lanes(tw_interp *in, const tw_op *op) {
    if (op->opcode == TW_OP_WAVE_REDUCE) return reduce(in, op);
    tw_status status = TW_OK;
    TW_EACH_ACTIVE(in, item) {
        uint32_t lane = item % in->wave_size;
        switch (op->opcode) {
        case TW_OP_READFIRSTLANE: copy_from(in, op, item, first_active(in, item)); break;
        case TW_OP_SHUFFLE:
            status =
                copy_from_lane(in, op, item, (uint32_t)(tw_interp_in(in, op, 1, item)[0] % in->wave_size));
            break;
        case TW_OP_SHUFFLE_XOR:
            status = copy_from_lane(in, op, item, lane ^ (uint32_t)tw_op_attr_value(op, "mask"));
            break;
        case TW_OP_ROW_SHIFT: row_shift(in, op, item); break;
        default: tw_interp_out(in, op, item)[0] = ballot(in, op, item); break;
        }
        if (status) return status;
    }
    return TW_OK;
}

/* ---- uniform operands ---- */

static tw_status check_operand(tw_interp *in, const tw_op *op, uint32_t operand) {
    const tw_interp_slot *slot = &in->slots[op->operands[operand].id];
    if (!slot->step) return TW_OK;
    TW_EACH_ACTIVE(in, item) {
        const uint64_t *first = tw_interp_in(in, op, operand, first_active(in, item));
        if (memcmp(first, tw_interp_in(in, op, operand, item), slot->width * sizeof *first))
            return tw_interp_refuse(in, op, item,
                                    "operand %u must be the same in all lanes of the wave (got another "
                                    "than in the first active lane)",
                                    (unsigned)operand);
    }
    return TW_OK;
}

tw_status tw_interp_check_uniform(tw_interp *in, const tw_op *op) {
    const tw_op_info *row = tw_op_info_get(op->opcode);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!tw_type_class_is_uniform(tw_op_operand_class(row, i))) continue;
        tw_status status = check_operand(in, op, i);
        if (status) return status;
    }
    return TW_OK;
}
