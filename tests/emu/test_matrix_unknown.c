/* Unknown bits in the operands of matrix instructions: results that they have a part in are unknown, and no
 * others. A kernel reads one result of one lane and branches on it, which is reported where it is unknown. */
#include <stdio.h>
#include <string.h>

#include "tests/emu/matrix_bench.h"

enum { OPERANDS = 5 };

typedef struct unknown_form {
    const char *name, *target;
    const char *text, *constraints; /* of the inline assembly */
    unsigned result;                /* words */
    unsigned words[OPERANDS];       /* of what is loaded, in the order of the assembly's operands */
} unknown_form;

static const unknown_form FORMS[] = {
    {"mfma", "gfx942", "v_mfma_f32_16x16x16_f16 $0, $1, $2, $3", "=&v,v,v,v", 4, {2, 2, 4}},
    {"wmma", "gfx1100", "v_wmma_f32_16x16x16_f16 $0, $1, $2, $3", "=&v,v,v,v", 8, {8, 8, 8}},
    {"smfmac", "gfx942", "v_smfmac_f32_16x16x32_f16 $0, $1, $2, $3", "=v,v,v,v,0", 4, {2, 4, 1, 4}},
    {"swmmac",
     "gfx1200",
     "v_swmmac_f32_16x16x32_f16 $0, $1, $2, $3 index_key:1",
     "=v,v,v,v,0",
     8,
     {4, 8, 1, 8}},
    {"swmmac64", "gfx1250", "v_swmmac_f32_16x16x128_fp8_fp8 $0, $1, $2, $3", "=v,v,v,v,0", 8, {8, 16, 2, 8}},
    {"scale",
     "gfx950",
     "v_mfma_scale_f32_16x16x128_f8f6f4 $0, $1, $2, $3, $4, $5 op_sel:[1,0,0]",
     "=&v,v,v,v,v,v",
     4,
     {8, 8, 4, 1, 1}},
    {"scale16",
     "gfx1250",
     "v_wmma_scale16_f32_16x16x128_f8f6f4 $0, $1, $2, $3, $4, $5 matrix_b_scale:MATRIX_SCALE_ROW1",
     "=&v,v,v,v,v,v",
     8,
     {16, 16, 8, 2, 2}},
};

typedef struct unknown_case {
    const char *form;
    unsigned operand, lane, word; /* what nobody wrote */
    unsigned result, from;        /* which word of the result is read, of which lane */
    bool reported;
} unknown_case;

static const unknown_case CASES[] = {
    /* Lane 3 has row 3 of A or column 3 of B; row 3 of D is word 3 of lanes 0 to 15. */
    {"mfma", 0, 3, 0, 3, 5, true},
    {"mfma", 0, 3, 0, 2, 5, false},
    {"mfma", 0, 51, 1, 3, 5, true},
    {"mfma", 1, 3, 1, 0, 19, true},
    {"mfma", 1, 3, 1, 0, 20, false},
    {"mfma", 2, 5, 1, 1, 5, true},
    {"mfma", 2, 5, 1, 0, 5, false},
    /* Row 3 is word 1 of lanes 16 to 31, which read their own copy of A. */
    {"wmma", 0, 19, 7, 1, 16, true},
    {"wmma", 0, 3, 7, 1, 16, false},
    {"wmma", 1, 20, 2, 0, 20, true},
    {"wmma", 1, 20, 2, 0, 21, false},
    /* The index is 0 all over: of each four rows of B the first one counts. */
    {"smfmac", 0, 3, 1, 3, 5, true},
    {"smfmac", 0, 3, 1, 2, 5, false},
    {"smfmac", 1, 5, 2, 0, 5, true},
    {"smfmac", 1, 5, 3, 0, 5, false},
    {"smfmac", 1, 5, 2, 0, 6, false},
    {"smfmac", 2, 3, 0, 3, 5, true},
    {"smfmac", 2, 3, 0, 2, 5, false},
    {"smfmac", 3, 5, 1, 1, 5, true},
    {"smfmac", 3, 5, 1, 0, 5, false},
    {"swmmac", 0, 19, 1, 3, 5, true},
    {"swmmac", 0, 19, 1, 2, 5, false},
    {"swmmac", 1, 5, 2, 0, 5, true},
    {"swmmac", 1, 5, 3, 0, 5, false},
    {"swmmac", 2, 19, 0, 3, 5, true},
    {"swmmac", 2, 19, 0, 3, 21, false},
    {"swmmac", 3, 5, 1, 1, 5, true},
    {"swmmac", 3, 5, 1, 0, 5, false},
    {"swmmac64", 1, 21, 3, 7, 5, true},
    {"swmmac64", 2, 19, 1, 3, 5, true},
    {"swmmac64", 2, 19, 1, 2, 5, false},
    /* Lane 16 * block + row has the scales of 32 k of a row. */
    {"scale", 0, 3, 0, 3, 5, true},
    {"scale", 3, 3, 0, 3, 5, true},
    {"scale", 3, 3, 0, 2, 5, false},
    {"scale", 4, 37, 0, 2, 5, true},
    {"scale", 4, 37, 0, 2, 6, false},
    /* The scales of row 3 and, in the upper lanes, of column 5. */
    {"scale16", 3, 3, 1, 3, 5, true},
    {"scale16", 3, 3, 1, 2, 5, false},
    {"scale16", 3, 19, 1, 3, 5, false},
    {"scale16", 4, 21, 0, 2, 5, true},
    {"scale16", 4, 21, 0, 2, 6, false},
    {"scale16", 4, 5, 0, 2, 5, false},
};

