/* Integers of 8 to 256 bits. */
#include "tests/hip/kernel.h"

/* Schoolbook product of 256-bit numbers. */
BODY(bigint_multiply) {
    u32 r[16] = {0};
    UNUSED_N;
    for (u32 i = 0; i < 8; i++) {
        u64 carry = 0;
        for (u32 k = 0; k < 8; k++) {
            u64 t = (u64)in[G * 16 + i] * in[G * 16 + 8 + k] + r[i + k] + carry;
            r[i + k] = (u32)t;
            carry = t >> 32;
        }
        r[i + 8] = (u32)carry;
    }
    for (u32 i = 0; i < 16; i++)
        out[G * 16 + i] = r[i];
}

#define DIVIDE(unsigned_type, signed_type, bits)                                             \
    {                                                                                        \
        unsigned_type a = (unsigned_type)wide(in[4 * G], in[4 * G + 1]),                     \
                      b = (unsigned_type)(wide(in[4 * G + 2], in[4 * G + 3]) >> (G % bits)); \
        signed_type c = (signed_type)a, d = (signed_type)b;                                  \
        if (b == 0) b = 3;                                                                   \
        if (d == 0 || d == -1) d = 7;                                                        \
        put64(out + at, (u64)(a / b));                                                       \
        put64(out + at + 2, (u64)(a % b));                                                   \
        put64(out + at + 4, (u64)(i64)(signed_type)(c / d));                                 \
        put64(out + at + 6, (u64)(i64)(signed_type)(c % d));                                 \
        at += 8;                                                                             \
    }
BODY(divisions) {
    u32 at = G * 32;
    UNUSED_N;
    DIVIDE(u8, i8, 8)
    DIVIDE(u16, i16, 16)
    DIVIDE(u32, i32, 32)
    DIVIDE(u64, i64, 64)
}
BODY(divisions_by_constants) {
    u32 v = in[2 * G];
    u64 w = wide(v, in[2 * G + 1]);
    UNUSED_N;
    u32 *o = out + 8 * G;
    o[0] = v / 3 + v % 10 + (u32)((i32)v / 7);
    o[1] = (u32)((i32)v % 1000) + v / 641;
    put64(o + 2, w / 10 + w % 1000000007ull);
    put64(o + 4, (u64)((i64)w / -13) ^ (u64)((i64)w % 4096));
    o[6] = (u16)((u16)v / 17) | (u32)(u8)((i8)v / 5) << 16;
    o[7] = (u32)(w % 255) << 16 | (u32)(w / 0xfedcba9876543ull);
}

BODY(gcd_binary) {
    u64 a = wide(in[2 * G], in[2 * G + 1]) | 1, b = wide(in[2 * G + 1], in[2 * G]) >> (G & 31);
    u32 steps = 0;
    UNUSED_N;
    while (b) {
        b >>= __builtin_ctzll(b);
        if (a > b) {
            u64 t = a;
            a = b;
            b = t;
        }
        b -= a;
        steps++;
    }
    put64(out + 3 * G, a);
    out[3 * G + 2] = steps;
}

