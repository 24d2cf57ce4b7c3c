#include "jit/lld_shim.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <lld/Common/Driver.h>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace {

/* The library's one mutable global: it mirrors lld's own, of which a process has one set. */
struct LldState {
    pthread_mutex_t lock;
    bool unusable; /* lld said that it cannot run again */
} state = {PTHREAD_MUTEX_INITIALIZER, false};

constexpr size_t pipe_step = size_t(1) << 16;

struct Link {
    int input = -1, pipe_read = -1, pipe_write = -1, done = -1;
    char input_name[40] = "", output_name[40] = "";
    uint8_t *bytes = nullptr; /* what came out of the pipe */
    size_t size = 0, capacity = 0;
    bool out_of_memory = false, read_failed = false;

    ~Link() {
        for (int fd : {input, pipe_read, pipe_write, done})
            if (fd >= 0) close(fd);
        free(bytes);
    }
};

char *copy_text(const char *text) { return strdup(text); }

char *system_error(const char *call) {
    char text[160];
    snprintf(text, sizeof text, "%s: %s", call, strerror(errno));
    return copy_text(text);
}

bool append(Link &link, const uint8_t *bytes, size_t size) {
    if (link.capacity - link.size < size) {
        size_t capacity = link.capacity ? link.capacity * 2 : 2 * pipe_step;
        void *grown = realloc(link.bytes, capacity);
        if (!grown) return false;
        link.bytes = static_cast<uint8_t *>(grown);
        link.capacity = capacity;
    }
    memcpy(link.bytes + link.size, bytes, size);
    link.size += size;
    return true;
}

/* Takes what is in the pipe; false when it is empty for now, or broken. It goes on when memory is out: lld
 * would wait for ever if nobody read. */
bool drain(Link &link) {
    uint8_t chunk[pipe_step];
    ssize_t got = read(link.pipe_read, chunk, sizeof chunk);
    if (got > 0 && !link.out_of_memory) link.out_of_memory = !append(link, chunk, size_t(got));
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno != EAGAIN) link.read_failed = true;
    return got > 0;
}

/* Reads until lld is done and the pipe is empty. The end of the file is no sign of that: a process that
 * another thread forked meanwhile may hold the writing end open. */
void *reader(void *argument) {
    Link &link = *static_cast<Link *>(argument);
    bool done = false;
    while (!done) {
        struct pollfd fds[2] = {{link.pipe_read, POLLIN, 0}, {link.done, POLLIN, 0}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR) {
            link.read_failed = true;
            return nullptr;
        }
        done = fds[1].revents != 0;
        while (drain(link)) {
        }
    }
    return nullptr;
}

bool write_all(int fd, const void *bytes, size_t size) {
    const char *at = static_cast<const char *>(bytes);
    while (size) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        size -= size_t(put);
    }
    return true;
}

void name_descriptor(int fd, char name[40]) { snprintf(name, 40, "/proc/self/fd/%d", fd); }

/* Opens the descriptors; returns the name of the call that failed, or NULL. */
const char *open_descriptors(Link &link, const void *object, size_t size) {
    link.input = memfd_create("tilewright-object", MFD_CLOEXEC);
    if (link.input < 0) return "memfd_create";
    if (!write_all(link.input, object, size)) return "write to a memfd";
    int fds[2];
    if (pipe2(fds, O_CLOEXEC)) return "pipe2";
    link.pipe_read = fds[0];
    link.pipe_write = fds[1];
    if (fcntl(link.pipe_read, F_SETFL, O_NONBLOCK)) return "fcntl";
    link.done = eventfd(0, EFD_CLOEXEC);
    if (link.done < 0) return "eventfd";
    name_descriptor(link.input, link.input_name);
    name_descriptor(link.pipe_write, link.output_name);
    if (access(link.input_name, R_OK)) return "/proc/self/fd must be there to link in memory";
    return nullptr;
}

/* The names of descriptors mean nothing to a reader and differ from run to run. */
void replace_all(std::string &text, const char *from, const char *to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;)
        text.replace(at, strlen(from), to);
}

tw_lld_result run_lld(Link &link, char **log) {
    /* Undefined symbols are let through: the code-object reader reports them, with better words. At its limit
     * of errors lld would end the process. */
    const char *args[] = {"ld.lld", "-shared",        "--threads=1",  "--error-limit=0",
                          "-o",     link.output_name, link.input_name};
    const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
    std::string messages;
    llvm::raw_string_ostream stream(messages);
    lld::Result result = lld::lldMain(args, stream, stream, drivers);
    if (!result.canRunAgain) state.unusable = true;
    stream.flush();
    replace_all(messages, link.input_name, "object");
    replace_all(messages, link.output_name, "code object");
    if (!messages.empty()) *log = copy_text(messages.c_str());
    return result.retCode == 0 ? TW_LLD_OK : TW_LLD_REFUSED;
}

tw_lld_result link_locked(Link &link, char **log) {
    if (state.unusable) return TW_LLD_UNUSABLE;
    pthread_t thread;
    if (int error = pthread_create(&thread, nullptr, reader, &link)) {
        errno = error;
        *log = system_error("pthread_create");
        return TW_LLD_SYSTEM;
    }
    tw_lld_result result = run_lld(link, log);
    eventfd_write(link.done, 1); /* cannot fail: the counter is 0 */
    pthread_join(thread, nullptr);
    if (result != TW_LLD_OK) return result;
    if (link.out_of_memory) return TW_LLD_NO_MEMORY;
    if (link.read_failed) {
        *log = system_error("read from lld");
        return TW_LLD_SYSTEM;
    }
    return TW_LLD_OK;
}

} // namespace

extern "C" tw_lld_result tw_lld_link(const void *object, size_t size, uint8_t **out, size_t *out_size,
                                     char **log) {
    *out = nullptr;
    *out_size = 0;
    *log = nullptr;
    Link link;
    if (const char *call = open_descriptors(link, object, size)) {
        *log = system_error(call);
        return TW_LLD_SYSTEM;
    }
    tw_lld_lock();
    tw_lld_result result = link_locked(link, log);
    tw_lld_unlock();
    if (result == TW_LLD_OK) {
        *out = link.bytes;
        *out_size = link.size;
        link.bytes = nullptr;
    }
    return result;
}

extern "C" void tw_lld_lock(void) { pthread_mutex_lock(&state.lock); }
extern "C" void tw_lld_unlock(void) { pthread_mutex_unlock(&state.lock); }
