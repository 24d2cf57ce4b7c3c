#include <string.h>

#include "arch/matrix.h"
#include "arch/target.h"
#include "lower/measured.h"
#include "tools/cli.h"

typedef struct options {
    cli_output output;
    tw_target targets[64];
    size_t count;
} options;

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case ARGP_KEY_ARG:
        if (o->count == sizeof o->targets / sizeof o->targets[0]) argp_error(state, "too many targets");
        cli_parse_target(argument, &o->targets[o->count++], state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const char *policy_name(unsigned op) {
    static const char *const names[] = {"load", "store", "atomic"};
    return names[op];
}

static json_t *features_of(const tw_arch_info *info) {
    json_t *list = json_array();
#define FEATURE(NAME, bit, text, doc) \
    if (info->features & TW_ARCH_HAS_##NAME) json_array_append_new(list, json_string(text));
    TW_ARCH_FEATURE_LIST(FEATURE)
#undef FEATURE
    return list;
}

static json_t *budgets_of(tw_target target, const tw_arch_info *info) {
    json_t *budgets = json_object();
    for (uint32_t size = 64; size <= info->max_workgroup; size *= 2) {
        char key[16];
        snprintf(key, sizeof key, "%u", (unsigned)size);
        json_object_set_new(budgets, key, json_integer(tw_arch_vgpr_budget(target, size)));
    }
    return budgets;
}

static json_t *policies_of(tw_target target) {
    json_t *all = json_object();
    for (unsigned op = TW_CACHE_LOAD; op <= TW_CACHE_ATOMIC; op++) {
        json_t *legal = json_object();
        for (uint32_t value = 0; value < 32; value++) {
            const char *spelling = tw_cache_policy_spelling(target, (tw_cache_op)op, value);
            char key[8];
            snprintf(key, sizeof key, "%u", (unsigned)value);
            if (spelling) json_object_set_new(legal, key, json_string(spelling));
        }
        json_object_set_new(all, policy_name(op), legal);
    }
    return all;
}

static json_t *atoms_of(tw_target target) {
    json_t *atoms = json_array();
    const tw_matrix_atom *atom;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        tw_matrix_info info = tw_matrix_atom_info(atom);
        json_array_append_new(
            atoms, json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:[i,i,i]}", "name", info.name, "m", info.m,
                             "n", info.n, "k", info.k, "a", tw_matrix_format_name(info.a), "b",
                             tw_matrix_format_name(info.b), "d", tw_matrix_format_name(info.d), "slots",
                             info.slots[0], info.slots[1], info.slots[2]));
    }
    return atoms;
}

/* The flavors that serve the target and were measured, or were not. */
static json_t *flavors_of(tw_target target, bool measured) {
    json_t *list = json_array();
    for (size_t i = 0; tw_flavor_at(i); i++) {
        tw_flavor flavor = tw_flavor_at(i);
        if (tw_flavor_serves(flavor, target, NULL) || (tw_flavor_measured_with(flavor) != NULL) != measured)
            continue;
        json_array_append_new(list, json_string(tw_flavor_name(flavor)));
    }
    return list;
}

static json_t *describe(tw_target target) {
    static const char *const fp8_names[] = {"none", "ocp", "fnuz"};
    const tw_arch_info *info = tw_arch_get(target.arch);
    char name[TW_TARGET_NAME_MAX], word3[16];
    tw_target_format(target, name);
    snprintf(word3, sizeof word3, "0x%08X", (unsigned)info->buffer_word3);
    return json_pack(
        "{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:s, s:i, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}",
        "target", name, "product", info->product, "wave_size", target.wave_size, "lds_bytes",
        (int)info->lds_bytes, "lds_banks", (int)info->lds_banks, "max_workgroup", (int)info->max_workgroup,
        "max_vgprs", (int)info->max_vgprs, "max_sgprs", (int)info->max_sgprs, "buffer_word3", word3,
        "buffer_address_bits", info->buffer_address_bits, "fp8", fp8_names[info->fp8], "first_llvm",
        (int)info->first_llvm, "measured", flavors_of(target, true), "not_measured",
        flavors_of(target, false), "features", features_of(info), "vgpr_budget_by_workgroup",
        budgets_of(target, info), "cache_policies", policies_of(target), "matrix_atoms", atoms_of(target));
}

