/* The extra rules that rows of ir/opcodes.def name. Operands, attributes and results already have the form
 * that the row asks for when one of these runs. */
#include <inttypes.h>

#include "ir/rules.h"

static const tw_type *type_of_operand(const tw_check *check, uint32_t index) {
    return tw_type_of(check->kernel, check->op->operands[index]);
}

static const tw_type *type_of_result(const tw_check *check) {
    return tw_type_of(check->kernel, check->op->first_result);
}

static bool is_power_of_two(int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

tw_status tw_rule_none(const tw_check *check) {
    (void)check;
    return TW_OK;
}

/* ---- constants and conversions ---- */

tw_status tw_rule_constant(const tw_check *check) {
    unsigned width = tw_scalar_bits(type_of_result(check)->scalar);
    uint64_t bits = (uint64_t)check->op->attrs[0].as.i;
    if (width == 64 || bits >> width == 0) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "value must fit the %u bits of %s (got 0x%" PRIX64 ")", width,
                     tw_scalar_name(type_of_result(check)->scalar), bits);
}

tw_status tw_rule_select(const tw_check *check) {
    const tw_type *condition = type_of_operand(check, 0), *type = type_of_operand(check, 1);
    if (condition->lanes == 1 || condition->lanes == type->lanes) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "operand 0 must be i1 or have the lanes of operand 1, %s (got %s)", TYPE_TEXT(type),
                     TYPE_TEXT(condition));
}

tw_status tw_rule_same_lanes(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    if (from->lanes == to->lanes) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "the result must have the lanes of operand 0, %s (got %s)",
                     TYPE_TEXT(from), TYPE_TEXT(to));
}

/* The target converts fp8 and bf8, in the format that `scalar` is. */
static tw_status check_fp8(const tw_check *check, tw_scalar scalar) {
    const tw_arch_info *arch = tw_arch_get(check->kernel->target.arch);
    if (arch->fp8 == TW_FP8_NONE || !(arch->features & TW_ARCH_HAS_FP8_CONVERT))
        return tw_refuse(check, TW_ERR_UNSUPPORTED, "the target must convert fp8 and bf8 (got %s)",
                         arch->name);
    bool fnuz = scalar == TW_F8E4M3FNUZ || scalar == TW_F8E5M2FNUZ;
    if (fnuz == (arch->fp8 == TW_FP8_FNUZ)) return TW_OK;
    return tw_refuse(check, TW_ERR_UNSUPPORTED, "the fp8 format on %s must be %s (got %s)", arch->name,
                     fnuz ? "f8e4m3 or f8e5m2" : "f8e4m3fnuz or f8e5m2fnuz", tw_scalar_name(scalar));
}

tw_status tw_rule_fpext(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    if (from->scalar == TW_F32)
        return tw_refuse(check, TW_ERR_INVALID, "operand 0 must be narrower than f32 (got %s)",
                         TYPE_TEXT(from));
    if (to->scalar != TW_F32)
        return tw_refuse(check, TW_ERR_INVALID, "the result must be of f32 (got %s)", TYPE_TEXT(to));
    tw_status status = tw_rule_same_lanes(check);
    if (status || !tw_scalar_is_fp8(from->scalar)) return status;
    return check_fp8(check, from->scalar);
}

tw_status tw_rule_fptrunc(const tw_check *check) {
    const tw_type *to = type_of_result(check);
    if (to->scalar == TW_F32)
        return tw_refuse(check, TW_ERR_INVALID, "the result must be of f16 or bf16 (got %s)", TYPE_TEXT(to));
    return tw_rule_same_lanes(check);
}

tw_status tw_rule_fptrunc_sat(const tw_check *check) {
    tw_status status = tw_rule_same_lanes(check);
    return status ? status : check_fp8(check, type_of_result(check)->scalar);
}

tw_status tw_rule_bitcast(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    if (tw_type_bits(from) == tw_type_bits(to)) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "the result must have the %u bits of operand 0 (got %s of %u bits)", tw_type_bits(from),
                     TYPE_TEXT(to), tw_type_bits(to));
}

tw_status tw_rule_wider(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    if (tw_scalar_bits(to->scalar) <= tw_scalar_bits(from->scalar))
        return tw_refuse(check, TW_ERR_INVALID, "the result must be wider than %s (got %s)",
                         tw_scalar_name(from->scalar), tw_scalar_name(to->scalar));
    return tw_rule_same_lanes(check);
}

tw_status tw_rule_narrower(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    if (tw_scalar_bits(to->scalar) >= tw_scalar_bits(from->scalar))
        return tw_refuse(check, TW_ERR_INVALID, "the result must be narrower than %s (got %s)",
                         tw_scalar_name(from->scalar), tw_scalar_name(to->scalar));
    return tw_rule_same_lanes(check);
}

