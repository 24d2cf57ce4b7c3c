#include "support/random.h"

#include "tests/test.h"

/* Published outputs: of splitmix64 for the seed 1234567, of xoshiro256** for the state 1, 2, 3, 4. */
static void published_sequences(void **state) {
    (void)state;
    static const uint64_t splitmix[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                        4593380528125082431u, 16408922859458223821u};
    for (unsigned i = 0; i < 5; i++)
        assert_true(tw_random_at(1234567, i) == splitmix[i]);
    static const uint64_t xoshiro[] = {11520,
                                       0,
                                       1509978240,
                                       1215971899390074240,
                                       1216172134540287360,
                                       607988272756665600,
                                       16172922978634559625u,
                                       8476171486693032832u,
                                       10595114339597558777u,
                                       2904607092377533576u};
    tw_random random = {{1, 2, 3, 4}};
    for (unsigned i = 0; i < 10; i++)
        assert_true(tw_random_u64(&random) == xoshiro[i]);
}

static void a_seed_gives_one_sequence(void **state) {
    (void)state;
    tw_random a, b, c;
    tw_random_seed(&a, 42);
    tw_random_seed(&b, 42);
    tw_random_seed(&c, 43);
    unsigned differ = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t x = tw_random_u64(&a);
        assert_true(x == tw_random_u64(&b));
        differ += x != tw_random_u64(&c);
    }
    assert_int_equal(differ, 100);
}

static void ranges_are_kept_and_reached(void **state) {
    (void)state;
    tw_random random;
    tw_random_seed(&random, 7);
    unsigned seen[10] = {0}, heads = 0;
    for (int i = 0; i < 10000; i++) {
        uint64_t below = tw_random_below(&random, 10);
        assert_true(below < 10);
        seen[below]++;
        int64_t between = tw_random_between(&random, -3, 2);
        assert_true(between >= -3 && between <= 2);
        double unit = tw_random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        heads += tw_random_bool(&random);
    }
    for (int i = 0; i < 10; i++)
        assert_in_range(seen[i], 850, 1150);
    assert_in_range(heads, 4800, 5200);
    assert_int_equal(tw_random_below(&random, 0), 0);
    assert_int_equal(tw_random_below(&random, 1), 0);
    assert_true(tw_random_between(&random, 5, 5) == 5);
    bool low = false, high = false;
    for (int i = 0; i < 100; i++) { /* the whole range, and one that no simple modulus hits evenly */
        (tw_random_between(&random, INT64_MIN, INT64_MAX) < 0 ? &low : &high)[0] = true;
        assert_true(tw_random_below(&random, (1ull << 63) + 1) <= 1ull << 63);
    }
    assert_true(low && high);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_sequences),
        cmocka_unit_test(a_seed_gives_one_sequence),
        cmocka_unit_test(ranges_are_kept_and_reached),
    };
    return cmocka_run_group_tests_name("support-random", tests, NULL, NULL);
}
