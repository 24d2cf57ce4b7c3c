/* The device memory of an emulator: buffers far apart, with exact bounds, and which of their bits are known.
 */
#ifndef TW_RUN_EMU_MEMORY_H
#define TW_RUN_EMU_MEMORY_H

#include "support/diag.h"

/* Every buffer owns whole slots of 4 GiB of the address space, and lies so that it crosses the border between
 * two of them: address arithmetic that loses a carry does not go unseen, and one look at a table finds the
 * buffer that an address belongs to, or just missed. */
#define EMU_SLOT_BITS  32
#define EMU_SLOT_COUNT (1u << 15)

typedef struct emu_buffer {
    uint64_t address;
    size_t bytes;
    uint8_t *data;
    uint8_t *known; /* one mask a byte: bits that somebody wrote */
    bool all_known; /* all masks are 0xff: spares looking */
    bool freed;     /* only kept for reports */
    bool read_only; /* for kernels */
    uint32_t first_slot, slots;
    char *name;
} emu_buffer;

typedef struct emu_memory {
    emu_buffer **slots; /* EMU_SLOT_COUNT */
    uint32_t next_slot;
} emu_memory;

tw_status tw_emu_memory_init(emu_memory *memory, tw_diag *diag);
void tw_emu_memory_free(emu_memory *memory);
tw_status tw_emu_memory_alloc(emu_memory *memory, size_t bytes, const char *name, emu_buffer **out,
                              tw_diag *diag);
/* The bytes go, the name stays for reports until the slots are used again. */
void tw_emu_memory_release(emu_buffer *buffer);
/* Nothing stays: for memory that the emulator itself made. */
void tw_emu_memory_forget(emu_memory *memory, emu_buffer *buffer);

/* The buffer whose slots hold `address`, live or freed, in bounds or not; or NULL. */
static inline emu_buffer *tw_emu_memory_near(const emu_memory *memory, uint64_t address) {
    uint64_t slot = address >> EMU_SLOT_BITS;
    return slot < EMU_SLOT_COUNT ? memory->slots[slot] : NULL;
}

static inline bool tw_emu_buffer_holds(const emu_buffer *buffer, uint64_t address, size_t bytes) {
    return address >= buffer->address && bytes <= buffer->bytes &&
           address - buffer->address <= buffer->bytes - bytes;
}

/* The live buffer that holds all `bytes` bytes; or NULL. */
emu_buffer *tw_emu_memory_find(const emu_memory *memory, uint64_t address, size_t bytes);

#endif
