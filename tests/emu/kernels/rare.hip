#include "tests/emu/kernels/hip.h"

/* Instructions that compilers make rarely or never, and loads that transpose elements of 4 and 6 bits. */

typedef __attribute__((ext_vector_type(2))) i32 i32x2;
typedef __attribute__((ext_vector_type(3))) i32 i32x3;
typedef __attribute__((ext_vector_type(4))) i32 i32x4;
typedef __attribute__((ext_vector_type(32))) i32 i32x32;
typedef __attribute__((ext_vector_type(2))) u64 u64x2;

#ifdef __GFX9__
#define WAVE     64
#define LDS_WAIT "\n s_waitcnt lgkmcnt(0)"
#define MEM_WAIT "\n s_waitcnt vmcnt(0)"
#define LOAD     "ds_read_"
#define STORE    "ds_write_"
#define SWAP     "ds_wrxchg2_rtn_"
#define SWAP64   "ds_wrxchg2st64_rtn_"
#elif defined(__GFX11__)
#define WAVE     32
#define LDS_WAIT "\n s_waitcnt lgkmcnt(0)"
#define MEM_WAIT "\n s_waitcnt vmcnt(0)\n s_waitcnt_vscnt null, 0x0"
#else
#define WAVE     32
#define LDS_WAIT "\n s_wait_dscnt 0x0"
#define MEM_WAIT "\n s_wait_loadcnt 0x0\n s_wait_storecnt 0x0"
#endif
#ifndef __GFX9__
#define LOAD   "ds_load_"
#define STORE  "ds_store_"
#define SWAP   "ds_storexchg_2addr_rtn_"
#define SWAP64 "ds_storexchg_2addr_stride64_rtn_"
#endif
#define PLACE(p) ((u32)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) void *)(p))

static inline DEVICE i32 uniform(i32 v) { return __builtin_amdgcn_readfirstlane(v); }

/* Lane l at M0 + offset + 4 l, both ways. */
KERNEL WORKGROUP(64) void lds_addtid(i32 *out, i32 *in) {
    SHARED i32 t[256];
    for (int k = THREAD; k < 256; k += 64)
        t[k] = in[k];
    sync();
    i32 v, m0 = uniform(PLACE(t) + 16 + THREAD / WAVE * 256);
    __asm__ volatile("s_mov_b32 m0, %1\n s_nop 0\n " LOAD "addtid_b32 %0 offset:8" LDS_WAIT
                     : "=v"(v)
                     : "s"(m0)
                     : "memory");
    sync();
    __asm__ volatile("s_mov_b32 m0, %1\n s_nop 0\n " STORE "addtid_b32 %0 offset:512" LDS_WAIT
                     :
                     : "v"(v + 1), "s"(m0)
                     : "memory");
    sync();
    for (int k = THREAD; k < 256; k += 64)
        out[k] = t[k];
}

