/* The kernel cache: whatever happens to its folder, the right kernel or a clear word, and nothing lost. */
#include "tests/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/cache_internal.h"
#include "tests/jit/kernels.h"

static tw_compiler *compiler;
static tw_code_object *reference; /* KERNEL_STORE for gfx1201, compiled without a cache */
static const uint8_t *content;
static size_t content_size;
static tw_target target;

/* Of one test: */
static tw_diag *diag;
static char folder[64];
static tw_cache *cache;
static const tw_cache_key key_a = {{0xaa}}, key_b = {{0xbb}};

/* ---- killing a writer at a system call: these stand before the C library's functions in this program ----
 */

static int kill_at_fsync, kill_at_rename; /* at the nth call; 0: never */

int fsync(int fd) {
    if (kill_at_fsync && --kill_at_fsync == 0) raise(SIGKILL);
    return (int)syscall(SYS_fsync, fd);
}

int renameat(int old_folder, const char *old_name, int new_folder, const char *new_name) {
    if (kill_at_rename && --kill_at_rename == 0) raise(SIGKILL);
    return (int)syscall(SYS_renameat2, old_folder, old_name, new_folder, new_name, 0);
}

/* ---- set up ---- */

static int open_compiler(void **state) {
    (void)state;
    tw_target_parse("gfx1201", &target, NULL);
    if (tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL)) return 1;
    if (tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target, NULL, &reference, NULL))
        return 1;
    content = tw_code_object_bytes(reference, &content_size);
    return 0;
}

static int close_compiler(void **state) {
    (void)state;
    tw_code_object_release(reference);
    tw_compiler_close(compiler);
    return 0;
}

static void open_cache(uint64_t limit) {
    tw_cache_options options = {.directory = folder, .limit_bytes = limit};
    if (tw_cache_open(&options, &cache, diag)) fail_msg("%s", tw_diag_text(diag));
}

static int begin(void **state) {
    (void)state;
    unsetenv("TILEWRIGHT_CACHE_DIR");
    unsetenv("TILEWRIGHT_CACHE_LIMIT");
    diag = tw_diag_new(NULL);
    strcpy(folder, "/tmp/tw-cache-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    open_cache(0);
    return 0;
}

static int end(void **state) {
    (void)state;
    char command[96];
    tw_cache_close(cache);
    tw_diag_free(diag);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void path_of(const tw_cache_key *key, char path[192]) {
    char name[TW_CACHE_NAME_SIZE];
    tw_cache_entry_name(key, name);
    snprintf(path, 192, "%s/%s", folder, name);
}

static void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
}

static void store(const tw_cache_key *key) { tw_cache_store(cache, key, content, content_size, diag); }

static bool is_reference(const tw_code_object *object) {
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    return size == content_size && memcmp(bytes, content, size) == 0;
}

static tw_status load(const tw_cache_key *key) {
    tw_code_object *object;
    tw_diag_clear(diag);
    tw_status status = tw_cache_load(cache, key, &object, diag);
    if (!status) assert_true(is_reference(object));
    tw_code_object_release(object);
    return status;
}

/* Compiles the reference through the cache; true for a hit. Any other result than its bytes is a failure. */
static bool compile(tw_cache *through, tw_compile_times *times) {
    tw_compile_times own;
    tw_compile_options options = {.cache = through, .times = times ? times : &own};
    tw_code_object *object;
    tw_diag_clear(diag);
    if (tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target, &options, &object, diag))
        fail_msg("%s", tw_diag_text(diag));
    assert_true(is_reference(object));
    assert_string_equal(tw_diag_first_error(diag), "");
    tw_code_object_release(object);
    return options.times->cache_hit;
}

static tw_cache_key reference_key(void) {
    tw_cache_key key;
    tw_compiler_choice choice;
    assert_int_equal(tw_compiler_choose(compiler, target, &choice, NULL), TW_OK);
    tw_cache_key_of(KERNEL_STORE, strlen(KERNEL_STORE), target, choice.flavor, 3, choice.identity, &key);
    return key;
}

