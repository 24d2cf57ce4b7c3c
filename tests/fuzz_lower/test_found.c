/* What the fuzzer found, made small: kernels that once computed something else than the interpreter, or that
 * the compiler did not survive. Parameters are named like those of generated kernels. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/fuzz_lower/run.h"

#define ELEMENTS 576

typedef struct found {
    const char *name, *targets, *options, *params, *ops;
} found;

static const found rows[] = {
    {"shuffle_from_known_lane", "gfx1100:wave64 gfx1201:wave64 gfx942", "workgroup(64)",
     "%out_i32: ptr<i32, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%s = gpu.shuffle %t, 0 : i32\n"
     "tile.global_store %s, %out_i32, %t : i32\n"},
    {"second_pipeline_without_instructions", "gfx1100 gfx1250", "workgroup(32)", "%out_f32: ptr<f32, global>",
     "%z = arith.constant 0.0 : f32\n"
     "tile.global_store %z, %out_f32, 0 : f32\n"
     "tile.sched_group_barrier {mask = 2, size = 1, sync = 0}\n"
     "tile.sched_group_barrier {mask = 1, size = 0, sync = 1}\n"},
    {"ballot_of_one", "gfx90a gfx942 gfx1100 gfx1250", "workgroup(64)",
     "%in_f16: ptr<f16, global> {readonly}, %out_i64: ptr<i64, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%x = tile.global_load %in_f16, %t : f16\n"
     "%c = arith.constant 0.0 : f16\n"
     "%d = arith.fcmp one %x, %c : i1\n"
     "%b = gpu.ballot %d : i64\n"
     "tile.global_store %b, %out_i64, %t : i64\n"},
    {"bf8_constants", "gfx950 gfx1200 gfx1250", "workgroup(32)", "%out_f32: ptr<f32, global>",
     "%c = arith.constant 1 : vec<4 x i8>\n"
     "%b = arith.bitcast %c : vec<4 x f8e5m2>\n"
     "%f = arith.fpext %b : vec<4 x f32>\n"
     "tile.global_store %f, %out_f32, 0 : vec<4 x f32>\n"},
    {"flushed_maximum_of_constants", "gfx90a gfx1100 gfx1250", "workgroup(32) denormals(flush)",
     "%out_f32: ptr<f32, global>",
     "%c = arith.constant 0x00000001 : vec<4 x f32>\n"
     "%m = arith.fmax %c, %c : vec<4 x f32>\n"
     "tile.global_store %m, %out_f32, 0 : vec<4 x f32>\n"},
    {"sign_of_pairs_where_denormals_are_flushed", "gfx90a gfx942 gfx950 gfx1250",
     "workgroup(64) denormals(flush)", "%in_f32: ptr<f32, global> {readonly}, %out_f32: ptr<f32, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%i = arith.mul %t, 2 : i32\n"
     "%x = tile.global_load %in_f32, %i : vec<2 x f32>\n"
     "%n = arith.fneg %x : vec<2 x f32>\n"
     "%s = arith.fmul %x, %x : vec<2 x f32>\n"
     "tile.global_store %n, %out_f32, %i : vec<2 x f32>\n"
     "%j = arith.add %i, 256 : i32\n"
     "tile.global_store %s, %out_f32, %j : vec<2 x f32>\n"},
    {"flushed_fma_of_bf16", "gfx90a gfx950 gfx1100 gfx1250", "workgroup(64) denormals(flush)",
     "%in_bf16: ptr<bf16, global> {readonly}, %out_bf16: ptr<bf16, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%i = arith.mul %t, 4 : i32\n"
     "%x = tile.global_load %in_bf16, %i : vec<4 x bf16>\n"
     "%y = arith.fma %x, %x, %x : vec<4 x bf16>\n"
     "tile.global_store %y, %out_bf16, %i : vec<4 x bf16>\n"},
    {"flushed_minimum_of_bf16", "gfx90a gfx950 gfx1100 gfx1250", "workgroup(64) denormals(flush)",
     "%in_bf16: ptr<bf16, global> {readonly}, %out_bf16: ptr<bf16, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%x = tile.global_load %in_bf16, %t : bf16\n"
     "%c = arith.constant 0x0001 : bf16\n"
     "%y = arith.fmin %x, %c : bf16\n"
     "tile.global_store %y, %out_bf16, %t : bf16\n"},
    {"halves_of_a_vector", "gfx1100 gfx1151 gfx1201 gfx1250", "workgroup(64)",
     "%in_i16: ptr<i16, global> {readonly, noalias}, %out_i32: ptr<i32, global>, %out_i16: ptr<i16, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%a = tile.global_load %in_i16, 0 : i16\n"
     "%b = tile.global_load %in_i16, %t : i16\n"
     "%v = vector.build %a, %b : vec<2 x i16>\n"
     "%odd = arith.trunc %t : i1\n"
     "scf.if %odd {\n"
     "tile.global_store 0, %out_i32, %t : i32\n"
     "}\n"
     "%i = arith.shl %t, 1 : i32\n"
     "tile.global_store %v, %out_i16, %i {align = 4} : vec<2 x i16>\n"},
    {"matrix_product_of_denormals_where_they_are_flushed", "gfx90a gfx942 gfx950",
     "workgroup(64) denormals(flush)", "%in_f32: ptr<f32, global> {readonly}, %out_f32: ptr<f32, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%x = tile.global_load %in_f32, %t : f32\n"
     "%y = arith.constant 0x00000001 : f32\n"
     "%c = arith.constant 0x00000001 : vec<4 x f32>\n"
     "%d = tile.mma %x, %y, %c {atom = \"mfma.f32.16x16x4f32\"} : vec<4 x f32>\n"
     "%i = arith.mul %t, 4 : i32\n"
     "tile.global_store %d, %out_f32, %i : vec<4 x f32>\n"},
    {"flushed_product_with_one", "gfx90a gfx950 gfx1100 gfx1250", "workgroup(64) denormals(flush)",
     "%in_f32: ptr<f32, global> {readonly}, %out_f32: ptr<f32, global>",
     "%t = gpu.workitem_id x : i32\n"
     "%x = tile.global_load %in_f32, %t : f32\n"
     "%c = arith.constant 1.0 : f32\n"
     "%y = arith.fmul %x, %c : f32\n"
     "tile.global_store %y, %out_f32, %t : f32\n"},
};

/* Roles and formats from the names, "in_f32". */
static void name_params(fuzz_case *c, const char *params) {
    for (const char *at = strchr(params, '%'); at; at = strchr(at + 1, '%')) {
        fuzz_param *p = &c->params[c->param_count++];
        *p = (fuzz_param){.role = at[1] == 'i' ? FUZZ_IN : FUZZ_OUT, .count = ELEMENTS};
        const char *format = strchr(at, '_') + 1;
        while (strncmp(tw_scalar_name(p->scalar), format, strcspn(format, ":")))
            p->scalar++;
    }
}

