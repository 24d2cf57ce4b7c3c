/* A growing text. Errors are sticky: append freely, look at `failed` once at the end. */
#ifndef TW_SUPPORT_STRBUF_H
#define TW_SUPPORT_STRBUF_H

#include <stdarg.h>
#include <string.h>

#include "support/arena.h"

typedef struct tw_strbuf {
    const tw_allocator *allocator;
    char *text; /* terminated; NULL while nothing was appended */
    size_t length, capacity;
    bool failed; /* memory ran out: the text is gone */
} tw_strbuf;

void tw_strbuf_init(tw_strbuf *buffer, const tw_allocator *allocator); /* NULL: malloc */
void tw_strbuf_free(tw_strbuf *buffer);
void tw_strbuf_clear(tw_strbuf *buffer);
/* Room for `extra` more bytes and the terminator; false, and failed, where memory is out. */
bool tw_strbuf_reserve(tw_strbuf *buffer, size_t extra);
/* The appends are inline: the lowerer makes several for each word it writes. */
static inline void tw_strbuf_append_n(tw_strbuf *buffer, const char *text, size_t length) {
    if (length >= buffer->capacity - buffer->length && !tw_strbuf_reserve(buffer, length)) return;
    if (length) memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}
static inline void tw_strbuf_append(tw_strbuf *buffer, const char *text) {
    tw_strbuf_append_n(buffer, text, strlen(text));
}
static inline void tw_strbuf_char(tw_strbuf *buffer, char c) {
    if (buffer->capacity - buffer->length < 2 && !tw_strbuf_reserve(buffer, 1)) return;
    buffer->text[buffer->length++] = c;
    buffer->text[buffer->length] = '\0';
}
/* printf with integers and strings only: floats would depend on the locale, so %f, %g and %e are not used. */
void tw_strbuf_printf(tw_strbuf *buffer, const char *format, ...) TW_PRINTF(2, 3);
void tw_strbuf_vprintf(tw_strbuf *buffer, const char *format, va_list arguments);
/* Fast decimal and hexadecimal for the lowerer and the printer. */
void tw_strbuf_u64(tw_strbuf *buffer, uint64_t value);
void tw_strbuf_i64(tw_strbuf *buffer, int64_t value);
void tw_strbuf_hex(tw_strbuf *buffer, uint64_t value, unsigned digits); /* no prefix, upper case, padded */
/* "" when empty; valid until the next append. */
const char *tw_strbuf_text(const tw_strbuf *buffer);
/* Hands the text to the caller, who releases it with the same allocator; NULL when an append failed. */
char *tw_strbuf_take(tw_strbuf *buffer, size_t *length);

#endif
