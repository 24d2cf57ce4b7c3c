/* Builds of what is loaded in this process, read from memory: a file may be another one by now. */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "jit/builds_internal.h"
#include "support/fail.h"
#include "support/strbuf.h"

typedef struct object {
    bool wanted, added, has_id;
    char *path, *soname; /* soname: NULL where it has none */
    tw_strbuf needed;    /* names of libraries, each with its terminator */
    tw_sha256 id;
} object;

typedef struct process {
    uintptr_t function;
    object *objects; /* in the loader's order */
    size_t count, capacity;
    bool out_of_memory;
} process;

static void free_process(process *p) {
    for (size_t i = 0; i < p->count; i++) {
        free(p->objects[i].path);
        free(p->objects[i].soname);
        tw_strbuf_free(&p->objects[i].needed);
    }
    free(p->objects);
}

static object *new_object(process *p) {
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? p->capacity * 2 : 64;
        object *grown = realloc(p->objects, capacity * sizeof *grown);
        if (!grown) return NULL;
        p->objects = grown;
        p->capacity = capacity;
    }
    object *o = &p->objects[p->count++];
    *o = (object){0};
    tw_strbuf_init(&o->needed, NULL);
    tw_sha256_init(&o->id);
    return o;
}

/* glibc puts the table's address in the place of its offset, but where the section is not writable. */
static const char *string_table(const ElfW(Dyn) * entry, ElfW(Addr) base) {
    for (; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB) {
            uintptr_t at = entry->d_un.d_ptr < base ? base + entry->d_un.d_ptr : entry->d_un.d_ptr;
            return (const char *)at;
        }
    return NULL;
}

static void read_dynamic(object *o, const ElfW(Dyn) * entry, ElfW(Addr) base) {
    const char *strings = string_table(entry, base);
    for (; strings && entry->d_tag != DT_NULL; entry++) {
        const char *name = strings + entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED) tw_strbuf_append_n(&o->needed, name, strlen(name) + 1);
        if (entry->d_tag == DT_SONAME && !o->soname) o->soname = strdup(name);
    }
}

static bool is_in_memory(const struct dl_phdr_info *info, const ElfW(Phdr) * part) {
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t before = part->p_vaddr - segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && before <= segment->p_memsz &&
            part->p_memsz <= segment->p_memsz - before)
            return true;
    }
    return false;
}

/* The loader lets no library go while this runs; afterwards nothing points into one. */
static int read_object(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    process *p = argument;
    object *o = new_object(p);
    if (o) o->path = strdup(info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe");
    if (!o || !o->path) {
        p->out_of_memory = true;
        return 1;
    }
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && p->function - at < header->p_memsz) o->wanted = true;
        if (header->p_type == PT_DYNAMIC) read_dynamic(o, (const ElfW(Dyn) *)at, info->dlpi_addr);
        if (header->p_type == PT_NOTE && !o->has_id && is_in_memory(info, header))
            o->has_id = tw_build_id_find((const uint8_t *)at, header->p_memsz, header->p_align, &o->id);
    }
    p->out_of_memory |= o->needed.failed;
    return p->out_of_memory;
}

static bool is_named(const object *o, const char *name) {
    const char *slash = strrchr(o->path, '/');
    return (o->soname && !strcmp(o->soname, name)) || !strcmp(o->path, name) ||
           (slash && !strcmp(slash + 1, name));
}

static tw_status want_needed(process *p, const object *by, tw_diag *diag) {
    const char *end = by->needed.text + by->needed.length;
    for (const char *name = by->needed.text; name < end; name += strlen(name) + 1) {
        size_t i = 0;
        while (i < p->count && !is_named(&p->objects[i], name))
            i++;
        if (i == p->count)
            return tw_fail(diag, TW_ERR_NOT_FOUND, "%s must have a library %s (got none)", by->path, name);
        p->objects[i].wanted = true;
    }
    return TW_OK;
}

static object *next_object(process *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->objects[i].wanted && !p->objects[i].added) return &p->objects[i];
    return NULL;
}

tw_status tw_builds_add_loaded(tw_builds *builds, uintptr_t function, tw_diag *diag) {
    process p = {.function = function};
    dl_iterate_phdr(read_object, &p);
    tw_status status = p.out_of_memory ? tw_fail_no_memory(diag) : TW_OK;
    object *next = next_object(&p);
    if (!status && !next)
        status = tw_fail(diag, TW_ERR_NOT_FOUND, "no loaded library holds the compiler's functions");
    for (; next && !status; next = next_object(&p)) {
        next->added = true;
        status = next->has_id ? tw_builds_add_id(builds, &next->id, diag)
                              : tw_builds_add_file(builds, next->path, diag);
        if (!status) status = want_needed(&p, next, diag);
    }
    free_process(&p);
    return status;
}
