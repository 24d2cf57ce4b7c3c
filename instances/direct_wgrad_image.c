/* direct_wgrad_image: fields, rules, plan and reference. The kernel is in direct_wgrad_image_build.c. */
#include "instances/direct_wgrad_image.h"

#include <inttypes.h>
#include <string.h>

#include "instances/direct_wgrad_image_internal.h"
#include "instances/family.h"
#include "instances/wgrad_walk.h"

#define FIELDS_FILE "instances/direct_wgrad_image.def"
#define FIELDS_OF   tw_wgrad_image_spec
#include "instances/spec_fields.inc"

enum { MAX_SLABS = 4096 }; /* that the reduction folds */

static const tw_matrix_atom *find_atom(tw_target target, int32_t dtype) {
    const tw_matrix_format format = dtype == TW_F16 ? TW_MATRIX_F16 : TW_MATRIX_BF16;
    const tw_matrix_atom *atom;
    for (size_t i = 0; target.wave_size == 32 && (atom = tw_matrix_atom_at(target, i)); i++) {
        const tw_matrix_info info = tw_matrix_atom_info(atom);
        if (info.m == IM_TILE && info.n == IM_TILE && info.a == format && info.d == TW_MATRIX_F32)
            return atom;
    }
    return NULL;
}

bool tw_im_can_pad(const tw_stage_shape *stage) {
    return stage->pitch == stage->channels || !(stage->channels & (stage->channels - 1));
}

static tw_stage_shape stage_of(const im_shape *z, tw_target target, const tw_wgrad_image_spec *s, int rows,
                               int columns, int channels) {
    tw_stage_shape stage = {.rows = rows,
                            .used = columns,
                            .span = s->strip,
                            .channels = channels,
                            .vec = s->vec,
                            .waves = z->waves,
                            .lanes = target.wave_size,
                            .atom = z->atom,
                            .transposed = tw_transposed_lds_read(target),
                            .copied = s->tdm_stages > 0};
    tw_stage_measure(&stage, target);
    return stage;
}

im_shape tw_im_shape(const tw_wgrad_image_spec *s, tw_target target) {
    im_shape z = {.atom = find_atom(target, s->dtype), .atom_k = IM_TILE};
    if (!z.atom) return z;
    z.info = tw_matrix_atom_info(z.atom);
    z.atom_k = z.info.k;
    z.taps = s->kh * s->kw;
    z.tiles = s->wave_tiles_k * s->wave_tiles_c;
    z.sums = z.taps * z.tiles;
    z.waves = s->waves_k * s->waves_c;
    z.threads = z.waves * target.wave_size;
    const int rows = s->rows_per_sync;
    z.x = stage_of(&z, target, s, rows + s->kh - 1, s->strip + s->kw - 1,
                   IM_TILE * s->waves_c * s->wave_tiles_c);
    z.dy = stage_of(&z, target, s, rows, s->strip, IM_TILE * s->waves_k * s->wave_tiles_k);
    z.dy_first = z.x.elements + (s->tdm_stages ? z.x.columns * z.x.pitch : 0);
    z.buffer = z.dy_first + z.dy.elements;
    z.buffers = s->tdm_stages ? s->tdm_stages : 2;
    /* Two f32 more than the row is wide: the lanes' halves, 8 rows apart on gfx12, use different banks. */
    z.give_pitch = s->lds_epilogue ? z.x.channels + 2 : 0;
    z.give_elements = z.dy.channels * z.give_pitch;
    z.lds_bytes = 2 * z.buffers * z.buffer + 4 * z.give_elements;
    /* An estimate: sums; fragments of dY that the rows of a filter share, and of X for two columns of it;
       what is staged; the places of the loads; addresses. */
    const int fragment = z.info.slots[TW_MATRIX_A] / 2;
    const int atoms = s->strip * rows / z.atom_k;
    int fragments = (atoms < s->kh ? atoms : s->kh) * s->wave_tiles_k + 2 * s->wave_tiles_c, words = 0;
    if (!z.x.transposed) { /* whole rows of dY, and of X as it lies and moved */
        fragments = (rows < s->kh ? rows : s->kh) * s->strip / IM_TILE * s->wave_tiles_k + s->wave_tiles_c;
        words = s->wave_tiles_c * (z.x.own / 2 + 4);
    }
    z.vgprs = 8 * z.sums + fragment * fragments + words + tw_stage_load_vgprs(&z.x) +
              tw_stage_load_vgprs(&z.dy) + tw_stage_place_vgprs(&z.x) + tw_stage_place_vgprs(&z.dy) + 24;
    /* More than 256 registers leave a SIMD few waves: that is for waves that have several tiles, and products
       enough between two loads. */
    const int budget = (int)tw_arch_vgpr_budget(target, (uint32_t)z.threads);
    z.vgpr_cap = z.tiles == 1 || z.waves > 8 ? 256 : 512;
    z.vgpr_limit = budget < z.vgpr_cap ? budget : z.vgpr_cap;
    return z;
}

