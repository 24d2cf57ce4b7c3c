/* Weight gradients of dense convolutions on matrix units, as an engineer writes them in HIP C++ with the compiler's
 * builtins: tiles staged through LDS in two buffers, loads of the next step under way while one is multiplied,
 * places outside X by an offset past the buffer's end, sums added into slab[k][r][s][c] with fp32 atomics.
 *
 * PEER_T (f16, bf16), PEER_K (filter), PEER_STRIDE and PEER_LANES are given by the build, and PEER_FORM:
 *   0 tap   an implicit GEMM: a workgroup owns a tile of one tap, and walks flattened output positions
 *   1 taps  a workgroup owns a tile of all taps, and walks strips of output rows: dY is staged once for all taps,
 *           X once for those of a row of the filter and three rows at a time
 *   2 flat  as tap, but columns are the flattened filter (r, s, c), gathered element by element: for few channels */
#include "tests/emu/kernels/hip.h"

#define VECTOR(type, n) type __attribute__((ext_vector_type(n)))
#define LOCAL           __attribute__((address_space(3)))

typedef PEER_T T;
typedef VECTOR(T, 4) T4;
typedef VECTOR(T, 8) T8;
typedef VECTOR(T, 16) T16;
typedef short short4 __attribute__((vector_size(8)));
typedef short short8 __attribute__((vector_size(16)));
typedef VECTOR(u32, 4) uint4;

template <typename A, typename B> struct same {
    static const bool value = false;
};
template <typename A> struct same<A, A> {
    static const bool value = true;
};
constexpr bool HALF = same<T, f16>::value;

/* The target's matrix unit. A lane has the row lane % 16 of A, the column lane % 16 of B, and POSITIONS of what is
 * summed over: the same in A and B, so that their order does not matter. Its sums are of ROWS rows of one column. */
#if defined(__gfx942__)
enum { DEPTH = 16, SLOTS = 4, ROWS = 4, TRANSPOSES = 0 };
typedef T4 fragment;
#elif defined(__gfx950__)
enum { DEPTH = 32, SLOTS = 8, ROWS = 4, TRANSPOSES = 1 };
typedef T8 fragment;
#elif defined(__gfx1250__)
enum { DEPTH = 32, SLOTS = 16, ROWS = 8, TRANSPOSES = 1 };
typedef T16 fragment;
#else
enum { DEPTH = 16, SLOTS = 8, ROWS = 8, TRANSPOSES = 0 };
typedef T8 fragment;
#endif
typedef VECTOR(float, ROWS) sums;

DEVICE sums multiply(fragment a, fragment b, sums c) {
#if defined(__gfx942__)
    if constexpr (HALF)
        return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
    else
        return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(short4, a), __builtin_bit_cast(short4, b), c,
                                                         0, 0, 0);
#elif defined(__gfx950__)
    if constexpr (HALF)
        return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
    else
        return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
#elif defined(__gfx1250__)
    if constexpr (HALF)
        return __builtin_amdgcn_wmma_f32_16x16x32_f16(0, a, 0, b, (short)0, c, false, false);
    else
        return __builtin_amdgcn_wmma_f32_16x16x32_bf16(0, a, 0, b, (short)0, c, false, false);
#else
    if constexpr (HALF)
        return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(a, b, c);
    else
        return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(__builtin_bit_cast(short8, a),
                                                                 __builtin_bit_cast(short8, b), c);
#endif
}

enum { WAVES = 4, THREADS = WAVES * PEER_LANES, STEP = 32 };

/* A tile in LDS, POSITIONS x CHANNELS. Where reads can transpose, and where fragments begin at any position, it lies as
 * in memory; else channels have contiguous positions, and a fragment's lane reads them with one load. */
