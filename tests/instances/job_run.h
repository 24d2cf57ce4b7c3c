/* Runs jobs in tests: with the interpreter of the tile IR or on a device, checked against the reference. */
#ifndef TW_TESTS_INSTANCES_JOB_RUN_H
#define TW_TESTS_INSTANCES_JOB_RUN_H

#include "instances/data.h"
#include "instances/instance.h"

typedef struct job_run {
    char words[256];
    tw_job *job;
    bool unchecked; /* for job_interpret: buffer resources claim 2^31 - 1 bytes, so that no access out of
                       range is forgiven */
    void *memory[TW_JOB_MAX_BUFFERS]; /* of every buffer */
    tw_reference reference[TW_JOB_MAX_BUFFERS];
} job_run;

/* Fails the test where the job cannot be made. Buffers that are no input begin as bytes 0xff. */
void job_open(job_run *run, const char *words, tw_target target);
void job_close(job_run *run);
void job_fill(job_run *run, tw_data_pattern pattern, uint64_t seed);
/* Kernels of the job in `ctx`, in its order; fails the test on error. */
void job_build(const job_run *run, tw_context *ctx, tw_kernel *kernels[TW_JOB_MAX_KERNELS]);
void job_interpret(job_run *run, tw_kernel *const *kernels);
/* Does the interpreter report something where it runs `kernel` for the first launch? The results are void. */
bool job_breaks_rules(job_run *run, const tw_kernel *kernel);
void job_execute(job_run *run, tw_device *device, tw_code_object *const *objects);
/* The same; returns what the first launch executed. */
tw_launch_counts job_count(job_run *run, tw_device *device, tw_code_object *const *objects);
/* The same with code that may be wrong: false where the device reports something or the outputs are other
 * bits than those that `run` holds of a run before. */
bool job_try(job_run *run, tw_device *device, tw_code_object *const *objects);
/* Computes the reference and fails the test on the first element that is further off than its bound, or NaN
 * where the reference is not, or the other way round. Returns the largest error / bound. */
double job_check(job_run *run, const char *what);
/* After job_check: errors are no larger than those of a random walk of the roundings, 4 sqrt(n) 2^-24
 * sum|a*b|. */
void job_check_statistic(const job_run *run);
/* Fails the test unless all bounds of the outputs are 0: results were compared bit for bit. */
void job_check_exact(const job_run *run);

#endif
