#include "arch/target.h"

#include <stdlib.h>
#include <string.h>

#include "support/strbuf.h"
#include "tests/arch/every_target.h"

static void every_arch_has_a_row(void **state) {
    (void)state;
    assert_null(tw_arch_get(TW_ARCH_NONE));
    assert_null(tw_arch_get(TW_ARCH_COUNT));
    assert_null(tw_arch_get((tw_arch)-1));
    assert_null(tw_arch_by_name("gfx906"));
    assert_null(tw_arch_by_name(NULL));
    assert_null(tw_arch_by_elf_mach(0));
    for (int i = TW_ARCH_NONE + 1; i < TW_ARCH_COUNT; i++) {
        const tw_arch_info *info = tw_arch_get((tw_arch)i);
        assert_non_null(info);
        assert_int_equal(info->arch, i);
        assert_ptr_equal(tw_arch_by_name(info->name), info);
        assert_ptr_equal(tw_arch_by_elf_mach(info->elf_mach), info);
        assert_true(info->wave_size == 32 || info->wave_size == 64);
        assert_int_equal(info->vgprs_per_lane_total % info->vgpr_granule, 0);
        /* One matrix unit each, and fp8 conversions exactly where there is a format for them. */
        bool mfma = info->features & TW_ARCH_HAS_MFMA, wmma = info->features & TW_ARCH_HAS_WMMA;
        assert_true(mfma != wmma);
        assert_int_equal(info->fp8 != TW_FP8_NONE, (info->features & TW_ARCH_HAS_FP8_CONVERT) != 0);
        assert_true(!(info->features & TW_ARCH_HAS_WAVE64_CHOICE) || info->wave_size == 32);
    }
}

static void target_ids_round_trip(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"gfx90a", "gfx90a"},
        {"gfx90a:xnack-", "gfx90a:xnack-"},
        {"gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"},
        {"gfx942:sramecc-", "gfx942:sramecc-"},
        {"gfx950:xnack+", "gfx950:xnack+"},
        {"gfx950:wave64", "gfx950"},
        {"gfx1100", "gfx1100"},
        {"gfx1100:wave64", "gfx1100:wave64"},
        {"gfx1100:wave32", "gfx1100"},
        {"gfx1201:wave64", "gfx1201:wave64"},
        {"gfx1250", "gfx1250"},
        {"gfx1250:wave32", "gfx1250"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char name[TW_TARGET_NAME_MAX];
        tw_target_format(target(texts[i][0]), name);
        assert_string_equal(name, texts[i][1]);
        assert_true(tw_target_equal(target(name), target(texts[i][0])));
    }
    assert_int_equal(target("gfx1100:wave64").wave_size, 64);
    assert_int_equal(target("gfx90a:xnack-:sramecc+").xnack, TW_FEATURE_OFF);
    assert_int_equal(target("gfx90a:xnack-:sramecc+").sramecc, TW_FEATURE_ON);
    assert_false(tw_target_equal(target("gfx90a"), target("gfx90a:xnack-")));
    assert_false(tw_target_equal(target("gfx90a"), target("gfx90a:sramecc-")));
    assert_false(tw_target_equal(target("gfx1100"), target("gfx1100:wave64")));
    assert_false(tw_target_equal(target("gfx1100"), target("gfx1151")));
    char name[TW_TARGET_NAME_MAX];
    tw_target_format((tw_target){0}, name);
    assert_string_equal(name, "none");
}

