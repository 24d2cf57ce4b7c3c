/* How a launch of a plan meets a kernel. */
#ifndef TW_RUN_PLAN_INTERNAL_H
#define TW_RUN_PLAN_INTERNAL_H

#include "run/kernarg.h"
#include "run/plan.h"

/* Where the address of a plan's buffer goes. */
typedef struct tw_plan_pointer {
    uint32_t kernarg_offset;
    uint32_t buffer;
    uint64_t byte_offset;
} tw_plan_pointer;

/* The explicit arguments of one launch, ready but for the addresses. */
typedef struct tw_plan_kernarg {
    uint8_t *bytes;
    size_t size;
    tw_plan_pointer *pointers;
    size_t pointer_count;
} tw_plan_kernarg;

/* Checks shape, number, kinds, sizes and names of the arguments, and packs them. tw_plan_kernarg_free in
 * either case. */
tw_status tw_plan_pack(const tw_plan_launch *launch, const tw_kernel_info *kernel, tw_target target,
                       tw_plan_kernarg *out, tw_diag *diag);
void tw_plan_kernarg_free(tw_plan_kernarg *kernarg);

/* Launches `kernel` of `module` with the addresses of `buffers` in its arguments. */
tw_status tw_plan_kernarg_launch(const tw_plan_kernarg *kernarg, tw_module *module, const char *kernel,
                                 const tw_launch_shape *shape, tw_buffer *const *buffers, tw_diag *diag);

#endif
