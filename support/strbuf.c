#include "support/strbuf.h"

#include <stdio.h>

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

/* Nothing fits any more, so that appends end here at once. */
static bool fail(tw_strbuf *buffer) {
    tw_strbuf_free(buffer);
    buffer->failed = true;
    return false;
}

bool tw_strbuf_reserve(tw_strbuf *buffer, size_t extra) {
    if (buffer->failed) return false;
    if (extra < buffer->capacity - buffer->length) return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    while (capacity - buffer->length <= extra) {
        if (capacity > SIZE_MAX / 2) return fail(buffer);
        capacity *= 2;
    }
    char *text = buffer->allocator->allocate(buffer->allocator->user, capacity);
    if (!text) return fail(buffer);
    if (buffer->text) {
        memcpy(text, buffer->text, buffer->length + 1);
        buffer->allocator->release(buffer->allocator->user, buffer->text);
    }
    buffer->text = text;
    buffer->capacity = capacity;
    return true;
}

void tw_strbuf_vprintf(tw_strbuf *buffer, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0) {
        fail(buffer);
    } else if (tw_strbuf_reserve(buffer, (size_t)length)) {
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

/* Two digits at a time: the lowerer writes more numbers than anything else. */
static const char digit_pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

void tw_strbuf_u64(tw_strbuf *buffer, uint64_t value) {
    char digits[20], *at = digits + sizeof digits;
    while (value > UINT32_MAX) {
        at -= 2;
        memcpy(at, digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    uint32_t rest = (uint32_t)value;
    while (rest >= 100) {
        at -= 2;
        memcpy(at, digit_pairs + 2 * (rest % 100), 2);
        rest /= 100;
    }
    if (rest >= 10) {
        at -= 2;
        memcpy(at, digit_pairs + 2 * rest, 2);
    } else {
        *--at = (char)('0' + rest);
    }
    tw_strbuf_append_n(buffer, at, (size_t)(digits + sizeof digits - at));
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
