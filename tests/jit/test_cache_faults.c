/* The kernel cache when things go wrong: killed writers, damage, entries of others, a full disk. The right
 * kernel or a clear word each time, and nothing lost. */
#include "tests/jit/cache_fixture.h"

#include <dirent.h>
#include <fcntl.h>
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

static void a_leftover_from_the_future_is_removed(void **state) {
    (void)state;
    char path[128];
    tw_cache_stats stats;
    snprintf(path, sizeof path, "%s/" TW_CACHE_TEMPORARY "1-2-3", folder);
    write_file(path, "half", 4);
    set_age(path, -400000); /* the clock was set back since */
    assert_int_equal(tw_cache_prune(cache, UINT64_MAX, &stats, diag), TW_OK);
    assert_int_equal(access(path, F_OK), -1);
}

/* Somebody may name a folder that has files of their own. */
static void files_of_other_names_stay(void **state) {
    (void)state;
    static const char *const names[] = {"tmp-",          "tmp-notes.txt", "tmp-1-2",
                                        "tmp-1-2-3.txt", "tmp-1-2-3-4",   "tmp-1-2-3-",
                                        "tmp--1-2-3",    "tmp-2-word-3",  "notes.co"};
    char path[128];
    tw_cache_stats stats;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        write_file(path, "mine", 4);
        set_age(path, 3600);
    }
    assert_stats(0, 0, 0, 0);
    store(&key_a);
    assert_int_equal(tw_cache_prune(cache, 0, &stats, diag), TW_OK);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (access(path, F_OK)) fail_msg("%s was removed", names[i]);
    }
}

/* ---- damage ---- */

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

/* A whole entry, but of another program: the key says what was asked for, not what is there. */
static void code_for_another_target_is_no_hit(void **state) {
    (void)state;
    tw_target other;
    tw_code_object *object;
    size_t size;
    tw_cache_key key = reference_key();
    assert_int_equal(tw_target_parse("gfx1200", &other, NULL), TW_OK);
    assert_int_equal(
        tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), other, NULL, &object, diag), TW_OK);
    const void *bytes = tw_code_object_bytes(object, &size);
    tw_cache_store(cache, &key, bytes, size, diag);
    tw_code_object_release(object);
    assert_false(compile(cache, NULL));
    assert_true(compile(cache, NULL));
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

/* Only what was read and is wrong is damage. */
static void verify_keeps_what_it_cannot_judge(void **state) {
    (void)state;
    char path[192];
    tw_cache_stats stats;
    uint8_t *other = malloc(content_size);
    memcpy(other, content, content_size);
    other[48] = 0xff; /* e_flags: the processor of another version of this library */
    tw_cache_store(cache, &key_a, other, content_size, diag);
    free(other);
    path_of(&key_a, path);
    tw_diag_clear(diag);
    assert_int_equal(tw_cache_verify(cache, true, &stats, diag), TW_OK);
    assert_int_equal(stats.entries, 1);
    assert_int_equal(stats.damaged, 0);
    assert_int_equal(tw_diag_count(diag), 0);
    assert_int_equal(access(path, F_OK), 0);
#if !defined(TW_ASAN)
    assert_int_equal(truncate(path, (off_t)1 << 30), 0);
    struct rlimit before;
    getrlimit(RLIMIT_AS, &before);
    setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 30, before.rlim_max}); /* no room to read it */
    tw_status status = tw_cache_verify(cache, true, &stats, diag);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(status, TW_OK);
    assert_int_equal(stats.entries, 0);
    assert_int_equal(stats.damaged, 0);
    assert_int_equal(stats.untrusted, 1);
    assert_non_null(strstr(tw_diag_text(diag), "cannot be checked: memory is out"));
    assert_int_equal(access(path, F_OK), 0);
#endif
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
    for (unsigned slashes = 0; slashes < 3; slashes++) { /* a slash behind a link's name follows it */
        tw_cache *other;
        tw_cache_options options = {.directory = link_path};
        tw_diag_clear(diag);
        tw_status status = tw_cache_open(&options, &other, diag);
        if (slashes == 2) unlink(link_path);
        strcat(link_path, "/");
        assert_int_equal(status, TW_ERR_INVALID);
        assert_string_equal(tw_diag_first_error(diag), "the cache must be a folder (got a link or a file)");
    }
}

/* ---- disks ---- */

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

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(killed_writers_leave_no_entry_but_a_whole_one),
        CASE(a_living_writer_keeps_its_file),
        CASE(a_leftover_from_the_future_is_removed),
        CASE(files_of_other_names_stay),
        CASE(every_flipped_bit_is_seen),
        CASE(every_truncation_is_seen),
        CASE(an_entry_under_another_name_is_seen),
        CASE(code_for_another_target_is_no_hit),
        CASE(a_damaged_entry_is_rebuilt_and_reported),
        CASE(verify_finds_and_removes_damage),
        CASE(verify_keeps_what_it_cannot_judge),
        CASE(entries_that_others_may_write_are_not_used),
        CASE(entries_of_others_are_not_used),
        CASE(links_are_not_followed),
        CASE(pipes_are_not_read),
        CASE(folders_are_no_entries),
        CASE(folders_that_others_may_write_are_refused),
        CASE(folders_behind_links_are_refused),
        CASE(a_full_disk_costs_a_warning),
        CASE(a_folder_that_vanished_costs_a_warning),
    };
    return cmocka_run_group_tests_name("cache faults", tests, open_compiler, close_compiler);
}
