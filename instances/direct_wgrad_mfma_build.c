/* The kernel of direct_wgrad_mfma: docs/instances.md describes the algorithm.
 *
 * A workgroup has a tile of k x c channels of one group, for every tap, and a share of the units: a strip of
 * output columns in a block of rows of one image. It walks the rows of X. Each meets kh rows of dY, whose
 * fragments stay in a ring of registers; each row of either is staged once, in one of two buffers, while the
 * row before it is multiplied. */
#include "instances/direct_wgrad_mfma_internal.h"

#include <string.h>

enum { MAX_CARRIED = MF_MAX_SUMS + MF_MAX_KERNEL * MF_MAX_TILES * MF_MAX_STEPS + 2 * TW_STAGE_MAX_LOADS + 2 };

static int ring_fragments(const mf_gen *g) { return g->shape.tiles_k * g->shape.steps; }

/* One value after the other: to an array, or from it. */
typedef struct cursor {
    tw_value *at;
    bool out;
} cursor;

static void move(cursor *c, tw_value *values, int count) {
    const size_t bytes = sizeof *values * (size_t)count;
    if (c->out)
        memcpy(c->at, values, bytes);
    else
        memcpy(values, c->at, bytes);
    c->at += count;
}

/* What goes from unit to unit: the sums and the buffer; from row to row also the ring and the rows on their
 * way. */
static unsigned move_unit(mf_gen *g, tw_value *values, bool out) {
    cursor c = {values, out};
    move(&c, g->sum, g->shape.sums);
    move(&c, &g->odd, 1);
    return (unsigned)(c.at - values);
}

static unsigned move_row(mf_gen *g, tw_value *values, bool out) {
    cursor c = {values + move_unit(g, values, out), out};
    move(&c, &g->next, 1);
    for (int slot = 0; slot < g->shape.kh; slot++)
        move(&c, g->ring[slot], ring_fragments(g));
    move(&c, g->x.raw, tw_stage_loads(&g->shape.x));
    move(&c, g->dy.raw, tw_stage_loads(&g->shape.dy));
    return (unsigned)(c.at - values);
}

/* Where a workgroup is. */
typedef struct mf_unit {
    tw_value image, column; /* the strip's first of dY */
    tw_value row, end;      /* rows of X in the image */
} mf_unit;

/* The last row of dY that row `row` of the image meets. */
static void load_dy(mf_gen *g, const mf_unit *unit, tw_value row, tw_value wanted) {
    tw_value dy_row = tw_add(g->b, row, g->args.pad_h);
    const tw_stage_from from = {unit->image, dy_row, unit->column, g->args.ho, wanted};
    tw_stage_load(&g->dy, &from);
}

static void load_rows(mf_gen *g, const mf_unit *unit) {
    tw_builder *b = g->b;
    tw_value column = tw_sub(b, unit->column, g->args.pad_w);
    const tw_stage_from from = {unit->image, g->next, column, unit->end, {0}};
    tw_stage_load(&g->x, &from);
    tw_value wanted = tw_icmp(b, TW_SLT, g->next, unit->end);
    load_dy(g, unit, g->next, wanted);
    g->next = tw_emit_add(b, g->next, 1);
}

static tw_value buffer_of(mf_gen *g, const tw_stage *stage) {
    return tw_emit_mul(g->b, g->odd, stage->shape->elements);
}

static void store(mf_gen *g, tw_stage *stage) {
    tw_value buffer = buffer_of(g, stage);
    tw_stage_store(stage, buffer);
}

static void next_buffer(mf_gen *g) {
    tw_value one = tw_i32(g->b, 1);
    g->odd = tw_xor(g->b, g->odd, one);
}

/* A row in LDS, from which fragments of one tile are taken. */
typedef struct mf_row {
    const tw_stage *stage;
    int tile;
    tw_value buffer;
    tw_stage_words words; /* turned */
} mf_row;

static mf_row open_row(mf_gen *g, const tw_stage *stage, int tile, int shifts) {
    mf_row row = {stage, tile, buffer_of(g, stage), {{{0}}}};
    if (!stage->shape->transposed) tw_stage_read_words(stage, row.buffer, 0, tile, shifts, &row.words);
    return row;
}

