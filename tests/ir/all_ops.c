#include "tests/ir/all_ops.h"

#include "arch/transpose.h"
#include "ir/copy.h"
#include "ir/matrix.h"
#include "ir/op_info.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define SLOT         16 /* bytes that a work-item loads or stores at once, at most */

/* The state of the kernel that is being built. */
typedef struct maker {
    tw_builder *b;
    tw_scalar scalar; /* of the kernels that are made for each element */
    uint32_t items;
    uint32_t loads, stores;
    tw_value in, out, halves, singles, n, far, x; /* the parameters */
    tw_value in_rsrc, out_rsrc;
    tw_value item;   /* flat index in the workgroup */
    tw_value offset; /* of the work-item's slot, in bytes */
} maker;

static const tw_type *f32(void) { return tw_type_scalar(TW_F32); }
static const tw_type *i32(void) { return tw_type_scalar(TW_I32); }
static tw_value number(maker *m, int32_t value) { return tw_i32(m->b, value); }

static void begin(maker *m, const tw_kernel_options *o) {
    tw_builder *b = m->b;
    uint32_t size_y = o->workgroup_size_y ? o->workgroup_size_y : 1,
             size_z = o->workgroup_size_z ? o->workgroup_size_z : 1;
    m->items = o->workgroup_size * size_y * size_z;
    m->in = tw_param_ptr(b, "in", TW_I8, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    m->out = tw_param_ptr(b, "out", TW_I8, TW_PARAM_NOALIAS);
    m->halves = tw_param_ptr(b, "halves", TW_F16, TW_PARAM_NOALIAS);
    m->singles = tw_param_ptr(b, "singles", TW_F32, TW_PARAM_NOALIAS);
    m->n = tw_param(b, "n", TW_I32);
    m->far = tw_param(b, "far", TW_I64);
    m->x = tw_param(b, "x", TW_F32);
    tw_value in_bytes = number(m, ALL_OPS_IN_BYTES), out_bytes = number(m, ALL_OPS_OUT_BYTES);
    m->in_rsrc = tw_buffer_rsrc(b, m->in, in_bytes);
    m->out_rsrc = tw_buffer_rsrc(b, m->out, out_bytes);
    tw_value x = tw_workitem_id(b, 0), y = tw_workitem_id(b, 1), z = tw_workitem_id(b, 2);
    tw_value row = number(m, (int32_t)o->workgroup_size),
             plane = number(m, (int32_t)(o->workgroup_size * size_y));
    tw_value above = tw_mul(b, y, row), behind = tw_mul(b, z, plane);
    tw_value flat = tw_add(b, x, above);
    m->item = tw_name(b, tw_add(b, flat, behind), "item");
    m->offset = tw_shl(b, m->item, number(m, 4));
}

/* A value of `type` that nothing is known about, another one each time. */
static tw_value unknown(maker *m, const tw_type *type) {
    if (type->scalar == TW_I1) {
        const tw_type *bytes = tw_type_vector(TW_I8, type->lanes);
        tw_value wide = unknown(m, bytes);
        tw_value limit = tw_constant(m->b, bytes, 0x80);
        return tw_icmp(m->b, TW_ULT, wide, limit);
    }
    uint32_t slots = ALL_OPS_IN_BYTES / SLOT / m->items;
    tw_value base = number(m, (int32_t)(m->loads++ % slots * m->items * SLOT));
    return tw_buffer_load(m->b, type, m->in_rsrc, m->offset, base, 0);
}

static bool is_data(const tw_type *type) {
    unsigned bytes = tw_type_bits(type) / 8;
    return type->lanes && type->scalar != TW_I1 &&
           (bytes <= 2 || bytes == 4 || bytes == 6 || bytes == 8 || bytes == 12 || bytes == 16);
}

/* Stores a value where nothing else is stored. */
static void keep(maker *m, tw_value value) {
    const tw_type *type = tw_value_type(m->b, value);
    if (!type) return;
    if (type->scalar == TW_I1) {
        keep(m, tw_zext(m->b, value, TW_I8));
    } else if (!is_data(type)) {
        for (unsigned lane = 0; lane < type->lanes; lane++)
            keep(m, tw_vector_extract(m->b, value, lane));
    } else {
        uint32_t slots = ALL_OPS_OUT_BYTES / SLOT / m->items;
        if (m->stores == slots)
            tw_builder_fail(m->b, "the kernel keeps too many values (got %u)", (unsigned)m->stores);
        tw_value base = number(m, (int32_t)(m->stores++ * m->items * SLOT));
        tw_buffer_store(m->b, value, m->out_rsrc, m->offset, base, 0);
    }
}

/* ---- arithmetic ---- */

static bool divides(tw_opcode opcode) {
    return opcode == TW_OP_SDIV || opcode == TW_OP_UDIV || opcode == TW_OP_SREM || opcode == TW_OP_UREM;
}

static bool is_math(const tw_op_info *row) { return row->opcode >= TW_OP_EXP2 && row->opcode <= TW_OP_RCP; }

/* Rows ALU1, ALU2, ALU3 that take the type. */
static bool is_alu_of(const tw_op_info *row, const tw_type *type) {
    return row && row->result == R_SAME0 && row->effect == E_PURE && !row->attr_count &&
           row->operands[0] != T_PTR && tw_type_in_class(type, row->operands[0]);
}

static void build_rows(maker *m, bool math) {
    for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
        const tw_type *type = tw_type_vector(m->scalar, lanes);
        if (tw_type_bits(type) > 128) continue;
        tw_value x = unknown(m, type), y = unknown(m, type), z = unknown(m, type), divisor = y;
        if (tw_scalar_is_int(m->scalar) && m->scalar != TW_I1) {
            tw_value low = tw_constant(m->b, type, 6), one = tw_constant(m->b, type, 1);
            tw_value even = tw_and(m->b, y, low);
            divisor = tw_or(m->b, even, one);
        }
        for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
            const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
            if (!is_alu_of(row, type) || is_math(row) != math) continue;
            tw_value operands[] = {x, divides(row->opcode) ? divisor : y, z};
            keep(m, tw_build_op(m->b, row->opcode, NULL, operands, row->operand_count, NULL, 0));
        }
    }
}

