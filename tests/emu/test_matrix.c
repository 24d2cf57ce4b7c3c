/* Matrix instructions, assembled by LLVM, against sums over matrices that formulas of the documents put into
 * registers. */
#include "tests/emu/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/matrix.h"
#include "jit/compiler.h"
#include "support/float_formats.h"
#include "support/strbuf.h"
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
static const char *const TARGETS[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1250"};

typedef enum format { F16, BF16, F32, XF32, F64, FP8, BF8, FP6, BF6, FP4, I8, U8, I4, U4, I32 } format;
static const unsigned BITS[] = {16, 16, 32, 32, 64, 8, 8, 6, 6, 4, 8, 8, 4, 4, 32};

typedef struct instruction {
    unsigned targets, wave;
    const char *mnemonic, *modifiers;
    format a, b, c, d;
    matrix_shape shape;
    matrix_input *input;
    matrix_output *output;
} instruction;
#define M(targets, wave, mnemonic, modifiers, a, b, c, d, blocks, m, n, k, map) \
    {targets, wave, mnemonic, modifiers, a, b, c, d, {wave, blocks, m, n, k}, map##_input, map##_output},
static const instruction TABLE[] = {
#include "tests/emu/matrix.def"
};
enum { COUNT = sizeof TABLE / sizeof TABLE[0], MAX_WORDS = 32 };

/* ---- registers ---- */

/* [lane][word], as the kernels load and store them */
typedef struct registers {
    unsigned words;
    uint32_t w[64 * MAX_WORDS];
} registers;

static void put(registers *r, unsigned bits, matrix_place at, uint64_t value) {
    for (unsigned b = 0; b < bits; b++) {
        unsigned bit = at.slot * bits + b;
        uint32_t *word = &r->w[at.lane * r->words + bit / 32];
        *word = (*word & ~(1u << bit % 32)) | (uint32_t)(value >> b & 1) << bit % 32;
    }
}

static uint64_t get(const registers *r, unsigned bits, matrix_place at) {
    uint64_t value = 0;
    for (unsigned b = 0; b < bits; b++) {
        unsigned bit = at.slot * bits + b;
        value |= (uint64_t)(r->w[at.lane * r->words + bit / 32] >> bit % 32 & 1) << b;
    }
    return value;
}

static unsigned words_of(const instruction *t, char operand) {
    const matrix_shape *s = &t->shape;
    bool gfx11 = t->targets & _11;
    if (operand == 'a' || operand == 'b') {
        unsigned size = operand == 'a' ? s->m : s->n, bits = BITS[operand == 'a' ? t->a : t->b];
        if (gfx11) return s->k * bits / 32;
        unsigned words = size * s->k * s->blocks * bits / (32 * s->wave);
        return words ? words : 1; /* gfx12's i4 with 64 lanes leaves lanes out */
    }
    unsigned bits = BITS[operand == 'c' ? t->c : t->d];
    return s->m * s->n * s->blocks / s->wave * (gfx11 && bits == 16 ? 32 : bits) / 32;
}

/* ---- numbers ---- */

static double small_float(unsigned code, unsigned mantissa, unsigned exponent, int bias) {
    unsigned e = code >> mantissa & ((1u << exponent) - 1), f = code & ((1u << mantissa) - 1);
    double v = e ? ldexp(1 + ldexp(f, -(int)mantissa), (int)e - bias) : ldexp(f, 1 - bias - (int)mantissa);
    return code >> (mantissa + exponent) & 1 ? -v : v;
}

static bool fnuz;

static double decode(format f, uint64_t bits) {
    switch (f) {
    case F16: return tw_float_to_f64(TW_FLOAT_F16, bits);
    case BF16: return tw_float_to_f64(TW_FLOAT_BF16, bits);
    case F32:
    case XF32: return tw_float_to_f64(TW_FLOAT_F32, bits);
    case F64: return tw_f64_of_bits(bits);
    case FP8: return tw_float_to_f64(fnuz ? TW_FLOAT_FP8_FNUZ : TW_FLOAT_FP8_OCP, bits);
    case BF8: return tw_float_to_f64(fnuz ? TW_FLOAT_BF8_FNUZ : TW_FLOAT_BF8_OCP, bits);
    case FP6: return small_float((unsigned)bits, 3, 2, 1);
    case BF6: return small_float((unsigned)bits, 2, 3, 3);
    case FP4: return small_float((unsigned)bits, 1, 2, 1);
    case I8: return (int8_t)bits;
    case U8: return (uint8_t)bits;
    case I4: return (int)((bits & 15) ^ 8) - 8;
    case U4: return (double)(bits & 15);
    case I32: return (int32_t)bits;
    }
    return 0;
}

static uint64_t encode_result(format f, double v) {
    switch (f) {
    case F16: return tw_float_from_f64(TW_FLOAT_F16, v);
    case BF16: return tw_float_from_f64(TW_FLOAT_BF16, v);
    case F64: return tw_f64_bits(v);
    case I32: return (uint32_t)(int32_t)v;
    default: return tw_f32_bits((float)v);
    }
}

/* A random element: any bits of the formats that are that small, integers of the others. */
static uint64_t random_bits(format f, uint32_t *seed) {
    uint32_t r = harness_random(seed) >> 8;
    switch (f) {
    case FP6:
    case BF6:
    case FP4:
    case I8:
    case U8:
    case I4:
    case U4: return r & ((1u << BITS[f]) - 1);
    case I32: return r - 0x800000;
    case FP8: return tw_float_from_f64(fnuz ? TW_FLOAT_FP8_FNUZ : TW_FLOAT_FP8_OCP, (int)(r % 17) - 8);
    case BF8: return tw_float_from_f64(fnuz ? TW_FLOAT_BF8_FNUZ : TW_FLOAT_BF8_OCP, (int)(r % 9) - 4);
    case F16: return tw_float_from_f64(TW_FLOAT_F16, (int)(r % 9) - 4);
    default: return encode_result(f, (int)(r % 17) - 8);
    }
}

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
                check_place(t, a, TW_MATRIX_A, block, i, k, t->input(s, s->m, BITS[t->a], block, i, k));
            for (unsigned j = 0; j < s->n; j++)
                check_place(t, b, TW_MATRIX_B, block, k, j, t->input(s, s->n, BITS[t->b], block, j, k));
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                check_place(t, a, TW_MATRIX_D, block, i, j, t->output(s, BITS[t->d], block, i, j));
    }
    unsigned none;
    assert_int_equal(tw_matrix_place(a, TW_MATRIX_A, s->blocks, 0, 0, &none, &none), TW_ERR_USAGE);
    assert_int_equal(tw_matrix_place(a, TW_MATRIX_A, 0, s->m, 0, &none, &none), TW_ERR_USAGE);
    assert_int_equal(tw_matrix_block(a, TW_MATRIX_A, s->wave, 0, &none), TW_ERR_USAGE);
}

