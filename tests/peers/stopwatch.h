/* Wall time of compiles, in milliseconds: medians of `repeat`. */
#ifndef TW_TESTS_PEERS_STOPWATCH_H
#define TW_TESTS_PEERS_STOPWATCH_H

#include "instances/instance.h"

/* A process is measured from its start to its end, as a build system waits for it. `words` ends with NULL. */
tw_status stopwatch_process(const char *const *words, unsigned repeat, double *out, tw_diag *diag);
/* The instance's first kernel, built, lowered, compiled and linked in this process, without a cache. *first
 * is the time of the first one, with the compiler opened. */
tw_status stopwatch_library(const tw_instance *instance, const char *target, unsigned repeat, double *first,
                            double *out, tw_diag *diag);
/* The same by the command `command`, with the process that it is. */
tw_status stopwatch_command(const tw_instance *instance, const char *target, const char *command,
                            unsigned repeat, double *out, tw_diag *diag);
/* clang's compile of the peers' source for the target, with its -D options (NULL at the end) and that of its
 * lanes. */
tw_status stopwatch_clang(const char *target, const char *const *defines, unsigned repeat, double *out,
                          tw_diag *diag);

#endif
