/* Files of what was measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"
#include "tools/measured_file.h"

static json_t *a_file(const char *gfx942, const char *version) {
    return json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:{s:s}}, s:[{s:s, s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, "
                     "s:s, s:{s:s, s:s}}]}",
                     "flavor", "llvm22", "version", version, "targets", "gfx942", "ok", "facts",
                     "data_layout", "e-p", "bfloat", "gfx942", "ok", "intrinsics", "key", "A", "name",
                     "llvm.a", "result", "i32", "arguments", "", "status", "ok", "key", "B", "name", "llvm.b",
                     "result", "i32", "arguments", "i32, i1", "status", "gfx90a", "ok", "gfx942", gfx942);
}

static void check_drift(const char *path, json_t *measured, const char *expected) {
    tw_diag *diag = tw_diag_new(NULL);
    bool drifts = strstr(expected, "error:") != NULL;
    assert_int_equal(measured_file_compare(path, measured, diag), drifts ? TW_ERR_MISMATCH : TW_OK);
    assert_string_equal(tw_diag_text(diag), expected);
    tw_diag_free(diag);
    json_decref(measured);
}

static void drift_names_the_rows(void **state) {
    (void)state;
    char path[] = "/tmp/tilewright-test-XXXXXX", expected[400];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    close(descriptor);
    json_t *recorded = a_file("target_unsupported", "LLVM 22.1.8");
    assert_int_equal(measured_file_write(path, recorded, NULL), TW_OK);
    json_decref(recorded);

    check_drift(path, a_file("target_unsupported", "LLVM 22.1.8"), "");
    snprintf(expected, sizeof expected, "%s: note: recorded with LLVM 22.1.8 (got LLVM 22.1.9)\n", path);
    check_drift(path, a_file("target_unsupported", "LLVM 22.1.9"), expected);
    check_drift(path, a_file("crash", "LLVM 22.1.8"), "");
    check_drift(path, a_file("timeout", "LLVM 22.1.8"),
                "B: llvm.b(i32, i1) for gfx942: error: measured timeout, recorded target_unsupported\n");

    json_t *one = a_file("target_unsupported", "LLVM 22.1.8"); /* told apart by target now */
    json_object_set_new(json_array_get(json_object_get(one, "intrinsics"), 0), "status",
                        json_pack("{s:s, s:s}", "gfx90a", "ok", "gfx942", "crash"));
    check_drift(path, one, "A: llvm.a() for gfx942: error: measured crash, recorded ok\n");

    json_t *changed = a_file("target_unsupported", "LLVM 22.1.8");
    json_array_remove(json_object_get(changed, "intrinsics"), 0);
    check_drift(path, changed, "A: llvm.a(): error: measured nothing, recorded ok\n");
    changed = a_file("target_unsupported", "LLVM 22.1.8");
    json_object_set_new(json_array_get(json_object_get(changed, "intrinsics"), 0), "arguments",
                        json_string("i64"));
    check_drift(path, changed,
                "A: llvm.a(i64): error: measured ok, recorded nothing\nA: llvm.a(): error: measured nothing, "
                "recorded ok\n");
    changed = a_file("target_unsupported", "LLVM 22.1.8");
    json_object_set_new(json_object_get(changed, "targets"), "gfx942", json_string("target_unsupported"));
    json_object_set_new(json_object_get(changed, "facts"), "data_layout", json_string("E"));
    check_drift(path, changed,
                "targets for gfx942: error: measured target_unsupported, recorded ok\n"
                "data_layout: error: measured E, recorded e-p\n");
    unlink(path);
    tw_diag *diag = tw_diag_new(NULL);
    json_t *file = a_file("ok", "LLVM 22.1.8");
    assert_int_equal(measured_file_compare(path, file, diag), TW_ERR_INVALID);
    json_decref(file);
    tw_diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(drift_names_the_rows)};
    return cmocka_run_group_tests_name("probe_parts", tests, NULL, NULL);
}
