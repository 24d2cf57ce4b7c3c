/* What the interpreter reports, with the exact text. */
#include "tests/test.h"

#include <string.h>

#include "tests/ir/run_text.h"

#define HEAD                                                                                           \
    "tile.kernel @k target(\"gfx1201\") workgroup(40) (%out: ptr<i32, global>, %in: ptr<i32, global> " \
    "{readonly}, "                                                                                     \
    "%n: i32, %h: ptr<f16, global>) {\n"                                                               \
    "%t = gpu.workitem_id x : i32 %lds = tile.lds_alloc {count = 4} : ptr<i32, lds>"                   \
    " %c = arith.icmp ult %t, 3 : i1 %r = tile.buffer_rsrc %out, 16 : rsrc\n"
#define TAIL "\nreturn\n}"

/* The memory of %out and %in is 16 bytes, %n is 3, %h has 7 bytes. Ops stand in line 3. */
static const struct {
    const char *ops, *message;
} rows[] = {
    {"tile.global_store %t, %out, %t : i32", "k:3:1: error: tile.global_store: in work-item 4 of workgroup "
                                             "0, 0, 0 an access must be inside out, 16 bytes "
                                             "(got 4 bytes at offset 16)\n"},
    {"%x = tile.global_load %in, -1 : i32", "k:3:6: error: tile.global_load: in work-item 0 of workgroup 0, "
                                            "0, 0 an access must be inside in, 16 bytes "
                                            "(got 4 bytes at offset -4)\n"},
    {"%x = tile.global_load %in, 1 : vec<4 x i32>", "k:3:6: error: tile.global_load: in work-item 0 of "
                                                    "workgroup 0, 0, 0 an access must be inside in, 16 bytes "
                                                    "(got 16 bytes at offset 4)\n"},
    {"%big = arith.constant 0x2000000000000000 : i64 %x = tile.global_load %in, %big : i32",
     "k:3:53: error: tile.global_load: in work-item 0 of workgroup 0, 0, 0 an address must fit in 64 bits "
     "(got an "
     "index past that)\n"},
    {"%big = arith.constant 0x1fffffffffffffff : i64 %p = tile.ptr_offset %in, %big : ptr<i32, global> "
     "%q = tile.ptr_offset %p, 1 : ptr<i32, global>",
     "k:3:103: error: tile.ptr_offset: in work-item 0 of workgroup 0, 0, 0 an address must fit in 64 bits "
     "(got an "
     "index past that)\n"},
    {"%x = tile.global_load %in, 1 {align = 8} : vec<2 x i32>",
     "k:3:6: error: tile.global_load: in work-item 0 of workgroup 0, 0, 0 the address must be a multiple of "
     "8 (got "
     "offset 4 of in)\n"},
    {"tile.global_store 1, %in, 0 : i32", "k:3:1: error: tile.global_store: in work-item 0 of workgroup 0, "
                                          "0, 0 a readonly parameter must not be written "
                                          "(got a store to in)\n"},
    {"%one = arith.constant 1.0 : vec<2 x f16> tile.global_atomic_fadd %one, %h, 1 : vec<2 x f16>",
     "k:3:42: error: tile.global_atomic_fadd: in work-item 0 of workgroup 0, 0, 0 the address must be a "
     "multiple of 4 "
     "(got offset 2 of h)\n"},
    {"%x = tile.global_load %h, 3 : f16", "k:3:6: error: tile.global_load: in work-item 0 of workgroup 0, 0, "
                                          "0 an access must be inside h, 7 bytes "
                                          "(got 2 bytes at offset 6)\n"},
    {"tile.lds_store %t, %lds, %t : i32", "k:3:1: error: tile.lds_store: in work-item 4 of workgroup 0, 0, 0 "
                                          "an access must be inside lds, 16 bytes (got 4 "
                                          "bytes at offset 16)\n"},
    {"scf.if %c { tile.lds_store 1, %lds, %t : i32 } %x = tile.lds_load %lds, 2 : vec<2 x i32>",
     "k:3:53: error: tile.lds_load: in work-item 0 of workgroup 0, 0, 0 LDS must be written before it is "
     "read (got "
     "byte 12 of lds)\n"},
    {"tile.buffer_store %t, %r, 16, 0 : i32", "k:3:1: error: tile.buffer_store: in work-item 0 of workgroup "
                                              "0, 0, 0 a buffer store or atomic must be inside the "
                                              "resource, 16 bytes (got 4 bytes at offset 16)\n"},
    {"%one = arith.constant 1.0 : f32 tile.buffer_atomic_fadd %one, %r, -4, 0 {cachepolicy = 16} : f32",
     "k:3:33: error: tile.buffer_atomic_fadd: in work-item 0 of workgroup 0, 0, 0 a buffer store or atomic "
     "must be "
     "inside the resource, 16 bytes (got 4 bytes at offset 4294967292)\n"},
    {"%x = tile.buffer_load %r, 8, 0 : vec<4 x i32>",
     "k:3:6: error: tile.buffer_load: in work-item 0 of workgroup 0, 0, 0 a buffer load must be inside the "
     "resource, "
     "16 bytes, or wholly outside (got 16 bytes at offset 8)\n"},
    {"%x = tile.buffer_load %r, -4, 4 : i32", "k:3:6: error: tile.buffer_load: in work-item 0 of workgroup "
                                              "0, 0, 0 the sum of the offsets must fit in 32 bits "
                                              "(got 4294967296)\n"},
    {"%x = tile.buffer_load %r, 1, 1 : i32", "k:3:6: error: tile.buffer_load: in work-item 0 of workgroup 0, "
                                             "0, 0 the address must be a multiple of 4 (got "
                                             "offset 2 of out)\n"},
    {"%x = tile.buffer_load %r, 2, 0 : vec<2 x i16>",
     "k:3:6: error: tile.buffer_load: in work-item 0 of workgroup 0, 0, 0 the address must be a multiple of "
     "4 (got "
     "offset 2 of out)\n"},
    {"%big = tile.buffer_rsrc %out, 64 : rsrc %x = tile.buffer_load %big, 16, 0 : i32",
     "k:3:46: error: tile.buffer_load: in work-item 0 of workgroup 0, 0, 0 an access must be inside out, 16 "
     "bytes (got "
     "4 bytes at offset 16)\n"},
    {"scf.if %c { %x = gpu.shuffle_xor %t {mask = 2} : i32 }",
     "k:3:18: error: gpu.shuffle_xor: in work-item 1 of workgroup 0, 0, 0 the lane that is read must be "
     "active (got "
     "lane 3)\n"},
    {"%x = gpu.shuffle %t, 31 : i32", "k:3:6: error: gpu.shuffle: in work-item 32 of workgroup 0, 0, 0 the "
                                      "lane that is read must be active (got lane "
                                      "31)\n"},
    {"scf.for %i = 0 to 4 step %t {}",
     "k:3:1: error: scf.for: in work-item 0 of workgroup 0, 0, 0 the step must be positive (got 0)\n"},
    {"scf.for %i = 0 to 0x7fffffff step 0x70000000 {}",
     "k:3:1: error: scf.for: in work-item 0 of workgroup 0, 0, 0 the index must not overflow (got step "
     "1879048192)\n"},
};

