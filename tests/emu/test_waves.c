/* Kernels whose lanes exchange values, on waves of 32 and 64 lanes. */
#include "tests/emu/harness.h"

#include <string.h>

enum { N = 256, BLOCK = 128 };

static int wave_size(const harness *h) { return (int)tw_code_object_kernel_at(h->object, 0)->wave_size; }

static void make(int32_t *in, uint32_t seed) {
    for (int i = 0; i < N; i++)
        in[i] = (int32_t)(harness_random(&seed) % 2000) - 700;
}

/* Runs `kernel` over N work-items with `words` results each. */
static void run(harness *h, const char *kernel, const int32_t *in, int32_t *out, int words) {
    size_t bytes = (size_t)(N * words) * sizeof *out;
    uint64_t din = harness_buffer(h, "in", in, N * sizeof *in), dout = harness_buffer(h, "out", NULL, bytes);
    RUN(h, kernel, N / BLOCK, BLOCK, PTR(dout), PTR(din));
    harness_read(h, dout, out, bytes);
}

static void check_lane_ids(harness *h) {
    int32_t out[N];
    uint64_t dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "lane_ids", N / BLOCK, BLOCK, PTR(dout));
    harness_read(h, dout, out, sizeof out);
    for (int i = 0; i < N; i++)
        assert_int_equal(out[i], i % wave_size(h));
}

static void check_wave_sum(harness *h) {
    int32_t in[N], out[N];
    make(in, 1);
    run(h, "wave_sum", in, out, 1);
    for (int i = 0; i < N; i++) {
        int32_t sum = 0;
        for (int k = 0; k < wave_size(h); k++)
            sum += in[i / wave_size(h) * wave_size(h) + k];
        assert_int_equal(out[i], sum);
    }
}

static void check_wave_scan(harness *h) {
    int32_t in[N], out[N];
    make(in, 2);
    run(h, "wave_scan", in, out, 1);
    for (int i = 0, sum = 0; i < N; i++) {
        sum = i % wave_size(h) ? sum + in[i] : in[i];
        assert_int_equal(out[i], sum);
    }
}

static void check_ballots(harness *h) {
    int32_t in[N], raw[2 * N];
    make(in, 3);
    run(h, "ballots", in, raw, 2);
    for (int i = 0; i < N; i++) {
        int w = wave_size(h), base = i / w * w;
        uint64_t odd = 0, positive = 0, got;
        for (int k = 0; k < w; k++) {
            odd |= (uint64_t)(in[base + k] & 1) << k;
            positive |= (uint64_t)(in[base + k] % 3 == 0 && in[base + k] > 0) << k;
        }
        uint64_t want = odd << 8 | (uint64_t)__builtin_popcountll(odd & ((1ull << (i - base)) - 1));
        if (in[i] % 3 == 0) want ^= positive;
        memcpy(&got, raw + 2 * i, sizeof got);
        assert_true(got == want);
    }
}

static void check_first_lanes(harness *h) {
    int32_t in[N], out[N];
    make(in, 4);
    run(h, "first_lanes", in, out, 1);
    for (int i = 0; i < N; i++) {
        int base = i / wave_size(h) * wave_size(h), first = base;
        int32_t want = in[base] + in[base + 5];
        while (!(in[first] & 2))
            first++;
        if (in[i] & 2) want += 1000 * in[first];
        assert_int_equal(out[i], want);
    }
}

static void check_waterfall(harness *h) {
    int32_t in[N], out[N];
    make(in, 5);
    run(h, "waterfall", in, out, 1);
    for (int i = 0; i < N; i++) {
        int w = wave_size(h), base = i / w * w, turn = 0, v = in[i] & 7;
        uint32_t seen = 0;
        for (int k = base; (in[k] & 7) != v; k++) {
            if (!(seen >> (in[k] & 7) & 1)) turn++;
            seen |= 1u << (in[k] & 7);
        }
        assert_int_equal(out[i], v * 100 + turn);
    }
}

static void check_dpp_moves(harness *h) {
    static int32_t in[N], out[8 * N];
    make(in, 6);
    run(h, "dpp_moves", in, out, 8);
    for (int i = 0; i < N; i++) {
        int row = i & ~15, l = i & 15;
        int32_t want[8] = {in[i ^ 1],
                           l < 15 ? in[i + 1] : -1,
                           l >= 3 ? in[i - 3] : 0,
                           in[row | ((l - 5) & 15)],
                           in[row | (15 - l)],
                           in[(i & ~7) | (7 - (i & 7))],
                           (row / 16) % 4 % 2 == 0 && l >= 1 ? in[i - 1] : -1,
                           l / 4 == 0 || l / 4 == 3 ? in[i ^ 3] : -1};
        /* Row masks count the rows of a wave: a wave32 has two. */
        if (wave_size(h) == 32) want[6] = (row / 16) % 2 == 0 && l >= 1 ? in[i - 1] : -1;
        for (int k = 0; k < 8; k++)
            assert_int_equal(out[8 * i + k], want[k]);
    }
}

static void check_dpp_sum(harness *h) {
    int32_t in[N], out[N];
    make(in, 7);
    run(h, "dpp_sum", in, out, 1);
    for (int i = 0, sum = 0; i < N; i++) {
        sum = i % 16 ? sum + in[i] : in[i];
        assert_int_equal(out[i], sum);
    }
}

