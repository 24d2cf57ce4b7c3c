/* Layouts as clang's documentation of the offload bundler gives them. All numbers are little-endian.
 *
 * Plain: a magic of 24 characters, the number of entries (64 bits); each entry is offset, size and length of
 * its id (64 bits each) and the id. Compressed: "CCOB", version and method (16 bits each), the size of the
 * file (from version 2 on) and that of the plain bundle (32 bits each, 64 from version 3 on), 64 bits of a
 * digest, then the compressed plain bundle. */
#include "jit/offload_bundle.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "support/fail.h"
#include "support/strbuf.h"

#define PLAIN_MAGIC      "__CLANG_OFFLOAD_BUNDLE__"
#define COMPRESSED_MAGIC "CCOB"

/* Nothing legitimate comes near; it bounds what a hostile header can make us allocate. */
#define MAX_BYTES   ((uint64_t)1 << 30)
#define MAX_ENTRIES 1024u
#define MAX_ID      512u

#define MALFORMED(...)   tw_fail_at(diag, TW_ERR_INVALID, "offload bundle", 0, 0, __VA_ARGS__)
#define UNSUPPORTED(...) tw_fail_at(diag, TW_ERR_UNSUPPORTED, "offload bundle", 0, 0, __VA_ARGS__)

struct tw_offload_bundle {
    uint8_t *bytes; /* the plain bundle */
    size_t size;
    tw_offload_member *members;
    size_t count;
    tw_arena arena; /* ids */
};

