/* Sparse matrix instructions, assembled by LLVM, against sums over matrices that formulas of the documents
 * put into registers. */
#include <stdio.h>
#include <string.h>

#include "arch/matrix.h"
#include "tests/emu/matrix_bench.h"
#include "tests/emu/sparse_places.h"

typedef struct sparse {
    instruction t; /* its maps are not used for A and B */
    sparse_place *a, *b, *index;
} sparse;
#define S(targets, wave, mnemonic, modifiers, a, b, c, d, m, k, map)                                  \
    {{targets, wave, mnemonic, modifiers, a, b, c, d, {wave, 1, m, m, k}, map##_input, map##_output}, \
     map##_a,                                                                                         \
     map##_b,                                                                                         \
     map##_index},
#define smfmac_input  mfma_input
#define smfmac_output mfma_output
static const sparse TABLE[] = {
#include "tests/emu/sparse.def"
};
enum { COUNT = sizeof TABLE / sizeof TABLE[0] };

typedef struct sparse_bench {
    bench x;
    uint64_t index;
    registers rx;
} sparse_bench;

/* Of element k of row i of A: which of its four rows of B. */
static uint8_t CHOICE[32][64];

static unsigned a_words(const sparse *s) {
    return s->t.shape.m * s->t.shape.k / 2 * MATRIX_BITS[s->t.a] / (32 * s->t.shape.wave);
}

static unsigned index_words(const sparse *s) {
    unsigned bits = s->t.shape.m * s->t.shape.k / s->t.shape.wave;
    return bits > 32 ? bits / 32 : 1;
}

/* ---- kernels ---- */

static void append_sparse(tw_strbuf *ir, const sparse *s, unsigned number, const char *more) {
    unsigned wd = matrix_words(&s->t, 'c'); /* the result overwrites C */
    tw_strbuf_printf(
        ir,
        "define amdgpu_kernel void @s%u(ptr addrspace(1) %%d, ptr addrspace(1) %%a, ptr addrspace(1) %%b, "
        "ptr addrspace(1) %%c, ptr addrspace(1) %%x) #0 {\n"
        "  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n",
        number);
    matrix_append_load(ir, 'a', a_words(s));
    matrix_append_load(ir, 'b', matrix_words(&s->t, 'b'));
    matrix_append_load(ir, 'c', wd);
    matrix_append_load(ir, 'x', index_words(s));
    tw_strbuf_append(ir, "  %r = call ");
    matrix_append_type(ir, wd);
    bool clamp = !strcmp(more, " clamp"); /* stands last */
    tw_strbuf_printf(ir,
                     " asm sideeffect \"s_nop 15\\0As_nop 15\\0A%s $0, $1, $2, $3%s%s\\0As_nop 15\\0As_nop "
                     "15\", \"=v,v,v,v,0\"(",
                     s->t.mnemonic, clamp ? s->t.modifiers : more, clamp ? more : s->t.modifiers);
    matrix_append_type(ir, a_words(s));
    tw_strbuf_append(ir, " %va, ");
    matrix_append_type(ir, matrix_words(&s->t, 'b'));
    tw_strbuf_append(ir, " %vb, ");
    matrix_append_type(ir, index_words(s));
    tw_strbuf_append(ir, " %vx, ");
    matrix_append_type(ir, wd);
    tw_strbuf_printf(
        ir, " %%vc)\n  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n  store ", wd);
    matrix_append_type(ir, wd);
    tw_strbuf_append(ir, " %r, ptr addrspace(1) %pd, align 4\n  ret void\n}\n");
}

static void open_sparse(sparse_bench *y, const char *target, const sparse *only, const char *more) {
    tw_strbuf ir;
    memset(y, 0, sizeof *y);
    matrix_start(&y->x, target);
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, MATRIX_HEAD);
    for (unsigned n = 0; n < COUNT; n++)
        if (matrix_serves(&y->x, &TABLE[n].t) && (!only || only == &TABLE[n]))
            append_sparse(&ir, &TABLE[n], n, more);
    harness_open_object(&y->x.h, matrix_compile(target, tw_strbuf_text(&ir), ir.length), target);
    tw_strbuf_free(&ir);
    y->x.a = harness_buffer(&y->x.h, "a", NULL, sizeof y->x.ra.w);
    y->x.b = harness_buffer(&y->x.h, "b", NULL, sizeof y->x.rb.w);
    y->x.c = harness_buffer(&y->x.h, "c", NULL, sizeof y->x.rc.w);
    y->x.d = harness_buffer(&y->x.h, "d", NULL, sizeof y->x.rd.w);
    y->index = harness_buffer(&y->x.h, "index", NULL, sizeof y->rx.w);
}

static void run_sparse(sparse_bench *y, const sparse *s) {
    char name[16];
    snprintf(name, sizeof name, "s%u", (unsigned)(s - TABLE));
    harness_write(&y->x.h, y->x.a, y->x.ra.w, sizeof y->x.ra.w);
    harness_write(&y->x.h, y->x.b, y->x.rb.w, sizeof y->x.rb.w);
    harness_write(&y->x.h, y->x.c, y->x.rc.w, sizeof y->x.rc.w);
    harness_write(&y->x.h, y->x.d, y->x.rd.w, sizeof y->x.rd.w);
    harness_write(&y->x.h, y->index, y->rx.w, sizeof y->rx.w);
    RUN(&y->x.h, name, 1, y->x.wave, PTR(y->x.d), PTR(y->x.a), PTR(y->x.b), PTR(y->x.c), PTR(y->index));
    harness_read(&y->x.h, y->x.d, y->x.rd.w, sizeof y->x.rd.w);
}

/* ---- matrices ---- */

static void clear_sparse(sparse_bench *y, const sparse *s) {
    matrix_clear(&y->x, &s->t);
    memset(&y->rx, 0, sizeof y->rx);
    memset(CHOICE, 0, sizeof CHOICE);
    y->x.ra.words = a_words(s);
    y->rx.words = index_words(s);
    y->x.rd.words = y->x.rc.words;
}

/* The entries of the index go to set `set` of their register. */
static void load_sparse(sparse_bench *y, const sparse *s, unsigned set) {
    const matrix_shape *shape = &s->t.shape;
    unsigned a = MATRIX_BITS[s->t.a], b = MATRIX_BITS[s->t.b],
             entries = shape->m * shape->k / 2 / shape->wave;
    for (unsigned i = 0; i < shape->m; i++) {
        for (unsigned k = 0; k < shape->k / 2; k++) {
            matrix_place at = s->index(shape, a, i, k);
            matrix_put(&y->x.ra, a, s->a(shape, a, i, k), MATRIX_A[0][i][k]);
            matrix_put(&y->rx, 2, (matrix_place){at.lane, at.slot + set * entries}, CHOICE[i][k]);
        }
        for (unsigned j = 0; j < shape->n; j++)
            matrix_put(&y->x.rc, MATRIX_BITS[s->t.c], s->t.output(shape, MATRIX_BITS[s->t.c], 0, i, j),
                       MATRIX_C[0][i][j]);
    }
    for (unsigned j = 0; j < shape->n; j++)
        for (unsigned k = 0; k < shape->k; k++)
            matrix_put(&y->x.rb, b, s->b(shape, b, j, k), MATRIX_B[0][k][j]);
}

static void check_sparse(const sparse_bench *y, const sparse *s, const char *what) {
    const matrix_shape *shape = &s->t.shape;
    for (unsigned i = 0; i < shape->m; i++) {
        for (unsigned j = 0; j < shape->n; j++) {
            double sum = matrix_decode(s->t.c, MATRIX_C[0][i][j]);
            for (unsigned k = 0; k < shape->k / 2; k++)
                sum += matrix_decode(s->t.a, MATRIX_A[0][i][k]) *
                       matrix_decode(s->t.b, MATRIX_B[0][k / 2 * 4 + CHOICE[i][k]][j]);
            uint64_t want = matrix_encode(s->t.d, sum);
            uint64_t got =
                matrix_get(&y->x.rd, MATRIX_BITS[s->t.d], s->t.output(shape, MATRIX_BITS[s->t.d], 0, i, j));
            if (got != want)
                fail_msg("%s%s, %s: D(%u, %u) is %llx, not %llx", s->t.mnemonic, s->t.modifiers, what, i, j,
                         (unsigned long long)got, (unsigned long long)want);
        }
    }
}

static void fill_sparse(const sparse *s, uint32_t *seed) {
    matrix_fill(&s->t, seed);
    for (unsigned i = 0; i < s->t.shape.m; i++)
        for (unsigned k = 0; k < s->t.shape.k / 2; k++)
            CHOICE[i][k] = (uint8_t)(harness_random(seed) >> 16 & 3);
}

static void random_integers(void **state) {
    sparse_bench y;
    uint32_t seed = 31;
    unsigned seen = 0;
    open_sparse(&y, *state, NULL, "");
    for (unsigned n = 0; n < COUNT; n++) {
        if (!matrix_serves(&y.x, &TABLE[n].t)) continue;
        clear_sparse(&y, &TABLE[n]);
        fill_sparse(&TABLE[n], &seed);
        load_sparse(&y, &TABLE[n], 0);
        run_sparse(&y, &TABLE[n]);
        check_sparse(&y, &TABLE[n], "random integers");
        seen++;
    }
    assert_true(seen > 5);
    harness_close(&y.x.h);
}

/* One element of each row of A is not zero, another one in each run: the row of B that it names comes out. */
static void one_hot(void **state) {
    sparse_bench y;
    uint32_t seed = 32;
    open_sparse(&y, *state, NULL, "");
    for (unsigned n = 0; n < COUNT; n++) {
        const sparse *s = &TABLE[n];
        if (!matrix_serves(&y.x, &s->t)) continue;
        for (unsigned turn = 0; turn < s->t.shape.k / 2; turn++) {
            clear_sparse(&y, s);
            fill_sparse(s, &seed);
            memset(MATRIX_A, 0, sizeof MATRIX_A);
            memset(MATRIX_C, 0, sizeof MATRIX_C);
            for (unsigned i = 0; i < s->t.shape.m; i++)
                while (matrix_decode(s->t.a, MATRIX_A[0][i][(i + turn) % (s->t.shape.k / 2)]) != 1)
                    MATRIX_A[0][i][(i + turn) % (s->t.shape.k / 2)] = matrix_random(s->t.a, &seed);
            load_sparse(&y, s, 0);
            run_sparse(&y, s);
            check_sparse(&y, s, "one element a row");
        }
    }
    harness_close(&y.x.h);
}

static const sparse *find_sparse(const char *mnemonic, unsigned wave) {
    for (unsigned n = 0; n < COUNT; n++)
        if (!strcmp(TABLE[n].t.mnemonic, mnemonic) && (!wave || TABLE[n].t.wave == wave)) return &TABLE[n];
    fail_msg("no %s", mnemonic);
    return NULL;
}

/* Which set of a register holds the entries. */
static void sets_are_selected(void **state) {
    static const struct {
        const char *target, *mnemonic, *more;
        unsigned set;
    } CASES[] = {{"gfx942", "v_smfmac_f32_16x16x32_f16", " abid:3", 3},
                 {"gfx942", "v_smfmac_f32_32x32x16_bf16", " abid:2", 2},
                 {"gfx942", "v_smfmac_f32_16x16x32_f16", " cbsz:1 abid:2", 0},
                 {"gfx950", "v_smfmac_i32_32x32x32_i8", " abid:1", 1},
                 {"gfx1201", "v_swmmac_f32_16x16x32_bf16", " index_key:1", 1},
                 {"gfx1200", "v_swmmac_f32_16x16x32_fp8_bf8", " index_key:1", 1},
                 {"gfx1200:wave64", "v_swmmac_f16_16x16x32_f16", " index_key:3", 3},
                 {"gfx1201:wave64", "v_swmmac_f32_16x16x32_bf8_fp8", " index_key:2", 2},
                 {"gfx1201:wave64", "v_swmmac_i32_16x16x64_iu4", " index_key:1", 1}};
    uint32_t seed = 33;
    (void)state;
    for (unsigned c = 0; c < sizeof CASES / sizeof CASES[0]; c++) {
        const sparse *s = find_sparse(CASES[c].mnemonic, strchr(CASES[c].target, ':') ? 64 : 0);
        sparse_bench y;
        open_sparse(&y, CASES[c].target, s, CASES[c].more);
        clear_sparse(&y, s);
        fill_sparse(s, &seed);
        for (unsigned l = 0; l < 64; l++) /* other sets say something else */
            y.rx.w[l] = harness_random(&seed);
        load_sparse(&y, s, CASES[c].set);
        run_sparse(&y, s);
        check_sparse(&y, s, CASES[c].more);
        harness_close(&y.x.h);
    }
}

static void unknown_sets_are_refused(void **state) {
    static const char *const CASES[][3] = {{"gfx950", "v_smfmac_f32_16x16x64_f16", " abid:1"},
                                           {"gfx1250", "v_swmmac_f32_16x16x64_f16", " index_key:1"},
                                           {"gfx1250", "v_swmmac_i32_16x16x128_iu8", " index_key:1"}};
    (void)state;
    for (unsigned c = 0; c < 3; c++) {
        const sparse *s = find_sparse(CASES[c][1], 0);
        sparse_bench y;
        char name[16];
        open_sparse(&y, CASES[c][0], s, CASES[c][2]);
        snprintf(name, sizeof name, "s%u", (unsigned)(s - TABLE));
        assert_int_equal(
            TRY(&y.x.h, name, 1, y.x.wave, PTR(y.x.d), PTR(y.x.a), PTR(y.x.b), PTR(y.x.c), PTR(y.index)),
            TW_ERR_DEVICE);
        assert_non_null(strstr(tw_diag_text(y.x.h.diag), "a set of indices that is not known"));
        harness_close(&y.x.h);
    }
}

/* bf16f32: C fills eight registers, D the lower four of them. */
static void upper_registers_stay(void **state) {
    const sparse *s = find_sparse("v_swmmac_bf16f32_16x16x64_bf16", 0);
    sparse_bench y;
    uint32_t seed = 34;
    (void)state;
    open_sparse(&y, "gfx1250", s, "");
    clear_sparse(&y, s);
    fill_sparse(s, &seed);
    load_sparse(&y, s, 0);
    run_sparse(&y, s);
    check_sparse(&y, s, "bf16f32");
    for (unsigned w = 0; w < 32 * 8; w++)
        if (w % 8 >= 4) assert_int_equal(y.x.rd.w[w], y.x.rc.w[w]);
    harness_close(&y.x.h);
}

/* An infinity times zero, and a NaN. */
static void nans(void **state) {
    const sparse *s = find_sparse("v_smfmac_f32_16x16x32_f16", 0);
    sparse_bench y;
    (void)state;
    open_sparse(&y, "gfx942", s, "");
    clear_sparse(&y, s);
    MATRIX_A[0][0][4] = 0x7c00;
    CHOICE[0][4] = 2; /* row 10 */
    MATRIX_B[0][10][1] = 0x3c00;
    MATRIX_B[0][9][0] = 0x3c00;
    MATRIX_A[0][1][4] = 0xfd23;
    MATRIX_B[0][8][3] = 0x7d00;
    load_sparse(&y, s, 0);
    run_sparse(&y, s);
    matrix_expect(&y.x, &s->t, 0, 0, 0x7fc00000u);
    matrix_expect(&y.x, &s->t, 0, 1, 0x7f800000u);
    matrix_expect(&y.x, &s->t, 1, 0, 0xffe46000u);
    matrix_expect(&y.x, &s->t, 2, 3, 0x7fe00000u); /* 0 * NaN of the first row of each four */
    matrix_expect(&y.x, &s->t, 2, 2, 0);
    harness_close(&y.x.h);
}

/* Under clamp a sum saturates after the products of the first of each two groups of eight elements of A, and
 * again after the others. */
static void sums_saturate_in_stages(void **state) {
    static const struct {
        const char *target, *mnemonic;
    } CASES[] = {{"gfx1201", "v_swmmac_i32_16x16x32_iu8"},
                 {"gfx1200", "v_swmmac_i32_16x16x32_iu4"},
                 {"gfx1201", "v_swmmac_i32_16x16x64_iu4"}};
    uint32_t seed = 35;
    (void)state;
    for (unsigned n = 0; n < 3; n++) {
        sparse_bench y;
        const sparse *s = TABLE;
        while (strcmp(s->t.mnemonic, CASES[n].mnemonic) || strcmp(s->t.modifiers, " neg_lo:[1,0,0]") ||
               s->t.shape.wave != 32)
            s++;
        open_sparse(&y, CASES[n].target, s, " clamp");
        clear_sparse(&y, s);
        fill_sparse(s, &seed);
        unsigned columns = s->t.shape.k / 2;
        uint64_t minus_one = strstr(s->t.mnemonic, "iu8") ? 255 : 15;
        for (unsigned k = 0; k < columns; k++)
            MATRIX_A[0][0][k] = k / 8 % 2 ? minus_one : 1;
        for (unsigned k = 0; k < s->t.shape.k; k++)
            MATRIX_B[0][k][0] = 1;
        MATRIX_C[0][0][0] = 0x7fffffff;
        load_sparse(&y, s, 0);
        run_sparse(&y, s);
        assert_int_equal(matrix_get(&y.x.rd, 32, s->t.output(&s->t.shape, 32, 0, 0, 0)),
                         0x7fffffff - columns / 2);
        harness_close(&y.x.h);
    }
}

/* ---- the maps of arch/ ---- */

static void check_entry(const sparse *s, const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned row,
                        unsigned column, matrix_place want) {
    unsigned lane, slot, back_row, back_column;
    assert_int_equal(tw_matrix_place(atom, operand, 0, row, column, &lane, &slot), TW_OK);
    if (lane != want.lane || slot != want.slot)
        fail_msg("%s: operand %u, (%u, %u) is in lane %u, slot %u, not %u, %u", s->t.mnemonic,
                 (unsigned)operand, row, column, lane, slot, want.lane, want.slot);
    assert_int_equal(tw_matrix_element(atom, operand, lane, slot, &back_row, &back_column), TW_OK);
    assert_true(back_row == row && back_column == column);
}

static void atom_name(char *out, const char *mnemonic) {
    strcpy(out, mnemonic + 2);
    for (char *c = out; (c = strchr(c, '_'));)
        *c = '.';
}

static void maps(void **state) {
    (void)state;
    for (unsigned n = 0; n < COUNT; n++) {
        for (unsigned on = 0; on < 8; on++) {
            const sparse *s = &TABLE[n];
            const matrix_shape *shape = &s->t.shape;
            char name[64];
            tw_target target;
            unsigned none;
            if (!(s->t.targets >> on & 1)) continue;
            assert_int_equal(tw_target_parse(MATRIX_TARGETS[on], &target, NULL), TW_OK);
            target.wave_size = (uint8_t)s->t.wave;
            atom_name(name, s->t.mnemonic);
            const tw_matrix_atom *atom = tw_matrix_unit_by_name(target, name);
            assert_non_null(atom);
            tw_matrix_info info = tw_matrix_atom_info(atom);
            assert_true(info.sparse && info.m == shape->m && info.n == shape->n && info.k == shape->k);
            for (unsigned i = 0; i < shape->m; i++) {
                for (unsigned k = 0; k < shape->k / 2; k++) {
                    check_entry(s, atom, TW_MATRIX_A, i, k, s->a(shape, MATRIX_BITS[s->t.a], i, k));
                    check_entry(s, atom, TW_MATRIX_INDEX, i, k, s->index(shape, MATRIX_BITS[s->t.a], i, k));
                }
                for (unsigned k = 0; k < shape->k; k++)
                    check_entry(s, atom, TW_MATRIX_B, k, i, s->b(shape, MATRIX_BITS[s->t.b], i, k));
                for (unsigned j = 0; j < shape->n; j++)
                    check_entry(s, atom, TW_MATRIX_D, i, j, s->t.output(shape, MATRIX_BITS[s->t.d], 0, i, j));
            }
            assert_int_equal(tw_matrix_place(atom, TW_MATRIX_A, 0, 0, shape->k / 2, &none, &none),
                             TW_ERR_USAGE);
            assert_int_equal(tw_matrix_place(atom, TW_MATRIX_INDEX, 0, shape->m, 0, &none, &none),
                             TW_ERR_USAGE);
            assert_int_equal(tw_matrix_place(atom, TW_MATRIX_B, 0, shape->k, 0, &none, &none), TW_ERR_USAGE);
        }
    }
}

int main(void) {
    static char names[][16] = {"gfx942",  "gfx950",         "gfx1200", "gfx1200:wave64",
                               "gfx1201", "gfx1201:wave64", "gfx1250"};
    enum { TARGETS = sizeof names / sizeof names[0] };
    struct CMUnitTest tests[2 * TARGETS + 6];
    size_t count = 0;
    for (unsigned k = 0; k < TARGETS; k++) {
        tests[count++] = (struct CMUnitTest){names[k], random_integers, NULL, NULL, names[k]};
        tests[count++] = (struct CMUnitTest){"one_hot", one_hot, NULL, NULL, names[k]};
    }
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(maps);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(sets_are_selected);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(unknown_sets_are_refused);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(upper_registers_stay);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(nans);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(sums_saturate_in_stages);
    return _cmocka_run_group_tests("sparse matrices", tests, count, NULL, NULL);
}
