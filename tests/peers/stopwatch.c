#include "tests/peers/stopwatch.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

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
