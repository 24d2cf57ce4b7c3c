/* LLVM's compiler and a list of diagnostics for a suite: what cmocka calls around its tests. */
#ifndef TW_TESTS_JIT_COMPILER_AND_DIAG_H
#define TW_TESTS_JIT_COMPILER_AND_DIAG_H

#include "tests/llvm_compiler.h"

static tw_diag *diag;

static int open_both(void **state) {
    diag = tw_diag_new(NULL);
    return diag ? open_compiler(state) : -1;
}

static int close_both(void **state) {
    tw_diag_free(diag);
    return close_compiler(state);
}

#endif
