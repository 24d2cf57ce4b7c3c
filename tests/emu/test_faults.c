/* What the emulator reports, and that the same kernel without the fault is silent. */
#include "tests/emu/harness.h"

#include <string.h>

enum { N = 100, ITEMS = 128 };

static uint64_t known(harness *h, const char *name, size_t bytes) {
    static const uint8_t ZEROS[4096];
    assert_true(bytes <= sizeof ZEROS);
    return harness_buffer(h, name, ZEROS, bytes);
}

static void check_load_past_end(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = known(h, "input", 4 * N);
    harness_silent(h, TRY(h, "load_past_end", 2, 64, PTR(out), PTR(in), I32(N), I32(0)));
    tw_status s = TRY(h, "load_past_end", 2, 64, PTR(out), PTR(in), I32(N), I32(3));
    EXPECT(h, s, "load_past_end: error: ", "load of 4 bytes out of bounds",
           "0 bytes past the end of 'input' (400 bytes at 0x", "workgroup (1, 0, 0)", "lane ");
}

static void check_load_before_start(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = known(h, "input", 4 * N);
    harness_silent(h, TRY(h, "load_before_start", 2, 64, PTR(out), PTR(in), I32(N), I32(0)));
    tw_status s = TRY(h, "load_before_start", 2, 64, PTR(out), PTR(in), I32(N), I32(2));
    EXPECT(h, s, "load of 4 bytes out of bounds", "8 bytes before 'input'", "wave 0, lane 0");
}

static void check_store_past_end(harness *h) {
    uint64_t out = known(h, "out", 4 * N);
    harness_silent(h, TRY(h, "store_past_end", 2, 64, PTR(out), I32(N), I32(0)));
    tw_status s = TRY(h, "store_past_end", 2, 64, PTR(out), I32(N), I32(1));
    EXPECT(h, s, "store of 4 bytes out of bounds", "0 bytes past the end of 'out'", "store");
}

static void check_atomic_past_end(harness *h) {
    uint64_t out = known(h, "out", 4 * N);
    harness_silent(h, TRY(h, "atomic_past_end", 2, 64, PTR(out), I32(N), I32(0)));
    tw_status s = TRY(h, "atomic_past_end", 2, 64, PTR(out), I32(N), I32(1));
    EXPECT(h, s, "atomic of 4 bytes out of bounds", "'out'");
}

static void check_pointers(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = known(h, "gone", 4 * N);
    harness_silent(h, TRY(h, "null_pointer", 1, 64, PTR(out), PTR(in)));
    tw_status s = TRY(h, "null_pointer", 1, 64, PTR(out), PTR(0));
    EXPECT(h, s, "load of 4 bytes out of bounds: 0x0 is near no buffer");
    assert_int_equal(tw_emu_release(h->emu, in, h->diag), TW_OK);
    s = TRY(h, "null_pointer", 1, 64, PTR(out), PTR(in));
    EXPECT(h, s, "in 'gone', which was freed");
}

static void check_misaligned(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = known(h, "in", 4 * N + 4);
    harness_silent(h, TRY(h, "misaligned_atomic", 1, 1, PTR(out), I32(4)));
    tw_status s = TRY(h, "misaligned_atomic", 1, 1, PTR(out), I32(2));
    EXPECT(h, s, "misaligned access to 0x", "not a multiple of 4");
    /* Plain vector loads may be unaligned, unless the launch asks for more. */
    harness_silent(h, TRY(h, "misaligned_load", 1, 64, PTR(out), PTR(in), I32(2)));
    h->strict_checks = TW_EMU_STRICT_ALIGNMENT;
    harness_silent(h, TRY(h, "misaligned_load", 1, 64, PTR(out), PTR(in), I32(0)));
    s = TRY(h, "misaligned_load", 1, 64, PTR(out), PTR(in), I32(2));
    EXPECT(h, s, "misaligned access to 0x", "not a multiple of 4");
}

static void check_unknown_branch(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = harness_buffer(h, "in", NULL, 4 * N);
    harness_silent(h, TRY(h, "unknown_branch", 2, 64, PTR(out), PTR(in), I32(N), I32(0)));
    tw_status s = TRY(h, "unknown_branch", 2, 64, PTR(out), PTR(in), I32(N), I32(1));
    EXPECT(h, s, "bits that nobody wrote", "workgroup (0, 0, 0), wave 0");
    /* The same with the check off. */
    h->disabled_checks = TW_EMU_CHECK_UNINITIALISED;
    harness_silent(h, TRY(h, "unknown_branch", 2, 64, PTR(out), PTR(in), I32(N), I32(1)));
}

