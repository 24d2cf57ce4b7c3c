#include <inttypes.h>
#include <string.h>

#include "ir/rules.h"

#define WAVES_PER_EU_MAX 16

bool tw_name_is_valid(const char *name, size_t length) {
    if (!length || length > TW_NAME_MAX) return false;
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
        bool later = (c >= '0' && c <= '9') || c == '.' || c == '$';
        if (!letter && !(i && later)) return false;
    }
    return true;
}

static tw_status refuse_target(const tw_kernel *kernel, tw_diag *diag, const char *what, unsigned got) {
    return tw_fail_at(diag, TW_ERR_INVALID, tw_kernel_where(kernel), 0, 0, "%s (got %u)", what, got);
}

static tw_status check_target(const tw_kernel *kernel, tw_diag *diag) {
    tw_target target = kernel->target;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    if (!arch) return refuse_target(kernel, diag, "the target must be a known one", target.arch);
    bool other_wave = target.wave_size == 64 && (arch->features & TW_ARCH_HAS_WAVE64_CHOICE);
    if (target.wave_size != arch->wave_size && !other_wave)
        return refuse_target(kernel, diag, "the wave size must be one that the target has", target.wave_size);
    if (target.xnack > (arch->has_xnack ? TW_FEATURE_ON : TW_FEATURE_ANY))
        return refuse_target(kernel, diag, "xnack must be a feature of the target", target.xnack);
    if (target.sramecc > (arch->has_sramecc ? TW_FEATURE_ON : TW_FEATURE_ANY))
        return refuse_target(kernel, diag, "sramecc must be a feature of the target", target.sramecc);
    return TW_OK;
}

static tw_status check_options(const tw_kernel *kernel, tw_diag *diag) {
    const tw_kernel_options *o = &kernel->options;
    const char *where = tw_kernel_where(kernel);
    uint64_t limit = tw_arch_get(kernel->target.arch)->max_workgroup;
    uint64_t x = o->workgroup_size, y = o->workgroup_size_y ? o->workgroup_size_y : 1;
    uint64_t z = o->workgroup_size_z ? o->workgroup_size_z : 1;
    /* Each alone first, so that the product cannot overflow. */
    if (!x || x > limit || y > limit || z > limit || x * y * z > limit)
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "the workgroup size must be 1..%" PRIu64 " work-items (got %" PRIu64 " x %" PRIu64
                          " x %" PRIu64 ")",
                          limit, x, y, z);
    uint32_t least = o->min_waves_per_eu, most = o->max_waves_per_eu;
    if (least > WAVES_PER_EU_MAX)
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "min_waves_per_eu must be 0..%d (got %" PRIu32 ")", WAVES_PER_EU_MAX, least);
    if (most && (!least || most < least || most > WAVES_PER_EU_MAX))
        return tw_fail_at(
            diag, TW_ERR_INVALID, where, 0, 0,
            "max_waves_per_eu must be 0 or min_waves_per_eu..%d with min_waves_per_eu at least 1 "
            "(got %" PRIu32 "..%" PRIu32 ")",
            WAVES_PER_EU_MAX, least, most);
    return TW_OK;
}

tw_status tw_kernel_check_head(const tw_kernel *kernel, tw_diag *diag) {
    if (!tw_name_is_valid(kernel->name, strlen(kernel->name)))
        return tw_fail_at(
            diag, TW_ERR_INVALID, tw_kernel_where(kernel), 0, 0,
            "a kernel's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most %d bytes (got \"%.64s\")",
            TW_NAME_MAX, kernel->name);
    tw_status status = check_target(kernel, diag);
    return status ? status : check_options(kernel, diag);
}

static bool is_param_type(const tw_type *type) {
    if (!type) return false;
    if (type->kind == TW_TYPE_POINTER) return type->space == TW_GLOBAL;
    if (type->kind != TW_TYPE_SCALAR) return false;
    unsigned bits = tw_scalar_bits(type->scalar);
    return bits >= 16;
}

tw_status tw_kernel_check_param(const tw_kernel *kernel, uint32_t index, tw_diag *diag) {
    const tw_param_info *param = &kernel->params[index];
    const char *where = tw_kernel_where(kernel);
    if (index >= TW_PARAM_MAX)
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "a kernel must have at most %d parameters (got %" PRIu32 ")", TW_PARAM_MAX,
                          kernel->body.arg_count);
    if (!tw_name_is_valid(param->name, strlen(param->name)))
        return tw_fail_at(
            diag, TW_ERR_INVALID, where, 0, 0,
            "a parameter's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most %d bytes (got \"%.64s\")",
            TW_NAME_MAX, param->name);
    for (uint32_t i = 0; i < index; i++)
        if (!strcmp(kernel->params[i].name, param->name))
            return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                              "a parameter's name must be its own (got %s twice)", param->name);
    const tw_type *type = tw_kernel_value_type(kernel, kernel->body.args[index]);
    if (!is_param_type(type))
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "parameter %s must be a global pointer or a scalar of 16, 32 or 64 bits (got %s)",
                          param->name, TYPE_TEXT(type));
    unsigned known = type->kind == TW_TYPE_POINTER ? TW_PARAM_READONLY | TW_PARAM_NOALIAS : 0;
    if (param->flags & ~known)
        return tw_fail_at(diag, TW_ERR_INVALID, where, 0, 0,
                          "parameter %s must have flags of its type (got %s with 0x%X)", param->name,
                          TYPE_TEXT(type), param->flags);
    return TW_OK;
}

uint64_t tw_kernel_lds_bytes(const tw_kernel *kernel) {
    uint64_t bytes = 0;
    for (const tw_op *op = kernel->body.first; op; op = op->next) {
        if (op->opcode != TW_OP_LDS_ALLOC) continue;
        uint64_t align = (uint64_t)tw_op_attr_value(op, "align");
        uint64_t element = tw_scalar_bits(tw_type_of(kernel, op->first_result)->scalar) / 8;
        bytes = (bytes + align - 1) / align * align + (uint64_t)tw_op_attr_value(op, "count") * element;
    }
    return bytes;
}
