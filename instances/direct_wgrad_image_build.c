/* The kernel of direct_wgrad_image: docs/instances.md describes the algorithm. This file has the workgroup's
 * place and the loop over steps. */
#include "instances/direct_wgrad_image_internal.h"

#include <string.h>

/* The workgroup's tile: grid x counts tiles of c, then of k, then groups. */
static void place_workgroup(im_gen *g) {
    tw_builder *b = g->b;
    const int tile_k = g->shape.dy.channels, tile_c = g->shape.x.channels;
    tw_value rounded_c = tw_emit_add(b, g->args.group_c, tile_c - 1);
    tw_value tiles_c = tw_emit_udiv(b, rounded_c, tile_c);
    tw_value rounded_k = tw_emit_add(b, g->args.group_k, tile_k - 1);
    tw_value tiles_k = tw_emit_udiv(b, rounded_k, tile_k);
    tw_value x = tw_workgroup_id(b, 0);
    tw_value row = tw_udiv(b, x, tiles_c);
    tw_value before = tw_mul(b, row, tiles_c);
    tw_value column = tw_sub(b, x, before);
    g->group = tw_udiv(b, row, tiles_k);
    before = tw_mul(b, g->group, tiles_k);
    row = tw_sub(b, row, before);
    g->tile_k = tw_emit_mul(b, row, tile_k);
    g->tile_c = tw_emit_mul(b, column, tile_c);
    tw_name(b, g->tile_k, "tile_k");
    tw_name(b, g->tile_c, "tile_c");
    tw_value wave = tw_wave_id(b);
    tw_value wave_row = tw_emit_udiv(b, wave, g->spec->waves_c);
    before = tw_emit_mul(b, wave_row, g->spec->waves_c);
    tw_value wave_column = tw_sub(b, wave, before);
    g->wave_k = tw_emit_mul(b, wave_row, IM_TILE * g->spec->wave_tiles_k);
    g->wave_c = tw_emit_mul(b, wave_column, IM_TILE * g->spec->wave_tiles_c);
}

/* ceil(x / k) for x >= 0 */
static tw_value ceil_div(tw_builder *b, tw_value x, int k) {
    tw_value rounded = tw_emit_add(b, x, k - 1);
    return tw_emit_udiv(b, rounded, k);
}

/* The workgroup's share: its rows of each image, and how many steps all its images have. */
static tw_value count_steps(im_gen *g, tw_value first_image) {
    tw_builder *b = g->b;
    tw_value share = ceil_div(b, g->args.ho, g->spec->row_blocks);
    tw_value block = tw_workgroup_id(b, 1);
    g->row_from = tw_mul(b, block, share);
    tw_value end = tw_add(b, g->row_from, share);
    g->row_end = tw_smin(b, end, g->args.ho);
    tw_value rows = tw_sub(b, g->row_end, g->row_from);
    rows = tw_emit_max(b, rows, 0);
    tw_value row_steps = ceil_div(b, rows, g->spec->rows_per_sync);
    tw_value whole_rows = tw_emit_mul(b, row_steps, g->spec->rows_per_sync);
    g->row_to = tw_add(b, g->row_from, whole_rows);
    tw_value strips = ceil_div(b, g->args.wo, g->spec->strip);
    g->strip_end = tw_emit_mul(b, strips, g->spec->strip);
    tw_value image_end = tw_add(b, first_image, g->images);
    image_end = tw_smin(b, image_end, g->args.n);
    tw_value images = tw_sub(b, image_end, first_image);
    images = tw_emit_max(b, images, 0);
    tw_value of_image = tw_mul(b, strips, row_steps);
    return tw_mul(b, images, of_image);
}

/* Rows first, then strips, then images. */
static im_step next_step(im_gen *g, im_step at) {
    tw_builder *b = g->b;
    im_step next;
    tw_value row = tw_emit_add(b, at.row, g->spec->rows_per_sync);
    tw_value row_carry = tw_icmp(b, TW_SGE, row, g->row_to);
    next.row = tw_select(b, row_carry, g->row_from, row);
    tw_value column = tw_emit_add(b, at.column, g->spec->strip);
    column = tw_select(b, row_carry, column, at.column);
    tw_value column_carry = tw_icmp(b, TW_SGE, column, g->strip_end);
    next.column = tw_select(b, column_carry, g->zero, column);
    tw_value image = tw_emit_add(b, at.image, 1);
    next.image = tw_select(b, column_carry, image, at.image);
    return next;
}

