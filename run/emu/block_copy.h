/* Loads and stores of 32 lanes at once, where all of them lie in one buffer: the common case, without the
 * checks lane by lane that find out what is wrong in the others. */
#ifndef TW_RUN_EMU_BLOCK_COPY_H
#define TW_RUN_EMU_BLOCK_COPY_H

#include "run/emu/access.h"

/* `offset` has a place for every lane of `lanes`, and 0 for the others; all are in bounds. Words of the lanes
 * go to word * EMU_LANES + lane. */
void tw_emu_block_load(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words);
/* The same with what is known of the bytes: unknown bits read as poison and are set in `unknown`. Whether
 * there are any. */
bool tw_emu_block_load_known(const uint8_t *data, const uint8_t *known, const uint64_t *offset,
                             unsigned bytes, uint32_t *words, uint32_t *unknown);
/* Stores bits that are all known; `known` is NULL where nothing needs to be noted. `shift`: 16 to store the
 * high halves. */
void tw_emu_block_store(uint8_t *data, uint8_t *known, const uint64_t *offset, uint32_t lanes, unsigned bytes,
                        const uint32_t *words, unsigned shift);

#endif
