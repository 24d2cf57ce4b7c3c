/* LDS of the loops of weight-gradient kernels has no bank conflicts, by the model of arch/lds_banks.h:
 *
 *     test_conflicts            what the layouts themselves count, of every configuration of the tuning grids
 *     test_conflicts TARGET N   what the emulator counts, of N configurations of each grid: one image more
 */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instances/direct_wgrad_image_internal.h"
#include "instances/direct_wgrad_mfma_internal.h"
#include "jit/compile.h"
#include "tests/instances/instance_text.h"
#include "tests/instances/job_run.h"

static int image_conflicts(const void *spec, tw_target target) {
    const im_shape shape = tw_im_shape(spec, target);
    return shape.x.conflicts + shape.dy.conflicts;
}

static int mfma_conflicts(const void *spec, tw_target target) {
    const mf_shape shape = tw_mf_shape(spec, target);
    return shape.x.conflicts + shape.dy.conflicts;
}

static const struct {
    const char *name;
    int (*conflicts)(const void *spec, tw_target target);
    const char *problem; /* with rows that end within a strip, and begin before the image */
} families[] = {
    {"direct_wgrad_image", image_conflicts, "h=6 w=36 c=64 k=64"},
    {"direct_wgrad_mfma", mfma_conflicts, "h=6 w=36 c=64 k=64"},
};
enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

static struct {
    const char *target_name;
    size_t samples;
    tw_target target;
    tw_device *device;
    tw_compiler *compiler;
} env;

/* ---- what the layouts count ---- */

static void no_layout_has_conflicts(void **state) {
    (void)state;
    for (size_t f = 0; f < FAMILY_COUNT; f++) {
        size_t all = 0;
        for (int arch = TW_ARCH_NONE + 1; arch < TW_ARCH_COUNT; arch++) {
            const tw_target target = {.arch = (tw_arch)arch,
                                      .wave_size = tw_arch_get((tw_arch)arch)->wave_size};
            size_t cursor = 0;
            tw_instance instance;
            while (tw_family_grid_next(tw_family_find(families[f].name), target, &cursor, &instance)) {
                char label[TW_LABEL_MAX];
                tw_instance_label(&instance, label);
                const int conflicts = families[f].conflicts(instance.spec, target);
                if (conflicts)
                    fail_msg("%s %s: %d conflicts", tw_arch_get((tw_arch)arch)->name, label, conflicts);
                all++;
            }
        }
        assert_true(all > 1000);
    }
}

/* Tiles that are no power of two wide, and filters that no grid has. */
static void nor_have_those_beyond_the_grids(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_image waves_c=3 waves_k=3 vec=%d strip=16 kh=1 kw=2",
        "direct_wgrad_image waves_c=5 waves_k=1 vec=%d kh=1 kw=5 rows_per_sync=1",
        "direct_wgrad_image waves_c=3 waves_k=2 wave_tiles_k=3 vec=%d kh=1 kw=1 rows_per_sync=1",
        "direct_wgrad_mfma waves_c=3 waves_k=1 wave_tiles_c=1 vec=%d",
        "direct_wgrad_mfma waves_c=3 waves_k=3 wave_tiles_c=2 wave_tiles_k=1 steps=3 vec=%d kh=2 kw=6",
        "direct_wgrad_mfma waves_c=5 waves_k=1 wave_tiles_c=1 vec=%d kh=1 kw=8 steps=4",
    };
    size_t all = 0;
    for (int arch = TW_ARCH_NONE + 1; arch < TW_ARCH_COUNT; arch++)
        for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
            for (int vec = 1; vec <= 8; vec *= 2) {
                const tw_target target = {.arch = (tw_arch)arch,
                                          .wave_size = tw_arch_get((tw_arch)arch)->wave_size};
                char line[256];
                tw_instance instance;
                snprintf(line, sizeof line, lines[i], vec);
                read_instance(line, &instance);
                if (tw_instance_validate(&instance, target, NULL)) continue;
                for (size_t f = 0; f < FAMILY_COUNT; f++)
                    if (!strcmp(families[f].name, tw_family_name(instance.family)) &&
                        families[f].conflicts(instance.spec, target))
                        fail_msg("%s %s: conflicts", tw_arch_get((tw_arch)arch)->name, line);
                all++;
            }
    assert_true(all > 40);
}

/* ---- what the emulator counts ---- */

static uint64_t count_conflicts(tw_code_object *const *objects, const char *words, int images) {
    char text[300];
    job_run run;
    snprintf(text, sizeof text, "%s splits=1 n=%d", words, images);
    job_open(&run, text, env.target);
    job_fill(&run, TW_DATA_UNIFORM, 1);
    const uint64_t conflicts = job_count(&run, env.device, objects).lds_bank_conflicts;
    job_close(&run);
    return conflicts;
}

static void run_one(const tw_instance *instance, const char *problem) {
    char words[256];
    char *spec = tw_instance_words(instance, false);
    assert_non_null(spec);
    snprintf(words, sizeof words, "%s %s", spec, problem);
    free(spec);
    job_run run;
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    job_open(&run, words, env.target);
    if (tw_job_compile(run.job, env.compiler, NULL, objects, NULL)) fail_msg("%s", words);
    job_close(&run);
    const uint64_t one = count_conflicts(objects, words, 1), two = count_conflicts(objects, words, 2);
    if (one != two) fail_msg("%s %s: %d conflicts an image", env.target_name, words, (int)(two - one));
    for (int i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(objects[i]);
}

static void no_kernel_has_conflicts(void **state) {
    (void)state;
    size_t ran = 0;
    for (size_t f = 0; f < FAMILY_COUNT; f++) {
        const tw_family *family = tw_family_find(families[f].name);
        tw_instance instance;
        size_t count = 0, cursor = 0;
        while (tw_family_grid_next(family, env.target, &cursor, &instance))
            count++;
        /* An odd step, which is not too long, meets every value of axes of 2 and 4. */
        const size_t most = count / env.samples, step = most > 1 ? (most - 1) | 1 : 1;
        cursor = 0;
        for (size_t i = 0; tw_family_grid_next(family, env.target, &cursor, &instance); i++) {
            if (i % step != step / 2) continue;
            run_one(&instance, families[f].problem);
            ran++;
        }
    }
    assert_true(ran >= env.samples);
}

static int open_env(void **state) {
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "emu:%s", env.target_name);
    return tw_target_parse(env.target_name, &env.target, NULL) || tw_device_open(name, &env.device, NULL) ||
           tw_compiler_open(TW_COMPILER_LLVM, &env.compiler, NULL);
}

static int close_env(void **state) {
    (void)state;
    tw_compiler_close(env.compiler);
    tw_device_close(env.device);
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest layouts[] = {
        cmocka_unit_test(no_layout_has_conflicts),
        cmocka_unit_test(nor_have_those_beyond_the_grids),
    };
    const struct CMUnitTest kernels[] = {cmocka_unit_test(no_kernel_has_conflicts)};
    if (argc == 1) return cmocka_run_group_tests_name("layouts", layouts, NULL, NULL);
    if (argc != 3) return 2;
    env.target_name = argv[1];
    env.samples = strtoul(argv[2], NULL, 10);
    return cmocka_run_group_tests_name(env.target_name, kernels, open_env, close_env);
}
