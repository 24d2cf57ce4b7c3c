/* opt, llc and ld.lld of another LLVM release, as programs. Their bytes are those that LLVM and lld of the
 * same release make in a process. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/backend.h"
#include "jit/child_process.h"
#include "jit/compile_log.h"
#include "jit/loader_report.h"
#include "support/fail.h"

typedef enum tool { TOOL_OPT, TOOL_LLC, TOOL_LLD, TOOL_COUNT } tool;
static const struct {
    const char *name, *version_word; /* what stands before the version that it reports */
} tools[TOOL_COUNT] = {{"opt", "LLVM version "}, {"llc", "LLVM version "}, {"ld.lld", "LLD "}};

typedef struct tools_backend {
    tw_backend base;
    char *paths[TOOL_COUNT];
    char identity[96];
    tw_strbuf files;           /* of the programs and of what they load: paths, each with its terminator */
    bool reported[TOOL_COUNT]; /* the dynamic loader told what it loads for the program */
} tools_backend;

/* ---- one program ---- */

/* The last line that it printed, where it failed without an error of its own. */
static const char *last_line(char *words) {
    size_t length = strlen(words);
    while (length && words[length - 1] == '\n')
        words[--length] = '\0';
    char *line = strrchr(words, '\n');
    return line ? line + 1 : words;
}

static tw_status check_end(const tools_backend *b, tool which, const tw_child *child, tw_diag *diag) {
    if (child->timed_out)
        return tw_fail_at(diag, TW_ERR_LIMIT, b->identity, 0, 0, "%s must end within %u ms (got more)",
                          tools[which].name, child->limits.milliseconds);
    if (child->exit_code == 0) {
        tw_compile_log_report(child->words, b->identity, diag);
        return TW_OK;
    }
    char last[256];
    char *copy = strdup(child->words);
    snprintf(last, sizeof last, "%s", copy ? last_line(copy) : "");
    free(copy);
    size_t errors = tw_compile_log_report(child->words, b->identity, diag);
    if (child->end_signal) {
        const char *name = sigabbrev_np(child->end_signal);
        return tw_fail_at(diag, TW_ERR_COMPILE, b->identity, 0, 0, "%s was ended by SIG%s", tools[which].name,
                          name ? name : "?");
    }
    return errors ? TW_ERR_COMPILE
                  : tw_fail_at(diag, TW_ERR_COMPILE, b->identity, 0, 0, "%s ended with exit code %d: %s",
                               tools[which].name, child->exit_code, last);
}

/* After a run, of which `status` is what came of it: the output of a program that did its work. */
static tw_status take_result(const tools_backend *b, tool which, tw_child *child, tw_status status,
                             uint8_t **output, size_t *output_size, tw_diag *diag) {
    if (!status) status = check_end(b, which, child, diag);
    free(child->words);
    if (status) {
        free(child->output);
        return status;
    }
    *output = child->output;
    *output_size = child->output_size;
    return TW_OK;
}

/* `arguments` begins with a place for the path of the program, and ends with NULL. */
static tw_status run_tool(const tools_backend *b, tool which, const char **arguments, const void *input,
                          size_t input_size, uint8_t **output, size_t *output_size, tw_diag *diag) {
    arguments[0] = b->paths[which];
    tw_child child = {.arguments = arguments, .input = input, .input_size = input_size};
    tw_status status = tw_child_run(&child, diag);
    return take_result(b, which, &child, status, output, output_size, diag);
}

/* ---- the back end ---- */

static tw_status tools_serve(const tw_backend *backend, tw_target target, tw_diag *diag) {
    return tw_flavor_serves(backend->flavor, target, diag);
}

/* Text to an object or to assembly. */
static tw_status front_half(const tools_backend *b, const tw_compile_job *job, const char *file_type,
                            uint8_t **bytes, size_t *size) {
    char cpu[64], features[112], pipeline[32], level[8], type[32];
    snprintf(cpu, sizeof cpu, "-mcpu=%s", tw_arch_get(job->target.arch)->name);
    size_t length = (size_t)snprintf(features, sizeof features, "-mattr=");
    tw_target_features(job->target, features + length, sizeof features - length);
    snprintf(pipeline, sizeof pipeline, "-passes=default<O%u>", job->opt_level);
    snprintf(level, sizeof level, "-O%u", job->opt_level);
    snprintf(type, sizeof type, "-filetype=%s", file_type);
    const char *opt[] = {NULL, "-mtriple=amdgcn-amd-amdhsa", cpu, features, pipeline, "-o", "-", "-", NULL};
    const char *llc[] = {NULL,  "-mtriple=amdgcn-amd-amdhsa",
                         cpu,   features,
                         level, "-relocation-model=pic",
                         type,  "-o",
                         "-",   "-",
                         NULL};
    uint8_t *bitcode = NULL;
    size_t bitcode_size = 0;
    uint64_t start = tw_now();
    tw_status status = run_tool(b, TOOL_OPT, opt, job->text, job->length, &bitcode, &bitcode_size, job->diag);
    uint64_t optimised = tw_now();
    job->times->passes = optimised - start;
    if (!status) status = run_tool(b, TOOL_LLC, llc, bitcode, bitcode_size, bytes, size, job->diag);
    job->times->codegen = tw_now() - optimised;
    free(bitcode);
    return status;
}

