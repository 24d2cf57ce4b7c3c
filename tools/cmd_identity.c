#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/cache.h"
#include "jit/compile.h"
#include "jit/file.h"
#include "lower/lower.h"
#include "support/fail.h"
#include "support/strbuf.h"
#include "tools/baseline.h"
#include "tools/cli.h"
#include "tools/compiler_option.h"
#include "tools/pins.h"

/* Ways to the same kernel. Each must give the bytes that the first one gave. */
typedef enum way {
    WAY_BUILDER,
    WAY_AGAIN,
    WAY_TEXT,
    WAY_THREADS,
    WAY_LOCALE,
    WAY_FOLDER,
    WAY_CACHE,
    WAY_BASELINE,
    WAY_COUNT
} way;
static const char *const way_names[] = {"builder", "again",  "text",  "threads",
                                        "locale",  "folder", "cache", "baseline"};

enum { THREADS = 4 };

typedef struct options {
    cli_output output;
    cli_compiler compiler_option;
    bool record;
    const char *directory, *filter;
    tw_target only;
    /* state */
    tw_compiler *compiler;
    tw_cache *cache;
    locale_t locale;
    cli_baseline recorded, made;
    size_t compared[WAY_COUNT], failed[WAY_COUNT], skipped[WAY_COUNT];
} options;

static const struct argp_option argp_options[] = {
    CLI_COMPILER_OPTION("llvm"),
    {"arch", 'a', "TARGET", 0, "only this target", 0},
    {"record", 'r', NULL, 0, "record the hashes as the baseline of the compiler's exact version", 0},
    {"dir", 'd', "DIR", 0, "the folder with pins.txt and identity/ (default: golden)", 0},
    {"filter", 'f', "TEXT", 0, "only pins that contain it", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case 'c': cli_compiler_parse(argument, &o->compiler_option, state); return 0;
    case 'a': cli_parse_target(argument, &o->only, state); return 0;
    case 'r': o->record = true; return 0;
    case 'd': o->directory = argument; return 0;
    case 'f': o->filter = argument; return 0;
    case ARGP_KEY_ARG: argp_error(state, "no arguments are taken (got %s)", argument); return 0;
    case ARGP_KEY_END:
        if (o->record && (o->filter || o->only.arch))
            argp_error(state, "--record writes everything: --%s does not go with it",
                       o->filter ? "filter" : "arch");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- one way ---- */

typedef struct result {
    tw_status status;
    char hash[CLI_HASH_SIZE], error[256];
    bool cache_hit, refused; /* refused: by a rule of ours, before any compiler saw it */
} result;

static void fail_result(result *r, tw_status status, const char *text) {
    r->status = status;
    snprintf(r->error, sizeof r->error, "%s", text[0] ? text : tw_status_name(status));
}

/* Prints the kernel and reads it back; the first one is freed with the context. */
static tw_kernel *through_text(tw_context *ctx, tw_kernel *kernel) {
    char *text = NULL;
    size_t length;
    tw_kernel *again = NULL;
    if (tw_kernel_to_text(kernel, &text, &length, tw_context_diag(ctx)) == TW_OK &&
        tw_kernel_parse(ctx, text, length, NULL, &again) != TW_OK)
        again = NULL;
    free(text);
    return again;
}

/* Why there is no kernel. */
static tw_status first_error(const tw_diag *diag) {
    for (size_t i = 0; i < tw_diag_count(diag); i++)
        if (tw_diag_get(diag, i)->severity == TW_SEVERITY_ERROR) return tw_diag_get(diag, i)->status;
    return TW_ERR_NO_MEMORY;
}

/* A rule of the instance or of the lowerer does not hold, which the goldens have in words. A text that LLVM
 * refuses is another matter. */
static bool is_refusal(const options *o, const tw_kernel *kernel, tw_target target, tw_status status) {
    tw_compiler_choice choice;
    char *text = NULL;
    if (status != TW_ERR_INVALID && status != TW_ERR_UNSUPPORTED) return false;
    bool refused = !kernel || tw_compiler_choose(o->compiler, target, &choice, NULL) != TW_OK ||
                   tw_lower(kernel, choice.flavor, &text, NULL, NULL) == status;
    free(text);
    return refused;
}

static result compile_pin(const options *o, const cli_pin *pin, tw_target target, bool as_text,
                          tw_cache *cache) {
    result r = {.status = TW_OK};
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) {
        fail_result(&r, TW_ERR_NO_MEMORY, "");
        return r;
    }
    tw_diag *diag = tw_context_diag(ctx);
    tw_code_object *object = NULL;
    tw_compile_times times = {0};
    tw_compile_options compile_options = {.cache = cache, .times = &times};
    tw_kernel *kernel = cli_pin_kernel(pin, target, ctx);
    if (kernel && as_text) kernel = through_text(ctx, kernel);
    tw_status status =
        kernel ? tw_compile(o->compiler, kernel, &compile_options, &object, diag) : first_error(diag);
    if (status == TW_OK) {
        size_t size;
        const void *bytes = tw_code_object_bytes(object, &size);
        cli_hash(bytes, size, r.hash);
        r.cache_hit = times.cache_hit;
    } else {
        fail_result(&r, status, tw_diag_first_error(diag));
        r.refused = is_refusal(o, kernel, target, status);
    }
    tw_code_object_release(object);
    tw_context_free(ctx);
    return r;
}

typedef struct thread_job {
    const options *o;
    const cli_pin *pin;
    tw_target target;
    result result;
} thread_job;

static void *compile_in_thread(void *argument) {
    thread_job *job = argument;
    job->result = compile_pin(job->o, job->pin, job->target, false, NULL);
    return NULL;
}

static result compile_in_threads(const options *o, const cli_pin *pin, tw_target target) {
    thread_job jobs[THREADS];
    pthread_t threads[THREADS];
    size_t started = 0;
    for (size_t i = 0; i < THREADS; i++)
        jobs[i] = (thread_job){o, pin, target, {.status = TW_OK}};
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, compile_in_thread, &jobs[started]) == 0)
        started++;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (started < THREADS) fail_result(&jobs[0].result, TW_ERR_LIMIT, "a thread could not be started");
    /* One that differs stands for all. */
    for (size_t i = 1; i < started; i++)
        if (jobs[i].result.status != TW_OK || strcmp(jobs[i].result.hash, jobs[0].result.hash))
            return jobs[i].result;
    return jobs[0].result;
}