static uint32_t memory[2][4];
static uint16_t halves[4];
static const tw_interp_arg args[] = {TW_INTERP_MEMORY(memory[0], sizeof memory[0]),
                                     TW_INTERP_MEMORY(memory[1], sizeof memory[1]), TW_INTERP_BITS(3),
                                     TW_INTERP_MEMORY(halves, sizeof halves - 1)};

static void broken_rules_are_reported(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2048], message[512];
        strcpy(text, HEAD);
        strcat(strcat(text, rows[i].ops), TAIL);
        tw_status status = run_text(text, ONE_GROUP, args, 4, NULL, message);
        if (status == TW_ERR_DEVICE && !strcmp(message, rows[i].message)) continue;
        print_error("row %zu: %s\n  expected %s  got      %s\n", i, rows[i].ops, rows[i].message, message);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void endless_loops_end(void **state) {
    (void)state;
    char message[512];
    const tw_interp_options options = {.max_ops = 1000};
    tw_status status = run_text(HEAD "scf.for %i = 0 to 0x7ffffffe step 1 { tile.setprio {level = 0} }" TAIL,
                                ONE_GROUP, args, 4, &options, message);
    assert_int_equal(status, TW_ERR_LIMIT);
    assert_string_equal(message,
                        "k:3:39: error: tile.setprio: the run must end within its limit of ops (got 1000)\n");
}

