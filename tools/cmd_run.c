#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "instances/measures.h"
#include "run/bundle.h"
#include "support/fail.h"
#include "tools/cli.h"
#include "tools/compiler_option.h"
#include "tools/job.h"
#include "tools/profile.h"
#include "tools/source.h"
#include "tools/trace.h"

typedef struct options {
    cli_source source;
    cli_output output;
    cli_trace trace;
    const char *device, *bundle;
    bool verify, no_cache;
    uint64_t seed;
    cli_values values;
    cli_compiler compiler;
} options;

static const struct argp_option argp_options[] = {
    {"device", 'd', "DEVICE", 0, "auto (default: a GPU where one fits, else the emulator), emu, hip:N", 0},
    {"verify", 'v', NULL, 0, "compare every element with the exact reference", 0},
    {"seed", 's', "N", 0, "what the inputs are made from (default 1)", 0},
    {"values", 'V', "KIND", 0,
     "uniform (default), integers (every sum is exact) or special (denormals, zeros, magnitudes)", 0},
    {"bundle", 'b', "DIR", 0, "write a reproducer that 'tilewright replay' runs", 0},
    CLI_COMPILER_OPTION("auto"),
    CLI_NO_CACHE_OPTION,
    {0}};

static bool find_word(const char *word, const char *const *words, unsigned *index) {
    for (*index = 0; words[*index]; ++*index)
        if (!strcmp(word, words[*index])) return true;
    return false;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    unsigned index = 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->source;
        state->child_inputs[1] = &o->output;
        state->child_inputs[2] = &o->trace;
        return 0;
    case 'd': o->device = argument; return 0;
    case 'v': o->verify = true; return 0;
    case 'b': o->bundle = argument; return 0;
    case 's':
        if (!cli_parse_u64(argument, &o->seed)) argp_error(state, "--seed takes a number (got %s)", argument);
        return 0;
    case 'V':
        if (!find_word(argument, cli_values_names, &index))
            argp_error(state, "--values must be uniform, integers or special (got %s)", argument);
        o->values = (cli_values)index;
        return 0;
    case 'c': cli_compiler_parse(argument, &o->compiler, state); return 0;
    case CLI_OPTION_NO_CACHE: o->no_cache = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static json_t *launch_rows(const cli_job *job, const tw_launch_counts *counts, bool profile) {
    json_t *rows = json_array();
    for (size_t i = 0; i < tw_plan_launch_count(job->job->plan); i++) {
        const tw_plan_launch *launch = tw_plan_launch_at(job->job->plan, i);
        json_array_append_new(
            rows, cli_launch_row(launch->kernel, launch->grid, launch->block, &counts[i], profile));
    }
    return rows;
}

/* Measures one output against the reference; false where an element is out of its bound. */
static tw_status verify_output(const cli_job *job, size_t i, json_t *rows, bool *passed, tw_diag *diag) {
    const tw_tensor *tensor = &job->job->tensors[i];
    const char *name = tw_plan_buffer_at(job->job->plan, i)->name;
    if (tensor->elements == 0) {
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:i, s:s}", "output", name, "format",
                                        tw_scalar_name(tensor->dtype), "elements", 0, "result", "empty"));
        return TW_OK;
    }
    tw_measures m;
    bool good;
    tw_status status = cli_job_measure(job, i, &m, &good, diag);
    if (status != TW_OK) return status;
    *passed &= good;
    json_array_append_new(rows, json_pack("{s:s, s:s, s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:I, s:I}", "output",
                                          name, "format", tw_scalar_name(tensor->dtype), "elements",
                                          (json_int_t)m.count, "result", good ? "passed" : "failed", "exact",
                                          (json_int_t)m.exact, "in_bound", (json_int_t)m.passed, "max_ulp",
                                          (json_int_t)m.max_ulp, "max_scaled", cli_real(m.max_scaled),
                                          "mean_scaled", cli_real(m.mean_scaled), "nan_errors",
                                          (json_int_t)m.nan_errors, "inf_errors", (json_int_t)m.inf_errors));
    return TW_OK;
}

static tw_status verify(const cli_job *job, json_t *rows, bool *passed, tw_diag *diag) {
    for (size_t i = 0; i < job->buffer_count; i++) {
        if (!job->hosts[i].output) continue;
        tw_status status = verify_output(job, i, rows, passed, diag);
        if (status != TW_OK) return status;
    }
    return TW_OK;
}

