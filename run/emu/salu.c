/* The scalar unit. */
#include "run/emu/fast.h"
#include "run/emu/lane_math.h"
#include "run/emu/valu.h"

/* ---- operands ---- */

static uint64_t pair(const uint32_t *file, const emu_operand *o) {
    return o->words == 2 ? file[o->reg] | (uint64_t)file[o->reg + 1] << 32 : file[o->reg];
}

uint64_t tw_emu_scalar_read(const tw_emu_wave *w, const emu_operand *o, uint64_t *unknown) {
    uint64_t v = 0;
    *unknown = 0;
    switch ((emu_operand_kind)o->kind) {
    case EMU_OPERAND_SGPR:
        if (o->reg == EMU_S_NULL) return 0;
        *unknown = pair(w->su, o);
        v = pair(w->s, o);
        break;
    case EMU_OPERAND_CONST: v = o->bits[0] | (uint64_t)o->bits[1] << 32; break;
    case EMU_OPERAND_SCC: *unknown = w->scc_unknown; return w->scc;
    case EMU_OPERAND_VCCZ: *unknown = emu_vcc_undecided(w); return !(w->s[EMU_S_VCC] | w->s[EMU_S_VCC + 1]);
    case EMU_OPERAND_EXECZ: return !emu_exec_mask(w);
    case EMU_OPERAND_VGPR:
    case EMU_OPERAND_NONE: return 0;
    }
    if (o->mods && o->kind == EMU_OPERAND_SGPR) {
        uint64_t sign = o->type == T_F16 ? 0x8000u : o->words == 2 ? 1ull << 63 : 0x80000000u;
        if (o->mods & EMU_ABS) v &= ~sign;
        if (o->mods & EMU_NEG) v ^= sign;
    }
    return v;
}

void tw_emu_write_exec(tw_emu_wave *w, uint64_t value, uint64_t unknown) {
    uint64_t exist = w->halves == 2 ? ~0ull : 0xffffffffu;
    if (unknown & exist & w->lanes_exist)
        tw_emu_report(w, __builtin_ctzll(unknown & w->lanes_exist), EMU_REPORT_UNINITIALISED,
                      "EXEC is made of bits that nobody wrote");
    w->s[EMU_S_EXEC] = (uint32_t)(value & exist);
    w->s[EMU_S_EXEC + 1] = (uint32_t)((value & exist) >> 32);
    w->su[EMU_S_EXEC] = w->su[EMU_S_EXEC + 1] = 0;
}

void tw_emu_scalar_write(tw_emu_wave *w, const emu_operand *o, uint64_t value, uint64_t unknown) {
    unsigned reg = o->reg;
    if (reg == EMU_S_NULL) return;
    if (reg == EMU_S_EXEC || reg == EMU_S_EXEC + 1) {
        uint64_t now = emu_exec_mask(w);
        if (o->words == 1) {
            unsigned shift = reg == EMU_S_EXEC ? 0 : 32;
            value = (now & ~(0xffffffffull << shift)) | (value & 0xffffffffu) << shift;
            unknown = (unknown & 0xffffffffu) << shift;
        }
        tw_emu_write_exec(w, value, unknown);
        return;
    }
    w->s[reg] = (uint32_t)value;
    w->su[reg] = w->shadow ? (uint32_t)unknown : 0;
    if (o->words == 2) {
        w->s[reg + 1] = (uint32_t)(value >> 32);
        w->su[reg + 1] = w->shadow ? (uint32_t)(unknown >> 32) : 0;
    }
}

/* ---- operations ---- */

