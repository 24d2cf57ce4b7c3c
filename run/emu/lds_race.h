/* Who touched which byte of LDS, and whether a barrier stood between. */
#ifndef TW_RUN_EMU_LDS_RACE_H
#define TW_RUN_EMU_LDS_RACE_H

#include "run/emu/access.h"

tw_status tw_emu_lds_race_init(emu_group *group);
void tw_emu_lds_race_start(emu_group *group);  /* a workgroup begins */
void tw_emu_lds_race_finish(emu_group *group); /* ... and has ended */
/* The wave signals a barrier, whose clock learns of all that the wave did. */
void tw_emu_lds_race_signal(tw_emu_wave *w, uint32_t *clock);
void tw_emu_lds_race_barrier(emu_group *group); /* all waves of the workgroup have */
/* The wave passes a barrier. */
void tw_emu_lds_race_wait(tw_emu_wave *w, const uint32_t *clock);
/* An access; `returns`: an atomic whose result the wave sees. */
void tw_emu_lds_race_touch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                           bool returns);

/* Loads of the lanes of a block. */
void tw_emu_lds_race_loads(tw_emu_wave *w, unsigned first_lane, const uint64_t *offset, uint32_t lanes,
                           unsigned bytes);
/* ... and stores, of `value` (32 lanes a word) from bit `shift` on. */
void tw_emu_lds_race_stores(tw_emu_wave *w, unsigned first_lane, const uint64_t *offset, uint32_t lanes,
                            unsigned bytes, const uint32_t *value, unsigned shift);

#endif
