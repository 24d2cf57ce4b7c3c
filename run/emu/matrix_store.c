/* The result of a matrix instruction: its bits, and which of them are unknown. */
#include "run/emu/lane_math.h"
#include "run/emu/matrix.h"

/* What is unknown: the results that an element with an unknown bit has a part in. */

typedef struct unknown_places {
    uint8_t a[EMU_MATRIX_ELEMENTS], b[EMU_MATRIX_ELEMENTS], d[EMU_MATRIX_ELEMENTS];
} unknown_places;

static bool may_be_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    bool any = false;
    for (unsigned k = 0; k < i->sources; k++)
        any |= i->s[k].kind == EMU_OPERAND_VGPR && tw_emu_vector_unknown(w, &i->s[k]);
    if (x->sparse) any |= tw_emu_vector_unknown(w, &x->index);
    return any || (x->scaled && tw_emu_matrix_scale_unknown(w, x));
}

static void unknown_operand(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o, unsigned bits,
                            unsigned slots, uint8_t *out) {
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *u = o->kind == EMU_OPERAND_VGPR ? emu_vgpr_unknown(w, o, half) : NULL;
        for (unsigned slot = 0; slot < slots; slot++) {
            unsigned word = slot * bits / 32, shift = slot * bits % 32;
            for (unsigned l = 0; l < EMU_LANES; l++) {
                uint64_t v = u ? u[word * EMU_LANES + l] : 0;
                if (u && shift + bits > 32) v |= (uint64_t)u[(word + 1) * EMU_LANES + l] << 32;
                out[slot * x->lanes + half * EMU_LANES + l] = (v >> shift & mask) != 0;
            }
        }
    }
}

static void find_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, unknown_places *u) {
    unknown_operand(w, x, &i->s[0], x->a.format.bits, x->a.slots, u->a);
    unknown_operand(w, x, &i->s[1], x->b.format.bits, x->b.slots, u->b);
    unknown_operand(w, x, &i->s[2], x->c.format.bits, x->c.slots, u->d);
    for (unsigned slot = 0; x->b_lanes && slot < x->b.slots; slot++) {
        uint8_t *to = u->b + slot * x->lanes, from[64];
        memcpy(from, to, sizeof from);
        for (unsigned l = 0; l < 64; l++)
            to[l] = from[emu_matrix_exchanged_lane(x->b_lanes, l)];
    }
    if (x->scaled) tw_emu_matrix_unknown_scales(w, x, u->a, u->b);
    emu_matrix_choice choice;
    if (x->sparse) tw_emu_matrix_choose(w, x, true, &choice);
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned row = 0; row < x->m; row++) {
            const uint8_t *a = u->a + x->a_block[block] + x->a_row[row];
            const uint8_t *b = u->b + x->b_block[block] + x->b_copy[row];
            const uint16_t *b_k = x->sparse ? choice.k[row] : x->b_k;
            uint8_t *d = u->d + x->d_block[block] + x->d_row[row], bad = x->sparse && choice.unknown[row];
            for (unsigned k = 0; k < x->k; k++)
                bad |= a[x->a_k[k]];
            for (unsigned j = 0; j < x->n; j++) {
                d[j] |= bad;
                for (unsigned k = 0; k < x->k; k++)
                    d[j] |= b[b_k[k] + j];
            }
        }
    }
}

static uint32_t narrow_half(const tw_emu_wave *w, float f, bool bfloat) {
    uint32_t r = bfloat ? f32_to_bf16_nearest(f) : f32_to_half_nearest(f);
    uint32_t infinity = bfloat ? 0x7f80u : 0x7c00u;
    return w->lane_mode & EMU_MODE_FP16_OVFL && (r & 0x7fff) == infinity ? r - 1 : r;
}

/* The words of C: D may be stored over them before all are read. */
static void read_sums(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, uint32_t *out) {
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *c = i->s[2].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[2], half) : NULL;
        for (unsigned word = 0; word < i->d.words; word++)
            for (unsigned l = 0; l < EMU_LANES; l++)
                out[word * x->lanes + half * EMU_LANES + l] = c ? c[word * EMU_LANES + l] : i->s[2].bits[0];
    }
}

