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

/* gfx12: A as the dense instruction of half the k has it; its index entries lie in the same lane. */
static inline matrix_place gfx12_a(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    matrix_shape half = {s->wave, 1, s->m, s->n, s->k / 2};
    if (bits == 4 && s->k == 32) return (matrix_place){i + 16 * (k / 8), k % 8};
    return gfx12_input(&half, s->m, bits, 0, i, k);
}

static inline matrix_place gfx12_index(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    return gfx12_a(s, bits, i, k);
}

/* Whatever the lanes of a row have of four k of A, they have the four k of B. */
static inline matrix_place gfx12_b(const matrix_shape *s, unsigned bits, unsigned j, unsigned k) {
    matrix_place pair = gfx12_a(s, bits, j, k / 4 * 2);
    return (matrix_place){pair.lane, pair.slot * 2 + k % 4};
}

/* gfx1250: runs of 8 (16-bit) or 16 (8-bit) elements of A go around the two groups of lanes, of B twice as
 * many k. The first half of a row's entries is in the first group of lanes. */
static inline matrix_place gfx1250_a(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    unsigned run = 128 / bits;
    (void)s;
    return (matrix_place){k / run % 2 * 16 + i, k / run / 2 * run + k % run};
}

static inline matrix_place gfx1250_b(const matrix_shape *s, unsigned bits, unsigned j, unsigned k) {
    unsigned run = 256 / bits;
    (void)s;
    return (matrix_place){k / run % 2 * 16 + j, k / run / 2 * run + k % run};
}

static inline matrix_place gfx1250_index(const matrix_shape *s, unsigned bits, unsigned i, unsigned k) {
    (void)bits;
    return (matrix_place){k / (s->k / 4) * 16 + i, k % (s->k / 4)};
}

#endif
