#include "ir/op_info.h"

#include <string.h>

#define IN(...)    __VA_ARGS__
#define OUT(rule)  R_##rule
#define ATTRS(...) __VA_ARGS__
#define REQUIRED   INT64_MIN
#define A_INT(name, lo, hi, by) \
    { name, AR_INT, (by) == REQUIRED, lo, hi, (by) == REQUIRED ? 0 : (by), NULL }
#define A_BOOL(name) \
    { name, AR_BOOL, false, 0, 1, 0, NULL }
#define A_ENUM(name, set) \
    { name, AR_ENUM, true, 0, WORD_COUNT(set) - 1, 0, words_##set }
#define A_BITS(name) \
    { name, AR_BITS, true, 0, 0, 0, NULL }
#define A_INTS(name, lo, hi) \
    { name, AR_INTS, true, lo, hi, 0, NULL }
#define A_STRING(name) \
    { name, AR_STRING, true, 0, 0, 0, NULL }

#define WORD_COUNT(set) ((int64_t)(sizeof words_##set / sizeof words_##set[0]) - 1)
#define SET(name, ...)  static const char *const words_##name[] = {__VA_ARGS__, NULL};
#include "ir/attr_sets.def"
#undef SET

/* Two rows with one number would be two members of one name: a compile error. */
struct unique_numbers {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) char number_##number;
#include "ir/opcodes.def"
#undef OP
};

enum {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) ROW_##ENUM,
#include "ir/opcodes.def"
#undef OP
    ROW_COUNT
};

_Static_assert(ROW_COUNT < UINT8_MAX, "row_of holds a row's place in a byte");
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) \
    _Static_assert((number) > 0 && (number) < TW_OPCODE_LIMIT, "the number of " name);
#include "ir/opcodes.def"
#undef OP

/* Lists are counted with one dummy in front, because they may be empty. */
#define CLASS_COUNT(...) (sizeof((const tw_type_class[]){T_NONE, __VA_ARGS__}) / sizeof(tw_type_class) - 1)
#define ATTR_COUNT(...)  (sizeof((const tw_attr_info[]){A_BOOL(NULL), __VA_ARGS__}) / sizeof(tw_attr_info) - 1)
/* An empty argument reads as +0, which is T_NONE. */
#define IS_MORE(type_class)            ((type_class + 0) >= T_MORE)
#define HAS_MORE(...)                  HAS_MORE_5(__VA_ARGS__, T_NONE, T_NONE, T_NONE, T_NONE, T_NONE)
#define HAS_MORE_5(a, b, c, d, e, ...) (IS_MORE(a) || IS_MORE(b) || IS_MORE(c) || IS_MORE(d) || IS_MORE(e))

static const tw_op_info rows[ROW_COUNT] = {
#define OP(number, ENUM, ident, op_name, in, out, attr_list, op_effect, rule, text) \
    [ROW_##ENUM] = {                                                                \
        .opcode = TW_OP_##ENUM,                                                     \
        .name = op_name,                                                            \
        .doc = text,                                                                \
        .operand_count = CLASS_COUNT(in) - HAS_MORE(in),                            \
        .more_operands = HAS_MORE(in),                                              \
        .attr_count = ATTR_COUNT(attr_list),                                        \
        .operands = {in},                                                           \
        .result = out,                                                              \
        .effect = E_##op_effect,                                                    \
        .attrs = {attr_list},                                                       \
    },
#include "ir/opcodes.def"
#undef OP
};

/* The row's place + 1; 0 for a number without a row. */
static const uint8_t row_of[TW_OPCODE_LIMIT] = {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) [number] = ROW_##ENUM + 1,
#include "ir/opcodes.def"
#undef OP
};

static const uint8_t name_lengths[ROW_COUNT] = {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) [ROW_##ENUM] = sizeof name - 1,
#include "ir/opcodes.def"
#undef OP
};

const tw_op_info *tw_op_info_get(tw_opcode opcode) {
    if ((unsigned)opcode >= TW_OPCODE_LIMIT || !row_of[opcode]) return NULL;
    return &rows[row_of[opcode] - 1];
}

const tw_op_info *tw_op_info_by_name(const char *name, size_t length) {
    /* A pass over some ninety bytes; about one name in ten has the same length. */
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (name_lengths[i] == length && !memcmp(rows[i].name, name, length)) return &rows[i];
    return NULL;
}

