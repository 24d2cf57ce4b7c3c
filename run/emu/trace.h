/* Callbacks around instructions. */
#ifndef TW_RUN_EMU_TRACE_H
#define TW_RUN_EMU_TRACE_H

#include "run/emu/schedule.h"

/* What an instruction finds: the difference is what it wrote. */
typedef struct emu_trace_state {
    uint32_t s[EMU_S_COUNT];
    unsigned scc;
    uint64_t exec;
} emu_trace_state;

/* Call the launch's functions before and after the instruction. False where one of them ends the launch. */
bool tw_emu_trace_before(tw_emu_wave *w, const emu_inst *i, emu_trace_state *before);
bool tw_emu_trace_after(tw_emu_wave *w, const emu_inst *i, const emu_trace_state *before);

#endif
