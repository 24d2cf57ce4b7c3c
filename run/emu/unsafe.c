/* What LLVM's disassembler must not see. */
#include <string.h>

#include "run/emu/code.h"

typedef struct unsafe_row {
    tw_isa isa;
    uint32_t mask, value, but_mask, but_value, second_mask, second_value;
    const char *reason;
} unsafe_row;

static const unsafe_row ROWS[] = {
#define UNSAFE(isa, mask, value, but_mask, but_value, second_mask, second_value, reason) \
    {TW_ISA_##isa, mask, value, but_mask, but_value, second_mask, second_value, reason},
#include "run/emu/unsafe.def"
#undef UNSAFE
};

const char *tw_emu_unsafe_encoding(tw_isa isa, const uint8_t *bytes) {
    uint32_t word[2];
    memcpy(word, bytes, sizeof word);
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        const unsafe_row *row = &ROWS[k];
        if (row->isa == isa && (word[0] & row->mask) == row->value &&
            (word[0] & row->but_mask) != row->but_value && (word[1] & row->second_mask) == row->second_value)
            return row->reason;
    }
    return NULL;
}
