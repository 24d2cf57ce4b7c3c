/* Where the documents say that elements of sparse matrix instructions lie: of A by its own columns (two for
 * each four k), of B by k, and the bit of an index entry for each element of A. */
#ifndef TW_TESTS_EMU_SPARSE_PLACES_H
#define TW_TESTS_EMU_SPARSE_PLACES_H

#include "tests/emu/matrix_places.h"

/* Element `i` of the rows of A or the columns of B; `k` counts columns of A or rows of B. */
typedef matrix_place sparse_place(const matrix_shape *s, unsigned bits, unsigned i, unsigned k);

/* Lanes in groups of m: the columns of A in as many runs as there are groups. */
static inline matrix_place smfmac_a(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    unsigned run = s->k / 2 / (64 / s->m);
    (void)bits;
    return (matrix_place){k / run * s->m + i, k % run};
}

/* B in runs of 16 bytes that go around the groups. */
static inline matrix_place smfmac_b(const matrix_shape *s, unsigned bits, unsigned j, unsigned k) {
    unsigned run = 128 / bits, groups = 64 / s->n;
    return (matrix_place){k / run % groups * s->n + j, k / run / groups * run + k % run};
}

static inline matrix_place smfmac_index(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    return smfmac_a(s, bits, i, k);
}

#endif
