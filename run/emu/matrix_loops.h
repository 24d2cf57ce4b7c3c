/* The loops of matrix instructions, compiled once for each instruction set of the host. A file that defines
 * MATRIX_LOOPS (the name of the table) and includes this gets one.
 *
 * Sums go from C through k upwards, one fused multiply-add after the other, whatever the host: all results
 * are the same bytes. */
#include "run/emu/lane_blocks.h"
#include "run/emu/matrix.h"

/* The bits of a slot that is at most 16 bits wide and may cross from one register to the next. */
LM void slot_bits(uint32_t *out, const uint32_t *registers, unsigned bits, unsigned slot) {
    const uint32_t *word = registers + slot * bits / 32 * EMU_LANES;
    const unsigned shift = slot * bits % 32, mask = (1u << bits) - 1;
    if (shift + bits <= 32) {
        EACH_LANE out[l] = word[l] >> shift & mask;
    } else {
        EACH_LANE out[l] = (word[l] >> shift | word[l + EMU_LANES] << (32 - shift)) & mask;
    }
}

/* The magnitude as the exponent and mantissa of a float, moved to the right exponent by a product. Infinities
 * and NaNs, which few operands have, in a second pass. */
LM void widen_small(const emu_matrix_format *f, const uint32_t *v, float *out) {
    const unsigned top = f->bits - 1u, shift = 23u - f->mantissa;
    const uint32_t mask = (1u << top) - 1, special = f->infinity < f->nan ? f->infinity : f->nan;
    const uint32_t minus_zero = f->negative_nan ? 1u << top : ~0u;
    const float scale = f->scale;
    uint32_t any = 0;
    EACH_LANE {
        const uint32_t magnitude = v[l] & mask;
        out[l] = as_f32(f32_bits(as_f32(magnitude << shift) * scale) | v[l] >> top << 31);
        any |= (uint32_t)(magnitude >= special) | (uint32_t)(v[l] == minus_zero);
    }
    for (unsigned l = 0; any && l < EMU_LANES; l++) {
        const uint32_t magnitude = v[l] & mask, sign = v[l] >> top << 31;
        if (magnitude >= f->nan)
            out[l] = as_f32(0x7fc00000u | sign);
        else if (magnitude == f->infinity)
            out[l] = as_f32(0x7f800000u | sign);
        else if (v[l] == minus_zero)
            out[l] = as_f32(0x7fc00000u);
    }
}

/* Whether a byte of one register is one of those that widen_small looks at a second time. */
LM bool any_special_byte(const emu_matrix_format *f, const uint32_t *word) {
    const uint8_t *byte = (const uint8_t *)word;
    const uint8_t special = (uint8_t)(f->infinity < f->nan ? f->infinity : f->nan);
    const uint8_t minus_zero = f->negative_nan ? 0x80 : special;
    uint8_t any = 0;
    for (unsigned n = 0; n < 4 * EMU_LANES; n++)
        any |= (uint8_t)((byte[n] & 0x7f) >= special) | (uint8_t)(byte[n] == minus_zero);
    return any;
}

/* A byte of each lane, none of them special. */
LM void widen_byte(const emu_matrix_format *f, const uint32_t *word, unsigned byte, float *out) {
    const unsigned up = 24 - 8 * byte, down = 1u + f->mantissa;
    const float scale = f->scale;
    EACH_LANE {
        const uint32_t top = word[l] << up;
        const float magnitude = as_f32((top & 0x7f000000u) >> down) * scale;
        out[l] = as_f32(f32_bits(magnitude) | (top & 0x80000000u));
    }
}

LM void widen_integer(const emu_matrix_format *f, const uint32_t *v, float *out) {
    const unsigned unused = 32u - f->bits;
    if (f->is_signed) {
        EACH_LANE out[l] = (float)((int32_t)(v[l] << unused) >> unused);
    } else {
        EACH_LANE out[l] = (float)(int32_t)v[l];
    }
}

/* Denormals of a format whose smallest normal number has the bits `smallest` as a float. */
LM void flush_small(float *out, uint32_t smallest) {
    EACH_LANE {
        const uint32_t r = f32_bits(out[l]), keep = 0u - (uint32_t)((r & 0x7fffffffu) >= smallest);
        out[l] = as_f32(r & (keep | 0x80000000u));
    }
}

LM void widen_half(const emu_matrix_format *f, const uint32_t *word, bool high, float *out) {
    if (high)
        half_block_high(out, word);
    else
        half_block(out, word);
    if (f->flush) flush_small(out, 0x38800000u);
}

LM void widen_bfloat(const emu_matrix_format *f, const uint32_t *word, bool high, float *out) {
    if (high) {
        EACH_LANE out[l] = as_f32(word[l] & 0xffff0000u);
    } else {
        EACH_LANE out[l] = as_f32(word[l] << 16);
    }
    if (f->flush) flush_small(out, 0x00800000u);
}

LM void widen_float(const emu_matrix_format *f, const uint32_t *word, float *out) {
    const uint32_t mask = f->mask;
    EACH_LANE out[l] = as_f32(word[l] & mask);
    if (f->flush) flush_small(out, 0x00800000u);
}

