/* Sorting: networks, counting, merging, in LDS and in private arrays. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

/* Pairs of a key and a value; 256 of them a workgroup of 128. */
GROUP_KERNEL(bitonic_pairs) {
    SHARED u64 t[256];
    const u32 *mine = in + BX * 256;
    UNUSED_N;
    for (u32 i = TX; i < 256; i += 128)
        t[i] = (u64)(mine[i] >> 20) << 32 | i;
    for (u32 size = 2; size <= 256; size *= 2) {
        for (u32 step = size / 2; step > 0; step /= 2) {
            sync();
            u32 i = 2 * TX - (TX & (step - 1));
            u64 a = t[i], b = t[i + step];
            if ((a > b) == ((i & size) == 0)) {
                t[i] = b;
                t[i + step] = a;
            }
        }
    }
    sync();
    for (u32 i = TX; i < 256; i += 128)
        put64(out + (BX * 256 + i) * 2, t[i]);
}

GROUP_KERNEL(odd_even_sort) {
    SHARED i32 t[128];
    UNUSED_N;
    t[TX] = (i32)in[BX * 128 + TX];
    t[TX + 64] = (i32)in[BX * 128 + 64 + TX];
    sync();
    for (u32 round = 0; round < 128; round++) {
        u32 i = 2 * TX + (round & 1);
        if (i + 1 < 128) {
            i32 a = t[i], b = t[i + 1];
            if (a > b) {
                t[i] = b;
                t[i + 1] = a;
            }
        }
        sync();
    }
    out[BX * 128 + TX] = (u32)t[TX];
    out[BX * 128 + 64 + TX] = (u32)t[TX + 64];
}

/* Four bits a pass; each work-item owns one element, its place comes from counts of digits before it. */
GROUP_KERNEL(radix_sort) {
    SHARED u32 keys[64], next[64];
    SHARED u16 count[16][65];
    UNUSED_N;
    keys[TX] = in[G];
    for (u32 shift = 0; shift < 32; shift += 4) {
        sync();
        u32 key = keys[TX], digit = key >> shift & 15;
        for (u32 d = 0; d < 16; d++)
            count[d][TX + 1] = d == digit;
        if (TX < 16) count[TX][0] = 0;
        sync();
        if (TX < 16)
            for (u32 i = 1; i <= 64; i++)
                count[TX][i] = (u16)(count[TX][i] + count[TX][i - 1]);
        sync();
        u32 at = count[digit][TX];
        for (u32 d = 0; d < digit; d++)
            at += count[d][64];
        next[at] = key;
        sync();
        keys[TX] = next[TX];
    }
    out[G] = keys[TX];
}

/* Bottom-up merging: an element finds its place in the other run by binary search. */
GROUP_KERNEL(merge_sort) {
    SHARED u32 t[2][128];
    UNUSED_N;
    t[0][TX] = in[G];
    u32 from = 0;
    for (u32 run = 1; run < 128; run *= 2, from ^= 1) {
        sync();
        u32 v = t[from][TX], base = TX & ~(2 * run - 1), second = TX & run;
        u32 other = base + (second ? 0 : run), low = 0, high = run;
        while (low < high) {
            u32 middle = (low + high) / 2, w = t[from][other + middle];
            if (w < v || (second && w == v))
                low = middle + 1;
            else
                high = middle;
        }
        t[from ^ 1][base + (TX & (run - 1)) + low] = v;
    }
    sync();
    out[G] = t[from][TX];
}

GROUP_KERNEL(rank_sort) {
    SHARED i16 t[128];
    UNUSED_N;
    i16 v = (i16)in[G];
    t[TX] = v;
    sync();
    u32 rank = 0;
    for (u32 i = 0; i < 128; i++)
        rank += t[i] < v || (t[i] == v && i < TX);
    out[BX * 128 + rank] = (u32)v;
}

#else

