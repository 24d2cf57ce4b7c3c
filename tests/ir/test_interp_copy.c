/* Asynchronous copies in the interpreter: done at the wait and no earlier, tiles with zeros and padding. */
#include "tests/test.h"

#include <string.h>

#include "tests/ir/run_text.h"

#define HEAD(target)                                                                     \
    "tile.kernel @k target(\"" target                                                    \
    "\") workgroup(64) (%in: ptr<i32, global>, %out: ptr<i32, global>) {\n"              \
    "%l = tile.lds_alloc {count = 1024} : ptr<i32, lds>\n%t = gpu.workitem_id x : i32\n" \
    "%far = arith.add %t, 64 : i32\n"
#define COPY(index) "tile.async_copy_to_lds %in, " index ", %l, " index " {bytes = 4} : ptr<i32, global>\n"
#define WAIT(n)     "tile.async_wait {outstanding = " n "}\n"
#define READ(index) "%v = tile.lds_load %l, " index " : i32\ntile.global_store %v, %out, %t : i32\n"
#define TAIL        "return\n}"

static uint32_t in[256], out[512];

static tw_status run(const char *text, char message[512]) {
    for (uint32_t i = 0; i < 256; i++)
        in[i] = i + 1;
    memset(out, 0, sizeof out);
    tw_interp_arg args[] = {TW_INTERP_MEMORY(in, sizeof in), TW_INTERP_MEMORY(out, sizeof out)};
    return run_text(text, ONE_GROUP, args, 2, NULL, message);
}

static void copies_are_done_at_the_wait(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(
        run(HEAD("gfx1250") COPY("%t") COPY("%far") WAIT("1") READ("%t") WAIT("0") TAIL, message), TW_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i + 1);
    /* The newer of two may still be under way, and so may one that nobody waited for. */
    assert_int_equal(
        run(HEAD("gfx1250") COPY("%t") COPY("%far") WAIT("1") READ("%far") WAIT("0") TAIL, message),
        TW_ERR_DEVICE);
    assert_non_null(strstr(message, "the copy to LDS must be waited for before what it writes is touched "
                                    "(got byte 256 of l)"));
    assert_int_equal(run(HEAD("gfx1250") COPY("%t") READ("%t") WAIT("0") TAIL, message), TW_ERR_DEVICE);
    /* Tensor copies have a count of their own. */
    assert_int_equal(
        run(HEAD("gfx1250") COPY("%t") "tile.tensor_wait {outstanding = 0}\n" READ("%t") TAIL, message),
        TW_ERR_DEVICE);
    assert_int_equal(run(HEAD("gfx1250") COPY("%t") TAIL, message), TW_ERR_DEVICE);
    assert_non_null(strstr(message, "the copy must be waited for before the kernel ends (got no wait)"));
}

/* So many that to look at all of them for each new one would take minutes; and the limit. */
static void many_copies_may_be_under_way(void **state) {
    (void)state;
    char message[512] = "";
#define COPIES(count)                                                                                      \
    HEAD("gfx1250")                                                                                        \
    "tile.lds_store %t, %l, %t : i32 scf.for %i = 0 to " count " step 1 {\n"                               \
    "tile.async_copy_from_lds %l, %t, %out, %t {bytes = 4} : ptr<i32, lds> tile.tensor_wait {outstanding " \
    "= 0} }\n" WAIT("0") TAIL
    assert_int_equal(run(COPIES("65536"), message), TW_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i);
    assert_int_equal(run(COPIES("65537"), message), TW_ERR_LIMIT);
    assert_non_null(strstr(message,
                           "copies must be waited for before 4194304 accesses of theirs are under way "
                           "(got 4194304 and another 32)"));
#undef COPIES
}

/* Of addresses at the end of 64 bits, none wraps into the array. */
static void far_addresses_do_not_wrap(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(
        run(HEAD("gfx942") "%c = arith.icmp eq %t, 5 : i1 %o = arith.constant 0x1ffffffffffffffc : i64 "
                           "%p = tile.ptr_offset %l, %o : ptr<i32, lds> scf.if %c {\n"
                           "tile.global_load_to_lds %in, 0, %p {bytes = 4} : ptr<i32, global> }\n" WAIT("0")
                               TAIL,
            message),
        TW_ERR_DEVICE);
    assert_non_null(strstr(message,
                           "in work-item 5 of workgroup 0, 0, 0 an access must be inside l, 4096 bytes "
                           "(got 4 bytes at offset -9223372036854775804)"));
}

