/* The builder's typed functions: one for each op without regions. */
#include "ir/build.h"

#include <string.h>

#include "arch/transpose.h"
#include "ir/builder.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static tw_attr an_int(int64_t value) { return (tw_attr){.kind = TW_ATTR_INT, .as.i = value}; }

/* An optional attribute of which 0 stands for "not given". */
static tw_attr int_unless_0(int64_t value) { return value ? an_int(value) : (tw_attr){0}; }

#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU1(number, ENUM, ident, name, class, result, fold, doc)    \
    tw_value tw_##ident(tw_builder *b, tw_value a0) {                \
        return tw_builder_emit(b, TW_OP_##ENUM, NULL, &a0, 1, NULL); \
    }
#define ALU2(number, ENUM, ident, name, class, result, fold, doc)   \
    tw_value tw_##ident(tw_builder *b, tw_value a0, tw_value a1) {  \
        tw_value in[] = {a0, a1};                                   \
        return tw_builder_emit(b, TW_OP_##ENUM, NULL, in, 2, NULL); \
    }
#define ALU3(number, ENUM, ident, name, class, result, fold, doc)               \
    tw_value tw_##ident(tw_builder *b, tw_value a0, tw_value a1, tw_value a2) { \
        tw_value in[] = {a0, a1, a2};                                           \
        return tw_builder_emit(b, TW_OP_##ENUM, NULL, in, 3, NULL);             \
    }
#include "ir/opcodes.def"
#undef OP
#undef ALU1
#undef ALU2
#undef ALU3

/* ---- comparison and choice ---- */

tw_value tw_icmp(tw_builder *b, tw_icmp_predicate predicate, tw_value x, tw_value y) {
    tw_value in[] = {x, y};
    tw_attr attr = an_int(predicate);
    return tw_builder_emit(b, TW_OP_ICMP, NULL, in, 2, &attr);
}

tw_value tw_fcmp(tw_builder *b, tw_fcmp_predicate predicate, tw_value x, tw_value y) {
    tw_value in[] = {x, y};
    tw_attr attr = an_int(predicate);
    return tw_builder_emit(b, TW_OP_FCMP, NULL, in, 2, &attr);
}

tw_value tw_select(tw_builder *b, tw_value condition, tw_value if_true, tw_value if_false) {
    tw_value in[] = {condition, if_true, if_false};
    return tw_builder_emit(b, TW_OP_SELECT, NULL, in, 3, NULL);
}

/* ---- conversions ---- */

static tw_value convert(tw_builder *b, tw_opcode opcode, tw_value x, tw_scalar to) {
    const tw_type *from = tw_value_type(b, x);
    return tw_builder_emit(b, opcode, from ? tw_type_vector(to, from->lanes) : NULL, &x, 1, NULL);
}

tw_value tw_fpext(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_FPEXT, x, to); }
tw_value tw_fptrunc(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_FPTRUNC, x, to); }
tw_value tw_fptrunc_sat(tw_builder *b, tw_value x, tw_scalar to) {
    return convert(b, TW_OP_FPTRUNC_SAT, x, to);
}
tw_value tw_sitofp(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_SITOFP, x, to); }
tw_value tw_uitofp(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_UITOFP, x, to); }
tw_value tw_fptosi(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_FPTOSI, x, to); }
tw_value tw_fptoui(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_FPTOUI, x, to); }
tw_value tw_sext(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_SEXT, x, to); }
tw_value tw_zext(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_ZEXT, x, to); }
tw_value tw_trunc(tw_builder *b, tw_value x, tw_scalar to) { return convert(b, TW_OP_TRUNC, x, to); }
tw_value tw_bitcast(tw_builder *b, tw_value x, const tw_type *to) {
    return tw_builder_emit(b, TW_OP_BITCAST, to, &x, 1, NULL);
}

/* ---- vectors ---- */

tw_value tw_vector_build(tw_builder *b, const tw_value *elements, unsigned count) {
    const tw_type *element = elements && count ? tw_value_type(b, elements[0]) : NULL;
    const tw_type *type = element ? tw_type_vector(element->scalar, count) : NULL;
    return tw_builder_emit(b, TW_OP_VECTOR_BUILD, type, elements, elements ? count : 0, NULL);
}

tw_value tw_vector_extract(tw_builder *b, tw_value vector, unsigned index) {
    tw_attr attr = an_int(index);
    return tw_builder_emit(b, TW_OP_VECTOR_EXTRACT, NULL, &vector, 1, &attr);
}

tw_value tw_vector_insert(tw_builder *b, tw_value element, tw_value vector, unsigned index) {
    tw_value in[] = {element, vector};
    tw_attr attr = an_int(index);
    return tw_builder_emit(b, TW_OP_VECTOR_INSERT, NULL, in, 2, &attr);
}

tw_value tw_vector_splat(tw_builder *b, tw_value element, unsigned lanes) {
    const tw_type *from = tw_value_type(b, element);
    const tw_type *type = from ? tw_type_vector(from->scalar, lanes) : NULL;
    return tw_builder_emit(b, TW_OP_VECTOR_SPLAT, type, &element, 1, NULL);
}

