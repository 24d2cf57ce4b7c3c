/* Printing and parsing: print -> parse -> print is the identity, and the text's liberties lead to one form.
 */
#include "tests/test.h"

#include <dirent.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tests/ir/all_ops.h"
#include "tests/ir/doc_block.h"

static const char *data_dir, *guide;

static const char *const targets[] = {"gfx90a:xnack-", "gfx942",  "gfx950",  "gfx1100:wave64",
                                      "gfx1151",       "gfx1200", "gfx1201", "gfx1250"};
#define TARGET_COUNT (sizeof targets / sizeof targets[0])

static tw_target target_named(const char *name) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    return target;
}

static char *print(const tw_kernel *kernel) {
    char *text;
    size_t length;
    assert_int_equal(tw_kernel_to_text(kernel, &text, &length, NULL), TW_OK);
    assert_int_equal(strlen(text), length);
    return text;
}

static tw_kernel *parse(tw_context *ctx, const char *text, const tw_parse_options *options) {
    tw_kernel *kernel;
    if (tw_kernel_parse(ctx, text, strlen(text), options, &kernel))
        fail_msg("%s%s", tw_context_diagnostics(ctx), text);
    return kernel;
}

static char *reprinted(const char *text) {
    tw_context *ctx = tw_context_new(NULL);
    char *again = print(parse(ctx, text, NULL));
    tw_context_free(ctx);
    return again;
}

static void builder_text_round_trips(void **state) {
    (void)state;
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        for (size_t k = 0; k < all_ops_count(); k++) {
            tw_context *ctx = tw_context_new(NULL);
            tw_kernel *kernel = all_ops_build(ctx, target_named(targets[t]), k);
            if (!kernel) fail_msg("%s: %s", all_ops_name(k), tw_context_diagnostics(ctx));
            char *text = print(kernel);
            char *again = reprinted(text);
            assert_string_equal(again, text);
            free(again);
            free(text);
            tw_context_free(ctx);
        }
    }
}

static void mark_ops(const tw_block *block, bool *seen) {
    for (const tw_op *op = block->first; op; op = op->next) {
        seen[op->opcode] = true;
        for (uint32_t i = 0; i < op->block_count; i++)
            mark_ops(&op->blocks[i], seen);
    }
}

static void all_rows_are_covered(void **state) {
    (void)state;
    bool seen[TW_OPCODE_LIMIT] = {false};
    tw_context *ctx = tw_context_new(NULL);
    /* No target has the copies of both generations. */
    static const char *const both[] = {"gfx950", "gfx1250"};
    for (size_t k = 0; k < 2 * all_ops_count(); k++) {
        tw_kernel *kernel = all_ops_build(ctx, target_named(both[k % 2]), k / 2);
        assert_non_null(kernel);
        mark_ops(&kernel->body, seen);
    }
    for (int opcode = 0; opcode < TW_OPCODE_LIMIT; opcode++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
        if (row && !seen[opcode]) fail_msg("no kernel uses %s", row->name);
    }
    tw_context_free(ctx);
}

static char *read_file(const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", data_dir, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("cannot read %s", path);
    char *text = calloc(1, 1 << 16);
    size_t length = fread(text, 1, (1 << 16) - 1, file);
    assert_true(length < (1 << 16) - 1);
    fclose(file);
    return text;
}

/* Each data/NAME.tir prints as data/NAME.out, and that as itself. */
static void files_print_canonically(void **state) {
    (void)state;
    unsigned pairs = 0;
    DIR *directory = opendir(data_dir);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".tir")) continue;
        char out_name[256];
        snprintf(out_name, sizeof out_name, "%.*s.out", (int)(dot - entry->d_name), entry->d_name);
        char *source = read_file(entry->d_name), *expected = read_file(out_name);
        char *canonical = reprinted(source);
        assert_string_equal(canonical, expected);
        char *again = reprinted(canonical);
        assert_string_equal(again, expected);
        free(again);
        free(canonical);
        free(expected);
        free(source);
        pairs++;
    }
    closedir(directory);
    assert_true(pairs >= 3);
}

