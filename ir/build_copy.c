/* The builder's functions for asynchronous copies. */
#include "ir/copy.h"

#include "ir/builder.h"

static tw_attr an_int(int64_t value) { return (tw_attr){.kind = TW_ATTR_INT, .as.i = value}; }

static void copy(tw_builder *b, tw_opcode opcode, const tw_value *in, uint32_t count, unsigned bytes,
                 uint32_t cachepolicy) {
    tw_attr attrs[] = {an_int(cachepolicy), an_int(bytes)};
    tw_builder_emit(b, opcode, NULL, in, count, attrs);
}

void tw_async_copy_to_lds(tw_builder *b, tw_value from, tw_value from_index, tw_value to, tw_value to_index,
                          unsigned bytes, uint32_t cachepolicy) {
    tw_value in[] = {from, from_index, to, to_index};
    copy(b, TW_OP_ASYNC_COPY_TO_LDS, in, 4, bytes, cachepolicy);
}

void tw_async_copy_from_lds(tw_builder *b, tw_value from, tw_value from_index, tw_value to, tw_value to_index,
                            unsigned bytes, uint32_t cachepolicy) {
    tw_value in[] = {from, from_index, to, to_index};
    copy(b, TW_OP_ASYNC_COPY_FROM_LDS, in, 4, bytes, cachepolicy);
}

void tw_global_load_to_lds(tw_builder *b, tw_value from, tw_value index, tw_value to, unsigned bytes,
                           uint32_t cachepolicy) {
    tw_value in[] = {from, index, to};
    copy(b, TW_OP_GLOBAL_LOAD_TO_LDS, in, 3, bytes, cachepolicy);
}

void tw_buffer_load_to_lds(tw_builder *b, tw_value rsrc, tw_value voffset, tw_value soffset, tw_value to,
                           unsigned bytes, uint32_t cachepolicy) {
    tw_value in[] = {rsrc, voffset, soffset, to};
    copy(b, TW_OP_BUFFER_LOAD_TO_LDS, in, 4, bytes, cachepolicy);
}

void tw_async_wait(tw_builder *b, unsigned outstanding) {
    tw_attr attr = an_int(outstanding);
    tw_builder_emit(b, TW_OP_ASYNC_WAIT, NULL, NULL, 0, &attr);
}

void tw_tensor_wait(tw_builder *b, unsigned outstanding) {
    tw_attr attr = an_int(outstanding);
    tw_builder_emit(b, TW_OP_TENSOR_WAIT, NULL, NULL, 0, &attr);
}

#define MAX_RANK 3

static void tensor_copy(tw_builder *b, tw_opcode opcode, tw_value lds, tw_value global,
                        const tw_tensor_tile *tile, uint32_t cachepolicy) {
    if (!tile || tile->rank < 1 || tile->rank > MAX_RANK) {
        tw_builder_misuse(b, opcode, "the tile must have 1 to 3 dimensions (got %u)",
                          tile ? (unsigned)tile->rank : 0);
        return;
    }
    tw_value in[2 + MAX_RANK + MAX_RANK - 1] = {lds, global};
    int64_t sizes[MAX_RANK];
    uint32_t count = 2;
    for (uint32_t i = 0; i < tile->rank; i++) {
        sizes[i] = tile->tile[i];
        in[count++] = tile->extents[i];
    }
    for (uint32_t i = 0; i + 1 < tile->rank; i++)
        in[count++] = tile->strides[i];
    tw_named_attr attrs[] = {{"cachepolicy", an_int(cachepolicy)},
                             {"tile", {.kind = TW_ATTR_INTS, .as.ints = {sizes, tile->rank}}},
                             {"pad_interval", an_int(tile->pad_interval)},
                             {"pad_amount", an_int(tile->pad_amount)}};
    bool pads = tile->pad_interval || tile->pad_amount;
    tw_build_op(b, opcode, NULL, in, count, attrs, pads || opcode == TW_OP_TENSOR_LOAD_TO_LDS ? 4 : 2);
}

void tw_tensor_load_to_lds(tw_builder *b, tw_value to, tw_value from, const tw_tensor_tile *tile,
                           uint32_t cachepolicy) {
    tensor_copy(b, TW_OP_TENSOR_LOAD_TO_LDS, to, from, tile, cachepolicy);
}

void tw_tensor_store_from_lds(tw_builder *b, tw_value from, tw_value to, const tw_tensor_tile *tile,
                              uint32_t cachepolicy) {
    tensor_copy(b, TW_OP_TENSOR_STORE_FROM_LDS, from, to, tile, cachepolicy);
}
