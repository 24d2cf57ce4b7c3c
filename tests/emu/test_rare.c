/* Instructions that compilers make rarely or never, against their definitions. */
#include "tests/emu/harness.h"

#include <math.h>
#include <string.h>

#include "support/float_formats.h"

static bool is_gfx9(const harness *h) { return !strncmp(h->target, "gfx9", 4); }
static unsigned lanes(const harness *h) { return is_gfx9(h) ? 64 : 32; }

static void random_words(uint32_t *out, size_t count) {
    uint32_t seed = 77;
    for (size_t k = 0; k < count; k++)
        out[k] = harness_random(&seed);
}

/* ---- LDS ---- */

static void check_lds_addtid(harness *h) {
    uint32_t in[256], got[256], want[256];
    random_words(in, 256);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "lds_addtid", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    memcpy(want, in, sizeof want);
    for (unsigned k = 0; k < 64; k++) {
        unsigned base = 4 + k / lanes(h) * 64, lane = k % lanes(h);
        want[base + 128 + lane] = in[base + 2 + lane] + 1;
    }
    assert_memory_equal(got, want, sizeof want);
}

/* As vector arithmetic has it: +NaN, or the first NaN. */
static void check_sum_nan(harness *h) {
    static const struct {
        float a, b;
        uint32_t want;
    } SUMS[] = {{INFINITY, -INFINITY, 0x7fc00000u}, {-NAN, NAN, 0xffc00000u}, {1, -NAN, 0xffc00000u}};
    for (unsigned k = 0; k < 3; k++) {
        uint32_t got = 0;
        uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
        RUN(h, "sum_nan", 1, 1, PTR(out), harness_f32(SUMS[k].a), harness_f32(SUMS[k].b));
        harness_read(h, out, &got, sizeof got);
        assert_int_equal(got, SUMS[k].want);
    }
}

static void check_exchange2(harness *h) {
    static uint64_t in[256], got[64][12];
    random_words((uint32_t *)in, 512);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "exchange2", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 64; k++) {
        const uint64_t want[12] = {in[k],
                                   in[k + 64],
                                   (uint32_t)in[k],
                                   (uint32_t)in[k + 64],
                                   (uint32_t)in[k + 128],
                                   (uint32_t)in[k + 192],
                                   in[k + 1],
                                   in[k + 2],
                                   (uint32_t)in[k + 3],
                                   (uint32_t)in[k + 4],
                                   (uint32_t)in[k + 5],
                                   (uint32_t)in[k + 6]};
        for (unsigned n = 0; n < 12; n++)
            if (got[k][n] != want[n]) fail_msg("item %u, value %u is wrong", k, n);
    }
}

static uint32_t conditional(uint32_t old, uint32_t new) { return new >> 31 ? new & 0x7fffffff : old; }

static void check_condxchg(harness *h) {
    static uint64_t in[128], got[64][2];
    random_words((uint32_t *)in, 256);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "condxchg", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 64; k++) {
        uint64_t new = in[64 + k];
        assert_int_equal(got[k][0], in[k]);
        assert_int_equal(got[k][1], conditional((uint32_t)in[k], (uint32_t) new) |
                                        (uint64_t)conditional((uint32_t)(in[k] >> 32), (uint32_t)(new >> 32))
                                            << 32);
    }
}

/* Triples of memory, compare and new value: equal, different, zeros of both signs, NaNs. */
static void float_triples(float (*in)[3]) {
    static const float TRIPLES[][3] = {
        {1, 1, 2},   {1, 2, 3},   {0.0f, -0.0f, 4},    {-0.0f, 0.0f, 5}, {NAN, NAN, 6},
        {NAN, 1, 7}, {1, NAN, 8}, {1e-40f, 1e-40f, 9}, {1e-40f, 0, 10},  {INFINITY, INFINITY, -0.0f}};
    for (unsigned k = 0; k < 64; k++)
        memcpy(in[k], TRIPLES[k % 10], sizeof in[k]);
}

static void check_compare_floats(harness *h) {
    static float in[64][3];
    static uint64_t got[64][4];
    float_triples(in);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "compare_floats", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 64; k++) {
        float now = in[k][0] == in[k][1] ? in[k][2] : in[k][0];
        assert_int_equal(got[k][0], tw_f32_bits(in[k][0]));
        assert_int_equal(got[k][1], tw_f32_bits(now));
        assert_int_equal(got[k][2], tw_f64_bits((double)in[k][0]));
        assert_int_equal(got[k][3], tw_f64_bits((double)now));
    }
}

