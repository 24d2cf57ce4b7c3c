#include "arch/matrix.h"

#include <string.h>

#include "arch/lane_bits.h"

typedef enum input_map {
#define INPUT(name, rows, ks, blocks) IN_##name,
#define OUTPUT(...)
#define ATOM(...)
#define UNIT(...)
#define OBLONG(...)
#define SPARSE(...)
#include "arch/matrix.def"
} input_map;

typedef enum output_map {
#define INPUT(...)
#define OUTPUT(name, rows, columns, blocks) OUT_##name,
#define ATOM(...)
#define UNIT(...)
#define OBLONG(...)
#define SPARSE(...)
#include "arch/matrix.def"
} output_map;

#define MAX_BLOCK_BITS 4
typedef struct operand_map {
    tw_lane_map element;
    uint8_t block_bits;
    uint8_t block[MAX_BLOCK_BITS];
} operand_map;

/* Of A: rows, then k. B is the same with rows and columns exchanged. */
static const operand_map inputs[] = {
#define INPUT(name, rows, ks, blocks) [IN_##name] = {LANE_MAP(rows, ks), LIST_LENGTH(blocks), {BARE blocks}},
#define OUTPUT(...)
#define ATOM(...)
#define UNIT(...)
#define OBLONG(...)
#define SPARSE(...)
#include "arch/matrix.def"
};

static const operand_map outputs[] = {
#define INPUT(...)
#define OUTPUT(name, rows, columns, blocks) \
    [OUT_##name] = {LANE_MAP(rows, columns), LIST_LENGTH(blocks), {BARE blocks}},
#define ATOM(...)
#define UNIT(...)
#define OBLONG(...)
#define SPARSE(...)
#include "arch/matrix.def"
};

struct tw_matrix_atom {
    uint32_t archs; /* bit tw_arch: the target has it */
    uint8_t wave_size;
    const char *name;
    uint16_t blocks, m, n, k;
    tw_matrix_format a, b, c, d;
    input_map input; /* of A */
    input_map input_b, index;
    output_map output;
    bool listed, sparse;
};

static const tw_matrix_atom atoms[] = {
#define ON(arch) (1u << TW_ARCH_##arch)
#define INPUT(...)
#define OUTPUT(...)
#define ATOM(archs, wave, name, m, n, k, a, b, d, input, output) \
    UNIT_ROW(archs, wave, name, 1, m, n, k, a, b, d, d, input, input, input, output, true, false)
#define UNIT(archs, wave, name, blocks, m, n, k, a, b, c, d, input, output) \
    UNIT_ROW(archs, wave, name, blocks, m, n, k, a, b, c, d, input, input, input, output, false, false)
#define OBLONG(archs, wave, name, m, n, k, a, b, c, d, input, input_b, output) \
    UNIT_ROW(archs, wave, name, 1, m, n, k, a, b, c, d, input, input_b, input, output, false, false)
#define SPARSE(archs, wave, name, m, n, k, a, b, c, d, input, input_b, index, output) \
    UNIT_ROW(archs, wave, name, 1, m, n, k, a, b, c, d, input, input_b, index, output, false, true)
#define UNIT_ROW(archs, wave, name, blocks, m, n, k, a, b, c, d, input, input_b, index, output, listed, \
                 sparse)                                                                                \
    {archs,                                                                                             \
     wave,                                                                                              \
     name,                                                                                              \
     blocks,                                                                                            \
     m,                                                                                                 \
     n,                                                                                                 \
     k,                                                                                                 \
     TW_MATRIX_##a,                                                                                     \
     TW_MATRIX_##b,                                                                                     \
     TW_MATRIX_##c,                                                                                     \
     TW_MATRIX_##d,                                                                                     \
     IN_##input,                                                                                        \
     IN_##input_b,                                                                                      \
     IN_##index,                                                                                        \
     OUT_##output,                                                                                      \
     listed,                                                                                            \
     sparse},
#include "arch/matrix.def"
};
#define ATOMS (sizeof atoms / sizeof atoms[0])

