/* Which op comes next: any row of the table, with types, operands and attributes that it takes. */
#include "tests/fuzz_lower/gen.h"

#include "ir/eval.h"

static int64_t draw_int(gen *g, const tw_attr_info *info) {
    int64_t span = info->max - info->min;
    switch (gen_below(g, 3)) {
    case 0: return tw_random_between(&g->random, info->min, info->max);
    case 1: return info->min + (int64_t)gen_below(g, span < 4 ? (uint32_t)span + 1 : 4);
    default: {
        uint32_t bits = 1u + gen_below(g, 5);
        int64_t value = info->min + (int64_t)gen_below(g, 1u << bits);
        return value > info->max ? info->max : value;
    }
    }
}

static bool draw_attrs(gen *g, const tw_op_info *row, const tw_type *type, const gen_value *operands,
                       tw_attr *attrs) {
    for (unsigned i = 0; i < row->attr_count; i++) {
        const tw_attr_info *info = &row->attrs[i];
        attrs[i] = (tw_attr){.kind = TW_ATTR_NONE};
        if (!info->required && gen_chance(g, 50) && info->rule != AR_ENUM && info->rule != AR_BITS &&
            info->rule != AR_INTS)
            continue;
        switch (info->rule) {
        case AR_INT: attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = draw_int(g, info)}; break;
        case AR_BOOL: attrs[i] = (tw_attr){.kind = TW_ATTR_BOOL, .as.b = gen_chance(g, 50)}; break;
        case AR_ENUM: {
            uint32_t words = 0;
            while (info->words[words])
                words++;
            attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)gen_below(g, words)};
            break;
        }
        case AR_BITS:
            attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)gen_bits(g, type->scalar)};
            break;
        case AR_INTS: { /* as many as the result has lanes, each a lane of the two operands laid end to end */
            int64_t *values = tw_arena_alloc(&g->kernel->arena, type->lanes, sizeof *values);
            if (!values) return false;
            for (unsigned n = 0; n < type->lanes; n++)
                values[n] = (int64_t)gen_below(g, 2u * operands[0].type->lanes);
            attrs[i].kind = TW_ATTR_INTS;
            attrs[i].as.ints.values = values;
            attrs[i].as.ints.count = type->lanes;
            break;
        }
        case AR_STRING: return false;
        }
    }
    return true;
}

static bool class_is_value(tw_type_class c) {
    switch (c) {
    case T_NONE:
    case T_RSRC:
    case T_UNIFORM_GPTR:
    case T_PTR:
    case T_GPTR:
    case T_LPTR: return false;
    default: return true;
    }
}

/* Ops of numbers alone. */
static bool is_value_op(const tw_op_info *row) {
    if (row->effect != E_PURE && row->effect != E_CROSS_LANE && row->effect != E_WHOLE_WAVE) return false;
    if (row->result == R_RSRC || row->result == R_NONE) return false;
    for (unsigned i = 0; i < row->operand_count; i++)
        if (!class_is_value(row->operands[i])) return false;
    for (unsigned i = 0; i < row->attr_count; i++)
        if (row->attrs[i].rule == AR_STRING) return false;
    return !row->more_operands || row->opcode == TW_OP_VECTOR_BUILD;
}

static bool is_memory_op(const tw_op_info *row) {
    if (row->more_operands) return false;
    switch (row->effect) {
    case E_READS_GLOBAL:
    case E_WRITES_GLOBAL:
    case E_GLOBAL_RMW:
    case E_READS_LDS:
    case E_WRITES_LDS:
    case E_LDS_RMW: break;
    default: return false;
    }
    /* data, then pointer and index, or resource and two offsets */
    unsigned at = row->result == R_NONE ? 1 : 0;
    if (row->result != R_NONE && row->result != R_GIVEN_DATA) return false;
    switch (row->operands[at]) {
    case T_GPTR: return row->operand_count == at + 2 && row->operands[at + 1] == T_INDEX;
    case T_LPTR: return row->operand_count == at + 2 && row->operands[at + 1] == T_I32;
    case T_RSRC: return row->operand_count == at + 3;
    default: return false;
    }
}

/* The result is left open for some operands: then the last operand is made odd and positive. */
static bool is_partial(tw_opcode opcode, tw_scalar scalar) {
    uint64_t out;
    return tw_scalar_is_int(scalar) && tw_op_info_get(opcode)->effect == E_PURE &&
           !tw_eval_alu(opcode, scalar, false, (uint64_t[3]){1, 0, 0}, &out) &&
           tw_eval_alu(opcode, scalar, false, (uint64_t[3]){1, 1, 0}, &out);
}

static gen_value odd_and_positive(gen *g, gen_value x) {
    /* Not all bits but the sign: docs/llvm-bugs.md tells of pairs that LLVM does not survive. */
    uint64_t positive = tw_width_mask(tw_scalar_bits(x.type->scalar)) >> 2;
    gen_value low = gen_binary(g, TW_OP_AND, x, gen_constant(g, x.type, positive));
    return gen_binary(g, TW_OP_OR, low, gen_constant(g, x.type, 1));
}

/* A number of a size at which approximations give normal numbers: exponents -63 .. 0, either sign. */
static gen_value tame(gen *g, const tw_type *type) {
    const tw_type *words = tw_type_vector(TW_I32, type->lanes);
    gen_value bits = gen_value_of(g, words, TW_DIVERGENT), result = {0};
    bits = gen_binary(g, TW_OP_AND, bits, gen_constant(g, words, 0xbfffffff));
    bits = gen_binary(g, TW_OP_OR, bits, gen_constant(g, words, 0x20000000));
    gen_emit(g, TW_OP_BITCAST, type, &bits, 1, NULL, &result);
    return result;
}

