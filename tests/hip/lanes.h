/* What lanes of a wave do with each other: votes, shuffles, DPP, permlane, swizzles. Results that depend on
 * the size of the wave are computed by the reference for the size that the code object says. */
#include "tests/hip/kernel.h"

#ifdef __HIP__

#define DPP(old, v, control, rows, banks, bound) \
    ((u32)__builtin_amdgcn_update_dpp((int)(old), (int)(v), control, rows, banks, bound))

GROUP_KERNEL(votes) {
    u32 v = in[G], r = 0;
    UNUSED_N;
    u64 odd = __builtin_amdgcn_ballot_w64(v & 1), all = __builtin_amdgcn_ballot_w64(true);
    r |= (__builtin_amdgcn_ballot_w64(v % 64 == 0) != 0) ? 1 : 0;
    r |= (__builtin_amdgcn_ballot_w64(v > 1000) == all) ? 2 : 0;
    r |= odd >> LANE & 1 ? 4 : 0;
    if (v & 2) r |= (u32)__builtin_popcountll(__builtin_amdgcn_ballot_w64(v & 4)) << 8;
    out[2 * G] = r;
    out[2 * G + 1] = (u32)__builtin_popcountll(odd) | (u32)__builtin_ctzll(odd | 1ull << 63) << 8;
}
/* Lanes with equal values find each other, one value at a time. */
GROUP_KERNEL(match_any) {
    u32 v = in[G] & 7, peers = 0;
    UNUSED_N;
    for (bool done = false; !done;) {
        u32 first = (u32)__builtin_amdgcn_readfirstlane((int)v);
        if (first == v) {
            peers = (u32)__builtin_popcountll(__builtin_amdgcn_ballot_w64(true));
            done = true;
        }
    }
    out[G] = peers;
}
/* Within 32 lanes, which every target can. */
GROUP_KERNEL(shuffles) {
    u32 v = in[G], lane = TX & 31, base = LANE - lane, *o = out + 4 * G;
    UNUSED_N;
    o[0] = pull(v, base + (lane ^ 5));
    o[1] = pull(v, base + (lane >= 3 ? lane - 3 : lane));
    o[2] = pull(v, base + (v & 31));
    o[3] = (u32)__builtin_amdgcn_ds_permute((int)((base + (lane * 11 & 31)) * 4), (int)v);
}
GROUP_KERNEL(lane_access) {
    u32 v = in[G], r = (u32)__builtin_amdgcn_readlane((int)v, 7);
    UNUSED_N;
    for (u32 i = 0; i < 4; i++) {
        u32 which = (u32)__builtin_amdgcn_readfirstlane((int)(in[BX * DIM_X] >> 5 * i & 31));
        r = r * 3 + (u32)__builtin_amdgcn_readlane((int)v, (int)which);
    }
    out[G] = r ^ v;
}
/* Moves that all targets have, by rows of 16. */
GROUP_KERNEL(dpp_rows) {
    u32 v = in[G], *o = out + 10 * G;
    UNUSED_N;
    o[0] = DPP(7, v, 0x4e, 15, 15, false);  /* quads: [2,3,0,1] */
    o[1] = DPP(7, v, 0x103, 15, 15, false); /* left by 3 */
    o[2] = DPP(7, v, 0x11f, 15, 15, true);  /* right by 15 */
    o[3] = DPP(7, v, 0x129, 15, 15, false); /* rotated by 9 */
    o[4] = DPP(7, v, 0x140, 15, 15, false); /* mirrored */
    o[5] = DPP(7, v, 0x141, 10, 15, false); /* halves mirrored, odd rows alone */
    o[6] = DPP(7, v, 0x153, 15, 15, false); /* lane 3 for all */
    o[7] = DPP(7, v, 0x112, 15, 6, false);  /* right by 2, two of the quads */
    o[8] = v + DPP(0, v, 0xb1, 15, 15, true);
    o[9] = v > DPP(0, v, 0x101, 15, 15, true) ? v : 1;
}
GROUP_KERNEL(dpp_floats) {
    float v = moderate(in[G]);
    u32 w = in[G];
    UNUSED_N;
    float left = f32_of(DPP(0, bits_of(v), 0x111, 15, 15, true)),
          quad = f32_of(DPP(0, bits_of(v), 0x1b, 15, 15, true));
    u64 d = wide(DPP(0, w, 0x151, 15, 15, true), DPP(0, ~w, 0x151, 15, 15, true));
    out[4 * G] = bits_of(v * left);
    out[4 * G + 1] = bits_of(quad - v);
    put64(out + 4 * G + 2, d + w);
}
/* Exclusive-or with the lane, in rows and across them. */
GROUP_KERNEL(lane_xor) {
    u32 v = in[G], *o = out + 6 * G;
    UNUSED_N;
#if defined(__GFX9__)
    o[0] = pull(v, LANE ^ 5);
    o[1] = (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x401f); /* lane ^ 16 */
    o[2] = pull(v, (LANE & ~7u) | (7 - (LANE & 7)));
#else
    o[0] = DPP(0, v, 0x165, 15, 15, false);
    o[1] = (u32)__builtin_amdgcn_permlanex16((int)v, (int)v, 0x76543210, (int)0xfedcba98, false, false);
    o[2] = (u32)__builtin_amdgcn_mov_dpp8((int)v, 7 | 6 << 3 | 5 << 6 | 4 << 9 | 3 << 12 | 2 << 15 | 1 << 18);
#endif
#if defined(__GFX9__)
    o[3] = pull(v, (LANE & ~15u) | (LANE * 3 & 15));
#else
    o[3] = (u32)__builtin_amdgcn_permlane16((int)v, (int)v, (int)0x52fc9630, (int)0xda741eb8, false,
                                            false); /* lane * 3 */
#endif
    o[4] = (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x801b); /* quads turned around */
    o[5] = (u32)__builtin_amdgcn_ds_swizzle((int)v, 0x1c07); /* 00111: and 7, xor 7 */
}
/* Sums of whole waves, by DPP and by what crosses rows. */
GROUP_KERNEL(wave_reductions) {
    u32 v = in[G] >> 8, sum = v, most = v;
    UNUSED_N;
    for (u32 step = 1; step < 32; step *= 2) {
        sum += pull(sum, LANE ^ step);
        most = umax(most, pull(most, LANE ^ step));
    }
    if (WAVE == 64) {
        sum = (u32)__builtin_amdgcn_readlane((int)sum, 0) + (u32)__builtin_amdgcn_readlane((int)sum, 32);
        most =
            umax((u32)__builtin_amdgcn_readlane((int)most, 0), (u32)__builtin_amdgcn_readlane((int)most, 32));
    }
    out[2 * G] = sum;
    out[2 * G + 1] = most;
}
/* A prefix sum in DPP steps alone, rows first. */
GROUP_KERNEL(dpp_scan) {
    u32 v = in[G] >> 4;
    UNUSED_N;
    v += DPP(0, v, 0x111, 15, 15, false);
    v += DPP(0, v, 0x112, 15, 15, false);
    v += DPP(0, v, 0x114, 15, 15, false);
    v += DPP(0, v, 0x118, 15, 15, false);
    u32 row = LANE & ~15u, before = 0;
    for (u32 r = 0; r < WAVE; r += 16) {
        u32 last = (u32)__builtin_amdgcn_readlane((int)v, (int)r + 15);
        if (r < row) before += last;
    }
    out[G] = v + before;
}
GROUP_KERNEL(clocks) {
    UNUSED_N;
    u64 a = __builtin_readcyclecounter(), b = __builtin_readsteadycounter();
    u32 sum = 0;
    for (u32 i = 0; i < 10; i++)
        sum += in[(G + i) % 64];
    u64 c = __builtin_readcyclecounter();
    out[G] = c >= a && b + 1 > b ? sum : 0;
}