static void check_unknown_lanes(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = harness_buffer(h, "in", NULL, 4 * N);
    harness_silent(h, TRY(h, "unknown_lanes", 2, 64, PTR(out), PTR(in), I32(N), I32(0)));
    tw_status s = TRY(h, "unknown_lanes", 2, 64, PTR(out), PTR(in), I32(N), I32(1));
    EXPECT(h, s, "bits that nobody wrote");
}

static void check_unknown_address(harness *h) {
    uint64_t out = known(h, "out", 4 * N), in = harness_buffer(h, "in", NULL, 4 * N);
    harness_silent(h, TRY(h, "unknown_address", 2, 64, PTR(out), PTR(in), I32(N), I32(0)));
    tw_status s = TRY(h, "unknown_address", 2, 64, PTR(out), PTR(in), I32(N), I32(1));
    EXPECT(h, s, "an address is made of bits that nobody wrote");
}

static void check_unknown_argument(harness *h) {
    uint64_t out = known(h, "out", 4 * N);
    harness_silent(h, TRY(h, "unknown_argument", 1, 64, PTR(out), I32(64)));
    h->forget_arguments = 1;
    tw_status s = TRY(h, "unknown_argument", 1, 64, PTR(out), I32(64));
    EXPECT(h, s, "bits that nobody wrote");
}

static void check_unknown_bits(harness *h) {
    uint64_t out = known(h, "out", 4 * 64), in = harness_buffer(h, "in", NULL, 4 * 64);
    int32_t got[64];
    harness_silent(h, TRY(h, "unknown_bits", 1, 64, PTR(out), PTR(in), I32(0)));
    harness_read(h, out, got, sizeof got);
    for (int i = 0; i < 64; i++)
        assert_int_equal(got[i], 2);
}

static void check_unknown_lds(harness *h) {
    uint64_t out = known(h, "out", 4 * ITEMS);
    harness_silent(h, TRY(h, "unknown_lds", 1, ITEMS, PTR(out), I32(0)));
    /* What is unknown may be stored; a comparison that becomes a select decides nothing. */
    uint32_t got[ITEMS];
    tw_status s = TRY(h, "unknown_lds", 1, ITEMS, PTR(out), I32(1));
    if (s == TW_OK) {
        harness_read(h, out, got, sizeof got);
        assert_int_equal(got[1], 1); /* 126 > 64 */
    } else {
        EXPECT(h, s, "bits that nobody wrote");
    }
}

static void check_missing_barrier(harness *h) {
    uint64_t out = known(h, "out", 4 * ITEMS);
    harness_silent(h, TRY(h, "missing_barrier", 1, ITEMS, PTR(out), I32(0)));
    tw_status s = TRY(h, "missing_barrier", 1, ITEMS, PTR(out), I32(1));
    EXPECT(h, s, "race in LDS", "without a barrier between");
    h->disabled_checks = TW_EMU_CHECK_LDS_RACES | TW_EMU_CHECK_UNINITIALISED;
    harness_silent(h, TRY(h, "missing_barrier", 1, ITEMS, PTR(out), I32(1)));
}

static void check_missing_second_barrier(harness *h) {
    uint64_t out = known(h, "out", 4 * ITEMS);
    harness_silent(h, TRY(h, "missing_second_barrier", 1, ITEMS, PTR(out), I32(0)));
    tw_status s = TRY(h, "missing_second_barrier", 1, ITEMS, PTR(out), I32(1));
    EXPECT(h, s, "race in LDS", "without a barrier between");
}

static void check_missing_barrier_of_atomics(harness *h) {
    uint64_t out = known(h, "out", 4 * ITEMS);
    harness_silent(h, TRY(h, "missing_barrier_of_atomics", 1, ITEMS, PTR(out), I32(0)));
    tw_status s = TRY(h, "missing_barrier_of_atomics", 1, ITEMS, PTR(out), I32(1));
    /* At -O0 the atomics have results, through which waves may wait for each other. */
    if (strcmp(h->level, "O0")) EXPECT(h, s, "race in LDS");
}

static void check_lock(harness *h) {
    uint32_t got;
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "lock", 1, ITEMS, PTR(out)));
    harness_read(h, out, &got, sizeof got);
    assert_int_equal(got, 2003);
}

static void check_lds_past_end(harness *h) {
    uint64_t out = known(h, "out", 4 * 64);
    const harness_arg good[] = {PTR(out), I32(64), I32(0)}, bad[] = {PTR(out), I32(64), I32(1)};
    harness_silent(h, harness_try(h, "lds_past_end", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 256, good, 3));
    tw_status s = harness_try(h, "lds_past_end", (tw_dim3){1, 1, 1}, (tw_dim3){64, 1, 1}, 256, bad, 3);
    EXPECT(h, s, "load of 4 bytes out of bounds: byte 256 of LDS, of which the workgroup has 256", "lane 0");
}

