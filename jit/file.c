#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fail.h"
#include "support/strbuf.h"

bool tw_read_all(int fd, void *bytes, size_t size) {
    uint8_t *at = bytes;
    while (size) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = 0;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool tw_write_all(int fd, const void *bytes, size_t size) {
    const uint8_t *at = bytes;
    while (size) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

static tw_status failed(tw_diag *diag, const char *path, const char *what) {
    tw_status status = errno == ENOENT ? TW_ERR_NOT_FOUND : TW_ERR_IO;
    return tw_fail_at(diag, status, path, 0, 0, "cannot be %s: %s", what, strerror(errno));
}

static tw_status read_open(int fd, const char *path, uint64_t limit, uint8_t **bytes, size_t *size,
                           tw_diag *diag) {
    struct stat info;
    if (fstat(fd, &info)) return failed(diag, path, "read");
    if (!S_ISREG(info.st_mode)) return tw_fail_at(diag, TW_ERR_INVALID, path, 0, 0, "must be a regular file");
    if ((uint64_t)info.st_size > limit)
        return tw_fail_at(diag, TW_ERR_INVALID, path, 0, 0, "must have at most %llu bytes (got %llu)",
                          (unsigned long long)limit, (unsigned long long)info.st_size);
    *size = (size_t)info.st_size;
    *bytes = malloc(*size ? *size : 1);
    if (!*bytes) return tw_fail_no_memory(diag);
    if (tw_read_all(fd, *bytes, *size)) return TW_OK;
    free(*bytes);
    *bytes = NULL;
    if (errno == 0) return tw_fail_at(diag, TW_ERR_IO, path, 0, 0, "was cut short while it was read");
    return failed(diag, path, "read");
}

tw_status tw_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, tw_diag *diag) {
    *bytes = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return failed(diag, path, "opened");
    tw_status status = read_open(fd, path, limit, bytes, size, diag);
    close(fd);
    return status;
}

/* ---- writing ---- */

/* N of "/dev/fd/N" and "/proc/self/fd/N", where /dev/stdout leads; else -1. What is opened by such a name
 * again does not append and begins at the start: it is written to as it is. */
static int own_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) || path[length] < '0' || path[length] > '9') continue;
        char *end;
        long number = strtol(path + length, &end, 10);
        if (!*end && number <= INT_MAX) return (int)number;
    }
    return -1;
}

/* Makes a path that is a symbolic link the one it leads to, which need not exist. */
static bool follow_links(tw_strbuf *path) {
    enum { LINKS_MAX = 40 };
    for (unsigned links = 0; !path->failed; links++) {
        char target[PATH_MAX];
        const char *text = tw_strbuf_text(path), *slash = strrchr(text, '/');
        ssize_t length = own_descriptor(text) < 0 ? readlink(text, target, sizeof target) : -1;
        if (length < 0) return true;
        if ((size_t)length == sizeof target || links == LINKS_MAX) {
            errno = links == LINKS_MAX ? ELOOP : ENAMETOOLONG;
            return false;
        }
        tw_strbuf next;
        tw_strbuf_init(&next, path->allocator);
        if (slash && target[0] != '/') tw_strbuf_append_n(&next, text, (size_t)(slash + 1 - text));
        tw_strbuf_append_n(&next, target, (size_t)length);
        tw_strbuf_free(path);
        *path = next;
    }
    errno = ENOMEM;
    return false;
}

/* Opens a file that did not exist, with the permissions that the user's umask leaves. */
static int create_beside(const char *path, tw_strbuf *name) {
    enum { NAME_KEPT = 200 }; /* of NAME_MAX bytes */
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        tw_strbuf_clear(name);
        tw_strbuf_append_n(name, path, (size_t)(base - path));
        tw_strbuf_append_n(name, base, strnlen(base, NAME_KEPT));
        tw_strbuf_printf(name, ".tmp-%ld-%u", (long)getpid(), attempt);
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static bool write_descriptor(int fd, const void *bytes, size_t size) {
    bool good = tw_write_all(fd, bytes, size);
    int error = errno;
    if (close(fd)) return false;
    errno = error;
    return good;
}

static bool write_in_place(const char *path, int flags, const void *bytes, size_t size) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
    return fd >= 0 && write_descriptor(fd, bytes, size);
}

/* Owner and permissions of the file that is to be replaced; a new owner is not ours to give everywhere. */
static bool take_over(int fd, const struct stat *old) {
    bool owned = !fchown(fd, old->st_uid, old->st_gid);
    return !fchmod(fd, old->st_mode & (owned ? 07777 : 0777));
}

/* `old`: the file that is there, NULL for none. */
static bool replace(const char *path, const struct stat *old, const void *bytes, size_t size) {
    if (old && access(path, W_OK)) return false;
    tw_strbuf name;
    tw_strbuf_init(&name, NULL);
    int fd = create_beside(path, &name);
    bool folder_refuses = fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS);
    bool good = false;
    if (folder_refuses && old) {
        good = write_in_place(path, O_TRUNC, bytes, size);
    } else if (fd >= 0) {
        if (old && !take_over(fd, old)) {
            close(fd);
        } else {
            good = write_descriptor(fd, bytes, size) && !rename(name.text, path);
        }
        int error = errno;
        if (!good) unlink(name.text);
        errno = error;
    }
    tw_strbuf_free(&name);
    return good;
}

static bool write_to(tw_strbuf *path, const void *bytes, size_t size) {
    if (!follow_links(path)) return false;
    const char *text = tw_strbuf_text(path);
    int own = own_descriptor(text);
    if (own >= 0) return tw_write_all(own, bytes, size);
    struct stat info;
    bool exists = !stat(text, &info);
    if (!exists || S_ISREG(info.st_mode)) return replace(text, exists ? &info : NULL, bytes, size);
    return write_in_place(text, 0, bytes, size);
}

tw_status tw_file_write(const char *path, const void *bytes, size_t size, tw_diag *diag) {
    tw_strbuf real;
    tw_strbuf_init(&real, NULL);
    tw_strbuf_append(&real, path);
    bool good = write_to(&real, bytes, size);
    tw_status status = good ? TW_OK : failed(diag, path, "written");
    tw_strbuf_free(&real);
    return status;
}
