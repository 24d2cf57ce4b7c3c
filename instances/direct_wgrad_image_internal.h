/* The shape of one direct_wgrad_image kernel, and its builder's state. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_IMAGE_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_IMAGE_INTERNAL_H

#include "instances/direct_wgrad_image.h"
#include "instances/wgrad_dense.h"
#include "instances/wgrad_stage.h"

enum {
    IM_MAX_KERNEL = 8,
    IM_MAX_TILES = 4,
    IM_MAX_SUMS = 64,  /* fragments of a wave: the register rule admits fewer */
    IM_MAX_ATOMS = 16, /* products along the positions that are staged at once */
    IM_TILE = 16,
};

/* What follows from a spec and a target alone. */
typedef struct im_shape {
    const tw_matrix_atom *atom; /* NULL: the target has none */
    tw_matrix_info info;
    int atom_k;            /* positions that an atom multiplies */
    int taps, tiles, sums; /* tiles of a wave for one tap; fragments of a wave */
    int waves, threads;
    tw_stage_shape x, dy;
    int buffers, buffer;           /* in LDS, and elements of one: X, a gap, dY */
    int dy_first;                  /* element of a buffer */
    int give_pitch, give_elements; /* f32 of LDS through which sums go; 0, 0: they do not */
    int lds_bytes;
    int vgprs;                /* an estimate */
    int vgpr_cap, vgpr_limit; /* what the kernel asks of the compiler, and what the target gives of it */
} im_shape;

im_shape tw_im_shape(const tw_wgrad_image_spec *spec, tw_target target);
/* Can a tensor copy write the stage's pitch? It pads after a power of two. */
bool tw_im_can_pad(const tw_stage_shape *stage);

/* What is staged at once: rows_per_sync rows of one strip of columns of one image. */
typedef struct im_step {
    tw_value image, column, row; /* of dY */
} im_step;

typedef struct im_gen {
    tw_builder *b;
    const tw_wgrad_image_spec *spec;
    im_shape shape;
    tw_target target;
    tw_dense_args args;
    tw_value images;                    /* argument: of a workgroup */
    tw_value zero;                      /* i32 */
    tw_value group;                     /* of the convolution */
    tw_value tile_k, tile_c;            /* first k and c of the workgroup in its group */
    tw_value wave_k, wave_c;            /* of the wave, in the workgroup's tile */
    tw_value row_from, row_to, row_end; /* rows of dY: first, end of the workgroup's, first + whole steps */
    tw_value strip_end;                 /* columns of dY, whole strips */
    tw_stage x, dy;
    tw_value lds;
    tw_value sums[IM_MAX_SUMS]; /* [tap][tile of k][tile of c] */
} im_gen;

tw_kernel *tw_im_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);

/* Begins the tensor copies of a step into the buffer that begins at element `slot`; zeros where `exists` is
 * false (direct_wgrad_image_tensor.c). */
void tw_im_copy(im_gen *g, const im_step *step, tw_value exists, tw_value slot);
/* Waits until only the copies of the newest `steps` steps may be under way. */
void tw_im_wait(im_gen *g, int steps);

/* Adds the products of what is staged in the buffer to the sums (direct_wgrad_image_inner.c). */
void tw_im_multiply(im_gen *g, tw_value buffer);

/* Where dY begins in the buffer that begins at element `buffer` (direct_wgrad_image_build.c). */
tw_value tw_im_dy_buffer(im_gen *g, tw_value buffer);

/* Gives the sums to the slab (direct_wgrad_image_give.c). */
void tw_im_give(im_gen *g);

#endif
