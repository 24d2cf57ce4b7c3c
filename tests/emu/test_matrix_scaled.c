/* Matrix instructions with scales against sums of scaled products. */
#include <math.h>
#include <string.h>

#include "support/float_formats.h"
#include "tests/emu/matrix_bench.h"

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
        matrix_start(&x, "gfx950");
        matrix_clear(&x, &t);
        matrix_fill(&t, &seed);
        matrix_load(&x, &t);
        for (unsigned l = 0; l < 128; l++)
            scale[l / 64][l % 64] = 0x7d7d7d7du + (harness_random(&seed) >> 8 & 0x03030303u);
        tw_strbuf ir;
        unsigned wa = matrix_words(&t, 'a'), wb = matrix_words(&t, 'b'), wd = matrix_words(&t, 'd');
        tw_strbuf_init(&ir, NULL);
        tw_strbuf_append(&ir, MATRIX_HEAD);
        tw_strbuf_append(
            &ir,
            "define amdgpu_kernel void @k(ptr addrspace(1) %d, ptr addrspace(1) %a, ptr addrspace(1) %b, ptr "
            "addrspace(1) %c, ptr addrspace(1) %s, ptr addrspace(1) %t) #0 {\n"
            "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n");
        matrix_append_load(&ir, 'a', wa);
        matrix_append_load(&ir, 'b', wb);
        matrix_append_load(&ir, 'c', wd);
        matrix_append_load(&ir, 's', 1);
        matrix_append_load(&ir, 't', 1);
        tw_strbuf_printf(&ir,
                         "  %%r = call <%u x i32> asm sideeffect \"%s $0, $1, $2, $3, $4, $5%s\", "
                         "\"=&v,v,v,v,v,v\"(<%u x i32> %%va, "
                         "<%u x i32> %%vb, <%u x i32> %%vc, i32 %%vs, i32 %%vt)\n"
                         "  %%pd = getelementptr [%u x i32], ptr addrspace(1) %%d, i32 %%lane\n"
                         "  store <%u x i32> %%r, ptr addrspace(1) %%pd, align 4\n  ret void\n}\n",
                         wd, t.mnemonic, t.modifiers, wa, wb, wd, wd, wd);
        harness_open_object(&x.h, matrix_compile("gfx950", tw_strbuf_text(&ir), ir.length), "gfx950");
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
                double sum = matrix_decode(F32, MATRIX_C[0][i][j]);
                for (unsigned k = 0; k < t.shape.k; k++) {
                    int ea = (int)(scale[0][k / 32 * t.shape.m + i] >> 8 * CASES[which].byte_a & 255) - 127;
                    int eb = (int)(scale[1][k / 32 * t.shape.n + j] >> 8 * CASES[which].byte_b & 255) - 127;
                    sum +=
                        ldexp(matrix_decode(t.a, MATRIX_A[0][i][k]) * matrix_decode(t.b, MATRIX_B[0][k][j]),
                              ea + eb);
                }
                uint64_t got = matrix_get(&x.rd, 32, t.output(&t.shape, 32, 0, i, j));
                if (got != tw_f32_bits((float)sum))
                    fail_msg("%s%s: D(%u, %u) is wrong", t.mnemonic, t.modifiers, i, j);
            }
        harness_close(&x.h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(scaled_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
