/* direct_wgrad_depthwise: the weight gradient of a depthwise convolution, NHWC,
 *
 *     dW[c][r][s] = sum over n, ho, wo of dY[n][ho][wo][c] * X[n][row][column][c]
 *     row = ho * stride + r - pad_h, column = wo * stride + s - pad_w
 *
 * where taps outside X contribute nothing. X and dY are f16 or bf16, sums are fp32. The kernel adds what each
 * workgroup found into one of several fp32 slabs, slab[r][s][c], which direct_wgrad_reduce folds into
 * dW[c][r][s][1]. Sizes are arguments of the kernel: x, dy, ws, n, h, w, ho, wo, c, pad_h, pad_w, row_blocks,
 * x_bytes, dy_bytes, ws_bytes; the plan gives them. See docs/instances.md. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_DEPTHWISE_H
#define TW_INSTANCES_DIRECT_WGRAD_DEPTHWISE_H

#include "instances/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fields, ranges and defaults: instances/direct_wgrad_depthwise.def. */
typedef struct tw_wgrad_depthwise_spec {
#define SPEC_INT(name, label, min, max, default_value, doc)  int32_t name;
#define SPEC_DTYPE(name, label, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_depthwise.def"
} tw_wgrad_depthwise_spec;

typedef struct tw_wgrad_depthwise_problem {
#define PROBLEM_INT(name, min, max, default_value, doc)  int32_t name;
#define PROBLEM_DTYPE(name, formats, default_value, doc) int32_t name; /* tw_scalar */
#include "instances/direct_wgrad_depthwise.def"
} tw_wgrad_depthwise_problem;

/* Defaults of every field; either may be NULL. */
TW_API void tw_wgrad_depthwise_defaults(tw_wgrad_depthwise_spec *spec, tw_wgrad_depthwise_problem *problem);
/* TW_ERR_INVALID with a reason where the spec cannot be built for the target. */
TW_API tw_status tw_wgrad_depthwise_validate(const tw_wgrad_depthwise_spec *spec, tw_target target,
                                             tw_diag *diag);
/* The kernel, named by its label; NULL on error, with the reason in the context's diagnostics. */
TW_API tw_kernel *tw_wgrad_depthwise_build(tw_context *ctx, const tw_wgrad_depthwise_spec *spec,
                                           tw_target target);
/* The instance of spec and problem (NULL: defaults), for tw_job_new. */
TW_API tw_instance tw_wgrad_depthwise_instance(const tw_wgrad_depthwise_spec *spec,
                                               const tw_wgrad_depthwise_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
