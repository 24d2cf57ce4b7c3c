/* opt, llc and ld.lld as programs: child processes, what they print, and the compiler made of them. */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/child_process.h"
#include "jit/compile_log.h"
#include "jit/compiler.h"
#include "tests/jit/kernels.h"

#define REAL_TOOLS LLVM_BINDIR

static tw_diag *diag;
static char folder[] = "/tmp/tw-tools-XXXXXX";

static int make_diag(void **state) {
    (void)state;
    diag = tw_diag_new(NULL);
    return diag ? 0 : 1;
}

static int free_diag(void **state) {
    (void)state;
    tw_diag_free(diag);
    return 0;
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : 1;
}

static const char *const names[] = {"opt", "llc", "ld.lld"};

static int remove_folder(void **state) {
    (void)state;
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static tw_target target_of(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

/* ---- processes ---- */

static int open_files(void) {
    DIR *all = opendir("/proc/self/fd");
    assert_non_null(all);
    int count = 0;
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static tw_status run_shell(tw_child *child, const char *command, const char *input) {
    const char *arguments[] = {"/bin/sh", "-c", command, NULL};
    tw_diag_clear(diag);
    child->arguments = arguments;
    child->input = input;
    child->input_size = strlen(input);
    int before = open_files();
    tw_status status = tw_child_run(child, diag);
    assert_int_equal(open_files(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left to wait for */
    assert_int_equal(errno, ECHILD);
    return status;
}

static void a_child_gives_output_words_and_its_end(void **state) {
    (void)state;
    tw_child child = {0};
    assert_int_equal(run_shell(&child, "cat; cat /proc/self/fd/0; echo words >&2; exit 3", "in"), TW_OK);
    assert_string_equal((char *)child.output, "inin");
    assert_int_equal(child.output_size, 4);
    assert_string_equal(child.words, "words\n");
    assert_int_equal(child.exit_code, 3);
    assert_int_equal(child.end_signal, 0);
    free(child.output);
    free(child.words);
    assert_int_equal(run_shell(&child, "kill -SEGV $$", ""), TW_OK);
    assert_int_equal(child.end_signal, SIGSEGV);
    assert_int_equal(child.exit_code, -1);
    free(child.output);
    free(child.words);
}

static void a_child_may_write_more_than_a_pipe_holds(void **state) {
    (void)state;
    enum { SIZE = 1000000 };
    tw_child child = {0};
    const char *command =
        "head -c 1000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero | tr '\\0' y >&2";
    assert_int_equal(run_shell(&child, command, ""), TW_OK);
    assert_int_equal(child.output_size, SIZE);
    assert_int_equal(strspn((char *)child.output, "x"), SIZE);
    assert_int_equal(strlen(child.words), SIZE);
    assert_int_equal(strspn(child.words, "y"), SIZE);
    free(child.output);
    free(child.words);
}

static void a_child_works_where_standard_files_are_closed(void **state) {
    (void)state;
    int kept[3];
    for (int i = 0; i < 3; i++)
        kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 20);
    for (unsigned closed = 1; closed < 8; closed++) {
        for (int i = 0; i < 3; i++)
            if (closed >> i & 1) close(i);
        const char *arguments[] = {"/bin/sh", "-c", "cat; echo words >&2", NULL};
        tw_child child = {.arguments = arguments, .input = "in", .input_size = 2};
        tw_status status = tw_child_run(&child, diag);
        for (int i = 0; i < 3; i++)
            dup2(kept[i], i); /* the test's own words need them again */
        assert_int_equal(status, TW_OK);
        assert_string_equal((char *)child.output, "in");
        assert_string_equal(child.words, "words\n");
        free(child.output);
        free(child.words);
    }
    for (int i = 0; i < 3; i++)
        close(kept[i]);
}

static void a_child_neither_ignores_nor_blocks_signals(void **state) {
    (void)state;
    sigset_t user, before;
    sigemptyset(&user);
    sigaddset(&user, SIGUSR1);
    sigprocmask(SIG_BLOCK, &user, &before);
    void (*hangup)(int) = signal(SIGHUP, SIG_IGN);
    tw_child child = {0};
    tw_status status = run_shell(&child, "kill -USR1 $$; echo blocked", "");
    assert_int_equal(status, TW_OK);
    assert_int_equal(child.end_signal, SIGUSR1);
    free(child.output);
    free(child.words);
    status = run_shell(&child, "kill -HUP $$; echo ignored", "");
    sigset_t after;
    sigprocmask(SIG_SETMASK, &before, &after);
    signal(SIGHUP, hangup);
    assert_int_equal(status, TW_OK);
    assert_int_equal(child.end_signal, SIGHUP);
    assert_true(sigismember(&after, SIGUSR1)); /* ours are as they were */
    assert_false(sigismember(&after, SIGUSR2));
    free(child.output);
    free(child.words);
}

static void an_end_that_nobody_learns_is_no_success(void **state) {
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    tw_child child = {0};
    tw_status status = run_shell(&child, "exit 3", "");
    signal(SIGCHLD, before);
    assert_int_equal(status, TW_ERR_IO);
    assert_string_equal(tw_diag_first_error(diag), "cannot wait for a process: No child processes");
    assert_null(child.output);
}

static void a_child_has_no_file_of_ours(void **state) {
    (void)state;
    int file = fcntl(0, F_DUPFD, 50); /* without FD_CLOEXEC */
    assert_true(file >= 50);
    char command[64];
    snprintf(command, sizeof command, "[ -e /proc/$$/fd/%d ] && echo open || echo closed", file);
    tw_child child = {0};
    assert_int_equal(run_shell(&child, command, ""), TW_OK);
    close(file);
    assert_string_equal((char *)child.output, "closed\n");
    free(child.output);
    free(child.words);
}

static void a_child_is_ended_in_time_with_what_it_started(void **state) {
    (void)state;
    tw_child child = {.limits = {.milliseconds = 300}};
    char marker[64], command[160];
    snprintf(marker, sizeof marker, "%s/late", folder);
    snprintf(command, sizeof command, "(sleep 1; touch %s) & sleep 60", marker);
    assert_int_equal(run_shell(&child, command, ""), TW_OK);
    assert_true(child.timed_out);
    assert_int_equal(child.end_signal, SIGKILL);
    free(child.output);
    free(child.words);
    snprintf(command, sizeof command, "(sleep 1; touch %s) & echo first",
             marker); /* in time, but not all of it */
    child.limits.milliseconds = 0;
    assert_int_equal(run_shell(&child, command, ""), TW_OK);
    assert_false(child.timed_out);
    assert_int_equal(child.exit_code, 0);
    assert_string_equal((char *)child.output, "first\n");
    free(child.output);
    free(child.words);
    sleep(2);
    assert_int_equal(access(marker, F_OK), -1);
}

static void a_child_has_limits(void **state) {
    (void)state;
    tw_child child = {.limits = {.memory_bytes = (uint64_t)64 << 20}};
    assert_int_equal(run_shell(&child, "ulimit -v; ulimit -c; ulimit -f", ""), TW_OK);
    assert_string_equal((char *)child.output, "65536\n0\n2097152\n"); /* KiB, and blocks of 512 bytes */
    free(child.output);
    free(child.words);
}

/* A program whose parent was killed ends, too. */
static void a_child_ends_with_its_parent(void **state) {
    (void)state;
    char path[64], number[32] = "", command[128];
    int how;
    snprintf(path, sizeof path, "%s/number", folder);
    snprintf(command, sizeof command, "echo $$ >%s; exec sleep 60", path);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphans become ours */
    pid_t parent = fork();
    if (parent == 0) {
        const char *arguments[] = {"/bin/sh", "-c", command, NULL};
        tw_child child = {.arguments = arguments, .input = ""};
        tw_child_run(&child, NULL);
        _exit(1);
    }
    for (int i = 0; i < 500 && !strchr(number, '\n'); i++) {
        usleep(10000);
        FILE *file = fopen(path, "r");
        if (file && !fgets(number, sizeof number, file)) number[0] = '\0';
        if (file) fclose(file);
    }
    kill(parent, SIGKILL);
    assert_int_equal(waitpid(parent, &how, 0), parent);
    pid_t program = (pid_t)strtol(number, NULL, 10), ended = 0;
    assert_true(program > 0);
    for (int i = 0; i < 300 && !ended; i++) {
        ended = waitpid(program, &how, WNOHANG);
        if (!ended) usleep(10000);
    }
    if (!ended) kill(program, SIGKILL);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    unlink(path);
    assert_int_equal(ended, program);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

/* Nor do they lift limits that were there: those of a worker, or of a shell. */
static void limits_are_only_lowered(void **state) {
    (void)state;
#if defined(TW_ASAN)
    skip(); /* it needs more address space than any limit leaves */
#endif
    pid_t fork_of_ours = fork();
    if (fork_of_ours == 0) {
        setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)3 << 30, RLIM_INFINITY});
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)1 << 20, RLIM_INFINITY});
        const char *arguments[] = {"/bin/sh", "-c", "ulimit -v; ulimit -f", NULL};
        tw_child child = {.arguments = arguments, .input = ""};
        if (tw_child_run(&child, NULL)) _exit(2);
        _exit(strcmp((char *)child.output, "3145728\n2048\n") ? 1 : 0);
    }
    int how;
    assert_int_equal(waitpid(fork_of_ours, &how, 0), fork_of_ours);
    assert_int_equal(how, 0);
}

