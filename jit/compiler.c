#include "jit/compiler.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/backend.h"
#include "jit/cache_internal.h"
#include "jit/code_object_internal.h"
#include "jit/worker.h"
#include "support/fail.h"

#define DEFAULT_OPT_LEVEL 3

/* The builds behind a back end, as one digest. */
typedef struct builds_digest {
    bool tried, known;
    uint8_t bytes[TW_SHA256_BYTES];
} builds_digest;

struct tw_compiler {
    tw_backend *backends[2]; /* in the order of preference */
    size_t count;
    pthread_mutex_t lock; /* of what follows */
    builds_digest builds[2];
    bool tried_cache;
    tw_cache *cache; /* in its usual folder */
};

uint64_t tw_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static tw_status open_backend(tw_compiler *compiler, tw_compiler_kind kind, const char *path, tw_diag *diag) {
    tw_backend **place = &compiler->backends[compiler->count];
    tw_status status = kind == TW_COMPILER_COMGR   ? tw_comgr_backend_open(path, place, diag)
                       : kind == TW_COMPILER_TOOLS ? tw_tools_backend_open(path, place, diag)
                                                   : tw_llvm_backend_open(place, diag);
    compiler->count += !status;
    return status;
}

/* The comgr that is a choice and not a demand, where its LLVM is not older than ours: its absence is no
 * error, but a library that the user named and that does not open is worth a word. */
static void open_comgr_if_good(tw_compiler *compiler, tw_diag *diag) {
    const char *named = secure_getenv("TILEWRIGHT_COMGR");
    bool is_named = named && named[0];
    tw_diag *reasons = tw_diag_new(NULL);
    tw_status status = open_backend(compiler, TW_COMPILER_COMGR, NULL, reasons);
    if (status && is_named)
        tw_warn(diag, "TILEWRIGHT_COMGR", "%s", reasons ? tw_diag_first_error(reasons) : "out of memory");
    tw_diag_free(reasons);
    if (status) return;
    tw_backend *llvm = compiler->backends[0], *comgr = compiler->backends[1];
    if (is_named || comgr->flavor >= llvm->flavor) {
        compiler->backends[0] = comgr;
        compiler->backends[1] = llvm;
    } else {
        comgr->functions->close(comgr);
        compiler->count--;
    }
}

static tw_status open_compiler(tw_compiler_kind kind, const char *path, tw_compiler **out, tw_diag *diag) {
    tw_compiler *compiler = calloc(1, sizeof *compiler);
    if (!compiler) return tw_fail_no_memory(diag);
    pthread_mutex_init(&compiler->lock, NULL);
    tw_status status = open_backend(compiler, kind, path, diag);
    if (!status && kind == TW_COMPILER_AUTO) open_comgr_if_good(compiler, diag);
    if (status) {
        tw_compiler_close(compiler);
        return status;
    }
    *out = compiler;
    return TW_OK;
}

tw_status tw_compiler_open(tw_compiler_kind kind, tw_compiler **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_compiler_open: out must not be NULL");
    *out = NULL;
    if (kind != TW_COMPILER_AUTO && kind != TW_COMPILER_LLVM && kind != TW_COMPILER_COMGR)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compiler_open: kind must be 0..2 (got %d)", (int)kind);
    return open_compiler(kind, NULL, out, diag);
}

tw_status tw_compiler_open_path(tw_compiler_kind kind, const char *path, tw_compiler **out, tw_diag *diag) {
    if (!out || !path)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compiler_open_path: path and out must not be NULL");
    *out = NULL;
    if (kind != TW_COMPILER_COMGR && kind != TW_COMPILER_TOOLS)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compiler_open_path: kind must be 2 or 3 (got %d)", (int)kind);
    return open_compiler(kind, path, out, diag);
}

void tw_compiler_close(tw_compiler *compiler) {
    if (!compiler) return;
    for (size_t i = 0; i < compiler->count; i++)
        compiler->backends[i]->functions->close(compiler->backends[i]);
    tw_cache_close(compiler->cache);
    pthread_mutex_destroy(&compiler->lock);
    free(compiler);
}

