/* LDS. */
#include "run/emu/access.h"

enum { MAX_WORDS = 4 };

/* Byte offsets of the lanes of one block; the lanes that have one. */
static uint32_t block_offsets(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *offset) {
    uint32_t active = emu_exec_half(w, half), bad = 0;
    const uint32_t *v = emu_vgpr(w, &i->s[0], half);
    if (w->shadow && tw_emu_vector_unknown(w, &i->s[0])) {
        const uint32_t *u = emu_vgpr_unknown(w, &i->s[0], half);
        for (unsigned l = 0; l < EMU_LANES; l++)
            bad |= (uint32_t)(u[l] != 0) << l;
        bad &= active;
        if (bad)
            tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(bad),
                          "an LDS address is made of bits that nobody wrote");
    }
    memcpy(offset, v, EMU_LANES * sizeof *offset);
    return active & ~bad;
}

/* Extra cycles: the LDS serves one dword a bank and cycle, equal dwords at once. */
static void count_conflicts(tw_emu_wave *w, const uint32_t *offset, uint32_t active) {
    enum { BANKS = 32 };
    uint32_t last[BANKS];
    uint8_t load[BANKS] = {0}, most = 0;
    for (; active; active &= active - 1) {
        uint32_t dword = offset[__builtin_ctz(active)] / 4, bank = dword % BANKS;
        if (load[bank] && last[bank] == dword) continue;
        last[bank] = dword;
        if (++load[bank] > most) most = load[bank];
    }
    if (most > 1) w->group->bank_conflicts += most - 1u;
}

/* The second offset of two-address forms and the unit of both, from the kind of access. */
static unsigned access_parts(const emu_inst *i, unsigned bytes, uint32_t at[2]) {
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

static void narrow_load(const tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                        uint32_t *unknown) {
    const emu_row *row = i->row;
    unsigned bits = 8 * emu_mem_bytes(row);
    bool low = row->flags & EMU_ROW_D16_LO, high = row->flags & EMU_ROW_D16_HI;
    const uint32_t *old = emu_vgpr(w, &i->d, half), *old_unknown = emu_vgpr_unknown(w, &i->d, half);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t v = value[l] << (32 - bits), u = unknown[l] << (32 - bits);
        bool sign = row->flags & EMU_ROW_SIGNED;
        v = sign ? (uint32_t)((int32_t)v >> (32 - bits)) : v >> (32 - bits);
        u = sign ? (uint32_t)((int32_t)u >> (32 - bits)) : u >> (32 - bits);
        if (low || high) {
            uint32_t keep = high ? 0x0000ffffu : 0xffff0000u;
            v = (old[l] & keep) | (v & 0xffff) << (high ? 16 : 0);
            u = (w->shadow ? old_unknown[l] & keep : 0) | (u & 0xffff) << (high ? 16 : 0);
        }
        value[l] = v;
        unknown[l] = u;
    }
}

void tw_emu_exec_lds_load(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    uint32_t at[2], value[2][MAX_WORDS * EMU_LANES], unknown[2][MAX_WORDS * EMU_LANES], loaded[2] = {0, 0};
    unsigned parts = access_parts(i, bytes, at);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES];
        loaded[half] = block_offsets(w, i, half, offset);
        count_conflicts(w, offset, loaded[half]);
        for (uint32_t rest = loaded[half]; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            for (unsigned part = 0; part < parts; part++) {
                uint32_t v[MAX_WORDS] = {0}, u[MAX_WORDS] = {0};
                emu_place p;
                if (tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + at[part], bytes, EMU_READS,
                                     &p))
                    tw_emu_load_bytes(w, &p, bytes, v, u);
                for (unsigned k = 0; k < words; k++) {
                    value[half][(part * words + k) * EMU_LANES + l] = v[k];
                    unknown[half][(part * words + k) * EMU_LANES + l] = u[k];
                }
            }
        }
        w->group->lds_read += (uint64_t)__builtin_popcount(loaded[half]) * bytes * parts;
    }
    for (unsigned half = 0; half < w->halves; half++) {
        if (bytes < 4) narrow_load(w, i, half, value[half], unknown[half]);
        for (unsigned k = 0; k < words * parts; k++) {
            tw_emu_vector_store(w, &i->d, k, half, loaded[half], value[half] + k * EMU_LANES,
                                unknown[half] + k * EMU_LANES);
        }
    }
}

static void lane_data(const tw_emu_wave *w, const emu_inst *i, const emu_operand *o, unsigned half,
                      unsigned l, uint32_t *v, uint32_t *u) {
    const uint32_t *data = emu_vgpr(w, o, half), *unknown = emu_vgpr_unknown(w, o, half);
    unsigned shift = i->row->flags & EMU_ROW_D16_HI ? 16 : 0;
    for (unsigned k = 0; k < o->words; k++) {
        v[k] = data[k * EMU_LANES + l] >> shift;
        u[k] = w->shadow ? unknown[k * EMU_LANES + l] >> shift : 0;
    }
}

void tw_emu_exec_lds_store(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    uint32_t at[2];
    unsigned parts = access_parts(i, bytes, at);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES], active = block_offsets(w, i, half, offset);
        count_conflicts(w, offset, active);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            for (unsigned part = 0; part < parts; part++) {
                uint32_t v[MAX_WORDS], u[MAX_WORDS];
                emu_place p;
                lane_data(w, i, &i->s[1 + part], half, l, v, u);
                if (tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + at[part], bytes, EMU_WRITES,
                                     &p))
                    tw_emu_store_bytes(&p, bytes, v, u);
            }
        }
        w->group->lds_written += (uint64_t)__builtin_popcount(active) * bytes * parts;
    }
}

void tw_emu_exec_lds_atomic(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4, operation = emu_mem_what(i->row);
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t offset[EMU_LANES], active = block_offsets(w, i, half, offset), done = 0;
        uint32_t result[2 * EMU_LANES], unknown[2 * EMU_LANES];
        count_conflicts(w, offset, active);
        for (uint32_t rest = active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t v[2] = {0}, u[2] = {0}, v2[2] = {0}, u2[2] = {0}, old[2] = {0}, old_unknown[2] = {0};
            emu_place p;
            if (!tw_emu_place_lds(w, (int)(half * EMU_LANES + l), offset[l] + (uint32_t)i->imm, bytes,
                                  EMU_UPDATES, &p))
                continue;
            lane_data(w, i, &i->s[1], half, l, v, u);
            if (i->s[2].kind == EMU_OPERAND_VGPR) lane_data(w, i, &i->s[2], half, l, v2, u2);
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
