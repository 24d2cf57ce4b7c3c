#include "tests/emu/kernels/hip.h"

/* Kernels with one fault each; `wrong` switches it on, so that each is its own silent twin. */

KERNEL void load_past_end(int *out, const int *in, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i < n + wrong) out[i % n] = in[i];
}

KERNEL void load_before_start(int *out, const int *in, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = in[i - wrong];
}

KERNEL void store_past_end(int *out, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i < n + wrong) out[i] = i;
}

KERNEL void atomic_past_end(int *out, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i < n + wrong) __atomic_fetch_add(&out[i], 1, __ATOMIC_RELAXED);
}

KERNEL void null_pointer(int *out, const int *in) {
    out[THREAD] = in[THREAD];
}

KERNEL void misaligned_atomic(u8 *out, int wrong) { __atomic_fetch_add((u32 *)(out + wrong), 1u, __ATOMIC_RELAXED); }

KERNEL void misaligned_load(u32 *out, const u8 *in, int wrong) { out[THREAD] = *(const u32 *)(in + 4 * THREAD + wrong); }

/* What was never written may be copied, but not decide anything. */
KERNEL void unknown_branch(int *out, const int *in, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    int v = in[i];
    if (wrong) {
        if (__builtin_amdgcn_readfirstlane(v) > 5) __asm__ volatile("s_nop 1"); /* no select can stand for it */
    }
    out[i] = v;
}

KERNEL void unknown_lanes(int *out, const int *in, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    int v = in[i] * 3, limit = wrong ? v : n;
    for (int k = 0; k < (limit & 7); k++)
        v += __builtin_amdgcn_workgroup_id_x() + k;
    out[i] = v;
}

KERNEL void unknown_address(int *out, const int *in, int n, int wrong) {
    int i = GLOBAL_THREAD;
    if (i < n) out[wrong ? (in[i] & 3) : i] = i;
}

KERNEL void unknown_argument(int *out, int n) {
    if (THREAD < n) out[THREAD] = 1;
}

/* Known bits of a value that is unknown in part. */
KERNEL void unknown_bits(int *out, const int *in, int wrong) {
    int v = in[THREAD], low = (v << 8) & 0xff;
    u64 w = (u64)(u32)v << 32;
    if (low == 0 && (u32)w == 0) out[THREAD] = wrong && (v & 1) ? 1 : 2;
}

KERNEL WORKGROUP(128) void unknown_lds(int *out, int wrong) {
    SHARED int t[128];
    if (THREAD < 128 - wrong) t[THREAD] = THREAD;
    sync();
    int v = t[127 - THREAD];
    if (v > 64) v = 1;
    out[THREAD] = v;
}

KERNEL WORKGROUP(128) void missing_barrier(int *out, int wrong) {
    SHARED int t[128];
    t[THREAD] = THREAD * 2;
    if (!wrong) sync();
    out[THREAD] = t[127 - THREAD];
}

/* A read, and a write of another wave behind it. */
KERNEL WORKGROUP(128) void missing_second_barrier(int *out, int wrong) {
    SHARED int t[128];
    t[THREAD] = THREAD * 2;
    sync();
    int v = t[127 - THREAD];
    if (!wrong) sync();
    t[THREAD] = v;
    sync();
    out[THREAD] = t[THREAD];
}

KERNEL WORKGROUP(128) void missing_barrier_of_atomics(u32 *out, int wrong) {
    SHARED u32 t[4];
    if (THREAD < 4) t[THREAD] = 0;
    sync();
    __atomic_fetch_add(&t[THREAD & 3], 1u, __ATOMIC_RELAXED);
    if (!wrong) sync();
    if (THREAD < 4) out[THREAD] = t[THREAD];
}

