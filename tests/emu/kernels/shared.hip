#include "tests/emu/kernels/hip.h"

KERNEL WORKGROUP(256) void transpose(float *out, const float *in, int width, int height) {
    SHARED float tile[16][17];
    int tx = THREAD % 16, ty = THREAD / 16, tiles = (width + 15) / 16;
    int x = BLOCK % tiles * 16 + tx, y = BLOCK / tiles * 16 + ty;
    if (x < width && y < height) tile[ty][tx] = in[y * width + x];
    sync();
    int ox = BLOCK / tiles * 16 + tx, oy = BLOCK % tiles * 16 + ty;
    if (ox < height && oy < width) out[oy * height + ox] = tile[tx][ty];
}

KERNEL WORKGROUP(128) void histogram(u32 *out, const u8 *in, int n) {
    SHARED u32 bins[256];
    bins[THREAD] = bins[THREAD + 128] = 0;
    sync();
    for (int i = GLOBAL_THREAD; i < n; i += 128 * (int)(__builtin_amdgcn_grid_size_x() / 128))
        __atomic_fetch_add(&bins[in[i]], 1u, __ATOMIC_RELAXED);
    sync();
    for (int b = THREAD; b < 256; b += 128)
        if (bins[b]) __atomic_fetch_add(&out[b], bins[b], __ATOMIC_RELAXED);
}

/* Exclusive prefix sums of 512 numbers a workgroup, up and down a tree. */
KERNEL WORKGROUP(256) void tree_scan(u32 *out, const u32 *in) {
    SHARED u32 t[512];
    int l = THREAD, base = BLOCK * 512;
    t[2 * l] = in[base + 2 * l];
    t[2 * l + 1] = in[base + 2 * l + 1];
    int offset = 1;
    for (int d = 256; d > 0; d >>= 1) {
        sync();
        if (l < d) t[offset * (2 * l + 2) - 1] += t[offset * (2 * l + 1) - 1];
        offset *= 2;
    }
    if (l == 0) t[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        offset >>= 1;
        sync();
        if (l < d) {
            u32 v = t[offset * (2 * l + 1) - 1];
            t[offset * (2 * l + 1) - 1] = t[offset * (2 * l + 2) - 1];
            t[offset * (2 * l + 2) - 1] += v;
        }
    }
    sync();
    out[base + 2 * l] = t[2 * l];
    out[base + 2 * l + 1] = t[2 * l + 1];
}

KERNEL WORKGROUP(256) void bitonic_sort(u32 *data) {
    SHARED u32 t[512];
    u32 *mine = data + BLOCK * 512;
    t[THREAD] = mine[THREAD];
    t[THREAD + 256] = mine[THREAD + 256];
    for (int size = 2; size <= 512; size *= 2) {
        for (int step = size / 2; step > 0; step /= 2) {
            sync();
            int i = 2 * THREAD - (THREAD & (step - 1));
            bool up = (i & size) == 0;
            u32 a = t[i], b = t[i + step];
            if ((a > b) == up) {
                t[i] = b;
                t[i + step] = a;
            }
        }
    }
    sync();
    mine[THREAD] = t[THREAD];
    mine[THREAD + 256] = t[THREAD + 256];
}

/* C = A * B of n x n, n a multiple of 16; products and sums in f32, by fma. */
template <typename T> static inline DEVICE void multiply(float *c, const T *a, const T *b, int n) {
    SHARED T ta[16][16], tb[16][16];
    int tx = THREAD % 16, ty = THREAD / 16, tiles = n / 16;
    int row = BLOCK / tiles * 16 + ty, column = BLOCK % tiles * 16 + tx;
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        ta[ty][tx] = a[row * n + t * 16 + tx];
        tb[ty][tx] = b[(t * 16 + ty) * n + column];
        sync();
        for (int k = 0; k < 16; k++)
            sum = __builtin_fmaf((float)ta[ty][k], (float)tb[k][tx], sum);
        sync();
    }
    c[row * n + column] = sum;
}
KERNEL WORKGROUP(256) void multiply_f32(float *c, const float *a, const float *b, int n) { multiply(c, a, b, n); }
KERNEL WORKGROUP(256) void multiply_f16(float *c, const f16 *a, const f16 *b, int n) { multiply(c, a, b, n); }
KERNEL WORKGROUP(256) void multiply_bf16(float *c, const bf16 *a, const bf16 *b, int n) { multiply(c, a, b, n); }

KERNEL WORKGROUP(256) void multiply_f64(double *c, const double *a, const double *b, int n) {
    SHARED double ta[16][17], tb[16][17];
    int tx = THREAD % 16, ty = THREAD / 16, tiles = n / 16;
    int row = BLOCK / tiles * 16 + ty, column = BLOCK % tiles * 16 + tx;
    double sum = 0;
    for (int t = 0; t < tiles; t++) {
        ta[ty][tx] = a[row * n + t * 16 + tx];
        tb[ty][tx] = b[(t * 16 + ty) * n + column];
        sync();
        for (int k = 0; k < 16; k++)
            sum = __builtin_fma(ta[ty][k], tb[k][tx], sum);
        sync();
    }
    c[row * n + column] = sum;
}

/* One step of heat on a line, with the neighbours' edges in LDS. */
KERNEL WORKGROUP(128) void stencil(float *out, const float *in, int n) {
    SHARED float t[130];
    int i = GLOBAL_THREAD;
    t[THREAD + 1] = i < n ? in[i] : 0.0f;
    if (THREAD == 0) t[0] = i > 0 ? in[i - 1] : 0.0f;
    if (THREAD == 127) t[129] = i + 1 < n ? in[i + 1] : 0.0f;
    sync();
    if (i < n) out[i] = 0.25f * t[THREAD] + 0.5f * t[THREAD + 1] + 0.25f * t[THREAD + 2];
}

