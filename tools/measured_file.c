#include "tools/measured_file.h"

#include <stdlib.h>
#include <string.h>

#include "jit/file.h"
#include "support/fail.h"
#include "support/strbuf.h"

static void append(tw_strbuf *text, const json_t *value) {
    char *dumped = json_dumps(value, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
    if (!dumped) text->failed = true;
    if (dumped) tw_strbuf_append(text, dumped);
    free(dumped);
}

/* Containers listed here have one member a line. */
static void append_lines(tw_strbuf *text, const json_t *value) {
    bool is_array = json_is_array(value);
    tw_strbuf_append(text, is_array ? "[" : "{");
    const char *comma = "\n", *key;
    size_t i;
    json_t *member;
    json_array_foreach(value, i, member) {
        tw_strbuf_append(text, comma);
        append(text, member);
        comma = ",\n";
    }
    json_object_foreach((json_t *)value, key, member) {
        tw_strbuf_printf(text, "%s\"%s\":", comma, key);
        append(text, member);
        comma = ",\n";
    }
    tw_strbuf_append(text, is_array ? "\n]" : "\n}");
}

tw_status measured_file_write(const char *path, const json_t *file, tw_diag *diag) {
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    const char *comma = "{\n", *key;
    json_t *member;
    json_object_foreach((json_t *)file, key, member) {
        tw_strbuf_printf(&text, "%s\"%s\":", comma, key);
        bool has_lines = !strcmp(key, "facts") || !strcmp(key, "intrinsics");
        has_lines ? append_lines(&text, member) : append(&text, member);
        comma = ",\n";
    }
    tw_strbuf_append(&text, "\n}\n");
    tw_status status =
        text.failed ? tw_fail_no_memory(diag) : tw_file_write(path, tw_strbuf_text(&text), text.length, diag);
    tw_strbuf_free(&text);
    return status;
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const json_t *find_row(const json_t *rows, const json_t *like) {
    static const char *const keys[] = {"key", "name", "result", "arguments"};
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row) {
        bool same = true;
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
            same &= !strcmp(text_of(row, keys[k]), text_of(like, keys[k]));
        if (same) return row;
    }
    return NULL;
}

/* "ok", or the value as JSON. */
static void append_short(tw_strbuf *text, const json_t *value) {
    if (json_is_string(value)) {
        tw_strbuf_append(text, json_string_value(value));
    } else if (value) {
        append(text, value);
    } else {
        tw_strbuf_append(text, "nothing");
    }
}

/* Whether a compiler that fails says so or crashes may change from run to run: it reads what it did not
 * write. */
static bool fails(const json_t *status) {
    const char *word = json_is_string(status) ? json_string_value(status) : "";
    return !strcmp(word, "crash") || !strcmp(word, "target_unsupported");
}

static bool differs(const char *what, const json_t *recorded, const json_t *measured, tw_diag *diag) {
    if (recorded && measured && json_equal((json_t *)recorded, (json_t *)measured)) return false;
    if (fails(recorded) && fails(measured)) return false;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_append(&text, "measured ");
    append_short(&text, measured);
    tw_strbuf_append(&text, ", recorded ");
    append_short(&text, recorded);
    tw_fail_at(diag, TW_ERR_MISMATCH, what, 0, 0, "%s", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return true;
}

static const json_t *for_target(const json_t *status, const char *target) {
    return json_is_object(status) ? json_object_get(status, target) : status;
}

/* By target, where either side tells targets apart. */
static bool status_differs(const char *what, const json_t *recorded, const json_t *measured, tw_diag *diag) {
    if (!recorded || !measured || (!json_is_object(recorded) && !json_is_object(measured)))
        return differs(what, recorded, measured, diag);
    bool any = false;
    const char *target;
    json_t *status;
    json_object_foreach((json_t *)(json_is_object(measured) ? measured : recorded), target, status) {
        char place[256];
        snprintf(place, sizeof place, "%s for %s", what, target);
        any |= differs(place, for_target(recorded, target), for_target(measured, target), diag);
    }
    return any;
}

static bool rows_differ(const json_t *recorded, const json_t *measured, tw_diag *diag) {
    bool any = false;
    size_t i;
    json_t *row;
    char what[256];
    json_array_foreach((json_t *)measured, i, row) {
        snprintf(what, sizeof what, "%s: %s(%s)", text_of(row, "key"), text_of(row, "name"),
                 text_of(row, "arguments"));
        any |= status_differs(what, json_object_get(find_row(recorded, row), "status"),
                              json_object_get(row, "status"), diag);
    }
    json_array_foreach((json_t *)recorded, i, row) {
        if (find_row(measured, row)) continue;
        snprintf(what, sizeof what, "%s: %s(%s)", text_of(row, "key"), text_of(row, "name"),
                 text_of(row, "arguments"));
        any |= differs(what, json_object_get(row, "status"), NULL, diag);
    }
    return any;
}

tw_status measured_file_compare(const char *path, const json_t *file, tw_diag *diag) {
    json_error_t error;
    json_t *recorded = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!recorded)
        return tw_fail_at(diag, TW_ERR_INVALID, path, (uint32_t)(error.line > 0 ? error.line : 0), 0, "%s",
                          error.text);
    bool any = status_differs("targets", json_object_get(recorded, "targets"),
                              json_object_get(file, "targets"), diag);
    const json_t *facts = json_object_get(file, "facts"), *old_facts = json_object_get(recorded, "facts");
    const char *key;
    json_t *fact;
    json_object_foreach((json_t *)facts, key, fact) any |=
        status_differs(key, json_object_get(old_facts, key), fact, diag);
    any |= rows_differ(json_object_get(recorded, "intrinsics"), json_object_get(file, "intrinsics"), diag);
    if (strcmp(text_of(recorded, "version"), text_of(file, "version")))
        tw_note(diag, path, "recorded with %s (got %s)", text_of(recorded, "version"),
                text_of(file, "version"));
    json_decref(recorded);
    return any ? TW_ERR_MISMATCH : TW_OK;
}
