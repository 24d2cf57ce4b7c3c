/* MODE around matrix instructions and conversions to fp8: FP16_OVFL counts, the round mode does not, and what
 * the host rounds to never does. */
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/kernarg.h"
#include "support/float_formats.h"
#include "tests/emu/matrix_bench.h"

static const int HOST[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
enum { HOST_MODES = 4 };

/* Settings of MODE, as text before an instruction. */
static const char *const SETTING[] = {"s_nop 0", "s_setreg_imm32_b32 hwreg(1, 23, 1), 1",
                                      "s_setreg_imm32_b32 hwreg(1, 0, 4), 15"};
enum { NORMAL, OVERFLOWS, TOWARD_ZERO, SETTINGS };

typedef struct mode_case {
    const char *target, *mnemonic;
    uint64_t a, b, c; /* A(0, 0), B(0, 0), C(0, 0) */
    uint64_t want[SETTINGS];
} mode_case;

static const mode_case MATRICES[] = {
    {"gfx1100", "v_wmma_f16_16x16x16_f16", 0x7bff, 0x4000, 0, {0x7c00, 0x7bff, 0x7c00}},      /* 65504 * 2 */
    {"gfx1100", "v_wmma_f16_16x16x16_f16", 0x3c00, 0x3c00, 0x6802, {0x6802, 0x6802, 0x6802}}, /* 1 + 2052 */
    {"gfx1201", "v_wmma_f16_16x16x16_f16", 0x4200, 0x3c00, 0x6800, {0x6802, 0x6802, 0x6802}}, /* 3 + 2048 */
    {"gfx1100", "v_wmma_bf16_16x16x16_bf16", 0x7f7f, 0x4000, 0, {0x7f80, 0x7f7f, 0x7f80}},
    {"gfx1250", "v_wmma_f16_16x16x64_fp8_fp8", 0x7e, 0xfe, 0, {0xfc00, 0xfbff, 0xfc00}}, /* 448 * -448 */
    {"gfx1250",
     "v_wmma_bf16f32_16x16x32_bf16",
     0x3f80,
     0x3f80,
     0x43010000u,
     {0x4302, 0x4302, 0x4302}}, /* 1 + 129 */
    {"gfx942",
     "v_mfma_f32_16x16x16_f16",
     0x3c00,
     0x3c00,
     0x4c000001u,
     {0x4c000001u, 0x4c000001u, 0x4c000001u}}, /* tie, even below */
    {"gfx90a",
     "v_mfma_f64_16x16x4f64",
     0x3ff0000000000000u,
     0x3ca8000000000000u,
     0x3ff0000000000000u,
     {0x3ff0000000000001u, 0x3ff0000000000001u, 0x3ff0000000000001u}}, /* 1 + 1.5 * 2^-53 */
};

static void matrices(void **state) {
    (void)state;
    for (unsigned m = 0; m < sizeof MATRICES / sizeof MATRICES[0]; m++) {
        for (unsigned s = 0; s < SETTINGS; s++) {
            const mode_case *c = &MATRICES[m];
            bench x;
            char text[128];
            matrix_start(&x, c->target);
            instruction t = *matrix_find(&x, c->mnemonic);
            snprintf(text, sizeof text, "%s\\0A%s", SETTING[s], c->mnemonic);
            t.mnemonic = text;
            matrix_clear(&x, &t);
            MATRIX_A[0][0][0] = c->a;
            MATRIX_B[0][0][0] = c->b;
            MATRIX_C[0][0][0] = c->c;
            matrix_load(&x, &t);
            for (unsigned h = 0; h < HOST_MODES; h++) {
                x.host = HOST[h];
                matrix_run_with(&x, &t, matrix_plain_kind(&t), "");
                matrix_expect(&x, &t, 0, 0, c->want[s]);
            }
        }
    }
}

typedef struct conversion {
    const char *target, *text;
    float value;
    uint32_t want[SETTINGS];
} conversion;

static const conversion CONVERSIONS[] = {
    {"gfx950", "v_cvt_pk_fp8_f32 $0, $1, $1", 19, {0x5a5a, 0x5a5a, 0x5a5a}},
    {"gfx950", "v_cvt_pk_fp8_f32 $0, $1, $1", -1000, {0xffff, 0xfefe, 0xffff}},
    {"gfx942", "v_cvt_pk_fp8_f32 $0, $1, $1", 19, {0x6262, 0x6262, 0x6262}},
    {"gfx942", "v_cvt_pk_fp8_f32 $0, $1, $1", 1000, {0x8080, 0x7f7f, 0x8080}},
    {"gfx1201", "v_cvt_pk_bf8_f32 $0, $1, $1", 11, {0x4a4a, 0x4a4a, 0x4a4a}}, /* tie of 10 and 12 */
    {"gfx1201", "v_cvt_pk_bf8_f32 $0, $1, $1", 1e6f, {0x7c7c, 0x7b7b, 0x7c7c}},
    {"gfx1250", "v_cvt_pk_fp8_f32 $0, $1, $1", 1000, {0x7f7f, 0x7e7e, 0x7f7f}},
    {"gfx942", "v_cvt_pk_fp8_f32 $0, $1, $1", INFINITY, {0x8080, 0x7f7f, 0x8080}},
    {"gfx942", "v_cvt_pk_bf8_f32 $0, $1, $1", -INFINITY, {0x8080, 0xffff, 0x8080}},
    {"gfx950", "v_cvt_pk_fp8_f32 $0, $1, $1", -INFINITY, {0xffff, 0xfefe, 0xffff}},
    {"gfx950", "v_cvt_pk_bf8_f32 $0, $1, $1", INFINITY, {0x7c7c, 0x7b7b, 0x7c7c}},
    {"gfx1250", "v_cvt_pk_bf8_f32 $0, $1, $1", -INFINITY, {0xfcfc, 0xfbfb, 0xfcfc}},
    {"gfx1200", "v_cvt_pk_fp8_f32 $0, $1, $1", 1000, {0x7f7f, 0x7e7e, 0x7f7f}},
    {"gfx1200", "v_cvt_pk_fp8_f32 $0, $1, $1", INFINITY, {0x7f7f, 0x7f7f, 0x7f7f}},
    {"gfx1201", "v_cvt_sr_fp8_f32 $0, $1, $1", -INFINITY, {0xff, 0xff, 0xff}},
    {"gfx1201", "v_cvt_pk_bf8_f32 $0, $1, $1", -INFINITY, {0xfcfc, 0xfcfc, 0xfcfc}},
    {"gfx1201", "v_cvt_pk_bf8_f32 $0, $1, $1", NAN, {0xfefe, 0xfefe, 0xfefe}},
};

static void conversions(void **state) {
    (void)state;
    for (unsigned n = 0; n < sizeof CONVERSIONS / sizeof CONVERSIONS[0]; n++) {
        for (unsigned s = 0; s < SETTINGS; s++) {
            const conversion *c = &CONVERSIONS[n];
            char text[1024];
            harness h;
            uint32_t got = 0;
            snprintf(text, sizeof text,
                     "%sdefine amdgpu_kernel void @k(ptr addrspace(1) %%d, float %%x) #0 {\n"
                     "  %%r = call i32 asm sideeffect \"%s\\0Av_mov_b32 $0, 0\\0A%s\", \"=&v,v\"(float %%x)\n"
                     "  store i32 %%r, ptr addrspace(1) %%d\n  ret void\n}\n",
                     MATRIX_HEAD, SETTING[s], c->text);
            harness_open_object(&h, matrix_compile(c->target, text, strlen(text)), c->target);
            for (unsigned k = 0; k < HOST_MODES; k++) {
                uint64_t d = harness_buffer(&h, "d", NULL, 4);
                fesetround(HOST[k]);
                tw_status status = TRY(&h, "k", 1, 1, PTR(d), harness_f32(c->value));
                fesetround(FE_TONEAREST);
                harness_silent(&h, status);
                harness_read(&h, d, &got, sizeof got);
                if (got != c->want[s])
                    fail_msg("%s on %s of %g, after %s, host mode %u: %x, not %x", c->text, c->target,
                             (double)c->value, SETTING[s], k, got, c->want[s]);
            }
            harness_close(&h);
        }
    }
}

/* Plain arithmetic has the wave's round mode: to nearest even unless it says otherwise. */
static void additions(void **state) {
    static const char *const TARGETS[] = {"gfx90a", "gfx1100", "gfx1250"};
    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        for (unsigned s = 0; s < SETTINGS; s++) {
            char text[1024];
            harness h;
            uint32_t got = 0;
            snprintf(text, sizeof text,
                     "%sdefine amdgpu_kernel void @k(ptr addrspace(1) %%d, float %%x, float %%y) #0 {\n"
                     "  %%r = call i32 asm sideeffect \"%s\\0Av_add_f32 $0, $1, $2\", \"=&v,v,v\"(float %%x, "
                     "float %%y)\n"
                     "  store i32 %%r, ptr addrspace(1) %%d\n  ret void\n}\n",
                     MATRIX_HEAD, SETTING[s]);
            harness_open_object(&h, matrix_compile(TARGETS[t], text, strlen(text)), TARGETS[t]);
            for (unsigned k = 0; k < HOST_MODES; k++) {
                uint64_t d = harness_buffer(&h, "d", NULL, 4);
                fesetround(HOST[k]);
                tw_status status = TRY(&h, "k", 1, 1, PTR(d), harness_f32(1), harness_f32(0x1.8p-24f));
                fesetround(FE_TONEAREST);
                harness_silent(&h, status);
                harness_read(&h, d, &got, sizeof got);
                uint32_t want = s == TOWARD_ZERO ? 0x3f800000u : 0x3f800001u;
                if (got != want)
                    fail_msg("%s, after %s, host mode %u: %x, not %x", TARGETS[t], SETTING[s], k, got, want);
            }
            harness_close(&h);
        }
    }
}

