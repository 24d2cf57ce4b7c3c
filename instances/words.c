/* Instances as words. */
#include <string.h>

#include "instances/family.h"
#include "support/strbuf.h"

/* Where a word's value goes. */
static const tw_field *find(tw_instance *instance, const char *name, size_t length, int32_t **value) {
    static const char prefix[] = "reduce.";
    const tw_family *family = instance->family;
    if (family->reduce && length > strlen(prefix) && !memcmp(name, prefix, strlen(prefix))) {
        int index = tw_field_find(family->reduce->spec, name + strlen(prefix), length - strlen(prefix));
        if (index < 0) return NULL;
        *value = &instance->reduce[index];
        return &family->reduce->spec.fields[index];
    }
    int index = tw_field_find(family->spec, name, length);
    if (index >= 0) {
        *value = &instance->spec[index];
        return &family->spec.fields[index];
    }
    index = tw_field_find(family->problem, name, length);
    if (index < 0) return NULL;
    *value = &instance->problem[index];
    return &family->problem.fields[index];
}

tw_status tw_instance_set(tw_instance *instance, const char *word, tw_diag *diag) {
    const char *equals = strchr(word, '=');
    if (!equals) return tw_fail(diag, TW_ERR_INVALID, "a word must have the form name=value (got %s)", word);
    int32_t *value;
    const tw_field *field = find(instance, word, (size_t)(equals - word), &value);
    if (!field)
        return tw_fail(diag, TW_ERR_INVALID, "a word must name a field of %s (got %s)",
                       instance->family->name, word);
    return tw_field_read(field, equals + 1, value, diag);
}

static bool same_name(const char *a, const char *b) {
    size_t length = strcspn(a, "=");
    return length == strcspn(b, "=") && !memcmp(a, b, length);
}

static bool of_reduce(const char *word) { return !strncmp(word, "reduce.", 7); }

static tw_status set_all(tw_instance *instance, const char *const *words, size_t count, bool reduce,
                         tw_diag *diag) {
    for (size_t i = 0; i < count; i++) {
        if (of_reduce(words[i]) != reduce) continue;
        for (size_t j = 0; j < i; j++)
            if (same_name(words[i], words[j]))
                return tw_fail(diag, TW_ERR_INVALID, "a field must be given once (got %s and %s)", words[j],
                               words[i]);
        tw_status status = tw_instance_set(instance, words[i], diag);
        if (status) return status;
    }
    return TW_OK;
}

static tw_status no_family(const char *word, tw_diag *diag) {
    tw_strbuf names;
    tw_strbuf_init(&names, NULL);
    for (size_t i = 0; i < tw_family_count(); i++)
        tw_strbuf_printf(&names, "%s%s", i ? ", " : "", tw_family_name(tw_family_at(i)));
    tw_status status = tw_fail(diag, TW_ERR_NOT_FOUND, "the first word must be a family: %s (got %s)",
                               tw_strbuf_text(&names), word);
    tw_strbuf_free(&names);
    return status;
}

tw_status tw_instance_parse(const char *const *words, size_t count, tw_instance *out, tw_diag *diag) {
    memset(out, 0, sizeof *out);
    const tw_family *family = count ? tw_family_find(words[0]) : NULL;
    if (!family) return no_family(count ? words[0] : "none", diag);
    tw_instance_init(family, out);
    tw_status status = set_all(out, words + 1, count - 1, false, diag);
    if (status) return status;
    if (family->reduce) family->derive_reduce(out, out->reduce);
    return set_all(out, words + 1, count - 1, true, diag);
}

static void put_words(tw_strbuf *text, const char *prefix, tw_field_table table, const int32_t *values) {
    for (uint32_t i = 0; i < table.count; i++) {
        char value[TW_FIELD_VALUE_MAX];
        tw_field_write(&table.fields[i], values[i], value);
        tw_strbuf_printf(text, " %s%s=%s", prefix, table.fields[i].name, value);
    }
}

char *tw_instance_words(const tw_instance *instance, bool with_problem) {
    const tw_family *family = instance->family;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_append(&text, family->name);
    put_words(&text, "", family->spec, instance->spec);
    if (with_problem) {
        put_words(&text, "", family->problem, instance->problem);
        if (family->reduce) put_words(&text, "reduce.", family->reduce->spec, instance->reduce);
    }
    return tw_strbuf_take(&text, NULL);
}
