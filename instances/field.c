#include "instances/field.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fail.h"

int tw_field_find(tw_field_table table, const char *name, size_t length) {
    for (uint32_t i = 0; i < table.count; i++)
        if (strlen(table.fields[i].name) == length && !memcmp(table.fields[i].name, name, length))
            return (int)i;
    return -1;
}

void tw_field_defaults(tw_field_table table, int32_t *values) {
    for (uint32_t i = 0; i < table.count; i++)
        values[i] = table.fields[i].default_value;
}

/* Appends to a text of fixed size; what does not fit is cut. */
static void put(char *buffer, size_t size, const char *text) {
    size_t used = strlen(buffer);
    snprintf(buffer + used, size - used, "%s", text);
}

static void dtype_range(uint32_t dtypes, char buffer[TW_FIELD_RANGE_MAX]) {
    buffer[0] = 0;
    for (int i = 0; i < TW_SCALAR_COUNT; i++) {
        if (!(dtypes >> i & 1)) continue;
        uint32_t left = dtypes >> i >> 1;
        if (buffer[0]) put(buffer, TW_FIELD_RANGE_MAX, left ? ", " : " or ");
        put(buffer, TW_FIELD_RANGE_MAX, tw_scalar_name((tw_scalar)i));
    }
}

void tw_field_range(const tw_field *field, char buffer[TW_FIELD_RANGE_MAX]) {
    if (field->kind == TW_FIELD_DTYPE) {
        dtype_range(field->dtypes, buffer);
    } else if (field->max == INT32_MAX) {
        snprintf(buffer, TW_FIELD_RANGE_MAX, "at least %d", field->min);
    } else if (field->max == field->min + 1) {
        snprintf(buffer, TW_FIELD_RANGE_MAX, "%d or %d", field->min, field->max);
    } else {
        snprintf(buffer, TW_FIELD_RANGE_MAX, "%d..%d", field->min, field->max);
    }
}

static bool allowed(const tw_field *field, int32_t value) {
    if (field->kind == TW_FIELD_DTYPE)
        return value >= 0 && value < TW_SCALAR_COUNT && field->dtypes >> value & 1;
    return value >= field->min && value <= field->max;
}

static tw_status refuse(const tw_field *field, const char *got, tw_diag *diag) {
    char range[TW_FIELD_RANGE_MAX];
    tw_field_range(field, range);
    return tw_fail(diag, TW_ERR_INVALID, "%s must be %s (got %s)", field->name, range, got);
}

tw_status tw_field_check(tw_field_table table, const int32_t *values, tw_diag *diag) {
    for (uint32_t i = 0; i < table.count; i++) {
        if (allowed(&table.fields[i], values[i])) continue;
        char got[TW_FIELD_VALUE_MAX];
        tw_field_write(&table.fields[i], values[i], got);
        return refuse(&table.fields[i], got, diag);
    }
    return TW_OK;
}

static bool read_dtype(const char *text, int32_t *value) {
    for (int i = 0; i < TW_SCALAR_COUNT; i++) {
        if (strcmp(text, tw_scalar_name((tw_scalar)i))) continue;
        *value = i;
        return true;
    }
    return false;
}

tw_status tw_field_read(const tw_field *field, const char *text, int32_t *value, tw_diag *diag) {
    if (field->kind == TW_FIELD_DTYPE) return read_dtype(text, value) ? TW_OK : refuse(field, text, diag);
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digits = *text == '-' ? text[1] >= '0' && text[1] <= '9' : *text >= '0' && *text <= '9';
    if (!digits || *end)
        return tw_fail(diag, TW_ERR_INVALID, "%s must be an integer (got %s)", field->name, text);
    if (errno || number < INT32_MIN || number > INT32_MAX) {
        char range[TW_FIELD_RANGE_MAX];
        tw_field_range(field, range);
        return tw_fail(diag, TW_ERR_INVALID, "%s must be an integer of 32 bits, %s (got %s)", field->name,
                       range, text);
    }
    *value = (int32_t)number;
    return TW_OK;
}

void tw_field_write(const tw_field *field, int32_t value, char buffer[TW_FIELD_VALUE_MAX]) {
    if (field->kind == TW_FIELD_DTYPE && value >= 0 && value < TW_SCALAR_COUNT)
        snprintf(buffer, TW_FIELD_VALUE_MAX, "%s", tw_scalar_name((tw_scalar)value));
    else
        snprintf(buffer, TW_FIELD_VALUE_MAX, "%d", value);
}
