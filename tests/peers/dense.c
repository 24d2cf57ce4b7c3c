/* The library's weight gradients on matrix units next to others in HIP C++ and in Triton: the same problem,
 * inputs and emulator, every result against the exact reference.
 *
 *   dense --check
 *       numbers only, small problems: passes or fails
 *   dense [--triton FOLDER] [--all] [--case 3x3] [n=4 h=56 ...]
 *       what each kernel executes and uses, on integers; of configurations the one with the fewest
 *       instructions, or all
 *   dense --time TILEWRIGHT [REPEAT [PYTHON]]
 *       wall time of the compiles, in milliseconds; PYTHON has Triton */
#include "tests/peers/dense.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "tests/peers/dense_time.h"

enum { MAX_WORDS = 24 };

static const char *const targets[] = {"gfx942", "gfx950", "gfx1201", "gfx1250"};
/* A problem to measure, and one to check: no multiple of any tile. */
static const struct {
    const char *name;
    int filter, stride;
    bool bf16; /* checked in both formats */
    const char *measured, *checked;
} shapes[] = {
    {"3x3", 3, 1, true, "n=2 h=28 w=28 c=128 k=128 splits=1", "n=3 h=11 w=13 c=48 k=80 splits=2"},
    {"1x1", 1, 1, false, "n=2 h=28 w=28 c=256 k=256 splits=1", "n=3 h=11 w=13 c=48 k=80 splits=2"},
    {"stem3", 3, 1, false, "n=2 h=64 w=64 c=3 k=64 splits=1", "n=3 h=11 w=16 c=3 k=64 splits=2"},
    {"stem7", 7, 2, false, "n=2 h=64 w=64 c=3 k=64 splits=1", "n=3 h=23 w=24 c=3 k=64 splits=2"},
};
/* The library's instances: of each case the defaults first, then configurations of which the one with the
 * fewest instructions is shown. */
/* clang-format off */
static const struct {
    const char *target, *shape, *words;
    unsigned depth; /* of its matrix instruction of 16 x 16 sums, or of the one that takes as long */
} own[] = {
    {"gfx942",  "3x3",   "direct_wgrad_mfma", 16},
    {"gfx942",  "3x3",   "direct_wgrad_mfma vec=8", 16},
    {"gfx942",  "3x3",   "direct_wgrad_mfma steps=2", 16},
    {"gfx950",  "3x3",   "direct_wgrad_mfma", 32},
    {"gfx950",  "3x3",   "direct_wgrad_mfma vec=8", 32},
    {"gfx950",  "3x3",   "direct_wgrad_mfma atom_k=32 vec=8", 32},
    {"gfx1201", "3x3",   "direct_wgrad_image", 16},
    {"gfx1201", "3x3",   "direct_wgrad_image rows_per_sync=4", 16},
    {"gfx1201", "3x3",   "direct_wgrad_image wave_tiles_k=2 strip=16 rows_per_sync=4 vec=4", 16},
    {"gfx1250", "3x3",   "direct_wgrad_image", 32},
    {"gfx1250", "3x3",   "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4", 32},
    {"gfx1250", "3x3",   "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 strip=16", 32},
    {"gfx1250", "3x3",   "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 strip=16 tdm_stages=2", 32},
    {"gfx1250", "3x3",   "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 tdm_stages=2", 32},
    {"gfx942",  "1x1",   "direct_wgrad_mfma", 16},
    {"gfx942",  "1x1",   "direct_wgrad_mfma vec=8 wave_tiles_k=4 wave_tiles_c=4", 16},
    {"gfx942",  "1x1",   "direct_wgrad_mfma steps=2 vec=8 wave_tiles_k=4 wave_tiles_c=4", 16},
    {"gfx950",  "1x1",   "direct_wgrad_mfma", 32},
    {"gfx950",  "1x1",   "direct_wgrad_mfma vec=8 wave_tiles_k=4 wave_tiles_c=4", 32},
    {"gfx950",  "1x1",   "direct_wgrad_mfma atom_k=32 vec=8 wave_tiles_k=4 wave_tiles_c=4", 32},
    {"gfx1201", "1x1",   "direct_wgrad_image", 16},
    {"gfx1201", "1x1",   "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 strip=16", 16},
    {"gfx1201", "1x1",   "direct_wgrad_image wave_tiles_k=4 wave_tiles_c=4 rows_per_sync=1 strip=16", 16},
    {"gfx1250", "1x1",   "direct_wgrad_image", 32},
    {"gfx1250", "1x1",   "direct_wgrad_image wave_tiles_k=4 wave_tiles_c=4 rows_per_sync=4 strip=16 tdm_stages=2", 32},
    {"gfx1250", "1x1",   "direct_wgrad_image wave_tiles_k=4 wave_tiles_c=4 rows_per_sync=4 tdm_stages=2", 32},
    {"gfx1250", "stem3", "direct_wgrad_small_c", 32},
    {"gfx1250", "stem3", "direct_wgrad_small_c wave_tiles_k=4 sub_steps=2 rows=4 vec_x=8 dy_direct=1", 32},
    {"gfx1250", "stem7", "direct_wgrad_small_c", 32},
    {"gfx1250", "stem7", "direct_wgrad_small_c wave_tiles_k=4 wave_tiles_q=5 waves_q=2 sub_steps=1 rows=4 vec_x=8 dy_direct=1", 32},
};
/* clang-format on */
enum { OWN = sizeof own / sizeof own[0] };

