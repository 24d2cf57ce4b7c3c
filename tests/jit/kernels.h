/* Small kernels as LLVM IR text. */
#ifndef TW_TESTS_JIT_KERNELS_H
#define TW_TESTS_JIT_KERNELS_H

/* clang-format off */

/* One explicit pointer and one float; 64 work-items. Any LLVM from 15 on takes it for any target. */
#define KERNEL_STORE \
    "target triple = \"amdgcn-amd-amdhsa\"\n" \
    "declare i32 @llvm.amdgcn.workitem.id.x()\n" \
    "define amdgpu_kernel void @store(ptr addrspace(1) %x, float %a) #0 !reqd_work_group_size !0 {\n" \
    "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" \
    "  %p = getelementptr float, ptr addrspace(1) %x, i32 %t\n" \
    "  store float %a, ptr addrspace(1) %p\n" \
    "  ret void\n" \
    "}\n" \
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-flat-work-group-size\"=\"64,64\" }\n" \
    "!0 = !{i32 64, i32 1, i32 1}\n"

/* A buffer store in the form of LLVM 15: the resource is a <4 x i32>. Later releases still take it. */
#define KERNEL_BUFFER_LLVM15 \
    "target triple = \"amdgcn-amd-amdhsa\"\n" \
    "declare i32 @llvm.amdgcn.workitem.id.x()\n" \
    "declare void @llvm.amdgcn.raw.buffer.store.f32(float, <4 x i32>, i32, i32, i32)\n" \
    "define amdgpu_kernel void @buffer(ptr addrspace(1) %x, float %a) #0 {\n" \
    "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n" \
    "  %o = shl i32 %t, 2\n" \
    "  %i = ptrtoint ptr addrspace(1) %x to i64\n" \
    "  %lo = trunc i64 %i to i32\n" \
    "  %s = lshr i64 %i, 32\n" \
    "  %hi = trunc i64 %s to i32\n" \
    "  %r0 = insertelement <4 x i32> <i32 0, i32 0, i32 256, i32 159744>, i32 %lo, i32 0\n" \
    "  %r1 = insertelement <4 x i32> %r0, i32 %hi, i32 1\n" \
    "  call void @llvm.amdgcn.raw.buffer.store.f32(float %a, <4 x i32> %r1, i32 %o, i32 0, i32 0)\n" \
    "  ret void\n" \
    "}\n" \
    "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"64,64\" }\n"

/* Two kernels and two variables, one of which holds the address of the other. */
#define KERNEL_TWO_WITH_VARIABLES \
    "target triple = \"amdgcn-amd-amdhsa\"\n" \
    "@table = addrspace(1) global [4 x i32] [i32 1, i32 2, i32 3, i32 4]\n" \
    "@place = addrspace(1) global ptr addrspace(1) @table\n" \
    "define amdgpu_kernel void @one(ptr addrspace(1) %x) {\n" \
    "  %v = load i32, ptr addrspace(1) @table\n" \
    "  store i32 %v, ptr addrspace(1) %x\n" \
    "  ret void\n" \
    "}\n" \
    "define amdgpu_kernel void @another() {\n" \
    "  ret void\n" \
    "}\n"

/* Calls an intrinsic that no LLVM knows. */
#define KERNEL_UNKNOWN_INTRINSIC \
    "target triple = \"amdgcn-amd-amdhsa\"\n" \
    "declare i32 @llvm.amdgcn.foo()\n" \
    "define amdgpu_kernel void @k(ptr addrspace(1) %x) {\n" \
    "  %t = call i32 @llvm.amdgcn.foo()\n" \
    "  store i32 %t, ptr addrspace(1) %x\n" \
    "  ret void\n" \
    "}\n"

/* An operation that LLVM has but cannot select for gfx90a, which it treats as a fatal error. */
#define KERNEL_FATAL \
    "target triple = \"amdgcn-amd-amdhsa\"\n" \
    "declare <4 x half> @llvm.amdgcn.ds.read.tr16.b64.v4f16(ptr addrspace(3))\n" \
    "define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(3) %y) {\n" \
    "  %v = call <4 x half> @llvm.amdgcn.ds.read.tr16.b64.v4f16(ptr addrspace(3) %y)\n" \
    "  store <4 x half> %v, ptr addrspace(1) %x\n" \
    "  ret void\n" \
    "}\n"

/* clang-format on */

#endif
