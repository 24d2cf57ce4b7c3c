/* The text as such: complete tables, refusals, names, and the same bytes in every thread and locale. */
#include "tests/lower/helpers.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ir/ir.h"
#include "lower/intrinsics.h"
#include "lower/lower_internal.h"
#include "lower/lowering.h"
#include "tests/lower/op_kernels.h"

/* ---- tables ---- */

static void every_op_has_a_rule(void **state) {
    (void)state;
    for (unsigned opcode = 0; opcode < TW_OPCODE_LIMIT; opcode++)
        assert_int_equal(tw_ll_rule_get((tw_opcode)opcode) != NULL,
                         tw_op_info_get((tw_opcode)opcode) != NULL);
    assert_null(tw_ll_rule_get((tw_opcode)TW_OPCODE_LIMIT));
}

static void every_flavor_has_a_row(void **state) {
    (void)state;
    for (size_t i = 0; tw_flavor_at(i); i++)
        assert_int_equal(tw_flavor_info_get(tw_flavor_at(i))->flavor, tw_flavor_at(i));
    assert_null(tw_flavor_info_get((tw_flavor)16));
}

/* Rows of one key never overlap: there is one answer for a flavor and target. */
static void intrinsics_have_one_row(void **state) {
    (void)state;
    size_t count;
    const tw_intrinsic_row *rows = tw_intrinsic_rows(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].first <= rows[i].last);
        assert_int_equal(strncmp(rows[i].name, "llvm.", strlen("llvm.")), 0);
        for (size_t j = 0; j < i; j++)
            assert_false(rows[i].key == rows[j].key && (rows[i].targets & rows[j].targets) &&
                         rows[i].first <= rows[j].last && rows[j].first <= rows[i].last);
    }
}

static void assert_refused(const tw_kernel *kernel, tw_flavor flavor, tw_status status, const char *text) {
    tw_diag *diag = tw_diag_new(NULL);
    char *output = (char *)1;
    size_t length = 1;
    assert_int_equal(tw_lower(kernel, flavor, &output, &length, diag), status);
    assert_null(output);
    assert_int_equal(length, 0);
    assert_string_equal(tw_diag_first_error(diag), text);
    tw_diag_free(diag);
}

static void every_op_lowers_for_every_flavor(void **state) {
    (void)state;
    for (size_t t = 0; t < lower_target_count; t++) {
        tw_target target = target_named(lower_targets[t]);
        tw_context *ctx = tw_context_new(NULL);
        for (size_t i = 0; i < op_kernels_count(); i++) {
            tw_kernel *kernel = op_kernels_build(ctx, target, i, OP_KERNELS_WIDE, NULL);
            assert_non_null(kernel);
            for (size_t f = 0; tw_flavor_at(f); f++) {
                if (tw_flavor_serves(tw_flavor_at(f), target, NULL)) continue;
                size_t length;
                if (!op_kernels_served(i, tw_flavor_at(f), target.arch)) {
                    assert_refused(
                        kernel, tw_flavor_at(f), TW_ERR_UNSUPPORTED,
                        "tile.global_load_to_lds: llvm.amdgcn.global.load.lds must exist for gfx90a "
                        "in the flavor (got llvm15, for which it is not used)");
                    continue;
                }
                char *text = lower_text(kernel, tw_flavor_at(f), &length);
                assert_int_equal(strlen(text), length);
                assert_null(strstr(text, "%!")); /* a directive that the writer does not know ends the text */
                free(text);
            }
            tw_kernel_free(kernel);
        }
        tw_context_free(ctx);
    }
}

static void mark(const tw_block *block, bool *seen) {
    for (const tw_op *op = block->first; op; op = op->next) {
        seen[op->opcode] = true;
        for (uint32_t i = 0; i < op->block_count; i++)
            mark(&op->blocks[i], seen);
    }
}