static tw_status validate(const int32_t *values, tw_target target, tw_diag *diag) {
    const tw_wgrad_image_spec *s = (const tw_wgrad_image_spec *)values;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    const im_shape shape = tw_im_shape(s, target);
    char target_name[TW_TARGET_NAME_MAX];
    tw_target_format(target, target_name);
#define RULE TW_RULE_CHECK
#include "instances/direct_wgrad_image_rules.def"
    return TW_OK;
}

static tw_status check_plan(const tw_wgrad_image_spec *s, const tw_wgrad_problem *p, const im_shape *shape,
                            tw_dense_sizes z, tw_diag *diag) {
    const int64_t x_reach = tw_stage_reach(&shape->x, z.walk_wo, z.pad_w, p->c);
    const int64_t dy_reach = tw_stage_reach(&shape->dy, z.walk_wo, 0, p->k);
#define IMAGE_PLAN_RULE TW_RULE_CHECK
#include "instances/direct_wgrad_image_rules.def"
    return TW_OK;
}

static tw_status plan(tw_job *job, tw_diag *diag) {
    const tw_wgrad_image_spec *s = (const tw_wgrad_image_spec *)job->instance.spec;
    const tw_wgrad_problem *p = (const tw_wgrad_problem *)job->instance.problem;
    const im_shape shape = tw_im_shape(s, job->target);
    const tw_dense dense = tw_dense_of(&job->instance);
    tw_dense_sizes z;
    tw_status status = tw_dense_measure(job, &dense, &z, diag);
    const tw_dense_walk walk = {&shape.x, &shape.dy, s->rows_per_sync, s->row_blocks, 0};
    if (!status) tw_dense_reshape(&dense, p, &walk, &z);
    if (!status) status = check_plan(s, p, &shape, z, diag);
    if (status) return status;
    const int64_t n = z.empty ? 0 : p->n;
    const int64_t most = MAX_SLABS / s->row_blocks;
    const int64_t splits = p->splits < most ? p->splits : most;
    const int64_t images = n > splits ? tw_ceil_div(n, splits) : 1;
    const int64_t shares = n ? tw_ceil_div(n, images) : 1;
    const int64_t tiles =
        p->groups * tw_ceil_div(z.group_k, shape.dy.channels) * tw_ceil_div(z.group_c, shape.x.channels);
    const tw_dense_extra extra[] = {{"images", images}};
    const tw_dense_launch launch = {.grid = {(uint32_t)tiles, (uint32_t)s->row_blocks, (uint32_t)shares},
                                    .block = {(uint32_t)shape.threads, 1, 1},
                                    .writers = shares * s->row_blocks,
                                    .extra = extra,
                                    .extra_count = 1};
    return tw_dense_plan(job, &dense, &z, &launch, diag);
}

static const char *const filters[] = {"kh=1 kw=1", "kh=2 kw=2", "kh=3 kw=3", "kh=1 kw=3", "kh=4 kw=4", NULL};
static const char *const dtypes[] = {"dtype=f16", "dtype=bf16", NULL};
static const char *const waves[] = {"waves_k=2 waves_c=2", "waves_k=4 waves_c=2", "waves_k=4 waves_c=1",
                                    NULL};
static const char *const tiles[] = {
    "",  "wave_tiles_k=2", "wave_tiles_k=2 wave_tiles_c=2", "wave_tiles_k=4", "wave_tiles_k=4 wave_tiles_c=2",
    NULL};
static const char *const steps[] = {"strip=32 rows_per_sync=1", "strip=32 rows_per_sync=2",
                                    "strip=32 rows_per_sync=4", "strip=16 rows_per_sync=4", NULL};
static const char *const staging[] = {"", "vec=2", "tdm_stages=2", "tdm_stages=3", NULL};
static const char *const modes[] = {"", "row_blocks=4 ws_replicas=4 lds_epilogue=1", NULL};
static const char *const *const axes[] = {filters, dtypes, waves, tiles, steps, staging, modes, NULL};

const tw_family tw_family_direct_wgrad_image = {
    .name = "direct_wgrad_image",
    .doc = "weight gradient of a convolution of stride 1 on WMMA, NHWC, fp32 sums into slabs",
    .spec = TW_FIELD_TABLE(spec_fields),
    .problem = TW_FIELD_TABLE(tw_dense_problem_fields),
    .reduce = &tw_family_direct_wgrad_reduce,
    .axes = axes,
    .validate = validate,
    .build = tw_im_build,
    .derive_reduce = tw_dense_derive_reduce_of,
    .plan = plan,
    .reference = tw_dense_reference_of,
};

TW_FAMILY_FUNCTIONS(tw_family_direct_wgrad_image, tw_wgrad_image, tw_wgrad_problem)
