/* direct_wgrad_depthwise: fields, rules, plan and reference. The kernel is in direct_wgrad_depthwise_build.c.
 */
#include "instances/direct_wgrad_depthwise.h"

#include <inttypes.h>
#include <string.h>

#include "instances/direct_wgrad_depthwise_internal.h"
#include "instances/direct_wgrad_reduce_internal.h"
#include "instances/family.h"
#include "instances/wgrad_reference.h"
#include "instances/wgrad_slab.h"

#define FIELDS_FILE "instances/direct_wgrad_depthwise.def"
#define FIELDS_OF   tw_wgrad_depthwise_spec
#include "instances/spec_fields.inc"
#define FIELDS_FILE "instances/direct_wgrad_depthwise.def"
#define FIELDS_OF   tw_wgrad_depthwise_problem
#include "instances/problem_fields.inc"

static int smaller(int a, int b) { return a < b ? a : b; }

dw_shape tw_dw_shape(const tw_wgrad_depthwise_spec *s, tw_target target) {
    dw_shape shape = {.kh = s->kh,
                      .kw = s->kw,
                      .stride = s->stride,
                      .vec = s->vec,
                      .tile_h = s->tile_h,
                      .tile_w = s->tile_w};
    shape.group_rows = (s->kh + s->r_split - 1) / s->r_split;
    shape.groups_used = (s->kh + shape.group_rows - 1) / shape.group_rows;
    shape.x_rows = (s->tile_h - 1) * s->stride + shape.group_rows;
    shape.kept = s->kw > s->stride ? s->kw - s->stride : 0;
    shape.unit = s->vec == 1 && tw_arch_get(target.arch)->features & TW_ARCH_HAS_PACKED_F32 ? 2 : 1;
    shape.columns = shape.kept > s->tile_w * s->stride ? shape.kept : s->tile_w * s->stride;
    shape.waves = s->r_split * s->row_waves;
    shape.lanes = target.wave_size;
    shape.workgroup = shape.waves * shape.lanes;
    shape.tile_c = shape.lanes * s->vec;
    /* Estimates, from what compilers were seen to need. Vector registers: the sums, all of a round's X and dY
       at once (pairs of rows that begin at odd rows, too, lie apart from those at even rows), the columns'
       offsets. */
    int window = shape.x_rows * (shape.kept + s->tile_w * s->stride);
    if (shape.unit == 2 && s->stride == 1 && s->tile_h > 1) window *= 2;
    int in_flight = window + s->tile_h * s->tile_w;
    shape.vgprs = s->vec * (shape.group_rows * s->kw + in_flight) + shape.columns + 24;
    shape.vgpr_limit = smaller(DW_MAX_VGPRS, (int)tw_arch_vgpr_budget(target, (uint32_t)shape.workgroup));
    /* Scalar registers: offsets of rows, and a condition a filter row, of one bit a lane. */
    shape.sgprs = 72 + shape.lanes / 32 * shape.group_rows + shape.x_rows + 2 * s->tile_h;
    shape.sgpr_limit = (int)tw_arch_get(target.arch)->max_sgprs - 4;
    return shape;
}

static tw_status validate(const int32_t *values, tw_target target, tw_diag *diag) {
    const tw_wgrad_depthwise_spec *s = (const tw_wgrad_depthwise_spec *)values;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    const dw_shape shape = tw_dw_shape(s, target);
#define RULE TW_RULE_CHECK
#include "instances/direct_wgrad_depthwise_rules.def"
    return TW_OK;
}

/* What follows from a spec and a problem. */
typedef struct sizes {
    int64_t pad_h, pad_w, ho, wo;
    bool empty; /* no product at all */
    int64_t row_blocks, row_groups, slabs;
    tw_wide x_bytes, dy_bytes, ws_bytes;
} sizes_of_problem;