/* A sum of floats in LDS, with the bits of its NaN. */
KERNEL void sum_nan(float *out, float a, float b) {
    SHARED float sum;
    sum = a;
    __hip_atomic_fetch_add(&sum, b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    *out = sum;
}

/* Two exchanges an instruction, 4 and 8 bytes, near and 64 elements apart; then what LDS holds. */
KERNEL WORKGROUP(64) void exchange2(u64 *out, u64 *in) {
    SHARED u64 t[128];
    SHARED u32 s[256];
    for (int k = THREAD; k < 128; k += 64)
        t[k] = in[k];
    for (int k = THREAD; k < 256; k += 64)
        s[k] = (u32)in[k];
    sync();
    u64x2 wide;
    i32x2 near, far;
    __asm__ volatile(SWAP64 "b64 %0, %1, %2, %3 offset1:1" LDS_WAIT
                     : "=&v"(wide)
                     : "v"(PLACE(t + THREAD)), "v"(in[THREAD + 1]), "v"(in[THREAD + 2])
                     : "memory");
    __asm__ volatile(SWAP "b32 %0, %1, %2, %3 offset1:64" LDS_WAIT
                     : "=&v"(near)
                     : "v"(PLACE(s + THREAD)), "v"((u32)in[THREAD + 3]), "v"((u32)in[THREAD + 4])
                     : "memory");
    __asm__ volatile(SWAP64 "b32 %0, %1, %2, %3 offset0:2 offset1:3" LDS_WAIT
                     : "=&v"(far)
                     : "v"(PLACE(s + THREAD)), "v"((u32)in[THREAD + 5]), "v"((u32)in[THREAD + 6])
                     : "memory");
    u64 *o = out + THREAD * 12;
    o[0] = wide.x, o[1] = wide.y, o[2] = (u32)near.x, o[3] = (u32)near.y, o[4] = (u32)far.x, o[5] = (u32)far.y;
    o[6] = t[THREAD], o[7] = t[THREAD + 64];
    for (int k = 0; k < 4; k++)
        o[8 + k] = s[THREAD + 64 * k];
}

KERNEL WORKGROUP(64) void condxchg(u64 *out, u64 *in) {
    SHARED u64 t[64];
    t[THREAD] = in[THREAD];
    sync();
    u64 old;
    __asm__ volatile("ds_condxchg32_rtn_b64 %0, %1, %2" LDS_WAIT
                     : "=&v"(old)
                     : "v"(PLACE(t + THREAD) + 4), "v"(in[64 + THREAD])
                     : "memory");
    out[2 * THREAD] = old;
    out[2 * THREAD + 1] = t[THREAD];
}

#if defined(__GFX9__) || defined(__GFX11__)
#ifdef __GFX9__
#define COMPARE(bits, addr, compare, new) "ds_cmpst_rtn_f" bits " %0, " addr ", " compare ", " new LDS_WAIT
#else
#define COMPARE(bits, addr, compare, new) "ds_cmpstore_rtn_f" bits " %0, " addr ", " new ", " compare LDS_WAIT
#endif
/* in: memory, compare, new; floats as f32 and (the same numbers) as f64. */
KERNEL WORKGROUP(64) void compare_floats(u64 *out, float *in) {
    SHARED float t[64];
    SHARED double d[64];
    float *f = in + 3 * THREAD, old;
    double old_d;
    t[THREAD] = f[0];
    d[THREAD] = f[0];
    __asm__ volatile(COMPARE("32", "%1", "%2", "%3") : "=&v"(old) : "v"(PLACE(t + THREAD)), "v"(f[1]), "v"(f[2]) : "memory");
    __asm__ volatile(COMPARE("64", "%1", "%2", "%3")
                     : "=&v"(old_d)
                     : "v"(PLACE(d + THREAD)), "v"((double)f[1]), "v"((double)f[2])
                     : "memory");
    u64 *o = out + 4 * THREAD;
    o[0] = __builtin_bit_cast(u32, old), o[1] = __builtin_bit_cast(u32, t[THREAD]);
    o[2] = __builtin_bit_cast(u64, old_d), o[3] = __builtin_bit_cast(u64, d[THREAD]);
}
#endif

#ifdef __GFX11__
KERNEL WORKGROUP(64) void swap_floats(u32 *out, float *in, float *memory) {
    float *f = in + 3 * THREAD, *place = memory + THREAD;
    float old;
    u64 pair = __builtin_bit_cast(u32, f[2]) | (u64)__builtin_bit_cast(u32, f[1]) << 32;
    __asm__ volatile("global_atomic_cmpswap_f32 %0, %1, %2, off glc" MEM_WAIT
                     : "=&v"(old)
                     : "v"(place), "v"(pair)
                     : "memory");
    out[THREAD] = __builtin_bit_cast(u32, old);
}
#endif

#ifndef __GFX9__
KERNEL WORKGROUP(64) void global_addtid(i32 *out, i32 *in) {
    int wave = uniform(THREAD / WAVE);
    i32 v;
    __asm__ volatile("global_load_addtid_b32 %0, %1 offset:8" MEM_WAIT : "=v"(v) : "s"(in + wave * 64) : "memory");
    __asm__ volatile("global_store_addtid_b32 %0, %1 offset:16" MEM_WAIT : : "v"(v), "s"(out + wave * 64) : "memory");
}

/* Six registers by number; M0 names two of them. */
KERNEL WORKGROUP(32) void swaprel(i32 *out, int m0) {
    i32 a, b, c, d;
    __asm__ volatile("v_mov_b32 v40, 100\n v_mov_b32 v41, 101\n v_mov_b32 v42, 102\n v_mov_b32 v43, 103\n"
                     "s_mov_b32 m0, %4\n s_nop 4\n v_swaprel_b32 v40, v41\n"
                     "v_mov_b32 %0, v40\n v_mov_b32 %1, v41\n v_mov_b32 %2, v42\n v_mov_b32 %3, v43"
                     : "=v"(a), "=v"(b), "=v"(c), "=v"(d)
                     : "s"(m0)
                     : "v40", "v41", "v42", "v43");
    i32 *o = out + 4 * THREAD;
    o[0] = a, o[1] = b, o[2] = c, o[3] = d;
}
#endif

#ifdef __GFX12__
KERNEL WORKGROUP(32) void blocks(i32 *out, i32 *in, int mask) {
    i32x32 v, w;
    for (int k = 0; k < 32; k++)
        v[k] = w[k] = -k;
    __asm__ volatile("s_mov_b32 m0, %2\n s_nop 0\n global_load_block %0, %1, off offset:8" MEM_WAIT
                     : "+v"(v)
                     : "v"(in + 32 * THREAD), "s"(mask)
                     : "memory");
    i32 mine[40];
    for (int k = 0; k < 40; k++)
        mine[k] = 1000 + k;
    u32 at = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(5))) i32 *)mine;
    __asm__ volatile("s_mov_b32 m0, %2\n s_nop 0\n scratch_store_block %1, %0, off offset:4" MEM_WAIT
                     :
                     : "v"(v), "v"(at), "s"(mask)
                     : "memory");
    __asm__ volatile("s_mov_b32 m0, %2\n s_nop 0\n scratch_load_block %0, %1, off offset:4" MEM_WAIT
                     : "+v"(w)
                     : "v"(at), "s"(~mask)
                     : "memory");
    __asm__ volatile("s_mov_b32 m0, -1\n s_nop 0\n global_store_block %1, %0, off" MEM_WAIT
                     :
                     : "v"(w), "v"(out + 72 * THREAD)
                     : "memory");
    for (int k = 0; k < 40; k++)
        out[72 * THREAD + 32 + k] = mine[k];
}

