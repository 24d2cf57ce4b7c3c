#include "instances/data.h"

#include <math.h>

#include "run/element.h"
#include "support/fail.h"
#include "support/float_formats.h"
#include "support/random.h"

const char *tw_data_pattern_name(tw_data_pattern pattern) {
    static const char *const names[] = {"uniform", "integers", "special"};
    return (size_t)pattern < sizeof names / sizeof names[0] ? names[pattern] : NULL;
}

static double with_sign(tw_random *random, double magnitude) {
    return tw_random_bool(random) ? -magnitude : magnitude;
}

/* A magnitude in 2^low .. 2^(high + 1). */
static double of_exponent(tw_random *random, int64_t low, int64_t high) {
    int exponent = (int)tw_random_between(random, low, high);
    return with_sign(random, ldexp(1 + tw_random_unit(random), exponent));
}

static double denormal(tw_random *random, const tw_float_info *info) {
    int64_t mantissa = tw_random_between(random, 1, (1 << info->mantissa_bits) - 1);
    return with_sign(random, ldexp((double)mantissa, 1 - (int)info->bias - info->mantissa_bits));
}

static double special(tw_random *random, const tw_float_info *info, size_t buffer, uint64_t channel) {
    /* Two large values and 2^16 products of them stay below 2^127. */
    const int large = info->bias < 54 ? info->bias - 1 : 54, small = -(int)info->bias / 2;
    switch (channel % 4) {
    case 0: return buffer % 2 ? of_exponent(random, large - 4, large) : denormal(random, info);
    case 1: return with_sign(random, (double)tw_random_below(random, 2) * (double)tw_random_below(random, 5));
    case 2: return of_exponent(random, large - 2, large);
    default: return tw_random_below(random, 8) ? of_exponent(random, small, large) : denormal(random, info);
    }
}

static double value(tw_random *random, tw_data_pattern pattern, const tw_float_info *info, size_t buffer,
                    uint64_t channel) {
    if (pattern == TW_DATA_INTEGERS) return (double)tw_random_between(random, -4, 4);
    if (pattern == TW_DATA_SPECIAL) return special(random, info, buffer, channel);
    return of_exponent(random, -10, -1);
}

tw_status tw_job_fill(const tw_job *job, size_t buffer, tw_data_pattern pattern, uint64_t seed, void *bytes,
                      tw_diag *diag) {
    if (buffer >= job->tensor_count || !tw_data_pattern_name(pattern))
        return tw_fail(diag, TW_ERR_USAGE,
                       "tw_job_fill takes a buffer of the job and a pattern (got %zu, %d)", buffer,
                       (int)pattern);
    const tw_tensor *tensor = &job->tensors[buffer];
    tw_float_format format;
    if (!tw_element_float_format(tensor->dtype, &format) || tw_element_bytes(tensor->dtype) < 2)
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "tw_job_fill takes a buffer of f32, f16 or bf16 (got %s)",
                       tw_scalar_name(tensor->dtype));
    const tw_float_info *info = tw_float_format_info(format);
    const uint64_t channels = tensor->rank ? (uint64_t)tensor->shape[tensor->rank - 1] : 1;
    tw_random random;
    tw_random_seed(&random, seed * 31 + buffer);
    for (uint64_t i = 0; i < tensor->elements; i++) {
        uint64_t bits = tw_float_from_f64(format, value(&random, pattern, info, buffer, i % channels));
        if (info->bits == 16)
            ((uint16_t *)bytes)[i] = (uint16_t)bits;
        else
            ((uint32_t *)bytes)[i] = (uint32_t)bits;
    }
    return TW_OK;
}
