/* The passes on small kernels: what goes in, what comes out. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

typedef tw_status pass(tw_kernel *kernel, bool *changed, tw_diag *diag);

static tw_status optimize(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    *changed = true;
    return tw_kernel_optimize(kernel, diag);
}

#define HEAD                                                                                         \
    "tile.kernel @k target(\"gfx1250\") workgroup(64) (%p: ptr<i32, global>, %q: ptr<f32, global>, " \
    "%n: i32, %m: i32, %w: i64, %f: f32, %h: f16) {\n"                                               \
    "%tid = gpu.workitem_id x : i32\n"                                                               \
    "%lds = tile.lds_alloc {count = 64} : ptr<i32, lds>\n"                                           \
    "%c = arith.icmp slt %n, %m : i1\n"                                                              \
    "%v = vector.splat %m : vec<4 x i32>\n"
/* Keeps the head's values alive. */
#define TAIL                                                                               \
    "tile.lds_store %m, %lds, %tid : i32\ntile.global_store %v, %p, %tid : vec<4 x i32>\n" \
    "scf.if %c { tile.setprio {level = 3} }\nreturn\n}\n"

typedef struct row {
    pass *run;
    const char *in, *out; /* out is NULL where nothing changes */
} row;

static const row rows[] = {
#include "tests/ir/passes.def"
};

static char *text_of(tw_context *ctx, const char *ops, pass *run, bool *changed) {
    char text[4096];
    int length = snprintf(text, sizeof text, "%s%s%s", HEAD, ops, TAIL);
    tw_kernel *kernel = NULL;
    assert_true(length > 0 && (size_t)length < sizeof text);
    tw_kernel_parse(ctx, text, (size_t)length, NULL, &kernel);
    assert_string_equal(tw_context_diagnostics(ctx), "");
    if (run) {
        assert_int_equal(run(kernel, changed, tw_context_diag(ctx)), TW_OK);
        assert_int_equal(tw_kernel_verify(kernel, tw_context_diag(ctx)), TW_OK);
    }
    char *printed = NULL;
    assert_int_equal(tw_kernel_to_text(kernel, &printed, NULL, NULL), TW_OK);
    return printed;
}

static void each_row_comes_out_as_written(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        bool changed = false;
        char *got = text_of(ctx, rows[i].in, rows[i].run, &changed);
        char *expected = text_of(ctx, rows[i].out ? rows[i].out : rows[i].in, NULL, NULL);
        if (strcmp(got, expected) || (rows[i].run != optimize && changed != (rows[i].out != NULL))) {
            print_error("row %zu: %s\n  expected\n%s  got (%s)\n%s", i, rows[i].in, expected,
                        changed ? "changed" : "unchanged", got);
            wrong++;
        }
        free(got);
        free(expected);
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

/* A second run finds nothing more to do. */
static void optimizing_is_complete(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        static pass *const passes[] = {tw_pass_fold, tw_pass_cse, tw_pass_dce};
        char text[4096];
        int length = snprintf(text, sizeof text, "%s%s%s", HEAD, rows[i].in, TAIL);
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel = NULL;
        assert_int_equal(tw_kernel_parse(ctx, text, (size_t)length, NULL, &kernel), TW_OK);
        assert_int_equal(tw_kernel_optimize(kernel, NULL), TW_OK);
        for (size_t p = 0; p < 3; p++) {
            bool changed = false;
            assert_int_equal(passes[p](kernel, &changed, NULL), TW_OK);
            assert_false(changed);
        }
        tw_context_free(ctx);
    }
}

#define LEVELS 60

/* At each level two equal sums, whose difference is 0, and a branch on it: what finding one equal pair makes
 * possible leads to the next pair. One walk goes all the way, however long the chain is. */
static void one_walk_simplifies_chains(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
    tw_value out = tw_param_ptr(b, "out", TW_I32, 0), x = tw_param(b, "x", TW_I32), y = x;
    tw_value zero = tw_i32(b, 0);
    for (int i = 1; i <= LEVELS; i++) {
        tw_value step = tw_i32(b, i), other = tw_mul(b, x, step);
        tw_value left = tw_add(b, x, step), right = tw_add(b, y, step);
        tw_value difference = tw_sub(b, left, right), same = tw_icmp(b, TW_EQ, difference, zero);
        tw_if_begin(b, same);
        tw_if_else(b, 1, &right);
        tw_if_end(b, 1, &other, &y);
        x = left;
    }
    tw_global_store(b, y, out, zero, 0);
    tw_kernel *kernel = tw_kernel_end(b);
    assert_non_null(kernel);
    bool changed = false;
    assert_int_equal(tw_pass_simplify(kernel, &changed, NULL), TW_OK);
    assert_true(changed);
    changed = false;
    assert_int_equal(tw_pass_simplify(kernel, &changed, NULL), TW_OK);
    assert_false(changed);
    assert_int_equal(tw_pass_dce(kernel, &changed, NULL), TW_OK);
    unsigned adds = 0;
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op)) {
        assert_true(op->opcode != TW_OP_SUB && op->opcode != TW_OP_ICMP && op->opcode != TW_OP_IF);
        adds += op->opcode == TW_OP_ADD;
    }
    assert_int_equal(adds, LEVELS);
    tw_context_free(ctx);
}

#define CONSTANTS 300000
#define OPERANDS  400

/* So many ops that hashes of some collide: those are not the same for that. */
static void equal_hashes_do_not_make_ops_equal(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
    tw_value operands[OPERANDS];
    uint32_t value = 1;
    for (int i = 0; i < CONSTANTS; i++) {
        value = value * 1664525 + 1013904223; /* comes back to its start after 2^32 steps */
        tw_value constant = tw_i32(b, (int32_t)value);
        if (i % (CONSTANTS / OPERANDS) == 0) operands[i / (CONSTANTS / OPERANDS)] = constant;
    }
    for (int i = 0; i < OPERANDS; i++) {
        for (int j = 0; j < OPERANDS; j++) {
            tw_sub(b, operands[i], operands[j]);
            tw_icmp(b, TW_SLT, operands[i], operands[j]);
        }
    }
    tw_kernel *kernel = tw_kernel_end(b);
    assert_non_null(kernel);
    bool changed = false;
    assert_int_equal(tw_pass_cse(kernel, &changed, NULL), TW_OK);
    assert_false(changed);
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_comes_out_as_written),
        cmocka_unit_test(optimizing_is_complete),
        cmocka_unit_test(one_walk_simplifies_chains),
        cmocka_unit_test(equal_hashes_do_not_make_ops_equal),
    };
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