static tw_cache_stats stats_now(void) {
    tw_cache_stats stats;
    assert_int_equal(tw_cache_stat(cache, &stats, diag), TW_OK);
    return stats;
}

static void assert_stats(uint64_t entries, uint64_t damaged, uint64_t untrusted, uint64_t temporary) {
    tw_cache_stats stats = stats_now();
    assert_int_equal(stats.entries, entries);
    assert_int_equal(stats.damaged, damaged);
    assert_int_equal(stats.untrusted, untrusted);
    assert_int_equal(stats.temporary, temporary);
}

static void set_age(const char *path, int64_t seconds) {
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){now.tv_sec - seconds, 0};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* ---- ordinary use ---- */

static void a_miss_then_hits(void **state) {
    (void)state;
    tw_compile_times times;
    assert_false(compile(cache, &times));
    assert_true(times.cache_lookup && times.cache_store && times.codegen);
    assert_true(compile(cache, &times));
    assert_true(times.cache_lookup && !times.cache_store && !times.codegen && !times.link);
    assert_int_equal(tw_diag_count(diag), 0);
    /* Another opening of the same folder, as another process has. */
    tw_cache_close(cache);
    open_cache(0);
    assert_true(compile(cache, NULL));
    assert_stats(1, 0, 0, 0);
    assert_int_equal(stats_now().bytes, content_size + sizeof(tw_cache_header));
    tw_cache_key key = reference_key();
    assert_int_equal(load(&key), TW_OK);
    assert_string_equal(tw_cache_directory(cache), folder);
}

static void a_refused_program_is_not_stored(void **state) {
    (void)state;
    tw_compile_options options = {.cache = cache};
    tw_code_object *object;
    for (int i = 0; i < 2; i++)
        assert_int_equal(tw_compile_llvm_ir(compiler, KERNEL_UNKNOWN_INTRINSIC,
                                            strlen(KERNEL_UNKNOWN_INTRINSIC), target, &options, &object,
                                            diag),
                         TW_ERR_COMPILE);
    assert_stats(0, 0, 0, 0);
}

static void keys_depend_on_all_that_counts(void **state) {
    (void)state;
    tw_target other, wide;
    assert_int_equal(tw_target_parse("gfx1200", &other, NULL), TW_OK);
    assert_int_equal(tw_target_parse("gfx1201:wave64", &wide, NULL), TW_OK);
    tw_cache_key keys[8];
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &keys[0]);
    tw_cache_key_of("texu", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &keys[1]);
    tw_cache_key_of("text", 3, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &keys[2]);
    tw_cache_key_of("text", 4, other, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &keys[3]);
    tw_cache_key_of("text", 4, wide, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &keys[4]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM21, 3, "llvm 22.1.8", &keys[5]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 2, "llvm 22.1.8", &keys[6]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.9", &keys[7]);
    for (size_t i = 0; i < 8; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
    tw_cache_key again;
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", &again);
    assert_memory_equal(&again, &keys[0], sizeof again);
    char name[TW_CACHE_NAME_SIZE];
    tw_cache_entry_name(&again, name);
    assert_true(tw_cache_entry_key(name, &keys[1]));
    assert_memory_equal(&again, &keys[1], sizeof again);
    name[5] = 'G';
    assert_false(tw_cache_entry_key(name, &keys[1]));
    assert_false(tw_cache_entry_key("README", &keys[1]));
}

static void folders_come_from_the_environment(void **state) {
    (void)state;
    char path[128], *old_home = strdup(getenv("HOME") ? getenv("HOME") : "/");
    tw_cache *other;
    static const struct {
        const char *variable, *suffix;
    } rows[] = {
        {"TILEWRIGHT_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/tilewright"}, {"HOME", "/.cache/tilewright"}};
    unsetenv("XDG_CACHE_HOME");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/new/deep%zu", folder, i);
        setenv(rows[i].variable, path, 1);
        strcat(path, rows[i].suffix);
        assert_int_equal(tw_cache_open(NULL, &other, diag), TW_OK);
        assert_string_equal(tw_cache_directory(other), path);
        struct stat info;
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0700);
        tw_cache_close(other);
        unsetenv(rows[i].variable);
    }
    assert_int_equal(tw_cache_open(NULL, &other, diag), TW_ERR_NOT_FOUND);
    setenv("HOME", old_home, 1);
    free(old_home);
}

