#include "tests/lower/op_kernels.h"

#include "ir/op_info.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

typedef struct maker {
    tw_builder *b;
    unsigned how;
    tw_value pointers[TW_SCALAR_COUNT];
    tw_value tid;
    int32_t place; /* of the next access, in elements */
} maker;

static const tw_scalar int_scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64};
static const tw_scalar float_scalars[] = {TW_F16, TW_BF16, TW_F32};

/* Lanes for the tests: 1, 2, 3 and, in wide kernels, 4, 5 and 8. The next one, 0 past the end. */
static unsigned next_lanes(const maker *m, unsigned lanes) {
    static const unsigned all[] = {1, 2, 3, 4, 5, 8};
    unsigned count = (m->how & OP_KERNELS_WIDE) ? COUNT(all) : 3;
    for (unsigned i = 0; i < count; i++)
        if (all[i] > lanes) return all[i];
    return 0;
}

static bool is_data(const tw_type *type) { return tw_type_in_class(type, T_DATA); }

/* A place that no other access has. */
static tw_value next_index(maker *m, bool uniform) {
    if (!m->tid.id) m->tid = tw_workitem_id(m->b, 0); /* parameters stand before it */
    m->place += 4096;
    tw_value offset = tw_i32(m->b, m->place);
    return uniform ? offset : tw_add(m->b, m->tid, offset);
}

static tw_value load(maker *m, const tw_type *type) {
    tw_builder *b = m->b;
    if (type->scalar == TW_I1) {
        tw_value number = load(m, tw_type_vector(TW_I32, type->lanes));
        return tw_trunc(b, number, TW_I1);
    }
    if (is_data(type)) {
        tw_value index = next_index(m, m->how & OP_KERNELS_UNIFORM);
        return tw_global_load(b, type, m->pointers[type->scalar], index, 0);
    }
    tw_value lanes[TW_MAX_LANES];
    for (unsigned i = 0; i < type->lanes; i++)
        lanes[i] = load(m, tw_type_scalar(type->scalar));
    return tw_vector_build(b, lanes, type->lanes);
}

static void store(maker *m, tw_value value) {
    tw_builder *b = m->b;
    const tw_type *type = tw_value_type(b, value);
    if (!type) return; /* the builder has failed and says why */
    if (type->scalar == TW_I1) {
        tw_value number = tw_zext(b, value, TW_I32);
        store(m, number);
        return;
    }
    if (is_data(type)) {
        tw_value index = next_index(m, false);
        tw_global_store(b, value, m->pointers[type->scalar], index, 0);
        return;
    }
    for (unsigned i = 0; i < type->lanes; i++) {
        tw_value lane = tw_vector_extract(b, value, i);
        store(m, lane);
    }
}

static bool is_alu(const tw_op_info *row) {
    return row && row->result == R_SAME0 && row->effect == E_PURE && !row->attr_count &&
           row->operands[0] != T_PTR;
}

/* Every element-wise op on one scalar. */
static void alu(maker *m, tw_scalar scalar) {
    for (unsigned lanes = 1; lanes; lanes = next_lanes(m, lanes)) {
        const tw_type *type = tw_type_vector(scalar, lanes);
        tw_value operands[3];
        for (unsigned i = 0; i < 3; i++)
            operands[i] = load(m, type);
        for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
            const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
            if (!is_alu(row) || !tw_type_in_class(type, row->operands[0])) continue;
            tw_value result = tw_build_op(m->b, row->opcode, NULL, operands, row->operand_count, NULL, 0);
            store(m, result);
        }
    }
}

static void build_i1(maker *m) { alu(m, TW_I1); }
static void build_i8(maker *m) { alu(m, TW_I8); }
static void build_i16(maker *m) { alu(m, TW_I16); }
static void build_i32(maker *m) { alu(m, TW_I32); }
static void build_i64(maker *m) { alu(m, TW_I64); }
static void build_f16(maker *m) { alu(m, TW_F16); }
static void build_bf16(maker *m) { alu(m, TW_BF16); }
static void build_f32(maker *m) { alu(m, TW_F32); }

