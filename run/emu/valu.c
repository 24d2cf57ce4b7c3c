/* Vector instructions: operands of 32 lanes to a lane function and back, with what is unknown beside it. */
#include "run/emu/valu.h"
#include "run/emu/exec.h"
#include "run/emu/lane_modify.h"

enum { MAX_WORDS = 2, BLOCK = MAX_WORDS * EMU_LANES };

/* ---- sources ---- */

static uint32_t scalar_word(const tw_emu_wave *w, const emu_operand *o, unsigned word, bool unknown) {
    switch ((emu_operand_kind)o->kind) {
    case EMU_OPERAND_SGPR: return unknown ? w->su[o->reg + word] : w->s[o->reg + word];
    case EMU_OPERAND_SCC: return word ? 0 : unknown ? w->scc_unknown : w->scc;
    case EMU_OPERAND_VCCZ:
        return word ? 0 : unknown ? emu_vcc_undecided(w) : !(w->s[EMU_S_VCC] | w->s[EMU_S_VCC + 1]);
    case EMU_OPERAND_EXECZ: return word || unknown ? 0 : !emu_exec_mask(w);
    case EMU_OPERAND_CONST: return unknown ? 0 : o->bits[word];
    default: return 0;
    }
}

/* The registers as they are. */
static const uint32_t *raw_source(const tw_emu_wave *w, const emu_operand *o, unsigned half, bool unknown,
                                  uint32_t *tmp) {
    if (o->kind == EMU_OPERAND_VGPR) return unknown ? emu_vgpr_unknown(w, o, half) : emu_vgpr(w, o, half);
    if (o->kind == EMU_OPERAND_CONST && !unknown) return o->lanes;
    for (unsigned word = 0; word < o->words; word++) {
        uint32_t v = scalar_word(w, o, word, unknown);
        for (unsigned l = 0; l < EMU_LANES; l++)
            tmp[word * EMU_LANES + l] = v;
    }
    return tmp;
}

/* Source 0 of a DPP instruction: `off` gets the lanes that have no source and are switched off by it. */
static void dpp_source(const tw_emu_wave *w, const emu_inst *i, const emu_operand *o, unsigned half,
                       bool unknown, uint32_t *tmp, uint32_t *off) {
    uint64_t exec = emu_exec_mask(w);
    *off = 0;
    for (unsigned word = 0; word < o->words; word++) {
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned from = i->dpp[half * EMU_LANES + l];
            bool there = from < (unsigned)w->halves * EMU_LANES &&
                         (i->flags & EMU_I_FETCH_INACTIVE || exec >> from & 1);
            const uint32_t *file = raw_source(w, o, from / EMU_LANES % w->halves, unknown, tmp + BLOCK);
            tmp[word * EMU_LANES + l] = there ? file[word * EMU_LANES + from % EMU_LANES] : 0;
            if (!there && !(i->flags & EMU_I_BOUND_CTRL)) *off |= 1u << l;
        }
    }
}

/* `tmp` has room for two blocks. */
static const uint32_t *full_source(const tw_emu_wave *w, const emu_inst *i, const emu_operand *o,
                                   unsigned half, bool unknown, uint32_t *tmp, uint32_t *off) {
    const uint32_t *in;
    if (i->flags & EMU_I_DPP && o == &i->s[0]) {
        dpp_source(w, i, o, half, unknown, tmp, off);
        in = tmp;
    } else {
        in = raw_source(w, o, half, unknown, tmp);
    }
    if (o->kind == EMU_OPERAND_CONST || (!o->mods && !o->sel)) return in;
    emu_modify(o, unknown, tmp, in);
    return tmp;
}

/* ---- float modes ---- */

static unsigned denormal_mode(const tw_emu_wave *w, emu_type type) {
    bool single = type == T_F32 || type == T_PF32 || type == T_MIX || type == T_MIXB;
    return w->mode >> (single ? 4 : 6) & 3;
}

