#include "tests/instances/job_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instances/measures.h"
#include "ir/interp.h"
#include "support/float_formats.h"
#include "tests/instances/instance_text.h"

void job_open(job_run *run, const char *words, tw_target target) {
    memset(run, 0, sizeof *run);
    snprintf(run->words, sizeof run->words, "%s", words);
    tw_instance instance;
    read_instance(words, &instance);
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_job_new(&instance, target, &run->job, diag)) fail_msg("%s: %s", words, tw_diag_text(diag));
    tw_diag_free(diag);
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(run->job->plan, i);
        run->memory[i] = malloc(buffer->bytes + 1);
        assert_non_null(run->memory[i]);
        if (buffer->role != TW_PLAN_OUTPUT) continue;
        size_t elements = run->job->tensors[i].elements;
        double *numbers = malloc((3 * elements + 1) * sizeof *numbers);
        uint64_t *terms = malloc((elements + 1) * sizeof *terms);
        assert_true(numbers && terms);
        run->reference[i] = (tw_reference){numbers, numbers + elements, numbers + 2 * elements, terms};
    }
}

void job_close(job_run *run) {
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        free(run->memory[i]);
        free(run->reference[i].expected);
        free(run->reference[i].terms);
    }
    tw_job_free(run->job);
}

void job_fill(job_run *run, tw_data_pattern pattern, uint64_t seed) {
    for (size_t i = 0; i < run->job->tensor_count; i++)
        if (tw_plan_buffer_at(run->job->plan, i)->role == TW_PLAN_INPUT)
            assert_int_equal(tw_job_fill(run->job, i, pattern, seed, run->memory[i], NULL), TW_OK);
}

/* What no launch wrote must not look like a result. */
static void spoil(job_run *run) {
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(run->job->plan, i);
        if (buffer->role != TW_PLAN_INPUT) memset(run->memory[i], 0xff, buffer->bytes);
    }
}

void job_build(const job_run *run, tw_context *ctx, tw_kernel *kernels[TW_JOB_MAX_KERNELS]) {
    for (size_t i = 0; i < run->job->kernel_count; i++) {
        kernels[i] = tw_instance_build(ctx, &run->job->kernels[i], run->job->target);
        if (!kernels[i]) fail_msg("%s: %s", run->words, tw_context_diagnostics(ctx));
    }
}

static tw_status interpret_launch(job_run *run, const tw_plan_launch *launch, const tw_kernel *kernel,
                                  tw_diag *diag) {
    tw_interp_arg args[32];
    assert_true(launch->arg_count <= 32);
    for (size_t i = 0; i < launch->zeroed_count; i++)
        memset(run->memory[launch->zeroed[i]], 0,
               tw_plan_buffer_at(run->job->plan, launch->zeroed[i])->bytes);
    for (size_t i = 0; i < launch->arg_count; i++) {
        const tw_plan_arg *arg = &launch->args[i];
        if (arg->kind == TW_LAUNCH_BUFFER) {
            uint32_t index = arg->as.buffer.index;
            args[i] = TW_INTERP_MEMORY(run->memory[index], tw_plan_buffer_at(run->job->plan, index)->bytes);
        } else {
            assert_int_equal(arg->kind, TW_LAUNCH_I32);
            bool is_size = strstr(arg->name, "_bytes") != NULL;
            args[i] = TW_INTERP_BITS(run->unchecked && is_size ? INT32_MAX : (uint32_t)arg->as.i32);
        }
    }
    const uint32_t grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    return tw_interp_run(kernel, grid, args, launch->arg_count, NULL, diag);
}

void job_interpret(job_run *run, tw_kernel *const *kernels) {
    spoil(run);
    tw_diag *diag = tw_diag_new(NULL);
    for (size_t i = 0; i < tw_plan_launch_count(run->job->plan); i++) {
        const tw_plan_launch *launch = tw_plan_launch_at(run->job->plan, i);
        if (interpret_launch(run, launch, kernels[launch->object], diag))
            fail_msg("%s: %s", run->words, tw_diag_text(diag));
    }
    tw_diag_free(diag);
}

bool job_breaks_rules(job_run *run, const tw_kernel *kernel) {
    return interpret_launch(run, tw_plan_launch_at(run->job->plan, 0), kernel, NULL) != TW_OK;
}

static tw_status execute(job_run *run, tw_device *device, tw_code_object *const *objects,
                         tw_launch_counts *counts, tw_diag *diag) {
    spoil(run);
    tw_plan_host hosts[TW_JOB_MAX_BUFFERS];
    for (size_t i = 0; i < run->job->tensor_count; i++)
        hosts[i] = (tw_plan_host){run->memory[i], run->memory[i]};
    return tw_plan_run(run->job->plan, device, objects, run->job->kernel_count, hosts, run->job->tensor_count,
                       counts, diag);
}

