/* Buffer resources: four scalar words that say where a buffer is and how far it goes. */
#ifndef TW_RUN_EMU_RESOURCE_H
#define TW_RUN_EMU_RESOURCE_H

#include "arch/target.h"

typedef struct emu_resource {
    uint64_t base;
    uint64_t records; /* bytes, or elements where there is a stride */
    uint32_t stride;
    bool swizzle, add_lane;
    uint32_t element_bytes, index_stride;
    uint8_t bounds; /* the rule that says what is out of range (OOB_SELECT of gfx11 and later) */
    bool is_gfx9;
} emu_resource;

emu_resource tw_emu_resource_read(const uint32_t word[4], tw_isa isa);

/* One access: `offset` is voffset + the immediate, `index` the element. Returns false where the access is out
 * of range; else *address. */
bool tw_emu_resource_address(const emu_resource *r, uint32_t index, uint32_t offset, uint32_t scalar_offset,
                             unsigned lane, unsigned bytes, uint64_t *address);

#endif
