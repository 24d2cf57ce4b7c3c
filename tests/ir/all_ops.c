#include "tests/ir/all_ops.h"

#include "ir/op_info.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const tw_type *f32(void) { return tw_type_scalar(TW_F32); }
static const tw_type *i32(void) { return tw_type_scalar(TW_I32); }

/* A buffer of anything. */
static tw_value anything(tw_builder *b) {
    tw_value memory = tw_param_ptr(b, "anything", TW_I8, TW_PARAM_READONLY);
    tw_value bytes = tw_i32(b, 16);
    return tw_buffer_rsrc(b, memory, bytes);
}

/* A value of `type` that nothing is known about. */
static tw_value unknown(tw_builder *b, tw_value buffer, const tw_type *type) {
    tw_value zero = tw_i32(b, 0);
    if (type->scalar != TW_I1) return tw_buffer_load(b, type, buffer, zero, zero, 0);
    const tw_type *bytes = tw_type_vector(TW_I8, type->lanes);
    tw_value wide = tw_buffer_load(b, bytes, buffer, zero, zero, 0);
    tw_value none = tw_constant(b, bytes, 0);
    return tw_icmp(b, TW_NE, wide, none);
}

/* Every row that is element-wise arithmetic, on scalars and vectors of each element it takes. */
static void build_alu(tw_builder *b) {
    static const tw_scalar scalars[] = {TW_I1, TW_I8, TW_I16, TW_I32, TW_I64, TW_F16, TW_BF16, TW_F32};
    tw_value buffer = anything(b);
    for (unsigned s = 0; s < COUNT(scalars); s++) {
        for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
            const tw_type *type = tw_type_vector(scalars[s], lanes);
            if (tw_type_bits(type) > 128) continue;
            tw_value x = unknown(b, buffer, type);
            for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
                const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
                tw_value operands[TW_MAX_FIXED_OPERANDS] = {x, x, x};
                if (!row || row->result != R_SAME0 || row->effect != E_PURE || row->attr_count) continue;
                if (row->operands[0] == T_PTR || !tw_type_in_class(type, row->operands[0])) continue;
                tw_build_op(b, row->opcode, NULL, operands, row->operand_count, NULL, 0);
            }
        }
    }
}

static void build_choice(tw_builder *b) {
    tw_value buffer = anything(b);
    tw_value i = unknown(b, buffer, i32());
    tw_value f = unknown(b, buffer, tw_type_vector(TW_F16, 2));
    tw_value c = unknown(b, buffer, tw_type_scalar(TW_I1));
    tw_value d = c;
    for (int p = TW_EQ; p <= TW_UGE; p++)
        d = tw_icmp(b, (tw_icmp_predicate)p, i, i);
    tw_value e = f;
    for (int p = TW_FOEQ; p <= TW_FUNO; p++)
        e = tw_fcmp(b, (tw_fcmp_predicate)p, f, f);
    tw_select(b, d, i, i);
    tw_select(b, c, f, f);
    tw_select(b, e, f, f);
    tw_select(b, c, buffer, buffer);
    tw_icmp(b, TW_EQ, c, d);
}

static void build_conversions(tw_builder *b) {
    tw_fp8_kind kind = tw_arch_get(tw_builder_target(b).arch)->fp8;
    tw_value buffer = anything(b);
    for (unsigned lanes = 1; lanes <= 4; lanes *= 4) {
        tw_value i = unknown(b, buffer, tw_type_vector(TW_I32, lanes));
        tw_value f = unknown(b, buffer, tw_type_vector(TW_F32, lanes));
        tw_value h = tw_fptrunc(b, f, TW_F16);
        tw_value y = tw_fptrunc(b, f, TW_BF16);
        tw_fpext(b, h, TW_F32);
        tw_fpext(b, y, TW_F32);
        tw_sitofp(b, i, TW_F32);
        tw_uitofp(b, i, TW_F16);
        tw_fptosi(b, h, TW_I16);
        tw_fptoui(b, f, TW_I64);
        tw_value narrow = tw_trunc(b, i, TW_I8);
        tw_sext(b, narrow, TW_I64);
        tw_zext(b, narrow, TW_I16);
        tw_value bit = tw_trunc(b, i, TW_I1);
        tw_sext(b, bit, TW_I32);
        tw_bitcast(b, i, tw_type_vector(TW_BF16, lanes * 2));
        if (kind == TW_FP8_NONE) continue;
        tw_value fp8 = tw_fptrunc_sat(b, f, kind == TW_FP8_OCP ? TW_F8E4M3 : TW_F8E4M3FNUZ);
        tw_value bf8 = tw_fptrunc_sat(b, f, kind == TW_FP8_OCP ? TW_F8E5M2 : TW_F8E5M2FNUZ);
        tw_fpext(b, fp8, TW_F32);
        tw_fpext(b, bf8, TW_F32);
    }
}

