#include "support/number_text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C library's conversions depend on the locale in one thing only, the radix character. So text goes to
 * and from the library as an integer of digits and an exponent: "20.9" is read as "209e-1". */

/* More digits than any double needs to be rounded correctly; what follows counts only as zero or not. */
#define DIGITS_MAX 780

#define POINT_LIMIT 50000 /* a double is zero or infinite long before */
/* Larger than any count of digits in memory, so that "0.00...01e2000000" is read as what it says. */
#define EXPONENT_LIMIT (LONG_MAX / 20)

typedef struct decimal {
    char digits[DIGITS_MAX + 1]; /* value = 0.d1 d2 d3 ... * 10^point */
    int count;
    long point;
    bool dropped; /* a digit other than 0 did not fit */
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void add_digit(decimal *d, char digit) {
    if (!d->count && digit == '0') return;
    if (d->count < DIGITS_MAX) {
        d->digits[d->count++] = digit;
    } else if (digit != '0') {
        d->dropped = true;
    }
}

/* Reads "12.5" from *at on; false where no digit stands. */
static bool read_mantissa(const char **at, const char *end, decimal *d) {
    bool any = false, fraction = false;
    for (; *at < end; ++*at) {
        char c = **at;
        if (c == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(c)) break;
        any = true;
        add_digit(d, c);
        if (!fraction && d->count) d->point++;
        if (fraction && !d->count) d->point--;
    }
    return any;
}

static bool read_exponent(const char **at, const char *end, decimal *d) {
    if (*at == end || (**at != 'e' && **at != 'E')) return true;
    ++*at;
    bool negative = *at < end && **at == '-';
    if (*at < end && (**at == '-' || **at == '+')) ++*at;
    if (*at == end) return false;
    long exponent = 0;
    for (; *at < end && is_digit(**at); ++*at)
        if (exponent < EXPONENT_LIMIT) exponent = exponent * 10 + (**at - '0');
    d->point += negative ? -exponent : exponent;
    return true;
}

static double decimal_value(decimal *d) {
    if (!d->count || d->point < -POINT_LIMIT) return 0.0;
    if (d->point > POINT_LIMIT) return INFINITY;
    if (d->dropped) d->digits[d->count++] = '1';
    char text[DIGITS_MAX + 32];
    snprintf(text, sizeof text, "%.*se%ld", d->count, d->digits, d->point - d->count);
    return strtod(text, NULL);
}

bool tw_parse_double(const char *text, size_t length, double *out) {
    const char *at = text, *end = text + length;
    bool negative = length && *at == '-';
    if (length && (*at == '-' || *at == '+')) at++;
    size_t rest = (size_t)(end - at);
    if (rest == 3 && (!memcmp(at, "inf", 3) || !memcmp(at, "nan", 3))) {
        double magnitude = *at == 'i' ? (double)INFINITY : (double)NAN;
        *out = negative ? -magnitude : magnitude;
        return true;
    }
    decimal d = {.count = 0};
    if (!read_mantissa(&at, end, &d) || !read_exponent(&at, end, &d) || at != end) return false;
    double magnitude = decimal_value(&d);
    *out = negative ? -magnitude : magnitude;
    return true;
}

/* `value` to `count` significant digits: the digits without trailing zeros and the decimal exponent of the
 * first one. */
static void significant_digits(double value, int count, char digits[20], int *exponent) {
    char text[48];
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    int n = 0;
    const char *at = text;
    for (; *at && *at != 'e'; at++)
        if (is_digit(*at)) digits[n++] = *at;
    *exponent = atoi(*at ? at + 1 : "0");
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
}

static bool digits_read_back(const char *digits, int exponent, double value) {
    char text[48];
    snprintf(text, sizeof text, "%se%d", digits, exponent - (int)strlen(digits) + 1);
    return strtod(text, NULL) == value;
}

void tw_format_double(double value, char buffer[TW_DOUBLE_TEXT_MAX]) {
    const char *sign = signbit(value) ? "-" : "";
    if (isnan(value)) {
        snprintf(buffer, TW_DOUBLE_TEXT_MAX, "nan");
        return;
    }
    if (isinf(value)) {
        snprintf(buffer, TW_DOUBLE_TEXT_MAX, "%sinf", sign);
        return;
    }
    double magnitude = fabs(value);
    char digits[20];
    int exponent = 0;
    /* A decimal of at most 15 digits survives the way through a normal double, so 15 finds it when there is
     * one. */
    for (int count = magnitude < DBL_MIN ? 1 : 15; count <= 17; count++) {
        significant_digits(magnitude, count, digits, &exponent);
        if (digits_read_back(digits, exponent, magnitude)) break;
    }
    int n = (int)strlen(digits);
    char text[64]; /* at most 24 characters: the sign, 17 digits, a point and an exponent or zeros */
    if (exponent < -5 || exponent > 16) {
        snprintf(text, sizeof text, "%s%c%s%se%d", sign, digits[0], n > 1 ? "." : "", digits + 1, exponent);
    } else if (exponent < 0) {
        snprintf(text, sizeof text, "%s0.%.*s%s", sign, -exponent - 1, "00000", digits);
    } else if (n <= exponent + 1) {
        snprintf(text, sizeof text, "%s%s%.*s.0", sign, digits, exponent + 1 - n, "0000000000000000");
    } else {
        snprintf(text, sizeof text, "%s%.*s.%s", sign, exponent + 1, digits, digits + exponent + 1);
    }
    snprintf(buffer, TW_DOUBLE_TEXT_MAX, "%.*s", TW_DOUBLE_TEXT_MAX - 1, text);
}
