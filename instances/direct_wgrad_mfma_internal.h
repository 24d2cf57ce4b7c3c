/* The shape of one direct_wgrad_mfma kernel, and its builder's state. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_MFMA_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_MFMA_INTERNAL_H

#include "arch/matrix.h"
#include "arch/transpose.h"
#include "instances/direct_wgrad_mfma.h"
#include "instances/wgrad_dense.h"

enum {
    MF_MAX_KERNEL = 8,
    MF_MAX_TILES = 4,
    MF_MAX_STEPS = 4,
    MF_MAX_SUM_VGPRS = 256, /* what one of the two halves of the register file holds */
    MF_MAX_VGPRS = 416,     /* as estimated: above, what is not a sum no longer fits into the other half */
    MF_MAX_SUMS = MF_MAX_SUM_VGPRS / 4,
    MF_MAX_LOADS = 256,    /* loads of one lane for one row of one operand */
    MF_MAX_WORDS = 3,      /* of 4 positions: those that kw neighbouring fragments touch */
    MF_MAX_UNITS = 1 << 30 /* so that the sum of two is an i32 */
};

/* How a row of X or of dY goes to LDS. The elements of the strip are [position][channel] where transposed
 * reads make fragments of them; elsewhere, where a lane reads neighbouring positions of its channel, they are
 * [channel % vec][channel / vec][position]. `pitch` and `block` keep both directions free of bank conflicts.
 */
typedef struct mf_strip {
    int channels;  /* of the workgroup */
    int needed;    /* positions that fragments touch */
    int positions; /* the same in whole groups, or blocks of 8 */
    int group;     /* positions of an item, whose vec channels one lane moves */
    int together;  /* positions whose rows are written side by side, out of 8 */
    int items, rounds;
    int pitch, block; /* elements: between positions; or between channel / vec, and between channel % vec */
    int tile;         /* elements between tiles of 16 channels */
    int buffer;       /* elements of one of the two buffers */
} mf_strip;

typedef struct mf_shape {
    int kh, kw, tiles_k, tiles_c, steps, vec;
    int columns;                               /* of dY, that one strip of X serves */
    const tw_matrix_atom *atom;                /* NULL: the target has none */
    const tw_transposed_read *transposed_read; /* NULL: strips are transposed on the way to LDS */
    mf_strip x, dy;
    int quads; /* of 4 positions, that a lane has of a fragment: 1 or 2 */
    int sums;  /* fragments of D */
    int waves, lanes, workgroup;
    int lds_bytes;
    int vgprs, vgpr_limit; /* the estimate */
} mf_shape;

mf_shape tw_mf_shape(const tw_wgrad_mfma_spec *spec, tw_target target);
tw_kernel *tw_mf_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);

/* A strip in the kernel being built. */
typedef struct mf_stage {
    const mf_strip *strip;
    tw_value rsrc, lds;
    tw_value channels; /* of the whole tensor */
    tw_value pixels;   /* of a row */
    struct {
        tw_value exists;   /* the lane has an item in this round; no value where all lanes have */
        tw_value position; /* first of the item */
        tw_value channel;  /* first of the item, of the whole tensor */
        tw_value column;   /* the position; far left of everything where the channel is past the group */
        tw_value place;    /* element in the buffer */
    } round[MF_MAX_LOADS];
    tw_value
        offset[MF_MAX_LOADS]; /* bytes in the row of each load, of the unit's columns; past the end: zeros */
    tw_value fragment;        /* where the lane's part of the wave's first fragment lies in the buffer */
    tw_value raw[MF_MAX_LOADS]; /* the row on its way */
} mf_stage;

typedef struct mf_gen {
    tw_builder *b;
    const tw_wgrad_mfma_spec *spec;
    mf_shape shape;
    tw_target target;
    tw_dense_args args;
    tw_value share; /* units of a workgroup */
    mf_stage x, dy;
    tw_value group, first_k, first_c;       /* of the workgroup's tile, in its group */
    tw_value wave_k, wave_c;                /* the wave's place */
    const tw_type *piece, *quad, *fragment; /* vec, 4 and all elements of a fragment */
    /* running */
    tw_value odd;                                              /* which buffer is next: 0 or 1 */
    tw_value sum[MF_MAX_SUMS];                                 /* [r][s][tile_k][tile_c] */
    tw_value ring[MF_MAX_KERNEL][MF_MAX_TILES * MF_MAX_STEPS]; /* rows of dY, [tile_k][step] */
} mf_gen;

/* ---- direct_wgrad_mfma_stage.c ---- */

/* What is the same for all rows: the lanes' items, and the fragments' places for a wave at `wave_tile`. */
void tw_mf_place(mf_gen *g, mf_stage *stage, tw_matrix_operand operand, tw_value first_channel,
                 tw_value group_channels, tw_value wave_tile);
/* The unit's columns begin at `column`, which may be outside the image. */
void tw_mf_columns(mf_gen *g, mf_stage *stage, tw_value column);
/* Starts to load row `row` of all rows of the tensor, which is one of them; where `exists` is false, zeros.
 */
void tw_mf_load(mf_gen *g, mf_stage *stage, tw_value row, tw_value exists);
/* Writes what was loaded to the buffer `g->odd`. */
void tw_mf_write(mf_gen *g, mf_stage *stage);
/* The wave's fragments of `tile` and `step` from the buffer `g->odd`: of the row as it lies, and moved by 1
 * .. count - 1 positions. */
void tw_mf_fragments(mf_gen *g, mf_stage *stage, int tile, int step, int count, tw_value *out);

#endif
