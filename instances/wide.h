/* Sizes that cannot overflow: products of four i32 and a few small factors. */
#ifndef TW_INSTANCES_WIDE_H
#define TW_INSTANCES_WIDE_H

#include <stdint.h>

typedef unsigned __int128 tw_wide;

#define TW_WIDE_TEXT 40

/* Decimal, written to the end of `buffer`; returns where it starts. */
static inline const char *tw_wide_text(tw_wide value, char buffer[TW_WIDE_TEXT]) {
    char *at = &buffer[TW_WIDE_TEXT - 1];
    *at = 0;
    do
        *--at = (char)('0' + (int)(value % 10));
    while (value /= 10);
    return at;
}

static inline int64_t tw_ceil_div(int64_t value, int64_t by) { return value / by + (value % by != 0); }

/* Output positions of a convolution along one side: those that are given, or from the sizes; -1 where the
 * filter does not fit. */
static inline int64_t tw_conv_outputs(int64_t given, int64_t size, int64_t pad, int64_t filter,
                                      int64_t stride) {
    if (given >= 0) return given;
    int64_t span = size + 2 * pad - filter;
    return span < 0 ? -1 : span / stride + 1;
}

#endif
