/* Kernels of matrix products, transposed reads and asynchronous copies. */
#include "arch/transpose.h"
#include "ir/copy.h"
#include "ir/matrix.h"
#include "tests/lower/op_kernel_parts.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* A fragment in which lanes that hold copies of one element agree. */
static tw_value load_fragment(maker *m, const tw_matrix_atom *atom, tw_matrix_operand operand) {
    const tw_type *type = tw_fragment_type(tw_builder_target(m->b), tw_matrix_atom_info(atom).name, operand);
    unsigned copies = tw_matrix_copies(atom, operand);
    if (!copies) return maker_load(m, type);
    maker_next_index(m, type, false); /* makes the work-item's number */
    tw_value tid = m->tid, mask = tw_i32(m->b, (int32_t)~copies);
    m->tid = tw_and(m->b, tid, mask);
    tw_value fragment = maker_load(m, type);
    m->tid = tid;
    return fragment;
}

void build_matrices(maker *m) {
    tw_target target = tw_builder_target(m->b);
    const tw_matrix_atom *atom;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        const char *name = tw_matrix_atom_info(atom).name;
        tw_value fragments[3];
        if (!tw_fragment_type(target, name, TW_MATRIX_A)) continue; /* f64 */
        for (unsigned operand = TW_MATRIX_A; operand <= TW_MATRIX_D; operand++)
            fragments[operand] = load_fragment(m, atom, (tw_matrix_operand)operand);
        tw_value d = tw_mma(m->b, name, fragments[0], fragments[1], fragments[2]);
        maker_store(m, d);
    }
}

