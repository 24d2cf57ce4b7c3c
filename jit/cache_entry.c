/* Keys, names and files of cache entries. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jit/cache_internal.h"
#include "jit/file.h"

static const char magic[8] = "TWCACHE";

/* Uses of an entry within this many seconds leave its time as it is: the order of use matters by the minute.
 */
#define TOUCH_AFTER 60
/* The clocks of machines that share a folder differ by less. */
#define CLOCK_SKEW 60

/* Each part with its length before it, so that no two lists of parts give the same bytes. */
static void add_part(tw_sha256 *sha, const void *bytes, uint64_t size) {
    tw_sha256_update(sha, &size, sizeof size);
    tw_sha256_update(sha, bytes, size);
}

void tw_cache_key_of(const char *text, size_t length, tw_target target, tw_flavor flavor, unsigned opt_level,
                     const char *identity, const uint8_t builds[TW_SHA256_BYTES], tw_cache_key *key) {
    char name[TW_TARGET_NAME_MAX];
    tw_target_format(target, name);
    const uint32_t numbers[] = {TW_CACHE_FORMAT, (uint32_t)flavor, opt_level};
    tw_sha256 sha;
    tw_sha256_init(&sha);
    add_part(&sha, numbers, sizeof numbers);
    add_part(&sha, name, strlen(name));
    add_part(&sha, identity, strlen(identity));
    add_part(&sha, builds, TW_SHA256_BYTES);
    add_part(&sha, text, length);
    tw_sha256_final(&sha, key->digest);
}

void tw_cache_entry_name(const tw_cache_key *key, char name[TW_CACHE_NAME_SIZE]) {
    tw_sha256_hex(key->digest, name);
    strcat(name, TW_CACHE_SUFFIX);
}

bool tw_cache_entry_key(const char *name, tw_cache_key *key) {
    if (strlen(name) != TW_CACHE_NAME_SIZE - 2 || strcmp(name + TW_SHA256_HEX_SIZE - 1, TW_CACHE_SUFFIX) != 0)
        return false;
    for (size_t i = 0; i < TW_SHA256_BYTES; i++) {
        unsigned byte;
        if (strspn(name + 2 * i, "0123456789abcdef") < 2 || sscanf(name + 2 * i, "%2x", &byte) != 1)
            return false;
        key->digest[i] = (uint8_t)byte;
    }
    return true;
}

bool tw_cache_is_temporary(const char *name) {
    static const char *const parts[] = {"0123456789", "0123456789abcdef", "0123456789"};
    const char *prefix = TW_CACHE_TEMPORARY;
    if (strncmp(name, prefix, strlen(prefix)) != 0) return false;
    name += strlen(prefix);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (i && *name++ != '-') return false;
        size_t length = strspn(name, parts[i]);
        if (!length) return false;
        name += length;
    }
    return !*name;
}

int64_t tw_cache_age(const struct stat *info) {
    int64_t age = (int64_t)time(NULL) - (int64_t)info->st_mtim.tv_sec;
    return age < -CLOCK_SKEW ? INT64_MAX : age;
}

static void digest_of(const tw_cache_header *header, const void *content, size_t size,
                      uint8_t digest[TW_SHA256_BYTES]) {
    const size_t after = offsetof(tw_cache_header, digest) + sizeof header->digest;
    tw_sha256 sha;
    tw_sha256_init(&sha);
    tw_sha256_update(&sha, (const uint8_t *)header + after, sizeof *header - after);
    tw_sha256_update(&sha, content, size);
    tw_sha256_final(&sha, digest);
}

void tw_cache_header_make(tw_cache_header *header, const tw_cache_key *key, const void *content,
                          size_t size) {
    *header =
        (tw_cache_header){.format = TW_CACHE_FORMAT, .header_size = sizeof *header, .content_size = size};
    memcpy(header->magic, magic, sizeof magic);
    memcpy(header->key, key->digest, sizeof header->key);
    digest_of(header, content, size, header->digest);
}

const char *tw_cache_entry_fault(const uint8_t *file, size_t size, const tw_cache_key *key) {
    tw_cache_header header;
    if (size < sizeof header) return "it is shorter than its header";
    memcpy(&header, file, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0) return "it does not begin as an entry does";
    if (header.format != TW_CACHE_FORMAT || header.header_size != sizeof header)
        return "its format is another";
    if (header.content_size != size - sizeof header) return "its size is another than it says";
    uint8_t digest[TW_SHA256_BYTES];
    digest_of(&header, file + sizeof header, size - sizeof header, digest);
    if (memcmp(header.digest, digest, sizeof digest) != 0) return "its digest is wrong";
    if (memcmp(header.key, key->digest, sizeof header.key) != 0)
        return "its key is another than its name says";
    return NULL;
}

const char *tw_cache_distrust(const struct stat *info) {
    if (S_ISLNK(info->st_mode)) return "it is a link";
    if (!S_ISREG(info->st_mode)) return "it is no regular file";
    if (info->st_uid != geteuid()) return "it belongs to another user";
    if (info->st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it";
    return NULL;
}

static const char *read_open_entry(int fd, uint8_t **bytes, size_t *size, bool touch) {
    struct stat info;
    if (fstat(fd, &info)) return strerrordesc_np(errno);
    const char *distrust = tw_cache_distrust(&info);
    if (distrust) return distrust;
    if ((uint64_t)info.st_size > (uint64_t)2 << 30) return "it is larger than any entry";
    *size = (size_t)info.st_size;
    *bytes = malloc(*size ? *size : 1);
    if (!*bytes) return "memory is out";
    if (!tw_read_all(fd, *bytes, *size)) {
        free(*bytes);
        *bytes = NULL;
        return errno ? strerrordesc_np(errno) : "it was cut short";
    }
    if (touch && tw_cache_age(&info) > TOUCH_AFTER) futimens(fd, NULL);
    return NULL;
}

const char *tw_cache_entry_read(int folder, const char *name, uint8_t **bytes, size_t *size, bool touch) {
    *bytes = NULL;
    *size = 0;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return errno == ENOENT ? NULL : errno == ELOOP ? "it is a link" : strerrordesc_np(errno);
    const char *fault = read_open_entry(fd, bytes, size, touch);
    close(fd);
    return fault;
}
