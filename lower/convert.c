/* Conversions between formats. */
#include "lower/lowering.h"

static bool is_bf8(tw_scalar scalar) { return scalar == TW_F8E5M2 || scalar == TW_F8E5M2FNUZ; }

static void set_same(tw_lowering *l, const tw_op *op, const tw_type *type, tw_ref value) {
    tw_ll_set(l, op->first_result, "bitcast %t %r to %t", type, value, type);
}

/* ---- fp8 and bf8 to f32: two bytes of a word at once ---- */

/* The bytes in words of four, and how many words there are: an i32 or a vector of them. */
static tw_ref bytes_to_words(tw_lowering *l, const tw_type *type, tw_ref bytes, unsigned *count) {
    unsigned lanes = type->lanes, padded = (lanes + 3u) & ~3u;
    *count = padded / 4;
    if (padded != lanes) bytes = tw_ll_slice(l, type, bytes, 0, padded);
    return tw_ll_let(l, "bitcast %t %r to %t", tw_type_vector(type->scalar, padded), bytes,
                     tw_type_vector(TW_I32, *count));
}

static void fp8_to_f32(tw_lowering *l, const tw_op *op, const tw_type *from, const tw_type *to) {
    bool bf8 = is_bf8(from->scalar);
    if (from->lanes == 1) {
        tw_ref word = tw_ll_let(l, "zext i8 %v to i32", op->operands[0]);
        tw_ll_set(l, op->first_result, "call float %I(i32 %r, i32 0)",
                  bf8 ? TW_LL_CVT_F32_BF8 : TW_LL_CVT_F32_FP8, word);
        return;
    }
    unsigned words;
    tw_ref packed = bytes_to_words(l, from, tw_ref_value(op->operands[0]), &words), word = packed;
    tw_ref vector = tw_ref_text("poison");
    for (unsigned i = 0; i < from->lanes; i += 2) {
        if (words > 1 && i % 4 == 0)
            word = tw_ll_let(l, "extractelement %t %r, i32 %d", tw_type_vector(TW_I32, words), packed,
                             (int)i / 4);
        /* Of a constant LLVM keeps the lower half where the upper one is asked for. */
        if (i % 4 == 2) word = tw_ll_hide(l, word);
        tw_ref pair =
            tw_ll_let(l, "call <2 x float> %I(i32 %r, i1 %s)",
                      bf8 ? TW_LL_CVT_PK_F32_BF8 : TW_LL_CVT_PK_F32_FP8, word, i % 4 ? "true" : "false");
        for (unsigned j = 0; j < 2 && i + j < from->lanes; j++) {
            tw_ref element = tw_ll_let(l, "extractelement <2 x float> %r, i32 %d", pair, (int)j);
            vector = tw_ll_let(l, "insertelement %t %r, float %r, i32 %d", to, vector, element, (int)(i + j));
        }
    }
    set_same(l, op, to, vector);
}

void tw_ll_fpext(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *from = tw_ll_type_of(l, op->operands[0]), *to = tw_ll_type_of(l, op->first_result);
    if (tw_scalar_is_fp8(from->scalar)) {
        fp8_to_f32(l, op, from, to);
    } else if (from->scalar == TW_BF16 && tw_ll_flushes(l, TW_BF16)) { /* bits stay */
        set_same(l, op, to, tw_ll_widen_bits(l, from, tw_ref_value(op->operands[0])));
    } else if (from->scalar == TW_BF16 && !tw_flavor_has_bfloat(l->flavor)) {
        set_same(l, op, to, tw_ll_widen(l, from, tw_ref_value(op->operands[0])));
    } else {
        tw_ll_set(l, op->first_result, "fpext %t %v to %t", from, op->operands[0], to);
    }
}

/* ---- f32 to f16 and bf16 ---- */

tw_ref tw_ll_keep_apart(tw_lowering *l, const tw_type *type, tw_ref value) {
    return tw_ll_let(l, "call %t %G(%t %r)", type, TW_LL_CANONICALIZE, type, type, value);
}

void tw_ll_fptrunc(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *from = tw_ll_type_of(l, op->operands[0]), *to = tw_ll_type_of(l, op->first_result);
    tw_ref value = tw_ref_value(op->operands[0]);
    if (to->scalar == TW_BF16 && tw_ll_flushes(l, TW_F32)) {
        set_same(l, op, to, tw_ll_narrow(l, to, tw_ll_flushed_operand(l, op, 0)));
        return;
    }
    if (to->scalar == TW_BF16 && !tw_flavor_has_bfloat(l->flavor)) {
        set_same(l, op, to, tw_ll_narrow(l, to, value));
        return;
    }
    if (tw_ll_may_be_product(l, op->operands[0])) value = tw_ll_keep_apart(l, from, value);
    tw_ll_set(l, op->first_result, "fptrunc %t %r to %t", from, value, to);
}

/* ---- f32 to fp8 and bf8 ---- */

/* The largest finite value of a format, as f32 bits and their negative. */
static void largest(tw_scalar scalar, uint32_t *bits) {
    switch (scalar) {
    case TW_F8E4M3: *bits = 0x43e00000; break;     /* 448 */
    case TW_F8E4M3FNUZ: *bits = 0x43700000; break; /* 240 */
    default: *bits = 0x47600000; break;            /* 57344, of both bf8 formats */
    }
}

/* A number between the largest finite values, or the NaN that it was. */
static tw_ref saturated(tw_lowering *l, tw_scalar scalar, tw_ref value) {
    const tw_type *f32 = tw_type_scalar(TW_F32);
    uint32_t bits;
    largest(scalar, &bits);
    tw_ref clamped = tw_ll_let(l, "call float %I(float %r, float %c, float %c)", TW_LL_FMED3, value, f32,
                               (uint64_t)(bits | 0x80000000), f32, (uint64_t)bits);
    tw_ref nan = tw_ll_let(l, "fcmp uno float %r, %r", value, value);
    return tw_ll_let(l, "select i1 %r, float %r, float %r", nan, value, clamped);
}

