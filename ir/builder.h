/* What the files of the builder share. */
#ifndef TW_IR_BUILDER_H
#define TW_IR_BUILDER_H

#include "ir/ir.h"
#include "ir/rules.h"

/* An open region. */
typedef struct tw_frame {
    struct tw_frame *outer;
    tw_op *op;       /* scf.for or scf.if */
    tw_block *block; /* where ops went before this region was opened */
} tw_frame;

/* Lives in its kernel's arena. */
struct tw_builder {
    tw_kernel *kernel;
    tw_block *block;       /* where the next op goes */
    tw_frame *frames;      /* innermost first */
    tw_frame *free_frames; /* closed ones, to be used again */
    uint32_t depth;
    bool failed;
};

/* False when calls do nothing: after the first error, and for a builder that memory was missing for. */
static inline bool tw_builder_is_live(const tw_builder *b) { return b && !b->failed; }

/* The caller broke the API's contract in a call that concerns `opcode` (TW_OP_INVALID: none). */
void tw_builder_misuse(tw_builder *b, tw_opcode opcode, const char *format, ...) TW_PRINTF(3, 4);
void tw_builder_no_memory(tw_builder *b);

/* An op with its operands, each of them checked to be a value in scope; it stands in no block yet. NULL when
 * the builder has failed. */
tw_op *tw_builder_op(tw_builder *b, tw_opcode opcode, const tw_value *operands, uint32_t operand_count,
                     uint32_t block_count);
/* Appends the op and checks it by all its rules. False when it fails. */
bool tw_builder_append(tw_builder *b, tw_op *op);

/* A whole op without regions. `type`: what is given for results of R_GIVEN_*. `attrs`: one for each of the
 * row's, in its order, or NULL where all are missing; strings and lists already live as long as the kernel.
 */
tw_value tw_builder_emit(tw_builder *b, tw_opcode opcode, const tw_type *type, const tw_value *operands,
                         uint32_t operand_count, const tw_attr *attrs);

#endif
