#include "tools/lane.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "jit/worker.h"
#include "lower/lower.h"
#include "support/fail.h"
#include "tools/job.h"

enum { TIME_LIMIT_MS = 300000 };

/* ---- one configuration on one target, in a process of its own ---- */

typedef struct task {
    const cli_pin *pin;
    tw_target target;
    tw_compiler *compiler;
    cli_lane_row row;
} task;

static tw_status hash_outputs(const cli_job *job, char hash[CLI_RESULT_DIGITS + 1], tw_diag *diag) {
    char full[CLI_HASH_SIZE];
    tw_strbuf bytes;
    tw_strbuf_init(&bytes, NULL);
    for (size_t i = 0; i < job->buffer_count; i++)
        if (job->hosts[i].output)
            tw_strbuf_append_n(&bytes, job->data[i], tw_plan_buffer_at(job->job->plan, i)->bytes);
    cli_hash(tw_strbuf_text(&bytes), bytes.length, full);
    snprintf(hash, CLI_RESULT_DIGITS + 1, "%.*s", CLI_RESULT_DIGITS, full);
    tw_status status = bytes.failed ? tw_fail_no_memory(diag) : TW_OK;
    tw_strbuf_free(&bytes);
    return status;
}

/* Runs the plan on fresh inputs and compares each output with the reference. */
static tw_status execute(cli_job *job, tw_device *device, cli_values values, char hash[CLI_RESULT_DIGITS + 1],
                         tw_diag *diag) {
    tw_status status = cli_job_fill(job, values, 1, diag);
    if (status == TW_OK) status = cli_job_reference(job, diag);
    if (status == TW_OK)
        status = tw_plan_run(job->job->plan, device, job->objects, job->object_count, job->hosts,
                             job->buffer_count, NULL, diag);
    for (size_t i = 0; status == TW_OK && i < job->buffer_count; i++) {
        tw_measures m;
        bool good;
        if (!job->hosts[i].output || job->job->tensors[i].elements == 0) continue;
        status = cli_job_measure(job, i, &m, &good, diag);
        if (status != TW_OK) break;
        if (values == CLI_VALUES_INTEGERS) good = good && m.exact == m.count;
        if (!good)
            status = tw_fail(diag, TW_ERR_MISMATCH,
                             "%s of %s inputs: %zu of %zu elements are exact, %zu in their bounds",
                             tw_plan_buffer_at(job->job->plan, i)->name, cli_values_names[values],
                             (size_t)m.exact, (size_t)m.count, (size_t)m.passed);
    }
    return status == TW_OK ? hash_outputs(job, hash, diag) : status;
}

static void note_object(cli_lane_row *row, const tw_code_object *object, bool own) {
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    const tw_kernel_info *kernel;
    if (own) cli_hash(bytes, size, row->code);
    for (size_t i = 0; (kernel = tw_code_object_kernel_at(object, i)); i++)
        row->spills += kernel->vgpr_spills;
}

static tw_status run_instance(task *t, const tw_instance *instance, tw_diag *diag) {
    cli_job job;
    tw_device *device = NULL;
    tw_compile_options uncached = {0};
    tw_status status =
        cli_job_open(instance, t->target, CLI_VALUES_INTEGERS, 1, t->compiler, &uncached, &job, diag);
    for (size_t i = 0; i < job.object_count; i++)
        note_object(&t->row, job.objects[i], i == 0);
    if (status == TW_OK) status = cli_open_device("emu", t->target, &device, diag);
    if (status == TW_OK) status = execute(&job, device, CLI_VALUES_INTEGERS, t->row.integers, diag);
    if (status == TW_OK) status = execute(&job, device, CLI_VALUES_UNIFORM, t->row.uniform, diag);
    if (status == TW_OK) t->row.outcome = CLI_LANE_RIGHT;
    tw_device_close(device);
    cli_job_close(&job);
    return status;
}

static tw_status compile_only(task *t, const tw_kernel *kernel, tw_diag *diag) {
    tw_code_object *object = NULL;
    tw_compile_options uncached = {0};
    tw_status status = tw_compile(t->compiler, kernel, &uncached, &object, diag);
    if (status != TW_OK) return status;
    note_object(&t->row, object, true);
    t->row.outcome = CLI_LANE_LINKED;
    tw_code_object_release(object);
    return TW_OK;
}

static bool is_refusal(tw_status status) { return status == TW_ERR_INVALID || status == TW_ERR_UNSUPPORTED; }

/* TW_OK with the outcome set, or what went wrong. */
static tw_status measure_source(task *t, cli_source *source, tw_context *ctx) {
    tw_diag *diag = tw_context_diag(ctx);
    tw_kernel *kernel = cli_source_kernel(source, ctx);
    if (!kernel) {
        tw_status status = tw_diag_count(diag) ? tw_diag_get(diag, 0)->status : TW_ERR_NO_MEMORY;
        return is_refusal(status) ? TW_OK : status;
    }
    tw_compiler_choice choice;
    tw_status status = tw_compiler_choose(t->compiler, t->target, &choice, diag);
    if (status == TW_ERR_UNSUPPORTED) {
        t->row.outcome = CLI_LANE_UNSERVED;
        return TW_OK;
    }
    char *text = NULL;
    if (status == TW_OK) status = tw_lower(kernel, choice.flavor, &text, NULL, diag);
    free(text);
    if (is_refusal(status)) {
        t->row.outcome = CLI_LANE_REFUSED;
        return TW_OK;
    }
    if (status != TW_OK) return status;
    return source->is_text ? compile_only(t, kernel, diag) : run_instance(t, &source->instance, diag);
}

