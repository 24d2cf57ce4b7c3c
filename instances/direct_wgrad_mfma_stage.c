/* How rows of X and dY go through LDS: loads of vec channels of one position, the layout of the strip, and
 * the fragments that lanes read from it. */
#include "instances/direct_wgrad_mfma_internal.h"

#include <string.h>

#include "ir/matrix.h"

/* A byte offset past the end of every buffer, also with a row's offset added: loads give zeros. */
static tw_value past_the_end(mf_gen *g) { return tw_i32(g->b, INT32_MIN); }

/* Lanes that write in one cycle fill all banks: with rows that are shorter, `together` of them, apart from
 * each other by a multiple of the pitch that is one of the banks. */
static tw_value spread(mf_gen *g, const mf_strip *strip, tw_value number) {
    tw_builder *b = g->b;
    if (strip->together == 1) return number;
    tw_value seven = tw_i32(b, 7);
    tw_value in_block = tw_and(b, number, seven);
    tw_value block = tw_sub(b, number, in_block);
    tw_value turn = tw_emit_udiv(b, in_block, strip->together);
    tw_value before = tw_emit_mul(b, turn, strip->together);
    tw_value part = tw_sub(b, in_block, before);
    tw_value apart = tw_emit_mul(b, part, 8 / strip->together);
    tw_value at = tw_add(b, block, turn);
    return tw_add(b, at, apart);
}

/* Every lane has an item of the round that fragments touch. */
static bool round_is_full(const mf_gen *g, const mf_strip *strip, int round) {
    const int last = ((round + 1) * g->shape.workgroup - 1) / (strip->channels / g->shape.vec);
    const int unit = strip->together > 1 ? 8 : 1;
    return (last / unit + 1) * unit * strip->group <= strip->needed;
}

static void place_items(mf_gen *g, mf_stage *stage, tw_value first_channel, tw_value group_channels) {
    tw_builder *b = g->b;
    const mf_strip *strip = stage->strip;
    const int pieces = strip->channels / g->shape.vec;
    tw_value before = tw_mul(b, g->group, group_channels);
    tw_value item = tw_workitem_id(b, 0);
    for (int i = 0; i < strip->rounds; i++) {
        if (i) item = tw_emit_add(b, item, g->shape.workgroup);
        const bool full = round_is_full(g, strip, i);
        tw_value number = tw_emit_udiv(b, item, pieces);
        tw_value taken = tw_emit_mul(b, number, pieces);
        tw_value piece = tw_sub(b, item, taken);
        tw_value place = spread(g, strip, number);
        stage->round[i].position = tw_emit_mul(b, place, strip->group);
        stage->round[i].exists.id = 0;
        if (!full)
            stage->round[i].exists = tw_emit_compare(b, TW_SLT, stage->round[i].position, strip->needed);
        tw_value in_tile = tw_emit_mul(b, piece, g->shape.vec);
        tw_value in_group = tw_add(b, first_channel, in_tile);
        stage->round[i].channel = tw_add(b, before, in_group);
        tw_value inside = tw_icmp(b, TW_SLT, in_group, group_channels);
        tw_value nowhere = tw_i32(b, INT32_MIN / 2);
        stage->round[i].column = tw_select(b, inside, stage->round[i].position, nowhere);
        if (g->shape.transposed_read) {
            tw_value row = tw_emit_mul(b, stage->round[i].position, strip->pitch);
            stage->round[i].place = tw_add(b, row, in_tile);
        } else {
            tw_value row = tw_emit_mul(b, piece, strip->pitch);
            stage->round[i].place = tw_add(b, row, stage->round[i].position);
        }
    }
}

