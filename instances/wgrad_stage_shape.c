/* What is staged, which lane moves what, and where that lies in LDS. */
#include "instances/wgrad_stage.h"

#include "arch/lds_banks.h"

static int least(int a, int b) { return a < b ? a : b; }

static int round_up(int x, int k) { return (x + k - 1) / k * k; }

int tw_stage_load_vgprs(const tw_stage_shape *z) { return tw_stage_loads(z) * ((z->vec + 1) / 2); }

int tw_stage_place_vgprs(const tw_stage_shape *z) { return 2 * (z->by_row ? z->by_row : z->rounds); }

static void deal_items(tw_stage_shape *z) {
    z->columns = z->copied ? z->used : round_up(z->used, z->transposed ? 8 : z->group);
    const int across = z->channels / z->vec;
    z->items = z->copied ? 0 : z->columns / z->group * across;
    z->chunks = (z->items + z->lanes - 1) / z->lanes;
    z->rounds = (z->rows * z->chunks + z->waves - 1) / z->waves;
    /* A row for itself takes fewer registers: all rows have the same items. */
    const int by_row = (z->chunks + z->waves - 1) / z->waves, rounds = z->rows * by_row;
    z->by_row = 4 * rounds <= 5 * z->rounds ? by_row : 0;
    if (z->by_row) z->rounds = rounds;
    const int dealt = z->by_row ? z->by_row * z->waves : z->chunks;
    z->reach = round_up(dealt * z->lanes, across) / across * z->group;
}

static int channel_place(const tw_stage_shape *z, int channel) {
    const int of_tile = channel % TW_STAGE_TILE;
    return channel / TW_STAGE_TILE * z->tile + of_tile * z->pitch + of_tile / (TW_STAGE_TILE / 2) * z->half;
}

/* The place of an item within its row. */
static int place_of(const tw_stage_shape *z, int item) {
    int column = 0, piece = 0;
    for (const tw_stage_digit *d = z->digits;; d++) {
        const int digit = d->size ? item % d->size : item;
        column += digit * d->columns;
        piece += digit * d->pieces;
        if (!d->size) break;
        item /= d->size;
    }
    const int channel = piece * z->vec;
    return z->transposed ? column * z->pitch + channel : channel_place(z, channel) + column;
}

/* Which part of the columns the lane has. */
static int part_of(const tw_stage_shape *z, int lane) { return lane / TW_STAGE_TILE % (z->span / z->own); }

/* The place of the lane's part of a fragment. */
static int lane_place(const tw_stage_shape *z, int lane) {
    if (!z->transposed) return channel_place(z, lane % TW_STAGE_TILE) + part_of(z, lane) * z->own;
    unsigned column, channel;
    tw_lane_map_element(&z->transposed->memory, (unsigned)lane, 0, &column, &channel);
    return (int)column * z->pitch + (int)channel;
}

/* And of the columns behind it. */
static int behind_place(const tw_stage_shape *z, int lane) {
    return lane_place(z, lane) + z->own + part_of(z, lane) * z->early;
}

static int count_conflicts(const tw_stage_shape *z, int (*place)(const tw_stage_shape *, int), int count,
                           int elements, unsigned banks) {
    unsigned cycles = 0;
    for (int first = 0; first < count; first += TW_LDS_LANES) {
        uint32_t offset[TW_LDS_LANES], active = 0;
        for (int i = 0; i < TW_LDS_LANES && first + i < count; i++) {
            offset[i] = 2 * (uint32_t)place(z, first + i);
            active |= 1u << i;
        }
        cycles += tw_lds_bank_conflicts(banks, offset, active, 2 * (unsigned)elements);
    }
    return (int)cycles;
}

/* An access of one granule, or of two by an instruction with two addresses, serves 16 lanes at once in 16
 * pairs of banks. In granules a channel's pitch is odd, so the 16 channels of a fragment are in all of them.
 * Items are `vec` channels apart, which leaves `vec` residues between them: to lanes that differ in the tile
 * of channels, or in the column, the pitch of a tile gives what is missing.
 *
 * Neighbouring lanes take neighbouring channels, then columns: where the tiles are a multiple of `vec` those
 * alone fill the residues with any odd pitch; where they divide it, tiles are vec / tiles granules apart, and
 * columns, one granule each, are between them. Else lanes take all columns of a tile, and then go on in the
 * next one as if it were the same row.
 *
 * Columns of items of two granules are two apart: then all of this is done in twice the steps, and a tile's
 * second 8 channels are in the odd granules that are left. */
