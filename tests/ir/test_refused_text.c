/* What the parser refuses, with the exact text (refused_text.def), and its limits. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "ir/lex.h"
#include "ir/rules.h"
#include "support/strbuf.h"

#define HEAD                                                                                       \
    "tile.kernel @k target(\"gfx1250\") workgroup(64) (%x: ptr<f32, global>, %n: i32, %f: f32) { " \
    "%r = tile.buffer_rsrc %x, %n : rsrc %v = vector.splat %f : vec<4 x f32> "                     \
    "%c = arith.icmp eq %n, 0 : i1\n"
#define TAIL "\nreturn\n}\n"

static const struct {
    const char *text, *refused;
} rows[] = {
#define TEXT(text, refused) {text, refused},
#define BODY(ops, refused)  {HEAD ops TAIL, refused},
#include "tests/ir/refused_text.def"
#undef TEXT
#undef BODY
};

static void each_row_is_refused_with_its_text(void **state) {
    (void)state;
    tw_parse_options options = {.source = "k.tir"};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel;
        tw_status status = tw_kernel_parse(ctx, rows[i].text, strlen(rows[i].text), &options, &kernel);
        const char *got = tw_context_diagnostics(ctx);
        if (status == TW_OK || kernel || strcmp(got, rows[i].refused)) {
            print_error("row %zu: %s\n  expected %s  got      %s\n", i, rows[i].text, rows[i].refused, got);
            wrong++;
        }
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

static tw_status parse_status(tw_strbuf *text, const char **diagnostic) {
    static char kept[256];
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel;
    assert_false(text->failed);
    tw_status status = tw_kernel_parse(ctx, tw_strbuf_text(text), text->length, NULL, &kernel);
    strncpy(kept, tw_context_diagnostics(ctx), sizeof kept - 1);
    *diagnostic = kept;
    tw_context_free(ctx);
    return status;
}

static void nested_ifs(tw_strbuf *text, unsigned depth) {
    tw_strbuf_init(text, NULL);
    tw_strbuf_append(text, HEAD);
    for (unsigned i = 0; i < depth; i++)
        tw_strbuf_append(text, "scf.if %c { ");
    for (unsigned i = 0; i < depth; i++)
        tw_strbuf_append(text, "} ");
    tw_strbuf_append(text, TAIL);
}

static void depth_is_limited(void **state) {
    (void)state;
    tw_strbuf text;
    const char *diagnostic;
    nested_ifs(&text, TW_DEPTH_MAX);
    assert_int_equal(parse_status(&text, &diagnostic), TW_OK);
    tw_strbuf_free(&text);
    nested_ifs(&text, TW_DEPTH_MAX + 1);
    assert_int_equal(parse_status(&text, &diagnostic), TW_ERR_LIMIT);
    assert_non_null(strstr(diagnostic, "error: regions nest at most 256 deep"));
    tw_strbuf_free(&text);
    nested_ifs(&text, 200000);
    assert_int_equal(parse_status(&text, &diagnostic), TW_ERR_LIMIT);
    tw_strbuf_free(&text);
}

static void size_is_limited(void **state) {
    (void)state;
    tw_strbuf text;
    const char *diagnostic;
    tw_strbuf_init(&text, NULL);
    tw_strbuf_append(&text, HEAD TAIL);
    while (text.length < TW_TEXT_MAX_BYTES)
        tw_strbuf_append(&text, "//////////////////////////////////////////////////////////////\n");
    text.length = TW_TEXT_MAX_BYTES;
    assert_int_equal(parse_status(&text, &diagnostic), TW_OK);
    text.length++;
    assert_int_equal(parse_status(&text, &diagnostic), TW_ERR_LIMIT);
    assert_string_equal(diagnostic, "error: a kernel's text has at most 16777216 bytes (got 16777217)\n");
    tw_strbuf_free(&text);
}

static void long_names_are_refused(void **state) {
    (void)state;
    for (unsigned length = 255; length <= 256; length++) {
        tw_strbuf text;
        const char *diagnostic;
        tw_strbuf_init(&text, NULL);
        tw_strbuf_append(&text, HEAD "%");
        for (unsigned i = 0; i < length; i++)
            tw_strbuf_char(&text, 'n');
        tw_strbuf_append(&text, " = gpu.lane_id : i32" TAIL);
        assert_int_equal(parse_status(&text, &diagnostic), length == 255 ? TW_OK : TW_ERR_INVALID);
        if (length == 256)
            assert_non_null(strstr(diagnostic, "2:1: error: a name has at most 255 bytes (got '%nnn"));
        tw_strbuf_free(&text);
        /* Words are cut by the same rule; none of that length means anything. */
        tw_strbuf_init(&text, NULL);
        tw_strbuf_append(&text, HEAD);
        for (unsigned i = 0; i < length; i++)
            tw_strbuf_char(&text, 'w');
        tw_strbuf_append(&text, TAIL);
        assert_int_equal(parse_status(&text, &diagnostic), TW_ERR_INVALID);
        assert_non_null(strstr(diagnostic, length == 255
                                               ? "2:1: error: expected an op (got 'www"
                                               : "2:1: error: a word has at most 255 bytes (got 'www"));
        tw_strbuf_free(&text);
    }
}

/* The text need not be terminated, and may hold any byte. */
static void bytes_past_the_end_are_not_read(void **state) {
    (void)state;
    static const char whole[] = HEAD "%a = arith.constant 0.5 : f32 // half\n-" TAIL;
    tw_context *ctx = tw_context_new(NULL);
    for (size_t length = 0; length < sizeof whole - 2; length++) {
        char *exact = malloc(length + !length);
        memcpy(exact, whole, length);
        tw_kernel *kernel;
        assert_int_not_equal(tw_kernel_parse(ctx, exact, length, NULL, &kernel), TW_OK);
        free(exact);
    }
    static const char zero[] = "tile.kernel \0 @k";
    tw_diag_clear(tw_context_diag(ctx));
    tw_kernel *kernel;
    assert_int_equal(tw_kernel_parse(ctx, zero, sizeof zero - 1, NULL, &kernel), TW_ERR_INVALID);
    assert_string_equal(tw_context_diagnostics(ctx),
                        "1:13: error: expected a word, a value, a number or punctuation (got '\\x00')\n");
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_refused_with_its_text),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(size_is_limited),
        cmocka_unit_test(long_names_are_refused),
        cmocka_unit_test(bytes_past_the_end_are_not_read),
    };
    return cmocka_run_group_tests_name("refused_text", tests, NULL, NULL);
}
