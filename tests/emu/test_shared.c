/* Workgroups that share LDS. */
#include "tests/emu/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/float_formats.h"

static void check_transpose(harness *h) {
    enum { WIDTH = 37, HEIGHT = 21 };
    float in[HEIGHT][WIDTH], out[WIDTH][HEIGHT];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            in[y][x] = (float)(y * 100 + x);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "transpose", 6, 256, PTR(dout), PTR(din), I32(WIDTH), I32(HEIGHT));
    harness_read(h, dout, out, sizeof out);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            assert_true(out[x][y] == in[y][x]);
}

static void check_histogram(harness *h) {
    enum { COUNT = 3000 };
    static uint8_t in[COUNT];
    uint32_t out[256] = {0}, want[256] = {0}, seed = 1;
    for (int i = 0; i < COUNT; i++) {
        uint32_t r = harness_random(&seed);
        in[i] = (uint8_t)(r % 4 ? r >> 8 & 15 : r >> 8);
        want[in[i]]++;
    }
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", out, sizeof out);
    h->threads = 2;
    RUN(h, "histogram", 4, 128, PTR(dout), PTR(din), I32(COUNT));
    harness_read(h, dout, out, sizeof out);
    assert_memory_equal(out, want, sizeof out);
}

static void check_tree_scan(harness *h) {
    static uint32_t in[1024], out[1024];
    uint32_t seed = 2, sum = 0;
    for (int i = 0; i < 1024; i++)
        in[i] = harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "tree_scan", 2, 256, PTR(dout), PTR(din));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < 1024; i++) {
        if (i % 512 == 0) sum = 0;
        assert_int_equal(out[i], sum);
        sum += in[i];
    }
}

static int by_value(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void check_bitonic_sort(harness *h) {
    static uint32_t data[1024], out[1024];
    uint32_t seed = 3;
    for (int i = 0; i < 1024; i++)
        data[i] = harness_random(&seed) >> (i % 20);
    uint64_t d = harness_buffer(h, "data", data, sizeof data);
    RUN(h, "bitonic_sort", 2, 256, PTR(d));
    harness_read(h, d, out, sizeof out);
    qsort(data, 512, sizeof *data, by_value);
    qsort(data + 512, 512, sizeof *data, by_value);
    assert_memory_equal(out, data, sizeof out);
}

enum { SIZE = 48 };

static void product(harness *h, const char *kernel, size_t element, uint64_t (*encode)(float),
                    float (*decode)(uint64_t)) {
    static uint8_t raw[2][SIZE * SIZE * 4];
    static float a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    uint32_t seed = 4;
    for (int i = 0; i < SIZE * SIZE; i++) {
        uint64_t x = encode((float)(int32_t)harness_random(&seed) * 0x1p-30f),
                 y = encode((float)(int32_t)harness_random(&seed) * 0x1p-31f);
        memcpy(raw[0] + (size_t)i * element, &x, element);
        memcpy(raw[1] + (size_t)i * element, &y, element);
        a[i / SIZE][i % SIZE] = decode(x);
        b[i / SIZE][i % SIZE] = decode(y);
    }
    uint64_t da = harness_buffer(h, "a", raw[0], SIZE * SIZE * element),
             db = harness_buffer(h, "b", raw[1], SIZE * SIZE * element);
    uint64_t dc = harness_buffer(h, "c", NULL, sizeof c);
    RUN(h, kernel, 9, 256, PTR(dc), PTR(da), PTR(db), I32(SIZE));
    harness_read(h, dc, c, sizeof c);
    for (int i = 0; i < SIZE; i++) {
        for (int k = 0; k < SIZE; k++) {
            float sum = 0;
            for (int n = 0; n < SIZE; n++)
                sum = fmaf(a[i][n], b[n][k], sum);
            assert_true(c[i][k] == sum);
        }
    }
}

static uint64_t same(float f) { return tw_f32_bits(f); }
static float same_back(uint64_t b) { return tw_f32_of_bits((uint32_t)b); }
static uint64_t half(float f) { return tw_f32_to_f16(f); }
static float half_back(uint64_t b) { return tw_f16_to_f32((uint16_t)b); }
static uint64_t bfloat(float f) { return tw_f32_to_bf16(f); }
static float bfloat_back(uint64_t b) { return tw_bf16_to_f32((uint16_t)b); }

static void check_multiply_f32(harness *h) { product(h, "multiply_f32", 4, same, same_back); }
static void check_multiply_f16(harness *h) { product(h, "multiply_f16", 2, half, half_back); }
static void check_multiply_bf16(harness *h) { product(h, "multiply_bf16", 2, bfloat, bfloat_back); }

static void check_multiply_f64(harness *h) {
    static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];
    uint32_t seed = 5;
    for (int i = 0; i < SIZE * SIZE; i++) {
        a[i / SIZE][i % SIZE] = (double)(int32_t)harness_random(&seed) / 3.0;
        b[i / SIZE][i % SIZE] = (double)(int32_t)harness_random(&seed) / 7e5;
    }
    uint64_t da = harness_buffer(h, "a", a, sizeof a), db = harness_buffer(h, "b", b, sizeof b);
    uint64_t dc = harness_buffer(h, "c", NULL, sizeof c);
    RUN(h, "multiply_f64", 9, 256, PTR(dc), PTR(da), PTR(db), I32(SIZE));
    harness_read(h, dc, c, sizeof c);
    for (int i = 0; i < SIZE; i++) {
        for (int k = 0; k < SIZE; k++) {
            double sum = 0;
            for (int n = 0; n < SIZE; n++)
                sum = fma(a[i][n], b[n][k], sum);
            assert_true(c[i][k] == sum);
        }
    }
}

