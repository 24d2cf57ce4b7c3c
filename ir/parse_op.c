/* Ops in the text: %results = op.name LEADWORD operands {attributes} : type, as the op's row has them. */
#include "ir/parse.h"

#include <string.h>

tw_op *tw_parse_new_op(tw_parser *p, const tw_token *name, tw_opcode opcode, uint32_t operand_count,
                       uint32_t block_count) {
    tw_op *op = tw_op_new(p->kernel, opcode, operand_count, block_count);
    if (!op) {
        tw_parse_no_memory(p);
        return NULL;
    }
    op->line = name->line;
    op->column = name->column;
    return op;
}

/* The word of an enum; in `attr` its place. */
static bool parse_enum_word(tw_parser *p, const tw_attr_info *info, tw_attr *attr) {
    for (int64_t place = 0; info->words[place]; place++) {
        if (!tw_parse_at(p, info->words[place])) continue;
        *attr = (tw_attr){.kind = TW_ATTR_INT, .as.i = place};
        return tw_parse_next(p);
    }
    char words[160] = "";
    size_t length = 0;
    for (const char *const *word = info->words; *word && length + strlen(*word) + 3 < sizeof words; word++) {
        if (length) words[length++] = ' ';
        memcpy(words + length, *word, strlen(*word) + 1);
        length += strlen(*word);
    }
    char got[TW_TOKEN_TEXT_MAX];
    tw_token_describe(&p->token, got);
    return tw_parse_fail(p, &p->token, "expected a %s: %s (got %s)", info->name, words, got);
}

/* Enum words and the literal of a constant stand before the operands. The literal waits for the type. */
static bool parse_leading(tw_parser *p, const tw_op_info *row, tw_attr *attrs, tw_token *literal) {
    for (unsigned i = 0; i < row->attr_count; i++) {
        const tw_attr_info *info = &row->attrs[i];
        if (info->rule == AR_ENUM && !parse_enum_word(p, info, &attrs[i])) return false;
        if (info->rule != AR_BITS) continue;
        *literal = p->token;
        if (p->token.kind != TK_INT && p->token.kind != TK_FLOAT && !tw_parse_at(p, "true") &&
            !tw_parse_at(p, "false"))
            return tw_parse_expected(p, "a constant");
        if (!tw_parse_next(p)) return false;
    }
    return true;
}

static bool parse_operands(tw_parser *p) {
    bool more;
    do {
        tw_value value;
        if (!tw_parse_operand(p, &value)) return false;
        tw_parse_item *item = tw_parse_push(p);
        if (!item) return false;
        item->value = value;
        if (!tw_parse_accept(p, ",", &more)) return false;
    } while (more);
    return true;
}

/* name = value, one of the attributes in braces. */
static bool parse_attr(tw_parser *p, const tw_op_info *row, tw_attr *attrs) {
    tw_token name;
    unsigned place = 0;
    if (!tw_parse_take_kind(p, TK_WORD, "an attribute's name", &name)) return false;
    for (; place < row->attr_count; place++) {
        const tw_attr_info *info = &row->attrs[place];
        if (info->rule != AR_ENUM && info->rule != AR_BITS && tw_token_is(&name, info->name)) break;
    }
    if (place == row->attr_count)
        return tw_parse_fail(p, &name, "%s has no such attribute (got '%.*s')", row->name, (int)name.length,
                             name.text);
    if (attrs[place].kind != TW_ATTR_NONE)
        return tw_parse_fail(p, &name, "%s is given twice", row->attrs[place].name);
    return tw_parse_take(p, "=") && tw_parse_attr_value(p, &attrs[place]);
}

static bool parse_attrs(tw_parser *p, const tw_op_info *row, tw_attr *attrs) {
    bool more;
    if (!tw_parse_take(p, "{")) return false;
    do {
        if (!parse_attr(p, row, attrs) || !tw_parse_accept(p, ",", &more)) return false;
    } while (more);
    return tw_parse_take(p, "}");
}

