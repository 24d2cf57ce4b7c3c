/* Random encodings: whatever LLVM's disassembler prints is bound without harm, and has a row or a reason. */
#include "tests/emu/harness.h"

#include <llvm-c/Disassembler.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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
        if (tw_emu_unsafe_encoding(arch->isa, (uint8_t *)words)) continue;
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

typedef struct unsafe_sample {
    const char *target;
    uint32_t words[3];
} unsafe_sample;

/* LLVM 22 does not survive these; what it does not survive has a row in unsafe.def. */
static const unsafe_sample UNSAFE[] = {
    {"gfx90a", {0xeab1000e, 0xffefa436, 0x000051c2}}, /* MTBUF */
    {"gfx90a", {0xe0700056, 0xff75b72b, 0x00008f83}}, /* MUBUF */
    {"gfx942", {0xd28100af, 0x01d5ff20, 0x0000f234}}, /* VOP3 */
    {"gfx942", {0xd3a3f470, 0x0899fe26, 0xdcf99488}}, /* VOP3P */
    {"gfx90a", {0x42ce40f9, 0xd0f597b1, 0x00000000}}, /* SDWA: the result */
    {"gfx942", {0x15f000f9, 0x07146c42, 0x00000000}}, /* the second source of VOP2 */
    {"gfx950", {0x674700f9, 0x07312740, 0x00000000}},
};

/* In a child: whether LLVM comes back from all of one target. */
static bool survives(const unsafe_sample *sample, size_t count) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit none = {0, 0};
        uint8_t bytes[20] = {0};
        char text[512];
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGSEGV, SIG_DFL); /* not cmocka's */
        LLVMDisasmContextRef disassembler =
            LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", sample->target, "", NULL, 0, NULL, NULL);
        for (size_t k = 0; disassembler && k < count; k++) {
            memcpy(bytes, sample[k].words, sizeof sample[k].words);
            LLVMDisasmInstruction(disassembler, bytes, sizeof bytes, 0, text, sizeof text);
        }
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_third_sources(void **state) {
    (void)state;
    static const char *const TARGETS[] = {"gfx90a", "gfx942", "gfx950"};
    /* v_mul_lo_u32, v_cmp_eq_u32, v_add_u32, v_pk_mul_f32 have two sources: the third field is nobody's. */
    static const uint32_t TWO[] = {0xd2850002, 0xd0ca0002, 0xd1340002, 0xd3b14002};
    const uint32_t third = 0x101 | 0x102 << 9 | 255u << 18;
    for (size_t k = 0; k < sizeof TWO / sizeof TWO[0]; k++)
        assert_null(tw_emu_unsafe_encoding(TW_ISA_GFX9, (const uint8_t *)(uint32_t[]){TWO[k], third}));
    assert_non_null(tw_emu_unsafe_encoding(TW_ISA_GFX9, (const uint8_t *)(uint32_t[]){0xd1cb0002, third}));
    /* LLVM survives whatever is not refused. */
    for (size_t t = 0; t < sizeof TARGETS / sizeof TARGETS[0]; t++) {
        unsafe_sample samples[1024];
        size_t count = 0;
        for (uint32_t operation = 0; operation < 1024; operation++) {
            unsafe_sample s = {TARGETS[t], {0xd0000002u | operation << 16, third, 0}};
            if (!tw_emu_unsafe_encoding(TW_ISA_GFX9, (const uint8_t *)s.words)) samples[count++] = s;
        }
        assert_true(count > 500);
        assert_true(survives(samples, count));
    }
}

static void check_unsafe(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof UNSAFE / sizeof UNSAFE[0]; k++) {
        const unsafe_sample *sample = &UNSAFE[k];
        assert_non_null(tw_emu_unsafe_encoding(TW_ISA_GFX9, (const uint8_t *)sample->words));
        assert_null(tw_emu_unsafe_encoding(TW_ISA_GFX11, (const uint8_t *)sample->words));
        if (survives(sample, 1))
            print_message("%s: LLVM survives %08x %08x here\n", sample->target, sample->words[0],
                          sample->words[1]);
    }
    /* Legal neighbours: v_cmp with a scalar result where others select, v_cvt_f32_ubyte0 of VOP1, a buffer
     * load, VOP3 with inline constants. */
    static const uint32_t LEGAL[][2] = {{0x7c0000f9, 0x06068700},
                                        {0x7e0200f9, 0x07060602},
                                        {0xe0500000, 0x80000100},
                                        {0xd2c10000, 0x03fdfe80 & ~0x07fdfe00u}};
    for (size_t k = 0; k < sizeof LEGAL / sizeof LEGAL[0]; k++)
        assert_null(tw_emu_unsafe_encoding(TW_ISA_GFX9, (const uint8_t *)LEGAL[k]));
}

/* What the emulator makes of one: an instruction that says so when it is executed, and 8 bytes of code. */
static void check_refused(void **state) {
    (void)state;
    tw_target target;
    tw_emu *emu;
    assert_int_equal(tw_target_parse(UNSAFE[0].target, &target, NULL), TW_OK);
    assert_int_equal(tw_emu_new(target, &emu, NULL), TW_OK);
    emu_table *table = tw_emu_table_new();
    static const uint32_t words[] = {0xeab1000e, 0xffefa436, 0xbf810000}; /* then s_endpgm */
    emu_code *code = tw_emu_code_new(target, table, 4096, (const uint8_t *)words, sizeof words, NULL);
    const emu_inst *i = tw_emu_code_at(code, 4096);
    assert_ptr_equal(i->exec, tw_emu_exec_unknown);
    assert_string_equal(i->fn.any, "a literal constant where gfx9 has none");
    assert_string_equal(i->text, ".long 0xeab1000e, 0xffefa436");
    assert_ptr_equal(tw_emu_code_at(code, 4104)->exec, tw_emu_exec_endpgm);
    tw_emu_code_free(code);
    tw_emu_table_free(table);
    tw_emu_free(emu);
}

int main(void) {
#define TARGET(name) \
    { name, check_target, NULL, NULL, name }
    static char names[8][8] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",
                               "gfx1151", "gfx1200", "gfx1201", "gfx1250"};
    const struct CMUnitTest tests[] = {TARGET(names[0]),
                                       TARGET(names[1]),
                                       TARGET(names[2]),
                                       TARGET(names[3]),
                                       TARGET(names[4]),
                                       TARGET(names[5]),
                                       TARGET(names[6]),
                                       TARGET(names[7]),
                                       cmocka_unit_test(check_third_sources),
                                       cmocka_unit_test(check_unsafe),
                                       cmocka_unit_test(check_refused),
                                       {"list", check_list, NULL, NULL, NULL}};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
