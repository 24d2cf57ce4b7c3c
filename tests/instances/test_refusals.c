/* The rows of tests/refusals.def: each refuses with its exact text wherever it should, every check of the
 * families has a row, and every row belongs to a check. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instances/instance.h"

enum kind { WORDS, SPEC, PLAN };

typedef struct refusal {
    const char *id;
    enum kind kind;
    const char *target, *words, *text;
} refusal;

static const refusal rows[] = {
#define REFUSAL(id, kind, target, words, text) {id, kind, target, words, text},
#include "tests/refusals.def"
#undef REFUSAL
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* The checks that are not ranges of fields. */
static const struct {
    const char *id;
    enum kind kind;
} rules[] = {
    {"words.family", WORDS},  {"words.form", WORDS}, {"words.field", WORDS}, {"words.once", WORDS},
    {"words.integer", WORDS}, {"words.i32", WORDS},  {"words.dtype", WORDS},
#define RULE(id, ...)      {"direct_wgrad_depthwise." #id, SPEC},
#define PLAN_RULE(id, ...) {"direct_wgrad_depthwise." #id, PLAN},
#include "instances/direct_wgrad_depthwise_rules.def"
#define RULE(id, ...)      {"direct_wgrad_mfma." #id, SPEC},
#define PLAN_RULE(id, ...) {"direct_wgrad_mfma." #id, PLAN},
#include "instances/direct_wgrad_mfma_rules.def"
#define PLAN_RULE(id, ...) {"direct_wgrad_mfma." #id, PLAN},
#define SLAB_RULE          PLAN_RULE
#include "instances/wgrad_dense_rules.def"
#define RULE(id, ...)            {"direct_wgrad_image." #id, SPEC},
#define IMAGE_PLAN_RULE(id, ...) {"direct_wgrad_image." #id, PLAN},
#include "instances/direct_wgrad_image_rules.def"
#define PLAN_RULE(id, ...) {"direct_wgrad_image." #id, PLAN},
#define SLAB_RULE(id, ...) {"direct_wgrad_image." #id, PLAN},
#include "instances/wgrad_dense_rules.def"
#define RULE(id, ...)              {"direct_wgrad_small_c." #id, SPEC},
#define SMALL_C_PLAN_RULE(id, ...) {"direct_wgrad_small_c." #id, PLAN},
#include "instances/direct_wgrad_small_c_rules.def"
#define PLAN_RULE(id, ...) {"direct_wgrad_small_c." #id, PLAN},
#define SLAB_RULE(id, ...) {"direct_wgrad_small_c." #id, PLAN},
#include "instances/wgrad_dense_rules.def"
#define RULE(id, ...)      {"direct_wgrad_reduce." #id, SPEC},
#define PLAN_RULE(id, ...) {"direct_wgrad_reduce." #id, PLAN},
#include "instances/direct_wgrad_reduce_rules.def"
};
enum { RULE_COUNT = sizeof rules / sizeof rules[0] };

typedef struct words {
    char text[512];
    const char *word[32];
    size_t count;
} words;

static void split(const char *text, words *out) {
    snprintf(out->text, sizeof out->text, "%s", text);
    out->count = 0;
    for (char *save, *at = strtok_r(out->text, " ", &save); at; at = strtok_r(NULL, " ", &save))
        out->word[out->count++] = at;
}

static void expect(const refusal *row, const char *where, tw_status status, const char *got) {
    if (!status) fail_msg("%s: %s accepts \"%s\"", row->id, where, row->words);
    if (strcmp(got, row->text)) fail_msg("%s: %s says \"%s\", not \"%s\"", row->id, where, got, row->text);
}

static void plan_refuses(const refusal *row, const tw_instance *instance, tw_target target) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_job *job;
    tw_status status = tw_job_new(instance, target, &job, diag);
    expect(row, "the plan", status, tw_diag_first_error(diag));
    assert_int_equal(status, TW_ERR_INVALID);
    assert_null(job);
    tw_diag_free(diag);
}

static void spec_is_refused(const refusal *row, const tw_instance *instance, tw_target target) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_status status = tw_instance_validate(instance, target, diag);
    expect(row, "the validator", status, tw_diag_first_error(diag));
    assert_int_equal(status, TW_ERR_INVALID);
    assert_int_equal(tw_diag_count(diag), 1);
    tw_diag_free(diag);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = tw_instance_build(ctx, instance, target);
    expect(row, "the builder", kernel ? TW_OK : TW_ERR_INVALID, tw_diag_first_error(tw_context_diag(ctx)));
    tw_context_free(ctx);
}

