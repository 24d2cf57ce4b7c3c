/* The divisions of LLVM's machine code (scale, reciprocal, refinement, fixup) against the host's, over pairs
 * of edges and random pairs, in all denormal modes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/strbuf.h"
#include "tests/emu/matrix_bench.h"

enum { EDGES = 48, RANDOM = 200 * 1024, PAIRS = EDGES * EDGES + RANDOM, BLOCK = 256 };

typedef struct division_mode {
    const char *out, *in;
} division_mode;
static const division_mode MODES[] = {{"ieee", "ieee"},
                                      {"preserve-sign", "preserve-sign"},
                                      {"preserve-sign", "ieee"},
                                      {"ieee", "preserve-sign"}};
enum { MODE_COUNT = 4 };

static tw_code_object *compile(const char *target) {
    tw_strbuf ir;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, "target triple = \"amdgcn-amd-amdhsa\"\n"
                          "declare i32 @llvm.amdgcn.workitem.id.x()\n"
                          "declare i32 @llvm.amdgcn.workgroup.id.x()\n");
    for (unsigned m = 0; m < MODE_COUNT; m++) {
        for (unsigned wide = 0; wide < 2; wide++) {
            const char *type = wide ? "double" : "float";
            tw_strbuf_printf(
                &ir,
                "define amdgpu_kernel void @%s%u(ptr addrspace(1) %%out, ptr addrspace(1) %%in) #%u {\n"
                "  %%g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
                "  %%l = call i32 @llvm.amdgcn.workitem.id.x()\n"
                "  %%b = mul i32 %%g, %d\n"
                "  %%i = add i32 %%b, %%l\n"
                "  %%p = getelementptr [2 x %s], ptr addrspace(1) %%in, i32 %%i\n"
                "  %%q = getelementptr %s, ptr addrspace(1) %%p, i32 1\n"
                "  %%x = load %s, ptr addrspace(1) %%p\n"
                "  %%y = load %s, ptr addrspace(1) %%q\n"
                "  %%r = fdiv %s %%x, %%y\n"
                "  %%d = getelementptr %s, ptr addrspace(1) %%out, i32 %%i\n"
                "  store %s %%r, ptr addrspace(1) %%d\n  ret void\n}\n",
                type, m, m, BLOCK, type, type, type, type, type, type, type);
        }
        tw_strbuf_printf(
            &ir,
            "attributes #%u = { \"denormal-fp-math\"=\"%s,%s\" \"denormal-fp-math-f32\"=\"%s,%s\" "
            "\"amdgpu-flat-work-group-size\"=\"1,256\" \"amdgpu-no-implicitarg-ptr\" }\n",
            m, MODES[m].out, MODES[m].in, MODES[m].out, MODES[m].in);
    }
    tw_code_object *object = matrix_compile(target, tw_strbuf_text(&ir), ir.length);
    tw_strbuf_free(&ir);
    return object;
}

/* ---- pairs ---- */

/* Exponents around all that v_div_scale asks about, with the mantissas that rounding finds hardest. */
static uint64_t edge(unsigned k, unsigned fraction, unsigned top) {
    static const int FROM_BOTTOM[] = {0, 1, 2, 23, 24, 25, 53, 54}, FROM_TOP[] = {0, 1, 2, 3};
    uint64_t mantissas[4] = {0, 1, (1ull << fraction) - 1, 1ull << (fraction - 1)};
    unsigned e = k / 4, exponent = e < 8 ? (unsigned)FROM_BOTTOM[e] : top - (unsigned)FROM_TOP[e - 8];
    return (uint64_t)exponent << fraction | mantissas[k % 4];
}

/* Half of the random ones have exponents a chosen distance apart: near the bounds of scaling or of the range.
 */
static void random_pair(uint32_t *seed, unsigned fraction, unsigned top, uint64_t *n, uint64_t *d) {
    uint64_t word[2];
    for (unsigned k = 0; k < 2; k++)
        word[k] = harness_random(seed) | (uint64_t)harness_random(seed) << 32;
    *n = word[0], *d = word[1];
    uint32_t how = harness_random(seed);
    if (how % 4 == 0) return;
    const int far = fraction == 23 ? 96 : 768, bias = (int)top / 2, bits = (int)fraction;
    const int apart[] = {0, far, -far, bias, -bias, -bias - bits, 1 - bias};
    int low = (int)(how >> 8 & top), difference = apart[how % 7] + (int)(how >> 20) % 4 - 2;
    int high = low + difference;
    if (how % 4 == 1) low = (int)(how >> 8) % (bits + 4), high = low + difference;
    high = high < 0 ? 0 : high > (int)top ? (int)top : high;
    uint64_t mask = (1ull << fraction) - 1, sign = ((uint64_t)top + 1) << fraction;
    *n = (*n & (mask | sign)) | (uint64_t)high << fraction;
    *d = (*d & (mask | sign)) | (uint64_t)low << fraction;
    if (how >> 30 == 0) *d &= ~(mask >> 2); /* few bits: quotients that end, and ties */
    if (how >> 30 == 1) *n |= mask & ~7u;
}

/* ---- what must come ---- */

static bool tiny64(double f) { return fabs(f) < 0x1p-1022; }
static bool tiny32(float f) { return fabsf(f) < 0x1p-126f; }

