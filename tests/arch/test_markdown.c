/* docs/targets.md holds the tables that the code gives. Its path is the first argument. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/markdown.h"
#include "tests/test.h"

static const char *path;

static char *read_file(const char *name) {
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    char part[4096];
    size_t got;
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        tw_strbuf_append_n(&text, part, got);
    fclose(file);
    char *all = tw_strbuf_take(&text, NULL);
    assert_non_null(all);
    return all;
}

static void the_document_is_up_to_date(void **state) {
    (void)state;
    char *document = read_file(path);
    char *begin = strstr(document, TW_ARCH_MARKDOWN_BEGIN);
    assert_non_null(begin);
    begin += strlen(TW_ARCH_MARKDOWN_BEGIN);
    char *end = strstr(begin, TW_ARCH_MARKDOWN_END);
    assert_non_null(end);
    *end = '\0';
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_arch_markdown(&text);
    assert_false(text.failed);
    assert_string_equal(begin, tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    free(document);
}

/* Every row of a table has as many cells as its title line. */
static void tables_are_regular(void **state) {
    (void)state;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_arch_markdown(&text);
    unsigned columns = 0, tables = 0;
    const char *line = tw_strbuf_text(&text);
    for (const char *end; (end = strchr(line, '\n')); line = end + 1) {
        unsigned bars = 0;
        for (const char *c = line; c < end; c++)
            bars += *c == '|';
        if (!columns) tables += bars > 0;
        assert_true(!columns || !bars || bars == columns);
        columns = bars;
    }
    assert_int_equal(tables, 2 + 1 + 1 + 4 + 1 + 2);
    tw_strbuf_free(&text);
}

int main(int argc, char **argv) {
    if (argc != 2) return 1;
    path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_is_up_to_date),
        cmocka_unit_test(tables_are_regular),
    };
    return cmocka_run_group_tests_name("arch-markdown", tests, NULL, NULL);
}
