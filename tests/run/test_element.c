#include "tests/test.h"

#include <math.h>

#include "run/element.h"

static void elements_are_read_exactly(void **state) {
    (void)state;
    static const struct {
        tw_scalar format;
        size_t bytes;
        uint8_t data[8];
        double second; /* element 1 */
    } cases[] = {
        {TW_I8, 1, {0, 0x80}, -128},
        {TW_I16, 2, {0, 0, 0xff, 0x7f}, 32767},
        {TW_I16, 2, {0, 0, 0xff, 0xff}, -1},
        {TW_I32, 4, {0, 0, 0, 0, 0, 0, 0, 0x80}, -2147483648.0},
        {TW_I32, 4, {0, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f}, 2147483647},
        {TW_F16, 2, {0, 0, 0x01, 0x80}, -0x1p-24},
        {TW_F16, 2, {0, 0, 0x00, 0x7c}, INFINITY},
        {TW_BF16, 2, {0, 0, 0x80, 0x3f}, 1},
        {TW_F32, 4, {0, 0, 0, 0, 0x01, 0, 0, 0}, 0x1p-149},
        {TW_F8E4M3, 1, {0, 0x7e}, 448},
        {TW_F8E5M2, 1, {0, 0x7b}, 57344},
        {TW_F8E4M3FNUZ, 1, {0, 0x7f}, 240},
        {TW_F8E5M2FNUZ, 1, {0, 0x7f}, 57344},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(tw_element_bytes(cases[i].format), cases[i].bytes);
        assert_true(tw_element_get(cases[i].format, cases[i].data, 1) == cases[i].second);
        assert_true(tw_element_get(cases[i].format, cases[i].data, 0) == 0);
    }
    static const uint8_t nan[] = {0, 0, 0x00, 0x7e};
    assert_true(isnan(tw_element_get(TW_F16, nan, 1)));
    assert_int_equal(tw_element_bytes(TW_I64), 0);
    assert_int_equal(tw_element_bytes(TW_I1), 0);
    assert_int_equal(tw_element_bytes((tw_scalar)1000), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_read_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
