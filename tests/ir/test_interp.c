/* The interpreter, kernel by kernel, against results worked out by hand. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/ir/doc_block.h"
#include "tests/ir/run_text.h"

static const char *guide;

static void run(const char *text, const uint32_t grid[3], const tw_interp_arg *args, size_t arg_count) {
    run_text(text, grid, args, arg_count, NULL, NULL);
}

#define RUN(text, ...)                                         \
    run(text, ONE_GROUP, (const tw_interp_arg[]){__VA_ARGS__}, \
        sizeof((const tw_interp_arg[]){__VA_ARGS__}) / sizeof(tw_interp_arg))
#define MEMORY(array) TW_INTERP_MEMORY(array, sizeof(array))

static void work_items_guard_the_tail(void **state) {
    (void)state;
    float x[70], y[70];
    for (int i = 0; i < 70; i++) {
        x[i] = (float)i;
        y[i] = 100.0f;
    }
    const tw_interp_arg args[] = {MEMORY(x), MEMORY(y), TW_INTERP_BITS(0x3f000000), TW_INTERP_BITS(70)};
    run("tile.kernel @axpy target(\"gfx1201\") workgroup(32) (%x: ptr<f32, global> {readonly, noalias},"
        " %y: ptr<f32, global> {noalias}, %a: f32, %n: i32) {\n"
        "  %group = gpu.workgroup_id x : i32\n"
        "  %tid = gpu.workitem_id x : i32\n"
        "  %base = arith.mul %group, 32 : i32\n"
        "  %i = arith.add %base, %tid : i32\n"
        "  %in = arith.icmp slt %i, %n : i1\n"
        "  scf.if %in {\n"
        "    %xi = tile.global_load %x, %i : f32\n"
        "    %yi = tile.global_load %y, %i : f32\n"
        "    %sum = arith.fma %a, %xi, %yi : f32\n"
        "    tile.global_store %sum, %y, %i : f32\n"
        "  }\n"
        "  return\n"
        "}",
        (const uint32_t[]){3, 1, 1}, args, 4);
    for (int i = 0; i < 70; i++)
        assert_true(y[i] == 100.0f + 0.5f * (float)i);
}

/* The first example of docs/ir.md: work-item t adds up t, t + 256, t + 512, ... below n, and adds that to
 * dst[t].
 */
static void the_example_runs(void **state) {
    (void)state;
    char *text = doc_block(guide, 0);
    float dst[256];
    for (int t = 0; t < 256; t++)
        dst[t] = -1.0f;
    RUN(text, MEMORY(dst), TW_INTERP_BITS(sizeof dst), TW_INTERP_BITS(600));
    for (int t = 0; t < 256; t++) {
        float sum = 0;
        for (int i = t; i < 600; i += 256)
            sum += (float)i;
        assert_true(dst[t] == sum - 1.0f);
    }
    RUN(text, MEMORY(dst), TW_INTERP_BITS(sizeof dst), TW_INTERP_BITS(3));
    assert_true(dst[0] == 0.0f + 256.0f + 512.0f - 1.0f + 0.0f);
    assert_true(dst[2] == 2.0f + 258.0f + 514.0f - 1.0f + 2.0f);
    free(text);
}

static void the_guides_block_sum_sums(void **state) {
    (void)state;
    static float x[700];
    float out[3] = {-1, -1, -1}, expected[3] = {0};
    for (int i = 0; i < 700; i++) {
        x[i] = (float)(i % 37) - 11.0f;
        expected[i / 256] += x[i]; /* small integers: exact in any order */
    }
    char *text = doc_block(guide, 1);
    const tw_interp_arg args[] = {MEMORY(x), MEMORY(out), TW_INTERP_BITS(700)};
    run(text, (const uint32_t[]){3, 1, 1}, args, 3);
    free(text);
    assert_memory_equal(out, expected, sizeof out);
}

static void the_guides_scale_scales(void **state) {
    (void)state;
    uint16_t x[150], y[150];
    for (int i = 0; i < 150; i++)
        x[i] = (uint16_t)(0x3f80 + i); /* 1, 1 + 2^-7, ... */
    char *text = doc_block(guide, 2);
    const tw_interp_arg args[] = {MEMORY(x), MEMORY(y), TW_INTERP_BITS(0xc0000000), TW_INTERP_BITS(sizeof x)};
    run(text, (const uint32_t[]){2, 1, 1}, args, 4);
    free(text);
    for (int i = 0; i < 150; i++)
        assert_int_equal(y[i], (0x3f80 + i + 0x80) | 0x8000); /* twice as large, negative */
}

