/* The families' kernels, executed by the interpreter of the tile IR: what they compute, before any compiler.
 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/instances/job_run.h"

static void run_case(const char *target_name, const char *words, tw_data_pattern pattern) {
    tw_target target;
    assert_int_equal(tw_target_parse(target_name, &target, NULL), TW_OK);
    job_run run;
    job_open(&run, words, target);
    run.unchecked = !strstr(words, "=0"); /* an empty image has no pixel to load instead of one outside */
    job_fill(&run, pattern, 1);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernels[TW_JOB_MAX_KERNELS];
    job_build(&run, ctx, kernels);
    job_interpret(&run, kernels);
    job_check(&run, target_name);
    if (pattern == TW_DATA_INTEGERS) job_check_exact(&run);
    if (pattern == TW_DATA_UNIFORM) job_check_statistic(&run);
    tw_context_free(ctx);
    job_close(&run);
}

static void filters_strides_and_paddings(void **state) {
    (void)state;
    static const char *const filters[] = {
        "kh=3 kw=3 stride=1 pad_h=1 pad_w=1", "kh=3 kw=3 stride=2 pad_h=1 pad_w=1",
        "kh=3 kw=3 stride=2 pad_h=0 pad_w=0", "kh=5 kw=5 stride=1 pad_h=2 pad_w=2",
        "kh=5 kw=5 stride=2 pad_h=2 pad_w=2", "kh=7 kw=7 stride=1 pad_h=3 pad_w=3",
        "kh=7 kw=7 stride=2 pad_h=3 pad_w=3", "kh=2 kw=5 stride=1 pad_h=0 pad_w=2",
        "kh=1 kw=1 stride=2 pad_h=0 pad_w=0", "kh=1 kw=1 stride=1 pad_h=2 pad_w=1",
        "kh=8 kw=8 stride=1 pad_h=4 pad_w=9", "kh=4 kw=1 stride=2 pad_h=5 pad_w=0",
    };
    static const char *const sizes[] = {"n=2 h=9 w=11 c=3", "n=1 h=8 w=21 c=37"};
    for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++)
        for (size_t s = 0; s < 2; s++) {
            char words[256];
            snprintf(words, sizeof words, "direct_wgrad_depthwise %s %s dtype=%s", filters[f], sizes[s],
                     (f + s) % 2 ? "f16" : "bf16");
            run_case(s ? "gfx950" : "gfx1250", words, TW_DATA_INTEGERS);
        }
}

static void tunables(void **state) {
    (void)state;
    static const char *const tiles[] = {
        "vec=2",
        "tile_h=2",
        "tile_h=3 stride=2",
        "vec=2 tile_h=4 tile_w=1",
        "tile_w=8 vec=2 stride=2",
        "tile_w=1",
        "tile_w=3",
        "row_waves=1",
        "row_waves=1 vec=2 r_split=2",
        "r_split=2",
        "r_split=3 row_waves=2 vec=2",
        "kh=7 kw=5 r_split=4 row_waves=3",
        "kh=8 kw=2 r_split=8 row_waves=2",
        "row_waves=16",
        "ws_replicas=3 row_groups=5",
        "reproducible=1 row_groups=5",
        "reproducible=1 r_split=2 row_waves=1 row_groups=3",
        "out_dtype=f16",
        "out_dtype=bf16 reduce.waves=16",
        "row_groups=1",
        "kh=8 kw=8 vec=1 tile_h=1 row_waves=2",
    };
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "direct_wgrad_depthwise n=2 h=11 w=13 c=70 dtype=%s %s",
                 i % 2 ? "f16" : "bf16", tiles[i]);
        run_case(i % 3 ? "gfx1201" : "gfx942", words, TW_DATA_INTEGERS);
    }
}

static void sizes_at_the_edge(void **state) {
    (void)state;
    static const char *const sizes[] = {
        "n=0 h=5 w=5 c=3",           "n=2 h=0 w=4 c=1 ho=0",        "n=2 h=0 w=4 c=1 pad_h=3",
        "n=1 h=4 w=0 c=2 pad_w=3",   "n=1 h=4 w=4 c=1 ho=0",        "n=1 h=1 w=1 c=1",
        "n=3 h=1 w=9 c=33",          "n=1 h=17 w=1 c=65",           "n=1 h=3 w=3 c=5 ho=9 wo=9",
        "n=1 h=6 w=6 c=4 ho=2 wo=3", "n=2 h=12 w=20 c=3 ho=3 wo=9", "n=1 h=2 w=2 c=1 pad_h=30 pad_w=20",
        "n=5 h=2 w=3 c=31",
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "direct_wgrad_depthwise %s", sizes[i]);
        run_case("gfx1100", words, TW_DATA_INTEGERS);
        snprintf(words, sizeof words,
                 "direct_wgrad_depthwise kh=4 kw=5 pad_h=3 stride=2 tile_h=2 reproducible=1 %s", sizes[i]);
        if (strstr(words, "pad_h=30") || strstr(words, "pad_h=3 n=2 h=0")) continue;
        if (!strstr(sizes[i], "pad_h")) run_case("gfx90a", words, TW_DATA_INTEGERS);
    }
}

