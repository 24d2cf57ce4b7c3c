/* A depthwise weight gradient as a HIP programmer writes it, with the same division of work as
 * direct_wgrad_depthwise: lanes own channels, taps stay in registers, the waves of a workgroup share the rows
 * and meet in LDS, the workgroup adds its sums into slab[r][s][c] with fp32 atomics.
 *
 * PEER_T (f16, bf16), PEER_K (3, 7) and PEER_STRIDE are given by the build, PEER_LANES is the wave's size, and PEER_WINDOW:
 *   0  every product loads its pixel of X, behind a check
 *   1  where no tap leaves X, a window of X moves through registers, UNROLL output columns at a time; the wave's
 *      index is made uniform by hand, so that rows and their checks are scalar */
#include "tests/emu/kernels/hip.h"

enum { WAVES = 4, UNROLL = 4 };

struct sizes {
    int h, w, ho, wo, c, pad_h, pad_w;
};

template <typename T, int KH, int KW, int STRIDE> struct wgrad {
    float acc[KH][KW];

    /* One output pixel, every tap checked. */
    DEVICE void pixel(const T *x, const T *dy, const sizes &z, int image, int y, int column, int channel) {
        float g = (float)dy[((image * z.ho + y) * z.wo + column) * z.c + channel];
#pragma unroll
        for (int r = 0; r < KH; r++) {
            int row = y * STRIDE + r - z.pad_h;
            if (row < 0 || row >= z.h) continue;
#pragma unroll
            for (int s = 0; s < KW; s++) {
                int at = column * STRIDE + s - z.pad_w;
                if (at < 0 || at >= z.w) continue;
                acc[r][s] += g * (float)x[((image * z.h + row) * z.w + at) * z.c + channel];
            }
        }
    }

    /* Output columns from..from + UNROLL * rounds - 1 of a row whose taps are all inside X. */
    DEVICE void inner(const T *x, const T *dy, const sizes &z, int image, int y, int from, int rounds,
                      int channel) {
        constexpr int KEPT = KW - STRIDE, COLUMNS = KEPT + UNROLL * STRIDE;
        float window[KH][COLUMNS];
        const T *next = x + ((image * z.h + y * STRIDE - z.pad_h) * z.w + from * STRIDE - z.pad_w) * z.c + channel;
        const T *gradient = dy + ((image * z.ho + y) * z.wo + from) * z.c + channel;
        const int pitch = z.w * z.c;
#pragma unroll
        for (int r = 0; r < KH; r++)
#pragma unroll
            for (int s = 0; s < KEPT; s++)
                window[r][s] = (float)next[r * pitch + s * z.c];
        next += KEPT * z.c;
        for (int round = 0; round < rounds; round++) {
            float g[UNROLL];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
                g[u] = (float)gradient[u * z.c];
#pragma unroll
            for (int r = 0; r < KH; r++)
#pragma unroll
                for (int s = KEPT; s < COLUMNS; s++)
                    window[r][s] = (float)next[r * pitch + (s - KEPT) * z.c];
#pragma unroll
            for (int u = 0; u < UNROLL; u++)
#pragma unroll
                for (int r = 0; r < KH; r++)
#pragma unroll
                    for (int s = 0; s < KW; s++)
                        acc[r][s] += g[u] * window[r][u * STRIDE + s];
#pragma unroll
            for (int r = 0; r < KH; r++)
#pragma unroll
                for (int s = 0; s < KEPT; s++)
                    window[r][s] = window[r][UNROLL * STRIDE + s];
            next += UNROLL * STRIDE * z.c;
            gradient += UNROLL * z.c;
        }
    }

    DEVICE void row(const T *x, const T *dy, const sizes &z, int image, int y, int channel) {
        int column = 0;
        if (PEER_WINDOW) {
            int top = y * STRIDE - z.pad_h, slack = z.w + z.pad_w - KW;
            int from = (z.pad_w + STRIDE - 1) / STRIDE, to = slack < 0 ? 0 : slack / STRIDE + 1;
            if (to > z.wo) to = z.wo;
            int rounds = to > from && top >= 0 && top + KH <= z.h ? (to - from) / UNROLL : 0;
            if (rounds > 0) {
                for (; column < from; column++)
                    pixel(x, dy, z, image, y, column, channel);
                inner(x, dy, z, image, y, from, rounds, channel);
                column += rounds * UNROLL;
            }
        }
        for (; column < z.wo; column++)
            pixel(x, dy, z, image, y, column, channel);
    }

    /* Sums over the waves, a filter row at a time. */
    DEVICE void give(float *slab, int c, int lane, int wave, int first_channel) {
        SHARED float part[WAVES][KW][PEER_LANES];
#pragma unroll
        for (int r = 0; r < KH; r++) {
#pragma unroll
            for (int s = 0; s < KW; s++)
                part[wave][s][lane] = acc[r][s];
            sync();
            for (int s = wave; s < KW; s += WAVES) {
                float sum = 0;
                for (int i = 0; i < WAVES; i++)
                    sum += part[i][s][lane];
                if (first_channel + lane < c)
                    __hip_atomic_fetch_add(&slab[(r * KW + s) * c + first_channel + lane], sum, __ATOMIC_RELAXED,
                                           __HIP_MEMORY_SCOPE_AGENT);
            }
            sync();
        }
    }
};

KERNEL WORKGROUP(WAVES *PEER_LANES) void peer_wgrad(const PEER_T *__restrict x, const PEER_T *__restrict dy,
                                                    float *__restrict slab, int n, sizes z, int rows_of_group) {
    wgrad<PEER_T, PEER_K, PEER_K, PEER_STRIDE> sums = {};
    const int lane = THREAD % PEER_LANES;
    int wave = THREAD / PEER_LANES;
    if (PEER_WINDOW) wave = __builtin_amdgcn_readfirstlane(wave);
    const int first_channel = BLOCK * PEER_LANES, channel = first_channel + lane;
    const int start = (int)__builtin_amdgcn_workgroup_id_y() * rows_of_group;
    const int rows = n * z.ho, stop = start + rows_of_group < rows ? start + rows_of_group : rows;
    if (channel < z.c)
        for (int i = start + wave; i < stop; i += WAVES)
            sums.row(x, dy, z, i / z.ho, i % z.ho, channel);
    sums.give(slab, z.c, lane, wave, first_channel);
}
