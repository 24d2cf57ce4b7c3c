/* Vector memory: global, flat, scratch and buffer accesses. */
#include "run/emu/vmem.h"

#include "run/emu/block_copy.h"
#include "run/emu/transposed.h"

enum { MAX_WORDS = 4 };

/* Bytes that the active lanes of a block move, by the space where each of them ends. */
static void count_bytes(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, emu_intent intent) {
    emu_group *g = w->group;
    unsigned lanes = (unsigned)__builtin_popcount(a->active), shared = 0, scratch = 0;
    emu_space space = emu_mem_space(i->row);
    bool swizzled = space == EMU_SPACE_BUFFER && a->resource.add_lane; /* scratch, where buffers reach it */
    if (space == EMU_SPACE_SCRATCH || swizzled) scratch = lanes;
    for (uint32_t rest = space == EMU_SPACE_FLAT ? a->active : 0; rest; rest &= rest - 1) {
        int lane = 0;
        uint32_t offset;
        uint64_t address = a->address[__builtin_ctz(rest)];
        bool in_lds = address >> 32 == EMU_SHARED_APERTURE >> 32;
        shared += in_lds;
        scratch += !in_lds && tw_emu_is_private(w, address, &lane, &offset);
    }
    uint64_t bytes = emu_mem_bytes(i->row), global = lanes - shared - scratch;
    if (intent != EMU_WRITES) {
        g->bytes_read += bytes * global;
        g->lds_read += bytes * shared;
        g->scratch_read += bytes * scratch;
    }
    if (intent != EMU_READS) {
        g->bytes_written += bytes * global;
        g->lds_written += bytes * shared;
        g->scratch_written += bytes * scratch;
    }
}

/* The place of bytes `from`.. of a lane's access. `zero` is set where a buffer access is out of its range,
 * which is no error of a load: it reads 0. */
static bool place(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half, unsigned l,
                  unsigned from, unsigned bytes, emu_intent intent, bool *zero, emu_place *out) {
    int lane = (int)(half * EMU_LANES + l);
    uint64_t address = a->address[l] + from;
    *zero = false;
    switch (emu_mem_space(i->row)) {
    case EMU_SPACE_GLOBAL: return tw_emu_place_global(w, lane, address, bytes, intent, out);
    case EMU_SPACE_FLAT: return tw_emu_place_flat(w, lane, address, bytes, intent, out);
    case EMU_SPACE_SCRATCH: return tw_emu_place_scratch(w, lane, (uint32_t)address, bytes, intent, out);
    case EMU_SPACE_BUFFER: break;
    }
    uint64_t target;
    if (!tw_emu_resource_address(&a->resource, a->index[l], (uint32_t)address, a->scalar, (unsigned)lane,
                                 bytes, &target)) {
        *zero = true;
        if (intent != EMU_READS && w->launch->check_buffer_range)
            tw_emu_report(w, lane, EMU_REPORT_BUFFER_RANGE,
                          "buffer %s out of the range of its resource: index %u, offset %u of %llu",
                          intent == EMU_WRITES ? "store" : "atomic", a->index[l],
                          (unsigned)address + a->scalar, (unsigned long long)a->resource.records);
        return false;
    }
    return tw_emu_place_global(w, lane, target, bytes, intent, out);
}

/* How many bytes of an access lie side by side: all, or in scratch and where a buffer load may be out of
 * range in part, dwords (single bytes where they cross a dword). */
static unsigned chunk_bytes(const tw_emu_wave *w, const emu_inst *i, uint64_t address, unsigned bytes) {
    emu_space space = emu_mem_space(i->row);
    if (space == EMU_SPACE_GLOBAL) return bytes;
    int lane;
    uint32_t offset;
    if (space == EMU_SPACE_FLAT && !tw_emu_is_private(w, address, &lane, &offset)) return bytes;
    if (space == EMU_SPACE_BUFFER) return bytes < 4 ? bytes : 4;
    if (bytes < 4) return address % 4 + bytes > 4 ? 1 : bytes;
    return address % 4 ? 1 : 4;
}

static bool load_lane(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half,
                      unsigned l, unsigned bytes, uint32_t *v, uint32_t *u) {
    unsigned step = chunk_bytes(w, i, a->address[l], bytes);
    emu_place p;
    bool zero;
    if (step == bytes) {
        if (place(w, i, a, half, l, 0, bytes, EMU_READS, &zero, &p)) {
            tw_emu_load_bytes(w, &p, bytes, v, u);
            return true;
        }
        memset(v, 0, 4 * ((bytes + 3) / 4));
        memset(u, 0, 4 * ((bytes + 3) / 4));
        return zero;
    }
    memset(v, 0, 4 * ((bytes + 3) / 4));
    memset(u, 0, 4 * ((bytes + 3) / 4));
    for (unsigned from = 0; from < bytes; from += step) {
        uint32_t part, part_unknown;
        if (!place(w, i, a, half, l, from, step, EMU_READS, &zero, &p)) continue;
        tw_emu_load_bytes(w, &p, step, &part, &part_unknown);
        uint32_t mask = step == 4 ? 0xffffffffu : (1u << (8 * step)) - 1;
        v[from / 4] |= (part & mask) << (from % 4 * 8);
        u[from / 4] |= (part_unknown & mask) << (from % 4 * 8);
    }
    return true;
}

