/* lower/intrinsics.def and lower/flavors.def against what was measured (arch/intrinsics.<flavor>.json). */
#include "lower/measured.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "lower/flavor_info.h"
#include "tests/test.h"

static tw_target target_of(unsigned arch) {
    return (tw_target){(tw_arch)arch, tw_arch_get((tw_arch)arch)->wave_size, 0, 0};
}

static bool served(tw_flavor flavor, unsigned arch) {
    return tw_flavor_serves(flavor, target_of(arch), NULL) == TW_OK;
}

static bool declares(const tw_intrinsic_row *row, tw_flavor flavor, unsigned arch) {
    return (unsigned)flavor >= row->first && (unsigned)flavor <= row->last && row->targets >> arch & 1;
}

/* ---- intrinsics ---- */

static void releases_that_were_not_measured_say_so(void **state) {
    (void)state;
    for (size_t f = 0; tw_flavor_at(f); f++) {
        tw_flavor flavor = tw_flavor_at(f);
        const char *version = tw_flavor_measured_with(flavor);
        if (flavor == TW_FLAVOR_LLVM20 || flavor == TW_FLAVOR_LLVM24) {
            assert_null(version);
        } else {
            char begin[16];
            snprintf(begin, sizeof begin, "LLVM %d.", (int)flavor);
            assert_non_null(version);
            assert_int_equal(strncmp(version, begin, strlen(begin)), 0);
            assert_non_null(strstr(version, "Debian package"));
        }
    }
    assert_null(tw_flavor_measured_with((tw_flavor)16));
}

static void every_row_was_measured(void **state) {
    (void)state;
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    for (size_t f = 0; tw_flavor_at(f); f++)
        for (size_t i = 0; i < count; i++)
            for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
                tw_measured status = tw_intrinsic_measured(&rows[i], tw_flavor_at(f), (tw_arch)a);
                bool expected = tw_flavor_measured_with(tw_flavor_at(f)) != NULL;
                if ((status != TW_MEASURED_NOT_MEASURED) != expected)
                    fail_msg("%s %s: %s in %s", tw_intrinsic_key_name(rows[i].key), rows[i].name,
                             tw_measured_word(status), tw_flavor_name(tw_flavor_at(f)));
            }
}

static void what_is_declared_works(void **state) {
    (void)state;
    size_t count, failures = 0;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    for (size_t f = 0; tw_flavor_at(f); f++) {
        tw_flavor flavor = tw_flavor_at(f);
        for (size_t i = 0; i < count && tw_flavor_measured_with(flavor); i++)
            for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
                tw_measured status = tw_intrinsic_measured(&rows[i], flavor, (tw_arch)a);
                if (!declares(&rows[i], flavor, a) || !served(flavor, a) || status == TW_MEASURED_OK)
                    continue;
                print_message("%s %s for %s in %s: %s\n", tw_intrinsic_key_name(rows[i].key), rows[i].name,
                              tw_arch_get((tw_arch)a)->name, tw_flavor_name(flavor),
                              tw_measured_word(status));
                failures++;
            }
    }
    assert_int_equal(failures, 0);
}

static bool any_row_declares(tw_intrinsic key, tw_flavor flavor, unsigned arch) {
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].key == key && declares(&rows[i], flavor, arch)) return true;
    return false;
}

/* What works is used, or lower/not_used.def says why not. And it says so of nothing else. */
static void what_works_is_declared(void **state) {
    (void)state;
    size_t count, failures = 0;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    for (size_t f = 0; tw_flavor_at(f); f++) {
        tw_flavor flavor = tw_flavor_at(f);
        for (size_t i = 0; i < count && tw_flavor_measured_with(flavor); i++)
            for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
                if (tw_intrinsic_measured(&rows[i], flavor, (tw_arch)a) != TW_MEASURED_OK) continue;
                bool used = any_row_declares(rows[i].key, flavor, a);
                bool reason = tw_intrinsic_not_used(rows[i].key, flavor, (tw_arch)a) != NULL;
                if (used != reason || !served(flavor, a)) continue;
                print_message("%s %s for %s in %s: %s\n", tw_intrinsic_key_name(rows[i].key), rows[i].name,
                              tw_arch_get((tw_arch)a)->name, tw_flavor_name(flavor),
                              used ? "used, and there is a reason why not" : "ok, but not used");
                failures++;
            }
    }
    assert_int_equal(failures, 0);
}

