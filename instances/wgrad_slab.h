/* The fp32 slabs of the weight-gradient families: layout, sizes, and how a workgroup gives its sums to one.
 *
 *     slab[index][tap][channel], tap = r * kw + s, channels dense
 *
 * Consecutive lanes own consecutive channels, so that atomics and stores are coalesced. */
#ifndef TW_INSTANCES_WGRAD_SLAB_H
#define TW_INSTANCES_WGRAD_SLAB_H

#include "instances/emit.h"
#include "instances/wide.h"

typedef struct tw_slab {
    tw_builder *b;
    tw_target target;
    tw_value rsrc;
    tw_value index;    /* which slab, uniform */
    tw_value channel;  /* first channel of the lane */
    tw_value channels; /* lanes at or past it give nothing */
    int vec;           /* channels of a lane */
    int lanes;         /* of a wave */
    int taps;          /* of the filter */
    bool atomic;       /* add; else store: the workgroup is the only one with this slab */
} tw_slab;

/* What the waves of a workgroup hold: groups of waves, each group with its filter rows, each wave with sums
 * over its share of the image. */
typedef struct tw_slab_sum {
    const tw_value *values; /* rows x columns, f32 or vectors of vec */
    int rows, columns;
    tw_value first_tap;   /* of values[0], uniform */
    tw_value first_own;   /* taps below it belong to another group */
    bool overlap;         /* some group has such taps */
    tw_value group, wave; /* uniform: the wave's group and its place in it */
    int groups, waves;    /* waves: of a group */
} tw_slab_sum;

/* LDS that tw_slab_give allocates. */
uint32_t tw_slab_lds_bytes(int rows, int columns, int vec, int lanes, int waves_of_workgroup,
                           int waves_of_group);
/* Sums over the waves of each group, through LDS, in the order of the waves; the result goes to the slab. All
 * waves of the workgroup arrive here. */
void tw_slab_give(const tw_slab *slab, const tw_slab_sum *sum);
/* Bytes of `count` slabs; may be past any limit. */
tw_wide tw_slab_bytes(int64_t count, int taps, int64_t channels);

#endif
