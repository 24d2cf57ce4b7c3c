/* Wall time of compiles of depthwise kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/fail.h"
#include "tests/peers/peers.h"
#include "tests/peers/stopwatch.h"

static tw_status time_clang(const peer_case *c, peer_form form, unsigned repeat, double *out, tw_diag *diag) {
    char arch[40], type[24], filter[24], lanes[24], window[24];
    tw_target target;
    tw_status status = tw_target_parse(c->target, &target, diag);
    if (status) return status;
    snprintf(arch, sizeof arch, "--offload-arch=%s", c->target);
    snprintf(type, sizeof type, "-DPEER_T=%s", c->dtype);
    snprintf(filter, sizeof filter, "-DPEER_K=%d", c->filter);
    snprintf(lanes, sizeof lanes, "-DPEER_LANES=%d", (int)target.wave_size);
    snprintf(window, sizeof window, "-DPEER_WINDOW=%d", form == PEER_WINDOW);
    const char *words[] = {PEER_CLANG,
                           "-x",
                           "hip",
                           "--cuda-device-only",
                           "-nogpulib",
                           "-nogpuinc",
                           "--no-gpu-bundle-output",
                           "-O3",
                           "-munsafe-fp-atomics",
                           "-I",
                           PEER_ROOT,
                           "-DPEER_STRIDE=1",
                           arch,
                           type,
                           filter,
                           lanes,
                           window,
                           "-o",
                           "/dev/null",
                           PEER_SOURCE,
                           NULL};
    return stopwatch_process(words, repeat, out, diag);
}

static tw_status time_command(const peer_case *c, const char *command, unsigned repeat, double *out,
                              tw_diag *diag) {
    char kh[16], kw[16], dtype[24], path[] = "/tmp/peer-XXXXXX";
    snprintf(kh, sizeof kh, "kh=%d", c->filter);
    snprintf(kw, sizeof kw, "kw=%d", c->filter);
    snprintf(dtype, sizeof dtype, "dtype=%s", c->dtype);
    int file = mkstemp(path);
    if (file < 0) return tw_fail(diag, TW_ERR_IO, "%s cannot be made", path);
    close(file);
    const char *words[] = {command,  "compile",    "direct_wgrad_depthwise",
                           kh,       kw,           dtype,
                           "--arch", c->target,    "--compiler",
                           "llvm",   "--no-cache", "-o",
                           path,     NULL};
    tw_status status = stopwatch_process(words, repeat, out, diag);
    unlink(path);
    return status;
}

static tw_status time_library(const peer_case *c, unsigned repeat, double *first, double *out,
                              tw_diag *diag) {
    static const char *const no_sizes[] = {NULL};
    tw_instance instance;
    tw_status status = peer_instance(c, no_sizes, &instance, diag);
    return status ? status : stopwatch_library(&instance, c->target, repeat, first, out, diag);
}

tw_status peer_time(const peer_case *c, const char *command, unsigned repeat, tw_diag *diag) {
    double first = 0, library = 0, process = 0, clang[PEER_FORMS] = {0};
    tw_status status = time_library(c, repeat, &first, &library, diag);
    if (!status) status = time_command(c, command, repeat, &process, diag);
    for (int form = 0; !status && form < PEER_FORMS; form++)
        status = time_clang(c, (peer_form)form, repeat, &clang[form], diag);
    if (status) return status;
    printf("| %s | %s %dx%d | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f |\n", c->target, c->dtype, c->filter,
           c->filter, first, library, process, clang[PEER_CHECKED], clang[PEER_WINDOW],
           clang[PEER_WINDOW] / process);
    fflush(stdout);
    return TW_OK;
}
