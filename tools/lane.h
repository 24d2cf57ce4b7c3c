/* What one compiler makes of the pinned configurations: each is lowered for its flavor, compiled, linked, and
 * executed by the emulator. One file an exact compiler version records it: DIRECTORY/lanes/VERSION.txt. */
#ifndef TW_TOOLS_LANE_H
#define TW_TOOLS_LANE_H

#include "jit/compile.h"
#include "support/strbuf.h"
#include "tools/baseline.h"
#include "tools/pins.h"

/* X(name): as in the file. In words: the compiler does not know the target; the flavor refuses the kernel or
 * the target, with a reason that the goldens have; linked without an undefined symbol, but there is nothing
 * to run; executed, and the results are those of the reference: exactly where every sum is exact, else within
 * the bound of every element; anything else. */
#define CLI_LANE_OUTCOMES(X) \
    X(UNSERVED, "unserved")  \
    X(REFUSED, "refused ")   \
    X(LINKED, "linked  ")    \
    X(RIGHT, "right   ")     \
    X(FAILED, "failed  ")
typedef enum cli_lane_outcome {
    CLI_LANE_NONE = 0, /* the instance is not for the target: no kernel, no row */
#define CLI_LANE_ENUM(name, text) CLI_LANE_##name,
    CLI_LANE_OUTCOMES(CLI_LANE_ENUM)
#undef CLI_LANE_ENUM
        CLI_LANE_OUTCOME_COUNT
} cli_lane_outcome;

enum { CLI_RESULT_DIGITS = 16 };

typedef struct cli_lane_row {
    cli_lane_outcome outcome;
    unsigned spills;                      /* vector registers, of all kernels of the plan */
    char integers[CLI_RESULT_DIGITS + 1]; /* what the outputs hash to, of inputs whose sums are exact; "-" */
    char uniform[CLI_RESULT_DIGITS + 1];  /* of other inputs */
    char code[CLI_HASH_SIZE];             /* the code object of the pin's own kernel; "" */
    char target[TW_TARGET_NAME_MAX];
    char words[512], reason[512]; /* of the pin; of a failure */
} cli_lane_row;

typedef struct cli_lane {
    char identity[256], flavor[16];
    cli_lane_row *rows; /* pins in their order, and targets in theirs; without those of CLI_LANE_NONE */
    size_t count;
} cli_lane;

/* Measures with `jobs` processes at once, each within limits of time and memory; on the one target, or on all
 * where `only` is none. A row that fails is no error here. */
tw_status cli_lane_measure(const cli_pins *pins, tw_target only, tw_compiler *compiler, unsigned jobs,
                           cli_lane *out, tw_diag *diag);
void cli_lane_free(cli_lane *lane);
/* The row of the same target and pin, or NULL. */
const cli_lane_row *cli_lane_find(const cli_lane *lane, const cli_lane_row *like);

/* The line of the file, without the newline. */
void cli_lane_line(const cli_lane_row *row, tw_strbuf *line);
/* DIRECTORY/lanes must be there. */
tw_status cli_lane_write(const char *directory, const cli_lane *lane, tw_diag *diag);
/* The file of a compiler; TW_ERR_NOT_FOUND where there is none. */
tw_status cli_lane_read(const char *directory, const char *identity, cli_lane *out, tw_diag *diag);
/* A table in Markdown of all files of the folder, to standard output. */
tw_status cli_lane_tables(const char *directory, tw_diag *diag);

#endif