static void bad_target_ids_are_refused(void **state) {
    (void)state;
    static const char all[] =
        "target must be one of gfx90a, gfx942, gfx950, gfx1100, gfx1151, gfx1200, gfx1201, gfx1250 ";
    static const struct {
        const char *text, *rule, *got;
    } rows[] = {
        {"", all, "(got )"},
        {"gfx906", all, "(got gfx906)"},
        {"gfx125", all, "(got gfx125)"},
        {"gfx1250 ", all, "(got gfx1250 )"},
        {"GFX1250", all, "(got GFX1250)"},
        {"gfx1250:", "target feature must be one that gfx1250 has ", "(got )"},
        {"gfx1250:xnack-", "target feature must be one that gfx1250 has ", "(got xnack-)"},
        {"gfx1100:sramecc+", "target feature must be one that gfx1100 has ", "(got sramecc+)"},
        {"gfx90a:cumode", "target feature must be one that gfx90a has ", "(got cumode)"},
        {"gfx90a:xnack", "target feature must end in + or - ", "(got xnack)"},
        {"gfx90a:xnack+-", "target feature must end in + or - ", "(got xnack+-)"},
        {"gfx90a:xnack+:xnack-", "target feature must be given once ", "(got another xnack-)"},
        {"gfx1100:wave64:wave32", "target feature must be given once ", "(got another wave32)"},
        {"gfx1250:wave64", "wave size of gfx1250 must be wave32 ", "(got wave64)"},
        {"gfx90a:wave32", "wave size of gfx90a must be wave64 ", "(got wave32)"},
        {"gfx1100:wave16", "wave size of gfx1100 must be wave32 or wave64 ", "(got wave16)"},
        {"gfx1100:wave", "wave size of gfx1100 must be wave32 or wave64 ", "(got wave)"},
    };
    tw_diag *diag = tw_diag_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_target t = {.arch = TW_ARCH_GFX950, .wave_size = 64, .xnack = 1};
        char expected[300];
        strcat(strcpy(expected, rows[i].rule), rows[i].got);
        assert_int_equal(tw_target_parse(rows[i].text, &t, diag), TW_ERR_INVALID);
        assert_string_equal(tw_diag_first_error(diag), expected);
        assert_true(tw_target_equal(t, (tw_target){0}));
        tw_diag_clear(diag);
    }
    tw_target t;
    assert_int_equal(tw_target_parse(NULL, &t, diag), TW_ERR_USAGE);
    assert_int_equal(tw_target_parse("gfx1250", NULL, diag), TW_ERR_USAGE);
    tw_diag_free(diag);
}

/* The table of measurements that the rule was made from (docs/targets.md). */
static void vgpr_budget_follows_the_workgroup(void **state) {
    (void)state;
    static const struct {
        const char *target;
        uint32_t at_1024, at_768, at_512, at_256, at_128, at_64;
    } rows[] = {
        {"gfx90a", 128, 168, 256, 512, 512, 512},    {"gfx942", 128, 168, 256, 512, 512, 512},
        {"gfx950", 128, 168, 256, 512, 512, 512},    {"gfx1100", 192, 240, 256, 256, 256, 256},
        {"gfx1151", 192, 240, 256, 256, 256, 256},   {"gfx1201", 192, 240, 256, 256, 256, 256},
        {"gfx1250", 128, 160, 256, 512, 1024, 1024}, {"gfx1100:wave64", 192, 252, 256, 256, 256, 256},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_target t = target(rows[i].target);
        assert_int_equal(tw_arch_vgpr_budget(t, 0), rows[i].at_1024);
        assert_int_equal(tw_arch_vgpr_budget(t, 4096), rows[i].at_1024);
        assert_int_equal(tw_arch_vgpr_budget(t, 1024), rows[i].at_1024);
        assert_int_equal(tw_arch_vgpr_budget(t, 768), rows[i].at_768);
        assert_int_equal(tw_arch_vgpr_budget(t, 512), rows[i].at_512);
        assert_int_equal(tw_arch_vgpr_budget(t, 256), rows[i].at_256);
        assert_int_equal(tw_arch_vgpr_budget(t, 128), rows[i].at_128);
        assert_int_equal(tw_arch_vgpr_budget(t, 64), rows[i].at_64);
        assert_int_equal(tw_arch_vgpr_budget(t, 1), rows[i].at_64);
    }
    assert_int_equal(tw_arch_vgpr_budget((tw_target){0}, 256), 0);
    /* Waves of half the lanes, which the target does not have, are no reason to divide by zero. */
    assert_int_equal(tw_arch_vgpr_budget((tw_target){.arch = TW_ARCH_GFX942, .wave_size = 32}, 1024), 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_arch_has_a_row),
        cmocka_unit_test(target_ids_round_trip),
        cmocka_unit_test(bad_target_ids_are_refused),
        cmocka_unit_test(vgpr_budget_follows_the_workgroup),
    };
    return cmocka_run_group_tests_name("arch-target", tests, NULL, NULL);
}
