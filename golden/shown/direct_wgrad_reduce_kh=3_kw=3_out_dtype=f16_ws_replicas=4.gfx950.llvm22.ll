; direct_wgrad_reduce_3x3_f16_w4_z4_p0 for gfx950, llvm22
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@.lds..2 = internal addrspace(3) global [576 x float] poison, align 16

define protected amdgpu_kernel void @direct_wgrad_reduce_3x3_f16_w4_z4_p0(ptr addrspace(1) noundef noalias readonly %ws, ptr addrspace(1) noundef noalias %dw, i32 noundef %c, i32 noundef %slabs, i32 noundef %ws_bytes, i32 noundef %dw_bytes) #0 !reqd_work_group_size !0 {
.entry:
  %.t1 = zext i32 %ws_bytes to i64
  %.0 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %ws, i16 0, i64 %.t1, i32 159744)
  %.t2 = zext i32 %dw_bytes to i64
  %.1 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %dw, i16 0, i64 %.t2, i32 159744)
  %.t3 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %.3 = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %.t3)
  %.4 = call i32 @llvm.amdgcn.workgroup.id.x()
  %.5 = mul i32 %.4, 64
  %.6 = add i32 %.5, %.3
  %.7 = add i32 %c, -1
  %.8 = call i32 @llvm.smin.i32(i32 %.6, i32 %.7)
  %.9 = call i32 @llvm.smax.i32(i32 %.8, i32 0)
  %.10 = mul i32 %.9, 4
  %.11 = mul i32 %c, 4
  %.t4 = call i32 @llvm.amdgcn.workitem.id.x()
  %.t5 = lshr i32 %.t4, 6
  %.12 = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %.t5)
  %.t6 = icmp slt i32 %.12, 9
  br i1 %.t6, label %.for1, label %.for1.end
.for1:
  %.13 = phi i32 [ %.12, %.entry ], [ %.for1.index, %.for1.next ]
  %.14 = mul i32 %.13, %.11
  %.15 = mul i32 %.11, 9
  %.t7 = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %.0, i32 %.10, i32 %.14, i32 0)
  %.16 = bitcast i32 %.t7 to float
  %.17 = add i32 %.14, %.15
  %.t8 = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %.0, i32 %.10, i32 %.17, i32 0)
  %.18 = bitcast i32 %.t8 to float
  %.19 = fadd float %.16, %.18
  %.20 = add i32 %.17, %.15
  %.t9 = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %.0, i32 %.10, i32 %.20, i32 0)
  %.21 = bitcast i32 %.t9 to float
  %.22 = fadd float %.19, %.21
  %.23 = add i32 %.20, %.15
  %.t10 = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) %.0, i32 %.10, i32 %.23, i32 0)
  %.24 = bitcast i32 %.t10 to float
  %.25 = fadd float %.22, %.24
  %.26 = mul i32 %.3, 9
  %.27 = add i32 %.26, %.13
  %.t11 = getelementptr float, ptr addrspace(3) @.lds..2, i32 %.27
  store float %.25, ptr addrspace(3) %.t11, align 4
  br label %.for1.next
.for1.next:
  %.for1.index = add nsw i32 %.13, 4
  %.t12 = icmp slt i32 %.for1.index, 9
  br i1 %.t12, label %.for1, label %.for1.end, !llvm.loop !2
.for1.end:
  fence syncscope("workgroup") release, !mmra !3
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire, !mmra !3
  %.28 = sub i32 %c, %.5
  %.29 = call i32 @llvm.smin.i32(i32 %.28, i32 64)
  %.30 = mul i32 %.29, 9
  %.31 = mul i32 %.5, 9
  %.32 = call i32 @llvm.amdgcn.workitem.id.x()
  %.t13 = icmp slt i32 %.32, %.30
  br i1 %.t13, label %.for2, label %.for2.end
.for2:
  %.33 = phi i32 [ %.32, %.for1.end ], [ %.for2.index, %.for2.next ]
  %.34 = udiv i32 %.33, 9
  %.35 = mul i32 %.34, 9
  %.36 = sub i32 %.33, %.35
  %.37 = mul i32 %.34, 9
  %.38 = add i32 %.37, %.36
  %.t14 = getelementptr float, ptr addrspace(3) @.lds..2, i32 %.38
  %.39 = load float, ptr addrspace(3) %.t14, align 4
  %.40 = fptrunc float %.39 to half
  %.41 = add i32 %.31, %.33
  %.42 = mul i32 %.41, 2
  %.t15 = bitcast half %.40 to i16
  call void @llvm.amdgcn.raw.ptr.buffer.store.i16(i16 %.t15, ptr addrspace(8) %.1, i32 %.42, i32 0, i32 0)
  br label %.for2.next
.for2.next:
  %.for2.index = add nsw i32 %.33, 256
  %.t16 = icmp slt i32 %.for2.index, %.30
  br i1 %.t16, label %.for2, label %.for2.end, !llvm.loop !4
.for2.end:
  ret void
}

declare i32 @llvm.amdgcn.workitem.id.x()
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)
declare i32 @llvm.amdgcn.readfirstlane.i32(i32)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.raw.ptr.buffer.store.i16(i16, ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="256,256" "uniform-work-group-size"="true" "amdgpu-ieee"="false" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-ptr" "amdgpu-no-workgroup-id-y" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-hostcall-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-default-queue" "amdgpu-no-completion-action" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-lds-kernel-id" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "target-cpu"="gfx950" }

!llvm.module.flags = !{!1}
!0 = !{i32 256, i32 1, i32 1}
!1 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!3 = !{!"amdgpu-synchronize-as", !"local"}
!4 = distinct !{!4, !{!"llvm.loop.unroll.disable"}}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
