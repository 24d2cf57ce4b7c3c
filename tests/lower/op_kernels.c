#include "tests/lower/op_kernels.h"

#include "arch/transpose.h"
#include "ir/copy.h"
#include "ir/matrix.h"
#include "tests/lower/op_maker.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const tw_scalar int_scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64};
static const tw_scalar float_scalars[] = {TW_F16, TW_BF16, TW_F32};

static bool is_alu(const tw_op_info *row) {
    return row && row->result == R_SAME0 && row->effect == E_PURE && !row->attr_count &&
           row->operands[0] != T_PTR;
}

static bool is_approximation(tw_opcode opcode) { return opcode >= TW_OP_EXP2 && opcode <= TW_OP_RCP; }

static bool is_division(tw_opcode opcode) { return opcode >= TW_OP_SDIV && opcode <= TW_OP_UREM; }

/* An op whose result is not settled for all operands: what hardware approximates, and divisions. */
static bool is_unsettled(tw_opcode opcode) { return is_approximation(opcode) || is_division(opcode); }

/* Odd numbers: never 0, and never the least one. */
static tw_value odd(maker *m, tw_value value) {
    tw_value one = tw_constant(m->b, tw_value_type(m->b, value), 1);
    return tw_or(m->b, value, one);
}

static void alu_row(maker *m, const tw_op_info *row, const tw_value *operands) {
    tw_value result = tw_build_op(m->b, row->opcode, NULL, operands, row->operand_count, NULL, 0);
    maker_store(m, result);
}

/* Every element-wise op on one scalar; the unsettled ones, or the others. */
static void alu(maker *m, tw_scalar scalar, bool unsettled) {
    for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
        const tw_type *type = tw_type_vector(scalar, lanes);
        tw_value operands[3], odds[2];
        for (unsigned i = 0; i < 3; i++)
            operands[i] = maker_load(m, type);
        if (tw_type_in_class(type, T_INT))
            for (unsigned i = 0; i < 2; i++)
                odds[i] = odd(m, operands[i]);
        for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
            const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
            if (!is_alu(row) || !tw_type_in_class(type, row->operands[0])) continue;
            if (is_unsettled(row->opcode) == unsettled) {
                alu_row(m, row, operands);
            } else if (is_division(row->opcode)) {
                alu_row(m, row, odds);
            }
        }
    }
}

static void build_i1(maker *m) { alu(m, TW_I1, false); }
static void build_i8(maker *m) { alu(m, TW_I8, false); }
static void build_i16(maker *m) { alu(m, TW_I16, false); }
static void build_i32(maker *m) { alu(m, TW_I32, false); }
static void build_i64(maker *m) { alu(m, TW_I64, false); }
static void build_f16(maker *m) { alu(m, TW_F16, false); }
static void build_bf16(maker *m) { alu(m, TW_BF16, false); }
static void build_f32(maker *m) { alu(m, TW_F32, false); }

static void build_unsettled(maker *m) {
    for (size_t i = 0; i < COUNT(int_scalars); i++)
        alu(m, int_scalars[i], true);
    alu(m, TW_F32, true);
}

/* Shifts and divisions by constants. */
static void by_constants(maker *m, const tw_opcode *opcodes, size_t opcode_count, const int64_t *constants,
                         size_t constant_count, bool odd_operand) {
    for (size_t s = 0; s < COUNT(int_scalars); s++) {
        for (unsigned lanes = 1; lanes <= 2; lanes++) {
            const tw_type *type = tw_type_vector(int_scalars[s], lanes);
            tw_value x = maker_load(m, type);
            if (odd_operand) x = odd(m, x);
            for (size_t c = 0; c < constant_count; c++) {
                uint64_t bits = (uint64_t)constants[c] & UINT64_MAX >> (64 - tw_scalar_bits(type->scalar));
                tw_value constant = tw_constant(m->b, type, bits);
                for (size_t i = 0; i < opcode_count; i++) {
                    tw_value operands[] = {x, constant};
                    tw_value result = tw_build_op(m->b, opcodes[i], NULL, operands, 2, NULL, 0);
                    maker_store(m, result);
                }
            }
        }
    }
}