FN u64 multiply_mod(u64 a, u64 b, u64 m) { return (u64)((u128)a * b % m); }
BODY(power_mod) {
    u64 m = (wide(in[2 * G], in[2 * G + 1]) >> 3) | 1, base = wide(in[2 * G + 1], in[2 * G]) % m, r = 1;
    UNUSED_N;
    u32 e = in[2 * G] >> 22;
    for (; e; e >>= 1) {
        if (e & 1) r = multiply_mod(r, base, m);
        base = multiply_mod(base, base, m);
    }
    put64(out + 2 * G, r);
}
/* Montgomery's way to the same. */
BODY(montgomery) {
    u32 m = in[2 * G] | 1, inverse = m, x = in[2 * G + 1] % m, r = (u32)(((u64)1 << 32) % m);
    UNUSED_N;
    for (u32 i = 0; i < 4; i++)
        inverse *= 2 - m * inverse;
    for (u32 i = 0; i < 20; i++) {
        u64 t = (u64)r * x;
        u32 q = (u32)t * (0u - inverse);
        u64 product = (u64)q * m, sum = t + product;
        u64 high = (sum >> 32) + ((u64)(sum < t) << 32);
        r = (u32)(high >= m ? high - m : high);
    }
    out[G] = r;
}
BODY(inverse_mod) {
    i64 m = 1000000007, a = (i64)(in[G] % 1000000006) + 1, r0 = m, r1 = a, t0 = 0, t1 = 1;
    UNUSED_N;
    while (r1) {
        i64 q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    out[G] = (u32)(t0 < 0 ? t0 + m : t0);
}

BODY(int128) {
    u128 a = (u128)wide(in[8 * G], in[8 * G + 1]) << 64 | wide(in[8 * G + 2], in[8 * G + 3]);
    u128 b = (u128)wide(in[8 * G + 4], in[8 * G + 5]) << 64 | wide(in[8 * G + 6], in[8 * G + 7]);
    u32 by = in[8 * G] & 127, *o = out + 28 * G;
    UNUSED_N;
    put128(o, a + b);
    put128(o + 4, a - b);
    put128(o + 8, a * b);
    put128(o + 12, a << by);
    put128(o + 16, b >> by);
    put128(o + 20, (u128)((i128)a >> by));
    o[24] = (a < b) | ((i128)a < (i128)b) << 1 | (a == b) << 2;
    put64(o + 25, (u64)((a ^ b) >> 32));
    o[27] = (u32)((a & ~b) >> 96);
}
BODY(int128_division) {
    u128 a = (u128)wide(in[4 * G], in[4 * G + 1]) << 64 | wide(in[4 * G + 2], in[4 * G + 3]);
    u128 b = (u128)in[4 * G + 3] << (G & 63) | 1;
    UNUSED_N;
    put128(out + 8 * G, a / b);
    put128(out + 8 * G + 4, (u128)((i128)a % (i128)b));
}

#ifdef __HIP__
#define SATURATED(type, name, sum, difference)                                         \
    FN type name##_add(type a, type b) { return __builtin_elementwise_add_sat(a, b); } \
    FN type name##_sub(type a, type b) { return __builtin_elementwise_sub_sat(a, b); }
#else
#define SATURATED(type, name, sum, difference)                 \
    FN type name##_add(type a, type b) { return (type)(sum); } \
    FN type name##_sub(type a, type b) { return (type)(difference); }
#endif
#define LIMITED(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
SATURATED(u8, sat_u8, LIMITED(a + b, 0, 255), LIMITED(a - b, 0, 255))
SATURATED(i8, sat_i8, LIMITED(a + b, -128, 127), LIMITED(a - b, -128, 127))
SATURATED(u16, sat_u16, LIMITED(a + b, 0, 65535), LIMITED(a - b, 0, 65535))
SATURATED(i16, sat_i16, LIMITED(a + b, -32768, 32767), LIMITED(a - b, -32768, 32767))
SATURATED(u32, sat_u32, LIMITED((i64)a + b, 0, 0xffffffffll), LIMITED((i64)a - b, 0, 0xffffffffll))
SATURATED(i32, sat_i32, LIMITED((i64)a + b, INT32_MIN, INT32_MAX), LIMITED((i64)a - b, INT32_MIN, INT32_MAX))
SATURATED(u64, sat_u64, a + b < a ? ~0ull : a + b, a < b ? 0 : a - b)
SATURATED(i64, sat_i64, LIMITED((i128)a + b, INT64_MIN, INT64_MAX),
          LIMITED((i128)a - b, INT64_MIN, INT64_MAX))
BODY(saturation) {
    u32 a = in[4 * G], b = in[4 * G + 1], *o = out + 12 * G;
    u64 c = wide(a, in[4 * G + 2]), d = wide(b, in[4 * G + 3]);
    UNUSED_N;
    o[0] = sat_u8_add((u8)a, (u8)b) | (u32)sat_u8_sub((u8)a, (u8)b) << 16;
    o[1] = (u8)sat_i8_add((i8)a, (i8)b) | (u32)(u8)sat_i8_sub((i8)a, (i8)b) << 16;
    o[2] = sat_u16_add((u16)a, (u16)b) | (u32)sat_u16_sub((u16)a, (u16)b) << 16;
    o[3] = (u16)sat_i16_add((i16)a, (i16)b) | (u32)(u16)sat_i16_sub((i16)a, (i16)b) << 16;
    o[4] = sat_u32_add(a, b) ^ sat_u32_sub(a, b);
    o[5] = (u32)sat_i32_add((i32)a, (i32)b);
    o[6] = (u32)sat_i32_sub((i32)a, (i32)b);
    o[7] = (u32)sat_u64_sub(c, d);
    put64(o + 8, sat_u64_add(c, d));
    put64(o + 10, (u64)sat_i64_add((i64)c, (i64)d) + (u64)sat_i64_sub((i64)c, (i64)d));
}

typedef struct fields {
    u32 a : 3, b : 11, c : 1, d : 17;
    i32 e : 5, f : 20, g : 7;
    u64 h : 37, k : 27;
} fields;
BODY(bitfields) {
    fields f;
    UNUSED_N;
    __builtin_memcpy(&f, in + 4 * G, 16);
    f.a += 5;
    f.b ^= f.d;
    f.c = f.a > f.b % 7;
    f.d = f.d * 3u + f.b;
    f.e = f.f >> 9;
    f.f -= f.g;
    f.g = f.e + f.g;
    f.h = f.h * 5 + f.k;
    f.k = f.h >> 11;
    __builtin_memcpy(out + 4 * G, &f, 16);
}

BODY(rotations) {
    u32 a = in[4 * G], b = in[4 * G + 1], by = in[4 * G + 2], *o = out + 8 * G;
    u64 w = wide(a, b), v = wide(b, in[4 * G + 3]);
    u32 s = by & 63;
    u16 h = (u16)a;
    u8 c = (u8)b;
    UNUSED_N;
    o[0] = rotl(a, by);
    o[1] = rotr(b, by);
    put64(o + 2, s ? w << s | v >> (64 - s) : w);
    put64(o + 4, w << 17 | w >> 47);
    o[6] = (u16)(h << (by & 15) | h >> (-by & 15)) | (u32)(u8)(c << 3 | c >> 5) << 16;
    o[7] = (u32)(w >> (by & 31));
}

#ifdef __HIP__
#define bit_reverse(v)   __builtin_bitreverse32(v)
#define bit_reverse64(v) __builtin_bitreverse64(v)
#define bit_reverse8(v)  __builtin_bitreverse8(v)
#else
FN u64 bit_reverse64(u64 v) {
    u64 r = 0;
    for (u32 i = 0; i < 64; i++)
        r |= (v >> i & 1) << (63 - i);
    return r;
}
FN u32 bit_reverse(u32 v) { return (u32)(bit_reverse64(v) >> 32); }
FN u8 bit_reverse8(u8 v) { return (u8)(bit_reverse64(v) >> 56); }
#endif
BODY(bit_counts) {
    u32 a = in[2 * G] >> (G & 31), b = in[2 * G + 1], *o = out + 10 * G;
    u64 w = wide(a, b) >> (G & 63);
    UNUSED_N;
    o[0] = a ? (u32)__builtin_clz(a) : 99;
    o[1] = a ? (u32)__builtin_ctz(a) : 99;
    o[2] = w ? (u32)__builtin_clzll(w) : 99;
    o[3] = w ? (u32)__builtin_ctzll(w) : 99;
    o[4] = (u32)__builtin_popcount(a) | (u32)__builtin_popcountll(w) << 8 | (u32)__builtin_parity(b) << 16;
    o[5] = bit_reverse(a) ^ bit_reverse8((u8)b);
    put64(o + 6, bit_reverse64(w));
    o[8] = (u32)__builtin_clrsb((i32)b) | (u32)__builtin_ffs((i32)a) << 8 |
           (u32)__builtin_clz((b & 0xffff) | 1) << 16;
    o[9] = __builtin_bswap32(a) ^ __builtin_bswap16((u16)b);
}
BODY(byte_swap64) {
    UNUSED_N;
    put64(out + 2 * G, __builtin_bswap64(wide(in[2 * G], in[2 * G + 1])));
}

BODY(square_roots) {
    u64 v = wide(in[2 * G], in[2 * G + 1]), rest = v, root = 0;
    u32 low = 0, high = 2642245;
    UNUSED_N;
    for (u64 bit = 1ull << 62; bit; bit >>= 2) {
        if (rest >= root + bit) {
            rest -= root + bit;
            root = root / 2 + bit;
        } else
            root /= 2;
    }
    while (low < high) {
        u64 middle = (low + high + 1) / 2;
        if (middle * middle * middle <= v)
            low = (u32)middle;
        else
            high = (u32)middle - 1;
    }
    out[2 * G] = (u32)root;
    out[2 * G + 1] = low;
}

BODY(random_streams) {
    u64 s = wide(in[2 * G], in[2 * G + 1]), pcg = s, r = 0;
    u32 a = in[2 * G] | 1, lfsr = in[2 * G + 1];
    UNUSED_N;
    for (u32 i = 0; i < 20; i++) {
        u64 z = s += 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ z >> 27) * 0x94d049bb133111ebull;
        r ^= z ^ z >> 31;
        pcg = pcg * 6364136223846793005ull + 1442695040888963407ull;
        r += rotr((u32)((pcg >> 18 ^ pcg) >> 27), (u32)(pcg >> 59));
        a ^= a << 13;
        a ^= a >> 17;
        a ^= a << 5;
        lfsr = lfsr >> 1 ^ ((0u - (lfsr & 1)) & 0x80200003u);
    }
    put64(out + 4 * G, r);
    out[4 * G + 2] = a;
    out[4 * G + 3] = lfsr;
}
/* A generator with a large private state. */
BODY(mersenne) {
    u32 s[40];
    UNUSED_N;
    s[0] = in[G];
    for (u32 i = 1; i < 40; i++)
        s[i] = 1812433253u * (s[i - 1] ^ s[i - 1] >> 30) + i;
    for (u32 i = 0; i < 40; i++) {
        u32 y = (s[i] & 0x80000000u) | (s[(i + 1) % 40] & 0x7fffffffu);
        s[i] = s[(i + 23) % 40] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    u32 y = s[in[G] % 40];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    out[G] = y ^ y >> 18;
}

/* The permutation of a number, and its inverse. */
BODY(permutations) {
    u8 left[12], p[12], inverse[12];
    u32 rank = in[G] % 479001600u, r = rank, factor = 479001600u;
    UNUSED_N;
    for (u32 i = 0; i < 12; i++)
        left[i] = (u8)i;
    for (u32 i = 0; i < 12; i++) {
        factor /= 12 - i;
        u32 k = r / factor;
        r %= factor;
        p[i] = left[k];
        for (; k + 1 < 12 - i; k++)
            left[k] = left[k + 1];
    }
    for (u32 i = 0; i < 12; i++)
        inverse[p[i]] = (u8)i;
    u32 a = 0, b = 0, back = 0;
    for (u32 i = 0; i < 12; i++) {
        u32 smaller = 0;
        for (u32 k = i + 1; k < 12; k++)
            smaller += p[k] < p[i];
        back = back * (12 - i) + smaller;
        a = a * 13 + p[i];
        b = b * 13 + inverse[i];
    }
    out[3 * G] = a;
    out[3 * G + 1] = b;
    out[3 * G + 2] = back - rank; /* always 0 */
}

/* Colours: blends of packed bytes. */
BODY(pixels) {
    u32 a = in[2 * G], b = in[2 * G + 1], r = 0, luma = 0;
    UNUSED_N;
    for (u32 s = 0; s < 32; s += 8) {
        u32 p = a >> s & 255, q = b >> s & 255, alpha = a >> 24;
        r |= ((p * alpha + q * (255 - alpha) + 127) / 255 & 255) << s;
        luma += p * (s == 0 ? 77 : s == 8 ? 150 : s == 16 ? 29 : 0);
    }
    out[2 * G] = r;
    out[2 * G + 1] = luma >> 8;
}

BODY(mandelbrot_fixed) {
    i32 cr = (i32)in[2 * G] >> 6, ci = (i32)in[2 * G + 1] >> 7, x = 0, y = 0;
    u32 i = 0;
    UNUSED_N;
    for (; i < 60; i++) {
        i64 xx = (i64)x * x >> 24, yy = (i64)y * y >> 24;
        if (xx + yy > (i64)4 << 24) break;
        i32 t = (i32)(xx - yy) + cr;
        y = (i32)(((i64)x * y >> 23) + ci);
        x = t;
    }
    out[G] = i << 24 ^ (u32)x ^ (u32)y << 3;
}
