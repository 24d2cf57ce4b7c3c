/* Compiles of whole grids, on a family made for it: one kernel that fits, one that must spill, one that
 * cannot be built. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "instances/family.h"
#include "instances/grid.h"
#include "ir/build.h"
#include "tests/llvm_compiler.h"

typedef struct toy_spec {
    int32_t live, unroll;
} toy_spec;

static const tw_field toy_fields[] = {TW_FIELD_INT_ROW(live, "_l", 1, 256, 1, "values that are live at once")
                                          TW_FIELD_INT_ROW(unroll, "_u", 1, 4, 1, "nothing")};
TW_FIELD_TABLE_CHECK(toy_spec, toy_fields);

static tw_status toy_validate(const int32_t *spec, tw_target target, tw_diag *diag) {
    (void)target;
    return spec[1] == 3 ? tw_fail(diag, TW_ERR_INVALID, "unroll must not be 3 (got 3)") : TW_OK;
}

/* All values are loaded before the first is stored, and memory may be the same: none can be loaded later. */
static tw_kernel *toy_build(tw_context *ctx, const int32_t *spec, tw_target target, const char *name) {
    const tw_kernel_options options = {.workgroup_size = 1024};
    tw_value values[256];
    if (spec[1] == 4) {
        tw_fail(tw_context_diag(ctx), TW_ERR_INVALID, "nobody knows how");
        return NULL;
    }
    tw_builder *b = tw_kernel_begin(ctx, name, target, &options);
    tw_value from = tw_param_ptr(b, "from", TW_F32, 0), to = tw_param_ptr(b, "to", TW_F32, 0);
    tw_value tid = tw_workitem_id(b, 0);
    for (int i = 0; i < spec[0]; i++) {
        tw_value step = tw_i32(b, 1024 * i);
        tw_value at = tw_add(b, tid, step);
        values[i] = tw_global_load(b, tw_type_scalar(TW_F32), from, at, 0);
    }
    for (int i = spec[0]; i-- > 0;) {
        tw_value step = tw_i32(b, 1024 * i);
        tw_value at = tw_add(b, tid, step);
        tw_global_store(b, values[i], to, at, 0);
    }
    return tw_kernel_end(b);
}

static const char *const lives[] = {"live=2", "live=160", NULL};
static const char *const unrolls[] = {"unroll=1", "unroll=2", "unroll=3", "unroll=4", NULL};
static const char *const *const toy_axes[] = {lives, unrolls, NULL};

static const tw_family toy = {
    .name = "toy",
    .doc = "loads and stores",
    .spec = TW_FIELD_TABLE(toy_fields),
    .axes = toy_axes,
    .validate = toy_validate,
    .build = toy_build,
};

typedef struct seen {
    size_t count, spilling, failed;
    char error[64], last[64];
} seen;

static void see(void *user, const tw_grid_kernel *kernel) {
    seen *s = user;
    s->count++;
    snprintf(s->last, sizeof s->last, "%s", kernel->label);
    if (kernel->info) {
        s->spilling += tw_kernel_spills(kernel->info);
    } else {
        s->failed++;
        snprintf(s->error, sizeof s->error, "%s", kernel->error);
    }
}

static tw_grid_counts sweep(const char *const *words, size_t word_count, size_t first, size_t step,
                            unsigned jobs, seen *s) {
    tw_grid_sweep what = {.compiler = compiler,
                          .jobs = jobs,
                          .words = words,
                          .word_count = word_count,
                          .first = first,
                          .step = step,
                          .visit = see,
                          .user = s};
    tw_grid_counts counts;
    *s = (seen){0};
    assert_int_equal(tw_target_parse("gfx1250", &what.target, NULL), TW_OK);
    assert_int_equal(tw_grid_compile(&toy, &what, &counts, NULL), TW_OK);
    return counts;
}

static void counts_what_spills(void **state) {
    (void)state;
    seen s;
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        const tw_grid_counts counts = sweep(NULL, 0, 0, 0, jobs, &s);
        assert_int_equal(counts.configurations, 6); /* unroll=3 is refused */
        assert_int_equal(counts.compiled, 4);
        assert_int_equal(counts.spilling, 2);
        assert_true(counts.vgpr_spills > 20);
        assert_true(counts.scratch_bytes > 80);
        assert_int_equal(counts.sgpr_spills, 0);
        assert_int_equal(counts.most_vgprs, 128);
        assert_true(counts.nanoseconds > 1000000);
        assert_int_equal(s.count, 6);
        assert_int_equal(s.spilling, 2);
        assert_int_equal(s.failed, 2);
        assert_string_equal(s.error, "nobody knows how");
    }
}

static void each_kind_of_spill_counts(void **state) {
    (void)state;
    assert_false(tw_kernel_spills(&(tw_kernel_info){.vgprs = 256, .sgprs = 100, .lds_bytes = 9}));
    assert_true(tw_kernel_spills(&(tw_kernel_info){.vgpr_spills = 1}));
    assert_true(tw_kernel_spills(&(tw_kernel_info){.sgpr_spills = 1}));
    assert_true(tw_kernel_spills(&(tw_kernel_info){.scratch_bytes = 4}));
}

static void words_and_steps_narrow_it(void **state) {
    (void)state;
    static const char *const few[] = {"live=2"}, *const one[] = {"live=2", "unroll=2"};
    static const char *const none[] = {"live=3"};
    seen s;
    assert_int_equal(sweep(few, 1, 0, 0, 1, &s).configurations, 3);
    assert_int_equal(s.spilling, 0);
    assert_int_equal(sweep(one, 2, 0, 0, 1, &s).configurations, 1);
    assert_string_equal(s.last, "toy_l2_u2");
    assert_int_equal(sweep(none, 1, 0, 0, 1, &s).configurations, 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(sweep(few, 1, 1, 5, 1, &s).configurations, 1);
    assert_string_equal(s.last, "toy_l2_u2");
    assert_int_equal(sweep(few, 1, 0, 2, 1, &s).configurations, 2);
}

static void unreadable_words_are_errors(void **state) {
    (void)state;
    static const char *const words[] = {"depth=2"};
    tw_grid_sweep what = {.compiler = compiler, .words = words, .word_count = 1};
    tw_grid_counts counts;
    tw_diag *diag = tw_diag_new(NULL);
    assert_int_equal(tw_target_parse("gfx1250", &what.target, NULL), TW_OK);
    assert_int_equal(tw_grid_compile(&toy, &what, &counts, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), "a word must name a field of toy (got depth=2)");
    tw_diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_what_spills),
        cmocka_unit_test(each_kind_of_spill_counts),
        cmocka_unit_test(words_and_steps_narrow_it),
        cmocka_unit_test(unreadable_words_are_errors),
    };
    return cmocka_run_group_tests_name("grid", tests, open_compiler, close_compiler);
}
