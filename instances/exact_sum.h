/* Reference sums with the bound that follows from the arithmetic of a kernel: n exact products added in fp32,
 * in any order and any grouping, by additions or fused multiply-adds; then one conversion to the output
 * format.
 *
 * With u = 2^-24, such a sum is off by at most n*u / (1 - n*u) * sum|terms|, and by half of the smallest
 * subnormal more for each product that falls below it (where denormals are flushed, by the smallest normal
 * number for each addition). Where all terms are multiples of 2^k and sum|terms| <=
 * 2^(24 + k), every partial sum is exact, and so is the result: the bound is 0. The conversion adds half an
 * ULP. */
#ifndef TW_INSTANCES_EXACT_SUM_H
#define TW_INSTANCES_EXACT_SUM_H

#include "instances/instance.h"

typedef struct tw_exact_sum {
    double high, low; /* the sum of the finite terms, as an unevaluated sum of two doubles */
    double magnitude; /* of their absolute values */
    double special;   /* the sum of those that are not finite */
    uint64_t terms;
    int grid;   /* all finite terms are multiples of 2^grid; INT_MAX while there are none but zeros */
    bool flush; /* partial sums that are fp32 denormals become zeros; set after tw_exact_sum_init */
} tw_exact_sum;

void tw_exact_sum_init(tw_exact_sum *sum);
/* `term` is exact: a product of two f16 or bf16, an f32. */
void tw_exact_sum_add(tw_exact_sum *sum, double term);
/* The result in `format` (TW_F32, TW_F16, TW_BF16) as a double, and how far a right result may be from it.
 * The bound is infinite where the order of additions decides whether fp32 or the format overflows. */
void tw_exact_sum_finish(const tw_exact_sum *sum, tw_scalar format, const tw_reference *out, int64_t at);

#endif
