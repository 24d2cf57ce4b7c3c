#include "run/bundle.h"
#include "support/fail.h"
#include "tools/cli.h"
#include "tools/profile.h"
#include "tools/trace.h"

typedef struct options {
    cli_output output;
    cli_trace trace;
    const char *directory, *device;
} options;

static const struct argp_option argp_options[] = {
    {"device", 'd', "DEVICE", 0, "auto (default: a GPU where one fits, else the emulator), emu, hip:N", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->output;
        state->child_inputs[1] = &o->trace;
        return 0;
    case 'd': o->device = argument; return 0;
    case ARGP_KEY_ARG:
        if (o->directory) argp_error(state, "one bundle at a time (got %s)", argument);
        o->directory = argument;
        return 0;
    case ARGP_KEY_END:
        if (!o->directory) argp_error(state, "a bundle's folder is needed (missing)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static json_t *describe(const tw_bundle_report *report, const char *device, bool passed, bool profile) {
    json_t *first = json_array();
    for (size_t i = 0; i < report->kept; i++) {
        const tw_bundle_mismatch *m = &report->first[i];
        char got[32], expected[32], bound[32];
        snprintf(got, sizeof got, "%.9g", m->got);
        snprintf(expected, sizeof expected, "%.9g", m->expected);
        snprintf(bound, sizeof bound, "%.3g", m->bound);
        json_array_append_new(first, json_pack("{s:s, s:I, s:s, s:s, s:s}", "buffer", m->buffer, "index",
                                               (json_int_t)m->index, "got", got, "expected", expected,
                                               "bound", bound));
    }
    json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:I}", "result", passed ? "passed" : "failed",
                               "device", device, "elements", (json_int_t)report->elements, "mismatches",
                               (json_int_t)report->mismatches, "worst_error_by_bound",
                               cli_real(report->worst), "first_mismatches", first, "wave_instructions",
                               (json_int_t)report->counts.wave_instructions);
    if (object && profile) cli_add_counts(object, &report->counts);
    return object;
}

int cmd_replay(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&cli_output_argp, 0, NULL, 0}, {&cli_trace_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "DIRECTORY",
        .doc = "Runs a bundle that 'tilewright run --bundle' wrote and compares every output element with "
               "what the bundle expects."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) return CLI_FAILED;
    tw_bundle *bundle = NULL;
    tw_device *device = NULL;
    tw_bundle_report report;
    tw_status status = tw_bundle_read(o.directory, &bundle, diag);
    if (status == TW_OK) status = cli_open_device(o.device, tw_bundle_target(bundle), &device, diag);
    bool usage = status == TW_ERR_USAGE;
    int code = CLI_OK;
    if (status == TW_OK) {
        status = cli_trace_start(&o.trace, device, diag);
        if (status == TW_OK) status = tw_bundle_replay(bundle, device, &report, diag);
        status = cli_trace_finish(&o.trace, device, status, diag);
        if ((status == TW_OK || status == TW_ERR_MISMATCH) && !o.trace.stopped)
            code = cli_print_object(
                &o.output, describe(&report, tw_device_name(device), status == TW_OK, o.trace.profile));
    }
    tw_device_close(device);
    tw_bundle_free(bundle);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    tw_diag_free(diag);
    return usage ? CLI_USAGE : code;
}
