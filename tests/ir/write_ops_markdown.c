/* Writes docs/ops.md: the path is the first argument. */
#include <stdio.h>

#include "ir/ops_markdown.h"

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: %s FILE\n", argv[0]);
        return 2;
    }
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_ops_markdown(&text);
    FILE *file = fopen(argv[1], "wb");
    bool ok = file && !text.failed && fwrite(tw_strbuf_text(&text), 1, text.length, file) == text.length;
    if (file && fclose(file)) ok = false;
    tw_strbuf_free(&text);
    if (!ok) perror(argv[1]);
    return !ok;
}
