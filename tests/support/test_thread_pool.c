#include "support/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/random.h"
#include "tests/test.h"

#define TURNS 5000

/* 1 while a turn uses the scratch memory of that thread: of whichever caller. */
static atomic_uint busy[TW_THREAD_POOL_MAX];

typedef struct loop {
    uint64_t result[TURNS];
    unsigned char runs[TURNS];
    atomic_uint threads, clashes;
    size_t fail_from; /* this index and every 7th after it fail */
} loop;

static bool turn(void *user, size_t index, unsigned thread) {
    loop *l = user;
    if (thread >= atomic_load(&l->threads) || atomic_exchange(&busy[thread], 1))
        atomic_fetch_add(&l->clashes, 1);
    uint64_t x = index;
    for (size_t i = 0; i < 50 + index % 100; i++)
        x = tw_random_at(x, i);
    l->result[index] = x;
    l->runs[index]++;
    atomic_store(&busy[thread], 0);
    return index < l->fail_from || (index - l->fail_from) % 7;
}

static size_t run(loop *l, tw_thread_pool *pool, size_t count, size_t fail_from) {
    memset(l, 0, sizeof *l);
    l->fail_from = fail_from;
    atomic_store(&l->threads, tw_thread_pool_threads(pool));
    size_t end = tw_thread_pool_for(pool, count, turn, l);
    assert_int_equal(atomic_load(&l->clashes), 0);
    return end;
}

static void the_result_does_not_depend_on_the_threads(void **state) {
    (void)state;
    static loop one, many;
    tw_thread_pool *alone = tw_thread_pool_new(NULL, 1);
    assert_int_equal(tw_thread_pool_threads(alone), 1);
    run(&one, alone, TURNS, TURNS);
    for (unsigned threads = 2; threads <= 8; threads += 3) {
        tw_thread_pool *pool = tw_thread_pool_new(NULL, threads);
        assert_int_equal(tw_thread_pool_threads(pool), threads);
        for (int again = 0; again < 5; again++) {
            assert_int_equal(run(&many, pool, TURNS, TURNS), TURNS);
            assert_memory_equal(one.result, many.result, sizeof one.result);
            for (size_t i = 0; i < TURNS; i++)
                assert_int_equal(many.runs[i], 1);
        }
        tw_thread_pool_free(pool);
    }
    tw_thread_pool_free(alone);
}

static void short_loops_come_back(void **state) {
    (void)state;
    static loop l;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 4);
    for (size_t i = 0; i < 2000; i++) {
        size_t count = i % 6;
        memset(l.runs, 0, 8);
        l.fail_from = TURNS;
        atomic_store(&l.threads, 4);
        assert_int_equal(tw_thread_pool_for(pool, count, turn, &l), count);
        for (size_t k = 0; k < 8; k++)
            assert_int_equal(l.runs[k], k < count);
    }
    tw_thread_pool_free(pool);
    tw_thread_pool_free(NULL);
}

static void the_lowest_failure_is_reported(void **state) {
    (void)state;
    static loop l;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 8);
    for (size_t first = 0; first < TURNS; first += 37) {
        assert_int_equal(run(&l, pool, TURNS, first), first);
        for (size_t i = 0; i < TURNS; i++)
            assert_true(i <= first ? l.runs[i] == 1 : l.runs[i] <= 1);
    }
    /* A failure does end the loop. */
    run(&l, pool, TURNS, 0);
    assert_int_equal(l.runs[TURNS - 1], 0);
    tw_thread_pool_free(pool);
}

/* Of three turns the last two fail, and both start before either does; `late` says which fails last. */
typedef struct race {
    size_t late;
    atomic_uint started;
} race;

static bool lose(void *user, size_t index, unsigned thread) {
    (void)thread;
    race *r = user;
    if (!index) return true;
    atomic_fetch_add(&r->started, 1);
    while (atomic_load(&r->started) < 2)
        sched_yield();
    if (index == r->late) usleep(2000);
    return false;
}

static void the_order_of_failures_does_not_matter(void **state) {
    (void)state;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 2);
    for (size_t i = 0; i < 20; i++) {
        race r = {.late = 1 + i % 2};
        assert_int_equal(tw_thread_pool_for(pool, 3, lose, &r), 1);
    }
    tw_thread_pool_free(pool);
}

/* Loops of several callers run one after the other: scratch of a thread is never used twice at once. */
static void *caller(void *user) {
    tw_thread_pool *pool = user;
    loop *l = calloc(1, sizeof *l);
    for (int i = 0; i < 20; i++)
        run(l, pool, 500, TURNS);
    free(l);
    return NULL;
}

static void callers_take_turns(void **state) {
    (void)state;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 3);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, caller, pool), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    tw_thread_pool_free(pool);
}

static void the_number_of_threads_has_bounds(void **state) {
    (void)state;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 0);
    unsigned usable = (unsigned)CPU_COUNT(&set);
    assert_int_equal(tw_thread_pool_threads(pool), usable < TW_THREAD_POOL_MAX ? usable : TW_THREAD_POOL_MAX);
    tw_thread_pool_free(pool);
    pool = tw_thread_pool_new(NULL, 100000);
    assert_int_equal(tw_thread_pool_threads(pool), TW_THREAD_POOL_MAX);
    tw_thread_pool_free(pool);
}

static void *no_memory(void *user, size_t bytes) {
    (void)user;
    (void)bytes;
    return NULL;
}

static void no_memory_is_no_pool(void **state) {
    (void)state;
    const tw_allocator empty = {no_memory, NULL, NULL};
    assert_null(tw_thread_pool_new(&empty, 2));
}

static atomic_uint masked;
static bool look_at_mask(void *user, size_t index, unsigned thread) {
    (void)user;
    (void)index;
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    if (thread && sigismember(&set, SIGINT)) atomic_fetch_add(&masked, 1);
    if (!thread && sigismember(&set, SIGINT)) return false;
    for (int i = 0; i < 100; i++)
        sched_yield();
    return true;
}

static void workers_take_no_signals(void **state) {
    (void)state;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, 3);
    atomic_store(&masked, 0);
    for (int i = 0; i < 1000 && !atomic_load(&masked); i++)
        assert_int_equal(tw_thread_pool_for(pool, 50, look_at_mask, NULL), 50);
    assert_true(atomic_load(&masked) > 0);
    tw_thread_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_result_does_not_depend_on_the_threads),
        cmocka_unit_test(short_loops_come_back),
        cmocka_unit_test(the_lowest_failure_is_reported),
        cmocka_unit_test(the_order_of_failures_does_not_matter),
        cmocka_unit_test(callers_take_turns),
        cmocka_unit_test(the_number_of_threads_has_bounds),
        cmocka_unit_test(no_memory_is_no_pool),
        cmocka_unit_test(workers_take_no_signals),
    };
    return cmocka_run_group_tests_name("support-thread-pool", tests, NULL, NULL);
}
