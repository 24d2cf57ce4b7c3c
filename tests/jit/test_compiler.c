/* LLVM + lld in process: what it makes, and how it refuses. */
#include "tests/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "tests/jit/compiler_and_diag.h"
#include "tests/jit/kernels.h"

static tw_target target_of(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

static tw_status compile(const char *text, const char *target, tw_code_object **out) {
    tw_diag_clear(diag);
    return tw_compile_llvm_ir(compiler, text, strlen(text), target_of(target), NULL, out, diag);
}

static const char *const targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
#define TARGETS (sizeof targets / sizeof targets[0])

static void every_target_compiles_to_the_same_bytes_twice(void **state) {
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        tw_code_object *first, *second;
        if (compile(KERNEL_STORE, targets[i], &first)) fail_msg("%s", tw_diag_text(diag));
        assert_int_equal(compile(KERNEL_STORE, targets[i], &second), TW_OK);
        assert_int_equal(tw_diag_count(diag), 0);
        size_t size, size_again;
        const void *bytes = tw_code_object_bytes(first, &size);
        const void *again = tw_code_object_bytes(second, &size_again);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, again, size);
        tw_code_object_release(first);
        tw_code_object_release(second);
    }
}

/* The same passes, code generator and linker as programs give the same bytes. */
static void bytes_are_those_of_the_tools(void **state) {
    (void)state;
    if (system("opt-22 --version >/dev/null 2>&1 && llc-22 --version >/dev/null 2>&1 && ld.lld-22 --version "
               ">/dev/null 2>&1"))
        skip();
    char folder[] = "/tmp/tw-compiler-XXXXXX", command[512], path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/k.ll", folder);
    FILE *file = fopen(path, "w");
    fputs(KERNEL_TWO_WITH_VARIABLES, file);
    fclose(file);
    snprintf(command, sizeof command,
             "cd %s && opt-22 -mcpu=gfx1201 -passes='default<O3>' k.ll -o k.bc && "
             "llc-22 -mcpu=gfx1201 -O3 --relocation-model=pic -filetype=obj k.bc -o k.o && "
             "ld.lld-22 -shared k.o -o k.hsaco",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/k.hsaco", folder);
    tw_code_object *ours, *theirs;
    assert_int_equal(compile(KERNEL_TWO_WITH_VARIABLES, "gfx1201", &ours), TW_OK);
    assert_int_equal(tw_code_object_read(path, &theirs, diag), TW_OK);
    size_t size, size_theirs;
    const void *bytes = tw_code_object_bytes(ours, &size);
    const void *bytes_theirs = tw_code_object_bytes(theirs, &size_theirs);
    assert_int_equal(size, size_theirs);
    assert_memory_equal(bytes, bytes_theirs, size);
    tw_code_object_release(ours);
    tw_code_object_release(theirs);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void refused(const char *text, const char *target, tw_status status, const char *message) {
    tw_code_object *object;
    assert_int_equal(compile(text, target, &object), status);
    assert_null(object);
    assert_string_equal(tw_diag_first_error(diag), message);
}

#define HEAD "target triple = \"amdgcn-amd-amdhsa\"\n"

static void bad_programs_are_refused_with_a_reason(void **state) {
    (void)state;
    refused(KERNEL_UNKNOWN_INTRINSIC, "gfx950", TW_ERR_COMPILE,
            "undefined symbol llvm.amdgcn.foo: llvm " LLVM_VERSION
            " does not know this intrinsic (got 1 undefined)");
    refused(
        HEAD
        "declare void @helper()\ndefine amdgpu_kernel void @k() {\n  call void @helper()\n  ret void\n}\n",
        "gfx1250", TW_ERR_COMPILE,
        "undefined symbol helper: a code object must define all that it uses (got 1 undefined)");
    refused("define void @f() {\n  %x = add i32 1, 2.5\n  ret void\n}\n", "gfx1100", TW_ERR_INVALID,
            "floating point constant invalid for type");
    assert_int_equal(tw_diag_get(diag, 0)->line, 2);
    assert_int_equal(tw_diag_get(diag, 0)->column, 19);
    assert_string_equal(tw_diag_get(diag, 0)->where, "kernel.ll");
    refused("target triple = \"x86_64-linux\"\n", "gfx1100", TW_ERR_INVALID,
            "the target triple must be amdgcn-amd-amdhsa (got x86_64-linux)");
    refused(HEAD "@big = internal addrspace(3) global [70000 x i8] poison\n"
                 "define amdgpu_kernel void @k(i32 %i, i8 %v) {\n"
                 "  %p = getelementptr i8, ptr addrspace(3) @big, i32 %i\n"
                 "  store volatile i8 %v, ptr addrspace(3) %p\n  ret void\n}\n",
            "gfx1201", TW_ERR_COMPILE,
            "<unknown>:0:0: local memory (70000) exceeds limit (65536) in function 'k'");
    tw_code_object *object;
    assert_int_equal(compile(HEAD "target datalayout = \"e\"\n", "gfx950", &object), TW_ERR_INVALID);
    assert_non_null(strstr(tw_diag_first_error(diag), "the data layout must be e-m:e-p:64:64-p1:64:64"));
    assert_int_equal(compile(HEAD "define void @f() {\n  br label %x\nx:\n  %a = add i32 %b, 1\n  %b = add "
                                  "i32 1, 1\n  ret void\n}\n",
                             "gfx950", &object),
                     TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag),
                        "LLVM's verifier: Instruction does not dominate all uses!");
    assert_int_equal(compile(HEAD "define amdgpu_kernel void @k() {\n  call void asm sideeffect "
                                  "\"no_such_op\", \"\"()\n  ret void\n}\n",
                             "gfx950", &object),
                     TW_ERR_COMPILE);
    assert_non_null(strstr(tw_diag_first_error(diag), "invalid instruction"));
}

/* At its usual limit of errors, 20, lld would end the process. */
static void every_error_of_the_linker_is_told(void **state) {
    (void)state;
    enum { ERRORS = 30 };
    char text[4096] =
        HEAD "define amdgpu_kernel void @k() {\n  ret void\n}\nmodule asm \".section .rodata\"\n";
    for (int i = 0; i < ERRORS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "module asm \".long foo%d\"\n", i);
    tw_code_object *object;
    assert_int_equal(compile(text, "gfx1201", &object), TW_ERR_COMPILE);
    size_t errors = 0;
    for (size_t i = 0; i < tw_diag_count(diag); i++)
        errors += !strcmp(tw_diag_get(diag, i)->where, "lld") &&
                  tw_diag_get(diag, i)->severity == TW_SEVERITY_ERROR;
    assert_int_equal(errors, ERRORS);
    assert_null(strstr(tw_diag_text(diag), "/proc/"));
    assert_non_null(strstr(tw_diag_text(diag), "object:"));
    assert_int_equal(compile(KERNEL_STORE, "gfx1201", &object), TW_OK);
    tw_code_object_release(object);
}

#define KERNEL_WITH(attributes) \
    HEAD "define amdgpu_kernel void @k() #0 {\n  ret void\n}\nattributes #0 = { " attributes " }\n"

/* LLVM would make the code of the text's processor or wave size, in an object for the target's. */
static void texts_of_other_targets_are_refused(void **state) {
    (void)state;
    refused(KERNEL_WITH("\"target-cpu\"=\"gfx90a\""), "gfx942", TW_ERR_INVALID,
            "the text's target-cpu must be gfx942 (got gfx90a)");
    refused(KERNEL_WITH("nounwind \"target-cpu\" = \"gfx9\""), "gfx90a", TW_ERR_INVALID,
            "the text's target-cpu must be gfx90a (got gfx9)");
    refused(KERNEL_WITH("\"target-features\"=\"-wavefrontsize32,+wavefrontsize64\""), "gfx1201",
            TW_ERR_COMPILE, "kernel k must have waves of 32 lanes (got 64)");
    refused(KERNEL_STORE "\n; \"target-cpu\"=\"gfx90a\"\n" KERNEL_WITH("\"target-cpu\"=\"gfx1200\""),
            "gfx1201", TW_ERR_INVALID, "the text's target-cpu must be gfx1201 (got gfx1200)");
    static const char *const good[] = {
        KERNEL_WITH("\"target-cpu\"=\"gfx1201\""),
        KERNEL_WITH("nounwind") "; \"target-cpu\"=\"gfx90a\"\n",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tw_code_object *object;
        if (compile(good[i], "gfx1201", &object)) fail_msg("%s", tw_diag_text(diag));
        tw_code_object_release(object);
    }
}

static void each_diagnostic_is_one_line(void **state) {
    (void)state;
    refused(HEAD "define amdgpu_kernel void @k() {\n  call void asm sideeffect \"nonsense v0\", \"\"()\n"
                 "  ret void\n}\n",
            "gfx942", TW_ERR_COMPILE, "<inline asm>:1:2: invalid instruction");
    refused("BC\xC0\xDE....", "gfx942", TW_ERR_INVALID, "Expected a single module");
}

static void misuse_is_told_from_bad_programs(void **state) {
    (void)state;
    tw_code_object *object;
    tw_compile_options options = {.opt_level = 4};
    tw_diag_clear(diag);
    assert_int_equal(tw_compile_llvm_ir(compiler, "", 0, target_of("gfx950"), &options, &object, diag),
                     TW_ERR_USAGE);
    assert_string_equal(tw_diag_first_error(diag), "opt_level must be 0..3 (got 4)");
    assert_int_equal(tw_compile_llvm_ir(compiler, "", 0, (tw_target){0}, NULL, &object, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compile_llvm_ir(NULL, "", 0, target_of("gfx950"), NULL, &object, NULL), TW_ERR_USAGE);
    assert_int_equal(tw_compiler_open((tw_compiler_kind)7, &(tw_compiler *){NULL}, NULL), TW_ERR_USAGE);
    tw_compiler_close(NULL);
}

static void choice_names_the_back_end(void **state) {
    (void)state;
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx1250"), &choice, diag), TW_OK);
    assert_int_equal(choice.kind, TW_COMPILER_LLVM);
    assert_int_equal(choice.flavor, atoi(LLVM_VERSION));
    assert_string_equal(choice.identity, "llvm " LLVM_VERSION);
}

static void options_and_times(void **state) {
    (void)state;
    tw_compile_times times;
    for (unsigned level = 0; level <= 3; level++) {
        tw_compile_options options = {.opt_level = level, .times = &times};
        tw_code_object *object;
        memset(&times, 0xff, sizeof times);
        assert_int_equal(tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target_of("gfx950"),
                                            &options, &object, diag),
                         TW_OK);
        assert_true(times.parse && times.passes && times.codegen && times.link && times.read);
        assert_true(times.codegen < 60000000000u);
        assert_int_equal(times.lower + times.cache_lookup + times.cache_store, 0);
        assert_false(times.cache_hit);
        tw_code_object_release(object);
    }
}

static void assembly_is_text(void **state) {
    (void)state;
    char *text;
    tw_diag_clear(diag);
    assert_int_equal(tw_compile_to_assembly(compiler, KERNEL_STORE, strlen(KERNEL_STORE),
                                            target_of("gfx1250"), NULL, &text, diag),
                     TW_OK);
    assert_non_null(strstr(text, "global_store_b32"));
    assert_non_null(strstr(text, "s_endpgm"));
    assert_non_null(strstr(text, ".amdhsa_kernel store"));
    free(text);
    assert_int_equal(tw_compile_to_assembly(compiler, "x", 1, target_of("gfx1250"), NULL, &text, diag),
                     TW_ERR_INVALID);
    assert_null(text);
}

#define THREADS 4

static void *compile_many(void *argument) {
    tw_diag *own = tw_diag_new(NULL);
    size_t which = (size_t)(uintptr_t)argument;
    tw_code_object *object = NULL;
    for (size_t i = 0; i < TARGETS; i++) {
        tw_code_object_release(object);
        tw_status status = tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE),
                                              target_of(targets[(which + i) % TARGETS]), NULL, &object, own);
        /* A bad program beside the others harms nobody. */
        tw_code_object *none;
        if (status || !tw_compile_llvm_ir(compiler, "bad", 3, target_of("gfx950"), NULL, &none, own)) break;
    }
    tw_diag_free(own);
    return object; /* the last: target (which + 7) % 8 */
}

