#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/target.h"
#include "support/strbuf.h"
#include "tests/arch/llvm_tool.h"

#define ALL_ARCHS(a) (tw_arch a = TW_ARCH_NONE + 1; a < TW_ARCH_COUNT; a++)

static tw_target of(tw_arch arch) { return (tw_target){arch, tw_arch_get(arch)->wave_size, 0, 0}; }

static void masks_are_the_bits_of_the_generation(void **state) {
    (void)state;
    static const struct {
        tw_arch arch;
        uint32_t memory, atomic;
    } rows[] = {
        {TW_ARCH_GFX90A, 1 | 2 | 16, 2 | 16},
        {TW_ARCH_GFX942, 1 | 2 | 16, 2 | 16},
        {TW_ARCH_GFX950, 1 | 2 | 16, 2 | 16},
        {TW_ARCH_GFX1100, 1 | 2 | 4, 2 | 4},
        {TW_ARCH_GFX1151, 1 | 2 | 4, 2 | 4},
        {TW_ARCH_GFX1200, 31, 30},
        {TW_ARCH_GFX1201, 31, 30},
        {TW_ARCH_GFX1250, 31, 30},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(tw_cache_policy_mask(of(rows[i].arch), TW_CACHE_LOAD), rows[i].memory);
        assert_int_equal(tw_cache_policy_mask(of(rows[i].arch), TW_CACHE_STORE), rows[i].memory);
        assert_int_equal(tw_cache_policy_mask(of(rows[i].arch), TW_CACHE_ATOMIC), rows[i].atomic);
    }
    assert_int_equal(tw_cache_policy_mask((tw_target){0}, TW_CACHE_LOAD), 0);
}

static void named_policies(void **state) {
    (void)state;
    for
        ALL_ARCHS(arch) {
            tw_target t = of(arch);
            bool gfx12 = arch >= TW_ARCH_GFX1200;
            assert_int_equal(tw_cache_policy(t, TW_CACHE_DEFAULT), 0);
            assert_int_equal(tw_cache_policy(t, TW_CACHE_STREAM), gfx12 ? 1 : 2);
            assert_int_equal(tw_cache_policy(t, TW_ATOMIC_DEVICE), gfx12 ? 16 : 0);
            assert_int_equal(tw_cache_policy(t, TW_ATOMIC_CASCADE_DEVICE), gfx12 ? 20 : 0);
            for (tw_cache_op op = TW_CACHE_LOAD; op <= TW_CACHE_STORE; op++)
                assert_int_equal(tw_cache_policy_check(t, op, tw_cache_policy(t, TW_CACHE_STREAM), NULL),
                                 TW_OK);
            for (tw_cache_policy_name name = TW_ATOMIC_DEVICE; name <= TW_ATOMIC_CASCADE_DEVICE; name++)
                assert_int_equal(tw_cache_policy_check(t, TW_CACHE_ATOMIC, tw_cache_policy(t, name), NULL),
                                 TW_OK);
        }
}

static void refusals_say_why(void **state) {
    (void)state;
    static const struct {
        tw_arch arch;
        tw_cache_op op;
        int64_t value;
        const char *text; /* NULL: accepted */
    } rows[] = {
        {TW_ARCH_GFX1250, TW_CACHE_ATOMIC, 20, NULL},
        {TW_ARCH_GFX1250, TW_CACHE_ATOMIC, 30, NULL},
        {TW_ARCH_GFX1250, TW_CACHE_STORE, 7, NULL},
        {TW_ARCH_GFX1250, TW_CACHE_LOAD, 27, NULL},
        {TW_ARCH_GFX90A, TW_CACHE_LOAD, 19, NULL},
        {TW_ARCH_GFX1100, TW_CACHE_ATOMIC, 6, NULL},
        {TW_ARCH_GFX1250, TW_CACHE_ATOMIC, 32, "cachepolicy must be an integer 0..31 (got 32)"},
        {TW_ARCH_GFX1250, TW_CACHE_LOAD, -1, "cachepolicy must be an integer 0..31 (got -1)"},
        {TW_ARCH_GFX90A, TW_CACHE_STORE, INT64_MAX,
         "cachepolicy must be an integer 0..31 (got 9223372036854775807)"},
        {TW_ARCH_GFX1100, TW_CACHE_ATOMIC, 16,
         "cachepolicy has a bit that gfx1100 does not define for atomics (got 16)"},
        {TW_ARCH_GFX90A, TW_CACHE_LOAD, 4,
         "cachepolicy has a bit that gfx90a does not define for loads (got 4)"},
        {TW_ARCH_GFX942, TW_CACHE_STORE, 20,
         "cachepolicy has a bit that gfx942 does not define for stores (got 20)"},
        {TW_ARCH_GFX1201, TW_CACHE_ATOMIC, 17,
         "cachepolicy of an atomic must leave bit 0, which asks for the old value, clear (got 17)"},
        {TW_ARCH_GFX950, TW_CACHE_ATOMIC, 1,
         "cachepolicy of an atomic must leave bit 0, which asks for the old value, clear (got 1)"},
        {TW_ARCH_GFX1250, TW_CACHE_ATOMIC, 4,
         "cachepolicy of a cascading atomic must have device or system scope on gfx1250 (got 4)"},
        {TW_ARCH_GFX1200, TW_CACHE_ATOMIC, 14,
         "cachepolicy of a cascading atomic must have device or system scope on gfx1200 (got 14)"},
        {TW_ARCH_GFX1250, TW_CACHE_LOAD, 7,
         "cachepolicy has a temporal hint that gfx1250 reserves for loads (got 7)"},
        {TW_ARCH_GFX1201, TW_CACHE_LOAD, 31,
         "cachepolicy has a temporal hint that gfx1201 reserves for loads (got 31)"},
    };
    tw_diag *diag = tw_diag_new(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_status status = tw_cache_policy_check(of(rows[i].arch), rows[i].op, rows[i].value, diag);
        assert_int_equal(status, rows[i].text ? TW_ERR_INVALID : TW_OK);
        assert_string_equal(tw_diag_first_error(diag), rows[i].text ? rows[i].text : "");
        tw_diag_clear(diag);
    }
    assert_int_equal(tw_cache_policy_check((tw_target){0}, TW_CACHE_LOAD, 0, diag), TW_ERR_USAGE);
    tw_diag_free(diag);
    assert_null(tw_cache_policy_spelling(of(TW_ARCH_GFX1250), TW_CACHE_LOAD, 32));
    assert_null(tw_cache_policy_spelling((tw_target){0}, TW_CACHE_LOAD, 0));
}