static void run_on(const found *row, const char *target) {
    char text[2048];
    fuzz_runner r;
    fuzz_result result;
    fuzz_case model = {.seed = 2, .grid = {1, 1, 1}};
    name_params(&model, row->params);
    int length = snprintf(text, sizeof text, "tile.kernel @%s target(\"%s\") %s (%s) {\n%sreturn\n}\n",
                          row->name, target, row->options, row->params, row->ops);
    assert_in_range(length, 1, sizeof text - 1);
    fuzz_case *c = fuzz_case_from_text(&model, text, (size_t)length);
    assert_non_null(c);
    assert_true(fuzz_runner_open(&r, target));
    fuzz_run(&r, &c, 1, &result);
    if (result.verdict != FUZZ_AGREES)
        fail_msg("%s on %s %s:\n%s", row->name, target, fuzz_verdict_names[result.verdict], result.text);
    fuzz_runner_close(&r);
    fuzz_case_free(c);
}

static void agrees(void **state) {
    const found *row = *state;
    for (const char *at = row->targets; *at;) {
        char target[32];
        size_t length = strcspn(at, " ");
        snprintf(target, sizeof target, "%.*s", (int)length, at);
        run_on(row, target);
        at += length + (at[length] == ' ');
    }
}

int main(void) {
    static struct CMUnitTest tests[sizeof rows / sizeof rows[0]];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        tests[i] = (struct CMUnitTest){rows[i].name, agrees, NULL, NULL, (void *)&rows[i]};
    return _cmocka_run_group_tests("fuzz_found", tests, sizeof rows / sizeof rows[0], NULL, NULL);
}