static void threads_share_a_compiler(void **state) {
    (void)state;
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_many, (void *)(uintptr_t)i), 0);
    for (size_t i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        tw_code_object *object = result, *alone;
        assert_non_null(object);
        assert_int_equal(compile(KERNEL_STORE, targets[(i + TARGETS - 1) % TARGETS], &alone), TW_OK);
        size_t size, size_alone;
        const void *bytes = tw_code_object_bytes(object, &size);
        const void *bytes_alone = tw_code_object_bytes(alone, &size_alone);
        assert_int_equal(size, size_alone);
        assert_memory_equal(bytes, bytes_alone, size);
        tw_code_object_release(object);
        tw_code_object_release(alone);
    }
}

/* Nothing that goes wrong is printed. */
static void nothing_goes_to_standard_error(void **state) {
    (void)state;
    char path[] = "/tmp/tw-stderr-XXXXXX";
    int file = mkstemp(path), saved = dup(STDERR_FILENO);
    assert_true(file >= 0 && saved >= 0);
    unlink(path);
    dup2(file, STDERR_FILENO);
    tw_code_object *object;
    tw_status first = compile("bad", "gfx950", &object);
    tw_status second = compile(KERNEL_UNKNOWN_INTRINSIC, "gfx950", &object);
    off_t printed = lseek(file, 0, SEEK_END);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    assert_int_equal(first, TW_ERR_INVALID);
    assert_int_equal(second, TW_ERR_COMPILE);
    assert_int_equal(printed, 0);
}

