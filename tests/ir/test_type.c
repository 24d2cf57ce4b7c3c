#include "tests/test.h"

#include <string.h>

#include "ir/type.h"

static const char *name_of(const tw_type *type) {
    static char text[TW_TYPE_NAME_MAX];
    tw_type_format(type, text);
    return text;
}

static void types_exist_once(void **state) {
    (void)state;
    for (int s = 0; s < TW_SCALAR_COUNT; s++) {
        const tw_type *scalar = tw_type_scalar((tw_scalar)s);
        assert_int_equal(scalar->kind, TW_TYPE_SCALAR);
        assert_int_equal(scalar->scalar, s);
        assert_int_equal(scalar->lanes, 1);
        assert_ptr_equal(tw_type_vector((tw_scalar)s, 1), scalar);
        for (unsigned lanes = 2; lanes <= TW_MAX_LANES; lanes++) {
            const tw_type *vector = tw_type_vector((tw_scalar)s, lanes);
            assert_ptr_equal(vector, tw_type_vector((tw_scalar)s, lanes));
            assert_int_equal(vector->kind, TW_TYPE_VECTOR);
            assert_int_equal(vector->scalar, s);
            assert_int_equal(vector->lanes, lanes);
            assert_int_equal(tw_type_bits(vector), lanes * tw_scalar_bits((tw_scalar)s));
        }
        for (int space = TW_GLOBAL; space <= TW_LDS && s != TW_I1; space++) {
            const tw_type *pointer = tw_type_pointer((tw_scalar)s, (tw_space)space);
            assert_int_equal(pointer->kind, TW_TYPE_POINTER);
            assert_int_equal(pointer->scalar, s);
            assert_int_equal(pointer->space, space);
            assert_int_equal(pointer->lanes, 0);
        }
    }
    assert_ptr_not_equal(tw_type_rsrc(), tw_type_token());
}

static void what_is_no_type_is_null(void **state) {
    (void)state;
    assert_null(tw_type_scalar(TW_SCALAR_COUNT));
    assert_null(tw_type_vector(TW_F32, 0));
    assert_null(tw_type_vector(TW_F32, TW_MAX_LANES + 1));
    assert_null(tw_type_vector(TW_SCALAR_COUNT, 2));
    assert_null(tw_type_pointer(TW_I1, TW_GLOBAL));
    assert_null(tw_type_pointer(TW_F32, (tw_space)2));
}

static void names_and_sizes(void **state) {
    (void)state;
    assert_string_equal(name_of(tw_type_scalar(TW_BF16)), "bf16");
    assert_string_equal(name_of(tw_type_vector(TW_F8E4M3FNUZ, 64)), "vec<64 x f8e4m3fnuz>");
    assert_string_equal(name_of(tw_type_pointer(TW_F8E5M2FNUZ, TW_GLOBAL)), "ptr<f8e5m2fnuz, global>");
    assert_string_equal(name_of(tw_type_pointer(TW_I8, TW_LDS)), "ptr<i8, lds>");
    assert_string_equal(name_of(tw_type_rsrc()), "rsrc");
    assert_string_equal(name_of(tw_type_token()), "token");
    assert_int_equal(tw_type_bits(tw_type_pointer(TW_I8, TW_GLOBAL)), 64);
    assert_int_equal(tw_type_bits(tw_type_pointer(TW_I8, TW_LDS)), 32);
    assert_int_equal(tw_type_bits(tw_type_rsrc()), 128);
    assert_int_equal(tw_type_bits(tw_type_token()), 0);
    static const struct {
        tw_scalar scalar;
        const char *name;
        unsigned bits;
        char kind; /* i, f or 8 */
    } rows[] = {
        {TW_I1, "i1", 1, 'i'},
        {TW_I8, "i8", 8, 'i'},
        {TW_I16, "i16", 16, 'i'},
        {TW_I32, "i32", 32, 'i'},
        {TW_I64, "i64", 64, 'i'},
        {TW_F16, "f16", 16, 'f'},
        {TW_BF16, "bf16", 16, 'f'},
        {TW_F32, "f32", 32, 'f'},
        {TW_F8E4M3, "f8e4m3", 8, '8'},
        {TW_F8E5M2, "f8e5m2", 8, '8'},
        {TW_F8E4M3FNUZ, "f8e4m3fnuz", 8, '8'},
        {TW_F8E5M2FNUZ, "f8e5m2fnuz", 8, '8'},
    };
    assert_int_equal(sizeof rows / sizeof rows[0], TW_SCALAR_COUNT);
    for (size_t i = 0; i < TW_SCALAR_COUNT; i++) {
        assert_int_equal(rows[i].scalar, i);
        assert_string_equal(tw_scalar_name(rows[i].scalar), rows[i].name);
        assert_int_equal(tw_scalar_bits(rows[i].scalar), rows[i].bits);
        assert_int_equal(tw_scalar_is_int(rows[i].scalar), rows[i].kind == 'i');
        assert_int_equal(tw_scalar_is_float(rows[i].scalar), rows[i].kind == 'f');
        assert_int_equal(tw_scalar_is_fp8(rows[i].scalar), rows[i].kind == '8');
    }
    assert_int_equal(tw_scalar_bits(TW_SCALAR_COUNT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_exist_once),
        cmocka_unit_test(what_is_no_type_is_null),
        cmocka_unit_test(names_and_sizes),
    };
    return cmocka_run_group_tests_name("type", tests, NULL, NULL);
}
