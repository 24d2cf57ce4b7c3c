/* What suites share that compile jobs for the target named by their first argument and run them on its
 * emulator: open_env and close_env are what cmocka calls around their tests. */
#ifndef TW_TESTS_INSTANCES_EMU_ENV_H
#define TW_TESTS_INSTANCES_EMU_ENV_H

#include <stdbool.h>
#include <stdio.h>

#include "jit/compile.h"
#include "run/device.h"

static struct {
    const char *target_name;
    tw_target target;
    bool all;
    tw_device *device;
    tw_compiler *compiler;
} env;

static int open_env(void **state) {
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "emu:%s", env.target_name);
    tw_diag *diag = tw_diag_new(NULL);
    int failed = tw_target_parse(env.target_name, &env.target, diag) ||
                 tw_device_open(name, &env.device, diag) ||
                 tw_compiler_open(TW_COMPILER_LLVM, &env.compiler, diag);
    if (failed) fputs(tw_diag_text(diag), stderr);
    tw_diag_free(diag);
    return failed;
}

static int close_env(void **state) {
    (void)state;
    tw_device_close(env.device);
    tw_compiler_close(env.compiler);
    return 0;
}

#endif
