/* Scans, reductions, histograms, compaction: work that a workgroup or a wave does together. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

GROUP_KERNEL(scan_hillis_steele) {
    SHARED u32 t[2][256];
    UNUSED_N;
    u32 from = 0;
    t[0][TX] = in[G];
    sync();
    for (u32 step = 1; step < 256; step *= 2) {
        t[from ^ 1][TX] = TX >= step ? t[from][TX] + t[from][TX - step] : t[from][TX];
        from ^= 1;
        sync();
    }
    out[G] = t[from][TX];
}

/* An up-sweep and a down-sweep over 64-bit sums, exclusive. */
GROUP_KERNEL(scan_blelloch64) {
    SHARED u64 t[128];
    UNUSED_N;
    t[TX] = in[BX * 128 + TX];
    t[TX + 64] = (u64)in[BX * 128 + 64 + TX] << 8;
    u32 offset = 1;
    for (u32 d = 64; d > 0; d /= 2, offset *= 2) {
        sync();
        if (TX < d) t[offset * (2 * TX + 2) - 1] += t[offset * (2 * TX + 1) - 1];
    }
    if (TX == 0) t[127] = 0;
    for (u32 d = 1; d < 128; d *= 2) {
        offset /= 2;
        sync();
        if (TX < d) {
            u64 v = t[offset * (2 * TX + 1) - 1];
            t[offset * (2 * TX + 1) - 1] = t[offset * (2 * TX + 2) - 1];
            t[offset * (2 * TX + 2) - 1] += v;
        }
    }
    sync();
    put64(out + 2 * (BX * 128 + TX), t[TX]);
    put64(out + 2 * (BX * 128 + 64 + TX), t[TX + 64]);
}

/* Half waves of 32 lanes scan by themselves: gfx11 has no ds_bpermute across them. */
GROUP_KERNEL(scan_of_waves) {
    SHARED u32 sums[8];
    UNUSED_N;
    u32 v = in[G] >> 8, lane = TX & 31, wave = TX / 32;
    for (u32 step = 1; step < 32; step *= 2) {
        u32 left = pull(v, LANE - step);
        if (lane >= step) v += left;
    }
    if (lane == 31) sums[wave] = v;
    sync();
    for (u32 w = 0; w < wave; w++)
        v += sums[w];
    out[G] = v;
}

/* Running maxima of signed 64-bit numbers. */
GROUP_KERNEL(scan_maximum64) {
    SHARED i64 t[64];
    UNUSED_N;
    i64 v = (i64)wide(in[2 * G], in[2 * G + 1]);
    for (u32 step = 1; step < 64; step *= 2) {
        t[TX] = v;
        sync();
        i64 left = TX >= step ? t[TX - step] : v;
        sync();
        if (left > v) v = left;
    }
    put64(out + 2 * G, (u64)v);
}

/* Sums that start anew at every multiple of 5 (the low bits of a word mark a segment's head). */
GROUP_KERNEL(scan_segments) {
    SHARED u32 sum[128];
    SHARED u8 head[128];
    UNUSED_N;
    u32 v = in[G] >> 16;
    u8 h = in[G] % 5 == 0;
    sum[TX] = v;
    head[TX] = h;
    sync();
    for (u32 step = 1; step < 128; step *= 2) {
        u32 left = TX >= step ? sum[TX - step] : 0;
        u8 left_head = TX >= step ? head[TX - step] : 1;
        sync();
        if (!h) {
            v += left;
            h = left_head;
        }
        sum[TX] = v;
        head[TX] = h;
        sync();
    }
    out[G] = v;
}

/* Keeps the odd numbers, in order. */
GROUP_KERNEL(compaction) {
    SHARED u32 sums[8];
    UNUSED_N;
    u32 v = in[G], wave = TX / WAVE;
    u64 keep = __builtin_amdgcn_ballot_w64(v & 1);
    u32 below = __builtin_amdgcn_mbcnt_hi((u32)(keep >> 32), __builtin_amdgcn_mbcnt_lo((u32)keep, 0));
    if (LANE == 0) sums[wave] = (u32)__builtin_popcountll(keep);
    sync();
    u32 base = 0, all = 0;
    for (u32 w = 0; w < 256 / WAVE; w++) {
        if (w < wave) base += sums[w];
        all += sums[w];
    }
    if (v & 1) out[BX * 257 + 1 + base + below] = v;
    if (TX == 0) out[BX * 257] = all;
}

