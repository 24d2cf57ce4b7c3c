/* Where the lanes of a vector memory instruction go. */
#ifndef TW_RUN_EMU_VMEM_H
#define TW_RUN_EMU_VMEM_H

#include "run/emu/access.h"
#include "run/emu/resource.h"

/* One block of 32 lanes. */
typedef struct emu_block_addresses {
    uint64_t address[EMU_LANES]; /* of scratch and buffers: the offset */
    uint32_t index[EMU_LANES];   /* buffers; all 0 where not indexed */
    uint32_t scalar;             /* buffers: soffset */
    bool indexed;
    emu_resource resource;
    uint32_t active; /* lanes that have an address */
    uint32_t half;
} emu_block_addresses;

/* Loads one block of 32 lanes: which lanes were on, and (`any`) whether `unknown` was filled. */
uint32_t tw_emu_vmem_load_half(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                               uint32_t *unknown, bool *any);
void tw_emu_block_address(tw_emu_wave *w, const emu_inst *i, unsigned half, emu_block_addresses *a);

/* Where all lanes lie in one buffer, or are loads out of the range of a buffer resource: that buffer, the
 * offset of every lane in it (0 for those that load nothing), and the lanes that do. NULL where it takes a
 * closer look. */
emu_buffer *tw_emu_block_buffer(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a,
                                emu_intent intent, uint64_t *offset, uint32_t *lanes);

#endif
