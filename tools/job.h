/* An instance's whole problem, ready to run: inputs from a seed, compiled kernels, the exact reference. */
#ifndef TW_TOOLS_JOB_H
#define TW_TOOLS_JOB_H

#include "instances/instance.h"
#include "instances/measures.h"
#include "jit/compile.h"

/* What the inputs are made of. */
typedef enum cli_values {
    CLI_VALUES_UNIFORM = 0, /* -1 .. 1 */
    CLI_VALUES_INTEGERS,    /* -4 .. 4: every sum is exact */
    CLI_VALUES_SPECIAL,     /* denormals, zeros of both signs, small and large magnitudes */
    CLI_VALUES_COUNT
} cli_values;
extern const char *const cli_values_names[]; /* "uniform", "integers", "special" */

typedef struct cli_job {
    tw_job *job;
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    size_t object_count;
    size_t buffer_count;
    tw_plan_host hosts[TW_JOB_MAX_BUFFERS];
    void *data[TW_JOB_MAX_BUFFERS]; /* the host's bytes of inputs and outputs; NULL for scratch */
    tw_reference references[TW_JOB_MAX_BUFFERS]; /* of outputs, set by cli_job_reference */
} cli_job;

/* Plans, fills the inputs, compiles. `out` is always safe to free. */
tw_status cli_job_open(const tw_instance *instance, tw_target target, cli_values values, uint64_t seed,
                       tw_compiler *compiler, const tw_compile_options *compile_options, cli_job *out,
                       tw_diag *diag);
/* Makes the inputs anew, and clears the outputs. */
tw_status cli_job_fill(cli_job *job, cli_values values, uint64_t seed, tw_diag *diag);
/* What the outputs should be, of the inputs as they are. */
tw_status cli_job_reference(cli_job *job, tw_diag *diag);
/* Measures output `i`, which has elements, against its reference; *good: every element is in its bound. */
tw_status cli_job_measure(const cli_job *job, size_t i, tw_measures *measures, bool *good, tw_diag *diag);
void cli_job_close(cli_job *job);

#endif
