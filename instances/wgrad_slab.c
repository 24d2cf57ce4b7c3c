#include "instances/wgrad_slab.h"

/* Filter rows meet in LDS a few at a time: as many as fit this many bytes, and at least one. Small enough not
 * to lower the number of workgroups that share a compute unit. */
enum { LDS_SHARE = 16384 };

tw_wide tw_slab_bytes(int64_t count, int taps, int64_t channels) {
    return (tw_wide)count * (tw_wide)taps * (tw_wide)channels * 4;
}

/* Rows of a pass through LDS. */
static int pass_rows(int rows, int columns, int vec, int lanes, int waves_of_workgroup) {
    int row_bytes = waves_of_workgroup * columns * vec * lanes * 4;
    int fit = LDS_SHARE / row_bytes;
    return fit < 1 ? 1 : fit < rows ? fit : rows;
}

uint32_t tw_slab_lds_bytes(int rows, int columns, int vec, int lanes, int waves_of_workgroup,
                           int waves_of_group) {
    if (waves_of_group == 1) return 0;
    int pass = pass_rows(rows, columns, vec, lanes, waves_of_workgroup);
    return (uint32_t)(waves_of_workgroup * pass * columns * vec * lanes * 4);
}

/* One f32 of every lane that has a channel: byte offset `voffset + soffset` of the slabs. */
static void give_one(const tw_slab *slab, tw_value value, tw_value voffset, tw_value soffset) {
    if (slab->atomic) {
        uint32_t policy = tw_cache_policy(slab->target, TW_ATOMIC_CASCADE_DEVICE);
        tw_buffer_atomic_fadd(slab->b, value, slab->rsrc, voffset, soffset, policy);
    } else {
        tw_buffer_store(slab->b, value, slab->rsrc, voffset, soffset, 0);
    }
}

/* The lane's channels of one tap; to be called where lanes without a channel are branched around. */
static void give_tap(const tw_slab *slab, tw_value value, tw_value tap) {
    tw_builder *b = slab->b;
    tw_value first = tw_emit_mul(b, slab->index, slab->taps);
    tw_value row = tw_add(b, first, tap);
    tw_value pitch = tw_emit_mul(b, slab->channels, 4);
    tw_value soffset = tw_mul(b, row, pitch);
    tw_value voffset = tw_emit_mul(b, slab->channel, 4);
    if (slab->vec == 1) {
        give_one(slab, value, voffset, soffset);
        return;
    }
    for (int v = 0; v < slab->vec; v++) {
        tw_value part = tw_vector_extract(b, value, (unsigned)v);
        tw_value at = tw_emit_add(b, voffset, 4 * v);
        give_one(slab, part, at, soffset);
    }
}

/* give_tap unless the tap belongs to another group. */
static void give_own_tap(const tw_slab *slab, const tw_slab_sum *sum, tw_value value, tw_value tap) {
    tw_builder *b = slab->b;
    if (!sum->overlap) {
        give_tap(slab, value, tap);
        return;
    }
    tw_value own = tw_icmp(b, TW_SGE, tap, sum->first_own);
    tw_if_begin(b, own);
    give_tap(slab, value, tap);
    tw_if_end(b, 0, NULL, NULL);
}

static void begin_lanes_with_channels(const tw_slab *slab) {
    tw_value has_channel = tw_icmp(slab->b, TW_SLT, slab->channel, slab->channels);
    tw_if_begin(slab->b, has_channel);
}

static void end_lanes_with_channels(const tw_slab *slab) { tw_if_end(slab->b, 0, NULL, NULL); }

/* Groups of one wave: the sums are complete in registers. */
static void give_registers(const tw_slab *slab, const tw_slab_sum *sum) {
    tw_builder *b = slab->b;
    begin_lanes_with_channels(slab);
    for (int i = 0; i < sum->rows * sum->columns; i++) {
        tw_value tap = tw_emit_add(b, sum->first_tap, i);
        give_own_tap(slab, sum, sum->values[i], tap);
    }
    end_lanes_with_channels(slab);
}

typedef struct exchange {
    tw_value lds;
    tw_value lane_place; /* of the lane in a row of LDS, in elements */
    tw_value group_wave; /* first wave of the group */
    tw_value own_wave;   /* the wave's place in the workgroup */
    const tw_type *type;
    int row;  /* elements of LDS that one tap of one wave takes */
    int taps; /* of a wave in a pass */
    unsigned align;
} exchange;

/* The element index of tap `tap` of wave `wave`. */
static tw_value lds_place(const tw_slab *slab, const exchange *x, tw_value wave, tw_value tap) {
    tw_builder *b = slab->b;
    tw_value base = tw_emit_mul(b, wave, x->taps);
    tw_value row = tw_add(b, base, tap);
    tw_value start = tw_emit_mul(b, row, x->row);
    return tw_add(b, start, x->lane_place);
}

static void write_pass(const tw_slab *slab, const tw_slab_sum *sum, const exchange *x, int first, int count) {
    tw_builder *b = slab->b;
    for (int i = 0; i < count; i++) {
        tw_value tap = tw_i32(b, i);
        tw_value place = lds_place(slab, x, x->own_wave, tap);
        tw_lds_store(b, sum->values[first + i], x->lds, place, x->align);
    }
}

/* The waves of a group share the taps of the pass. */
static void fold_pass(const tw_slab *slab, const tw_slab_sum *sum, const exchange *x, int first, int count) {
    tw_builder *b = slab->b;
    tw_value end = tw_i32(b, count), step = tw_i32(b, sum->waves);
    tw_value tap = tw_for_begin(b, sum->wave, end, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value total = {0};
    for (int q = 0; q < sum->waves; q++) {
        tw_value wave = tw_emit_add(b, x->group_wave, q);
        tw_value place = lds_place(slab, x, wave, tap);
        tw_value part = tw_lds_load(b, x->type, x->lds, place, x->align);
        total = q ? tw_fadd(b, total, part) : part;
    }
    tw_value in_filter = tw_emit_add(b, sum->first_tap, first);
    in_filter = tw_add(b, in_filter, tap);
    begin_lanes_with_channels(slab);
    give_own_tap(slab, sum, total, in_filter);
    end_lanes_with_channels(slab);
    tw_for_end(b, 0, NULL, NULL);
}

void tw_slab_give(const tw_slab *slab, const tw_slab_sum *sum) {
    tw_builder *b = slab->b;
    if (sum->waves == 1) {
        give_registers(slab, sum);
        return;
    }
    int rows = pass_rows(sum->rows, sum->columns, slab->vec, slab->lanes, sum->groups * sum->waves);
    exchange x = {
        .type = tw_type_vector(TW_F32, (unsigned)slab->vec),
        .row = slab->lanes * slab->vec,
        .taps = rows * sum->columns,
        .align = 4 * (unsigned)slab->vec,
    };
    x.lds = tw_lds_alloc(b, TW_F32, (uint32_t)(sum->groups * sum->waves * x.taps * x.row), 16);
    tw_value lane = tw_lane_id(b);
    x.lane_place = tw_emit_mul(b, lane, slab->vec);
    x.group_wave = tw_emit_mul(b, sum->group, sum->waves);
    x.own_wave = tw_add(b, x.group_wave, sum->wave);
    const int taps = sum->rows * sum->columns;
    for (int first = 0; first < taps; first += x.taps) {
        int count = taps - first < x.taps ? taps - first : x.taps;
        if (first) tw_barrier(b, TW_FENCE_LDS);
        write_pass(slab, sum, &x, first, count);
        tw_barrier(b, TW_FENCE_LDS);
        fold_pass(slab, sum, &x, first, count);
    }
}
