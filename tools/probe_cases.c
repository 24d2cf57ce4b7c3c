/* Which intrinsics are measured, with which types. */
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"
#include "tools/probe.h"

/* A type that generic rows are measured with; the vector of f32 with as many lanes. */
typedef struct generic_type {
    const char *type, *mangled, *floats, *mangled_floats;
} generic_type;

enum { TYPES_MAX = 8 };

static const generic_type overloads[TW_OVERLOAD_COUNT][TYPES_MAX] = {
    [TW_OVERLOAD_INTEGERS] = {{"i8", "i8", "float", "f32"},
                              {"i16", "i16", "float", "f32"},
                              {"i32", "i32", "float", "f32"},
                              {"i64", "i64", "float", "f32"},
                              {"<2 x i16>", "v2i16", "<2 x float>", "v2f32"},
                              {"<4 x i32>", "v4i32", "<4 x float>", "v4f32"}},
    [TW_OVERLOAD_FLOATS] = {{"half", "f16", "float", "f32"},
                            {"float", "f32", "float", "f32"},
                            {"<2 x half>", "v2f16", "<2 x float>", "v2f32"},
                            {"<4 x float>", "v4f32", "<4 x float>", "v4f32"}},
    [TW_OVERLOAD_BRAIN_FLOATS] = {{"bfloat", "bf16", "float", "f32"},
                                  {"<2 x bfloat>", "v2bf16", "<2 x float>", "v2f32"}},
};

static unsigned wave_size_of(tw_intrinsic key) {
    static const struct {
        tw_intrinsic key;
        unsigned wave_size;
    } atoms[] = {
#define MATRIX(atom, wave, KEY, FORM, CALL) {TW_LL_##KEY, wave},
#include "lower/matrix.def"
    };
    if (key == TW_LL_BALLOT_I64) return 64; /* what the lowerer calls it for */
    for (size_t i = 0; i < sizeof atoms / sizeof atoms[0]; i++)
        if (atoms[i].key == key) return atoms[i].wave_size;
    return 32;
}

static void replace(char *out, size_t size, const char *text, const generic_type *t) {
    size_t length = 0;
    for (; *text && length + 1 < size; text++) {
        const char *part = NULL;
        if (*text == '$') part = text[1] == 'f' ? t->mangled_floats : t->mangled;
        if (*text == 'T') part = t->type;
        if (*text == 'F') part = t->floats;
        if (*text == '$' && text[1] == 'f') text++;
        length += (size_t)(part ? snprintf(out + length, size - length, "%s", part)
                                : snprintf(out + length, size - length, "%c", *text));
    }
}

static probe_case case_of(tw_intrinsic key, const tw_intrinsic_row *row, const char *name, const char *result,
                          const char *arguments) {
    probe_case c = {.key = tw_intrinsic_key_name(key), .row = row, .wave_size = wave_size_of(key)};
    snprintf(c.name, sizeof c.name, "%s", name);
    snprintf(c.result, sizeof c.result, "%s", result);
    snprintf(c.arguments, sizeof c.arguments, "%s", arguments);
    return c;
}

static probe_case generic_case(const tw_intrinsic_row *row, const generic_type *t) {
    probe_case c = case_of(row->key, row, "", "", "");
    c.generic = row->name;
    replace(c.name, sizeof c.name, row->name, t);
    replace(c.result, sizeof c.result, row->result, t);
    replace(c.arguments, sizeof c.arguments, row->arguments, t);
    return c;
}

static int compare(const void *first, const void *second) {
    const probe_case *a = first, *b = second;
    int order = strcmp(a->key, b->key);
    if (!order) order = strcmp(a->name, b->name);
    return order ? order : strcmp(a->arguments, b->arguments);
}

tw_status probe_cases(probe_case **cases, size_t *count, tw_diag *diag) {
    static const struct {
        tw_intrinsic key;
        const char *name, *result, *arguments;
    } forms[] = {
#define FORM(KEY, name, result, arguments) {TW_LL_##KEY, name, result, arguments},
#include "tools/probe_forms.def"
    };
    size_t row_count, used = 0, form_count = sizeof forms / sizeof forms[0];
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&row_count);
    probe_case *list = calloc(row_count * TYPES_MAX + form_count, sizeof *list);
    if (!list) return tw_fail_no_memory(diag);
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i].overload == TW_OVERLOAD_NONE)
            list[used++] = case_of(rows[i].key, &rows[i], rows[i].name, rows[i].result, rows[i].arguments);
        const generic_type *types = overloads[rows[i].overload];
        for (size_t t = 0; t < TYPES_MAX && types[t].type; t++)
            list[used++] = generic_case(&rows[i], &types[t]);
    }
    for (size_t i = 0; i < form_count; i++)
        list[used++] = case_of(forms[i].key, NULL, forms[i].name, forms[i].result, forms[i].arguments);
    qsort(list, used, sizeof *list, compare);
    *cases = list;
    *count = used;
    return TW_OK;
}