/* The legal policies, one a row: what the assembler calls each for loads, stores and atomics. */
static json_t *policy_rows(const json_t *policies) {
    json_t *rows = json_array();
    for (int value = 0; value < 32; value++) {
        char key[8];
        snprintf(key, sizeof key, "%d", value);
        json_t *row = json_object();
        for (unsigned op = TW_CACHE_LOAD; op <= TW_CACHE_ATOMIC; op++) {
            const char *text =
                json_string_value(json_object_get(json_object_get(policies, policy_name(op)), key));
            if (text) json_object_set_new(row, policy_name(op), json_string(*text ? text : "(default)"));
        }
        bool legal = json_object_size(row) > 0;
        json_object_set_new(row, "policy", json_integer(value));
        if (legal) json_array_append(rows, row);
        json_decref(row);
    }
    return rows;
}

/* For people: the facts, then the two lists as tables. */
static int print_target(const cli_output *output, const json_t *row) {
    static const cli_column policies[] = {
        {"policy", "cache policy"}, {"load", "load"}, {"store", "store"}, {"atomic", "atomic"}, {NULL, NULL}};
    static const cli_column atoms[] = {
        {"name", "matrix atom"},      {"m", "m"},  {"n", "n"}, {"k", "k"}, {"a", "A"}, {"b", "B"}, {"d", "D"},
        {"slots", "elements a lane"}, {NULL, NULL}};
    json_t *facts = json_copy((json_t *)row);
    json_object_del(facts, "cache_policies");
    json_object_del(facts, "matrix_atoms");
    int code = cli_print_object(output, facts);
    putchar('\n');
    code |= cli_print_table(output, policies, policy_rows(json_object_get(row, "cache_policies")));
    if (json_array_size(json_object_get(row, "matrix_atoms")) == 0) return code;
    putchar('\n');
    return code | cli_print_table(output, atoms, json_incref(json_object_get(row, "matrix_atoms")));
}

int cmd_arch(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .parser = parse,
        .children = children,
        .args_doc = "[TARGET...]",
        .doc = "Prints what is known of the targets: a line each, or everything about those that are "
               "named.\vTARGET is an LLVM target ID (gfx1250, gfx90a:xnack-) or has a wave size "
               "(gfx1100:wave64)."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    json_t *rows = json_array();
    for (unsigned arch = 1; o.count == 0 && arch < TW_ARCH_COUNT; arch++) {
        const tw_arch_info *info = tw_arch_get((tw_arch)arch);
        json_array_append_new(rows, describe((tw_target){info->arch, info->wave_size, 0, 0}));
    }
    for (size_t i = 0; i < o.count; i++)
        json_array_append_new(rows, describe(o.targets[i]));
    if (o.count && !o.output.json) {
        int code = CLI_OK;
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row) {
            if (i) putchar('\n');
            if (print_target(&o.output, row) != CLI_OK) code = CLI_FAILED;
        }
        json_decref(rows);
        return code;
    }
    static const cli_column columns[] = {{"target", "target"},
                                         {"product", "product"},
                                         {"wave_size", "wave"},
                                         {"lds_bytes", "LDS bytes"},
                                         {"max_vgprs", "VGPRs"},
                                         {"max_workgroup", "workgroup"},
                                         {"fp8", "fp8"},
                                         {"measured", "measured with"},
                                         {"not_measured", "not measured"},
                                         {"features", "features"},
                                         {NULL, NULL}};
    return cli_print_table(&o.output, columns, rows);
}