static void maps(void **state) {
    (void)state;
    for (unsigned n = 0; n < COUNT; n++)
        for (unsigned k = 0; k < 8; k++) {
            tw_target target;
            if (!(TABLE[n].targets >> k & 1)) continue;
            assert_int_equal(tw_target_parse(TARGETS[k], &target, NULL), TW_OK);
            target.wave_size = (uint8_t)TABLE[n].wave;
            check_maps(&TABLE[n], target);
        }
}

/* ---- kernels ---- */

static void append_type(tw_strbuf *ir, unsigned words, bool wide) {
    if (wide && words == 2)
        tw_strbuf_append(ir, "i64");
    else if (words == 1)
        tw_strbuf_append(ir, "i32");
    else
        tw_strbuf_printf(ir, "<%u x i32>", words);
}

static void append_load(tw_strbuf *ir, char name, unsigned words) {
    tw_strbuf_printf(ir,
                     "  %%p%c = getelementptr [%u x i32], ptr addrspace(1) %%%c, i32 %%lane\n  %%v%c = load ",
                     name, words, name, name);
    append_type(ir, words, false);
    tw_strbuf_printf(ir, ", ptr addrspace(1) %%p%c, align 4\n", name);
}

/* `kind`: v the result is a VGPR, a an AGPR, c the result overwrites C. */
static void append_kernel(tw_strbuf *ir, const instruction *t, unsigned number, char kind, const char *more) {
    unsigned d = words_of(t, 'd');
    tw_strbuf_printf(
        ir,
        "define amdgpu_kernel void @m%u%c(ptr addrspace(1) %%d, ptr addrspace(1) %%a, ptr addrspace(1) %%b, "
        "ptr addrspace(1) %%c) #0 {\n  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n",
        number, kind);
    append_load(ir, 'a', words_of(t, 'a'));
    append_load(ir, 'b', words_of(t, 'b'));
    append_load(ir, 'c', words_of(t, 'c'));
    tw_strbuf_append(ir, "  %r = call ");
    append_type(ir, d, false);
    tw_strbuf_printf(
        ir,
        " asm sideeffect \"s_nop 15\\0As_nop 15\\0A%s $0, $1, $2, %s%s%s\\0As_nop 15\\0As_nop 15\", \"%s\"(",
        t->mnemonic, kind == 'c' || kind == 'h' ? "$0" : "$3", t->modifiers, more,
        kind == 'a'                  ? "=&a,v,v,a"
        : kind == 'c' || kind == 'h' ? "=v,v,v,0"
                                     : "=&v,v,v,v");
    for (const char *o = "abc"; *o; o++) {
        append_type(ir, words_of(t, *o), false);
        tw_strbuf_printf(ir, " %%v%c%s", *o, *o == 'c' ? ")\n" : ", ");
    }
    tw_strbuf_printf(ir, "  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n  store ", d);
    append_type(ir, d, false);
    tw_strbuf_append(ir, " %r, ptr addrspace(1) %pd, align 4\n  ret void\n}\n");
}