/* Shifts and divisions by constants, the worst ones among them. */
static void build_by_constants(maker *m) {
    static const tw_opcode opcodes[] = {TW_OP_SHL,  TW_OP_LSHR, TW_OP_ASHR, TW_OP_SDIV,
                                        TW_OP_UDIV, TW_OP_SREM, TW_OP_UREM};
    static const int64_t constants[] = {0, 1, -1, 7, 100};
    for (size_t s = 0; s < COUNT(int_scalars); s++) {
        for (unsigned lanes = 1; lanes <= 2; lanes++) {
            const tw_type *type = tw_type_vector(int_scalars[s], lanes);
            tw_value x = load(m, type);
            for (size_t c = 0; c < COUNT(constants); c++) {
                uint64_t bits = (uint64_t)constants[c] & UINT64_MAX >> (64 - tw_scalar_bits(type->scalar));
                tw_value constant = tw_constant(m->b, type, bits);
                for (size_t i = 0; i < COUNT(opcodes); i++) {
                    tw_value operands[] = {x, constant};
                    tw_value result = tw_build_op(m->b, opcodes[i], NULL, operands, 2, NULL, 0);
                    store(m, result);
                }
            }
        }
    }
}

static void choice(maker *m, const tw_scalar *scalars, size_t count) {
    tw_builder *b = m->b;
    tw_value condition = load(m, tw_type_scalar(TW_I1));
    for (size_t s = 0; s < count; s++) {
        for (unsigned lanes = 1; lanes; lanes = next_lanes(m, lanes)) {
            const tw_type *type = tw_type_vector(scalars[s], lanes);
            tw_value x = load(m, type);
            tw_value y = load(m, type);
            bool is_float = tw_scalar_is_float(scalars[s]);
            tw_value last = condition;
            for (int p = 0; p <= (int)(is_float ? TW_FUNO : TW_UGE); p++) {
                last = is_float ? tw_fcmp(b, (tw_fcmp_predicate)p, x, y)
                                : tw_icmp(b, (tw_icmp_predicate)p, x, y);
                store(m, last);
            }
            tw_value one = tw_select(b, condition, x, y);
            store(m, one);
            tw_value each = tw_select(b, last, x, y);
            store(m, each);
        }
    }
}

static void build_int_choice(maker *m) {
    static const tw_scalar i1 = TW_I1;
    choice(m, &i1, 1);
    choice(m, int_scalars, COUNT(int_scalars));
}

static void build_float_choice(maker *m) { choice(m, float_scalars, COUNT(float_scalars)); }

static void build_int_conversions(maker *m) {
    tw_builder *b = m->b;
    for (unsigned lanes = 1; lanes; lanes = next_lanes(m, lanes)) {
        for (size_t i = 0; i < COUNT(int_scalars); i++) {
            tw_value x = load(m, tw_type_vector(int_scalars[i], lanes));
            tw_value bit = tw_trunc(b, x, TW_I1);
            tw_value signs = tw_sext(b, bit, int_scalars[i]);
            store(m, signs);
            tw_value bits = tw_zext(b, bit, int_scalars[i]);
            store(m, bits);
            for (size_t j = 0; j < i; j++) {
                tw_value narrow = tw_trunc(b, x, int_scalars[j]);
                store(m, narrow);
                tw_value sign = tw_sext(b, narrow, int_scalars[i]);
                store(m, sign);
                tw_value zero = tw_zext(b, narrow, int_scalars[i]);
                store(m, zero);
            }
        }
    }
}

