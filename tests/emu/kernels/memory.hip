#include "tests/emu/kernels/hip.h"

typedef __attribute__((ext_vector_type(3))) u32 u32x3;
typedef __attribute__((ext_vector_type(2))) u32 u32x2;

/* 12-byte and other odd sizes. */
struct triple {
    u32 x, y, z;
};
KERNEL void triples(triple *out, const triple *in, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    triple t = in[n - 1 - i];
    t.x += t.y;
    t.z ^= t.x;
    out[i] = t;
}

KERNEL void gather(u16 *out, const u16 *in, const i32 *where, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = (u16)(in[where[i]] + 1);
}

KERNEL void scatter(u8 *out, const i8 *in, const i32 *where, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[where[i]] = (u8)(in[i] * 2);
}

/* Negative offsets, and an address that is far from its buffer until it is put together. */
KERNEL void offsets(i32 *out, const i32 *in, long shift, int n) {
    int i = GLOBAL_THREAD;
    const i32 *end = in + n;
    if (i < n) out[i] = end[-1 - i] + (in + shift)[i - shift];
}

KERNEL void copy_bytes(u8 *out, const u8 *in, int n) {
    for (int i = GLOBAL_THREAD; i < n; i += (int)__builtin_amdgcn_grid_size_x())
        out[i] = in[i];
}

DEVICE const u32 TABLE[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
DEVICE u32 counter = 7;
KERNEL void tables(u32 *out, const u32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = TABLE[in[i] & 15] * 10 + TABLE[i & 15] + counter;
}

KERNEL void global_atomics(i32 *t, u64 *w, float *f, double *d, const i32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    i32 v = in[i];
    __atomic_fetch_add(&t[0], v, __ATOMIC_RELAXED);
    __atomic_fetch_max(&t[1], v, __ATOMIC_RELAXED);
    __atomic_fetch_min(&t[2], v, __ATOMIC_RELAXED);
    __atomic_fetch_or(&t[3], v, __ATOMIC_RELAXED);
    __atomic_fetch_and(&t[4], v | 0xff, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&t[5], v, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&t[6], v, __ATOMIC_RELAXED);
    __atomic_fetch_max((u32 *)&t[7], (u32)v, __ATOMIC_RELAXED);
    i32 old = __atomic_load_n(&t[8], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&t[8], &old, old * 3 + 1 > 100000 ? 0 : old + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&w[0], (u64)(u32)v << 8, __ATOMIC_RELAXED);
    __atomic_fetch_max((i64 *)&w[1], (i64)v * 65536, __ATOMIC_RELAXED);
    __hip_atomic_fetch_add(f, (float)(v & 15), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_fetch_add(d, (double)(v & 31), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* Every work-item draws a ticket: each is drawn once. */
KERNEL void tickets(u32 *out, u32 *next, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[__atomic_fetch_add(next, 1u, __ATOMIC_RELAXED)] = (u32)i;
}

/* Float sums whose value depends on their order. */
KERNEL void ordered_sum(float *out, const float *in, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) __hip_atomic_fetch_add(out, in[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

/* The last workgroup to finish adds up what the others left. */
KERNEL WORKGROUP(64) void last_block(u32 *out, u32 *parts, u32 *done, const u32 *in) {
    SHARED u32 t[64];
    SHARED bool last;
    t[THREAD] = in[GLOBAL_THREAD];
    sync();
    for (int step = 32; step > 0; step /= 2) {
        if (THREAD < step) t[THREAD] += t[THREAD + step];
        sync();
    }
    if (THREAD == 0) {
        parts[BLOCK] = t[0];
        u32 groups = __builtin_amdgcn_grid_size_x() / 64;
        last = __hip_atomic_fetch_add(done, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) == groups - 1;
        if (last) {
            u32 s = 0;
            for (u32 g = 0; g < groups; g++)
                s += parts[g];
            *out = s;
        }
    }
}
