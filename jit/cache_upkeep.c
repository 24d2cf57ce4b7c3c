/* Looking through the cache's folder: statistics, verification, and keeping to the limit. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "jit/cache_internal.h"
#include "support/fail.h"

/* A temporary file younger than this may be one whose writer has not locked it yet. */
#define TEMPORARY_SECONDS 60
/* Shrinking goes a little below the limit, so that the next store does not shrink again. */
#define SLACK_SHIFT 4

typedef struct item {
    char name[TW_CACHE_NAME_SIZE];
    uint64_t bytes;
    struct timespec used;
} item;

typedef struct listing {
    item *items; /* trusted entries */
    size_t count, capacity;
    tw_cache_stats stats;
} listing;

static bool add_item(listing *list, const char *name, const struct stat *info) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 256;
        item *items = realloc(list->items, capacity * sizeof *items);
        if (!items) return false;
        list->items = items;
        list->capacity = capacity;
    }
    item *it = &list->items[list->count++];
    *it = (item){.bytes = (uint64_t)info->st_size};
    if (tw_cache_age(info) < INT64_MAX) it->used = info->st_mtim; /* else it goes first */
    strcpy(it->name, name); /* tw_cache_entry_key looked at its length */
    list->stats.entries++;
    list->stats.bytes += it->bytes;
    return true;
}

/* A writer holds a lock on its file until it is renamed, and a killed one does no longer. */
static bool is_leftover(int folder, const char *name, const struct stat *info) {
    if (tw_cache_age(info) < TEMPORARY_SECONDS || tw_cache_distrust(info)) return false;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    bool free_to_take = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return free_to_take;
}

static bool look_at(listing *list, int folder, const char *name, bool clean) {
    struct stat info;
    tw_cache_key key;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW)) return true; /* gone meanwhile */
    if (tw_cache_is_temporary(name)) {
        if (clean && is_leftover(folder, name, &info) && unlinkat(folder, name, 0) == 0) return true;
        list->stats.temporary++;
    } else if (tw_cache_entry_key(name, &key)) {
        if (!tw_cache_distrust(&info)) return add_item(list, name, &info);
        list->stats.untrusted++;
    }
    return true;
}

static tw_status list_entries(const tw_cache *cache, bool clean, listing *list, tw_diag *diag) {
    *list = (listing){.stats.limit_bytes = cache->limit};
    int fd = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder) {
        if (fd >= 0) close(fd);
        return tw_fail_at(diag, TW_ERR_IO, cache->path, 0, 0, "cannot be read: %s", strerror(errno));
    }
    bool good = true;
    for (struct dirent *entry; good && (entry = readdir(folder));)
        good = look_at(list, fd, entry->d_name, clean);
    closedir(folder);
    if (good) return TW_OK;
    free(list->items);
    list->items = NULL;
    return tw_fail_no_memory(diag);
}

static void uncount(listing *list, const item *it) {
    list->stats.entries--;
    list->stats.bytes -= it->bytes;
}

static bool remove_item(const tw_cache *cache, listing *list, const item *it) {
    if (unlinkat(cache->folder, it->name, 0) && errno != ENOENT) return false;
    uncount(list, it);
    return true;
}