static const tw_opcode shifts[] = {TW_OP_SHL, TW_OP_LSHR, TW_OP_ASHR};
static const tw_opcode divisions[] = {TW_OP_SDIV, TW_OP_UDIV, TW_OP_SREM, TW_OP_UREM};

static void build_by_constants(maker *m) {
    static const int64_t amounts[] = {0, 1, -1, 7, 100}, divisors[] = {1, -1, 7, 100, -128};
    by_constants(m, shifts, COUNT(shifts), amounts, COUNT(amounts), false);
    by_constants(m, divisions, COUNT(divisions), divisors, COUNT(divisors), true);
}

/* What a division by 0 gives is open, but it must give something. */
static void build_by_zero(maker *m) {
    static const int64_t divisors[] = {0, -1};
    by_constants(m, divisions, COUNT(divisions), divisors, COUNT(divisors), false);
}

static void choice(maker *m, const tw_scalar *scalars, size_t count) {
    tw_builder *b = m->b;
    tw_value condition = maker_load(m, tw_type_scalar(TW_I1));
    for (size_t s = 0; s < count; s++) {
        for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
            const tw_type *type = tw_type_vector(scalars[s], lanes);
            tw_value x = maker_load(m, type);
            tw_value y = maker_load(m, type);
            bool is_float = tw_scalar_is_float(scalars[s]);
            tw_value last = condition;
            for (int p = 0; p <= (int)(is_float ? TW_FUNO : TW_UGE); p++) {
                last = is_float ? tw_fcmp(b, (tw_fcmp_predicate)p, x, y)
                                : tw_icmp(b, (tw_icmp_predicate)p, x, y);
                maker_store(m, last);
            }
            tw_value one = tw_select(b, condition, x, y);
            maker_store(m, one);
            tw_value each = tw_select(b, last, x, y);
            maker_store(m, each);
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
    for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
        for (size_t i = 0; i < COUNT(int_scalars); i++) {
            tw_value x = maker_load(m, tw_type_vector(int_scalars[i], lanes));
            tw_value bit = tw_trunc(b, x, TW_I1);
            tw_value signs = tw_sext(b, bit, int_scalars[i]);
            maker_store(m, signs);
            tw_value bits = tw_zext(b, bit, int_scalars[i]);
            maker_store(m, bits);
            for (size_t j = 0; j < i; j++) {
                tw_value narrow = tw_trunc(b, x, int_scalars[j]);
                maker_store(m, narrow);
                tw_value sign = tw_sext(b, narrow, int_scalars[i]);
                maker_store(m, sign);
                tw_value zero = tw_zext(b, narrow, int_scalars[i]);
                maker_store(m, zero);
            }
        }
    }
}

/* Between a float format and all others. */
static void float_conversions(maker *m, tw_scalar format) {
    tw_builder *b = m->b;
    for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
        tw_value x = maker_load(m, tw_type_vector(format, lanes));
        for (size_t i = 0; i < COUNT(int_scalars); i++) {
            tw_value n = maker_load(m, tw_type_vector(int_scalars[i], lanes));
            tw_value as_signed = tw_fptosi(b, x, int_scalars[i]);
            maker_store(m, as_signed);
            tw_value as_unsigned = tw_fptoui(b, x, int_scalars[i]);
            maker_store(m, as_unsigned);
            tw_value from_signed = tw_sitofp(b, n, format);
            maker_store(m, from_signed);
            tw_value from_unsigned = tw_uitofp(b, n, format);
            maker_store(m, from_unsigned);
        }
        tw_value bit = maker_load(m, tw_type_vector(TW_I1, lanes));
        tw_value from_bit = tw_uitofp(b, bit, format);
        maker_store(m, from_bit);
        if (format == TW_F32) continue;
        tw_value wide = tw_fpext(b, x, TW_F32);
        maker_store(m, wide);
        tw_value single = maker_load(m, tw_type_vector(TW_F32, lanes));
        tw_value narrow = tw_fptrunc(b, single, format);
        maker_store(m, narrow);
        tw_value product = tw_fmul(b, wide, single);
        tw_value rounded = tw_fptrunc(b, product, format);
        maker_store(m, rounded);
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
            tw_value x = maker_load(m, tw_type_vector(TW_F32, lanes));
            tw_value narrow = tw_fptrunc_sat(b, x, formats[f]);
            maker_store(m, narrow);
            tw_value y = maker_load(m, tw_type_vector(formats[f], lanes));
            tw_value wide = tw_fpext(b, y, TW_F32);
            maker_store(m, wide);
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
            if (bits % width || !maker_is_data(tw_type_vector(scalars[i], bits / width))) continue;
            tw_value x = maker_load(m, tw_type_vector(scalars[i], bits / width));
            for (size_t j = 0; j < COUNT(scalars); j++) {
                if (bits % tw_scalar_bits(scalars[j])) continue;
                tw_value y = tw_bitcast(b, x, tw_type_vector(scalars[j], bits / tw_scalar_bits(scalars[j])));
                maker_store(m, y);
            }
        }
    }
    for (size_t i = 0; i < COUNT(scalars); i++) {
        tw_value x = maker_load(m, tw_type_vector(scalars[i], 3));
        tw_value y = maker_load(m, tw_type_vector(scalars[i], 3));
        tw_value e = tw_vector_extract(b, x, 1);
        tw_value inserted = tw_vector_insert(b, e, y, 2);
        maker_store(m, inserted);
        tw_value splat = tw_vector_splat(b, e, 4);
        maker_store(m, splat);
        tw_value shuffled = tw_vector_shuffle(b, x, y, lanes, COUNT(lanes));
        maker_store(m, shuffled);
    }
}

