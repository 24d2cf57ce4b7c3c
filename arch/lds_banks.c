#include "arch/lds_banks.h"

/* The dwords that one group of lanes asks for, by bank: a list each. */
typedef struct requests {
    unsigned count, worst;
    uint8_t first[TW_LDS_MAX_BANKS], load[TW_LDS_MAX_BANKS]; /* 0: none, else 1 + index */
    uint8_t next[TW_LDS_MAX_BANKS];
    uint32_t dword[TW_LDS_MAX_BANKS];
} requests;

static void ask(requests *r, unsigned bank, uint32_t dword) {
    for (unsigned i = r->first[bank]; i; i = r->next[i - 1])
        if (r->dword[i - 1] == dword) return;
    r->dword[r->count] = dword;
    r->next[r->count] = r->first[bank];
    r->first[bank] = (uint8_t)++r->count;
    if (++r->load[bank] > r->worst) r->worst = r->load[bank];
}

unsigned tw_lds_bank_conflicts(unsigned banks, const uint32_t offset[TW_LDS_LANES], uint32_t active,
                               unsigned bytes) {
    const unsigned words = (bytes + 3) / 4;
    unsigned group = TW_LDS_LANES, cycles = 0;
    while (group * words > banks)
        group /= 2;
    for (unsigned first = 0; first < TW_LDS_LANES; first += group) {
        requests r = {.worst = 0};
        uint32_t lanes = active & (group == TW_LDS_LANES ? ~0u : ((1u << group) - 1) << first);
        for (; lanes; lanes &= lanes - 1) {
            const uint32_t dword = offset[__builtin_ctz(lanes)] / 4;
            for (unsigned k = 0; k < words; k++)
                ask(&r, (dword + k) % banks, dword + k);
        }
        if (r.worst) cycles += r.worst - 1;
    }
    return cycles;
}
