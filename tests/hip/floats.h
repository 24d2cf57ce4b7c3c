/* f32 and f64, with every rounding where the source says so. */
#include "tests/hip/kernel.h"

FN double root64(double v) { return __builtin_sqrt(v); }
/* Three steps of eight bodies; one work-item owns a system. */
BODY(nbody_f64) {
    double x[4], y[4], u[4] = {0}, v[4] = {0};
    UNUSED_N;
    for (u32 i = 0; i < 4; i++) {
        x[i] = moderate64(in[G * 8 + i], i + 1);
        y[i] = moderate64(in[G * 8 + 4 + i], 3 * i);
    }
    for (u32 step = 0; step < 3; step++) {
        for (u32 i = 0; i < 4; i++) {
            double ax = 0, ay = 0;
            for (u32 k = 0; k < 4; k++) {
                double dx = x[k] - x[i], dy = y[k] - y[i],
                       d2 = __builtin_fma(dx, dx, __builtin_fma(dy, dy, 0.01));
                double inverse = 1.0 / (d2 * root64(d2));
                ax = __builtin_fma(dx, inverse, ax);
                ay = __builtin_fma(dy, inverse, ay);
            }
            u[i] += ax * 0.001;
            v[i] += ay * 0.001;
        }
        for (u32 i = 0; i < 4; i++) {
            x[i] += u[i];
            y[i] += v[i];
        }
    }
    for (u32 i = 0; i < 4; i++) {
        put64(out + G * 16 + 4 * i, bits_of64(x[i]));
        put64(out + G * 16 + 4 * i + 2, bits_of64(v[i]));
    }
}

BODY(fma_chain_f64) {
    double a = moderate64(in[4 * G], in[4 * G + 1]), b = moderate64(in[4 * G + 2], in[4 * G + 3]), s = 1.0, r;
    UNUSED_N;
    for (u32 i = 0; i < 12; i++) {
        s = __builtin_fma(s, a * 0.1, b);
        a = a - s * 0.25;
        b = __builtin_fma(-b, 0.5, s);
    }
    r = a / s;
    put64(out + 6 * G, bits_of64(s));
    put64(out + 6 * G + 2, bits_of64(r));
    put64(out + 6 * G + 4, bits_of64(root64(r * r + 1.0) - 1.0 / b));
}

/* Sums of pairs: double the precision of a double, and of a float. */
BODY(double_double) {
    double high = 0, low = 0;
    float sum = 0, lost = 0;
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        double v = moderate64(in[8 * G + i], in[8 * G + (i + 1) % 8] >> 4), p = v * v,
               e = __builtin_fma(v, v, -p);
        double t = high + p, z = t - high;
        low += (high - (t - z)) + (p - z) + e;
        high = t;
        float y = moderate(in[8 * G + i]) - lost, f = sum + y;
        lost = (f - sum) - y;
        sum = f;
    }
    put64(out + 6 * G, bits_of64(high));
    put64(out + 6 * G + 2, bits_of64(low));
    out[6 * G + 4] = bits_of(sum);
    out[6 * G + 5] = bits_of(lost);
}

