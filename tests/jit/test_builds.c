/* Which build compiles: sets of builds, what the loader reports, and the cache's entries of compilers that
 * differ in nothing else. */
#include "tests/jit/cache_fixture.h"

#include <dlfcn.h>
#include <elf.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jit/backend.h"
#include "jit/builds_internal.h"
#include "jit/file.h"
#include "jit/lld_shim.h"
#include "jit/loader_report.h"

#define REAL_TOOLS LLVM_BINDIR

typedef struct digest {
    uint8_t bytes[TW_SHA256_BYTES];
} digest;

static digest digest_of(tw_builds *builds) {
    digest d;
    tw_builds_digest(builds, d.bytes);
    tw_builds_free(builds);
    return d;
}

static digest of_file(const char *path) {
    tw_builds builds = {0};
    if (tw_builds_add_file(&builds, path, diag)) fail_msg("%s", tw_diag_text(diag));
    return digest_of(&builds);
}

static digest of_function(uintptr_t function) {
    tw_builds builds = {0};
    if (tw_builds_add_loaded(&builds, function, diag)) fail_msg("%s", tw_diag_text(diag));
    return digest_of(&builds);
}

static bool same(digest a, digest b) { return !memcmp(&a, &b, sizeof a); }

static char *in_folder(const char *name) {
    char *path;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

static void write_mode(const char *name, const void *bytes, size_t size, mode_t mode) {
    char *path = in_folder(name);
    write_file(path, bytes, size);
    assert_int_equal(chmod(path, mode), 0);
    free(path);
}

static int run_shell(const char *format, ...) {
    char *command;
    va_list arguments;
    va_start(arguments, format);
    assert_true(vasprintf(&command, format, arguments) > 0);
    va_end(arguments);
    int ended = system(command);
    free(command);
    return ended;
}

/* ---- files ---- */

/* Where the build ID of a file in memory is: the note, 16 bytes before it. */
static uint8_t *find_id(uint8_t *bytes, size_t size) {
    static const uint8_t head[] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
    uint8_t *note = memmem(bytes, size, head, sizeof head);
    return note ? note + sizeof head : NULL;
}

static void a_file_is_known_by_its_build_id_or_its_content(void **state) {
    (void)state;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(tw_file_read("/proc/self/exe", 1u << 30, &bytes, &size, diag), TW_OK);
    uint8_t *id = find_id(bytes, size);
    if (!id) {
        free(bytes);
        skip(); /* a linker that gives none */
    }
    char *copy = in_folder("copy"), *link = in_folder("link");
    digest original = of_file("/proc/self/exe");
    write_mode("copy", bytes, size, 0700);
    assert_int_equal(symlink("copy", link), 0);
    assert_true(same(of_file(copy), original));
    assert_true(same(of_file(link), original));
    bytes[size - 1] ^= 1; /* the file is not read for its digest */
    write_mode("copy", bytes, size, 0700);
    assert_true(same(of_file(copy), original));
    assert_int_equal(run_shell("echo more >>%s", copy), 0);
    assert_false(same(of_file(copy), original));
    id[19] ^= 1;
    write_mode("copy", bytes, size, 0700);
    assert_false(same(of_file(copy), original));
    /* Without one every byte counts: the last is in the table of sections. */
    id[-8] ^= 0x40;
    write_mode("copy", bytes, size, 0700);
    digest without = of_file(copy);
    bytes[size - 1] ^= 1;
    write_mode("copy", bytes, size, 0700);
    assert_false(same(of_file(copy), without));
    free(copy);
    free(link);
    free(bytes);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    tw_builds builds = {0};
    const char *const paths[] = {"/nonexistent", "/", "/dev/zero"};
    for (size_t i = 0; i < 3; i++) {
        tw_diag_clear(diag);
        assert_int_equal(tw_builds_add_file(&builds, paths[i], diag), TW_ERR_IO);
        assert_string_equal(tw_diag_get(diag, 0)->where, paths[i]);
    }
    assert_int_equal(builds.count, 0);
    assert_false(tw_file_is_dynamic("/nonexistent"));
    assert_true(tw_file_is_dynamic("/bin/sh"));
    write_mode("script", "#!/bin/sh\n", 10, 0700);
    char *script = in_folder("script");
    assert_false(tw_file_is_dynamic(script));
    free(script);
}

/* Notes of any bytes: nothing outside is read (AddressSanitizer sees it), nothing false is found. */
static void notes_are_not_trusted(void **state) {
    (void)state;
    static const struct {
        uint32_t words[8];
        size_t size;
        bool found;
    } rows[] = {
        {{4, 4, NT_GNU_BUILD_ID, 0x554e47, 0x12345678}, 20, true},
        {{4, 4, NT_GNU_ABI_TAG, 0x554e47, 1, 0, 0, 0}, 32, false},
        {{4, 0, NT_GNU_ABI_TAG, 0x554e47, 4, 0, NT_GNU_BUILD_ID, 0x554e47}, 32, false},
        {{4, 5, NT_GNU_BUILD_ID, 0x554e47, 0x12345678}, 20, false},
        {{4, ~0u, NT_GNU_BUILD_ID, 0x554e47, 0x12345678}, 20, false},
        {{~0u, 4, NT_GNU_BUILD_ID, 0x554e47, 0x12345678}, 20, false},
        {{4, 4, NT_GNU_BUILD_ID, 0x564e47, 0x12345678}, 20, false},
        {{4, 4, NT_GNU_BUILD_ID}, 12, false},
        {{4, 4}, 8, false},
        {{0}, 0, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *notes = malloc(rows[i].size + 1);
        memcpy(notes, rows[i].words, rows[i].size);
        uint8_t *exact = realloc(notes, rows[i].size ? rows[i].size : 1);
        for (size_t align = 4; align <= 8; align += 4) {
            tw_sha256 sha;
            tw_sha256_init(&sha);
            assert_int_equal(tw_build_id_find(exact, rows[i].size, align, &sha), rows[i].found);
        }
        free(exact);
    }
}

static void sets_have_no_order(void **state) {
    (void)state;
    const char *const lists[][4] = {{"a", "b", "c"}, {"c", "a", "b", "a"}, {"a", "b"}, {"a", "bc"}, {0}};
    digest digests[5];
    for (int i = 0; i < 5; i++) {
        tw_builds builds = {0};
        for (int k = 0; k < 4 && lists[i][k]; k++)
            assert_int_equal(tw_builds_add_text(&builds, lists[i][k], diag), TW_OK);
        digests[i] = digest_of(&builds);
    }
    assert_true(same(digests[0], digests[1]));
    for (int i = 1; i < 5; i++)
        for (int k = 1; k < i; k++)
            assert_false(same(digests[i], digests[k]));
}

/* ---- this process ---- */

static void functions_lead_to_their_library(void **state) {
    (void)state;
    digest llvm = of_function((uintptr_t)LLVMContextCreate), own = of_function((uintptr_t)open_compiler);
    assert_true(same(of_function((uintptr_t)LLVMGetVersion), llvm));
    assert_false(same(own, llvm));
    tw_builds builds = {0};
    assert_int_equal(tw_builds_add_loaded(&builds, 0, diag), TW_ERR_NOT_FOUND);
    tw_builds_free(&builds);
}

/* The digest of a library that a process of its own opens: in one process a name leads to one library. */
static digest of_library(const char *in) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s/libneeding.so", folder, in);
    int pipes[2];
    digest d;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (!child) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        void *function = library ? dlsym(library, "needing") : NULL;
        tw_builds builds = {0};
        if (!function || tw_builds_add_loaded(&builds, (uintptr_t)function, NULL)) _exit(1);
        d = digest_of(&builds);
        _exit(write(pipes[1], &d, sizeof d) != sizeof d);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_int_equal(read(pipes[0], &d, sizeof d), sizeof d);
    close(pipes[0]);
    close(pipes[1]);
    return d;
}

/* The same library beside two builds of one that it needs, as comgr beside two of libLLVM. */
static void needed_libraries_count(void **state) {
    (void)state;
    assert_int_equal(run_shell("cd %s && mkdir one two && cp %s one && cp %s one && cp one/* two", folder,
                               NEEDING, NEEDED),
                     0);
    assert_true(same(of_library("one"), of_library("two")));
    uint8_t *bytes;
    size_t size;
    assert_int_equal(tw_file_read(NEEDED, 1u << 20, &bytes, &size, diag), TW_OK);
    uint8_t *id = find_id(bytes, size);
    assert_non_null(id); /* its linker was asked for one */
    id[0] ^= 1;
    write_mode("two/libneeded.so", bytes, size, 0700);
    assert_false(same(of_library("one"), of_library("two")));
    /* And without an ID, which memory cannot tell: their files. */
    id[-8] ^= 0x40;
    write_mode("one/libneeded.so", bytes, size, 0700);
    write_mode("two/libneeded.so", bytes, size, 0700);
    assert_true(same(of_library("one"), of_library("two")));
    bytes[size - 1] ^= 1;
    write_mode("two/libneeded.so", bytes, size, 0700);
    assert_false(same(of_library("one"), of_library("two")));
    free(bytes);
}

static digest of_backend(tw_backend *backend) {
    tw_builds builds = {0};
    if (backend->functions->builds(backend, &builds, diag)) fail_msg("%s", tw_diag_text(diag));
    backend->functions->close(backend);
    return digest_of(&builds);
}

static void back_ends_name_what_compiles(void **state) {
    (void)state;
    tw_backend *backend;
    assert_int_equal(tw_llvm_backend_open(&backend, diag), TW_OK);
    tw_builds builds = {0}; /* libLLVM, and lld, which is a part of this program */
    assert_int_equal(tw_builds_add_loaded(&builds, (uintptr_t)LLVMContextCreate, diag), TW_OK);
    assert_int_equal(tw_builds_add_text(&builds, tw_lld_build, diag), TW_OK);
    assert_true(same(of_backend(backend), digest_of(&builds)));
    assert_int_equal(strlen(tw_lld_build), TW_SHA256_HEX_SIZE - 1);
    const char *const paths[] = {FAKE_COMGR, FAKE_COMGR2};
    digest digests[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tw_comgr_backend_open(paths[i], &backend, diag), TW_OK);
        digests[i] = of_backend(backend);
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        assert_true(same(digests[i], of_function((uintptr_t)dlsym(library, "amd_comgr_do_action"))));
        dlclose(library);
    }
    assert_false(same(digests[0], digests[1]));
}

