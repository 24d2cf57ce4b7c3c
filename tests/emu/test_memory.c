/* Global memory: widths, addresses, tables, atomics. */
#include "tests/emu/harness.h"

#include <string.h>

enum { N = 200 };

static void check_triples(harness *h) {
    static uint32_t in[N][3], out[N][3];
    uint32_t seed = 1;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++)
            in[i][k] = harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "triples", 2, 128, PTR(dout), PTR(din), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++) {
        const uint32_t *t = in[N - 1 - i];
        assert_int_equal(out[i][0], t[0] + t[1]);
        assert_int_equal(out[i][1], t[1]);
        assert_int_equal(out[i][2], t[2] ^ (t[0] + t[1]));
    }
}

static void check_gather_scatter(harness *h) {
    uint16_t values[N], gathered[N];
    int8_t bytes[N];
    uint8_t scattered[N];
    int32_t where[N];
    uint32_t seed = 2;
    for (int i = 0; i < N; i++) {
        values[i] = (uint16_t)harness_random(&seed);
        bytes[i] = (int8_t)harness_random(&seed);
        where[i] = i * 77 % N; /* a permutation: 77 and 200 have no common factor */
    }
    uint64_t dv = harness_buffer(h, "values", values, sizeof values),
             db = harness_buffer(h, "bytes", bytes, sizeof bytes);
    uint64_t dw = harness_buffer(h, "where", where, sizeof where),
             dg = harness_buffer(h, "gathered", NULL, sizeof gathered);
    uint64_t ds = harness_buffer(h, "scattered", NULL, sizeof scattered);
    RUN(h, "gather", 2, 128, PTR(dg), PTR(dv), PTR(dw), I32(N));
    RUN(h, "scatter", 2, 128, PTR(ds), PTR(db), PTR(dw), I32(N));
    harness_read(h, dg, gathered, sizeof gathered);
    harness_read(h, ds, scattered, sizeof scattered);
    for (int i = 0; i < N; i++) {
        assert_int_equal(gathered[i], (uint16_t)(values[where[i]] + 1));
        assert_int_equal(scattered[where[i]], (uint8_t)(bytes[i] * 2));
    }
}

static void check_offsets(harness *h) {
    int32_t in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = i * i - 50;
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "offsets", 2, 128, PTR(dout), PTR(din), I64(-123456789012), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], in[N - 1 - i] + in[i]);
}

static void check_copy_bytes(harness *h) {
    enum { COUNT = 1237 };
    uint8_t in[COUNT], out[COUNT];
    uint32_t seed = 3;
    for (int i = 0; i < COUNT; i++)
        in[i] = (uint8_t)harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "copy_bytes", 3, 64, PTR(dout), PTR(din), I32(COUNT));
    harness_read(h, dout, out, sizeof out);
    assert_memory_equal(out, in, sizeof out);
}

static void check_tables(harness *h) {
    static const uint32_t TABLE[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
    uint32_t in[N], out[N], seed = 4;
    for (int i = 0; i < N; i++)
        in[i] = harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "tables", 2, 128, PTR(dout), PTR(din), I32(N));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], TABLE[in[i] & 15] * 10 + TABLE[i & 15] + 7);
}