static bool operand_types(gen *g, const tw_op_info *row, const tw_type **types) {
    for (unsigned i = 0; i < row->operand_count; i++) {
        switch (row->operands[i]) {
        case T_SAME0: types[i] = types[0]; break;
        case T_SAME1: types[i] = types[1]; break;
        default: types[i] = gen_type(g, row->operands[i]);
        }
        if (!types[i]) return false;
    }
    /* What the rules ask for beyond the classes, so that few draws are refused. */
    if (row->opcode == TW_OP_SELECT && types[0]->lanes > 1) types[0] = tw_type_vector(TW_I1, types[1]->lanes);
    if (row->opcode == TW_OP_VECTOR_INSERT) types[0] = tw_type_scalar(types[1]->scalar);
    return true;
}

static const tw_type *given_type(gen *g, const tw_op_info *row, const tw_type *const *types) {
    tw_type_class given = tw_result_given_class(row->result);
    if (given == T_NONE) return NULL;
    const tw_type *type = gen_type(g, given);
    if (!type || !row->operand_count || row->opcode == TW_OP_CONSTANT) return type;
    if (row->opcode == TW_OP_VECTOR_SHUFFLE || row->opcode == TW_OP_VECTOR_SPLAT ||
        row->opcode == TW_OP_VECTOR_BUILD)
        return tw_type_vector(types[0]->scalar, type->lanes);
    if (row->opcode == TW_OP_BITCAST)
        return tw_type_vector(type->scalar, tw_type_bits(types[0]) / tw_scalar_bits(type->scalar));
    return tw_type_vector(type->scalar, types[0]->lanes); /* conversions keep the lanes */
}

static bool may_stand_here(const gen *g, const tw_op_info *row) {
    if (row->effect == E_PURE) return true;
    switch (row->opcode) {
    case TW_OP_READFIRSTLANE:
    case TW_OP_ROW_SHIFT:
    case TW_OP_BALLOT: return true;
    default: return g->whole_waves && g->together >= TW_UNIFORM_IN_WAVE; /* all lanes are active */
    }
}

static bool value_op(gen *g, const tw_op_info *row) {
    const tw_type *types[TW_MAX_LANES] = {0};
    gen_value operands[TW_MAX_LANES], result;
    tw_attr attrs[TW_MAX_ATTRS];
    if (!may_stand_here(g, row) || !operand_types(g, row, types)) return false;
    bool approximate = row->operand_count && row->effect == E_PURE && !row->attr_count &&
                       row->result == R_SAME0 && tw_scalar_is_float(types[0]->scalar) &&
                       tw_eval_is_approximate(row->opcode);
    const tw_type *given = given_type(g, row, types);
    if (tw_result_given_class(row->result) != T_NONE && !given) return false;
    uint32_t count = row->operand_count;
    if (row->more_operands) count = given->lanes;
    for (uint32_t i = 0; i < count; i++) {
        const tw_type *type = types[i < row->operand_count ? i : 0];
        uint8_t level =
            i < row->operand_count && tw_type_class_is_uniform(row->operands[i]) ? TW_UNIFORM_IN_WAVE : 0;
        operands[i] = approximate ? tame(g, type) : gen_value_of(g, type, level);
        if (row->opcode == TW_OP_BITCAST) operands[i] = gen_closed(g, operands[i]);
        if (!operands[i].value.id) return false;
    }
    if (count > 1 && row->result == R_SAME0 && is_partial(row->opcode, types[0]->scalar))
        operands[count - 1] = odd_and_positive(g, operands[count - 1]);
    if (!draw_attrs(g, row, given ? given : types[0], operands, attrs)) return false;
    if (!gen_emit(g, row->opcode, given, operands, count, attrs, &result)) return false;
    if (!approximate) return true;
    g->count--; /* nothing else may see it */
    for (unsigned lane = 0; lane < result.type->lanes && lane < 4; lane++) {
        gen_value one = result;
        if (result.type->lanes > 1) {
            if (!gen_emit_int(g, TW_OP_VECTOR_EXTRACT, NULL, &result, 1, lane, &one)) return false;
            g->count--;
        }
        gen_store_own(g, FUZZ_NEAR, one);
    }
    return true;
}

static bool schedule_op(gen *g, const tw_op_info *row) {
    tw_attr attrs[TW_MAX_ATTRS];
    return draw_attrs(g, row, NULL, NULL, attrs) && gen_emit(g, row->opcode, NULL, NULL, 0, attrs, NULL);
}

static bool one_op(gen *g, const tw_op_info *row) {
    switch (row->opcode) {
    case TW_OP_FOR: return gen_for(g);
    case TW_OP_IF: return gen_if(g);
    case TW_OP_PTR_OFFSET: return gen_ptr_offset(g);
    case TW_OP_LDS_ALLOC:
    case TW_OP_BARRIER: return gen_lds_op(g, row);
    default: break;
    }
    if (row->effect == E_SCHEDULE && !row->operand_count) return schedule_op(g, row);
    if (gen_is_tile_op(row)) return gen_tile_op(g, row);
    if (is_memory_op(row)) {
        bool lds = row->effect == E_READS_LDS || row->effect == E_WRITES_LDS || row->effect == E_LDS_RMW;
        return lds ? gen_lds_op(g, row) : gen_memory_op(g, row);
    }
    return is_value_op(row) && value_op(g, row);
}

void gen_ops(gen *g, uint32_t count) {
    for (uint32_t tries = 0; count && g->ops_left && tries < 200 && !g->failed; tries++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)gen_below(g, TW_OPCODE_LIMIT));
        if (!row || !one_op(g, row)) continue;
        count--;
        g->ops_left--;
    }
}
