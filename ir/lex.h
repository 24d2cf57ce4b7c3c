/* The tokens of the tile IR's text. The text is untrusted: any bytes are fine, and what is no token is
 * refused with its place. */
#ifndef TW_IR_LEX_H
#define TW_IR_LEX_H

#include "support/diag.h"

#define TW_TEXT_MAX_BYTES (16u << 20) /* of a kernel; documented in docs/ir.md */

typedef enum tw_token_kind {
    TK_BAD = 0, /* refused: the diagnostic is already there */
    TK_END,
    TK_WORD,   /* arith.add, vec, true */
    TK_VALUE,  /* %name; the text without the % */
    TK_SYMBOL, /* @name; the text without the @ */
    TK_INT,    /* 20, -1, 0x14 */
    TK_FLOAT,  /* 20.9, 1e-3 */
    TK_STRING, /* "text"; the text without the quotes, escapes as written */
    TK_PUNCT,  /* one of ( ) { } [ ] < > , : = and -> */
} tw_token_kind;

typedef struct tw_token {
    tw_token_kind kind;
    bool hex;   /* of an integer: written as bits */
    char punct; /* the character; '-' is -> */
    uint32_t line, column;
    uint32_t length;
    const char *text; /* in the source; not terminated */
    int64_t integer;  /* of an integer; of a hex one its 64 bits */
    double real;      /* of a float */
} tw_token;

typedef struct tw_lexer {
    const char *at, *end;
    const char *line_start;
    uint32_t line;
    const char *source; /* the file's name for diagnostics, or NULL */
    tw_diag *diag;
} tw_lexer;

void tw_lexer_init(tw_lexer *lexer, const char *text, size_t length, const char *source, tw_diag *diag);
tw_token tw_lexer_next(tw_lexer *lexer);
/* Room for what tw_token_describe writes. */
#define TW_TOKEN_TEXT_MAX 96
/* "'%sum'", "the end of the text": as diagnostics call the token. Long ones are cut, unprintable bytes
 * escaped. */
void tw_token_describe(const tw_token *token, char buffer[TW_TOKEN_TEXT_MAX]);
bool tw_token_is(const tw_token *token, const char *word); /* a word, or by its text "->", "(", ... */

#endif
