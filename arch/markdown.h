/* The tables of docs/targets.md, from the tables of this folder. */
#ifndef TW_ARCH_MARKDOWN_H
#define TW_ARCH_MARKDOWN_H

#include "support/strbuf.h"

/* What stands between these two lines of the document. */
#define TW_ARCH_MARKDOWN_BEGIN "<!-- generated tables: begin -->\n"
#define TW_ARCH_MARKDOWN_END   "<!-- generated tables: end -->\n"

void tw_arch_markdown(tw_strbuf *text);

#endif
