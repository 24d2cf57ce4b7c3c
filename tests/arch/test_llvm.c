/* What LLVM 22 makes of the tables: limits, matrix instructions, transposed reads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/matrix.h"
#include "arch/transpose.h"
#include "support/strbuf.h"
#include "tests/arch/every_target.h"
#include "tests/arch/llvm_tool.h"

/* ---- limits ---- */

static void limits_are_those_of_llvm(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        const tw_arch_info *info = tw_arch_get(on.arch);
        tw_strbuf text;
        tw_strbuf_init(&text, NULL);
        tw_strbuf_append(&text, no_inputs);
        tw_strbuf_printf(&text, "@lds = internal addrspace(3) global [%u x i8] poison\n", info->lds_bytes);
        tw_strbuf_append(
            &text,
            "define amdgpu_kernel void @full() { store volatile i8 1, ptr addrspace(3) @lds ret void }\n"
            "define amdgpu_kernel void @empty() #0 \"amdgpu-flat-work-group-size\"=\"1,1024\" { ret void "
            "}\n");
        char *assembly = llc(on, tw_strbuf_text(&text));
        tw_strbuf_free(&text);
        char line[64];
        snprintf(line, sizeof line, ".amdhsa_group_segment_fixed_size %u\n", info->lds_bytes);
        assert_non_null(strstr(assembly, line));
        const char *occupancy = strstr(strstr(assembly, "\nempty:"), "; Occupancy: ");
        assert_non_null(occupancy);
        assert_int_equal(strtoul(occupancy + strlen("; Occupancy: "), NULL, 10), info->max_waves);
        snprintf(line, sizeof line, "-amdhsa--%s\"", info->name);
        assert_non_null(strstr(assembly, line));
        assert_int_equal(kernel_metadata(assembly, "empty", ".wavefront_size:"), on.wave_size);
        free(assembly);
    }
}

/* ---- how waves start, and how stores look ---- */

static void scratch_is_set_up_as_for_llvm(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        char *assembly = llc(on, "define amdgpu_kernel void @k() { ret void }\n");
        bool flat = tw_arch_get(on.arch)->features & TW_ARCH_HAS_FLAT_SCRATCH;
        assert_int_equal(strstr(assembly, ".amdhsa_enable_private_segment ") != NULL, flat);
        assert_int_equal(strstr(assembly, ".amdhsa_system_sgpr_private_segment_wavefront_offset ") != NULL,
                         !flat);
        free(assembly);
    }
}

/* The line of the first store behind a label, malloc'ed. */
static char *store_of(const char *assembly, const char *label) {
    const char *at = strstr(assembly, label);
    assert_non_null(at);
    at = strstr(at, "\tglobal_store_");
    assert_non_null(at);
    return strndup(at, strcspn(at, "\n"));
}

static void relaxed_stores_look_as_for_llvm(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        char *assembly =
            llc(on, "define amdgpu_kernel void @plain(ptr addrspace(1) %p, i32 %v) {\n"
                    "  store i32 %v, ptr addrspace(1) %p\n  ret void\n}\n"
                    "define amdgpu_kernel void @relaxed(ptr addrspace(1) %p, i32 %v) {\n"
                    "  store atomic i32 %v, ptr addrspace(1) %p syncscope(\"agent\") monotonic, align 4\n"
                    "  ret void\n}\n");
        char *plain = store_of(assembly, "\nplain:"), *relaxed = store_of(assembly, "\nrelaxed:");
        bool alike = tw_arch_get(on.arch)->features & TW_ARCH_HAS_PLAIN_ATOMIC_STORE;
        assert_int_equal(!strcmp(plain, relaxed), alike);
        free(plain);
        free(relaxed);
        free(assembly);
    }
}

/* ---- matrix instructions ---- */

/* How the intrinsics of LLVM 22 spell an operand of `slots` elements. */
static void operand_type(char type[32], const tw_matrix_info *atom, tw_matrix_operand operand) {
    tw_matrix_format format = operand == TW_MATRIX_A ? atom->a : operand == TW_MATRIX_B ? atom->b : atom->d;
    unsigned slots = atom->slots[operand];
    bool mfma = atom->name[0] == 'm';
    const char *element = NULL;
    switch (format) {
    case TW_MATRIX_F16: element = "half"; break;
    case TW_MATRIX_BF16:
        element = atom->k == 32 || (mfma && atom->m == 32 && atom->k == 16) ? "bfloat" : "i16";
        break;
    case TW_MATRIX_F32: element = "float"; break;
    case TW_MATRIX_F64: element = "double"; break;
    case TW_MATRIX_I32: element = "i32"; break;
    default: /* bytes travel in words, 8 of them in an i64 for MFMA */
        element = mfma && slots == 8 ? "i64" : "i32";
        slots = mfma && slots == 8 ? 1 : slots / 4;
    }
    if (slots == 1) {
        snprintf(type, 32, "%s", element);
    } else {
        snprintf(type, 32, "<%u x %s>", slots, element);
    }
}

/* "<8 x half>" to ".v8f16", "i32" to ".i32". */
static void mangle(char mangled[32], const char *type) {
    static const char *const names[][2] = {
        {"half", "f16"}, {"bfloat", "bf16"}, {"float", "f32"}, {"i16", "i16"}, {"i32", "i32"}};
    char lanes[16] = "";
    if (type[0] == '<') snprintf(lanes, sizeof lanes, "v%lu", strtoul(type + 1, NULL, 10));
    const char *element = type[0] == '<' ? strstr(type, "x ") + 2 : type;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strncmp(element, names[i][0], strlen(names[i][0])))
            snprintf(mangled, 32, ".%s%s", lanes, names[i][1]);
}

