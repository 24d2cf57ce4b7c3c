#include "tests/lower/op_maker.h"

#include "tests/lower/op_kernels.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

unsigned maker_next_lanes(const maker *m, unsigned lanes) {
    static const unsigned all[] = {1, 2, 3, 4, 5, 8};
    unsigned count = (m->how & OP_KERNELS_WIDE) ? COUNT(all) : 3;
    for (unsigned i = 0; i < count; i++)
        if (all[i] > lanes) return all[i];
    return 0;
}

bool maker_is_data(const tw_type *type) { return tw_type_in_class(type, T_DATA); }

unsigned maker_padded_lanes(const tw_type *type) {
    unsigned lanes = 1;
    while (lanes < type->lanes)
        lanes *= 2;
    return lanes;
}

tw_value maker_next_index(maker *m, const tw_type *type, bool uniform) {
    tw_builder *b = m->b;
    if (!m->tid.id) { /* parameters stand before it */
        tw_value y = tw_workitem_id(b, 1), z = tw_workitem_id(b, 2);
        tw_value eight = tw_i32(b, 8);
        tw_value upper = tw_mul(b, z, eight);
        tw_value rows = tw_add(b, upper, y);
        tw_value before = tw_mul(b, rows, eight);
        tw_value x = tw_workitem_id(b, 0);
        m->tid = tw_add(b, before, x); /* kernels with more than one dimension have 8 x 8 x n work-items */
    }
    tw_value offset = tw_i32(b, (int32_t)m->place);
    m->place += m->items * 16;
    if (uniform) return offset;
    tw_value lanes = tw_i32(b, (int32_t)maker_padded_lanes(type));
    tw_value mine = tw_mul(b, m->tid, lanes);
    return tw_add(b, mine, offset);
}

tw_value maker_load(maker *m, const tw_type *type) {
    tw_builder *b = m->b;
    if (type->scalar == TW_I1) {
        tw_value number = maker_load(m, tw_type_vector(TW_I32, type->lanes));
        return tw_trunc(b, number, TW_I1);
    }
    if (maker_is_data(type)) {
        tw_value index = maker_next_index(m, type, m->how & OP_KERNELS_UNIFORM);
        return tw_global_load(b, type, m->pointers[type->scalar], index, 0);
    }
    tw_value lanes[TW_MAX_LANES];
    for (unsigned i = 0; i < type->lanes; i++)
        lanes[i] = maker_load(m, tw_type_scalar(type->scalar));
    return tw_vector_build(b, lanes, type->lanes);
}

void maker_store(maker *m, tw_value value) {
    tw_builder *b = m->b;
    const tw_type *type = tw_value_type(b, value);
    if (!type) return; /* the builder has failed and says why */
    if (type->scalar == TW_I1) {
        tw_value number = tw_zext(b, value, TW_I32);
        maker_store(m, number);
        return;
    }
    if (maker_is_data(type)) {
        tw_value index = maker_next_index(m, type, false);
        tw_global_store(b, value, m->pointers[type->scalar], index, 0);
        return;
    }
    for (unsigned i = 0; i < type->lanes; i++) {
        tw_value lane = tw_vector_extract(b, value, i);
        maker_store(m, lane);
    }
}

tw_value maker_next_offset(maker *m, const tw_type *type, bool uniform) {
    tw_value index = maker_next_index(m, type, uniform);
    tw_value size = tw_i32(m->b, (int32_t)tw_scalar_bits(type->scalar) / 8);
    return tw_mul(m->b, index, size);
}

tw_value maker_whole_buffer(maker *m, tw_scalar scalar) {
    tw_value size = tw_i32(m->b, INT32_MAX);
    return tw_buffer_rsrc(m->b, m->pointers[scalar], size);
}

bool maker_has(const maker *m, tw_arch_feature feature) {
    return (tw_arch_get(tw_builder_target(m->b).arch)->features & (uint32_t)feature) != 0;
}
