#include "tools/golden_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "jit/file.h"
#include "support/fail.h"
#include "support/strbuf.h"

/* The texts of all flavors of a kernel are nearly alike; a long window makes them nearly free. */
enum { LEVEL = 12, WINDOW_LOG = 27 };
#define TEXTS_LIMIT ((size_t)1 << 30)

tw_status cli_goldens_add(cli_goldens *goldens, char *key, char *text, size_t length, bool refused,
                          tw_diag *diag) {
    if (goldens->count == goldens->capacity) {
        size_t capacity = goldens->capacity ? goldens->capacity * 2 : 64;
        cli_golden *items = realloc(goldens->items, capacity * sizeof *items);
        if (!items) {
            free(key);
            free(text);
            return tw_fail_no_memory(diag);
        }
        goldens->items = items;
        goldens->capacity = capacity;
    }
    cli_golden *item = &goldens->items[goldens->count++];
    *item = (cli_golden){.key = key, .text = text, .length = length, .refused = refused};
    cli_hash(text, length, item->hash);
    return TW_OK;
}

static int compare(const void *a, const void *b) {
    return strcmp(((const cli_golden *)a)->key, ((const cli_golden *)b)->key);
}

void cli_goldens_sort(cli_goldens *goldens) {
    if (goldens->count) qsort(goldens->items, goldens->count, sizeof *goldens->items, compare);
}

const cli_golden *cli_goldens_find(const cli_goldens *goldens, const char *key) {
    cli_golden wanted = {.key = (char *)key};
    return goldens->count ? bsearch(&wanted, goldens->items, goldens->count, sizeof *goldens->items, compare)
                          : NULL;
}

void cli_goldens_free(cli_goldens *goldens) {
    for (size_t i = 0; i < goldens->count; i++) {
        free(goldens->items[i].key);
        free(goldens->items[i].text);
    }
    free(goldens->items);
    *goldens = (cli_goldens){0};
}

/* ---- texts.zst: for each golden "refused|text LENGTH KEY\n" and LENGTH bytes and "\n" ---- */

static tw_status decompress(const char *path, const char *packed, size_t packed_size, char **out,
                            size_t *size, tw_diag *diag) {
    unsigned long long full = ZSTD_getFrameContentSize(packed, packed_size);
    if (full == ZSTD_CONTENTSIZE_UNKNOWN || full == ZSTD_CONTENTSIZE_ERROR || full > TEXTS_LIMIT)
        return tw_fail(diag, TW_ERR_INVALID, "%s: not a zstd frame of at most %zu bytes", path, TEXTS_LIMIT);
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    *out = malloc((size_t)full + 1);
    if (!ctx || !*out) {
        ZSTD_freeDCtx(ctx);
        return tw_fail_no_memory(diag);
    }
    ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, WINDOW_LOG);
    *size = ZSTD_decompressDCtx(ctx, *out, (size_t)full, packed, packed_size);
    ZSTD_freeDCtx(ctx);
    if (ZSTD_isError(*size)) return tw_fail(diag, TW_ERR_INVALID, "%s: %s", path, ZSTD_getErrorName(*size));
    (*out)[*size] = '\0';
    return TW_OK;
}

static tw_status split_texts(const char *path, const char *bytes, size_t size, cli_goldens *out,
                             tw_diag *diag) {
    const char *at = bytes, *end = bytes + size;
    while (at < end) {
        bool refused = strncmp(at, "refused ", 8) == 0;
        if (!refused && strncmp(at, "text ", 5) != 0) break;
        char *after;
        uintmax_t length = strtoumax(at + (refused ? 8 : 5), &after, 10);
        const char *newline = memchr(after, '\n', (size_t)(end - after));
        if (*after != ' ' || !newline || length > (size_t)(end - newline) - 1) break;
        char *key = strndup(after + 1, (size_t)(newline - after - 1));
        char *text = malloc(length + 1);
        if (!key || !text) {
            free(key);
            free(text);
            return tw_fail_no_memory(diag);
        }
        memcpy(text, newline + 1, length);
        text[length] = '\0';
        tw_status status = cli_goldens_add(out, key, text, length, refused, diag);
        if (status != TW_OK) return status;
        at = newline + 1 + length + 1;
    }
    return at == end ? TW_OK
                     : tw_fail(diag, TW_ERR_INVALID, "%s: damaged at byte %zu", path, (size_t)(at - bytes));
}

