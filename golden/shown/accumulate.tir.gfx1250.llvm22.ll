; accumulate for gfx1250, llvm22
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

define protected amdgpu_kernel void @accumulate(ptr addrspace(1) noundef noalias %dst, i32 noundef %bytes, i32 noundef %n) #0 !reqd_work_group_size !0 {
.entry:
  %tid = call i32 @llvm.amdgcn.workitem.id.x()
  %.t1 = zext i32 %bytes to i64
  %rsrc = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %dst, i16 0, i64 %.t1, i32 0)
  %.t2 = icmp slt i32 %tid, %n
  br i1 %.t2, label %.for1, label %.for1.end
.for1:
  %i = phi i32 [ %tid, %.entry ], [ %.for1.index, %.for1.next ]
  %acc = phi float [ 0x0000000000000000, %.entry ], [ %a, %.for1.next ]
  %f = sitofp i32 %i to float
  %a = fadd float %acc, %f
  br label %.for1.next
.for1.next:
  %.for1.index = add nsw i32 %i, 256
  %.t3 = icmp slt i32 %.for1.index, %n
  br i1 %.t3, label %.for1, label %.for1.end
.for1.end:
  %sum = phi float [ 0x0000000000000000, %.entry ], [ %a, %.for1.next ]
  %in = icmp slt i32 %tid, %n
  br i1 %in, label %.if2.then, label %.if2.end
.if2.then:
  %off = shl i32 %tid, 2
  %.t4 = call float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float %sum, ptr addrspace(8) %rsrc, i32 %off, i32 0, i32 20)
  br label %.if2.end
.if2.end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float, ptr addrspace(8), i32, i32, i32)

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="256,256" "uniform-work-group-size"="true" "amdgpu-ieee"="false" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-ptr" "amdgpu-no-workgroup-id-x" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-hostcall-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-default-queue" "amdgpu-no-completion-action" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-lds-kernel-id" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "target-cpu"="gfx1250" }

!llvm.module.flags = !{!1}
!0 = !{i32 256, i32 1, i32 1}
!1 = !{i32 1, !"amdhsa_code_object_version", i32 500}
