/* The loops of block_copy.h over 32 lanes. A file that defines BLOCK_LOOPS (the name of the table) and
 * includes this gets them for whatever instruction set is in force there. */
#include "run/emu/block_copy.h"
#include "run/emu/lane_math.h"

/* Whether lane after lane lies `step` bytes further. */
LM bool has_step(const uint64_t *offset, uint64_t step) {
    uint64_t other = 0;
    for (unsigned l = 0; l < EMU_LANES - 1; l++)
        other |= (offset[l + 1] - offset[l]) ^ step;
    return !other;
}

/* ---- addresses ---- */

static void add_base(uint64_t *address, const uint32_t *low, const uint32_t *high, uint64_t base) {
    if (high) {
        EACH_LANE address[l] = base + (low[l] | (uint64_t)high[l] << 32);
    } else {
        EACH_LANE address[l] = base + low[l];
    }
}

static void add_signed(uint64_t *address, const uint32_t *low, uint64_t base, uint32_t scale) {
    EACH_LANE address[l] = base + (uint64_t)((int64_t)(int32_t)low[l] * (int64_t)(int32_t)scale);
}

static bool to_offsets(uint64_t *offset, const uint64_t *address, uint64_t base, uint64_t limit,
                       uint32_t lanes) {
    uint64_t outside = 0;
    if (lanes == 0xffffffffu) {
        EACH_LANE {
            const uint64_t o = address[l] - base;
            offset[l] = o;
            outside |= 0u - (uint64_t)(o > limit);
        }
        return !outside;
    }
    EACH_LANE {
        const uint64_t o = (address[l] - base) & (0u - (uint64_t)(lanes >> l & 1));
        offset[l] = o;
        outside |= 0u - (uint64_t)(o > limit);
    }
    return !outside;
}

/* ---- loads ---- */

typedef uint16_t any_half __attribute__((aligned(1), may_alias));
typedef uint32_t any_word __attribute__((aligned(1), may_alias));

/* Lanes side by side. */
LM void load_row(const uint8_t *data, unsigned bytes, uint32_t *words) {
    const any_half *half = (const any_half *)data;
    const any_word *word = (const any_word *)data;
    switch (bytes) {
    case 1: {
        EACH_LANE words[l] = data[l];
        break;
    }
    case 2: {
        EACH_LANE words[l] = half[l];
        break;
    }
    case 4: memcpy(words, data, EMU_LANES * sizeof *words); break;
    case 8: {
        EACH_LANE {
            words[l] = word[2 * l];
            words[l + EMU_LANES] = word[2 * l + 1];
        }
        break;
    }
    default:
        for (unsigned k = 0; k < bytes / 4; k++)
            EACH_LANE words[k * EMU_LANES + l] = word[bytes / 4 * l + k];
        break;
    }
}

LM void load_words(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words) {
    if (has_step(offset, bytes)) {
        load_row(data + offset[0], bytes, words);
        return;
    }
    switch (bytes) {
    case 1:
        for (unsigned l = 0; l < EMU_LANES; l++)
            words[l] = data[offset[l]];
        break;
    case 2:
        for (unsigned l = 0; l < EMU_LANES; l++) {
            uint16_t v;
            memcpy(&v, data + offset[l], 2);
            words[l] = v;
        }
        break;
    default:
        for (unsigned k = 0; k < bytes / 4; k++) {
            for (unsigned l = 0; l < EMU_LANES; l++)
                memcpy(&words[k * EMU_LANES + l], data + offset[l] + 4 * k, 4);
        }
        break;
    }
}

static void load(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words) {
    load_words(data, offset, bytes, words);
}

static bool load_known(const uint8_t *data, const uint8_t *known, const uint64_t *offset, unsigned bytes,
                       uint32_t *words, uint32_t *unknown) {
    uint32_t width = bytes < 4 ? (1u << (8 * bytes)) - 1 : 0xffffffffu, any = 0;
    load_words(data, offset, bytes, words);
    load_words(known, offset, bytes, unknown);
    for (unsigned k = 0; k < (bytes + 3) / 4; k++, words += EMU_LANES, unknown += EMU_LANES) {
        EACH_LANE {
            const uint32_t u = ~unknown[l] & width;
            words[l] = (words[l] & ~u) | (EMU_POISON & u);
            unknown[l] = u;
            any |= u;
        }
    }
    return any;
}

/* ---- stores ---- */

static void store(uint8_t *data, uint8_t *known, const uint64_t *offset, uint32_t lanes, unsigned bytes,
                  const uint32_t *words, unsigned shift) {
    if (lanes == 0xffffffffu && bytes <= 4 && bytes != 1 && has_step(offset, bytes)) {
        uint16_t half[EMU_LANES];
        EACH_LANE half[l] = (uint16_t)(words[l] >> shift);
        memcpy(data + offset[0], bytes == 2 ? (const void *)half : (const void *)words, bytes * EMU_LANES);
        if (known) memset(known + offset[0], 0xff, bytes * EMU_LANES);
        return;
    }
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint8_t *to = data + offset[l];
        if (bytes < 4) {
            uint32_t v = words[l] >> shift;
            memcpy(to, &v, bytes == 1 ? 1 : 2);
        } else {
            for (unsigned k = 0; k < bytes / 4; k++)
                memcpy(to + 4 * k, &words[k * EMU_LANES + l], 4);
        }
        if (known) memset(known + offset[l], 0xff, bytes);
    }
}

static bool steps(const uint64_t *offset, uint64_t step) { return has_step(offset, step); }

const emu_block_loops BLOCK_LOOPS = {add_base, add_signed, to_offsets, steps, load, load_known, store};
