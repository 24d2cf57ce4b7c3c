/* Staging through registers: rows of X and dY go from memory to LDS, where a column (a position of the image)
 * is a contiguous run of channels.
 *
 * Rows are the same for all lanes: a row outside the image is loaded from a buffer of no bytes. Columns
 * differ by lane: those outside get an offset that is past any buffer. Either gives zeros. */
#include "instances/direct_wgrad_image_internal.h"

enum { NOWHERE = 1 << 30 }; /* past any column, and still far from overflow when a column is added */

/* Which column and which channels a lane's item is. A store of 16 bytes serves 16 lanes at once: those take 8
 * columns of 32 bytes, which the pitch spreads over all banks. */
static void split_item(im_gen *g, const im_stage *stage, tw_value index, tw_value *column,
                       tw_value *channel) {
    tw_builder *b = g->b;
    const int vec = g->spec->vec, across = stage->channels / vec;
    if (vec < 8) {
        *column = tw_emit_udiv(b, index, across);
        tw_value before = tw_emit_mul(b, *column, across);
        tw_value rest = tw_sub(b, index, before);
        *channel = tw_emit_mul(b, rest, vec);
        return;
    }
    tw_value seven = tw_i32(b, 7), one = tw_i32(b, 1);
    tw_value low = tw_and(b, index, seven);
    tw_value eights = tw_emit_udiv(b, index, 8);
    tw_value half = tw_and(b, eights, one);
    tw_value rest = tw_emit_udiv(b, index, 16);
    tw_value high = tw_emit_udiv(b, rest, across / 2);
    tw_value before = tw_emit_mul(b, high, across / 2);
    tw_value pair = tw_sub(b, rest, before);
    tw_value high_columns = tw_emit_mul(b, high, 8);
    *column = tw_add(b, high_columns, low);
    tw_value of_pair = tw_emit_mul(b, pair, 16);
    tw_value of_half = tw_emit_mul(b, half, 8);
    *channel = tw_add(b, of_pair, of_half);
}

static void place_item(im_gen *g, im_staging *s, tw_value first_channel, tw_value work_item, int i) {
    tw_builder *b = g->b;
    const im_stage *stage = s->stage;
    im_item *item = &s->items[i];
    tw_value index = tw_emit_add(b, work_item, i * g->shape.threads), channel;
    split_item(g, stage, index, &item->column, &channel);
    tw_value at = tw_emit_mul(b, item->column, stage->pitch);
    item->place = tw_add(b, at, channel);
    tw_value of_tensor = tw_add(b, first_channel, channel);
    tw_value bytes = tw_emit_mul(b, of_tensor, 2);
    item->voffset = tw_emit_mad(b, bytes, item->column, s->pixel);
    item->partial = (i + 1) * g->shape.threads > stage->items;
    if (item->partial) item->active = tw_emit_compare(b, TW_SLT, index, stage->items);
    if (item->partial || stage->used != stage->columns) {
        tw_value used = tw_emit_compare(b, TW_SLT, item->column, stage->used);
        tw_value nowhere = tw_i32(b, NOWHERE);
        item->column = tw_select(b, used, item->column, nowhere);
    }
}

void tw_im_place_items(im_gen *g) {
    tw_builder *b = g->b;
    const tw_dense_args *a = &g->args;
    g->x = (im_staging){
        .stage = &g->shape.x, .pointer = a->x_pointer, .bytes = a->x_bytes, .width = a->w, .height = a->h};
    g->dy = (im_staging){.stage = &g->shape.dy,
                         .pointer = a->dy_pointer,
                         .bytes = a->dy_bytes,
                         .width = a->wo,
                         .height = a->ho,
                         .first = g->shape.dy_first};
    g->x.pixel = tw_emit_mul(b, a->c, 2);
    g->x.row = tw_mul(b, g->x.pixel, a->w);
    g->dy.pixel = tw_emit_mul(b, a->k, 2);
    g->dy.row = tw_mul(b, g->dy.pixel, a->wo);
    tw_value work_item = tw_workitem_id(b, 0);
    tw_value first_c = tw_emit_mad(b, g->tile_c, g->group, a->group_c);
    for (int i = 0; i < g->shape.x.loads; i++)
        place_item(g, &g->x, first_c, work_item, i);
    tw_value first_k = tw_emit_mad(b, g->tile_k, g->group, a->group_k);
    for (int i = 0; i < g->shape.dy.loads; i++)
        place_item(g, &g->dy, first_k, work_item, i);
}

