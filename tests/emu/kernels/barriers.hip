#include "tests/emu/kernels/hip.h"

/* Split, named and cluster barriers of gfx12; `wrong` picks a fault. */
#if defined(__GFX12__)
#define LDS(type) __attribute__((address_space(3))) type
#define SIGNAL()  __builtin_amdgcn_s_barrier_signal(-1)
#define WAIT()    __builtin_amdgcn_s_barrier_wait(-1)
#define LDS_WAIT  __asm__ volatile("s_wait_dscnt 0x0" ::: "memory")

KERNEL WORKGROUP(128) void split(int *out, int wrong) {
    SHARED int t[128];
    int wave = __builtin_amdgcn_readfirstlane(THREAD) / 32;
    ((volatile int *)t)[THREAD] = THREAD;
    LDS_WAIT;
    SIGNAL();
    if (wrong == 1 && wave == 1) SIGNAL();
    if (wrong == 2 && wave == 1) return;
    if (wrong == 3) out[THREAD] = ((volatile int *)t)[127 - THREAD];
    WAIT();
    if (wrong == 4 && wave == 2) WAIT();
    out[THREAD] = ((volatile int *)t)[127 - THREAD];
}

KERNEL WORKGROUP(128) void is_first(u32 *out) {
    bool first = __builtin_amdgcn_s_barrier_signal_isfirst(-1);
    WAIT();
    if (first && THREAD % 32 == 0) __atomic_fetch_add(out, 1u, __ATOMIC_RELAXED);
}

/* What the barrier's state is before any wave signals, and when the first of four has. */
KERNEL WORKGROUP(128) void state(u32 *out) {
    SHARED u32 seen;
    int wave = __builtin_amdgcn_readfirstlane(THREAD) / 32;
    if (THREAD == 0) seen = 0;
    sync();
    if (wave == 0) {
        out[0] = __builtin_amdgcn_s_get_barrier_state(-1);
        SIGNAL();
        out[1] = __builtin_amdgcn_s_get_barrier_state(-1);
        out[2] = __hip_atomic_fetch_or(&seen, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        WAIT();
    } else {
        while (!(__hip_atomic_fetch_or(&seen, 2u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) & 1))
            __builtin_amdgcn_s_sleep(1);
        SIGNAL();
        WAIT();
    }
}
#endif

#ifdef __gfx1250__
#define JOIN(b)               __builtin_amdgcn_s_barrier_join(&b)
#define ARRIVE(b)             __builtin_amdgcn_s_barrier_signal_var(&b, 0)
#define ARRIVE_AS(b, members) __builtin_amdgcn_s_barrier_signal_var(&b, members)
#define PASS()                __builtin_amdgcn_s_barrier_wait(1) /* the barrier that the wave joined */

__attribute__((shared)) __amdgpu_named_workgroup_barrier_t first_barrier, second_barrier;

/* Waves 0 and 1 meet at one barrier, waves 2 and 3 at the other, each pair twice. */
KERNEL WORKGROUP(128) void pairs(int *out, int wrong) {
    SHARED int t[128];
    volatile int *p = t;
    int wave = __builtin_amdgcn_readfirstlane(THREAD) / 32;
    __builtin_amdgcn_s_barrier_init(&first_barrier, 2);
    __builtin_amdgcn_s_barrier_init(&second_barrier, 2);
    sync();
    p[THREAD] = THREAD * 5;
    LDS_WAIT;
    if (wave < 2) {
        if (wrong != 3) JOIN(first_barrier);
        if (wrong != 1 || wave == 0) ARRIVE(first_barrier);
        PASS();
    } else {
        JOIN(second_barrier);
        ARRIVE(second_barrier);
        PASS();
    }
    int other = wrong == 2 ? 127 - THREAD : THREAD ^ 32;
    int v = p[other];
    if (wave < 2) {
        ARRIVE(first_barrier);
        PASS();
    } else {
        ARRIVE(second_barrier);
        PASS();
    }
    p[THREAD] = v + 1;
    LDS_WAIT;
    sync();
    out[THREAD] = p[THREAD ^ 64];
}

/* Three waves feed one: only the last joins and waits, and the signals bring the count along. */
KERNEL WORKGROUP(128) void producers(int *out, int wrong) {
    SHARED int t[128];
    volatile int *p = t;
    int wave = __builtin_amdgcn_readfirstlane(THREAD) / 32;
    if (wave == 3) JOIN(first_barrier);
    sync();
    p[THREAD] = THREAD + 1;
    LDS_WAIT;
    if (wave == 3) {
        PASS();
        int sum = 0;
        for (int k = 0; k < 96; k += 32)
            sum += p[k + THREAD % 32];
        out[THREAD - 96] = sum;
    } else {
        if (wrong == 1)
            ARRIVE(first_barrier); /* of a barrier that nobody gave members */
        else if (wrong == 2)
            __asm__ volatile("s_barrier_signal 9"); /* which the kernel does not have */
        else
            ARRIVE_AS(first_barrier, 3);
    }
}

KERNEL WORKGROUP(64) void clusters(int *out, int wrong) {
    SHARED int t[64];
    volatile int *p = t;
    int wave = __builtin_amdgcn_readfirstlane(THREAD) / 32;
    p[THREAD] = THREAD;
    if (wrong)
        __builtin_amdgcn_s_barrier_wait(-3);
    else
        __builtin_amdgcn_s_cluster_barrier();
    out[THREAD] = wave + p[THREAD];
}

/* A barrier that lies in LDS: four waves arrive, and poll its phase. 1: the first wave arrives before it has stored. */
KERNEL WORKGROUP(128) void arrivals(u64 *out, int wrong) {
    SHARED u64 barrier;
    SHARED u32 data[128];
    if (THREAD == 0) barrier = 3ul << 32 | 3;
    sync();
    u32 place = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) void *)&barrier;
    u64 one = 1, before = 0;
    if (wrong != 1 || THREAD >= 32) data[THREAD] = (u32)THREAD * 3;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    if (THREAD % 32 == 0)
        __asm__ volatile("ds_atomic_barrier_arrive_rtn_b64 %0, %1, %2\n s_wait_dscnt 0x0"
                         : "=&v"(before)
                         : "v"(place), "v"(one)
                         : "memory");
    if (wrong == 1 && THREAD < 32) data[THREAD] = (u32)THREAD * 3;
    while (!(__hip_atomic_load(&barrier, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) >> 29 & 1))
        __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    out[THREAD] = data[127 - THREAD];
    if (THREAD % 32 == 0) out[128 + THREAD / 32] = before;
    if (THREAD == 0) out[132] = barrier;
}
#endif
