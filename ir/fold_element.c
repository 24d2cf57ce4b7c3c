/* What an op gives for one element of constants: the FOLD column of ir/opcodes.def, comparisons, conversions.
 */
#include <math.h>

#include "ir/fold.h"
#include "support/float_formats.h"

int64_t tw_sign_extend(uint64_t bits, unsigned width) {
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

uint64_t tw_width_mask(unsigned width) { return width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

static bool float_format(tw_scalar scalar, tw_float_format *format) {
    switch (scalar) {
    case TW_F16: *format = TW_FLOAT_F16; return true;
    case TW_BF16: *format = TW_FLOAT_BF16; return true;
    case TW_F32: *format = TW_FLOAT_F32; return true;
    default: return false;
    }
}

/* How the hardware treats the element is not decided here: it is a NaN, or a denormal that the kernel
 * flushes. */
static bool is_open(const tw_kernel *kernel, tw_scalar scalar, uint64_t bits) {
    tw_float_format format;
    if (!float_format(scalar, &format)) return false;
    if (tw_float_is_nan(format, bits)) return true;
    return scalar == TW_F32 && kernel->options.flush_f32_denormals &&
           tw_float_is_denormal(TW_FLOAT_F32, bits);
}

/* ---- element-wise ops: the FOLD column ---- */

typedef enum fold_column { COLUMN_NONE = 0, COLUMN_BITS, COLUMN_FLOAT, COLUMN_FMA } fold_column;

#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc)
#define ALU2(number, ENUM, ident, name, class, result, fold, doc) [number] = fold,
#define ALU1                                                      ALU2
#define ALU3                                                      ALU2
#define FOLD_INT(e)                                               COLUMN_BITS
#define FOLD_INT_IF(c, e)                                         COLUMN_BITS
#define FOLD_BITS(e)                                              COLUMN_BITS
#define FOLD_FLOAT(e)                                             COLUMN_FLOAT
#define FOLD_FMA                                                  COLUMN_FMA
#define NO_FOLD                                                   COLUMN_NONE
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
#define S(x) tw_sign_extend(x, width)
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
#undef FOLD_INT
#undef FOLD_INT_IF
#undef FOLD_BITS
#undef FOLD_FLOAT
#undef FOLD_FMA
#undef NO_FOLD
}

/* No NaN comes here. Zeros differ in sign only, and compare equal. */
static double tw_fold_fmin(double a, double b) { return a < b || (a == b && signbit(a)) ? a : b; }
static double tw_fold_fmax(double a, double b) { return a > b || (a == b && !signbit(a)) ? a : b; }

static bool eval_float(tw_opcode opcode, double a, double b, double *out) {
#define FOLD_INT(e)       return false;
#define FOLD_INT_IF(c, e) return false;
#define FOLD_BITS(e)      return false;
#define FOLD_FLOAT(e) \
    *out = (e);       \
    return true;
#define FOLD_FMA return false;
#define NO_FOLD  return false;
    switch (opcode) {
#include "ir/opcodes.def"
    default: return false;
    }
}
#undef OP
#undef ALU1
#undef ALU2
#undef ALU3

static bool fold_float(tw_opcode opcode, tw_float_format format, const uint64_t in[3], uint64_t *out) {
    double result;
    if (!eval_float(opcode, tw_float_to_f64(format, in[0]), tw_float_to_f64(format, in[1]), &result))
        return false;
    *out = tw_float_from_f64(format, result);
    return true;
}

bool tw_fold_element(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out) {
    tw_float_format format = TW_FLOAT_F32;
    unsigned width = tw_scalar_bits(from);
    fold_column column = columns[op->opcode];
    if (column == COLUMN_BITS) {
        if (!eval_bits(op->opcode, in[0], in[1], width, out)) return false;
        *out &= tw_width_mask(width);
        return !is_open(kernel, from, *out);
    }
    if (column == COLUMN_NONE || !float_format(from, &format)) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (is_open(kernel, from, in[i])) return false;
    if (column == COLUMN_FLOAT) {
        if (!fold_float(op->opcode, format, in, out)) return false;
    } else {
        *out = tw_float_fma(format, in[0], in[1], in[2], TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
    }
    return !is_open(kernel, from, *out);
}

/* ---- comparisons ---- */

static bool compare_ints(int64_t predicate, uint64_t a, uint64_t b, unsigned width) {
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

static bool compare_floats(int64_t predicate, double a, double b) {
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

bool tw_fold_compare(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out) {
    int64_t predicate = op->attrs[0].as.i;
    if (op->opcode == TW_OP_ICMP) {
        *out = compare_ints(predicate, in[0], in[1], tw_scalar_bits(from));
        return true;
    }
    tw_float_format format;
    if (!float_format(from, &format)) return false;
    bool flushes = from == TW_F32 && kernel->options.flush_f32_denormals;
    if (flushes && (tw_float_is_denormal(TW_FLOAT_F32, in[0]) || tw_float_is_denormal(TW_FLOAT_F32, in[1])))
        return false;
    *out = compare_floats(predicate, tw_float_to_f64(format, in[0]), tw_float_to_f64(format, in[1]));
    return true;
}

/* ---- conversions ---- */

/* Toward zero, saturated to `width` bits; a NaN gives 0. */
static uint64_t float_to_int(double value, unsigned width, bool is_signed) {
    double low = is_signed ? -ldexp(1, (int)width - 1) : 0, high = ldexp(1, (int)width - is_signed);
    if (isnan(value)) return 0;
    if (value <= low) return is_signed ? (uint64_t)1 << (width - 1) : 0;
    if (value >= high) return is_signed ? tw_width_mask(width - 1) : tw_width_mask(width);
    return (is_signed ? (uint64_t)(int64_t)value : (uint64_t)value) & tw_width_mask(width);
}

/* Through a double where that is exact; otherwise the integer would be rounded twice. */
static bool int_to_float(uint64_t bits, unsigned width, bool is_signed, tw_float_format to, uint64_t *out) {
    const int64_t limit = (int64_t)1 << 53;
    int64_t value = is_signed ? tw_sign_extend(bits, width) : (int64_t)bits;
    if (value > limit || value < -limit || (!is_signed && bits > (uint64_t)limit)) return false;
    *out = tw_float_from_f64(to, (double)value);
    return true;
}

bool tw_fold_convert(const tw_kernel *kernel, const tw_op *op, tw_scalar from, tw_scalar to, uint64_t in,
                     uint64_t *out) {
    tw_float_format source = TW_FLOAT_F32, target = TW_FLOAT_F32;
    unsigned width = tw_scalar_bits(from);
    float_format(from, &source);
    float_format(to, &target);
    if (is_open(kernel, from, in)) return false;
    switch (op->opcode) {
    case TW_OP_SEXT:
        *out = (uint64_t)tw_sign_extend(in, width) & tw_width_mask(tw_scalar_bits(to));
        return true;
    case TW_OP_ZEXT:
    case TW_OP_TRUNC: *out = in & tw_width_mask(tw_scalar_bits(to)); return true;
    case TW_OP_SITOFP:
    case TW_OP_UITOFP: return int_to_float(in, width, op->opcode == TW_OP_SITOFP, target, out);
    case TW_OP_FPTOSI:
    case TW_OP_FPTOUI:
        *out = float_to_int(tw_float_to_f64(source, in), tw_scalar_bits(to), op->opcode == TW_OP_FPTOSI);
        return true;
    case TW_OP_FPEXT:
    case TW_OP_FPTRUNC:
        *out = tw_float_convert(source, in, target, TW_ROUND_NEAREST_EVEN, TW_OVERFLOW_IEEE);
        return !is_open(kernel, to, *out);
    default: return false;
    }
}

bool tw_fold_bitcast(tw_scalar from, tw_scalar to, uint64_t in, uint64_t *out) {
    unsigned narrow = tw_scalar_bits(from), wide = tw_scalar_bits(to);
    if (narrow > wide) {
        uint64_t piece = in & tw_width_mask(wide);
        for (unsigned at = wide; at < narrow; at += wide)
            if (((in >> at) & tw_width_mask(wide)) != piece) return false;
        *out = piece;
        return true;
    }
    *out = 0;
    for (unsigned at = 0; at < wide; at += narrow)
        *out |= in << at;
    return true;
}
