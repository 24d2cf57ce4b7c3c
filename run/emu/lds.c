/* LDS. */
#include "run/emu/lds.h"
#include "arch/lds_banks.h"
#include "run/emu/block_copy.h"
#include "run/emu/copy.h"
#include "run/emu/lds_race.h"
#include "run/emu/transposed.h"

enum { MAX_WORDS = 4 };

/* Lane l at M0 + 4 l. */
static uint32_t thread_offsets(tw_emu_wave *w, unsigned half, uint32_t *offset) {
    if (w->su[EMU_S_M0] & 0xffff) {
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "an LDS address is made of bits that nobody wrote");
        return 0;
    }
    for (unsigned l = 0; l < EMU_LANES; l++)
        offset[l] = (w->s[EMU_S_M0] & 0xffff) + 4 * (half * EMU_LANES + l);
    return emu_exec_half(w, half);
}

uint32_t tw_emu_lds_offsets(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *offset) {
    uint32_t active = emu_exec_half(w, half), bad = 0;
    if (i->row->flags & EMU_ROW_TID) return thread_offsets(w, half, offset);
    const uint32_t *v = emu_vgpr(w, &i->s[0], half);
    if (w->shadow && tw_emu_vector_unknown(w, &i->s[0])) {
        const uint32_t *u = emu_vgpr_unknown(w, &i->s[0], half);
        for (unsigned l = 0; l < EMU_LANES; l++)
            bad |= (uint32_t)(u[l] != 0) << l;
        bad &= active;
        if (bad)
            tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(bad), EMU_REPORT_UNINITIALISED,
                          "an LDS address is made of bits that nobody wrote");
    }
    memcpy(offset, v, EMU_LANES * sizeof *offset);
    return active & ~bad;
}

void tw_emu_lds_count_conflicts(tw_emu_wave *w, const uint32_t *offset, uint32_t active, unsigned bytes,
                                unsigned parts) {
    w->group->bank_conflicts += tw_lds_bank_conflicts(w->launch->lds_banks, offset, active, bytes) * parts;
}

uint32_t tw_emu_lds_masked(const tw_emu_wave *w, const uint32_t *offset, uint32_t at) {
    uint32_t masked = 0;
    if (w->launch->check_lds_range) return 0;
    for (unsigned l = 0; l < EMU_LANES; l++)
        masked |= (uint32_t)tw_emu_lds_masks(w, offset[l] + at) << l;
    return masked;
}

unsigned tw_emu_lds_parts(const emu_inst *i, unsigned bytes, uint32_t at[2]) {
    unsigned what = emu_mem_what(i->row);
    if (what == EMU_ACCESS_LOAD || what == EMU_ACCESS_STORE) {
        at[0] = (uint32_t)i->imm;
        return 1;
    }
    unsigned unit = what == EMU_ACCESS_LOAD2ST64 || what == EMU_ACCESS_STORE2ST64 ? 64 * bytes : bytes;
    at[0] = (uint32_t)i->imm * unit;
    at[1] = (uint32_t)i->imm2 * unit;
    return 2;
}

/* Where all lanes lie in the LDS of the workgroup: their offsets, 0 for those that are off. */
static bool block_inside(const tw_emu_wave *w, const uint32_t *offset, uint32_t at, uint32_t active,
                         unsigned bytes, uint64_t *out) {
    const emu_block_loops *loops = tw_emu_block_loops();
    uint32_t place[EMU_LANES];
    if (w->launch->strict_alignment || !active || w->group->lds_bytes < bytes) return false;
    for (unsigned l = 0; l < EMU_LANES; l++)
        place[l] = offset[l] + at;
    loops->add_base(out, place, NULL, 0);
    return loops->to_offsets(out, out, 0, w->group->lds_bytes - bytes, active);
}

/* One of the accesses of a load; whether any of its bits are unknown. */
static bool load_part(tw_emu_wave *w, unsigned half, const uint32_t *offset, uint32_t at, uint32_t active,
                      unsigned bytes, uint32_t *value, uint32_t *unknown) {
    emu_group *g = w->group;
    uint64_t place[EMU_LANES];
    if (block_inside(w, offset, at, active, bytes, place)) {
        if (g->copies_in_flight) tw_emu_copy_check_lds_block(w, half, place, active, bytes, EMU_READS);
        if (g->lds_dwords) tw_emu_lds_race_loads(w, half * EMU_LANES, place, active, bytes);
        return tw_emu_block_loops()->load_known(g->lds, g->lds_known, place, bytes, value, unknown) &&
               w->shadow;
    }
    for (uint32_t rest = active; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t v[MAX_WORDS] = {0}, u[MAX_WORDS] = {0};
        emu_place p;
        if (tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + at, bytes, EMU_READS, &p))
            tw_emu_load_bytes(w, &p, bytes, v, u);
        for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
            value[k * EMU_LANES + l] = v[k];
            unknown[k * EMU_LANES + l] = u[k];
        }
    }
    return true;
}

