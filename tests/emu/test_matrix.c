/* Matrix instructions, assembled by LLVM, against sums over matrices that formulas of the documents put into
 * registers. */
#include "tests/emu/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arch/target.h"
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
        t->mnemonic, kind == 'c' ? "$0" : "$3", t->modifiers, more,
        kind == 'a'   ? "=&a,v,v,a"
        : kind == 'c' ? "=v,v,v,0"
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

int main(void) {
    static char names[12][20] = {"gfx90a",         "gfx942",  "gfx950",         "gfx1100",
                                 "gfx1100:wave64", "gfx1151", "gfx1151:wave64", "gfx1200",
                                 "gfx1200:wave64", "gfx1201", "gfx1201:wave64", "gfx1250"};
    struct CMUnitTest tests[12];
    for (unsigned k = 0; k < 12; k++)
        tests[k] = (struct CMUnitTest){names[k], random_integers, NULL, NULL, names[k]};
    return _cmocka_run_group_tests("matrix", tests, 12, NULL, NULL);
}
