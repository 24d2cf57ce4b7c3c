/* What validation admits compiles without spills and scratch, within the registers of its workgroup:
 *
 *     test_resources TARGET core|all
 *
 * `all` takes the default tile of many filters, and every seventh point of the tuning grids, or fewer of
 * large ones. */
#include "tests/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "instances/direct_wgrad_depthwise_internal.h"
#include "instances/direct_wgrad_image_internal.h"
#include "instances/direct_wgrad_mfma_internal.h"
#include "instances/direct_wgrad_small_c_internal.h"
#include "instances/grid.h"
#include "instances/wgrad_slab.h"
#include "jit/compile.h"
#include "tests/instances/instance_text.h"

static struct {
    const char *target_name;
    tw_target target;
    bool all;
    tw_compiler *compiler;
} env;

/* The first thing that is wrong; "" where nothing is. Sweeps call from their loop, which no failed assertion
 * may leave. */
static char fault[1024];

static void TW_PRINTF(2, 3) find_fault(const tw_grid_kernel *kernel, const char *format, ...) {
    va_list list;
    if (fault[0]) return;
    int length = snprintf(fault, sizeof fault, "%s %s: ", env.target_name, kernel->label);
    va_start(list, format);
    vsnprintf(fault + length, sizeof fault - (size_t)length, format, list);
    va_end(list);
}

static void expect(const tw_grid_kernel *kernel, const char *what, uint32_t got, int64_t wanted) {
    if (got != wanted) find_fault(kernel, "%s is %u, not %lld", what, got, (long long)wanted);
}

static void expect_most(const tw_grid_kernel *kernel, const char *what, uint32_t got, int64_t most) {
    if (got > most) find_fault(kernel, "%s is %u, at most %lld", what, got, (long long)most);
}

static void check_mfma(const tw_grid_kernel *kernel, const tw_wgrad_mfma_spec *spec) {
    const mf_shape shape = tw_mf_shape(spec, env.target);
    const uint32_t budget = tw_arch_vgpr_budget(env.target, (uint32_t)shape.workgroup);
    expect_most(kernel, "VGPRs", kernel->info->vgprs, budget);
    expect(kernel, "workgroup", kernel->info->max_workgroup, shape.workgroup);
    expect(kernel, "LDS", kernel->info->lds_bytes, shape.lds_bytes);
}

static void check_depthwise(const tw_grid_kernel *kernel, const tw_wgrad_depthwise_spec *spec) {
    const dw_shape shape = tw_dw_shape(spec, env.target);
    expect(kernel, "AGPRs", kernel->info->agprs, 0);
    expect_most(kernel, "VGPRs", kernel->info->vgprs, shape.vgpr_limit);
    expect(kernel, "workgroup", kernel->info->max_workgroup, shape.workgroup);
    expect(
        kernel, "LDS", kernel->info->lds_bytes,
        tw_slab_lds_bytes(shape.group_rows, shape.kw, shape.vec, shape.lanes, shape.waves, spec->row_waves));
    expect_most(kernel, "LDS", kernel->info->lds_bytes, tw_arch_get(env.target.arch)->lds_bytes);
}

static void check_image(const tw_grid_kernel *kernel, const tw_wgrad_image_spec *spec) {
    const im_shape shape = tw_im_shape(spec, env.target);
    expect(kernel, "workgroup", kernel->info->max_workgroup, shape.threads);
    expect(kernel, "LDS", kernel->info->lds_bytes, shape.lds_bytes);
}

static void check_small_c(const tw_grid_kernel *kernel, const tw_wgrad_small_c_spec *spec) {
    const sc_shape shape = tw_sc_shape(spec, env.target);
    expect_most(kernel, "VGPRs", kernel->info->vgprs, shape.vgpr_limit);
    expect(kernel, "workgroup", kernel->info->max_workgroup, shape.threads);
    expect(kernel, "LDS", kernel->info->lds_bytes, shape.lds_bytes);
}