static sizes_of_problem measure(const tw_wgrad_depthwise_spec *s, const tw_wgrad_depthwise_problem *p) {
    sizes_of_problem z = {0};
    z.pad_h = p->pad_h >= 0 ? p->pad_h : (s->kh - 1) / 2;
    z.pad_w = p->pad_w >= 0 ? p->pad_w : (s->kw - 1) / 2;
    z.ho = tw_conv_outputs(p->ho, p->h, z.pad_h, s->kh, s->stride);
    z.wo = tw_conv_outputs(p->wo, p->w, z.pad_w, s->kw, s->stride);
    if (z.ho < 0 || z.wo < 0) return z;
    z.x_bytes = (tw_wide)p->n * (tw_wide)p->h * (tw_wide)p->w * (tw_wide)p->c * 2;
    z.dy_bytes = (tw_wide)p->n * (tw_wide)z.ho * (tw_wide)z.wo * (tw_wide)p->c * 2;
    z.empty = !z.x_bytes || !z.dy_bytes;
    int64_t blocks = z.empty ? 0 : p->n * tw_ceil_div(z.ho, s->tile_h);
    int64_t rounds = tw_ceil_div(blocks, s->row_waves);
    int64_t groups = rounds < p->row_groups ? rounds : p->row_groups;
    z.row_blocks = groups ? tw_ceil_div(rounds, groups) * s->row_waves : 0;
    z.row_groups = groups ? tw_ceil_div(blocks, z.row_blocks) : 1;
    z.slabs = s->reproducible ? z.row_groups : s->ws_replicas;
    z.ws_bytes = tw_slab_bytes(z.slabs, s->kh * s->kw, p->c);
    return z;
}

static tw_status check_problem(const tw_wgrad_depthwise_spec *s, const tw_wgrad_depthwise_problem *p,
                               const tw_wgrad_reduce_spec *r, const sizes_of_problem *sizes, tw_diag *diag) {
    char text[TW_WIDE_TEXT];
#define PLAN_RULE TW_RULE_CHECK
#include "instances/direct_wgrad_depthwise_rules.def"
    return TW_OK;
}

static void plan_launch(tw_job *job, const sizes_of_problem *z, const char *label, uint32_t x, uint32_t dy,
                        uint32_t ws) {
    const tw_wgrad_depthwise_spec *s = (const tw_wgrad_depthwise_spec *)job->instance.spec;
    const tw_wgrad_depthwise_problem *p = (const tw_wgrad_depthwise_problem *)job->instance.problem;
    const dw_shape shape = tw_dw_shape(s, job->target);
    tw_dim3 grid = {(uint32_t)tw_ceil_div(p->c, shape.tile_c), (uint32_t)z->row_groups, 1};
    tw_dim3 block = {(uint32_t)shape.workgroup, 1, 1};
    tw_plan_add_launch(job->plan, 0, label, grid, block, 0);
    if (!s->reproducible) tw_plan_zero(job->plan, ws);
    tw_plan_arg_buffer(job->plan, "x", x, 0);
    tw_plan_arg_buffer(job->plan, "dy", dy, 0);
    tw_plan_arg_buffer(job->plan, "ws", ws, 0);
    const struct {
        const char *name;
        int64_t value;
    } args[] = {
        {"n", z->empty ? 0 : p->n},
        {"h", p->h},
        {"w", p->w},
        {"ho", z->ho},
        {"wo", z->wo},
        {"c", p->c},
        {"pad_h", z->pad_h},
        {"pad_w", z->pad_w},
        {"row_blocks", z->row_blocks},
        {"x_bytes", (int64_t)z->x_bytes},
        {"dy_bytes", (int64_t)z->dy_bytes},
        {"ws_bytes", (int64_t)z->ws_bytes},
    };
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++)
        tw_plan_arg_i32(job->plan, args[i].name, args[i].value);
}

static tw_status plan(tw_job *job, tw_diag *diag) {
    const tw_wgrad_depthwise_spec *s = (const tw_wgrad_depthwise_spec *)job->instance.spec;
    const tw_wgrad_depthwise_problem *p = (const tw_wgrad_depthwise_problem *)job->instance.problem;
    tw_instance reduce = {.family = job->instance.family->reduce};
    tw_field_defaults(tw_family_problem_fields(reduce.family), reduce.problem);
    memcpy(reduce.spec, job->instance.reduce, sizeof reduce.spec);
    tw_status status = tw_instance_validate(&reduce, job->target, diag);
    if (status) return status;
    const sizes_of_problem z = measure(s, p);
    status = check_problem(s, p, (const tw_wgrad_reduce_spec *)reduce.spec, &z, diag);
    if (status) return status;

    char label[TW_LABEL_MAX];
    tw_instance_label(&job->instance, label);
    const tw_scalar dtype = (tw_scalar)s->dtype;
    uint32_t x =
        tw_job_add_buffer(job, "x", TW_PLAN_INPUT, (tw_tensor){dtype, 4, {p->n, p->h, p->w, p->c}, 0});
    uint32_t dy =
        tw_job_add_buffer(job, "dy", TW_PLAN_INPUT, (tw_tensor){dtype, 4, {p->n, z.ho, z.wo, p->c}, 0});
    uint32_t ws = tw_job_add_buffer(job, "ws", TW_PLAN_SCRATCH,
                                    (tw_tensor){TW_F32, 4, {z.slabs, s->kh, s->kw, p->c}, 0});
    job->kernels[job->kernel_count++] = job->instance;
    plan_launch(job, &z, label, x, dy, ws);
    ((tw_wgrad_reduce_problem *)reduce.problem)->c = p->c;
    ((tw_wgrad_reduce_problem *)reduce.problem)->slabs = (int32_t)z.slabs;
    tw_reduce_plan_launch(job, &reduce, ws, tw_reduce_tensor(&reduce));
    return TW_OK;
}

