/* The way from the sums to the slab: fragment by fragment, or, with lds_epilogue, through LDS, where a tap's
 * tile of all waves is turned into rows of dW: a wave's atomics then touch runs of 32 consecutive c or more.
 */
#include "instances/direct_wgrad_image_internal.h"

static tw_value slab_index(im_gen *g) {
    tw_builder *b = g->b;
    tw_value block = tw_workgroup_id(b, 1), share = tw_workgroup_id(b, 2);
    tw_value of_share = tw_emit_mul(b, share, g->spec->row_blocks);
    tw_value writer = tw_add(b, of_share, block);
    if (g->spec->reproducible) return writer;
    if (g->spec->ws_replicas == 1) return g->zero;
    tw_value replicas = tw_i32(b, g->spec->ws_replicas);
    return tw_urem(b, writer, replicas);
}

/* The wave's sum `i` begins at row and column of the workgroup's tile. */
static void place_sum(im_gen *g, int i, tw_value *row, tw_value *column) {
    const int tile = i % g->shape.tiles;
    *row = tw_emit_add(g->b, g->wave_k, tile / g->spec->wave_tiles_c * IM_TILE);
    *column = tw_emit_add(g->b, g->wave_c, tile % g->spec->wave_tiles_c * IM_TILE);
}

static void give_fragments(im_gen *g, const tw_dense_slab *slab) {
    tw_builder *b = g->b;
    for (int i = 0; i < g->shape.sums; i++) {
        tw_value row, column;
        place_sum(g, i, &row, &column);
        tw_value first_k = tw_add(b, g->tile_k, row);
        tw_value first_c = tw_add(b, g->tile_c, column);
        tw_value tap = tw_i32(b, i / g->shape.tiles);
        tw_dense_give(slab, g->sums[i], first_k, first_c, tap);
    }
}

/* The wave's fragments of a tap, as [k][c] of the workgroup's tile. */
static void write_tap(im_gen *g, tw_value lds, int tap) {
    tw_builder *b = g->b;
    const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, TW_MATRIX_D);
    tw_value lane = tw_lane_id(b);
    for (int i = tap * g->shape.tiles; i < (tap + 1) * g->shape.tiles; i++) {
        tw_value first_row, first_column;
        place_sum(g, i, &first_row, &first_column);
        for (unsigned slot = 0; slot < g->shape.info.slots[TW_MATRIX_D]; slot++) {
            tw_value row, column;
            tw_lane_map_values(b, &map, lane, slot, &row, &column);
            row = tw_add(b, row, first_row);
            column = tw_add(b, column, first_column);
            tw_value of_row = tw_emit_mul(b, row, g->shape.give_pitch);
            tw_value at = tw_add(b, of_row, column);
            tw_value part = tw_vector_extract(b, g->sums[i], slot);
            tw_lds_store(b, part, lds, at, 4);
        }
    }
}

/* All lanes of the workgroup give the tap's tile, consecutive lanes consecutive c. */
static void give_tap(im_gen *g, const tw_dense_slab *slab, tw_value lds, int tap) {
    tw_builder *b = g->b;
    const int width = g->shape.x.channels, size = width * g->shape.dy.channels;
    tw_value work_item = tw_workitem_id(b, 0), end = tw_i32(b, size), step = tw_i32(b, g->shape.threads);
    tw_value index = tw_for_begin(b, work_item, end, step, 0, NULL, NULL);
    tw_for_unroll(b, 1);
    tw_value row = tw_emit_udiv(b, index, width);
    tw_value before = tw_emit_mul(b, row, width);
    tw_value column = tw_sub(b, index, before);
    tw_value of_row = tw_emit_mul(b, row, g->shape.give_pitch);
    tw_value at = tw_add(b, of_row, column);
    tw_value value = tw_lds_load(b, tw_type_scalar(TW_F32), lds, at, 4);
    tw_value which = tw_i32(b, tap);
    tw_dense_give_element(slab, value, g->tile_k, g->tile_c, which, row, column);
    tw_for_end(b, 0, NULL, NULL);
}

static void give_rows(im_gen *g, const tw_dense_slab *slab) {
    tw_builder *b = g->b;
    tw_value lds = tw_lds_alloc(b, TW_F32, (uint32_t)g->shape.give_elements, 16);
    for (int tap = 0; tap < g->shape.taps; tap++) {
        if (tap) tw_barrier(b, TW_FENCE_LDS);
        write_tap(g, lds, tap);
        tw_barrier(b, TW_FENCE_LDS);
        give_tap(g, slab, lds, tap);
    }
}

void tw_im_give(im_gen *g) {
    const tw_dense_slab slab = {.b = g->b,
                                .target = g->target,
                                .args = &g->args,
                                .atom = g->shape.info.name,
                                .taps = g->shape.taps,
                                .atomic = !g->spec->reproducible,
                                .index = slab_index(g),
                                .group = g->group};
    if (g->spec->lds_epilogue)
        give_rows(g, &slab);
    else
        give_fragments(g, &slab);
}
