/* Copies that each lane makes for itself: LDS DMA of gfx9, asynchronous loads and stores of gfx1250. */
#include "run/emu/copy.h"
#include "run/emu/lds.h"
#include "run/emu/vmem.h"

/* LDS addresses of the lanes. */
static bool lds_addresses(tw_emu_wave *w, const emu_inst *i, unsigned half, uint32_t *active, uint32_t *at) {
    if (i->flags & EMU_I_LDS) { /* a place of its own for each lane of the wave, from M0 on */
        unsigned step = emu_mem_bytes(i->row) <= 4 ? 4 : 16;
        if (w->su[EMU_S_M0]) {
            tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                          "an LDS address is made of bits that nobody wrote");
            return false;
        }
        for (unsigned l = 0; l < EMU_LANES; l++)
            at[l] = w->s[EMU_S_M0] + (uint32_t)i->imm + (half * EMU_LANES + l) * step;
        return true;
    }
    const uint32_t *v = emu_vgpr(w, &i->s[1], half);
    uint32_t bad = 0;
    if (w->shadow && tw_emu_vector_unknown(w, &i->s[1])) {
        const uint32_t *u = emu_vgpr_unknown(w, &i->s[1], half);
        for (unsigned l = 0; l < EMU_LANES; l++)
            bad |= (uint32_t)(u[l] != 0) << l;
        bad &= *active;
        if (bad)
            tw_emu_report(w, (int)(half * EMU_LANES) + __builtin_ctz(bad), EMU_REPORT_UNINITIALISED,
                          "an LDS address is made of bits that nobody wrote");
    }
    *active &= ~bad;
    for (unsigned l = 0; l < EMU_LANES; l++)
        at[l] = v[l] + (uint32_t)i->imm;
    return true;
}

/* The bytes from `from` on of a lane's end in memory; a buffer load out of its range gives zeros. */
static bool global_end(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, int lane,
                       unsigned from, unsigned bytes, emu_piece *piece) {
    unsigned l = (unsigned)lane % EMU_LANES;
    uint64_t address = a->address[l] + from;
    emu_place place;
    piece->buffer = NULL;
    if (emu_mem_space(i->row) == EMU_SPACE_SCRATCH) {
        if (!tw_emu_place_scratch(w, lane, (uint32_t)address, bytes, EMU_READS, &place)) return false;
        piece->buffer = place.buffer;
        piece->offset = (uint64_t)(place.data - place.buffer->data);
        return true;
    }
    if (emu_mem_space(i->row) == EMU_SPACE_BUFFER &&
        !tw_emu_resource_address(&a->resource, a->index[l], (uint32_t)address, a->scalar, (unsigned)lane,
                                 bytes, &address))
        return true;
    emu_intent intent = i->row->flags & EMU_ROW_STORE ? EMU_WRITES : EMU_READS;
    if (!tw_emu_place_global(w, lane, address, bytes, intent, &place)) return false;
    piece->buffer = place.buffer;
    piece->offset = (uint64_t)(place.data - place.buffer->data);
    return true;
}

static void add_lane(tw_emu_wave *w, const emu_inst *i, const emu_block_addresses *a, int lane, uint32_t lds,
                     emu_copy *copy) {
    unsigned bytes = emu_mem_bytes(i->row);
    /* A buffer's range is checked dword by dword; in scratch nothing may cross a dword. */
    unsigned step = emu_mem_space(i->row) == EMU_SPACE_BUFFER && bytes > 4 ? 4 : bytes;
    if (emu_mem_space(i->row) == EMU_SPACE_SCRATCH && a->address[(unsigned)lane % EMU_LANES] % 4 + bytes > 4)
        step = 1;
    unsigned width = i->flags & EMU_I_LDS && bytes < 4 ? 4 : step;
    for (unsigned from = 0; from < bytes; from += step) {
        emu_piece piece = {.lds = lds + from, .bytes = width, .read = step, .lane = lane};
        emu_place place;
        if (!global_end(w, i, a, lane, from, step, &piece)) return;
        if (!tw_emu_place_lds(w, lane, piece.lds, width, copy->store ? EMU_READS : EMU_WRITES, &place))
            return;
        if (!tw_emu_copy_add(copy, piece)) return;
    }
}

bool tw_emu_copy_alone(tw_emu_wave *w) {
    if ((w->s[EMU_S_M0] & 0xffff) <= 1) return true;
    tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN,
                 "the emulator knows clusters of one workgroup only (got multicast mask 0x%x)",
                 w->s[EMU_S_M0] & 0xffff);
    return false;
}

void tw_emu_exec_copy(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    emu_copy copy = {.store = i->row->flags & EMU_ROW_STORE, .sign = i->row->flags & EMU_ROW_SIGNED};
    if (i->row->flags & EMU_ROW_CLUSTER && !tw_emu_copy_alone(w)) return;
    for (unsigned half = 0; half < w->halves; half++) {
        emu_block_addresses a;
        uint32_t lds[EMU_LANES];
        tw_emu_block_address(w, i, half, &a);
        if (!a.active || !lds_addresses(w, i, half, &a.active, lds)) continue;
        a.active &= ~tw_emu_lds_masked(w, lds, 0); /* nothing is fetched for such lanes */
        for (uint32_t rest = a.active; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            add_lane(w, i, &a, (int)(half * EMU_LANES + l), lds[l], &copy);
        }
        uint64_t moved = (uint64_t)__builtin_popcount(a.active) * bytes;
        if (copy.store) {
            w->group->lds_read += moved;
            w->group->bytes_written += moved;
        } else {
            bool scratch = emu_mem_space(i->row) == EMU_SPACE_SCRATCH;
            *(scratch ? &w->group->scratch_read : &w->group->bytes_read) += moved;
            w->group->lds_written += moved;
        }
    }
    tw_emu_copy_start(w, i->flags & EMU_I_LDS ? EMU_COUNTER_VM : EMU_COUNTER_ASYNC, &copy);
}