/* Lane by lane, with every check. */
static void load_lanes(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half,
                       uint32_t *value, uint32_t *unknown) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    for (uint32_t rest = a->active; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t v[MAX_WORDS], u[MAX_WORDS];
        load_lane(w, i, a, half, l, bytes, v, u);
        for (unsigned k = 0; k < words; k++) {
            value[k * EMU_LANES + l] = v[k];
            unknown[k * EMU_LANES + l] = u[k];
        }
    }
}

/* At once; false where that cannot be. `*any_unknown` says whether `unknown` was filled. */
static bool load_block(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, uint32_t *value,
                       uint32_t *unknown, bool *any_unknown) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    uint64_t offset[EMU_LANES];
    uint32_t lanes;
    emu_buffer *b = tw_emu_block_buffer(w, i, a, EMU_READS, offset, &lanes);
    if (!b) return false;
    *any_unknown = !__atomic_load_n(&b->all_known, __ATOMIC_RELAXED);
    if (*any_unknown)
        *any_unknown =
            tw_emu_block_loops()->load_known(b->data, b->known, offset, bytes, value, unknown) && w->shadow;
    else
        tw_emu_block_loops()->load(b->data, offset, bytes, value);
    if (lanes == a->active) return true;
    /* What is out of the range of a buffer resource loads as 0. */
    for (unsigned n = 0; n < words * EMU_LANES; n++) {
        uint32_t keep = 0u - (lanes >> n % EMU_LANES & 1);
        value[n] &= keep;
        if (*any_unknown) unknown[n] &= keep;
    }
    return true;
}

uint32_t tw_emu_vmem_load_half(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                               uint32_t *unknown, bool *any) {
    emu_block_addresses a;
    tw_emu_block_address(w, i, half, &a);
    *any = false;
    if (!a.active) return 0;
    if (!load_block(w, i, &a, value, unknown, any)) {
        load_lanes(w, i, &a, half, value, unknown);
        *any = true;
    }
    count_bytes(w, i, &a, EMU_READS);
    return a.active;
}

void tw_emu_exec_vmem_load(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    uint32_t value[2][MAX_WORDS * EMU_LANES], unknown[2][MAX_WORDS * EMU_LANES], loaded[2] = {0, 0};
    bool any[2] = {false, false};
    for (unsigned half = 0; half < w->halves; half++)
        loaded[half] = tw_emu_vmem_load_half(w, i, half, value[half], unknown[half], &any[half]);
    if (i->row->flags & EMU_ROW_TRANSPOSED)
        tw_emu_transpose(w, i, (uint32_t *const[]){value[0], value[1]},
                         (uint32_t *const[]){unknown[0], unknown[1]}, any, words);
    for (unsigned half = 0; half < w->halves; half++) {
        if (bytes < 4) any[half] = tw_emu_narrow_load(w, i, half, value[half], unknown[half], any[half]);
        for (unsigned k = 0; k < words; k++) {
            tw_emu_vector_store(w, &i->d, k, half, loaded[half], value[half] + k * EMU_LANES,
                                any[half] ? unknown[half] + k * EMU_LANES : NULL);
        }
    }
}

/* The data operand of a lane. */
static void store_data(const tw_emu_wave *w, const emu_inst *i, unsigned half, unsigned l, unsigned words,
                       uint32_t *v, uint32_t *u) {
    const uint32_t *data = emu_vgpr(w, &i->s[1], half);
    const uint32_t *unknown =
        w->shadow && tw_emu_vector_unknown(w, &i->s[1]) ? emu_vgpr_unknown(w, &i->s[1], half) : NULL;
    unsigned shift = i->row->flags & EMU_ROW_D16_HI ? 16 : 0;
    for (unsigned k = 0; k < words; k++) {
        v[k] = data[k * EMU_LANES + l] >> shift;
        u[k] = unknown ? unknown[k * EMU_LANES + l] >> shift : 0;
    }
}