/* Results of 16 bits leave a half of their registers alone on gfx11: C's. */
static char plain_kind(const instruction *t) { return BITS[t->d] == 16 && BITS[t->c] == 16 ? 'c' : 'v'; }

typedef struct bench {
    harness h;
    unsigned bit, wave;
    uint64_t a, b, c, d;
    registers ra, rb, rc, rd;
} bench;

static tw_code_object *compile(const char *target, const char *text, size_t length) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_compiler *compiler;
    tw_code_object *object = NULL;
    tw_target t;
    assert_int_equal(tw_target_parse(target, &t, diag), TW_OK);
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag), TW_OK);
    tw_status status = tw_compile_llvm_ir(compiler, text, length, t, NULL, &object, diag);
    if (status != TW_OK) fail_msg("%s", tw_diag_text(diag));
    tw_compiler_close(compiler);
    tw_diag_free(diag);
    return object;
}

static const char HEAD[] =
    "target triple = \"amdgcn-amd-amdhsa\"\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n"
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-flat-work-group-size\"=\"1,64\" }\n";

static bool serves(const bench *x, const instruction *t) { return t->targets & x->bit && t->wave == x->wave; }

static void open_bench(bench *x, const char *name) {
    char target[32];
    memset(x, 0, sizeof *x);
    snprintf(target, sizeof target, "%s", name);
    char *colon = strchr(target, ':');
    if (colon) *colon = 0;
    x->bit = 1;
    for (unsigned k = 0; strcmp(TARGETS[k], target); k++)
        x->bit *= 2;
    x->wave = colon || x->bit & (GFX90A | _940) ? 64 : 32;
    fnuz = x->bit == GFX942;
    tw_strbuf ir;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, HEAD);
    for (unsigned n = 0; n < COUNT; n++) {
        if (!serves(x, &TABLE[n])) continue;
        append_kernel(&ir, &TABLE[n], n, plain_kind(&TABLE[n]), "");
        if (x->bit & (GFX90A | _940)) append_kernel(&ir, &TABLE[n], n, 'a', "");
    }
    if (colon) *colon = ':';
    harness_open_object(&x->h, compile(target, tw_strbuf_text(&ir), ir.length), name);
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

/* ---- matrices ---- */

static uint64_t A[16][32][128], B[16][128][32], C[16][32][32];

static void clear(bench *x, const instruction *t) {
    memset(A, 0, sizeof A);
    memset(B, 0, sizeof B);
    memset(C, 0, sizeof C);
    memset(&x->ra, 0, sizeof x->ra);
    memset(&x->rb, 0, sizeof x->rb);
    memset(&x->rc, 0, sizeof x->rc);
    memset(&x->rd, 0, sizeof x->rd);
    x->ra.words = words_of(t, 'a');
    x->rb.words = words_of(t, 'b');
    x->rc.words = words_of(t, 'c');
    x->rd.words = words_of(t, 'd');
}

/* gfx11 wants a copy of A and B in each group of 16 lanes. */
static void put_input(registers *r, const instruction *t, format f, unsigned size, unsigned block, unsigned i,
                      unsigned k, uint64_t value) {
    matrix_place at = t->input(&t->shape, size, BITS[f], block, i, k);
    unsigned copies = t->targets & _11 ? t->wave / 16 : 1;
    for (unsigned copy = 0; copy < copies; copy++)
        put(r, BITS[f], (matrix_place){at.lane + 16 * copy, at.slot}, value);
}

static void load_registers(bench *x, const instruction *t) {
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++) {
        for (unsigned k = 0; k < s->k; k++) {
            for (unsigned i = 0; i < s->m; i++)
                put_input(&x->ra, t, t->a, s->m, block, i, k, A[block][i][k]);
            for (unsigned j = 0; j < s->n; j++)
                put_input(&x->rb, t, t->b, s->n, block, j, k, B[block][k][j]);
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                put(&x->rc, BITS[t->c], t->output(s, BITS[t->c], block, i, j), C[block][i][j]);
    }
}

static uint64_t expected(const instruction *t, unsigned block, unsigned i, unsigned j) {
    double sum = decode(t->c, C[block][i][j]);
    for (unsigned k = 0; k < t->shape.k; k++)
        sum += decode(t->a, A[block][i][k]) * decode(t->b, B[block][k][j]);
    return encode_result(t->d, sum);
}

static void check(bench *x, unsigned number, const char *what) {
    const instruction *t = &TABLE[number];
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++)
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++) {
                uint64_t got = get(&x->rd, BITS[t->d], t->output(s, BITS[t->d], block, i, j));
                uint64_t want = expected(t, block, i, j);
                if (got != want)
                    fail_msg("%s%s, %s: D(%u, %u) of block %u is %llx, not %llx", t->mnemonic, t->modifiers,
                             what, i, j, block, (unsigned long long)got, (unsigned long long)want);
            }
}