/* The same with constants, which the folder sees. */
static void build_constant_rows(maker *m) {
    const tw_type *type = tw_type_scalar(m->scalar);
    uint64_t mask = UINT64_MAX >> (64 - tw_type_bits(type));
    tw_value x = tw_constant(m->b, type, 0xc0a5f3b1443b3e55 & mask);
    tw_value y = tw_constant(m->b, type, 0x3f0242473f803c05 & mask);
    tw_value z = tw_constant(m->b, type, 0xbf81c2f7bc003ad1 & mask);
    for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
        tw_value operands[] = {x, y, z};
        if (!is_alu_of(row, type) || is_math(row)) continue;
        keep(m, tw_build_op(m->b, row->opcode, NULL, operands, row->operand_count, NULL, 0));
    }
}

static void build_alu(maker *m) {
    build_rows(m, false);
    build_constant_rows(m);
}

static void build_math(maker *m) { build_rows(m, true); }

static void build_choice(maker *m) {
    tw_builder *b = m->b;
    tw_value i = unknown(m, i32()), j = unknown(m, i32());
    tw_value f = unknown(m, tw_type_vector(TW_F16, 2)), g = unknown(m, tw_type_vector(TW_F16, 2));
    tw_value c = unknown(m, tw_type_scalar(TW_I1)), d = c, e = f;
    for (int p = TW_EQ; p <= TW_UGE; p++)
        keep(m, d = tw_icmp(b, (tw_icmp_predicate)p, i, j));
    for (int p = TW_FOEQ; p <= TW_FUNO; p++)
        keep(m, e = tw_fcmp(b, (tw_fcmp_predicate)p, f, g));
    keep(m, tw_select(b, d, i, j));
    keep(m, tw_select(b, c, f, g));
    keep(m, tw_select(b, e, f, g));
    keep(m, tw_icmp(b, TW_EQ, c, d));
    tw_value positive = tw_icmp(b, TW_SGT, m->n, number(m, 0));
    tw_value later = tw_ptr_offset(b, m->in, m->far), fewer = tw_buffer_rsrc(b, m->in, number(m, 4096));
    tw_value pointer = tw_select(b, c, m->in, later);
    keep(m, tw_global_load(b, tw_type_scalar(TW_I8), pointer, m->item, 0));
    tw_value rsrc = tw_select(b, positive, m->in_rsrc, fewer);
    keep(m, tw_buffer_load(b, i32(), rsrc, m->offset, m->n, 0));
}

