#include "tests/fuzz_lower/merge.h"

#include <ctype.h>
#include <string.h>

#define NODES 1000 /* metadata numbers of a kernel */

/* The line without its end stands in the module already. */
static bool has_line(const tw_strbuf *out, const char *line, size_t length) {
    for (const char *at = tw_strbuf_text(out); at; at = strchr(at, '\n')) {
        if (*at == '\n') at++;
        if (!strncmp(at, line, length) && at[length] == '\n') return true;
    }
    return false;
}

static bool starts(const char *line, const char *word) { return !strncmp(line, word, strlen(word)); }

/* Numbers after '#' and '!' are moved; in strings there are none of these before a digit. */
static void renumbered(tw_strbuf *out, const char *line, size_t length, unsigned index) {
    for (size_t i = 0; i < length; i++) {
        tw_strbuf_char(out, line[i]);
        bool node = line[i] == '!', group = line[i] == '#';
        if ((!node && !group) || i + 1 == length || !isdigit((unsigned char)line[i + 1])) continue;
        unsigned number = 0;
        for (; i + 1 < length && isdigit((unsigned char)line[i + 1]); i++)
            number = number * 10 + (unsigned)(line[i + 1] - '0');
        tw_strbuf_printf(out, "%u", number + index * (node ? NODES : 1));
    }
}

void fuzz_merge(tw_strbuf *out, tw_strbuf *declarations, const char *text, unsigned index) {
    for (const char *line = text, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        if (line[0] == ';' || length == 0) continue;
        bool head = starts(line, "target ") || starts(line, "!llvm.module.flags");
        if (index && head) continue;
        tw_strbuf *to = out;
        if (starts(line, "declare ")) {
            if (has_line(declarations, line, length)) continue;
            to = declarations;
        }
        renumbered(to, line, length, to == out ? index : 0);
        tw_strbuf_char(to, '\n');
    }
}
