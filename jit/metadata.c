/* The metadata note of a code object: MessagePack, laid out as in LLVM's "User Guide for AMDGPU Backend",
 * section "Code Object V3/V4/V5 Metadata". */
#include <inttypes.h>
#include <msgpack.h>
#include <stdio.h>

#include "jit/code_object_internal.h"

/* Deeper than any real metadata (map, array, map, array, map) and within msgpack-c's fixed stack. */
#define MAX_DEPTH 16

/* The keys alone that a kernel and an argument must have take more bytes. It bounds what a list of other
 * things makes us allocate. */
#define KERNEL_MIN_BYTES 128
#define ARG_MIN_BYTES    16

typedef enum head_kind { HEAD_DATA, HEAD_ARRAY, HEAD_MAP, HEAD_REFUSED } head_kind;

/* What an object's first byte says: its length, or in how many bytes the length follows. Extension types and
 * the one unused code have no place in metadata. */
static head_kind decode_head(uint8_t head, uint64_t *length, unsigned *length_bytes) {
    *length = *length_bytes = 0;
    if (head <= 0x7f || head >= 0xe0) return HEAD_DATA; /* the value itself */
    if (head <= 0x9f) {
        *length = head & 0x0f;
        return head <= 0x8f ? HEAD_MAP : HEAD_ARRAY;
    }
    if (head <= 0xbf) {
        *length = head & 0x1f; /* short string */
        return HEAD_DATA;
    }
    if (head == 0xc1 || (head >= 0xc7 && head <= 0xc9) || (head >= 0xd4 && head <= 0xd8)) return HEAD_REFUSED;
    if (head >= 0xdc) {
        *length_bytes = head & 1 ? 4 : 2;
        return head <= 0xdd ? HEAD_ARRAY : HEAD_MAP;
    }
    if (head >= 0xd9) {
        *length_bytes = 1u << (head - 0xd9); /* string */
    } else if (head >= 0xcc) {
        *length = (uint64_t)1 << (head & 3); /* integer */
    } else if (head >= 0xca) {
        *length = head == 0xca ? 4 : 8; /* float */
    } else if (head >= 0xc4) {
        *length_bytes = 1u << (head - 0xc4); /* binary */
    }
    return HEAD_DATA;
}

/* The unpacker trusts a length field and reserves room for as many objects as it says, so hostile counts are
 * refused here first: every object takes at least one byte. */
static bool counts_fit(const uint8_t *bytes, size_t size) {
    uint64_t open[MAX_DEPTH] = {1}; /* objects still to come at each depth */
    size_t depth = 0, at = 0;
    while (true) {
        while (open[depth] == 0) {
            if (depth == 0) return at == size;
            depth--;
        }
        open[depth]--;
        if (at == size) return false;
        uint64_t length;
        unsigned length_bytes;
        head_kind kind = decode_head(bytes[at++], &length, &length_bytes);
        if (kind == HEAD_REFUSED || length_bytes > size - at) return false;
        for (unsigned i = 0; i < length_bytes; i++)
            length = length << 8 | bytes[at++];
        if (kind == HEAD_MAP) length *= 2;
        if (length > size - at) return false;
        if (kind == HEAD_DATA) {
            at += length;
        } else {
            if (depth + 1 == MAX_DEPTH) return false;
            open[++depth] = length;
        }
    }
}

static const msgpack_object *find(const msgpack_object *map, const char *key) {
    size_t length = strlen(key);
    for (uint32_t i = 0; i < map->via.map.size; i++) {
        const msgpack_object_kv *pair = &map->via.map.ptr[i];
        if (pair->key.type == MSGPACK_OBJECT_STR && pair->key.via.str.size == length &&
            memcmp(pair->key.via.str.ptr, key, length) == 0)
            return &pair->val;
    }
    return NULL;
}

/* A terminated copy of the string at `key`; *out is "" where an optional one is missing. */
static tw_status get_string(tw_reader *r, const msgpack_object *map, const char *what, const char *key,
                            bool required, const char **out) {
    const msgpack_object *value = find(map, key);
    *out = "";
    if (!value && !required) return TW_OK;
    if (!value || value->type != MSGPACK_OBJECT_STR)
        return TW_MALFORMED(r, "metadata of %s: %s must be a string (got %s)", what, key,
                            value ? "another type" : "none");
    if (memchr(value->via.str.ptr, 0, value->via.str.size))
        return TW_MALFORMED(r, "metadata of %s: %s must have no zero byte (got one in %u bytes)", what, key,
                            value->via.str.size);
    const char *copy = tw_arena_strndup(&r->object->arena, value->via.str.ptr, value->via.str.size);
    if (!copy) return tw_fail_no_memory(r->diag);
    *out = copy;
    return TW_OK;
}

