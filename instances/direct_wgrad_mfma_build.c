/* The kernel of direct_wgrad_mfma: docs/instances.md describes the algorithm.
 *
 * A workgroup has a tile of k x c channels of one group, for every tap, and a share of the units: a strip of
 * output columns in a block of rows of one image. It walks the rows of X. Each meets kh rows of dY, whose
 * fragments stay in a ring of registers; each row of either is staged once, in one of two buffers, while the
 * row before it is multiplied. */
#include "instances/direct_wgrad_mfma_internal.h"

#include <string.h>

#include "ir/matrix.h"

enum { MAX_CARRIED = MF_MAX_SUMS + MF_MAX_KERNEL * MF_MAX_TILES * MF_MAX_STEPS + 2 * MF_MAX_LOADS + 1 };

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
    for (int slot = 0; slot < g->shape.kh; slot++)
        move(&c, g->ring[slot], ring_fragments(g));
    move(&c, g->x.raw, g->shape.x.rounds * g->shape.x.group);
    move(&c, g->dy.raw, g->shape.dy.rounds * g->shape.dy.group);
    return (unsigned)(c.at - values);
}

/* Where a workgroup is. */
typedef struct mf_unit {
    tw_value row, end;            /* rows of X in the image */
    tw_value image_row, image_dy; /* rows of X and of dY before the image */
} mf_unit;

/* Row `row` of the image, and the last row of dY that it meets. */
static void load_dy(mf_gen *g, const mf_unit *unit, tw_value row, tw_value wanted) {
    tw_builder *b = g->b;
    tw_value dy_row = tw_add(b, row, g->args.pad_h);
    tw_value exists = tw_emit_is_index(b, dy_row, g->args.ho);
    if (wanted.id) exists = tw_and(b, exists, wanted);
    tw_value held = tw_emit_clamp_index(b, dy_row, g->args.ho);
    tw_value of_all = tw_add(b, unit->image_dy, held);
    tw_mf_load(g, &g->dy, of_all, exists);
}

static void load_rows(mf_gen *g, const mf_unit *unit, tw_value row) {
    tw_builder *b = g->b;
    tw_value wanted = tw_icmp(b, TW_SLT, row, unit->end);
    tw_value held = tw_emit_clamp_index(b, row, g->args.h);
    tw_value of_all = tw_add(b, unit->image_row, held);
    tw_mf_load(g, &g->x, of_all, wanted);
    load_dy(g, unit, row, wanted);
}

static void next_buffer(mf_gen *g) {
    tw_value one = tw_i32(g->b, 1);
    g->odd = tw_xor(g->b, g->odd, one);
}

static void read_ring(mf_gen *g, int slot) {
    for (int t = 0; t < g->shape.tiles_k; t++)
        for (int step = 0; step < g->shape.steps; step++)
            tw_mf_fragments(g, &g->dy, t, step, 1, &g->ring[slot][t * g->shape.steps + step]);
}

/* All products of the row of X in LDS; the row of dY that came with it is in `slot`. */
static void multiply(mf_gen *g, int slot) {
    const mf_shape *shape = &g->shape;
    const char *atom = tw_matrix_atom_info(shape->atom).name;
    tw_value x[MF_MAX_KERNEL];
    for (int step = 0; step < shape->steps; step++)
        for (int u = 0; u < shape->tiles_c; u++) {
            tw_mf_fragments(g, &g->x, u, step, shape->kw, x);
            for (int s = 0; s < shape->kw; s++)
                for (int r = 0; r < shape->kh; r++)
                    for (int t = 0; t < shape->tiles_k; t++) {
                        const int tap = r * shape->kw + s, age = (slot - r + shape->kh) % shape->kh;
                        tw_value *sum = &g->sum[(tap * shape->tiles_k + t) * shape->tiles_c + u];
                        *sum = tw_mma(g->b, atom, g->ring[age][t * shape->steps + step], x[s], *sum);
                    }
        }
}

static void one_row(mf_gen *g, const mf_unit *unit, tw_value row, int slot) {
    tw_builder *b = g->b;
    tw_mf_write(g, &g->x);
    tw_mf_write(g, &g->dy);
    tw_value next = tw_emit_add(b, row, 1);
    load_rows(g, unit, next);
    tw_barrier(b, TW_FENCE_LDS);
    read_ring(g, slot);
    multiply(g, slot);
    next_buffer(g);
}

/* A row that is there only where `row` is below the unit's end. */
static void one_row_if(mf_gen *g, const mf_unit *unit, tw_value row, int slot) {
    tw_builder *b = g->b;
    tw_value before[MAX_CARRIED], after[MAX_CARRIED];
    unsigned count = move_row(g, before, true);
    tw_value exists = tw_icmp(b, TW_SLT, row, unit->end);
    tw_if_begin(b, exists);
    one_row(g, unit, row, slot);
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
        tw_mf_write(g, &g->dy);
        tw_barrier(b, TW_FENCE_LDS);
        read_ring(g, slot);
        next_buffer(g);
    }
    tw_value zero = tw_emit_zero(b, g->fragment);
    for (int i = 0; i < ring_fragments(g); i++)
        g->ring[0][i] = zero;
}

/* kh rows a round, so that each knows its slot of the ring. */
static void all_rows(mf_gen *g, const mf_unit *unit) {
    tw_builder *b = g->b;
    fill_ring(g, unit);
    load_rows(g, unit, unit->row);
    tw_value carried[MAX_CARRIED], next[MAX_CARRIED];
    unsigned count = move_row(g, carried, true);
    tw_value step = tw_i32(b, g->shape.kh);
    tw_value row = tw_for_begin(b, unit->row, unit->end, step, count, carried, next);
    tw_for_unroll(b, 1);
    move_row(g, next, false);
    for (int slot = 0; slot < g->shape.kh; slot++) {
        tw_value at = tw_emit_add(b, row, slot);
        if (slot)
            one_row_if(g, unit, at, slot);
        else
            one_row(g, unit, at, slot);
    }
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
    unit.image_row = tw_mul(b, image, g->args.h);
    unit.image_dy = tw_mul(b, image, g->args.ho);
    tw_value column = tw_emit_mul(b, strip, g->shape.columns);
    tw_value x_column = tw_sub(b, column, g->args.pad_w);
    tw_mf_columns(g, &g->x, x_column);
    tw_mf_columns(g, &g->dy, column);
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
    g->x = (mf_stage){&shape->x, .rsrc = g->args.x, .channels = g->args.c, .pixels = g->args.w};
    g->dy = (mf_stage){&shape->dy, .rsrc = g->args.dy, .channels = g->args.k, .pixels = g->args.wo};
    tw_mf_place(g, &g->x, TW_MATRIX_B, g->first_c, g->args.group_c, x_tile);
    tw_mf_place(g, &g->dy, TW_MATRIX_A, g->first_k, g->args.group_k, dy_tile);
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
    g.piece = tw_type_vector(dtype, (unsigned)spec->vec);
    g.quad = tw_type_vector(dtype, 4);
    g.fragment = tw_type_vector(dtype, 4 * (unsigned)g.shape.quads);
    static const char *const own = "share";
    tw_dense_params_with(g.b, dtype, &own, &g.share, 1, &g.args);
    place(&g);
    all_units(&g);
    give_out(&g);
    return tw_kernel_end(g.b);
}
