/* Tiles: matrix products, transposed reads, and copies between global memory and LDS. */
#include "arch/transpose.h"
#include "ir/matrix.h"
#include "tests/fuzz_lower/gen.h"

#define REGION_BYTES 16 /* of LDS, for each work-item, where a wave copies tiles */

static uint32_t element_bytes(tw_scalar scalar) { return tw_scalar_bits(scalar) / 8; }

static bool whole_wave(const gen *g) { return g->whole_waves && g->together >= TW_UNIFORM_IN_WAVE; }

/* ---- matrix products ---- */

static bool joined(gen *g, gen_value a, gen_value b, gen_value *out) {
    uint32_t lanes = 2u * a.type->lanes;
    int64_t *order = tw_arena_alloc(&g->kernel->arena, lanes, sizeof *order);
    if (!order) return false;
    for (uint32_t i = 0; i < lanes; i++)
        order[i] = (int64_t)i;
    gen_value operands[2] = {a, b};
    tw_attr attr = {.kind = TW_ATTR_INTS, .as.ints = {order, lanes}};
    return gen_emit(g, TW_OP_VECTOR_SHUFFLE, tw_type_vector(a.type->scalar, lanes), operands, 2, &attr, out);
}

/* A vector of inputs, in pieces that memory has. `lane` says where: work-items with equal ones get the same.
 */
static bool fragment(gen *g, const tw_type *type, gen_value lane, gen_value *out) {
    if (!tw_type_in_class(type, T_DATA)) {
        gen_value a, b;
        const tw_type *half = tw_type_vector(type->scalar, type->lanes / 2u);
        return fragment(g, half, lane, &a) && fragment(g, half, lane, &b) && joined(g, a, b, out);
    }
    uint32_t room = FUZZ_IN_COUNT - 128 * 2 - type->lanes;
    gen_value operands[2] = {gen_buffer(g, FUZZ_IN, type->scalar)};
    if (!operands[0].value.id) return false;
    operands[1] = gen_plus(g, gen_times(g, lane, 1 + gen_below(g, 2)), gen_below(g, room));
    if (!gen_emit(g, TW_OP_GLOBAL_LOAD, type, operands, 2, NULL, out)) return false;
    out->open = false;
    g->pool[g->count - 1].open = false;
    return true;
}

static const tw_matrix_atom *some_atom(gen *g) {
    const tw_target target = g->kernel->target;
    const tw_matrix_atom *atom, *chosen = NULL;
    uint32_t found = 0;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++)
        if (tw_fragment_type(target, tw_matrix_atom_info(atom).name, TW_MATRIX_A) &&
            gen_below(g, ++found) == 0)
            chosen = atom;
    return chosen;
}

/* The sum is rounded as docs/ir.md and docs/emulator.md say, so all of its bits are compared. */
static bool product(gen *g) {
    const tw_matrix_atom *atom = whole_wave(g) ? some_atom(g) : NULL;
    if (!atom) return false;
    const char *name = tw_matrix_atom_info(atom).name;
    gen_value operands[3], result;
    for (unsigned i = TW_MATRIX_A; i <= TW_MATRIX_D; i++) {
        const tw_type *type = tw_fragment_type(g->kernel->target, name, (tw_matrix_operand)i);
        uint32_t copies = tw_matrix_copies(atom, (tw_matrix_operand)i);
        if (!copies && gen_chance(g, 30)) {
            operands[i] = gen_value_of(g, type, TW_DIVERGENT);
            if (!operands[i].value.id) return false;
            continue;
        }
        gen_value lane = gen_binary(g, TW_OP_AND, g->tid, gen_i32(g, 127u & ~copies));
        if (!fragment(g, type, lane, &operands[i])) return false;
    }
    const tw_attr attr = {.kind = TW_ATTR_STRING, .as.s = name};
    return gen_emit(g, TW_OP_MMA, NULL, operands, 3, &attr, &result);
}

/* ---- transposed reads ---- */

static tw_scalar half_scalar(gen *g) {
    static const tw_scalar scalars[] = {TW_I16, TW_F16, TW_BF16};
    return scalars[gen_below(g, 3)];
}

static bool known(gen *g, bool made) {
    if (made) g->pool[g->count - 1].open = false;
    return made;
}

