/* How fast the emulator multiplies matrices. */
#ifndef TW_TOOLS_BENCH_MATRIX_H
#define TW_TOOLS_BENCH_MATRIX_H

#include "jit/compiler.h"

/* The instructions that are measured, NULL past the last. */
const char *bench_matrix_name(size_t index);
/* Millions a second that it should reach; 0: none is set. */
double bench_matrix_goal(size_t index);
/* Millions of instructions in a second of one processor's time. The caller keeps the process on one
 * processor. */
tw_status bench_matrix_rate(size_t index, tw_compiler *compiler, double *rate, tw_diag *diag);

#endif