static const struct {
    const char *name;
    unsigned bits;
} formats[TW_MATRIX_FORMAT_COUNT] = {
    [TW_MATRIX_F16] = {"f16", 16}, [TW_MATRIX_BF16] = {"bf16", 16}, [TW_MATRIX_F32] = {"f32", 32},
    [TW_MATRIX_FP8] = {"fp8", 8},  [TW_MATRIX_BF8] = {"bf8", 8},    [TW_MATRIX_I8] = {"i8", 8},
    [TW_MATRIX_I32] = {"i32", 32}, [TW_MATRIX_F64] = {"f64", 64},   [TW_MATRIX_XF32] = {"xf32", 32},
    [TW_MATRIX_I4] = {"i4", 4},    [TW_MATRIX_FP6] = {"fp6", 6},    [TW_MATRIX_BF6] = {"bf6", 6},
    [TW_MATRIX_FP4] = {"fp4", 4},
};

const char *tw_matrix_format_name(tw_matrix_format format) {
    return (unsigned)format < TW_MATRIX_FORMAT_COUNT ? formats[format].name : NULL;
}

unsigned tw_matrix_format_bits(tw_matrix_format format) {
    return (unsigned)format < TW_MATRIX_FORMAT_COUNT ? formats[format].bits : 0;
}

static bool serves(const tw_matrix_atom *atom, tw_target target) {
    return tw_arch_get(target.arch) && atom->archs >> target.arch & 1 && atom->wave_size == target.wave_size;
}

const tw_matrix_atom *tw_matrix_atom_at(tw_target target, size_t index) {
    for (size_t i = 0; i < ATOMS; i++)
        if (atoms[i].listed && serves(&atoms[i], target) && !index--) return &atoms[i];
    return NULL;
}

const tw_matrix_atom *tw_matrix_atom_by_name(tw_target target, const char *name) {
    for (size_t i = 0; name && i < ATOMS; i++)
        if (atoms[i].listed && serves(&atoms[i], target) && !strcmp(atoms[i].name, name)) return &atoms[i];
    return NULL;
}

const tw_matrix_atom *tw_matrix_unit_by_name(tw_target target, const char *name) {
    for (size_t i = 0; name && i < ATOMS; i++)
        if (serves(&atoms[i], target) && !strcmp(atoms[i].name, name)) return &atoms[i];
    return NULL;
}

uint32_t tw_matrix_atom_targets(const char *name) {
    uint32_t targets = 0;
    for (size_t i = 0; name && i < ATOMS; i++)
        if (atoms[i].listed && !strcmp(atoms[i].name, name)) targets |= atoms[i].archs;
    return targets;
}

static const operand_map *map_of(const tw_matrix_atom *atom, tw_matrix_operand operand) {
    switch (operand) {
    case TW_MATRIX_D: return &outputs[atom->output];
    case TW_MATRIX_B: return &inputs[atom->input_b];
    case TW_MATRIX_INDEX: return &inputs[atom->index];
    default: return &inputs[atom->input];
    }
}

/* Up to the highest bit that the map names: one below it that it leaves out counts too. */
static uint16_t slots_of(const operand_map *map) {
    unsigned bits = 0;
    for (unsigned i = 0; i < map->element.row_bits; i++)
        if (map->element.row[i] >= TW_SLOT_BIT0 + bits) bits = map->element.row[i] - TW_SLOT_BIT0 + 1u;
    for (unsigned i = 0; i < map->element.column_bits; i++)
        if (map->element.column[i] >= TW_SLOT_BIT0 + bits) bits = map->element.column[i] - TW_SLOT_BIT0 + 1u;
    for (unsigned i = 0; i < map->block_bits; i++)
        if (map->block[i] >= TW_SLOT_BIT0 + bits) bits = map->block[i] - TW_SLOT_BIT0 + 1u;
    return (uint16_t)(1u << bits);
}

