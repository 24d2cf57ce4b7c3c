/* The lowerer does not write what measuring found not to work, though a row declares it. Built with tables of
 * its own, in which everything works but one row, in one flavor, for one target. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/measured.h"
#include "tests/lower/helpers.h"

#define LLVM22 4 /* in the order of lower/flavors.def */
#define ROWS   1024

static uint8_t statuses[ROWS * TW_ARCH_COUNT];
const char *const tw_measured_versions[] = {NULL, NULL, NULL, NULL, "LLVM 22.0", NULL, NULL};
const uint8_t *const tw_measured_tables[] = {NULL, NULL, NULL, NULL, statuses, NULL, NULL};

static void set_status(const char *name, tw_arch arch, tw_measured status) {
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    assert_true(count <= ROWS);
    memset(statuses, TW_MEASURED_OK, sizeof statuses);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name)) statuses[i * TW_ARCH_COUNT + arch] = (uint8_t)status;
}

static void lowers(const char *target, tw_flavor flavor, const char *refusal) {
    tw_context *ctx = tw_context_new(NULL);
    char text[400];
    snprintf(text, sizeof text,
             "tile.kernel @k target(\"%s\") workgroup(64) (%%p: ptr<f32, global>, %%f: f32) {\n"
             "  %%s = math.sqrt %%f : f32\n  %%i = gpu.workitem_id x : i32\n  tile.global_store %%s, %%p, "
             "%%i : f32\n  return\n}",
             target);
    tw_kernel *kernel = kernel_from_text(ctx, text, target_named(target));
    tw_diag *diag = tw_diag_new(NULL);
    char *lowered = NULL;
    size_t length;
    assert_int_equal(tw_lower(kernel, flavor, &lowered, &length, diag), refusal ? TW_ERR_UNSUPPORTED : TW_OK);
    assert_string_equal(tw_diag_first_error(diag), refusal ? refusal : "");
    assert_int_equal(lowered == NULL, refusal != NULL);
    free(lowered);
    tw_diag_free(diag);
    tw_kernel_free(kernel);
    tw_context_free(ctx);
}

static void what_does_not_work_is_refused(void **state) {
    (void)state;
    static const struct {
        tw_measured status;
        const char *refusal;
    } rows[] = {
        {TW_MEASURED_OK, NULL},
        {TW_MEASURED_NOT_MEASURED, NULL},
        {TW_MEASURED_NAME_ABSENT, "name_absent, LLVM makes an undefined symbol of the name"},
        {TW_MEASURED_SIGNATURE_DIFFERS, "signature_differs, LLVM takes other operand types"},
        {TW_MEASURED_TARGET_UNSUPPORTED, "target_unsupported, LLVM cannot select it for the target"},
        {TW_MEASURED_CRASH, "crash, the compiler ends by a signal"},
        {TW_MEASURED_TIMEOUT, "timeout, the compiler does not end"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char refusal[200];
        snprintf(refusal, sizeof refusal,
                 "math.sqrt: llvm.amdgcn.sqrt.f32 must exist for gfx942 in the flavor (got llvm22: %s)",
                 rows[i].refusal ? rows[i].refusal : "");
        set_status("llvm.amdgcn.sqrt.f32", TW_ARCH_GFX942, rows[i].status);
        lowers("gfx942", TW_FLAVOR_LLVM22, rows[i].refusal ? refusal : NULL);
        lowers("gfx950", TW_FLAVOR_LLVM22, NULL);
        lowers("gfx942", TW_FLAVOR_LLVM23, NULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_does_not_work_is_refused)};
    return cmocka_run_group_tests_name("lower-measured_refusal", tests, NULL, NULL);
}
