#include "tools/cli.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "jit/file.h"
#include "support/fail.h"
#include "support/sha256.h"
#include "support/strbuf.h"

enum { OPTION_JSON = 0x1000 };

static error_t parse_output(int key, char *argument, struct argp_state *state) {
    (void)argument;
    cli_output *output = state->input;
    if (key != OPTION_JSON) return ARGP_ERR_UNKNOWN;
    output->json = true;
    return 0;
}

static const struct argp_option output_options[] = {{"json", OPTION_JSON, NULL, 0, "print JSON", 0}, {0}};
const struct argp cli_output_argp = {.options = output_options, .parser = parse_output};

/* ---- standard output ---- */

static int output_error; /* the first: what comes later overwrites errno */

int cli_flush(void) {
    bool failed = ferror(stdout) != 0;
    if (!fflush(stdout) && !failed) return CLI_OK;
    if (!output_error) output_error = errno;
    return CLI_FAILED;
}

int cli_end_output(int code) {
    if (cli_flush() == CLI_OK) return code;
    fprintf(stderr, "error: standard output: %s\n", strerror(output_error));
    return code == CLI_OK ? CLI_FAILED : code;
}

/* ---- options ---- */

static bool parsing;

/* argp ends the process after --help, and does not look whether it arrived. */
static void end_help(void) {
    if (parsing && cli_end_output(CLI_OK) != CLI_OK) _exit(CLI_FAILED);
}

void cli_parse(const struct argp *argp, int argc, char **argv, void *input) {
    argp_err_exit_status = CLI_USAGE;
    parsing = !atexit(end_help);
    argp_parse(argp, argc, argv, 0, NULL, input);
    parsing = false;
}

void cli_parse_target(const char *text, tw_target *target, struct argp_state *state) {
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_target_parse(text, target, diag) != TW_OK)
        argp_error(state, "%s", diag ? tw_diag_first_error(diag) : "out of memory");
    tw_diag_free(diag);
}

int cli_usage(const char *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "tilewright %s: ", command);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\nTry 'tilewright %s --help'.\n", command);
    va_end(arguments);
    return CLI_USAGE;
}

bool cli_color(int descriptor) {
    const char *no = getenv("NO_COLOR");
    return isatty(descriptor) && !(no && *no);
}

/* ---- tables ---- */

static void format_cell(tw_strbuf *text, const json_t *value) {
    switch (json_typeof(value)) {
    case JSON_STRING: tw_strbuf_append(text, json_string_value(value)); break;
    case JSON_INTEGER: tw_strbuf_i64(text, json_integer_value(value)); break;
    case JSON_REAL: {
        char number[32];
        snprintf(number, sizeof number, "%.4g", json_real_value(value));
        tw_strbuf_append(text, number);
        break;
    }
    case JSON_TRUE: tw_strbuf_append(text, "yes"); break;
    case JSON_FALSE: tw_strbuf_append(text, "no"); break;
    case JSON_NULL: tw_strbuf_append(text, "-"); break;
    case JSON_ARRAY:
    case JSON_OBJECT: {
        size_t i;
        json_t *item;
        if (json_is_array(value)) {
            json_array_foreach(value, i, item) {
                if (i) tw_strbuf_char(text, ' ');
                format_cell(text, item);
            }
        } else {
            const char *key;
            bool first = true;
            json_object_foreach((json_t *)value, key, item) {
                tw_strbuf_printf(text, "%s%s=", first ? "" : " ", key);
                format_cell(text, item);
                first = false;
            }
        }
        break;
    }
    }
}

static int print_json(json_t *value) {
    int bad = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(6));
    putchar('\n');
    json_decref(value);
    int arrived = cli_flush();
    return bad ? CLI_FAILED : arrived;
}

static bool is_number(const json_t *value) { return json_is_number(value); }