static void divergent_loops_carry_values(void **state) {
    (void)state;
    /* Work-item t does t rounds: (a, b) = (b, a + b), which needs both old values. */
    uint32_t out[40];
    RUN("tile.kernel @fibonacci target(\"gfx942\") workgroup(40) (%out: ptr<i32, global>) {\n"
        "  %t = gpu.workitem_id x : i32\n"
        "  %x, %y = scf.for %i = 0 to %t step 1 carry(%a = 0 : i32, %b = 1 : i32) -> (i32, i32) {\n"
        "    %c = arith.add %a, %b : i32\n"
        "    scf.yield %b, %c\n"
        "  }\n"
        "  tile.global_store %x, %out, %t : i32\n"
        "  return\n"
        "}",
        MEMORY(out));
    uint32_t a = 0, b = 1;
    for (int t = 0; t < 40; t++) {
        assert_int_equal(out[t], a);
        uint32_t c = a + b;
        a = b;
        b = c;
    }
}

static void loops_count_in_64_bits_and_may_do_no_round(void **state) {
    (void)state;
    uint64_t out[2] = {7, 7};
    RUN("tile.kernel @wide target(\"gfx942\") workgroup(1) (%out: ptr<i64, global>, %from: i64, %to: i64) {\n"
        "  %one = arith.constant 1 : i64\n"
        "  %huge = arith.constant 0x4000000000000000 : i64\n"
        "  %n = scf.for %i = %from to %to step %huge carry(%c = %one : i64) -> (i64) {\n"
        "    %d = arith.xor %c, %i : i64\n"
        "    scf.yield %d\n"
        "  }\n"
        "  tile.global_store %n, %out, 0 : i64\n"
        "  %m = scf.for %j = %to to %from step %one carry(%c2 = %one : i64) -> (i64) {\n"
        "    scf.yield %j\n"
        "  }\n"
        "  tile.global_store %m, %out, 1 : i64\n"
        "  return\n"
        "}",
        MEMORY(out), TW_INTERP_BITS((uint64_t)1 << 63), TW_INTERP_BITS(6));
    assert_int_equal(out[0], 1 ^ (uint64_t)1 << 63 ^ (uint64_t)3 << 62 ^ 0);
    assert_int_equal(out[1], 1);
}

static void branches_choose_by_lane(void **state) {
    (void)state;
    uint32_t out[64];
    RUN("tile.kernel @branches target(\"gfx1100\") workgroup(64) (%out: ptr<i32, global>) {\n"
        "  %t = gpu.workitem_id x : i32\n"
        "  %bit = arith.and %t, 1 : i32\n"
        "  %odd = arith.icmp eq %bit, 1 : i1\n"
        "  %big = arith.icmp sgt %t, 40 : i1\n"
        "  %r, %s = scf.if %odd -> (i32, i32) {\n"
        "    %q = scf.if %big -> (i32) {\n"
        "      scf.yield 1\n"
        "    } else {\n"
        "      scf.yield 2\n"
        "    }\n"
        "    scf.yield %q, 100\n"
        "  } else {\n"
        "    scf.yield 3, %t\n"
        "  }\n"
        "  %sum = arith.add %r, %s : i32\n"
        "  tile.global_store %sum, %out, %t : i32\n"
        "  return\n"
        "}",
        MEMORY(out));
    for (uint32_t t = 0; t < 64; t++)
        assert_int_equal(out[t], t % 2 ? (t > 40 ? 101 : 102) : 3 + t);
}

