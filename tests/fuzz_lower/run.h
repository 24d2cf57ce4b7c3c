/* Runs cases through the interpreter, the folder, and the machine code, and compares. */
#ifndef TW_TESTS_FUZZ_RUN_H
#define TW_TESTS_FUZZ_RUN_H

#include "jit/compiler.h"
#include "run/device.h"
#include "support/strbuf.h"
#include "tests/fuzz_lower/fuzz_case.h"

typedef enum fuzz_verdict {
    FUZZ_AGREES = 0,
    FUZZ_SKIPPED, /* the emulator does not know an instruction */
    FUZZ_BROKEN,  /* the interpreter refuses the kernel: a fault of the generator */
    FUZZ_TEXT,    /* printed and read back, it is another kernel */
    FUZZ_FOLDED,  /* optimised, it computes something else */
    FUZZ_COMPILE, /* the compiler fails */
    FUZZ_REPORT,  /* the emulator reports a fault */
    FUZZ_DIFFERS, /* the machine code computes something else */
    FUZZ_VERDICT_COUNT
} fuzz_verdict;
extern const char *const fuzz_verdict_names[FUZZ_VERDICT_COUNT];

typedef struct fuzz_runner {
    tw_target target;
    tw_compiler *compiler;
    tw_device *device;
    unsigned level;                                  /* of LLVM's optimisation, 1..3; 0: the default, 3 */
    uint64_t compile_time, interpret_time, run_time; /* nanoseconds */
} fuzz_runner;

bool fuzz_runner_open(fuzz_runner *r, const char *target);
void fuzz_runner_close(fuzz_runner *r);

typedef struct fuzz_result {
    fuzz_verdict verdict;
    char text[1024]; /* what differs, or why */
} fuzz_result;

#define FUZZ_BATCH 32
/* Up to FUZZ_BATCH cases, compiled as one module; each alone where that fails. */
void fuzz_run(fuzz_runner *r, fuzz_case *const *cases, unsigned count, fuzz_result *results);

#endif
