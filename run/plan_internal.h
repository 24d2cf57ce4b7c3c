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

/* One launch as it meets the device: `kernel` of `module`, once the `zeroed` ones of `buffers` are cleared.
 */
typedef struct tw_ready_launch {
    tw_module *module;
    const char *kernel;
    tw_launch_shape shape;
    const uint32_t *zeroed;
    size_t zeroed_count;
    const tw_plan_kernarg *kernarg;
} tw_ready_launch;

tw_status tw_launch_ready(const tw_ready_launch *launch, tw_buffer *const *buffers, tw_diag *diag);

#endif
