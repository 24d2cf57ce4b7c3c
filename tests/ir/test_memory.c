/* Every allocation fails once: nothing crashes, nothing leaks, the status says why. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "ir/ir.h"
#include "tests/ir/all_ops.h"

/* The allocator and malloc (which verification uses, because threads may share a kernel) count together. */
static long countdown = -1; /* allocations until one fails; negative: none does */
static long live;           /* allocations of the allocator that were not released */

static bool one_failed; /* one did */

static bool fails_now(void) {
    bool now = countdown >= 0 && countdown-- == 0;
    one_failed |= now;
    return now;
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) { return fails_now() ? NULL : __real_malloc(bytes); }

static void *allocate(void *user, size_t bytes) {
    (void)user;
    void *memory = malloc(bytes);
    live += memory != NULL;
    return memory;
}

static void release(void *user, void *memory) {
    (void)user;
    live--;
    free(memory);
}

static const tw_allocator counting = {allocate, release, NULL};

/* True when all of it worked. */
static bool build_verify_optimize(size_t index, tw_target target) {
    tw_context *ctx = tw_context_new(&(tw_context_options){.allocator = &counting});
    if (!ctx) return false;
    tw_kernel *kernel = all_ops_build(ctx, target, index);
    bool ok = kernel;
    if (ok) {
        tw_status status = tw_kernel_optimize(kernel, tw_context_diag(ctx));
        if (!status) status = tw_kernel_verify(kernel, tw_context_diag(ctx));
        assert_true(status == TW_OK || status == TW_ERR_NO_MEMORY);
        ok = !status;
        /* A pass that stopped half way leaves a kernel that still verifies. */
        countdown = -1;
        assert_int_equal(tw_kernel_verify(kernel, NULL), TW_OK);
    } else if (tw_diag_count(tw_context_diag(ctx))) {
        assert_int_equal(tw_diag_get(tw_context_diag(ctx), 0)->status, TW_ERR_NO_MEMORY);
    }
    countdown = -1;
    tw_context_free(ctx);
    return ok;
}

static void each_allocation_may_fail(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    for (size_t index = 0; index < all_ops_count(); index++) {
        long n = 0;
        do {
            assert_true(n < 1000);
            countdown = n++;
            one_failed = false;
        } while (!build_verify_optimize(index, target));
        assert_false(one_failed);
        assert_int_equal(live, 0);
        /* The loop ended because nothing failed any more, not at once. */
        assert_true(n > 5);
    }
}

/* Frees the context, whose only complaint may be that memory was missing. Returns `ok`. */
static bool done(tw_context *ctx, bool ok) {
    countdown = -1;
    if (ctx && !ok && tw_diag_count(tw_context_diag(ctx)))
        assert_int_equal(tw_diag_get(tw_context_diag(ctx), 0)->status, TW_ERR_NO_MEMORY);
    tw_context_free(ctx);
    return ok;
}

/* Memory comes in pieces that hold many objects. Names of one granule shift what follows along such a piece,
 * so that each request of the builder comes to stand at an end once. */
static bool build_shifted(int shift, tw_target target) {
    tw_context *ctx = tw_context_new(&(tw_context_options){.allocator = &counting});
    tw_builder *b =
        ctx ? tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64}) : NULL;
    tw_value n = tw_param(b, "n", TW_I32), carried[2], results[2], chosen;
    for (int i = 0; i < shift; i++)
        tw_name(b, n, "n");
    tw_value yes = tw_i1(b, true), init[] = {n, n};
    tw_value i = tw_for_begin(b, n, n, n, 2, init, carried);
    tw_if_begin(b, yes);
    tw_if_else(b, 1, &i);
    tw_if_end(b, 1, &n, &chosen);
    tw_value next[] = {chosen, i};
    tw_for_end(b, 2, next, results);
    tw_value v = tw_vector_splat(b, n, 2);
    tw_vector_shuffle(b, v, v, (const int64_t[]){0, 1, 2}, 3);
    bool failed = tw_builder_failed(b);
    bool ok = tw_kernel_end(b) != NULL;
    if (failed) assert_false(ok);
    return done(ctx, ok);
}

