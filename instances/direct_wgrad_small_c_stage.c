/* Staging: X and dY go from memory through registers to LDS.
 *
 * A step has eight units of positions. In LDS a chunk of 16 bytes holds one element of each unit, so that
 * what a lane takes of a fragment, eight positions of one column, is a chunk, and any tap's chunks are
 * aligned. A lane loads the same vector of a row of X in every unit, and turns them over into chunks. dY
 * stays as it is, positions of contiguous k, and is transposed where it is read.
 *
 * What does not exist is loaded as zero: units and rows of X are the same for all lanes and get buffers that
 * end with the image or the row, or are of no bytes; elements left or right of a row of X get an offset that
 * is past any buffer. */
#include <string.h>

#include "instances/direct_wgrad_small_c_internal.h"

enum { FAR = -(1 << 30) }; /* bytes left of a row: no lane's element is inside, and nothing overflows */

void tw_sc_split(tw_builder *b, tw_value index, int k, tw_value *quotient, tw_value *rest) {
    *quotient = tw_emit_udiv(b, index, k);
    tw_value before = tw_emit_mul(b, *quotient, k);
    *rest = tw_sub(b, index, before);
}

static void finish_x_item(sc_gen *g, sc_item *item, tw_value vector) {
    tw_builder *b = g->b;
    const sc_shape *z = &g->shape;
    const int vec = g->spec->vec_x;
    item->bytes = tw_emit_mul(b, vector, 2 * vec);
    item->offset = item->bytes;
    if (!g->spec->uniform_wave) item->offset = tw_emit_mad(b, item->bytes, item->row, g->row_bytes);
    tw_value of_row = tw_emit_mul(b, item->row, z->x_pitch * SC_CHUNK), in_plane = vector, plane;
    if (vec == 1) tw_sc_split(b, vector, z->x_planes, &in_plane, &plane);
    tw_value in_row = tw_emit_mul(b, in_plane, (vec == 1 ? 1 : vec / z->x_planes) * SC_CHUNK);
    item->place = tw_add(b, of_row, in_row);
    if (vec > 1 || z->x_planes == 1) return;
    plane = tw_emit_mul(b, plane, z->x_plane * SC_CHUNK);
    item->place = tw_add(b, item->place, plane);
}

/* What lane `lane` of some wave has: a bit of each lane in a word for each wave. */
static tw_value word_bit(sc_gen *g, const uint32_t *words, int waves, tw_value lane) {
    tw_builder *b = g->b;
    tw_value word = tw_i32(b, (int32_t)words[waves - 1]);
    for (int wave = waves - 1; wave-- > 0;) {
        if (words[wave] == words[wave + 1]) continue;
        tw_value at = tw_wave_id(b), mine = tw_i32(b, (int32_t)words[wave]);
        tw_value before = tw_emit_compare(b, TW_SLE, at, wave);
        word = tw_select(b, before, mine, word);
    }
    word = tw_lshr(b, word, lane);
    tw_value one = tw_i32(b, 1);
    return tw_and(b, word, one);
}

/* Row and vector of the lanes of `waves` waves, the first of them wave `first` of those with items. */
static void place_dealt(sc_gen *g, sc_item *item, int first, int waves, tw_value *vector) {
    enum { FIELDS = 3, ROW = 0, VECTOR = 1, ACTIVE = 2, BITS = 16 };
    tw_builder *b = g->b;
    uint32_t words[FIELDS][BITS][SC_MAX_TABLE_WAVES] = {{{0}}};
    tw_value fields[FIELDS] = {g->zero, g->zero, g->zero}, lane = tw_lane_id(b);
    int most[FIELDS] = {0};
    bool all = true;
    for (int wave = 0; wave < waves; wave++) {
        sc_staged items[SC_LANES];
        tw_sc_deal(&g->shape, g->spec->vec_x, first + wave, items);
        for (int l = 0; l < SC_LANES; l++) {
            const int values[FIELDS] = {items[l].row, items[l].vector, items[l].exists};
            all = all && items[l].exists;
            for (int f = 0; f < FIELDS; f++) {
                if (values[f] > most[f]) most[f] = values[f];
                for (int bit = 0; bit < BITS; bit++)
                    words[f][bit][wave] |= (uint32_t)(values[f] >> bit & 1) << l;
            }
        }
    }
    for (int f = 0; f < FIELDS; f++)
        for (int bit = 0; most[f] >> bit; bit++) {
            tw_value set = word_bit(g, words[f][bit], waves, lane);
            set = tw_emit_mul(b, set, 1 << bit);
            fields[f] = bit ? tw_or(b, fields[f], set) : set;
        }
    if (!g->spec->uniform_wave) item->row = fields[ROW];
    *vector = fields[VECTOR];
    if (!all) item->active = tw_emit_compare(b, TW_SGT, fields[ACTIVE], 0);
}

