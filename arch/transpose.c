#include "arch/transpose.h"

#include <string.h>

#include "arch/lane_bits.h"

typedef enum source { FROM_LDS, FROM_GLOBAL } source;

static const struct {
    source from;
    tw_arch arch;
    tw_transposed_read read;
} reads[] = {
#define TRANSPOSED_READ(from, arch, name, bits, wave, slots, memory_rows, memory_columns, rows, columns) \
    {FROM_##from,                                                                                        \
     TW_ARCH_##arch,                                                                                     \
     {name, wave, slots, LANE_MAP(memory_rows, memory_columns), LANE_MAP(rows, columns), bits}},
#include "arch/transpose.def"
};

static const tw_transposed_read *find(source from, tw_target target) {
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].from == from && reads[i].arch == target.arch &&
            reads[i].read.wave_size == target.wave_size)
            return &reads[i].read;
    return NULL;
}

const tw_transposed_read *tw_transposed_lds_read(tw_target target) { return find(FROM_LDS, target); }

const tw_transposed_read *tw_transposed_global_load(tw_target target) { return find(FROM_GLOBAL, target); }

const tw_transposed_read *tw_transposed_by_name(tw_target target, const char *name) {
    for (size_t i = 0; name && i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].arch == target.arch && reads[i].read.wave_size == target.wave_size &&
            !strcmp(reads[i].read.name, name))
            return &reads[i].read;
    return NULL;
}

tw_status tw_transposed_source(const tw_transposed_read *read, unsigned lane, unsigned slot,
                               unsigned *source_lane, unsigned *source_slot) {
    if (!read || lane >= read->wave_size || slot >= read->slots) return TW_ERR_USAGE;
    unsigned row, column;
    tw_lane_map_element(&read->registers, lane, slot, &row, &column);
    tw_lane_map_place(&read->memory, row, column, source_lane, source_slot);
    return TW_OK;
}