static void random_integers(void **state) {
    bench x;
    uint32_t seed = 7;
    open_bench(&x, *state);
    unsigned seen = 0;
    for (unsigned n = 0; n < COUNT; n++) {
        const instruction *t = &TABLE[n];
        const matrix_shape *s = &t->shape;
        if (!serves(&x, t)) continue;
        clear(&x, t);
        for (unsigned block = 0; block < s->blocks; block++) {
            for (unsigned k = 0; k < s->k; k++) {
                for (unsigned i = 0; i < s->m; i++)
                    A[block][i][k] = random_bits(t->a, &seed);
                for (unsigned j = 0; j < s->n; j++)
                    B[block][k][j] = random_bits(t->b, &seed);
            }
            for (unsigned i = 0; i < s->m; i++)
                for (unsigned j = 0; j < s->n; j++)
                    C[block][i][j] = random_bits(t->c, &seed);
        }
        load_registers(&x, t);
        run(&x, n, plain_kind(t));
        check(&x, n, "random integers");
        if (x.bit & (GFX90A | _940)) {
            run(&x, n, 'a');
            check(&x, n, "AGPRs");
        }
        seen++;
    }
    assert_true(seen > 5);
    harness_close(&x.h);
}

/* ---- modifiers, one kernel at a time ---- */

/* Runs `number` with `more` behind its text. */
static void run_with(bench *x, unsigned number, const char *more) {
    tw_strbuf ir;
    harness plain = x->h;
    char name[16];
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, HEAD);
    append_kernel(&ir, &TABLE[number], number, 'v', more);
    harness_open_object(&x->h, compile(plain.target, tw_strbuf_text(&ir), ir.length), plain.target);
    tw_strbuf_free(&ir);
    uint64_t a = harness_buffer(&x->h, "a", x->ra.w, sizeof x->ra.w),
             b = harness_buffer(&x->h, "b", x->rb.w, sizeof x->rb.w);
    uint64_t c = harness_buffer(&x->h, "c", x->rc.w, sizeof x->rc.w),
             d = harness_buffer(&x->h, "d", x->rd.w, sizeof x->rd.w);
    snprintf(name, sizeof name, "m%uv", number);
    RUN(&x->h, name, 1, x->wave, PTR(d), PTR(a), PTR(b), PTR(c));
    harness_read(&x->h, d, x->rd.w, sizeof x->rd.w);
    harness_close(&x->h);
    x->h = plain;
}

static unsigned find(const bench *x, const char *mnemonic) {
    for (unsigned n = 0; n < COUNT; n++)
        if (serves(x, &TABLE[n]) && !strcmp(TABLE[n].mnemonic, mnemonic)) return n;
    fail_msg("no %s", mnemonic);
    return 0;
}

static void start(bench *x, const char *target) {
    memset(x, 0, sizeof *x);
    x->bit = 1;
    for (unsigned k = 0; strcmp(TARGETS[k], target); k++)
        x->bit *= 2;
    x->wave = x->bit & (GFX90A | _940) ? 64 : 32;
    x->h.target = target;
    fnuz = x->bit == GFX942;
}

