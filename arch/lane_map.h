/* Lane maps: which element of a tile a lane holds in which slot, as data. All AMD layouts in this library are
 * permutations of bits: each bit of the row and of the column is one bit of the lane or of the slot. */
#ifndef TW_ARCH_LANE_MAP_H
#define TW_ARCH_LANE_MAP_H

#include "support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TW_LANE_MAP_MAX 8  /* bits of a row or a column */
#define TW_SLOT_BIT0    16 /* in a bit source: bit b of the slot is TW_SLOT_BIT0 + b, bit b of the lane is b */

/* A slot is the place of one element in a lane's registers, counted from bit 0 of the first register. A bit
 * of the lane that is no source of any bit makes no difference: lanes that differ in it hold the same
 * elements. */
typedef struct tw_lane_map {
    uint8_t row_bits, column_bits;
    uint8_t row[TW_LANE_MAP_MAX]; /* sources, lowest bit first */
    uint8_t column[TW_LANE_MAP_MAX];
} tw_lane_map;

/* The element at (lane, slot); bits of lane and slot that the map does not name are ignored. */
TW_API void tw_lane_map_element(const tw_lane_map *map, unsigned lane, unsigned slot, unsigned *row,
                                unsigned *column);
/* The lowest lane, and the slot, that hold an element; higher bits of row and column are ignored. */
TW_API void tw_lane_map_place(const tw_lane_map *map, unsigned row, unsigned column, unsigned *lane,
                              unsigned *slot);
/* How many slots a lane has. */
TW_API unsigned tw_lane_map_slots(const tw_lane_map *map);

#ifdef __cplusplus
}
#endif
#endif