static int by_use(const void *a, const void *b) {
    const item *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

static tw_status shrink(tw_cache *cache, uint64_t limit, uint64_t goal, tw_cache_stats *stats,
                        tw_diag *diag) {
    listing list;
    tw_status status = list_entries(cache, true, &list, diag);
    if (status) return status;
    if (list.stats.bytes > limit) {
        qsort(list.items, list.count, sizeof *list.items, by_use);
        /* The last, which was stored just now, need not leave any slack. */
        for (size_t i = 0; i < list.count && list.stats.bytes > (i + 1 < list.count ? goal : limit); i++)
            remove_item(cache, &list, &list.items[i]);
    }
    *stats = list.stats;
    free(list.items);
    cache->counted = true;
    cache->bytes = stats->bytes;
    cache->stored_since = 0;
    return TW_OK;
}

tw_status tw_cache_shrink(tw_cache *cache, uint64_t limit, tw_diag *diag) {
    tw_cache_stats stats;
    return shrink(cache, limit, limit - (limit >> SLACK_SHIFT), &stats, diag);
}

tw_status tw_cache_prune(tw_cache *cache, uint64_t limit_bytes, tw_cache_stats *out, tw_diag *diag) {
    if (!cache) return tw_fail(diag, TW_ERR_USAGE, "tw_cache_prune: cache must not be NULL");
    tw_cache_stats stats = {0};
    pthread_mutex_lock(&cache->lock);
    tw_status status = shrink(cache, limit_bytes, limit_bytes, &stats, diag);
    pthread_mutex_unlock(&cache->lock);
    if (out) *out = stats;
    return status;
}

/* NULL, or what is wrong. `read`: it is about what the file holds, not about reading it. */
static const char *check_item(const tw_cache *cache, const item *it, bool *read) {
    tw_cache_key key;
    uint8_t *bytes;
    size_t size;
    tw_cache_entry_key(it->name, &key);
    const char *fault = tw_cache_entry_read(cache->folder, it->name, &bytes, &size, false);
    *read = bytes != NULL;
    if (bytes) fault = tw_cache_entry_fault(bytes, size, &key);
    if (!fault && bytes) {
        /* Other versions of this library may know other processors, and memory may be out. */
        tw_code_object *object;
        if (tw_code_object_from_bytes(bytes + sizeof(tw_cache_header), size - sizeof(tw_cache_header),
                                      &object, NULL) == TW_ERR_INVALID)
            fault = "it holds no code object";
        tw_code_object_release(object);
    }
    free(bytes);
    return fault;
}

/* An entry that cannot be read for now may be good. */
static void verify_item(const tw_cache *cache, listing *list, const item *it, bool repair, tw_diag *diag) {
    bool read;
    const char *fault = check_item(cache, it, &read);
    if (!fault) return;
    bool removed = repair && read && remove_item(cache, list, it);
    if (!removed) uncount(list, it);
    tw_warn(diag, cache->path, "cache entry %s %s%s: %s", it->name, read ? "is damaged" : "cannot be checked",
            !read || !repair ? ""
            : removed        ? " and removed"
                             : " and cannot be removed",
            fault);
    ++*(read ? &list->stats.damaged : &list->stats.untrusted);
}

tw_status tw_cache_verify(tw_cache *cache, bool repair, tw_cache_stats *out, tw_diag *diag) {
    if (!cache) return tw_fail(diag, TW_ERR_USAGE, "tw_cache_verify: cache must not be NULL");
    if (out) *out = (tw_cache_stats){0};
    listing list;
    tw_status status = list_entries(cache, false, &list, diag);
    if (status) return status;
    for (size_t i = 0; i < list.count; i++)
        verify_item(cache, &list, &list.items[i], repair, diag);
    if (out) *out = list.stats;
    free(list.items);
    return TW_OK;
}

/* Without reading entries: one shorter than its header, or of a size that its header does not say, is
 * damaged. */
static bool size_is_wrong(const tw_cache *cache, const item *it) {
    tw_cache_header header;
    int fd = openat(cache->folder, it->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = pread(fd, &header, sizeof header, 0);
    close(fd);
    return got != (ssize_t)sizeof header || header.content_size != it->bytes - sizeof header;
}

tw_status tw_cache_stat(tw_cache *cache, tw_cache_stats *out, tw_diag *diag) {
    if (!cache || !out) return tw_fail(diag, TW_ERR_USAGE, "tw_cache_stat: cache and out must not be NULL");
    *out = (tw_cache_stats){0};
    listing list;
    tw_status status = list_entries(cache, false, &list, diag);
    if (status) return status;
    for (size_t i = 0; i < list.count; i++) {
        if (!size_is_wrong(cache, &list.items[i])) continue;
        list.stats.damaged++;
        uncount(&list, &list.items[i]);
    }
    *out = list.stats;
    free(list.items);
    return TW_OK;
}
