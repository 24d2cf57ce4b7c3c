#include "tests/peers/stopwatch.h"

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

static tw_status check_repeat(unsigned repeat, tw_diag *diag) {
    if (repeat >= 1 && repeat <= MAX_REPEAT) return TW_OK;
    return tw_fail(diag, TW_ERR_USAGE, "repeat must be 1..%d (got %u)", MAX_REPEAT, repeat);
}

tw_status stopwatch_process(const char *const *words, unsigned repeat, double *out, tw_diag *diag) {
    double samples[MAX_REPEAT];
    tw_status bad = check_repeat(repeat, diag);
    if (bad) return bad;
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

tw_status stopwatch_library(const tw_instance *instance, const char *target_name, unsigned repeat,
                            double *first, double *out, tw_diag *diag) {
    double samples[MAX_REPEAT];
    tw_target target;
    tw_compiler *compiler = NULL;
    double start = now_ms();
    tw_status status = check_repeat(repeat, diag);
    if (!status) status = tw_target_parse(target_name, &target, diag);
    if (!status) status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    for (unsigned i = 0; !status && i <= repeat; i++) {
        if (i) start = now_ms();
        status = compile_once(instance, target, compiler, diag);
        if (i == 0)
            *first = now_ms() - start;
        else
            samples[i - 1] = now_ms() - start;
    }
    if (!status) *out = median(samples, repeat);
    tw_compiler_close(compiler);
    return status;
}

tw_status stopwatch_command(const tw_instance *instance, const char *target, const char *command,
                            unsigned repeat, double *out, tw_diag *diag) {
    char path[] = "/tmp/peer-XXXXXX", *text = tw_instance_words(instance, false);
    const char *words[48] = {command, "compile"};
    size_t count = 2;
    int file = mkstemp(path);
    if (file < 0 || !text) {
        free(text);
        return tw_fail(diag, TW_ERR_IO, "%s cannot be made", path);
    }
    close(file);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) && count < 36;)
        words[count++] = word;
    const char *const last[] = {"--arch", target, "--compiler", "llvm", "--no-cache", "-o", path, NULL};
    memcpy(words + count, last, sizeof last);
    tw_status status = stopwatch_process(words, repeat, out, diag);
    unlink(path);
    free(text);
    return status;
}

tw_status stopwatch_clang(const char *target, const char *const *defines, unsigned repeat, double *out,
                          tw_diag *diag) {
    static const char *const first[] = {PEER_CLANG,
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
                                        "-o",
                                        "/dev/null",
                                        PEER_SOURCE};
    enum { FIRST = sizeof first / sizeof first[0], MOST = 8 };
    char arch[40], lanes[24];
    tw_target parsed;
    tw_status status = tw_target_parse(target, &parsed, diag);
    if (status) return status;
    snprintf(arch, sizeof arch, "--offload-arch=%s", target);
    snprintf(lanes, sizeof lanes, "-DPEER_LANES=%d", (int)parsed.wave_size);
    const char *words[FIRST + 2 + MOST + 1] = {NULL};
    memcpy(words, first, sizeof first);
    size_t count = FIRST;
    words[count++] = arch;
    words[count++] = lanes;
    for (size_t i = 0; defines[i] && i < MOST; i++)
        words[count++] = defines[i];
    return stopwatch_process(words, repeat, out, diag);
}
