#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "jit/cache.h"
#include "jit/compile.h"
#include "support/fail.h"
#include "tools/cli.h"
#include "tools/compiler_option.h"
#include "tools/source.h"

typedef struct options {
    cli_source source;
    cli_output output;
    cli_compiler compiler;
    const char *path;
    bool stats, no_cache;
    unsigned opt_level;
} options;

static const struct argp_option argp_options[] = {
    CLI_COMPILER_OPTION("auto"),
    {"output", 'o', "FILE", 0, "the code object (default: KERNEL.hsaco; - is standard output)", 0},
    {"stats", 's', NULL, 0, "print registers, spills, LDS, scratch, bytes and the time of each phase", 0},
    {"opt-level", 'O', "N", 0, "1..3 (default 3)", 0},
    CLI_NO_CACHE_OPTION,
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->source;
        state->child_inputs[1] = &o->output;
        return 0;
    case 'c': cli_compiler_parse(argument, &o->compiler, state); return 0;
    case 'o': o->path = argument; return 0;
    case 's': o->stats = true; return 0;
    case 'O': {
        uint64_t level;
        if (!cli_parse_u64(argument, &level) || level < 1 || level > 3)
            argp_error(state, "--opt-level must be 1..3 (got %s)", argument);
        o->opt_level = (unsigned)level;
        return 0;
    }
    case CLI_OPTION_NO_CACHE: o->no_cache = true; return 0;
    case ARGP_KEY_END:
        if ((o->stats || o->output.json) && o->path && !strcmp(o->path, "-"))
            argp_error(state, "--%s and the code object cannot both go to standard output (got --output -)",
                       o->output.json ? "json" : "stats");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static json_t *times_object(const tw_compile_times *times, uint64_t build_ns) {
    static const struct {
        const char *name;
        size_t offset;
    } phases[] = {{"lower_ms", offsetof(tw_compile_times, lower)},
                  {"cache_lookup_ms", offsetof(tw_compile_times, cache_lookup)},
                  {"parse_ms", offsetof(tw_compile_times, parse)},
                  {"passes_ms", offsetof(tw_compile_times, passes)},
                  {"codegen_ms", offsetof(tw_compile_times, codegen)},
                  {"link_ms", offsetof(tw_compile_times, link)},
                  {"read_ms", offsetof(tw_compile_times, read)},
                  {"cache_store_ms", offsetof(tw_compile_times, cache_store)}};
    json_t *object = json_object();
    json_object_set_new(object, "build_ms", json_real((double)build_ns / 1e6));
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++) {
        uint64_t ns;
        memcpy(&ns, (const char *)times + phases[i].offset, sizeof ns);
        json_object_set_new(object, phases[i].name, json_real((double)ns / 1e6));
    }
    return object;
}

static int print_stats(const options *o, const tw_code_object *object, const tw_compile_times *times,
                       uint64_t build_ns, const char *identity) {
    const tw_kernel_info *k = tw_code_object_kernel_at(object, 0);
    size_t size;
    tw_code_object_bytes(object, &size);
    json_t *stats =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:I, s:b}", "kernel", k->name,
                  "target", tw_code_object_target_id(object), "compiler", identity, "vgprs", (int)k->vgprs,
                  "agprs", (int)k->agprs, "sgprs", (int)k->sgprs, "vgpr_spills", (int)k->vgpr_spills,
                  "sgpr_spills", (int)k->sgpr_spills, "scratch_bytes", (int)k->scratch_bytes, "lds_bytes",
                  (int)k->lds_bytes, "kernarg_bytes", (int)k->kernarg_size, "code_bytes",
                  (json_int_t)k->code_bytes, "file_bytes", (json_int_t)size, "cache_hit", times->cache_hit);
    json_t *phases = times_object(times, build_ns);
    if (!stats || !phases) return CLI_FAILED;
    json_object_update(stats, phases);
    json_decref(phases);
    return cli_print_object(&o->output, stats);
}

/* A cache that cannot be used costs a warning, not the kernel. */
static tw_cache *open_cache(tw_diag *diag) {
    tw_cache *cache = NULL;
    tw_diag *reason = tw_diag_new(NULL);
    if (reason && tw_cache_open(NULL, &cache, reason) != TW_OK)
        tw_warn(diag, tw_diag_get(reason, 0)->where, "the cache is not used: %s",
                tw_diag_first_error(reason));
    tw_diag_free(reason);
    return cache;
}

static tw_status compile(options *o, tw_context *ctx, int *code) {
    tw_diag *diag = tw_context_diag(ctx);
    uint64_t begin = cli_now();
    tw_kernel *kernel = cli_source_kernel(&o->source, ctx);
    uint64_t build_ns = cli_now() - begin;
    if (!kernel) return TW_ERR_INVALID;
    tw_compiler *compiler = NULL;
    tw_compiler_choice choice;
    tw_compile_times times = {0};
    tw_code_object *object = NULL;
    tw_cache *cache = NULL;
    tw_status status = cli_compiler_open(&o->compiler, &compiler, diag);
    if (status == TW_OK) status = tw_compiler_choose(compiler, tw_kernel_target(kernel), &choice, diag);
    if (status == TW_OK) {
        if (!o->no_cache) cache = open_cache(diag);
        tw_compile_options compile_options = {.opt_level = o->opt_level, .cache = cache, .times = &times};
        status = tw_compile(compiler, kernel, &compile_options, &object, diag);
    }
    if (status == TW_OK) {
        char path[300];
        snprintf(path, sizeof path, "%s.hsaco", tw_kernel_name(kernel));
        const char *to = o->path ? o->path : path;
        size_t size;
        const void *bytes = tw_code_object_bytes(object, &size);
        status = cli_write_file(to, bytes, size, diag);
        if (status == TW_OK && (o->stats || o->output.json))
            *code = print_stats(o, object, &times, build_ns, choice.identity);
    }
    tw_code_object_release(object);
    tw_cache_close(cache);
    tw_compiler_close(compiler);
    return status;
}

int cmd_compile(int argc, char **argv) {
    static const struct argp_child children[] = {
        {&cli_source_argp, 0, NULL, 0}, {&cli_output_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = argp_options,
                                     .parser = parse,
                                     .children = children,
                                     .args_doc = CLI_SOURCE_ARGS_DOC,
                                     .doc = "Compiles a kernel to a code object."};
    options o = {0};
    cli_parse(&argp, argc, argv, &o);
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return CLI_FAILED;
    tw_diag *diag = tw_context_diag(ctx);
    int code = CLI_OK;
    tw_status status = cli_source_open(&o.source, diag);
    bool usage = status == TW_ERR_USAGE;
    if (status == TW_OK) status = compile(&o, ctx, &code);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    cli_source_close(&o.source);
    tw_context_free(ctx);
    return usage ? CLI_USAGE : code;
}
