/* Places in memory: bounds, alignment, races, unknown bytes. */
#include "run/emu/access.h"

#include <stdio.h>

#include "run/emu/lds.h"
#include "run/emu/lds_race.h"

bool tw_emu_check_alignment(tw_emu_wave *w, int lane, uint64_t address, unsigned alignment) {
    if (address % alignment == 0) return true;
    if (w->launch->check_alignment)
        tw_emu_report(w, lane, EMU_REPORT_MISALIGNED, "misaligned access to 0x%llx: not a multiple of %u",
                      (unsigned long long)address, alignment);
    return false;
}

/* Atomics have to be aligned. Plain accesses need not be: compilers for this hardware make unaligned ones. */
static bool aligned(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent) {
    if (intent == EMU_UPDATES) return tw_emu_check_alignment(w, lane, address, bytes);
    if (w->launch->strict_alignment) tw_emu_check_alignment(w, lane, address, bytes < 4 ? bytes : 4);
    return true;
}

static const char *intent_name(emu_intent intent) {
    return intent == EMU_READS ? "load" : intent == EMU_WRITES ? "store" : "atomic";
}

bool tw_emu_place_global_slow(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent,
                              emu_place *out) {
    emu_buffer *b = tw_emu_memory_find(w->launch->memory, address, bytes);
    if (!b) {
        char where[256];
        tw_emu_describe_address(w->launch->memory, address, where, sizeof where);
        tw_emu_report(w, lane, EMU_REPORT_OUT_OF_BOUNDS, "%s of %u bytes out of bounds: 0x%llx is %s",
                      intent_name(intent), bytes, (unsigned long long)address, where);
        return false;
    }
    if (intent != EMU_READS && b->read_only) {
        tw_emu_report(w, lane, EMU_REPORT_READ_ONLY,
                      "%s of %u bytes at 0x%llx into '%s', which kernels may only read", intent_name(intent),
                      bytes, (unsigned long long)address, b->name);
        return false;
    }
    if (!aligned(w, lane, address, bytes, intent)) return false;
    w->last_buffer = b;
    uint64_t offset = address - b->address;
    if (w->group->global_log) tw_emu_global_note(w, lane, b, offset, bytes, intent);
    *out = (emu_place){b->data + offset, b->known + offset, b};
    return true;
}

/* ---- LDS ---- */

bool tw_emu_place_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                      emu_place *out) {
    emu_group *g = w->group;
    if (bytes > g->lds_bytes || offset > g->lds_bytes - bytes) {
        if (intent != EMU_UPDATES && tw_emu_lds_masks(w, offset)) return false;
        tw_emu_report(w, lane, EMU_REPORT_OUT_OF_BOUNDS,
                      "%s of %u bytes out of bounds: byte %u of LDS, of which the workgroup has %u",
                      intent_name(intent), bytes, offset, g->lds_bytes);
        return false;
    }
    if (offset & (bytes < 4 || intent == EMU_UPDATES ? bytes - 1 : 3) &&
        !aligned(w, lane, offset, bytes, intent))
        return false;
    if (g->copies_in_flight) tw_emu_copy_check_lds(w, lane, offset, bytes, intent);
    if (g->lds_dwords)
        tw_emu_lds_race_touch(w, lane, offset, bytes, intent,
                              intent == EMU_UPDATES && w->current->flags & EMU_I_RETURN);
    *out = (emu_place){g->lds + offset, g->lds_known + offset, NULL};
    return true;
}

/* ---- scratch: dword n of all lanes of the wave lies together ---- */

bool tw_emu_place_scratch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                          emu_place *out) {
    uint32_t limit = w->launch->scratch_bytes;
    if (bytes > limit || offset > limit - bytes || !w->launch->scratch) {
        tw_emu_report(w, lane, EMU_REPORT_OUT_OF_BOUNDS,
                      "%s of %u bytes out of bounds: byte %u of scratch, of which a work-item has %u",
                      intent_name(intent), bytes, offset, limit);
        return false;
    }
    uint64_t lanes = (uint64_t)w->halves * EMU_LANES;
    uint64_t at = w->scratch_offset + (uint64_t)(offset / 4) * 4 * lanes + (unsigned)lane * 4u + offset % 4;
    *out = (emu_place){w->launch->scratch->data + at, w->launch->scratch->known + at, w->launch->scratch};
    return true;
}

