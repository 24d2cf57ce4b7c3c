/* Which values are the same in which work-items, and the rules that rest on it. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "ir/uniform.h"

#define HEAD                                                              \
    " (%p: ptr<i32, global>, %n: i32) {\n%one = arith.constant 1 : i32\n" \
    "%tid = gpu.workitem_id x : i32\n%wave = gpu.wave_id : i32\n"
#define TAIL "return\n}\n"

/* ---- levels ---- */

static const struct {
    const char *workgroup, *ops; /* the value in question is %v */
    tw_uniformity level;
} levels[] = {
    {"64", "%v = gpu.workgroup_id x : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = gpu.num_workgroups x : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = arith.add %n, %one : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = tile.ptr_offset %p, %n : ptr<i32, global>", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = tile.lds_alloc {count = 4} : ptr<i32, lds>", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = gpu.workitem_id y : i32", TW_UNIFORM_IN_WORKGROUP},
    {"8, 8", "%v = gpu.workitem_id y : i32", TW_DIVERGENT},
    {"8, 8", "%v = gpu.workitem_id z : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = arith.add %tid, %n : i32", TW_DIVERGENT},
    {"64", "%v = gpu.lane_id : i32", TW_DIVERGENT},
    {"64", "%v = gpu.wave_id : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%v = arith.add %wave, %n : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%v = arith.add %wave, %tid : i32", TW_DIVERGENT},
    {"64", "%v = gpu.readfirstlane %tid : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%v = gpu.readfirstlane %n : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = gpu.wave_reduce add %tid : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%c = arith.icmp eq %n, %one : i1\n%v = gpu.ballot %c : i64", TW_UNIFORM_IN_WAVE},
    {"64", "%v = gpu.shuffle %tid, %n : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%v = gpu.shuffle %tid, %tid : i32", TW_DIVERGENT},
    {"64", "%v = gpu.shuffle %n, %tid : i32", TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = gpu.shuffle_xor %tid {mask = 1} : i32", TW_DIVERGENT},
    {"64", "%v = gpu.shuffle_xor %wave {mask = 1} : i32", TW_UNIFORM_IN_WAVE},
    {"64", "%v = gpu.row_shift %n {amount = 1} : i32", TW_DIVERGENT},
    {"64", "%v = tile.global_load %p, %n : i32", TW_DIVERGENT},
    {"64", "%l = tile.lds_alloc {count = 4} : ptr<i32, lds>\n%v = tile.lds_load %l, %n : i32", TW_DIVERGENT},
    /* The index is the same in all lanes that are still in the loop; what comes out is not. */
    {"64", "scf.for %v = %one to %tid step 1 {}", TW_UNIFORM_IN_WORKGROUP},
    {"64", "scf.for %v = %tid to %n step 1 {}", TW_DIVERGENT},
    {"64", "scf.for %v = %one to %n step %wave {}", TW_UNIFORM_IN_WAVE},
    {"64", "%v = scf.for %i = %one to %tid step 1 carry(%a = %n : i32) -> (i32) { scf.yield %i }",
     TW_DIVERGENT},
    {"64", "%v = scf.for %i = %one to %wave step 1 carry(%a = %n : i32) -> (i32) { scf.yield %i }",
     TW_UNIFORM_IN_WAVE},
    {"64", "%v = scf.for %i = %one to %n step 1 carry(%a = %n : i32) -> (i32) { scf.yield %i }",
     TW_UNIFORM_IN_WORKGROUP},
    {"64", "%v = scf.for %i = %one to %n step 1 carry(%a = %tid : i32) -> (i32) { scf.yield %i }",
     TW_DIVERGENT},
    {"64", "%r = scf.for %i = %one to %n step 1 carry(%v = %n : i32) -> (i32) { scf.yield %tid }",
     TW_DIVERGENT},
    /* What is lowered late in the loop reaches what was passed before. */
    {"64",
     "%v, %r, %s = scf.for %i = %one to %n step 1 carry(%a = %n : i32, %b = %n : i32, %c = %n : i32) -> "
     "(i32, i32, i32) "
     "{ scf.yield %b, %c, %tid }",
     TW_DIVERGENT},
    {"64",
     "%c = arith.icmp eq %tid, %one : i1\n%v = scf.if %c -> (i32) { scf.yield %n } else { scf.yield %one }",
     TW_DIVERGENT},
    {"64",
     "%c = arith.icmp eq %wave, %one : i1\n%v = scf.if %c -> (i32) { scf.yield %n } else { scf.yield %one }",
     TW_UNIFORM_IN_WAVE},
    {"64",
     "%c = arith.icmp eq %n, %one : i1\n%v = scf.if %c -> (i32) { scf.yield %n } else { scf.yield %tid }",
     TW_DIVERGENT},
    {"64",
     "%c = arith.icmp eq %n, %one : i1\n%v = scf.if %c -> (i32) { scf.yield %n } else { scf.yield %one }",
     TW_UNIFORM_IN_WORKGROUP},
};

static tw_kernel *parse(tw_context *ctx, const char *workgroup, const char *ops) {
    char text[2048];
    int length = snprintf(text, sizeof text, "tile.kernel @k target(\"gfx1250\") workgroup(%s)%s%s\n%s",
                          workgroup, HEAD, ops, TAIL);
    tw_kernel *kernel = NULL;
    tw_kernel_parse_unverified(ctx, text, (size_t)length, NULL, &kernel);
    return kernel;
}

static void values_have_their_level(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel = parse(ctx, levels[i].workgroup, levels[i].ops);
        assert_string_equal(tw_context_diagnostics(ctx), "");
        assert_int_equal(tw_kernel_verify(kernel, tw_context_diag(ctx)), TW_OK);
        uint8_t of[256];
        assert_true(kernel->value_count < sizeof of);
        assert_true(tw_uniformity_compute(kernel, of));
        int found = -1;
        for (uint32_t id = 1; id <= kernel->value_count; id++)
            if (kernel->values[id].name && !strcmp(kernel->values[id].name, "v")) found = of[id];
        if (found != (int)levels[i].level) {
            print_error("%s\n  expected %d\n  got      %d\n", levels[i].ops, levels[i].level, found);
            wrong++;
        }
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

/* ---- rules ---- */

#define DIVERGENT_IF "%c = arith.icmp eq %tid, %one : i1\nscf.if %c {\n"
#define WAVE_IF      "%c = arith.icmp eq %wave, %one : i1\nscf.if %c {\n"
#define UNIFORM_IF   "%c = arith.icmp eq %n, %one : i1\nscf.if %c {\n"
#define REACH        " must reach it, so "
#define AROUND       " around it must do the same for all of them (got one that depends on "

static const struct {
    const char *workgroup, *ops;
    const char *text; /* NULL where it is allowed */
} rules[] = {
    {"64", DIVERGENT_IF "tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.if" AROUND "gpu.workitem_id)"},
    {"64", WAVE_IF "tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.if" AROUND "gpu.wave_id)"},
    {"64", UNIFORM_IF "tile.barrier lds }", NULL},
    {"64", "tile.barrier all", NULL},
    {"64", "tile.barrier_signal lds tile.setprio {level = 1} tile.barrier_wait all", NULL},
    {"64", UNIFORM_IF "tile.barrier_signal lds tile.barrier_wait lds }", NULL},
    {"64", DIVERGENT_IF "tile.barrier_signal lds tile.barrier_wait lds }",
     "tile.barrier_signal: all work-items of the workgroup" REACH "scf.if" AROUND "gpu.workitem_id)"},
    {"64", "tile.barrier_signal lds",
     "tile.barrier_signal: must be followed by its tile.barrier_wait in its block (got none)"},
    {"64", "tile.barrier_wait lds",
     "tile.barrier_wait: must stand behind a tile.barrier_signal in its block (got none)"},
    {"64", "tile.barrier_signal lds tile.barrier all tile.barrier_wait lds",
     "tile.barrier_signal: must be followed by its tile.barrier_wait before another barrier (got "
     "tile.barrier)"},
    {"64", "tile.barrier_signal lds " UNIFORM_IF "tile.barrier_wait lds }",
     "tile.barrier_wait: must not stand between a tile.barrier_signal and its wait (got scf.if around it)"},
    {"64", "tile.barrier_signal lds " UNIFORM_IF "scf.if %c { tile.barrier lds } } tile.barrier_wait lds",
     "tile.barrier: must not stand between a tile.barrier_signal and its wait (got scf.if around it)"},
    {"64", UNIFORM_IF "tile.barrier_signal lds } tile.barrier_wait lds",
     "tile.barrier_signal: must be followed by its tile.barrier_wait in its block (got none)"},
    {"64",
     WAVE_IF "%z = arith.constant 0.0 : vec<8 x f32>\n%f = arith.constant 1.0 : vec<16 x f16>\n"
             "%d = tile.mma %f, %f, %z {atom = \"wmma.f32.16x16x32.f16\"} : vec<8 x f32> }",
     NULL},
    {"64",
     DIVERGENT_IF "%z = arith.constant 0.0 : vec<8 x f32>\n%f = arith.constant 1.0 : vec<16 x f16>\n"
                  "%d = tile.mma %f, %f, %z {atom = \"wmma.f32.16x16x32.f16\"} : vec<8 x f32> }",
     "tile.mma: all lanes of the wave" REACH "scf.if" AROUND "gpu.workitem_id)"},
    /* One wave cannot part from itself. */
    {"32", WAVE_IF "tile.barrier lds }", NULL},
    {"32", DIVERGENT_IF "tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.if" AROUND "gpu.workitem_id)"},
    {"64", "scf.for %i = %wave to %n step 1 { tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.for" AROUND "gpu.wave_id)"},
    {"64", "scf.for %i = %one to %wave step 1 { tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.for" AROUND "gpu.wave_id)"},
    {"64", "scf.for %i = %one to %n step %wave { tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.for" AROUND "gpu.wave_id)"},
    {"64", "scf.for %i = %one to %n step 1 { tile.barrier lds }", NULL},
    {"64", DIVERGENT_IF "scf.for %i = %one to %n step 1 { tile.barrier lds } }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.if" AROUND "gpu.workitem_id)"},
    {"64", "%m = tile.global_load %p, %n : i32\nscf.for %i = %one to %m step 1 { tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.for" AROUND "tile.global_load)"},
    {"64",
     "%m = tile.global_load %p, %n : i32\n%r = gpu.readfirstlane %m : i32\nscf.for %i = %one to %r step 1 { "
     "tile.barrier lds }",
     "tile.barrier: all work-items of the workgroup" REACH "scf.for" AROUND "gpu.readfirstlane)"},
    {"64", DIVERGENT_IF "%x = gpu.wave_reduce add %tid : i32 }",
     "gpu.wave_reduce: all lanes of the wave" REACH "scf.if" AROUND "gpu.workitem_id)"},
    {"64", WAVE_IF "%x = gpu.wave_reduce add %tid : i32 }", NULL},
    {"64", "%x = gpu.wave_reduce add %tid : i32", NULL},
    {"64", DIVERGENT_IF "%x = gpu.readfirstlane %tid : i32 }", NULL},
    {"64", "%r = tile.buffer_rsrc %p, %n : rsrc\n%x = tile.buffer_load %r, %tid, %n : i32", NULL},
    {"64", "%r = tile.buffer_rsrc %p, %wave : rsrc\n%x = tile.buffer_load %r, %tid, %wave : i32", NULL},
    {"64", "%r = tile.buffer_rsrc %p, %n : rsrc\n%x = tile.buffer_load %r, %n, %tid : i32",
     "tile.buffer_load: operand 2 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64", "%r = tile.buffer_rsrc %p, %tid : rsrc",
     "tile.buffer_rsrc: operand 1 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64", "%q = tile.ptr_offset %p, %tid : ptr<i32, global>\n%r = tile.buffer_rsrc %q, %n : rsrc",
     "tile.buffer_rsrc: operand 0 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64", "%r = tile.buffer_rsrc %p, %n : rsrc\ntile.buffer_store %n, %r, %n, %tid : i32",
     "tile.buffer_store: operand 3 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n%f = arith.sitofp %n : f32\n"
     "tile.buffer_atomic_fadd %f, %r, %n, %tid {cachepolicy = 0} : f32",
     "tile.buffer_atomic_fadd: operand 3 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n%s = tile.buffer_rsrc %p, %one : rsrc\n"
     "%c = arith.icmp eq %tid, %n : i1\n%t = arith.select %c, %r, %s : rsrc\n%x = tile.buffer_load %t, %n, "
     "%n : i32",
     "tile.buffer_load: operand 0 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    /* The way to the cause leads through loops and branches. */
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n"
     "%o = scf.for %i = %one to %n step 1 carry(%a = %n : i32) -> (i32) { %b = arith.add %a, %tid : i32 "
     "scf.yield %b }\n"
     "%x = tile.buffer_load %r, %n, %o : i32",
     "tile.buffer_load: operand 2 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n"
     "%o = scf.for %i = %tid to %n step 1 carry(%a = %n : i32) -> (i32) { %x = tile.buffer_load %r, %n, %i : "
     "i32 "
     "scf.yield %a }",
     "tile.buffer_load: operand 2 must be the same in all lanes of the wave (got one that depends on "
     "gpu.workitem_id)"},
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n%m = tile.global_load %p, %n : i32\n"
     "%u, %o = scf.for %i = %one to %tid step 1 carry(%a = %tid : i32, %b = %m : i32) -> (i32, i32) "
     "{ %x = tile.buffer_load %r, %n, %b : i32 scf.yield %a, %b }",
     "tile.buffer_load: operand 2 must be the same in all lanes of the wave (got one that depends on "
     "tile.global_load)"},
    /* Another carried value has no part in it. */
    {"64",
     "%r = tile.buffer_rsrc %p, %n : rsrc\n%m = tile.global_load %p, %n : i32\n"
     "%u, %o = scf.for %i = %one to %n step 1 carry(%a = %tid : i32, %b = %n : i32) -> (i32, i32) { "
     "scf.yield %a, %m }\n"
     "%x = tile.buffer_load %r, %n, %o : i32",
     "tile.buffer_load: operand 2 must be the same in all lanes of the wave (got one that depends on "
     "tile.global_load)"},
};

static void what_must_be_uniform_is(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel = parse(ctx, rules[i].workgroup, rules[i].ops);
        assert_string_equal(tw_context_diagnostics(ctx), "");
        tw_status status = tw_kernel_verify(kernel, tw_context_diag(ctx));
        const char *expected = rules[i].text ? rules[i].text : "";
        const char *got = tw_diag_first_error(tw_context_diag(ctx));
        if (strcmp(expected, got) || status != (rules[i].text ? TW_ERR_INVALID : TW_OK)) {
            print_error("%s\n  expected %s\n  got      %s\n", rules[i].ops, expected, got);
            wrong++;
        }
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_their_level),
        cmocka_unit_test(what_must_be_uniform_is),
    };
    return cmocka_run_group_tests_name("uniform", tests, NULL, NULL);
}