/* ---- vectors ---- */

tw_status tw_rule_vector_build(const tw_check *check) {
    const tw_op *op = check->op;
    const tw_type *vector = type_of_result(check);
    if (op->operand_count != vector->lanes)
        return tw_refuse(check, TW_ERR_INVALID, "must have %u operands, one for each lane (got %" PRIu32 ")",
                         (unsigned)vector->lanes, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const tw_type *type = type_of_operand(check, i);
        if (type != tw_type_scalar(vector->scalar))
            return tw_refuse(check, TW_ERR_INVALID, "operand %" PRIu32 " must be the element, %s (got %s)", i,
                             tw_scalar_name(vector->scalar), TYPE_TEXT(type));
    }
    return TW_OK;
}

static tw_status check_lane(const tw_check *check, const tw_type *vector) {
    int64_t index = check->op->attrs[0].as.i;
    if (index < vector->lanes) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "index must be below the %u lanes (got %" PRId64 ")",
                     (unsigned)vector->lanes, index);
}

tw_status tw_rule_vector_index(const tw_check *check) { return check_lane(check, type_of_operand(check, 0)); }

tw_status tw_rule_vector_insert(const tw_check *check) {
    const tw_type *element = type_of_operand(check, 0), *vector = type_of_operand(check, 1);
    if (element->scalar != vector->scalar)
        return tw_refuse(check, TW_ERR_INVALID, "operand 0 must be the element, %s (got %s)",
                         tw_scalar_name(vector->scalar), TYPE_TEXT(element));
    return check_lane(check, vector);
}

tw_status tw_rule_vector_splat(const tw_check *check) {
    const tw_type *element = type_of_operand(check, 0), *vector = type_of_result(check);
    if (element->scalar == vector->scalar) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "the result must be a vector of %s (got %s)",
                     tw_scalar_name(element->scalar), TYPE_TEXT(vector));
}

tw_status tw_rule_vector_shuffle(const tw_check *check) {
    const tw_type *from = type_of_operand(check, 0), *to = type_of_result(check);
    const tw_attr *lanes = &check->op->attrs[0];
    if (to->scalar != from->scalar)
        return tw_refuse(check, TW_ERR_INVALID, "the result must be a vector of %s (got %s)",
                         tw_scalar_name(from->scalar), TYPE_TEXT(to));
    if (lanes->as.ints.count != to->lanes)
        return tw_refuse(check, TW_ERR_INVALID,
                         "lanes must be %u numbers, one for each lane (got %" PRIu32 ")", (unsigned)to->lanes,
                         lanes->as.ints.count);
    for (uint32_t i = 0; i < lanes->as.ints.count; i++)
        if (lanes->as.ints.values[i] >= 2 * from->lanes)
            return tw_refuse(check, TW_ERR_INVALID, "lanes must be below %u (got %" PRId64 ")",
                             2u * from->lanes, lanes->as.ints.values[i]);
    return TW_OK;
}

/* ---- across the lanes of a wave ---- */

tw_status tw_rule_wave_mask(const tw_check *check) {
    int64_t mask = check->op->attrs[0].as.i;
    if (mask < check->kernel->target.wave_size) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "mask must be below the wave size, %u (got %" PRId64 ")",
                     (unsigned)check->kernel->target.wave_size, mask);
}

tw_status tw_rule_row_shift(const tw_check *check) {
    if (check->op->attrs[0].as.i) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "amount must be other than 0 (got 0)");
}

tw_status tw_rule_wave_reduce(const tw_check *check) {
    const tw_type *type = type_of_operand(check, 0);
    int64_t kind = check->op->attrs[0].as.i;
    const tw_type *wanted = tw_type_scalar(kind >= TW_REDUCE_FADD ? TW_F32 : TW_I32);
    if (type != wanted)
        return tw_refuse(check, TW_ERR_INVALID, "operand 0 must be %s for %s (got %s)", TYPE_TEXT(wanted),
                         check->info->attrs[0].words[kind], TYPE_TEXT(type));
    return tw_check_whole_waves(check);
}

/* ---- memory ---- */

static bool is_atomic(const tw_op_info *info) {
    return info->effect == E_GLOBAL_RMW || info->effect == E_LDS_RMW;
}

static tw_status need_feature(const tw_check *check, const tw_type *type, tw_arch_feature feature,
                              const char *name) {
    const tw_arch_info *arch = tw_arch_get(check->kernel->target.arch);
    if (arch->features & (uint32_t)feature) return TW_OK;
    return tw_refuse(check, TW_ERR_UNSUPPORTED, "%s must be an atomic of the target, which needs %s (got %s)",
                     TYPE_TEXT(type), name, arch->name);
}

