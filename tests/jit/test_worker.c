/* Compiles in a process of their own: whatever happens there, this process goes on. */
#include "tests/test.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "jit/worker.h"
#include "support/fail.h"
#include "support/strbuf.h"
#include "tests/jit/compiler_and_diag.h"
#include "tests/jit/kernels.h"

static const tw_worker_limits default_limits;

static tw_status compile(const char *text, const char *target_name, const tw_worker_limits *limits,
                         tw_compile_times *times, tw_code_object **out) {
    tw_target target;
    tw_compile_options options = {.worker = limits, .name = "k7", .times = times};
    assert_int_equal(tw_target_parse(target_name, &target, NULL), TW_OK);
    tw_diag_clear(diag);
    return tw_compile_llvm_ir(compiler, text, strlen(text), target, &options, out, diag);
}

static void gives_the_bytes_of_this_process(void **state) {
    (void)state;
    tw_code_object *here, *there;
    tw_compile_times times;
    assert_int_equal(compile(KERNEL_TWO_WITH_VARIABLES, "gfx1250", NULL, NULL, &here), TW_OK);
    assert_int_equal(compile(KERNEL_TWO_WITH_VARIABLES, "gfx1250", &default_limits, &times, &there), TW_OK);
    assert_true(times.parse && times.passes && times.codegen && times.link && times.read);
    size_t size, size_there;
    const void *bytes = tw_code_object_bytes(here, &size),
               *bytes_there = tw_code_object_bytes(there, &size_there);
    assert_int_equal(size, size_there);
    assert_memory_equal(bytes, bytes_there, size);
    tw_code_object_release(here);
    tw_code_object_release(there);
}

static void hands_over_diagnostics(void **state) {
    (void)state;
    tw_code_object *object;
    assert_int_equal(
        compile("define void @f() {\n  %x = add i32 1, 2.5\n}", "gfx950", &default_limits, NULL, &object),
        TW_ERR_INVALID);
    assert_null(object);
    assert_string_equal(tw_diag_text(diag),
                        "kernel.ll:2:19: error: floating point constant invalid for type\n");
    assert_int_equal(compile(KERNEL_UNKNOWN_INTRINSIC, "gfx950", &default_limits, NULL, &object),
                     TW_ERR_COMPILE);
    assert_memory_equal(tw_diag_first_error(diag), "undefined symbol llvm.amdgcn.foo", 32);
}

static void a_fatal_error_costs_one_kernel(void **state) {
    (void)state;
    tw_code_object *object;
    assert_int_equal(compile(KERNEL_FATAL, "gfx90a", &default_limits, NULL, &object), TW_ERR_COMPILE);
    assert_null(object);
    assert_int_equal(tw_diag_count(diag), 1);
    assert_string_equal(tw_diag_get(diag, 0)->where, "k7");
    assert_non_null(strstr(tw_diag_first_error(diag),
                           ": LLVM ERROR: Cannot select: intrinsic %llvm.amdgcn.ds.read.tr16.b64"));
    assert_int_equal(compile(KERNEL_STORE, "gfx90a", &default_limits, NULL, &object), TW_OK);
    tw_code_object_release(object);
}

static void time_is_limited(void **state) {
    (void)state;
    tw_code_object *object;
    const tw_worker_limits limits = {.milliseconds = 1};
    assert_int_equal(compile(KERNEL_STORE, "gfx1201", &limits, NULL, &object), TW_ERR_LIMIT);
    assert_string_equal(tw_diag_text(diag), "k7: error: the compiler must end within 1 ms (got more)\n");
}

static tw_status eat_memory(void *argument, tw_compile_times *times, tw_diag *child_diag, uint8_t **bytes,
                            size_t *size) {
    (void)times, (void)child_diag;
    *size = *(const size_t *)argument;
    *bytes = malloc(*size);
    if (!*bytes) {
        fprintf(stderr, "LLVM ERROR: out of memory\n");
        fflush(stderr);
        abort();
    }
    memset(*bytes, 1, *size);
    *size = 1;
    return TW_OK;
}

static void memory_is_limited(void **state) {
    (void)state;
#if defined(TW_ASAN)
    skip();
#endif
    const tw_worker_limits limits = {.memory_bytes = 64 << 20};
    tw_compile_times times;
    uint8_t *bytes;
    size_t size, little = 16 << 20, much = 256 << 20;
    tw_diag_clear(diag);
    assert_int_equal(tw_worker_run(&limits, "k8", eat_memory, &little, &times, &bytes, &size, diag), TW_OK);
    free(bytes);
    assert_int_equal(tw_worker_run(&limits, "k8", eat_memory, &much, &times, &bytes, &size, diag),
                     TW_ERR_LIMIT);
    assert_string_equal(tw_diag_text(diag),
                        "k8: error: the compiler must need at most 67108864 bytes (got more)\n");
}

