/* scf.for and scf.if in the text. */
#include "ir/parse.h"

/* { ops }: fills `block`, which gets the yield that the text may leave out. */
static bool parse_region(tw_parser *p, tw_block *block) {
    tw_block *outer = p->block;
    const tw_token open = p->token;
    if (p->depth == TW_DEPTH_MAX) {
        p->status = tw_fail_at(p->diag, TW_ERR_LIMIT, p->source, open.line, open.column,
                               "regions nest at most %d deep", TW_DEPTH_MAX);
        return false;
    }
    if (!tw_parse_take(p, "{")) return false;
    p->block = block;
    p->depth++;
    while (!tw_parse_at(p, "}")) {
        if (p->token.kind == TK_END) return tw_parse_expected(p, "an op or '}'");
        if (!tw_parse_op(p)) return false;
    }
    if (!block->last || block->last->opcode != TW_OP_YIELD) {
        tw_op *yield = tw_parse_new_op(p, &p->token, TW_OP_YIELD, 0, 0);
        if (!yield) return false;
        tw_block_append(block, yield);
    }
    p->depth--;
    p->block = outer;
    return tw_parse_next(p);
}

static bool parse_result_type(tw_parser *p) {
    const tw_type *type;
    if (!tw_parse_type(p, &type)) return false;
    tw_parse_item *item = tw_parse_push(p);
    if (!item) return false;
    item->type = type;
    return true;
}

/* -> (types), one for each name on the left: items from *first_type on. */
static bool parse_result_types(tw_parser *p, const tw_op_info *row, const tw_token *name, uint32_t names,
                               uint32_t *first_type) {
    bool given;
    *first_type = p->item_count;
    if (!tw_parse_accept(p, "->", &given)) return false;
    if (given && !tw_parse_list(p, "(", ")", parse_result_type)) return false;
    uint32_t types = p->item_count - *first_type;
    if (names == types) return true;
    return tw_parse_fail(p, name, "%s gives %u results by its types (got %u names)", row->name,
                         (unsigned)types, (unsigned)names);
}

static bool add_results(tw_parser *p, tw_op *op, uint32_t first_type, uint32_t count) {
    if (!count) return true;
    const tw_type **types = TW_ARENA_NEW(&p->scratch, const tw_type *, count);
    if (!types) return tw_parse_no_memory(p);
    for (uint32_t i = 0; i < count; i++)
        types[i] = p->items[first_type + i].type;
    return tw_op_add_results(p->kernel, op, types, count) ? true : tw_parse_no_memory(p);
}

/* The results are visible after the op only. */
static bool define_results(tw_parser *p, const tw_op *op, uint32_t first_result) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (!tw_parse_define(p, &p->items[first_result + i].token, tw_op_result(op, i))) return false;
    return true;
}

/* %name = operand : type, one of carry(...). */
static bool parse_carry(tw_parser *p) {
    tw_parse_item carry = {.token = {.kind = TK_BAD}};
    if (!tw_parse_take_kind(p, TK_VALUE, "a carried value, '%name'", &carry.token) ||
        !tw_parse_take(p, "=") || !tw_parse_operand(p, &carry.value) || !tw_parse_take(p, ":") ||
        !tw_parse_type(p, &carry.type))
        return false;
    tw_parse_item *item = tw_parse_push(p);
    if (!item) return false;
    *item = carry;
    return true;
}

/* %index = from to limit step step: three items, the first with the index's name. */
static bool parse_range(tw_parser *p) {
    static const char *const before[] = {"=", "to", "step"};
    tw_token index;
    if (!tw_parse_take_kind(p, TK_VALUE, "the index, '%name'", &index)) return false;
    for (int i = 0; i < 3; i++) {
        tw_value value;
        if (!tw_parse_take(p, before[i]) || !tw_parse_operand(p, &value)) return false;
        tw_parse_item *item = tw_parse_push(p);
        if (!item) return false;
        item->token = index;
        item->value = value;
    }
    return true;
}

/* keyword(value): an attribute of the row. */
static bool parse_keywords(tw_parser *p, const tw_op_info *row, tw_attr *attrs) {
    while (!tw_parse_at(p, "{")) {
        unsigned place = 0;
        while (place < row->attr_count && !tw_parse_at(p, row->attrs[place].name))
            place++;
        if (place == row->attr_count) return tw_parse_expected(p, "'{'");
        if (attrs[place].kind != TW_ATTR_NONE)
            return tw_parse_fail(p, &p->token, "%s is given twice", row->attrs[place].name);
        if (!tw_parse_next(p) || !tw_parse_take(p, "(") || !tw_parse_attr_value(p, &attrs[place]) ||
            !tw_parse_take(p, ")"))
            return false;
    }
    return true;
}

/* The index and the carried values as arguments of the body. */
static bool add_arguments(tw_parser *p, tw_op *op, uint32_t first_operand) {
    tw_block *body = &op->blocks[0];
    for (uint32_t i = 2; i < op->operand_count; i++) {
        bool index = i == 2;
        tw_parse_item item = p->items[index ? first_operand : first_operand + i];
        const tw_type *type = index ? tw_type_of(p->kernel, item.value) : item.type;
        tw_value argument;
        if (!tw_block_add_arg(p->kernel, body, type, &argument)) return tw_parse_no_memory(p);
        if (!tw_parse_define(p, &item.token, argument)) return false;
    }
    return true;
}

bool tw_parse_for(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result) {
    uint32_t names = p->item_count - first_result;
    uint32_t first_operand = p->item_count;
    uint32_t first_type;
    tw_attr attrs[TW_MAX_ATTRS] = {{0}};
    if (!parse_range(p)) return false;
    if (tw_parse_at(p, "carry") && (!tw_parse_next(p) || !tw_parse_list(p, "(", ")", parse_carry)))
        return false;
    uint32_t operands = p->item_count - first_operand;
    if (!parse_result_types(p, row, name, names, &first_type) || !parse_keywords(p, row, attrs)) return false;
    tw_op *op = tw_parse_new_op(p, name, row->opcode, operands, 1);
    if (!op) return false;
    for (uint32_t i = 0; i < operands; i++)
        op->operands[i] = p->items[first_operand + i].value;
    for (unsigned i = 0; i < row->attr_count; i++)
        op->attrs[i] = attrs[i];
    if (!add_results(p, op, first_type, names)) return false;
    tw_block_append(p->block, op);
    return add_arguments(p, op, first_operand) && parse_region(p, &op->blocks[0]) &&
           define_results(p, op, first_result);
}

bool tw_parse_if(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result) {
    uint32_t names = p->item_count - first_result;
    uint32_t first_type;
    tw_value condition;
    bool has_else;
    if (!tw_parse_operand(p, &condition) || !parse_result_types(p, row, name, names, &first_type))
        return false;
    /* Whether there is a second region is known only after the first: room for two, as in tw_if_begin. */
    tw_op *op = tw_parse_new_op(p, name, row->opcode, 1, 2);
    if (!op) return false;
    op->operands[0] = condition;
    if (!add_results(p, op, first_type, names)) return false;
    tw_block_append(p->block, op);
    if (!parse_region(p, &op->blocks[0]) || !tw_parse_accept(p, "else", &has_else)) return false;
    if (has_else) {
        if (!parse_region(p, &op->blocks[1])) return false;
    } else {
        op->block_count = 1;
    }
    return define_results(p, op, first_result);
}
