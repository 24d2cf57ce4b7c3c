/* Copies between memory and LDS that go on while the wave does: what they move, and that nobody meets them on
 * the way. */
#include "tests/emu/harness.h"

#include <string.h>

enum { MAX = 2048 };

static void numbers(uint32_t *out, size_t count, uint32_t first) {
    for (size_t k = 0; k < count; k++)
        out[k] = first + (uint32_t)k * 7;
}

/* ---- gfx9: LDS DMA ---- */

static void check_dma(harness *h) {
    uint32_t in[256], got[256];
    numbers(in, 256, 5);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "dma", 1, 128, PTR(out), PTR(din), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 128; i++) {
        assert_int_equal(got[i], in[i]);
        assert_int_equal(got[128 + i], in[128 + (i ^ 64)]);
    }
    /* Without optimisation, waits for spilled registers are waits for the copies too. */
    if (!strcmp(h->level, "O0")) return;
    EXPECT(h, TRY(h, "dma", 1, 128, PTR(out), PTR(din), I32(1)),
           "load of byte 0 of LDS before the wait for the copy that writes it", "of wave 0", "lane 0");
    EXPECT(h, TRY(h, "dma", 1, 128, PTR(out), PTR(din), I32(2)),
           "load of byte 512 of LDS before the wait for the copy that writes it");
    EXPECT(h, TRY(h, "dma", 1, 128, PTR(out), PTR(din), I32(3)),
           "store of byte 0 of LDS while a copy that writes it is under way");
    EXPECT(h, TRY(h, "dma", 1, 128, PTR(out), PTR(din), I32(4)), "while a copy that reads it is under way");
    EXPECT(h, TRY(h, "dma", 1, 128, PTR(out), PTR(din), I32(5)), "race in LDS");
}

/* A launch that goes well, with a note that names the copy, or without any. */
static void lost(harness *h, const char *kernel, int wrong, const char *note) {
    uint32_t in[64], zeros[64] = {0};
    numbers(in, 64, 5);
    uint64_t din = harness_buffer(h, "in", in, sizeof in),
             out = harness_buffer(h, "out", zeros, sizeof zeros);
    harness_silent(h, TRY(h, kernel, 1, kernel[0] == 'd' ? 64 : 32, PTR(out), PTR(din), I32(wrong)));
    const char *said = tw_diag_text(h->diag);
    if (!note) {
        assert_null(strstr(said, "is lost"));
    } else {
        assert_non_null(strstr(said, "note: a copy into LDS is lost: the wave ends before a wait for it"));
        assert_non_null(strstr(said, note));
    }
}

static void check_dma_lost(harness *h) {
    if (!strcmp(h->level, "O0")) return; /* there, waits for spilled registers are waits for the copy */
    lost(h, "dma_lost", 0, NULL);
    /* A bit of the ordinary load there, an instruction of its own later. */
    lost(h, "dma_lost", 1, strcmp(h->target, "gfx90a") ? "'global_load_lds_dword v" : "'global_load_dword v");
}

static void check_async_lost(harness *h) {
    lost(h, "async_lost", 0, NULL);
    lost(h, "async_lost", 1, "global_load_async_to_lds_b32");
    lost(h, "async_lost", 2, NULL);
}

static void check_dma_narrow(harness *h) {
    int8_t bytes[64];
    uint16_t halves[64];
    int32_t got[128];
    for (int i = 0; i < 64; i++) {
        bytes[i] = (int8_t)(i * 5 - 128);
        halves[i] = (uint16_t)(i * 1021);
    }
    uint64_t b = harness_buffer(h, "bytes", bytes, sizeof bytes),
             s = harness_buffer(h, "halves", halves, sizeof halves);
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "dma_narrow", 1, 64, PTR(out), PTR(b), PTR(s));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(got[i], i % 3 ? (uint8_t)bytes[i] : -7);
        assert_int_equal(got[64 + i], i % 3 ? halves[i] : -7);
    }
}

static void check_dma_buffer(harness *h) {
    uint32_t in[40], got[64];
    numbers(in, 40, 1);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "dma_buffer", 1, 64, PTR(out), PTR(din), I32(40));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 64; i++)
        assert_int_equal(got[i], i < 40 ? in[i] : 0);
    EXPECT(h, TRY(h, "dma_buffer", 1, 64, PTR(out), PTR(din), I32(41)), "load of 4 bytes out of bounds",
           "lane 40");
}

