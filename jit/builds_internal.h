/* What builds of files and builds in memory have in common. */
#ifndef TW_JIT_BUILDS_INTERNAL_H
#define TW_JIT_BUILDS_INTERNAL_H

#include "jit/builds.h"

/* Ends the digest and adds it. */
tw_status tw_builds_add_id(tw_builds *builds, tw_sha256 *sha, tw_diag *diag);
/* The GNU build ID among a segment's notes goes into the digest; false, and nothing does, where there is
 * none. Notes that lead out of the segment are not followed. */
bool tw_build_id_find(const uint8_t *notes, size_t size, size_t alignment, tw_sha256 *sha);

#endif
