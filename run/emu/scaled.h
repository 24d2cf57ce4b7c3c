/* Conversions with a scale (scaled.def). */
#ifndef TW_RUN_EMU_SCALED_H
#define TW_RUN_EMU_SCALED_H

#include "run/emu/bind.h"

/* Instructions, in the order of scaled.def. */
enum {
#define SCALED(mnemonic, elements, to, from, flags) EMU_SCALED_##mnemonic,
#include "run/emu/scaled.def"
#undef SCALED
    EMU_SCALED_COUNT
};

void tw_emu_bind_scaled(emu_binding *b);

#endif
