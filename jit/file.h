/* Whole files, read and written. */
#ifndef TW_JIT_FILE_H
#define TW_JIT_FILE_H

#include "support/diag.h"

/* Reads a regular file of at most `limit` bytes; *bytes is malloc'ed. TW_ERR_NOT_FOUND, TW_ERR_IO, or
 * TW_ERR_INVALID where it is larger or no regular file. */
tw_status tw_file_read(const char *path, uint64_t limit, uint8_t **bytes, size_t *size, tw_diag *diag);
/* Writes to a temporary name in the same folder, then renames: readers see the old file or the new one, and
 * the old one stays where writing fails. The new file has the old one's permissions, or what the umask
 * leaves. A symbolic link stays: the file that it leads to is replaced. What is no regular file (/dev/null, a
 * pipe), the process's own open files (/dev/stdout, /dev/fd/3), and a file in a folder that takes no new
 * names are written to as they are. */
tw_status tw_file_write(const char *path, const void *bytes, size_t size, tw_diag *diag);

/* All `size` bytes, or false with errno set (0 when the file ended early). They go on after EINTR. */
bool tw_read_all(int fd, void *bytes, size_t size);
bool tw_write_all(int fd, const void *bytes, size_t size);

#endif
