/* What matrix instructions make of denormals, NaN, overflow and the modifiers of their operands. */
#include <string.h>

#include "support/float_formats.h"
#include "tests/emu/matrix_bench.h"

/* Smallest denormals of f16: kept, but on gfx90a. */
static void denormals(void **state) {
    const char *target = *state;
    bench x;
    matrix_start(&x, target);
    bool flush = x.bit == GFX90A;
    const instruction *t = matrix_find(&x, x.bit == _1250 ? "v_wmma_f32_16x16x32_f16"
                                           : x.wave == 32 ? "v_wmma_f32_16x16x16_f16"
                                           : flush        ? "v_mfma_f32_16x16x16f16"
                                                          : "v_mfma_f32_16x16x16_f16");
    matrix_clear(&x, t);
    MATRIX_A[0][0][3] = 1; /* 2^-24 */
    MATRIX_B[0][3][0] = 0x4000;
    MATRIX_A[0][1][3] = 0x4000;
    MATRIX_B[0][3][1] = 1;
    MATRIX_C[0][2][2] = 1; /* 2^-149 */
    MATRIX_C[0][3][3] = 0x80000001u;
    matrix_load(&x, t);
    matrix_run_with(&x, t, 'v', "");
    matrix_expect(&x, t, 0, 0, flush ? 0 : 0x34000000u);
    matrix_expect(&x, t, 1, 1, flush ? 0 : 0x34000000u);
    matrix_expect(&x, t, 2, 2, flush ? 0 : 1);
    matrix_expect(&x, t, 3, 3, flush ? 0 : 0x80000001u); /* -0 + 0 */
}

static void nans_and_infinities(void **state) {
    bench x;
    matrix_start(&x, *state);
    const instruction *t = matrix_find(&x, x.bit == _1250    ? "v_wmma_f32_16x16x32_f16"
                                           : x.wave == 32    ? "v_wmma_f32_16x16x16_f16"
                                           : x.bit == GFX90A ? "v_mfma_f32_16x16x16f16"
                                                             : "v_mfma_f32_16x16x16_f16");
    matrix_clear(&x, t);
    MATRIX_A[0][0][1] = 0x7c00; /* inf * 0 */
    MATRIX_A[0][1][2] = 0xfd23; /* a signalling NaN */
    MATRIX_A[0][2][2] = 0x3c00;
    MATRIX_B[0][5][3] = 0xfc00;
    MATRIX_A[0][3][5] = 0x3c00; /* 1 * -inf */
    MATRIX_C[0][3][3] = 0x7f800000u;
    MATRIX_A[0][4][5] = 0x3c00;
    matrix_load(&x, t);
    matrix_run_with(&x, t, 'v', "");
    matrix_expect(&x, t, 0, 0, 0x7fc00000u);
    matrix_expect(&x, t, 1, 0, 0xffe46000u);
    matrix_expect(&x, t, 2, 0, 0);
    matrix_expect(&x, t, 3, 3, 0x7fc00000u);
    matrix_expect(&x, t, 4, 3, 0xff800000u);
}

static void integers_saturate(void **state) {
    bench x;
    (void)state;
    matrix_start(&x, "gfx1201");
    const instruction *t = matrix_find(&x, "v_wmma_i32_16x16x16_iu8");
    matrix_clear(&x, t);
    MATRIX_A[0][0][0] = MATRIX_B[0][0][0] = 255;
    MATRIX_C[0][0][0] = 0x7fffffff;
    matrix_load(&x, t);
    matrix_run_with(&x, t, 'v', "");
    matrix_expect(&x, t, 0, 0, 0x7fffffffu + 255u * 255u);
    matrix_run_with(&x, t, 'v', " clamp");
    matrix_expect(&x, t, 0, 0, 0x7fffffffu);
}

/* Products 1 of the first stage lift the sum over the limit, products -1 of the second take it back. */
static void integers_saturate_in_stages(void **state) {
    static const struct {
        const char *target, *mnemonic;
        uint32_t want, want_low;
    } CASES[] = {{"gfx1100", "v_wmma_i32_16x16x16_iu8", 0x7fffffff, 0x80000000u},
                 {"gfx1201", "v_wmma_i32_16x16x16_iu8", 0x7fffffff - 8, 0x80000008u},
                 {"gfx1200", "v_wmma_i32_16x16x16_iu4", 0x7fffffff - 8, 0x80000008u},
                 {"gfx1201", "v_wmma_i32_16x16x32_iu4", 0x7fffffff - 16, 0x80000010u}};
    (void)state;
    for (unsigned n = 0; n < 4; n++) {
        bench x;
        matrix_start(&x, CASES[n].target);
        instruction own = *matrix_find(&x, CASES[n].mnemonic), *t = &own;
        own.modifiers = "";
        uint64_t minus_one = strstr(CASES[n].mnemonic, "iu8") ? 255 : 15;
        matrix_clear(&x, t);
        for (unsigned k = 0; k < t->shape.k; k++) {
            MATRIX_A[0][0][k] = k / 8 % 2 ? minus_one : 1;
            MATRIX_A[0][1][k] = k / 8 % 2 ? 1 : minus_one;
            MATRIX_B[0][k][0] = 1;
        }
        MATRIX_C[0][0][0] = 0x7fffffff;
        MATRIX_C[0][1][0] = 0x80000000u;
        matrix_load(&x, t);
        matrix_run_with(&x, t, 'v', " neg_lo:[1,0,0] clamp");
        matrix_expect(&x, t, 0, 0, CASES[n].want);
        matrix_expect(&x, t, 1, 0, CASES[n].want_low);
    }
}

