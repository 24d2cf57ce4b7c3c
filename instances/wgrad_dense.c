#include "instances/wgrad_dense.h"

#include <inttypes.h>
#include <string.h>

#include "instances/wgrad_reference.h"
#include "ir/matrix.h"

const tw_field tw_dense_problem_fields[] = {
#define PROBLEM_INT(name, min, max, default_value, doc) \
    TW_FIELD_INT_ROW(name, NULL, min, max, default_value, doc)
#define PROBLEM_DTYPE(name, formats, default_value, doc) \
    TW_FIELD_DTYPE_ROW(name, NULL, formats, default_value, doc)
#include "instances/wgrad_problem.def"
};
TW_FIELD_TABLE_CHECK(tw_wgrad_problem, tw_dense_problem_fields);

static int32_t field_of(const tw_instance *instance, const char *name, int32_t without) {
    const int at = tw_field_find(tw_family_spec_fields(instance->family), name, strlen(name));
    return at < 0 ? without : instance->spec[at];
}

tw_dense tw_dense_of(const tw_instance *instance) {
    return (tw_dense){.kh = field_of(instance, "kh", 1),
                      .kw = field_of(instance, "kw", 1),
                      .stride = field_of(instance, "stride", 1),
                      .dtype = field_of(instance, "dtype", TW_F16),
                      .ws_replicas = field_of(instance, "ws_replicas", 1),
                      .reproducible = field_of(instance, "reproducible", 0)};
}

static const tw_wgrad_problem *problem_of(const tw_job *job) {
    return (const tw_wgrad_problem *)job->instance.problem;
}

static tw_dense_sizes measure(const tw_dense *d, const tw_wgrad_problem *p) {
    tw_dense_sizes z = {.group_c = p->c / p->groups, .group_k = p->k / p->groups};
    z.pad_h = p->pad_h >= 0 ? p->pad_h : (d->kh - 1) / 2;
    z.pad_w = p->pad_w >= 0 ? p->pad_w : (d->kw - 1) / 2;
    z.ho = tw_conv_outputs(p->ho, p->h, z.pad_h, d->kh, d->stride);
    z.wo = tw_conv_outputs(p->wo, p->w, z.pad_w, d->kw, d->stride);
    z.walk_h = p->h;
    z.walk_w = p->w;
    z.walk_ho = z.ho;
    z.walk_wo = z.wo;
    const tw_wide elements = (tw_wide)p->k * (tw_wide)(d->kh * d->kw) * (tw_wide)z.group_c;
    z.elements = elements > INT32_MAX ? -1 : (int64_t)elements;
    if (z.ho < 0 || z.wo < 0) return z;
    z.x_bytes = (tw_wide)p->n * (tw_wide)p->h * (tw_wide)p->w * (tw_wide)p->c * 2;
    z.dy_bytes = (tw_wide)p->n * (tw_wide)z.ho * (tw_wide)z.wo * (tw_wide)p->k * 2;
    z.empty = !z.x_bytes || !z.dy_bytes;
    return z;
}

static tw_wide slab_bytes(const tw_dense *d, const tw_wgrad_problem *p, const tw_dense_sizes *z,
                          int64_t slabs) {
    return (tw_wide)p->k * (tw_wide)(d->kh * d->kw) * (tw_wide)z->group_c * (tw_wide)slabs * 4;
}

tw_status tw_dense_measure(const tw_job *job, const tw_dense *d, tw_dense_sizes *z, tw_diag *diag) {
    const tw_wgrad_problem *p = problem_of(job);
    tw_instance reduce = {.family = job->instance.family->reduce};
    memcpy(reduce.spec, job->instance.reduce, sizeof reduce.spec);
    tw_status status = tw_instance_validate(&reduce, job->target, diag);
    if (status) return status;
    const tw_wgrad_reduce_spec *r = (const tw_wgrad_reduce_spec *)reduce.spec;
    char text[TW_WIDE_TEXT];
    *z = measure(d, p);
#define PLAN_RULE TW_RULE_CHECK
#include "instances/wgrad_dense_rules.def"
    return TW_OK;
}

static tw_status check_slabs(tw_wide ws_bytes, tw_diag *diag) {
    char text[TW_WIDE_TEXT];
#define SLAB_RULE TW_RULE_CHECK
#include "instances/wgrad_dense_rules.def"
    return TW_OK;
}

/* The rows of the arguments: name and value in the plan, name and place in the kernel. */
#define SIZE_ARGS(X)                  \
    X(n, z->empty ? 0 : p->n)         \
    X(h, z->walk_h)                   \
    X(w, z->walk_w)                   \
    X(ho, z->walk_ho)                 \
    X(wo, z->walk_wo)                 \
    X(c, p->c)                        \
    X(k, p->k)                        \
    X(group_c, z->group_c)            \
    X(group_k, z->group_k)            \
    X(pad_h, z->pad_h)                \
    X(pad_w, z->pad_w)                \
    X(elements, z->elements)          \
    X(x_bytes, (int64_t)z->x_bytes)   \
    X(dy_bytes, (int64_t)z->dy_bytes) \
    X(ws_bytes, (int64_t)ws_bytes)

