/* Threads with contexts of their own build, optimise and print the same kernels; threads that share a kernel
 * read it. */
#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tests/ir/all_ops.h"

#define THREADS 8

typedef struct job {
    pthread_t thread;
    const tw_kernel *shared;
    char *texts[32]; /* one for each kernel of all_ops */
    bool ok;
} job;

static char *build_one(size_t index) {
    tw_target target;
    char *text = NULL;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = NULL;
    if (!tw_target_parse("gfx1250", &target, NULL)) kernel = all_ops_build(ctx, target, index);
    if (kernel && !tw_kernel_optimize(kernel, NULL)) tw_kernel_to_text(kernel, &text, NULL, NULL);
    tw_context_free(ctx);
    return text;
}

static void *run(void *user) {
    job *j = user;
    j->ok = true;
    for (size_t i = 0; i < all_ops_count(); i++) {
        j->texts[i] = build_one(i);
        j->ok &= j->texts[i] && tw_kernel_verify(j->shared, NULL) == TW_OK;
    }
    return NULL;
}

static void threads_build_the_same_text(void **state) {
    (void)state;
    static job jobs[THREADS];
    tw_target target;
    assert_true(all_ops_count() <= sizeof jobs[0].texts / sizeof jobs[0].texts[0]);
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *shared = all_ops_build(ctx, target, 0);
    assert_non_null(shared);
    for (int i = 0; i < THREADS; i++) {
        jobs[i].shared = shared;
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, run, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(jobs[i].thread, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(jobs[i].ok);
        for (size_t k = 0; k < all_ops_count(); k++) {
            assert_string_equal(jobs[i].texts[k], jobs[0].texts[k]);
            if (i) free(jobs[i].texts[k]);
        }
    }
    for (size_t k = 0; k < all_ops_count(); k++)
        free(jobs[0].texts[k]);
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_build_the_same_text)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