/* Replaces denormals by zeros of their sign. */
static void flush_block(uint32_t *v, emu_type type) {
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t a = v[l];
        switch (type) {
        case T_F32:
        case T_MIX:
        case T_MIXB:
            if (!(a & 0x7f800000u)) v[l] = a & 0x80000000u;
            break;
        case T_PF32:
            if (!(a & 0x7f800000u)) v[l] = a & 0x80000000u;
            if (!(v[l + EMU_LANES] & 0x7f800000u)) v[l + EMU_LANES] &= 0x80000000u;
            break;
        case T_F16:
        case T_PF16:
            if (!(a & 0x7c00u)) a &= 0xffff8000u;
            if (!(a & 0x7c000000u)) a &= 0x8000ffffu;
            v[l] = a;
            break;
        case T_BF16:
        case T_PBF16:
            if (!(a & 0x7f80u)) a &= 0xffff8000u;
            if (!(a & 0x7f800000u)) a &= 0x8000ffffu;
            v[l] = a;
            break;
        case T_F64:
            if (!(v[l + EMU_LANES] & 0x7ff00000u)) {
                v[l] = 0;
                v[l + EMU_LANES] &= 0x80000000u;
            }
            break;
        default: break;
        }
    }
}

static bool flushes(const tw_emu_wave *w, const emu_inst *i, emu_type type, unsigned bit) {
    if (type == T_F32 && i->row->flags & EMU_ROW_FLUSH) return true;
    return i->row->flags & EMU_ROW_MODES && !(denormal_mode(w, type) & bit);
}

/* ---- results ---- */

static uint32_t nan_of(emu_type type, const uint32_t *v, unsigned l, unsigned part) {
    switch (type) {
    case T_F32:
    case T_MIX:
    case T_MIXB: return (v[l] & 0x7fffffffu) > 0x7f800000u ? v[l] | 0x400000u : 0;
    case T_PF32: {
        uint32_t a = v[l + part * EMU_LANES];
        return (a & 0x7fffffffu) > 0x7f800000u ? a | 0x400000u : 0;
    }
    case T_F16:
    case T_PF16: {
        uint32_t a = v[l] >> (16 * part) & 0xffff;
        return (a & 0x7fffu) > 0x7c00u ? a | 0x200u : 0;
    }
    case T_BF16:
    case T_PBF16: {
        uint32_t a = v[l] >> (16 * part) & 0xffff;
        return (a & 0x7fffu) > 0x7f80u ? a | 0x40u : 0;
    }
    case T_F64: {
        uint32_t hi = v[l + EMU_LANES];
        bool nan = (hi & 0x7fffffffu) > 0x7ff00000u || ((hi & 0x7fffffffu) == 0x7ff00000u && v[l]);
        return nan ? hi | 0x80000u : 0;
    }
    default: return 0;
    }
}

/* The NaN rule: the first NaN source, made quiet, or the positive NaN of an invalid operation. Hosts differ
 * in both. Sources of another format than the result give that format's plain NaN. */
void tw_emu_fix_nans(const emu_inst *i, uint32_t *d, const emu_block_sources *src) {
    emu_type type = (emu_type)i->row->dst;
    unsigned parts = type == T_PF16 || type == T_PBF16 || type == T_PF32 ? 2 : 1;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        for (unsigned part = 0; part < parts; part++) {
            if (!nan_of(type, d, l, part)) continue;
            uint32_t nan = 0, low = 0;
            for (unsigned k = 0; k < i->sources && !nan; k++) {
                if (i->row->src[k] != type && !(i->row->src[k] == T_MIX && type == T_F32)) continue;
                nan = nan_of(type == T_F32 ? T_F32 : type, src->s[k], l, part);
                low = src->s[k][l];
            }
            switch (type) {
            case T_F32: d[l] = nan ? nan : 0x7fc00000u; break;
            case T_PF32: d[l + part * EMU_LANES] = nan ? nan : 0x7fc00000u; break;
            case T_F64:
                d[l] = nan ? low : 0;
                d[l + EMU_LANES] = nan ? nan : 0x7ff80000u;
                break;
            default: {
                uint32_t plain = type == T_F16 || type == T_PF16 ? 0x7e00u : 0x7fc0u;
                d[l] = (d[l] & ~(0xffffu << (16 * part))) | (nan ? nan : plain) << (16 * part);
            }
            }
        }
    }
}

