/* Matrix instructions: execution widens the operands to floats, multiplies, and narrows the result. */
#include "run/emu/matrix.h"

#include "run/emu/lane_math.h"

static const emu_matrix_loops *loops(void) {
    return tw_emu_lanes() == tw_emu_lanes_base ? &tw_emu_matrix_base : &tw_emu_matrix_v3;
}

static void apply_signs(const emu_matrix *x, const emu_matrix_operand *o, float *v) {
    if (!o->negate && !o->absolute) return;
    for (unsigned slot = 0; slot < o->slots; slot++) {
        uint32_t flip = o->negate >> (slot & 1) & 1 ? 0x80000000u : 0, keep = o->absolute ? 0x7fffffffu : ~0u;
        for (unsigned l = 0; l < x->lanes; l++) {
            float *f = v + slot * x->lanes + l;
            *f = as_f32((f32_bits(*f) & keep) ^ flip);
        }
    }
}

static void read_operand(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o,
                         const emu_matrix_operand *as, const emu_matrix_loops *run, float *out) {
    if (o->kind == EMU_OPERAND_CONST) {
        uint32_t words[EMU_LANES];
        float block[EMU_LANES];
        for (unsigned l = 0; l < EMU_LANES; l++)
            words[l] = o->bits[0];
        run->widen(&as->format, words, 1, 0, block);
        for (unsigned n = 0; n < as->slots * x->lanes; n++)
            out[n] = block[0];
    } else {
        for (unsigned half = 0; half < w->halves; half++) {
            run->widen(&as->format, emu_vgpr(w, o, half), as->slots, x->lanes, out + half * EMU_LANES);
        }
    }
    apply_signs(x, as, out);
}

static void exchange_lanes(const emu_matrix *x, float *b) {
    for (unsigned slot = 0; slot < x->b.slots; slot++) {
        float *to = b + slot * x->lanes, from[64];
        memcpy(from, to, sizeof from);
        for (unsigned l = 0; l < 64; l++)
            to[l] = from[emu_matrix_exchanged_lane(x->b_lanes, l)];
    }
}

/* The rule of the vector units, in the order of the sum: a NaN source comes out quiet, an invalid operation
 * is +NaN. */
static float sum_with_nan(const emu_matrix *x, const float *a, const float *b, const uint16_t *b_k,
                          float sum) {
    for (unsigned k = 0; k < x->k; k++) {
        float l = a[x->a_k[k]], r = b[b_k[k]];
        if (sum != sum) return emu_matrix_quiet(sum);
        sum = __builtin_fmaf(l, r, sum);
        if (l != l) return emu_matrix_quiet(l);
        if (r != r) return emu_matrix_quiet(r);
        if (sum != sum) return as_f32(0x7fc00000u);
    }
    return sum != sum ? emu_matrix_quiet(sum) : sum;
}

static void fix_nans(const emu_matrix *x, const float *a, const float *b, const float *c,
                     const emu_matrix_choice *choice, float *d) {
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned i = 0; i < x->m; i++) {
            unsigned to = x->d_block[block] + x->d_row[i];
            for (unsigned j = 0; j < x->n; j++) {
                if (d[to + j] == d[to + j]) continue;
                d[to + j] = sum_with_nan(x, a + x->a_block[block] + x->a_row[i],
                                         b + x->b_block[block] + x->b_copy[i] + j,
                                         choice ? choice->k[i] : x->b_k, c[to + j]);
            }
        }
    }
}

/* ---- f64 ---- */

static void read_double(const tw_emu_wave *w, const emu_matrix *x, const emu_operand *o,
                        const emu_matrix_operand *as, double *out) {
    uint64_t flip = as->negate ? 1ull << 63 : 0, keep = as->absolute ? ~0ull >> 1 : ~0ull;
    for (unsigned half = 0; half < w->halves; half++) {
        const uint32_t *v = o->kind == EMU_OPERAND_VGPR ? emu_vgpr(w, o, half) : NULL;
        for (unsigned slot = 0; slot < as->slots; slot++) {
            for (unsigned l = 0; l < EMU_LANES; l++) {
                const uint32_t *low = v ? v + 2 * slot * EMU_LANES + l : NULL;
                uint64_t bits =
                    low ? low[0] | (uint64_t)low[EMU_LANES] << 32 : o->bits[0] | (uint64_t)o->bits[1] << 32;
                out[slot * x->lanes + half * EMU_LANES + l] = as_f64((bits & keep) ^ flip);
            }
        }
    }
}