static void limits_come_from_the_environment(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t limit; /* 0: refused */
    } rows[] = {{"4096", 4096}, {"3K", 3072}, {"2M", 2 << 20},     {"1G", 1 << 30}, {"", 1 << 30}, {"0", 0},
                {"12x", 0},     {"-1", 0},    {"20000000000G", 0}, {"1KK", 0},      {" 1", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_cache *other;
        tw_cache_options options = {.directory = folder};
        setenv("TILEWRIGHT_CACHE_LIMIT", rows[i].text, 1);
        assert_int_equal(tw_cache_open(&options, &other, diag), rows[i].limit ? TW_OK : TW_ERR_INVALID);
        if (!rows[i].limit) continue;
        tw_cache_stats stats;
        assert_int_equal(tw_cache_stat(other, &stats, diag), TW_OK);
        assert_int_equal(stats.limit_bytes, rows[i].limit);
        tw_cache_close(other);
    }
    unsetenv("TILEWRIGHT_CACHE_LIMIT");
}

/* ---- many at once ---- */

static void sixteen_processes_race_on_one_key(void **state) {
    (void)state;
    enum { PROCESSES = 16 };
    int gate[2];
    pid_t children[PROCESSES];
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i]) continue;
        char byte;
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 0) _exit(1); /* all start when the parent closes the gate */
        open_cache(0);
        compile(cache, NULL);
        compile(cache, NULL);
        _exit(tw_diag_count(diag) ? 1 : 0);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_true(compile(cache, NULL));
    tw_cache_stats stats;
    assert_int_equal(tw_cache_verify(cache, false, &stats, diag), TW_OK);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.damaged + stats.untrusted + stats.temporary, 0);
}

static void *use_cache(void *argument) {
    tw_code_object *object = NULL;
    tw_cache_key key = {{(uint8_t)(uintptr_t)argument}};
    uintptr_t good = 0;
    for (int i = 0; i < 8; i++) {
        key.digest[1] = (uint8_t)(i % 3);
        tw_cache_store(cache, &key, content, content_size, NULL);
        if (!tw_cache_load(cache, &key, &object, NULL)) good += is_reference(object);
        tw_code_object_release(object);
    }
    return (void *)good;
}

static void threads_share_a_cache(void **state) {
    (void)state;
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_cache, (void *)(i / 2)), 0);
    for (uintptr_t i = 0; i < 8; i++) {
        void *good;
        pthread_join(threads[i], &good);
        assert_int_equal((uintptr_t)good, 8);
    }
    assert_stats(12, 0, 0, 0);
}

/* ---- killed writers ---- */

/* Stores key_a in a child that is to die of `signal_number`: at byte `bytes` of the entry, or at a call. */
static void store_and_die(long bytes, int fsync_call, int rename_call, int signal_number) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        if (bytes >= 0) setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)bytes, (rlim_t)bytes});
        signal(SIGXFSZ, SIG_DFL);
        kill_at_fsync = fsync_call;
        kill_at_rename = rename_call;
        store(&key_a);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), signal_number);
}

static size_t make_leftovers_old(void) {
    size_t count = 0;
    char path[512];
    DIR *list = opendir(folder);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strncmp(entry->d_name, TW_CACHE_TEMPORARY, strlen(TW_CACHE_TEMPORARY)) != 0) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        set_age(path, 3600);
        count++;
    }
    closedir(list);
    return count;
}