static bool global_transposed(gen *g) {
    const tw_transposed_read *read = tw_transposed_global_load(g->kernel->target);
    tw_scalar scalar = half_scalar(g);
    if (!read || !whole_wave(g)) return false;
    gen_value operands[2] = {gen_buffer(g, FUZZ_IN, scalar)};
    if (!operands[0].value.id) return false;
    operands[1] = gen_maybe_wide(g, gen_index(g, FUZZ_IN_COUNT - read->slots + 1, 2, TW_DIVERGENT));
    return known(g, gen_emit(g, TW_OP_GLOBAL_LOAD_TRANSPOSED, tw_type_vector(scalar, read->slots), operands,
                             2, NULL, NULL));
}

/* An array of `each` elements a work-item, all of them written. */
static bool filled_array(gen *g, tw_scalar scalar, uint32_t each, gen_value *array) {
    gen_value operands[3];
    if (!gen_new_array(g, scalar, g->items * each, array)) return false;
    operands[0] = gen_value_of(g, tw_type_vector(scalar, each), TW_DIVERGENT);
    operands[1] = *array;
    operands[2] = gen_times(g, g->tid, each);
    return operands[0].value.id && gen_emit(g, TW_OP_LDS_STORE, NULL, operands, 3, NULL, NULL) &&
           gen_barrier(g, TW_FENCE_LDS);
}

static bool lds_transposed(gen *g) {
    const tw_transposed_read *read = tw_transposed_lds_read(g->kernel->target);
    tw_scalar scalar = half_scalar(g);
    gen_value operands[2];
    if (!read || !whole_wave(g) || !filled_array(g, scalar, 8, &operands[0])) return false;
    operands[1] = gen_index(g, g->items * 8, read->slots, TW_DIVERGENT);
    if (!known(g, gen_emit(g, TW_OP_LDS_LOAD_TRANSPOSED, tw_type_vector(scalar, read->slots), operands, 2,
                           NULL, NULL)))
        return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS);
}

/* ---- copies ---- */

static bool copy(gen *g, tw_opcode opcode, const gen_value *operands, uint32_t count, uint32_t bytes) {
    for (int tries = 0; tries < 8; tries++) {
        tw_attr attrs[TW_MAX_ATTRS] = {{.kind = TW_ATTR_NONE}, {TW_ATTR_INT, {.i = bytes}}};
        if (gen_chance(g, 40)) attrs[0] = (tw_attr){TW_ATTR_INT, {.i = gen_below(g, 32)}};
        if (gen_emit(g, opcode, NULL, operands, count, attrs, NULL)) return true;
    }
    return false;
}

static bool wait(gen *g, tw_opcode opcode, uint32_t outstanding) {
    return gen_emit_int(g, opcode, NULL, NULL, 0, outstanding, NULL);
}

/* Reads what copies brought: places of any work-item, which are `step` elements apart and hold `used`. */
static bool read_places(gen *g, gen_value array, uint32_t step, uint32_t used) {
    for (uint32_t n = 1 + gen_below(g, 2); n; n--) {
        gen_value place = gen_times(g, gen_index(g, g->items, 1, TW_DIVERGENT), step);
        uint32_t lanes = 1;
        while (lanes * 2 <= used && gen_chance(g, 70))
            lanes *= 2;
        const tw_type *type = tw_type_vector(array.type->scalar, lanes);
        gen_value operands[2] = {array, gen_plus(g, place, gen_below(g, used - lanes + 1))};
        if (!known(g, gen_emit(g, TW_OP_LDS_LOAD, type, operands, 2, NULL, NULL))) return false;
    }
    return true;
}

/* The copies are there for all, and may be read; in a loop the next round writes again. */
static bool meet_and_read(gen *g, tw_opcode wait_opcode, gen_value array, uint32_t step, uint32_t used) {
    if (!wait(g, wait_opcode, 0) || !gen_barrier(g, TW_FENCE_LDS)) return false;
    if (!read_places(g, array, step, used)) return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS);
}

static tw_scalar copied_scalar(gen *g, uint32_t bytes) {
    for (int tries = 0; tries < 20; tries++) {
        tw_scalar scalar = gen_storage_scalar(g);
        if (bytes % element_bytes(scalar) == 0) return scalar;
    }
    return TW_I8;
}

