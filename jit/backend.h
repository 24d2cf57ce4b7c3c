/* Back ends: what turns LLVM IR text into a code object. One table of functions each. */
#ifndef TW_JIT_BACKEND_H
#define TW_JIT_BACKEND_H

#include "jit/builds.h"
#include "jit/compiler.h"

/* One compile. All pointers are valid during the call only. */
typedef struct tw_compile_job {
    const char *text;
    size_t length;
    tw_target target;
    unsigned opt_level;      /* 1..3 */
    tw_compile_times *times; /* never NULL: the back end fills its phases */
    tw_diag *diag;           /* may be NULL */
} tw_compile_job;

/* An open back end. Immutable once open, so threads may share it. */
typedef struct tw_backend {
    const struct tw_backend_functions *functions;
    tw_flavor flavor;
    const char
        *identity; /* library and exact version, for people and records; lives as long as the back end */
} tw_backend;

typedef struct tw_backend_functions {
    tw_compiler_kind kind;
    /* TW_OK, or TW_ERR_UNSUPPORTED with the reason. */
    tw_status (*serves)(const tw_backend *backend, tw_target target, tw_diag *diag);
    /* A linked shared object, malloc'ed, not yet read back. */
    tw_status (*compile)(const tw_backend *backend, const tw_compile_job *job, uint8_t **bytes, size_t *size);
    /* Assembly text, malloc'ed and terminated. NULL where the back end has none. */
    tw_status (*assembly)(const tw_backend *backend, const tw_compile_job *job, char **text);
    /* Adds all that makes the code: what `identity` does not tell apart. */
    tw_status (*builds)(const tw_backend *backend, tw_builds *builds, tw_diag *diag);
    void (*close)(tw_backend *backend);
} tw_backend_functions;

tw_status tw_llvm_backend_open(tw_backend **out, tw_diag *diag);
/* The library at `path`, or with NULL the one that is found. TW_ERR_NOT_FOUND where none can be opened. */
tw_status tw_comgr_backend_open(const char *path, tw_backend **out, tw_diag *diag);
/* The lock of comgr's actions, which a process takes around a fork: the child must find it free, and no
 * action of another thread half done. */
void tw_comgr_lock(void);
void tw_comgr_unlock(void);
/* opt, llc and ld.lld in a folder. TW_ERR_NOT_FOUND where one is missing or of no release with a flavor. */
tw_status tw_tools_backend_open(const char *folder, tw_backend **out, tw_diag *diag);

/* The target's modes as LLVM's list of features, "+wavefrontsize32,-xnack". */
void tw_target_features(tw_target target, char *text, size_t size);

/* The cache in its usual folder, opened at the first call; NULL where that failed, which the first caller's
 * `diag` is warned of. It lives as long as the compiler. */
tw_cache *tw_compiler_default_cache(tw_compiler *compiler, tw_diag *diag);

/* Nanoseconds of the monotonic clock. */
uint64_t tw_now(void);

#endif
