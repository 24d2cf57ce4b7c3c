/* Loads and stores of 32 lanes at once, where all of them lie in one buffer: the common case, without the
 * checks lane by lane that find out what is wrong in the others. */
#ifndef TW_RUN_EMU_BLOCK_COPY_H
#define TW_RUN_EMU_BLOCK_COPY_H

#include "run/emu/access.h"

typedef struct emu_block_loops {
    /* base + low, or (low, high) where `high` is no NULL. */
    void (*add_base)(uint64_t *address, const uint32_t *low, const uint32_t *high, uint64_t base);
    /* base + low * scale, with a sign. */
    void (*add_signed)(uint64_t *address, const uint32_t *low, uint64_t base, uint32_t scale);
    /* The distances of `lanes` from `base`, 0 for the others; whether none is above `limit`. */
    bool (*to_offsets)(uint64_t *offset, const uint64_t *address, uint64_t base, uint64_t limit,
                       uint32_t lanes);
    /* Whether each of the 32 lies `step` behind the one before. */
    bool (*steps)(const uint64_t *offset, uint64_t step);
    /* `offset` has a place for every active lane, and 0 for the others; all are in bounds. Words of the lanes
     * go to word * EMU_LANES + lane. */
    void (*load)(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words);
    /* The same with what is known of the bytes: unknown bits read as poison and are set in `unknown`. Whether
     * there are any. */
    bool (*load_known)(const uint8_t *data, const uint8_t *known, const uint64_t *offset, unsigned bytes,
                       uint32_t *words, uint32_t *unknown);
    /* Stores bits that are all known; `known` is NULL where nothing needs to be noted. `shift`: 16 to store
     * the high halves. */
    void (*store)(uint8_t *data, uint8_t *known, const uint64_t *offset, uint32_t lanes, unsigned bytes,
                  const uint32_t *words, unsigned shift);
} emu_block_loops;

extern const emu_block_loops tw_emu_block_base, tw_emu_block_v3;
/* Those that this host can run (lanes.c). */
const emu_block_loops *tw_emu_block_loops(void);

#endif