static const unknown_form *find_form(const char *name) {
    for (unsigned f = 0; f < sizeof FORMS / sizeof FORMS[0]; f++)
        if (!strcmp(FORMS[f].name, name)) return &FORMS[f];
    fail_msg("no form %s", name);
    return NULL;
}

static void append_unknown(tw_strbuf *ir, const unknown_form *f, const unknown_case *c) {
    bool comma = false;
    tw_strbuf_append(ir, MATRIX_HEAD);
    tw_strbuf_append(ir, "declare i32 @llvm.amdgcn.readlane.i32(i32, i32)\n"
                         "define amdgpu_kernel void @k(ptr addrspace(1) %d");
    for (unsigned o = 0; o < OPERANDS; o++)
        if (f->words[o]) tw_strbuf_printf(ir, ", ptr addrspace(1) %%%c", 'e' + o);
    tw_strbuf_append(ir, ") #0 {\n  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n");
    for (unsigned o = 0; o < OPERANDS; o++)
        if (f->words[o]) matrix_append_load(ir, (char)('e' + o), f->words[o]);
    tw_strbuf_append(ir, "  %r = call ");
    matrix_append_type(ir, f->result);
    tw_strbuf_printf(ir, " asm sideeffect \"s_nop 15\\0As_nop 15\\0A%s\\0As_nop 15\\0As_nop 15\", \"%s\"(",
                     f->text, f->constraints);
    for (unsigned o = 0; o < OPERANDS; o++) {
        if (!f->words[o]) continue;
        if (comma) tw_strbuf_append(ir, ", ");
        matrix_append_type(ir, f->words[o]);
        tw_strbuf_printf(ir, " %%v%c", 'e' + o);
        comma = true;
    }
    tw_strbuf_printf(ir,
                     ")\n  %%x = extractelement <%u x i32> %%r, i32 %u\n"
                     "  %%y = call i32 @llvm.amdgcn.readlane.i32(i32 %%x, i32 %u)\n"
                     "  %%z = icmp eq i32 %%y, 77\n  br i1 %%z, label %%yes, label %%no\n"
                     "yes:\n  store i32 1, ptr addrspace(1) %%d, align 4\n  ret void\nno:\n  ret void\n}\n",
                     f->result, c->result, c->from);
}

/* Zeros, but for one word, which nobody writes. */
static uint64_t partly_written(harness *h, unsigned words, unsigned waves, const unknown_case *c,
                               unsigned operand) {
    static const uint8_t ZEROS[64 * 16 * 4];
    size_t bytes = 4 * words * waves, hole = 4 * (c->lane * words + c->word);
    uint64_t at = harness_buffer(h, "operand", NULL, bytes);
    if (c->operand != operand) {
        harness_write(h, at, ZEROS, bytes);
        return at;
    }
    if (hole) harness_write(h, at, ZEROS, hole);
    if (hole + 4 < bytes) harness_write(h, at + hole + 4, ZEROS, bytes - hole - 4);
    return at;
}

static void unknown_bits(void **state) {
    const unknown_case *c = *state;
    const unknown_form *f = find_form(c->form);
    unsigned lanes = strncmp(f->target, "gfx9", 4) ? 32 : 64;
    tw_strbuf ir;
    harness h;
    harness_arg args[1 + OPERANDS];
    size_t count = 1;
    tw_strbuf_init(&ir, NULL);
    append_unknown(&ir, f, c);
    harness_open_object(&h, matrix_compile(f->target, tw_strbuf_text(&ir), ir.length), f->target);
    tw_strbuf_free(&ir);
    args[0] = PTR(harness_buffer(&h, "result", NULL, 4));
    for (unsigned o = 0; o < OPERANDS; o++)
        if (f->words[o]) args[count++] = PTR(partly_written(&h, f->words[o], lanes, c, o));
    tw_status status = harness_try(&h, "k", (tw_dim3){1, 1, 1}, (tw_dim3){lanes, 1, 1}, 0, args, count);
    if (c->reported)
        EXPECT(&h, status, "a branch depends on bits that nobody wrote");
    else
        harness_silent(&h, status);
    harness_close(&h);
}

int main(void) {
    enum { COUNT = sizeof CASES / sizeof CASES[0] };
    static struct CMUnitTest tests[COUNT];
    static char names[COUNT][64];
    for (unsigned k = 0; k < COUNT; k++) {
        const unknown_case *c = &CASES[k];
        snprintf(names[k], sizeof names[k], "%s: operand %u, lane %u, word %u, read %u of %u", c->form,
                 c->operand, c->lane, c->word, c->result, c->from);
        tests[k] = (struct CMUnitTest){names[k], unknown_bits, NULL, NULL, (void *)(uintptr_t)c};
    }
    return _cmocka_run_group_tests("unknown bits", tests, COUNT, NULL, NULL);
}
