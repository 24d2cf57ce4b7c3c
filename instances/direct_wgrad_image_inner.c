/* Fragments out of LDS and their products. Positions (rows and columns of dY) are the atom's k: an atom takes
 * `atom_k` consecutive positions of the strip's rows, in runs of 16 columns of one row each. */
#include "instances/direct_wgrad_image_internal.h"

/* The place of an atom's run of 16 positions in the strip. */
typedef struct place {
    int row, column;
} place;

static place place_of(const im_gen *g, int atom, int run) {
    const int position = atom * g->shape.atom_k + run * IM_TILE;
    return (place){position / g->spec->strip, position % g->spec->strip};
}

/* What a step has read of the buffer. */
typedef struct reads {
    tw_value buffer, dy_buffer;
    tw_stage_words x[IM_MAX_TILES];         /* turned: a row of X */
    tw_value a[IM_MAX_ATOMS][IM_MAX_TILES]; /* fragments of dY, read where they are needed first */
    bool have[IM_MAX_ATOMS];
} reads;

/* The fragment of an atom's positions, moved by (row, column), of the wave's tile of channels. */
static tw_value read_fragment(im_gen *g, const tw_stage *stage, tw_value buffer, int atom, int row,
                              int column, int tile) {
    const int runs = g->shape.atom_k / IM_TILE;
    tw_value parts[2] = {{0}};
    for (int run = 0; run < runs; run++) {
        const place p = place_of(g, atom, run);
        parts[run] = tw_stage_read_transposed(stage, buffer, p.row + row, p.column + column, tile);
    }
    return runs == 1 ? parts[0] : tw_stage_join(g->b, parts[0], parts[1], 8);
}

/* All fragments of the atom's row of dY. */
static void read_dy_row(im_gen *g, reads *z, int atom) {
    const int atoms = g->spec->strip / IM_TILE, first = atom / atoms * atoms;
    for (int t = 0; t < g->spec->wave_tiles_k; t++) {
        tw_stage_words words;
        tw_stage_read_words(&g->dy, z->dy_buffer, atom / atoms, t, 1, &words);
        for (int i = 0; i < atoms; i++)
            z->a[first + i][t] = tw_stage_word_fragment(&g->dy, &words, i, 0);
    }
    for (int i = 0; i < atoms; i++)
        z->have[first + i] = true;
}

static void read_dy(im_gen *g, reads *z, int atom) {
    if (z->have[atom]) return;
    if (!g->shape.dy.transposed) {
        read_dy_row(g, z, atom);
        return;
    }
    z->have[atom] = true;
    for (int t = 0; t < g->spec->wave_tiles_k; t++)
        z->a[atom][t] = read_fragment(g, &g->dy, z->dy_buffer, atom, 0, 0, t);
}

static tw_value read_x(im_gen *g, const reads *z, int atom, int r, int s, int tile) {
    if (g->shape.x.transposed) return read_fragment(g, &g->x, z->buffer, atom, r, s, tile);
    return tw_stage_word_fragment(&g->x, &z->x[tile], place_of(g, atom, 0).column / IM_TILE, s);
}

/* Every product with X from row `x_row` on, moved by s columns: fragments of X are read once, and serve the
 * filter's rows with different rows of dY. `column` is the atom's first in the strip. */
static void multiply_column(im_gen *g, reads *z, int x_row, int column, int s) {
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
            x[t] = read_x(g, z, atom, r, s, t);
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
    const bool turned = !g->shape.x.transposed;
    reads z = {.buffer = buffer, .dy_buffer = tw_im_dy_buffer(g, buffer), .have = {false}};
    for (int x_row = 0; x_row < g->shape.x.rows; x_row++) {
        for (int t = 0; turned && t < g->spec->wave_tiles_c; t++)
            tw_stage_read_words(&g->x, buffer, x_row, t, g->spec->kw, &z.x[t]);
        for (int column = 0; column < g->spec->strip; column += IM_TILE)
            for (int s = 0; s < g->spec->kw; s++)
                multiply_column(g, &z, x_row, column, s);
        if (turned) tw_sched_barrier(g->b, 0); /* else words of many rows are read at once, and spill */
    }
}
