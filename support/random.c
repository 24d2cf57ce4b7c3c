#include "support/random.h"

uint64_t tw_random_at(uint64_t seed, uint64_t index) {
    uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

void tw_random_seed(tw_random *random, uint64_t seed) {
    for (unsigned i = 0; i < 4; i++)
        random->state[i] = tw_random_at(seed, i);
}

static uint64_t rotate_left(uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

uint64_t tw_random_u64(tw_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t tw_random_below(tw_random *random, uint64_t limit) {
    if (!limit) return 0;
    /* The first 2^64 mod limit numbers would make some results likelier than others. */
    uint64_t skip = (0 - limit) % limit, x;
    do
        x = tw_random_u64(random);
    while (x < skip);
    return x % limit;
}

int64_t tw_random_between(tw_random *random, int64_t low, int64_t high) {
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t offset = span ? tw_random_below(random, span) : tw_random_u64(random);
    return (int64_t)((uint64_t)low + offset);
}

bool tw_random_bool(tw_random *random) { return tw_random_u64(random) >> 63; }

double tw_random_unit(tw_random *random) { return (double)(tw_random_u64(random) >> 11) * 0x1p-53; }
