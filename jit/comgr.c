/* ROCm's comgr, opened at run time.
 *
 * The library is opened with RTLD_LOCAL: it brings an LLVM of its own release, which must not meet ours. The
 * symbols of Debian's libLLVM carry versions (LLVM_15, LLVM_22.1), and our copy of lld is hidden, so that
 * both live in one process; RTLD_DEEPBIND would break programs that bring their own malloc.
 *
 * comgr 3 has an on-disk cache of its own, ruled by AMD_COMGR_CACHE. A result from there would pass for a
 * compile and a time for a measurement, so each action carries an option that comgr does not cache under and
 * that changes nothing in the code: see `codegen_options` and `link_options`. */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/backend.h"
#include "jit/code_object_internal.h"
#include "jit/comgr_abi.h"
#include "jit/compile_log.h"
#include "support/fail.h"
#include "support/strbuf.h"

typedef struct comgr_functions {
#define DECLARE(result, name, parameters) result(*name) parameters;
    COMGR_FUNCTIONS(DECLARE)
#undef DECLARE
} comgr_functions;

typedef struct comgr_backend {
    tw_backend base;
    void *library;
    comgr_functions call;
    int codegen_action, link_action;
    char identity[512];
} comgr_backend;

/* -fprofile-instrument=none says what is the default; comgr caches no command that has an argument which
 * begins with -fprofile (its source, comgr-clang-command.cpp, hasDebugOrProfileInfo). The driver hands lld
 * the parts of a -Wl option as arguments of their own; lld ignores -rpath-link with its value. Later drivers
 * ask for an error on undefined symbols: -z undefs leaves them to the code-object reader, which says more. */
static const char *const codegen_options[] = {"-Xclang", "-fprofile-instrument=none"};
static const char *const link_options[] = {"-Wl,-rpath-link,-fprofile-instrument=none", "-Wl,-z,undefs"};

/* ---- opening ---- */

static void *try_open(const char *path, tw_strbuf *tried) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        tw_strbuf_printf(tried, "%s%s", tried->length ? "; " : "", reason ? reason : path);
    }
    return library;
}

static void *open_library(const char *path_or_null, tw_diag *diag) {
    static const char *const names[] = {"libamd_comgr.so.3", "libamd_comgr.so.2"};
    tw_strbuf tried, path;
    tw_strbuf_init(&tried, NULL);
    tw_strbuf_init(&path, NULL);
    const char *chosen = path_or_null ? path_or_null : secure_getenv("TILEWRIGHT_COMGR");
    const char *rocm = secure_getenv("ROCM_PATH");
    const char *folders[] = {rocm && rocm[0] ? rocm : "/opt/rocm", "/opt/rocm", NULL};
    void *library = NULL;
    if (chosen && chosen[0]) {
        library = try_open(chosen, &tried);
    } else {
        for (size_t f = 0; f < sizeof folders / sizeof folders[0] && !library; f++) {
            for (size_t n = 0; n < sizeof names / sizeof names[0] && !library; n++) {
                tw_strbuf_clear(&path);
                if (folders[f]) tw_strbuf_printf(&path, "%s/lib/", folders[f]);
                tw_strbuf_append(&path, names[n]);
                library = try_open(tw_strbuf_text(&path), &tried);
            }
        }
    }
    if (!library)
        tw_fail(diag, TW_ERR_NOT_FOUND, "no comgr library can be opened (%s)", tw_strbuf_text(&tried));
    tw_strbuf_free(&path);
    tw_strbuf_free(&tried);
    return library;
}

