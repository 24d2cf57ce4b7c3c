#include "arch/matrix.h"

#include <string.h>

#include "arch/lane_bits.h"

typedef enum input_map {
#define INPUT(name, rows, ks) IN_##name,
#define OUTPUT(...)
#define ATOM(...)
#include "arch/matrix.def"
} input_map;

typedef enum output_map {
#define INPUT(...)
#define OUTPUT(name, rows, columns) OUT_##name,
#define ATOM(...)
#include "arch/matrix.def"
} output_map;

/* Of A: rows, then k. B is the same with rows and columns exchanged. */
static const tw_lane_map inputs[] = {
#define INPUT(name, rows, ks) [IN_##name] = LANE_MAP(rows, ks),
#define OUTPUT(...)
#define ATOM(...)
#include "arch/matrix.def"
};

static const tw_lane_map outputs[] = {
#define INPUT(...)
#define OUTPUT(name, rows, columns) [OUT_##name] = LANE_MAP(rows, columns),
#define ATOM(...)
#include "arch/matrix.def"
};

struct tw_matrix_atom {
    uint32_t archs; /* bit tw_arch: the target has it */
    uint8_t wave_size;
    const char *name;
    uint16_t m, n, k;
    tw_matrix_format a, b, d;
    input_map input;
    output_map output;
};

static const tw_matrix_atom atoms[] = {
#define ON(arch) (1u << TW_ARCH_##arch)
#define INPUT(...)
#define OUTPUT(...)
#define ATOM(archs, wave, name, m, n, k, a, b, d, input, output) \
    {archs, wave, name, m, n, k, TW_MATRIX_##a, TW_MATRIX_##b, TW_MATRIX_##d, IN_##input, OUT_##output},
#include "arch/matrix.def"
};
#define ATOMS (sizeof atoms / sizeof atoms[0])

static const struct {
    const char *name;
    unsigned bits;
} formats[TW_MATRIX_FORMAT_COUNT] = {
    [TW_MATRIX_F16] = {"f16", 16}, [TW_MATRIX_BF16] = {"bf16", 16}, [TW_MATRIX_F32] = {"f32", 32},
    [TW_MATRIX_FP8] = {"fp8", 8},  [TW_MATRIX_BF8] = {"bf8", 8},    [TW_MATRIX_I8] = {"i8", 8},
    [TW_MATRIX_I32] = {"i32", 32}, [TW_MATRIX_F64] = {"f64", 64},
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
        if (serves(&atoms[i], target) && !index--) return &atoms[i];
    return NULL;
}

const tw_matrix_atom *tw_matrix_atom_by_name(tw_target target, const char *name) {
    for (size_t i = 0; name && i < ATOMS; i++)
        if (serves(&atoms[i], target) && !strcmp(atoms[i].name, name)) return &atoms[i];
    return NULL;
}

uint32_t tw_matrix_atom_targets(const char *name) {
    uint32_t targets = 0;
    for (size_t i = 0; name && i < ATOMS; i++)
        if (!strcmp(atoms[i].name, name)) targets |= atoms[i].archs;
    return targets;
}

tw_matrix_info tw_matrix_atom_info(const tw_matrix_atom *atom) {
    uint16_t in = (uint16_t)tw_lane_map_slots(&inputs[atom->input]);
    uint16_t out = (uint16_t)tw_lane_map_slots(&outputs[atom->output]);
    return (tw_matrix_info){.name = atom->name,
                            .wave_size = atom->wave_size,
                            .m = atom->m,
                            .n = atom->n,
                            .k = atom->k,
                            .blocks = 1,
                            .a = atom->a,
                            .b = atom->b,
                            .d = atom->d,
                            .slots = {in, in, out}};
}

tw_lane_map tw_matrix_lane_map(const tw_matrix_atom *atom, tw_matrix_operand operand) {
    if (operand == TW_MATRIX_D) return outputs[atom->output];
    tw_lane_map map = inputs[atom->input];
    if (operand == TW_MATRIX_A) return map;
    tw_lane_map b = {.row_bits = map.column_bits, .column_bits = map.row_bits};
    memcpy(b.row, map.column, sizeof b.row);
    memcpy(b.column, map.row, sizeof b.column);
    return b;
}

tw_status tw_matrix_element(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane,
                            unsigned slot, unsigned *row, unsigned *column) {
    if (!atom || (unsigned)operand > TW_MATRIX_D || lane >= atom->wave_size) return TW_ERR_USAGE;
    tw_lane_map map = tw_matrix_lane_map(atom, operand);
    if (slot >= tw_lane_map_slots(&map)) return TW_ERR_USAGE;
    tw_lane_map_element(&map, lane, slot, row, column);
    return TW_OK;
}
