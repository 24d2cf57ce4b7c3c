#include "tests/test.h"

#include <string.h>

#include "ir/ir.h"

static tw_target target_of(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

/* The design's example: a loop with a carried sum, a guarded buffer atomic. */
static void the_example_builds(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_target target = target_of("gfx1250");
    tw_builder *b = tw_kernel_begin(ctx, "accumulate", target, &(tw_kernel_options){.workgroup_size = 256});
    tw_value dst = tw_param_ptr(b, "dst", TW_F32, TW_PARAM_NOALIAS);
    tw_value bytes = tw_param(b, "bytes", TW_I32);
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value tid = tw_workitem_id(b, 0);
    tw_value rsrc = tw_buffer_rsrc(b, dst, bytes);
    tw_value zero = tw_f32(b, 0);
    tw_value step = tw_i32(b, 256);
    tw_value acc, sum;
    tw_value i = tw_for_begin(b, tid, n, step, 1, &zero, &acc);
    tw_value f = tw_sitofp(b, i, TW_F32);
    tw_value a = tw_fadd(b, acc, f);
    tw_for_end(b, 1, &a, &sum);
    tw_value in = tw_icmp(b, TW_SLT, tid, n);
    tw_if_begin(b, in);
    tw_value two = tw_i32(b, 2);
    tw_value off = tw_shl(b, tid, two);
    tw_value none = tw_i32(b, 0);
    tw_buffer_atomic_fadd(b, sum, rsrc, off, none, tw_cache_policy(target, TW_ATOMIC_CASCADE_DEVICE));
    tw_if_end(b, 0, NULL, NULL);
    tw_kernel *k = tw_kernel_end(b);
    assert_string_equal(tw_context_diagnostics(ctx), "");
    assert_non_null(k);
    assert_string_equal(tw_kernel_name(k), "accumulate");
    tw_context_free(ctx);
}

/* Arrays that are read and filled by one call, as an accumulator is. */
static void values_may_be_replaced_in_place(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b =
        tw_kernel_begin(ctx, "k", target_of("gfx942"), &(tw_kernel_options){.workgroup_size = 64});
    tw_value n = tw_param(b, "n", TW_I32), sums[2] = {n, n};
    tw_value i = tw_for_begin(b, n, n, n, 2, sums, sums);
    assert_true(sums[0].id && sums[1].id && sums[0].id != n.id);
    sums[0] = tw_add(b, sums[0], i);
    sums[1] = tw_mul(b, sums[1], i);
    tw_for_end(b, 2, sums, sums);
    tw_value less = tw_icmp(b, TW_SLT, n, sums[0]), chosen = sums[1];
    tw_if_begin(b, less);
    tw_if_else(b, 1, &chosen);
    tw_if_end(b, 1, &chosen, &chosen);
    assert_true(chosen.id && chosen.id != sums[1].id);
    assert_non_null(tw_kernel_end(b));
    tw_context_free(ctx);
}

/* ---- misuse: each function breaks the contract once; the text is the builder's whole report ---- */

static tw_value i32_param(tw_builder *b, const char *name) { return tw_param(b, name, TW_I32); }

static void poison_operand(tw_builder *b) {
    tw_value n = i32_param(b, "n"), none = {0};
    tw_add(b, n, none);
}
static void value_of_another_kernel(tw_builder *b) {
    tw_value n = i32_param(b, "n"), far = {n.id + 100};
    tw_add(b, far, n);
}
static void value_of_a_closed_loop(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value i = tw_for_begin(b, n, n, n, 0, NULL, NULL);
    tw_for_end(b, 0, NULL, NULL);
    tw_add(b, n, i);
}
static void value_of_the_other_region(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value yes = tw_i1(b, true);
    tw_if_begin(b, yes);
    tw_value inner = tw_add(b, n, n);
    tw_if_else(b, 0, NULL);
    tw_add(b, inner, n);
}
static void loop_value_outside_of_its_round(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value carried, result;
    tw_for_begin(b, n, n, n, 1, &n, &carried);
    tw_for_end(b, 1, &n, &result);
    tw_add(b, carried, n);
}
static void parameter_after_an_op(tw_builder *b) {
    tw_i32(b, 0);
    i32_param(b, "late");
}
static void parameter_without_a_name(tw_builder *b) { tw_param(b, NULL, TW_I32); }
static void parameter_of_no_type(tw_builder *b) { tw_param(b, "n", TW_SCALAR_COUNT); }
static void parameter_to_i1(tw_builder *b) { tw_param_ptr(b, "p", TW_I1, 0); }
static void open_loop_at_the_end(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_for_begin(b, n, n, n, 0, NULL, NULL);
}
static void open_branch_at_the_end(tw_builder *b) {
    tw_value yes = tw_i1(b, true);
    tw_if_begin(b, yes);
    tw_if_begin(b, yes);
}
static void loop_end_in_a_branch(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value yes = tw_i1(b, true);
    tw_for_begin(b, n, n, n, 0, NULL, NULL);
    tw_if_begin(b, yes);
    tw_for_end(b, 0, NULL, NULL);
}
static void loop_end_without_a_loop(tw_builder *b) { tw_for_end(b, 0, NULL, NULL); }
static void else_without_a_branch(tw_builder *b) { tw_if_else(b, 0, NULL); }
static void branch_end_in_a_loop(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_for_begin(b, n, n, n, 0, NULL, NULL);
    tw_if_end(b, 0, NULL, NULL);
}
static void carried_without_arrays(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_for_begin(b, n, n, n, 1, &n, NULL);
}
static void too_many_carried(tw_builder *b) {
    tw_value n = i32_param(b, "n"), carried;
    tw_for_begin(b, n, n, n, 1, &n, &carried);
    tw_value next[2] = {n, n};
    tw_for_end(b, 2, next, NULL);
}
static void carried_left_out(tw_builder *b) {
    tw_value n = i32_param(b, "n"), carried;
    tw_for_begin(b, n, n, n, 1, &n, &carried);
    tw_for_end(b, 1, NULL, NULL);
}
static void carried_of_another_type(tw_builder *b) {
    tw_value n = i32_param(b, "n"), carried;
    tw_for_begin(b, n, n, n, 1, &n, &carried);
    tw_value wide = tw_i64(b, 0), result;
    tw_for_end(b, 1, &wide, &result);
    assert_int_equal(result.id, 0);
}
static void loop_of_mixed_bounds(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value wide = tw_i64(b, 0);
    tw_for_begin(b, n, wide, n, 0, NULL, NULL);
}
static void loop_of_step_0(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value zero = tw_i32(b, 0);
    tw_for_begin(b, n, n, zero, 0, NULL, NULL);
}
static void unroll_without_a_loop(tw_builder *b) { tw_for_unroll(b, 2); }
static void unroll_too_much(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_for_begin(b, n, n, n, 0, NULL, NULL);
    tw_for_unroll(b, 65);
}
static void branch_on_an_integer(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_if_begin(b, n);
}
static void second_else(tw_builder *b) {
    tw_value yes = tw_i1(b, true);
    tw_if_begin(b, yes);
    tw_if_else(b, 0, NULL);
    tw_if_else(b, 0, NULL);
}
static void results_without_else(tw_builder *b) {
    tw_value yes = tw_i1(b, true), result;
    tw_if_begin(b, yes);
    tw_if_end(b, 1, &yes, &result);
}
static void regions_of_different_counts(tw_builder *b) {
    tw_value yes = tw_i1(b, true), result;
    tw_if_begin(b, yes);
    tw_if_else(b, 1, &yes);
    tw_if_end(b, 0, NULL, &result);
}
static void regions_of_different_types(tw_builder *b) {
    tw_value n = i32_param(b, "n"), result;
    tw_value yes = tw_i1(b, true);
    tw_if_begin(b, yes);
    tw_if_else(b, 1, &yes);
    tw_if_end(b, 1, &n, &result);
    assert_int_equal(result.id, 0);
}
static void nested_too_deep(tw_builder *b) {
    tw_value yes = tw_i1(b, true);
    for (int i = 0; i < 300; i++)
        tw_if_begin(b, yes);
}
static void value_name_of_two_words(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_name(b, n, "two words");
}
static void value_name_of_another_kernel(tw_builder *b) { tw_name(b, (tw_value){77}, "name"); }
static void rule_of_the_caller(tw_builder *b) { tw_builder_fail(b, "r_split must be 1..8 (got %d)", 9); }
static void op_without_a_row(tw_builder *b) { tw_build_op(b, (tw_opcode)255, NULL, NULL, 0, NULL, 0); }
static void op_with_regions(tw_builder *b) { tw_build_op(b, TW_OP_FOR, NULL, NULL, 0, NULL, 0); }
static void type_that_the_row_knows(tw_builder *b) {
    tw_value n = i32_param(b, "n"), in[] = {n, n};
    tw_build_op(b, TW_OP_ADD, tw_type_scalar(TW_I32), in, 2, NULL, 0);
}
static void attribute_of_another_op(tw_builder *b) {
    tw_named_attr attr = {"align", {.kind = TW_ATTR_INT, .as.i = 4}};
    tw_build_op(b, TW_OP_BARRIER, NULL, NULL, 0, &attr, 1);
}
static void attribute_without_a_name(tw_builder *b) {
    tw_named_attr attr = {NULL, {.kind = TW_ATTR_INT, .as.i = 4}};
    tw_build_op(b, TW_OP_BARRIER, NULL, NULL, 0, &attr, 1);
}
static void attribute_twice(tw_builder *b) {
    tw_named_attr attrs[2] = {{"fence", {.kind = TW_ATTR_INT, .as.i = 0}},
                              {"fence", {.kind = TW_ATTR_INT, .as.i = 1}}};
    tw_build_op(b, TW_OP_BARRIER, NULL, NULL, 0, attrs, 2);
}
static void vector_of_nothing(tw_builder *b) { tw_vector_build(b, NULL, 4); }
static void vector_of_too_many(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_vector_splat(b, n, 65);
}
static void shuffle_without_lanes(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value v = tw_vector_splat(b, n, 2);
    tw_vector_shuffle(b, v, v, NULL, 2);
}

/* What only the whole kernel shows. */
static void barrier_for_some(tw_builder *b) {
    tw_value n = i32_param(b, "n");
    tw_value tid = tw_workitem_id(b, 0);
    tw_value first = tw_icmp(b, TW_SLT, tid, n);
    tw_if_begin(b, first);
    tw_barrier(b, TW_FENCE_LDS);
    tw_if_end(b, 0, NULL, NULL);
}
static void lds_of_two_arrays(tw_builder *b) {
    tw_lds_alloc(b, TW_I8, 327680, 16);
    tw_lds_alloc(b, TW_I8, 1, 1);
}

static const struct {
    const char *name;
    void (*misuse)(tw_builder *b);
    tw_status status;
    const char *text;
} misuses[] = {
#define ROW(misuse, status, text) \
    { #misuse, misuse, status, text }
    ROW(poison_operand, TW_ERR_USAGE, "arith.add: operand 1 must be a value in scope (got poison)"),
    ROW(value_of_another_kernel, TW_ERR_USAGE,
        "arith.add: operand 0 must be a value in scope (got one of another kernel)"),
    ROW(value_of_a_closed_loop, TW_ERR_USAGE,
        "arith.add: operand 1 must be a value in scope (got one of a closed region or of another kernel)"),
    ROW(value_of_the_other_region, TW_ERR_USAGE,
        "arith.add: operand 0 must be a value in scope (got one of a closed region or of another kernel)"),
    ROW(loop_value_outside_of_its_round, TW_ERR_USAGE,
        "arith.add: operand 0 must be a value in scope (got one of a closed region or of another kernel)"),
    ROW(parameter_after_an_op, TW_ERR_USAGE, "parameters must come before the first op (got late)"),
    ROW(parameter_without_a_name, TW_ERR_INVALID,
        "a parameter's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most 255 bytes (got \"\")"),
    ROW(parameter_of_no_type, TW_ERR_INVALID,
        "parameter n must be a global pointer or a scalar of 16, 32 or 64 bits (got no type)"),
    ROW(parameter_to_i1, TW_ERR_INVALID,
        "parameter p must be a global pointer or a scalar of 16, 32 or 64 bits (got no type)"),
    ROW(open_loop_at_the_end, TW_ERR_USAGE, "scf.for: must be closed before tw_kernel_end (got 1 open)"),
    ROW(open_branch_at_the_end, TW_ERR_USAGE, "scf.if: must be closed before tw_kernel_end (got 2 open)"),
    ROW(loop_end_in_a_branch, TW_ERR_USAGE,
        "scf.for: must be the innermost open region at tw_for_end (got scf.if)"),
    ROW(loop_end_without_a_loop, TW_ERR_USAGE,
        "scf.for: must be the innermost open region at tw_for_end (got no open region)"),
    ROW(else_without_a_branch, TW_ERR_USAGE,
        "scf.if: must be the innermost open region at tw_if_else (got no open region)"),
    ROW(branch_end_in_a_loop, TW_ERR_USAGE,
        "scf.if: must be the innermost open region at tw_if_end (got scf.for)"),
    ROW(carried_without_arrays, TW_ERR_USAGE, "scf.for: carried values must have arrays (got NULL)"),
    ROW(too_many_carried, TW_ERR_USAGE, "scf.for: tw_for_end must give the 1 carried values (got 2)"),
    ROW(carried_left_out, TW_ERR_USAGE, "scf.for: tw_for_end must give the 1 carried values (got 0)"),
    ROW(carried_of_another_type, TW_ERR_INVALID,
        "scf.yield: operand 0 must be i32 like the result of scf.for (got i64)"),
    ROW(loop_of_mixed_bounds, TW_ERR_INVALID,
        "scf.for: operand 1 must have the type of operand 0, i32 (got i64)"),
    ROW(loop_of_step_0, TW_ERR_INVALID, "scf.for: the step must be positive (got 0)"),
    ROW(unroll_without_a_loop, TW_ERR_USAGE, "scf.for: must be open at tw_for_unroll (got no open loop)"),
    ROW(unroll_too_much, TW_ERR_INVALID, "scf.for: unroll must be an integer 0..64 (got 65)"),
    ROW(branch_on_an_integer, TW_ERR_INVALID, "scf.if: operand 0 must be i1 (got i32)"),
    ROW(second_else, TW_ERR_USAGE, "scf.if: tw_if_else must come once, with its values (got a second call)"),
    ROW(results_without_else, TW_ERR_USAGE,
        "scf.if: must have tw_if_else where it has results (got 1 results)"),
    ROW(regions_of_different_counts, TW_ERR_USAGE,
        "scf.if: tw_if_end must give the 1 values of the first region (got 0)"),
    ROW(regions_of_different_types, TW_ERR_INVALID,
        "scf.yield: operand 0 must be i1 like the result of scf.if (got i32)"),
    ROW(nested_too_deep, TW_ERR_LIMIT, "scf.if: regions must be nested at most 256 deep (got 257)"),
    ROW(value_name_of_two_words, TW_ERR_USAGE,
        "a value's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most 255 bytes (got \"two words\")"),
    ROW(value_name_of_another_kernel, TW_ERR_USAGE,
        "tw_name must get a value of this kernel (got one of another)"),
    ROW(rule_of_the_caller, TW_ERR_INVALID, "r_split must be 1..8 (got 9)"),
    ROW(op_without_a_row, TW_ERR_USAGE,
        "tw_build_op must get an op that has a row and no regions (got no row)"),
    ROW(op_with_regions, TW_ERR_USAGE,
        "tw_build_op must get an op that has a row and no regions (got scf.for)"),
    ROW(type_that_the_row_knows, TW_ERR_USAGE,
        "arith.add: the result's type must be left to the row (got i32)"),
    ROW(attribute_of_another_op, TW_ERR_USAGE,
        "tile.barrier: an attribute must be one of the row's (got align)"),
    ROW(attribute_without_a_name, TW_ERR_USAGE,
        "tile.barrier: an attribute must be one of the row's (got NULL)"),
    ROW(attribute_twice, TW_ERR_USAGE, "tile.barrier: an attribute must be given once (got fence twice)"),
    ROW(vector_of_nothing, TW_ERR_INVALID, "vector.build: must have at least 1 operands (got 0)"),
    ROW(vector_of_too_many, TW_ERR_INVALID, "vector.splat: the result must be a vector (got none)"),
    ROW(shuffle_without_lanes, TW_ERR_INVALID,
        "vector.shuffle: lanes must be 2 numbers, one for each lane (got 0)"),
    ROW(barrier_for_some, TW_ERR_INVALID,
        "tile.barrier: all work-items of the workgroup must reach it, so scf.if around it must do the same "
        "for all of them (got one that depends on gpu.workitem_id)"),
    ROW(lds_of_two_arrays, TW_ERR_INVALID,
        "the kernel's LDS must fit the target's 327680 bytes (got 327681)"),
#undef ROW
};

static const tw_kernel_options small = {.workgroup_size = 64};

static void each_misuse_is_reported_once(void **state) {
    (void)state;
    tw_target target = target_of("gfx1250");
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof misuses / sizeof misuses[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_builder *b = tw_kernel_begin(ctx, "k", target, &small);
        misuses[i].misuse(b);
        /* Whatever comes now gives poison and no further error. */
        bool ends_well = !strncmp(misuses[i].name, "open_", 5) || misuses[i].misuse == barrier_for_some ||
                         misuses[i].misuse == lds_of_two_arrays;
        tw_value none = {0};
        assert_int_equal(tw_builder_failed(b), !ends_well);
        if (!ends_well) {
            assert_int_equal(tw_add(b, none, none).id, 0);
            tw_for_end(b, 3, NULL, NULL);
            tw_builder_fail(b, "second");
        }
        assert_null(tw_kernel_end(b));
        const tw_diagnostic *d = tw_diag_get(tw_context_diag(ctx), 0);
        assert_non_null(d);
        assert_string_equal(d->where, "k");
        if (strcmp(d->text, misuses[i].text) || d->status != misuses[i].status) {
            print_error("%s\n  expected %s\n  got      %s (%s)\n", misuses[i].name, misuses[i].text, d->text,
                        tw_status_name(d->status));
            wrong++;
        }
        assert_int_equal(tw_diag_count(tw_context_diag(ctx)), 1);
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

static void begins_with(const char *name, const tw_kernel_options *options, tw_target target,
                        const char *text) {
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, name, target, options);
    assert_non_null(b);
    assert_true(tw_builder_failed(b));
    assert_int_equal(i32_param(b, "n").id, 0);
    assert_null(tw_kernel_end(b));
    assert_string_equal(tw_diag_first_error(tw_context_diag(ctx)), text);
    assert_int_equal(tw_diag_count(tw_context_diag(ctx)), 1);
    tw_context_free(ctx);
}

static void bad_arguments_of_begin_are_the_first_error(void **state) {
    (void)state;
    tw_target target = target_of("gfx942");
    begins_with(NULL, &small, target, "tw_kernel_begin must have a name (got NULL)");
    begins_with("k", NULL, target, "tw_kernel_begin must have options (got NULL)");
    begins_with("", &small, target,
                "a kernel's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most 255 bytes (got \"\")");
    begins_with("k", &small, (tw_target){.arch = TW_ARCH_NONE}, "the target must be a known one (got 0)");
    begins_with("k", &(tw_kernel_options){.workgroup_size = 1025}, target,
                "the workgroup size must be 1..1024 work-items (got 1025 x 1 x 1)");
    char name[257];
    memset(name, 'a', sizeof name - 1);
    name[255] = '\0';
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, name, target, &small);
    assert_false(tw_builder_failed(b));
    tw_kernel_abandon(b);
    name[255] = 'a';
    name[256] = '\0';
    b = tw_kernel_begin(ctx, name, target, &small);
    assert_true(tw_builder_failed(b));
    tw_kernel_abandon(b);
    tw_context_free(ctx);
}

/* Where memory was missing for the builder itself, calls do nothing. */
static void no_builder_is_a_failed_builder(void **state) {
    (void)state;
    assert_true(tw_builder_failed(NULL));
    assert_int_equal(i32_param(NULL, "n").id, 0);
    assert_int_equal(tw_i32(NULL, 1).id, 0);
    tw_value carried = {5}, value = {0};
    assert_int_equal(tw_for_begin(NULL, value, value, value, 1, &value, &carried).id, 0);
    assert_int_equal(carried.id, 0);
    tw_if_begin(NULL, value);
    tw_if_else(NULL, 0, NULL);
    tw_if_end(NULL, 0, NULL, NULL);
    tw_for_end(NULL, 0, NULL, NULL);
    tw_for_unroll(NULL, 1);
    tw_barrier(NULL, TW_FENCE_ALL);
    tw_builder_fail(NULL, "nobody listens");
    assert_null(tw_value_type(NULL, value));
    assert_int_equal(tw_name(NULL, value, "x").id, 0);
    assert_int_equal(tw_builder_target(NULL).arch, TW_ARCH_NONE);
    assert_null(tw_kernel_end(NULL));
    tw_kernel_abandon(NULL);
}

/* A default that is written is the same kernel as one that is left out. */
static void defaults_are_kept_as_missing(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target_of("gfx942"), &small);
    tw_value x = tw_param_ptr(b, "x", TW_F32, 0);
    tw_value zero = tw_i32(b, 0);
    tw_value one = tw_i32(b, 1);
    tw_value rsrc = tw_buffer_rsrc(b, x, zero);
    tw_value operands[] = {rsrc, zero, zero};
    tw_named_attr policy = {"cachepolicy", {.kind = TW_ATTR_INT, .as.i = 0}};
    tw_build_op(b, TW_OP_BUFFER_LOAD, tw_type_scalar(TW_F32), operands, 3, &policy, 1);
    tw_buffer_load(b, tw_type_scalar(TW_F32), rsrc, zero, zero, 0);
    tw_lds_alloc(b, TW_F32, 4, 16);
    tw_for_begin(b, zero, zero, one, 0, NULL, NULL);
    tw_for_unroll(b, 0);
    tw_for_end(b, 0, NULL, NULL);
    tw_named_attr attrs[] = {{"nontemporal", {.kind = TW_ATTR_BOOL, .as.b = false}},
                             {"align", {.kind = TW_ATTR_INT, .as.i = 4}}};
    tw_value address[] = {x, zero};
    tw_build_op(b, TW_OP_GLOBAL_LOAD, tw_type_scalar(TW_F32), address, 2, attrs, 2);
    tw_kernel *k = tw_kernel_end(b);
    assert_non_null(k);
    for (const tw_op *op = k->body.first; op; op = op->next) {
        if (op->opcode == TW_OP_BUFFER_LOAD) assert_int_equal(op->attrs[0].kind, TW_ATTR_NONE);
        if (op->opcode == TW_OP_FOR) assert_int_equal(op->attrs[0].kind, TW_ATTR_NONE);
        if (op->opcode == TW_OP_LDS_ALLOC) assert_int_equal(op->attrs[1].kind, TW_ATTR_NONE);
        if (op->opcode == TW_OP_GLOBAL_LOAD) {
            assert_int_equal(op->attrs[0].kind, TW_ATTR_INT);
            assert_int_equal(op->attrs[1].kind, TW_ATTR_NONE);
        }
    }
    tw_context_free(ctx);
}

static void strings_and_lists_are_copied(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target_of("gfx942"), &small);
    tw_value n = i32_param(b, "n");
    tw_value v = tw_vector_splat(b, n, 2);
    int64_t lanes[] = {0, 3};
    char name[] = "shuffled";
    tw_value w = tw_vector_shuffle(b, v, v, lanes, 2);
    tw_name(b, w, name);
    memset(lanes, 0xff, sizeof lanes);
    memset(name, 'x', sizeof name - 1);
    tw_kernel *k = tw_kernel_end(b);
    assert_non_null(k);
    const tw_value_info *info = tw_value_get(k, w);
    assert_string_equal(info->name, "shuffled");
    assert_int_equal(tw_op_attr(info->op, "lanes")->as.ints.values[1], 3);
    assert_null(tw_op_attr(info->op, "align"));
    tw_context_free(ctx);
}

