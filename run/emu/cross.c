/* Instructions that move values between lanes. */
#include "run/emu/exec.h"
#include "run/emu/lane_math.h"

enum { NOWHERE = 255 };

/* A register of the whole wave, lane by lane. */
static uint32_t lane_word(const tw_emu_wave *w, const emu_operand *o, unsigned lane, bool unknown) {
    if (o->kind == EMU_OPERAND_VGPR) {
        unsigned half = lane / EMU_LANES;
        return (unknown ? emu_vgpr_unknown(w, o, half) : emu_vgpr(w, o, half))[lane % EMU_LANES];
    }
    uint64_t u, v = tw_emu_scalar_read(w, o, &u);
    return (uint32_t)(unknown ? u : v);
}

static uint32_t operand_word(const tw_emu_wave *w, const emu_operand *o, unsigned word, unsigned lane,
                             bool unknown) {
    if (o->kind == EMU_OPERAND_VGPR) {
        unsigned half = lane / EMU_LANES;
        return (unknown ? emu_vgpr_unknown(w, o, half)
                        : emu_vgpr(w, o, half))[word * EMU_LANES + lane % EMU_LANES];
    }
    if (o->kind == EMU_OPERAND_SGPR) return unknown ? w->su[o->reg + word] : w->s[o->reg + word];
    return unknown || word > 1 ? 0 : o->bits[word];
}

static unsigned wave_lanes(const tw_emu_wave *w) { return w->halves * EMU_LANES; }

/* Gathers: lane l of the result is lane from[l] of `source`; NOWHERE gives `otherwise` (0, or the old value).
 */
static void gather(tw_emu_wave *w, const emu_inst *i, const emu_operand *source, const uint8_t *from,
                   bool keep_old) {
    uint32_t value[2][EMU_LANES], unknown[2][EMU_LANES], active[2];
    bool any = w->shadow && tw_emu_vector_unknown(w, source);
    for (unsigned half = 0; half < w->halves; half++) {
        active[half] = emu_exec_half(w, half);
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned f = from[half * EMU_LANES + l];
            if (f == NOWHERE && keep_old) active[half] &= ~(1u << l);
            value[half][l] = f == NOWHERE ? 0 : lane_word(w, source, f, false);
            unknown[half][l] = f == NOWHERE || !any ? 0 : lane_word(w, source, f, true);
        }
    }
    for (unsigned half = 0; half < w->halves; half++)
        tw_emu_vector_store(w, &i->d, 0, half, active[half], value[half], any ? unknown[half] : NULL);
}

void tw_emu_exec_readfirstlane(tw_emu_wave *w, const emu_inst *i) {
    uint64_t exec = emu_exec_mask(w);
    unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
    bool any = w->shadow && tw_emu_vector_unknown(w, &i->s[0]);
    tw_emu_scalar_write(w, &i->d, lane_word(w, &i->s[0], lane, false),
                        any ? lane_word(w, &i->s[0], lane, true) : 0);
}

static bool select_lane(tw_emu_wave *w, const emu_operand *o, unsigned *lane) {
    uint64_t unknown, v = tw_emu_scalar_read(w, o, &unknown);
    *lane = (unsigned)v & (wave_lanes(w) - 1);
    if (unknown & (wave_lanes(w) - 1))
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "a lane number is made of bits that nobody wrote");
    return true;
}

void tw_emu_exec_readlane(tw_emu_wave *w, const emu_inst *i) {
    unsigned lane;
    select_lane(w, &i->s[1], &lane);
    bool any = w->shadow && tw_emu_vector_unknown(w, &i->s[0]);
    tw_emu_scalar_write(w, &i->d, lane_word(w, &i->s[0], lane, false),
                        any ? lane_word(w, &i->s[0], lane, true) : 0);
}

void tw_emu_exec_writelane(tw_emu_wave *w, const emu_inst *i) {
    unsigned lane;
    uint64_t unknown, v = tw_emu_scalar_read(w, &i->s[0], &unknown);
    uint32_t value[EMU_LANES] = {0}, mark[EMU_LANES] = {0};
    select_lane(w, &i->s[1], &lane);
    value[lane % EMU_LANES] = (uint32_t)v;
    mark[lane % EMU_LANES] = (uint32_t)unknown;
    tw_emu_vector_store(w, &i->d, 0, lane / EMU_LANES, 1u << lane % EMU_LANES, value, mark);
}

