#include "lower/flavor_info.h"

#include <string.h>

static const tw_flavor_info rows[] = {
#define FLAVOR(NAME, layout, bf16, rsrc, size, fence, flush, flag, version, groups, atomics, halves, \
               barriers, joined)                                                                     \
    {TW_FLAVOR_##NAME,                                                                               \
     layout,                                                                                         \
     bf16,                                                                                           \
     TW_RSRC_##rsrc,                                                                                 \
     size,                                                                                           \
     fence,                                                                                          \
     flush,                                                                                          \
     flag,                                                                                           \
     version,                                                                                        \
     TW_GROUP_COUNT_##groups,                                                                        \
     TW_ATOMIC_##atomics,                                                                            \
     halves,                                                                                         \
     barriers,                                                                                       \
     joined},
#include "lower/flavors.def"
};

const tw_flavor_info *tw_flavor_info_get(tw_flavor flavor) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].flavor == flavor) return &rows[i];
    return NULL;
}

bool tw_flavor_has_bfloat(const tw_flavor_info *info) { return strcmp(info->bf16_type, "bfloat") == 0; }
