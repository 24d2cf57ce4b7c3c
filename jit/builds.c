#include "jit/builds.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/builds_internal.h"
#include "support/fail.h"

#define NOTES_MAX  ((uint64_t)1 << 16) /* a segment of notes that is larger is none of a linker's */
#define CHUNK_SIZE ((size_t)1 << 18)

/* ---- the set ---- */

void tw_builds_free(tw_builds *builds) {
    free(builds->ids);
    *builds = (tw_builds){0};
}

tw_status tw_builds_add_id(tw_builds *builds, tw_sha256 *sha, tw_diag *diag) {
    if (builds->count == builds->capacity) {
        size_t capacity = builds->capacity ? builds->capacity * 2 : 32;
        void *grown = realloc(builds->ids, capacity * sizeof *builds->ids);
        if (!grown) return tw_fail_no_memory(diag);
        builds->ids = grown;
        builds->capacity = capacity;
    }
    tw_sha256_final(sha, builds->ids[builds->count++]);
    return TW_OK;
}

tw_status tw_builds_add_text(tw_builds *builds, const char *text, tw_diag *diag) {
    tw_sha256 sha;
    tw_sha256_init(&sha);
    tw_sha256_update(&sha, "text", 4);
    tw_sha256_update(&sha, text, strlen(text));
    return tw_builds_add_id(builds, &sha, diag);
}

static int compare_ids(const void *a, const void *b) { return memcmp(a, b, TW_SHA256_BYTES); }

void tw_builds_digest(tw_builds *builds, uint8_t digest[TW_SHA256_BYTES]) {
    tw_sha256 sha;
    tw_sha256_init(&sha);
    if (builds->count) qsort(builds->ids, builds->count, sizeof *builds->ids, compare_ids);
    for (size_t i = 0; i < builds->count; i++)
        if (!i || compare_ids(builds->ids[i - 1], builds->ids[i]))
            tw_sha256_update(&sha, builds->ids[i], sizeof builds->ids[i]);
    tw_sha256_final(&sha, digest);
}

/* ---- notes ---- */

bool tw_build_id_find(const uint8_t *notes, size_t size, size_t alignment, tw_sha256 *sha) {
    const size_t align = alignment == 8 ? 8 : 4;
    Elf64_Nhdr note; /* is the same in 32-bit files */
    for (size_t at = 0; size - at >= sizeof note;) {
        memcpy(&note, notes + at, sizeof note);
        size_t name = at + sizeof note;
        size_t text = (name + note.n_namesz + align - 1) & ~(align - 1);
        size_t next = (text + note.n_descsz + align - 1) & ~(align - 1);
        if (text > size || note.n_descsz > size - text) return false;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz && note.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(notes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            tw_sha256_update(sha, "build", 5);
            tw_sha256_update(sha, notes + text, note.n_descsz);
            return true;
        }
        if (next > size) return false;
        at = next;
    }
    return false;
}

/* ---- files ---- */

static bool note_of_elf(Elf *elf, tw_sha256 *sha) {
    size_t count = 0;
    if (elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count)) return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE || header.p_filesz > NOTES_MAX)
            continue;
        Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        if (data && tw_build_id_find(data->d_buf, data->d_size, header.p_align, sha)) return true;
    }
    return false;
}

static bool note_of_file(int fd, tw_sha256 *sha) {
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    bool found = elf && note_of_elf(elf, sha);
    elf_end(elf);
    return found;
}

static bool content_of_file(int fd, tw_sha256 *sha) {
    uint8_t *chunk = malloc(CHUNK_SIZE);
    if (!chunk) {
        errno = ENOMEM;
        return false;
    }
    tw_sha256_update(sha, "content", 7);
    off_t at = 0;
    ssize_t got;
    while ((got = pread(fd, chunk, CHUNK_SIZE, at)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0) continue;
        tw_sha256_update(sha, chunk, (size_t)got);
        at += got;
    }
    free(chunk);
    return got == 0;
}

/* A build ID is the linker's word for what it linked. Who edits the file later often changes its size. */
static bool identify_file(int fd, tw_sha256 *sha) {
    struct stat info;
    if (fstat(fd, &info)) return false;
    if (!S_ISREG(info.st_mode)) {
        errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
        return false;
    }
    uint64_t size = (uint64_t)info.st_size;
    tw_sha256_update(sha, &size, sizeof size);
    return note_of_file(fd, sha) || content_of_file(fd, sha);
}

tw_status tw_builds_add_file(tw_builds *builds, const char *path, tw_diag *diag) {
    tw_sha256 sha;
    tw_sha256_init(&sha);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = fd >= 0 && identify_file(fd, &sha);
    int error = errno;
    if (fd >= 0) close(fd);
    if (!good) return tw_fail_at(diag, TW_ERR_IO, path, 0, 0, "cannot be read: %s", strerror(error));
    return tw_builds_add_id(builds, &sha, diag);
}

bool tw_file_is_dynamic(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return false;
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    size_t count = 0;
    bool dynamic = false;
    if (elf && elf_kind(elf) == ELF_K_ELF && !elf_getphdrnum(elf, &count))
        for (size_t i = 0; i < count && !dynamic; i++) {
            GElf_Phdr header;
            dynamic = gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_INTERP;
        }
    elf_end(elf);
    close(fd);
    return dynamic;
}
