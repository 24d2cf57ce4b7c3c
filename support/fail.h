/* How the library adds diagnostics. */
#ifndef TW_SUPPORT_FAIL_H
#define TW_SUPPORT_FAIL_H

#include "support/diag.h"

/* Adds an error and returns `status`, so that `return tw_fail(diag, TW_ERR_INVALID, "...", ...)` reads well.
 * `diag` may be NULL. When memory is out the list keeps what it has and the status is still returned. */
tw_status tw_fail(tw_diag *diag, tw_status status, const char *format, ...) TW_PRINTF(3, 4);
tw_status tw_fail_at(tw_diag *diag, tw_status status, const char *where, uint32_t line, uint32_t column,
                     const char *format, ...) TW_PRINTF(6, 7);
void tw_warn(tw_diag *diag, const char *where, const char *format, ...) TW_PRINTF(3, 4);
void tw_note(tw_diag *diag, const char *where, const char *format, ...) TW_PRINTF(3, 4);
tw_status tw_fail_no_memory(tw_diag *diag); /* TW_ERR_NO_MEMORY with the one text for it */

#endif