/* Between a float format and all others. */
static void float_conversions(maker *m, tw_scalar format) {
    tw_builder *b = m->b;
    for (unsigned lanes = 1; lanes; lanes = next_lanes(m, lanes)) {
        tw_value x = load(m, tw_type_vector(format, lanes));
        for (size_t i = 0; i < COUNT(int_scalars); i++) {
            tw_value n = load(m, tw_type_vector(int_scalars[i], lanes));
            tw_value as_signed = tw_fptosi(b, x, int_scalars[i]);
            store(m, as_signed);
            tw_value as_unsigned = tw_fptoui(b, x, int_scalars[i]);
            store(m, as_unsigned);
            tw_value from_signed = tw_sitofp(b, n, format);
            store(m, from_signed);
            tw_value from_unsigned = tw_uitofp(b, n, format);
            store(m, from_unsigned);
        }
        tw_value bit = load(m, tw_type_vector(TW_I1, lanes));
        tw_value from_bit = tw_uitofp(b, bit, format);
        store(m, from_bit);
        if (format == TW_F32) continue;
        tw_value wide = tw_fpext(b, x, TW_F32);
        store(m, wide);
        tw_value single = load(m, tw_type_vector(TW_F32, lanes));
        tw_value narrow = tw_fptrunc(b, single, format);
        store(m, narrow);
        tw_value product = tw_fmul(b, wide, single);
        tw_value rounded = tw_fptrunc(b, product, format);
        store(m, rounded);
    }
}

static void build_f16_conversions(maker *m) { float_conversions(m, TW_F16); }
static void build_bf16_conversions(maker *m) { float_conversions(m, TW_BF16); }
static void build_f32_conversions(maker *m) { float_conversions(m, TW_F32); }

static void build_fp8(maker *m) {
    tw_builder *b = m->b;
    tw_fp8_kind kind = tw_arch_get(tw_builder_target(b).arch)->fp8;
    if (kind == TW_FP8_NONE) return;
    const tw_scalar formats[] = {kind == TW_FP8_OCP ? TW_F8E4M3 : TW_F8E4M3FNUZ,
                                 kind == TW_FP8_OCP ? TW_F8E5M2 : TW_F8E5M2FNUZ};
    for (unsigned lanes = 1; lanes <= 9; lanes++) {
        for (size_t f = 0; f < COUNT(formats); f++) {
            tw_value x = load(m, tw_type_vector(TW_F32, lanes));
            tw_value narrow = tw_fptrunc_sat(b, x, formats[f]);
            store(m, narrow);
            tw_value y = load(m, tw_type_vector(formats[f], lanes));
            tw_value wide = tw_fpext(b, y, TW_F32);
            store(m, wide);
        }
    }
}

/* Between all vectors of 1 to 16 bytes, and what moves lanes. */
static void build_vectors(maker *m) {
    static const tw_scalar scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64, TW_F16, TW_BF16, TW_F32};
    static const int64_t lanes[] = {5, 0, 3, 1};
    tw_builder *b = m->b;
    for (unsigned bits = 8; bits <= 128; bits += 8) {
        for (size_t i = 0; i < COUNT(scalars); i++) {
            unsigned width = tw_scalar_bits(scalars[i]);
            if (bits % width || !is_data(tw_type_vector(scalars[i], bits / width))) continue;
            tw_value x = load(m, tw_type_vector(scalars[i], bits / width));
            for (size_t j = 0; j < COUNT(scalars); j++) {
                if (bits % tw_scalar_bits(scalars[j])) continue;
                tw_value y = tw_bitcast(b, x, tw_type_vector(scalars[j], bits / tw_scalar_bits(scalars[j])));
                store(m, y);
            }
        }
    }
    for (size_t i = 0; i < COUNT(scalars); i++) {
        tw_value x = load(m, tw_type_vector(scalars[i], 3));
        tw_value y = load(m, tw_type_vector(scalars[i], 3));
        tw_value e = tw_vector_extract(b, x, 1);
        tw_value inserted = tw_vector_insert(b, e, y, 2);
        store(m, inserted);
        tw_value splat = tw_vector_splat(b, e, 4);
        store(m, splat);
        tw_value shuffled = tw_vector_shuffle(b, x, y, lanes, COUNT(lanes));
        store(m, shuffled);
    }
}

/* Values of 32 bits of every type. */
static unsigned words(maker *m, tw_value values[8]) {
    static const struct {
        tw_scalar scalar;
        unsigned lanes;
    } types[] = {{TW_I32, 1}, {TW_F32, 1}, {TW_I16, 2}, {TW_F16, 2}, {TW_BF16, 2}, {TW_I8, 4}};
    for (size_t i = 0; i < COUNT(types); i++)
        values[i] = load(m, tw_type_vector(types[i].scalar, types[i].lanes));
    return COUNT(types);
}

