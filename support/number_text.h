/* Doubles as text and back, the same in every locale. */
#ifndef TW_SUPPORT_NUMBER_TEXT_H
#define TW_SUPPORT_NUMBER_TEXT_H

#include "support/status.h"

#define TW_DOUBLE_TEXT_MAX 32

/* The shortest decimal of at most 17 digits that reads back as the same double. It always shows that it is no
 * integer: "20.9", "1.0", "-0.0", "1e-7", "inf", "-inf", "nan". */
void tw_format_double(double value, char buffer[TW_DOUBLE_TEXT_MAX]);

/* Reads all `length` bytes as a decimal number ("20.9", "-3", ".5", "1e-7") or as inf, nan with an optional
 * sign, rounded once to the nearest double; past the range gives infinity. False for anything else. */
bool tw_parse_double(const char *text, size_t length, double *out);

#endif
