/* direct_wgrad_image: the weight gradient of a convolution of stride 1 on the matrix units of gfx11 and
 * gfx12, NHWC, f16 or bf16, sums in fp32. A workgroup owns a tile of k x c for every tap of the filter and
 * walks over rows of images; what it found is added into one of several fp32 slabs, slab[k][r][s][c], which
 * direct_wgrad_reduce folds into dW. Sizes are arguments of the kernel. See docs/instances.md. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_IMAGE_H
#define TW_INSTANCES_DIRECT_WGRAD_IMAGE_H

#include "instances/instance.h"
#include "instances/wgrad_problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields, ranges and defaults: instances/direct_wgrad_image.def. */
typedef struct tw_wgrad_image_spec {
#define SPEC_INT(name, label, min, max, default_value, doc)  int32_t name;
#define SPEC_DTYPE(name, label, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_image.def"
} tw_wgrad_image_spec;

/* Defaults of every field; either may be NULL. */
TW_API void tw_wgrad_image_defaults(tw_wgrad_image_spec *spec, tw_wgrad_problem *problem);
/* TW_ERR_INVALID with a reason where the spec cannot be built for the target. */
TW_API tw_status tw_wgrad_image_validate(const tw_wgrad_image_spec *spec, tw_target target, tw_diag *diag);
/* The kernel, named by its label; NULL on error, with the reason in the context's diagnostics. */
TW_API tw_kernel *tw_wgrad_image_build(tw_context *ctx, const tw_wgrad_image_spec *spec, tw_target target);
/* The instance of spec and problem (NULL: defaults), for tw_job_new. */
TW_API tw_instance tw_wgrad_image_instance(const tw_wgrad_image_spec *spec, const tw_wgrad_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
