/* Calls, recursion, indirect jumps, divergence. */
#include "tests/emu/harness.h"

#include <stdlib.h>
#include <string.h>

enum { N = 150 };

static void make(uint32_t *in, uint32_t seed, uint32_t limit) {
    for (int i = 0; i < N; i++)
        in[i] = harness_random(&seed) % limit;
}

static void map(harness *h, const char *kernel, const uint32_t *in, uint32_t *out) {
    uint64_t din = harness_buffer(h, "in", in, N * sizeof *in),
             dout = harness_buffer(h, "out", NULL, N * sizeof *out);
    RUN(h, kernel, 3, 64, PTR(dout), PTR(din), I32(N));
    harness_read(h, dout, out, N * sizeof *out);
}

static uint32_t fibonacci(uint32_t n) {
    uint32_t a = 0, b = 1;
    for (; n; n--) {
        uint32_t c = a + b;
        a = b;
        b = c;
    }
    return a;
}

static void check_recursion(harness *h) {
    uint32_t in[N], out[N];
    make(in, 1, 1000);
    map(h, "recursion", in, out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], fibonacci(in[i] % 11));
}

static void check_deep_recursion(harness *h) {
    uint32_t in[N], out[N];
    make(in, 2, 1000);
    map(h, "deep_recursion", in, out);
    for (int i = 0; i < N; i++) {
        uint32_t m = in[i] % 3, n = in[i] / 3 % 5;
        assert_int_equal(out[i], m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3);
    }
}

static void check_indirect_calls(harness *h) {
    uint32_t in[N], out[N];
    make(in, 3, 100000);
    map(h, "indirect_calls", in, out);
    for (int i = 0; i < N; i++) {
        uint32_t v = in[i], r = v;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t which = v >> (2 * k) & 3, b = k + 1;
            r = which == 0 ? r + b : which == 1 ? r * b : which == 2 ? r ^ b << 3 : r * 31 + (b ^ r << 3);
        }
        assert_int_equal(out[i], r);
    }
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void check_sort_in_scratch(harness *h) {
    enum { ROWS = 70 };
    static uint32_t data[ROWS * 12], out[ROWS * 12];
    uint32_t seed = 4;
    for (int i = 0; i < ROWS * 12; i++)
        data[i] = harness_random(&seed) % 50;
    uint64_t d = harness_buffer(h, "data", data, sizeof data);
    RUN(h, "sort_in_scratch", 2, 64, PTR(d), I32(ROWS));
    harness_read(h, d, out, sizeof out);
    for (int i = 0; i < ROWS; i++)
        qsort(data + 12 * i, 12, sizeof *data, by_value);
    assert_memory_equal(out, data, sizeof out);
}

static uint32_t scan(const char *p, const char *end) {
    uint32_t numbers = 0, words = 0, total = 0;
    while (p < end) {
        bool dash = *p == '-' && p + 1 < end && p[1] >= '0' && p[1] <= '9';
        if ((*p >= '0' && *p <= '9') || dash) {
            uint32_t value = dash ? 0u - (uint32_t)(p[1] - '0') : (uint32_t)(*p - '0');
            numbers++;
            for (p += dash ? 2 : 1; p < end && *p >= '0' && *p <= '9'; p++)
                value = value * 10 + (uint32_t)(*p - '0');
            total += value;
            /* A letter right behind a number starts no new word, and a dash no number. */
            if (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z'))) {
                while (p < end && *p != ' ')
                    p++;
            } else if (p < end) {
                p++;
            }
        } else if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z')) {
            words++;
            while (p < end && *p != ' ')
                p++;
        } else {
            p++;
        }
    }
    return numbers << 24 | words << 16 | (total & 0xffff);
}

static void check_state_machine(harness *h) {
    static const char *const LINES[] = {
        "12 apples and 30 pears", "-5 is 7 less than 2",  "",           "x9 42",
        "no numbers here",        "1 2 3 4 5 6 7 8 9 10", "65000 1000", "a -12 b -3"};
    enum { COUNT = sizeof LINES / sizeof LINES[0] };
    char text[512] = "";
    uint32_t start[COUNT + 1] = {0}, out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        strcat(text, LINES[i]);
        start[i + 1] = (uint32_t)strlen(text);
    }
    uint64_t dt = harness_buffer(h, "text", text, strlen(text)),
             ds = harness_buffer(h, "start", start, sizeof start);
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "state_machine", 1, 32, PTR(dout), PTR(dt), PTR(ds), I32(COUNT));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], scan(LINES[i], LINES[i] + strlen(LINES[i])));
}

static uint32_t diverge(uint32_t v) {
    uint32_t r = 0;
    if (v == 0) return 1;
    for (uint32_t a = 0; a <= (v & 15); a++) {
        if (!(v >> a & 1)) continue;
        uint32_t b = v;
        do {
            r += b & 3;
            if (r > 60) return r * 2;
            b >>= 2;
        } while (b > a);
        if ((r & 7) == 7) return r;
    }
    return r * 2;
}

static void check_divergence(harness *h) {
    uint32_t in[N], out[N];
    make(in, 5, 5000);
    in[3] = 0;
    map(h, "divergence", in, out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], diverge(in[i]));
}

static void check_by_value(harness *h) {
    uint32_t seed[20], out[N];
    uint32_t r = 6;
    for (int i = 0; i < 20; i++)
        seed[i] = harness_random(&r);
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    harness_bytes(h, seed, sizeof seed);
    RUN(h, "by_value", 3, 64, PTR(dout), BYTES, I32(N));
    harness_read(h, dout, out, sizeof out);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t s = 0;
        for (uint32_t k = 0; k < 20; k++)
            s = s * 7 + seed[(k + i % 20) % 20] + i % 20;
        assert_int_equal(out[i], s);
    }
}

static void check_queens(harness *h) {
    enum { SIZE = 6 };
    uint32_t out[SIZE], sum = 0;
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "queens", 1, 32, PTR(dout), I32(SIZE));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < SIZE; i++) {
        assert_int_equal(out[i], out[SIZE - 1 - i]); /* boards can be mirrored */
        sum += out[i];
    }
    assert_int_equal(sum, 4);
}

int main(void) {
    static const harness_case CASES[] = {
        {"recursion", "control", check_recursion},
        {"deep_recursion", "control", check_deep_recursion},
        {"indirect_calls", "control", check_indirect_calls},
        {"sort_in_scratch", "control", check_sort_in_scratch},
        {"state_machine", "control", check_state_machine},
        {"divergence", "control", check_divergence},
        {"by_value", "control", check_by_value},
        {"queens", "control", check_queens},
    };
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