static void plan_launch(tw_job *job, const tw_dense *d, const tw_dense_sizes *z,
                        const tw_dense_launch *launch, uint32_t x, uint32_t dy, uint32_t ws) {
    const tw_wgrad_problem *p = problem_of(job);
    const uint64_t ws_bytes = tw_plan_buffer_at(job->plan, ws)->bytes;
    char label[TW_LABEL_MAX];
    tw_instance_label(&job->instance, label);
    tw_plan_add_launch(job->plan, 0, label, launch->grid, launch->block, 0);
    if (!d->reproducible) tw_plan_zero(job->plan, ws);
    tw_plan_arg_buffer(job->plan, "x", x, 0);
    tw_plan_arg_buffer(job->plan, "dy", dy, 0);
    tw_plan_arg_buffer(job->plan, "ws", ws, 0);
#define X(name, value) tw_plan_arg_i32(job->plan, #name, value);
    SIZE_ARGS(X)
#undef X
    for (size_t i = 0; i < launch->extra_count; i++)
        tw_plan_arg_i32(job->plan, launch->extra[i].name, launch->extra[i].value);
}

tw_status tw_dense_plan(tw_job *job, const tw_dense *d, const tw_dense_sizes *z,
                        const tw_dense_launch *launch, tw_diag *diag) {
    const tw_wgrad_problem *p = problem_of(job);
    const int64_t slabs = d->reproducible ? launch->writers : d->ws_replicas;
    tw_status status = check_slabs(slab_bytes(d, p, z, slabs), diag);
    if (status) return status;
    const tw_scalar dtype = (tw_scalar)d->dtype;
    uint32_t x =
        tw_job_add_buffer(job, "x", TW_PLAN_INPUT, (tw_tensor){dtype, 4, {p->n, p->h, p->w, p->c}, 0});
    uint32_t dy =
        tw_job_add_buffer(job, "dy", TW_PLAN_INPUT, (tw_tensor){dtype, 4, {p->n, z->ho, z->wo, p->k}, 0});
    uint32_t ws = tw_job_add_buffer(job, "ws", TW_PLAN_SCRATCH,
                                    (tw_tensor){TW_F32, 5, {slabs, p->k, d->kh, d->kw, z->group_c}, 0});
    job->kernels[job->kernel_count++] = job->instance;
    plan_launch(job, d, z, launch, x, dy, ws);
    tw_instance reduce = {.family = job->instance.family->reduce};
    tw_field_defaults(tw_family_problem_fields(reduce.family), reduce.problem);
    memcpy(reduce.spec, job->instance.reduce, sizeof reduce.spec);
    ((tw_wgrad_reduce_problem *)reduce.problem)->c = (int32_t)z->elements;
    ((tw_wgrad_reduce_problem *)reduce.problem)->slabs = (int32_t)slabs;
    const tw_tensor dw = {(tw_scalar)p->out_dtype, 4, {p->k, d->kh, d->kw, z->group_c}, 0};
    tw_reduce_plan_launch(job, &reduce, ws, dw);
    return TW_OK;
}

tw_status tw_dense_reference(const tw_job *job, const tw_dense *d, const void *const *inputs,
                             const tw_reference *out, tw_diag *diag) {
    (void)diag;
    enum { X = 0, DY = 1, DW = 3 }; /* the plan's buffers, in the order of tw_dense_plan */
    const tw_wgrad_problem *p = problem_of(job);
    const tw_dense_sizes z = measure(d, p);
    const tw_wgrad_sizes sizes = {.n = p->n,
                                  .h = p->h,
                                  .w = p->w,
                                  .c = p->c,
                                  .ho = z.ho,
                                  .wo = z.wo,
                                  .k = p->k,
                                  .groups = p->groups,
                                  .kh = d->kh,
                                  .kw = d->kw,
                                  .stride = d->stride,
                                  .pad_h = z.pad_h,
                                  .pad_w = z.pad_w,
                                  .flush = tw_arch_get(job->target.arch)->features & TW_ARCH_HAS_MFMA_FLUSH,
                                  .dtype = (tw_scalar)d->dtype,
                                  .out_dtype = (tw_scalar)p->out_dtype};
    tw_wgrad_reference(&sizes, inputs[X], inputs[DY], &out[DW]);
    return TW_OK;
}

void tw_dense_derive_reduce(const tw_dense *dense, const tw_wgrad_problem *problem, int32_t *values) {
    tw_wgrad_reduce_spec *r = (tw_wgrad_reduce_spec *)values;
    tw_wgrad_reduce_defaults(r, NULL);
    r->kh = r->kw = 1;
    r->waves = 1; /* one tap: nothing to share */
    r->out_dtype = problem->out_dtype;
    r->ws_replicas = dense->ws_replicas;
    r->reproducible = dense->reproducible;
}

tw_status tw_dense_reference_of(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                                tw_diag *diag) {
    const tw_dense dense = tw_dense_of(&job->instance);
    return tw_dense_reference(job, &dense, inputs, outputs, diag);
}

