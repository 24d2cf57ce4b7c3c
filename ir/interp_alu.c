/* Ops that look at one work-item alone. */
#include <string.h>

#include "ir/eval.h"
#include "ir/interp_state.h"

#define MAX_BYTES (TW_MAX_LANES * 8)

static const tw_type *operand_type(const tw_interp *in, const tw_op *op, uint32_t index) {
    return tw_type_of(in->kernel, op->operands[index]);
}

static const tw_type *result_type(const tw_interp *in, const tw_op *op) {
    return tw_type_of(in->kernel, op->first_result);
}

tw_status tw_interp_alu(tw_interp *in, const tw_op *op) {
    const tw_type *type = operand_type(in, op, 0);
    TW_EACH_ACTIVE(in, item) {
        uint64_t *out = tw_interp_out(in, op, item);
        for (unsigned lane = 0; lane < type->lanes; lane++) {
            uint64_t x[3] = {0};
            for (uint32_t i = 0; i < op->operand_count; i++)
                x[i] = tw_interp_in(in, op, i, item)[lane];
            tw_eval_alu(op->opcode, type->scalar, in->flush, x, &out[lane]); /* 0 where it is unspecified */
        }
    }
    return TW_OK;
}

tw_status tw_interp_compare(tw_interp *in, const tw_op *op) {
    const tw_type *type = operand_type(in, op, 0);
    int64_t predicate = tw_op_attr_value(op, "predicate");
    TW_EACH_ACTIVE(in, item) {
        const uint64_t *a = tw_interp_in(in, op, 0, item), *b = tw_interp_in(in, op, 1, item);
        uint64_t *out = tw_interp_out(in, op, item);
        for (unsigned lane = 0; lane < type->lanes; lane++)
            out[lane] = op->opcode == TW_OP_ICMP
                            ? tw_eval_icmp(predicate, type->scalar, a[lane], b[lane])
                            : tw_eval_fcmp(predicate, type->scalar, in->flush, a[lane], b[lane]);
    }
    return TW_OK;
}

tw_status tw_interp_select(tw_interp *in, const tw_op *op) {
    bool by_lane = operand_type(in, op, 0)->lanes > 1;
    uint32_t width = in->slots[op->first_result.id].width;
    TW_EACH_ACTIVE(in, item) {
        const uint64_t *condition = tw_interp_in(in, op, 0, item);
        uint64_t *out = tw_interp_out(in, op, item);
        for (uint32_t word = 0; word < width; word++)
            out[word] = tw_interp_in(in, op, condition[by_lane ? word : 0] ? 1 : 2, item)[word];
    }
    return TW_OK;
}

tw_status tw_interp_convert(tw_interp *in, const tw_op *op) {
    const tw_type *from = operand_type(in, op, 0), *to = result_type(in, op);
    TW_EACH_ACTIVE(in, item) {
        const uint64_t *x = tw_interp_in(in, op, 0, item);
        uint64_t *out = tw_interp_out(in, op, item);
        for (unsigned lane = 0; lane < from->lanes; lane++)
            tw_eval_convert(op->opcode, from->scalar, to->scalar,
                            tw_eval_convert_operand(op->opcode, from->scalar, in->flush, x[lane]),
                            &out[lane]);
    }
    return TW_OK;
}

void tw_interp_pack(const uint64_t *elements, unsigned count, unsigned width, uint8_t *bytes) {
    for (unsigned i = 0; i < count * width / 8; i++)
        bytes[i] = (uint8_t)(elements[i * 8 / width] >> (i * 8 % width));
}

void tw_interp_unpack(const uint8_t *bytes, unsigned count, unsigned width, uint64_t *elements) {
    memset(elements, 0, count * sizeof *elements);
    for (unsigned i = 0; i < count * width / 8; i++)
        elements[i * 8 / width] |= (uint64_t)bytes[i] << (i * 8 % width);
}

tw_status tw_interp_bitcast(tw_interp *in, const tw_op *op) {
    const tw_type *from = operand_type(in, op, 0), *to = result_type(in, op);
    TW_EACH_ACTIVE(in, item) {
        uint8_t bytes[MAX_BYTES];
        tw_interp_pack(tw_interp_in(in, op, 0, item), from->lanes, tw_scalar_bits(from->scalar), bytes);
        tw_interp_unpack(bytes, to->lanes, tw_scalar_bits(to->scalar), tw_interp_out(in, op, item));
    }
    return TW_OK;
}

/* vector.shuffle: lanes of the two operands laid end to end. */
static uint64_t shuffled(const tw_interp *in, const tw_op *op, uint32_t item, unsigned lane) {
    unsigned lanes = operand_type(in, op, 0)->lanes;
    unsigned from = (unsigned)tw_op_attr(op, "lanes")->as.ints.values[lane];
    return tw_interp_in(in, op, from >= lanes, item)[from % lanes];
}

tw_status tw_interp_vector(tw_interp *in, const tw_op *op) {
    uint32_t width = in->slots[op->first_result.id].width;
    uint32_t index = (uint32_t)tw_op_attr_value(op, "index"); /* 0 for the ops that have none */
    TW_EACH_ACTIVE(in, item) {
        uint64_t *out = tw_interp_out(in, op, item);
        for (uint32_t lane = 0; lane < width; lane++) {
            switch (op->opcode) {
            case TW_OP_VECTOR_BUILD: out[lane] = tw_interp_in(in, op, lane, item)[0]; break;
            case TW_OP_VECTOR_EXTRACT: out[lane] = tw_interp_in(in, op, 0, item)[index]; break;
            case TW_OP_VECTOR_INSERT:
                out[lane] =
                    lane == index ? tw_interp_in(in, op, 0, item)[0] : tw_interp_in(in, op, 1, item)[lane];
                break;
            case TW_OP_VECTOR_SPLAT: out[lane] = tw_interp_in(in, op, 0, item)[0]; break;
            default: out[lane] = shuffled(in, op, item, lane); break;
            }
        }
    }
    return TW_OK;
}
