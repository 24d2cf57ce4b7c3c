/* Calls of lane functions under another rounding mode than the host's usual one. */
#ifndef TW_RUN_EMU_VALU_H
#define TW_RUN_EMU_VALU_H

#include "run/emu/state.h"

uint32_t tw_emu_call_rounded(const tw_emu_wave *w, const emu_inst *i, uint32_t *d, const uint32_t *a,
                             const uint32_t *b, const uint32_t *c, uint32_t mask);

#endif