typedef struct options {
    bool check, all;
    const char *only;         /* one shape, or NULL */
    const char *triton;       /* a folder, or NULL */
    const char *const *sizes; /* instead of the shapes' own; NULL-terminated */
    const char *command, *python;
    unsigned repeat, failures;
} options;

/* Splits words at spaces, into `text`. */
static size_t split(char *text, const char **words, size_t count) {
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) && count < MAX_WORDS;)
        words[count++] = word;
    return count;
}

static tw_status instance_of(const dense_case *c, const char *own_words, const char *sizes, tw_instance *out,
                             tw_diag *diag) {
    char text[256], fields[96] = "";
    const char *words[MAX_WORDS];
    if (strstr(own_words, "small_c")) snprintf(fields, sizeof fields, " stride=%d", c->stride);
    snprintf(text, sizeof text, "%s kh=%d kw=%d%s dtype=%s %s", own_words, c->filter, c->filter, fields,
             c->dtype, sizes);
    size_t count = split(text, words, 0);
    return tw_instance_parse(words, count, out, diag);
}

static tw_status open_job(const dense_case *c, const char *own_words, const char *sizes, cli_values values,
                          tw_compiler *compiler, const options *o, cli_job *out, tw_diag *diag) {
    tw_instance instance;
    tw_target target;
    tw_status status = tw_target_parse(c->target, &target, diag);
    if (!status) status = instance_of(c, own_words, sizes, &instance, diag);
    for (const char *const *word = o->sizes; !status && word && *word; word++)
        status = tw_instance_set(&instance, *word, diag);
    if (!status)
        status = cli_job_open(&instance, target, values, 1, compiler, &(tw_compile_options){0}, out, diag);
    return status;
}

/* Multiplications that exist: taps inside X. */
static double products_of(const cli_job *job, const dense_case *c) {
    int64_t rows = 0, columns = 0;
    for (int r = 0; r < c->filter; r++) {
        for (int64_t y = 0, at = r - dense_value(job, "pad_h"); y < dense_value(job, "ho");
             y++, at += c->stride)
            rows += at >= 0 && at < dense_value(job, "h");
        for (int64_t x = 0, at = r - dense_value(job, "pad_w"); x < dense_value(job, "wo");
             x++, at += c->stride)
            columns += at >= 0 && at < dense_value(job, "w");
    }
    return (double)dense_value(job, "n") * (double)rows * (double)columns * dense_value(job, "c") *
           dense_value(job, "k");
}

static void print_row(const dense_case *c, const char *name, unsigned per_instruction, const cli_job *job,
                      const dense_outcome *o) {
    const tw_launch_counts *n = &o->counts;
    const double products = products_of(job, c), tile = 16 * 16 * 16;
    double least = (double)(tw_plan_buffer_at(job->job->plan, DENSE_X)->bytes +
                            tw_plan_buffer_at(job->job->plan, DENSE_DY)->bytes);
    printf("| %s | %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64
           " | %.2f | %.2f | %.0f | %" PRIu64 " | %.2f | %u | %u | %zu |\n",
           c->target, c->name, name, n->wave_instructions, n->matrix, n->valu, n->vmem, n->lds, n->salu,
           (double)n->matrix * per_instruction / products,
           (double)(n->valu + n->vmem + n->lds) * tile / products,
           (double)(n->lds_bytes_read + n->lds_bytes_written) * tile / products, n->lds_bank_conflicts,
           (double)n->global_bytes_read / least, o->vgprs, o->lds, o->code_bytes);
    if (o->spills) fprintf(stderr, "%s %s %s: %u registers spilled\n", c->target, c->name, name, o->spills);
    fflush(stdout);
}