static result compile_in_locale(const options *o, const cli_pin *pin, tw_target target) {
    locale_t before = uselocale(o->locale);
    result r = compile_pin(o, pin, target, false, NULL);
    uselocale(before);
    return r;
}

/* The pins that are files have relative names, so only the compile happens elsewhere; it is the compiler that
 * could look at the folder. */
static result compile_in_folder(const options *o, const cli_pin *pin, tw_target target) {
    result r;
    char *before = getcwd(NULL, 0);
    bool relative =
        pin->source.word_count == 1 && strchr(pin->source.words[0], '/') && pin->source.words[0][0] != '/';
    if (!before || relative || chdir("/") != 0) {
        r = (result){TW_ERR_UNSUPPORTED, .error = "the pin is a relative file name"};
    } else {
        r = compile_pin(o, pin, target, false, NULL);
        if (chdir(before) != 0) fail_result(&r, TW_ERR_IO, "the folder cannot be entered again");
    }
    free(before);
    return r;
}

static result compile_through_cache(const options *o, const cli_pin *pin, tw_target target) {
    result first = compile_pin(o, pin, target, false, o->cache);
    if (first.status != TW_OK) return first;
    result second = compile_pin(o, pin, target, false, o->cache);
    if (second.status == TW_OK && !second.cache_hit)
        fail_result(&second, TW_ERR_MISMATCH, "the second compile missed the cache");
    return second;
}

static result go_way(const options *o, way w, const cli_pin *pin, tw_target target) {
    switch (w) {
    case WAY_TEXT: return compile_pin(o, pin, target, true, NULL);
    case WAY_THREADS: return compile_in_threads(o, pin, target);
    case WAY_LOCALE: return compile_in_locale(o, pin, target);
    case WAY_FOLDER: return compile_in_folder(o, pin, target);
    case WAY_CACHE: return compile_through_cache(o, pin, target);
    default: return compile_pin(o, pin, target, false, NULL);
    }
}

/* ---- all of it ---- */

static void note(options *o, way w, const char *words, const char *target, const char *text) {
    o->failed[w]++;
    fprintf(stderr, "%s | %s | %s: %s\n", words, target, way_names[w], text);
}

static void check_pin(options *o, const cli_pin *pin, tw_target target) {
    char name[TW_TARGET_NAME_MAX];
    tw_target_format(target, name);
    result first = compile_pin(o, pin, target, false, NULL);
    if (first.refused) return;
    o->compared[WAY_BUILDER]++;
    if (first.status != TW_OK) {
        note(o, WAY_BUILDER, pin->words, name, first.error);
        return;
    }
    for (unsigned w = WAY_AGAIN; w < WAY_BASELINE; w++) {
        if (w == WAY_LOCALE && !o->locale) {
            o->skipped[w]++;
            continue;
        }
        result r = go_way(o, (way)w, pin, target);
        if (r.status == TW_ERR_UNSUPPORTED && w == WAY_FOLDER) {
            o->skipped[w]++;
            continue;
        }
        o->compared[w]++;
        if (r.status != TW_OK) {
            note(o, (way)w, pin->words, name, r.error);
        } else if (strcmp(r.hash, first.hash)) {
            note(o, (way)w, pin->words, name, "another code object than the first build's");
        }
    }
    cli_baseline_add(&o->made, first.hash, name, pin->words);
    if (o->record) return;
    char recorded[CLI_HASH_SIZE];
    if (!cli_baseline_find(&o->recorded, name, pin->words, recorded)) {
        o->skipped[WAY_BASELINE]++;
        return;
    }
    o->compared[WAY_BASELINE]++;
    if (strcmp(recorded, first.hash))
        note(o, WAY_BASELINE, pin->words, name, "another code object than the recorded one");
}

