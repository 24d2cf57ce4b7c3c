/* Copies between registers and memory, 32 lanes at a time. */
#include "run/emu/block_copy.h"

static inline void load_words(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words) {
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

void tw_emu_block_load(const uint8_t *data, const uint64_t *offset, unsigned bytes, uint32_t *words) {
    load_words(data, offset, bytes, words);
}

bool tw_emu_block_load_known(const uint8_t *data, const uint8_t *known, const uint64_t *offset,
                             unsigned bytes, uint32_t *words, uint32_t *unknown) {
    uint32_t width = bytes < 4 ? (1u << (8 * bytes)) - 1 : 0xffffffffu;
    load_words(data, offset, bytes, words);
    load_words(known, offset, bytes, unknown);
    uint32_t any = 0;
    for (unsigned n = 0; n < (bytes + 3) / 4 * EMU_LANES; n++) {
        uint32_t k = unknown[n];
        words[n] = (words[n] & k) | (EMU_POISON & ~k & width);
        any |= unknown[n] = ~k & width;
    }
    return any;
}

void tw_emu_block_store(uint8_t *data, uint8_t *known, const uint64_t *offset, uint32_t lanes, unsigned bytes,
                        const uint32_t *words, unsigned shift) {
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
