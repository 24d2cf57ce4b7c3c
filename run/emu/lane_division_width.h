/* The steps of a division in one width. Included by lane_division.h once for each, which defines LANE and the
 * other macros; no include guard. */
#define LANE_INFINITY (LANE_EXPONENTS << LANE_FRACTION)
#define LANE_SIGN     ((LANE_EXPONENTS + 1) << LANE_FRACTION)
#define LANE_NAN      (LANE_INFINITY | (LANE_BITS)1 << (LANE_FRACTION - 1))

LM int LANE(exponent)(LANE_FLOAT f) { return (int)(LANE_BITS_OF(f) >> LANE_FRACTION & LANE_EXPONENTS); }

/* v_div_scale: `which` is the value to scale (equal to denominator or numerator); bit 0 of *flag asks
 * v_div_fmas to scale back. The exponents alone decide. The ISA documents write it with denormal quotients
 * and reciprocals, and with all scaled up; what is here is what chips do (gfx1100 and gfx1201: division.h of
 * AMD's emulator, captures of github.com/bjacob/goc), and what LLVM's division needs. */
LM LANE_FLOAT LANE(div_scale)(LANE_FLOAT which, LANE_FLOAT den, LANE_FLOAT num, uint32_t *flag) {
    bool of_den = LANE_BITS_OF(which) == LANE_BITS_OF(den);
    int den_exponent = LANE(exponent)(den), num_exponent = LANE(exponent)(num);
    int apart = num_exponent - den_exponent, scale = 0;
    *flag = 0;
    if (apart >= DIV_FAR) {
        *flag = 1;
        scale = of_den ? DIV_SCALE : 0;
    } else if (den_exponent == 0) {
        scale = DIV_SCALE;
    } else if (den_exponent >= DIV_LARGE) {
        *flag = apart <= -DIV_FAR;
        scale = *flag && !of_den ? 0 : -DIV_SCALE;
    } else if (apart <= -DIV_FAR) {
        *flag = 1;
        scale = of_den ? 0 : DIV_SCALE;
    } else if (num_exponent <= DIV_SMALL) {
        scale = DIV_SCALE;
    }
    if (num == 0 || den == 0) return LANE_OF_BITS(LANE_SIGN | LANE_NAN);
    if (which != which) return LANE_QUIET(which);
    return scale ? LANE_LDEXP(which, scale) : which;
}

/* The bits of f with the sign of num / den. */
LM LANE_FLOAT LANE(div_signed)(LANE_FLOAT f, LANE_FLOAT den, LANE_FLOAT num) {
    LANE_BITS sign = (LANE_BITS_OF(den) ^ LANE_BITS_OF(num)) & LANE_SIGN;
    return LANE_OF_BITS(sign | (LANE_BITS_OF(f) & (LANE_SIGN - 1)));
}
/* num / den where one of them is a NaN, an infinity or zero; otherwise `quotient`. */
LM LANE_FLOAT LANE(div_special)(LANE_FLOAT den, LANE_FLOAT num, LANE_FLOAT quotient) {
    LANE_BITS aden = LANE_BITS_OF(den) & (LANE_SIGN - 1), anum = LANE_BITS_OF(num) & (LANE_SIGN - 1);
    if (num != num) return LANE_QUIET(num);
    if (den != den) return LANE_QUIET(den);
    if (anum == aden && (anum == 0 || anum == LANE_INFINITY)) return LANE_OF_BITS(LANE_SIGN | LANE_NAN);
    if (aden == 0 || anum == LANE_INFINITY) return LANE(div_signed)(LANE_OF_BITS(LANE_INFINITY), den, num);
    if (aden == LANE_INFINITY || anum == 0) return LANE(div_signed)(0, den, num);
    return quotient;
}
/* v_div_fixup: `q` is the quotient so far; the special cases win over it. */
LM LANE_FLOAT LANE(div_fixup)(LANE_FLOAT q, LANE_FLOAT den, LANE_FLOAT num) {
    bool lost = LANE(exponent)(num) - LANE(exponent)(den) < -DIV_LOST;
    LANE_FLOAT r = lost ? 0 : q != q ? LANE_OF_BITS(LANE_INFINITY) : q;
    return LANE(div_special)(den, num, LANE(div_signed)(r, den, num));
}

#undef LANE
#undef LANE_FLOAT
#undef LANE_BITS
#undef LANE_BITS_OF
#undef LANE_OF_BITS
#undef LANE_QUIET
#undef LANE_LDEXP
#undef LANE_FRACTION
#undef LANE_EXPONENTS
#undef LANE_INFINITY
#undef LANE_SIGN
#undef LANE_NAN
#undef DIV_FAR
#undef DIV_SMALL
#undef DIV_LARGE
#undef DIV_LOST
#undef DIV_SCALE