/* Targets of which nothing is compared are told, so that nobody takes them for checked. */
static void name_skipped(const options *o) {
    for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++) {
        const tw_arch_info *info = tw_arch_get((tw_arch)arch);
        tw_target target = {info->arch, info->wave_size, 0, 0};
        tw_compiler_choice choice;
        tw_diag *why = tw_diag_new(NULL);
        if (tw_compiler_choose(o->compiler, target, &choice, why) != TW_OK)
            fprintf(stderr, "skipped: %s: %s\n", info->name,
                    why ? tw_diag_first_error(why) : "out of memory");
        tw_diag_free(why);
    }
}

static tw_status check_all(options *o, tw_diag *diag) {
    cli_pins pins;
    tw_status status = cli_pins_read(o->directory, o->filter, &pins, diag);
    for (size_t i = 0; status == TW_OK && i < pins.count; i++)
        for (unsigned arch = 1; arch < TW_ARCH_COUNT; arch++) {
            const tw_arch_info *info = tw_arch_get((tw_arch)arch);
            tw_compiler_choice choice;
            tw_target target = {info->arch, info->wave_size, 0, 0};
            if (o->only.arch && o->only.arch != info->arch) continue;
            if (o->only.arch) target = o->only;
            if (tw_compiler_choose(o->compiler, target, &choice, NULL) == TW_OK)
                check_pin(o, &pins.pins[i], target);
        }
    cli_pins_free(&pins);
    return status;
}

static int report(options *o, const char *identity) {
    json_t *rows = json_array();
    size_t bad = 0, compared = 0;
    for (unsigned w = 0; w < WAY_COUNT; w++) {
        const char *outcome = o->failed[w] ? "failed" : o->compared[w] ? "passed" : "skipped";
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:I, s:I, s:I}", "way", way_names[w], "result", outcome,
                                        "compared", (json_int_t)o->compared[w], "failed",
                                        (json_int_t)o->failed[w], "skipped", (json_int_t)o->skipped[w]));
        bad += o->failed[w];
        compared += w == WAY_BUILDER ? 0 : o->compared[w];
    }
    static const cli_column columns[] = {{"way", "way"},           {"result", "result"},
                                         {"compared", "compared"}, {"failed", "failed"},
                                         {"skipped", "skipped"},   {NULL, NULL}};
    if (!o->output.json) printf("%s\n", identity);
    int code = cli_print_table(&o->output, columns, rows);
    if (compared == 0) fprintf(stderr, "error: nothing was compared\n");
    return bad || compared == 0 ? CLI_FAILED : code;
}

int cmd_identity(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .doc = "Compiles every pinned configuration in several ways (twice, through printed and parsed tile "
               "IR, in parallel threads, in another locale, in another folder, through the cache) and "
               "compares the code objects byte for byte, and with the baseline of the compiler's exact "
               "version where one is recorded. Fails (1) on a difference and when nothing was compared."};
    options o = {.directory = "golden", .compiler_option = {.kind = TW_COMPILER_LLVM}};
    cli_baseline_init(&o.made);
    cli_baseline_init(&o.recorded);
    cli_parse(&argp, argc, argv, &o);
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return CLI_FAILED;
    char cache_folder[] = "/tmp/tilewright-identity-XXXXXX";
    tw_compiler_choice choice = {.identity = ""};
    tw_status status = TW_OK;
    if (o.record) status = cli_record_folder(o.directory, "identity", diag);
    if (status == TW_OK) status = cli_compiler_open(&o.compiler_option, &o.compiler, diag);
    tw_target any = {TW_ARCH_GFX90A, 64, 0, 0};
    if (status == TW_OK) status = tw_compiler_choose(o.compiler, o.only.arch ? o.only : any, &choice, diag);
    if (status == TW_OK && !mkdtemp(cache_folder))
        status = tw_fail(diag, TW_ERR_IO, "%s: %s", cache_folder, strerror(errno));
    if (status == TW_OK)
        status = tw_cache_open(&(tw_cache_options){.directory = cache_folder}, &o.cache, diag);
    int code = CLI_FAILED;
    if (status == TW_OK) {
        o.locale = newlocale(LC_ALL_MASK, "de_DE.UTF-8", (locale_t)0);
        status = cli_baseline_read(o.directory, choice.identity, &o.recorded, diag);
        if (status == TW_OK && !o.only.arch) name_skipped(&o);
        if (status == TW_OK) status = check_all(&o, diag);
        if (status == TW_OK) code = report(&o, choice.identity);
        if (status == TW_OK && o.record && code == CLI_OK)
            status = cli_baseline_write(o.directory, choice.identity, &o.made, diag);
        if (o.locale) freelocale(o.locale);
    }
    if (o.cache) tw_cache_prune(o.cache, 0, &(tw_cache_stats){0}, NULL);
    tw_cache_close(o.cache);
    rmdir(cache_folder);
    tw_compiler_close(o.compiler);
    cli_baseline_free(&o.recorded);
    cli_baseline_free(&o.made);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    tw_diag_free(diag);
    return code;
}