static void check_dma_wide(harness *h) {
    uint32_t in[256], got[256];
    numbers(in, 256, 9);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "dma_wide", 1, 64, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 256; i++)
        assert_int_equal(got[i], in[4 * (63 - i / 4) + i % 4]);
}

/* ---- gfx1250: asynchronous loads and stores ---- */

static void check_async(harness *h) {
    uint32_t in[128], got[128];
    numbers(in, 128, 3);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "async", 1, 64, PTR(out), PTR(din), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(got[i], in[i]);
        assert_int_equal(got[64 + i], in[64 + (i ^ 32)]);
    }
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(1)),
           "load of byte 0 of LDS before the wait for the copy that writes it: 'global_load_async_to_lds_b32",
           "wave 0", "lane 0");
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(2)),
           "load of byte 256 of LDS before the wait for the copy that writes it");
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(3)),
           "store of byte 0 of LDS while a copy that writes it is under way");
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(4)), "while a copy that reads it is under way");
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(5)), "race in LDS");
    EXPECT(h, TRY(h, "async", 1, 64, PTR(out), PTR(din), I32(6)),
           "before the wait for the copy that writes it", "of wave ");
}

static void check_async_sizes(harness *h) {
    uint8_t in[2048], got[2048];
    for (int i = 0; i < 2048; i++)
        in[i] = (uint8_t)(i * 31 + i / 256);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "async_sizes", 1, 32, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(got[i], in[31 - i]);
        assert_memory_equal(got + 64 + 8 * i, in + 64 + 8 * (31 - i), 8);
        assert_memory_equal(got + 1024 + 16 * i, in + 1024 + 16 * i, 16);
    }
}

static void check_async_masked(harness *h) {
    enum { PAST = 0x7fffffff };
    uint32_t in[8], got[32];
    numbers(in, 8, 11);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    EXPECT(h, TRY(h, "async_masked", 1, 32, PTR(out), PTR(din), I32(PAST)), "load of 4 bytes out of bounds",
           "before 'in'");
    h->disabled_checks = TW_EMU_CHECK_LDS_RANGE;
    RUN(h, "async_masked", 1, 32, PTR(out), PTR(din), I32(PAST));
    harness_read(h, out, got, sizeof got);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(got[i], i % 8 == 0 ? 0 : i % 4 == 0 ? in[i / 4] : 7);
    assert_int_equal(h->counts.lds_bytes_written, (8 + 24) * 4);
    assert_int_equal(h->counts.global_bytes_read, 8 * 4);
    RUN(h, "async_masked", 1, 32, PTR(out), PTR(din), I32(-4));
    EXPECT(h, TRY(h, "async_masked", 1, 32, PTR(out), PTR(din), I32(PAST - 1)),
           "load of 4 bytes out of bounds");
    h->disabled_checks = 0;
}

static void check_async_store(harness *h) {
    uint32_t got[64];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "async_store", 1, 32, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(got[i], 3 * i);
        assert_int_equal(got[32 + i], 3 * (31 - i) + 1);
    }
    EXPECT(h, TRY(h, "async_store", 1, 32, PTR(out), I32(1)),
           "of LDS while a copy that reads it is under way");
    EXPECT(h, TRY(h, "async_store", 1, 32, PTR(out), I32(2)), "store of 0x",
           "while a copy that writes it is under way");
    EXPECT(h, TRY(h, "async_store", 1, 32, PTR(out), I32(3)), "load of 0x",
           "before the wait for the copy that writes it: 'global_store_async_from_lds_b32");
}

static void check_cluster(harness *h) {
    uint32_t in[32], got[32];
    numbers(in, 32, 11);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "cluster", 1, 32, PTR(out), PTR(din), I32(0));
    harness_read(h, out, got, sizeof got);
    assert_memory_equal(got, in, sizeof in);
    EXPECT(h, TRY(h, "cluster", 1, 32, PTR(out), PTR(din), I32(6)), "clusters of one workgroup", "0x6");
}

/* ---- gfx1250: the tensor data mover ---- */

