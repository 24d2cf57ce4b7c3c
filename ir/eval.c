#include "ir/eval.h"

#include <math.h>

#include "ir/build.h"
#include "ir/op_info.h"

uint64_t tw_width_mask(unsigned width) { return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

int64_t tw_sign_extend(uint64_t bits, unsigned width) {
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

bool tw_scalar_float_format(tw_scalar scalar, tw_float_format *format) {
    switch (scalar) {
    case TW_F16: *format = TW_FLOAT_F16; return true;
    case TW_BF16: *format = TW_FLOAT_BF16; return true;
    case TW_F32: *format = TW_FLOAT_F32; return true;
    case TW_F8E4M3: *format = TW_FLOAT_FP8_OCP; return true;
    case TW_F8E5M2: *format = TW_FLOAT_BF8_OCP; return true;
    case TW_F8E4M3FNUZ: *format = TW_FLOAT_FP8_FNUZ; return true;
    case TW_F8E5M2FNUZ: *format = TW_FLOAT_BF8_FNUZ; return true;
    default: return false;
    }
}

/* ---- element-wise ops ---- */

/* A zero is below the other zero if it is the negative one. The number when one is a NaN. */
static double tw_fold_fmin(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    return a < b || (a == b && signbit(a)) ? a : b;
}

static double tw_fold_fmax(double a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) ? b : a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}

/* What the FOLD column asks for. */
typedef enum column { COLUMN_APPROXIMATE = 0, COLUMN_BITS, COLUMN_FLOAT, COLUMN_FMA } column;

#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU1(number, ENUM, ident, name, class, result, fold, doc) [number] = fold,
#define ALU2(number, ENUM, ident, name, class, result, fold, doc) [number] = fold,
#define ALU3(number, ENUM, ident, name, class, result, fold, doc) [number] = fold,
#define FOLD_INT(e)                                               COLUMN_BITS
#define FOLD_INT_IF(c, e)                                         COLUMN_BITS
#define FOLD_BITS(e)                                              COLUMN_BITS
#define FOLD_FLOAT(e)                                             COLUMN_FLOAT
#define FOLD_FMA                                                  COLUMN_FMA
#define NO_FOLD                                                   COLUMN_APPROXIMATE
static const uint8_t columns[TW_OPCODE_LIMIT] = {
#include "ir/opcodes.def"
};
#undef ALU1
#undef ALU2
#undef ALU3
#undef FOLD_INT
#undef FOLD_INT_IF
#undef FOLD_BITS
#undef FOLD_FLOAT
#undef FOLD_FMA
#undef NO_FOLD

#define ALU2(number, ENUM, ident, name, class, result, fold, doc) \
    case TW_OP_##ENUM:                                            \
        fold
#define ALU1 ALU2
#define ALU3 ALU2

/* Integers and raw bits; the caller cuts the result to the width. */
static bool eval_bits(tw_opcode opcode, uint64_t a, uint64_t b, unsigned width, uint64_t *out) {
#define W    width
#define SIGN ((uint64_t)1 << (width - 1))
#define S(x) tw_sign_extend((x), width)
#define FOLD_INT(e) \
    *out = (e);     \
    return true;
#define FOLD_INT_IF(c, e)   \
    if (!(c)) return false; \
    *out = (e);             \
    return true;
#define FOLD_BITS(e) \
    *out = (e);      \
    return true;
#define FOLD_FLOAT(e) return false;
#define FOLD_FMA      return false;
#define NO_FOLD       return false;
    switch (opcode) {
#include "ir/opcodes.def"
    default: return false;
    }
#undef W
#undef SIGN
#undef S
#undef FOLD_INT
#undef FOLD_INT_IF
#undef FOLD_BITS
#undef FOLD_FLOAT
}

/* Exact, or rounded once in double: rounding again to f32 or less then changes nothing. */
static double eval_float(tw_opcode opcode, double a, double b) {
#define FOLD_INT(e)       return 0;
#define FOLD_INT_IF(c, e) return 0;
#define FOLD_BITS(e)      return 0;
#define FOLD_FLOAT(e)     return (e);
    switch (opcode) {
#include "ir/opcodes.def"
    default: return 0;
    }
#undef FOLD_INT
#undef FOLD_INT_IF
#undef FOLD_BITS
#undef FOLD_FLOAT
#undef FOLD_FMA
#undef NO_FOLD
}
#undef OP
#undef ALU1
#undef ALU2
#undef ALU3

static double eval_approximate(tw_opcode opcode, double a) {
    switch (opcode) {
    case TW_OP_EXP2: return exp2(a);
    case TW_OP_LOG2: return log2(a);
    case TW_OP_SQRT: return sqrt(a);
    case TW_OP_RSQRT: return 1 / sqrt(a);
    case TW_OP_RCP: return 1 / a;
    default: return 0;
    }
}

/* bf16 is computed as f32. */
static bool is_flushed(bool flush, tw_scalar scalar) {
    return flush && (scalar == TW_F32 || scalar == TW_BF16);
}

static uint64_t flushed(bool flush, tw_scalar scalar, uint64_t bits) {
    tw_float_format format = scalar == TW_BF16 ? TW_FLOAT_BF16 : TW_FLOAT_F32;
    if (!is_flushed(flush, scalar) || !tw_float_is_denormal(format, bits)) return bits;
    return bits & (uint64_t)1 << (tw_scalar_bits(scalar) - 1);
}

/* The host's own choice of a NaN does not show. */
static uint64_t nan_result(tw_opcode opcode, tw_float_format format, const uint64_t in[3]) {
    unsigned count = tw_op_info_get(opcode)->operand_count;
    for (unsigned i = 0; i < count; i++)
        if (tw_float_is_nan(format, in[i]))
            return tw_float_convert(format, in[i], format, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
    return tw_float_format_info(format)->nan;
}

/* The f32 that is nearest to the result is a denormal: a bf16 result is then zero even where rounding to bf16
 * would give the least normal number. `f32`: its bits. */
static uint64_t flushed_bf16(uint64_t f32, uint64_t rounded) {
    return tw_float_is_denormal(TW_FLOAT_F32, f32) ? rounded & 0x8000 : rounded;
}

bool tw_eval_is_approximate(tw_opcode opcode) { return columns[opcode] == COLUMN_APPROXIMATE; }

bool tw_eval_alu(tw_opcode opcode, tw_scalar scalar, bool flush, const uint64_t in[3], uint64_t *out) {
    tw_float_format format = TW_FLOAT_F32;
    column how = (column)columns[opcode];
    *out = 0;
    if (how == COLUMN_BITS) {
        unsigned width = tw_scalar_bits(scalar);
        bool known = eval_bits(opcode, in[0], in[1], width, out);
        *out &= tw_width_mask(width);
        return known;
    }
    if (!tw_scalar_float_format(scalar, &format)) return false;
    uint64_t x[3];
    for (int i = 0; i < 3; i++)
        x[i] = flushed(flush, scalar, in[i]);
    if (how == COLUMN_FMA) {
        *out = tw_float_fma(format, x[0], x[1], x[2], TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        if (flush && scalar == TW_BF16)
            *out = flushed_bf16(tw_float_fma(TW_FLOAT_F32, x[0] << 16, x[1] << 16, x[2] << 16,
                                             TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE),
                                *out);
    } else {
        double a = tw_float_to_f64(format, x[0]), b = tw_float_to_f64(format, x[1]);
        double value = how == COLUMN_FLOAT ? eval_float(opcode, a, b) : eval_approximate(opcode, a);
        *out = isnan(value) ? nan_result(opcode, format, x) : tw_float_from_f64(format, value);
        if (flush && scalar == TW_BF16) *out = flushed_bf16(tw_float_from_f64(TW_FLOAT_F32, value), *out);
    }
    *out = flushed(flush, scalar, *out);
    return true;
}

/* ---- comparisons ---- */

bool tw_eval_icmp(int64_t predicate, tw_scalar scalar, uint64_t a, uint64_t b) {
    unsigned width = tw_scalar_bits(scalar);
    int64_t sa = tw_sign_extend(a, width), sb = tw_sign_extend(b, width);
    switch ((tw_icmp_predicate)predicate) {
    case TW_EQ: return a == b;
    case TW_NE: return a != b;
    case TW_SLT: return sa < sb;
    case TW_SLE: return sa <= sb;
    case TW_SGT: return sa > sb;
    case TW_SGE: return sa >= sb;
    case TW_ULT: return a < b;
    case TW_ULE: return a <= b;
    case TW_UGT: return a > b;
    case TW_UGE: return a >= b;
    }
    return false;
}

bool tw_eval_fcmp(int64_t predicate, tw_scalar scalar, bool flush, uint64_t a_bits, uint64_t b_bits) {
    tw_float_format format = TW_FLOAT_F32;
    tw_scalar_float_format(scalar, &format);
    double a = tw_float_to_f64(format, flushed(flush, scalar, a_bits));
    double b = tw_float_to_f64(format, flushed(flush, scalar, b_bits));
    bool unordered = isnan(a) || isnan(b);
    switch ((tw_fcmp_predicate)predicate) {
    case TW_FOEQ: return !unordered && a == b;
    case TW_FONE: return !unordered && a != b;
    case TW_FOLT: return !unordered && a < b;
    case TW_FOLE: return !unordered && a <= b;
    case TW_FOGT: return !unordered && a > b;
    case TW_FOGE: return !unordered && a >= b;
    case TW_FORD: return !unordered;
    case TW_FUEQ: return unordered || a == b;
    case TW_FUNE: return unordered || a != b;
    case TW_FULT: return unordered || a < b;
    case TW_FULE: return unordered || a <= b;
    case TW_FUGT: return unordered || a > b;
    case TW_FUGE: return unordered || a >= b;
    case TW_FUNO: return unordered;
    }
    return false;
}

/* ---- conversions ---- */

/* Toward zero, saturated to `width` bits; a NaN gives 0. */
static uint64_t float_to_int(double value, unsigned width, bool is_signed) {
    double low = is_signed ? -ldexp(1, (int)width - 1) : 0, high = ldexp(1, (int)width - is_signed);
    if (isnan(value)) return 0;
    if (value <= low) return is_signed ? (uint64_t)1 << (width - 1) : 0;
    if (value >= high) return tw_width_mask(width - is_signed);
    return (is_signed ? (uint64_t)(int64_t)value : (uint64_t)value) & tw_width_mask(width);
}

/* Rounded once. What a double cannot hold is cut to 53 bits, the last of which says whether anything was cut
 * off: that is enough to round to the 24 bits of f32 or fewer. */
static uint64_t int_to_float(uint64_t bits, unsigned width, bool is_signed, tw_float_format to) {
    bool negative = is_signed && bits >> (width - 1);
    uint64_t magnitude = negative ? -bits & tw_width_mask(width) : bits;
    int shift = 0;
    while (magnitude >> shift >> 53)
        shift++;
    bool cut = (magnitude & (((uint64_t)1 << shift) - 1)) != 0;
    double value = ldexp((double)(magnitude >> shift | cut), shift);
    return tw_float_from_f64(to, negative ? -value : value);
}

uint64_t tw_eval_convert_operand(tw_opcode opcode, tw_scalar from, bool flush, uint64_t in) {
    bool rounds = opcode == TW_OP_FPTRUNC || opcode == TW_OP_FPTRUNC_SAT;
    return flushed(flush && rounds, from, in);
}

bool tw_eval_convert(tw_opcode opcode, tw_scalar from, tw_scalar to, uint64_t in, uint64_t *out) {
    tw_float_format source = TW_FLOAT_F32, target = TW_FLOAT_F32;
    unsigned width = tw_scalar_bits(from), to_width = tw_scalar_bits(to);
    tw_scalar_float_format(from, &source);
    tw_scalar_float_format(to, &target);
    switch (opcode) {
    case TW_OP_SEXT: *out = (uint64_t)tw_sign_extend(in, width) & tw_width_mask(to_width); return true;
    case TW_OP_ZEXT:
    case TW_OP_TRUNC: *out = in & tw_width_mask(to_width); return true;
    case TW_OP_SITOFP: *out = int_to_float(in, width, true, target); return true;
    case TW_OP_UITOFP: *out = int_to_float(in, width, false, target); return true;
    case TW_OP_FPTOSI: *out = float_to_int(tw_float_to_f64(source, in), to_width, true); return true;
    case TW_OP_FPTOUI: *out = float_to_int(tw_float_to_f64(source, in), to_width, false); return true;
    case TW_OP_FPEXT:
    case TW_OP_FPTRUNC:
        *out = tw_float_convert(source, in, target, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        return true;
    case TW_OP_FPTRUNC_SAT:
        *out = tw_float_convert(source, in, target, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_SATURATE);
        return true;
    default: *out = 0; return false;
    }
}