/* Which 16 of an atom's positions a read takes makes no difference, as both operands are read alike. */
static tw_value take_fragment(mf_gen *g, const mf_row *row, int step, int shift) {
    if (!row->stage->shape->transposed) return tw_stage_word_fragment(row->stage, &row->words, step, shift);
    tw_value quads[2];
    for (int i = 0; i < g->shape.quads; i++) {
        const int column = step * g->spec->atom_k + shift + 16 * i;
        quads[i] = tw_stage_read_transposed(row->stage, row->buffer, 0, column, row->tile);
    }
    return g->shape.quads == 1 ? quads[0] : tw_stage_join(g->b, quads[0], quads[1], 4);
}

static void read_ring(mf_gen *g, int slot) {
    for (int t = 0; t < g->shape.tiles_k; t++) {
        const mf_row row = open_row(g, &g->dy, t, 1);
        for (int step = 0; step < g->shape.steps; step++)
            g->ring[slot][t * g->shape.steps + step] = take_fragment(g, &row, step, 0);
    }
}

/* All products of a fragment of X, moved by s columns. */
static void multiply_fragment(mf_gen *g, tw_value x, int slot, int step, int s, int u) {
    const mf_shape *shape = &g->shape;
    const char *atom = tw_matrix_atom_info(shape->atom).name;
    for (int r = 0; r < shape->kh; r++)
        for (int t = 0; t < shape->tiles_k; t++) {
            const int tap = r * shape->kw + s, age = (slot - r + shape->kh) % shape->kh;
            tw_value *sum = &g->sum[(tap * shape->tiles_k + t) * shape->tiles_c + u];
            *sum = tw_mma(g->b, atom, g->ring[age][t * shape->steps + step], x, *sum);
        }
}

/* All products of the row of X in LDS; the row of dY that came with it is in `slot`. */
static void multiply(mf_gen *g, int slot) {
    for (int u = 0; u < g->shape.tiles_c; u++) {
        const mf_row row = open_row(g, &g->x, u, g->shape.kw);
        for (int step = 0; step < g->shape.steps; step++)
            for (int s = 0; s < g->shape.kw; s++) {
                tw_value x = take_fragment(g, &row, step, s);
                multiply_fragment(g, x, slot, step, s, u);
            }
    }
}

static void one_row(mf_gen *g, const mf_unit *unit, int slot) {
    store(g, &g->x);
    store(g, &g->dy);
    load_rows(g, unit);
    tw_barrier(g->b, TW_FENCE_LDS);
    read_ring(g, slot);
    multiply(g, slot);
    next_buffer(g);
}

/* A row that is there only where the one that was loaded is one of the unit's. */
static void one_row_if(mf_gen *g, const mf_unit *unit, int slot) {
    tw_builder *b = g->b;
    tw_value before[MAX_CARRIED], after[MAX_CARRIED];
    unsigned count = move_row(g, before, true);
    tw_value exists = tw_icmp(b, TW_SLE, g->next, unit->end);
    tw_if_begin(b, exists);
    one_row(g, unit, slot);
    move_row(g, after, true);
    tw_if_else(b, count, after);
    tw_if_end(b, count, before, after);
    move_row(g, after, false);
}

/* The rows of dY that the unit's first row of X meets, but for the last. */
static void fill_ring(mf_gen *g, const mf_unit *unit) {
    tw_builder *b = g->b;
    for (int slot = 1; slot < g->shape.kh; slot++) {
        tw_value row = tw_emit_add(b, unit->row, slot - g->shape.kh);
        load_dy(g, unit, row, (tw_value){0});
        store(g, &g->dy);
        tw_barrier(b, TW_FENCE_LDS);
        read_ring(g, slot);
        next_buffer(g);
    }
    tw_value zero = tw_emit_zero(b, g->fragment);
    for (int i = 0; i < ring_fragments(g); i++)
        g->ring[0][i] = zero;
}

/* kh rows a round, so that each knows its slot of the ring. The row goes from one to the next as a value:
 * rows of a round that are counted from its first would each keep numbers of their own in scalar registers.
 */