static void build_conversions(maker *m) {
    tw_builder *b = m->b;
    tw_fp8_kind kind = tw_arch_get(tw_builder_target(b).arch)->fp8;
    for (unsigned lanes = 1; lanes <= 4; lanes *= 4) {
        tw_value i = unknown(m, tw_type_vector(TW_I32, lanes)), f = unknown(m, tw_type_vector(TW_F32, lanes));
        tw_value h = tw_fptrunc(b, f, TW_F16), y = tw_fptrunc(b, f, TW_BF16);
        tw_value narrow = tw_trunc(b, i, TW_I8), bit = tw_trunc(b, i, TW_I1);
        keep(m, h);
        keep(m, y);
        keep(m, narrow);
        keep(m, bit);
        keep(m, tw_fpext(b, h, TW_F32));
        keep(m, tw_fpext(b, y, TW_F32));
        keep(m, tw_sitofp(b, i, TW_F32));
        keep(m, tw_uitofp(b, i, TW_F16));
        keep(m, tw_fptosi(b, h, TW_I16));
        keep(m, tw_fptoui(b, f, TW_I64));
        keep(m, tw_sext(b, narrow, TW_I64));
        keep(m, tw_zext(b, narrow, TW_I16));
        keep(m, tw_sext(b, bit, TW_I32));
        keep(m, tw_bitcast(b, i, tw_type_vector(TW_BF16, lanes * 2)));
        if (kind == TW_FP8_NONE) continue;
        tw_value fp8 = tw_fptrunc_sat(b, f, kind == TW_FP8_OCP ? TW_F8E4M3 : TW_F8E4M3FNUZ);
        tw_value bf8 = tw_fptrunc_sat(b, f, kind == TW_FP8_OCP ? TW_F8E5M2 : TW_F8E5M2FNUZ);
        keep(m, fp8);
        keep(m, bf8);
        keep(m, tw_fpext(b, fp8, TW_F32));
        keep(m, tw_fpext(b, bf8, TW_F32));
    }
}

static void build_vectors(maker *m) {
    static const int64_t lanes[] = {0, 7, 3, 3, 4};
    tw_builder *b = m->b;
    tw_value elements[4];
    for (int i = 0; i < 4; i++)
        elements[i] = unknown(m, f32());
    tw_value v = tw_vector_build(b, elements, 4);
    tw_value w = tw_vector_splat(b, m->x, 4);
    tw_value e = tw_vector_extract(b, v, 3);
    tw_value integers[] = {number(m, 7), m->n, m->item};
    keep(m, v);
    keep(m, w);
    keep(m, e);
    keep(m, tw_vector_insert(b, e, w, 0));
    keep(m, tw_vector_shuffle(b, v, w, lanes, COUNT(lanes)));
    keep(m, tw_vector_build(b, integers, 3));
    keep(m, tw_vector_splat(b, m->item, 3));
}

/* ---- waves and workgroups ---- */

