/* lld as a function: one relocatable object in memory in, one shared object in memory out.
 *
 * lld's ELF driver reads and writes named files. Both names here are /proc/self/fd/N: the input is a memfd,
 * the output a pipe, for which lld makes its image in memory and writes it out at the end, where for a
 * regular file it would make a temporary file beside it. Nothing touches a disk, no process is started, but
 * /proc must be mounted. */
#ifndef TW_JIT_LLD_SHIM_H
#define TW_JIT_LLD_SHIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_lld_result {
    TW_LLD_OK = 0,
    TW_LLD_NO_MEMORY,
    TW_LLD_SYSTEM,  /* *log says which system call failed */
    TW_LLD_REFUSED, /* *log holds lld's messages */
    TW_LLD_UNUSABLE /* an earlier link left lld in a state in which it must not run again */
} tw_lld_result;

/* Links `object` with -shared. On success *out is malloc'ed. *log, when not NULL, is malloc'ed text. One link
 * at a time runs in a process: lld keeps its state in global variables, and other callers wait. */
tw_lld_result tw_lld_link(const void *object, size_t size, uint8_t **out, size_t *out_size, char **log);

/* Which build of lld this is: the digest of the archives that it comes from. */
extern const char tw_lld_build[];

/* The lock of lld and of the registration of LLVM's targets. A process that forks takes it around the fork,
 * so that the child does not inherit it locked by a thread that is not there. */
void tw_lld_lock(void);
void tw_lld_unlock(void);

#ifdef __cplusplus
}
#endif
#endif
