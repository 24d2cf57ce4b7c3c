#include "ir/matrix.h"

#include <string.h>

#include "ir/builder.h"

/* TW_SCALAR_COUNT: the tile IR has no such element. */
static tw_scalar element_of(tw_target target, tw_matrix_format format) {
    bool fnuz = tw_arch_get(target.arch)->fp8 == TW_FP8_FNUZ;
    switch (format) {
    case TW_MATRIX_F16: return TW_F16;
    case TW_MATRIX_BF16: return TW_BF16;
    case TW_MATRIX_F32: return TW_F32;
    case TW_MATRIX_FP8: return fnuz ? TW_F8E4M3FNUZ : TW_F8E4M3;
    case TW_MATRIX_BF8: return fnuz ? TW_F8E5M2FNUZ : TW_F8E5M2;
    case TW_MATRIX_I8: return TW_I8;
    case TW_MATRIX_I32: return TW_I32;
    default: return TW_SCALAR_COUNT;
    }
}

const tw_type *tw_fragment_type(tw_target target, const char *atom, tw_matrix_operand operand) {
    const tw_matrix_atom *found = tw_matrix_atom_by_name(target, atom);
    if (!found || (unsigned)operand > TW_MATRIX_D) return NULL;
    tw_matrix_info info = tw_matrix_atom_info(found);
    const tw_matrix_format formats[] = {info.a, info.b, info.d};
    return tw_type_vector(element_of(target, formats[operand]), info.slots[operand]);
}

tw_value tw_mma(tw_builder *b, const char *atom, tw_value a, tw_value b_fragment, tw_value c) {
    tw_value in[] = {a, b_fragment, c};
    tw_named_attr attr = {"atom", {.kind = TW_ATTR_STRING, .as.s = atom}};
    return tw_build_op(b, TW_OP_MMA, NULL, in, 3, &attr, 1);
}

/* Bits of the lane that stay neighbours on their way move together. */
static unsigned run_length(const uint8_t *sources, unsigned bits, unsigned first) {
    unsigned length = 1;
    while (first + length < bits && sources[first + length] < TW_SLOT_BIT0 &&
           sources[first + length] == sources[first] + length)
        length++;
    return length;
}

static tw_value moved_bits(tw_builder *b, tw_value lane, unsigned from, unsigned length, unsigned to) {
    tw_value mask = tw_i32(b, (int32_t)(((1u << length) - 1) << from));
    tw_value bits = tw_and(b, lane, mask);
    if (from == to) return bits;
    tw_value amount = tw_i32(b, (int32_t)(from > to ? from - to : to - from));
    return from > to ? tw_lshr(b, bits, amount) : tw_shl(b, bits, amount);
}

static tw_value coordinate(tw_builder *b, const uint8_t *sources, unsigned bits, tw_value lane,
                           unsigned slot) {
    uint32_t constant = 0;
    tw_value sum = {0};
    for (unsigned bit = 0; bit < bits;) {
        if (sources[bit] >= TW_SLOT_BIT0) {
            constant |= (slot >> (sources[bit] - TW_SLOT_BIT0) & 1) << bit;
            bit++;
            continue;
        }
        unsigned length = run_length(sources, bits, bit);
        tw_value part = moved_bits(b, lane, sources[bit], length, bit);
        sum = sum.id ? tw_or(b, sum, part) : part;
        bit += length;
    }
    if (sum.id && !constant) return sum;
    tw_value rest = tw_i32(b, (int32_t)constant);
    return sum.id ? tw_or(b, sum, rest) : rest;
}

void tw_lane_map_values(tw_builder *b, const tw_lane_map *map, tw_value lane, unsigned slot, tw_value *row,
                        tw_value *column) {
    if (row) *row = coordinate(b, map->row, map->row_bits, lane, slot);
    if (column) *column = coordinate(b, map->column, map->column_bits, lane, slot);
}