/* The same for parameters: the first one's name shifts the others. */
static bool build_params(int shift, tw_target target) {
    tw_context *ctx = tw_context_new(&(tw_context_options){.allocator = &counting});
    tw_builder *b =
        ctx ? tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64}) : NULL;
    char name[256];
    memset(name, 'a', sizeof name);
    name[1 + shift] = '\0';
    tw_param(b, name, TW_I32);
    for (int i = 0; i < 70; i++) {
        snprintf(name, sizeof name, "p%d", i);
        tw_param(b, name, TW_I32);
    }
    bool ok = tw_kernel_end(b) != NULL;
    return done(ctx, ok);
}

static void each_request_of_the_builder_may_fail(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    for (int shift = 0; shift < 254; shift += 16) {
        long n = 0;
        do {
            assert_true(n < 100);
            countdown = n++;
            one_failed = false;
        } while (!build_params(shift, target));
        assert_false(one_failed);
        assert_int_equal(live, 0);
    }
    for (int shift = 0; shift < 600; shift++) {
        long n = 0;
        do {
            assert_true(n < 100);
            countdown = n++;
            one_failed = false;
        } while (!build_shifted(shift, target));
        assert_false(one_failed);
        assert_int_equal(live, 0);
    }
}

/* NULL where memory is out. */
static char *print(const tw_kernel *kernel) {
    char *text;
    tw_status status = tw_kernel_to_text(kernel, &text, NULL, NULL);
    assert_int_equal(status, text ? TW_OK : TW_ERR_NO_MEMORY);
    return text;
}

/* True when all of it worked. */
static bool parse_all_of(const char *text) {
    tw_context *ctx = tw_context_new(&(tw_context_options){.allocator = &counting});
    if (!ctx) return false;
    tw_kernel *kernel;
    tw_status status =
        tw_kernel_parse(ctx, text, strlen(text), &(tw_parse_options){.source = "k.tir"}, &kernel);
    assert_int_equal(status, kernel ? TW_OK : TW_ERR_NO_MEMORY);
    countdown = -1;
    tw_context_free(ctx);
    return kernel;
}

static bool interpret(const tw_kernel *kernel) {
    static uint8_t in[ALL_OPS_IN_BYTES], out[ALL_OPS_OUT_BYTES];
    static uint16_t halves[ALL_OPS_HALVES];
    static float singles[ALL_OPS_SINGLES];
    const tw_interp_arg args[] = {TW_INTERP_MEMORY(in, sizeof in),
                                  TW_INTERP_MEMORY(out, sizeof out),
                                  TW_INTERP_MEMORY(halves, sizeof halves),
                                  TW_INTERP_MEMORY(singles, sizeof singles),
                                  TW_INTERP_BITS(ALL_OPS_N),
                                  TW_INTERP_BITS(ALL_OPS_FAR),
                                  TW_INTERP_BITS(ALL_OPS_X)};
    tw_status status = tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 7, NULL, NULL);
    assert_true(status == TW_OK || status == TW_ERR_NO_MEMORY);
    return !status;
}

static void printer_parser_and_interpreter_may_lack_memory(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1250", &target, NULL), TW_OK);
    for (size_t index = 0; index < all_ops_count(); index++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_kernel *kernel = all_ops_build(ctx, target, index);
        assert_non_null(kernel);
        char *text = NULL;
        long printed = 0, parsed = 0, run = 0;
        for (; !text; printed++) {
            countdown = printed;
            text = print(kernel);
        }
        do {
            countdown = parsed++;
        } while (!parse_all_of(text));
        assert_int_equal(live, 0);
        do {
            countdown = run++;
        } while (!interpret(kernel));
        countdown = -1;
        assert_true(printed > 2 && parsed > 5 && run > 2);
        free(text);
        tw_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(printer_parser_and_interpreter_may_lack_memory),
                                       cmocka_unit_test(each_allocation_may_fail),
                                       cmocka_unit_test(each_request_of_the_builder_may_fail)};
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
