/* Names, operands and literals in the text. */
#include <stdio.h>
#include <string.h>

#include "ir/literal.h"
#include "ir/parse.h"

/* ---- names ---- */

bool tw_parse_define(tw_parser *p, const tw_token *name, tw_value value) {
    bool found;
    if (!tw_name_table_insert(&p->names, name->text, name->length, value.id, &found))
        return tw_parse_no_memory(p);
    if (found)
        return tw_parse_fail(p, name, "a value has one definition (got a second one of %%%.*s)",
                             (int)name->length, name->text);
    if (name->text[0] >= '0' && name->text[0] <= '9') return true; /* a number is no wanted name */
    char *kept = tw_arena_strndup(&p->kernel->arena, name->text, name->length);
    if (!kept) return tw_parse_no_memory(p);
    p->kernel->values[value.id].name = kept;
    return true;
}

/* Values are visible in the block that defines them, after their definition, and in the regions inside it. */
static bool is_visible(const tw_parser *p, tw_value value) {
    const tw_value_info *info = tw_value_get(p->kernel, value);
    const tw_block *home = info->op ? info->op->parent : info->block;
    for (const tw_block *block = p->block; block; block = block->parent ? block->parent->parent : NULL)
        if (block == home) return true;
    return false;
}

/* ---- operands ---- */

/* A bare integer is an i32 constant. All stand at the head of the body, one for each spelling. */
static bool bare_integer(tw_parser *p, const tw_token *literal, tw_value *value) {
    const tw_type *type = tw_type_scalar(TW_I32);
    bool found;
    uint64_t bits;
    tw_name_entry *entry = tw_name_table_insert(&p->constants, literal->text, literal->length, 0, &found);
    if (!entry) return tw_parse_no_memory(p);
    if (found) {
        value->id = entry->value;
        return true;
    }
    if (!tw_parse_constant(p, literal, type, &bits)) return false;
    tw_op *op = tw_parse_new_op(p, literal, TW_OP_CONSTANT, 0, 0);
    if (!op) return false;
    op->attrs[0] = (tw_attr){.kind = TW_ATTR_INT, .as.i = (int64_t)bits};
    if (!tw_op_add_results(p->kernel, op, &type, 1)) return tw_parse_no_memory(p);
    if (p->kernel->body.first) {
        tw_block_insert_before(p->kernel->body.first, op);
    } else {
        tw_block_append(&p->kernel->body, op);
    }
    *value = tw_op_result(op, 0);
    entry->value = value->id;
    return true;
}

bool tw_parse_operand(tw_parser *p, tw_value *value) {
    tw_token token = p->token;
    if (token.kind == TK_INT) return bare_integer(p, &token, value) && tw_parse_next(p);
    if (token.kind != TK_VALUE) return tw_parse_expected(p, "an operand, '%name' or an integer");
    const tw_name_entry *entry = tw_name_table_find(&p->names, token.text, token.length);
    if (!entry)
        return tw_parse_fail(p, &token, "a value must be defined before it is used (got %%%.*s)",
                             (int)token.length, token.text);
    value->id = entry->value;
    if (!is_visible(p, *value))
        return tw_parse_fail(p, &token,
                             "a value must be visible where it is used: its region has ended (got %%%.*s)",
                             (int)token.length, token.text);
    return tw_parse_next(p);
}

/* ---- attributes ---- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Resolves \" \\ and \xHH. */
static bool unescape(tw_parser *p, const tw_token *token, const char **out) {
    char *text = TW_ARENA_NEW(&p->kernel->arena, char, token->length + 1);
    size_t length = 0;
    if (!text) return tw_parse_no_memory(p);
    for (uint32_t i = 0; i < token->length; i++) {
        char c = token->text[i];
        if (c == '\\') {
            c = token->text[++i]; /* the lexer never ends a string after a backslash */
            if (c == 'x') {
                int high = i + 2 < token->length ? hex_digit(token->text[i + 1]) : -1;
                int low = i + 2 < token->length ? hex_digit(token->text[i + 2]) : -1;
                c = high < 0 || low < 0 ? '\0' : (char)(high * 16 + low);
                i += 2;
            } else if (c != '"' && c != '\\') {
                c = '\0';
            }
            if (!c)
                return tw_parse_fail(p, token, "escapes are \\\", \\\\ and \\xHH, not \\x00 (got \"%.*s\")",
                                     (int)token->length, token->text);
        }
        text[length++] = c;
    }
    *out = text;
    return true;
}

