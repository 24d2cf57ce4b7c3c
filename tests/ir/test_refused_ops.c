/* Ops that break one rule each are refused with one text by the builder, the verifier and the lowerer. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "lower/lower.h"

#define LIST_MAX 8

typedef struct row {
    const char *target, *op, *operands, *given, *attrs, *text;
} row;

static const row rows[] = {
#define REFUSED(target, op, operands, given, attrs, text) {target, op, operands, given, attrs, text},
#include "tests/ir/refused_ops.def"
#undef REFUSED
};

/* ---- what the words of a row stand for ---- */

static tw_scalar scalar_named(const char *name) {
    for (int s = 0; s < TW_SCALAR_COUNT; s++)
        if (!strcmp(tw_scalar_name((tw_scalar)s), name)) return (tw_scalar)s;
    fail_msg("no scalar %s", name);
    return TW_I1;
}

static const tw_type *type_named(const char *name) {
    if (!*name) return NULL;
    if (!strcmp(name, "rsrc")) return tw_type_rsrc();
    if (name[0] == 'p') return tw_type_pointer(scalar_named(name + 1), TW_GLOBAL);
    if (name[0] == 'l') return tw_type_pointer(scalar_named(name + 1), TW_LDS);
    if (name[0] != 'v') return tw_type_scalar(scalar_named(name));
    char *rest;
    unsigned lanes = (unsigned)strtoul(name + 1, &rest, 10);
    return tw_type_vector(scalar_named(rest), lanes);
}

/* Some value of the type. `memory`: a parameter of the pointer's type, where the row has one. */
static tw_value value_of(tw_builder *b, const tw_type *type, tw_value memory) {
    if (type->kind == TW_TYPE_RSRC) {
        tw_value bytes = tw_i32(b, 64);
        return tw_buffer_rsrc(b, memory, bytes);
    }
    if (type->kind == TW_TYPE_POINTER)
        return type->space == TW_GLOBAL ? memory : tw_lds_alloc(b, type->scalar, 16, 16);
    if (!tw_scalar_is_fp8(type->scalar)) return tw_constant(b, type, 1);
    tw_value bytes = tw_constant(b, tw_type_vector(TW_I8, type->lanes), 1);
    return tw_bitcast(b, bytes, type);
}

static tw_attr attr_named(char *text, int64_t *list) {
    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return (tw_attr){.kind = TW_ATTR_BOOL, .as.b = text[0] == 't'};
    if (text[0] == '"') {
        text[strlen(text) - 1] = '\0';
        return (tw_attr){.kind = TW_ATTR_STRING, .as.s = text + 1};
    }
    if (text[0] == '[') {
        uint32_t count = 0;
        for (char *at = text; *at != ']'; list[count++] = strtol(at + 1, &at, 10))
            assert_true(count < LIST_MAX);
        return (tw_attr){.kind = TW_ATTR_INTS, .as.ints = {list, count}};
    }
    if (strchr(text, '.')) return (tw_attr){.kind = TW_ATTR_FLOAT, .as.f = strtod(text, NULL)};
    return (tw_attr){.kind = TW_ATTR_INT, .as.i = strtol(text, NULL, 10)};
}

typedef struct parts {
    char text[256];
    const tw_op_info *info;
    const tw_type *given, *types[LIST_MAX];
    tw_value operands[LIST_MAX];
    tw_named_attr attrs[LIST_MAX];
    int64_t lists[LIST_MAX][LIST_MAX];
    unsigned operand_count, attr_count;
} parts;

