#include "lower/intrinsics.h"

#include <stdio.h>
#include <string.h>

#include "lower/measured.h"

#define ON(NAME) (1u << TW_ARCH_##NAME)

static const tw_intrinsic_row rows[] = {
#define INTRINSIC(KEY, first, last, name, result, arguments, targets) \
    {TW_LL_##KEY, first, last, TW_OVERLOAD_NONE, targets, name, result, arguments},
#define ALSO(KEY, first, last, name, result, arguments, targets) \
    {TW_LL_##KEY, first, last, TW_OVERLOAD_NONE, targets, name, result, arguments},
#define GENERIC(KEY, first, last, name, result, arguments, overload) \
    {TW_LL_##KEY, first, last, TW_OVERLOAD_##overload, UINT32_MAX, name, result, arguments},
#define GENERIC_ALSO(KEY, first, last, name, result, arguments, overload) \
    {TW_LL_##KEY, first, last, TW_OVERLOAD_##overload, UINT32_MAX, name, result, arguments},
#include "lower/intrinsics.def"
};
#define ROWS (sizeof rows / sizeof rows[0])

const tw_intrinsic_row *tw_intrinsic_rows(size_t *count) {
    *count = ROWS;
    return rows;
}

/* What was not measured is believed. */
static bool works(const tw_intrinsic_row *row, tw_flavor flavor, tw_arch arch) {
    tw_measured status = tw_intrinsic_measured(row, flavor, arch);
    return status == TW_MEASURED_OK || status == TW_MEASURED_NOT_MEASURED;
}

void tw_intrinsics_choose(tw_flavor flavor, tw_target target, const tw_intrinsic_row *chosen[TW_LL_COUNT]) {
    memset(chosen, 0, TW_LL_COUNT * sizeof chosen[0]);
    for (size_t i = 0; i < ROWS; i++)
        if ((unsigned)flavor >= rows[i].first && (unsigned)flavor <= rows[i].last &&
            (rows[i].targets >> target.arch & 1) && works(&rows[i], flavor, target.arch))
            chosen[rows[i].key] = &rows[i];
}

const char *tw_intrinsic_name(tw_intrinsic key) {
    const char *name = "";
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].key == key) name = rows[i].name;
    return name;
}

/* The row that the flavor would use, for this target or another; else the key's newest. */
static const tw_intrinsic_row *row_for_flavor(tw_intrinsic key, tw_flavor flavor, tw_arch arch) {
    const tw_intrinsic_row *found = NULL;
    unsigned best = 0;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].key != key) continue;
        bool in_flavor = (unsigned)flavor >= rows[i].first && (unsigned)flavor <= rows[i].last;
        unsigned merit = 1 + (in_flavor ? 2u : 0u) + (rows[i].targets >> arch & 1);
        if (merit >= best) {
            best = merit;
            found = &rows[i];
        }
    }
    return found;
}

const char *tw_intrinsic_why_not(tw_intrinsic key, tw_flavor flavor, tw_arch arch,
                                 char reason[TW_INTRINSIC_REASON_MAX]) {
    const tw_intrinsic_row *row = row_for_flavor(key, flavor, arch);
    tw_measured status = row ? tw_intrinsic_measured(row, flavor, arch) : TW_MEASURED_NOT_MEASURED;
    const char *version = tw_flavor_measured_with(flavor);
    const char *name = tw_flavor_name(flavor);
    if (!version) {
        snprintf(reason, TW_INTRINSIC_REASON_MAX, "%s, which is not measured", name);
    } else if (status == TW_MEASURED_OK || status == TW_MEASURED_NOT_MEASURED) {
        snprintf(reason, TW_INTRINSIC_REASON_MAX, "%s, for which it is not used", name);
    } else {
        snprintf(reason, TW_INTRINSIC_REASON_MAX, "%s: %s, %s", name, tw_measured_word(status),
                 tw_measured_meaning(status));
    }
    return row ? row->name : "";
}

const char *tw_intrinsic_key_name(tw_intrinsic key) {
    static const char *const names[] = {
#define INTRINSIC(KEY, first, last, name, result, arguments, targets) #KEY,
#define ALSO(KEY, first, last, name, result, arguments, targets)
#define GENERIC(KEY, first, last, name, result, arguments, overload) #KEY,
#define GENERIC_ALSO(KEY, first, last, name, result, arguments, overload)
#include "lower/intrinsics.def"
    };
    return names[key];
}