static void rounding_stays_within_the_bound(void **state) {
    (void)state;
    run_case("gfx1250", "direct_wgrad_depthwise n=2 h=14 w=15 c=37 dtype=f16", TW_DATA_UNIFORM);
    run_case("gfx1250", "direct_wgrad_depthwise n=2 h=14 w=15 c=37 dtype=bf16 out_dtype=bf16",
             TW_DATA_UNIFORM);
    run_case("gfx1250", "direct_wgrad_depthwise n=2 h=14 w=15 c=37 dtype=f16 out_dtype=f16", TW_DATA_SPECIAL);
    run_case("gfx950", "direct_wgrad_depthwise n=2 h=14 w=15 c=37 dtype=bf16", TW_DATA_SPECIAL);
}

/* Every slab gets a share: the sums of all are dW, none is left at zero. */
static void workgroups_spread_over_the_slabs(void **state) {
    (void)state;
    static const char *const lines[] = {"direct_wgrad_depthwise n=3 h=8 w=8 c=5 ws_replicas=3 row_groups=6",
                                        "direct_wgrad_depthwise n=3 h=8 w=8 c=5 reproducible=1 row_groups=6"};
    for (size_t l = 0; l < 2; l++) {
        tw_target target;
        assert_int_equal(tw_target_parse("gfx1201", &target, NULL), TW_OK);
        job_run run;
        job_open(&run, lines[l], target);
        job_fill(&run, TW_DATA_INTEGERS, 1);
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernels[TW_JOB_MAX_KERNELS];
        job_build(&run, ctx, kernels);
        job_interpret(&run, kernels);
        enum { WS = 2 };
        const tw_tensor *ws = &run.job->tensors[WS];
        assert_int_equal(ws->shape[0], l ? 6 : 3);
        const size_t slab = ws->elements / (size_t)ws->shape[0];
        for (int64_t i = 0; i < ws->shape[0]; i++) {
            size_t used = 0;
            for (size_t j = 0; j < slab; j++)
                used += ((const float *)run.memory[WS])[(size_t)i * slab + j] != 0;
            assert_true(used > slab / 2);
        }
        tw_context_free(ctx);
        job_close(&run);
    }
}

static void slabs_are_folded(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_reduce kh=3 kw=3 c=130 ws_replicas=4",
        "direct_wgrad_reduce kh=7 kw=7 c=1 ws_replicas=64 waves=1",
        "direct_wgrad_reduce kh=1 kw=1 c=37 out_dtype=bf16",
        "direct_wgrad_reduce kh=8 kw=8 c=65 reproducible=1 slabs=9",
        "direct_wgrad_reduce kh=2 kw=5 c=96 out_dtype=f16 ws_replicas=2 waves=16",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        run_case(i % 2 ? "gfx90a" : "gfx1201", lines[i], TW_DATA_INTEGERS);
        run_case(i % 2 ? "gfx1100" : "gfx942", lines[i], TW_DATA_UNIFORM);
    }
}

/* Fragments by the lane maps of two ways of staging; what the resources forgive is only the offset past the
 * end. */
static void matrix_kernels(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_mfma n=2 h=6 w=19 c=40 k=20",
        "direct_wgrad_mfma n=1 h=5 w=9 c=9 k=11 vec=1 wave_tiles_k=1 dtype=bf16 reproducible=1",
        "direct_wgrad_mfma kh=2 kw=6 n=1 h=7 w=8 c=24 k=32 groups=2 steps=2 wave_tiles_c=1 row_blocks=2",
    };
    static const char *const targets[] = {"gfx950", "gfx942", "gfx90a"};
    for (size_t i = 0; i < 9; i++)
        run_case(targets[i % 3], lines[i / 3], i % 2 ? TW_DATA_UNIFORM : TW_DATA_INTEGERS);
    run_case("gfx950", "direct_wgrad_mfma atom_k=32 vec=8 n=1 h=6 w=19 c=40 k=24", TW_DATA_INTEGERS);
}

/* A NaN or an infinity at one place of one input reaches just the taps that see it. */
static void spoilt_inputs(const char *words, uint16_t bits, size_t buffer) {
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    job_run run;
    job_open(&run, words, target);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernels[TW_JOB_MAX_KERNELS];
    job_build(&run, ctx, kernels);
    const uint64_t elements = run.job->tensors[buffer].elements;
    for (uint64_t at = 0; at < elements; at += 1 + elements / 23) {
        job_fill(&run, TW_DATA_INTEGERS, at);
        ((uint16_t *)run.memory[buffer])[at] = bits;
        job_interpret(&run, kernels);
        job_check(&run, "NaN");
    }
    tw_context_free(ctx);
    job_close(&run);
}

static void not_a_number_reaches_what_it_should(void **state) {
    (void)state;
    for (size_t buffer = 0; buffer < 2; buffer++) {
        spoilt_inputs("direct_wgrad_depthwise n=1 h=6 w=9 c=3", 0x7e01, buffer);
        spoilt_inputs("direct_wgrad_depthwise n=1 h=9 w=8 c=2 stride=2 kh=5 kw=4 dtype=bf16", 0x7fc0, buffer);
        spoilt_inputs("direct_wgrad_depthwise n=1 h=7 w=9 c=4 tile_h=2 vec=2 ho=9 wo=10", 0x7c00, buffer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_strides_and_paddings),
        cmocka_unit_test(tunables),
        cmocka_unit_test(sizes_at_the_edge),
        cmocka_unit_test(rounding_stays_within_the_bound),
        cmocka_unit_test(workgroups_spread_over_the_slabs),
        cmocka_unit_test(slabs_are_folded),
        cmocka_unit_test(matrix_kernels),
        cmocka_unit_test(not_a_number_reaches_what_it_should),
    };
    return cmocka_run_group_tests_name("interpreted", tests, NULL, NULL);
}