/* ---- overflows of halves ---- */

static bool infinite_half(uint32_t h) { return (h & 0x7fff) == 0x7c00; }

/* Whether an infinity came in, or is what a zero gives (of its reciprocal, its logarithm). */
static bool infinite_source(const emu_inst *i, const emu_block_sources *src, unsigned l, unsigned part) {
    bool packed = i->row->dst == T_PF16, any = false;
    for (unsigned k = 0; k < i->sources; k++) {
        uint32_t v = src->s[k][l];
        switch ((emu_type)i->row->src[k]) {
        case T_F16: any |= infinite_half(v) || (i->sources == 1 && !(v & 0x7fff)); break;
        case T_PF16:
            any |= packed ? infinite_half(v >> (16 * part)) : infinite_half(v) || infinite_half(v >> 16);
            break;
        case T_F32:
        case T_MIX: any |= (v & 0x7fffffff) == 0x7f800000; break;
        default: break;
        }
    }
    return any;
}

/* FP16_OVFL: the largest number in place of the infinity of an overflow. */
static void limit_halves(const emu_inst *i, uint32_t *d, const emu_block_sources *src) {
    unsigned parts = i->row->dst == T_PF16 ? 2 : 1;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        for (unsigned part = 0; part < parts; part++) {
            if (infinite_half(d[l] >> (16 * part)) && !infinite_source(i, src, l, part))
                d[l] -= 1u << (16 * part);
        }
    }
}

/* ---- output modifier and clamp ---- */

/* Up to gfx11 the output modifier has no say in IEEE mode, nor where results may be denormals. */
static unsigned output_modifier(const tw_emu_wave *w, const emu_inst *i) {
    if (!i->omod || w->launch->isa >= TW_ISA_GFX12) return i->omod;
    emu_type type = (emu_type)i->row->dst;
    bool flushed = type == T_F32 && i->row->flags & EMU_ROW_FLUSH;
    bool denormals = !flushed && denormal_mode(w, type) & EMU_DENORM_OUT;
    return denormals || w->mode >> 9 & 1 ? 0 : i->omod;
}

typedef struct output_change {
    unsigned omod;
    bool clamp, nan_to_zero, limit; /* `limit`: FP16_OVFL */
} output_change;

/* What is smaller than the `smallest` normal number counts as +0, what the modifier makes smaller as a zero
 * of its sign. */
static double output_modified(const output_change *c, double f, double smallest) {
    if (c->omod) {
        if (__builtin_fabs(f) < smallest) f = 0;
        f *= c->omod == 1 ? 2.0 : c->omod == 2 ? 4.0 : 0.5;
        if (__builtin_fabs(f) < smallest) f = __builtin_copysign(0, f);
    }
    if (!c->clamp) return f;
    if (f != f) return c->nan_to_zero ? 0 : f;
    return f > 1 ? 1 : f > 0 ? f : 0;
}

static uint32_t modified_f32(const output_change *c, uint32_t v) {
    return f32_bits((float)output_modified(c, (double)as_f32(v), 0x1p-126));
}
static uint32_t modified_f16(const output_change *c, uint32_t v) {
    uint32_t r = f32_to_half_nearest((float)output_modified(c, (double)half_to_f32(v & 0xffff), 0x1p-14));
    return c->limit && infinite_half(r) && !infinite_half(v) ? r - 1 : r;
}
static uint32_t modified_bf16(const output_change *c, uint32_t v) {
    return f32_to_bf16_nearest((float)output_modified(c, (double)bf16_to_f32(v & 0xffff), 0x1p-126));
}

