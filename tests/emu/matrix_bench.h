/* What the suites of matrix instructions share: instructions as the documents have them, matrices, kernels.
 */
#ifndef TW_TESTS_EMU_MATRIX_BENCH_H
#define TW_TESTS_EMU_MATRIX_BENCH_H

#include "support/strbuf.h"
#include "tests/emu/harness.h"
#include "tests/emu/matrix_places.h"

enum {
    GFX90A = 1,
    GFX942 = 2,
    _950 = 4,
    _940 = GFX942 | _950,
    _11 = 8 | 16,
    GFX1200 = 32,
    GFX1201 = 64,
    _1250 = 128
};
typedef enum format { F16, BF16, F32, XF32, F64, FP8, BF8, FP6, BF6, FP4, I8, U8, I4, U4, I32 } format;

typedef struct instruction {
    unsigned targets, wave;
    const char *mnemonic, *modifiers;
    format a, b, c, d;
    matrix_shape shape;
    matrix_input *input;
    matrix_output *output;
} instruction;
extern const char *const MATRIX_TARGETS[8];
extern const unsigned MATRIX_BITS[];     /* by format */
extern const instruction MATRIX_TABLE[]; /* matrix.def */
extern const unsigned MATRIX_COUNT;
extern const char MATRIX_HEAD[];                                                    /* of a module */
extern bool matrix_fnuz;                                                            /* what fp8 and bf8 are */
extern uint64_t MATRIX_A[16][32][128], MATRIX_B[16][128][32], MATRIX_C[16][32][32]; /* by block: codes */

enum { MAX_WORDS = 32 };

/* [lane][word], as the kernels load and store them */
typedef struct registers {
    unsigned words;
    uint32_t w[64 * MAX_WORDS];
} registers;

typedef struct bench {
    harness h;
    unsigned bit, wave;
    int host; /* how the host rounds during a launch; 0: as it does */
    uint64_t a, b, c, d;
    registers ra, rb, rc, rd;
} bench;

void matrix_put(registers *r, unsigned bits, matrix_place at, uint64_t value);
uint64_t matrix_get(const registers *r, unsigned bits, matrix_place at);
unsigned matrix_words(const instruction *t, char operand);
double matrix_decode(format f, uint64_t bits);
uint64_t matrix_encode(format f, double v);
uint64_t matrix_random(format f, uint32_t *seed);
void matrix_append_type(tw_strbuf *ir, unsigned words);
void matrix_append_load(tw_strbuf *ir, char name, unsigned words);
void matrix_append_kernel(tw_strbuf *ir, const instruction *t, unsigned number, char kind, const char *more);
char matrix_plain_kind(const instruction *t);
tw_code_object *matrix_compile(const char *target, const char *text, size_t length);
bool matrix_serves(const bench *x, const instruction *t);
void matrix_clear(bench *x, const instruction *t);
void matrix_load(bench *x, const instruction *t);
void matrix_check(const bench *x, const instruction *t, const char *what);
void matrix_run_with(bench *x, const instruction *t, char kind, const char *more);
const instruction *matrix_find(const bench *x, const char *mnemonic);
void matrix_start(bench *x, const char *target);
void matrix_fill(const instruction *t, uint32_t *seed);
void matrix_expect(const bench *x, const instruction *t, unsigned i, unsigned j, uint64_t want);

#endif
