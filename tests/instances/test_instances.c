/* Families, fields, words, labels, the layout of public structs, plans. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instances/direct_wgrad_depthwise.h"
#include "instances/direct_wgrad_image.h"
#include "instances/direct_wgrad_mfma.h"
#include "instances/direct_wgrad_reduce.h"
#include "instances/direct_wgrad_small_c.h"
#include "tests/instances/instance_text.h"

static const char *const all_targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                          "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
enum { TARGET_COUNT = sizeof all_targets / sizeof all_targets[0] };

/* Moves only together with TW_ABI_VERSION. */
static void public_structs_keep_their_layout(void **state) {
    (void)state;
    assert_int_equal(TW_ABI_VERSION, 2);
    char text[512] = "";
    size_t used = 0;
#define SPEC_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define SPEC_DTYPE SPEC_INT
#define STRUCT     tw_wgrad_depthwise_spec
#include "instances/direct_wgrad_depthwise.def"
    assert_string_equal(text,
                        "kh@0 kw@4 stride@8 dtype@12 r_split@16 row_waves@20 vec@24 tile_h@28 tile_w@32 "
                        "ws_replicas@36 reproducible@40 ");
    assert_int_equal(sizeof(STRUCT), 44);
#undef STRUCT
    used = 0;
#define PROBLEM_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define PROBLEM_DTYPE PROBLEM_INT
#define STRUCT        tw_wgrad_depthwise_problem
#include "instances/direct_wgrad_depthwise.def"
    assert_string_equal(text, "n@0 h@4 w@8 c@12 pad_h@16 pad_w@20 ho@24 wo@28 row_groups@32 out_dtype@36 ");
    assert_int_equal(sizeof(STRUCT), 40);
#undef STRUCT
    used = 0;
#define SPEC_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define SPEC_DTYPE SPEC_INT
#define STRUCT     tw_wgrad_reduce_spec
#include "instances/direct_wgrad_reduce.def"
    assert_string_equal(text, "kh@0 kw@4 out_dtype@8 waves@12 ws_replicas@16 reproducible@20 ");
    assert_int_equal(sizeof(STRUCT), 24);
#undef STRUCT
    used = 0;
#define SPEC_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define SPEC_DTYPE SPEC_INT
#define STRUCT     tw_wgrad_mfma_spec
#include "instances/direct_wgrad_mfma.def"
    assert_string_equal(text, "kh@0 kw@4 dtype@8 waves_k@12 waves_c@16 wave_tiles_k@20 wave_tiles_c@24 "
                              "atom_k@28 steps@32 vec@36 row_blocks@40 ws_replicas@44 reproducible@48 ");
    assert_int_equal(sizeof(STRUCT), 52);
#undef STRUCT
    used = 0;
#define SPEC_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define SPEC_DTYPE SPEC_INT
#define STRUCT     tw_wgrad_image_spec
#include "instances/direct_wgrad_image.def"
    assert_string_equal(text,
                        "kh@0 kw@4 dtype@8 waves_k@12 waves_c@16 wave_tiles_k@20 wave_tiles_c@24 strip@28 "
                        "rows_per_sync@32 row_blocks@36 tdm_stages@40 lds_epilogue@44 vec@48 "
                        "ws_replicas@52 reproducible@56 ");
    assert_int_equal(sizeof(STRUCT), 60);
#undef STRUCT
    used = 0;
#define SPEC_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define SPEC_DTYPE SPEC_INT
#define STRUCT     tw_wgrad_small_c_spec
#include "instances/direct_wgrad_small_c.def"
    assert_string_equal(text, "kh@0 kw@4 channels@8 stride@12 dtype@16 waves_k@20 waves_q@24 waves_p@28 "
                              "wave_tiles_k@32 wave_tiles_q@36 sub_steps@40 rows@44 unit_rows@48 vec_x@52 "
                              "uniform_wave@56 dy_direct@60 ws_replicas@64 reproducible@68 ");
    assert_int_equal(sizeof(STRUCT), 72);
#undef STRUCT
    used = 0;
#define PROBLEM_INT(name, ...) \
    used += (size_t)snprintf(text + used, sizeof text - used, "%s@%zu ", #name, offsetof(STRUCT, name));
#define PROBLEM_DTYPE PROBLEM_INT
#define STRUCT        tw_wgrad_problem
#include "instances/wgrad_problem.def"
    assert_string_equal(text, "n@0 h@4 w@8 c@12 k@16 groups@20 pad_h@24 pad_w@28 ho@32 wo@36 splits@40 "
                              "out_dtype@44 ");
    assert_int_equal(sizeof(STRUCT), 48);
#undef STRUCT
    assert_int_equal(offsetof(tw_wgrad_reduce_problem, c), 0);
    assert_int_equal(offsetof(tw_wgrad_reduce_problem, slabs), 4);
    assert_int_equal(sizeof(tw_wgrad_reduce_problem), 8);
    assert_int_equal(sizeof(tw_instance), sizeof(void *) + 3 * 4 * TW_MAX_FIELDS);
}

static void words_set_fields_and_are_written_back(void **state) {
    (void)state;
    tw_instance instance;
    read_instance(
        "direct_wgrad_depthwise kw=5 kh=7 dtype=bf16 n=2 c=96 stride=2 reduce.waves=8 ws_replicas=4",
        &instance);
    const tw_wgrad_depthwise_spec *spec = (const tw_wgrad_depthwise_spec *)instance.spec;
    const tw_wgrad_depthwise_problem *problem = (const tw_wgrad_depthwise_problem *)instance.problem;
    const tw_wgrad_reduce_spec *reduce = (const tw_wgrad_reduce_spec *)instance.reduce;
    assert_int_equal(spec->kh, 7);
    assert_int_equal(spec->kw, 5);
    assert_int_equal(spec->stride, 2);
    assert_int_equal(spec->dtype, TW_BF16);
    assert_int_equal(spec->r_split, 1);
    assert_int_equal(problem->n, 2);
    assert_int_equal(problem->c, 96);
    assert_int_equal(reduce->kh, 7);
    assert_int_equal(reduce->kw, 5);
    assert_int_equal(reduce->ws_replicas, 4);
    assert_int_equal(reduce->waves, 8);
    char *words = tw_instance_words(&instance, true);
    assert_string_equal(
        words, "direct_wgrad_depthwise kh=7 kw=5 stride=2 dtype=bf16 r_split=1 row_waves=4 vec=1 tile_h=1 "
               "tile_w=4 ws_replicas=4 reproducible=0 n=2 h=14 w=14 c=96 pad_h=-1 pad_w=-1 ho=-1 wo=-1 "
               "row_groups=64 out_dtype=f32 reduce.kh=7 reduce.kw=5 reduce.out_dtype=f32 "
               "reduce.waves=8 reduce.ws_replicas=4 reduce.reproducible=0");
    tw_instance again;
    read_instance(words, &again);
    assert_memory_equal(&again, &instance, sizeof instance);
    free(words);
    words = tw_instance_words(&instance, false);
    assert_null(strstr(words, "pad_h"));
    free(words);
}

static void typed_and_named_instances_agree(void **state) {
    (void)state;
    tw_wgrad_depthwise_spec spec;
    tw_wgrad_depthwise_problem problem;
    tw_wgrad_depthwise_defaults(&spec, &problem);
    spec.kh = 5;
    spec.ws_replicas = 2;
    problem.c = 7;
    problem.out_dtype = TW_BF16;
    tw_instance typed = tw_wgrad_depthwise_instance(&spec, &problem), named;
    read_instance("direct_wgrad_depthwise kh=5 ws_replicas=2 c=7 out_dtype=bf16", &named);
    assert_memory_equal(&typed, &named, sizeof typed);
    tw_wgrad_mfma_spec mfma;
    tw_wgrad_problem dense;
    tw_wgrad_mfma_defaults(&mfma, &dense);
    mfma.kw = 1;
    dense.groups = 2;
    typed = tw_wgrad_mfma_instance(&mfma, &dense);
    read_instance("direct_wgrad_mfma kw=1 groups=2", &named);
    assert_memory_equal(&typed, &named, sizeof typed);
    tw_wgrad_reduce_spec reduce;
    tw_wgrad_reduce_problem reduce_problem;
    tw_wgrad_reduce_defaults(&reduce, &reduce_problem);
    reduce.waves = 2;
    reduce_problem.c = 9;
    typed = tw_wgrad_reduce_instance(&reduce, &reduce_problem);
    read_instance("direct_wgrad_reduce waves=2 c=9", &named);
    assert_memory_equal(&typed, &named, sizeof typed);
}

/* Changes one field after the other: every label differs from all others. */
static void labels_tell_specs_apart(void **state) {
    (void)state;
    char labels[128][TW_LABEL_MAX];
    size_t count = 0;
    for (size_t f = 0; f < tw_family_count(); f++) {
        tw_instance instance;
        tw_instance_init(tw_family_at(f), &instance);
        tw_instance_label(&instance, labels[count++]);
        for (uint32_t i = 0; i < tw_family_spec_fields(tw_family_at(f)).count; i++) {
            tw_instance changed = instance;
            changed.spec[i]++;
            tw_instance_label(&changed, labels[count++]);
        }
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(labels[i], labels[j]);
    assert_string_equal(labels[0], "direct_wgrad_depthwise_3x3_s1_f16_r1_w4_v1_h1_u4_z1_p0");
}

/* Every point of every grid builds for every target that admits it, into a kernel named by its label. */
static void the_grids_build(void **state) {
    (void)state;
    for (size_t f = 0; f < tw_family_count(); f++) {
        size_t served = 0;
        for (size_t t = 0; t < TARGET_COUNT; t++) {
            tw_target target;
            assert_int_equal(tw_target_parse(all_targets[t], &target, NULL), TW_OK);
            size_t count = 0, cursor = 0;
            tw_instance instance;
            for (; tw_family_grid_next(tw_family_at(f), target, &cursor, &instance); count++) {
                if (count % 37) continue;
                tw_context *ctx = tw_context_new(NULL);
                tw_kernel *kernel = tw_instance_build(ctx, &instance, target);
                char label[TW_LABEL_MAX];
                tw_instance_label(&instance, label);
                if (!kernel) fail_msg("%s %s: %s", all_targets[t], label, tw_context_diagnostics(ctx));
                assert_string_equal(tw_kernel_name(kernel), label);
                tw_context_free(ctx);
            }
            served += count > 0;
            assert_true(count >= 50 || !count);
        }
        assert_true(served);
    }
}

static void default_tiles_are_valid_for_every_filter(void **state) {
    (void)state;
    for (size_t t = 0; t < TARGET_COUNT; t++)
        for (int kh = 1; kh <= 8; kh++)
            for (int kw = 1; kw <= 8; kw++)
                for (int stride = 1; stride <= 2; stride++) {
                    tw_wgrad_depthwise_spec spec;
                    tw_wgrad_depthwise_defaults(&spec, NULL);
                    spec.kh = kh;
                    spec.kw = kw;
                    spec.stride = stride;
                    tw_target target;
                    assert_int_equal(tw_target_parse(all_targets[t], &target, NULL), TW_OK);
                    assert_int_equal(tw_wgrad_depthwise_validate(&spec, target, NULL), TW_OK);
                }
}

static void check_plan(const char *words, const char *expected) {
    tw_instance instance;
    read_instance(words, &instance);
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    tw_diag *diag = tw_diag_new(NULL);
    tw_job *job;
    if (tw_job_new(&instance, target, &job, diag)) fail_msg("%s: %s", words, tw_diag_text(diag));
    char *text = tw_plan_text(job->plan);
    assert_string_equal(text, expected);
    free(text);
    for (size_t i = 0; i < job->tensor_count; i++)
        assert_int_equal(job->tensors[i].elements * tw_scalar_bits(job->tensors[i].dtype) / 8,
                         tw_plan_buffer_at(job->plan, i)->bytes);
    assert_int_equal(job->tensor_count, tw_plan_buffer_count(job->plan));
    assert_int_equal(job->kernel_count, tw_plan_object_count(job->plan));
    tw_job_free(job);
    tw_diag_free(diag);
}

#define KERNEL "direct_wgrad_depthwise_3x3_s2_bf16_r1_w4_v1_h2_u4_z4_p0"
#define REPRO  "direct_wgrad_depthwise_3x3_s1_f16_r1_w2_v1_h1_u4_z1_p1"
#define EMPTY  "direct_wgrad_depthwise_3x3_s1_f16_r1_w4_v1_h1_u4_z1_p0"

static void plans_have_two_launches(void **state) {
    (void)state;
    check_plan(
        "direct_wgrad_depthwise stride=2 dtype=bf16 tile_h=2 ws_replicas=4 n=2 h=15 w=13 c=37 row_groups=2 "
        "out_dtype=f16",
        "plan " KERNEL "\n"
        "  buffer x: input, 28860 bytes\n"
        "  buffer dy: input, 8288 bytes\n"
        "  buffer ws: scratch, 5328 bytes\n"
        "  buffer dw: output, 666 bytes\n"
        "  zero ws\n"
        "  launch " KERNEL
        ": grid 2x2x1, block 128x1x1, dynamic LDS 0: x=x dy=dy ws=ws n=i32:2 h=i32:15 w=i32:13 "
        "ho=i32:8 wo=i32:7 c=i32:37 pad_h=i32:1 pad_w=i32:1 row_blocks=i32:4 x_bytes=i32:28860 "
        "dy_bytes=i32:8288 ws_bytes=i32:5328\n"
        "  launch direct_wgrad_reduce_3x3_f16_w4_z4_p0: grid 2x1x1, block 128x1x1, dynamic LDS 0: ws=ws "
        "dw=dw "
        "c=i32:37 slabs=i32:4 ws_bytes=i32:5328 dw_bytes=i32:666\n");
    /* A slab for each of the 7 workgroups, written whole: nothing is cleared. */
    check_plan("direct_wgrad_depthwise row_waves=2 reproducible=1 h=14 w=4 c=32 row_groups=7",
               "plan " REPRO "\n"
               "  buffer x: input, 3584 bytes\n"
               "  buffer dy: input, 3584 bytes\n"
               "  buffer ws: scratch, 8064 bytes\n"
               "  buffer dw: output, 1152 bytes\n"
               "  launch " REPRO
               ": grid 1x7x1, block 64x1x1, dynamic LDS 0: x=x dy=dy ws=ws n=i32:1 h=i32:14 w=i32:4 "
               "ho=i32:14 wo=i32:4 c=i32:32 pad_h=i32:1 pad_w=i32:1 row_blocks=i32:2 x_bytes=i32:3584 "
               "dy_bytes=i32:3584 ws_bytes=i32:8064\n"
               "  launch direct_wgrad_reduce_3x3_f32_w4_z1_p1: grid 1x1x1, block 128x1x1, dynamic LDS 0: "
               "ws=ws dw=dw "
               "c=i32:32 slabs=i32:7 ws_bytes=i32:8064 dw_bytes=i32:1152\n");
    /* Without a product there is one workgroup that finds no rows. */
    check_plan(
        "direct_wgrad_depthwise n=2 h=0 w=4 c=1 ho=0",
        "plan " EMPTY "\n"
        "  buffer x: input, 0 bytes\n"
        "  buffer dy: input, 0 bytes\n"
        "  buffer ws: scratch, 36 bytes\n"
        "  buffer dw: output, 36 bytes\n"
        "  zero ws\n"
        "  launch " EMPTY
        ": grid 1x1x1, block 128x1x1, dynamic LDS 0: x=x dy=dy ws=ws n=i32:0 h=i32:0 w=i32:4 "
        "ho=i32:0 wo=i32:4 c=i32:1 pad_h=i32:1 pad_w=i32:1 row_blocks=i32:0 x_bytes=i32:0 dy_bytes=i32:0 "
        "ws_bytes=i32:36\n"
        "  launch direct_wgrad_reduce_3x3_f32_w4_z1_p0: grid 1x1x1, block 128x1x1, dynamic LDS 0: ws=ws "
        "dw=dw "
        "c=i32:1 slabs=i32:1 ws_bytes=i32:36 dw_bytes=i32:36\n");
}

/* The workgroups' shares cover every row block once, whatever the sizes. */
static void shares_cover_all_rows(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx950", &target, NULL), TW_OK);
    for (int rows = 1; rows < 200; rows += 3)
        for (int waves = 1; waves <= 16; waves *= 2)
            for (int groups = 1; groups < 70; groups += 17) {
                tw_wgrad_depthwise_spec spec;
                tw_wgrad_depthwise_problem problem;
                tw_wgrad_depthwise_defaults(&spec, &problem);
                spec.row_waves = waves;
                problem.h = rows;
                problem.row_groups = groups;
                tw_instance instance = tw_wgrad_depthwise_instance(&spec, &problem);
                tw_job *job;
                assert_int_equal(tw_job_new(&instance, target, &job, NULL), TW_OK);
                const tw_plan_launch *launch = tw_plan_launch_at(job->plan, 0);
                int64_t used = launch->grid.y, share = launch->args[11].as.i32;
                assert_string_equal(launch->args[11].name, "row_blocks");
                assert_true(used <= groups && used * share >= rows && (used - 1) * share < rows);
                assert_int_equal(share % waves, 0);
                tw_job_free(job);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_structs_keep_their_layout),
        cmocka_unit_test(words_set_fields_and_are_written_back),
        cmocka_unit_test(typed_and_named_instances_agree),
        cmocka_unit_test(labels_tell_specs_apart),
        cmocka_unit_test(the_grids_build),
        cmocka_unit_test(default_tiles_are_valid_for_every_filter),
        cmocka_unit_test(plans_have_two_launches),
        cmocka_unit_test(shares_cover_all_rows),
    };
    return cmocka_run_group_tests_name("instances", tests, NULL, NULL);
}
