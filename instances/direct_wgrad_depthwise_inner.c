/* The inner loop: tile_h output rows, tile_w output columns a round, no check anywhere. Each pixel of X is
 * loaded once for all taps that use it; the columns that the next round uses again stay in registers.
 *
 * Where a target multiplies pairs of f32, and a lane has one channel, two filter rows make a pair: the same
 * columns of two rows of X lie side by side, and moving to the next column moves both. */
#include "instances/direct_wgrad_depthwise_internal.h"

enum {
    MAX_TILE_H = 4,
    MAX_TILE_W = 8,
    MAX_CARRIED = DW_MAX_TAPS + DW_MAX_X_ROWS * DW_MAX_KERNEL + DW_MAX_X_ROWS + MAX_TILE_H
};

/* What goes from round to round: the sums, a window of X, and where the next pixels are. */
typedef struct window {
    tw_value acc[DW_MAX_TAPS]; /* units x kw: a unit is one filter row, or two */
    /* Columns of X, by row; and of two rows, starting at that row. Either is made from the other when asked
     * for. */
    tw_value x[DW_MAX_X_ROWS][DW_MAX_COLUMNS], pair[DW_MAX_X_ROWS][DW_MAX_COLUMNS];
    tw_value x_offset[DW_MAX_X_ROWS]; /* bytes of the first column that is not in the window */
    tw_value dy_offset[MAX_TILE_H];
} window;

/* Rows `row`.. of `rows` rows in all that make one unit: 1 or 2. */
static int unit_rows(const dw_gen *g, int row, int rows) {
    return g->shape.unit == 2 && row + 1 < rows ? 2 : 1;
}

static tw_value x_row(dw_gen *g, window *win, int row, int column) {
    tw_value *value = &win->x[row][column];
    if (!value->id) *value = tw_vector_extract(g->b, win->pair[row & ~1][column], (unsigned)(row & 1));
    return *value;
}

static tw_value x_unit(dw_gen *g, window *win, int row, int column, int rows) {
    if (rows == 1) return x_row(g, win, row, column);
    tw_value *value = &win->pair[row][column];
    if (!value->id) {
        tw_value both[2];
        both[0] = x_row(g, win, row, column);
        both[1] = x_row(g, win, row + 1, column);
        *value = tw_vector_build(g->b, both, 2);
    }
    return *value;
}

/* The carried values in one order, to and from an array: the sums, the window from `column` on, the offsets.
 */
static unsigned pack(dw_gen *g, window *win, int column, tw_value *out) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    for (int i = 0, unit = 0; i < shape->group_rows; i += unit_rows(g, i, shape->group_rows), unit++)
        for (int s = 0; s < shape->kw; s++)
            out[count++] = win->acc[unit * shape->kw + s];
    for (int i = 0; i < shape->x_rows; i += unit_rows(g, i, shape->x_rows))
        for (int s = 0; s < shape->kept; s++)
            out[count++] = x_unit(g, win, i, column + s, unit_rows(g, i, shape->x_rows));
    for (int i = 0; i < shape->x_rows; i++)
        out[count++] = win->x_offset[i];
    for (int t = 0; t < shape->tile_h; t++)
        out[count++] = win->dy_offset[t];
    return count;
}

static void unpack(dw_gen *g, window *win, const tw_value *in) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    *win = (window){0};
    for (int i = 0, unit = 0; i < shape->group_rows; i += unit_rows(g, i, shape->group_rows), unit++)
        for (int s = 0; s < shape->kw; s++)
            win->acc[unit * shape->kw + s] = in[count++];
    for (int i = 0; i < shape->x_rows; i += unit_rows(g, i, shape->x_rows))
        for (int s = 0; s < shape->kept; s++)
            *(unit_rows(g, i, shape->x_rows) == 2 ? &win->pair[i][s] : &win->x[i][s]) = in[count++];
    for (int i = 0; i < shape->x_rows; i++)
        win->x_offset[i] = in[count++];
    for (int t = 0; t < shape->tile_h; t++)
        win->dy_offset[t] = in[count++];
}

/* The kernel's sums into units, and back. */
static void join_sums(dw_gen *g, window *win) {
    const int rows = g->shape.group_rows, kw = g->shape.kw;
    for (int i = 0, unit = 0; i < rows; i += unit_rows(g, i, rows), unit++)
        for (int s = 0; s < kw; s++) {
            tw_value both[2] = {g->acc[i * kw + s], g->acc[(i + 1 < rows ? i + 1 : i) * kw + s]};
            win->acc[unit * kw + s] = unit_rows(g, i, rows) == 2 ? tw_vector_build(g->b, both, 2) : both[0];
        }
}