static void widen(const emu_matrix_format *f, const uint32_t *registers, unsigned slots, unsigned stride,
                  float *out) {
    uint32_t v[EMU_LANES];
    bool special = true;
    for (unsigned slot = 0; slot < slots; slot++, out += stride) {
        switch ((emu_matrix_kind)f->kind) {
        case EMU_MATRIX_HALF: widen_half(f, registers + slot / 2 * EMU_LANES, slot % 2, out); break;
        case EMU_MATRIX_BFLOAT: widen_bfloat(f, registers + slot / 2 * EMU_LANES, slot % 2, out); break;
        case EMU_MATRIX_SMALL:
            if (f->bits == 8 && slot % 4 == 0)
                special = any_special_byte(f, registers + slot / 4 * EMU_LANES);
            if (!special) {
                widen_byte(f, registers + slot / 4 * EMU_LANES, slot % 4, out);
                break;
            }
            slot_bits(v, registers, f->bits, slot);
            widen_small(f, v, out);
            break;
        case EMU_MATRIX_INTEGER:
            slot_bits(v, registers, f->bits, slot);
            widen_integer(f, v, out);
            break;
        default: widen_float(f, registers + slot * EMU_LANES, out); break;
        }
    }
}

enum { TILE = 4 }; /* rows at once, in registers */
#ifdef __clang__
#define EACH_ROW _Pragma("clang loop unroll(full)") for (unsigned r = 0; r < TILE; r++)
#else
#define EACH_ROW _Pragma("GCC unroll 4") for (unsigned r = 0; r < TILE; r++)
#endif

/* `rows` rows by `columns` columns of D; the rows read one copy of B. */
#ifdef LANES_F16C
LM __m256 tile_16(const emu_matrix *x, const float *const *a, const float *b, float *const *d) {
    __m256 sum[TILE][2];
    EACH_ROW {
        sum[r][0] = _mm256_loadu_ps(d[r]);
        sum[r][1] = _mm256_loadu_ps(d[r] + 8);
    }
    for (unsigned k = 0; k < x->k; k++) {
        const float *from = b + x->b_k[k];
        const __m256 b0 = _mm256_loadu_ps(from), b1 = _mm256_loadu_ps(from + 8);
        EACH_ROW {
            const __m256 v = _mm256_broadcast_ss(a[r] + x->a_k[k]);
            sum[r][0] = _mm256_fmadd_ps(v, b0, sum[r][0]);
            sum[r][1] = _mm256_fmadd_ps(v, b1, sum[r][1]);
        }
    }
    __m256 nan = _mm256_setzero_ps();
    EACH_ROW {
        _mm256_storeu_ps(d[r], sum[r][0]);
        _mm256_storeu_ps(d[r] + 8, sum[r][1]);
        nan = _mm256_or_ps(nan, _mm256_cmp_ps(sum[r][0], sum[r][1], _CMP_UNORD_Q));
    }
    return nan;
}
LM bool multiply_16(const emu_matrix *x, const float *const *a, const float *b, float *const *d) {
    return _mm256_movemask_ps(tile_16(x, a, b, d));
}
#else
LM bool multiply_16(const emu_matrix *x, const float *const *a, const float *b, float *const *d) {
    bool nan = false;
    for (unsigned r = 0; r < TILE; r++) {
        for (unsigned k = 0; k < x->k; k++) {
            const float v = a[r][x->a_k[k]], *from = b + x->b_k[k];
            for (unsigned j = 0; j < 16; j++)
                d[r][j] = __builtin_fmaf(v, from[j], d[r][j]);
        }
        for (unsigned j = 0; j < 16; j++)
            nan |= d[r][j] != d[r][j];
    }
    return nan;
}
#endif

LM bool multiply_4(const emu_matrix *x, const float *const *a, const float *b, float *const *d) {
    bool nan = false;
    for (unsigned r = 0; r < TILE; r++) {
        float sum[4] = {d[r][0], d[r][1], d[r][2], d[r][3]};
        for (unsigned k = 0; k < x->k; k++) {
            const float v = a[r][x->a_k[k]], *from = b + x->b_k[k];
            for (unsigned j = 0; j < 4; j++)
                sum[j] = __builtin_fmaf(v, from[j], sum[j]);
        }
        for (unsigned j = 0; j < 4; j++) {
            d[r][j] = sum[j];
            nan |= sum[j] != sum[j];
        }
    }
    return nan;
}

static bool multiply(const emu_matrix *x, const float *a, const float *b, float *d) {
    bool nan = false;
    for (unsigned block = 0; block < x->blocks; block++) {
        for (unsigned first = 0; first < x->m; first += TILE) {
            const float *from[TILE], *right = b + x->b_block[block] + x->b_copy[first];
            float *to[TILE];
            for (unsigned r = 0; r < TILE; r++) {
                from[r] = a + x->a_block[block] + x->a_row[first + r];
                to[r] = d + x->d_block[block] + x->d_row[first + r];
            }
            if (x->n == 4) {
                nan |= multiply_4(x, from, right, to);
                continue;
            }
            nan |= multiply_16(x, from, right, to);
            if (x->n == 16) continue;
            for (unsigned r = 0; r < TILE; r++)
                to[r] += 16;
            nan |= multiply_16(x, from, right + 16, to);
        }
    }
    return nan;
}

/* Each row takes rows of B of its own. */
static bool multiply_sparse(const emu_matrix *x, const float *a, const float *b,
                            const emu_matrix_choice *choice, float *d) {
    bool nan = false;
    for (unsigned row = 0; row < x->m; row++) {
        for (unsigned first = 0; first < x->n; first += 16) {
            float sum[16], *to = d + x->d_row[row] + first;
            memcpy(sum, to, sizeof sum);
            for (unsigned k = 0; k < x->k; k++) {
                const float v = a[x->a_row[row] + x->a_k[k]], *from = b + choice->k[row][k] + first;
                for (unsigned j = 0; j < 16; j++)
                    sum[j] = __builtin_fmaf(v, from[j], sum[j]);
            }
            for (unsigned j = 0; j < 16; j++)
                nan |= sum[j] != sum[j];
            memcpy(to, sum, sizeof sum);
        }
    }
    return nan;
}

const emu_matrix_loops MATRIX_LOOPS = {widen, multiply, multiply_sparse};