static void killed_writers_leave_no_entry_but_a_whole_one(void **state) {
    (void)state;
    const long sizes[] = {0, 1, 8, 40, 87, 88, 89, 1000, (long)(content_size + sizeof(tw_cache_header)) - 1};
    const size_t size_count = sizeof sizes / sizeof sizes[0];
    for (size_t i = 0; i < size_count; i++) {
        store_and_die(sizes[i], 0, 0, SIGXFSZ);
        assert_int_equal(load(&key_a), TW_ERR_NOT_FOUND);
        assert_int_equal(tw_diag_count(diag), 0);
    }
    store_and_die(-1, 1, 0, SIGKILL); /* written, not synced */
    store_and_die(-1, 0, 1, SIGKILL); /* synced, not renamed */
    assert_int_equal(load(&key_a), TW_ERR_NOT_FOUND);
    store_and_die(-1, 2, 0, SIGKILL); /* renamed: the entry is there */
    assert_int_equal(load(&key_a), TW_OK);
    /* The leftovers are seen, spare until they are old, and then removed. */
    assert_stats(1, 0, 0, size_count + 2);
    tw_cache_stats stats;
    assert_int_equal(tw_cache_prune(cache, UINT64_MAX, &stats, diag), TW_OK);
    assert_int_equal(stats.temporary, size_count + 2);
    assert_int_equal(make_leftovers_old(), size_count + 2);
    assert_int_equal(tw_cache_prune(cache, UINT64_MAX, &stats, diag), TW_OK);
    assert_int_equal(stats.temporary, 0);
    assert_int_equal(stats.entries, 1);
    store(&key_b);
    assert_int_equal(load(&key_b), TW_OK);
}

static void a_living_writer_keeps_its_file(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/" TW_CACHE_TEMPORARY "1-2-3", folder);
    write_file(path, "half", 4);
    int fd = open(path, O_RDWR);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    set_age(path, 3600);
    tw_cache_stats stats;
    assert_int_equal(tw_cache_prune(cache, UINT64_MAX, &stats, diag), TW_OK);
    assert_int_equal(stats.temporary, 1);
    close(fd);
    assert_int_equal(tw_cache_prune(cache, UINT64_MAX, &stats, diag), TW_OK);
    assert_int_equal(stats.temporary, 0);
}

/* ---- damage ---- */

static size_t read_entry(const tw_cache_key *key, uint8_t **bytes) {
    char path[192];
    struct stat info;
    path_of(key, path);
    assert_int_equal(stat(path, &info), 0);
    *bytes = malloc((size_t)info.st_size);
    FILE *file = fopen(path, "r");
    assert_int_equal(fread(*bytes, 1, (size_t)info.st_size, file), info.st_size);
    fclose(file);
    return (size_t)info.st_size;
}

static void assert_damaged(void) {
    assert_int_equal(load(&key_a), TW_ERR_NOT_FOUND);
    assert_int_equal(tw_diag_count(diag), 1);
    assert_int_equal(tw_diag_get(diag, 0)->severity, TW_SEVERITY_WARNING);
    assert_non_null(strstr(tw_diag_get(diag, 0)->text, "is damaged and made anew: "));
}