/* Values of 32 bits of every type. */
static unsigned words(maker *m, tw_value values[8]) {
    static const struct {
        tw_scalar scalar;
        unsigned lanes;
    } types[] = {{TW_I32, 1}, {TW_F32, 1}, {TW_I16, 2}, {TW_F16, 2}, {TW_BF16, 2}, {TW_I8, 4}};
    for (size_t i = 0; i < COUNT(types); i++)
        values[i] = maker_load(m, tw_type_vector(types[i].scalar, types[i].lanes));
    return COUNT(types);
}

static void build_wave(maker *m) {
    tw_builder *b = m->b;
    unsigned wave_size = tw_builder_target(b).wave_size;
    tw_value values[8], lane = maker_load(m, tw_type_scalar(TW_I32));
    unsigned count = words(m, values);
    for (unsigned i = 0; i < count; i++) {
        tw_value first = tw_readfirstlane(b, values[i]);
        maker_store(m, first);
        tw_value any = tw_shuffle(b, values[i], lane);
        maker_store(m, any);
        tw_value partner = tw_shuffle_xor(b, values[i], 1);
        maker_store(m, partner);
        tw_value neighbour = tw_row_shift(b, values[i], -1);
        maker_store(m, neighbour);
    }
    for (unsigned mask = 1; mask < wave_size; mask++) {
        tw_value partner = tw_shuffle_xor(b, values[0], mask);
        maker_store(m, partner);
    }
    for (int amount = -15; amount <= 15; amount++) {
        if (!amount) continue;
        tw_value shifted = tw_row_shift(b, values[1], amount);
        maker_store(m, shifted);
    }
    for (int kind = TW_REDUCE_ADD; kind <= TW_REDUCE_FMAX; kind++) {
        tw_value total = tw_wave_reduce(b, (tw_reduce_kind)kind, values[kind >= TW_REDUCE_FADD]);
        maker_store(m, total);
    }
    tw_value bit = tw_trunc(b, lane, TW_I1);
    tw_value bits = tw_ballot(b, bit);
    maker_store(m, bits);
}

/* What constants may be: infinities, NaNs with their payload, denormals, the ends of integers. */
static void build_constants(maker *m) {
    static const struct {
        tw_scalar scalar;
        uint64_t bits[8];
    } rows[] = {
        {TW_I1, {0, 1}},
        {TW_I8, {0, 1, 0x7f, 0x80, 0xff, 5}},
        {TW_I16, {0, 1, 0x7fff, 0x8000, 0xffff, 500}},
        {TW_I32, {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 70000}},
        {TW_I64, {0, 1, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX, 5000000000}},
        {TW_F16, {0, 0x8000, 0x3c00, 0x7c00, 0x7e01, 0xfe55, 0x0001, 0x83ff}},
        {TW_BF16, {0, 0x8000, 0x3f80, 0xff80, 0x7fc1, 0xffd5, 0x0001, 0x807f}},
        {TW_F32, {0, 0x80000000, 0x3f800001, 0xff800000, 0x7fc12345, 0xffd54321, 0x00000001, 0x807fffff}},
    };
    for (size_t r = 0; r < COUNT(rows); r++)
        for (size_t i = 0; i < 8; i++)
            for (unsigned lanes = 1; lanes <= 3; lanes++) {
                tw_value constant = tw_constant(m->b, tw_type_vector(rows[r].scalar, lanes), rows[r].bits[i]);
                maker_store(m, constant);
            }
}