/* ---- the files ---- */

static json_t *file_of(tw_flavor flavor) {
    char path[512];
    snprintf(path, sizeof path, SOURCE_ROOT "/arch/intrinsics.%s.json", tw_flavor_name(flavor));
    json_error_t error;
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!file) fail_msg("%s: %s", path, error.text);
    assert_string_equal(json_string_value(json_object_get(file, "version")), tw_flavor_measured_with(flavor));
    return file;
}

static const char *status_in(const json_t *status, const char *target) {
    const char *word = json_string_value(json_is_object(status) ? json_object_get(status, target) : status);
    return word ? word : "missing";
}

static const char *status_of(const json_t *file, const char *name, const char *arguments,
                             const char *target) {
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(file, "intrinsics"), i, row) {
        if (!strcmp(json_string_value(json_object_get(row, "name")), name) &&
            !strcmp(json_string_value(json_object_get(row, "arguments")), arguments))
            return status_in(json_object_get(row, "status"), target);
    }
    return "missing";
}

#define RSRC     "llvm.amdgcn.make.buffer.rsrc."
#define MFMA     "llvm.amdgcn.mfma.f32."
#define WMMA     "llvm.amdgcn.wmma.f32.16x16x16."
#define WMMA_F32 "llvm.amdgcn.wmma.f32.16x16x4.f32.v8f32.v2f32"
#define PTR_LOAD "llvm.amdgcn.raw.ptr.buffer.load.i32"
#define OLD_LOAD "llvm.amdgcn.raw.buffer.load.i32"

/* Differences between releases that the lowerer depends on: name, arguments, target, then what llvm15, 19,
 * 21, 22 and 23 must have given. */
static void known_differences_were_found(void **state) {
    (void)state;
    static const tw_flavor flavors[] = {TW_FLAVOR_LLVM15, TW_FLAVOR_LLVM19, TW_FLAVOR_LLVM21,
                                        TW_FLAVOR_LLVM22, TW_FLAVOR_LLVM23};
    static const struct {
        const char *name, *arguments, *target, *expected[5];
    } rows[] = {
#define DIFFERENCE(name, arguments, target, a, b, c, d, e) {name, arguments, target, {a, b, c, d, e}},
#include "tests/lower/differences.def"
    };
    size_t failures = 0;
    for (size_t f = 0; f < sizeof flavors / sizeof flavors[0]; f++) {
        json_t *file = file_of(flavors[f]);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            const char *found = status_of(file, rows[i].name, rows[i].arguments, rows[i].target);
            if (!strcmp(found, rows[i].expected[f])) continue;
            print_message("%s(%s) for %s in %s: %s\n", rows[i].name, rows[i].arguments, rows[i].target,
                          tw_flavor_name(flavors[f]), found);
            failures++;
        }
        json_decref(file);
    }
    assert_int_equal(failures, 0);
}

