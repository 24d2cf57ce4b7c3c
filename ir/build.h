/* The builder: reads like the program it builds.
 *
 * A builder keeps its first error and goes on with poison values, so that code reads straight; tw_kernel_end
 * reports it. C leaves the order of evaluation of arguments open: never write two builder calls into one
 * argument list. Every function documented in docs/ops.md; the ALU functions come from the rows of
 * ir/opcodes.def. */
#ifndef TW_IR_BUILD_H
#define TW_IR_BUILD_H

#include "ir/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_builder tw_builder;

/* Starts kernel `name` ([A-Za-z_][A-Za-z0-9_.$]*, at most 255 bytes). NULL only when memory is out; bad
 * arguments are the builder's first error. Belongs to the context's thread. */
TW_API tw_builder *tw_kernel_begin(tw_context *ctx, const char *name, tw_target target,
                                   const tw_kernel_options *options);
/* Ends the kernel (adds the return), verifies it, frees the builder. NULL on error: the context's diagnostics
 * say what and where. The kernel belongs to the caller (tw_kernel_free) and at the latest to the context. */
TW_API tw_kernel *tw_kernel_end(tw_builder *builder);
/* Throws the kernel away. */
TW_API void tw_kernel_abandon(tw_builder *builder);
TW_API bool tw_builder_failed(const tw_builder *builder);
/* A rule of the caller that does not hold: becomes the builder's error if it has none. */
TW_API void tw_builder_fail(tw_builder *builder, const char *format, ...) TW_PRINTF(2, 3);
TW_API const tw_type *tw_value_type(const tw_builder *builder, tw_value value); /* NULL for poison */
TW_API tw_target tw_builder_target(const tw_builder *builder);
/* A name for the text (%name); made unique by the printer. No effect on the kernel's meaning. Returns the
 * value. */
TW_API tw_value tw_name(tw_builder *builder, tw_value value, const char *name);

/* Parameters, in the order of the kernarg segment; all before the first op. `flags`: tw_param_flags. */
TW_API tw_value tw_param_ptr(tw_builder *b, const char *name, tw_scalar pointee, unsigned flags);
TW_API tw_value tw_param(tw_builder *b, const char *name, tw_scalar scalar); /* i32, i64, f32 or 16-bit */

/* Constants. */
TW_API tw_value tw_i1(tw_builder *b, bool value);
TW_API tw_value tw_i32(tw_builder *b, int32_t value);
TW_API tw_value tw_i64(tw_builder *b, int64_t value);
TW_API tw_value tw_f32(tw_builder *b, float value);
/* The bits of one element, in every lane of `type` (integer or float scalar or vector). */
TW_API tw_value tw_constant(tw_builder *b, const tw_type *type, uint64_t bits);

/* Element-wise arithmetic: tw_add, tw_fma, ... */
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU1(number, ENUM, ident, name, class, result, fold, doc) \
    TW_API tw_value tw_##ident(tw_builder *b, tw_value a0);
#define ALU2(number, ENUM, ident, name, class, result, fold, doc) \
    TW_API tw_value tw_##ident(tw_builder *b, tw_value a0, tw_value a1);
#define ALU3(number, ENUM, ident, name, class, result, fold, doc) \
    TW_API tw_value tw_##ident(tw_builder *b, tw_value a0, tw_value a1, tw_value a2);
#include "ir/opcodes.def"
#undef OP
#undef ALU1
#undef ALU2
#undef ALU3

/* Values are the places in the enum sets of ir/attr_sets.def. */
typedef enum tw_icmp_predicate {
    TW_EQ = 0,
    TW_NE,
    TW_SLT,
    TW_SLE,
    TW_SGT,
    TW_SGE,
    TW_ULT,
    TW_ULE,
    TW_UGT,
    TW_UGE
} tw_icmp_predicate;
typedef enum tw_fcmp_predicate {
    TW_FOEQ = 0,
    TW_FONE,
    TW_FOLT,
    TW_FOLE,
    TW_FOGT,
    TW_FOGE,
    TW_FORD,
    TW_FUEQ,
    TW_FUNE,
    TW_FULT,
    TW_FULE,
    TW_FUGT,
    TW_FUGE,
    TW_FUNO
} tw_fcmp_predicate;
TW_API tw_value tw_icmp(tw_builder *b, tw_icmp_predicate predicate, tw_value x, tw_value y);
TW_API tw_value tw_fcmp(tw_builder *b, tw_fcmp_predicate predicate, tw_value x, tw_value y);
TW_API tw_value tw_select(tw_builder *b, tw_value condition, tw_value if_true, tw_value if_false);

