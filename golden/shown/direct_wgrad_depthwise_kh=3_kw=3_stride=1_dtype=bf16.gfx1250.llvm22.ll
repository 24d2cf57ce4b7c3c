; direct_wgrad_depthwise_3x3_s1_bf16_r1_w4_v1_h1_u4_z1_p0 for gfx1250, llvm22
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@.lds..401 = internal addrspace(3) global [1152 x float] poison, align 16

define protected amdgpu_kernel void @direct_wgrad_depthwise_3x3_s1_bf16_r1_w4_v1_h1_u4_z1_p0(ptr addrspace(1) noundef noalias readonly %x, ptr addrspace(1) noundef noalias readonly %dy, ptr addrspace(1) noundef noalias %ws, i32 noundef %n, i32 noundef %h, i32 noundef %w, i32 noundef %ho, i32 noundef %wo, i32 noundef %c, i32 noundef %pad_h, i32 noundef %pad_w, i32 noundef %row_blocks, i32 noundef %x_bytes, i32 noundef %dy_bytes, i32 noundef %ws_bytes) #0 !reqd_work_group_size !0 {
.entry:
  %.t1 = zext i32 %x_bytes to i64
  %.0 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %x, i16 0, i64 %.t1, i32 0)
  %.t2 = zext i32 %dy_bytes to i64
  %.1 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %dy, i16 0, i64 %.t2, i32 0)
  %.t3 = zext i32 %ws_bytes to i64
  %.2 = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1) %ws, i16 0, i64 %.t3, i32 0)
  %.3 = call i32 @llvm.amdgcn.workgroup.id.x()
  %.4 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %.5 = mul i32 %.3, 32
  %channel = add i32 %.5, %.4
  %.6 = add i32 %c, -1
  %.7 = call i32 @llvm.smin.i32(i32 %channel, i32 %.6)
  %.8 = mul i32 %.7, 2
  %pixel = mul i32 %c, 2
  %.9 = add i32 %.8, %pixel
  %.10 = add i32 %.9, %pixel
  %.11 = add i32 %.10, %pixel
  %.12 = call i32 @llvm.amdgcn.wave.id()
  %.13 = udiv i32 %.12, 4
  %.14 = mul i32 %.13, 4
  %.15 = sub i32 %.12, %.14
  %.16 = mul i32 %.13, 3
  %first_row = call i32 @llvm.smin.i32(i32 %.16, i32 0)
  %.17 = add i32 %w, %pad_w
  %.18 = add i32 %.17, -3
  %.19 = add i32 %.18, 1
  %.20 = call i32 @llvm.smin.i32(i32 %.19, i32 %wo)
  %.21 = sub i32 %.20, %pad_w
  %.22 = call i32 @llvm.smax.i32(i32 %.21, i32 0)
  %inner_rounds = udiv i32 %.22, 4
  %.23 = mul i32 %n, %ho
  %.24 = call i32 @llvm.amdgcn.workgroup.id.y()
  %.25 = mul i32 %.24, %row_blocks
  %.26 = add i32 %.25, %row_blocks
  %.27 = call i32 @llvm.smin.i32(i32 %.26, i32 %.23)
  %.28 = add i32 %.25, %.15
  %.t4 = freeze i32 %ho
  %.t5 = icmp eq i32 %.t4, 0
  %.t6 = select i1 %.t5, i32 1, i32 %.t4
  %.29 = udiv i32 %.28, %.t6
  %.30 = mul i32 %.29, %ho
  %.31 = sub i32 %.28, %.30
  %.t7 = freeze i32 %ho
  %.t8 = icmp eq i32 %.t7, 0
  %.t9 = select i1 %.t8, i32 1, i32 %.t7
  %.32 = udiv i32 4, %.t9
  %.33 = mul i32 %.32, %ho
  %.34 = sub i32 4, %.33
  %.t10 = icmp slt i32 %.28, %.27
  br i1 %.t10, label %.for1, label %.for1.end
.for1:
  %.47 = phi i32 [ %.28, %.entry ], [ %.for1.index, %.for1.next ]
  %.48 = phi float [ 0x0000000000000000, %.entry ], [ %.247, %.for1.next ]
  %.49 = phi float [ 0x0000000000000000, %.entry ], [ %.248, %.for1.next ]
  %.50 = phi float [ 0x0000000000000000, %.entry ], [ %.249, %.for1.next ]
  %.51 = phi float [ 0x0000000000000000, %.entry ], [ %.250, %.for1.next ]
  %.52 = phi float [ 0x0000000000000000, %.entry ], [ %.251, %.for1.next ]
  %.53 = phi float [ 0x0000000000000000, %.entry ], [ %.252, %.for1.next ]
  %.54 = phi float [ 0x0000000000000000, %.entry ], [ %.253, %.for1.next ]
  %.55 = phi float [ 0x0000000000000000, %.entry ], [ %.254, %.for1.next ]
  %.56 = phi float [ 0x0000000000000000, %.entry ], [ %.255, %.for1.next ]
  %.57 = phi i32 [ %.29, %.entry ], [ %.397, %.for1.next ]
  %.58 = phi i32 [ %.31, %.entry ], [ %.396, %.for1.next ]
  %.59 = sub i32 %.58, %pad_h
  %.60 = add i32 %.59, %first_row
  %.61 = mul i32 %.57, %h
  %.62 = mul i32 %.57, %ho
  %.63 = add i32 %.58, 1
  %.64 = icmp sle i32 %.63, %ho
  %.65 = icmp sge i32 %.60, 0
  %.66 = add i32 %.60, 3
  %.67 = icmp sle i32 %.66, %h
  %.68 = and i1 %.64, %.65
  %.69 = and i1 %.68, %.67
  %.70 = select i1 %.69, i32 %inner_rounds, i32 0
  %.71 = icmp sgt i32 %.70, 0
  %.72 = mul i32 %.70, 4
  %.73 = add i32 %pad_w, %.72
  %.74 = select i1 %.71, i32 %pad_w, i32 %wo
  %.75 = select i1 %.71, i32 %.73, i32 %wo
  br i1 %.71, label %.if2.then, label %.if2.else
