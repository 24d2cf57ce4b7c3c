/* Places in memory: bounds, alignment, races, unknown bytes. */
#include "run/emu/access.h"

#include <stdio.h>

void tw_emu_check_alignment(tw_emu_wave *w, int lane, uint64_t address, unsigned alignment) {
    if (w->launch->check_alignment && address % alignment)
        tw_emu_report(w, lane, "misaligned access to 0x%llx: not a multiple of %u",
                      (unsigned long long)address, alignment);
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
        tw_emu_report(w, lane, "%s of %u bytes out of bounds: 0x%llx is %s", intent_name(intent), bytes,
                      (unsigned long long)address, where);
        return false;
    }
    if (intent != EMU_READS && b->read_only) {
        tw_emu_report(w, lane, "%s of %u bytes at 0x%llx into '%s', which kernels may only read",
                      intent_name(intent), bytes, (unsigned long long)address, b->name);
        return false;
    }
    tw_emu_check_alignment(w, lane, address, intent == EMU_UPDATES ? bytes : bytes < 4 ? bytes : 4);
    if (intent == EMU_UPDATES && address % bytes) return false;
    w->last_buffer = b;
    uint64_t offset = address - b->address;
    *out = (emu_place){b->data + offset, b->known + offset, b};
    return true;
}

/* ---- LDS ----
 * A byte remembers who wrote and who read it last, and how many barriers that wave had signalled. An access
 * of another wave is ordered behind it when that wave has waited for a later barrier. */

enum { WAVE_BITS = 8, WAVE_MASK = (1 << WAVE_BITS) - 1, SEVERAL = WAVE_MASK };

static uint32_t stamp(const tw_emu_wave *w) { return (w->signals + 1) << WAVE_BITS | (w->index + 1u); }

/* Whether the access that left `mark` may run at the same time as one of `w` now. */
static bool concurrent(const tw_emu_wave *w, uint32_t mark) {
    return mark && (mark & WAVE_MASK) != w->index + 1u && mark >> WAVE_BITS > w->waits;
}

static void report_race(tw_emu_wave *w, int lane, uint32_t offset, uint32_t mark, const char *now,
                        const char *then) {
    char who[32] = "several waves";
    if ((mark & WAVE_MASK) != SEVERAL) snprintf(who, sizeof who, "wave %u", (mark & WAVE_MASK) - 1);
    tw_emu_report(w, lane, "race in LDS: %s of byte %u, which %s %s without a barrier between", now, offset,
                  who, then);
}

static void touch_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent) {
    emu_lds_touch *t = w->group->lds_touch + offset;
    uint32_t mine = stamp(w);
    /* Atomics are ordered among each other. */
    for (unsigned k = 0; k < bytes; k++) {
        bool atomic_before = t[k].atomic && intent == EMU_UPDATES;
        if (concurrent(w, t[k].writer) && !atomic_before) {
            report_race(w, lane, offset + k, t[k].writer, intent_name(intent), "wrote");
            return;
        }
        if (intent == EMU_READS) {
            bool others = concurrent(w, t[k].reader);
            t[k].reader = others ? (mine & ~(uint32_t)WAVE_MASK) | SEVERAL : mine;
            continue;
        }
        if (concurrent(w, t[k].reader) && (t[k].reader & WAVE_MASK) != w->index + 1u) {
            report_race(w, lane, offset + k, t[k].reader, intent_name(intent), "read");
            return;
        }
        t[k].writer = mine;
        t[k].atomic = intent == EMU_UPDATES;
    }
}

bool tw_emu_place_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                      emu_place *out) {
    emu_group *g = w->group;
    if (bytes > g->lds_bytes || offset > g->lds_bytes - bytes) {
        tw_emu_report(w, lane, "%s of %u bytes out of bounds: byte %u of LDS, of which the workgroup has %u",
                      intent_name(intent), bytes, offset, g->lds_bytes);
        return false;
    }
    unsigned alignment = intent == EMU_UPDATES ? bytes : bytes < 4 ? bytes : 4;
    if (offset & (alignment - 1)) {
        tw_emu_check_alignment(w, lane, offset, alignment);
        if (intent == EMU_UPDATES) return false;
    }
    if (g->lds_touch) touch_lds(w, lane, offset, bytes, intent);
    *out = (emu_place){g->lds + offset, g->lds_known + offset, NULL};
    return true;
}

/* ---- scratch: dword n of all lanes of the wave lies together ---- */

bool tw_emu_place_scratch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                          emu_place *out) {
    uint32_t limit = w->launch->scratch_bytes;
    if (bytes > limit || offset > limit - bytes || !w->launch->scratch) {
        tw_emu_report(w, lane,
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
    /* gfx1250: the base of the wave's scratch, and from bit 52 (51 in wave64) on the lane. */
    unsigned lane_bit = w->halves == 2 ? 51 : 52;
    uint64_t base = w->s[EMU_S_FLAT_SCRATCH] | (uint64_t)w->s[EMU_S_FLAT_SCRATCH + 1] << 32;
    uint64_t from = (address & ((1ull << lane_bit) - 1)) - base;
    if (!w->launch->scratch || from >= w->launch->scratch_bytes) return false;
    *lane = (int)(address >> lane_bit & (w->halves * EMU_LANES - 1));
    *offset = (uint32_t)from;
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
