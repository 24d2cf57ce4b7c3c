/* What an op gives for one element: the FOLD column of ir/opcodes.def, comparisons, conversions. The folder
 * and the interpreter share it. Bits go in and come out zero-extended. */
#ifndef TW_IR_EVAL_H
#define TW_IR_EVAL_H

#include "ir/kernel.h"
#include "support/float_formats.h"

/* An element-wise op (ALU1, ALU2, ALU3 rows) on elements of one format. `flush`: f32 and bf16 denormals count
 * as zero, in and out. A NaN result is the first NaN operand made quiet, or the format's own NaN. False where
 * the row leaves the result unspecified. */
bool tw_eval_alu(tw_opcode opcode, tw_scalar scalar, bool flush, const uint64_t in[3], uint64_t *out);
/* The op is one of the hardware's approximations: tw_eval_alu gives the value rounded to nearest. */
bool tw_eval_is_approximate(tw_opcode opcode);
/* arith.icmp and arith.fcmp. */
bool tw_eval_icmp(int64_t predicate, tw_scalar scalar, uint64_t a, uint64_t b);
bool tw_eval_fcmp(int64_t predicate, tw_scalar scalar, bool flush, uint64_t a, uint64_t b);
/* Conversions of one element, which flush nothing; false for other ops, bitcast among them, which regroups
 * the bits of elements. */
bool tw_eval_convert(tw_opcode opcode, tw_scalar from, tw_scalar to, uint64_t in, uint64_t *out);
/* What such a conversion takes for its operand in a kernel that flushes: zero for an f32 denormal that is
 * rounded. */
uint64_t tw_eval_convert_operand(tw_opcode opcode, tw_scalar from, bool flush, uint64_t in);

/* ---- elements as numbers ---- */

uint64_t tw_width_mask(unsigned width); /* 1..64 */
int64_t tw_sign_extend(uint64_t bits, unsigned width);
/* The format of a float or fp8 element; false for integers. */
bool tw_scalar_float_format(tw_scalar scalar, tw_float_format *format);

#endif