static void ids_in_three_dimensions(void **state) {
    (void)state;
    /* 3 x 2 x 2 work-items in 2 x 3 x 1 workgroups; a slot is 10 numbers. */
    static uint32_t out[6][12][10];
    const tw_interp_arg args[] = {MEMORY(out)};
    static const char text[] =
        "tile.kernel @ids target(\"gfx1200\") workgroup(3, 2, 2) (%out: ptr<i32, global>) {\n"
        "  %x = gpu.workitem_id x : i32 %y = gpu.workitem_id y : i32 %z = gpu.workitem_id z : i32\n"
        "  %gx = gpu.workgroup_id x : i32 %gy = gpu.workgroup_id y : i32 %gz = gpu.workgroup_id z : i32\n"
        "  %nx = gpu.num_workgroups x : i32 %ny = gpu.num_workgroups y : i32\n"
        "  %lane = gpu.lane_id : i32 %wave = gpu.wave_id : i32\n"
        "  %z2 = arith.mul %z, 6 : i32 %y2 = arith.mul %y, 3 : i32\n"
        "  %yz = arith.add %z2, %y2 : i32 %flat = arith.add %yz, %x : i32\n"
        "  %g2 = arith.mul %gy, 2 : i32 %group = arith.add %g2, %gx : i32\n"
        "  %slots = arith.mul %group, 12 : i32 %slot = arith.add %slots, %flat : i32\n"
        "  %at = arith.mul %slot, 10 : i32\n"
        "  %p = tile.ptr_offset %out, %at : ptr<i32, global>\n"
        "  tile.global_store %x, %p, 0 : i32 tile.global_store %y, %p, 1 : i32\n"
        "  tile.global_store %z, %p, 2 : i32 tile.global_store %gx, %p, 3 : i32\n"
        "  tile.global_store %gy, %p, 4 : i32 tile.global_store %gz, %p, 5 : i32\n"
        "  tile.global_store %nx, %p, 6 : i32 tile.global_store %ny, %p, 7 : i32\n"
        "  tile.global_store %lane, %p, 8 : i32 tile.global_store %wave, %p, 9 : i32\n"
        "  return\n"
        "}";
    run(text, (const uint32_t[]){2, 3, 1}, args, 1);
    for (uint32_t group = 0; group < 6; group++)
        for (uint32_t flat = 0; flat < 12; flat++) {
            const uint32_t expected[] = {flat % 3, flat / 3 % 2, flat / 6, group % 2, group / 2, 0, 2,
                                         3,        flat,         0};
            assert_memory_equal(out[group][flat], expected, sizeof expected);
        }
}

static void lds_and_barriers(void **state) {
    (void)state;
    /* Two arrays; work-items read what another wave wrote. */
    uint16_t in[128], out[128];
    float sum = 0;
    for (unsigned i = 0; i < 128; i++)
        in[i] = (uint16_t)(i * 517);
    RUN("tile.kernel @reverse target(\"gfx1250\") workgroup(128) (%in: ptr<i16, global> {readonly},"
        " %out: ptr<i16, global>, %sum: ptr<f32, global>) {\n"
        "  %a = tile.lds_alloc {count = 128} : ptr<i16, lds>\n"
        "  %b = tile.lds_alloc {count = 1} : ptr<f32, lds>\n"
        "  %t = gpu.workitem_id x : i32\n"
        "  %first = arith.icmp eq %t, 0 : i1\n"
        "  %zero = arith.constant 0.0 : f32\n"
        "  %one = arith.constant 1.0 : f32\n"
        "  %v = tile.global_load %in, %t : i16\n"
        "  tile.lds_store %v, %a, %t : i16\n"
        "  scf.if %first { tile.lds_store %zero, %b, 0 : f32 }\n"
        "  tile.barrier lds\n"
        "  tile.lds_atomic_fadd %one, %b, 0 : f32\n"
        "  %r = arith.sub 127, %t : i32\n"
        "  %w = tile.lds_load %a, %r : i16\n"
        "  tile.global_store %w, %out, %t : i16\n"
        "  tile.barrier all\n"
        "  scf.if %first { %s = tile.lds_load %b, 0 : f32 tile.global_store %s, %sum, 0 : f32 }\n"
        "  return\n"
        "}",
        MEMORY(in), MEMORY(out), TW_INTERP_MEMORY(&sum, sizeof sum));
    for (unsigned i = 0; i < 128; i++)
        assert_int_equal(out[i], in[127 - i]);
    assert_true(sum == 128.0f);
}

