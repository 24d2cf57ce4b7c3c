/* The families' machine code, executed by the emulator and compared with the exact reference:
 *
 *     test_numbers TARGET core|all
 *
 * `all` is the full matrix of filters, formats, channel counts, sizes and data; `core` a small part of it. */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "jit/compile.h"
#include "tests/instances/emu_env.h"
#include "tests/instances/job_run.h"

static const char *const filters[] = {
    "kh=3 kw=3 stride=1 pad_h=1 pad_w=1", "kh=7 kw=7 stride=2 pad_h=3 pad_w=3",
    "kh=2 kw=5 stride=1 pad_h=0 pad_w=2", "kh=3 kw=3 stride=2 pad_h=1 pad_w=1",
    "kh=3 kw=3 stride=2 pad_h=0 pad_w=0", "kh=5 kw=5 stride=1 pad_h=2 pad_w=2",
    "kh=5 kw=5 stride=2 pad_h=2 pad_w=2", "kh=7 kw=7 stride=1 pad_h=3 pad_w=3",
};
enum { FILTER_COUNT = sizeof filters / sizeof filters[0], CORE_FILTERS = 3 };
static const int channels[] = {37, 1, 3, 96, 130};
static const char *const sizes[] = {"n=2 h=9 w=13", "n=1 h=7 w=7", "n=3 h=11 w=5"};
static const char *const dtypes[] = {"f16", "bf16"};

/* The code of one spec, run on many problems. */
typedef struct code {
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
} code;

static void compile(const char *words, code *out) {
    job_run run;
    job_open(&run, words, env.target);
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_job_compile(run.job, env.compiler, NULL, out->objects, diag))
        fail_msg("%s: %s", words, tw_diag_text(diag));
    tw_diag_free(diag);
    job_close(&run);
}

static void release(code *c) {
    for (int i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(c->objects[i]);
}

static double run_words(const code *c, const char *words, tw_data_pattern pattern, uint64_t seed) {
    job_run run;
    job_open(&run, words, env.target);
    job_fill(&run, pattern, seed);
    job_execute(&run, env.device, c->objects);
    double worst = job_check(&run, env.target_name);
    if (pattern == TW_DATA_INTEGERS) job_check_exact(&run);
    if (pattern == TW_DATA_UNIFORM) job_check_statistic(&run);
    job_close(&run);
    return worst;
}

/* A NaN or an infinity somewhere in each input. */
static void run_spoilt(const code *c, const char *words, const char *dtype, uint64_t seed) {
    for (size_t buffer = 0; buffer < 2; buffer++) {
        job_run run;
        job_open(&run, words, env.target);
        job_fill(&run, TW_DATA_INTEGERS, seed);
        uint16_t *data = run.memory[buffer];
        uint64_t elements = run.job->tensors[buffer].elements;
        bool f16 = !strcmp(dtype, "f16");
        data[seed * 7919 % elements] = f16 ? 0x7e01 : 0x7fc1;
        data[(seed * 104729 + elements / 2) % elements] = f16 ? 0xfc00 : 0xff80;
        job_execute(&run, env.device, c->objects);
        job_check(&run, env.target_name);
        job_close(&run);
    }
}

static void run_filter(const char *filter, const char *dtype, uint64_t seed) {
    char spec[128], words[256];
    snprintf(spec, sizeof spec, "direct_wgrad_depthwise %s dtype=%s", filter, dtype);
    code c;
    compile(spec, &c);
    for (size_t i = 0; i < (env.all ? 5 : 1); i++)
        for (size_t s = 0; s < (env.all ? 3 : 1); s++) {
            snprintf(words, sizeof words, "%s %s c=%d", spec, sizes[s], channels[i]);
            run_words(&c, words, TW_DATA_INTEGERS, seed + i);
            run_words(&c, words, TW_DATA_SPECIAL, seed + i);
            if (s == 0) run_words(&c, words, TW_DATA_UNIFORM, seed + i);
            if (s == 0) run_spoilt(&c, words, dtype, seed + i);
        }
    release(&c);
}

static void filters_and_formats(void **state) {
    (void)state;
    for (size_t f = 0; f < (env.all ? FILTER_COUNT : CORE_FILTERS); f++)
        for (size_t d = 0; d < 2; d++)
            if (env.all || (f + d) % 2 == 0) run_filter(filters[f], dtypes[d], 10 * f + d);
}

static void tunables(void **state) {
    (void)state;
    static const char *const tiles[] = {
        "vec=2 tile_h=2 ws_replicas=3 row_groups=5 out_dtype=bf16",
        "r_split=2 row_waves=2 kh=5 reproducible=1 row_groups=3 out_dtype=f16",
        "row_waves=1 r_split=3 vec=2 tile_h=4 tile_w=2 stride=2",
        "kh=8 kw=8 pad_h=4 pad_w=5",
        "kh=7 kw=7 r_split=7 row_waves=2 vec=2 tile_w=8",
        "kh=1 kw=1 stride=2 tile_w=1 row_waves=16 reduce.waves=16",
        "kh=4 kw=6 tile_h=3 tile_w=3 ho=5 wo=9",
        "kh=6 kw=3 r_split=6 row_waves=1 tile_h=2 pad_h=9 pad_w=0",
    };
    for (size_t i = 0; i < (env.all ? sizeof tiles / sizeof tiles[0] : 3); i++) {
        char words[256];
        snprintf(words, sizeof words, "direct_wgrad_depthwise n=2 h=12 w=17 c=70 dtype=%s %s", dtypes[i % 2],
                 tiles[i]);
        code c;
        compile(words, &c);
        run_words(&c, words, TW_DATA_INTEGERS, i);
        run_words(&c, words, TW_DATA_UNIFORM, i);
        release(&c);
    }
}

static void empty_problems(void **state) {
    (void)state;
    static const char *const empty[] = {"n=0 h=5 w=5 c=3",         "n=2 h=0 w=4 c=1 ho=0",
                                        "n=1 h=4 w=0 c=2 pad_w=3", "n=1 h=4 w=4 c=40 ho=0",
                                        "n=1 h=4 w=4 c=1 wo=0",    "n=1 h=1 w=1 c=1"};
    code c;
    compile("direct_wgrad_depthwise", &c);
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "direct_wgrad_depthwise %s", empty[i]);
        run_words(&c, words, TW_DATA_INTEGERS, 1);
    }
    release(&c);
}