.if2.then:
  %.85 = sub i32 %.74, %pad_w
  %.86 = add i32 %.60, %.61
  %.87 = mul i32 %.86, %w
  %.88 = add i32 %.85, %.87
  %.89 = mul i32 %.88, %pixel
  %.90 = mul i32 %w, %pixel
  %.91 = mul i32 %pixel, 2
  %.t11 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.89, i32 0)
  %.92 = bitcast i16 %.t11 to bfloat
  %.93 = fpext bfloat %.92 to float
  %.t12 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.89, i32 0)
  %.94 = bitcast i16 %.t12 to bfloat
  %.95 = fpext bfloat %.94 to float
  %.96 = add i32 %.89, %.91
  %.97 = add i32 %.89, %.90
  %.t13 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.97, i32 0)
  %.98 = bitcast i16 %.t13 to bfloat
  %.99 = fpext bfloat %.98 to float
  %.t14 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.97, i32 0)
  %.100 = bitcast i16 %.t14 to bfloat
  %.101 = fpext bfloat %.100 to float
  %.102 = add i32 %.97, %.91
  %.103 = add i32 %.97, %.90
  %.t15 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.103, i32 0)
  %.104 = bitcast i16 %.t15 to bfloat
  %.105 = fpext bfloat %.104 to float
  %.t16 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.103, i32 0)
  %.106 = bitcast i16 %.t16 to bfloat
  %.107 = fpext bfloat %.106 to float
  %.108 = add i32 %.103, %.91
  %.109 = add i32 %.58, %.62
  %.110 = mul i32 %.109, %wo
  %.111 = add i32 %.74, %.110
  %.112 = mul i32 %.111, %pixel
  %.t17 = insertelement <2 x float> poison, float %.48, i32 0
  %.113 = insertelement <2 x float> %.t17, float %.51, i32 1
  %.t18 = insertelement <2 x float> poison, float %.49, i32 0
  %.114 = insertelement <2 x float> %.t18, float %.52, i32 1
  %.t19 = insertelement <2 x float> poison, float %.50, i32 0
  %.115 = insertelement <2 x float> %.t19, float %.53, i32 1
  %.116 = mul i32 %pixel, 4
  %.117 = mul i32 %pixel, 4
  %.t20 = insertelement <2 x float> poison, float %.93, i32 0
  %.118 = insertelement <2 x float> %.t20, float %.99, i32 1
  %.t21 = insertelement <2 x float> poison, float %.95, i32 0
  %.119 = insertelement <2 x float> %.t21, float %.101, i32 1
  %.t22 = icmp slt i32 %.74, %.75
  br i1 %.t22, label %.for3, label %.for3.end