static void fill(const instruction *t, uint32_t *seed) {
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++) {
        for (unsigned k = 0; k < s->k; k++) {
            for (unsigned i = 0; i < s->m; i++)
                A[block][i][k] = random_bits(t->a, seed);
            for (unsigned j = 0; j < s->n; j++)
                B[block][k][j] = random_bits(t->b, seed);
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                C[block][i][j] = random_bits(t->c, seed);
    }
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
    start(&x, "gfx942");
    for (unsigned which = 0; which < 3; which++) {
        for (unsigned cbsz = 1; cbsz <= MOST[which]; cbsz++) {
            unsigned n = find(&x, WHICH[which]), abid = (1u << cbsz) - 1;
            char more[32];
            clear(&x, &TABLE[n]);
            fill(&TABLE[n], &seed);
            load_registers(&x, &TABLE[n]);
            snprintf(more, sizeof more, " cbsz:%u abid:%u", cbsz, abid);
            run_with(&x, n, more);
            memcpy(before, A, sizeof A);
            for (unsigned block = 0; block < TABLE[n].shape.blocks; block++)
                memcpy(A[block], before[(block >> cbsz << cbsz) + abid], sizeof A[block]);
            check(&x, n, more);
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
    start(&x, "gfx90a");
    unsigned n = find(&x, "v_mfma_f32_16x16x1f32"); /* lane 16 * block + j holds B(0, j) */
    for (unsigned h = 0; h < sizeof HOW / sizeof HOW[0]; h++) {
        static uint64_t before[16][128][32];
        clear(&x, &TABLE[n]);
        fill(&TABLE[n], &seed);
        load_registers(&x, &TABLE[n]);
        run_with(&x, n, HOW[h].modifier);
        memcpy(before, B, sizeof B);
        for (unsigned block = 0; block < 4; block++)
            memcpy(B[block], before[HOW[h].from[block]], sizeof B[block]);
        check(&x, n, HOW[h].modifier);
    }
}

static void expect(const bench *x, unsigned n, unsigned i, unsigned j, uint64_t want) {
    const instruction *t = &TABLE[n];
    uint64_t got = get(&x->rd, BITS[t->d], t->output(&t->shape, BITS[t->d], 0, i, j));
    if (got != want)
        fail_msg("%s: D(%u, %u) is %llx, not %llx", t->mnemonic, i, j, (unsigned long long)got,
                 (unsigned long long)want);
}

/* Smallest denormals of f16: kept, but on gfx90a. */
static void denormals(void **state) {
    const char *target = *state;
    bench x;
    start(&x, target);
    bool flush = x.bit == GFX90A;
    unsigned n = find(&x, x.bit == _1250 ? "v_wmma_f32_16x16x32_f16"
                          : x.wave == 32 ? "v_wmma_f32_16x16x16_f16"
                          : flush        ? "v_mfma_f32_16x16x16f16"
                                         : "v_mfma_f32_16x16x16_f16");
    clear(&x, &TABLE[n]);
    A[0][0][3] = 1; /* 2^-24 */
    B[0][3][0] = 0x4000;
    A[0][1][3] = 0x4000;
    B[0][3][1] = 1;
    C[0][2][2] = 1; /* 2^-149 */
    C[0][3][3] = 0x80000001u;
    load_registers(&x, &TABLE[n]);
    run_with(&x, n, "");
    expect(&x, n, 0, 0, flush ? 0 : 0x34000000u);
    expect(&x, n, 1, 1, flush ? 0 : 0x34000000u);
    expect(&x, n, 2, 2, flush ? 0 : 1);
    expect(&x, n, 3, 3, flush ? 0 : 0x80000001u); /* -0 + 0 */
}

static void nans_and_infinities(void **state) {
    bench x;
    start(&x, *state);
    unsigned n = find(&x, x.bit == _1250    ? "v_wmma_f32_16x16x32_f16"
                          : x.wave == 32    ? "v_wmma_f32_16x16x16_f16"
                          : x.bit == GFX90A ? "v_mfma_f32_16x16x16f16"
                                            : "v_mfma_f32_16x16x16_f16");
    clear(&x, &TABLE[n]);
    A[0][0][1] = 0x7c00; /* inf * 0 */
    A[0][1][2] = 0xfd23; /* a signalling NaN */
    A[0][2][2] = 0x3c00;
    B[0][5][3] = 0xfc00;
    A[0][3][5] = 0x3c00; /* 1 * -inf */
    C[0][3][3] = 0x7f800000u;
    A[0][4][5] = 0x3c00;
    load_registers(&x, &TABLE[n]);
    run_with(&x, n, "");
    expect(&x, n, 0, 0, 0x7fc00000u);
    expect(&x, n, 1, 0, 0xffe46000u);
    expect(&x, n, 2, 0, 0);
    expect(&x, n, 3, 3, 0x7fc00000u);
    expect(&x, n, 4, 3, 0xff800000u);
}

static void integers_saturate(void **state) {
    bench x;
    (void)state;
    start(&x, "gfx1201");
    unsigned n = find(&x, "v_wmma_i32_16x16x16_iu8");
    clear(&x, &TABLE[n]);
    A[0][0][0] = B[0][0][0] = 255;
    C[0][0][0] = 0x7fffffff;
    load_registers(&x, &TABLE[n]);
    run_with(&x, n, "");
    expect(&x, n, 0, 0, 0x7fffffffu + 255u * 255u);
    run_with(&x, n, " clamp");
    expect(&x, n, 0, 0, 0x7fffffffu);
}

static void signs(void **state) {
    bench x;
    (void)state;
    start(&x, "gfx1100");
    unsigned n = find(&x, "v_wmma_f32_16x16x16_f16");
    clear(&x, &TABLE[n]);
    A[0][0][0] = A[0][0][1] = 0x3c00; /* 1 */
    B[0][0][0] = 0x4000;              /* 2 */
    B[0][1][0] = 0x4400;              /* 4 */
    C[0][0][0] = tw_f32_bits(-8);
    load_registers(&x, &TABLE[n]);
    run_with(&x, n, " neg_lo:[1,0,0]"); /* the even k */
    expect(&x, n, 0, 0, tw_f32_bits(-6));
    run_with(&x, n, " neg_hi:[0,1,0]"); /* the odd ones */
    expect(&x, n, 0, 0, tw_f32_bits(-10));
    run_with(&x, n, " neg_lo:[0,0,1]");
    expect(&x, n, 0, 0, tw_f32_bits(14));
    run_with(&x, n, " neg_hi:[0,0,1]"); /* of C the magnitude */
    expect(&x, n, 0, 0, tw_f32_bits(14));
    run_with(&x, n, " neg_lo:[0,0,1] neg_hi:[0,0,1]");
    expect(&x, n, 0, 0, tw_f32_bits(-2));
}

/* gfx11: a 16-bit result goes to the half that op_sel names; the other half stays. */
static void upper_halves(void **state) {
    bench x;
    uint32_t seed = 5;
    (void)state;
    start(&x, "gfx1100");
    unsigned n = find(&x, "v_wmma_f16_16x16x16_f16");
    const instruction *t = &TABLE[n];
    tw_strbuf ir;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, HEAD);
    append_kernel(&ir, t, n, 'h', " op_sel:[0,0,1]");
    harness_open_object(&x.h, compile("gfx1100", tw_strbuf_text(&ir), ir.length), "gfx1100");
    tw_strbuf_free(&ir);
    clear(&x, t);
    fill(t, &seed);
    load_registers(&x, t);
    for (unsigned w = 0; w < 32 * x.rc.words; w++) /* C in the upper halves */
        x.rc.w[w] = x.rc.w[w] << 16 | 0x1234;
    uint64_t a = harness_buffer(&x.h, "a", x.ra.w, sizeof x.ra.w),
             b = harness_buffer(&x.h, "b", x.rb.w, sizeof x.rb.w);
    uint64_t c = harness_buffer(&x.h, "c", x.rc.w, sizeof x.rc.w),
             d = harness_buffer(&x.h, "d", x.rd.w, sizeof x.rd.w);
    char name[16];
    snprintf(name, sizeof name, "m%uh", n);
    RUN(&x.h, name, 1, 32, PTR(d), PTR(a), PTR(b), PTR(c));
    harness_read(&x.h, d, x.rd.w, sizeof x.rd.w);
    for (unsigned w = 0; w < 32 * x.rd.words; w++) {
        assert_int_equal(x.rd.w[w] & 0xffff, 0x1234);
        x.rd.w[w] >>= 16;
    }
    check(&x, n, "upper halves");
    harness_close(&x.h);
}

/* ---- scaled forms ---- */

/* Of a block of 32 k: lane (k / 32) * rows + row holds the exponents, op_sel and op_sel_hi pick one of its
 * bytes. */
static void scaled_products(void **state) {
    static const struct {
        const char *name, *modifiers;
        unsigned m, k, byte_a, byte_b;
        format a, b;
    } CASES[] = {{"v_mfma_scale_f32_16x16x128_f8f6f4", "", 16, 128, 0, 0, FP8, FP8},
                 {"v_mfma_scale_f32_16x16x128_f8f6f4", " op_sel:[1,0,0] op_sel_hi:[0,1,0] blgp:4", 16, 128, 1,
                  2, FP8, FP4},
                 {"v_mfma_scale_f32_32x32x64_f8f6f4", " op_sel:[1,1,0] op_sel_hi:[1,0,0] cbsz:2 blgp:1", 32,
                  64, 3, 1, FP6, BF8}};
    uint32_t seed = 21;
    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        bench x;
        static uint32_t scale[2][64];
        instruction t = {_950,
                         64,
                         CASES[which].name,
                         CASES[which].modifiers,
                         CASES[which].a,
                         CASES[which].b,
                         F32,
                         F32,
                         {64, 1, CASES[which].m, CASES[which].m, CASES[which].k},
                         mfma_input,
                         mfma_output};
        start(&x, "gfx950");
        clear(&x, &t);
        fill(&t, &seed);
        load_registers(&x, &t);
        for (unsigned l = 0; l < 128; l++)
            scale[l / 64][l % 64] = 0x7d7d7d7du + (harness_random(&seed) >> 8 & 0x03030303u);
        tw_strbuf ir;
        unsigned wa = words_of(&t, 'a'), wb = words_of(&t, 'b'), wd = words_of(&t, 'd');
        tw_strbuf_init(&ir, NULL);
        tw_strbuf_append(&ir, HEAD);
        tw_strbuf_append(
            &ir,
            "define amdgpu_kernel void @k(ptr addrspace(1) %d, ptr addrspace(1) %a, ptr addrspace(1) %b, ptr "
            "addrspace(1) %c, ptr addrspace(1) %s, ptr addrspace(1) %t) #0 {\n"
            "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n");
        append_load(&ir, 'a', wa);
        append_load(&ir, 'b', wb);
        append_load(&ir, 'c', wd);
        append_load(&ir, 's', 1);
        append_load(&ir, 't', 1);
        tw_strbuf_printf(&ir,
                         "  %%r = call <%u x i32> asm sideeffect \"%s $0, $1, $2, $3, $4, $5%s\", "
                         "\"=&v,v,v,v,v,v\"(<%u x i32> %%va, "
                         "<%u x i32> %%vb, <%u x i32> %%vc, i32 %%vs, i32 %%vt)\n"
                         "  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n"
                         "  store <%u x i32> %%r, ptr addrspace(1) %%pd, align 4\n  ret void\n}\n",
                         wd, t.mnemonic, t.modifiers, wa, wb, wd, wd, wd);
        harness_open_object(&x.h, compile("gfx950", tw_strbuf_text(&ir), ir.length), "gfx950");
        tw_strbuf_free(&ir);
        uint64_t a = harness_buffer(&x.h, "a", x.ra.w, sizeof x.ra.w),
                 b = harness_buffer(&x.h, "b", x.rb.w, sizeof x.rb.w);
        uint64_t c = harness_buffer(&x.h, "c", x.rc.w, sizeof x.rc.w),
                 d = harness_buffer(&x.h, "d", x.rd.w, sizeof x.rd.w);
        uint64_t sa = harness_buffer(&x.h, "s", scale[0], sizeof scale[0]),
                 sb = harness_buffer(&x.h, "t", scale[1], sizeof scale[1]);
        RUN(&x.h, "k", 1, 64, PTR(d), PTR(a), PTR(b), PTR(c), PTR(sa), PTR(sb));
        harness_read(&x.h, d, x.rd.w, sizeof x.rd.w);
        for (unsigned i = 0; i < t.shape.m; i++)
            for (unsigned j = 0; j < t.shape.n; j++) {
                double sum = decode(F32, C[0][i][j]);
                for (unsigned k = 0; k < t.shape.k; k++) {
                    int ea = (int)(scale[0][k / 32 * t.shape.m + i] >> 8 * CASES[which].byte_a & 255) - 127;
                    int eb = (int)(scale[1][k / 32 * t.shape.n + j] >> 8 * CASES[which].byte_b & 255) - 127;
                    sum += ldexp(decode(t.a, A[0][i][k]) * decode(t.b, B[0][k][j]), ea + eb);
                }
                uint64_t got = get(&x.rd, 32, t.output(&t.shape, 32, 0, i, j));
                if (got != tw_f32_bits((float)sum))
                    fail_msg("%s%s: D(%u, %u) is wrong", t.mnemonic, t.modifiers, i, j);
            }
        harness_close(&x.h);
    }
}