/* Conversions to the element format `to`, lanes as in the operand. */
TW_API tw_value tw_fpext(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_fptrunc(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_fptrunc_sat(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_sitofp(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_uitofp(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_fptosi(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_fptoui(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_sext(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_zext(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_trunc(tw_builder *b, tw_value x, tw_scalar to);
TW_API tw_value tw_bitcast(tw_builder *b, tw_value x, const tw_type *to);

/* Vectors. */
TW_API tw_value tw_vector_build(tw_builder *b, const tw_value *elements, unsigned count);
TW_API tw_value tw_vector_extract(tw_builder *b, tw_value vector, unsigned index);
TW_API tw_value tw_vector_insert(tw_builder *b, tw_value element, tw_value vector, unsigned index);
TW_API tw_value tw_vector_splat(tw_builder *b, tw_value element, unsigned lanes);
TW_API tw_value tw_vector_shuffle(tw_builder *b, tw_value x, tw_value y, const int64_t *lanes,
                                  unsigned count);

/* Where am I; `dim` 0, 1, 2 for x, y, z. */
TW_API tw_value tw_workitem_id(tw_builder *b, unsigned dim);
TW_API tw_value tw_workgroup_id(tw_builder *b, unsigned dim);
TW_API tw_value tw_num_workgroups(tw_builder *b, unsigned dim);
TW_API tw_value tw_lane_id(tw_builder *b);
TW_API tw_value tw_wave_id(tw_builder *b);

/* Across the lanes of a wave. */
typedef enum tw_reduce_kind {
    TW_REDUCE_ADD = 0,
    TW_REDUCE_SMIN,
    TW_REDUCE_SMAX,
    TW_REDUCE_UMIN,
    TW_REDUCE_UMAX,
    TW_REDUCE_AND,
    TW_REDUCE_OR,
    TW_REDUCE_XOR,
    TW_REDUCE_FADD,
    TW_REDUCE_FMIN,
    TW_REDUCE_FMAX
} tw_reduce_kind;
TW_API tw_value tw_readfirstlane(tw_builder *b, tw_value x);
TW_API tw_value tw_shuffle(tw_builder *b, tw_value x, tw_value lane);
TW_API tw_value tw_shuffle_xor(tw_builder *b, tw_value x, unsigned mask);
TW_API tw_value tw_row_shift(tw_builder *b, tw_value x, int amount);
TW_API tw_value tw_wave_reduce(tw_builder *b, tw_reduce_kind kind, tw_value x);
TW_API tw_value tw_ballot(tw_builder *b, tw_value x);

/* Global memory: `index` counts elements of the pointer's type; `type` is what is loaded: 1..16 bytes of such
 * elements. `align` in bytes is what the address is known to be a multiple of; 0: the element's size. */
TW_API tw_value tw_ptr_offset(tw_builder *b, tw_value pointer, tw_value index);
TW_API tw_value tw_global_load(tw_builder *b, const tw_type *type, tw_value pointer, tw_value index,
                               unsigned align);
TW_API void tw_global_store(tw_builder *b, tw_value value, tw_value pointer, tw_value index, unsigned align);
TW_API void tw_global_atomic_fadd(tw_builder *b, tw_value value, tw_value pointer, tw_value index);
/* Transposed tiles of 16 x 16 elements of 16 bits (arch/transpose.h): the result has the target's number of
 * elements a lane. All lanes of the wave must be active. */
TW_API tw_value tw_global_load_transposed(tw_builder *b, tw_value pointer, tw_value index);
TW_API tw_value tw_lds_load_transposed(tw_builder *b, tw_value pointer, tw_value index);
/* Buffers: byte offsets; `voffset` may differ by lane, `soffset` is uniform. */
TW_API tw_value tw_buffer_rsrc(tw_builder *b, tw_value pointer, tw_value bytes);
TW_API tw_value tw_buffer_load(tw_builder *b, const tw_type *type, tw_value rsrc, tw_value voffset,
                               tw_value soffset, uint32_t cachepolicy);
TW_API void tw_buffer_store(tw_builder *b, tw_value value, tw_value rsrc, tw_value voffset, tw_value soffset,
                            uint32_t cachepolicy);
TW_API void tw_buffer_atomic_fadd(tw_builder *b, tw_value value, tw_value rsrc, tw_value voffset,
                                  tw_value soffset, uint32_t cachepolicy);

/* LDS: static arrays; `index` counts elements. */
TW_API tw_value tw_lds_alloc(tw_builder *b, tw_scalar scalar, uint32_t count, uint32_t align);
TW_API tw_value tw_lds_load(tw_builder *b, const tw_type *type, tw_value pointer, tw_value index,
                            unsigned align);
TW_API void tw_lds_store(tw_builder *b, tw_value value, tw_value pointer, tw_value index, unsigned align);
TW_API void tw_lds_atomic_fadd(tw_builder *b, tw_value value, tw_value pointer, tw_value index);

typedef enum tw_fence { TW_FENCE_LDS = 0, TW_FENCE_ALL } tw_fence;
TW_API void tw_barrier(tw_builder *b, tw_fence fence);
/* The two halves of a barrier, on gfx12 targets: what stands between them does not wait for other waves. */
TW_API void tw_barrier_signal(tw_builder *b, tw_fence fence);
TW_API void tw_barrier_wait(tw_builder *b, tw_fence fence);
TW_API void tw_sched_barrier(tw_builder *b, unsigned mask);
TW_API void tw_sched_group_barrier(tw_builder *b, unsigned mask, unsigned size, unsigned sync);
TW_API void tw_setprio(tw_builder *b, unsigned level);

/* for (index = from; index < to; index += step) with `count` carried values: returns the index and fills
 * `carried`. tw_for_end gives the values for the next round and fills `results` with those after the loop.
 * What is filled may be the array that was given, here and in tw_if_end. */
TW_API tw_value tw_for_begin(tw_builder *b, tw_value from, tw_value to, tw_value step, unsigned count,
                             const tw_value *init, tw_value *carried);
TW_API void tw_for_unroll(tw_builder *b, unsigned unroll); /* of the innermost open loop; see scf.for */
TW_API void tw_for_end(tw_builder *b, unsigned count, const tw_value *next, tw_value *results);
/* if (condition) { ... } else { ... }: tw_if_else may be left out where count is 0. Both give `count` values.
 */
TW_API void tw_if_begin(tw_builder *b, tw_value condition);
TW_API void tw_if_else(tw_builder *b, unsigned count, const tw_value *values);
TW_API void tw_if_end(tw_builder *b, unsigned count, const tw_value *values, tw_value *results);

/* Any op by its row: attributes by name, checked by the same rules as all others. `type` is NULL unless the
 * row's result is given. Returns the result, or poison where there is none. Ops with regions are not built
 * this way. */
typedef enum tw_attr_kind {
    TW_ATTR_NONE = 0,
    TW_ATTR_INT,
    TW_ATTR_BOOL,
    TW_ATTR_FLOAT,
    TW_ATTR_STRING,
    TW_ATTR_INTS
} tw_attr_kind;
typedef struct tw_attr {
    tw_attr_kind kind;
    union {
        int64_t i; /* also the bits of a constant and the place of an enum's word */
        bool b;
        double f;
        const char *s;
        struct {
            const int64_t *values;
            uint32_t count;
        } ints;
    } as;
} tw_attr;
typedef struct tw_named_attr {
    const char *name;
    tw_attr value;
} tw_named_attr;
TW_API tw_value tw_build_op(tw_builder *b, tw_opcode opcode, const tw_type *type, const tw_value *operands,
                            unsigned operand_count, const tw_named_attr *attrs, unsigned attr_count);

#ifdef __cplusplus
}
#endif
#endif