/* ---- what the loader reports ---- */

static void reports_are_taken_out_of_what_is_printed(void **state) {
    (void)state;
    char words[] =
        "first\n     12:\tfind library=libx.so [0]; searching\n     12:\t\n"
        "     12:\tcalling init: /lib/libx.so\n  123456:\tcalling init: /lib/libx.so\n"
        "middle\n     12:\tinitialize program: /bin/x y\n     12:\tcalling fini: /lib/libz.so [0]\n"
        "12: error: no tab\nlast";
    tw_strbuf paths;
    tw_strbuf_init(&paths, NULL);
    assert_true(tw_loader_take_report(words, &paths));
    assert_string_equal(words, "first\nmiddle\n12: error: no tab\nlast");
    static const char expected[] = "/lib/libx.so\0/bin/x y";
    assert_int_equal(paths.length, sizeof expected);
    assert_memory_equal(paths.text, expected, sizeof expected);
    assert_false(tw_loader_take_report(words, &paths));
    assert_int_equal(paths.length, sizeof expected);
    tw_strbuf_clear(&paths);
    char bare[] = "1:\tinitialize program: sh\n1:\tinitialize program: no-such-program\n";
    assert_true(tw_loader_take_report(bare, &paths));
    assert_string_equal(bare, "");
    assert_true(paths.text[0] == '/' && strlen(paths.text) > 3);
    assert_string_equal(paths.text + strlen(paths.text) - 3, "/sh");
    assert_string_equal(paths.text + strlen(paths.text) + 1, "no-such-program");
    tw_strbuf_free(&paths);
}

