/* The shape of one direct_wgrad_mfma kernel, and its builder's state. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_MFMA_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_MFMA_INTERNAL_H

#include "instances/direct_wgrad_mfma.h"
#include "instances/wgrad_dense.h"
#include "instances/wgrad_stage.h"

enum {
    MF_MAX_KERNEL = 8,
    MF_MAX_TILES = 4,
    MF_MAX_STEPS = 4,
    MF_MAX_SUM_VGPRS = 256, /* what one of the two halves of the register file holds */
    MF_MAX_VGPRS = 416,     /* as estimated: above, what is not a sum no longer fits into the other half */
    MF_MAX_SUMS = MF_MAX_SUM_VGPRS / 4,
    MF_MAX_UNITS = 1 << 30 /* so that the sum of two is an i32 */
};

typedef struct mf_shape {
    int kh, kw, tiles_k, tiles_c, steps, vec;
    int columns;                /* of dY, that one strip of X serves */
    const tw_matrix_atom *atom; /* NULL: the target has none */
    tw_stage_shape x, dy;       /* one row at a time, in one of two buffers */
    int quads;                  /* of 4 positions, that a lane has of a fragment: 1 or 2 */
    int sums;                   /* fragments of D */
    int waves, lanes, workgroup;
    int lds_bytes;
    int vgprs, vgpr_limit; /* the estimate */
} mf_shape;

mf_shape tw_mf_shape(const tw_wgrad_mfma_spec *spec, tw_target target);
tw_kernel *tw_mf_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);

typedef struct mf_gen {
    tw_builder *b;
    const tw_wgrad_mfma_spec *spec;
    mf_shape shape;
    tw_target target;
    tw_dense_args args;
    tw_value share; /* units of a workgroup */
    tw_stage x, dy;
    tw_value group, first_k, first_c; /* of the workgroup's tile, in its group */
    tw_value wave_k, wave_c;          /* the wave's place */
    const tw_type *fragment;
    /* running */
    tw_value odd;                                              /* which buffer is next: 0 or 1 */
    tw_value next;                                             /* row of X that is loaded next */
    tw_value sum[MF_MAX_SUMS];                                 /* [r][s][tile_k][tile_c] */
    tw_value ring[MF_MAX_KERNEL][MF_MAX_TILES * MF_MAX_STEPS]; /* rows of dY, [tile_k][step] */
} mf_gen;

#endif
