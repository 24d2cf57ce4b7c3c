#include "tools/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/element.h"
#include "support/fail.h"
#include "support/random.h"

const char *const cli_values_names[] = {"uniform", "integers", "special", NULL};

static double special_value(tw_random *random) {
    double sign = tw_random_bool(random) ? -1 : 1, unit = 0.5 + tw_random_unit(random);
    switch (tw_random_below(random, 5)) {
    case 0: return sign * 0.0;
    case 1: return sign * ldexp(unit, -20 - (int)tw_random_below(random, 5)); /* denormal in f16 */
    case 2: return sign * ldexp(unit, -130); /* denormal in bf16, zero in f16 */
    case 3: return sign * ldexp(unit, 7);
    default: return sign * unit;
    }
}

static double make_value(cli_values values, tw_random *random) {
    switch (values) {
    case CLI_VALUES_INTEGERS: return (double)tw_random_between(random, -4, 4);
    case CLI_VALUES_SPECIAL: return special_value(random);
    default: return tw_random_unit(random) * 2 - 1;
    }
}

static tw_status fill(void *data, const tw_tensor *tensor, cli_values values, tw_random *random,
                      tw_diag *diag) {
    tw_float_format format;
    size_t size = tw_element_bytes(tensor->dtype);
    if (!tw_element_float_format(tensor->dtype, &format))
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "inputs of %s cannot be made",
                       tw_scalar_name(tensor->dtype));
    for (uint64_t i = 0; i < tensor->elements; i++) {
        uint64_t bits = tw_float_from_f64(format, make_value(values, random));
        /* Little-endian hosts, as all that LLVM's AMDGPU tools serve. */
        memcpy((char *)data + i * size, &bits, size);
    }
    return TW_OK;
}

static tw_status make_buffers(cli_job *job, tw_diag *diag) {
    const tw_plan *plan = job->job->plan;
    job->buffer_count = tw_plan_buffer_count(plan);
    for (size_t i = 0; i < job->buffer_count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        if (buffer->role == TW_PLAN_SCRATCH) continue;
        job->data[i] = calloc(buffer->bytes ? buffer->bytes : 1, 1);
        if (!job->data[i]) return tw_fail_no_memory(diag);
        if (buffer->role != TW_PLAN_OUTPUT) job->hosts[i].input = job->data[i];
        if (buffer->role != TW_PLAN_INPUT) job->hosts[i].output = job->data[i];
    }
    return TW_OK;
}

tw_status cli_job_fill(cli_job *job, cli_values values, uint64_t seed, tw_diag *diag) {
    tw_random random;
    tw_random_seed(&random, seed);
    tw_status status = TW_OK;
    for (size_t i = 0; i < job->buffer_count && status == TW_OK; i++) {
        if (job->hosts[i].input) {
            status = fill(job->data[i], &job->job->tensors[i], values, &random, diag);
        } else if (job->data[i]) {
            memset(job->data[i], 0, tw_plan_buffer_at(job->job->plan, i)->bytes);
        }
    }
    return status;
}

static tw_status compile_kernels(cli_job *job, tw_compiler *compiler, const tw_compile_options *options,
                                 tw_diag *diag) {
    for (size_t i = 0; i < job->job->kernel_count; i++) {
        tw_context *ctx = tw_context_new(NULL);
        if (!ctx) return tw_fail_no_memory(diag);
        tw_kernel *kernel = tw_instance_build(ctx, &job->job->kernels[i], job->job->target);
        tw_status status =
            kernel ? tw_compile(compiler, kernel, options, &job->objects[i], diag)
                   : tw_fail(diag, TW_ERR_INVALID, "%s", tw_diag_first_error(tw_context_diag(ctx)));
        tw_context_free(ctx);
        if (status != TW_OK) return status;
        job->object_count++;
    }
    return TW_OK;
}

tw_status cli_job_open(const tw_instance *instance, tw_target target, cli_values values, uint64_t seed,
                       tw_compiler *compiler, const tw_compile_options *compile_options, cli_job *out,
                       tw_diag *diag) {
    *out = (cli_job){0};
    tw_status status = tw_job_new(instance, target, &out->job, diag);
    if (status == TW_OK) status = make_buffers(out, diag);
    if (status == TW_OK) status = cli_job_fill(out, values, seed, diag);
    if (status == TW_OK) status = compile_kernels(out, compiler, compile_options, diag);
    return status;
}

static void free_reference(tw_reference *r) {
    free(r->expected);
    free(r->bound);
    free(r->scale);
    *r = (tw_reference){0};
}

tw_status cli_job_reference(cli_job *job, tw_diag *diag) {
    const void *inputs[TW_JOB_MAX_BUFFERS] = {0};
    for (size_t i = 0; i < job->buffer_count; i++) {
        inputs[i] = job->hosts[i].input;
        if (!job->hosts[i].output) continue;
        uint64_t elements = job->job->tensors[i].elements;
        tw_reference *r = &job->references[i];
        free_reference(r);
        r->expected = calloc(elements ? elements : 1, sizeof(double));
        r->bound = calloc(elements ? elements : 1, sizeof(double));
        r->scale = calloc(elements ? elements : 1, sizeof(double));
        if (!r->expected || !r->bound || !r->scale) return tw_fail_no_memory(diag);
    }
    return tw_job_reference(job->job, inputs, job->references, diag);
}

tw_status cli_job_measure(const cli_job *job, size_t i, tw_measures *measures, bool *good, tw_diag *diag) {
    const tw_tensor *tensor = &job->job->tensors[i];
    tw_measure_input input = {.format = tensor->dtype,
                              .got = job->data[i],
                              .expected = job->references[i].expected,
                              .bound = job->references[i].bound,
                              .scale = job->references[i].scale,
                              .count = tensor->elements};
    tw_status status = tw_measure(&input, measures, diag);
    *good = status == TW_OK && measures->passed == measures->count && measures->nan_errors == 0 &&
            measures->inf_errors == 0;
    return status;
}

void cli_job_close(cli_job *job) {
    for (size_t i = 0; i < TW_JOB_MAX_BUFFERS; i++) {
        free(job->data[i]);
        free_reference(&job->references[i]);
    }
    for (size_t i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(job->objects[i]);
    tw_job_free(job->job);
    *job = (cli_job){0};
}