static tw_status find_functions(comgr_backend *b, tw_diag *diag) {
#define FIND(result, name, parameters)                                                     \
    b->call.name = (result(*) parameters)(uintptr_t)dlsym(b->library, "amd_comgr_" #name); \
    if (!b->call.name) return tw_fail(diag, TW_ERR_NOT_FOUND, "comgr has no function amd_comgr_" #name);
    COMGR_FUNCTIONS(FIND)
#undef FIND
    return TW_OK;
}

static tw_status choose_actions(comgr_backend *b, size_t major, size_t minor, tw_diag *diag) {
#define CHOOSE(version, codegen, link) \
    if (major == (version)) {          \
        b->codegen_action = (codegen); \
        b->link_action = (link);       \
        return TW_OK;                  \
    }
    COMGR_ACTIONS(CHOOSE)
#undef CHOOSE
    return tw_fail(diag, TW_ERR_NOT_FOUND, "comgr's major version must be 2 or 3 (got %zu.%zu)", major,
                   minor);
}

/* ---- actions ---- */

typedef struct action {
    const comgr_backend *backend;
    const tw_compile_job *job;
    comgr_action_info info;
    comgr_data_set input, output;
    bool has_info, has_input, has_output;
} action;

static void action_end(action *a) {
    const comgr_functions *call = &a->backend->call;
    if (a->has_output) call->destroy_data_set(a->output);
    if (a->has_input) call->destroy_data_set(a->input);
    if (a->has_info) call->destroy_action_info(a->info);
}

static tw_status failed(const action *a, comgr_status got, const char *what) {
    const char *text = NULL;
    if (a->backend->call.status_string(got, &text) != COMGR_SUCCESS || !text) text = "unknown status";
    if (got == COMGR_OUT_OF_RESOURCES) return tw_fail_no_memory(a->job->diag);
    return tw_fail_at(a->job->diag, TW_ERR_COMPILE, a->backend->identity, 0, 0, "%s: %s", what, text);
}

static tw_status action_begin(action *a, const char *isa, const char *const *options, size_t option_count) {
    const comgr_functions *call = &a->backend->call;
    comgr_status got = call->create_action_info(&a->info);
    a->has_info = got == COMGR_SUCCESS;
    if (!got) got = call->action_info_set_isa_name(a->info, isa);
    if (!got) got = call->action_info_set_option_list(a->info, (const char **)options, option_count);
    if (!got) got = call->action_info_set_logging(a->info, true);
    if (!got) {
        got = call->create_data_set(&a->input);
        a->has_input = got == COMGR_SUCCESS;
    }
    if (!got) {
        got = call->create_data_set(&a->output);
        a->has_output = got == COMGR_SUCCESS;
    }
    return got ? failed(a, got, "cannot set up an action") : TW_OK;
}

static tw_status add_input(action *a, comgr_kind kind, const char *name, const void *bytes, size_t size) {
    const comgr_functions *call = &a->backend->call;
    comgr_data data;
    comgr_status got = call->create_data(kind, &data);
    if (got) return failed(a, got, "cannot make a data object");
    got = call->set_data(data, size, bytes);
    if (!got) got = call->set_data_name(data, name);
    if (!got) got = call->data_set_add(a->input, data);
    call->release_data(data);
    return got ? failed(a, got, "cannot fill a data object") : TW_OK;
}

/* The first object of a kind that the action made, malloc'ed and terminated; NULL with TW_OK where there is
 * none. */
static tw_status take_output(const action *a, comgr_kind kind, uint8_t **bytes, size_t *size) {
    const comgr_functions *call = &a->backend->call;
    size_t count = 0;
    comgr_data data;
    *bytes = NULL;
    *size = 0;
    comgr_status got = call->action_data_count(a->output, kind, &count);
    if (!got && !count) return TW_OK;
    if (!got) got = call->action_data_get_data(a->output, kind, 0, &data);
    if (got) return failed(a, got, "cannot find the result");
    tw_status status = TW_OK;
    got = call->get_data(data, size, NULL);
    if (!got && !(*bytes = malloc(*size + 1))) status = tw_fail_no_memory(a->job->diag);
    if (*bytes) {
        got = call->get_data(data, size, (char *)*bytes);
        (*bytes)[*size] = 0;
    }
    call->release_data(data);
    if (!got || status) return status;
    free(*bytes);
    *bytes = NULL;
    return failed(a, got, "cannot read the result");
}

static void report_log(const action *a) {
    uint8_t *log;
    size_t size;
    if (take_output(a, COMGR_KIND_LOG, &log, &size) || !log) return;
    tw_compile_log_report((char *)log, a->backend->identity, a->job->diag);
    free(log);
}

/* LLVM's options are variables of a comgr library, which each action parses anew: two at once end the process
 * (comgr 2.4). */
static pthread_mutex_t action_lock = PTHREAD_MUTEX_INITIALIZER;

void tw_comgr_lock(void) { pthread_mutex_lock(&action_lock); }
void tw_comgr_unlock(void) { pthread_mutex_unlock(&action_lock); }

static tw_status run(action *a, int number, comgr_kind wanted, const char *what, uint8_t **bytes,
                     size_t *size) {
    tw_comgr_lock();
    comgr_status got = a->backend->call.do_action(number, a->info, a->input, a->output);
    tw_comgr_unlock();
    report_log(a);
    if (got) return failed(a, got, what);
    tw_status status = take_output(a, wanted, bytes, size);
    if (!status && !*bytes)
        status = tw_fail_at(a->job->diag, TW_ERR_COMPILE, a->backend->identity, 0, 0, "%s: no result", what);
    return status;
}

/* ---- the back end ---- */

static void isa_name(tw_target target, char name[96]) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    static const char *const modes[][3] = {{"", ":sramecc-", ":sramecc+"}, {"", ":xnack-", ":xnack+"}};
    snprintf(name, 96, "amdgcn-amd-amdhsa--%s%s%s", arch->name, modes[0][target.sramecc % 3],
             modes[1][target.xnack % 3]);
}

static tw_status codegen(const comgr_backend *b, const tw_compile_job *job, const char *isa, uint8_t **object,
                         size_t *size) {
    const tw_arch_info *arch = tw_arch_get(job->target.arch);
    char level[4];
    snprintf(level, sizeof level, "-O%u", job->opt_level);
    const char *options[4] = {level, codegen_options[0], codegen_options[1]};
    size_t count = 3;
    if (job->target.wave_size != arch->wave_size)
        options[count++] = job->target.wave_size == 64 ? "-mwavefrontsize64" : "-mno-wavefrontsize64";
    action a = {.backend = b, .job = job};
    uint64_t start = tw_now();
    tw_status status = action_begin(&a, isa, options, count);
    if (!status) status = add_input(&a, COMGR_KIND_BC, "kernel.ll", job->text, job->length);
    if (!status)
        status = run(&a, b->codegen_action, COMGR_KIND_RELOCATABLE, "code generation failed", object, size);
    action_end(&a);
    job->times->codegen = tw_now() - start;
    return status;
}

static tw_status link_object(const comgr_backend *b, const tw_compile_job *job, const char *isa,
                             const uint8_t *object, size_t object_size, uint8_t **bytes, size_t *size) {
    action a = {.backend = b, .job = job};
    uint64_t start = tw_now();
    tw_status status = action_begin(&a, isa, link_options, sizeof link_options / sizeof link_options[0]);
    if (!status) status = add_input(&a, COMGR_KIND_RELOCATABLE, "kernel.o", object, object_size);
    if (!status) status = run(&a, b->link_action, COMGR_KIND_EXECUTABLE, "linking failed", bytes, size);
    action_end(&a);
    job->times->link = tw_now() - start;
    return status;
}

static tw_status compile_for_isa(const comgr_backend *b, const tw_compile_job *job, const char *isa,
                                 uint8_t **bytes, size_t *size) {
    uint8_t *object = NULL;
    size_t object_size = 0;
    tw_status status = codegen(b, job, isa, &object, &object_size);
    if (!status) status = link_object(b, job, isa, object, object_size, bytes, size);
    free(object);
    return status;
}

static tw_status comgr_compile(const tw_backend *backend, const tw_compile_job *job, uint8_t **bytes,
                               size_t *size) {
    char isa[96];
    isa_name(job->target, isa);
    return compile_for_isa((const comgr_backend *)backend, job, isa, bytes, size);
}

/* The processor of an entry of comgr's list, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-". */
static bool isa_is_for(const char *isa, const char *processor) {
    size_t end = strcspn(isa, ":"), length = strlen(processor);
    return end > length && isa[end - length - 1] == '-' && memcmp(isa + end - length, processor, length) == 0;
}

static tw_status comgr_serves(const tw_backend *backend, tw_target target, tw_diag *diag) {
    const comgr_backend *b = (const comgr_backend *)backend;
    const char *processor = tw_arch_get(target.arch)->name;
    size_t count = 0;
    if (b->call.get_isa_count(&count)) count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *isa;
        if (b->call.get_isa_name(i, &isa) == COMGR_SUCCESS && isa_is_for(isa, processor))
            return tw_flavor_serves(backend->flavor, target, diag);
    }
    return tw_fail(diag, TW_ERR_UNSUPPORTED, "%s must know the target (got %s)", backend->identity,
                   processor);
}