static void build_vectors(tw_builder *b) {
    static const int64_t lanes[] = {0, 7, 3, 3, 4};
    tw_value x = tw_param(b, "x", TW_F32);
    tw_value seven = tw_i32(b, 7);
    tw_value elements[] = {x, x, x, x};
    tw_value v = tw_vector_build(b, elements, 4);
    tw_value w = tw_vector_splat(b, x, 4);
    tw_value e = tw_vector_extract(b, v, 3);
    tw_vector_insert(b, e, w, 0);
    tw_vector_shuffle(b, v, w, lanes, COUNT(lanes));
    tw_value integers[] = {seven, seven};
    tw_vector_build(b, integers, 2);
    tw_vector_splat(b, seven, 3);
}

static void build_wave(tw_builder *b) {
    tw_value x = tw_param(b, "x", TW_F32);
    for (unsigned dim = 0; dim < 3; dim++) {
        tw_workitem_id(b, dim);
        tw_workgroup_id(b, dim);
        tw_num_workgroups(b, dim);
    }
    tw_value lane = tw_lane_id(b);
    tw_value wave = tw_wave_id(b);
    tw_readfirstlane(b, lane);
    tw_shuffle(b, x, wave);
    tw_shuffle_xor(b, x, 16);
    tw_row_shift(b, x, -3);
    for (int kind = TW_REDUCE_ADD; kind <= TW_REDUCE_FMAX; kind++)
        tw_wave_reduce(b, (tw_reduce_kind)kind, kind < TW_REDUCE_FADD ? lane : x);
    tw_value low = tw_icmp(b, TW_ULT, lane, wave);
    tw_ballot(b, low);
}

