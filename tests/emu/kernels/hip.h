/* The few things that device code needs of a HIP runtime. */
#ifndef TW_TESTS_EMU_HIP_H
#define TW_TESTS_EMU_HIP_H

#define KERNEL        extern "C" __attribute__((global))
#define DEVICE        __attribute__((device))
#define SHARED        __attribute__((shared))
#define WORKGROUP(n)  __attribute__((amdgpu_flat_work_group_size(n, n)))
#define THREAD        ((int)__builtin_amdgcn_workitem_id_x())
#define BLOCK         ((int)__builtin_amdgcn_workgroup_id_x())
#define BLOCK_SIZE    ((int)__builtin_amdgcn_workgroup_size_x())
#define GLOBAL_THREAD (BLOCK * BLOCK_SIZE + THREAD)
#define NOINLINE      __attribute__((noinline))

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef __bf16 bf16;

/* Word 3 of a buffer resource that is checked in bytes. */
#if defined(__gfx1250__)
#define BUFFER_WORD3 0
#elif defined(__GFX9__)
#define BUFFER_WORD3 0x00027000
#else
#define BUFFER_WORD3 0x31004000
#endif

/* A workgroup barrier with the fences that __syncthreads has. */
static inline DEVICE void sync() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif
