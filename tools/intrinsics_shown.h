/* What was measured, as a table for people and as the generated part of docs/intrinsics.md. */
#ifndef TW_TOOLS_INTRINSICS_SHOWN_H
#define TW_TOOLS_INTRINSICS_SHOWN_H

#include <jansson.h>

#include "lower/measured.h"
#include "support/strbuf.h"

/* An array with an object for each flavor (TW_FLAVOR_NONE: all), key and row: flavor, measured with, key,
 * name and the status for each target. */
json_t *intrinsics_rows(tw_flavor flavor);
/* "measured with LLVM 22.1.8, Debian package ..." or "not measured". */
void intrinsics_flavor_text(tw_flavor flavor, char *text, size_t size);

/* docs/intrinsics.md; `directory` holds the files. */
tw_status intrinsics_markdown(const char *directory, tw_strbuf *text, tw_diag *diag);

#endif
