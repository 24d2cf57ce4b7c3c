/* The builder's frame: begin and end, errors, parameters, constants, and any op by its row. */
#include "ir/build.h"

#include <inttypes.h>
#include <string.h>

#include "ir/builder.h"
#include "support/strbuf.h"

static tw_diag *diag_of(const tw_builder *b) { return b->kernel->ctx->diag; }

/* ---- errors ---- */

void tw_builder_misuse(tw_builder *b, tw_opcode opcode, const char *format, ...) {
    if (!tw_builder_is_live(b)) return;
    b->failed = true;
    tw_strbuf text;
    tw_strbuf_init(&text, b->kernel->ctx->allocator);
    va_list arguments;
    va_start(arguments, format);
    tw_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    const tw_op_info *info = tw_op_info_get(opcode);
    tw_fail_at(diag_of(b), TW_ERR_USAGE, b->kernel->name, 0, 0, "%s%s%s", info ? info->name : "",
               info ? ": " : "", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
}

void tw_builder_no_memory(tw_builder *b) {
    b->failed = true;
    tw_fail_no_memory(diag_of(b));
}

bool tw_builder_failed(const tw_builder *b) { return !tw_builder_is_live(b); }

void tw_builder_fail(tw_builder *b, const char *format, ...) {
    if (!tw_builder_is_live(b)) return;
    b->failed = true;
    tw_strbuf text;
    tw_strbuf_init(&text, b->kernel->ctx->allocator);
    va_list arguments;
    va_start(arguments, format);
    tw_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    tw_fail_at(diag_of(b), TW_ERR_INVALID, b->kernel->name, 0, 0, "%s", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
}

/* ---- begin and end ---- */

tw_builder *tw_kernel_begin(tw_context *ctx, const char *name, tw_target target,
                            const tw_kernel_options *options) {
    tw_kernel *kernel = tw_kernel_new(ctx, name ? name : "", name ? strlen(name) : 0, target, options);
    tw_builder *b = kernel ? TW_ARENA_NEW(&kernel->arena, tw_builder, 1) : NULL;
    if (!b) {
        tw_kernel_free(kernel);
        tw_fail_no_memory(ctx->diag);
        return NULL;
    }
    b->kernel = kernel;
    b->block = &kernel->body;
    if (!name || !options) {
        tw_builder_misuse(b, TW_OP_INVALID, "tw_kernel_begin must have %s (got NULL)",
                          name ? "options" : "a name");
    } else if (tw_kernel_check_head(kernel, ctx->diag)) {
        b->failed = true;
    }
    return b;
}

tw_kernel *tw_kernel_end(tw_builder *b) {
    if (!b) return NULL;
    tw_kernel *kernel = b->kernel;
    if (b->frames)
        tw_builder_misuse(b, b->frames->op->opcode,
                          "must be closed before tw_kernel_end (got %" PRIu32 " open)", b->depth);
    tw_op *op = tw_builder_op(b, TW_OP_RETURN, NULL, 0, 0);
    if (op) tw_builder_append(b, op);
    if (!b->failed && tw_kernel_verify(kernel, kernel->ctx->diag)) b->failed = true;
    kernel->verified = !b->failed;
    if (!b->failed) return kernel;
    tw_kernel_free(kernel);
    return NULL;
}

void tw_kernel_abandon(tw_builder *b) {
    if (b) tw_kernel_free(b->kernel);
}

tw_target tw_builder_target(const tw_builder *b) {
    return b ? b->kernel->target : (tw_target){.arch = TW_ARCH_NONE};
}

const tw_type *tw_value_type(const tw_builder *b, tw_value value) {
    return b ? tw_kernel_value_type(b->kernel, value) : NULL;
}

tw_value tw_name(tw_builder *b, tw_value value, const char *name) {
    if (!tw_builder_is_live(b) || !value.id) return value;
    size_t length = name ? strlen(name) : 0;
    if (!tw_name_is_valid(name, length)) {
        tw_builder_misuse(
            b, TW_OP_INVALID,
            "a value's name must be [A-Za-z_][A-Za-z0-9_.$]* of at most %d bytes (got \"%.64s\")",
            TW_NAME_MAX, name ? name : "");
        return value;
    }
    if (value.id > b->kernel->value_count) {
        tw_builder_misuse(b, TW_OP_INVALID, "tw_name must get a value of this kernel (got one of another)");
        return value;
    }
    char *kept = tw_arena_strndup(&b->kernel->arena, name, length);
    if (!kept) tw_builder_no_memory(b);
    b->kernel->values[value.id].name = kept;
    return value;
}

/* ---- ops ---- */

/* A value is in scope where its block is the current one or around it. */
static bool in_scope(const tw_builder *b, tw_value value) {
    const tw_value_info *info = &b->kernel->values[value.id];
    const tw_block *home = info->op ? info->op->parent : info->block;
    for (const tw_block *block = b->block; block; block = block->parent ? block->parent->parent : NULL)
        if (block == home) return true;
    return false;
}

static bool check_value(tw_builder *b, tw_opcode opcode, uint32_t index, tw_value value) {
    const char *got = NULL;
    if (!value.id) {
        got = "poison";
    } else if (value.id > b->kernel->value_count) {
        got = "one of another kernel";
    } else if (!in_scope(b, value)) {
        got = "one of a closed region or of another kernel";
    }
    if (!got) return true;
    tw_builder_misuse(b, opcode, "operand %" PRIu32 " must be a value in scope (got %s)", index, got);
    return false;
}

tw_op *tw_builder_op(tw_builder *b, tw_opcode opcode, const tw_value *operands, uint32_t operand_count,
                     uint32_t block_count) {
    if (!tw_builder_is_live(b)) return NULL;
    for (uint32_t i = 0; i < operand_count; i++)
        if (!check_value(b, opcode, i, operands[i])) return NULL;
    tw_op *op = tw_op_new(b->kernel, opcode, operand_count, block_count);
    if (!op) {
        tw_builder_no_memory(b);
        return NULL;
    }
    if (operand_count) memcpy(op->operands, operands, operand_count * sizeof *operands);
    return op;
}

bool tw_builder_append(tw_builder *b, tw_op *op) {
    tw_block_append(b->block, op);
    if (tw_op_check(b->kernel, op, diag_of(b))) b->failed = true;
    return !b->failed;
}

/* Written or not, a default is the same program: it is kept as missing. */
static void drop_defaults(const tw_op_info *info, tw_op *op) {
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (info->attrs[i].required) continue;
        const tw_attr *attr = &op->attrs[i];
        int64_t value = attr->kind == TW_ATTR_BOOL ? attr->as.b : attr->as.i;
        if (attr->kind != TW_ATTR_NONE && value == info->attrs[i].default_value) op->attrs[i] = (tw_attr){0};
    }
}

tw_value tw_builder_emit(tw_builder *b, tw_opcode opcode, const tw_type *type, const tw_value *operands,
                         uint32_t operand_count, const tw_attr *attrs) {
    const tw_value poison = {0};
    tw_op *op = tw_builder_op(b, opcode, operands, operand_count, 0);
    if (!op) return poison;
    const tw_op_info *info = tw_op_info_get(opcode);
    if (attrs) memcpy(op->attrs, attrs, info->attr_count * sizeof *attrs);
    if (tw_result_given_class(info->result) == T_NONE) type = tw_op_result_type(b->kernel, op);
    if (type && !tw_op_add_results(b->kernel, op, &type, 1)) {
        tw_builder_no_memory(b);
        return poison;
    }
    if (!tw_builder_append(b, op)) return poison;
    if (attrs) drop_defaults(info, op);
    return op->first_result;
}

/* ---- parameters ---- */

static tw_value add_param(tw_builder *b, const char *name, const tw_type *type, unsigned flags) {
    tw_value value = {0};
    if (!tw_builder_is_live(b)) return value;
    if (b->kernel->body.first) {
        tw_builder_misuse(b, TW_OP_INVALID, "parameters must come before the first op (got %.64s)",
                          name ? name : "NULL");
        return value;
    }
    if (!name) name = "";
    if (!tw_kernel_add_param(b->kernel, name, strlen(name), type, flags, &value)) {
        tw_builder_no_memory(b);
        return value;
    }
    if (tw_kernel_check_param(b->kernel, b->kernel->body.arg_count - 1, diag_of(b))) {
        b->failed = true;
        value.id = 0;
    }
    return value;
}

tw_value tw_param_ptr(tw_builder *b, const char *name, tw_scalar pointee, unsigned flags) {
    return add_param(b, name, tw_type_pointer(pointee, TW_GLOBAL), flags);
}

tw_value tw_param(tw_builder *b, const char *name, tw_scalar scalar) {
    return add_param(b, name, tw_type_scalar(scalar), 0);
}

/* ---- constants ---- */

tw_value tw_constant(tw_builder *b, const tw_type *type, uint64_t bits) {
    tw_attr value = {.kind = TW_ATTR_INT, .as.i = (int64_t)bits};
    return tw_builder_emit(b, TW_OP_CONSTANT, type, NULL, 0, &value);
}

tw_value tw_i1(tw_builder *b, bool value) { return tw_constant(b, tw_type_scalar(TW_I1), value); }

tw_value tw_i32(tw_builder *b, int32_t value) {
    return tw_constant(b, tw_type_scalar(TW_I32), (uint32_t)value);
}

tw_value tw_i64(tw_builder *b, int64_t value) {
    return tw_constant(b, tw_type_scalar(TW_I64), (uint64_t)value);
}

tw_value tw_f32(tw_builder *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return tw_constant(b, tw_type_scalar(TW_F32), bits);
}

/* ---- any op by its row ---- */

static bool keep_attr(tw_builder *b, tw_attr *attr) {
    if (attr->kind == TW_ATTR_STRING) {
        const char *s = attr->as.s ? attr->as.s : "";
        attr->as.s = tw_arena_strndup(&b->kernel->arena, s, strlen(s));
        return attr->as.s;
    }
    if (attr->kind == TW_ATTR_INTS) {
        uint32_t count = attr->as.ints.count;
        int64_t *values = TW_ARENA_NEW(&b->kernel->arena, int64_t, count);
        if (values && count) memcpy(values, attr->as.ints.values, count * sizeof *values);
        attr->as.ints.values = values;
        return values;
    }
    return true;
}

static bool place_attr(tw_builder *b, const tw_op_info *info, const tw_named_attr *named,
                       tw_attr attrs[TW_MAX_ATTRS]) {
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (!named->name || strcmp(info->attrs[i].name, named->name)) continue;
        if (attrs[i].kind != TW_ATTR_NONE) {
            tw_builder_misuse(b, info->opcode, "an attribute must be given once (got %s twice)", named->name);
            return false;
        }
        attrs[i] = named->value;
        if (keep_attr(b, &attrs[i])) return true;
        tw_builder_no_memory(b);
        return false;
    }
    tw_builder_misuse(b, info->opcode, "an attribute must be one of the row's (got %.64s)",
                      named->name ? named->name : "NULL");
    return false;
}

tw_value tw_build_op(tw_builder *b, tw_opcode opcode, const tw_type *type, const tw_value *operands,
                     unsigned operand_count, const tw_named_attr *attrs, unsigned attr_count) {
    const tw_value poison = {0};
    if (!tw_builder_is_live(b)) return poison;
    const tw_op_info *info = tw_op_info_get(opcode);
    if (!info || info->effect == E_CONTROL) {
        tw_builder_misuse(b, TW_OP_INVALID,
                          "tw_build_op must get an op that has a row and no regions (got %s)",
                          info ? info->name : "no row");
        return poison;
    }
    if (type && tw_result_given_class(info->result) == T_NONE) {
        tw_builder_misuse(b, opcode, "the result's type must be left to the row (got %s)", TYPE_TEXT(type));
        return poison;
    }
    tw_attr placed[TW_MAX_ATTRS] = {{0}};
    for (unsigned i = 0; i < attr_count; i++)
        if (!place_attr(b, info, &attrs[i], placed)) return poison;
    return tw_builder_emit(b, opcode, type, operands, operand_count, placed);
}
