#include "tests/test.h"

#include <string.h>

#include "run/kernarg.h"

/* A kernel as the compiler writes it: two buffers, a value, a byte, then hidden arguments of code object
 * version 6. */
static const tw_arg_info args[] = {
    {"x", "global_buffer", TW_ARG_GLOBAL_BUFFER, 0, 8},
    {"y", "global_buffer", TW_ARG_GLOBAL_BUFFER, 8, 8},
    {"a", "by_value", TW_ARG_BY_VALUE, 16, 4},
    {"n", "by_value", TW_ARG_BY_VALUE, 20, 4},
    {"", "by_value", TW_ARG_BY_VALUE, 24, 1},
    {"", "hidden_block_count_x", TW_ARG_HIDDEN, 32, 4},
    {"", "hidden_block_count_y", TW_ARG_HIDDEN, 36, 4},
    {"", "hidden_block_count_z", TW_ARG_HIDDEN, 40, 4},
    {"", "hidden_group_size_x", TW_ARG_HIDDEN, 44, 2},
    {"", "hidden_group_size_y", TW_ARG_HIDDEN, 46, 2},
    {"", "hidden_group_size_z", TW_ARG_HIDDEN, 48, 2},
    {"", "hidden_remainder_x", TW_ARG_HIDDEN, 50, 2},
    {"", "hidden_remainder_y", TW_ARG_HIDDEN, 52, 2},
    {"", "hidden_remainder_z", TW_ARG_HIDDEN, 54, 2},
    {"", "hidden_global_offset_x", TW_ARG_HIDDEN, 72, 8},
    {"", "hidden_grid_dims", TW_ARG_HIDDEN, 96, 2},
    {"", "hidden_printf_buffer", TW_ARG_HIDDEN, 104, 8},
    {"", "hidden_dynamic_lds_size", TW_ARG_HIDDEN, 152, 4},
    {"", "hidden_something_new", TW_ARG_HIDDEN, 160, 8},
    {"", "hidden_private_base", TW_ARG_HIDDEN, 168, 4},
    {"", "hidden_shared_base", TW_ARG_HIDDEN, 172, 4},
};
static const tw_kernel_info kernel = {.name = "k",
                                      .kernarg_size = 288,
                                      .explicit_kernarg_size = 25,
                                      .lds_bytes = 1024,
                                      .max_workgroup = 256,
                                      .args = args,
                                      .arg_count = sizeof args / sizeof args[0]};
static const tw_target gfx1250 = {.arch = TW_ARCH_GFX1250, .wave_size = 32};

typedef struct fixture {
    tw_diag *diag;
    tw_launch_arg args[5];
    uint8_t byte;
    uint8_t bytes[25];
} fixture;

static void begin(fixture *f) {
    f->diag = tw_diag_new(NULL);
    f->byte = 0x5a;
    f->args[0] = TW_BUFFER_ARG(NULL);
    f->args[1] = (tw_launch_arg){.kind = TW_LAUNCH_NULL};
    f->args[2] = TW_F32_ARG(1.0f);
    f->args[3] = TW_I32_ARG(-2);
    f->args[4] = (tw_launch_arg){TW_LAUNCH_BYTES, {.bytes = {&f->byte, 1}}};
    memset(f->bytes, 0xee, sizeof f->bytes);
}

static void packs_values_where_the_metadata_says(void **state) {
    (void)state;
    static const uint8_t expected[25] = {[16] = 0, 0, 0x80, 0x3f, 0xfe, 0xff, 0xff, 0xff, 0x5a};
    fixture f;
    begin(&f);
    assert_int_equal(tw_kernarg_explicit_count(&kernel), 5);
    assert_int_equal(tw_kernarg_explicit_size(&kernel), 25);
    assert_int_equal(tw_kernarg_pack(&kernel, f.args, 5, f.bytes, f.diag), TW_OK);
    assert_memory_equal(f.bytes, expected, 25);
    tw_diag_free(f.diag);
}

static void refuse(fixture *f, size_t count, tw_status status, const char *text) {
    assert_int_equal(tw_kernarg_pack(&kernel, f->args, count, f->bytes, f->diag), status);
    assert_string_equal(tw_diag_first_error(f->diag), text);
    assert_string_equal(tw_diag_get(f->diag, 0)->where, "k");
    tw_diag_free(f->diag);
    begin(f);
}

