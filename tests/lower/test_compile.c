/* Every op, with many types, for every target: the text of llvm22 compiles and links in this process. */
#include "tests/lower/helpers.h"

#include <stdlib.h>
#include <string.h>

#include "tests/llvm_compiler.h"
#include "tests/lower/op_kernels.h"

/* What the attributes say comes out in the code object: the workgroup, the wave, and hidden arguments where
 * the kernel asks how many workgroups there are. */
static void check_facts(const tw_kernel *kernel, const tw_code_object *object, const tw_kernel_info *info) {
    tw_kernel_options o = tw_kernel_get_options(kernel);
    assert_int_equal(tw_code_object_abi_version(object), 5);
    assert_int_equal(info->wave_size, tw_kernel_target(kernel).wave_size);
    assert_int_equal(info->required_workgroup[0], o.workgroup_size);
    assert_int_equal(info->required_workgroup[1], o.workgroup_size_y);
    assert_int_equal(info->required_workgroup[2], o.workgroup_size_z);
    assert_int_equal(info->max_workgroup, o.workgroup_size * o.workgroup_size_y * o.workgroup_size_z);
    assert_true(info->uniform_workgroup);
    size_t hidden = 0;
    for (size_t i = 0; i < info->arg_count; i++)
        hidden += !strncmp(info->args[i].value_kind, "hidden", strlen("hidden"));
    assert_int_equal(hidden != 0, !strncmp(info->name, "ids", strlen("ids")));
}

/* Compiles; no scratch memory, no undefined symbol (which tw_compile_llvm_ir refuses). Kernels with very many
 * values that are the same in all lanes may keep some of them in lanes of a VGPR. */
static void compile(const tw_kernel *kernel, const char *target) {
    size_t length;
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, &length);
    tw_diag *diag = tw_diag_new(NULL);
    tw_code_object *object;
    if (tw_compile_llvm_ir(compiler, text, length, tw_kernel_target(kernel), NULL, &object, diag))
        fail_msg("%s for %s: %s", tw_kernel_name(kernel), target, tw_diag_text(diag));
    const tw_kernel_info *info = tw_code_object_kernel(object, tw_kernel_name(kernel));
    assert_non_null(info);
    if (info->scratch_bytes || info->vgpr_spills)
        fail_msg("%s for %s: %u bytes of scratch, %u registers spilled", tw_kernel_name(kernel), target,
                 info->scratch_bytes, info->vgpr_spills);
    check_facts(kernel, object, info);
    tw_code_object_release(object);
    tw_diag_free(diag);
    free(text);
}

static void compile_all(const char *name, unsigned how) {
    tw_context *ctx = tw_context_new(NULL);
    for (size_t i = 0; i < op_kernels_count(); i++) {
        tw_kernel *kernel = op_kernels_build(ctx, target_named(name), i, how, NULL);
        if (!kernel) fail_msg("%s for %s: %s", op_kernels_name(i), name, tw_context_diagnostics(ctx));
        compile(kernel, name);
        tw_kernel_free(kernel);
    }
    tw_context_free(ctx);
}

static void compiles(void **state) { compile_all(*state, 0); }
static void compiles_uniform(void **state) { compile_all(*state, OP_KERNELS_UNIFORM); }

static void compiles_all(void **state) {
    compile_all(*state, OP_KERNELS_WIDE);
    compile_all(*state, OP_KERNELS_UNIFORM);
}

static struct CMUnitTest test_of(const char *target, CMUnitTestFunction function) {
    return (struct CMUnitTest){target, function, NULL, NULL, (void *)(uintptr_t)target};
}

/* With the argument "all": every target, and more lanes and alignments. */
int main(int argc, char **argv) {
    struct CMUnitTest tests[16] = {
        test_of("gfx1100:wave64", compiles),
        test_of("gfx1201", compiles_uniform),
    };
    size_t count = 2;
    if (argc > 1 && !strcmp(argv[1], "all"))
        for (count = 0; count < lower_target_count; count++)
            tests[count] = test_of(lower_targets[count], compiles_all);
    return _cmocka_run_group_tests("lower-compile", tests, count, open_compiler, close_compiler);
}