static void loads_to_lds_go_by_lane(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(
        run(HEAD("gfx950") "%r = arith.sub 63, %t : i32\n"
                           "tile.global_load_to_lds %in, %r, %l {bytes = 4} : ptr<i32, global>\n" WAIT("0")
                               READ("%t") TAIL,
            message),
        TW_OK);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 64 - i);
}

/* Of 12 bytes a lane, 16 bytes apart; the fourth dword is left alone. */
static void wide_loads_to_lds_keep_their_distance(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(run(HEAD("gfx950") "%from = arith.mul %t, 3 : i32 %j = arith.shl %t, 2 : i32\n"
                                        "%last = arith.add %j, 2 : i32 %gap = arith.add %j, 3 : i32\n"
                                        "tile.lds_store 7, %l, %gap : i32\n"
                                        "tile.global_load_to_lds %in, %from, %l {bytes = 12} : ptr<i32, "
                                        "global>\n" WAIT("0") "%g = tile.lds_load %l, %gap : i32\n"
                                                              "tile.global_store %g, %out, %far : i32\n" READ(
                                                                  "%last") TAIL,
                         message),
                     TW_OK);
    for (uint32_t i = 0; i < 64; i++) {
        assert_int_equal(out[i], 3 * i + 3);
        assert_int_equal(out[64 + i], 7);
    }
}

/* 3 rows of 4, of which 2 rows and 3 columns are there; 2 dwords behind each row are left alone. */
static void tiles_have_zeros_and_padding(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(
        run(HEAD("gfx1250") "%seven = arith.constant 7 : i32\ntile.lds_store %seven, %l, %t : i32\n"
                            "tile.barrier lds\n%w = gpu.wave_id : i32\n%first = arith.icmp eq %w, 0 : i1\n"
                            "scf.if %first {\ntile.tensor_load_to_lds %l, %in, 3, 2, 10 "
                            "{tile = [4, 3], pad_interval = 4, pad_amount = 2} : ptr<i32, lds>\n"
                            "tile.tensor_wait {outstanding = 0}\n}\ntile.barrier lds\n" READ("%t") TAIL,
            message),
        TW_OK);
    static const uint32_t expected[] = {1, 2, 3, 0, 7, 7, 11, 12, 13, 0, 7, 7, 0, 0, 0, 0, 7};
    assert_memory_equal(out, expected, sizeof expected);
}

/* The same from LDS: what lies past the extents is dropped. */
static void tiles_are_stored_within_their_extents(void **state) {
    (void)state;
    char message[512] = "";
    assert_int_equal(
        run(HEAD("gfx1250") "%more = arith.add %t, 1 : i32 tile.lds_store %more, %l, %t : i32\n"
                            "tile.barrier lds\n%w = gpu.wave_id : i32\n%first = arith.icmp eq %w, 0 : i1\n"
                            "scf.if %first {\ntile.tensor_store_from_lds %l, %out, 3, 2, 10 {tile = [4, 3]} "
                            ": ptr<i32, lds>\ntile.tensor_wait {outstanding = 0}\n}\n" TAIL,
            message),
        TW_OK);
    static const uint32_t expected[] = {1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 5, 6,
                                        7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    assert_memory_equal(out, expected, sizeof expected);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_copies_may_be_under_way),
        cmocka_unit_test(far_addresses_do_not_wrap),
        cmocka_unit_test(copies_are_done_at_the_wait),
        cmocka_unit_test(loads_to_lds_go_by_lane),
        cmocka_unit_test(tiles_have_zeros_and_padding),
        cmocka_unit_test(wide_loads_to_lds_keep_their_distance),
        cmocka_unit_test(tiles_are_stored_within_their_extents),
    };
    return cmocka_run_group_tests_name("interp_copy", tests, NULL, NULL);
}