/* A lock in LDS orders what it guards. */
KERNEL WORKGROUP(128) void lock(u32 *out) {
    SHARED u32 taken, count, sum;
    if (THREAD == 0) taken = count = sum = 0;
    sync();
    if (THREAD % 64 == 0) { /* one lane of a wave: others would keep it from letting go */
        u32 free = 0;
        while (!__hip_atomic_compare_exchange_strong(&taken, &free, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP))
            free = 0;
        count = count + 1;
        sum = sum * 2 + 1;
        __hip_atomic_store(&taken, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    sync();
    if (THREAD == 0) out[0] = count * 1000 + sum;
}

extern SHARED int dynamic[];
KERNEL void lds_past_end(int *out, int n, int wrong) {
    dynamic[THREAD] = THREAD;
    sync();
    out[THREAD] = dynamic[n - 1 - THREAD + wrong];
}

KERNEL WORKGROUP(256) void skipped_barrier(int *out, int wrong) {
    SHARED int t[256];
    t[THREAD] = THREAD;
    if (wrong && THREAD >= 128) return;
    sync();
    out[THREAD] = t[THREAD ^ 1];
}

KERNEL void endless(int *out, int wrong) {
    volatile int *p = out;
    while (p[0] != 1)
        if (!wrong) p[0] = 1;
}

KERNEL void past_kernarg(int *out, int wrong) {
    const int *args = (const int *)__builtin_amdgcn_kernarg_segment_ptr();
    out[0] = args[wrong ? 100000 : 2];
}

KERNEL void trap(int *out, int wrong) {
    if (wrong) __builtin_trap();
    out[0] = 1;
}

#ifdef __GFX9__
#define VCC "vcc"
#else
#define VCC "vcc_lo"
#endif
KERNEL void unknown_instruction(int *out, int wrong) {
    float f = 1;
    if (wrong == 1) __asm__ volatile("s_rfe_b64 s[0:1]");
    if (wrong == 2) __asm__ volatile("v_div_scale_f32 %0, " VCC ", %0, %0, %0 mul:2" : "+v"(f) : : "vcc");
    if (wrong == 3) __asm__ volatile("v_div_scale_f32 %0, " VCC ", %0, %0, %0 clamp" : "+v"(f) : : "vcc");
    out[0] = 1;
}

typedef void (*function)(int *);
KERNEL void wild_jump(int *out, function f) {
    out[0] = 1;
    if (f) f(out);
}

KERNEL void scratch_past_end(int *out, int n, int wrong) {
    volatile int v[8];
    for (int i = 0; i < 8; i++)
        v[i] = i;
    out[THREAD] = v[n + wrong * 100000];
}

KERNEL void write_kernarg(int *out, int wrong) {
    u64 args = (u64)__builtin_amdgcn_kernarg_segment_ptr();
    if (wrong) *(volatile int *)args = 1;
    out[0] = 1;
}

/* Out of the range of a buffer resource: loads give 0, stores and atomics are errors. */
typedef __attribute__((ext_vector_type(4))) u32 u32x4;
KERNEL void buffer_range(u32 *out, u32 *data, int n, int wrong) {
    __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(data, 0, n * 4, BUFFER_WORD3);
    u32 sum = __builtin_amdgcn_raw_buffer_load_b32(r, THREAD * 4, 0, 0);
    u32x4 q = __builtin_amdgcn_raw_buffer_load_b128(r, THREAD * 4, 0, 0);
    out[THREAD] = sum + q.x * 3 + q.y * 5 + q.z * 7 + q.w * 11;
    if (wrong == 1) __builtin_amdgcn_raw_buffer_store_b32(7, r, THREAD * 4, 0, 0);
    if (wrong == 2) __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(1, r, THREAD * 4, 0, 0);
}

#if defined(__GFX9__) && defined(__OPTIMIZE__) /* it takes an optimiser to tell what is scalar */
/* The same of scalar atomics: 0 both are in range, 1 the second is not. */
KERNEL WORKGROUP(64) void scalar_range(u64 *out, u32 *data, int wrong) {
    typedef __attribute__((ext_vector_type(4))) i32 i32x4;
    i32x4 r = {(i32)(u64)data, (i32)((u64)data >> 32), 16, BUFFER_WORD3};
    for (int k = 0; k < 4; k++)
        r[k] = __builtin_amdgcn_readfirstlane(r[k]);
    i32 offset = __builtin_amdgcn_readfirstlane(wrong ? 16 : 8);
    u32 narrow = 5;
    u64 wide = 0x700000009ul;
    __asm__ volatile("s_buffer_atomic_add %0, %2, 0x4 glc\n s_buffer_atomic_umax_x2 %1, %2, %3 glc\n s_waitcnt lgkmcnt(0)"
                     : "+&s"(narrow), "+&s"(wide)
                     : "s"(r), "s"(offset)
                     : "memory");
    out[0] = narrow;
    out[1] = wide;
}
#endif

/* Registers that nobody wrote: kept out of the compiler's hands by their high numbers. */
KERNEL void unknown_vgpr(int *out, int wrong) {
    u32 v;
    if (wrong)
        __asm__ volatile("v_readfirstlane_b32 %0, v40" : "=s"(v)::"v40");
    else
        __asm__ volatile("v_mov_b32 v40, 1\n s_nop 7\n v_readfirstlane_b32 %0, v40" : "=s"(v)::"v40");
    if (v == 7) __asm__ volatile("s_nop 1");
    out[0] = 1;
}

#ifdef __GFX9__
KERNEL void unknown_vccz(int *out, int wrong) {
    u32 v;
    if (wrong)
        __asm__ volatile("s_mov_b64 vcc, s[60:61]\n s_mov_b32 %0, src_vccz" : "=s"(v)::"s60", "s61", "vcc");
    else
        __asm__ volatile("s_mov_b32 s60, 1\n s_mov_b64 vcc, s[60:61]\n s_mov_b32 %0, src_vccz" : "=s"(v)::"s60", "s61", "vcc");
    if (v == 1) __asm__ volatile("s_nop 1");
    out[0] = 1;
}
#endif

#ifdef __GFX12__
/* Of a selector only the low four bits count. */
KERNEL void unknown_selector(int *out, int wrong) {
    u32 v;
    if (wrong)
        __asm__ volatile("v_permlane16_var_b32 %0, v41, v40" : "=v"(v)::"v40", "v41");
    else
        __asm__ volatile("v_and_b32 v40, -16, v40\n v_permlane16_var_b32 %0, v41, v40" : "=v"(v)::"v40", "v41");
    out[0] = 1;
}
#endif

KERNEL void unknown_sgpr(int *out, int wrong) {
    u32 v;
    if (wrong)
        __asm__ volatile("s_mov_b32 %0, s60" : "=s"(v)::"s60");
    else
        __asm__ volatile("s_mov_b32 s60, 1\n s_mov_b32 %0, s60" : "=s"(v)::"s60");
    if (v == 7) __asm__ volatile("s_nop 1");
    out[0] = 1;
}

#ifdef __GFX9__
KERNEL void unknown_agpr(int *out, int wrong) {
    u32 v;
    if (wrong)
        __asm__ volatile("v_accvgpr_read_b32 %0, a9\n s_nop 7" : "=v"(v)::"a9");
    else
        __asm__ volatile("v_accvgpr_write_b32 a9, 1\n s_nop 7\n v_accvgpr_read_b32 %0, a9\n s_nop 7" : "=v"(v)::"a9");
    if (__builtin_amdgcn_readfirstlane(v) == 7) __asm__ volatile("s_nop 1");
    out[0] = 1;
}
#endif

KERNEL void message(int *out, int wrong) {
    if (wrong) __asm__ volatile("s_sendmsg sendmsg(MSG_INTERRUPT)");
    out[0] = 1;
#ifndef __GFX9__
    __asm__ volatile("s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)" ::: "memory");
#endif
}

/* ---- races between workgroups ---- */

#define AGENT __HIP_MEMORY_SCOPE_AGENT

/* Every workgroup writes its part; with `wrong` one dword too many, or all write one flag. */
KERNEL WORKGROUP(64) void two_writers(int *out, int wrong) {
    out[GLOBAL_THREAD] = BLOCK;
    if (wrong == 1 && THREAD == 0) out[GLOBAL_THREAD + 64] = BLOCK;
    if (wrong == 2 && THREAD == 0) out[1000] = 1;
}

/* A read of what a workgroup before, or behind, writes. */
KERNEL WORKGROUP(64) void neighbour(int *out, int *data, int wrong) {
    data[GLOBAL_THREAD] = GLOBAL_THREAD;
    int other = wrong == 1 && BLOCK > 0 ? GLOBAL_THREAD - 64 : wrong == 2 && BLOCK < 3 ? GLOBAL_THREAD + 64 : GLOBAL_THREAD;
    out[GLOBAL_THREAD] = data[other];
}

/* The last workgroup to finish adds up what all have left. 1: no fence behind the counter; 2: the part comes behind
 * the counter. */
KERNEL WORKGROUP(64) void last_adds(u32 *out, u32 *part, u32 *counter, int wrong) {
    SHARED u32 last;
    if (wrong != 2) part[GLOBAL_THREAD] = GLOBAL_THREAD;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    sync();
    if (THREAD == 0) last = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, AGENT) == 3;
    sync();
    if (wrong == 2) part[GLOBAL_THREAD] = GLOBAL_THREAD;
    if (!last) return;
    if (wrong != 1) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    u32 sum = 0;
    for (int k = 0; k < 4; k++)
        sum += part[64 * k + THREAD];
    out[THREAD] = sum;
}

/* Each workgroup waits for the flag of the one before it and goes on from its value. */
KERNEL WORKGROUP(64) void chain(u32 *value, u32 *flag, int wrong) {
    if (THREAD != 0) return;
    u32 before = 0;
    if (BLOCK > 0) {
        while (!__hip_atomic_load(&flag[BLOCK - 1], __ATOMIC_RELAXED, AGENT))
            __builtin_amdgcn_s_sleep(1);
        if (!wrong) __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        before = value[BLOCK - 1];
    }
    value[BLOCK] = before + BLOCK + 1;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    __hip_atomic_store(&flag[BLOCK], 1u, __ATOMIC_RELAXED, AGENT);
}

/* Counters that all workgroups add to; a lock; and a compare-and-swap that begins with a plain look. */
KERNEL WORKGROUP(64) void shared_counters(u32 *bins, u32 *lock, u32 *guarded, u32 *most) {
    __hip_atomic_fetch_add(&bins[GLOBAL_THREAD % 7], 1u, __ATOMIC_RELAXED, AGENT);
    if (THREAD != 0) return;
    u32 seen = *most;
    while (seen < (u32)BLOCK * 3 && !__hip_atomic_compare_exchange_strong(most, &seen, (u32)BLOCK * 3, __ATOMIC_RELAXED, __ATOMIC_RELAXED, AGENT)) {}
    u32 open = 0;
    while (!__hip_atomic_compare_exchange_strong(lock, &open, 1u, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED, AGENT))
        open = 0;
    *guarded = *guarded * 2 + 1;
    __hip_atomic_store(lock, 0u, __ATOMIC_RELEASE, AGENT);
}

/* The first workgroup clears a counter that all add to. */
KERNEL WORKGROUP(64) void cleared_counter(u32 *counter, int wrong) {
    if (THREAD != 0) return;
    if (wrong && BLOCK == 0) *counter = 0;
    __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, AGENT);
}

