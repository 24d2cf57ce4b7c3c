/* Races between workgroups in global memory, and the protocols that must stay silent. */
#include "tests/emu/harness.h"

#include <string.h>

enum { GROUPS = 4, ITEMS = 64, N = GROUPS * ITEMS };

static uint64_t zeros(harness *h, const char *name, size_t bytes) {
    static const uint8_t ZEROS[8192];
    assert_true(bytes <= sizeof ZEROS);
    return harness_buffer(h, name, ZEROS, bytes);
}

/* gfx90a and gfx11 write relaxed atomic stores as plain ones, which therefore may be theirs. */
static bool stores_look_alike(const harness *h) {
    return !strcmp(h->target, "gfx90a") || !strncmp(h->target, "gfx11", 5);
}

static void check_two_writers(harness *h) {
    if (stores_look_alike(h)) h->strict_checks = TW_EMU_STRICT_STORES;
    uint64_t out = zeros(h, "out", 8192);
    harness_silent(h, TRY(h, "two_writers", GROUPS, ITEMS, PTR(out), I32(0)));
    EXPECT(h, TRY(h, "two_writers", GROUPS, ITEMS, PTR(out), I32(1)),
           "two_writers: error: race in global memory: store of 0x", "(byte 256 of 'out')",
           "which workgroup (0, 0, 0) wrote", "workgroup (1, 0, 0), wave 0, lane 0", "store");
    /* The same value or not: one of the two is lost. */
    EXPECT(h, TRY(h, "two_writers", GROUPS, ITEMS, PTR(out), I32(2)), "(byte 4000 of 'out')",
           "workgroup (1, 0, 0)");
    h->disabled_checks = TW_EMU_CHECK_GLOBAL_RACES;
    harness_silent(h, TRY(h, "two_writers", GROUPS, ITEMS, PTR(out), I32(1)));
}

static void check_raised_flag(harness *h) {
    uint32_t got[8];
    uint64_t flag = zeros(h, "flag", 4), winner = zeros(h, "winner", sizeof got), wide = zeros(h, "wide", 16);
    harness_silent(h, TRY(h, "raised_flag", GROUPS, ITEMS, PTR(flag), PTR(winner), PTR(wide), I32(0)));
    harness_read(h, flag, got, 4);
    assert_int_equal(got[0], 1);
    EXPECT(h, TRY(h, "raised_flag", GROUPS, ITEMS, PTR(flag), PTR(winner), PTR(wide), I32(1)),
           "race in global memory: store of 0x", "(byte 0 of 'wide')", "which workgroup (0, 0, 0) wrote",
           "workgroup (1, 0, 0)");
    EXPECT(h, TRY(h, "raised_flag", GROUPS, ITEMS, PTR(flag), PTR(winner), PTR(wide), I32(2)),
           "race in global memory: load of 0x", "(byte 0 of 'flag')", "which workgroup (0, 0, 0) wrote",
           "workgroup (1, 0, 0)");
}

static void check_raised_flag_in_lds(harness *h) {
    uint32_t got[128];
    uint64_t out = zeros(h, "out", sizeof got);
    harness_silent(h, TRY(h, "raised_flag_in_lds", 1, 128, PTR(out), I32(0)));
    harness_read(h, out, got, sizeof got);
    assert_int_equal(got[77], 15);
    EXPECT(h, TRY(h, "raised_flag_in_lds", 1, 128, PTR(out), I32(1)), "race in LDS: store of byte ",
           "wrote without a barrier between");
}

static void check_neighbour(harness *h) {
    uint64_t out = zeros(h, "out", 4 * N), data = zeros(h, "data", 4 * N);
    harness_silent(h, TRY(h, "neighbour", GROUPS, ITEMS, PTR(out), PTR(data), I32(0)));
    EXPECT(h, TRY(h, "neighbour", GROUPS, ITEMS, PTR(out), PTR(data), I32(1)),
           "race in global memory: load of 0x", "(byte 0 of 'data')", "which workgroup (0, 0, 0) wrote",
           "workgroup (1, 0, 0)", "load");
    EXPECT(h, TRY(h, "neighbour", GROUPS, ITEMS, PTR(out), PTR(data), I32(2)),
           "race in global memory: store of 0x", "(byte 256 of 'data')", "which an earlier workgroup read",
           "workgroup (1, 0, 0)");
}

static tw_status last_adds(harness *h, int wrong, uint32_t *got) {
    uint64_t out = zeros(h, "out", 4 * ITEMS), part = zeros(h, "part", 4 * N),
             counter = zeros(h, "counter", 4);
    tw_status status = TRY(h, "last_adds", GROUPS, ITEMS, PTR(out), PTR(part), PTR(counter), I32(wrong));
    harness_read(h, out, got, 4 * ITEMS);
    return status;
}

