/* The dense weight-gradient families on the emulator, compared with the exact reference:
 *
 *     test_dense TARGET core|all
 *
 * Rows: tests/instances/dense_rows.def. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "tests/instances/emu_env.h"
#include "tests/instances/instance_text.h"
#include "tests/instances/job_run.h"

static const struct {
    const char *family;
    bool core;
    const char *words;
} rows[] = {
#define DENSE(family, core, words) {family, core, family " " words},
#include "tests/instances/dense_rows.def"
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool is_admitted(const char *words) {
    tw_instance instance;
    read_instance(words, &instance);
    return tw_instance_validate(&instance, env.target, NULL) == TW_OK;
}

static void compile(const char *words, tw_code_object *objects[TW_JOB_MAX_KERNELS]) {
    job_run run;
    job_open(&run, words, env.target);
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_job_compile(run.job, env.compiler, NULL, objects, diag))
        fail_msg("%s: %s", words, tw_diag_text(diag));
    tw_diag_free(diag);
    job_close(&run);
}

static void release(tw_code_object *objects[TW_JOB_MAX_KERNELS]) {
    for (int i = 0; i < TW_JOB_MAX_KERNELS; i++)
        tw_code_object_release(objects[i]);
}

static void run_pattern(tw_code_object *const *objects, const char *words, tw_data_pattern pattern,
                        uint64_t seed) {
    job_run run;
    job_open(&run, words, env.target);
    job_fill(&run, pattern, seed);
    job_execute(&run, env.device, objects);
    job_check(&run, env.target_name);
    if (pattern == TW_DATA_INTEGERS) job_check_exact(&run);
    if (pattern == TW_DATA_UNIFORM) job_check_statistic(&run);
    job_close(&run);
}

static void run_row(const char *words, uint64_t seed) {
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    compile(words, objects);
    run_pattern(objects, words, TW_DATA_INTEGERS, seed);
    run_pattern(objects, words, TW_DATA_UNIFORM, seed + 1);
    run_pattern(objects, words, TW_DATA_SPECIAL, seed + 2);
    release(objects);
}

static void every_row_is_right(void **state) {
    (void)state;
    size_t ran = 0;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!(env.all || rows[i].core) || !is_admitted(rows[i].words)) continue;
        run_row(rows[i].words, i);
        ran++;
        if (!env.all || strstr(rows[i].words, " dtype=")) continue;
        char words[256];
        snprintf(words, sizeof words, "%s dtype=bf16", rows[i].words);
        run_row(words, i);
    }
    assert_true(ran >= (env.all ? 12 : 3));
}

/* The tile IR itself, before any compiler. */
static void the_interpreter_agrees(void **state) {
    (void)state;
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (!rows[i].core || i % (env.all ? 1 : 3) || !is_admitted(rows[i].words)) continue;
        job_run run;
        job_open(&run, rows[i].words, env.target);
        job_fill(&run, TW_DATA_INTEGERS, i);
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernels[TW_JOB_MAX_KERNELS];
        job_build(&run, ctx, kernels);
        job_interpret(&run, kernels);
        job_check(&run, env.target_name);
        job_check_exact(&run);
        tw_context_free(ctx);
        job_close(&run);
    }
}

/* Every family that serves the target with its default spec, and what reaches its operands in another way. */
static void each_spec(void (*run)(const char *spec)) {
    static const char *const more[] = {"direct_wgrad_small_c dy_direct=1 wave_tiles_k=1"};
    for (size_t f = 0; f < ROW_COUNT; f++)
        if (!(f && !strcmp(rows[f].family, rows[f - 1].family)) && is_admitted(rows[f].family))
            run(rows[f].family);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (is_admitted(more[i])) run(more[i]);
}

static void run_empty(const char *spec) {
    static const char *const sizes[] = {"n=0 h=5 w=5", "n=2 h=0 w=4 ho=0", "n=1 h=4 w=0 pad_w=3",
                                        "n=1 h=4 w=4 ho=0", "n=1 h=4 w=4 wo=0"};
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    compile(spec, objects);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "%s %s", spec, sizes[i]);
        run_pattern(objects, words, TW_DATA_INTEGERS, 1);
    }
    release(objects);
}

