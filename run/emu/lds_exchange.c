/* LDS instructions that exchange two values of each lane. */
#include "run/emu/lds.h"

enum { WORDS = 4 };

/* The new words of a lane go to their place, the old ones to the result. */
typedef struct exchanged {
    uint32_t old[WORDS * EMU_LANES], unknown[WORDS * EMU_LANES];
    uint32_t done; /* lanes */
} exchanged;

static void note_old(exchanged *x, unsigned l, unsigned first, unsigned words, const uint32_t *old,
                     const uint32_t *unknown) {
    for (unsigned k = 0; k < words; k++) {
        x->old[(first + k) * EMU_LANES + l] = old[k];
        x->unknown[(first + k) * EMU_LANES + l] = unknown[k];
    }
    x->done |= 1u << l;
}

static void store_old(tw_emu_wave *w, const emu_inst *i, unsigned half, unsigned words, const exchanged *x) {
    for (unsigned k = 0; k < words; k++)
        tw_emu_vector_store(w, &i->d, k, half, x->done, x->old + k * EMU_LANES, x->unknown + k * EMU_LANES);
}

/* Two places, each with a register (or pair) of its own. */
void tw_emu_exec_lds_exchange(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4;
    uint32_t at[2];
    unsigned parts = tw_emu_lds_parts(i, bytes, at);
    for (unsigned half = 0; half < w->halves; half++) {
        exchanged x = {.done = 0};
        uint32_t offset[EMU_LANES], active = tw_emu_lds_offsets(w, i, half, offset);
        tw_emu_lds_count_conflicts(w, offset, active, bytes, parts);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            for (unsigned part = 0; part < parts; part++) {
                uint32_t v[2], u[2], old[2] = {0}, old_unknown[2] = {0};
                emu_place p;
                if (!tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + at[part], bytes,
                                      EMU_UPDATES, &p))
                    break;
                tw_emu_lds_lane_data(w, i, &i->s[1 + part], half, l, v, u);
                tw_emu_load_bytes(w, &p, bytes, old, old_unknown);
                tw_emu_store_bytes(&p, bytes, v, u);
                note_old(&x, l, part * words, words, old, old_unknown);
            }
        }
        store_old(w, i, half, words * parts, &x);
        w->group->lds_read += (uint64_t)__builtin_popcount(active) * bytes * parts;
        w->group->lds_written += (uint64_t)__builtin_popcount(active) * bytes * parts;
    }
}

/* Two dwords side by side: where the leading bit of a new one is set, its other bits replace the old one. */
void tw_emu_exec_lds_condxchg(tw_emu_wave *w, const emu_inst *i) {
    enum { BYTES = 8, FLAG = 31 };
    for (unsigned half = 0; half < w->halves; half++) {
        exchanged x = {.done = 0};
        uint32_t offset[EMU_LANES], active = tw_emu_lds_offsets(w, i, half, offset);
        tw_emu_lds_count_conflicts(w, offset, active, BYTES, 1);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t v[2], u[2], old[2] = {0}, old_unknown[2] = {0}, next[2], next_unknown[2];
            emu_place p;
            if (!tw_emu_place_lds(w, (int)(half * EMU_LANES + l), (offset[l] + (uint32_t)i->imm) & ~7u, BYTES,
                                  EMU_UPDATES, &p))
                continue;
            tw_emu_lds_lane_data(w, i, &i->s[1], half, l, v, u);
            tw_emu_load_bytes(w, &p, BYTES, old, old_unknown);
            for (unsigned k = 0; k < 2; k++) {
                bool replaces = v[k] >> FLAG;
                next[k] = replaces ? v[k] & ~(1u << FLAG) : old[k];
                next_unknown[k] = u[k] >> FLAG ? 0xffffffffu : replaces ? u[k] : old_unknown[k];
            }
            tw_emu_store_bytes(&p, BYTES, next, next_unknown);
            note_old(&x, l, 0, 2, old, old_unknown);
        }
        store_old(w, i, half, 2, &x);
        w->group->lds_read += (uint64_t)__builtin_popcount(active) * BYTES;
        w->group->lds_written += (uint64_t)__builtin_popcount(active) * BYTES;
    }
}
