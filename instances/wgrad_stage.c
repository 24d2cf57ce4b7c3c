/* Loads, stores and fragments of what wgrad_stage_shape.c laid out.
 *
 * A row of the image is loaded through a buffer resource of its own, which ends where the row or what is
 * wanted of it does: columns before it (their offset is negative, so past any end) and behind it give zeros
 * without a compare, and a row outside the image is one of no bytes. */
#include "instances/wgrad_stage.h"

#include <string.h>

static const tw_type *piece_type(const tw_stage *s) {
    return tw_type_vector(s->dtype, (unsigned)s->shape->vec);
}

/* Takes the lowest digit of `rest`. */
static tw_value take_digit(tw_builder *b, int size, tw_value *rest) {
    tw_value digit = *rest;
    if (!size) return digit;
    tw_value higher = tw_emit_udiv(b, *rest, size);
    tw_value taken = tw_emit_mul(b, higher, size);
    digit = tw_sub(b, *rest, taken);
    *rest = higher;
    return digit;
}

static tw_value add_weighted(tw_builder *b, tw_value sum, tw_value digit, int weight) {
    if (!weight) return sum;
    tw_value part = tw_emit_mul(b, digit, weight);
    return sum.id ? tw_add(b, sum, part) : part;
}

static void split_item(tw_stage *s, tw_value item, tw_value *column, tw_value *piece) {
    tw_builder *b = s->b;
    *column = *piece = (tw_value){0};
    for (const tw_stage_digit *d = s->shape->digits;; d++) {
        if (d->size == 1) continue;
        tw_value digit = take_digit(b, d->size, &item);
        *column = add_weighted(b, *column, digit, d->columns);
        *piece = add_weighted(b, *piece, digit, d->pieces);
        if (!d->size) break;
    }
    if (!piece->id) *piece = tw_i32(b, 0);
}

/* Which lanes have an item in a round, of chunk `chunk` out of `chunks`; no value where all have. */
static tw_value find_active(tw_stage *s, int round, tw_value chunk, int chunks, tw_value item) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value active = {0};
    if (z->items % z->lanes) active = tw_emit_compare(b, TW_SLT, item, z->items);
    if ((round + 1) * z->waves <= chunks) return active;
    tw_value exists = tw_emit_compare(b, TW_SLT, chunk, chunks);
    return active.id ? tw_and(b, active, exists) : exists;
}

static void place_round(tw_stage *s, int i, tw_value wave, tw_value lane, tw_value first_channel) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value chunk = tw_emit_add(b, wave, i * z->waves), of_row = chunk, column, piece;
    s->round[i].row = tw_i32(b, 0);
    if (!z->by_row) {
        s->round[i].row = tw_emit_udiv(b, chunk, z->chunks);
        tw_value before = tw_emit_mul(b, s->round[i].row, z->chunks);
        of_row = tw_sub(b, chunk, before);
    }
    tw_value first = tw_emit_mul(b, of_row, z->lanes);
    tw_value item = tw_add(b, first, lane);
    s->round[i].active = find_active(s, i, chunk, z->by_row ? z->chunks : z->rows * z->chunks, item);
    split_item(s, item, &column, &piece);
    tw_value channel = tw_emit_mul(b, piece, z->vec);
    tw_value pitch = tw_i32(b, z->pitch);
    tw_value at =
        z->transposed ? tw_emit_mad(b, channel, column, pitch) : tw_emit_mad(b, column, piece, pitch);
    tw_value row = tw_emit_mul(b, s->round[i].row, z->row);
    tw_value place = tw_add(b, at, row);
    s->round[i].place = tw_emit_add(b, place, s->first);
    tw_value of_tensor = tw_add(b, first_channel, channel);
    tw_value bytes = tw_emit_mul(b, of_tensor, 2);
    s->round[i].voffset = tw_emit_mad(b, bytes, column, s->pixel);
}

/* The same items in the next row. */
static void place_again(tw_stage *s, int i) {
    const int before = i - s->shape->by_row;
    s->round[i] = s->round[before];
    s->round[i].row = tw_emit_add(s->b, s->round[before].row, 1);
    s->round[i].place = tw_emit_add(s->b, s->round[before].place, s->shape->row);
}

