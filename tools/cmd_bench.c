#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jit/cache.h"
#include "jit/compile.h"
#include "lower/lower.h"
#include "support/fail.h"
#include "tools/bench_matrix.h"
#include "tools/bench_valu.h"
#include "tools/cli.h"
#include "tools/job.h"
#include "tools/source.h"

typedef struct options {
    cli_source source;
    cli_output output;
    unsigned parts; /* bit a part */
    uint64_t repeat;
    json_t *rows;
    tw_compiler *compiler;
    double front_end_ms, compile_ms;
} options;

/* The compile comes first: the front end is measured in a process that compiles, as a JIT is. */
typedef enum part { PART_COMPILE, PART_FRONT_END, PART_CACHE, PART_EMULATOR, PART_COUNT } part;
static const char *const part_names[] = {"compile", "frontend", "cache", "emulator"};

/* The kernel that the goals speak of. */
static const char *const default_words[] = {
    "direct_wgrad_depthwise", "kh=7", "kw=7", "stride=1", "dtype=bf16", "n=4", "h=28", "w=28", "c=96"};

static const struct argp_option argp_options[] = {
    {"repeat", 'r', "N", 0, "samples of each measurement (default 20)", 0}, {0}};

static bool take_part(options *o, const char *word) {
    for (unsigned i = 0; i < PART_COUNT; i++)
        if (!strcmp(word, part_names[i])) {
            o->parts |= 1u << i;
            return true;
        }
    return false;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->source;
        state->child_inputs[1] = &o->output;
        return 0;
    /* Parts stand before the instance, whose words go on to the next parser. */
    case ARGP_KEY_ARG:
        if (o->source.word_count) return ARGP_ERR_UNKNOWN;
        if (take_part(o, argument)) return 0;
        if (!strchr(argument, '.') && !strchr(argument, '/') && strcmp(argument, "-") &&
            !tw_family_find(argument))
            argp_error(state,
                       "the first word must be compile, frontend, cache, emulator or an instance (got %s)",
                       argument);
        return ARGP_ERR_UNKNOWN;
    case 'r':
        if (!cli_parse_u64(argument, &o->repeat) || o->repeat < 1 || o->repeat > 10000)
            argp_error(state, "--repeat must be 1..10000 (got %s)", argument);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, compare_doubles);
    return values[count / 2];
}

/* `at_most`: whether the goal is an upper bound; a goal of 0 is none. */
static void add_row(options *o, part p, const char *measure, double value, const char *unit, double goal,
                    bool at_most) {
    json_t *row = json_pack("{s:s, s:s, s:f, s:s}", "part", part_names[p], "measure", measure, "value", value,
                            "unit", unit);
    if (goal > 0) {
        char text[32];
        snprintf(text, sizeof text, "%s %g", at_most ? "<=" : ">=", goal);
        json_object_set_new(row, "goal", json_string(text));
        json_object_set_new(row, "met", json_boolean(at_most ? value <= goal : value >= goal));
    }
    json_array_append_new(o->rows, row);
}

static tw_status measure_front_end(options *o, tw_diag *diag) {
    size_t samples = o->repeat * 10;
    double *build = calloc(samples, sizeof *build), *lower = calloc(samples, sizeof *lower),
           *both = calloc(samples, sizeof *both);
    tw_status status = build && lower && both ? TW_OK : tw_fail_no_memory(diag);
    size_t length = 0;
    for (size_t i = 0; status == TW_OK && i < samples; i++) {
        uint64_t start = cli_now();
        tw_context *ctx = tw_context_new(NULL);
        if (!ctx) {
            status = tw_fail_no_memory(diag);
            break;
        }
        tw_kernel *kernel = cli_source_kernel(&o->source, ctx);
        uint64_t built = cli_now();
        char *text = NULL;
        if (kernel) {
            status = tw_lower(kernel, TW_FLAVOR_LLVM22, &text, &length, diag);
        } else {
            status = tw_fail(diag, TW_ERR_INVALID, "%s", tw_diag_first_error(tw_context_diag(ctx)));
        }
        uint64_t done = cli_now();
        build[i] = (double)(built - start) / 1e6;
        lower[i] = (double)(done - built) / 1e6;
        both[i] = (double)(done - start) / 1e6;
        free(text);
        tw_context_free(ctx);
    }
    if (status == TW_OK) {
        o->front_end_ms = median(both, samples);
        add_row(o, PART_FRONT_END, "build and verify", median(build, samples), "ms", 0, true);
        add_row(o, PART_FRONT_END, "verify and lower", median(lower, samples), "ms", 0, true);
        add_row(o, PART_FRONT_END, "both", o->front_end_ms, "ms", 0.5, true);
        if (o->compile_ms > 0)
            add_row(o, PART_FRONT_END, "both / cold compile", 100 * o->front_end_ms / o->compile_ms, "%", 3,
                    true);
        add_row(o, PART_FRONT_END, "LLVM IR", (double)length, "bytes", 0, true);
    }
    free(build);
    free(lower);
    free(both);
    return status;
}

