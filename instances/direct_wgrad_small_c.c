/* direct_wgrad_small_c: fields, rules, plan and reference. The kernel is in direct_wgrad_small_c_build.c. */
#include "instances/direct_wgrad_small_c.h"

#include <inttypes.h>
#include <string.h>

#include "instances/direct_wgrad_small_c_internal.h"
#include "instances/family.h"

#define FIELDS_FILE "instances/direct_wgrad_small_c.def"
#define FIELDS_OF   tw_wgrad_small_c_spec
#include "instances/spec_fields.inc"
#define PROBLEM_CHANNELS 3
#define FIELDS_FILE      "instances/wgrad_problem.def"
#define FIELDS_OF        tw_wgrad_problem
#include "instances/problem_fields.inc"

enum { MAX_SLABS = 4096 /* that the reduction folds */ };

static bool is_power_of_2(int32_t x) { return (x & (x - 1)) == 0; }
static int least(int a, int b) { return a < b ? a : b; }
static int ceil_div(int x, int k) { return (x + k - 1) / k; }

static const tw_matrix_atom *find_atom(tw_target target, int32_t dtype) {
    const tw_matrix_format format = dtype == TW_F16 ? TW_MATRIX_F16 : TW_MATRIX_BF16;
    const tw_matrix_atom *atom;
    if (target.wave_size != 32 || !tw_transposed_lds_read(target)) return NULL;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        const tw_matrix_info info = tw_matrix_atom_info(atom);
        if (info.m == SC_TILE && info.n == SC_TILE && info.k == SC_UNITS * SC_RUNS && info.a == format &&
            info.d == TW_MATRIX_F32)
            return atom;
    }
    return NULL;
}

static void stage_x(sc_shape *z, const tw_wgrad_small_c_spec *s) {
    const int width = (z->unit_columns - 1) * s->stride + s->kw;
    z->x_rows = (s->rows - 1) * s->stride + z->taps_rows;
    z->x_vectors = ceil_div(width * s->channels + s->vec_x - 1, s->vec_x);
    z->x_chunks = z->x_vectors * s->vec_x;
    z->x_rounds = ceil_div(z->x_rows, z->waves);
    z->dealt_rows = s->uniform_wave ? 1 : z->x_rows;
    tw_sc_lay_out(z, s);
    z->x_items = s->uniform_wave ? z->x_rounds * z->x_waves : ceil_div(z->x_waves, z->waves);
}

/* Positions of dY. Lanes that read together have one position of each unit, so those are an odd number of 32
 * bytes apart. Lanes that store together have eight positions that follow each other, an odd number of 32
 * bytes apart; or, where a unit has but four columns, those of 32 channels: an even number that is no
 * multiple of four. */
static void stage_dy(sc_shape *z, const tw_wgrad_small_c_spec *s) {
    int pieces = z->tile_k / SC_TILE;
    if (z->unit_columns >= 8 || pieces == 1) {
        pieces += pieces % 2 == 0;
        z->dy_unit = (s->rows * z->unit_columns + 1) * pieces * SC_TILE;
    } else {
        while (pieces % 4 != 2)
            pieces++;
        z->dy_unit = (s->rows * z->unit_columns * pieces + 1) * SC_TILE;
    }
    z->dy_pitch = pieces * SC_TILE;
    z->dy_vectors = z->unit_columns * (z->tile_k / 8);
    z->dy_items = s->dy_direct ? 0 : ceil_div(z->dy_vectors, z->threads);
    z->dy_loads = s->dy_direct ? 2 * z->products * s->wave_tiles_k : SC_UNITS * s->rows * z->dy_items;
}

sc_shape tw_sc_shape(const tw_wgrad_small_c_spec *s, tw_target target) {
    sc_shape z = {.atom = find_atom(target, s->dtype), .transposed = tw_transposed_lds_read(target)};
    if (z.atom) z.info = tw_matrix_atom_info(z.atom);
    z.row_columns = s->kw * s->channels;
    z.columns = s->kh * z.row_columns;
    z.waves = s->waves_k * s->waves_q * s->waves_p;
    z.threads = z.waves * target.wave_size;
    z.tile_k = SC_TILE * s->waves_k * s->wave_tiles_k;
    z.tile_q = SC_TILE * s->waves_q * s->wave_tiles_q;
    z.unit_columns = SC_RUNS * s->sub_steps;
    z.unit_elements = z.unit_columns * s->stride * s->channels;
    z.across = SC_UNITS / s->unit_rows;
    z.step_columns = z.across * z.unit_columns;
    z.step_rows = s->unit_rows * s->rows;
    z.products = s->rows * s->sub_steps / s->waves_p;
    z.taps_rows = least(s->kh, ceil_div(z.tile_q - 1, z.row_columns) + 1);
    if (z.tile_q >= z.columns) z.taps_rows = s->kh;
    z.banks = tw_arch_get(target.arch)->lds_banks;
    stage_x(&z, s);
    stage_dy(&z, s);
    z.row_buffers = s->unit_rows * ((s->dy_direct ? 0 : s->rows) + z.x_rounds);
    z.dy_first = z.x_rows * z.x_pitch * SC_CHUNK;
    z.buffer = z.dy_first + (s->dy_direct ? 0 : SC_UNITS * z.dy_unit);
    z.lds_bytes = 2 * 2 * z.buffer;
    /* An estimate: sums; fragments; what is staged; places of the loads and of the fragments; and what
     * clearing takes, or little. */
    enum { OF_DIRECT = 44, OF_STAGED = 8 };
    const int vector = s->vec_x > 2 ? s->vec_x / 2 : 1;
    const int dy_fragments = s->dy_direct ? 0 : s->wave_tiles_k;
    z.vgprs = 8 * s->wave_tiles_k * s->wave_tiles_q + 8 * (dy_fragments + 2) + SC_UNITS * z.x_items * vector +
              4 * z.dy_loads + (s->uniform_wave ? 2 : 3) * z.x_items + 2 * z.dy_items +
              s->wave_tiles_q * z.x_halves + (s->dy_direct ? OF_DIRECT : OF_STAGED);
    const int budget = (int)tw_arch_vgpr_budget(target, (uint32_t)z.threads);
    z.vgpr_cap = z.waves > 8 ? 256 : 512;
    z.vgpr_limit = least(budget, z.vgpr_cap);
    return z;
}

