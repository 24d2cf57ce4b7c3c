/* The kernel of direct_wgrad_small_c: docs/instances.md describes the algorithm. This file has the
 * workgroup's place and the loop over steps. */
#include "instances/direct_wgrad_small_c_internal.h"

#include <string.h>

/* The workgroup's tile: grid x counts tiles of columns, then of k. */
static void place_workgroup(sc_gen *g) {
    tw_builder *b = g->b;
    const tw_wgrad_small_c_spec *s = g->spec;
    const int tiles_q = (g->shape.flat + g->shape.tile_q - 1) / g->shape.tile_q;
    tw_value x = tw_workgroup_id(b, 0);
    tw_value row = tw_emit_udiv(b, x, tiles_q);
    tw_value before = tw_emit_mul(b, row, tiles_q);
    tw_value column = tw_sub(b, x, before);
    g->first_k = tw_emit_mul(b, row, g->shape.tile_k);
    g->first_q = tw_emit_mul(b, column, g->shape.tile_q);
    g->first_row = tw_emit_udiv(b, g->first_q, g->shape.flat_row);
    tw_name(b, g->first_k, "first_k");
    tw_name(b, g->first_q, "first_q");
    tw_value wave = tw_wave_id(b);
    tw_value rest = tw_emit_udiv(b, wave, s->waves_p);
    before = tw_emit_mul(b, rest, s->waves_p);
    g->wave_p = tw_sub(b, wave, before);
    tw_value wave_row = tw_emit_udiv(b, rest, s->waves_q);
    before = tw_emit_mul(b, wave_row, s->waves_q);
    tw_value wave_column = tw_sub(b, rest, before);
    g->wave_k = tw_emit_mul(b, wave_row, SC_TILE * s->wave_tiles_k);
    g->wave_q = tw_emit_mul(b, wave_column, SC_TILE * s->wave_tiles_q);
}

/* max(ceil(x / k), 1) for x >= 0 */
static tw_value count_of(tw_builder *b, tw_value x, int k) {
    tw_value rounded = tw_emit_add(b, x, k - 1);
    tw_value count = tw_emit_udiv(b, rounded, k);
    return tw_emit_max(b, count, 1);
}

/* Step number `first` of all: columns of a row first, then rows, then images. */
static sc_step step_at(sc_gen *g, tw_value first) {
    tw_builder *b = g->b;
    tw_value pieces = count_of(b, g->args.wo, g->shape.step_columns);
    tw_value blocks = count_of(b, g->args.ho, g->shape.step_rows);
    sc_step at;
    tw_value rest = tw_udiv(b, first, pieces);
    tw_value before = tw_mul(b, rest, pieces);
    tw_value piece = tw_sub(b, first, before);
    at.column = tw_emit_mul(b, piece, g->shape.step_columns);
    at.image = tw_udiv(b, rest, blocks);
    before = tw_mul(b, at.image, blocks);
    tw_value block = tw_sub(b, rest, before);
    at.row = tw_emit_mul(b, block, g->shape.step_rows);
    return at;
}

static sc_step next_step(sc_gen *g, sc_step at) {
    tw_builder *b = g->b;
    sc_step next;
    tw_value column = tw_emit_add(b, at.column, g->shape.step_columns);
    tw_value column_carry = tw_icmp(b, TW_SGE, column, g->args.wo);
    next.column = tw_select(b, column_carry, g->zero, column);
    tw_value row = tw_emit_add(b, at.row, g->shape.step_rows);
    row = tw_select(b, column_carry, row, at.row);
    tw_value row_carry = tw_icmp(b, TW_SGE, row, g->args.ho);
    next.row = tw_select(b, row_carry, g->zero, row);
    tw_value image = tw_emit_add(b, at.image, 1);
    next.image = tw_select(b, row_carry, image, at.image);
    return next;
}

/* What the loop carries: the sums, what waits in registers, where the lanes read, the rest. */
typedef struct loop_state {
    sc_rest rest;    /* of the step whose data waits */
    sc_step step;    /* the next one */
    tw_value buffer; /* where the data goes */
    tw_value other;  /* elements from there to the other buffer */
} loop_state;

enum {
    STATE = 7,
    CARRIED = SC_MAX_SUMS + 2 * SC_MAX_ITEMS * SC_UNITS + SC_HALVES * SC_MAX_TILES + 1 + STATE
};

typedef struct carried {
    tw_value values[CARRIED];
    unsigned count;
} carried;

static void put(carried *z, const tw_value *values, int count) {
    memcpy(z->values + z->count, values, sizeof *values * (size_t)count);
    z->count += (unsigned)count;
}

static void take(carried *z, tw_value *values, int count) {
    memcpy(values, z->values + z->count, sizeof *values * (size_t)count);
    z->count += (unsigned)count;
}

