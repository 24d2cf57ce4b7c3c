#include "jit/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/backend.h"
#include "jit/child_process.h"
#include "jit/file.h"
#include "jit/lld_shim.h"
#include "support/fail.h"
#include "support/strbuf.h"

#define DEFAULT_MILLISECONDS 60000
#define DEFAULT_MEMORY       ((uint64_t)4 << 30)
#define LAST_WORDS           4096 /* bytes of standard error that are kept */
#define RESULT_MAX           ((uint64_t)1 << 30)

/* The result on its way through the pipe: this, the diagnostics, the bytes. Both ends are the same program.
 */
typedef struct frame {
    tw_status status;
    uint32_t diagnostics;
    uint64_t size;
    tw_compile_times times;
} frame;

typedef struct frame_diagnostic {
    tw_severity severity;
    tw_status status;
    uint32_t line, column, where_length, text_length;
} frame_diagnostic;

/* ---- the child ---- */

/* Address sanitizers map terabytes that they never touch, so a limit on the address space would only end
 * them. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SPACE_IS_VAST 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SPACE_IS_VAST 1
#endif
#ifndef ADDRESS_SPACE_IS_VAST
#define ADDRESS_SPACE_IS_VAST 0
#endif

/* The limit counts what the child takes beyond what its parent had. */
static void limit_memory(uint64_t bytes) {
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file) {
        if (fscanf(file, "%llu", &pages) != 1) pages = 0;
        fclose(file);
    }
    if (!pages || ADDRESS_SPACE_IS_VAST) return;
    rlim_t used = (rlim_t)(pages * (unsigned long long)sysconf(_SC_PAGESIZE));
    tw_child_lower_limit(RLIMIT_AS, bytes < RLIM_INFINITY - used ? used + bytes : RLIM_INFINITY);
}

/* The program's handlers would do its work a second time: what it handles is ignored, but for what ends a
 * child that crashes or is told to end, and for the ends of its own children. */
static void reset_signals(void) {
    static const int plain[] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE,  SIGABRT, SIGTRAP, SIGSYS,
                                SIGTERM, SIGINT, SIGPIPE, SIGXCPU, SIGXFSZ, SIGCHLD};
    for (int i = 1; i < _NSIG; i++) {
        struct sigaction old;
        if (sigaction(i, NULL, &old)) continue;
        if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) signal(i, SIG_IGN);
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        signal(plain[i], SIG_DFL);
}

static void limit_self(const tw_worker_limits *limits, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    tw_child_lower_limit(RLIMIT_CORE, 0);
    /* Behind the parent's clock, in case it is stopped. */
    tw_child_lower_limit(RLIMIT_CPU, (uint64_t)limits->milliseconds / 1000 + 2);
    limit_memory(limits->memory_bytes);
}

static bool send_diagnostics(int fd, const tw_diag *diag) {
    for (size_t i = 0; i < tw_diag_count(diag); i++) {
        const tw_diagnostic *d = tw_diag_get(diag, i);
        frame_diagnostic head = {d->severity,
                                 d->status,
                                 d->line,
                                 d->column,
                                 (uint32_t)strlen(d->where),
                                 (uint32_t)strlen(d->text)};
        if (!tw_write_all(fd, &head, sizeof head) || !tw_write_all(fd, d->where, head.where_length) ||
            !tw_write_all(fd, d->text, head.text_length))
            return false;
    }
    return true;
}

static _Noreturn void run_child(const tw_worker_limits *limits, tw_worker_function function, void *argument,
                                int result, int words, pid_t parent, const sigset_t *mask) {
    reset_signals();
    sigprocmask(SIG_SETMASK, mask, NULL);
    /* Only the two pipes stay open: another child's pipe held open here would keep its reader waiting. */
    int fd = fcntl(result, F_DUPFD, 3);
    if (fd < 0 || dup2(words, STDERR_FILENO) < 0 || dup2(words, STDOUT_FILENO) < 0 || dup2(fd, 3) < 0)
        _exit(1);
    close_range(4, ~0u, 0);
    limit_self(limits, parent);
    frame head = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    tw_diag *diag = tw_diag_new(NULL);
    if (!diag) _exit(1);
    head.status = function(argument, &head.times, diag, &bytes, &size);
    head.diagnostics = (uint32_t)tw_diag_count(diag);
    head.size = head.status ? 0 : size;
    bool sent =
        tw_write_all(3, &head, sizeof head) && send_diagnostics(3, diag) && tw_write_all(3, bytes, head.size);
    _exit(sent ? 0 : 1);
}

/* ---- the parent ---- */

typedef struct worker {
    pid_t pid;
    int result, words; /* reading ends */
    tw_strbuf received;
    char last_words[LAST_WORDS];
    size_t last_words_length;
    bool timed_out;
} worker;

