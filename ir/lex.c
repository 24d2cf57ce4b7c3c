#include "ir/lex.h"

#include <math.h>
#include <string.h>

#include "ir/rules.h"
#include "support/fail.h"
#include "support/number_text.h"

/* ctype.h depends on the locale. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name_char(char c) { return is_letter(c) || is_digit(c) || c == '.' || c == '$'; }
static bool is_printable(char c) { return c >= ' ' && c <= '~'; }

void tw_lexer_init(tw_lexer *lexer, const char *text, size_t length, const char *source, tw_diag *diag) {
    *lexer = (tw_lexer){text, text + length, text, 1, source, diag};
}

/* The source's bytes for a diagnostic: cut after 40, unprintable ones escaped. Returns the end. */
static char *quote(char *out, const char *text, size_t length) {
    static const char hex[] = "0123456789ABCDEF";
    const size_t limit = 40;
    size_t used = 0;
    size_t at = 0;
    for (; at < length && used < limit; at++) {
        unsigned char c = (unsigned char)text[at];
        if (is_printable((char)c)) {
            out[used++] = (char)c;
        } else {
            out[used++] = '\\';
            out[used++] = 'x';
            out[used++] = hex[c >> 4];
            out[used++] = hex[c & 15];
        }
    }
    if (at < length) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    return out + used;
}

void tw_token_describe(const tw_token *token, char buffer[TW_TOKEN_TEXT_MAX]) {
    if (token->kind == TK_END) {
        strcpy(buffer, "the end of the text");
        return;
    }
    char *out = buffer;
    *out++ = '\'';
    if (token->kind == TK_VALUE) *out++ = '%';
    if (token->kind == TK_SYMBOL) *out++ = '@';
    if (token->kind == TK_STRING) *out++ = '"';
    out = quote(out, token->text, token->length);
    if (token->kind == TK_STRING) *out++ = '"';
    *out++ = '\'';
    *out = '\0';
}

bool tw_token_is(const tw_token *token, const char *word) {
    return (token->kind == TK_WORD || token->kind == TK_PUNCT) && token->length == strlen(word) &&
           memcmp(token->text, word, token->length) == 0;
}

static tw_token token_at(const tw_lexer *lexer, tw_token_kind kind, const char *start) {
    return (tw_token){.kind = kind,
                      .line = lexer->line,
                      .column = (uint32_t)(start - lexer->line_start) + 1,
                      .text = start,
                      .length = (uint32_t)(lexer->at - start)};
}

/* Refuses the bytes from `start` on. */
static tw_token bad(const tw_lexer *lexer, const char *start, size_t length, const char *rule) {
    char text[TW_TOKEN_TEXT_MAX];
    tw_token token = token_at(lexer, TK_BAD, start);
    if (length) {
        *quote(text, start, length) = '\0';
        tw_fail_at(lexer->diag, TW_ERR_INVALID, lexer->source, token.line, token.column, "%s (got '%s')",
                   rule, text);
    } else {
        tw_fail_at(lexer->diag, TW_ERR_INVALID, lexer->source, token.line, token.column,
                   "%s (got the end of the text)", rule);
    }
    return token;
}

static void skip_blanks(tw_lexer *lexer) {
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == '\n') {
            lexer->line++;
            lexer->line_start = ++lexer->at;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->at++;
        } else if (c == '/' && lexer->end - lexer->at > 1 && lexer->at[1] == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else {
            return;
        }
    }
}

static void skip_name_chars(tw_lexer *lexer) {
    while (lexer->at < lexer->end && is_name_char(*lexer->at))
        lexer->at++;
}

/* %name, %7 or @name: a sigil, then a name. */
static tw_token lex_sigil(tw_lexer *lexer, tw_token_kind kind) {
    const char *start = lexer->at++;
    const char *name = lexer->at;
    skip_name_chars(lexer);
    size_t length = (size_t)(lexer->at - name);
    bool number = kind == TK_VALUE && length && is_digit(name[0]);
    for (size_t i = 0; i < length && number; i++)
        number = is_digit(name[i]);
    if (!number && !(length && is_letter(name[0])))
        return bad(lexer, start, (size_t)(lexer->end - start) > length + 1 ? length + 2 : length + 1,
                   kind == TK_VALUE ? "a value's name is a number or begins with a letter or '_'"
                                    : "a kernel's name begins with a letter or '_'");
    if (length > TW_NAME_MAX) return bad(lexer, start, length + 1, "a name has at most 255 bytes");
    tw_token token = token_at(lexer, kind, start);
    token.text++;
    token.length--;
    return token;
}

