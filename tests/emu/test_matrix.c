/* Matrix instructions, assembled by LLVM, against sums over matrices that formulas of the documents put into
 * registers. */
#include <stdio.h>
#include <string.h>

#include "arch/matrix.h"
#include "tests/emu/matrix_bench.h"

/* ---- the maps of arch/ ---- */

typedef struct named {
    const char *mnemonic, *atom; /* of an alias: the other mnemonic */
} named;
static const named NAMES[] = {
#define MATRIX(mnemonic, atom, flags) {#mnemonic, atom},
#define ALIAS(name, row)              {#name, #row},
#include "run/emu/matrix.def"
};

static const char *atom_named(const char *mnemonic) {
    for (size_t k = 0; k < sizeof NAMES / sizeof NAMES[0]; k++)
        if (!strcmp(NAMES[k].mnemonic, mnemonic))
            return NAMES[k].atom[0] == 'v' ? atom_named(NAMES[k].atom) : NAMES[k].atom;
    fail_msg("no row for %s", mnemonic);
    return NULL;
}

static const tw_matrix_atom *atom_of(const instruction *t, tw_target target, format f) {
    static const char *const FORMAT[] = {
        [FP8] = "fp8", [BF8] = "bf8", [FP6] = "fp6", [BF6] = "bf6", [FP4] = "fp4"};
    char name[64];
    snprintf(name, sizeof name, "%s", atom_named(t->mnemonic));
    if (name[strlen(name) - 1] == '.') strcat(name, FORMAT[f]);
    const tw_matrix_atom *atom = tw_matrix_unit_by_name(target, name);
    if (!atom) fail_msg("no atom %s", name);
    return atom;
}

static void check_place(const instruction *t, const tw_matrix_atom *atom, tw_matrix_operand operand,
                        unsigned block, unsigned row, unsigned column, matrix_place want) {
    unsigned lane, slot, back_row, back_column, back_block;
    assert_int_equal(tw_matrix_place(atom, operand, block, row, column, &lane, &slot), TW_OK);
    if (lane != want.lane || slot != want.slot)
        fail_msg("%s: operand %u, block %u, (%u, %u) is in lane %u, slot %u, not %u, %u", t->mnemonic,
                 (unsigned)operand, block, row, column, lane, slot, want.lane, want.slot);
    assert_int_equal(tw_matrix_element(atom, operand, lane, slot, &back_row, &back_column), TW_OK);
    assert_int_equal(tw_matrix_block(atom, operand, lane, slot, &back_block), TW_OK);
    assert_true(back_row == row && back_column == column && back_block == block);
}

