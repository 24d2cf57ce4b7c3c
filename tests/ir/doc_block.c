#include "tests/ir/doc_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX 65536

char *doc_block(const char *path, size_t index) {
    static const char open[] = "```tir\n";
    char *text = calloc(1, FILE_MAX);
    FILE *file = fopen(path, "rb");
    size_t length = file && text ? fread(text, 1, FILE_MAX - 1, file) : 0;
    if (file) fclose(file);
    char *at = length ? strstr(text, open) : NULL;
    while (at && index--)
        at = strstr(at + 1, open);
    char *end = at ? strstr(at + sizeof open - 1, "```") : NULL;
    char *block = end ? strndup(at + sizeof open - 1, (size_t)(end - at) - (sizeof open - 1)) : NULL;
    free(text);
    return block;
}