/* Where the lane reads its part of the wave's first fragment. */
static void place_fragment(mf_gen *g, mf_stage *stage, tw_matrix_operand operand, tw_value wave_tile) {
    tw_builder *b = g->b;
    const mf_strip *strip = stage->strip;
    const int vec = g->shape.vec;
    tw_value lane = tw_lane_id(b);
    tw_value position, channel, place;
    if (g->shape.transposed_read) {
        tw_lane_map_values(b, &g->shape.transposed_read->memory, lane, 0, &position, &channel);
        tw_value row = tw_emit_mul(b, position, strip->pitch);
        place = tw_add(b, row, channel);
    } else {
        const tw_lane_map map = tw_matrix_lane_map(g->shape.atom, operand);
        const bool is_a = operand == TW_MATRIX_A;
        tw_lane_map_values(b, &map, lane, 0, is_a ? &channel : &position, is_a ? &position : &channel);
        tw_value piece = tw_emit_udiv(b, channel, vec);
        tw_value taken = tw_emit_mul(b, piece, vec);
        tw_value in_piece = tw_sub(b, channel, taken);
        tw_value row = tw_emit_mul(b, piece, strip->pitch);
        tw_value block = tw_emit_mul(b, in_piece, strip->block);
        place = tw_add(b, row, block);
        place = tw_add(b, place, position);
    }
    tw_value tile = tw_emit_mul(b, wave_tile, strip->tile);
    stage->fragment = tw_add(b, place, tile);
}

void tw_mf_place(mf_gen *g, mf_stage *stage, tw_matrix_operand operand, tw_value first_channel,
                 tw_value group_channels, tw_value wave_tile) {
    stage->lds = tw_lds_alloc(g->b, (tw_scalar)g->spec->dtype, 2 * (uint32_t)stage->strip->buffer, 16);
    tw_value zero = tw_emit_zero(g->b, g->piece);
    for (int i = 0; i < stage->strip->rounds * stage->strip->group; i++)
        stage->raw[i] = zero;
    place_items(g, stage, first_channel, group_channels);
    place_fragment(g, stage, operand, wave_tile);
}

void tw_mf_columns(mf_gen *g, mf_stage *stage, tw_value first) {
    tw_builder *b = g->b;
    tw_value outside = past_the_end(g);
    for (int i = 0, load = 0; i < stage->strip->rounds; i++)
        for (int j = 0; j < stage->strip->group; j++, load++) {
            tw_value position = tw_emit_add(b, stage->round[i].column, j);
            tw_value column = tw_add(b, first, position);
            tw_value exists = tw_emit_is_index(b, column, stage->pixels);
            tw_value element = tw_emit_mad(b, stage->round[i].channel, column, stage->channels);
            tw_value bytes = tw_emit_mul(b, element, 2);
            stage->offset[load] = tw_select(b, exists, bytes, outside);
        }
}

void tw_mf_load(mf_gen *g, mf_stage *stage, tw_value row, tw_value exists) {
    tw_builder *b = g->b;
    tw_value outside = past_the_end(g);
    tw_value pixels = tw_mul(b, row, stage->pixels);
    tw_value elements = tw_mul(b, pixels, stage->channels);
    tw_value soffset = tw_emit_mul(b, elements, 2);
    const int group = stage->strip->group;
    for (int i = 0; i < stage->strip->rounds; i++) {
        tw_value *raw = &stage->raw[i * group], loaded[4];
        const bool some = stage->round[i].exists.id != 0; /* waves without an item load nothing */
        if (some) tw_if_begin(b, stage->round[i].exists);
        for (int j = 0; j < group; j++) {
            tw_value voffset = tw_select(b, exists, stage->offset[i * group + j], outside);
            loaded[j] = tw_buffer_load(b, g->piece, stage->rsrc, voffset, soffset, 0);
        }
        if (some) {
            tw_if_else(b, (unsigned)group, loaded);
            tw_if_end(b, (unsigned)group, raw, loaded);
        }
        memcpy(raw, loaded, sizeof *raw * (size_t)group);
    }
}