static void build_ids(maker *m) {
    tw_builder *b = m->b;
    for (unsigned dim = 0; dim < 3; dim++) {
        tw_value workitem = tw_workitem_id(b, dim);
        maker_store(m, workitem);
        tw_value workgroup = tw_workgroup_id(b, dim);
        maker_store(m, workgroup);
        tw_value count = tw_num_workgroups(b, dim);
        maker_store(m, count);
    }
    tw_value lane = tw_lane_id(b);
    maker_store(m, lane);
    tw_value wave = tw_wave_id(b);
    maker_store(m, wave);
}

/* All data types of `scalar`. */
static const tw_type *next_data(tw_scalar scalar, const tw_type *type) {
    for (unsigned lanes = type ? type->lanes + 1u : 1; lanes <= 16; lanes++)
        if (maker_is_data(tw_type_vector(scalar, lanes))) return tw_type_vector(scalar, lanes);
    return NULL;
}

/* The alignments to declare: what the type has and, in wide kernels, all that are less. 0 first. */
static unsigned next_align(const maker *m, const tw_type *type, unsigned align) {
    unsigned bytes = maker_padded_lanes(type) * tw_scalar_bits(type->scalar) / 8, most = 1;
    while (most < 16 && bytes % (most * 2) == 0)
        most *= 2;
    if (!align) return (m->how & OP_KERNELS_WIDE) ? 1 : most;
    return align < most ? align * 2 : 0;
}

static const tw_scalar data_scalars[] = {TW_I8,   TW_I16, TW_I32,    TW_I64,   TW_F16,
                                         TW_BF16, TW_F32, TW_F8E4M3, TW_F8E5M2};

static void build_global(maker *m) {
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value far = tw_i64(b, -64);
        tw_value moved = tw_ptr_offset(b, m->pointers[data_scalars[s]], far);
        tw_value back = tw_i32(b, 64);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            unsigned align = 0;
            do {
                tw_value from = maker_next_index(m, type, m->how & OP_KERNELS_UNIFORM);
                tw_value value = tw_global_load(b, type, m->pointers[data_scalars[s]], from, align);
                tw_value to = maker_next_index(m, type, false);
                tw_value place = tw_add(b, to, back);
                tw_global_store(b, value, moved, place, align);
                align = next_align(m, type, align);
            } while (align);
        }
    }
}

/* A byte offset for a value of `type`. */
static tw_value next_offset(maker *m, const tw_type *type, bool uniform) {
    tw_value index = maker_next_index(m, type, uniform);
    tw_value size = tw_i32(m->b, (int32_t)tw_scalar_bits(type->scalar) / 8);
    return tw_mul(m->b, index, size);
}

static tw_value whole_buffer(maker *m, tw_scalar scalar) {
    tw_value size = tw_i32(m->b, INT32_MAX);
    return tw_buffer_rsrc(m->b, m->pointers[scalar], size);
}

static void build_buffers(maker *m) {
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value rsrc = whole_buffer(m, data_scalars[s]);
        tw_value soffset = tw_i32(b, 64);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            tw_value from = next_offset(m, type, m->how & OP_KERNELS_UNIFORM);
            tw_value value = tw_buffer_load(b, type, rsrc, from, soffset, 0);
            tw_value to = next_offset(m, type, false);
            tw_buffer_store(b, value, rsrc, to, soffset, 0);
        }
    }
}