static void check_swap_floats(harness *h) {
    static float in[64][3], memory[64];
    static uint32_t got[64], now[64];
    float_triples(in);
    for (unsigned k = 0; k < 64; k++)
        memory[k] = in[k][0];
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got),
             place = harness_buffer(h, "memory", memory, sizeof memory);
    RUN(h, "swap_floats", 1, 64, PTR(out), PTR(din), PTR(place));
    harness_read(h, out, got, sizeof got);
    harness_read(h, place, now, sizeof now);
    for (unsigned k = 0; k < 64; k++) {
        assert_int_equal(got[k], tw_f32_bits(memory[k]));
        assert_int_equal(now[k], tw_f32_bits(memory[k] == in[k][1] ? in[k][2] : memory[k]));
    }
}

/* ---- global memory and scratch ---- */

static void check_global_addtid(harness *h) {
    uint32_t in[160], got[160];
    random_words(in, 160);
    memset(got, 0, sizeof got);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", got, sizeof got);
    RUN(h, "global_addtid", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 64; k++) {
        unsigned base = k / lanes(h) * 64, lane = k % lanes(h);
        assert_int_equal(got[base + 4 + lane], in[base + 2 + lane]);
    }
}

static void check_blocks(harness *h) {
    static uint32_t in[33 * 32];
    static int32_t got[32][72];
    const uint32_t mask = 0x8f0000f5u;
    random_words(in, 33 * 32);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "blocks", 1, 32, PTR(out), PTR(din), I32(mask));
    harness_read(h, out, got, sizeof got);
    for (unsigned lane = 0; lane < 32; lane++) {
        int32_t mine[40];
        for (int k = 0; k < 40; k++)
            mine[k] = 1000 + k;
        for (unsigned k = 0; k < 32; k++)
            if (mask >> k & 1) mine[k + 1] = (int32_t)in[lane * 32 + 2 + k];
        for (unsigned k = 0; k < 32; k++)
            assert_int_equal(got[lane][k], mask >> k & 1 ? -(int32_t)k : mine[k + 1]);
        assert_memory_equal(&got[lane][32], mine, sizeof mine);
    }
}

static void check_block_over_address(harness *h) {
    static uint32_t in[32 * 32], got[32][4];
    random_words(in, 32 * 32);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "block_over_address", 1, 32, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned lane = 0; lane < 32; lane++) {
        assert_memory_equal(got[lane], &in[lane * 32], 12);
        assert_int_equal(got[lane][3], in[lane * 32 + 16]);
    }
}

static void check_cluster_loads(harness *h) {
    uint32_t in[7 * 32], got[7 * 32];
    random_words(in, 7 * 32);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    for (int mask = 0; mask < 2; mask++) {
        RUN(h, "cluster_loads", 1, 32, PTR(out), PTR(din), I32(mask));
        harness_read(h, out, got, sizeof got);
        assert_memory_equal(got, in, sizeof in);
    }
    EXPECT(h, TRY(h, "cluster_loads", 1, 32, PTR(out), PTR(din), I32(2)),
           "clusters of one workgroup only (got multicast mask 0x2)");
}

static void check_monitored_loads(harness *h) {
    uint32_t in[7 * 32], got[32][14];
    random_words(in, 7 * 32);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "monitored_loads", 1, 32, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 32; k++) {
        assert_memory_equal(got[k], in + 7 * k, 28);
        assert_memory_equal(got[k] + 7, in + 7 * k, 28);
    }
}

/* ---- scalar memory of gfx9 ---- */

static void check_scalar_stores(harness *h) {
    const uint32_t in[7] = {11, 12, 13, 14, 15, 16, 17};
    uint32_t got[16] = {0};
    static const uint32_t want[16] = {0, 17, 15, 16, 11, 12, 13, 14, 17, 0, 0, 15, 16};
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", got, sizeof got);
    RUN(h, "scalar_stores", 1, 64, PTR(out), PTR(din), I32(20));
    harness_read(h, out, got, sizeof got);
    assert_memory_equal(got, want, sizeof want);
    EXPECT(h, TRY(h, "scalar_stores", 1, 64, PTR(out), PTR(din), I32(16)),
           "scalar buffer store out of the range of its resource", "s_buffer_store_dwordx2");
    uint64_t small = harness_buffer(h, "small", got, 28);
    EXPECT(h, TRY(h, "scalar_stores", 1, 64, PTR(small), PTR(din), I32(20)), "store of 4 bytes out of bounds",
           "s_store_dwordx4");
}

typedef struct atomic {
    uint64_t memory, data, narrow, wide; /* the outcome */
} atomic;

