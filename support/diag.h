/* Diagnostics: what went wrong, in words. A tw_diag is a list that the caller owns and passes to calls that
 * can fail; every such parameter may be NULL. Messages name the rule and end with the value: "... (got 9)".
 */
#ifndef TW_SUPPORT_DIAG_H
#define TW_SUPPORT_DIAG_H

#include "support/alloc.h"
#include "support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_severity { TW_SEVERITY_ERROR = 0, TW_SEVERITY_WARNING = 1, TW_SEVERITY_NOTE = 2 } tw_severity;

/* One message. `line` and `column` count from 1 and are 0 where there is no source text. `where` names the
 * thing the message is about (a kernel, a file, an instruction) and may be "". Strings live as long as the
 * tw_diag. */
typedef struct tw_diagnostic {
    tw_severity severity;
    tw_status status; /* TW_OK for warnings and notes */
    uint32_t line, column;
    const char *where;
    const char *text;
} tw_diagnostic;

/* Called for each message as it is added, on the thread that adds it. */
typedef void (*tw_diag_callback)(void *user, const tw_diagnostic *diagnostic);

typedef struct tw_diag tw_diag;

/* A list with no messages; NULL when memory is out. `allocator` may be NULL (malloc) and must outlive the
 * list. A list is used by one thread at a time. */
TW_API tw_diag *tw_diag_new(const tw_allocator *allocator);
TW_API void tw_diag_free(tw_diag *diag); /* NULL is fine */
TW_API void tw_diag_set_callback(tw_diag *diag, tw_diag_callback callback, void *user);
TW_API void tw_diag_clear(tw_diag *diag);
TW_API size_t tw_diag_count(const tw_diag *diag);
/* The message at `index` (oldest first), or NULL past the end. */
TW_API const tw_diagnostic *tw_diag_get(const tw_diag *diag, size_t index);
/* The text of the first error, or "" where there is none: what a log line wants. Never NULL. */
TW_API const char *tw_diag_first_error(const tw_diag *diag);
/* All messages as lines "where:line:column: error: text", each ended with '\n'. The text belongs to the list
 * and is valid until the next call with it. Never NULL. */
TW_API const char *tw_diag_text(tw_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