/* Without atomics the sums have one order: the same bits from run to run, and from the number of threads that
 * run the workgroups. */
static void the_reproducible_mode_repeats(void **state) {
    (void)state;
    const char *words = "direct_wgrad_depthwise reproducible=1 n=3 h=17 w=19 c=45 row_groups=9 dtype=bf16";
    code c;
    compile(words, &c);
    job_run first, second;
    job_open(&first, words, env.target);
    job_open(&second, words, env.target);
    job_fill(&first, TW_DATA_UNIFORM, 3);
    job_fill(&second, TW_DATA_UNIFORM, 3);
    job_execute(&first, env.device, c.objects);
    job_execute(&second, env.device, c.objects);
    job_check(&first, env.target_name);
    assert_memory_equal(first.memory[3], second.memory[3], tw_plan_buffer_at(first.job->plan, 3)->bytes);
    job_close(&first);
    job_close(&second);
    release(&c);
}

static void slabs_are_folded(void **state) {
    (void)state;
    static const char *const lines[] = {
        "direct_wgrad_reduce kh=3 kw=3 c=130 ws_replicas=4 out_dtype=bf16",
        "direct_wgrad_reduce kh=8 kw=8 c=65 reproducible=1 slabs=9",
        "direct_wgrad_reduce kh=7 kw=7 c=1 ws_replicas=64 waves=1",
        "direct_wgrad_reduce kh=2 kw=5 c=96 out_dtype=f16 ws_replicas=2 waves=16",
        "direct_wgrad_reduce kh=1 kw=1 c=37 out_dtype=bf16",
    };
    for (size_t i = 0; i < (env.all ? 5 : 2); i++) {
        code c;
        compile(lines[i], &c);
        run_words(&c, lines[i], TW_DATA_INTEGERS, i);
        run_words(&c, lines[i], TW_DATA_UNIFORM, i);
        run_words(&c, lines[i], TW_DATA_SPECIAL, i);
        release(&c);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    env.target_name = argv[1];
    env.all = !strcmp(argv[2], "all");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_and_formats), cmocka_unit_test(tunables),
        cmocka_unit_test(empty_problems),      cmocka_unit_test(the_reproducible_mode_repeats),
        cmocka_unit_test(slabs_are_folded),
    };
    return cmocka_run_group_tests_name(env.target_name, tests, open_env, close_env);
}
