/* Random encodings: whatever LLVM's disassembler prints is bound without harm, and has a row or a reason. */
#include "tests/emu/harness.h"

#include <llvm-c/Disassembler.h>
#include <stdlib.h>
#include <string.h>

#include "run/emu/bind.h"

typedef struct unknown {
    const char *beginning;
    size_t length;
} unknown;
static const unknown UNKNOWNS[] = {
#define UNKNOWN(beginning, reason) {beginning, sizeof beginning - 1},
#include "tests/emu/unknown.def"
};
enum { UNKNOWN_COUNT = sizeof UNKNOWNS / sizeof UNKNOWNS[0], ROUNDS = 150000 };

static bool has_reason(const char *mnemonic, bool *met) {
    for (size_t k = 0; k < UNKNOWN_COUNT; k++) {
        if (strncmp(mnemonic, UNKNOWNS[k].beginning, UNKNOWNS[k].length)) continue;
        met[k] = true;
        return true;
    }
    return false;
}

static bool met[UNKNOWN_COUNT];

static void check_target(void **state) {
    const char *name = *state;
    tw_target target;
    tw_emu *emu; /* it sets LLVM up */
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    assert_int_equal(tw_emu_new(target, &emu, NULL), TW_OK);
    emu_table *table = tw_emu_table_new();
    emu_code *code = tw_emu_code_new(target, table, 0, NULL, 0, NULL);
    const tw_arch_info *arch = tw_arch_get(target.arch);
    LLVMDisasmContextRef disassembler = LLVMCreateDisasmCPUFeatures(
        "amdgcn-amd-amdhsa", arch->name, arch->isa == TW_ISA_GFX9 ? "" : "+real-true16", NULL, 0, NULL, NULL);
    assert_non_null(disassembler);
    emu_binder binder = {.target = target, .isa = arch->isa, .table = table};
    tw_arena_init(&binder.arena, &tw_allocator_default);
    uint32_t seed = 1;
    unsigned decoded = 0, bound = 0, unnamed = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t words[8] = {0};
        char text[512];
        for (unsigned k = 0; k < 5; k++)
            words[k] = harness_random(&seed);
        /* Small register numbers and modifiers are more often legal. */
        if (round & 1) words[0] &= 0xffff00ffu;
        if (round & 2) words[1] &= 0x07fdffffu & (words[3] | 0xffffff00u);
        if (round & 4) words[2] &= 0x0000ffffu;
        if (!LLVMDisasmInstruction(disassembler, (uint8_t *)words, 20, 0, text, sizeof text)) continue;
        char *start = text + strspn(text, " \t");
        for (char *c = start; *c; c++)
            if (*c == '\t') *c = ' ';
        emu_inst i = {.text = start};
        tw_emu_bind(&binder, start, (uint8_t *)words, &i);
        decoded++;
        assert_false(binder.failed);
        assert_non_null(i.exec);
        if (i.exec != tw_emu_exec_unknown) {
            bound++;
            continue;
        }
        assert_non_null(i.fn.any); /* it says why */
        emu_text parsed;
        const char *wrong;
        const char *reason = i.fn.any;
        if (strcmp(reason, "the mnemonic is not known")) continue;
        char *second = strstr(start, " :: ");
        size_t length = second ? (size_t)(second - start) : strlen(start);
        assert_true(tw_emu_text_parse(start, length, &parsed, &wrong));
        if (has_reason(parsed.mnemonic, met) || unnamed++ > 20) continue;
        print_error("%s: no row, and no reason in unknown.def: %s\n", name, start);
    }
    LLVMDisasmDispose(disassembler);
    tw_arena_free(&binder.arena);
    free(binder.constants);
    tw_emu_code_free(code);
    tw_emu_table_free(table);
    tw_emu_free(emu);
    assert_true(decoded > ROUNDS / 8);
    assert_true(bound > decoded / 4);
    assert_int_equal(unnamed, 0);
}

/* Nothing stands in unknown.def that has got a row. */
static void check_list(void **state) {
    (void)state;
    for (size_t r = 0; r < tw_emu_row_count(); r++) {
        bool any[UNKNOWN_COUNT];
        const char *name = tw_emu_row_at(r)->name;
        if (has_reason(name, any)) fail_msg("%s has a row and a reason in unknown.def to have none", name);
    }
}

int main(void) {
#define TARGET(name) \
    { name, check_target, NULL, NULL, name }
    /* The disassembler of LLVM 22 itself crashes on random encodings of gfx9. */
    static char names[5][8] = {"gfx1100", "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    const struct CMUnitTest tests[] = {TARGET(names[0]), TARGET(names[1]),
                                       TARGET(names[2]), TARGET(names[3]),
                                       TARGET(names[4]), {"list", check_list, NULL, NULL, NULL}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