static uint64_t number(const uint8_t *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static bool begins(const uint8_t *bytes, size_t size, const char *magic) {
    return size >= strlen(magic) && !memcmp(bytes, magic, strlen(magic));
}

bool tw_offload_bundle_detect(const void *bytes, size_t size) {
    return bytes && (begins(bytes, size, PLAIN_MAGIC) || begins(bytes, size, COMPRESSED_MAGIC));
}

/* ---- compression ---- */

/* What llvm::compression::Format numbers. */
enum { METHOD_ZLIB = 0, METHOD_ZSTD = 1 };

typedef struct compressed {
    unsigned version, method;
    uint64_t plain_size;
    const uint8_t *data;
    size_t size;
} compressed;

static tw_status read_header(const uint8_t *bytes, size_t size, compressed *out, tw_diag *diag) {
    static const size_t header_bytes[] = {0, 20, 24, 32};
    if (size < 8) return MALFORMED("a compressed bundle has a header of at least 20 bytes (got %zu)", size);
    out->version = (unsigned)number(bytes + 4, 2);
    out->method = (unsigned)number(bytes + 6, 2);
    if (out->version < 1 || out->version > 3)
        return UNSUPPORTED("the version of a compressed bundle must be 1..3 (got %u)", out->version);
    if (out->method != METHOD_ZLIB && out->method != METHOD_ZSTD)
        return UNSUPPORTED("the compression must be 0 (zlib) or 1 (zstd) (got %u)", out->method);
    size_t header = header_bytes[out->version];
    if (size < header)
        return MALFORMED("a compressed bundle of version %u has a header of %zu bytes (got %zu)",
                         out->version, header, size);
    unsigned width = out->version == 3 ? 8 : 4;
    uint64_t total = out->version == 1 ? size : number(bytes + 8, width);
    if (total < header || total > size)
        return MALFORMED("a compressed bundle must lie in the %zu bytes of its file (got %llu)", size,
                         (unsigned long long)total);
    out->plain_size = number(bytes + 8 + (out->version == 1 ? 0 : width), width);
    if (out->plain_size > MAX_BYTES)
        return MALFORMED("a bundle must have at most %llu bytes (got %llu)", (unsigned long long)MAX_BYTES,
                         (unsigned long long)out->plain_size);
    out->data = bytes + header;
    out->size = (size_t)total - header;
    return TW_OK;
}

static tw_status unpack(const compressed *c, uint8_t *to, tw_diag *diag) {
    const char *why = NULL;
    uint64_t got = 0;
    if (c->method == METHOD_ZLIB) {
        uLongf room = (uLongf)c->plain_size;
        int error = uncompress(to, &room, c->data, (uLong)c->size);
        why = error == Z_MEM_ERROR ? "out of memory" : error ? "damaged data" : NULL;
        got = room;
    } else {
        size_t result = ZSTD_decompress(to, (size_t)c->plain_size, c->data, c->size);
        why = ZSTD_isError(result) ? ZSTD_getErrorName(result) : NULL;
        got = why ? 0 : result;
    }
    if (why)
        return MALFORMED("the compressed data must give %llu bytes (got %s)",
                         (unsigned long long)c->plain_size, why);
    if (got != c->plain_size)
        return MALFORMED("the compressed data must give %llu bytes (got %llu)",
                         (unsigned long long)c->plain_size, (unsigned long long)got);
    return TW_OK;
}

/* bundle->bytes: a copy of a plain bundle, or what a compressed one holds. */
static tw_status take_bytes(tw_offload_bundle *bundle, const uint8_t *bytes, size_t size, tw_diag *diag) {
    compressed c = {.plain_size = size};
    bool plain = !begins(bytes, size, COMPRESSED_MAGIC);
    if (size > MAX_BYTES)
        return MALFORMED("a bundle must have at most %llu bytes (got %zu)", (unsigned long long)MAX_BYTES,
                         size);
    tw_status status = plain ? TW_OK : read_header(bytes, size, &c, diag);
    if (status) return status;
    bundle->size = (size_t)c.plain_size;
    bundle->bytes = malloc(bundle->size ? bundle->size : 1);
    if (!bundle->bytes) return tw_fail_no_memory(diag);
    if (!plain) return unpack(&c, bundle->bytes, diag);
    memcpy(bundle->bytes, bytes, size);
    return TW_OK;
}

/* ---- entries ---- */

/* An id is KIND-ARCH-VENDOR-OS-ENVIRONMENT-TARGET; the environment is empty, the target's features may have
 * dashes of their own. */
static void read_id(tw_offload_member *member) {
    static const char *const kinds[] = {"hip-", "hipv4-", "openmp-"};
    const char *target = member->id;
    bool device = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        device |= !strncmp(member->id, kinds[i], strlen(kinds[i]));
    for (unsigned dashes = 0; target && dashes < 5; dashes++) {
        target = strchr(target, '-');
        if (target) target++;
        if (dashes == 0) device = device && target && !strncmp(target, "amdgcn-", 7);
    }
    member->runs = device && target && !tw_target_parse(target, &member->target, NULL);
}

static tw_status read_entry(tw_offload_bundle *bundle, size_t index, size_t *at, tw_diag *diag) {
    tw_offload_member *member = &bundle->members[index];
    if (bundle->size - *at < 24) return MALFORMED("entry %zu must lie in the bundle (got its end)", index);
    const uint8_t *row = bundle->bytes + *at;
    uint64_t offset = number(row, 8), size = number(row + 8, 8), length = number(row + 16, 8);
    *at += 24;
    if (!length || length > MAX_ID || length > bundle->size - *at)
        return MALFORMED("the id of entry %zu must have 1..%u bytes in the bundle (got %llu)", index, MAX_ID,
                         (unsigned long long)length);
    if (offset > bundle->size || size > bundle->size - offset)
        return MALFORMED("entry %zu must lie in the %zu bytes of the bundle (got %llu at offset %llu)", index,
                         bundle->size, (unsigned long long)size, (unsigned long long)offset);
    member->id = tw_arena_strndup(&bundle->arena, (const char *)row + 24, (size_t)length);
    if (!member->id) return tw_fail_no_memory(diag);
    if (strlen(member->id) != length)
        return MALFORMED("the id of entry %zu must have no zero byte (got one in %llu bytes)", index,
                         (unsigned long long)length);
    member->bytes = bundle->bytes + offset;
    member->size = (size_t)size;
    read_id(member);
    *at += (size_t)length;
    return TW_OK;
}

static tw_status read_entries(tw_offload_bundle *bundle, tw_diag *diag) {
    size_t at = strlen(PLAIN_MAGIC) + 8;
    if (!begins(bundle->bytes, bundle->size, PLAIN_MAGIC))
        return MALFORMED("a bundle begins with %s (got something else)", PLAIN_MAGIC);
    if (bundle->size < at) return MALFORMED("a bundle has at least %zu bytes (got %zu)", at, bundle->size);
    uint64_t count = number(bundle->bytes + at - 8, 8);
    if (count > MAX_ENTRIES)
        return MALFORMED("a bundle has at most %u entries (got %llu)", MAX_ENTRIES,
                         (unsigned long long)count);
    bundle->count = (size_t)count;
    bundle->members = calloc(count ? bundle->count : 1, sizeof *bundle->members);
    if (!bundle->members) return tw_fail_no_memory(diag);
    tw_status status = TW_OK;
    for (size_t i = 0; i < bundle->count && !status; i++)
        status = read_entry(bundle, i, &at, diag);
    return status;
}

tw_status tw_offload_bundle_from_bytes(const void *bytes, size_t size, tw_offload_bundle **out,
                                       tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_offload_bundle_from_bytes: out must not be NULL");
    *out = NULL;
    if (!bytes) return tw_fail(diag, TW_ERR_USAGE, "tw_offload_bundle_from_bytes: bytes must not be NULL");
    tw_offload_bundle *bundle = calloc(1, sizeof *bundle);
    if (!bundle) return tw_fail_no_memory(diag);
    tw_arena_init(&bundle->arena, NULL);
    tw_status status = take_bytes(bundle, bytes, size, diag);
    if (!status) status = read_entries(bundle, diag);
    if (status) {
        tw_offload_bundle_free(bundle);
        return status;
    }
    *out = bundle;
    return TW_OK;
}

void tw_offload_bundle_free(tw_offload_bundle *bundle) {
    if (!bundle) return;
    tw_arena_free(&bundle->arena);
    free(bundle->members);
    free(bundle->bytes);
    free(bundle);
}

size_t tw_offload_bundle_count(const tw_offload_bundle *bundle) { return bundle->count; }

tw_offload_member tw_offload_bundle_at(const tw_offload_bundle *bundle, size_t index) {
    return index < bundle->count ? bundle->members[index] : (tw_offload_member){0};
}

/* ---- choice ---- */

/* How many of the device's features the code names; -1 where it does not run there. */
static int fitness(tw_target code, tw_target device) {
    const uint8_t pairs[][2] = {{code.xnack, device.xnack}, {code.sramecc, device.sramecc}};
    int named = 0;
    if (code.arch != device.arch) return -1;
    for (unsigned i = 0; i < 2; i++) {
        bool open = pairs[i][0] == TW_FEATURE_ANY, equal = pairs[i][0] == pairs[i][1];
        if (!open && !equal && pairs[i][1] != TW_FEATURE_ANY) return -1;
        named += !open && equal;
    }
    return named;
}

tw_status tw_offload_bundle_select(const tw_offload_bundle *bundle, tw_target target, tw_offload_member *out,
                                   tw_diag *diag) {
    int best = -1;
    *out = (tw_offload_member){0};
    for (size_t i = 0; i < bundle->count; i++) {
        const tw_offload_member *member = &bundle->members[i];
        int fit = member->runs ? fitness(member->target, target) : -1;
        if (fit <= best) continue;
        best = fit;
        *out = *member;
    }
    if (best >= 0) return TW_OK;
    char name[TW_TARGET_NAME_MAX];
    tw_target_format(target, name);
    tw_strbuf ids;
    tw_strbuf_init(&ids, NULL);
    for (size_t i = 0; i < bundle->count && i < 16; i++)
        tw_strbuf_printf(&ids, "%s%s", i ? ", " : "", bundle->members[i].id);
    tw_fail_at(diag, TW_ERR_NOT_FOUND, "offload bundle", 0, 0, "a member for %s is needed (got %s)", name,
               bundle->count ? tw_strbuf_text(&ids) : "no entry");
    tw_strbuf_free(&ids);
    return TW_ERR_NOT_FOUND;
}
