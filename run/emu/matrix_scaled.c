/* Matrix instructions with scales. */
#include "run/emu/lane_math.h"
#include "run/emu/matrix.h"

/* The exponents of a block of 32 k: lane (k / 32) * rows + row of the scale operand, one of its bytes. 255 is
 * NaN. */
static void read_scales(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o, unsigned which,
                        uint8_t *out) {
    for (unsigned l = 0; l < x->lanes; l++) {
        uint32_t v = o->kind == EMU_OPERAND_CONST  ? o->bits[0]
                     : o->kind == EMU_OPERAND_SGPR ? w->s[o->reg]
                                                   : emu_vgpr(w, o, l / EMU_LANES)[l % EMU_LANES];
        out[l] = (uint8_t)(v >> 8 * x->scale_byte[which]);
    }
}

static float step_scaled(float l, float r, unsigned left, unsigned right, float sum) {
    if (sum != sum) return emu_matrix_quiet(sum);
    if (left == 255 || right == 255) return as_f32(0x7fc00000u);
    double product = (double)l * r * as_f64((uint64_t)(left + right - 254 + 1023) << 52);
    float f = (float)((double)sum + product);
    return f != f ? as_f32(0x7fc00000u) : f;
}

void tw_emu_matrix_multiply_scaled(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x,
                                   const float *a, const float *b, float *d) {
    uint8_t left[64], right[64];
    read_scales(w, x, &i->s[3], 0, left);
    read_scales(w, x, &x->b_scale, 1, right);
    for (unsigned row = 0; row < x->m; row++) {
        for (unsigned j = 0; j < x->n; j++) {
            float *to = d + x->d_row[row] + j;
            for (unsigned k = 0; k < x->k; k++)
                *to = step_scaled(a[x->a_row[row] + x->a_k[k]], b[x->b_k[k] + j],
                                  left[k / 32 * x->m + x->row[row]], right[k / 32 * x->n + j], *to);
        }
    }
}

/* Which lanes' scale has an unknown bit. A scalar operand counts as whole. */
static bool unknown_scales(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o, unsigned which,
                           uint8_t *out) {
    uint64_t scalar = 0;
    bool any = false;
    if (o->kind == EMU_OPERAND_SGPR) tw_emu_scalar_read(w, o, &scalar);
    for (unsigned l = 0; l < x->lanes; l++) {
        uint32_t v = o->kind == EMU_OPERAND_VGPR ? emu_vgpr_unknown(w, o, l / EMU_LANES)[l % EMU_LANES]
                                                 : (uint32_t)scalar;
        out[l] = (v >> 8 * x->scale_byte[which] & 255) != 0;
        any |= out[l];
    }
    return any;
}

bool tw_emu_matrix_scale_unknown(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    uint8_t lanes[64];
    return unknown_scales(w, x, &i->s[3], 0, lanes) || unknown_scales(w, x, &x->b_scale, 1, lanes);
}

void tw_emu_matrix_unknown_scales(const tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, uint8_t *a,
                                  uint8_t *b) {
    uint8_t left[64], right[64];
    unknown_scales(w, x, &i->s[3], 0, left);
    unknown_scales(w, x, &x->b_scale, 1, right);
    for (unsigned k = 0; k < x->k; k++) {
        for (unsigned row = 0; row < x->m; row++)
            a[x->a_row[row] + x->a_k[k]] |= left[k / 32 * x->m + x->row[row]];
        for (unsigned j = 0; j < x->n; j++)
            b[x->b_k[k] + j] |= right[k / 32 * x->n + j];
    }
}
