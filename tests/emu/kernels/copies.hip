#include "tests/emu/kernels/hip.h"

/* Copies between memory and LDS that go on while the wave does. `wrong` picks a fault; 0 is the silent twin.
 */

typedef __attribute__((ext_vector_type(2))) i32 i32x2;
typedef __attribute__((ext_vector_type(4))) i32 i32x4;
typedef __attribute__((ext_vector_type(8))) i32 i32x8;
#define LDS(type) __attribute__((address_space(3))) type
#define MEM(type) __attribute__((address_space(1))) type

/* A read that the compiler does not see: it puts no wait before it. */
static inline DEVICE i32 peek(LDS(i32) * p) {
    i32 v;
#ifdef __GFX9__
    __asm__ volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(v) : "v"((u32)(__UINTPTR_TYPE__)p));
#else
    __asm__ volatile("ds_load_b32 %0, %1\n s_wait_dscnt 0x0" : "=v"(v) : "v"((u32)(__UINTPTR_TYPE__)p));
#endif
    return v;
}

static inline DEVICE void poke(LDS(i32) * p, i32 v) {
#ifdef __GFX9__
    __asm__ volatile("ds_write_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : : "v"((u32)(__UINTPTR_TYPE__)p), "v"(v));
#else
    __asm__ volatile("ds_store_b32 %0, %1\n s_wait_dscnt 0x0" : : "v"((u32)(__UINTPTR_TYPE__)p), "v"(v));
#endif
}

#ifdef __GFX9__
enum { WAVE = 64 };
#define WAIT(n) __asm__ volatile("s_waitcnt vmcnt(" #n ")" ::: "memory")

/* One dword a lane, from each of two halves of the input; 128 work-items. */
KERNEL WORKGROUP(128) void dma(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[256];
    LDS(i32) *mine = (LDS(i32) *)t + THREAD / WAVE * WAVE;
    __builtin_amdgcn_global_load_lds((MEM(i32) *)in + THREAD, mine, 4, 0, 0);
    __builtin_amdgcn_global_load_lds((MEM(i32) *)in + 128 + THREAD, mine + 128, 4, 0, 0);
    if (wrong == 1) {
        out[THREAD] = peek((LDS(i32) *)t + THREAD);
        return;
    }
    if (wrong == 2) {
        WAIT(1);
        out[THREAD] = peek((LDS(i32) *)t + 128 + THREAD);
        return;
    }
    if (wrong == 3) poke((LDS(i32) *)t + THREAD, 1);
    if (wrong == 4) in[THREAD] = 0;
    WAIT(1);
    i32 first = peek((LDS(i32) *)t + THREAD);
    WAIT(0);
    if (wrong != 5) {
        __builtin_amdgcn_s_barrier();
    }
    out[THREAD] = first;
    out[128 + THREAD] = peek((LDS(i32) *)t + 128 + (THREAD ^ 64));
}

/* The wave ends with its copy under way: 0 waits, 1 does not. */
KERNEL WORKGROUP(64) void dma_lost(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[64];
    __builtin_amdgcn_global_load_lds((MEM(i32) *)in + THREAD, (LDS(i32) *)t, 4, 0, 0);
    if (wrong == 0) WAIT(0);
}

/* Bytes and halves fill a dword each; lanes that are off leave theirs alone. */
KERNEL WORKGROUP(64) void dma_narrow(i32 *out, i8 *bytes, u16 *halves) {
    SHARED i32 t[128];
    t[THREAD] = t[THREAD + 64] = -7;
    sync();
    if (THREAD % 3) {
        __builtin_amdgcn_global_load_lds((MEM(i8) *)bytes + THREAD, (LDS(i32) *)t, 1, 0, 0);
        __builtin_amdgcn_global_load_lds((MEM(u16) *)halves + THREAD, (LDS(i32) *)t + 64, 2, 0, 0);
    }
    WAIT(0);
    out[THREAD] = t[THREAD];
    out[THREAD + 64] = t[THREAD + 64];
}

/* Through a buffer resource: what is out of its range comes as zeros. */
KERNEL WORKGROUP(64) void dma_buffer(i32 *out, i32 *in, int n) {
    SHARED i32 t[64];
    __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(in, 0, n * 4, BUFFER_WORD3);
    __builtin_amdgcn_raw_ptr_buffer_load_lds(r, (LDS(i32) *)t, 4, THREAD * 4, 0, 0, 0);
    WAIT(0);
    out[THREAD] = t[THREAD];
}

#ifdef __gfx950__
KERNEL WORKGROUP(64) void dma_wide(i32 *out, i32 *in) {
    SHARED i32x4 t[64];
    __builtin_amdgcn_global_load_lds((MEM(i32x4) *)in + (63 - THREAD), (LDS(i32x4) *)t, 16, 0, 0);
    WAIT(0);
    ((i32x4 *)out)[THREAD] = t[THREAD];
}
#endif
#endif

#ifdef __gfx1250__
#define WAIT(n)   __builtin_amdgcn_s_wait_asynccnt(n)
#define TWAIT(n)  __builtin_amdgcn_s_wait_tensorcnt(n)
#define BARRIER() __builtin_amdgcn_s_barrier()

/* 64 work-items: two waves. */
KERNEL WORKGROUP(64) void async(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[128];
    LDS(i32) *l = (LDS(i32) *)t;
    __builtin_amdgcn_global_load_async_to_lds_b32((MEM(i32) *)in + THREAD, l + THREAD, 0, 0);
    __builtin_amdgcn_global_load_async_to_lds_b32((MEM(i32) *)in + 64 + THREAD, l + 64 + THREAD, 0, 0);
    if (wrong == 1) out[THREAD] = peek(l + THREAD);
    if (wrong == 2) {
        WAIT(1);
        out[THREAD] = peek(l + 64 + THREAD);
    }
    if (wrong == 3) poke(l + THREAD, 1);
    if (wrong == 4) in[THREAD] = 0;
    if (wrong == 6) { /* another wave */
        BARRIER();
        out[THREAD] = peek(l + (THREAD ^ 32));
    }
    WAIT(1);
    i32 first = peek(l + THREAD);
    WAIT(0);
    if (wrong != 5) BARRIER();
    out[THREAD] = first;
    out[64 + THREAD] = peek(l + 64 + (THREAD ^ 32));
}

KERNEL WORKGROUP(32) void async_sizes(u8 *out, u8 *in) {
    SHARED i32x4 t[128];
    LDS(u8) *l = (LDS(u8) *)t;
    const int n = THREAD;
    __builtin_amdgcn_global_load_async_to_lds_b8((MEM(char) *)in + n, (LDS(char) *)l + (31 - n), 0, 0);
    __builtin_amdgcn_global_load_async_to_lds_b64((MEM(i32x2) *)(in + 64) + n,
                                                  (LDS(i32x2) *)(l + 64) + (31 - n), 0, 0);
    __builtin_amdgcn_global_load_async_to_lds_b128((MEM(i32x4) *)(in + 512) + n, (LDS(i32x4) *)(l + 512) + n,
                                                   512, 0);
    WAIT(0);
    __builtin_amdgcn_global_store_async_from_lds_b8((MEM(char) *)out + n, (LDS(char) *)l + n, 0, 0);
    __builtin_amdgcn_global_store_async_from_lds_b64((MEM(i32x2) *)(out + 64) + n, (LDS(i32x2) *)(l + 64) + n,
                                                     0, 0);
    __builtin_amdgcn_global_store_async_from_lds_b128((MEM(i32x4) *)(out + 512) + n,
                                                      (LDS(i32x4) *)(l + 512) + n, 512, 0);
}

/* Lanes are masked by an address that no LDS has: three of four of a copy, whose places in memory do not exist, and the
 * others of a store; every eighth of a load. */
KERNEL WORKGROUP(32) void async_masked(i32 *out, i32 *in, u32 past) {
    SHARED i32 t[32];
    LDS(i32) *l = (LDS(i32) *)t + THREAD, *nowhere = (LDS(i32) *)past;
    const bool copied = THREAD % 4 == 0;
    __builtin_amdgcn_global_load_async_to_lds_b32((MEM(i32) *)in + (copied ? THREAD / 4 : THREAD - 1000),
                                                  copied ? l : nowhere, 0, 0);
    poke(copied ? nowhere : l, 7);
    WAIT(0);
    out[THREAD] = peek(THREAD % 8 ? l : nowhere);
}

KERNEL WORKGROUP(32) void async_store(i32 *out, int wrong) {
    SHARED i32 t[32];
    LDS(i32) *l = (LDS(i32) *)t;
    poke(l + THREAD, THREAD * 3);
    __builtin_amdgcn_global_store_async_from_lds_b32((MEM(i32) *)out + THREAD, l + THREAD, 0, 0);
    if (wrong == 1) poke(l + THREAD, 7);
    if (wrong == 2) out[THREAD] = 8;
    if (wrong == 3) out[32 + THREAD] = out[31 - THREAD];
    WAIT(0);
    poke(l + THREAD, 9);
    out[32 + THREAD] = out[31 - THREAD] + 1;
}

/* The wave ends with copies under way: 1 a load, 2 a store. */
KERNEL WORKGROUP(32) void async_lost(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[32];
    LDS(i32) *l = (LDS(i32) *)t;
    poke(l + THREAD, 3);
    if (wrong == 2)
        __builtin_amdgcn_global_store_async_from_lds_b32((MEM(i32) *)out + THREAD, l + THREAD, 0, 0);
    else
        __builtin_amdgcn_global_load_async_to_lds_b32((MEM(i32) *)in + THREAD, l + THREAD, 0, 0);
    if (wrong == 0) WAIT(0);
}

KERNEL WORKGROUP(32) void cluster(i32 *out, i32 *in, int mask) {
    SHARED i32 t[32];
    __builtin_amdgcn_cluster_load_async_to_lds_b32((MEM(i32) *)in + THREAD, (LDS(i32) *)t + THREAD, 0, 0,
                                                   mask);
    WAIT(0);
    out[THREAD] = peek((LDS(i32) *)t + THREAD);
}

/* The descriptor's words come from the host; one wave copies. */
KERNEL WORKGROUP(64) void tensor(u32 *out, const i32 *d, int words, int store, int wrong) {
    SHARED u32 t[2048];
    LDS(i32) *l = (LDS(i32) *)t;
    i32x4 g0 = {d[0], d[1] + (i32)(__UINTPTR_TYPE__)l, d[2], d[3]}, g2 = {d[12], d[13], d[14], d[15]},
          g3 = {d[16], d[17], d[18], d[19]};
    i32x8 g1 = {d[4], d[5], d[6], d[7], d[8], d[9], d[10], d[11]};
    for (int k = THREAD; k < words; k += 64)
        poke(l + k, store ? k : -1);
    sync();
    if (__builtin_amdgcn_readfirstlane(THREAD) == 0) {
        if (store)
            __builtin_amdgcn_tensor_store_from_lds(g0, g1, g2, g3, 0);
        else
            __builtin_amdgcn_tensor_load_to_lds(g0, g1, g2, g3, 0);
        if (wrong == 1) out[0] = peek(l);
        if (wrong != 2) TWAIT(0);
    }
    if (wrong == 2 && THREAD >= 32) out[THREAD] = peek(l + d[1] / 4);
    if (wrong != 3) BARRIER();
    for (int k = THREAD; k < words; k += 64)
        out[k] = peek(l + k);
}

/* A tile of 8 x 8 dwords. 1: it is read before the wait; 2: nobody waits. */
KERNEL WORKGROUP(32) void tensor_waits(i32 *out, i32 *in, int wrong) {
    SHARED i32 t[64];
    LDS(i32) *l = (LDS(i32) *)t;
    u64 from = (u64)in;
    i32x4 g0 = {1, (i32)(__UINTPTR_TYPE__)l, (i32)from, (i32)(from >> 32 | 2u << 30)}, none = {0, 0, 0, 0};
    i32x8 g1 = {2 << 16, 8 << 16, 8 << 16, 8 << 16, 8, 8, 0, 0};
    __builtin_amdgcn_tensor_load_to_lds(g0, g1, none, none, 0);
    if (wrong == 1) out[THREAD + 32] = peek(l + THREAD);
    if (wrong != 2) {
        TWAIT(0);
        out[THREAD] = peek(l + THREAD);
    }
}
#endif

#ifdef __gfx1250__
/* 400 values alive at once: registers that one byte cannot name. */
KERNEL __attribute__((amdgpu_flat_work_group_size(32, 32), amdgpu_waves_per_eu(1, 1))) void many_registers(i32 *out, i32 *in) {
    i32 v[400];
#pragma unroll
    for (int k = 0; k < 400; k++)
        v[k] = ((volatile i32 *)in)[32 * k + THREAD];
#pragma unroll
    for (int k = 0; k < 400; k++)
        ((volatile i32 *)out)[32 * k + THREAD] = v[399 - k] * 3 - v[k];
}
#endif