/* An integer in low..high; *out keeps its value where an optional one is missing. */
static tw_status get_integer(tw_reader *r, const msgpack_object *map, const char *what, const char *key,
                             bool required, uint32_t low, uint32_t high, uint32_t *out) {
    const msgpack_object *value = find(map, key);
    if (!value && !required) return TW_OK;
    if (!value || value->type != MSGPACK_OBJECT_POSITIVE_INTEGER)
        return TW_MALFORMED(r, "metadata of %s: %s must be an integer in %u..%u (got %s)", what, key, low,
                            high, value ? "another type" : "none");
    if (value->via.u64 < low || value->via.u64 > high)
        return TW_MALFORMED(r, "metadata of %s: %s must be in %u..%u (got %" PRIu64 ")", what, key, low, high,
                            value->via.u64);
    *out = (uint32_t)value->via.u64;
    return TW_OK;
}

/* LLVM writes some flags as booleans and others as integers. */
static tw_status get_flag(tw_reader *r, const msgpack_object *map, const char *what, const char *key,
                          bool *out) {
    const msgpack_object *value = find(map, key);
    if (value && value->type == MSGPACK_OBJECT_BOOLEAN) {
        *out = value->via.boolean;
        return TW_OK;
    }
    uint32_t number = 0;
    tw_status status = get_integer(r, map, what, key, false, 0, 1, &number);
    *out = number != 0;
    return status;
}

static tw_status get_workgroup(tw_reader *r, const msgpack_object *map, const char *what, uint32_t out[3]) {
    const msgpack_object *value = find(map, ".reqd_workgroup_size");
    if (!value) return TW_OK;
    if (value->type != MSGPACK_OBJECT_ARRAY || value->via.array.size != 3)
        return TW_MALFORMED(
            r, "metadata of %s: .reqd_workgroup_size must be an array of 3 integers (got another type)",
            what);
    for (unsigned i = 0; i < 3; i++) {
        const msgpack_object *size = &value->via.array.ptr[i];
        if (size->type != MSGPACK_OBJECT_POSITIVE_INTEGER || size->via.u64 < 1 || size->via.u64 > 1024)
            return TW_MALFORMED(
                r, "metadata of %s: .reqd_workgroup_size must be in 1..1024 (got another value at %u)", what,
                i);
        out[i] = (uint32_t)size->via.u64;
    }
    return TW_OK;
}

static tw_arg_kind kind_of(const char *value_kind) {
    if (strncmp(value_kind, "hidden_", 7) == 0) return TW_ARG_HIDDEN;
    if (strcmp(value_kind, "by_value") == 0) return TW_ARG_BY_VALUE;
    if (strcmp(value_kind, "global_buffer") == 0) return TW_ARG_GLOBAL_BUFFER;
    if (strcmp(value_kind, "dynamic_shared_pointer") == 0) return TW_ARG_DYNAMIC_LDS;
    return TW_ARG_OTHER;
}

static tw_status read_argument(tw_reader *r, const msgpack_object *map, tw_kernel_info *kernel,
                               uint32_t index, tw_arg_info *out) {
    if (map->type != MSGPACK_OBJECT_MAP)
        return TW_MALFORMED(r, "metadata of %s: argument %u must be a map (got another type)", kernel->name,
                            index);
    tw_status status = get_string(r, map, kernel->name, ".name", false, &out->name);
    if (!status) status = get_string(r, map, kernel->name, ".value_kind", true, &out->value_kind);
    if (!status) status = get_integer(r, map, kernel->name, ".offset", true, 0, UINT32_MAX, &out->offset);
    if (!status) status = get_integer(r, map, kernel->name, ".size", true, 0, UINT32_MAX, &out->size);
    if (status) return status;
    out->kind = kind_of(out->value_kind);
    uint64_t end = (uint64_t)out->offset + out->size;
    if (end > kernel->kernarg_size)
        return TW_MALFORMED(
            r, "metadata of %s: argument %u must end in the kernarg segment of %u bytes (got %" PRIu64 ")",
            kernel->name, index, kernel->kernarg_size, end);
    if (out->kind != TW_ARG_HIDDEN && end > kernel->explicit_kernarg_size)
        kernel->explicit_kernarg_size = (uint32_t)end;
    return TW_OK;
}