static void refuses_what_the_kernel_does_not_take(void **state) {
    (void)state;
    fixture f;
    begin(&f);
    refuse(&f, 4, TW_ERR_USAGE, "this kernel takes 5 arguments (got 4)");
    f.args[3] = TW_I64_ARG(1);
    refuse(&f, 5, TW_ERR_USAGE, "argument 3 (n) takes 4 bytes (got 8)");
    f.args[4] = TW_I32_ARG(1);
    refuse(&f, 5, TW_ERR_USAGE, "argument 4 (by_value) takes 1 bytes (got 4)");
    f.args[1] = TW_I64_ARG(1);
    refuse(&f, 5, TW_ERR_USAGE, "argument 1 (y) takes a buffer (got a value of 8 bytes)");
    f.args[2] = TW_BUFFER_ARG(NULL);
    refuse(&f, 5, TW_ERR_USAGE, "argument 2 (a) takes a value of 4 bytes (got a buffer)");
    f.args[4].as.bytes.data = NULL;
    refuse(&f, 5, TW_ERR_USAGE, "argument 4 (by_value) has no data (got NULL)");
    f.args[0].kind = (tw_launch_arg_kind)99;
    refuse(&f, 5, TW_ERR_USAGE, "argument 0 (x) takes a buffer (got a value of 0 bytes)");
    tw_diag_free(f.diag);
}

static void does_not_trust_the_metadata(void **state) {
    (void)state;
    static const tw_arg_info outside[] = {{"p", "global_buffer", TW_ARG_GLOBAL_BUFFER, 0xfffffffc, 8}};
    static const tw_arg_info image[] = {{"i", "image", TW_ARG_OTHER, 0, 8}};
    tw_kernel_info bad = {
        .name = "bad", .kernarg_size = 8, .explicit_kernarg_size = 8, .args = outside, .arg_count = 1};
    uint8_t bytes[8], segment[8], known[8];
    tw_launch_shape shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    tw_launch_arg arg = {.kind = TW_LAUNCH_NULL};
    tw_diag *diag = tw_diag_new(NULL);
    assert_int_equal(tw_kernarg_pack(&bad, &arg, 1, bytes, diag), TW_ERR_INVALID);
    assert_string_equal(
        tw_diag_first_error(diag),
        "argument 0 (p) must lie in the 8 bytes of explicit arguments (got offset 4294967292)");
    tw_diag_clear(diag);
    assert_int_equal(tw_kernarg_fill(&bad, &shape, bytes, 8, segment, known, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "global_buffer must lie in the kernarg segment of 8 bytes (got offset 4294967292)");
    tw_diag_clear(diag);
    assert_int_equal(tw_kernarg_fill(&bad, &shape, bytes, 9, segment, known, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "explicit arguments must fit in the kernarg segment of 8 bytes (got 9)");
    tw_diag_clear(diag);
    bad.args = image;
    assert_int_equal(tw_kernarg_pack(&bad, &arg, 1, bytes, diag), TW_ERR_UNSUPPORTED);
    assert_string_equal(tw_diag_first_error(diag), "argument 0 (i) must be a buffer or a value (got image)");
    tw_diag_free(diag);
}

static uint64_t at(const uint8_t *segment, size_t offset, size_t size) {
    uint64_t value = 0;
    memcpy(&value, segment + offset, size);
    return value;
}

static void fills_hidden_arguments_by_name(void **state) {
    (void)state;
    uint8_t bytes[25], segment[288], known[288];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i + 1);
    tw_launch_shape shape = {{70000, 3, 2}, {64, 2, 1}, 4096, 0x20000, 0x10000};
    assert_int_equal(tw_kernarg_fill(&kernel, &shape, bytes, 25, segment, known, NULL), TW_OK);
    assert_memory_equal(segment, bytes, 25);
    static const struct {
        size_t offset, size;
        uint64_t value;
    } expected[] = {{32, 4, 70000}, {36, 4, 3},  {40, 4, 2},     {44, 2, 64},       {46, 2, 2},
                    {48, 2, 1},     {50, 2, 0},  {52, 2, 0},     {54, 2, 0},        {72, 8, 0},
                    {96, 2, 3},     {104, 8, 0}, {152, 4, 4096}, {168, 4, 0x20000}, {172, 4, 0x10000}};
    uint8_t wanted[288] = {0};
    memset(wanted, 1, 25);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(at(segment, expected[i].offset, expected[i].size), expected[i].value);
        memset(wanted + expected[i].offset, 1, expected[i].size);
    }
    /* Padding, and the argument that nobody knows, have no value. */
    assert_memory_equal(known, wanted, 288);
}

