#include "jit/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "jit/backend.h"
#include "jit/cache_internal.h"
#include "jit/file.h"
#include "support/fail.h"
#include "support/strbuf.h"

#define DEFAULT_LIMIT ((uint64_t)1 << 30)
/* The folder is counted again after so many stores, to see what other processes did. */
#define COUNT_EVERY 64

/* ---- opening ---- */

static tw_status folder_name(const tw_cache_options *options, tw_strbuf *out, tw_diag *diag) {
    const char *own =
        options && options->directory ? options->directory : secure_getenv("TILEWRIGHT_CACHE_DIR");
    const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    if (own && own[0]) {
        tw_strbuf_append(out, own);
    } else if (xdg && xdg[0] == '/') { /* a relative one is to be ignored, says the XDG specification */
        tw_strbuf_printf(out, "%s/tilewright", xdg);
    } else if (home && home[0]) {
        tw_strbuf_printf(out, "%s/.cache/tilewright", home);
    } else {
        return tw_fail(
            diag, TW_ERR_NOT_FOUND,
            "the cache needs a folder: set TILEWRIGHT_CACHE_DIR, XDG_CACHE_HOME or HOME (got none)");
    }
    return out->failed ? tw_fail_no_memory(diag) : TW_OK;
}

static tw_status read_limit(const tw_cache_options *options, uint64_t *limit, tw_diag *diag) {
    *limit = options && options->limit_bytes ? options->limit_bytes : DEFAULT_LIMIT;
    const char *text = secure_getenv("TILEWRIGHT_CACHE_LIMIT");
    if ((options && options->limit_bytes) || !text || !text[0]) return TW_OK;
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    if (errno || *end || text[0] < '0' || text[0] > '9' || !value || value > UINT64_MAX >> shift)
        return tw_fail(
            diag, TW_ERR_INVALID,
            "TILEWRIGHT_CACHE_LIMIT must be a number of bytes, with K, M or G where you like (got %.32s)",
            text);
    *limit = (uint64_t)value << shift;
    return TW_OK;
}

/* A slash behind the name of a link would open the folder that it leads to. */
static void cut_slashes(char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
}

/* Makes the folder and those above it that are missing, for this user only. */
static tw_status make_folders(char *path, tw_diag *diag) {
    for (char *slash = path + 1;; slash++) {
        slash += strcspn(slash, "/");
        char kept = *slash;
        *slash = '\0';
        int failed = mkdir(path, 0700) && errno != EEXIST ? errno : 0;
        if (failed == EROFS || failed == EACCES) { /* it may be there all the same */
            struct stat info;
            if (!stat(path, &info)) failed = 0;
        }
        if (failed) return tw_fail_at(diag, TW_ERR_IO, path, 0, 0, "cannot be made: %s", strerror(failed));
        *slash = kept;
        if (!kept) return TW_OK;
    }
}

