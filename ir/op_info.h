/* The rows of ir/opcodes.def as data. */
#ifndef TW_IR_OP_INFO_H
#define TW_IR_OP_INFO_H

#include "ir/kernel.h"

/* What a type must be: see the head of ir/opcodes.def. */
typedef enum tw_type_class {
    T_NONE = 0,
    T_INT,            /* i8 i16 i32 i64, scalar or vector */
    T_I32V,           /* i32, scalar or vector */
    T_LOGIC,          /* i1 or T_INT */
    T_FLOAT,          /* f16 bf16 f32, scalar or vector */
    T_F32V,           /* f32, scalar or vector */
    T_FP8,            /* an fp8 or bf8 format, scalar or vector */
    T_ANY_FLOAT,      /* T_FLOAT or T_FP8 */
    T_LOGIC_OR_FLOAT, /* what constants are */
    T_COND,           /* i1, scalar or vector */
    T_I1,             /* i1, scalar */
    T_I32,            /* i32, scalar */
    T_INDEX,          /* i32 or i64, scalar */
    T_WORD32,         /* 32 bits in all: i32, f32, vec<2 x f16>, ... */
    T_BITS,           /* any scalar or vector but i1 */
    T_DATA,           /* scalar or vector of 1, 2, 4, 6, 8, 12 or 16 bytes, no i1 */
    T_ATOMIC,         /* f32, vec<2 x f16>, vec<2 x bf16> */
    T_ELEMENT,        /* any scalar */
    T_VECTOR,         /* any vector */
    T_RSRC,           /* the same in all active lanes of the wave */
    T_UNIFORM_I32,    /* T_I32, the same in all active lanes of the wave */
    T_UNIFORM_GPTR,   /* T_GPTR, the same in all active lanes of the wave */
    T_UNIFORM_LPTR,   /* T_LPTR, the same in all active lanes of the wave */
    T_PTR,
    T_GPTR,
    T_LPTR,
    T_ANY,              /* any type but a token */
    T_SAME0,            /* the type of operand 0 */
    T_SAME1,            /* the type of operand 1 */
    T_MORE,             /* any number of operands from here on; only as the last one */
    T_MORE_UNIFORM_I32, /* T_MORE, all of them T_UNIFORM_I32 */
} tw_type_class;

typedef enum tw_result_rule {
    R_NONE = 0,
    R_SAME0,
    R_SAME1,
    R_SAME2,
    R_I1_LIKE0,
    R_ELEMENT0,
    R_I32,
    R_I64,
    R_RSRC,
    R_CARRIED,              /* scf.for: the types of the carried operands */
    R_YIELDED,              /* scf.if: the types that the regions yield */
    R_GIVEN_LOGIC_OR_FLOAT, /* from here on: written in the text, passed to the builder, of that class */
    R_GIVEN_FLOAT,
    R_GIVEN_FP8,
    R_GIVEN_INT,
    R_GIVEN_LOGIC,
    R_GIVEN_BITS,
    R_GIVEN_VECTOR,
    R_GIVEN_DATA,
    R_GIVEN_LPTR,
} tw_result_rule;

typedef enum tw_effect {
    E_PURE = 0,
    E_CROSS_LANE,
    E_WHOLE_WAVE,
    E_WAVE_READS_GLOBAL,
    E_WAVE_READS_LDS,
    E_ASYNC_COPY,
    E_WAVE_ASYNC_COPY,
    E_ASYNC_WAIT,
    E_READS_GLOBAL,
    E_WRITES_GLOBAL,
    E_GLOBAL_RMW,
    E_READS_LDS,
    E_WRITES_LDS,
    E_LDS_RMW,
    E_ALLOC,
    E_BARRIER,
    E_SCHEDULE,
    E_CONTROL,
} tw_effect;

typedef enum tw_attr_rule { AR_INT = 0, AR_BOOL, AR_ENUM, AR_BITS, AR_INTS, AR_STRING } tw_attr_rule;

typedef struct tw_attr_info {
    const char *name;
    tw_attr_rule rule;
    bool required;
    int64_t min, max, default_value;
    const char *const *words; /* of an enum; NULL-terminated */
} tw_attr_info;

#define TW_MAX_FIXED_OPERANDS 4
#define TW_MAX_ATTRS          4

typedef struct tw_op_info {
    tw_opcode opcode;
    const char *name, *doc;
    uint8_t operand_count; /* without T_MORE */
    bool more_operands;    /* the last class is T_MORE */
    uint8_t attr_count;
    tw_type_class operands[TW_MAX_FIXED_OPERANDS + 1];
    tw_result_rule result;
    tw_effect effect;
    tw_attr_info attrs[TW_MAX_ATTRS];
} tw_op_info;

#define TW_OPCODE_LIMIT 256 /* numbers are below this */

const tw_op_info *tw_op_info_get(tw_opcode opcode); /* NULL for a number without a row */
const tw_op_info *tw_op_info_by_name(const char *name, size_t length);
/* The class's name for diagnostics and docs: "an integer scalar or vector". */
const char *tw_type_class_text(tw_type_class type_class);
bool tw_type_in_class(const tw_type *type, tw_type_class type_class); /* not for SAME0, SAME1, MORE */
/* The class that the result's written type must be of; T_NONE where it is not written. */
tw_type_class tw_result_given_class(tw_result_rule rule);
/* Operands of the class must be the same in all active lanes of the wave. */
bool tw_type_class_is_uniform(tw_type_class type_class);
/* What operand `index` must be, T_ANY for those of T_MORE. */
tw_type_class tw_op_operand_class(const tw_op_info *info, uint32_t index);
/* All lanes of the wave must be active at ops of that effect. */
bool tw_effect_is_whole_wave(tw_effect effect);

#endif