/* The block holds its own address. */
KERNEL WORKGROUP(32) void block_over_address(i32 *out, i32 *in) {
    i32 *from = in + 32 * THREAD;
    __asm__ volatile("v_mov_b32 v40, %0\n v_mov_b32 v41, %1\n s_mov_b32 m0, 0x10007\n s_nop 0\n"
                     "global_load_block v[40:71], v[40:41], off" MEM_WAIT
                     "\n global_store_b96 %2, v[40:42], off\n global_store_b32 %2, v56, off offset:12" MEM_WAIT
                     :
                     : "v"((u32)(u64)from), "v"((u32)((u64)from >> 32)), "v"(out + 4 * THREAD)
                     : "memory", "v40", "v41", "v42", "v43", "v44", "v45", "v46", "v47", "v48", "v49", "v50",
                       "v51", "v52", "v53", "v54", "v55", "v56", "v57", "v58", "v59", "v60", "v61", "v62", "v63",
                       "v64", "v65", "v66", "v67", "v68", "v69", "v70", "v71");
}

/* Subtractions on a condition: to global memory, with a result and without, flat, and the same in LDS; then what memory
 * and LDS hold. */
KERNEL WORKGROUP(32) void subtractions(u32 *out, u32 *memory, u32 *in) {
    SHARED u32 t[4 * 32];
    for (int k = 0; k < 4; k++)
        t[32 * k + THREAD] = memory[32 * k + THREAD];
    sync();
    u32 data = in[THREAD], a, b, c, d, *m = memory + THREAD;
    __asm__ volatile("global_atomic_cond_sub_u32 %0, %4, %5, off th:TH_ATOMIC_RETURN scope:SCOPE_DEV\n"
                     "global_atomic_cond_sub_u32 %4, %5, off offset:128 scope:SCOPE_DEV\n"
                     "flat_atomic_cond_sub_u32 %1, %4, %5 offset:256 th:TH_ATOMIC_RETURN scope:SCOPE_DEV\n"
                     "global_atomic_sub_clamp_u32 %2, %4, %5, off offset:384 th:TH_ATOMIC_RETURN scope:SCOPE_DEV\n"
                     "v_mov_b32 %3, 0" MEM_WAIT LDS_WAIT
                     : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d)
                     : "v"(m), "v"(data)
                     : "memory");
    u32 *o = out + 10 * THREAD, at = PLACE(t + THREAD);
    o[0] = a, o[1] = b, o[2] = c;
    __asm__ volatile("ds_cond_sub_rtn_u32 %0, %3, %4\n ds_cond_sub_u32 %3, %4 offset:128\n"
                     "ds_sub_clamp_rtn_u32 %1, %3, %4 offset:256\n ds_sub_clamp_u32 %3, %4 offset:384\n v_mov_b32 %2, 0" LDS_WAIT
                     : "=&v"(a), "=&v"(b), "=&v"(c)
                     : "v"(at), "v"(data)
                     : "memory");
    o[3] = a, o[4] = b, o[5] = d + c;
    sync();
    for (int k = 0; k < 4; k++)
        o[6 + k] = t[32 * k + THREAD];
}
#endif

