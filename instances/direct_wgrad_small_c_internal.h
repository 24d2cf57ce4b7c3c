/* The shape of one direct_wgrad_small_c kernel, and its builder's state. */
#ifndef TW_INSTANCES_DIRECT_WGRAD_SMALL_C_INTERNAL_H
#define TW_INSTANCES_DIRECT_WGRAD_SMALL_C_INTERNAL_H

#include "arch/transpose.h"
#include "instances/direct_wgrad_small_c.h"
#include "instances/wgrad_dense.h"
#include "ir/matrix.h"

enum {
    SC_TILE = 16,
    SC_UNITS = 8,  /* of a step: what a lane's run of a fragment holds */
    SC_RUNS = 4,   /* of a product */
    SC_HALVES = 2, /* of a fragment, each a read of two runs */
    SC_CHUNK = 8,  /* elements of 16 bits: one of each unit */
    SC_MAX_TILES = 8,
    SC_MAX_SUMS = 64, /* the register rule admits fewer */
    SC_MAX_ROWS = 4,
    SC_MAX_ITEMS = 64, /* of a lane; likewise */
    SC_LANES = 32,
    SC_MAX_TABLE_WAVES = 32, /* whose items are dealt by banks */
    SC_MAX_ROW_BYTES = 1 << 30,
    SC_MAX_ROW_BUFFERS = 32,
};

/* What follows from a spec and a target alone. */
typedef struct sc_shape {
    const tw_matrix_atom *atom; /* NULL: the target has none that serves */
    tw_matrix_info info;
    const tw_transposed_read *transposed;
    int columns, row_columns; /* of dW: kh * kw * c, and of one filter row */
    int flat, flat_row; /* the same as tiles count them: with a column that does not exist in each row, or
                           without */
    int waves, threads;
    int tile_k, tile_q;          /* of a workgroup */
    int unit_columns;            /* output columns of a unit */
    int unit_elements;           /* of X, from unit to unit */
    int across;                  /* units side by side */
    int step_columns, step_rows; /* of all units */
    int products;                /* of a wave and step */
    int taps_rows;               /* filter rows that a tile of columns may touch */
    int x_rows;                  /* of X, for a unit */
    int x_chunks;                /* of a row that are stored */
    int x_planes, x_plane; /* chunk e of a row is in plane e modulo planes; chunks from plane to plane */
    int x_tiles;           /* neighbouring tiles that share their columns in turn */
    int x_halves;          /* addresses of a tile: the halves of a fragment may be in different planes */
    int x_conflicts;       /* cycles that the stores of a step's vectors take more than without, one each */
    int x_pitch;           /* chunks from row to row */
    int x_vectors;         /* loads of a row */
    int dealt_rows;        /* that lanes share: all, or the wave's one */
    int x_waves;           /* waves full of items that these are */
    int x_deal,
        x_dealt; /* rows that neighbouring lanes are in, 0: by banks; items, with those that this adds */
    uint32_t banks;
    int x_rounds;    /* rows of a wave, where it stages whole rows */
    int row_buffers; /* resources of a step where a wave stages whole rows: each row of dY and X has its own
                      */
    int x_items;     /* of a lane: a vector of each unit */
    int dy_pitch;    /* elements from position to position */
    int dy_unit;     /* elements from unit to unit */
    int dy_vectors;  /* of a row of a unit */
    int dy_items;    /* of a lane, for each row and unit */
    int dy_loads;    /* of a lane: values of a step that wait in registers */
    int dy_first, buffer; /* elements of LDS: where dY begins, and what the next buffer is away */
    int lds_bytes;
    int vgprs;                /* an estimate */
    int vgpr_cap, vgpr_limit; /* what the kernel asks of the compiler, and what the target gives of it */
} sc_shape;

sc_shape tw_sc_shape(const tw_wgrad_small_c_spec *spec, tw_target target);

/* Chooses the layout of X and who stages it (direct_wgrad_small_c_layout.c). */
void tw_sc_lay_out(sc_shape *z, const tw_wgrad_small_c_spec *spec);
/* The chunk of an element of a staged row, and its place among all. */
int tw_sc_chunk(const sc_shape *z, int row, int element);
/* Has a lane anything to stage, and what? */
typedef struct sc_staged {
    bool exists;
    int row, vector;
} sc_staged;
/* What the lanes of the waves stage, the waves counted on where they stage more than once. */
void tw_sc_deal(const sc_shape *z, int vec, int wave, sc_staged items[SC_LANES]);
/* Conflicts of each of a wave's stores of X. */
unsigned tw_sc_store_conflicts(const sc_shape *z, int vec, int wave);

