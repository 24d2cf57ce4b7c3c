#include "tests/emu/kernels/hip.h"

KERNEL void axpy(float *out, const float *x, const float *y, float a, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = __builtin_elementwise_fma(a, x[i], y[i]);
}

KERNEL void axpy_half(f16 *out, const f16 *x, const f16 *y, f16 a, int n) {
    int i = GLOBAL_THREAD;
    if (i < n) out[i] = __builtin_elementwise_fma(a, x[i], y[i]);
}

/* Every work-item writes where it runs. */
KERNEL void where(int *out) {
    int x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
    int bx = __builtin_amdgcn_workgroup_id_x(), by = __builtin_amdgcn_workgroup_id_y(), bz = __builtin_amdgcn_workgroup_id_z();
    int sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
    int gx = __builtin_amdgcn_grid_size_x() / sx, gy = __builtin_amdgcn_grid_size_y() / sy;
    int group = bx + gx * (by + gy * bz);
    int item = x + sx * (y + sy * z);
    out[group * sx * sy * sz + item] = x | y << 4 | z << 8 | bx << 12 | by << 16 | bz << 20;
}

/* A tree through LDS. */
KERNEL WORKGROUP(256) void block_sum(float *out, const float *x, int n) {
    SHARED float part[256];
    int i = BLOCK * 256 + THREAD;
    part[THREAD] = i < n ? x[i] : 0.0f;
    sync();
    for (int step = 128; step > 0; step /= 2) {
        if (THREAD < step) part[THREAD] += part[THREAD + step];
        sync();
    }
    if (THREAD == 0) out[BLOCK] = part[0];
}

KERNEL void widths(u8 *b, u16 *h, u32 *w, u64 *d, __attribute__((ext_vector_type(4))) u32 *q, const u8 *in, int n) {
    int i = GLOBAL_THREAD;
    if (i >= n) return;
    const u16 *in16 = (const u16 *)in;
    const u32 *in32 = (const u32 *)in;
    b[i] = in[i] + 1;
    h[i] = in16[i] * 3;
    w[i] = in32[i] ^ 0x12345678u;
    d[i] = ((const u64 *)in)[i] + 0x100000001ul;
    __attribute__((ext_vector_type(4))) u32 v = ((const __attribute__((ext_vector_type(4))) u32 *)in)[i];
    v.x += 1;
    v.w -= v.y;
    q[i] = v;
}