/* ---- loads that transpose ---- */

typedef struct transposed {
    const char *target, *text;
    unsigned wave, bytes, bits;
    bool lds;
    void (*source)(unsigned lane, unsigned n, unsigned *from, unsigned *element);
} transposed;

static void rows_of_16(unsigned l, unsigned n, unsigned *from, unsigned *element) {
    *from = ((l & ~15u) | (l >> 2 & 3)) + 4 * n;
    *element = l & 3;
}
static void rows_of_bytes(unsigned l, unsigned n, unsigned *from, unsigned *element) {
    *from = (l & ~15u) + 2 * n + (l >> 3 & 1);
    *element = l & 7;
}
static void groups_of_8(unsigned l, unsigned n, unsigned *from, unsigned *element) {
    *from = (l & ~7u) + n;
    *element = l & 7;
}
static void groups_of_4(unsigned l, unsigned n, unsigned *from, unsigned *element) {
    *from = l / 16 * 16 + n / 4 * 8 + l / 8 % 2 * 4 + n % 4;
    *element = l % 8;
}
static const transposed TRANSPOSED[] = {
    {"gfx950", "ds_read_b64_tr_b16 $0, $1", 64, 8, 16, true, rows_of_16},
    {"gfx950", "ds_read_b64_tr_b8 $0, $1", 64, 8, 8, true, rows_of_bytes},
    {"gfx1250", "ds_load_tr16_b128 $0, $1", 32, 16, 16, true, groups_of_8},
    {"gfx1250", "ds_load_tr8_b64 $0, $1", 32, 8, 8, true, groups_of_4},
    {"gfx1250", "global_load_tr16_b128 $0, $1, off", 32, 16, 16, false, groups_of_8},
    {"gfx1250", "global_load_tr8_b64 $0, $1, off", 32, 8, 8, false, groups_of_4},
    {"gfx1200", "global_load_tr_b128 $0, $1, off", 32, 16, 16, false, groups_of_8},
    {"gfx1201", "global_load_tr_b128 $0, $1, off", 32, 16, 16, false, groups_of_8},
};