/* ---- compilers of one version ---- */

static void make_script(const char *path, const char *text) { write_mode(path, text, strlen(text), 0700); }

/* A folder of scripts that start the real programs, llc with more options. */
static void make_tools(const char *in, const char *more) {
    static const char *const names[] = {"opt", "llc", "ld.lld"};
    char text[256], path[64];
    char *made = in_folder(in);
    if (access(made, F_OK)) assert_int_equal(mkdir(made, 0700), 0);
    free(made);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", in, names[i]);
        snprintf(text, sizeof text, "#!/bin/sh\nexec " REAL_TOOLS "/%s \"$@\"%s\n", names[i],
                 i == 1 ? more : "");
        make_script(path, text);
    }
}

static bool no_tools(void) {
    return access(REAL_TOOLS "/opt", X_OK) || access(REAL_TOOLS "/llc", X_OK) ||
           access(REAL_TOOLS "/ld.lld", X_OK);
}

/* Through the cache with a compiler opened for this; whether it was a hit. */
static bool compile_with(const char *in, tw_code_object **object) {
    char *path = in[0] == '/' ? strdup(in) : in_folder(in);
    tw_compiler *tools;
    tw_compile_times times;
    tw_compile_options options = {.cache = cache, .times = &times};
    tw_diag_clear(diag);
    if (tw_compiler_open_path(TW_COMPILER_TOOLS, path, &tools, diag) ||
        tw_compile_llvm_ir(tools, KERNEL_STORE, strlen(KERNEL_STORE), target, &options, object, diag))
        fail_msg("%s", tw_diag_text(diag));
    tw_compiler_close(tools);
    free(path);
    return times.cache_hit;
}

static bool hits_with(const char *in) {
    tw_code_object *object;
    bool hit = compile_with(in, &object);
    tw_code_object_release(object);
    return hit;
}

