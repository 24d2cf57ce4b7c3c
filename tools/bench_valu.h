/* How fast the emulator executes code that hardly leaves the vector unit. */
#ifndef TW_TOOLS_BENCH_VALU_H
#define TW_TOOLS_BENCH_VALU_H

#include "jit/compiler.h"

typedef struct bench_valu_result {
    double rate;  /* millions of wave instructions in a second of one processor's time */
    double share; /* of them on the vector unit, in percent */
} bench_valu_result;

/* The targets that are measured, NULL past the last: all of wave32. */
const char *bench_valu_target(size_t index);
/* The caller keeps the process on one processor. */
tw_status bench_valu_run(size_t index, tw_compiler *compiler, bench_valu_result *result, tw_diag *diag);

#endif
