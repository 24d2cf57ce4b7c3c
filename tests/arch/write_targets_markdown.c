/* Puts the generated tables into docs/targets.md: the path is the first argument. */
#include <stdio.h>
#include <string.h>

#include "arch/markdown.h"

static bool read_all(FILE *file, tw_strbuf *text) {
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        tw_strbuf_append_n(text, part, got);
    return !ferror(file);
}

static int fail(const char *what) {
    fprintf(stderr, "write_targets_markdown: %s\n", what);
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 2) return fail("usage: write_targets_markdown FILE");
    tw_strbuf before, after;
    tw_strbuf_init(&before, NULL);
    tw_strbuf_init(&after, NULL);
    FILE *file = fopen(argv[1], "rb");
    if (!file || !read_all(file, &before)) return fail("cannot read the file");
    fclose(file);
    const char *begin = strstr(tw_strbuf_text(&before), TW_ARCH_MARKDOWN_BEGIN);
    const char *end = strstr(tw_strbuf_text(&before), TW_ARCH_MARKDOWN_END);
    if (!begin || !end) return fail("the file has no place for the tables");
    begin += strlen(TW_ARCH_MARKDOWN_BEGIN);
    tw_strbuf_append_n(&after, tw_strbuf_text(&before), (size_t)(begin - tw_strbuf_text(&before)));
    tw_arch_markdown(&after);
    tw_strbuf_append(&after, end);
    if (before.failed || after.failed) return fail("out of memory");
    file = fopen(argv[1], "wb");
    if (!file || fputs(tw_strbuf_text(&after), file) == EOF || fclose(file))
        return fail("cannot write the file");
    tw_strbuf_free(&before);
    tw_strbuf_free(&after);
    return 0;
}
