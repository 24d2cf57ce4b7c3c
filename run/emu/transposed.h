/* Loads that transpose a tile between the lanes of a wave. */
#ifndef TW_RUN_EMU_TRANSPOSED_H
#define TW_RUN_EMU_TRANSPOSED_H

#include "run/emu/bind.h"

enum {
#define TRANSPOSED(mnemonic, space, bytes, name, alignment) EMU_TRANSPOSED_##mnemonic,
#include "run/emu/transposed.def"
#undef TRANSPOSED
    EMU_TRANSPOSED_COUNT
};

/* After the load itself is bound: its map, or a reason. */
void tw_emu_bind_transposed(emu_binding *b);
/* Exchanges what the lanes loaded, both blocks of a wave at once: `words` registers of 32 lanes each. `any`
 * says for each block whether `unknown` was filled, and then holds for both. All lanes must take part. */
void tw_emu_transpose(tw_emu_wave *w, const emu_inst *i, uint32_t *const *value, uint32_t *const *unknown,
                      bool any[2], unsigned words);

/* Reports the first lane whose LDS address is no multiple of what the instruction needs. */
void tw_emu_transposed_alignment(tw_emu_wave *w, const emu_inst *i, unsigned half, const uint32_t *offset,
                                 uint32_t active);

#endif
