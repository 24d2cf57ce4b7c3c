/* Standard input, output and error are files in memory: no pipe that fills up, no temporary file to remove.
 */
#include "jit/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/backend.h"
#include "jit/file.h"
#include "support/fail.h"

#define DEFAULT_MILLISECONDS 60000
#define DEFAULT_MEMORY       ((uint64_t)4 << 30)
#define OUTPUT_MAX           ((uint64_t)1 << 30)

void tw_child_lower_limit(int resource, uint64_t value) {
    struct rlimit before;
    rlim_t limit = (rlim_t)value;
    if (!getrlimit((__rlimit_resource_t)resource, &before) && before.rlim_cur < limit)
        limit = before.rlim_cur;
    setrlimit((__rlimit_resource_t)resource, &(struct rlimit){limit, limit});
}

/* Between fork and exec, where other threads' locks may be taken for ever: system calls only. */
static _Noreturn void run_child(const tw_child *child, const int files[3], pid_t parent) {
    for (int i = 1; i < _NSIG; i++) /* what we ignore would stay ignored */
        signal(i, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    tw_child_lower_limit(RLIMIT_CORE, 0);
    tw_child_lower_limit(RLIMIT_FSIZE, OUTPUT_MAX);
    tw_child_lower_limit(RLIMIT_AS, child->limits.memory_bytes);
    for (int i = 0; i < 3; i++)
        if (dup2(files[i], i) < 0) _exit(127);
    close_range(3, ~0u, 0);
    char *const *environment = child->environment ? (char *const *)(uintptr_t)child->environment : environ;
    execve(child->arguments[0], (char *const *)(uintptr_t)child->arguments, environment);
    static const char reason[] = "error: the program cannot be executed\n";
    if (write(STDERR_FILENO, reason, sizeof reason - 1) < 0) _exit(126);
    _exit(127);
}

/* False where the time is up. */
static bool wait_until(int pid_file, uint64_t deadline) {
    while (true) {
        uint64_t now = tw_now();
        if (now >= deadline) return false;
        uint64_t left = (deadline - now) / 1000000 + 1;
        struct pollfd fd = {pid_file, POLLIN, 0};
        if (poll(&fd, 1, left < 1000000 ? (int)left : 1000000) > 0) return true;
    }
}

static tw_status await_child(tw_child *child, pid_t pid, tw_diag *diag) {
    uint64_t deadline = tw_now() + (uint64_t)child->limits.milliseconds * 1000000;
    int pid_file = pidfd_open(pid, 0), error = errno, how = 0;
    child->timed_out = pid_file >= 0 && !wait_until(pid_file, deadline);
    /* What it started ends with it. Its group lives until it is waited for, but may not be there yet. */
    kill(-pid, SIGKILL);
    if (pid_file < 0 || child->timed_out) kill(pid, SIGKILL);
    pid_t found;
    while ((found = waitpid(pid, &how, 0)) < 0 && errno == EINTR) {
    }
    if (pid_file >= 0) {
        if (found < 0) error = errno; /* where SIGCHLD is ignored, nobody learns how a child ended */
        close(pid_file);
    }
    if (pid_file < 0 || found < 0)
        return tw_fail(diag, TW_ERR_IO, "cannot wait for a process: %s", strerror(error));
    child->exit_code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    child->end_signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    return TW_OK;
}

static tw_status read_back(int file, uint8_t **bytes, size_t *size, tw_diag *diag) {
    off_t length = lseek(file, 0, SEEK_END);
    *size = length > 0 ? (size_t)length : 0;
    *bytes = malloc(*size + 1);
    if (!*bytes) return tw_fail_no_memory(diag);
    (*bytes)[*size] = 0;
    size_t at = 0;
    while (at < *size) {
        ssize_t got = pread(file, *bytes + at, *size - at, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tw_fail(diag, TW_ERR_IO, "cannot read a program's output: %s", strerror(errno));
        at += (size_t)got;
    }
    return TW_OK;
}

static tw_status run_on(tw_child *child, const int files[3], tw_diag *diag) {
    if (!tw_write_all(files[0], child->input, child->input_size) || lseek(files[0], 0, SEEK_SET) < 0)
        return tw_fail(diag, TW_ERR_IO, "cannot store a program's input: %s", strerror(errno));
    pid_t parent = getpid();
    sigset_t all, before; /* no handler of ours may run in the child */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) run_child(child, files, parent);
    int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pid < 0) return tw_fail(diag, TW_ERR_IO, "cannot start a process: %s", strerror(error));
    tw_status status = await_child(child, pid, diag);
    if (status) return status;
    size_t length;
    status = read_back(files[1], &child->output, &child->output_size, diag);
    return status ? status : read_back(files[2], (uint8_t **)&child->words, &length, diag);
}

/* Never one of the standard descriptors, which a program may have closed: dup2 onto itself would leave it to
 * be closed by exec. */
static int make_file(void) {
    int file = memfd_create("tilewright", MFD_CLOEXEC);
    if (file < 0 || file > STDERR_FILENO) return file;
    int higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;
    close(file);
    errno = error;
    return higher;
}

tw_status tw_child_run(tw_child *child, tw_diag *diag) {
    if (!child->limits.milliseconds) child->limits.milliseconds = DEFAULT_MILLISECONDS;
    if (!child->limits.memory_bytes) child->limits.memory_bytes = DEFAULT_MEMORY;
    child->output = NULL;
    child->output_size = 0;
    child->words = NULL;
    child->exit_code = -1;
    child->end_signal = 0;
    child->timed_out = false;
    int files[3] = {-1, -1, -1};
    tw_status status = TW_OK;
    for (int i = 0; i < 3 && !status; i++) {
        files[i] = make_file();
        if (files[i] < 0)
            status = tw_fail(diag, TW_ERR_IO, "cannot make a file in memory: %s", strerror(errno));
    }
    if (!status) status = run_on(child, files, diag);
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0) close(files[i]);
    return status;
}
