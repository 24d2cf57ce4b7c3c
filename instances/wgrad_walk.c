#include "instances/wgrad_walk.h"

/* Rows of strips that a block takes of an image, idle ones too. */
static int64_t taken(const tw_dense_walk *walk, int64_t rows, int64_t width) {
    const int64_t of_block = tw_ceil_div(tw_ceil_div(rows, walk->blocks), walk->rows) * walk->rows;
    return tw_ceil_div(width, walk->x->span) * (of_block + walk->begin);
}

static bool can_reach(const tw_dense_walk *walk, const tw_wgrad_problem *p, int64_t width) {
    return tw_stage_reach(walk->x, width, 0, p->c) <= INT32_MAX &&
           tw_stage_reach(walk->dy, width, 0, p->k) <= INT32_MAX;
}

static void take_better(const tw_dense_walk *walk, const tw_wgrad_problem *p, int64_t rows, int64_t width,
                        tw_dense_sizes *z) {
    if (taken(walk, rows, width) >= taken(walk, z->walk_h, z->walk_w) || !can_reach(walk, p, width)) return;
    z->walk_h = z->walk_ho = rows;
    z->walk_w = z->walk_wo = width;
}

void tw_dense_reshape(const tw_dense *d, const tw_wgrad_problem *p, const tw_dense_walk *walk,
                      tw_dense_sizes *z) {
    const bool one_tap = d->kh == 1 && d->kw == 1 && d->stride == 1 && !z->pad_h && !z->pad_w;
    if (!one_tap || z->empty || z->ho != p->h || z->wo != p->w) return;
    const int64_t positions = z->ho * z->wo;
    for (int64_t low = 1; low * low <= positions; low++) {
        if (positions % low) continue;
        take_better(walk, p, low, positions / low, z);
        take_better(walk, p, positions / low, low, z);
    }
}