void tw_stage_place_items(tw_stage *s, tw_value first_channel) {
    tw_builder *b = s->b;
    s->pixel = tw_emit_mul(b, s->channels, 2);
    s->row_elements = tw_mul(b, s->channels, s->width);
    s->row_bytes = tw_emit_mul(b, s->row_elements, 2);
    tw_value zero = tw_emit_zero(b, piece_type(s));
    for (int i = 0; i < tw_stage_loads(s->shape); i++)
        s->raw[i] = zero;
    tw_value wave = tw_wave_id(b);
    tw_value lane = tw_lane_id(b);
    for (int i = 0; i < s->shape->rounds; i++) {
        if (s->shape->by_row && i >= s->shape->by_row)
            place_again(s, i);
        else
            place_round(s, i, wave, lane, first_channel);
    }
}

void tw_stage_place_lanes(tw_stage *s, tw_matrix_operand operand, tw_value wave_tile) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value lane = tw_lane_id(b), column = {0}, channel = {0}, place;
    if (z->transposed) {
        tw_lane_map_values(b, &z->transposed->memory, lane, 0, &column, &channel);
        place = tw_emit_mad(b, channel, column, tw_i32(b, z->pitch));
    } else {
        const tw_lane_map map = tw_matrix_lane_map(z->atom, operand);
        const bool is_a = operand == TW_MATRIX_A;
        tw_lane_map_values(b, &map, lane, 0, is_a ? &channel : &column, is_a ? &column : &channel);
        tw_value piece = tw_emit_udiv(b, channel, z->vec);
        tw_value taken = tw_emit_mul(b, piece, z->vec);
        tw_value in_piece = tw_sub(b, channel, taken);
        tw_value of_piece = tw_emit_mul(b, piece, z->pitch);
        tw_value of_channel = tw_emit_mul(b, in_piece, z->block);
        place = tw_add(b, of_piece, of_channel);
        if (z->lane_columns) place = tw_emit_mad(b, place, column, tw_i32(b, z->lane_columns));
    }
    tw_value tile = tw_emit_mul(b, wave_tile, z->tile);
    place = tw_add(b, place, tile);
    s->lane = tw_emit_add(b, place, s->first);
}

/* The resource of a row: its bytes up to `end`, none where it does not exist. */
static tw_value row_rsrc(tw_stage *s, const tw_stage_from *from, tw_value row, tw_value end) {
    tw_builder *b = s->b;
    tw_value zero = tw_i32(b, 0);
    tw_value inside = tw_emit_is_index(b, row, from->end);
    if (from->exists.id) inside = tw_and(b, inside, from->exists);
    tw_value of_all = tw_emit_mad(b, row, from->image, s->height);
    tw_value element = tw_mul(b, of_all, s->row_elements);
    element = tw_select(b, inside, element, zero);
    tw_value bytes = tw_select(b, inside, end, zero);
    tw_value pointer = tw_ptr_offset(b, s->pointer, element);
    return tw_buffer_rsrc(b, pointer, bytes);
}

static void load_round(tw_stage *s, int i, tw_value rsrc, const tw_value *shifts, tw_value *out) {
    tw_builder *b = s->b;
    const tw_type *type = piece_type(s);
    tw_value soffset = tw_i32(b, 0);
    for (int j = 0; j < s->shape->group; j++) {
        tw_value voffset = tw_add(b, s->round[i].voffset, shifts[j]);
        out[j] = tw_buffer_load(b, type, rsrc, voffset, soffset, 0);
    }
}

/* The same for lanes that have an item; waves without any load nothing. */
static void load_round_if(tw_stage *s, int i, tw_value rsrc, const tw_value *shifts, tw_value *out) {
    tw_builder *b = s->b;
    const unsigned group = (unsigned)s->shape->group;
    tw_value loaded[TW_STAGE_MAX_GROUP], before[TW_STAGE_MAX_GROUP];
    memcpy(before, out, sizeof *out * group);
    tw_if_begin(b, s->round[i].active);
    load_round(s, i, rsrc, shifts, loaded);
    tw_if_else(b, group, loaded);
    tw_if_end(b, group, before, out);
}

