/* The kernel of direct_wgrad_depthwise: docs/instances.md describes the algorithm.
 *
 * Everything but the channel is the same in all lanes of a wave: rows, columns and their checks live in
 * scalar registers. Lanes past the last channel work on the last one and give nothing out. */
#include "instances/direct_wgrad_depthwise_internal.h"

#include <string.h>

#include "instances/wgrad_slab.h"

tw_value tw_dw_load(dw_gen *g, tw_value rsrc, tw_value voffset, tw_value soffset) {
    tw_value raw = tw_buffer_load(g->b, g->data, rsrc, voffset, soffset, 0);
    return tw_fpext(g->b, raw, TW_F32);
}

static unsigned sum_count(const dw_gen *g) { return (unsigned)(g->shape.group_rows * g->shape.kw); }

static dw_sums sums_of(const dw_gen *g) {
    dw_sums sums;
    memcpy(sums.values, g->acc, sizeof sums.values);
    return sums;
}

tw_value tw_dw_for_sums(dw_gen *g, tw_value from, tw_value to, int step) {
    dw_sums init = sums_of(g);
    tw_value by = tw_i32(g->b, step);
    tw_value index = tw_for_begin(g->b, from, to, by, sum_count(g), init.values, g->acc);
    tw_for_unroll(g->b, 1);
    return index;
}

void tw_dw_end_for(dw_gen *g) {
    dw_sums next = sums_of(g);
    tw_for_end(g->b, sum_count(g), next.values, g->acc);
}

dw_sums tw_dw_if_sums(dw_gen *g, tw_value condition) {
    tw_if_begin(g->b, condition);
    return sums_of(g);
}

void tw_dw_end_if(dw_gen *g, const dw_sums *untouched) {
    tw_if_else(g->b, sum_count(g), g->acc);
    tw_if_end(g->b, sum_count(g), untouched->values, g->acc);
}

static void params(dw_gen *g) {
    tw_builder *b = g->b;
    tw_scalar dtype = (tw_scalar)g->spec->dtype;
    tw_value x = tw_param_ptr(b, "x", dtype, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value dy = tw_param_ptr(b, "dy", dtype, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value ws = tw_param_ptr(b, "ws", TW_F32, TW_PARAM_NOALIAS);
    struct {
        const char *name;
        tw_value *value;
    } sizes[] = {
        {"n", &g->n},
        {"h", &g->h},
        {"w", &g->w},
        {"ho", &g->ho},
        {"wo", &g->wo},
        {"c", &g->c},
        {"pad_h", &g->pad_h},
        {"pad_w", &g->pad_w},
        {"row_blocks", &g->row_blocks},
        {"x_bytes", &g->x_bytes},
        {"dy_bytes", &g->dy_bytes},
        {"ws_bytes", &g->ws_bytes},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        *sizes[i].value = tw_param(b, sizes[i].name, TW_I32);
    g->x = tw_buffer_rsrc(b, x, g->x_bytes);
    g->dy = tw_buffer_rsrc(b, dy, g->dy_bytes);
    g->ws = tw_buffer_rsrc(b, ws, g->ws_bytes);
}

static void place_lanes(dw_gen *g) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value tile = tw_workgroup_id(b, 0);
    tw_value lane = tw_lane_id(b);
    tw_value tile_start = tw_emit_mul(b, tile, shape->tile_c);
    tw_value in_tile = tw_emit_mul(b, lane, shape->vec);
    g->channel = tw_add(b, tile_start, in_tile);
    tw_name(b, g->channel, "channel");
    tw_value last = tw_emit_add(b, g->c, -shape->vec);
    tw_value existing = tw_smin(b, g->channel, last);
    g->voffset = tw_emit_mul(b, existing, 2);
    g->pixel = tw_emit_mul(b, g->c, 2);
    tw_name(b, g->pixel, "pixel");
    tw_value offset = g->voffset;
    for (int j = 0; j < shape->columns; j++) {
        if (j) offset = tw_add(b, offset, g->pixel);
        g->column[j] = offset;
    }
}

static void place_waves(dw_gen *g) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value wave = tw_wave_id(b);
    g->group = tw_emit_udiv(b, wave, g->spec->row_waves);
    tw_value before = tw_emit_mul(b, g->group, g->spec->row_waves);
    g->wave_row = tw_sub(b, wave, before);
    g->first_own = tw_emit_mul(b, g->group, shape->group_rows);
    g->first_row = tw_emit_min(b, g->first_own, shape->kh - shape->group_rows);
    tw_name(b, g->first_row, "first_row");
}

/* floor(x / stride) */
static tw_value over_stride(const dw_gen *g, tw_value x) {
    if (g->shape.stride == 1) return x;
    tw_value one = tw_i32(g->b, 1);
    return tw_ashr(g->b, x, one);
}

/* Which output columns have all their taps inside X, in whole rounds of tile_w. */
static void inner_columns(dw_gen *g) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value rounded = tw_emit_add(b, g->pad_w, shape->stride - 1);
    g->inner_from = over_stride(g, rounded);
    tw_value padded = tw_add(b, g->w, g->pad_w);
    tw_value slack = tw_emit_add(b, padded, -shape->kw);
    tw_value last = over_stride(g, slack); /* -1 or less where the filter is wider than what there is */
    tw_value past = tw_emit_add(b, last, 1);
    tw_value to = tw_smin(b, past, g->wo);
    tw_value columns = tw_sub(b, to, g->inner_from);
    tw_value some = tw_emit_max(b, columns, 0);
    g->inner_rounds = tw_emit_udiv(b, some, shape->tile_w);
    tw_name(b, g->inner_rounds, "inner_rounds");
}

