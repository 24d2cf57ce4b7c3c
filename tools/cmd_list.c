#include <stdlib.h>
#include <string.h>

#include "instances/instance.h"
#include "support/fail.h"
#include "tools/cli.h"

typedef struct options {
    cli_output output;
    const char *family, *grid, *arch;
} options;

static const struct argp_option argp_options[] = {
    {"grid", 'g', "FAMILY", 0,
     "every configuration of the tuning grids that the target admits, of all families whose names begin so",
     0},
    {"arch", 'a', "TARGET", 0, "the target of --grid (default: gfx1250)", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case 'g': o->grid = argument; return 0;
    case 'a': o->arch = argument; return 0;
    case ARGP_KEY_ARG:
        if (o->family) argp_error(state, "one family at a time (got %s)", argument);
        o->family = argument;
        return 0;
    case ARGP_KEY_END:
        if (o->family && o->grid) argp_error(state, "--grid names the family already");
        if (o->arch && !o->grid) argp_error(state, "--arch goes with --grid");
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

/* The grids of all families whose names begin so; 0 rows where there is none. */
static json_t *grid_rows(const char *prefix, tw_target target) {
    json_t *rows = json_array();
    tw_instance instance;
    for (size_t f = 0; f < tw_family_count(); f++) {
        const tw_family *family = tw_family_at(f);
        if (strncmp(tw_family_name(family), prefix, strlen(prefix))) continue;
        for (size_t place = 0; tw_family_grid_next(family, target, &place, &instance);) {
            char label[TW_LABEL_MAX];
            tw_instance_label(&instance, label);
            char *words = tw_instance_words(&instance, false);
            json_array_append_new(rows, json_pack("{s:s, s:s*}", "label", label, "words", words));
            free(words);
        }
    }
    return rows;
}

static int list_grid(const options *o, const char *prefix, tw_target target) {
    static const cli_column columns[] = {{"words", "words"}, {NULL, NULL}};
    return cli_print_table(&o->output, columns, grid_rows(prefix, target));
}

static bool names_families(const char *prefix) {
    for (size_t f = 0; f < tw_family_count(); f++)
        if (!strncmp(tw_family_name(tw_family_at(f)), prefix, strlen(prefix))) return *prefix;
    return false;
}

int cmd_list(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "[INSTANCE]",
        .doc = "Lists the instance families, the keys of one, or the configurations of a tuning grid."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    const char *name = o.grid ? o.grid : o.family;
    if (!name) return list_families(&o);
    const tw_family *family = tw_family_find(name);
    if (!family && !(o.grid && names_families(name)))
        return cli_usage("list", "no instance is called '%s'; 'tilewright list' shows them", name);
    if (o.family) return list_fields(&o, family);
    tw_diag *diag = tw_diag_new(NULL);
    tw_target target;
    tw_status status = tw_target_parse(o.arch ? o.arch : "gfx1250", &target, diag);
    int code = cli_finish(status, diag);
    tw_diag_free(diag);
    return code == CLI_OK ? list_grid(&o, name, target) : code;
}