tw_cache *tw_compiler_default_cache(tw_compiler *compiler, tw_diag *diag) {
    pthread_mutex_lock(&compiler->lock);
    if (!compiler->tried_cache) {
        compiler->tried_cache = true;
        tw_diag *reasons = tw_diag_new(NULL);
        if (tw_cache_open(NULL, &compiler->cache, reasons))
            tw_warn(diag, "cache", "not used: %s", reasons ? tw_diag_first_error(reasons) : "out of memory");
        tw_diag_free(reasons);
    }
    tw_cache *cache = compiler->cache;
    pthread_mutex_unlock(&compiler->lock);
    return cache;
}

static tw_status choose_backend(const tw_compiler *compiler, tw_target target, const tw_backend **out,
                                tw_diag *diag) {
    if (!tw_arch_get(target.arch) || (target.wave_size != 32 && target.wave_size != 64) ||
        target.xnack > TW_FEATURE_ON || target.sramecc > TW_FEATURE_ON)
        return tw_fail(diag, TW_ERR_USAGE,
                       "the target must come from tw_target_parse (got arch %d, wave size %u)",
                       (int)target.arch, target.wave_size);
    tw_status status = TW_ERR_UNSUPPORTED;
    for (size_t i = 0; status && i < compiler->count; i++) {
        const tw_backend *backend = compiler->backends[i];
        bool is_last = i + 1 == compiler->count; /* its reason is the one that is told */
        status = backend->functions->serves(backend, target, is_last ? diag : NULL);
        if (!status) *out = backend;
    }
    return status;
}

tw_status tw_compiler_choose(tw_compiler *compiler, tw_target target, tw_compiler_choice *out,
                             tw_diag *diag) {
    if (!compiler || !out)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compiler_choose: compiler and out must not be NULL");
    *out = (tw_compiler_choice){.identity = ""};
    const tw_backend *backend = NULL;
    tw_status status = choose_backend(compiler, target, &backend, diag);
    if (!status) *out = (tw_compiler_choice){backend->functions->kind, backend->flavor, backend->identity};
    return status;
}

static tw_status check_options(const tw_compile_options *options, unsigned *level, tw_diag *diag) {
    *level = options && options->opt_level ? options->opt_level : DEFAULT_OPT_LEVEL;
    if (*level > 3) return tw_fail(diag, TW_ERR_USAGE, "opt_level must be 0..3 (got %u)", *level);
    return TW_OK;
}

static const char *skip_blanks(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n'))
        at++;
    return at;
}

/* The string behind `at` and an equals sign; NULL where there is none. */
static const char *value_behind(const char *at, const char *end, size_t *length) {
    at = skip_blanks(at, end);
    if (at == end || *at != '=') return NULL;
    at = skip_blanks(at + 1, end);
    if (at == end || *at != '"') return NULL;
    const char *close = memchr(at + 1, '"', (size_t)(end - at) - 1);
    *length = close ? (size_t)(close - at) - 1 : 0;
    return close ? at + 1 : NULL;
}

/* LLVM makes code for the processor that a function's attribute names, and an object that says it is for
 * ours. What stands behind a semicolon may be a comment. */
static tw_status check_text(const tw_compile_job *job) {
    static const char key[] = "\"target-cpu\"";
    const char *wanted = tw_arch_get(job->target.arch)->name, *end = job->text + job->length;
    for (const char *at = job->text; (at = memmem(at, (size_t)(end - at), key, sizeof key - 1));) {
        const char *line = memrchr(job->text, '\n', (size_t)(at - job->text));
        line = line ? line + 1 : job->text;
        bool comment = memchr(line, ';', (size_t)(at - line));
        at += sizeof key - 1;
        size_t length;
        const char *value = comment ? NULL : value_behind(at, end, &length);
        if (value && (length != strlen(wanted) || memcmp(value, wanted, length)))
            return tw_fail_at(job->diag, TW_ERR_INVALID, "kernel.ll", 0, 0,
                              "the text's target-cpu must be %s (got %.*s)", wanted,
                              (int)(length < 64 ? length : 64), value);
    }
    return TW_OK;
}

