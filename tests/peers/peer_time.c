/* Wall time of compiles. A process is measured from its start to its end, as a build system waits for it. */
#include "tests/peers/peers.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jit/compile.h"
#include "support/fail.h"

extern char **environ;
enum { MAX_REPEAT = 100 };

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *samples, unsigned count) {
    qsort(samples, count, sizeof *samples, compare);
    return samples[count / 2];
}

static tw_status run_process(const char *const *words, unsigned repeat, double *out, tw_diag *diag) {
    double samples[MAX_REPEAT];
    for (unsigned i = 0; i < repeat; i++) {
        double start = now_ms();
        pid_t child;
        int status = 0, error = posix_spawnp(&child, words[0], NULL, NULL, (char *const *)words, environ);
        if (error) return tw_fail(diag, TW_ERR_IO, "%s: %s", words[0], strerror(error));
        if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status))
            return tw_fail(diag, TW_ERR_COMPILE, "%s failed (status %d)", words[0], status);
        samples[i] = now_ms() - start;
    }
    *out = median(samples, repeat);
    return TW_OK;
}

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
    return run_process(words, repeat, out, diag);
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
    tw_status status = run_process(words, repeat, out, diag);
    unlink(path);
    return status;
}

/* Builds, lowers, compiles and links the first kernel of the instance, without a cache. */
static tw_status compile_once(const tw_instance *instance, tw_target target, tw_compiler *compiler,
                              tw_diag *diag) {
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return tw_fail_no_memory(diag);
    tw_kernel *kernel = tw_instance_build(ctx, instance, target);
    tw_code_object *object = NULL;
    tw_status status = kernel ? tw_compile(compiler, kernel, &(tw_compile_options){0}, &object, diag)
                              : tw_fail(diag, TW_ERR_INVALID, "the instance cannot be built");
    tw_code_object_release(object);
    tw_context_free(ctx);
    return status;
}

static tw_status time_library(const peer_case *c, unsigned repeat, double *first, double *out,
                              tw_diag *diag) {
    static const char *const no_sizes[] = {NULL};
    double samples[MAX_REPEAT];
    tw_instance instance;
    tw_target target;
    tw_compiler *compiler = NULL;
    double start = now_ms();
    tw_status status = tw_target_parse(c->target, &target, diag);
    if (!status) status = peer_instance(c, no_sizes, &instance, diag);
    if (!status) status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    for (unsigned i = 0; !status && i <= repeat; i++) {
        if (i) start = now_ms();
        status = compile_once(&instance, target, compiler, diag);
        if (i == 0)
            *first = now_ms() - start;
        else
            samples[i - 1] = now_ms() - start;
    }
    if (!status) *out = median(samples, repeat);
    tw_compiler_close(compiler);
    return status;
}

tw_status peer_time(const peer_case *c, const char *command, unsigned repeat, tw_diag *diag) {
    if (repeat < 1 || repeat > MAX_REPEAT)
        return tw_fail(diag, TW_ERR_USAGE, "repeat must be 1..%d (got %u)", MAX_REPEAT, repeat);
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