/* Each lane its own addresses. */
static bool copy_to_lds(gen *g) {
    static const uint8_t sizes[] = {1, 4, 8, 16};
    uint32_t bytes = sizes[gen_below(g, 4)];
    tw_scalar scalar = copied_scalar(g, bytes);
    uint32_t each = bytes / element_bytes(scalar), rounds = 1 + gen_below(g, 2);
    gen_value arrays[2], operands[4] = {gen_buffer(g, FUZZ_IN, scalar)};
    if (!operands[0].value.id) return false;
    for (uint32_t i = 0; i < rounds; i++)
        if (!gen_new_array(g, scalar, g->items * each, &arrays[i])) return false;
    bool made = true;
    for (uint32_t i = 0; made && i < rounds; i++) {
        operands[1] = gen_maybe_wide(g, gen_index(g, FUZZ_IN_COUNT - each + 1, each, TW_DIVERGENT));
        operands[2] = arrays[i];
        operands[3] = gen_times(g, g->tid, each);
        made = copy(g, TW_OP_ASYNC_COPY_TO_LDS, operands, 4, bytes);
    }
    if (made && rounds == 2) { /* the older one first, one's own part */
        const tw_type *type = tw_type_vector(scalar, each);
        gen_value own[2] = {arrays[0], gen_times(g, g->tid, each)};
        made =
            wait(g, TW_OP_ASYNC_WAIT, 1) && known(g, gen_emit(g, TW_OP_LDS_LOAD, type, own, 2, NULL, NULL));
    }
    if (!made) { /* what has begun must end all the same */
        wait(g, TW_OP_ASYNC_WAIT, 0);
        return false;
    }
    gen_ops(g, gen_below(g, 3));
    return meet_and_read(g, TW_OP_ASYNC_WAIT, arrays[rounds - 1], each, each);
}

static bool copy_from_lds(gen *g) {
    static const uint8_t sizes[] = {1, 4, 8, 16};
    uint32_t bytes = sizes[gen_below(g, 4)];
    tw_scalar scalar = copied_scalar(g, bytes);
    uint32_t each = bytes / element_bytes(scalar);
    gen_value operands[4];
    if (!filled_array(g, scalar, each, &operands[0])) return false;
    uint32_t first = gen_reserve(g, FUZZ_OUT, scalar, g->total * each);
    if (first == UINT32_MAX) return false;
    operands[1] = gen_times(g, gen_index(g, g->items, 1, TW_DIVERGENT), each); /* anybody's */
    operands[2] = gen_buffer(g, FUZZ_OUT, scalar);
    operands[3] = gen_maybe_wide(g, gen_plus(g, gen_times(g, g->global_tid, each), first));
    if (!copy(g, TW_OP_ASYNC_COPY_FROM_LDS, operands, 4, bytes)) return false;
    gen_ops(g, gen_below(g, 2));
    if (!wait(g, TW_OP_ASYNC_WAIT, 0)) return false;
    if (gen_chance(g, 30) &&
        !known(g, gen_emit(g, TW_OP_GLOBAL_LOAD, tw_type_vector(scalar, each), &operands[2], 2, NULL, NULL)))
        return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS);
}

static gen_value id(gen *g, tw_opcode opcode) {
    gen_value v = {0};
    gen_emit(g, opcode, NULL, NULL, 0, NULL, &v);
    return v;
}

/* Where the wave's part of an array begins. */
static bool wave_base(gen *g, gen_value array, uint32_t elements, gen_value *out) {
    gen_value operands[2] = {array, gen_times(g, id(g, TW_OP_WAVE_ID), elements)};
    return gen_emit(g, TW_OP_PTR_OFFSET, NULL, operands, 2, NULL, out);
}

/* Lanes are 4 bytes apart in LDS, or 16. */
static bool load_to_lds(gen *g, bool buffer) {
    static const uint8_t sizes[] = {4, 4, 12, 16};
    uint32_t bytes = sizes[gen_below(g, g->arch->features & TW_ARCH_HAS_LDS_DMA_WIDE ? 4 : 1)];
    tw_scalar scalar = copied_scalar(g, bytes);
    uint32_t size = element_bytes(scalar), used = bytes / size, apart = (bytes == 4 ? 4 : 16) / size;
    gen_value array, operands[4];
    uint32_t count = 0;
    if (!gen_new_array(g, scalar, g->items * apart, &array)) return false;
    if (buffer) {
        if (!gen_resource(g, FUZZ_IN, scalar, &operands[count++])) return false;
        gen_value offset = gen_index(g, operands[0].bytes - bytes - 64 + 1, 4, TW_DIVERGENT);
        gen_value choice[3] = {gen_value_of(g, tw_type_scalar(TW_I1), TW_DIVERGENT), offset,
                               gen_i32(g, 0x40000000u + 16 * gen_below(g, 4096))};
        if (gen_chance(g, 40) && !gen_emit(g, TW_OP_SELECT, NULL, choice, 3, NULL, &offset)) return false;
        operands[count++] = offset;
        operands[count++] = gen_i32(g, gen_below(g, 16) * 4);
    } else {
        operands[count++] = gen_buffer(g, FUZZ_IN, scalar);
        if (!operands[0].value.id) return false;
        uint32_t step = size < 4 ? 4 / size : 1;
        operands[count++] = gen_maybe_wide(g, gen_index(g, FUZZ_IN_COUNT - used + 1, step, TW_DIVERGENT));
    }
    if (!wave_base(g, array, g->kernel->target.wave_size * apart, &operands[count++])) return false;
    if (!copy(g, buffer ? TW_OP_BUFFER_LOAD_TO_LDS : TW_OP_GLOBAL_LOAD_TO_LDS, operands, count, bytes))
        return false;
    gen_ops(g, gen_below(g, 3));
    return meet_and_read(g, TW_OP_ASYNC_WAIT, array, apart, used);
}