/* Bit 26 of the first word of resources in a kernel descriptor is MODE.FP16_OVFL at the start. */
static void descriptors(void **state) {
    static const char *const TARGETS[] = {"gfx90a", "gfx1100", "gfx1201"};
    (void)state;
    for (unsigned t = 0; t < 3; t++) {
        char text[1024];
        harness h;
        snprintf(text, sizeof text,
                 "%sdefine amdgpu_kernel void @k(ptr addrspace(1) %%d, float %%x) #0 {\n"
                 "  %%r = call i32 asm \"v_mov_b32 $0, 0\\0Av_cvt_f16_f32 $0, $1\", \"=&v,v\"(float %%x)\n"
                 "  store i32 %%r, ptr addrspace(1) %%d\n  ret void\n}\n",
                 MATRIX_HEAD);
        harness_open_object(&h, matrix_compile(TARGETS[t], text, strlen(text)), TARGETS[t]);
        uint8_t *descriptor = ((tw_kernel_info *)tw_kernel_find(h.object, "k", h.diag))->descriptor;
        for (unsigned set = 0; set < 2; set++) {
            uint32_t got = 0;
            uint64_t d = harness_buffer(&h, "d", NULL, 4);
            descriptor[51] = (uint8_t)((descriptor[51] & ~4u) | (set ? 4 : 0));
            harness_silent(&h, TRY(&h, "k", 1, 1, PTR(d), harness_f32(1e6f)));
            harness_read(&h, d, &got, sizeof got);
            assert_int_equal(got & 0xffff, set ? 0x7bff : 0x7c00);
        }
        harness_close(&h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices), cmocka_unit_test(conversions),
                                       cmocka_unit_test(additions), cmocka_unit_test(descriptors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