static void lay_out_turned(tw_stage_shape *z) {
    const int across = z->channels / z->vec, tiles = z->channels / TW_STAGE_TILE;
    const int granules = z->rows * z->columns / TW_STAGE_GRANULE, of_row = z->columns / z->group;
    const int step = z->group / TW_STAGE_GRANULE;
    int between;
    if (tiles % z->vec == 0 || z->vec % tiles == 0) {
        z->digits[0] = (tw_stage_digit){across, 0, 1};
        z->digits[1] = (tw_stage_digit){0, z->group, 0};
        between = tiles < z->vec ? z->vec / tiles : 1;
    } else {
        z->digits[0] = (tw_stage_digit){TW_STAGE_TILE / z->vec, 0, 1};
        z->digits[1] = (tw_stage_digit){of_row, z->group, 0};
        z->digits[2] = (tw_stage_digit){0, 0, TW_STAGE_TILE / z->vec};
        between = of_row % z->vec ? of_row % z->vec : z->vec;
    }
    z->row = z->columns;
    z->pitch = (round_up(granules, step) / step | 1) * step * TW_STAGE_GRANULE;
    z->half = (step - 1) * TW_STAGE_GRANULE;
    z->tile = TW_STAGE_TILE * z->pitch + (tiles > 1 ? between * step * TW_STAGE_GRANULE : 2 * z->half);
    z->elements = tiles * z->tile;
}

static bool is_better(const tw_stage_shape *z, const tw_stage_shape *than) {
    if (z->conflicts != than->conflicts) return z->conflicts < than->conflicts;
    return tw_stage_loads(z) <= tw_stage_loads(than);
}

/* Of the columns behind the lane's own, a filter of 2 or 3 columns needs 4 bytes. 16 lanes that read the
 * begin of a granule are in every second bank: where there are 16 more that read other columns, what lies
 * behind the last column of the strip is loaded 2 columns early, so that theirs are in the other banks. With
 * more lanes, or columns, whole granules are read. */
static void measure_behind(tw_stage_shape *z) {
    const int behind = z->used - z->span, parts = z->span / z->own;
    z->early = z->behind = 0;
    if (!behind) return;
    z->behind = behind <= TW_STAGE_GRANULE ? TW_STAGE_GRANULE : z->word;
    if (behind > 2 || parts > 2) return;
    z->behind = 2;
    z->early = parts == 2 ? 2 : 0;
}

/* A product is blind to the order of its positions, as long as both operands have the same: each lane takes
 * neighbouring ones, all that a row has for it. */
static void turn(tw_stage_shape *z, unsigned banks) {
    const tw_matrix_info info = tw_matrix_atom_info(z->atom);
    const tw_lane_map map = tw_matrix_lane_map(z->atom, TW_MATRIX_A);
    unsigned channel, column;
    tw_lane_map_element(&map, TW_STAGE_TILE, 0, &channel, &column);
    z->slots = info.slots[TW_MATRIX_A];
    z->word = z->slots < 8 ? z->slots : 8;
    z->own = z->span / (info.k / z->slots);
    z->lane_columns = column ? z->own / (int)column : 0;
    measure_behind(z);
    const tw_stage_shape base = *z;
    for (int group = TW_STAGE_GRANULE; group <= TW_STAGE_MAX_GROUP; group *= 2) {
        tw_stage_shape with = base;
        with.group = group;
        deal_items(&with);
        lay_out_turned(&with);
        with.conflicts = count_conflicts(&with, place_of, with.items, TW_STAGE_GRANULE, banks) +
                         count_conflicts(&with, lane_place, with.lanes, TW_STAGE_GRANULE, banks);
        if (with.behind)
            with.conflicts +=
                count_conflicts(&with, behind_place, with.lanes, least(with.behind, TW_STAGE_GRANULE), banks);
        if (group == TW_STAGE_GRANULE || is_better(&with, z)) *z = with;
    }
}

/* A position has 16 channels more than the tile where that spreads the positions that a transposed read
 * touches at once, eight of 32 bytes, over all banks: the pitch is an odd number of 32 bytes. Stores of 16
 * bytes, which serve 16 lanes at once, go to eight positions of 32 bytes for the same reason. */
static void keep(tw_stage_shape *z, unsigned banks) {
    const int across = z->channels / z->vec;
    z->group = 1;
    deal_items(z);
    const int of_tile = TW_STAGE_TILE / z->vec;
    z->digits[0] = (tw_stage_digit){of_tile, 0, 1};
    z->digits[1] = (tw_stage_digit){8, 1, 0};
    z->digits[2] = (tw_stage_digit){across / of_tile, 0, of_tile};
    z->digits[3] = (tw_stage_digit){0, 8, 0};
    z->pitch = z->channels / TW_STAGE_TILE % 2 ? z->channels : z->channels + TW_STAGE_TILE;
    z->tile = TW_STAGE_TILE;
    z->row = z->columns * z->pitch;
    z->elements = z->rows * z->row;
    z->conflicts = count_conflicts(z, place_of, z->items, z->vec, banks) +
                   count_conflicts(z, lane_place, z->lanes, z->transposed->slots, banks);
}

void tw_stage_measure(tw_stage_shape *z, tw_target target) {
    const unsigned banks = tw_arch_get(target.arch)->lds_banks;
    if (z->transposed)
        keep(z, banks);
    else
        turn(z, banks);
}

int64_t tw_stage_reach(const tw_stage_shape *z, int64_t columns, int64_t pad, int64_t channels) {
    const int64_t behind = (columns + z->span - 1) / z->span * z->span + z->reach;
    return (pad > behind ? pad : behind) * channels * 2;
}
