/* What is staged, which lane moves what, and where that lies in LDS. */
#include "instances/wgrad_stage.h"

static int round_up(int x, int k) { return (x + k - 1) / k * k; }

static int most(int a, int b) { return a > b ? a : b; }

int tw_stage_load_vgprs(const tw_stage_shape *z) { return tw_stage_loads(z) * ((z->vec + 1) / 2); }

int tw_stage_place_vgprs(const tw_stage_shape *z) { return 2 * (z->by_row ? z->by_row : z->rounds); }

static void deal_items(tw_stage_shape *z) {
    const int unit = z->transposed ? 8 : most(z->group, z->word);
    z->columns = z->copied ? z->used : round_up(z->used, unit);
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
    return z->transposed ? column * z->pitch + piece * z->vec : piece * z->pitch + column;
}

static int lane_place(const tw_stage_shape *z, int lane) {
    const int channel = lane % TW_STAGE_TILE, part = lane / TW_STAGE_TILE % (z->span / z->own);
    return channel / z->vec * z->pitch + channel % z->vec * z->block + part * z->own;
}

/* Cycles more than without bank conflicts, of all lanes' accesses of `size` elements. */
static int conflicts(const tw_stage_shape *z, int (*place)(const tw_stage_shape *, int), int lanes, int size,
                     int banks) {
    enum { MAX_BANKS = 64 };
    const int words = most(size / 2, 1), group = z->lanes * words > banks ? banks / words : z->lanes;
    int cycles = 0;
    for (int first = 0; first < lanes; first += group) {
        int load[MAX_BANKS] = {0}, last[MAX_BANKS], worst = 1;
        for (int lane = first; lane < first + group && lane < lanes; lane++)
            for (int k = 0; k < words; k++) {
                const int word = place(z, lane) / 2 + k, bank = word % banks;
                if (load[bank] && last[bank] == word) continue;
                last[bank] = word;
                worst = most(worst, ++load[bank]);
            }
        cycles += worst - 1;
    }
    return cycles;
}

/* Pitches that keep reads, and then stores, free of conflicts, the smallest of those that do best. */
static void lay_out_turned(tw_stage_shape *z, int banks) {
    const int unit = most(z->group, z->word), across = z->channels / z->vec;
    const int units = 2 * banks / unit;
    int best = -1, best_pitch = 0, best_block = 0;
    for (int i = 0; i < units && best; i++)
        for (int j = 0; j < units && best; j++) {
            z->pitch = z->columns + i * unit;
            z->block = across * z->pitch + j * unit;
            int cost = 8 * conflicts(z, lane_place, z->lanes, z->word, banks);
            if (best >= 0 && cost >= best) continue;
            cost += conflicts(z, place_of, z->items < z->lanes ? z->items : z->lanes, z->group, banks);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            best_pitch = z->pitch;
            best_block = z->block;
        }
    z->pitch = best_pitch;
    z->block = best_block;
    z->tile = TW_STAGE_TILE / z->vec * z->pitch;
    z->row = (z->vec - 1) * z->block + across * z->pitch;
}

/* A product is blind to the order of its positions, as long as both operands have the same: each lane takes
 * neighbouring ones, all that a row has for it. */
static void turn(tw_stage_shape *z, int banks) {
    const tw_matrix_info info = tw_matrix_atom_info(z->atom);
    const tw_lane_map map = tw_matrix_lane_map(z->atom, TW_MATRIX_A);
    unsigned channel, column;
    tw_lane_map_element(&map, TW_STAGE_TILE, 0, &channel, &column);
    z->slots = info.slots[TW_MATRIX_A];
    z->word = z->slots < 8 ? z->slots : 8;
    z->own = z->span / (info.k / z->slots);
    z->lane_columns = column ? z->own / (int)column : 0;
    int least = 0;
    for (int group = 4; group <= TW_STAGE_MAX_GROUP; group *= 2) {
        tw_stage_shape with = *z;
        with.group = group;
        deal_items(&with);
        if (least && tw_stage_loads(&with) > least) continue;
        least = tw_stage_loads(&with);
        z->group = group;
    }
    deal_items(z);
    z->digits[0] = (tw_stage_digit){z->channels / z->vec, 0, 1};
    z->digits[1] = (tw_stage_digit){0, z->group, 0};
    lay_out_turned(z, banks);
}

/* A position has 16 channels more than the tile where that spreads the positions that a transposed read
 * touches at once, eight of 32 bytes, over all banks: the pitch is an odd number of 32 bytes. Stores of 16
 * bytes, which serve 16 lanes at once, go to eight positions of 32 bytes for the same reason. */
static void keep(tw_stage_shape *z) {
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
}

void tw_stage_measure(tw_stage_shape *z, tw_target target) {
    if (z->transposed)
        keep(z);
    else
        turn(z, (int)tw_arch_get(target.arch)->lds_banks);
    z->elements = z->rows * z->row;
}

int64_t tw_stage_reach(const tw_stage_shape *z, int64_t columns, int64_t pad, int64_t channels) {
    const int64_t behind = (columns + z->span - 1) / z->span * z->span + z->reach;
    return (pad > behind ? pad : behind) * channels * 2;
}