static void check_last_adds(harness *h) {
    uint32_t got[ITEMS];
    for (h->threads = 1; h->threads < 4; h->threads++) {
        harness_silent(h, last_adds(h, 0, got));
        for (uint32_t i = 0; i < ITEMS; i++)
            assert_int_equal(got[i], 4 * i + 64 * 6);
        EXPECT(h, last_adds(h, 1, got), "race in global memory: load of 0x", "of 'part'",
               "workgroup (3, 0, 0)");
        /* Behind a store that may be an atomic one the rest counts as told. */
        h->strict_checks = stores_look_alike(h) ? TW_EMU_STRICT_STORES : 0;
        EXPECT(h, last_adds(h, 2, got), "race in global memory: load of 0x", "of 'part'",
               "workgroup (3, 0, 0)");
        h->strict_checks = 0;
    }
}

static void check_chain(harness *h) {
    uint32_t got[GROUPS];
    uint64_t value = zeros(h, "value", sizeof got), flag = zeros(h, "flag", sizeof got);
    harness_silent(h, TRY(h, "chain", GROUPS, ITEMS, PTR(value), PTR(flag), I32(0)));
    harness_read(h, value, got, sizeof got);
    for (uint32_t i = 0; i < GROUPS; i++)
        assert_int_equal(got[i], (i + 1) * (i + 2) / 2);
    flag = zeros(h, "flag", sizeof got);
    EXPECT(h, TRY(h, "chain", GROUPS, ITEMS, PTR(value), PTR(flag), I32(1)),
           "race in global memory: load of 0x", "(byte 0 of 'value')", "which workgroup (0, 0, 0) wrote",
           "workgroup (1, 0, 0)");
}

static void check_shared_counters(harness *h) {
    uint32_t got[8];
    uint64_t bins = zeros(h, "bins", sizeof got), lock = zeros(h, "lock", 4),
             guarded = zeros(h, "guarded", 4), most = zeros(h, "most", 4);
    harness_silent(h,
                   TRY(h, "shared_counters", GROUPS, ITEMS, PTR(bins), PTR(lock), PTR(guarded), PTR(most)));
    harness_read(h, guarded, got, 4);
    assert_int_equal(got[0], 15);
    harness_read(h, most, got, 4);
    assert_int_equal(got[0], 9);
}

static void check_cleared_counter(harness *h) {
    uint32_t got;
    uint64_t counter = zeros(h, "counter", 4);
    harness_silent(h, TRY(h, "cleared_counter", GROUPS, ITEMS, PTR(counter), I32(0)));
    harness_read(h, counter, &got, 4);
    assert_int_equal(got, GROUPS);
    if (stores_look_alike(h)) h->strict_checks = TW_EMU_STRICT_STORES;
    tw_status s = TRY(h, "cleared_counter", GROUPS, ITEMS, PTR(counter), I32(1));
    /* At -O0 the atomics have results, through which workgroups may wait for each other. */
    if (strcmp(h->level, "O0"))
        EXPECT(h, s, "race in global memory: atomic of 0x", "(byte 0 of 'counter')",
               "which workgroup (0, 0, 0) wrote", "workgroup (1, 0, 0)");
}

/* The same report, whatever the number of threads. */
static void check_order(harness *h) {
    char first[2048] = "";
    if (stores_look_alike(h)) h->strict_checks = TW_EMU_STRICT_STORES;
    for (h->threads = 1; h->threads < 5; h->threads++) {
        uint64_t out = zeros(h, "out", 8192);
        EXPECT(h, TRY(h, "two_writers", 15, ITEMS, PTR(out), I32(2)), "race in global memory");
        const char *said = tw_diag_text(h->diag);
        if (h->threads == 1) strncpy(first, said, sizeof first - 1);
        /* Addresses are those of a buffer of this round. */
        const char *here = strstr(said, "(byte"), *there = strstr(first, "(byte");
        assert_non_null(here);
        assert_non_null(there);
        assert_string_equal(here, there);
    }
}

int main(void) {
#define RACE(name) \
    { #name, "faults", check_##name }
    static const harness_case CASES[] = {RACE(two_writers), RACE(neighbour),          RACE(last_adds),
                                         RACE(chain),       RACE(shared_counters),    RACE(cleared_counter),
                                         RACE(raised_flag), RACE(raised_flag_in_lds), RACE(order)};
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]);
}
