/* What the kernels of this folder are written in: C that a GPU's C++ and the host's C both compile.
 *
 * BODY(name) { ... }           a kernel without barriers: the host runs the same text, work-item by work-item
 * GROUP_KERNEL(name) { ... }   a kernel of workgroups and waves; beside it stands
 * REFERENCE(name) { ... }      what it must compute, written for the host alone
 *
 * All have `out` (zeroed), `in` (random words, n of them). The work-item and its workgroup are TX.. and BX..;
 * G is the number of the work-item in a grid of one dimension. */
#ifndef TW_TESTS_HIP_KERNEL_H
#define TW_TESTS_HIP_KERNEL_H

#ifdef __HIP__
#include "tests/emu/kernels/hip.h"

#define FN                 static inline DEVICE
#define CALL               static DEVICE NOINLINE
#define CONSTANT           static DEVICE const
#define TX                 ((u32)__builtin_amdgcn_workitem_id_x())
#define TY                 ((u32)__builtin_amdgcn_workitem_id_y())
#define TZ                 ((u32)__builtin_amdgcn_workitem_id_z())
#define BX                 ((u32)__builtin_amdgcn_workgroup_id_x())
#define BY                 ((u32)__builtin_amdgcn_workgroup_id_y())
#define BZ                 ((u32)__builtin_amdgcn_workgroup_id_z())
#define DIM_X              ((u32)__builtin_amdgcn_workgroup_size_x())
#define DIM_Y              ((u32)__builtin_amdgcn_workgroup_size_y())
#define DIM_Z              ((u32)__builtin_amdgcn_workgroup_size_z())
#define ITEMS_X            ((u32)__builtin_amdgcn_grid_size_x())
#define ITEMS_Y            ((u32)__builtin_amdgcn_grid_size_y())
#define WAVE               ((u32)__builtin_amdgcn_wavefrontsize())
#define LANE               __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))
#define BODY(name)         KERNEL void name(u32 *out, const u32 *in, u32 n)
#define GROUP_KERNEL(name) KERNEL void name(u32 *out, const u32 *in, u32 n)
#define REFERENCE(name)    static void name(u32 *, const u32 *, u32)
extern SHARED u32 dynamic_lds[];
#define ADD_TO(p, v)       __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#define GROUP_ADD_TO(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP)
#define pull(v, from)      ((u32)__builtin_amdgcn_ds_bpermute((int)(from)*4, (int)(v)))

#else
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;

typedef struct place {
    u32 item[3], group[3], block[3], grid[3];
    u32 wave;
} place;
/* Which work-item the host is. */
extern place here;

#define FN              static inline __attribute__((unused))
#define CALL            static __attribute__((unused))
#define CONSTANT        static const
#define TX              (here.item[0])
#define TY              (here.item[1])
#define TZ              (here.item[2])
#define BX              (here.group[0])
#define BY              (here.group[1])
#define BZ              (here.group[2])
#define DIM_X           (here.block[0])
#define DIM_Y           (here.block[1])
#define DIM_Z           (here.block[2])
#define ITEMS_X         (here.grid[0] * here.block[0])
#define ITEMS_Y         (here.grid[1] * here.block[1])
/* of references */
#define GROUPS          (here.grid[0])
#define WAVE            (here.wave)
#define BODY(name)      static void name(u32 *out, const u32 *in, u32 n)
#define REFERENCE(name) static void name(u32 *out, const u32 *in, u32 n)
#define ADD_TO(p, v)    (*(p) += (v))
#endif

#define G ((u32)(BX * DIM_X + TX))
/* n is the number of input words, which few bodies need. */
#define UNUSED_N (void)n

typedef unsigned __int128 u128;
typedef __int128 i128;

FN float f32_of(u32 bits) {
    float f;
    __builtin_memcpy(&f, &bits, 4);
    return f;
}
FN u32 bits_of(float f) {
    u32 bits;
    __builtin_memcpy(&bits, &f, 4);
    /* A NaN's sign and payload are not part of what a program may rely on. */
    return f != f ? 0x7fc00000u : bits;
}
FN double f64_of(u64 bits) {
    double f;
    __builtin_memcpy(&f, &bits, 8);
    return f;
}
FN u64 bits_of64(double f) {
    u64 bits;
    __builtin_memcpy(&bits, &f, 8);
    return f != f ? 0x7ff8000000000000ull : bits;
}
FN u64 wide(u32 lo, u32 hi) { return lo | (u64)hi << 32; }
FN void put64(u32 *out, u64 v) {
    out[0] = (u32)v;
    out[1] = (u32)(v >> 32);
}
FN void put128(u32 *out, u128 v) {
    put64(out, (u64)v);
    put64(out + 2, (u64)(v >> 64));
}
FN u32 rotl(u32 v, u32 by) { return v << (by & 31) | v >> (-by & 31); }
FN u32 rotr(u32 v, u32 by) { return v >> (by & 31) | v << (-by & 31); }
FN u32 umin(u32 a, u32 b) { return a < b ? a : b; }
FN u32 umax(u32 a, u32 b) { return a > b ? a : b; }
FN i32 imin(i32 a, i32 b) { return a < b ? a : b; }
FN i32 imax(i32 a, i32 b) { return a > b ? a : b; }
/* Floats of moderate size from any bits. */
FN float moderate(u32 v) { return (float)(i32)v * 0x1p-24f; }
FN double moderate64(u32 v, u32 w) { return (double)(i64)wide(v, w) * 0x1p-52; }

#endif