/* Every workgroup raises one flag, and leaves its number where any may win. 1: all write one place 16 bytes at once,
 * which is no atomic; 2: they look at the flag without an atomic. */
KERNEL WORKGROUP(64) void raised_flag(u32 *flag, u32 *winner, u32 *wide, int wrong) {
    typedef u32 u32x4 __attribute__((ext_vector_type(4)));
    if (THREAD != 0) return;
    if (wrong == 2) winner[1 + BLOCK] = *flag;
    __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, AGENT);
    __hip_atomic_store(winner, (u32)BLOCK, __ATOMIC_RELAXED, AGENT);
    if (wrong == 1) *(u32x4 *)wide = (u32x4){1, 2, 3, 4};
}

/* The same of the waves of a workgroup. 1: what they write differs. */
KERNEL WORKGROUP(128) void raised_flag_in_lds(u32 *out, int wrong) {
    SHARED u32 flag;
    SHARED u64 wide;
    if (THREAD == 0) {
        flag = 0;
        wide = 0;
    }
    sync();
    if (THREAD % 64 == 0) {
        __hip_atomic_store(&flag, wrong ? (u32)THREAD : 7u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        __hip_atomic_store(&wide, 0x500000003ul, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    }
    sync();
    out[THREAD] = flag + (u32)(wide >> 32) + (u32)wide;
}

/* ---- one of each kind of report that the kernels above have none of ---- */

KERNEL WORKGROUP(128) void unknown_lds_branch(int *out, int wrong) {
    SHARED int t[128];
    if (THREAD < 128 - wrong) t[THREAD] = THREAD;
    sync();
    int v = __builtin_amdgcn_readfirstlane(t[127]);
    if (v > 64) __asm__ volatile("s_nop 1");
    out[THREAD] = v;
}

KERNEL void unasked_register(int *out, int wrong) {
    if (wrong) __asm__ volatile(".long 0x7ffe0300"); /* v_mov_b32 v255, v0 */
    out[THREAD] = 1;
}

KERNEL void jump_to_data(int *out, int wrong) {
    function f = wrong ? (function)out : (function)0;
    out[0] = 1;
    if (f) f(out);
}

#if defined(__gfx950__) || defined(__gfx1250__)
KERNEL WORKGROUP(64) void transposed_load(int *out, int wrong) {
    typedef u32 u32x2 __attribute__((ext_vector_type(2)));
    typedef u32 u32x3 __attribute__((ext_vector_type(3)));
    SHARED u32 t[512];
    for (int k = 0; k < 512; k += 64)
        t[k + THREAD] = k;
    sync();
    u32 place = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) void *)t;
    u32x2 v = {0, 0};
    u32x3 w = {0, 0, 0};
    if (wrong != 1 || THREAD != 5)
#ifdef __gfx950__
        __asm__ volatile("ds_read_b64_tr_b8 %0, %1\n s_waitcnt lgkmcnt(0)" : "=&v"(v) : "v"(place + 8 * THREAD) : "memory");
    __asm__ volatile("ds_read_b96_tr_b6 %0, %1\n s_waitcnt lgkmcnt(0)"
                     : "=&v"(w)
                     : "v"(place + 16 * THREAD + (wrong == 2 ? 12 : 0))
                     : "memory");
#else
        __asm__ volatile("ds_load_tr8_b64 %0, %1\n s_wait_dscnt 0x0" : "=&v"(v) : "v"(place + 8 * THREAD) : "memory");
#endif
    out[THREAD] = (int)(v.x + v.y + w.x + w.y + w.z);
}
#endif

