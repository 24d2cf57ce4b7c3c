/* Other programs, each in a process of its own with limits of time and memory. Safe to use from several
 * threads. */
#ifndef TW_TOOLS_CHILD_H
#define TW_TOOLS_CHILD_H

#include "support/diag.h"
#include "support/strbuf.h"

typedef struct child_result {
    bool timed_out;
    int signal;    /* that ended it; 0 */
    int exit_code; /* otherwise */
} child_result;

/* Runs argv (NULL-terminated; argv[0] is a path) and appends what it writes, to either stream, to `output`.
 * Fails where no process can be started; how the program ended stands in `result`. */
tw_status child_run(const char *const *argv, unsigned milliseconds, tw_strbuf *output, child_result *result,
                    tw_diag *diag);

#endif