void tw_emu_exec_lds_load(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    uint32_t at[2], value[2][MAX_WORDS * EMU_LANES], unknown[2][MAX_WORDS * EMU_LANES], loaded[2] = {0, 0};
    bool any[2][2] = {{false, false}, {false, false}};
    unsigned parts = tw_emu_lds_parts(i, bytes, at);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES];
        loaded[half] = tw_emu_lds_offsets(w, i, half, offset);
        tw_emu_lds_count_conflicts(w, offset, loaded[half], bytes, parts);
        if (i->row->flags & EMU_ROW_TRANSPOSED) tw_emu_transposed_alignment(w, i, half, offset, loaded[half]);
        for (unsigned part = 0; part < parts; part++) {
            unsigned to = part * words * EMU_LANES;
            any[half][part] = load_part(w, half, offset, at[part], loaded[half], bytes, value[half] + to,
                                        unknown[half] + to);
        }
        w->group->lds_read += (uint64_t)__builtin_popcount(loaded[half]) * bytes * parts;
    }
    if (i->row->flags & EMU_ROW_TRANSPOSED) {
        bool some[2] = {any[0][0], any[1][0]};
        tw_emu_transpose(w, i, (uint32_t *const[]){value[0], value[1]},
                         (uint32_t *const[]){unknown[0], unknown[1]}, some, words);
        any[0][0] = any[1][0] = some[0];
    }
    for (unsigned half = 0; half < w->halves; half++) {
        if (bytes < 4)
            any[half][0] = tw_emu_narrow_load(w, i, half, value[half], unknown[half], any[half][0]);
        for (unsigned k = 0; k < words * parts; k++) {
            tw_emu_vector_store(w, &i->d, k, half, loaded[half], value[half] + k * EMU_LANES,
                                any[half][k / words] ? unknown[half] + k * EMU_LANES : NULL);
        }
    }
}

void tw_emu_lds_lane_data(const tw_emu_wave *w, const emu_inst *i, const emu_operand *o, unsigned half,
                          unsigned l, uint32_t *v, uint32_t *u) {
    const uint32_t *data = emu_vgpr(w, o, half), *unknown = emu_vgpr_unknown(w, o, half);
    unsigned shift = i->row->flags & EMU_ROW_D16_HI ? 16 : 0;
    for (unsigned k = 0; k < o->words; k++) {
        v[k] = data[k * EMU_LANES + l] >> shift;
        u[k] = w->shadow ? unknown[k * EMU_LANES + l] >> shift : 0;
    }
}

static void store_part(tw_emu_wave *w, const emu_inst *i, const emu_operand *data, unsigned half,
                       const uint32_t *offset, uint32_t at, uint32_t active) {
    emu_group *g = w->group;
    unsigned bytes = emu_mem_bytes(i->row);
    uint64_t place[EMU_LANES];
    bool known = !w->shadow || !tw_emu_vector_unknown(w, data);
    if (known && block_inside(w, offset, at, active, bytes, place)) {
        if (g->copies_in_flight) tw_emu_copy_check_lds_block(w, half, place, active, bytes, EMU_WRITES);
        const uint32_t *value = emu_vgpr(w, data, half);
        unsigned shift = i->row->flags & EMU_ROW_D16_HI ? 16 : 0;
        if (g->lds_dwords) tw_emu_lds_race_stores(w, half * EMU_LANES, place, active, bytes, value, shift);
        tw_emu_block_loops()->store(g->lds, g->lds_known, place, active, bytes, value, shift);
        return;
    }
    for (uint32_t rest = active; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t v[MAX_WORDS], u[MAX_WORDS];
        emu_place p;
        tw_emu_lds_lane_data(w, i, data, half, l, v, u);
        w->storing = v;
        if (tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + at, bytes, EMU_WRITES, &p))
            tw_emu_store_bytes(&p, bytes, v, u);
    }
    w->storing = NULL;
}

