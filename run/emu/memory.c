/* Buffers of device memory. */
#include "run/emu/memory.h"

#include <stdlib.h>
#include <string.h>

#include "support/fail.h"

#define ALIGNMENT 256u

tw_status tw_emu_memory_init(emu_memory *memory, tw_diag *diag) {
    *memory = (emu_memory){.slots = calloc(EMU_SLOT_COUNT, sizeof(emu_buffer *)), .next_slot = 1};
    return memory->slots ? TW_OK : tw_fail_no_memory(diag);
}

void tw_emu_memory_forget(emu_memory *memory, emu_buffer *buffer) {
    for (uint32_t i = 0; i < buffer->slots; i++)
        memory->slots[buffer->first_slot + i] = NULL;
    tw_emu_memory_release(buffer);
    free(buffer->name);
    free(buffer);
}

void tw_emu_memory_free(emu_memory *memory) {
    if (!memory->slots) return;
    for (uint32_t i = 0; i < EMU_SLOT_COUNT; i++) {
        if (memory->slots[i]) tw_emu_memory_forget(memory, memory->slots[i]);
    }
    free(memory->slots);
    memory->slots = NULL;
}

/* Where `count` slots in a row hold no live buffer, from `next_slot` on and once around. Going around as late
 * as possible keeps freed buffers known. */
static bool find_slots(emu_memory *memory, uint32_t count, uint32_t *first) {
    uint32_t start = memory->next_slot, run = 0;
    for (uint32_t tried = 0; tried < 2 * EMU_SLOT_COUNT; tried++) {
        uint32_t slot = (start + tried) % EMU_SLOT_COUNT;
        bool usable = slot != 0 && (!memory->slots[slot] || memory->slots[slot]->freed);
        run = usable ? run + 1 : 0;
        if (run == count) {
            *first = slot - count + 1;
            return true;
        }
    }
    return false;
}

tw_status tw_emu_memory_alloc(emu_memory *memory, size_t bytes, const char *name, emu_buffer **out,
                              tw_diag *diag) {
    *out = NULL;
    /* The border between slots lies in the middle, on a multiple of the alignment. */
    uint64_t before = (bytes / 2 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    uint64_t lead = (before + (1ull << EMU_SLOT_BITS) - 1) >> EMU_SLOT_BITS;
    if (lead == 0) lead = 1;
    uint64_t count = lead + ((bytes - (bytes < before ? bytes : before)) >> EMU_SLOT_BITS) + 1;
    uint32_t first;
    if (count >= EMU_SLOT_COUNT || !find_slots(memory, (uint32_t)count, &first))
        return tw_fail(diag, TW_ERR_LIMIT,
                       "the emulator's address space has no room for the buffer (got %zu bytes)", bytes);
    emu_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return tw_fail_no_memory(diag);
    buffer->data = calloc(bytes ? bytes : 1, 1);
    buffer->known = calloc(bytes ? bytes : 1, 1);
    buffer->name = strdup(name && name[0] ? name : "buffer");
    if (!buffer->data || !buffer->known || !buffer->name) {
        tw_emu_memory_release(buffer);
        free(buffer->name);
        free(buffer);
        return tw_fail_no_memory(diag);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (memory->slots[first + i]) tw_emu_memory_forget(memory, memory->slots[first + i]);
    }
    for (uint32_t i = 0; i < count; i++)
        memory->slots[first + i] = buffer;
    buffer->bytes = bytes;
    buffer->first_slot = first;
    buffer->slots = (uint32_t)count;
    buffer->address = ((uint64_t)(first + lead) << EMU_SLOT_BITS) - before;
    memory->next_slot = (uint32_t)((first + count) % EMU_SLOT_COUNT);
    *out = buffer;
    return TW_OK;
}

void tw_emu_memory_release(emu_buffer *buffer) {
    free(buffer->data);
    free(buffer->known);
    buffer->data = buffer->known = NULL;
    buffer->freed = true;
}

emu_buffer *tw_emu_memory_find(const emu_memory *memory, uint64_t address, size_t bytes) {
    emu_buffer *buffer = tw_emu_memory_near(memory, address);
    if (!buffer || buffer->freed || !tw_emu_buffer_holds(buffer, address, bytes)) return NULL;
    return buffer;
}