/* The first position of a step. */
typedef struct sc_step {
    tw_value image, row, column; /* of dY; uniform */
} sc_step;

/* A lane's vector of X in every unit, or of dY in every row and unit. */
typedef struct sc_item {
    tw_value row;    /* of X that is staged; uniform where a wave stages whole rows, and unset for dY */
    tw_value bytes;  /* from the row's (of dY, the unit's) begin */
    tw_value offset; /* of X: the same with the row */
    tw_value place;  /* element in LDS */
    tw_value active; /* has the lane one? Unset where all have. */
    tw_value exists; /* has the wave one? Unset where all have. */
} sc_item;

typedef struct sc_gen {
    tw_builder *b;
    const tw_wgrad_small_c_spec *spec;
    sc_shape shape;
    tw_target target;
    tw_dense_args args;
    tw_value steps;            /* argument: of a workgroup */
    tw_value zero;             /* i32 */
    tw_value first_k, first_q; /* of the workgroup */
    tw_value wave_k, wave_q, wave_p;
    tw_value first_row; /* of the filter, that the tile's columns touch */
    tw_value shift;     /* elements that the staged row begins before its first tap */
    tw_value row_bytes, image_elements, dy_pixel; /* bytes of a row of X, and of a position of dY */
    sc_item x[SC_MAX_ITEMS], dy[SC_MAX_ITEMS];
    tw_value x_values[SC_MAX_ITEMS * SC_UNITS], dy_values[SC_MAX_ITEMS * SC_UNITS];
    tw_value lds;
    tw_value product_row, product_column; /* of the unit, where the wave's products begin */
    tw_value in_first_column,
        last_dy; /* without LDS: -1 in the lanes of a half's first column, and the last place in dY */
    tw_value lane_x[SC_MAX_TILES * SC_HALVES], /* [half][tile of q] */
        lane_dy;                /* where the lane's part of a fragment is in the step's buffer, or in dY */
    tw_value sums[SC_MAX_SUMS]; /* [tile of k][tile of q] */
} sc_gen;

tw_kernel *tw_sc_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name);

/* index / k and the rest, for index >= 0. */
void tw_sc_split(tw_builder *b, tw_value index, int k, tw_value *quotient, tw_value *rest);
/* Places the lanes' loads (direct_wgrad_small_c_stage.c). */
void tw_sc_place_items(sc_gen *g);
/* Loads what a step needs. */
void tw_sc_load(sc_gen *g, const sc_step *step);
/* Stores it to the buffer that begins at element `buffer`. */
void tw_sc_store(sc_gen *g, tw_value buffer);

/* Where the lanes read fragments (direct_wgrad_small_c_inner.c). */
void tw_sc_place_lanes(sc_gen *g);
/* Where the wave's products begin: row and column of the unit. */
void tw_sc_place_products(sc_gen *g, tw_value *row, tw_value *column);
tw_value tw_sc_join(tw_builder *b, tw_value low, tw_value high);
/* How many places of X a lane has. */
int tw_sc_x_places(const sc_gen *g);
/* Moves the lanes' places by `elements`, to the other buffer. */
void tw_sc_move_lanes(sc_gen *g, tw_value elements);
/* Adds the products of what is staged in the lanes' buffer to the sums. Without LDS for dY, loads that of
 * step `next`. */
void tw_sc_multiply(sc_gen *g, const sc_step *next);
/* dY without LDS (direct_wgrad_small_c_dy.c). */
void tw_sc_place_direct(sc_gen *g);
/* Loads what the kernel's first step needs, X too, in the order in which the loop does: what waits for X does
 * not wait for dY. Without any product nothing is loaded. */
void tw_sc_load_first(sc_gen *g, const sc_step *step);
/* Where a half of a product's fragments is: uniform, and the lane's element from there. */
typedef struct sc_place {
    tw_value pointer, at;
} sc_place;
void tw_sc_place_product(sc_gen *g, const sc_step *step, int product, sc_place places[SC_HALVES]);
/* Loads a product's fragments. */
void tw_sc_load_product(sc_gen *g, const sc_place places[SC_HALVES], int product);
/* How much of the image there is from a step's first position on: both uniform. */
typedef struct sc_rest {
    tw_value rows, columns;
} sc_rest;
sc_rest tw_sc_rest_of(sc_gen *g, const sc_step *step);
/* Clears what is not in the image of that which was loaded. */
void tw_sc_clear_outside(sc_gen *g, const sc_rest *rest);
tw_value tw_sc_direct_fragment(sc_gen *g, int product, int tile);

/* Gives the sums to the slab. */
void tw_sc_give(sc_gen *g);

#endif
