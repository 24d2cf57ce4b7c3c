/* Kernels that together use every op of ir/opcodes.def, with every kind of attribute, type and name. What
 * they compute is kept in memory, so that nothing is dead, and they keep the rules of docs/ir.md when they
 * run with the arguments below: no access out of bounds, no race, no division by zero. */
#ifndef TW_TESTS_IR_ALL_OPS_H
#define TW_TESTS_IR_ALL_OPS_H

#include "ir/build.h"

size_t all_ops_count(void);
const char *all_ops_name(size_t index);
/* The kernel at `index` for `target`: what the target lacks is left out. NULL on error. */
tw_kernel *all_ops_build(tw_context *ctx, tw_target target, size_t index);
/* False for kernels with the hardware's approximations. */
bool all_ops_is_exact(size_t index);

/* The parameters that all of them have, and what they run with, in one workgroup. */
#define ALL_OPS_IN_BYTES  262144     /* in: ptr<i8, global> {readonly, noalias}: anything */
#define ALL_OPS_OUT_BYTES 2097152    /* out: ptr<i8, global> {noalias}: starts with zeros */
#define ALL_OPS_HALVES    8192       /* halves: ptr<f16, global> {noalias} */
#define ALL_OPS_SINGLES   512        /* singles: ptr<f32, global> {noalias} */
#define ALL_OPS_N         48         /* n: i32 */
#define ALL_OPS_FAR       16         /* far: i64 */
#define ALL_OPS_X         0x3fc00000 /* x: f32, 1.5 */

#endif
