#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fail.h"
#include "tools/cli.h"
#include "tools/intrinsics_shown.h"
#include "tools/measured_file.h"
#include "tools/probe.h"

enum { OPTION_MARKDOWN = 0x2000 };

typedef struct options {
    cli_output output;
    const char *directory;
    tw_flavor flavor, probe, check; /* TW_FLAVOR_NONE where not given */
    uint64_t jobs;
    bool markdown;
    tw_diag *diag;
} options;

static const struct argp_option argp_options[] = {
    {"flavor", 'f', "FLAVOR", 0, "only the rows of this flavor", 0},
    {"probe", 'p', "TOOLCHAIN", 0,
     "measure a tool set (llvm15, llvm19, ...) and write intrinsics.TOOLCHAIN.json; takes about a minute", 0},
    {"check", 'c', "TOOLCHAIN", 0, "measure a tool set, as long, and fail where the file says something else",
     0},
    {"dir", 'd', "DIR", 0, "where the files are (default: arch)", 0},
    {"markdown", OPTION_MARKDOWN, NULL, 0, "print docs/intrinsics.md; the files are read", 0},
    {"jobs", 'j', "N", 0, "with --probe and --check: processes at a time, 1..16 (default: 2)", 0},
    {0}};

static void parse_flavor(options *o, tw_flavor *out, const char *argument, struct argp_state *state) {
    if (tw_flavor_parse(argument, out, o->diag) != TW_OK)
        argp_error(state, "%s", tw_diag_first_error(o->diag));
}

static void check_options(const options *o, struct argp_state *state) {
    bool measures = o->probe || o->check;
    if (!!o->probe + !!o->check + o->markdown > 1)
        argp_error(state, "--probe, --check or --markdown, not two of them");
    if (o->jobs && !measures) argp_error(state, "--jobs goes with --probe and --check");
    if ((measures || o->markdown) && (o->flavor || o->output.json))
        argp_error(state, "--%s goes with the table alone", o->flavor ? "flavor" : "json");
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->output; return 0;
    case 'f': parse_flavor(o, &o->flavor, argument, state); return 0;
    case 'p': parse_flavor(o, &o->probe, argument, state); return 0;
    case 'c': parse_flavor(o, &o->check, argument, state); return 0;
    case 'd': o->directory = argument; return 0;
    case OPTION_MARKDOWN: o->markdown = true; return 0;
    case 'j':
        if (!cli_parse_u64(argument, &o->jobs) || o->jobs < 1 || o->jobs > 16)
            argp_error(state, "--jobs must be 1..16 (got %s)", argument);
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "no arguments are taken (got %s)", argument); return 0;
    case ARGP_KEY_END: check_options(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Measuring takes long: what would make it useless is found before. */
static tw_status measure(const options *o) {
    toolset set;
    json_t *file = NULL;
    char path[4096];
    tw_flavor flavor = o->probe ? o->probe : o->check;
    snprintf(path, sizeof path, "%s/intrinsics.%s.json", o->directory, tw_flavor_name(flavor));
    tw_status status = TW_OK;
    if (access(o->probe ? o->directory : path, o->probe ? W_OK : R_OK))
        status = tw_fail(o->diag, TW_ERR_IO, "%s: %s", o->probe ? o->directory : path, strerror(errno));
    if (!status) status = toolset_find(flavor, &set, o->diag);
    if (!status) status = probe_measure(&set, o->jobs ? (unsigned)o->jobs : 2, &file, o->diag);
    if (!status)
        status =
            o->probe ? measured_file_write(path, file, o->diag) : measured_file_compare(path, file, o->diag);
    json_decref(file);
    return status;
}

static tw_status print_markdown(const options *o) {
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_status status = intrinsics_markdown(o->directory, &text, o->diag);
    if (!status) status = cli_write_file(NULL, tw_strbuf_text(&text), text.length, o->diag);
    tw_strbuf_free(&text);
    return status;
}

/* For people: a table a flavor, below the words that say what it was measured with. */
static int print_tables(const options *o) {
    static const cli_column columns[] = {{"key", "key"},
                                         {"name", "name"},
#define TARGET(NAME, name, ...) {name, name},
#include "arch/targets.def"
                                         {NULL, NULL}};
    if (o->output.json) return cli_print_table(&o->output, columns, intrinsics_rows(o->flavor));
    int code = CLI_OK;
    for (size_t f = 0; tw_flavor_at(f) && code == CLI_OK; f++) {
        tw_flavor flavor = tw_flavor_at(f);
        if (o->flavor && o->flavor != flavor) continue;
        char words[320];
        intrinsics_flavor_text(flavor, words, sizeof words);
        printf("%s%s: %s\n\n", f && !o->flavor ? "\n" : "", tw_flavor_name(flavor), words);
        code = cli_print_table(&o->output, columns, intrinsics_rows(flavor));
    }
    return code;
}

int cmd_intrinsics(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = argp_options,
                                     .parser = parse,
                                     .children = children,
                                     .doc = "Prints which of LLVM's intrinsics work for which target in "
                                            "which release, as it was measured; or "
                                            "measures."};
    options o = {.directory = "arch", .diag = tw_diag_new(NULL)};
    if (!o.diag) return CLI_FAILED;
    cli_parse(&argp, argc, argv, &o);
    int code;
    if (o.probe || o.check) {
        code = cli_finish(measure(&o), o.diag);
    } else if (o.markdown) {
        code = cli_finish(print_markdown(&o), o.diag);
    } else {
        code = print_tables(&o);
    }
    tw_diag_free(o.diag);
    return code;
}