#define FEATURE_NAME(NAME, bit, text, doc) \
    if (TW_ARCH_HAS_##NAME == feature) name = text;

static tw_status check_packed_atomic(const tw_check *check, const tw_type *type, tw_arch_feature f16,
                                     tw_arch_feature bf16) {
    if (type->lanes == 1) return TW_OK;
    tw_arch_feature feature = type->scalar == TW_F16 ? f16 : bf16;
    const char *name = "";
    TW_ARCH_FEATURE_LIST(FEATURE_NAME)
    return need_feature(check, type, feature, name);
}

tw_status tw_rule_access(const tw_check *check) {
    bool loads = check->info->result != R_NONE;
    const tw_type *data = loads ? type_of_result(check) : type_of_operand(check, 0);
    const tw_type *pointer = type_of_operand(check, loads ? 0 : 1);
    if (data->scalar != pointer->scalar)
        return tw_refuse(check, TW_ERR_INVALID, "the data must be of the pointer's element, %s (got %s)",
                         tw_scalar_name(pointer->scalar), TYPE_TEXT(data));
    if (is_atomic(check->info)) {
        if (pointer->space == TW_LDS)
            return check_packed_atomic(check, data, TW_ARCH_HAS_LDS_ATOMIC_PK, TW_ARCH_HAS_LDS_ATOMIC_PK);
        return check_packed_atomic(check, data, TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16,
                                   TW_ARCH_HAS_GLOBAL_ATOMIC_PK_BF16);
    }
    const tw_attr *align = &check->op->attrs[0];
    if (align->kind == TW_ATTR_NONE || is_power_of_two(align->as.i)) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "align must be a power of two (got %" PRId64 ")", align->as.i);
}

tw_status tw_check_cache_policy(const tw_check *check, tw_cache_op cache_op) {
    const tw_attr *policy = &check->op->attrs[0];
    if (policy->kind == TW_ATTR_NONE) return TW_OK;
    tw_target target = check->kernel->target;
    tw_status status = tw_cache_policy_check(target, cache_op, policy->as.i, NULL);
    if (!status || !check->diag) return status;
    /* The table's own words, with the op in front. */
    tw_diag *reason = tw_diag_new(NULL);
    if (!reason) return tw_fail_no_memory(check->diag);
    tw_cache_policy_check(target, cache_op, policy->as.i, reason);
    tw_refuse(check, status, "%s", tw_diag_first_error(reason));
    tw_diag_free(reason);
    return status;
}

tw_status tw_rule_buffer_load(const tw_check *check) { return tw_check_cache_policy(check, TW_CACHE_LOAD); }

tw_status tw_rule_buffer_store(const tw_check *check) { return tw_check_cache_policy(check, TW_CACHE_STORE); }

tw_status tw_rule_buffer_atomic(const tw_check *check) {
    tw_status status = tw_check_cache_policy(check, TW_CACHE_ATOMIC);
    if (status) return status;
    return check_packed_atomic(check, type_of_operand(check, 0), TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC,
                               TW_ARCH_HAS_PACKED_BF16_BUFFER_ATOMIC);
}

/* ---- structure ---- */

/* What the op stands in, for people. */
static const char *place_name(const tw_op *op) {
    if (!op->parent) return "no block";
    if (!op->parent->parent) return "the kernel's body";
    return op->parent->parent->opcode == TW_OP_FOR ? "a region of scf.for" : "a region of scf.if";
}

tw_status tw_rule_lds_alloc(const tw_check *check) {
    const tw_op *op = check->op;
    if (!op->parent || op->parent->parent)
        return tw_refuse(check, TW_ERR_INVALID, "must stand at the top level of the kernel (got %s)",
                         place_name(op));
    int64_t align = tw_op_attr_value(op, "align");
    if (!is_power_of_two(align))
        return tw_refuse(check, TW_ERR_INVALID, "align must be a power of two (got %" PRId64 ")", align);
    uint64_t bytes = (uint64_t)op->attrs[0].as.i * (tw_scalar_bits(type_of_result(check)->scalar) / 8);
    uint32_t limit = tw_arch_get(check->kernel->target.arch)->lds_bytes;
    if (bytes <= limit) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "must fit the target's %" PRIu32 " bytes of LDS (got %" PRIu64 ")", limit, bytes);
}

/* Result `index` of an op that may have several. */
static const tw_type *result_type_at(const tw_check *check, const tw_op *op, uint32_t index) {
    uint64_t id = (uint64_t)op->first_result.id + index;
    return id <= check->kernel->value_count ? check->kernel->values[id].type : NULL;
}

