/* Input data that repeats: the same bytes from the same seed on every host. */
#ifndef TW_INSTANCES_DATA_H
#define TW_INSTANCES_DATA_H

#include "instances/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are part of the ABI: append only. */
typedef enum tw_data_pattern {
    TW_DATA_UNIFORM = 0, /* between -1 and 1, of every exponent down to 2^-10 */
    TW_DATA_INTEGERS,    /* -4..4: sums of products are exact in fp32 up to 2^20 terms */
    /* By channel (the last dimension), in turns: denormals in even buffers and large values in odd ones; +0,
     * -0 and small integers; large values; all finite values that keep sums of products below the largest
     * f32. */
    TW_DATA_SPECIAL,
} tw_data_pattern;

/* "uniform", "integers", "special"; NULL for a number that is no pattern. */
TW_API const char *tw_data_pattern_name(tw_data_pattern pattern);
/* Fills `bytes` with the elements of buffer `buffer` of the job: f32, f16 or bf16. */
TW_API tw_status tw_job_fill(const tw_job *job, size_t buffer, tw_data_pattern pattern, uint64_t seed,
                             void *bytes, tw_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