static void modify_result(const tw_emu_wave *w, const emu_inst *i, unsigned omod, uint32_t *d) {
    const output_change c = {.omod = omod,
                             .clamp = i->flags & EMU_I_CLAMP,
                             .nan_to_zero = w->lane_mode & EMU_MODE_DX10_CLAMP,
                             .limit = w->lane_mode & EMU_MODE_FP16_OVFL};
    for (unsigned l = 0; l < EMU_LANES; l++) {
        switch ((emu_type)i->row->dst) {
        case T_F32: d[l] = modified_f32(&c, d[l]); break;
        case T_PF32:
            d[l] = modified_f32(&c, d[l]);
            d[l + EMU_LANES] = modified_f32(&c, d[l + EMU_LANES]);
            break;
        case T_F16: d[l] = modified_f16(&c, d[l]); break;
        case T_PF16: d[l] = modified_f16(&c, d[l]) | modified_f16(&c, d[l] >> 16) << 16; break;
        case T_BF16: d[l] = modified_bf16(&c, d[l]); break;
        case T_PBF16: d[l] = modified_bf16(&c, d[l]) | modified_bf16(&c, d[l] >> 16) << 16; break;
        case T_F64: {
            double f = output_modified(&c, as_f64(d[l] | (uint64_t)d[l + EMU_LANES] << 32), 0x1p-1022);
            d[l] = (uint32_t)f64_bits(f);
            d[l + EMU_LANES] = (uint32_t)(f64_bits(f) >> 32);
            break;
        }
        default: break;
        }
    }
}

/* One block: sources (modifiers applied) to result and mask result. */
static uint32_t evaluate(const tw_emu_wave *w, const emu_inst *i, const emu_block_sources *src, uint32_t *d) {
    uint32_t room[3][BLOCK];
    emu_block_sources in = *src;
    const emu_row *row = i->row;
    if (row->flags & (EMU_ROW_MODES | EMU_ROW_FLUSH) && (w->slow_float || row->flags & EMU_ROW_FLUSH)) {
        for (unsigned k = 0; k < i->sources; k++) {
            if (row->flags & EMU_ROW_STEP || (!k && row->flags & EMU_ROW_QUOTIENT)) continue;
            if (!flushes(w, i, (emu_type)row->src[k], EMU_DENORM_IN)) continue;
            memcpy(room[k], in.s[k], i->s[k].words * EMU_LANES * sizeof(uint32_t));
            flush_block(room[k], (emu_type)row->src[k]);
            in.s[k] = room[k];
        }
    }
    uint32_t result;
    if (w->slow_float && row->flags & EMU_ROW_MODES)
        result = tw_emu_call_rounded(w, i, d, in.s[0], in.s[1], in.s[2], in.mask);
    else
        result = i->fn.lane(d, in.s[0], in.s[1], in.s[2], in.mask);
    if (row->flags & EMU_ROW_PRODUCT && w->slow_float && flushes(w, i, (emu_type)row->dst, EMU_DENORM_OUT)) {
        bool single = row->dst == T_F32 || row->dst == T_PF32;
        tw_emu_flush_tiny(i, &in, tw_emu_host_direction(single ? w->mode : w->mode >> 2), d);
    }
    if (row->flags & EMU_ROW_FLOAT && result) tw_emu_fix_nans(i, d, &in);
    if (w->lane_mode & EMU_MODE_FP16_OVFL && (row->dst == T_F16 || row->dst == T_PF16))
        limit_halves(i, d, &in);
    unsigned omod = output_modifier(w, i);
    if (omod || i->flags & EMU_I_CLAMP) modify_result(w, i, omod, d);
    if (row->flags & (EMU_ROW_MODES | EMU_ROW_FLUSH) && (w->slow_float || row->flags & EMU_ROW_FLUSH) &&
        flushes(w, i, (emu_type)row->dst, EMU_DENORM_OUT))
        flush_block(d, (emu_type)row->dst);
    return result;
}