.for3:
  %.134 = phi i32 [ %.74, %.if2.then ], [ %.for3.index, %.for3.next ]
  %.135 = phi <2 x float> [ %.113, %.if2.then ], [ %.206, %.for3.next ]
  %.136 = phi <2 x float> [ %.114, %.if2.then ], [ %.207, %.for3.next ]
  %.137 = phi <2 x float> [ %.115, %.if2.then ], [ %.209, %.for3.next ]
  %.138 = phi float [ %.54, %.if2.then ], [ %.210, %.for3.next ]
  %.139 = phi float [ %.55, %.if2.then ], [ %.211, %.for3.next ]
  %.140 = phi float [ %.56, %.if2.then ], [ %.212, %.for3.next ]
  %.141 = phi <2 x float> [ %.118, %.if2.then ], [ %.200, %.for3.next ]
  %.142 = phi <2 x float> [ %.119, %.if2.then ], [ %.208, %.for3.next ]
  %.143 = phi float [ %.105, %.if2.then ], [ %.172, %.for3.next ]
  %.144 = phi float [ %.107, %.if2.then ], [ %.180, %.for3.next ]
  %.145 = phi i32 [ %.96, %.if2.then ], [ %.213, %.for3.next ]
  %.146 = phi i32 [ %.102, %.if2.then ], [ %.214, %.for3.next ]
  %.147 = phi i32 [ %.108, %.if2.then ], [ %.215, %.for3.next ]
  %.148 = phi i32 [ %.112, %.if2.then ], [ %.216, %.for3.next ]
  %.t23 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.1, i32 %.8, i32 %.148, i32 0)
  %.149 = bitcast i16 %.t23 to bfloat
  %.150 = fpext bfloat %.149 to float
  %.t24 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.145, i32 0)
  %.151 = bitcast i16 %.t24 to bfloat
  %.152 = fpext bfloat %.151 to float
  %.t25 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.146, i32 0)
  %.153 = bitcast i16 %.t25 to bfloat
  %.154 = fpext bfloat %.153 to float
  %.t26 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.8, i32 %.147, i32 0)
  %.155 = bitcast i16 %.t26 to bfloat
  %.156 = fpext bfloat %.155 to float
  %.t27 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.1, i32 %.9, i32 %.148, i32 0)
  %.157 = bitcast i16 %.t27 to bfloat
  %.158 = fpext bfloat %.157 to float
  %.t28 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.145, i32 0)
  %.159 = bitcast i16 %.t28 to bfloat
  %.160 = fpext bfloat %.159 to float
  %.t29 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.146, i32 0)
  %.161 = bitcast i16 %.t29 to bfloat
  %.162 = fpext bfloat %.161 to float
  %.t30 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.9, i32 %.147, i32 0)
  %.163 = bitcast i16 %.t30 to bfloat
  %.164 = fpext bfloat %.163 to float
  %.t31 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.1, i32 %.10, i32 %.148, i32 0)
  %.165 = bitcast i16 %.t31 to bfloat
  %.166 = fpext bfloat %.165 to float
  %.t32 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.10, i32 %.145, i32 0)
  %.167 = bitcast i16 %.t32 to bfloat
  %.168 = fpext bfloat %.167 to float
  %.t33 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.10, i32 %.146, i32 0)
  %.169 = bitcast i16 %.t33 to bfloat
  %.170 = fpext bfloat %.169 to float
  %.t34 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.10, i32 %.147, i32 0)
  %.171 = bitcast i16 %.t34 to bfloat
  %.172 = fpext bfloat %.171 to float
  %.t35 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.1, i32 %.11, i32 %.148, i32 0)
  %.173 = bitcast i16 %.t35 to bfloat
  %.174 = fpext bfloat %.173 to float
  %.t36 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.11, i32 %.145, i32 0)
  %.175 = bitcast i16 %.t36 to bfloat
  %.176 = fpext bfloat %.175 to float
  %.t37 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.11, i32 %.146, i32 0)
  %.177 = bitcast i16 %.t37 to bfloat
  %.178 = fpext bfloat %.177 to float
  %.t38 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.11, i32 %.147, i32 0)
  %.179 = bitcast i16 %.t38 to bfloat
  %.180 = fpext bfloat %.179 to float
  %.t39 = insertelement <2 x float> poison, float %.150, i32 0
  %.181 = shufflevector <2 x float> %.t39, <2 x float> poison, <2 x i32> zeroinitializer
  %.182 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.181, <2 x float> %.141, <2 x float> %.135)
  %.183 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.181, <2 x float> %.142, <2 x float> %.136)
  %.t40 = insertelement <2 x float> poison, float %.152, i32 0
  %.184 = insertelement <2 x float> %.t40, float %.154, i32 1
  %.185 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.181, <2 x float> %.184, <2 x float> %.137)
  %.186 = call float @llvm.fma.f32(float %.150, float %.143, float %.138)
  %.187 = call float @llvm.fma.f32(float %.150, float %.144, float %.139)
  %.188 = call float @llvm.fma.f32(float %.150, float %.156, float %.140)
  %.t41 = insertelement <2 x float> poison, float %.158, i32 0
  %.189 = shufflevector <2 x float> %.t41, <2 x float> poison, <2 x i32> zeroinitializer
  %.190 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.189, <2 x float> %.142, <2 x float> %.182)
  %.191 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.189, <2 x float> %.184, <2 x float> %.183)
  %.t42 = insertelement <2 x float> poison, float %.160, i32 0
  %.192 = insertelement <2 x float> %.t42, float %.162, i32 1
  %.193 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.189, <2 x float> %.192, <2 x float> %.185)
  %.194 = call float @llvm.fma.f32(float %.158, float %.144, float %.186)
  %.195 = call float @llvm.fma.f32(float %.158, float %.156, float %.187)
  %.196 = call float @llvm.fma.f32(float %.158, float %.164, float %.188)
  %.t43 = insertelement <2 x float> poison, float %.166, i32 0
  %.197 = shufflevector <2 x float> %.t43, <2 x float> poison, <2 x i32> zeroinitializer
  %.198 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.197, <2 x float> %.184, <2 x float> %.190)
  %.199 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.197, <2 x float> %.192, <2 x float> %.191)
  %.t44 = insertelement <2 x float> poison, float %.168, i32 0
  %.200 = insertelement <2 x float> %.t44, float %.170, i32 1
  %.201 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.197, <2 x float> %.200, <2 x float> %.193)
  %.202 = call float @llvm.fma.f32(float %.166, float %.156, float %.194)
  %.203 = call float @llvm.fma.f32(float %.166, float %.164, float %.195)
  %.204 = call float @llvm.fma.f32(float %.166, float %.172, float %.196)
  %.t45 = insertelement <2 x float> poison, float %.174, i32 0
  %.205 = shufflevector <2 x float> %.t45, <2 x float> poison, <2 x i32> zeroinitializer
  %.206 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.205, <2 x float> %.192, <2 x float> %.198)
  %.207 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.205, <2 x float> %.200, <2 x float> %.199)
  %.t46 = insertelement <2 x float> poison, float %.176, i32 0
  %.208 = insertelement <2 x float> %.t46, float %.178, i32 1
  %.209 = call <2 x float> @llvm.fma.v2f32(<2 x float> %.205, <2 x float> %.208, <2 x float> %.201)
  %.210 = call float @llvm.fma.f32(float %.174, float %.164, float %.202)
  %.211 = call float @llvm.fma.f32(float %.174, float %.172, float %.203)
  %.212 = call float @llvm.fma.f32(float %.174, float %.180, float %.204)
  %.213 = add i32 %.145, %.117
  %.214 = add i32 %.146, %.117
  %.215 = add i32 %.147, %.117
  %.216 = add i32 %.148, %.116
  br label %.for3.next
