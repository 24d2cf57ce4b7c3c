/* Matrix instructions with scales against sums of scaled products. */
#include <math.h>
#include <string.h>

#include "support/float_formats.h"
#include "tests/emu/matrix_bench.h"

typedef enum scale_format { E8, E5M3, E4M3 } scale_format;

typedef struct scaled {
    const char *target, *name, *modifiers;
    unsigned m, n, k;
    format a, b;
    unsigned block;     /* of k that share a scale */
    unsigned at[2];     /* gfx950: the byte of A's and B's scales; gfx1250: the first lane */
    scale_format as[2]; /* what they are */
    bool uniform;       /* A's in scalar registers */
} scaled;

static const scaled CASES[] = {
    {"gfx950", "v_mfma_scale_f32_16x16x128_f8f6f4", "", 16, 16, 128, FP8, FP8, 32, {0, 0}, {E8, E8}, false},
    {"gfx950",
     "v_mfma_scale_f32_16x16x128_f8f6f4",
     " op_sel:[1,0,0] op_sel_hi:[0,1,0] blgp:4",
     16,
     16,
     128,
     FP8,
     FP4,
     32,
     {1, 2},
     {E8, E8},
     false},
    {"gfx950",
     "v_mfma_scale_f32_32x32x64_f8f6f4",
     " op_sel:[1,1,0] op_sel_hi:[1,0,0] cbsz:2 blgp:1",
     32,
     32,
     64,
     FP6,
     BF8,
     32,
     {3, 1},
     {E8, E8},
     false},
    {"gfx1250", "v_wmma_scale_f32_16x16x128_f8f6f4", "", 16, 16, 128, FP8, FP8, 32, {0, 0}, {E8, E8}, false},
    {"gfx1250",
     "v_wmma_scale_f32_16x16x128_f8f6f4",
     " matrix_a_fmt:MATRIX_FMT_FP6 matrix_b_fmt:MATRIX_FMT_FP8 matrix_a_scale:MATRIX_SCALE_ROW1",
     16,
     16,
     128,
     FP6,
     FP8,
     32,
     {16, 0},
     {E8, E8},
     false},
    {"gfx1250",
     "v_wmma_scale_f32_16x16x128_f8f6f4",
     " matrix_b_fmt:MATRIX_FMT_FP4 matrix_b_scale:MATRIX_SCALE_ROW1 matrix_a_scale_fmt:MATRIX_SCALE_FMT_E5M3 "
     "matrix_b_scale_fmt:MATRIX_SCALE_FMT_E4M3",
     16,
     16,
     128,
     FP8,
     FP4,
     32,
     {0, 16},
     {E5M3, E4M3},
     false},
    {"gfx1250",
     "v_wmma_scale_f32_16x16x128_f8f6f4",
     " matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_BF6",
     16,
     16,
     128,
     FP4,
     BF6,
     32,
     {0, 0},
     {E8, E8},
     true},
    {"gfx1250",
     "v_wmma_scale16_f32_16x16x128_f8f6f4",
     " matrix_a_fmt:MATRIX_FMT_BF8 matrix_b_fmt:MATRIX_FMT_BF6",
     16,
     16,
     128,
     BF8,
     BF6,
     16,
     {0, 0},
     {E8, E8},
     false},
    {"gfx1250",
     "v_wmma_scale16_f32_16x16x128_f8f6f4",
     " matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4 matrix_a_scale:MATRIX_SCALE_ROW1 "
     "matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3",
     16,
     16,
     128,
     FP4,
     FP4,
     16,
     {16, 0},
     {E4M3, E8},
     false},
    {"gfx1250", "v_wmma_scale16_f32_16x16x128_f8f6f4", "", 16, 16, 128, FP8, FP8, 16, {0, 0}, {E8, E8}, true},
    {"gfx1250",
     "v_wmma_scale_f32_32x16x128_f4",
     " matrix_b_scale:MATRIX_SCALE_ROW1",
     32,
     16,
     128,
     FP4,
     FP4,
     32,
     {0, 16},
     {E8, E8},
     false},
    {"gfx1250",
     "v_wmma_scale16_f32_32x16x128_f4",
     " matrix_b_scale_fmt:MATRIX_SCALE_FMT_E5M3",
     32,
     16,
     128,
     FP4,
     FP4,
     16,
     {0, 0},
     {E8, E5M3},
     false},
};