static void check_skipped_barrier(harness *h) {
    uint64_t out = known(h, "out", 4 * 256);
    harness_silent(h, TRY(h, "skipped_barrier", 1, 256, PTR(out), I32(0)));
    tw_status s = TRY(h, "skipped_barrier", 1, 256, PTR(out), I32(1));
    EXPECT(h, s, "a barrier that ", " of the workgroup's ", " waves skipped");
}

static void check_endless(harness *h) {
    uint64_t out = known(h, "out", 4);
    h->budget = 20000;
    harness_silent(h, TRY(h, "endless", 1, 1, PTR(out), I32(0)));
    out = known(h, "out", 4);
    tw_status s = TRY(h, "endless", 1, 1, PTR(out), I32(1));
    EXPECT(h, s, "an endless loop", "(got 20000)");
}

static void check_past_kernarg(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "past_kernarg", 1, 1, PTR(out), I32(0)));
    tw_status s = TRY(h, "past_kernarg", 1, 1, PTR(out), I32(1));
    EXPECT(h, s, "out of bounds", "past the end of 'kernarg segment'");
}

static void check_trap(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "trap", 1, 1, PTR(out), I32(0)));
    tw_status s = TRY(h, "trap", 1, 1, PTR(out), I32(1));
    EXPECT(h, s, "the kernel trapped");
}

static void check_unknown_instruction(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "unknown_instruction", 1, 1, PTR(out), I32(0)));
    tw_status s = TRY(h, "unknown_instruction", 1, 1, PTR(out), I32(1));
    EXPECT(h, s, "the emulator does not know this instruction: the mnemonic is not known", "'s_rfe_",
           "unknown_instruction: error");
    for (int wrong = 2; wrong < 4; wrong++)
        EXPECT(h, TRY(h, "unknown_instruction", 1, 1, PTR(out), I32(wrong)),
               "an output modifier, which is not known for it", "'v_div_scale_f32");
}

static void check_wild_jump(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "wild_jump", 1, 1, PTR(out), PTR(0)));
    tw_status s = TRY(h, "wild_jump", 1, 1, PTR(out), PTR(out));
    EXPECT(h, s, "a jump to an address that holds no code");
}

static void check_scratch_past_end(harness *h) {
    uint64_t out = known(h, "out", 4 * 64);
    harness_silent(h, TRY(h, "scratch_past_end", 1, 64, PTR(out), I32(3), I32(0)));
    tw_status s = TRY(h, "scratch_past_end", 1, 64, PTR(out), I32(3), I32(1));
    EXPECT(h, s, "out of bounds");
}

static void check_write_kernarg(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "write_kernarg", 1, 1, PTR(out), I32(0)));
    tw_status s = TRY(h, "write_kernarg", 1, 1, PTR(out), I32(1));
    EXPECT(h, s, "'kernarg segment', which kernels may only read");
}

static void check_buffer_range(harness *h) {
    enum { SIZE = 21 };
    uint32_t data[SIZE], got[64];
    for (uint32_t i = 0; i < SIZE; i++)
        data[i] = i * i + 1;
    uint64_t out = known(h, "out", 4 * 64), in = harness_buffer(h, "data", data, sizeof data);
    harness_silent(h, TRY(h, "buffer_range", 1, 64, PTR(out), PTR(in), I32(SIZE), I32(0)));
    harness_read(h, out, got, sizeof got);
    for (uint32_t i = 0; i < 64; i++) {
        static const uint32_t FACTOR[4] = {3, 5, 7, 11};
        uint32_t want = i < SIZE ? data[i] : 0;
        for (uint32_t k = 0; k < 4; k++)
            want += i + k < SIZE ? data[i + k] * FACTOR[k] : 0;
        assert_int_equal(got[i], want);
    }
    tw_status s = TRY(h, "buffer_range", 1, 64, PTR(out), PTR(in), I32(SIZE), I32(1));
    EXPECT(h, s, "buffer store out of the range of its resource", "offset 84 of 84");
    s = TRY(h, "buffer_range", 1, 64, PTR(out), PTR(in), I32(SIZE), I32(2));
    EXPECT(h, s, "buffer atomic out of the range of its resource");
    /* A resource that promises more than the buffer has. */
    s = TRY(h, "buffer_range", 1, 64, PTR(out), PTR(in), I32(SIZE + 1), I32(0));
    EXPECT(h, s, "load of 4 bytes out of bounds", "past the end of 'data'");
}