void tw_emu_exec_lds_store(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    uint32_t at[2];
    unsigned parts = tw_emu_lds_parts(i, bytes, at);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES], active = tw_emu_lds_offsets(w, i, half, offset);
        active &= ~tw_emu_lds_masked(w, offset, at[0]);
        tw_emu_lds_count_conflicts(w, offset, active, bytes, parts);
        for (unsigned part = 0; part < parts; part++)
            store_part(w, i, &i->s[1 + part], half, offset, at[part], active);
        w->group->lds_written += (uint64_t)__builtin_popcount(active) * bytes * parts;
    }
}

void tw_emu_exec_lds_atomic(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4, operation = emu_mem_what(i->row);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES], active = tw_emu_lds_offsets(w, i, half, offset), done = 0;
        uint32_t result[2 * EMU_LANES], unknown[2 * EMU_LANES];
        tw_emu_lds_count_conflicts(w, offset, active, bytes, 1);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t v[2] = {0}, u[2] = {0}, v2[2] = {0}, u2[2] = {0}, old[2] = {0}, old_unknown[2] = {0};
            emu_place p;
            if (!tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + (uint32_t)i->imm, bytes,
                                  EMU_UPDATES, &p))
                continue;
            tw_emu_lds_lane_data(w, i, &i->s[1], half, l, v, u);
            if (i->s[2].kind == EMU_OPERAND_VGPR) tw_emu_lds_lane_data(w, i, &i->s[2], half, l, v2, u2);
            tw_emu_load_bytes(w, &p, bytes, old, old_unknown);
            uint64_t next = tw_emu_atomic_result(operation, bytes, old[0] | (uint64_t)old[1] << 32,
                                                 v[0] | (uint64_t)v[1] << 32, v2[0] | (uint64_t)v2[1] << 32);
            uint32_t now[2] = {(uint32_t)next, (uint32_t)(next >> 32)};
            bool any = u[0] | u[1] | u2[0] | u2[1] | old_unknown[0] | old_unknown[1];
            uint32_t now_unknown[2] = {any ? 0xffffffffu : 0, any ? 0xffffffffu : 0};
            tw_emu_store_bytes(&p, bytes, now, operation == EMU_ATOMIC_SWAP ? u : now_unknown);
            for (unsigned k = 0; k < words; k++) {
                result[k * EMU_LANES + l] = old[k];
                unknown[k * EMU_LANES + l] = old_unknown[k];
            }
            done |= 1u << l;
        }
        for (unsigned k = 0; i->flags & EMU_I_RETURN && k < words; k++)
            tw_emu_vector_store(w, &i->d, k, half, done, result + k * EMU_LANES, unknown + k * EMU_LANES);
        w->group->lds_read += (uint64_t)__builtin_popcount(active) * bytes;
        w->group->lds_written += (uint64_t)__builtin_popcount(active) * bytes;
    }
}

/* ds_append and ds_consume: the number of active lanes is added to, or taken from, the dword that M0 names;
 * every lane gets the old value. */
void tw_emu_exec_lds_count(tw_emu_wave *w, const emu_inst *i) {
    uint32_t old[1] = {0}, unknown[1] = {0}, lanes = (uint32_t)__builtin_popcountll(emu_exec_mask(w));
    emu_place p;
    if (w->su[EMU_S_M0])
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "an LDS address is made of bits that nobody wrote");
    if (!lanes) return;
    if (!tw_emu_place_lds(w, __builtin_ctzll(emu_exec_mask(w)), w->s[EMU_S_M0] + (uint32_t)i->imm, 4,
                          EMU_UPDATES, &p))
        return;
    tw_emu_load_bytes(w, &p, 4, old, unknown);
    uint32_t next[1] = {i->row->arg ? old[0] + lanes : old[0] - lanes},
             next_unknown[1] = {unknown[0] ? 0xffffffffu : 0};
    tw_emu_store_bytes(&p, 4, next, next_unknown);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t value[EMU_LANES], mark[EMU_LANES];
        for (unsigned l = 0; l < EMU_LANES; l++) {
            value[l] = old[0];
            mark[l] = unknown[0];
        }
        tw_emu_vector_store(w, &i->d, 0, half, emu_exec_half(w, half), value, mark);
    }
    w->group->lds_read += 4;
    w->group->lds_written += 4;
}
