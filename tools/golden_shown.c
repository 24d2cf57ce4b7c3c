#include "tools/golden_shown.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "jit/file.h"
#include "support/fail.h"

/* "direct_wgrad_reduce kh=3 | gfx950 | llvm22" -> "direct_wgrad_reduce_kh=3.gfx950.llvm22.ll". */
static void file_name(const cli_golden *golden, char *name, size_t size) {
    size_t length = 0;
    for (const char *c = golden->key; *c && length + 5 < size; c++) {
        bool bar = !strncmp(c, " | ", 3);
        name[length++] = bar ? '.' : *c == ' ' ? '_' : *c;
        if (bar) c += 2;
    }
    name[length] = '\0';
    const char *stage = strrchr(golden->key, ' ');
    strcat(name, stage && !strcmp(stage, " tile") ? ".tir" : ".ll");
}

static const cli_golden *golden_of(const cli_goldens *goldens, const char *file) {
    char name[NAME_MAX + 1];
    for (size_t i = 0; i < goldens->count; i++) {
        file_name(&goldens->items[i], name, sizeof name);
        if (!strcmp(name, file)) return &goldens->items[i];
    }
    return NULL;
}

/* One file of the folder: is it what the golden says? Written anew where that is asked for. */
static tw_status visit(const char *path, const cli_golden *golden, bool write, cli_shown *out,
                       tw_diag *diag) {
    char *text = NULL;
    size_t length;
    tw_status status = cli_read_file(path, &text, &length, diag);
    if (status != TW_OK) return status;
    out->files++;
    bool same = golden && length == golden->length && !memcmp(text, golden->text, length);
    free(text);
    if (same) return TW_OK;
    out->different++;
    if (!write)
        fprintf(stderr, "%s: %s\n", path, golden ? "not the golden's text" : "no golden has this name");
    return write && golden ? tw_file_write(path, golden->text, golden->length, diag) : TW_OK;
}

tw_status cli_goldens_shown(const char *directory, const cli_goldens *goldens, bool write, cli_shown *out,
                            tw_diag *diag) {
    char folder[4096], path[sizeof folder + NAME_MAX + 1];
    *out = (cli_shown){0};
    snprintf(folder, sizeof folder, "%s/shown", directory);
    DIR *entries = opendir(folder);
    if (!entries) return TW_OK; /* a set of goldens need not show any */
    tw_status status = TW_OK;
    const struct dirent *entry;
    while (status == TW_OK && (entry = readdir(entries))) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        status = visit(path, golden_of(goldens, entry->d_name), write, out, diag);
    }
    closedir(entries);
    return status;
}
