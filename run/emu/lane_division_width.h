/* The steps of a division in one width. Included by lane_division.h once for each, which defines LANE and the
 * other macros; no include guard. */
#define LANE_INFINITY (LANE_EXPONENTS << LANE_FRACTION)
#define LANE_SIGN     ((LANE_EXPONENTS + 1) << LANE_FRACTION)
#define LANE_NAN      (LANE_INFINITY | (LANE_BITS)1 << (LANE_FRACTION - 1))

LM int LANE(exponent)(LANE_FLOAT f) { return (int)(LANE_BITS_OF(f) >> LANE_FRACTION & LANE_EXPONENTS); }
LM bool LANE(denormal)(LANE_FLOAT f) { return LANE(exponent)(f) == 0 && f != 0; }

/* v_div_scale: `which` is the value to scale (equal to denominator or numerator); bit 0 of *flag asks
 * v_div_fmas to scale back. A denominator whose reciprocal is a denormal is scaled down, also where the
 * quotient is a denormal: a denominator scaled up would be infinite, and the quotients of LLVM's division
 * wrong. */
LM LANE_FLOAT LANE(div_scale)(LANE_FLOAT which, LANE_FLOAT den, LANE_FLOAT num, uint32_t *flag) {
    bool of_den = LANE_BITS_OF(which) == LANE_BITS_OF(den), of_num = LANE_BITS_OF(which) == LANE_BITS_OF(num);
    *flag = 0;
    if (num == 0 || den == 0) return LANE_OF_BITS(LANE_NAN);
    if (LANE(exponent)(num) - LANE(exponent)(den) >= DIV_FAR) {
        *flag = 1;
        return of_den ? LANE_LDEXP(which, DIV_SCALE) : which;
    }
    if (LANE(denormal)(den)) return LANE_LDEXP(which, DIV_SCALE);
    bool tiny_reciprocal = LANE(exponent)(1 / den) == 0 && den - den == 0;
    bool tiny_quotient = LANE(exponent)(num / den) == 0 && den - den == 0;
    if (tiny_reciprocal && tiny_quotient) {
        *flag = 1;
        return of_den ? LANE_LDEXP(which, -DIV_SCALE) : which;
    }
    if (tiny_reciprocal) return LANE_LDEXP(which, -DIV_SCALE);
    if (tiny_quotient) {
        *flag = 1;
        return of_num ? LANE_LDEXP(which, DIV_SCALE) : which;
    }
    if (LANE(exponent)(num) <= DIV_SMALL) return LANE_LDEXP(which, DIV_SCALE);
    return which;
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
#undef DIV_LOST
#undef DIV_SCALE