static void empty_problems(void **state) {
    (void)state;
    each_spec(run_empty);
}

/* Words for channels of X, 24 where the family takes as many. */
static int channels_of(const char *spec) {
    static const char few[] = "direct_wgrad_small_c";
    return strncmp(spec, few, sizeof few - 1) ? 24 : 5;
}

static void write_channels(char text[64], const char *family) {
    const int count = channels_of(family);
    snprintf(text, 64, count == 24 ? "c=%d" : "channels=%d c=%d", count, count);
}

/* Away from the borders, where no tap meets padding, a NaN and an infinity reach what the reference says. */
static void run_specials(const char *spec) {
    char words[256], c[64];
    write_channels(c, spec);
    snprintf(words, sizeof words, "%s n=2 h=9 w=20 k=16 %s", spec, c);
    tw_code_object *objects[TW_JOB_MAX_KERNELS];
    compile(words, objects);
    for (int buffer = 0; buffer < 2; buffer++) {
        job_run run;
        job_open(&run, words, env.target);
        job_fill(&run, TW_DATA_INTEGERS, 5);
        const int channels = buffer ? 16 : channels_of(spec);
        uint16_t *data = run.memory[buffer];
        data[((9 + 4) * 20 + 10) * channels + 3] = 0x7e01;      /* NaN of f16, image 1, row 4, column 10 */
        data[(5 * 20 + 7) * channels + 11 % channels] = 0xfc00; /* -infinity */
        job_execute(&run, env.device, objects);
        job_check(&run, env.target_name);
        job_close(&run);
    }
    release(objects);
}

static void specials_inside_reach_their_taps(void **state) {
    (void)state;
    each_spec(run_specials);
}

static void the_reproducible_mode_repeats(void **state) {
    (void)state;
    for (size_t f = 0; f < ROW_COUNT; f++) {
        if ((f && !strcmp(rows[f].family, rows[f - 1].family)) || !is_admitted(rows[f].family)) continue;
        char words[256], c[64];
        write_channels(c, rows[f].family);
        snprintf(words, sizeof words, "%s reproducible=1 n=5 h=9 w=11 k=40 splits=3 %s", rows[f].family, c);
        tw_code_object *objects[TW_JOB_MAX_KERNELS];
        compile(words, objects);
        job_run run[2];
        for (int i = 0; i < 2; i++) {
            job_open(&run[i], words, env.target);
            job_fill(&run[i], TW_DATA_UNIFORM, 3);
            job_execute(&run[i], env.device, objects);
        }
        job_check(&run[0], env.target_name);
        assert_memory_equal(run[0].memory[3], run[1].memory[3],
                            tw_plan_buffer_at(run[0].job->plan, 3)->bytes);
        for (int i = 0; i < 2; i++)
            job_close(&run[i]);
        release(objects);
    }
}

/* ---- copies and barriers ---- */

/* Compiles `text` in place of the job's own kernel and runs it: true where the emulator has nothing to
 * report, every sum is exact, and the interpreter, which knows when copies must be waited for, has nothing to
 * say. */
static bool text_is_right(job_run *run, const char *text, tw_code_object *const *objects) {
    tw_context *ctx = tw_context_new(NULL);
    tw_diag *diag = tw_context_diag(ctx);
    tw_kernel *kernel;
    tw_code_object *changed[TW_JOB_MAX_KERNELS] = {NULL, objects[1]};
    if (tw_kernel_parse(ctx, text, strlen(text), NULL, &kernel) ||
        tw_compile(env.compiler, kernel, NULL, &changed[0], diag))
        fail_msg("%s: %s", run->words, tw_context_diagnostics(ctx));
    bool right = job_try(run, env.device, changed) && !job_breaks_rules(run, kernel);
    tw_code_object_release(changed[0]);
    tw_context_free(ctx);
    return right;
}