/* A product does not show an order of k that A and B share: the maps are compared themselves. */
static void check_maps(const instruction *t, tw_target target) {
    const matrix_shape *s = &t->shape;
    const tw_matrix_atom *a = atom_of(t, target, t->a), *b = atom_of(t, target, t->b);
    tw_matrix_info info = tw_matrix_atom_info(a);
    assert_true(info.m == s->m && info.n == s->n && info.k == s->k && info.blocks == s->blocks);
    for (unsigned block = 0; block < s->blocks; block++) {
        for (unsigned k = 0; k < s->k; k++) {
            for (unsigned i = 0; i < s->m; i++)
                check_place(t, a, TW_MATRIX_A, block, i, k,
                            t->input(s, s->m, MATRIX_BITS[t->a], block, i, k));
            for (unsigned j = 0; j < s->n; j++)
                check_place(t, b, TW_MATRIX_B, block, k, j,
                            t->input(s, s->n, MATRIX_BITS[t->b], block, j, k));
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                check_place(t, a, TW_MATRIX_D, block, i, j, t->output(s, MATRIX_BITS[t->d], block, i, j));
    }
    unsigned none;
    assert_int_equal(tw_matrix_place(a, TW_MATRIX_A, s->blocks, 0, 0, &none, &none), TW_ERR_USAGE);
    assert_int_equal(tw_matrix_place(a, TW_MATRIX_A, 0, s->m, 0, &none, &none), TW_ERR_USAGE);
    assert_int_equal(tw_matrix_block(a, TW_MATRIX_A, s->wave, 0, &none), TW_ERR_USAGE);
}

static void maps(void **state) {
    (void)state;
    for (unsigned n = 0; n < MATRIX_COUNT; n++)
        for (unsigned k = 0; k < 8; k++) {
            tw_target target;
            if (!(MATRIX_TABLE[n].targets >> k & 1)) continue;
            assert_int_equal(tw_target_parse(MATRIX_TARGETS[k], &target, NULL), TW_OK);
            target.wave_size = (uint8_t)MATRIX_TABLE[n].wave;
            check_maps(&MATRIX_TABLE[n], target);
        }
}

/* ---- all instructions of a target in one object ---- */

static void open_bench(bench *x, const char *name) {
    tw_strbuf ir;
    matrix_start(x, name);
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, MATRIX_HEAD);
    for (unsigned n = 0; n < MATRIX_COUNT; n++) {
        if (!matrix_serves(x, &MATRIX_TABLE[n])) continue;
        matrix_append_kernel(&ir, &MATRIX_TABLE[n], n, matrix_plain_kind(&MATRIX_TABLE[n]), "");
        if (x->bit & (GFX90A | _940)) matrix_append_kernel(&ir, &MATRIX_TABLE[n], n, 'a', "");
    }
    harness_open_object(&x->h, matrix_compile(name, tw_strbuf_text(&ir), ir.length), name);
    tw_strbuf_free(&ir);
    x->a = harness_buffer(&x->h, "a", NULL, sizeof x->ra.w);
    x->b = harness_buffer(&x->h, "b", NULL, sizeof x->rb.w);
    x->c = harness_buffer(&x->h, "c", NULL, sizeof x->rc.w);
    x->d = harness_buffer(&x->h, "d", NULL, sizeof x->rd.w);
}

static void run(bench *x, unsigned number, char kind) {
    char name[16];
    snprintf(name, sizeof name, "m%u%c", number, kind);
    harness_write(&x->h, x->a, x->ra.w, sizeof x->ra.w);
    harness_write(&x->h, x->b, x->rb.w, sizeof x->rb.w);
    harness_write(&x->h, x->c, x->rc.w, sizeof x->rc.w);
    harness_write(&x->h, x->d, x->rd.w, sizeof x->rd.w);
    RUN(&x->h, name, 1, x->wave, PTR(x->d), PTR(x->a), PTR(x->b), PTR(x->c));
    harness_read(&x->h, x->d, x->rd.w, sizeof x->rd.w);
}

static void random_integers(void **state) {
    bench x;
    uint32_t seed = 7;
    open_bench(&x, *state);
    unsigned seen = 0;
    for (unsigned n = 0; n < MATRIX_COUNT; n++) {
        const instruction *t = &MATRIX_TABLE[n];
        const matrix_shape *s = &t->shape;
        if (!matrix_serves(&x, t)) continue;
        matrix_clear(&x, t);
        for (unsigned block = 0; block < s->blocks; block++) {
            for (unsigned k = 0; k < s->k; k++) {
                for (unsigned i = 0; i < s->m; i++)
                    MATRIX_A[block][i][k] = matrix_random(t->a, &seed);
                for (unsigned j = 0; j < s->n; j++)
                    MATRIX_B[block][k][j] = matrix_random(t->b, &seed);
            }
            for (unsigned i = 0; i < s->m; i++)
                for (unsigned j = 0; j < s->n; j++)
                    MATRIX_C[block][i][j] = matrix_random(t->c, &seed);
        }
        matrix_load(&x, t);
        run(&x, n, matrix_plain_kind(t));
        matrix_check(&x, t, "random integers");
        if (x.bit & (GFX90A | _940)) {
            run(&x, n, 'a');
            matrix_check(&x, t, "AGPRs");
        }
        seen++;
    }
    assert_true(seen > 5);
    harness_close(&x.h);
}