static tw_status tools_compile(const tw_backend *backend, const tw_compile_job *job, uint8_t **bytes,
                               size_t *size) {
    const tools_backend *b = (const tools_backend *)backend;
    const char *lld[] = {NULL, "-shared", "-o", "-", "/proc/self/fd/0", NULL};
    uint8_t *object = NULL;
    size_t object_size = 0;
    tw_status status = front_half(b, job, "obj", &object, &object_size);
    uint64_t start = tw_now();
    if (!status) status = run_tool(b, TOOL_LLD, lld, object, object_size, bytes, size, job->diag);
    job->times->link = tw_now() - start;
    free(object);
    return status;
}

static tw_status tools_assembly(const tw_backend *backend, const tw_compile_job *job, char **text) {
    size_t size;
    return front_half((const tools_backend *)backend, job, "asm", (uint8_t **)text, &size);
}

/* Libraries are where the loader found them when the programs were asked for their version. */
static tw_status tools_builds(const tw_backend *backend, tw_builds *builds, tw_diag *diag) {
    const tools_backend *b = (const tools_backend *)backend;
    for (int i = 0; i < TOOL_COUNT; i++)
        if (!b->reported[i] && tw_file_is_dynamic(b->paths[i]))
            return tw_fail(diag, TW_ERR_NOT_FOUND, "the dynamic loader must report what it loads for %s",
                           b->paths[i]);
    tw_status status = TW_OK;
    const char *end = b->files.text + b->files.length;
    for (const char *path = b->files.text; path < end && !status; path += strlen(path) + 1)
        status = tw_builds_add_file(builds, path, diag);
    return status;
}

static void tools_close(tw_backend *backend) {
    tools_backend *b = (tools_backend *)backend;
    tw_strbuf_free(&b->files);
    for (int i = 0; i < TOOL_COUNT; i++)
        free(b->paths[i]);
    free(b);
}

static const tw_backend_functions tools_functions = {
    TW_COMPILER_TOOLS, tools_serve, tools_compile, tools_assembly, tools_builds, tools_close,
};

/* ---- opening ---- */

/* "Debian LLVM version 15.0.6", "LLD 19.1.7 (compatible with GNU linkers)": the version. */
static tw_status ask_version(tools_backend *b, tool which, char version[32], tw_diag *diag) {
    const char *arguments[] = {b->paths[which], "--version", NULL};
    const char **environment = tw_loader_environment();
    if (!environment) return tw_fail_no_memory(diag);
    tw_child child = {.arguments = arguments, .input = "", .environment = environment};
    uint8_t *output = NULL;
    size_t size;
    tw_status status = tw_child_run(&child, diag);
    free(environment);
    if (!status) b->reported[which] = tw_loader_take_report(child.words, &b->files);
    status = take_result(b, which, &child, status, &output, &size, diag);
    if (status) return tw_fail(diag, TW_ERR_NOT_FOUND, "%s cannot be asked for its version", b->paths[which]);
    const char *word = strstr((const char *)output, tools[which].version_word);
    const char *text = word ? word + strlen(tools[which].version_word) : "";
    snprintf(version, 32, "%.*s", (int)strcspn(text, " \n,("), text);
    if (!version[0])
        status = tw_fail(diag, TW_ERR_NOT_FOUND, "%s must report its version after \"%s\" (got %.60s)",
                         b->paths[which], tools[which].version_word, (const char *)output);
    free(output);
    return status;
}

static tw_status find_tools(tools_backend *b, const char *folder, tw_diag *diag) {
    for (int i = 0; i < TOOL_COUNT; i++) {
        size_t size = strlen(folder) + strlen(tools[i].name) + 2;
        b->paths[i] = malloc(size);
        if (!b->paths[i]) return tw_fail_no_memory(diag);
        snprintf(b->paths[i], size, "%s/%s", folder, tools[i].name);
        if (access(b->paths[i], X_OK))
            return tw_fail(diag, TW_ERR_NOT_FOUND, "the folder of tools must hold the program %s (got %s)",
                           tools[i].name, folder);
        tw_loader_add_path(&b->files, b->paths[i], size - 1);
    }
    return TW_OK;
}

static tw_status find_flavor(tools_backend *b, tw_diag *diag) {
    char versions[TOOL_COUNT][32];
    snprintf(b->identity, sizeof b->identity, "llvm tools");
    for (int i = 0; i < TOOL_COUNT; i++) {
        tw_status status = ask_version(b, (tool)i, versions[i], diag);
        if (!status && b->files.failed) status = tw_fail_no_memory(diag);
        if (status) return status;
        if (strcmp(versions[i], versions[0]))
            return tw_fail(diag, TW_ERR_NOT_FOUND, "%s must be of the release of opt, %s (got %s)",
                           tools[i].name, versions[0], versions[i]);
    }
    unsigned release = 0;
    if (sscanf(versions[0], "%3u", &release) != 1 || !tw_flavor_name((tw_flavor)release))
        return tw_fail(diag, TW_ERR_NOT_FOUND,
                       "the tools must be of a release that there is a flavor for (got %s)", versions[0]);
    b->base.flavor = (tw_flavor)release;
    snprintf(b->identity, sizeof b->identity, "llvm %s tools", versions[0]);
    return TW_OK;
}

tw_status tw_tools_backend_open(const char *folder, tw_backend **out, tw_diag *diag) {
    *out = NULL;
    tools_backend *b = calloc(1, sizeof *b);
    if (!b) return tw_fail_no_memory(diag);
    b->base.functions = &tools_functions;
    tw_strbuf_init(&b->files, NULL);
    b->base.identity = b->identity;
    tw_status status = find_tools(b, folder, diag);
    if (!status) status = find_flavor(b, diag);
    if (status) {
        tools_close(&b->base);
        return status;
    }
    *out = &b->base;
    return TW_OK;
}
