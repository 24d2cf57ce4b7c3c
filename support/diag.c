#include "support/fail.h"

#include <string.h>

#include "support/strbuf.h"

typedef struct entry {
    struct entry *next;
    tw_diagnostic public;
} entry;

struct tw_diag {
    const tw_allocator *allocator;
    tw_arena arena;
    entry *first, *last;
    size_t count;
    tw_diag_callback callback;
    void *callback_user;
    tw_strbuf text;
};

const char *tw_status_name(tw_status status) {
    static const char *const names[] = {"ok",           "no memory", "usage error", "invalid",
                                        "unsupported",  "not found", "I/O error",   "compile error",
                                        "device error", "mismatch",  "limit"};
    return (size_t)status < sizeof names / sizeof names[0] ? names[status] : "unknown status";
}

tw_diag *tw_diag_new(const tw_allocator *allocator) {
    if (!allocator) allocator = &tw_allocator_default;
    tw_diag *diag = allocator->allocate(allocator->user, sizeof *diag);
    if (!diag) return NULL;
    *diag = (tw_diag){.allocator = allocator};
    tw_arena_init(&diag->arena, allocator);
    tw_strbuf_init(&diag->text, allocator);
    return diag;
}

void tw_diag_free(tw_diag *diag) {
    if (!diag) return;
    tw_arena_free(&diag->arena);
    tw_strbuf_free(&diag->text);
    diag->allocator->release(diag->allocator->user, diag);
}

void tw_diag_set_callback(tw_diag *diag, tw_diag_callback callback, void *user) {
    diag->callback = callback;
    diag->callback_user = user;
}

void tw_diag_clear(tw_diag *diag) {
    tw_arena_free(&diag->arena);
    diag->first = diag->last = NULL;
    diag->count = 0;
}

size_t tw_diag_count(const tw_diag *diag) { return diag->count; }

const tw_diagnostic *tw_diag_get(const tw_diag *diag, size_t index) {
    const entry *e = diag->first;
    while (e && index--)
        e = e->next;
    return e ? &e->public : NULL;
}

const char *tw_diag_first_error(const tw_diag *diag) {
    for (const entry *e = diag->first; e; e = e->next)
        if (e->public.severity == TW_SEVERITY_ERROR) return e->public.text;
    return "";
}

const char *tw_diag_text(tw_diag *diag) {
    static const char *const severities[] = {"error", "warning", "note"};
    tw_strbuf_clear(&diag->text);
    for (const entry *e = diag->first; e; e = e->next) {
        const tw_diagnostic *d = &e->public;
        if (d->where[0]) tw_strbuf_printf(&diag->text, "%s:", d->where);
        if (d->line) tw_strbuf_printf(&diag->text, "%u:%u:", (unsigned)d->line, (unsigned)d->column);
        if (d->where[0] || d->line) tw_strbuf_char(&diag->text, ' ');
        tw_strbuf_printf(&diag->text, "%s: %s\n", severities[d->severity], d->text);
    }
    return tw_strbuf_text(&diag->text);
}

static void add(tw_diag *diag, tw_severity severity, tw_status status, const char *where, uint32_t line,
                uint32_t column, const char *format, va_list arguments) {
    if (!diag) return;
    tw_strbuf text;
    tw_strbuf_init(&text, diag->allocator);
    tw_strbuf_vprintf(&text, format, arguments);
    entry *e = TW_ARENA_NEW(&diag->arena, entry, 1);
    if (e) {
        const char *kept = tw_arena_strndup(&diag->arena, tw_strbuf_text(&text), text.length);
        const char *place = tw_arena_strndup(&diag->arena, where ? where : "", where ? strlen(where) : 0);
        e->public = (tw_diagnostic){
            severity, status, line, column, place ? place : "", kept ? kept : "out of memory"};
        if (diag->last) {
            diag->last->next = e;
        } else {
            diag->first = e;
        }
        diag->last = e;
        diag->count++;
        if (diag->callback) diag->callback(diag->callback_user, &e->public);
    }
    tw_strbuf_free(&text);
}

tw_status tw_fail(tw_diag *diag, tw_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(diag, TW_SEVERITY_ERROR, status, NULL, 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

tw_status tw_fail_at(tw_diag *diag, tw_status status, const char *where, uint32_t line, uint32_t column,
                     const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(diag, TW_SEVERITY_ERROR, status, where, line, column, format, arguments);
    va_end(arguments);
    return status;
}

void tw_warn(tw_diag *diag, const char *where, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(diag, TW_SEVERITY_WARNING, TW_OK, where, 0, 0, format, arguments);
    va_end(arguments);
}

void tw_note(tw_diag *diag, const char *where, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(diag, TW_SEVERITY_NOTE, TW_OK, where, 0, 0, format, arguments);
    va_end(arguments);
}

tw_status tw_fail_no_memory(tw_diag *diag) { return tw_fail(diag, TW_ERR_NO_MEMORY, "out of memory"); }
