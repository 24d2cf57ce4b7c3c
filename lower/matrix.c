/* Matrix products: one intrinsic an atom, by lower/matrix.def. */
#include <string.h>

#include "arch/matrix.h"
#include "lower/lowering.h"

typedef enum tw_matrix_form {
    TW_MATRIX_FORM_AS_IS = 0,
    TW_MATRIX_FORM_I16,
    TW_MATRIX_FORM_WORDS,
    TW_MATRIX_FORM_I64,
} tw_matrix_form;

/* The operands of a call in order: 'A', 'B', 'C', and constants between them. */
typedef enum tw_matrix_call {
    TW_MATRIX_CALL_MFMA = 0,
    TW_MATRIX_CALL_WMMA,
    TW_MATRIX_CALL_WMMA_SIGNED,
    TW_MATRIX_CALL_WMMA_MODIFIED,
} tw_matrix_call;

static const char *const calls[] = {
    [TW_MATRIX_CALL_MFMA] = "A, B, C, i32 0, i32 0, i32 0", /* no broadcast, no lanes exchanged */
    [TW_MATRIX_CALL_WMMA] = "A, B, C",
    [TW_MATRIX_CALL_WMMA_SIGNED] = "i1 true, A, i1 true, B, C, i1 false", /* signed; no saturation */
    /* no operand negated, none kept for the next instruction */
    [TW_MATRIX_CALL_WMMA_MODIFIED] = "i1 false, A, i1 false, B, i16 0, C, i1 false, i1 false",
};

typedef struct matrix_row {
    const char *atom;
    unsigned wave_size;
    tw_intrinsic intrinsic;
    tw_matrix_form form;
    tw_matrix_call call;
} matrix_row;

static const matrix_row rows[] = {
#define MATRIX(atom, wave, KEY, FORM, CALL) \
    {atom, wave, TW_LL_##KEY, TW_MATRIX_FORM_##FORM, TW_MATRIX_CALL_##CALL},
#include "lower/matrix.def"
};

static const matrix_row *row_of(const char *atom, unsigned wave_size) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].wave_size == wave_size && !strcmp(rows[i].atom, atom)) return &rows[i];
    return NULL;
}

static const tw_type *type_in_form(const tw_type *type, tw_matrix_form form) {
    switch (form) {
    case TW_MATRIX_FORM_I16: return tw_ll_like(type, TW_I16);
    case TW_MATRIX_FORM_WORDS: return tw_type_vector(TW_I32, tw_type_bits(type) / 32);
    case TW_MATRIX_FORM_I64: return tw_type_scalar(TW_I64);
    default: return type;
    }
}

typedef struct operand {
    const tw_type *type;
    tw_ref ref;
} operand;

static operand operand_in_form(tw_lowering *l, tw_value value, tw_matrix_form form) {
    const tw_type *type = tw_ll_type_of(l, value), *wanted = type_in_form(type, form);
    if (type == wanted) return (operand){type, tw_ref_value(value)};
    return (operand){wanted, tw_ll_let(l, "bitcast %t %v to %t", type, value, wanted)};
}

/* C as LLVM may see it: where the release misreads one that was joined from two vectors, as a register of its
 * own. */
static operand sum_operand(tw_lowering *l, tw_value value) {
    operand c = operand_in_form(l, value, TW_MATRIX_FORM_AS_IS);
    const tw_op *op = tw_value_get(l->kernel, value)->op;
    bool joined = op && (op->opcode == TW_OP_VECTOR_BUILD || op->opcode == TW_OP_VECTOR_INSERT ||
                         op->opcode == TW_OP_VECTOR_SHUFFLE || op->opcode == TW_OP_BITCAST);
    if (joined && l->flavor->joined_sum_targets >> l->arch->arch & 1)
        c.ref = tw_ll_let(l, "call %t asm \"\", \"=v,0\"(%t %r)", c.type, c.type, c.ref);
    return c;
}

void tw_ll_mma(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const char *atom = op->attrs[0].as.s;
    const matrix_row *row = row_of(atom, l->kernel->target.wave_size);
    if (!row) {
        tw_ll_refuse(l, TW_ERR_UNSUPPORTED, "atom %s must have an intrinsic (got none)", atom);
        return;
    }
    operand operands[] = {operand_in_form(l, op->operands[0], row->form),
                          operand_in_form(l, op->operands[1], row->form), sum_operand(l, op->operands[2])};
    tw_ll_begin_set(l, op->first_result);
    tw_ll_text(l, "call %t %I(", operands[2].type, row->intrinsic);
    for (const char *c = calls[row->call]; *c; c++) {
        if (*c >= 'A' && *c <= 'C') {
            tw_ll_text(l, "%t %r", operands[*c - 'A'].type, operands[*c - 'A'].ref);
        } else {
            tw_strbuf_char(&l->out, *c);
        }
    }
    tw_ll_text(l, ")\n");
}