static bool make_pipes(int result[2], int words[2]) {
    if (pipe2(result, O_CLOEXEC)) return false;
    if (!pipe2(words, O_CLOEXEC)) return true;
    close(result[0]);
    close(result[1]);
    return false;
}

static tw_status start(worker *w, const tw_worker_limits *limits, tw_worker_function function, void *argument,
                       tw_diag *diag) {
    int result[2], words[2];
    if (!make_pipes(result, words))
        return tw_fail(diag, TW_ERR_IO, "cannot make a pipe: %s", strerror(errno));
    pid_t parent = getpid();
    sigset_t all, before; /* no handler of the program may run in the child */
    sigfillset(&all);
    tw_lld_lock(); /* the child must find the locks free */
    tw_comgr_lock();
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->pid = fork();
    int error = errno;
    if (w->pid) pthread_sigmask(SIG_SETMASK, &before, NULL);
    tw_comgr_unlock();
    tw_lld_unlock();
    if (w->pid == 0) run_child(limits, function, argument, result[1], words[1], parent, &before);
    close(result[1]);
    close(words[1]);
    w->result = result[0];
    w->words = words[0];
    fcntl(w->words, F_SETFL, O_NONBLOCK);
    if (w->pid > 0) return TW_OK;
    close(w->result);
    close(w->words);
    return tw_fail(diag, TW_ERR_IO, "cannot start a worker process: %s", strerror(error));
}

/* Keeps the end of what the child printed. */
static void take_words(worker *w) {
    char chunk[LAST_WORDS];
    ssize_t got;
    while ((got = read(w->words, chunk, sizeof chunk)) > 0) {
        size_t keep = LAST_WORDS - (size_t)got;
        if (w->last_words_length > keep) {
            memmove(w->last_words, w->last_words + w->last_words_length - keep, keep);
            w->last_words_length = keep;
        }
        memcpy(w->last_words + w->last_words_length, chunk, (size_t)got);
        w->last_words_length += (size_t)got;
    }
}

