/* Kernels of ordinary HIP C++, for every target, against the host: test_hip LEVEL... runs all of them at the
 * named levels. One code object holds all kernels of a target and level. */
#include "tests/emu/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hip/groups.h"

place here;

typedef void host_fn(u32 *out, const u32 *in, u32 n);
typedef struct hip_case {
    const char *group, *name;
    tw_dim3 grid, block;
    uint32_t lds, in_words, out_words;
    host_fn *body, *reference;
} hip_case;

#define D(x) \
    { x, 1, 1 }
#define D2(x, y) \
    { x, y, 1 }
#define D3(x, y, z) \
    { x, y, z }
#define ITEMS(group, name, grid, block, lds, in_words, out_words) \
    {#group, #name, grid, block, lds, in_words, out_words, name, NULL},
#define WHOLE(group, name, grid, block, lds, in_words, out_words) \
    {#group, #name, grid, block, lds, in_words, out_words, NULL, name},
static const hip_case CASES[] = {
#include "tests/hip/cases.def"
};
enum { CASE_COUNT = sizeof CASES / sizeof CASES[0], MOST_WORDS = 1 << 14 };

static void run_items(const hip_case *c, u32 *out, const u32 *in) {
    const tw_dim3 *g = &c->grid, *b = &c->block;
    for (u32 at = 0; at < g->x * g->y * g->z * b->x * b->y * b->z; at++) {
        u32 k = at;
        here.item[0] = k % b->x, k /= b->x;
        here.item[1] = k % b->y, k /= b->y;
        here.item[2] = k % b->z, k /= b->z;
        here.group[0] = k % g->x, k /= g->x;
        here.group[1] = k % g->y, k /= g->y;
        here.group[2] = k;
        c->body(out, in, c->in_words);
    }
}

static void expect(const hip_case *c, u32 wave, u32 *out, const u32 *in) {
    here = (place){.block = {c->block.x, c->block.y, c->block.z},
                   .grid = {c->grid.x, c->grid.y, c->grid.z},
                   .wave = wave};
    memset(out, 0, c->out_words * sizeof *out);
    if (c->body)
        run_items(c, out, in);
    else
        c->reference(out, in, c->in_words);
}

/* One code object at a time is open; the tests come in the order of code objects. */
static struct {
    const char *target, *level;
    harness h;
} now;

static harness *open_object(const char *target, const char *level) {
    if (now.target == target && now.level == level) return &now.h;
    if (now.target) harness_close(&now.h);
    now.target = NULL;
    harness_open(&now.h, "../hip/hip", target, level);
    now.target = target;
    now.level = level;
    return &now.h;
}

/* What LLVM 22 gets wrong (docs/llvm-bugs.md): the machine code computes something else on a GPU too. */
typedef struct llvm_bug {
    const char *name, *target, *level;
} llvm_bug;
static const llvm_bug LLVM_BUGS[] = {
    {"byte_swap64", "gfx11", "O0"},
    {"nested_breaks", "gfx9", "O0"},
};

static bool is_llvm_bug(const char *name, const char *target, const char *level) {
    for (size_t k = 0; k < sizeof LLVM_BUGS / sizeof LLVM_BUGS[0]; k++) {
        const llvm_bug *b = &LLVM_BUGS[k];
        if (!strcmp(name, b->name) && !strncmp(target, b->target, strlen(b->target)) &&
            !strcmp(level, b->level))
            return true;
    }
    return false;
}

typedef struct instance {
    const hip_case *test;
    const char *target, *level;
    char name[64];
} instance;

static void run_instance(void **state) {
    static u32 in[MOST_WORDS], out[MOST_WORDS], want[MOST_WORDS];
    const instance *i = *state;
    const hip_case *c = i->test;
    harness *h = open_object(i->target, i->level);
    const tw_kernel_info *info = tw_code_object_kernel(h->object, c->name);
    uint32_t seed = 2463534242u;
    if (!info) fail_msg("no kernel '%s'", c->name);
    if (is_llvm_bug(c->name, i->target, i->level)) skip();
    assert_true(c->in_words <= MOST_WORDS && c->out_words <= MOST_WORDS);
    for (u32 k = 0; k < c->in_words; k++)
        in[k] = harness_random(&seed);
    expect(c, info->wave_size, want, in);
    memset(out, 0, sizeof out);
    uint64_t din = harness_buffer(h, "in", in, c->in_words * sizeof *in);
    uint64_t dout = harness_buffer(h, "out", out, c->out_words * sizeof *out);
    const harness_arg args[] = {PTR(dout), PTR(din), I32(c->in_words)};
    if (harness_try(h, c->name, c->grid, c->block, c->lds, args, 3) != TW_OK)
        fail_msg("%s", tw_diag_text(h->diag));
    harness_read(h, dout, out, c->out_words * sizeof *out);
    assert_int_equal(tw_emu_release(h->emu, din, h->diag), TW_OK);
    assert_int_equal(tw_emu_release(h->emu, dout, h->diag), TW_OK);
    u32 unequal = 0, first = 0, written = 0;
    for (u32 k = c->out_words; k-- > 0;) {
        written |= want[k];
        if (out[k] == want[k]) continue;
        unequal++;
        first = k;
    }
    if (unequal)
        fail_msg("%u words differ, the first is word %u: got %08x, want %08x", unequal, first, out[first],
                 want[first]);
    assert_true(written != 0); /* a reference that computes nothing checks nothing */
}

/* "w64" is a level of targets that have the choice; "fast" of kernels that no freedom of -ffast-math can
 * change. */
static bool has_level(const hip_case *c, const char *target, const char *level) {
    if (!strcmp(level, "w64")) return !strcmp(target, "gfx1100") || !strcmp(target, "gfx1201");
    if (strcmp(level, "fast")) return true;
    return !strcmp(c->group, "integers") || !strcmp(c->group, "text") || !strcmp(c->group, "sorts") ||
           !strcmp(c->name, "exact_under_fast_math");
}

int main(int argc, char **argv) {
    static const char *const TARGETS[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                                          "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    enum { TARGET_COUNT = sizeof TARGETS / sizeof TARGETS[0] };
    size_t most = (size_t)argc * TARGET_COUNT * CASE_COUNT, total = 0;
    struct CMUnitTest *tests = calloc(most, sizeof *tests);
    instance *instances = calloc(most, sizeof *instances);
    if (!tests || !instances || argc < 2) return 1;
    for (int a = 1; a < argc; a++) {
        for (size_t k = 0; k < (size_t)TARGET_COUNT * CASE_COUNT; k++) {
            instance *i = &instances[total];
            i->test = &CASES[k % CASE_COUNT];
            i->target = TARGETS[k / CASE_COUNT];
            i->level = argv[a];
            if (!has_level(i->test, i->target, i->level)) continue;
            snprintf(i->name, sizeof i->name, "%s %s %s %s", i->test->group, i->test->name, i->target,
                     i->level);
            tests[total++] = (struct CMUnitTest){i->name, run_instance, NULL, NULL, i};
        }
    }
    int failed = _cmocka_run_group_tests("hip", tests, total, NULL, NULL);
    if (now.target) harness_close(&now.h);
    free(tests);
    free(instances);
    return failed;
}
