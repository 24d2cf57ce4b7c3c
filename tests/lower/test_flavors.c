/* The texts of other flavors, through their own llc where it is installed: they parse, verify, and leave no
 * undefined symbol. */
#include "tests/lower/helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/strbuf.h"
#include "tests/lower/op_kernels.h"

typedef struct lane {
    tw_flavor flavor;
    const char *variable; /* of the environment: where llc is */
    const char *target;
    bool always;
} lane;

/* Each flavor that Debian 12 has a package of. */
static const lane lanes[] = {
    {TW_FLAVOR_LLVM15, "TW_LLC_15", "gfx90a", false},
    {TW_FLAVOR_LLVM15, "TW_LLC_15", "gfx1100", false},
    {TW_FLAVOR_LLVM15, "TW_LLC_15", "gfx1100:wave64", false},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx90a", false},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx942", true},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx1100", false},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx1151", false},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx1200", false},
    {TW_FLAVOR_LLVM19, "TW_LLC_19", "gfx1201:wave64", false},
};

/* The assembly that llc makes of `text`, or NULL where it fails. */
static char *llc(const char *program, const char *cpu, const char *text) {
    char path[] = "/tmp/tilewright-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    tw_strbuf out;
    tw_strbuf_init(&out, NULL);
    tw_strbuf_printf(&out, "'%s' -O3 -mcpu=%s -asm-verbose=false -o - %s", program, cpu, path);
    FILE *pipe = popen(tw_strbuf_text(&out), "r");
    assert_non_null(pipe);
    tw_strbuf_clear(&out);
    char part[4096];
    for (size_t got; (got = fread(part, 1, sizeof part, pipe)) > 0;)
        tw_strbuf_append_n(&out, part, got);
    int status = pclose(pipe);
    unlink(path);
    char *assembly = tw_strbuf_take(&out, NULL);
    assert_non_null(assembly);
    if (!status) return assembly;
    free(assembly);
    return NULL;
}

static void check(const lane *l, const char *program, tw_context *ctx, size_t index, unsigned how) {
    tw_target target = target_named(l->target);
    tw_kernel *kernel = op_kernels_build(ctx, target, index, how, NULL);
    assert_non_null(kernel);
    char *text = lower_text(kernel, l->flavor, NULL);
    char *assembly = llc(program, tw_arch_get(target.arch)->name, text);
    if (!assembly) fail_msg("%s for %s: %s fails", op_kernels_name(index), l->target, program);
    /* A call of an unknown intrinsic names it; so does nothing else in the assembly. */
    const char *call = strstr(assembly, "llvm.amdgcn.");
    if (call) fail_msg("%s for %s: %.60s is undefined", op_kernels_name(index), l->target, call);
    free(assembly);
    free(text);
    tw_kernel_free(kernel);
}

static void compiles(void **state) {
    const lane *l = *state;
    const char *program = getenv(l->variable);
    if (!program) {
        print_message("%s for %s: llc is not installed\n", tw_flavor_name(l->flavor), l->target);
        skip();
    }
    tw_context *ctx = tw_context_new(NULL);
    for (size_t i = 0; i < op_kernels_count(); i++) {
        if (!op_kernels_served(i, l->flavor, target_named(l->target).arch)) continue;
        check(l, program, ctx, i, 0);
        if (!l->always) check(l, program, ctx, i, OP_KERNELS_UNIFORM);
    }
    tw_context_free(ctx);
}

/* A sum of a matrix product that is joined from two loads, which LLVM 15 misreads. */
static void joined_sums(void **state) {
    (void)state;
    static const char text[] =
        "tile.kernel @k target(\"gfx1100\") workgroup(32) (%q: ptr<f16, global>, %p: ptr<f32, global>) {\n"
        "  %i = gpu.workitem_id x : i32\n  %j = arith.shl %i, 3 : i32\n  %k = arith.add %j, 4 : i32\n"
        "  %h = tile.global_load %q, %j {align = 16} : vec<8 x f16>\n"
        "  %a = vector.shuffle %h, %h {lanes = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7]} : vec<16 x "
        "f16>\n"
        "  %c0 = tile.global_load %p, %j {align = 16} : vec<4 x f32>\n"
        "  %c1 = tile.global_load %p, %k {align = 16} : vec<4 x f32>\n"
        "  %c = vector.shuffle %c0, %c1 {lanes = [0, 1, 2, 3, 4, 5, 6, 7]} : vec<8 x f32>\n"
        "  %d = tile.mma %a, %a, %c {atom = \"wmma.f32.16x16x16.f16\"} : vec<8 x f32>\n"
        "  %e = vector.shuffle %d, %d {lanes = [0, 1, 2, 3]} : vec<4 x f32>\n"
        "  tile.global_store %e, %p, %j {align = 16} : vec<4 x f32>\n  return\n}";
    const char *program = getenv("TW_LLC_15");
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(ctx, text, target_named("gfx1100"));
    char *lowered = lower_text(kernel, TW_FLAVOR_LLVM15, NULL);
    assert_non_null(strstr(lowered, "asm \"\""));
    char *assembly = program ? llc(program, "gfx1100", lowered) : NULL;
    bool selected = assembly && strstr(assembly, "v_wmma_f32_16x16x16_f16");
    free(assembly);
    free(lowered);
    tw_kernel_free(kernel);
    tw_context_free(ctx);
    if (!program) {
        print_message("joined sums: llc-15 is not installed\n");
        skip();
    }
    assert_true(selected);
}

/* With the argument "all": every flavor and target that there is a compiler for. */
int main(int argc, char **argv) {
    bool all = argc > 1 && !strcmp(argv[1], "all");
    struct CMUnitTest tests[sizeof lanes / sizeof lanes[0] + 1];
    char names[sizeof lanes / sizeof lanes[0]][48];
    size_t count = 0;
    for (size_t i = 0; i < sizeof lanes / sizeof lanes[0]; i++) {
        if (!all && !lanes[i].always) continue;
        snprintf(names[i], sizeof names[i], "%s for %s", tw_flavor_name(lanes[i].flavor), lanes[i].target);
        tests[count++] = (struct CMUnitTest){names[i], compiles, NULL, NULL, (void *)(uintptr_t)&lanes[i]};
    }
    tests[count++] = (struct CMUnitTest){"joined sums", joined_sums, NULL, NULL, NULL};
    return _cmocka_run_group_tests("lower-flavors", tests, count, NULL, NULL);
}
