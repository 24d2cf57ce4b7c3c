/* The bank model, against the plainest form of the sentence in docs/emulator.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/lds_banks.h"
#include "arch/target.h"
#include "support/random.h"

/* Lane l at l * pitch + (l / 16) * half bytes. */
static unsigned strided(unsigned banks, uint32_t pitch, uint32_t half, uint32_t active, unsigned bytes) {
    uint32_t offset[TW_LDS_LANES];
    for (uint32_t l = 0; l < TW_LDS_LANES; l++)
        offset[l] = l * pitch + l / 16 * half;
    return tw_lds_bank_conflicts(banks, offset, active, bytes);
}

static void known_patterns(void **state) {
    (void)state;
    static const struct {
        unsigned banks;
        uint32_t pitch, half, active;
        unsigned bytes, cycles;
    } rows[] = {
        {32, 4, 0, ~0u, 4, 0},          /* neighbouring dwords */
        {32, 0, 0, ~0u, 4, 0},          /* all lanes the same dword */
        {32, 128, 0, ~0u, 4, 31},       /* all lanes another dword of bank 0 */
        {64, 128, 0, ~0u, 4, 15},       /* of banks 0 and 32 */
        {32, 128, 0, 0, 4, 0},          /* nobody */
        {32, 128, 0, 0x80000001, 4, 1}, /* two */
        {32, 8, 0, ~0u, 4, 1},          /* every other bank */
        {32, 1, 0, ~0u, 1, 0},          /* four lanes a dword */
        {32, 132, 0, ~0u, 4, 0},        /* padded rows */
        {32, 8, 0, ~0u, 8, 0},          /* 16 lanes at once */
        {32, 16, 0, ~0u, 8, 2},         /* both groups */
        {32, 16, 0, ~0u, 16, 0},        /* 8 lanes at once */
        {32, 32, 0, ~0u, 16, 4},        /* four groups */
        {64, 32, 0, ~0u, 16, 2},        /* two groups of 16 lanes */
        {32, 16, 0, ~0u, 4, 3},         /* every fourth bank */
        {32, 16, 4, ~0u, 4, 1},         /* and the second half the banks behind those */
        {32, 12, 0, ~0u, 12, 0},        /* three dwords leave banks idle */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(strided(rows[i].banks, rows[i].pitch, rows[i].half, rows[i].active, rows[i].bytes),
                         rows[i].cycles);
}

/* In one group of lanes: of each bank the dwords that differ; the most of a bank less one. */
static unsigned plain_group(unsigned banks, const uint32_t *dword, size_t count) {
    unsigned worst = 0;
    for (uint32_t bank = 0; bank < banks; bank++) {
        unsigned differ = 0;
        for (size_t i = 0; i < count; i++) {
            bool before = dword[i] % banks != bank;
            for (size_t j = 0; j < i; j++)
                before |= dword[j] == dword[i];
            differ += !before;
        }
        if (differ > worst) worst = differ;
    }
    return worst ? worst - 1 : 0;
}

static void random_patterns(void **state) {
    (void)state;
    tw_random random;
    tw_random_seed(&random, 1);
    for (int round = 0; round < 4000; round++) {
        const unsigned banks = 32u << tw_random_below(&random, 2);
        const unsigned bytes = 4u << tw_random_below(&random, 3), words = bytes / 4;
        const uint32_t range = 1u << tw_random_below(&random, 12), active = (uint32_t)tw_random_u64(&random);
        uint32_t offset[TW_LDS_LANES];
        for (unsigned l = 0; l < TW_LDS_LANES; l++)
            offset[l] = (uint32_t)tw_random_below(&random, range) * 4;
        const unsigned together = TW_LDS_LANES * words > banks ? banks / words : TW_LDS_LANES;
        unsigned cycles = 0;
        for (unsigned first = 0; first < TW_LDS_LANES; first += together) {
            uint32_t dword[TW_LDS_MAX_BANKS];
            size_t count = 0;
            for (unsigned l = first; l < first + together; l++)
                for (unsigned k = 0; k < words && (active >> l & 1); k++)
                    dword[count++] = offset[l] / 4 + k;
            cycles += plain_group(banks, dword, count);
        }
        assert_int_equal(tw_lds_bank_conflicts(banks, offset, active, bytes), cycles);
    }
}

static void every_target_has_banks_that_the_model_takes(void **state) {
    (void)state;
    for (tw_arch a = TW_ARCH_NONE + 1; a < TW_ARCH_COUNT; a++) {
        const uint32_t banks = tw_arch_get(a)->lds_banks;
        assert_true(banks >= TW_LDS_LANES && banks <= TW_LDS_MAX_BANKS && !(banks & (banks - 1)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_patterns),
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(every_target_has_banks_that_the_model_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