.for3.next:
  %.for3.index = add nsw i32 %.134, 4
  %.t47 = icmp slt i32 %.for3.index, %.75
  br i1 %.t47, label %.for3, label %.for3.end, !llvm.loop !2
.for3.end:
  %.120 = phi <2 x float> [ %.113, %.if2.then ], [ %.206, %.for3.next ]
  %.121 = phi <2 x float> [ %.114, %.if2.then ], [ %.207, %.for3.next ]
  %.122 = phi <2 x float> [ %.115, %.if2.then ], [ %.209, %.for3.next ]
  %.123 = phi float [ %.54, %.if2.then ], [ %.210, %.for3.next ]
  %.124 = phi float [ %.55, %.if2.then ], [ %.211, %.for3.next ]
  %.125 = phi float [ %.56, %.if2.then ], [ %.212, %.for3.next ]
  %.126 = phi <2 x float> [ %.118, %.if2.then ], [ %.200, %.for3.next ]
  %.127 = phi <2 x float> [ %.119, %.if2.then ], [ %.208, %.for3.next ]
  %.128 = phi float [ %.105, %.if2.then ], [ %.172, %.for3.next ]
  %.129 = phi float [ %.107, %.if2.then ], [ %.180, %.for3.next ]
  %.130 = phi i32 [ %.96, %.if2.then ], [ %.213, %.for3.next ]
  %.131 = phi i32 [ %.102, %.if2.then ], [ %.214, %.for3.next ]
  %.132 = phi i32 [ %.108, %.if2.then ], [ %.215, %.for3.next ]
  %.133 = phi i32 [ %.112, %.if2.then ], [ %.216, %.for3.next ]
  %.217 = extractelement <2 x float> %.120, i32 0
  %.218 = extractelement <2 x float> %.120, i32 1
  %.219 = extractelement <2 x float> %.121, i32 0
  %.220 = extractelement <2 x float> %.121, i32 1
  %.221 = extractelement <2 x float> %.122, i32 0
  %.222 = extractelement <2 x float> %.122, i32 1
  br label %.if2.end
.if2.else:
  br label %.if2.end
.if2.end:
  %.76 = phi float [ %.217, %.for3.end ], [ %.48, %.if2.else ]
  %.77 = phi float [ %.219, %.for3.end ], [ %.49, %.if2.else ]
  %.78 = phi float [ %.221, %.for3.end ], [ %.50, %.if2.else ]
  %.79 = phi float [ %.218, %.for3.end ], [ %.51, %.if2.else ]
  %.80 = phi float [ %.220, %.for3.end ], [ %.52, %.if2.else ]
  %.81 = phi float [ %.222, %.for3.end ], [ %.53, %.if2.else ]
  %.82 = phi float [ %.123, %.for3.end ], [ %.54, %.if2.else ]
  %.83 = phi float [ %.124, %.for3.end ], [ %.55, %.if2.else ]
  %.84 = phi float [ %.125, %.for3.end ], [ %.56, %.if2.else ]
  %.223 = add i32 %.58, %.62
  %.224 = mul i32 %.223, %wo
  %.225 = mul i32 %.224, %pixel
  %.226 = mul i32 %w, %pixel
  %.227 = icmp ult i32 %.60, %h
  %.228 = add i32 %h, -1
  %.229 = call i32 @llvm.smin.i32(i32 %.60, i32 %.228)
  %.230 = call i32 @llvm.smax.i32(i32 %.229, i32 0)
  %.231 = add i32 %.61, %.230
  %.232 = mul i32 %.231, %.226
  %.233 = add i32 %.60, 1
  %.234 = icmp ult i32 %.233, %h
  %.235 = add i32 %h, -1
  %.236 = call i32 @llvm.smin.i32(i32 %.233, i32 %.235)
  %.237 = call i32 @llvm.smax.i32(i32 %.236, i32 0)
  %.238 = add i32 %.61, %.237
  %.239 = mul i32 %.238, %.226
  %.240 = add i32 %.60, 2
  %.241 = icmp ult i32 %.240, %h
  %.242 = add i32 %h, -1
  %.243 = call i32 @llvm.smin.i32(i32 %.240, i32 %.242)
  %.244 = call i32 @llvm.smax.i32(i32 %.243, i32 0)
  %.245 = add i32 %.61, %.244
  %.246 = mul i32 %.245, %.226
  %.t48 = icmp slt i32 0, 2
  br i1 %.t48, label %.for4, label %.for4.end
