#include "support/sha256.h"

#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

static uint32_t load_big_endian(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void portable_block(uint32_t state[8], const uint8_t *block) {
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = load_big_endian(block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
        uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + round_constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void portable_blocks(uint32_t state[8], const uint8_t *blocks, size_t count) {
    for (; count; count--, blocks += 64)
        portable_block(state, blocks);
}

#if defined(__x86_64__)
/* Asking the processor costs microseconds in a virtual machine: only data of this many blocks pays for it. */
#define MANY_BLOCKS 64

static bool has_sha_instructions(void) {
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/* The instructions want the state as (A B E F) and (C D G H), the first letter in the highest lane. */
__attribute__((target("sha,sse4.1,ssse3"))) static void sha_blocks(uint32_t state[8], const uint8_t *blocks,
                                                                   size_t count) {
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    for (; count; count--, blocks += 64) {
        __m128i abef_before = abef, cdgh_before = cdgh, w[4];
        for (int i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(blocks + 16 * i)), swap);
        for (int i = 0; i < 16; i++) { /* four rounds each */
            __m128i k = _mm_loadu_si128((const __m128i *)(round_constants + 4 * i));
            __m128i wk = _mm_add_epi32(w[0], k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            __m128i next = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));
            next = _mm_sha256msg2_epu32(next, w[3]);
            w[0] = w[1], w[1] = w[2], w[2] = w[3], w[3] = next;
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

static void many_blocks(tw_sha256 *sha, const uint8_t *blocks, size_t count) {
    if (count >= MANY_BLOCKS && sha->instructions == TW_SHA256_NOT_ASKED)
        sha->instructions = has_sha_instructions() ? TW_SHA256_PRESENT : TW_SHA256_ABSENT;
    if (sha->instructions == TW_SHA256_PRESENT) {
        sha_blocks(sha->state, blocks, count);
    } else {
        portable_blocks(sha->state, blocks, count);
    }
}
#else
static void many_blocks(tw_sha256 *sha, const uint8_t *blocks, size_t count) {
    portable_blocks(sha->state, blocks, count);
}
#endif

void tw_sha256_init(tw_sha256 *sha) {
    *sha = (tw_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                                 0x1f83d9ab, 0x5be0cd19}};
}

void tw_sha256_update(tw_sha256 *sha, const void *data, size_t bytes) {
    const uint8_t *from = data;
    size_t held = sha->length % 64;
    sha->length += bytes;
    if (held) {
        size_t part = 64 - held < bytes ? 64 - held : bytes;
        memcpy(sha->block + held, from, part);
        from += part;
        bytes -= part;
        if (held + part < 64) return;
        many_blocks(sha, sha->block, 1);
    }
    many_blocks(sha, from, bytes / 64);
    if (bytes % 64) memcpy(sha->block, from + bytes / 64 * 64, bytes % 64);
}

void tw_sha256_final(tw_sha256 *sha, uint8_t digest[TW_SHA256_BYTES]) {
    uint64_t bits = sha->length * 8;
    size_t held = sha->length % 64;
    uint8_t tail[72] = {0x80};
    size_t zeros = (held < 56 ? 56 : 120) - held; /* with the 0x80 */
    for (int i = 0; i < 8; i++)
        tail[zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    tw_sha256_update(sha, tail, zeros + 8);
    for (int i = 0; i < TW_SHA256_BYTES; i++)
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void tw_sha256_of(const void *data, size_t bytes, uint8_t digest[TW_SHA256_BYTES]) {
    tw_sha256 sha;
    tw_sha256_init(&sha);
    tw_sha256_update(&sha, data, bytes);
    tw_sha256_final(&sha, digest);
}

void tw_sha256_hex(const uint8_t digest[TW_SHA256_BYTES], char hex[TW_SHA256_HEX_SIZE]) {
    for (int i = 0; i < TW_SHA256_BYTES; i++) {
        hex[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    hex[2 * TW_SHA256_BYTES] = '\0';
}
