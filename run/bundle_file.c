#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/file.h"
#include "run/bundle_internal.h"
#include "support/fail.h"

enum { PATH_LIMIT = 255 };

/* Relative, no empty component, none that is "." or "..". */
static bool stays_inside(const char *path) {
    if (!path[0] || strlen(path) > PATH_LIMIT) return false;
    for (const char *at = path;; at++) {
        size_t length = strcspn(at, "/");
        bool dots = (length == 1 && at[0] == '.') || (length == 2 && at[0] == '.' && at[1] == '.');
        if (!length || dots) return false;
        at += length;
        if (!*at) return true;
    }
}

/* Opens one component after the other: a symbolic link anywhere below the folder is refused by the system. */
static int open_below(const char *directory, const char *path) {
    int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder >= 0) {
        char component[PATH_LIMIT + 1];
        size_t length = strcspn(path, "/");
        memcpy(component, path, length);
        component[length] = 0;
        bool last = !path[length];
        int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY);
        int next = openat(folder, component, flags);
        int error = errno;
        close(folder);
        errno = error;
        if (last) return next;
        folder = next;
        path += length + 1;
    }
    return -1;
}

static tw_status read_open_file(int fd, tw_arena *arena, const char *path, uint64_t limit, size_t *size,
                                uint8_t **bytes, tw_diag *diag) {
    struct stat info;
    if (fstat(fd, &info))
        return tw_fail(diag, TW_ERR_IO, "file %s cannot be read (%s)", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return tw_fail(diag, TW_ERR_INVALID, "a file must be a regular one (got %s)", path);
    uint64_t length = (uint64_t)info.st_size;
    if (*size != SIZE_MAX && length != *size)
        return tw_fail(diag, TW_ERR_INVALID, "file %s must have %zu bytes (got %llu)", path, *size,
                       (unsigned long long)length);
    if (length > limit)
        return tw_fail(diag, TW_ERR_LIMIT, "file %s must have at most %llu bytes (got %llu)", path,
                       (unsigned long long)limit, (unsigned long long)length);
    uint8_t *memory = tw_arena_alloc(arena, length ? (size_t)length : 1, 1);
    if (!memory) return tw_fail_no_memory(diag);
    if (!tw_read_all(fd, memory, (size_t)length))
        return tw_fail(diag, TW_ERR_IO, "file %s cannot be read (%s)", path,
                       errno ? strerror(errno) : "it became shorter");
    *bytes = memory;
    *size = (size_t)length;
    return TW_OK;
}

tw_status tw_bundle_file(tw_arena *arena, const char *directory, const char *path, uint64_t limit,
                         size_t *size, uint8_t **bytes, tw_diag *diag) {
    if (!stays_inside(path))
        return tw_fail(diag, TW_ERR_INVALID,
                       "a file must be a relative path inside the bundle's folder (got %s)", path);
    int fd = open_below(directory, path);
    if (fd < 0)
        return tw_fail_at(diag, errno == ENOENT ? TW_ERR_NOT_FOUND : TW_ERR_IO, directory, 0, 0,
                          "file %s cannot be opened (%s)", path,
                          errno == ELOOP ? "it is a symbolic link" : strerror(errno));
    tw_status status = read_open_file(fd, arena, path, limit, size, bytes, diag);
    close(fd);
    return status;
}