static void every_size_is_loaded_and_stored(void **state) {
    (void)state;
    uint8_t in[64], out[64] = {0};
    for (int i = 0; i < 64; i++)
        in[i] = (uint8_t)(i * 7 + 1);
    RUN("tile.kernel @sizes target(\"gfx950\") workgroup(1) (%in: ptr<i8, global>, %out: ptr<i8, global>) {\n"
        "  %a = tile.buffer_rsrc %in, 64 : rsrc\n"
        "  %b = tile.buffer_rsrc %out, 64 : rsrc\n"
        "  %1 = tile.buffer_load %a, 16, 0 : i8      tile.buffer_store %1, %b, 0, 16 : i8\n"
        "  %2 = tile.buffer_load %a, 18, 0 : bf16    tile.buffer_store %2, %b, 18, 0 : bf16\n"
        "  %4 = tile.buffer_load %a, 20, 0 : vec<2 x i16>    tile.buffer_store %4, %b, 20, 0 : vec<2 x i16>\n"
        "  %6 = tile.buffer_load %a, 24, 0 : vec<3 x f16>    tile.buffer_store %6, %b, 24, 0 : vec<3 x f16>\n"
        "  %8 = tile.buffer_load %a, 36, 0 : i64     tile.buffer_store %8, %b, 36, 0 : i64\n"
        "  %12 = tile.buffer_load %a, 0, 0 : vec<3 x f32>    tile.buffer_store %12, %b, 0, 0 : vec<3 x f32>\n"
        "  %16 = tile.buffer_load %a, 40, 8 : vec<16 x i8>   tile.buffer_store %16, %b, 48, 0 : vec<16 x "
        "i8>\n"
        "  return\n"
        "}",
        MEMORY(in), MEMORY(out));
    for (int i = 0; i < 64; i++) {
        bool stored = i < 12 || i == 16 || (i >= 18 && i < 30) || (i >= 36 && i < 44) || i >= 48;
        assert_int_equal(out[i], stored ? in[i] : 0);
    }
}

static void buffer_loads_out_of_range_give_zero(void **state) {
    (void)state;
    uint32_t in[4] = {1, 2, 3, 4}, out[4] = {9, 9, 9, 9};
    RUN("tile.kernel @range target(\"gfx1201\") workgroup(4) (%in: ptr<i32, global>, %out: ptr<i32, global>) "
        "{\n"
        "  %t = gpu.workitem_id x : i32\n"
        "  %rsrc = tile.buffer_rsrc %in, 8 : rsrc\n"
        "  %off = arith.shl %t, 2 : i32\n"
        "  %last = arith.icmp eq %t, 3 : i1\n"
        "  %at = arith.select %last, -1, %off : i32\n"
        "  %v = tile.buffer_load %rsrc, %at, 0 : i32\n"
        "  tile.global_store %v, %out, %t : i32\n"
        "  return\n"
        "}",
        MEMORY(in), MEMORY(out));
    const uint32_t expected[] = {1, 2, 0, 0};
    assert_memory_equal(out, expected, sizeof expected);
}

static void packed_atomics_round_once(void **state) {
    (void)state;
    uint16_t f16[2] = {0x3c00, 0x7bff}, bf16[2] = {0x3f81, 0x0000};
    RUN("tile.kernel @packed target(\"gfx950\") workgroup(1) (%h: ptr<f16, global>, %b: ptr<bf16, global>) "
        "{\n"
        "  %two = arith.constant 16.0 : vec<2 x f16>\n"
        "  %small = arith.constant 0.00390625 : vec<2 x bf16>\n"
        "  tile.global_atomic_fadd %two, %h, 0 : vec<2 x f16>\n"
        "  %r = tile.buffer_rsrc %b, 4 : rsrc\n"
        "  tile.buffer_atomic_fadd %small, %r, 0, 0 {cachepolicy = 0} : vec<2 x bf16>\n"
        "  return\n"
        "}",
        MEMORY(f16), MEMORY(bf16));
    assert_int_equal(f16[0], 0x4c40); /* 17 */
    assert_int_equal(f16[1], 0x7c00); /* 65504 + 16 */
    assert_int_equal(bf16[0], 0x3f82);
    assert_int_equal(bf16[1], 0x3b80);
}

static void pointers_move_and_are_chosen(void **state) {
    (void)state;
    uint32_t a[8] = {0}, b[8] = {0};
    RUN("tile.kernel @pointers target(\"gfx90a\") workgroup(8) (%a: ptr<i32, global>, %b: ptr<i32, global>) "
        "{\n"
        "  %t = gpu.workitem_id x : i32\n"
        "  %low = arith.icmp ult %t, 3 : i1\n"
        "  %p = arith.select %low, %a, %b : ptr<i32, global>\n"
        "  %end = arith.constant 8 : i64\n"
        "  %q = tile.ptr_offset %p, %end : ptr<i32, global>\n"
        "  %back = arith.sub -1, %t : i32\n"
        "  tile.global_store %t, %q, %back : i32\n"
        "  return\n"
        "}",
        MEMORY(a), MEMORY(b));
    const uint32_t expected_a[] = {0, 0, 0, 0, 0, 2, 1, 0}, expected_b[] = {7, 6, 5, 4, 3, 0, 0, 0};
    assert_memory_equal(a, expected_a, sizeof a);
    assert_memory_equal(b, expected_b, sizeof b);
}