static void check_global_atomics(harness *h) {
    int32_t in[N], t[9] = {0, -1000000000, 0x7fffffff, 0, -1, 0, 0, 0, 0}, want[9];
    uint64_t w[2] = {0, 0}, want_wide[2] = {0, 0};
    float f = 0, want_f = 0;
    double d = 0, want_d = 0;
    uint32_t seed = 5;
    memcpy(want, t, sizeof t);
    for (int i = 0; i < N; i++) {
        int32_t v = in[i] = (int32_t)harness_random(&seed);
        want[0] = (int32_t)((uint32_t)want[0] + (uint32_t)v);
        if (v > want[1]) want[1] = v;
        if (v < want[2]) want[2] = v;
        want[3] |= v;
        want[4] &= v | 0xff;
        want[5] ^= v;
        want[6] = (int32_t)((uint32_t)want[6] - (uint32_t)v);
        if ((uint32_t)v > (uint32_t)want[7]) want[7] = v;
        want[8] = want[8] * 3 + 1 > 100000 ? 0 : want[8] + 1;
        want_wide[0] += (uint64_t)(uint32_t)v << 8;
        if ((int64_t)v * 65536 > (int64_t)want_wide[1]) want_wide[1] = (uint64_t)((int64_t)v * 65536);
        want_f += (float)(v & 15);
        want_d += (double)(v & 31);
    }
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dt = harness_buffer(h, "t", t, sizeof t);
    uint64_t dw = harness_buffer(h, "w", w, sizeof w), df = harness_buffer(h, "f", &f, sizeof f);
    uint64_t dd = harness_buffer(h, "d", &d, sizeof d);
    h->threads = 3;
    RUN(h, "global_atomics", 4, 64, PTR(dt), PTR(dw), PTR(df), PTR(dd), PTR(din), I32(N));
    harness_read(h, dt, t, sizeof t);
    harness_read(h, dw, w, sizeof w);
    harness_read(h, df, &f, sizeof f);
    harness_read(h, dd, &d, sizeof d);
    assert_memory_equal(t, want, sizeof t);
    assert_memory_equal(w, want_wide, sizeof w);
    assert_true(f == want_f);
    assert_true(d == want_d);
}

static void check_tickets(harness *h) {
    uint32_t out[N], next = 0;
    bool seen[N] = {false};
    h->threads = 4;
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out),
             dn = harness_buffer(h, "next", &next, sizeof next);
    RUN(h, "tickets", 7, 32, PTR(dout), PTR(dn), I32(N));
    harness_read(h, dout, out, sizeof out);
    harness_read(h, dn, &next, sizeof next);
    assert_int_equal(next, N);
    for (int i = 0; i < N; i++) {
        assert_true(out[i] < N && !seen[out[i]]);
        seen[out[i]] = true;
        /* Workgroups draw in their order whatever the threads do. */
        assert_int_equal(out[i] / 32, i / 32);
    }
}

static void check_ordered_sum(harness *h) {
    float in[N], sums[3];
    for (int i = 0; i < N; i++)
        in[i] = (i % 3 ? 1.0f : -1.0f) * (float)(1 << (i * 7 % 24)) * 1.1f;
    uint64_t din = harness_buffer(h, "in", in, sizeof in);
    for (unsigned k = 0; k < 3; k++) {
        float zero = 0;
        uint64_t dout = harness_buffer(h, "out", &zero, sizeof zero);
        h->threads = 1 + 2 * k;
        RUN(h, "ordered_sum", 7, 32, PTR(dout), PTR(din), I32(N));
        harness_read(h, dout, &sums[k], sizeof zero);
        assert_memory_equal(&sums[k], &sums[0], sizeof zero);
    }
}

static void check_last_block(harness *h) {
    enum { GROUPS = 9 };
    static uint32_t in[GROUPS * 64];
    uint32_t zero = 0, out, want = 0, seed = 6;
    for (int i = 0; i < GROUPS * 64; i++)
        want += in[i] = harness_random(&seed);
    h->threads = 2;
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    uint64_t dp = harness_buffer(h, "parts", NULL, GROUPS * 4),
             dd = harness_buffer(h, "done", &zero, sizeof zero);
    RUN(h, "last_block", GROUPS, 64, PTR(dout), PTR(dp), PTR(dd), PTR(din));
    harness_read(h, dout, &out, sizeof out);
    assert_int_equal(out, want);
}

int main(void) {
    static const harness_case CASES[] = {
        {"triples", "memory", check_triples},       {"gather_scatter", "memory", check_gather_scatter},
        {"offsets", "memory", check_offsets},       {"copy_bytes", "memory", check_copy_bytes},
        {"tables", "memory", check_tables},         {"global_atomics", "memory", check_global_atomics},
        {"tickets", "memory", check_tickets},       {"ordered_sum", "memory", check_ordered_sum},
        {"last_block", "memory", check_last_block},
    };
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
