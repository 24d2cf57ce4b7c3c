#include "instances/measures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/element.h"
#include "support/fail.h"
#include "support/number_text.h"
#include "support/strbuf.h"

/* ---- formats ---- */

/* Maps the values of a format to integers in their order; both zeros to 0. */
static int64_t ordered(const tw_float_info *info, uint64_t bits) {
    uint64_t sign = (uint64_t)1 << (info->bits - 1);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

uint64_t tw_ulp_distance(tw_float_format format, uint64_t a, uint64_t b) {
    const tw_float_info *info = tw_float_format_info(format);
    if (!info || tw_float_is_nan(format, a) || tw_float_is_nan(format, b)) return UINT64_MAX;
    int64_t x = ordered(info, a), y = ordered(info, b);
    return x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x;
}

double tw_float_spacing(tw_float_format format, double value) {
    const tw_float_info *info = tw_float_format_info(format);
    if (!info || !isfinite(value)) return NAN;
    int exponent, smallest = 1 - info->bias; /* of the normal numbers */
    frexp(value, &exponent);
    exponent -= 1;
    if (value == 0 || exponent < smallest) exponent = smallest;
    return ldexp(1, exponent - info->mantissa_bits);
}

double tw_accumulation_bound(uint64_t terms, double sum_abs, double expected, tw_scalar result) {
    double n = (double)terms;
    /* Each of the additions may also round a denormal: half of 2^-149. */
    double bound = 4 * sqrt(n) * 0x1p-24 * sum_abs + n * 0x1p-150;
    tw_float_format format;
    if (result != TW_F32 && tw_element_float_format(result, &format))
        bound += 0.5 * tw_float_spacing(format, fabs(expected) + bound);
    return bound;
}

/* ---- measuring ---- */

typedef struct sample {
    double scaled;
    uint64_t ulp;
} sample;

static int by_ulp(const void *a, const void *b) {
    uint64_t x = ((const sample *)a)->ulp, y = ((const sample *)b)->ulp;
    return (x > y) - (x < y);
}

static int by_scaled(const void *a, const void *b) {
    double x = ((const sample *)a)->scaled, y = ((const sample *)b)->scaled;
    return (x > y) - (x < y);
}

static const double shares[TW_MEASURE_QUANTILES] = {0.5, 0.9, 0.99, 0.999};

/* Nearest rank: the index of the smallest sample that at least `share` of all do not exceed. */
static size_t rank_of(double share, size_t count) {
    size_t rank = (size_t)ceil(share * (double)count);
    return rank ? rank - 1 : 0;
}

static void take_quantiles(tw_measures *out, sample *samples, size_t count) {
    if (!count) return;
    qsort(samples, count, sizeof *samples, by_ulp);
    for (int q = 0; q < TW_MEASURE_QUANTILES; q++)
        out->ulp_quantile[q] = samples[rank_of(shares[q], count)].ulp;
    qsort(samples, count, sizeof *samples, by_scaled);
    for (int q = 0; q < TW_MEASURE_QUANTILES; q++)
        out->scaled_quantile[q] = samples[rank_of(shares[q], count)].scaled;
}

typedef enum kind { COMPARABLE, EXACT, NAN_ERROR, INF_ERROR } kind;

/* Sorts out what is no finite number, by the rounded reference. */
static kind classify(double got, double reference, double expected) {
    if (isnan(got) || isnan(expected)) return isnan(got) && isnan(expected) ? EXACT : NAN_ERROR;
    if (isinf(got) || isinf(reference)) return got == reference ? EXACT : INF_ERROR;
    return COMPARABLE;
}

static void count_special(tw_measures *out, kind k, size_t index) {
    if (k == EXACT) {
        out->exact++;
        out->passed += out->has_bound;
        return;
    }
    if (k == NAN_ERROR)
        out->nan_errors++;
    else
        out->inf_errors++;
    if (index < out->first_error) out->first_error = index;
}

tw_status tw_measure(const tw_measure_input *input, tw_measures *out, tw_diag *diag) {
    tw_float_format format;
    *out = (tw_measures){.format = input->format,
                         .count = input->count,
                         .first_error = input->count,
                         .has_bound = input->bound != NULL};
    if (!tw_element_float_format(input->format, &format))
        return tw_fail(diag, TW_ERR_USAGE, "the measured format must be a float (got %s)",
                       (unsigned)input->format < TW_SCALAR_COUNT ? tw_scalar_name(input->format)
                                                                 : "no format");
    sample *samples = calloc(input->count + 1, sizeof *samples);
    if (!samples) return tw_fail_no_memory(diag);
    size_t kept = 0;
    for (size_t i = 0; i < input->count; i++) {
        double got = tw_element_get(input->format, input->got, i), expected = input->expected[i];
        uint64_t rounded = tw_float_from_f64(format, expected);
        double reference = tw_float_to_f64(format, rounded);
        kind k = classify(got, reference, expected);
        if (k != COMPARABLE) {
            count_special(out, k, i);
            continue;
        }
        double error = fabs(got - expected), scale = input->scale ? fabs(input->scale[i]) : fabs(expected);
        uint64_t ulp = tw_ulp_distance(format, tw_float_from_f64(format, got), rounded);
        double scaled = error == 0 ? 0 : error / scale;
        samples[kept++] = (sample){scaled, ulp};
        out->exact += ulp == 0;
        out->passed += input->bound && error <= input->bound[i];
        out->mean_error += error;
        out->mean_scaled += scaled;
        out->mean_ulp += (double)ulp;
        if (ulp > out->max_ulp) out->max_ulp = ulp;
        if (error > out->max_error) out->max_error = error;
        if (scaled > out->max_scaled || kept == 1) {
            out->max_scaled = scaled;
            out->worst = i;
        }
    }
    if (kept) {
        out->mean_error /= (double)kept;
        out->mean_scaled /= (double)kept;
        out->mean_ulp /= (double)kept;
    }
    take_quantiles(out, samples, kept);
    free(samples);
    return TW_OK;
}

/* ---- budgets ---- */

static tw_status over(tw_diag *diag, const char *what, double limit, double got) {
    char limit_text[TW_DOUBLE_TEXT_MAX], got_text[TW_DOUBLE_TEXT_MAX];
    tw_format_double(limit, limit_text);
    tw_format_double(got, got_text);
    return tw_fail(diag, TW_ERR_MISMATCH, "%s must be at most %s (got %s)", what, limit_text, got_text);
}

static tw_status check_quantiles(const tw_measures *m, const tw_measure_budget *budget, tw_diag *diag) {
    static const char *const names[TW_MEASURE_QUANTILES] = {"50", "90", "99", "99.9"};
    for (int q = 0; q < TW_MEASURE_QUANTILES; q++)
        if (m->ulp_quantile[q] > budget->ulp_quantile[q])
            return tw_fail(diag, TW_ERR_MISMATCH, "%s %% of the elements must be within %llu ULP (got %llu)",
                           names[q], (unsigned long long)budget->ulp_quantile[q],
                           (unsigned long long)m->ulp_quantile[q]);
    return TW_OK;
}

tw_status tw_measure_check(const tw_measures *m, const tw_measure_budget *budget, tw_diag *diag) {
    if (!m->count) return tw_fail(diag, TW_ERR_MISMATCH, "at least 1 element must be compared (got 0)");
    if (m->nan_errors || m->inf_errors)
        return tw_fail(
            diag, TW_ERR_MISMATCH,
            "NaN and infinity must stand where the reference has them, and do not at element %llu (got %llu "
            "NaN and %llu infinity errors)",
            (unsigned long long)m->first_error, (unsigned long long)m->nan_errors,
            (unsigned long long)m->inf_errors);
    if ((budget->checks & TW_BUDGET_MAX_SCALED) && !(m->max_scaled <= budget->max_scaled)) {
        char what[96];
        snprintf(what, sizeof what, "the scaled error of element %llu, the largest,",
                 (unsigned long long)m->worst);
        return over(diag, what, budget->max_scaled, m->max_scaled);
    }
    if ((budget->checks & TW_BUDGET_MEAN_SCALED) && !(m->mean_scaled <= budget->mean_scaled))
        return over(diag, "the mean scaled error", budget->mean_scaled, m->mean_scaled);
    if ((budget->checks & TW_BUDGET_MAX_ULP) && m->max_ulp > budget->max_ulp)
        return tw_fail(diag, TW_ERR_MISMATCH, "every element must be within %llu ULP (got %llu)",
                       (unsigned long long)budget->max_ulp, (unsigned long long)m->max_ulp);
    if (budget->checks & TW_BUDGET_ULP_QUANTILES) {
        tw_status status = check_quantiles(m, budget, diag);
        if (status) return status;
    }
    if ((budget->checks & TW_BUDGET_PASS_RATE) && (double)m->passed < budget->pass_rate * (double)m->count) {
        char rate[TW_DOUBLE_TEXT_MAX];
        tw_format_double(budget->pass_rate, rate);
        return tw_fail(diag, TW_ERR_MISMATCH,
                       "a share of %s of the elements must be within its bound (got %llu of %llu)", rate,
                       (unsigned long long)m->passed, (unsigned long long)m->count);
    }
    return TW_OK;
}

static void count_line(tw_strbuf *out, const char *name, uint64_t value) {
    tw_strbuf_printf(out, "%-22s %llu\n", name, (unsigned long long)value);
}

static void line(tw_strbuf *out, const char *name, double value) {
    char text[TW_DOUBLE_TEXT_MAX];
    tw_format_double(value, text);
    tw_strbuf_printf(out, "%-22s %s\n", name, text);
}

char *tw_measures_text(const tw_measures *m) {
    tw_strbuf out;
    tw_strbuf_init(&out, NULL);
    tw_strbuf_printf(&out, "%-22s %llu (%s)\n", "elements", (unsigned long long)m->count,
                     tw_scalar_name(m->format));
    count_line(&out, "exact", m->exact);
    if (m->has_bound) count_line(&out, "within bound", m->passed);
    count_line(&out, "NaN errors", m->nan_errors);
    count_line(&out, "infinity errors", m->inf_errors);
    count_line(&out, "max ULP", m->max_ulp);
    line(&out, "mean ULP", m->mean_ulp);
    tw_strbuf_printf(&out, "%-22s %llu %llu %llu %llu\n", "ULP 50 90 99 99.9 %",
                     (unsigned long long)m->ulp_quantile[0], (unsigned long long)m->ulp_quantile[1],
                     (unsigned long long)m->ulp_quantile[2], (unsigned long long)m->ulp_quantile[3]);
    line(&out, "max error", m->max_error);
    line(&out, "mean error", m->mean_error);
    line(&out, "max scaled error", m->max_scaled);
    line(&out, "mean scaled error", m->mean_scaled);
    tw_strbuf_printf(&out, "%-22s", "scaled 50 90 99 99.9 %");
    for (int q = 0; q < TW_MEASURE_QUANTILES; q++) {
        char text[TW_DOUBLE_TEXT_MAX];
        tw_format_double(m->scaled_quantile[q], text);
        tw_strbuf_printf(&out, " %s", text);
    }
    tw_strbuf_char(&out, '\n');
    return tw_strbuf_take(&out, NULL);
}