static void every_flipped_bit_is_seen(void **state) {
    (void)state;
    char path[192];
    uint8_t *bytes;
    store(&key_a);
    path_of(&key_a, path);
    size_t size = read_entry(&key_a, &bytes);
    int fd = open(path, O_WRONLY);
    for (size_t i = 0; i < size; i++) {
        uint8_t flipped = bytes[i] ^ (uint8_t)(1u << (i % 8));
        assert_int_equal(pwrite(fd, &flipped, 1, (off_t)i), 1);
        assert_damaged();
        assert_int_equal(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
    }
    close(fd);
    assert_int_equal(load(&key_a), TW_OK);
    free(bytes);
}

static void every_truncation_is_seen(void **state) {
    (void)state;
    char path[192];
    uint8_t *bytes;
    store(&key_a);
    path_of(&key_a, path);
    size_t size = read_entry(&key_a, &bytes);
    for (size_t i = 0; i < size; i += i < 200 ? 1 : 37) {
        assert_int_equal(truncate(path, (off_t)i), 0);
        assert_damaged();
        write_file(path, bytes, size);
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    write_file(path, bytes, size + 1); /* and one byte too many */
    assert_damaged();
    free(bytes);
}

static void an_entry_under_another_name_is_seen(void **state) {
    (void)state;
    char path_a[192], path_b[192];
    store(&key_b);
    path_of(&key_a, path_a);
    path_of(&key_b, path_b);
    assert_int_equal(rename(path_b, path_a), 0);
    assert_damaged();
    assert_non_null(strstr(tw_diag_text(diag), "its key is another than its name says"));
    /* A whole entry that holds no code object. */
    tw_cache_store(cache, &key_a, "hello", 5, diag);
    assert_damaged();
}

static void a_damaged_entry_is_rebuilt_and_reported(void **state) {
    (void)state;
    char path[192];
    tw_cache_key key = reference_key();
    compile(cache, NULL);
    path_of(&key, path);
    assert_int_equal(truncate(path, 100), 0);
    assert_stats(0, 1, 0, 0);
    assert_false(compile(cache, NULL));
    assert_int_equal(tw_diag_count(diag), 1);
    assert_true(compile(cache, NULL));
    assert_stats(1, 0, 0, 0);
}

static void verify_finds_and_removes_damage(void **state) {
    (void)state;
    char path[192];
    uint8_t *bytes;
    tw_cache_stats stats;
    store(&key_a);
    store(&key_b);
    path_of(&key_a, path);
    size_t size = read_entry(&key_a, &bytes);
    bytes[size / 2] ^= 1;
    write_file(path, bytes, size);
    free(bytes);
    assert_stats(2, 0, 0, 0); /* stat reads no contents */
    tw_diag_clear(diag);
    assert_int_equal(tw_cache_verify(cache, false, &stats, diag), TW_OK);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.damaged, 1);
    assert_int_equal(tw_diag_count(diag), 1);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(tw_cache_verify(cache, true, &stats, diag), TW_OK);
    assert_int_equal(stats.damaged, 1);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(tw_cache_verify(cache, true, &stats, diag), TW_OK);
    assert_int_equal(stats.damaged, 0);
    assert_int_equal(load(&key_b), TW_OK);
}

/* ---- trust ---- */

typedef enum trap { BY_MODE, BY_OWNER, BY_LINK, BY_FIFO, BY_FOLDER } trap;

static void set_trap(trap kind, const char *path) {
    char elsewhere[128];
    switch (kind) {
    case BY_MODE: assert_int_equal(chmod(path, 0606), 0); break;
    case BY_OWNER: assert_int_equal(chown(path, 1, 1), 0); break;
    case BY_LINK:
        snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
        assert_int_equal(rename(path, elsewhere), 0);
        assert_int_equal(symlink(elsewhere, path), 0);
        break;
    case BY_FIFO:
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        break;
    case BY_FOLDER:
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        break;
    }
}

/* Not used, said so, compiled anew, and replaced by an entry of our own where that can be. */
static void check_trap(trap kind, const char *reason, bool replaced) {
    char path[192];
    tw_cache_key key = reference_key();
    path_of(&key, path);
    compile(cache, NULL);
    assert_true(compile(cache, NULL));
    set_trap(kind, path);
    assert_stats(0, 0, 1, 0);
    assert_false(compile(cache, NULL));
    assert_int_equal(tw_diag_count(diag), replaced ? 1 : 2);
    assert_non_null(strstr(tw_diag_get(diag, 0)->text, reason));
    assert_int_equal(compile(cache, NULL), replaced);
    if (replaced) assert_stats(1, 0, 0, 0);
}

static void entries_that_others_may_write_are_not_used(void **state) {
    (void)state;
    check_trap(BY_MODE, "others may write to it", true);
}

static void entries_of_others_are_not_used(void **state) {
    (void)state;
    if (geteuid() != 0) skip();
    check_trap(BY_OWNER, "it belongs to another user", true);
}

static void links_are_not_followed(void **state) {
    (void)state;
    char elsewhere[128];
    uint8_t *bytes;
    tw_cache_key key = reference_key();
    compile(cache, NULL);
    size_t size = read_entry(&key, &bytes);
    check_trap(BY_LINK, "it is a link", true);
    /* The link was replaced, not what it led to. */
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", folder);
    struct stat info;
    assert_int_equal(stat(elsewhere, &info), 0);
    assert_int_equal(info.st_size, size);
    free(bytes);
}

static void pipes_are_not_read(void **state) {
    (void)state;
    check_trap(BY_FIFO, "it is no regular file", true);
}

static void folders_are_no_entries(void **state) {
    (void)state;
    check_trap(BY_FOLDER, "it is no regular file", false);
}

static void refuses_folder(const char *text) {
    tw_cache *other;
    tw_cache_options options = {.directory = folder};
    tw_diag_clear(diag);
    assert_int_equal(tw_cache_open(&options, &other, diag), TW_ERR_INVALID);
    assert_null(other);
    assert_string_equal(tw_diag_first_error(diag), text);
}

static void folders_that_others_may_write_are_refused(void **state) {
    (void)state;
    assert_int_equal(chmod(folder, 0770), 0);
    refuses_folder("the cache must not be writable by group or others (got mode 0770)");
    assert_int_equal(chmod(folder, 0707), 0);
    refuses_folder("the cache must not be writable by group or others (got mode 0707)");
    assert_int_equal(chmod(folder, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(folder, 1, 1), 0);
        refuses_folder("the cache must belong to user 0 (got 1)");
    }
}

static void folders_behind_links_are_refused(void **state) {
    (void)state;
    char link_path[80];
    snprintf(link_path, sizeof link_path, "%s-link", folder);
    assert_int_equal(symlink(folder, link_path), 0);
    tw_cache *other;
    tw_cache_options options = {.directory = link_path};
    assert_int_equal(tw_cache_open(&options, &other, diag), TW_ERR_INVALID);
    assert_string_equal(tw_diag_first_error(diag), "the cache must be a folder (got a link or a file)");
    unlink(link_path);
}

/* ---- limits ---- */

static void store_aged(uint8_t number, int64_t age) {
    char path[192];
    tw_cache_key key = {{number}};
    store(&key);
    path_of(&key, path);
    if (access(path, F_OK) == 0) set_age(path, age);
}

static bool is_there(uint8_t number) {
    char path[192];
    tw_cache_key key = {{number}};
    path_of(&key, path);
    return access(path, F_OK) == 0;
}

static void the_least_recently_used_go_first(void **state) {
    (void)state;
    uint64_t entry = content_size + sizeof(tw_cache_header);
    tw_cache_close(cache);
    open_cache(4 * entry);
    store_aged(1, 4000);
    store_aged(2, 3000);
    store_aged(3, 2000);
    tw_cache_key used = {{1}};
    assert_int_equal(load(&used), TW_OK); /* now the most recently used */
    store_aged(4, 1000);
    assert_stats(4, 0, 0, 0);
    store_aged(5, 0);
    assert_true(is_there(1) && is_there(5));
    assert_false(is_there(2));
    assert_true(stats_now().bytes <= 4 * entry);
    /* By hand. */
    tw_cache_stats stats;
    assert_int_equal(tw_cache_prune(cache, 2 * entry, &stats, diag), TW_OK);
    assert_int_equal(stats.entries, 2);
    assert_int_equal(stats.bytes, 2 * entry);
    assert_true(is_there(1) && is_there(5));
    assert_int_equal(tw_cache_prune(cache, 0, &stats, diag), TW_OK);
    assert_int_equal(stats.entries, 0);
}

static void what_other_processes_stored_counts(void **state) {
    (void)state;
    uint64_t entry = content_size + sizeof(tw_cache_header);
    for (uint8_t i = 1; i <= 6; i++)
        store_aged(i, 1000 - i);
    tw_cache_close(cache);
    open_cache(3 * entry); /* knows of nothing before its first store */
    store_aged(7, 0);
    assert_true(stats_now().bytes <= 3 * entry);
    assert_true(is_there(7));
    assert_false(is_there(1));
}

static void an_entry_over_the_limit_is_not_stored(void **state) {
    (void)state;
    tw_cache_close(cache);
    open_cache(1000);
    assert_false(compile(cache, NULL));
    assert_int_equal(tw_diag_count(diag), 1);
    assert_non_null(strstr(tw_diag_text(diag), "warning: an entry must have at most 1000 bytes"));
    assert_stats(0, 0, 0, 0);
}

/* In a child with a file system of its own. 77: not permitted; else the line that failed, or 0. */
static int run_on_full_disk(void) {
#define MUST(condition) \
    if (!(condition)) return __LINE__ % 200 + 1 == 77 ? 78 : __LINE__ % 200 + 1
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("none", folder, "tmpfs", 0, "size=16k,mode=700"))
        return 77;
    tw_cache_close(cache);
    open_cache(0);
    unsigned stored = 0;
    for (uint8_t i = 1; i < 20; i++) { /* four pages hold three entries or so */
        tw_cache_key key = {{i}};
        tw_diag_clear(diag);
        store(&key);
        stored += tw_diag_count(diag) == 0;
    }
    MUST(stored > 0 && stored < 19);
    MUST(strstr(tw_diag_text(diag), "cannot be written: No space left on device"));
    tw_compile_times times;
    MUST(!compile(cache, &times)); /* the kernel is there all the same, with a warning */
    MUST(tw_diag_count(diag) == 1 && tw_diag_get(diag, 0)->severity == TW_SEVERITY_WARNING);
    tw_cache_stats stats;
    MUST(tw_cache_verify(cache, false, &stats, diag) == TW_OK);
    MUST(stats.entries == stored && stats.damaged == 0 && stats.temporary == 0);
    MUST(tw_cache_prune(cache, 0, &stats, diag) == TW_OK && stats.entries == 0);
    MUST(!compile(cache, NULL) && compile(cache, NULL)); /* room again */
    return 0;
#undef MUST
}