int cli_print_table(const cli_output *output, const cli_column *columns, json_t *rows) {
    if (!rows) {
        fputs("error: out of memory\n", stderr);
        return CLI_FAILED;
    }
    if (output->json) return print_json(rows);
    enum { MAX_COLUMNS = 32 };
    size_t widths[MAX_COLUMNS] = {0}, count = 0;
    bool right[MAX_COLUMNS] = {false};
    tw_strbuf cell;
    tw_strbuf_init(&cell, NULL);
    for (; count < MAX_COLUMNS && columns[count].key; count++) {
        widths[count] = strlen(columns[count].heading);
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row) {
            const json_t *value = json_object_get(row, columns[count].key);
            if (!value) continue;
            tw_strbuf_clear(&cell);
            format_cell(&cell, value);
            if (cell.length > widths[count]) widths[count] = cell.length;
            if (is_number(value)) right[count] = true;
        }
    }
    bool color = cli_color(STDOUT_FILENO);
    if (color) fputs("\033[1m", stdout);
    for (size_t c = 0; c < count; c++) {
        int width = c + 1 == count && !right[c] ? 0 : (int)widths[c];
        printf(right[c] ? "%*s%s" : "%-*s%s", width, columns[c].heading, c + 1 == count ? "" : "  ");
    }
    fputs(color ? "\033[0m\n" : "\n", stdout);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        for (size_t c = 0; c < count; c++) {
            tw_strbuf_clear(&cell);
            const json_t *value = json_object_get(row, columns[c].key);
            if (value) format_cell(&cell, value);
            int width = c + 1 == count && !right[c] ? 0 : (int)widths[c];
            printf(right[c] ? "%*s%s" : "%-*s%s", width, tw_strbuf_text(&cell), c + 1 == count ? "" : "  ");
        }
        putchar('\n');
    }
    bool failed = cell.failed;
    tw_strbuf_free(&cell);
    json_decref(rows);
    int arrived = cli_flush();
    return failed ? CLI_FAILED : arrived;
}

int cli_print_object(const cli_output *output, json_t *object) {
    if (!object) {
        fputs("error: out of memory\n", stderr);
        return CLI_FAILED;
    }
    if (output->json) return print_json(object);
    size_t width = 0;
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) if (strlen(key) > width) width = strlen(key);
    tw_strbuf cell;
    tw_strbuf_init(&cell, NULL);
    json_object_foreach(object, key, value) {
        tw_strbuf_clear(&cell);
        format_cell(&cell, value);
        char label[64];
        snprintf(label, sizeof label, "%s", key);
        for (char *c = label; *c; c++)
            if (*c == '_') *c = ' ';
        printf("%-*s  %s\n", (int)width, label, tw_strbuf_text(&cell));
    }
    bool failed = cell.failed;
    tw_strbuf_free(&cell);
    json_decref(object);
    int arrived = cli_flush();
    return failed ? CLI_FAILED : arrived;
}

/* How many bytes the character at `text` has; 0 where it is none. */
static size_t character(const char *text) {
    for (size_t n = 1; n <= strnlen(text, 4); n++) {
        json_t *one = json_stringn(text, n);
        json_decref(one);
        if (one) return n;
    }
    return 0;
}

json_t *cli_text(const char *text) {
    json_t *whole = json_string(text);
    if (whole) return whole;
    tw_strbuf mended;
    tw_strbuf_init(&mended, NULL);
    while (*text) {
        size_t length = character(text);
        tw_strbuf_append_n(&mended, length ? text : "\xef\xbf\xbd", length ? length : 3);
        text += length ? length : 1;
    }
    whole = mended.failed ? NULL : json_string(tw_strbuf_text(&mended));
    tw_strbuf_free(&mended);
    return whole;
}

json_t *cli_real(double value) {
    if (isnan(value)) return json_string("nan");
    if (isinf(value)) return json_string(value < 0 ? "-inf" : "inf");
    return json_real(value);
}

/* ---- diagnostics ---- */

