#include "ir/ops_markdown.h"

#include <inttypes.h>
#include <string.h>

#include "ir/op_info.h"

/* X(class, what tables call it): classes that rows name. */
#define CLASSES(X)                           \
    X(T_INT, "int")                          \
    X(T_I32V, "i32s")                        \
    X(T_LOGIC, "logic")                      \
    X(T_FLOAT, "float")                      \
    X(T_F32V, "f32s")                        \
    X(T_FP8, "fp8")                          \
    X(T_ANY_FLOAT, "any float")              \
    X(T_LOGIC_OR_FLOAT, "logic or float")    \
    X(T_COND, "condition")                   \
    X(T_I1, "i1")                            \
    X(T_I32, "i32")                          \
    X(T_INDEX, "index")                      \
    X(T_WORD32, "word")                      \
    X(T_BITS, "bits")                        \
    X(T_DATA, "data")                        \
    X(T_ATOMIC, "atomic")                    \
    X(T_ELEMENT, "element")                  \
    X(T_VECTOR, "vector")                    \
    X(T_RSRC, "rsrc")                        \
    X(T_UNIFORM_I32, "uniform i32")          \
    X(T_UNIFORM_GPTR, "uniform pointer")     \
    X(T_UNIFORM_LPTR, "uniform LDS pointer") \
    X(T_PTR, "pointer")                      \
    X(T_GPTR, "global pointer")              \
    X(T_LPTR, "LDS pointer")                 \
    X(T_ANY, "any")                          \
    X(T_SAME0, "as 0")                       \
    X(T_SAME1, "as 1")                       \
    X(T_MORE, "...")                         \
    X(T_MORE_UNIFORM_I32, "uniform i32 ...")

static const char *const class_names[] = {
#define X(type_class, name) [type_class] = name,
    CLASSES(X)
#undef X
};

static const char *result_name(tw_result_rule rule) {
    switch (rule) {
    case R_NONE: return "";
    case R_SAME0: return "as 0";
    case R_SAME1: return "as 1";
    case R_SAME2: return "as 2";
    case R_I1_LIKE0: return "i1, lanes as 0";
    case R_ELEMENT0: return "element of 0";
    case R_I32: return "i32";
    case R_I64: return "i64";
    case R_RSRC: return "rsrc";
    case R_CARRIED: return "the carried types";
    case R_YIELDED: return "the yielded types";
    default: return class_names[tw_result_given_class(rule)];
    }
}

static const char *effect_name(tw_effect effect) {
    static const char *const names[] = {
        [E_PURE] = "pure",
        [E_CROSS_LANE] = "reads lanes",
        [E_ASYNC_COPY] = "copies, asynchronously",
        [E_WAVE_ASYNC_COPY] = "copies, asynchronously, all lanes active",
        [E_ASYNC_WAIT] = "waits for copies",
        [E_WAVE_READS_GLOBAL] = "reads global, all lanes active",
        [E_WAVE_READS_LDS] = "reads LDS, all lanes active",
        [E_WHOLE_WAVE] = "reads lanes, all active",
        [E_READS_GLOBAL] = "reads global",
        [E_WRITES_GLOBAL] = "writes global",
        [E_GLOBAL_RMW] = "reads and writes global",
        [E_READS_LDS] = "reads LDS",
        [E_WRITES_LDS] = "writes LDS",
        [E_LDS_RMW] = "reads and writes LDS",
        [E_ALLOC] = "allocates LDS",
        [E_BARRIER] = "barrier",
        [E_SCHEDULE] = "schedules",
        [E_CONTROL] = "control",
    };
    return names[effect];
}

static const char *const idents[TW_OPCODE_LIMIT] = {
#define OP(number, ENUM, ident, name, in, out, attrs, effect, rule, doc) [number] = #ident,
#include "ir/opcodes.def"
#undef OP
};

static void append_function(tw_strbuf *out, const tw_op_info *info) {
    switch (info->opcode) {
    case TW_OP_FOR: tw_strbuf_append(out, "`tw_for_begin`, `tw_for_end`"); return;
    case TW_OP_IF: tw_strbuf_append(out, "`tw_if_begin`, `tw_if_else`, `tw_if_end`"); return;
    case TW_OP_YIELD: tw_strbuf_append(out, "`tw_for_end`, `tw_if_else`, `tw_if_end`"); return;
    case TW_OP_RETURN: tw_strbuf_append(out, "`tw_kernel_end`"); return;
    default: tw_strbuf_printf(out, "`tw_%s`", idents[info->opcode]); return;
    }
}