/* Where a kernel of theirs is settled, test_values compares what they compute. */
static void every_op_stands_in_a_settled_kernel(void **state) {
    (void)state;
    bool seen[TW_OPCODE_LIMIT] = {false};
    for (size_t t = 0; t < lower_target_count; t++) {
        tw_context *ctx = tw_context_new(NULL);
        for (size_t i = 0; i < op_kernels_count(); i++) {
            tw_kernel *kernel = op_kernels_build(ctx, target_named(lower_targets[t]), i, 0, NULL);
            assert_non_null(kernel);
            if (op_kernels_settled(i)) mark(&kernel->body, seen);
        }
        tw_context_free(ctx);
    }
    unsigned rows = 0;
    for (unsigned opcode = 1; opcode < TW_OPCODE_LIMIT; opcode++) {
        const tw_op_info *row = tw_op_info_get((tw_opcode)opcode);
        if (row && !seen[opcode]) fail_msg("%s stands in no settled kernel", row->name);
        rows += row != NULL;
    }
    assert_true(rows > 90);
}

/* ---- refusals ---- */

static tw_kernel *kernel_unverified(tw_context *ctx, const char *text) {
    tw_kernel *kernel;
    if (tw_kernel_parse_unverified(ctx, text, strlen(text), NULL, &kernel))
        fail_msg("%s", tw_context_diagnostics(ctx));
    return kernel;
}

static void refuses_what_the_flavor_does_not_serve(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(
        ctx, "tile.kernel @k target(\"gfx1250\") workgroup(64) () { return }", target_named("gfx1250"));
    assert_refused(kernel, TW_FLAVOR_LLVM21, TW_ERR_UNSUPPORTED,
                   "gfx1250 needs llvm22 or later (got llvm21)");
    assert_refused(NULL, TW_FLAVOR_LLVM22, TW_ERR_USAGE, "tw_lower: kernel and text must not be NULL");
    tw_context_free(ctx);
}

/* What the verifier refuses, the lowerer refuses with the same text. */
static void refuses_what_does_not_verify(void **state) {
    (void)state;
    static const char *const attributes[] = {"",
                                             "{cachepolicy = 20.9}",
                                             "{cachepolicy = true}",
                                             "{cachepolicy = -1}",
                                             "{cachepolicy = 32}",
                                             "{cachepolicy = 8}"};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        tw_context *ctx = tw_context_new(NULL);
        char text[500];
        snprintf(
            text, sizeof text,
            "tile.kernel @k target(\"gfx942\") workgroup(64) (%%p: ptr<f32, global>, %%n: i32, %%f: f32) {\n"
            "  %%r = tile.buffer_rsrc %%p, %%n : rsrc\n"
            "  tile.buffer_atomic_fadd %%f, %%r, 0, 0 %s : f32\n  return\n}",
            attributes[i]);
        tw_kernel *kernel = kernel_unverified(ctx, text);
        tw_diag *diag = tw_diag_new(NULL);
        tw_status status = tw_kernel_verify(kernel, diag);
        assert_int_not_equal(status, TW_OK);
        assert_non_null(strstr(tw_diag_first_error(diag), "tile.buffer_atomic_fadd: cachepolicy"));
        assert_refused(kernel, TW_FLAVOR_LLVM22, status, tw_diag_first_error(diag));
        tw_diag_free(diag);
        tw_context_free(ctx);
    }
}

/* The table of intrinsics is asked for each use: a kernel that nobody checked meets it. */
static void refuses_an_intrinsic_that_the_target_lacks(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(
        ctx,
        "tile.kernel @k target(\"gfx950\") workgroup(64) (%p: ptr<bf16, global>, %n: i32) {\n"
        "  %v = tile.global_load %p, 0 {align = 4} : vec<2 x bf16>\n"
        "  %r = tile.buffer_rsrc %p, %n : rsrc\n"
        "  tile.buffer_atomic_fadd %v, %r, 0, 0 {cachepolicy = 0} : vec<2 x bf16>\n  return\n}",
        target_named("gfx950"));
    kernel->target = target_named("gfx90a");
    kernel->verified = true;
    assert_refused(
        kernel, TW_FLAVOR_LLVM23, TW_ERR_UNSUPPORTED,
        "tile.buffer_atomic_fadd: llvm.amdgcn.raw.ptr.buffer.atomic.fadd.v2bf16 must exist for gfx90a in the "
        "flavor (got llvm23: target_unsupported, LLVM cannot select it for the target)");
    tw_context_free(ctx);
}

