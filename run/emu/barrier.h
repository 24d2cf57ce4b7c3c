/* Barriers: of the workgroup, of a cluster of one workgroup, and the named ones of gfx1250. */
#ifndef TW_RUN_EMU_BARRIER_H
#define TW_RUN_EMU_BARRIER_H

#include "run/emu/schedule.h"

void tw_emu_barrier_start(emu_group *g); /* a workgroup begins */
/* A wave ended: it may have been the last that others waited for. */
void tw_emu_barrier_wave_ended(tw_emu_wave *w);
/* No wave can go on: whoever waits does so for ever. */
void tw_emu_barrier_stuck(emu_group *g);

#endif
