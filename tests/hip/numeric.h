/* Matrices, stencils, dynamic programs, graphs and transforms. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

GROUP_KERNEL(transpose64) {
    SHARED u64 t[16][17];
    u32 x = TX & 15, y = TX / 16;
    UNUSED_N;
    t[y][x] = wide(in[2 * G], in[2 * G + 1]);
    sync();
    put64(out + 2 * G, t[x][y]);
}
/* 64 x 64 bytes, read and written as words. */
GROUP_KERNEL(transpose_bytes) {
    SHARED u8 t[64][68];
    UNUSED_N;
    for (u32 i = TX; i < 1024; i += 256)
        *(u32 *)&t[i / 16][i % 16 * 4] = in[i];
    sync();
    for (u32 i = TX; i < 1024; i += 256) {
        u32 row = i / 16, column = i % 16 * 4, v = 0;
        for (u32 k = 0; k < 4; k++)
            v |= (u32)t[column + k][row] << 8 * k;
        out[i] = v;
    }
}
GROUP_KERNEL(bit_matrix) {
    UNUSED_N;
    u32 v = in[G], r = 0;
    for (u32 i = 0; i < 32; i++) {
        u64 b = __builtin_amdgcn_ballot_w64(v >> i & 1);
        if ((LANE & 31) == i) r = (u32)(b >> (LANE & 32));
    }
    out[G] = r;
}
GROUP_KERNEL(matrix_bytes) {
    SHARED i8 a[16][32], b[32][16];
    u32 x = TX & 15, y = TX / 16;
    UNUSED_N;
    for (u32 i = TX; i < 512; i += 256) {
        a[i / 32][i % 32] = (i8)(in[i / 4] >> i % 4 * 8);
        b[i / 16][i % 16] = (i8)(in[128 + i / 4] >> i % 4 * 8);
    }
    sync();
    i32 sum = 0;
    for (u32 k = 0; k < 32; k++)
        sum += a[y][k] * b[k][x];
    out[TX] = (u32)sum;
}
/* Three steps of a 5-point mean on 18 x 18, in two LDS buffers. */
GROUP_KERNEL(jacobi) {
    SHARED float t[2][18][18];
    UNUSED_N;
    for (u32 i = TX; i < 324; i += 256)
        t[0][i / 18][i % 18] = t[1][i / 18][i % 18] = moderate(in[i]);
    u32 x = (TX & 15) + 1, y = TX / 16 + 1, from = 0;
    for (u32 step = 0; step < 3; step++, from ^= 1) {
        sync();
        float v = t[from][y][x] + t[from][y - 1][x];
        v = v + t[from][y + 1][x];
        v = v + t[from][y][x - 1];
        v = v + t[from][y][x + 1];
        t[from ^ 1][y][x] = v * 0.2f;
    }
    sync();
    out[TX] = bits_of(t[from][y][x]);
}
/* A word is a row of 32 cells; the world is a torus of 64 rows. */
GROUP_KERNEL(game_of_life) {
    SHARED u32 t[2][64];
    UNUSED_N;
    u32 from = 0;
    t[0][TX] = in[TX];
    for (u32 step = 0; step < 5; step++, from ^= 1) {
        sync();
        u32 up = t[from][(TX + 63) & 63], here = t[from][TX], down = t[from][(TX + 1) & 63];
        u32 next = 0;
        for (u32 x = 0; x < 32; x++) {
            u32 left = (x + 31) & 31, right = (x + 1) & 31;
            u32 count = (up >> left & 1) + (up >> x & 1) + (up >> right & 1) + (here >> left & 1) +
                        (here >> right & 1) + (down >> left & 1) + (down >> x & 1) + (down >> right & 1);
            if (count == 3 || (count == 2 && here >> x & 1)) next |= 1u << x;
        }
        t[from ^ 1][TX] = next;
    }
    sync();
    out[TX] = t[from][TX];
}
/* A transform of 128 numbers modulo 998244353. */
GROUP_KERNEL(number_transform) {
    SHARED u32 t[128];
    UNUSED_N;
    const u32 p = 998244353;
    for (u32 i = TX; i < 128; i += 64)
        t[__builtin_bitreverse32(i) >> 25] = in[BX * 128 + i] % p;
    for (u32 half = 1; half < 128; half *= 2) {
        u32 root = 1, w = 1, base = 3, e = (p - 1) / (2 * half);
        for (; e; e >>= 1, base = (u32)((u64)base * base % p))
            if (e & 1) root = (u32)((u64)root * base % p);
        u32 k = TX & (half - 1), i = (TX - k) * 2 + k;
        for (u32 s = 0; s < k; s++)
            w = (u32)((u64)w * root % p);
        sync();
        u32 a = t[i], b = (u32)((u64)t[i + half] * w % p);
        t[i] = a + b >= p ? a + b - p : a + b;
        t[i + half] = a >= b ? a - b : a + p - b;
    }
    sync();
    for (u32 i = TX; i < 128; i += 64)
        out[BX * 128 + i] = t[i];
}
/* Shortest ways between 16 places. */
GROUP_KERNEL(shortest_ways) {
    SHARED u32 d[16][16];
    u32 x = TX & 15, y = TX / 16;
    UNUSED_N;
    d[y][x] = x == y ? 0 : in[TX] % 1000 + 1;
    for (u32 k = 0; k < 16; k++) {
        sync();
        u32 through = d[y][k] + d[k][x];
        sync();
        if (through < d[y][x]) d[y][x] = through;
    }
    sync();
    out[TX] = d[y][x];
}
/* Distances in a graph of 128 nodes with three edges each, level by level. */
GROUP_KERNEL(breadth_first) {
    SHARED u32 level[128], changed;
    UNUSED_N;
    level[TX] = TX == 0 ? 0 : ~0u;
    for (u32 depth = 0;; depth++) {
        sync();
        if (TX == 0) changed = 0;
        sync();
        if (level[TX] == depth) {
            for (u32 k = 0; k < 3; k++) {
                u32 to = in[TX] >> 7 * k & 127, unset = ~0u;
                if (__atomic_compare_exchange_n(&level[to], &unset, depth + 1, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
                    __atomic_fetch_or(&changed, 1u, __ATOMIC_RELAXED);
            }
        }
        sync();
        if (!changed) break;
    }
    out[TX] = level[TX];
}
/* Most value of 40 things in a sack of 127, all capacities at once. */
GROUP_KERNEL(knapsack) {
    SHARED u32 best[2][128];
    UNUSED_N;
    best[0][TX] = 0;
    for (u32 i = 0; i < 40; i++) {
        u32 weight = in[i] % 30 + 1, value = in[i] >> 20;
        sync();
        u32 v = best[i & 1][TX];
        if (TX >= weight) v = umax(v, best[i & 1][TX - weight] + value);
        best[~i & 1][TX] = v;
    }
    out[TX] = best[0][TX];
}
/* Five rounds of means in the plane, in whole numbers. */
GROUP_KERNEL(k_means) {
    SHARED i32 cx[8], cy[8], sx[8], sy[8], count[8];
    i32 x = (i16)in[TX], y = (i32)in[TX] >> 16;
    u32 mine = 0;
    UNUSED_N;
    if (TX < 8) {
        cx[TX] = (i16)in[TX];
        cy[TX] = (i32)in[TX] >> 16;
    }
    for (u32 round = 0; round < 5; round++) {
        if (TX < 8) sx[TX] = sy[TX] = count[TX] = 0;
        sync();
        i64 nearest = 0x7fffffffffffffff;
        for (u32 k = 0; k < 8; k++) {
            i64 dx = x - cx[k], dy = y - cy[k], d = dx * dx + dy * dy;
            if (d < nearest) {
                nearest = d;
                mine = k;
            }
        }
        GROUP_ADD_TO(&sx[mine], x);
        GROUP_ADD_TO(&sy[mine], y);
        GROUP_ADD_TO(&count[mine], 1);
        sync();
        if (TX < 8 && count[TX]) {
            cx[TX] = sx[TX] / count[TX];
            cy[TX] = sy[TX] / count[TX];
        }
        sync();
    }
    out[TX] = mine;
    if (TX < 8) out[128 + TX] = (u32)cx[TX] ^ (u32)cy[TX] << 16;
}
/* Longest common subsequence of two words of 64 letters, by diagonals. */
GROUP_KERNEL(common_subsequence) {
    SHARED u8 a[64], b[64], row[3][65];
    UNUSED_N;
    a[TX] = in[TX] & 3;
    b[TX] = in[TX] >> 30;
    row[0][TX] = row[1][TX] = row[2][TX] = 0;
    if (TX == 0) row[0][64] = row[1][64] = row[2][64] = 0;
    for (u32 d = 0; d < 127; d++) {
        sync();
        u32 i = TX, k = d - TX;
        if (d >= TX && k < 64) {
            u8 v = a[i] == b[k] ? (u8)(row[(d + 1) % 3][i] + 1)
                                : (u8)umax(row[(d + 2) % 3][i], row[(d + 2) % 3][i + 1]);
            row[d % 3][i + 1] = v;
        }
    }
    sync();
    if (TX == 63) out[0] = row[126 % 3][64];
}

#else

REFERENCE(transpose64) {
    for (u32 i = 0; i < n / 2; i++)
        for (u32 k = 0; k < 2; k++)
            out[(i & ~255u) * 2 + (i % 16 * 16 + i % 256 / 16) * 2 + k] = in[2 * i + k];
}
REFERENCE(transpose_bytes) {
    for (u32 i = 0; i < n * 4; i++)
        ((u8 *)out)[i % 64 * 64 + i / 64] = ((const u8 *)in)[i];
}
REFERENCE(bit_matrix) {
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < 32; k++)
            out[(i & ~31u) + k] |= (in[i] >> k & 1) << i % 32;
}
REFERENCE(matrix_bytes) {
    const i8 *a = (const i8 *)in, *b = (const i8 *)(in + 128);
    for (u32 i = 0; i < 256; i++)
        for (u32 k = 0; k < 32; k++)
            out[i] += (u32)(a[i / 16 * 32 + k] * b[k * 16 + i % 16]);
    (void)n;
}
REFERENCE(jacobi) {
    static float t[2][324];
    for (u32 i = 0; i < n; i++)
        t[0][i] = t[1][i] = moderate(in[i]);
    for (u32 step = 0; step < 3; step++) {
        const float *f = t[step & 1];
        for (u32 at = 0; at < 324; at++) {
            if (at / 18 % 17 == 0 || at % 18 % 17 == 0) continue;
            t[~step & 1][at] = ((((f[at] + f[at - 18]) + f[at + 18]) + f[at - 1]) + f[at + 1]) * 0.2f;
        }
    }
    for (u32 i = 0; i < 256; i++)
        out[i] = bits_of(t[1][(i / 16 + 1) * 18 + i % 16 + 1]);
}
REFERENCE(game_of_life) {
    static u8 cell[64][32], next[64][32];
    for (u32 i = 0; i < n * 32; i++)
        cell[i / 32][i % 32] = in[i / 32] >> i % 32 & 1;
    for (u32 step = 0; step < 5; step++) {
        for (u32 y = 0; y < 64; y++) {
            for (u32 x = 0; x < 32; x++) {
                int count = -cell[y][x];
                for (u32 d = 0; d < 9; d++)
                    count += cell[(y + 63 + d / 3) % 64][(x + 31 + d % 3) % 32];
                next[y][x] = count == 3 || (count == 2 && cell[y][x]);
            }
        }
        memcpy(cell, next, sizeof cell);
    }
    for (u32 i = 0; i < n * 32; i++)
        out[i / 32] |= (u32)cell[i / 32][i % 32] << i % 32;
}
REFERENCE(number_transform) {
    const u64 p = 998244353;
    u64 root = 1;
    for (u64 e = (p - 1) / 128, base = 3; e; e >>= 1, base = base * base % p)
        if (e & 1) root = root * base % p;
    for (u32 k = 0; k < n; k++) {
        u64 w = 1, step = 1, sum = 0;
        for (u32 i = 0; i < k % 128; i++)
            step = step * root % p;
        for (u32 i = 0; i < 128; i++, w = w * step % p)
            sum += in[(k & ~127u) + i] % p * w % p;
        out[k] = (u32)(sum % p);
    }
}
REFERENCE(shortest_ways) {
    for (u32 i = 0; i < n; i++)
        out[i] = i % 17 ? in[i] % 1000 + 1 : 0;
    for (u32 round = 0; round < 16; round++) /* until nothing can change: 16 places */
        for (u32 i = 0; i < n; i++)
            for (u32 k = 0; k < 16; k++)
                out[i] = umin(out[i], out[i / 16 * 16 + k] + out[k * 16 + i % 16]);
}
REFERENCE(breadth_first) {
    for (u32 i = 1; i < n; i++)
        out[i] = ~0u;
    for (u32 round = 0; round < n; round++)
        for (u32 i = 0; i < n; i++)
            for (u32 k = 0; k < 3; k++) {
                u32 *to = &out[in[i] >> 7 * k & 127];
                if (out[i] != ~0u && out[i] + 1 < *to) *to = out[i] + 1;
            }
}
REFERENCE(knapsack) {
    for (u32 i = 0; i < n; i++)
        for (u32 w = 127; w >= in[i] % 30 + 1; w--)
            out[w] = umax(out[w], out[w - (in[i] % 30 + 1)] + (in[i] >> 20));
}
REFERENCE(k_means) {
    i64 c[8][2];
    for (u32 k = 0; k < 8; k++) {
        c[k][0] = (i16)in[k];
        c[k][1] = (i16)(in[k] >> 16);
    }
    for (u32 round = 0; round < 5; round++) {
        i64 sum[8][3] = {{0}};
        for (u32 i = 0; i < n; i++) {
            i64 p[2] = {(i16)in[i], (i16)(in[i] >> 16)}, nearest = INT64_MAX;
            for (u32 k = 0; k < 8; k++) {
                i64 d = (p[0] - c[k][0]) * (p[0] - c[k][0]) + (p[1] - c[k][1]) * (p[1] - c[k][1]);
                if (d >= nearest) continue;
                nearest = d;
                out[i] = k;
            }
            sum[out[i]][0] += p[0];
            sum[out[i]][1] += p[1];
            sum[out[i]][2]++;
        }
        for (u32 k = 0; k < 8; k++)
            for (u32 d = 0; d < 2 && sum[k][2]; d++)
                c[k][d] = sum[k][d] / sum[k][2];
    }
    for (u32 k = 0; k < 8; k++)
        out[n + k] = (u32)c[k][0] ^ (u32)c[k][1] << 16;
}
REFERENCE(common_subsequence) {
    static u32 t[65][65];
    for (u32 i = 1; i <= n; i++)
        for (u32 k = 1; k <= n; k++)
            t[i][k] =
                (in[i - 1] & 3) == in[k - 1] >> 30 ? t[i - 1][k - 1] + 1 : umax(t[i - 1][k], t[i][k - 1]);
    out[0] = t[n][n];
}

#endif

BODY(convolution) {
    static const i8 KERNEL_5[25] = {1,  -2, 3, -2, 1,  0, 4, -7, 4,  0, 2,  -9, 31,
                                    -9, 2,  0, 4,  -7, 4, 0, 1,  -2, 3, -2, 1};
    i32 x = (i32)(G % 16), y = (i32)(G / 16), sum = 0;
    UNUSED_N;
    for (i32 k = 0; k < 25; k++) {
        i32 u = imin(imax(x + k % 5 - 2, 0), 15), v = imin(imax(y + k / 5 - 2, 0), 15);
        sum += KERNEL_5[k] * (i32)(in[v * 16 + u] & 0xff);
    }
    out[G] = (u32)sum;
}
BODY(sobel) {
    const u8 *p = (const u8 *)in;
    u32 x = G % 30 + 1, y = G / 30 % 4 + 1;
    UNUSED_N;
    i32 gx = p[(y - 1) * 32 + x + 1] + 2 * p[y * 32 + x + 1] + p[(y + 1) * 32 + x + 1] -
             p[(y - 1) * 32 + x - 1] - 2 * p[y * 32 + x - 1] - p[(y + 1) * 32 + x - 1];
    i32 gy = p[(y + 1) * 32 + x - 1] + 2 * p[(y + 1) * 32 + x] + p[(y + 1) * 32 + x + 1] -
             p[(y - 1) * 32 + x - 1] - 2 * p[(y - 1) * 32 + x] - p[(y - 1) * 32 + x + 1];
    u32 sum = (u32)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy));
    ((u8 *)out)[G] = (u8)umin(sum, 255);
}
/* Seven points in a grid of three dimensions. */
BODY(heat_3d) {
    u32 x = BX * DIM_X + TX, y = BY * DIM_Y + TY, z = BZ * DIM_Z + TZ, w = ITEMS_X, h = ITEMS_Y,
        at = (z * h + y) * w + x;
    float v = moderate(in[at]) * 0.4f;
    if (x > 0) v += moderate(in[at - 1]) * 0.1f;
    if (x + 1 < w) v += moderate(in[at + 1]) * 0.1f;
    if (y > 0) v += moderate(in[at - w]) * 0.1f;
    if (y + 1 < h) v += moderate(in[at + w]) * 0.1f;
    if (z > 0) v += moderate(in[at - w * h]) * 0.1f;
    if (at + w * h < n) v += moderate(in[at + w * h]) * 0.1f;
    out[at] = bits_of(v);
}
BODY(matrix_f64) {
    u32 row = G / 8, column = G % 8;
    double sum = 0;
    UNUSED_N;
    for (u32 k = 0; k < 8; k++)
        sum += moderate64(in[row * 8 + k], row) * moderate64(in[64 + k * 8 + column], k);
    put64(out + 2 * G, bits_of64(sum));
}
/* Rows of zero to seven entries, found by a running sum of their lengths. */
BODY(sparse_product) {
    u32 first = 0, sum = 0;
    UNUSED_N;
    for (u32 r = 0; r < G; r++)
        first += in[r] & 7;
    for (u32 k = 0; k < (in[G] & 7); k++) {
        u32 entry = in[64 + first + k];
        sum += (entry >> 6) * in[entry & 63];
    }
    out[G] = sum;
}
typedef struct article {
    u8 kind;
    u16 length;
    float weight;
    u64 key;
} article;
BODY(soa_from_aos) {
    const article *p = (const article *)in;
    UNUSED_N;
    out[G] = p[G].kind;
    out[64 + G] = p[G].length;
    out[128 + G] = bits_of(p[G].weight);
    put64(out + 192 + 2 * G, p[G].key * 3);
}
