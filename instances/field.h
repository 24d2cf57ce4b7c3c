/* Fields: what specs and problems consist of. A spec struct and a problem struct are plain runs of int32_t,
 * one a row of the family's .def file; everything that reads or writes them by name goes through these
 * tables. */
#ifndef TW_INSTANCES_FIELD_H
#define TW_INSTANCES_FIELD_H

#include "ir/type.h"
#include "support/diag.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_field_kind {
    TW_FIELD_INT = 0, /* min..max */
    TW_FIELD_DTYPE,   /* a tw_scalar out of `dtypes`; written by its name */
} tw_field_kind;

/* Constant data. The field at index i of a table is the i-th int32_t of the struct. */
typedef struct tw_field {
    const char *name;  /* "kh" of "kh=3" */
    const char *label; /* what stands before the value in labels; NULL: not part of them */
    tw_field_kind kind;
    int32_t min, max;
    uint32_t dtypes; /* bit 1 << tw_scalar for each format that is allowed */
    int32_t default_value;
    const char *doc;
} tw_field;

#define TW_MAX_FIELDS 24 /* of a spec or of a problem */

typedef struct tw_field_table {
    const tw_field *fields;
    uint32_t count;
} tw_field_table;

/* The index of the field called `name` (`length` bytes), or -1. */
TW_API int tw_field_find(tw_field_table table, const char *name, size_t length);
TW_API void tw_field_defaults(tw_field_table table, int32_t *values);
/* Every value in the range of its field: TW_ERR_INVALID with "kh must be 1..8 (got 9)" for the first that is
 * not. */
TW_API tw_status tw_field_check(tw_field_table table, const int32_t *values, tw_diag *diag);
/* Reads the text of one value. A value that is an integer or a format, but none that the field allows, is
 * stored: it is tw_field_check that refuses it. */
TW_API tw_status tw_field_read(const tw_field *field, const char *text, int32_t *value, tw_diag *diag);
/* The value as tw_field_read reads it: "3", "bf16". */
#define TW_FIELD_VALUE_MAX 16
TW_API void tw_field_write(const tw_field *field, int32_t value, char buffer[TW_FIELD_VALUE_MAX]);
/* What values the field allows, for people: "1..8", "0 or 1", "at least -1", "f16 or bf16". */
#define TW_FIELD_RANGE_MAX 80
TW_API void tw_field_range(const tw_field *field, char buffer[TW_FIELD_RANGE_MAX]);

#ifdef __cplusplus
}
#endif
#endif