/* One block of output rows: the inner loop where every tap of every row is inside X, the rest column by
 * column. */
static void row_block(dw_gen *g, tw_value image, tw_value place) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    dw_block block;
    block.row = tw_emit_mul(b, place, shape->tile_h);
    tw_value strided = tw_emit_mul(b, block.row, shape->stride);
    tw_value unpadded = tw_sub(b, strided, g->pad_h);
    block.x_row = tw_add(b, unpadded, g->first_row);
    block.image_row = tw_mul(b, image, g->h);
    block.image_dy_row = tw_mul(b, image, g->ho);

    tw_value end = tw_emit_add(b, block.row, shape->tile_h);
    tw_value whole = tw_icmp(b, TW_SLE, end, g->ho);
    tw_value top = tw_emit_compare(b, TW_SGE, block.x_row, 0);
    tw_value x_end = tw_emit_add(b, block.x_row, shape->x_rows);
    tw_value bottom = tw_icmp(b, TW_SLE, x_end, g->h);
    tw_value inside = tw_and(b, whole, top);
    inside = tw_and(b, inside, bottom);
    tw_value rounds = tw_select(b, inside, g->inner_rounds, g->zero);
    tw_value any = tw_emit_compare(b, TW_SGT, rounds, 0);
    tw_value width = tw_emit_mul(b, rounds, shape->tile_w);
    tw_value to = tw_add(b, g->inner_from, width);
    block.from = tw_select(b, any, g->inner_from, g->wo);
    block.to = tw_select(b, any, to, g->wo);

    dw_sums untouched = tw_dw_if_sums(g, any);
    tw_dw_inner(g, &block);
    tw_dw_end_if(g, &untouched);
    tw_dw_edges(g, &block);
}

/* A row block as an image and a place in it: a sum of two such is one again after at most one carry. */
typedef struct position {
    tw_value image, place;
} position;

static position divide(tw_builder *b, tw_value index, tw_value blocks_of_image) {
    position p;
    p.image = tw_udiv(b, index, blocks_of_image);
    tw_value before = tw_mul(b, p.image, blocks_of_image);
    p.place = tw_sub(b, index, before);
    return p;
}

static position advance(tw_builder *b, position p, position step, tw_value blocks_of_image) {
    position next;
    tw_value place = tw_add(b, p.place, step.place);
    tw_value image = tw_add(b, p.image, step.image);
    tw_value carry = tw_icmp(b, TW_SGE, place, blocks_of_image);
    tw_value wrapped = tw_sub(b, place, blocks_of_image);
    tw_value following = tw_emit_add(b, image, 1);
    next.place = tw_select(b, carry, wrapped, place);
    next.image = tw_select(b, carry, following, image);
    return next;
}