#define MANY 1000

/* Loops may carry more than kernels have room for at first; the hint reaches the loop from a branch in it. */
static void a_loop_may_carry_many_values(void **state) {
    (void)state;
    static tw_value init[MANY], carried[MANY], next[MANY], results[MANY];
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target_of("gfx942"), &small);
    tw_value n = i32_param(b, "n");
    tw_value yes = tw_i1(b, true);
    for (int i = 0; i < MANY; i++)
        init[i] = n;
    tw_value index = tw_for_begin(b, n, n, n, MANY, init, carried);
    tw_if_begin(b, yes);
    tw_for_unroll(b, 0);
    tw_for_unroll(b, 8);
    tw_if_end(b, 0, NULL, NULL);
    for (int i = 0; i < MANY; i++)
        next[i] = i ? carried[i - 1] : index;
    tw_for_end(b, MANY, next, results);
    tw_kernel *k = tw_kernel_end(b);
    assert_non_null(k);
    const tw_op *loop = tw_value_get(k, results[MANY - 1])->op;
    assert_int_equal(loop->opcode, TW_OP_FOR);
    assert_int_equal(tw_op_attr_value(loop, "unroll"), 8);
    assert_int_equal(results[MANY - 1].id, loop->first_result.id + MANY - 1);
    tw_context_free(ctx);
}

