/* Memory: loads of inputs at any place, stores and loads of slots that belong to one work-item, atomic adds,
 * and exchanges through LDS and global memory between barriers. */
#include <stdio.h>

#include "tests/fuzz_lower/gen.h"

#define SUM_PLACES 16 /* work-items that add to one element are those with the same number modulo this */

static unsigned element_bytes(tw_scalar scalar) { return tw_scalar_bits(scalar) / 8; }
static unsigned data_bytes(const tw_type *type) { return tw_type_bits(type) / 8; }

static unsigned padded_lanes(const tw_type *type) {
    unsigned lanes = 1;
    while (lanes < type->lanes)
        lanes *= 2;
    return lanes;
}

gen_value gen_plus(gen *g, gen_value x, uint32_t n) {
    return n ? gen_binary(g, TW_OP_ADD, x, gen_i32(g, n)) : x;
}

gen_value gen_times(gen *g, gen_value x, uint32_t n) {
    return n == 1 ? x : gen_binary(g, TW_OP_MUL, x, gen_i32(g, n));
}

gen_value gen_maybe_wide(gen *g, gen_value index) {
    if (!gen_chance(g, 25)) return index;
    gen_value wide = index;
    gen_emit(g, TW_OP_SEXT, tw_type_scalar(TW_I64), &index, 1, NULL, &wide);
    return wide;
}