typedef struct scaled_bench {
    bench x;
    instruction t;
    uint32_t scale[2][128]; /* by lane and word */
    unsigned words;         /* of a scale operand */
} scaled_bench;

static void append_scaled(tw_strbuf *ir, const scaled *c, const instruction *t, unsigned words) {
    unsigned wa = matrix_words(t, 'a'), wb = matrix_words(t, 'b'), wd = matrix_words(t, 'd');
    const char *type = words == 2 ? "i64" : "i32";
    tw_strbuf_append(ir, MATRIX_HEAD);
    tw_strbuf_append(ir, "define amdgpu_kernel void @k(ptr addrspace(1) %d, ptr addrspace(1) %a, ptr "
                         "addrspace(1) %b, ptr addrspace(1) %c, ptr "
                         "addrspace(1) noalias readonly %s, ptr addrspace(1) %t) #0 {\n  %lane = call i32 "
                         "@llvm.amdgcn.workitem.id.x()\n");
    matrix_append_load(ir, 'a', wa);
    matrix_append_load(ir, 'b', wb);
    matrix_append_load(ir, 'c', wd);
    for (const char *o = "st"; *o; o++)
        tw_strbuf_printf(ir,
                         "  %%p%c = getelementptr %s, ptr addrspace(1) %%%c, i32 %s\n  %%v%c = load %s, ptr "
                         "addrspace(1) %%p%c, "
                         "align 8\n",
                         *o, type, *o, c->uniform && *o == 's' ? "0" : "%lane", *o, type, *o);
    tw_strbuf_printf(ir,
                     "  %%r = call <%u x i32> asm sideeffect \"%s $0, $1, $2, $3, $4, $5%s\", "
                     "\"=&v,v,v,v,%s,v\"(<%u x i32> %%va, "
                     "<%u x i32> %%vb, <%u x i32> %%vc, %s %%vs, %s %%vt)\n"
                     "  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n"
                     "  store <%u x i32> %%r, ptr addrspace(1) %%pd, align 4\n  ret void\n}\n",
                     wd, c->name, c->modifiers, c->uniform ? "s" : "v", wa, wb, wd, type, type, wd, wd);
}

static void open_scaled(scaled_bench *y, const scaled *c) {
    tw_strbuf ir;
    bool gfx950 = !strcmp(c->target, "gfx950");
    memset(y, 0, sizeof *y);
    matrix_start(&y->x, c->target);
    y->words = c->block == 16 ? 2 : 1;
    y->t = (instruction){y->x.bit,
                         y->x.wave,
                         c->name,
                         c->modifiers,
                         c->a,
                         c->b,
                         F32,
                         F32,
                         {y->x.wave, 1, c->m, c->n, c->k},
                         gfx950 ? mfma_input : gfx1250_input,
                         gfx950 ? mfma_output : gfx1250_output};
    tw_strbuf_init(&ir, NULL);
    append_scaled(&ir, c, &y->t, y->words);
    harness_open_object(&y->x.h, matrix_compile(c->target, tw_strbuf_text(&ir), ir.length), c->target);
    tw_strbuf_free(&ir);
    matrix_clear(&y->x, &y->t);
}

static void run_scaled(scaled_bench *y) {
    uint64_t a = harness_buffer(&y->x.h, "a", y->x.ra.w, sizeof y->x.ra.w),
             b = harness_buffer(&y->x.h, "b", y->x.rb.w, sizeof y->x.rb.w);
    uint64_t c = harness_buffer(&y->x.h, "c", y->x.rc.w, sizeof y->x.rc.w),
             d = harness_buffer(&y->x.h, "d", y->x.rd.w, sizeof y->x.rd.w);
    uint64_t s = harness_buffer(&y->x.h, "s", y->scale[0], sizeof y->scale[0]),
             t = harness_buffer(&y->x.h, "t", y->scale[1], sizeof y->scale[1]);
    RUN(&y->x.h, "k", 1, y->x.wave, PTR(d), PTR(a), PTR(b), PTR(c), PTR(s), PTR(t));
    harness_read(&y->x.h, d, y->x.rd.w, sizeof y->x.rd.w);
}

static unsigned scale_code(const scaled_bench *y, const scaled *c, unsigned which, unsigned row, unsigned k) {
    unsigned rows = which ? c->n : c->m, byte = k / c->block, lane = c->at[which] + row;
    if (!strcmp(c->target, "gfx950")) {
        byte = c->at[which];
        lane = k / 32 * rows + row;
    }
    if (c->uniform && !which) lane = 0;
    return y->scale[which][lane * y->words + byte / 4] >> byte % 4 * 8 & 255;
}

