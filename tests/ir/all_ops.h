/* Kernels that together use every op of ir/opcodes.def, with every kind of attribute, type and name. */
#ifndef TW_TESTS_IR_ALL_OPS_H
#define TW_TESTS_IR_ALL_OPS_H

#include "ir/build.h"

size_t all_ops_count(void);
const char *all_ops_name(size_t index);
/* The kernel at `index` for `target`: what the target lacks is left out. NULL on error. */
tw_kernel *all_ops_build(tw_context *ctx, tw_target target, size_t index);

#endif