static const char *const calls[] = {
    [TW_CACHE_LOAD] =
        "  %%x = call float @llvm.amdgcn.raw.ptr.buffer.load.f32(ptr addrspace(8) %%r, i32 %%o, i32 0, "
        "i32 %u)\n  store float %%x, ptr addrspace(1) %%p\n",
    [TW_CACHE_STORE] =
        "  call void @llvm.amdgcn.raw.ptr.buffer.store.f32(float %%v, ptr addrspace(8) %%r, i32 %%o, "
        "i32 0, i32 %u)\n",
    [TW_CACHE_ATOMIC] =
        "  %%x = call float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float %%v, ptr addrspace(8) "
        "%%r, i32 %%o, i32 0, i32 %u)\n",
};

/* One kernel a legal value: its assembly is the one buffer instruction and what it needs. */
static char *assemble(tw_target target, tw_cache_op op) {
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    for (unsigned value = 0; value < 32; value++) {
        if (!tw_cache_policy_spelling(target, op, value)) continue;
        tw_strbuf_printf(&text,
                         "define amdgpu_kernel void @k%u(ptr addrspace(8) %%r, i32 %%o, float %%v, "
                         "ptr addrspace(1) %%p) {\n",
                         value);
        tw_strbuf_printf(&text, calls[op], value);
        tw_strbuf_append(&text, "  ret void\n}\n");
    }
    char *assembly = llc(target, tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return assembly;
}

/* The cache bits stand behind the offset form: "buffer_load_b32 v0, v0, s[0:3], null offen th:TH_LOAD_NT". */
static void expect_spelling(const char *assembly, unsigned value, const char *spelling) {
    char label[16], expected[80];
    snprintf(label, sizeof label, "\nk%u:", value);
    const char *at = strstr(assembly, label);
    assert_non_null(at);
    at = strstr(at, "\tbuffer_");
    assert_non_null(at);
    const char *end = strchr(at, '\n'), *offen = strstr(at, " offen");
    assert_true(offen && offen < end);
    offen += strlen(" offen");
    snprintf(expected, sizeof expected, "%s%s", spelling[0] ? " " : "", spelling);
    char got[80];
    snprintf(got, sizeof got, "%.*s", (int)(end - offen), offen);
    assert_string_equal(got, expected);
}

static void spellings_are_those_of_llc(void **state) {
    (void)state;
    need_llc();
    for
        ALL_ARCHS(arch) {
            for (tw_cache_op op = TW_CACHE_LOAD; op <= TW_CACHE_ATOMIC; op++) {
                char *assembly = assemble(of(arch), op);
                for (unsigned value = 0; value < 32; value++) {
                    const char *spelling = tw_cache_policy_spelling(of(arch), op, value);
                    assert_int_equal(tw_cache_policy_check(of(arch), op, value, NULL),
                                     spelling ? TW_OK : TW_ERR_INVALID);
                    if (spelling) expect_spelling(assembly, value, spelling);
                }
                free(assembly);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masks_are_the_bits_of_the_generation),
        cmocka_unit_test(named_policies),
        cmocka_unit_test(refusals_say_why),
        cmocka_unit_test(spellings_are_those_of_llc),
    };
    return cmocka_run_group_tests_name("arch-cache-policy", tests, NULL, NULL);
}
