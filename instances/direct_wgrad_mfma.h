/* direct_wgrad_mfma: the weight gradient of a convolution with groups and stride 1 on the matrix cores of
 * CDNA (gfx90a, gfx942, gfx950), NHWC; instances/wgrad_problem.h has the formula. X and dY are f16 or bf16,
 * sums are fp32. What each workgroup found goes into one of several fp32 slabs, which direct_wgrad_reduce
 * folds. See docs/instances.md. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_MFMA_H
#define TW_INSTANCES_DIRECT_WGRAD_MFMA_H

#include "instances/instance.h"
#include "instances/wgrad_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields, ranges and defaults: instances/direct_wgrad_mfma.def. */
typedef struct tw_wgrad_mfma_spec {
#define SPEC_INT(name, label, min, max, default_value, doc)  int32_t name;
#define SPEC_DTYPE(name, label, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_mfma.def"
} tw_wgrad_mfma_spec;

/* Defaults of every field; either may be NULL. */
TW_API void tw_wgrad_mfma_defaults(tw_wgrad_mfma_spec *spec, tw_wgrad_problem *problem);
/* TW_ERR_INVALID with a reason where the spec cannot be built for the target. */
TW_API tw_status tw_wgrad_mfma_validate(const tw_wgrad_mfma_spec *spec, tw_target target, tw_diag *diag);
/* The kernel, named by its label; NULL on error, with the reason in the context's diagnostics. */
TW_API tw_kernel *tw_wgrad_mfma_build(tw_context *ctx, const tw_wgrad_mfma_spec *spec, tw_target target);
/* The instance of spec and problem (NULL: defaults), for tw_job_new. */
TW_API tw_instance tw_wgrad_mfma_instance(const tw_wgrad_mfma_spec *spec, const tw_wgrad_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