/* ---- which LLVM is inside ---- */

/* lld, which is built into comgr from the same source tree as its LLVM, signs each linked file in .comment:
 * "Linker: LLD 15.0.6", with the vendor's name before and a revision behind where there is one. Copies what
 * follows "LLD ", and returns the release; 0 where there is no such text. */
static unsigned linker_release(const uint8_t *bytes, size_t size, char *text, size_t text_size) {
    static const char head[] = "Linker: ", tag[] = "LLD ";
    const uint8_t *end = bytes + size;
    const uint8_t *at = memmem(bytes, size, head, sizeof head - 1);
    if (at) at = memmem(at, (size_t)(end - at), tag, sizeof tag - 1);
    if (!at) return 0;
    size_t length = 0;
    for (at += sizeof tag - 1; at < end && *at >= ' ' && *at <= '~' && length + 1 < text_size; at++)
        text[length++] = (char)*at;
    text[length] = '\0';
    unsigned release = 0;
    return sscanf(text, "%3u", &release) == 1 ? release : 0;
}

/* comgr does not tell which LLVM it holds, and its own version says little: ROCm and the distributions pair
 * them differently. So it compiles one trivial kernel, and the linker's signature in the result says. */
static tw_status probe_release(comgr_backend *b, unsigned *release, char *text, size_t text_size,
                               tw_diag *diag) {
    static const char kernel[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                                 "define amdgpu_kernel void @probe() {\n  ret void\n}\n";
    size_t count = 0;
    const char *isa = NULL;
    if (b->call.get_isa_count(&count) || !count || b->call.get_isa_name(count - 1, &isa))
        return tw_fail(diag, TW_ERR_NOT_FOUND, "comgr must know a target (got none)");
    tw_compile_times times = {0};
    /* The target in the job is only asked for its wave size, which a kernel without work does not depend on.
     */
    const tw_compile_job job = {
        kernel, sizeof kernel - 1, {.arch = TW_ARCH_GFX90A, .wave_size = 64}, 3, &times, diag};
    uint8_t *bytes = NULL;
    size_t size = 0;
    tw_status status = compile_for_isa(b, &job, isa, &bytes, &size);
    if (!status) *release = linker_release(bytes, size, text, text_size);
    free(bytes);
    return status;
}

static tw_status choose_flavor(comgr_backend *b, size_t major, size_t minor, tw_diag *diag) {
    unsigned release = 0;
    char version[96] = "";
    snprintf(b->identity, sizeof b->identity, "comgr %zu.%zu", major, minor);
    tw_status status = probe_release(b, &release, version, sizeof version, diag);
    if (status) return status;
    if (!release) return tw_fail(diag, TW_ERR_NOT_FOUND, "the release of LLVM in %s is unknown", b->identity);
    if (!tw_flavor_name((tw_flavor)release))
        return tw_fail(diag, TW_ERR_NOT_FOUND,
                       "the LLVM in %s must be a release that there is a flavor for (got %s)", b->identity,
                       version);
    b->base.flavor = (tw_flavor)release;
    /* Later versions of comgr append these to what they compile with, so they are part of what compiles. */
    const char *appended = secure_getenv("AMD_COMGR_DRIVER_OPTIONS_APPEND");
    if (!appended) appended = "";
    int length = snprintf(b->identity, sizeof b->identity, "comgr %zu.%zu (llvm %s)%s%s", major, minor,
                          version, appended[0] ? " with " : "", appended);
    if (length < 0 || (size_t)length >= sizeof b->identity)
        return tw_fail(diag, TW_ERR_NOT_FOUND,
                       "AMD_COMGR_DRIVER_OPTIONS_APPEND must be shorter (got %zu bytes)", strlen(appended));
    return TW_OK;
}

static tw_status comgr_builds(const tw_backend *backend, tw_builds *builds, tw_diag *diag) {
    return tw_builds_add_loaded(builds, (uintptr_t)((const comgr_backend *)backend)->call.do_action, diag);
}

static void comgr_close(tw_backend *backend) {
    /* The library stays loaded: LLVM's global tables are not made to be unloaded. */
    free(backend);
}

static const tw_backend_functions comgr_backend_functions = {
    TW_COMPILER_COMGR, comgr_serves, comgr_compile, NULL, comgr_builds, comgr_close,
};

tw_status tw_comgr_backend_open(const char *library, tw_backend **out, tw_diag *diag) {
    *out = NULL;
    comgr_backend *b = calloc(1, sizeof *b);
    if (!b) return tw_fail_no_memory(diag);
    b->base.functions = &comgr_backend_functions;
    b->base.identity = b->identity;
    size_t major = 0, minor = 0;
    b->library = open_library(library, diag);
    tw_status status = b->library ? find_functions(b, diag) : TW_ERR_NOT_FOUND;
    if (!status) {
        b->call.get_version(&major, &minor);
        status = choose_actions(b, major, minor, diag);
    }
    if (!status) status = choose_flavor(b, major, minor, diag);
    if (status) {
        comgr_close(&b->base);
        return status;
    }
    *out = &b->base;
    return TW_OK;
}