.for4:
  %.256 = phi i32 [ 0, %.if2.end ], [ %.for4.index, %.for4.next ]
  %.257 = phi float [ %.76, %.if2.end ], [ %.270, %.for4.next ]
  %.258 = phi float [ %.77, %.if2.end ], [ %.271, %.for4.next ]
  %.259 = phi float [ %.78, %.if2.end ], [ %.272, %.for4.next ]
  %.260 = phi float [ %.79, %.if2.end ], [ %.273, %.for4.next ]
  %.261 = phi float [ %.80, %.if2.end ], [ %.274, %.for4.next ]
  %.262 = phi float [ %.81, %.if2.end ], [ %.275, %.for4.next ]
  %.263 = phi float [ %.82, %.if2.end ], [ %.276, %.for4.next ]
  %.264 = phi float [ %.83, %.if2.end ], [ %.277, %.for4.next ]
  %.265 = phi float [ %.84, %.if2.end ], [ %.278, %.for4.next ]
  %.266 = icmp eq i32 %.256, 0
  %.267 = select i1 %.266, i32 0, i32 %.75
  %.268 = select i1 %.266, i32 %.74, i32 %wo
  %.269 = icmp slt i32 %.267, %.268
  br i1 %.269, label %.if5.then, label %.if5.else
.if5.then:
  %.279 = sub i32 %.267, %pad_w
  %.280 = icmp ult i32 %.279, %w
  %.281 = add i32 %w, -1
  %.282 = call i32 @llvm.smin.i32(i32 %.279, i32 %.281)
  %.283 = call i32 @llvm.smax.i32(i32 %.282, i32 0)
  %.284 = mul i32 %.283, %pixel
  %.285 = add i32 %.8, %.284
  %.t49 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.285, i32 %.232, i32 0)
  %.287 = bitcast i16 %.t49 to bfloat
  %.288 = fpext bfloat %.287 to float
  %.289 = select i1 %.280, float %.288, float 0x0000000000000000
  %.t50 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.285, i32 %.239, i32 0)
  %.290 = bitcast i16 %.t50 to bfloat
  %.291 = fpext bfloat %.290 to float
  %.292 = select i1 %.280, float %.291, float 0x0000000000000000
  %.t51 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.285, i32 %.246, i32 0)
  %.293 = bitcast i16 %.t51 to bfloat
  %.294 = fpext bfloat %.293 to float
  %.295 = select i1 %.280, float %.294, float 0x0000000000000000
  %.296 = add i32 %.279, 1
  %.297 = icmp ult i32 %.296, %w
  %.298 = add i32 %w, -1
  %.299 = call i32 @llvm.smin.i32(i32 %.296, i32 %.298)
  %.300 = call i32 @llvm.smax.i32(i32 %.299, i32 0)
  %.301 = mul i32 %.300, %pixel
  %.302 = add i32 %.8, %.301
  %.t52 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.302, i32 %.232, i32 0)
  %.304 = bitcast i16 %.t52 to bfloat
  %.305 = fpext bfloat %.304 to float
  %.306 = select i1 %.297, float %.305, float 0x0000000000000000
  %.t53 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.302, i32 %.239, i32 0)
  %.307 = bitcast i16 %.t53 to bfloat
  %.308 = fpext bfloat %.307 to float
  %.309 = select i1 %.297, float %.308, float 0x0000000000000000
  %.t54 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.302, i32 %.246, i32 0)
  %.310 = bitcast i16 %.t54 to bfloat
  %.311 = fpext bfloat %.310 to float
  %.312 = select i1 %.297, float %.311, float 0x0000000000000000
  %.t55 = icmp slt i32 %.267, %.268
  br i1 %.t55, label %.for6, label %.for6.end
