/* Public structs and numbers as they were released with a TW_ABI_VERSION. A change here means: move the
 * version, then write down the new values. */
#include "tests/test.h"

#include "ir/build.h"

static void the_version_is_the_one_pinned_here(void **state) {
    (void)state;
    assert_int_equal(TW_ABI_VERSION, 2);
}

#define SIZE(type, size)           assert_int_equal(sizeof(type), size)
#define FIELD(type, field, offset) assert_int_equal(offsetof(type, field), offset)

static void structs_keep_their_layout(void **state) {
    (void)state;
    SIZE(tw_value, 4);
    FIELD(tw_value, id, 0);
    SIZE(tw_target, 8);
    FIELD(tw_target, arch, 0);
    FIELD(tw_target, wave_size, 4);
    FIELD(tw_target, xnack, 5);
    FIELD(tw_target, sramecc, 6);
    SIZE(tw_kernel_options, 24);
    FIELD(tw_kernel_options, workgroup_size, 0);
    FIELD(tw_kernel_options, workgroup_size_y, 4);
    FIELD(tw_kernel_options, workgroup_size_z, 8);
    FIELD(tw_kernel_options, min_waves_per_eu, 12);
    FIELD(tw_kernel_options, max_waves_per_eu, 16);
    FIELD(tw_kernel_options, flush_f32_denormals, 20);
    SIZE(tw_parse_options, 2 * sizeof(void *));
    FIELD(tw_parse_options, source, 0);
    FIELD(tw_parse_options, target, sizeof(void *));
    SIZE(tw_context_options, 3 * sizeof(void *));
    FIELD(tw_context_options, allocator, 0);
    FIELD(tw_context_options, on_diagnostic, sizeof(void *));
    FIELD(tw_context_options, user, 2 * sizeof(void *));
    SIZE(tw_allocator, 3 * sizeof(void *));
    FIELD(tw_allocator, allocate, 0);
    FIELD(tw_allocator, release, sizeof(void *));
    FIELD(tw_allocator, user, 2 * sizeof(void *));
    SIZE(tw_type, 16);
    FIELD(tw_type, kind, 0);
    FIELD(tw_type, scalar, 4);
    FIELD(tw_type, lanes, 8);
    FIELD(tw_type, space, 12);
    SIZE(tw_attr, 24);
    FIELD(tw_attr, kind, 0);
    FIELD(tw_attr, as, 8);
    FIELD(tw_attr, as.ints.count, 16);
    SIZE(tw_named_attr, 32);
    FIELD(tw_named_attr, name, 0);
    FIELD(tw_named_attr, value, 8);
    SIZE(tw_diagnostic, 32);
    FIELD(tw_diagnostic, severity, 0);
    FIELD(tw_diagnostic, status, 4);
    FIELD(tw_diagnostic, line, 8);
    FIELD(tw_diagnostic, column, 12);
    FIELD(tw_diagnostic, where, 16);
    FIELD(tw_diagnostic, text, 24);
}

static void numbers_stay(void **state) {
    (void)state;
    assert_int_equal(TW_OK, 0);
    assert_int_equal(TW_ERR_NO_MEMORY, 1);
    assert_int_equal(TW_ERR_USAGE, 2);
    assert_int_equal(TW_ERR_INVALID, 3);
    assert_int_equal(TW_ERR_UNSUPPORTED, 4);
    assert_int_equal(TW_ERR_NOT_FOUND, 5);
    assert_int_equal(TW_ERR_IO, 6);
    assert_int_equal(TW_ERR_COMPILE, 7);
    assert_int_equal(TW_ERR_DEVICE, 8);
    assert_int_equal(TW_ERR_MISMATCH, 9);
    assert_int_equal(TW_ERR_LIMIT, 10);
    assert_int_equal(TW_I1, 0);
    assert_int_equal(TW_F32, 7);
    assert_int_equal(TW_F8E5M2FNUZ, 11);
    assert_int_equal(TW_SCALAR_COUNT, 12);
    assert_int_equal(TW_TYPE_TOKEN, 4);
    assert_int_equal(TW_UGE, 9);
    assert_int_equal(TW_FUNO, 13);
    assert_int_equal(TW_REDUCE_FMAX, 10);
    assert_int_equal(TW_FENCE_ALL, 1);
    assert_int_equal(TW_ATTR_NONE, 0);
    assert_int_equal(TW_ATTR_INTS, 5);
    assert_int_equal(TW_PARAM_READONLY, 1);
    assert_int_equal(TW_PARAM_NOALIAS, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_one_pinned_here),
        cmocka_unit_test(structs_keep_their_layout),
        cmocka_unit_test(numbers_stay),
    };
    return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
