#include <stdlib.h>
#include <string.h>

#include "jit/code_object_internal.h"
#include "jit/offload_bundle.h"
#include "run/emu/emu.h"
#include "support/fail.h"
#include "support/strbuf.h"
#include "tools/cli.h"
#include "tools/exec_args.h"
#include "tools/profile.h"
#include "tools/trace.h"

typedef struct options {
    cli_output output;
    cli_trace trace;
    const char *device, *file, *kernel;
    tw_launch_shape shape;
    char **words; /* of the kernel's arguments, in argv */
    size_t word_count;
} options;

enum { OPTION_BUFFER_RANGE = 0x3000, OPTION_LDS_RANGE };

static const struct argp_option argp_options[] = {
    {"grid", 'g', "X[,Y[,Z]]", 0, "workgroups", 0},
    {"block", 'b', "X[,Y[,Z]]", 0, "work-items of a workgroup (default: what the kernel requires)", 0},
    {"dynamic-lds", 'l', "BYTES", 0, "LDS of a workgroup behind the kernel's own", 0},
    {"device", 'd', "DEVICE", 0,
     "auto (default: a GPU where one fits, else the emulator), emu, emu:TARGET, hip:N", 0},
    {"buffer-range", OPTION_BUFFER_RANGE, "drop|report", 0,
     "what the emulator does with stores and atomics out of the range of a buffer resource: drop them, as "
     "hardware does "
     "(default), or report them",
     0},
    {"lds-range", OPTION_LDS_RANGE, "drop|report", 0,
     "what the emulator does with lanes whose LDS address is 2^31 - 1 or more, as generators mask them: drop "
     "them, as hardware does (default), or report them",
     0},
    {0}};

static bool parse_dimensions(const char *text, tw_dim3 *out) {
    uint32_t *const to[] = {&out->x, &out->y, &out->z};
    char part[16];
    *out = (tw_dim3){1, 1, 1};
    for (unsigned i = 0; i < 3; i++) {
        size_t length = strcspn(text, ",");
        uint64_t value;
        if (length >= sizeof part) return false;
        memcpy(part, text, length);
        part[length] = '\0';
        if (!cli_parse_u64(part, &value) || !value || value > UINT32_MAX) return false;
        *to[i] = (uint32_t)value;
        if (!text[length]) return true;
        text += length + 1;
    }
    return false;
}

static void parse_range(options *o, const char *what, unsigned check, const char *argument,
                        struct argp_state *state) {
    if (strcmp(argument, "drop") != 0 && strcmp(argument, "report") != 0)
        argp_error(state, "--%s-range must be drop or report (got %s)", what, argument);
    o->trace.disabled_checks &= ~check;
    if (argument[0] == 'd') o->trace.disabled_checks |= check;
}

