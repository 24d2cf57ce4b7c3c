/* VGPR budgets: where llc 22 starts to spill, measured for workgroup sizes of every target. */
#include <stdio.h>
#include <stdlib.h>

#include "support/strbuf.h"
#include "tests/arch/every_target.h"
#include "tests/arch/llvm_tool.h"

static const unsigned sizes[] = {64, 128, 256, 320, 512, 640, 768, 1024};
#define SIZES (sizeof sizes / sizeof sizes[0])

/* A kernel with `live` values in registers at once. */
static void pressure(tw_strbuf *text, unsigned size, unsigned live) {
    tw_strbuf_printf(text,
                     "define amdgpu_kernel void @k%u_%u() #0 \"amdgpu-flat-work-group-size\"=\"1,%u\" {\n",
                     size, live, size);
    for (unsigned i = 0; i < live; i++)
        tw_strbuf_printf(
            text, "  %%v%u = load volatile i32, ptr addrspace(3) inttoptr (i32 %u to ptr addrspace(3))\n", i,
            4 * i);
    for (unsigned i = 0; i < live; i++)
        tw_strbuf_printf(
            text, "  store volatile i32 %%v%u, ptr addrspace(3) inttoptr (i32 %u to ptr addrspace(3))\n", i,
            4 * i);
    tw_strbuf_append(text, "  ret void\n}\n");
}

#define MARGIN 8 /* registers that a kernel needs beside the live values, at most */

static void budgets_are_where_spills_start(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        tw_strbuf text;
        tw_strbuf_init(&text, NULL);
        tw_strbuf_append(&text, no_inputs);
        for (size_t s = 0; s < SIZES; s++) {
            unsigned budget = tw_arch_vgpr_budget(on, sizes[s]);
            pressure(&text, sizes[s], budget - MARGIN);
            pressure(&text, sizes[s], budget + MARGIN);
        }
        char *assembly = llc(on, tw_strbuf_text(&text));
        tw_strbuf_free(&text);
        for (size_t s = 0; s < SIZES; s++) {
            unsigned budget = tw_arch_vgpr_budget(on, sizes[s]);
            char name[32];
            snprintf(name, sizeof name, "k%u_%u", sizes[s], budget - MARGIN);
            assert_int_equal(kernel_metadata(assembly, name, ".vgpr_spill_count:"), 0);
            assert_in_range(kernel_metadata(assembly, name, ".vgpr_count:"), budget - MARGIN, budget);
            snprintf(name, sizeof name, "k%u_%u", sizes[s], budget + MARGIN);
            assert_int_not_equal(kernel_metadata(assembly, name, ".vgpr_spill_count:"), 0);
            assert_int_equal(kernel_metadata(assembly, name, ".vgpr_count:"), budget);
        }
        free(assembly);
    }
}

int main(void) {
    if (!have_llc()) return SUITE_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets_are_where_spills_start),
    };
    return cmocka_run_group_tests_name("arch-budget", tests, NULL, NULL);
}
