/* Staging by tensor copies: a ring of buffers in LDS that the copy engine fills, several steps ahead.
 *
 * A copy masks what lies past the tensor's end to zero, but not what lies before its begin. Rows of X above
 * the image are copies of nothing, which write zeros. Columns left of the image are left out: the copy begins
 * that many columns further in LDS, and what it then writes past the row's end, zeros, are those columns of
 * the next row. Row 0 has no row before it: the lanes store its zeros. The last row writes into a gap behind
 * it. */
#include "instances/direct_wgrad_image_internal.h"
#include "ir/copy.h"

/* What all copies of a step share. */
typedef struct origin {
    tw_value image, row, exists;
    tw_value column, left; /* of X: the first column that exists, columns before it that do not */
    tw_value columns;      /* of X from there on: what exists and belongs to the strip */
} origin;

static tw_value first_channel(im_gen *g, tw_value tile, tw_value group_channels) {
    return tw_emit_mad(g->b, tile, g->group, group_channels);
}

static void set_padding(const tw_stage_shape *stage, tw_tensor_tile *tile) {
    if (stage->pitch == stage->channels) return;
    tile->pad_interval = (uint32_t)stage->channels / 2;
    tile->pad_amount = (uint32_t)(stage->pitch - stage->channels) / 2;
}

static origin place_step(im_gen *g, const im_step *step, tw_value exists) {
    tw_builder *b = g->b;
    origin p = {.image = step->image, .exists = exists};
    p.row = tw_sub(b, step->row, g->args.pad_h);
    tw_value first = tw_sub(b, step->column, g->args.pad_w);
    tw_value before = tw_sub(b, g->zero, first);
    before = tw_emit_max(b, before, 0);
    tw_value some = tw_emit_compare(b, TW_SLT, before, g->shape.x.columns);
    p.left = tw_select(b, some, before, g->zero);
    p.column = tw_emit_max(b, first, 0);
    tw_value rest = tw_sub(b, g->args.w, p.column);
    rest = tw_emit_max(b, rest, 0);
    tw_value all = tw_i32(b, g->shape.x.columns);
    tw_value room = tw_sub(b, all, p.left);
    rest = tw_smin(b, rest, room);
    p.columns = tw_select(b, some, rest, g->zero); /* none where the whole strip is left of the image */
    return p;
}

/* Row r of the step's rows of X. */
static void copy_x(im_gen *g, const origin *p, tw_value slot, int r) {
    tw_builder *b = g->b;
    const tw_stage_shape *stage = &g->shape.x;
    tw_tensor_tile tile = {.rank = 2, .tile = {stage->channels, stage->columns}, .strides = {g->args.c}};
    set_padding(stage, &tile);
    tw_value row = tw_emit_add(b, p->row, r);
    tw_value inside = tw_emit_is_index(b, row, g->args.h);
    inside = tw_and(b, inside, p->exists);
    tw_value first = first_channel(g, g->tile_c, g->args.group_c);
    tile.extents[0] = tw_sub(b, g->args.c, first);
    tile.extents[1] = tw_select(b, inside, p->columns, g->zero);
    tw_value of_all = tw_emit_mad(b, row, p->image, g->args.h);
    tw_value pixel = tw_emit_mad(b, p->column, of_all, g->args.w);
    tw_value element = tw_emit_mad(b, first, pixel, g->args.c);
    element = tw_select(b, inside, element, g->zero);
    tw_value from = tw_ptr_offset(b, g->args.x_pointer, element);
    tw_value shift = tw_emit_mul(b, p->left, stage->pitch);
    tw_value at = tw_add(b, slot, shift);
    at = tw_emit_add(b, at, r * stage->columns * stage->pitch);
    tw_value to = tw_ptr_offset(b, g->lds, at);
    tw_tensor_load_to_lds(b, to, from, &tile, 0);
}

