/* Vector memory: global, flat, scratch and buffer accesses. */
#include "run/emu/access.h"
#include "run/emu/resource.h"

enum { MAX_WORDS = 4 };

/* Where the lanes of one block go. */
typedef struct block_addresses {
    uint64_t address[EMU_LANES]; /* of scratch: the offset into the private segment */
    uint32_t index[EMU_LANES];   /* buffers */
    uint32_t scalar;             /* buffers: soffset */
    emu_resource resource;
    uint32_t active; /* lanes that have an address */
} block_addresses;

/* Lanes whose address depends on unknown bits are reported and left out. */
static uint32_t known_lanes(tw_emu_wave *w, const emu_operand *o, unsigned half, uint32_t active) {
    if (!w->shadow || o->kind != EMU_OPERAND_VGPR || !tw_emu_vector_unknown(w, o)) return active;
    const uint32_t *u = emu_vgpr_unknown(w, o, half);
    uint32_t bad = 0;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t any = u[l];
        if (o->words == 2) any |= u[l + EMU_LANES];
        bad |= (uint32_t)(any != 0) << l;
    }
    bad &= active;
    if (bad)
        tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(bad),
                      "an address is made of bits that nobody wrote");
    return active & ~bad;
}

static bool scalar_known(tw_emu_wave *w, const emu_operand *o) {
    if (o->kind != EMU_OPERAND_SGPR || !tw_emu_vector_unknown(w, o)) return true;
    tw_emu_report(w, -1, "an address is made of bits that nobody wrote");
    return false;
}

static void global_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, block_addresses *a) {
    uint64_t unknown, base = tw_emu_scalar_read(w, &i->s[2], &unknown) + (uint64_t)i->imm;
    uint64_t scale = i->flags & EMU_I_SCALE ? emu_mem_bytes(i->row) : 1;
    const emu_operand *v = &i->s[0];
    if (v->kind != EMU_OPERAND_VGPR) {
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base;
        return;
    }
    const uint32_t *lo = emu_vgpr(w, v, half);
    if (v->words == 2) {
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base + (lo[l] | (uint64_t)lo[l + EMU_LANES] << 32);
    } else if (w->launch->isa == TW_ISA_GFX1250) { /* the offset beside a scalar base has a sign there */
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base + (uint64_t)(int64_t)(int32_t)lo[l] * scale;
    } else {
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base + lo[l] * scale;
    }
}

static void scratch_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, block_addresses *a) {
    uint64_t unknown;
    uint32_t base = (uint32_t)tw_emu_scalar_read(w, &i->s[2], &unknown) + (uint32_t)i->imm;
    uint32_t scale = i->flags & EMU_I_SCALE ? emu_mem_bytes(i->row) : 1;
    const uint32_t *v = i->s[0].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[0], half) : NULL;
    for (unsigned l = 0; l < EMU_LANES; l++)
        a->address[l] = base + (v ? v[l] * scale : 0);
}

static void buffer_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, block_addresses *a) {
    uint64_t unknown;
    const uint32_t *v = i->s[0].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[0], half) : NULL;
    const uint32_t *index = i->flags & EMU_I_IDXEN ? v : NULL;
    const uint32_t *offset = i->flags & EMU_I_OFFEN ? (index ? v + EMU_LANES : v) : NULL;
    a->resource = tw_emu_resource_read(&w->s[i->s[2].reg], w->launch->isa);
    a->scalar = (uint32_t)tw_emu_scalar_read(w, &i->s[3], &unknown);
    for (unsigned l = 0; l < EMU_LANES; l++) {
        a->index[l] = index ? index[l] : 0;
        a->address[l] = (uint32_t)((offset ? offset[l] : 0) + (uint32_t)i->imm);
    }
}

static void block_address(tw_emu_wave *w, const emu_inst *i, unsigned half, block_addresses *a) {
    a->active = known_lanes(w, &i->s[0], half, emu_exec_half(w, half));
    if (!scalar_known(w, &i->s[2]) || !scalar_known(w, &i->s[3])) a->active = 0;
    switch (emu_mem_space(i->row)) {
    case EMU_SPACE_GLOBAL:
    case EMU_SPACE_FLAT: global_addresses(w, i, half, a); break;
    case EMU_SPACE_SCRATCH: scratch_addresses(w, i, half, a); break;
    case EMU_SPACE_BUFFER: buffer_addresses(w, i, half, a); break;
    }
}

/* The place of bytes `from`.. of a lane's access. `zero` is set where a buffer load is out of its range,
 * which is no error. */