static void each_row_refuses_with_its_text(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const refusal *row = &rows[i];
        tw_target target;
        assert_int_equal(tw_target_parse(row->target, &target, NULL), TW_OK);
        words w;
        split(row->words, &w);
        tw_diag *diag = tw_diag_new(NULL);
        tw_instance instance;
        tw_status status = tw_instance_parse(w.word, w.count, &instance, diag);
        if (row->kind == WORDS) {
            expect(row, "the parser", status, tw_diag_first_error(diag));
        } else {
            if (status) fail_msg("%s: cannot be read: %s", row->id, tw_diag_first_error(diag));
            if (row->kind == SPEC) spec_is_refused(row, &instance, target);
            if (row->kind == PLAN) assert_int_equal(tw_instance_validate(&instance, target, NULL), TW_OK);
            plan_refuses(row, &instance, target);
        }
        tw_diag_free(diag);
    }
}

/* Is `id` a check, and of which kind? */
static bool is_check(const char *id, enum kind kind) {
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (!strcmp(rules[i].id, id)) return rules[i].kind == kind;
    const char *dot = strchr(id, '.');
    if (!dot) return false;
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)(dot - id), id);
    const tw_family *family = tw_family_find(name);
    if (!family) return false;
    tw_field_table table = kind == SPEC ? tw_family_spec_fields(family) : tw_family_problem_fields(family);
    return kind != WORDS && tw_field_find(table, dot + 1, strlen(dot + 1)) >= 0;
}

static bool has_row(const char *id) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!strcmp(rows[i].id, id)) return true;
    return false;
}

static void fields_have_rows(const tw_family *family, tw_field_table table) {
    for (uint32_t i = 0; i < table.count; i++) {
        char id[128];
        snprintf(id, sizeof id, "%s.%s", tw_family_name(family), table.fields[i].name);
        if (!has_row(id)) fail_msg("no row for the range of %s", id);
    }
}

static void every_check_has_a_row_and_every_row_a_check(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (!is_check(rows[i].id, rows[i].kind))
            fail_msg("row %s belongs to no check of its kind", rows[i].id);
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (!has_row(rules[i].id)) fail_msg("no row for the rule %s", rules[i].id);
    for (size_t i = 0; i < tw_family_count(); i++) {
        fields_have_rows(tw_family_at(i), tw_family_spec_fields(tw_family_at(i)));
        fields_have_rows(tw_family_at(i), tw_family_problem_fields(tw_family_at(i)));
    }
}

static size_t count_in_file(const char *path, const char *text) {
    char full[512];
    snprintf(full, sizeof full, "%s/%s", SOURCE_ROOT, path);
    FILE *file = fopen(full, "r");
    assert_non_null(file);
    size_t count = 0;
    for (char line[4096]; fgets(line, sizeof line, file);)
        for (char *at = line; (at = strstr(at, text)); at++)
            count++;
    fclose(file);
    return count;
}

/* A refusal that is written without a rule's row would escape the test above. */
static void no_check_stands_outside_the_tables(void **state) {
    (void)state;
    size_t words_checks = 0;
    for (size_t i = 0; i < RULE_COUNT; i++)
        words_checks += rules[i].kind == WORDS;
    /* field.c: the range's text serves tw_field_check and words.dtype. */
    assert_int_equal(count_in_file("instances/words.c", "tw_fail(") +
                         count_in_file("instances/field.c", "tw_fail("),
                     words_checks);
    static const char *const files[] = {
        "instances/direct_wgrad_depthwise.c", "instances/direct_wgrad_image.c",
        "instances/direct_wgrad_mfma.c",      "instances/direct_wgrad_reduce.c",
        "instances/direct_wgrad_small_c.c",   "instances/wgrad_dense.c"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_int_equal(count_in_file(files[i], "tw_fail("), 0);
}

static void an_unknown_target_is_misuse(void **state) {
    (void)state;
    tw_instance instance;
    tw_instance_init(tw_family_at(0), &instance);
    tw_diag *diag = tw_diag_new(NULL);
    assert_int_equal(tw_instance_validate(&instance, (tw_target){0}, diag), TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(diag), "the target must name an architecture (got 0)");
    tw_diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_refuses_with_its_text),
        cmocka_unit_test(every_check_has_a_row_and_every_row_a_check),
        cmocka_unit_test(no_check_stands_outside_the_tables),
        cmocka_unit_test(an_unknown_target_is_misuse),
    };
    return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}