/* Contexts free what is left in them, in any order. */
static void contexts_own_kernels(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernels[3];
    for (int i = 0; i < 3; i++)
        kernels[i] = tw_kernel_end(tw_kernel_begin(ctx, "k", target_of("gfx942"), &small));
    tw_kernel_free(kernels[1]);
    tw_kernel_free(kernels[2]);
    tw_kernel_free(NULL);
    assert_int_equal(tw_kernel_get_options(kernels[0]).workgroup_size, 64);
    assert_int_equal(tw_kernel_target(kernels[0]).arch, TW_ARCH_GFX942);
    assert_null(tw_kernel_value_type(kernels[0], (tw_value){1}));
    tw_kernel_begin(ctx, "left_open", target_of("gfx942"), &small);
    tw_context_free(ctx);
    tw_context_free(NULL);
}

static void count_diagnostic(void *user, const tw_diagnostic *diagnostic) {
    assert_string_equal(diagnostic->text, "first");
    ++*(int *)user;
}

static void the_callback_hears_the_error_at_once(void **state) {
    (void)state;
    int heard = 0;
    tw_context *ctx =
        tw_context_new(&(tw_context_options){.on_diagnostic = count_diagnostic, .user = &heard});
    tw_builder *b = tw_kernel_begin(ctx, "k", target_of("gfx942"), &small);
    tw_builder_fail(b, "first");
    assert_int_equal(heard, 1);
    assert_null(tw_kernel_end(b));
    assert_int_equal(heard, 1);
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_example_builds),
        cmocka_unit_test(values_may_be_replaced_in_place),
        cmocka_unit_test(each_misuse_is_reported_once),
        cmocka_unit_test(bad_arguments_of_begin_are_the_first_error),
        cmocka_unit_test(no_builder_is_a_failed_builder),
        cmocka_unit_test(defaults_are_kept_as_missing),
        cmocka_unit_test(strings_and_lists_are_copied),
        cmocka_unit_test(a_loop_may_carry_many_values),
        cmocka_unit_test(contexts_own_kernels),
        cmocka_unit_test(the_callback_hears_the_error_at_once),
    };
    return cmocka_run_group_tests_name("build", tests, NULL, NULL);
}