#else

/* The word of the lane that `from` says, in the wave of lane i. */
#define LANE_OF(i, from) in[((i) & ~(WAVE - 1)) + ((from) & (WAVE - 1))]
#define ROW_OF(i, from)  in[((i) & ~15u) + (from)]

REFERENCE(votes) {
    for (u32 i = 0; i < n; i++) {
        u32 base = i & ~(WAVE - 1), v = in[i], any = 0, all = 1, odd = 0, first = 63, four = 0;
        for (u32 l = WAVE; l-- > 0;) {
            u32 w = in[base + l];
            any |= w % 64 == 0;
            all &= w > 1000;
            odd += w & 1;
            if (w & 1) first = l;
            four += (w & 2) && (w & 4);
        }
        out[2 * i] = any | all << 1 | (v & 1) << 2 | (v & 2 ? four << 8 : 0);
        out[2 * i + 1] = odd | first << 8;
    }
}
REFERENCE(match_any) {
    for (u32 i = 0; i < n; i++)
        for (u32 l = 0; l < WAVE; l++)
            out[i] += (LANE_OF(i, l) & 7) == (in[i] & 7);
}
REFERENCE(shuffles) {
    for (u32 i = 0; i < n; i++) {
        u32 l = i & 31, base = i - l;
        out[4 * i] = in[base + (l ^ 5)];
        out[4 * i + 1] = in[base + (l >= 3 ? l - 3 : l)];
        out[4 * i + 2] = in[base + (in[i] & 31)];
        out[4 * (base + l * 11 % 32) + 3] = in[i];
    }
}
REFERENCE(lane_access) {
    for (u32 i = 0; i < n; i++) {
        u32 r = LANE_OF(i, 7);
        for (u32 k = 0; k < 4; k++)
            r = r * 3 + LANE_OF(i, in[i & ~63u] >> 5 * k & 31);
        out[i] = r ^ in[i];
    }
}
REFERENCE(dpp_rows) {
    for (u32 i = 0; i < n; i++) {
        u32 l = i & 15, row = (i & (WAVE - 1)) / 16, *o = out + 10 * i, next = l < 15 ? in[i + 1] : 0;
        o[0] = in[i ^ 2];
        o[1] = l < 13 ? ROW_OF(i, l + 3) : 7;
        o[2] = l == 15 ? ROW_OF(i, 0) : 0;
        o[3] = ROW_OF(i, (l + 7) & 15);
        o[4] = ROW_OF(i, 15 - l);
        o[5] = row & 1 ? ROW_OF(i, (l & 8) + 7 - (l & 7)) : 7;
        o[6] = ROW_OF(i, 3);
        o[7] = l / 4 == 1 || l / 4 == 2 ? ROW_OF(i, l - 2) : 7;
        o[8] = in[i] + in[i ^ 1];
        o[9] = in[i] > next ? in[i] : 1;
    }
}
REFERENCE(dpp_floats) {
    for (u32 i = 0; i < n; i++) {
        float v = moderate(in[i]), left = i & 15 ? moderate(in[i - 1]) : 0, quad = moderate(in[i ^ 3]);
        out[4 * i] = bits_of(v * left);
        out[4 * i + 1] = bits_of(quad - v);
        put64(out + 4 * i + 2, wide(ROW_OF(i, 1), ~ROW_OF(i, 1)) + in[i]);
    }
}
REFERENCE(lane_xor) {
    for (u32 i = 0; i < n; i++) {
        u32 *o = out + 6 * i;
        o[0] = in[i ^ 5];
        o[1] = in[i ^ 16];
        o[2] = in[i ^ 7];
        o[3] = ROW_OF(i, i * 3 & 15);
        o[4] = in[i ^ 3];
        o[5] = in[(i & ~31u) + ((i & 7) ^ 7)];
    }
}
REFERENCE(wave_reductions) {
    for (u32 i = 0; i < n; i++)
        for (u32 l = 0; l < WAVE; l++) {
            out[2 * i] += LANE_OF(i, l) >> 8;
            out[2 * i + 1] = umax(out[2 * i + 1], LANE_OF(i, l) >> 8);
        }
}
REFERENCE(dpp_scan) {
    for (u32 i = 0; i < n; i++)
        out[i] = (in[i] >> 4) + (i & (WAVE - 1) ? out[i - 1] : 0);
}
REFERENCE(clocks) {
    for (u32 i = 0; i < 64; i++)
        for (u32 k = 0; k < 10; k++)
            out[i] += in[(i + k) % n];
}

#endif