int tw_emu_host_direction(unsigned mode) {
    static const int DIRECTION[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return DIRECTION[mode & 3];
}

uint32_t tw_emu_call_rounded(const tw_emu_wave *w, const emu_inst *i, uint32_t *d, const uint32_t *a,
                             const uint32_t *b, const uint32_t *c, uint32_t mask) {
    emu_type type = (emu_type)i->row->dst;
    bool single = type == T_F32 || type == T_PF32;
    int direction = tw_emu_host_direction(single ? w->mode : w->mode >> 2);
    if (direction == FE_TONEAREST) return i->fn.lane(d, a, b, c, mask);
    fesetround(direction);
    uint32_t r = i->fn.lane(d, a, b, c, mask);
    fesetround(FE_TONEAREST);
    return r;
}

static uint64_t flushed(const tw_emu_wave *w, const emu_row *row, emu_type type, uint64_t v, unsigned bit) {
    if (type != T_F32 && type != T_F16) return v;
    bool always = type == T_F32 && row->flags & EMU_ROW_FLUSH;
    unsigned mode = type == T_F32 ? w->mode >> 4 & 3 : w->mode >> 6 & 3;
    if (!always && mode & bit) return v;
    if (type == T_F32) return v & 0x7f800000u ? v : v & 0x80000000u;
    return v & 0x7c00u ? v : v & 0x8000u;
}

/* Under FP16_OVFL: whether `r` is an infinity that neither a source nor a division by zero made. */
static bool overflows(const tw_emu_wave *w, const emu_row *row, const uint64_t v[3], uint64_t r) {
    if (!(w->lane_mode & EMU_MODE_FP16_OVFL) || row->dst != T_F16 || (r & 0x7fff) != 0x7c00) return false;
    bool infinite = row->src[1] == T_NONE && row->src[0] == T_F16 && !(v[0] & 0x7fff);
    for (unsigned k = 0; k < 3; k++)
        infinite |= (row->src[k] == T_F16 && (v[k] & 0x7fff) == 0x7c00) ||
                    (row->src[k] == T_F32 && (v[k] & 0x7fffffff) == 0x7f800000);
    return !infinite;
}

static bool tiny(const tw_emu_wave *w, const emu_row *row, const uint64_t v[3], uint64_t r, int direction) {
    bool single = row->dst == T_F32;
    double f[3];
    if ((single ? r & 0x7fffffffu : r & 0x7fff) != (single ? 0x00800000u : 0x400u)) return false;
    if (flushed(w, row, (emu_type)row->dst, 1, EMU_DENORM_OUT)) return false;
    for (unsigned k = 0; k < 3; k++)
        f[k] = single ? as_f32((uint32_t)v[k]) : half_to_f32((uint32_t)v[k] & 0xffff);
    return tw_emu_is_tiny(single, f[0], f[1], row->src[2] == T_NONE ? 0 : f[2], direction);
}

static uint64_t call(const tw_emu_wave *w, const emu_inst *i, const uint64_t in[3], unsigned *scc) {
    const emu_row *row = i->row;
    if (!(row->flags & EMU_ROW_MODES) || (!w->slow_float && !(row->flags & EMU_ROW_FLUSH)))
        return i->fn.scalar(in[0], in[1], in[2], scc);
    uint64_t v[3];
    for (unsigned k = 0; k < 3; k++)
        v[k] = flushed(w, row, (emu_type)row->src[k], in[k], EMU_DENORM_IN);
    int direction = tw_emu_host_direction(row->dst == T_F32 ? w->mode : w->mode >> 2);
    if (direction != FE_TONEAREST) fesetround(direction);
    uint64_t r = i->fn.scalar(v[0], v[1], v[2], scc);
    if (direction != FE_TONEAREST) fesetround(FE_TONEAREST);
    if (overflows(w, row, v, r)) r--;
    if (row->flags & EMU_ROW_PRODUCT && tiny(w, row, v, r, direction))
        r = row->dst == T_F32 ? r & 0x80000000u : r & 0x8000u;
    return flushed(w, row, (emu_type)row->dst, r, EMU_DENORM_OUT);
}

static uint64_t fill(unsigned trial, unsigned k) {
    static const uint64_t FILL[4][3] = {{0, 0, 0},
                                        {~0ull, ~0ull, ~0ull},
                                        {0x9e3779b97f4a7c15u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u},
                                        {0x61c8864680b583ebu, 0x9e3779b97f4a7c15u, 0xd6e8feb86659fd93u}};
    return FILL[trial][k];
}

/* Which bits of the result and of SCC change when the unknown bits of the sources do. */
static uint64_t try_unknown(const tw_emu_wave *w, const emu_inst *i, const uint64_t in[3],
                            const uint64_t unknown[3], unsigned scc_in, uint64_t result, unsigned scc_out,
                            unsigned *scc_unknown) {
    uint64_t changed = 0;
    *scc_unknown = 0;
    for (unsigned trial = 0; trial < 5; trial++) {
        uint64_t v[3] = {0};
        for (unsigned k = 0; k < 3; k++) {
            unsigned same = k; /* one register, one fill */
            for (unsigned n = 0; n < k; n++)
                if (i->s[n].kind == EMU_OPERAND_SGPR && i->s[n].reg == i->s[k].reg) same = n;
            /* The last trial makes the first two as equal as they can be: what compares them shall know. */
            uint64_t bits = trial < 4 ? fill(trial, same) : k == 1 ? v[0] : in[k == 0];
            v[k] = (in[k] & ~unknown[k]) | (bits & unknown[k]);
        }
        unsigned scc = w->scc_unknown && i->row->flags & EMU_ROW_READS_SCC ? trial & 1 : scc_in;
        uint64_t r = call(w, i, v, &scc);
        changed |= r ^ result;
        *scc_unknown |= scc ^ scc_out;
    }
    return changed;
}

void tw_emu_exec_scalar(tw_emu_wave *w, const emu_inst *i) {
    uint64_t in[3] = {0, 0, 0}, unknown[3] = {0, 0, 0}, any = 0;
    const emu_row *row = i->row;
    for (unsigned k = 0; k < i->sources; k++) {
        in[k] = tw_emu_scalar_read(w, &i->s[k], &unknown[k]);
        any |= unknown[k];
    }
    unsigned scc = w->scc, before = w->scc, scc_unknown = 0;
    uint64_t r = call(w, i, in, &scc), changed = 0;
    if (row->flags & EMU_ROW_READS_SCC) any |= w->scc_unknown;
    if (any && w->shadow) changed = try_unknown(w, i, in, unknown, before, r, scc, &scc_unknown);
    if (row->flags & EMU_ROW_WRITES_SCC) {
        w->scc = scc;
        w->scc_unknown = scc_unknown;
    }
    if (row->dst != T_NONE) tw_emu_scalar_write(w, &i->d, r, changed);
}

/* ---- registers and constants, all known: what compilers mostly emit ---- */

/* Gives the bits of a source that are unknown. */
static inline uint32_t quick_source(const tw_emu_wave *w, const emu_operand *o, uint64_t *v) {
    if (o->kind == EMU_OPERAND_CONST) {
        *v = o->bits[0] | (uint64_t)o->bits[1] << 32;
        return 0;
    }
    if (o->words == 1) {
        *v = w->s[o->reg];
        return w->su[o->reg];
    }
    *v = w->s[o->reg] | (uint64_t)w->s[o->reg + 1] << 32;
    return w->su[o->reg] | w->su[o->reg + 1];
}

static void quick_scalar(tw_emu_wave *w, const emu_inst *i) {
    const unsigned flags = i->row->flags;
    uint64_t a = 0, b = 0;
    uint32_t unknown = quick_source(w, &i->s[0], &a);
    if (i->sources == 2) unknown |= quick_source(w, &i->s[1], &b);
    if (unknown || (flags & EMU_ROW_READS_SCC && w->scc_unknown)) {
        tw_emu_exec_scalar(w, i);
        return;
    }
    unsigned scc = w->scc;
    uint64_t r = i->fn.scalar(a, b, 0, &scc);
    if (flags & EMU_ROW_WRITES_SCC) {
        w->scc = scc;
        w->scc_unknown = 0;
    }
    if (i->d.kind != EMU_OPERAND_SGPR) return;
    w->s[i->d.reg] = (uint32_t)r;
    w->su[i->d.reg] = 0;
    if (i->d.words == 2) {
        w->s[i->d.reg + 1] = (uint32_t)(r >> 32);
        w->su[i->d.reg + 1] = 0;
    }
}

static bool is_exec(const emu_operand *o) {
    return o->reg <= EMU_S_EXEC + 1u && o->reg + o->words > EMU_S_EXEC;
}

emu_exec_fn tw_emu_fast_scalar(const emu_inst *i) {
    if (i->row->flags & (EMU_ROW_MODES | EMU_ROW_FLUSH) || i->sources < 1 || i->sources > 2) return i->exec;
    for (unsigned k = 0; k < i->sources; k++) {
        const emu_operand *o = &i->s[k];
        bool is_register = o->kind == EMU_OPERAND_SGPR && o->reg != EMU_S_NULL && !o->mods;
        if (!is_register && o->kind != EMU_OPERAND_CONST) return i->exec;
    }
    if (i->row->dst == T_NONE) return i->d.kind == EMU_OPERAND_NONE ? quick_scalar : i->exec;
    bool plain = i->d.kind == EMU_OPERAND_SGPR && i->d.reg != EMU_S_NULL && !is_exec(&i->d);
    return plain ? quick_scalar : i->exec;
}

/* A form of 32 bits leaves the high half alone. Whether a bit of what it writes is set. */
static bool write_exec_part(tw_emu_wave *w, unsigned words, uint64_t old, uint64_t value, uint64_t unknown) {
    if (words == 1) value = (uint32_t)value;
    tw_emu_write_exec(w, words == 1 ? (old >> 32 << 32) | value : value, unknown);
    return value != 0;
}

void tw_emu_exec_saveexec(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown, in[3] = {tw_emu_scalar_read(w, &i->s[0], &unknown), emu_exec_mask(w), 0};
    uint64_t unknowns[3] = {unknown, 0, 0}, old = in[1], changed = 0;
    unsigned scc = w->scc, scc_unknown = 0;
    if (i->d.words == 1) in[1] &= 0xffffffffu;
    uint64_t r = i->fn.scalar(in[0], in[1], 0, &scc);
    if (unknown && w->shadow) changed = try_unknown(w, i, in, unknowns, w->scc, r, scc, &scc_unknown);
    tw_emu_scalar_write(w, &i->d, old, 0);
    w->scc = write_exec_part(w, i->d.words, old, r, changed);
    w->scc_unknown = scc_unknown;
}

void tw_emu_exec_wrexec(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown, a = tw_emu_scalar_read(w, &i->s[0], &unknown);
    unsigned scc = w->scc;
    uint64_t r = i->fn.scalar(a, emu_exec_mask(w), 0, &scc);
    w->scc = write_exec_part(w, i->d.words, emu_exec_mask(w), r, unknown);
    tw_emu_scalar_write(w, &i->d, r, unknown);
    w->scc_unknown = 0;
}