static void store_lanes(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    for (uint32_t rest = a->active; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t v[MAX_WORDS], u[MAX_WORDS];
        unsigned step = chunk_bytes(w, i, a->address[l], bytes);
        store_data(w, i, half, l, words, v, u);
        for (unsigned from = 0; from < bytes; from += step) {
            emu_place p;
            bool zero;
            w->storing = step == bytes ? v : NULL;
            if (!place(w, i, a, half, l, from, step, EMU_WRITES, &zero, &p)) break;
            uint32_t part[MAX_WORDS], part_unknown[MAX_WORDS];
            for (unsigned k = 0; k < (step + 3) / 4; k++) {
                part[k] = v[from / 4 + k] >> (from % 4 * 8);
                part_unknown[k] = u[from / 4 + k] >> (from % 4 * 8);
            }
            tw_emu_store_bytes(&p, step, part, part_unknown);
        }
    }
    w->storing = NULL;
}

static bool store_block(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half) {
    uint64_t offset[EMU_LANES];
    uint32_t lanes;
    if (w->shadow && tw_emu_vector_unknown(w, &i->s[1])) return false;
    emu_buffer *b = tw_emu_block_buffer(w, i, a, EMU_WRITES, offset, &lanes);
    if (!b) return false;
    uint8_t *known = __atomic_load_n(&b->all_known, __ATOMIC_RELAXED) ? NULL : b->known;
    tw_emu_block_loops()->store(b->data, known, offset, lanes, emu_mem_bytes(i->row),
                                emu_vgpr(w, &i->s[1], half), i->row->flags & EMU_ROW_D16_HI ? 16 : 0);
    return true;
}

void tw_emu_exec_vmem_store(tw_emu_wave *w, const emu_inst *i) {
    for (unsigned half = 0; half < w->halves; half++) {
        emu_block_addresses a;
        tw_emu_block_address(w, i, half, &a);
        if (a.active && !store_block(w, i, &a, half)) store_lanes(w, i, &a, half);
        count_bytes(w, i, &a, EMU_WRITES);
    }
}

/* ---- atomics ---- */

/* The outcome on unknown bytes, or with unknown data, is unknown. */
static bool atomic_lane(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, unsigned half,
                        unsigned l, uint32_t *result, uint32_t *result_unknown) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4, operation = emu_mem_what(i->row);
    uint32_t v[MAX_WORDS] = {0}, u[MAX_WORDS] = {0}, old[2] = {0, 0}, old_unknown[2];
    bool zero, pair = emu_atomic_is_pair(operation);
    emu_place p;
    if (!place(w, i, a, half, l, 0, bytes, EMU_UPDATES, &zero, &p)) {
        result[l] = result[l + EMU_LANES] = result_unknown[l] = result_unknown[l + EMU_LANES] = 0;
        return zero;
    }
    store_data(w, i, half, l, pair ? 2 * words : words, v, u);
    tw_emu_load_bytes(w, &p, bytes, old, old_unknown);
    uint64_t data = v[0] | (words == 2 ? (uint64_t)v[1] << 32 : 0);
    uint64_t other = !pair ? 0 : words == 2 ? v[2] | (uint64_t)v[3] << 32 : v[1];
    bool unknown = false;
    for (unsigned k = 0; k < words; k++)
        unknown |= old_unknown[k] != 0;
    for (unsigned k = 0; k < (pair ? 2 * words : words); k++)
        unknown |= u[k] != 0;
    uint64_t before = tw_emu_atomic_host(p.data, operation, bytes, data, other);
    if (unknown) {
        uint32_t all[2] = {0xffffffffu, 0xffffffffu}, now[2];
        memcpy(now, p.data, bytes);
        tw_emu_store_bytes(&p, bytes, now, operation == EMU_ATOMIC_SWAP ? u : all);
    }
    result[l] = (uint32_t)before;
    result_unknown[l] = old_unknown[0];
    if (words == 2) {
        result[l + EMU_LANES] = (uint32_t)(before >> 32);
        result_unknown[l + EMU_LANES] = old_unknown[1];
    }
    return true;
}

void tw_emu_exec_vmem_atomic(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    bool returns = i->flags & EMU_I_RETURN;
    if (returns || i->row->flags & EMU_ROW_ORDERED) tw_emu_wait_turn(w);
    for (unsigned half = 0; half < w->halves; half++) {
        emu_block_addresses a;
        uint32_t result[2 * EMU_LANES], unknown[2 * EMU_LANES], done = 0;
        tw_emu_block_address(w, i, half, &a);
        for (uint32_t rest = a.active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            if (atomic_lane(w, i, &a, half, l, result, unknown)) done |= 1u << l;
        }
        for (unsigned k = 0; returns && k < bytes / 4; k++)
            tw_emu_vector_store(w, &i->d, k, half, done, result + k * EMU_LANES, unknown + k * EMU_LANES);
        count_bytes(w, i, &a, EMU_UPDATES);
    }
}
