/* Every entry of docs/llvm-bugs.md is still true of the LLVM that the library is linked with. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "tests/llvm_compiler.h"

#define PAGE_MAX    65536
#define MAX_ENTRIES 32

typedef struct entry {
    char name[96], target[48], code[96]; /* of the heading, and between the first backticks of a line */
    char next[96];                       /* what the line behind that of `code` begins with: may be any */
    bool by_hand;                        /* nothing here can check it */
    char *program;
} entry;

static char page[PAGE_MAX];
static entry entries[MAX_ENTRIES];
/* What stands between backticks in the section's line that begins with `label`; "" where nothing does. */
static void quoted(const char *section, const char *end, const char *label, char *out, size_t size) {
    out[0] = '\0';
    const char *at = strstr(section, label);
    if (!at || at > end) fail_msg("an entry has no line \"%s\"", label);
    size_t line = strcspn(at, "\n");
    const char *open = memchr(at, '`', line);
    if (open) snprintf(out, size, "%.*s", (int)strcspn(open + 1, "`\n"), open + 1);
}

static size_t read_page(void) {
    static const char fence[] = "```llvm\n";
    FILE *file = fopen(SOURCE_ROOT "/docs/llvm-bugs.md", "rb");
    if (!file) return 0;
    page[fread(page, 1, PAGE_MAX - 1, file)] = '\0';
    fclose(file);
    size_t count = 0;
    for (const char *at = strstr(page, "\n## "); at && count < MAX_ENTRIES; at = strstr(at + 1, "\n## ")) {
        entry *e = &entries[count++];
        const char *program = strstr(at, fence),
                   *end = program ? strstr(program + sizeof fence, "```") : NULL;
        if (!end) return 0;
        snprintf(e->name, sizeof e->name, "%.*s", (int)strcspn(at + 4, "\n"), at + 4);
        quoted(at, end, "- Target: ", e->target, sizeof e->target);
        quoted(at, end, "- Machine code: ", e->code, sizeof e->code);
        const char *then = strstr(at, "` and then `");
        if (then && then < end) quoted(then, end, " and then ", e->next, sizeof e->next);
        const char *by_hand = strstr(at, "- Machine code: checked by hand");
        e->by_hand = by_hand && by_hand < end;
        program += sizeof fence - 1;
        e->program = strndup(program, (size_t)(end - program));
    }
    return count;
}

/* The page is about one release. */
static bool is_known_llvm(tw_target target) {
    tw_compiler_choice choice;
    return !tw_compiler_choose(compiler, target, &choice, NULL) && choice.flavor == TW_FLAVOR_LLVM22;
}

/* A program that the compiler does not survive, or may not. */
static void crashes(const entry *e, tw_target target) {
    const tw_worker_limits limits = {.milliseconds = 20000, .memory_bytes = (uint64_t)1 << 30};
    tw_code_object *object = NULL;
    tw_status status =
        tw_compile_llvm_ir(compiler, e->program, strlen(e->program), target,
                           &(tw_compile_options){.worker = &limits, .name = e->name}, &object, NULL);
    tw_code_object_release(object);
    if (status) return;
    if (!strstr(e->name, "scheduling")) fail_msg("%s: compiles", e->name);
    print_message("%s: memory happens to be such that it compiles\n", e->name);
    skip();
}

static bool has_code(const entry *e, const char *assembly) {
    for (const char *at = assembly; (at = strstr(at, e->code)); at++) {
        const char *line = at + strcspn(at, "\n");
        line += strspn(line, "\n\t ");
        if (!strncmp(line, e->next, strlen(e->next))) return true;
    }
    return false;
}

static void is_still_so(void **state) {
    const entry *e = *state;
    tw_target target;
    assert_int_equal(tw_target_parse(e->target, &target, NULL), TW_OK);
    if (e->by_hand || !is_known_llvm(target)) {
        print_message("%s: %s\n", e->name, e->by_hand ? "checked by hand" : "the page is about another LLVM");
        skip();
    }
    if (!e->code[0]) {
        crashes(e, target);
        return;
    }
    char *assembly = NULL;
    tw_diag *diag = tw_diag_new(NULL);
    if (tw_compile_to_assembly(compiler, e->program, strlen(e->program), target, NULL, &assembly, diag))
        fail_msg("%s", tw_diag_text(diag));
    tw_diag_free(diag);
    const bool found = has_code(e, assembly);
    if (!found) print_error("%s\n", assembly);
    free(assembly);
    assert_true(found);
}

int main(void) {
    static struct CMUnitTest tests[MAX_ENTRIES];
    size_t count = read_page();
    for (size_t i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){entries[i].name, is_still_so, NULL, NULL, &entries[i]};
    if (count < 12) {
        fprintf(stderr, "docs/llvm-bugs.md has %zu entries that can be read\n", count);
        return 1;
    }
    int failed = _cmocka_run_group_tests("llvm_bugs", tests, count, open_compiler, close_compiler);
    for (size_t i = 0; i < count; i++)
        free(entries[i].program);
    return failed;
}
