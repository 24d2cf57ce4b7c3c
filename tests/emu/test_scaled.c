/* Every conversion of scaled.def against formulas that look for the nearest code instead of computing it. */
#include "tests/emu/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "jit/compiler.h"
#include "support/float_formats.h"
#include "support/strbuf.h"

enum { F32 = 0, F16, BF16, FP8, BF8, FP6, BF6, FP4 };
enum { TWO = 1, RND = 2, E8 = 4 };

typedef struct conversion {
    const char *name;
    unsigned elements, to, from, flags;
} conversion;
static const conversion ALL[] = {
#define SCALED(name, elements, to, from, flags) {#name, elements, to, from, flags},
#include "run/emu/scaled.def"
};
enum { COUNT = sizeof ALL / sizeof ALL[0], ITEMS = 64, IN = 36, OUT = 32 };

static const unsigned BITS[] = {32, 16, 16, 8, 8, 6, 6, 4};
static unsigned words_of(unsigned format, unsigned n) { return (BITS[format] * n + 31) / 32; }
static bool on_gfx1250(const conversion *c) {
    return !strncmp(c->name, "v_cvt_scale_", 12) || strstr(c->name, "_pk8_") ||
           (strstr(c->name, "pk16_") && !strstr(c->name, "2xpk16_"));
}

/* ---- what they should give ---- */