void build_transposed(maker *m) {
    static const tw_scalar scalars[] = {TW_I16, TW_F16, TW_BF16};
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(scalars); s++) {
        const tw_type *type = tw_type_vector(scalars[s], 8);
        tw_value array = tw_lds_alloc(b, scalars[s], m->items * 8, 16), eight = tw_i32(b, 8);
        tw_value v = maker_load(m, type);
        tw_value index = tw_mul(b, m->tid, eight);
        tw_lds_store(b, v, array, index, 0);
        if (maker_has(m, TW_ARCH_HAS_SPLIT_BARRIER)) {
            tw_barrier_signal(b, s ? TW_FENCE_ALL : TW_FENCE_LDS);
            tw_barrier_wait(b, s ? TW_FENCE_ALL : TW_FENCE_LDS);
        } else {
            tw_barrier(b, TW_FENCE_LDS);
        }
        if (maker_has(m, TW_ARCH_HAS_TRANSPOSED_LDS_READ)) {
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

/* What a lane's LDS holds after the copies, for all to see. */
static void show(maker *m, tw_value array, tw_value place, unsigned lanes) {
    tw_value got = tw_lds_load(m->b, tw_type_vector(TW_F16, lanes), array, place, 0);
    maker_store(m, got);
}

static void lane_copies(maker *m, tw_value array) {
    tw_builder *b = m->b;
    tw_value two = tw_i32(b, 2), three = tw_i32(b, 3), upper = tw_i32(b, 2048);
    tw_value place = tw_mul(b, m->tid, two), far = tw_shl(b, m->tid, three), more = tw_or(b, far, upper);
    tw_async_copy_to_lds(b, m->pointers[TW_F16], place, array, place, 4, 0);
    tw_async_wait(b, 0);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value other = tw_xor(b, place, two);
    show(m, array, other, 2);
    tw_barrier(b, TW_FENCE_LDS);
    tw_async_copy_to_lds(b, m->pointers[TW_F16], far, array, far, 16, 0);
    tw_async_copy_to_lds(b, m->pointers[TW_F16], far, array, more, 8, 0);
    tw_async_wait(b, 1);
    show(m, array, far, 8);
    tw_async_wait(b, 0);
    show(m, array, more, 4);
    tw_value index = maker_next_index(m, tw_type_vector(TW_F16, 8), false);
    tw_async_copy_from_lds(b, array, far, m->pointers[TW_F16], index, 16, 0);
    tw_async_wait(b, 0);
    tw_value bytes = tw_lds_alloc(b, TW_I8, m->items, 16);
    tw_async_copy_to_lds(b, m->pointers[TW_I8], m->tid, bytes, m->tid, 1, 0);
    tw_async_wait(b, 0);
    tw_value byte = tw_lds_load(b, tw_type_scalar(TW_I8), bytes, m->tid, 0);
    maker_store(m, byte);
    index = maker_next_index(m, tw_type_scalar(TW_I8), false);
    tw_async_copy_from_lds(b, bytes, m->tid, m->pointers[TW_I8], index, 1, 0);
    tw_async_wait(b, 0);
}

/* Loads that the wave's base address and the lane's number place. */
static void wave_loads(maker *m, tw_value array) {
    tw_builder *b = m->b;
    tw_value two = tw_i32(b, 2), four = tw_i32(b, 4), sixteen = tw_i32(b, 16), seven = tw_i32(b, 7);
    tw_value wave = tw_wave_id(b), start = tw_shl(b, wave, seven), place = tw_mul(b, m->tid, two);
    tw_value base = tw_ptr_offset(b, array, start), size = tw_i32(b, 208);
    tw_global_load_to_lds(b, m->pointers[TW_F16], place, base, 4, 0);
    tw_async_wait(b, 0);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value other = tw_xor(b, place, two);
    show(m, array, other, 2);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value rsrc = tw_buffer_rsrc(b, m->pointers[TW_F16], size); /* past it: zeros */
    tw_value offset = tw_mul(b, m->tid, four);
    tw_buffer_load_to_lds(b, rsrc, offset, sixteen, base, 4, 0);
    tw_async_wait(b, 0);
    tw_barrier(b, TW_FENCE_LDS);
    show(m, array, place, 2);
    if (!maker_has(m, TW_ARCH_HAS_LDS_DMA_WIDE)) return;
    tw_value nine = tw_i32(b, 9), three = tw_i32(b, 3), upper = tw_i32(b, 2048);
    tw_value rows = tw_shl(b, wave, nine), far = tw_shl(b, m->tid, three);
    tw_value own = tw_ptr_offset(b, array, rows), high = tw_ptr_offset(b, own, upper);
    tw_value bytes = tw_mul(b, m->tid, sixteen);
    tw_barrier(b, TW_FENCE_LDS);
    tw_buffer_load_to_lds(b, rsrc, bytes, sixteen, own, 16, 0);
    tw_global_load_to_lds(b, m->pointers[TW_F16], place, high, 12, 0);
    tw_async_wait(b, 1);
    show(m, array, far, 8);
    tw_async_wait(b, 0);
    tw_value more = tw_or(b, far, upper);
    show(m, array, more, 4);
}

static void tensor_copies(maker *m, tw_value array) {
    tw_builder *b = m->b;
    tw_value zero = tw_i32(b, 0), two = tw_i32(b, 2), three = tw_i32(b, 3), five = tw_i32(b, 5);
    tw_value ten = tw_i32(b, 10), sixteen = tw_i32(b, 16), hundred = tw_i32(b, 100);
    tw_value wave = tw_wave_id(b), start = tw_shl(b, wave, ten), base = tw_ptr_offset(b, array, start);
    tw_value lane = tw_lane_id(b), far = tw_shl(b, lane, three);
    tw_tensor_tile tile = {.rank = 2, .tile = {16, 8}, .extents = {sixteen, five}, .strides = {hundred}};
    tile.pad_interval = 8;
    tile.pad_amount = 2;
    tw_value own = maker_load(m, tw_type_vector(TW_F16, 8));
    tw_barrier(b, TW_FENCE_LDS);
    tw_lds_store(b, own, base, far, 0); /* what the padding leaves alone */
    tw_barrier(b, TW_FENCE_LDS);
    tw_tensor_load_to_lds(b, base, m->pointers[TW_F16], &tile, 0);
    tw_tensor_wait(b, 0);
    tw_barrier(b, TW_FENCE_LDS);
    show(m, base, far, 8);
    tw_barrier(b, TW_FENCE_LDS);
    tw_tensor_tile cube = {
        .rank = 3, .tile = {4, 2, 2}, .extents = {five, five, two}, .strides = {sixteen, hundred}};
    tw_tensor_load_to_lds(b, base, m->pointers[TW_F16], &cube, 0);
    tw_tensor_wait(b, 0);
    tw_tensor_tile line = {.rank = 1, .tile = {16}, .extents = {five}};
    tw_value index = maker_next_index(m, tw_type_vector(TW_F16, 16), true); /* 16 elements a wave */
    tw_value waves = tw_mul(b, wave, sixteen), to = tw_add(b, index, waves);
    tw_value place = tw_ptr_offset(b, m->pointers[TW_F16], to);
    tw_tensor_store_from_lds(b, base, place, &line, 0);
    tw_tensor_wait(b, 0);
    show(m, base, zero, 2);
}

void build_copies(maker *m) {
    tw_value seen = maker_load(m, tw_type_scalar(TW_I32));
    maker_store(m, seen);
    tw_value array = tw_lds_alloc(m->b, TW_F16, 4096, 16);
    if (maker_has(m, TW_ARCH_HAS_ASYNC_LDS)) lane_copies(m, array);
    if (maker_has(m, TW_ARCH_HAS_LDS_DMA)) wave_loads(m, array);
    if (maker_has(m, TW_ARCH_HAS_TENSOR_COPY)) tensor_copies(m, array);
}
