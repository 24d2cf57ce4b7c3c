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

/* Where a channel begins. */
static tw_value channel_place(tw_stage *s, tw_value channel) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value at = tw_emit_mul(b, channel, z->pitch);
    if (z->half) {
        tw_value half = tw_emit_udiv(b, channel, TW_STAGE_TILE / 2);
        at = tw_emit_mad(b, at, half, tw_i32(b, z->half));
    }
    const int between = z->tile - TW_STAGE_TILE * z->pitch - 2 * z->half;
    if (!between || z->channels == TW_STAGE_TILE) return at;
    tw_value tile = tw_emit_udiv(b, channel, TW_STAGE_TILE);
    return tw_emit_mad(b, at, tile, tw_i32(b, between));
}

/* Where a channel of a column begins. */
static tw_value element_place(tw_stage *s, tw_value column, tw_value channel) {
    if (s->shape->transposed) return tw_emit_mad(s->b, channel, column, tw_i32(s->b, s->shape->pitch));
    tw_value at = channel_place(s, channel);
    return tw_add(s->b, at, column);
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
    tw_value at = element_place(s, column, channel);
    tw_value row = tw_emit_mul(b, s->round[i].row, z->row);
    tw_value place = tw_add(b, at, row);
    s->round[i].place = place;
    if (z->early) {
        tw_value behind = tw_emit_compare(b, TW_SGE, column, z->span);
        tw_value early = tw_emit_add(b, column, -z->early);
        column = tw_select(b, behind, early, column);
    }
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
        place = element_place(s, column, channel);
    } else {
        const tw_lane_map map = tw_matrix_lane_map(z->atom, operand);
        const bool is_a = operand == TW_MATRIX_A;
        tw_lane_map_values(b, &map, lane, 0, is_a ? &channel : &column, is_a ? &column : &channel);
        place = channel_place(s, channel);
        if (z->lane_columns) place = tw_emit_mad(b, place, column, tw_i32(b, z->lane_columns));
    }
    tw_value tile = tw_emit_mul(b, wave_tile, z->tile);
    place = tw_add(b, place, tile);
    s->lane = s->behind = place;
    if (z->early) { /* the second of two lanes */
        tw_value second = tw_emit_udiv(b, column, z->own / z->lane_columns);
        s->behind = tw_emit_mad(b, s->lane, second, tw_i32(b, z->early));
    }
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
        tw_value at = tw_emit_add(b, place, i * z->pitch);
        tw_lds_store(b, run, s->lds, at, 2 * TW_STAGE_GRANULE);
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

/* `count` elements, as a word of which the rest does not matter. */
static tw_value read_word(const tw_stage *s, tw_value at, int count) {
    tw_builder *b = s->b;
    const int word = s->shape->word, granule = count < TW_STAGE_GRANULE ? count : TW_STAGE_GRANULE;
    const tw_type *type = tw_type_vector(s->dtype, (unsigned)count);
    tw_value read = tw_lds_load(b, type, s->lds, at, 2 * (unsigned)granule);
    if (count == word) return read;
    int64_t lanes[TW_STAGE_TILE];
    for (int i = 0; i < word; i++)
        lanes[i] = i % count;
    return tw_vector_shuffle(b, read, read, lanes, (unsigned)word);
}

void tw_stage_read_words(const tw_stage *s, tw_value buffer, int row, int tile, int shifts,
                         tw_stage_words *out) {
    tw_builder *b = s->b;
    const tw_stage_shape *z = s->shape;
    tw_value own = tw_add(b, s->lane, buffer), behind = tw_add(b, s->behind, buffer);
    const int end = z->own + shifts - 1;
    for (int i = 0; i * z->word < end; i++) {
        const int first = i * z->word;
        const bool is_own = first < z->own;
        tw_value at = tw_emit_add(b, is_own ? own : behind, row * z->row + tile * z->tile + first);
        out->word[i] = read_word(s, at, is_own ? z->word : z->behind);
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
