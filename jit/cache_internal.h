/* Inside the kernel cache: keys, the form of an entry, and what load and store have in common. */
#ifndef TW_JIT_CACHE_INTERNAL_H
#define TW_JIT_CACHE_INTERNAL_H

#include <pthread.h>
#include <sys/stat.h>

#include "jit/cache.h"
#include "jit/compiler.h"
#include "support/sha256.h"

/* Part of every key and every entry. Moves when the form of an entry changes, and when a back end comes to
 * make other bytes of the same text: other passes, flags or code generation options. */
#define TW_CACHE_FORMAT 1

#define TW_CACHE_SUFFIX    ".co"
#define TW_CACHE_TEMPORARY "tmp-" /* what names of unfinished entries begin with */
#define TW_CACHE_NAME_SIZE (TW_SHA256_HEX_SIZE + sizeof TW_CACHE_SUFFIX)

typedef struct tw_cache_key {
    uint8_t digest[TW_SHA256_BYTES];
} tw_cache_key;

/* What a code object depends on; `builds` is the digest of what makes it. */
void tw_cache_key_of(const char *text, size_t length, tw_target target, tw_flavor flavor, unsigned opt_level,
                     const char *identity, const uint8_t builds[TW_SHA256_BYTES], tw_cache_key *key);

/* TW_OK, or TW_ERR_NOT_FOUND where there is no entry that may be used: then `diag` has a warning if there was
 * one that is damaged or not to be trusted. */
tw_status tw_cache_load(tw_cache *cache, const tw_cache_key *key, tw_code_object **out, tw_diag *diag);
/* A failure is a warning: the code object is good, only the next process will compile it again. */
void tw_cache_store(tw_cache *cache, const tw_cache_key *key, const void *bytes, size_t size, tw_diag *diag);

struct tw_cache {
    int folder; /* every access is relative to it: a folder renamed or replaced later changes nothing */
    char *path;
    uint64_t limit;
    pthread_mutex_t lock; /* of what follows */
    bool counted;
    uint64_t bytes;        /* on disk: as counted, plus what this process stored since */
    unsigned stored_since; /* entries */
};

/* An entry's file: this, then the code object. The digest is of all that follows it. */
typedef struct tw_cache_header {
    char magic[8];
    uint8_t digest[TW_SHA256_BYTES];
    uint32_t format, header_size;
    uint64_t content_size;
    uint8_t key[TW_SHA256_BYTES];
} tw_cache_header;
_Static_assert(sizeof(tw_cache_header) == 88, "an entry's header has no padding");

/* A header for this content, digest included. */
void tw_cache_header_make(tw_cache_header *header, const tw_cache_key *key, const void *content, size_t size);
/* NULL, or what is wrong with a whole file; `key` is the one in its name. */
const char *tw_cache_entry_fault(const uint8_t *file, size_t size, const tw_cache_key *key);

void tw_cache_entry_name(const tw_cache_key *key, char name[TW_CACHE_NAME_SIZE]);
/* False for names that no entry has. */
bool tw_cache_entry_key(const char *name, tw_cache_key *key);
/* NULL, or why a file is not trusted. */
const char *tw_cache_distrust(const struct stat *info);
/* A name that unfinished entries have: files of others may begin like one. */
bool tw_cache_is_temporary(const char *name);
/* Seconds since a file was written or used. A time that is still to come, from a clock that was set back,
 * says nothing: INT64_MAX. */
int64_t tw_cache_age(const struct stat *info);
/* Opens an entry without following links and reads the file. On failure *bytes is NULL and the text says why;
 * for a file that is not there it is NULL too. */
const char *tw_cache_entry_read(int folder, const char *name, uint8_t **bytes, size_t *size, bool touch);

/* Removes entries, the least recently used first, until at most `limit` bytes are left, and the leftovers of
 * killed writers. The lock is held. */
tw_status tw_cache_shrink(tw_cache *cache, uint64_t limit, tw_diag *diag);

#endif