static void signs(void **state) {
    bench x;
    (void)state;
    matrix_start(&x, "gfx1100");
    const instruction *t = matrix_find(&x, "v_wmma_f32_16x16x16_f16");
    matrix_clear(&x, t);
    MATRIX_A[0][0][0] = MATRIX_A[0][0][1] = 0x3c00; /* 1 */
    MATRIX_B[0][0][0] = 0x4000;                     /* 2 */
    MATRIX_B[0][1][0] = 0x4400;                     /* 4 */
    MATRIX_C[0][0][0] = tw_f32_bits(-8);
    matrix_load(&x, t);
    matrix_run_with(&x, t, 'v', " neg_lo:[1,0,0]"); /* the even k */
    matrix_expect(&x, t, 0, 0, tw_f32_bits(-6));
    matrix_run_with(&x, t, 'v', " neg_hi:[0,1,0]"); /* the odd ones */
    matrix_expect(&x, t, 0, 0, tw_f32_bits(-10));
    matrix_run_with(&x, t, 'v', " neg_lo:[0,0,1]");
    matrix_expect(&x, t, 0, 0, tw_f32_bits(14));
    matrix_run_with(&x, t, 'v', " neg_hi:[0,0,1]"); /* of C the magnitude */
    matrix_expect(&x, t, 0, 0, tw_f32_bits(14));
    matrix_run_with(&x, t, 'v', " neg_lo:[0,0,1] neg_hi:[0,0,1]");
    matrix_expect(&x, t, 0, 0, tw_f32_bits(-2));
}

/* gfx11: a 16-bit result goes to the half that op_sel names; the other half stays. */
static void upper_halves(void **state) {
    bench x;
    uint32_t seed = 5;
    (void)state;
    matrix_start(&x, "gfx1100");
    const instruction *t = matrix_find(&x, "v_wmma_f16_16x16x16_f16");
    matrix_clear(&x, t);
    matrix_fill(t, &seed);
    matrix_load(&x, t);
    for (unsigned w = 0; w < 32 * x.rc.words; w++) /* C in the upper halves */
        x.rc.w[w] = x.rc.w[w] << 16 | 0x1234;
    matrix_run_with(&x, t, 'h', " op_sel:[0,0,1]");
    for (unsigned w = 0; w < 32 * x.rd.words; w++) {
        assert_int_equal(x.rd.w[w] & 0xffff, 0x1234);
        x.rd.w[w] >>= 16;
    }
    matrix_check(&x, t, "upper halves");
}

/* C is read before any of D is written: compilers let four registers of each overlap. */
static void overlapping_sums(void **state) {
    bench x;
    uint32_t seed = 11;
    matrix_start(&x, *state);
    const char *const names[] = {x.bit == GFX90A ? "v_mfma_i32_16x16x16i8" : "v_mfma_i32_16x16x32_i8",
                                 x.bit == GFX90A ? "v_mfma_f32_16x16x16f16" : "v_mfma_f32_16x16x16_f16"};
    for (unsigned i = 0; i < 2; i++) {
        const instruction *t = matrix_find(&x, names[i]);
        matrix_clear(&x, t);
        matrix_fill(t, &seed);
        matrix_load(&x, t);
        matrix_run_with(&x, t, 'o', "");
        matrix_check(&x, t, "overlapping sums");
    }
}

int main(void) {
    static char plain[8][8] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                               "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    struct CMUnitTest tests[16 + 3 + 4];
    size_t count = 0;
    for (unsigned k = 0; k < 8; k++)
        tests[count++] = (struct CMUnitTest){"denormals", denormals, NULL, NULL, plain[k]};
    for (unsigned k = 0; k < 8; k++)
        tests[count++] =
            (struct CMUnitTest){"nans_and_infinities", nans_and_infinities, NULL, NULL, plain[k]};
    for (unsigned k = 0; k < 3; k++)
        tests[count++] = (struct CMUnitTest){"overlapping_sums", overlapping_sums, NULL, NULL, plain[k]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(integers_saturate);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(integers_saturate_in_stages);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(signs);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(upper_halves);
    return _cmocka_run_group_tests("matrix modes", tests, count, NULL, NULL);
}
