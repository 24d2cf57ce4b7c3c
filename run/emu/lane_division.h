/* Helpers of the lane functions: the steps of a division. Included by lane_math.h. */
#ifndef TW_RUN_EMU_LANE_DIVISION_H
#define TW_RUN_EMU_LANE_DIVISION_H

LM int exponent32(float f) { return (int)(f32_bits(f) >> 23 & 0xff); }
LM int exponent64(double f) { return (int)(f64_bits(f) >> 52 & 0x7ff); }
LM bool denormal32(float f) { return exponent32(f) == 0 && f != 0; }
LM bool denormal64(double f) { return exponent64(f) == 0 && f != 0; }

/* v_div_scale: `which` is the value to scale (equal to denominator or numerator); bit 0 of *flag asks
 * v_div_fmas to scale back. A denominator whose reciprocal is a denormal is scaled down, also where the
 * quotient is a denormal: a denominator scaled up would be infinite, and the quotients of LLVM's division
 * wrong. */
LM float div_scale32(float which, float den, float num, uint32_t *flag) {
    bool of_den = f32_bits(which) == f32_bits(den), of_num = f32_bits(which) == f32_bits(num);
    *flag = 0;
    if (num == 0 || den == 0) return as_f32(0x7fc00000u);
    if (exponent32(num) - exponent32(den) >= 96) {
        *flag = 1;
        return of_den ? ldexpf(which, 64) : which;
    }
    if (denormal32(den)) return ldexpf(which, 64);
    bool tiny_reciprocal = exponent32(1.0f / den) == 0 && den - den == 0;
    float quotient = num / den;
    bool tiny_quotient = exponent32(quotient) == 0 && den - den == 0;
    if (tiny_reciprocal && tiny_quotient) {
        *flag = 1;
        return of_den ? ldexpf(which, -64) : which;
    }
    if (tiny_reciprocal) return ldexpf(which, -64);
    if (tiny_quotient) {
        *flag = 1;
        return of_num ? ldexpf(which, 64) : which;
    }
    if (exponent32(num) <= 23) return ldexpf(which, 64);
    return which;
}
LM double div_scale64(double which, double den, double num, uint32_t *flag) {
    bool of_den = f64_bits(which) == f64_bits(den), of_num = f64_bits(which) == f64_bits(num);
    *flag = 0;
    if (num == 0 || den == 0) return as_f64(0x7ff8000000000000u);
    if (exponent64(num) - exponent64(den) >= 768) {
        *flag = 1;
        return of_den ? ldexp(which, 128) : which;
    }
    if (denormal64(den)) return ldexp(which, 128);
    bool tiny_reciprocal = exponent64(1.0 / den) == 0 && den - den == 0;
    bool tiny_quotient = exponent64(num / den) == 0 && den - den == 0;
    if (tiny_reciprocal && tiny_quotient) {
        *flag = 1;
        return of_den ? ldexp(which, -128) : which;
    }
    if (tiny_reciprocal) return ldexp(which, -128);
    if (tiny_quotient) {
        *flag = 1;
        return of_num ? ldexp(which, 128) : which;
    }
    if (exponent64(num) <= 53) return ldexp(which, 128);
    return which;
}
/* v_div_fmas: a * b + c, scaled back, rounded once. */
LM float div_fmas32(float a, float b, float c, bool scale) {
    if (!scale) return __builtin_fmaf(a, b, c);
    double s = sum_to_odd((double)a * (double)b, (double)c);
    return (float)ldexp(s, exponent32(c) > 127 ? 64 : -64);
}
/* Rounding again, to a denormal, only goes wrong where the first rounding made a tie: then what that rounding
 * lost decides. */
static __attribute__((unused)) double scale_fma64(double a, double b, double c, int scale) {
    volatile double x = a, y = b, z = c;
    int host = fegetround();
    fesetround(FE_DOWNWARD);
    double below = __builtin_fma(x, y, z);
    fesetround(FE_UPWARD);
    double above = __builtin_fma(x, y, z);
    fesetround(host);
    double r = __builtin_fma(x, y, z);
    if (below == above) return ldexp(r, scale);
    int lost_bits = -1022 - (ilogb(r) + scale); /* of the denormal result */
    uint64_t half = lost_bits > 0 && lost_bits < 53 ? 1ull << (lost_bits - 1) : 0;
    if (half && (f64_bits(r) & (2 * half - 1)) == half) r = r == below ? above : below;
    return ldexp(r, scale);
}
LM double div_fmas64(double a, double b, double c, bool scale) {
    if (!scale) return __builtin_fma(a, b, c);
    return scale_fma64(a, b, c, exponent64(c) > 1023 ? 128 : -128);
}
/* `q` is the quotient so far; the special cases of num / den win over it. */
LM float div_fixup32(float q, float den, float num) {
    uint32_t sign = (f32_bits(den) ^ f32_bits(num)) & 0x80000000u;
    float aden = fabsf(den), anum = fabsf(num);
    if (is_nan(num)) return quiet(num);
    if (is_nan(den)) return quiet(den);
    if ((anum == 0 && aden == 0) || (anum == INFINITY && aden == INFINITY)) return as_f32(0xffc00000u);
    if (aden == 0 || anum == INFINITY) return as_f32(sign | 0x7f800000u);
    if (aden == INFINITY || anum == 0) return as_f32(sign);
    if (exponent32(num) - exponent32(den) < -150) return as_f32(sign);
    if (is_nan(q)) return as_f32(sign | 0x7f800000u);
    return as_f32(sign | (f32_bits(q) & 0x7fffffffu));
}
LM double div_fixup64(double q, double den, double num) {
    uint64_t sign = (f64_bits(den) ^ f64_bits(num)) & 0x8000000000000000u;
    double aden = fabs(den), anum = fabs(num);
    if (num != num) return quiet64(num);
    if (den != den) return quiet64(den);
    if ((anum == 0 && aden == 0) || (anum == INFINITY && aden == INFINITY))
        return as_f64(0xfff8000000000000u);
    if (aden == 0 || anum == INFINITY) return as_f64(sign | 0x7ff0000000000000u);
    if (aden == INFINITY || anum == 0) return as_f64(sign);
    if (exponent64(num) - exponent64(den) < -1075) return as_f64(sign);
    if (q != q) return as_f64(sign | 0x7ff0000000000000u);
    return as_f64(sign | (f64_bits(q) & 0x7fffffffffffffffu));
}

/* Halves: no quotient can be lost to the range of the exponents. */
LM float div_fixup16(float q, float den, float num) {
    uint32_t sign = (f32_bits(den) ^ f32_bits(num)) & 0x80000000u;
    float aden = fabsf(den), anum = fabsf(num);
    if (is_nan(num)) return quiet(num);
    if (is_nan(den)) return quiet(den);
    if ((anum == 0 && aden == 0) || (anum == INFINITY && aden == INFINITY)) return as_f32(0xffc00000u);
    if (aden == 0 || anum == INFINITY) return as_f32(sign | 0x7f800000u);
    if (aden == INFINITY || anum == 0) return as_f32(sign);
    return as_f32(sign | (f32_bits(q) & 0x7fffffffu));
}

#endif
