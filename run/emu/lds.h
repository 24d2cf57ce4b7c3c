/* What instructions on LDS share. */
#ifndef TW_RUN_EMU_LDS_H
#define TW_RUN_EMU_LDS_H

#include "run/emu/access.h"

/* Byte offsets of the lanes of one block; the lanes that have one. */
uint32_t tw_emu_lds_offsets(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *offset);
/* An address that no LDS has, and by which a generator masks a lane, where launches let it. */
static inline bool tw_emu_lds_masks(const tw_emu_wave *w, uint32_t address) {
    return address >= 0x7fffffff && !w->launch->check_lds_range;
}
/* The lanes of a block that are masked so, with `at` added to their offsets. */
uint32_t tw_emu_lds_masked(const tw_emu_wave *w, const uint32_t *offset, uint32_t at);
/* What is added to them, once or twice, from the kind of access. */
unsigned tw_emu_lds_parts(const emu_inst *i, unsigned bytes, uint32_t at[2]);
/* Counts the extra cycles of `parts` accesses. */
void tw_emu_lds_count_conflicts(tw_emu_wave *w, const uint32_t *offset, uint32_t active, unsigned bytes,
                                unsigned parts);
/* The data of a lane, and its unknown bits. */
void tw_emu_lds_lane_data(const tw_emu_wave *w, const emu_inst *i, const emu_operand *o, unsigned half,
                          unsigned l, uint32_t *v, uint32_t *u);

#endif