static tw_status open_folder(tw_cache *cache, tw_diag *diag) {
    cache->folder = open(cache->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (cache->folder < 0 && (errno == ELOOP || errno == ENOTDIR))
        return tw_fail_at(diag, TW_ERR_INVALID, cache->path, 0, 0,
                          "the cache must be a folder (got a link or a file)");
    if (cache->folder < 0)
        return tw_fail_at(diag, TW_ERR_IO, cache->path, 0, 0, "cannot be opened: %s", strerror(errno));
    struct stat info;
    if (fstat(cache->folder, &info))
        return tw_fail_at(diag, TW_ERR_IO, cache->path, 0, 0, "cannot be read: %s", strerror(errno));
    if (info.st_uid != geteuid())
        return tw_fail_at(diag, TW_ERR_INVALID, cache->path, 0, 0,
                          "the cache must belong to user %u (got %u)", (unsigned)geteuid(),
                          (unsigned)info.st_uid);
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return tw_fail_at(diag, TW_ERR_INVALID, cache->path, 0, 0,
                          "the cache must not be writable by group or others (got mode %04o)",
                          (unsigned)(info.st_mode & 07777));
    return TW_OK;
}

tw_status tw_cache_open(const tw_cache_options *options, tw_cache **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_cache_open: out must not be NULL");
    *out = NULL;
    tw_cache *cache = calloc(1, sizeof *cache);
    if (!cache) return tw_fail_no_memory(diag);
    cache->folder = -1;
    pthread_mutex_init(&cache->lock, NULL);
    tw_strbuf path;
    tw_strbuf_init(&path, NULL);
    tw_status status = folder_name(options, &path, diag);
    if (!status) status = read_limit(options, &cache->limit, diag);
    cache->path = tw_strbuf_take(&path, NULL);
    if (!status && !cache->path) status = tw_fail_no_memory(diag);
    if (!status) cut_slashes(cache->path);
    if (!status) status = make_folders(cache->path, diag);
    if (!status) status = open_folder(cache, diag);
    if (status) {
        tw_cache_close(cache);
        return status;
    }
    *out = cache;
    return TW_OK;
}

void tw_cache_close(tw_cache *cache) {
    if (!cache) return;
    if (cache->folder >= 0) close(cache->folder);
    pthread_mutex_destroy(&cache->lock);
    free(cache->path);
    free(cache);
}

const char *tw_cache_directory(const tw_cache *cache) { return cache->path; }

/* ---- load and store ---- */

tw_status tw_cache_load(tw_cache *cache, const tw_cache_key *key, tw_code_object **out, tw_diag *diag) {
    char name[TW_CACHE_NAME_SIZE];
    uint8_t *bytes;
    size_t size;
    *out = NULL;
    tw_cache_entry_name(key, name);
    const char *fault = tw_cache_entry_read(cache->folder, name, &bytes, &size, true);
    if (!bytes) {
        if (fault) tw_warn(diag, cache->path, "cache entry %s is not used: %s", name, fault);
        return TW_ERR_NOT_FOUND;
    }
    fault = tw_cache_entry_fault(bytes, size, key);
    if (!fault &&
        tw_code_object_from_bytes(bytes + sizeof(tw_cache_header), size - sizeof(tw_cache_header), out, NULL))
        fault = "it holds no code object";
    free(bytes);
    if (!fault) return TW_OK;
    tw_warn(diag, cache->path, "cache entry %s is damaged and made anew: %s", name, fault);
    return TW_ERR_NOT_FOUND;
}

/* Names are unlike those of other processes and threads; a leftover with the same name is somebody's who
 * died. */
static int open_temporary(const tw_cache *cache, char name[64]) {
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        snprintf(name, 64, TW_CACHE_TEMPORARY "%ld-%llx-%u", (long)getpid(), (unsigned long long)tw_now(),
                 attempt);
        int fd = openat(cache->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd >= 0) flock(fd, LOCK_EX | LOCK_NB); /* says to those who clean up that its writer lives */
        return fd;
    }
    return -1;
}

/* Data before name, name before success: after a crash of the machine an entry is whole or not there. */
static bool write_entry(const tw_cache *cache, int fd, const char *temporary, const char *name,
                        const tw_cache_header *header, const void *bytes, size_t size) {
    return tw_write_all(fd, header, sizeof *header) && tw_write_all(fd, bytes, size) && fsync(fd) == 0 &&
           renameat(cache->folder, temporary, cache->folder, name) == 0 && fsync(cache->folder) == 0;
}

/* Keeps the limit: by what this process knows, and now and then by what is there. */
static void account(tw_cache *cache, uint64_t bytes, tw_diag *diag) {
    pthread_mutex_lock(&cache->lock);
    cache->bytes += bytes;
    if (!cache->counted || ++cache->stored_since >= COUNT_EVERY || cache->bytes > cache->limit)
        tw_cache_shrink(cache, cache->limit, diag);
    pthread_mutex_unlock(&cache->lock);
}

void tw_cache_store(tw_cache *cache, const tw_cache_key *key, const void *bytes, size_t size, tw_diag *diag) {
    char name[TW_CACHE_NAME_SIZE], temporary[64];
    tw_cache_header header;
    uint64_t total = (uint64_t)size + sizeof header;
    if (total > cache->limit) {
        tw_warn(diag, cache->path, "an entry must have at most %llu bytes, the limit of the cache (got %llu)",
                (unsigned long long)cache->limit, (unsigned long long)total);
        return;
    }
    tw_cache_entry_name(key, name);
    tw_cache_header_make(&header, key, bytes, size);
    int fd = open_temporary(cache, temporary);
    bool good = fd >= 0 && write_entry(cache, fd, temporary, name, &header, bytes, size);
    int error = errno;
    if (!good && fd >= 0) unlinkat(cache->folder, temporary, 0);
    if (fd >= 0) close(fd);
    if (!good) {
        tw_warn(diag, cache->path, "cache entry %s cannot be written: %s", name, strerror(error));
        return;
    }
    account(cache, total, diag);
}
