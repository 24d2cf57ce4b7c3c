/* Reads the text of a kernel: the head, the options, the parameters. Untrusted input: what is not refused
 * here has the form that ir/ir.h describes, and the verifier judges it. */
#include "ir/parse.h"

#include <string.h>

#include "support/fail.h"
#include "support/strbuf.h"

/* ---- what all parts use ---- */

bool tw_parse_fail(tw_parser *p, const tw_token *at, const char *format, ...) {
    tw_strbuf text;
    va_list arguments;
    tw_strbuf_init(&text, p->ctx->allocator);
    va_start(arguments, format);
    tw_strbuf_vprintf(&text, format, arguments);
    va_end(arguments);
    p->status =
        tw_fail_at(p->diag, TW_ERR_INVALID, p->source, at->line, at->column, "%s", tw_strbuf_text(&text));
    tw_strbuf_free(&text);
    return false;
}

bool tw_parse_no_memory(tw_parser *p) {
    p->status = tw_fail_no_memory(p->diag);
    return false;
}

bool tw_parse_expected(tw_parser *p, const char *what) {
    char got[TW_TOKEN_TEXT_MAX];
    tw_token_describe(&p->token, got);
    return tw_parse_fail(p, &p->token, "expected %s (got %s)", what, got);
}

bool tw_parse_next(tw_parser *p) {
    p->token = tw_lexer_next(&p->lexer);
    if (p->token.kind != TK_BAD) return true;
    p->status = TW_ERR_INVALID;
    return false;
}

bool tw_parse_at(const tw_parser *p, const char *text) { return tw_token_is(&p->token, text); }

bool tw_parse_accept(tw_parser *p, const char *text, bool *accepted) {
    *accepted = tw_parse_at(p, text);
    return !*accepted || tw_parse_next(p);
}

bool tw_parse_take(tw_parser *p, const char *text) {
    char what[32];
    if (tw_parse_at(p, text)) return tw_parse_next(p);
    size_t length = strlen(text);
    what[0] = '\'';
    memcpy(what + 1, text, length);
    memcpy(what + 1 + length, "'", 2);
    return tw_parse_expected(p, what);
}

bool tw_parse_take_kind(tw_parser *p, tw_token_kind kind, const char *what, tw_token *token) {
    *token = p->token;
    return p->token.kind == kind ? tw_parse_next(p) : tw_parse_expected(p, what);
}

tw_parse_item *tw_parse_push(tw_parser *p) {
    if (p->item_count == p->item_capacity) {
        uint32_t capacity = p->item_capacity ? p->item_capacity * 2 : 32;
        tw_parse_item *items = TW_ARENA_NEW(&p->scratch, tw_parse_item, capacity);
        if (!items) {
            tw_parse_no_memory(p);
            return NULL;
        }
        if (p->items) memcpy(items, p->items, p->item_count * sizeof *items);
        p->items = items;
        p->item_capacity = capacity;
    }
    tw_parse_item *item = &p->items[p->item_count++];
    *item = (tw_parse_item){.token = {.kind = TK_BAD}};
    return item;
}

bool tw_parse_list(tw_parser *p, const char *open, const char *close, bool (*entry)(tw_parser *p)) {
    bool more;
    if (!tw_parse_take(p, open)) return false;
    if (!tw_parse_at(p, close)) {
        do {
            if (!entry(p) || !tw_parse_accept(p, ",", &more)) return false;
        } while (more);
    }
    return tw_parse_take(p, close);
}

/* ---- the head ---- */

typedef struct head {
    tw_token name;
    tw_target target;
    tw_kernel_options options;
    bool has_target, has_workgroup, has_waves, has_denormals;
} head;

/* keyword(a, b, ...): up to `limit` numbers that fit in 32 bits. */
static bool parse_numbers(tw_parser *p, const char *keyword, uint32_t *numbers, unsigned limit) {
    unsigned count = 0;
    bool more;
    if (!tw_parse_take(p, "(")) return false;
    do {
        tw_token number;
        if (!tw_parse_take_kind(p, TK_INT, "an integer", &number)) return false;
        if (number.integer < 0 || number.integer > UINT32_MAX)
            return tw_parse_fail(p, &number, "%s takes integers 0..4294967295 (got %.*s)", keyword,
                                 (int)number.length, number.text);
        if (count == limit)
            return tw_parse_fail(p, &number, "%s takes at most %u integers (got a further %.*s)", keyword,
                                 limit, (int)number.length, number.text);
        numbers[count++] = (uint32_t)number.integer;
        if (!tw_parse_accept(p, ",", &more)) return false;
    } while (more);
    return tw_parse_take(p, ")");
}

static bool parse_target(tw_parser *p, head *h, const tw_target *override) {
    tw_token text;
    if (!tw_parse_take(p, "(") || !tw_parse_take_kind(p, TK_STRING, "a target in quotes", &text))
        return false;
    if (!override) {
        const char *name = tw_arena_strndup(&p->scratch, text.text, text.length);
        tw_diag *why = name ? tw_diag_new(p->ctx->allocator) : NULL;
        if (!why) return tw_parse_no_memory(p);
        tw_status status = tw_target_parse(name, &h->target, why);
        if (status) tw_parse_fail(p, &text, "%s", tw_diag_first_error(why));
        tw_diag_free(why);
        if (status) return false;
    }
    return tw_parse_take(p, ")");
}