#define WORKGROUP_SCOPE __HIP_MEMORY_SCOPE_WORKGROUP

/* One wave hands data to another through a flag in LDS that the other one polls. `first`: which wave gives. Wrong: 1 the
 * flag goes up before the data; 2 nobody waits. */
KERNEL WORKGROUP(128) void polled_flag(u32 *out, int first, int wrong) {
    SHARED u32 flag, data[64];
    if (THREAD == 0) flag = 0;
    sync();
    if (THREAD % 64 >= 32) return; /* one wave of each half, of 32 lanes or of 64 */
    if (THREAD / 64 == (first != 0)) {
        if (wrong == 1) __hip_atomic_store(&flag, 1u, __ATOMIC_RELAXED, WORKGROUP_SCOPE);
        if (wrong == 1) __builtin_amdgcn_s_sleep(1);
        data[THREAD % 64] = data[THREAD % 64 + 32] = (u32)THREAD + 7;
        if (wrong != 1) __hip_atomic_store(&flag, 1u, __ATOMIC_RELEASE, WORKGROUP_SCOPE);
    } else {
        while (wrong != 2 && __hip_atomic_load(&flag, __ATOMIC_RELAXED, WORKGROUP_SCOPE) == 0)
            __builtin_amdgcn_s_sleep(1);
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        out[THREAD % 64] = data[63 - THREAD % 64];
    }
}

