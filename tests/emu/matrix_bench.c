#include "tests/emu/matrix_bench.h"

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jit/compiler.h"
#include "support/float_formats.h"

const char *const MATRIX_TARGETS[8] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                       "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
const unsigned MATRIX_BITS[] = {16, 16, 32, 32, 64, 8, 8, 6, 6, 4, 8, 8, 4, 4, 32};

#define M(targets, wave, mnemonic, modifiers, a, b, c, d, blocks, m, n, k, map) \
    {targets, wave, mnemonic, modifiers, a, b, c, d, {wave, blocks, m, n, k}, map##_input, map##_output},
const instruction MATRIX_TABLE[] = {
#include "tests/emu/matrix.def"
};
const unsigned MATRIX_COUNT = sizeof MATRIX_TABLE / sizeof MATRIX_TABLE[0];

const char MATRIX_HEAD[] =
    "target triple = \"amdgcn-amd-amdhsa\"\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n"
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-flat-work-group-size\"=\"1,64\" }\n";

/* ---- registers ---- */

void matrix_put(registers *r, unsigned bits, matrix_place at, uint64_t value) {
    for (unsigned b = 0; b < bits; b++) {
        unsigned bit = at.slot * bits + b;
        uint32_t *word = &r->w[at.lane * r->words + bit / 32];
        *word = (*word & ~(1u << bit % 32)) | (uint32_t)(value >> b & 1) << bit % 32;
    }
}

uint64_t matrix_get(const registers *r, unsigned bits, matrix_place at) {
    uint64_t value = 0;
    for (unsigned b = 0; b < bits; b++) {
        unsigned bit = at.slot * bits + b;
        value |= (uint64_t)(r->w[at.lane * r->words + bit / 32] >> bit % 32 & 1) << b;
    }
    return value;
}

unsigned matrix_words(const instruction *t, char operand) {
    const matrix_shape *s = &t->shape;
    bool gfx11 = t->targets & _11;
    if (operand == 'a' || operand == 'b') {
        unsigned size = operand == 'a' ? s->m : s->n, bits = MATRIX_BITS[operand == 'a' ? t->a : t->b];
        if (gfx11) return s->k * bits / 32;
        unsigned words = size * s->k * s->blocks * bits / (32 * s->wave);
        return words ? words : 1; /* gfx12's i4 with 64 lanes leaves lanes out */
    }
    unsigned bits = MATRIX_BITS[operand == 'c' ? t->c : t->d];
    return s->m * s->n * s->blocks / s->wave * (gfx11 && bits == 16 ? 32 : bits) / 32;
}

/* ---- numbers ---- */

static double small_float(unsigned code, unsigned mantissa, unsigned exponent, int bias) {
    unsigned e = code >> mantissa & ((1u << exponent) - 1), f = code & ((1u << mantissa) - 1);
    double v = e ? ldexp(1 + ldexp(f, -(int)mantissa), (int)e - bias) : ldexp(f, 1 - bias - (int)mantissa);
    return code >> (mantissa + exponent) & 1 ? -v : v;
}

bool matrix_fnuz;

double matrix_decode(format f, uint64_t bits) {
    switch (f) {
    case F16: return tw_float_to_f64(TW_FLOAT_F16, bits);
    case BF16: return tw_float_to_f64(TW_FLOAT_BF16, bits);
    case F32:
    case XF32: return tw_float_to_f64(TW_FLOAT_F32, bits);
    case F64: return tw_f64_of_bits(bits);
    case FP8: return tw_float_to_f64(matrix_fnuz ? TW_FLOAT_FP8_FNUZ : TW_FLOAT_FP8_OCP, bits);
    case BF8: return tw_float_to_f64(matrix_fnuz ? TW_FLOAT_BF8_FNUZ : TW_FLOAT_BF8_OCP, bits);
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

uint64_t matrix_encode(format f, double v) {
    switch (f) {
    case F16: return tw_float_from_f64(TW_FLOAT_F16, v);
    case BF16: return tw_float_from_f64(TW_FLOAT_BF16, v);
    case F64: return tw_f64_bits(v);
    case I32: return (uint32_t)(int32_t)v;
    default: return tw_f32_bits((float)v);
    }
}

/* A random element: any bits of the formats that are that small, integers of the others. */
uint64_t matrix_random(format f, uint32_t *seed) {
    uint32_t r = harness_random(seed) >> 8;
    switch (f) {
    case FP6:
    case BF6:
    case FP4:
    case I8:
    case U8:
    case I4:
    case U4: return r & ((1u << MATRIX_BITS[f]) - 1);
    case I32: return r - 0x800000;
    case FP8: return tw_float_from_f64(matrix_fnuz ? TW_FLOAT_FP8_FNUZ : TW_FLOAT_FP8_OCP, (int)(r % 17) - 8);
    case BF8: return tw_float_from_f64(matrix_fnuz ? TW_FLOAT_BF8_FNUZ : TW_FLOAT_BF8_OCP, (int)(r % 9) - 4);
    case F16: return tw_float_from_f64(TW_FLOAT_F16, (int)(r % 9) - 4);
    default: return matrix_encode(f, (int)(r % 17) - 8);
    }
}

/* ---- kernels ---- */

void matrix_append_type(tw_strbuf *ir, unsigned words) {
    if (words == 1)
        tw_strbuf_append(ir, "i32");
    else
        tw_strbuf_printf(ir, "<%u x i32>", words);
}

void matrix_append_load(tw_strbuf *ir, char name, unsigned words) {
    tw_strbuf_printf(ir,
                     "  %%p%c = getelementptr [%u x i32], ptr addrspace(1) %%%c, i32 %%lane\n  %%v%c = load ",
                     name, words, name, name);
    matrix_append_type(ir, words);
    tw_strbuf_printf(ir, ", ptr addrspace(1) %%p%c, align 4\n", name);
}

/* `kind`: v the result is a VGPR, a an AGPR, c the result overwrites C. */
void matrix_append_kernel(tw_strbuf *ir, const instruction *t, unsigned number, char kind, const char *more) {
    unsigned d = matrix_words(t, 'd');
    tw_strbuf_printf(
        ir,
        "define amdgpu_kernel void @m%u%c(ptr addrspace(1) %%d, ptr addrspace(1) %%a, ptr addrspace(1) %%b, "
        "ptr addrspace(1) %%c) #0 {\n  %%lane = call i32 @llvm.amdgcn.workitem.id.x()\n",
        number, kind);
    matrix_append_load(ir, 'a', matrix_words(t, 'a'));
    matrix_append_load(ir, 'b', matrix_words(t, 'b'));
    matrix_append_load(ir, 'c', matrix_words(t, 'c'));
    tw_strbuf_append(ir, "  %r = call ");
    matrix_append_type(ir, d);
    tw_strbuf_printf(
        ir,
        " asm sideeffect \"s_nop 15\\0As_nop 15\\0A%s $0, $1, $2, %s%s%s\\0As_nop 15\\0As_nop 15\", \"%s\"(",
        t->mnemonic, kind == 'c' || kind == 'h' ? "$0" : "$3", t->modifiers, more,
        kind == 'a'                  ? "=&a,v,v,a"
        : kind == 'o'                ? "={v[22:25]},v,v,{v[20:23]}" /* D begins in the middle of C */
        : kind == 'c' || kind == 'h' ? "=v,v,v,0"
                                     : "=&v,v,v,v");
    for (const char *o = "abc"; *o; o++) {
        matrix_append_type(ir, matrix_words(t, *o));
        tw_strbuf_printf(ir, " %%v%c%s", *o, *o == 'c' ? ")\n" : ", ");
    }
    tw_strbuf_printf(ir, "  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n  store ", d);
    matrix_append_type(ir, d);
    tw_strbuf_append(ir, " %r, ptr addrspace(1) %pd, align 4\n  ret void\n}\n");
}

/* Results of 16 bits leave a half of their registers alone on gfx11: C's. */
char matrix_plain_kind(const instruction *t) {
    return MATRIX_BITS[t->d] == 16 && MATRIX_BITS[t->c] == 16 ? 'c' : 'v';
}

tw_code_object *matrix_compile(const char *target, const char *text, size_t length) {
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

bool matrix_serves(const bench *x, const instruction *t) { return t->targets & x->bit && t->wave == x->wave; }

/* ---- matrices ---- */

uint64_t MATRIX_A[16][32][128], MATRIX_B[16][128][32], MATRIX_C[16][32][32];

void matrix_clear(bench *x, const instruction *t) {
    memset(MATRIX_A, 0, sizeof MATRIX_A);
    memset(MATRIX_B, 0, sizeof MATRIX_B);
    memset(MATRIX_C, 0, sizeof MATRIX_C);
    memset(&x->ra, 0, sizeof x->ra);
    memset(&x->rb, 0, sizeof x->rb);
    memset(&x->rc, 0, sizeof x->rc);
    memset(&x->rd, 0, sizeof x->rd);
    x->ra.words = matrix_words(t, 'a');
    x->rb.words = matrix_words(t, 'b');
    x->rc.words = matrix_words(t, 'c');
    x->rd.words = matrix_words(t, 'd');
}

/* gfx11 wants a copy of A and B in each group of 16 lanes. */
static void put_input(registers *r, const instruction *t, format f, unsigned size, unsigned block, unsigned i,
                      unsigned k, uint64_t value) {
    matrix_place at = t->input(&t->shape, size, MATRIX_BITS[f], block, i, k);
    unsigned copies = t->targets & _11 ? t->wave / 16 : 1;
    for (unsigned copy = 0; copy < copies; copy++)
        matrix_put(r, MATRIX_BITS[f], (matrix_place){at.lane + 16 * copy, at.slot}, value);
}

void matrix_load(bench *x, const instruction *t) {
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++) {
        for (unsigned k = 0; k < s->k; k++) {
            for (unsigned i = 0; i < s->m; i++)
                put_input(&x->ra, t, t->a, s->m, block, i, k, MATRIX_A[block][i][k]);
            for (unsigned j = 0; j < s->n; j++)
                put_input(&x->rb, t, t->b, s->n, block, j, k, MATRIX_B[block][k][j]);
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                matrix_put(&x->rc, MATRIX_BITS[t->c], t->output(s, MATRIX_BITS[t->c], block, i, j),
                           MATRIX_C[block][i][j]);
    }
}

static uint64_t matrix_expected(const instruction *t, unsigned block, unsigned i, unsigned j) {
    double sum = matrix_decode(t->c, MATRIX_C[block][i][j]);
    for (unsigned k = 0; k < t->shape.k; k++)
        sum += matrix_decode(t->a, MATRIX_A[block][i][k]) * matrix_decode(t->b, MATRIX_B[block][k][j]);
    return matrix_encode(t->d, sum);
}

void matrix_check(const bench *x, const instruction *t, const char *what) {
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++)
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++) {
                uint64_t got =
                    matrix_get(&x->rd, MATRIX_BITS[t->d], t->output(s, MATRIX_BITS[t->d], block, i, j));
                uint64_t want = matrix_expected(t, block, i, j);
                if (got != want)
                    fail_msg("%s%s, %s: D(%u, %u) of block %u is %llx, not %llx", t->mnemonic, t->modifiers,
                             what, i, j, block, (unsigned long long)got, (unsigned long long)want);
            }
}

/* ---- modifiers, one kernel at a time ---- */

void matrix_run_with(bench *x, const instruction *t, char kind, const char *more) {
    tw_strbuf ir;
    harness plain = x->h;
    char name[16];
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, MATRIX_HEAD);
    matrix_append_kernel(&ir, t, 0, kind, more);
    harness_open_object(&x->h, matrix_compile(plain.target, tw_strbuf_text(&ir), ir.length), plain.target);
    tw_strbuf_free(&ir);
    uint64_t a = harness_buffer(&x->h, "a", x->ra.w, sizeof x->ra.w),
             b = harness_buffer(&x->h, "b", x->rb.w, sizeof x->rb.w);
    uint64_t c = harness_buffer(&x->h, "c", x->rc.w, sizeof x->rc.w),
             d = harness_buffer(&x->h, "d", x->rd.w, sizeof x->rd.w);
    snprintf(name, sizeof name, "m0%c", kind);
    int host = fegetround();
    if (x->host) fesetround(x->host);
    tw_status status = TRY(&x->h, name, 1, x->wave, PTR(d), PTR(a), PTR(b), PTR(c));
    fesetround(host);
    harness_silent(&x->h, status);
    harness_read(&x->h, d, x->rd.w, sizeof x->rd.w);
    harness_close(&x->h);
    x->h = plain;
}

const instruction *matrix_find(const bench *x, const char *mnemonic) {
    for (unsigned n = 0; n < MATRIX_COUNT; n++)
        if (matrix_serves(x, &MATRIX_TABLE[n]) && !strcmp(MATRIX_TABLE[n].mnemonic, mnemonic))
            return &MATRIX_TABLE[n];
    fail_msg("no %s", mnemonic);
    return NULL;
}

void matrix_start(bench *x, const char *target) {
    size_t length = strcspn(target, ":");
    memset(x, 0, sizeof *x);
    x->bit = 1;
    for (unsigned k = 0; strncmp(MATRIX_TARGETS[k], target, length) || MATRIX_TARGETS[k][length]; k++)
        x->bit *= 2;
    x->wave = target[length] || x->bit & (GFX90A | _940) ? 64 : 32;
    x->h.target = target;
    matrix_fnuz = x->bit == GFX942;
}

void matrix_fill(const instruction *t, uint32_t *seed) {
    const matrix_shape *s = &t->shape;
    for (unsigned block = 0; block < s->blocks; block++) {
        for (unsigned k = 0; k < s->k; k++) {
            for (unsigned i = 0; i < s->m; i++)
                MATRIX_A[block][i][k] = matrix_random(t->a, seed);
            for (unsigned j = 0; j < s->n; j++)
                MATRIX_B[block][k][j] = matrix_random(t->b, seed);
        }
        for (unsigned i = 0; i < s->m; i++)
            for (unsigned j = 0; j < s->n; j++)
                MATRIX_C[block][i][j] = matrix_random(t->c, seed);
    }
}

void matrix_expect(const bench *x, const instruction *t, unsigned i, unsigned j, uint64_t want) {
    uint64_t got = matrix_get(&x->rd, MATRIX_BITS[t->d], t->output(&t->shape, MATRIX_BITS[t->d], 0, i, j));
    if (got != want)
        fail_msg("%s: D(%u, %u) is %llx, not %llx", t->mnemonic, i, j, (unsigned long long)got,
                 (unsigned long long)want);
}
