/* Fragments out of LDS, their products, and the way from the sums to the slab. A product takes four columns
 * of one row of all eight units: run i of a fragment, eight of its positions, is column i. */
#include "instances/direct_wgrad_small_c_internal.h"

/* The lane's run of B's first half: 8 lanes apart in the halves of a fragment. */
static tw_value lane_run(sc_gen *g, tw_value *column) {
    tw_builder *b = g->b;
    const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, TW_MATRIX_B);
    tw_value lane = tw_lane_id(b), position;
    tw_lane_map_values(b, &map, lane, 0, &position, column);
    return tw_emit_udiv(b, position, SC_UNITS);
}

/* Column `column` of a wave's tile, among those that tiles count. Where tiles share their columns in turn,
 * that of a pair's first tile is even. */
static tw_value flat_column(sc_gen *g, int tile, tw_value column) {
    tw_builder *b = g->b;
    const int together = g->shape.x_tiles;
    tw_value wave_q = tw_add(b, g->first_q, g->wave_q);
    tw_value first = tw_emit_add(b, wave_q, tile * SC_TILE);
    if (together == 1) return tw_add(b, first, column);
    tw_value group = tw_emit_udiv(b, first, together * SC_TILE);
    tw_value before = tw_emit_mul(b, group, together * SC_TILE);
    tw_value rest = tw_sub(b, first, before);
    tw_value turn = tw_emit_udiv(b, rest, SC_TILE);
    tw_value at = tw_emit_mul(b, column, together);
    at = tw_add(b, at, turn);
    return tw_add(b, before, at);
}

static void split_column(sc_gen *g, tw_value q, tw_value *row, tw_value *in_row) {
    tw_builder *b = g->b;
    *row = tw_emit_udiv(b, q, g->shape.flat_row);
    tw_value before = tw_emit_mul(b, *row, g->shape.flat_row);
    *in_row = tw_sub(b, q, before);
}

/* Column of dW of a tile's column: its filter row, what is before it in that row, and whether it exists. */
typedef struct sc_column {
    tw_value row, in_row, exists;
} sc_column;

static sc_column dw_column(sc_gen *g, int tile, tw_value column) {
    tw_builder *b = g->b;
    sc_column at;
    split_column(g, flat_column(g, tile, column), &at.row, &at.in_row);
    tw_value in_filter = tw_emit_compare(b, TW_SLT, at.row, g->spec->kh);
    at.exists = tw_emit_compare(b, TW_SLT, at.in_row, g->shape.row_columns);
    at.exists = tw_and(b, at.exists, in_filter);
    return at;
}

/* Element of the chunk that column q needs of the output column `at_column`. */
static tw_value place_column(sc_gen *g, tw_value q, tw_value at_column) {
    tw_builder *b = g->b;
    const sc_shape *z = &g->shape;
    tw_value row, in_row, plane;
    split_column(g, q, &row, &in_row);
    tw_value of_column = tw_emit_mul(b, at_column, g->spec->stride * g->spec->channels);
    tw_value element = tw_add(b, in_row, g->shift);
    element = tw_add(b, element, of_column);
    row = tw_sub(b, row, g->first_row);
    tw_value chunk = tw_emit_mul(b, row, z->x_pitch);
    tw_sc_split(b, element, z->x_planes, &element, &plane);
    chunk = tw_add(b, chunk, element);
    plane = tw_emit_mul(b, plane, z->x_plane);
    if (z->x_planes > 1) chunk = tw_add(b, chunk, plane);
    return tw_emit_mul(b, chunk, SC_CHUNK);
}

/* Columns past the filter take what a column before them does, that of a bank of their own, or of the tile's
 * first column: nobody gives their sums. */