static error_t parse_argument(options *o, char *argument, struct argp_state *state) {
    if (!o->file) {
        o->file = argument;
    } else if (!o->kernel) {
        o->kernel = argument;
    } else {
        o->words = realloc(o->words, (o->word_count + 1) * sizeof *o->words);
        if (!o->words) argp_failure(state, CLI_FAILED, 0, "out of memory");
        o->words[o->word_count++] = argument;
    }
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    uint64_t bytes;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->output;
        state->child_inputs[1] = &o->trace;
        return 0;
    case 'd': o->device = argument; return 0;
    case 'g':
    case 'b':
        if (!parse_dimensions(argument, key == 'g' ? &o->shape.grid : &o->shape.block))
            argp_error(state, "--%s takes one to three numbers from 1 on, as in 64,2,1 (got %s)",
                       key == 'g' ? "grid" : "block", argument);
        return 0;
    case 'l':
        if (!cli_parse_size(argument, &bytes) || bytes > UINT32_MAX)
            argp_error(state, "--dynamic-lds takes a number of bytes (got %s)", argument);
        o->shape.dynamic_lds = (uint32_t)bytes;
        return 0;
    case OPTION_BUFFER_RANGE: parse_range(o, "buffer", TW_EMU_CHECK_BUFFER_RANGE, argument, state); return 0;
    case OPTION_LDS_RANGE: parse_range(o, "lds", TW_EMU_CHECK_LDS_RANGE, argument, state); return 0;
    case ARGP_KEY_ARG: return parse_argument(o, argument, state);
    case ARGP_KEY_END:
        if (!o->file) argp_error(state, "a code object or an offload bundle is needed (missing)");
        if (!o->kernel) argp_error(state, "the name of a kernel is needed (missing)");
        if (!o->shape.grid.x) argp_error(state, "--grid is needed (missing)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the code object ---- */

/* The device for a bundle: the one that is named; else a GPU; else an emulator, where the bundle leaves no
 * choice of its target. */
static tw_status open_bundle_device(const options *o, const tw_offload_bundle *bundle, tw_device **out,
                                    tw_diag *diag) {
    bool automatic = !o->device || !strcmp(o->device, "auto"),
         emulator = o->device && !strcmp(o->device, "emu");
    if (!automatic && !emulator) return cli_open_device(o->device, (tw_target){0}, out, diag);
    if (automatic && !tw_device_open("auto", out, NULL)) return TW_OK;
    size_t found = 0;
    tw_target target = {0};
    tw_strbuf names;
    tw_strbuf_init(&names, NULL);
    for (size_t i = 0; i < tw_offload_bundle_count(bundle); i++) {
        tw_offload_member member = tw_offload_bundle_at(bundle, i);
        char name[TW_TARGET_NAME_MAX];
        if (!member.runs) continue;
        target = member.target;
        tw_target_format(target, name);
        tw_strbuf_printf(&names, "%s%s", found++ ? ", " : "", name);
    }
    tw_status status = TW_OK;
    if (found != 1)
        status = tw_fail_at(diag, TW_ERR_USAGE, o->file, 0, 0,
                            "a bundle that does not hold code for just one target needs --device emu:TARGET "
                            "(got %s)",
                            found ? tw_strbuf_text(&names) : "no target of this library");
    tw_strbuf_free(&names);
    return status ? status : cli_open_device("emu", target, out, diag);
}

static tw_status load_bundle(const options *o, const void *bytes, size_t size, tw_code_object **object,
                             tw_device **device, tw_diag *diag) {
    tw_offload_bundle *bundle = NULL;
    tw_offload_member member = {0};
    tw_status status = tw_offload_bundle_from_bytes(bytes, size, &bundle, diag);
    if (status) return status;
    status = open_bundle_device(o, bundle, device, diag);
    if (!status) status = tw_offload_bundle_select(bundle, tw_device_target(*device), &member, diag);
    if (!status) status = tw_code_object_from_bytes(member.bytes, member.size, object, diag);
    tw_offload_bundle_free(bundle);
    return status;
}

static tw_status load(const options *o, tw_code_object **object, tw_device **device, tw_diag *diag) {
    char *bytes = NULL;
    size_t size = 0;
    tw_status status = cli_read_file_up_to(o->file, TW_CODE_OBJECT_MAX_BYTES, &bytes, &size, diag);
    if (status) return status;
    if (tw_offload_bundle_detect(bytes, size)) {
        status = load_bundle(o, bytes, size, object, device, diag);
    } else {
        status = tw_code_object_from_named_bytes(bytes, size, o->file, object, diag);
        if (!status) status = cli_open_device(o->device, tw_code_object_target(*object), device, diag);
    }
    free(bytes);
    return status;
}

/* ---- the launch ---- */

static tw_status choose_block(options *o, const tw_kernel_info *kernel, tw_diag *diag) {
    const uint32_t *required = kernel->required_workgroup;
    if (o->shape.block.x) return TW_OK;
    if (!required[0])
        return tw_fail(diag, TW_ERR_USAGE, "--block is needed, for the kernel fixes no workgroup (missing)");
    o->shape.block = (tw_dim3){required[0], required[1], required[2]};
    return TW_OK;
}

static int print(const options *o, const tw_device *device, const tw_kernel_info *kernel) {
    tw_launch_counts counts = tw_device_last_counts(device);
    json_t *row = cli_launch_row(kernel->name, o->shape.grid, o->shape.block, &counts, o->trace.profile);
    if (o->output.json) {
        json_object_set_new(row, "device", json_string(tw_device_name(device)));
        return cli_print_object(&o->output, row);
    }
    json_t *rows = json_array();
    json_array_append_new(rows, row);
    printf("device %s\n", tw_device_name(device));
    return cli_print_launches(&o->output, rows, o->trace.profile);
}

static tw_status run(options *o, cli_exec_args *args, tw_code_object *object, tw_device *device, int *code,
                     tw_diag *diag) {
    tw_module *module = NULL;
    const tw_kernel_info *kernel = tw_kernel_find(object, o->kernel, diag);
    tw_status status = kernel ? choose_block(o, kernel, diag) : TW_ERR_NOT_FOUND;
    if (!status) status = tw_module_load(device, object, &module, diag);
    if (!status) status = cli_exec_args_upload(args, device, kernel, diag);
    if (!status) status = cli_trace_start(&o->trace, device, diag);
    if (!status) status = cli_exec_args_launch(args, module, kernel, &o->shape, diag);
    status = cli_trace_finish(&o->trace, device, status, diag);
    if (status || o->trace.stopped) return status;
    status = cli_exec_args_download(args, diag);
    if (!status) *code = print(o, device, kernel);
    return status;
}

int cmd_exec(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&cli_output_argp, 0, NULL, 0}, {&cli_trace_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = "FILE KERNEL [ARGUMENT...]",
        .doc =
            "Runs one kernel of a code object, or of an offload bundle, from any compiler.\v"
            "Arguments, in the kernel's order:\n"
            "  buf:FILE           a buffer of the file's size, written back\n"
            "  zero:BYTES[:FILE]  a buffer of zeros, written to the file\n"
            "  i32:N i64:N        integers, signed or not, decimal or 0x\n"
            "  f32:X f64:X        numbers, inf or nan\n"
            "  hex:BYTES          a struct by value\n"
            "  null               a null pointer\n"
            "Arguments that are not given are null or zero. Files are written after a good launch only.\n\n"
            "Example: tilewright exec vadd.hsaco vadd --grid 4 --block 256 --device emu buf:a.bin "
            "buf:b.bin zero:4K:c.bin i32:1000"};
    options o = {.trace.disabled_checks = TW_EMU_CHECK_BUFFER_RANGE | TW_EMU_CHECK_LDS_RANGE};
    cli_parse(&argp, argc, argv, &o);
    tw_diag *diag = tw_diag_new(NULL);
    cli_exec_args args = {0};
    tw_code_object *object = NULL;
    tw_device *device = NULL;
    int code = CLI_OK;
    if (!diag) return CLI_FAILED;
    tw_status status = cli_exec_args_parse(o.words, o.word_count, &args, diag);
    if (!status) status = load(&o, &object, &device, diag);
    if (!status) status = run(&o, &args, object, device, &code, diag);
    if (cli_finish(status, diag) != CLI_OK) code = status == TW_ERR_USAGE ? CLI_USAGE : CLI_FAILED;
    tw_device_close(device);
    tw_code_object_release(object);
    cli_exec_args_free(&args);
    free(o.words);
    tw_diag_free(diag);
    return code;
}
