#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "lower/lower.h"
#include "support/fail.h"
#include "tools/cli.h"
#include "tools/source.h"

typedef enum stage { STAGE_TILE, STAGE_LLVM, STAGE_ISA } stage;

typedef struct options {
    cli_source source;
    stage stage;
    tw_flavor flavor; /* TW_FLAVOR_NONE: not given */
    const char *output;
} options;

static const struct argp_option argp_options[] = {
    {"stage", 's', "STAGE", 0, "tile (default), llvm or isa", 0},
    {"flavor", 'f', "FLAVOR", 0, "the LLVM release to write for: llvm15, llvm19 ... llvm24 (default: llvm22)",
     0},
    {"output", 'o', "FILE", 0, "write there instead of to standard output", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    static const char *const stages[] = {"tile", "llvm", "isa"};
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->source; return 0;
    case 's':
        for (unsigned i = 0; i < 3; i++)
            if (!strcmp(argument, stages[i])) {
                o->stage = (stage)i;
                return 0;
            }
        argp_error(state, "--stage must be tile, llvm or isa (got %s)", argument);
        return 0;
    case 'f': {
        tw_diag *diag = tw_diag_new(NULL);
        if (tw_flavor_parse(argument, &o->flavor, diag)) argp_error(state, "%s", tw_diag_first_error(diag));
        tw_diag_free(diag);
        return 0;
    }
    case 'o': o->output = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* The text of one stage, malloc'ed. */
static tw_status emit(const options *o, const tw_kernel *kernel, char **text, size_t *length, tw_diag *diag) {
    if (o->stage == STAGE_TILE) return tw_kernel_to_text(kernel, text, length, diag);
    if (o->stage == STAGE_LLVM)
        return tw_lower(kernel, o->flavor ? o->flavor : TW_FLAVOR_LLVM22, text, length, diag);
    tw_compiler *compiler = NULL;
    tw_compiler_choice choice;
    char *llvm = NULL;
    size_t llvm_length = 0;
    tw_status status = tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag);
    if (status == TW_OK) status = tw_compiler_choose(compiler, tw_kernel_target(kernel), &choice, diag);
    if (status == TW_OK && o->flavor && o->flavor != choice.flavor)
        status =
            tw_fail(diag, TW_ERR_UNSUPPORTED, "the ISA comes from the built-in LLVM, which reads %s (got %s)",
                    tw_flavor_name(choice.flavor), tw_flavor_name(o->flavor));
    if (status == TW_OK) status = tw_lower(kernel, choice.flavor, &llvm, &llvm_length, diag);
    if (status == TW_OK)
        status =
            tw_compile_to_assembly(compiler, llvm, llvm_length, tw_kernel_target(kernel), NULL, text, diag);
    if (status == TW_OK) *length = strlen(*text);
    free(llvm);
    tw_compiler_close(compiler);
    return status;
}

int cmd_emit_ir(int argc, char **argv) {
    static const struct argp_child children[] = {{&cli_source_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        .options = argp_options,
        .parser = parse,
        .children = children,
        .args_doc = CLI_SOURCE_ARGS_DOC,
        .doc = "Prints a kernel at one stage: the tile IR that its builder emits, the LLVM IR it is lowered "
               "to, or the machine code as assembly.\vExample: tilewright emit-ir "
               "direct_wgrad_depthwise kh=3 kw=3 dtype=bf16 --stage llvm --arch gfx1201"};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return CLI_FAILED;
    tw_diag *diag = tw_context_diag(ctx);
    char *text = NULL;
    size_t length = 0;
    tw_status status = cli_source_open(&o.source, diag);
    bool usage = status == TW_ERR_USAGE;
    if (status == TW_OK) {
        tw_kernel *kernel = cli_source_kernel(&o.source, ctx);
        status = kernel ? emit(&o, kernel, &text, &length, diag) : TW_ERR_INVALID;
    }
    if (status == TW_OK) status = cli_write_file(o.output, text, length, diag);
    free(text);
    int code = cli_finish(status, diag);
    cli_source_close(&o.source);
    tw_context_free(ctx);
    return usage ? CLI_USAGE : code;
}
