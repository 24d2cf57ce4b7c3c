/* Scalar loads. */
#include "run/emu/access.h"
#include "run/emu/resource.h"

enum { MAX_WORDS = 16 };

/* Compilers widen scalar loads of kernel arguments up to 16 bytes: of a load that begins in the segment, what
 * lies behind its end up to there has no value, and is no error. */
static bool is_widened(const tw_emu_wave *w, uint64_t start, uint64_t address) {
    const emu_buffer *b = w->launch->kernarg;
    uint64_t from = start - b->address, at = address - b->address;
    return start >= b->address && from < b->bytes && at >= b->bytes && at < (b->bytes + 15) / 16 * 16;
}

/* Everything but the address: `size` bytes into the destination registers, one dword at a time. */
static void load_words(tw_emu_wave *w, const emu_inst *i, uint64_t address, unsigned bytes, uint64_t limit) {
    unsigned words = (bytes + 3) / 4, step = bytes < 4 ? bytes : 4;
    for (unsigned k = 0; k < words; k++) {
        uint32_t v = 0, unknown = 0;
        emu_place place;
        if (is_widened(w, address, address + 4u * k))
            unknown = w->shadow ? 0xffffffffu : 0;
        else if (k * 4u + step <= limit &&
                 tw_emu_place_global(w, -1, address + 4u * k, step, EMU_READS, &place))
            tw_emu_load_bytes(w, &place, step, &v, &unknown);
        if (i->row->flags & EMU_ROW_SIGNED) v = bytes == 1 ? (uint32_t)(int8_t)v : (uint32_t)(int16_t)v;
        emu_operand d = i->d;
        d.reg = (uint16_t)(i->d.reg + k);
        d.words = 1;
        if (i->d.reg != EMU_S_NULL) tw_emu_scalar_write(w, &d, v, unknown);
    }
    w->group->scalar_read += bytes;
}

static uint64_t scalar_offset(tw_emu_wave *w, const emu_inst *i, unsigned bytes) {
    uint64_t unknown, v = tw_emu_scalar_read(w, &i->s[1], &unknown);
    if (unknown) tw_emu_report(w, -1, "an offset is made of bits that nobody wrote");
    return i->flags & EMU_I_SCALE ? (v & 0xffffffffu) * bytes : v & 0xffffffffu;
}

static void buffer_load(tw_emu_wave *w, const emu_inst *i, unsigned bytes) {
    unsigned reg = i->s[0].reg;
    if (w->su[reg] | w->su[reg + 1] | w->su[reg + 2] | w->su[reg + 3])
        tw_emu_report(w, -1, "a buffer resource is made of bits that nobody wrote");
    emu_resource r = tw_emu_resource_read(&w->s[reg], w->launch->isa);
    uint64_t offset = scalar_offset(w, i, bytes) + (uint64_t)i->imm;
    uint64_t size = r.stride ? r.records * r.stride : r.records;
    load_words(w, i, r.base + (bytes >= 4 ? offset & ~3ull : offset), bytes,
               offset < size ? size - offset : 0);
}

void tw_emu_exec_smem(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    if (emu_mem_space(i->row) == EMU_SPACE_BUFFER) {
        buffer_load(w, i, bytes);
        return;
    }
    uint64_t unknown, base = tw_emu_scalar_read(w, &i->s[0], &unknown);
    if (unknown) {
        tw_emu_report(w, -1, "an address is made of bits that nobody wrote");
        return;
    }
    uint64_t address = base + scalar_offset(w, i, bytes) + (uint64_t)i->imm;
    if (bytes >= 4) {
        /* The unit ignores the two lowest bits. */
        tw_emu_check_alignment(w, -1, address, 4);
        address &= ~3ull;
    }
    load_words(w, i, address, bytes, UINT64_MAX);
}
