/* The instructions that LLVM 22 selects for key ops (tests/lower/select.def), and the spelling of cache
 * policies. */
#include "tests/lower/helpers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build.h"
#include "tests/llvm_compiler.h"

typedef struct program {
    const char *name;
    unsigned workgroup_size;
    const char *ops;
} program;

static const program programs[] = {
#define PROGRAM(name, workgroup_size, ops) {#name, workgroup_size, ops},
#define HAS(name, targets, text)
#define LACKS(name, targets, text)
#define COUNT(name, targets, text, count)
#include "tests/lower/select.def"
};

#define ANY (-1)

typedef struct selection {
    const char *program, *targets, *text;
    int count; /* ANY: at least one */
} selection;

static const selection selections[] = {
#define PROGRAM(name, workgroup_size, ops)
#define HAS(name, targets, text)          {#name, targets, text, ANY},
#define LACKS(name, targets, text)        {#name, targets, text, 0},
#define COUNT(name, targets, text, count) {#name, targets, text, count},
#include "tests/lower/select.def"
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* `name` is one of the words of `targets`. */
static bool is_among(const char *name, const char *targets) {
    size_t length = strlen(name);
    if (!strcmp(targets, "*")) return true;
    for (const char *at = targets; (at = strstr(at, name)); at++)
        if ((at == targets || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

static bool is_checked(const program *p, const char *target) {
    for (size_t i = 0; i < COUNT_OF(selections); i++)
        if (!strcmp(selections[i].program, p->name) && is_among(target, selections[i].targets)) return true;
    return false;
}

/* The assembly without comments: LLVM writes its own remarks there. */
static void drop_comments(char *text) {
    char *to = text;
    for (const char *from = text; *from;) {
        if (*from == ';') {
            while (*from && *from != '\n')
                from++;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
}

/* How many checks failed; each is printed, with the assembly after the last. */
static int check(const program *p, const char *target) {
    char text[4096];
    int length = snprintf(
        text, sizeof text,
        "tile.kernel @%s target(\"gfx1250\") workgroup(%u) (%%h: ptr<f16, global>, %%y: ptr<bf16, global>, "
        "%%f: ptr<f32, global>, %%only: ptr<f32, global> {readonly, noalias}, %%w: ptr<i32, global>, "
        "%%n: i32, %%g: f32) {\n  %%tid = gpu.workitem_id x : i32\n%s  return\n}\n",
        p->name, p->workgroup_size, p->ops);
    assert_in_range(length, 1, sizeof text - 1);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = kernel_from_text(ctx, text, target_named(target));
    char *assembly = assembly_of(compiler, kernel);
    drop_comments(assembly);
    int failures = 0;
    for (size_t i = 0; i < COUNT_OF(selections); i++) {
        const selection *s = &selections[i];
        if (strcmp(s->program, p->name) || !is_among(target, s->targets)) continue;
        int got = (int)count_of(assembly, s->text);
        if (s->count == ANY ? got : got == s->count) continue;
        print_error("%s for %s has \"%s\" %d times\n", p->name, target, s->text, got);
        failures++;
    }
    if (failures) print_error("%s", assembly);
    free(assembly);
    tw_context_free(ctx);
    return failures;
}

static void selects(void **state) {
    int failures = 0;
    for (size_t i = 0; i < COUNT_OF(programs); i++)
        if (is_checked(&programs[i], *state)) failures += check(&programs[i], *state);
    assert_int_equal(failures, 0);
}

/* ---- cache policies ---- */

static void build_policy(tw_builder *b, tw_cache_op op, tw_value rsrc, tw_value index, uint32_t policy) {
    const tw_type *f32 = tw_type_scalar(TW_F32);
    tw_value zero = tw_i32(b, 0);
    tw_value value = tw_f32(b, (float)policy);
    if (op == TW_CACHE_STORE) {
        tw_buffer_store(b, value, rsrc, index, zero, policy);
    } else if (op == TW_CACHE_ATOMIC) {
        tw_buffer_atomic_fadd(b, value, rsrc, index, zero, policy);
    } else {
        tw_value loaded = tw_buffer_load(b, f32, rsrc, index, zero, policy);
        tw_value other = tw_i32(b, (int)(policy * 4096));
        tw_value place = tw_add(b, index, other);
        tw_buffer_store(b, loaded, rsrc, place, zero, 0);
    }
}

/* One access with each legal policy: each is spelled as the table of policies says. */
static void spells_policies(void **state) {
    static const char *const stems[] = {"buffer_load_", "buffer_store_", "buffer_atomic_add_f32"};
    tw_target target = target_named(*state);
    for (int op = TW_CACHE_LOAD; op <= TW_CACHE_ATOMIC; op++) {
        for (uint32_t policy = 0; policy < 32; policy++) {
            const char *spelling = tw_cache_policy_spelling(target, (tw_cache_op)op, policy);
            if (!spelling) continue;
            tw_context *ctx = tw_context_new(NULL);
            tw_builder *b =
                tw_kernel_begin(ctx, "policy", target, &(tw_kernel_options){.workgroup_size = 64});
            tw_value memory = tw_param_ptr(b, "memory", TW_F32, 0);
            tw_value index = tw_workitem_id(b, 0);
            tw_value size = tw_i32(b, 1 << 20);
            tw_value rsrc = tw_buffer_rsrc(b, memory, size);
            build_policy(b, (tw_cache_op)op, rsrc, index, policy);
            tw_kernel *kernel = tw_kernel_end(b);
            assert_non_null(kernel);
            char *assembly = assembly_of(compiler, kernel);
            const char *at = strstr(assembly, stems[op]);
            assert_non_null(at);
            char line[200];
            snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
            char wanted[100];
            snprintf(wanted, sizeof wanted, "offen%s%s", spelling[0] ? " " : "", spelling);
            const char *end = strstr(line, "offen");
            if (!end || strcmp(end, wanted))
                fail_msg("%s, policy %u: %s, not \"%s\"", (char *)*state, policy, line, wanted);
            free(assembly);
            tw_context_free(ctx);
        }
    }
}

int main(void) {
    struct CMUnitTest tests[32];
    size_t count = 0;
    for (size_t i = 0; i < lower_target_count; i++)
        tests[count++] =
            (struct CMUnitTest){lower_targets[i], selects, NULL, NULL, (void *)(uintptr_t)lower_targets[i]};
    static const char *const policies[] = {"gfx90a", "gfx950", "gfx1100", "gfx1201", "gfx1250"};
    for (size_t i = 0; i < COUNT_OF(policies); i++)
        tests[count++] =
            (struct CMUnitTest){policies[i], spells_policies, NULL, NULL, (void *)(uintptr_t)policies[i]};
    return _cmocka_run_group_tests("lower-select", tests, count, open_compiler, close_compiler);
}