/* The row's attributes: an alignment that `step` elements keep, and switches at random. */
static void access_attrs(gen *g, const tw_op_info *row, uint32_t step_bytes, tw_attr attrs[TW_MAX_ATTRS]) {
    for (unsigned i = 0; i < row->attr_count; i++) {
        attrs[i] = (tw_attr){.kind = TW_ATTR_NONE};
        if (row->attrs[i].rule == AR_BOOL && gen_chance(g, 20))
            attrs[i] = (tw_attr){TW_ATTR_BOOL, {.b = true}};
        if (i || row->attrs[i].rule != AR_INT || !gen_chance(g, 50)) continue;
        uint32_t align = 1u << gen_below(g, 5);
        attrs[i] = (tw_attr){TW_ATTR_INT, {.i = align < step_bytes ? align : step_bytes}};
    }
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* ---- inputs ---- */

static bool some_pointer(gen *g, tw_scalar scalar, gen_value *out) {
    const tw_type *type = tw_type_pointer(scalar, TW_GLOBAL);
    uint32_t found = 0;
    for (uint32_t i = 0; i < g->count; i++)
        if (g->pool[i].type == type && gen_below(g, ++found) == 0) *out = g->pool[i];
    if (found && gen_chance(g, 60)) return true;
    *out = gen_buffer(g, FUZZ_IN, scalar);
    return out->value.id != 0;
}

bool gen_ptr_offset(gen *g) {
    gen_value operands[3], moved;
    if (!some_pointer(g, gen_storage_scalar(g), &operands[0])) return false;
    gen_value from = operands[0];
    uint32_t most = 32;
    if (from.room < most + 96) return false;
    operands[1] = gen_maybe_wide(g, gen_index(g, most, 1, TW_DIVERGENT));
    if (!gen_emit(g, TW_OP_PTR_OFFSET, NULL, operands, 2, NULL, &moved)) return false;
    moved.param = from.param;
    moved.low = from.low;
    moved.room = from.room - most;
    if (gen_chance(g, 40)) { /* one pointer or the other */
        operands[2] = from;
        operands[1] = moved;
        operands[0] = gen_value_of(g, tw_type_scalar(TW_I1), TW_DIVERGENT);
        gen_value chosen;
        if (!gen_emit(g, TW_OP_SELECT, NULL, operands, 3, NULL, &chosen)) return false;
        g->count--; /* it comes back with what is known about it */
        chosen.param = moved.param;
        chosen.low = from.low;
        chosen.room = moved.room;
        moved = chosen;
    }
    gen_push(g, moved);
    return true;
}

bool gen_load(gen *g, const tw_type *type, gen_value *out) {
    if (!tw_type_in_class(type, T_DATA)) return false;
    gen_value operands[2];
    bool aligned = gen_chance(g, 40);
    if (aligned) {
        operands[0] = gen_buffer(g, FUZZ_IN, type->scalar);
    } else if (!some_pointer(g, type->scalar, &operands[0])) {
        return false;
    }
    if (!operands[0].value.id || operands[0].room < type->lanes) return false;
    uint32_t step = aligned ? padded_lanes(type) : 1;
    operands[1] = gen_index(g, operands[0].room - type->lanes + 1, step, TW_DIVERGENT);
    operands[1] = gen_maybe_wide(g, operands[1]);
    tw_attr attrs[TW_MAX_ATTRS];
    uint32_t bytes = step * element_bytes(type->scalar);
    access_attrs(g, tw_op_info_get(TW_OP_GLOBAL_LOAD), least(bytes, 16), attrs);
    if (!gen_emit(g, TW_OP_GLOBAL_LOAD, type, operands, 2, attrs, out)) return false;
    out->open = false;
    g->pool[g->count - 1].open = false;
    return true;
}

/* ---- resources ---- */

bool gen_resource(gen *g, fuzz_role role, tw_scalar scalar, gen_value *out) {
    gen_value operands[2] = {gen_buffer(g, role, scalar)};
    if (!operands[0].value.id) return false;
    for (uint32_t i = g->count; i > 0 && gen_chance(g, 90); i--) {
        const gen_value *v = &g->pool[i - 1];
        if (v->type != tw_type_rsrc() || v->param != operands[0].param) continue;
        *out = *v;
        return true;
    }
    uint32_t bytes = FUZZ_IN_COUNT * element_bytes(scalar);
    if (role == FUZZ_IN && gen_chance(g, 40)) bytes -= gen_below(g, 40); /* odd sizes */
    if (role == FUZZ_OUT && g->out_sizes[scalar]) return false;          /* made in another region */
    operands[1] = gen_i32(g, bytes);
    if (!gen_emit(g, TW_OP_BUFFER_RSRC, NULL, operands, 2, NULL, out)) return false;
    out->param = operands[0].param;
    out->bytes = bytes;
    if (role == FUZZ_OUT) g->out_sizes[scalar] = g->kernel->values[operands[1].value.id].op;
    gen_push(g, *out);
    return true;
}

static void policy(gen *g, const tw_op_info *row, tw_attr attrs[TW_MAX_ATTRS]) {
    for (unsigned i = 0; i < row->attr_count; i++) {
        attrs[i] = (tw_attr){.kind = TW_ATTR_NONE};
        if (!row->attrs[i].required && gen_chance(g, 60)) continue;
        uint32_t bits = gen_below(g, (uint32_t)row->attrs[i].max + 1);
        /* All workgroups add to the same places. */
        if (row->effect == E_GLOBAL_RMW) bits |= tw_cache_policy(g->kernel->target, TW_ATOMIC_DEVICE);
        attrs[i] = (tw_attr){TW_ATTR_INT, {.i = (int64_t)bits}};
    }
}

/* Splits a byte offset into the lane's part and a uniform one. */
static void offsets(gen *g, gen_value offset, uint32_t uniform, gen_value out[2]) {
    out[0] = offset;
    out[1] = gen_i32(g, uniform);
    if (!uniform || !gen_chance(g, 40)) return;
    gen_value x = gen_value_of(g, tw_type_scalar(TW_I32), TW_UNIFORM_IN_WAVE);
    out[1] = gen_binary(g, TW_OP_AND, x, gen_i32(g, uniform));
}

static bool buffer_load(gen *g, const tw_op_info *row) {
    const tw_type *type = gen_type(g, T_DATA);
    gen_value operands[3], result;
    if (!type || !gen_resource(g, FUZZ_IN, type->scalar, &operands[0])) return false;
    uint32_t bytes = data_bytes(type), step = bytes < 4 ? bytes : 4;
    uint32_t uniform = gen_chance(g, 40) ? 64 - step : 0;
    gen_value offset = gen_index(g, operands[0].bytes - bytes - uniform + 1, step, TW_DIVERGENT);
    if (gen_chance(g, 30)) { /* wholly out of range in some lanes */
        gen_value choice[3] = {gen_value_of(g, tw_type_scalar(TW_I1), TW_DIVERGENT), offset,
                               gen_i32(g, 0x40000000u + 16 * gen_below(g, 4096))};
        if (!gen_emit(g, TW_OP_SELECT, NULL, choice, 3, NULL, &offset)) return false;
    }
    offsets(g, offset, uniform, &operands[1]);
    for (int tries = 0; tries < 8; tries++) {
        tw_attr attrs[TW_MAX_ATTRS];
        policy(g, row, attrs);
        if (!gen_emit(g, row->opcode, type, operands, 3, attrs, &result)) continue;
        g->pool[g->count - 1].open = false;
        return true;
    }
    return false;
}

/* ---- slots of a work-item's own ---- */

static bool own_slot(gen *g, fuzz_role role, const tw_type *type, gen_value *index) {
    unsigned lanes = padded_lanes(type);
    uint32_t first = gen_reserve(g, role, type->scalar, g->total * lanes);
    if (first == UINT32_MAX) return false;
    *index = gen_plus(g, gen_times(g, g->global_tid, lanes), first);
    return true;
}

bool gen_store_own(gen *g, fuzz_role role, gen_value data) {
    gen_value operands[3] = {data, gen_buffer(g, role, data.type->scalar)};
    if (!operands[1].value.id || !own_slot(g, role, data.type, &operands[2])) return false;
    operands[2] = gen_maybe_wide(g, operands[2]);
    tw_attr attrs[TW_MAX_ATTRS];
    uint32_t bytes = padded_lanes(data.type) * element_bytes(data.type->scalar);
    access_attrs(g, tw_op_info_get(TW_OP_GLOBAL_STORE), least(bytes, 16), attrs);
    if (!gen_emit(g, TW_OP_GLOBAL_STORE, NULL, operands, 3, attrs, NULL)) return false;
    if (role != FUZZ_OUT || !gen_chance(g, 10)) return true;
    return gen_emit(g, TW_OP_GLOBAL_LOAD, data.type, &operands[1], 2, NULL, NULL); /* and back */
}

static bool buffer_store(gen *g, const tw_op_info *row) {
    const tw_type *type = gen_type(g, T_DATA);
    gen_value operands[4], index;
    if (!type) return false;
    operands[0] = gen_value_of(g, type, TW_DIVERGENT);
    if (!operands[0].value.id || !gen_resource(g, FUZZ_OUT, type->scalar, &operands[1]) ||
        !own_slot(g, FUZZ_OUT, type, &index))
        return false;
    operands[2] = gen_times(g, index, element_bytes(type->scalar));
    operands[3] = gen_i32(g, 0);
    for (int tries = 0; tries < 8; tries++) {
        tw_attr attrs[TW_MAX_ATTRS];
        policy(g, row, attrs);
        if (gen_emit(g, row->opcode, NULL, operands, 4, attrs, NULL)) return true;
    }
    return false;
}

/* ---- atomic adds ---- */

/* A small whole number: all sums of them are exact, so their order does not show. At most 24 work-items add
 * to one place, each 4 times in a loop: 2 * 96 is exact in bf16, too. */
static bool whole_number(gen *g, const tw_type *type, gen_value *out) {
    const tw_type *words = tw_type_vector(TW_I32, type->lanes);
    uint32_t most = type->scalar == TW_BF16 ? 1 : type->scalar == TW_F16 ? 7 : 255;
    gen_value x = gen_value_of(g, words, TW_DIVERGENT);
    x = gen_binary(g, TW_OP_AND, x, gen_constant(g, words, most));
    return gen_emit(g, TW_OP_UITOFP, type, &x, 1, NULL, out);
}

static const tw_type *atomic_type(gen *g) {
    static const struct {
        tw_scalar scalar;
        uint8_t lanes;
    } types[] = {{TW_F32, 1}, {TW_F16, 2}, {TW_BF16, 2}};
    uint32_t i = gen_below(g, 3);
    return tw_type_vector(types[i].scalar, types[i].lanes);
}

static gen_value sum_place(gen *g, const tw_type *type) {
    gen_value place = gen_binary(g, TW_OP_AND, g->tid, gen_i32(g, SUM_PLACES - 1));
    return gen_times(g, place, type->lanes);
}

static bool global_atomic(gen *g, const tw_op_info *row) {
    const tw_type *type = atomic_type(g);
    gen_value operands[4];
    if (g->loops > 1 || !whole_number(g, type, &operands[0])) return false;
    uint32_t first = gen_reserve(g, FUZZ_SUM, type->scalar, SUM_PLACES * type->lanes);
    if (first == UINT32_MAX) return false;
    gen_value place = gen_plus(g, sum_place(g, type), first);
    if (row->operands[1] == T_GPTR) {
        operands[1] = gen_buffer(g, FUZZ_SUM, type->scalar);
        operands[2] = gen_maybe_wide(g, place);
        return gen_emit(g, row->opcode, NULL, operands, 3, NULL, NULL);
    }
    gen_value base[2] = {gen_buffer(g, FUZZ_SUM, type->scalar),
                         gen_i32(g, (first + SUM_PLACES * type->lanes) * element_bytes(type->scalar))};
    if (!gen_emit(g, TW_OP_BUFFER_RSRC, NULL, base, 2, NULL, &operands[1])) return false;
    operands[2] = gen_times(g, place, element_bytes(type->scalar));
    operands[3] = gen_i32(g, 0);
    for (int tries = 0; tries < 8; tries++) {
        tw_attr attrs[TW_MAX_ATTRS];
        policy(g, row, attrs);
        if (gen_emit(g, row->opcode, NULL, operands, 4, attrs, NULL)) return true;
    }
    return false;
}

bool gen_memory_op(gen *g, const tw_op_info *row) {
    bool loads = row->result != R_NONE, buffer = row->operands[!loads] == T_RSRC;
    if (row->effect == E_GLOBAL_RMW) return global_atomic(g, row);
    if (loads && buffer) return buffer_load(g, row);
    if (buffer) return buffer_store(g, row);
    const tw_type *type = gen_type(g, T_DATA);
    gen_value v;
    if (!type) return false;
    if (loads) return gen_load(g, type, &v);
    v = gen_value_of(g, type, TW_DIVERGENT);
    return v.value.id && gen_store_own(g, FUZZ_OUT, v);
}

/* ---- between work-items: LDS, or the workgroup's part of an output, between barriers ---- */

bool gen_barrier(gen *g, tw_fence fence) {
    if (gen_chance(g, 25) && gen_emit_int(g, TW_OP_BARRIER_SIGNAL, NULL, NULL, 0, fence, NULL)) {
        gen_value x = gen_value_of(g, tw_type_scalar(TW_I32), TW_DIVERGENT);
        gen_binary(g, TW_OP_MUL, x, g->tid);
        return gen_emit_int(g, TW_OP_BARRIER_WAIT, NULL, NULL, 0, fence, NULL);
    }
    return gen_emit_int(g, TW_OP_BARRIER, NULL, NULL, 0, fence, NULL);
}

bool gen_new_array(gen *g, tw_scalar scalar, uint32_t count, gen_value *out) {
    if (g->arrays == MAX_ARRAYS) return false;
    tw_attr attrs[TW_MAX_ATTRS] = {{TW_ATTR_INT, {.i = count}}};
    if (gen_chance(g, 30)) attrs[1] = (tw_attr){TW_ATTR_INT, {.i = 16 << gen_below(g, 4)}};
    if (!gen_emit(g, TW_OP_LDS_ALLOC, tw_type_pointer(scalar, TW_LDS), NULL, 0, attrs, out)) return false;
    char name[48];
    int length = snprintf(name, sizeof name, "lds%u_%s", g->arrays++, g->kernel->name);
    g->kernel->values[out->value.id].name = tw_arena_strndup(&g->kernel->arena, name, (size_t)length);
    return true;
}

static bool lds_load(gen *g, const tw_type *type, gen_value array, gen_value index, uint32_t step) {
    gen_value operands[2] = {array, index};
    tw_attr attrs[TW_MAX_ATTRS];
    access_attrs(g, tw_op_info_get(TW_OP_LDS_LOAD), least(step * element_bytes(type->scalar), 16), attrs);
    return gen_emit(g, TW_OP_LDS_LOAD, type, operands, 2, attrs, NULL);
}

/* Each work-item stores, all meet, each loads what any other one stored. */
static bool exchange_lds(gen *g) {
    const tw_type *type = gen_type(g, T_DATA);
    gen_value array, operands[3];
    if (!type || !gen_new_array(g, type->scalar, g->items * type->lanes, &array)) return false;
    operands[0] = gen_value_of(g, type, TW_DIVERGENT);
    if (!operands[0].value.id) return false;
    operands[1] = array;
    operands[2] = gen_times(g, g->tid, type->lanes);
    uint32_t step = type->lanes == padded_lanes(type) ? type->lanes : 1;
    tw_attr attrs[TW_MAX_ATTRS];
    access_attrs(g, tw_op_info_get(TW_OP_LDS_STORE), least(step * element_bytes(type->scalar), 16), attrs);
    if (!gen_emit(g, TW_OP_LDS_STORE, NULL, operands, 3, attrs, NULL)) return false;
    if (gen_chance(g, 40) && !lds_load(g, type, array, operands[2], step)) return false; /* one's own */
    gen_ops(g, gen_below(g, 3));
    if (!gen_barrier(g, gen_chance(g, 70) ? TW_FENCE_LDS : TW_FENCE_ALL)) return false;
    for (uint32_t n = 1 + gen_below(g, 3); n; n--) {
        const tw_type *part = tw_type_vector(type->scalar, gen_chance(g, 50) ? type->lanes : 1);
        uint32_t room = g->items * type->lanes - part->lanes + 1;
        uint32_t apart = part->lanes == padded_lanes(part) && gen_chance(g, 60) ? part->lanes : 1;
        if (!lds_load(g, part, array, gen_index(g, room, apart, TW_DIVERGENT), apart)) return false;
        gen_ops(g, gen_below(g, 2));
    }
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS); /* before the next round stores again */
}