static double mini(unsigned format, uint32_t code) {
    static const double FP4_VALUES[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    double v;
    if (format == FP4) {
        v = FP4_VALUES[code & 7];
        return code & 8 ? -v : v;
    }
    unsigned m = code & 31, e = format == FP6 ? m / 8 : m / 4, f = format == FP6 ? m % 8 : m % 4;
    if (format == FP6)
        v = e ? (8 + f) * exp2((double)e - 4) : f / 8.0;
    else
        v = e ? (4 + f) * exp2((double)e - 5) : f / 16.0;
    return code & 32 ? -v : v;
}

/* The code nearest to v, the even one of two; or of its neighbours the one that a random number picks. */
static uint32_t mini_bits(unsigned format, double v, const uint32_t *random) {
    uint32_t most = format == FP4 ? 7 : 31, below = 0, sign = signbit(v) ? most + 1 : 0;
    double a = fabs(v);
    while (below < most && mini(format, below + 1) <= a)
        below++;
    if (below == most) return sign | most;
    double low = mini(format, below), high = mini(format, below + 1), at = (a - low) / (high - low);
    bool up = random ? at + *random / 4294967296.0 >= 1 : at > 0.5 || (at == 0.5 && below & 1);
    return sign | (below + up);
}

static tw_float_format known(unsigned format) {
    static const tw_float_format F[] = {TW_FLOAT_F32, TW_FLOAT_F16, TW_FLOAT_BF16, TW_FLOAT_FP8_OCP,
                                        TW_FLOAT_BF8_OCP};
    return F[format];
}
static double value_of(unsigned format, uint32_t bits) {
    return format < FP6 ? tw_float_to_f64(known(format), bits) : mini(format, bits);
}
static uint32_t bits_of(unsigned format, double v, const uint32_t *random) {
    if (format >= FP6) return mini_bits(format, v, random);
    if (random) v = harness_stochastic(known(format), v, *random);
    return (uint32_t)tw_float_convert(TW_FLOAT_F64, tw_f64_bits(v), known(format), TW_ROUND_NEAREST_EVEN,
                                      TW_OVERFLOW_IEEE);
}

static uint32_t field(const uint32_t *v, unsigned bit, unsigned bits) {
    uint32_t r = 0;
    for (unsigned k = 0; k < bits; k++)
        r |= (v[(bit + k) / 32] >> (bit + k) % 32 & 1) << k;
    return r;
}

/* The sources one behind the other, then the random number and the scale; `select` is the part of a register.
 */
static void expected(const conversion *c, const uint32_t *in, unsigned select, uint32_t *out) {
    unsigned parts = c->flags & TWO ? 2 : 1, each = words_of(c->from, c->elements / parts);
    const uint32_t *rest = in + parts * each;
    uint32_t random = rest[0], scale = c->flags & RND ? rest[1] : rest[0];
    int e = (int)(c->flags & E8 ? scale >> 8 * select & 255 : scale >> 23 & 255) - 127;
    bool narrow = c->to >= FP8;
    unsigned from = BITS[c->from], to = BITS[c->to];
    unsigned source =
        !narrow && from * c->elements <= 16 && !(c->flags & E8) ? from * c->elements * select : 0;
    unsigned result = to * c->elements >= 32 ? 0 : narrow ? to * c->elements * select : to * (select & 1);
    memset(out, 0, OUT * sizeof *out);
    for (unsigned n = 0; n < c->elements; n++) {
        const uint32_t *data = parts == 2 ? in + n % 2 * each : in;
        double v = value_of(c->from, field(data, source + (parts == 2 ? n / 2 : n) * from, from));
        v = e == 128 ? NAN : narrow ? v / exp2(e) : v * exp2(e);
        uint32_t bits =
            isnan(v) ? bits_of(c->to, NAN, NULL) : bits_of(c->to, v, c->flags & RND ? &random : NULL);
        for (unsigned k = 0, at = result + n * to; k < to; k++)
            out[(at + k) / 32] |= (bits >> k & 1) << (at + k) % 32;
        random = random << 1 ^ (random >> 31 ? 0xc5 : 0);
    }
}

/* ---- kernels ---- */

static unsigned selections(const conversion *c) {
    unsigned bits = (c->to >= FP8 ? BITS[c->to] : BITS[c->from]) * c->elements;
    if (c->flags & E8) return 4;
    return bits == 16 ? 2 : bits == 8 ? 4 : 1;
}

/* How the text picks part `select`. */
static void selection_text(const conversion *c, unsigned select, char *out, size_t size) {
    unsigned sources = 2 + !!(c->flags & TWO) + !!(c->flags & RND), bit = 0, value = 0;
    out[0] = 0;
    if (selections(c) == 1) return;
    if (c->flags & E8) {
        snprintf(out, size, " scale_sel:%u", select);
        return;
    }
    bool half = selections(c) == 2;
    value = c->to >= FP8 ? (half ? select << 3 : select << 2) : select;
    if (c->to == F16 && c->elements == 1) value |= (select & 1) << 3; /* the half that takes the result */
    int n = snprintf(out, size, " op_sel:[");
    unsigned listed = c->to >= FP8 && !half && sources < 3 ? 4 : sources + 1;
    for (unsigned k = 0; k < listed; k++) {
        bit = k + 1 == listed ? value >> 3 & 1 : value >> k & 1;
        n += snprintf(out + n, size - (size_t)n, "%s%u", k ? "," : "", bit);
    }
    snprintf(out + n, size - (size_t)n, "]");
}

static void vector_type(char *out, size_t size, unsigned words) {
    if (words == 1)
        snprintf(out, size, "i32");
    else
        snprintf(out, size, "<%u x i32>", words);
}

static void append_kernel(tw_strbuf *ir, unsigned number, unsigned select) {
    const conversion *c = &ALL[number];
    unsigned parts = c->flags & TWO ? 2 : 1, each = words_of(c->from, c->elements / parts);
    unsigned singles = c->flags & RND ? 2 : 1, operands = parts + singles;
    char type[24], result[24], sel[40];
    vector_type(result, sizeof result, words_of(c->to, c->elements));
    selection_text(c, select, sel, sizeof sel);
    tw_strbuf_printf(ir,
                     "define amdgpu_kernel void @k%u_%u(ptr addrspace(1) %%out, ptr addrspace(1) %%in) #0 {\n"
                     "  %%i = call i32 @llvm.amdgcn.workitem.id.x()\n"
                     "  %%p = getelementptr [%u x i32], ptr addrspace(1) %%in, i32 %%i\n"
                     "  %%q = getelementptr [%u x i32], ptr addrspace(1) %%out, i32 %%i\n",
                     number, select, IN, OUT);
    for (unsigned k = 0; k < operands; k++) {
        vector_type(type, sizeof type, k < parts ? each : 1);
        tw_strbuf_printf(ir,
                         "  %%a%u = getelementptr i32, ptr addrspace(1) %%p, i32 %u\n"
                         "  %%v%u = load %s, ptr addrspace(1) %%a%u, align 4\n",
                         k, k < parts ? k * each : parts * each + k - parts, k, type, k);
    }
    bool partial = words_of(c->to, c->elements) == 1;
    tw_strbuf_printf(ir, "  %%r = call %s asm sideeffect \"%s%s $0", result,
                     partial ? "v_mov_b32 $0, 0\\0A" : "", c->name);
    for (unsigned k = 0; k < operands; k++)
        tw_strbuf_printf(ir, ", $%u", k + 1);
    tw_strbuf_printf(ir, "%s\", \"=&v", sel);
    for (unsigned k = 0; k < operands; k++)
        tw_strbuf_append(ir, ",v");
    tw_strbuf_append(ir, "\"(");
    for (unsigned k = 0; k < operands; k++) {
        vector_type(type, sizeof type, k < parts ? each : 1);
        tw_strbuf_printf(ir, "%s%s %%v%u", k ? ", " : "", type, k);
    }
    tw_strbuf_printf(ir, ")\n  store %s %%r, ptr addrspace(1) %%q, align 4\n  ret void\n}\n", result);
}

static tw_code_object *assemble(const char *target, bool gfx1250) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_strbuf ir;
    tw_compiler *compiler;
    tw_code_object *object = NULL;
    tw_target t;
    tw_strbuf_init(&ir, NULL);
    tw_strbuf_append(&ir, "target triple = \"amdgcn-amd-amdhsa\"\n"
                          "declare i32 @llvm.amdgcn.workitem.id.x()\n"
                          "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" "
                          "\"amdgpu-flat-work-group-size\"=\"1,64\" }\n");
    for (unsigned k = 0; k < COUNT; k++)
        for (unsigned s = 0; on_gfx1250(&ALL[k]) == gfx1250 && s < selections(&ALL[k]); s++)
            append_kernel(&ir, k, s);
    assert_int_equal(tw_target_parse(target, &t, diag), TW_OK);
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag), TW_OK);
    tw_status status = tw_compile_llvm_ir(compiler, tw_strbuf_text(&ir), ir.length, t, NULL, &object, diag);
    if (status != TW_OK) fail_msg("%s", tw_diag_text(diag));
    tw_compiler_close(compiler);
    tw_strbuf_free(&ir);
    tw_diag_free(diag);
    return object;
}