/* Element `channel` of a loaded piece. */
static tw_value element(mf_gen *g, tw_value piece, int channel) {
    return g->shape.vec == 1 ? piece : tw_vector_extract(g->b, piece, (unsigned)channel);
}

static void write_item(mf_gen *g, mf_stage *stage, int item, tw_value place) {
    tw_builder *b = g->b;
    const mf_strip *strip = stage->strip;
    const tw_value *raw = &stage->raw[item * strip->group];
    if (strip->group == 1) {
        tw_lds_store(b, raw[0], stage->lds, place, 2 * (unsigned)g->shape.vec);
        return;
    }
    for (int i = 0; i < g->shape.vec; i++) {
        tw_value positions[4];
        for (int j = 0; j < 4; j++)
            positions[j] = element(g, raw[j], i);
        tw_value quad = tw_vector_build(b, positions, 4);
        tw_value at = tw_emit_add(b, place, i * strip->block);
        tw_lds_store(b, quad, stage->lds, at, 8);
    }
}

static tw_value in_buffer(mf_gen *g, mf_stage *stage, tw_value place) {
    tw_value buffer = tw_emit_mul(g->b, g->odd, stage->strip->buffer);
    return tw_add(g->b, place, buffer);
}

void tw_mf_write(mf_gen *g, mf_stage *stage) {
    tw_builder *b = g->b;
    for (int i = 0; i < stage->strip->rounds; i++) {
        tw_value exists = stage->round[i].exists;
        tw_value place = in_buffer(g, stage, stage->round[i].place);
        if (exists.id) tw_if_begin(b, exists);
        write_item(g, stage, i, place);
        if (exists.id) tw_if_end(b, 0, NULL, NULL);
    }
}

static tw_value join(mf_gen *g, const tw_value *quads) {
    if (g->shape.quads == 1) return quads[0];
    static const int64_t lanes[] = {0, 1, 2, 3, 4, 5, 6, 7};
    return tw_vector_shuffle(g->b, quads[0], quads[1], lanes, 8);
}

/* Positions are rows of the tiles that the read transposes: any position may be the first. Which 16 of an
 * atom's positions a read takes makes no difference, as both operands are read alike. */
static tw_value read_transposed(mf_gen *g, mf_stage *stage, tw_value base, int position) {
    tw_value quads[2];
    for (int i = 0; i < g->shape.quads; i++) {
        tw_value at = tw_emit_add(g->b, base, (position + 16 * i) * stage->strip->pitch);
        quads[i] = tw_lds_load_transposed(g->b, stage->lds, at);
    }
    return join(g, quads);
}

/* A lane reads whole words of 4 positions and moves them in registers. */
static void read_words(mf_gen *g, mf_stage *stage, tw_value base, int position, int count, tw_value *out) {
    tw_builder *b = g->b;
    tw_value word[MF_MAX_WORDS];
    const int words = (4 + count - 1 + 3) / 4;
    for (int i = 0; i < words; i++) {
        tw_value at = tw_emit_add(b, base, position + 4 * i);
        word[i] = tw_lds_load(b, g->quad, stage->lds, at, 8);
    }
    for (int s = 0; s < count; s++) {
        const int first = s % 4;
        const int64_t lanes[] = {first, first + 1, first + 2, first + 3};
        out[s] = first ? tw_vector_shuffle(b, word[s / 4], word[s / 4 + 1], lanes, 4) : word[s / 4];
    }
}

void tw_mf_fragments(mf_gen *g, mf_stage *stage, int tile, int step, int count, tw_value *out) {
    tw_value base = in_buffer(g, stage, stage->fragment);
    base = tw_emit_add(g->b, base, tile * stage->strip->tile);
    const int position = step * g->spec->atom_k;
    if (!g->shape.transposed_read) {
        read_words(g, stage, base, position, count, out);
        return;
    }
    for (int s = 0; s < count; s++)
        out[s] = read_transposed(g, stage, base, position + s);
}
