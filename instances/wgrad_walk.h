/* How a kernel walks the positions of an image. */
#ifndef TW_INSTANCES_WGRAD_WALK_H
#define TW_INSTANCES_WGRAD_WALK_H

#include "instances/wgrad_dense.h"
#include "instances/wgrad_stage.h"

/* What a workgroup takes of an image at once. */
typedef struct tw_dense_walk {
    const tw_stage_shape *x, *dy; /* of so many columns: the span */
    int rows;                     /* of dY, of one step */
    int blocks;                   /* that the rows are dealt to */
    int begin;                    /* what a strip of a block begins with, counted in rows */
} tw_dense_walk;

/* A filter of one tap, without padding, knows no rows: the positions of an image are as good as rows of any
 * other length. Sets the sizes that the kernel is told to those that take the fewest rows of strips, idle
 * ones too, and leaves them where no others are better. */
void tw_dense_reshape(const tw_dense *dense, const tw_wgrad_problem *problem, const tw_dense_walk *walk,
                      tw_dense_sizes *sizes);

#endif
