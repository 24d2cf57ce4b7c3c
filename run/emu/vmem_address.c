/* Addresses of vector memory instructions. */
#include "run/emu/vmem.h"

#include "run/emu/block_copy.h"
#include "run/emu/global_race.h"

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
        tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(bad), EMU_REPORT_UNINITIALISED,
                      "an address is made of bits that nobody wrote");
    return active & ~bad;
}

static bool scalar_known(tw_emu_wave *w, const emu_operand *o) {
    if (o->kind != EMU_OPERAND_SGPR || !tw_emu_vector_unknown(w, o)) return true;
    tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "an address is made of bits that nobody wrote");
    return false;
}

static void global_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, emu_block_addresses *a) {
    uint64_t unknown, base = tw_emu_scalar_read(w, &i->s[2], &unknown) + (uint64_t)i->imm;
    uint32_t scale = i->flags & EMU_I_SCALE ? emu_mem_bytes(i->row) : 1;
    const emu_operand *v = &i->s[0];
    if (i->row->flags & EMU_ROW_TID) {
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base + 4 * (half * EMU_LANES + l);
        return;
    }
    if (v->kind != EMU_OPERAND_VGPR) {
        for (unsigned l = 0; l < EMU_LANES; l++)
            a->address[l] = base;
        return;
    }
    const uint32_t *lo = emu_vgpr(w, v, half);
    if (v->words == 2) {
        tw_emu_block_loops()->add_base(a->address, lo, lo + EMU_LANES, base);
    } else if (w->launch->isa == TW_ISA_GFX1250) { /* the offset beside a scalar base has a sign there */
        tw_emu_block_loops()->add_signed(a->address, lo, base, scale);
    } else {
        tw_emu_block_loops()->add_base(a->address, lo, NULL, base);
    }
}

static void scratch_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, emu_block_addresses *a) {
    uint64_t unknown;
    uint32_t base = (uint32_t)tw_emu_scalar_read(w, &i->s[2], &unknown) + (uint32_t)i->imm;
    uint32_t scale = i->flags & EMU_I_SCALE ? emu_mem_bytes(i->row) : 1;
    const uint32_t *v = i->s[0].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[0], half) : NULL;
    for (unsigned l = 0; l < EMU_LANES; l++)
        a->address[l] = base + (v ? v[l] * scale : 0);
}

static void buffer_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, emu_block_addresses *a) {
    uint64_t unknown;
    const uint32_t *v = i->s[0].kind == EMU_OPERAND_VGPR ? emu_vgpr(w, &i->s[0], half) : NULL;
    const uint32_t *index = i->flags & EMU_I_IDXEN ? v : NULL;
    const uint32_t *offset = i->flags & EMU_I_OFFEN ? (index ? v + EMU_LANES : v) : NULL;
    a->resource = tw_emu_resource_read(&w->s[i->s[2].reg], w->launch->isa);
    a->scalar = (uint32_t)tw_emu_scalar_read(w, &i->s[3], &unknown);
    a->indexed = index;
    if (index)
        memcpy(a->index, index, sizeof a->index);
    else
        memset(a->index, 0, sizeof a->index);
    uint32_t from[EMU_LANES];
    for (unsigned l = 0; l < EMU_LANES; l++)
        from[l] = (offset ? offset[l] : 0) + (uint32_t)i->imm;
    tw_emu_block_loops()->add_base(a->address, from, NULL, 0);
}

void tw_emu_block_address(tw_emu_wave *w, const emu_inst *i, unsigned half, emu_block_addresses *a) {
    a->half = half;
    a->active = known_lanes(w, &i->s[0], half, emu_exec_half(w, half));
    if (!scalar_known(w, &i->s[2]) || !scalar_known(w, &i->s[3])) a->active = 0;
    switch (emu_mem_space(i->row)) {
    case EMU_SPACE_GLOBAL:
    case EMU_SPACE_FLAT: global_addresses(w, i, half, a); break;
    case EMU_SPACE_SCRATCH: scratch_addresses(w, i, half, a); break;
    case EMU_SPACE_BUFFER: buffer_addresses(w, i, half, a); break;
    }
}

/* ---- all lanes in one buffer ---- */

/* Buffer resources that a range check in bytes describes: where their lanes go, and which are in range. */
static bool buffer_targets(const emu_block_addresses *a, unsigned bytes, uint64_t *target, uint32_t *in) {
    const emu_resource *r = &a->resource;
    if (r->swizzle || r->add_lane || (!r->is_gfx9 && r->bounds != 3)) return false;
    uint64_t from = r->base + a->scalar, most = (uint64_t)a->scalar + bytes;
    uint32_t partly = 0;
    if (!a->indexed && most <= r->records &&
        tw_emu_block_loops()->to_offsets(target, a->address, 0, r->records - most, a->active)) {
        for (unsigned l = 0; l < EMU_LANES; l++)
            target[l] += from;
        *in = a->active;
        return true;
    }
    *in = 0;
    for (unsigned l = 0; l < EMU_LANES; l++) {
        uint64_t place = a->address[l] + (uint64_t)a->index[l] * r->stride, end = place + a->scalar + bytes;
        *in |= (uint32_t)(end <= r->records) << l;
        partly |= (uint32_t)(end > r->records && place + a->scalar + 4 <= r->records) << l;
        target[l] = from + place;
    }
    *in &= a->active;
    return bytes <= 4 || !(partly & a->active);
}

emu_buffer *tw_emu_block_buffer(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a,
                                emu_intent intent, uint64_t *offset, uint32_t *lanes) {
    unsigned bytes = emu_mem_bytes(i->row);
    uint64_t room[EMU_LANES];
    const uint64_t *target = a->address;
    emu_space space = emu_mem_space(i->row);
    *lanes = a->active;
    if (space == EMU_SPACE_SCRATCH || w->launch->strict_alignment || tw_emu_meets_copies(w, intent))
        return NULL;
    if (space == EMU_SPACE_BUFFER) {
        if (!buffer_targets(a, bytes, room, lanes)) return NULL;
        if (intent != EMU_READS && *lanes != a->active) return NULL;
        target = room;
    }
    if (!*lanes) return NULL;
    uint64_t first = target[__builtin_ctz(*lanes)];
    emu_buffer *b = w->last_buffer && tw_emu_buffer_holds(w->last_buffer, first, bytes)
                        ? w->last_buffer
                        : tw_emu_memory_find(w->launch->memory, first, bytes);
    if (!b || b->freed || (intent != EMU_READS && b->read_only)) return NULL;
    if (!tw_emu_block_loops()->to_offsets(offset, target, b->address, b->bytes - bytes, *lanes)) return NULL;
    w->last_buffer = b;
    if (w->group->global_log) tw_emu_global_note_block(w, a->half, b, offset, *lanes, bytes, intent);
    return b;
}
