/* Which builds of programs and libraries make code. A version does not tell two builds of one release apart,
 * a build ID does: the linker's digest of what it linked. A file without one is known by its content. */
#ifndef TW_JIT_BUILDS_H
#define TW_JIT_BUILDS_H

#include "support/diag.h"
#include "support/sha256.h"

/* A set: neither the order of what is added counts, nor how often. {0} is the empty one. */
typedef struct tw_builds {
    uint8_t (*ids)[TW_SHA256_BYTES];
    size_t count, capacity;
} tw_builds;

void tw_builds_free(tw_builds *builds);
/* Programs and libraries by their names, which are no part of the set. TW_ERR_IO where one cannot be read. */
tw_status tw_builds_add_file(tw_builds *builds, const char *path, tw_diag *diag);
/* The library or program of this process that holds `function`, as it is in memory, and the libraries that it
 * needs. The file of one without a build ID is read. */
tw_status tw_builds_add_loaded(tw_builds *builds, uintptr_t function, tw_diag *diag);
tw_status tw_builds_add_text(tw_builds *builds, const char *text, tw_diag *diag);
/* The digest of the set, which is sorted. */
void tw_builds_digest(tw_builds *builds, uint8_t digest[TW_SHA256_BYTES]);

/* Whether a file is a program that a dynamic loader loads; false for what cannot be read. */
bool tw_file_is_dynamic(const char *path);

#endif