.for6:
  %.328 = phi i32 [ %.267, %.if5.then ], [ %.for6.index, %.for6.next ]
  %.329 = phi float [ %.257, %.if5.then ], [ %.373, %.for6.next ]
  %.330 = phi float [ %.258, %.if5.then ], [ %.374, %.for6.next ]
  %.331 = phi float [ %.259, %.if5.then ], [ %.375, %.for6.next ]
  %.332 = phi float [ %.260, %.if5.then ], [ %.379, %.for6.next ]
  %.333 = phi float [ %.261, %.if5.then ], [ %.380, %.for6.next ]
  %.334 = phi float [ %.262, %.if5.then ], [ %.381, %.for6.next ]
  %.335 = phi float [ %.263, %.if5.then ], [ %.385, %.for6.next ]
  %.336 = phi float [ %.264, %.if5.then ], [ %.386, %.for6.next ]
  %.337 = phi float [ %.265, %.if5.then ], [ %.387, %.for6.next ]
  %.338 = phi float [ %.289, %.if5.then ], [ %.339, %.for6.next ]
  %.339 = phi float [ %.306, %.if5.then ], [ %.366, %.for6.next ]
  %.340 = phi float [ %.292, %.if5.then ], [ %.341, %.for6.next ]
  %.341 = phi float [ %.309, %.if5.then ], [ %.369, %.for6.next ]
  %.342 = phi float [ %.295, %.if5.then ], [ %.343, %.for6.next ]
  %.343 = phi float [ %.312, %.if5.then ], [ %.372, %.for6.next ]
  %.344 = sub i32 %.328, %pad_w
  %.345 = mul i32 %.328, %pixel
  %.346 = add i32 %.225, %.345
  %.t56 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.1, i32 %.8, i32 %.346, i32 0)
  %.347 = bitcast i16 %.t56 to bfloat
  %.348 = fpext bfloat %.347 to float
  %.350 = icmp ult i32 %.344, %w
  %.351 = select i1 %.350, float %.348, float 0x0000000000000000
  %.352 = add i32 %.344, 1
  %.353 = icmp ult i32 %.352, %w
  %.354 = select i1 %.353, float %.348, float 0x0000000000000000
  %.355 = add i32 %.344, 2
  %.356 = icmp ult i32 %.355, %w
  %.357 = select i1 %.356, float %.348, float 0x0000000000000000
  %.358 = add i32 %w, -1
  %.359 = call i32 @llvm.smin.i32(i32 %.355, i32 %.358)
  %.360 = call i32 @llvm.smax.i32(i32 %.359, i32 0)
  %.361 = mul i32 %.360, %pixel
  %.362 = add i32 %.8, %.361
  %.t57 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.362, i32 %.232, i32 0)
  %.364 = bitcast i16 %.t57 to bfloat
  %.365 = fpext bfloat %.364 to float
  %.366 = select i1 %.356, float %.365, float 0x0000000000000000
  %.t58 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.362, i32 %.239, i32 0)
  %.367 = bitcast i16 %.t58 to bfloat
  %.368 = fpext bfloat %.367 to float
  %.369 = select i1 %.356, float %.368, float 0x0000000000000000
  %.t59 = call i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8) %.0, i32 %.362, i32 %.246, i32 0)
  %.370 = bitcast i16 %.t59 to bfloat
  %.371 = fpext bfloat %.370 to float
  %.372 = select i1 %.356, float %.371, float 0x0000000000000000
  br i1 %.227, label %.if7.then, label %.if7.else
.if7.then:
  %.376 = call float @llvm.fma.f32(float %.351, float %.338, float %.329)
  %.377 = call float @llvm.fma.f32(float %.354, float %.339, float %.330)
  %.378 = call float @llvm.fma.f32(float %.357, float %.366, float %.331)
  br label %.if7.end
.if7.else:
  br label %.if7.end
.if7.end:
  %.373 = phi float [ %.376, %.if7.then ], [ %.329, %.if7.else ]
  %.374 = phi float [ %.377, %.if7.then ], [ %.330, %.if7.else ]
  %.375 = phi float [ %.378, %.if7.then ], [ %.331, %.if7.else ]
  br i1 %.234, label %.if8.then, label %.if8.else
.if8.then:
  %.382 = call float @llvm.fma.f32(float %.351, float %.340, float %.332)
  %.383 = call float @llvm.fma.f32(float %.354, float %.341, float %.333)
  %.384 = call float @llvm.fma.f32(float %.357, float %.369, float %.334)
  br label %.if8.end
.if8.else:
  br label %.if8.end
.if8.end:
  %.379 = phi float [ %.382, %.if8.then ], [ %.332, %.if8.else ]
  %.380 = phi float [ %.383, %.if8.then ], [ %.333, %.if8.else ]
  %.381 = phi float [ %.384, %.if8.then ], [ %.334, %.if8.else ]
  br i1 %.241, label %.if9.then, label %.if9.else
.if9.then:
  %.388 = call float @llvm.fma.f32(float %.351, float %.342, float %.335)
  %.389 = call float @llvm.fma.f32(float %.354, float %.343, float %.336)
  %.390 = call float @llvm.fma.f32(float %.357, float %.372, float %.337)
  br label %.if9.end
.if9.else:
  br label %.if9.end
.if9.end:
  %.385 = phi float [ %.388, %.if9.then ], [ %.335, %.if9.else ]
  %.386 = phi float [ %.389, %.if9.then ], [ %.336, %.if9.else ]
  %.387 = phi float [ %.390, %.if9.then ], [ %.337, %.if9.else ]
  br label %.for6.next
.for6.next:
  %.for6.index = add nsw i32 %.328, 1
  %.t60 = icmp slt i32 %.for6.index, %.268
  br i1 %.t60, label %.for6, label %.for6.end, !llvm.loop !3
.for6.end:
  %.313 = phi float [ %.257, %.if5.then ], [ %.373, %.for6.next ]
  %.314 = phi float [ %.258, %.if5.then ], [ %.374, %.for6.next ]
  %.315 = phi float [ %.259, %.if5.then ], [ %.375, %.for6.next ]
  %.316 = phi float [ %.260, %.if5.then ], [ %.379, %.for6.next ]
  %.317 = phi float [ %.261, %.if5.then ], [ %.380, %.for6.next ]
  %.318 = phi float [ %.262, %.if5.then ], [ %.381, %.for6.next ]
  %.319 = phi float [ %.263, %.if5.then ], [ %.385, %.for6.next ]
  %.320 = phi float [ %.264, %.if5.then ], [ %.386, %.for6.next ]
  %.321 = phi float [ %.265, %.if5.then ], [ %.387, %.for6.next ]
  %.322 = phi float [ %.289, %.if5.then ], [ %.339, %.for6.next ]
  %.323 = phi float [ %.306, %.if5.then ], [ %.366, %.for6.next ]
  %.324 = phi float [ %.292, %.if5.then ], [ %.341, %.for6.next ]
  %.325 = phi float [ %.309, %.if5.then ], [ %.369, %.for6.next ]
  %.326 = phi float [ %.295, %.if5.then ], [ %.343, %.for6.next ]
  %.327 = phi float [ %.312, %.if5.then ], [ %.372, %.for6.next ]
  br label %.if5.end