/* Counts the mask bits below each lane, in the half that the row says. */
void tw_emu_exec_mbcnt(tw_emu_wave *w, const emu_inst *i) {
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t value[EMU_LANES], unknown[EMU_LANES];
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned lane = half * EMU_LANES + l;
            uint32_t below = (1u << l) - 1;
            uint32_t mask = i->row->arg == 0 ? (half ? 0xffffffffu : below) : (half ? below : 0);
            uint32_t a = lane_word(w, &i->s[0], lane, false), b = lane_word(w, &i->s[1], lane, false);
            uint32_t ua = lane_word(w, &i->s[0], lane, true) & mask, ub = lane_word(w, &i->s[1], lane, true);
            value[l] = (uint32_t)__builtin_popcount(a & mask) + b;
            unknown[l] = ua | ub ? 0xffffffffu : 0;
        }
        tw_emu_vector_store(w, &i->d, 0, half, emu_exec_half(w, half), value, unknown);
    }
}

static uint8_t if_fetchable(const tw_emu_wave *w, const emu_inst *i, unsigned from) {
    bool there = i->flags & EMU_I_FETCH_INACTIVE || emu_exec_mask(w) >> from & 1;
    return there ? (uint8_t)from : NOWHERE;
}

/* Selectors of 4 bits a lane from two scalars; within rows of 16, or from the neighbour row. */
void tw_emu_exec_permlane16(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    uint64_t u1, u2;
    uint64_t selectors =
        (tw_emu_scalar_read(w, &i->s[1], &u1) & 0xffffffffu) | tw_emu_scalar_read(w, &i->s[2], &u2) << 32;
    if (u1 | u2)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "lane selectors are made of bits that nobody wrote");
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        unsigned row = (lane & ~15u) ^ (i->row->arg ? 16 : 0);
        from[lane] = if_fetchable(w, i, row | (selectors >> (4 * (lane & 15)) & 15));
    }
    gather(w, i, &i->s[0], from, !(i->flags & EMU_I_BOUND_CTRL));
}

void tw_emu_exec_permlane16_var(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    bool any = w->shadow && tw_emu_vector_unknown(w, &i->s[1]);
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        unsigned row = (lane & ~15u) ^ (i->row->arg ? 16 : 0);
        if (any && emu_exec_mask(w) >> lane & 1 && lane_word(w, &i->s[1], lane, true) & 15)
            tw_emu_report(w, (int)lane, EMU_REPORT_UNINITIALISED,
                          "a lane selector is made of bits that nobody wrote");
        from[lane] = if_fetchable(w, i, row | (lane_word(w, &i->s[1], lane, false) & 15));
    }
    gather(w, i, &i->s[0], from, !(i->flags & EMU_I_BOUND_CTRL));
}

/* Within groups of lanes, whose width the second scalar gives: a lane keeps its own value where the first
 * scalar leads out of its group. Lanes that are off are read too. (HIP's headers for gfx1250 shuffle with
 * these.) */
void tw_emu_exec_permlane_group(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    uint64_t u1, u2;
    uint32_t by = (uint32_t)tw_emu_scalar_read(w, &i->s[1], &u1),
             width = (uint32_t)tw_emu_scalar_read(w, &i->s[2], &u2);
    if (u1 | u2)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "lane selectors are made of bits that nobody wrote");
    if (!width || width & (width - 1) || width > wave_lanes(w)) {
        tw_emu_fatal(w, -1, EMU_REPORT_INVALID,
                     "a group of lanes must be a power of two up to the wave's width (got %u)", width);
        return;
    }
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        uint32_t place = lane & (width - 1), to = place;
        switch (i->row->arg) {
        case EMU_GROUP_BCAST: to = by & (width - 1); break;
        case EMU_GROUP_UP: to = by <= place ? place - by : place; break;
        case EMU_GROUP_DOWN: to = by < width - place ? place + by : place; break;
        default: to = (place ^ by) < width ? place ^ by : place;
        }
        from[lane] = (uint8_t)(lane - place + to);
    }
    gather(w, i, &i->s[0], from, false);
}