bool tw_emu_is_private(const tw_emu_wave *w, uint64_t address, int *lane, uint32_t *offset) {
    if (w->launch->isa != TW_ISA_GFX1250) {
        *offset = (uint32_t)address;
        return (address & 0xffffffff00000000ull) == EMU_PRIVATE_APERTURE;
    }
    /* gfx1250: one aperture from bit 58 on, the lane from bit 52 (51 in wave64), and below it the place in
     * the wave's scratch. */
    unsigned lane_bit = w->halves == 2 ? 51 : 52;
    uint64_t base = w->s[EMU_S_FLAT_SCRATCH] | (uint64_t)w->s[EMU_S_FLAT_SCRATCH + 1] << 32;
    if ((address ^ base) >> 58) return false;
    *lane = (int)(address >> lane_bit & (w->halves * EMU_LANES - 1));
    *offset = (uint32_t)((address & ((1ull << lane_bit) - 1)) - (base & ((1ull << lane_bit) - 1)));
    return true;
}

bool tw_emu_place_flat(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent,
                       emu_place *out) {
    uint32_t offset;
    if ((address & 0xffffffff00000000ull) == EMU_SHARED_APERTURE)
        return tw_emu_place_lds(w, lane, (uint32_t)address, bytes, intent, out);
    if (tw_emu_is_private(w, address, &lane, &offset))
        return tw_emu_place_scratch(w, lane, offset, bytes, intent, out);
    return tw_emu_place_global(w, lane, address, bytes, intent, out);
}

/* ---- bytes ---- */

void tw_emu_load_bytes(const tw_emu_wave *w, const emu_place *place, unsigned bytes, uint32_t *words,
                       uint32_t *unknown) {
    unsigned count = (bytes + 3) / 4;
    words[count - 1] = 0;
    memcpy(words, place->data, bytes);
    if (place->buffer && __atomic_load_n(&place->buffer->all_known, __ATOMIC_RELAXED)) {
        memset(unknown, 0, count * sizeof *unknown);
        return;
    }
    uint32_t known[4];
    known[count - 1] = 0xffffffffu;
    memcpy(known, place->known, bytes);
    for (unsigned k = 0; k < count; k++) {
        unknown[k] = ~known[k];
        words[k] = (words[k] & known[k]) | (EMU_POISON & ~known[k]);
    }
    if (!w->shadow) memset(unknown, 0, count * sizeof *unknown);
}

void tw_emu_store_bytes(const emu_place *place, unsigned bytes, const uint32_t *words,
                        const uint32_t *unknown) {
    unsigned count = (bytes + 3) / 4;
    uint32_t known[4], any = 0;
    memcpy(place->data, words, bytes);
    for (unsigned k = 0; k < count; k++) {
        known[k] = ~unknown[k];
        any |= unknown[k];
    }
    if (place->buffer && __atomic_load_n(&place->buffer->all_known, __ATOMIC_RELAXED)) {
        if (!any) return;
        __atomic_store_n(&place->buffer->all_known, false, __ATOMIC_RELAXED);
    }
    memcpy(place->known, known, bytes);
}

bool tw_emu_narrow_load(const tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                        uint32_t *unknown, bool any) {
    const emu_row *row = i->row;
    unsigned up = 32 - 8 * emu_mem_bytes(row);
    bool sign = row->flags & EMU_ROW_SIGNED, high = row->flags & EMU_ROW_D16_HI,
         part = high || row->flags & EMU_ROW_D16_LO;
    if (part && !any && w->shadow && *emu_vgpr_flag(w, &i->d)) {
        memset(unknown, 0, EMU_LANES * sizeof *unknown);
        any = true;
    }
    for (unsigned l = 0; l < EMU_LANES; l++)
        value[l] = sign ? (uint32_t)((int32_t)(value[l] << up) >> up) : value[l] << up >> up;
    for (unsigned l = 0; any && l < EMU_LANES; l++)
        unknown[l] = sign ? (uint32_t)((int32_t)(unknown[l] << up) >> up) : unknown[l] << up >> up;
    if (!part) return any;
    const uint32_t *old = emu_vgpr(w, &i->d, half), *old_unknown = emu_vgpr_unknown(w, &i->d, half);
    uint32_t keep = high ? 0x0000ffffu : 0xffff0000u;
    for (unsigned l = 0; l < EMU_LANES; l++)
        value[l] = (old[l] & keep) | (high ? value[l] << 16 : value[l] & 0xffff);
    for (unsigned l = 0; any && l < EMU_LANES; l++)
        unknown[l] =
            (w->shadow ? old_unknown[l] & keep : 0) | (high ? unknown[l] << 16 : unknown[l] & 0xffff);
    return any;
}