/* Adds to one place a work-item. */
static void atomics(maker *m, tw_scalar scalar, unsigned lanes, bool buffer, bool global) {
    tw_builder *b = m->b;
    const tw_type *type = tw_type_vector(scalar, lanes);
    tw_value zero = tw_i32(b, 0);
    tw_value value = maker_load(m, type);
    if (buffer) {
        tw_value rsrc = whole_buffer(m, scalar);
        tw_value offset = next_offset(m, type, false);
        tw_buffer_atomic_fadd(b, value, rsrc, offset, zero,
                              tw_cache_policy(tw_builder_target(b), TW_ATOMIC_DEVICE));
    }
    if (global) {
        tw_value index = maker_next_index(m, type, false);
        tw_global_atomic_fadd(b, value, m->pointers[scalar], index);
    }
}

static void build_atomics(maker *m) {
    uint32_t features = tw_arch_get(tw_builder_target(m->b).arch)->features;
    atomics(m, TW_F32, 1, true, true);
    atomics(m, TW_F16, 2, features & TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC,
            features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16);
    atomics(m, TW_BF16, 2, features & TW_ARCH_HAS_PACKED_BF16_BUFFER_ATOMIC,
            features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_BF16);
}

/* Writes a value to LDS, and reads that of the neighbour. */
static void lds_pass(maker *m, tw_value array, const tw_type *type, unsigned align) {
    tw_builder *b = m->b;
    tw_value value = maker_load(m, type);
    tw_value lanes = tw_i32(b, (int32_t)maker_padded_lanes(type));
    tw_value one = tw_i32(b, 1);
    tw_value mine = tw_mul(b, m->tid, lanes);
    tw_value neighbour = tw_xor(b, m->tid, one);
    tw_value other = tw_mul(b, neighbour, lanes);
    tw_lds_store(b, value, array, mine, align);
    tw_barrier(b, type->lanes == 1 ? TW_FENCE_ALL : TW_FENCE_LDS);
    tw_value got = tw_lds_load(b, type, array, other, align);
    maker_store(m, got);
    tw_barrier(b, TW_FENCE_LDS);
}

static void lds_atomic(maker *m, tw_value array, const tw_type *type) {
    tw_builder *b = m->b;
    lds_pass(m, array, type, 0);
    tw_value value = maker_load(m, type);
    tw_value lanes = tw_i32(b, type->lanes);
    tw_value index = tw_mul(b, m->tid, lanes);
    tw_lds_atomic_fadd(b, value, array, index);
    tw_value sum = tw_lds_load(b, type, array, index, 4);
    maker_store(m, sum);
    tw_barrier(b, TW_FENCE_LDS);
}

static void build_lds(maker *m) {
    tw_builder *b = m->b;
    bool packed = tw_arch_get(tw_builder_target(b).arch)->features & TW_ARCH_HAS_LDS_ATOMIC_PK;
    maker_next_index(m, tw_type_scalar(TW_I8), false); /* makes the work-item's number */
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value array = tw_lds_alloc(b, data_scalars[s], m->items * 16, 16);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            unsigned align = 0;
            do {
                lds_pass(m, array, type, align);
                align = next_align(m, type, align);
            } while (align);
        }
        if (data_scalars[s] == TW_F32) lds_atomic(m, array, tw_type_scalar(TW_F32));
        if (packed && (data_scalars[s] == TW_F16 || data_scalars[s] == TW_BF16))
            lds_atomic(m, array, tw_type_vector(data_scalars[s], 2));
    }
    tw_sched_barrier(b, 0);
    tw_sched_group_barrier(b, 8, 1, 0);
    tw_setprio(b, 1);
}

/* A loop that carries the sum of its indices and more; `step` 0 stands for the unknown `limit`. */
static void loop(maker *m, tw_value from, tw_value to, tw_value step, unsigned unroll, tw_value array,
                 tw_value rsrc) {
    tw_builder *b = m->b;
    tw_value zero = tw_i32(b, 0);
    tw_value pair = maker_load(m, tw_type_vector(TW_F16, 2));
    tw_value init[] = {from, pair, array, rsrc, m->pointers[TW_I32]}, carried[5], results[5], chosen[1];
    tw_value index = tw_for_begin(b, from, to, step, 5, init, carried);
    tw_for_unroll(b, unroll);
    tw_value sum = tw_add(b, carried[0], index);
    tw_value first = tw_icmp(b, TW_EQ, index, from);
    tw_if_begin(b, first);
    tw_value more = tw_fadd(b, carried[1], pair);
    tw_if_else(b, 1, &more);
    tw_value less = tw_fsub(b, carried[1], pair);
    tw_if_end(b, 1, &less, chosen);
    tw_value pointer = tw_ptr_offset(b, carried[2], zero);
    tw_value next[] = {sum, chosen[0], pointer, carried[3], carried[4]};
    tw_for_end(b, 5, next, results);
    maker_store(m, results[0]);
    maker_store(m, results[1]);
    tw_value element = tw_lds_load(b, tw_type_scalar(TW_F32), results[2], m->tid, 0);
    tw_value place = next_offset(m, tw_type_scalar(TW_F32), false);
    tw_buffer_store(b, element, results[3], place, zero, 0);
    tw_value loaded = tw_global_load(b, tw_type_scalar(TW_I32), results[4], zero, 0);
    maker_store(m, loaded);
}

