#include "ir/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/number_text.h"
#include "support/strbuf.h"

const char *tw_kernel_where(const tw_kernel *kernel) {
    return kernel->source ? kernel->source : kernel->name;
}

static tw_status refuse(const tw_kernel *kernel, const tw_op *op, tw_diag *diag, tw_status status,
                        const char *format, va_list arguments) {
    if (!diag) return status;
    const tw_op_info *info = tw_op_info_get(op->opcode);
    tw_strbuf text;
    tw_strbuf_init(&text, NULL); /* any thread: not the context's allocator */
    tw_strbuf_vprintf(&text, format, arguments);
    tw_fail_at(diag, status, tw_kernel_where(kernel), op->line, op->column, "%s: %s",
               info ? info->name : "an op without a row", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return status;
}

tw_status tw_refuse_op(const tw_kernel *kernel, const tw_op *op, tw_diag *diag, tw_status status,
                       const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse(kernel, op, diag, status, format, arguments);
    va_end(arguments);
    return status;
}

tw_status tw_refuse(const tw_check *check, tw_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    refuse(check->kernel, check->op, check->diag, status, format, arguments);
    va_end(arguments);
    return status;
}

tw_type_text tw_type_text_of(const tw_type *type) {
    tw_type_text name = {"no type"};
    if (type) tw_type_format(type, name.text);
    return name;
}

/* ---- operands ---- */

static const tw_type *operand_type(const tw_check *check, uint32_t index) {
    return tw_kernel_value_type(check->kernel, check->op->operands[index]);
}

static tw_status check_operand(const tw_check *check, uint32_t index, const tw_type *type) {
    const tw_op_info *info = check->info;
    tw_type_class wanted = tw_op_operand_class(info, index);
    if (wanted == T_SAME0 || wanted == T_SAME1) {
        uint32_t other = wanted == T_SAME1;
        const tw_type *model = operand_type(check, other);
        if (type == model) return TW_OK;
        return tw_refuse(check, TW_ERR_INVALID,
                         "operand %" PRIu32 " must have the type of operand %" PRIu32 ", %s (got %s)", index,
                         other, TYPE_TEXT(model), TYPE_TEXT(type));
    }
    if (tw_type_in_class(type, wanted)) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "operand %" PRIu32 " must be %s (got %s)", index,
                     tw_type_class_text(wanted), TYPE_TEXT(type));
}

static tw_status check_operands(const tw_check *check) {
    const tw_op *op = check->op;
    const tw_op_info *info = check->info;
    if (op->operand_count < info->operand_count ||
        (op->operand_count > info->operand_count && !info->more_operands))
        return tw_refuse(check, TW_ERR_INVALID, "must have %s%u operands (got %" PRIu32 ")",
                         info->more_operands ? "at least " : "", info->operand_count, op->operand_count);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const tw_type *type = operand_type(check, i);
        if (!type)
            return tw_refuse(check, TW_ERR_INVALID,
                             "operand %" PRIu32 " must be a value of the kernel (got %s)", i,
                             op->operands[i].id ? "an unknown id" : "poison");
        tw_status status = check_operand(check, i, type);
        if (status) return status;
    }
    return TW_OK;
}

/* ---- results ---- */

const tw_type *tw_op_result_type(const tw_kernel *kernel, const tw_op *op) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    if (!info) return NULL;
    tw_check check = {kernel, op, info, NULL};
    const tw_type *type0 = op->operand_count > 0 ? operand_type(&check, 0) : NULL;
    switch (info->result) {
    case R_SAME0: return type0;
    case R_SAME1: return op->operand_count > 1 ? operand_type(&check, 1) : NULL;
    case R_SAME2: return op->operand_count > 2 ? operand_type(&check, 2) : NULL;
    case R_I1_LIKE0: return type0 ? tw_type_vector(TW_I1, type0->lanes) : NULL;
    case R_ELEMENT0: return type0 && type0->lanes ? tw_type_scalar(type0->scalar) : NULL;
    case R_I32: return tw_type_scalar(TW_I32);
    case R_I64: return tw_type_scalar(TW_I64);
    case R_RSRC: return tw_type_rsrc();
    default: return NULL;
    }
}

#define RESULT_TEXT(type) ((type) ? TYPE_TEXT(type) : "none")

static tw_status check_result(const tw_check *check) {
    const tw_op *op = check->op;
    tw_result_rule rule = check->info->result;
    /* How many there are of these is the business of their extra rules. */
    if (rule == R_CARRIED || rule == R_YIELDED) return TW_OK;
    uint32_t count = rule != R_NONE;
    if (op->result_count > count)
        return tw_refuse(check, TW_ERR_INVALID, "must have %" PRIu32 " results (got %" PRIu32 ")", count,
                         op->result_count);
    if (!count) return TW_OK;
    const tw_type *type = op->result_count ? tw_kernel_value_type(check->kernel, op->first_result) : NULL;
    tw_type_class given = tw_result_given_class(rule);
    if (given != T_NONE) {
        if (type && tw_type_in_class(type, given)) return TW_OK;
        return tw_refuse(check, TW_ERR_INVALID, "the result must be %s (got %s)", tw_type_class_text(given),
                         RESULT_TEXT(type));
    }
    const tw_type *wanted = tw_op_result_type(check->kernel, op);
    if (type && type == wanted) return TW_OK;
    return tw_refuse(check, TW_ERR_INVALID, "the result must be %s (got %s)", TYPE_TEXT(wanted),
                     RESULT_TEXT(type));
}

