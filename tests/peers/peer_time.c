/* Wall time of compiles of depthwise kernels. */
#include <stdio.h>

#include "support/fail.h"
#include "tests/peers/peers.h"
#include "tests/peers/stopwatch.h"

static tw_status time_clang(const peer_case *c, peer_form form, unsigned repeat, double *out, tw_diag *diag) {
    char type[24], filter[24], window[24];
    snprintf(type, sizeof type, "-DPEER_T=%s", c->dtype);
    snprintf(filter, sizeof filter, "-DPEER_K=%d", c->filter);
    snprintf(window, sizeof window, "-DPEER_WINDOW=%d", form == PEER_WINDOW);
    const char *const defines[] = {"-DPEER_STRIDE=1", type, filter, window, NULL};
    return stopwatch_clang(c->target, defines, repeat, out, diag);
}

tw_status peer_time(const peer_case *c, const char *command, unsigned repeat, tw_diag *diag) {
    double first = 0, library = 0, process = 0, clang[PEER_FORMS] = {0};
    static const char *const no_sizes[] = {NULL};
    tw_instance instance;
    tw_status status = peer_instance(c, no_sizes, &instance, diag);
    if (!status) status = stopwatch_library(&instance, c->target, repeat, &first, &library, diag);
    if (!status) status = stopwatch_command(&instance, c->target, command, repeat, &process, diag);
    for (int form = 0; !status && form < PEER_FORMS; form++)
        status = time_clang(c, (peer_form)form, repeat, &clang[form], diag);
    if (status) return status;
    printf("| %s | %s %dx%d | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f |\n", c->target, c->dtype, c->filter,
           c->filter, first, library, process, clang[PEER_CHECKED], clang[PEER_WINDOW],
           clang[PEER_WINDOW] / process);
    fflush(stdout);
    return TW_OK;
}
