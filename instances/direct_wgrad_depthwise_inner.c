/* The inner loop: tile_h output rows, tile_w output columns a round, no check anywhere. Each pixel of X is
 * loaded once for all taps that use it; the columns that the next round uses again stay in registers. */
#include "instances/direct_wgrad_depthwise_internal.h"

/* What goes from round to round: the sums, a window of X, and where the next pixels are. */
typedef struct window {
    tw_value x[DW_MAX_X_ROWS][DW_MAX_COLUMNS];
    tw_value x_offset[DW_MAX_X_ROWS]; /* bytes of the first column that is not in the window */
    tw_value dy_offset[4];
} window;

enum { MAX_CARRIED = DW_MAX_TAPS + DW_MAX_X_ROWS * DW_MAX_KERNEL + DW_MAX_X_ROWS + 4 };

/* The carried values in one order, to and from an array. */
static unsigned pack(const dw_gen *g, const window *win, int from_column, tw_value *out) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    for (int i = 0; i < shape->group_rows * shape->kw; i++)
        out[count++] = g->acc[i];
    for (int i = 0; i < shape->x_rows; i++) {
        out[count++] = win->x_offset[i];
        for (int s = 0; s < shape->kept; s++)
            out[count++] = win->x[i][from_column + s];
    }
    for (int t = 0; t < shape->tile_h; t++)
        out[count++] = win->dy_offset[t];
    return count;
}

static void unpack(dw_gen *g, window *win, const tw_value *in) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    for (int i = 0; i < shape->group_rows * shape->kw; i++)
        g->acc[i] = in[count++];
    for (int i = 0; i < shape->x_rows; i++) {
        win->x_offset[i] = in[count++];
        for (int s = 0; s < shape->kept; s++)
            win->x[i][s] = in[count++];
    }
    for (int t = 0; t < shape->tile_h; t++)
        win->dy_offset[t] = in[count++];
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

/* One round: loads what is new, then all products. */
static void round_of_columns(dw_gen *g, window *win) {
    const dw_shape *shape = &g->shape;
    tw_value dy[4][8];
    for (int u = 0; u < shape->tile_w; u++) {
        for (int t = 0; t < shape->tile_h; t++)
            dy[t][u] = tw_dw_load(g, g->dy, g->column[u], win->dy_offset[t]);
        for (int i = 0; i < shape->x_rows; i++) {
            for (int s = shape->kept; s < shape->kw; s++) {
                int column = u * shape->stride + s;
                win->x[i][column] = tw_dw_load(g, g->x, g->column[column - shape->kept], win->x_offset[i]);
            }
        }
    }
    for (int u = 0; u < shape->tile_w; u++)
        for (int t = 0; t < shape->tile_h; t++)
            for (int i = 0; i < shape->group_rows; i++)
                tw_dw_fma_row(g, i, &dy[t][u], 0, &win->x[i + t * shape->stride][u * shape->stride]);
}

void tw_dw_inner(dw_gen *g, const dw_block *block) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    window win;
    open_window(g, block, &win);
    tw_value dy_step = tw_emit_mul(b, g->pixel, shape->tile_w);
    tw_value x_step = tw_emit_mul(b, g->pixel, shape->tile_w * shape->stride);
    tw_value carried[MAX_CARRIED], next[MAX_CARRIED];
    unsigned count = pack(g, &win, 0, carried);
    tw_value step = tw_i32(b, shape->tile_w);
    tw_for_begin(b, block->from, block->to, step, count, carried, next);
    tw_for_unroll(b, 1);
    unpack(g, &win, next);
    round_of_columns(g, &win);
    for (int i = 0; i < shape->x_rows; i++)
        win.x_offset[i] = tw_add(b, win.x_offset[i], x_step);
    for (int t = 0; t < shape->tile_h; t++)
        win.dy_offset[t] = tw_add(b, win.dy_offset[t], dy_step);
    count = pack(g, &win, shape->tile_w * shape->stride, next);
    tw_for_end(b, count, next, carried);
    unpack(g, &win, carried);
}