tw_matrix_info tw_matrix_atom_info(const tw_matrix_atom *atom) {
    uint16_t a = slots_of(map_of(atom, TW_MATRIX_A)), b = slots_of(map_of(atom, TW_MATRIX_B)),
             out = slots_of(map_of(atom, TW_MATRIX_D));
    return (tw_matrix_info){.name = atom->name,
                            .wave_size = atom->wave_size,
                            .m = atom->m,
                            .n = atom->n,
                            .k = atom->k,
                            .blocks = atom->blocks,
                            .a = atom->a,
                            .b = atom->b,
                            .d = atom->d,
                            .slots = {a, b, out},
                            .sparse = atom->sparse,
                            .c = atom->c};
}

tw_lane_map tw_matrix_lane_map(const tw_matrix_atom *atom, tw_matrix_operand operand) {
    tw_lane_map map = map_of(atom, operand)->element;
    if (operand != TW_MATRIX_B) return map;
    tw_lane_map b = {.row_bits = map.column_bits, .column_bits = map.row_bits};
    memcpy(b.row, map.column, sizeof b.row);
    memcpy(b.column, map.row, sizeof b.column);
    return b;
}

static bool has_operand(const tw_matrix_atom *atom, tw_matrix_operand operand) {
    return atom && ((unsigned)operand <= TW_MATRIX_D || (operand == TW_MATRIX_INDEX && atom->sparse));
}

static bool holds(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane, unsigned slot) {
    return has_operand(atom, operand) && lane < atom->wave_size && slot < slots_of(map_of(atom, operand));
}

tw_status tw_matrix_element(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane,
                            unsigned slot, unsigned *row, unsigned *column) {
    if (!holds(atom, operand, lane, slot)) return TW_ERR_USAGE;
    tw_lane_map map = tw_matrix_lane_map(atom, operand);
    tw_lane_map_element(&map, lane, slot, row, column);
    return TW_OK;
}

/* The blocks as the rows of a map of their own. */
static tw_lane_map block_map(const operand_map *map) {
    tw_lane_map blocks = {.row_bits = map->block_bits};
    memcpy(blocks.row, map->block, sizeof map->block);
    return blocks;
}

tw_status tw_matrix_block(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane, unsigned slot,
                          unsigned *block) {
    unsigned none;
    if (!holds(atom, operand, lane, slot)) return TW_ERR_USAGE;
    tw_lane_map blocks = block_map(map_of(atom, operand));
    tw_lane_map_element(&blocks, lane, slot, block, &none);
    return TW_OK;
}

tw_status tw_matrix_place(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned block, unsigned row,
                          unsigned column, unsigned *lane, unsigned *slot) {
    if (!has_operand(atom, operand) || block >= atom->blocks) return TW_ERR_USAGE;
    bool of_a = operand == TW_MATRIX_A || operand == TW_MATRIX_INDEX;
    unsigned a_columns = atom->sparse ? atom->k / 2u : atom->k;
    if (row >= (operand == TW_MATRIX_B ? atom->k : atom->m) || column >= (of_a ? a_columns : atom->n))
        return TW_ERR_USAGE;
    tw_lane_map map = tw_matrix_lane_map(atom, operand), blocks = block_map(map_of(atom, operand));
    unsigned block_lane, block_slot;
    tw_lane_map_place(&map, row, column, lane, slot);
    tw_lane_map_place(&blocks, block, 0, &block_lane, &block_slot);
    *lane |= block_lane;
    *slot |= block_slot;
    return TW_OK;
}

unsigned tw_matrix_copies(const tw_matrix_atom *atom, tw_matrix_operand operand) {
    const operand_map *map = map_of(atom, operand);
    unsigned free_bits = atom->wave_size - 1u;
    for (unsigned i = 0; i < map->element.row_bits; i++)
        free_bits &= ~(map->element.row[i] < TW_SLOT_BIT0 ? 1u << map->element.row[i] : 0);
    for (unsigned i = 0; i < map->element.column_bits; i++)
        free_bits &= ~(map->element.column[i] < TW_SLOT_BIT0 ? 1u << map->element.column[i] : 0);
    for (unsigned i = 0; i < map->block_bits; i++)
        free_bits &= ~(map->block[i] < TW_SLOT_BIT0 ? 1u << map->block[i] : 0);
    return free_bits;
}