/* ---- running them ---- */

/* Sources whose results are numbers: small floats, ties of the small formats among them. */
static uint32_t source_word(const conversion *c, uint32_t *seed) {
    uint32_t r = harness_random(seed);
    if (c->from == F32)
        return (r & 0x807fffffu & (r >> 27 & 1 ? ~0u : 0x80780000u)) | (120u + (r >> 23 & 15)) << 23;
    if (c->from == F16) return (r & 0x83ff83ffu & (r >> 27 & 1 ? ~0u : 0x83808380u)) | 0x34003800u;
    if (c->from == BF16) return (r & 0x83ff83ffu) | 0x3c003c00u;
    return r;
}

static void run_all(void **state) {
    const char *target = *state;
    bool gfx1250 = !strcmp(target, "gfx1250");
    harness h;
    harness_open_object(&h, assemble(target, gfx1250), target);
    static uint32_t in[ITEMS][IN], out[ITEMS][OUT], want[OUT];
    uint64_t din = harness_buffer(&h, "in", NULL, sizeof in),
             dout = harness_buffer(&h, "out", NULL, sizeof out);
    uint32_t seed = 7;
    unsigned wrong = 0, ran = 0;
    for (unsigned k = 0; k < COUNT; k++) {
        const conversion *c = &ALL[k];
        unsigned data = words_of(c->from, c->elements / (c->flags & TWO ? 2 : 1)) * (c->flags & TWO ? 2 : 1);
        for (unsigned s = 0; on_gfx1250(c) == gfx1250 && s < selections(c); s++, ran++) {
            char name[24];
            snprintf(name, sizeof name, "k%u_%u", k, s);
            for (unsigned i = 0; i < ITEMS; i++) {
                for (unsigned n = 0; n < IN; n++)
                    in[i][n] = n < data ? source_word(c, &seed) : harness_random(&seed);
                /* An exponent that leaves the results in range, now and then the NaN of a widening. */
                uint32_t *scale = &in[i][data + !!(c->flags & RND)], e = 122 + *scale % 10;
                if (c->to < FP8 && i % 16 == 3) e = 255;
                *scale = c->flags & E8 ? e * 0x01010101u ^ (0x03030303u & ~(0xffu << 8 * s)) : e << 23;
            }
            harness_write(&h, din, in, sizeof in);
            RUN(&h, name, 1, ITEMS, PTR(dout), PTR(din));
            harness_read(&h, dout, out, sizeof out);
            for (unsigned i = 0; i < ITEMS && wrong < 10; i++) {
                expected(c, in[i], s, want);
                for (unsigned n = 0; n < words_of(c->to, c->elements); n++) {
                    if (out[i][n] == want[n]) continue;
                    print_error("%s, part %u, word %u: source %08x gives %08x, not %08x\n", c->name, s, n,
                                in[i][0], out[i][n], want[n]);
                    wrong++;
                    break;
                }
            }
        }
    }
    harness_close(&h);
    assert_true(ran > 50);
    assert_int_equal(wrong, 0);
}

int main(void) {
    static char names[2][8] = {"gfx950", "gfx1250"};
    const struct CMUnitTest tests[] = {{names[0], run_all, NULL, NULL, names[0]},
                                       {names[1], run_all, NULL, NULL, names[1]}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
