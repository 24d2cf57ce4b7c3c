/* The kernel cache in ordinary use: hits, keys, many users at once, the limit. */
#include "tests/jit/cache_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
    tw_cache_key keys[9];
    const uint8_t builds[TW_SHA256_BYTES] = {1}, others[TW_SHA256_BYTES] = {2};
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &keys[0]);
    tw_cache_key_of("texu", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &keys[1]);
    tw_cache_key_of("text", 3, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &keys[2]);
    tw_cache_key_of("text", 4, other, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &keys[3]);
    tw_cache_key_of("text", 4, wide, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &keys[4]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM21, 3, "llvm 22.1.8", builds, &keys[5]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 2, "llvm 22.1.8", builds, &keys[6]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.9", builds, &keys[7]);
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", others, &keys[8]);
    for (size_t i = 0; i < 9; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(&keys[i], &keys[j], sizeof keys[i]);
    tw_cache_key again;
    tw_cache_key_of("text", 4, target, TW_FLAVOR_LLVM22, 3, "llvm 22.1.8", builds, &again);
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

static void what_others_store_meanwhile_counts_in_time(void **state) {
    (void)state;
    enum { LIMIT = 80, OTHERS = 100, OWN = 65 };
    uint64_t entry = content_size + sizeof(tw_cache_header);
    tw_cache *other = cache;
    open_cache(LIMIT * entry);
    store_aged(0, 5000);
    for (uint8_t i = 0; i < OTHERS; i++)
        tw_cache_store(other, &(tw_cache_key){{i, 1}}, content, content_size, diag);
    for (uint8_t i = 1; i < OWN; i++) /* by itself it would stay below the limit */
        store_aged(i, 0);
    assert_true(stats_now().bytes <= LIMIT * entry);
    tw_cache_close(other);
}

static int64_t age_of(uint8_t number) {
    char path[192];
    struct stat info;
    path_of(&(tw_cache_key){{number}}, path);
    assert_int_equal(stat(path, &info), 0);
    return (int64_t)time(NULL) - info.st_mtim.tv_sec;
}

static void uses_are_noted_by_the_minute(void **state) {
    (void)state;
    store_aged(1, 30);
    assert_int_equal(load(&(tw_cache_key){{1}}), TW_OK);
    assert_in_range(age_of(1), 29, 50);
    store_aged(1, 90);
    assert_int_equal(load(&(tw_cache_key){{1}}), TW_OK);
    assert_in_range(age_of(1), 0, 20);
}

/* A clock that was ahead and was set right: what it dated is used and makes room like all else. */
static void entries_from_the_future_make_room(void **state) {
    (void)state;
    uint64_t entry = content_size + sizeof(tw_cache_header);
    tw_cache_close(cache);
    open_cache(4 * entry);
    store_aged(1, -400000);
    store_aged(2, -300000);
    store_aged(3, -200000);
    store_aged(4, 1000);
    tw_cache_key used = {{1}};
    assert_int_equal(load(&used), TW_OK); /* it was used now, whatever the clock said */
    store_aged(5, 0);
    assert_true(is_there(1) && is_there(4) && is_there(5));
    assert_false(is_there(2) || is_there(3));
}

static void a_large_entry_stays_when_others_make_room_for_it(void **state) {
    (void)state;
    uint64_t entry = content_size + sizeof(tw_cache_header);
    tw_cache_close(cache);
    open_cache(entry + entry / 32); /* the slack below the limit is less than the entry */
    store_aged(1, 1000);
    store_aged(2, 0);
    assert_false(is_there(1));
    assert_true(is_there(2));
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

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_miss_then_hits),
        CASE(a_refused_program_is_not_stored),
        CASE(keys_depend_on_all_that_counts),
        CASE(folders_come_from_the_environment),
        CASE(limits_come_from_the_environment),
        CASE(sixteen_processes_race_on_one_key),
        CASE(threads_share_a_cache),
        CASE(the_least_recently_used_go_first),
        CASE(what_other_processes_stored_counts),
        CASE(what_others_store_meanwhile_counts_in_time),
        CASE(uses_are_noted_by_the_minute),
        CASE(entries_from_the_future_make_room),
        CASE(a_large_entry_stays_when_others_make_room_for_it),
        CASE(an_entry_over_the_limit_is_not_stored),
    };
    return cmocka_run_group_tests_name("cache", tests, open_compiler, close_compiler);
}
