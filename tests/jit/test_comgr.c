/* comgr: the real one where it is installed, and a library that checks how it is used. */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "tests/jit/kernels.h"

static tw_diag *diag;

static int make_diag(void **state) {
    (void)state;
    diag = tw_diag_new(NULL);
    unsetenv("TILEWRIGHT_COMGR");
    return diag ? 0 : 1;
}

static int free_diag(void **state) {
    (void)state;
    tw_diag_free(diag);
    unsetenv("TILEWRIGHT_COMGR");
    unsetenv("ROCM_PATH");
    unsetenv("FAKE_COMGR_VERSION");
    unsetenv("FAKE_COMGR_LLVM");
    unsetenv("AMD_COMGR_DRIVER_OPTIONS_APPEND");
    return 0;
}

static tw_target target_of(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

static tw_compiler *open_or_skip(void) {
    tw_compiler *compiler;
    if (tw_compiler_open(TW_COMPILER_COMGR, &compiler, diag)) skip();
    return compiler;
}

static tw_code_object *compile(tw_compiler *compiler, const char *text, const char *target) {
    tw_code_object *object;
    if (tw_compile_llvm_ir(compiler, text, strlen(text), target_of(target), NULL, &object, diag))
        fail_msg("%s", tw_diag_text(diag));
    return object;
}

static void assert_same_bytes(const tw_code_object *a, const tw_code_object *b) {
    size_t size, other_size;
    const void *bytes = tw_code_object_bytes(a, &size), *other = tw_code_object_bytes(b, &other_size);
    assert_int_equal(size, other_size);
    assert_memory_equal(bytes, other, size);
}

static void real_comgr_compiles(void **state) {
    (void)state;
    tw_compiler *compiler = open_or_skip();
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx90a"), &choice, diag), TW_OK);
    assert_int_equal(choice.kind, TW_COMPILER_COMGR);
    assert_memory_equal(choice.identity, "comgr ", 6);
    assert_non_null(strstr(choice.identity, tw_flavor_name(choice.flavor) + 4)); /* its number */
    /* The first form is that of LLVM 15; later releases take it too. */
    tw_code_object *object = compile(compiler, KERNEL_BUFFER_LLVM15, "gfx90a:sramecc+:xnack-");
    assert_string_equal(tw_code_object_target_id(object), "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    assert_non_null(tw_code_object_kernel(object, "buffer"));
    tw_code_object *again = compile(compiler, KERNEL_BUFFER_LLVM15, "gfx90a:sramecc+:xnack-");
    assert_same_bytes(object, again);
    tw_code_object_release(object);
    tw_code_object_release(again);
    char *text;
    assert_int_equal(tw_compile_to_assembly(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target_of("gfx90a"),
                                            NULL, &text, diag),
                     TW_ERR_UNSUPPORTED);
    tw_compiler_close(compiler);
}

static void real_comgr_refuses_with_a_reason(void **state) {
    (void)state;
    tw_compiler *compiler = open_or_skip();
    tw_code_object *object;
    static const char broken[] = "define void @f() {\n  %x = add i32 1, 2.5\n  ret void\n}\n";
    tw_diag_clear(diag);
    assert_int_equal(
        tw_compile_llvm_ir(compiler, broken, strlen(broken), target_of("gfx90a"), NULL, &object, diag),
        TW_ERR_COMPILE);
    assert_string_equal(tw_diag_first_error(diag), "floating point constant invalid for type");
    assert_string_equal(tw_diag_get(diag, 0)->where, "kernel.ll");
    assert_int_equal(tw_diag_get(diag, 0)->line, 2);
    tw_diag_clear(diag);
    assert_int_equal(tw_compile_llvm_ir(compiler, KERNEL_UNKNOWN_INTRINSIC, strlen(KERNEL_UNKNOWN_INTRINSIC),
                                        target_of("gfx90a"), NULL, &object, diag),
                     TW_ERR_COMPILE);
    assert_memory_equal(tw_diag_first_error(diag), "undefined symbol llvm.amdgcn.foo: comgr ", 40);
    tw_compiler_close(compiler);
}

/* Two LLVM releases in one process, each used before and after the other. */
static void both_compilers_in_one_process(void **state) {
    (void)state;
    tw_compiler *comgr = open_or_skip(), *llvm;
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &llvm, diag), TW_OK);
    tw_code_object *from_llvm = compile(llvm, KERNEL_BUFFER_LLVM15, "gfx90a");
    tw_code_object *from_comgr = compile(comgr, KERNEL_BUFFER_LLVM15, "gfx90a");
    tw_code_object *llvm_again = compile(llvm, KERNEL_BUFFER_LLVM15, "gfx90a");
    tw_code_object *comgr_again = compile(comgr, KERNEL_BUFFER_LLVM15, "gfx90a");
    assert_same_bytes(from_llvm, llvm_again);
    assert_same_bytes(from_comgr, comgr_again);
    const tw_kernel_info *a = tw_code_object_kernel(from_llvm, "buffer");
    const tw_kernel_info *b = tw_code_object_kernel(from_comgr, "buffer");
    assert_int_equal(a->explicit_kernarg_size, b->explicit_kernarg_size);
    assert_int_equal(a->wave_size, b->wave_size);
    tw_code_object_release(from_llvm);
    tw_code_object_release(from_comgr);
    tw_code_object_release(llvm_again);
    tw_code_object_release(comgr_again);
    tw_compiler_close(comgr);
    tw_compiler_close(llvm);
}