/* Both are true for digits alone; *fits is false where the value takes more than 64 bits. */
static bool read_decimal(const char *text, size_t length, int64_t *out, bool *fits) {
    bool negative = *text == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX, value = 0;
    for (size_t i = negative; i < length; i++) {
        if (!is_digit(text[i])) return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        *fits = *fits && value <= (limit - digit) / 10;
        value = value * 10 + digit;
    }
    *out = (int64_t)(negative ? -value : value);
    return true;
}

static bool read_hex(const char *text, size_t length, int64_t *out, bool *fits) {
    uint64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        unsigned digit = is_digit(c)              ? (unsigned)(c - '0')
                         : (c >= 'a' && c <= 'f') ? (unsigned)(c - 'a') + 10
                         : (c >= 'A' && c <= 'F') ? (unsigned)(c - 'A') + 10
                                                  : 16;
        if (digit == 16) return false;
        *fits = *fits && !(value >> 60);
        value = value << 4 | digit;
    }
    *out = (int64_t)value;
    return length > 0;
}

static tw_token lex_number(tw_lexer *lexer) {
    const char *start = lexer->at;
    if (*lexer->at == '-') lexer->at++;
    bool hex = lexer->end - lexer->at > 1 && lexer->at[0] == '0' && lexer->at[1] == 'x';
    bool real = false;
    /* Everything that could belong to a number, so that "12ab" and "1.2.3" are one wrong token. */
    for (; lexer->at < lexer->end; lexer->at++) {
        char c = *lexer->at;
        char before = lexer->at[-(lexer->at > start)];
        bool exponent_sign = !hex && (c == '-' || c == '+') && (before == 'e' || before == 'E');
        if (!is_name_char(c) && !exponent_sign) break;
        real = real || (!hex && (c == '.' || c == 'e' || c == 'E'));
    }
    tw_token token = token_at(lexer, real ? TK_FLOAT : TK_INT, start);
    token.hex = hex;
    bool fits = true;
    bool formed = real  ? tw_parse_double(start, token.length, &token.real)
                  : hex ? *start != '-' && read_hex(start + 2, token.length - 2, &token.integer, &fits)
                        : read_decimal(start, token.length, &token.integer, &fits);
    if (!formed) return bad(lexer, start, token.length, "malformed number");
    if (!fits) return bad(lexer, start, token.length, "an integer must fit in 64 bits");
    if (real && isinf(token.real))
        return bad(lexer, start, token.length, "a decimal must be below the largest double");
    return token;
}

static tw_token lex_string(tw_lexer *lexer) {
    const char *start = lexer->at++;
    while (lexer->at < lexer->end && *lexer->at != '"') {
        if (!is_printable(*lexer->at))
            return bad(lexer, lexer->at, 1, "a string holds printable ASCII, all else as \\xHH");
        bool escape = *lexer->at == '\\' && lexer->end - lexer->at > 1;
        lexer->at += 1 + (escape && is_printable(lexer->at[1]));
    }
    if (lexer->at == lexer->end) return bad(lexer, lexer->at, 0, "expected '\"' at the end of the string");
    lexer->at++;
    tw_token token = token_at(lexer, TK_STRING, start);
    token.text++;
    token.length -= 2;
    return token;
}

tw_token tw_lexer_next(tw_lexer *lexer) {
    skip_blanks(lexer);
    const char *start = lexer->at;
    if (start == lexer->end) return token_at(lexer, TK_END, start);
    char c = *start;
    char next = lexer->end - start > 1 ? start[1] : '\0';
    if (c == '%') return lex_sigil(lexer, TK_VALUE);
    if (c == '@') return lex_sigil(lexer, TK_SYMBOL);
    if (c == '"') return lex_string(lexer);
    if (is_digit(c) || (c == '-' && is_digit(next))) return lex_number(lexer);
    if (is_letter(c)) {
        skip_name_chars(lexer);
        size_t length = (size_t)(lexer->at - start);
        if (length > TW_NAME_MAX) return bad(lexer, start, length, "a word has at most 255 bytes");
        return token_at(lexer, TK_WORD, start);
    }
    bool arrow = c == '-' && next == '>';
    if (!arrow && (c == '\0' || !strchr("(){}[]<>,:=", c)))
        return bad(lexer, start, 1, "expected a word, a value, a number or punctuation");
    lexer->at += 1 + arrow;
    tw_token token = token_at(lexer, TK_PUNCT, start);
    token.punct = c;
    return token;
}
