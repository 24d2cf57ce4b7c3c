/* The tensor data mover of gfx1250: tiles of up to five dimensions between global memory and LDS. The fields
 * of its descriptor are those of amd_gfx1250_TDM.h of the HIP runtime. */
#include <stdlib.h>

#include "run/emu/copy.h"

enum { DIMENSIONS = 5, GROUP_WORDS = 20 };

typedef struct tensor {
    uint32_t size;    /* bytes of an element */
    uint32_t lds;     /* where the tile begins */
    uint64_t address; /* ... and in memory */
    uint32_t rank;
    uint32_t tile[DIMENSIONS], extent[DIMENSIONS];
    uint64_t stride[DIMENSIONS]; /* elements; stride[0] is 1 */
    uint32_t pad_every, pad;     /* bytes; 0: none */
    const uint32_t *gather;      /* groups 2 and 3 hold row numbers */
    bool gather32;
} tensor;

/* The four groups one behind the other; groups that the instruction does not name are zero. */
static bool read_groups(tw_emu_wave *w, const emu_inst *i, uint32_t *words) {
    static const uint8_t COUNT[4] = {4, 8, 4, 4};
    uint32_t unknown = 0, *to = words;
    for (unsigned g = 0; g < 4; g++) {
        bool named = i->s[g].kind == EMU_OPERAND_SGPR;
        for (unsigned k = 0; k < COUNT[g]; k++) {
            *to++ = named ? w->s[i->s[g].reg + k] : 0;
            unknown |= named ? w->su[i->s[g].reg + k] : 0;
        }
    }
    if (!unknown) return true;
    tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "a tensor descriptor is made of bits that nobody wrote");
    return false;
}

static uint32_t split32(uint32_t low, uint32_t high) { return low >> 16 | high << 16; }
static uint64_t low48(uint32_t low, uint32_t high) { return low | (uint64_t)(high & 0xffff) << 32; }

/* What is refused: modes whose effects nobody has described well enough. NULL: fine. */
static const char *refusal(const uint32_t *g0, const uint32_t *g1) {
    if ((g0[0] & 3) > 1) return "a count above 1";
    if (g0[0] >> 2 & 3) return "restore and store bits";
    if (g0[3] >> 30 != 2) return "a type that is not 2";
    if ((g1[0] & 0xffff) > 1) return "a multicast to other workgroups";
    if (g1[0] >> 18 & 1) return "an atomic barrier";
    if (g1[0] >> 19 & 1) return "the iterate mode";
    return NULL;
}

static void parse(const uint32_t *words, bool store, tensor *t) {
    const uint32_t *g0 = words, *g1 = words + 4, *g2 = words + 12, *g3 = words + 16;
    *t = (tensor){.size = 1u << (g1[0] >> 16 & 3), .lds = g0[1]};
    t->address = g0[2] | (uint64_t)(g0[3] & 0x1ffffff) << 32;
    t->extent[0] = split32(g1[1], g1[2]);
    t->extent[1] = split32(g1[2], g1[3]);
    t->tile[0] = g1[3] >> 16;
    t->tile[1] = g1[4] & 0xffff;
    t->tile[2] = g1[4] >> 16;
    t->stride[0] = 1;
    t->stride[1] = low48(g1[5], g1[6]);
    t->stride[2] = g1[6] >> 16 | (uint64_t)g1[7] << 16;
    if (g1[0] >> 20 & 1 && !store) {
        t->pad_every = 4 * (2u << (g1[0] >> 22 & 7));
        t->pad = 4 * ((g1[0] >> 25) + 1);
    }
    if (g0[0] >> 31) {
        t->gather = g2;
        t->gather32 = g0[0] >> 30 & 1;
        t->tile[2] = 0;
    } else {
        t->extent[2] = g2[0];
        t->extent[3] = g2[1];
        t->stride[3] = low48(g2[2], g2[3]);
        t->tile[3] = g2[3] >> 16;
        t->stride[4] = low48(g3[0], g3[1]);
        t->extent[4] = split32(g3[1], g3[2]);
        t->tile[4] = g3[2] >> 16;
    }
    for (unsigned d = 0; d < DIMENSIONS; d++) {
        if (t->tile[d]) t->rank = d + 1;
    }
}

static uint64_t padded(const tensor *t, uint64_t byte) {
    return t->pad ? byte + byte / t->pad_every * t->pad : byte;
}

/* `bytes` of the tile from `at` on lie at `address`; NULL memory: zeros. Pads cut them in pieces. */
static bool add_run(tw_emu_wave *w, const tensor *t, uint64_t at, uint64_t bytes, const uint64_t *address,
                    emu_copy *copy) {
    for (uint64_t done = 0; done < bytes;) {
        uint64_t from = at + done, count = bytes - done;
        if (t->pad && count > t->pad_every - from % t->pad_every) count = t->pad_every - from % t->pad_every;
        emu_piece piece = {.lds = (uint32_t)(t->lds + padded(t, from)),
                           .bytes = (uint32_t)count,
                           .read = address ? (uint32_t)count : 0,
                           .lane = -1};
        emu_place place;
        if (address) {
            if (!tw_emu_place_global(w, -1, *address + done, (unsigned)count,
                                     copy->store ? EMU_WRITES : EMU_READS, &place))
                return false;
            piece.buffer = place.buffer;
            piece.offset = (uint64_t)(place.data - place.buffer->data);
        }
        if (!tw_emu_place_lds(w, -1, piece.lds, piece.bytes, copy->store ? EMU_READS : EMU_WRITES, &place))
            return false;
        if (!tw_emu_copy_add(copy, piece)) return false;
        done += count;
    }
    return true;
}