static void build_wave(maker *m) {
    tw_builder *b = m->b;
    for (unsigned dim = 0; dim < 3; dim++) {
        keep(m, tw_workitem_id(b, dim));
        keep(m, tw_workgroup_id(b, dim));
        keep(m, tw_num_workgroups(b, dim));
    }
    tw_value lane = tw_lane_id(b), wave = tw_wave_id(b);
    tw_value x = unknown(m, i32()), pair = unknown(m, tw_type_vector(TW_I16, 2)), y = unknown(m, i32());
    keep(m, lane);
    keep(m, wave);
    keep(m, tw_readfirstlane(b, x));
    keep(m, tw_shuffle(b, pair, y));
    keep(m, tw_shuffle_xor(b, x, 16));
    keep(m, tw_shuffle_xor(b, pair, 1));
    keep(m, tw_row_shift(b, x, -3));
    keep(m, tw_row_shift(b, x, 15));
    tw_value f = tw_sitofp(b, pair, TW_F32);
    f = tw_vector_extract(b, f, 1);
    for (int kind = TW_REDUCE_ADD; kind <= TW_REDUCE_FMAX; kind++)
        keep(m, tw_wave_reduce(b, (tw_reduce_kind)kind, kind < TW_REDUCE_FADD ? x : f));
    tw_value low = tw_icmp(b, TW_ULT, x, y);
    keep(m, tw_ballot(b, low));
    tw_value zero = number(m, 0), wide_zero = tw_i64(b, 0), others[] = {zero, wide_zero, zero};
    tw_if_begin(b, low);
    tw_value first = tw_readfirstlane(b, x), some = tw_ballot(b, low), shifted = tw_row_shift(b, x, 2);
    tw_value values[] = {first, some, shifted}, results[3];
    tw_if_else(b, 3, values);
    tw_if_end(b, 3, others, results);
    for (int i = 0; i < 3; i++)
        keep(m, results[i]);
}

static void build_order(maker *m) {
    tw_barrier(m->b, TW_FENCE_LDS);
    tw_barrier(m->b, TW_FENCE_ALL);
    tw_sched_barrier(m->b, 0);
    tw_sched_group_barrier(m->b, 2047, 64, 15);
    tw_setprio(m->b, 3);
    keep(m, m->item);
}

/* ---- memory ---- */

static void build_global(maker *m) {
    tw_builder *b = m->b;
    uint32_t features = tw_arch_get(tw_builder_target(b).arch)->features;
    tw_value eight = tw_shl(b, m->item, number(m, 3)), four = tw_shl(b, m->item, number(m, 2)),
             zero = number(m, 0);
    tw_value moved = tw_ptr_offset(b, m->halves, m->far);
    tw_value back = tw_ptr_offset(b, moved, number(m, -8));
    tw_value h = tw_global_load(b, tw_type_vector(TW_F16, 8), moved, eight, 16);
    tw_value pair = tw_global_load(b, tw_type_vector(TW_F16, 2), m->halves, m->far, 4);
    tw_value odd = tw_global_load(b, tw_type_vector(TW_F16, 3), back, eight, 0);
    keep(m, odd);
    tw_value operands[] = {m->singles, m->item};
    tw_named_attr nontemporal = {"nontemporal", {.kind = TW_ATTR_BOOL, .as.b = true}};
    tw_value f = tw_build_op(b, TW_OP_GLOBAL_LOAD, f32(), operands, 2, &nontemporal, 1);
    keep(m, f);
    tw_barrier(b, TW_FENCE_ALL); /* all have loaded before the first one stores */
    tw_global_store(b, h, moved, eight, 0);
    tw_global_atomic_fadd(b, m->x, m->singles, m->item);
    if (features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16) tw_global_atomic_fadd(b, pair, moved, eight);
    tw_value rsrc = tw_buffer_rsrc(b, m->singles, number(m, ALL_OPS_SINGLES * 4));
    tw_buffer_atomic_fadd(b, f, rsrc, four, zero,
                          tw_cache_policy(tw_builder_target(b), TW_ATOMIC_CASCADE_DEVICE));
    tw_value halves = tw_buffer_rsrc(b, moved, number(m, (ALL_OPS_HALVES - ALL_OPS_FAR) * 2));
    if (features & TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC)
        tw_buffer_atomic_fadd(b, pair, halves, m->offset, zero, 0);
    tw_value streamed = tw_buffer_load(b, tw_type_vector(TW_F32, 4), m->in_rsrc, m->offset, m->n, 1);
    keep(m, streamed);
    keep(m, tw_buffer_load(b, f32(), rsrc, number(m, 0x7ffffff0), zero, 0)); /* out of range */
}