static void two_folders_of_one_version_share_nothing(void **state) {
    (void)state;
    if (no_tools()) skip();
    tw_code_object *plain, *patched, *again;
    make_tools("plain", "");
    make_tools("patched", " -amdgpu-snop-padding=1");
    assert_false(compile_with("plain", &plain));
    assert_false(compile_with("patched", &patched));
    assert_true(compile_with("patched", &again));
    size_t size, patched_size, again_size;
    const void *bytes = tw_code_object_bytes(plain, &size);
    const void *others = tw_code_object_bytes(patched, &patched_size);
    assert_true(size != patched_size || memcmp(bytes, others, size) != 0);
    const void *cached = tw_code_object_bytes(again, &again_size);
    assert_int_equal(again_size, patched_size);
    assert_memory_equal(cached, others, again_size);
    tw_code_object_release(plain);
    tw_code_object_release(patched);
    tw_code_object_release(again);
    char *link = in_folder("link");
    assert_int_equal(symlink("plain", link), 0);
    free(link);
    assert_true(hits_with("link"));
    make_tools("plain", " "); /* the folder changes under its name */
    assert_false(hits_with("plain"));
    make_tools("copy", "");
    assert_true(hits_with("copy"));
    assert_false(hits_with(REAL_TOOLS));
    assert_true(hits_with(REAL_TOOLS));
    assert_int_equal(tw_diag_count(diag), 0);
}

/* The scripts stay as they are; what they start is another build. */
static void programs_behind_scripts_count(void **state) {
    (void)state;
    if (no_tools()) skip();
    uint8_t *bytes;
    size_t size;
    assert_int_equal(tw_file_read(REAL_TOOLS "/llc", 1u << 30, &bytes, &size, diag), TW_OK);
    uint8_t *id = find_id(bytes, size);
    if (!id) {
        free(bytes);
        skip();
    }
    make_tools("tools", "");
    char *script;
    assert_true(asprintf(&script, "#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s/llc-real \"$@\"\n", LLVM_LIBDIR,
                         folder) > 0);
    make_script("tools/llc", script);
    free(script);
    write_mode("llc-real", bytes, size, 0700);
    assert_false(hits_with("tools"));
    assert_true(hits_with("tools"));
    id[3] ^= 1;
    write_mode("llc-real", bytes, size, 0700);
    assert_false(hits_with("tools"));
    free(bytes);
}

/* Better no cache than an entry of one does not know what. */
static void without_a_known_build_there_is_no_cache(void **state) {
    (void)state;
    if (no_tools()) skip();
    make_tools("tools", "");
    char *script;
    assert_true(asprintf(&script,
                         "#!/bin/sh\ncp /bin/true %s/gone\n%s/gone\nrm %s/gone\nexec " REAL_TOOLS
                         "/llc \"$@\"\n",
                         folder, folder, folder) > 0);
    make_script("tools/llc", script);
    free(script);
    for (int i = 0; i < 2; i++) {
        assert_false(hits_with("tools"));
        assert_int_equal(tw_diag_count(diag), 1);
        assert_int_equal(tw_diag_get(diag, 0)->severity, TW_SEVERITY_WARNING);
        assert_memory_equal(tw_diag_get(diag, 0)->text, "not used, for it is not known which build of llvm ",
                            49);
    }
    assert_int_equal(stats_now().entries, 0);
}

/* For a program with another user's rights the loader reports nothing. */
static void what_the_loader_does_not_tell_is_not_known(void **state) {
    (void)state;
    if (no_tools() || geteuid()) skip();
    make_tools("tools", "");
    char *llc = in_folder("tools/llc"), *text;
    assert_int_equal(run_shell("cp " REAL_TOOLS "/llc %s && chown 65534 %s && chmod 4755 %s", llc, llc, llc),
                     0);
    tw_backend *backend;
    if (run_shell("%s --version >/dev/null 2>&1", llc)) {
        free(llc);
        skip(); /* its libraries are not where such programs may look */
    }
    char *tools = in_folder("tools");
    assert_int_equal(tw_tools_backend_open(tools, &backend, diag), TW_OK);
    tw_builds builds = {0};
    assert_int_equal(backend->functions->builds(backend, &builds, diag), TW_ERR_NOT_FOUND);
    assert_true(asprintf(&text, "the dynamic loader must report what it loads for %s", llc) > 0);
    assert_string_equal(tw_diag_first_error(diag), text);
    backend->functions->close(backend);
    tw_builds_free(&builds);
    free(text);
    free(tools);
    free(llc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(a_file_is_known_by_its_build_id_or_its_content),
        CASE(what_is_no_file_is_refused),
        CASE(notes_are_not_trusted),
        CASE(sets_have_no_order),
        CASE(functions_lead_to_their_library),
        CASE(needed_libraries_count),
        CASE(back_ends_name_what_compiles),
        CASE(reports_are_taken_out_of_what_is_printed),
        CASE(two_folders_of_one_version_share_nothing),
        CASE(programs_behind_scripts_count),
        CASE(without_a_known_build_there_is_no_cache),
        CASE(what_the_loader_does_not_tell_is_not_known),
    };
    return cmocka_run_group_tests_name("builds", tests, open_compiler, close_compiler);
}