/* The same, through a pointer that may point anywhere. 1: to another flag. */
static NOINLINE DEVICE void wait_for(volatile u32 *flag, u32 value) {
    while (*flag < value) {
    }
}
KERNEL WORKGROUP(128) void polled_pointer(u32 *out, int first, int wrong) {
    SHARED u32 flags[2], data[64];
    if (THREAD < 2) flags[THREAD] = 0;
    sync();
    if (THREAD % 64 >= 32) return;
    if (THREAD / 64 == (first != 0)) {
        data[THREAD % 64] = data[THREAD % 64 + 32] = (u32)THREAD + 7;
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        ((volatile u32 *)flags)[0] = 5;
    } else {
        wait_for(wrong ? flags + 1 : flags, wrong ? 0 : 5);
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        out[THREAD % 64] = data[63 - THREAD % 64];
    }
}

/* Tokens go round: each wave waits for its number, adds to what is guarded, and lets the next one go. */
KERNEL WORKGROUP(256) void polled_turns(u32 *out, int wrong) {
    SHARED u32 turn, sum;
    if (THREAD == 0) turn = sum = 0;
    sync();
    u32 me = (u32)__builtin_amdgcn_readfirstlane(THREAD / 64);
    if (THREAD % 64 == 0) {
        for (u32 round = 0; round < 3; round++) {
            while (__hip_atomic_load(&turn, __ATOMIC_ACQUIRE, WORKGROUP_SCOPE) != 4 * round + me) {
            }
            if (!wrong) sum = sum * 3 + me;
            __hip_atomic_store(&turn, 4 * round + me + 1, __ATOMIC_RELEASE, WORKGROUP_SCOPE);
            if (wrong) sum = sum * 3 + me;
        }
    }
    sync();
    out[THREAD] = sum;
}