typedef struct tile {
    uint32_t log_size, tile[5], extent[5], pad_every, pad; /* pads as codes; pad 0: none */
    uint64_t stride[5];                                    /* [1].. */
    uint32_t lds;
} tile;

static void put(uint32_t *words, unsigned bit, unsigned width, uint64_t value) {
    for (unsigned k = 0; k < width; k++)
        words[(bit + k) / 32] |= (uint32_t)(value >> k & 1) << ((bit + k) % 32);
}

/* Groups 0 to 3, one behind the other. */
static void describe(const tile *t, uint64_t address, uint32_t d[20]) {
    memset(d, 0, 20 * sizeof *d);
    d[0] = 1;
    d[1] = t->lds;
    put(d + 2, 0, 57, address);
    put(d + 2, 62, 2, 2);
    uint32_t *g1 = d + 4, *g2 = d + 12, *g3 = d + 16;
    put(g1, 16, 2, t->log_size);
    put(g1, 20, 1, t->pad != 0);
    put(g1, 22, 3, t->pad_every);
    put(g1, 25, 7, t->pad ? t->pad - 1 : 0);
    put(g1, 48, 32, t->extent[0]);
    put(g1, 80, 32, t->extent[1]);
    put(g1, 112, 16, t->tile[0]);
    put(g1, 128, 16, t->tile[1]);
    put(g1, 144, 16, t->tile[2]);
    put(g1, 160, 48, t->stride[1]);
    put(g1, 208, 48, t->stride[2]);
    put(g2, 0, 32, t->extent[2]);
    put(g2, 32, 32, t->extent[3]);
    put(g2, 64, 48, t->stride[3]);
    put(g2, 112, 16, t->tile[3]);
    put(g3, 0, 48, t->stride[4]);
    put(g3, 48, 32, t->extent[4]);
    put(g3, 80, 16, t->tile[4]);
}

/* What the tile's element at a place of LDS is: a number of an element of memory, -1 for a zero, -2 for
 * nothing. The other way around than the emulator: from the byte of LDS to its coordinates. */
static int64_t source_of(const tile *t, uint64_t byte) {
    uint32_t size = 1u << t->log_size;
    if (byte < t->lds) return -2;
    byte -= t->lds;
    if (t->pad) {
        uint64_t every = 4ull * (2u << t->pad_every), step = every + 4ull * t->pad;
        if (byte % step >= every) return -2;
        byte = byte / step * every + byte % step;
    }
    uint64_t element = byte / size, index = 0;
    bool inside = true;
    for (int d = 0; d < 5; d++) {
        uint64_t extent = t->tile[d] ? t->tile[d] : 1, at = element % extent;
        element /= extent;
        if (t->tile[d]) inside = inside && at < t->extent[d];
        index += at * (d ? t->stride[d] : 1);
    }
    return element ? -2 : inside ? (int64_t)index : -1;
}

static void check_tile(harness *h, const tile *t, unsigned words) {
    uint8_t in[4 * MAX], want[4 * MAX], got[4 * MAX];
    uint32_t d[20], size = 1u << t->log_size;
    for (unsigned k = 0; k < sizeof in; k++)
        in[k] = (uint8_t)(k * 13 + k / 251);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, 4 * words);
    describe(t, din, d);
    uint64_t dd = harness_buffer(h, "descriptor", d, sizeof d);
    RUN(h, "tensor", 1, 64, PTR(out), PTR(dd), I32(words), I32(0), I32(0));
    harness_read(h, out, got, 4 * words);
    for (unsigned k = 0; k < 4 * words; k++) {
        int64_t from = source_of(t, k);
        want[k] = from == -2 ? 0xff : from == -1 ? 0 : in[(uint64_t)from * size + k % size];
    }
    assert_memory_equal(got, want, 4 * words);
}