static void all_rows(mf_gen *g, const mf_unit *unit) {
    tw_builder *b = g->b;
    fill_ring(g, unit);
    g->next = unit->row;
    load_rows(g, unit);
    tw_value carried[MAX_CARRIED], next[MAX_CARRIED];
    unsigned count = move_row(g, carried, true);
    tw_value step = tw_i32(b, g->shape.kh);
    tw_for_begin(b, unit->row, unit->end, step, count, carried, next);
    tw_for_unroll(b, 1);
    move_row(g, next, false);
    one_row(g, unit, 0);
    for (int slot = 1; slot < g->shape.kh; slot++)
        one_row_if(g, unit, slot);
    move_row(g, next, true);
    tw_for_end(b, count, next, carried);
    move_row(g, carried, false);
}

/* Units in order: strips of columns of one block, blocks of an image, images. */
static void one_unit(mf_gen *g, tw_value index, tw_value strips, tw_value block_rows) {
    tw_builder *b = g->b;
    tw_value row_blocks = tw_i32(b, g->spec->row_blocks);
    tw_value block_index = tw_udiv(b, index, strips);
    tw_value before = tw_mul(b, block_index, strips);
    tw_value strip = tw_sub(b, index, before);
    tw_value image = tw_udiv(b, block_index, row_blocks);
    tw_value blocks_before = tw_mul(b, image, row_blocks);
    tw_value block = tw_sub(b, block_index, blocks_before);
    mf_unit unit;
    unit.row = tw_mul(b, block, block_rows);
    tw_value end = tw_add(b, unit.row, block_rows);
    unit.end = tw_smin(b, end, g->args.h);
    unit.image = image;
    unit.column = tw_emit_mul(b, strip, g->shape.columns);
    all_rows(g, &unit);
}

static void all_units(mf_gen *g) {
    tw_builder *b = g->b;
    tw_value rounded = tw_emit_add(b, g->args.wo, g->shape.columns - 1);
    tw_value strips = tw_emit_udiv(b, rounded, g->shape.columns);
    rounded = tw_emit_add(b, g->args.h, g->spec->row_blocks - 1);
    tw_value block_rows = tw_emit_udiv(b, rounded, g->spec->row_blocks);
    tw_value blocks = tw_emit_mul(b, g->args.n, g->spec->row_blocks);
    tw_value units = tw_mul(b, blocks, strips);
    tw_value workgroup = tw_workgroup_id(b, 1);
    tw_value start = tw_mul(b, workgroup, g->share);
    tw_value stop = tw_add(b, start, g->share);
    stop = tw_smin(b, stop, units);
    tw_value zero =
        tw_emit_zero(b, tw_fragment_type(g->target, tw_matrix_atom_info(g->shape.atom).name, TW_MATRIX_D));
    for (int i = 0; i < g->shape.sums; i++)
        g->sum[i] = zero;
    g->odd = tw_i32(b, 0);
    tw_value carried[MF_MAX_SUMS + 1], next[MF_MAX_SUMS + 1];
    unsigned count = move_unit(g, carried, true);
    tw_value one = tw_i32(b, 1);
    tw_value index = tw_for_begin(b, start, stop, one, count, carried, next);
    tw_for_unroll(b, 1);
    move_unit(g, next, false);
    one_unit(g, index, strips, block_rows);
    move_unit(g, next, true);
    tw_for_end(b, count, next, carried);
    move_unit(g, carried, false);
}

