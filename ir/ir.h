/* How a kernel lies in memory: what the builder, parser, passes, lowerer and interpreter share. */
#ifndef TW_IR_IR_H
#define TW_IR_IR_H

#include "ir/build.h"
#include "ir/op_info.h"
#include "support/arena.h"

typedef struct tw_op tw_op;
typedef struct tw_block tw_block;

/* A straight list of ops: the kernel's body or a region of scf.for and scf.if. The last op of a body is
 * `return`, of a region `scf.yield`. */
struct tw_block {
    tw_op *parent; /* the op that the region belongs to; NULL for the body */
    tw_op *first, *last;
    tw_value *args; /* scf.for: the index, then the carried values; the body: the parameters */
    uint32_t arg_count;
};

struct tw_op {
    tw_opcode opcode;
    uint32_t operand_count;
    uint32_t result_count;
    uint32_t block_count; /* scf.for: 1; scf.if: 1 or 2 */
    tw_value *operands;
    tw_value first_result; /* results have consecutive ids */
    tw_attr *attrs; /* one for each attribute of the row, in its order; TW_ATTR_NONE where it is missing */
    tw_block *blocks;
    tw_block *parent;
    tw_op *prev, *next;
    uint32_t line, column; /* of the text; 0 when built */
};

typedef struct tw_value_info {
    const tw_type *type;
    const char *name; /* wanted name, or NULL */
    tw_op *op;        /* that defines it; NULL for arguments of a block */
    tw_block *block;  /* of whose arguments it is one; NULL for results */
    uint32_t index;   /* among the results or arguments */
} tw_value_info;

typedef struct tw_param_info {
    const char *name;
    unsigned flags;
} tw_param_info;

struct tw_context {
    const tw_allocator *allocator;
    tw_diag *diag;
    tw_kernel *kernels; /* newest first */
};

struct tw_kernel {
    tw_context *ctx;
    tw_kernel *prev, *next; /* the context's kernels */
    tw_arena arena;
    char *name;
    char *source; /* the file that the text came from, for diagnostics; NULL when built */
    tw_target target;
    tw_kernel_options options;
    tw_block body;
    tw_param_info *params; /* body.arg_count of them */
    tw_value_info *values; /* [1..value_count]; values[0] is poison */
    uint32_t value_count, value_capacity;
    bool verified; /* tw_kernel_verify found no fault, and nothing was changed since */
};

static inline const tw_value_info *tw_value_get(const tw_kernel *kernel, tw_value value) {
    return &kernel->values[value.id]; /* id is at most value_count by construction */
}
static inline const tw_type *tw_type_of(const tw_kernel *kernel, tw_value value) {
    return kernel->values[value.id].type;
}
static inline tw_value tw_op_result(const tw_op *op, uint32_t index) {
    return (tw_value){op->first_result.id + index};
}

/* The op after `op` in the order of the text, into regions and out of them; NULL at the end of the kernel. */
static inline tw_op *tw_op_after(const tw_op *op) {
    for (uint32_t i = 0; i < op->block_count; i++)
        if (op->blocks[i].first) return op->blocks[i].first;
    while (!op->next) {
        const tw_block *block = op->parent;
        const tw_op *owner = block->parent;
        if (!owner) return NULL;
        for (uint32_t i = (uint32_t)(block - owner->blocks) + 1; i < owner->block_count; i++)
            if (owner->blocks[i].first) return owner->blocks[i].first;
        op = owner;
    }
    return op->next;
}

/* ---- making and changing (ir/kernel.c). All return NULL, poison or false when memory is out. ---- */

/* An empty kernel that belongs to the context: no parameter, no op, nothing checked yet. */
tw_kernel *tw_kernel_new(tw_context *ctx, const char *name, size_t name_length, tw_target target,
                         const tw_kernel_options *options);
tw_value tw_value_new(tw_kernel *kernel, const tw_type *type, tw_op *op, tw_block *block, uint32_t index);
bool tw_kernel_add_param(tw_kernel *kernel, const char *name, size_t name_length, const tw_type *type,
                         unsigned flags, tw_value *out);
/* An op that stands in no block yet, with room for its operands, attributes (all TW_ATTR_NONE) and
 * `block_count` empty blocks, without results. */
tw_op *tw_op_new(tw_kernel *kernel, tw_opcode opcode, uint32_t operand_count, uint32_t block_count);
/* Gives the op `count` results of the given types. */
bool tw_op_add_results(tw_kernel *kernel, tw_op *op, const tw_type *const *types, uint32_t count);
bool tw_block_add_arg(tw_kernel *kernel, tw_block *block, const tw_type *type, tw_value *out);
void tw_block_append(tw_block *block, tw_op *op);
void tw_block_insert_before(tw_op *place, tw_op *op);
void tw_block_remove(tw_op *op);

/* The attribute by name; NULL where the row has no such attribute. */
const tw_attr *tw_op_attr(const tw_op *op, const char *name);
/* The value of an integer, boolean, enum or bits attribute, the row's default where it is missing. Verified
 * ops only. */
int64_t tw_op_attr_value(const tw_op *op, const char *name);

/* ---- rules (ir/rules.c): the one place where an op is checked ---- */

/* Everything that concerns one op alone: operand count and types, result types, attributes (kind, range,
 * target), extra rules. Called by builder, verifier and lowerer, so that all three refuse with the same text.
 * The text names the op: "tile.buffer_atomic_fadd: cachepolicy must be an integer 0..31 (got 20.9)". */
tw_status tw_op_check(const tw_kernel *kernel, const tw_op *op, tw_diag *diag);
/* The type of the op's result as the row gives it; NULL for none and for R_GIVEN_*, CARRIED, YIELDED. */
const tw_type *tw_op_result_type(const tw_kernel *kernel, const tw_op *op);

/* ---- passes: true in *changed when the kernel changed ---- */
tw_status tw_pass_fold(tw_kernel *kernel, bool *changed, tw_diag *diag);
tw_status tw_pass_cse(tw_kernel *kernel, bool *changed, tw_diag *diag);
/* Both in one walk: in turns they would need one walk for each step that one makes possible for the other. */
tw_status tw_pass_simplify(tw_kernel *kernel, bool *changed, tw_diag *diag);
tw_status tw_pass_dce(tw_kernel *kernel, bool *changed, tw_diag *diag);

/* A parsed kernel without verification, for tests of the verifier and the lowerer. */
tw_status tw_kernel_parse_unverified(tw_context *ctx, const char *text, size_t length,
                                     const tw_parse_options *options, tw_kernel **out);

#endif
