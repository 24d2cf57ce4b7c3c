#include "tests/emu/kernels/functions.h"

#define MAP(name)                                                                                            \
    KERNEL void name(quad *out, const quad *in, int n) {                                                     \
        int i = GLOBAL_THREAD;                                                                               \
        if (i < n) out[i] = fn_##name(in[i]);                                                                \
    }
FUNCTION_LIST_FLOAT(MAP)
