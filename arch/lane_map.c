#include "arch/lane_map.h"

static unsigned gather(const uint8_t *sources, unsigned bits, unsigned lane, unsigned slot) {
    unsigned index = 0;
    for (unsigned bit = 0; bit < bits; bit++) {
        unsigned from =
            sources[bit] < TW_SLOT_BIT0 ? lane >> sources[bit] : slot >> (sources[bit] - TW_SLOT_BIT0);
        index |= (from & 1) << bit;
    }
    return index;
}

static void scatter(const uint8_t *sources, unsigned bits, unsigned index, unsigned *lane, unsigned *slot) {
    for (unsigned bit = 0; bit < bits; bit++) {
        unsigned value = index >> bit & 1;
        if (sources[bit] < TW_SLOT_BIT0) {
            *lane |= value << sources[bit];
        } else {
            *slot |= value << (sources[bit] - TW_SLOT_BIT0);
        }
    }
}

void tw_lane_map_element(const tw_lane_map *map, unsigned lane, unsigned slot, unsigned *row,
                         unsigned *column) {
    *row = gather(map->row, map->row_bits, lane, slot);
    *column = gather(map->column, map->column_bits, lane, slot);
}

void tw_lane_map_place(const tw_lane_map *map, unsigned row, unsigned column, unsigned *lane,
                       unsigned *slot) {
    *lane = *slot = 0;
    scatter(map->row, map->row_bits, row, lane, slot);
    scatter(map->column, map->column_bits, column, lane, slot);
}

unsigned tw_lane_map_slots(const tw_lane_map *map) {
    unsigned slot_bits = 0;
    for (unsigned bit = 0; bit < map->row_bits; bit++)
        slot_bits += map->row[bit] >= TW_SLOT_BIT0;
    for (unsigned bit = 0; bit < map->column_bits; bit++)
        slot_bits += map->column[bit] >= TW_SLOT_BIT0;
    return 1u << slot_bits;
}
