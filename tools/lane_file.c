/* The files of tools/lane.h: a first line "# FLAVOR: IDENTITY", then a line a row. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jit/file.h"
#include "lower/flavor.h"
#include "support/fail.h"
#include "tools/lane.h"

static const char *const outcomes[] = {"",
#define TEXT(name, text) text,
                                       CLI_LANE_OUTCOMES(TEXT)
#undef TEXT
};

void cli_lane_line(const cli_lane_row *row, tw_strbuf *line) {
    tw_strbuf_printf(line, "%s %s %u %s %s %s", outcomes[row->outcome], row->target, row->spills,
                     row->integers, row->uniform, row->words);
}

static tw_status path_of(const char *directory, const char *identity, char path[4096], tw_diag *diag) {
    char *name = cli_identity_name(identity);
    if (!name) return tw_fail_no_memory(diag);
    snprintf(path, 4096, "%s/lanes/%s.txt", directory, name);
    free(name);
    return TW_OK;
}

tw_status cli_lane_write(const char *directory, const cli_lane *lane, tw_diag *diag) {
    char path[4096];
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_printf(&text, "# %s: %s\n", lane->flavor, lane->identity);
    for (size_t i = 0; i < lane->count; i++) {
        cli_lane_line(&lane->rows[i], &text);
        tw_strbuf_char(&text, '\n');
    }
    tw_status status = path_of(directory, lane->identity, path, diag);
    if (status == TW_OK && text.failed) status = tw_fail_no_memory(diag);
    if (status == TW_OK) status = tw_file_write(path, tw_strbuf_text(&text), text.length, diag);
    tw_strbuf_free(&text);
    return status;
}

static bool read_row(const char *line, cli_lane_row *row) {
    char outcome[9];
    int at = 0;
    *row = (cli_lane_row){0};
    if (sscanf(line, "%8s %63s %u %16s %16s %n", outcome, row->target, &row->spills, row->integers,
               row->uniform, &at) != 5 ||
        !at)
        return false;
    for (unsigned i = 1; i < CLI_LANE_OUTCOME_COUNT; i++)
        if (!strncmp(outcomes[i], outcome, strlen(outcome))) row->outcome = (cli_lane_outcome)i;
    int length = snprintf(row->words, sizeof row->words, "%s", line + at);
    return row->outcome != CLI_LANE_NONE && length > 0 && (size_t)length < sizeof row->words;
}

static tw_status read_path(const char *path, cli_lane *out, tw_diag *diag) {
    char *text = NULL;
    *out = (cli_lane){0};
    tw_status status = cli_read_file(path, &text, NULL, diag);
    if (status != TW_OK) return status;
    size_t lines = 1, number = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    out->rows = calloc(lines, sizeof *out->rows);
    if (!out->rows) status = tw_fail_no_memory(diag);
    char *line = text, *next = strchr(text, '\n');
    if (next) *next++ = '\0';
    if (status == TW_OK && sscanf(line, "# %15[^:]: %255[^\n]", out->flavor, out->identity) != 2)
        status = tw_fail(diag, TW_ERR_INVALID, "%s: the first line must be \"# FLAVOR: COMPILER\"", path);
    for (line = next; status == TW_OK && line && *line; line = next) {
        number++;
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        if (!read_row(line, &out->rows[out->count++]))
            status = tw_fail(diag, TW_ERR_INVALID, "%s: line %zu is no row (got %.60s)", path, number, line);
    }
    free(text);
    if (status != TW_OK) cli_lane_free(out);
    return status;
}

tw_status cli_lane_read(const char *directory, const char *identity, cli_lane *out, tw_diag *diag) {
    char path[4096];
    *out = (cli_lane){0};
    tw_status status = path_of(directory, identity, path, diag);
    return status == TW_OK ? read_path(path, out, diag) : status;
}

/* ---- tables ---- */

typedef struct lanes {
    cli_lane *items;
    size_t count;
    const cli_lane *own; /* of LLVM in this library's process: what the others are compared with */
} lanes;

static int by_flavor(const void *a, const void *b) {
    const cli_lane *x = a, *y = b;
    int order = strcmp(x->flavor, y->flavor);
    return order ? order : strcmp(x->identity, y->identity);
}

static int is_record(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".txt");
}

