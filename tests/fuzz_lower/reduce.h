/* Makes a failing case small. */
#ifndef TW_TESTS_FUZZ_REDUCE_H
#define TW_TESTS_FUZZ_REDUCE_H

#include "tests/fuzz_lower/run.h"

/* Drops ops, regions and sizes for as long as the verdict stays the same; prints what is left, as tile IR and
 * as LLVM IR, with the difference. Takes the case. */
void fuzz_reduce(fuzz_runner *r, fuzz_case *c, fuzz_verdict verdict);

#endif
