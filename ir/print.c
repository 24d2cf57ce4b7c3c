/* The canonical text of a kernel: what goldens hash and the parser reads. */
#include "ir/literal.h"
#include "ir/value_names.h"
#include "support/fail.h"

typedef struct printer {
    const tw_kernel *kernel;
    tw_strbuf out;
    tw_value_names names;
    unsigned depth;
} printer;

static void print_name(printer *p, tw_value value) {
    const tw_value_name *name = &p->names.names[value.id];
    tw_strbuf_char(&p->out, '%');
    if (name->text) {
        tw_strbuf_append_n(&p->out, name->text, name->length);
    } else if (name->known) {
        tw_strbuf_u64(&p->out, name->number);
    } else {
        tw_strbuf_append(&p->out, "<undefined>"); /* only in kernels that do not verify */
    }
}

/* ---- values, types, attributes ---- */

static void print_type(printer *p, const tw_type *type) {
    char text[TW_TYPE_NAME_MAX] = "<none>"; /* the type of poison */
    if (type) tw_type_format(type, text);
    tw_strbuf_append(&p->out, text);
}

static void print_operand(printer *p, const tw_op *op, uint32_t index) {
    tw_value value = index < op->operand_count ? op->operands[index] : (tw_value){0};
    if (tw_value_is_inline(p->kernel, value)) {
        tw_strbuf_i64(&p->out, (int32_t)tw_value_get(p->kernel, value)->op->attrs[0].as.i);
    } else {
        print_name(p, value);
    }
}

static void print_attr_value(printer *p, const tw_attr *attr) {
    switch (attr->kind) {
    case TW_ATTR_NONE: break;
    case TW_ATTR_INT: tw_strbuf_i64(&p->out, attr->as.i); break;
    case TW_ATTR_BOOL: tw_strbuf_append(&p->out, attr->as.b ? "true" : "false"); break;
    case TW_ATTR_FLOAT: tw_literal_double(&p->out, attr->as.f); break;
    case TW_ATTR_STRING: tw_literal_string(&p->out, attr->as.s); break;
    case TW_ATTR_INTS:
        tw_strbuf_char(&p->out, '[');
        for (uint32_t i = 0; i < attr->as.ints.count; i++) {
            if (i) tw_strbuf_append(&p->out, ", ");
            tw_strbuf_i64(&p->out, attr->as.ints.values[i]);
        }
        tw_strbuf_char(&p->out, ']');
        break;
    }
}

/* Attributes that lead the operands: the word of an enum, the bits of a constant. */
static bool leads(const tw_attr_info *info) { return info->rule == AR_ENUM || info->rule == AR_BITS; }

static void print_leading_attr(printer *p, const tw_op *op, const tw_attr_info *info, const tw_attr *attr) {
    if (attr->kind == TW_ATTR_NONE) return;
    tw_strbuf_char(&p->out, ' ');
    if (attr->kind == TW_ATTR_INT && info->rule == AR_ENUM && attr->as.i >= 0 && attr->as.i <= info->max) {
        tw_strbuf_append(&p->out, info->words[attr->as.i]);
        return;
    }
    const tw_type *type = op->result_count ? tw_type_of(p->kernel, op->first_result) : NULL;
    if (attr->kind == TW_ATTR_INT && info->rule == AR_BITS && type) {
        tw_literal_constant(&p->out, type->scalar, (uint64_t)attr->as.i);
    } else {
        print_attr_value(p, attr);
    }
}

static bool is_default(const tw_attr_info *info, const tw_attr *attr) {
    if (attr->kind == TW_ATTR_NONE) return true;
    if (info->required) return false;
    if (info->rule == AR_INT) return attr->kind == TW_ATTR_INT && attr->as.i == info->default_value;
    if (info->rule == AR_BOOL) return attr->kind == TW_ATTR_BOOL && attr->as.b == (info->default_value != 0);
    return false;
}

