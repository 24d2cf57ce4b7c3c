/* tw_compile: kernels made with the builder, to code objects, through the cache or not. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/build.h"
#include "jit/cache.h"
#include "jit/compile.h"

static tw_context *ctx;
static tw_diag *diag;
static char folder[64];

static int begin(void **state) {
    (void)state;
    ctx = tw_context_new(NULL);
    diag = tw_diag_new(NULL);
    strcpy(folder, "/tmp/tw-compile-XXXXXX");
    if (!ctx || !diag || !mkdtemp(folder)) return 1;
    return setenv("TILEWRIGHT_CACHE_DIR", folder, 1);
}

static int end(void **state) {
    (void)state;
    char command[96];
    tw_context_free(ctx);
    tw_diag_free(diag);
    unsetenv("TILEWRIGHT_CACHE_DIR");
    unsetenv("TILEWRIGHT_COMGR");
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static tw_compiler *open_llvm(void) {
    tw_compiler *compiler;
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag), TW_OK);
    return compiler;
}

/* x[i] = a for i < n */
static tw_kernel *build(const char *target_name) {
    tw_target target;
    assert_int_equal(tw_target_parse(target_name, &target, NULL), TW_OK);
    tw_builder *b = tw_kernel_begin(ctx, "fill", target, &(tw_kernel_options){.workgroup_size = 128});
    tw_value x = tw_param_ptr(b, "x", TW_F32, TW_PARAM_NOALIAS);
    tw_value a = tw_param(b, "a", TW_F32), n = tw_param(b, "n", TW_I32);
    tw_value i = tw_workitem_id(b, 0);
    tw_value inside = tw_icmp(b, TW_SLT, i, n);
    tw_if_begin(b, inside);
    tw_global_store(b, a, x, i, 4);
    tw_if_end(b, 0, NULL, NULL);
    tw_kernel *kernel = tw_kernel_end(b);
    if (!kernel) fail_msg("%s", tw_context_diagnostics(ctx));
    return kernel;
}

static tw_code_object *compile(tw_compiler *compiler, const tw_kernel *kernel,
                               const tw_compile_options *options) {
    tw_code_object *object;
    tw_diag_clear(diag);
    if (tw_compile(compiler, kernel, options, &object, diag)) fail_msg("%s", tw_diag_text(diag));
    return object;
}

static void assert_same_bytes(const tw_code_object *a, const tw_code_object *b) {
    size_t size, other_size;
    const void *bytes = tw_code_object_bytes(a, &size), *other = tw_code_object_bytes(b, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other, size);
}

static void every_target_compiles(void **state) {
    (void)state;
    static const char *const targets[] = {"gfx90a:xnack-", "gfx942",  "gfx950",  "gfx1100", "gfx1100:wave64",
                                          "gfx1151",       "gfx1200", "gfx1201", "gfx1250"};
    tw_compiler *compiler = open_llvm();
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        tw_compile_times times;
        tw_compile_options options = {.times = &times};
        tw_kernel *kernel = build(targets[i]);
        tw_code_object *object = compile(compiler, kernel, &options);
        assert_true(tw_target_equal(tw_code_object_target(object), tw_kernel_target(kernel)));
        const tw_kernel_info *info = tw_code_object_kernel(object, "fill");
        assert_non_null(info);
        assert_int_equal(info->explicit_kernarg_size, 16);
        assert_int_equal(info->wave_size, tw_kernel_target(kernel).wave_size);
        assert_int_equal(info->max_workgroup, 128);
        assert_int_equal(info->vgpr_spills + info->sgpr_spills + info->scratch_bytes, 0);
        assert_true(times.lower && times.codegen && times.link && times.read);
        assert_false(times.cache_hit);
        tw_code_object_release(object);
    }
    tw_compiler_close(compiler);
}

static void counts(tw_cache_stats *stats) {
    tw_cache *cache;
    assert_int_equal(tw_cache_open(NULL, &cache, diag), TW_OK);
    assert_int_equal(tw_cache_stat(cache, stats, diag), TW_OK);
    tw_cache_close(cache);
}