void job_execute(job_run *run, tw_device *device, tw_code_object *const *objects) {
    tw_diag *diag = tw_diag_new(NULL);
    if (execute(run, device, objects, NULL, diag)) fail_msg("%s: %s", run->words, tw_diag_text(diag));
    tw_diag_free(diag);
}

tw_launch_counts job_count(job_run *run, tw_device *device, tw_code_object *const *objects) {
    tw_launch_counts counts[8];
    assert_true(tw_plan_launch_count(run->job->plan) <= sizeof counts / sizeof counts[0]);
    tw_diag *diag = tw_diag_new(NULL);
    if (execute(run, device, objects, counts, diag)) fail_msg("%s: %s", run->words, tw_diag_text(diag));
    tw_diag_free(diag);
    return counts[0];
}

bool job_try(job_run *run, tw_device *device, tw_code_object *const *objects) {
    void *before[TW_JOB_MAX_BUFFERS] = {NULL};
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(run->job->plan, i);
        if (buffer->role != TW_PLAN_OUTPUT) continue;
        before[i] = malloc(buffer->bytes + 1);
        assert_non_null(before[i]);
        memcpy(before[i], run->memory[i], buffer->bytes);
    }
    bool same = execute(run, device, objects, NULL, NULL) == TW_OK;
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        if (!before[i]) continue;
        const size_t bytes = tw_plan_buffer_at(run->job->plan, i)->bytes;
        same = same && !memcmp(before[i], run->memory[i], bytes);
        memcpy(run->memory[i], before[i], bytes);
        free(before[i]);
    }
    return same;
}

static double element(tw_scalar dtype, const void *memory, size_t index) {
    if (dtype == TW_F32) return ((const float *)memory)[index];
    uint16_t bits = ((const uint16_t *)memory)[index];
    return dtype == TW_F16 ? tw_f16_to_f32(bits) : tw_bf16_to_f32(bits);
}

static double check_output(job_run *run, size_t index, const char *what) {
    const tw_tensor *tensor = &run->job->tensors[index];
    const tw_reference *reference = &run->reference[index];
    double worst = 0;
    for (uint64_t i = 0; i < tensor->elements; i++) {
        double got = element(tensor->dtype, run->memory[index], i), expected = reference->expected[i];
        double bound = reference->bound[i];
        bool good = isnan(expected)   ? isnan(got) != 0
                    : isinf(expected) ? got == expected
                                      : fabs(got - expected) <= bound;
        if (!good)
            fail_msg("%s %s: element %llu is %a (%g), expected %a (%g) within %g", what, run->words,
                     (unsigned long long)i, got, got, expected, expected, bound);
        if (bound > 0 && isfinite(bound)) worst = fmax(worst, fabs(got - expected) / bound);
    }
    return worst;
}

double job_check(job_run *run, const char *what) {
    const void *inputs[TW_JOB_MAX_BUFFERS];
    for (size_t i = 0; i < run->job->tensor_count; i++)
        inputs[i] = run->memory[i];
    assert_int_equal(tw_job_reference(run->job, inputs, run->reference, NULL), TW_OK);
    double worst = 0;
    for (size_t i = 0; i < run->job->tensor_count; i++)
        if (tw_plan_buffer_at(run->job->plan, i)->role == TW_PLAN_OUTPUT)
            worst = fmax(worst, check_output(run, i, what));
    return worst;
}

void job_check_statistic(const job_run *run) {
    for (size_t i = 0; i < run->job->tensor_count; i++) {
        if (tw_plan_buffer_at(run->job->plan, i)->role != TW_PLAN_OUTPUT) continue;
        const tw_tensor *tensor = &run->job->tensors[i];
        const tw_reference *r = &run->reference[i];
        for (uint64_t j = 0; j < tensor->elements; j++) {
            double error = fabs(element(tensor->dtype, run->memory[i], j) - r->expected[j]);
            double limit = tw_accumulation_bound(r->terms[j], r->scale[j], r->expected[j], tensor->dtype);
            if (!(error <= limit))
                fail_msg("%s: element %llu is off by %g, more than 4 sqrt(%llu) 2^-24 * %g allows",
                         run->words, (unsigned long long)j, error, (unsigned long long)r->terms[j],
                         r->scale[j]);
        }
    }
}

void job_check_exact(const job_run *run) {
    for (size_t i = 0; i < run->job->tensor_count; i++)
        if (tw_plan_buffer_at(run->job->plan, i)->role == TW_PLAN_OUTPUT)
            for (uint64_t j = 0; j < run->job->tensors[i].elements; j++)
                if (run->reference[i].bound[j] != 0)
                    fail_msg("%s: element %llu is not exact", run->words, (unsigned long long)j);
}
