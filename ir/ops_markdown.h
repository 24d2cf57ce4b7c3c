/* The reference of the ops, from the rows of ir/opcodes.def: docs/ops.md. */
#ifndef TW_IR_OPS_MARKDOWN_H
#define TW_IR_OPS_MARKDOWN_H

#include "support/strbuf.h"

void tw_ops_markdown(tw_strbuf *out);

#endif