/* ---- attributes ---- */

#define TEXT_LIMIT 64
#define LIST_LIMIT 128

/* A string attribute may hold anything: what cannot be shown is a '?'. */
static void append_quoted(tw_strbuf *text, const char *string) {
    tw_strbuf_char(text, '"');
    for (size_t i = 0; string[i]; i++) {
        if (i == TEXT_LIMIT) {
            tw_strbuf_append(text, "...");
            break;
        }
        tw_strbuf_char(text, string[i] >= ' ' && string[i] <= '~' ? string[i] : '?');
    }
    tw_strbuf_char(text, '"');
}

static void append_attr(tw_strbuf *text, const tw_attr *attr) {
    char number[TW_DOUBLE_TEXT_MAX];
    switch (attr->kind) {
    case TW_ATTR_NONE: tw_strbuf_append(text, "(missing)"); return;
    case TW_ATTR_INT: tw_strbuf_printf(text, "(got %" PRId64 ")", attr->as.i); return;
    case TW_ATTR_BOOL: tw_strbuf_printf(text, "(got %s)", attr->as.b ? "true" : "false"); return;
    case TW_ATTR_FLOAT:
        tw_format_double(attr->as.f, number);
        tw_strbuf_printf(text, "(got %s)", number);
        return;
    case TW_ATTR_STRING:
        tw_strbuf_append(text, "(got ");
        append_quoted(text, attr->as.s ? attr->as.s : "");
        tw_strbuf_char(text, ')');
        return;
    case TW_ATTR_INTS:
        tw_strbuf_append(text, "(got [");
        for (uint32_t i = 0; i < attr->as.ints.count && i < LIST_LIMIT; i++)
            tw_strbuf_printf(text, "%s%" PRId64, i ? ", " : "", attr->as.ints.values[i]);
        tw_strbuf_append(text, attr->as.ints.count > LIST_LIMIT ? ", ...])" : "])");
        return;
    }
    tw_strbuf_printf(text, "(got an attribute of kind %d)", (int)attr->kind);
}

static tw_status refuse_attr(const tw_check *check, const tw_attr_info *rule, const tw_attr *attr) {
    if (!check->diag) return TW_ERR_INVALID;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_printf(&text, "%s must be ", rule->name);
    switch (rule->rule) {
    case AR_INT: tw_strbuf_printf(&text, "an integer %" PRId64 "..%" PRId64 " ", rule->min, rule->max); break;
    case AR_BOOL: tw_strbuf_append(&text, "true or false "); break;
    case AR_ENUM:
        tw_strbuf_append(&text, "one of ");
        for (const char *const *word = rule->words; *word; word++)
            tw_strbuf_printf(&text, "%s ", *word);
        break;
    case AR_BITS: tw_strbuf_append(&text, "a number "); break;
    case AR_INTS:
        tw_strbuf_printf(&text, "a list of integers %" PRId64 "..%" PRId64 " ", rule->min, rule->max);
        break;
    case AR_STRING: tw_strbuf_append(&text, "a string "); break;
    }
    append_attr(&text, attr);
    tw_refuse(check, TW_ERR_INVALID, "%s", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return TW_ERR_INVALID;
}

static bool list_in_range(const tw_attr_info *rule, const tw_attr *attr) {
    for (uint32_t i = 0; i < attr->as.ints.count; i++)
        if (attr->as.ints.values[i] < rule->min || attr->as.ints.values[i] > rule->max) return false;
    return true;
}

static bool attr_fits(const tw_attr_info *rule, const tw_attr *attr) {
    if (attr->kind == TW_ATTR_NONE) return !rule->required;
    switch (rule->rule) {
    case AR_INT:
    case AR_ENUM: return attr->kind == TW_ATTR_INT && attr->as.i >= rule->min && attr->as.i <= rule->max;
    case AR_BOOL: return attr->kind == TW_ATTR_BOOL;
    case AR_BITS: return attr->kind == TW_ATTR_INT;
    case AR_INTS: return attr->kind == TW_ATTR_INTS && list_in_range(rule, attr);
    case AR_STRING: return attr->kind == TW_ATTR_STRING;
    }
    return false;
}

static tw_status check_attrs(const tw_check *check) {
    const tw_op_info *info = check->info;
    for (uint32_t i = 0; i < info->attr_count; i++)
        if (!attr_fits(&info->attrs[i], &check->op->attrs[i]))
            return refuse_attr(check, &info->attrs[i], &check->op->attrs[i]);
    return TW_OK;
}

/* ---- the whole op ---- */

static tw_rule *const extra_rules[TW_OPCODE_LIMIT] = {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) [number] = tw_rule_##rule,
#include "ir/opcodes.def"
#undef OP
};

tw_status tw_op_check(const tw_kernel *kernel, const tw_op *op, tw_diag *diag) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    if (!info)
        return tw_refuse_op(kernel, op, diag, TW_ERR_INVALID, "the opcode must have a row (got %d)",
                            (int)op->opcode);
    tw_check check = {kernel, op, info, diag};
    tw_status status = check_operands(&check);
    if (!status) status = check_attrs(&check);
    if (!status) status = check_result(&check);
    if (!status) status = extra_rules[op->opcode](&check);
    return status;
}
