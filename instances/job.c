/* Jobs: problems with their plans. */
#include <stdlib.h>

#include "instances/family.h"

tw_status tw_job_new(const tw_instance *instance, tw_target target, tw_job **out, tw_diag *diag) {
    *out = NULL;
    tw_status status = tw_instance_validate(instance, target, diag);
    if (!status) status = tw_field_check(instance->family->problem, instance->problem, diag);
    if (status) return status;
    tw_job *job = calloc(1, sizeof *job);
    if (!job) return tw_fail_no_memory(diag);
    job->instance = *instance;
    job->target = target;
    char label[TW_LABEL_MAX];
    tw_instance_label(instance, label);
    job->plan = tw_plan_new(label);
    status = job->plan ? instance->family->plan(job, diag) : tw_fail_no_memory(diag);
    if (!status) status = tw_plan_check(job->plan, diag);
    if (status) {
        tw_job_free(job);
        return status;
    }
    *out = job;
    return TW_OK;
}

void tw_job_free(tw_job *job) {
    if (!job) return;
    tw_plan_free(job->plan);
    free(job);
}

uint32_t tw_job_add_buffer(tw_job *job, const char *name, tw_plan_role role, tw_tensor tensor) {
    tensor.elements = 1;
    for (uint32_t i = 0; i < tensor.rank; i++)
        tensor.elements *= (uint64_t)tensor.shape[i];
    job->tensors[job->tensor_count++] = tensor;
    return tw_plan_add_buffer(job->plan, name, role, tensor.elements * tw_scalar_bits(tensor.dtype) / 8);
}

tw_status tw_job_reference(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                           tw_diag *diag) {
    return job->instance.family->reference(job, inputs, outputs, diag);
}