/* ---- masks ---- */

static uint32_t mask_input(const tw_emu_wave *w, const emu_inst *i, unsigned half, bool unknown) {
    switch (i->mask_reg) {
    case -1: return unknown ? 0 : w->lane_mode;
    case -2: return unknown ? 0 : (uint32_t)i->imm;
    case -3: return unknown ? 0 : (uint32_t)((uint64_t)i->imm2 >> (32 * half));
    default: return unknown ? w->su[i->mask_reg + half] : w->s[i->mask_reg + half];
    }
}

/* ---- what is unknown ----
 * Found by trying: an operation is evaluated again with its unknown bits filled differently, and result bits
 * that change are unknown. That is never wrong in claiming that a bit is unknown. Equal registers get equal
 * fills, so that x ^ x is known. */

enum { TRIALS = 4 };

static uint32_t fill_word(unsigned trial, unsigned reg, unsigned lane) {
    if (trial == 0) return 0;
    if (trial == 1) return 0xffffffffu;
    uint32_t h = (reg + 1) * 0x9e3779b1u ^ (lane + 1) * 0x85ebca77u ^ trial * 0xc2b2ae3du;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

static bool operand_unknown(const tw_emu_wave *w, const emu_operand *o) {
    if (o->kind == EMU_OPERAND_VGPR) {
        const uint8_t *flag = emu_vgpr_flag(w, o);
        uint8_t any = 0;
        for (unsigned k = 0; k < o->words; k++)
            any |= flag[k];
        return any;
    }
    if (o->kind == EMU_OPERAND_SGPR) {
        uint32_t any = 0;
        for (unsigned k = 0; k < o->words; k++)
            any |= w->su[o->reg + k];
        return any;
    }
    return o->kind == EMU_OPERAND_SCC && w->scc_unknown;
}

bool tw_emu_vector_unknown(const tw_emu_wave *w, const emu_operand *o) { return operand_unknown(w, o); }

static bool any_unknown(const tw_emu_wave *w, const emu_inst *i, unsigned half) {
    bool any = i->mask_reg >= 0 && w->su[i->mask_reg + half];
    for (unsigned k = 0; k < i->sources; k++)
        any |= operand_unknown(w, &i->s[k]);
    return any;
}

/* Unknown bits of the result (`ud`) and of the mask result of one block. `d` is the known part's result. */
static uint32_t try_unknown(const tw_emu_wave *w, const emu_inst *i, unsigned half,
                            const emu_block_sources *src, uint32_t active, const uint32_t *d, uint32_t result,
                            uint32_t *ud) {
    uint32_t room[3][2 * BLOCK], filled[3][BLOCK], other[BLOCK], changed = 0, off;
    const uint32_t *u[3] = {NULL, NULL, NULL};
    unsigned words = i->d.kind == EMU_OPERAND_VGPR ? i->d.words : 0;
    memset(ud, 0, BLOCK * sizeof *ud);
    uint32_t some = 0;
    for (unsigned k = 0; k < i->sources; k++) {
        u[k] = full_source(w, i, &i->s[k], half, true, room[k], &off);
        for (unsigned n = 0; n < i->s[k].words * EMU_LANES; n++)
            some |= active >> (n % EMU_LANES) & 1 ? u[k][n] : 0;
    }
    uint32_t mask_unknown = mask_input(w, i, half, true);
    if (!some && !(mask_unknown & active)) return 0;
    unsigned comparable = i->sources >= 2 && i->s[0].words == i->s[1].words;
    for (unsigned trial = 0; trial < TRIALS + comparable; trial++) {
        emu_block_sources in = *src;
        for (unsigned k = 0; k < i->sources; k++) {
            /* The last trial makes the first two as equal as they can be: what compares them shall know. */
            const uint32_t *equal = trial < TRIALS || k > 1 ? NULL : k == 0 ? src->s[1] : filled[0];
            for (unsigned n = 0; n < i->s[k].words * EMU_LANES; n++) {
                uint32_t fill =
                    equal ? equal[n] : fill_word(trial, i->s[k].reg + n / EMU_LANES, n % EMU_LANES);
                filled[k][n] = (src->s[k][n] & ~u[k][n]) | (fill & u[k][n]);
            }
            in.s[k] = filled[k];
        }
        if (i->mask_reg >= 0)
            in.mask = (src->mask & ~mask_unknown) |
                      (fill_word(trial, 1000u + (unsigned)i->mask_reg, 0) & mask_unknown);
        changed |= evaluate(w, i, &in, other) ^ result;
        for (unsigned n = 0; n < words * EMU_LANES; n++)
            ud[n] |= other[n] ^ d[n];
    }
    return changed;
}

/* ---- storing ---- */

static void blend(uint32_t *to, const uint32_t *from, uint32_t mask) {
    if (mask == 0xffffffffu) {
        memcpy(to, from, EMU_LANES * sizeof *to);
        return;
    }
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t m = 0u - (mask >> l & 1);
        to[l] = (from[l] & m) | (to[l] & ~m);
    }
}

