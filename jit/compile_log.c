#include "jit/compile_log.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"

typedef struct log_word {
    const char *text;
    tw_severity severity;
} log_word;
static const log_word words[] = {{"error: ", TW_SEVERITY_ERROR},
                                 {"LLVM ERROR: ", TW_SEVERITY_ERROR},
                                 {"warning: ", TW_SEVERITY_WARNING},
                                 {"note: ", TW_SEVERITY_NOTE}};

/* The number before `*end`, which moves in front of it and of the colon before it. */
static bool number_before(const char *begin, const char **end, unsigned *number) {
    const char *at = *end;
    while (at > begin && isdigit((unsigned char)at[-1]))
        at--;
    if (at == *end || at == begin || at[-1] != ':') return false;
    *number = (unsigned)strtoul(at, NULL, 10);
    *end = at - 1;
    return true;
}

/* "FILE:LINE:COLUMN: " in front of `word`. */
static void find_place(const char *line, const char *word, unsigned *row, unsigned *column) {
    const char *end = word - 2;
    *row = *column = 0;
    if (word - line < 2 || end[0] != ':' || !number_before(line, &end, column) ||
        !number_before(line, &end, row))
        *row = *column = 0;
}

static bool report_line(const char *line, const char *identity, tw_diag *diag) {
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *word = strstr(line, words[i].text);
        if (!word || (word > line && word[-1] != ' ')) continue;
        const char *text = word + strlen(words[i].text);
        unsigned row, column;
        find_place(line, word, &row, &column);
        switch (words[i].severity) {
        case TW_SEVERITY_ERROR:
            tw_fail_at(diag, TW_ERR_COMPILE, row ? "kernel.ll" : identity, row, column, "%s", text);
            return true;
        case TW_SEVERITY_WARNING: tw_warn(diag, identity, "%s", text); return false;
        default: tw_note(diag, identity, "%s", text); return false;
        }
    }
    return false;
}

size_t tw_compile_log_report(char *log, const char *identity, tw_diag *diag) {
    size_t errors = 0;
    for (char *line = log, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        errors += report_line(line, identity, diag);
    }
    return errors;
}
