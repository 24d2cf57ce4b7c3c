/* direct_wgrad_reduce: fields, rules, plan and reference. The kernel is in direct_wgrad_reduce_build.c. */
#include "instances/direct_wgrad_reduce.h"

#include <string.h>

#include "instances/direct_wgrad_reduce_internal.h"
#include "instances/exact_sum.h"
#include "instances/wgrad_slab.h"

#define FIELDS_FILE "instances/direct_wgrad_reduce.def"
#define FIELDS_OF   tw_wgrad_reduce_spec
#include "instances/spec_fields.inc"
#define FIELDS_FILE "instances/direct_wgrad_reduce.def"
#define FIELDS_OF   tw_wgrad_reduce_problem
#include "instances/problem_fields.inc"

static tw_status validate(const int32_t *values, tw_target target, tw_diag *diag) {
    (void)target;
    const tw_wgrad_reduce_spec *s = (const tw_wgrad_reduce_spec *)values;
#define RULE TW_RULE_CHECK
#include "instances/direct_wgrad_reduce_rules.def"
    return TW_OK;
}

static int64_t slab_count(const tw_wgrad_reduce_spec *s, const tw_wgrad_reduce_problem *p) {
    return s->reproducible ? p->slabs : s->ws_replicas;
}

static tw_status check_problem(const tw_wgrad_reduce_spec *s, const tw_wgrad_reduce_problem *p,
                               tw_diag *diag) {
    char text[TW_WIDE_TEXT];
    const tw_wide ws_bytes = tw_slab_bytes(slab_count(s, p), s->kh * s->kw, p->c);
#define PLAN_RULE TW_RULE_CHECK
#include "instances/direct_wgrad_reduce_rules.def"
    return TW_OK;
}

tw_tensor tw_reduce_tensor(const tw_instance *reduce) {
    const tw_wgrad_reduce_spec *s = (const tw_wgrad_reduce_spec *)reduce->spec;
    const tw_wgrad_reduce_problem *p = (const tw_wgrad_reduce_problem *)reduce->problem;
    return (tw_tensor){(tw_scalar)s->out_dtype, 4, {p->c, s->kh, s->kw, 1}, 0};
}

void tw_reduce_plan_launch(tw_job *job, const tw_instance *reduce, uint32_t ws, tw_tensor tensor) {
    const tw_wgrad_reduce_spec *s = (const tw_wgrad_reduce_spec *)reduce->spec;
    const tw_wgrad_reduce_problem *p = (const tw_wgrad_reduce_problem *)reduce->problem;
    char label[TW_LABEL_MAX];
    tw_instance_label(reduce, label);
    uint32_t dw = tw_job_add_buffer(job, "dw", TW_PLAN_OUTPUT, tensor);
    uint32_t object = (uint32_t)job->kernel_count;
    job->kernels[job->kernel_count++] = *reduce;
    const uint32_t lanes = job->target.wave_size;
    tw_dim3 grid = {(uint32_t)tw_ceil_div(p->c, lanes), 1, 1};
    tw_dim3 block = {lanes * (uint32_t)s->waves, 1, 1};
    tw_plan_add_launch(job->plan, object, label, grid, block, 0);
    tw_plan_arg_buffer(job->plan, "ws", ws, 0);
    tw_plan_arg_buffer(job->plan, "dw", dw, 0);
    tw_plan_arg_i32(job->plan, "c", p->c);
    tw_plan_arg_i32(job->plan, "slabs", slab_count(s, p));
    tw_plan_arg_i32(job->plan, "ws_bytes", (int64_t)tw_plan_buffer_at(job->plan, ws)->bytes);
    tw_plan_arg_i32(job->plan, "dw_bytes", (int64_t)tw_plan_buffer_at(job->plan, dw)->bytes);
}

static tw_status plan(tw_job *job, tw_diag *diag) {
    const tw_wgrad_reduce_spec *s = (const tw_wgrad_reduce_spec *)job->instance.spec;
    const tw_wgrad_reduce_problem *p = (const tw_wgrad_reduce_problem *)job->instance.problem;
    tw_status status = check_problem(s, p, diag);
    if (status) return status;
    uint32_t ws = tw_job_add_buffer(job, "ws", TW_PLAN_INPUT,
                                    (tw_tensor){TW_F32, 4, {slab_count(s, p), s->kh, s->kw, p->c}, 0});
    tw_reduce_plan_launch(job, &job->instance, ws, tw_reduce_tensor(&job->instance));
    return TW_OK;
}

static tw_status reference(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                           tw_diag *diag) {
    (void)diag;
    const tw_wgrad_reduce_spec *s = (const tw_wgrad_reduce_spec *)job->instance.spec;
    const tw_wgrad_reduce_problem *p = (const tw_wgrad_reduce_problem *)job->instance.problem;
    enum { WS = 0, DW = 1 }; /* the plan's buffers */
    const float *ws = inputs[WS];
    const int64_t taps = s->kh * s->kw, slabs = slab_count(s, p);
    for (int64_t c = 0; c < p->c; c++)
        for (int64_t tap = 0; tap < taps; tap++) {
            tw_exact_sum sum;
            tw_exact_sum_init(&sum);
            for (int64_t i = 0; i < slabs; i++)
                tw_exact_sum_add(&sum, ws[(i * taps + tap) * p->c + c]);
            int64_t at = c * taps + tap;
            tw_exact_sum_finish(&sum, (tw_scalar)s->out_dtype, &outputs[DW], at);
        }
    return TW_OK;
}

static const char *const filters[] = {"kh=1 kw=1", "kh=2 kw=2", "kh=3 kw=3", "kh=2 kw=5",
                                      "kh=5 kw=5", "kh=7 kw=7", "kh=8 kw=8", NULL};
static const char *const formats[] = {"out_dtype=f32", "out_dtype=f16", "out_dtype=bf16", NULL};
static const char *const modes[] = {"", "ws_replicas=4", "ws_replicas=64 waves=8", "reproducible=1", NULL};
static const char *const *const axes[] = {filters, formats, modes, NULL};

const tw_family tw_family_direct_wgrad_reduce = {
    .name = "direct_wgrad_reduce",
    .doc = "folds the fp32 slabs of a weight gradient into dW and converts it",
    .spec = TW_FIELD_TABLE(spec_fields),
    .problem = TW_FIELD_TABLE(problem_fields),
    .axes = axes,
    .validate = validate,
    .build = tw_reduce_build,
    .plan = plan,
    .reference = reference,
};

TW_FAMILY_FUNCTIONS(tw_family_direct_wgrad_reduce, tw_wgrad_reduce, tw_wgrad_reduce_problem)
