/* One run of a program: bytes in, bytes out, within limits. */
#ifndef TW_JIT_CHILD_PROCESS_H
#define TW_JIT_CHILD_PROCESS_H

#include "jit/compiler.h"

typedef struct tw_child {
    /* in */
    const char *const *arguments; /* the path of the program first, NULL last */
    const void *input; /* on its standard input, which is a file that it can name /proc/self/fd/0 */
    size_t input_size;
    tw_worker_limits limits;        /* 0: the defaults; `memory_bytes` is all that the program may have */
    const char *const *environment; /* NULL: this process's; NULL last */
    /* out: malloc'ed, terminated; free both, also after an error */
    uint8_t *output;
    size_t output_size;
    char *words;    /* its standard error */
    int exit_code;  /* -1 where a signal ended it; TW_CHILD_NOT_RUN */
    int end_signal; /* 0 where none did */
    bool timed_out; /* it was ended by a signal of ours */
} tw_child;

#define TW_CHILD_NOT_RUN 127 /* as of a shell: the program, or what its script starts, cannot be executed */

/* Runs it to its end, with which all ends that it started and left. TW_ERR_IO where it cannot be started or
 * waited for; a program that fails, crashes or reaches a limit is no error here. Threads may run children at
 * once. */
tw_status tw_child_run(tw_child *child, tw_diag *diag);

/* For a process of ours after its fork: at most `value` of a resource, RLIMIT_*. A limit that is lower stays.
 */
void tw_child_lower_limit(int resource, uint64_t value);

#endif
