/* Instances: kernel families with their specs, problems, plans and references.
 *
 * A family makes kernels. Its spec says which kernel (filter, types, tunables), its problem which sizes it is
 * run on; one kernel serves every problem. Both are given by words, "kh=3", and both are plain structs of
 * int32_t for C callers (instances/direct_wgrad_depthwise.h).
 *
 *     const char *words[] = {"direct_wgrad_depthwise", "kh=3", "kw=3", "n=2", "h=14", "w=14", "c=96"};
 *     tw_instance instance;
 *     tw_instance_parse(words, 7, &instance, diag);
 *     tw_kernel *kernel = tw_instance_build(ctx, &instance, target); // the family's own kernel
 *     tw_job *job;
 *     tw_job_new(&instance, target, &job, diag); // the whole problem, with its plan
 *
 * Validation is the one gate: what tw_instance_validate accepts builds, compiles without spills or scratch
 * and computes what the reference says, within the reference's bound. */
#ifndef TW_INSTANCES_INSTANCE_H
#define TW_INSTANCES_INSTANCE_H

#include "instances/field.h"
#include "ir/kernel.h"
#include "jit/compiler.h"
#include "run/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_family tw_family; /* constant data */

TW_API size_t tw_family_count(void);
TW_API const tw_family *tw_family_at(size_t index);       /* NULL past the end */
TW_API const tw_family *tw_family_find(const char *name); /* NULL where there is none */
TW_API const char *tw_family_name(const tw_family *family);
TW_API const char *tw_family_doc(const tw_family *family); /* one line */
TW_API tw_field_table tw_family_spec_fields(const tw_family *family);
TW_API tw_field_table tw_family_problem_fields(const tw_family *family);
/* The family of the kernel that finishes this one's plans, or NULL. Words "reduce.waves=8" speak of it. */
TW_API const tw_family *tw_family_reduce(const tw_family *family);

/* A plain value: copy it freely. `spec`, `problem` and `reduce` hold the structs of the family, of the family
 * and of tw_family_reduce (its spec). */
typedef struct tw_instance {
    const tw_family *family;
    int32_t spec[TW_MAX_FIELDS];
    int32_t problem[TW_MAX_FIELDS];
    int32_t reduce[TW_MAX_FIELDS];
} tw_instance;

/* Every field at its default. */
TW_API void tw_instance_init(const tw_family *family, tw_instance *out);
/* Words: the family's name first, then name=value in any order, each name at most once; what is not given has
 * its default. Only the words are checked, not what they say: that is for tw_instance_validate and
 * tw_job_new. */
TW_API tw_status tw_instance_parse(const char *const *words, size_t count, tw_instance *out, tw_diag *diag);
/* One word, "kh=3": the value is stored as tw_field_read says. */
TW_API tw_status tw_instance_set(tw_instance *instance, const char *word, tw_diag *diag);
/* The canonical words of an instance, "direct_wgrad_depthwise kh=3 ...", with or without the problem's.
 * Belongs to the caller: free() it. NULL when memory is out. */
TW_API char *tw_instance_words(const tw_instance *instance, bool with_problem);

/* May the spec be built for the target? TW_ERR_INVALID with a reason that ends with the value:
 * "r_split must be 1..8 (got 9)". */
TW_API tw_status tw_instance_validate(const tw_instance *instance, tw_target target, tw_diag *diag);
/* Short, and different for different specs: the kernel's name, the key of goldens and caches. */
#define TW_LABEL_MAX 128
TW_API void tw_instance_label(const tw_instance *instance, char buffer[TW_LABEL_MAX]);
/* Validates and builds the family's own kernel, named by its label. NULL on error, with the same text in the
 * context's diagnostics. */
TW_API tw_kernel *tw_instance_build(tw_context *ctx, const tw_instance *instance, tw_target target);

/* The family's tuning grid: the instance at `index` of those that `target` admits, with the default problem.
 * False past the end. */
TW_API bool tw_family_grid(const tw_family *family, tw_target target, size_t index, tw_instance *out);
/* The same one after the other, which is faster: `*cursor` is 0 before the first. */
TW_API bool tw_family_grid_next(const tw_family *family, tw_target target, size_t *cursor, tw_instance *out);

/* ---- jobs: one problem, ready to run ---- */

/* A buffer of the plan as an array, row-major, the last dimension contiguous. */
typedef struct tw_tensor {
    tw_scalar dtype;
    uint32_t rank;
    int64_t shape[5];
    uint64_t elements;
} tw_tensor;

#define TW_JOB_MAX_KERNELS 2
#define TW_JOB_MAX_BUFFERS 8

typedef struct tw_job {
    tw_instance instance;
    tw_target target;
    tw_plan *plan;
    tw_instance kernels[TW_JOB_MAX_KERNELS]; /* build these, in this order, for the plan's code objects */
    size_t kernel_count;
    tw_tensor tensors[TW_JOB_MAX_BUFFERS]; /* one a buffer of the plan */
    size_t tensor_count;
} tw_job;

/* Validates the specs and the problem, and makes the plan. The job belongs to the caller. */
TW_API tw_status tw_job_new(const tw_instance *instance, tw_target target, tw_job **out, tw_diag *diag);
TW_API void tw_job_free(tw_job *job); /* NULL is fine */
/* Builds and compiles the job's kernels: objects[0..kernel_count - 1], which belong to the caller, the rest
 * NULL. On error all are NULL. `options` may be NULL; times are those of the last kernel. */
TW_API tw_status tw_job_compile(const tw_job *job, tw_compiler *compiler, const tw_compile_options *options,
                                tw_code_object *objects[TW_JOB_MAX_KERNELS], tw_diag *diag);

/* The exact results, element by element: |got - expected| <= bound, NaN only where the reference has NaN.
 * `scale` is the sum of the magnitudes of what was added up, `terms` how many those were: what errors are
 * measured by (instances/measures.h). Both may be NULL. */
typedef struct tw_reference {
    double *expected, *bound, *scale;
    uint64_t *terms;
} tw_reference;

/* `inputs` has one pointer a buffer of the plan, read where the buffer is an input; `outputs` one entry a
 * buffer, written where it is an output: tensors[i].elements doubles each. */
TW_API tw_status tw_job_reference(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                                  tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
