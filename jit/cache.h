/* The kernel cache: a folder of content-addressed code objects that many processes may share. */
#ifndef TW_JIT_CACHE_H
#define TW_JIT_CACHE_H

#include "jit/code_object.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_cache tw_cache;

typedef struct tw_cache_options {
    const char *directory; /* NULL: $TILEWRIGHT_CACHE_DIR, else $XDG_CACHE_HOME/tilewright, else
                              ~/.cache/tilewright */
    uint64_t limit_bytes;  /* 0: $TILEWRIGHT_CACHE_LIMIT (bytes, or with K, M, G), else 1 GiB */
} tw_cache_options;

/* Opens, and makes the folder (mode 0700) where it is missing. A folder owned by another user or writable by
 * others is refused. May be shared by threads. `options` may be NULL. */
TW_API tw_status tw_cache_open(const tw_cache_options *options, tw_cache **out, tw_diag *diag);
TW_API void tw_cache_close(tw_cache *cache);
TW_API const char *tw_cache_directory(const tw_cache *cache);

typedef struct tw_cache_stats {
    uint64_t entries, bytes;                /* trusted entries on disk */
    uint64_t damaged, untrusted, temporary; /* found and not used */
    uint64_t limit_bytes;
} tw_cache_stats;
TW_API tw_status tw_cache_stat(tw_cache *cache, tw_cache_stats *out, tw_diag *diag);
/* Reads every entry and checks its digest; a damaged entry gets a diagnostic, and `repair` removes it. One
 * that cannot be read gets a diagnostic, counts as not trusted, and stays. */
TW_API tw_status tw_cache_verify(tw_cache *cache, bool repair, tw_cache_stats *out, tw_diag *diag);
/* Removes the least recently used entries until `limit_bytes` is kept, and leftovers of killed writers. */
TW_API tw_status tw_cache_prune(tw_cache *cache, uint64_t limit_bytes, tw_cache_stats *out, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
