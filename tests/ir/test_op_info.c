#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/op_info.h"
#include "ir/ops_markdown.h"

static const char *docs_ops;

static void numbers_and_names_never_change(void **state) {
    (void)state;
    static const char *pinned[TW_OPCODE_LIMIT];
#define PINNED(number, ENUM, name)          \
    assert_int_equal(TW_OP_##ENUM, number); \
    assert_null(pinned[number]);            \
    pinned[number] = name;
#include "tests/ir/pinned_opcodes.def"
#undef PINNED
    for (int number = -1; number <= TW_OPCODE_LIMIT; number++) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)number);
        const char *name = number >= 0 && number < TW_OPCODE_LIMIT ? pinned[number] : NULL;
        if (!info || !name) {
            /* A row without a pin: add it to pinned_opcodes.def. A pin without a row: the op is gone. */
            assert_true(!info && !name);
            continue;
        }
        assert_int_equal(info->opcode, number);
        assert_string_equal(info->name, name);
    }
}

static void names_are_found(void **state) {
    (void)state;
    for (int number = 0; number < TW_OPCODE_LIMIT; number++) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)number);
        if (!info) continue;
        assert_ptr_equal(tw_op_info_by_name(info->name, strlen(info->name)), info);
        assert_ptr_not_equal(tw_op_info_by_name(info->name, strlen(info->name) - 1), info);
    }
    assert_null(tw_op_info_by_name("", 0));
    assert_null(tw_op_info_by_name("arith.adx", 9));
    assert_null(tw_op_info_by_name("arith.addd", 10));
}

/* What the row's macros make of IN, OUT and ATTRS. */
static void rows_become_data(void **state) {
    (void)state;
    const tw_op_info *info = tw_op_info_get(TW_OP_BUFFER_ATOMIC_FADD);
    assert_int_equal(info->operand_count, 4);
    assert_false(info->more_operands);
    assert_int_equal(info->operands[0], T_ATOMIC);
    assert_int_equal(info->operands[3], T_UNIFORM_I32);
    assert_int_equal(info->result, R_NONE);
    assert_int_equal(info->effect, E_GLOBAL_RMW);
    assert_int_equal(info->attr_count, 1);
    assert_string_equal(info->attrs[0].name, "cachepolicy");
    assert_true(info->attrs[0].required);
    assert_int_equal(info->attrs[0].min, 0);
    assert_int_equal(info->attrs[0].max, 31);

    info = tw_op_info_get(TW_OP_FOR);
    assert_int_equal(info->operand_count, 3);
    assert_true(info->more_operands);
    assert_int_equal(info->operands[3], T_MORE);

    info = tw_op_info_get(TW_OP_YIELD);
    assert_int_equal(info->operand_count, 0);
    assert_true(info->more_operands);

    info = tw_op_info_get(TW_OP_RETURN);
    assert_int_equal(info->operand_count, 0);
    assert_false(info->more_operands);
    assert_int_equal(info->attr_count, 0);

    info = tw_op_info_get(TW_OP_LDS_ALLOC);
    assert_int_equal(info->attr_count, 2);
    assert_false(info->attrs[1].required);
    assert_int_equal(info->attrs[1].default_value, 16);

    info = tw_op_info_get(TW_OP_BARRIER);
    assert_int_equal(info->attrs[0].rule, AR_ENUM);
    assert_int_equal(info->attrs[0].max, 1);
    assert_string_equal(info->attrs[0].words[1], "all");
    assert_null(info->attrs[0].words[2]);

    info = tw_op_info_get(TW_OP_FMA);
    assert_int_equal(info->operand_count, 3);
    assert_int_equal(info->operands[2], T_SAME0);
    assert_int_equal(info->result, R_SAME0);
}

static bool is_listed(const char *types, const char *name) {
    char key[64];
    snprintf(key, sizeof key, " %s ", name);
    return strstr(types, key) != NULL;
}

