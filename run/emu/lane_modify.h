/* Source modifiers of 32 lanes. Included once for each instruction set of the host: everything is static. */
#ifndef TW_RUN_EMU_LANE_MODIFY_H
#define TW_RUN_EMU_LANE_MODIFY_H

#include "run/emu/lane_blocks.h"
#include "run/emu/state.h"

LM uint32_t selected(uint32_t v, emu_sel sel, bool sign) {
    unsigned shift = sel >= EMU_SEL_WORD_0 ? 16 * (sel - EMU_SEL_WORD_0) : 8 * (sel - EMU_SEL_BYTE_0);
    unsigned bits = sel == EMU_SEL_DWORD ? 32 : sel >= EMU_SEL_WORD_0 ? 16 : 8;
    if (bits == 32) return v;
    v = v >> shift & ((1u << bits) - 1);
    return sign ? (uint32_t)sext(v, bits) : v;
}

LM void modify_half_pair(const emu_operand *o, bool unknown, uint32_t *tmp, const uint32_t *in) {
    uint32_t flip =
        unknown ? 0 : (o->mods & EMU_NEG ? 0x8000u : 0) | (o->mods & EMU_NEG_HI ? 0x80000000u : 0);
    EACH_LANE {
        uint32_t v = in[l], lo = o->mods & EMU_HALF ? v >> 16 : v & 0xffff;
        uint32_t hi = o->mods & EMU_HALF_HI ? v & 0xffff : v >> 16;
        tmp[l] = (lo | hi << 16) ^ flip;
    }
}

LM void modify_word_pair(const emu_operand *o, bool unknown, uint32_t *tmp, const uint32_t *in) {
    uint32_t flip_lo = !unknown && o->mods & EMU_NEG ? 0x80000000u : 0;
    uint32_t flip_hi = !unknown && o->mods & EMU_NEG_HI ? 0x80000000u : 0;
    EACH_LANE {
        uint32_t v0 = in[l], v1 = in[l + EMU_LANES];
        tmp[l] = (o->mods & EMU_HALF ? v1 : v0) ^ flip_lo;
        tmp[l + EMU_LANES] = (o->mods & EMU_HALF_HI ? v0 : v1) ^ flip_hi;
    }
}

/* v_fma_mix: an f32, or a half made one. The unknown bits of a half make the whole unknown. */
LM void modify_mix(const emu_operand *o, bool unknown, uint32_t *tmp, const uint32_t *in) {
    uint32_t clear = !unknown && o->mods & EMU_ABS ? 0x80000000u : 0;
    uint32_t flip = !unknown && o->mods & EMU_NEG ? 0x80000000u : 0;
    float wide[32];
    if (o->mods & EMU_HALF_HI && unknown) {
        unsigned shift = o->mods & EMU_HALF ? 16 : 0;
        EACH_LANE
        tmp[l] = in[l] >> shift & 0xffff ? 0xffffffffu : 0;
        return;
    }
    if (o->mods & EMU_HALF_HI && o->type == T_MIXB) {
        EACH_LANE
        wide[l] = bf16_to_f32(o->mods & EMU_HALF ? in[l] >> 16 : in[l] & 0xffff);
    } else if (o->mods & EMU_HALF_HI) {
        if (o->mods & EMU_HALF)
            half_block_high(wide, in);
        else
            half_block(wide, in);
    } else {
        memcpy(wide, in, sizeof wide);
    }
    EACH_LANE
    tmp[l] = (f32_bits(wide[l]) & ~clear) ^ flip;
}

LM void modify_plain(const emu_operand *o, bool unknown, uint32_t *tmp, const uint32_t *in) {
    bool half = o->type == T_B16 || o->type == T_F16 || o->type == T_BF16;
    uint32_t sign = half ? 0x8000u : 0x80000000u;
    unsigned top = o->words - 1u, shift = o->mods & EMU_HALF ? 16 : 0;
    for (unsigned word = 0; word < o->words; word++) {
        uint32_t clear = !unknown && word == top && o->mods & EMU_ABS ? sign : 0;
        uint32_t flip = !unknown && word == top && o->mods & EMU_NEG ? sign : 0;
        const uint32_t *from = in + word * EMU_LANES;
        uint32_t *to = tmp + word * EMU_LANES;
        if (o->sel) {
            EACH_LANE
            to[l] = selected(from[l], (emu_sel)o->sel, o->mods & EMU_SEXT && !unknown);
            from = to;
        }
        EACH_LANE
        to[l] = (from[l] >> shift & ~clear) ^ flip;
    }
}

/* The modifiers of `o` on the registers `in`; of unknown bits only what moves bits. `in` may be `tmp`. */
LM void emu_modify(const emu_operand *o, bool unknown, uint32_t *tmp, const uint32_t *in) {
    switch ((emu_type)o->type) {
    case T_P16:
    case T_PF16:
    case T_PBF16: modify_half_pair(o, unknown, tmp, in); break;
    case T_PF32:
    case T_P32: modify_word_pair(o, unknown, tmp, in); break;
    case T_MIX:
    case T_MIXB: modify_mix(o, unknown, tmp, in); break;
    default: modify_plain(o, unknown, tmp, in); break;
    }
}

#endif