static void place_shared_item(sc_gen *g, int i) {
    tw_builder *b = g->b;
    sc_item *item = &g->x[i];
    const sc_shape *z = &g->shape;
    const int first = i * z->threads, lanes = g->target.wave_size, waves = z->x_waves - i * z->waves;
    tw_value vector, rest, block, in_block;
    if (z->x_deal) {
        tw_value work_item = tw_workitem_id(b, 0);
        tw_value index = tw_emit_add(b, work_item, first);
        tw_sc_split(b, index, z->x_deal, &rest, &in_block);
        tw_sc_split(b, rest, z->x_vectors, &block, &vector);
        tw_value before = tw_emit_mul(b, block, z->x_deal);
        item->row = tw_add(b, before, in_block);
        const int whole_blocks = z->x_rows / z->x_deal * z->x_deal * z->x_vectors;
        if (first + z->threads > whole_blocks)
            item->active = tw_emit_compare(b, TW_SLT, item->row, z->x_rows);
    } else {
        place_dealt(g, item, i * z->waves, waves < z->waves ? waves : z->waves, &vector);
    }
    /* Waves past the last item have nothing to load. */
    if (first + z->threads - lanes >= z->x_dealt) {
        tw_value wave = tw_wave_id(b);
        item->exists = tw_emit_compare(b, TW_SLT, wave, waves);
    }
    finish_x_item(g, item, vector);
}

static void place_row_item(sc_gen *g, int i) {
    tw_builder *b = g->b;
    sc_item *item = &g->x[i];
    const int lanes = g->target.wave_size, rounds = g->shape.x_waves;
    const int first_row = i / rounds * g->shape.waves, first_vector = i % rounds * lanes;
    tw_value wave = tw_wave_id(b), lane = tw_lane_id(b), vector;
    item->row = tw_emit_add(b, wave, first_row);
    if (first_row + g->shape.waves > g->shape.x_rows)
        item->exists = tw_emit_compare(b, TW_SLT, item->row, g->shape.x_rows);
    if (g->shape.x_deal) {
        vector = tw_emit_add(b, lane, first_vector);
        if (first_vector + lanes > g->shape.x_vectors)
            item->active = tw_emit_compare(b, TW_SLT, vector, g->shape.x_vectors);
    } else {
        place_dealt(g, item, i % rounds, 1, &vector);
    }
    finish_x_item(g, item, vector);
}

/* 16 lanes take eight positions of 32 bytes, where a unit has so many: those are in different banks. */
static void place_dy_item(sc_gen *g, int i) {
    tw_builder *b = g->b;
    sc_item *item = &g->dy[i];
    const int together = g->shape.unit_columns < 8 ? g->shape.unit_columns : 8;
    const int pairs = g->shape.tile_k / SC_TILE;
    tw_value work_item = tw_workitem_id(b, 0), low, half, pair, high;
    tw_value index = tw_emit_add(b, work_item, i * g->shape.threads), rest;
    tw_sc_split(b, index, together, &rest, &low);
    tw_sc_split(b, rest, 2, &rest, &half);
    tw_sc_split(b, rest, pairs, &high, &pair);
    tw_value before = tw_emit_mul(b, high, together);
    tw_value column = tw_add(b, before, low);
    tw_value of_pair = tw_emit_mul(b, pair, SC_TILE), of_half = tw_emit_mul(b, half, 8);
    tw_value k = tw_add(b, of_pair, of_half);
    if ((i + 1) * g->shape.threads > g->shape.dy_vectors)
        item->active = tw_emit_compare(b, TW_SLT, index, g->shape.dy_vectors);
    tw_value bytes = tw_emit_mul(b, k, 2);
    item->bytes = tw_emit_mad(b, bytes, column, g->dy_pixel);
    tw_value at = tw_emit_mul(b, column, g->shape.dy_pitch);
    at = tw_add(b, at, k);
    item->place = tw_emit_add(b, at, g->shape.dy_first);
}

