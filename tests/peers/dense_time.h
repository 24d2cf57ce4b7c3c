/* Wall time of the compiles of one case. */
#ifndef TW_TESTS_PEERS_DENSE_TIME_H
#define TW_TESTS_PEERS_DENSE_TIME_H

#include "tests/peers/dense.h"

void dense_time_heading(void);
/* Prints medians of `repeat` compiles: the library in this process, `command` and clang as processes, and
 * with `python` (or NULL) Triton, warm, in a process of its own, for the case's first configuration of each
 * form. */
tw_status dense_time(const dense_case *c, const tw_instance *instance, const char *command,
                     const char *python, unsigned repeat, tw_diag *diag);

#endif
