/* From a lane's address to host memory, with every check on the way. */
#ifndef TW_RUN_EMU_ACCESS_H
#define TW_RUN_EMU_ACCESS_H

#include "run/emu/exec.h"

typedef enum emu_intent { EMU_READS = 0, EMU_WRITES = 1, EMU_UPDATES = 2 /* an atomic */ } emu_intent;

typedef struct emu_place {
    uint8_t *data;
    uint8_t *known;
    emu_buffer *buffer; /* NULL: LDS */
} emu_place;

/* Global memory. False (and a report) where no live buffer holds all the bytes. */
bool tw_emu_place_global_slow(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent,
                              emu_place *out);
/* `offset` into the LDS of the workgroup; touches the bytes for the race check. */
bool tw_emu_place_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                      emu_place *out);
/* `offset` into the private segment of a lane; the bytes must not cross a dword. */
bool tw_emu_place_scratch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                          emu_place *out);
/* Whether a flat address is scratch, whose (mostly the lane that asks), and where in the private segment. */
bool tw_emu_is_private(const tw_emu_wave *w, uint64_t address, int *lane, uint32_t *offset);
/* A flat address: one of the three. */
bool tw_emu_place_flat(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent,
                       emu_place *out);

/* False, and a report, for an address that is not a multiple of `alignment`. */
bool tw_emu_check_alignment(tw_emu_wave *w, int lane, uint64_t address, unsigned alignment);

/* For the search for races between workgroups (global_race.c); lane -1: of the wave. */
void tw_emu_global_note(tw_emu_wave *w, int lane, const emu_buffer *b, uint64_t offset, uint32_t bytes,
                        emu_intent intent);
/* False, and a report, where an access meets a copy that is under way (copy.c). For use where
 * tw_emu_meets_copies, or group->copies_in_flight, say so. */
bool tw_emu_copy_check_global(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent);
bool tw_emu_copy_check_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent);

/* Whether an access of global memory may meet a copy that is under way: reads meet those to memory only. */
static inline bool tw_emu_meets_copies(const tw_emu_wave *w, emu_intent intent) {
    return w->group->copies_in_flight && (intent != EMU_READS || w->group->stores_in_flight);
}

static inline bool tw_emu_place_global(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes,
                                       emu_intent intent, emu_place *out) {
    emu_buffer *b = w->last_buffer;
    if (tw_emu_meets_copies(w, intent)) tw_emu_copy_check_global(w, lane, address, bytes, intent);
    unsigned alignment = bytes < 4 || intent == EMU_UPDATES ? bytes : 4;
    if (b && !(address & (alignment - 1)) && !b->freed && (intent == EMU_READS || !b->read_only) &&
        tw_emu_buffer_holds(b, address, bytes)) {
        uint64_t offset = address - b->address;
        if (w->group->global_log) tw_emu_global_note(w, lane, b, offset, bytes, intent);
        *out = (emu_place){b->data + offset, b->known + offset, b};
        return true;
    }
    return tw_emu_place_global_slow(w, lane, address, bytes, intent, out);
}

/* Copies between a place and words. What nobody wrote reads as poison, and `unknown` says so. */
void tw_emu_load_bytes(const tw_emu_wave *w, const emu_place *place, unsigned bytes, uint32_t *words,
                       uint32_t *unknown);
void tw_emu_store_bytes(const emu_place *place, unsigned bytes, const uint32_t *words,
                        const uint32_t *unknown);

/* Loads of 8 and 16 bits: extended, or into one half of the register. `unknown` is filled where `any` says
 * so; returns whether it is now. */
bool tw_emu_narrow_load(const tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                        uint32_t *unknown, bool any);

#endif
