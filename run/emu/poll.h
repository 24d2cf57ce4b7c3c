/* Loops that wait until another wave has stored something. */
#ifndef TW_RUN_EMU_POLL_H
#define TW_RUN_EMU_POLL_H

#include "run/emu/state.h"

#define EMU_POLL_LOOP 64u /* instructions of the longest loop that is looked at */

/* `loop`: the instructions of a loop, its branch back the last one. Where it does nothing but wait, its loads
 * that may be of LDS get EMU_I_POLLS; whether there are any. */
bool tw_emu_mark_polls(emu_inst *const *loop, unsigned count);
/* The first look may stand before such a loop: the same load of the same place. False where what comes before
 * `before` does not matter any more. */
bool tw_emu_mark_first_look(emu_inst *before, emu_inst *const *loop, unsigned count);

#endif
