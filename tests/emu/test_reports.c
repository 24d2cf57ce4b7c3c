/* Every kind of report is provoked by a kernel whose twin stays silent, and stands in the documentation. */
#include "tests/emu/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/emu/schedule.h"
#include "run/kernarg.h"
#include "support/strbuf.h"

enum { FORGET = 1, UNWRITTEN = 2, OPTIMISED = 4, BYTES_EACH = 8192, MAX_ARGS = 8 };

typedef struct reported {
    emu_report_kind kind;
    const char *file, *kernel, *targets;
    unsigned groups, items;
    int number, silent, wrong;
    unsigned options;
    const char *text;
} reported;

static const reported ROWS[] = {
#define REPORTED(kind, file, kernel, targets, groups, items, number, silent, wrong, options, text) \
    {EMU_REPORT_##kind, #file, #kernel, targets, groups, items, number, silent, wrong, options, text},
#include "tests/emu/reports.def"
#undef REPORTED
};
enum { ROW_COUNT = sizeof ROWS / sizeof ROWS[0] };

static const char *const WHEN[EMU_REPORT_COUNT] = {
#define REPORT(kind, name, severity, when) when,
#include "run/emu/reports.def"
#undef REPORT
};

static bool is_for(const char *targets, const char *target) {
    for (const char *t = targets; *t; t += strspn(t, " ")) {
        size_t length = strcspn(t, " ");
        if (!strncmp(target, t, length)) return true;
        t += length;
    }
    return false;
}

static tw_status launch(harness *h, const reported *r, bool wrong) {
    const tw_kernel_info *info = tw_code_object_kernel(h->object, r->kernel);
    static const uint8_t zeros[BYTES_EACH];
    harness_arg args[MAX_ARGS];
    if (!info) fail_msg("no kernel '%s'", r->kernel);
    size_t count = tw_kernarg_explicit_count(info);
    unsigned pointers = 0;
    assert_true(count <= MAX_ARGS);
    for (size_t k = 0; k < count; k++) {
        char name[16];
        snprintf(name, sizeof name, "buffer %u", pointers);
        if (tw_kernarg_explicit_at(info, k)->size == 8) {
            bool unwritten = r->options & UNWRITTEN && pointers;
            args[k] = PTR(harness_buffer(h, name, unwritten ? NULL : zeros, BYTES_EACH));
            pointers++;
        } else {
            args[k] = I32(k + 1 < count ? r->number : wrong ? r->wrong : r->silent);
        }
    }
    h->forget_arguments = wrong && r->options & FORGET ? (int)pointers : 0;
    return harness_try(h, r->kernel, (tw_dim3){r->groups, 1, 1}, (tw_dim3){r->items, 1, 1}, 4 * r->items,
                       args, count);
}

static void check_row(harness *h, const reported *r) {
    char tag[40];
    snprintf(tag, sizeof tag, " [%s]", tw_emu_report_rows[r->kind].name);
    h->budget = 100000;
    h->strict_checks = TW_EMU_STRICT_STORES;
    if (launch(h, r, false) != TW_OK || strstr(tw_diag_text(h->diag), "wave "))
        fail_msg("%s(%d) is not silent:\n%s", r->kernel, r->silent, tw_diag_text(h->diag));
    tw_status status = launch(h, r, true);
    const char *said = tw_diag_text(h->diag);
    if (status != (tw_emu_report_rows[r->kind].note ? TW_OK : TW_ERR_DEVICE) || !strstr(said, tag) ||
        !strstr(said, r->text))
        fail_msg("%s(%d): '%s' and '%s' must be in:\n%s", r->kernel, r->wrong, r->text, tag, said);
}

static void check_file(harness *h, const char *file) {
    unsigned checked = 0;
    for (size_t k = 0; k < ROW_COUNT; k++) {
        const reported *r = &ROWS[k];
        if (strcmp(r->file, file) || !is_for(r->targets, h->target)) continue;
        if (r->options & OPTIMISED && !strcmp(h->level, "O0")) continue;
        check_row(h, r);
        checked++;
    }
    assert_true(checked > 0 || !strcmp(h->level, "O0"));
}

static void check_faults(harness *h) { check_file(h, "faults"); }
static void check_copies(harness *h) { check_file(h, "copies"); }
static void check_barriers(harness *h) { check_file(h, "barriers"); }

/* ---- the table of the documentation ---- */

static char *read_text(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be read", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    assert_true(length > 0);
    return text;
}

static void every_kind_is_documented_and_provoked(void **state) {
    (void)state;
    char *doc = read_text(DOCUMENT);
    unsigned missing = 0;
    for (unsigned kind = 0; kind < EMU_REPORT_COUNT; kind++) {
        tw_strbuf line;
        unsigned rows = 0;
        tw_strbuf_init(&line, NULL);
        tw_strbuf_printf(&line, "| `%s` | %s |", tw_emu_report_rows[kind].name, WHEN[kind]);
        for (size_t k = 0; k < ROW_COUNT; k++) {
            const reported *r = &ROWS[k], *before = k ? r - 1 : r;
            if (r->kind != kind) continue;
            bool again = rows && before->kind == r->kind && before->wrong == r->wrong &&
                         !strcmp(before->kernel, r->kernel);
            if (!again) tw_strbuf_printf(&line, "%s `%s(%d)`", rows ? "," : "", r->kernel, r->wrong);
            rows++;
        }
        tw_strbuf_append(&line, " |\n");
        if (!rows) print_error("nothing provokes '%s'\n", tw_emu_report_rows[kind].name);
        if (!strstr(doc, tw_strbuf_text(&line)))
            print_error("docs/emulator.md must have this line:\n%s", tw_strbuf_text(&line));
        missing += !rows || !strstr(doc, tw_strbuf_text(&line));
        tw_strbuf_free(&line);
    }
    free(doc);
    assert_int_equal(missing, 0);
}

int main(void) {
    static const harness_case FAULTS[] = {{"faults", "faults", check_faults}};
    static const harness_case COPIES[] = {{"copies", "copies", check_copies}};
    static const harness_case BARRIERS[] = {{"barriers", "barriers", check_barriers}};
    const struct CMUnitTest table[] = {cmocka_unit_test(every_kind_is_documented_and_provoked)};
    int failed = cmocka_run_group_tests(table, NULL, NULL);
    failed += harness_main_on("gfx", FAULTS, 1);
    failed += harness_main_on("gfx9", COPIES, 1) + harness_main_on("gfx1250", COPIES, 1);
    return failed + harness_main_on("gfx12", BARRIERS, 1);
}
