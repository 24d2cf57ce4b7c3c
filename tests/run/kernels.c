#include "tests/run/kernels.h"

#include <string.h>

#include "jit/compiler.h"
#include "tests/test.h"

#define TRIPLE "target triple = \"amdgcn-amd-amdhsa\"\n"

const char *const kernel_axpy = TRIPLE
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "define amdgpu_kernel void @axpy(ptr addrspace(1) %x, ptr addrspace(1) %y, float %a, i32 %n) #0 {\n"
    "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "  %b = shl i32 %g, 6\n"
    "  %i = add i32 %b, %t\n"
    "  %in = icmp slt i32 %i, %n\n"
    "  br i1 %in, label %do, label %done\n"
    "do:\n"
    "  %px = getelementptr float, ptr addrspace(1) %x, i32 %i\n"
    "  %py = getelementptr float, ptr addrspace(1) %y, i32 %i\n"
    "  %vx = load float, ptr addrspace(1) %px\n"
    "  %vy = load float, ptr addrspace(1) %py\n"
    "  %m = fmul float %a, %vx\n"
    "  %s = fadd float %m, %vy\n"
    "  store float %s, ptr addrspace(1) %py\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-flat-work-group-size\"=\"1,64\" }\n";

const char *const kernel_slabs =
    TRIPLE "declare i32 @llvm.amdgcn.workitem.id.x()\n"
           "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
           "define amdgpu_kernel void @add(ptr addrspace(1) %x, ptr addrspace(1) %slab, i32 %n) #0 {\n"
           "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
           "  %g = call i32 @llvm.amdgcn.workgroup.id.x()\n"
           "  %b = shl i32 %g, 6\n"
           "  %i = add i32 %b, %t\n"
           "  %in = icmp slt i32 %i, %n\n"
           "  br i1 %in, label %do, label %done\n"
           "do:\n"
           "  %px = getelementptr i32, ptr addrspace(1) %x, i32 %i\n"
           "  %ps = getelementptr i32, ptr addrspace(1) %slab, i32 %t\n"
           "  %v = load i32, ptr addrspace(1) %px\n"
           "  %o = atomicrmw add ptr addrspace(1) %ps, i32 %v syncscope(\"agent\") monotonic\n"
           "  br label %done\n"
           "done:\n"
           "  ret void\n"
           "}\n"
           "define amdgpu_kernel void @fold(ptr addrspace(1) %slab, ptr addrspace(1) %out) #0 {\n"
           "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
           "  %ps = getelementptr i32, ptr addrspace(1) %slab, i32 %t\n"
           "  %po = getelementptr i32, ptr addrspace(1) %out, i32 %t\n"
           "  %v = load i32, ptr addrspace(1) %ps\n"
           "  store i32 %v, ptr addrspace(1) %po\n"
           "  ret void\n"
           "}\n"
           "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" \"amdgpu-flat-work-group-size\"=\"64,64\" }\n";

/* clang-format off */

#define FIELD_ADDRESSES(from, to)                                             \
    "  %p" #to " = getelementptr i8, ptr addrspace(4) %h, i32 " #from "\n"    \
    "  %o" #to " = getelementptr i32, ptr addrspace(1) %out, i32 " #to "\n"
#define COPY_U16(from, to)                                                    \
    FIELD_ADDRESSES(from, to)                                                 \
    "  %v" #to " = load i16, ptr addrspace(4) %p" #to "\n"                    \
    "  %z" #to " = zext i16 %v" #to " to i32\n"                               \
    "  store i32 %z" #to ", ptr addrspace(1) %o" #to "\n"
#define COPY_U32(from, to)                                                    \
    FIELD_ADDRESSES(from, to)                                                 \
    "  %v" #to " = load i32, ptr addrspace(4) %p" #to "\n"                    \
    "  store i32 %v" #to ", ptr addrspace(1) %o" #to "\n"

/* Offsets as LLVM lays hidden arguments out from code object version 5 on. */
const char *const kernel_hidden =
    TRIPLE
    "@dynamic = external addrspace(3) global [0 x i32]\n" /* only then is there an argument for its size */
    "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.y()\n"
    "define amdgpu_kernel void @hidden(ptr addrspace(1) %out) #0 {\n"
    "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %x = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "  %y = call i32 @llvm.amdgcn.workgroup.id.y()\n"
    "  %xy = or i32 %x, %y\n"
    "  %all = or i32 %xy, %t\n"
    "  %first = icmp eq i32 %all, 0\n"
    "  br i1 %first, label %do, label %done\n"
    "do:\n"
    "  store i32 1, ptr addrspace(3) @dynamic\n"
    COPY_U32(0, 0) COPY_U32(4, 1) COPY_U32(8, 2)
    COPY_U16(12, 3) COPY_U16(14, 4) COPY_U16(16, 5)
    COPY_U16(64, 6)
    COPY_U32(120, 7)
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"1,64\" }\n";

const char *const kernel_unfilled =
    TRIPLE
    "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "define amdgpu_kernel void @unfilled(ptr addrspace(1) %out) #0 {\n"
    "  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
    "  %p = getelementptr i8, ptr addrspace(4) %h, i32 24\n"
    "  %v = load i32, ptr addrspace(4) %p\n"
    "  %c = icmp eq i32 %v, 0\n"
    "  br i1 %c, label %do, label %done\n"
    "do:\n"
    "  store i32 1, ptr addrspace(1) %out\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"1,64\" }\n";

/* clang-format on */

tw_code_object *compile_kernel(const char *text, const char *target_name) {
    tw_compiler *compiler;
    tw_target target;
    tw_code_object *object;
    tw_diag *diag = tw_diag_new(NULL);
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, diag), TW_OK);
    assert_int_equal(tw_target_parse(target_name, &target, diag), TW_OK);
    tw_status status = tw_compile_llvm_ir(compiler, text, strlen(text), target, NULL, &object, diag);
    if (status) fail_msg("%s", tw_diag_text(diag));
    tw_compiler_close(compiler);
    tw_diag_free(diag);
    return object;
}