static tw_status read_arguments(tw_reader *r, const msgpack_object *map, tw_kernel_info *kernel) {
    const msgpack_object *list = find(map, ".args");
    if (!list) return TW_OK;
    if (list->type != MSGPACK_OBJECT_ARRAY)
        return TW_MALFORMED(r, "metadata of %s: .args must be an array (got another type)", kernel->name);
    if (list->via.array.size > r->object->metadata_size / ARG_MIN_BYTES)
        return TW_MALFORMED(
            r, "metadata of %s: .args must have at most %zu elements in a note of %zu bytes (got %u)",
            kernel->name, r->object->metadata_size / ARG_MIN_BYTES, r->object->metadata_size,
            list->via.array.size);
    tw_arg_info *args = TW_ARENA_NEW(&r->object->arena, tw_arg_info, list->via.array.size);
    if (!args) return tw_fail_no_memory(r->diag);
    for (uint32_t i = 0; i < list->via.array.size; i++) {
        tw_status status = read_argument(r, &list->via.array.ptr[i], kernel, i, &args[i]);
        if (status) return status;
    }
    kernel->args = args;
    kernel->arg_count = list->via.array.size;
    return TW_OK;
}

static bool in_code(const tw_code_object *object, uint64_t address) {
    const tw_segment *s = tw_code_object_segment_of(object, address);
    return s && s->executable;
}

/* The 64-byte kernel descriptor: offset 16 holds the distance from it to the first instruction. */
static tw_status read_descriptor(tw_reader *r, tw_kernel_info *kernel) {
    const tw_symbol *symbol = tw_code_object_symbol_named(r->object, kernel->symbol);
    if (!symbol)
        return TW_MALFORMED(r, "the descriptor of kernel %s must be a dynamic symbol (got no %s)",
                            kernel->name, kernel->symbol);
    const uint8_t *bytes = tw_code_object_at(r->object, symbol->address, sizeof kernel->descriptor);
    if (!bytes || symbol->address % sizeof kernel->descriptor)
        return TW_MALFORMED(
            r, "the descriptor of kernel %s must lie in a segment, at a multiple of 64 (got 0x%" PRIx64 ")",
            kernel->name, symbol->address);
    memcpy(kernel->descriptor, bytes, sizeof kernel->descriptor);
    int64_t distance;
    memcpy(&distance, bytes + 16, sizeof distance);
    kernel->descriptor_address = symbol->address;
    kernel->entry_address = symbol->address + (uint64_t)distance;
    if (!in_code(r->object, kernel->entry_address) || kernel->entry_address % 256)
        return TW_MALFORMED(
            r, "kernel %s must begin in an executable segment, at a multiple of 256 (got 0x%" PRIx64 ")",
            kernel->name, kernel->entry_address);
    const tw_symbol *function = tw_code_object_symbol_named(r->object, kernel->name);
    if (!function || function->address != kernel->entry_address) return TW_OK;
    if (!tw_code_object_at(r->object, function->address, function->size))
        return TW_MALFORMED(r, "kernel %s must end in its segment (got %" PRIu64 " bytes)", kernel->name,
                            function->size);
    kernel->code_bytes = function->size;
    return TW_OK;
}

/* Integer properties of a kernel: key, field, required, lowest, highest. */
#define KERNEL_INTEGERS(X)                                                  \
    X(".kernarg_segment_size", kernarg_size, true, 0, TW_KERNARG_MAX_BYTES) \
    X(".kernarg_segment_align", kernarg_align, true, 1, 4096)               \
    X(".group_segment_fixed_size", lds_bytes, true, 0, UINT32_MAX)          \
    X(".private_segment_fixed_size", scratch_bytes, true, 0, UINT32_MAX)    \
    X(".wavefront_size", wave_size, true, 32, 64)                           \
    X(".max_flat_workgroup_size", max_workgroup, true, 1, 1024)             \
    X(".sgpr_count", sgprs, true, 0, UINT16_MAX)                            \
    X(".vgpr_count", vgprs, true, 0, UINT16_MAX)                            \
    X(".agpr_count", agprs, false, 0, UINT16_MAX)                           \
    X(".sgpr_spill_count", sgpr_spills, false, 0, UINT32_MAX)               \
    X(".vgpr_spill_count", vgpr_spills, false, 0, UINT32_MAX)