static void build_wave(maker *m) {
    tw_builder *b = m->b;
    unsigned wave_size = tw_builder_target(b).wave_size;
    tw_value values[8], lane = load(m, tw_type_scalar(TW_I32));
    unsigned count = words(m, values);
    for (unsigned i = 0; i < count; i++) {
        tw_value first = tw_readfirstlane(b, values[i]);
        store(m, first);
        tw_value any = tw_shuffle(b, values[i], lane);
        store(m, any);
        tw_value partner = tw_shuffle_xor(b, values[i], 1);
        store(m, partner);
        tw_value neighbour = tw_row_shift(b, values[i], -1);
        store(m, neighbour);
    }
    for (unsigned mask = 1; mask < wave_size; mask++) {
        tw_value partner = tw_shuffle_xor(b, values[0], mask);
        store(m, partner);
    }
    for (int amount = -15; amount <= 15; amount++) {
        if (!amount) continue;
        tw_value shifted = tw_row_shift(b, values[1], amount);
        store(m, shifted);
    }
    for (int kind = TW_REDUCE_ADD; kind <= TW_REDUCE_FMAX; kind++) {
        tw_value total = tw_wave_reduce(b, (tw_reduce_kind)kind, values[kind >= TW_REDUCE_FADD]);
        store(m, total);
    }
    tw_value bit = tw_trunc(b, lane, TW_I1);
    tw_value bits = tw_ballot(b, bit);
    store(m, bits);
}

static void build_ids(maker *m) {
    tw_builder *b = m->b;
    for (unsigned dim = 0; dim < 3; dim++) {
        tw_value workitem = tw_workitem_id(b, dim);
        store(m, workitem);
        tw_value workgroup = tw_workgroup_id(b, dim);
        store(m, workgroup);
        tw_value count = tw_num_workgroups(b, dim);
        store(m, count);
    }
    tw_value lane = tw_lane_id(b);
    store(m, lane);
    tw_value wave = tw_wave_id(b);
    store(m, wave);
}

/* All data types of `scalar`. */
static const tw_type *next_data(tw_scalar scalar, const tw_type *type) {
    for (unsigned lanes = type ? type->lanes + 1u : 1; lanes <= 16; lanes++)
        if (is_data(tw_type_vector(scalar, lanes))) return tw_type_vector(scalar, lanes);
    return NULL;
}

static void build_global(maker *m) {
    static const tw_scalar scalars[] = {TW_I8,   TW_I16, TW_I32,    TW_I64,   TW_F16,
                                        TW_BF16, TW_F32, TW_F8E4M3, TW_F8E5M2};
    tw_builder *b = m->b;
    tw_value far = load(m, tw_type_scalar(TW_I64));
    for (size_t s = 0; s < COUNT(scalars); s++) {
        tw_value moved = tw_ptr_offset(b, m->pointers[scalars[s]], far);
        for (const tw_type *type = next_data(scalars[s], NULL); type; type = next_data(scalars[s], type)) {
            for (unsigned align = (m->how & OP_KERNELS_WIDE) ? 0 : 1; align <= 16;
                 align = align ? align * ((m->how & OP_KERNELS_WIDE) ? 2 : 16) : 1) {
                tw_value from = next_index(m, false);
                tw_value value = tw_global_load(b, type, m->pointers[scalars[s]], from, align);
                tw_value to = next_index(m, false);
                tw_global_store(b, value, moved, to, align);
            }
        }
    }
}