template <int POSITIONS, int CHANNELS, bool TURNED> struct tile {
    static const int PITCH = TURNED ? POSITIONS + (SLOTS < 8 ? 4 : 8) : CHANNELS + 16;
    T at[TURNED ? CHANNELS : POSITIONS][PITCH];

    /* Eight channels of two positions. */
    DEVICE void put(int position, int channel, T8 first, T8 second) {
        if constexpr (TURNED) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                VECTOR(T, 2) pair = {first[i], second[i]};
                *(VECTOR(T, 2) *)&at[channel + i][position] = pair;
            }
        } else {
            *(T8 *)&at[position][channel] = first;
            *(T8 *)&at[position + 1][channel] = second;
        }
    }

    DEVICE fragment get(int position, int channel, int lane) const {
        if constexpr (TURNED) return *(const fragment *)&at[channel + lane % 16][position + lane / 16 * SLOTS];
#if defined(__gfx950__)
        LOCAL short4 *from = (LOCAL short4 *)(LOCAL T *)&at[position + lane / 4][channel + lane % 4 * 4];
        LOCAL short4 *next = (LOCAL short4 *)((LOCAL T *)from + 16 * PITCH);
        T4 low = __builtin_bit_cast(T4, __builtin_amdgcn_ds_read_tr16_b64_v4i16(from));
        T4 high = __builtin_bit_cast(T4, __builtin_amdgcn_ds_read_tr16_b64_v4i16(next));
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#elif defined(__gfx1250__)
        LOCAL short8 *from =
            (LOCAL short8 *)(LOCAL T *)&at[position + lane % 8 + lane / 16 * 8][channel + lane / 8 % 2 * 8];
        LOCAL short8 *next = (LOCAL short8 *)((LOCAL T *)from + 16 * PITCH);
        T8 low = __builtin_bit_cast(T8, __builtin_amdgcn_ds_load_tr16_b128_v8i16(from));
        T8 high = __builtin_bit_cast(T8, __builtin_amdgcn_ds_load_tr16_b128_v8i16(next));
        return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#else
        fragment out;
#pragma unroll
        for (int i = 0; i < SLOTS; i++)
            out[i] = at[position + lane / 16 * SLOTS + i][channel + lane % 16];
        return out;
#endif
    }
};

struct sizes {
    int n, h, w, ho, wo, c, k, pad_h, pad_w;
};

typedef __amdgpu_buffer_rsrc_t buffer;

DEVICE buffer buffer_of(const T *p, int elements) {
    return __builtin_amdgcn_make_buffer_rsrc((void *)p, 0, elements * (int)sizeof(T), BUFFER_WORD3);
}

/* Eight elements from `index` on; zeros where they do not exist. */
DEVICE T8 load8(buffer from, int index, bool exists) {
    return __builtin_bit_cast(
        T8, __builtin_amdgcn_raw_buffer_load_b128(from, exists ? index * (int)sizeof(T) : -16, 0, 0));
}

/* An output position, walked in steps of STEP; past the last image it does not exist. */
struct place {
    int image, row, column;
    DEVICE void start(const sizes &z, int position) {
        image = position / (z.ho * z.wo);
        row = position / z.wo % z.ho;
        column = position % z.wo;
    }
    /* `by` is STEP as a place: digits are added with carries. */
    DEVICE void forward(const sizes &z, const place &by) {
        column += by.column;
        bool carry = column >= z.wo;
        column -= carry ? z.wo : 0;
        row += by.row + carry;
        carry = row >= z.ho;
        row -= carry ? z.ho : 0;
        image += by.image + carry;
    }
};

