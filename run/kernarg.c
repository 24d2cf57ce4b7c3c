#include "run/kernarg.h"

#include <string.h>

#include "support/fail.h"
#include "support/strbuf.h"

bool tw_target_runs_on(tw_target code, tw_target device) {
    bool xnack = code.xnack == TW_FEATURE_ANY || device.xnack == TW_FEATURE_ANY || code.xnack == device.xnack;
    bool sramecc =
        code.sramecc == TW_FEATURE_ANY || device.sramecc == TW_FEATURE_ANY || code.sramecc == device.sramecc;
    return code.arch == device.arch && xnack && sramecc;
}

const tw_kernel_info *tw_kernel_find(const tw_code_object *object, const char *name, tw_diag *diag) {
    const tw_kernel_info *kernel = name ? tw_code_object_kernel(object, name) : NULL;
    if (kernel) return kernel;
    tw_strbuf names;
    tw_strbuf_init(&names, NULL);
    for (size_t i = 0; i < tw_code_object_kernel_count(object) && i < 8; i++)
        tw_strbuf_printf(&names, "%s%s", i ? ", " : "", tw_code_object_kernel_at(object, i)->name);
    tw_fail(diag, TW_ERR_NOT_FOUND, "the kernel must be one of the code object's: %s (got %s)",
            tw_strbuf_text(&names), name ? name : "NULL");
    tw_strbuf_free(&names);
    return NULL;
}

/* Dispatch packets hold 32-bit grids in work-items and 16-bit workgroups, one number a dimension. */
static tw_status check_dimension(const tw_kernel_info *kernel, char name, uint32_t grid, uint32_t block,
                                 tw_diag *diag) {
    uint64_t items = (uint64_t)grid * block;
    if (!grid)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0, "grid %c must be at least 1 (got 0)",
                          name);
    if (!block || block > UINT16_MAX)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0, "block %c must be 1..65535 (got %u)",
                          name, block);
    if (items > UINT32_MAX)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "grid %c times block %c must be at most 4294967295 work-items (got %llu)", name,
                          name, (unsigned long long)items);
    return TW_OK;
}

tw_status tw_launch_check(const tw_kernel_info *kernel, tw_target target, const tw_launch_shape *shape,
                          tw_diag *diag) {
    const tw_dim3 grid = shape->grid, block = shape->block;
    tw_status status = check_dimension(kernel, 'x', grid.x, block.x, diag);
    if (!status) status = check_dimension(kernel, 'y', grid.y, block.y, diag);
    if (!status) status = check_dimension(kernel, 'z', grid.z, block.z, diag);
    if (status) return status;

    const uint32_t *required = kernel->required_workgroup;
    if (required[0] && (required[0] != block.x || required[1] != block.y || required[2] != block.z))
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "a workgroup of this kernel is %ux%ux%u work-items (got %ux%ux%u)", required[0],
                          required[1], required[2], block.x, block.y, block.z);
    const tw_arch_info *arch = tw_arch_get(target.arch);
    uint64_t items = (uint64_t)block.x * block.y * block.z;
    uint32_t limit = arch ? arch->max_workgroup : 1024;
    if (kernel->max_workgroup && kernel->max_workgroup < limit) limit = kernel->max_workgroup;
    if (items > limit)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "a workgroup of this kernel has at most %u work-items (got %llu)", limit,
                          (unsigned long long)items);
    uint64_t lds = (uint64_t)kernel->lds_bytes + shape->dynamic_lds;
    if (arch && lds > arch->lds_bytes)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "static and dynamic LDS together must be at most %u bytes on %s (got %llu)",
                          arch->lds_bytes, arch->name, (unsigned long long)lds);
    return TW_OK;
}

size_t tw_kernarg_explicit_count(const tw_kernel_info *kernel) {
    size_t count = 0;
    for (size_t i = 0; i < kernel->arg_count; i++)
        count += kernel->args[i].kind != TW_ARG_HIDDEN;
    return count;
}

const tw_arg_info *tw_kernarg_explicit_at(const tw_kernel_info *kernel, size_t index) {
    for (size_t i = 0; i < kernel->arg_count; i++)
        if (kernel->args[i].kind != TW_ARG_HIDDEN && !index--) return &kernel->args[i];
    return NULL;
}

uint32_t tw_kernarg_explicit_size(const tw_kernel_info *kernel) {
    return kernel->arg_count ? kernel->explicit_kernarg_size : kernel->kernarg_size;
}

/* What a value is and how long: one row a kind. Metadata decides how long it has to be. */
static size_t size_of(const tw_launch_arg *arg, const void **data) {
    switch (arg->kind) {
    case TW_LAUNCH_BUFFER:
    case TW_LAUNCH_NULL: *data = NULL; return 8;
    case TW_LAUNCH_I32: *data = &arg->as.i32; return sizeof arg->as.i32;
    case TW_LAUNCH_I64: *data = &arg->as.i64; return sizeof arg->as.i64;
    case TW_LAUNCH_F32: *data = &arg->as.f32; return sizeof arg->as.f32;
    case TW_LAUNCH_F64: *data = &arg->as.f64; return sizeof arg->as.f64;
    case TW_LAUNCH_BYTES: *data = arg->as.bytes.data; return arg->as.bytes.size;
    }
    *data = NULL;
    return 0;
}