/* Loops of both widths, up to large indices, with the step known and unknown. */
static void build_control(maker *m) {
    tw_builder *b = m->b;
    tw_value params[2][4];
    static const char *const names[2][4] = {{"start", "end", "high", "step"},
                                            {"far_start", "far_end", "far_high", "far_step"}};
    for (unsigned w = 0; w < 2; w++)
        for (unsigned i = 0; i < 4; i++)
            params[w][i] = tw_param(b, names[w][i], w ? TW_I64 : TW_I32);
    tw_value array = tw_lds_alloc(b, TW_F32, 64, 16);
    tw_value rsrc = whole_buffer(m, TW_F32);
    tw_value f = maker_load(m, tw_type_scalar(TW_F32));
    tw_lds_store(b, f, array, m->tid, 0);
    tw_barrier(b, TW_FENCE_LDS);
    for (unsigned w = 0; w < 2; w++) {
        const tw_type *type = tw_type_scalar(w ? TW_I64 : TW_I32);
        tw_value most = tw_constant(b, type, (w ? INT64_MAX : INT32_MAX) - 10);
        tw_value one = tw_constant(b, type, 1), seven = tw_constant(b, type, 7),
                 ten = tw_constant(b, type, 10);
        tw_value start = params[w][0], end = params[w][1], high = params[w][2], step = params[w][3];
        loop(m, start, end, one, 0, array, rsrc);
        loop(m, start, end, seven, 1, array, rsrc);
        loop(m, start, end, step, 2, array, rsrc);
        loop(m, one, ten, seven, 3, array, rsrc);
        loop(m, high, most, one, 4, array, rsrc);
        loop(m, high, most, seven, 0, array, rsrc);
        loop(m, high, most, step, 5, array, rsrc);
        loop(m, end, start, one, 0, array, rsrc); /* no round */
        loop(m, end, end, step, 0, array, rsrc);
    }
}

static void build_matrices(maker *m) {
    tw_target target = tw_builder_target(m->b);
    const tw_matrix_atom *atom;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        const char *name = tw_matrix_atom_info(atom).name;
        tw_value fragments[3];
        if (!tw_fragment_type(target, name, TW_MATRIX_A)) continue; /* f64 */
        for (unsigned operand = TW_MATRIX_A; operand <= TW_MATRIX_D; operand++)
            fragments[operand] = maker_load(m, tw_fragment_type(target, name, (tw_matrix_operand)operand));
        tw_value d = tw_mma(m->b, name, fragments[0], fragments[1], fragments[2]);
        maker_store(m, d);
    }
}

static bool has(const maker *m, tw_arch_feature feature) {
    return (tw_arch_get(tw_builder_target(m->b).arch)->features & (uint32_t)feature) != 0;
}

static void build_transposed(maker *m) {
    static const tw_scalar scalars[] = {TW_I16, TW_F16, TW_BF16};
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(scalars); s++) {
        const tw_type *type = tw_type_vector(scalars[s], 8);
        tw_value array = tw_lds_alloc(b, scalars[s], m->items * 8, 16), eight = tw_i32(b, 8);
        tw_value v = maker_load(m, type);
        tw_value index = tw_mul(b, m->tid, eight);
        tw_lds_store(b, v, array, index, 0);
        if (has(m, TW_ARCH_HAS_SPLIT_BARRIER)) {
            tw_barrier_signal(b, s ? TW_FENCE_ALL : TW_FENCE_LDS);
            tw_barrier_wait(b, s ? TW_FENCE_ALL : TW_FENCE_LDS);
        } else {
            tw_barrier(b, TW_FENCE_LDS);
        }
        if (has(m, TW_ARCH_HAS_TRANSPOSED_LDS_READ)) {
            tw_value t = tw_lds_load_transposed(b, array, index);
            maker_store(m, t);
        } else {
            tw_value t = tw_lds_load(b, type, array, index, 0);
            maker_store(m, t);
        }
        if (tw_transposed_global_load(tw_builder_target(b))) {
            tw_value t = tw_global_load_transposed(b, m->pointers[scalars[s]], index);
            maker_store(m, t);
        }
    }
}

