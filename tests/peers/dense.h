/* Weight gradients on matrix units by other compilers, launched as the library's families are. */
#ifndef TW_TESTS_PEERS_DENSE_H
#define TW_TESTS_PEERS_DENSE_H

#include "tools/job.h"

/* One case of the comparison: what is computed, for which target. */
typedef struct dense_case {
    const char *target, *name, *dtype; /* "gfx950", "3x3", "f16" */
    int filter, stride;
} dense_case;

/* A kernel of another compiler. Its grid is tiles of dW by shares of the positions. */
typedef struct dense_peer {
    char label[64];  /* "tap", "row-64x64x32-w4-s2": the form, then what it was built with */
    char kernel[32]; /* the function */
    char path[512];
    int tile_k, tile_c, threads;
    uint32_t dynamic_lds;
    unsigned products; /* multiplications of one matrix instruction */
    double compile_ms; /* 0: not known */
    bool triton;
} dense_peer;

/* One kernel's results and what the emulator counted. */
typedef struct dense_outcome {
    tw_launch_counts counts;
    uint32_t vgprs, spills, lds;
    size_t code_bytes;
    uint64_t wrong; /* elements out of their bound */
} dense_outcome;

enum { DENSE_X, DENSE_DY, DENSE_WS, DENSE_DW }; /* buffers of the families' plans */

/* The argument of the first launch, by name; 0 where there is none. */
int32_t dense_value(const cli_job *job, const char *name);
uint64_t dense_count_wrong(const cli_job *job, const float *dw);
void dense_describe(const tw_code_object *object, const char *kernel, uint32_t dynamic_lds,
                    dense_outcome *out);
/* Runs the peer on the job's inputs and compares with the job's reference, which must be there. */
tw_status dense_run_peer(const cli_job *job, tw_device *device, const dense_case *c, const dense_peer *peer,
                         dense_outcome *out, tw_diag *diag);

/* The kernels of dense.hip for the case, as the build left them, and with `triton` (a folder, or NULL) those
 * that tools/peers/triton_dense.py wrote there. free() *out. */
tw_status dense_peers_of(const dense_case *c, const char *triton, dense_peer **out, size_t *count,
                         tw_diag *diag);
/* The part of a label that names the form, "row" of "row-64x64x32-w4-s2". */
bool dense_same_form(const dense_peer *a, const dense_peer *b);

#endif
