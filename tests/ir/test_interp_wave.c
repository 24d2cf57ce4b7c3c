/* What the interpreter gives across the lanes of a wave. */
#include "tests/test.h"

#include <string.h>

#include "tests/ir/run_text.h"

#define HEAD(target, size)                                                                   \
    "tile.kernel @k target(\"" target "\") workgroup(" size ") (%out: ptr<i32, global>) {\n" \
    "%t = gpu.workitem_id x : i32\n%lane = gpu.lane_id : i32\n"
#define TAIL "\ntile.global_store %r, %out, %t : i32\nreturn\n}"

static void run_lanes(const char *text, uint32_t *out, size_t count) {
    memset(out, 0xee, count * sizeof *out);
    tw_interp_arg arg = TW_INTERP_MEMORY(out, count * sizeof *out);
    run_text(text, ONE_GROUP, &arg, 1, NULL, NULL);
}

static void lanes_are_numbered_by_wave(void **state) {
    (void)state;
    uint32_t out[128];
    run_lanes(HEAD("gfx1100:wave64", "128") "%w = gpu.wave_id : i32 %x = arith.shl %w, 8 : i32"
                                            " %r = arith.or %x, %lane : i32" TAIL,
              out, 128);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(out[i], (i / 64) << 8 | i % 64);
}

static void the_first_active_lane_is_read(void **state) {
    (void)state;
    uint32_t out[64];
    run_lanes(
        HEAD("gfx1201", "64") "%late = arith.icmp uge %t, 5 : i1\n"
                              "%r = scf.if %late -> (i32) {\n%f = gpu.readfirstlane %t : i32 scf.yield %f\n"
                              "} else { scf.yield -1 }" TAIL,
        out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i < 5 ? UINT32_MAX : i < 32 ? 5 : 32);
}

static void shuffles(void **state) {
    (void)state;
    uint32_t out[64];
    run_lanes(HEAD("gfx942", "64") "%s = arith.add %t, 70 : i32 %r = gpu.shuffle %t, %s : i32" TAIL, out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], (i + 6) % 64);
    run_lanes(HEAD("gfx1201", "64") "%r = gpu.shuffle_xor %t {mask = 17} : i32" TAIL, out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i ^ 17);
    /* 32-bit vectors move whole. */
    run_lanes(
        HEAD("gfx1201", "32") "%h = arith.bitcast %t : vec<2 x f16> %x = gpu.shuffle_xor %h {mask = 31} :"
                              " vec<2 x f16> %r = arith.bitcast %x : i32" TAIL,
        out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i ^ 31);
}

static void rows_shift(void **state) {
    (void)state;
    uint32_t out[64];
    run_lanes(
        HEAD("gfx950", "64") "%v = arith.add %t, 100 : i32 %r = gpu.row_shift %v {amount = 3} : i32" TAIL,
        out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 16 < 3 ? 0 : 100 + i - 3);
    run_lanes(
        HEAD("gfx950", "64") "%v = arith.add %t, 100 : i32 %r = gpu.row_shift %v {amount = -15} : i32" TAIL,
        out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 16 ? 0 : 100 + i + 15);
    /* A lane that is not active gives 0, too. */
    run_lanes(HEAD("gfx950",
                   "64") "%bit = arith.and %t, 1 : i32 %odd = arith.icmp eq %bit, 1 : i1\n"
                         "%r = scf.if %odd -> (i32) { %v = gpu.row_shift %t {amount = 2} : i32 scf.yield %v }"
                         " else { %v2 = gpu.row_shift %t {amount = 1} : i32 scf.yield %v2 }" TAIL,
              out, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i % 2 && i % 16 > 1 ? i - 2 : 0);
}

static void ballots(void **state) {
    (void)state;
    uint32_t out[80];
    static const char text[] =
        "%rest = arith.urem %t, 3 : i32 %c = arith.icmp eq %rest, 0 : i1\n"
        "%b = gpu.ballot %c : i64 %hi = arith.constant 32 : i64 %x = arith.lshr %b, %hi : i64\n"
        "%y = arith.xor %b, %x : i64 %r = arith.trunc %y : i32";
    char whole[1024];
    strcpy(whole, HEAD("gfx942", "80"));
    strcat(strcat(whole, text), TAIL);
    run_lanes(whole, out, 80);
    uint64_t waves[2] = {0};
    for (uint32_t i = 0; i < 80; i += 3)
        waves[i / 64] |= (uint64_t)1 << i % 64;
    for (uint32_t i = 0; i < 80; i++)
        assert_int_equal(out[i], (uint32_t)(waves[i / 64] ^ waves[i / 64] >> 32));
}

