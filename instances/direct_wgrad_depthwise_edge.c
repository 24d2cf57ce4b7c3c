/* Columns and rows that see padding: one output column at a time, every tap checked.
 *
 * A tap outside X contributes nothing, not even 0 * dY, which is NaN where dY is NaN or infinite: rows
 * outside are branched around; in columns outside both factors are zero. */
#include "instances/direct_wgrad_depthwise_internal.h"

#include <string.h>

typedef struct edge {
    tw_value dy_row;                    /* bytes of the output row's first pixel */
    tw_value row_inside[DW_MAX_KERNEL]; /* i1 */
    tw_value row_offset[DW_MAX_KERNEL]; /* bytes of the row of X, of some row where it is outside */
} edge;

/* Output row `t` of the block; tile_h 1 has but one. */
static void open_rows(dw_gen *g, const dw_block *block, tw_value t, edge *e) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value row = block->row, x_row = block->x_row;
    if (shape->tile_h > 1) {
        row = tw_add(b, row, t);
        tw_value strided = tw_emit_mul(b, t, shape->stride);
        x_row = tw_add(b, x_row, strided);
    }
    tw_value dy_row = tw_add(b, row, block->image_dy_row);
    tw_value first = tw_mul(b, dy_row, g->wo);
    e->dy_row = tw_mul(b, first, g->pixel);
    tw_value pitch = tw_mul(b, g->w, g->pixel);
    for (int i = 0; i < shape->group_rows; i++) {
        tw_value at = tw_emit_add(b, x_row, i);
        e->row_inside[i] = tw_emit_is_index(b, at, g->h);
        tw_value existing = tw_emit_clamp_index(b, at, g->h);
        tw_value place = tw_add(b, block->image_row, existing);
        e->row_offset[i] = tw_mul(b, place, pitch);
    }
}

/* One column of X in all rows of the group, zero where it is outside. */
static void load_column(dw_gen *g, const edge *e, tw_value at, tw_value inside, tw_value *out, int out_step) {
    tw_builder *b = g->b;
    tw_value existing = tw_emit_clamp_index(b, at, g->w);
    tw_value place = tw_mul(b, existing, g->pixel);
    tw_value voffset = tw_add(b, g->voffset, place);
    tw_value zero = tw_emit_zero(b, g->sum);
    for (int i = 0; i < g->shape.group_rows; i++) {
        tw_value value = tw_dw_load(g, g->x, voffset, e->row_offset[i]);
        out[i * out_step] = tw_select(b, inside, value, zero);
    }
}

static void one_column(dw_gen *g, const edge *e, tw_value column, tw_value x[][DW_MAX_KERNEL]) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value strided = tw_emit_mul(b, column, shape->stride);
    tw_value x_column = tw_sub(b, strided, g->pad_w);
    tw_value dy_offset = tw_emit_mad(b, e->dy_row, column, g->pixel);
    tw_value value = tw_dw_load(g, g->dy, g->voffset, dy_offset);
    tw_value zero = tw_emit_zero(b, g->sum);
    tw_value dy[DW_MAX_KERNEL];
    for (int s = 0; s < shape->kw; s++) {
        tw_value at = tw_emit_add(b, x_column, s);
        tw_value inside = tw_emit_is_index(b, at, g->w);
        dy[s] = tw_select(b, inside, value, zero);
        if (s >= shape->kept) load_column(g, e, at, inside, &x[0][s], DW_MAX_KERNEL);
    }
    for (int i = 0; i < shape->group_rows; i++) {
        tw_value *acc = g->acc + i * shape->kw, untouched[DW_MAX_KERNEL];
        memcpy(untouched, acc, sizeof(tw_value) * (size_t)shape->kw);
        tw_if_begin(b, e->row_inside[i]);
        for (int s = 0; s < shape->kw; s++)
            acc[s] = tw_fma(b, dy[s], x[i][s], acc[s]);
        tw_if_else(b, (unsigned)shape->kw, acc);
        tw_if_end(b, (unsigned)shape->kw, untouched, acc);
    }
}

/* Sums and kept columns, in one order. */
static unsigned pack(const dw_gen *g, tw_value x[][DW_MAX_KERNEL], int from_column, tw_value *out) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    for (int i = 0; i < shape->group_rows * shape->kw; i++)
        out[count++] = g->acc[i];
    for (int i = 0; i < shape->group_rows; i++)
        for (int s = 0; s < shape->kept; s++)
            out[count++] = x[i][from_column + s];
    return count;
}

static void unpack(dw_gen *g, tw_value x[][DW_MAX_KERNEL], const tw_value *in) {
    const dw_shape *shape = &g->shape;
    unsigned count = 0;
    for (int i = 0; i < shape->group_rows * shape->kw; i++)
        g->acc[i] = in[count++];
    for (int i = 0; i < shape->group_rows; i++)
        for (int s = 0; s < shape->kept; s++)
            x[i][s] = in[count++];
}

/* Output columns from..to - 1 of one output row. */
static void columns(dw_gen *g, const edge *e, tw_value from, tw_value to) {
    tw_builder *b = g->b;
    const dw_shape *shape = &g->shape;
    tw_value x[DW_MAX_KERNEL][DW_MAX_KERNEL];
    tw_value strided = tw_emit_mul(b, from, shape->stride);
    tw_value x_column = tw_sub(b, strided, g->pad_w);
    for (int s = 0; s < shape->kept; s++) {
        tw_value at = tw_emit_add(b, x_column, s);
        tw_value inside = tw_emit_is_index(b, at, g->w);
        load_column(g, e, at, inside, &x[0][s], DW_MAX_KERNEL);
    }
    tw_value carried[2 * DW_MAX_TAPS], next[2 * DW_MAX_TAPS];
    unsigned count = pack(g, x, 0, carried);
    tw_value one = tw_i32(b, 1);
    tw_value column = tw_for_begin(b, from, to, one, count, carried, next);
    tw_for_unroll(b, 1);
    unpack(g, x, next);
    one_column(g, e, column, x);
    count = pack(g, x, shape->stride, next);
    tw_for_end(b, count, next, carried);
    unpack(g, x, carried);
}

/* One output row: the columns before the inner loop's, then those after them, by the same code. */
static void output_row(dw_gen *g, const dw_block *block, tw_value t) {
    tw_builder *b = g->b;
    edge e;
    open_rows(g, block, t, &e);
    tw_value two = tw_i32(b, 2);
    tw_value side = tw_dw_for_sums(g, g->zero, two, 1);
    tw_value left = tw_icmp(b, TW_EQ, side, g->zero);
    tw_value from = tw_select(b, left, g->zero, block->to);
    tw_value to = tw_select(b, left, block->from, g->wo);
    tw_value any = tw_icmp(b, TW_SLT, from, to);
    dw_sums untouched = tw_dw_if_sums(g, any);
    columns(g, &e, from, to);
    tw_dw_end_if(g, &untouched);
    tw_dw_end_for(g);
}

void tw_dw_edges(dw_gen *g, const dw_block *block) {
    tw_builder *b = g->b;
    if (g->shape.tile_h == 1) {
        output_row(g, block, g->zero);
        return;
    }
    tw_value left = tw_sub(b, g->ho, block->row);
    tw_value rows = tw_emit_min(b, left, g->shape.tile_h);
    tw_value t = tw_dw_for_sums(g, g->zero, rows, 1);
    output_row(g, block, t);
    tw_dw_end_for(g);
}