/* One of the keywords between the name and the parameters; *done when there is none left. */
static bool parse_option(tw_parser *p, head *h, const tw_target *override, bool *done) {
    static const char *const keywords[] = {"target", "workgroup", "waves_per_eu", "denormals"};
    bool *const seen[] = {&h->has_target, &h->has_workgroup, &h->has_waves, &h->has_denormals};
    unsigned which = 0;
    while (which < 4 && !tw_parse_at(p, keywords[which]))
        which++;
    *done = which == 4;
    if (*done) return true;
    if (*seen[which]) return tw_parse_fail(p, &p->token, "%s is given twice", keywords[which]);
    *seen[which] = true;
    if (!tw_parse_next(p)) return false;
    if (which == 0) return parse_target(p, h, override);
    if (which == 3)
        return tw_parse_take(p, "(") && tw_parse_take(p, "flush") && tw_parse_take(p, ")") &&
               (h->options.flush_f32_denormals = true);
    uint32_t numbers[3] = {0};
    if (!parse_numbers(p, keywords[which], numbers, which == 1 ? 3 : 2)) return false;
    if (which == 1) {
        h->options.workgroup_size = numbers[0];
        h->options.workgroup_size_y = numbers[1];
        h->options.workgroup_size_z = numbers[2];
    } else {
        h->options.min_waves_per_eu = numbers[0];
        h->options.max_waves_per_eu = numbers[1];
    }
    return true;
}

static bool parse_head(tw_parser *p, const tw_target *override) {
    head h = {0};
    bool done = false;
    if (!tw_parse_next(p) || !tw_parse_take(p, "tile.kernel") ||
        !tw_parse_take_kind(p, TK_SYMBOL, "a kernel's name, '@name'", &h.name))
        return false;
    while (!done)
        if (!parse_option(p, &h, override, &done)) return false;
    if (override) {
        h.target = *override;
    } else if (!h.has_target) {
        return tw_parse_expected(p, "target(\"...\")");
    }
    if (!tw_parse_at(p, "(")) return tw_parse_expected(p, "an option or '(' before the parameters");
    p->kernel = tw_kernel_new(p->ctx, h.name.text, h.name.length, h.target, &h.options);
    if (!p->kernel) return tw_parse_no_memory(p);
    if (!p->source) return true;
    p->kernel->source = tw_arena_strndup(&p->kernel->arena, p->source, strlen(p->source));
    return p->kernel->source ? true : tw_parse_no_memory(p);
}

/* ---- parameters ---- */

static bool parse_flags(tw_parser *p, unsigned *flags) {
    bool more;
    if (!tw_parse_take(p, "{")) return false;
    do {
        unsigned flag = tw_parse_at(p, "readonly")  ? TW_PARAM_READONLY
                        : tw_parse_at(p, "noalias") ? TW_PARAM_NOALIAS
                                                    : 0;
        if (!flag) return tw_parse_expected(p, "readonly or noalias");
        if (*flags & flag)
            return tw_parse_fail(p, &p->token, "%.*s is given twice", (int)p->token.length, p->token.text);
        *flags |= flag;
        if (!tw_parse_next(p) || !tw_parse_accept(p, ",", &more)) return false;
    } while (more);
    return tw_parse_take(p, "}");
}

static bool parse_param(tw_parser *p) {
    tw_token name;
    const tw_type *type;
    unsigned flags = 0;
    tw_value value;
    if (!tw_parse_take_kind(p, TK_VALUE, "a parameter, '%name'", &name) || !tw_parse_take(p, ":") ||
        !tw_parse_type(p, &type))
        return false;
    if (tw_parse_at(p, "{") && !parse_flags(p, &flags)) return false;
    if (!tw_kernel_add_param(p->kernel, name.text, name.length, type, flags, &value))
        return tw_parse_no_memory(p);
    return tw_parse_define(p, &name, value);
}

static bool parse_body(tw_parser *p) {
    p->block = &p->kernel->body;
    if (!tw_parse_take(p, "{")) return false;
    while (!tw_parse_at(p, "}")) {
        if (p->token.kind == TK_END) return tw_parse_expected(p, "an op or '}'");
        if (!tw_parse_op(p)) return false;
    }
    if (!tw_parse_next(p)) return false;
    return p->token.kind == TK_END ? true : tw_parse_expected(p, "the end of the text");
}

/* ---- entry points ---- */

tw_status tw_kernel_parse_unverified(tw_context *ctx, const char *text, size_t length,
                                     const tw_parse_options *options, tw_kernel **out) {
    const char *source = options ? options->source : NULL;
    const tw_target *target = options ? options->target : NULL;
    *out = NULL;
    if (length > TW_TEXT_MAX_BYTES)
        return tw_fail_at(tw_context_diag(ctx), TW_ERR_LIMIT, source, 0, 0,
                          "a kernel's text has at most %u bytes (got %zu)", TW_TEXT_MAX_BYTES, length);
    tw_parser p = {.ctx = ctx, .diag = tw_context_diag(ctx), .source = source};
    tw_lexer_init(&p.lexer, text, length, source, p.diag);
    tw_arena_init(&p.scratch, ctx->allocator);
    tw_name_table_init(&p.names, ctx->allocator);
    tw_name_table_init(&p.constants, ctx->allocator);
    bool read = parse_head(&p, target) && tw_parse_list(&p, "(", ")", parse_param) && parse_body(&p);
    tw_name_table_free(&p.constants);
    tw_name_table_free(&p.names);
    tw_arena_free(&p.scratch);
    if (!read) {
        tw_kernel_free(p.kernel);
        return p.status;
    }
    *out = p.kernel;
    return TW_OK;
}

tw_status tw_kernel_parse(tw_context *ctx, const char *text, size_t length, const tw_parse_options *options,
                          tw_kernel **out) {
    tw_status status = tw_kernel_parse_unverified(ctx, text, length, options, out);
    if (status) return status;
    status = tw_kernel_verify(*out, tw_context_diag(ctx));
    if (status == TW_OK) (*out)->verified = true;
    if (status) {
        tw_kernel_free(*out);
        *out = NULL;
    }
    return status;
}
