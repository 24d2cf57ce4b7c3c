/* Functions of 128 bits that both the device and the host compile: what the host computes is what the
 * emulator has to compute. FUNCTION(name) { ... } reads x.w[0..3] and returns a quad. FUNCTION_LIST names
 * them all. */
#ifndef TW_TESTS_EMU_FUNCTIONS_H
#define TW_TESTS_EMU_FUNCTIONS_H

#ifdef __HIP__
#include "tests/emu/kernels/hip.h"
#define FN static inline DEVICE
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#define FN static inline __attribute__((unused))
typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
#endif

typedef struct quad {
    u32 w[4];
} quad;

#define FUNCTION(name)   FN quad fn_##name(quad x)
#define A                (x.w[0])
#define B                (x.w[1])
#define C                (x.w[2])
#define D                (x.w[3])
#define QUAD(a, b, c, d) ((quad){{(u32)(a), (u32)(b), (u32)(c), (u32)(d)}})
#define LOW(v)           (u32)(v), (u32)((u64)(v) >> 32)

FN u64 wide(u32 lo, u32 hi) { return lo | (u64)hi << 32; }
FN float f32_of(u32 bits) {
    float f;
    __builtin_memcpy(&f, &bits, 4);
    return f;
}
FN u32 bits_of(float f) {
    u32 bits;
    __builtin_memcpy(&bits, &f, 4);
    /* A NaN's sign and payload are not part of what a program may rely on. */
    return f != f ? 0x7fc00000u : bits;
}
FN double f64_of(u64 bits) {
    double f;
    __builtin_memcpy(&f, &bits, 8);
    return f;
}
FN u64 bits_of64(double f) {
    u64 bits;
    __builtin_memcpy(&bits, &f, 8);
    return f != f ? 0x7ff8000000000000ull : bits;
}
/* A float of moderate size from any bits, and of any size. */
FN float moderate(u32 v) { return (float)(i32)v * 0x1p-24f; }
FN double moderate64(u32 v, u32 w) { return (double)(i64)wide(v, w) * 0x1p-52; }

/* ---- integers ---- */

