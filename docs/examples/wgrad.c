/* The weight gradient of a depthwise 5x5 convolution in bf16: an instance of a kernel family, with its plan
 * of two launches, checked element by element against the exact reference.
 *
 *     cc wgrad.c $(pkg-config --cflags --libs tilewright) && ./a.out [device] */
#include <stdio.h>
#include <stdlib.h>
#include <tilewright.h>

/* Host memory for the plan's buffers; the inputs are filled. */
static int make_host(const tw_job *job, tw_plan_host *hosts, const void **inputs, tw_diag *diag) {
    for (size_t i = 0; i < job->tensor_count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(job->plan, i);
        if (buffer->role == TW_PLAN_SCRATCH) continue;
        void *memory = malloc(buffer->bytes + 1);
        if (!memory) return 1;
        if (buffer->role == TW_PLAN_OUTPUT) {
            hosts[i].output = memory;
        } else {
            hosts[i].input = inputs[i] = memory;
            if (tw_job_fill(job, i, TW_DATA_UNIFORM, 1, memory, diag)) return 1;
        }
    }
    return 0;
}

/* Compares the output `index` with the exact reference and prints the measures. */
static int check(const tw_job *job, const void *const *inputs, const void *got, size_t index, tw_diag *diag) {
    const tw_tensor *tensor = &job->tensors[index];
    tw_reference outputs[TW_JOB_MAX_BUFFERS] = {0};
    double *memory = malloc(3 * tensor->elements * sizeof *memory);
    if (!memory) return 1;
    outputs[index] = (tw_reference){memory, memory + tensor->elements, memory + 2 * tensor->elements, NULL};
    tw_measure_input input = {tensor->dtype,           got,
                              outputs[index].expected, outputs[index].scale,
                              outputs[index].bound,    tensor->elements};
    tw_measure_budget budget = {.checks = TW_BUDGET_PASS_RATE, .pass_rate = 1};
    tw_measures measures;
    int failed = tw_job_reference(job, inputs, outputs, diag) || tw_measure(&input, &measures, diag);
    char *text = failed ? NULL : tw_measures_text(&measures);
    if (text) fputs(text, stdout);
    free(text);
    failed = failed || tw_measure_check(&measures, &budget, diag);
    free(memory);
    return failed;
}

int main(int argc, char **argv) {
    tw_wgrad_depthwise_spec spec;
    tw_wgrad_depthwise_problem problem;
    tw_wgrad_depthwise_defaults(&spec, &problem);
    spec.kh = spec.kw = 5;
    spec.dtype = TW_BF16;
    problem.n = 2;
    problem.h = problem.w = 15;
    problem.c = 96;
    tw_instance instance = tw_wgrad_depthwise_instance(&spec, &problem);

    tw_diag *diag = tw_diag_new(NULL);
    tw_device *device = NULL;
    tw_compiler *compiler = NULL;
    tw_job *job = NULL;
    tw_code_object *objects[TW_JOB_MAX_KERNELS] = {0};
    tw_plan_host hosts[TW_JOB_MAX_BUFFERS] = {0};
    const void *inputs[TW_JOB_MAX_BUFFERS] = {0};
    int failed =
        !diag || tw_device_open(argc > 1 ? argv[1] : "auto:gfx1250", &device, diag) ||
        tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag) ||
        tw_job_new(&instance, tw_device_target(device), &job, diag) ||
        tw_job_compile(job, compiler, NULL, objects, diag) || make_host(job, hosts, inputs, diag) ||
        tw_plan_run(job->plan, device, objects, job->kernel_count, hosts, job->tensor_count, NULL, diag);
    for (size_t i = 0; !failed && i < job->tensor_count; i++) {
        if (!hosts[i].output) continue;
        printf("%s of %s on %s\n", tw_plan_buffer_at(job->plan, i)->name, tw_plan_label(job->plan),
               tw_device_name(device));
        failed = check(job, inputs, hosts[i].output, i, diag);
    }
    if (failed && diag) fputs(tw_diag_text(diag), stderr);

    for (size_t i = 0; i < TW_JOB_MAX_BUFFERS; i++) {
        free(hosts[i].output);
        free((void *)hosts[i].input);
    }
    for (size_t i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(objects[i]);
    tw_job_free(job);
    tw_compiler_close(compiler);
    tw_device_close(device);
    tw_diag_free(diag);
    return failed;
}