static void report(const dense_case *c, const char *name, unsigned per_instruction, const cli_job *job,
                   const dense_outcome *out, options *o) {
    const uint64_t elements = job->job->tensors[DENSE_DW].elements;
    o->failures += out->wrong != 0;
    if (o->check)
        printf("%s %s_%s_%s_%s (%" PRIu64 " of %" PRIu64 " elements out of bound)\n",
               out->wrong ? "[  FAILED  ]" : "[       OK ]", c->target, c->name, c->dtype, name, out->wrong,
               elements);
    else if (out->wrong)
        fprintf(stderr, "%s %s %s: %" PRIu64 " elements out of bound\n", c->target, c->name, name,
                out->wrong);
    else
        print_row(c, name, per_instruction, job, out);
}

static tw_status run_own(const cli_job *job, const cli_job *judge, tw_device *device, dense_outcome *out,
                         tw_diag *diag) {
    tw_launch_counts counts[TW_JOB_MAX_KERNELS];
    tw_status status = tw_plan_run(job->job->plan, device, job->objects, job->object_count, job->hosts,
                                   job->buffer_count, counts, diag);
    if (status) return status;
    out->counts = counts[0];
    out->wrong = dense_count_wrong(judge, job->data[DENSE_DW]);
    dense_describe(job->objects[0], tw_plan_launch_at(job->job->plan, 0)->kernel, 0, out);
    return TW_OK;
}

/* Kernels that spill are last, then instructions count. */
static bool better(const dense_outcome *a, const dense_outcome *b) {
    if (!a->spills != !b->spills) return !a->spills;
    return a->counts.wave_instructions < b->counts.wave_instructions;
}

/* Rows of the other compilers' kernels. */
static tw_status run_peers(const dense_case *c, const cli_job *job, tw_device *device, options *o,
                           tw_diag *diag) {
    dense_peer *peers = NULL;
    size_t count = 0;
    tw_status status = dense_peers_of(c, o->triton, &peers, &count, diag);
    dense_outcome *outcomes = calloc(count + 1, sizeof *outcomes);
    if (!outcomes) status = tw_fail_no_memory(diag);
    for (size_t i = 0; !status && i < count; i++)
        status = dense_run_peer(job, device, c, &peers[i], &outcomes[i], diag);
    for (size_t i = 0; !status && i < count; i++) {
        bool best = true;
        for (size_t j = 0; j < count; j++)
            best &= !dense_same_form(&peers[i], &peers[j]) || !better(&outcomes[j], &outcomes[i]);
        char name[96];
        snprintf(name, sizeof name, "%s, `%s`", peers[i].triton ? "Triton" : "HIP", peers[i].label);
        if (best || o->all || o->check || outcomes[i].wrong)
            report(c, o->check ? peers[i].label : name, peers[i].products, job, &outcomes[i], o);
    }
    free(outcomes);
    free(peers);
    return status;
}

/* What all kernels of a case are run on, and what judges them. */
typedef struct trial {
    const dense_case *c;
    const char *sizes;
    cli_values values;
    tw_compiler *compiler;
    tw_device *device;
    cli_job
        judge; /* of the first of the library's; others have the same inputs, a matter of sizes and seed */
} trial;

static tw_status run_words(const trial *t, const char *words, const options *o, dense_outcome *out,
                           tw_diag *diag) {
    cli_job job = {0};
    tw_status status = open_job(t->c, words, t->sizes, t->values, t->compiler, o, &job, diag);
    if (!status) status = run_own(&job, &t->judge, t->device, out, diag);
    cli_job_close(&job);
    return status;
}

static void report_own(const trial *t, size_t i, const dense_outcome *out, options *o) {
    char name[160];
    const char *words = strchr(own[i].words, ' ');
    if (o->check)
        snprintf(name, sizeof name, "tilewright_%zu", i);
    else
        snprintf(name, sizeof name, "**Tilewright**, %s%s%s", words ? "`" : "defaults",
                 words ? words + 1 : "", words ? "`" : "");
    report(t->c, name, 256 * own[i].depth, &t->judge, out, o);
}

static bool own_has(size_t i, const dense_case *c) {
    return i < OWN && !strcmp(own[i].target, c->target) && !strcmp(own[i].shape, c->name);
}

/* Rows of the library's: the first, and the best of the others. */
static tw_status run_all_own(const trial *t, size_t first, options *o, tw_diag *diag) {
    dense_outcome outcomes[OWN] = {0};
    size_t end = first, best = first + 1;
    tw_status status = TW_OK;
    for (; !status && own_has(end, t->c); end++) {
        status = run_words(t, own[end].words, o, &outcomes[end], diag);
        if (end > best && better(&outcomes[end], &outcomes[best])) best = end;
    }
    for (size_t i = first; !status && i < end; i++)
        if (i == first || i == best || o->all || o->check || outcomes[i].wrong)
            report_own(t, i, &outcomes[i], o);
    return status;
}

