/* The generator uses every row of ir/opcodes.def: nothing falls out of it unnoticed. */
#include "tests/test.h"

#include <stdlib.h>

#include "tests/fuzz_lower/fuzz_case.h"

#define KERNELS 400 /* for each target */

static void generate(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        fuzz_case *c = fuzz_case_new(seed, target);
        assert_non_null(c);
        fuzz_case_free(c);
    }
}

static void every_row_is_generated(void **state) {
    (void)state;
    unsigned missing = 0, rows = 0;
    generate("gfx950");
    generate("gfx1250");
    for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
        rows += row != NULL;
        if (!row || fuzz_ops_made[opcode]) continue;
        missing++;
        print_error("%s is never generated\n", row->name);
    }
    assert_int_equal(missing, 0);
    assert_true(rows > 80);
}

static void same_seed_same_kernel(void **state) {
    (void)state;
    tw_target target;
    tw_target_parse("gfx1201", &target, NULL);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        char *first, *second;
        fuzz_case *a = fuzz_case_new(seed, target), *b = fuzz_case_new(seed, target);
        assert_int_equal(tw_kernel_to_text(a->kernel, &first, NULL, NULL), TW_OK);
        assert_int_equal(tw_kernel_to_text(b->kernel, &second, NULL, NULL), TW_OK);
        assert_string_equal(first, second);
        free(first);
        free(second);
        fuzz_case_free(a);
        fuzz_case_free(b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_generated),
        cmocka_unit_test(same_seed_same_kernel),
    };
    return cmocka_run_group_tests_name("fuzz_coverage", tests, NULL, NULL);
}
