/* How far results are from an exact reference, by measures that follow from the arithmetic. */
#ifndef TW_INSTANCES_MEASURES_H
#define TW_INSTANCES_MEASURES_H

#include "ir/type.h"
#include "support/diag.h"
#include "support/float_formats.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Representable values from `a` to `b` (bits of `format`): 0 where they are equal or both zero, 1 for
 * neighbours, counted through zero and up to infinity. UINT64_MAX where either is a NaN. */
TW_API uint64_t tw_ulp_distance(tw_float_format format, uint64_t a, uint64_t b);
/* The distance between neighbours of the format at the magnitude of `value`; that of the denormals near 0.
 * NaN for NaN and infinities. */
TW_API double tw_float_spacing(tw_float_format format, double value);

/* What the error of a sum of `terms` products may be that is accumulated in f32 and stored as `result` (f32,
 * f16 or bf16): 4 sqrt(terms) 2^-24 sum_abs, where sum_abs is the sum of the products' magnitudes; the
 * denormals' share; and the rounding of the stored result. */
TW_API double tw_accumulation_bound(uint64_t terms, double sum_abs, double expected, tw_scalar result);

/* ---- measuring ---- */

typedef struct tw_measure_input {
    tw_scalar format; /* f32, f16, bf16 or an fp8 format */
    const void *got;  /* `count` elements of it */
    const double *expected;
    const double *scale; /* what an element's error is divided by, the sum of |a*b|; NULL: |expected| */
    const double *bound; /* what an element's error may be; NULL: not said */
    size_t count;
} tw_measure_input;

/* Quantiles are taken at these shares, nearest rank: the smallest error that at least the share does not
 * exceed. */
enum { TW_MEASURE_Q50, TW_MEASURE_Q90, TW_MEASURE_Q99, TW_MEASURE_Q999, TW_MEASURE_QUANTILES };

/* The reference of an element is `expected` rounded to the format, where ULPs and infinities are concerned,
 * and `expected` itself elsewhere. An element with a NaN or an infinity on one side only (or infinities of
 * different sign) is counted in nan_errors or inf_errors and enters no other measure; where both sides have
 * it, it is exact. */
typedef struct tw_measures {
    tw_scalar format;
    uint64_t count;
    uint64_t nan_errors, inf_errors;
    uint64_t first_error; /* index of the first of those; `count` where there is none */
    uint64_t exact;       /* the reference's very value */
    uint64_t passed;      /* error within `bound`; 0 where no bounds were given */
    bool has_bound;
    uint64_t max_ulp;
    double mean_ulp;
    uint64_t ulp_quantile[TW_MEASURE_QUANTILES];
    double max_error, mean_error;   /* |got - expected| */
    double max_scaled, mean_scaled; /* divided by the scale; an error at scale 0 is infinite */
    double scaled_quantile[TW_MEASURE_QUANTILES];
    uint64_t worst; /* index of the element with max_scaled */
} tw_measures;

TW_API tw_status tw_measure(const tw_measure_input *input, tw_measures *out, tw_diag *diag);

/* Which limits of a budget hold. */
enum {
    TW_BUDGET_MAX_ULP = 1 << 0,
    TW_BUDGET_ULP_QUANTILES = 1 << 1,
    TW_BUDGET_MAX_SCALED = 1 << 2,
    TW_BUDGET_MEAN_SCALED = 1 << 3,
    TW_BUDGET_PASS_RATE = 1 << 4
};

typedef struct tw_measure_budget {
    unsigned checks;
    uint64_t max_ulp;
    uint64_t ulp_quantile[TW_MEASURE_QUANTILES];
    double max_scaled, mean_scaled;
    double pass_rate; /* share of the elements within their bound, 0..1 */
} tw_measure_budget;

/* TW_OK, or TW_ERR_MISMATCH with the first limit that is broken. A NaN or an infinity that the reference does
 * not have breaks every budget, and so does a comparison of no elements. */
TW_API tw_status tw_measure_check(const tw_measures *measures, const tw_measure_budget *budget,
                                  tw_diag *diag);
/* One measure a line, for people. free() it; NULL when memory is out. */
TW_API char *tw_measures_text(const tw_measures *measures);

#ifdef __cplusplus
}
#endif
#endif