static void append_hash_line(tw_strbuf *lines, const cli_golden *golden) {
    tw_strbuf_printf(lines, "%s %s %s\n", golden->hash, golden->refused ? "refused" : "text   ", golden->key);
}

tw_status cli_goldens_read(const char *directory, cli_goldens *out, tw_diag *diag) {
    char path[4096], *packed = NULL, *bytes = NULL, *recorded = NULL;
    size_t packed_size = 0, size = 0, recorded_size = 0;
    *out = (cli_goldens){0};
    snprintf(path, sizeof path, "%s/texts.zst", directory);
    tw_status status = cli_read_file(path, &packed, &packed_size, diag);
    if (status == TW_OK) status = decompress(path, packed, packed_size, &bytes, &size, diag);
    if (status == TW_OK) status = split_texts(path, bytes, size, out, diag);
    free(packed);
    free(bytes);
    cli_goldens_sort(out);
    /* The two files say the same, or one of them was edited alone. */
    snprintf(path, sizeof path, "%s/hashes.txt", directory);
    if (status == TW_OK) status = cli_read_file(path, &recorded, &recorded_size, diag);
    if (status == TW_OK) {
        tw_strbuf lines;
        tw_strbuf_init(&lines, NULL);
        for (size_t i = 0; i < out->count; i++)
            append_hash_line(&lines, &out->items[i]);
        if (lines.length != recorded_size || memcmp(tw_strbuf_text(&lines), recorded, recorded_size) != 0)
            status = tw_fail(diag, TW_ERR_INVALID,
                             "%s does not hold the hashes of texts.zst: record them together", path);
        tw_strbuf_free(&lines);
    }
    free(recorded);
    if (status != TW_OK) cli_goldens_free(out);
    return status;
}

static tw_status write_file(const char *directory, const char *name, const void *bytes, size_t size,
                            tw_diag *diag) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return tw_file_write(path, bytes, size, diag);
}

tw_status cli_goldens_write(const char *directory, const cli_goldens *goldens, tw_diag *diag) {
    tw_strbuf lines, texts;
    tw_strbuf_init(&lines, NULL);
    tw_strbuf_init(&texts, NULL);
    for (size_t i = 0; i < goldens->count; i++) {
        const cli_golden *g = &goldens->items[i];
        append_hash_line(&lines, g);
        tw_strbuf_printf(&texts, "%s %zu %s\n", g->refused ? "refused" : "text", g->length, g->key);
        tw_strbuf_append_n(&texts, g->text, g->length);
        tw_strbuf_char(&texts, '\n');
    }
    size_t bound = ZSTD_compressBound(texts.length);
    void *packed = malloc(bound);
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    tw_status status = TW_OK;
    if (!packed || !ctx || lines.failed || texts.failed) {
        status = tw_fail_no_memory(diag);
    } else {
        ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(ctx, ZSTD_c_enableLongDistanceMatching, 1);
        ZSTD_CCtx_setParameter(ctx, ZSTD_c_windowLog, WINDOW_LOG);
        size_t size = ZSTD_compress2(ctx, packed, bound, tw_strbuf_text(&texts), texts.length);
        if (ZSTD_isError(size)) status = tw_fail(diag, TW_ERR_IO, "texts.zst: %s", ZSTD_getErrorName(size));
        if (status == TW_OK) status = write_file(directory, "texts.zst", packed, size, diag);
        if (status == TW_OK)
            status = write_file(directory, "hashes.txt", tw_strbuf_text(&lines), lines.length, diag);
    }
    ZSTD_freeCCtx(ctx);
    free(packed);
    tw_strbuf_free(&lines);
    tw_strbuf_free(&texts);
    return status;
}
