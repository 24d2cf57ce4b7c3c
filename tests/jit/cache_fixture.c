#include "tests/jit/cache_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

tw_compiler *compiler;
tw_code_object *reference;
const uint8_t *content;
size_t content_size;
tw_target target;
tw_diag *diag;
char folder[64];
tw_cache *cache;
const tw_cache_key key_a = {{0xaa}}, key_b = {{0xbb}};

int open_compiler(void **state) {
    (void)state;
    tw_target_parse("gfx1201", &target, NULL);
    if (tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL)) return 1;
    if (tw_compile_llvm_ir(compiler, KERNEL_STORE, strlen(KERNEL_STORE), target, NULL, &reference, NULL))
        return 1;
    content = tw_code_object_bytes(reference, &content_size);
    return 0;
}

int close_compiler(void **state) {
    (void)state;
    tw_code_object_release(reference);
    tw_compiler_close(compiler);
    return 0;
}

void open_cache(uint64_t limit) {
    tw_cache_options options = {.directory = folder, .limit_bytes = limit};
    if (tw_cache_open(&options, &cache, diag)) fail_msg("%s", tw_diag_text(diag));
}

int begin(void **state) {
    (void)state;
    unsetenv("TILEWRIGHT_CACHE_DIR");
    unsetenv("TILEWRIGHT_CACHE_LIMIT");
    diag = tw_diag_new(NULL);
    strcpy(folder, "/tmp/tw-cache-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    open_cache(0);
    return 0;
}

int end(void **state) {
    (void)state;
    char command[96];
    tw_cache_close(cache);
    tw_diag_free(diag);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

void path_of(const tw_cache_key *key, char path[192]) {
    char name[TW_CACHE_NAME_SIZE];
    tw_cache_entry_name(key, name);
    snprintf(path, 192, "%s/%s", folder, name);
}

void write_file(const char *path, const void *bytes, size_t size) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
}

void store(const tw_cache_key *key) { tw_cache_store(cache, key, content, content_size, diag); }

bool is_reference(const tw_code_object *object) {
    size_t size;
    const void *bytes = tw_code_object_bytes(object, &size);
    return size == content_size && memcmp(bytes, content, size) == 0;
}

tw_status load(const tw_cache_key *key) {
    tw_code_object *object;
    tw_diag_clear(diag);
    tw_status status = tw_cache_load(cache, key, &object, diag);
    if (!status) assert_true(is_reference(object));
    tw_code_object_release(object);
    return status;
}

bool compile(tw_cache *through, tw_compile_times *times) {
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

void only_key(const char *in, tw_cache_key *key) {
    DIR *all = opendir(in);
    assert_non_null(all);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(all));)
        found += tw_cache_entry_key(entry->d_name, key);
    closedir(all);
    assert_int_equal(found, 1);
}

tw_cache_key reference_key(void) {
    char other_folder[] = "/tmp/tw-key-XXXXXX", command[96];
    assert_non_null(mkdtemp(other_folder));
    tw_cache *other;
    assert_int_equal(tw_cache_open(&(tw_cache_options){.directory = other_folder}, &other, diag), TW_OK);
    assert_false(compile(other, NULL));
    tw_cache_close(other);
    tw_cache_key key;
    only_key(other_folder, &key);
    snprintf(command, sizeof command, "rm -rf %s", other_folder);
    assert_int_equal(system(command), 0);
    return key;
}

tw_cache_stats stats_now(void) {
    tw_cache_stats stats;
    assert_int_equal(tw_cache_stat(cache, &stats, diag), TW_OK);
    return stats;
}

void assert_stats(uint64_t entries, uint64_t damaged, uint64_t untrusted, uint64_t temporary) {
    tw_cache_stats stats = stats_now();
    assert_int_equal(stats.entries, entries);
    assert_int_equal(stats.damaged, damaged);
    assert_int_equal(stats.untrusted, untrusted);
    assert_int_equal(stats.temporary, temporary);
}

void set_age(const char *path, int64_t seconds) {
    struct timespec now, times[2];
    clock_gettime(CLOCK_REALTIME, &now);
    times[0] = times[1] = (struct timespec){now.tv_sec - seconds, 0};
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

size_t read_entry(const tw_cache_key *key, uint8_t **bytes) {
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