/* The text without the `length` bytes at `at`, and with `instead` in their place. */
static char *replaced(const char *text, const char *at, size_t length, const char *instead) {
    char *out = malloc(strlen(text) + strlen(instead) + 1);
    assert_non_null(out);
    const size_t before = (size_t)(at - text);
    memcpy(out, text, before);
    strcpy(out + before, instead);
    strcat(out, at + length);
    return out;
}

/* Every line with `op` is taken out, in turn; of a wait, too, the number of copies that it lets be is raised.
 */
static size_t mutate(job_run *run, const char *text, tw_code_object *const *objects, const char *op) {
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, op)); at += strlen(op), count++) {
        const size_t line = strcspn(at, "\n");
        char *without = replaced(text, at, line, "");
        if (text_is_right(run, without, objects))
            fail_msg("%s: runs as well without its %zu. %s", run->words, count + 1, op);
        free(without);
        const char *number = strstr(at, "outstanding = ");
        if (!number || number > at + line) continue;
        number += strlen("outstanding = ");
        char next[16];
        snprintf(next, sizeof next, "%d", atoi(number) + 1);
        char *weaker = replaced(text, number, strspn(number, "0123456789"), next);
        if (text_is_right(run, weaker, objects))
            fail_msg("%s: runs as well with a weaker %zu. %s", run->words, count + 1, op);
        free(weaker);
    }
    return count;
}

/* The emulator completes copies as late as the waits allow, and reports what waves do to each other's LDS. */
static void each_wait_and_barrier_is_needed(void **state) {
    (void)state;
    static const struct {
        const char *words;
        size_t waits, barriers;
    } kernels[] = {
        {"direct_wgrad_image n=1 h=5 w=34 c=32 k=32", 0, 1},
        {"direct_wgrad_image kh=1 kw=2 lds_epilogue=1 n=1 h=5 w=34 c=32 k=32", 0, 4},
        {"direct_wgrad_image tdm_stages=2 n=1 h=5 w=34 c=32 k=32", 2, 1},
        {"direct_wgrad_image tdm_stages=3 n=1 h=5 w=34 c=17 k=21", 3, 1},
        {"direct_wgrad_image tdm_stages=4 rows_per_sync=1 kh=1 kw=1 n=1 h=5 w=34 c=32 k=32", 2, 1},
        {"direct_wgrad_small_c n=1 h=5 w=70 k=32", 0, 1},
        {"direct_wgrad_small_c dy_direct=1 n=1 h=5 w=70 k=32", 0, 1},
        {"direct_wgrad_small_c vec_x=2 uniform_wave=1 stride=2 n=1 h=10 w=140 k=32 sub_steps=2 waves_p=2", 0,
         1},
    };
    size_t ran = 0;
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        const char *words = kernels[i].words;
        if (!is_admitted(words)) continue;
        tw_code_object *objects[TW_JOB_MAX_KERNELS];
        compile(words, objects);
        job_run run;
        job_open(&run, words, env.target);
        job_fill(&run, TW_DATA_INTEGERS, i);
        job_execute(&run, env.device, objects);
        job_check(&run, env.target_name);
        job_check_exact(&run);
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *built[TW_JOB_MAX_KERNELS];
        job_build(&run, ctx, built);
        char *text;
        assert_int_equal(tw_kernel_to_text(built[0], &text, NULL, NULL), TW_OK);
        assert_true(text_is_right(&run, text, objects));
        assert_int_equal(mutate(&run, text, objects, "tile.tensor_wait"), kernels[i].waits);
        assert_int_equal(mutate(&run, text, objects, "tile.barrier"), kernels[i].barriers);
        free(text);
        tw_context_free(ctx);
        job_close(&run);
        release(objects);
        ran++;
    }
    if (!ran) skip();
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    env.target_name = argv[1];
    env.all = !strcmp(argv[2], "all");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_right),
        cmocka_unit_test(the_interpreter_agrees),
        cmocka_unit_test(empty_problems),
        cmocka_unit_test(specials_inside_reach_their_taps),
        cmocka_unit_test(the_reproducible_mode_repeats),
        cmocka_unit_test(each_wait_and_barrier_is_needed),
    };
    return cmocka_run_group_tests_name(env.target_name, tests, open_env, close_env);
}