static tw_status measure_in_child(void *argument, tw_compile_times *times, tw_diag *diag, uint8_t **bytes,
                                  size_t *size) {
    (void)times;
    task *t = argument;
    cli_source source = t->pin->source;
    source.target = t->target;
    tw_context *ctx = tw_context_new(NULL);
    *bytes = malloc(sizeof t->row);
    if (!ctx || !*bytes) return tw_fail_no_memory(diag);
    tw_status status = cli_source_open(&source, tw_context_diag(ctx));
    if (status == TW_OK) status = measure_source(t, &source, ctx);
    if (status != TW_OK) {
        t->row.outcome = CLI_LANE_FAILED;
        snprintf(t->row.reason, sizeof t->row.reason, "%s", tw_diag_first_error(tw_context_diag(ctx)));
    }
    memcpy(*bytes, &t->row, sizeof t->row);
    *size = sizeof t->row;
    cli_source_close(&source);
    tw_context_free(ctx);
    return TW_OK;
}

static void measure(task *t) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    tw_compile_times times;
    tw_worker_limits limits = {.milliseconds = TIME_LIMIT_MS};
    tw_diag *diag = tw_diag_new(NULL);
    tw_status status = tw_worker_run(&limits, t->row.words, measure_in_child, t, &times, &bytes, &size, diag);
    if (status == TW_OK && size == sizeof t->row) {
        memcpy(&t->row, bytes, size);
    } else {
        t->row.outcome = CLI_LANE_FAILED;
        snprintf(t->row.reason, sizeof t->row.reason, "%s",
                 diag ? tw_diag_first_error(diag) : "out of memory");
    }
    free(bytes);
    tw_diag_free(diag);
}

/* ---- all of them ---- */

typedef struct queue {
    task *tasks;
    size_t count;
    atomic_size_t next;
} queue;

/* This process compiles nothing while the workers are forked, so no lock of LLVM is taken then. */
static void *work(void *argument) {
    queue *q = argument;
    for (size_t i; (i = atomic_fetch_add(&q->next, 1)) < q->count;)
        measure(&q->tasks[i]);
    return NULL;
}

static tw_status make_tasks(const cli_pins *pins, tw_target only, tw_compiler *compiler, queue *q,
                            tw_diag *diag) {
    q->tasks = calloc(pins->count * TW_ARCH_COUNT, sizeof *q->tasks);
    if (!q->tasks) return tw_fail_no_memory(diag);
    for (size_t i = 0; i < pins->count; i++)
        for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
            const tw_arch_info *info = tw_arch_get((tw_arch)a);
            if (only.arch && only.arch != info->arch) continue;
            task *t = &q->tasks[q->count++];
            *t = (task){.pin = &pins->pins[i],
                        .target = only.arch ? only : (tw_target){info->arch, info->wave_size, 0, 0},
                        .compiler = compiler,
                        .row = {.integers = "-", .uniform = "-"}};
            tw_target_format(t->target, t->row.target);
            if (strlen(t->pin->words) >= sizeof t->row.words)
                return tw_fail(diag, TW_ERR_LIMIT, "a pin must be shorter (got %zu bytes)",
                               strlen(t->pin->words));
            snprintf(t->row.words, sizeof t->row.words, "%s", t->pin->words);
        }
    return TW_OK;
}

static tw_status name_compiler(tw_compiler *compiler, const queue *q, cli_lane *out, tw_diag *diag) {
    tw_compiler_choice choice = {.identity = NULL};
    for (size_t i = 0; i < q->count && !choice.identity; i++)
        if (tw_compiler_choose(compiler, q->tasks[i].target, &choice, NULL) != TW_OK) choice.identity = NULL;
    if (!choice.identity)
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "the compiler must serve a target (got none)");
    snprintf(out->identity, sizeof out->identity, "%s", choice.identity);
    snprintf(out->flavor, sizeof out->flavor, "%s", tw_flavor_name(choice.flavor));
    return TW_OK;
}

tw_status cli_lane_measure(const cli_pins *pins, tw_target only, tw_compiler *compiler, unsigned jobs,
                           cli_lane *out, tw_diag *diag) {
    enum { MOST_JOBS = 64 };
    pthread_t threads[MOST_JOBS];
    unsigned started = 0;
    queue q = {0};
    *out = (cli_lane){0};
    tw_status status = make_tasks(pins, only, compiler, &q, diag);
    if (status == TW_OK) status = name_compiler(compiler, &q, out, diag);
    if (status == TW_OK) {
        while (started + 1 < jobs && started < MOST_JOBS &&
               pthread_create(&threads[started], NULL, work, &q) == 0)
            started++;
        work(&q);
        for (unsigned i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
        out->rows = calloc(q.count ? q.count : 1, sizeof *out->rows);
        if (!out->rows) status = tw_fail_no_memory(diag);
    }
    for (size_t i = 0; status == TW_OK && i < q.count; i++)
        if (q.tasks[i].row.outcome != CLI_LANE_NONE) out->rows[out->count++] = q.tasks[i].row;
    free(q.tasks);
    return status;
}

void cli_lane_free(cli_lane *lane) {
    free(lane->rows);
    *lane = (cli_lane){0};
}
