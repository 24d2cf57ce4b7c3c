#include "ir/literal.h"

#include <math.h>

#include "support/float_formats.h"
#include "support/number_text.h"

/* The formats whose literals are decimals; of the others the bits are written. */
static tw_float_format format_of(tw_scalar scalar) {
    return scalar == TW_F16 ? TW_FLOAT_F16 : scalar == TW_BF16 ? TW_FLOAT_BF16 : TW_FLOAT_F32;
}

#define FRACTION_SCALE  256.0    /* what is written out as a decimal is a multiple of 1 / 256 ... */
#define FRACTION_DIGITS 390625   /* 10^8 / 256: its fraction has at most 8 digits */
#define LARGEST_SHORT   16777216 /* ... and no larger than 2^24 */

static bool is_short(double magnitude) {
    return magnitude <= LARGEST_SHORT && floor(magnitude * FRACTION_SCALE) == magnitude * FRACTION_SCALE;
}

static void short_decimal(tw_strbuf *out, double value) {
    uint64_t scaled = (uint64_t)(fabs(value) * FRACTION_SCALE);
    uint64_t fraction = scaled % (uint64_t)FRACTION_SCALE * FRACTION_DIGITS;
    if (signbit(value)) tw_strbuf_char(out, '-');
    tw_strbuf_u64(out, scaled / (uint64_t)FRACTION_SCALE);
    tw_strbuf_char(out, '.');
    do {
        tw_strbuf_char(out, (char)('0' + fraction / 10000000));
        fraction = fraction % 10000000 * 10;
    } while (fraction);
}

void tw_literal_constant(tw_strbuf *out, tw_scalar scalar, uint64_t bits) {
    unsigned width = tw_scalar_bits(scalar);
    if (width < 64) bits &= ((uint64_t)1 << width) - 1;
    double value = tw_scalar_is_float(scalar) ? tw_float_to_f64(format_of(scalar), bits) : (double)NAN;
    if (scalar == TW_I1) {
        tw_strbuf_append(out, bits ? "true" : "false");
    } else if (tw_scalar_is_int(scalar)) {
        tw_strbuf_i64(out, (int64_t)(bits << (64 - width)) >> (64 - width));
    } else if (is_short(fabs(value))) {
        short_decimal(out, value);
    } else {
        tw_strbuf_append(out, "0x");
        tw_strbuf_hex(out, bits, width / 4);
    }
}
void tw_literal_double(tw_strbuf *out, double value) {
    char text[TW_DOUBLE_TEXT_MAX];
    tw_format_double(value, text);
    tw_strbuf_append(out, text);
}

void tw_literal_string(tw_strbuf *out, const char *text) {
    tw_strbuf_char(out, '"');
    for (; *text; text++) {
        if (*text < ' ' || *text > '~') {
            tw_strbuf_append(out, "\\x");
            tw_strbuf_hex(out, (unsigned char)*text, 2);
        } else {
            if (*text == '"' || *text == '\\') tw_strbuf_char(out, '\\');
            tw_strbuf_char(out, *text);
        }
    }
    tw_strbuf_char(out, '"');
}

bool tw_literal_round(tw_scalar scalar, double value, uint64_t *bits) {
    *bits = tw_float_from_f64(format_of(scalar), value);
    return isfinite(tw_float_to_f64(format_of(scalar), *bits));
}
