#include "tests/emu/kernels/hip.h"

/* Lanes of a wave: the size is the target's. */
#define WAVE ((int)__builtin_amdgcn_wavefrontsize())

static inline DEVICE int lane() { return (int)__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static inline DEVICE int pull(int v, int from) { return __builtin_amdgcn_ds_bpermute(from * 4, v); }

KERNEL void lane_ids(int *out) { out[GLOBAL_THREAD] = lane(); }

KERNEL void wave_sum(int *out, const int *in) {
    int v = in[GLOBAL_THREAD];
    for (int step = 1; step < WAVE; step *= 2)
        v += pull(v, lane() ^ step);
    out[GLOBAL_THREAD] = v;
}

KERNEL void wave_scan(int *out, const int *in) {
    int v = in[GLOBAL_THREAD], l = lane();
    for (int step = 1; step < WAVE; step *= 2) {
        int left = pull(v, l - step);
        if (l >= step) v += left;
    }
    out[GLOBAL_THREAD] = v;
}

KERNEL void ballots(u64 *out, const int *in) {
    int v = in[GLOBAL_THREAD];
    u64 odd = __builtin_amdgcn_ballot_w64(v & 1);
    int below = __builtin_popcountll(odd & ((1ul << lane()) - 1));
    u64 r = odd << 8 | (u64)below;
    /* In a divergent region only the lanes that are there vote. */
    if (v % 3 == 0) r ^= __builtin_amdgcn_ballot_w64(v > 0);
    out[GLOBAL_THREAD] = r;
}

KERNEL void first_lanes(int *out, const int *in) {
    int v = in[GLOBAL_THREAD], r = __builtin_amdgcn_readfirstlane(v);
    if (v & 2) r += 1000 * __builtin_amdgcn_readfirstlane(v);
    r += __builtin_amdgcn_readlane(v, 5);
    out[GLOBAL_THREAD] = r;
}

/* One value at a time, until every lane was served. */
KERNEL void waterfall(int *out, const int *in) {
    int v = in[GLOBAL_THREAD] & 7, r = 0, turn = 0;
    bool done = false;
    while (!done) {
        int uniform = __builtin_amdgcn_readfirstlane(v);
        if (uniform == v) {
            r = uniform * 100 + turn;
            done = true;
        }
        turn++;
    }
    out[GLOBAL_THREAD] = r;
}

#define DPP(v, old, control, rows, banks, bound) __builtin_amdgcn_update_dpp(old, v, control, rows, banks, bound)
KERNEL void dpp_moves(int *out, const int *in) {
    int v = in[GLOBAL_THREAD], n = 8 * GLOBAL_THREAD;
    out[n + 0] = DPP(v, -1, 0xb1, 15, 15, false);  /* quad_perm [1,0,3,2] */
    out[n + 1] = DPP(v, -1, 0x101, 15, 15, false); /* row_shl 1 */
    out[n + 2] = DPP(v, -1, 0x113, 15, 15, true);  /* row_shr 3, out of range is 0 */
    out[n + 3] = DPP(v, -1, 0x125, 15, 15, false); /* row_ror 5 */
    out[n + 4] = DPP(v, -1, 0x140, 15, 15, false); /* row_mirror */
    out[n + 5] = DPP(v, -1, 0x141, 15, 15, false); /* row_half_mirror */
    out[n + 6] = DPP(v, -1, 0x111, 5, 15, false);  /* row_shr 1, rows 0 and 2 alone */
    out[n + 7] = DPP(v, -1, 0x1b, 15, 9, false);   /* quad_perm [3,2,1,0], banks 0 and 3 */
}

/* A sum in DPP steps, as compilers make them. */
KERNEL void dpp_sum(int *out, const int *in) {
    int v = in[GLOBAL_THREAD];
    v += DPP(v, 0, 0x111, 15, 15, true);
    v += DPP(v, 0, 0x112, 15, 15, true);
    v += DPP(v, 0, 0x114, 15, 15, true);
    v += DPP(v, 0, 0x118, 15, 15, true);
    out[GLOBAL_THREAD] = v;
}

KERNEL void dpp_float(float *out, const float *in) {
    float v = in[GLOBAL_THREAD];
    int n = __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, v), 0x111, 15, 15, true);
    out[GLOBAL_THREAD] = v * 2.0f - __builtin_bit_cast(float, n);
}

