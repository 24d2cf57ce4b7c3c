/* Sizes that cannot overflow: products of four i32 and a few small factors. */
#ifndef TW_INSTANCES_WIDE_H
#define TW_INSTANCES_WIDE_H

#include <stdint.h>

typedef unsigned __int128 tw_wide;

#define TW_WIDE_TEXT 40

/* Decimal, written to the end of `buffer`; returns where it starts. */
static inline const char *tw_wide_text(tw_wide value, char buffer[TW_WIDE_TEXT]) {
    char *at = buffer + TW_WIDE_TEXT - 1;
    *at = 0;
    do
        *--at = (char)('0' + (int)(value % 10));
    while (value /= 10);
    return at;
}

static inline int64_t tw_ceil_div(int64_t value, int64_t by) { return value / by + (value % by != 0); }

#endif