static bool exchange_global(gen *g) {
    const tw_type *type = gen_type(g, T_DATA);
    gen_value operands[3], index;
    if (!type) return false;
    operands[0] = gen_value_of(g, type, TW_DIVERGENT);
    unsigned lanes = padded_lanes(type);
    uint32_t first = gen_reserve(g, FUZZ_OUT, type->scalar, g->total * lanes);
    if (!operands[0].value.id || first == UINT32_MAX) return false;
    operands[1] = gen_buffer(g, FUZZ_OUT, type->scalar);
    operands[2] = gen_plus(g, gen_times(g, g->global_tid, lanes), first);
    if (!gen_emit(g, TW_OP_GLOBAL_STORE, NULL, operands, 3, NULL, NULL)) return false;
    if (!gen_barrier(g, TW_FENCE_ALL)) return false;
    gen_value group = gen_binary(g, TW_OP_SUB, g->global_tid, g->tid); /* its first work-item */
    index = gen_binary(g, TW_OP_ADD, group, gen_index(g, g->items, 1, TW_DIVERGENT));
    operands[2] = gen_plus(g, gen_times(g, index, lanes), first);
    if (!gen_emit(g, TW_OP_GLOBAL_LOAD, type, &operands[1], 2, NULL, NULL)) return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_ALL);
}