/* All rows of dY: nothing lies above or left of them. */
static void copy_dy(im_gen *g, const im_step *step, const origin *p, tw_value slot) {
    tw_builder *b = g->b;
    const tw_stage_shape *stage = &g->shape.dy;
    tw_tensor_tile tile = {.rank = 3, .tile = {stage->channels, stage->columns, stage->rows}};
    set_padding(stage, &tile);
    tw_value first = first_channel(g, g->tile_k, g->args.group_k);
    tile.extents[0] = tw_sub(b, g->args.k, first);
    tile.extents[1] = tw_sub(b, g->args.wo, step->column);
    tw_value rows = tw_sub(b, g->row_end, step->row);
    tile.extents[2] = tw_select(b, p->exists, rows, g->zero);
    tile.strides[0] = g->args.k;
    tile.strides[1] = tw_mul(b, g->args.wo, g->args.k);
    tw_value of_all = tw_emit_mad(b, step->row, step->image, g->args.ho);
    tw_value pixel = tw_emit_mad(b, step->column, of_all, g->args.wo);
    tw_value element = tw_emit_mad(b, first, pixel, g->args.k);
    element = tw_select(b, p->exists, element, g->zero);
    tw_value from = tw_ptr_offset(b, g->args.dy_pointer, element);
    tw_value at = tw_emit_add(b, slot, g->shape.dy_first);
    tw_value to = tw_ptr_offset(b, g->lds, at);
    tw_tensor_load_to_lds(b, to, from, &tile, 0);
}

/* The columns left of the image in row 0. */
static void store_left(im_gen *g, const origin *p, tw_value slot) {
    tw_builder *b = g->b;
    const int vectors = g->shape.x.channels / 8;
    tw_value work_item = tw_workitem_id(b, 0), step = tw_i32(b, 1);
    tw_value none = tw_emit_zero(b, tw_type_vector((tw_scalar)g->spec->dtype, 8));
    tw_value column = tw_for_begin(b, g->zero, p->left, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value at = tw_emit_mul(b, column, g->shape.x.pitch);
    at = tw_add(b, at, slot);
    for (int first = 0; first < vectors; first += g->shape.threads) {
        tw_value vector = tw_emit_add(b, work_item, first);
        tw_value has = tw_emit_compare(b, TW_SLT, vector, vectors);
        tw_value channel = tw_emit_mul(b, vector, 8);
        tw_value place = tw_add(b, at, channel);
        tw_if_begin(b, has);
        tw_lds_store(b, none, g->lds, place, 16);
        tw_if_end(b, 0, NULL, NULL);
    }
    tw_for_end(b, 0, NULL, NULL);
}

/* Copies of a step: the rows of X, then dY; they are dealt to the waves in turn. At most 16, and three steps
 * are under way: a wait counts to 63. */
static int copies(const im_gen *g) { return g->shape.x.rows + 1; }

void tw_im_copy(im_gen *g, const im_step *step, tw_value exists, tw_value slot) {
    tw_builder *b = g->b;
    const origin p = place_step(g, step, exists);
    store_left(g, &p, slot);
    tw_value wave = tw_wave_id(b);
    for (int w = 0; w < g->shape.waves && w < copies(g); w++) {
        tw_value own = tw_emit_compare(b, TW_EQ, wave, w);
        if (g->shape.waves > 1) tw_if_begin(b, own);
        for (int i = w; i < copies(g); i += g->shape.waves) {
            if (i < g->shape.x.rows)
                copy_x(g, &p, slot, i);
            else
                copy_dy(g, step, &p, slot);
        }
        if (g->shape.waves > 1) tw_if_end(b, 0, NULL, NULL);
    }
}

void tw_im_wait(im_gen *g, int steps) {
    tw_builder *b = g->b;
    const int least = copies(g) / g->shape.waves, more = copies(g) % g->shape.waves;
    if (!more || !steps) {
        tw_tensor_wait(b, (unsigned)(steps * least));
        return;
    }
    tw_value wave = tw_wave_id(b);
    tw_value has_more = tw_emit_compare(b, TW_SLT, wave, more);
    tw_if_begin(b, has_more);
    tw_tensor_wait(b, (unsigned)(steps * (least + 1)));
    if (least) {
        tw_if_else(b, 0, NULL);
        tw_tensor_wait(b, (unsigned)(steps * least));
    }
    tw_if_end(b, 0, NULL, NULL);
}