static void a_program_that_is_not_there_is_named(void **state) {
    (void)state;
    const char *arguments[] = {"/nonexistent", NULL};
    tw_child child = {.arguments = arguments, .input = ""};
    assert_int_equal(tw_child_run(&child, diag), TW_OK);
    assert_int_equal(child.exit_code, TW_CHILD_NOT_RUN);
    assert_string_equal(child.words, "error: the program cannot be executed\n");
    free(child.output);
    free(child.words);
}

/* ---- logs ---- */

static void logs_become_diagnostics(void **state) {
    (void)state;
    char log[] = "/tmp/comgr-1/input/kernel.ll:3:5: error: this went wrong\n>   ^\n"
                 "opt: <stdin>:12:34: error: and this\nld.lld: error: undefined symbol: f\n"
                 "LLVM ERROR: Cannot select: t5\nPLEASE submit a bug report\n"
                 "warning: a word\n<unknown>:0:0: note: another";
    static const struct {
        tw_severity severity;
        const char *where, *text;
        unsigned line, column;
    } expected[] = {
        {TW_SEVERITY_ERROR, "kernel.ll", "this went wrong", 3, 5},
        {TW_SEVERITY_ERROR, "kernel.ll", "and this", 12, 34},
        {TW_SEVERITY_ERROR, "compiler 1", "undefined symbol: f", 0, 0},
        {TW_SEVERITY_ERROR, "compiler 1", "Cannot select: t5", 0, 0},
        {TW_SEVERITY_WARNING, "compiler 1", "a word", 0, 0},
        {TW_SEVERITY_NOTE, "compiler 1", "another", 0, 0},
    };
    enum { COUNT = sizeof expected / sizeof expected[0] };
    assert_int_equal(tw_compile_log_report(log, "compiler 1", diag), 4);
    assert_int_equal(tw_diag_count(diag), COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const tw_diagnostic *d = tw_diag_get(diag, i);
        assert_int_equal(d->severity, expected[i].severity);
        assert_string_equal(d->where, expected[i].where);
        assert_string_equal(d->text, expected[i].text);
        assert_int_equal(d->line, expected[i].line);
        assert_int_equal(d->column, expected[i].column);
    }
}