const char *tw_type_class_text(tw_type_class type_class) {
    switch (type_class) {
    case T_NONE: return "nothing";
    case T_INT: return "an i8, i16, i32 or i64 scalar or vector";
    case T_I32V: return "an i32 scalar or vector";
    case T_LOGIC: return "an integer or i1 scalar or vector";
    case T_FLOAT: return "an f16, bf16 or f32 scalar or vector";
    case T_F32V: return "an f32 scalar or vector";
    case T_FP8: return "an fp8 or bf8 scalar or vector";
    case T_ANY_FLOAT: return "a float, fp8 or bf8 scalar or vector";
    case T_LOGIC_OR_FLOAT: return "an integer, i1, f16, bf16 or f32 scalar or vector";
    case T_COND: return "an i1 scalar or vector";
    case T_I1: return "i1";
    case T_I32: return "i32";
    case T_INDEX: return "i32 or i64";
    case T_WORD32: return "a scalar or vector of 32 bits in all";
    case T_BITS: return "a scalar or vector of other elements than i1";
    case T_DATA: return "a scalar or vector of 1, 2, 4, 6, 8, 12 or 16 bytes";
    case T_ATOMIC: return "f32, vec<2 x f16> or vec<2 x bf16>";
    case T_ELEMENT: return "a scalar";
    case T_VECTOR: return "a vector";
    case T_RSRC: return "a buffer resource";
    case T_UNIFORM_I32: return "i32, the same in all lanes";
    case T_UNIFORM_GPTR: return "a global pointer, the same in all lanes";
    case T_UNIFORM_LPTR: return "an LDS pointer, the same in all lanes";
    case T_PTR: return "a pointer";
    case T_GPTR: return "a global pointer";
    case T_LPTR: return "an LDS pointer";
    case T_ANY: return "any type but a token";
    case T_SAME0: return "the type of operand 0";
    case T_SAME1: return "the type of operand 1";
    case T_MORE: return "any number of operands";
    case T_MORE_UNIFORM_I32: return "any number of i32 operands, the same in all lanes";
    }
    return "unknown";
}

static bool is_data_size(unsigned bits) {
    switch (bits) {
    case 8:
    case 16:
    case 32:
    case 48:
    case 64:
    case 96:
    case 128: return true;
    default: return false;
    }
}

static bool is_atomic(const tw_type *type) {
    return type->lanes == 1 ? type->scalar == TW_F32
                            : type->lanes == 2 && (type->scalar == TW_F16 || type->scalar == TW_BF16);
}

bool tw_type_in_class(const tw_type *type, tw_type_class type_class) {
    /* Scalars and vectors, the only types with lanes. */
    unsigned lanes = type->lanes;
    tw_scalar scalar = type->scalar;
    switch (type_class) {
    case T_INT: return lanes && scalar >= TW_I8 && scalar <= TW_I64;
    case T_I32V: return lanes && scalar == TW_I32;
    case T_LOGIC: return lanes && scalar <= TW_I64;
    case T_FLOAT: return lanes && tw_scalar_is_float(scalar);
    case T_F32V: return lanes && scalar == TW_F32;
    case T_FP8: return lanes && tw_scalar_is_fp8(scalar);
    case T_ANY_FLOAT: return lanes && !tw_scalar_is_int(scalar);
    case T_LOGIC_OR_FLOAT: return lanes && !tw_scalar_is_fp8(scalar);
    case T_COND: return lanes && scalar == TW_I1;
    case T_I1: return lanes == 1 && scalar == TW_I1;
    case T_UNIFORM_I32:
    case T_I32: return lanes == 1 && scalar == TW_I32;
    case T_INDEX: return lanes == 1 && (scalar == TW_I32 || scalar == TW_I64);
    case T_WORD32: return lanes && scalar != TW_I1 && tw_type_bits(type) == 32;
    case T_BITS: return lanes && scalar != TW_I1;
    case T_DATA: return lanes && scalar != TW_I1 && is_data_size(tw_type_bits(type));
    case T_ATOMIC: return is_atomic(type);
    case T_ELEMENT: return lanes == 1;
    case T_VECTOR: return lanes > 1;
    case T_RSRC: return type->kind == TW_TYPE_RSRC;
    case T_PTR: return type->kind == TW_TYPE_POINTER;
    case T_UNIFORM_GPTR:
    case T_GPTR: return type->kind == TW_TYPE_POINTER && type->space == TW_GLOBAL;
    case T_UNIFORM_LPTR:
    case T_LPTR: return type->kind == TW_TYPE_POINTER && type->space == TW_LDS;
    case T_ANY: return type->kind != TW_TYPE_TOKEN;
    case T_NONE:
    case T_SAME0:
    case T_SAME1:
    case T_MORE:
    case T_MORE_UNIFORM_I32: return false;
    }
    return false;
}

tw_type_class tw_result_given_class(tw_result_rule rule) {
    switch (rule) {
    case R_GIVEN_LOGIC_OR_FLOAT: return T_LOGIC_OR_FLOAT;
    case R_GIVEN_FLOAT: return T_FLOAT;
    case R_GIVEN_FP8: return T_FP8;
    case R_GIVEN_INT: return T_INT;
    case R_GIVEN_LOGIC: return T_LOGIC;
    case R_GIVEN_BITS: return T_BITS;
    case R_GIVEN_VECTOR: return T_VECTOR;
    case R_GIVEN_DATA: return T_DATA;
    case R_GIVEN_LPTR: return T_LPTR;
    default: return T_NONE;
    }
}

bool tw_type_class_is_uniform(tw_type_class type_class) {
    return type_class == T_RSRC || type_class == T_UNIFORM_I32 || type_class == T_UNIFORM_GPTR ||
           type_class == T_UNIFORM_LPTR;
}

bool tw_effect_is_whole_wave(tw_effect effect) {
    return effect == E_WHOLE_WAVE || effect == E_WAVE_READS_GLOBAL || effect == E_WAVE_READS_LDS ||
           effect == E_WAVE_ASYNC_COPY;
}

tw_type_class tw_op_operand_class(const tw_op_info *info, uint32_t index) {
    if (index < info->operand_count) return info->operands[index];
    return info->operands[info->operand_count] == T_MORE_UNIFORM_I32 ? T_UNIFORM_I32 : T_ANY;
}
