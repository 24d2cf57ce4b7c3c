#include <stdlib.h>
#include <string.h>

#include "instances/grid.h"
#include "support/fail.h"
#include "tools/cli.h"

#define MAX_WORDS    64
#define SPILLS_NAMED 10 /* kernels that a sweep complains about in words */

typedef struct options {
    cli_output output;
    const char *grid;
    tw_target target;             /* of --grid */
    const char *words[MAX_WORDS]; /* an instance's name, or which configurations of a grid */
    size_t word_count;
    bool compile;
    unsigned jobs;
    unsigned spills_named;
} options;

static const struct argp_option argp_options[] = {
    {"grid", 'g', "FAMILY", 0,
     "every configuration of the tuning grids that the target admits, of all families whose names begin so",
     0},
    {"arch", 'a', "TARGET", 0, "the target of --grid (default: " CLI_DEFAULT_TARGET ")", 0},
    {"compile", 'c', NULL, 0,
     "compile every configuration of the grid with LLVM and count; fails (1) where one spills, uses "
     "scratch or does not compile",
     0},
    {"jobs", 'j', "N", 0, "compiles at a time (default: one a processor)", 0},
    {0}};

static void parse_jobs(options *o, const char *argument, struct argp_state *state) {
    uint64_t jobs;
    if (!cli_parse_u64(argument, &jobs) || jobs < 1 || jobs > 256)
        argp_error(state, "--jobs must be 1..256 (got %s)", argument);
    o->jobs = (unsigned)jobs;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case 'g': o->grid = argument; return 0;
    case 'a': cli_parse_target(argument, &o->target, state); return 0;
    case 'c': o->compile = true; return 0;
    case 'j': parse_jobs(o, argument, state); return 0;
    case ARGP_KEY_ARG:
        if (o->word_count == MAX_WORDS) argp_error(state, "too many words (got %s)", argument);
        o->words[o->word_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->grid && o->word_count > 1) argp_error(state, "one family at a time (got %s)", o->words[1]);
        if (o->target.arch && !o->grid) argp_error(state, "--arch goes with --grid");
        if (o->compile && !o->grid) argp_error(state, "--compile goes with --grid");
        if (o->jobs && !o->compile) argp_error(state, "--jobs goes with --compile");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static json_t *field_rows(json_t *rows, const char *part, tw_field_table table) {
    for (uint32_t i = 0; i < table.count; i++) {
        char value[TW_FIELD_VALUE_MAX], range[TW_FIELD_RANGE_MAX];
        const tw_field *field = &table.fields[i];
        tw_field_write(field, field->default_value, value);
        tw_field_range(field, range);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s, s:s}", "key", field->name, "part", part,
                                              "default", value, "values", range, "meaning", field->doc));
    }
    return rows;
}

static int list_families(const options *o) {
    json_t *rows = json_array();
    for (size_t i = 0; i < tw_family_count(); i++) {
        const tw_family *family = tw_family_at(i);
        tw_instance instance;
        tw_instance_init(family, &instance);
        char *words = tw_instance_words(&instance, false);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s*}", "instance", tw_family_name(family),
                                              "meaning", tw_family_doc(family), "defaults", words));
        free(words);
    }
    static const cli_column columns[] = {{"instance", "instance"}, {"meaning", "meaning"}, {NULL, NULL}};
    int code = cli_print_table(&o->output, columns, rows);
    if (!o->output.json)
        puts("\n'tilewright list INSTANCE' shows its keys, '--grid INSTANCE' its tuning grid.");
    return code;
}

static int list_fields(const options *o, const tw_family *family) {
    static const cli_column columns[] = {{"key", "key"},       {"part", "part"},       {"default", "default"},
                                         {"values", "values"}, {"meaning", "meaning"}, {NULL, NULL}};
    json_t *rows = field_rows(json_array(), "spec", tw_family_spec_fields(family));
    return cli_print_table(&o->output, columns,
                           field_rows(rows, "problem", tw_family_problem_fields(family)));
}

static bool is_named(const tw_family *family, const char *prefix) {
    return !strncmp(tw_family_name(family), prefix, strlen(prefix));
}

/* Words that no configuration can be asked for are a wrong command line. */
static tw_status check_words(const options *o, tw_diag *diag) {
    tw_status status = TW_OK;
    for (size_t f = 0; status == TW_OK && f < tw_family_count(); f++) {
        tw_instance instance;
        size_t place = 0;
        bool matches;
        if (!is_named(tw_family_at(f), o->grid) ||
            !tw_family_grid_next(tw_family_at(f), o->target, &place, &instance))
            continue;
        status = tw_grid_matches(&instance, o->words, o->word_count, &matches, diag);
    }
    return status;
}

/* The configurations of a family's grid that have what the words say, added to the rows. */
static tw_status add_grid(json_t *rows, const options *o, const tw_family *family, tw_target target,
                          tw_diag *diag) {
    tw_instance instance;
    for (size_t place = 0; tw_family_grid_next(family, target, &place, &instance);) {
        bool matches;
        tw_status status = tw_grid_matches(&instance, o->words, o->word_count, &matches, diag);
        if (status) return status;
        if (!matches) continue;
        char label[TW_LABEL_MAX];
        tw_instance_label(&instance, label);
        char *words = tw_instance_words(&instance, false);
        json_array_append_new(rows, json_pack("{s:s, s:s*}", "label", label, "words", words));
        free(words);
    }
    return TW_OK;
}

static const char nothing[] = "the target admits no such configuration";

