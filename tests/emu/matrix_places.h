/* Where the documents say that elements of matrix operands lie, as formulas from the element to lane and
 * slot. */
#ifndef TW_TESTS_EMU_MATRIX_PLACES_H
#define TW_TESTS_EMU_MATRIX_PLACES_H

typedef struct matrix_shape {
    unsigned wave, blocks, m, n, k;
} matrix_shape;

typedef struct matrix_place {
    unsigned lane, slot;
} matrix_place;

/* Element `i` of the rows of A or the columns of B (`size` of them), at `k`; `bits` of an element. */
typedef matrix_place matrix_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                  unsigned i, unsigned k);
typedef matrix_place matrix_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                   unsigned j);

static inline matrix_place mfma_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                      unsigned i, unsigned k) {
    unsigned groups = 64 / (size * s->blocks), e = s->k / groups, group = k / e, slot = k % e;
    if (e > 16 && bits >= 8) { /* bytes of a 128-byte row: runs of 16 */
        group = k / 16 % groups;
        slot = k / 16 / groups * 16 + k % 16;
    }
    return (matrix_place){block * size + group * size * s->blocks + i, slot};
}

static inline matrix_place mfma_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                       unsigned j) {
    (void)bits;
    unsigned side_by_side = 256 / (s->m * s->n) > 1 ? 256 / (s->m * s->n) : 1; /* blocks in a register */
    unsigned groups = 64 / s->n;
    return (matrix_place){block % side_by_side * s->n + i / 4 % groups * side_by_side * s->n + j,
                          block * (s->m * s->n / 64) + i / (4 * groups) * 4 + i % 4};
}

static inline matrix_place mfma64_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                        unsigned i, unsigned k) {
    return mfma_input(s, size, bits, block, i, k);
}

static inline matrix_place mfma64_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                         unsigned j) {
    (void)bits;
    return s->n == 4 ? (matrix_place){16 * i + 4 * block + j, 0} : (matrix_place){i % 4 * 16 + j, i / 4};
}

static inline matrix_place gfx11_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                       unsigned i, unsigned k) {
    (void)s, (void)size, (void)bits, (void)block;
    return (matrix_place){i, k}; /* and in the other groups of 16 lanes */
}

static inline matrix_place gfx11_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                        unsigned j) {
    unsigned rows = s->wave / 16;
    (void)block;
    return (matrix_place){i % rows * 16 + j, i / rows * (bits == 16 ? 2 : 1)};
}

static inline matrix_place gfx12_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                       unsigned i, unsigned k) {
    (void)size, (void)block;
    if (bits == 4) {
        if (s->k == 16) return (matrix_place){i + 16 * (k / 8), k % 8};
        return s->wave == 32 ? (matrix_place){i + 16 * (k / 8 % 2), k % 8 + 8 * (k / 16)}
                             : (matrix_place){i + 32 * (k / 8 % 2) + 16 * (k / 16), k % 8};
    }
    if (s->wave == 32)
        return bits == 8 ? (matrix_place){i + 16 * (k / 8), k % 8}
                         : (matrix_place){i + 16 * (k / 4 % 2), k % 4 + k / 8 * 4};
    return bits == 8 ? (matrix_place){32 * (k / 4 % 2) + 16 * (k / 8) + i, k % 4}
                     : (matrix_place){16 * (k / 4) + i, k % 4};
}

static inline matrix_place gfx12_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                        unsigned j) {
    (void)bits, (void)block;
    return s->wave == 32 ? (matrix_place){i / 8 * 16 + j, i % 8}
                         : (matrix_place){32 * (i / 4 % 2) + 16 * (i / 8) + j, i % 4};
}

/* Runs of 2 f32, 8 halves, 16 bytes, or 32 elements of 4 and 6 bits go around the two groups of lanes. Rows
 * 16 to 31 come after all of the others. */
static inline matrix_place gfx1250_input(const matrix_shape *s, unsigned size, unsigned bits, unsigned block,
                                         unsigned i, unsigned k) {
    (void)size, (void)block;
    unsigned run = bits == 32 ? 2 : bits == 16 ? 8 : bits == 8 ? 16 : 32;
    return (matrix_place){i % 16 + 16 * (k / run % 2), i / 16 * (s->k / 2) + run * (k / (2 * run)) + k % run};
}

static inline matrix_place gfx1250_output(const matrix_shape *s, unsigned bits, unsigned block, unsigned i,
                                          unsigned j) {
    matrix_place at = gfx12_output(s, bits, block, i % 16, j);
    return (matrix_place){at.lane, at.slot + i / 16 * 8};
}

#endif