static uint32_t add_integer(const emu_matrix *x, uint32_t c, float sum) {
    int64_t r = (int64_t)(int32_t)c + (int64_t)sum;
    if (x->clamp) r = r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r;
    return (uint32_t)r;
}

/* One word of one block of lanes. `sums`: C of integers. */
static void result_word(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *d,
                        const float *second, const uint32_t *sums, unsigned word, unsigned half,
                        uint32_t *out) {
    if (x->d.format.bits == 16) {
        const float *low = d + 2 * word * x->lanes + half * EMU_LANES, *high = low + x->lanes;
        bool bfloat = x->d.format.kind == EMU_MATRIX_BFLOAT;
        const uint32_t *old = emu_vgpr(w, &i->d, half) + word * EMU_LANES;
        for (unsigned l = 0; l < EMU_LANES; l++) {
            uint32_t lo = x->half && x->high ? old[l] & 0xffff : narrow_half(w, low[l], bfloat);
            uint32_t hi = x->half && !x->high ? old[l] >> 16 : narrow_half(w, high[l], bfloat);
            out[l] = lo | hi << 16;
        }
        return;
    }
    const float *from = d + word * x->lanes + half * EMU_LANES;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t bits = f32_bits(from[l]);
        if (x->integer) {
            bits = add_integer(x, sums[word * x->lanes + half * EMU_LANES + l], from[l]);
            if (second) bits = add_integer(x, bits, second[word * x->lanes + half * EMU_LANES + l]);
        } else if (x->a.format.flush && !(bits & 0x7f800000u)) {
            bits &= 0x80000000u;
        }
        out[l] = bits;
    }
}

static void unknown_word(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const uint8_t *d,
                         unsigned word, unsigned half, uint32_t *out) {
    const uint32_t *old = emu_vgpr_unknown(w, &i->d, half) + word * EMU_LANES;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        unsigned lane = half * EMU_LANES + l;
        if (x->d.format.bits == 16) {
            const uint8_t *low = d + 2 * word * x->lanes + lane, *high = low + x->lanes;
            uint32_t lo = x->half && x->high ? old[l] & 0xffff : *low ? 0xffffu : 0;
            uint32_t hi = x->half && !x->high ? old[l] & 0xffff0000u : *high ? 0xffff0000u : 0;
            out[l] = lo | hi;
        } else {
            out[l] = d[word * 32 / x->d.format.bits * x->lanes + lane] ? ~0u : 0;
        }
    }
}

static bool old_half_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    return x->half && tw_emu_vector_unknown(w, &i->d);
}

void tw_emu_matrix_store(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *d,
                         const float *second, const double *wide) {
    unknown_places u;
    bool any = w->shadow && (may_be_unknown(w, i, x) || old_half_unknown(w, i, x));
    if (any) find_unknown(w, i, x, &u);
    uint32_t sums[EMU_MATRIX_ELEMENTS];
    if (x->integer) read_sums(w, i, x, sums);
    bool plain = !wide && x->d.format.bits == 32 && !x->integer && !x->a.format.flush;
    for (unsigned word = 0; word < i->d.words; word++) {
        for (unsigned half = 0; half < w->halves; half++) {
            uint32_t bits[EMU_LANES], unknown[EMU_LANES];
            if (plain) {
                memcpy(bits, d + word * x->lanes + half * EMU_LANES, sizeof bits);
            } else if (wide) {
                const double *from = wide + word / 2 * x->lanes + half * EMU_LANES;
                for (unsigned l = 0; l < EMU_LANES; l++)
                    bits[l] = (uint32_t)(f64_bits(from[l]) >> (word % 2 * 32));
            } else {
                result_word(w, i, x, d, second, sums, word, half, bits);
            }
            if (any) unknown_word(w, i, x, u.d, word, half, unknown);
            tw_emu_vector_store(w, &i->d, word, half, ~0u, bits, any ? unknown : NULL);
        }
    }
}
