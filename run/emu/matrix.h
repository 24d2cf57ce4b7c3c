/* Matrix instructions: the record that decoding makes of one, and the loops that the host's vector units run.
 */
#ifndef TW_RUN_EMU_MATRIX_H
#define TW_RUN_EMU_MATRIX_H

#include "arch/matrix.h"
#include "run/emu/exec.h"

enum {
    EMU_MATRIX_ROWS = 32, /* of A and D in a block */
    EMU_MATRIX_K = 128,
    EMU_MATRIX_BLOCKS = 16,
    EMU_MATRIX_SCALES = 8,      /* of a row */
    EMU_MATRIX_ELEMENTS = 4096, /* of an operand in a wave: lanes times slots */
    EMU_MATRIX_WORDS = 32       /* registers of an operand */
};

/* How an element becomes a float. */
typedef enum emu_matrix_kind {
    EMU_MATRIX_FLOAT32 = 0,
    EMU_MATRIX_HALF,
    EMU_MATRIX_BFLOAT,
    EMU_MATRIX_SMALL, /* up to 8 bits */
    EMU_MATRIX_INTEGER,
    EMU_MATRIX_DOUBLE
} emu_matrix_kind;

typedef struct emu_matrix_format {
    uint8_t kind, bits;
    uint8_t mantissa;      /* of a small float: its bits */
    bool negative_nan;     /* -0 is the only NaN */
    uint8_t infinity, nan; /* magnitudes: that infinity has, where NaN begins (255: none) */
    bool is_signed;        /* an integer */
    bool flush;            /* denormals are zero */
    float scale;           /* 2 ^ (127 - bias) */
    uint32_t mask;         /* of a float: the bits that count */
} emu_matrix_format;

typedef struct emu_matrix_operand {
    emu_matrix_format format;
    uint16_t slots;
    uint8_t negate; /* bit 0: even slots, bit 1: odd ones */
    bool absolute;
} emu_matrix_operand;

typedef enum emu_matrix_scale_format {
    EMU_SCALE_E8 = 0, /* an exponent */
    EMU_SCALE_E5M3,   /* without a sign */
    EMU_SCALE_E4M3,
    EMU_SCALE_FORMATS
} emu_matrix_scale_format;

/* The scales of the rows of A or the columns of B, one byte for `block` k of each. */
typedef struct emu_matrix_scale {
    emu_operand operand;
    uint8_t format, block;
    bool by_lane; /* lane block * rows + row has them in `byte`; else lane + row, in the byte of that block */
    uint8_t byte, lane;
} emu_matrix_scale;

/* Places count elements: slot * lanes + lane. The places of a row, a k, a column and a block add up; a column
 * is the low bits of the lane. */
typedef struct emu_matrix {
    uint8_t lanes, blocks, m, n, k; /* k: columns of A, at most 128 */
    uint8_t b_lanes;                /* how B's lanes are exchanged (blgp) */
    bool clamp, scaled, sparse;
    bool staged;       /* clamp holds for the products of every other eight k, and again for the rest */
    uint8_t index_bit; /* of the lowest entry of the index */
    emu_matrix_operand a, b, c, d;
    emu_matrix_scale scale[2]; /* of A and B */
    emu_operand index;
    bool integer;                 /* C and D are integers of 32 bits */
    bool half;                    /* gfx11: results of 16 bits fill one half of their register */
    uint8_t high;                 /* ... the upper one */
    uint8_t row[EMU_MATRIX_ROWS]; /* the order of rows: those that read one copy of A and B together */
    uint16_t a_row[EMU_MATRIX_ROWS], d_row[EMU_MATRIX_ROWS], b_copy[EMU_MATRIX_ROWS];
    uint16_t a_k[EMU_MATRIX_K], b_k[EMU_MATRIX_K];
    /* Of the index: row and k add up to entry * lanes + lane. */
    uint16_t index_row[EMU_MATRIX_ROWS], index_k[EMU_MATRIX_K / 2];
    uint16_t a_block[EMU_MATRIX_BLOCKS], b_block[EMU_MATRIX_BLOCKS], d_block[EMU_MATRIX_BLOCKS];
} emu_matrix;

/* Where each element of a sparse A finds its row of B: rows in the order of emu_matrix. */
typedef struct emu_matrix_choice {
    uint16_t k[EMU_MATRIX_ROWS][EMU_MATRIX_K / 2];
    bool unknown[EMU_MATRIX_ROWS]; /* an entry has an unknown bit */
} emu_matrix_choice;

/* Compiled for the base instruction set and for AVX2. */
typedef struct emu_matrix_loops {
    /* Slots of 32 lanes, `stride` apart; `registers` is the operand's first register. */
    void (*widen)(const emu_matrix_format *f, const uint32_t *registers, unsigned slots, unsigned stride,
                  float *out);
    /* d += a * b; whether a NaN came out. */
    bool (*multiply)(const emu_matrix *x, const float *a, const float *b, float *d);
    bool (*multiply_sparse)(const emu_matrix *x, const float *a, const float *b,
                            const emu_matrix_choice *choice, float *d);
} emu_matrix_loops;
extern const emu_matrix_loops tw_emu_matrix_base, tw_emu_matrix_v3;

/* `unknown`: fill that too. */
void tw_emu_matrix_choose(const tw_emu_wave *w, const emu_matrix *x, bool unknown, emu_matrix_choice *choice);
void tw_emu_matrix_multiply_scaled(const tw_emu_wave *w, const emu_matrix *x, const float *a, const float *b,
                                   float *d);
bool tw_emu_matrix_scale_unknown(const tw_emu_wave *w, const emu_matrix *x);
/* Marks the elements of A and B whose scale has an unknown bit. */
void tw_emu_matrix_unknown_scales(const tw_emu_wave *w, const emu_matrix *x, uint8_t *a, uint8_t *b);
/* Stores the elements of D: `d`, or those of f64 from `wide`. `second`: the sums of the second stage, or
 * NULL. */
void tw_emu_matrix_store(tw_emu_wave *w, const emu_inst *i, const emu_matrix *x, const float *d,
                         const float *second, const double *wide);

/* Where lane `lane` of B comes from (CDNA3 ISA, BLGP). */
static inline unsigned emu_matrix_exchanged_lane(unsigned how, unsigned lane) {
    switch (how) {
    case 1: return lane % 32;
    case 2: return lane % 32 + 32;
    case 3: return (lane + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7: return lane % 16 + 16 * (how - 4);
    default: return lane;
    }
}

static inline float emu_matrix_quiet(float f) {
    union {
        float f;
        uint32_t bits;
    } u = {f};
    u.bits |= 0x400000u;
    return u.f;
}

/* Instructions, in the order of matrix.def. */
enum {
#define MATRIX(mnemonic, atom, flags) EMU_MATRIX_##mnemonic,
#define ALIAS(name, row)
#include "run/emu/matrix.def"
#undef MATRIX
#undef ALIAS
    EMU_MATRIX_COUNT
};

#endif