static void check_dpp_float(harness *h) {
    float in[N], out[N];
    int32_t bits[N];
    for (int i = 0; i < N; i++)
        in[i] = (float)(i * 37 % 101) * 0.25f - 8.0f;
    memcpy(bits, in, sizeof in);
    run(h, "dpp_float", bits, bits, 1);
    memcpy(out, bits, sizeof out);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == in[i] * 2.0f - (i % 16 ? in[i - 1] : 0.0f));
}

static void check_swizzles(harness *h) {
    static int32_t in[N], out[6 * N];
    make(in, 8);
    run(h, "swizzles", in, out, 6);
    for (int i = 0; i < N; i++) {
        assert_int_equal(out[6 * i], in[i ^ 1]);
        assert_int_equal(out[6 * i + 1], in[i ^ 31]);
        assert_int_equal(out[6 * i + 2], in[(i & ~31) | (i & 24) | 3]);
        assert_int_equal(out[6 * i + 3], in[i ^ 3]);
        assert_int_equal(out[6 * i + 4], in[(i & ~31) | ((i + 3) & 31)]);
        assert_int_equal(out[6 * i + 5], in[(i & ~15) | ((i - 5) & 15)]);
    }
}

static void check_permutes(harness *h) {
    static int32_t in[N], out[2 * N];
    make(in, 9);
    run(h, "permutes", in, out, 2);
    for (int i = 0; i < N; i++) {
        int w = wave_size(h), base = i / w * w, l = i - base, from = 0;
        while (from * 5 % w != l)
            from++;
        assert_int_equal(out[2 * i], in[base + from]);
        assert_int_equal(out[2 * i + 1], in[base + l * 7 % w]);
    }
}

static void check_wave_sort(harness *h) {
    int32_t in[N], out[N];
    make(in, 10);
    for (int i = 0; i < N; i++)
        in[i] &= 0xffff;
    run(h, "wave_sort", in, out, 1);
    for (int base = 0; base < N; base += wave_size(h)) {
        for (int i = base + 1; i < base + wave_size(h); i++) { /* insertion sort of the expectation */
            int32_t v = in[i];
            int k = i;
            for (; k > base && in[k - 1] > v; k--)
                in[k] = in[k - 1];
            in[k] = v;
        }
    }
    assert_memory_equal(out, in, sizeof out);
}

/* As the shuffles of HIP have it: a lane keeps its own value where it would leave its group. */
static void check_lane_groups(harness *h) {
    static const int BY[] = {0, 1, 5, 7, 8, 19, 33, 40};
    int32_t in[N], out[8 * N];
    make(in, 12);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    for (unsigned n = 0; n < sizeof BY / sizeof BY[0]; n++) {
        RUN(h, "lane_groups", N / BLOCK, BLOCK, PTR(dout), PTR(din), I32(BY[n]));
        harness_read(h, dout, out, sizeof out);
        for (int i = 0; i < N; i++) {
            for (int k = 0; k < 8; k++) {
                int width = k < 4 ? 8 : 32, first = i / width * width, by = BY[n], other = i;
                if (k % 4 == 0) other = first + by % width;
                if (k % 4 == 1) other = i - by;
                if (k % 4 == 2) other = i + by;
                if (k % 4 == 3) other = first + ((i - first) ^ by);
                if (other < first || other >= first + width) other = i;
                assert_int_equal(out[8 * i + k], in[other]);
            }
        }
    }
}

/* Neither of the modifiers, bound_ctrl, fi, both. */
static void check_permlanes_kept(harness *h) {
    static int in[N], out[16 * N];
    uint32_t seed = 12;
    for (int i = 0; i < N; i++)
        in[i] = (int)harness_random(&seed);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), dout = harness_buffer(h, "out", NULL, sizeof out);
    RUN(h, "permlanes_kept", N / BLOCK, BLOCK, PTR(dout), PTR(din));
    harness_read(h, dout, out, sizeof out);
    int forms = strncmp(h->target, "gfx12", 5) ? 8 : 16;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < forms; k++) {
            int row = i / 16 * 16, from = k / 4 % 2 ? (row ^ 16) + 5 : row + 3;
            assert_int_equal(out[16 * i + k], i % 2        ? in[i] ^ 0x5555
                                              : k % 4 >= 2 ? in[from]
                                              : k % 4 == 1 ? 0
                                                           : in[i] ^ 0x5555);
        }
    }
}

int main(void) {
    static const harness_case CASES[] = {
        {"lane_ids", "waves", check_lane_ids},       {"wave_sum", "waves", check_wave_sum},
        {"wave_scan", "waves", check_wave_scan},     {"ballots", "waves", check_ballots},
        {"first_lanes", "waves", check_first_lanes}, {"waterfall", "waves", check_waterfall},
        {"dpp_moves", "waves", check_dpp_moves},     {"dpp_sum", "waves", check_dpp_sum},
        {"dpp_float", "waves", check_dpp_float},     {"swizzles", "waves", check_swizzles},
        {"permutes", "waves", check_permutes},       {"wave_sort", "waves", check_wave_sort},
    };
    static const harness_case GFX1250[] = {{"lane_groups", "waves", check_lane_groups}};
    static const harness_case RDNA[] = {{"permlanes_kept", "waves", check_permlanes_kept}};
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]) + harness_main_on("gfx1250", GFX1250, 1) +
           harness_main_on("gfx1", RDNA, 1);
}