static double step_double(double a, double b, double sum) {
    double r = __builtin_fma(a, b, sum);
    if (r == r) return r;
    double source = sum != sum ? sum : a != a ? a : b;
    return source != source ? as_f64(f64_bits(source) | 1ull << 51) : as_f64(0x7ff8000000000000u);
}

static void run_double(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    double a[256], b[256], d[256];
    read_double(w, x, &i->s[0], &x->a, a);
    read_double(w, x, &i->s[1], &x->b, b);
    read_double(w, x, &i->s[2], &x->c, d);
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned row = 0; row < x->m; row++) {
            const double *l = a + x->a_block[block] + x->a_row[row], *r = b + x->b_block[block];
            double *to = d + x->d_block[block] + x->d_row[row];
            for (unsigned k = 0; k < x->k; k++) {
                for (unsigned j = 0; j < x->n; j++)
                    to[j] = step_double(l[x->a_k[k]], r[x->b_k[k] + j], to[j]);
            }
        }
    }
    tw_emu_matrix_store(w, i, x, NULL, NULL, d);
}

/* gfx1200 and gfx1201 add, and saturate, the products of the first of each two groups of eight k, then those
 * of the second (captures of a gfx1201 in github.com/bjacob/goc; gfx11 there saturates once). */
static void run_stages(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *a, const float *b,
                       const emu_matrix_choice *choice) {
    float d[2][EMU_MATRIX_ELEMENTS];
    for (unsigned stage = 0; stage < 2; stage++) {
        emu_matrix part = *x;
        emu_matrix_choice chosen;
        part.k = 0;
        for (unsigned k = 0; k < x->k; k++) {
            if (k / 8 % 2 != stage) continue;
            part.a_k[part.k] = x->a_k[k];
            part.b_k[part.k] = x->b_k[k];
            for (unsigned row = 0; x->sparse && row < x->m; row++)
                chosen.k[row][part.k] = choice->k[row][k];
            part.k++;
        }
        memset(d[stage], 0, sizeof **d * x->d.slots * x->lanes);
        if (x->sparse)
            loops()->multiply_sparse(&part, a, b, &chosen, d[stage]);
        else
            loops()->multiply(&part, a, b, d[stage]);
    }
    tw_emu_matrix_store(w, i, x, d[0], d[1], NULL);
}

static void run_single(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x) {
    const emu_matrix_loops *run = loops();
    emu_matrix_choice choice;
    float a[EMU_MATRIX_ELEMENTS], b[EMU_MATRIX_ELEMENTS], c[EMU_MATRIX_ELEMENTS], d[EMU_MATRIX_ELEMENTS];
    read_operand(w, x, &i->s[0], &x->a, run, a);
    read_operand(w, x, &i->s[1], &x->b, run, b);
    if (x->b_lanes) exchange_lanes(x, b);
    if (x->integer)
        memset(d, 0, sizeof *d * x->d.slots * x->lanes);
    else
        read_operand(w, x, &i->s[2], &x->c, run, d);
    if (x->sparse) tw_emu_matrix_choose(w, x, false, &choice);
    if (x->staged) {
        run_stages(w, i, x, a, b, &choice);
        return;
    }
    if (x->scaled) {
        tw_emu_matrix_multiply_scaled(w, x, a, b, d);
    } else if (x->sparse ? run->multiply_sparse(x, a, b, &choice, d) : run->multiply(x, a, b, d)) {
        if (x->integer)
            memset(c, 0, sizeof *c * x->d.slots * x->lanes);
        else
            read_operand(w, x, &i->s[2], &x->c, run, c);
        fix_nans(x, a, b, c, x->sparse ? &choice : NULL, d);
    }
    tw_emu_matrix_store(w, i, x, d, NULL, NULL);
}

/* EXEC and MODE have no say: all lanes take part, sums round to nearest even, as the host does between
 * instructions. */
void tw_emu_exec_matrix(tw_emu_wave *w, const emu_inst *i) {
    const emu_matrix *x = i->fn.any;
    if (x->a.format.kind == EMU_MATRIX_DOUBLE)
        run_double(w, i, x);
    else
        run_single(w, i, x);
}
