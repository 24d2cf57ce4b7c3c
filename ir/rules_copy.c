/* The extra rules of asynchronous copies. */
#include <inttypes.h>

#include "ir/rules.h"

static const tw_type *operand_type(const tw_check *check, uint32_t index) {
    return tw_type_of(check->kernel, check->op->operands[index]);
}

static unsigned element_bytes(const tw_type *pointer) { return tw_scalar_bits(pointer->scalar) / 8; }

static tw_status check_same_element(const tw_check *check, uint32_t one, uint32_t other) {
    const tw_type *a = operand_type(check, one), *b = operand_type(check, other);
    if (a->scalar == b->scalar) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "operand %" PRIu32 " must point to the element of operand %" PRIu32 ", %s (got %s)",
                     other, one, tw_scalar_name(a->scalar), tw_scalar_name(b->scalar));
}

static tw_status check_whole_elements(const tw_check *check, int64_t bytes, const tw_type *pointer) {
    if (bytes % element_bytes(pointer) == 0) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "bytes must be whole elements of %s (got %" PRId64 ")",
                     tw_scalar_name(pointer->scalar), bytes);
}

tw_status tw_rule_async_copy(const tw_check *check) {
    bool loads = check->op->opcode == TW_OP_ASYNC_COPY_TO_LDS;
    int64_t bytes = check->op->attrs[1].as.i;
    tw_status status = tw_check_feature(check, TW_ARCH_HAS_ASYNC_LDS);
    if (!status) status = tw_check_cache_policy(check, loads ? TW_CACHE_LOAD : TW_CACHE_STORE);
    if (!status) status = check_same_element(check, 0, 2);
    if (status) return status;
    if (bytes != 1 && bytes != 4 && bytes != 8 && bytes != 16)
        return tw_refuse(check, TW_ERR_INVALID, "bytes must be 1, 4, 8 or 16 (got %" PRId64 ")", bytes);
    return check_whole_elements(check, bytes, operand_type(check, 0));
}

tw_status tw_rule_load_to_lds(const tw_check *check) {
    int64_t bytes = check->op->attrs[1].as.i;
    uint32_t to = check->op->operand_count - 1;
    tw_status status = tw_check_feature(check, TW_ARCH_HAS_LDS_DMA);
    if (!status) status = tw_check_cache_policy(check, TW_CACHE_LOAD);
    if (status) return status;
    if (bytes != 4 && bytes != 12 && bytes != 16)
        return tw_refuse(check, TW_ERR_INVALID, "bytes must be 4, 12 or 16 (got %" PRId64 ")", bytes);
    if (bytes != 4)
        status =
            tw_check_feature_of(check, bytes == 12 ? "bytes = 12" : "bytes = 16", TW_ARCH_HAS_LDS_DMA_WIDE);
    if (!status && check->op->opcode == TW_OP_GLOBAL_LOAD_TO_LDS) status = check_same_element(check, 0, to);
    return status ? status : check_whole_elements(check, bytes, operand_type(check, to));
}

tw_status tw_rule_async_wait(const tw_check *check) {
    uint32_t features = tw_arch_get(check->kernel->target.arch)->features;
    if (features & TW_ARCH_HAS_LDS_DMA) return TW_OK;
    return tw_check_feature(check, TW_ARCH_HAS_ASYNC_LDS);
}

tw_status tw_rule_tensor_wait(const tw_check *check) {
    return tw_check_feature(check, TW_ARCH_HAS_TENSOR_COPY);
}

static tw_status check_padding(const tw_check *check) {
    int64_t interval = tw_op_attr_value(check->op, "pad_interval");
    int64_t amount = tw_op_attr_value(check->op, "pad_amount");
    if (interval == 1 || (interval & (interval - 1)))
        return tw_refuse(check, TW_ERR_INVALID,
                         "pad_interval must be 0 or a power of two 2..256 (got %" PRId64 ")", interval);
    if (!interval == !amount) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID,
                     "pad_interval and pad_amount must be both 0 or both not (got %" PRId64 " and %" PRId64
                     ")",
                     interval, amount);
}

tw_status tw_rule_tensor_copy(const tw_check *check) {
    bool loads = check->op->opcode == TW_OP_TENSOR_LOAD_TO_LDS;
    tw_status status = tw_check_feature(check, TW_ARCH_HAS_TENSOR_COPY);
    if (!status) status = tw_check_cache_policy(check, loads ? TW_CACHE_LOAD : TW_CACHE_STORE);
    if (!status) status = check_same_element(check, 0, 1);
    if (status) return status;
    uint32_t rank = check->op->attrs[1].as.ints.count;
    if (rank < 1 || rank > 3)
        return tw_refuse(check, TW_ERR_INVALID, "tile must have 1 to 3 dimensions (got %" PRIu32 ")", rank);
    if (check->op->operand_count != 2 + rank + rank - 1)
        return tw_refuse(check, TW_ERR_INVALID,
                         "must have %" PRIu32 " operands for a tile of %" PRIu32 " dimensions (got %" PRIu32
                         ")",
                         2 + rank + rank - 1, rank, check->op->operand_count);
    status = check_padding(check);
    return status ? status : tw_check_whole_waves(check);
}