static void check_stencil(harness *h) {
    enum { COUNT = 300 };
    float in[COUNT], out[COUNT];
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)(i * i % 83);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "stencil", 3, 128, PTR(dout), PTR(din), I32(COUNT));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < COUNT; i++) {
        float left = i ? in[i - 1] : 0, right = i + 1 < COUNT ? in[i + 1] : 0;
        assert_true(out[i] == 0.25f * left + 0.5f * in[i] + 0.25f * right);
    }
}

static void check_dynamic_reverse(harness *h) {
    enum { COUNT = 200 };
    uint32_t data[COUNT], out[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = i * 3;
    uint64_t d = harness_buffer(h, "data", data, sizeof data);
    tw_status status = harness_try(h, "dynamic_reverse", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, sizeof data,
                                   (const harness_arg[]){PTR(d), I32(COUNT)}, 2);
    if (status != TW_OK) fail_msg("%s", tw_diag_text(h->diag));
    harness_read(h, d, out, sizeof out);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(out[i], data[COUNT - 1 - i]);
}

static void check_byte_sort(harness *h) {
    uint8_t data[512], out[512];
    uint32_t seed = 6, count[2][64] = {{0}};
    for (int i = 0; i < 512; i++) {
        data[i] = (uint8_t)harness_random(&seed);
        count[i / 256][data[i] & 63]++;
    }
    uint64_t d = harness_buffer(h, "data", data, sizeof data);
    RUN(h, "byte_sort", 2, 64, PTR(d));
    harness_read(h, d, out, sizeof out);
    for (int g = 0, n = 0; g < 2; g++)
        for (uint8_t v = 0; v < 64; v++)
            for (uint32_t k = 0; k < count[g][v]; k++)
                assert_int_equal(out[n++], v);
}

typedef struct record {
    uint64_t key;
    uint32_t a, b;
    uint16_t c;
    uint8_t d, e;
    float f;
} record;

static void check_records(harness *h) {
    static record in[128], out[128];
    uint32_t seed = 7;
    for (int i = 0; i < 128; i++) {
        in[i].key = (uint64_t)harness_random(&seed) << 32 | harness_random(&seed);
        in[i].a = harness_random(&seed);
        in[i].b = harness_random(&seed);
        in[i].c = (uint16_t)harness_random(&seed);
        in[i].d = (uint8_t)harness_random(&seed);
        in[i].e = (uint8_t)harness_random(&seed);
        in[i].f = (float)(harness_random(&seed) % 1000);
    }
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "records", 2, 64, PTR(dout), PTR(din));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < 128; i++) {
        int base = i / 64 * 64, l = i % 64;
        record r = in[base + 63 - l], s = in[base + ((l + 17) & 63)];
        assert_true(out[i].key == r.key + s.key);
        assert_int_equal(out[i].a, r.a ^ s.b);
        assert_int_equal(out[i].b, r.b - s.a);
        assert_int_equal(out[i].c, (uint16_t)(r.c * 3 + s.c));
        assert_int_equal(out[i].d, (uint8_t)(r.d + s.e));
        assert_int_equal(out[i].e, s.d);
        assert_true(out[i].f == r.f - s.f);
    }
}