static void print_attrs(printer *p, const tw_op *op, const tw_op_info *row) {
    bool first = true;
    for (unsigned i = 0; i < row->attr_count; i++) {
        const tw_attr_info *info = &row->attrs[i];
        if (leads(info) || is_default(info, &op->attrs[i])) continue;
        tw_strbuf_append(&p->out, first ? " {" : ", ");
        tw_strbuf_append(&p->out, info->name);
        tw_strbuf_append(&p->out, " = ");
        print_attr_value(p, &op->attrs[i]);
        first = false;
    }
    if (!first) tw_strbuf_char(&p->out, '}');
}

/* ---- ops ---- */

static void print_block(printer *p, const tw_block *block);

static void indent(printer *p) {
    for (unsigned i = 0; i < p->depth; i++)
        tw_strbuf_append(&p->out, "  ");
}

static void print_results(printer *p, const tw_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (i) tw_strbuf_append(&p->out, ", ");
        print_name(p, tw_op_result(op, i));
    }
    if (op->result_count) tw_strbuf_append(&p->out, " = ");
}

static void print_result_types(printer *p, const tw_op *op) {
    if (!op->result_count) return;
    tw_strbuf_append(&p->out, " -> (");
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (i) tw_strbuf_append(&p->out, ", ");
        print_type(p, tw_type_of(p->kernel, tw_op_result(op, i)));
    }
    tw_strbuf_char(&p->out, ')');
}

static void print_region(printer *p, const tw_block *block) {
    tw_strbuf_append(&p->out, " {\n");
    p->depth++;
    print_block(p, block);
    p->depth--;
    indent(p);
    tw_strbuf_char(&p->out, '}');
}

static void print_for(printer *p, const tw_op *op, const tw_op_info *row) {
    const tw_block *body = &op->blocks[0];
    static const char *const before[] = {" = ", " to ", " step "};
    tw_strbuf_char(&p->out, ' ');
    if (body->arg_count) print_name(p, body->args[0]);
    for (uint32_t i = 0; i < 3; i++) {
        tw_strbuf_append(&p->out, before[i]);
        print_operand(p, op, i);
    }
    for (uint32_t i = 1; i < body->arg_count; i++) {
        tw_strbuf_append(&p->out, i == 1 ? " carry(" : ", ");
        print_name(p, body->args[i]);
        tw_strbuf_append(&p->out, " = ");
        print_operand(p, op, i + 2);
        tw_strbuf_append(&p->out, " : ");
        print_type(p, tw_type_of(p->kernel, body->args[i]));
    }
    if (body->arg_count > 1) tw_strbuf_char(&p->out, ')');
    print_result_types(p, op);
    for (unsigned i = 0; i < row->attr_count; i++) {
        if (is_default(&row->attrs[i], &op->attrs[i])) continue;
        tw_strbuf_printf(&p->out, " %s(", row->attrs[i].name);
        print_attr_value(p, &op->attrs[i]);
        tw_strbuf_char(&p->out, ')');
    }
    print_region(p, body);
}

static void print_if(printer *p, const tw_op *op) {
    tw_strbuf_char(&p->out, ' ');
    print_operand(p, op, 0);
    print_result_types(p, op);
    print_region(p, &op->blocks[0]);
    if (op->block_count < 2) return;
    tw_strbuf_append(&p->out, " else");
    print_region(p, &op->blocks[1]);
}

static void print_plain(printer *p, const tw_op *op, const tw_op_info *row) {
    for (unsigned i = 0; i < row->attr_count; i++)
        if (leads(&row->attrs[i])) print_leading_attr(p, op, &row->attrs[i], &op->attrs[i]);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        tw_strbuf_append(&p->out, i ? ", " : " ");
        print_operand(p, op, i);
    }
    print_attrs(p, op, row);
    if (row->opcode == TW_OP_YIELD || !(op->result_count || op->operand_count)) return;
    tw_strbuf_append(&p->out, " : ");
    print_type(p, tw_type_of(p->kernel, op->result_count ? op->first_result : op->operands[0]));
}