/* Each lane's bytes lie at `lane` times their number, in global memory or copied to LDS. */
static void transposed_loads(void **state) {
    const transposed *t = *state;
    tw_strbuf ir;
    harness h;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, HEAD);
    tw_strbuf_printf(&ir,
                     "@tile = internal addrspace(3) global [1024 x i8] undef, align 16\n"
                     "define amdgpu_kernel void @k(ptr addrspace(1) %%out, ptr addrspace(1) %%in) #0 {\n"
                     "  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n  %%at = mul i32 %%lane, %u\n"
                     "  %%g = getelementptr i8, ptr addrspace(1) %%in, i32 %%at\n"
                     "  %%o = getelementptr i8, ptr addrspace(1) %%out, i32 %%at\n",
                     t->bytes);
    if (t->lds)
        tw_strbuf_printf(&ir,
                         "  %%p = getelementptr i8, ptr addrspace(3) @tile, i32 %%at\n"
                         "  %%v = load <%u x i32>, ptr addrspace(1) %%g\n  store volatile <%u x i32> %%v, "
                         "ptr addrspace(3) %%p\n",
                         t->bytes / 4, t->bytes / 4);
    bool gfx9 = t->wave == 64;
    tw_strbuf_printf(
        &ir,
        "  %%r = call <%u x i32> asm sideeffect \"%s\\0A%s\", \"=&v,v,~{memory}\"(ptr addrspace(%u) %%%c)\n"
        "  store <%u x i32> %%r, ptr addrspace(1) %%o\n  ret void\n}\n",
        t->bytes / 4, t->text,
        gfx9     ? "s_waitcnt lgkmcnt(0)"
        : t->lds ? "s_wait_dscnt 0"
                 : "s_wait_loadcnt 0",
        t->lds ? 3 : 1, t->lds ? 'p' : 'g', t->bytes / 4);
    harness_open_object(&h, compile(t->target, tw_strbuf_text(&ir), ir.length), t->target);
    tw_strbuf_free(&ir);
    uint8_t in[64 * 16], out[64 * 16];
    uint32_t seed = 8;
    for (unsigned k = 0; k < sizeof in; k++)
        in[k] = (uint8_t)(harness_random(&seed) >> 8);
    uint64_t source = harness_buffer(&h, "in", in, sizeof in),
             result = harness_buffer(&h, "out", NULL, sizeof out);
    RUN(&h, "k", 1, t->wave, PTR(result), PTR(source));
    harness_read(&h, result, out, sizeof out);
    for (unsigned lane = 0; lane < t->wave; lane++) {
        for (unsigned n = 0; n < t->bytes * 8 / t->bits; n++) {
            unsigned from, element, width = t->bits / 8;
            t->source(lane, n, &from, &element);
            if (memcmp(out + lane * t->bytes + n * width, in + from * t->bytes + element * width, width))
                fail_msg("%s: lane %u, element %u is wrong", t->text, lane, n);
        }
    }
    harness_close(&h);
}

