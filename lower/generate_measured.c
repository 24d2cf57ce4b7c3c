/* Writes lower/measured.h's tables as C: generate_measured OUTPUT FILE..., the files being
 * arch/intrinsics.<flavor>.json. Runs while the library is built, so it uses nothing of it but its tables. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/measured.h"

typedef struct row {
    const char *key, *name, *result, *arguments;
    bool generic;
} row;

#define ON(NAME) 0
static const row rows[] = {
#define INTRINSIC(KEY, first, last, name, result, arguments, targets) {#KEY, name, result, arguments, false},
#define ALSO(KEY, first, last, name, result, arguments, targets)      {#KEY, name, result, arguments, false},
#define GENERIC(KEY, first, last, name, result, arguments, overload)  {#KEY, name, result, arguments, true},
#define GENERIC_ALSO(KEY, first, last, name, result, arguments, overload) \
    {#KEY, name, result, arguments, true},
#include "lower/intrinsics.def"
};
#undef ON
#define ROWS (sizeof rows / sizeof rows[0])

static const char *const targets[] = {
    "none",
#define TARGET(NAME, name, ...) name,
#include "arch/targets.def"
};

static const char *const flavors[] = {
#define FLAVOR(NAME, ...) #NAME,
#include "lower/flavors.def"
};
#define FLAVORS (sizeof flavors / sizeof flavors[0])

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static bool is_flavor(const char *upper, const char *lower) { return *lower && !strcasecmp(upper, lower); }

/* A word that is none of ours ends the build: it would be taken for "not measured", which is believed. */
static tw_measured status_of(const json_t *measured, unsigned arch) {
    const json_t *status = json_object_get(measured, "status");
    const char *word =
        json_string_value(json_is_object(status) ? json_object_get(status, targets[arch]) : status);
#define STATUS(NAME, text, meaning) \
    if (word && !strcmp(word, text)) return TW_MEASURED_##NAME;
    TW_MEASURED_LIST(STATUS)
#undef STATUS
    fprintf(stderr, "generate_measured: %s: no such status for %s (got %s)\n", text_of(measured, "name"),
            targets[arch], word ? word : "none");
    exit(1);
}

/* A generic row was measured with several types: all of them work, or the first that does not speaks for it.
 */
static tw_measured find(const json_t *file, const row *r, unsigned arch) {
    tw_measured found = TW_MEASURED_NOT_MEASURED;
    size_t i;
    json_t *measured;
    json_array_foreach(json_object_get(file, "intrinsics"), i, measured) {
        const char *name = text_of(measured, r->generic ? "generic" : "name");
        if (strcmp(text_of(measured, "key"), r->key) || strcmp(name, r->name)) continue;
        if (!r->generic && (strcmp(text_of(measured, "result"), r->result) ||
                            strcmp(text_of(measured, "arguments"), r->arguments)))
            continue;
        tw_measured status = status_of(measured, arch);
        if (status != TW_MEASURED_OK) return status;
        found = status;
    }
    return found;
}

static void write_flavor(FILE *out, const json_t *file, const char *flavor) {
    if (!file) return;
    fprintf(out, "static const uint8_t %s[] = {\n", flavor);
    for (size_t r = 0; r < ROWS; r++) {
        fputs("   ", out);
        for (unsigned arch = 0; arch < TW_ARCH_COUNT; arch++)
            fprintf(out, " %u,", arch ? (unsigned)find(file, &rows[r], arch) : 0);
        fprintf(out, " /* %s */\n", rows[r].name);
    }
    fputs("};\n", out);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    json_t *files[FLAVORS] = {NULL};
    for (int i = 2; i < argc; i++) {
        json_error_t error;
        json_t *file = json_load_file(argv[i], JSON_REJECT_DUPLICATES, &error);
        size_t flavor = 0;
        while (file && flavor < FLAVORS && !is_flavor(flavors[flavor], text_of(file, "flavor")))
            flavor++;
        if (!file || flavor == FLAVORS) {
            fprintf(stderr, "generate_measured: %s: %s\n", argv[i], file ? "no such flavor" : error.text);
            return 1;
        }
        files[flavor] = file;
    }
    FILE *out = fopen(argv[1], "w");
    if (!out) return 1;
    fputs("#include \"lower/measured.h\"\n\n", out);
    for (size_t i = 0; i < FLAVORS; i++)
        write_flavor(out, files[i], flavors[i]);
    fputs("const char *const tw_measured_versions[] = {\n", out);
    for (size_t i = 0; i < FLAVORS; i++)
        files[i] ? fprintf(out, "    \"%s\",\n", text_of(files[i], "version")) : fputs("    NULL,\n", out);
    fputs("};\nconst uint8_t *const tw_measured_tables[] = {\n", out);
    for (size_t i = 0; i < FLAVORS; i++)
        fprintf(out, "    %s,\n", files[i] ? flavors[i] : "NULL");
    fputs("};\n", out);
    for (size_t i = 0; i < FLAVORS; i++)
        json_decref(files[i]);
    return fclose(out) ? 1 : 0;
}