/* Looks whether a register with unknown bits has become known. */
static void settle_flag(const tw_emu_wave *w, uint8_t *flag, unsigned reg) {
    uint32_t any = 0;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *u = w->u[half] + reg * EMU_LANES;
        for (unsigned l = 0; l < EMU_LANES; l++)
            any |= u[l];
    }
    if (!any) *flag = EMU_VFLAG_KNOWN;
}

static void report_missing(tw_emu_wave *w, unsigned reg) {
    tw_emu_fatal(w, -1, EMU_REPORT_INVALID,
                 "%s%u is not one of the registers that the kernel asked for (got %u)",
                 reg >= EMU_AGPR_BASE && w->vgprs <= EMU_AGPR_BASE ? "a" : "v",
                 reg >= EMU_AGPR_BASE && w->vgprs <= EMU_AGPR_BASE ? reg - EMU_AGPR_BASE : reg, w->vgprs);
}

static void store_unknown(tw_emu_wave *w, const emu_operand *d, unsigned word, unsigned half, uint32_t mask,
                          const uint32_t *unknown) {
    uint8_t *flag = emu_vgpr_flag(w, d) + word;
    unsigned reg = (unsigned)(flag - w->vflag);
    uint32_t *u = w->u[half] + reg * EMU_LANES;
    if (*flag == EMU_VFLAG_MISSING) {
        report_missing(w, reg);
        return;
    }
    if (unknown) {
        uint32_t any = 0;
        for (unsigned l = 0; l < EMU_LANES; l++)
            any |= mask >> l & 1 ? unknown[l] : 0;
        if (!any) unknown = NULL;
    }
    if (!unknown && !*flag) return;
    static const uint32_t NOTHING[EMU_LANES];
    blend(u, unknown ? unknown : NOTHING, mask);
    *flag = EMU_VFLAG_UNKNOWN;
    if (half + 1u == w->halves) settle_flag(w, flag, reg);
}

void tw_emu_vector_store(tw_emu_wave *w, const emu_operand *d, unsigned word, unsigned half, uint32_t mask,
                         const uint32_t *value, const uint32_t *unknown) {
    uint32_t *to = emu_vgpr(w, d, half) + word * EMU_LANES;
    if (mask == 0xffffffffu)
        memcpy(to, value, EMU_LANES * sizeof *to);
    else
        blend(to, value, mask);
    if (w->shadow && (unknown || emu_vgpr_flag(w, d)[word])) store_unknown(w, d, word, half, mask, unknown);
}