tw_value tw_vector_shuffle(tw_builder *b, tw_value x, tw_value y, const int64_t *lanes, unsigned count) {
    const tw_type *from = tw_value_type(b, x);
    tw_value in[] = {x, y};
    tw_named_attr attr = {"lanes", {.kind = TW_ATTR_INTS, .as.ints = {lanes, lanes ? count : 0}}};
    return tw_build_op(b, TW_OP_VECTOR_SHUFFLE, from ? tw_type_vector(from->scalar, count) : NULL, in, 2,
                       &attr, 1);
}

/* ---- where am I ---- */

static tw_value place(tw_builder *b, tw_opcode opcode, unsigned dim) {
    tw_attr attr = an_int(dim);
    return tw_builder_emit(b, opcode, NULL, NULL, 0, &attr);
}

tw_value tw_workitem_id(tw_builder *b, unsigned dim) { return place(b, TW_OP_WORKITEM_ID, dim); }
tw_value tw_workgroup_id(tw_builder *b, unsigned dim) { return place(b, TW_OP_WORKGROUP_ID, dim); }
tw_value tw_num_workgroups(tw_builder *b, unsigned dim) { return place(b, TW_OP_NUM_WORKGROUPS, dim); }
tw_value tw_lane_id(tw_builder *b) { return tw_builder_emit(b, TW_OP_LANE_ID, NULL, NULL, 0, NULL); }
tw_value tw_wave_id(tw_builder *b) { return tw_builder_emit(b, TW_OP_WAVE_ID, NULL, NULL, 0, NULL); }

/* ---- across the lanes of a wave ---- */

tw_value tw_readfirstlane(tw_builder *b, tw_value x) {
    return tw_builder_emit(b, TW_OP_READFIRSTLANE, NULL, &x, 1, NULL);
}

tw_value tw_shuffle(tw_builder *b, tw_value x, tw_value lane) {
    tw_value in[] = {x, lane};
    return tw_builder_emit(b, TW_OP_SHUFFLE, NULL, in, 2, NULL);
}

tw_value tw_shuffle_xor(tw_builder *b, tw_value x, unsigned mask) {
    tw_attr attr = an_int(mask);
    return tw_builder_emit(b, TW_OP_SHUFFLE_XOR, NULL, &x, 1, &attr);
}

tw_value tw_row_shift(tw_builder *b, tw_value x, int amount) {
    tw_attr attr = an_int(amount);
    return tw_builder_emit(b, TW_OP_ROW_SHIFT, NULL, &x, 1, &attr);
}

tw_value tw_wave_reduce(tw_builder *b, tw_reduce_kind kind, tw_value x) {
    tw_attr attr = an_int(kind);
    return tw_builder_emit(b, TW_OP_WAVE_REDUCE, NULL, &x, 1, &attr);
}

tw_value tw_ballot(tw_builder *b, tw_value x) { return tw_builder_emit(b, TW_OP_BALLOT, NULL, &x, 1, NULL); }

/* ---- global memory and LDS ---- */

static tw_value load(tw_builder *b, tw_opcode opcode, const tw_type *type, tw_value pointer, tw_value index,
                     unsigned align) {
    tw_value in[] = {pointer, index};
    tw_attr attrs[TW_MAX_ATTRS] = {int_unless_0(align)};
    return tw_builder_emit(b, opcode, type, in, 2, attrs);
}

static void store(tw_builder *b, tw_opcode opcode, tw_value value, tw_value pointer, tw_value index,
                  unsigned align) {
    tw_value in[] = {value, pointer, index};
    tw_attr attrs[TW_MAX_ATTRS] = {int_unless_0(align)};
    tw_builder_emit(b, opcode, NULL, in, 3, attrs);
}

tw_value tw_ptr_offset(tw_builder *b, tw_value pointer, tw_value index) {
    tw_value in[] = {pointer, index};
    return tw_builder_emit(b, TW_OP_PTR_OFFSET, NULL, in, 2, NULL);
}

tw_value tw_global_load(tw_builder *b, const tw_type *type, tw_value pointer, tw_value index,
                        unsigned align) {
    return load(b, TW_OP_GLOBAL_LOAD, type, pointer, index, align);
}

void tw_global_store(tw_builder *b, tw_value value, tw_value pointer, tw_value index, unsigned align) {
    store(b, TW_OP_GLOBAL_STORE, value, pointer, index, align);
}

void tw_global_atomic_fadd(tw_builder *b, tw_value value, tw_value pointer, tw_value index) {
    tw_value in[] = {value, pointer, index};
    tw_builder_emit(b, TW_OP_GLOBAL_ATOMIC_FADD, NULL, in, 3, NULL);
}

