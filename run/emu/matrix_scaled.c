/* Matrix instructions with scales: each product times the scale of its row of A and that of its column of B.
 */
#include <math.h>

#include "run/emu/lane_math.h"
#include "run/emu/matrix.h"

/* The bits of one scale, or which of them are unknown. */
static unsigned scale_bits(const tw_emu_wave *w, const emu_matrix_scale *s, unsigned rows, unsigned row,
                           unsigned block, bool unknown) {
    unsigned lane = s->by_lane ? block * rows + row : s->lane + row, byte = s->by_lane ? s->byte : block;
    uint64_t value, bits = 0;
    const uint32_t *words;
    switch (s->operand.kind) {
    case EMU_OPERAND_VGPR:
        words = (unknown ? emu_vgpr_unknown : emu_vgpr)(w, &s->operand, lane / EMU_LANES) + lane % EMU_LANES;
        return words[byte / 4 * EMU_LANES] >> byte % 4 * 8 & 255;
    case EMU_OPERAND_SGPR:
        value = tw_emu_scalar_read(w, &s->operand, &bits);
        return (unsigned)((unknown ? bits : value) >> 8 * byte & 255);
    default:
        value = s->operand.bits[0] | (uint64_t)s->operand.bits[1] << 32;
        return unknown ? 0 : (unsigned)(value >> 8 * byte & 255);
    }
}

/* A float of 4 or 5 bits of exponent and 3 of mantissa, whose highest code is NaN. */
static double small_scale(unsigned bits, int bias, unsigned nan) {
    unsigned exponent = bits >> 3, mantissa = bits & 7;
    if (bits == nan) return NAN;
    return exponent ? ldexp(8 + mantissa, (int)exponent - bias - 3) : ldexp(mantissa, 1 - bias - 3);
}

static double scale_value(emu_matrix_scale_format format, unsigned bits) {
    switch (format) {
    case EMU_SCALE_E5M3: return small_scale(bits, 15, 255);
    case EMU_SCALE_E4M3: return (bits & 128 ? -1 : 1) * small_scale(bits & 127, 7, 127);
    default: return bits == 255 ? NAN : ldexp(1, (int)bits - 127);
    }
}

static void read_scales(const tw_emu_wave *w, const emu_matrix *x, unsigned which, unsigned rows,
                        double out[EMU_MATRIX_ROWS][EMU_MATRIX_SCALES]) {
    const emu_matrix_scale *s = &x->scale[which];
    for (unsigned row = 0; row < rows; row++)
        for (unsigned block = 0; block * s->block < x->k; block++)
            out[row][block] =
                scale_value((emu_matrix_scale_format)s->format, scale_bits(w, s, rows, row, block, false));
}

/* The sum of a float and a product of few bits rounds once: the double that holds it loses no bit that
 * decides. */
static float step_scaled(float l, float r, double left, double right, float sum) {
    if (sum != sum) return emu_matrix_quiet(sum);
    float f = (float)((double)sum + (double)l * r * (left * right));
    return f != f ? as_f32(0x7fc00000u) : f;
}

void tw_emu_matrix_multiply_scaled(const tw_emu_wave *w, const emu_matrix *x, const float *a, const float *b,
                                   float *d) {
    double left[EMU_MATRIX_ROWS][EMU_MATRIX_SCALES], right[EMU_MATRIX_ROWS][EMU_MATRIX_SCALES];
    read_scales(w, x, 0, x->m, left);
    read_scales(w, x, 1, x->n, right);
    for (unsigned row = 0; row < x->m; row++) {
        for (unsigned j = 0; j < x->n; j++) {
            float *to = d + x->d_row[row] + j;
            for (unsigned k = 0; k < x->k; k++)
                *to = step_scaled(a[x->a_row[row] + x->a_k[k]], b[x->b_k[k] + j],
                                  left[x->row[row]][k / x->scale[0].block], right[j][k / x->scale[1].block],
                                  *to);
        }
    }
}

static bool unknown_scale(const tw_emu_wave *w, const emu_matrix *x, unsigned which, unsigned rows,
                          unsigned row, unsigned k) {
    return scale_bits(w, &x->scale[which], rows, row, k / x->scale[which].block, true) != 0;
}

bool tw_emu_matrix_scale_unknown(const tw_emu_wave *w, const emu_matrix *x) {
    for (unsigned which = 0; which < 2; which++) {
        unsigned rows = which ? x->n : x->m;
        for (unsigned k = 0; k < x->k; k += x->scale[which].block)
            for (unsigned row = 0; row < rows; row++)
                if (unknown_scale(w, x, which, rows, row, k)) return true;
    }
    return false;
}

void tw_emu_matrix_unknown_scales(const tw_emu_wave *w, const emu_matrix *x, uint8_t *a, uint8_t *b) {
    for (unsigned k = 0; k < x->k; k++) {
        for (unsigned row = 0; row < x->m; row++)
            a[x->a_row[row] + x->a_k[k]] |= unknown_scale(w, x, 0, x->m, x->row[row], k);
        for (unsigned j = 0; j < x->n; j++)
            b[x->b_k[k] + j] |= unknown_scale(w, x, 1, x->n, j, k);
    }
}
