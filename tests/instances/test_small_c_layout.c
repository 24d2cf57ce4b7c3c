/* Bank conflicts of direct_wgrad_small_c, of each configuration of the tuning grid: those of what its layout
 * says, for each store and read of the loop, and those that the emulator counts for some of them. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/lds_banks.h"
#include "instances/direct_wgrad_small_c_internal.h"
#include "instances/grid.h"
#include "instances/wide.h"
#include "jit/compile.h"
#include "tests/instances/instance_text.h"
#include "tests/instances/job_run.h"

static struct {
    tw_target target;
    tw_device *device;
    tw_compiler *compiler;
} env;

static unsigned count_stores(const sc_shape *z, int vec) {
    unsigned conflicts = 0;
    for (int wave = 0; wave < z->x_waves; wave++)
        conflicts += tw_sc_store_conflicts(z, vec, wave);
    return conflicts;
}

/* The column of the flattened filter that a lane of a tile has; -1: none. */
static int column_of(const sc_shape *z, int tile, int lane, int first, int *row) {
    const int group = tile / z->x_tiles * z->x_tiles * 16;
    const int q = first + group + lane * z->x_tiles + tile % z->x_tiles;
    *row = q / z->flat_row;
    return *row < z->columns / z->row_columns && q % z->flat_row < z->row_columns ? q % z->flat_row : -1;
}

/* Of a tile's reads at one output column and the next; lanes without a column read what another one does. */
static unsigned count_tile(const sc_shape *z, int tile, int first, int element, int step) {
    uint32_t offset[TW_LDS_LANES], active = 0;
    for (int lane = 0; lane < 32; lane++) {
        int row;
        const int column = column_of(z, tile, lane % 16, first, &row);
        if (column < 0) continue;
        active |= 1u << lane;
        offset[lane] =
            16u * (uint32_t)tw_sc_chunk(z, row - first / z->flat_row, element + lane / 16 * step + column);
    }
    return tw_lds_bank_conflicts(z->banks, offset, active, 16);
}

static unsigned count_reads(const sc_shape *z, const tw_wgrad_small_c_spec *s, int pad) {
    const int step = s->stride * s->channels, shift = -pad * s->channels & (s->vec_x - 1);
    unsigned conflicts = 0;
    for (int first = 0; first < z->flat; first += z->tile_q)
        for (int tile = 0; tile < z->tile_q / 16; tile++)
            for (int column = 0; column < z->unit_columns; column += 2)
                conflicts += count_tile(z, tile, first, shift + column * step, step);
    return conflicts;
}

/* A point of the tuning grid. */
typedef struct point {
    size_t cursor;
    tw_instance instance;
    const tw_wgrad_small_c_spec *spec;
    sc_shape shape;
    char label[TW_LABEL_MAX];
} point;

static bool next_point(point *at) {
    const tw_family *family = tw_family_find("direct_wgrad_small_c");
    if (!tw_family_grid_next(family, env.target, &at->cursor, &at->instance)) return false;
    at->spec = (const tw_wgrad_small_c_spec *)at->instance.spec;
    at->shape = tw_sc_shape(at->spec, env.target);
    tw_instance_label(&at->instance, at->label);
    return true;
}

static void reads_of_the_grid_meet_in_no_bank(void **state) {
    point at = {.cursor = 0};
    size_t count = 0;
    (void)state;
    while (next_point(&at)) {
        const bool patches = at.spec->kw == at.spec->stride;
        for (int pad = 0; pad < (patches ? 1 : 8); pad++) {
            const unsigned conflicts = count_reads(&at.shape, at.spec, pad);
            if (conflicts) fail_msg("%s: %u with pad_w=%d", at.label, conflicts, pad);
        }
        count++;
    }
    assert_true(count > 1000);
}

static void stores_of_the_grid_meet_in_no_bank(void **state) {
    point at = {.cursor = 0};
    (void)state;
    while (next_point(&at)) {
        const unsigned conflicts = count_stores(&at.shape, at.spec->vec_x);
        if (conflicts) fail_msg("%s: %u", at.label, conflicts);
    }
}

/* Each item once, in as few waves as can hold them. */
static void every_item_is_staged_once(void **state) {
    point at = {.cursor = 0};
    (void)state;
    while (next_point(&at)) {
        const sc_shape z = at.shape;
        const int items = z.dealt_rows * z.x_vectors;
        uint8_t *times = calloc((size_t)items, 1);
        assert_non_null(times);
        assert_int_equal(z.x_waves, (items + 31) / 32);
        for (int wave = 0; wave < z.x_waves; wave++) {
            sc_staged staged[SC_LANES];
            tw_sc_deal(&z, at.spec->vec_x, wave, staged);
            for (int lane = 0; lane < SC_LANES; lane++) {
                if (!staged[lane].exists) continue;
                assert_in_range(staged[lane].row, 0, z.dealt_rows - 1);
                assert_in_range(staged[lane].vector, 0, z.x_vectors - 1);
                times[staged[lane].row * z.x_vectors + staged[lane].vector]++;
            }
        }
        for (int i = 0; i < items; i++)
            assert_int_equal(times[i], 1);
        free(times);
    }
}

/* ---- on the emulator ---- */