/* All work-items add to the places of an array of zeros. */
static bool sum_in_lds(gen *g, const tw_op_info *row) {
    const tw_type *type = atomic_type(g);
    gen_value array, operands[3], zero;
    uint32_t places = (g->items > SUM_PLACES ? g->items : SUM_PLACES) * type->lanes;
    if (g->loops > 1 || g->items < SUM_PLACES) return false;
    if (!whole_number(g, type, &operands[0]) || !gen_new_array(g, type->scalar, places, &array)) return false;
    zero = gen_constant(g, type, 0);
    gen_value store[3] = {zero, array, gen_times(g, g->tid, type->lanes)};
    if (!gen_emit(g, TW_OP_LDS_STORE, NULL, store, 3, NULL, NULL) || !gen_barrier(g, TW_FENCE_LDS))
        return false;
    operands[1] = array;
    operands[2] = sum_place(g, type);
    if (!gen_emit(g, row->opcode, NULL, operands, 3, NULL, NULL)) return false;
    gen_ops(g, gen_below(g, 2));
    if (!gen_barrier(g, TW_FENCE_LDS)) return false;
    gen_value place = gen_index(g, g->items * type->lanes, type->lanes, TW_DIVERGENT);
    if (!lds_load(g, type, array, place, type->lanes)) return false;
    return g->loops == 0 || gen_barrier(g, TW_FENCE_LDS);
}

bool gen_all_are_here(const gen *g) {
    bool one_wave = g->items <= g->kernel->target.wave_size;
    return g->together >= (one_wave ? TW_UNIFORM_IN_WAVE : TW_UNIFORM_IN_WORKGROUP);
}

bool gen_lds_op(gen *g, const tw_op_info *row) {
    if (!gen_all_are_here(g)) return false;
    if (row->effect == E_LDS_RMW) return sum_in_lds(g, row);
    if (row->opcode == TW_OP_BARRIER && gen_chance(g, 50)) return exchange_global(g);
    return exchange_lds(g);
}
