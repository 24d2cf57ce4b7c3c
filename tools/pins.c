#include "tools/pins.h"

#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "support/strbuf.h"
#include "tools/cli.h"

/* One line to a pin: words joined by single spaces, and the same words apart. */
static tw_status read_line(const char *directory, const char *line, size_t length, cli_pin *pin,
                           tw_diag *diag) {
    tw_strbuf joined;
    tw_strbuf_init(&joined, NULL);
    *pin = (cli_pin){0};
    const char *end = memchr(line, '#', length);
    if (!end) end = line + length;
    size_t starts[CLI_MAX_WORDS], count = 0;
    while (line < end) {
        while (line < end && strchr(" \t\r", *line))
            line++;
        const char *word = line;
        while (line < end && !strchr(" \t\r", *line))
            line++;
        if (line == word) break;
        if (count == CLI_MAX_WORDS) {
            tw_strbuf_free(&joined);
            return tw_fail(diag, TW_ERR_INVALID, "a pin must have at most %d words (got more)",
                           (int)CLI_MAX_WORDS);
        }
        if (count) tw_strbuf_char(&joined, ' ');
        starts[count++] = joined.length;
        tw_strbuf_append_n(&joined, word, (size_t)(line - word));
    }
    if (count == 0) {
        tw_strbuf_free(&joined);
        return TW_OK;
    }
    pin->words = tw_strbuf_take(&joined, NULL);
    size_t size = pin->words ? strlen(pin->words) + strlen(directory) + 2 : 0;
    pin->storage = pin->words ? malloc(size) : NULL;
    if (!pin->storage) return tw_fail_no_memory(diag);
    const char *dot = strrchr(pin->words, '.');
    if (count == 1 && dot && !strcmp(dot, ".tir")) {
        snprintf(pin->storage, size, "%s/%s", directory, pin->words);
        pin->source.words[0] = pin->storage;
    } else {
        memcpy(pin->storage, pin->words, strlen(pin->words) + 1);
        for (size_t i = 0; i < count; i++) {
            pin->source.words[i] = pin->storage + starts[i];
            if (i) pin->storage[starts[i] - 1] = '\0';
        }
    }
    pin->source.word_count = count;
    return TW_OK;
}

static tw_status read_lines(const char *directory, const char *filter, char *text, cli_pins *out,
                            tw_diag *diag) {
    size_t lines = 1;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    out->pins = calloc(lines, sizeof *out->pins);
    if (!out->pins) return tw_fail_no_memory(diag);
    for (char *line = text; line;) {
        char *next = strchr(line, '\n');
        cli_pin pin;
        tw_status status =
            read_line(directory, line, next ? (size_t)(next - line) : strlen(line), &pin, diag);
        bool wanted = status == TW_OK && pin.words && (!filter || strstr(pin.words, filter));
        if (wanted) {
            out->pins[out->count++] = pin;
        } else {
            free(pin.words);
            free(pin.storage);
        }
        if (status != TW_OK) return status;
        line = next ? next + 1 : NULL;
    }
    return TW_OK;
}

tw_status cli_pins_read(const char *directory, const char *filter, cli_pins *out, tw_diag *diag) {
    *out = (cli_pins){0};
    char path[4096], *text = NULL;
    snprintf(path, sizeof path, "%s/pins.txt", directory);
    tw_status status = cli_read_file(path, &text, NULL, diag);
    if (status == TW_OK) status = read_lines(directory, filter, text, out, diag);
    free(text);
    if (status == TW_OK && out->count == 0)
        status = tw_fail(diag, TW_ERR_NOT_FOUND, "%s: no pinned configuration matches (got %s)", path,
                         filter ? filter : "an empty file");
    if (status != TW_OK) cli_pins_free(out);
    return status;
}

void cli_pins_free(cli_pins *pins) {
    for (size_t i = 0; i < pins->count; i++) {
        free(pins->pins[i].words);
        free(pins->pins[i].storage);
    }
    free(pins->pins);
    *pins = (cli_pins){0};
}

tw_kernel *cli_pin_kernel(const cli_pin *pin, tw_target target, tw_context *ctx) {
    cli_source source = pin->source;
    source.target = target;
    tw_kernel *kernel = NULL;
    if (cli_source_open(&source, tw_context_diag(ctx)) == TW_OK) kernel = cli_source_kernel(&source, ctx);
    cli_source_close(&source);
    return kernel;
}
