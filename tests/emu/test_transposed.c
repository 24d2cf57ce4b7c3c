/* Loads that transpose, against the exchange of elements that the documents give. */
#include <stdio.h>
#include <string.h>

#include "tests/emu/matrix_bench.h"

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
    tw_strbuf_append(&ir, MATRIX_HEAD);
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
    harness_open_object(&h, matrix_compile(t->target, tw_strbuf_text(&ir), ir.length), t->target);
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
    snprintf(text, sizeof text, "%s%s", MATRIX_HEAD, BODY);
    harness_open_object(&h, matrix_compile(t->target, text, strlen(text)), t->target);
    uint8_t in[64] = {0};
    uint64_t source = harness_buffer(&h, "in", in, sizeof in),
             result = harness_buffer(&h, "out", NULL, sizeof in);
    assert_int_equal(TRY(&h, "k", 1, 16, PTR(result), PTR(source)), TW_ERR_DEVICE);
    assert_non_null(strstr(tw_diag_text(h.diag), "needs all lanes"));
    harness_close(&h);
}

int main(void) {
    enum { LOADS = sizeof TRANSPOSED / sizeof TRANSPOSED[0] };
    struct CMUnitTest tests[LOADS + 1];
    for (unsigned k = 0; k < LOADS; k++)
        tests[k] = (struct CMUnitTest){TRANSPOSED[k].text, transposed_loads, NULL, NULL,
                                       (void *)(uintptr_t)&TRANSPOSED[k]};
    tests[LOADS] = (struct CMUnitTest)cmocka_unit_test(half_a_wave_transposes_nothing);
    return _cmocka_run_group_tests("transposed", tests, LOADS + 1, NULL, NULL);
}