static tw_status validate(const int32_t *values, tw_target target, tw_diag *diag) {
    const tw_wgrad_small_c_spec *s = (const tw_wgrad_small_c_spec *)values;
    const tw_arch_info *arch = tw_arch_get(target.arch);
    const sc_shape shape = tw_sc_shape(s, target);
    char target_name[TW_TARGET_NAME_MAX];
    tw_target_format(target, target_name);
#define RULE TW_RULE_CHECK
#include "instances/direct_wgrad_small_c_rules.def"
    return TW_OK;
}

static tw_status check_plan(const tw_wgrad_small_c_spec *s, const tw_wgrad_problem *p, sc_shape shape,
                            tw_diag *diag) {
    const int64_t row_elements = (int64_t)p->w * p->c;
#define SMALL_C_PLAN_RULE TW_RULE_CHECK
#include "instances/direct_wgrad_small_c_rules.def"
    return TW_OK;
}

static tw_status plan(tw_job *job, tw_diag *diag) {
    const tw_wgrad_small_c_spec *s = (const tw_wgrad_small_c_spec *)job->instance.spec;
    const tw_wgrad_problem *p = (const tw_wgrad_problem *)job->instance.problem;
    const sc_shape shape = tw_sc_shape(s, job->target);
    const tw_dense dense = tw_dense_of(&job->instance);
    tw_dense_sizes z;
    tw_status status = tw_dense_measure(job, &dense, &z, diag);
    if (!status) status = check_plan(s, p, shape, diag);
    if (status) return status;
    const int64_t pieces = tw_ceil_div(z.wo, shape.step_columns), blocks = tw_ceil_div(z.ho, shape.step_rows);
    const int64_t steps = z.empty ? 0 : p->n * blocks * pieces;
    const int64_t most = MAX_SLABS / s->waves_p;
    const int64_t splits = p->splits < most ? p->splits : most;
    const int64_t share = steps > splits ? tw_ceil_div(steps, splits) : 1;
    const int64_t shares = steps ? tw_ceil_div(steps, share) : 1;
    const int64_t tiles = tw_ceil_div(p->k, shape.tile_k) * tw_ceil_div(shape.flat, shape.tile_q);
    const tw_dense_extra extra[] = {{"steps", steps ? share : 0}};
    const tw_dense_launch launch = {.grid = {(uint32_t)tiles, 1, (uint32_t)shares},
                                    .block = {(uint32_t)shape.threads, 1, 1},
                                    .writers = shares * s->waves_p,
                                    .extra = extra,
                                    .extra_count = 1};
    return tw_dense_plan(job, &dense, &z, &launch, diag);
}

/* Lanes that store X may meet in a bank where no layout serves them and the reads. */
static bool in_grid(const int32_t *values, tw_target target) {
    return tw_sc_shape((const tw_wgrad_small_c_spec *)values, target).x_conflicts == 0;
}

/* Filters with as many tiles as they fill. */
static const char *const filters[] = {"",
                                      "stride=2",
                                      "kh=7 kw=7 stride=2 wave_tiles_q=5 waves_q=2",
                                      "kh=4 kw=4 stride=4 wave_tiles_q=3",
                                      "kh=16 kw=16 stride=16 wave_tiles_q=4",
                                      "channels=1 wave_tiles_q=1",
                                      "channels=4 wave_tiles_q=3",
                                      NULL};
static const char *const dtypes[] = {"dtype=f16", "dtype=bf16", NULL};
static const char *const waves[] = {"waves_p=4", "waves_p=2", "waves_p=4 waves_k=4", NULL};
static const char *const tiles[] = {"wave_tiles_k=2", "wave_tiles_k=4", "wave_tiles_k=8", NULL};
static const char *const steps[] = {"sub_steps=4", "sub_steps=1 rows=4", "sub_steps=2 rows=4",
                                    "sub_steps=2 rows=2 unit_rows=4", NULL};
static const char *const staging[] = {"", "vec_x=8", "vec_x=4", "vec_x=4 uniform_wave=1", NULL};
static const char *const dy[] = {"", "dy_direct=1", NULL};
static const char *const *const axes[] = {filters, dtypes, waves, tiles, steps, staging, dy, NULL};

const tw_family tw_family_direct_wgrad_small_c = {
    .name = "direct_wgrad_small_c",
    .doc = "weight gradient of a convolution of 1 to 8 channels on WMMA, NHWC, fp32 sums into slabs",
    .spec = TW_FIELD_TABLE(spec_fields),
    .problem = TW_FIELD_TABLE(problem_fields),
    .reduce = &tw_family_direct_wgrad_reduce,
    .axes = axes,
    .in_grid = in_grid,
    .validate = validate,
    .build = tw_sc_build,
    .derive_reduce = tw_dense_derive_reduce_of,
    .plan = plan,
    .reference = tw_dense_reference_of,
};

TW_FAMILY_FUNCTIONS(tw_family_direct_wgrad_small_c, tw_wgrad_small_c, tw_wgrad_problem)
