/* Structured control flow to basic blocks. */
#include "lower/lowering.h"

static void branch(tw_lowering *l, tw_label to) { tw_ll_line(l, "br label %%%l", to); }

/* The node of a loop with wishes for its unrolling; 0 where there are none. */
static uint32_t loop_node(tw_lowering *l, const tw_op *op) {
    int64_t unroll = tw_ll_attr(op, 0);
    if (!unroll) return 0;
    tw_loop_note *note = TW_ARENA_NEW(&l->arena, tw_loop_note, 1);
    if (!note) {
        l->out.failed = true;
        return 0;
    }
    *note = (tw_loop_note){l->loops, l->next_metadata++, unroll};
    l->loops = note;
    return note->node;
}

/* Ends a round: the next index, which is in the range of its type (docs/ir.md), and back to the body or out.
 */
static void end_round(tw_lowering *l, const tw_op *op, tw_label body, tw_label next, tw_label end) {
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    uint32_t node = loop_node(l, op);
    tw_ll_block(l, next);
    tw_ll_line(l, "%%%l.index = add nsw %t %v, %v", body, type, op->blocks[0].args[0], op->operands[2]);
    tw_ref more = tw_ll_let(l, "icmp slt %t %%%l.index, %v", type, body, op->operands[1]);
    tw_ll_text(l, "  br i1 %r, label %%%l, label %%%l", more, body, end);
    if (node) tw_ll_text(l, ", !llvm.loop !%d", (int)node);
    tw_ll_text(l, "\n");
}

void tw_ll_for(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_block *region = &op->blocks[0];
    const tw_op *yield = region->last;
    uint32_t number = ++l->last_block;
    tw_label before = l->block, body = {".for", "", number}, next = {".for", ".next", number},
             end = {".for", ".end", number};
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);

    tw_ref enter = tw_ll_let(l, "icmp slt %t %v, %v", type, op->operands[0], op->operands[1]);
    tw_ll_line(l, "br i1 %r, label %%%l, label %%%l", enter, body, end);

    tw_ll_block(l, body);
    tw_ll_set(l, region->args[0], "phi %t [ %v, %%%l ], [ %%%l.index, %%%l ]", type, op->operands[0], before,
              body, next);
    for (uint32_t i = 1; i < region->arg_count; i++)
        tw_ll_set(l, region->args[i], "phi %t [ %v, %%%l ], [ %v, %%%l ]", tw_ll_type_of(l, region->args[i]),
                  op->operands[i + 2], before, yield->operands[i - 1], next);
    tw_ll_block_ops(l, region);
    l->op = op;
    branch(l, next);
    end_round(l, op, body, next, end);

    tw_ll_block(l, end);
    for (uint32_t i = 0; i < op->result_count; i++) {
        tw_value result = tw_op_result(op, i);
        tw_ll_set(l, result, "phi %t [ %v, %%%l ], [ %v, %%%l ]", tw_ll_type_of(l, result),
                  op->operands[i + 3], before, yield->operands[i], next);
    }
}

void tw_ll_if(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    uint32_t number = ++l->last_block;
    bool has_else = op->block_count > 1;
    tw_label first = {".if", ".then", number}, second = {".if", ".else", number},
             end = {".if", ".end", number};
    tw_ll_line(l, "br i1 %v, label %%%l, label %%%l", op->operands[0], first, has_else ? second : end);
    tw_label last[2]; /* the blocks in which the regions end */
    for (uint32_t i = 0; i < op->block_count; i++) {
        tw_ll_block(l, i ? second : first);
        tw_ll_block_ops(l, &op->blocks[i]);
        l->op = op;
        last[i] = l->block;
        branch(l, end);
    }
    tw_ll_block(l, end);
    for (uint32_t i = 0; i < op->result_count; i++) {
        tw_value result = tw_op_result(op, i);
        tw_ll_set(l, result, "phi %t [ %v, %%%l ], [ %v, %%%l ]", tw_ll_type_of(l, result),
                  op->blocks[0].last->operands[i], last[0], op->blocks[1].last->operands[i], last[1]);
    }
}
