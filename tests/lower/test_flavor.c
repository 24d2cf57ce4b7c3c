#include "lower/flavor.h"

#include <stdio.h>

#include "tests/test.h"

static void names_round_trip(void **state) {
    (void)state;
    static const int majors[] = {15, 19, 20, 21, 22, 23, 24, 0};
    for (size_t i = 0; i < sizeof majors / sizeof majors[0]; i++) {
        tw_flavor flavor = tw_flavor_at(i), parsed = TW_FLAVOR_NONE;
        assert_int_equal(flavor, majors[i]);
        if (!flavor) break;
        char name[16];
        snprintf(name, sizeof name, "llvm%d", majors[i]);
        assert_string_equal(tw_flavor_name(flavor), name);
        assert_int_equal(tw_flavor_parse(name, &parsed, NULL), TW_OK);
        assert_int_equal(parsed, flavor);
        assert_int_equal(tw_flavor_parse(name + 4, &parsed, NULL), TW_OK);
        assert_int_equal(parsed, flavor);
    }
    assert_null(tw_flavor_name(TW_FLAVOR_NONE));
    assert_null(tw_flavor_name((tw_flavor)18));
}

static void bad_names_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"", "llvm", "llvm18", "LLVM22", "22 ", "llvm22.1", "rocm"};
    tw_diag *diag = tw_diag_new(NULL);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tw_flavor flavor = TW_FLAVOR_LLVM22;
        char expected[200];
        snprintf(expected, sizeof expected,
                 "flavor must be one of llvm15, llvm19, llvm20, llvm21, llvm22, llvm23, llvm24 (got %s)",
                 texts[i]);
        assert_int_equal(tw_flavor_parse(texts[i], &flavor, diag), TW_ERR_INVALID);
        assert_int_equal(flavor, TW_FLAVOR_NONE);
        assert_string_equal(tw_diag_first_error(diag), expected);
        tw_diag_clear(diag);
    }
    tw_flavor flavor;
    assert_int_equal(tw_flavor_parse(NULL, &flavor, diag), TW_ERR_USAGE);
    assert_int_equal(tw_flavor_parse("22", NULL, diag), TW_ERR_USAGE);
    tw_diag_free(diag);
}

static void flavors_serve_what_llvm_has(void **state) {
    (void)state;
    static const struct {
        const char *target;
        int first;
    } rows[] = {
        {"gfx90a", 15},  {"gfx942", 19},  {"gfx950", 20},  {"gfx1100:wave64", 15},
        {"gfx1151", 19}, {"gfx1200", 19}, {"gfx1201", 19}, {"gfx1250", 22},
    };
    tw_diag *diag = tw_diag_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_target target;
        assert_int_equal(tw_target_parse(rows[i].target, &target, NULL), TW_OK);
        for (size_t f = 0; tw_flavor_at(f); f++) {
            tw_flavor flavor = tw_flavor_at(f);
            bool served = (int)flavor >= rows[i].first;
            assert_int_equal(tw_flavor_serves(flavor, target, diag), served ? TW_OK : TW_ERR_UNSUPPORTED);
            char expected[100] = "";
            if (!served)
                snprintf(expected, sizeof expected, "%s needs llvm%d or later (got %s)",
                         tw_arch_get(target.arch)->name, rows[i].first, tw_flavor_name(flavor));
            assert_string_equal(tw_diag_first_error(diag), expected);
            tw_diag_clear(diag);
        }
    }
    assert_int_equal(tw_flavor_serves(TW_FLAVOR_LLVM22, (tw_target){0}, diag), TW_ERR_USAGE);
    assert_int_equal(tw_flavor_serves(TW_FLAVOR_NONE, (tw_target){TW_ARCH_GFX90A, 64, 0, 0}, diag),
                     TW_ERR_USAGE);
    tw_diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_round_trip),
        cmocka_unit_test(bad_names_are_refused),
        cmocka_unit_test(flavors_serve_what_llvm_has),
    };
    return cmocka_run_group_tests_name("lower-flavor", tests, NULL, NULL);
}
