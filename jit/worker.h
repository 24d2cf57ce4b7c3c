/* Work in a process of its own: a crash, a hang or a hunger for memory costs one result, not the program. */
#ifndef TW_JIT_WORKER_H
#define TW_JIT_WORKER_H

#include "jit/compiler.h"

/* What runs in the child: makes malloc'ed bytes or fails with a diagnostic. `times` is the child's copy. */
typedef tw_status (*tw_worker_function)(void *argument, tw_compile_times *times, tw_diag *diag,
                                        uint8_t **bytes, size_t *size);

/* Forks, runs `function` in the child within the limits, and hands over what it made: bytes, times, status
 * and diagnostics. A child that dies gives TW_ERR_COMPILE, and one that reaches a limit TW_ERR_LIMIT, with a
 * diagnostic about `name` that holds the last words on its standard error.
 *
 * fork() copies the calling thread alone. A thread that holds one of LLVM's internal locks at that moment
 * leaves it locked in the child, which then ends at its time limit: so compile in workers only, or in this
 * process only, while other threads compile too. comgr's locks are free: a fork waits for its actions. */
tw_status tw_worker_run(const tw_worker_limits *limits, const char *name, tw_worker_function function,
                        void *argument, tw_compile_times *times, uint8_t **bytes, size_t *size,
                        tw_diag *diag);

#endif
