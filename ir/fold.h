/* What the files of the folder share. */
#ifndef TW_IR_FOLD_H
#define TW_IR_FOLD_H

#include "ir/ir.h"

/* The bits of one element as an element-wise op gives it for elements of format `from` with the given bits;
 * zero-extended. False where that is not known: an unspecified result, an approximation of the hardware, a
 * NaN. */
bool tw_fold_element(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out);
/* The same for comparisons, and for conversions to the format `to`. */
bool tw_fold_compare(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out);
bool tw_fold_convert(const tw_kernel *kernel, const tw_op *op, tw_scalar from, tw_scalar to, uint64_t in,
                     uint64_t *out);
/* Bits of an element in a bitcast of a constant; false where the result's elements differ from each other. */
bool tw_fold_bitcast(tw_scalar from, tw_scalar to, uint64_t in, uint64_t *out);

/* What an op without regions comes to. */
typedef enum tw_fold_kind {
    TW_FOLD_NOTHING = 0,
    TW_FOLD_TO_BITS, /* a constant: `bits` in every lane */
    TW_FOLD_TO_VALUE /* a value that is there already */
} tw_fold_kind;
typedef struct tw_fold {
    tw_fold_kind kind;
    uint64_t bits;
    tw_value value;
} tw_fold;
tw_fold tw_fold_identity(const tw_kernel *kernel, const tw_op *op);

/* The value is a constant: its bits. */
bool tw_is_constant(const tw_kernel *kernel, tw_value value, uint64_t *bits);

#endif
