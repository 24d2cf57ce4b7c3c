/* The verifier: believes nothing that it can rebuild. First the structure (blocks, links, who defines which
 * value and where it may be used), then each op by tw_op_check, then what concerns several ops at once. */
#include <inttypes.h>
#include <string.h>

#include "ir/rules.h"
#include "ir/uniform.h"

#define ERRORS_MAX 20

enum { UNSEEN = 0, IN_SCOPE, CLOSED };

typedef struct verifier {
    const tw_kernel *kernel;
    tw_diag *diag;
    tw_status status; /* of the first error */
    uint32_t errors;
    uint8_t *state; /* by value id */
} verifier;

static void note(verifier *v, tw_status status) {
    if (!status) return;
    if (!v->status) v->status = status;
    v->errors++;
}

static bool full(const verifier *v) { return v->errors >= ERRORS_MAX; }

#define REFUSE(v, op, ...) note(v, tw_refuse_op((v)->kernel, op, (v)->diag, TW_ERR_INVALID, __VA_ARGS__))

/* ---- values ---- */

/* The value is `index` of what `op` (or `block`, as its argument) defines, and nothing else defines it. */
static bool define(verifier *v, const tw_op *op, const tw_block *block, uint32_t index, uint64_t id) {
    const tw_op *named = op ? op : block->parent;
    const char *what = op ? "result" : "argument";
    const char *got = NULL;
    if (id == 0 || id > v->kernel->value_count) {
        got = "an id that is no value";
    } else if (v->state[id] != UNSEEN) {
        got = "a value that is defined twice";
    } else {
        const tw_value_info *info = &v->kernel->values[id];
        if (!info->type) got = "a value without a type";
        if (info->op != op || info->block != (op ? NULL : block) || info->index != index)
            got = "a value of something else";
        v->state[id] = IN_SCOPE;
    }
    if (!got) return true;
    if (named) {
        REFUSE(v, named, "%s %" PRIu32 " must be a value of its own (got %s)", what, index, got);
    } else {
        note(v, tw_fail_at(v->diag, TW_ERR_INVALID, tw_kernel_where(v->kernel), 0, 0,
                           "parameter %" PRIu32 " must be a value of its own (got %s)", index, got));
    }
    return false;
}

static void close_block(verifier *v, const tw_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++)
        v->state[block->args[i].id] = CLOSED;
    for (const tw_op *op = block->first; op; op = op->next)
        for (uint32_t i = 0; i < op->result_count; i++)
            v->state[op->first_result.id + i] = CLOSED;
}

static bool check_uses(verifier *v, const tw_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        uint32_t id = op->operands[i].id;
        if (id == 0 || id > v->kernel->value_count || v->state[id] == IN_SCOPE) continue; /* tw_op_check */
        REFUSE(v, op, "operand %" PRIu32 " must be a value in scope (got %s)", i,
               v->state[id] == CLOSED ? "one of a closed region" : "one that is not defined before");
        return false;
    }
    return true;
}

/* ---- structure ---- */

static bool check_block(verifier *v, const tw_block *block, const tw_op *owner, unsigned depth);

static bool check_regions(verifier *v, const tw_op *op, unsigned depth) {
    if (op->block_count && op->opcode != TW_OP_FOR && op->opcode != TW_OP_IF) {
        REFUSE(v, op, "must have no region (got %" PRIu32 ")", op->block_count);
        return false;
    }
    if (op->block_count && depth == TW_DEPTH_MAX) {
        note(v,
             tw_refuse_op(v->kernel, op, v->diag, TW_ERR_LIMIT,
                          "regions must be nested at most %d deep (got %d)", TW_DEPTH_MAX, TW_DEPTH_MAX + 1));
        return false;
    }
    for (uint32_t i = 0; i < op->block_count; i++)
        if (!check_block(v, &op->blocks[i], op, depth + 1)) return false;
    return true;
}

