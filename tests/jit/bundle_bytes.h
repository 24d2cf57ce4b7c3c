/* Offload bundles made by hand. Layouts from clang's documentation of the offload bundler, written down here
 * once more so that reader and tests do not share a mistake. */
#ifndef TW_TESTS_JIT_BUNDLE_BYTES_H
#define TW_TESTS_JIT_BUNDLE_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

typedef struct bundle_entry {
    const char *id, *content;
} bundle_entry;

static inline void put_number(uint8_t *to, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* A plain bundle, malloc'ed: header, entries, then the contents one behind the other. */
static inline uint8_t *plain_bundle(const bundle_entry *entries, size_t count, size_t *size) {
    size_t header = 32, total = 0;
    for (size_t i = 0; i < count; i++) {
        header += 24 + strlen(entries[i].id);
        total += strlen(entries[i].content);
    }
    uint8_t *bytes = calloc(header + total, 1);
    if (!bytes) abort();
    size_t at = 32, place = header;
    memcpy(bytes, "__CLANG_OFFLOAD_BUNDLE__", 24);
    put_number(bytes + 24, count, 8);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(entries[i].content), id = strlen(entries[i].id);
        put_number(bytes + at, place, 8);
        put_number(bytes + at + 8, length, 8);
        put_number(bytes + at + 16, id, 8);
        memcpy(bytes + at + 24, entries[i].id, id);
        memcpy(bytes + place, entries[i].content, length);
        at += 24 + id;
        place += length;
    }
    *size = header + total;
    return bytes;
}

/* The same bytes compressed: version 1..3, method 0 (zlib) or 1 (zstd). */
static inline uint8_t *compressed_bundle(const uint8_t *plain, size_t plain_size, unsigned version,
                                         unsigned method, size_t *size) {
    unsigned width = version == 3 ? 8 : 4, header = version == 1 ? 20 : version == 2 ? 24 : 32, at = 8;
    uLongf bound = compressBound((uLong)plain_size) + ZSTD_compressBound(plain_size);
    uint8_t *bytes = calloc(header + bound, 1);
    if (!bytes) abort();
    size_t packed = 0;
    if (method == 0) {
        compress(bytes + header, &bound, plain, (uLong)plain_size);
        packed = bound;
    } else {
        packed = ZSTD_compress(bytes + header, bound, plain, plain_size, 3);
    }
    memcpy(bytes, "CCOB", 4);
    put_number(bytes + 4, version, 2);
    put_number(bytes + 6, method, 2);
    if (version > 1) {
        put_number(bytes + at, header + packed, width);
        at += width;
    }
    put_number(bytes + at, plain_size, width);
    put_number(bytes + at + width, 0x0123456789abcdef, 8);
    *size = header + packed;
    return bytes;
}

#endif