static tw_value hold_column(sc_gen *g, tw_value q, tw_value tile_first) {
    tw_builder *b = g->b;
    const int columns = g->shape.flat;
    if (g->shape.x_tiles == 1) {
        tw_value before = tw_emit_add(b, q, -SC_TILE);
        tw_value past = tw_emit_compare(b, TW_SGE, q, columns);
        q = tw_select(b, past, before, q);
    }
    tw_value in_tile = tw_sub(b, q, g->first_q), any = tw_i32(b, columns);
    tw_value count = tw_sub(b, any, g->first_q);
    tw_value inside = tw_emit_is_index(b, in_tile, count);
    tw_value first = g->first_q;
    if (g->shape.x_tiles > 1) {
        tw_value some = tw_emit_compare(b, TW_SLT, tile_first, columns);
        first = tw_select(b, some, tile_first, first);
    }
    return tw_select(b, inside, q, first);
}

/* The column that does not exist behind a row of the filter takes what its neighbour in the tile does: the
 * one before it, or the next one where it is the tile's first. */
static tw_value hold_in_row(sc_gen *g, tw_value q, tw_value tile_first) {
    tw_builder *b = g->b;
    tw_value row, in_row;
    if (g->shape.flat_row == g->shape.row_columns) return q;
    split_column(g, q, &row, &in_row);
    tw_value before = tw_emit_add(b, q, -g->shape.x_tiles), next = tw_emit_add(b, q, g->shape.x_tiles);
    tw_value is_first = tw_icmp(b, TW_EQ, q, tile_first);
    tw_value exists = tw_emit_compare(b, TW_SLT, next, g->shape.flat);
    is_first = tw_and(b, is_first, exists);
    tw_value neighbour = tw_select(b, is_first, next, before);
    tw_value past = tw_emit_compare(b, TW_SGE, in_row, g->shape.row_columns);
    return tw_select(b, past, neighbour, q);
}

void tw_sc_place_products(sc_gen *g, tw_value *row, tw_value *column) {
    tw_builder *b = g->b;
    tw_value first = tw_emit_mul(b, g->wave_p, g->shape.products);
    *row = tw_emit_udiv(b, first, g->spec->sub_steps);
    tw_value before = tw_emit_mul(b, *row, g->spec->sub_steps);
    tw_value in_row = tw_sub(b, first, before);
    *column = tw_emit_mul(b, in_row, SC_RUNS);
}

static int x_row(const sc_gen *g) { return g->spec->stride * g->shape.x_pitch * SC_CHUNK; }
/* Of so many output columns that they stay in a plane. */
static int x_columns(const sc_gen *g, int count) {
    return count * g->spec->stride * g->spec->channels / g->shape.x_planes * SC_CHUNK;
}
static int dy_row(const sc_gen *g) { return g->shape.unit_columns * g->shape.dy_pitch; }

/* Of a transposed read of dY that is staged. */
static void place_dy(sc_gen *g, tw_value first_row, tw_value first_column) {
    tw_builder *b = g->b;
    tw_value lane = tw_lane_id(b), position, k;
    tw_lane_map_values(b, &g->shape.transposed->memory, lane, 0, &position, &k);
    tw_value half = tw_emit_udiv(b, position, SC_UNITS);
    tw_value before = tw_emit_mul(b, half, SC_UNITS);
    tw_value unit = tw_sub(b, position, before);
    tw_value dy_column = tw_add(b, first_column, half);
    tw_value of_unit = tw_emit_mul(b, unit, g->shape.dy_unit);
    tw_value of_column = tw_emit_mul(b, dy_column, g->shape.dy_pitch);
    tw_value of_first = tw_emit_mul(b, first_row, dy_row(g));
    tw_value at = tw_add(b, of_unit, of_column);
    at = tw_add(b, at, of_first);
    at = tw_add(b, at, k);
    at = tw_add(b, at, g->wave_k);
    g->lane_dy = tw_emit_add(b, at, g->shape.dy_first);
}

