/* Where a row of X is in LDS, and which lane stages what of it: so that lanes that are served together meet
 * in no bank, where they store and where they read.
 *
 * 16 chunks fill all banks, and 16 lanes are served at once. A tile reads the chunks of 16 columns of the
 * flattened filter; a lane stores `vec_x` chunks that follow each other in X, so at one instruction the
 * lanes' chunks are `vec_x` apart. In planes, chunk e of a row is in plane e modulo their number: what the
 * lanes store at once is in one plane, and so much closer to each other. */
#include "arch/lds_banks.h"

#include <string.h>

#include "instances/direct_wgrad_small_c_internal.h"

enum { CHUNK_BYTES = 2 * SC_CHUNK, TOGETHER = 16 /* chunks that fill all banks, and lanes served at once */ };

static int ceil_div(int x, int k) { return (x + k - 1) / k; }
/* The least number that is at least `least` and `rest` modulo `step`. */
static int round_to(int least, int rest, int step) { return least + ((rest - least) % step + step) % step; }

int tw_sc_chunk(const sc_shape *z, int row, int element) {
    return row * z->x_pitch + element % z->x_planes * z->x_plane + element / z->x_planes;
}

/* The ways to lay out a row, the simplest first.
 *
 * - As many planes as tiles: so many neighbouring tiles share their columns in turn, and a row of the filter
 *   counts as one of whole turns. Then all lanes of a tile are in one plane, whatever the tap and the
 *   padding.
 * - One tile: it has as many of its 16 columns in each plane, which are so far apart. That needs columns
 *   whose elements begin in the first plane: of so many channels, or of patches without padding.
 * - Four planes, two tiles, which have the whole filter: what a tile has of a row lies in two planes, so far
 *   apart that it follows what the other plane has, or goes before it.
 *
 * What a lane reads in one step of its products is whole fragments apart, which stay in a plane. Their halves
 * may not: those have addresses of their own then. */
static const struct way { int planes, tiles; } ways[] = {{1, 1}, {2, 2}, {4, 1}, {4, 2}, {4, 4}, {8, 1}};

static bool can(const sc_shape *z, const tw_wgrad_small_c_spec *s, const struct way *way) {
    const int per_column = s->stride * s->channels, row = round_to(z->row_columns, 0, way->tiles);
    const bool aligned = s->channels % way->planes == 0 || s->kw <= s->stride;
    if (SC_RUNS * per_column % way->planes || (s->vec_x > 1 && s->vec_x % way->planes)) return false;
    if (s->waves_q * s->wave_tiles_q % way->tiles || z->row_columns < way->tiles) return false;
    if (way->tiles == 1 && (per_column % way->planes || row % way->planes || !aligned)) return false;
    if (way->tiles == 2 && way->planes == 4 && (s->kh * row > 2 * SC_TILE || row / 4 % 2)) return false;
    /* Padded rows of the filter must not be more tiles. */
    return ceil_div(s->kh * row, z->tile_q) <= ceil_div(z->columns, z->tile_q);
}

static void lay_out(sc_shape *z, const tw_wgrad_small_c_spec *s, const struct way *way) {
    z->x_planes = way->planes;
    z->x_tiles = way->tiles;
    z->x_halves = SC_HALVES * s->stride * s->channels % way->planes ? SC_HALVES : 1;
    z->flat_row = round_to(z->row_columns, 0, way->tiles);
    z->flat = s->kh * z->flat_row;
    z->x_plane = ceil_div(z->x_chunks, way->planes);
    if (way->tiles == 1) z->x_plane = round_to(z->x_plane, TOGETHER / way->planes, TOGETHER);
    if (way->tiles == 2 && way->planes == 4)
        z->x_plane = round_to(z->x_plane, TOGETHER - z->flat_row / 8, TOGETHER / 2);
}

/* Rows follow each other in the banks as a tile's columns do; where a tile is in many planes, as those of one
 * plane do. Where tiles end with rows, as they like. */
static int pitch_step(const sc_shape *z) {
    if (z->flat_row % (TOGETHER * z->x_tiles) == 0) return 1;
    return z->x_tiles == 1 ? TOGETHER / z->x_planes : TOGETHER;
}

/* From row to row, modulo pitch_step. */
static int pitch_rest(const sc_shape *z) {
    return z->flat_row / (z->x_tiles == 1 ? z->x_planes : z->x_tiles) % pitch_step(z);
}

/* ---- who stages what ---- */

/* Items by their bank: a group of lanes that are served together takes one of each, as long as there are
 * groups; what is left goes where there is room. */
static void deal_by_bank(const sc_shape *z, int vec, int wave, sc_staged items[TW_LDS_LANES]) {
    enum { MAX_GROUPS = 2 * SC_MAX_TABLE_WAVES };
    const int groups = 2 * z->x_waves;
    int taken[TOGETHER] = {0}, filled[MAX_GROUPS] = {0};
    for (int pass = 0; pass < 2; pass++) {
        memset(taken, 0, sizeof taken);
        for (int i = 0; i < z->dealt_rows * z->x_vectors; i++) {
            const sc_staged item = {true, i / z->x_vectors, i % z->x_vectors};
            int group = taken[tw_sc_chunk(z, item.row, vec * item.vector) % TOGETHER]++;
            if ((group < groups) == (pass == 1)) continue;
            if (pass)
                for (group = 0; filled[group] == TOGETHER; group++)
                    ;
            const int lane = filled[group]++;
            if (group / 2 == wave) items[group % 2 * TOGETHER + lane] = item;
        }
    }
}