static void a_full_disk_costs_a_warning(void **state) {
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) _exit(run_on_full_disk());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_folder_that_vanished_costs_a_warning(void **state) {
    (void)state;
    assert_int_equal(rmdir(folder), 0);
    assert_false(compile(cache, NULL));
    assert_int_equal(tw_diag_count(diag), 1);
    assert_int_equal(tw_diag_get(diag, 0)->severity, TW_SEVERITY_WARNING);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_miss_then_hits),
        CASE(a_refused_program_is_not_stored),
        CASE(keys_depend_on_all_that_counts),
        CASE(folders_come_from_the_environment),
        CASE(limits_come_from_the_environment),
        CASE(sixteen_processes_race_on_one_key),
        CASE(threads_share_a_cache),
        CASE(killed_writers_leave_no_entry_but_a_whole_one),
        CASE(a_living_writer_keeps_its_file),
        CASE(every_flipped_bit_is_seen),
        CASE(every_truncation_is_seen),
        CASE(an_entry_under_another_name_is_seen),
        CASE(a_damaged_entry_is_rebuilt_and_reported),
        CASE(verify_finds_and_removes_damage),
        CASE(entries_that_others_may_write_are_not_used),
        CASE(entries_of_others_are_not_used),
        CASE(links_are_not_followed),
        CASE(pipes_are_not_read),
        CASE(folders_are_no_entries),
        CASE(folders_that_others_may_write_are_refused),
        CASE(folders_behind_links_are_refused),
        CASE(the_least_recently_used_go_first),
        CASE(what_other_processes_stored_counts),
        CASE(an_entry_over_the_limit_is_not_stored),
        CASE(a_full_disk_costs_a_warning),
        CASE(a_folder_that_vanished_costs_a_warning),
    };
    return cmocka_run_group_tests_name("cache", tests, open_compiler, close_compiler);
}