/* cbsz, abid: blocks of A are shared by groups of 2 ^ cbsz. */
static void blocks_are_broadcast(void **state) {
    static const char *const WHICH[] = {"v_mfma_f32_4x4x4_16b_f16", "v_mfma_f32_16x16x4_4b_f16",
                                        "v_mfma_f32_32x32x4_2b_f16"};
    static const unsigned MOST[] = {4, 2, 1};
    static uint64_t before[16][32][128];
    bench x;
    uint32_t seed = 3;
    (void)state;
    matrix_start(&x, "gfx942");
    for (unsigned which = 0; which < 3; which++) {
        for (unsigned cbsz = 1; cbsz <= MOST[which]; cbsz++) {
            const instruction *t = matrix_find(&x, WHICH[which]);
            unsigned abid = (1u << cbsz) - 1;
            char more[32];
            matrix_clear(&x, t);
            matrix_fill(t, &seed);
            matrix_load(&x, t);
            snprintf(more, sizeof more, " cbsz:%u abid:%u", cbsz, abid);
            matrix_run_with(&x, t, 'v', more);
            memcpy(before, MATRIX_A, sizeof MATRIX_A);
            for (unsigned block = 0; block < t->shape.blocks; block++)
                memcpy(MATRIX_A[block], before[(block >> cbsz << cbsz) + abid], sizeof MATRIX_A[block]);
            matrix_check(&x, t, more);
        }
    }
}

/* blgp: which lane of B each lane takes, as the ISA lists it. */
static void lanes_of_b_are_exchanged(void **state) {
    static const struct {
        const char *modifier;
        int from[4]; /* by groups of 16 lanes */
    } HOW[] = {{" blgp:1", {0, 1, 0, 1}}, {" blgp:2", {2, 3, 2, 3}}, {" blgp:3", {1, 2, 3, 0}},
               {" blgp:4", {0, 0, 0, 0}}, {" blgp:5", {1, 1, 1, 1}}, {" blgp:6", {2, 2, 2, 2}},
               {" blgp:7", {3, 3, 3, 3}}};
    bench x;
    uint32_t seed = 4;
    (void)state;
    matrix_start(&x, "gfx90a");
    const instruction *t = matrix_find(&x, "v_mfma_f32_16x16x1f32"); /* lane 16 * block + j holds B(0, j) */
    for (unsigned h = 0; h < sizeof HOW / sizeof HOW[0]; h++) {
        static uint64_t before[16][128][32];
        matrix_clear(&x, t);
        matrix_fill(t, &seed);
        matrix_load(&x, t);
        matrix_run_with(&x, t, 'v', HOW[h].modifier);
        memcpy(before, MATRIX_B, sizeof MATRIX_B);
        for (unsigned block = 0; block < 4; block++)
            memcpy(MATRIX_B[block], before[HOW[h].from[block]], sizeof MATRIX_B[block]);
        matrix_check(&x, t, HOW[h].modifier);
    }
}

int main(void) {
    static char names[12][20] = {"gfx90a",         "gfx942",  "gfx950",         "gfx1100",
                                 "gfx1100:wave64", "gfx1151", "gfx1151:wave64", "gfx1200",
                                 "gfx1200:wave64", "gfx1201", "gfx1201:wave64", "gfx1250"};
    struct CMUnitTest tests[12 + 3];
    size_t count = 0;
    for (unsigned k = 0; k < 12; k++)
        tests[count++] = (struct CMUnitTest){names[k], random_integers, NULL, NULL, names[k]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(maps);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(blocks_are_broadcast);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(lanes_of_b_are_exchanged);
    return _cmocka_run_group_tests("matrix", tests, count, NULL, NULL);
}