/* LU without pivots of a diagonally heavy 5x5, then a determinant and a solution. */
BODY(lu_f64) {
    double a[5][5], b[5], det = 1;
    UNUSED_N;
    for (u32 i = 0; i < 5; i++) {
        for (u32 k = 0; k < 5; k++)
            a[i][k] = moderate64(0, in[G * 25 + i * 5 + k]) * 0x1p-18 + (i == k ? 8.0 : 0.0);
        b[i] = (double)i + 1;
    }
    for (u32 p = 0; p < 5; p++) {
        det *= a[p][p];
        for (u32 i = p + 1; i < 5; i++) {
            double f = a[i][p] / a[p][p];
            for (u32 k = p; k < 5; k++)
                a[i][k] -= f * a[p][k];
            b[i] -= f * b[p];
        }
    }
    for (u32 i = 5; i-- > 0;) {
        for (u32 k = i + 1; k < 5; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (u32 i = 0; i < 5; i++)
        put64(out + 12 * G + 2 * i, bits_of64(b[i]));
    put64(out + 12 * G + 10, bits_of64(det));
}

FN float any_float(u32 v) { return f32_of(v & 3 ? v : v & 0x807fffff); } /* denormals in a quarter */
BODY(classify_f32) {
    static const u32 SPECIAL[8] = {0,          0x80000000, 0x7f800000, 0xff800000,
                                   0x7fc00000, 0xffc12345, 1,          0x80400000};
    float f = G % 4 == 0 ? f32_of(SPECIAL[G / 4 % 8]) : any_float(in[G]);
    UNUSED_N;
    u32 r = __builtin_isnan(f) ? 1u : 0;
    r |= __builtin_isinf(f) ? 2u : 0;
    r |= __builtin_isfinite(f) ? 4u : 0;
    r |= __builtin_isnormal(f) ? 8u : 0;
    r |= (u32)__builtin_fpclassify(1, 2, 3, 4, 5, f) << 4;
    r |= __builtin_signbit(f) ? 128u : 0;
    out[G] = r;
}
BODY(classify_f64) {
    static const u32 SPECIAL[8] = {0,          0x80000000, 0x7ff00000, 0xfff00000,
                                   0x7ff80000, 0xfff92345, 1,          0x80080000};
    double f = f64_of(G % 4 == 0 ? (u64)SPECIAL[G / 4 % 8] << 32
                                 : wide(in[2 * G], in[2 * G + 1] & (G % 4 == 1 ? 0x800fffff : ~0u)));
    UNUSED_N;
    u32 r = __builtin_isnan(f) ? 1u : 0;
    r |= __builtin_isinf(f) ? 2u : 0;
    r |= __builtin_isfinite(f) ? 4u : 0;
    r |= __builtin_isnormal(f) ? 8u : 0;
    r |= (u32)__builtin_fpclassify(1, 2, 3, 4, 5, f) << 4;
    r |= __builtin_signbit(f) ? 128u : 0;
    out[G] = r;
}

BODY(rounding_f32) {
    float f = G & 1 ? any_float(in[G]) : moderate(in[G]) * 64.0f;
    u32 *o = out + 6 * G;
    UNUSED_N;
    o[0] = bits_of(__builtin_floorf(f));
    o[1] = bits_of(__builtin_ceilf(f));
    o[2] = bits_of(__builtin_truncf(f));
    o[3] = bits_of(__builtin_rintf(f));
    o[4] = bits_of(__builtin_roundf(f));
    o[5] = bits_of(__builtin_nearbyintf(f * 0.5f));
}
BODY(rounding_f64) {
    double f = G & 1 ? f64_of(wide(in[2 * G], in[2 * G + 1])) : moderate64(in[2 * G], in[2 * G + 1]) * 64.0;
    u32 *o = out + 10 * G;
    UNUSED_N;
    put64(o, bits_of64(__builtin_floor(f)));
    put64(o + 2, bits_of64(__builtin_ceil(f)));
    put64(o + 4, bits_of64(__builtin_trunc(f)));
    put64(o + 6, bits_of64(__builtin_rint(f)));
    put64(o + 8, bits_of64(__builtin_round(f)));
}

/* What a cast of a clamped value gives, for all the widths. */
#define CLAMPED(f, low, high) ((f) != (f) ? 0 : (f) < (low) ? (low) : (f) > (high) ? (high) : (f))
BODY(saturating_conversions) {
    float f = G & 1 ? f32_of(in[2 * G]) : moderate(in[2 * G]) * 300.0f;
    double d = G & 2 ? f64_of(wide(in[2 * G], in[2 * G + 1])) : moderate64(in[2 * G], in[2 * G + 1]) * 1e8;
    u32 *o = out + 12 * G;
    UNUSED_N;
    o[0] = (u32)(i32)(i8)CLAMPED(f, -128.0f, 127.0f);
    o[1] = (u8)CLAMPED(f, 0.0f, 255.0f);
    o[2] = (u32)(i32)(i16)CLAMPED(f, -32768.0f, 32767.0f);
    o[3] = (u16)CLAMPED(f, 0.0f, 65535.0f);
    o[4] = (u32)(i32)CLAMPED(f, -2147483648.0f, 2147483520.0f);
    o[5] = (u32)CLAMPED(f, 0.0f, 4294967040.0f);
    o[6] = (u32)(i32)CLAMPED(d, -2147483648.0, 2147483647.0);
    o[7] = (u32)CLAMPED(d, 0.0, 4294967295.0);
    put64(o + 8, (u64)(i64)CLAMPED(d, -9223372036854775808.0, 9223372036854774784.0));
    put64(o + 10, (u64)CLAMPED(f, 0.0f, 18446742974197923840.0f));
}
BODY(integers_to_floats) {
    u32 a = in[2 * G] >> (G & 31), b = in[2 * G + 1];
    u64 w = wide(a, b) >> (G & 63);
    u32 *o = out + 12 * G;
    UNUSED_N;
    o[0] = bits_of((float)(i8)a) ^ bits_of((float)(u16)b);
    o[1] = bits_of((float)(i32)b);
    o[2] = bits_of((float)a);
    o[3] = bits_of((float)(i64)w);
    o[4] = bits_of((float)w);
    o[5] = bits_of((float)((i64)w >> 20));
    put64(o + 6, bits_of64((double)(i64)w));
    put64(o + 8, bits_of64((double)w));
    put64(o + 10, bits_of64((double)(i32)b) ^ bits_of64((double)a));
}

#ifdef __HIP__
FN float fraction_of(float f, int *e) {
    *e = __builtin_amdgcn_frexp_expf(f);
    return __builtin_amdgcn_frexp_mantf(f);
}
FN double fraction_of64(double f, int *e) {
    *e = __builtin_amdgcn_frexp_exp(f);
    return __builtin_amdgcn_frexp_mant(f);
}
#else
FN float fraction_of(float f, int *e) { return frexpf(f, e); }
FN double fraction_of64(double f, int *e) { return frexp(f, e); }
#endif
BODY(exponents) {
    u32 w = in[2 * G], *o = out + 8 * G;
    float f = f32_of((w & 0x7f800000) == 0x7f800000 ? w ^ 0x40000000 : G % 5 ? w : w & 0x807fffff);
    u32 h = in[2 * G + 1];
    double d = f64_of(wide(w, (h & 0x7ff00000) == 0x7ff00000 ? h ^ 0x40000000 : G % 3 ? h : h & 0x800fffff));
    int e = 0, e64 = 0;
    UNUSED_N;
    o[0] = bits_of(fraction_of(f, &e));
    o[1] = (u32)e;
    put64(o + 2, bits_of64(fraction_of64(d, &e64)));
    o[4] = (u32)e64;
    o[5] = bits_of(__builtin_ldexpf(f, (int)(h % 400) - 200));
    put64(o + 6, bits_of64(__builtin_ldexp(d, (int)(w % 3000) - 1500)));
}

/* Minima and maxima where a NaN loses; no two zeros of unlike sign meet. */
BODY(nan_minmax) {
    u32 w = in[4 * G], v = in[4 * G + 1], *o = out + 8 * G;
    float a = w % 3 == 0 ? f32_of(0x7fc00000 | w) : moderate(w),
          b = v % 3 == 0 ? f32_of(0x7fc00000 | v) : f32_of(v | 1);
    double c = w % 5 == 0 ? f64_of(wide(w, 0x7ff80000 | w)) : moderate64(w, v | 1),
           d = f64_of(wide(v, in[4 * G + 2] | 1));
    UNUSED_N;
    o[0] = bits_of(__builtin_fminf(a, b));
    o[1] = bits_of(__builtin_fmaxf(a, b));
    o[2] = bits_of(__builtin_fmaxf(__builtin_fminf(a, 3.0f), -3.0f));
    o[3] = bits_of(a < b ? a : b) ^ bits_of(a > b ? a : b);
    put64(o + 4, bits_of64(__builtin_fmin(c, d)));
    put64(o + 6, bits_of64(__builtin_fmax(c, 0.5)));
}

BODY(denormals) {
    float a = f32_of(in[3 * G] & 0x80ffffff), b = f32_of(in[3 * G + 1] & 0x80ffffff),
          c = f32_of((in[3 * G + 2] & 0x80ffffff) | 0x3f000000);
    double d = f64_of(wide(in[3 * G], in[3 * G + 1] & 0x801fffff)),
           e = f64_of(wide(in[3 * G + 2], in[3 * G] & 0x801fffff));
    u32 *o = out + 10 * G;
    UNUSED_N;
    o[0] = bits_of(a + b);
    o[1] = bits_of(a - b);
    o[2] = bits_of(a * c);
    o[3] = bits_of(__builtin_fmaf(a, c, b));
    o[4] = bits_of(a / c);
    o[5] = (a < b) | (a == 0) << 1 | (b > 0) << 2;
    put64(o + 6, bits_of64(d + e));
    put64(o + 8, bits_of64(d * 0.75));
}

BODY(complex_products) {
    float ar = 1, ai = 0;
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        float br = moderate(in[8 * G + i]) * 0.01f, bi = moderate(in[8 * G + (i + 3) % 8]) * 0.01f;
        float r = ar * br - ai * bi, m = ar * bi + ai * br;
        ar = r + 0.5f;
        ai = m;
    }
    out[2 * G] = bits_of(ar);
    out[2 * G + 1] = bits_of(ai);
}

BODY(division_f32) {
    float a = f32_of(in[2 * G]), b = G & 1 ? f32_of(in[2 * G + 1]) : moderate(in[2 * G + 1] | 1);
    u32 *o = out + 4 * G;
    UNUSED_N;
    o[0] = bits_of(a / b);
    o[1] = bits_of(1.0f / b);
    o[2] = bits_of(__builtin_sqrtf(__builtin_fabsf(a)));
    o[3] = bits_of(b / 7.0f + a * 0.1f);
}

/* Sums and products that are exact, so that no freedom of -ffast-math changes them. */
BODY(exact_under_fast_math) {
    float s = 0, p = 1, q = 0;
    double d = 0;
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        float v = (float)(in[8 * G + i] & 15);
        s += v * 2.0f + 1.0f;
        p = (p * (float)((in[8 * G + i] >> 4 & 1) + 1)) * 1.0f;
        q = __builtin_fmaxf(q, v - 3.0f);
        d += (double)v * 0.5 - (double)q;
    }
    out[4 * G] = (u32)s;
    out[4 * G + 1] = (u32)p;
    out[4 * G + 2] = (u32)(i32)q;
    out[4 * G + 3] = (u32)(i32)(d * 2.0);
}
