/* Small generators for inputs and fuzzers: the same numbers from the same seed on every host. Not for
 * secrets.
 */
#ifndef TW_SUPPORT_RANDOM_H
#define TW_SUPPORT_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* xoshiro256**, by Blackman and Vigna. One thread at a time. */
typedef struct tw_random {
    uint64_t state[4];
} tw_random;

void tw_random_seed(tw_random *random, uint64_t seed);
uint64_t tw_random_u64(tw_random *random);
/* Uniform in 0 .. limit - 1; 0 for limit 0. */
uint64_t tw_random_below(tw_random *random, uint64_t limit);
/* Uniform in low .. high, both included. */
int64_t tw_random_between(tw_random *random, int64_t low, int64_t high);
bool tw_random_bool(tw_random *random);
double tw_random_unit(tw_random *random); /* uniform in [0, 1), a multiple of 2^-53 */

/* The number at `index` of a sequence without state, so that threads can fill parts of one array: splitmix64,
 * by Steele, Lea and Flood, at its output number `index` after `seed`. */
uint64_t tw_random_at(uint64_t seed, uint64_t index);

#endif
