/* What validation admits compiles without spills and scratch, within the registers of its workgroup:
 *
 *     test_resources TARGET core|all
 *
 * `all` takes the default tile of many filters, and every seventh point of the tuning grids, or fewer of
 * large ones. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "instances/direct_wgrad_depthwise_internal.h"
#include "instances/direct_wgrad_image_internal.h"
#include "instances/direct_wgrad_mfma_internal.h"
#include "instances/wgrad_slab.h"
#include "jit/compile.h"
#include "tests/instances/instance_text.h"

static struct {
    const char *target_name;
    tw_target target;
    bool all;
    tw_compiler *compiler;
} env;

static void check_info(const char *label, const tw_kernel_info *info) {
    if (info->vgpr_spills || info->sgpr_spills || info->scratch_bytes)
        fail_msg("%s %s: %u VGPR spills, %u SGPR spills, %u bytes of scratch, %u AGPRs", env.target_name,
                 label, info->vgpr_spills, info->sgpr_spills, info->scratch_bytes, info->agprs);
    assert_int_equal(info->wave_size, env.target.wave_size);
    assert_int_equal(info->kernarg_size, info->explicit_kernarg_size);
}

static void check_mfma(const char *label, const tw_wgrad_mfma_spec *spec, const tw_kernel_info *info) {
    const mf_shape shape = tw_mf_shape(spec, env.target);
    const uint32_t budget = tw_arch_vgpr_budget(env.target, (uint32_t)shape.workgroup);
    if (info->vgprs > budget)
        fail_msg("%s %s: %u registers, at most %u", env.target_name, label, info->vgprs, budget);
    assert_int_equal(info->max_workgroup, shape.workgroup);
    assert_int_equal(info->lds_bytes, shape.lds_bytes);
}

static void check_depthwise(const char *label, const tw_wgrad_depthwise_spec *spec,
                            const tw_kernel_info *info) {
    assert_int_equal(info->agprs, 0);
    const dw_shape shape = tw_dw_shape(spec, env.target);
    if ((int)info->vgprs > shape.vgpr_limit)
        fail_msg("%s %s: %u VGPRs, at most %d", env.target_name, label, info->vgprs, shape.vgpr_limit);
    assert_int_equal(info->max_workgroup, shape.workgroup);
    assert_int_equal(info->lds_bytes, tw_slab_lds_bytes(shape.group_rows, shape.kw, shape.vec, shape.lanes,
                                                        shape.waves, spec->row_waves));
    assert_true(info->lds_bytes <= tw_arch_get(env.target.arch)->lds_bytes);
}

static void check_image(const tw_wgrad_image_spec *spec, const tw_kernel_info *info) {
    const im_shape shape = tw_im_shape(spec, env.target);
    assert_int_equal(info->max_workgroup, shape.threads);
    assert_int_equal(info->lds_bytes, shape.lds_bytes);
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
    const tw_kernel_info *info = tw_code_object_kernel(object, label);
    assert_non_null(info);
    check_info(label, info);
    if (!strcmp(tw_family_name(instance->family), "direct_wgrad_depthwise"))
        check_depthwise(label, (const tw_wgrad_depthwise_spec *)instance->spec, info);
    if (!strcmp(tw_family_name(instance->family), "direct_wgrad_mfma"))
        check_mfma(label, (const tw_wgrad_mfma_spec *)instance->spec, info);
    if (!strcmp(tw_family_name(instance->family), "direct_wgrad_image"))
        check_image((const tw_wgrad_image_spec *)instance->spec, info);
    tw_code_object_release(object);
    tw_context_free(ctx);
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
    size_t count = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tw_instance instance;
        read_instance(lines[i], &instance);
        if (tw_instance_validate(&instance, env.target, NULL)) continue;
        compile_and_check(&instance);
        count++;
    }
    if (!count) skip();
    assert_true(count >= 4);
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
    size_t count = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        tw_instance instance;
        read_instance(lines[i], &instance);
        if (tw_instance_validate(&instance, env.target, NULL)) continue;
        compile_and_check(&instance);
        count++;
    }
    if (!count) skip();
    assert_true(count >= 5);
}

enum { GRID_SAMPLE = 120 };

static void points_of_the_grids(void **state) {
    (void)state;
    for (size_t f = 0; f < tw_family_count(); f++) {
        tw_instance instance;
        size_t count = 0, cursor = 0, i = 0;
        while (tw_family_grid_next(tw_family_at(f), env.target, &cursor, &instance))
            count++;
        const size_t step = count < 7 * GRID_SAMPLE ? 7 : count / GRID_SAMPLE;
        for (cursor = 0; tw_family_grid_next(tw_family_at(f), env.target, &cursor, &instance); i++)
            if (i % step == f % step) compile_and_check(&instance);
    }
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
