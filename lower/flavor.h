/* Flavors: the LLVM releases whose IR text the lowerer can write. */
#ifndef TW_LOWER_FLAVOR_H
#define TW_LOWER_FLAVOR_H

#include "arch/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number is the LLVM major release. */
typedef enum tw_flavor {
    TW_FLAVOR_NONE = 0,
    TW_FLAVOR_LLVM15 = 15,
    TW_FLAVOR_LLVM19 = 19,
    TW_FLAVOR_LLVM20 = 20,
    TW_FLAVOR_LLVM21 = 21,
    TW_FLAVOR_LLVM22 = 22,
    TW_FLAVOR_LLVM23 = 23,
    TW_FLAVOR_LLVM24 = 24,
} tw_flavor;

/* "llvm22"; NULL for a number that is no flavor. */
TW_API const char *tw_flavor_name(tw_flavor flavor);
/* All flavors in order: the flavor at `index`, TW_FLAVOR_NONE past the end. */
TW_API tw_flavor tw_flavor_at(size_t index);
/* "llvm22" or "22". TW_ERR_INVALID otherwise. */
TW_API tw_status tw_flavor_parse(const char *text, tw_flavor *out, tw_diag *diag);
/* TW_OK, or TW_ERR_UNSUPPORTED with the reason ("gfx1250 needs llvm22 or later (got llvm19)"). */
TW_API tw_status tw_flavor_serves(tw_flavor flavor, tw_target target, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