static void build_buffers(maker *m) {
    static const tw_scalar scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64, TW_F16, TW_BF16, TW_F32, TW_F8E4M3};
    tw_builder *b = m->b;
    uint32_t features = tw_arch_get(tw_builder_target(b).arch)->features;
    tw_value size = tw_param(b, "size", TW_I32);
    tw_value soffset = tw_param(b, "soffset", TW_I32);
    tw_value rsrc = tw_buffer_rsrc(b, m->pointers[TW_I8], size);
    for (size_t s = 0; s < COUNT(scalars); s++) {
        for (const tw_type *type = next_data(scalars[s], NULL); type; type = next_data(scalars[s], type)) {
            tw_value from = next_index(m, false);
            tw_value value = tw_buffer_load(b, type, rsrc, from, soffset, 0);
            tw_value to = next_index(m, false);
            tw_buffer_store(b, value, rsrc, to, soffset, 0);
        }
    }
    tw_value f = load(m, tw_type_scalar(TW_F32));
    tw_value h = load(m, tw_type_vector(TW_F16, 2));
    tw_value y = load(m, tw_type_vector(TW_BF16, 2));
    tw_value index = next_index(m, false);
    tw_buffer_atomic_fadd(b, f, rsrc, index, soffset, 0);
    tw_global_atomic_fadd(b, f, m->pointers[TW_F32], index);
    if (features & TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC) tw_buffer_atomic_fadd(b, h, rsrc, index, soffset, 0);
    if (features & TW_ARCH_HAS_PACKED_BF16_BUFFER_ATOMIC)
        tw_buffer_atomic_fadd(b, y, rsrc, index, soffset, 0);
    if (features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16) tw_global_atomic_fadd(b, h, m->pointers[TW_F16], index);
    if (features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_BF16)
        tw_global_atomic_fadd(b, y, m->pointers[TW_BF16], index);
}

static void build_lds(maker *m) {
    static const tw_scalar scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64, TW_F16, TW_BF16, TW_F32, TW_F8E5M2};
    tw_builder *b = m->b;
    uint32_t features = tw_arch_get(tw_builder_target(b).arch)->features;
    for (size_t s = 0; s < COUNT(scalars); s++) {
        tw_value array = tw_lds_alloc(b, scalars[s], 512, 16);
        for (const tw_type *type = next_data(scalars[s], NULL); type; type = next_data(scalars[s], type)) {
            for (unsigned align = (m->how & OP_KERNELS_WIDE) ? 0 : 1; align <= 16;
                 align = align ? align * ((m->how & OP_KERNELS_WIDE) ? 2 : 16) : 1) {
                tw_value value = load(m, type);
                tw_lds_store(b, value, array, m->tid, align);
                tw_barrier(b, type->lanes == 1 ? TW_FENCE_ALL : TW_FENCE_LDS);
                tw_value other = tw_lds_load(b, type, array, m->tid, align);
                store(m, other);
            }
        }
        if (scalars[s] == TW_F32) {
            tw_value f = load(m, tw_type_scalar(TW_F32));
            tw_lds_atomic_fadd(b, f, array, m->tid);
        } else if ((scalars[s] == TW_F16 || scalars[s] == TW_BF16) &&
                   (features & TW_ARCH_HAS_LDS_ATOMIC_PK)) {
            tw_value pair = load(m, tw_type_vector(scalars[s], 2));
            tw_lds_atomic_fadd(b, pair, array, m->tid);
        }
    }
    tw_sched_barrier(b, 0);
    tw_sched_group_barrier(b, 8, 1, 0);
    tw_setprio(b, 1);
}