enum { STATE = 5, CARRIED = IM_MAX_SUMS + 2 * TW_STAGE_MAX_LOADS + STATE };

/* What the loop carries: the sums, what waits in registers, the next step to stage, and the buffers that are
 * read and filled next. */
typedef struct loop {
    im_step step;
    tw_value read, fill;
} loop;

typedef struct carried {
    tw_value values[CARRIED];
    unsigned count;
} carried;

static void add(carried *z, const tw_value *values, int count) {
    memcpy(z->values + z->count, values, sizeof *values * (size_t)count);
    z->count += (unsigned)count;
}

static void pack(im_gen *g, carried *z, const loop *l) {
    const tw_value state[STATE] = {l->step.image, l->step.column, l->step.row, l->read, l->fill};
    z->count = 0;
    add(z, g->sums, g->shape.sums);
    add(z, g->x.raw, tw_stage_loads(&g->shape.x));
    add(z, g->dy.raw, tw_stage_loads(&g->shape.dy));
    add(z, state, STATE);
}

static const tw_value *take(const tw_value *from, tw_value *values, int count) {
    memcpy(values, from, sizeof *values * (size_t)count);
    return from + count;
}

static void unpack(im_gen *g, const carried *z, loop *l) {
    const tw_value *state = take(z->values, g->sums, g->shape.sums);
    state = take(state, g->x.raw, tw_stage_loads(&g->shape.x));
    state = take(state, g->dy.raw, tw_stage_loads(&g->shape.dy));
    *l = (loop){{state[0], state[1], state[2]}, state[3], state[4]};
}

static tw_value next_buffer(im_gen *g, tw_value buffer) {
    tw_builder *b = g->b;
    tw_value next = tw_emit_add(b, buffer, g->shape.buffer);
    tw_value past = tw_emit_compare(b, TW_SGE, next, g->shape.buffers * g->shape.buffer);
    return tw_select(b, past, g->zero, next);
}

/* Where dY begins in a buffer. Turned, it is read and stored with offsets of 2040 bytes at most, too little
 * for X before it; a constant in the lanes' places, or in a sum, LLVM 22 adds to each address for itself. */
tw_value tw_im_dy_buffer(im_gen *g, tw_value buffer) {
    tw_builder *b = g->b;
    if (g->shape.dy.transposed) return tw_emit_add(b, buffer, g->shape.dy_first);
    tw_value first = tw_emit_compare(b, TW_EQ, buffer, 0);
    tw_value in_first = tw_i32(b, g->shape.dy_first);
    tw_value in_second = tw_i32(b, g->shape.dy_first + g->shape.buffer);
    return tw_select(b, first, in_first, in_second);
}

static void load_step(im_gen *g, const im_step *step, tw_value exists) {
    tw_builder *b = g->b;
    tw_stage_from x = {.image = step->image, .end = g->args.h, .exists = exists};
    x.row = tw_sub(b, step->row, g->args.pad_h);
    x.column = tw_sub(b, step->column, g->args.pad_w);
    tw_stage_load(&g->x, &x);
    const tw_stage_from dy = {step->image, step->row, step->column, g->row_end, exists};
    tw_stage_load(&g->dy, &dy);
}

/* The data of a step waits in registers: it is stored to one of two buffers, the next step's loads begin, and
 * its products are made. One barrier a step is enough: before a wave stores to a buffer again, all waves have
 * met behind the products that used it. */
static void staged_step(im_gen *g, loop *l, tw_value index, tw_value steps) {
    tw_builder *b = g->b;
    tw_stage_store(&g->x, l->read);
    tw_value dy = tw_im_dy_buffer(g, l->read);
    tw_stage_store(&g->dy, dy);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value next = tw_emit_add(b, index, 1);
    tw_value more = tw_icmp(b, TW_SLT, next, steps);
    load_step(g, &l->step, more);
    tw_im_multiply(g, l->read);
}

/* The copies of a step have begun tdm_stages - 1 steps ago. Behind the barrier all waves have waited for
 * theirs, and none reads the buffer of the step before any more: that one is filled next. */
static void copied_step(im_gen *g, loop *l, tw_value index, tw_value steps) {
    tw_builder *b = g->b;
    tw_im_wait(g, g->spec->tdm_stages - 2);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value ahead = tw_emit_add(b, index, g->spec->tdm_stages - 1);
    tw_value more = tw_icmp(b, TW_SLT, ahead, steps);
    tw_im_copy(g, &l->step, more, l->fill);
    tw_im_multiply(g, l->read);
}

