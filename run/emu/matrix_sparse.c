/* Sparse matrix instructions: of each four k a row of A has two elements, and an index says which two. */
#include "run/emu/matrix.h"

static unsigned entry(const tw_emu_wave *w, const emu_matrix *x, unsigned row, unsigned k, bool unknown) {
    unsigned place = x->index_row[row] + x->index_k[k], lane = place % x->lanes;
    unsigned bit = x->index_bit + place / x->lanes * 2, half = lane / EMU_LANES;
    const uint32_t *words = unknown ? emu_vgpr_unknown(w, &x->index, half) : emu_vgpr(w, &x->index, half);
    return words[bit / 32 * EMU_LANES + lane % EMU_LANES] >> bit % 32 & 3;
}

void tw_emu_matrix_choose(const tw_emu_wave *w, const emu_matrix *x, bool unknown,
                          emu_matrix_choice *choice) {
    for (unsigned row = 0; row < x->m; row++) {
        choice->unknown[row] = false;
        for (unsigned k = 0; k < x->k; k++) {
            choice->k[row][k] = x->b_k[k / 2 * 4 + entry(w, x, row, k, false)];
            if (unknown && entry(w, x, row, k, true)) choice->unknown[row] = true;
        }
    }
}