/* What `move`, one of the two above, does with all that is carried. */
#define MOVE_ALL(move, g, z, state)                                           \
    do {                                                                      \
        (z)->count = 0;                                                       \
        move(z, (g)->sums, (g)->spec->wave_tiles_k *(g)->spec->wave_tiles_q); \
        move(z, (g)->x_values, (g)->shape.x_items *SC_UNITS);                 \
        move(z, (g)->dy_values, (g)->shape.dy_loads);                         \
        move(z, (g)->lane_x, tw_sc_x_places(g));                              \
        move(z, &(g)->lane_dy, 1);                                            \
        move(z, (state), STATE);                                              \
    } while (0)

static void pack(sc_gen *g, carried *z, const loop_state *at) {
    const tw_value state[STATE] = {at->rest.rows,   at->rest.columns, at->step.image, at->step.row,
                                   at->step.column, at->buffer,       at->other};
    MOVE_ALL(put, g, z, state);
}

static void unpack(sc_gen *g, carried *z, loop_state *at) {
    tw_value state[STATE];
    MOVE_ALL(take, g, z, state);
    *at = (loop_state){{state[0], state[1]}, {state[2], state[3], state[4]}, state[5], state[6]};
}

/* The data of a step waits in registers: it is stored to one of two buffers, the next step's loads begin, and
 * its products are made. One barrier a step is enough: before a wave stores to a buffer again, all waves have
 * met behind the products that used it. Nobody multiplies what is loaded behind the last step. */
static void one_step(sc_gen *g, loop_state *at) {
    tw_builder *b = g->b;
    tw_sc_store(g, at->buffer);
    tw_barrier(b, TW_FENCE_LDS);
    tw_sc_load(g, &at->step);
    if (g->spec->dy_direct) tw_sc_clear_outside(g, &at->rest);
    tw_sc_multiply(g, &at->step);
    tw_sc_move_lanes(g, at->other);
    at->buffer = tw_add(b, at->buffer, at->other);
    at->other = tw_sub(b, g->zero, at->other);
    at->rest = tw_sc_rest_of(g, &at->step);
    at->step = next_step(g, at->step);
}

static void all_steps(sc_gen *g) {
    tw_builder *b = g->b;
    tw_value share = tw_workgroup_id(b, 2);
    tw_value first = tw_mul(b, share, g->steps);
    loop_state at = {.step = step_at(g, first), .buffer = g->zero};
    at.other = tw_i32(b, g->shape.buffer);
    if (g->spec->dy_direct)
        tw_sc_load_first(g, &at.step);
    else
        tw_sc_load(g, &at.step);
    at.rest = tw_sc_rest_of(g, &at.step);
    at.step = next_step(g, at.step);
    carried z = {.count = 0}, next = {.count = 0};
    pack(g, &z, &at);
    tw_value by = tw_i32(b, 1);
    tw_for_begin(b, g->zero, g->steps, by, z.count, z.values, next.values);
    tw_for_unroll(b, 1);
    unpack(g, &next, &at);
    one_step(g, &at);
    pack(g, &next, &at);
    tw_for_end(b, next.count, next.values, z.values);
    unpack(g, &z, &at);
}

/* As many waves as keep a wave within the registers that the shape allows it. */
static uint32_t min_waves(const sc_shape *shape, tw_target target) {
    const tw_arch_info *arch = tw_arch_get(target.arch);
    return (int)arch->max_vgprs > shape->vgpr_cap ? arch->vgprs_per_lane_total / (uint32_t)shape->vgpr_cap
                                                  : 0;
}

tw_kernel *tw_sc_build(tw_context *ctx, const int32_t *values, tw_target target, const char *name) {
    const tw_wgrad_small_c_spec *spec = (const tw_wgrad_small_c_spec *)values;
    sc_gen g = {.spec = spec, .target = target, .shape = tw_sc_shape(spec, target)};
    tw_kernel_options options = {.workgroup_size = (uint32_t)g.shape.threads,
                                 .min_waves_per_eu = min_waves(&g.shape, target)};
    g.b = tw_kernel_begin(ctx, name, target, &options);
    if (!g.b) return NULL;
    static const char *const own[] = {"steps"};
    tw_dense_params_with(g.b, (tw_scalar)spec->dtype, own, &g.steps, 1, &g.args);
    g.zero = tw_i32(g.b, 0);
    g.lds = tw_lds_alloc(g.b, (tw_scalar)spec->dtype, (uint32_t)(2 * g.shape.buffer), 16);
    place_workgroup(&g);
    tw_sc_place_items(&g);
    tw_sc_place_lanes(&g);
    const tw_type *sum = tw_fragment_type(target, g.shape.info.name, TW_MATRIX_D);
    tw_value none = tw_emit_zero(g.b, sum);
    for (int i = 0; i < spec->wave_tiles_k * spec->wave_tiles_q; i++)
        g.sums[i] = none;
    all_steps(&g);
    tw_sc_give(&g);
    return tw_kernel_end(g.b);
}
