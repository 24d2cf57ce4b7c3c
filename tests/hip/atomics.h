/* Atomic operations in global memory, LDS and through pointers of either kind. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

#define ATOMIC(op, p, v) __hip_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
/* Works on 12 words: eight of 32 bits, two of 64. */
#define INTEGER_ATOMICS(w, v)                   \
    ATOMIC(add, &(w)[0], v);                    \
    ATOMIC(min, (i32 *)&(w)[1], (i32)(v));      \
    ATOMIC(max, (i32 *)&(w)[2], (i32)(v));      \
    ATOMIC(max, &(w)[3], v);                    \
    ATOMIC(or, &(w)[4], (v)&0xff0ff0);          \
    ATOMIC(xor, &(w)[5], v);                    \
    ATOMIC(sub, &(w)[6], v);                    \
    ATOMIC(and, &(w)[7], (v) | 0xffff);         \
    ATOMIC(add, (u64 *)&(w)[8], (u64)(v) << 7); \
    ATOMIC(xor, (u64 *)&(w)[10], (u64)(v)*0x100010001ull)
GROUP_KERNEL(atomics_global) {
    UNUSED_N;
    INTEGER_ATOMICS(out, in[G]);
}
GROUP_KERNEL(atomics_lds) {
    SHARED u64 t[6];
    UNUSED_N;
    u32 *w = (u32 *)t;
    if (TX < 6) t[TX] = 0;
    sync();
    INTEGER_ATOMICS(w, in[G]);
    sync();
    if (TX < 12) out[BX * 12 + TX] = w[TX];
}
static DEVICE NOINLINE void through_pointer(u32 *w, u32 v) { INTEGER_ATOMICS(w, v); }
GROUP_KERNEL(atomics_flat) {
    SHARED u64 t[6];
    UNUSED_N;
    if (TX < 6) t[TX] = 0;
    sync();
    through_pointer(TX & 1 ? (u32 *)t : out, in[G]);
    sync();
    if (TX < 12) out[12 + BX * 12 + TX] = ((u32 *)t)[TX];
}
/* Old values: each work-item draws numbers that nobody else has. */
GROUP_KERNEL(atomics_returning) {
    SHARED u32 next;
    UNUSED_N;
    if (TX == 0) next = 0;
    sync();
    u32 a = GROUP_ADD_TO(&next, 3u) / 3, b = ATOMIC(add, &out[0], 1u);
    u64 c = ATOMIC(add, (u64 *)&out[2], 5ul) / 5;
    out[4 + BX * 64 + a] = 1;
    out[4 + 128 + b] = 1;
    out[4 + 256 + c] = 1;
}
/* Whole numbers, for which the order does not matter. */
GROUP_KERNEL(atomics_float) {
    SHARED float f;
    SHARED double d;
    UNUSED_N;
    if (TX == 0) {
        f = 0;
        d = 0;
    }
    sync();
    float v = (float)(i32)(in[G] >> 20) - 2000.0f;
    GROUP_ADD_TO(&f, v);
    GROUP_ADD_TO(&d, (double)v);
    ATOMIC(add, (float *)&out[0], v);
    ATOMIC(add, (double *)&out[2], (double)v * 0.5);
    ATOMIC(max, (float *)&out[1], v);
    ATOMIC(min, (double *)&out[4], (double)v);
    ATOMIC(max, (double *)&out[6], (double)v);
    sync();
    if (TX == 0) {
        out[8 + 3 * BX] = bits_of(f);
        put64(out + 9 + 3 * BX, bits_of64(d));
    }
}
/* Bytes and shorts by compare and swap of their words. */
GROUP_KERNEL(atomics_narrow) {
    u8 *bytes = (u8 *)out;
    u16 *shorts = (u16 *)(out + 16);
    u32 v = in[G];
    UNUSED_N;
    __atomic_fetch_add(&bytes[v & 63], (u8)(v >> 8), __ATOMIC_RELAXED);
    __atomic_fetch_xor(&shorts[v & 31], (u16)(v >> 16), __ATOMIC_RELAXED);
}
/* A product, which no instruction has: compare and swap until it is done. */
GROUP_KERNEL(compare_and_swap) {
    SHARED u64 p;
    UNUSED_N;
    if (TX == 0) p = 1;
    sync();
    u32 v = in[G] | 1, old = __hip_atomic_load(&out[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    while (!__hip_atomic_compare_exchange_weak(&out[0], &old, (old | 1) * v, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)) {
    }
    u64 seen = p, wanted;
    do {
        wanted = seen;
        seen = __sync_val_compare_and_swap(&p, wanted, wanted * v);
    } while (seen != wanted);
    sync();
    if (TX == 0) put64(out + 2 + 2 * BX, p);
}
GROUP_KERNEL(exchanges) {
    SHARED u32 head;
    SHARED u32 next[64];
    UNUSED_N;
    /* A list that all push to, and then a walk along it. */
    if (TX == 0) head = 64;
    sync();
    next[TX] = __hip_atomic_exchange(&head, TX, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    sync();
    if (TX == 0) {
        u32 length = 0, sum = 0;
        for (u32 at = head; at < 64; at = next[at]) {
            length++;
            sum += in[BX * 64 + at];
        }
        out[2 * BX] = length;
        out[2 * BX + 1] = sum;
    }
}
/* Counters that wrap. */
GROUP_KERNEL(wrapping_counters) {
    SHARED u32 up, down;
    UNUSED_N;
    if (TX == 0) {
        up = 0;
        down = 7;
    }
    sync();
    u32 a = __builtin_amdgcn_atomic_inc32(&up, 9, __ATOMIC_RELAXED, "workgroup"),
        b = __builtin_amdgcn_atomic_dec32(&down, 12, __ATOMIC_RELAXED, "workgroup");
    __builtin_amdgcn_atomic_inc32(&out[0], 99, __ATOMIC_RELAXED, "agent");
    __builtin_amdgcn_atomic_dec64((u64 *)&out[2], 1000, __ATOMIC_RELAXED, "agent");
    ATOMIC(add, &out[4 + a], 1u);
    ATOMIC(add, &out[14 + b], 1u);
}
/* Keys into a table of 256 places by open addressing; then each key finds its count. */
GROUP_KERNEL(hash_table) {
    SHARED u32 key[256], count[256];
    UNUSED_N;
    for (u32 i = TX; i < 256; i += 128)
        key[i] = count[i] = 0;
    sync();
    u32 mine = in[G] % 50 + 1, at = mine * 0x9e3779b1u >> 24;
    for (;; at = (at + 1) & 255) {
        u32 empty = 0;
        __atomic_compare_exchange_n(&key[at], &empty, mine, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (empty == 0 || empty == mine) break;
    }
    GROUP_ADD_TO(&count[at], 1u);
    sync();
    out[G] = count[at];
}
/* Sets that grow together: the root is the smallest member. */
GROUP_KERNEL(union_find) {
    SHARED u32 parent[128];
    UNUSED_N;
    parent[TX] = TX;
    sync();
    u32 a = TX, b = in[TX] >> 25;
    if (in[TX] & 1) {
        for (;;) {
            u32 p;
            while ((p = __hip_atomic_fetch_or(&parent[a], 0u, __ATOMIC_RELAXED,
                                              __HIP_MEMORY_SCOPE_WORKGROUP)) != a)
                a = p;
            while ((p = __hip_atomic_fetch_or(&parent[b], 0u, __ATOMIC_RELAXED,
                                              __HIP_MEMORY_SCOPE_WORKGROUP)) != b)
                b = p;
            if (a == b) break;
            u32 low = umin(a, b), high = umax(a, b), root = high;
            if (__atomic_compare_exchange_n(&parent[high], &root, low, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                break;
        }
    }
    sync();
    u32 r = TX;
    while (parent[r] != r)
        r = parent[r];
    out[TX] = r;
}
GROUP_KERNEL(append_and_consume) {
    SHARED int counter;
    UNUSED_N;
    if (TX == 0) counter = 0;
    sync();
    /* The first takes the count of the active lanes of the wave, at once. */
    if (in[G] & 1) __builtin_amdgcn_ds_append((__attribute__((address_space(3))) int *)&counter);
    sync();
    if (TX == 0) out[2 * BX] = (u32)counter;
    sync();
    if (in[G] & 2) __builtin_amdgcn_ds_consume((__attribute__((address_space(3))) int *)&counter);
    sync();
    if (TX == 0) out[2 * BX + 1] = (u32)counter;
}

#else

static void all_atomics(u32 *w, u32 v) {
    u64 sum = wide(w[8], w[9]) + ((u64)v << 7), mix = wide(w[10], w[11]) ^ v * 0x100010001ull;
    w[0] += v;
    w[1] = (u32)imin((i32)w[1], (i32)v);
    w[2] = (u32)imax((i32)w[2], (i32)v);
    w[3] = umax(w[3], v);
    w[4] |= v & 0xff0ff0;
    w[5] ^= v;
    w[6] -= v;
    w[7] &= v | 0xffff;
    put64(w + 8, sum);
    put64(w + 10, mix);
}
REFERENCE(atomics_global) {
    for (u32 i = 0; i < n; i++)
        all_atomics(out, in[i]);
}
REFERENCE(atomics_lds) {
    for (u32 i = 0; i < n; i++)
        all_atomics(out + i / 128 * 12, in[i]);
}
REFERENCE(atomics_flat) {
    for (u32 i = 0; i < n; i++)
        all_atomics(i & 1 ? out + 12 + i / 64 * 12 : out, in[i]);
}
REFERENCE(atomics_returning) {
    (void)in;
    out[0] = n;
    out[2] = 5 * n;
    for (u32 i = 0; i < 3 * n; i++)
        out[4 + i] = 1;
}
REFERENCE(atomics_float) {
    float sum[3] = {0}, high = 0;
    double low = 0;
    for (u32 i = 0; i < n; i++) {
        float v = (float)(in[i] >> 20) - 2000.0f;
        sum[2] += v;
        sum[i / 64] += v;
        if (v > high) high = v;
        if (v < low) low = v;
    }
    out[0] = bits_of(sum[2]);
    out[1] = bits_of(high);
    put64(out + 2, bits_of64(sum[2] * 0.5));
    put64(out + 4, bits_of64(low));
    put64(out + 6, bits_of64((double)high));
    for (u32 g = 0; g < 2; g++) {
        out[8 + 3 * g] = bits_of(sum[g]);
        put64(out + 9 + 3 * g, bits_of64((double)sum[g]));
    }
}
REFERENCE(atomics_narrow) {
    for (u32 i = 0; i < n; i++) {
        ((u8 *)out)[in[i] & 63] += (u8)(in[i] >> 8);
        ((u16 *)(out + 16))[in[i] & 31] ^= (u16)(in[i] >> 16);
    }
}
REFERENCE(compare_and_swap) {
    u64 p[2] = {1, 1};
    out[0] = 1;
    for (u32 i = 0; i < n; i++) {
        out[0] *= in[i] | 1;
        p[i / 64] *= in[i] | 1;
    }
    put64(out + 2, p[0]);
    put64(out + 4, p[1]);
}
REFERENCE(exchanges) {
    for (u32 i = 0; i < n; i++) {
        out[i / 64 * 2]++;
        out[i / 64 * 2 + 1] += in[i];
    }
}
REFERENCE(wrapping_counters) {
    u32 down = 7;
    u64 d = 0;
    (void)in;
    for (u32 i = 0; i < n; i++) {
        out[4 + i % 64 % 10]++;
        if (i % 64 == 0) down = 7;
        out[14 + down]++;
        down = down == 0 ? 12 : down - 1;
        out[0] = out[0] >= 99 ? 0 : out[0] + 1;
        d = d == 0 || d > 1000 ? 1000 : d - 1;
    }
    put64(out + 2, d);
}
REFERENCE(hash_table) {
    for (u32 i = 0; i < n; i++)
        for (u32 k = i & ~127u; k < (i & ~127u) + 128; k++)
            out[i] += in[i] % 50 == in[k] % 50;
}
REFERENCE(union_find) {
    for (u32 i = 0; i < n; i++)
        out[i] = i;
    for (u32 i = 0; i < n; i++) {
        u32 a = out[i], b = out[in[i] >> 25];
        for (u32 k = 0; in[i] & 1 && k < n; k++)
            if (out[k] == a || out[k] == b) out[k] = umin(a, b);
    }
}
REFERENCE(append_and_consume) {
    for (u32 i = 0; i < n; i++) {
        out[i / 64 * 2] += in[i] & 1;
        out[i / 64 * 2 + 1] += (in[i] & 1) - (in[i] >> 1 & 1);
    }
}

#endif
