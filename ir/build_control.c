/* scf.for and scf.if of the builder. */
#include "ir/build.h"

#include <inttypes.h>
#include <string.h>

#include "ir/builder.h"

static bool open_region(tw_builder *b, tw_op *op, tw_block *region) {
    if (b->depth == TW_DEPTH_MAX) {
        b->failed = true;
        tw_refuse_op(b->kernel, op, b->kernel->ctx->diag, TW_ERR_LIMIT,
                     "regions must be nested at most %d deep (got %d)", TW_DEPTH_MAX, TW_DEPTH_MAX + 1);
        return false;
    }
    tw_frame *frame = b->free_frames;
    if (frame) {
        b->free_frames = frame->outer;
    } else {
        frame = TW_ARENA_NEW(&b->kernel->arena, tw_frame, 1);
    }
    if (!frame) {
        tw_builder_no_memory(b);
        return false;
    }
    *frame = (tw_frame){.outer = b->frames, .op = op, .block = b->block};
    b->frames = frame;
    b->depth++;
    b->block = region;
    return true;
}

static void close_region(tw_builder *b) {
    tw_frame *frame = b->frames;
    b->block = frame->block;
    b->frames = frame->outer;
    b->depth--;
    frame->outer = b->free_frames;
    b->free_frames = frame;
}

/* The innermost region's op when it is `opcode`; anything else is misuse. */
static tw_op *innermost(tw_builder *b, tw_opcode opcode, const char *call) {
    if (!tw_builder_is_live(b)) return NULL;
    if (b->frames && b->frames->op->opcode == opcode) return b->frames->op;
    tw_builder_misuse(b, opcode, "must be the innermost open region at %s (got %s)", call,
                      b->frames ? tw_op_info_get(b->frames->op->opcode)->name : "no open region");
    return NULL;
}

static bool end_block(tw_builder *b, uint32_t count, const tw_value *values) {
    tw_op *yield = tw_builder_op(b, TW_OP_YIELD, values, count, 0);
    return yield && tw_builder_append(b, yield);
}

static void fill(tw_value *values, uint32_t count, const tw_op *op) {
    if (!values) return;
    for (uint32_t i = 0; i < count; i++)
        values[i] = op ? tw_op_result(op, i) : (tw_value){0};
}

/* ---- for ---- */

/* The region's index and carried values, and as many results. */
static bool add_carried(tw_builder *b, tw_op *op) {
    tw_kernel *kernel = b->kernel;
    uint32_t count = op->operand_count - 3;
    tw_block *body = &op->blocks[0];
    bool ok = tw_block_add_arg(kernel, body, tw_type_of(kernel, op->operands[0]), NULL);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = tw_block_add_arg(kernel, body, tw_type_of(kernel, op->operands[3 + i]), NULL);
    const tw_type **types = ok ? TW_ARENA_NEW(&kernel->arena, const tw_type *, count) : NULL;
    for (uint32_t i = 0; types && i < count; i++)
        types[i] = tw_type_of(kernel, op->operands[3 + i]);
    if (types && tw_op_add_results(kernel, op, types, count)) return true;
    tw_builder_no_memory(b);
    return false;
}

static tw_op *new_for(tw_builder *b, tw_value from, tw_value to, tw_value step, unsigned count,
                      const tw_value *init) {
    if (count > UINT32_MAX / 64) {
        tw_builder_misuse(b, TW_OP_FOR, "must have fewer carried values (got %u)", count);
        return NULL;
    }
    tw_value *operands = TW_ARENA_NEW(&b->kernel->arena, tw_value, 3 + count);
    if (!operands) {
        tw_builder_no_memory(b);
        return NULL;
    }
    operands[0] = from;
    operands[1] = to;
    operands[2] = step;
    if (count) memcpy(operands + 3, init, count * sizeof *init);
    return tw_builder_op(b, TW_OP_FOR, operands, 3 + count, 1);
}

tw_value tw_for_begin(tw_builder *b, tw_value from, tw_value to, tw_value step, unsigned count,
                      const tw_value *init, tw_value *carried) {
    const tw_value poison = {0};
    tw_op *op = NULL;
    if (count && (!init || !carried)) {
        tw_builder_misuse(b, TW_OP_FOR, "carried values must have arrays (got NULL)");
    } else if (tw_builder_is_live(b)) {
        op = new_for(b, from, to, step, count, init);
    }
    fill(carried, count, NULL); /* which may be `init` */
    if (!op || !add_carried(b, op) || !tw_builder_append(b, op)) return poison;
    const tw_block *body = &op->blocks[0];
    if (!open_region(b, op, &op->blocks[0])) return poison;
    for (unsigned i = 0; i < count; i++)
        carried[i] = body->args[1 + i];
    return body->args[0];
}

void tw_for_unroll(tw_builder *b, unsigned unroll) {
    if (!tw_builder_is_live(b)) return;
    const tw_frame *frame = b->frames;
    while (frame && frame->op->opcode != TW_OP_FOR)
        frame = frame->outer;
    if (!frame) {
        tw_builder_misuse(b, TW_OP_FOR, "must be open at tw_for_unroll (got no open loop)");
        return;
    }
    tw_attr *attr = &frame->op->attrs[0];
    *attr = (tw_attr){.kind = TW_ATTR_INT, .as.i = unroll};
    if (tw_op_check(b->kernel, frame->op, b->kernel->ctx->diag)) b->failed = true;
    if (!unroll) *attr = (tw_attr){0};
}

static tw_op *end_for(tw_builder *b, unsigned count, const tw_value *next) {
    tw_op *op = innermost(b, TW_OP_FOR, "tw_for_end");
    if (!op) return NULL;
    if (count != op->result_count || (count && !next)) {
        tw_builder_misuse(b, TW_OP_FOR, "tw_for_end must give the %" PRIu32 " carried values (got %u)",
                          op->result_count, next ? count : 0);
        return NULL;
    }
    if (!end_block(b, count, next)) return NULL;
    close_region(b);
    return op;
}

void tw_for_end(tw_builder *b, unsigned count, const tw_value *next, tw_value *results) {
    fill(results, count, end_for(b, count, next));
}

/* ---- if ---- */

void tw_if_begin(tw_builder *b, tw_value condition) {
    /* Room for both regions; the second counts when tw_if_else opens it. */
    tw_op *op = tw_builder_op(b, TW_OP_IF, &condition, 1, 2);
    if (!op) return;
    op->block_count = 1;
    if (tw_builder_append(b, op)) open_region(b, op, &op->blocks[0]);
}

/* The first region says what the results are. */
static bool add_yielded(tw_builder *b, tw_op *op, unsigned count, const tw_value *values) {
    if (!count) return true;
    const tw_type **types = TW_ARENA_NEW(&b->kernel->arena, const tw_type *, count);
    for (unsigned i = 0; types && i < count; i++)
        types[i] = tw_kernel_value_type(b->kernel, values[i]);
    if (types && tw_op_add_results(b->kernel, op, types, count)) return true;
    tw_builder_no_memory(b);
    return false;
}

void tw_if_else(tw_builder *b, unsigned count, const tw_value *values) {
    tw_op *op = innermost(b, TW_OP_IF, "tw_if_else");
    if (!op) return;
    if (op->block_count == 2 || (count && !values)) {
        tw_builder_misuse(b, TW_OP_IF, "tw_if_else must come once, with its values (got %s)",
                          op->block_count == 2 ? "a second call" : "NULL");
        return;
    }
    if (!add_yielded(b, op, count, values) || !end_block(b, count, values)) return;
    op->block_count = 2;
    b->block = &op->blocks[1];
}

static tw_op *end_if(tw_builder *b, unsigned count, const tw_value *values) {
    tw_op *op = innermost(b, TW_OP_IF, "tw_if_end");
    if (!op) return NULL;
    if (count && op->block_count == 1) {
        tw_builder_misuse(b, TW_OP_IF, "must have tw_if_else where it has results (got %u results)", count);
        return NULL;
    }
    if (count != op->result_count || (count && !values)) {
        tw_builder_misuse(b, TW_OP_IF,
                          "tw_if_end must give the %" PRIu32 " values of the first region (got %u)",
                          op->result_count, values ? count : 0);
        return NULL;
    }
    if (!end_block(b, count, values)) return NULL;
    close_region(b);
    return op;
}

void tw_if_end(tw_builder *b, unsigned count, const tw_value *values, tw_value *results) {
    fill(results, count, end_if(b, count, values));
}