void tw_ll_fptrunc_sat(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *from = tw_ll_type_of(l, op->operands[0]), *to = tw_ll_type_of(l, op->first_result);
    tw_intrinsic key = is_bf8(to->scalar) ? TW_LL_CVT_PK_BF8_F32 : TW_LL_CVT_PK_FP8_F32;
    unsigned lanes = from->lanes, words = (lanes + 3u) / 4;
    const tw_type *packed = tw_type_vector(TW_I32, words);
    tw_ref vector = tw_ref_text("poison"), word = vector, element[2];
    for (unsigned i = 0; i < lanes; i += 2) {
        for (unsigned j = 0; j < 2; j++) {
            tw_ref value = tw_ref_value(op->operands[0]);
            if (lanes > 1 && i + j < lanes) value = tw_ll_slice(l, from, value, i + j, 1);
            element[j] = i + j < lanes ? saturated(l, to->scalar, value) : element[0];
        }
        word = tw_ll_let(l, "call i32 %I(float %r, float %r, i32 %r, i1 %s)", key, element[0], element[1],
                         i % 4 ? word : tw_ref_text("0"), i % 4 ? "true" : "false");
        bool complete = i % 4 || i + 2 >= lanes;
        if (complete && words > 1)
            vector = tw_ll_let(l, "insertelement %t %r, i32 %r, i32 %d", packed, vector, word, (int)i / 4);
    }
    if (lanes == 1) {
        tw_ll_set(l, op->first_result, "trunc i32 %r to i8", word);
        return;
    }
    const tw_type *bytes = tw_type_vector(to->scalar, words * 4);
    tw_ref result = tw_ll_let(l, "bitcast %t %r to %t", packed, words > 1 ? vector : word, bytes);
    if (bytes != to) result = tw_ll_slice(l, bytes, result, 0, lanes);
    set_same(l, op, to, result);
}

/* ---- integers ---- */

/* An integer that f32 holds exactly and that rounds to the same bf16: the bits that can only say "a little
 * more" are gathered in one. At 2^20 the middles between two bf16 are multiples of 2^12, at 2^35 of 2^27, at
 * 2^50 of 2^42; the rest fits the 24 digits of f32. */
static tw_ref gather_low_bits(tw_lowering *l, const tw_type *type, tw_ref x, bool is_signed) {
    static const struct { unsigned from, gathered; } steps[] = {{20, 11}, {35, 26}, {50, 40}};
    unsigned width = tw_scalar_bits(type->scalar);
    const tw_type *condition = tw_ll_like(type, TW_I1);
    tw_ref size = x;
    if (is_signed) {
        tw_ref sign = tw_ll_let(l, "ashr %t %r, %c", type, x, type, (uint64_t)width - 1);
        size = tw_ll_let(l, "xor %t %r, %r", type, x, sign);
    }
    tw_ref mask = tw_ref_text("zeroinitializer");
    for (unsigned i = 0; i < 3 && steps[i].from < width; i++) {
        tw_ref large = tw_ll_let(l, "icmp uge %t %r, %c", type, size, type, (uint64_t)1 << steps[i].from);
        mask = tw_ll_let(l, "select %t %r, %t %c, %t %r", condition, large, type, type,
                         ((uint64_t)1 << steps[i].gathered) - 1, type, mask);
    }
    tw_ref low = tw_ll_let(l, "and %t %r, %r", type, x, mask);
    tw_ref carried = tw_ll_let(l, "add %t %r, %r", type, low, mask);
    tw_ref gathered = tw_ll_let(l, "or %t %r, %r", type, x, carried);
    tw_ref keep = tw_ll_let(l, "xor %t %r, %c", type, mask, type, UINT64_MAX >> (64 - width));
    return tw_ll_let(l, "and %t %r, %r", type, gathered, keep);
}

void tw_ll_int_to_float(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *from = tw_ll_type_of(l, op->operands[0]), *to = tw_ll_type_of(l, op->first_result);
    const tw_type *floats = tw_ll_like(to, TW_F32);
    unsigned width = tw_scalar_bits(from->scalar);
    if (to->scalar == TW_F32 || (to->scalar == TW_F16 && width < 64)) {
        tw_ll_set(l, op->first_result, "%s %t %v to %t", rule->word, from, op->operands[0], to);
        return;
    }
    tw_ref x = tw_ref_value(op->operands[0]);
    if (to->scalar == TW_BF16 && width > 16) x = gather_low_bits(l, from, x, op->opcode == TW_OP_SITOFP);
    tw_ref f32 = tw_ll_let(l, "%s %t %r to %t", rule->word, from, x, floats);
    if (to->scalar == TW_BF16) {
        set_same(l, op, to, tw_ll_narrow(l, to, f32));
    } else { /* an i64 that f32 rounds is infinite as f16 */
        tw_ll_set(l, op->first_result, "fptrunc %t %r to %t", floats, f32, to);
    }
}

void tw_ll_float_to_int(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    const tw_type *from = tw_ll_type_of(l, op->operands[0]), *to = tw_ll_type_of(l, op->first_result);
    const tw_type *floats = tw_ll_like(from, TW_F32);
    tw_ref value = tw_ref_value(op->operands[0]);
    if (from->scalar == TW_BF16) value = tw_ll_widen(l, from, value);
    if (from->scalar == TW_F16) value = tw_ll_let(l, "fpext %t %r to %t", from, value, floats);
    tw_ll_set(l, op->first_result, "call %t %G(%t %r)", to, rule->intrinsic, to, floats, value);
}