/* False when the structure is damaged, so that to go on makes no sense. */
static bool check_one(verifier *v, const tw_op *op, unsigned depth) {
    if (!tw_op_info_get(op->opcode)) {
        note(v, tw_op_check(v->kernel, op, v->diag));
        return false;
    }
    if (check_uses(v, op)) note(v, tw_op_check(v->kernel, op, v->diag));
    if (!check_regions(v, op, depth)) return false;
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!define(v, op, NULL, i, (uint64_t)op->first_result.id + i)) return false;
    return !full(v);
}

static bool is_terminator(const tw_op *op) { return op->opcode == TW_OP_RETURN || op->opcode == TW_OP_YIELD; }

static bool check_end(verifier *v, const tw_block *block, const tw_op *owner) {
    const tw_op *last = block->last;
    tw_opcode wanted = owner ? TW_OP_YIELD : TW_OP_RETURN;
    if (last && last->opcode == wanted) return true;
    const char *end = tw_op_info_get(wanted)->name,
               *got = last ? tw_op_info_get(last->opcode)->name : "no op";
    if (owner) {
        REFUSE(v, owner, "a region must end with %s (got %s)", end, got);
    } else {
        note(v, tw_fail_at(v->diag, TW_ERR_INVALID, tw_kernel_where(v->kernel), 0, 0,
                           "the kernel's body must end with %s (got %s)", end, got));
    }
    return false;
}

static bool check_block(verifier *v, const tw_block *block, const tw_op *owner, unsigned depth) {
    for (uint32_t i = 0; i < block->arg_count; i++)
        if (!define(v, NULL, block, i, block->args[i].id)) return false;
    const tw_op *previous = NULL;
    for (const tw_op *op = block->first; op; op = op->next) {
        if (op->parent != block || op->prev != previous || block->parent != owner) {
            REFUSE(v, op, "must be linked to its block and its neighbours (got a broken list)");
            return false;
        }
        if (previous && is_terminator(previous)) {
            REFUSE(v, previous, "must be the last op of its block (got %s after it)",
                   tw_op_info_get(op->opcode) ? tw_op_info_get(op->opcode)->name : "an op");
            return false;
        }
        if (!check_one(v, op, depth)) return false;
        previous = op;
    }
    if (block->last != previous) {
        note(v, tw_fail_at(v->diag, TW_ERR_INVALID, tw_kernel_where(v->kernel), 0, 0,
                           "the last op of a block must be the last of its list (got another)"));
        return false;
    }
    if (!check_end(v, block, owner)) return false;
    close_block(v, block);
    return true;
}

/* ---- the whole kernel ---- */

static void check_lds(verifier *v) {
    uint64_t bytes = tw_kernel_lds_bytes(v->kernel);
    uint64_t limit = tw_arch_get(v->kernel->target.arch)->lds_bytes;
    if (bytes > limit)
        note(v, tw_fail_at(v->diag, TW_ERR_INVALID, tw_kernel_where(v->kernel), 0, 0,
                           "the kernel's LDS must fit the target's %" PRIu64 " bytes (got %" PRIu64 ")",
                           limit, bytes));
}

static void check_kernel(verifier *v) {
    const tw_kernel *kernel = v->kernel;
    note(v, tw_kernel_check_head(kernel, v->diag));
    for (uint32_t i = 0; i < kernel->body.arg_count && !full(v); i++)
        note(v, tw_kernel_check_param(kernel, i, v->diag));
    if (v->errors || !check_block(v, &kernel->body, NULL, 0) || v->errors) return;
    check_lds(v);
    if (!v->errors) note(v, tw_kernel_check_barriers(kernel, v->diag));
    if (!v->errors) note(v, tw_kernel_check_uniform(kernel, v->diag));
}

tw_status tw_kernel_verify(const tw_kernel *kernel, tw_diag *diag) {
    /* Several threads may verify one kernel: the scratch memory does not come from the context's allocator.
     */
    const tw_allocator *allocator = &tw_allocator_default;
    uint8_t *state = allocator->allocate(allocator->user, (size_t)kernel->value_count + 1);
    if (!state) return tw_fail_no_memory(diag);
    memset(state, 0, (size_t)kernel->value_count + 1);
    verifier v = {.kernel = kernel, .diag = diag, .state = state};
    check_kernel(&v);
    allocator->release(allocator->user, state);
    return v.status;
}