static tw_status reference(const tw_job *job, const void *const *inputs, const tw_reference *outputs,
                           tw_diag *diag) {
    (void)diag;
    const tw_wgrad_depthwise_spec *s = (const tw_wgrad_depthwise_spec *)job->instance.spec;
    const tw_wgrad_depthwise_problem *p = (const tw_wgrad_depthwise_problem *)job->instance.problem;
    const sizes_of_problem z = measure(s, p);
    enum { X = 0, DY = 1, DW = 3 }; /* the plan's buffers, in the order of plan() */
    const tw_wgrad_sizes sizes = {
        .n = p->n,
        .h = p->h,
        .w = p->w,
        .c = p->c,
        .ho = z.ho,
        .wo = z.wo,
        .k = p->c,
        .groups = p->c,
        .kh = s->kh,
        .kw = s->kw,
        .stride = s->stride,
        .pad_h = z.pad_h,
        .pad_w = z.pad_w,
        .dtype = (tw_scalar)s->dtype,
        .out_dtype = (tw_scalar)p->out_dtype,
    };
    tw_wgrad_reference(&sizes, inputs[X], inputs[DY], &outputs[DW]);
    return TW_OK;
}

static void derive_reduce(const tw_instance *instance, int32_t *values) {
    const tw_wgrad_depthwise_spec *s = (const tw_wgrad_depthwise_spec *)instance->spec;
    const tw_wgrad_depthwise_problem *p = (const tw_wgrad_depthwise_problem *)instance->problem;
    tw_wgrad_reduce_spec *r = (tw_wgrad_reduce_spec *)values;
    tw_wgrad_reduce_defaults(r, NULL);
    r->kh = s->kh;
    r->kw = s->kw;
    r->out_dtype = p->out_dtype;
    r->ws_replicas = s->ws_replicas;
    r->reproducible = s->reproducible;
}

static const char *const filters[] = {"kh=1 kw=1", "kh=2 kw=2", "kh=3 kw=3", "kh=2 kw=5",
                                      "kh=5 kw=5", "kh=7 kw=7", "kh=8 kw=8", NULL};
static const char *const strides[] = {"stride=1", "stride=2", NULL};
static const char *const dtypes[] = {"dtype=f16", "dtype=bf16", NULL};
static const char *const tiles[] = {"",
                                    "vec=2",
                                    "tile_h=2",
                                    "vec=2 tile_h=2",
                                    "vec=2 tile_h=4 tile_w=2",
                                    "r_split=2",
                                    "r_split=4 vec=2",
                                    "r_split=7 row_waves=2 vec=2 tile_w=8",
                                    "row_waves=1",
                                    "row_waves=16 tile_w=2",
                                    NULL};
static const char *const modes[] = {"", "ws_replicas=4", "reproducible=1", NULL};
static const char *const *const axes[] = {filters, strides, dtypes, tiles, modes, NULL};

const tw_family tw_family_direct_wgrad_depthwise = {
    .name = "direct_wgrad_depthwise",
    .doc = "weight gradient of a depthwise convolution, NHWC, fp32 sums into slabs",
    .spec = TW_FIELD_TABLE(spec_fields),
    .problem = TW_FIELD_TABLE(problem_fields),
    .reduce = &tw_family_direct_wgrad_reduce,
    .axes = axes,
    .validate = validate,
    .build = tw_dw_build,
    .derive_reduce = derive_reduce,
    .plan = plan,
    .reference = reference,
};

TW_FAMILY_FUNCTIONS(tw_family_direct_wgrad_depthwise, tw_wgrad_depthwise, tw_wgrad_depthwise_problem)
