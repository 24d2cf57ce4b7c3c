/* direct_wgrad_mfma: fields, rules, plan and reference. The kernel is in direct_wgrad_mfma_build.c. */
#include "instances/direct_wgrad_mfma.h"

#include <inttypes.h>
#include <string.h>

#include "instances/direct_wgrad_mfma_internal.h"
#include "instances/family.h"
#include "instances/wgrad_walk.h"

#define FIELDS_FILE "instances/direct_wgrad_mfma.def"
#define FIELDS_OF   tw_wgrad_mfma_spec
#include "instances/spec_fields.inc"

/* The atom 16x16xk of the format; NULL where the target has none. */
static const tw_matrix_atom *find_atom(const tw_wgrad_mfma_spec *s, tw_target target) {
    if (!(tw_arch_get(target.arch)->features & TW_ARCH_HAS_MFMA)) return NULL;
    const tw_matrix_format format = s->dtype == TW_F16 ? TW_MATRIX_F16 : TW_MATRIX_BF16;
    const tw_matrix_atom *atom;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        tw_matrix_info info = tw_matrix_atom_info(atom);
        if (info.a == format && info.m == 16 && info.n == 16 && info.k == s->atom_k) return atom;
    }
    return NULL;
}

static tw_stage_shape make_stage(const mf_shape *shape, tw_target target, int channels, int used) {
    tw_stage_shape stage = {.rows = 1,
                            .used = used,
                            .span = shape->columns,
                            .channels = channels,
                            .vec = shape->vec,
                            .waves = shape->waves,
                            .lanes = shape->lanes,
                            .atom = shape->atom,
                            .transposed = tw_transposed_lds_read(target)};
    tw_stage_measure(&stage, target);
    return stage;
}

/* Registers of a lane, from what compilers were seen to need: the sums, the ring, the fragments of one tile,
 * the rows on their way and their offsets, addresses. */
static int estimate_vgprs(const mf_shape *shape) {
    const int loads = tw_stage_loads(&shape->x) + tw_stage_loads(&shape->dy);
    const int piece = (shape->vec + 1) / 2, quad = 2;
    const int ring = shape->kh * shape->tiles_k * shape->steps * shape->quads * quad;
    const int fragments = 2 * shape->kw * shape->quads * quad;
    /* Where loads go to LDS element by element, sums that fill their half leave no register to move to: LLVM
       22 spilled up to 22 in 7 of 12 such kernels. */
    const bool tight = shape->x.transposed && shape->vec == 1 && 4 * shape->sums == MF_MAX_SUM_VGPRS;
    const int elements = tight ? 36 : 0;
    return 4 * shape->sums + ring + fragments + loads * (piece + 2) + elements + 64;
}

mf_shape tw_mf_shape(const tw_wgrad_mfma_spec *s, tw_target target) {
    mf_shape shape = {.kh = s->kh,
                      .kw = s->kw,
                      .tiles_k = s->wave_tiles_k,
                      .tiles_c = s->wave_tiles_c,
                      .steps = s->steps,
                      .vec = s->vec};
    shape.columns = s->atom_k * s->steps;
    shape.atom = find_atom(s, target);
    shape.quads = s->atom_k / 16;
    shape.sums = s->kh * s->kw * s->wave_tiles_k * s->wave_tiles_c;
    shape.waves = s->waves_k * s->waves_c;
    shape.lanes = target.wave_size;
    shape.workgroup = shape.waves * shape.lanes;
    if (!shape.atom) return shape;
    shape.x = make_stage(&shape, target, 16 * s->waves_c * s->wave_tiles_c, shape.columns + s->kw - 1);
    shape.dy = make_stage(&shape, target, 16 * s->waves_k * s->wave_tiles_k, shape.columns);
    shape.lds_bytes = 2 * 2 * (shape.x.elements + shape.dy.elements);
    shape.vgprs = estimate_vgprs(&shape);
    const int budget = (int)tw_arch_vgpr_budget(target, (uint32_t)shape.workgroup);
    shape.vgpr_limit = budget < MF_MAX_VGPRS ? budget : MF_MAX_VGPRS;
    return shape;
}

static bool is_vec(int vec) { return vec == 1 || vec == 2 || vec == 4 || vec == 8; }

static tw_status validate(const int32_t *values, tw_target target, tw_diag *diag) {
    const tw_wgrad_mfma_spec *s = (const tw_wgrad_mfma_spec *)values;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    const mf_shape shape = tw_mf_shape(s, target);
#define RULE TW_RULE_CHECK
#include "instances/direct_wgrad_mfma_rules.def"
    return TW_OK;
}

