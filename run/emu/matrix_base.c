/* Matrix loops for any host. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#pragma GCC optimize("O3")
#endif
#define MATRIX_LOOPS tw_emu_matrix_base
#include "run/emu/matrix_loops.h"
