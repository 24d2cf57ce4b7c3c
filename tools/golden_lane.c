#include "tools/golden_lane.h"

#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "tools/lane.h"

typedef struct counts {
    size_t rows[CLI_LANE_OUTCOME_COUNT];
    size_t changed, missing, code_changed, code_compared;
    char record[64]; /* what was compared with it */
} counts;

static void show(const char *sign, const cli_lane_row *row) {
    tw_strbuf line;
    tw_strbuf_init(&line, NULL);
    cli_lane_line(row, &line);
    fprintf(stderr, "  %s %s\n", sign, tw_strbuf_text(&line));
    tw_strbuf_free(&line);
}

/* Processors are recorded as they are by default. Of a target with features the row of its processor tells
 * the numbers: other code has to give the same. */
static const cli_lane_row *recorded_row(const cli_lane *recorded, const cli_lane_row *is, bool *same_target) {
    const cli_lane_row *was = cli_lane_find(recorded, is);
    cli_lane_row like = *is;
    like.target[strcspn(like.target, ":")] = '\0';
    *same_target = was || !strcmp(like.target, is->target);
    return was ? was : cli_lane_find(recorded, &like);
}

/* A row that failed has been told already. */
static void compare_rows(const cli_lane *made, const cli_lane *recorded, bool whole, counts *c) {
    for (size_t i = 0; i < made->count; i++) {
        bool same_target;
        const cli_lane_row *is = &made->rows[i], *was = recorded_row(recorded, is, &same_target);
        if (is->outcome == CLI_LANE_FAILED) continue;
        if (was && was->outcome == is->outcome && (was->spills == is->spills || !same_target) &&
            !strcmp(was->integers, is->integers) && !strcmp(was->uniform, is->uniform))
            continue;
        c->changed++;
        fprintf(stderr, "%s | %s: %s\n", is->words, is->target,
                was ? "differs from its record" : "not recorded");
        if (was) show("-", was);
        show("+", is);
    }
    for (size_t i = 0; whole && i < recorded->count; i++) {
        if (cli_lane_find(made, &recorded->rows[i])) continue;
        c->missing++;
        fprintf(stderr, "%s | %s: recorded, but not made any more\n", recorded->rows[i].words,
                recorded->rows[i].target);
    }
}

/* False where nothing is recorded that could be compared. */
static bool describe_record(tw_target only, counts *c) {
    const tw_arch_info *info = tw_arch_get(only.arch);
    bool other_wave = info && only.wave_size != info->wave_size;
    if (other_wave) {
        snprintf(c->record, sizeof c->record, "of %s in wave%u only", info->name, (unsigned)info->wave_size);
    } else if (only.xnack || only.sramecc) {
        snprintf(c->record, sizeof c->record, "numbers of %s compared", info->name);
    } else {
        snprintf(c->record, sizeof c->record, "compared");
    }
    return !other_wave;
}

static tw_status compare(const cli_lane_options *o, const cli_lane *made, counts *c, tw_diag *diag) {
    cli_lane recorded;
    cli_baseline baseline;
    tw_diag *quiet = tw_diag_new(NULL);
    tw_status status = cli_lane_read(o->directory, made->identity, &recorded, quiet);
    bool comparable = status == TW_OK && describe_record(o->only, c);
    if (comparable) compare_rows(made, &recorded, !o->filter && !o->only.arch, c);
    if (status == TW_OK) cli_lane_free(&recorded);
    if (status == TW_ERR_NOT_FOUND) status = TW_OK; /* another exact version than the recorded ones */
    if (status != TW_OK) tw_fail(diag, status, "%s", tw_diag_first_error(quiet));
    tw_diag_free(quiet);
    if (status == TW_OK) status = cli_baseline_read(o->directory, made->identity, &baseline, diag);
    for (size_t i = 0; status == TW_OK && i < made->count; i++) {
        const cli_lane_row *row = &made->rows[i];
        char hash[CLI_HASH_SIZE];
        if (!row->code[0] || !cli_baseline_find(&baseline, row->target, row->words, hash)) continue;
        c->code_compared++;
        if (!strcmp(hash, row->code)) continue;
        c->code_changed++;
        fprintf(stderr, "%s | %s: another code object than the recorded one\n", row->words, row->target);
    }
    if (status == TW_OK) cli_baseline_free(&baseline);
    return status;
}

/* A row's place in the order of a whole record. */
static const cli_lane_row *row_of(const cli_lane *lane, const cli_pin *pin, const tw_arch_info *info) {
    cli_lane_row like;
    tw_target_format((tw_target){info->arch, info->wave_size, 0, 0}, like.target);
    snprintf(like.words, sizeof like.words, "%s", pin->words);
    return cli_lane_find(lane, &like);
}