/* Lanes that are not active count as 0, whatever they hold. */
static void ballots_see_active_lanes_only(void **state) {
    (void)state;
    uint32_t out[32];
    run_lanes(HEAD("gfx1201", "32") "%yes = arith.icmp ule %t, 31 : i1 %low = arith.icmp ult %t, 7 : i1\n"
                                    "%r = scf.if %low -> (i32) {\n%b = gpu.ballot %yes : i64\n"
                                    "%n = arith.trunc %b : i32 scf.yield %n\n} else { scf.yield 0 }" TAIL,
              out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 7 ? 0x7f : 0);
}

static void waves_reduce(void **state) {
    (void)state;
    static const char *const kinds[] = {"add", "smin", "smax", "umin", "umax", "and", "or", "xor"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint32_t out[64], expected = 0;
        char text[1024];
        strcpy(text, HEAD("gfx1250", "64") "%m = arith.mul %t, 77 : i32 %v = arith.sub %m, 4000 : i32\n"
                                           "%r = gpu.wave_reduce ");
        strcat(strcat(text, kinds[i]), " %v : i32" TAIL);
        run_lanes(text, out, 64);
        for (uint32_t t = 32; t < 64; t++) {
            int32_t v = (int32_t)t * 77 - 4000, e = (int32_t)expected;
            uint32_t u = (uint32_t)v;
            if (t == 32) {
                expected = u;
                continue;
            }
            switch (i) {
            case 0: expected += u; break;
            case 1: expected = v < e ? u : expected; break;
            case 2: expected = v > e ? u : expected; break;
            case 3: expected = u < expected ? u : expected; break;
            case 4: expected = u > expected ? u : expected; break;
            case 5: expected &= u; break;
            case 6: expected |= u; break;
            default: expected ^= u; break;
            }
        }
        for (uint32_t t = 32; t < 64; t++)
            assert_int_equal(out[t], expected);
    }
}

/* The order of a float sum is that of the butterfly: pairs first. Lane 0 has 2^24, lanes 1 to 3 have 1: 2^24
 * + 1 rounds to 2^24, and adding 1 + 1 gives 2^24 + 2; from left to right it would stay 2^24. */
static void float_sums_have_one_order(void **state) {
    (void)state;
    uint32_t out[32];
    run_lanes(HEAD("gfx1250", "32") "%big = arith.constant 16777216.0 : f32 %one = arith.constant 1.0 : f32\n"
                                    "%zero = arith.constant 0.0 : f32\n"
                                    "%is0 = arith.icmp eq %t, 0 : i1 %low = arith.icmp ult %t, 4 : i1\n"
                                    "%a = arith.select %low, %one, %zero : f32\n"
                                    "%v = arith.select %is0, %big, %a : f32\n"
                                    "%s = gpu.wave_reduce fadd %v : f32 %r = arith.bitcast %s : i32" TAIL,
              out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 0x4b800001);
    run_lanes(HEAD("gfx1250", "32") "%f = arith.sitofp %t : f32 %n = arith.fneg %f : f32\n"
                                    "%s = gpu.wave_reduce fmin %n : f32 %x = gpu.wave_reduce fmax %s : f32\n"
                                    "%r = arith.bitcast %x : i32" TAIL,
              out, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 0xc1f80000); /* -31 */
}

/* Several NaNs: which one stands for the sum is open, but all lanes have the same. */
static void lanes_agree_on_a_nan(void **state) {
    (void)state;
    static const char *const kinds[] = {"fadd", "fmin", "fmax"};
    uint32_t out[64];
    for (size_t k = 0; k < 3; k++) {
        char text[1024] = HEAD("gfx1250", "64") "%bits = arith.or 0x7fc00000, %t : i32\n"
                                                "%v = arith.bitcast %bits : f32 %s = gpu.wave_reduce ";
        strcat(strcat(text, kinds[k]), " %v : f32 %r = arith.bitcast %s : i32" TAIL);
        run_lanes(text, out, 64);
        for (uint32_t i = 0; i < 64; i++) {
            assert_true((out[i] & 0x7fffffff) > 0x7f800000);
            assert_int_equal(out[i], out[i & ~31u]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_numbered_by_wave),
        cmocka_unit_test(the_first_active_lane_is_read),
        cmocka_unit_test(shuffles),
        cmocka_unit_test(rows_shift),
        cmocka_unit_test(ballots),
        cmocka_unit_test(ballots_see_active_lanes_only),
        cmocka_unit_test(waves_reduce),
        cmocka_unit_test(float_sums_have_one_order),
        cmocka_unit_test(lanes_agree_on_a_nan),
    };
    return cmocka_run_group_tests_name("interp_wave", tests, NULL, NULL);
}