static tw_status read_kernel(tw_reader *r, const msgpack_object *map, uint32_t index,
                             tw_kernel_info *kernel) {
    char place[32];
    snprintf(place, sizeof place, "kernel %u", index);
    if (map->type != MSGPACK_OBJECT_MAP)
        return TW_MALFORMED(r, "metadata of %s must be a map (got another type)", place);
    tw_status status = get_string(r, map, place, ".name", true, &kernel->name);
    if (!status) status = get_string(r, map, place, ".symbol", true, &kernel->symbol);
#define READ(key, field, required, low, high) \
    if (!status) status = get_integer(r, map, kernel->name, key, required, low, high, &kernel->field);
    KERNEL_INTEGERS(READ)
#undef READ
    if (!status) status = get_flag(r, map, kernel->name, ".uses_dynamic_stack", &kernel->uses_dynamic_stack);
    if (!status)
        status = get_flag(r, map, kernel->name, ".uniform_work_group_size", &kernel->uniform_workgroup);
    if (!status) status = get_workgroup(r, map, kernel->name, kernel->required_workgroup);
    if (status) return status;
    if (kernel->wave_size != 32 && kernel->wave_size != 64)
        return TW_MALFORMED(r, "metadata of %s: .wavefront_size must be 32 or 64 (got %u)", kernel->name,
                            kernel->wave_size);
    if (kernel->kernarg_align & (kernel->kernarg_align - 1))
        return TW_MALFORMED(r, "metadata of %s: .kernarg_segment_align must be a power of two (got %u)",
                            kernel->name, kernel->kernarg_align);
    status = read_arguments(r, map, kernel);
    return status ? status : read_descriptor(r, kernel);
}

static tw_status read_kernels(tw_reader *r, const msgpack_object *root) {
    tw_code_object *object = r->object;
    const msgpack_object *list = find(root, "amdhsa.kernels");
    if (!list) return TW_OK; /* variables only */
    if (list->type != MSGPACK_OBJECT_ARRAY)
        return TW_MALFORMED(r, "metadata: amdhsa.kernels must be an array (got another type)");
    if (list->via.array.size > object->metadata_size / KERNEL_MIN_BYTES)
        return TW_MALFORMED(
            r, "metadata: amdhsa.kernels must have at most %zu elements in a note of %zu bytes (got %u)",
            object->metadata_size / KERNEL_MIN_BYTES, object->metadata_size, list->via.array.size);
    object->kernels = TW_ARENA_NEW(&object->arena, tw_kernel_info, list->via.array.size);
    if (!object->kernels) return tw_fail_no_memory(r->diag);
    for (uint32_t i = 0; i < list->via.array.size; i++) {
        tw_status status = read_kernel(r, &list->via.array.ptr[i], i, &object->kernels[i]);
        if (status) return status;
        object->kernel_count++;
    }
    return TW_OK;
}

/* "amdgcn-amd-amdhsa--gfx90a:xnack-": the note's own spelling, which must name the processor of the header.
 */
static tw_status read_target_id(tw_reader *r, const msgpack_object *root) {
    tw_code_object *object = r->object;
    const char *processor = tw_arch_get(object->target.arch)->name;
    tw_status status = get_string(r, root, "the object", "amdhsa.target", true, &object->target_id);
    if (status) return status;
    size_t end = strcspn(object->target_id, ":");
    const char *dash = memrchr(object->target_id, '-', end);
    size_t length = dash ? end - (size_t)(dash + 1 - object->target_id) : 0;
    if (!dash || length != strlen(processor) || memcmp(dash + 1, processor, length) != 0)
        return TW_MALFORMED(r,
                            "metadata: amdhsa.target must name the processor of the ELF header, %s (got %s)",
                            processor, object->target_id);
    return TW_OK;
}

tw_status tw_metadata_read(tw_reader *r) {
    const tw_code_object *object = r->object;
    if (!counts_fit(object->metadata, object->metadata_size))
        return TW_MALFORMED(r, "the metadata note must be one MessagePack object of %zu bytes (got another)",
                            object->metadata_size);
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t at = 0;
    msgpack_unpack_return got =
        msgpack_unpack_next(&unpacked, (const char *)object->metadata, object->metadata_size, &at);
    tw_status status = TW_OK;
    if (got == MSGPACK_UNPACK_NOMEM_ERROR) {
        status = tw_fail_no_memory(r->diag);
    } else if (got != MSGPACK_UNPACK_SUCCESS || unpacked.data.type != MSGPACK_OBJECT_MAP) {
        status = TW_MALFORMED(r, "the metadata note must be a MessagePack map (got another type)");
    } else {
        status = read_target_id(r, &unpacked.data);
        if (!status) status = read_kernels(r, &unpacked.data);
    }
    msgpack_unpacked_destroy(&unpacked);
    return status;
}
