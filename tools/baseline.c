#include "tools/baseline.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/file.h"
#include "support/fail.h"

char *cli_identity_name(const char *identity) {
    tw_strbuf name;
    tw_strbuf_init(&name, NULL);
    bool dash = false; /* one is due before the next character */
    for (const char *c = identity; *c; c++) {
        bool plain = isalnum((unsigned char)*c) || strchr("._+", *c);
        if (plain && dash && name.length) tw_strbuf_char(&name, '-');
        if (plain) tw_strbuf_char(&name, *c);
        dash = !plain;
    }
    return tw_strbuf_take(&name, NULL);
}

tw_status cli_record_folder(const char *directory, const char *name, tw_diag *diag) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    return made && access(path, W_OK) == 0 ? TW_OK
                                           : tw_fail(diag, TW_ERR_IO, "%s: %s", path, strerror(errno));
}

static tw_status path_of(const char *directory, const char *identity, char path[4096], tw_diag *diag) {
    static const char tools[] = "-tools";
    char *name = cli_identity_name(identity);
    if (!name) return tw_fail_no_memory(diag);
    size_t length = strlen(name), tail = sizeof tools - 1;
    if (length > tail && !strcmp(name + length - tail, tools)) length -= tail;
    snprintf(path, 4096, "%s/identity/%.*s.txt", directory, (int)length, name);
    free(name);
    return TW_OK;
}

void cli_baseline_init(cli_baseline *out) { tw_strbuf_init(&out->lines, NULL); }

tw_status cli_baseline_read(const char *directory, const char *identity, cli_baseline *out, tw_diag *diag) {
    char path[4096], *text = NULL;
    size_t length = 0;
    cli_baseline_init(out);
    tw_status status = path_of(directory, identity, path, diag);
    if (status != TW_OK || access(path, F_OK) != 0) return status;
    status = cli_read_file(path, &text, &length, diag);
    if (status == TW_OK) tw_strbuf_append_n(&out->lines, text, length);
    free(text);
    return status;
}

void cli_baseline_add(cli_baseline *baseline, const char *hash, const char *target, const char *words) {
    tw_strbuf_printf(&baseline->lines, "%s %s %s\n", hash, target, words);
}

bool cli_baseline_find(const cli_baseline *baseline, const char *target, const char *words,
                       char hash[CLI_HASH_SIZE]) {
    enum { HASH = CLI_HASH_SIZE - 1 };
    size_t target_length = strlen(target), words_length = strlen(words);
    const char *line = baseline->lines.length ? baseline->lines.text : NULL;
    for (; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *rest = line + HASH + 1;
        if (strnlen(line, HASH + 2) < HASH + 2 || strncmp(rest, target, target_length) ||
            rest[target_length] != ' ')
            continue;
        rest += target_length + 1;
        if (strncmp(rest, words, words_length) || (rest[words_length] != '\n' && rest[words_length]))
            continue;
        memcpy(hash, line, HASH);
        hash[HASH] = '\0';
        return true;
    }
    return false;
}

tw_status cli_baseline_write(const char *directory, const char *identity, const cli_baseline *baseline,
                             tw_diag *diag) {
    char path[4096];
    tw_status status = path_of(directory, identity, path, diag);
    if (status != TW_OK) return status;
    return baseline->lines.failed ? tw_fail_no_memory(diag)
                                  : tw_file_write(path, baseline->lines.text, baseline->lines.length, diag);
}

void cli_baseline_free(cli_baseline *baseline) { tw_strbuf_free(&baseline->lines); }
