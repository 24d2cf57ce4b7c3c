/* What the files of the parser share. A function that returns false has left a diagnostic, and nothing more
 * is read after it. */
#ifndef TW_IR_PARSE_H
#define TW_IR_PARSE_H

#include "ir/ir.h"
#include "ir/lex.h"
#include "ir/name_table.h"
#include "ir/rules.h"

/* An entry of a list that is being read: the name on the left, the value given, its type; not all lists have
 * all three. */
typedef struct tw_parse_item {
    tw_token token;
    tw_value value;
    const tw_type *type;
} tw_parse_item;

typedef struct tw_parser {
    tw_context *ctx;
    tw_diag *diag;
    const char *source;
    tw_lexer lexer;
    tw_token token; /* the one to be read next */
    tw_status status;
    tw_kernel *kernel;
    tw_block *block; /* that is being filled */
    unsigned depth;
    tw_name_table names;     /* of values: the id */
    tw_name_table constants; /* bare integers by their spelling: the id */
    tw_arena scratch;        /* lives as long as the parser */
    tw_parse_item *items;    /* a stack: lists nest as regions do */
    uint32_t item_count, item_capacity;
} tw_parser;

/* ---- ir/parse.c ---- */
bool tw_parse_fail(tw_parser *p, const tw_token *at, const char *format, ...) TW_PRINTF(3, 4);
bool tw_parse_no_memory(tw_parser *p);
/* "expected <what> (got <the next token>)". */
bool tw_parse_expected(tw_parser *p, const char *what);
bool tw_parse_next(tw_parser *p);
bool tw_parse_at(const tw_parser *p, const char *text); /* the next token is this word or punctuation */
bool tw_parse_accept(tw_parser *p, const char *text, bool *accepted);
bool tw_parse_take(tw_parser *p, const char *text);
bool tw_parse_take_kind(tw_parser *p, tw_token_kind kind, const char *what, tw_token *token);
tw_parse_item *tw_parse_push(tw_parser *p);
/* Calls `entry` for each entry of a list in parentheses, "(a, b)" or "()". */
bool tw_parse_list(tw_parser *p, const char *open, const char *close, bool (*entry)(tw_parser *p));

/* ---- ir/parse_type.c ---- */
bool tw_parse_type(tw_parser *p, const tw_type **type);

/* ---- ir/parse_value.c ---- */
/* Makes `name` (a %name) mean `value`; refuses a second one. */
bool tw_parse_define(tw_parser *p, const tw_token *name, tw_value value);
/* A %name that is visible here, or a bare integer. */
bool tw_parse_operand(tw_parser *p, tw_value *value);
/* 20, 20.9, true, "x", [1, 2]: the kind is kept, for the rules to judge. */
bool tw_parse_attr_value(tw_parser *p, tw_attr *attr);
/* The literal of an arith.constant of that type, as bits. */
bool tw_parse_constant(tw_parser *p, const tw_token *literal, const tw_type *type, uint64_t *bits);

/* ---- ir/parse_op.c ---- */
/* One op with its results; control ops go to ir/parse_region.c. */
bool tw_parse_op(tw_parser *p);
tw_op *tw_parse_new_op(tw_parser *p, const tw_token *name, tw_opcode opcode, uint32_t operand_count,
                       uint32_t block_count);

/* ---- ir/parse_region.c: after the op's name; the names of the results are items from `first_result` on.
 * ---- */
bool tw_parse_for(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result);
bool tw_parse_if(tw_parser *p, const tw_token *name, const tw_op_info *row, uint32_t first_result);

#endif
