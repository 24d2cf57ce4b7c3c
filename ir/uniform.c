/* The analysis starts by calling every value uniform and lowers what it must, along the uses of what was
 * lowered: each value is lowered at most twice, so the time is linear in the operands. */
#include "ir/uniform.h"

#include <string.h>

typedef struct use {
    const tw_op *op;
    uint32_t operand;
} use;

typedef struct analysis {
    const tw_kernel *kernel;
    uint8_t *levels;
    uint8_t *waiting; /* the value is on the stack */
    uint32_t *stack;  /* lowered values whose users have not seen it yet */
    uint32_t stack_size;
    uint32_t *first_use; /* by value: its uses are uses[first_use[id] .. first_use[id + 1] - 1] */
    use *uses;
} analysis;

static uint8_t least(uint8_t a, uint8_t b) { return a < b ? a : b; }

static uint8_t level_of(const analysis *a, tw_value value) { return a->levels[value.id]; }

static void lower(analysis *a, tw_value value, uint8_t level) {
    if (level >= a->levels[value.id]) return;
    a->levels[value.id] = level;
    if (a->waiting[value.id]) return;
    a->waiting[value.id] = 1;
    a->stack[a->stack_size++] = value.id;
}

static uint8_t level_of_operands(const analysis *a, const tw_op *op) {
    uint8_t level = TW_UNIFORM_IN_WORKGROUP;
    for (uint32_t i = 0; i < op->operand_count; i++)
        level = least(level, level_of(a, op->operands[i]));
    return level;
}

static uint32_t workgroup_size_in(const tw_kernel *kernel, int64_t dim) {
    const tw_kernel_options *o = &kernel->options;
    uint32_t size = dim == 0 ? o->workgroup_size : dim == 1 ? o->workgroup_size_y : o->workgroup_size_z;
    return size ? size : 1;
}

/* Of the result of an op without regions. */
static uint8_t level_of_op(const analysis *a, const tw_op *op) {
    uint8_t first = op->operand_count ? level_of(a, op->operands[0]) : TW_UNIFORM_IN_WORKGROUP;
    switch (op->opcode) {
    case TW_OP_WORKITEM_ID:
        return workgroup_size_in(a->kernel, op->attrs[0].as.i) == 1 ? TW_UNIFORM_IN_WORKGROUP : TW_DIVERGENT;
    case TW_OP_LANE_ID: return TW_DIVERGENT;
    case TW_OP_WAVE_ID: return TW_UNIFORM_IN_WAVE;
    case TW_OP_LDS_ALLOC: return TW_UNIFORM_IN_WORKGROUP;
    case TW_OP_READFIRSTLANE:
    case TW_OP_WAVE_REDUCE: return first > TW_UNIFORM_IN_WAVE ? first : TW_UNIFORM_IN_WAVE;
    case TW_OP_BALLOT: return TW_UNIFORM_IN_WAVE; /* which lanes are active may differ from wave to wave */
    case TW_OP_SHUFFLE_XOR: return first;
    case TW_OP_SHUFFLE: return first ? first : least(level_of(a, op->operands[1]), TW_UNIFORM_IN_WAVE);
    case TW_OP_ROW_SHIFT: return TW_DIVERGENT; /* 0 at the end of the row */
    default: break;
    }
    /* What memory holds is not known. */
    return tw_op_info_get(op->opcode)->effect == E_PURE ? level_of_operands(a, op) : TW_DIVERGENT;
}

static uint8_t level_of_bounds(const analysis *a, const tw_op *loop) {
    uint8_t level = least(level_of(a, loop->operands[0]), level_of(a, loop->operands[1]));
    return least(level, level_of(a, loop->operands[2]));
}

/* A carried value: inside the loop, and what comes out of it, which depends on how many rounds there were. */
static void transfer_carried(analysis *a, const tw_op *op, uint32_t i) {
    const tw_block *body = &op->blocks[0];
    uint8_t level = least(level_of(a, op->operands[3 + i]), level_of(a, body->last->operands[i]));
    lower(a, body->args[1 + i], level);
    lower(a, tw_op_result(op, i), least(level, level_of_bounds(a, op)));
}

