/* The rules about lanes and waves that need the uniformity of values. */
#include <inttypes.h>

#include "ir/rules.h"
#include "ir/uniform.h"

typedef struct checker {
    const tw_kernel *kernel;
    tw_diag *diag;
    const uint8_t *levels;
    tw_status status;
} checker;

#define CAUSE_STEPS 64

/* Of two candidates the one that comes first in the kernel: loops lead back, and that is the way out of them.
 */
static void consider(const checker *c, tw_value candidate, uint8_t level, tw_value *cause) {
    if (c->levels[candidate.id] != level) return;
    if (!cause->id || candidate.id < cause->id) *cause = candidate;
}

/* Operand `i` of the op has a part in the value: of what a loop starts with, only the value's own. */
static bool has_a_part(const tw_op *op, const tw_value_info *info, uint32_t i) {
    if (op->opcode != TW_OP_FOR) return true;
    if (info->op) return i < 3 || i == 3 + info->index;
    return info->index ? i == 2 + info->index : i == 0 || i == 2;
}

/* One step from a value toward why it is not more uniform; poison at the end of the way. */
static tw_value cause_of(const checker *c, tw_value value) {
    const tw_value_info *info = tw_value_get(c->kernel, value);
    const tw_op *op = info->op ? info->op : info->block->parent;
    uint8_t level = c->levels[value.id];
    tw_value cause = {0};
    for (uint32_t i = 0; op && i < op->operand_count; i++)
        if (has_a_part(op, info, i)) consider(c, op->operands[i], level, &cause);
    for (uint32_t region = 0; op && region < op->block_count; region++) {
        const tw_op *yield = op->blocks[region].last;
        uint32_t index = info->op ? info->index : info->index - 1;
        if (index < yield->operand_count) consider(c, yield->operands[index], level, &cause);
    }
    return cause;
}

/* The name of the op where the difference comes from. */
static const char *cause_name(const checker *c, tw_value value) {
    for (int i = 0; i < CAUSE_STEPS; i++) {
        tw_value cause = cause_of(c, value);
        if (!cause.id) break;
        value = cause;
    }
    const tw_op *op = tw_value_get(c->kernel, value)->op;
    return op ? tw_op_info_get(op->opcode)->name : "scf.for";
}

static void check_operands(checker *c, const tw_op *op, const tw_op_info *info) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!tw_type_class_is_uniform(tw_op_operand_class(info, i)) || c->levels[op->operands[i].id])
            continue;
        c->status = tw_refuse_op(c->kernel, op, c->diag, TW_ERR_INVALID,
                                 "operand %" PRIu32
                                 " must be the same in all lanes of the wave (got one that depends on %s)",
                                 i, cause_name(c, op->operands[i]));
        return;
    }
}

/* The operand of scf.for or scf.if that lets some of those in that should stay together and not the others.
 */
static tw_value dividing_operand(const checker *c, const tw_op *owner, uint8_t needed) {
    uint32_t count = owner->opcode == TW_OP_FOR ? 3 : 1;
    for (uint32_t i = 0; i < count; i++)
        if (c->levels[owner->operands[i].id] < needed) return owner->operands[i];
    return (tw_value){0};
}

static void check_reached(checker *c, const tw_op *op, uint8_t needed, const char *who) {
    for (const tw_op *owner = op->parent->parent; owner; owner = owner->parent->parent) {
        tw_value divides = dividing_operand(c, owner, needed);
        if (!divides.id) continue;
        c->status = tw_refuse_op(
            c->kernel, op, c->diag, TW_ERR_INVALID,
            "%s must reach it, so %s around it must do the same for all of them (got one that depends on %s)",
            who, tw_op_info_get(owner->opcode)->name, cause_name(c, divides));
        return;
    }
}

static bool is_one_wave(const tw_kernel *kernel) {
    const tw_kernel_options *o = &kernel->options;
    uint64_t y = o->workgroup_size_y ? o->workgroup_size_y : 1,
             z = o->workgroup_size_z ? o->workgroup_size_z : 1;
    return o->workgroup_size * y * z <= kernel->target.wave_size;
}

static void check_op(checker *c, const tw_op *op, uint8_t barrier_level) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    check_operands(c, op, info);
    if (info->effect == E_BARRIER) check_reached(c, op, barrier_level, "all work-items of the workgroup");
    if (tw_effect_is_whole_wave(info->effect))
        check_reached(c, op, TW_UNIFORM_IN_WAVE, "all lanes of the wave");
}

/* Kernels without such ops need no analysis. */
static bool needs_analysis(const tw_kernel *kernel) {
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op)) {
        const tw_op_info *info = tw_op_info_get(op->opcode);
        if (op->parent->parent && (info->effect == E_BARRIER || tw_effect_is_whole_wave(info->effect)))
            return true;
        for (uint32_t i = 0; i < info->operand_count; i++)
            if (tw_type_class_is_uniform(info->operands[i])) return true;
    }
    return false;
}

tw_status tw_kernel_check_uniform(const tw_kernel *kernel, tw_diag *diag) {
    if (!needs_analysis(kernel)) return TW_OK;
    const tw_allocator *allocator = &tw_allocator_default;
    uint8_t *levels = allocator->allocate(allocator->user, (size_t)kernel->value_count + 1);
    checker c = {.kernel = kernel, .diag = diag, .levels = levels};
    if (!levels || !tw_uniformity_compute(kernel, levels)) {
        c.status = tw_fail_no_memory(diag);
    } else {
        uint8_t barrier_level = is_one_wave(kernel) ? TW_UNIFORM_IN_WAVE : TW_UNIFORM_IN_WORKGROUP;
        for (const tw_op *op = kernel->body.first; op && !c.status; op = tw_op_after(op))
            check_op(&c, op, barrier_level);
    }
    if (levels) allocator->release(allocator->user, levels);
    return c.status;
}