#define LOW(x)  ((uint32_t)(x))
#define MIN_OLD 0x8000000180000001ull
#define MIN_NEW 0x7000000070000000ull
static const atomic ATOMICS[12] = {
    {5, 0x1122334455667788ull, 0x55667788u, 0x1122334455667788ull}, /* swap */
    {0xffffffffffffffffull, 3, 2, 2},                               /* add */
    {1, 2, 0xffffffffu, 0xffffffffffffffffull},                     /* sub */
    {MIN_OLD, MIN_NEW, LOW(MIN_OLD), MIN_OLD},                      /* smin */
    {MIN_OLD, MIN_NEW, LOW(MIN_NEW), MIN_NEW},                      /* umin */
    {MIN_OLD, MIN_NEW, LOW(MIN_NEW), MIN_NEW},                      /* smax */
    {MIN_OLD, MIN_NEW, LOW(MIN_OLD), MIN_OLD},                      /* umax */
    {0xf0f0f0f0f0f0f0f0ull, 0x3c3c3c3c3c3c3c3cull, 0x30303030u, 0x3030303030303030ull},
    {0xf0f0f0f0f0f0f0f0ull, 0x3c3c3c3c3c3c3c3cull, 0xfcfcfcfcu, 0xfcfcfcfcfcfcfcfcull},
    {0xf0f0f0f0f0f0f0f0ull, 0x3c3c3c3c3c3c3c3cull, 0xccccccccu, 0xccccccccccccccccull},
    {7, 7, 0, 0}, /* inc wraps */
    {0, 9, 9, 9}, /* dec wraps */
};

static void check_scalar_atomics(harness *h) {
    uint32_t narrow[14], narrow_before[14];
    uint64_t wide[13], data[14], old[26], wide_before[13];
    for (unsigned k = 0; k < 12; k++) {
        narrow[k] = LOW(ATOMICS[k].memory);
        wide[k] = ATOMICS[k].memory;
        data[k] = ATOMICS[k].data;
    }
    narrow[12] = 21, narrow[13] = 30,
    wide[12] = 0x2100000021ull; /* cmpswap: the new value, what is compared */
    data[12] = 0x9900000099ull, data[13] = 21;
    memcpy(narrow_before, narrow, sizeof narrow);
    memcpy(wide_before, wide, sizeof wide);
    uint64_t dold = harness_buffer(h, "old", NULL, sizeof old),
             dnarrow = harness_buffer(h, "narrow", narrow, sizeof narrow),
             dwide = harness_buffer(h, "wide", wide, sizeof wide),
             ddata = harness_buffer(h, "data", data, sizeof data);
    RUN(h, "scalar_atomics", 1, 64, PTR(dold), PTR(dnarrow), PTR(dwide), PTR(ddata));
    harness_read(h, dold, old, sizeof old);
    harness_read(h, dnarrow, narrow, sizeof narrow);
    harness_read(h, dwide, wide, sizeof wide);
    for (unsigned k = 0; k < 13; k++) {
        assert_int_equal(old[2 * k], narrow_before[k]);
        assert_int_equal(old[2 * k + 1], wide_before[k]);
        if (k == 12) break;
        assert_int_equal(narrow[k], ATOMICS[k].narrow);
        assert_int_equal(wide[k], ATOMICS[k].wide);
    }
    assert_int_equal(narrow[12], 0x99);
    assert_int_equal(wide[12], 0x2100000021ull); /* another value stood there */
    assert_int_equal(narrow[13], 35);
}

static void check_scratch_dma(harness *h) {
    static uint32_t in[256], got[128];
    random_words(in, 256);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "scratch_dma", 1, 64, PTR(out), PTR(din), I32(0));
    harness_read(h, out, got, sizeof got);
    for (unsigned k = 0; k < 64; k++) {
        assert_int_equal(got[k], in[4 * k + 2]);
        assert_int_equal((int32_t)got[64 + k], (int8_t)(in[4 * k + 1] >> 8));
    }
    EXPECT(h, TRY(h, "scratch_dma", 1, 64, PTR(out), PTR(din), I32(1)),
           "of LDS before the wait for the copy that writes it", "scratch_load_lds_dword");
}

/* ---- registers by number, and the program counter ---- */

static void check_swaprel(harness *h) {
    int32_t got[32][4];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "swaprel", 1, 32, PTR(out), I32(2 | 1 << 16)); /* v43 with v41 */
    harness_read(h, out, got, sizeof got);
    static const int32_t want[4] = {100, 103, 102, 101};
    for (unsigned k = 0; k < 32; k++)
        assert_memory_equal(got[k], want, sizeof want);
    EXPECT(h, TRY(h, "swaprel", 1, 32, PTR(out), I32(1000)), "which the wave does not have");
}

static void check_banks(harness *h) {
    int32_t got[32][4];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    for (int bank = 0; bank < 2; bank++) { /* of source 0, as MODE has it: in bits 3:2 of its field */
        RUN(h, "banks", 1, 32, PTR(out), I32(bank << 2));
        harness_read(h, out, got, sizeof got);
        const int32_t want[4] = {2 | 3 << 2 | 0 << 4 | 1 << 6, 9, bank ? 9 : 5, 5};
        assert_memory_equal(got[7], want, sizeof want);
    }
}

