#include "lower/intrinsics.h"

#include <string.h>

#define ON(NAME) (1u << TW_ARCH_##NAME)

static const tw_intrinsic_row rows[] = {
#define INTRINSIC(KEY, first, last, name, result, arguments, targets) \
    {TW_LL_##KEY, first, last, false, targets, name, result, arguments},
#define ALSO(KEY, first, last, name, result, arguments, targets) \
    {TW_LL_##KEY, first, last, false, targets, name, result, arguments},
#define GENERIC(KEY, first, last, name, result, arguments) \
    {TW_LL_##KEY, first, last, true, UINT32_MAX, name, result, arguments},
#define GENERIC_ALSO(KEY, first, last, name, result, arguments) \
    {TW_LL_##KEY, first, last, true, UINT32_MAX, name, result, arguments},
#include "lower/intrinsics.def"
};
#define ROWS (sizeof rows / sizeof rows[0])

const tw_intrinsic_row *tw_intrinsic_rows(size_t *count) {
    *count = ROWS;
    return rows;
}

void tw_intrinsics_choose(tw_flavor flavor, tw_target target, const tw_intrinsic_row *chosen[TW_LL_COUNT]) {
    memset(chosen, 0, TW_LL_COUNT * sizeof chosen[0]);
    for (size_t i = 0; i < ROWS; i++)
        if ((unsigned)flavor >= rows[i].first && (unsigned)flavor <= rows[i].last &&
            (rows[i].targets >> target.arch & 1))
            chosen[rows[i].key] = &rows[i];
}

const char *tw_intrinsic_name(tw_intrinsic key) {
    const char *name = "";
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].key == key) name = rows[i].name;
    return name;
}
