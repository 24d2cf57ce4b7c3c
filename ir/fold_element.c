/* What an op gives for one element of constants, where all targets agree on it. */
#include "ir/eval.h"
#include "ir/fold.h"

/* Which NaN the hardware gives is not decided here. */
static bool is_open(tw_scalar scalar, uint64_t bits) {
    tw_float_format format;
    return tw_scalar_float_format(scalar, &format) && tw_float_is_nan(format, bits);
}

bool tw_fold_element(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out) {
    if (tw_eval_is_approximate(op->opcode)) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (is_open(from, in[i])) return false;
    return tw_eval_alu(op->opcode, from, kernel->options.flush_f32_denormals, in, out) &&
           !is_open(from, *out);
}

bool tw_fold_compare(const tw_kernel *kernel, const tw_op *op, tw_scalar from, const uint64_t in[3],
                     uint64_t *out) {
    int64_t predicate = op->attrs[0].as.i;
    if (op->opcode == TW_OP_ICMP) {
        *out = tw_eval_icmp(predicate, from, in[0], in[1]);
        return true;
    }
    *out = tw_eval_fcmp(predicate, from, kernel->options.flush_f32_denormals, in[0], in[1]);
    return true;
}

bool tw_fold_convert(const tw_kernel *kernel, const tw_op *op, tw_scalar from, tw_scalar to, uint64_t in,
                     uint64_t *out) {
    if (is_open(from, in)) return false;
    in = tw_eval_convert_operand(op->opcode, from, kernel->options.flush_f32_denormals, in);
    return tw_eval_convert(op->opcode, from, to, in, out) && !is_open(to, *out);
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
