/* The kernel of direct_wgrad_reduce. A workgroup takes as many channels as a wave has lanes. The waves share
 * the taps and read the slabs with coalesced loads; LDS turns [tap][channel] into [channel][tap], one
 * contiguous piece of dW, which all work-items write out in order. */
#include "instances/direct_wgrad_reduce_internal.h"

#include "instances/emit.h"

typedef struct gen {
    tw_builder *b;
    const tw_wgrad_reduce_spec *spec;
    int taps, lanes;
    tw_value c, slabs, ws, dw;
    tw_value lane, first_channel, voffset, pitch;
    tw_value lds;
} gen;

/* The sum of one tap over the slabs, in their order. */
static tw_value fold_tap(gen *g, tw_value tap) {
    tw_builder *b = g->b;
    tw_value soffset = tw_mul(b, tap, g->pitch);
    tw_value slab_bytes = tw_emit_mul(b, g->pitch, g->taps);
    if (g->spec->reproducible) {
        tw_value zero = tw_i32(b, 0), one = tw_i32(b, 1);
        tw_value init[2], now[2];
        init[0] = tw_f32(b, 0);
        init[1] = soffset;
        tw_for_begin(b, zero, g->slabs, one, 2, init, now);
        tw_for_unroll(b, 4);
        tw_value part = tw_buffer_load(b, tw_type_scalar(TW_F32), g->ws, g->voffset, now[1], 0);
        now[0] = tw_fadd(b, now[0], part);
        now[1] = tw_add(b, now[1], slab_bytes);
        tw_for_end(b, 2, now, init);
        return init[0];
    }
    tw_value total = {0}, at = soffset;
    for (int i = 0; i < g->spec->ws_replicas; i++) {
        if (i) at = tw_add(b, at, slab_bytes);
        tw_value part = tw_buffer_load(b, tw_type_scalar(TW_F32), g->ws, g->voffset, at, 0);
        total = i ? tw_fadd(b, total, part) : part;
    }
    return total;
}

static void fold(gen *g) {
    tw_builder *b = g->b;
    tw_value wave = tw_wave_id(b);
    tw_value end = tw_i32(b, g->taps), step = tw_i32(b, g->spec->waves);
    tw_value tap = tw_for_begin(b, wave, end, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value total = fold_tap(g, tap);
    tw_value row = tw_emit_mul(b, g->lane, g->taps | 1);
    tw_value place = tw_add(b, row, tap);
    tw_lds_store(b, total, g->lds, place, 0);
    tw_for_end(b, 0, NULL, NULL);
}

/* dW of the workgroup's channels is contiguous: element e is channel e / taps, tap e % taps. */
static void write_out(gen *g) {
    tw_builder *b = g->b;
    tw_value left = tw_sub(b, g->c, g->first_channel);
    tw_value channels = tw_emit_min(b, left, g->lanes);
    tw_value count = tw_emit_mul(b, channels, g->taps);
    tw_value first = tw_emit_mul(b, g->first_channel, g->taps);
    tw_value item = tw_workitem_id(b, 0);
    tw_value step = tw_i32(b, g->lanes * g->spec->waves);
    tw_scalar dtype = (tw_scalar)g->spec->out_dtype;
    tw_value zero = tw_i32(b, 0);
    tw_value e = tw_for_begin(b, item, count, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value channel = tw_emit_udiv(b, e, g->taps);
    tw_value before = tw_emit_mul(b, channel, g->taps);
    tw_value tap = tw_sub(b, e, before);
    tw_value row = tw_emit_mul(b, channel, g->taps | 1);
    tw_value place = tw_add(b, row, tap);
    tw_value value = tw_lds_load(b, tw_type_scalar(TW_F32), g->lds, place, 0);
    if (dtype != TW_F32) value = tw_fptrunc(b, value, dtype);
    tw_value element = tw_add(b, first, e);
    tw_value offset = tw_emit_mul(b, element, (int32_t)tw_scalar_bits(dtype) / 8);
    tw_buffer_store(b, value, g->dw, offset, zero, 0);
    tw_for_end(b, 0, NULL, NULL);
}

tw_kernel *tw_reduce_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name) {
    const tw_wgrad_reduce_spec *spec = (const tw_wgrad_reduce_spec *)values;
    gen g = {.spec = spec, .taps = spec->kh * spec->kw, .lanes = target.wave_size};
    tw_kernel_options options = {.workgroup_size = (uint32_t)(g.lanes * spec->waves)};
    tw_builder *b = g.b = tw_kernel_begin(ctx, name, target, &options);
    if (!b) return NULL;
    tw_value ws = tw_param_ptr(b, "ws", TW_F32, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value dw = tw_param_ptr(b, "dw", (tw_scalar)spec->out_dtype, TW_PARAM_NOALIAS);
    g.c = tw_param(b, "c", TW_I32);
    g.slabs = tw_param(b, "slabs", TW_I32);
    tw_value ws_bytes = tw_param(b, "ws_bytes", TW_I32);
    tw_value dw_bytes = tw_param(b, "dw_bytes", TW_I32);
    g.ws = tw_buffer_rsrc(b, ws, ws_bytes);
    g.dw = tw_buffer_rsrc(b, dw, dw_bytes);
    /* An odd pitch: the lanes of a wave write different banks. */
    g.lds = tw_lds_alloc(b, TW_F32, (uint32_t)(g.lanes * (g.taps | 1)), 16);
    g.lane = tw_lane_id(b);
    tw_value tile = tw_workgroup_id(b, 0);
    g.first_channel = tw_emit_mul(b, tile, g.lanes);
    tw_value channel = tw_add(b, g.first_channel, g.lane);
    tw_value existing = tw_emit_clamp_index(b, channel, g.c);
    g.voffset = tw_emit_mul(b, existing, 4);
    g.pitch = tw_emit_mul(b, g.c, 4);
    fold(&g);
    tw_barrier(b, TW_FENCE_LDS);
    write_out(&g);
    return tw_kernel_end(b);
}