static void check_lds_atomics(harness *h) {
    int32_t in[256], out[26];
    uint32_t seed = 8;
    for (int i = 0; i < 256; i++)
        in[i] = (int32_t)harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "lds_atomics", 2, 128, PTR(dout), PTR(din));
    harness_read(h, dout, out, sizeof out);
    for (int g = 0; g < 2; g++) {
        int32_t t[8] = {0, 0, 0x7fffffff, 0, -1, 0, 0, 0};
        uint64_t w[2] = {0, 0};
        float f = 0;
        for (int i = 128 * g; i < 128 * (g + 1); i++) {
            int32_t v = in[i];
            t[0] = (int32_t)((uint32_t)t[0] + (uint32_t)v);
            if (v > t[1]) t[1] = v;
            if (v < t[2]) t[2] = v;
            t[3] |= v;
            t[4] &= v | 0xff;
            t[5] ^= v;
            t[6] = (int32_t)((uint32_t)t[6] - (uint32_t)v);
            t[7] += v & 7;
            w[0] += (uint64_t)(uint32_t)v << 8;
            uint64_t m = (uint64_t)(uint32_t)v << 20 | 5;
            if (m > w[1]) w[1] = m;
            f += (float)(v & 15);
        }
        assert_memory_equal(out + 13 * g, t, sizeof t);
        assert_memory_equal(out + 13 * g + 8, w, sizeof w);
        assert_int_equal(out[13 * g + 12], (int32_t)f);
    }
}

static void check_generic_pointers(harness *h) {
    uint32_t in[128], out[128], seed = 9;
    for (int i = 0; i < 128; i++)
        in[i] = harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "generic_pointers", 2, 64, PTR(dout), PTR(din));
    harness_read(h, dout, out, sizeof out);
    for (uint32_t i = 0; i < 128; i++) {
        uint32_t l = i % 64, s = 0;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t v = in[(i & ~3u) + k];
            s = s * 3 + (l % 3 == 0 ? v : l % 3 == 1 ? v + 1 : in[i] * k);
        }
        assert_int_equal(out[i], s);
    }
}

static void check_double_buffer(harness *h) {
    enum { ROUNDS = 7 };
    uint32_t in[ROUNDS * 64], out[64], seed = 10;
    for (int i = 0; i < ROUNDS * 64; i++)
        in[i] = harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "double_buffer", 1, 128, PTR(dout), PTR(din), I32(ROUNDS));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < 64; i++) {
        uint32_t sum = 0;
        for (int r = 0; r < ROUNDS; r++)
            sum += in[r * 64 + 63 - i] * 5;
        assert_int_equal(out[i], sum);
    }
}

int main(void) {
    static const harness_case CASES[] = {
        {"transpose", "shared", check_transpose},
        {"histogram", "shared", check_histogram},
        {"tree_scan", "shared", check_tree_scan},
        {"bitonic_sort", "shared", check_bitonic_sort},
        {"multiply_f32", "shared", check_multiply_f32},
        {"multiply_f16", "shared", check_multiply_f16},
        {"multiply_bf16", "shared", check_multiply_bf16},
        {"multiply_f64", "shared", check_multiply_f64},
        {"stencil", "shared", check_stencil},
        {"dynamic_reverse", "shared", check_dynamic_reverse},
        {"byte_sort", "shared", check_byte_sort},
        {"records", "shared", check_records},
        {"lds_atomics", "shared", check_lds_atomics},
        {"generic_pointers", "shared", check_generic_pointers},
        {"double_buffer", "shared", check_double_buffer},
    };
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
