/* Buffer resources of gfx1250: bases of 57 bits and sizes of 45, packed as LLVM's make.buffer.rsrc does. */
#include "tests/test.h"

#include "run/emu/resource.h"

/* What llc 22 emits: base | size << 57 in the low pair, size >> 7 | stride << 44 in the high one. */
static emu_resource packed(uint64_t base, uint64_t size, uint64_t stride) {
    uint64_t low = base | size << 57, high = size >> 7 | stride << 44;
    uint32_t words[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)};
    return tw_emu_resource_read(words, TW_ISA_GFX1250);
}

static void test_wide(void **state) {
    (void)state;
    uint64_t base = 0x1a5c3f900001230ull, size = 0x1543216789abull, address = 0;
    emu_resource r = packed(base, size, 0x2bcd);
    assert_true(r.base == base && r.records == size && r.stride == 0x2bcd);
    r = packed(base, 0x300000040ull, 0);
    assert_true(tw_emu_resource_address(&r, 0, 0xfffffffcu, 0x10, 0, 4, &address));
    assert_true(address == base + 0x10000000cull);
    assert_true(tw_emu_resource_address(&r, 0, 0xffffffffu, 0xffffffffu, 0, 4, &address));
    r = packed(base, 0x100000010ull, 0);
    assert_true(tw_emu_resource_address(&r, 0, 0xfffffffcu, 0x10, 0, 4, &address));
    assert_false(tw_emu_resource_address(&r, 0, 0xfffffffcu, 0x14, 0, 4, &address));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wide)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
