#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"
#include "support/fail.h"
#include "support/strbuf.h"
#include "tools/cli.h"
#include "tools/compiler_option.h"
#include "tools/golden_lane.h"
#include "tools/golden_shown.h"
#include "tools/lane.h"
#include "tools/pins.h"

typedef struct options {
    cli_output output;
    bool check, record, execute, table, has_compiler;
    const char *directory, *filter;
    tw_target only;
    cli_compiler compiler;
    uint64_t jobs;
} options;

enum { OPTION_CHECK = 0x2000 }; /* -c is --compiler, as everywhere */

static const struct argp_option argp_options[] = {
    {"check", OPTION_CHECK, NULL, 0, "compare with what is recorded (default)", 0},
    {"record", 'r', NULL, 0, "rewrite what changed", 0},
    {"dir", 'd', "DIR", 0, "the folder with pins.txt, hashes.txt and texts.zst (default: golden)", 0},
    {"filter", 'f', "TEXT", 0, "only pins that contain it", 0},
    {"execute", 'x', NULL, 0,
     "compile and execute them, too, instead of comparing the texts: numbers and code objects are compared "
     "with the reference and with what is recorded of the compiler's exact version in lanes/ and identity/",
     0},
    CLI_COMPILER_OPTION("llvm"),
    {"arch", 'a', "TARGET", 0, "with --execute: only this target", 0},
    {"jobs", 'j', "N", 0, "with --execute: so many processes at once, 1..64 (default: 2)", 0},
    {"table", 't', NULL, 0, "print what is recorded in lanes/ as tables in Markdown", 0},
    {0}};