static void build_lds(maker *m) {
    tw_builder *b = m->b;
    tw_value lds = tw_lds_alloc(b, TW_F32, m->items, 16), count = tw_lds_alloc(b, TW_F32, 1, 4);
    tw_value wide = tw_lds_alloc(b, TW_I64, 3, 64);
    tw_name(b, wide, "wide");
    tw_value zero = number(m, 0), one = number(m, 1), nothing = tw_f32(b, 0), something = tw_f32(b, 1);
    tw_value f = unknown(m, f32());
    tw_lds_store(b, f, lds, m->item, 0);
    tw_value first = tw_icmp(b, TW_EQ, m->item, zero);
    tw_if_begin(b, first);
    tw_lds_store(b, nothing, count, zero, 0);
    tw_lds_store(b, m->far, wide, number(m, 2), 8);
    tw_if_end(b, 0, NULL, NULL);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value other = tw_xor(b, m->item, number(m, 33)), even = tw_and(b, other, number(m, -2));
    keep(m, tw_lds_load(b, f32(), lds, other, 0));
    keep(m, tw_lds_load(b, tw_type_vector(TW_F32, 2), lds, even, 8));
    tw_value last = tw_ptr_offset(b, wide, one);
    keep(m, tw_lds_load(b, tw_type_scalar(TW_I64), last, one, 0));
    tw_lds_atomic_fadd(b, something, count, zero);
    tw_barrier(b, TW_FENCE_LDS);
    keep(m, tw_lds_load(b, f32(), count, zero, 0));
}

/* ---- structure, names, constants ---- */

/* Loops in branches in loops; values that want the same name. */
static void build_control(maker *m) {
    tw_builder *b = m->b;
    tw_value zero = number(m, 0), one = number(m, 1), wide_zero = tw_i64(b, 0), wide_one = tw_i64(b, 1);
    tw_value init[] = {tw_f32(b, 0.0f), one};
    tw_value carried[2], results[2], inner[1], sums[1];
    tw_value i = tw_for_begin(b, m->item, m->n, number(m, 5), 2, init, carried);
    tw_for_unroll(b, 4);
    tw_name(b, i, "i");
    tw_name(b, carried[0], "sum");
    tw_value odd = tw_and(b, i, one);
    tw_value is_odd = tw_icmp(b, TW_EQ, odd, one);
    tw_if_begin(b, is_odd);
    tw_value f = tw_sitofp(b, i, TW_F32);
    tw_name(b, f, "sum");
    tw_if_else(b, 1, &f);
    tw_value g = tw_fneg(b, carried[0]);
    tw_name(b, g, "sum");
    tw_if_end(b, 1, &g, inner);
    tw_name(b, inner[0], "sum_1");
    tw_value next[] = {tw_fadd(b, carried[0], inner[0]), i};
    tw_for_end(b, 2, next, results);
    tw_name(b, results[0], "sum");
    keep(m, results[0]);
    keep(m, results[1]);
    tw_value j = tw_for_begin(b, wide_zero, m->far, wide_one, 1, &wide_one, carried);
    tw_name(b, j, "i");
    tw_value at_zero = tw_icmp(b, TW_EQ, j, wide_zero);
    tw_if_begin(b, at_zero);
    tw_setprio(b, 2);
    tw_if_end(b, 0, NULL, NULL);
    tw_value product = tw_mul(b, carried[0], j), more = tw_add(b, product, wide_one);
    tw_for_end(b, 1, &more, sums);
    keep(m, sums[0]);
    tw_value last = tw_icmp(b, TW_SGT, results[1], zero);
    tw_if_begin(b, last);
    tw_setprio(b, 1);
    tw_if_else(b, 0, NULL);
    tw_setprio(b, 0);
    tw_if_end(b, 0, NULL, NULL);
}