.if5.else:
  br label %.if5.end
.if5.end:
  %.270 = phi float [ %.313, %.for6.end ], [ %.257, %.if5.else ]
  %.271 = phi float [ %.314, %.for6.end ], [ %.258, %.if5.else ]
  %.272 = phi float [ %.315, %.for6.end ], [ %.259, %.if5.else ]
  %.273 = phi float [ %.316, %.for6.end ], [ %.260, %.if5.else ]
  %.274 = phi float [ %.317, %.for6.end ], [ %.261, %.if5.else ]
  %.275 = phi float [ %.318, %.for6.end ], [ %.262, %.if5.else ]
  %.276 = phi float [ %.319, %.for6.end ], [ %.263, %.if5.else ]
  %.277 = phi float [ %.320, %.for6.end ], [ %.264, %.if5.else ]
  %.278 = phi float [ %.321, %.for6.end ], [ %.265, %.if5.else ]
  br label %.for4.next
.for4.next:
  %.for4.index = add nsw i32 %.256, 1
  %.t61 = icmp slt i32 %.for4.index, 2
  br i1 %.t61, label %.for4, label %.for4.end, !llvm.loop !4
.for4.end:
  %.247 = phi float [ %.76, %.if2.end ], [ %.270, %.for4.next ]
  %.248 = phi float [ %.77, %.if2.end ], [ %.271, %.for4.next ]
  %.249 = phi float [ %.78, %.if2.end ], [ %.272, %.for4.next ]
  %.250 = phi float [ %.79, %.if2.end ], [ %.273, %.for4.next ]
  %.251 = phi float [ %.80, %.if2.end ], [ %.274, %.for4.next ]
  %.252 = phi float [ %.81, %.if2.end ], [ %.275, %.for4.next ]
  %.253 = phi float [ %.82, %.if2.end ], [ %.276, %.for4.next ]
  %.254 = phi float [ %.83, %.if2.end ], [ %.277, %.for4.next ]
  %.255 = phi float [ %.84, %.if2.end ], [ %.278, %.for4.next ]
  %.391 = add i32 %.58, %.34
  %.392 = add i32 %.57, %.32
  %.393 = icmp sge i32 %.391, %ho
  %.394 = sub i32 %.391, %ho
  %.395 = add i32 %.392, 1
  %.396 = select i1 %.393, i32 %.394, i32 %.391
  %.397 = select i1 %.393, i32 %.395, i32 %.392
  br label %.for1.next
.for1.next:
  %.for1.index = add nsw i32 %.47, 4
  %.t62 = icmp slt i32 %.for1.index, %.27
  br i1 %.t62, label %.for1, label %.for1.end, !llvm.loop !5
.for1.end:
  %.36 = phi float [ 0x0000000000000000, %.entry ], [ %.247, %.for1.next ]
  %.37 = phi float [ 0x0000000000000000, %.entry ], [ %.248, %.for1.next ]
  %.38 = phi float [ 0x0000000000000000, %.entry ], [ %.249, %.for1.next ]
  %.39 = phi float [ 0x0000000000000000, %.entry ], [ %.250, %.for1.next ]
  %.40 = phi float [ 0x0000000000000000, %.entry ], [ %.251, %.for1.next ]
  %.41 = phi float [ 0x0000000000000000, %.entry ], [ %.252, %.for1.next ]
  %.42 = phi float [ 0x0000000000000000, %.entry ], [ %.253, %.for1.next ]
  %.43 = phi float [ 0x0000000000000000, %.entry ], [ %.254, %.for1.next ]
  %.44 = phi float [ 0x0000000000000000, %.entry ], [ %.255, %.for1.next ]
  %.45 = phi i32 [ %.29, %.entry ], [ %.397, %.for1.next ]
  %.46 = phi i32 [ %.31, %.entry ], [ %.396, %.for1.next ]
  %.398 = call i32 @llvm.amdgcn.workgroup.id.y()
  %.399 = mul i32 %first_row, 3
  %.400 = mul i32 %.16, 3
  %.402 = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)
  %.403 = mul i32 %.13, 1152
  %.404 = add i32 %.403, %.402
  %.405 = mul i32 %.15, 288
  %.406 = add i32 %.404, %.405
  %.407 = mul i32 0, 9
  %.408 = mul i32 %c, 4
  %.409 = mul i32 %channel, 4
  %.t63 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.406
  store float %.36, ptr addrspace(3) %.t63, align 4
  %.410 = add i32 %.406, 32
  %.t64 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.410
  store float %.37, ptr addrspace(3) %.t64, align 4
  %.411 = add i32 %.406, 64
  %.t65 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.411
  store float %.38, ptr addrspace(3) %.t65, align 4
  %.412 = add i32 %.406, 96
  %.t66 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.412
  store float %.39, ptr addrspace(3) %.t66, align 4
  %.413 = add i32 %.406, 128
  %.t67 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.413
  store float %.40, ptr addrspace(3) %.t67, align 4
  %.414 = add i32 %.406, 160
  %.t68 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.414
  store float %.41, ptr addrspace(3) %.t68, align 4
  %.415 = add i32 %.406, 192
  %.t69 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.415
  store float %.42, ptr addrspace(3) %.t69, align 4
  %.416 = add i32 %.406, 224
  %.t70 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.416
  store float %.43, ptr addrspace(3) %.t70, align 4
  %.417 = add i32 %.406, 256
  %.t71 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.417
  store float %.44, ptr addrspace(3) %.t71, align 4
  fence syncscope("workgroup") release, !mmra !6
  call void @llvm.amdgcn.sched.barrier(i32 0)
  call void @llvm.amdgcn.s.nop(i16 0)
  call void @llvm.amdgcn.s.barrier()
  call void @llvm.amdgcn.sched.barrier(i32 0)
  fence syncscope("workgroup") acquire, !mmra !6
  %.t72 = icmp slt i32 %.15, 9
  br i1 %.t72, label %.for10, label %.for10.end