static void check_options(const options *o, struct argp_state *state) {
    const char *of_execute = o->only.arch ? "arch" : o->jobs ? "jobs" : o->has_compiler ? "compiler" : NULL;
    if (o->check && o->record) argp_error(state, "--check and --record exclude each other");
    if (o->table && (o->check || o->record || o->execute || o->filter || of_execute))
        argp_error(state, "--table prints what is recorded: only --dir goes with it");
    if (of_execute && !o->execute) argp_error(state, "--%s goes with --execute", of_execute);
    if (o->record && (o->only.arch || (o->filter && !o->execute)))
        argp_error(state, "--record writes everything: --%s does not go with it",
                   o->only.arch ? "arch" : "filter");
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case OPTION_CHECK: o->check = true; return 0;
    case 'r': o->record = true; return 0;
    case 'd': o->directory = argument; return 0;
    case 'f': o->filter = argument; return 0;
    case 'x': o->execute = true; return 0;
    case 't': o->table = true; return 0;
    case 'a': cli_parse_target(argument, &o->only, state); return 0;
    case 'c':
        cli_compiler_parse(argument, &o->compiler, state);
        o->has_compiler = true;
        return 0;
    case 'j':
        if (!cli_parse_u64(argument, &o->jobs) || o->jobs < 1 || o->jobs > 64)
            argp_error(state, "--jobs must be 1..64 (got %s)", argument);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "no arguments are taken (got %s)", argument); return 0;
    case ARGP_KEY_END: check_options(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static char *make_key(const char *words, tw_target target, const char *stage) {
    char name[TW_TARGET_NAME_MAX];
    tw_target_format(target, name);
    tw_strbuf key;
    tw_strbuf_init(&key, NULL);
    tw_strbuf_printf(&key, "%s | %s | %s", words, name, stage);
    return tw_strbuf_take(&key, NULL);
}

/* The text, or why there is none: a refusal is a result like any other. Failures of another kind are not. */
static tw_status add(cli_goldens *goldens, const cli_pin *pin, tw_target target, const char *stage,
                     tw_status result, char *text, size_t length, tw_diag *from, tw_diag *diag) {
    bool refused = result == TW_ERR_INVALID || result == TW_ERR_UNSUPPORTED;
    char *key = make_key(pin->words, target, stage);
    if (refused) {
        text = strdup(tw_diag_first_error(from));
        length = text ? strlen(text) : 0;
        tw_diag_clear(from);
    } else if (result != TW_OK) {
        tw_fail(diag, result, "%s: %s", key ? key : stage, tw_diag_first_error(from));
        free(key);
        return result;
    }
    if (!key || !text) {
        free(key);
        free(text);
        return tw_fail_no_memory(diag);
    }
    return cli_goldens_add(goldens, key, text, length, refused, diag);
}

/* Everything that one pin gives on one target. */
static tw_status add_pin(cli_goldens *goldens, const cli_pin *pin, tw_target target, tw_diag *diag) {
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return tw_fail_no_memory(diag);
    tw_diag *own = tw_context_diag(ctx);
    tw_kernel *kernel = cli_pin_kernel(pin, target, ctx);
    char *text = NULL;
    size_t length = 0;
    tw_status result = TW_ERR_INVALID;
    if (kernel) {
        result = tw_kernel_to_text(kernel, &text, &length, own);
    } else if (tw_diag_count(own) > 0) {
        result = tw_diag_get(own, 0)->status;
    }
    tw_status status = add(goldens, pin, target, "tile", result, text, length, own, diag);
    tw_flavor flavor;
    for (size_t i = 0; status == TW_OK && kernel && (flavor = tw_flavor_at(i)) != TW_FLAVOR_NONE; i++) {
        text = NULL;
        result = tw_lower(kernel, flavor, &text, &length, own);
        status = add(goldens, pin, target, tw_flavor_name(flavor), result, text, length, own, diag);
    }
    tw_context_free(ctx);
    return status;
}

static tw_status make_goldens(const options *o, cli_goldens *goldens, tw_diag *diag) {
    cli_pins pins;
    tw_status status = cli_pins_read(o->directory, o->filter, &pins, diag);
    for (size_t i = 0; status == TW_OK && i < pins.count; i++)
        for (unsigned arch = 1; status == TW_OK && arch < TW_ARCH_COUNT; arch++) {
            const tw_arch_info *info = tw_arch_get((tw_arch)arch);
            status = add_pin(goldens, &pins.pins[i], (tw_target){info->arch, info->wave_size, 0, 0}, diag);
        }
    cli_pins_free(&pins);
    cli_goldens_sort(goldens);
    return status;
}

static const char *line_end(const char *text) {
    const char *newline = strchr(text, '\n');
    return newline ? newline : text + strlen(text);
}

static void show_difference(const cli_golden *was, const cli_golden *is) {
    enum { SHOWN = 3 };
    const char *a = was->text, *b = is->text;
    size_t line = 1;
    while (*a && *b && line_end(a) - a == line_end(b) - b && !memcmp(a, b, (size_t)(line_end(a) - a))) {
        a = line_end(a) + (*line_end(a) != 0);
        b = line_end(b) + (*line_end(b) != 0);
        line++;
    }
    printf("%s: line %zu differs\n", is->key, line);
    for (int side = 0; side < 2; side++) {
        const char *text = side ? b : a;
        for (int i = 0; i < SHOWN && *text; i++) {
            printf("  %c %.*s\n", side ? '+' : '-', (int)(line_end(text) - text), text);
            text = line_end(text) + (*line_end(text) != 0);
        }
        if (!*text && text == (side ? b : a)) printf("  %c (ends here)\n", side ? '+' : '-');
    }
}

typedef struct differences {
    size_t changed, added, missing;
} differences;

/* A key begins with the words of its pin; the target and the stage behind them are not filtered by. */
static bool is_filtered_out(const options *o, const char *key) {
    const char *end = strstr(key, " | ");
    size_t length = end ? (size_t)(end - key) : strlen(key);
    return o->filter && !memmem(key, length, o->filter, strlen(o->filter));
}

/* With a filter, recorded goldens of other pins are not missing: they were not made. */
static differences compare(const options *o, const cli_goldens *recorded, const cli_goldens *made,
                           bool show) {
    differences d = {0};
    for (size_t i = 0; i < made->count; i++) {
        const cli_golden *is = &made->items[i], *was = cli_goldens_find(recorded, is->key);
        if (!was) {
            d.added++;
            if (show) printf("%s: not recorded\n", is->key);
        } else if (was->refused != is->refused || strcmp(was->hash, is->hash)) {
            d.changed++;
            if (show) show_difference(was, is);
        }
    }
    for (size_t i = 0; i < recorded->count; i++) {
        const cli_golden *was = &recorded->items[i];
        if (is_filtered_out(o, was->key) || cli_goldens_find(made, was->key)) continue;
        d.missing++;
        if (show) printf("%s: recorded, but not made any more\n", was->key);
    }
    return d;
}

static int check(const options *o, cli_goldens *made, tw_diag *diag) {
    cli_goldens recorded;
    tw_status status = cli_goldens_read(o->directory, &recorded, diag);
    if (status != TW_OK) return cli_finish(status, diag);
    differences d = compare(o, &recorded, made, !o->output.json);
    size_t refused = 0, bad = d.changed + d.added + d.missing;
    for (size_t i = 0; i < made->count; i++)
        refused += made->items[i].refused;
    cli_shown shown = {0};
    if (!o->filter) status = cli_goldens_shown(o->directory, &recorded, false, &shown, diag);
    cli_goldens_free(&recorded);
    if (status != TW_OK) return cli_finish(status, diag);
    bad += shown.different;
    int code = cli_print_object(
        &o->output,
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "result", bad ? "failed" : "passed", "compared",
                  (json_int_t)made->count, "refusals", (json_int_t)refused, "changed", (json_int_t)d.changed,
                  "not_recorded", (json_int_t)d.added, "not_made", (json_int_t)d.missing, "shown",
                  (json_int_t)shown.files, "shown_differ", (json_int_t)shown.different));
    return bad ? CLI_FAILED : code;
}