/* A fragment out of pieces that a work-item loads at once. */
static tw_value unknown_fragment(maker *m, const tw_type *type) {
    tw_value pieces[TW_MAX_LANES];
    unsigned bits = tw_type_bits(type), words = bits / 32;
    if (bits <= 128) return unknown(m, type);
    for (unsigned i = 0; i < words; i++)
        pieces[i] = unknown(m, i32());
    tw_value all = tw_vector_build(m->b, pieces, words);
    return tw_bitcast(m->b, all, type);
}

/* An operand of unknown elements. Lanes that must hold copies load the same. */
static tw_value unknown_operand(maker *m, const tw_matrix_atom *atom, tw_matrix_operand operand) {
    const tw_type *type = tw_fragment_type(tw_builder_target(m->b), tw_matrix_atom_info(atom).name, operand);
    unsigned copies = tw_matrix_copies(atom, operand);
    if (!copies) return unknown_fragment(m, type);
    tw_value own = m->offset, mask = number(m, (int32_t)~copies), slot = number(m, SLOT);
    tw_value source = tw_and(m->b, m->item, mask);
    m->offset = tw_mul(m->b, source, slot);
    tw_value fragment = unknown_fragment(m, type);
    m->offset = own;
    return fragment;
}

/* Every atom of the target, and one of them twice. */
static void build_matrices(maker *m) {
    tw_target target = tw_builder_target(m->b);
    const tw_matrix_atom *atom;
    tw_value d = {0}, again;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        const char *name = tw_matrix_atom_info(atom).name;
        if (!tw_fragment_type(target, name, TW_MATRIX_A)) continue; /* f64 */
        tw_value a = unknown_operand(m, atom, TW_MATRIX_A);
        tw_value b = unknown_operand(m, atom, TW_MATRIX_B);
        tw_value c = unknown_operand(m, atom, TW_MATRIX_D);
        d = tw_mma(m->b, name, a, b, c);
        again = tw_mma(m->b, name, a, b, c);
        keep(m, d);
        keep(m, tw_vector_extract(m->b, again, 1));
        if (i) continue;
        tw_value lane = tw_lane_id(m->b), row, column;
        tw_lane_map map = tw_matrix_lane_map(atom, TW_MATRIX_D);
        tw_lane_map_values(m->b, &map, lane, 3, &row, &column);
        keep(m, row);
        keep(m, column);
    }
}

static bool has(const maker *m, tw_arch_feature feature) {
    return (tw_arch_get(tw_builder_target(m->b).arch)->features & (uint32_t)feature) != 0;
}

/* 16 rows of 16 elements a wave, each element of another value. */
static void build_transposed(maker *m) {
    tw_builder *b = m->b;
    tw_value eight = number(m, 8), first = tw_mul(b, m->item, eight);
    tw_value tile = tw_lds_alloc(b, TW_F16, m->items * 8, 16);
    tw_value v = unknown(m, tw_type_vector(TW_F16, 8));
    tw_lds_store(b, v, tile, first, 0);
    tw_global_store(b, v, m->halves, first, 0);
    if (has(m, TW_ARCH_HAS_SPLIT_BARRIER)) {
        tw_barrier_signal(b, TW_FENCE_ALL);
        tw_setprio(b, 1);
        tw_barrier_wait(b, TW_FENCE_LDS);
    } else {
        tw_barrier(b, TW_FENCE_ALL);
    }
    keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 8), tile, first, 0));
    if (has(m, TW_ARCH_HAS_TRANSPOSED_LDS_READ)) {
        const tw_transposed_read *read = tw_transposed_lds_read(tw_builder_target(b));
        tw_value lane = tw_lane_id(b), row, column, pitch = number(m, 16);
        tw_lane_map_values(b, &read->memory, lane, 0, &row, &column);
        tw_value start = tw_mul(b, row, pitch);
        tw_value index = tw_add(b, start, column);
        keep(m, tw_lds_load_transposed(b, tile, index));
    }
    if (tw_transposed_global_load(tw_builder_target(b)))
        keep(m, tw_global_load_transposed(b, m->halves, first));
}