void tw_sc_place_lanes(sc_gen *g) {
    tw_builder *b = g->b;
    tw_value first_row, first_column, column;
    tw_sc_place_products(g, &first_row, &first_column);
    tw_value run = lane_run(g, &column);
    tw_value at_run = tw_add(b, first_column, run);
    tw_value of_row = tw_emit_mul(b, first_row, x_row(g));
    for (int t = 0; t < g->spec->wave_tiles_q; t++) {
        tw_value first = flat_column(g, t, g->zero);
        tw_value q = flat_column(g, t, column);
        q = hold_column(g, q, first);
        q = hold_in_row(g, q, first);
        for (int half = 0; half < g->shape.x_halves; half++) {
            tw_value at_column = tw_emit_add(b, at_run, half * (SC_RUNS / SC_HALVES));
            tw_value at = place_column(g, q, at_column);
            g->lane_x[half * g->spec->wave_tiles_q + t] = tw_add(b, at, of_row);
        }
    }
    if (g->spec->dy_direct)
        tw_sc_place_direct(g);
    else
        place_dy(g, first_row, first_column);
}

tw_value tw_sc_join(tw_builder *b, tw_value low, tw_value high) {
    int64_t lanes[2 * SC_CHUNK];
    for (int i = 0; i < 2 * SC_CHUNK; i++)
        lanes[i] = i;
    return tw_vector_shuffle(b, low, high, lanes, 2 * SC_CHUNK);
}

static tw_value read_x(sc_gen *g, int tile, int element) {
    tw_builder *b = g->b;
    const tw_type *type = tw_type_vector((tw_scalar)g->spec->dtype, SC_CHUNK);
    const bool one = g->shape.x_halves == 1;
    tw_value at = tw_emit_add(b, g->lane_x[tile], element);
    tw_value low = tw_lds_load(b, type, g->lds, at, 16);
    at = one ? tw_emit_add(b, g->lane_x[tile], element + x_columns(g, SC_RUNS / SC_HALVES))
             : tw_emit_add(b, g->lane_x[g->spec->wave_tiles_q + tile], element);
    tw_value high = tw_lds_load(b, type, g->lds, at, 16);
    return tw_sc_join(b, low, high);
}

static tw_value read_dy(sc_gen *g, tw_value base, int element) {
    tw_builder *b = g->b;
    tw_value at = tw_emit_add(b, base, element);
    tw_value low = tw_lds_load_transposed(b, g->lds, at);
    at = tw_emit_add(b, base, element + SC_RUNS / 2 * g->shape.dy_pitch);
    tw_value high = tw_lds_load_transposed(b, g->lds, at);
    return tw_sc_join(b, low, high);
}

int tw_sc_x_places(const sc_gen *g) { return g->spec->wave_tiles_q * g->shape.x_halves; }

void tw_sc_move_lanes(sc_gen *g, tw_value elements) {
    for (int i = 0; i < tw_sc_x_places(g); i++)
        g->lane_x[i] = tw_add(g->b, g->lane_x[i], elements);
    if (!g->spec->dy_direct) g->lane_dy = tw_add(g->b, g->lane_dy, elements);
}

/* Without LDS for dY: addresses are ready before the products, so that none takes a register that the matrix
 * unit still reads, for which it would have to wait. */
static void place_next(sc_gen *g, const sc_step *next, int product, sc_place places[SC_HALVES]) {
    enum { SCALAR_ALU = 1 << 2, LDS = 1 << 7 };
    if (!g->spec->dy_direct) return;
    tw_sc_place_product(g, next, product, places);
    tw_sched_barrier(g->b, SCALAR_ALU | LDS);
}

/* Loads stay behind the products whose registers they take, and in their order. */
static void load_next(sc_gen *g, const sc_place places[SC_HALVES], int product) {
    enum { VECTOR_ALU = 1 << 1, SCALAR_ALU = 1 << 2, LDS = 1 << 7 };
    if (!g->spec->dy_direct) return;
    tw_sched_barrier(g->b, VECTOR_ALU | SCALAR_ALU | LDS);
    tw_sc_load_product(g, places, product);
}