static bool take_int(tw_parser *p, int64_t *value) {
    tw_token token;
    if (!tw_parse_take_kind(p, TK_INT, "an integer", &token)) return false;
    if (token.hex && token.integer < 0)
        return tw_parse_fail(p, &token, "an integer must fit in 63 bits and a sign (got %.*s)",
                             (int)token.length, token.text);
    *value = token.integer;
    return true;
}

static bool parse_ints(tw_parser *p, tw_attr *attr) {
    int64_t *values = NULL;
    uint32_t count = 0, capacity = 0;
    if (!tw_parse_next(p)) return false;
    for (bool more = !tw_parse_at(p, "]"); more;) {
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            int64_t *larger = TW_ARENA_NEW(&p->kernel->arena, int64_t, capacity);
            if (!larger) return tw_parse_no_memory(p);
            if (count) memcpy(larger, values, count * sizeof *values);
            values = larger;
        }
        if (!take_int(p, &values[count++]) || !tw_parse_accept(p, ",", &more)) return false;
    }
    *attr = (tw_attr){.kind = TW_ATTR_INTS, .as.ints = {values, count}};
    return tw_parse_take(p, "]");
}

bool tw_parse_attr_value(tw_parser *p, tw_attr *attr) {
    tw_token token = p->token;
    *attr = (tw_attr){.kind = TW_ATTR_NONE};
    if (tw_parse_at(p, "[")) return parse_ints(p, attr);
    switch (token.kind) {
    case TK_INT: attr->kind = TW_ATTR_INT; return take_int(p, &attr->as.i);
    case TK_FLOAT:
        attr->kind = TW_ATTR_FLOAT;
        attr->as.f = token.real;
        return tw_parse_next(p);
    case TK_STRING: attr->kind = TW_ATTR_STRING; return unescape(p, &token, &attr->as.s) && tw_parse_next(p);
    default: break;
    }
    bool is_true = tw_parse_at(p, "true");
    if (!is_true && !tw_parse_at(p, "false"))
        return tw_parse_expected(
            p, "an attribute's value: an integer, a decimal, true, false, a string or a list");
    attr->kind = TW_ATTR_BOOL;
    attr->as.b = is_true;
    return tw_parse_next(p);
}

/* ---- constants ---- */

static bool bad_constant(tw_parser *p, const tw_token *literal, tw_scalar scalar, const char *rule) {
    return tw_parse_fail(p, literal, "a constant of type %s %s (got %.*s)", tw_scalar_name(scalar), rule,
                         (int)literal->length, literal->text);
}

static bool integer_constant(tw_parser *p, const tw_token *literal, tw_scalar scalar, uint64_t *bits) {
    unsigned width = tw_scalar_bits(scalar);
    int64_t highest = INT64_MAX >> (64 - width);
    if (literal->kind != TK_INT) return bad_constant(p, literal, scalar, "is an integer");
    if (literal->integer < -highest - 1 || literal->integer > highest) {
        char rule[80];
        snprintf(rule, sizeof rule, "must be %lld..%lld", (long long)(-highest - 1), (long long)highest);
        return bad_constant(p, literal, scalar, rule);
    }
    *bits = (uint64_t)literal->integer << (64 - width) >> (64 - width);
    return true;
}

bool tw_parse_constant(tw_parser *p, const tw_token *literal, const tw_type *type, uint64_t *bits) {
    tw_scalar scalar = type->scalar;
    unsigned width = tw_scalar_bits(scalar);
    *bits = 0;
    /* What else a constant cannot be is for the rules to say. */
    if (type->kind != TW_TYPE_SCALAR && type->kind != TW_TYPE_VECTOR) return true;
    if (scalar == TW_I1) {
        if (literal->kind != TK_WORD) return bad_constant(p, literal, scalar, "is true or false");
        *bits = tw_token_is(literal, "true");
        return true;
    }
    if (literal->kind == TK_INT && literal->hex) {
        *bits = (uint64_t)literal->integer;
        if (width < 64 && *bits >> width)
            return bad_constant(p, literal, scalar, "has no more bits than its type");
        return true;
    }
    if (tw_scalar_is_int(scalar)) return integer_constant(p, literal, scalar, bits);
    if (literal->kind != TK_FLOAT || !tw_scalar_is_float(scalar))
        return bad_constant(p, literal, scalar,
                            tw_scalar_is_float(scalar) ? "is a decimal with a point, or 0x and its bits"
                                                       : "is 0x and its bits");
    if (!tw_literal_round(scalar, literal->real, bits))
        return bad_constant(p, literal, scalar, "must be finite after rounding");
    return true;
}