FUNCTION(add_sub) { return QUAD(A + B, A - B, C - D - A, (A + B) ^ (C + D)); }
FUNCTION(mul) {
    return QUAD(A * B, (u32)((u64)A * B >> 32), (u32)((u64)((i64)(i32)A * (i32)B) >> 32),
                (C & 0xffffff) * (D & 0xffffff));
}
FUNCTION(mul24) {
    i32 a = (i32)(A << 8) >> 8, b = (i32)(B << 8) >> 8;
    return QUAD(a * b, (u32)((u64)((i64)a * b) >> 32), (u32)((u64)(C & 0xffffff) * (D & 0xffffff) >> 32),
                a * b + (i32)C);
}
FUNCTION(add64) {
    u64 a = wide(A, B), b = wide(C, D), s = a + b, d = a - b;
    return QUAD(s, s >> 32, d, d >> 32);
}
FUNCTION(mul64) {
    u64 p = wide(A, B) * wide(C, D);
    i64 q = (i64)(i32)A * (i32)C + (i64)wide(B, D);
    return QUAD(p, p >> 32, q, (u64)q >> 32);
}
FUNCTION(mul128) {
    unsigned __int128 p = (unsigned __int128)wide(A, B) * wide(C, D);
    return QUAD(p, p >> 32, p >> 64, p >> 96);
}
FUNCTION(shifts) { return QUAD(A << (B & 31), A >> (B & 31), (i32)A >> (C & 31), 1u << (D & 31)); }
FUNCTION(shifts64) {
    u64 a = wide(A, B), l = a << (C & 63), r = a >> (D & 63), s = (u64)((i64)a >> (C & 63));
    return QUAD(l ^ s, l >> 32, r ^ (s >> 32), r >> 32);
}
FUNCTION(rotates) {
    u32 n = B & 31;
    return QUAD(A << n | A >> ((32 - n) & 31), A >> n | A << ((32 - n) & 31), A << 7 | B >> 25,
                C >> 13 | D << 19);
}
FUNCTION(logic) { return QUAD((A & B) | C, (A ^ B) & ~C, ~(A | D), (A & D) | (~A & B)); }
FUNCTION(logic3) { return QUAD(A ^ B ^ C, A | B | C, (A & B) ^ (B & C) ^ (C & A), A & B & ~D); }
FUNCTION(fields) {
    return QUAD(A >> 5 & 0x7f, (i32)(A << 9) >> 20, (B & ~0xff0u) | (C & 0xff) << 4, A >> (B & 31) & 0xfff);
}
FUNCTION(counts) {
    return QUAD(__builtin_popcount(A) + __builtin_popcountll(wide(B, C)), A ? __builtin_clz(A) : 32,
                B ? __builtin_ctz(B) : 32, (D | C) ? __builtin_clzll(wide(D, C)) : 64);
}
FUNCTION(swaps) {
    u32 r = 0;
    for (int i = 0; i < 32; i++)
        r |= (A >> i & 1) << (31 - i);
    return QUAD(r, __builtin_bswap32(B), (u32)__builtin_bswap16((u16)C) | D << 16,
                (C & 0xff00ff) << 8 | (C >> 8 & 0xff00ff));
}
FUNCTION(minmax) {
    i32 a = (i32)A, b = (i32)B, c = (i32)C;
    u32 lo = A < B ? A : B, hi = A > B ? A : B;
    i32 m = a < b ? a : b, clamped = c < m ? m : c > b ? b : c;
    return QUAD(lo, hi, m, clamped);
}
FUNCTION(minmax3) {
    i32 a = (i32)A, b = (i32)B, c = (i32)C, t = a < b ? a : b, u = a > b ? a : b;
    u32 p = A > B ? A : B;
    return QUAD(t < c ? t : c, u > c ? u : c, p > C ? p : C, (u < c ? u : c) > t ? (u < c ? u : c) : t);
}
FUNCTION(minmax64) {
    i64 a = (i64)wide(A, B), b = (i64)wide(C, D), lo = a < b ? a : b;
    u64 hi = (u64)a > (u64)b ? (u64)a : (u64)b;
    return QUAD(lo, (u64)lo >> 32, hi, hi >> 32);
}
FUNCTION(compares) {
    u32 r = 0;
    i32 a = (i32)A, b = (i32)B;
    i64 p = (i64)wide(A, C), q = (i64)wide(B, D & 1 ? C : D);
    r |= a < b ? 1 : 0;
    r |= a <= b ? 2 : 0;
    r |= a == (i32)(C % 3) ? 4 : 0;
    r |= A < B ? 8 : 0;
    r |= A >= C ? 16 : 0;
    r |= p < q ? 32 : 0;
    r |= (u64)p <= (u64)q ? 64 : 0;
    r |= p == q ? 128 : 0;
    r |= p != q ? 256 : 0;
    r |= (u64)p > (u64)q ? 512 : 0;
    return QUAD(r, (i16)A<(i16)B, (u16)A>(u16) B, (u8)C == (u8)D);
}
FUNCTION(divide) {
    u32 b = B | 1, d = D % 1000 + 1;
    i32 c = (i32)C, s = (i32)d * ((A & 1) ? 1 : -1);
    return QUAD(A / b, A % b, c / s, c % s);
}
FUNCTION(divide_small) { return QUAD(A / 7, A % 10, (i32)B / 1000, (i32)C % 37); }
FUNCTION(divide64) {
    u64 a = wide(A, B), b = wide(C, D & 0xff) | 1;
    u64 q = a / b, r = a % b;
    return QUAD(q, q >> 32, r, r >> 32);
}
FUNCTION(divide64_signed) {
    i64 a = (i64)wide(A, B), b = (i64)(i32)(C | 1);
    i64 q = a / b, r = a % b;
    return QUAD(q, (u64)q >> 32, r, (u64)r >> 32);
}
FUNCTION(bytes) {
    i8 a = (i8)A, b = (i8)(A >> 8);
    u8 c = (u8)B, d = (u8)(B >> 8);
    return QUAD((i8)(a + b), (u8)(c * d), (i32)a * b, (u32)((u8)(c - d) >> 1) | (u32)(u8)(a / (b | 1)) << 8);
}
FUNCTION(shorts) {
    i16 a = (i16)A, b = (i16)(A >> 16);
    u16 c = (u16)B, d = (u16)(B >> 16);
    i16 lo = a < b ? a : b;
    u16 hi = c > d ? c : d;
    return QUAD((u16)(a + b) | (u32)(u16)(a - b) << 16, (u16)(c * d) | (u32)hi << 16,
                (u16)lo | (u32)(u16)(a >> (d & 15)) << 16, (u16)(c << (d & 15)) | (u32)(u16)(c >> 3) << 16);
}
FUNCTION(short_mad) {
    i32 a = (i16)A, b = (i16)B;
    u32 c = (u16)C, d = (u16)D;
    return QUAD(a * b + (i32)C, c * d + A, (u16)(c * d + (u16)B), (i16)(a * b + (i16)C));
}
FUNCTION(sad) {
    u32 s = D;
    for (int i = 0; i < 32; i += 8) {
        u32 a = A >> i & 255, b = B >> i & 255;
        s += a > b ? a - b : b - a;
    }
    return QUAD(s, A > B ? A - B : B - A, (i32)C < 0 ? 0u - C : C, s + 1);
}
FUNCTION(saturate) {
    u32 s = A + B;
    i64 t = (i64)(i32)C + (i32)D;
    u32 d = A > B ? A - B : 0;
    i32 n = (i32)A;
    return QUAD(s < A ? 0xffffffffu : s,
                t > 0x7fffffff        ? 0x7fffffff
                : t < -0x7fffffff - 1 ? -0x7fffffff - 1
                                      : (i32)t,
                d,
                n < -128  ? -128
                : n > 127 ? 127
                          : n);
}
FUNCTION(carry_chain) {
    u64 lo = wide(A, B) + wide(C, D);
    u64 carry = lo < wide(C, D);
    u64 hi = wide(B, A) + wide(D, C) + carry;
    return QUAD(lo, lo >> 32, hi, hi >> 32);
}
FUNCTION(morton) {
    u32 r[2] = {A & 0xffff, B & 0xffff};
    for (int k = 0; k < 2; k++) {
        r[k] = (r[k] | r[k] << 8) & 0x00ff00ff;
        r[k] = (r[k] | r[k] << 4) & 0x0f0f0f0f;
        r[k] = (r[k] | r[k] << 2) & 0x33333333;
        r[k] = (r[k] | r[k] << 1) & 0x55555555;
    }
    return QUAD(r[0] | r[1] << 1, r[0], r[1], r[0] ^ r[1]);
}
FUNCTION(crc32) {
    u32 crc = ~0u;
    for (int k = 0; k < 4; k++) {
        crc ^= x.w[k];
        for (int i = 0; i < 32; i++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return QUAD(~crc, crc * 3, crc >> 7, crc ^ A);
}
FUNCTION(hash) {
    u32 h = D;
    for (int k = 0; k < 3; k++) {
        u32 v = x.w[k] * 0xcc9e2d51u;
        v = v << 15 | v >> 17;
        h ^= v * 0x1b873593u;
        h = h << 13 | h >> 19;
        h = h * 5 + 0xe6546b64u;
    }
    u64 z = wide(h, A) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    return QUAD(h, z, z >> 32, z >> 17);
}
/* Loops whose length differs from lane to lane. */
FUNCTION(gcd) {
    u32 a = A % 100000, b = B % 100000, steps = 0;
    while (b) {
        u32 t = a % b;
        a = b;
        b = t;
        steps++;
    }
    return QUAD(a, steps, a * steps, 0);
}
FUNCTION(collatz) {
    u32 n = A % 1000 + 1, steps = 0, most = n;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        if (n > most) most = n;
        steps++;
    }
    return QUAD(steps, most, n, 0);
}
FUNCTION(nested_loops) {
    u32 count = 0, sum = 0;
    for (u32 i = 0; i < A % 13; i++) {
        for (u32 k = i; k < B % 17; k++) {
            if ((i ^ k) % 5 == 3) continue;
            if (k > C % 23) break;
            sum += i * k;
            count++;
        }
        if (sum > 500) break;
    }
    return QUAD(count, sum, count ^ sum, 1);
}
FUNCTION(switches) {
    u32 r = 0;
    for (u32 k = 0; k < 6; k++) {
        switch (x.w[k & 3] >> (4 * k) & 15) {
        case 0: r += 1; break;
        case 1: r ^= A; break;
        case 2: r = r * 3 + B; break;
        case 3: r -= C; __attribute__((fallthrough));
        case 4: r |= 8; break;
        case 5: r = ~r; break;
        case 7: r = r << 3 | r >> 29; break;
        case 8: r += k; break;
        case 9: r *= k; break;
        case 11: r ^= r >> 11; break;
        case 13: return QUAD(r, k, 13, 0);
        default: r += 7; break;
        }
    }
    return QUAD(r, 6, 0, r >> 3);
}
FUNCTION(sorting_network) {
    u32 v[4] = {A, B, C, D};
#define CAS(i, k)          \
    do {                   \
        if (v[i] > v[k]) { \
            u32 t = v[i];  \
            v[i] = v[k];   \
            v[k] = t;      \
        }                  \
    } while (0)
    CAS(0, 1);
    CAS(2, 3);
    CAS(0, 2);
    CAS(1, 3);
    CAS(1, 2);
#undef CAS
    return QUAD(v[0], v[1], v[2], v[3]);
}
/* An array that is indexed by a value: scratch, or a chain of selects. */
FUNCTION(indexed_array) {
    u32 a[16];
    for (int i = 0; i < 16; i++)
        a[i] = A * (u32)i + B;
    for (int i = 0; i < 16; i++)
        a[(C >> (2 * i) & 3) * 4 + (D >> (2 * i) & 3)] += (u32)i * i;
    return QUAD(a[A & 15], a[B & 15], a[C & 15], a[D & 15]);
}
FUNCTION(bubble_sort) {
    u8 v[16];
    for (int i = 0; i < 16; i++)
        v[i] = (u8)(x.w[i / 4] >> (i % 4 * 8));
    for (int i = 0; i < 15; i++) {
        for (int k = 0; k < 15 - i; k++) {
            if (v[k] > v[k + 1]) {
                u8 t = v[k];
                v[k] = v[k + 1];
                v[k + 1] = t;
            }
        }
    }
    quad r = {{0, 0, 0, 0}};
    for (int i = 0; i < 16; i++)
        r.w[i / 4] |= (u32)v[i] << (i % 4 * 8);
    return r;
}
/* A string of digits to a number and back. */
FUNCTION(digits) {
    char text[12];
    int n = 0;
    u32 v = A;
    do {
        text[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    u32 sum = 0, back = 0;
    for (int i = n - 1; i >= 0; i--) {
        sum += (u32)text[i];
        back = back * 10 + (u32)(text[i] - '0');
    }
    return QUAD(n, sum, back, back == A);
}
FUNCTION(sha_round) {
    u32 s0 = (A >> 7 | A << 25) ^ (A >> 18 | A << 14) ^ A >> 3;
    u32 s1 = (B >> 17 | B << 15) ^ (B >> 19 | B << 13) ^ B >> 10;
    u32 ch = (A & B) ^ (~A & C), maj = (A & B) ^ (A & C) ^ (B & C);
    return QUAD(s0 + ch + D + 0x428a2f98u, s1 + maj, s0 ^ s1, ch + maj);
}

/* ---- f32 ---- */

FUNCTION(f32_arith) {
    float a = f32_of(A), b = f32_of(B), c = moderate(C), d = moderate(D);
    return QUAD(bits_of(a + b), bits_of(a - b), bits_of(c * d), bits_of(a * d));
}
FUNCTION(f32_fma) {
    float a = moderate(A), b = moderate(B), c = f32_of(C), d = f32_of(D);
    return QUAD(bits_of(__builtin_fmaf(a, b, c)), bits_of(__builtin_fmaf(c, d, a)),
                bits_of(__builtin_fmaf(-a, b, d)), bits_of(__builtin_fmaf(a, -2.0f, -b)));
}
FUNCTION(f32_divide) {
    float a = f32_of(A), b = f32_of(B), c = moderate(C), d = moderate(D | 1);
    return QUAD(bits_of(a / b), bits_of(c / d), bits_of(1.0f / a), bits_of(c / 3.0f));
}
FUNCTION(f32_sqrt) {
    float a = f32_of(A & 0x7fffffff), c = moderate(C & 0x7fffffff);
    return QUAD(bits_of(__builtin_sqrtf(a)), bits_of(__builtin_sqrtf(c)), bits_of(__builtin_sqrtf(f32_of(B))),
                bits_of(1.0f / __builtin_sqrtf(c + 1.0f)));
}
FUNCTION(f32_compare) {
    float a = f32_of(A), b = f32_of(B), c = f32_of((C & 3) == 0 ? A : C);
    u32 r = 0;
    r |= a < b ? 1 : 0;
    r |= a <= c ? 2 : 0;
    r |= a > b ? 4 : 0;
    r |= a >= c ? 8 : 0;
    r |= a == c ? 16 : 0;
    r |= a != b ? 32 : 0;
    r |= !(a < b) ? 64 : 0;
    r |= !(a >= c) ? 128 : 0;
    r |= __builtin_isunordered(a, b) ? 256 : 0;
    r |= __builtin_islessgreater(a, c) ? 512 : 0;
    return QUAD(r, bits_of(a < b ? c : -a), bits_of(__builtin_fabsf(a)), bits_of(__builtin_copysignf(a, b)));
}
FUNCTION(f32_round) {
    float a = f32_of(A), c = moderate(C) * 100.0f;
    return QUAD(bits_of(__builtin_floorf(c)) ^ bits_of(__builtin_ceilf(a)), bits_of(__builtin_truncf(c)),
                bits_of(__builtin_rintf(c)), bits_of(__builtin_roundf(c)) ^ bits_of(__builtin_floorf(a)));
}
FUNCTION(f32_minmax) {
    float a = moderate(A), b = moderate(B), c = moderate(C);
    float lo = __builtin_fminf(a, b), hi = __builtin_fmaxf(a, b);
    return QUAD(bits_of(lo), bits_of(hi), bits_of(__builtin_fminf(hi, __builtin_fmaxf(lo, c))),
                bits_of(__builtin_fmaxf(hi, c)));
}
FUNCTION(f32_nan_minmax) {
    float a = A & 1 ? f32_of(A | 0x7fc00000u) : moderate(A),
          b = B & 1 ? f32_of(B | 0x7fc00000u) : moderate(B);
    return QUAD(bits_of(__builtin_fminf(a, b)), bits_of(__builtin_fmaxf(a, b)), 0, 0);
}
FUNCTION(f32_from_int) {
    return QUAD(bits_of((float)A), bits_of((float)(i32)B), bits_of((float)(u8)C), bits_of((float)(i16)D));
}
FUNCTION(f32_to_int) {
    float a = moderate(A) * 1000.0f, b = moderate(B & 0x7fffffff) * 30000.0f;
    return QUAD((i32)a, (u32)b, (i32)__builtin_floorf(a), (i16)(i32)moderate(C));
}
FUNCTION(f32_from_int64) {
    u64 v = wide(A, B);
    float f = (float)v, g = (float)(i64)v;
    return QUAD(bits_of(f), bits_of(g), bits_of((float)(v >> (C & 63))), 0);
}
FUNCTION(f32_to_int64) {
    i64 v = (i64)(moderate(A) * 1e15f);
    u64 u = (u64)(moderate(B & 0x7fffffff) * 1e17f);
    return QUAD(v, (u64)v >> 32, u, u >> 32);
}
FUNCTION(f32_scale) {
    float a = f32_of(A);
    int e = (int)(B % 300) - 150;
    return QUAD(bits_of(__builtin_ldexpf(a, e)), bits_of(__builtin_ldexpf(moderate(C), 10)), 0, 0);
}
FUNCTION(f32_polynomial) {
    float a = moderate(A) * 0.01f, r = 1.0f;
    for (int i = 12; i > 0; i--)
        r = 1.0f + r * a / (float)i;
    return QUAD(bits_of(r), bits_of(r * a), bits_of(r - a), bits_of(-r));
}
FUNCTION(f32_newton) {
    float v = moderate(A & 0x7fffffff) + 0.5f, g = v;
    int n = 0;
    while (n < 40) {
        float next = 0.5f * (g + v / g);
        if (next == g) break;
        g = next;
        n++;
    }
    return QUAD(bits_of(g), n, 0, 0);
}
FUNCTION(mandelbrot) {
    float cr = moderate(A) * 0.015f, ci = moderate(B) * 0.01f, zr = 0, zi = 0;
    int n = 0;
    while (n < 100 && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        n++;
    }
    return QUAD(n, bits_of(zr), bits_of(zi), 0);
}

/* ---- f64 ---- */

FUNCTION(f64_arith) {
    double a = f64_of(wide(A, B)), b = moderate64(C, D);
    u64 s = bits_of64(a + b), p = bits_of64(b * 1.1 - a);
    return QUAD(s, s >> 32, p, p >> 32);
}
FUNCTION(f64_fma) {
    double a = moderate64(A, B), b = moderate64(C, D);
    u64 s = bits_of64(__builtin_fma(a, b, -a)), p = bits_of64(__builtin_fma(b, b, a));
    return QUAD(s, s >> 32, p, p >> 32);
}
FUNCTION(f64_divide) {
    double a = f64_of(wide(A, B)), b = moderate64(C, D);
    u64 s = bits_of64(a / b), p = bits_of64(1.0 / b);
    return QUAD(s, s >> 32, p, p >> 32);
}
FUNCTION(f64_sqrt) {
    double a = f64_of(wide(A, B & 0x7fffffff)), b = moderate64(C, D & 0x7fffffff);
    u64 s = bits_of64(__builtin_sqrt(a)), p = bits_of64(__builtin_sqrt(b));
    return QUAD(s, s >> 32, p, p >> 32);
}
FUNCTION(f64_convert) {
    double a = moderate64(A, B) * 1000.0;
    float f = (float)a;
    u64 back = bits_of64((double)f32_of(C));
    return QUAD(bits_of(f), (i32)a, back, back >> 32);
}
FUNCTION(f64_ints) {
    u64 a = bits_of64((double)A), b = bits_of64((double)(i32)B), c = bits_of64((double)(i64)wide(C, D));
    i64 t = (i64)(moderate64(C, D) * 1e9);
    return QUAD(a ^ c, (a >> 32) ^ b, (b >> 32) ^ (u64)t, (c >> 32) ^ (u64)t >> 32);
}
FUNCTION(f64_round) {
    double a = moderate64(A, B) * 100.0;
    u64 s = bits_of64(__builtin_floor(a)) ^ bits_of64(__builtin_trunc(a)),
        p = bits_of64(__builtin_rint(a)) + bits_of64(__builtin_ceil(a));
    return QUAD(s, s >> 32, p, p >> 32);
}
FUNCTION(f64_compare) {
    double a = f64_of(wide(A, B)), b = f64_of(D & 1 ? wide(A, B) : wide(C, D));
    u64 m = bits_of64(a < b ? b : -a);
    return QUAD((a < b) | (a <= b) << 1 | (a == b) << 2 | (a != b) << 3 | (a > b) << 4 | (a >= b) << 5, m,
                m >> 32, 0);
}

/* clang-format off */
#define FUNCTION_LIST(X) \
    X(add_sub) X(mul) X(mul24) X(add64) X(mul64) X(mul128) X(shifts) X(shifts64) X(rotates) X(logic) \
    X(logic3) X(fields) X(counts) X(swaps) X(minmax) X(minmax3) X(minmax64) X(compares) X(divide) \
    X(divide_small) X(divide64) X(divide64_signed) X(bytes) X(shorts) X(short_mad) X(sad) X(saturate) \
    X(carry_chain) X(morton) X(crc32) X(hash) X(gcd) X(collatz) X(nested_loops) X(switches) \
    X(sorting_network) X(indexed_array) X(bubble_sort) X(digits) X(sha_round)
/* clang-format on */
/* clang-format off */
#define FUNCTION_LIST_FLOAT(X) \
    X(f32_arith) X(f32_fma) X(f32_divide) X(f32_sqrt) X(f32_compare) X(f32_round) X(f32_minmax) \
    X(f32_nan_minmax) X(f32_from_int) X(f32_to_int) X(f32_from_int64) X(f32_to_int64) X(f32_scale) \
    X(f32_polynomial) X(f32_newton) X(mandelbrot) X(f64_arith) X(f64_fma) X(f64_divide) X(f64_sqrt) \
    X(f64_convert) X(f64_ints) X(f64_round) X(f64_compare)
/* clang-format on */

#endif
