#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "jit/compiler.h"
#include "lower/lower.h"
#include "lower/lower_internal.h"
#include "tests/ir/all_ops.h"

static const char *const targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1151",
                                      "gfx1200", "gfx1201", "gfx1250", "gfx1100:wave64", "gfx1201:wave64"};
#define TARGETS (sizeof targets / sizeof targets[0])

static tw_target target_named(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

static char *lower(const tw_kernel *kernel, tw_flavor flavor, size_t *length) {
    char *text;
    tw_diag *diag = tw_diag_new(NULL);
    tw_status status = tw_lower(kernel, flavor, &text, length, diag);
    if (status) fail_msg("%s: %s", tw_flavor_name(flavor), tw_diag_text(diag));
    tw_diag_free(diag);
    return text;
}

/* Everything lowers for every flavor that serves the target, and LLVM 22 compiles and links its text. */
static void lowers_and_compiles_every_op(void **state) {
    (void)state;
    tw_compiler *compiler;
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL), TW_OK);
    for (size_t t = 0; t < TARGETS; t++) {
        tw_target target = target_named(targets[t]);
        tw_context *ctx = tw_context_new(NULL);
        for (size_t i = 0; i < all_ops_count(); i++) {
            tw_kernel *kernel = all_ops_build(ctx, target, i);
            assert_non_null(kernel);
            for (size_t f = 0; tw_flavor_at(f); f++) {
                tw_flavor flavor = tw_flavor_at(f);
                if (tw_flavor_serves(flavor, target, NULL)) continue;
                size_t length;
                char *text = lower(kernel, flavor, &length);
                assert_int_equal(strlen(text), length);
                if (flavor == TW_FLAVOR_LLVM22) {
                    tw_code_object *object;
                    tw_diag *diag = tw_diag_new(NULL);
                    if (tw_compile_llvm_ir(compiler, text, length, target, NULL, &object, diag))
                        fail_msg("%s for %s: %s", all_ops_name(i), targets[t], tw_diag_text(diag));
                    tw_code_object_release(object);
                    tw_diag_free(diag);
                }
                free(text);
            }
        }
        tw_context_free(ctx);
    }
    tw_compiler_close(compiler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowers_and_compiles_every_op),
    };
    return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