/* The workgroup that fails is named, and what the others did before stays. */
static void workgroups_run_in_order(void **state) {
    (void)state;
    char message[512];
    uint32_t out[3] = {0};
    const tw_interp_arg arg = TW_INTERP_MEMORY(out, sizeof out);
    tw_status status =
        run_text("tile.kernel @k target(\"gfx942\") workgroup(1) (%out: ptr<i32, global>) {\n"
                 "%x = gpu.workgroup_id x : i32 %y = gpu.workgroup_id y : i32 %z = gpu.workgroup_id z : i32\n"
                 "%y2 = arith.shl %y, 1 : i32 %i = arith.add %x, %y2 : i32\n"
                 "tile.global_store 1, %out, %i : i32 return }",
                 (const uint32_t[]){2, 2, 7}, &arg, 1, NULL, message);
    assert_int_equal(status, TW_ERR_DEVICE);
    assert_string_equal(
        message, "k:4:1: error: tile.global_store: in work-item 0 of workgroup 1, 1, 0 an access must be "
                 "inside out, 12 bytes (got 4 bytes at offset 12)\n");
    assert_int_equal(out[0] + out[1] + out[2], 3);
}

/* LDS starts anew in each workgroup. */
static void lds_is_forgotten_between_workgroups(void **state) {
    (void)state;
    char message[512];
    tw_status status = run_text("tile.kernel @k target(\"gfx942\") workgroup(1) () {\n"
                                "%lds = tile.lds_alloc {count = 1} : ptr<i32, lds>\n"
                                "%x = gpu.workgroup_id x : i32 %first = arith.icmp eq %x, 0 : i1\n"
                                "scf.if %first { tile.lds_store 1, %lds, 0 : i32 }\n"
                                "%v = tile.lds_load %lds, 0 : i32 return }",
                                (const uint32_t[]){2, 1, 1}, NULL, 0, NULL, message);
    assert_int_equal(status, TW_ERR_DEVICE);
    assert_non_null(strstr(message, "workgroup 1, 0, 0 LDS must be written"));
}

static void arguments_must_fit(void **state) {
    (void)state;
    static const char text[] =
        "tile.kernel @k target(\"gfx942\") workgroup(1) (%p: ptr<f32, global>, %n: i32) { return }";
    char message[512];
    tw_interp_arg a[] = {TW_INTERP_MEMORY(NULL, 0), TW_INTERP_BITS(0xffffffff), TW_INTERP_BITS(0)};
    assert_int_equal(run_text(text, ONE_GROUP, a, 2, NULL, message), TW_OK);
    assert_int_equal(run_text(text, ONE_GROUP, a, 3, NULL, message), TW_ERR_USAGE);
    assert_string_equal(message, "error: k must get 2 arguments (got 3)\n");
    a[1].bits = 0x100000000;
    assert_int_equal(run_text(text, ONE_GROUP, a, 2, NULL, message), TW_ERR_USAGE);
    assert_string_equal(message, "error: argument n must fit in 32 bits (got 0x100000000)\n");
    a[0].bytes = 4;
    assert_int_equal(run_text(text, ONE_GROUP, a, 2, NULL, message), TW_ERR_USAGE);
    assert_string_equal(message, "error: argument p must have memory (got NULL with 4 bytes)\n");
    assert_int_equal(run_text(text, NULL, a, 2, NULL, message), TW_ERR_USAGE);
    /* No workgroup is fine: nothing happens. */
    a[0].bytes = 0;
    a[1].bits = 0;
    assert_int_equal(run_text(text, (const uint32_t[]){0, 1, 1}, a, 2, NULL, message), TW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_rules_are_reported), cmocka_unit_test(endless_loops_end),
        cmocka_unit_test(workgroups_run_in_order),   cmocka_unit_test(lds_is_forgotten_between_workgroups),
        cmocka_unit_test(arguments_must_fit),
    };
    return cmocka_run_group_tests_name("interp_errors", tests, NULL, NULL);
}