static int record(const options *o, cli_goldens *made, tw_diag *diag) {
    cli_goldens recorded = {0};
    tw_diag *quiet = tw_diag_new(NULL);
    cli_goldens_read(o->directory, &recorded, quiet); /* missing or damaged: everything is new */
    tw_diag_free(quiet);
    differences d = compare(o, &recorded, made, false);
    bool any = d.changed + d.added + d.missing > 0;
    cli_goldens_free(&recorded);
    tw_status status = any ? cli_goldens_write(o->directory, made, diag) : TW_OK;
    cli_shown shown;
    if (status == TW_OK) status = cli_goldens_shown(o->directory, made, true, &shown, diag);
    int code = cli_finish(status, diag);
    if (code != CLI_OK) return code;
    if (any)
        fputs("note: code objects and results of the new text are recorded by "
              "'tools/toolchains measure TILEWRIGHT --record'\n",
              stderr);
    return cli_print_object(&o->output,
                            json_pack("{s:s, s:I, s:I, s:I, s:I}", "result", any ? "recorded" : "unchanged",
                                      "goldens", (json_int_t)made->count, "changed", (json_int_t)d.changed,
                                      "added", (json_int_t)d.added, "removed", (json_int_t)d.missing));
}

int cmd_golden(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .doc = "Builds and lowers every pinned configuration for every target and flavor, and compares the "
               "texts with the recorded ones; or, with --execute, compiles and executes them. Fails (1) on a "
               "difference, on a golden that is missing, and when nothing was compared."};
    options o = {.directory = "golden", .compiler = {.kind = TW_COMPILER_LLVM}};
    cli_parse(&argp, argc, argv, &o);
    if (!o.jobs) o.jobs = 2;
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return CLI_FAILED;
    if (o.table || o.execute) {
        cli_lane_options lane = {o.directory,      o.filter, o.only,   o.compiler,
                                 (unsigned)o.jobs, o.record, &o.output};
        int result =
            o.table ? cli_finish(cli_lane_tables(o.directory, diag), diag) : cli_golden_lane(&lane, diag);
        tw_diag_free(diag);
        return result;
    }
    cli_goldens made = {0};
    tw_status status = make_goldens(&o, &made, diag);
    int code = status != TW_OK ? cli_finish(status, diag)
               : o.record      ? record(&o, &made, diag)
                               : check(&o, &made, diag);
    cli_goldens_free(&made);
    tw_diag_free(diag);
    return code;
}