void tw_sc_multiply(sc_gen *g, const sc_step *next) {
    tw_builder *b = g->b;
    const tw_wgrad_small_c_spec *s = g->spec;
    tw_value dy[SC_MAX_TILES];
    sc_place places[SC_HALVES];
    for (int i = 0; i < g->shape.products; i++) {
        const int row = i / s->sub_steps, column = i % s->sub_steps * SC_RUNS;
        place_next(g, next, i, places);
        const int of_dy = row * dy_row(g) + column * g->shape.dy_pitch;
        for (int t = 0; t < s->wave_tiles_k; t++)
            dy[t] =
                s->dy_direct ? tw_sc_direct_fragment(g, i, t) : read_dy(g, g->lane_dy, of_dy + t * SC_TILE);
        for (int tq = 0; tq < s->wave_tiles_q; tq++) {
            tw_value x = read_x(g, tq, row * x_row(g) + x_columns(g, column));
            for (int tk = 0; tk < s->wave_tiles_k; tk++) {
                tw_value *sum = &g->sums[tk * s->wave_tiles_q + tq];
                *sum = tw_mma(b, g->shape.info.name, dy[tk], x, *sum);
            }
        }
        load_next(g, places, i);
    }
}

static tw_value slab_index(sc_gen *g) {
    tw_builder *b = g->b;
    tw_value share = tw_workgroup_id(b, 2);
    tw_value of_share = tw_emit_mul(b, share, g->spec->waves_p);
    tw_value writer = tw_add(b, of_share, g->wave_p);
    if (g->spec->reproducible) return writer;
    if (g->spec->ws_replicas == 1) return g->zero;
    tw_value replicas = tw_i32(b, g->spec->ws_replicas);
    return tw_urem(b, writer, replicas);
}

/* Where tiles share their columns in turn, lanes say which are theirs. */
static void give_tile(sc_gen *g, const tw_dense_slab *slab, tw_value sum, tw_value first_k, int tile) {
    tw_builder *b = g->b;
    if (g->shape.x_tiles == 1) {
        tw_value first_q = flat_column(g, tile, g->zero);
        tw_dense_give(slab, sum, first_k, first_q, g->zero);
        return;
    }
    const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, TW_MATRIX_D);
    tw_value lane = tw_lane_id(b), columns = tw_i32(b, g->shape.columns);
    for (unsigned slot = 0; slot < g->shape.info.slots[TW_MATRIX_D]; slot++) {
        tw_value row, column, part = tw_vector_extract(b, sum, slot);
        tw_lane_map_values(b, &map, lane, slot, &row, &column);
        const sc_column at = dw_column(g, tile, column);
        tw_value before = tw_emit_mul(b, at.row, g->shape.row_columns);
        tw_value q = tw_add(b, before, at.in_row);
        q = tw_select(b, at.exists, q, columns);
        tw_dense_give_element(slab, part, first_k, g->zero, g->zero, row, q);
    }
}

void tw_sc_give(sc_gen *g) {
    tw_builder *b = g->b;
    tw_dense_args flat = g->args; /* one tap of kh * kw * c channels */
    flat.group_c = tw_i32(b, g->shape.columns);
    const tw_dense_slab slab = {.b = b,
                                .target = g->target,
                                .args = &flat,
                                .atom = g->shape.info.name,
                                .taps = 1,
                                .atomic = !g->spec->reproducible,
                                .index = slab_index(g),
                                .group = g->zero};
    tw_value first_k = tw_add(b, g->first_k, g->wave_k);
    for (int tk = 0; tk < g->spec->wave_tiles_k; tk++)
        for (int tq = 0; tq < g->spec->wave_tiles_q; tq++) {
            tw_value k = tw_emit_add(b, first_k, tk * SC_TILE);
            give_tile(g, &slab, g->sums[tk * g->spec->wave_tiles_q + tq], k, tq);
        }
}