KERNEL void swizzles(int *out, const int *in) {
    int v = in[GLOBAL_THREAD], n = 6 * GLOBAL_THREAD;
    out[n + 0] = __builtin_amdgcn_ds_swizzle(v, 0x041f); /* lane ^ 1 */
    out[n + 1] = __builtin_amdgcn_ds_swizzle(v, 0x7c1f); /* lane ^ 31 */
    out[n + 2] = __builtin_amdgcn_ds_swizzle(v, 0x0018 | 3 << 5); /* (lane & 24) | 3 */
    out[n + 3] = __builtin_amdgcn_ds_swizzle(v, 0x801b); /* quads reversed */
    out[n + 4] = __builtin_amdgcn_ds_swizzle(v, 0xc000 | 3 << 5); /* three to the left */
    out[n + 5] = __builtin_amdgcn_ds_swizzle(v, 0xc400 | 5 << 5 | 16); /* five to the right, in either half */
}

KERNEL void permutes(int *out, const int *in) {
    int v = in[GLOBAL_THREAD], l = lane();
    int pushed = __builtin_amdgcn_ds_permute((l * 5 % WAVE) * 4, v);
    int pulled = __builtin_amdgcn_ds_bpermute((l * 7 % WAVE) * 4, v);
    out[2 * GLOBAL_THREAD] = pushed;
    out[2 * GLOBAL_THREAD + 1] = pulled;
}

/* Bitonic sort of a wave. */
KERNEL void wave_sort(u32 *out, const u32 *in) {
    u32 v = in[GLOBAL_THREAD];
    int l = lane();
    for (int size = 2; size <= WAVE; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            u32 other = (u32)pull((int)v, l ^ step);
            bool up = (l & size) == 0, low = (l & step) == 0;
            u32 smaller = v < other ? v : other, larger = v < other ? other : v;
            v = up == low ? smaller : larger;
        }
    }
    out[GLOBAL_THREAD] = v;
}

#ifdef __gfx1250__
/* Groups of 8 and 32 lanes: broadcast, up, down and exclusive or, also out of the group. */
KERNEL WORKGROUP(128) void lane_groups(int *out, const int *in, int by) {
    int i = GLOBAL_THREAD, v = in[i];
    by = __builtin_amdgcn_readfirstlane(by);
    out[8 * i + 0] = __builtin_amdgcn_permlane_bcast(v, by, 8);
    out[8 * i + 1] = __builtin_amdgcn_permlane_up(v, by, 8);
    out[8 * i + 2] = __builtin_amdgcn_permlane_down(v, by, 8);
    out[8 * i + 3] = __builtin_amdgcn_permlane_xor(v, by, 8);
    out[8 * i + 4] = __builtin_amdgcn_permlane_bcast(v, by, 32);
    out[8 * i + 5] = __builtin_amdgcn_permlane_up(v, by, 32);
    out[8 * i + 6] = __builtin_amdgcn_permlane_down(v, by, 32);
    out[8 * i + 7] = __builtin_amdgcn_permlane_xor(v, by, 32);
}
#endif

#ifndef __GFX9__
/* Where a lane that is off is the source: the old value, 0 (bound_ctrl), or what the lane holds (fi). Each row names its
 * lane 3, the neighbour row lane 5; odd lanes are off. */
#define KEPT(to, name, selectors, modifiers)                                                                    \
    (to) = old;                                                                                                 \
    __asm__ volatile("s_mov_b32 s40, exec_lo\n s_mov_b32 s41, 0x33333333\n s_mov_b32 s42, 0x55555555\n"           \
                     "s_mov_b32 exec_lo, 0x55555555\n s_nop 4\n v_" name " %0, %1, " selectors " " modifiers "\n" \
                     "s_nop 4\n s_mov_b32 exec_lo, s40"                                                          \
                     : "+v"(to)                                                                                 \
                     : "v"(v), "v"(3), "v"(5)                                                                   \
                     : "s40", "s41", "s42")
#define KEPT4(o, name, selectors)                  \
    KEPT((o)[0], name, selectors, "");             \
    KEPT((o)[1], name, selectors, "op_sel:[0,1]"); \
    KEPT((o)[2], name, selectors, "op_sel:[1,0]"); \
    KEPT((o)[3], name, selectors, "op_sel:[1,1]")
KERNEL WORKGROUP(128) void permlanes_kept(int *out, const int *in) {
    int i = GLOBAL_THREAD, v = in[i], old = v ^ 0x5555, r[16] = {0};
    KEPT4(r, "permlane16_b32", "s41, s41");
    KEPT4(r + 4, "permlanex16_b32", "s42, s42");
#ifdef __GFX12__
    KEPT4(r + 8, "permlane16_var_b32", "%2");
    KEPT4(r + 12, "permlanex16_var_b32", "%3");
#endif
    for (int k = 0; k < 16; k++)
        out[16 * i + k] = r[k];
}
#endif
