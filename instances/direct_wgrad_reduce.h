/* direct_wgrad_reduce: folds the fp32 slabs of a weight gradient, slab[r][s][c], into dW[c][r][s][1] in f32,
 * f16 or bf16. The slabs are added in order, so the result does not depend on timing. Arguments of the
 * kernel: ws, dw, c, slabs, ws_bytes, dw_bytes. See docs/instances.md. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_REDUCE_H
#define TW_INSTANCES_DIRECT_WGRAD_REDUCE_H

#include "instances/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields, ranges and defaults: instances/direct_wgrad_reduce.def. */
typedef struct tw_wgrad_reduce_spec {
#define SPEC_INT(name, label, min, max, default_value, doc)  int32_t name;
#define SPEC_DTYPE(name, label, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_reduce.def"
} tw_wgrad_reduce_spec;

typedef struct tw_wgrad_reduce_problem {
#define PROBLEM_INT(name, min, max, default_value, doc) int32_t name;
#include "instances/direct_wgrad_reduce.def"
} tw_wgrad_reduce_problem;

/* Defaults of every field; either may be NULL. */
TW_API void tw_wgrad_reduce_defaults(tw_wgrad_reduce_spec *spec, tw_wgrad_reduce_problem *problem);
/* TW_ERR_INVALID with a reason where the spec cannot be built for the target. */
TW_API tw_status tw_wgrad_reduce_validate(const tw_wgrad_reduce_spec *spec, tw_target target, tw_diag *diag);
/* The kernel, named by its label; NULL on error, with the reason in the context's diagnostics. */
TW_API tw_kernel *tw_wgrad_reduce_build(tw_context *ctx, const tw_wgrad_reduce_spec *spec, tw_target target);
/* The instance of spec and problem (NULL: defaults), for tw_job_new. */
TW_API tw_instance tw_wgrad_reduce_instance(const tw_wgrad_reduce_spec *spec,
                                            const tw_wgrad_reduce_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