void tw_emu_exec_permlane64(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    for (unsigned lane = 0; lane < wave_lanes(w); lane++)
        from[lane] = (uint8_t)(w->halves == 2 ? lane ^ 32 : lane);
    gather(w, i, &i->s[0], from, false);
}

/* Reads both registers of the wave, lets `swap` say which lanes of the two change places, writes both. */
static void swap_lanes(tw_emu_wave *w, const emu_inst *i, unsigned rows) {
    uint32_t v[2][64], u[2][64], out[2][64], out_unknown[2][64];
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        const emu_operand *o[2] = {&i->d, &i->s[0]};
        for (unsigned k = 0; k < 2; k++) {
            v[k][lane] = out[k][lane] = lane_word(w, o[k], lane, false);
            u[k][lane] = out_unknown[k][lane] = lane_word(w, o[k], lane, true);
        }
    }
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        if (rows == 0) { /* plain v_swap */
            out[0][lane] = v[1][lane];
            out[1][lane] = v[0][lane];
            out_unknown[0][lane] = u[1][lane];
            out_unknown[1][lane] = u[0][lane];
        } else if (lane & rows) { /* odd rows of the first change places with even rows of the second */
            unsigned other = lane - rows;
            out[0][lane] = v[1][other];
            out[1][other] = v[0][lane];
            out_unknown[0][lane] = u[1][other];
            out_unknown[1][other] = u[0][lane];
        }
    }
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t active = emu_exec_half(w, half);
        tw_emu_vector_store(w, &i->d, 0, half, active, out[0] + half * EMU_LANES,
                            out_unknown[0] + half * EMU_LANES);
        tw_emu_vector_store(w, &i->s[0], 0, half, active, out[1] + half * EMU_LANES,
                            out_unknown[1] + half * EMU_LANES);
    }
}

void tw_emu_exec_permlane_swap(tw_emu_wave *w, const emu_inst *i) { swap_lanes(w, i, i->row->arg); }
void tw_emu_exec_swap(tw_emu_wave *w, const emu_inst *i) { swap_lanes(w, i, 0); }

/* Exchanges one half of two registers, or of one. */
void tw_emu_exec_swap_half(tw_emu_wave *w, const emu_inst *i) {
    const emu_operand *o[2] = {&i->d, &i->s[0]};
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t v[2][EMU_LANES], u[2][EMU_LANES];
        for (unsigned k = 0; k < 2; k++) {
            unsigned shift = o[k]->mods & EMU_HALF ? 16 : 0, other = o[!k]->mods & EMU_HALF ? 16 : 0;
            for (unsigned l = 0; l < EMU_LANES; l++) {
                uint32_t from = emu_vgpr(w, o[!k], half)[l] >> other & 0xffff, mask = 0xffffu << shift;
                uint32_t from_unknown = emu_vgpr_unknown(w, o[!k], half)[l] >> other & 0xffff;
                v[k][l] = (emu_vgpr(w, o[k], half)[l] & ~mask) | from << shift;
                u[k][l] = (emu_vgpr_unknown(w, o[k], half)[l] & ~mask) | from_unknown << shift;
            }
        }
        if (o[0]->reg == o[1]->reg) { /* both halves of one register */
            for (unsigned l = 0; l < EMU_LANES; l++) {
                v[0][l] = emu_vgpr(w, o[0], half)[l] >> 16 | emu_vgpr(w, o[0], half)[l] << 16;
                u[0][l] = emu_vgpr_unknown(w, o[0], half)[l] >> 16 | emu_vgpr_unknown(w, o[0], half)[l] << 16;
            }
            memcpy(v[1], v[0], sizeof v[0]);
            memcpy(u[1], u[0], sizeof u[0]);
        }
        for (unsigned k = 0; k < 2; k++)
            tw_emu_vector_store(w, o[k], 0, half, emu_exec_half(w, half), v[k], u[k]);
    }
}

