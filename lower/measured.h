/* What measuring found (arch/intrinsics.<flavor>.json, written by `tilewright intrinsics --probe`), built
 * into the library. lower/intrinsics.def says which intrinsics the lowerer means to use where; this says
 * which of them work. */
#ifndef TW_LOWER_MEASURED_H
#define TW_LOWER_MEASURED_H

#include "lower/intrinsics.h"

/* Status, its word in the files, what it means. */
#define TW_MEASURED_LIST(X)                                                             \
    X(NOT_MEASURED, "not measured", "no tool set of the release was measured")          \
    X(OK, "ok", "it exists, selects and links")                                         \
    X(NAME_ABSENT, "name_absent", "LLVM makes an undefined symbol of the name")         \
    X(SIGNATURE_DIFFERS, "signature_differs", "LLVM takes other operand types")         \
    X(TARGET_UNSUPPORTED, "target_unsupported", "LLVM cannot select it for the target") \
    X(CRASH, "crash", "the compiler ends by a signal")                                  \
    X(TIMEOUT, "timeout", "the compiler does not end")

typedef enum tw_measured {
#define TW_MEASURED_ENUM(NAME, word, meaning) TW_MEASURED_##NAME,
    TW_MEASURED_LIST(TW_MEASURED_ENUM)
#undef TW_MEASURED_ENUM
        TW_MEASURED_COUNT
} tw_measured;

const char *tw_measured_word(tw_measured status);
const char *tw_measured_meaning(tw_measured status);

/* The exact version of the tool set that the flavor was measured with; NULL where it was not. */
const char *tw_flavor_measured_with(tw_flavor flavor);
/* Of a row of tw_intrinsic_rows, used in its flavors or not. TW_MEASURED_NOT_MEASURED for a flavor that was
 * not measured and for a row that is newer than the files. */
tw_measured tw_intrinsic_measured(const tw_intrinsic_row *row, tw_flavor flavor, tw_arch arch);

/* Why the lowerer does not use what works; NULL. */
const char *tw_intrinsic_not_used(tw_intrinsic key, tw_flavor flavor, tw_arch arch);

#define TW_MEASURED_FLAVORS_MAX 16

/* Generated from the files: by flavor in the order of lower/flavors.def, then row and arch. */
extern const char *const tw_measured_versions[];
extern const uint8_t *const tw_measured_tables[];

#endif