/* Adds a fragment of sums: rows are k, the column one of a row of `columns` in the slab. */
DEVICE void give(float *slab, int k, int first_k, int columns, int column, bool exists, sums acc, int lane) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int row = first_k + lane / 16 * ROWS + i;
        if (exists && row < k)
            __hip_atomic_fetch_add(&slab[row * columns + column], acc[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

#if PEER_FORM == 0 || PEER_FORM == 2
constexpr bool FLAT = PEER_FORM == 2;
enum {
    TILE_K = 64,
    TILE_C = FLAT ? 32 : 64,
    WAVES_C = FLAT ? 1 : 2,
    WAVES_K = WAVES / WAVES_C,
    TILES_K = TILE_K / WAVES_K / 16,
    TILES_C = TILE_C / WAVES_C / 16,
    ITEMS_K = STEP / 2 * TILE_K / 8, /* of two positions and eight channels */
    ITEMS_C = FLAT ? 0 : STEP / 2 * TILE_C / 8,
    ITEMS = (ITEMS_K + ITEMS_C + THREADS - 1) / THREADS,
    COLUMN_THREADS = THREADS / TILE_C,
    ELEMENTS = FLAT ? STEP / COLUMN_THREADS : 1 /* of X, of one column */
};

KERNEL WORKGROUP(THREADS) void peer_wgrad(const T *__restrict x, const T *__restrict dy, float *__restrict slab, int n,
                                          int h, int w, int ho, int wo, int c, int k, int pad_h, int pad_w, int share) {
    SHARED tile<STEP, TILE_K, !TRANSPOSES> dys[2];
    SHARED tile<STEP, TILE_C, !TRANSPOSES> xs[2];
    const sizes z = {n, h, w, ho, wo, c, k, pad_h, pad_w};
    const int lane = THREAD % PEER_LANES, wave = __builtin_amdgcn_readfirstlane(THREAD / PEER_LANES);
    const int columns = FLAT ? PEER_K * PEER_K * c : c, tiles_c = (columns + TILE_C - 1) / TILE_C;
    const int taps = FLAT ? 1 : PEER_K * PEER_K, tap = BLOCK % taps;
    const int first_k = BLOCK / taps / tiles_c * TILE_K, first_c = BLOCK / taps % tiles_c * TILE_C;
    const int start = (int)__builtin_amdgcn_workgroup_id_y() * share, all = n * ho * wo;
    const int stop = start + share < all ? start + share : all;
    const buffer from_x = buffer_of(x, n * h * w * c), from_dy = buffer_of(dy, all * k);
    /* What a thread stages: vectors of one position and the next, of dY or of X. */
    place at[ITEMS][2], element_at[ELEMENTS], by;
    by.start(z, STEP);
    for (int i = 0; i < ITEMS; i++) {
        int item = (THREAD + i * THREADS) % (ITEMS_C > 0 ? ITEMS_C : ITEMS_K), position = start + item / 8 * 2;
        at[i][0].start(z, position);
        at[i][1].start(z, position + 1);
    }
    const int column = first_c + THREAD % TILE_C, channel = column % c;
    const int tap_r = FLAT ? column / c / PEER_K : tap / PEER_K, tap_s = FLAT ? column / c % PEER_K : tap % PEER_K;
    if (FLAT)
        for (int i = 0; i < ELEMENTS; i++)
            element_at[i].start(z, start + THREAD / TILE_C + i * COLUMN_THREADS);

    T8 next[ITEMS][2];
    T next_element[ELEMENTS];
    auto load = [&](int position) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int item = THREAD + i * THREADS;
            bool of_x = ITEMS_C > 0 && __builtin_amdgcn_readfirstlane(item / ITEMS_K) > 0;
            int vector = item % 8 * 8, pair = item / 8 % (STEP / 2) * 2;
#pragma unroll
            for (int j = 0; j < 2; j++) {
                place &p = at[i][j];
                bool exists = position + pair + j < stop && item < ITEMS_K + ITEMS_C;
                if (of_x && PEER_K == 1 && PEER_STRIDE == 1) {
                    exists = exists && first_c + vector < c;
                    next[i][j] = load8(from_x, (position + pair + j) * c + first_c + vector, exists);
                } else if (of_x) {
                    int row = p.row * PEER_STRIDE + tap_r - pad_h, col = p.column * PEER_STRIDE + tap_s - pad_w;
                    exists = exists && row >= 0 && row < h && col >= 0 && col < w && first_c + vector < c;
                    next[i][j] = load8(from_x, ((p.image * h + row) * w + col) * c + first_c + vector, exists);
                } else {
                    exists = exists && first_k + vector < k;
                    next[i][j] = load8(from_dy, (position + pair + j) * k + first_k + vector, exists);
                }
                if (ITEMS_C > 0) p.forward(z, by);
            }
        }
        if constexpr (FLAT)
#pragma unroll
            for (int i = 0; i < ELEMENTS; i++) {
                place &p = element_at[i];
                int row = p.row * PEER_STRIDE + tap_r - pad_h, col = p.column * PEER_STRIDE + tap_s - pad_w;
                bool exists = position + THREAD / TILE_C + i * COLUMN_THREADS < stop && column < columns && row >= 0 &&
                              row < h && col >= 0 && col < w;
                int index = ((p.image * h + row) * w + col) * c + channel;
                next_element[i] = __builtin_bit_cast(
                    T, __builtin_amdgcn_raw_buffer_load_b16(from_x, exists ? index * (int)sizeof(T) : -16, 0, 0));
                p.forward(z, by);
            }
    };
    auto store = [&](int half) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int item = THREAD + i * THREADS, vector = item % 8 * 8, pair = item / 8 % (STEP / 2) * 2;
            if (ITEMS_C > 0 && __builtin_amdgcn_readfirstlane(item / ITEMS_K) > 0)
                xs[half].put(pair, vector, next[i][0], next[i][1]);
            else if (item < ITEMS_K)
                dys[half].put(pair, vector, next[i][0], next[i][1]);
        }
        if constexpr (FLAT)
            for (int i = 0; i < ELEMENTS; i++) {
                int position = THREAD / TILE_C + i * COLUMN_THREADS, q = THREAD % TILE_C;
                (TRANSPOSES ? xs[half].at[position][q] : xs[half].at[q][position]) = next_element[i];
            }
    };

    sums acc[TILES_K][TILES_C] = {};
    const int wave_k = wave / WAVES_C * TILES_K * 16, wave_c = wave % WAVES_C * TILES_C * 16;
    if (start < stop) load(start);
    int half = 0;
    for (int position = start; position < stop; position += STEP, half ^= 1) {
        store(half);
        sync();
        if (position + STEP < stop) load(position + STEP);
#pragma unroll
        for (int d = 0; d < STEP; d += DEPTH) {
            fragment a[TILES_K], b[TILES_C];
#pragma unroll
            for (int i = 0; i < TILES_K; i++)
                a[i] = dys[half].get(d, wave_k + i * 16, lane);
#pragma unroll
            for (int j = 0; j < TILES_C; j++)
                b[j] = xs[half].get(d, wave_c + j * 16, lane);
#pragma unroll
            for (int i = 0; i < TILES_K; i++)
#pragma unroll
                for (int j = 0; j < TILES_C; j++)
                    acc[i][j] = multiply(a[i], b[j], acc[i][j]);
        }
    }
    for (int i = 0; i < TILES_K; i++)
        for (int j = 0; j < TILES_C; j++) {
            int q = first_c + wave_c + j * 16 + lane % 16;
            give(slab, k, first_k + wave_k + i * 16, FLAT ? columns : taps * c, (FLAT ? 0 : tap * c) + q, q < columns,
                 acc[i][j], lane);
        }
}