static void read_row(const row *r, parts *p) {
    *p = (parts){.info = tw_op_info_by_name(r->op, strlen(r->op)), .given = type_named(r->given)};
    assert_non_null(p->info);
    snprintf(p->text, sizeof p->text, "%s", r->operands);
    for (char *rest, *word = strtok_r(p->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        p->types[p->operand_count++] = type_named(word);
    snprintf(p->text, sizeof p->text, "%s", r->attrs);
    for (char *rest, *word = strtok_r(p->text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        *equals = '\0';
        p->attrs[p->attr_count] = (tw_named_attr){word, attr_named(equals + 1, p->lists[p->attr_count])};
        p->attr_count++;
    }
}

/* ---- the ways ---- */

static tw_builder *begin(tw_context *ctx, const row *r, parts *p) {
    tw_target target;
    assert_int_equal(tw_target_parse(r->target, &target, NULL), TW_OK);
    /* Whole waves of 32, not of 64. */
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 96});
    tw_value memory[LIST_MAX] = {{0}};
    for (unsigned i = 0; i < p->operand_count; i++) {
        const tw_type *type = p->types[i];
        bool pointer = type->kind == TW_TYPE_POINTER && type->space == TW_GLOBAL;
        char name[16];
        snprintf(name, sizeof name, "m%u", i);
        if (pointer || type->kind == TW_TYPE_RSRC)
            memory[i] = tw_param_ptr(b, name, pointer ? type->scalar : TW_I8, 0);
    }
    for (unsigned i = 0; i < p->operand_count; i++)
        p->operands[i] = value_of(b, p->types[i], memory[i]);
    assert_string_equal(tw_context_diagnostics(ctx), "");
    return b;
}

static void through_builder(tw_context *ctx, const row *r, parts *p) {
    tw_builder *b = begin(ctx, r, p);
    tw_value result =
        tw_build_op(b, p->info->opcode, p->given, p->operands, p->operand_count, p->attrs, p->attr_count);
    assert_int_equal(result.id, 0);
    assert_true(tw_builder_failed(b));
    assert_null(tw_kernel_end(b));
}

/* A kernel that holds the op, although no rule was asked. */
static tw_kernel *through_memory(tw_context *ctx, const row *r, parts *p) {
    tw_kernel *kernel = tw_kernel_end(begin(ctx, r, p));
    assert_non_null(kernel);
    tw_op *op = tw_op_new(kernel, p->info->opcode, p->operand_count, 0);
    memcpy(op->operands, p->operands, p->operand_count * sizeof op->operands[0]);
    for (unsigned i = 0; i < p->attr_count; i++)
        for (unsigned a = 0; a < p->info->attr_count; a++)
            if (!strcmp(p->info->attrs[a].name, p->attrs[i].name)) op->attrs[a] = p->attrs[i].value;
    const tw_type *type = p->given ? p->given : tw_op_result_type(kernel, op);
    if (type) assert_true(tw_op_add_results(kernel, op, &type, 1));
    tw_block_insert_before(kernel->body.last, op);
    return kernel;
}

static bool check_text(const row *r, const char *way, const char *got) {
    char expected[512];
    snprintf(expected, sizeof expected, "k: error: %s: %s\n", r->op, r->text);
    if (!strcmp(expected, got)) return true;
    print_error("%s through the %s\n  expected %s  got      %s\n", r->op, way, expected, got);
    return false;
}

static void each_row_is_refused_with_one_text(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        parts p;
        tw_context *ctx = tw_context_new(NULL);
        read_row(&rows[i], &p);
        through_builder(ctx, &rows[i], &p);
        wrong += !check_text(&rows[i], "builder", tw_context_diagnostics(ctx));
        tw_diag_clear(tw_context_diag(ctx));

        tw_kernel *kernel = through_memory(ctx, &rows[i], &p);
        tw_status status = tw_kernel_verify(kernel, tw_context_diag(ctx));
        assert_true(status == TW_ERR_INVALID || status == TW_ERR_UNSUPPORTED);
        assert_int_equal(tw_kernel_verify(kernel, NULL), status);
        wrong += !check_text(&rows[i], "verifier", tw_context_diagnostics(ctx));
        tw_diag_clear(tw_context_diag(ctx));

        char *text = NULL;
        assert_int_equal(tw_lower(kernel, TW_FLAVOR_LLVM22, &text, NULL, tw_context_diag(ctx)), status);
        assert_null(text);
        wrong += !check_text(&rows[i], "lowerer", tw_context_diagnostics(ctx));
        tw_context_free(ctx);
    }
    assert_int_equal(wrong, 0);
}

/* The target's lack is another thing than a broken rule. */
static void a_lack_of_the_target_has_its_status(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *text = rows[i].text;
        bool lacks = strstr(text, "atomic of the target") || strstr(text, "fp8 format on") ||
                     strstr(text, "must convert fp8") || strstr(text, "needs gfx") ||
                     strstr(text, "needs a wave") || strstr(text, "elements of the tile IR");
        parts p;
        tw_context *ctx = tw_context_new(NULL);
        read_row(&rows[i], &p);
        through_builder(ctx, &rows[i], &p);
        assert_int_equal(tw_diag_get(tw_context_diag(ctx), 0)->status,
                         lacks ? TW_ERR_UNSUPPORTED : TW_ERR_INVALID);
        tw_context_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_refused_with_one_text),
        cmocka_unit_test(a_lack_of_the_target_has_its_status),
    };
    return cmocka_run_group_tests_name("refused_ops", tests, NULL, NULL);
}