void tw_sc_place_items(sc_gen *g) {
    tw_builder *b = g->b;
    const int channels = g->spec->channels;
    const tw_type *element = tw_type_scalar((tw_scalar)g->spec->dtype);
    if (g->spec->vec_x > 1) element = tw_type_vector((tw_scalar)g->spec->dtype, (unsigned)g->spec->vec_x);
    tw_value nothing = tw_emit_zero(b, element);
    for (int i = 0; i < g->shape.x_items * SC_UNITS; i++)
        g->x_values[i] = nothing;
    g->row_bytes = tw_emit_mul(b, g->args.w, 2 * channels);
    tw_value pixels = tw_mul(b, g->args.h, g->args.w);
    g->image_elements = tw_emit_mul(b, pixels, channels);
    g->dy_pixel = tw_emit_mul(b, g->args.k, 2);
    /* The first tap's element, -pad_w * channels, rounded down to whole vectors. */
    tw_value first = tw_emit_mul(b, g->args.pad_w, -channels), mask = tw_i32(b, g->spec->vec_x - 1);
    g->shift = tw_and(b, first, mask);
    for (int i = 0; i < g->shape.x_items; i++) {
        if (g->spec->uniform_wave)
            place_row_item(g, i);
        else
            place_shared_item(g, i);
    }
    for (int i = 0; i < g->shape.dy_items; i++)
        place_dy_item(g, i);
}

/* What the loads of X share that belong to units side by side. */
typedef struct x_row {
    tw_value exists, image, row; /* of X: the first that is staged */
    tw_value begin;              /* bytes from a row's begin to the first that is staged */
} x_row;

static x_row place_row(sc_gen *g, const sc_step *step, tw_value row) {
    tw_builder *b = g->b;
    x_row x = {.image = step->image, .exists = tw_icmp(b, TW_SLT, step->image, g->args.n)};
    row = tw_emit_mul(b, row, g->spec->stride);
    row = tw_sub(b, row, g->args.pad_h);
    x.row = tw_add(b, row, g->first_row);
    tw_value column = tw_emit_mul(b, step->column, g->spec->stride);
    column = tw_sub(b, column, g->args.pad_w);
    column = tw_smin(b, column, g->args.w);
    const int width = g->shape.x_chunks + g->shape.step_columns * g->spec->stride;
    tw_value near = tw_emit_compare(b, TW_SGT, column, -width), far = tw_i32(b, FAR);
    tw_value element = tw_emit_mul(b, column, g->spec->channels);
    element = tw_sub(b, element, g->shift);
    tw_value bytes = tw_emit_mul(b, element, 2);
    x.begin = tw_select(b, near, bytes, far);
    return x;
}

/* The same for the unit `across` units to the right. */
static tw_value begin_of(sc_gen *g, const x_row *x, int across) {
    return tw_emit_add(g->b, x->begin, across * g->shape.unit_elements * 2);
}

static tw_value load_x(sc_gen *g, tw_value rsrc, tw_value voffset) {
    const tw_scalar dtype = (tw_scalar)g->spec->dtype;
    const unsigned vec = (unsigned)g->spec->vec_x;
    const tw_type *type = vec == 1 ? tw_type_scalar(dtype) : tw_type_vector(dtype, vec);
    return tw_buffer_load(g->b, type, rsrc, voffset, g->zero, 0);
}

/* Waves that have no item keep what is in the registers. */
static void begin_loads(sc_gen *g, const sc_item *item) {
    if (item->exists.id) tw_if_begin(g->b, item->exists);
}

static void end_loads(sc_gen *g, const sc_item *item, const tw_value *loaded, tw_value *values) {
    tw_builder *b = g->b;
    const unsigned count = (unsigned)g->shape.across;
    tw_value before[SC_UNITS];
    memcpy(before, values, sizeof *values * count);
    if (!item->exists.id) {
        memcpy(values, loaded, sizeof *values * count);
        return;
    }
    tw_if_else(b, count, loaded);
    tw_if_end(b, count, before, values);
}

/* Elements left or right of the row go past any buffer. */
static tw_value load_checked(sc_gen *g, const x_row *x, tw_value rsrc, const sc_item *item, tw_value above,
                             int unit) {
    tw_builder *b = g->b;
    tw_value begin = begin_of(g, x, unit), outside = tw_i32(b, INT32_MIN);
    tw_value shift = tw_add(b, begin, above);
    tw_value in_row = tw_add(b, item->bytes, begin);
    tw_value inside = tw_emit_is_index(b, in_row, g->row_bytes);
    tw_value offset = tw_add(b, item->offset, shift);
    offset = tw_select(b, inside, offset, outside);
    return load_x(g, rsrc, offset);
}

/* Units between the first and the last are inside the row in all but narrow images and a row's last steps:
 * then one offset serves them all. */
