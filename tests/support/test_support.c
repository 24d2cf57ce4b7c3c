#include "tests/test.h"

#include <string.h>

#include "support/fail.h"
#include "support/strbuf.h"

static void arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    tw_arena arena;
    tw_arena_init(&arena, NULL);
    for (size_t size = 1; size < 200000; size = size * 3 + 1) {
        unsigned char *memory = tw_arena_alloc(&arena, size, 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, size);
    }
    assert_null(tw_arena_alloc(&arena, SIZE_MAX / 2, 4));
    tw_arena_free(&arena);
}

static void strbuf_formats_integers(void **state) {
    (void)state;
    tw_strbuf buffer;
    tw_strbuf_init(&buffer, NULL);
    tw_strbuf_i64(&buffer, INT64_MIN);
    tw_strbuf_char(&buffer, ' ');
    tw_strbuf_u64(&buffer, UINT64_MAX);
    tw_strbuf_char(&buffer, ' ');
    tw_strbuf_hex(&buffer, 0xbeef, 8);
    assert_string_equal(tw_strbuf_text(&buffer), "-9223372036854775808 18446744073709551615 0000BEEF");
    for (int i = 0; i < 1000; i++)
        tw_strbuf_printf(&buffer, "%d,", i);
    size_t length;
    char *text = tw_strbuf_take(&buffer, &length);
    assert_int_equal(strlen(text), length);
    assert_string_equal(text + length - 4, "999,");
    tw_allocator_default.release(NULL, text);
}

/* Texts around the sizes of the memory behind them have room for their end. */
static void strbuf_keeps_room_for_the_end(void **state) {
    (void)state;
    static const char bytes[600] = {0};
    for (size_t length = 0; length < sizeof bytes; length++) {
        for (int how = 0; how < 3; how++) {
            tw_strbuf buffer;
            tw_strbuf_init(&buffer, NULL);
            if (how == 0) tw_strbuf_append_n(&buffer, bytes, length);
            if (how == 1) tw_strbuf_printf(&buffer, "%*s", (int)length, "");
            for (size_t i = 0; how == 2 && i < length; i++)
                tw_strbuf_char(&buffer, 'c');
            assert_int_equal(buffer.length, length);
            assert_true(buffer.capacity > length || (!length && !buffer.text));
            tw_strbuf_free(&buffer);
        }
    }
}

static void diag_keeps_order_and_place(void **state) {
    (void)state;
    tw_diag *diag = tw_diag_new(NULL);
    assert_string_equal(tw_diag_text(diag), "");
    tw_note(diag, "k", "a note");
    assert_int_equal(tw_fail(diag, TW_ERR_INVALID, "r_split must be 1..8 (got %d)", 9), TW_ERR_INVALID);
    tw_fail_at(diag, TW_ERR_INVALID, "k.tir", 3, 7, "second");
    assert_int_equal(tw_diag_count(diag), 3);
    assert_string_equal(tw_diag_first_error(diag), "r_split must be 1..8 (got 9)");
    assert_string_equal(tw_diag_text(diag),
                        "k: note: a note\nerror: r_split must be 1..8 (got 9)\nk.tir:3:7: error: second\n");
    assert_null(tw_diag_get(diag, 3));
    tw_diag_clear(diag);
    assert_int_equal(tw_diag_count(diag), 0);
    assert_int_equal(tw_fail(NULL, TW_ERR_IO, "nobody listens"), TW_ERR_IO);
    tw_diag_free(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(strbuf_formats_integers),
        cmocka_unit_test(strbuf_keeps_room_for_the_end),
        cmocka_unit_test(diag_keeps_order_and_place),
    };
    return cmocka_run_group_tests_name("support", tests, NULL, NULL);
}
