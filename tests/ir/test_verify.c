/* The verifier against kernels that were damaged in memory, one rule at a time. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/rules.h"

/* The ops of the kernel that every damage is done to. */
typedef struct sample {
    tw_kernel *kernel;
    tw_op *tid, *lds, *loop, *sum, *loop_yield, *compare, *branch, *then_yield, *else_yield, *store, *end;
    tw_value zero; /* i32 */
} sample;

/* Sums in a loop, chooses in a branch, stores to LDS. */
static void build_sample(tw_context *ctx, sample *s) {
    tw_target target;
    tw_target_parse("gfx1250", &target, NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
    tw_param_ptr(b, "x", TW_F32, TW_PARAM_READONLY);
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value tid = tw_workitem_id(b, 0);
    tw_value lds = tw_lds_alloc(b, TW_I32, 64, 16);
    tw_value zero = tw_i32(b, 0);
    tw_value one = tw_i32(b, 1);
    tw_value carried, total, chosen;
    tw_value i = tw_for_begin(b, zero, n, one, 1, &zero, &carried);
    tw_value sum = tw_add(b, carried, i);
    tw_for_end(b, 1, &sum, &total);
    tw_value less = tw_icmp(b, TW_SLT, tid, n);
    tw_if_begin(b, less);
    tw_if_else(b, 1, &total);
    tw_if_end(b, 1, &tid, &chosen);
    tw_lds_store(b, chosen, lds, tid, 0);
    s->kernel = tw_kernel_end(b);
    assert_non_null(s->kernel);
    const tw_value_info *values = s->kernel->values;
    s->tid = values[tid.id].op;
    s->lds = values[lds.id].op;
    s->loop = values[total.id].op;
    s->sum = values[sum.id].op;
    s->loop_yield = s->loop->blocks[0].last;
    s->compare = values[less.id].op;
    s->branch = values[chosen.id].op;
    s->then_yield = s->branch->blocks[0].last;
    s->else_yield = s->branch->blocks[1].last;
    s->end = s->kernel->body.last;
    s->store = s->end->prev;
    s->zero = zero;
}

static void retype(sample *s, tw_value value, const tw_type *type) {
    s->kernel->values[value.id].type = type;
}

static tw_op *new_op(sample *s, tw_opcode opcode, uint32_t operands, uint32_t blocks) {
    return tw_op_new(s->kernel, opcode, operands, blocks);
}

/* ---- one op alone ---- */

static void unknown_opcode(sample *s) { s->store->opcode = (tw_opcode)200; }
static void poison_operand(sample *s) { s->store->operands[2].id = 0; }
static void operand_past_the_end(sample *s) { s->store->operands[2].id = s->kernel->value_count + 1; }
static void result_of_a_store(sample *s) {
    const tw_type *type = tw_type_scalar(TW_I32);
    tw_op_add_results(s->kernel, s->store, &type, 1);
}
static void wrong_result_type(sample *s) { retype(s, s->compare->first_result, tw_type_vector(TW_I1, 2)); }
static void token_operand(sample *s) {
    tw_op *yield = s->loop_yield;
    retype(s, yield->operands[0], tw_type_token());
}

static void unknown_attribute_kind(sample *s) { s->compare->attrs[0].kind = (tw_attr_kind)77; }

/* ---- regions ---- */

static void loop_without_region(sample *s) { s->loop->block_count = 0; }
static void loop_without_index(sample *s) { s->loop->blocks[0].arg_count = 1; }
static void loop_with_fewer_results(sample *s) { s->loop->result_count = 0; }
static void loop_with_a_wide_index(sample *s) {
    retype(s, s->loop->blocks[0].args[0], tw_type_scalar(TW_I64));
}
static void loop_with_a_wide_result(sample *s) { retype(s, s->loop->first_result, tw_type_scalar(TW_I64)); }
static void loop_with_step_0(sample *s) { s->loop->operands[2] = s->zero; }
static void loop_with_negative_step(sample *s) {
    s->kernel->values[s->loop->operands[2].id].op->attrs[0].as.i = 0xfffffffe;
}
static void branch_without_regions(sample *s) { s->branch->block_count = 0; }
static void branch_with_an_argument(sample *s) {
    tw_block_add_arg(s->kernel, &s->branch->blocks[1], tw_type_scalar(TW_I32), NULL);
}
static void branch_without_else(sample *s) { s->branch->block_count = 1; }
static void branch_with_a_token(sample *s) { retype(s, s->branch->first_result, tw_type_token()); }
static void alloc_in_a_region(sample *s) {
    tw_block_remove(s->lds);
    tw_block_insert_before(s->then_yield, s->lds);
}
static void yield_in_the_body(sample *s) {
    tw_op *yield = new_op(s, TW_OP_YIELD, 0, 0);
    tw_block_remove(s->end);
    tw_block_append(&s->kernel->body, yield);
}
static void yield_of_too_few(sample *s) { s->else_yield->operand_count = 0; }
static void yield_of_another_type(sample *s) { s->else_yield->operands[0] = s->compare->first_result; }
static void return_in_a_region(sample *s) {
    tw_op *end = new_op(s, TW_OP_RETURN, 0, 0);
    tw_block_insert_before(s->then_yield, end);
    tw_block_remove(s->then_yield);
}
static void region_of_an_add(sample *s) {
    tw_op *add = new_op(s, TW_OP_ADD, 2, 1);
    const tw_type *type = tw_type_scalar(TW_I32);
    add->operands[0] = add->operands[1] = s->zero;
    tw_op_add_results(s->kernel, add, &type, 1);
    tw_block_insert_before(s->end, add);
}
static void too_deep(sample *s) {
    tw_block *block = &s->kernel->body;
    for (int depth = 0; depth <= TW_DEPTH_MAX; depth++) {
        tw_op *branch = new_op(s, TW_OP_IF, 1, 1);
        branch->operands[0] = s->compare->first_result;
        if (depth) {
            tw_block_append(block, branch);
        } else {
            tw_block_insert_before(s->end, branch);
        }
        block = &branch->blocks[0];
    }
    for (; block->parent; block = block->parent->parent)
        tw_block_append(block, new_op(s, TW_OP_YIELD, 0, 0));
}

/* ---- blocks ---- */

static void no_return(sample *s) { tw_block_remove(s->end); }
static void no_yield(sample *s) { tw_block_remove(s->then_yield); }
static void op_after_return(sample *s) {
    tw_op *barrier = new_op(s, TW_OP_BARRIER, 0, 0);
    barrier->attrs[0] = (tw_attr){.kind = TW_ATTR_INT};
    tw_block_append(&s->kernel->body, barrier);
}
static void op_of_another_block(sample *s) { s->sum->parent = &s->kernel->body; }
static void broken_link(sample *s) { s->store->prev = s->tid; }
static void circle(sample *s) { s->store->next = s->tid; }
static void region_of_another_op(sample *s) { s->loop->blocks[0].parent = s->branch; }
static void wrong_last_op(sample *s) { s->kernel->body.last = s->store; }

/* ---- values ---- */

static void value_of_another_op(sample *s) { s->kernel->values[s->tid->first_result.id].op = s->store; }
static void value_twice(sample *s) { s->compare->first_result = s->tid->first_result; }
static void value_without_type(sample *s) { retype(s, s->loop->first_result, NULL); }
static void argument_without_type(sample *s) {
    tw_value argument = s->loop->blocks[0].args[1];
    retype(s, argument, NULL);
}
static void result_past_the_end(sample *s) { s->loop->first_result.id = s->kernel->value_count + 1; }
static void parameter_twice(sample *s) { s->kernel->body.args[1] = s->kernel->body.args[0]; }
static void use_before_definition(sample *s) {
    tw_block_remove(s->tid);
    tw_block_insert_before(s->end, s->tid);
}
static void use_after_the_region(sample *s) { s->store->operands[0] = s->sum->first_result; }
static void argument_after_the_region(sample *s) { s->store->operands[0] = s->loop->blocks[0].args[1]; }
static void values_in_another_order(sample *s) { s->kernel->values[s->loop->blocks[0].args[0].id].index = 1; }
static void use_from_the_other_region(sample *s) {
    tw_op *inner = new_op(s, TW_OP_ADD, 2, 0);
    const tw_type *type = tw_type_scalar(TW_I32);
    inner->operands[0] = inner->operands[1] = s->zero;
    tw_op_add_results(s->kernel, inner, &type, 1);
    tw_block_insert_before(s->then_yield, inner);
    s->else_yield->operands[0] = inner->first_result;
}
static void use_of_its_own_result(sample *s) { s->sum->operands[0] = s->sum->first_result; }
static void loop_bound_from_inside(sample *s) { s->loop->operands[1] = s->loop->blocks[0].args[0]; }

/* ---- the kernel ---- */

static void lds_in_all(sample *s) {
    s->lds->attrs[0].as.i = 79999; /* 4 bytes short of a multiple of 128 */
    tw_op *second = new_op(s, TW_OP_LDS_ALLOC, 0, 0);
    const tw_type *type = tw_type_pointer(TW_I8, TW_LDS);
    second->attrs[0] = (tw_attr){.kind = TW_ATTR_INT, .as.i = 7681};
    second->attrs[1] = (tw_attr){.kind = TW_ATTR_INT, .as.i = 128};
    tw_op_add_results(s->kernel, second, &type, 1);
    tw_block_insert_before(s->end, second);
}
static void bad_name(sample *s) { memcpy(s->kernel->name, "1", 1); }
static void no_target(sample *s) { s->kernel->target.arch = TW_ARCH_COUNT; }
static void no_such_wave(sample *s) { s->kernel->target.wave_size = 16; }
static void no_xnack(sample *s) { s->kernel->target.xnack = TW_FEATURE_ON; }
static void no_sramecc(sample *s) { s->kernel->target.sramecc = TW_FEATURE_OFF; }
static void no_work_items(sample *s) { s->kernel->options.workgroup_size = 0; }
static void too_many_work_items(sample *s) {
    s->kernel->options.workgroup_size_y = 4;
    s->kernel->options.workgroup_size_z = 5;
}
static void overflowing_work_items(sample *s) {
    s->kernel->options.workgroup_size_y = 0x80000000;
    s->kernel->options.workgroup_size_z = 0x80000000;
}
static void too_many_waves(sample *s) { s->kernel->options.min_waves_per_eu = 17; }
static void fewest_above_most(sample *s) {
    s->kernel->options.min_waves_per_eu = 4;
    s->kernel->options.max_waves_per_eu = 2;
}
static void most_above_the_limit(sample *s) {
    s->kernel->options.min_waves_per_eu = 4;
    s->kernel->options.max_waves_per_eu = 17;
}
static void most_without_fewest(sample *s) { s->kernel->options.max_waves_per_eu = 2; }
static void bad_parameter_name(sample *s) { s->kernel->params[1].name = "%n"; }
static void same_parameter_name(sample *s) { s->kernel->params[1].name = "x"; }
static void vector_parameter(sample *s) { retype(s, s->kernel->body.args[1], tw_type_vector(TW_I32, 2)); }
static void i8_parameter(sample *s) { retype(s, s->kernel->body.args[1], tw_type_scalar(TW_I8)); }
static void lds_parameter(sample *s) { retype(s, s->kernel->body.args[0], tw_type_pointer(TW_F32, TW_LDS)); }
static void unknown_flag(sample *s) { s->kernel->params[0].flags = 5; }
static void flag_of_a_scalar(sample *s) { s->kernel->params[1].flags = TW_PARAM_NOALIAS; }
static void too_many_parameters(sample *s) {
    char name[16];
    for (int i = 2; i <= TW_PARAM_MAX; i++) {
        snprintf(name, sizeof name, "p%d", i);
        tw_kernel_add_param(s->kernel, name, strlen(name), tw_type_scalar(TW_I32), 0, NULL);
    }
}

#define NAME_RULE "must be [A-Za-z_][A-Za-z0-9_.$]* of at most 255 bytes"

static const struct {
    const char *name;
    void (*damage)(sample *s);
    const char *text;
} rows[] = {
#define ROW(damage, text) \
    { #damage, damage, text }
    ROW(unknown_opcode, "an op without a row: the opcode must have a row (got 200)"),
    ROW(poison_operand, "tile.lds_store: operand 2 must be a value of the kernel (got poison)"),
    ROW(operand_past_the_end, "tile.lds_store: operand 2 must be a value of the kernel (got an unknown id)"),
    ROW(result_of_a_store, "tile.lds_store: must have 0 results (got 1)"),
    ROW(wrong_result_type, "arith.icmp: the result must be i1 (got vec<2 x i1>)"),
    ROW(token_operand, "arith.add: the result must be i32 (got token)"),
    ROW(unknown_attribute_kind, "arith.icmp: predicate must be one of eq ne slt sle sgt sge ult ule ugt uge "
                                "(got an attribute of kind 77)"),
    ROW(loop_without_region, "scf.for: must have 1 region (got 0)"),
    ROW(loop_without_index, "scf.for: the region must have 2 arguments (got 1)"),
    ROW(loop_with_fewer_results, "scf.for: must have 1 results (got 0)"),
    ROW(loop_with_a_wide_index, "scf.for: argument 0 of the region must be i32 (got i64)"),
    ROW(loop_with_a_wide_result, "scf.for: result 0 must be i32 (got i64)"),
    ROW(loop_with_step_0, "scf.for: the step must be positive (got 0)"),
    ROW(loop_with_negative_step, "scf.for: the step must be positive (got -2)"),
    ROW(branch_without_regions, "scf.if: must have 1 or 2 regions (got 0)"),
    ROW(branch_with_an_argument, "scf.if: region 1 must have no arguments (got 1)"),
    ROW(branch_without_else, "scf.if: must have 2 regions where it has results (got 1 results)"),
    ROW(branch_with_a_token, "scf.if: result 0 must be any type but a token (got token)"),
    ROW(alloc_in_a_region,
        "tile.lds_alloc: must stand at the top level of the kernel (got a region of scf.if)"),
    ROW(yield_in_the_body, "scf.yield: must end a region (got the kernel's body)"),
    ROW(yield_of_too_few, "scf.yield: must have 1 operands, one for each result of scf.if (got 0)"),
    ROW(yield_of_another_type, "scf.yield: operand 0 must be i32 like the result of scf.if (got i1)"),
    ROW(return_in_a_region, "return: must end the kernel's body (got a region of scf.if)"),
    ROW(region_of_an_add, "arith.add: must have no region (got 1)"),
    ROW(too_deep, "scf.if: regions must be nested at most 256 deep (got 257)"),
    ROW(no_return, "the kernel's body must end with return (got tile.lds_store)"),
    ROW(no_yield, "scf.if: a region must end with scf.yield (got no op)"),
    ROW(op_after_return, "return: must be the last op of its block (got tile.barrier after it)"),
    ROW(op_of_another_block, "arith.add: must be linked to its block and its neighbours (got a broken list)"),
    ROW(broken_link, "tile.lds_store: must be linked to its block and its neighbours (got a broken list)"),
    ROW(circle, "gpu.workitem_id: must be linked to its block and its neighbours (got a broken list)"),
    ROW(region_of_another_op,
        "arith.add: must be linked to its block and its neighbours (got a broken list)"),
    ROW(wrong_last_op, "the last op of a block must be the last of its list (got another)"),
    ROW(value_of_another_op,
        "gpu.workitem_id: result 0 must be a value of its own (got a value of something else)"),
    ROW(value_twice, "arith.icmp: the result must be i1 (got i32)"),
    ROW(value_without_type, "scf.for: result 0 must be i32 (got no type)"),
    ROW(argument_without_type, "scf.for: argument 1 of the region must be i32 (got no type)"),
    ROW(result_past_the_end, "scf.for: result 0 must be i32 (got no type)"),
    ROW(parameter_twice, "parameter 1 must be a value of its own (got a value that is defined twice)"),
    ROW(use_before_definition,
        "arith.icmp: operand 0 must be a value in scope (got one that is not defined before)"),
    ROW(use_after_the_region,
        "tile.lds_store: operand 0 must be a value in scope (got one of a closed region)"),
    ROW(argument_after_the_region,
        "tile.lds_store: operand 0 must be a value in scope (got one of a closed region)"),
    ROW(values_in_another_order,
        "scf.for: argument 0 must be a value of its own (got a value of something else)"),
    ROW(use_from_the_other_region,
        "scf.yield: operand 0 must be a value in scope (got one of a closed region)"),
    ROW(use_of_its_own_result,
        "arith.add: operand 0 must be a value in scope (got one that is not defined before)"),
    ROW(loop_bound_from_inside,
        "scf.for: operand 1 must be a value in scope (got one that is not defined before)"),
    ROW(lds_in_all, "the kernel's LDS must fit the target's 327680 bytes (got 327681)"),
    ROW(bad_name, "a kernel's name " NAME_RULE " (got \"1\")"),
    ROW(no_target, "the target must be a known one (got 9)"),
    ROW(no_such_wave, "the wave size must be one that the target has (got 16)"),
    ROW(no_xnack, "xnack must be a feature of the target (got 2)"),
    ROW(no_sramecc, "sramecc must be a feature of the target (got 1)"),
    ROW(no_work_items, "the workgroup size must be 1..1024 work-items (got 0 x 1 x 1)"),
    ROW(too_many_work_items, "the workgroup size must be 1..1024 work-items (got 64 x 4 x 5)"),
    ROW(overflowing_work_items,
        "the workgroup size must be 1..1024 work-items (got 64 x 2147483648 x 2147483648)"),
    ROW(too_many_waves, "min_waves_per_eu must be 0..16 (got 17)"),
    ROW(most_above_the_limit,
        "max_waves_per_eu must be 0 or min_waves_per_eu..16 with min_waves_per_eu at least 1 "
        "(got 4..17)"),
    ROW(fewest_above_most,
        "max_waves_per_eu must be 0 or min_waves_per_eu..16 with min_waves_per_eu at least 1 "
        "(got 4..2)"),
    ROW(most_without_fewest,
        "max_waves_per_eu must be 0 or min_waves_per_eu..16 with min_waves_per_eu at least "
        "1 (got 0..2)"),
    ROW(bad_parameter_name, "a parameter's name " NAME_RULE " (got \"%n\")"),
    ROW(same_parameter_name, "a parameter's name must be its own (got x twice)"),
    ROW(vector_parameter,
        "parameter n must be a global pointer or a scalar of 16, 32 or 64 bits (got vec<2 x i32>)"),
    ROW(i8_parameter, "parameter n must be a global pointer or a scalar of 16, 32 or 64 bits (got i8)"),
    ROW(lds_parameter,
        "parameter x must be a global pointer or a scalar of 16, 32 or 64 bits (got ptr<f32, lds>)"),
    ROW(unknown_flag, "parameter x must have flags of its type (got ptr<f32, global> with 0x5)"),
    ROW(flag_of_a_scalar, "parameter n must have flags of its type (got i32 with 0x2)"),
    ROW(too_many_parameters, "a kernel must have at most 256 parameters (got 257)"),
#undef ROW
};

static void each_damage_is_found(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        sample s;
        build_sample(ctx, &s);
        assert_int_equal(tw_kernel_verify(s.kernel, tw_context_diag(ctx)), TW_OK);
        rows[i].damage(&s);
        tw_status status = tw_kernel_verify(s.kernel, tw_context_diag(ctx));
        const char *got = tw_diag_first_error(tw_context_diag(ctx));
        if (status == TW_OK || strcmp(got, rows[i].text)) {
            print_error("%s\n  expected %s\n  got      %s\n", rows[i].name, rows[i].text, got);
            wrong++;
        }
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

/* Several broken rules give several diagnostics, but not without end. */
static void errors_are_collected_up_to_a_limit(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    sample s;
    build_sample(ctx, &s);
    s.store->operands[2].id = 0;
    s.compare->attrs[0].kind = TW_ATTR_NONE;
    assert_int_equal(tw_kernel_verify(s.kernel, tw_context_diag(ctx)), TW_ERR_INVALID);
    assert_string_equal(
        tw_context_diagnostics(ctx),
        "k: error: arith.icmp: predicate must be one of eq ne slt sle sgt sge ult ule ugt uge "
        "(missing)\n"
        "k: error: tile.lds_store: operand 2 must be a value of the kernel (got poison)\n");
    tw_diag_clear(tw_context_diag(ctx));
    for (int i = 0; i < 100; i++)
        tw_block_insert_before(s.store, new_op(&s, TW_OP_BARRIER, 0, 0));
    assert_int_equal(tw_kernel_verify(s.kernel, tw_context_diag(ctx)), TW_ERR_INVALID);
    assert_int_equal(tw_diag_count(tw_context_diag(ctx)), 20);
    tw_context_free(ctx);
}

/* The last region that is allowed. */
static void the_depth_limit_is_allowed(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_target target;
    tw_target_parse("gfx942", &target, NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
    tw_value yes = tw_i1(b, true);
    for (int i = 0; i < TW_DEPTH_MAX; i++)
        tw_if_begin(b, yes);
    for (int i = 0; i < TW_DEPTH_MAX; i++)
        tw_if_end(b, 0, NULL, NULL);
    assert_non_null(tw_kernel_end(b));
    assert_string_equal(tw_context_diagnostics(ctx), "");
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_damage_is_found),
        cmocka_unit_test(errors_are_collected_up_to_a_limit),
        cmocka_unit_test(the_depth_limit_is_allowed),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