static void load_units(sc_gen *g, const x_row *x, tw_value rsrc, const sc_item *item, tw_value above,
                       tw_value loaded[SC_UNITS]) {
    tw_builder *b = g->b;
    const int last = g->shape.across - 1;
    loaded[0] = load_checked(g, x, rsrc, item, above, 0);
    if (last < 3) {
        for (int unit = 1; unit <= last; unit++)
            loaded[unit] = load_checked(g, x, rsrc, item, above, unit);
        return;
    }
    tw_value between[SC_UNITS], begin = begin_of(g, x, 1), end = begin_of(g, x, last - 1);
    end = tw_emit_add(b, end, 2 * g->shape.x_chunks);
    tw_value begins = tw_emit_compare(b, TW_SGE, begin, 0), ends = tw_icmp(b, TW_SLE, end, g->row_bytes);
    tw_value inside = tw_and(b, begins, ends);
    tw_if_begin(b, inside);
    tw_value shift = tw_add(b, begin, above);
    tw_value offset = tw_add(b, item->offset, shift);
    for (int unit = 1; unit < last; unit++) {
        tw_value at = tw_emit_add(b, offset, 2 * (unit - 1) * g->shape.unit_elements);
        between[unit] = load_x(g, rsrc, at);
    }
    tw_if_else(b, (unsigned)(last - 1), between + 1);
    for (int unit = 1; unit < last; unit++)
        between[unit] = load_checked(g, x, rsrc, item, above, unit);
    tw_if_end(b, (unsigned)(last - 1), between + 1, loaded + 1);
    loaded[last] = load_checked(g, x, rsrc, item, above, last);
}

/* All rows of the units: a buffer that begins and ends with the image, and rows above it before its begin. */
static void load_shared(sc_gen *g, const x_row *x, int first_unit) {
    tw_builder *b = g->b;
    tw_value element = tw_mul(b, x->image, g->image_elements);
    tw_value pointer = tw_ptr_offset(b, g->args.x_pointer, element);
    tw_value all = tw_emit_mul(b, g->image_elements, 2);
    tw_value bytes = tw_select(b, x->exists, all, g->zero);
    tw_value rsrc = tw_buffer_rsrc(b, pointer, bytes);
    /* Rows that are further outside than all that is staged are as if they were just outside. */
    tw_value row = tw_emit_max(b, x->row, -g->shape.x_rows);
    row = tw_smin(b, row, g->args.h);
    tw_value above = tw_mul(b, row, g->row_bytes);
    for (int i = 0; i < g->shape.x_items; i++) {
        const sc_item *item = &g->x[i];
        tw_value loaded[SC_UNITS];
        begin_loads(g, item);
        load_units(g, x, rsrc, item, above, loaded);
        end_loads(g, item, loaded, &g->x_values[i * SC_UNITS + first_unit]);
    }
}

/* One row of the units, the wave's: a buffer of the row, which what is left of it is past, too. */
static void load_row(sc_gen *g, const x_row *x, int first_unit, int i) {
    tw_builder *b = g->b;
    const sc_item *item = &g->x[i];
    tw_value loaded[SC_UNITS];
    begin_loads(g, item);
    tw_value row = tw_add(b, x->row, item->row);
    tw_value inside = tw_emit_is_index(b, row, g->args.h);
    inside = tw_and(b, inside, x->exists);
    tw_value of_all = tw_emit_mad(b, row, x->image, g->args.h);
    tw_value element = tw_mul(b, of_all, g->args.w);
    element = tw_emit_mul(b, element, g->spec->channels);
    tw_value pointer = tw_ptr_offset(b, g->args.x_pointer, element);
    tw_value bytes = tw_select(b, inside, g->row_bytes, g->zero);
    tw_value rsrc = tw_buffer_rsrc(b, pointer, bytes);
    for (int unit = 0; unit < g->shape.across; unit++) {
        tw_value begin = begin_of(g, x, unit);
        tw_value offset = tw_add(b, item->bytes, begin);
        loaded[unit] = load_x(g, rsrc, offset);
    }
    end_loads(g, item, loaded, &g->x_values[i * SC_UNITS + first_unit]);
}

/* Output row `r` of the units, which is `row` of the image: a buffer from the step's first column to the end
 * of the image's row. */