static void build_copies(maker *m) {
    tw_value seen = maker_load(m, tw_type_scalar(TW_I32));
    maker_store(m, seen);
    tw_builder *b = m->b;
    tw_value two = tw_i32(b, 2), zero = tw_i32(b, 0), sixteen = tw_i32(b, 16), three = tw_i32(b, 3);
    tw_value array = tw_lds_alloc(b, TW_F16, 4096, 16);
    tw_value place = tw_mul(b, m->tid, two);
    if (has(m, TW_ARCH_HAS_ASYNC_LDS)) {
        tw_value far = tw_shl(b, m->tid, three), four = tw_i32(b, 2048);
        tw_value more = tw_or(b, far, four);
        tw_async_copy_to_lds(b, m->pointers[TW_F16], place, array, place, 4, 0);
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
        tw_barrier(b, TW_FENCE_LDS);
        tw_async_copy_to_lds(b, m->pointers[TW_F16], far, array, far, 16, 0);
        tw_async_copy_to_lds(b, m->pointers[TW_F16], far, array, more, 8, 0);
        tw_async_wait(b, 1);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, far, 0));
        tw_async_wait(b, 0);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 4), array, more, 0));
        tw_async_copy_from_lds(b, array, far, m->pointers[TW_F16], far, 16, 0);
        tw_async_wait(b, 0);
    }
    if (has(m, TW_ARCH_HAS_LDS_DMA)) {
        tw_value wave = tw_wave_id(b), seven = tw_i32(b, 7), rsrc = whole_buffer(m, TW_F16);
        tw_value start = tw_shl(b, wave, seven);
        tw_value base = tw_ptr_offset(b, array, start);
        tw_global_load_to_lds(b, m->pointers[TW_F16], place, base, 4, 0);
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
        tw_barrier(b, TW_FENCE_LDS);
        tw_buffer_load_to_lds(b, rsrc, zero, sixteen, base, 4, 0);
        if (has(m, TW_ARCH_HAS_LDS_DMA_WIDE)) {
            tw_value upper = tw_i32(b, 2048), far = tw_shl(b, wave, tw_i32(b, 9));
            tw_value high = tw_ptr_offset(b, array, upper), own = tw_ptr_offset(b, high, far);
            tw_buffer_load_to_lds(b, rsrc, zero, zero, own, 16, 0);
        }
        tw_async_wait(b, 0);
        tw_barrier(b, TW_FENCE_LDS);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), array, place, 0));
    }
    if (has(m, TW_ARCH_HAS_TENSOR_COPY)) {
        tw_value wave = tw_wave_id(b), ten = tw_i32(b, 10), hundred = tw_i32(b, 100);
        tw_value start = tw_shl(b, wave, ten), five = tw_i32(b, 5);
        tw_value base = tw_ptr_offset(b, array, start);
        tw_tensor_tile tile = {.rank = 2, .tile = {16, 8}, .extents = {sixteen, five}, .strides = {hundred}};
        tile.pad_interval = 8;
        tile.pad_amount = 2;
        tw_barrier(b, TW_FENCE_LDS);
        tw_tensor_load_to_lds(b, base, m->pointers[TW_F16], &tile, 0);
        tw_tensor_wait(b, 0);
        tw_tensor_tile cube = {
            .rank = 3, .tile = {4, 2, 2}, .extents = {five, five, two}, .strides = {sixteen, hundred}};
        tw_tensor_load_to_lds(b, base, m->pointers[TW_F16], &cube, 0);
        tw_tensor_wait(b, 0);
        tw_tensor_tile line = {.rank = 1, .tile = {16}, .extents = {five}};
        tw_tensor_store_from_lds(b, base, m->pointers[TW_F16], &line, 0);
        tw_tensor_wait(b, 0);
        maker_store(m, tw_lds_load(b, tw_type_vector(TW_F16, 2), base, zero, 0));
    }
}

