#include "jit/loader_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool sets(const char *variable, const char *name) {
    size_t length = strlen(name);
    return !strncmp(variable, name, length) && variable[length] == '=';
}

const char **tw_loader_environment(void) {
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    const char **variables = calloc(count + 2, sizeof *variables);
    if (!variables) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!sets(environ[i], "LD_DEBUG") && !sets(environ[i], "LD_DEBUG_OUTPUT"))
            variables[kept++] = environ[i];
    variables[kept] = "LD_DEBUG=files";
    return variables;
}

void tw_loader_add_path(tw_strbuf *paths, const char *path, size_t length) {
    const char *end = paths->text + paths->length;
    for (const char *known = paths->text; known < end; known += strlen(known) + 1)
        if (strlen(known) == length && !memcmp(known, path, length)) return;
    tw_strbuf_append_n(paths, path, length);
    tw_strbuf_append_n(paths, "", 1);
}

/* A name as a shell looks it up. One that is not found stays, and cannot be read later. */
static void add_program(tw_strbuf *paths, const char *name, size_t length) {
    char path[4096];
    const char *folder = memchr(name, '/', length) ? NULL : getenv("PATH");
    for (; folder && *folder; folder += *folder == ':') {
        int part = (int)strcspn(folder, ":");
        int got = snprintf(path, sizeof path, "%.*s/%.*s", part, folder, (int)length, name);
        folder += part;
        if (got > 0 && (size_t)got < sizeof path && !access(path, X_OK)) {
            tw_loader_add_path(paths, path, (size_t)got);
            return;
        }
    }
    tw_loader_add_path(paths, name, length);
}

/* "     23208:\tcalling init: /lib/libc.so.6": what follows the tab; NULL for a line that is not the
 * loader's. */
static const char *text_of_loader(const char *line) {
    const char *at = line + strspn(line, " ");
    size_t digits = strspn(at, "0123456789");
    return digits && at[digits] == ':' && at[digits + 1] == '\t' ? at + digits + 2 : NULL;
}

bool tw_loader_take_report(char *words, tw_strbuf *paths) {
    static const char library[] = "calling init: ", program[] = "initialize program: ";
    bool any = false;
    char *kept = words;
    for (char *line = words, *next; *line; line = next) {
        size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        const char *text = text_of_loader(line);
        if (!text) {
            memmove(kept, line, (size_t)(next - line));
            kept += next - line;
            continue;
        }
        size_t rest = (size_t)(line + length - text);
        if (rest > sizeof library - 1 && !memcmp(text, library, sizeof library - 1))
            tw_loader_add_path(paths, text + sizeof library - 1, rest - (sizeof library - 1));
        if (rest > sizeof program - 1 && !memcmp(text, program, sizeof program - 1)) {
            add_program(paths, text + sizeof program - 1, rest - (sizeof program - 1));
            any = true;
        }
    }
    *kept = '\0';
    return any;
}
