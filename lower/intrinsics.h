/* The rows of lower/intrinsics.def, chosen for one flavor and target. */
#ifndef TW_LOWER_INTRINSICS_H
#define TW_LOWER_INTRINSICS_H

#include "lower/flavor.h"

typedef enum tw_intrinsic {
#define INTRINSIC(KEY, first, last, name, result, arguments, targets) TW_LL_##KEY,
#define ALSO(KEY, first, last, name, result, arguments, targets)
#define GENERIC(KEY, first, last, name, result, arguments, overload) TW_LL_##KEY,
#define GENERIC_ALSO(KEY, first, last, name, result, arguments, overload)
#include "lower/intrinsics.def"
    TW_LL_COUNT
} tw_intrinsic;

/* The types that a row is measured with instead of T. */
typedef enum tw_overload {
    TW_OVERLOAD_NONE = 0, /* it has no T */
    TW_OVERLOAD_INTEGERS,
    TW_OVERLOAD_FLOATS,
    TW_OVERLOAD_BRAIN_FLOATS,
    TW_OVERLOAD_COUNT
} tw_overload;

typedef struct tw_intrinsic_row {
    tw_intrinsic key;
    uint8_t first, last; /* flavors */
    tw_overload overload;
    uint32_t targets; /* 1 << tw_arch */
    const char *name, *result, *arguments;
} tw_intrinsic_row;

/* All rows, in the order of the table. */
const tw_intrinsic_row *tw_intrinsic_rows(size_t *count);
/* Fills chosen[key] with the row for the flavor and target, NULL where there is none and where measuring
 * found that it does not work (lower/measured.h). */
void tw_intrinsics_choose(tw_flavor flavor, tw_target target, const tw_intrinsic_row *chosen[TW_LL_COUNT]);
/* Why no row is chosen: "llvm23: target_unsupported, LLVM cannot select it for the target". Returns the name
 * that the reason is about. */
#define TW_INTRINSIC_REASON_MAX 128
const char *tw_intrinsic_why_not(tw_intrinsic key, tw_flavor flavor, tw_arch arch,
                                 char reason[TW_INTRINSIC_REASON_MAX]);
/* The name by which diagnostics call a key: that of its newest row. */
const char *tw_intrinsic_name(tw_intrinsic key);
/* The key's own name: "READLANE". */
const char *tw_intrinsic_key_name(tw_intrinsic key);

#endif