static void refuses_the_names_of_intrinsics(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(
        ctx, "tile.kernel @llvm.amdgcn.s.barrier target(\"gfx942\") workgroup(64) () { return }",
        target_named("gfx942"));
    assert_refused(kernel, TW_FLAVOR_LLVM22, TW_ERR_INVALID,
                   "a kernel's name must not begin with \"llvm.\" (got \"llvm.amdgcn.s.barrier\")");
    tw_context_free(ctx);
}

/* ---- names ---- */

/* Names that look like the writer's own: LLVM reads the text. */
static void names_do_not_collide(void **state) {
    (void)state;
    tw_compiler *compiler;
    assert_int_equal(tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(
        ctx,
        "tile.kernel @lds.t target(\"gfx942\") workgroup(64) (%entry: ptr<f32, global>, %t1: i32, %v0: i32) "
        "{\n"
        "  %for1 = tile.lds_alloc {count = 64} : ptr<f32, lds>\n"
        "  %0 = tile.lds_alloc {count = 64} : ptr<f32, lds>\n"
        "  %1 = arith.sitofp %t1 : f32\n"
        "  tile.lds_store %1, %for1, 0 : f32\n"
        "  tile.lds_store %1, %0, 0 : f32\n"
        "  %for1.next = scf.for %for1.index = 0 to %v0 step 1 carry(%if2.then = %1 : f32) -> (f32) {\n"
        "    %x = tile.lds_load %for1, 0 : f32\n"
        "    %y = arith.fadd %x, %if2.then : f32\n"
        "    scf.yield %y\n"
        "  }\n"
        "  tile.global_store %for1.next, %entry, %t1 : f32\n  return\n}",
        target_named("gfx942"));
    char *assembly = assembly_of(compiler, kernel);
    assert_non_null(strstr(assembly, "lds.t:"));
    free(assembly);
    tw_context_free(ctx);
    tw_compiler_close(compiler);
}

/* ---- the same bytes everywhere ---- */

static tw_kernel *sample(tw_context *ctx, const char *target, const char *name) {
    for (size_t i = 0; i < op_kernels_count(); i++)
        if (!strcmp(op_kernels_name(i), name)) return op_kernels_build(ctx, target_named(target), i, 0, NULL);
    return NULL;
}

static void the_locale_changes_nothing(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = sample(ctx, "gfx942", "fp8");
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    bool set = false;
    for (size_t i = 0; i < 3 && !set; i++)
        set = setlocale(LC_ALL, names[i]) != NULL;
    char *again = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
    setlocale(LC_ALL, "C");
    assert_string_equal(again, text);
    free(again);
    free(text);
    tw_context_free(ctx);
    if (!set) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
}

typedef struct worker {
    pthread_t thread;
    const tw_kernel *kernel;
    const char *wanted;
    bool same;
} worker;

static void *lower_often(void *argument) {
    worker *w = argument;
    w->same = true;
    for (int i = 0; i < 20 && w->same; i++) {
        char *text;
        if (tw_lower(w->kernel, TW_FLAVOR_LLVM22, &text, NULL, NULL)) return w->same = false, NULL;
        w->same = !strcmp(text, w->wanted);
        free(text);
    }
    return NULL;
}

static void threads_may_share_a_kernel(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = sample(ctx, "gfx1250", "bf16");
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
    worker workers[8];
    for (int i = 0; i < 8; i++) {
        workers[i] = (worker){.kernel = kernel, .wanted = text};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, lower_often, &workers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].same);
    }
    free(text);
    tw_context_free(ctx);
}

/* ---- memory that runs out ---- */

typedef struct scarce {
    size_t left; /* allocations until the one that fails: those after it are not to hide it */
    size_t live;
} scarce;

static void *scarce_allocate(void *user, size_t bytes) {
    scarce *s = user;
    if (s->left-- == 0) return NULL;
    s->live++;
    return malloc(bytes);
}

static void scarce_release(void *user, void *memory) {
    scarce *s = user;
    s->live--;
    free(memory);
}