/* A result that fills a part of its register: the rest comes from the register. */
static void merge_part(const emu_inst *i, uint32_t *d, const uint32_t *old) {
    if (i->dst_sel) {
        unsigned sel = i->dst_sel;
        unsigned shift = sel >= EMU_SEL_WORD_0 ? 16 * (sel - EMU_SEL_WORD_0) : 8 * (sel - EMU_SEL_BYTE_0);
        unsigned bits = sel >= EMU_SEL_WORD_0 ? 16 : 8;
        uint32_t mask = (bits == 16 ? 0xffffu : 0xffu) << shift;
        for (unsigned l = 0; l < EMU_LANES; l++) {
            uint32_t part = d[l] << shift & mask;
            uint32_t sign = i->dst_unused == 1 && d[l] >> (bits - 1) & 1 ? ~(mask | ((1u << shift) - 1)) : 0;
            d[l] = i->dst_unused == 2 ? (old[l] & ~mask) | part : part | sign;
        }
    } else if (i->flags & EMU_I_KEEP_HALF) {
        bool high = i->flags & EMU_I_HIGH_HALF;
        for (unsigned l = 0; l < EMU_LANES; l++)
            d[l] = high ? (old[l] & 0xffff) | d[l] << 16 : (old[l] & 0xffff0000u) | (d[l] & 0xffff);
    }
}

/* ---- the handlers ---- */

static uint32_t fetch_block(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t (*room)[2 * BLOCK],
                            emu_block_sources *src) {
    uint32_t active = emu_exec_half(w, half), off = 0;
    for (unsigned k = 0; k < i->sources; k++)
        src->s[k] = full_source(w, i, &i->s[k], half, false, room[k], &off);
    src->mask = mask_input(w, i, half, false);
    if (i->flags & EMU_I_DPP) {
        active &= ~off;
        for (unsigned l = 0; l < EMU_LANES; l++) {
            unsigned lane = half * EMU_LANES + l;
            if (!(i->row_mask >> (lane / 16) & 1) || !(i->bank_mask >> (lane / 4 % 4) & 1))
                active &= ~(1u << l);
        }
    }
    return active;
}

typedef struct block_result {
    uint32_t d[BLOCK], ud[BLOCK];
    uint32_t active, mask, mask_unknown;
    bool unknown;
} block_result;

static void compute_block(tw_emu_wave *w, const emu_inst *i, unsigned half, block_result *r) {
    uint32_t room[3][2 * BLOCK];
    emu_block_sources src = {{NULL, NULL, NULL}, 0};
    r->active = fetch_block(w, i, half, room, &src);
    r->mask = evaluate(w, i, &src, r->d);
    r->mask_unknown = 0;
    r->unknown = w->shadow && any_unknown(w, i, half);
    if (r->unknown) r->mask_unknown = try_unknown(w, i, half, &src, r->active, r->d, r->mask, r->ud);
    if (i->flags & EMU_I_RESULT) {
        merge_part(i, r->d, emu_vgpr(w, &i->d, half));
        bool old_unknown = w->shadow && *emu_vgpr_flag(w, &i->d);
        if (r->unknown || old_unknown) {
            if (!r->unknown) memset(r->ud, 0, sizeof r->ud);
            merge_part(i, r->ud, emu_vgpr_unknown(w, &i->d, half));
            r->unknown = true;
        }
    }
}

static void store_block(tw_emu_wave *w, const emu_inst *i, unsigned half, const block_result *r) {
    for (unsigned word = 0; word < i->d.words; word++) {
        tw_emu_vector_store(w, &i->d, word, half, r->active, r->d + word * EMU_LANES,
                            r->unknown ? r->ud + word * EMU_LANES : NULL);
    }
}

/* Lane masks hold 0 for inactive lanes. */
static void store_mask(tw_emu_wave *w, const emu_operand *d, unsigned half, const block_result *r) {
    if (d->reg == EMU_S_NULL) return; /* reads as 0 for ever */
    w->s[d->reg + half] = r->mask & r->active;
    w->su[d->reg + half] = r->mask_unknown & r->active;
}

