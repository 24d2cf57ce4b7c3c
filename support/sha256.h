/* SHA-256 (FIPS 180-4), for cache keys, goldens and the identity of code objects. */
#ifndef TW_SUPPORT_SHA256_H
#define TW_SUPPORT_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define TW_SHA256_BYTES    32
#define TW_SHA256_HEX_SIZE 65 /* 64 digits and the terminator */

/* Whether the processor has instructions for it: asked at the first large update. */
typedef enum tw_sha256_support {
    TW_SHA256_NOT_ASKED = 0,
    TW_SHA256_ABSENT,
    TW_SHA256_PRESENT
} tw_sha256_support;

/* A running digest. Copying the struct forks it. */
typedef struct tw_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t block[64];
    tw_sha256_support instructions;
} tw_sha256;

void tw_sha256_init(tw_sha256 *sha);
void tw_sha256_update(tw_sha256 *sha, const void *data, size_t bytes);
/* Ends the digest: the struct must be initialised again before it takes more. */
void tw_sha256_final(tw_sha256 *sha, uint8_t digest[TW_SHA256_BYTES]);

void tw_sha256_of(const void *data, size_t bytes, uint8_t digest[TW_SHA256_BYTES]);
/* Lower case, terminated. */
void tw_sha256_hex(const uint8_t digest[TW_SHA256_BYTES], char hex[TW_SHA256_HEX_SIZE]);

#endif