/* $TILEWRIGHT_TEST_COMGR lists libraries, with colons between. All of them and LLVM compile in turn, each
 * before and after each other, and then in threads at once. */
enum { MOST_REAL = 4, TURNS = 3 };

typedef struct real_one {
    tw_compiler *compiler;
    tw_code_object *first;
    bool same;
} real_one;

static bool compiles_to_the_same(const real_one *r) {
    const char *text = KERNEL_BUFFER_LLVM15;
    tw_code_object *again = NULL;
    size_t size, other_size;
    if (tw_compile_llvm_ir(r->compiler, text, strlen(text), target_of("gfx90a"), NULL, &again, NULL))
        return false;
    const void *bytes = tw_code_object_bytes(r->first, &size),
               *other = tw_code_object_bytes(again, &other_size);
    bool same = size == other_size && !memcmp(bytes, other, size);
    tw_code_object_release(again);
    return same;
}

static void *compile_in_thread(void *argument) {
    real_one *r = argument;
    r->same = true;
    for (int i = 0; i < TURNS; i++)
        r->same &= compiles_to_the_same(r);
    return NULL;
}

static void real_libraries_side_by_side(void **state) {
    (void)state;
    const char *list = getenv("TILEWRIGHT_TEST_COMGR");
    if (!list) skip();
    char paths[4096], *rest = paths, *path;
    snprintf(paths, sizeof paths, "%s", list);
    real_one real[MOST_REAL + 1] = {{0}};
    pthread_t threads[MOST_REAL + 1];
    size_t count = 0;
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &real[count++].compiler, diag), TW_OK);
    while ((path = strsep(&rest, ":")) && count <= MOST_REAL) {
        if (tw_compiler_open_path(TW_COMPILER_COMGR, path, &real[count++].compiler, diag))
            fail_msg("%s", tw_diag_text(diag));
    }
    for (size_t i = 0; i < count; i++) {
        tw_compiler_choice choice;
        assert_int_equal(tw_compiler_choose(real[i].compiler, target_of("gfx90a"), &choice, diag), TW_OK);
        print_message("side by side: %s\n", choice.identity);
        real[i].first = compile(real[i].compiler, KERNEL_BUFFER_LLVM15, "gfx90a");
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < count; i++)
            assert_true(compiles_to_the_same(&real[i]));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_in_thread, &real[i]), 0);
    for (size_t i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        assert_true(real[i].same);
        tw_code_object_release(real[i].first);
        tw_compiler_close(real[i].compiler);
    }
}

