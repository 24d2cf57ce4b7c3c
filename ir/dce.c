/* Dead code: ops whose results nobody uses and that do nothing else go, loops and branches with them when
 * nothing is left in them that does. One walk against program order: users are looked at before what they
 * use. */
#include "ir/ir.h"
#include "support/fail.h"

typedef struct sweeper {
    uint32_t *uses; /* by value */
    bool changed;
} sweeper;

static bool is_used(const sweeper *s, const tw_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (s->uses[op->first_result.id + i]) return true;
    return false;
}

static bool does_nothing_else(const tw_op *op) {
    switch (tw_op_info_get(op->opcode)->effect) {
    case E_PURE:
    case E_CROSS_LANE:
    case E_WHOLE_WAVE:
    case E_READS_GLOBAL:
    case E_READS_LDS:
    case E_WAVE_READS_GLOBAL:
    case E_WAVE_READS_LDS:
    case E_ALLOC: return true;
    default: return false;
    }
}

static void forget_uses(sweeper *s, const tw_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        s->uses[op->operands[i].id]--;
    for (uint32_t region = 0; region < op->block_count; region++)
        for (const tw_op *inner = op->blocks[region].first; inner; inner = inner->next)
            forget_uses(s, inner);
}

static bool sweep_block(sweeper *s, tw_block *block);

/* True when the op must stay for what it does, apart from its results. */
static bool sweep_op(sweeper *s, tw_op *op) {
    if (op->opcode == TW_OP_YIELD) return false;
    if (!op->block_count) return !does_nothing_else(op);
    bool acts = false;
    for (uint32_t i = 0; i < op->block_count; i++)
        acts |= sweep_block(s, &op->blocks[i]);
    return acts;
}

/* True when something in the block acts on the world. */
static bool sweep_block(sweeper *s, tw_block *block) {
    bool acts = false;
    for (tw_op *op = block->last, *before; op; op = before) {
        before = op->prev;
        if (sweep_op(s, op)) {
            acts = true;
        } else if (op->opcode != TW_OP_YIELD && !is_used(s, op)) {
            forget_uses(s, op);
            tw_block_remove(op);
            s->changed = true;
        }
    }
    return acts;
}

tw_status tw_pass_dce(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    tw_arena scratch;
    tw_arena_init(&scratch, kernel->ctx->allocator);
    sweeper s = {.uses = TW_ARENA_NEW(&scratch, uint32_t, (size_t)kernel->value_count + 1)};
    if (!s.uses) return tw_fail_no_memory(diag);
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            s.uses[op->operands[i].id]++;
    sweep_block(&s, &kernel->body);
    tw_arena_free(&scratch);
    *changed |= s.changed;
    kernel->verified &= !s.changed;
    return TW_OK;
}