void tw_sc_deal(const sc_shape *z, int vec, int wave, sc_staged items[TW_LDS_LANES]) {
    memset(items, 0, sizeof *items * TW_LDS_LANES);
    if (!z->x_deal) {
        deal_by_bank(z, vec, wave, items);
        return;
    }
    for (int lane = 0; lane < TW_LDS_LANES; lane++) {
        const int index = wave * TW_LDS_LANES + lane;
        sc_staged *item = &items[lane];
        item->row = index / (z->x_deal * z->x_vectors) * z->x_deal + index % z->x_deal;
        item->vector = index / z->x_deal % z->x_vectors;
        item->exists = item->row < z->dealt_rows;
    }
}

unsigned tw_sc_store_conflicts(const sc_shape *z, int vec, int wave) {
    sc_staged items[TW_LDS_LANES];
    uint32_t offset[TW_LDS_LANES], active = 0;
    tw_sc_deal(z, vec, wave, items);
    for (int lane = 0; lane < TW_LDS_LANES; lane++) {
        if (!items[lane].exists) continue;
        active |= 1u << lane;
        offset[lane] = (uint32_t)(CHUNK_BYTES * tw_sc_chunk(z, items[lane].row, vec * items[lane].vector));
    }
    return tw_lds_bank_conflicts(z->banks, offset, active, CHUNK_BYTES);
}

static void take_better(const sc_shape *z, unsigned conflicts, sc_shape *best, unsigned *least) {
    if (conflicts >= *least) return;
    *least = conflicts;
    *best = *z;
}

static unsigned deal_conflicts(const sc_shape *z, int vec, unsigned enough) {
    unsigned conflicts = 0;
    for (int wave = 0; wave < z->x_waves && conflicts < enough; wave++)
        conflicts += tw_sc_store_conflicts(z, vec, wave);
    return conflicts;
}

/* A bank with more items than groups has conflicts, however they are dealt. */
static unsigned fewest_conflicts(const sc_shape *z, int vec) {
    int items[TOGETHER] = {0}, most = 0;
    for (int row = 0; row < z->dealt_rows; row++)
        for (int vector = 0; vector < z->x_vectors; vector++) {
            int *bank = &items[tw_sc_chunk(z, row, vec * vector) % TOGETHER];
            if (++*bank > most) most = *bank;
        }
    return most > 2 * z->x_waves ? (unsigned)(most - 2 * z->x_waves) : 0;
}

/* Neighbouring lanes in one row, in several, or by the banks: no wave more than there must be. */
static void try_deals(sc_shape *z, int vec, sc_shape *best, unsigned *least) {
    const unsigned fewest = fewest_conflicts(z, vec);
    if (fewest >= *least) return;
    for (z->x_deal = 1; z->x_deal <= z->dealt_rows && *least > fewest; z->x_deal *= 2) {
        z->x_dealt = ceil_div(z->dealt_rows, z->x_deal) * z->x_deal * z->x_vectors;
        if (ceil_div(z->x_dealt, TW_LDS_LANES) > z->x_waves) continue;
        take_better(z, deal_conflicts(z, vec, *least), best, least);
    }
    z->x_deal = 0;
    z->x_dealt = z->dealt_rows * z->x_vectors;
    if (*least == fewest || z->x_waves > SC_MAX_TABLE_WAVES) return;
    take_better(z, fewest ? deal_conflicts(z, vec, *least) : 0, best, least);
}

/* Every pitch that serves the reads. */
static void try_pitches(sc_shape *z, int vec, sc_shape *best, unsigned *least) {
    const int chunks = (z->x_planes - 1) * z->x_plane + ceil_div(z->x_chunks, z->x_planes);
    const int step = pitch_step(z);
    z->x_pitch = round_to(chunks, pitch_rest(z), step);
    for (int pitch = 0; pitch < TOGETHER && *least; pitch += step, z->x_pitch += step)
        try_deals(z, vec, best, least);
}

static void try_ways(sc_shape *z, const tw_wgrad_small_c_spec *s, sc_shape *best, unsigned *least) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!can(z, s, &ways[i])) continue;
        lay_out(z, s, &ways[i]);
        /* Only stores of single chunks are in many planes at once. */
        const int apart =
            s->vec_x == 1 && ways[i].tiles == ways[i].planes && ways[i].tiles > 1 ? TOGETHER : 1;
        for (int plane = 0; plane < apart && *least; plane++, z->x_plane++)
            try_pitches(z, s->vec_x, best, least);
    }
}

/* Most have a way without conflicts: only where there is none, which is the best is worth a look. */
void tw_sc_lay_out(sc_shape *z, const tw_wgrad_small_c_spec *s) {
    sc_shape best = *z;
    unsigned least = 1;
    z->x_waves = ceil_div(z->dealt_rows * z->x_vectors, TW_LDS_LANES);
    try_ways(z, s, &best, &least);
    if (least) {
        least = UINT32_MAX;
        try_ways(z, s, &best, &least);
    }
    *z = best;
    z->x_conflicts = (int)least;
}
