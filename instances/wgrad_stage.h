/* How the weight-gradient kernels on the matrix units bring rows of X and dY through LDS: which lane loads
 * what, where that lies in LDS, and how fragments are read from there.
 *
 * Rows lie in LDS in one of two ways. Where the target's reads transpose, a position (a column of the image)
 * is a contiguous run of channels. Elsewhere rows are turned on the way to LDS, a channel being a contiguous
 * run of positions: lanes then read neighbouring positions of their channel as they lie, once for all columns
 * of the filter, and move them in registers. Reads and stores have no bank conflicts (wgrad_stage_shape.c
 * says why). */
#ifndef TW_INSTANCES_WGRAD_STAGE_H
#define TW_INSTANCES_WGRAD_STAGE_H

#include "arch/transpose.h"
#include "instances/emit.h"
#include "ir/matrix.h"

enum {
    TW_STAGE_MAX_LOADS = 512, /* of a lane */
    TW_STAGE_MAX_GROUP = 8,
    TW_STAGE_MAX_DIGITS = 4,
    TW_STAGE_MAX_WORDS = 9,
    TW_STAGE_TILE = 16,   /* channels of a fragment */
    TW_STAGE_GRANULE = 4, /* turned: positions that are stored together, and begin at a multiple of it */
};

/* The digits of an item's number, the lowest first: what one more of it adds to the item's place. */
typedef struct tw_stage_digit {
    int size; /* the last one has no bound */
    int columns, pieces;
} tw_stage_digit;

/* What is staged at once. The first block is what tw_stage_measure is told. */
typedef struct tw_stage_shape {
    int rows, used;    /* rows, and columns of each that hold data */
    int span;          /* columns that fragments begin in: those of an output strip */
    int channels, vec; /* of the workgroup's tile, and of a load */
    int waves, lanes;
    const tw_matrix_atom *atom;
    const tw_transposed_read *transposed; /* NULL: rows are turned */
    bool copied;                          /* tensor copies bring the rows: there are no items */

    int columns;      /* the same as `used`, in whole groups, or blocks of 8 */
    int group;        /* columns of an item, of which one lane has `vec` channels each */
    int items;        /* of a row */
    int chunks;       /* of a row, each the items of a wave at a time */
    int rounds;       /* chunks of a wave, out of those of all rows */
    int by_row;       /* the same, of each row for itself; 0: a wave goes on in the next row */
    int pitch;        /* elements from column to column; turned: from channel to channel of a tile */
    int half;         /* turned: elements more from channel 7 to 8 of a tile */
    int row, tile;    /* elements from row to row, and from tile to tile of channels */
    int elements;     /* of all rows */
    int reach;        /* columns that items have a place for */
    int word;         /* turned: elements of a read */
    int slots, own;   /* turned: elements of a lane's fragment, and columns of a row that a lane has */
    int lane_columns; /* turned: columns of a lane by the column that the atom gives it */
    int early;     /* turned: what lies in the place of columns from `span` on begins that many before it */
    int behind;    /* turned: elements of a read of columns behind the lane's own; 0: none is needed */
    int conflicts; /* cycles that bank conflicts cost: of the stores of a row, and of reading a tile */
    tw_stage_digit digits[TW_STAGE_MAX_DIGITS];
} tw_stage_shape;

void tw_stage_measure(tw_stage_shape *shape, tw_target target);
/* Bytes from an image row's begin to the farthest column that is asked for, `pad` columns before it or behind
 * `columns` of output: the kernel counts them in an i32. */
int64_t tw_stage_reach(const tw_stage_shape *shape, int64_t columns, int64_t pad, int64_t channels);
static inline int tw_stage_loads(const tw_stage_shape *shape) { return shape->rounds * shape->group; }
/* Registers of a lane for what is on its way. */
int tw_stage_load_vgprs(const tw_stage_shape *shape);
/* And for where the lanes' items are. */
int tw_stage_place_vgprs(const tw_stage_shape *shape);

/* One operand's staging in a kernel being built. */
typedef struct tw_stage {
    tw_builder *b;
    const tw_stage_shape *shape;
    tw_scalar dtype;
    tw_value pointer;                 /* of the tensor */
    tw_value height, width, channels; /* of the tensor's images */
    tw_value lds;
    tw_value pixel, row_elements, row_bytes;
    struct {
        tw_value row;     /* of those that are staged; uniform in the wave */
        tw_value voffset; /* bytes from the row's first column that is staged */
        tw_value place;   /* elements in LDS */
        tw_value active;  /* has the lane an item? No value where all lanes have */
    } round[TW_STAGE_MAX_LOADS];
    tw_value lane;                    /* where the lane's part of the wave's first fragment lies */
    tw_value behind;                  /* turned: the same, for the columns behind that part */
    tw_value raw[TW_STAGE_MAX_LOADS]; /* what was loaded */
} tw_stage;

/* Places the lanes' items; `first_channel` is the workgroup's first of the whole tensor. */
void tw_stage_place_items(tw_stage *stage, tw_value first_channel);
/* Places the lanes' parts of fragments, for a wave whose first tile of 16 channels is `wave_tile` of the
 * workgroup's. */
void tw_stage_place_lanes(tw_stage *stage, tw_matrix_operand operand, tw_value wave_tile);

/* Rows from `row` on of an image, from `column` on; either may be outside. What is outside the image, or not
 * below `end`, or all where `exists` has a value that is false, is zero. */
typedef struct tw_stage_from {
    tw_value image, row, column;
    tw_value end, exists;
} tw_stage_from;

/* Begins to load. */
void tw_stage_load(tw_stage *stage, const tw_stage_from *from);
/* Stores what was loaded to the buffer that begins at element `buffer`. */
void tw_stage_store(tw_stage *stage, tw_value buffer);

/* What a lane read of a row for one tile. */
typedef struct tw_stage_words {
    tw_value word[TW_STAGE_MAX_WORDS];
} tw_stage_words;

/* Turned: a lane's words of a row, as many as fragments need that are moved by less than `shifts` columns. */
void tw_stage_read_words(const tw_stage *stage, tw_value buffer, int row, int tile, int shifts,
                         tw_stage_words *out);
/* Turned: the row's fragment `atom`, moved by `shift` columns. */
tw_value tw_stage_word_fragment(const tw_stage *stage, const tw_stage_words *words, int atom, int shift);
/* Else: 16 columns from `column` on. */
tw_value tw_stage_read_transposed(const tw_stage *stage, tw_value buffer, int row, int column, int tile);
/* Two vectors in one. */
tw_value tw_stage_join(tw_builder *b, tw_value low, tw_value high, int elements);

#endif