static void load_dy(sc_gen *g, const sc_step *step, tw_value row, int first_unit, int r) {
    tw_builder *b = g->b;
    const tw_type *type = tw_type_vector((tw_scalar)g->spec->dtype, 8);
    tw_value exists = tw_icmp(b, TW_SLT, step->image, g->args.n);
    tw_value inside = tw_icmp(b, TW_SLT, row, g->args.ho);
    inside = tw_and(b, inside, exists);
    tw_value of_all = tw_emit_mad(b, row, step->image, g->args.ho);
    tw_value pixel = tw_emit_mad(b, step->column, of_all, g->args.wo);
    tw_value element = tw_emit_mad(b, g->first_k, pixel, g->args.k);
    tw_value pointer = tw_ptr_offset(b, g->args.dy_pointer, element);
    tw_value rest = tw_sub(b, g->args.wo, step->column);
    rest = tw_mul(b, rest, g->args.k);
    rest = tw_sub(b, rest, g->first_k);
    tw_value bytes = tw_emit_mul(b, rest, 2);
    bytes = tw_select(b, inside, bytes, g->zero);
    tw_value rsrc = tw_buffer_rsrc(b, pointer, bytes);
    for (int unit = 0; unit < g->shape.across; unit++) {
        tw_value shift = tw_emit_mul(b, g->dy_pixel, unit * g->shape.unit_columns);
        for (int i = 0; i < g->shape.dy_items; i++) {
            const int at = (r * g->shape.dy_items + i) * SC_UNITS + first_unit + unit;
            tw_value voffset = unit ? tw_add(b, g->dy[i].bytes, shift) : g->dy[i].bytes;
            g->dy_values[at] = tw_buffer_load(b, type, rsrc, voffset, g->zero, 0);
        }
    }
}

/* Scalar instructions and loads stay behind those of the unit before: all units at once would need more
 * scalar registers than there are. Products, and what they read, may move in between. */
static void keep_order(sc_gen *g) {
    enum { VECTOR_ALU = 1 << 1, MATRIX = 1 << 3, LDS = 1 << 7 };
    tw_sched_barrier(g->b, VECTOR_ALU | MATRIX | LDS);
}

void tw_sc_load(sc_gen *g, const sc_step *step) {
    tw_builder *b = g->b;
    for (int down = 0; down < g->spec->unit_rows; down++) {
        const int first_unit = down * g->shape.across;
        tw_value first = tw_emit_add(b, step->row, down * g->spec->rows);
        const x_row x = place_row(g, step, first);
        if (!g->spec->uniform_wave) load_shared(g, &x, first_unit);
        for (int i = 0; g->spec->uniform_wave && i < g->shape.x_items; i++) {
            if (i) keep_order(g);
            load_row(g, &x, first_unit, i);
        }
        for (int r = 0; r < g->spec->rows && g->shape.dy_items; r++) {
            keep_order(g);
            tw_value row = tw_emit_add(b, first, r);
            load_dy(g, step, row, first_unit, r);
        }
        keep_order(g);
    }
}

static void begin_if(sc_gen *g, tw_value condition) {
    if (condition.id) tw_if_begin(g->b, condition);
}
static void end_if(sc_gen *g, tw_value condition) {
    if (condition.id) tw_if_end(g->b, 0, NULL, NULL);
}

static void store_x(sc_gen *g, int i, tw_value buffer) {
    tw_builder *b = g->b;
    const sc_item *item = &g->x[i];
    tw_value place = tw_add(b, buffer, item->place);
    begin_if(g, item->exists);
    begin_if(g, item->active);
    for (int v = 0; v < g->spec->vec_x; v++) {
        tw_value chunk[SC_UNITS];
        for (int unit = 0; unit < SC_UNITS; unit++) {
            tw_value value = g->x_values[i * SC_UNITS + unit];
            chunk[unit] = g->spec->vec_x == 1 ? value : tw_vector_extract(b, value, (unsigned)v);
        }
        tw_value whole = tw_vector_build(b, chunk, SC_UNITS);
        tw_value at = tw_emit_add(b, place, tw_sc_chunk(&g->shape, 0, v) * SC_CHUNK);
        tw_lds_store(b, whole, g->lds, at, 16);
    }
    end_if(g, item->active);
    end_if(g, item->exists);
}

static void store_dy(sc_gen *g, int i, tw_value buffer) {
    tw_builder *b = g->b;
    const sc_item *item = &g->dy[i];
    tw_value place = tw_add(b, buffer, item->place);
    begin_if(g, item->active);
    for (int r = 0; r < g->spec->rows; r++)
        for (int unit = 0; unit < SC_UNITS; unit++) {
            const int of_row = r * g->shape.unit_columns * g->shape.dy_pitch;
            tw_value at = tw_emit_add(b, place, of_row + unit * g->shape.dy_unit);
            tw_value value = g->dy_values[(r * g->shape.dy_items + i) * SC_UNITS + unit];
            tw_lds_store(b, value, g->lds, at, 16);
        }
    end_if(g, item->active);
}

void tw_sc_store(sc_gen *g, tw_value buffer) {
    for (int i = 0; i < g->shape.x_items; i++)
        store_x(g, i, buffer);
    for (int i = 0; i < g->shape.dy_items; i++)
        store_dy(g, i, buffer);
}
