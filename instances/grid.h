/* What compiling a tuning grid gives: every configuration, or a part of them. */
#ifndef TW_INSTANCES_GRID_H
#define TW_INSTANCES_GRID_H

#include "instances/instance.h"

/* One configuration. */
typedef struct tw_grid_kernel {
    const tw_instance *instance;
    const char *label;
    const tw_kernel_info *info; /* NULL where it did not compile, */
    const char *error;          /* and why */
} tw_grid_kernel;

/* Called for one configuration at a time, in any order. */
typedef void (*tw_grid_visit)(void *user, const tw_grid_kernel *kernel);

typedef struct tw_grid_sweep {
    tw_compiler *compiler;
    tw_target target;
    unsigned jobs;            /* compiles at a time, each in a process of its own; 0: one a processor */
    const char *const *words; /* only configurations with these, "kh=3" */
    size_t word_count;
    size_t first, step;  /* of these only number `first` and every `step`-th after it; step 0: every one */
    tw_grid_visit visit; /* may be NULL */
    void *user;
} tw_grid_sweep;

typedef struct tw_grid_counts {
    size_t configurations, compiled;
    size_t spilling;                                  /* kernels that spill or use scratch */
    uint64_t sgpr_spills, vgpr_spills, scratch_bytes; /* of all of them */
    uint32_t most_vgprs;
    uint64_t nanoseconds;
} tw_grid_counts;

bool tw_kernel_spills(const tw_kernel_info *info); /* registers to memory or to other registers, or scratch */

/* Does the configuration have what the words say? An error where a word cannot be read or names no field of
 * the spec. */
tw_status tw_grid_matches(const tw_instance *instance, const char *const *words, size_t count, bool *matches,
                          tw_diag *diag);
/* Compiles the family's grid without any cache. Kernels that do not compile are counted, not errors. */
tw_status tw_grid_compile(const tw_family *family, const tw_grid_sweep *sweep, tw_grid_counts *counts,
                          tw_diag *diag);

#endif