static bool has_word(const char *list, const char *word) {
    const char *at = strstr(list, word);
    return at && (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

/* Each column of lower/flavors.def that was measured. */
static void check_flavor(tw_flavor flavor, const json_t *file) {
    const tw_flavor_info *info = tw_flavor_info_get(flavor);
    const json_t *facts = json_object_get(file, "facts");
    assert_string_equal(json_string_value(json_object_get(facts, "data_layout")), info->data_layout);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(facts, "flush"), info->flush_attribute)), "ok");
    static const char *const types[] = {"atomic_fadd f32", "atomic_fadd v2f16", "atomic_fadd v2bf16"};
    static const uint32_t needs[] = {0, TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16, TW_ARCH_HAS_GLOBAL_ATOMIC_PK_BF16};
    static const char *const hints[] = {"none", "attribute", "metadata", "both"};
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
        const tw_arch_info *arch = tw_arch_get((tw_arch)a);
        const char *target = arch->name;
        /* llvm21 knows the processor gfx1250, but not its instructions. */
        bool known = served(flavor, a) || (a == TW_ARCH_GFX1250 && flavor == TW_FLAVOR_LLVM21);
        assert_string_equal(status_in(json_object_get(file, "targets"), target),
                            known ? "ok" : "target_unsupported");
        if (!served(flavor, a)) continue;
        assert_string_equal(status_in(json_object_get(facts, "bfloat"), target),
                            tw_flavor_has_bfloat(info) ? "ok" : "target_unsupported");
        for (unsigned t = 0; t < 3; t++) {
            /* llvm15 has an intrinsic for two f16, and nothing for two bf16. */
            if ((arch->features & needs[t]) != needs[t] || (t && !tw_flavor_has_bfloat(info))) continue;
            const char *found = status_in(json_object_get(facts, types[t]), target);
            if (!has_word(found, hints[info->atomic_hint]))
                fail_msg("%s for %s in %s needs %s", types[t], target, tw_flavor_name(flavor), found);
        }
    }
}

static void flavors_say_what_was_measured(void **state) {
    (void)state;
    for (size_t f = 0; tw_flavor_at(f); f++) {
        if (!tw_flavor_measured_with(tw_flavor_at(f))) {
            assert_string_equal(tw_flavor_info_get(tw_flavor_at(f))->data_layout, "");
            continue;
        }
        json_t *file = file_of(tw_flavor_at(f));
        check_flavor(tw_flavor_at(f), file);
        json_decref(file);
    }
}

/* Attributes that no release shows an effect of: the first dimension's ids are always set up, and kernels
 * have no LDS id of their own. */
static bool has_no_effect(const char *name) {
    static const char *const names[] = {"amdgpu-no-workgroup-id-x", "amdgpu-no-cluster-id-x",
                                        "amdgpu-no-lds-kernel-id"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

/* In how many files and targets the attribute takes something away. */
static size_t effects_of(const char *name) {
    char fact[64];
    snprintf(fact, sizeof fact, "attribute %s", name);
    size_t effects = 0;
    for (size_t f = 0; tw_flavor_at(f); f++) {
        if (!tw_flavor_measured_with(tw_flavor_at(f))) continue;
        json_t *file = file_of(tw_flavor_at(f));
        const json_t *found = json_object_get(json_object_get(file, "facts"), fact);
        for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
            const char *word = status_in(found, tw_arch_get((tw_arch)a)->name);
            assert_string_not_equal(word, "missing");
            assert_string_not_equal(word, "refused");
            effects += !strcmp(word, "ok");
        }
        json_decref(file);
    }
    return effects;
}

static void attributes_take_something_away(void **state) {
    (void)state;
    static const char *const names[] = {
#define UNUSED(need, name) name,
#include "lower/unused.def"
    };
    size_t failures = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t effects = effects_of(names[i]);
        if ((effects == 0) == has_no_effect(names[i])) continue;
        print_message("%s: an effect in %zu places\n", names[i], effects);
        failures++;
    }
    assert_int_equal(failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_that_were_not_measured_say_so),
        cmocka_unit_test(every_row_was_measured),
        cmocka_unit_test(what_is_declared_works),
        cmocka_unit_test(what_works_is_declared),
        cmocka_unit_test(known_differences_were_found),
        cmocka_unit_test(flavors_say_what_was_measured),
        cmocka_unit_test(attributes_take_something_away),
    };
    return cmocka_run_group_tests_name("lower-measured", tests, NULL, NULL);
}