/* A symbol that nothing defines: for LLVM an intrinsic that it does not know is a plain function. */
static tw_status check_symbols(const tw_code_object *object, const char *identity, tw_diag *diag) {
    size_t count = tw_code_object_undefined_count(object);
    for (size_t i = 0; i < count; i++) {
        const char *name = tw_code_object_undefined_at(object, i);
        if (strncmp(name, "llvm.", 5) == 0) {
            tw_fail(diag, TW_ERR_COMPILE,
                    "undefined symbol %s: %s does not know this intrinsic (got %zu undefined)", name,
                    identity, count);
        } else {
            tw_fail(diag, TW_ERR_COMPILE,
                    "undefined symbol %s: a code object must define all that it uses (got %zu undefined)",
                    name, count);
        }
    }
    return count ? TW_ERR_COMPILE : TW_OK;
}

static tw_status check_object(const tw_code_object *object, tw_target target, const char *identity,
                              tw_diag *diag) {
    tw_target got = tw_code_object_target(object);
    if (got.arch != target.arch)
        return tw_fail(diag, TW_ERR_COMPILE, "the code object must be for %s (got %s)",
                       tw_arch_get(target.arch)->name, tw_arch_get(got.arch)->name);
    for (size_t i = 0; i < tw_code_object_kernel_count(object); i++) {
        const tw_kernel_info *kernel = tw_code_object_kernel_at(object, i);
        if (kernel->wave_size != target.wave_size)
            return tw_fail(diag, TW_ERR_COMPILE, "kernel %s must have waves of %u lanes (got %u)",
                           kernel->name, target.wave_size, kernel->wave_size);
    }
    return check_symbols(object, identity, diag);
}

typedef struct worker_job {
    const tw_backend *backend;
    const tw_compile_job *job;
} worker_job;

static tw_status compile_in_worker(void *argument, tw_compile_times *times, tw_diag *diag, uint8_t **bytes,
                                   size_t *size) {
    const worker_job *work = argument;
    tw_compile_job job = *work->job;
    job.times = times;
    job.diag = diag;
    return work->backend->functions->compile(work->backend, &job, bytes, size);
}

static tw_status make_bytes(const tw_backend *backend, const tw_compile_job *job,
                            const tw_compile_options *options, uint8_t **bytes, size_t *size) {
    if (!options || !options->worker) return backend->functions->compile(backend, job, bytes, size);
    worker_job work = {backend, job};
    tw_compile_times theirs = {0};
    tw_status status = tw_worker_run(options->worker, options->name ? options->name : "kernel",
                                     compile_in_worker, &work, &theirs, bytes, size, job->diag);
    job->times->parse = theirs.parse;
    job->times->passes = theirs.passes;
    job->times->codegen = theirs.codegen;
    job->times->link = theirs.link;
    return status;
}

static tw_status compile_and_read(const tw_backend *backend, const tw_compile_job *job,
                                  const tw_compile_options *options, tw_code_object **out) {
    uint8_t *bytes = NULL;
    size_t size = 0;
    tw_status status = check_text(job);
    if (!status) status = make_bytes(backend, job, options, &bytes, &size);
    if (status) return status;
    uint64_t start = tw_now();
    status = tw_code_object_from_named_bytes(bytes, size, backend->identity, out, job->diag);
    job->times->read = tw_now() - start;
    free(bytes);
    if (!status) status = check_object(*out, job->target, backend->identity, job->diag);
    if (status) {
        tw_code_object_release(*out);
        *out = NULL;
    }
    return status;
}

/* A hit is checked as a fresh object is: the entry was good when it was stored, but the file is not our
 * memory. */
static bool load_cached(tw_cache *cache, const tw_cache_key *key, const tw_compile_job *job,
                        const char *identity, tw_code_object **out) {
    if (tw_cache_load(cache, key, out, job->diag)) return false;
    if (!check_object(*out, job->target, identity, NULL)) return true;
    tw_code_object_release(*out);
    *out = NULL;
    return false;
}

static tw_status find_builds(const tw_backend *backend, uint8_t digest[TW_SHA256_BYTES], tw_diag *diag) {
    tw_builds builds = {0};
    tw_status status = backend->functions->builds(backend, &builds, diag);
    if (!status) tw_builds_digest(&builds, digest);
    tw_builds_free(&builds);
    return status;
}

