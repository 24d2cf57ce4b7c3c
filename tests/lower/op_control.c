/* Kernels of waves, of ids, and of loops and branches. */
#include "tests/lower/op_kernel_parts.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

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

/* Of several NaNs, too, a reduction gives all lanes the same one. */
static void reduce_nans(maker *m, unsigned wave_size) {
    tw_builder *b = m->b;
    tw_value quiet = tw_i32(b, 0x7fc00000), lane = tw_lane_id(b);
    tw_value payload = tw_or(b, quiet, lane);
    tw_value nan = tw_bitcast(b, payload, tw_type_scalar(TW_F32));
    tw_value sum = tw_wave_reduce(b, TW_REDUCE_FADD, nan);
    tw_value word = tw_bitcast(b, sum, tw_type_scalar(TW_I32));
    for (unsigned mask = 1; mask < wave_size; mask *= 2) {
        tw_value partner = tw_shuffle_xor(b, word, mask);
        tw_value difference = tw_xor(b, word, partner);
        maker_store(m, difference);
    }
}

void build_wave(maker *m) {
    tw_builder *b = m->b;
    unsigned wave_size = tw_builder_target(b).wave_size;
    tw_value values[8], lane = maker_load(m, tw_type_scalar(TW_I32));
    unsigned count = words(m, values);
    tw_value moved = tw_shuffle_xor(b, values[1], 1); /* becomes part of the sum */
    maker_store(m, tw_fadd(b, moved, values[1]));
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
    reduce_nans(m, wave_size);
    tw_value bit = tw_trunc(b, lane, TW_I1);
    tw_value bits = tw_ballot(b, bit);
    maker_store(m, bits);
}

void build_ids(maker *m) {
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
    tw_value place = maker_next_offset(m, tw_type_scalar(TW_F32), false);
    tw_buffer_store(b, element, results[3], place, zero, 0);
    tw_value loaded = tw_global_load(b, tw_type_scalar(TW_I32), results[4], zero, 0);
    maker_store(m, loaded);
}

/* Loops of both widths, up to large indices, with the step known and unknown. */
void build_control(maker *m) {
    tw_builder *b = m->b;
    tw_value params[2][4];
    static const char *const names[2][4] = {{"start", "end", "high", "step"},
                                            {"far_start", "far_end", "far_high", "far_step"}};
    for (unsigned w = 0; w < 2; w++)
        for (unsigned i = 0; i < 4; i++)
            params[w][i] = tw_param(b, names[w][i], w ? TW_I64 : TW_I32);
    tw_value array = tw_lds_alloc(b, TW_F32, 64, 16);
    tw_value rsrc = maker_whole_buffer(m, TW_F32);
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