#ifdef __GFX9__
/* Stores of 1, 2 and 4 words, plain and through a resource of `bytes` bytes. */
KERNEL WORKGROUP(64) void scalar_stores(i32 *out, i32 *in, int bytes) {
    i32x4 r = {(i32)(u64)(out + 8), (i32)((u64)(out + 8) >> 32), bytes, BUFFER_WORD3};
    i32x4 v = {in[0], in[1], in[2], in[3]};
    i32x2 pair = {in[4], in[5]};
    for (int k = 0; k < 4; k++)
        r[k] = uniform(r[k]), v[k] = uniform(v[k]);
    pair.x = uniform(pair.x), pair.y = uniform(pair.y);
    __asm__ volatile("s_store_dword %0, %1, 0x4\n s_store_dwordx2 %2, %1, 0x8\n s_store_dwordx4 %3, %1, 0x10\n"
                     "s_buffer_store_dword %0, %4, 0x0\n s_buffer_store_dwordx2 %2, %4, %5\n"
                     "s_waitcnt lgkmcnt(0)\n s_dcache_wb\n s_atc_probe 0, %1, 0x0"
                     :
                     : "s"(uniform(in[6])), "s"(out), "s"(pair), "s"(v), "s"(r), "s"(uniform(12))
                     : "memory");
}

#define ONE(name, k)                                                                                         \
    {                                                                                                        \
        u32 v = (u32)uniform((i32)data[k]);                                                                  \
        u64 d = (u64)(u32)uniform((i32)data[k]) | (u64)(u32)uniform((i32)(data[k] >> 32)) << 32;             \
        __asm__ volatile("s_atomic_" name " %0, %1, 0x0 glc\n s_waitcnt lgkmcnt(0)" : "+s"(v) : "s"(narrow + k) : "memory"); \
        __asm__ volatile("s_atomic_" name "_x2 %0, %1, 0x0 glc\n s_waitcnt lgkmcnt(0)" : "+s"(d) : "s"(wide + k) : "memory"); \
        old[2 * k] = v;                                                                                      \
        old[2 * k + 1] = d;                                                                                  \
    }

