/* Literals of the tile IR's text: constants, decimals, strings. */
#ifndef TW_IR_LITERAL_H
#define TW_IR_LITERAL_H

#include "ir/type.h"
#include "support/strbuf.h"

/* One element's bits as the canonical literal: true, -5, 0.5, 0x7FC00000. */
void tw_literal_constant(tw_strbuf *out, tw_scalar scalar, uint64_t bits);
void tw_literal_double(tw_strbuf *out, double value);
/* In quotes, with \" \\ and \xHH. */
void tw_literal_string(tw_strbuf *out, const char *text);
/* The bits of f16, bf16 or f32 nearest to a finite `value`, ties to even; false where that is no finite
 * number of the format. */
bool tw_literal_round(tw_scalar scalar, double value, uint64_t *bits);

#endif
