/* The ops that a walk in program order has met, for finding equal ones again. */
#ifndef TW_IR_CSE_H
#define TW_IR_CSE_H

#include "ir/ir.h"

typedef struct tw_cse_entry tw_cse_entry;

typedef struct tw_cse {
    const tw_kernel *kernel;
    tw_cse_entry *entries; /* a stack: a block's go when it ends */
    uint32_t entry_count;
    uint32_t *buckets; /* the newest entry's place + 1 */
    uint32_t bucket_mask;
} tw_cse;

/* Room for each op of the kernel once, from `arena`. False when memory is out. */
bool tw_cse_init(tw_cse *cse, const tw_kernel *kernel, tw_arena *arena);
/* The equal op that may stand for `op`, whose operands are final; NULL, and `op` is kept in mind, where there
 * is none, and for ops that do more than give a result. */
const tw_op *tw_cse_find_or_add(tw_cse *cse, tw_op *op);
/* Back to the first `count` entries, as entry_count was when the block began. */
void tw_cse_forget(tw_cse *cse, uint32_t count);

#endif
