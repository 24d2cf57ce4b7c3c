/* Threads with contexts of their own build, optimise and print the same kernels; threads that share a kernel
 * read it. */
#include "tests/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
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

/* ---- what only reads a kernel leaves its context alone ---- */

static unsigned calls; /* of the context's allocator */

static void *allocate(void *user, size_t bytes) {
    (void)user;
    calls++;
    return malloc(bytes);
}

static void release(void *user, void *memory) {
    (void)user;
    calls++;
    free(memory);
}

#define TEXT(ops)                                                                         \
    "tile.kernel @k target(\"gfx942\") workgroup(64) (%x: ptr<f32, global>, %f: f32) {\n" \
    "%r = tile.buffer_rsrc %x, 64 : rsrc %a = arith.constant 1.0 : vec<2 x bf16> " ops " return }"

/* The context's allocator serves one thread, but several may verify and run one kernel: a refusal in one of
 * them must not call it. */
static void refusals_do_not_use_the_contexts_memory(void **state) {
    (void)state;
    static const char *const texts[] = {
        TEXT("tile.global_store %f, %x, %f : f32"),                                     /* an operand */
        TEXT("tile.sched_barrier {mask = -1}"),                                         /* an attribute */
        TEXT("tile.buffer_store %f, %r, 0, 0 {cachepolicy = 4} : f32"),                 /* a policy */
        TEXT("tile.barrier_signal lds"),                                                /* the target */
        TEXT("tile.buffer_atomic_fadd %a, %r, 0, 0 {cachepolicy = 0} : vec<2 x bf16>"), /* the target */
        TEXT("%v = tile.global_load %x, 1000 : f32 tile.global_store %v, %x, 0 : f32"), /* while it runs */
    };
    const tw_allocator counting = {allocate, release, NULL};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tw_context *ctx = tw_context_new(&(tw_context_options){.allocator = &counting});
        tw_diag *diag = tw_diag_new(NULL);
        tw_kernel *kernel;
        float memory[4];
        const tw_interp_arg args[] = {TW_INTERP_MEMORY(memory, sizeof memory), TW_INTERP_BITS(0)};
        assert_int_equal(tw_kernel_parse_unverified(ctx, texts[i], strlen(texts[i]), NULL, &kernel), TW_OK);
        calls = 0;
        assert_int_not_equal(tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 2, NULL, diag), TW_OK);
        assert_int_equal(tw_diag_count(diag), 1);
        assert_int_equal(calls, 0);
        tw_diag_free(diag);
        tw_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_build_the_same_text),
                                       cmocka_unit_test(refusals_do_not_use_the_contexts_memory)};
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