static bool good32(uint32_t bits, float n, float d, bool flush_out, bool flush_in) {
    float got, want;
    memcpy(&got, &bits, sizeof got);
    if (flush_in && tiny32(n)) n = copysignf(0, n);
    if (flush_in && tiny32(d)) d = copysignf(0, d);
    want = n / d;
    if (isnan(want)) return isnan(got);
    if (flush_out && tiny32(want)) want = copysignf(0, want);
    return !memcmp(&got, &want, sizeof got);
}
/* LLVM keeps the f64 mode through a division: of a numerator with the smallest exponent that is not scaled,
 * 54, the remainder may be a denormal, which a mode that flushes results loses, and with it the last bit. */
static bool good64(uint64_t bits, double n, double d, bool flush_out, bool flush_in) {
    double got, want;
    memcpy(&got, &bits, sizeof got);
    if (flush_out && isfinite(n) && fabs(n) >= 0x1p-969 && fabs(n) < 0x1p-968) return true;
    if (flush_in && tiny64(n)) n = copysign(0, n);
    if (flush_in && tiny64(d)) d = copysign(0, d);
    want = n / d;
    if (isnan(want)) return isnan(got);
    if (flush_out && tiny64(want)) want = copysign(0, want);
    return !memcmp(&got, &want, sizeof got);
}

static void divisions(void **state) {
    const char *target = *state;
    static uint32_t in32[PAIRS][2], out32[PAIRS];
    static uint64_t in64[PAIRS][2], out64[PAIRS];
    uint32_t seed = 4711;
    for (unsigned k = 0; k < EDGES * EDGES; k++) {
        uint64_t sign = k % 3;
        in32[k][0] = (uint32_t)(edge(k / EDGES, 23, 255) | (sign & 1) << 31);
        in32[k][1] = (uint32_t)(edge(k % EDGES, 23, 255) | (sign & 2) << 30);
        in64[k][0] = edge(k / EDGES, 52, 2047) | (sign & 1) << 63;
        in64[k][1] = edge(k % EDGES, 52, 2047) | (sign & 2) << 62;
    }
    for (unsigned k = EDGES * EDGES; k < PAIRS; k++) {
        uint64_t n, d;
        random_pair(&seed, 23, 255, &n, &d);
        in32[k][0] = (uint32_t)n, in32[k][1] = (uint32_t)d;
        random_pair(&seed, 52, 2047, &in64[k][0], &in64[k][1]);
    }
    harness h;
    harness_open_object(&h, compile(target), target);
    uint64_t din32 = harness_buffer(&h, "in32", in32, sizeof in32),
             din64 = harness_buffer(&h, "in64", in64, sizeof in64),
             dout32 = harness_buffer(&h, "out32", NULL, sizeof out32),
             dout64 = harness_buffer(&h, "out64", NULL, sizeof out64);
    unsigned wrong = 0;
    for (unsigned m = 0; m < MODE_COUNT; m++) {
        bool flush_out = MODES[m].out[0] == 'p', flush_in = MODES[m].in[0] == 'p';
        bool flush =
            flush_out || flush_in; /* for f32 LLVM leaves the middle of the division with both or none */
        char name[16];
        snprintf(name, sizeof name, "float%u", m);
        RUN(&h, name, PAIRS / BLOCK, BLOCK, PTR(dout32), PTR(din32));
        harness_read(&h, dout32, out32, sizeof out32);
        snprintf(name, sizeof name, "double%u", m);
        RUN(&h, name, PAIRS / BLOCK, BLOCK, PTR(dout64), PTR(din64));
        harness_read(&h, dout64, out64, sizeof out64);
        unsigned wrong32 = 0, wrong64 = 0;
        for (unsigned k = 0; k < PAIRS; k++) {
            float n, d;
            memcpy(&n, &in32[k][0], sizeof n);
            memcpy(&d, &in32[k][1], sizeof d);
            if (!good32(out32[k], n, d, flush, flush) && wrong32++ < 4)
                print_error("%s,%s: %08x / %08x gives %08x\n", MODES[m].out, MODES[m].in, in32[k][0],
                            in32[k][1], out32[k]);
            if (!good64(out64[k], tw_f64_of_bits(in64[k][0]), tw_f64_of_bits(in64[k][1]), flush_out,
                        flush_in) &&
                wrong64++ < 4)
                print_error("%s,%s: %016llx / %016llx gives %016llx\n", MODES[m].out, MODES[m].in,
                            (unsigned long long)in64[k][0], (unsigned long long)in64[k][1],
                            (unsigned long long)out64[k]);
        }
        if (wrong32 || wrong64) print_error("wrong: %u, %u\n", wrong32, wrong64);
        wrong += wrong32 + wrong64;
    }
    harness_close(&h);
    assert_int_equal(wrong, 0);
}

int main(void) {
    static char targets[8][8] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                 "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    struct CMUnitTest tests[8];
    for (unsigned k = 0; k < 8; k++)
        tests[k] = (struct CMUnitTest){targets[k], divisions, NULL, NULL, targets[k]};
    return _cmocka_run_group_tests("divisions", tests, 8, NULL, NULL);
}