KERNEL WORKGROUP(64) void scalar_atomics(u64 *old, u32 *narrow, u64 *wide, u64 *data) {
    ONE("swap", 0)
    ONE("add", 1)
    ONE("sub", 2)
    ONE("smin", 3)
    ONE("umin", 4)
    ONE("smax", 5)
    ONE("umax", 6)
    ONE("and", 7)
    ONE("or", 8)
    ONE("xor", 9)
    ONE("inc", 10)
    ONE("dec", 11)
    u64 pair = (u32)uniform((i32)data[12]) | (u64)(u32)uniform((i32)data[13]) << 32;
    __asm__ volatile("s_atomic_cmpswap %0, %1, 0x0 glc\n s_waitcnt lgkmcnt(0)" : "+s"(pair) : "s"(narrow + 12) : "memory");
    old[24] = (u32)pair;
    i32x4 quad = {uniform((i32)data[12]), uniform((i32)(data[12] >> 32)), uniform((i32)data[13]),
                  uniform((i32)(data[13] >> 32))};
    __asm__ volatile("s_atomic_cmpswap_x2 %0, %1, 0x0 glc\n s_waitcnt lgkmcnt(0)" : "+s"(quad) : "s"(wide + 12) : "memory");
    old[25] = (u32)quad.x | (u64)(u32)quad.y << 32;
    i32x4 r = {(i32)(u64)narrow, (i32)((u64)narrow >> 32), 14 * 4, BUFFER_WORD3};
    for (int k = 0; k < 4; k++)
        r[k] = uniform(r[k]);
    __asm__ volatile("s_buffer_atomic_add %0, %1, 0x34\n s_waitcnt lgkmcnt(0)" : : "s"(uniform(5)), "s"(r) : "memory");
}
#endif

#if defined(__gfx942__) || defined(__gfx950__)
KERNEL WORKGROUP(64) void scratch_dma(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[132]; /* the offset counts on both sides */
    i32 mine[4];
    for (int k = 0; k < 4; k++)
        mine[k] = in[4 * THREAD + k];
    u32 at = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(5))) i32 *)mine;
    __asm__ volatile("s_waitcnt vmcnt(0)\n s_mov_b32 m0, %1\n s_nop 0\n scratch_load_lds_dword %0, off offset:4\n"
                     "s_add_u32 m0, m0, 0x100\n s_nop 0\n scratch_load_lds_sbyte %3, off offset:4"
                     :
                     : "v"(at + 4), "s"(uniform(PLACE(t))), "v"(mine), "v"(at + 1)
                     : "scc", "memory");
    if (!wrong) __asm__ volatile("s_waitcnt vmcnt(0)" ::: "memory");
    i32 a, b;
    __asm__ volatile("ds_read_b32 %0, %2\n ds_read_b32 %1, %2 offset:256\n s_waitcnt lgkmcnt(0)"
                     : "=&v"(a), "=&v"(b)
                     : "v"(PLACE(t + 1 + THREAD))
                     : "memory");
    out[THREAD] = a;
    out[THREAD + 64] = b;
}
#endif

#ifdef __gfx1250__
KERNEL WORKGROUP(32) void cluster_loads(i32 *out, i32 *in, int mask) {
    i32 a;
    i32x2 b;
    i32x4 c;
    __asm__ volatile("s_mov_b32 m0, %4\n cluster_load_b32 %0, %3, off\n cluster_load_b64 %1, %3, off offset:4\n"
                     "cluster_load_b128 %2, %3, off offset:12" MEM_WAIT
                     : "=&v"(a), "=&v"(b), "=&v"(c)
                     : "v"(in + 7 * THREAD), "s"(mask)
                     : "memory");
    i32 *o = out + 7 * THREAD;
    o[0] = a, o[1] = b.x, o[2] = b.y, o[3] = c.x, o[4] = c.y, o[5] = c.z, o[6] = c.w;
}

KERNEL WORKGROUP(32) void monitored_loads(i32 *out, i32 *in) {
    i32 a, d;
    i32x2 b, e;
    i32x4 c, f;
    i32 *from = in + 7 * THREAD;
    __asm__ volatile("global_load_monitor_b32 %0, %6, off\n global_load_monitor_b64 %1, %6, off offset:4\n"
                     "global_load_monitor_b128 %2, %6, off offset:12\n flat_load_monitor_b32 %3, %6\n"
                     "flat_load_monitor_b64 %4, %6 offset:4\n flat_load_monitor_b128 %5, %6 offset:12" MEM_WAIT LDS_WAIT
                     : "=&v"(a), "=&v"(b), "=&v"(c), "=&v"(d), "=&v"(e), "=&v"(f)
                     : "v"(from)
                     : "memory");
    i32 *o = out + 14 * THREAD;
    o[0] = a, o[1] = b.x, o[2] = b.y, o[3] = c.x, o[4] = c.y, o[5] = c.z, o[6] = c.w;
    o[7] = d, o[8] = e.x, o[9] = e.y, o[10] = f.x, o[11] = f.y, o[12] = f.z, o[13] = f.w;
}

