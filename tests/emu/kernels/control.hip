#include "tests/emu/kernels/hip.h"

static DEVICE NOINLINE u32 fibonacci(u32 n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
KERNEL void recursion(u32 *out, const u32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = fibonacci(in[i] % 11);
}

static DEVICE NOINLINE u32 ackermann(u32 m, u32 n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL void deep_recursion(u32 *out, const u32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = ackermann(in[i] % 3, in[i] / 3 % 5);
}

static DEVICE NOINLINE u32 op_add(u32 a, u32 b) { return a + b; }
static DEVICE NOINLINE u32 op_mul(u32 a, u32 b) { return a * b; }
static DEVICE NOINLINE u32 op_xor(u32 a, u32 b) { return a ^ (b << 3); }
static DEVICE NOINLINE u32 op_mix(u32 a, u32 b) { return op_add(op_mul(a, 31), op_xor(b, a)); }
typedef u32 (*operation)(u32, u32);
KERNEL void indirect_calls(u32 *out, const u32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    u32 v = in[i], r = v;
    for (int k = 0; k < 4; k++) {
        u32 which = v >> (2 * k) & 3;
        operation f = which == 0 ? op_add : which == 1 ? op_mul : which == 2 ? op_xor : op_mix;
        r = f(r, (u32)k + 1);
    }
    out[i] = r;
}

static DEVICE NOINLINE void swap_values(u32 *a, u32 *b) {
    u32 t = *a;
    *a = *b;
    *b = t;
}
static DEVICE NOINLINE void quicksort(u32 *v, int first, int last) {
    if (first >= last) return;
    u32 pivot = v[(first + last) / 2];
    int i = first, k = last;
    while (i <= k) {
        while (v[i] < pivot)
            i++;
        while (v[k] > pivot)
            k--;
        if (i <= k) {
            swap_values(&v[i], &v[k]);
            i++;
            k--;
        }
    }
    quicksort(v, first, k);
    quicksort(v, i, last);
}
KERNEL void sort_in_scratch(u32 *data, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    u32 v[12];
    for (int k = 0; k < 12; k++)
        v[k] = data[i * 12 + k];
    quicksort(v, 0, 11);
    for (int k = 0; k < 12; k++)
        data[i * 12 + k] = v[k];
}

/* A little machine: states and transitions through a switch. */
KERNEL void state_machine(u32 *out, const u8 *text, const u32 *start, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    const u8 *p = text + start[i], *end = text + start[i + 1];
    u32 state = 0, numbers = 0, words = 0, value = 0, total = 0;
    while (p < end) {
        u8 c = *p++;
        u32 kind = c >= '0' && c <= '9' ? 1 : (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? 2 : c == '-' ? 3 : 0;
        switch (state * 4 + kind) {
        case 1: numbers++; value = c - '0'; state = 1; break;
        case 2: words++; state = 2; break;
        case 3: state = 3; break;
        case 5: value = value * 10 + (c - '0'); break;
        case 4:
        case 6:
        case 7: total += value; state = kind == 2 ? 2 : 0; break;
        case 8: state = 0; break;
        case 13: numbers++; value = 0u - (c - '0'); state = 1; break;
        case 12:
        case 14:
        case 15: state = 0; break;
        default: break;
        }
    }
    if (state == 1) total += value;
    out[i] = numbers << 24 | words << 16 | (total & 0xffff);
}

/* Lanes leave loops and functions early, in all the ways there are. */
KERNEL void divergence(u32 *out, const u32 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    u32 v = in[i], r = 0;
    if (v == 0) {
        out[i] = 1;
        return;
    }
    for (u32 a = 0;; a++) {
        if (a > (v & 15)) break;
        if ((v >> a & 1) == 0) continue;
        u32 b = v;
        do {
            r += b & 3;
            if (r > 60) goto enough;
            b >>= 2;
        } while (b > a);
        if ((r & 7) == 7) {
            out[i] = r;
            return;
        }
    }
enough:
    out[i] = r * 2;
}

struct big {
    u32 v[20];
};
static DEVICE NOINLINE big rotate_big(big b, int by) {
    big r;
    for (int k = 0; k < 20; k++)
        r.v[k] = b.v[(k + by) % 20] + (u32)by;
    return r;
}
KERNEL void by_value(u32 *out, big seed, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    big b = rotate_big(seed, i % 20);
    u32 s = 0;
    for (int k = 0; k < 20; k++)
        s = s * 7 + b.v[k];
    out[i] = s;
}

/* Bits of a board: how many ways there are to place n queens. */
KERNEL void queens(u32 *out, int n) {
    int first = THREAD;
    if (first >= n) return;
    u32 all = (1u << n) - 1, columns[16], left[16], right[16], open[16], count = 0;
    int depth = 1;
    columns[1] = 1u << first;
    left[1] = columns[1] << 1;
    right[1] = columns[1] >> 1;
    open[1] = all & ~(columns[1] | left[1] | right[1]);
    while (depth > 0) {
        if (depth == n) {
            count++;
            depth--;
            continue;
        }
        if (!open[depth]) {
            depth--;
            continue;
        }
        u32 bit = open[depth] & (0u - open[depth]);
        open[depth] ^= bit;
        columns[depth + 1] = columns[depth] | bit;
        left[depth + 1] = (left[depth] | bit) << 1;
        right[depth + 1] = (right[depth] | bit) >> 1;
        depth++;
        open[depth] = all & ~(columns[depth] | left[depth] | right[depth]);
    }
    out[first] = count;
}
