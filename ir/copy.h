/* Asynchronous copies between global memory and LDS. The order that makes one visible to the workgroup: copy,
 * wait, barrier, read; and before the next copy into the same bytes a barrier behind the reads. */
#ifndef TW_IR_COPY_H
#define TW_IR_COPY_H

#include "ir/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gfx1250: each active lane copies `bytes` (1, 4, 8, 16); indices count elements of the pointers, which have
 * one element type. */
TW_API void tw_async_copy_to_lds(tw_builder *b, tw_value from, tw_value from_index, tw_value to,
                                 tw_value to_index, unsigned bytes, uint32_t cachepolicy);
TW_API void tw_async_copy_from_lds(tw_builder *b, tw_value from, tw_value from_index, tw_value to,
                                   tw_value to_index, unsigned bytes, uint32_t cachepolicy);
/* gfx9: each active lane copies `bytes` (4; 12 and 16 on gfx950) to `to`, which is uniform, plus its lane's
 * index times 4 (16 for 12 and 16) bytes. */
TW_API void tw_global_load_to_lds(tw_builder *b, tw_value from, tw_value index, tw_value to, unsigned bytes,
                                  uint32_t cachepolicy);
TW_API void tw_buffer_load_to_lds(tw_builder *b, tw_value rsrc, tw_value voffset, tw_value soffset,
                                  tw_value to, unsigned bytes, uint32_t cachepolicy);
/* Waits until at most `outstanding` (0..63) of the wave's copies above, the newest, are under way. A copy
 * counts once a wave that executes it, whatever lanes are active. */
TW_API void tw_async_wait(tw_builder *b, unsigned outstanding);

/* A tile of a tensor, for gfx1250's tensor copies; dimension 0 is the innermost, whose elements are
 * neighbours. All values are uniform i32. */
typedef struct tw_tensor_tile {
    uint32_t rank;         /* 1..3 */
    int32_t tile[3];       /* elements to copy in each dimension, 1..65535 */
    tw_value extents[3];   /* elements that there are from the pointer on, at least 0: a load gives zeros past
                              them, a store drops */
    tw_value strides[2];   /* elements from one row to the next (1), from one plane to the next (2) */
    uint32_t pad_interval; /* dwords in LDS (a power of two 2..256) after which pad_amount dwords (1..128) */
    uint32_t pad_amount;   /* are left out; 0, 0: dense. Loads only. */
} tw_tensor_tile;

/* One copy a wave; all its lanes must be active. `to` and `from` are uniform and of one element type. */
TW_API void tw_tensor_load_to_lds(tw_builder *b, tw_value to, tw_value from, const tw_tensor_tile *tile,
                                  uint32_t cachepolicy);
TW_API void tw_tensor_store_from_lds(tw_builder *b, tw_value from, tw_value to, const tw_tensor_tile *tile,
                                     uint32_t cachepolicy);
/* As tw_async_wait, of the wave's tensor copies, which are counted apart. */
TW_API void tw_tensor_wait(tw_builder *b, unsigned outstanding);

#ifdef __cplusplus
}
#endif
#endif