/* ---- a folder of scripts ---- */

/* `version` of each, and what they do when they are not asked for it. */
static void make_tools(const char *opt, const char *llc, const char *lld, const char *action) {
    const char *versions[] = {opt, llc, lld};
    for (int i = 0; i < 3; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "#!/bin/sh\n[ \"$1\" = --version ] && { echo '%s'; exit; }\n%s\n", versions[i], action);
        fclose(file);
        assert_int_equal(chmod(path, 0755), 0);
    }
}

static void refused_folder(const char *text) {
    tw_compiler *compiler;
    tw_diag_clear(diag);
    assert_int_equal(tw_compiler_open_path(TW_COMPILER_TOOLS, folder, &compiler, diag), TW_ERR_NOT_FOUND);
    assert_null(compiler);
    assert_string_equal(tw_diag_first_error(diag), text);
}

static void folders_that_are_no_tool_set_are_refused(void **state) {
    (void)state;
    char text[256];
    snprintf(text, sizeof text, "the folder of tools must hold the program opt (got %s)", folder);
    refused_folder(text);
    make_tools("LLVM version 19.1.7", "LLVM version 19.1.7", "LLD 19.1.6 (compatible)", "");
    refused_folder("ld.lld must be of the release of opt, 19.1.7 (got 19.1.6)");
    make_tools("LLVM version 17.0.6", "LLVM version 17.0.6", "LLD 17.0.6", "");
    refused_folder("the tools must be of a release that there is a flavor for (got 17.0.6)");
    make_tools("GNU 3", "LLVM version 17.0.6", "LLD 17.0.6", "");
    snprintf(text, sizeof text, "%s/opt must report its version after \"LLVM version \" (got GNU 3\n)",
             folder);
    refused_folder(text);
    tw_compiler *compiler;
    assert_int_equal(tw_compiler_open_path(TW_COMPILER_LLVM, folder, &compiler, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compiler_open_path(TW_COMPILER_TOOLS, NULL, &compiler, diag), TW_ERR_USAGE);
    assert_int_equal(tw_compiler_open(TW_COMPILER_TOOLS, &compiler, diag), TW_ERR_USAGE);
}

static tw_compiler *open_scripts(const char *action) {
    tw_compiler *compiler;
    make_tools("Debian LLVM version 19.1.7", "LLVM version 19.1.7", "Debian LLD 19.1.7 (compatible)", action);
    if (tw_compiler_open_path(TW_COMPILER_TOOLS, folder, &compiler, diag)) fail_msg("%s", tw_diag_text(diag));
    return compiler;
}

static void flavor_and_identity_come_from_the_programs(void **state) {
    (void)state;
    tw_compiler *compiler = open_scripts("");
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx942"), &choice, diag), TW_OK);
    assert_int_equal(choice.kind, TW_COMPILER_TOOLS);
    assert_int_equal(choice.flavor, TW_FLAVOR_LLVM19);
    assert_string_equal(choice.identity, "llvm 19.1.7 tools");
    assert_int_equal(tw_compiler_choose(compiler, target_of("gfx1250"), &choice, diag), TW_ERR_UNSUPPORTED);
    assert_string_equal(tw_diag_first_error(diag), "gfx1250 needs llvm22 or later (got llvm19)");
    tw_compiler_close(compiler);
}

static void failing_programs_tell_why(void **state) {
    (void)state;
    static const struct {
        const char *action, *text;
    } rows[] = {
        {"echo nothing; echo last words >&2; exit 4", "opt ended with exit code 4: last words"},
        {"kill -ABRT $$", "opt was ended by SIGABRT"},
        {"echo 'opt: <stdin>:2:7: error: bad number' >&2; exit 1", "bad number"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_diag_clear(diag);
        tw_compiler *compiler = open_scripts(rows[i].action);
        tw_code_object *object;
        assert_int_equal(tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target_of("gfx942"),
                                            NULL, &object, diag),
                         TW_ERR_COMPILE);
        assert_string_equal(tw_diag_first_error(diag), rows[i].text);
        tw_compiler_close(compiler);
    }
}

/* ---- the real ones ---- */

static void real_tools_give_the_bytes_of_this_process(void **state) {
    (void)state;
    tw_compiler *tools, *llvm;
    if (access(REAL_TOOLS "/opt", X_OK) || access(REAL_TOOLS "/llc", X_OK) ||
        access(REAL_TOOLS "/ld.lld", X_OK))
        skip();
    if (tw_compiler_open_path(TW_COMPILER_TOOLS, REAL_TOOLS, &tools, diag))
        fail_msg("%s", tw_diag_text(diag));
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &llvm, diag), TW_OK);
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_choose(tools, target_of("gfx1250"), &choice, diag), TW_OK);
    assert_string_equal(choice.identity, "llvm " LLVM_VERSION " tools");
    static const char *const targets[] = {"gfx90a:sramecc+:xnack-", "gfx1100", "gfx1250"};
    for (size_t i = 0; i < 3; i++) {
        tw_code_object *a = NULL, *b = NULL;
        const char *text = KERNEL_TWO_WITH_VARIABLES;
        if (tw_compile_llvm_ir(tools, text, strlen(text), target_of(targets[i]), NULL, &a, diag) ||
            tw_compile_llvm_ir(llvm, text, strlen(text), target_of(targets[i]), NULL, &b, diag))
            fail_msg("%s", tw_diag_text(diag));
        size_t size, other_size;
        const void *bytes = tw_code_object_bytes(a, &size), *other = tw_code_object_bytes(b, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other, size);
        tw_code_object_release(a);
        tw_code_object_release(b);
    }
    tw_code_object *object;
    assert_int_equal(tw_compile_llvm_ir(tools, KERNEL_UNKNOWN_INTRINSIC, strlen(KERNEL_UNKNOWN_INTRINSIC),
                                        target_of("gfx90a"), NULL, &object, diag),
                     TW_ERR_COMPILE);
    assert_string_equal(tw_diag_first_error(diag), "undefined symbol llvm.amdgcn.foo: llvm " LLVM_VERSION
                                                   " tools does not know this intrinsic (got 1 undefined)");
    char *assembly;
    assert_int_equal(tw_compile_to_assembly(tools, KERNEL_STORE, strlen(KERNEL_STORE), target_of("gfx1201"),
                                            NULL, &assembly, diag),
                     TW_OK);
    assert_non_null(strstr(assembly, "s_endpgm"));
    free(assembly);
    tw_compiler_close(tools);
    tw_compiler_close(llvm);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_child_gives_output_words_and_its_end, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_has_no_file_of_ours, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_is_ended_in_time_with_what_it_started, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_may_write_more_than_a_pipe_holds, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_works_where_standard_files_are_closed, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_neither_ignores_nor_blocks_signals, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(an_end_that_nobody_learns_is_no_success, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_has_limits, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_child_ends_with_its_parent, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(limits_are_only_lowered, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(a_program_that_is_not_there_is_named, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(logs_become_diagnostics, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(folders_that_are_no_tool_set_are_refused, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(flavor_and_identity_come_from_the_programs, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(failing_programs_tell_why, make_diag, free_diag),
        cmocka_unit_test_setup_teardown(real_tools_give_the_bytes_of_this_process, make_diag, free_diag),
    };
    return cmocka_run_group_tests_name("tools", tests, make_folder, remove_folder);
}