/* The type at the end: of the result or, where there is none, once more that of operand 0. */
static bool parse_op_type(tw_parser *p, const tw_op_info *row, uint32_t first_operand, const tw_type **type) {
    if (!tw_parse_take(p, ":")) return false;
    tw_token at = p->token;
    if (!tw_parse_type(p, type)) return false;
    if (row->result != R_NONE) return true;
    const tw_type *wanted = tw_type_of(p->kernel, p->items[first_operand].value);
    if (*type == wanted) return true;
    char want[TW_TYPE_NAME_MAX], got[TW_TYPE_NAME_MAX];
    tw_type_format(wanted, want);
    tw_type_format(*type, got);
    return tw_parse_fail(p, &at, "%s: the type at the end must be that of operand 0, %s (got %s)", row->name,
                         want, got);
}

static bool finish_op(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result,
                      uint32_t first_operand, const tw_attr *attrs, const tw_type *type) {
    tw_op *op = tw_parse_new_op(p, name, row->opcode, p->item_count - first_operand, 0);
    if (!op) return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        op->operands[i] = p->items[first_operand + i].value;
    for (unsigned i = 0; i < row->attr_count; i++)
        op->attrs[i] = attrs[i];
    if (row->result != R_NONE && !tw_op_add_results(p->kernel, op, &type, 1)) return tw_parse_no_memory(p);
    tw_block_append(p->block, op);
    return row->result == R_NONE || tw_parse_define(p, &p->items[first_result].token, tw_op_result(op, 0));
}

static bool parse_plain(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result) {
    tw_attr attrs[TW_MAX_ATTRS] = {{0}};
    tw_token literal = {0};
    const tw_type *type = NULL;
    bool has_result = row->result != R_NONE;
    uint32_t names = p->item_count - first_result;
    if (names != has_result)
        return tw_parse_fail(p, name, "%s gives %s (got %u names)", row->name,
                             has_result ? "one result" : "no result", (unsigned)names);
    uint32_t first_operand = p->item_count;
    if (!parse_leading(p, row, attrs, &literal)) return false;
    /* Without this, the results of the next op would be read as operands. */
    bool takes_operands = row->operand_count || (row->more_operands && !tw_parse_at(p, "}"));
    if (takes_operands && !parse_operands(p)) return false;
    if (tw_parse_at(p, "{") && !parse_attrs(p, row, attrs)) return false;
    bool typed = row->effect != E_CONTROL && (has_result || takes_operands);
    if (typed && !parse_op_type(p, row, first_operand, &type)) return false;
    for (unsigned i = 0; i < row->attr_count; i++) {
        uint64_t bits;
        if (row->attrs[i].rule != AR_BITS) continue;
        if (!tw_parse_constant(p, &literal, type, &bits)) return false;
        attrs[i] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)bits};
    }
    return finish_op(p, name, row, first_result, first_operand, attrs, type);
}

static bool parse_result_names(tw_parser *p) {
    bool more;
    do {
        tw_token name;
        if (!tw_parse_take_kind(p, TK_VALUE, "a result, '%name'", &name)) return false;
        tw_parse_item *item = tw_parse_push(p);
        if (!item) return false;
        item->token = name;
        if (!tw_parse_accept(p, ",", &more)) return false;
    } while (more);
    return tw_parse_take(p, "=");
}

bool tw_parse_op(tw_parser *p) {
    uint32_t first_result = p->item_count;
    tw_token name;
    if (p->token.kind == TK_VALUE && !parse_result_names(p)) return false;
    name = p->token;
    const tw_op_info *row = name.kind == TK_WORD ? tw_op_info_by_name(name.text, name.length) : NULL;
    if (!row) return tw_parse_expected(p, "an op");
    if (!tw_parse_next(p)) return false;
    bool parsed = row->opcode == TW_OP_FOR  ? tw_parse_for(p, &name, row, first_result)
                  : row->opcode == TW_OP_IF ? tw_parse_if(p, &name, row, first_result)
                                            : parse_plain(p, &name, row, first_result);
    p->item_count = first_result;
    return parsed;
}
