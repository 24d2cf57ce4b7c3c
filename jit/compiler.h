/* Compilers: LLVM IR text to a code object, by libraries in this process or by programs. */
#ifndef TW_JIT_COMPILER_H
#define TW_JIT_COMPILER_H

#include "jit/code_object.h"
#include "lower/flavor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* AUTO is comgr where one is found, it serves the target, and the LLVM inside is not older than the one in
 * this process: of two it takes the newer LLVM, and of two of one release comgr, which has AMD's own changes.
 * A comgr that $TILEWRIGHT_COMGR names is taken whatever its age, where it serves the target. Else AUTO is
 * LLVM + lld. tw_compiler_choose tells what it came to. */
typedef enum tw_compiler_kind {
    TW_COMPILER_AUTO = 0,
    TW_COMPILER_LLVM,  /* the LLVM and lld that this library was built with */
    TW_COMPILER_COMGR, /* ROCm's comgr, opened at run time */
    TW_COMPILER_TOOLS, /* the programs opt, llc and ld.lld of any release that there is a flavor for, run as
                          processes; only through tw_compiler_open_path */
} tw_compiler_kind;

/* May be shared by threads. Compiles from several threads run at once; those through comgr take turns. */
typedef struct tw_compiler tw_compiler;

/* On success *out belongs to the caller: tw_compiler_close. TW_ERR_NOT_FOUND where the library that was asked
 * for cannot be opened, TW_ERR_USAGE for a kind that is opened by a path. TW_COMPILER_AUTO always has LLVM.
 */
TW_API tw_status tw_compiler_open(tw_compiler_kind kind, tw_compiler **out, tw_diag *diag);
/* One that is at hand under a name: TW_COMPILER_COMGR with the path of its library, TW_COMPILER_TOOLS with
 * the folder of its programs. Several of them may be open in one process. `path` need not live longer than
 * the call; a relative one of a folder is looked up at each compile. TW_ERR_NOT_FOUND where the library
 * cannot be opened, where a program is missing or does not tell its release, and where there is no flavor for
 * it. */
TW_API tw_status tw_compiler_open_path(tw_compiler_kind kind, const char *path, tw_compiler **out,
                                       tw_diag *diag);
TW_API void tw_compiler_close(tw_compiler *compiler); /* NULL is fine; no compile may be under way */

/* Which back end and flavor would compile for `target`: TW_ERR_UNSUPPORTED where none can. `identity` (valid
 * as long as the compiler) names library and exact version, e.g. "llvm 22.1.8", "llvm 19.1.7 tools",
 * "comgr 2.4 (llvm 15.0.6)": part of cache keys, which know the build of it, too. */
typedef struct tw_compiler_choice {
    tw_compiler_kind kind; /* never AUTO */
    tw_flavor flavor;
    const char *identity;
} tw_compiler_choice;
TW_API tw_status tw_compiler_choose(tw_compiler *compiler, tw_target target, tw_compiler_choice *out,
                                    tw_diag *diag);

/* Where the time went, in nanoseconds of the monotonic clock; 0 for phases that did not run. */
typedef struct tw_compile_times {
    uint64_t lower; /* tile IR: verification and lowering */
    uint64_t cache_lookup, cache_store;
    uint64_t parse, passes, codegen, link; /* LLVM; comgr: `codegen` is all of it up to the object */
    uint64_t read;                         /* reading the code object back */
    bool cache_hit;
} tw_compile_times;

typedef struct tw_cache tw_cache; /* jit/cache.h */

/* Limits of a compile that runs in a process of its own. */
typedef struct tw_worker_limits {
    unsigned milliseconds; /* of wall clock time; 0: 60000 */
    uint64_t memory_bytes; /* of address space beyond what this process has; 0: 4 GiB. Not applied by builds
                              with AddressSanitizer. */
} tw_worker_limits;

typedef struct tw_compile_options {
    unsigned opt_level;      /* 0: the default, 3; else 1..3 */
    tw_cache *cache;         /* NULL: no cache */
    tw_compile_times *times; /* filled when not NULL */
    /* NULL: compile in this process, which a program that LLVM cannot select ends. Else fork: a crash gives
     * TW_ERR_COMPILE, a limit that was reached TW_ERR_LIMIT. While other threads compile in this process, a
     * worker may hang until its time limit. */
    const tw_worker_limits *worker;
    const char *name; /* what a worker's diagnostics name; NULL: "kernel" */
} tw_compile_options;

/* LLVM IR text of the flavor that tw_compiler_choose names. `options` may be NULL. On success *out belongs to
 * the caller. A code object with an undefined symbol is refused (TW_ERR_COMPILE) with the symbol's name. */
TW_API tw_status tw_compile_llvm_ir(tw_compiler *compiler, const char *text, size_t length, tw_target target,
                                    const tw_compile_options *options, tw_code_object **out, tw_diag *diag);
/* Assembly text of the same code, for people: TW_COMPILER_LLVM and TW_COMPILER_TOOLS only. The text is
 * malloc'ed: free() it. */
TW_API tw_status tw_compile_to_assembly(tw_compiler *compiler, const char *text, size_t length,
                                        tw_target target, const tw_compile_options *options, char **out,
                                        tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
