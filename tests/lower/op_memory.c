/* Kernels of memory: global, buffers, LDS, atomics, barriers. */
#include "tests/lower/op_kernel_parts.h"

#include "tests/lower/op_kernels.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* All data types of `scalar`. */
static const tw_type *next_data(tw_scalar scalar, const tw_type *type) {
    for (unsigned lanes = type ? type->lanes + 1u : 1; lanes <= 16; lanes++)
        if (maker_is_data(tw_type_vector(scalar, lanes))) return tw_type_vector(scalar, lanes);
    return NULL;
}

/* The alignments to declare: what the type has and, in wide kernels, all that are less. 0 first. */
static unsigned next_align(const maker *m, const tw_type *type, unsigned align) {
    unsigned bytes = maker_padded_lanes(type) * tw_scalar_bits(type->scalar) / 8, most = 1;
    while (most < 16 && bytes % (most * 2) == 0)
        most *= 2;
    if (!align) return (m->how & OP_KERNELS_WIDE) ? 1 : most;
    return align < most ? align * 2 : 0;
}

static const tw_scalar data_scalars[] = {TW_I8,   TW_I16, TW_I32,    TW_I64,   TW_F16,
                                         TW_BF16, TW_F32, TW_F8E4M3, TW_F8E5M2};

void build_global(maker *m) {
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value far = tw_i64(b, -64);
        tw_value moved = tw_ptr_offset(b, m->pointers[data_scalars[s]], far);
        tw_value back = tw_i32(b, 64);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            unsigned align = 0;
            do {
                tw_value from = maker_next_index(m, type, m->how & OP_KERNELS_UNIFORM);
                tw_value value = tw_global_load(b, type, m->pointers[data_scalars[s]], from, align);
                tw_value to = maker_next_index(m, type, false);
                tw_value place = tw_add(b, to, back);
                tw_global_store(b, value, moved, place, align);
                align = next_align(m, type, align);
            } while (align);
        }
    }
}

void build_buffers(maker *m) {
    tw_builder *b = m->b;
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value rsrc = maker_whole_buffer(m, data_scalars[s]);
        tw_value soffset = tw_i32(b, 64);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            tw_value from = maker_next_offset(m, type, m->how & OP_KERNELS_UNIFORM);
            tw_value value = tw_buffer_load(b, type, rsrc, from, soffset, 0);
            tw_value to = maker_next_offset(m, type, false);
            tw_buffer_store(b, value, rsrc, to, soffset, 0);
        }
    }
}

/* Adds to one place a work-item. */
static void atomics(maker *m, tw_scalar scalar, unsigned lanes, bool buffer, bool global) {
    tw_builder *b = m->b;
    const tw_type *type = tw_type_vector(scalar, lanes);
    tw_value zero = tw_i32(b, 0);
    tw_value value = maker_load(m, type);
    if (buffer) {
        tw_value rsrc = maker_whole_buffer(m, scalar);
        tw_value offset = maker_next_offset(m, type, false);
        tw_buffer_atomic_fadd(b, value, rsrc, offset, zero,
                              tw_cache_policy(tw_builder_target(b), TW_ATOMIC_DEVICE));
    }
    if (global) {
        tw_value index = maker_next_index(m, type, false);
        tw_global_atomic_fadd(b, value, m->pointers[scalar], index);
    }
}

void build_atomics(maker *m) {
    uint32_t features = tw_arch_get(tw_builder_target(m->b).arch)->features;
    atomics(m, TW_F32, 1, true, true);
    atomics(m, TW_F16, 2, features & TW_ARCH_HAS_PACKED_F16_BUFFER_ATOMIC,
            features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_F16);
    atomics(m, TW_BF16, 2, features & TW_ARCH_HAS_PACKED_BF16_BUFFER_ATOMIC,
            features & TW_ARCH_HAS_GLOBAL_ATOMIC_PK_BF16);
}

/* Writes a value to LDS, and reads that of the neighbour. */
static void lds_pass(maker *m, tw_value array, const tw_type *type, unsigned align) {
    tw_builder *b = m->b;
    tw_value value = maker_load(m, type);
    tw_value lanes = tw_i32(b, (int32_t)maker_padded_lanes(type));
    tw_value one = tw_i32(b, 1);
    tw_value mine = tw_mul(b, m->tid, lanes);
    tw_value neighbour = tw_xor(b, m->tid, one);
    tw_value other = tw_mul(b, neighbour, lanes);
    tw_lds_store(b, value, array, mine, align);
    tw_barrier(b, type->lanes == 1 ? TW_FENCE_ALL : TW_FENCE_LDS);
    tw_value got = tw_lds_load(b, type, array, other, align);
    maker_store(m, got);
    tw_barrier(b, TW_FENCE_LDS);
}

static void lds_atomic(maker *m, tw_value array, const tw_type *type) {
    tw_builder *b = m->b;
    lds_pass(m, array, type, 0);
    tw_value value = maker_load(m, type);
    tw_value lanes = tw_i32(b, type->lanes);
    tw_value index = tw_mul(b, m->tid, lanes);
    tw_lds_atomic_fadd(b, value, array, index);
    tw_value sum = tw_lds_load(b, type, array, index, 4);
    maker_store(m, sum);
    tw_barrier(b, TW_FENCE_LDS);
}

void build_lds(maker *m) {
    tw_builder *b = m->b;
    bool packed = tw_arch_get(tw_builder_target(b).arch)->features & TW_ARCH_HAS_LDS_ATOMIC_PK;
    maker_next_index(m, tw_type_scalar(TW_I8), false); /* makes the work-item's number */
    for (size_t s = 0; s < COUNT(data_scalars); s++) {
        tw_value array = tw_lds_alloc(b, data_scalars[s], m->items * 16, 16);
        for (const tw_type *type = next_data(data_scalars[s], NULL); type;
             type = next_data(data_scalars[s], type)) {
            unsigned align = 0;
            do {
                lds_pass(m, array, type, align);
                align = next_align(m, type, align);
            } while (align);
        }
        if (data_scalars[s] == TW_F32) lds_atomic(m, array, tw_type_scalar(TW_F32));
        if (packed && (data_scalars[s] == TW_F16 || data_scalars[s] == TW_BF16))
            lds_atomic(m, array, tw_type_vector(data_scalars[s], 2));
    }
    tw_sched_barrier(b, 0);
    tw_sched_group_barrier(b, 8, 1, 0);
    tw_setprio(b, 1);
}
