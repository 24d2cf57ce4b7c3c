/* Handlers for what compilers mostly emit: operands without anything unknown, modes at their defaults. They
 * look whether that holds, and call the general handler where it does not. */
#ifndef TW_RUN_EMU_FAST_H
#define TW_RUN_EMU_FAST_H

#include "run/emu/exec.h"

enum { EMU_FAST_SOURCES = 3 };

/* Rows of arrays: 1 to 3 sources. Columns: whether a NaN may come out. */
typedef struct emu_fast_handlers {
    emu_exec_fn plain[EMU_FAST_SOURCES][2];    /* instead of tw_emu_exec_vector */
    emu_exec_fn modified[EMU_FAST_SOURCES][2]; /* of tw_emu_exec_vector_full */
    emu_exec_fn compare[2];                    /* of tw_emu_exec_compare: without and with modifiers */
    emu_exec_fn dual;                          /* of tw_emu_exec_dual */
} emu_fast_handlers;

extern const emu_fast_handlers tw_emu_fast_base, tw_emu_fast_v3;
/* Those that this host can run (lanes.c). */
const emu_fast_handlers *tw_emu_fast_handlers(void);

/* The handler to use for a bound instruction: the one that it has where there is no faster. */
emu_exec_fn tw_emu_fast_handler(const emu_inst *i);
/* The same for scalar instructions (salu.c). */
emu_exec_fn tw_emu_fast_scalar(const emu_inst *i);

#endif
