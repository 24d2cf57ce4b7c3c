/* Vectors. */
#include "lower/lowering.h"

static void mask(tw_lowering *l, const int64_t *lanes, unsigned first, unsigned count) {
    tw_ll_text(l, "<%d x i32> <", (int)count);
    for (unsigned i = 0; i < count; i++)
        tw_ll_text(l, "%si32 %d", i ? ", " : "", lanes ? (int)lanes[i] : (int)(first + i));
    tw_ll_text(l, ">");
}

tw_ref tw_ll_slice(tw_lowering *l, const tw_type *type, tw_ref vector, unsigned first, unsigned count) {
    if (count == 1) return tw_ll_let(l, "extractelement %t %r, i32 %d", type, vector, (int)first);
    tw_ref slice = tw_ll_begin_let(l);
    tw_ll_text(l, "shufflevector %t %r, %t poison, ", type, vector, type);
    mask(l, NULL, first, count);
    tw_ll_text(l, "\n");
    return slice;
}

void tw_ll_vector_build(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result), *element = tw_type_scalar(type->scalar);
    tw_ref vector = tw_ref_text("poison");
    for (unsigned i = 0; i + 1u < type->lanes; i++)
        vector = tw_ll_let(l, "insertelement %t %r, %t %v, i32 %d", type, vector, element, op->operands[i],
                           (int)i);
    tw_ll_set(l, op->first_result, "insertelement %t %r, %t %v, i32 %d", type, vector, element,
              op->operands[type->lanes - 1], type->lanes - 1);
}

void tw_ll_vector_splat(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->first_result), *element = tw_type_scalar(type->scalar);
    tw_ref first = tw_ll_let(l, "insertelement %t poison, %t %v, i32 0", type, element, op->operands[0]);
    tw_ll_set(l, op->first_result, "shufflevector %t %r, %t poison, %t zeroinitializer", type, first, type,
              tw_ll_like(type, TW_I32));
}

void tw_ll_vector_extract(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ll_set(l, op->first_result, "extractelement %t %v, i32 %d", tw_ll_type_of(l, op->operands[0]),
              op->operands[0], (int)tw_ll_attr(op, 0));
}

void tw_ll_vector_insert(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    tw_ll_set(l, op->first_result, "insertelement %t %v, %t %v, i32 %d", tw_ll_type_of(l, op->first_result),
              op->operands[1], tw_ll_type_of(l, op->operands[0]), op->operands[0], (int)tw_ll_attr(op, 0));
}

void tw_ll_vector_shuffle(tw_lowering *l, const tw_op *op, const tw_ll_rule *rule) {
    (void)rule;
    const tw_type *type = tw_ll_type_of(l, op->operands[0]);
    tw_ll_begin_set(l, op->first_result);
    tw_ll_text(l, "shufflevector %t %v, %t %v, ", type, op->operands[0], type, op->operands[1]);
    mask(l, op->attrs[0].as.ints.values, 0, op->attrs[0].as.ints.count);
    tw_ll_text(l, "\n");
}