static void place(mf_gen *g) {
    tw_builder *b = g->b;
    const mf_shape *shape = &g->shape;
    tw_value tile = tw_workgroup_id(b, 0);
    tw_value rounded = tw_emit_add(b, g->args.group_c, shape->x.channels - 1);
    tw_value c_tiles = tw_emit_udiv(b, rounded, shape->x.channels);
    rounded = tw_emit_add(b, g->args.group_k, shape->dy.channels - 1);
    tw_value k_tiles = tw_emit_udiv(b, rounded, shape->dy.channels);
    tw_value rows = tw_udiv(b, tile, c_tiles);
    tw_value before = tw_mul(b, rows, c_tiles);
    tw_value c_tile = tw_sub(b, tile, before);
    g->group = tw_udiv(b, rows, k_tiles);
    before = tw_mul(b, g->group, k_tiles);
    tw_value k_tile = tw_sub(b, rows, before);
    g->first_c = tw_emit_mul(b, c_tile, shape->x.channels);
    g->first_k = tw_emit_mul(b, k_tile, shape->dy.channels);
    tw_value wave = tw_wave_id(b);
    g->wave_k = tw_emit_udiv(b, wave, g->spec->waves_c);
    before = tw_emit_mul(b, g->wave_k, g->spec->waves_c);
    g->wave_c = tw_sub(b, wave, before);
    tw_value x_tile = tw_emit_mul(b, g->wave_c, shape->tiles_c);
    tw_value dy_tile = tw_emit_mul(b, g->wave_k, shape->tiles_k);
    const tw_dense_args *a = &g->args;
    const tw_scalar dtype = (tw_scalar)g->spec->dtype;
    g->x = (tw_stage){b, &shape->x, dtype, a->x_pointer, a->h, a->w, .channels = a->c};
    g->dy = (tw_stage){b, &shape->dy, dtype, a->dy_pointer, a->ho, a->wo, .channels = a->k};
    g->x.lds = tw_lds_alloc(b, dtype, 2 * (uint32_t)shape->x.elements, 16);
    g->dy.lds = tw_lds_alloc(b, dtype, 2 * (uint32_t)shape->dy.elements, 16);
    tw_value first_c = tw_emit_mad(b, g->first_c, g->group, a->group_c);
    tw_stage_place_items(&g->x, first_c);
    tw_value first_k = tw_emit_mad(b, g->first_k, g->group, a->group_k);
    tw_stage_place_items(&g->dy, first_k);
    tw_stage_place_lanes(&g->x, TW_MATRIX_B, x_tile);
    tw_stage_place_lanes(&g->dy, TW_MATRIX_A, dy_tile);
}

static void give_out(mf_gen *g) {
    tw_builder *b = g->b;
    const mf_shape *shape = &g->shape;
    tw_value workgroup = tw_workgroup_id(b, 1);
    tw_dense_slab slab = {.b = b,
                          .target = g->target,
                          .args = &g->args,
                          .atom = tw_matrix_atom_info(shape->atom).name,
                          .taps = shape->kh * shape->kw,
                          .atomic = !g->spec->reproducible,
                          .index = workgroup,
                          .group = g->group};
    if (slab.atomic) {
        tw_value replicas = tw_i32(b, g->spec->ws_replicas);
        slab.index = tw_urem(b, workgroup, replicas);
    }
    tw_value wave_k = tw_emit_mul(b, g->wave_k, 16 * shape->tiles_k);
    tw_value wave_c = tw_emit_mul(b, g->wave_c, 16 * shape->tiles_c);
    tw_value first_k = tw_add(b, g->first_k, wave_k), first_c = tw_add(b, g->first_c, wave_c);
    /* Tap after tap of one fragment: they share the checks of rows and columns. */
    for (int t = 0; t < shape->tiles_k; t++)
        for (int u = 0; u < shape->tiles_c; u++)
            for (int tap = 0; tap < slab.taps; tap++) {
                tw_value k = tw_emit_add(b, first_k, 16 * t), c = tw_emit_add(b, first_c, 16 * u);
                tw_value at = tw_i32(b, tap);
                tw_dense_give(&slab, g->sum[(tap * shape->tiles_k + t) * shape->tiles_c + u], k, c, at);
            }
}

tw_kernel *tw_mf_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name) {
    const tw_wgrad_mfma_spec *spec = (const tw_wgrad_mfma_spec *)values;
    const tw_scalar dtype = (tw_scalar)spec->dtype;
    mf_gen g = {.spec = spec, .target = target, .shape = tw_mf_shape(spec, target)};
    tw_kernel_options options = {.workgroup_size = (uint32_t)g.shape.workgroup};
    g.b = tw_kernel_begin(ctx, name, target, &options);
    if (!g.b) return NULL;
    g.fragment = tw_type_vector(dtype, 4 * (unsigned)g.shape.quads);
    static const char *const own = "share";
    tw_dense_params_with(g.b, dtype, &own, &g.share, 1, &g.args);
    place(&g);
    all_units(&g);
    give_out(&g);
    return tw_kernel_end(g.b);
}