static void build_copies(maker *m) {
    keep(m, m->item);
    tw_builder *b = m->b;
    tw_value two = tw_i32(b, 2), zero = tw_i32(b, 0), sixteen = tw_i32(b, 16), three = tw_i32(b, 3);
    tw_value array = tw_lds_alloc(b, TW_F16, 4096, 16);
    tw_value place = tw_mul(b, m->item, two);
    if (has(m, TW_ARCH_HAS_ASYNC_LDS)) {
        tw_value far = tw_shl(b, m->item, three), four = tw_i32(b, 2048);
        tw_value more = tw_or(b, far, four);
        tw_async_copy_to_lds(b, m->halves, place, array, place, 4, 0);
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
        tw_barrier(b, TW_FENCE_LDS);
        tw_async_copy_to_lds(b, m->halves, far, array, far, 16, 0);
        tw_async_copy_to_lds(b, m->halves, far, array, more, 8, 0);
        tw_async_wait(b, 1);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, far, 0));
        tw_async_wait(b, 0);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 4), array, more, 0));
        tw_async_copy_from_lds(b, array, far, m->halves, far, 16, 0);
        tw_async_wait(b, 0);
    }
    if (has(m, TW_ARCH_HAS_LDS_DMA)) {
        tw_value wave = tw_wave_id(b), seven = tw_i32(b, 7), rsrc = m->in_rsrc;
        tw_value start = tw_shl(b, wave, seven);
        tw_value base = tw_ptr_offset(b, array, start);
        tw_global_load_to_lds(b, m->halves, place, base, 4, 0);
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
        tw_barrier(b, TW_FENCE_LDS);
        tw_buffer_load_to_lds(b, rsrc, zero, sixteen, base, 4, 0);
        if (has(m, TW_ARCH_HAS_LDS_DMA_WIDE)) {
            tw_value upper = tw_i32(b, 2048), far = tw_shl(b, wave, tw_i32(b, 9));
            tw_value high = tw_ptr_offset(b, array, upper), own = tw_ptr_offset(b, high, far);
            tw_buffer_load_to_lds(b, rsrc, zero, zero, own, 16, 0);
        }
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
    }
    if (has(m, TW_ARCH_HAS_TENSOR_COPY)) {
        tw_value wave = tw_wave_id(b), ten = tw_i32(b, 10), hundred = tw_i32(b, 100);
        tw_value start = tw_shl(b, wave, ten), five = tw_i32(b, 5);
        tw_value base = tw_ptr_offset(b, array, start);
        tw_tensor_tile tile = {.rank = 2, .tile = {16, 8}, .extents = {sixteen, five}, .strides = {hundred}};
        tile.pad_interval = 8;
        tile.pad_amount = 2;
        tw_barrier(b, TW_FENCE_LDS);
        tw_tensor_load_to_lds(b, base, m->halves, &tile, 0);
        tw_tensor_wait(b, 0);
        tw_tensor_tile cube = {
            .rank = 3, .tile = {4, 2, 2}, .extents = {five, five, two}, .strides = {sixteen, hundred}};
        tw_tensor_load_to_lds(b, base, m->halves, &cube, 0);
        tw_tensor_wait(b, 0);
        tw_tensor_tile line = {.rank = 1, .tile = {16}, .extents = {five}};
        tw_tensor_store_from_lds(b, base, m->halves, &line, 0);
        tw_tensor_wait(b, 0);
        keep(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), base, zero, 0));
    }
}