static void check_tensor_load(harness *h) {
    static const tile TILES[] = {
        {.log_size = 1, .tile = {16, 8}, .extent = {16, 8}, .stride = {1, 40}, .lds = 64},
        {.log_size = 1, .tile = {16, 8}, .extent = {11, 5}, .stride = {1, 40}},  /* out of range: zeros */
        {.log_size = 1, .tile = {16, 8}, .extent = {100, 0}, .stride = {1, 40}}, /* all of it */
        {.log_size = 1,
         .tile = {32, 8},
         .extent = {32, 8},
         .stride = {1, 64},
         .pad_every = 3,
         .pad = 4,
         .lds = 16},
        {.log_size = 1,
         .tile = {32, 8},
         .extent = {30, 7},
         .stride = {1, 64},
         .pad_every = 2,
         .pad = 1}, /* half rows */
        {.log_size = 0, .tile = {24, 9}, .extent = {24, 9}, .stride = {1, 33}},
        {.log_size = 2, .tile = {7, 5}, .extent = {7, 5}, .stride = {1, 9}},
        {.log_size = 3, .tile = {4, 6}, .extent = {3, 6}, .stride = {1, 5}},
        {.log_size = 2, .tile = {33}, .extent = {30}, .stride = {1}},
        {.log_size = 1, .tile = {8, 4, 3}, .extent = {8, 3, 2}, .stride = {1, 16, 100}},
        {.log_size = 1, .tile = {8, 2, 3, 2, 2}, .extent = {7, 2, 3, 2, 1}, .stride = {1, 10, 50, 300, 1000}},
    };
    for (size_t k = 0; k < sizeof TILES / sizeof TILES[0]; k++)
        check_tile(h, &TILES[k], 512);
}

static void check_tensor_store(harness *h) {
    const tile t = {.log_size = 2, .tile = {8, 6}, .extent = {7, 5}, .stride = {1, 20}};
    uint32_t got[200], zeros[200] = {0}, d[20];
    uint64_t to = harness_buffer(h, "to", zeros, sizeof zeros), out = harness_buffer(h, "out", NULL, 4 * 64);
    describe(&t, to, d);
    uint64_t dd = harness_buffer(h, "descriptor", d, sizeof d);
    RUN(h, "tensor", 1, 64, PTR(out), PTR(dd), I32(64), I32(1), I32(0));
    harness_read(h, to, got, sizeof got);
    for (uint32_t k = 0; k < 200; k++) {
        uint32_t x = k % 20, y = k / 20;
        assert_int_equal(got[k], x < 7 && y < 5 ? y * 8 + x : 0);
    }
}

static void check_tensor_gather(harness *h) {
    const tile t = {.log_size = 2, .tile = {8, 5}, .extent = {8, 30}, .stride = {1, 16}};
    static const uint32_t ROWS[5] = {3, 29, 0, 31, 7};
    uint32_t in[512], got[64], d[20];
    numbers(in, 512, 1);
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    for (int wide = 0; wide < 2; wide++) {
        describe(&t, din, d);
        d[0] |= 1u << 31 | (uint32_t)wide << 30;
        for (unsigned k = 0; k < 5; k++)
            put(d + 12, wide ? 32 * k : 16 * k, wide ? 32 : 16, ROWS[k]);
        uint64_t dd = harness_buffer(h, "descriptor", d, sizeof d);
        RUN(h, "tensor", 1, 64, PTR(out), PTR(dd), I32(64), I32(0), I32(0));
        harness_read(h, out, got, sizeof got);
        for (unsigned k = 0; k < 40; k++)
            assert_int_equal(got[k], ROWS[k / 8] < 30 ? in[16 * ROWS[k / 8] + k % 8] : 0);
    }
}

/* The gather mode of a store: rows of LDS go where the numbers say, those outside the tensor nowhere. */
static void check_tensor_scatter(harness *h) {
    const tile t = {.log_size = 2, .tile = {8, 5}, .extent = {7, 20}, .stride = {1, 16}};
    static const uint32_t ROWS[5] = {3, 19, 0, 25, 7};
    uint32_t got[512], zeros[512] = {0}, d[20];
    for (int wide = 0; wide < 2; wide++) {
        uint64_t to = harness_buffer(h, "to", zeros, sizeof zeros),
                 out = harness_buffer(h, "out", NULL, 4 * 64);
        describe(&t, to, d);
        d[0] |= 1u << 31 | (uint32_t)wide << 30;
        for (unsigned k = 0; k < 5; k++)
            put(d + 12, wide ? 32 * k : 16 * k, wide ? 32 : 16, ROWS[k]);
        uint64_t dd = harness_buffer(h, "descriptor", d, sizeof d);
        RUN(h, "tensor", 1, 64, PTR(out), PTR(dd), I32(64), I32(1), I32(0));
        harness_read(h, to, got, sizeof got);
        for (uint32_t k = 0; k < 512; k++) {
            uint32_t want = 0;
            for (uint32_t row = 0; row < 5; row++)
                if (k / 16 == ROWS[row] && ROWS[row] < 20 && k % 16 < 7) want = row * 8 + k % 16;
            assert_int_equal(got[k], want);
        }
    }
}