static void check(void *user, const tw_grid_kernel *kernel) {
    const tw_kernel_info *info = kernel->info;
    const char *family = tw_family_name(kernel->instance->family);
    const void *spec = kernel->instance->spec;
    (void)user;
    if (!info) {
        find_fault(kernel, "%s", kernel->error);
        return;
    }
    if (tw_kernel_spills(info))
        find_fault(kernel, "%u VGPR spills, %u SGPR spills, %u bytes of scratch, %u AGPRs", info->vgpr_spills,
                   info->sgpr_spills, info->scratch_bytes, info->agprs);
    expect(kernel, "wave size", info->wave_size, env.target.wave_size);
    expect(kernel, "kernarg size", info->kernarg_size, info->explicit_kernarg_size);
    if (!strcmp(family, "direct_wgrad_depthwise")) check_depthwise(kernel, spec);
    if (!strcmp(family, "direct_wgrad_mfma")) check_mfma(kernel, spec);
    if (!strcmp(family, "direct_wgrad_image")) check_image(kernel, spec);
    if (!strcmp(family, "direct_wgrad_small_c")) check_small_c(kernel, spec);
}

static void compile_and_check(const tw_instance *instance) {
    char label[TW_LABEL_MAX];
    tw_instance_label(instance, label);
    tw_context *ctx = tw_context_new(NULL);
    tw_diag *diag = tw_context_diag(ctx);
    tw_kernel *kernel = tw_instance_build(ctx, instance, env.target);
    tw_code_object *object = NULL;
    if (!kernel || tw_compile(env.compiler, kernel, NULL, &object, diag))
        fail_msg("%s %s: %s", env.target_name, label, tw_context_diagnostics(ctx));
    const tw_grid_kernel result = {instance, label, tw_code_object_kernel(object, label), "no kernel"};
    fault[0] = '\0';
    check(NULL, &result);
    tw_code_object_release(object);
    tw_context_free(ctx);
    if (fault[0]) fail_msg("%s", fault);
}

static void compile_words(const char *words) {
    tw_instance instance;
    read_instance(words, &instance);
    compile_and_check(&instance);
}

static void default_tiles(void **state) {
    (void)state;
    static const int sizes[] = {8, 7, 5, 3, 1};
    const int count = env.all ? 5 : 1;
    for (int h = 0; h < count; h++)
        for (int w = 0; w < count; w++)
            for (int stride = 1; stride <= 2; stride++) {
                char words[128];
                snprintf(words, sizeof words, "direct_wgrad_depthwise kh=%d kw=%d stride=%d dtype=%s",
                         sizes[h], sizes[w], stride, (h + w + stride) % 2 ? "f16" : "bf16");
                compile_words(words);
            }
}

static void tiles_at_the_limits(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_depthwise kh=3 kw=3 vec=2 tile_h=4",
        "direct_wgrad_depthwise kh=8 kw=4 row_waves=1",
        "direct_wgrad_depthwise kh=7 kw=5 r_split=2 row_waves=4 vec=2 tile_h=4 tile_w=1 dtype=bf16",
        "direct_wgrad_depthwise kh=7 kw=6 tile_h=2 tile_w=1 row_waves=2",
        "direct_wgrad_depthwise kh=8 kw=7 r_split=8 row_waves=1 vec=2 tile_h=4 tile_w=2 stride=2",
        "direct_wgrad_reduce kh=8 kw=8 waves=16 ws_replicas=64",
        "direct_wgrad_reduce kh=3 kw=3 reproducible=1 out_dtype=bf16",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        compile_words(lines[i]);
}

/* Those of the lines that the target admits: at least `enough` of them, or the target is not meant at all. */
static void check_lines(const char *const *lines, size_t line_count, size_t enough) {
    size_t count = 0;
    for (size_t i = 0; i < line_count; i++) {
        tw_instance instance;
        read_instance(lines[i], &instance);
        if (tw_instance_validate(&instance, env.target, NULL)) continue;
        compile_and_check(&instance);
        count++;
    }
    if (!count) skip();
    assert_true(count >= enough);
}

/* Image tiles that the register estimate just admits. */
static void image_tiles_at_the_limits(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_image kh=4 kw=4",
        "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 dtype=bf16",
        "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 strip=16 rows_per_sync=4",
        "direct_wgrad_image wave_tiles_k=4 dtype=bf16",
        "direct_wgrad_image wave_tiles_k=2 wave_tiles_c=2 rows_per_sync=4 tdm_stages=3",
        "direct_wgrad_image kh=4 kw=4 rows_per_sync=8 tdm_stages=2 dtype=bf16",
        "direct_wgrad_image rows_per_sync=7",
        "direct_wgrad_image vec=1 strip=16",
        "direct_wgrad_image wave_tiles_k=2 waves_k=4 waves_c=3 strip=16",
        "direct_wgrad_image kh=1 kw=1 wave_tiles_k=4 wave_tiles_c=4 rows_per_sync=4",
        "direct_wgrad_image kh=4 kw=4 strip=16 rows_per_sync=1",
        "direct_wgrad_image kh=2 kw=2 wave_tiles_k=2",
        "direct_wgrad_image wave_tiles_k=2 strip=16 rows_per_sync=1 dtype=bf16",
    };
    check_lines(lines, sizeof lines / sizeof lines[0], 4);
}

