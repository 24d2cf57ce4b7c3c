/* Scalar loads, and the scalar stores and atomics of gfx9. */
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
    if (unknown)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "an offset is made of bits that nobody wrote");
    return i->flags & EMU_I_SCALE ? (v & 0xffffffffu) * bytes : v & 0xffffffffu;
}

/* Where an access begins, and how many bytes from there on a buffer resource has. False: unknown. */
static bool locate(tw_emu_wave *w, const emu_inst *i, unsigned bytes, uint64_t *address, uint64_t *limit) {
    uint64_t offset = scalar_offset(w, i, bytes) + (uint64_t)i->imm;
    if (emu_mem_space(i->row) == EMU_SPACE_BUFFER) {
        unsigned reg = i->s[0].reg;
        if (w->su[reg] | w->su[reg + 1] | w->su[reg + 2] | w->su[reg + 3])
            tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                          "a buffer resource is made of bits that nobody wrote");
        emu_resource r = tw_emu_resource_read(&w->s[reg], w->launch->isa);
        uint64_t size = r.stride ? r.records * r.stride : r.records;
        *address = r.base + (bytes >= 4 ? offset & ~3ull : offset);
        *limit = offset < size ? size - offset : 0;
        return true;
    }
    uint64_t unknown, base = tw_emu_scalar_read(w, &i->s[0], &unknown);
    if (unknown) {
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "an address is made of bits that nobody wrote");
        return false;
    }
    *address = base + offset;
    *limit = UINT64_MAX;
    if (bytes >= 4) {
        /* The unit ignores the two lowest bits. */
        tw_emu_check_alignment(w, -1, *address, 4);
        *address &= ~3ull;
    }
    return true;
}

void tw_emu_exec_smem(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    uint64_t address, limit;
    if (locate(w, i, bytes, &address, &limit)) load_words(w, i, address, bytes, limit);
}

/* Whether the bytes from `from` on are in the range of a buffer resource. */
static bool in_range(tw_emu_wave *w, const char *what, uint64_t from, unsigned bytes, uint64_t limit) {
    if (from + bytes <= limit) return true;
    if (w->launch->check_buffer_range)
        tw_emu_report(w, -1, EMU_REPORT_BUFFER_RANGE, "scalar buffer %s out of the range of its resource",
                      what);
    return false;
}

static uint64_t data_words(const tw_emu_wave *w, const emu_inst *i, unsigned first, unsigned words,
                           uint64_t *unknown) {
    unsigned reg = i->s[2].reg + first;
    *unknown = w->su[reg] | (words == 2 ? (uint64_t)w->su[reg + 1] << 32 : 0);
    return w->s[reg] | (words == 2 ? (uint64_t)w->s[reg + 1] << 32 : 0);
}

void tw_emu_exec_smem_store(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row);
    uint64_t address, limit;
    if (!locate(w, i, bytes, &address, &limit)) return;
    for (unsigned from = 0; from < bytes && in_range(w, "store", from, 4, limit); from += 4) {
        uint64_t unknown, v = data_words(w, i, from / 4, 1, &unknown);
        uint32_t word = (uint32_t)v, mark = w->shadow ? (uint32_t)unknown : 0;
        emu_place place;
        if (!tw_emu_place_global(w, -1, address + from, 4, EMU_WRITES, &place)) return;
        tw_emu_store_bytes(&place, 4, &word, &mark);
    }
    w->group->bytes_written += bytes;
}

void tw_emu_exec_smem_atomic(tw_emu_wave *w, const emu_inst *i) {
    unsigned bytes = emu_mem_bytes(i->row), words = bytes / 4, operation = emu_mem_what(i->row);
    uint64_t address, limit, unknown, other_unknown = 0, other = 0;
    uint32_t old[2] = {0, 0}, old_unknown[2] = {0, 0};
    emu_place place;
    if (!locate(w, i, bytes, &address, &limit) || !in_range(w, "atomic", 0, bytes, limit)) return;
    tw_emu_wait_turn(w);
    if (!tw_emu_place_global(w, -1, address, bytes, EMU_UPDATES, &place)) return;
    uint64_t data = data_words(w, i, 0, words, &unknown);
    if (emu_atomic_is_pair(operation)) other = data_words(w, i, words, words, &other_unknown);
    tw_emu_load_bytes(w, &place, bytes, old, old_unknown);
    uint64_t before = tw_emu_atomic_host(place.data, operation, bytes, data, other);
    if (w->shadow && (unknown | other_unknown | old_unknown[0] | old_unknown[1])) {
        uint32_t now[2], all[2] = {0xffffffffu, 0xffffffffu};
        memcpy(now, place.data, bytes);
        tw_emu_store_bytes(&place, bytes, now, all);
    }
    if (i->flags & EMU_I_RETURN)
        tw_emu_scalar_write(w, &i->d, before, old_unknown[0] | (uint64_t)old_unknown[1] << 32);
    w->group->scalar_read += bytes;
    w->group->bytes_written += bytes;
}