static void lower_with_ever_more_memory(const char *name) {
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = sample(ctx, "gfx942", name);
    char *wanted = lower_text(kernel, TW_FLAVOR_LLVM22, NULL), *text = NULL;
    size_t enough = 0;
    for (;; enough++) {
        scarce s = {.left = enough};
        tw_allocator allocator = {scarce_allocate, scarce_release, &s};
        tw_diag *diag = tw_diag_new(NULL);
        text = NULL;
        tw_status status = tw_lower_with(kernel, TW_FLAVOR_LLVM22, &allocator, &text, NULL, diag);
        if (status) {
            assert_int_equal(status, TW_ERR_NO_MEMORY);
            assert_string_equal(tw_diag_first_error(diag), "out of memory");
            assert_null(text);
            assert_int_equal(s.live, 0);
        }
        tw_diag_free(diag);
        if (status) continue;
        assert_int_equal(s.live, 1);
        assert_string_equal(text, wanted);
        scarce_release(&s, text);
        break;
    }
    assert_in_range(enough, 4, 1000);
    free(wanted);
    tw_context_free(ctx);
}

static void missing_memory_is_an_error(void **state) {
    (void)state;
    lower_with_ever_more_memory("control");
    lower_with_ever_more_memory("wave");
}

/* Six bytes at a multiple of eight: the two behind the first four lie at a multiple of four. */
static void the_second_piece_is_aligned_less(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel =
        kernel_from_text(ctx,
                         "tile.kernel @k target(\"gfx942\") workgroup(64) (%p: ptr<f16, global>) {\n"
                         "  %v = tile.global_load %p, 0 {align = 8} : vec<3 x f16>\n"
                         "  tile.global_store %v, %p, 4 {align = 8} : vec<3 x f16>\n"
                         "  return\n}\n",
                         target_named("gfx942"));
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
    assert_int_equal(count_of(text, "load i32, ptr addrspace(1) %.t1, align 8"), 1);
    assert_int_equal(count_of(text, "load i16, "), 1);
    assert_int_equal(count_of(text, "store i16 "), 1);
    assert_int_equal(count_of(text, "align 8\n"), 2);
    assert_int_equal(count_of(text, "align 4\n"), 2);
    free(text);
    tw_context_free(ctx);
}

/* The kernel's first group may stand in a region. */
static void groups_of_the_first_pipeline_stay(void **state) {
    (void)state;
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(ctx,
                                         "tile.kernel @k target(\"gfx942\") workgroup(64) (%n: i32) {\n"
                                         "  %x = gpu.workitem_id x : i32\n"
                                         "  %c = arith.icmp slt %x, %n : i1\n"
                                         "  scf.if %c {\n"
                                         "    tile.sched_group_barrier {mask = 8, size = 1, sync = 3}\n"
                                         "  }\n"
                                         "  tile.sched_group_barrier {mask = 8, size = 2, sync = 0}\n"
                                         "  tile.sched_group_barrier {mask = 8, size = 4, sync = 3}\n"
                                         "  return\n}\n",
                                         target_named("gfx942"));
    char *text = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
    assert_int_equal(count_of(text, "call void @llvm.amdgcn.sched.group.barrier("), 2);
    assert_int_equal(count_of(text, "(i32 8, i32 1, i32 3)"), 1);
    assert_int_equal(count_of(text, "(i32 8, i32 4, i32 3)"), 1);
    assert_int_equal(count_of(text, "; a group of another pipeline than the kernel's first is left out"), 1);
    free(text);
    tw_context_free(ctx);
}

/* To LLVM the quotient of the least integer and -1 is undefined behaviour: such a divisor is chosen as an
 * unknown one is, others stand in the division. */
static void divisors_of_minus_one_are_chosen(void **state) {
    (void)state;
    static const struct {
        const char *divisor;
        bool chosen;
    } CASES[] = {{"-1", true}, {"7", false}, {"-2", false}};
    tw_context *ctx = tw_context_new(NULL);
    for (size_t k = 0; k < 3; k++) {
        char text[512];
        snprintf(
            text, sizeof text,
            "tile.kernel @k target(\"gfx1100\") workgroup(32) (%%p: ptr<i32, global>, %%n: i32) {\n"
            "  %%d = arith.constant %s : i32\n  %%i = gpu.workitem_id x : i32\n"
            "  %%q = arith.sdiv %%n, %%d : i32\n  %%r = arith.srem %%n, %%d : i32\n"
            "  tile.global_store %%q, %%p, %%i : i32\n  tile.global_store %%r, %%p, %%n : i32\n  return\n}",
            CASES[k].divisor);
        tw_kernel *kernel = kernel_from_text(ctx, text, target_named("gfx1100"));
        char *lowered = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
        unsigned selects = 0;
        for (const char *at = lowered; (at = strstr(at, " select ")); at++)
            selects++;
        assert_int_equal(selects, CASES[k].chosen ? 2 : 0);
        free(lowered);
        tw_kernel_free(kernel);
    }
    tw_context_free(ctx);
}