/* With a filter, what is recorded of the pins that it leaves out stays. */
static tw_status add_recorded(const cli_lane_options *o, cli_lane *made, tw_diag *diag) {
    cli_pins pins = {0};
    cli_lane old = {0};
    cli_baseline codes;
    cli_baseline_init(&codes);
    tw_status status = cli_pins_read(o->directory, NULL, &pins, diag);
    if (status == TW_OK) status = cli_lane_read(o->directory, made->identity, &old, diag);
    if (status == TW_OK) status = cli_baseline_read(o->directory, made->identity, &codes, diag);
    cli_lane_row *rows = status == TW_OK ? calloc(made->count + old.count + 1, sizeof *rows) : NULL;
    if (status == TW_OK && !rows) status = tw_fail_no_memory(diag);
    size_t count = 0;
    for (size_t i = 0; status == TW_OK && i < pins.count; i++)
        for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
            const tw_arch_info *info = tw_arch_get((tw_arch)a);
            const cli_lane_row *is = row_of(made, &pins.pins[i], info);
            const cli_lane_row *row = is ? is : row_of(&old, &pins.pins[i], info);
            if (!row) continue;
            rows[count] = *row;
            if (!is) cli_baseline_find(&codes, row->target, row->words, rows[count].code);
            count++;
        }
    if (status == TW_OK) {
        free(made->rows);
        made->rows = rows;
        made->count = count;
    }
    cli_baseline_free(&codes);
    cli_lane_free(&old);
    cli_pins_free(&pins);
    return status;
}

static tw_status record(const cli_lane_options *o, cli_lane *made, tw_diag *diag) {
    cli_baseline baseline;
    tw_status status = o->filter ? add_recorded(o, made, diag) : TW_OK;
    if (status != TW_OK) return status;
    cli_baseline_init(&baseline);
    for (size_t i = 0; i < made->count; i++)
        if (made->rows[i].code[0])
            cli_baseline_add(&baseline, made->rows[i].code, made->rows[i].target, made->rows[i].words);
    status = cli_lane_write(o->directory, made, diag);
    if (status == TW_OK) status = cli_baseline_write(o->directory, made->identity, &baseline, diag);
    cli_baseline_free(&baseline);
    return status;
}

static void count_rows(const cli_lane *made, counts *c) {
    for (size_t i = 0; i < made->count; i++) {
        const cli_lane_row *row = &made->rows[i];
        c->rows[row->outcome]++;
        if (row->outcome == CLI_LANE_FAILED)
            fprintf(stderr, "%s | %s: %s\n", row->words, row->target, row->reason);
    }
}

int cli_golden_lane(const cli_lane_options *o, tw_diag *diag) {
    cli_pins pins = {0};
    cli_lane made = {0};
    counts c = {.record = "none of this exact version"};
    tw_compiler *compiler = NULL;
    tw_status status = cli_pins_read(o->directory, o->filter, &pins, diag);
    if (status == TW_OK && o->record) status = cli_record_folder(o->directory, "lanes", diag);
    if (status == TW_OK && o->record) status = cli_record_folder(o->directory, "identity", diag);
    if (status == TW_OK) status = cli_compiler_open(&o->compiler, &compiler, diag);
    if (status == TW_OK) status = cli_lane_measure(&pins, o->only, compiler, o->jobs, &made, diag);
    if (status == TW_OK) count_rows(&made, &c);
    size_t done = c.rows[CLI_LANE_LINKED] + c.rows[CLI_LANE_RIGHT];
    /* A filter may select what this compiler does not serve; a whole run that compiles nothing is no check.
     */
    if (o->filter) done += c.rows[CLI_LANE_UNSERVED] + c.rows[CLI_LANE_REFUSED];
    bool bad = c.rows[CLI_LANE_FAILED] || !done;
    if (status == TW_OK && !o->record) status = compare(o, &made, &c, diag);
    if (status == TW_OK && o->record && !bad) status = record(o, &made, diag);
    if (o->record) snprintf(c.record, sizeof c.record, "written");
    bad = bad || c.changed || c.missing || c.code_changed;
    if (status == TW_OK && !done) fprintf(stderr, "error: nothing was compiled\n");
    int code = CLI_FAILED;
    if (status == TW_OK)
        code = cli_print_object(
            o->output,
            json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "result",
                      bad         ? "failed"
                      : o->record ? "recorded"
                                  : "passed",
                      "compiler", made.identity, "flavor", made.flavor, "record", c.record, "configurations",
                      (json_int_t)made.count, "unserved", (json_int_t)c.rows[CLI_LANE_UNSERVED], "refused",
                      (json_int_t)c.rows[CLI_LANE_REFUSED], "linked_only",
                      (json_int_t)c.rows[CLI_LANE_LINKED], "right_numbers",
                      (json_int_t)c.rows[CLI_LANE_RIGHT], "failed", (json_int_t)c.rows[CLI_LANE_FAILED],
                      "changed", (json_int_t)(c.changed + c.missing), "code_objects_compared",
                      (json_int_t)c.code_compared, "code_objects_differ", (json_int_t)c.code_changed));
    cli_lane_free(&made);
    tw_compiler_close(compiler);
    cli_pins_free(&pins);
    if (cli_finish(status, diag) != CLI_OK) code = CLI_FAILED;
    return bad ? CLI_FAILED : code;
}
