/* How the tables spell lane maps: short names for bits of the lane and of the slot, and lists of them. */
#ifndef TW_ARCH_LANE_BITS_H
#define TW_ARCH_LANE_BITS_H

#include "arch/lane_map.h"

enum { L0, L1, L2, L3, L4, L5 };
enum { S0 = TW_SLOT_BIT0, S1, S2, S3, S4, S5, S6 };

/* A list is written in parentheses: (L0, L1, S0). */
#define BARE(...)         __VA_ARGS__
#define LIST_LENGTH(list) sizeof((uint8_t[]){BARE list})
#define LANE_MAP(rows, columns)                                                \
    {                                                                          \
        LIST_LENGTH(rows), LIST_LENGTH(columns), {BARE rows}, { BARE columns } \
    }

#endif