#else
/* Tiles of a wave: as many as registers hold of all taps. */
#if defined(__gfx1201__)
enum { TILES = 1 };
#else
enum { TILES = 2 };
#endif
enum {
    TILE_K = 2 * TILES * 16,
    TILE_C = TILE_K,
    SPAN = STEP + PEER_K, /* of X; even */
    VECTORS = TILE_C / 8,
    ITEMS_K = STEP / 2 * VECTORS,
    ITEMS_ROW = SPAN / 2 * VECTORS,
    ITEMS_ALL = ITEMS_K + PEER_K * ITEMS_ROW,
    ITEMS = (ITEMS_ALL + THREADS - 1) / THREADS
};

KERNEL WORKGROUP(THREADS) void peer_wgrad(const T *__restrict x, const T *__restrict dy, float *__restrict slab, int n,
                                          int h, int w, int ho, int wo, int c, int k, int pad_h, int pad_w, int share) {
    SHARED tile<STEP, TILE_K, false> dys[2];
    SHARED tile<SPAN, TILE_C, false> xs[2][PEER_K];
    const int lane = THREAD % PEER_LANES, wave = __builtin_amdgcn_readfirstlane(THREAD / PEER_LANES);
    const int tiles_c = (c + TILE_C - 1) / TILE_C;
    const int first_k = BLOCK / tiles_c * TILE_K, first_c = BLOCK % tiles_c * TILE_C;
    const int strips = (wo + STEP - 1) / STEP, all = n * ho * strips;
    const int start = (int)__builtin_amdgcn_workgroup_id_y() * share, stop = start + share < all ? start + share : all;
    const buffer from_x = buffer_of(x, n * h * w * c), from_dy = buffer_of(dy, n * ho * wo * k);
    T8 next[ITEMS][2];
    auto load = [&](int unit) {
        const int strip = unit % strips * STEP, y = unit / strips % ho, image = unit / strips / ho;
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int item = THREAD + i * THREADS;
            if (item < ITEMS_K) {
                int vector = item % VECTORS * 8, position = strip + item / VECTORS * 2;
#pragma unroll
                for (int j = 0; j < 2; j++)
                    next[i][j] = load8(from_dy, ((image * ho + y) * wo + position + j) * k + first_k + vector,
                                       position + j < wo && first_k + vector < k);
            } else if (item < ITEMS_ALL) {
                int rest = item - ITEMS_K, row = y + rest / ITEMS_ROW - pad_h;
                int vector = rest % VECTORS * 8, column = strip + rest % ITEMS_ROW / VECTORS * 2 - pad_w;
                bool exists = row >= 0 && row < h && first_c + vector < c;
#pragma unroll
                for (int j = 0; j < 2; j++)
                    next[i][j] = load8(from_x, ((image * h + row) * w + column + j) * c + first_c + vector,
                                       exists && column + j >= 0 && column + j < w);
            }
        }
    };
    auto store = [&](int half) {
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            int item = THREAD + i * THREADS, rest = item - ITEMS_K;
            if (item < ITEMS_K)
                dys[half].put(item / VECTORS * 2, item % VECTORS * 8, next[i][0], next[i][1]);
            else if (item < ITEMS_ALL)
                xs[half][rest / ITEMS_ROW].put(rest % ITEMS_ROW / VECTORS * 2, rest % VECTORS * 8, next[i][0], next[i][1]);
        }
    };

    sums acc[PEER_K][PEER_K][TILES][TILES] = {};
    const int wave_k = wave / 2 * TILES * 16, wave_c = wave % 2 * TILES * 16;
    if (start < stop) load(start);
    int half = 0;
    for (int unit = start; unit < stop; unit++, half ^= 1) {
        store(half);
        sync();
        if (unit + 1 < stop) load(unit + 1);
#pragma unroll
        for (int d = 0; d < STEP; d += DEPTH) {
            fragment a[TILES];
#pragma unroll
            for (int i = 0; i < TILES; i++)
                a[i] = dys[half].get(d, wave_k + i * 16, lane);
#pragma unroll
            for (int r = 0; r < PEER_K; r++)
#pragma unroll
                for (int s = 0; s < PEER_K; s++)
#pragma unroll
                    for (int j = 0; j < TILES; j++) {
                        fragment b = xs[half][r].get(d + s, wave_c + j * 16, lane);
#pragma unroll
                        for (int i = 0; i < TILES; i++)
                            acc[r][s][i][j] = multiply(a[i], b, acc[r][s][i][j]);
                    }
        }
    }
#pragma unroll
    for (int tap = 0; tap < PEER_K * PEER_K; tap++)
#pragma unroll
        for (int i = 0; i < TILES; i++)
#pragma unroll
            for (int j = 0; j < TILES; j++) {
                int q = first_c + wave_c + j * 16 + lane % 16;
                give(slab, k, first_k + wave_k + i * 16, PEER_K * PEER_K * c, tap * c + q, q < c,
                     acc[tap / PEER_K][tap % PEER_K][i][j], lane);
            }
}
#endif