static bool place(tw_emu_wave *w, const emu_inst *i, const block_addresses *a, unsigned half, unsigned l,
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
        if (intent != EMU_READS)
            tw_emu_report(w, lane, "buffer %s out of the range of its resource: index %u, offset %u of %llu",
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

static bool load_lane(tw_emu_wave *w, const emu_inst *i, const block_addresses *a, unsigned half, unsigned l,
                      unsigned bytes, uint32_t *v, uint32_t *u) {
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

/* Loads of 8 and 16 bits: extended, or into one half of the register. */
static void narrow_load(const tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *value,
                        uint32_t *unknown) {
    const emu_row *row = i->row;
    unsigned bits = 8 * emu_mem_bytes(row);
    bool low = row->flags & EMU_ROW_D16_LO, high = row->flags & EMU_ROW_D16_HI;
    const uint32_t *old = emu_vgpr(w, &i->d, half), *old_unknown = emu_vgpr_unknown(w, &i->d, half);
    uint32_t mask = (1u << bits) - 1;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint32_t v = value[l] & mask, u = unknown[l] & mask;
        if (row->flags & EMU_ROW_SIGNED) {
            v = (uint32_t)((int32_t)(v << (32 - bits)) >> (32 - bits));
            u = (uint32_t)((int32_t)(u << (32 - bits)) >> (32 - bits));
        }
        if (low || high) {
            unsigned shift = high ? 16 : 0;
            uint32_t keep = high ? 0x0000ffffu : 0xffff0000u;
            v = (old[l] & keep) | (v & 0xffff) << shift;
            u = (w->shadow ? old_unknown[l] & keep : 0) | (u & 0xffff) << shift;
        }
        value[l] = v;
        unknown[l] = u;
    }
}

void tw_emu_exec_vmem_load(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    uint32_t value[2][MAX_WORDS * EMU_LANES], unknown[2][MAX_WORDS * EMU_LANES], loaded[2] = {0, 0};
    for (unsigned half = 0; half < w->halves; half++) {
        block_addresses a;
        block_address(w, i, half, &a);
        for (uint32_t rest = a.active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t v[MAX_WORDS], u[MAX_WORDS];
            if (!load_lane(w, i, &a, half, l, bytes, v, u)) memset(v, 0, sizeof v);
            for (unsigned k = 0; k < words; k++) {
                value[half][k * EMU_LANES + l] = v[k];
                unknown[half][k * EMU_LANES + l] = u[k];
            }
        }
        loaded[half] = a.active;
        w->group->bytes_read += (uint64_t)__builtin_popcount(a.active) * bytes;
    }
    for (unsigned half = 0; half < w->halves; half++) {
        if (bytes < 4) narrow_load(w, i, half, value[half], unknown[half]);
        for (unsigned k = 0; k < words; k++) {
            tw_emu_vector_store(w, &i->d, k, half, loaded[half], value[half] + k * EMU_LANES,
                                unknown[half] + k * EMU_LANES);
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

void tw_emu_exec_vmem_store(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = (bytes + 3) / 4;
    for (unsigned half = 0; half < w->halves; half++) {
        block_addresses a;
        block_address(w, i, half, &a);
        for (uint32_t rest = a.active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            uint32_t v[MAX_WORDS], u[MAX_WORDS];
            unsigned step = chunk_bytes(w, i, a.address[l], bytes);
            store_data(w, i, half, l, words, v, u);
            for (unsigned from = 0; from < bytes; from += step) {
                emu_place p;
                bool zero;
                if (!place(w, i, &a, half, l, from, step, EMU_WRITES, &zero, &p)) break;
                uint32_t part[MAX_WORDS], part_unknown[MAX_WORDS];
                unsigned count = (step + 3) / 4;
                for (unsigned k = 0; k < count; k++) {
                    part[k] = v[from / 4 + k] >> (from % 4 * 8);
                    part_unknown[k] = u[from / 4 + k] >> (from % 4 * 8);
                }
                tw_emu_store_bytes(&p, step, part, part_unknown);
            }
        }
        w->group->bytes_written += (uint64_t)__builtin_popcount(a.active) * bytes;
    }
}

/* ---- atomics ---- */

static uint64_t host_atomic(uint8_t *at, unsigned operation, unsigned bytes, uint64_t data, uint64_t other) {
    if (bytes == 4) {
        uint32_t *p = (uint32_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
        do
            next = (uint32_t)tw_emu_atomic_result(operation, bytes, old, data, other);
        while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
        return old;
    }
    uint64_t *p = (uint64_t *)(void *)at, old = __atomic_load_n(p, __ATOMIC_RELAXED), next;
    do
        next = tw_emu_atomic_result(operation, bytes, old, data, other);
    while (!__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    return old;
}

/* The outcome on unknown bytes, or with unknown data, is unknown. */
static bool atomic_lane(tw_emu_wave *w, const emu_inst *i, const block_addresses *a, unsigned half,
                        unsigned l, uint32_t *result, uint32_t *result_unknown) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4, operation = emu_mem_what(i->row);
    uint32_t v[MAX_WORDS] = {0}, u[MAX_WORDS] = {0}, old[2] = {0, 0}, old_unknown[2];
    bool zero, pair = operation == EMU_ATOMIC_CMPSWAP;
    emu_place p;
    if (!place(w, i, a, half, l, 0, bytes, EMU_UPDATES, &zero, &p)) return false;
    store_data(w, i, half, l, pair ? 2 * words : words, v, u);
    tw_emu_load_bytes(w, &p, bytes, old, old_unknown);
    uint64_t data = v[0] | (words == 2 ? (uint64_t)v[1] << 32 : 0);
    uint64_t other = !pair ? 0 : words == 2 ? v[2] | (uint64_t)v[3] << 32 : v[1];
    bool unknown = false;
    for (unsigned k = 0; k < words; k++)
        unknown |= old_unknown[k] != 0;
    for (unsigned k = 0; k < (pair ? 2 * words : words); k++)
        unknown |= u[k] != 0;
    uint64_t before = host_atomic(p.data, operation, bytes, data, other);
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
        block_addresses a;
        uint32_t result[2 * EMU_LANES], unknown[2 * EMU_LANES], done = 0;
        block_address(w, i, half, &a);
        for (uint32_t rest = a.active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            if (atomic_lane(w, i, &a, half, l, result, unknown)) done |= 1u << l;
        }
        for (unsigned k = 0; returns && k < bytes / 4; k++)
            tw_emu_vector_store(w, &i->d, k, half, done, result + k * EMU_LANES, unknown + k * EMU_LANES);
        w->group->bytes_read += (uint64_t)__builtin_popcount(a.active) * bytes;
        w->group->bytes_written += (uint64_t)__builtin_popcount(a.active) * bytes;
    }
}