static double scale_of(scale_format f, unsigned code) {
    switch (f) {
    case E5M3: return code >> 3 ? ldexp(1 + (code & 7) / 8.0, (int)(code >> 3) - 15) : ldexp(code / 8.0, -14);
    case E4M3: return tw_float_to_f64(TW_FLOAT_FP8_OCP, code);
    default: return ldexp(1, (int)code - 127);
    }
}

/* Codes of scales around 1. */
static uint32_t random_scales(scale_format f, uint32_t *seed) {
    uint32_t base = f == E8 ? 0x7d7d7d7du : f == E5M3 ? 0x72727272u : 0x32323232u;
    return base + (harness_random(seed) >> 4 & (f == E8 ? 0x03030303u : 0x0f0f0f0fu));
}

static void scaled_products(void **state) {
    uint32_t seed = 21;
    (void)state;
    for (unsigned which = 0; which < sizeof CASES / sizeof CASES[0]; which++) {
        const scaled *c = &CASES[which];
        scaled_bench y;
        open_scaled(&y, c);
        matrix_fill(&y.t, &seed);
        matrix_load(&y.x, &y.t);
        for (unsigned l = 0; l < 256; l++)
            y.scale[l / 128][l % 128] = random_scales(c->as[l / 128], &seed);
        run_scaled(&y);
        for (unsigned i = 0; i < c->m; i++)
            for (unsigned j = 0; j < c->n; j++) {
                float sum = (float)matrix_decode(F32, MATRIX_C[0][i][j]);
                for (unsigned k = 0; k < c->k; k++)
                    sum = (float)(sum + matrix_decode(c->a, MATRIX_A[0][i][k]) *
                                            matrix_decode(c->b, MATRIX_B[0][k][j]) *
                                            scale_of(c->as[0], scale_code(&y, c, 0, i, k)) *
                                            scale_of(c->as[1], scale_code(&y, c, 1, j, k)));
                uint64_t got = matrix_get(&y.x.rd, 32, y.t.output(&y.t.shape, 32, 0, i, j));
                if (got != tw_f32_bits(sum))
                    fail_msg("%s%s: D(%u, %u) is %llx, not %x", c->name, c->modifiers, i, j,
                             (unsigned long long)got, tw_f32_bits(sum));
            }
        harness_close(&y.x.h);
    }
}

/* The scale of one block of one row is special: NaN, or the least and the greatest there are. */
static void special_scales(void **state) {
    static const struct {
        unsigned which; /* of CASES */
        uint32_t code, want;
    } SPECIAL[] = {{3, 0xff, 0x7fc00000u}, {3, 0, 0x00400000u}, {3, 0xfe, 0x7f000000u},
                   {5, 0xff, 0x7fc00000u}, {5, 1, 0x37000000u}, {8, 0x7f, 0x7fc00000u},
                   {8, 0xb8, 0xbf800000u}};
    (void)state;
    for (unsigned s = 0; s < sizeof SPECIAL / sizeof SPECIAL[0]; s++) {
        const scaled *c = &CASES[SPECIAL[s].which];
        scaled_bench y;
        open_scaled(&y, c);
        uint64_t one[] = {[FP8] = 0x38, [FP4] = 2};
        MATRIX_A[0][2][c->block + 1] = one[c->a];
        MATRIX_B[0][c->block + 1][5] = one[c->b];
        matrix_load(&y.x, &y.t);
        for (unsigned l = 0; l < 256; l++) {
            static const uint32_t ONE[] = {[E8] = 0x7f7f7f7fu, [E5M3] = 0x78787878u, [E4M3] = 0x38383838u};
            y.scale[l / 128][l % 128] = ONE[c->as[l / 128]];
        }
        uint32_t *word = &y.scale[0][(c->at[0] + 2) * y.words]; /* block 1: byte 1 */
        *word = (*word & ~0xff00u) | SPECIAL[s].code << 8;
        run_scaled(&y);
        matrix_expect(&y.x, &y.t, 2, 5, SPECIAL[s].want);
        matrix_expect(&y.x, &y.t, 3, 5, 0);
        harness_close(&y.x.h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scaled_products), cmocka_unit_test(special_scales)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
