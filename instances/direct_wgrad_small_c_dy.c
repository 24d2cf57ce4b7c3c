/* dY without LDS: each wave loads the fragments of its own products, transposed on the way, while it makes
 * the products of the step before.
 *
 * Such loads know no end of a buffer. Addresses are held inside dY; where a step reaches past the image, what
 * its positions outside got is cleared before it is multiplied. */
#include <string.h>

#include "instances/direct_wgrad_small_c_internal.h"

enum { PER_HALF = SC_RUNS / SC_HALVES, READ = 8 /* elements of a lane */ };

static int value_index(const sc_gen *g, int product, int tile, int half) {
    return (product * g->spec->wave_tiles_k + tile) * SC_HALVES + half;
}

/* The row and column of the unit that a product of the wave is at, past those of the wave's first. */
static int row_of(const sc_gen *g, int product) { return product / g->spec->sub_steps; }
static int column_of(const sc_gen *g, int product) { return product % g->spec->sub_steps * SC_RUNS; }

/* Positions of a fragment's half, 0 to 15: eight units of one column, then of the next. */
static void split_position(sc_gen *g, tw_value position, tw_value *unit, tw_value *column) {
    tw_builder *b = g->b;
    *column = tw_emit_udiv(b, position, SC_UNITS);
    tw_value before = tw_emit_mul(b, *column, SC_UNITS);
    *unit = tw_sub(b, position, before);
}

void tw_sc_place_direct(sc_gen *g) {
    tw_builder *b = g->b;
    const tw_transposed_read *read = tw_transposed_global_load(g->target);
    tw_value lane = tw_lane_id(b), position, k, unit, column, lane_column;
    tw_sc_place_products(g, &g->product_row, &g->product_column);
    tw_lane_map_values(b, &read->registers, lane, 0, &position, &k);
    split_position(g, position, &unit, &lane_column);
    g->in_first_column = tw_emit_add(b, lane_column, -1);
    tw_lane_map_values(b, &read->memory, lane, 0, &position, &k);
    split_position(g, position, &unit, &column);
    tw_value down = tw_emit_udiv(b, unit, g->shape.across);
    tw_value before = tw_emit_mul(b, down, g->shape.across);
    tw_value side = tw_sub(b, unit, before);
    /* A unit below the image is nowhere: its place only has to be inside dY. */
    tw_value row = tw_emit_mul(b, down, g->spec->rows);
    row = tw_smin(b, row, g->args.ho);
    tw_value of_side = tw_emit_mul(b, side, g->shape.unit_columns);
    column = tw_add(b, column, of_side);
    tw_value pixel = tw_emit_mad(b, column, row, g->args.wo);
    tw_value at = tw_emit_mad(b, k, pixel, g->args.k);
    at = tw_add(b, at, g->first_k);
    at = tw_add(b, at, g->wave_k);
    /* Held inside dY, also where the wave's tiles are past the last k: nobody gives their sums. */
    const int tiles = SC_TILE * g->spec->wave_tiles_k;
    tw_value elements = tw_emit_udiv(b, g->args.dy_bytes, 2);
    g->last_dy = tw_emit_add(b, elements, SC_TILE - tiles - READ);
    at = tw_smin(b, at, g->last_dy);
    g->lane_dy = tw_emit_mul(b, at, 2);
}

static const tw_type *piece_type(const sc_gen *g) {
    return tw_type_vector((tw_scalar)g->spec->dtype, SC_CHUNK);
}

/* Where one half of a product's fragments is. `first` is the element of the wave's first column in the row.
 */
