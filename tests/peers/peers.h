/* The comparison's two halves: what kernels execute, and what their compiles take. */
#ifndef TW_TESTS_PEERS_H
#define TW_TESTS_PEERS_H

#include "instances/instance.h"

typedef struct peer_case {
    const char *target, *dtype;
    int filter;
} peer_case;

/* The forms of depthwise.hip, and what another compiler made. */
typedef enum peer_form { PEER_CHECKED, PEER_WINDOW, PEER_FORMS, PEER_TRITON = PEER_FORMS } peer_form;
extern const char *const peer_form_names[PEER_FORMS];

/* The library's instance of a case, on `sizes`: words "n=4", NULL-terminated. */
tw_status peer_instance(const peer_case *c, const char *const *sizes, tw_instance *out, tw_diag *diag);
/* Prints medians of `repeat` compiles of one case: clang as a process, `command` as a process, the library in
 * this one. */
tw_status peer_time(const peer_case *c, const char *command, unsigned repeat, tw_diag *diag);

#endif