extern SHARED u32 dynamic[];
KERNEL WORKGROUP(64) void dynamic_reverse(u32 *data, int n) {
    for (int i = THREAD; i < n; i += 64)
        dynamic[i] = data[i];
    sync();
    for (int i = THREAD; i < n; i += 64)
        data[i] = dynamic[n - 1 - i];
}

/* A counting sort of bytes: byte and short arrays in LDS. */
KERNEL WORKGROUP(64) void byte_sort(u8 *data) {
    SHARED u8 text[256];
    SHARED u16 start[64 + 1];
    SHARED u32 count[64];
    u8 *mine = data + BLOCK * 256;
    count[THREAD] = 0;
    for (int i = THREAD; i < 256; i += 64)
        text[i] = mine[i] & 63;
    sync();
    for (int i = THREAD; i < 256; i += 64)
        __atomic_fetch_add(&count[text[i]], 1u, __ATOMIC_RELAXED);
    sync();
    if (THREAD == 0) {
        start[0] = 0;
        for (int i = 0; i < 64; i++)
            start[i + 1] = (u16)(start[i] + count[i]);
    }
    sync();
    for (int i = start[THREAD]; i < start[THREAD + 1]; i++)
        mine[i] = (u8)THREAD;
}

/* Wide LDS accesses and two-address forms. */
struct record {
    u64 key;
    u32 a, b;
    u16 c;
    u8 d, e;
    float f;
};
KERNEL WORKGROUP(64) void records(record *out, const record *in) {
    SHARED record t[64];
    t[THREAD] = in[GLOBAL_THREAD];
    sync();
    record r = t[63 - THREAD], s = t[(THREAD + 17) & 63];
    r.key += s.key;
    r.a ^= s.b;
    r.b -= s.a;
    r.c = (u16)(r.c * 3 + s.c);
    r.d = (u8)(r.d + s.e);
    r.e = s.d;
    r.f = r.f - s.f;
    out[GLOBAL_THREAD] = r;
}

KERNEL WORKGROUP(128) void lds_atomics(i32 *out, const i32 *in) {
    SHARED i32 t[8];
    SHARED u64 w[2];
    SHARED float f;
    if (THREAD < 8) t[THREAD] = THREAD == 2 ? 0x7fffffff : THREAD == 4 ? -1 : 0;
    if (THREAD < 2) w[THREAD] = 0;
    if (THREAD == 0) f = 0.0f;
    sync();
    i32 v = in[GLOBAL_THREAD];
    __atomic_fetch_add(&t[0], v, __ATOMIC_RELAXED);
    __atomic_fetch_max(&t[1], v, __ATOMIC_RELAXED);
    __atomic_fetch_min(&t[2], v, __ATOMIC_RELAXED);
    __atomic_fetch_or(&t[3], v, __ATOMIC_RELAXED);
    __atomic_fetch_and(&t[4], v | 0xff, __ATOMIC_RELAXED);
    __atomic_fetch_xor(&t[5], v, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&t[6], v, __ATOMIC_RELAXED);
    i32 old = __atomic_load_n(&t[7], __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&t[7], &old, old + (v & 7), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&w[0], (u64)(u32)v << 8, __ATOMIC_RELAXED);
    __atomic_fetch_max(&w[1], (u64)(u32)v << 20 | 5, __ATOMIC_RELAXED);
    __atomic_fetch_add(&f, (float)(v & 15), __ATOMIC_RELAXED);
    sync();
    if (THREAD < 8) out[BLOCK * 13 + THREAD] = t[THREAD];
    if (THREAD < 2) {
        out[BLOCK * 13 + 8 + 2 * THREAD] = (i32)w[THREAD];
        out[BLOCK * 13 + 9 + 2 * THREAD] = (i32)(w[THREAD] >> 32);
    }
    if (THREAD == 0) out[BLOCK * 13 + 12] = (i32)f;
}

/* Pointers of which only the program knows whether they are global, LDS or scratch. */
static DEVICE NOINLINE u32 sum_of(const u32 *p, int n) {
    u32 s = 0;
    for (int i = 0; i < n; i++)
        s = s * 3 + p[i];
    return s;
}
KERNEL WORKGROUP(64) void generic_pointers(u32 *out, const u32 *in) {
    SHARED u32 t[64];
    u32 own[4];
    t[THREAD] = in[GLOBAL_THREAD] + 1;
    for (int i = 0; i < 4; i++)
        own[i] = in[GLOBAL_THREAD] * (u32)i;
    sync();
    const u32 *p = THREAD % 3 == 0 ? in + (GLOBAL_THREAD & ~3) : THREAD % 3 == 1 ? t + (THREAD & ~3) : own;
    out[GLOBAL_THREAD] = sum_of(p, 4);
}

/* Producer and consumer halves of the workgroup, with two buffers. */
KERNEL WORKGROUP(128) void double_buffer(u32 *out, const u32 *in, int rounds) {
    SHARED u32 t[2][64];
    u32 sum = 0;
    for (int r = 0; r <= rounds; r++) {
        if (THREAD < 64 && r < rounds) t[r & 1][THREAD] = in[r * 64 + THREAD] * 5;
        if (THREAD >= 64 && r > 0) sum += t[(r - 1) & 1][127 - THREAD];
        sync();
    }
    if (THREAD >= 64) out[THREAD - 64] = sum;
}