/* Each thread has a compiler of its own on the one library. */
static void *open_and_compile(void *argument) {
    real_one *r = argument;
    if (tw_compiler_open(TW_COMPILER_COMGR, &r->compiler, NULL)) return NULL;
    r->same = compiles_to_the_same(r);
    tw_compiler_close(r->compiler);
    return NULL;
}

static void several_contexts_at_once(void **state) {
    (void)state;
    tw_compiler *compiler = open_or_skip();
    tw_code_object *first = compile(compiler, KERNEL_BUFFER_LLVM15, "gfx90a");
    real_one contexts[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        contexts[i] = (real_one){.first = first};
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_compile, &contexts[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(contexts[i].same);
    }
    tw_code_object_release(first);
    tw_compiler_close(compiler);
}

typedef struct other_thread {
    real_one one;
    atomic_bool stop;
} other_thread;

static void *compile_until_told(void *argument) {
    other_thread *other = argument;
    other->one.same = true;
    while (!atomic_load(&other->stop))
        other->one.same &= compiles_to_the_same(&other->one);
    return NULL;
}

/* A worker is forked between the actions of other threads, not within one. */
static void workers_beside_a_compiling_thread(void **state) {
    (void)state;
#if defined(TW_ASAN)
    skip(); /* the sanitizer's allocator may be locked by another thread at the fork */
#endif
    const tw_worker_limits limits = {.milliseconds = 10000};
    const tw_compile_options options = {.worker = &limits};
    other_thread other = {.one = {.compiler = open_or_skip()}};
    other.one.first = compile(other.one.compiler, KERNEL_BUFFER_LLVM15, "gfx90a");
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, compile_until_told, &other), 0);
    tw_status status = TW_OK;
    for (int i = 0; i < 12 && !status; i++) {
        tw_code_object *object;
        status = tw_compile_llvm_ir(other.one.compiler, KERNEL_BUFFER_LLVM15, strlen(KERNEL_BUFFER_LLVM15),
                                    target_of("gfx90a"), &options, &object, diag);
        tw_code_object_release(object);
    }
    atomic_store(&other.stop, true);
    pthread_join(thread, NULL);
    if (status) fail_msg("%s", tw_diag_text(diag));
    assert_true(other.one.same);
    tw_code_object_release(other.one.first);
    tw_compiler_close(other.one.compiler);
}

static tw_compiler_kind automatic(const char *target) {
    tw_compiler *compiler;
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag), TW_OK);
    assert_int_equal(tw_compiler_choose(compiler, target_of(target), &choice, diag), TW_OK);
    tw_compiler_close(compiler);
    return choice.kind;
}

/* A comgr under $ROCM_PATH whose LLVM is older than ours, as old, and newer; the library knows gfx942 and
 * gfx950 only. */