/* LLVM itself at its limit: a kernel of thousands of stores. */
static void llvm_is_limited(void **state) {
    (void)state;
#if defined(TW_ASAN)
    skip();
#endif
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_append(&text, "target triple = \"amdgcn-amd-amdhsa\"\n"
                            "define amdgpu_kernel void @k(ptr addrspace(1) %x) {\n");
    for (unsigned i = 0; i < 3000; i++)
        tw_strbuf_printf(&text, "  store volatile i32 %u, ptr addrspace(1) %%x\n", i);
    tw_strbuf_append(&text, "  ret void\n}\n");
    const tw_worker_limits tight = {.memory_bytes = 64 << 10};
    malloc_trim(0); /* what this process has to spare does not count */
    tw_code_object *object;
    assert_int_equal(compile(text.text, "gfx1201", &tight, NULL, &object), TW_ERR_LIMIT);
    const char *last = tw_diag_get(diag, tw_diag_count(diag) - 1)->text;
    assert_string_equal(last, "the compiler must need at most 65536 bytes (got more)");
    tw_strbuf_free(&text);
}

typedef enum death { DIE_BY_SIGNAL, DIE_BY_EXIT, DIE_TALKING, HANG, HANG_TALKING, DIE_HALFWAY, GARBLE } death;

static tw_status die(void *argument, tw_compile_times *times, tw_diag *child_diag, uint8_t **bytes,
                     size_t *size) {
    (void)times, (void)child_diag;
    switch (*(const death *)argument) {
    case DIE_BY_SIGNAL: raise(SIGSEGV); break;
    case DIE_BY_EXIT: _exit(9);
    case DIE_TALKING:
        for (int i = 0; i < 20000; i++)
            dprintf(STDERR_FILENO, "line %d of many\n", i);
        dprintf(STDERR_FILENO, "the last line\n\n");
        raise(SIGABRT);
        break;
    case HANG_TALKING: dprintf(STDERR_FILENO, "wait for me\n"); /* fall through */
    case HANG:
        while (true)
            pause();
    case DIE_HALFWAY:
        if (write(3, "half a frame", 12) != 12) _exit(2);
        _exit(0);
    case GARBLE:
        if (write(3, "x", 1) != 1) _exit(2);
        break;
    }
    *bytes = NULL;
    *size = 0;
    return TW_OK;
}

static void deaths_are_told_apart(void **state) {
    (void)state;
    static const struct {
        death how;
        tw_status status;
        const char *text;
    } rows[] = {
        {DIE_BY_SIGNAL, TW_ERR_COMPILE, "the compiler was ended by SIGSEGV"},
        {DIE_BY_EXIT, TW_ERR_COMPILE, "the compiler ended with exit code 9"},
        {DIE_TALKING, TW_ERR_COMPILE, "the compiler was ended by SIGABRT: the last line"},
        {HANG, TW_ERR_LIMIT, "the compiler must end within 300 ms (got more)"},
        {HANG_TALKING, TW_ERR_LIMIT, "the compiler must end within 300 ms (got more)"},
        {GARBLE, TW_ERR_COMPILE, "the compiler ended with exit code 0"},
        {DIE_HALFWAY, TW_ERR_COMPILE, "the compiler ended with exit code 0"},
    };
    const tw_worker_limits limits = {.milliseconds = 300};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tw_worker_limits *used = rows[i].status == TW_ERR_LIMIT ? &limits : &default_limits;
        death how = rows[i].how;
        tw_compile_times times;
        uint8_t *bytes;
        size_t size;
        tw_diag_clear(diag);
        assert_int_equal(tw_worker_run(used, "k9", die, &how, &times, &bytes, &size, diag), rows[i].status);
        assert_string_equal(tw_diag_first_error(diag), rows[i].text);
        assert_string_equal(tw_diag_get(diag, 0)->where, "k9");
        assert_null(bytes);
    }
}

/* Tells its number in the file that `argument` names, and stays. */
static tw_status tell_and_stay(void *argument, tw_compile_times *times, tw_diag *child_diag, uint8_t **bytes,
                               size_t *size) {
    (void)times, (void)child_diag, (void)bytes, (void)size;
    FILE *file = fopen(argument, "w");
    fprintf(file, "%ld\n", (long)getpid());
    fclose(file);
    while (pause() < 0) {
    }
    return TW_OK;
}

