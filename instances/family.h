/* What a family consists of, and what families share. Rows: instances/families.def. */
#ifndef TW_INSTANCES_FAMILY_H
#define TW_INSTANCES_FAMILY_H

#include "instances/instance.h"
#include "support/fail.h"

struct tw_family {
    const char *name, *doc;
    tw_field_table spec, problem;
    const tw_family *reduce; /* finishes the plan; NULL: the plan has one kernel */
    /* NULL-terminated lists of words, NULL-terminated: the tuning grid is their product, the last axis
     * fastest. A word may hold several, separated by spaces. */
    const char *const *const *axes;
    tw_status (*validate)(const int32_t *spec, tw_target target, tw_diag *diag);
    /* Is a valid point of the axes' product worth tuning? NULL: all are. */
    bool (*in_grid)(const int32_t *spec, tw_target target);
    /* The whole kernel, called `name`; the spec is valid. NULL on error, which the context says. */
    tw_kernel *(*build)(tw_context *ctx, const int32_t *spec, tw_target target, const char *name);
    /* What the reducing kernel's spec is before words change it. */
    void (*derive_reduce)(const tw_instance *instance, int32_t *reduce);
    /* Fills job->plan, kernels and tensors; the specs are valid on their own. */
    tw_status (*plan)(tw_job *job, tw_diag *diag);
    tw_status (*reference)(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                           tw_diag *diag);
};

/* The instance of a family's structs (NULL: defaults), with the reduction that goes with them. */
tw_instance tw_instance_of(const tw_family *family, const void *spec, const void *problem);
/* Adds a buffer to the plan and its tensor to the job (elements are counted from the shape). */
uint32_t tw_job_add_buffer(tw_job *job, const char *name, tw_plan_role role, tw_tensor tensor);

/* Rows of a .def file as a field table. */
#define TW_FIELD_INT_ROW(name, label, min, max, default_value, doc) \
    {#name, label, TW_FIELD_INT, min, max, 0, default_value, doc},
#define TW_FIELD_DTYPE_ROW(name, label, dtypes, default_value, doc) \
    {#name, label, TW_FIELD_DTYPE, 0, 0, dtypes, default_value, doc},

#define TW_FIELD_TABLE(rows) \
    { rows, sizeof rows / sizeof rows[0] }
#define TW_FIELD_TABLE_CHECK(type, rows)                                               \
    _Static_assert(sizeof(type) == sizeof(int32_t) * (sizeof rows / sizeof rows[0]) && \
                       sizeof rows / sizeof rows[0] <= TW_MAX_FIELDS,                  \
                   "one int32_t a row")

/* The functions of a family's public header, which are the same for all but for their types. */
#define TW_FAMILY_FUNCTIONS(family, name, problem_type)                                   \
    void name##_defaults(name##_spec *spec, problem_type *problem) {                      \
        if (spec) tw_field_defaults((family).spec, (int32_t *)spec);                      \
        if (problem) tw_field_defaults((family).problem, (int32_t *)problem);             \
    }                                                                                     \
    tw_instance name##_instance(const name##_spec *spec, const problem_type *problem) {   \
        return tw_instance_of(&(family), spec, problem);                                  \
    }                                                                                     \
    tw_status name##_validate(const name##_spec *spec, tw_target target, tw_diag *diag) { \
        tw_instance instance = tw_instance_of(&(family), spec, NULL);                     \
        return tw_instance_validate(&instance, target, diag);                             \
    }                                                                                     \
    tw_kernel *name##_build(tw_context *ctx, const name##_spec *spec, tw_target target) { \
        tw_instance instance = tw_instance_of(&(family), spec, NULL);                     \
        return tw_instance_build(ctx, &instance, target);                                 \
    }

/* One rule of a ..._rules.def file: the first that does not hold refuses. */
#define TW_RULE_CHECK(id, condition, ...) \
    if (!(condition)) return tw_fail(diag, TW_ERR_INVALID, __VA_ARGS__);

#endif