static void check_scalar_range(harness *h) {
    uint32_t data[4] = {1, 10, 8, 7};
    uint64_t got[2];
    if (!strcmp(h->level, "O0")) return;
    uint64_t out = known(h, "out", sizeof got), in = harness_buffer(h, "data", data, sizeof data);
    harness_silent(h, TRY(h, "scalar_range", 1, 64, PTR(out), PTR(in), I32(0)));
    harness_read(h, out, got, sizeof got);
    harness_read(h, in, data, sizeof data);
    assert_int_equal(got[0], 10);
    assert_int_equal(got[1], 0x700000008);
    assert_int_equal(data[1], 15);
    assert_int_equal(data[2], 9);
    assert_int_equal(data[3], 7);
}

/* What a wave hands over through a flag that another one polls, whichever of the two runs first. */
static void check_polled(harness *h) {
    uint32_t got[256];
    if (!strcmp(h->level, "O0")) return; /* its loops go through scratch */
    for (int first = 0; first < 2; first++) {
        static const char *const KERNELS[] = {"polled_flag", "polled_pointer"};
        for (unsigned k = 0; k < 2; k++) {
            uint64_t out = known(h, "out", 256);
            harness_silent(h, TRY(h, KERNELS[k], 1, 128, PTR(out), I32(first), I32(0)));
            harness_read(h, out, got, 256);
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(got[i], (first ? 64 : 0) + (31 - i) + 7);
        }
    }
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 12; k++)
        sum = sum * 3 + k % 4;
    uint64_t out = known(h, "out", sizeof got);
    harness_silent(h, TRY(h, "polled_turns", 1, 256, PTR(out), I32(0)));
    harness_read(h, out, got, sizeof got);
    assert_int_equal(got[255], sum);
}

static void unknown_register(harness *h, const char *kernel, const char *text) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, kernel, 1, 1, PTR(out), I32(0)));
    EXPECT(h, TRY(h, kernel, 1, 1, PTR(out), I32(1)), text, "wave 0");
}

static void check_unknown_vgpr(harness *h) { unknown_register(h, "unknown_vgpr", "bits that nobody wrote"); }
static void check_unknown_sgpr(harness *h) { unknown_register(h, "unknown_sgpr", "bits that nobody wrote"); }
static void check_unknown_agpr(harness *h) { unknown_register(h, "unknown_agpr", "bits that nobody wrote"); }

static void check_message(harness *h) {
    uint64_t out = known(h, "out", 4);
    harness_silent(h, TRY(h, "message", 1, 1, PTR(out), I32(0)));
    EXPECT(h, TRY(h, "message", 1, 1, PTR(out), I32(1)), "a message that nobody answers",
           "'s_sendmsg sendmsg(MSG_INTERRUPT)'");
}

/* Reports come in the order of workgroups, each place once, whatever the threads do. */
static void check_order(harness *h) {
    uint64_t out = known(h, "out", 4 * N);
    char first[1024];
    for (unsigned threads = 1; threads < 4; threads++) {
        h->threads = threads;
        tw_status s = TRY(h, "store_past_end", 40, 64, PTR(out), I32(N), I32(2000));
        EXPECT(h, s, "store of 4 bytes out of bounds");
        assert_int_equal(tw_diag_count(h->diag), 1);
        if (threads == 1) strncpy(first, tw_diag_text(h->diag), sizeof first - 1);
        assert_string_equal(tw_diag_text(h->diag), first);
        assert_non_null(strstr(first, "workgroup (1, 0, 0)"));
    }
}

int main(void) {
#define FAULT(name) \
    { #name, "faults", check_##name }
    static const harness_case CASES[] = {
        FAULT(load_past_end),
        FAULT(load_before_start),
        FAULT(store_past_end),
        FAULT(atomic_past_end),
        FAULT(pointers),
        FAULT(misaligned),
        FAULT(unknown_branch),
        FAULT(unknown_lanes),
        FAULT(unknown_address),
        FAULT(unknown_argument),
        FAULT(unknown_bits),
        FAULT(unknown_lds),
        FAULT(missing_barrier),
        FAULT(missing_second_barrier),
        FAULT(missing_barrier_of_atomics),
        FAULT(lock),
        FAULT(lds_past_end),
        FAULT(skipped_barrier),
        FAULT(endless),
        FAULT(past_kernarg),
        FAULT(trap),
        FAULT(unknown_instruction),
        FAULT(wild_jump),
        FAULT(scratch_past_end),
        FAULT(write_kernarg),
        FAULT(buffer_range),
        FAULT(order),
        FAULT(unknown_vgpr),
        FAULT(unknown_sgpr),
        FAULT(message),
        FAULT(polled),
    };
    static const harness_case CDNA[] = {FAULT(unknown_agpr), FAULT(scalar_range)};
    return harness_main(CASES, sizeof CASES / sizeof CASES[0]) +
           harness_main_on("gfx9", CDNA, sizeof CDNA / sizeof CDNA[0]);
}