/* s_waitcnt of gfx9: the count of copies in bits 3:0 and 15:14; nothing else is waited for. */
static void waits_for_copies_have_six_bits(void **state) {
    (void)state;
    static const unsigned COUNTS[] = {0, 15, 16, 37, 63};
    tw_context *ctx = tw_context_new(NULL);
    for (size_t k = 0; k < sizeof COUNTS / sizeof COUNTS[0]; k++) {
        char text[256];
        snprintf(text, sizeof text,
                 "tile.kernel @k target(\"gfx942\") workgroup(64) () {\n  tile.async_wait {outstanding = "
                 "%u}\n  return\n}",
                 COUNTS[k]);
        tw_kernel *kernel = kernel_from_text(ctx, text, target_named("gfx942"));
        char *lowered = lower_text(kernel, TW_FLAVOR_LLVM22, NULL);
        const char *call = strstr(lowered, "@llvm.amdgcn.s.waitcnt(i32 ");
        assert_non_null(call);
        unsigned field = (unsigned)strtoul(call + strlen("@llvm.amdgcn.s.waitcnt(i32 "), NULL, 10);
        assert_int_equal((field & 15) + 16 * (field >> 14), COUNTS[k]);
        assert_int_equal(field & 0x3ff0, 0xf70);
        free(lowered);
        tw_kernel_free(kernel);
    }
    tw_context_free(ctx);
}

/* In time that grows with the kernel, not with its square, which took ten seconds. */
static void large_kernels_take_no_time(void **state) {
    (void)state;
    enum { OPS = 60000 };
    tw_strbuf source;
    tw_strbuf_init(&source, NULL);
    tw_strbuf_append(&source, "tile.kernel @k target(\"gfx942\") workgroup(64) (%n: i32) {\n");
    for (int i = 0; i < OPS; i++)
        tw_strbuf_append(&source, "  tile.setprio {level = 1}\n");
    for (int i = 0; i < OPS; i++)
        tw_strbuf_append(&source, "  tile.sched_group_barrier {mask = 8, size = 1, sync = 0}\n");
    tw_strbuf_append(&source, "  return\n}\n");
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(ctx, tw_strbuf_text(&source), target_named("gfx942"));
    clock_t start = clock();
    free(lower_text(kernel, TW_FLAVOR_LLVM22, NULL));
    assert_in_range((clock() - start) / CLOCKS_PER_SEC, 0, 2);
    tw_strbuf_free(&source);
    tw_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_a_rule),
        cmocka_unit_test(every_flavor_has_a_row),
        cmocka_unit_test(intrinsics_have_one_row),
        cmocka_unit_test(every_op_lowers_for_every_flavor),
        cmocka_unit_test(every_op_stands_in_a_settled_kernel),
        cmocka_unit_test(refuses_what_the_flavor_does_not_serve),
        cmocka_unit_test(refuses_what_does_not_verify),
        cmocka_unit_test(refuses_an_intrinsic_that_the_target_lacks),
        cmocka_unit_test(refuses_the_names_of_intrinsics),
        cmocka_unit_test(names_do_not_collide),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(threads_may_share_a_kernel),
        cmocka_unit_test(missing_memory_is_an_error),
        cmocka_unit_test(the_second_piece_is_aligned_less),
        cmocka_unit_test(groups_of_the_first_pipeline_stay),
        cmocka_unit_test(waits_for_copies_have_six_bits),
        cmocka_unit_test(divisors_of_minus_one_are_chosen),
        cmocka_unit_test(large_kernels_take_no_time),
    };
    return cmocka_run_group_tests_name("lower", tests, NULL, NULL);
}
