/* Barriers of gfx12: split, named, of a cluster. */
#include "tests/emu/harness.h"

#include <string.h>

enum { ITEMS = 128 };

static void check_split(harness *h) {
    int32_t got[ITEMS];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "split", 1, ITEMS, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(got[i], 127 - i);
    EXPECT(h, TRY(h, "split", 1, ITEMS, PTR(out), I32(1)), "a second barrier signal without a wait between",
           "wave 1");
    EXPECT(h, TRY(h, "split", 1, ITEMS, PTR(out), I32(2)),
           "the wave ends between the signal of a barrier and the wait", "'s_endpgm'", "wave 1");
    EXPECT(h, TRY(h, "split", 1, ITEMS, PTR(out), I32(3)), "race in LDS");
    EXPECT(h, TRY(h, "split", 1, ITEMS, PTR(out), I32(4)), "a barrier wait without a signal before",
           "wave 2");
}

static void check_is_first(harness *h) {
    uint32_t got, zero = 0;
    uint64_t out = harness_buffer(h, "out", &zero, 4);
    RUN(h, "is_first", 3, ITEMS, PTR(out));
    harness_read(h, out, &got, 4);
    assert_int_equal(got, 3); /* one wave of each workgroup */
}

static void check_state(harness *h) {
    uint32_t got[3];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "state", 1, ITEMS, PTR(out));
    harness_read(h, out, got, sizeof got);
    assert_int_equal(got[0], 4 << 4 | 1);
    assert_int_equal(got[1], 1 << 16 | 4 << 4 | 1);
}

static void check_pairs(harness *h) {
    int32_t got[ITEMS];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "pairs", 1, ITEMS, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(got[i], (i ^ 64 ^ 32) * 5 + 1);
    EXPECT(h, TRY(h, "pairs", 1, ITEMS, PTR(out), I32(1)),
           "the wave waits for ever: nobody is left to signal barrier", "'s_barrier_wait 1'");
    EXPECT(h, TRY(h, "pairs", 1, ITEMS, PTR(out), I32(2)), "race in LDS");
    EXPECT(h, TRY(h, "pairs", 1, ITEMS, PTR(out), I32(3)),
           "a wait for a named barrier by a wave that joined none");
}

static void check_producers(harness *h) {
    int32_t got[32];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "producers", 1, ITEMS, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 32; i++)
        assert_int_equal(got[i], 3 * (i + 1) + 96);
    EXPECT(h, TRY(h, "producers", 1, ITEMS, PTR(out), I32(1)), "which has no members",
           "the wave waits for ever");
    EXPECT(h, TRY(h, "producers", 1, ITEMS, PTR(out), I32(2)),
           "barrier 9, where the kernel has 4 named barriers");
}

static void check_clusters(harness *h) {
    int32_t got[64];
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "clusters", 1, 64, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 64; i++)
        assert_int_equal(got[i], i + i / 32);
    EXPECT(h, TRY(h, "clusters", 1, 64, PTR(out), I32(1)), "nobody is left to signal barrier -3", "wave 0");
}

static void check_arrivals(harness *h) {
    uint64_t got[133];
    if (!strcmp(h->level, "O0")) return; /* its polling loops go through scratch */
    uint64_t out = harness_buffer(h, "out", NULL, sizeof got);
    RUN(h, "arrivals", 1, ITEMS, PTR(out), I32(0));
    harness_read(h, out, got, sizeof got);
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(got[i], (127 - i) * 3);
    uint64_t seen = 0;
    for (unsigned i = 0; i < 4; i++) { /* in some order */
        assert_int_equal(got[128 + i] >> 32, 3);
        assert_true((uint32_t)got[128 + i] < 4);
        seen |= 1u << (uint32_t)got[128 + i];
    }
    assert_int_equal(seen, 15);
    assert_int_equal(got[132], 3ull << 32 | 7ull << 29 | 3);
}

#define CASE(name) \
    { #name, "barriers", check_##name }
#define COUNT(cases) (sizeof(cases) / sizeof *(cases))

int main(void) {
    static const harness_case GFX12[] = {CASE(split), CASE(is_first), CASE(state)};
    static const harness_case GFX1250[] = {CASE(pairs), CASE(producers), CASE(clusters), CASE(arrivals)};
    int failed = 0;
    failed += harness_main_on("gfx12", GFX12, COUNT(GFX12));
    failed += harness_main_on("gfx1250", GFX1250, COUNT(GFX1250));
    return failed;
}