GROUP_KERNEL(reduce_sum64) {
    SHARED i64 t[256];
    UNUSED_N;
    t[TX] = (i64)(i32)in[G] * 1000003;
    for (u32 step = 128; step > 0; step /= 2) {
        sync();
        if (TX < step) t[TX] += t[TX + step];
    }
    if (TX == 0) put64(out + 2 * BX, (u64)t[0]);
}

struct best {
    u32 value;
    u16 at;
};
GROUP_KERNEL(reduce_argmin) {
    SHARED best t[128];
    UNUSED_N;
    t[TX].value = in[G] % 200;
    t[TX].at = (u16)TX;
    for (u32 step = 64; step > 0; step /= 2) {
        sync();
        if (TX < step) {
            best a = t[TX], b = t[TX + step];
            if (b.value < a.value || (b.value == a.value && b.at < a.at)) t[TX] = b;
        }
    }
    if (TX == 0) out[BX] = t[0].value << 16 | t[0].at;
}

/* The order of additions is the tree's. */
GROUP_KERNEL(reduce_f64) {
    SHARED double t[128];
    UNUSED_N;
    t[TX] = moderate64(in[2 * G], in[2 * G + 1]);
    for (u32 step = 64; step > 0; step /= 2) {
        sync();
        if (TX < step) t[TX] += t[TX + step];
    }
    if (TX == 0) put64(out + 2 * BX, bits_of64(t[0]));
}

GROUP_KERNEL(reduce_minmax_f32) {
    SHARED float low[64], high[64];
    UNUSED_N;
    low[TX] = high[TX] = moderate(in[G]);
    for (u32 step = 32; step > 0; step /= 2) {
        sync();
        if (TX < step) {
            low[TX] = __builtin_fminf(low[TX], low[TX + step]);
            high[TX] = __builtin_fmaxf(high[TX], high[TX + step]);
        }
    }
    sync();
    if (TX == 0) {
        out[2 * BX] = bits_of(low[0]);
        out[2 * BX + 1] = bits_of(high[0]);
    }
}

GROUP_KERNEL(histogram_lds) {
    SHARED u32 bins[64];
    if (TX < 64) bins[TX] = 0;
    sync();
    for (u32 i = G; i < n; i += ITEMS_X)
        GROUP_ADD_TO(&bins[in[i] >> 26], 1u);
    sync();
    if (TX < 64) ADD_TO(&out[TX], bins[TX]);
}

/* Counters of a byte each, one row a work-item; then a sum over the rows. */
GROUP_KERNEL(histogram_bytes) {
    SHARED u8 bins[64][16];
    UNUSED_N;
    for (u32 b = 0; b < 16; b++)
        bins[TX][b] = 0;
    for (u32 i = 0; i < 8; i++)
        bins[TX][in[(BX * 64 + TX) * 8 + i] >> 28]++;
    sync();
    if (TX < 16) {
        u32 sum = 0;
        for (u32 i = 0; i < 64; i++)
            sum += bins[i][TX];
        out[BX * 16 + TX] = sum;
    }
}

/* How many of each byte there are, with one counter for two bins. */
GROUP_KERNEL(histogram_packed) {
    SHARED u32 bins[128];
    UNUSED_N;
    bins[TX] = 0;
    sync();
    u32 v = in[G];
    for (u32 i = 0; i < 32; i += 8) {
        u32 b = v >> i & 255;
        GROUP_ADD_TO(&bins[b / 2], 1u << 16 * (b & 1));
    }
    sync();
    out[BX * 256 + 2 * TX] = bins[TX] & 0xffff;
    out[BX * 256 + 2 * TX + 1] = bins[TX] >> 16;
}

/* Lengths of runs of equal numbers. */
GROUP_KERNEL(run_lengths) {
    SHARED u32 v[128], start[129], count;
    UNUSED_N;
    v[TX] = in[G] >> 31;
    if (TX == 0) count = 0;
    sync();
    bool first = TX == 0 || v[TX] != v[TX - 1];
    u32 place = 0;
    for (u32 i = 1; i <= TX; i++)
        place += v[i] != v[i - 1];
    if (first) {
        start[place] = TX;
        GROUP_ADD_TO(&count, 1u);
    }
    sync();
    if (TX == 0) start[count] = 128;
    sync();
    if (TX < count) out[BX * 129 + 1 + TX] = (start[TX + 1] - start[TX]) << 1 | v[start[TX]];
    if (TX == 0) out[BX * 129] = count;
}