static void build_constants(maker *m) {
    static const struct {
        tw_scalar scalar;
        uint64_t bits[6];
    } rows[] = {
        {TW_I1, {0, 1, 1, 0, 0, 0}},
        {TW_I8, {0, 1, 0x7f, 0x80, 0xff, 5}},
        {TW_I16, {0, 1, 0x7fff, 0x8000, 0xffff, 500}},
        {TW_I32, {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 70000}},
        {TW_I64, {0, 1, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX, 5000000000}},
        {TW_F16, {0, 0x8000, 0x3c00, 0x7c00, 0x7e01, 0x0001}},
        {TW_BF16, {0, 0x8000, 0x3f80, 0xff80, 0x7fc1, 0x3eab}},
        {TW_F32, {0, 0x80000000, 0x4b800000, 0x4b800001, 0x3b800000, 0x7fc00001}},
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t i = 0; i < COUNT(rows[r].bits); i++)
            for (unsigned lanes = 1; lanes <= 2; lanes++)
                keep(m, tw_constant(m->b, tw_type_vector(rows[r].scalar, lanes), rows[r].bits[i]));
}

static const struct {
    const char *name;
    void (*build)(maker *m);
    tw_kernel_options options;
    tw_scalar scalar;
} kernels[] = {
    {"alu_i1", build_alu, {.workgroup_size = 64}, TW_I1},
    {"alu_i8", build_alu, {.workgroup_size = 64}, TW_I8},
    {"alu_i16", build_alu, {.workgroup_size = 64}, TW_I16},
    {"alu_i32", build_alu, {.workgroup_size = 64}, TW_I32},
    {"alu_i64", build_alu, {.workgroup_size = 64}, TW_I64},
    {"alu_f16", build_alu, {.workgroup_size = 64}, TW_F16},
    {"alu_bf16", build_alu, {.workgroup_size = 64}, TW_BF16},
    {"alu_f32", build_alu, {.workgroup_size = 64}, TW_F32},
    {"alu_f32_flushed", build_alu, {.workgroup_size = 64, .flush_f32_denormals = true}, TW_F32},
    {"math", build_math, {.workgroup_size = 64}, TW_F32},
    {"choice", build_choice, {.workgroup_size = 256}, TW_I1},
    {"conversions", build_conversions, {.workgroup_size = 64}, TW_I1},
    {"vectors", build_vectors, {.workgroup_size = 1}, TW_I1},
    {"wave", build_wave, {.workgroup_size = 64, .workgroup_size_y = 4}, TW_I1},
    {"order", build_order, {.workgroup_size = 8, .workgroup_size_y = 8, .workgroup_size_z = 2}, TW_I1},
    {"global", build_global, {.workgroup_size = 512, .min_waves_per_eu = 1, .max_waves_per_eu = 2}, TW_I1},
    {"lds", build_lds, {.workgroup_size = 128}, TW_I1},
    {"control", build_control, {.workgroup_size = 64, .min_waves_per_eu = 2}, TW_I1},
    {"matrices", build_matrices, {.workgroup_size = 64}, TW_I1},
    {"transposed", build_transposed, {.workgroup_size = 64}, TW_I1},
    {"copies", build_copies, {.workgroup_size = 128}, TW_I1},
    {"constants", build_constants, {.workgroup_size = 1024}, TW_I1},
};

size_t all_ops_count(void) { return COUNT(kernels); }

const char *all_ops_name(size_t index) { return kernels[index].name; }

bool all_ops_is_exact(size_t index) { return kernels[index].build != build_math; }

tw_kernel *all_ops_build(tw_context *ctx, tw_target target, size_t index) {
    tw_builder *b = tw_kernel_begin(ctx, kernels[index].name, target, &kernels[index].options);
    if (!b) return NULL;
    maker m = {.b = b, .scalar = kernels[index].scalar};
    begin(&m, &kernels[index].options);
    kernels[index].build(&m);
    return tw_kernel_end(b);
}