/* In a child whose /proc is an empty file system. 0: refused as it should be, 77: not permitted. */
static int link_without_proc(void) {
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", "/proc", "tmpfs", 0, NULL))
        return 77;
    tw_code_object *object;
    tw_status status = compile(KERNEL_STORE, "gfx950", &object);
    const char *text = tw_diag_first_error(diag);
    return status == TW_ERR_IO && strstr(text, "/proc/self/fd must be there to link in memory") ? 0 : 1;
}

static void a_missing_proc_is_named(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(link_without_proc());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_target_compiles_to_the_same_bytes_twice),
        cmocka_unit_test(bytes_are_those_of_the_tools),
        cmocka_unit_test(bad_programs_are_refused_with_a_reason),
        cmocka_unit_test(texts_of_other_targets_are_refused),
        cmocka_unit_test(every_error_of_the_linker_is_told),
        cmocka_unit_test(each_diagnostic_is_one_line),
        cmocka_unit_test(misuse_is_told_from_bad_programs),
        cmocka_unit_test(choice_names_the_back_end),
        cmocka_unit_test(options_and_times),
        cmocka_unit_test(assembly_is_text),
        cmocka_unit_test(threads_share_a_compiler),
        cmocka_unit_test(nothing_goes_to_standard_error),
        cmocka_unit_test(a_missing_proc_is_named),
    };
    return cmocka_run_group_tests_name("compiler", tests, open_both, close_both);
}