static tw_status compare(const dense_case *c, const char *sizes, cli_values values, options *o,
                         tw_compiler *compiler, tw_diag *diag) {
    char name[32];
    trial t = {.c = c, .sizes = sizes, .values = values, .compiler = compiler};
    size_t first = 0;
    while (first < OWN && !own_has(first, c))
        first++;
    if (first == OWN) return TW_OK;
    snprintf(name, sizeof name, "emu:%s", c->target);
    tw_status status = tw_device_open(name, &t.device, diag);
    if (!status) status = open_job(c, own[first].words, sizes, values, compiler, o, &t.judge, diag);
    if (!status) status = cli_job_reference(&t.judge, diag);
    if (!status) status = run_all_own(&t, first, o, diag);
    if (!status) status = run_peers(c, &t.judge, t.device, o, diag);
    cli_job_close(&t.judge);
    tw_device_close(t.device);
    return status;
}

static tw_status check(const dense_case *c, const char *sizes, bool both, options *o, tw_compiler *compiler,
                       tw_diag *diag) {
    dense_case other = *c;
    other.dtype = "bf16";
    tw_status status = compare(c, sizes, CLI_VALUES_INTEGERS, o, compiler, diag);
    if (!status) status = compare(both ? &other : c, sizes, CLI_VALUES_UNIFORM, o, compiler, diag);
    return status;
}

/* The library's tuned instance of the case: the last. */
static tw_status time_case(const dense_case *c, const char *sizes, const options *o, tw_diag *diag) {
    const char *words = NULL;
    tw_instance instance;
    for (size_t i = 0; i < OWN; i++)
        if (!strcmp(own[i].target, c->target) && !strcmp(own[i].shape, c->name)) words = own[i].words;
    if (!words) return TW_OK;
    tw_status status = instance_of(c, words, sizes, &instance, diag);
    if (!status) status = dense_time(c, &instance, o->command, o->python, o->repeat, diag);
    return status;
}

static tw_status every_case(options *o, tw_diag *diag) {
    tw_compiler *compiler = NULL;
    tw_status status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    for (size_t s = 0; !status && s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t t = 0; !status && t < sizeof targets / sizeof targets[0]; t++) {
            if (o->only && strcmp(o->only, shapes[s].name)) continue;
            const dense_case c = {targets[t], shapes[s].name, "f16", shapes[s].filter, shapes[s].stride};
            if (o->command)
                status = time_case(&c, shapes[s].measured, o, diag);
            else if (o->check)
                status = check(&c, shapes[s].checked, shapes[s].bf16, o, compiler, diag);
            else
                status = compare(&c, shapes[s].measured, CLI_VALUES_INTEGERS, o, compiler, diag);
        }
    tw_compiler_close(compiler);
    return status;
}

static bool read_options(int argc, char **argv, options *o) {
    int i = 1;
    if (argc >= 3 && argc <= 5 && !strcmp(argv[1], "--time")) {
        o->command = argv[2];
        if (argc > 3) o->repeat = (unsigned)strtoul(argv[3], NULL, 10);
        if (argc > 4) o->python = argv[4];
        return true;
    }
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "--check"))
            o->check = true;
        else if (!strcmp(argv[i], "--all"))
            o->all = true;
        else if (!strcmp(argv[i], "--triton") && i + 1 < argc)
            o->triton = argv[++i];
        else if (!strcmp(argv[i], "--case") && i + 1 < argc)
            o->only = argv[++i];
        else
            return false;
    }
    o->sizes = (const char *const *)argv + i;
    return true;
}

int main(int argc, char **argv) {
    options o = {.repeat = 5};
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr,
                "usage: %s [--check] [--triton FOLDER] [--all] [--case NAME] [SIZES...] | --time TILEWRIGHT "
                "[REPEAT "
                "[PYTHON]]\n",
                argv[0]);
        return 2;
    }
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return 1;
    if (!PEER_CLANG[0]) fprintf(stderr, "dense: HIP C++ is skipped: no clang of the library's LLVM\n");
    if (o.command ? !o.python : !o.triton && !o.check)
        fprintf(stderr, "dense: Triton is skipped: no %s\n", o.command ? "PYTHON" : "--triton FOLDER");
    if (o.command)
        dense_time_heading();
    else if (!o.check)
        puts("| target | filter | written as | instructions | matrix | VALU | VMEM | LDS | SALU | matrix "
             "work / least | "
             "vector / product | LDS bytes / product | conflicts | bytes read / least | VGPRs | LDS bytes | "
             "code bytes "
             "|\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    tw_status status = every_case(&o, diag);
    if (status) fprintf(stderr, "dense: %s", tw_diag_text(diag));
    tw_diag_free(diag);
    return status || o.failures;
}
