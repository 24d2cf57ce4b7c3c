/* One run of a program: bytes in, bytes out, within limits. */
#ifndef TW_JIT_CHILD_PROCESS_H
#define TW_JIT_CHILD_PROCESS_H

#include "jit/compiler.h"

typedef struct tw_child {
    /* in */
    const char *const *arguments; /* the path of the program first, NULL last */
    const void *input; /* on its standard input, which is a file that it can name /proc/self/fd/0 */
    size_t input_size;
    tw_worker_limits limits; /* 0: the defaults; `memory_bytes` is all that the program may have */
    /* out: malloc'ed, terminated; free both, also after an error */
    uint8_t *output;
    size_t output_size;
    char *words;    /* its standard error */
    int exit_code;  /* -1 where a signal ended it */
    int end_signal; /* 0 where none did */
} tw_child;

/* Runs it to its end. TW_ERR_IO where it cannot be started, TW_ERR_LIMIT where its time was up; a program
 * that fails or crashes is no error here. Threads may run children at once. */
tw_status tw_child_run(tw_child *child, tw_diag *diag);

#endif