tw_value tw_lds_alloc(tw_builder *b, tw_scalar scalar, uint32_t count, uint32_t align) {
    tw_attr attrs[] = {an_int(count), int_unless_0(align)};
    return tw_builder_emit(b, TW_OP_LDS_ALLOC, tw_type_pointer(scalar, TW_LDS), NULL, 0, attrs);
}

tw_value tw_lds_load(tw_builder *b, const tw_type *type, tw_value pointer, tw_value index, unsigned align) {
    return load(b, TW_OP_LDS_LOAD, type, pointer, index, align);
}

void tw_lds_store(tw_builder *b, tw_value value, tw_value pointer, tw_value index, unsigned align) {
    store(b, TW_OP_LDS_STORE, value, pointer, index, align);
}

void tw_lds_atomic_fadd(tw_builder *b, tw_value value, tw_value pointer, tw_value index) {
    tw_value in[] = {value, pointer, index};
    tw_builder_emit(b, TW_OP_LDS_ATOMIC_FADD, NULL, in, 3, NULL);
}

/* A target that has no such read gives no type: the op's own rule says so. */
static tw_value load_transposed(tw_builder *b, tw_opcode opcode, const tw_transposed_read *read,
                                tw_value pointer, tw_value index) {
    tw_value in[] = {pointer, index};
    const tw_type *from = tw_value_type(b, pointer);
    const tw_type *type = from ? tw_type_vector(from->scalar, read ? read->slots : 8) : NULL;
    return tw_builder_emit(b, opcode, type, in, 2, NULL);
}

tw_value tw_global_load_transposed(tw_builder *b, tw_value pointer, tw_value index) {
    return load_transposed(b, TW_OP_GLOBAL_LOAD_TRANSPOSED, tw_transposed_global_load(tw_builder_target(b)),
                           pointer, index);
}

tw_value tw_lds_load_transposed(tw_builder *b, tw_value pointer, tw_value index) {
    return load_transposed(b, TW_OP_LDS_LOAD_TRANSPOSED, tw_transposed_lds_read(tw_builder_target(b)),
                           pointer, index);
}

/* ---- buffers ---- */

tw_value tw_buffer_rsrc(tw_builder *b, tw_value pointer, tw_value bytes) {
    tw_value in[] = {pointer, bytes};
    return tw_builder_emit(b, TW_OP_BUFFER_RSRC, NULL, in, 2, NULL);
}

tw_value tw_buffer_load(tw_builder *b, const tw_type *type, tw_value rsrc, tw_value voffset, tw_value soffset,
                        uint32_t cachepolicy) {
    tw_value in[] = {rsrc, voffset, soffset};
    tw_attr attr = an_int(cachepolicy);
    return tw_builder_emit(b, TW_OP_BUFFER_LOAD, type, in, 3, &attr);
}

void tw_buffer_store(tw_builder *b, tw_value value, tw_value rsrc, tw_value voffset, tw_value soffset,
                     uint32_t cachepolicy) {
    tw_value in[] = {value, rsrc, voffset, soffset};
    tw_attr attr = an_int(cachepolicy);
    tw_builder_emit(b, TW_OP_BUFFER_STORE, NULL, in, 4, &attr);
}

void tw_buffer_atomic_fadd(tw_builder *b, tw_value value, tw_value rsrc, tw_value voffset, tw_value soffset,
                           uint32_t cachepolicy) {
    tw_value in[] = {value, rsrc, voffset, soffset};
    tw_attr attr = an_int(cachepolicy);
    tw_builder_emit(b, TW_OP_BUFFER_ATOMIC_FADD, NULL, in, 4, &attr);
}

/* ---- order ---- */

void tw_barrier(tw_builder *b, tw_fence fence) {
    tw_attr attr = an_int(fence);
    tw_builder_emit(b, TW_OP_BARRIER, NULL, NULL, 0, &attr);
}

void tw_barrier_signal(tw_builder *b, tw_fence fence) {
    tw_attr attr = an_int(fence);
    tw_builder_emit(b, TW_OP_BARRIER_SIGNAL, NULL, NULL, 0, &attr);
}

void tw_barrier_wait(tw_builder *b, tw_fence fence) {
    tw_attr attr = an_int(fence);
    tw_builder_emit(b, TW_OP_BARRIER_WAIT, NULL, NULL, 0, &attr);
}

void tw_sched_barrier(tw_builder *b, unsigned mask) {
    tw_attr attr = an_int(mask);
    tw_builder_emit(b, TW_OP_SCHED_BARRIER, NULL, NULL, 0, &attr);
}

void tw_sched_group_barrier(tw_builder *b, unsigned mask, unsigned size, unsigned sync) {
    tw_attr attrs[] = {an_int(mask), an_int(size), an_int(sync)};
    tw_builder_emit(b, TW_OP_SCHED_GROUP_BARRIER, NULL, NULL, 0, attrs);
}

void tw_setprio(tw_builder *b, unsigned level) {
    tw_attr attr = an_int(level);
    tw_builder_emit(b, TW_OP_SETPRIO, NULL, NULL, 0, &attr);
}
