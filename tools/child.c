#include "tools/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/fail.h"
#include "tools/cli.h"

#define MEMORY_BYTES ((rlim_t)4 << 30)
#define OUTPUT_BYTES ((size_t)16 << 20) /* what is written beyond is dropped */

/* Between fork and exec: nothing that another thread may hold a lock of. */
static _Noreturn void become(const char *const *argv, int output, unsigned milliseconds) {
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) _exit(127);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_AS, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES});
    rlim_t seconds = milliseconds / 1000 + 1;
    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
    execv(argv[0], (char *const *)argv);
    _exit(127);
}

/* Reads until the program closes its end or the time is up. */
static bool read_output(int from, uint64_t deadline, tw_strbuf *output) {
    char part[65536];
    for (;;) {
        uint64_t now = cli_now();
        if (now >= deadline) return false;
        struct pollfd fd = {from, POLLIN, 0};
        if (poll(&fd, 1, (int)((deadline - now) / 1000000) + 1) <= 0) continue;
        ssize_t got = read(from, part, sizeof part);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        if (output->length < OUTPUT_BYTES) tw_strbuf_append_n(output, part, (size_t)got);
    }
}

tw_status child_run(const char *const *argv, unsigned milliseconds, tw_strbuf *output, child_result *result,
                    tw_diag *diag) {
    *result = (child_result){0};
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return tw_fail(diag, TW_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) become(argv, ends[1], milliseconds);
    int error = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return tw_fail(diag, TW_ERR_IO, "cannot start a process: %s", strerror(error));
    }
    result->timed_out = !read_output(ends[0], cli_now() + (uint64_t)milliseconds * 1000000, output);
    close(ends[0]);
    if (result->timed_out) kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) result->signal = WTERMSIG(status);
    if (result->signal == SIGXCPU) result->timed_out = true;
    result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (result->exit_code == 127) return tw_fail(diag, TW_ERR_IO, "cannot run %s", argv[0]);
    return output->failed ? tw_fail_no_memory(diag) : TW_OK;
}