static tw_status measure_compile(options *o, tw_context *ctx, tw_diag *diag) {
    tw_kernel *kernel = cli_source_kernel(&o->source, ctx);
    if (!kernel) return TW_ERR_INVALID;
    double *whole = calloc(o->repeat, sizeof *whole), *ratio = calloc(o->repeat, sizeof *ratio);
    tw_status status = whole && ratio ? TW_OK : tw_fail_no_memory(diag);
    for (size_t i = 0; status == TW_OK && i < o->repeat; i++) {
        tw_compile_times times = {0};
        tw_code_object *object = NULL;
        uint64_t start = cli_now();
        status = tw_compile(o->compiler, kernel, &(tw_compile_options){.times = &times}, &object, diag);
        whole[i] = (double)(cli_now() - start) / 1e6;
        ratio[i] = whole[i] * 1e6 / (double)(times.parse + times.passes + times.codegen + times.link);
        tw_code_object_release(object);
    }
    if (status == TW_OK) {
        o->compile_ms = median(whole, o->repeat);
        add_row(o, PART_COMPILE, "cold compile", o->compile_ms, "ms", 0, true);
        add_row(o, PART_COMPILE, "cold compile / LLVM's own phases", median(ratio, o->repeat), "ratio", 1.1,
                true);
    }
    free(whole);
    free(ratio);
    return status;
}

static tw_status measure_cache(options *o, tw_context *ctx, tw_diag *diag) {
    char folder[] = "/tmp/tilewright-bench-XXXXXX";
    if (!mkdtemp(folder)) return tw_fail(diag, TW_ERR_IO, "%s: %s", folder, strerror(errno));
    size_t samples = o->repeat * 10;
    double *hit = calloc(samples, sizeof *hit), *lookup = calloc(samples, sizeof *lookup);
    tw_cache *cache = NULL;
    tw_status status = hit && lookup ? TW_OK : tw_fail_no_memory(diag);
    if (status == TW_OK) status = tw_cache_open(&(tw_cache_options){.directory = folder}, &cache, diag);
    tw_kernel *kernel = cli_source_kernel(&o->source, ctx);
    if (!kernel) status = TW_ERR_INVALID;
    for (size_t i = 0; status == TW_OK && i <= samples; i++) {
        tw_compile_times times = {0};
        tw_code_object *object = NULL;
        uint64_t start = cli_now();
        status = tw_compile(o->compiler, kernel, &(tw_compile_options){.cache = cache, .times = &times},
                            &object, diag);
        uint64_t end = cli_now();
        tw_code_object_release(object);
        if (i == 0) continue; /* fills the cache */
        if (status == TW_OK && !times.cache_hit)
            status = tw_fail(diag, TW_ERR_MISMATCH, "the warm compile missed the cache");
        hit[i - 1] = (double)(end - start) / 1e6;
        lookup[i - 1] = (double)times.cache_lookup / 1e6;
    }
    if (status == TW_OK) {
        add_row(o, PART_CACHE, "warm hit, lowering included", median(hit, samples), "ms", 0, true);
        add_row(o, PART_CACHE, "warm hit, code object in memory", median(lookup, samples), "ms", 0.3, true);
    }
    if (cache) tw_cache_prune(cache, 0, &(tw_cache_stats){0}, NULL);
    tw_cache_close(cache);
    rmdir(folder);
    free(hit);
    free(lookup);
    return status;
}

/* Time that this process was on a processor: what others do on a shared machine does not count. */
static uint64_t processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static tw_status measure_matrix(options *o, tw_diag *diag) {
    size_t samples = o->repeat < 5 ? o->repeat : 5;
    for (size_t m = 0; bench_matrix_name(m); m++) {
        double rates[5] = {0};
        char measure[64];
        for (size_t i = 0; i < samples; i++) {
            tw_status status = bench_matrix_rate(m, o->compiler, &rates[i], diag);
            if (status != TW_OK) return status;
        }
        snprintf(measure, sizeof measure, "%s on one processor", bench_matrix_name(m));
        add_row(o, PART_EMULATOR, measure, median(rates, samples), "million/s", bench_matrix_goal(m), false);
    }
    return TW_OK;
}

static tw_status measure_vector(options *o, tw_diag *diag) {
    size_t samples = o->repeat < 5 ? o->repeat : 5;
    for (size_t t = 0; bench_valu_target(t); t++) {
        bench_valu_result result = {0, 0};
        double rates[5] = {0};
        char measure[64];
        for (size_t i = 0; i < samples; i++) {
            tw_status status = bench_valu_run(t, o->compiler, &result, diag);
            if (status != TW_OK) return status;
            rates[i] = result.rate;
        }
        snprintf(measure, sizeof measure, "vector code on %s, one processor", bench_valu_target(t));
        add_row(o, PART_EMULATOR, measure, median(rates, samples), "million/s", 20, false);
        snprintf(measure, sizeof measure, "vector instructions in it");
        add_row(o, PART_EMULATOR, measure, result.share, "%", 0, false);
    }
    return TW_OK;
}