/* ---- tiles of tensors ---- */

typedef struct tile {
    uint32_t rank, extent, elements; /* extent: elements from the first to past the last, in global memory */
    int64_t sizes[3];
    uint32_t strides[3];
} tile;

/* At most `most` elements, which lie within `reach` of the first. */
static tile draw_tile(gen *g, uint32_t most, uint32_t reach) {
    tile t;
    do {
        t = (tile){.rank = 1 + gen_below(g, 3), .elements = 1, .strides = {1}, .extent = 1};
        for (uint32_t i = 0; i < t.rank; i++) {
            t.sizes[i] = 1 + gen_below(g, i ? 5 : 16);
            if (i) t.strides[i] = t.extent + gen_below(g, 8);
            t.extent += (uint32_t)(t.sizes[i] - 1) * t.strides[i];
            t.elements *= (uint32_t)t.sizes[i];
        }
    } while (t.elements > most || t.extent > reach);
    return t;
}

/* The uniform operands behind the two pointers. */
static uint32_t tile_operands(gen *g, const tile *t, gen_value *operands) {
    uint32_t count = 2;
    for (uint32_t i = 0; i < t->rank; i++) {
        operands[count] = gen_i32(g, gen_below(g, (uint32_t)t->sizes[i] + 3));
        if (gen_chance(g, 40))
            operands[count] = gen_binary(
                g, TW_OP_AND, gen_value_of(g, tw_type_scalar(TW_I32), TW_UNIFORM_IN_WAVE), gen_i32(g, 7));
        count++;
    }
    for (uint32_t i = 1; i < t->rank; i++)
        operands[count++] = gen_i32(g, t->strides[i]);
    return count;
}

static bool tensor_op(gen *g, tw_opcode opcode, const tile *t, const gen_value *operands, uint32_t count,
                      uint32_t interval, uint32_t amount) {
    int64_t *sizes = tw_arena_alloc(&g->kernel->arena, t->rank, sizeof *sizes);
    if (!sizes) return false;
    for (uint32_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i];
    for (int tries = 0; tries < 8; tries++) {
        tw_attr attrs[TW_MAX_ATTRS] = {{.kind = TW_ATTR_NONE},
                                       {.kind = TW_ATTR_INTS, .as.ints = {sizes, t->rank}}};
        if (gen_chance(g, 40)) attrs[0] = (tw_attr){TW_ATTR_INT, {.i = gen_below(g, 32)}};
        if (interval) {
            attrs[2] = (tw_attr){TW_ATTR_INT, {.i = interval}};
            attrs[3] = (tw_attr){TW_ATTR_INT, {.i = amount}};
        }
        if (gen_emit(g, opcode, NULL, operands, count, attrs, NULL)) return true;
    }
    return false;
}

/* Each wave loads a tile into its part of an array that is written before, for what padding leaves alone. */
static bool tensor_load(gen *g) {
    tw_scalar scalar = gen_storage_scalar(g);
    uint32_t size = element_bytes(scalar), each = REGION_BYTES / size;
    uint32_t region = g->kernel->target.wave_size * each, interval = 0, amount = 0;
    gen_value array, operands[8];
    if (!whole_wave(g) || !filled_array(g, scalar, each, &array)) return false;
    if (gen_chance(g, 70)) {
        interval = 2u << gen_below(g, 3);
        amount = 1 + gen_below(g, interval);
        if (size == 8) amount = (amount + 1) & ~1u; /* elements stay aligned */
    }
    tile t = draw_tile(g, interval ? region / 2 : region, FUZZ_IN_COUNT - 100);
    operands[1] = gen_buffer(g, FUZZ_IN, scalar);
    if (!operands[1].value.id || !wave_base(g, array, region, &operands[0])) return false;
    if (gen_chance(g, 60)) {
        gen_value move[2] = {operands[1], gen_index(g, 100, 1, TW_UNIFORM_IN_WAVE)};
        if (!gen_emit(g, TW_OP_PTR_OFFSET, NULL, move, 2, NULL, &operands[1])) return false;
    }
    uint32_t count = tile_operands(g, &t, operands);
    if (!tensor_op(g, TW_OP_TENSOR_LOAD_TO_LDS, &t, operands, count, interval, amount)) return false;
    gen_ops(g, gen_below(g, 3));
    return meet_and_read(g, TW_OP_TENSOR_WAIT, array, each, each);
}