/* Lanes that are still in the loop are in the same round, so the index does not depend on the end. */
static void transfer_for(analysis *a, const tw_op *op) {
    lower(a, op->blocks[0].args[0], least(level_of(a, op->operands[0]), level_of(a, op->operands[2])));
    for (uint32_t i = 0; i < op->result_count; i++)
        transfer_carried(a, op, i);
}

static void transfer_yielded(analysis *a, const tw_op *op, uint32_t i) {
    uint8_t level = level_of(a, op->operands[0]);
    for (uint32_t region = 0; region < op->block_count; region++)
        level = least(level, level_of(a, op->blocks[region].last->operands[i]));
    lower(a, tw_op_result(op, i), level);
}

static void transfer(analysis *a, const tw_op *op) {
    if (op->opcode == TW_OP_FOR) {
        transfer_for(a, op);
    } else if (op->opcode == TW_OP_IF) {
        for (uint32_t i = 0; i < op->result_count; i++)
            transfer_yielded(a, op, i);
    } else if (op->result_count) {
        lower(a, op->first_result, level_of_op(a, op));
    }
}

/* What one use passes on: of a loop with many carried values only the one that it is about. */
static void transfer_use(analysis *a, use u) {
    const tw_op *around = u.op->parent ? u.op->parent->parent : NULL;
    if (u.op->opcode == TW_OP_FOR && u.operand >= 3) {
        transfer_carried(a, u.op, u.operand - 3);
    } else if (u.op->opcode != TW_OP_YIELD) {
        transfer(a, u.op);
    } else if (around->opcode == TW_OP_FOR) {
        transfer_carried(a, around, u.operand);
    } else {
        transfer_yielded(a, around, u.operand);
    }
}

/* Fills first_use and uses by counting. */
static void collect_uses(analysis *a) {
    uint32_t count = a->kernel->value_count, total = 0;
    for (const tw_op *op = a->kernel->body.first; op; op = tw_op_after(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            a->first_use[op->operands[i].id]++;
    for (uint32_t id = 0; id <= count; id++) {
        total += a->first_use[id];
        a->first_use[id] = total; /* the end; filling moves it down to the start */
    }
    a->first_use[count + 1] = total;
    for (const tw_op *op = a->kernel->body.first; op; op = tw_op_after(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            a->uses[--a->first_use[op->operands[i].id]] = (use){op, i};
}

static void run(analysis *a) {
    for (const tw_op *op = a->kernel->body.first; op; op = tw_op_after(op))
        transfer(a, op);
    while (a->stack_size) {
        uint32_t id = a->stack[--a->stack_size];
        a->waiting[id] = 0;
        for (uint32_t i = a->first_use[id]; i < a->first_use[id + 1]; i++)
            transfer_use(a, a->uses[i]);
    }
}

bool tw_uniformity_compute(const tw_kernel *kernel, uint8_t *levels) {
    size_t values = (size_t)kernel->value_count + 1, operands = 0;
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        operands += op->operand_count;
    memset(levels, TW_UNIFORM_IN_WORKGROUP, values);
    /* Verification reads kernels from several threads: not the context's allocator. */
    tw_arena scratch;
    tw_arena_init(&scratch, &tw_allocator_default);
    analysis a = {.kernel = kernel,
                  .levels = levels,
                  .waiting = TW_ARENA_NEW(&scratch, uint8_t, values),
                  .stack = TW_ARENA_NEW(&scratch, uint32_t, values),
                  .first_use = TW_ARENA_NEW(&scratch, uint32_t, values + 1),
                  .uses = TW_ARENA_NEW(&scratch, use, operands)};
    bool ok = operands < UINT32_MAX && a.waiting && a.stack && a.first_use && a.uses;
    if (ok) {
        collect_uses(&a);
        run(&a);
    }
    tw_arena_free(&scratch);
    return ok;
}