/* The same for direct_wgrad_mfma: many sums, many fragments of the ring, many loads, many masks. */
static void mfma_tiles_at_the_limits(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_mfma kh=8 kw=8 wave_tiles_k=1 wave_tiles_c=1 vec=8",
        "direct_wgrad_mfma kh=4 kw=4 dtype=bf16",
        "direct_wgrad_mfma kh=7 kw=7 wave_tiles_k=1 wave_tiles_c=1 steps=2 vec=2",
        "direct_wgrad_mfma kh=1 kw=3 wave_tiles_k=4 wave_tiles_c=4 dtype=bf16",
        "direct_wgrad_mfma kh=5 kw=1 wave_tiles_k=3 wave_tiles_c=4 waves_k=1 waves_c=1",
        "direct_wgrad_mfma kh=3 kw=1 wave_tiles_k=4 wave_tiles_c=3 waves_k=2 waves_c=4 vec=1 reproducible=1",
        "direct_wgrad_mfma kh=1 kw=1 waves_k=4 waves_c=4 wave_tiles_k=2 wave_tiles_c=1",
        ("direct_wgrad_mfma kh=1 kw=2 wave_tiles_k=1 wave_tiles_c=3 waves_k=1 waves_c=4 "
         "atom_k=32 steps=3 vec=2"),
        "direct_wgrad_mfma kh=7 kw=7 wave_tiles_k=1 wave_tiles_c=1 atom_k=32 vec=8 dtype=bf16",
    };
    check_lines(lines, sizeof lines / sizeof lines[0], 5);
}

enum { GRID_SAMPLE = 120 };

static void points_of_the_grids(void **state) {
    (void)state;
    size_t compiled = 0;
    fault[0] = '\0';
    for (size_t f = 0; f < tw_family_count(); f++) {
        tw_grid_sweep sweep = {.compiler = env.compiler, .target = env.target, .jobs = 1, .visit = check};
        tw_grid_counts counts;
        tw_instance instance;
        size_t count = 0, cursor = 0;
        while (tw_family_grid_next(tw_family_at(f), env.target, &cursor, &instance))
            count++;
        sweep.step = count < 7 * GRID_SAMPLE ? 7 : count / GRID_SAMPLE;
        sweep.first = f % sweep.step;
        assert_int_equal(tw_grid_compile(tw_family_at(f), &sweep, &counts, NULL), TW_OK);
        assert_int_equal(counts.configurations,
                         count > sweep.first ? (count - sweep.first + sweep.step - 1) / sweep.step : 0);
        if (fault[0]) fail_msg("%s", fault);
        assert_int_equal(counts.compiled, counts.configurations);
        assert_int_equal(counts.spilling, 0);
        compiled += counts.compiled;
    }
    assert_true(compiled > 100);
}

static int open_env(void **state) {
    (void)state;
    return tw_target_parse(env.target_name, &env.target, NULL) ||
           tw_compiler_open(TW_COMPILER_LLVM, &env.compiler, NULL);
}

static int close_env(void **state) {
    (void)state;
    tw_compiler_close(env.compiler);
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    env.target_name = argv[1];
    env.all = !strcmp(argv[2], "all");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(default_tiles),
        cmocka_unit_test(tiles_at_the_limits),
        cmocka_unit_test(image_tiles_at_the_limits),
        cmocka_unit_test(mfma_tiles_at_the_limits),
    };
    const struct CMUnitTest more[] = {
        cmocka_unit_test(default_tiles),
        cmocka_unit_test(tiles_at_the_limits),
        cmocka_unit_test(image_tiles_at_the_limits),
        cmocka_unit_test(mfma_tiles_at_the_limits),
        cmocka_unit_test(points_of_the_grids),
    };
    return env.all ? cmocka_run_group_tests_name(env.target_name, more, open_env, close_env)
                   : cmocka_run_group_tests_name(env.target_name, tests, open_env, close_env);
}
