/* The first things that any kernel does, on every target at every optimisation level. */
#include "tests/emu/harness.h"

#include <string.h>

#include "support/float_formats.h"

enum { N = 1000 };

static void check_axpy(harness *h) {
    float x[N], y[N], out[N];
    uint32_t seed = 7;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(int32_t)harness_random(&seed) * 0x1p-20f;
        y[i] = (float)(int32_t)harness_random(&seed) * 0x1p-24f;
    }
    uint64_t dx = harness_buffer(h, "x", x, sizeof x), dy = harness_buffer(h, "y", y, sizeof y);
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "axpy", 4, 256, PTR(dout), PTR(dx), PTR(dy), harness_f32(0.75f), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++) {

        uint32_t want = (uint32_t)tw_float_fma(TW_FLOAT_F32, tw_f32_bits(0.75f), tw_f32_bits(x[i]),
                                               tw_f32_bits(y[i]), TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        assert_int_equal(tw_f32_bits(out[i]), want);
    }
    assert_int_equal(h->counts.workgroups, 4);
    assert_true(h->counts.global_bytes_written >= sizeof out);
}

static void check_axpy_half(harness *h) {
    uint16_t x[N], y[N], out[N], a = tw_f32_to_f16(0.3f);
    uint32_t seed = 9;
    for (int i = 0; i < N; i++) {
        x[i] = (uint16_t)harness_random(&seed);
        y[i] = (uint16_t)harness_random(&seed);
        if ((x[i] & 0x7c00) == 0x7c00) x[i] ^= 0x4000; /* finite */
        if ((y[i] & 0x7c00) == 0x7c00) y[i] ^= 0x4000;
    }
    uint64_t dx = harness_buffer(h, "x", x, sizeof x), dy = harness_buffer(h, "y", y, sizeof y);
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "axpy_half", 4, 256, PTR(dout), PTR(dx), PTR(dy), ((harness_arg){a, 2}), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], tw_f16_fma(a, x[i], y[i]));
}

static void check_where(harness *h) {
    enum { ITEMS = 4 * 5 * 3, GROUPS = 3 * 2 * 4 };
    static int32_t out[GROUPS * ITEMS];
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    tw_status status = harness_try(h, "where", (tw_dim3){3, 2, 4}, (tw_dim3){4, 5, 3}, 0,
                                   (const harness_arg[]){PTR(dout)}, 1);
    if (status != TW_OK) fail_msg("%s", tw_diag_text(h->diag));
    harness_read(h, dout, out, sizeof out);
    for (int g = 0; g < GROUPS; g++) {
        for (int i = 0; i < ITEMS; i++) {
            int32_t want = i % 4 | i / 4 % 5 << 4 | i / 20 << 8 | g % 3 << 12 | g / 3 % 2 << 16 | g / 6 << 20;
            assert_int_equal(out[g * ITEMS + i], want);
        }
    }
}

static void check_block_sum(harness *h) {
    float x[N], out[4];
    uint32_t seed = 11;
    for (int i = 0; i < N; i++)
        x[i] = (float)(int32_t)(harness_random(&seed) % 2001) - 1000.0f; /* sums are exact */
    uint64_t dx = harness_buffer(h, "x", x, sizeof x), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "block_sum", 4, 256, PTR(dout), PTR(dx), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int g = 0; g < 4; g++) {
        float want = 0;
        for (int i = g * 256; i < (g + 1) * 256 && i < N; i++)
            want += x[i];
        assert_true(out[g] == want);
    }
}

static void check_widths(harness *h) {
    enum { COUNT = 77 };
    static uint8_t in[COUNT * 16], b[COUNT];
    static uint16_t half[COUNT];
    static uint32_t w[COUNT], q[COUNT * 4], v[4];
    static uint64_t d[COUNT];
    uint32_t seed = 13;
    for (unsigned i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), db = harness_buffer(h, "b", NULL, sizeof b);
    uint64_t dh = harness_buffer(h, "h", NULL, sizeof half), dw = harness_buffer(h, "w", NULL, sizeof w);
    uint64_t dd = harness_buffer(h, "d", NULL, sizeof d), dq = harness_buffer(h, "q", NULL, sizeof q);
    RUN(h, "widths", 2, 64, PTR(db), PTR(dh), PTR(dw), PTR(dd), PTR(dq), PTR(din), I32(COUNT));
    harness_read(h, db, b, sizeof b);
    harness_read(h, dh, half, sizeof half);
    harness_read(h, dw, w, sizeof w);
    harness_read(h, dd, d, sizeof d);
    harness_read(h, dq, q, sizeof q);
    for (unsigned i = 0; i < COUNT; i++) {
        uint16_t in16;
        uint32_t in32;
        uint64_t in64;
        memcpy(&in16, in + 2 * i, 2);
        memcpy(&in32, in + 4 * i, 4);
        memcpy(&in64, in + 8 * i, 8);
        memcpy(v, in + 16 * i, 16);
        assert_int_equal(b[i], (uint8_t)(in[i] + 1));
        assert_int_equal(half[i], (uint16_t)(in16 * 3));
        assert_int_equal(w[i], in32 ^ 0x12345678u);
        assert_true(d[i] == in64 + 0x100000001u);
        assert_int_equal(q[4 * i], v[0] + 1);
        assert_int_equal(q[4 * i + 1], v[1]);
        assert_int_equal(q[4 * i + 2], v[2]);
        assert_int_equal(q[4 * i + 3], v[3] - v[1]);
    }
}

int main(void) {
    static const harness_case CASES[] = {
        {"axpy", "basic", check_axpy},     {"axpy_half", "basic", check_axpy_half},
        {"where", "basic", check_where},   {"block_sum", "basic", check_block_sum},
        {"widths", "basic", check_widths},
    };
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