static void print_op(printer *p, const tw_op *op) {
    const tw_op_info *row = tw_op_info_get(op->opcode);
    if (op->opcode == TW_OP_CONSTANT && op->result_count && tw_value_is_inline(p->kernel, op->first_result))
        return;
    if (op->opcode == TW_OP_YIELD && op->operand_count == 0 && op->parent->parent) return;
    indent(p);
    print_results(p, op);
    tw_strbuf_append(&p->out, row->name);
    if (op->opcode == TW_OP_FOR) {
        print_for(p, op, row);
    } else if (op->opcode == TW_OP_IF) {
        print_if(p, op);
    } else {
        print_plain(p, op, row);
    }
    tw_strbuf_char(&p->out, '\n');
}

static void print_block(printer *p, const tw_block *block) {
    for (const tw_op *op = block->first; op; op = op->next)
        print_op(p, op);
}

/* ---- the kernel ---- */

static void print_options(printer *p) {
    const tw_kernel_options *o = &p->kernel->options;
    char target[TW_TARGET_NAME_MAX];
    tw_target_format(p->kernel->target, target);
    tw_strbuf_printf(&p->out, " target(\"%s\") workgroup(%u", target, (unsigned)o->workgroup_size);
    if (o->workgroup_size_y > 1 || o->workgroup_size_z > 1)
        tw_strbuf_printf(&p->out, ", %u, %u", (unsigned)(o->workgroup_size_y ? o->workgroup_size_y : 1),
                         (unsigned)(o->workgroup_size_z ? o->workgroup_size_z : 1));
    tw_strbuf_char(&p->out, ')');
    if (o->min_waves_per_eu || o->max_waves_per_eu) {
        tw_strbuf_printf(&p->out, " waves_per_eu(%u", (unsigned)o->min_waves_per_eu);
        if (o->max_waves_per_eu) tw_strbuf_printf(&p->out, ", %u", (unsigned)o->max_waves_per_eu);
        tw_strbuf_char(&p->out, ')');
    }
    if (o->flush_f32_denormals) tw_strbuf_append(&p->out, " denormals(flush)");
}

static void print_params(printer *p) {
    tw_strbuf_append(&p->out, " (");
    for (uint32_t i = 0; i < p->kernel->body.arg_count; i++) {
        tw_value value = p->kernel->body.args[i];
        unsigned flags = p->kernel->params[i].flags;
        if (i) tw_strbuf_append(&p->out, ", ");
        print_name(p, value);
        tw_strbuf_append(&p->out, ": ");
        print_type(p, tw_type_of(p->kernel, value));
        if (!flags) continue;
        tw_strbuf_append(&p->out, " {");
        if (flags & TW_PARAM_READONLY) tw_strbuf_append(&p->out, "readonly");
        if ((flags & TW_PARAM_READONLY) && (flags & TW_PARAM_NOALIAS)) tw_strbuf_append(&p->out, ", ");
        if (flags & TW_PARAM_NOALIAS) tw_strbuf_append(&p->out, "noalias");
        tw_strbuf_char(&p->out, '}');
    }
    tw_strbuf_char(&p->out, ')');
}

tw_status tw_kernel_to_text(const tw_kernel *kernel, char **text, size_t *length, tw_diag *diag) {
    printer p = {.kernel = kernel};
    *text = NULL;
    if (length) *length = 0;
    tw_strbuf_init(&p.out, NULL); /* malloc: the caller frees the text with free() */
    if (tw_value_names_init(&p.names, kernel, NULL)) {
        tw_strbuf_printf(&p.out, "tile.kernel @%s", kernel->name);
        print_options(&p);
        print_params(&p);
        print_region(&p, &kernel->body);
        tw_strbuf_char(&p.out, '\n');
        *text = tw_strbuf_take(&p.out, length);
    }
    tw_strbuf_free(&p.out);
    tw_value_names_free(&p.names);
    return *text ? TW_OK : tw_fail_no_memory(diag);
}