void tw_emu_exec_vector_full(tw_emu_wave *w, const emu_inst *i) {
    block_result r[2];
    for (unsigned half = 0; half < w->halves; half++)
        compute_block(w, i, half, &r[half]);
    for (unsigned half = 0; half < w->halves; half++) {
        store_block(w, i, half, &r[half]);
        if (i->flags & EMU_I_CARRY_OUT) store_mask(w, &i->d2, half, &r[half]);
    }
}

void tw_emu_exec_dual(tw_emu_wave *w, const emu_inst *i) {
    block_result x, y;
    for (unsigned half = 0; half < w->halves; half++) {
        compute_block(w, i, half, &x);
        compute_block(w, i->dual, half, &y);
        store_block(w, i, half, &x);
        store_block(w, i->dual, half, &y);
    }
}

void tw_emu_exec_compare(tw_emu_wave *w, const emu_inst *i) {
    block_result r[2];
    uint64_t mask = 0, unknown = 0;
    for (unsigned half = 0; half < w->halves; half++) {
        compute_block(w, i, half, &r[half]);
        mask |= (uint64_t)(r[half].mask & r[half].active) << (32 * half);
        unknown |= (uint64_t)(r[half].mask_unknown & r[half].active) << (32 * half);
    }
    if (i->d.kind == EMU_OPERAND_SGPR) {
        for (unsigned half = 0; half < w->halves; half++)
            store_mask(w, &i->d, half, &r[half]);
    }
    if (i->flags & EMU_I_TO_EXEC) tw_emu_write_exec(w, mask, unknown);
}

/* The common case: registers, constants and scalars as they are, every mode at its default. */
void tw_emu_exec_vector(tw_emu_wave *w, const emu_inst *i) {
    if (w->slow_float || i->row->flags & EMU_ROW_FLUSH) {
        tw_emu_exec_vector_full(w, i);
        return;
    }
    uint32_t room[3][BLOCK], mask[2] = {0, 0}, mask_unknown[2] = {0, 0};
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t active = emu_exec_half(w, half);
        if (!active) continue;
        if (w->shadow && any_unknown(w, i, half)) {
            block_result r;
            compute_block(w, i, half, &r);
            store_block(w, i, half, &r);
            mask[half] = r.mask & r.active;
            mask_unknown[half] = r.mask_unknown & r.active;
            continue;
        }
        emu_block_sources src;
        for (unsigned k = 0; k < i->sources; k++)
            src.s[k] = raw_source(w, &i->s[k], half, false, room[k]);
        src.mask = mask_input(w, i, half, false);
        uint32_t *d = emu_vgpr(w, &i->d, half), result;
        if (active == 0xffffffffu && !(i->row->flags & EMU_ROW_FLOAT && i->flags & EMU_I_ALIASED)) {
            result = i->fn.lane(d, src.s[0], src.s[1], src.s[2], src.mask);
            if (i->row->flags & EMU_ROW_FLOAT && result) tw_emu_fix_nans(i, d, &src);
        } else {
            uint32_t tmp[BLOCK];
            result = i->fn.lane(tmp, src.s[0], src.s[1], src.s[2], src.mask);
            if (i->row->flags & EMU_ROW_FLOAT && result) tw_emu_fix_nans(i, tmp, &src);
            for (unsigned word = 0; word < i->d.words; word++)
                blend(d + word * EMU_LANES, tmp + word * EMU_LANES, active);
        }
        mask[half] = result & active;
        if (w->shadow) {
            for (unsigned word = 0; word < i->d.words; word++) {
                if (emu_vgpr_flag(w, &i->d)[word]) store_unknown(w, &i->d, word, half, active, NULL);
            }
        }
    } /* The mask may replace a scalar source, which the second half still reads. */
    if (i->flags & EMU_I_CARRY_OUT && i->d2.reg != EMU_S_NULL) {
        for (unsigned half = 0; half < w->halves; half++) {
            w->s[i->d2.reg + half] = mask[half];
            w->su[i->d2.reg + half] = mask_unknown[half];
        }
    }
}