static void split_sums(dw_gen *g, const window *win) {
    const int rows = g->shape.group_rows, kw = g->shape.kw;
    for (int i = 0, unit = 0; i < rows; i += unit_rows(g, i, rows), unit++)
        for (int s = 0; s < kw; s++) {
            tw_value sum = win->acc[unit * kw + s];
            if (unit_rows(g, i, rows) == 1) {
                g->acc[i * kw + s] = sum;
                continue;
            }
            g->acc[i * kw + s] = tw_vector_extract(g->b, sum, 0);
            g->acc[(i + 1) * kw + s] = tw_vector_extract(g->b, sum, 1);
        }
}

static void open_window(dw_gen *g, const dw_block *block, window *win) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value strided = tw_emit_mul(b, block->from, shape->stride);
    tw_value x_column = tw_sub(b, strided, g->pad_w);
    tw_value image_row = tw_add(b, block->x_row, block->image_row);
    tw_value first = tw_emit_mad(b, x_column, image_row, g->w);
    tw_value offset = tw_mul(b, first, g->pixel);
    tw_value pitch = tw_mul(b, g->w, g->pixel);
    tw_value kept_bytes = tw_emit_mul(b, g->pixel, shape->kept);
    *win = (window){0};
    for (int i = 0; i < shape->x_rows; i++) {
        if (i) offset = tw_add(b, offset, pitch);
        for (int s = 0; s < shape->kept; s++)
            win->x[i][s] = tw_dw_load(g, g->x, g->column[s], offset);
        win->x_offset[i] = shape->kept ? tw_add(b, offset, kept_bytes) : offset;
    }
    image_row = tw_add(b, block->row, block->image_dy_row);
    first = tw_emit_mad(b, block->from, image_row, g->wo);
    win->dy_offset[0] = tw_mul(b, first, g->pixel);
    if (shape->tile_h > 1) pitch = tw_mul(b, g->wo, g->pixel);
    for (int t = 1; t < shape->tile_h; t++)
        win->dy_offset[t] = tw_add(b, win->dy_offset[t - 1], pitch);
}

/* What a round loads: dY, and the columns of X that are not in the window. */
static void load_round(dw_gen *g, window *win, tw_value dy[MAX_TILE_H][MAX_TILE_W]) {
    const dw_shape *shape = &g->shape;
    for (int u = 0; u < shape->tile_w; u++) {
        for (int t = 0; t < shape->tile_h; t++)
            dy[t][u] = tw_dw_load(g, g->dy, g->column[u], win->dy_offset[t]);
        for (int i = 0; i < shape->x_rows; i++)
            for (int s = shape->kept; s < shape->kw; s++) {
                int column = u * shape->stride + s;
                win->x[i][column] = tw_dw_load(g, g->x, g->column[column - shape->kept], win->x_offset[i]);
            }
    }
}

/* All products of one pixel of dY. */
static void multiply(dw_gen *g, window *win, tw_value dy, int x_first_row, int x_first_column) {
    const dw_shape *shape = &g->shape;
    tw_value twice = {0};
    for (int i = 0, unit = 0; i < shape->group_rows; unit++) {
        const int rows = unit_rows(g, i, shape->group_rows);
        if (rows == 2 && !twice.id) twice = tw_vector_splat(g->b, dy, 2);
        for (int s = 0; s < shape->kw; s++) {
            tw_value x = x_unit(g, win, x_first_row + i, x_first_column + s, rows);
            tw_value *acc = &win->acc[unit * shape->kw + s];
            *acc = tw_fma(g->b, rows == 2 ? twice : dy, x, *acc);
        }
        i += rows;
    }
}

static void one_round(dw_gen *g, window *win) {
    const dw_shape *shape = &g->shape;
    tw_value dy[MAX_TILE_H][MAX_TILE_W];
    load_round(g, win, dy);
    for (int u = 0; u < shape->tile_w; u++)
        for (int t = 0; t < shape->tile_h; t++)
            multiply(g, win, dy[t][u], t * shape->stride, u * shape->stride);
}

void tw_dw_inner(dw_gen *g, const dw_block *block) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    window win;
    open_window(g, block, &win);
    join_sums(g, &win);
    tw_value dy_step = tw_emit_mul(b, g->pixel, shape->tile_w);
    tw_value x_step = tw_emit_mul(b, g->pixel, shape->tile_w * shape->stride);
    tw_value carried[MAX_CARRIED], next[MAX_CARRIED];
    unsigned count = pack(g, &win, 0, carried);
    tw_value step = tw_i32(b, shape->tile_w);
    tw_for_begin(b, block->from, block->to, step, count, carried, next);
    tw_for_unroll(b, 1);
    unpack(g, &win, next);
    one_round(g, &win);
    for (int i = 0; i < shape->x_rows; i++)
        win.x_offset[i] = tw_add(b, win.x_offset[i], x_step);
    for (int t = 0; t < shape->tile_h; t++)
        win.dy_offset[t] = tw_add(b, win.dy_offset[t], dy_step);
    count = pack(g, &win, shape->tile_w * shape->stride, next);
    tw_for_end(b, count, next, carried);
    unpack(g, &win, carried);
    split_sums(g, &win);
}