void tw_dense_derive_reduce_of(const tw_instance *instance, int32_t *values) {
    const tw_dense dense = tw_dense_of(instance);
    tw_dense_derive_reduce(&dense, (const tw_wgrad_problem *)instance->problem, values);
}

void tw_dense_params_with(tw_builder *b, tw_scalar dtype, const char *const *names, tw_value *values,
                          size_t count, tw_dense_args *a) {
    a->x_pointer = tw_param_ptr(b, "x", dtype, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    a->dy_pointer = tw_param_ptr(b, "dy", dtype, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value ws = tw_param_ptr(b, "ws", TW_F32, TW_PARAM_NOALIAS);
#define X(name, value) a->name = tw_param(b, #name, TW_I32);
    SIZE_ARGS(X)
#undef X
    for (size_t i = 0; i < count; i++)
        values[i] = tw_param(b, names[i], TW_I32);
    a->x = tw_buffer_rsrc(b, a->x_pointer, a->x_bytes);
    a->dy = tw_buffer_rsrc(b, a->dy_pointer, a->dy_bytes);
    a->ws = tw_buffer_rsrc(b, ws, a->ws_bytes);
}

void tw_dense_params(tw_builder *b, tw_scalar dtype, tw_dense_args *a) {
    tw_dense_params_with(b, dtype, NULL, NULL, 0, a);
}

/* One f32 at byte offset voffset + soffset of the slabs. */
static void give_one(const tw_dense_slab *s, tw_value value, tw_value voffset, tw_value soffset) {
    if (s->atomic) {
        uint32_t policy = tw_cache_policy(s->target, TW_ATOMIC_CASCADE_DEVICE);
        tw_buffer_atomic_fadd(s->b, value, s->args->ws, voffset, soffset, policy);
    } else {
        tw_buffer_store(s->b, value, s->args->ws, voffset, soffset, 0);
    }
}

/* Byte offset of (first_k, tap, first_c) in its slab; uniform. */
static tw_value tile_offset(const tw_dense_slab *s, tw_value first_k, tw_value first_c, tw_value tap) {
    tw_builder *b = s->b;
    tw_value before = tw_mul(b, s->group, s->args->group_k);
    tw_value row = tw_add(b, before, first_k);
    tw_value rows = tw_emit_mul(b, row, s->taps);
    tw_value place = tw_add(b, rows, tap);
    tw_value in_slab = tw_emit_mad(b, first_c, place, s->args->group_c);
    tw_value element = tw_emit_mad(b, in_slab, s->index, s->args->elements);
    return tw_emit_mul(b, element, 4);
}

/* What the elements of a tile share. */
typedef struct tile_place {
    tw_value soffset, pitch;
    tw_value rows_left, columns_left; /* from its first row and column to the group's end */
} tile_place;

static tile_place place_tile(const tw_dense_slab *s, tw_value first_k, tw_value first_c, tw_value tap) {
    tw_builder *b = s->b;
    tile_place p;
    p.soffset = tile_offset(s, first_k, first_c, tap);
    p.pitch = tw_emit_mul(b, s->args->group_c, s->taps);
    p.rows_left = tw_sub(b, s->args->group_k, first_k);
    p.columns_left = tw_sub(b, s->args->group_c, first_c);
    return p;
}

static void give_element(const tw_dense_slab *s, const tile_place *p, tw_value value, tw_value row,
                         tw_value column) {
    tw_builder *b = s->b;
    tw_value row_inside = tw_icmp(b, TW_SLT, row, p->rows_left);
    tw_value column_inside = tw_icmp(b, TW_SLT, column, p->columns_left);
    tw_value inside = tw_and(b, row_inside, column_inside);
    tw_value at = tw_emit_mad(b, column, row, p->pitch);
    tw_value voffset = tw_emit_mul(b, at, 4);
    tw_if_begin(b, inside);
    give_one(s, value, voffset, p->soffset);
    tw_if_end(b, 0, NULL, NULL);
}

void tw_dense_give_element(const tw_dense_slab *s, tw_value value, tw_value first_k, tw_value first_c,
                           tw_value tap, tw_value row, tw_value column) {
    const tile_place p = place_tile(s, first_k, first_c, tap);
    give_element(s, &p, value, row, column);
}

void tw_dense_give(const tw_dense_slab *s, tw_value fragment, tw_value first_k, tw_value first_c,
                   tw_value tap) {
    tw_builder *b = s->b;
    const tw_matrix_atom *atom = tw_matrix_atom_by_name(s->target, s->atom);
    const tw_lane_map map = tw_matrix_lane_map(atom, TW_MATRIX_D);
    const unsigned slots = tw_matrix_atom_info(atom).slots[TW_MATRIX_D];
    const tile_place p = place_tile(s, first_k, first_c, tap);
    tw_value lane = tw_lane_id(b);
    for (unsigned slot = 0; slot < slots; slot++) {
        tw_value row, column;
        tw_lane_map_values(b, &map, lane, slot, &row, &column);
        tw_value part = tw_vector_extract(b, fragment, slot);
        give_element(s, &p, part, row, column);
    }
}
