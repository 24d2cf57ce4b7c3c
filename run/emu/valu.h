/* What handlers of vector instructions share. */
#ifndef TW_RUN_EMU_VALU_H
#define TW_RUN_EMU_VALU_H

#include "run/emu/state.h"

/* The sources of one block of 32 lanes, modifiers applied. */
typedef struct emu_block_sources {
    const uint32_t *s[3];
    uint32_t mask;
} emu_block_sources;

/* Calls the lane function under the rounding mode of the wave. */
uint32_t tw_emu_call_rounded(const tw_emu_wave *w, const emu_inst *i, uint32_t *d, const uint32_t *a,
                             const uint32_t *b, const uint32_t *c, uint32_t mask);
/* Gives the NaNs among the results `d` the bits that the ISA says. `d` must not be a source. */
void tw_emu_fix_nans(const emu_inst *i, uint32_t *d, const emu_block_sources *src);
/* Whether a * b + c, of floats or halves, is below the smallest normal number also when it is rounded as if
 * there were smaller ones. */
bool tw_emu_is_tiny(bool single, double a, double b, double c, int direction);
/* Makes zeros of the results `d` that are the smallest normal number only because denormals are rounded more
 * coarsely: modes that flush look before that (gfx1201: fp_mode.h of AMD's emulator, captures of
 * github.com/bjacob/goc). */
void tw_emu_flush_tiny(const emu_inst *i, const emu_block_sources *src, int direction, uint32_t *d);
int tw_emu_host_direction(unsigned mode);

#endif
