/* Clang's offload bundles: one file with the code objects of several targets, plain or compressed. */
#ifndef TW_JIT_OFFLOAD_BUNDLE_H
#define TW_JIT_OFFLOAD_BUNDLE_H

#include "arch/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_offload_bundle tw_offload_bundle;

/* One entry. Pointers live as long as the bundle. */
typedef struct tw_offload_member {
    const char *id;    /* "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", "host-x86_64-unknown-linux-gnu-" */
    const void *bytes; /* of a code object, or of whatever else the id says */
    size_t size;       /* the entry of the host is often empty */
    bool runs;         /* device code for one of this library's targets: `target` says which */
    tw_target target;  /* all zero where !runs */
} tw_offload_member;

/* Whether the bytes begin as a bundle does, "__CLANG_OFFLOAD_BUNDLE__" or "CCOB" (compressed). */
TW_API bool tw_offload_bundle_detect(const void *bytes, size_t size);
/* Reads `size` bytes (copied): a plain bundle, or a compressed one of version 1, 2 or 3 with zlib or zstd.
 * Untrusted input: anything malformed gives TW_ERR_INVALID and a diagnostic, a method or version that is not
 * known TW_ERR_UNSUPPORTED. */
TW_API tw_status tw_offload_bundle_from_bytes(const void *bytes, size_t size, tw_offload_bundle **out,
                                              tw_diag *diag);
TW_API void tw_offload_bundle_free(tw_offload_bundle *bundle); /* NULL is fine */
TW_API size_t tw_offload_bundle_count(const tw_offload_bundle *bundle);
/* All zero past the end. */
TW_API tw_offload_member tw_offload_bundle_at(const tw_offload_bundle *bundle, size_t index);
/* The member that HIP would load on a device of `target`: the same processor, and no feature (xnack, sramecc)
 * that is set the other way; of several, the one that sets most of the device's features. TW_ERR_NOT_FOUND
 * with the list of what there is. */
TW_API tw_status tw_offload_bundle_select(const tw_offload_bundle *bundle, tw_target target,
                                          tw_offload_member *out, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