static void hidden_arguments_of_another_size_are_refused(void **state) {
    (void)state;
    static const tw_arg_info wide[] = {{"", "hidden_grid_dims", TW_ARG_HIDDEN, 0, 4}};
    const tw_kernel_info bad = {.name = "bad", .kernarg_size = 8, .args = wide, .arg_count = 1};
    uint8_t segment[8], known[8];
    tw_launch_shape shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    tw_diag *diag = tw_diag_new(NULL);
    assert_int_equal(tw_kernarg_fill(&bad, &shape, NULL, 0, segment, known, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), "hidden_grid_dims must have 2 bytes (got 4)");
    tw_diag_free(diag);
}

static void a_kernel_without_metadata_of_arguments_takes_the_whole_segment(void **state) {
    (void)state;
    const tw_kernel_info assembly = {.name = "s", .kernarg_size = 16};
    uint8_t bytes[16] = {1, 2, 3}, segment[16], known[16], ones[16];
    tw_launch_shape shape = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    memset(ones, 1, sizeof ones);
    assert_int_equal(tw_kernarg_explicit_size(&assembly), 16);
    assert_int_equal(tw_kernarg_fill(&assembly, &shape, bytes, 16, segment, known, NULL), TW_OK);
    assert_memory_equal(segment, bytes, 16);
    assert_memory_equal(known, ones, 16);
}

static void shapes_are_checked_before_a_launch(void **state) {
    (void)state;
    tw_kernel_info fixed = kernel;
    memcpy(fixed.required_workgroup, (uint32_t[3]){32, 4, 1}, sizeof fixed.required_workgroup);
    tw_kernel_info free_size = kernel;
    free_size.max_workgroup = 0;
    const struct {
        const tw_kernel_info *kernel;
        tw_launch_shape shape;
        const char *text;
    } cases[] = {
        {&kernel, {{1, 1, 1}, {256, 1, 1}, 326656, 0, 0}, ""},
        {&kernel, {{16777215, 1, 1}, {256, 1, 1}, 0, 0, 0}, ""},
        {&fixed, {{1, 1, 1}, {32, 4, 1}, 0, 0, 0}, ""},
        {&free_size, {{1, 1, 1}, {32, 32, 1}, 0, 0, 0}, ""},
        {&kernel, {{0, 1, 1}, {1, 1, 1}, 0, 0, 0}, "grid x must be at least 1 (got 0)"},
        {&kernel, {{1, 1, 0}, {1, 1, 1}, 0, 0, 0}, "grid z must be at least 1 (got 0)"},
        {&kernel, {{1, 1, 1}, {1, 0, 1}, 0, 0, 0}, "block y must be 1..65535 (got 0)"},
        {&kernel, {{1, 1, 1}, {65536, 1, 1}, 0, 0, 0}, "block x must be 1..65535 (got 65536)"},
        {&kernel,
         {{16777216, 1, 1}, {256, 1, 1}, 0, 0, 0},
         "grid x times block x must be at most 4294967295 work-items (got 4294967296)"},
        {&kernel,
         {{1, 1, 1}, {32, 9, 1}, 0, 0, 0},
         "a workgroup of this kernel has at most 256 work-items (got 288)"},
        {&free_size,
         {{1, 1, 1}, {1025, 1, 1}, 0, 0, 0},
         "a workgroup of this kernel has at most 1024 work-items (got 1025)"},
        {&fixed,
         {{1, 1, 1}, {128, 1, 1}, 0, 0, 0},
         "a workgroup of this kernel is 32x4x1 work-items (got 128x1x1)"},
        {&kernel,
         {{1, 1, 1}, {256, 1, 1}, 326657, 0, 0},
         "static and dynamic LDS together must be at most 327680 bytes on gfx1250 (got 327681)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tw_diag *diag = tw_diag_new(NULL);
        tw_status status = tw_launch_check(cases[i].kernel, gfx1250, &cases[i].shape, diag);
        assert_string_equal(tw_diag_first_error(diag), cases[i].text);
        assert_int_equal(status, cases[i].text[0] ? TW_ERR_INVALID : TW_OK);
        tw_diag_free(diag);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_values_where_the_metadata_says),
        cmocka_unit_test(refuses_what_the_kernel_does_not_take),
        cmocka_unit_test(does_not_trust_the_metadata),
        cmocka_unit_test(fills_hidden_arguments_by_name),
        cmocka_unit_test(hidden_arguments_of_another_size_are_refused),
        cmocka_unit_test(a_kernel_without_metadata_of_arguments_takes_the_whole_segment),
        cmocka_unit_test(shapes_are_checked_before_a_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
