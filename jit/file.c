#include "jit/file.h"

#include <errno.h>
#include <fcntl.h>
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

/* Opens a file that did not exist, with the permissions that the user's umask leaves. */
static int create_beside(const char *path, tw_strbuf *name) {
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        tw_strbuf_clear(name);
        tw_strbuf_printf(name, "%s.tmp-%ld-%u", path, (long)getpid(), attempt);
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static bool is_special(const char *path) {
    struct stat info;
    return !stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

static tw_status write_in_place(const char *path, const void *bytes, size_t size, tw_diag *diag) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failed(diag, path, "opened");
    tw_status status = tw_write_all(fd, bytes, size) ? TW_OK : failed(diag, path, "written");
    if (close(fd) && !status) status = failed(diag, path, "written");
    return status;
}

tw_status tw_file_write(const char *path, const void *bytes, size_t size, tw_diag *diag) {
    if (is_special(path)) return write_in_place(path, bytes, size, diag);
    tw_strbuf name;
    tw_strbuf_init(&name, NULL);
    tw_status status = TW_OK;
    int fd = create_beside(path, &name);
    if (fd < 0) {
        status = failed(diag, path, "written");
    } else {
        bool good = tw_write_all(fd, bytes, size);
        if (close(fd)) good = false;
        if (good && rename(name.text, path)) good = false;
        if (!good) {
            status = failed(diag, path, "written");
            unlink(name.text);
        }
    }
    tw_strbuf_free(&name);
    return status;
}