static uint64_t run_conflicts(const char *words, int images) {
    char line[256];
    tw_launch_counts counts[TW_JOB_MAX_KERNELS];
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    tw_plan_host hosts[TW_JOB_MAX_BUFFERS];
    job_run run;
    snprintf(line, sizeof line, "direct_wgrad_small_c %s splits=1 n=%d", words, images);
    job_open(&run, line, env.target);
    job_fill(&run, TW_DATA_INTEGERS, 1);
    assert_int_equal(tw_job_compile(run.job, env.compiler, NULL, objects, NULL), TW_OK);
    for (size_t i = 0; i < run.job->tensor_count; i++)
        hosts[i] = (tw_plan_host){run.memory[i], run.memory[i]};
    assert_int_equal(tw_plan_run(run.job->plan, env.device, objects, run.job->kernel_count, hosts,
                                 run.job->tensor_count, counts, NULL),
                     TW_OK);
    job_check(&run, line);
    for (int i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(objects[i]);
    job_close(&run);
    return counts[0].lds_bank_conflicts;
}

/* What one image more has: every store of X in every step, of all workgroups. */
static uint64_t expect_conflicts(const char *words) {
    char line[256];
    tw_instance instance;
    snprintf(line, sizeof line, "direct_wgrad_small_c %s", words);
    read_instance(line, &instance);
    const tw_wgrad_small_c_spec *s = (const tw_wgrad_small_c_spec *)instance.spec;
    const tw_wgrad_problem *p = (const tw_wgrad_problem *)instance.problem;
    const sc_shape z = tw_sc_shape(s, env.target);
    assert_int_equal(z.x_conflicts, count_stores(&z, s->vec_x));
    const int64_t pad_h = p->pad_h < 0 ? (s->kh - 1) / 2 : p->pad_h,
                  pad_w = p->pad_w < 0 ? (s->kw - 1) / 2 : p->pad_w;
    const int64_t ho = tw_conv_outputs(p->ho, p->h, pad_h, s->kh, s->stride);
    const int64_t wo = tw_conv_outputs(p->wo, p->w, pad_w, s->kw, s->stride);
    const int64_t steps = tw_ceil_div(ho, z.step_rows) * tw_ceil_div(wo, z.step_columns);
    const int64_t tiles = tw_ceil_div(p->k, z.tile_k) * tw_ceil_div(z.flat, z.tile_q);
    const int64_t rows = s->uniform_wave ? z.x_rows : 1;
    return (uint64_t)(steps * tiles * rows * s->vec_x * count_stores(&z, s->vec_x));
}

static void the_emulator_counts_the_same(void **state) {
    (void)state;
    static const char *const lines[] = {
        "sub_steps=2 rows=2 unit_rows=4 vec_x=8 dy_direct=1 h=17 w=24",
        "sub_steps=2 rows=4 vec_x=8 wave_tiles_k=4 dy_direct=1 h=9 w=40 k=64",
        "sub_steps=2 rows=4 vec_x=8 waves_p=2 pad_w=0 h=9 w=40",
        "sub_steps=1 rows=4 vec_x=1 h=9 w=40",
        "sub_steps=1 rows=4 vec_x=4 wave_tiles_k=3 h=9 w=40 k=96",
        "sub_steps=1 rows=4 stride=2 vec_x=8 wave_tiles_k=4 waves_k=2 h=9 w=40 k=128",
        "sub_steps=2 rows=2 vec_x=8 wave_tiles_k=4 h=9 w=64 k=64",
        "stride=2 vec_x=4 uniform_wave=1 dtype=bf16 h=16 w=64",
        "kh=7 kw=7 stride=2 wave_tiles_q=5 waves_q=2 sub_steps=1 rows=4 vec_x=8 dy_direct=1 h=16 w=64",
        "kh=7 kw=7 stride=2 wave_tiles_q=4 vec_x=4 uniform_wave=1 h=16 w=64",
        "kh=4 kw=4 stride=4 sub_steps=2 rows=2 unit_rows=4 vec_x=8 pad_h=0 pad_w=0 h=32 w=64",
        "kh=16 kw=16 stride=16 vec_x=8 pad_h=0 pad_w=0 h=32 w=256",
        "channels=4 c=4 sub_steps=2 rows=2 unit_rows=4 vec_x=8 dy_direct=1 h=16 w=16",
        /* with conflicts, which the grid leaves out: */
        "channels=4 c=4 vec_x=8 dy_direct=1 h=16 w=16",
        "kh=7 kw=7 stride=2 vec_x=4 uniform_wave=1 h=16 w=64",
    };
    enum { COUNT = sizeof lines / sizeof lines[0], FREE = COUNT - 2 };
    for (int i = 0; i < COUNT; i++) {
        const uint64_t expected = expect_conflicts(lines[i]);
        const uint64_t counted = run_conflicts(lines[i], 2) - run_conflicts(lines[i], 1);
        if (counted != expected) fail_msg("%s: %u, not %u", lines[i], (unsigned)counted, (unsigned)expected);
        assert_true(i < FREE ? !expected : expected > 0);
    }
}

static int open_env(void **state) {
    (void)state;
    return tw_target_parse("gfx1250", &env.target, NULL) ||
           tw_device_open("emu:gfx1250", &env.device, NULL) ||
           tw_compiler_open(TW_COMPILER_LLVM, &env.compiler, NULL);
}

static int close_env(void **state) {
    (void)state;
    tw_compiler_close(env.compiler);
    tw_device_close(env.device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_of_the_grid_meet_in_no_bank),
        cmocka_unit_test(stores_of_the_grid_meet_in_no_bank),
        cmocka_unit_test(every_item_is_staged_once),
        cmocka_unit_test(the_emulator_counts_the_same),
    };
    return cmocka_run_group_tests(tests, open_env, close_env);
}