/* A worker whose parent was killed ends, too. */
static void a_worker_ends_with_its_parent(void **state) {
    (void)state;
    char path[] = "/tmp/tw-worker-XXXXXX";
    int file = mkstemp(path), how;
    assert_true(file >= 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans become ours */
    pid_t parent = fork();
    if (parent == 0) {
        tw_compile_times times;
        uint8_t *bytes;
        size_t size;
        tw_worker_run(&default_limits, "k9", tell_and_stay, path, &times, &bytes, &size, NULL);
        _exit(1);
    }
    char number[32] = "";
    for (int i = 0; i < 500 && !strchr(number, '\n'); i++) {
        usleep(10000);
        if (pread(file, number, sizeof number - 1, 0) < 0) break;
    }
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, &how, 0), parent);
    pid_t worker = (pid_t)strtol(number, NULL, 10), ended = 0;
    assert_true(worker > 0);
    for (int i = 0; i < 300 && !ended; i++) {
        ended = waitpid(worker, &how, WNOHANG);
        if (!ended) usleep(10000);
    }
    if (!ended) kill(worker, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    close(file);
    unlink(path);
    assert_int_equal(ended, worker);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static tw_status look_for_file(void *argument, tw_compile_times *times, tw_diag *child_diag, uint8_t **bytes,
                               size_t *size) {
    (void)times;
    *bytes = NULL;
    *size = 0;
    bool open = fcntl(*(const int *)argument, F_GETFD) >= 0;
    return open ? tw_fail(child_diag, TW_ERR_COMPILE, "the file is open") : TW_OK;
}

/* Held open in a worker, the end of a pipe of ours would keep its reader waiting. */
static void a_worker_has_no_file_of_ours(void **state) {
    (void)state;
    tw_compile_times times;
    uint8_t *bytes;
    size_t size;
    int file = fcntl(0, F_DUPFD, 50);
    tw_diag_clear(diag);
    tw_worker_run(&default_limits, "k9", look_for_file, &file, &times, &bytes, &size, diag);
    free(bytes);
    close(file);
    assert_string_equal(tw_diag_text(diag), "");
}

static volatile sig_atomic_t handled;

static void note_signal(int number) { handled = number; }

/* Fails where a handler ran, or where the end of a process is not told. */
static tw_status take_signals(void *argument, tw_compile_times *times, tw_diag *child_diag, uint8_t **bytes,
                              size_t *size) {
    (void)argument, (void)times;
    *bytes = NULL;
    *size = 0;
    raise(SIGHUP);
    raise(SIGALRM);
    if (handled) return tw_fail(child_diag, TW_ERR_COMPILE, "the handler ran for %d", (int)handled);
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(3);
    int how = 0;
    bool told = waitpid(grandchild, &how, 0) == grandchild && WIFEXITED(how) && WEXITSTATUS(how) == 3;
    return told ? TW_OK : tw_fail(child_diag, TW_ERR_COMPILE, "the end of a process is not told");
}

/* A handler belongs to the program, not to a copy of it that only compiles. */
static void handlers_do_not_run_in_the_child(void **state) {
    (void)state;
    sigset_t user, before, after;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    sigprocmask(SIG_BLOCK, &user, &before);
    void (*hangup)(int) = signal(SIGHUP, note_signal), (*alarm_handler)(int) = signal(SIGALRM, SIG_IGN),
         (*child)(int) = signal(SIGCHLD, SIG_IGN);
    tw_compile_times times;
    uint8_t *bytes;
    size_t size;
    tw_diag_clear(diag);
    tw_worker_run(&default_limits, "k9", take_signals, NULL, &times, &bytes, &size, diag);
    free(bytes);
    signal(SIGCHLD, child);
    signal(SIGALRM, alarm_handler);
    assert_string_equal(tw_diag_text(diag), "");
    raise(SIGHUP); /* ours is as it was */
    assert_int_equal(handled, SIGHUP);
    signal(SIGHUP, hangup);
    sigprocmask(SIG_SETMASK, &before, &after);
    assert_true(sigismember(&after, SIGUSR1));
    assert_false(sigismember(&after, SIGUSR2));
}

static void *compile_in_worker(void *argument) {
    tw_target target;
    tw_code_object *object = NULL;
    tw_compile_options options = {.worker = &default_limits};
    (void)argument;
    tw_target_parse("gfx1100", &target, NULL);
    for (int i = 0; i < 4; i++) {
        tw_code_object_release(object);
        if (tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target, &options, &object, NULL))
            return NULL;
    }
    return object;
}

static void threads_run_workers_at_once(void **state) {
    (void)state;
#if defined(TW_ASAN)
    skip(); /* the sanitizer's allocator may be locked by another thread at the fork, and stays so in the
               child */
#endif
    pthread_t threads[6];
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compile_in_worker, NULL), 0);
    for (size_t i = 0; i < 6; i++) {
        void *object;
        pthread_join(threads[i], &object);
        assert_non_null(object);
        tw_code_object_release(object);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_the_bytes_of_this_process),
        cmocka_unit_test(hands_over_diagnostics),
        cmocka_unit_test(a_fatal_error_costs_one_kernel),
        cmocka_unit_test(time_is_limited),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(llvm_is_limited),
        cmocka_unit_test(deaths_are_told_apart),
        cmocka_unit_test(a_worker_ends_with_its_parent),
        cmocka_unit_test(a_worker_has_no_file_of_ours),
        cmocka_unit_test(handlers_do_not_run_in_the_child),
        cmocka_unit_test(threads_run_workers_at_once),
    };
    return cmocka_run_group_tests_name("worker", tests, open_both, close_both);
}
