/* Widths, alignments and kinds of memory. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

typedef __attribute__((ext_vector_type(3))) u32 word3;
typedef __attribute__((ext_vector_type(4))) u32 word4_;
typedef __attribute__((ext_vector_type(4))) i32 rsrc4;

/* One vector access a size, of global memory, LDS and (through a pointer of either kind) flat. */
static DEVICE NOINLINE word3 three_words(const word3 *p) { return *p; }
static DEVICE NOINLINE u64 eight_bytes(const u64 *p) { return *p; }
static DEVICE NOINLINE i16 two_bytes(const i16 *p) { return *p; }
static DEVICE NOINLINE u8 one_byte(const u8 *p) { return *p; }
GROUP_KERNEL(flat_widths) {
    SHARED u32 t[64 * 4] __attribute__((aligned(16)));
    u32 own[4] __attribute__((aligned(16)));
    UNUSED_N;
    for (u32 i = 0; i < 4; i++)
        t[TX * 4 + i] = own[i] = in[G * 4 + i];
    sync();
    const u32 *p = TX % 3 == 0 ? in + G * 4 : TX % 3 == 1 ? t + TX * 4 : own;
    word3 a = three_words((const word3 *)p);
    out[5 * G] = a.x ^ a.y ^ a.z;
    put64(out + 5 * G + 1, eight_bytes((const u64 *)p + 1));
    out[5 * G + 3] = (u32)(i32)two_bytes((const i16 *)p + 3);
    out[5 * G + 4] = one_byte((const u8 *)p + 5);
}
GROUP_KERNEL(dynamic_lds_reverse) {
    u8 *bytes = (u8 *)dynamic_lds;
    UNUSED_N;
    for (u32 i = 0; i < 4; i++)
        bytes[TX * 4 + i] = (u8)(in[G] >> 8 * i);
    sync();
    u32 r = 0;
    for (u32 i = 0; i < 4; i++)
        r |= (u32)bytes[255 - (TX * 4 + i)] << 8 * i;
    out[G] = r;
}
/* Shorts and bytes in LDS, both halves of a register. */
GROUP_KERNEL(narrow_lds) {
    SHARED u16 s[128];
    SHARED i8 b[128];
    UNUSED_N;
    u32 v = in[G];
    s[2 * TX] = (u16)v;
    s[2 * TX + 1] = (u16)(v >> 16);
    b[TX] = (i8)(v >> 5);
    b[TX + 64] = (i8)(v >> 13);
    sync();
    u32 pair = s[127 - TX] | (u32)s[TX ^ 5] << 16;
    out[2 * G] = pair;
    out[2 * G + 1] = (u32)(b[63 - TX] * 1000 + b[64 + (TX ^ 9)]);
}
/* Buffer resources: reads past the end are zero. */
GROUP_KERNEL(buffer_accesses) {
    __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc((void *)in, 0, n * 4 - 64, BUFFER_WORD3);
    __amdgpu_buffer_rsrc_t w = __builtin_amdgcn_make_buffer_rsrc(out, 0, 64 * 8 * 4, BUFFER_WORD3);
    u32 at = TX * 16;
    word4_ v = __builtin_amdgcn_raw_buffer_load_b128(r, (int)at, 0, 0);
    u32 one = __builtin_amdgcn_raw_buffer_load_b32(r, (int)at, 4, 0);
    u16 half = __builtin_amdgcn_raw_buffer_load_b16(r, (int)at + 2, 0, 0);
    u8 byte = __builtin_amdgcn_raw_buffer_load_b8(r, (int)at + 1, 0, 0);
    word4_ z = {one, half, byte, v.x ^ v.y ^ v.z ^ v.w};
    __builtin_amdgcn_raw_buffer_store_b128(z, w, (int)TX * 32, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b16((u16)v.y, w, (int)TX * 32 + 16, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b8((u8)v.z, w, (int)TX * 32 + 18, 0, 0);
    __builtin_amdgcn_raw_buffer_store_b32(v.w, w, (int)TX * 32, 20, 0);
}

#else

REFERENCE(flat_widths) {
    const u8 *p = (const u8 *)in;
    for (u32 i = 0; i < n / 4; i++, p += 16) {
        i16 s;
        memcpy(&s, p + 6, 2);
        out[5 * i] = in[4 * i] ^ in[4 * i + 1] ^ in[4 * i + 2];
        out[5 * i + 1] = in[4 * i + 2];
        out[5 * i + 2] = in[4 * i + 3];
        out[5 * i + 3] = (u32)(i32)s;
        out[5 * i + 4] = p[5];
    }
}
REFERENCE(dynamic_lds_reverse) {
    for (u32 i = 0; i < n; i++)
        out[i] = __builtin_bswap32(in[(i & ~63u) + 63 - (i & 63)]);
}
REFERENCE(narrow_lds) {
    for (u32 i = 0; i < n; i++) {
        const u16 *s = (const u16 *)(in + (i & ~63u));
        u32 t = i & 63, base = i & ~63u;
        out[2 * i] = s[127 - t] | (u32)s[t ^ 5] << 16;
        out[2 * i + 1] = (u32)((i8)(in[base + 63 - t] >> 5) * 1000 + (i8)(in[base + (t ^ 9)] >> 13));
    }
}
REFERENCE(buffer_accesses) {
    for (u32 i = 0; i < 64; i++) {
        u32 v[4], *o = out + 8 * i;
        for (u32 k = 0; k < 4; k++)
            v[k] = 4 * i + k < n - 16 ? in[4 * i + k] : 0;
        o[0] = v[1];
        o[1] = v[0] >> 16;
        o[2] = v[0] >> 8 & 255;
        o[3] = v[0] ^ v[1] ^ v[2] ^ v[3];
        o[4] = (u16)v[1] | (v[2] & 255) << 16;
        o[5] = v[3];
    }
}

#endif

/* Fields that lie across the borders of words. */
typedef struct __attribute__((packed)) odd_record {
    u8 a;
    u16 b;
    u32 c;
    u64 d;
    double e;
    i8 f[3];
} odd_record;
BODY(packed_structs) {
    odd_record r = ((const odd_record *)in)[G];
    odd_record *o = (odd_record *)out + G;
    UNUSED_N;
    o->a = (u8)(r.a + r.f[0]);
    o->b = (u16)(r.b ^ r.c);
    o->c = r.c * 3 + r.b;
    o->d = r.d + r.c;
    o->e = (double)(i32)r.c * 0.5;
    o->f[0] = r.f[2];
    o->f[1] = (i8)(r.f[1] >> 1);
    o->f[2] = (i8)(r.f[0] - r.f[1]);
}
BODY(unaligned_words) {
    const u8 *p = (const u8 *)in + G * 8 + G % 4;
    u32 a;
    u64 b;
    u16 c;
    UNUSED_N;
    __builtin_memcpy(&a, p, 4);
    __builtin_memcpy(&b, p + 1, 8);
    __builtin_memcpy(&c, p + 3, 2);
    put64(out + 3 * G, b + a);
    out[3 * G + 2] = c;
}
/* Copies and fills of many lengths, in private memory. */
BODY(copies_and_fills) {
    u8 a[80], b[80];
    u32 hash = 0;
    UNUSED_N;
    __builtin_memset(a, (int)(in[G] & 255), 80);
    __builtin_memcpy(a + 3, in + G, 33);
    __builtin_memcpy(b, a, 80);
    __builtin_memmove(b + 5, b, 47);
    __builtin_memset(b + 60, 0x5a, 7);
    for (u32 i = 0; i < 80; i++)
        hash = hash * 31 + b[i] * 3u + a[i];
    out[G] = hash;
}
/* The same bytes as all the types. */
typedef union views {
    u32 w[4];
    u16 h[8];
    i8 b[16];
    u64 d[2];
    float f[4];
} views;
BODY(unions) {
    views v;
    UNUSED_N;
    for (u32 i = 0; i < 4; i++)
        v.w[i] = in[4 * G + i];
    v.h[in[4 * G] & 7] ^= 0x1234;
    v.b[in[4 * G + 1] & 15] = (i8)(v.b[in[4 * G + 2] & 15] * 3);
    v.d[1] += v.d[0];
    for (u32 i = 0; i < 4; i++)
        out[4 * G + i] = v.w[i];
}
/* All three dimensions of the grid. */
BODY(grid_3d) {
    u32 x = BX * DIM_X + TX, y = BY * DIM_Y + TY, z = BZ * DIM_Z + TZ;
    u32 at = (z * ITEMS_Y + y) * ITEMS_X + x;
    UNUSED_N;
    out[at] = in[at] ^ (x | y << 8 | z << 16) ^ DIM_Z << 28;
}
CONSTANT u8 PRIMES[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
BODY(constant_tables) {
    UNUSED_N;
    u32 v = in[G], r = 0;
    for (u32 i = 0; i < 32; i += 4)
        r = r * PRIMES[v >> i & 15] + i;
    out[G] = r;
}
/* Bits of composites up to 32 times 64, a word a work-item. */
BODY(prime_sieve) {
    u32 composite = G == 0 ? 3 : 0;
    UNUSED_N;
    for (u32 p = 2; p * p < 64 * 32; p++) {
        u32 first = (G * 32 + p - 1) / p * p;
        if (first < p * p) first = p * p;
        for (; first < G * 32 + 32; first += p)
            composite |= 1u << (first & 31);
    }
    out[G] = ~composite ^ in[G];
}