static const tw_type *arg_type_at(const tw_check *check, const tw_block *block, uint32_t index) {
    return tw_kernel_value_type(check->kernel, block->args[index]);
}

static tw_status check_step(const tw_check *check) {
    const tw_op *step = tw_value_get(check->kernel, check->op->operands[2])->op;
    if (!step || step->opcode != TW_OP_CONSTANT) return TW_OK;
    bool wide = type_of_operand(check, 2)->scalar == TW_I64;
    int64_t value = wide ? step->attrs[0].as.i : (int32_t)step->attrs[0].as.i;
    if (value > 0) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "the step must be positive (got %" PRId64 ")", value);
}

tw_status tw_rule_for(const tw_check *check) {
    const tw_op *op = check->op;
    uint32_t carried = op->operand_count - 3;
    if (op->block_count != 1)
        return tw_refuse(check, TW_ERR_INVALID, "must have 1 region (got %" PRIu32 ")", op->block_count);
    const tw_block *body = &op->blocks[0];
    if (body->arg_count != carried + 1)
        return tw_refuse(check, TW_ERR_INVALID,
                         "the region must have %" PRIu32 " arguments (got %" PRIu32 ")", carried + 1,
                         body->arg_count);
    if (op->result_count != carried)
        return tw_refuse(check, TW_ERR_INVALID, "must have %" PRIu32 " results (got %" PRIu32 ")", carried,
                         op->result_count);
    for (uint32_t i = 0; i <= carried; i++) {
        const tw_type *wanted = type_of_operand(check, i ? 2 + i : 0), *got = arg_type_at(check, body, i);
        if (got != wanted)
            return tw_refuse(check, TW_ERR_INVALID, "argument %" PRIu32 " of the region must be %s (got %s)",
                             i, TYPE_TEXT(wanted), TYPE_TEXT(got));
    }
    for (uint32_t i = 0; i < carried; i++) {
        const tw_type *wanted = type_of_operand(check, 3 + i), *got = result_type_at(check, op, i);
        if (got != wanted)
            return tw_refuse(check, TW_ERR_INVALID, "result %" PRIu32 " must be %s (got %s)", i,
                             TYPE_TEXT(wanted), TYPE_TEXT(got));
    }
    return check_step(check);
}

tw_status tw_rule_if(const tw_check *check) {
    const tw_op *op = check->op;
    if (op->block_count != 1 && op->block_count != 2)
        return tw_refuse(check, TW_ERR_INVALID, "must have 1 or 2 regions (got %" PRIu32 ")",
                         op->block_count);
    for (uint32_t i = 0; i < op->block_count; i++)
        if (op->blocks[i].arg_count)
            return tw_refuse(check, TW_ERR_INVALID,
                             "region %" PRIu32 " must have no arguments (got %" PRIu32 ")", i,
                             op->blocks[i].arg_count);
    if (op->result_count && op->block_count == 1)
        return tw_refuse(check, TW_ERR_INVALID,
                         "must have 2 regions where it has results (got %" PRIu32 " results)",
                         op->result_count);
    for (uint32_t i = 0; i < op->result_count; i++) {
        const tw_type *type = result_type_at(check, op, i);
        if (!type || !tw_type_in_class(type, T_ANY))
            return tw_refuse(check, TW_ERR_INVALID, "result %" PRIu32 " must be %s (got %s)", i,
                             tw_type_class_text(T_ANY), TYPE_TEXT(type));
    }
    return TW_OK;
}

tw_status tw_rule_yield(const tw_check *check) {
    const tw_op *op = check->op, *owner = op->parent ? op->parent->parent : NULL;
    if (!owner) return tw_refuse(check, TW_ERR_INVALID, "must end a region (got %s)", place_name(op));
    const char *name = tw_op_info_get(owner->opcode)->name;
    if (op->operand_count != owner->result_count)
        return tw_refuse(check, TW_ERR_INVALID,
                         "must have %" PRIu32 " operands, one for each result of %s (got %" PRIu32 ")",
                         owner->result_count, name, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const tw_type *wanted = result_type_at(check, owner, i), *got = type_of_operand(check, i);
        if (got != wanted)
            return tw_refuse(check, TW_ERR_INVALID,
                             "operand %" PRIu32 " must be %s like the result of %s (got %s)", i,
                             TYPE_TEXT(wanted), name, TYPE_TEXT(got));
    }
    return TW_OK;
}

tw_status tw_rule_return(const tw_check *check) {
    const tw_op *op = check->op;
    if (op->parent && !op->parent->parent) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "must end the kernel's body (got %s)", place_name(op));
}