static int by_u32(const void *a, const void *b) {
    u32 x = *(const u32 *)a, y = *(const u32 *)b;
    return (x > y) - (x < y);
}
static int by_i32(const void *a, const void *b) {
    i32 x = *(const i32 *)a, y = *(const i32 *)b;
    return (x > y) - (x < y);
}
static int by_u64(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}
static void sort_runs(u32 *out, u32 n, u32 run, int (*order)(const void *, const void *)) {
    for (u32 i = 0; i < n; i += run)
        qsort(out + i, run, 4, order);
}

REFERENCE(bitonic_pairs) {
    static u64 t[256];
    for (u32 g = 0; g < n / 256; g++) {
        for (u32 i = 0; i < 256; i++)
            t[i] = (u64)(in[g * 256 + i] >> 20) << 32 | i;
        qsort(t, 256, 8, by_u64);
        for (u32 i = 0; i < 256; i++)
            put64(out + (g * 256 + i) * 2, t[i]);
    }
}
REFERENCE(odd_even_sort) {
    memcpy(out, in, n * 4);
    sort_runs(out, n, 128, by_i32);
}
REFERENCE(radix_sort) {
    memcpy(out, in, n * 4);
    sort_runs(out, n, 64, by_u32);
}
REFERENCE(merge_sort) {
    memcpy(out, in, n * 4);
    sort_runs(out, n, 128, by_u32);
}
REFERENCE(rank_sort) {
    for (u32 i = 0; i < n; i++)
        out[i] = (u32)(i16)in[i];
    sort_runs(out, n, 128, by_i32);
}

#endif

BODY(insertion_sort) {
    i16 v[20];
    UNUSED_N;
    for (u32 i = 0; i < 20; i++) {
        i16 x = (i16)(in[G * 10 + i / 2] >> (i & 1) * 16);
        u32 k = i;
        while (k > 0 && v[k - 1] > x) {
            v[k] = v[k - 1];
            k--;
        }
        v[k] = x;
    }
    for (u32 i = 0; i < 10; i++)
        out[G * 10 + i] = (u16)v[2 * i] | (u32)(u16)v[2 * i + 1] << 16;
}

CALL void sift_down(u32 *heap, u32 at, u32 count) {
    for (;;) {
        u32 child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && heap[child + 1] > heap[child]) child++;
        if (heap[at] >= heap[child]) return;
        u32 t = heap[at];
        heap[at] = heap[child];
        heap[child] = t;
        at = child;
    }
}
BODY(heap_sort) {
    u32 heap[24];
    UNUSED_N;
    for (u32 i = 0; i < 24; i++)
        heap[i] = in[G * 24 + i];
    for (u32 i = 12; i > 0; i--)
        sift_down(heap, i - 1, 24);
    for (u32 i = 24; i > 1; i--) {
        u32 t = heap[0];
        heap[0] = heap[i - 1];
        heap[i - 1] = t;
        sift_down(heap, 0, i - 1);
    }
    for (u32 i = 0; i < 24; i++)
        out[G * 24 + i] = heap[i];
}

/* The k-th smallest, by partitions, recursively. */
CALL u32 select_kth(u32 *v, u32 count, u32 k) {
    u32 less = 0, pivot = v[count / 2], equal = 0;
    u32 part[15];
    for (u32 i = 0; i < count; i++) {
        less += v[i] < pivot;
        equal += v[i] == pivot;
    }
    if (k >= less && k < less + equal) return pivot;
    bool low = k < less;
    u32 m = 0;
    for (u32 i = 0; i < count; i++)
        if (low ? v[i] < pivot : v[i] > pivot) part[m++] = v[i];
    return select_kth(part, m, low ? k : k - less - equal);
}
BODY(quick_select) {
    u32 v[15];
    UNUSED_N;
    for (u32 i = 0; i < 15; i++)
        v[i] = in[G * 15 + i];
    out[G] = select_kth(v, 15, G % 15);
}