static void half_a_wave_transposes_nothing(void **state) {
    (void)state;
    const transposed *t = &TRANSPOSED[4];
    harness h;
    static const char BODY[] =
        "define amdgpu_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in) #0 {\n"
        "  %r = call <4 x i32> asm sideeffect \"global_load_tr16_b128 $0, $1, off\\0As_wait_loadcnt 0\", "
        "\"=&v,v,~{memory}\"(ptr addrspace(1) %in)\n  store <4 x i32> %r, ptr addrspace(1) %out\n  ret "
        "void\n}\n";
    char text[2048];
    snprintf(text, sizeof text, "%s%s", HEAD, BODY);
    harness_open_object(&h, compile(t->target, text, strlen(text)), t->target);
    uint8_t in[64] = {0};
    uint64_t source = harness_buffer(&h, "in", in, sizeof in),
             result = harness_buffer(&h, "out", NULL, sizeof in);
    assert_int_equal(TRY(&h, "k", 1, 16, PTR(result), PTR(source)), TW_ERR_DEVICE);
    assert_non_null(strstr(tw_diag_text(h.diag), "needs all lanes"));
    harness_close(&h);
}

int main(void) {
    static char names[12][20] = {"gfx90a",         "gfx942",  "gfx950",         "gfx1100",
                                 "gfx1100:wave64", "gfx1151", "gfx1151:wave64", "gfx1200",
                                 "gfx1200:wave64", "gfx1201", "gfx1201:wave64", "gfx1250"};
    static char plain[8][8] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                               "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    enum { LOADS = sizeof TRANSPOSED / sizeof TRANSPOSED[0] };
    struct CMUnitTest tests[12 + 16 + LOADS + 8];
    size_t count = 0;
    for (unsigned k = 0; k < 12; k++)
        tests[count++] = (struct CMUnitTest){names[k], random_integers, NULL, NULL, names[k]};
    for (unsigned k = 0; k < 8; k++)
        tests[count++] = (struct CMUnitTest){"denormals", denormals, NULL, NULL, plain[k]};
    for (unsigned k = 0; k < 8; k++)
        tests[count++] =
            (struct CMUnitTest){"nans_and_infinities", nans_and_infinities, NULL, NULL, plain[k]};
    for (unsigned k = 0; k < LOADS; k++)
        tests[count++] = (struct CMUnitTest){TRANSPOSED[k].text, transposed_loads, NULL, NULL,
                                             (void *)(uintptr_t)&TRANSPOSED[k]};
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(maps);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(blocks_are_broadcast);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(lanes_of_b_are_exchanged);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(integers_saturate);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(signs);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(scaled_products);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(upper_halves);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(half_a_wave_transposes_nothing);
    return _cmocka_run_group_tests("matrix", tests, count, NULL, NULL);
}