.for10:
  %.418 = phi i32 [ %.15, %.for1.end ], [ %.for10.index, %.for10.next ]
  %.419 = mul i32 %.418, 32
  %.420 = add i32 %.404, %.419
  %.t73 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.420
  %.421 = load float, ptr addrspace(3) %.t73, align 4
  %.422 = add i32 %.420, 288
  %.t74 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.422
  %.423 = load float, ptr addrspace(3) %.t74, align 4
  %.424 = fadd float %.421, %.423
  %.425 = add i32 %.420, 576
  %.t75 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.425
  %.426 = load float, ptr addrspace(3) %.t75, align 4
  %.427 = fadd float %.424, %.426
  %.428 = add i32 %.420, 864
  %.t76 = getelementptr float, ptr addrspace(3) @.lds..401, i32 %.428
  %.429 = load float, ptr addrspace(3) %.t76, align 4
  %.430 = fadd float %.427, %.429
  %.431 = add i32 %.399, %.418
  %.432 = icmp slt i32 %channel, %c
  br i1 %.432, label %.if11.then, label %.if11.end
.if11.then:
  %.433 = add i32 %.407, %.431
  %.434 = mul i32 %.433, %.408
  %.t77 = call float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float %.430, ptr addrspace(8) %.2, i32 %.409, i32 %.434, i32 20)
  br label %.if11.end
.if11.end:
  br label %.for10.next
.for10.next:
  %.for10.index = add nsw i32 %.418, 4
  %.t78 = icmp slt i32 %.for10.index, 9
  br i1 %.t78, label %.for10, label %.for10.end, !llvm.loop !7
.for10.end:
  ret void
}

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workgroup.id.y()
declare i32 @llvm.amdgcn.wave.id()
declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)
declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr addrspace(1), i16, i64, i32)
declare i16 @llvm.amdgcn.raw.ptr.buffer.load.i16(ptr addrspace(8), i32, i32, i32)
declare float @llvm.amdgcn.raw.ptr.buffer.atomic.fadd.f32(float, ptr addrspace(8), i32, i32, i32)
declare void @llvm.amdgcn.s.barrier()
declare void @llvm.amdgcn.s.nop(i16)
declare void @llvm.amdgcn.sched.barrier(i32)
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare <2 x float> @llvm.fma.v2f32(<2 x float>, <2 x float>, <2 x float>)

attributes #0 = { nounwind "amdgpu-flat-work-group-size"="128,128" "uniform-work-group-size"="true" "amdgpu-waves-per-eu"="4" "amdgpu-ieee"="false" "amdgpu-no-implicitarg-ptr" "amdgpu-no-dispatch-ptr" "amdgpu-no-workgroup-id-z" "amdgpu-no-workitem-id-y" "amdgpu-no-workitem-id-z" "amdgpu-no-queue-ptr" "amdgpu-no-dispatch-id" "amdgpu-no-hostcall-ptr" "amdgpu-no-heap-ptr" "amdgpu-no-default-queue" "amdgpu-no-completion-action" "amdgpu-no-multigrid-sync-arg" "amdgpu-no-lds-kernel-id" "amdgpu-no-cluster-id-x" "amdgpu-no-cluster-id-y" "amdgpu-no-cluster-id-z" "target-cpu"="gfx1250" }

!llvm.module.flags = !{!1}
!0 = !{i32 128, i32 1, i32 1}
!1 = !{i32 1, !"amdhsa_code_object_version", i32 500}
!6 = !{!"amdgpu-synchronize-as", !"local"}
!7 = distinct !{!7, !{!"llvm.loop.unroll.disable"}}
!5 = distinct !{!5, !{!"llvm.loop.unroll.disable"}}
!4 = distinct !{!4, !{!"llvm.loop.unroll.disable"}}
!3 = distinct !{!3, !{!"llvm.loop.unroll.disable"}}
!2 = distinct !{!2, !{!"llvm.loop.unroll.disable"}}
