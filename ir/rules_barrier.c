/* Split barriers: a signal and its wait stand in one block, with no other barrier between them. */
#include "ir/rules.h"

tw_status tw_rule_split_barrier(const tw_check *check) {
    return tw_check_feature(check, TW_ARCH_HAS_SPLIT_BARRIER);
}

static tw_status check_between(const tw_kernel *kernel, const tw_block *block, tw_diag *diag);

/* A region between a signal and its wait: it must have no barrier. */
static tw_status check_inside(const tw_kernel *kernel, const tw_op *owner, bool open, tw_diag *diag) {
    for (uint32_t i = 0; i < owner->block_count; i++) {
        for (const tw_op *op = owner->blocks[i].first; open && op; op = op->next) {
            if (tw_op_info_get(op->opcode)->effect == E_BARRIER)
                return tw_refuse_op(kernel, op, diag, TW_ERR_INVALID,
                                    "must not stand between a tile.barrier_signal and its wait (got %s "
                                    "around it)",
                                    tw_op_info_get(owner->opcode)->name);
            tw_status status = check_inside(kernel, op, true, diag);
            if (status) return status;
        }
        tw_status status = open ? TW_OK : check_between(kernel, &owner->blocks[i], diag);
        if (status) return status;
    }
    return TW_OK;
}

static tw_status check_between(const tw_kernel *kernel, const tw_block *block, tw_diag *diag) {
    const tw_op *signal = NULL;
    for (const tw_op *op = block->first; op; op = op->next) {
        const tw_op_info *info = tw_op_info_get(op->opcode);
        tw_status status = check_inside(kernel, op, signal != NULL, diag);
        if (status) return status;
        if (info->effect != E_BARRIER) continue;
        if (op->opcode == TW_OP_BARRIER_WAIT) {
            if (!signal)
                return tw_refuse_op(kernel, op, diag, TW_ERR_INVALID,
                                    "must stand behind a tile.barrier_signal in its block (got none)");
            signal = NULL;
            continue;
        }
        if (signal)
            return tw_refuse_op(kernel, signal, diag, TW_ERR_INVALID,
                                "must be followed by its tile.barrier_wait before another barrier (got %s)",
                                info->name);
        if (op->opcode == TW_OP_BARRIER_SIGNAL) signal = op;
    }
    if (!signal) return TW_OK;
    return tw_refuse_op(kernel, signal, diag, TW_ERR_INVALID,
                        "must be followed by its tile.barrier_wait in its block (got none)");
}

tw_status tw_kernel_check_barriers(const tw_kernel *kernel, tw_diag *diag) {
    return check_between(kernel, &kernel->body, diag);
}