/* Without options the usual folder is used, with options what they say. */
static void the_cache_is_a_default_not_a_must(void **state) {
    (void)state;
    tw_compiler *compiler = open_llvm();
    tw_kernel *kernel = build("gfx1250");
    tw_cache_stats stats;
    tw_code_object_release(compile(compiler, kernel, &(tw_compile_options){0}));
    counts(&stats);
    assert_int_equal(stats.entries, 0);
    tw_code_object *first = compile(compiler, kernel, NULL);
    counts(&stats);
    assert_int_equal(stats.entries, 1);
    /* The same kernel, built again, through a cache that is given: a hit in the entry of the default. */
    tw_compile_times times;
    tw_compile_options options = {.times = &times};
    assert_int_equal(tw_cache_open(NULL, &options.cache, diag), TW_OK);
    tw_code_object *second = compile(compiler, build("gfx1250"), &options);
    assert_true(times.cache_hit && times.lower && times.cache_lookup && !times.codegen);
    assert_same_bytes(first, second);
    tw_code_object_release(first);
    tw_code_object_release(second);
    tw_cache_close(options.cache);
    tw_compiler_close(compiler);
}

static void a_cache_that_cannot_be_opened_costs_a_warning(void **state) {
    (void)state;
    tw_compiler *compiler = open_llvm();
    tw_kernel *kernel = build("gfx950");
    assert_int_equal(chmod(folder, 0777), 0);
    tw_code_object_release(compile(compiler, kernel, NULL));
    assert_string_equal(tw_diag_text(diag),
                        "cache: warning: not used: the cache must not be writable by group or "
                        "others (got mode 0777)\n");
    tw_code_object_release(compile(compiler, kernel, NULL)); /* said once */
    assert_int_equal(tw_diag_count(diag), 0);
    tw_compiler_close(compiler);
}

static void a_worker_names_the_kernel(void **state) {
    (void)state;
    tw_compiler *compiler = open_llvm();
    tw_code_object *object;
    const tw_worker_limits limits = {.milliseconds = 1};
    tw_compile_options options = {.worker = &limits};
    assert_int_equal(tw_compile(compiler, build("gfx1201"), &options, &object, diag), TW_ERR_LIMIT);
    assert_string_equal(tw_diag_get(diag, 0)->where, "fill");
    tw_compiler_close(compiler);
}

/* Limits that mean "none" in both their forms, and the times of both processes in one struct. */
static void a_worker_compiles_for_the_cache(void **state) {
    (void)state;
    tw_compiler *compiler = open_llvm();
    tw_cache *cache;
    assert_int_equal(tw_cache_open(NULL, &cache, diag), TW_OK);
    const tw_worker_limits limits = {.milliseconds = UINT32_MAX, .memory_bytes = UINT64_MAX};
    tw_compile_times times;
    tw_compile_options options = {.worker = &limits, .cache = cache, .times = &times};
    const tw_kernel *kernel = build("gfx1201");
    tw_code_object_release(compile(compiler, kernel, &options));
    assert_true(times.lower && times.cache_lookup && times.parse && times.codegen && times.link);
    assert_true(times.read && times.cache_store && !times.cache_hit);
    tw_code_object_release(compile(compiler, kernel, &options));
    assert_true(times.cache_hit && times.cache_lookup && !times.parse);
    tw_cache_close(cache);
    tw_compiler_close(compiler);
}

static void comgr_gets_its_own_flavor(void **state) {
    (void)state;
    tw_compiler *comgr;
    tw_compiler_choice choice;
    if (tw_compiler_open(TW_COMPILER_COMGR, &comgr, diag)) skip();
    tw_kernel *kernel = build("gfx90a");
    assert_int_equal(tw_compiler_choose(comgr, tw_kernel_target(kernel), &choice, diag), TW_OK);
    tw_code_object *object = compile(comgr, kernel, &(tw_compile_options){0});
    assert_int_equal(tw_code_object_kernel(object, "fill")->explicit_kernarg_size, 16);
    tw_code_object_release(object);
    tw_compiler_close(comgr);
}

static void misuse_is_refused(void **state) {
    (void)state;
    tw_compiler *compiler = open_llvm();
    tw_code_object *object;
    tw_kernel *kernel = build("gfx950");
    assert_int_equal(tw_compile(NULL, kernel, NULL, &object, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compile(compiler, NULL, NULL, &object, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compile(compiler, kernel, NULL, NULL, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compile(compiler, kernel, &(tw_compile_options){.opt_level = 9}, &object, diag),
                     TW_ERR_USAGE);
    tw_compiler_close(compiler);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(every_target_compiles),
        CASE(the_cache_is_a_default_not_a_must),
        CASE(a_cache_that_cannot_be_opened_costs_a_warning),
        CASE(a_worker_names_the_kernel),
        CASE(a_worker_compiles_for_the_cache),
        CASE(comgr_gets_its_own_flavor),
        CASE(misuse_is_refused),
    };
    return cmocka_run_group_tests_name("compile", tests, NULL, NULL);
}