/* Reads until the child closes its end, which it does by ending, or until the time is up. */
static void receive(worker *w, uint64_t deadline) {
    char chunk[65536];
    int words = w->words; /* -1 once the child has closed its end: poll would return for it at once */
    while (true) {
        uint64_t now = tw_now();
        if (now >= deadline) {
            w->timed_out = true;
            return;
        }
        struct pollfd fds[2] = {{w->result, POLLIN, 0}, {words, POLLIN, 0}};
        uint64_t left = (deadline - now) / 1000000 + 1;
        if (poll(fds, 2, left < INT_MAX ? (int)left : INT_MAX) < 0) continue;
        if (fds[1].revents & POLLIN)
            take_words(w);
        else if (fds[1].revents)
            words = -1;
        if (!fds[0].revents) continue;
        ssize_t got = read(w->result, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return;
        tw_strbuf_append_n(&w->received, chunk, (size_t)got);
    }
}

static bool take(const tw_strbuf *from, size_t *at, void *to, size_t size) {
    if (size > from->length - *at) return false;
    memcpy(to, from->text + *at, size);
    *at += size;
    return true;
}

static void add_diagnostic(tw_diag *diag, const frame_diagnostic *head, const char *where, const char *text) {
    int length = (int)head->text_length;
    char *place = strndup(where, head->where_length);
    const char *name = place ? place : "";
    if (head->severity == TW_SEVERITY_ERROR) {
        tw_fail_at(diag, head->status, name, head->line, head->column, "%.*s", length, text);
    } else if (head->severity == TW_SEVERITY_WARNING) {
        tw_warn(diag, name, "%.*s", length, text);
    } else {
        tw_note(diag, name, "%.*s", length, text);
    }
    free(place);
}

/* Unpacks what the child sent. False when it is not whole. */
static bool unpack(const worker *w, frame *head, uint8_t **bytes, size_t *size, tw_diag *diag) {
    const tw_strbuf *in = &w->received;
    size_t at = 0;
    if (in->failed || !take(in, &at, head, sizeof *head) || head->size > RESULT_MAX) return false;
    size_t skipped = at;
    frame_diagnostic d;
    for (uint32_t i = 0; i < head->diagnostics; i++) { /* whole before any of it is used */
        if (!take(in, &skipped, &d, sizeof d)) return false;
        uint64_t texts = (uint64_t)d.where_length + d.text_length;
        if (texts > in->length - skipped) return false;
        skipped += texts;
    }
    if (head->size != in->length - skipped) return false;
    *size = (size_t)head->size;
    *bytes = malloc(*size ? *size : 1);
    if (!*bytes) return false;
    memcpy(*bytes, in->text + skipped, *size);
    for (uint32_t i = 0; i < head->diagnostics; i++) {
        take(in, &at, &d, sizeof d);
        add_diagnostic(diag, &d, in->text + at, in->text + at + d.where_length);
        at += d.where_length + d.text_length;
    }
    return true;
}

/* The line that says why: LLVM's own, or else the last that is not empty. */
static void find_reason(worker *w, char reason[256]) {
    w->last_words[w->last_words_length < LAST_WORDS ? w->last_words_length : LAST_WORDS - 1] = '\0';
    char *line = strstr(w->last_words, "LLVM ERROR: ");
    if (!line) {
        size_t length = strlen(w->last_words);
        while (length && w->last_words[length - 1] == '\n')
            w->last_words[--length] = '\0';
        line = strrchr(w->last_words, '\n');
        line = line ? line + 1 : w->last_words;
    }
    snprintf(reason, 256, "%.*s", (int)strcspn(line, "\n"), line);
}

static bool tells_of_memory(const char *text) {
    return strstr(text, "out of memory") || strstr(text, "bad_alloc") ||
           strstr(text, "Cannot allocate memory");
}

static tw_status report_memory(const tw_worker_limits *limits, const char *name, tw_diag *diag) {
    return tw_fail_at(diag, TW_ERR_LIMIT, name, 0, 0, "the compiler must need at most %llu bytes (got more)",
                      (unsigned long long)limits->memory_bytes);
}

static tw_status report_death(worker *w, const tw_worker_limits *limits, const char *name, int wait_status,
                              tw_diag *diag) {
    char reason[256], how[64] = "ended without a result";
    find_reason(w, reason);
    if (w->timed_out || (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGXCPU))
        return tw_fail_at(diag, TW_ERR_LIMIT, name, 0, 0, "the compiler must end within %u ms (got more)",
                          limits->milliseconds);
    if (tells_of_memory(reason)) return report_memory(limits, name, diag);
    if (WIFSIGNALED(wait_status)) {
        const char *signal_name = sigabbrev_np(WTERMSIG(wait_status));
        snprintf(how, sizeof how, "was ended by SIG%s", signal_name ? signal_name : "?");
    } else if (WIFEXITED(wait_status)) {
        snprintf(how, sizeof how, "ended with exit code %d", WEXITSTATUS(wait_status));
    }
    return tw_fail_at(diag, TW_ERR_COMPILE, name, 0, 0, "the compiler %s%s%s", how, reason[0] ? ": " : "",
                      reason);
}

/* A compiler that notices for itself that memory is out reports it in its own words. */
static bool ran_out_of_memory(const worker *w, const frame *head) {
    if (head->status == TW_OK) return false;
    if (head->status == TW_ERR_NO_MEMORY) return true;
    tw_diag *messages = tw_diag_new(NULL);
    uint8_t *bytes = NULL;
    size_t size;
    frame again;
    bool found =
        messages && unpack(w, &again, &bytes, &size, messages) && tells_of_memory(tw_diag_text(messages));
    free(bytes);
    tw_diag_free(messages);
    return found;
}

static tw_status finish(worker *w, const tw_worker_limits *limits, const char *name, tw_compile_times *times,
                        uint8_t **bytes, size_t *size, tw_diag *diag) {
    if (w->timed_out) kill(w->pid, SIGKILL);
    int wait_status = 0;
    while (waitpid(w->pid, &wait_status, 0) < 0 && errno == EINTR) {
    }
    take_words(w);
    frame head;
    tw_status status;
    if (w->received.failed) {
        status = tw_fail_no_memory(diag);
    } else if (w->timed_out || !unpack(w, &head, bytes, size, diag)) {
        status = report_death(w, limits, name, wait_status, diag);
    } else {
        status = head.status;
        *times = head.times;
        if (ran_out_of_memory(w, &head)) status = report_memory(limits, name, diag);
    }
    if (status) {
        free(*bytes);
        *bytes = NULL;
        *size = 0;
    }
    return status;
}

tw_status tw_worker_run(const tw_worker_limits *limits, const char *name, tw_worker_function function,
                        void *argument, tw_compile_times *times, uint8_t **bytes, size_t *size,
                        tw_diag *diag) {
    *bytes = NULL;
    *size = 0;
    tw_worker_limits used = *limits;
    if (!used.milliseconds) used.milliseconds = DEFAULT_MILLISECONDS;
    if (!used.memory_bytes) used.memory_bytes = DEFAULT_MEMORY;
    worker w = {0};
    uint64_t deadline = tw_now() + (uint64_t)used.milliseconds * 1000000;
    tw_status status = start(&w, &used, function, argument, diag);
    if (status) return status;
    tw_strbuf_init(&w.received, NULL);
    receive(&w, deadline);
    status = finish(&w, &used, name, times, bytes, size, diag);
    tw_strbuf_free(&w.received);
    close(w.result);
    close(w.words);
    return status;
}
