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

/* What is the same for all taps. */
typedef struct place {
    tw_value row;     /* of the slab's first tap, among the rows of all slabs */
    tw_value pitch;   /* bytes of a row: one tap of all channels */
    tw_value voffset; /* bytes of the lane's first channel in its row */
} place;

static place place_in_slab(const tw_slab *slab) {
    place p;
    p.row = tw_emit_mul(slab->b, slab->index, slab->taps);
    p.pitch = tw_emit_mul(slab->b, slab->channels, 4);
    p.voffset = tw_emit_mul(slab->b, slab->channel, 4);
    return p;
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
static void give_tap(const tw_slab *slab, const place *p, tw_value value, tw_value tap) {
    tw_builder *b = slab->b;
    tw_value row = tw_add(b, p->row, tap);
    tw_value soffset = tw_mul(b, row, p->pitch);
    if (slab->vec == 1) {
        give_one(slab, value, p->voffset, soffset);
        return;
    }
    for (int v = 0; v < slab->vec; v++) {
        tw_value part = tw_vector_extract(b, value, (unsigned)v);
        tw_value at = tw_emit_add(b, p->voffset, 4 * v);
        give_one(slab, part, at, soffset);
    }
}

/* give_tap unless the tap belongs to another group. */
static void give_own_tap(const tw_slab *slab, const place *p, const tw_slab_sum *sum, tw_value value,
                         tw_value tap) {
    tw_builder *b = slab->b;
    if (!sum->overlap) {
        give_tap(slab, p, value, tap);
        return;
    }
    tw_value own = tw_icmp(b, TW_SGE, tap, sum->first_own);
    tw_if_begin(b, own);
    give_tap(slab, p, value, tap);
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
    const place p = place_in_slab(slab);
    begin_lanes_with_channels(slab);
    for (int i = 0; i < sum->rows * sum->columns; i++) {
        tw_value tap = tw_emit_add(b, sum->first_tap, i);
        give_own_tap(slab, &p, sum, sum->values[i], tap);
    }
    end_lanes_with_channels(slab);
}

/* LDS holds [wave][tap of the pass][lane], in elements of vec f32. */
typedef struct exchange {
    tw_value lds;
    tw_value own, group; /* where the wave's part and that of its group's first wave begin, for the lane */
    const tw_type *type;
    int row;  /* f32 of one tap of one wave */
    int taps; /* of a wave in a pass */
    unsigned align;
} exchange;

static void write_pass(const tw_slab *slab, const tw_slab_sum *sum, const exchange *x, int first, int count) {
    tw_builder *b = slab->b;
    for (int i = 0; i < count; i++) {
        tw_value at = tw_emit_add(b, x->own, i * x->row);
        tw_lds_store(b, sum->values[first + i], x->lds, at, x->align);
    }
}

/* The waves of a group share the taps of the pass. */
static void fold_pass(const tw_slab *slab, const place *p, const tw_slab_sum *sum, const exchange *x,
                      int first, int count) {
    tw_builder *b = slab->b;
    tw_value end = tw_i32(b, count), step = tw_i32(b, sum->waves);
    tw_value tap = tw_for_begin(b, sum->wave, end, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value row = tw_emit_mul(b, tap, x->row);
    tw_value of_first = tw_add(b, x->group, row);
    tw_value total = {0};
    for (int q = 0; q < sum->waves; q++) {
        tw_value at = tw_emit_add(b, of_first, q * x->taps * x->row);
        tw_value part = tw_lds_load(b, x->type, x->lds, at, x->align);
        total = q ? tw_fadd(b, total, part) : part;
    }
    tw_value of_pass = tw_emit_add(b, sum->first_tap, first);
    tw_value of_filter = tw_add(b, of_pass, tap);
    begin_lanes_with_channels(slab);
    give_own_tap(slab, p, sum, total, of_filter);
    end_lanes_with_channels(slab);
    tw_for_end(b, 0, NULL, NULL);
}

static exchange open_exchange(const tw_slab *slab, const tw_slab_sum *sum) {
    tw_builder *b = slab->b;
    const int waves = sum->groups * sum->waves;
    const int rows = pass_rows(sum->rows, sum->columns, slab->vec, slab->lanes, waves);
    exchange x = {
        .type = tw_type_vector(TW_F32, (unsigned)slab->vec),
        .row = slab->lanes * slab->vec,
        .taps = rows * sum->columns,
        .align = 4 * (unsigned)slab->vec,
    };
    x.lds = tw_lds_alloc(b, TW_F32, (uint32_t)(waves * x.taps * x.row), 16);
    tw_value lane = tw_lane_id(b);
    tw_value in_row = tw_emit_mul(b, lane, slab->vec);
    tw_value of_group = tw_emit_mul(b, sum->group, sum->waves * x.taps * x.row);
    x.group = tw_add(b, of_group, in_row);
    tw_value of_wave = tw_emit_mul(b, sum->wave, x.taps * x.row);
    x.own = tw_add(b, x.group, of_wave);
    return x;
}

void tw_slab_give(const tw_slab *slab, const tw_slab_sum *sum) {
    if (sum->waves == 1) {
        give_registers(slab, sum);
        return;
    }
    const exchange x = open_exchange(slab, sum);
    const place p = place_in_slab(slab);
    const int taps = sum->rows * sum->columns;
    for (int first = 0; first < taps; first += x.taps) {
        int count = taps - first < x.taps ? taps - first : x.taps;
        if (first) tw_barrier(slab->b, TW_FENCE_LDS);
        write_pass(slab, sum, &x, first, count);
        tw_barrier(slab->b, TW_FENCE_LDS);
        fold_pass(slab, &p, sum, &x, first, count);
    }
}