/* Row `row` of the tile: its elements in the tensor, then zeros. `inside`: the row itself is in the tensor.
 */
static bool add_row(tw_emu_wave *w, const tensor *t, uint64_t row, bool inside, uint64_t address,
                    emu_copy *copy) {
    uint64_t valid = !inside ? 0 : t->tile[0] < t->extent[0] ? t->tile[0] : t->extent[0];
    uint64_t at = row * t->tile[0] * t->size, end = valid * t->size;
    if (valid && !add_run(w, t, at, end, &address, copy)) return false;
    if (copy->store || valid == t->tile[0]) return true;
    return add_run(w, t, at + end, (t->tile[0] - valid) * t->size, NULL, copy);
}

static bool gather_rows(tw_emu_wave *w, const tensor *t, emu_copy *copy) {
    for (uint32_t k = 0; k < t->tile[1]; k++) {
        uint32_t row = t->gather32 ? t->gather[k] : t->gather[k / 2] >> (16 * (k % 2)) & 0xffff;
        if (!add_row(w, t, k, row < t->extent[1], t->address + t->size * row * t->stride[1], copy))
            return false;
    }
    return true;
}

static bool dense_rows(tw_emu_wave *w, const tensor *t, emu_copy *copy) {
    uint64_t rows = 1;
    for (unsigned d = 1; d < t->rank; d++)
        rows *= t->tile[d];
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t rest = row, element = 0;
        bool inside = true;
        for (unsigned d = 1; d < t->rank; d++) {
            uint64_t at = rest % t->tile[d];
            rest /= t->tile[d];
            inside = inside && at < t->extent[d];
            element += at * t->stride[d];
        }
        if (!add_row(w, t, row, inside, t->address + element * t->size, copy)) return false;
    }
    return true;
}

/* The tile as a whole: where it fails, nothing is copied. */
static bool fits(tw_emu_wave *w, const tensor *t) {
    uint64_t bytes = t->size;
    for (unsigned d = 0; d < t->rank; d++) {
        if (!t->tile[d]) {
            tw_emu_fatal(w, -1, EMU_REPORT_INVALID,
                         "a tensor descriptor whose tile has extent 0 in dimension %u below its rank %u", d,
                         t->rank);
            return false;
        }
        bytes *= t->tile[d];
        if (bytes > UINT32_MAX) break;
    }
    uint64_t end = t->lds + (bytes > UINT32_MAX ? bytes : padded(t, bytes - 1) + 1);
    if (end > w->group->lds_bytes) {
        tw_emu_report(w, -1, EMU_REPORT_OUT_OF_BOUNDS,
                      "a tensor tile out of bounds: bytes %u to %llu of LDS, of which the workgroup has %u",
                      t->lds, (unsigned long long)end - 1, w->group->lds_bytes);
        return false;
    }
    uint32_t most = t->gather32 ? 8 : 16;
    if (t->gather && t->tile[1] > most) {
        tw_emu_fatal(w, -1, EMU_REPORT_INVALID, "a tensor descriptor can gather at most %u rows (got %u)",
                     most, t->tile[1]);
        return false;
    }
    return tw_emu_check_alignment(w, -1, t->address, t->size);
}

void tw_emu_exec_tensor(tw_emu_wave *w, const emu_inst *i) {
    uint32_t words[GROUP_WORDS];
    emu_copy copy = {.store = i->row->flags & EMU_ROW_STORE};
    tensor t;
    if (!read_groups(w, i, words)) return;
    if ((words[0] & 3) == 0) {
        tw_emu_copy_count(w, EMU_COUNTER_TENSOR);
        return;
    }
    const char *reason = refusal(words, words + 4);
    if (reason) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "a tensor descriptor that the emulator does not know: %s",
                     reason);
        return;
    }
    parse(words, copy.store, &t);
    if (!t.rank || !fits(w, &t)) {
        tw_emu_copy_count(w, EMU_COUNTER_TENSOR);
        return;
    }
    bool whole = t.gather ? gather_rows(w, &t, &copy) : dense_rows(w, &t, &copy);
    if (!whole && !copy.failed) { /* reported */
        free(copy.pieces);
        tw_emu_copy_count(w, EMU_COUNTER_TENSOR);
        return;
    }
    uint64_t read = 0, moved = 0;
    for (uint32_t k = 0; k < copy.count; k++) {
        read += copy.pieces[k].read;
        moved += copy.pieces[k].bytes;
    }
    *(copy.store ? &w->group->bytes_written : &w->group->bytes_read) += read;
    *(copy.store ? &w->group->lds_read : &w->group->lds_written) += moved;
    tw_emu_copy_start(w, EMU_COUNTER_TENSOR, &copy);
}