/* One row of an image, `column` being the first that is staged: may be outside, as the row may. */
static void load_row(im_gen *g, im_staging *s, tw_value image, tw_value row, tw_value exists,
                     const tw_value *voffsets, int r) {
    tw_builder *b = g->b;
    const tw_type *type = tw_type_vector((tw_scalar)g->spec->dtype, (unsigned)g->spec->vec);
    tw_value of_all = tw_emit_mad(b, row, image, s->height);
    tw_value offset = tw_mul(b, of_all, s->row);
    tw_value soffset = tw_select(b, exists, offset, g->zero);
    tw_value bytes = tw_select(b, exists, s->bytes, g->zero);
    tw_value rsrc = tw_buffer_rsrc(b, s->pointer, bytes);
    for (int i = 0; i < s->stage->loads; i++)
        s->values[r * s->stage->loads + i] = tw_buffer_load(b, type, rsrc, voffsets[i], soffset, 0);
}

/* The lanes' offsets within a row, from its first column on. */
static void column_offsets(im_gen *g, const im_staging *s, tw_value column, tw_value *voffsets) {
    tw_builder *b = g->b;
    tw_value shift = tw_mul(b, column, s->pixel);
    tw_value outside = tw_i32(b, INT32_MIN);
    for (int i = 0; i < s->stage->loads; i++) {
        tw_value at = tw_add(b, column, s->items[i].column);
        tw_value inside = tw_emit_is_index(b, at, s->width);
        tw_value offset = tw_add(b, s->items[i].voffset, shift);
        voffsets[i] = tw_select(b, inside, offset, outside);
    }
}

void tw_im_load(im_gen *g, const im_step *step, tw_value exists) {
    tw_builder *b = g->b;
    tw_value voffsets[IM_MAX_LOADS];
    tw_value column = tw_sub(b, step->column, g->args.pad_w);
    column_offsets(g, &g->x, column, voffsets);
    tw_value above = tw_sub(b, step->row, g->args.pad_h);
    for (int r = 0; r < g->shape.x.rows; r++) {
        tw_value row = tw_emit_add(b, above, r);
        tw_value inside = tw_emit_is_index(b, row, g->args.h);
        tw_value both = tw_and(b, inside, exists);
        load_row(g, &g->x, step->image, row, both, voffsets, r);
    }
    column_offsets(g, &g->dy, step->column, voffsets);
    for (int r = 0; r < g->shape.dy.rows; r++) {
        tw_value row = tw_emit_add(b, step->row, r);
        tw_value inside = tw_icmp(b, TW_SLT, row, g->row_end);
        tw_value both = tw_and(b, inside, exists);
        load_row(g, &g->dy, step->image, row, both, voffsets, r);
    }
}

static void store(im_gen *g, const im_staging *s, tw_value buffer) {
    tw_builder *b = g->b;
    const im_stage *stage = s->stage;
    for (int i = 0; i < stage->loads; i++) {
        const im_item *item = &s->items[i];
        tw_value place = tw_add(b, buffer, item->place);
        if (item->partial) tw_if_begin(b, item->active);
        for (int r = 0; r < stage->rows; r++) {
            tw_value at = tw_emit_add(b, place, s->first + r * stage->columns * stage->pitch);
            tw_lds_store(b, s->values[r * stage->loads + i], g->lds, at, 2 * (unsigned)g->spec->vec);
        }
        if (item->partial) tw_if_end(b, 0, NULL, NULL);
    }
}

void tw_im_store(im_gen *g, tw_value buffer) {
    store(g, &g->x, buffer);
    store(g, &g->dy, buffer);
}

/* None where tensor copies stage. */
static unsigned count_of(const im_stage *stage) { return (unsigned)(stage->rows * stage->loads); }

unsigned tw_im_value_count(const im_gen *g) { return count_of(&g->shape.x) + count_of(&g->shape.dy); }

void tw_im_get_values(const im_gen *g, tw_value *out) {
    const unsigned x = count_of(&g->shape.x), dy = count_of(&g->shape.dy);
    for (unsigned i = 0; i < x; i++)
        out[i] = g->x.values[i];
    for (unsigned i = 0; i < dy; i++)
        out[x + i] = g->dy.values[i];
}

void tw_im_set_values(im_gen *g, const tw_value *values) {
    const unsigned x = count_of(&g->shape.x), dy = count_of(&g->shape.dy);
    for (unsigned i = 0; i < x; i++)
        g->x.values[i] = values[i];
    for (unsigned i = 0; i < dy; i++)
        g->dy.values[i] = values[x + i];
}