/* Four masked sums of absolute differences, each added to a word. */
void tw_emu_exec_mqsad(tw_emu_wave *w, const emu_inst *i) {
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t v[4][EMU_LANES], u[4][EMU_LANES];
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned lane = half * EMU_LANES + l;
            uint32_t a[2][2], b[2];
            for (unsigned unknown = 0; unknown < 2; unknown++) {
                for (unsigned k = 0; k < 2; k++)
                    a[unknown][k] = operand_word(w, &i->s[0], k, lane, unknown);
                b[unknown] = operand_word(w, &i->s[1], 0, lane, unknown);
            }
            uint64_t bytes = a[0][0] | (uint64_t)a[0][1] << 32;
            for (unsigned k = 0; k < 4; k++) {
                v[k][l] = sad_u8((uint32_t)(bytes >> (8 * k)), b[0],
                                 operand_word(w, &i->s[2], k, lane, false), true);
                u[k][l] =
                    a[1][0] | a[1][1] | b[1] | operand_word(w, &i->s[2], k, lane, true) ? 0xffffffffu : 0;
            }
        }
        for (unsigned k = 0; k < 4; k++)
            tw_emu_vector_store(w, &i->d, k, half, emu_exec_half(w, half), v[k], u[k]);
    }
}

/* ds_swizzle: patterns in the offset, within groups of 32 lanes. */
static unsigned swizzled(unsigned offset, unsigned l) {
    if ((offset & 0xe000) == 0xe000) return l; /* FFT, of which offset 31 is the identity: see below */
    if ((offset & 0xe000) == 0xc000) {         /* rotation by up to 31 lanes under a mask */
        unsigned mask = offset & 31, rotate = offset >> 5 & 31;
        bool left = !(offset >> 10 & 1);
        unsigned moved = left ? l + rotate : l - rotate;
        return (l & mask) | (moved & 31 & ~mask);
    }
    if (offset & 0x8000) return (l & ~3u) | (offset >> (2 * (l & 3)) & 3);
    unsigned and = offset & 31, or = offset >> 5 & 31, xor = offset >> 10 & 31;
    return (((l & and) | or) ^ xor) & 31;
}

void tw_emu_exec_swizzle(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    unsigned offset = (unsigned)i->imm;
    if ((offset & 0xe000) == 0xe000 && (offset & 31) != 31) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "the emulator does not know this swizzle (got offset 0x%x)",
                     offset);
        return;
    }
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        unsigned f = (lane & ~31u) | swizzled(offset, lane & 31);
        from[lane] = emu_exec_mask(w) >> f & 1 ? (uint8_t)f : NOWHERE;
    }
    gather(w, i, &i->s[0], from, false);
}

/* The lane that the address of ds_bpermute or ds_permute names in lane `lane`. Not every target reaches the
 * other half of a wave of 64. */
static unsigned named_lane(tw_emu_wave *w, const emu_inst *i, unsigned lane) {
    uint32_t features = tw_arch_get(w->launch->target.arch)->features;
    unsigned reach = features & TW_ARCH_HAS_WAVE64_BPERMUTE ? wave_lanes(w) : 32;
    unsigned named = (lane_word(w, &i->s[0], lane, false) + (unsigned)i->imm) / 4;
    return (lane & ~(reach - 1)) | (named & (reach - 1));
}

/* ds_bpermute pulls from the lane that the address names; inactive lanes read as 0. */
void tw_emu_exec_bpermute(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    bool any = w->shadow && tw_emu_vector_unknown(w, &i->s[0]);
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        unsigned f = named_lane(w, i, lane);
        bool active = emu_exec_mask(w) >> lane & 1;
        if (active && any && lane_word(w, &i->s[0], lane, true))
            tw_emu_report(w, (int)lane, EMU_REPORT_UNINITIALISED,
                          "a lane number is made of bits that nobody wrote");
        from[lane] = i->row->arg || emu_exec_mask(w) >> f & 1 ? (uint8_t)f : NOWHERE;
    }
    gather(w, i, &i->s[1], from, false);
}

/* ds_permute pushes; of several lanes that push to one, the highest wins; lanes that get nothing hold 0. */
void tw_emu_exec_permute(tw_emu_wave *w, const emu_inst *i) {
    uint8_t from[64];
    memset(from, NOWHERE, sizeof from);
    for (unsigned lane = 0; lane < wave_lanes(w); lane++) {
        if (!(emu_exec_mask(w) >> lane & 1)) continue;
        unsigned to = named_lane(w, i, lane);
        from[to] = (uint8_t)lane;
    }
    gather(w, i, &i->s[1], from, false);
}
