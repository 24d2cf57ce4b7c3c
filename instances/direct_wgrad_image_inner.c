/* Fragments out of LDS and their products. Positions (rows and columns of dY) are the atom's k: an atom takes
 * `atom_k` consecutive positions of the strip's rows, in runs of 16 columns of one row each. */
#include "instances/direct_wgrad_image_internal.h"

/* The lane's part of a fragment's address: elements from the tile's first position and channel. */
static tw_value lane_place(im_gen *g, const im_stage *stage, tw_matrix_operand operand) {
    tw_builder *b = g->b;
    tw_value lane = tw_lane_id(b), position = {0}, channel = {0};
    if (g->shape.transposed) {
        tw_lane_map_values(b, &g->shape.transposed->memory, lane, 0, &position, &channel);
    } else {
        const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, operand);
        tw_value *row = operand == TW_MATRIX_A ? &channel : &position;
        tw_value *column = operand == TW_MATRIX_A ? &position : &channel;
        tw_lane_map_values(b, &map, lane, 0, row, column);
    }
    tw_value at = tw_emit_mul(b, position, stage->pitch);
    return tw_add(b, at, channel);
}

void tw_im_place_lanes(im_gen *g) {
    tw_builder *b = g->b;
    tw_value x = lane_place(g, &g->shape.x, TW_MATRIX_B);
    tw_value dy = lane_place(g, &g->shape.dy, TW_MATRIX_A);
    g->lane_x = tw_add(b, x, g->wave_c);
    g->lane_dy = tw_add(b, dy, g->wave_k);
}

/* 16 positions from (row, column) on, read by transposing reads. */
static tw_value read_transposed(im_gen *g, tw_value base, int element) {
    tw_value at = tw_emit_add(g->b, base, element);
    return tw_lds_load_transposed(g->b, g->lds, at);
}

static tw_value join(tw_builder *b, tw_value low, tw_value high) {
    int64_t lanes[16];
    for (int i = 0; i < 16; i++)
        lanes[i] = i;
    return tw_vector_shuffle(b, low, high, lanes, 16);
}

/* Element by element, where the target has no transposing reads. */
static tw_value gather(im_gen *g, tw_matrix_operand operand, const im_stage *stage, tw_value base,
                       int element) {
    tw_builder *b = g->b;
    const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, operand);
    const tw_type *type = tw_type_scalar((tw_scalar)g->spec->dtype);
    tw_value elements[16];
    const unsigned slots = g->shape.info.slots[operand];
    for (unsigned slot = 0; slot < slots; slot++) {
        unsigned row, column;
        tw_lane_map_element(&map, 0, slot, &row, &column);
        const unsigned position = operand == TW_MATRIX_A ? column : row;
        tw_value at = tw_emit_add(b, base, element + (int)position * stage->pitch);
        elements[slot] = tw_lds_load(b, type, g->lds, at, 2);
    }
    return tw_vector_build(b, elements, slots);
}

/* The place of an atom's run of 16 positions in the strip. */
typedef struct place {
    int row, column;
} place;

static place place_of(const im_gen *g, int atom, int run) {
    const int position = atom * g->shape.atom_k + run * IM_TILE;
    return (place){position / g->spec->strip, position % g->spec->strip};
}

/* The fragment of an atom's positions, moved by (row, column), of the wave's tile of channels. */
static tw_value fragment(im_gen *g, tw_matrix_operand operand, tw_value base, int atom, int row, int column,
                         int tile) {
    const bool is_x = operand == TW_MATRIX_B;
    const im_stage *stage = is_x ? &g->shape.x : &g->shape.dy;
    const int runs = g->shape.atom_k / IM_TILE;
    tw_value parts[2] = {{0}};
    for (int run = 0; run < runs; run++) {
        const place p = place_of(g, atom, run);
        const int position = (p.row + row) * stage->columns + p.column + column;
        const int element = (is_x ? 0 : g->shape.dy_first) + position * stage->pitch + tile * IM_TILE;
        parts[run] = g->shape.transposed ? read_transposed(g, base, element)
                                         : gather(g, operand, stage, base, element);
    }
    return runs == 1 ? parts[0] : join(g->b, parts[0], parts[1]);
}

typedef struct bases {
    tw_value x, dy;
    tw_value a[IM_MAX_ATOMS][IM_MAX_TILES]; /* fragments of dY, read where they are needed first */
    bool have[IM_MAX_ATOMS];
} bases;

static void read_dy(im_gen *g, bases *z, int atom) {
    if (z->have[atom]) return;
    z->have[atom] = true;
    for (int t = 0; t < g->spec->wave_tiles_k; t++)
        z->a[atom][t] = fragment(g, TW_MATRIX_A, z->dy, atom, 0, 0, t);
}

/* Every product with X from row `x_row` on, moved by s columns: fragments of X are read once, and serve the
 * filter's rows with different rows of dY. `column` is the atom's first in the strip. */
static void multiply_column(im_gen *g, bases *z, int x_row, int column, int s) {
    const tw_wgrad_image_spec *spec = g->spec;
    const int atoms = spec->strip * spec->rows_per_sync / g->shape.atom_k;
    tw_value x[IM_MAX_TILES];
    bool have_x = false;
    for (int atom = 0; atom < atoms; atom++) {
        const place p = place_of(g, atom, 0);
        const int r = x_row - p.row;
        if (p.column != column || r < 0 || r >= spec->kh) continue;
        read_dy(g, z, atom);
        for (int t = 0; t < spec->wave_tiles_c && !have_x; t++)
            x[t] = fragment(g, TW_MATRIX_B, z->x, atom, r, s, t);
        have_x = true;
        tw_value *sums = &g->sums[(r * spec->kw + s) * g->shape.tiles];
        for (int tk = 0; tk < spec->wave_tiles_k; tk++)
            for (int tc = 0; tc < spec->wave_tiles_c; tc++) {
                tw_value *sum = &sums[tk * spec->wave_tiles_c + tc];
                *sum = tw_mma(g->b, g->shape.info.name, z->a[atom][tk], x[tc], *sum);
            }
    }
}

void tw_im_multiply(im_gen *g, tw_value buffer) {
    bases z = {.x = tw_add(g->b, g->lane_x, buffer), .have = {false}};
    z.dy = tw_add(g->b, g->lane_dy, buffer);
    for (int x_row = 0; x_row < g->shape.x.rows; x_row++)
        for (int column = 0; column < g->spec->strip; column += IM_TILE)
            for (int s = 0; s < g->spec->kw; s++) {
                multiply_column(g, &z, x_row, column, s);
                /* Else the scheduler gathers for many products at once, and spills. */
                if (!g->shape.transposed) tw_sched_barrier(g->b, 0);
            }
}