/* Found at the first compile that asks a cache. False where it cannot be told what compiles, of which the
 * first caller is warned: an entry might then be another compiler's. */
static bool builds_of(tw_compiler *compiler, const tw_backend *backend, uint8_t digest[TW_SHA256_BYTES],
                      tw_diag *diag) {
    builds_digest *builds = &compiler->builds[backend != compiler->backends[0]];
    pthread_mutex_lock(&compiler->lock);
    if (!builds->tried) {
        builds->tried = true;
        tw_diag *reasons = tw_diag_new(NULL);
        builds->known = find_builds(backend, builds->bytes, reasons) == TW_OK;
        if (!builds->known)
            tw_warn(diag, "cache", "not used, for it is not known which build of %s compiles: %s",
                    backend->identity, reasons ? tw_diag_first_error(reasons) : "out of memory");
        tw_diag_free(reasons);
    }
    memcpy(digest, builds->bytes, sizeof builds->bytes);
    bool known = builds->known;
    pthread_mutex_unlock(&compiler->lock);
    return known;
}

static tw_status compile_through_cache(tw_compiler *compiler, const tw_backend *backend,
                                       const tw_compile_job *job, const tw_compile_options *options,
                                       tw_code_object **out) {
    tw_cache *cache = options ? options->cache : NULL;
    uint8_t builds[TW_SHA256_BYTES];
    uint64_t start = tw_now();
    if (!cache || !builds_of(compiler, backend, builds, job->diag))
        return compile_and_read(backend, job, options, out);
    tw_cache_key key;
    tw_cache_key_of(job->text, job->length, job->target, backend->flavor, job->opt_level, backend->identity,
                    builds, &key);
    job->times->cache_hit = load_cached(cache, &key, job, backend->identity, out);
    job->times->cache_lookup = tw_now() - start;
    if (job->times->cache_hit) return TW_OK;
    tw_status status = compile_and_read(backend, job, options, out);
    if (status) return status;
    size_t size;
    const void *bytes = tw_code_object_bytes(*out, &size);
    start = tw_now();
    tw_cache_store(cache, &key, bytes, size, job->diag);
    job->times->cache_store = tw_now() - start;
    return TW_OK;
}

/* The options' part of a job, and what serves its target. */
static tw_status begin_job(const tw_compiler *compiler, const tw_compile_options *options,
                           tw_compile_job *job, const tw_backend **backend) {
    if (options && options->times) job->times = options->times;
    *job->times = (tw_compile_times){0};
    tw_status status = check_options(options, &job->opt_level, job->diag);
    return status ? status : choose_backend(compiler, job->target, backend, job->diag);
}

tw_status tw_compile_llvm_ir(tw_compiler *compiler, const char *text, size_t length, tw_target target,
                             const tw_compile_options *options, tw_code_object **out, tw_diag *diag) {
    if (!compiler || !text || !out)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compile_llvm_ir: compiler, text and out must not be NULL");
    *out = NULL;
    tw_compile_times unwanted;
    const tw_backend *backend;
    tw_compile_job job = {text, length, target, 0, &unwanted, diag};
    tw_status status = begin_job(compiler, options, &job, &backend);
    return status ? status : compile_through_cache(compiler, backend, &job, options, out);
}

tw_status tw_compile_to_assembly(tw_compiler *compiler, const char *text, size_t length, tw_target target,
                                 const tw_compile_options *options, char **out, tw_diag *diag) {
    if (!compiler || !text || !out)
        return tw_fail(diag, TW_ERR_USAGE, "tw_compile_to_assembly: compiler, text and out must not be NULL");
    *out = NULL;
    tw_compile_times unwanted;
    const tw_backend *backend;
    tw_compile_job job = {text, length, target, 0, &unwanted, diag};
    tw_status status = begin_job(compiler, options, &job, &backend);
    if (status) return status;
    if (!backend->functions->assembly)
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "assembly text comes from LLVM and from tools only (got %s)",
                       backend->identity);
    status = check_text(&job);
    return status ? status : backend->functions->assembly(backend, &job, out);
}
