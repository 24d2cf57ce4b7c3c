#include "jit/code_object_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "jit/file.h"

static void destroy(tw_code_object *object) {
    tw_arena_free(&object->arena);
    free(object->bytes);
    free(object);
}

static int compare_kernels(const void *a, const void *b) {
    return strcmp((*(const tw_kernel_info *const *)a)->name, (*(const tw_kernel_info *const *)b)->name);
}

static tw_status index_kernels(tw_reader *reader) {
    tw_code_object *object = reader->object;
    object->kernels_by_name = TW_ARENA_NEW(&object->arena, const tw_kernel_info *, object->kernel_count);
    if (!object->kernels_by_name) return tw_fail_no_memory(reader->diag);
    for (size_t i = 0; i < object->kernel_count; i++)
        object->kernels_by_name[i] = &object->kernels[i];
    qsort(object->kernels_by_name, object->kernel_count, sizeof *object->kernels_by_name, compare_kernels);
    for (size_t i = 1; i < object->kernel_count; i++) {
        const char *name = object->kernels_by_name[i]->name;
        if (strcmp(object->kernels_by_name[i - 1]->name, name) == 0)
            return TW_MALFORMED(reader, "kernel names must be unique (got %s twice)", name);
    }
    return TW_OK;
}

/* The wave size of an object is that of its kernels; where a target leaves a choice they agree in practice,
 * and each kernel's own is in its tw_kernel_info. */
static void take_wave_size(tw_code_object *object) {
    if (object->kernel_count) object->target.wave_size = (uint8_t)object->kernels[0].wave_size;
}

tw_status tw_code_object_from_named_bytes(const void *bytes, size_t size, const char *where,
                                          tw_code_object **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_code_object_from_bytes: out must not be NULL");
    *out = NULL;
    if (!bytes && size)
        return tw_fail(diag, TW_ERR_USAGE, "tw_code_object_from_bytes: bytes must not be NULL");
    if (size > TW_CODE_OBJECT_MAX_BYTES)
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "a code object must have at most %llu bytes (got %zu)",
                          (unsigned long long)TW_CODE_OBJECT_MAX_BYTES, size);
    tw_code_object *object = calloc(1, sizeof *object);
    if (!object) return tw_fail_no_memory(diag);
    atomic_init(&object->references, 1);
    tw_arena_init(&object->arena, NULL);
    object->size = size;
    object->bytes = malloc(size ? size : 1);
    tw_reader reader = {object, diag, where};
    tw_status status = object->bytes ? TW_OK : tw_fail_no_memory(diag);
    if (!status) {
        if (size) memcpy(object->bytes, bytes, size);
        status = tw_elf_read(&reader);
    }
    if (!status) status = tw_metadata_read(&reader);
    if (!status) status = index_kernels(&reader);
    if (status) {
        destroy(object);
        return status;
    }
    take_wave_size(object);
    *out = object;
    return TW_OK;
}

tw_status tw_code_object_from_bytes(const void *bytes, size_t size, tw_code_object **out, tw_diag *diag) {
    return tw_code_object_from_named_bytes(bytes, size, "code object", out, diag);
}

tw_status tw_code_object_read(const char *path, tw_code_object **out, tw_diag *diag) {
    if (!path || !out)
        return tw_fail(diag, TW_ERR_USAGE, "tw_code_object_read: path and out must not be NULL");
    *out = NULL;
    uint8_t *bytes;
    size_t size;
    tw_status status = tw_file_read(path, TW_CODE_OBJECT_MAX_BYTES, &bytes, &size, diag);
    if (status) return status;
    status = tw_code_object_from_named_bytes(bytes, size, path, out, diag);
    free(bytes);
    return status;
}

tw_status tw_code_object_write(const tw_code_object *object, const char *path, tw_diag *diag) {
    if (!object || !path)
        return tw_fail(diag, TW_ERR_USAGE, "tw_code_object_write: object and path must not be NULL");
    return tw_file_write(path, object->bytes, object->size, diag);
}

tw_code_object *tw_code_object_retain(tw_code_object *object) {
    if (object) atomic_fetch_add_explicit(&object->references, 1, memory_order_relaxed);
    return object;
}

void tw_code_object_release(tw_code_object *object) {
    if (object && atomic_fetch_sub_explicit(&object->references, 1, memory_order_acq_rel) == 1)
        destroy(object);
}

const void *tw_code_object_bytes(const tw_code_object *object, size_t *size) {
    if (size) *size = object->size;
    return object->bytes;
}

tw_target tw_code_object_target(const tw_code_object *object) { return object->target; }
const char *tw_code_object_target_id(const tw_code_object *object) { return object->target_id; }
unsigned tw_code_object_abi_version(const tw_code_object *object) { return object->abi_version; }
size_t tw_code_object_kernel_count(const tw_code_object *object) { return object->kernel_count; }

const tw_kernel_info *tw_code_object_kernel_at(const tw_code_object *object, size_t index) {
    return index < object->kernel_count ? &object->kernels[index] : NULL;
}

const tw_kernel_info *tw_code_object_kernel(const tw_code_object *object, const char *name) {
    if (!name) return NULL;
    const tw_kernel_info key = {.name = name}, *wanted = &key;
    const tw_kernel_info **found = bsearch(&wanted, object->kernels_by_name, object->kernel_count,
                                           sizeof *object->kernels_by_name, compare_kernels);
    return found ? *found : NULL;
}

size_t tw_code_object_undefined_count(const tw_code_object *object) { return object->undefined_count; }

const char *tw_code_object_undefined_at(const tw_code_object *object, size_t index) {
    return index < object->undefined_count ? object->undefined[index] : NULL;
}

size_t tw_code_object_segment_count(const tw_code_object *object) { return object->segment_count; }

tw_segment tw_code_object_segment_at(const tw_code_object *object, size_t index) {
    return index < object->segment_count ? object->segments[index] : (tw_segment){0};
}

size_t tw_code_object_relocation_count(const tw_code_object *object) { return object->relocation_count; }

tw_relocation tw_code_object_relocation_at(const tw_code_object *object, size_t index) {
    return index < object->relocation_count ? object->relocations[index] : (tw_relocation){.symbol = ""};
}

size_t tw_code_object_symbol_count(const tw_code_object *object) { return object->symbol_count; }

tw_symbol tw_code_object_symbol_at(const tw_code_object *object, size_t index) {
    return index < object->symbol_count ? object->symbols[index] : (tw_symbol){.name = ""};
}