static tw_status check_problem(const tw_wgrad_mfma_spec *s, const tw_wgrad_problem *p, const mf_shape *shape,
                               const tw_dense_sizes *z, tw_wide units, tw_diag *diag) {
    char text[TW_WIDE_TEXT];
    const int64_t x_reach = tw_stage_reach(&shape->x, z->walk_wo, z->pad_w, p->c);
    const int64_t dy_reach = tw_stage_reach(&shape->dy, z->walk_wo, 0, p->k);
#define PLAN_RULE TW_RULE_CHECK
#include "instances/direct_wgrad_mfma_rules.def"
    return TW_OK;
}

static tw_status plan(tw_job *job, tw_diag *diag) {
    const tw_wgrad_mfma_spec *s = (const tw_wgrad_mfma_spec *)job->instance.spec;
    const tw_wgrad_problem *p = (const tw_wgrad_problem *)job->instance.problem;
    const tw_dense dense = tw_dense_of(&job->instance);
    tw_dense_sizes z;
    tw_status status = tw_dense_measure(job, &dense, &z, diag);
    if (status) return status;
    const mf_shape shape = tw_mf_shape(s, job->target);
    const tw_dense_walk walk = {&shape.x, &shape.dy, 1, s->row_blocks, 1};
    tw_dense_reshape(&dense, p, &walk, &z);
    const int64_t strips = tw_ceil_div(z.walk_wo, shape.columns);
    const tw_wide all = z.empty ? 0 : (tw_wide)p->n * (tw_wide)s->row_blocks * (tw_wide)strips;
    status = check_problem(s, p, &shape, &z, all, diag);
    if (status) return status;
    const int64_t units = (int64_t)all, sharers = units < p->splits ? units : p->splits;
    const int64_t share = sharers ? tw_ceil_div(units, sharers) : 0;
    const int64_t writers = share ? tw_ceil_div(units, share) : 1;
    const int64_t tiles =
        p->groups * tw_ceil_div(z.group_k, shape.dy.channels) * tw_ceil_div(z.group_c, shape.x.channels);
    const tw_dense_extra extra[] = {{"share", share}};
    const tw_dense_launch launch = {.grid = {(uint32_t)tiles, (uint32_t)writers, 1},
                                    .block = {(uint32_t)shape.workgroup, 1, 1},
                                    .writers = writers,
                                    .extra = extra,
                                    .extra_count = 1};
    return tw_dense_plan(job, &dense, &z, &launch, diag);
}

static const char *const filters[] = {"kh=1 kw=1", "kh=2 kw=2", "kh=3 kw=3", "kh=4 kw=4", "kh=5 kw=5",
                                      "kh=7 kw=7", "kh=8 kw=8", "kh=1 kw=3", "kh=3 kw=1", NULL};
static const char *const dtypes[] = {"dtype=f16", "dtype=bf16", NULL};
static const char *const tiles[] = {"waves_k=1 waves_c=1 wave_tiles_k=1 wave_tiles_c=1",
                                    "waves_k=2 waves_c=1 wave_tiles_k=2 wave_tiles_c=1",
                                    "waves_k=4 waves_c=1 wave_tiles_k=1 wave_tiles_c=1",
                                    "waves_k=2 waves_c=2 wave_tiles_k=1 wave_tiles_c=1",
                                    "waves_k=2 waves_c=2 wave_tiles_k=2 wave_tiles_c=2",
                                    "waves_k=2 waves_c=2 wave_tiles_k=4 wave_tiles_c=2",
                                    "waves_k=1 waves_c=2 wave_tiles_k=4 wave_tiles_c=1",
                                    "waves_k=4 waves_c=2 wave_tiles_k=2 wave_tiles_c=1",
                                    NULL};
static const char *const strips[] = {"steps=1", "steps=2", "atom_k=32", "atom_k=32 steps=2", NULL};
static const char *const vecs[] = {"vec=1", "vec=4", "vec=8", NULL};
static const char *const modes[] = {"", "reproducible=1", NULL};
static const char *const *const axes[] = {filters, dtypes, tiles, strips, vecs, modes, NULL};

const tw_family tw_family_direct_wgrad_mfma = {
    .name = "direct_wgrad_mfma",
    .doc = "weight gradient of a convolution with stride 1 on the matrix cores of CDNA, NHWC",
    .spec = TW_FIELD_TABLE(spec_fields),
    .problem = TW_FIELD_TABLE(tw_dense_problem_fields),
    .reduce = &tw_family_direct_wgrad_reduce,
    .axes = axes,
    .validate = validate,
    .build = tw_mf_build,
    .derive_reduce = tw_dense_derive_reduce_of,
    .plan = plan,
    .reference = tw_dense_reference_of,
};

TW_FAMILY_FUNCTIONS(tw_family_direct_wgrad_mfma, tw_wgrad_mfma, tw_wgrad_problem)