static void append_multiply(tw_strbuf *text, tw_target on, const tw_matrix_info *atom, size_t index) {
    char a[32], b[32], d[32], suffix[80] = "", part[32], arguments[200];
    operand_type(a, atom, TW_MATRIX_A);
    operand_type(b, atom, TW_MATRIX_B);
    operand_type(d, atom, TW_MATRIX_D);
    if (atom->name[0] == 'w') {
        mangle(part, d);
        strcat(suffix, part);
        mangle(part, a);
        strcat(suffix, part);
    }
    if (atom->name[0] == 'm') {
        snprintf(arguments, sizeof arguments, "%s %%a, %s %%b, %s %%c, i32 0, i32 0, i32 0", a, b, d);
    } else if (on.arch == TW_ARCH_GFX1250) {
        snprintf(arguments, sizeof arguments, "i1 0, %s %%a, i1 0, %s %%b, i16 0, %s %%c, i1 0, i1 0", a, b,
                 d);
    } else if (atom->a == TW_MATRIX_I8) {
        snprintf(arguments, sizeof arguments, "i1 1, %s %%a, i1 1, %s %%b, %s %%c, i1 0", a, b, d);
    } else {
        snprintf(arguments, sizeof arguments, "%s %%a, %s %%b, %s %%c", a, b, d);
    }
    tw_strbuf_printf(text,
                     "define amdgpu_kernel void @m%zu(ptr addrspace(1) %%p) {\n"
                     "  %%a = load volatile %s, ptr addrspace(1) %%p\n"
                     "  %%b = load volatile %s, ptr addrspace(1) %%p\n"
                     "  %%c = load volatile %s, ptr addrspace(1) %%p\n"
                     "  %%d = call %s @llvm.amdgcn.%s%s(%s)\n"
                     "  store %s %%d, ptr addrspace(1) %%p\n  ret void\n}\n",
                     index, a, b, d, d, atom->name, suffix, arguments, d);
}

/* The instruction's name without what the assembler of each target writes differently:
 * "mfma.f32.16x16x16bf16.1k" and "v_mfma_f32_16x16x16_bf16" both begin with the unit, the result and the
 * sizes. */
static void expect_instruction(const char *assembly, const tw_matrix_info *atom, size_t index) {
    char label[16], mnemonic[48];
    snprintf(label, sizeof label, "\nm%zu:", index);
    const char *at = strstr(assembly, label);
    assert_non_null(at);
    const char *end = strstr(at, "s_endpgm");
    snprintf(mnemonic, sizeof mnemonic, "\tv_%.4s_%s_%ux%ux%u", atom->name, tw_matrix_format_name(atom->d),
             atom->m, atom->n, atom->k);
    at = strstr(at, mnemonic);
    if (!at || at > end) print_message("%s is not selected as%s\n", atom->name, mnemonic);
    assert_true(at && at < end);
    /* The width of the first register range is that of D. */
    unsigned first = 0, last = 0;
    const char *range = strchr(at, '[');
    assert_int_equal(sscanf(range, "[%u:%u]", &first, &last), 2);
    assert_int_equal((last - first + 1) * 32, atom->slots[TW_MATRIX_D] * tw_matrix_format_bits(atom->d));
    assert_null(strstr(assembly, "llvm.amdgcn"));
}

static void matrix_atoms_are_selected(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        tw_strbuf text;
        tw_strbuf_init(&text, NULL);
        const tw_matrix_atom *atom;
        for (size_t i = 0; (atom = tw_matrix_atom_at(on, i)); i++) {
            tw_matrix_info info = tw_matrix_atom_info(atom);
            append_multiply(&text, on, &info, i);
        }
        char *assembly = llc(on, tw_strbuf_text(&text));
        for (size_t i = 0; (atom = tw_matrix_atom_at(on, i)); i++) {
            tw_matrix_info info = tw_matrix_atom_info(atom);
            expect_instruction(assembly, &info, i);
        }
        free(assembly);
        tw_strbuf_free(&text);
    }
}

static void transposed_reads_are_selected(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        const tw_transposed_read *read = tw_transposed_lds_read(on);
        if (!read) continue;
        char text[400];
        snprintf(text, sizeof text,
                 "define amdgpu_kernel void @k(ptr addrspace(3) %%l, ptr addrspace(1) %%p) {\n"
                 "  %%v = call <%u x half> @llvm.amdgcn.%s.v%uf16(ptr addrspace(3) %%l)\n"
                 "  store <%u x half> %%v, ptr addrspace(1) %%p\n  ret void\n}\n",
                 read->slots, read->name, read->slots, read->slots);
        char *assembly = llc(on, text);
        assert_non_null(
            strstr(assembly, on.arch == TW_ARCH_GFX950 ? "\tds_read_b64_tr_b16 " : "\tds_load_tr16_b128 "));
        free(assembly);
    }
}

int main(void) {
    if (!have_llc()) return SUITE_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_those_of_llvm),        cmocka_unit_test(scratch_is_set_up_as_for_llvm),
        cmocka_unit_test(relaxed_stores_look_as_for_llvm), cmocka_unit_test(matrix_atoms_are_selected),
        cmocka_unit_test(transposed_reads_are_selected),
    };
    return cmocka_run_group_tests_name("arch-llvm", tests, NULL, NULL);
}