/* The wave's share of the workgroup's row blocks: every row_waves-th. */
static void all_rows(dw_gen *g) {
    tw_builder *b = g->b;
    const unsigned count = sum_count(g);
    tw_value rounded = tw_emit_add(b, g->ho, g->shape.tile_h - 1);
    tw_value blocks_of_image = tw_emit_udiv(b, rounded, g->shape.tile_h);
    tw_value total = tw_mul(b, g->n, blocks_of_image);
    tw_value workgroup = tw_workgroup_id(b, 1);
    tw_value start = tw_mul(b, workgroup, g->row_blocks);
    tw_value stop = tw_add(b, start, g->row_blocks);
    stop = tw_smin(b, stop, total);
    tw_value first = tw_add(b, start, g->wave_row);
    tw_value waves = tw_i32(b, g->spec->row_waves);
    position at = divide(b, first, blocks_of_image);
    position step = divide(b, waves, blocks_of_image);

    tw_value carried[DW_MAX_TAPS + 2], next[DW_MAX_TAPS + 2];
    tw_value zero = tw_emit_zero(b, g->sum);
    for (unsigned i = 0; i < count; i++)
        carried[i] = zero;
    carried[count] = at.image;
    carried[count + 1] = at.place;
    tw_for_begin(b, first, stop, waves, count + 2, carried, next);
    tw_for_unroll(b, 1);
    memcpy(g->acc, next, sizeof(tw_value) * count);
    at = (position){next[count], next[count + 1]};
    row_block(g, at.image, at.place);
    at = advance(b, at, step, blocks_of_image);
    memcpy(next, g->acc, sizeof(tw_value) * count);
    next[count] = at.image;
    next[count + 1] = at.place;
    tw_for_end(b, count + 2, next, carried);
    memcpy(g->acc, carried, sizeof(tw_value) * count);
}

static void give_out(dw_gen *g) {
    const dw_shape *shape = &g->shape;
    tw_builder *b = g->b;
    tw_slab slab = {
        .b = b,
        .target = g->target,
        .rsrc = g->ws,
        .channel = g->channel,
        .channels = g->c,
        .vec = shape->vec,
        .lanes = shape->lanes,
        .taps = shape->kh * shape->kw,
        .atomic = !g->spec->reproducible,
    };
    tw_value workgroup = tw_workgroup_id(b, 1);
    slab.index = workgroup;
    if (slab.atomic) {
        tw_value replicas = tw_i32(b, g->spec->ws_replicas);
        slab.index = g->spec->ws_replicas == 1 ? g->zero : tw_urem(b, workgroup, replicas);
    }
    tw_slab_sum sum = {
        .values = g->acc,
        .rows = shape->group_rows,
        .columns = shape->kw,
        .first_tap = tw_emit_mul(b, g->first_row, shape->kw),
        .first_own = tw_emit_mul(b, g->first_own, shape->kw),
        .overlap = shape->group_rows * g->spec->r_split != shape->kh,
        .group = g->group,
        .groups = g->spec->r_split,
        .wave = g->wave_row,
        .waves = g->spec->row_waves,
    };
    tw_slab_give(&slab, &sum);
}

/* As many waves as keep a wave within the 256 vector registers that every instruction reaches: beyond them
 * come moves to accumulation registers or changes of the register bank. */
static uint32_t min_waves(tw_target target) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    return arch->max_vgprs > DW_MAX_VGPRS ? arch->vgprs_per_lane_total / DW_MAX_VGPRS : 0;
}

tw_kernel *tw_dw_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name) {
    const tw_wgrad_depthwise_spec *spec = (const tw_wgrad_depthwise_spec *)values;
    dw_gen g = {.spec = spec, .target = target, .shape = tw_dw_shape(spec, target)};
    tw_kernel_options options = {.workgroup_size = (uint32_t)g.shape.workgroup,
                                 .min_waves_per_eu = min_waves(target)};
    g.b = tw_kernel_begin(ctx, name, target, &options);
    if (!g.b) return NULL;
    g.data = tw_type_vector((tw_scalar)spec->dtype, (unsigned)spec->vec);
    g.sum = tw_type_vector(TW_F32, (unsigned)spec->vec);
    params(&g);
    g.zero = tw_i32(g.b, 0);
    place_lanes(&g);
    place_waves(&g);
    inner_columns(&g);
    all_rows(&g);
    give_out(&g);
    return tw_kernel_end(g.b);
}
