/* The exact weight gradient of a convolution with groups, for every family that computes one. */
#ifndef TW_INSTANCES_WGRAD_REFERENCE_H
#define TW_INSTANCES_WGRAD_REFERENCE_H

#include "instances/instance.h"

/* X is [n][h][w][c], dY [n][ho][wo][k], dW [k][kh][kw][c / groups]; taps outside X contribute nothing. */
typedef struct tw_wgrad_sizes {
    int64_t n, h, w, c, ho, wo, k, groups, kh, kw, stride, pad_h, pad_w;
    tw_scalar dtype, out_dtype; /* f16 or bf16; f32, f16 or bf16 */
    bool flush; /* the matrix unit takes denormals of X and dY for zeros, and makes them of its fp32 sums */
} tw_wgrad_sizes;

/* Writes k * kh * kw * (c / groups) elements: see instances/exact_sum.h for the bound. */
void tw_wgrad_reference(const tw_wgrad_sizes *sizes, const uint16_t *x, const uint16_t *dy,
                        const tw_reference *out);

#endif