static void check_added_pc(harness *h) {
    int32_t got[64];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "added_pc", 1, 32, PTR(out), I64(4));
    harness_read(h, out, got, sizeof got);
    assert_int_equal(got[0], 17);
    assert_int_equal(got[1], 19);
    RUN(h, "added_pc", 1, 32, PTR(out), I64(8));
    harness_read(h, out, got, sizeof got);
    assert_int_equal(got[1], 17);
    EXPECT(h, TRY(h, "added_pc", 1, 32, PTR(out), I64((int64_t)1 << 40)), "");
}

/* ---- loads that transpose ---- */

static uint32_t field(const uint32_t *words, unsigned at, unsigned bits) {
    uint64_t two = words[at / 32] | (at % 32 + bits > 32 ? (uint64_t)words[at / 32 + 1] << 32 : 0);
    return (uint32_t)(two >> at % 32) & ((1u << bits) - 1);
}

/* Which lane's address, and which element from there, the definition of the instruction gives lane l as n-th.
 */
static void source(bool gfx9, unsigned bits, unsigned l, unsigned n, unsigned *lane, unsigned *element) {
    *element = l % 16;
    if (gfx9) {
        *lane = l / 16 * 16 + n;
    } else if (bits == 4) {
        *lane = n % 8 + 8 * (l / 16) + 16 * (n / 8);
    } else {
        *lane = 8 * (n / 4) + n % 4 + 4 * (l / 16);
    }
}

static void check_transposed(harness *h) {
    static uint32_t in[64][4], got[64][10];
    static const struct {
        unsigned bits, at;
        bool global;
    } PART[] = {{4, 0, false}, {6, 2, false}, {4, 5, true}, {6, 7, true}};
    random_words(in[0], 256);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "transposed", 1, lanes(h), PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (unsigned p = 0; p < 4; p++) {
        if (PART[p].global && is_gfx9(h)) continue;
        for (unsigned l = 0; l < lanes(h); l++) {
            for (unsigned n = 0; n < 16; n++) {
                unsigned lane, element, bits = PART[p].bits;
                source(is_gfx9(h), bits, l, n, &lane, &element);
                if (field(&got[l][PART[p].at], n * bits, bits) != field(in[lane], element * bits, bits))
                    fail_msg("%u bits%s: lane %u, element %u is wrong", bits,
                             PART[p].global ? ", global memory" : "", l, n);
            }
        }
    }
}

static void check_subtractions(harness *h) {
    uint32_t memory[4][32], after[4][32], in[32], got[32][10];
    random_words(memory[0], 128);
    random_words(in, 32);
    for (unsigned l = 0; l < 32; l++) { /* both ways, and the limit of both */
        for (unsigned k = 0; k < 4; k++)
            if (l % 8 == 0) memory[k][l] = in[l] + l / 8 - 1;
    }
    uint64_t dm = harness_buffer(h, "memory", memory, sizeof memory),
             din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "subtractions", 1, 32, PTR(out), PTR(dm), PTR(din));
    harness_read(h, out, got, sizeof got);
    harness_read(h, dm, after, sizeof after);
    for (unsigned l = 0; l < 32; l++) {
        static const uint8_t OLD[] = {0, 2, 3, 0, 2};
        for (unsigned k = 0; k < 5; k++)
            assert_int_equal(got[l][k], memory[OLD[k]][l]);
        for (unsigned k = 0; k < 4; k++) {
            bool enough = memory[k][l] >= in[l];
            uint32_t less = memory[k][l] - in[l];
            assert_int_equal(after[k][l], enough ? less : k < 3 ? memory[k][l] : 0);
            assert_int_equal(got[l][6 + k], enough ? less : k < 2 ? memory[k][l] : 0);
        }
    }
}

#define CASE(name) \
    { #name, "rare", check_##name }
#define ON(targets, ...)                                          \
    harness_main_on(targets, (const harness_case[]){__VA_ARGS__}, \
                    sizeof((const harness_case[]){__VA_ARGS__}) / sizeof(harness_case))

int main(void) {
    int failed = ON("gfx", CASE(lds_addtid), CASE(exchange2), CASE(condxchg), CASE(sum_nan));
    failed += ON("gfx9", CASE(compare_floats), CASE(scalar_stores), CASE(scalar_atomics));
    failed += ON("gfx94", CASE(scratch_dma));
    failed += ON("gfx95", CASE(scratch_dma), CASE(transposed));
    failed += ON("gfx1", CASE(global_addtid), CASE(swaprel));
    failed += ON("gfx11", CASE(compare_floats), CASE(swap_floats));
    failed += ON("gfx12", CASE(blocks), CASE(block_over_address), CASE(subtractions));
    failed += ON("gfx1250", CASE(cluster_loads), CASE(monitored_loads), CASE(added_pc), CASE(banks),
                 CASE(transposed));
    return failed;
}