static bool tensor_store(gen *g) {
    tw_scalar scalar = gen_storage_scalar(g);
    uint32_t each = REGION_BYTES / element_bytes(scalar), region = g->kernel->target.wave_size * each;
    gen_value array, operands[8], first = g->global_tid;
    if (!whole_wave(g) || !filled_array(g, scalar, each, &array)) return false;
    uint32_t place = gen_reserve(g, FUZZ_OUT, scalar, g->total * each);
    if (place == UINT32_MAX || !wave_base(g, array, region, &operands[0])) return false;
    if (!gen_emit(g, TW_OP_READFIRSTLANE, NULL, &g->global_tid, 1, NULL, &first)) return false;
    gen_value move[2] = {gen_buffer(g, FUZZ_OUT, scalar), gen_plus(g, gen_times(g, first, each), place)};
    if (!gen_emit(g, TW_OP_PTR_OFFSET, NULL, move, 2, NULL, &operands[1])) return false;
    tile t = draw_tile(g, region, region);
    uint32_t count = tile_operands(g, &t, operands);
    if (!tensor_op(g, TW_OP_TENSOR_STORE_FROM_LDS, &t, operands, count, 0, 0)) return false;
    gen_ops(g, gen_below(g, 2));
    if (!wait(g, TW_OP_TENSOR_WAIT, 0)) return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS);
}

/* ---- all of it ---- */

bool gen_is_tile_op(const tw_op_info *row) {
    switch (row->effect) {
    case E_ASYNC_COPY:
    case E_WAVE_ASYNC_COPY:
    case E_ASYNC_WAIT:
    case E_WAVE_READS_GLOBAL:
    case E_WAVE_READS_LDS: return true;
    default: return row->opcode == TW_OP_MMA;
    }
}

/* Ops that the target does not have are refused before anything else is made of them. */
static bool target_has(const gen *g, const tw_op_info *row) {
    uint32_t features = g->arch->features;
    switch (row->opcode) {
    case TW_OP_ASYNC_COPY_TO_LDS:
    case TW_OP_ASYNC_COPY_FROM_LDS: return features & TW_ARCH_HAS_ASYNC_LDS;
    case TW_OP_GLOBAL_LOAD_TO_LDS:
    case TW_OP_BUFFER_LOAD_TO_LDS: return features & TW_ARCH_HAS_LDS_DMA;
    case TW_OP_TENSOR_LOAD_TO_LDS:
    case TW_OP_TENSOR_STORE_FROM_LDS: return features & TW_ARCH_HAS_TENSOR_COPY;
    default: return true;
    }
}

bool gen_tile_op(gen *g, const tw_op_info *row) {
    if (!target_has(g, row)) return false;
    switch (row->opcode) {
    case TW_OP_MMA: return product(g);
    case TW_OP_GLOBAL_LOAD_TRANSPOSED: return global_transposed(g);
    case TW_OP_ASYNC_WAIT:
    case TW_OP_TENSOR_WAIT: return wait(g, row->opcode, gen_below(g, 4)); /* more than is needed */
    default: break;
    }
    if (!gen_all_are_here(g)) return false;
    switch (row->opcode) {
    case TW_OP_LDS_LOAD_TRANSPOSED: return lds_transposed(g);
    case TW_OP_ASYNC_COPY_TO_LDS: return copy_to_lds(g);
    case TW_OP_ASYNC_COPY_FROM_LDS: return copy_from_lds(g);
    case TW_OP_GLOBAL_LOAD_TO_LDS: return load_to_lds(g, false);
    case TW_OP_BUFFER_LOAD_TO_LDS: return load_to_lds(g, true);
    case TW_OP_TENSOR_LOAD_TO_LDS: return tensor_load(g);
    case TW_OP_TENSOR_STORE_FROM_LDS: return tensor_store(g);
    default: return false;
    }
}
