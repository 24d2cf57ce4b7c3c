#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

void tw_strbuf_init(tw_strbuf *buffer, const tw_allocator *allocator) {
    *buffer = (tw_strbuf){.allocator = allocator ? allocator : &tw_allocator_default};
}

void tw_strbuf_free(tw_strbuf *buffer) {
    if (buffer->text) buffer->allocator->release(buffer->allocator->user, buffer->text);
    tw_strbuf_init(buffer, buffer->allocator);
}

void tw_strbuf_clear(tw_strbuf *buffer) {
    buffer->length = 0;
    buffer->failed = false;
    if (buffer->text) buffer->text[0] = '\0';
}

/* Room for `extra` more bytes and the terminator. */
static bool reserve(tw_strbuf *buffer, size_t extra) {
    if (buffer->failed) return false;
    if (extra < buffer->capacity - buffer->length) return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity - buffer->length <= extra) {
        if (capacity > SIZE_MAX / 2) {
            buffer->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *text = buffer->allocator->allocate(buffer->allocator->user, capacity);
    if (!text) {
        buffer->failed = true;
        return false;
    }
    if (buffer->text) {
        memcpy(text, buffer->text, buffer->length + 1);
        buffer->allocator->release(buffer->allocator->user, buffer->text);
    }
    buffer->text = text;
    buffer->capacity = capacity;
    return true;
}

void tw_strbuf_append_n(tw_strbuf *buffer, const char *text, size_t length) {
    if (!reserve(buffer, length)) return;
    if (length) memcpy(buffer->text + buffer->length, text, length);
    buffer->length += length;
    buffer->text[buffer->length] = '\0';
}

void tw_strbuf_append(tw_strbuf *buffer, const char *text) { tw_strbuf_append_n(buffer, text, strlen(text)); }

void tw_strbuf_char(tw_strbuf *buffer, char c) { tw_strbuf_append_n(buffer, &c, 1); }

void tw_strbuf_vprintf(tw_strbuf *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        buffer->failed = true;
    } else if (reserve(buffer, (size_t)length)) {
        vsnprintf(buffer->text + buffer->length, (size_t)length + 1, format, again);
        buffer->length += (size_t)length;
    }
    va_end(again);
}

void tw_strbuf_printf(tw_strbuf *buffer, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    tw_strbuf_vprintf(buffer, format, arguments);
    va_end(arguments);
}

void tw_strbuf_u64(tw_strbuf *buffer, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    tw_strbuf_append_n(buffer, digits + at, sizeof digits - at);
}

void tw_strbuf_i64(tw_strbuf *buffer, int64_t value) {
    if (value < 0) {
        tw_strbuf_char(buffer, '-');
        tw_strbuf_u64(buffer, 0 - (uint64_t)value);
    } else {
        tw_strbuf_u64(buffer, (uint64_t)value);
    }
}

void tw_strbuf_hex(tw_strbuf *buffer, uint64_t value, unsigned digits) {
    char text[16];
    if (digits > sizeof text) digits = sizeof text;
    for (unsigned i = 0; i < digits; i++)
        text[i] = "0123456789ABCDEF"[(value >> (4 * (digits - 1 - i))) & 15];
    tw_strbuf_append_n(buffer, text, digits);
}

const char *tw_strbuf_text(const tw_strbuf *buffer) { return buffer->text ? buffer->text : ""; }

char *tw_strbuf_take(tw_strbuf *buffer, size_t *length) {
    if (!buffer->text) tw_strbuf_append_n(buffer, "", 0);
    char *text = buffer->text;
    if (buffer->failed) {
        tw_strbuf_free(buffer);
        return NULL;
    }
    if (length) *length = buffer->length;
    *buffer = (tw_strbuf){.allocator = buffer->allocator};
    return text;
}
