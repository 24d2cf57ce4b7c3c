/* LLVM's compiler for a suite: open_compiler and close_compiler are what cmocka calls around its tests. */
#ifndef TW_TESTS_LLVM_COMPILER_H
#define TW_TESTS_LLVM_COMPILER_H

#include <stdio.h>

#include "jit/compiler.h"

static tw_compiler *compiler;

static int open_compiler(void **state) {
    (void)state;
    tw_diag *reason = tw_diag_new(NULL);
    int failed = tw_compiler_open(TW_COMPILER_LLVM, &compiler, reason);
    if (failed) fputs(tw_diag_text(reason), stderr);
    tw_diag_free(reason);
    return failed;
}

static int close_compiler(void **state) {
    (void)state;
    tw_compiler_close(compiler);
    return 0;
}

#endif