/* The emulator uses the processors that it may run on: one, while this measures. */
static tw_status measure_emulator(options *o, tw_diag *diag) {
    cpu_set_t before, one;
    CPU_ZERO(&one);
    int cpu = sched_getcpu();
    if (cpu >= 0) CPU_SET((unsigned)cpu, &one);
    bool pinned = cpu >= 0 && sched_getaffinity(0, sizeof before, &before) == 0 &&
                  sched_setaffinity(0, sizeof one, &one) == 0;
    cli_job job = {0};
    tw_device *device = NULL;
    tw_status status =
        pinned ? TW_OK : tw_fail(diag, TW_ERR_UNSUPPORTED, "the process cannot be kept on one processor");
    if (status == TW_OK) status = cli_open_device("emu", o->source.target, &device, diag);
    if (status == TW_OK)
        status = cli_job_open(&o->source.instance, o->source.target, CLI_VALUES_UNIFORM, 1, o->compiler,
                              &(tw_compile_options){0}, &job, diag);
    size_t samples = o->repeat < 5 ? o->repeat : 5;
    double rates[5] = {0};
    tw_launch_counts counts[16] = {{0}};
    if (status == TW_OK && tw_plan_launch_count(job.job->plan) > 16)
        status = tw_fail(diag, TW_ERR_LIMIT, "a plan has at most 16 launches");
    for (size_t i = 0; status == TW_OK && i < samples; i++) {
        uint64_t start = processor_time();
        status = tw_plan_run(job.job->plan, device, job.objects, job.object_count, job.hosts,
                             job.buffer_count, counts, diag);
        uint64_t spent = processor_time() - start, executed = 0;
        for (size_t launch = 0; launch < tw_plan_launch_count(job.job->plan); launch++)
            executed += counts[launch].wave_instructions;
        rates[i] = (double)executed * 1e3 / (double)(spent ? spent : 1);
    }
    if (status == TW_OK) {
        add_row(o, PART_EMULATOR, "wave instructions, first launch",
                (double)counts[0].wave_instructions / 1e6, "million", 0, true);
        add_row(o, PART_EMULATOR, "rate on one processor, of its time", median(rates, samples), "million/s",
                5, false);
    }
    if (status == TW_OK) status = measure_vector(o, diag);
    if (status == TW_OK) status = measure_matrix(o, diag);
    if (pinned) sched_setaffinity(0, sizeof before, &before);
    cli_job_close(&job);
    tw_device_close(device);
    return status;
}

int cmd_bench(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&cli_source_argp, 0, NULL, 0}, {&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "[PART...] [INSTANCE [KEY=VALUE...]]\n[PART...] FILE.tir",
        .doc =
            "Measures on this machine: medians, and ratios that carry over to others. Goals are shown, not "
            "enforced.\vPART is compile, frontend, cache or emulator; without one, all are measured, but "
            "emulator not of a file. Without an instance: direct_wgrad_depthwise 7x7, bf16."};
    options o = {.repeat = 20, .rows = json_array()};
    cli_parse(&argp, argc, argv, &o);
    if (o.source.word_count == 0) {
        o.source.word_count = sizeof default_words / sizeof default_words[0];
        memcpy(o.source.words, default_words, sizeof default_words);
    }
    bool parts_given = o.parts;
    if (!o.parts) o.parts = (1u << PART_COUNT) - 1;
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return CLI_FAILED;
    tw_diag *diag = tw_context_diag(ctx);
    tw_status status = cli_source_open(&o.source, diag);
    if (status == TW_OK && !parts_given && o.source.is_text) o.parts &= ~(1u << PART_EMULATOR);
    if (status == TW_OK && o.source.is_text && o.parts & 1u << PART_EMULATOR)
        status =
            tw_fail(diag, TW_ERR_USAGE,
                    "emulator runs an instance: a tile IR file does not say what its arguments are (got %s)",
                    o.source.words[0]);
    bool usage = status == TW_ERR_USAGE;
    if (status == TW_OK) status = tw_compiler_open(TW_COMPILER_LLVM, &o.compiler, diag);
    if (status == TW_OK && o.parts & 1u << PART_COMPILE) status = measure_compile(&o, ctx, diag);
    if (status == TW_OK && o.parts & 1u << PART_FRONT_END) status = measure_front_end(&o, diag);
    if (status == TW_OK && o.parts & 1u << PART_CACHE) status = measure_cache(&o, ctx, diag);
    if (status == TW_OK && o.parts & 1u << PART_EMULATOR) status = measure_emulator(&o, diag);
    static const cli_column columns[] = {{"part", "part"}, {"measure", "measure"}, {"value", "value"},
                                         {"unit", "unit"}, {"goal", "goal"},       {"met", "met"},
                                         {NULL, NULL}};
    int code = CLI_OK;
    if (status == TW_OK) {
        code = cli_print_table(&o.output, columns, o.rows);
    } else {
        json_decref(o.rows);
    }
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    tw_compiler_close(o.compiler);
    cli_source_close(&o.source);
    tw_context_free(ctx);
    return usage ? CLI_USAGE : code;
}