static tw_status read_all(const char *directory, lanes *out, tw_diag *diag) {
    char folder[4096], path[4400];
    struct dirent **entries;
    snprintf(folder, sizeof folder, "%s/lanes", directory);
    int count = scandir(folder, &entries, is_record, NULL);
    if (count < 0) return tw_fail(diag, TW_ERR_NOT_FOUND, "%s: %s", folder, strerror(errno));
    out->items = calloc(count ? (size_t)count : 1, sizeof *out->items);
    tw_status status = out->items ? TW_OK : tw_fail_no_memory(diag);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == TW_OK) status = read_path(path, &out->items[out->count], diag);
        if (status == TW_OK) out->count++;
        free(entries[i]);
    }
    free(entries);
    if (status != TW_OK) return status;
    if (!out->count) return tw_fail(diag, TW_ERR_NOT_FOUND, "%s: nothing is recorded", folder);
    qsort(out->items, out->count, sizeof *out->items, by_flavor);
    for (size_t i = 0; i < out->count; i++) {
        const char *identity = out->items[i].identity;
        if (!strncmp(identity, "llvm ", 5) && !strstr(identity, " tools")) out->own = &out->items[i];
    }
    return TW_OK;
}

const cli_lane_row *cli_lane_find(const cli_lane *lane, const cli_lane_row *like) {
    for (size_t i = 0; i < lane->count; i++)
        if (!strcmp(lane->rows[i].target, like->target) && !strcmp(lane->rows[i].words, like->words))
            return &lane->rows[i];
    return NULL;
}

typedef struct tally {
    size_t rows, lowered, linked, executed, right, shared, same_integers, same_uniform, spilled, unserved;
} tally;

static tally count_target(const cli_lane *lane, const cli_lane *own, const char *target) {
    tally t = {0};
    for (size_t i = 0; i < lane->count; i++) {
        const cli_lane_row *row = &lane->rows[i], *other;
        if (strcmp(row->target, target)) continue;
        bool linked = row->outcome == CLI_LANE_LINKED || row->outcome == CLI_LANE_RIGHT;
        t.rows++;
        t.unserved += row->outcome == CLI_LANE_UNSERVED;
        t.lowered += row->outcome != CLI_LANE_UNSERVED && row->outcome != CLI_LANE_REFUSED;
        t.linked += linked;
        t.right += row->outcome == CLI_LANE_RIGHT;
        t.spilled += row->spills > 0;
        other = own ? cli_lane_find(own, row) : NULL;
        if (row->outcome != CLI_LANE_RIGHT || !other || other->outcome != CLI_LANE_RIGHT) continue;
        t.shared++;
        t.same_integers += !strcmp(row->integers, other->integers);
        t.same_uniform += !strcmp(row->uniform, other->uniform);
    }
    return t;
}

static void print_lane(const cli_lane *lane, const cli_lane *own) {
    printf("| target | configurations | lowered | compiled and linked | right numbers | same bytes, exact "
           "sums | "
           "same bytes, rounded sums | spill |\n|---|---|---|---|---|---|---|---|\n");
    for (unsigned a = 1; a < TW_ARCH_COUNT; a++) {
        const char *name = tw_arch_get((tw_arch)a)->name;
        tally t = count_target(lane, own, name);
        if (!t.rows) continue;
        if (t.unserved == t.rows) {
            printf("| %s | %zu | the compiler does not serve the target | | | | | |\n", name, t.rows);
            continue;
        }
        printf("| %s | %zu | %zu | %zu | %zu | %zu of %zu | %zu of %zu | %zu |\n", name, t.rows, t.lowered,
               t.linked, t.right, t.same_integers, t.shared, t.same_uniform, t.shared, t.spilled);
    }
}

tw_status cli_lane_tables(const char *directory, tw_diag *diag) {
    lanes all = {0};
    tw_status status = read_all(directory, &all, diag);
    tw_flavor flavor;
    for (size_t f = 0; status == TW_OK && (flavor = tw_flavor_at(f)) != TW_FLAVOR_NONE; f++) {
        bool any = false;
        printf("### %s\n\n", tw_flavor_name(flavor));
        for (size_t i = 0; i < all.count; i++) {
            if (strcmp(all.items[i].flavor, tw_flavor_name(flavor)) != 0) continue;
            printf("%s**%s**\n\n", any ? "\n" : "", all.items[i].identity);
            print_lane(&all.items[i], all.own);
            any = true;
        }
        if (!any)
            printf("Not measured: no compiler of this release was at hand. Its text is lowered, and neither "
                   "compiled nor\nexecuted.\n");
        putchar('\n');
    }
    for (size_t i = 0; i < all.count; i++)
        cli_lane_free(&all.items[i]);
    free(all.items);
    return status;
}