static tw_status write_bundle(const options *o, const cli_job *job, tw_diag *diag) {
    tw_bundle_output outputs[TW_JOB_MAX_BUFFERS];
    size_t count = 0;
    for (size_t i = 0; i < job->buffer_count; i++) {
        if (!job->hosts[i].output) continue;
        const tw_tensor *tensor = &job->job->tensors[i];
        tw_bundle_output *output = &outputs[count++];
        *output = (tw_bundle_output){.buffer = (uint32_t)i,
                                     .format = tensor->dtype,
                                     .rank = tensor->rank,
                                     .expected = job->references[i].expected,
                                     .bound = job->references[i].bound};
        for (uint32_t d = 0; d < tensor->rank; d++)
            output->shape[d] = (uint64_t)tensor->shape[d];
    }
    tw_bundle_source source = {.plan = job->job->plan,
                               .target = job->job->target,
                               .objects = job->objects,
                               .object_count = job->object_count,
                               .hosts = job->hosts,
                               .host_count = job->buffer_count,
                               .outputs = outputs,
                               .output_count = count};
    return tw_bundle_write(o->bundle, &source, diag);
}

static int print_results(const options *o, const tw_device *device, json_t *launches, json_t *outputs) {
    if (o->output.json)
        return cli_print_object(&o->output, json_pack("{s:s, s:o, s:o}", "device", tw_device_name(device),
                                                      "launches", launches, "outputs", outputs));
    static const cli_column columns[] = {{"output", "output"},
                                         {"format", "format"},
                                         {"elements", "elements"},
                                         {"result", "result"},
                                         {"exact", "exact"},
                                         {"in_bound", "in bound"},
                                         {"max_ulp", "max ulp"},
                                         {"max_scaled", "max error/scale"},
                                         {"mean_scaled", "mean error/scale"},
                                         {"nan_errors", "NaN only here"},
                                         {NULL, NULL}};
    printf("device %s\n", tw_device_name(device));
    int code = cli_print_launches(&o->output, launches, o->trace.profile);
    if (json_array_size(outputs) == 0) {
        json_decref(outputs);
        return code;
    }
    putchar('\n');
    int verified = cli_print_table(&o->output, columns, outputs);
    return code != CLI_OK ? code : verified;
}

static tw_status run(options *o, cli_job *job, tw_device *device, int *code, tw_diag *diag) {
    tw_launch_counts counts[16] = {{0}};
    if (tw_plan_launch_count(job->job->plan) > 16)
        return tw_fail(diag, TW_ERR_LIMIT, "a plan has at most 16 launches");
    tw_status status = cli_trace_start(&o->trace, device, diag);
    if (status == TW_OK)
        status = tw_plan_run(job->job->plan, device, job->objects, job->object_count, job->hosts,
                             job->buffer_count, counts, diag);
    status = cli_trace_finish(&o->trace, device, status, diag);
    if (status != TW_OK || o->trace.stopped) return status;
    bool passed = true;
    json_t *outputs = json_array();
    if (o->verify) status = verify(job, outputs, &passed, diag);
    if (status != TW_OK) {
        json_decref(outputs);
        return status;
    }
    *code = print_results(o, device, launch_rows(job, counts, o->trace.profile), outputs);
    return passed ? TW_OK : tw_fail(diag, TW_ERR_MISMATCH, "results are out of their bounds");
}

int cmd_run(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&cli_source_argp, 0, NULL, 0}, {&cli_output_argp, 0, NULL, 0}, {&cli_trace_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "INSTANCE [KEY=VALUE...]",
        .doc = "Runs an instance's whole problem on a device: compiles the kernels of its plan, makes "
               "inputs, launches, and checks the results.\vExample: tilewright run direct_wgrad_depthwise "
               "kh=3 kw=3 dtype=bf16 n=2 h=14 w=14 c=96 --arch gfx1250 --verify"};
    options o = {.seed = 1};
    cli_parse(&argp, argc, argv, &o);
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return CLI_FAILED;
    int code = CLI_OK;
    tw_status status = cli_source_open(&o.source, diag);
    if (status == TW_OK && o.source.is_text)
        status = tw_fail(diag, TW_ERR_USAGE,
                         "run takes an instance: a tile IR file does not say what its arguments are. "
                         "'tilewright compile' it, and give them to 'tilewright exec' (got %s)",
                         o.source.words[0]);
    bool usage = status == TW_ERR_USAGE; /* before anything ran: what libraries say later is a failure */
    tw_compiler *compiler = NULL;
    tw_device *device = NULL;
    cli_job job = {0};
    if (status == TW_OK) status = cli_compiler_open(&o.compiler, &compiler, diag);
    static const tw_compile_options uncached = {0};
    if (status == TW_OK)
        status = cli_job_open(&o.source.instance, o.source.target, o.values, o.seed, compiler,
                              o.no_cache ? &uncached : NULL, &job, diag);
    if (status == TW_OK && (o.verify || o.bundle)) status = cli_job_reference(&job, diag);
    if (status == TW_OK && o.bundle) status = write_bundle(&o, &job, diag);
    if (status == TW_OK) {
        status = cli_open_device(o.device, o.source.target, &device, diag);
        usage = status == TW_ERR_USAGE;
    }
    if (status == TW_OK) status = run(&o, &job, device, &code, diag);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    tw_device_close(device);
    cli_job_close(&job);
    tw_compiler_close(compiler);
    cli_source_close(&o.source);
    tw_diag_free(diag);
    return usage ? CLI_USAGE : code;
}