static tw_status with_descriptor(harness *h, const uint32_t d[20], int wrong) {
    uint64_t dd = harness_buffer(h, "descriptor", d, 80), out = harness_buffer(h, "out", NULL, 4 * MAX);
    return TRY(h, "tensor", 1, 64, PTR(out), PTR(dd), I32(128), I32(0), I32(wrong));
}

static void check_tensor_faults(harness *h) {
    const tile t = {.log_size = 2, .tile = {8, 8}, .extent = {8, 8}, .stride = {1, 8}};
    uint32_t in[64], d[20], bad[20];
    numbers(in, 64, 1);
    describe(&t, harness_buffer(h, "in", in, sizeof in), d);
    harness_silent(h, with_descriptor(h, d, 0));
    EXPECT(h, with_descriptor(h, d, 1),
           "load of byte 0 of LDS before the wait for the copy that writes it: 'tensor_load");
    EXPECT(h, with_descriptor(h, d, 2), "before the wait for the copy that writes it", "wave 1");
    EXPECT(h, with_descriptor(h, d, 3), "race in LDS");
#define BAD(word, bits, ...)    \
    memcpy(bad, d, sizeof bad); \
    bad[word] ^= (bits);        \
    EXPECT(h, with_descriptor(h, bad, 0), __VA_ARGS__)
    BAD(0, 3, "a count above 1");
    BAD(3, 1u << 30, "a type that is not 2");
    BAD(4, 1 << 19, "the iterate mode");
    BAD(4, 1 << 18, "an atomic barrier");
    BAD(4, 6, "a multicast to other workgroups");
    BAD(7, 8 << 16, "extent 0 in dimension 0 below its rank 2");
    /* A row more, which the tensor says exists. */
    d[8] = 9;
    BAD(6, 1 << 16, "out of bounds", "past the end of 'in'");
    d[8] = 8;
    BAD(1, 8000, "a tensor tile out of bounds", "of which the workgroup has 8192");
    BAD(2, 2, "misaligned access");
#undef BAD
    /* No transfer at all. */
    memcpy(bad, d, sizeof bad);
    bad[0] = 0;
    harness_silent(h, with_descriptor(h, bad, 0));
}

static void check_many_registers(harness *h) {
    static int32_t in[400 * 32], got[400 * 32];
    for (int i = 0; i < 400 * 32; i++)
        in[i] = i * 97 % 10007;
    uint64_t din = harness_buffer(h, "in", in, sizeof in), out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "many_registers", 1, 32, PTR(out), PTR(din));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 400 * 32; i++)
        assert_int_equal(got[i], in[(399 - i / 32) * 32 + i % 32] * 3 - in[i]);
}

#define CASE(name) \
    { #name, "copies", check_##name }
#define COUNT(cases) (sizeof(cases) / sizeof *(cases))

int main(void) {
    static const harness_case GFX9[] = {CASE(dma), CASE(dma_lost), CASE(dma_narrow), CASE(dma_buffer)};
    static const harness_case GFX950[] = {CASE(dma_wide)};
    static const harness_case GFX1250[] = {CASE(async),         CASE(async_sizes),   CASE(async_store),
                                           CASE(async_masked),  CASE(async_lost),    CASE(tensor_scatter),
                                           CASE(cluster),       CASE(tensor_load),   CASE(tensor_store),
                                           CASE(tensor_gather), CASE(tensor_faults), CASE(many_registers)};
    int failed = 0;
    failed += harness_main_on("gfx9", GFX9, COUNT(GFX9));
    failed += harness_main_on("gfx950", GFX950, COUNT(GFX950));
    failed += harness_main_on("gfx1250", GFX1250, COUNT(GFX1250));
    return failed;
}