/* Each class against the types that belong to it, written out. */
static void classes_take_their_types(void **state) {
    (void)state;
    const struct {
        tw_type_class type_class;
        const char *types; /* of those below; " a b " */
    } rows[] = {
        {T_INT, " i32 i64 v2i32 v3i16 v4i8 "},
        {T_I32V, " i32 v2i32 "},
        {T_LOGIC, " i1 i32 i64 v2i32 v3i16 v4i8 v4i1 v32i1 "},
        {T_FLOAT, " f16 f32 v2f16 v2bf16 v4f32 "},
        {T_F32V, " f32 v4f32 "},
        {T_FP8, " fp8 v4fp8 "},
        {T_ANY_FLOAT, " f16 f32 v2f16 v2bf16 v4f32 fp8 v4fp8 "},
        {T_LOGIC_OR_FLOAT, " i1 i32 i64 v2i32 v3i16 v4i8 v4i1 v32i1 f16 f32 v2f16 v2bf16 v4f32 "},
        {T_COND, " i1 v4i1 v32i1 "},
        {T_I1, " i1 "},
        {T_I32, " i32 "},
        {T_UNIFORM_I32, " i32 "},
        {T_INDEX, " i32 i64 "},
        {T_WORD32, " i32 f32 v2f16 v2bf16 v4i8 v4fp8 "},
        {T_BITS, " i32 i64 v2i32 v3i16 v4i8 f16 f32 v2f16 v2bf16 v4f32 fp8 v4fp8 "},
        {T_DATA, " i32 i64 v2i32 v3i16 v4i8 f16 f32 v2f16 v2bf16 v4f32 fp8 v4fp8 "},
        {T_ATOMIC, " f32 v2f16 v2bf16 "},
        {T_ELEMENT, " i1 i32 i64 f16 f32 fp8 "},
        {T_VECTOR, " v2i32 v3i16 v4i8 v4i1 v32i1 v2f16 v2bf16 v4f32 v4fp8 "},
        {T_RSRC, " rsrc "},
        {T_PTR, " global lds "},
        {T_GPTR, " global "},
        {T_UNIFORM_GPTR, " global "},
        {T_LPTR, " lds "},
        {T_UNIFORM_LPTR, " lds "},
        {T_NONE, " "},
        {T_SAME0, " "},
        {T_SAME1, " "},
        {T_MORE, " "},
        {T_MORE_UNIFORM_I32, " "},
    };
    const struct {
        const char *name;
        const tw_type *type;
    } types[] = {
        {"i1", tw_type_scalar(TW_I1)},
        {"i32", tw_type_scalar(TW_I32)},
        {"i64", tw_type_scalar(TW_I64)},
        {"v2i32", tw_type_vector(TW_I32, 2)},
        {"v3i16", tw_type_vector(TW_I16, 3)},
        {"v4i8", tw_type_vector(TW_I8, 4)},
        {"v4i1", tw_type_vector(TW_I1, 4)},
        {"v32i1", tw_type_vector(TW_I1, 32)},
        {"f16", tw_type_scalar(TW_F16)},
        {"f32", tw_type_scalar(TW_F32)},
        {"v2f16", tw_type_vector(TW_F16, 2)},
        {"v2bf16", tw_type_vector(TW_BF16, 2)},
        {"v4f32", tw_type_vector(TW_F32, 4)},
        {"fp8", tw_type_scalar(TW_F8E4M3)},
        {"v4fp8", tw_type_vector(TW_F8E5M2FNUZ, 4)},
        {"rsrc", tw_type_rsrc()},
        {"token", tw_type_token()},
        {"global", tw_type_pointer(TW_F32, TW_GLOBAL)},
        {"lds", tw_type_pointer(TW_I8, TW_LDS)},
    };
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
            bool wanted = is_listed(rows[r].types, types[t].name);
            if (tw_type_in_class(types[t].type, rows[r].type_class) != wanted)
                fail_msg("%s and %s", types[t].name, tw_type_class_text(rows[r].type_class));
        }
    }
    assert_true(tw_type_in_class(tw_type_rsrc(), T_ANY));
    assert_false(tw_type_in_class(tw_type_token(), T_ANY));
    assert_false(tw_type_in_class(tw_type_vector(TW_F32, 64), T_DATA));
    assert_true(tw_type_class_is_uniform(T_RSRC));
    assert_false(tw_type_class_is_uniform(T_I32));
}

static void the_committed_reference_is_current(void **state) {
    (void)state;
    tw_strbuf text;
    tw_strbuf_init(&text, NULL);
    tw_ops_markdown(&text);
    FILE *file = fopen(docs_ops, "rb");
    assert_non_null(file);
    char *committed = calloc(1, text.length + 2);
    assert_non_null(committed);
    size_t length = fread(committed, 1, text.length + 1, file);
    fclose(file);
    committed[length] = '\0';
    /* Differs? Run `meson compile -C build ops-markdown`. */
    assert_string_equal(tw_strbuf_text(&text), committed);
    free(committed);
    tw_strbuf_free(&text);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    docs_ops = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_names_never_change),
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(rows_become_data),
        cmocka_unit_test(classes_take_their_types),
        cmocka_unit_test(the_committed_reference_is_current),
    };
    return cmocka_run_group_tests_name("op_info", tests, NULL, NULL);
}