static void auto_takes_the_newer_llvm(void **state) {
    (void)state;
    char root[] = "/tmp/tw-rocm-XXXXXX", folder[64], file[96], older[32], ours[32];
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/lib", root);
    snprintf(file, sizeof file, "%s/libamd_comgr.so.3", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(symlink(FAKE_COMGR, file), 0);
    snprintf(older, sizeof older, "LLD %d.1.0", atoi(LLVM_VERSION) - 1);
    snprintf(ours, sizeof ours, "LLD %d.0.0git", atoi(LLVM_VERSION));
    setenv("ROCM_PATH", root, 1);
    setenv("FAKE_COMGR_LLVM", older, 1);
    assert_int_equal(automatic("gfx942"), TW_COMPILER_LLVM);
    setenv("FAKE_COMGR_LLVM", ours, 1);
    assert_int_equal(automatic("gfx942"), TW_COMPILER_COMGR);
    assert_int_equal(automatic("gfx1201"), TW_COMPILER_LLVM); /* which this library does not know */
    setenv("FAKE_COMGR_LLVM", "LLD 24.0.0git", 1);
    assert_int_equal(automatic("gfx950"), TW_COMPILER_COMGR);
    setenv("FAKE_COMGR_LLVM", "LLD 18.0.0git", 1); /* no flavor */
    assert_int_equal(automatic("gfx942"), TW_COMPILER_LLVM);
    /* Asked for by name it is taken at any age, but not for a target that it does not know. */
    setenv("FAKE_COMGR_LLVM", older, 1);
    tw_compiler *compiler;
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_open(TW_COMPILER_COMGR, &compiler, diag), TW_OK);
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx942"), &choice, diag), TW_OK);
    assert_int_equal(choice.kind, TW_COMPILER_COMGR);
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx1201"), &choice, diag), TW_ERR_UNSUPPORTED);
    tw_compiler_close(compiler);
    /* One that the user names is what AUTO takes. */
    setenv("ROCM_PATH", "/nonexistent", 1);
    setenv("TILEWRIGHT_COMGR", file, 1);
    assert_int_equal(automatic("gfx942"), TW_COMPILER_COMGR);
    assert_int_equal(automatic("gfx1201"), TW_COMPILER_LLVM);
    setenv("FAKE_COMGR_LLVM", "LLD 15.0.6", 1); /* has no gfx942 */
    assert_int_equal(automatic("gfx942"), TW_COMPILER_LLVM);
    assert_int_equal(unlink(file) | rmdir(folder) | rmdir(root), 0);
}

/* Two interfaces in one process: each is called with its own numbers. */
static void two_libraries_do_not_meet(void **state) {
    (void)state;
    static const struct {
        const char *path, *identity;
    } rows[] = {{FAKE_COMGR2, "comgr 2.7 (llvm 19.1.0)"}, {FAKE_COMGR, "comgr 3.7 (llvm 21.1.8)"}};
    tw_compiler *compilers[2];
    for (int i = 0; i < 2; i++)
        if (tw_compiler_open_path(TW_COMPILER_COMGR, rows[i].path, &compilers[i], diag))
            fail_msg("%s", tw_diag_text(diag));
    for (int i = 0; i < 4; i++) {
        tw_compiler_choice choice;
        tw_code_object *object;
        assert_int_equal(tw_compiler_choose(compilers[i % 2], target_of("gfx942"), &choice, diag), TW_OK);
        assert_string_equal(choice.identity, rows[i % 2].identity);
        /* Both actions are done; what comes out is no code object. */
        assert_int_equal(
            tw_compile_llvm_ir(compilers[i % 2], "", 0, target_of("gfx942"), NULL, &object, diag),
            TW_ERR_INVALID);
    }
    tw_compiler_close(compilers[0]);
    tw_compiler_close(compilers[1]);
}

static void a_missing_library_is_named(void **state) {
    (void)state;
    tw_compiler *compiler;
    tw_compiler_choice choice;
    setenv("TILEWRIGHT_COMGR", "/nonexistent/libamd_comgr.so", 1);
    tw_diag_clear(diag);
    assert_int_equal(tw_compiler_open(TW_COMPILER_COMGR, &compiler, diag), TW_ERR_NOT_FOUND);
    assert_null(compiler);
    assert_memory_equal(tw_diag_first_error(diag),
                        "no comgr library can be opened (/nonexistent/libamd_comgr.so: ", 62);
    /* AUTO goes on with LLVM, and warns, since the user named the library. */
    tw_diag_clear(diag);
    assert_int_equal(tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag), TW_OK);
    assert_int_equal(tw_diag_count(diag), 1);
    assert_int_equal(tw_diag_get(diag, 0)->severity, TW_SEVERITY_WARNING);
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx90a"), &choice, diag), TW_OK);
    assert_int_equal(choice.kind, TW_COMPILER_LLVM);
    tw_compiler_close(compiler);
}

static tw_status open_fake(const char *version, const char *signature, tw_compiler **compiler) {
    setenv("TILEWRIGHT_COMGR", FAKE_COMGR, 1);
    setenv("FAKE_COMGR_VERSION", version, 1);
    setenv("FAKE_COMGR_LLVM", signature, 1);
    tw_diag_clear(diag);
    return tw_compiler_open(TW_COMPILER_COMGR, compiler, diag);
}