#else

REFERENCE(scan_hillis_steele) {
    for (u32 i = 0; i < n; i++)
        out[i] = in[i] + (i % 256 ? out[i - 1] : 0);
}
REFERENCE(scan_blelloch64) {
    u64 sum = 0;
    for (u32 i = 0; i < n; i++) {
        if (i % 128 == 0) sum = 0;
        put64(out + 2 * i, sum);
        sum += i % 128 < 64 ? in[i] : (u64)in[i] << 8;
    }
}
REFERENCE(scan_of_waves) {
    for (u32 i = 0; i < n; i++)
        out[i] = (in[i] >> 8) + (i % 256 ? out[i - 1] : 0);
}
REFERENCE(scan_maximum64) {
    i64 most = INT64_MIN;
    for (u32 i = 0; i < n / 2; i++) {
        i64 v = (i64)wide(in[2 * i], in[2 * i + 1]);
        if (i % 64 == 0 || v > most) most = v;
        put64(out + 2 * i, (u64)most);
    }
}
REFERENCE(scan_segments) {
    for (u32 i = 0; i < n; i++)
        out[i] = (in[i] >> 16) + (i % 128 == 0 || in[i] % 5 == 0 ? 0 : out[i - 1]);
}
REFERENCE(compaction) {
    for (u32 i = 0; i < n; i++) {
        u32 *mine = out + i / 256 * 257;
        if (in[i] & 1) mine[++mine[0]] = in[i];
    }
}
REFERENCE(reduce_sum64) {
    for (u32 g = 0; g < n / 256; g++) {
        i64 sum = 0;
        for (u32 i = 0; i < 256; i++)
            sum += (i64)(i32)in[g * 256 + i] * 1000003;
        put64(out + 2 * g, (u64)sum);
    }
}
REFERENCE(reduce_argmin) {
    for (u32 i = 0; i < n; i++) {
        u32 v = in[i] % 200 << 16 | i % 128;
        if (i % 128 == 0 || v < out[i / 128]) out[i / 128] = v;
    }
}
static double tree_sum(const u32 *in, u32 first, u32 stride, u32 count) {
    if (count == 1) return moderate64(in[2 * first], in[2 * first + 1]);
    return tree_sum(in, first, stride * 2, count / 2) + tree_sum(in, first + stride, stride * 2, count / 2);
}
REFERENCE(reduce_f64) {
    for (u32 g = 0; g < n / 256; g++)
        put64(out + 2 * g, bits_of64(tree_sum(in + g * 256, 0, 1, 128)));
}
REFERENCE(reduce_minmax_f32) {
    for (u32 g = 0; g < n / 64; g++) {
        float low = INFINITY, high = -INFINITY;
        for (u32 i = 0; i < 64; i++) {
            float v = moderate(in[g * 64 + i]);
            low = v < low ? v : low;
            high = v > high ? v : high;
        }
        out[2 * g] = bits_of(low);
        out[2 * g + 1] = bits_of(high);
    }
}
REFERENCE(histogram_lds) {
    for (u32 i = 0; i < n; i++)
        out[in[i] >> 26]++;
}
REFERENCE(histogram_bytes) {
    for (u32 i = 0; i < n; i++)
        out[i / 512 * 16 + (in[i] >> 28)]++;
}
REFERENCE(histogram_packed) {
    for (u32 i = 0; i < n; i++)
        for (u32 k = 0; k < 32; k += 8)
            out[i / 128 * 256 + (in[i] >> k & 255)]++;
}
REFERENCE(run_lengths) {
    for (u32 g = 0; g < n / 128; g++) {
        u32 *mine = out + g * 129;
        for (u32 i = 0; i < 128; i++) {
            u32 v = in[g * 128 + i] >> 31;
            if (i && v == in[g * 128 + i - 1] >> 31)
                mine[mine[0]] += 2;
            else
                mine[++mine[0]] = 2 | v;
        }
    }
}

#endif
