/* direct_wgrad_small_c: the weight gradient of a convolution of few input channels, without groups, on the
 * matrix units of gfx1250, NHWC, f16 or bf16, sums in fp32. The columns of dW are the flattened filter (r, s,
 * c); a workgroup owns a tile of k x columns and walks over its share of the output positions; what it found
 * is added into one of several fp32 slabs, slab[k][r][s][c], which direct_wgrad_reduce folds into dW. Filter,
 * stride and channels are the kernel's; other sizes are its arguments. See docs/instances.md. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_SMALL_C_H
#define TW_INSTANCES_DIRECT_WGRAD_SMALL_C_H

#include "instances/instance.h"
#include "instances/wgrad_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields, ranges and defaults: instances/direct_wgrad_small_c.def. */
typedef struct tw_wgrad_small_c_spec {
#define SPEC_INT(name, label, min, max, default_value, doc)  int32_t name;
#define SPEC_DTYPE(name, label, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_small_c.def"
} tw_wgrad_small_c_spec;

/* Defaults of every field (c of the problem: 3); either may be NULL. */
TW_API void tw_wgrad_small_c_defaults(tw_wgrad_small_c_spec *spec, tw_wgrad_problem *problem);
/* TW_ERR_INVALID with a reason where the spec cannot be built for the target. */
TW_API tw_status tw_wgrad_small_c_validate(const tw_wgrad_small_c_spec *spec, tw_target target,
                                           tw_diag *diag);
/* The kernel, named by its label; NULL on error, with the reason in the context's diagnostics. */
TW_API tw_kernel *tw_wgrad_small_c_build(tw_context *ctx, const tw_wgrad_small_c_spec *spec,
                                         tw_target target);
/* The instance of spec and problem (NULL: defaults), for tw_job_new. */
TW_API tw_instance tw_wgrad_small_c_instance(const tw_wgrad_small_c_spec *spec,
                                             const tw_wgrad_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