void cli_print_diag(tw_diag *diag) {
    static const char *const names[] = {"error", "warning", "note"};
    static const char *const colors[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    bool color = cli_color(STDERR_FILENO);
    for (size_t i = 0; i < tw_diag_count(diag); i++) {
        const tw_diagnostic *d = tw_diag_get(diag, i);
        if (d->where[0]) fprintf(stderr, "%s:", d->where);
        if (d->line) fprintf(stderr, "%u:%u:", (unsigned)d->line, (unsigned)d->column);
        fprintf(stderr, "%s%s%s:%s %s\n", d->where[0] || d->line ? " " : "", color ? colors[d->severity] : "",
                names[d->severity], color ? "\033[0m" : "", d->text);
    }
    tw_diag_clear(diag);
}

int cli_finish(tw_status status, tw_diag *diag) {
    if (status != TW_OK && tw_diag_count(diag) == 0) tw_fail(diag, status, "%s", tw_status_name(status));
    cli_print_diag(diag);
    return status == TW_OK ? CLI_OK : CLI_FAILED;
}

/* ---- files and numbers ---- */

tw_status cli_read_file_up_to(const char *path, size_t limit, char **text, size_t *length, tw_diag *diag) {
    bool standard_input = strcmp(path, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(path, "rb");
    if (!file)
        return tw_fail(diag, errno == ENOENT ? TW_ERR_NOT_FOUND : TW_ERR_IO, "%s: %s", path, strerror(errno));
    tw_strbuf buffer;
    tw_strbuf_init(&buffer, NULL);
    char chunk[65536];
    size_t got;
    while (!buffer.failed && buffer.length <= limit && (got = fread(chunk, 1, sizeof chunk, file)) > 0)
        tw_strbuf_append_n(&buffer, chunk, got);
    int error = ferror(file) ? errno : 0;
    if (!standard_input) fclose(file);
    if (error) {
        tw_strbuf_free(&buffer);
        return tw_fail(diag, TW_ERR_IO, "%s: %s", path, strerror(error));
    }
    if (buffer.length > limit) {
        tw_strbuf_free(&buffer);
        return tw_fail(diag, TW_ERR_LIMIT, "%s: a file must have at most %zu bytes (got more)", path, limit);
    }
    *text = tw_strbuf_take(&buffer, length);
    return *text ? TW_OK : tw_fail_no_memory(diag);
}

tw_status cli_read_file(const char *path, char **text, size_t *length, tw_diag *diag) {
    return cli_read_file_up_to(path, SIZE_MAX - 1, text, length, diag);
}

tw_status cli_write_file(const char *path, const void *bytes, size_t length, tw_diag *diag) {
    bool standard_output = !path || strcmp(path, "-") == 0;
    if (!standard_output) {
        cli_flush(); /* the path may lead there */
        return tw_file_write(path, bytes, length, diag);
    }
    if ((!length || fwrite(bytes, 1, length, stdout) == length) && !fflush(stdout)) return TW_OK;
    int error = errno;
    clearerr(stdout); /* it is reported here */
    return tw_fail(diag, TW_ERR_IO, "standard output: %s", strerror(error));
}

tw_status cli_open_device(const char *name, tw_target target, tw_device **out, tw_diag *diag) {
    char full[32 + TW_TARGET_NAME_MAX], target_name[TW_TARGET_NAME_MAX];
    if (!name) name = "auto";
    if (!strcmp(name, "auto") || !strcmp(name, "emu")) {
        tw_target_format(target, target_name);
        snprintf(full, sizeof full, "%s:%s", name, target_name);
        name = full;
    }
    tw_status status = tw_device_open(name, out, diag);
    return status == TW_ERR_INVALID ? TW_ERR_USAGE : status; /* the name says nothing */
}

void cli_hash(const void *bytes, size_t size, char hash[CLI_HASH_SIZE]) {
    uint8_t digest[TW_SHA256_BYTES];
    tw_sha256_of(bytes, size, digest);
    tw_sha256_hex(digest, hash);
}

uint64_t cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool cli_parse_u64(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)text[0])) return false;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end) return false;
    *out = value;
    return true;
}

bool cli_parse_size(const char *text, uint64_t *out) {
    size_t length = strlen(text);
    static const char units[] = "KMGT";
    const char *unit = length ? strchr(units, toupper((unsigned char)text[length - 1])) : NULL;
    char digits[32];
    if (!unit || !*unit) return cli_parse_u64(text, out);
    if (length - 1 >= sizeof digits) return false;
    memcpy(digits, text, length - 1);
    digits[length - 1] = '\0';
    unsigned shift = 10u * (unsigned)(unit - units + 1);
    if (!cli_parse_u64(digits, out) || *out > UINT64_MAX >> shift) return false;
    *out <<= shift;
    return true;
}
