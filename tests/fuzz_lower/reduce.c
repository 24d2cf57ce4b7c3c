#include "tests/fuzz_lower/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"

static tw_op *op_at(const tw_kernel *kernel, uint32_t index) {
    tw_op *op = kernel->body.first;
    while (op && index--)
        op = tw_op_after(op);
    return op;
}

static uint32_t op_count(const tw_kernel *kernel) {
    uint32_t count = 0;
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        count++;
    return count;
}

static void replace_uses(tw_kernel *kernel, tw_value from, tw_value to) {
    for (tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (op->operands[i].id == from.id) op->operands[i] = to;
}

/* A constant before `place`; poison where the type has none. */
static tw_value constant_before(tw_kernel *kernel, tw_op *place, const tw_type *type, uint64_t bits) {
    tw_op *op = tw_type_in_class(type, T_LOGIC_OR_FLOAT) ? tw_op_new(kernel, TW_OP_CONSTANT, 0, 0) : NULL;
    if (!op) return (tw_value){0};
    op->attrs[0] = (tw_attr){TW_ATTR_INT, {.i = (int64_t)bits}};
    tw_block_insert_before(place, op);
    if (!tw_op_add_results(kernel, op, &type, 1)) return (tw_value){0};
    return op->first_result;
}

/* Edit 0 puts zeros, edit 1 ones, 2.. an operand in the place of the results, and removes the op. */
static bool drop(tw_kernel *kernel, tw_op *op, unsigned edit) {
    if (op->opcode == TW_OP_YIELD || op->opcode == TW_OP_RETURN) return false;
    if (edit && !op->result_count) return false;
    if (op->opcode == TW_OP_CONSTANT) {
        uint64_t bits = edit ? 1 : 0;
        if (edit > 1 || (uint64_t)op->attrs[0].as.i <= bits) return false;
        op->attrs[0].as.i = (int64_t)bits;
        return true;
    }
    if (edit > 1 && edit - 2 >= op->operand_count) return false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        tw_value result = tw_op_result(op, i);
        const tw_type *type = tw_type_of(kernel, result);
        tw_value other = edit > 1 ? op->operands[edit - 2] : constant_before(kernel, op, type, edit);
        if (!other.id || tw_type_of(kernel, other) != type) return false;
        replace_uses(kernel, result, other);
    }
    tw_block_remove(op);
    return true;
}

/* Puts a region's ops in the place of its scf.if or of its loop, of which one round is left. */
static bool inline_region(tw_kernel *kernel, tw_op *op, uint32_t index) {
    if (index >= op->block_count) return false;
    tw_block *block = &op->blocks[index];
    tw_op *yield = block->last;
    for (uint32_t i = 0; i < block->arg_count; i++)
        replace_uses(kernel, block->args[i], op->operands[i ? i + 2 : 0]);
    for (uint32_t i = 0; i < op->result_count; i++)
        replace_uses(kernel, tw_op_result(op, i), yield->operands[i]);
    while (block->first != yield) {
        tw_op *moved = block->first;
        tw_block_remove(moved);
        tw_block_insert_before(op, moved);
    }
    tw_block_remove(op);
    return true;
}

static bool shrink_shape(fuzz_case *c, unsigned edit) {
    tw_kernel_options *o = &c->kernel->options, before = *o;
    switch (edit) {
    case 0: c->grid[0] = c->grid[1] = c->grid[2] = 1; return true;
    case 1: o->workgroup_size = 1; break;
    case 2: o->workgroup_size = c->kernel->target.wave_size; break;
    case 3: o->workgroup_size_y = o->workgroup_size_z = 0; break;
    case 4: o->flush_f32_denormals = false; break;
    case 5: o->min_waves_per_eu = o->max_waves_per_eu = 0; break;
    default: return false;
    }
    return memcmp(o, &before, sizeof before) != 0;
}

#define SHAPE_EDITS 6
#define OP_EDITS    8 /* of an op: zeros, ones, four operands, two regions */

static bool apply(fuzz_case *c, uint32_t op_index, unsigned edit) {
    tw_op *op = op_at(c->kernel, op_index);
    if (!op) return false;
    c->kernel->verified = false;
    return edit < 6 ? drop(c->kernel, op, edit) : inline_region(c->kernel, op, edit - 6);
}

static fuzz_case *copy_of(const fuzz_case *c) {
    char *text;
    size_t length;
    if (tw_kernel_to_text(c->kernel, &text, &length, NULL)) return NULL;
    fuzz_case *copy = fuzz_case_from_text(c, text, length);
    free(text);
    return copy;
}

/* Takes the place of *c where the copy is valid and fails in the same way. */
static bool keep_if_failing(fuzz_runner *r, fuzz_case **c, fuzz_case *copy, fuzz_verdict verdict) {
    bool changed;
    fuzz_result result = {FUZZ_AGREES, ""};
    bool good = !tw_kernel_verify(copy->kernel, NULL) && !tw_pass_dce(copy->kernel, &changed, NULL) &&
                !tw_kernel_verify(copy->kernel, NULL);
    if (good) fuzz_run(r, &copy, 1, &result);
    good = good && result.verdict == verdict;
    fuzz_case_free(good ? *c : copy);
    if (good) *c = copy;
    return good;
}

static bool one_pass(fuzz_runner *r, fuzz_case **c, fuzz_verdict verdict) {
    bool changed = false;
    for (unsigned edit = 0; edit < SHAPE_EDITS; edit++) {
        fuzz_case *copy = copy_of(*c);
        if (!copy || !shrink_shape(copy, edit)) {
            fuzz_case_free(copy);
        } else {
            keep_if_failing(r, c, copy, verdict);
        }
    }
    for (uint32_t i = op_count((*c)->kernel); i-- > 0;) {
        for (unsigned edit = 0; edit < OP_EDITS; edit++) {
            if (i >= op_count((*c)->kernel)) break;
            fuzz_case *copy = copy_of(*c);
            if (!copy || !apply(copy, i, edit)) {
                fuzz_case_free(copy);
            } else if (keep_if_failing(r, c, copy, verdict)) {
                changed = true;
                break;
            }
        }
    }
    return changed;
}

static void print_case(fuzz_runner *r, fuzz_case *c) {
    char *text;
    fuzz_result result;
    tw_compiler_choice choice;
    fuzz_run(r, &c, 1, &result);
    if (!tw_kernel_to_text(c->kernel, &text, NULL, NULL)) {
        printf("// grid %u, %u, %u\n%s", c->grid[0], c->grid[1], c->grid[2], text);
        free(text);
    }
    if (!tw_compiler_choose(r->compiler, r->target, &choice, NULL) &&
        !tw_lower(c->kernel, choice.flavor, &text, NULL, NULL)) {
        printf("%s", text);
        free(text);
    }
    printf("%s:\n%s", fuzz_verdict_names[result.verdict], result.text);
}

void fuzz_reduce(fuzz_runner *r, fuzz_case *c, fuzz_verdict verdict) {
    for (int passes = 0; passes < 8 && one_pass(r, &c, verdict); passes++) {
    }
    print_case(r, c);
    fuzz_case_free(c);
}
