#ifndef TW_INSTANCES_DIRECT_WGRAD_REDUCE_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_REDUCE_INTERNAL_H

#include "instances/direct_wgrad_reduce.h"
#include "instances/family.h"

extern const tw_family tw_family_direct_wgrad_reduce;

tw_kernel *tw_reduce_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);
/* The last step of a plan: `reduce` (its problem checked and complete) folds plan buffer `ws` into the tensor
 * `dw`. Adds the kernel, the buffer dw and the launch to the job. */
void tw_reduce_plan_launch(tw_job *job, const tw_instance *reduce, uint32_t ws, tw_tensor dw);
/* dW of a depthwise convolution: [c][kh][kw][1]. */
tw_tensor tw_reduce_tensor(const tw_instance *reduce);

#endif