static void begin_steps(im_gen *g, loop *l, tw_value steps) {
    tw_builder *b = g->b;
    const int stages = g->spec->tdm_stages;
    l->read = l->fill = g->zero;
    for (int i = 0; i < (stages ? stages - 1 : 1); i++) {
        tw_value exists = tw_emit_compare(b, TW_SGT, steps, i);
        if (stages)
            tw_im_copy(g, &l->step, exists, l->fill);
        else
            load_step(g, &l->step, exists);
        l->step = next_step(g, l->step);
        l->fill = next_buffer(g, l->fill);
    }
}

static void all_steps(im_gen *g) {
    tw_builder *b = g->b;
    tw_value share = tw_workgroup_id(b, 2);
    loop l = {.step = {.row = {0}}};
    l.step.image = tw_mul(b, share, g->images);
    tw_value steps = count_steps(g, l.step.image);
    l.step.column = g->zero;
    l.step.row = g->row_from;
    begin_steps(g, &l, steps);
    carried z, next;
    pack(g, &z, &l);
    tw_value by = tw_i32(b, 1);
    tw_value index = tw_for_begin(b, g->zero, steps, by, z.count, z.values, next.values);
    tw_for_unroll(b, 1);
    unpack(g, &next, &l);
    if (g->spec->tdm_stages)
        copied_step(g, &l, index, steps);
    else
        staged_step(g, &l, index, steps);
    l.step = next_step(g, l.step);
    l.read = next_buffer(g, l.read);
    l.fill = next_buffer(g, l.fill);
    pack(g, &next, &l);
    tw_for_end(b, next.count, next.values, z.values);
    unpack(g, &z, &l);
    if (g->spec->tdm_stages) tw_im_wait(g, 0);
}

static void place_stages(im_gen *g) {
    tw_builder *b = g->b;
    const tw_dense_args *a = &g->args;
    const tw_scalar dtype = (tw_scalar)g->spec->dtype;
    g->lds = tw_lds_alloc(b, dtype, (uint32_t)(g->shape.buffers * g->shape.buffer), 16);
    g->x = (tw_stage){b, &g->shape.x, dtype, a->x_pointer, a->h, a->w, a->c, .lds = g->lds};
    g->dy = (tw_stage){b, &g->shape.dy, dtype, a->dy_pointer, a->ho, a->wo, a->k, .lds = g->lds};
    tw_value tile_x = tw_emit_udiv(b, g->wave_c, IM_TILE);
    tw_value tile_dy = tw_emit_udiv(b, g->wave_k, IM_TILE);
    tw_stage_place_lanes(&g->x, TW_MATRIX_B, tile_x);
    tw_stage_place_lanes(&g->dy, TW_MATRIX_A, tile_dy);
    if (g->spec->tdm_stages) return;
    tw_value first_c = tw_emit_mad(b, g->tile_c, g->group, a->group_c);
    tw_stage_place_items(&g->x, first_c);
    tw_value first_k = tw_emit_mad(b, g->tile_k, g->group, a->group_k);
    tw_stage_place_items(&g->dy, first_k);
}

/* As many waves as keep a wave within the registers that the shape allows it. */
static uint32_t min_waves(const im_shape *shape, tw_target target) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    return (int)arch->max_vgprs > shape->vgpr_cap ? arch->vgprs_per_lane_total / (uint32_t)shape->vgpr_cap
                                                  : 0;
}

tw_kernel *tw_im_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name) {
    const tw_wgrad_image_spec *spec = (const tw_wgrad_image_spec *)values;
    im_gen g = {.spec = spec, .target = target, .shape = tw_im_shape(spec, target)};
    tw_kernel_options options = {.workgroup_size = (uint32_t)g.shape.threads,
                                 .min_waves_per_eu = min_waves(&g.shape, target)};
    g.b = tw_kernel_begin(ctx, name, target, &options);
    if (!g.b) return NULL;
    static const char *const own[] = {"images"};
    tw_dense_params_with(g.b, (tw_scalar)spec->dtype, own, &g.images, 1, &g.args);
    g.zero = tw_i32(g.b, 0);
    place_workgroup(&g);
    place_stages(&g);
    const tw_type *sum = tw_fragment_type(target, g.shape.info.name, TW_MATRIX_D);
    tw_value none = tw_emit_zero(g.b, sum);
    for (int i = 0; i < g.shape.sums; i++)
        g.sums[i] = none;
    all_steps(&g);
    tw_im_give(&g);
    return tw_kernel_end(g.b);
}
