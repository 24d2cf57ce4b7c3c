/* Every op is built and verified on every target that has its features, and the kernels use every row. */
#include "tests/test.h"

#include "ir/ir.h"
#include "tests/ir/all_ops.h"

static const char *const targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1100:wave64",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1201:wave64", "gfx1250"};

static void mark(const tw_kernel *kernel, bool used[TW_OPCODE_LIMIT]) {
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        used[op->opcode] = true;
}

/* The target has what the op needs. */
static bool is_served(tw_target target, tw_opcode opcode) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    switch (opcode) {
    case TW_OP_FPTRUNC_SAT: return arch->fp8 != TW_FP8_NONE;
    case TW_OP_LDS_LOAD_TRANSPOSED: return arch->arch == TW_ARCH_GFX950 || arch->arch == TW_ARCH_GFX1250;
    case TW_OP_GLOBAL_LOAD_TRANSPOSED: return arch->arch >= TW_ARCH_GFX1200 && target.wave_size == 32;
    case TW_OP_ASYNC_COPY_TO_LDS:
    case TW_OP_ASYNC_COPY_FROM_LDS:
    case TW_OP_TENSOR_LOAD_TO_LDS:
    case TW_OP_TENSOR_STORE_FROM_LDS:
    case TW_OP_TENSOR_WAIT: return arch->arch == TW_ARCH_GFX1250;
    case TW_OP_GLOBAL_LOAD_TO_LDS:
    case TW_OP_BUFFER_LOAD_TO_LDS: return arch->arch <= TW_ARCH_GFX950;
    case TW_OP_ASYNC_WAIT: return arch->arch <= TW_ARCH_GFX950 || arch->arch == TW_ARCH_GFX1250;
    case TW_OP_BARRIER_SIGNAL:
    case TW_OP_BARRIER_WAIT: return arch->arch >= TW_ARCH_GFX1200;
    default: return true;
    }
}

static void each_op_verifies_on_each_target(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        bool used[TW_OPCODE_LIMIT] = {false};
        tw_target target;
        assert_int_equal(tw_target_parse(targets[t], &target, NULL), TW_OK);
        for (size_t i = 0; i < all_ops_count(); i++) {
            tw_context *ctx = tw_context_new(NULL);
            tw_kernel *kernel = all_ops_build(ctx, target, i);
            assert_string_equal(tw_context_diagnostics(ctx), "");
            assert_non_null(kernel);
            assert_int_equal(tw_kernel_verify(kernel, NULL), TW_OK);
            mark(kernel, used);
            assert_int_equal(tw_kernel_optimize(kernel, NULL), TW_OK);
            assert_int_equal(tw_kernel_verify(kernel, NULL), TW_OK);
            tw_context_free(ctx);
        }
        for (int number = 0; number < TW_OPCODE_LIMIT; number++) {
            const tw_op_info *info = tw_op_info_get((tw_opcode)number);
            bool wanted = info && is_served(target, info->opcode);
            if (used[number] != wanted) fail_msg("%s: %s", targets[t], info ? info->name : "no row");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_op_verifies_on_each_target)};
    return cmocka_run_group_tests_name("all_ops", tests, NULL, NULL);
}