static void vectors_and_bits(void **state) {
    (void)state;
    uint32_t out[8] = {0};
    RUN("tile.kernel @vectors target(\"gfx1250\") workgroup(1) (%out: ptr<i32, global>, %x: i32) {\n"
        "  %v = vector.build %x, 2, 3, 4 : vec<4 x i32>\n"
        "  %w = vector.splat 9 : vec<4 x i32>\n"
        "  %i = vector.insert %x, %w {index = 2} : vec<4 x i32>\n"
        "  %s = vector.shuffle %v, %i {lanes = [3, 6, 4, 0]} : vec<4 x i32>\n"
        "  tile.global_store %s, %out, 0 : vec<4 x i32>\n"
        "  %e = vector.extract %v {index = 1} : i32\n"
        "  tile.global_store %e, %out, 4 : i32\n"
        "  %h = arith.bitcast %x : vec<4 x i8>\n"
        "  %b = vector.extract %h {index = 3} : i8\n"
        "  %z = arith.zext %b : i32\n"
        "  tile.global_store %z, %out, 5 : i32\n"
        "  %two = vector.build %x, %z : vec<2 x i32>\n"
        "  %wide = arith.bitcast %two : i64\n"
        "  %thirty = arith.constant 32 : i64\n"
        "  %top = arith.lshr %wide, %thirty : i64\n"
        "  %low = arith.trunc %top : i32\n"
        "  tile.global_store %low, %out, 6 : i32\n"
        "  %cmp = arith.icmp ult %v, %s : vec<4 x i1>\n"
        "  %sel = arith.select %cmp, %v, %w : vec<4 x i32>\n"
        "  %last = vector.extract %sel {index = 3} : i32\n"
        "  tile.global_store %last, %out, 7 : i32\n"
        "  return\n"
        "}",
        MEMORY(out), TW_INTERP_BITS(0xab000001));
    const uint32_t expected[] = {4, 0xab000001, 9, 0xab000001, 2, 0xab, 0xab, 4};
    assert_memory_equal(out, expected, sizeof expected);
}

/* %x is a denormal; whether it counts is the kernel's choice, in arithmetic and in comparisons. */
static void denormals_are_kept_or_flushed(void **state) {
    (void)state;
    for (int flush = 0; flush <= 1; flush++) {
        char text[1024];
        uint32_t out[3] = {9, 9, 9};
        strcpy(text, "tile.kernel @denormals target(\"gfx1250\") workgroup(1) ");
        strcat(text, flush ? "denormals(flush)" : "");
        strcat(text, "(%out: ptr<i32, global>, %x: f32) {\n"
                     "  %zero = arith.constant 0.0 : f32\n"
                     "  %sum = arith.fadd %x, %x : f32\n"
                     "  %bits = arith.bitcast %sum : i32\n"
                     "  tile.global_store %bits, %out, 0 : i32\n"
                     "  %is = arith.fcmp oeq %x, %zero : i1\n"
                     "  %one = arith.zext %is : i32\n"
                     "  tile.global_store %one, %out, 1 : i32\n"
                     "  %neg = arith.fneg %x : f32\n"
                     "  %sign = arith.bitcast %neg : i32\n"
                     "  tile.global_store %sign, %out, 2 : i32\n"
                     "  return\n"
                     "}");
        RUN(text, MEMORY(out), TW_INTERP_BITS(3));
        const uint32_t kept[] = {6, 0, 0x80000003}, flushed[] = {0, 1, 0x80000003};
        assert_memory_equal(out, flush ? flushed : kept, sizeof out);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    guide = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_items_guard_the_tail),
        cmocka_unit_test(the_example_runs),
        cmocka_unit_test(the_guides_block_sum_sums),
        cmocka_unit_test(the_guides_scale_scales),
        cmocka_unit_test(divergent_loops_carry_values),
        cmocka_unit_test(loops_count_in_64_bits_and_may_do_no_round),
        cmocka_unit_test(branches_choose_by_lane),
        cmocka_unit_test(ids_in_three_dimensions),
        cmocka_unit_test(lds_and_barriers),
        cmocka_unit_test(every_size_is_loaded_and_stored),
        cmocka_unit_test(buffer_loads_out_of_range_give_zero),
        cmocka_unit_test(packed_atomics_round_once),
        cmocka_unit_test(pointers_move_and_are_chosen),
        cmocka_unit_test(vectors_and_bits),
        cmocka_unit_test(denormals_are_kept_or_flushed),
    };
    return cmocka_run_group_tests_name("interp", tests, NULL, NULL);
}
