/* Loops and branches with values that are carried and yielded. */
#include "tests/fuzz_lower/gen.h"

#include <string.h>

#define MAX_DEPTH   3
#define MAX_CARRIED 3

/* A region's ops go to `block`; what they define ends with it. */
typedef struct region {
    tw_block *outer;
    uint32_t count;
    uint8_t together;
} region;

static region enter(gen *g, tw_block *block, uint8_t level) {
    region r = {g->block, g->count, g->together};
    g->block = block;
    if (level < g->together) g->together = level;
    g->depth++;
    return r;
}

static void leave(gen *g, const region *r) {
    g->block = r->outer;
    g->count = r->count;
    g->together = r->together;
    g->depth--;
}

static bool is_float_like(const tw_type *type) {
    return !tw_scalar_is_int(type->scalar) && type->scalar != TW_I1;
}

static void yield(gen *g, const tw_type *const *types, uint32_t count) {
    gen_value values[MAX_CARRIED];
    for (uint32_t i = 0; i < count; i++)
        values[i] = gen_value_of(g, types[i], TW_DIVERGENT);
    tw_op *op = tw_op_new(g->kernel, TW_OP_YIELD, count, 0);
    if (!op) {
        g->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        op->operands[i] = values[i].value;
        if (!values[i].value.id) g->failed = true;
    }
    tw_block_append(g->block, op);
    fuzz_ops_made[TW_OP_YIELD]++;
}

static void push_results(gen *g, tw_op *op, const tw_type *const *types, uint32_t count) {
    if (!tw_op_add_results(g->kernel, op, types, count)) {
        g->failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        gen_push(
            g, (gen_value){.value = tw_op_result(op, i), .type = types[i], .open = is_float_like(types[i])});
}

/* 0 to 3, known or not. */
static gen_value small(gen *g, const tw_type *type) {
    uint8_t level = (uint8_t)gen_below(g, 3);
    gen_value x = gen_value_of(g, type, level);
    return gen_chance(g, 50) ? gen_constant(g, type, gen_below(g, 4))
                             : gen_binary(g, TW_OP_AND, x, gen_constant(g, type, 3));
}

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }

bool gen_for(gen *g) {
    if (g->depth == MAX_DEPTH || g->loops == 2) return false;
    const tw_type *type = tw_type_scalar(gen_chance(g, 75) ? TW_I32 : TW_I64), *types[MAX_CARRIED];
    uint32_t carried = gen_below(g, MAX_CARRIED + 1);
    gen_value operands[3 + MAX_CARRIED];
    operands[0] = gen_chance(g, 50) ? gen_constant(g, type, gen_below(g, 3)) : small(g, type);
    operands[1] = gen_binary(g, TW_OP_ADD, operands[0], small(g, type)); /* at most 3 rounds */
    operands[2] = gen_constant(g, type, 1 + gen_below(g, 2));
    for (uint32_t i = 0; i < carried; i++) {
        types[i] = gen_type(g, T_ANY);
        if (!types[i]) return false;
        operands[3 + i] = gen_value_of(g, types[i], TW_DIVERGENT);
    }
    for (uint32_t i = 0; i < 3 + carried; i++)
        if (!operands[i].value.id) return false;
    uint8_t level = least(operands[0].level, operands[1].level);
    tw_op *op = tw_op_new(g->kernel, TW_OP_FOR, 3 + carried, 1);
    if (!op) {
        g->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < 3 + carried; i++)
        op->operands[i] = operands[i].value;
    if (gen_chance(g, 40)) op->attrs[0] = (tw_attr){TW_ATTR_INT, {.i = (int64_t)gen_below(g, 5)}};
    tw_block_append(g->block, op);
    fuzz_ops_made[TW_OP_FOR]++;
    region r = enter(g, &op->blocks[0], level);
    g->loops++;
    for (uint32_t i = 0; i <= carried; i++) {
        const tw_type *arg = i ? types[i - 1] : type;
        tw_value value;
        if (!tw_block_add_arg(g->kernel, &op->blocks[0], arg, &value)) g->failed = true;
        gen_push(g,
                 (gen_value){
                     .value = value, .type = arg, .level = i ? 0 : level, .open = i && is_float_like(arg)});
    }
    gen_ops(g, 1 + gen_below(g, 5));
    yield(g, types, carried);
    g->loops--;
    leave(g, &r);
    push_results(g, op, types, carried);
    return true;
}

bool gen_if(gen *g) {
    if (g->depth == MAX_DEPTH) return false;
    gen_value condition = gen_value_of(g, tw_type_scalar(TW_I1), (uint8_t)gen_below(g, 3));
    uint32_t count = gen_below(g, 3);
    const tw_type *types[MAX_CARRIED];
    for (uint32_t i = 0; i < count; i++) {
        types[i] = gen_type(g, T_ANY);
        if (!types[i]) return false;
    }
    if (!condition.value.id) return false;
    uint32_t regions = count || gen_chance(g, 50) ? 2 : 1;
    tw_op *op = tw_op_new(g->kernel, TW_OP_IF, 1, regions);
    if (!op) {
        g->failed = true;
        return false;
    }
    op->operands[0] = condition.value;
    tw_block_append(g->block, op);
    fuzz_ops_made[TW_OP_IF]++;
    for (uint32_t i = 0; i < regions; i++) {
        region r = enter(g, &op->blocks[i], condition.level);
        gen_ops(g, gen_below(g, 4));
        for (uint32_t shown = gen_below(g, 3); shown && g->count > r.count; shown--)
            gen_store_result(g, g->pool[g->count - 1 - gen_below(g, g->count - r.count)]);
        yield(g, types, count);
        leave(g, &r);
    }
    push_results(g, op, types, count);
    return true;
}