static void the_guide_is_valid(void **state) {
    (void)state;
    size_t count = 0;
    for (char *block; (block = doc_block(guide, count)); count++) {
        char *canonical = reprinted(block), *again = reprinted(canonical);
        assert_string_equal(again, canonical);
        if (!count) {
            char *example = read_file("accumulate.tir");
            assert_string_equal(block, example);
            free(example);
        }
        free(again);
        free(canonical);
        free(block);
    }
    assert_true(count >= 3);
}

static void text_is_the_same_in_a_comma_locale(void **state) {
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        print_message("skipped: locale de_DE.UTF-8 is not installed\n");
        skip();
    }
    char number[16];
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5");
    char *source = read_file("canonical.tir"), *expected = read_file("canonical.out");
    char *canonical = reprinted(source);
    setlocale(LC_ALL, "C");
    assert_string_equal(canonical, expected);
    free(canonical);
    free(expected);
    free(source);
}

static void an_option_replaces_the_target(void **state) {
    (void)state;
    static const char text[] = "tile.kernel @k target(\"gfx9999\") workgroup(64) () { return }";
    static const char without[] = "tile.kernel @k workgroup(64) () { return }";
    tw_target target = target_named("gfx1201");
    tw_parse_options options = {.target = &target};
    tw_context *ctx = tw_context_new(NULL);
    assert_true(tw_target_equal(tw_kernel_target(parse(ctx, text, &options)), target));
    assert_true(tw_target_equal(tw_kernel_target(parse(ctx, without, &options)), target));
    tw_context_free(ctx);
}

/* Values that want one name get suffixes in program order. */
static void names_are_made_unique(void **state) {
    (void)state;
    static const char *const wanted[] = {"a_1", "a", "a", "a", "a_1", NULL, "_9.$", NULL};
    static const char *const expected[] = {"a_1", "a", "a_2", "a_3", "a_1_1", "0", "_9.$", "1"};
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel_options options = {.workgroup_size = 64};
    tw_builder *b = tw_kernel_begin(ctx, "names", target_named("gfx950"), &options);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        tw_value value = tw_workitem_id(b, 0);
        if (wanted[i]) tw_name(b, value, wanted[i]);
    }
    tw_kernel *kernel = tw_kernel_end(b);
    assert_non_null(kernel);
    char *text = print(kernel);
    const char *at = strchr(text, '\n') + 1;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        char line[64];
        snprintf(line, sizeof line, "  %%%s = gpu.workitem_id x : i32\n", expected[i]);
        assert_memory_equal(at, line, strlen(line));
        at += strlen(line);
    }
    char *again = reprinted(text);
    assert_string_equal(again, text);
    free(again);
    free(text);
    tw_context_free(ctx);
}

/* A long name with a suffix must still be a name that the parser takes. */
static void long_names_are_cut(void **state) {
    (void)state;
    for (size_t length = 240; length <= 255; length++) {
        char name[256] = "";
        memset(name, 'n', length);
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel_options options = {.workgroup_size = 64};
        tw_builder *b = tw_kernel_begin(ctx, "names", target_named("gfx950"), &options);
        for (int i = 0; i < 20; i++) {
            tw_value value = tw_workitem_id(b, 0);
            tw_name(b, value, name);
        }
        tw_kernel *kernel = tw_kernel_end(b);
        assert_non_null(kernel);
        char *text = print(kernel);
        char *again = reprinted(text);
        assert_string_equal(again, text);
        free(again);
        free(text);
        tw_context_free(ctx);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    data_dir = argv[1];
    guide = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_text_round_trips),
        cmocka_unit_test(all_rows_are_covered),
        cmocka_unit_test(files_print_canonically),
        cmocka_unit_test(the_guide_is_valid),
        cmocka_unit_test(text_is_the_same_in_a_comma_locale),
        cmocka_unit_test(an_option_replaces_the_target),
        cmocka_unit_test(names_are_made_unique),
        cmocka_unit_test(long_names_are_cut),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