static sc_place place_half(sc_gen *g, tw_value first, int product, int half) {
    tw_builder *b = g->b;
    sc_place place;
    const int column = column_of(g, product) + half * PER_HALF;
    tw_value of_column = tw_emit_mul(b, g->args.k, column);
    tw_value base = column ? tw_add(b, first, of_column) : first;
    base = tw_smin(b, base, g->last_dy);
    /* In bytes, where the compiler sees that they are even and not negative: then they are the load's offset.
     */
    tw_value left = tw_sub(b, g->last_dy, base), bits = tw_i32(b, INT32_MAX - 1);
    left = tw_emit_mul(b, left, 2);
    left = tw_and(b, left, bits);
    place.at = tw_umin(b, g->lane_dy, left);
    place.at = tw_emit_udiv(b, place.at, 2);
    place.at = tw_zext(b, place.at, TW_I64);
    place.pointer = tw_ptr_offset(b, g->args.dy_pointer, base);
    return place;
}

void tw_sc_place_product(sc_gen *g, const sc_step *step, int product, sc_place places[SC_HALVES]) {
    tw_builder *b = g->b;
    tw_value last = tw_emit_add(b, g->args.n, -1);
    tw_value image = tw_smin(b, step->image, last);
    tw_value row = tw_add(b, step->row, g->product_row);
    row = tw_emit_add(b, row, row_of(g, product));
    row = tw_smin(b, row, g->args.ho);
    row = tw_emit_mad(b, row, image, g->args.ho);
    tw_value pixel = tw_emit_mad(b, step->column, row, g->args.wo);
    pixel = tw_add(b, pixel, g->product_column);
    tw_value first = tw_mul(b, pixel, g->args.k);
    for (int half = 0; half < SC_HALVES; half++)
        places[half] = place_half(g, first, product, half);
}

void tw_sc_load_product(sc_gen *g, const sc_place places[SC_HALVES], int product) {
    tw_builder *b = g->b;
    for (int half = 0; half < SC_HALVES; half++)
        for (int t = 0; t < g->spec->wave_tiles_k; t++) {
            tw_value of_tile = tw_i32(b, t * SC_TILE);
            tw_value tile = tw_ptr_offset(b, places[half].pointer, of_tile);
            g->dy_values[value_index(g, product, t, half)] =
                tw_global_load_transposed(b, tile, places[half].at);
        }
}

void tw_sc_load_first(sc_gen *g, const sc_step *step) {
    tw_builder *b = g->b;
    const unsigned x = (unsigned)(g->shape.x_items * SC_UNITS), dy = (unsigned)g->shape.dy_loads;
    tw_value all[2 * SC_MAX_ITEMS * SC_UNITS], none[2 * SC_MAX_ITEMS * SC_UNITS];
    tw_value zero = tw_emit_zero(b, piece_type(g));
    memcpy(none, g->x_values, x * sizeof *none);
    for (unsigned i = 0; i < dy; i++)
        none[x + i] = zero;
    tw_value any = tw_emit_compare(b, TW_SGT, g->args.n, 0);
    tw_if_begin(b, any);
    tw_sc_load(g, step);
    for (int i = 0; i < g->shape.products; i++) {
        sc_place places[SC_HALVES];
        tw_sc_place_product(g, step, i, places);
        tw_sc_load_product(g, places, i);
    }
    memcpy(all, g->x_values, x * sizeof *all);
    memcpy(all + x, g->dy_values, dy * sizeof *all);
    tw_if_else(b, x + dy, all);
    tw_if_end(b, x + dy, none, all);
    memcpy(g->x_values, all, x * sizeof *all);
    memcpy(g->dy_values, all + x, dy * sizeof *all);
}

sc_rest tw_sc_rest_of(sc_gen *g, const sc_step *step) {
    tw_builder *b = g->b;
    sc_rest rest;
    tw_value exists = tw_icmp(b, TW_SLT, step->image, g->args.n);
    tw_value rows = tw_sub(b, g->args.ho, step->row);
    rest.rows = tw_select(b, exists, rows, g->zero);
    rest.columns = tw_sub(b, g->args.wo, step->column);
    return rest;
}

enum { WORDS = SC_CHUNK / 2 };

/* The bits of two neighbouring units' positions that are in the image. Those of a lane's two columns are
 * scalars, and the second are among the first: only to choose is the lane's work. */