static void append_attr(tw_strbuf *out, const tw_attr_info *attr) {
    tw_strbuf_printf(out, "`%s`", attr->name);
    switch (attr->rule) {
    case AR_INT: tw_strbuf_printf(out, " %" PRId64 "..%" PRId64, attr->min, attr->max); break;
    case AR_BOOL: tw_strbuf_append(out, " true or false"); break;
    case AR_ENUM:
        for (const char *const *word = attr->words; *word; word++)
            tw_strbuf_printf(out, " %s", *word);
        break;
    case AR_BITS: tw_strbuf_append(out, " a number"); break;
    case AR_INTS: tw_strbuf_printf(out, " a list of %" PRId64 "..%" PRId64, attr->min, attr->max); break;
    case AR_STRING: tw_strbuf_append(out, " a string"); break;
    }
    if (!attr->required) tw_strbuf_append(out, " (may be left out)");
}

/* A cell's text may not end the cell. */
static void append_cell(tw_strbuf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|') tw_strbuf_char(out, '\\');
        tw_strbuf_char(out, *text);
    }
}

static void append_row(tw_strbuf *out, const tw_op_info *info) {
    tw_strbuf_printf(out, "| %d | `%s` | ", (int)info->opcode, info->name);
    append_function(out, info);
    tw_strbuf_append(out, " | ");
    uint32_t operands = info->operand_count + info->more_operands;
    for (uint32_t i = 0; i < operands; i++)
        tw_strbuf_printf(out, "%s%s", i ? ", " : "", class_names[info->operands[i]]);
    tw_strbuf_printf(out, " | %s | ", result_name(info->result));
    for (uint32_t i = 0; i < info->attr_count; i++) {
        if (i) tw_strbuf_append(out, "; ");
        append_attr(out, &info->attrs[i]);
    }
    tw_strbuf_printf(out, " | %s | ", effect_name(info->effect));
    append_cell(out, info->doc);
    tw_strbuf_append(out, " |\n");
}

static size_t prefix_length(const char *name) { return strcspn(name, "."); }

static void append_dialect(tw_strbuf *out, const char *first_name) {
    size_t length = prefix_length(first_name);
    tw_strbuf_printf(out, "\n## %.*s\n\n", (int)length, first_name);
    tw_strbuf_append(out, "| number | op | builder | operands | result | attributes | effect | meaning |\n"
                          "|---|---|---|---|---|---|---|---|\n");
    for (int number = 1; number < TW_OPCODE_LIMIT; number++) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)number);
        if (info && prefix_length(info->name) == length && !memcmp(info->name, first_name, length))
            append_row(out, info);
    }
}

static bool is_first_of_dialect(int number) {
    const char *name = tw_op_info_get((tw_opcode)number)->name;
    size_t length = prefix_length(name);
    for (int before = 1; before < number; before++) {
        const tw_op_info *info = tw_op_info_get((tw_opcode)before);
        if (info && prefix_length(info->name) == length && !memcmp(info->name, name, length)) return false;
    }
    return true;
}

static void append_classes(tw_strbuf *out) {
    tw_strbuf_append(out, "\n## Operands\n\n| in the tables | is |\n|---|---|\n");
#define X(type_class, name) tw_strbuf_printf(out, "| %s | %s |\n", name, tw_type_class_text(type_class));
    CLASSES(X)
#undef X
}

void tw_ops_markdown(tw_strbuf *out) {
    tw_strbuf_append(
        out, "# The ops of the tile IR\n\n"
             "Generated from `ir/opcodes.def`, which is the whole truth about each op: change the row, "
             "then run\n`meson compile -C build ops-markdown`. A number never changes and is never used "
             "again.\n\n"
             "An op that only reads is not pure: nothing moves a read of LDS or of global memory across "
             "a write or a\nbarrier. \"Uniform\" operands must be the same in all active lanes of a wave, "
             "as far as the verifier can tell.\n");
    append_classes(out);
    for (int number = 1; number < TW_OPCODE_LIMIT; number++)
        if (tw_op_info_get((tw_opcode)number) && is_first_of_dialect(number))
            append_dialect(out, tw_op_info_get((tw_opcode)number)->name);
}
