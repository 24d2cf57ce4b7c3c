/* The shape of one direct_wgrad_depthwise kernel, and its builder's state. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_DEPTHWISE_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_DEPTHWISE_INTERNAL_H

#include "instances/direct_wgrad_depthwise.h"
#include "instances/emit.h"

/* What follows from a spec and a target alone. */
typedef struct dw_shape {
    int kh, kw, stride, vec, tile_h, tile_w;
    int group_rows;   /* filter rows of a wave group */
    int groups_used;  /* wave groups that have rows of their own */
    int x_rows;       /* rows of X that tile_h output rows of a group touch */
    int kept;         /* columns of X that the next output column uses again */
    int unit;         /* filter rows whose sums lie in one vector of the inner loop: 1 or 2 */
    int columns;      /* offsets of columns that lie in registers */
    int waves;        /* of a workgroup */
    int lanes;        /* of a wave */
    int workgroup;    /* work-items */
    int tile_c;       /* channels of a workgroup */
    int vgprs, sgprs; /* estimates of a work-item's and a wave's registers */
    int vgpr_limit, sgpr_limit;
} dw_shape;

dw_shape tw_dw_shape(const tw_wgrad_depthwise_spec *spec, tw_target target);

enum {
    DW_MAX_KERNEL = 8,
    DW_MAX_VGPRS = 256,
    DW_MAX_TAPS = DW_MAX_KERNEL * DW_MAX_KERNEL,
    DW_MAX_X_ROWS = 3 * 2 + DW_MAX_KERNEL,      /* tile_h 4, stride 2 */
    DW_MAX_COLUMNS = DW_MAX_KERNEL + 7 * 2 + 1, /* tile_w 8, stride 2 */
};

typedef struct dw_gen {
    tw_builder *b;
    const tw_wgrad_depthwise_spec *spec;
    dw_shape shape;
    tw_target target;
    const tw_type *data; /* what a lane loads: one element, or a vector of vec */
    const tw_type *sum;  /* f32, as many lanes */
    /* arguments */
    tw_value n, h, w, ho, wo, c, pad_h, pad_w, row_blocks, x_bytes, dy_bytes, ws_bytes;
    tw_value x, dy, ws; /* buffer resources */
    /* the same for the whole kernel */
    tw_value zero;         /* i32 */
    tw_value pixel;        /* bytes of one pixel: all its channels */
    tw_value channel;      /* first channel of the lane; past the end in lanes without work */
    tw_value voffset;      /* bytes, of a channel that exists */
    tw_value column[16];   /* voffset and j pixels more */
    tw_value group;        /* wave group */
    tw_value wave_row;     /* the wave's place in its group */
    tw_value first_row;    /* first filter row that the group sums */
    tw_value first_own;    /* first filter row that it gives out: groups overlap where kh does not divide */
    tw_value inner_from;   /* output columns from here on ... */
    tw_value inner_rounds; /* ... for that many rounds of tile_w see no padding */
    /* running */
    tw_value acc[DW_MAX_TAPS]; /* group_rows x kw */
} dw_gen;

/* Where a wave is: one block of tile_h output rows of one image. */
typedef struct dw_block {
    tw_value row;          /* first output row, in its image */
    tw_value x_row;        /* row of X under the group's first filter row, for that output row */
    tw_value image_row;    /* rows of X before the image */
    tw_value image_dy_row; /* rows of dY before the image */
    tw_value from, to;     /* output columns from..to - 1 are done by the inner loop */
} dw_block;

tw_kernel *tw_dw_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);

/* A loop that is not unrolled and carries the sums: returns the index. */
tw_value tw_dw_for_sums(dw_gen *g, tw_value from, tw_value to, int step);
void tw_dw_end_for(dw_gen *g);
/* What runs between the two calls may change the sums; where the condition does not hold they stay. */
typedef struct dw_sums {
    tw_value values[DW_MAX_TAPS];
} dw_sums;
dw_sums tw_dw_if_sums(dw_gen *g, tw_value condition);
void tw_dw_end_if(dw_gen *g, const dw_sums *untouched);

/* An element of X or dY as f32: what is at byte `voffset + soffset`. */
tw_value tw_dw_load(dw_gen *g, tw_value rsrc, tw_value voffset, tw_value soffset);
/* The inner loop over columns without padding (direct_wgrad_depthwise_inner.c). */
void tw_dw_inner(dw_gen *g, const dw_block *block);
/* All other columns, one at a time, with every tap checked (direct_wgrad_depthwise_edge.c). */
void tw_dw_edges(dw_gen *g, const dw_block *block);

#endif