/* Loops whose index may overflow and whose cannot, of both widths, with everything that can be carried. */
static void build_control(maker *m) {
    tw_builder *b = m->b;
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value far = tw_param(b, "far", TW_I64);
    tw_value zero = tw_i32(b, 0);
    tw_value array = tw_lds_alloc(b, TW_F32, 64, 16);
    tw_value size = tw_i32(b, 4096);
    tw_value rsrc = tw_buffer_rsrc(b, m->pointers[TW_F32], size);
    static const int steps[] = {1, 3, 0}; /* 0: not known */
    for (unsigned i = 0; i < 6; i++) {
        bool is_wide = i >= 3;
        const tw_type *type = tw_type_scalar(is_wide ? TW_I64 : TW_I32);
        tw_value limit = is_wide ? far : n;
        tw_value from = tw_constant(b, type, 0);
        tw_value step = steps[i % 3] ? tw_constant(b, type, (uint64_t)steps[i % 3]) : limit;
        tw_value h = load(m, tw_type_vector(TW_F16, 2));
        tw_value init[] = {h, array, rsrc, m->pointers[TW_I32]}, carried[4], results[4], chosen[1];
        tw_value index = tw_for_begin(b, from, limit, step, 4, init, carried);
        tw_for_unroll(b, i);
        tw_value first = tw_icmp(b, TW_EQ, index, from);
        tw_if_begin(b, first);
        tw_value more = tw_fadd(b, carried[0], h);
        tw_if_else(b, 1, &more);
        tw_value less = tw_fsub(b, carried[0], h);
        tw_if_end(b, 1, &less, chosen);
        tw_value pointer = tw_ptr_offset(b, carried[1], zero);
        tw_value next[] = {chosen[0], pointer, carried[2], carried[3]};
        tw_for_end(b, 4, next, results);
        store(m, results[0]);
        tw_value element = tw_lds_load(b, tw_type_scalar(TW_F32), results[1], zero, 0);
        tw_buffer_store(b, element, results[2], zero, zero, 0);
        tw_value loaded = tw_global_load(b, tw_type_scalar(TW_I32), results[3], zero, 0);
        store(m, loaded);
    }
}

static const struct {
    const char *name;
    void (*build)(maker *m);
    tw_kernel_options options;
} kernels[] = {
    {"i1", build_i1, {.workgroup_size = 64}},
    {"i8", build_i8, {.workgroup_size = 64}},
    {"i16", build_i16, {.workgroup_size = 64}},
    {"i32", build_i32, {.workgroup_size = 64}},
    {"i64", build_i64, {.workgroup_size = 64}},
    {"f16", build_f16, {.workgroup_size = 64}},
    {"bf16", build_bf16, {.workgroup_size = 64}},
    {"f32", build_f32, {.workgroup_size = 64}},
    {"f32_flushed", build_f32, {.workgroup_size = 64, .flush_f32_denormals = true}},
    {"by_constants", build_by_constants, {.workgroup_size = 64}},
    {"int_choice", build_int_choice, {.workgroup_size = 64}},
    {"float_choice", build_float_choice, {.workgroup_size = 64}},
    {"int_conversions", build_int_conversions, {.workgroup_size = 64}},
    {"f16_conversions", build_f16_conversions, {.workgroup_size = 64}},
    {"bf16_conversions", build_bf16_conversions, {.workgroup_size = 64}},
    {"f32_conversions", build_f32_conversions, {.workgroup_size = 64}},
    {"fp8", build_fp8, {.workgroup_size = 64}},
    {"vectors", build_vectors, {.workgroup_size = 64}},
    {"wave", build_wave, {.workgroup_size = 256}},
    {"ids", build_ids, {.workgroup_size = 8, .workgroup_size_y = 8, .workgroup_size_z = 4}},
    {"ids_flat", build_ids, {.workgroup_size = 256}},
    {"ids_one_wave", build_ids, {.workgroup_size = 32}},
    {"global", build_global, {.workgroup_size = 64}},
    {"buffers", build_buffers, {.workgroup_size = 64}},
    {"lds", build_lds, {.workgroup_size = 512}},
    {"control", build_control, {.workgroup_size = 64, .min_waves_per_eu = 1, .max_waves_per_eu = 4}},
};

size_t op_kernels_count(void) { return COUNT(kernels); }

const char *op_kernels_name(size_t index) { return kernels[index].name; }

tw_kernel *op_kernels_build(tw_context *ctx, tw_target target, size_t index, unsigned how) {
    maker m = {.b = tw_kernel_begin(ctx, kernels[index].name, target, &kernels[index].options), .how = how};
    if (!m.b) return NULL;
    for (unsigned s = TW_I8; s < TW_SCALAR_COUNT; s++)
        m.pointers[s] = tw_param_ptr(m.b, tw_scalar_name((tw_scalar)s), (tw_scalar)s, 0);
    kernels[index].build(&m);
    return tw_kernel_end(m.b);
}
