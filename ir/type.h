/* Types of the tile IR. Every type exists once, as constant data: equality is pointer equality, in all
 * contexts and threads. */
#ifndef TW_IR_TYPE_H
#define TW_IR_TYPE_H

#include "support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element formats. Numbers are part of the ABI: append only. */
typedef enum tw_scalar {
    TW_I1 = 0,
    TW_I8,
    TW_I16,
    TW_I32,
    TW_I64,
    TW_F16,
    TW_BF16,
    TW_F32,
    TW_F8E4M3,     /* OCP fp8: bias 7, no infinities, NaN 0x7f and 0xff */
    TW_F8E5M2,     /* OCP bf8: bias 15, IEEE-like */
    TW_F8E4M3FNUZ, /* fp8 of gfx942: bias 8, no infinities, no -0, NaN 0x80 */
    TW_F8E5M2FNUZ, /* bf8 of gfx942: bias 16, no infinities, no -0, NaN 0x80 */
    TW_SCALAR_COUNT
} tw_scalar;

typedef enum tw_type_kind {
    TW_TYPE_SCALAR = 0,
    TW_TYPE_VECTOR,
    TW_TYPE_POINTER,
    TW_TYPE_RSRC, /* buffer resource */
    TW_TYPE_TOKEN /* an asynchronous copy under way */
} tw_type_kind;

typedef enum tw_space { TW_GLOBAL = 0, TW_LDS = 1 } tw_space;

#define TW_MAX_LANES 64

typedef struct tw_type {
    tw_type_kind kind;
    tw_scalar scalar; /* of scalars, vectors, and what a pointer points to */
    uint16_t lanes;   /* elements: 1 for scalars, 2..64 for vectors, 0 for the others */
    tw_space space;   /* of pointers */
} tw_type;

/* Any thread; NULL for arguments out of range (lanes 2..64). tw_type_vector(s, 1) is the scalar. */
TW_API const tw_type *tw_type_scalar(tw_scalar scalar);
TW_API const tw_type *tw_type_vector(tw_scalar scalar, unsigned lanes);
TW_API const tw_type *tw_type_pointer(tw_scalar scalar, tw_space space);
TW_API const tw_type *tw_type_rsrc(void);
TW_API const tw_type *tw_type_token(void);

/* Bits of one element; i1 is 1. */
TW_API unsigned tw_scalar_bits(tw_scalar scalar);
TW_API const char *tw_scalar_name(tw_scalar scalar); /* "f32", "f8e4m3fnuz" */
TW_API bool tw_scalar_is_int(tw_scalar scalar);
TW_API bool tw_scalar_is_float(tw_scalar scalar); /* f16, bf16, f32: what arithmetic takes */
TW_API bool tw_scalar_is_fp8(tw_scalar scalar);
/* Bits of the whole value: lanes * element bits; pointers 64 (global) or 32 (LDS), resources 128. */
TW_API unsigned tw_type_bits(const tw_type *type);
/* "vec<4 x f32>", "ptr<f16, global>", "rsrc": written to `buffer`. */
#define TW_TYPE_NAME_MAX 32
TW_API void tw_type_format(const tw_type *type, char buffer[TW_TYPE_NAME_MAX]);

#ifdef __cplusplus
}
#endif
#endif
