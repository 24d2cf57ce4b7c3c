/* Loads that transpose: an ordinary load of every lane, then elements change lanes as arch/transpose.def
 * says. */
#include "run/emu/transposed.h"

#include "arch/transpose.h"
#include "run/emu/access.h"

static const char *const NAMES[EMU_TRANSPOSED_COUNT] = {
#define TRANSPOSED(mnemonic, space, bytes, name, alignment) name,
#include "run/emu/transposed.def"
#undef TRANSPOSED
};

static const uint8_t ALIGNMENTS[EMU_TRANSPOSED_COUNT] = {
#define TRANSPOSED(mnemonic, space, bytes, name, alignment) alignment,
#include "run/emu/transposed.def"
#undef TRANSPOSED
};

void tw_emu_bind_transposed(emu_binding *b) {
    const tw_transposed_read *read = tw_transposed_by_name(b->binder->target, NAMES[b->row->lane]);
    b->out->fn.any = read;
    if (!read) b->reason = "no lane map of it is known";
}

void tw_emu_transposed_alignment(tw_emu_wave *w, const emu_inst *i, unsigned half, const uint32_t *offset,
                                 uint32_t active) {
    unsigned alignment = ALIGNMENTS[i->row->lane];
    for (uint32_t rest = alignment ? active : 0; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        int lane = (int)(half * EMU_LANES + l);
        if (!tw_emu_check_alignment(w, lane, offset[l] + (uint32_t)i->imm, alignment)) return;
    }
}

/* `bits` bits from bit `at` of a lane's registers on; elements of 6 bits cross registers. */
static uint32_t bits_at(const uint32_t *lane, unsigned at, unsigned bits) {
    unsigned word = at / 32, shift = at % 32;
    uint32_t value = lane[word * EMU_LANES] >> shift;
    if (shift + bits > 32) value |= lane[(word + 1) * EMU_LANES] << (32 - shift);
    return value & ((1u << bits) - 1);
}

static void add_bits_at(uint32_t *lane, unsigned at, unsigned bits, uint32_t value) {
    unsigned word = at / 32, shift = at % 32;
    lane[word * EMU_LANES] |= value << shift;
    if (shift + bits > 32) lane[(word + 1) * EMU_LANES] |= value >> (32 - shift);
}

static void exchange(const tw_emu_wave *w, const emu_inst *i, uint32_t *const *values, unsigned words) {
    const tw_transposed_read *read = i->fn.any;
    uint32_t from[2][4 * EMU_LANES];
    unsigned bits = read->bits;
    for (unsigned half = 0; half < w->halves; half++) {
        memcpy(from[half], values[half], words * EMU_LANES * sizeof(uint32_t));
        memset(values[half], 0, words * EMU_LANES * sizeof(uint32_t));
    }
    for (unsigned lane = 0; lane < read->wave_size; lane++) {
        for (unsigned slot = 0; slot < read->slots; slot++) {
            unsigned source = 0, element = 0;
            tw_transposed_source(read, lane, slot, &source, &element);
            uint32_t value = bits_at(from[source / EMU_LANES] + source % EMU_LANES, element * bits, bits);
            add_bits_at(values[lane / EMU_LANES] + lane % EMU_LANES, slot * bits, bits, value);
        }
    }
}

void tw_emu_transpose(tw_emu_wave *w, const emu_inst *i, uint32_t *const *value, uint32_t *const *unknown,
                      bool any[2], unsigned words) {
    for (unsigned half = 0; half < w->halves; half++) {
        if (emu_exec_half(w, half) == ~0u) continue;
        tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(~emu_exec_half(w, half)),
                      EMU_REPORT_LANES_OFF, "a load that transposes needs all lanes; this one is off");
        return;
    }
    bool some = any[0] || any[1];
    for (unsigned half = 0; some && half < w->halves; half++)
        if (!any[half]) memset(unknown[half], 0, words * EMU_LANES * sizeof(uint32_t));
    exchange(w, i, value, words);
    if (some) exchange(w, i, unknown, words);
    any[0] = any[1] = some;
}
