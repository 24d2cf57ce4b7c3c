/* What the dense weight-gradient families share: the problem and its sizes, the plan of two launches, the
 * kernel's arguments, the slabs and the reference. Slabs are laid out as dW is, slab[index][k][r][s][c of the
 * group], f32; direct_wgrad_reduce folds them flat, as one tap of many channels. */
#ifndef TW_INSTANCES_WGRAD_DENSE_H
#define TW_INSTANCES_WGRAD_DENSE_H

#include "instances/direct_wgrad_reduce_internal.h"
#include "instances/emit.h"
#include "instances/wgrad_problem.h"
#include "instances/wide.h"

/* What a family's spec says of the convolution and of its slabs. */
typedef struct tw_dense {
    int32_t kh, kw, stride, dtype, ws_replicas, reproducible;
} tw_dense;

/* What follows from the problem. */
typedef struct tw_dense_sizes {
    int64_t pad_h, pad_w, ho, wo;
    int64_t walk_h, walk_w, walk_ho, walk_wo; /* what the kernel is told of an image: the same, or reshaped */
    int64_t group_c, group_k;                 /* channels of a group */
    bool empty;                               /* no product at all: the kernel is told n = 0 */
    tw_wide x_bytes, dy_bytes;
    int64_t elements; /* of dW; -1 when past 2^31 - 1 */
} tw_dense_sizes;

/* The rows of instances/wgrad_problem.def: a dense family's problem. */
extern const tw_field tw_dense_problem_fields[sizeof(tw_wgrad_problem) / sizeof(int32_t)];
/* Of a dense family's instance, by the names of its fields; the stride is 1 where it has no such field. */
tw_dense tw_dense_of(const tw_instance *instance);

/* Measures the job's problem and checks it, and the job's reduction with it. */
tw_status tw_dense_measure(const tw_job *job, const tw_dense *dense, tw_dense_sizes *out, tw_diag *diag);

/* An i32 argument of one family, after those of tw_dense_args. */
typedef struct tw_dense_extra {
    const char *name;
    int64_t value;
} tw_dense_extra;

typedef struct tw_dense_launch {
    tw_dim3 grid, block;
    int64_t writers; /* workgroups that add to one tile of dW; in reproducible mode the number of slabs */
    const tw_dense_extra *extra;
    size_t extra_count;
} tw_dense_launch;

/* The plan: buffers x, dy, ws, dw, the family's launch, the reduction. */
tw_status tw_dense_plan(tw_job *job, const tw_dense *dense, const tw_dense_sizes *sizes,
                        const tw_dense_launch *launch, tw_diag *diag);
/* dW of the job, whose buffers tw_dense_plan made. */
tw_status tw_dense_reference(const tw_job *job, const tw_dense *dense, const void *const *inputs,
                             const tw_reference *outputs, tw_diag *diag);
/* The reduction's spec that goes with the convolution. */
void tw_dense_derive_reduce(const tw_dense *dense, const tw_wgrad_problem *problem, int32_t *reduce);
/* The same two as a family has them, for the convolution that tw_dense_of gives. */
tw_status tw_dense_reference_of(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                                tw_diag *diag);
void tw_dense_derive_reduce_of(const tw_instance *instance, int32_t *reduce);

/* ---- for the kernels ---- */

/* Arguments, declared in this order: x, dy, ws, then the sizes. All but the resources are i32. */
typedef struct tw_dense_args {
    tw_value x_pointer, dy_pointer;
    tw_value x, dy, ws; /* buffer resources with the exact bytes */
    tw_value n, h, w, ho, wo, c, k, group_c, group_k, pad_h, pad_w, elements;
    tw_value x_bytes, dy_bytes, ws_bytes;
} tw_dense_args;

/* Declares the arguments and makes the resources. */
void tw_dense_params(tw_builder *b, tw_scalar dtype, tw_dense_args *out);
/* The same with the family's own i32 arguments, those of tw_dense_launch.extra, behind them. */
void tw_dense_params_with(tw_builder *b, tw_scalar dtype, const char *const *names, tw_value *values,
                          size_t count, tw_dense_args *out);

/* How a workgroup gives fragments of dW to its slab: rows are k, columns c, both of one group. */
typedef struct tw_dense_slab {
    tw_builder *b;
    tw_target target;
    const tw_dense_args *args;
    const char *atom; /* whose D the fragments are */
    int taps;
    bool atomic;    /* add; else store: the workgroup is the only writer of its slab */
    tw_value index; /* which slab, uniform */
    tw_value group; /* of the convolution, uniform */
} tw_dense_slab;

/* Gives one fragment: rows first_k.. and columns first_c.. within the group, at `tap` (all i32, uniform in
 * the wave). Elements past the group's channels are branched around: an atomic past the end faults on
 * hardware. */
void tw_dense_give(const tw_dense_slab *slab, tw_value fragment, tw_value first_k, tw_value first_c,
                   tw_value tap);
/* Gives each lane's element: row and column, which may differ by lane, of the tile that begins there. */
void tw_dense_give_element(const tw_dense_slab *slab, tw_value value, tw_value first_k, tw_value first_c,
                           tw_value tap, tw_value row, tw_value column);

#endif
