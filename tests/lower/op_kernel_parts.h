/* What fills the kernels of tests/lower/op_kernels.c. */
#ifndef TW_TESTS_LOWER_OP_KERNEL_PARTS_H
#define TW_TESTS_LOWER_OP_KERNEL_PARTS_H

#include "tests/lower/op_maker.h"

/* ---- op_arithmetic.c ---- */
void build_i1(maker *m);
void build_i8(maker *m);
void build_i16(maker *m);
void build_i32(maker *m);
void build_i64(maker *m);
void build_f16(maker *m);
void build_bf16(maker *m);
void build_f32(maker *m);
void build_approximations(maker *m);
void build_divisions(maker *m);
void build_by_constants(maker *m);
void build_by_zero(maker *m);
void build_int_choice(maker *m);
void build_float_choice(maker *m);
void build_int_conversions(maker *m);
void build_f16_conversions(maker *m);
void build_bf16_conversions(maker *m);
void build_f32_conversions(maker *m);
void build_fp8(maker *m);
void build_vectors(maker *m);
void build_constants(maker *m);

/* ---- op_memory.c ---- */
void build_global(maker *m);
void build_buffers(maker *m);
void build_atomics(maker *m);
void build_lds(maker *m);

/* ---- op_control.c ---- */
void build_wave(maker *m);
void build_ids(maker *m);
void build_control(maker *m);

/* ---- op_matrices.c ---- */
void build_matrices(maker *m);
void build_transposed(maker *m);
void build_copies(maker *m);

#endif