static void build_memory(tw_builder *b) {
    uint32_t features = tw_arch_get(tw_builder_target(b).arch)->features;
    tw_value dst = tw_param_ptr(b, "dst", TW_F32, TW_PARAM_NOALIAS);
    tw_value src = tw_param_ptr(b, "src", TW_F16, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value far = tw_param(b, "far", TW_I64);
    tw_value tid = tw_workitem_id(b, 0);
    tw_value one = tw_i32(b, 1);
    tw_value zero = tw_i32(b, 0);
    tw_value moved = tw_ptr_offset(b, src, far);
    tw_value h = tw_global_load(b, tw_type_vector(TW_F16, 8), moved, tid, 16);
    tw_value pair = tw_global_load(b, tw_type_vector(TW_F16, 2), src, far, 4);
    tw_global_store(b, h, src, far, 0);
    tw_value operands[] = {dst, one};
    tw_named_attr nontemporal = {"nontemporal", {.kind = TW_ATTR_BOOL, .as.b = true}};
    tw_value f = tw_build_op(b, TW_OP_GLOBAL_LOAD, f32(), operands, 2, &nontemporal, 1);
    tw_global_atomic_fadd(b, f, dst, tid);
    tw_value rsrc = tw_buffer_rsrc(b, dst, n);
    tw_value four = tw_buffer_load(b, tw_type_vector(TW_F32, 4), rsrc, tid, zero, 0);
    tw_buffer_store(b, four, rsrc, tid, zero, 0);
    tw_value g = tw_buffer_load(b, f32(), rsrc, tid, n, 1);
    tw_buffer_atomic_fadd(b, g, rsrc, tid, zero,
                          tw_cache_policy(tw_builder_target(b), TW_ATOMIC_CASCADE_DEVICE));
    if (features & TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC) tw_buffer_atomic_fadd(b, pair, rsrc, tid, zero, 0);
    tw_value lds = tw_lds_alloc(b, TW_F32, 1024, 16);
    tw_value wide = tw_lds_alloc(b, TW_I64, 3, 64);
    tw_name(b, wide, "wide");
    tw_lds_store(b, f, lds, tid, 0);
    tw_lds_store(b, four, lds, one, 4);
    tw_barrier(b, TW_FENCE_LDS);
    tw_lds_load(b, tw_type_vector(TW_F32, 2), lds, tid, 8);
    tw_lds_atomic_fadd(b, f, lds, zero);
}

static void build_order(tw_builder *b) {
    tw_barrier(b, TW_FENCE_LDS);
    tw_barrier(b, TW_FENCE_ALL);
    tw_sched_barrier(b, 0);
    tw_sched_group_barrier(b, 2047, 64, 15);
    tw_setprio(b, 3);
}

/* Loops in branches in loops; values that want the same name. */
static void build_control(tw_builder *b) {
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value far = tw_param(b, "far", TW_I64);
    tw_value zero = tw_i32(b, 0);
    tw_value one = tw_i32(b, 1);
    tw_value wide_zero = tw_i64(b, 0);
    tw_value wide_one = tw_i64(b, 1);
    tw_value init[] = {tw_f32(b, 0.0f), one};
    tw_value carried[2], results[2], inner[1];
    tw_value i = tw_for_begin(b, zero, n, one, 2, init, carried);
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
    tw_value j = tw_for_begin(b, wide_zero, far, wide_one, 0, NULL, NULL);
    tw_name(b, j, "i");
    tw_value at_zero = tw_icmp(b, TW_EQ, j, wide_zero);
    tw_if_begin(b, at_zero);
    tw_if_end(b, 0, NULL, NULL);
    tw_for_end(b, 0, NULL, NULL);
    tw_value last = tw_icmp(b, TW_SGT, results[1], n);
    tw_if_begin(b, last);
    tw_setprio(b, 1);
    tw_if_else(b, 0, NULL);
    tw_setprio(b, 0);
    tw_if_end(b, 0, NULL, NULL);
}

static void build_constants(tw_builder *b) {
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
                tw_constant(b, tw_type_vector(rows[r].scalar, lanes), rows[r].bits[i]);
}

static const struct {
    const char *name;
    void (*build)(tw_builder *b);
    tw_kernel_options options;
} kernels[] = {
    {"alu", build_alu, {.workgroup_size = 64}},
    {"choice", build_choice, {.workgroup_size = 256}},
    {"conversions", build_conversions, {.workgroup_size = 64, .flush_f32_denormals = true}},
    {"vectors", build_vectors, {.workgroup_size = 1}},
    {"wave", build_wave, {.workgroup_size = 64, .workgroup_size_y = 4}},
    {"memory", build_memory, {.workgroup_size = 512, .min_waves_per_eu = 1, .max_waves_per_eu = 2}},
    {"order", build_order, {.workgroup_size = 8, .workgroup_size_y = 8, .workgroup_size_z = 2}},
    {"control", build_control, {.workgroup_size = 64, .min_waves_per_eu = 2}},
    {"constants", build_constants, {.workgroup_size = 1024}},
};

size_t all_ops_count(void) { return COUNT(kernels); }

const char *all_ops_name(size_t index) { return kernels[index].name; }

tw_kernel *all_ops_build(tw_context *ctx, tw_target target, size_t index) {
    tw_builder *b = tw_kernel_begin(ctx, kernels[index].name, target, &kernels[index].options);
    if (!b) return NULL;
    kernels[index].build(b);
    return tw_kernel_end(b);
}
