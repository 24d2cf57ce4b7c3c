#include "ir/type.h"

#include <stdio.h>

typedef enum scalar_kind { KIND_INT, KIND_FLOAT, KIND_FP8 } scalar_kind;

/* X(format, name, bits, kind), in the order of tw_scalar. */
#define SCALARS(X)                              \
    X(TW_I1, "i1", 1, KIND_INT)                 \
    X(TW_I8, "i8", 8, KIND_INT)                 \
    X(TW_I16, "i16", 16, KIND_INT)              \
    X(TW_I32, "i32", 32, KIND_INT)              \
    X(TW_I64, "i64", 64, KIND_INT)              \
    X(TW_F16, "f16", 16, KIND_FLOAT)            \
    X(TW_BF16, "bf16", 16, KIND_FLOAT)          \
    X(TW_F32, "f32", 32, KIND_FLOAT)            \
    X(TW_F8E4M3, "f8e4m3", 8, KIND_FP8)         \
    X(TW_F8E5M2, "f8e5m2", 8, KIND_FP8)         \
    X(TW_F8E4M3FNUZ, "f8e4m3fnuz", 8, KIND_FP8) \
    X(TW_F8E5M2FNUZ, "f8e5m2fnuz", 8, KIND_FP8)

static const struct {
    const char *name;
    uint8_t bits, kind;
} scalars[TW_SCALAR_COUNT] = {
#define X(format, name, bits, kind) [format] = {name, bits, kind},
    SCALARS(X)
#undef X
};

static const tw_type scalar_types[TW_SCALAR_COUNT] = {
#define X(format, name, bits, kind) [format] = {TW_TYPE_SCALAR, format, 1, TW_GLOBAL},
    SCALARS(X)
#undef X
};

#define LANES1(format, n) [n] = {TW_TYPE_VECTOR, format, n, TW_GLOBAL},
#define LANES4(format, n) \
    LANES1(format, n) LANES1(format, (n) + 1) LANES1(format, (n) + 2) LANES1(format, (n) + 3)
#define LANES16(format, n) \
    LANES4(format, n) LANES4(format, (n) + 4) LANES4(format, (n) + 8) LANES4(format, (n) + 12)

static const tw_type vector_types[TW_SCALAR_COUNT][TW_MAX_LANES + 1] = {
#define X(format, name, bits, kind) \
    [format] = {LANES16(format, 1) LANES16(format, 17) LANES16(format, 33) LANES16(format, 49)},
    SCALARS(X)
#undef X
};

static const tw_type pointer_types[TW_SCALAR_COUNT][2] = {
#define X(format, name, bits, kind) \
    [format] = {{TW_TYPE_POINTER, format, 0, TW_GLOBAL}, {TW_TYPE_POINTER, format, 0, TW_LDS}},
    SCALARS(X)
#undef X
};

static const tw_type rsrc_type = {TW_TYPE_RSRC, TW_I1, 0, TW_GLOBAL};
static const tw_type token_type = {TW_TYPE_TOKEN, TW_I1, 0, TW_GLOBAL};

static bool known(tw_scalar scalar) { return (unsigned)scalar < TW_SCALAR_COUNT; }

const tw_type *tw_type_scalar(tw_scalar scalar) { return known(scalar) ? &scalar_types[scalar] : NULL; }

const tw_type *tw_type_vector(tw_scalar scalar, unsigned lanes) {
    if (!known(scalar) || lanes < 1 || lanes > TW_MAX_LANES) return NULL;
    return lanes == 1 ? &scalar_types[scalar] : &vector_types[scalar][lanes];
}

const tw_type *tw_type_pointer(tw_scalar scalar, tw_space space) {
    /* An i1 has no size in memory. */
    if (!known(scalar) || scalar == TW_I1 || (unsigned)space > TW_LDS) return NULL;
    return &pointer_types[scalar][space];
}

const tw_type *tw_type_rsrc(void) { return &rsrc_type; }

const tw_type *tw_type_token(void) { return &token_type; }

unsigned tw_scalar_bits(tw_scalar scalar) { return known(scalar) ? scalars[scalar].bits : 0; }

const char *tw_scalar_name(tw_scalar scalar) { return known(scalar) ? scalars[scalar].name : "unknown"; }

bool tw_scalar_is_int(tw_scalar scalar) { return known(scalar) && scalars[scalar].kind == KIND_INT; }

bool tw_scalar_is_float(tw_scalar scalar) { return known(scalar) && scalars[scalar].kind == KIND_FLOAT; }

bool tw_scalar_is_fp8(tw_scalar scalar) { return known(scalar) && scalars[scalar].kind == KIND_FP8; }

unsigned tw_type_bits(const tw_type *type) {
    switch (type->kind) {
    case TW_TYPE_SCALAR:
    case TW_TYPE_VECTOR: return type->lanes * scalars[type->scalar].bits;
    case TW_TYPE_POINTER: return type->space == TW_LDS ? 32 : 64;
    case TW_TYPE_RSRC: return 128;
    case TW_TYPE_TOKEN: return 0;
    }
    return 0;
}

void tw_type_format(const tw_type *type, char buffer[TW_TYPE_NAME_MAX]) {
    const char *scalar = tw_scalar_name(type->scalar);
    switch (type->kind) {
    case TW_TYPE_SCALAR: snprintf(buffer, TW_TYPE_NAME_MAX, "%s", scalar); return;
    case TW_TYPE_VECTOR:
        snprintf(buffer, TW_TYPE_NAME_MAX, "vec<%u x %s>", (unsigned)type->lanes, scalar);
        return;
    case TW_TYPE_POINTER:
        snprintf(buffer, TW_TYPE_NAME_MAX, "ptr<%s, %s>", scalar, type->space == TW_LDS ? "lds" : "global");
        return;
    case TW_TYPE_RSRC: snprintf(buffer, TW_TYPE_NAME_MAX, "rsrc"); return;
    case TW_TYPE_TOKEN: snprintf(buffer, TW_TYPE_NAME_MAX, "token"); return;
    }
    buffer[0] = '\0';
}
