#include "instances/wgrad_reference.h"

#include "instances/exact_sum.h"
#include "support/float_formats.h"

static double element(const tw_wgrad_sizes *z, uint16_t bits) {
    const tw_scalar dtype = z->dtype;
    if (z->flush && !(bits & (dtype == TW_F16 ? 0x7c00 : 0x7f80))) return 0;
    return dtype == TW_F16 ? tw_f16_to_f32(bits) : tw_bf16_to_f32(bits);
}

/* The output positions whose tap `r` lies inside 0..size - 1. */
static void inside(int64_t r, int64_t stride, int64_t pad, int64_t size, int64_t outputs, int64_t *from,
                   int64_t *to) {
    int64_t first = pad - r, last = size - 1 + pad - r; /* bounds of position * stride */
    *from = first <= 0 ? 0 : (first + stride - 1) / stride;
    *to = last < 0 ? 0 : last / stride + 1;
    if (*to > outputs) *to = outputs;
}

static void one_tap(const tw_wgrad_sizes *z, const uint16_t *x, const uint16_t *dy, int64_t k, int64_t r,
                    int64_t s, int64_t c, tw_exact_sum *sum) {
    int64_t row_from, row_to, from, to;
    inside(r, z->stride, z->pad_h, z->h, z->ho, &row_from, &row_to);
    inside(s, z->stride, z->pad_w, z->w, z->wo, &from, &to);
    for (int64_t n = 0; n < z->n; n++)
        for (int64_t row = row_from; row < row_to; row++) {
            const uint16_t *x_row = x + (n * z->h + row * z->stride + r - z->pad_h) * z->w * z->c + c;
            const uint16_t *dy_row = dy + (n * z->ho + row) * z->wo * z->k + k;
            for (int64_t column = from; column < to; column++) {
                uint16_t a = x_row[(column * z->stride + s - z->pad_w) * z->c];
                uint16_t b = dy_row[column * z->k];
                tw_exact_sum_add(sum, element(z, a) * element(z, b));
            }
        }
}

void tw_wgrad_reference(const tw_wgrad_sizes *z, const uint16_t *x, const uint16_t *dy,
                        const tw_reference *out) {
    const int64_t c_of_group = z->c / z->groups, k_of_group = z->k / z->groups;
    int64_t at = 0;
    for (int64_t k = 0; k < z->k; k++)
        for (int64_t r = 0; r < z->kh; r++)
            for (int64_t s = 0; s < z->kw; s++)
                for (int64_t c = 0; c < c_of_group; c++, at++) {
                    tw_exact_sum sum;
                    tw_exact_sum_init(&sum);
                    sum.flush = z->flush;
                    one_tap(z, x, dy, k, r, s, k / k_of_group * c_of_group + c, &sum);
                    tw_exact_sum_finish(&sum, z->out_dtype, out, at);
                }
}