static void versions_decide_numbers_and_flavor(void **state) {
    (void)state;
    static const struct {
        const char *version, *signature, *identity;
        tw_flavor flavor;
    } rows[] = {
        {"2", "LLD 15.0.6", "comgr 2.7 (llvm 15.0.6)", TW_FLAVOR_LLVM15},
        {"2", "AMD LLD 19.0.0 (/src/lld 26466ce8)", "comgr 2.7 (llvm 19.0.0 (/src/lld 26466ce8))",
         TW_FLAVOR_LLVM19},
        {"3", "LLD 21.1.8", "comgr 3.7 (llvm 21.1.8)", TW_FLAVOR_LLVM21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_compiler *compiler;
        tw_compiler_choice choice;
        if (open_fake(rows[i].version, rows[i].signature, &compiler)) fail_msg("%s", tw_diag_text(diag));
        assert_int_equal(tw_compiler_choose(compiler, target_of("gfx942"), &choice, NULL),
                         rows[i].flavor < 19 ? TW_ERR_UNSUPPORTED : TW_OK);
        if (rows[i].flavor >= 19) {
            assert_int_equal(choice.flavor, rows[i].flavor);
            assert_string_equal(choice.identity, rows[i].identity);
        }
        tw_compiler_close(compiler);
    }
}

static void unusable_versions_are_refused(void **state) {
    (void)state;
    tw_compiler *compiler;
    assert_int_equal(open_fake("4", "LLD 30.0.0", &compiler), TW_ERR_NOT_FOUND);
    assert_string_equal(tw_diag_first_error(diag), "comgr's major version must be 2 or 3 (got 4.7)");
    assert_int_equal(open_fake("3", "LLD 17.0.1", &compiler), TW_ERR_NOT_FOUND);
    assert_string_equal(tw_diag_first_error(diag),
                        "the LLVM in comgr 3.7 must be a release that there is a flavor for (got 17.0.1)");
    assert_int_equal(open_fake("3", "GNU ld", &compiler), TW_ERR_NOT_FOUND);
    assert_string_equal(tw_diag_first_error(diag), "the release of LLVM in comgr 3.7 is unknown");
}

static void targets_and_options_are_part_of_it(void **state) {
    (void)state;
    tw_compiler *compiler;
    tw_compiler_choice choice;
    setenv("AMD_COMGR_DRIVER_OPTIONS_APPEND", "-ffast-math", 1);
    assert_int_equal(open_fake("3", "LLD 22.1.8", &compiler), TW_OK);
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx942"), &choice, diag), TW_OK);
    assert_string_equal(choice.identity, "comgr 3.7 (llvm 22.1.8) with -ffast-math");
    tw_diag_clear(diag);
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx90a"), &choice, diag), TW_ERR_UNSUPPORTED);
    assert_string_equal(tw_diag_first_error(diag),
                        "comgr 3.7 (llvm 22.1.8) with -ffast-math must know the target (got gfx90a)");
    /* What is no code object is refused when it is read back. */
    tw_code_object *object;
    tw_diag_clear(diag);
    assert_int_equal(tw_compile_llvm_ir(compiler, "", 0, target_of("gfx942"), NULL, &object, diag),
                     TW_ERR_INVALID);
    tw_compiler_close(compiler);
    unsetenv("AMD_COMGR_DRIVER_OPTIONS_APPEND");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(real_comgr_compiles, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(real_comgr_refuses_with_a_reason, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(both_compilers_in_one_process, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(real_libraries_side_by_side, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(several_contexts_at_once, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(workers_beside_a_compiling_thread, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(auto_takes_the_newer_llvm, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(two_libraries_do_not_meet, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_missing_library_is_named, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(versions_decide_numbers_and_flavor, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(unusable_versions_are_refused, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(targets_and_options_are_part_of_it, make_diag, free_diag),
    };
    return cmocka_run_group_tests_name("comgr", tests, NULL, NULL);
}
