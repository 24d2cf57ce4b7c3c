/* Products and sums of products that are flushed though they round to the smallest normal number. */
#include <fenv.h>

#include "run/emu/lane_math.h"
#include "run/emu/valu.h"

static double part_of(emu_type type, const uint32_t *v, unsigned l, unsigned part) {
    switch (type) {
    case T_F32: return as_f32(v[l]);
    case T_PF32: return as_f32(v[l + part * EMU_LANES]);
    default: return half_to_f32(v[l] >> (16 * part) & 0xffff);
    }
}

/* Rounded to as many bits as a normal number has: the sum with `shift` has that step as its last bit. */
bool tw_emu_is_tiny(bool single, double a, double b, double c, int direction) {
    double smallest = single ? 0x1p-126 : 0x1p-14, shift = single ? 0x1.8p-98 : 0x1.8p27;
    volatile double s = sum_to_odd(a * b, c), rounded;
    if (direction != FE_TONEAREST) fesetround(direction);
    rounded = s + shift;
    rounded -= shift;
    if (direction != FE_TONEAREST) fesetround(FE_TONEAREST);
    return __builtin_fabs(rounded) < smallest;
}

void tw_emu_flush_tiny(const emu_inst *i, const emu_block_sources *src, int direction, uint32_t *d) {
    emu_type type = (emu_type)i->row->dst;
    bool single = type == T_F32 || type == T_PF32, added = i->row->src[2] != T_NONE;
    unsigned parts = type == T_PF32 || type == T_PF16 ? 2 : 1;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        for (unsigned part = 0; part < parts; part++) {
            uint32_t *word = single ? &d[l + part * EMU_LANES] : &d[l];
            unsigned at = single ? 0 : 16 * part;
            uint32_t magnitude = single ? 0x7fffffffu : 0x7fffu << at,
                     normal = single ? 0x00800000u : 0x400u << at;
            if ((*word & magnitude) != normal) continue;
            double c = added ? part_of((emu_type)i->row->src[2], src->s[2], l, part) : 0;
            if (tw_emu_is_tiny(single, part_of((emu_type)i->row->src[0], src->s[0], l, part),
                               part_of((emu_type)i->row->src[1], src->s[1], l, part), c, direction))
                *word &= ~normal;
        }
    }
}