static int list_grid(const options *o, tw_target target, tw_diag *diag) {
    static const cli_column columns[] = {{"words", "words"}, {NULL, NULL}};
    json_t *rows = json_array();
    tw_status status = TW_OK;
    for (size_t f = 0; !status && f < tw_family_count(); f++)
        if (is_named(tw_family_at(f), o->grid)) status = add_grid(rows, o, tw_family_at(f), target, diag);
    if (!status) {
        if (!json_array_size(rows)) fprintf(stderr, "note: %s\n", nothing);
        return cli_print_table(&o->output, columns, rows);
    }
    json_decref(rows);
    return cli_finish(status, diag);
}

/* ---- compiles ---- */

/* Says what is wrong with the first few. */
static void name_spills(void *user, const tw_grid_kernel *kernel) {
    options *o = user;
    const tw_kernel_info *info = kernel->info;
    if ((info && !tw_kernel_spills(info)) || o->spills_named == SPILLS_NAMED) return;
    o->spills_named++;
    char *words = tw_instance_words(kernel->instance, false);
    fprintf(stderr, "%s: ", words ? words : kernel->label);
    if (info) {
        fprintf(stderr, "%u spilled VGPRs, %u spilled SGPRs, %u bytes of scratch\n", info->vgpr_spills,
                info->sgpr_spills, info->scratch_bytes);
    } else {
        fprintf(stderr, "%s\n", kernel->error);
    }
    free(words);
}

static json_t *counts_row(const tw_family *family, const tw_grid_counts *c) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "family", tw_family_name(family),
                     "configurations", (json_int_t)c->configurations, "compiled", (json_int_t)c->compiled,
                     "spilling", (json_int_t)c->spilling, "spilled_sgprs", (json_int_t)c->sgpr_spills,
                     "spilled_vgprs", (json_int_t)c->vgpr_spills, "scratch_bytes",
                     (json_int_t)c->scratch_bytes, "most_vgprs", (json_int_t)c->most_vgprs, "seconds",
                     (double)(c->nanoseconds / 100000000) / 10);
}

static int compile_grids(options *o, tw_target target, tw_compiler *compiler, tw_diag *diag) {
    static const cli_column columns[] = {{"family", "family"},
                                         {"configurations", "configurations"},
                                         {"compiled", "compiled"},
                                         {"spilling", "spilling"},
                                         {"spilled_sgprs", "spilled SGPRs"},
                                         {"spilled_vgprs", "spilled VGPRs"},
                                         {"scratch_bytes", "scratch bytes"},
                                         {"most_vgprs", "most VGPRs"},
                                         {"seconds", "seconds"},
                                         {NULL, NULL}};
    json_t *rows = json_array();
    size_t bad = 0, all = 0;
    tw_status status = TW_OK;
    const tw_grid_sweep sweep = {.compiler = compiler,
                                 .target = target,
                                 .jobs = o->jobs,
                                 .words = o->words,
                                 .word_count = o->word_count,
                                 .visit = name_spills,
                                 .user = o};
    for (size_t f = 0; !status && f < tw_family_count(); f++) {
        tw_grid_counts counts;
        if (!is_named(tw_family_at(f), o->grid)) continue;
        status = tw_grid_compile(tw_family_at(f), &sweep, &counts, diag);
        if (!status || counts.configurations)
            json_array_append_new(rows, counts_row(tw_family_at(f), &counts));
        all += counts.configurations;
        bad += counts.spilling + counts.configurations - counts.compiled;
    }
    int code = CLI_OK;
    if (status && !json_array_size(rows)) {
        json_decref(rows);
    } else {
        code = cli_print_table(&o->output, columns, rows);
    }
    if (status) return cli_finish(status, diag);
    if (!all) fprintf(stderr, "error: %s\n", nothing);
    return bad || !all ? CLI_FAILED : code;
}

static int compile_grid(options *o, tw_target target, tw_diag *diag) {
    tw_compiler *compiler;
    tw_status status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    if (status) return cli_finish(status, diag);
    int code = compile_grids(o, target, compiler, diag);
    tw_compiler_close(compiler);
    return code;
}

static bool names_families(const char *prefix) {
    for (size_t f = 0; f < tw_family_count(); f++)
        if (is_named(tw_family_at(f), prefix)) return *prefix;
    return false;
}

int cmd_list(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "[INSTANCE]\n--grid FAMILY [KEY=VALUE...]",
        .doc =
            "Lists the instance families, the keys of one, or the configurations of a tuning grid: all, or "
            "those with the given values. --compile compiles them and prints what came of it."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    const char *name = o.grid ? o.grid : o.word_count ? o.words[0] : NULL;
    if (!name) return list_families(&o);
    const tw_family *family = tw_family_find(name);
    if (!family && !(o.grid && names_families(name)))
        return cli_usage("list", "no instance is called '%s'; 'tilewright list' shows them", name);
    if (!o.grid) return list_fields(&o, family);
    tw_diag *diag = tw_diag_new(NULL);
    tw_status status = o.target.arch ? TW_OK : tw_target_parse(CLI_DEFAULT_TARGET, &o.target, diag);
    if (status == TW_OK) status = check_words(&o, diag);
    bool usage = status != TW_OK;
    int code = usage       ? cli_finish(status, diag)
               : o.compile ? compile_grid(&o, o.target, diag)
                           : list_grid(&o, o.target, diag);
    tw_diag_free(diag);
    return usage ? CLI_USAGE : code;
}
