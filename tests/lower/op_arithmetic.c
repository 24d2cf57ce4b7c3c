/* Kernels of numbers: arithmetic, choices, conversions, vectors, constants. */
#include "tests/lower/op_kernel_parts.h"

#include "tests/lower/op_kernels.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const tw_scalar int_scalars[] = {TW_I8, TW_I16, TW_I32, TW_I64};
static const tw_scalar float_scalars[] = {TW_F16, TW_BF16, TW_F32};

static bool is_alu(const tw_op_info *row) {
    return row && row->result == R_SAME0 && row->effect == E_PURE && !row->attr_count &&
           row->operands[0] != T_PTR;
}

static bool is_approximation(tw_opcode opcode) { return opcode >= TW_OP_EXP2 && opcode <= TW_OP_RCP; }

static bool is_division(tw_opcode opcode) { return opcode >= TW_OP_SDIV && opcode <= TW_OP_UREM; }

/* Odd numbers: never 0, and never the least one. */
static tw_value odd(maker *m, tw_value value) {
    tw_value one = tw_constant(m->b, tw_value_type(m->b, value), 1);
    return tw_or(m->b, value, one);
}

static void alu_row(maker *m, const tw_op_info *row, const tw_value *operands) {
    tw_value result = tw_build_op(m->b, row->opcode, NULL, operands, row->operand_count, NULL, 0);
    maker_store(m, result);
}

/* Every element-wise op on one scalar but the approximations. Divisors are odd. */
static void alu(maker *m, tw_scalar scalar) {
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
            if (!is_alu(row) || !tw_type_in_class(type, row->operands[0]) || is_approximation(row->opcode))
                continue;
            alu_row(m, row, is_division(row->opcode) ? odds : operands);
        }
    }
}

void build_i1(maker *m) { alu(m, TW_I1); }
void build_i8(maker *m) { alu(m, TW_I8); }
void build_i16(maker *m) { alu(m, TW_I16); }
void build_i32(maker *m) { alu(m, TW_I32); }
void build_i64(maker *m) { alu(m, TW_I64); }
void build_f16(maker *m) { alu(m, TW_F16); }
void build_bf16(maker *m) { alu(m, TW_BF16); }
void build_f32(maker *m) { alu(m, TW_F32); }

/* Neither denormals nor what gives them: for those hardware may give zeros. */
static tw_value tame(maker *m, tw_value value) {
    const tw_type *type = tw_value_type(m->b, value), *words = tw_type_vector(TW_I32, type->lanes);
    tw_value most = tw_constant(m->b, words, 0xbfffffff), least = tw_constant(m->b, words, 0x20000000);
    tw_value bits = tw_bitcast(m->b, value, words);
    tw_value low = tw_and(m->b, bits, most), middle = tw_or(m->b, low, least);
    return tw_bitcast(m->b, middle, type);
}

void build_approximations(maker *m) {
    for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
        tw_value loaded = maker_load(m, tw_type_vector(TW_F32, lanes)), x = tame(m, loaded);
        for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++)
            if (is_approximation((tw_opcode)opcode)) alu_row(m, tw_op_info_get((tw_opcode)opcode), &x);
    }
}

/* Of any numbers: what a division by 0 gives is open, but it must give something. */
void build_divisions(maker *m) {
    for (size_t i = 0; i < COUNT(int_scalars); i++)
        for (unsigned lanes = 1; lanes; lanes = maker_next_lanes(m, lanes)) {
            tw_value operands[2];
            for (unsigned n = 0; n < 2; n++)
                operands[n] = maker_load(m, tw_type_vector(int_scalars[i], lanes));
            for (unsigned opcode = TW_OP_SDIV; opcode <= TW_OP_UREM; opcode++)
                alu_row(m, tw_op_info_get((tw_opcode)opcode), operands);
        }
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

void build_by_constants(maker *m) {
    static const int64_t amounts[] = {0, 1, -1, 7, 100}, divisors[] = {1, -1, 7, 100, -128};
    by_constants(m, shifts, COUNT(shifts), amounts, COUNT(amounts), false);
    by_constants(m, divisions, COUNT(divisions), divisors, COUNT(divisors), true);
}

void build_by_zero(maker *m) {
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

void build_int_choice(maker *m) {
    static const tw_scalar i1 = TW_I1;
    choice(m, &i1, 1);
    choice(m, int_scalars, COUNT(int_scalars));
}

void build_float_choice(maker *m) { choice(m, float_scalars, COUNT(float_scalars)); }

void build_int_conversions(maker *m) {
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

void build_f16_conversions(maker *m) { float_conversions(m, TW_F16); }
void build_bf16_conversions(maker *m) { float_conversions(m, TW_BF16); }
void build_f32_conversions(maker *m) { float_conversions(m, TW_F32); }

void build_fp8(maker *m) {
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
void build_vectors(maker *m) {
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

/* What constants may be: infinities, NaNs with their payload, denormals, the ends of integers. */
void build_constants(maker *m) {
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