void tw_stage_load(tw_stage *s, const tw_stage_from *from) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value shifts[TW_STAGE_MAX_GROUP];
    shifts[0] = tw_mul(b, from->column, s->pixel);
    for (int j = 1; j < z->group; j++)
        shifts[j] = tw_add(b, shifts[j - 1], s->pixel);
    tw_value behind = tw_emit_add(b, from->column, z->used);
    tw_value end = tw_mul(b, behind, s->pixel);
    end = tw_smin(b, end, s->row_bytes);
    end = tw_emit_max(b, end, 0);
    tw_value rsrc = {0};
    for (int i = 0; i < z->rounds; i++) {
        if (!z->by_row || i % z->by_row == 0) {
            tw_value row = tw_add(b, from->row, s->round[i].row);
            rsrc = row_rsrc(s, from, row, end);
        }
        if (s->round[i].active.id)
            load_round_if(s, i, rsrc, shifts, &s->raw[i * z->group]);
        else
            load_round(s, i, rsrc, shifts, &s->raw[i * z->group]);
    }
}

static tw_value element(tw_stage *s, tw_value piece, int channel) {
    return s->shape->vec == 1 ? piece : tw_vector_extract(s->b, piece, (unsigned)channel);
}

static void store_item(tw_stage *s, const tw_value *raw, tw_value place) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    if (z->transposed) {
        tw_lds_store(b, raw[0], s->lds, place, 2 * (unsigned)z->vec);
        return;
    }
    for (int i = 0; i < z->vec; i++) {
        tw_value columns[TW_STAGE_MAX_GROUP];
        for (int j = 0; j < z->group; j++)
            columns[j] = element(s, raw[j], i);
        tw_value run = tw_vector_build(b, columns, (unsigned)z->group);
        tw_value at = tw_emit_add(b, place, i * z->block);
        tw_lds_store(b, run, s->lds, at, 2 * (unsigned)z->group);
    }
}

void tw_stage_store(tw_stage *s, tw_value buffer) {
    tw_builder *b = s->b;
    for (int i = 0; i < s->shape->rounds; i++) {
        tw_value active = s->round[i].active;
        tw_value place = tw_add(b, s->round[i].place, buffer);
        if (active.id) tw_if_begin(b, active);
        store_item(s, &s->raw[i * s->shape->group], place);
        if (active.id) tw_if_end(b, 0, NULL, NULL);
    }
}

tw_value tw_stage_join(tw_builder *b, tw_value low, tw_value high, int elements) {
    int64_t lanes[TW_STAGE_TILE];
    for (int i = 0; i < 2 * elements; i++)
        lanes[i] = i;
    return tw_vector_shuffle(b, low, high, lanes, 2 * (unsigned)elements);
}

void tw_stage_read_words(const tw_stage *s, tw_value buffer, int row, int tile, int shifts,
                         tw_stage_words *out) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    const tw_type *type = tw_type_vector(s->dtype, (unsigned)z->word);
    tw_value base = tw_add(b, s->lane, buffer);
    for (int i = 0; i * z->word < z->own + shifts - 1; i++) {
        tw_value at = tw_emit_add(b, base, row * z->row + tile * z->tile + i * z->word);
        out->word[i] = tw_lds_load(b, type, s->lds, at, 2 * (unsigned)z->word);
    }
}

/* `word` elements from `element` on. */
static tw_value moved_word(const tw_stage *s, const tw_stage_words *words, int element) {
    const int word = s->shape->word, first = element % word;
    const tw_value *at = &words->word[element / word];
    if (!first) return at[0];
    int64_t lanes[TW_STAGE_TILE];
    for (int i = 0; i < word; i++)
        lanes[i] = first + i;
    return tw_vector_shuffle(s->b, at[0], at[1], lanes, (unsigned)word);
}

tw_value tw_stage_word_fragment(const tw_stage *s, const tw_stage_words *words, int atom, int shift) {
    const tw_stage_shape *z = s->shape;
    tw_value low = moved_word(s, words, atom * z->slots + shift);
    if (z->slots == z->word) return low;
    tw_value high = moved_word(s, words, atom * z->slots + z->word + shift);
    return tw_stage_join(s->b, low, high, z->word);
}

tw_value tw_stage_read_transposed(const tw_stage *s, tw_value buffer, int row, int column, int tile) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value base = tw_add(b, s->lane, buffer);
    tw_value at = tw_emit_add(b, base, row * z->row + column * z->pitch + tile * z->tile);
    return tw_lds_load_transposed(b, s->lds, at);
}