static tw_value mask_of(sc_gen *g, const sc_rest *rest, int product, int column, int word) {
    tw_builder *b = g->b;
    tw_value masks[PER_HALF] = {g->zero, g->zero};
    for (int i = 0; i < 2; i++) {
        const int unit = 2 * word + i, down = unit / g->shape.across, side = unit % g->shape.across;
        tw_value row = tw_emit_add(b, g->product_row, down * g->spec->rows + row_of(g, product));
        tw_value inside = tw_icmp(b, TW_SLT, row, rest->rows);
        tw_value columns = tw_sub(b, rest->columns, g->product_column);
        columns = tw_select(b, inside, columns, g->zero);
        tw_value set = tw_i32(b, i ? (int32_t)0xffff0000 : 0xffff);
        for (int c = 0; c < PER_HALF; c++) {
            tw_value exists = tw_emit_compare(b, TW_SGT, columns, side * g->shape.unit_columns + column + c);
            tw_value bits = tw_select(b, exists, set, g->zero);
            masks[c] = i ? tw_or(b, masks[c], bits) : bits;
        }
    }
    tw_value first = tw_and(b, g->in_first_column, masks[0]);
    return tw_or(b, first, masks[1]);
}

/* Of one word of each piece. */
static void clear_word(sc_gen *g, const sc_rest *rest, int word) {
    tw_builder *b = g->b;
    const tw_type *words = tw_type_vector(TW_I32, WORDS);
    for (int product = 0; product < g->shape.products; product++)
        for (int half = 0; half < SC_HALVES; half++) {
            tw_value mask = mask_of(g, rest, product, column_of(g, product) + half * PER_HALF, word);
            for (int t = 0; t < g->spec->wave_tiles_k; t++) {
                tw_value *piece = &g->dy_values[value_index(g, product, t, half)];
                tw_value all = tw_bitcast(b, *piece, words);
                tw_value bits = tw_vector_extract(b, all, (unsigned)word);
                bits = tw_and(b, bits, mask);
                all = tw_vector_insert(b, bits, all, (unsigned)word);
                *piece = tw_bitcast(b, all, piece_type(g));
            }
        }
}

static tw_value is_outside(sc_gen *g, const sc_rest *rest, int down, int side) {
    tw_builder *b = g->b;
    tw_value below = tw_emit_compare(b, TW_SLT, rest->rows, (down + 1) * g->spec->rows);
    tw_value right = tw_emit_compare(b, TW_SLT, rest->columns, (side + 1) * g->shape.unit_columns);
    return tw_or(b, below, right);
}

static void end_clear(sc_gen *g, tw_value *before) {
    const unsigned count = (unsigned)g->shape.dy_loads;
    tw_if_else(g->b, count, g->dy_values);
    tw_if_end(g->b, count, before, g->dy_values);
}

/* Each two units have a word: where both are inside, as most are, there is nothing to do. */
void tw_sc_clear_outside(sc_gen *g, const sc_rest *rest) {
    tw_value all[SC_MAX_ITEMS * SC_UNITS], before[SC_MAX_ITEMS * SC_UNITS];
    const size_t size = sizeof *all * (size_t)g->shape.dy_loads;
    memcpy(all, g->dy_values, size);
    tw_if_begin(g->b, is_outside(g, rest, g->spec->unit_rows - 1, g->shape.across - 1));
    for (int word = 0; word < WORDS; word++) {
        const int last = 2 * word + 1;
        memcpy(before, g->dy_values, size);
        tw_if_begin(g->b, is_outside(g, rest, last / g->shape.across, last % g->shape.across));
        clear_word(g, rest, word);
        end_clear(g, before);
    }
    end_clear(g, all);
}

tw_value tw_sc_direct_fragment(sc_gen *g, int product, int tile) {
    const tw_value *halves = &g->dy_values[value_index(g, product, tile, 0)];
    return tw_sc_join(g->b, halves[0], halves[1]);
}