/* clang-format off */
static const struct {
    const char *name;
    void (*build)(maker *m);
    uint32_t x, y, z; /* the workgroup */
    bool flush;       /* f32 denormals */
    bool settled;     /* it computes the same wherever it runs: no order of a sum is open */
} kernels[] = {
    /* name                build                     x    y  z  flush  settled */
    {"i1",                build_i1,                 64,  1, 1, false, true},
    {"i8",                build_i8,                 64,  1, 1, false, true},
    {"i16",               build_i16,                64,  1, 1, false, true},
    {"i32",               build_i32,                64,  1, 1, false, true},
    {"i64",               build_i64,                64,  1, 1, false, true},
    {"f16",               build_f16,                64,  1, 1, false, true},
    {"bf16",              build_bf16,               64,  1, 1, false, true},
    {"f32",               build_f32,                64,  1, 1, false, true},
    {"f32_flushed",       build_f32,                64,  1, 1, true,  true},
    {"unsettled",         build_unsettled,          64,  1, 1, false, false},
    {"by_constants",      build_by_constants,       64,  1, 1, false, true},
    {"by_zero",           build_by_zero,            64,  1, 1, false, false},
    {"int_choice",        build_int_choice,         64,  1, 1, false, true},
    {"float_choice",      build_float_choice,       64,  1, 1, false, true},
    {"int_conversions",   build_int_conversions,    64,  1, 1, false, true},
    {"f16_conversions",   build_f16_conversions,    64,  1, 1, false, true},
    {"bf16_conversions",  build_bf16_conversions,   64,  1, 1, false, true},
    {"f32_conversions",   build_f32_conversions,    64,  1, 1, false, true},
    {"fp8",               build_fp8,                64,  1, 1, false, true},
    {"vectors",           build_vectors,            64,  1, 1, false, true},
    {"wave",              build_wave,               256, 1, 1, false, true},
    {"constants",          build_constants,          64,   1, 1, false, true},
    {"ids",               build_ids,                8,   8, 4, false, true},
    {"ids_flat",          build_ids,                256, 1, 1, false, true},
    {"ids_one_wave",      build_ids,                32,  1, 1, false, true},
    {"global",            build_global,             64,  1, 1, false, true},
    {"buffers",           build_buffers,            64,  1, 1, false, true},
    {"atomics",           build_atomics,            64,  1, 1, false, true},
    {"lds",               build_lds,                128, 1, 1, false, true},
    {"matrices",          build_matrices,           64,  1, 1, false, false},
    {"transposed",        build_transposed,         64,  1, 1, false, false},
    {"copies",            build_copies,             128, 1, 1, false, false},
    {"control",           build_control,            64,  1, 1, false, true},
};
/* clang-format on */

size_t op_kernels_count(void) { return COUNT(kernels); }

const char *op_kernels_name(size_t index) { return kernels[index].name; }

bool op_kernels_settled(size_t index) { return kernels[index].settled; }

tw_kernel *op_kernels_build(tw_context *ctx, tw_target target, size_t index, unsigned how,
                            uint32_t *elements) {
    tw_kernel_options options = {.workgroup_size = kernels[index].x,
                                 .workgroup_size_y = kernels[index].y,
                                 .workgroup_size_z = kernels[index].z,
                                 .flush_f32_denormals = kernels[index].flush};
    maker m = {
        .b = tw_kernel_begin(ctx, kernels[index].name, target, &options),
        .how = how,
        .items = kernels[index].x * kernels[index].y * kernels[index].z,
    };
    if (!m.b) return NULL;
    m.place = m.items * 16;
    for (unsigned s = TW_I8; s < TW_SCALAR_COUNT; s++)
        m.pointers[s] = tw_param_ptr(m.b, tw_scalar_name((tw_scalar)s), (tw_scalar)s, 0);
    kernels[index].build(&m);
    if (elements) *elements = m.place + 64;
    return tw_kernel_end(m.b);
}
