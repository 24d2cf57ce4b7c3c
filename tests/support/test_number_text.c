#include "tests/test.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/number_text.h"

static void formats(double value, const char *expected) {
    char text[TW_DOUBLE_TEXT_MAX];
    tw_format_double(value, text);
    assert_string_equal(text, expected);
}

static void doubles_have_one_shortest_form(void **state) {
    (void)state;
    formats(20.9, "20.9");
    formats(0.0, "0.0");
    formats(-0.0, "-0.0");
    formats(1.0, "1.0");
    formats(-1234567.0, "-1234567.0");
    formats(0.1 + 0.2, "0.30000000000000004");
    formats(1e16, "10000000000000000.0");
    formats(1e17, "1e17");
    formats(1.5e-5, "0.000015");
    formats(1e-6, "1e-6");
    formats(0x1p-1074, "5e-324");
    formats(-1.7976931348623157e308, "-1.7976931348623157e308");
    formats(9007199254740993.0, "9007199254740992.0");
    formats((double)INFINITY, "inf");
    formats(-(double)INFINITY, "-inf");
    formats((double)NAN, "nan");
}

static bool parses(const char *text, double *out) { return tw_parse_double(text, strlen(text), out); }

static void texts_round_once(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"20.9", 20.9},
        {"-3", -3.0},
        {"+.5", 0.5},
        {"5.", 5.0},
        {"1e-7", 1e-7},
        {"0.000015E+2", 0.0015},
        {"123456789012345678901234567890", 123456789012345678901234567890.0},
        {"1e400", (double)INFINITY},
        {"1e-400", 0.0},
        {"1e999999999999999999999", (double)INFINITY},
        {"0e999999999999999999999", 0.0},
        {"0.00000000000000000000000000000000000000001e41", 1.0},
        /* Half way between two doubles, and just above half way. */
        {"9007199254740993", 9007199254740992.0},
        {"9007199254740993.00000000000000000000000000000000001", 9007199254740994.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double value = -1;
        assert_true(parses(rows[i].text, &value));
        assert_true(value == rows[i].value);
    }
    double value = 0;
    assert_true(parses("-0.0", &value) && value == 0 && signbit(value));
    assert_true(parses("-inf", &value) && value == -(double)INFINITY);
    assert_true(parses("nan", &value) && isnan(value));
    static const char *const refused[] = {"",    "-",    ".",  "e5", "1e", "1e+",     "1.2.3",
                                          "1,5", "0x10", " 1", "1 ", "in", "infinity"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_false(parses(refused[i], &value));
}

/* A digit past those that are kept still decides a tie. */
static void the_last_of_many_digits_counts(void **state) {
    (void)state;
    char text[3000] = "9007199254740993.";
    size_t length = strlen(text);
    memset(text + length, '0', 2000);
    double value = 0;
    assert_true(tw_parse_double(text, length + 2000, &value) && value == 9007199254740992.0);
    text[length + 1999] = '1';
    assert_true(tw_parse_double(text, length + 2000, &value) && value == 9007199254740994.0);
}

/* The exponent may make up for as many zeros as memory holds. */
static void long_texts_keep_their_exponent(void **state) {
    (void)state;
    enum { ZEROS = 2000009 };
    char *text = malloc(ZEROS + 32);
    double value = 0;
    if (!text) {
        fail();
        return;
    }
    memcpy(text, "0.", 2);
    memset(text + 2, '0', ZEROS);
    strcpy(text + 2 + ZEROS, "1e2000010");
    assert_true(parses(text, &value) && value == 1);
    memset(text, '0', ZEROS);
    text[0] = '1';
    strcpy(text + ZEROS, "e-2000008");
    assert_true(parses(text, &value) && value == 1);
    strcpy(text + ZEROS, "e-99999999999999999999999999");
    assert_true(parses(text, &value) && value == 0);
    strcpy(text + ZEROS, "e99999999999999999999999999");
    assert_true(parses(text, &value) && isinf(value));
    free(text);
}

static void random_doubles_come_back(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        double value, back = 0;
        memcpy(&value, &seed, sizeof value);
        char text[TW_DOUBLE_TEXT_MAX];
        tw_format_double(value, text);
        assert_true(parses(text, &back));
        if (isnan(value)) {
            assert_true(isnan(back));
        } else {
            assert_memory_equal(&value, &back, sizeof value);
        }
    }
}

/* A locale that writes a comma changes nothing. */
static void locale_changes_nothing(void **state) {
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) skip();
    assert_string_equal(localeconv()->decimal_point, ",");
    doubles_have_one_shortest_form(state);
    texts_round_once(state);
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_have_one_shortest_form), cmocka_unit_test(texts_round_once),
        cmocka_unit_test(the_last_of_many_digits_counts), cmocka_unit_test(long_texts_keep_their_exponent),
        cmocka_unit_test(random_doubles_come_back),       cmocka_unit_test(locale_changes_nothing),
    };
    return cmocka_run_group_tests_name("number_text", tests, NULL, NULL);
}