static tw_status pack_one(const tw_kernel_info *kernel, size_t index, const tw_arg_info *info,
                          const tw_launch_arg *arg, uint8_t *bytes, tw_diag *diag) {
    const char *name = info->name[0] ? info->name : info->value_kind;
    bool given_pointer = arg->kind == TW_LAUNCH_BUFFER || arg->kind == TW_LAUNCH_NULL;
    const void *data;
    size_t size = size_of(arg, &data);
    if ((uint64_t)info->offset + info->size > tw_kernarg_explicit_size(kernel))
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "argument %zu (%s) must lie in the %u bytes of explicit arguments (got offset %u)",
                          index, name, tw_kernarg_explicit_size(kernel), info->offset);
    switch (info->kind) {
    case TW_ARG_GLOBAL_BUFFER:
        if (!given_pointer)
            return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                              "argument %zu (%s) takes a buffer (got a value of %zu bytes)", index, name,
                              size);
        break;
    case TW_ARG_BY_VALUE:
    case TW_ARG_DYNAMIC_LDS:
        if (given_pointer)
            return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                              "argument %zu (%s) takes a value of %u bytes (got a buffer)", index, name,
                              info->size);
        break;
    default:
        return tw_fail_at(diag, TW_ERR_UNSUPPORTED, kernel->name, 0, 0,
                          "argument %zu (%s) must be a buffer or a value (got %s)", index, name,
                          info->value_kind);
    }
    if (size != info->size)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "argument %zu (%s) takes %u bytes (got %zu)", index, name, info->size, size);
    if (size && !given_pointer) {
        if (!data)
            return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                              "argument %zu (%s) has no data (got NULL)", index, name);
        memcpy(bytes + info->offset, data, size);
    }
    return TW_OK;
}

tw_status tw_kernarg_pack(const tw_kernel_info *kernel, const tw_launch_arg *args, size_t count,
                          uint8_t *bytes, tw_diag *diag) {
    size_t wanted = tw_kernarg_explicit_count(kernel), index = 0;
    if (count != wanted)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0, "this kernel takes %zu arguments (got %zu)",
                          wanted, count);
    memset(bytes, 0, tw_kernarg_explicit_size(kernel));
    for (size_t i = 0; i < kernel->arg_count; i++) {
        if (kernel->args[i].kind == TW_ARG_HIDDEN) continue;
        tw_status status = pack_one(kernel, index, &kernel->args[i], &args[index], bytes, diag);
        if (status) return status;
        index++;
    }
    return TW_OK;
}

static void put(uint8_t *bytes, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

void tw_kernarg_put_address(uint8_t *bytes, uint64_t address) { put(bytes, address, 8); }

typedef struct hidden_value {
    const char *value_kind;
    uint32_t bytes;
    uint64_t value;
} hidden_value;

static tw_status fill_hidden(const tw_kernel_info *kernel, const tw_arg_info *arg,
                             const tw_launch_shape *shape, uint8_t *segment, uint8_t *known, tw_diag *diag) {
    const hidden_value rows[] = {
#define HIDDEN(kind, size, what) {kind, size, what},
#include "run/hidden_args.def"
#undef HIDDEN
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].value_kind, arg->value_kind)) continue;
        if (arg->size != rows[i].bytes)
            return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0, "%s must have %u bytes (got %u)",
                              arg->value_kind, rows[i].bytes, arg->size);
        put(segment + arg->offset, rows[i].value, arg->size);
        memset(known + arg->offset, 1, arg->size);
    }
    return TW_OK;
}

tw_status tw_kernarg_fill(const tw_kernel_info *kernel, const tw_launch_shape *shape, const uint8_t *bytes,
                          size_t size, uint8_t *segment, uint8_t *known, tw_diag *diag) {
    if (size > kernel->kernarg_size)
        return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                          "explicit arguments must fit in the kernarg segment of %u bytes (got %zu)",
                          kernel->kernarg_size, size);
    memset(segment, 0, kernel->kernarg_size);
    memset(known, !kernel->arg_count, kernel->kernarg_size);
    if (size) memcpy(segment, bytes, size);
    for (size_t i = 0; i < kernel->arg_count; i++) {
        const tw_arg_info *arg = &kernel->args[i];
        if ((uint64_t)arg->offset + arg->size > kernel->kernarg_size)
            return tw_fail_at(diag, TW_ERR_INVALID, kernel->name, 0, 0,
                              "%s must lie in the kernarg segment of %u bytes (got offset %u)",
                              arg->value_kind, kernel->kernarg_size, arg->offset);
        if (arg->kind == TW_ARG_HIDDEN) {
            tw_status status = fill_hidden(kernel, arg, shape, segment, known, diag);
            if (status) return status;
        } else {
            memset(known + arg->offset, 1, arg->size);
        }
    }
    return TW_OK;
}