/* Banks of VGPRs, set in three ways: each shows in MODE and in what registers are named. A kernel that wants one wave a
 * SIMD has v296, whatever it uses. */
KERNEL __attribute__((amdgpu_flat_work_group_size(32, 32), amdgpu_waves_per_eu(1, 1))) void banks(i32 *out, i32 field) {
    i32 mode, by_literal, by_register, low;
    __asm__ volatile("s_set_vgpr_msb 0x93\n s_getreg_b32 %0, hwreg(HW_REG_WAVE_MODE, 12, 8)\n s_set_vgpr_msb 0\n"
                     "v_mov_b32 v40, 5\n s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 0, 2), 0x1000\n"
                     "v_mov_b32 v40, 9\n s_set_vgpr_msb 1\n v_mov_b32 %1, v40\n"
                     "s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 12, 8), %4\n v_mov_b32 %2, v40\n s_set_vgpr_msb 0\n v_mov_b32 %3, v40"
                     : "=&s"(mode), "=&{v41}"(by_literal), "=&{v42}"(by_register), "=&{v43}"(low)
                     : "s"(field)
                     : "v40");
    i32 *o = out + 4 * THREAD;
    o[0] = mode, o[1] = by_literal, o[2] = by_register, o[3] = low;
}

/* Over two of three moves, by an immediate and by a register. */
KERNEL WORKGROUP(32) void added_pc(i32 *out, u64 distance) {
    i32 a, b;
    __asm__ volatile("v_mov_b32 %0, 1\n s_add_pc_i64 8\n v_mov_b32 %0, 2\n v_mov_b32 %0, 3\n v_add_nc_u32 %0, %0, 16\n"
                     "v_mov_b32 %1, 1\n s_add_pc_i64 %2\n v_mov_b32 %1, 2\n v_mov_b32 %1, 3\n v_add_nc_u32 %1, %1, 16"
                     : "=&v"(a), "=&v"(b)
                     : "s"(distance));
    out[2 * THREAD] = a;
    out[2 * THREAD + 1] = b;
}
#endif

#if defined(__gfx950__) || defined(__gfx1250__)
#ifdef __gfx950__
#define TR4 "ds_read_b64_tr_b4"
#define TR6 "ds_read_b96_tr_b6"
#else
#define TR4 "ds_load_tr4_b64"
#define TR6 "ds_load_tr6_b96"
#endif
/* Each lane's part of a tile, 8 or (in places of 16) 12 bytes, from LDS and, on gfx1250, from global memory. */
KERNEL WORKGROUP(WAVE) void transposed(i32 *out, i32 *in) {
    SHARED __attribute__((aligned(16))) i32 t[4 * WAVE];
    for (int k = 0; k < 4; k++)
        t[4 * THREAD + k] = in[4 * THREAD + k];
    sync();
    i32x2 four, four_global = {0, 0};
    i32x3 six, six_global = {0, 0, 0};
    __asm__ volatile(TR4 " %0, %2\n " TR6 " %1, %2" LDS_WAIT
                     : "=&v"(four), "=&v"(six)
                     : "v"(PLACE(t + 4 * THREAD))
                     : "memory");
#ifdef __gfx1250__
    __asm__ volatile("global_load_tr4_b64 %0, %2, off\n global_load_tr6_b96 %1, %2, off" MEM_WAIT
                     : "=&v"(four_global), "=&v"(six_global)
                     : "v"(in + 4 * THREAD)
                     : "memory");
#endif
    i32 *o = out + 10 * THREAD;
    o[0] = four.x, o[1] = four.y, o[2] = six.x, o[3] = six.y, o[4] = six.z;
    o[5] = four_global.x, o[6] = four_global.y, o[7] = six_global.x, o[8] = six_global.y, o[9] = six_global.z;
}
#endif
