#include "ir/value_names.h"

#include <string.h>

#include "ir/rules.h"

#define SUFFIX_MAX 11 /* "_4294967295" */

/* A name that no value so far has: the wanted one or with the first free suffix (cut where the two would be
 * longer than names may be). The table's value of a name is the last suffix that was tried for it. */
static const char *unique_name(tw_value_names *names, const char *wanted, size_t *length) {
    size_t base_length = strlen(wanted);
    bool found;
    tw_name_entry *entry = tw_name_table_insert(&names->used, wanted, base_length, 0, &found);
    if (!entry) return NULL;
    *length = base_length;
    if (!found) return wanted;
    size_t kept = base_length < TW_NAME_MAX - SUFFIX_MAX ? base_length : TW_NAME_MAX - SUFFIX_MAX;
    char *name = TW_ARENA_NEW(&names->arena, char, kept + SUFFIX_MAX);
    if (!name) return NULL;
    memcpy(name, wanted, kept);
    for (uint32_t suffix = entry->value + 1;; suffix++) {
        char digits[10];
        size_t count = 0;
        for (uint32_t rest = suffix; rest; rest /= 10)
            digits[count++] = (char)('0' + rest % 10);
        name[kept] = '_';
        for (size_t i = 0; i < count; i++)
            name[kept + 1 + i] = digits[count - 1 - i];
        *length = kept + 1 + count;
        if (!tw_name_table_insert(&names->used, name, *length, 0, &found)) return NULL;
        if (found) continue;
        tw_name_table_find(&names->used, wanted, base_length)->value = suffix;
        return name;
    }
}

static void define(tw_value_names *names, tw_value value) {
    tw_value_name *name = &names->names[value.id];
    const char *wanted = tw_value_get(names->kernel, value)->name;
    name->known = true;
    if (!wanted || !wanted[0]) {
        name->number = names->next_number++;
    } else {
        size_t length = 0;
        name->text = unique_name(names, wanted, &length);
        name->length = (uint32_t)length;
        if (!name->text) names->failed = true;
    }
}

static void define_args(tw_value_names *names, const tw_block *block) {
    for (uint32_t i = 0; i < block->arg_count; i++)
        define(names, block->args[i]);
}

static void define_block(tw_value_names *names, const tw_block *block) {
    for (const tw_op *op = block->first; op; op = op->next) {
        if (op->opcode == TW_OP_CONSTANT && op->result_count &&
            tw_value_is_inline(names->kernel, op->first_result))
            continue;
        for (uint32_t i = 0; i < op->result_count; i++)
            define(names, tw_op_result(op, i));
        for (uint32_t i = 0; i < op->block_count; i++) {
            define_args(names, &op->blocks[i]);
            define_block(names, &op->blocks[i]);
        }
    }
}

bool tw_value_names_init(tw_value_names *names, const tw_kernel *kernel, const tw_allocator *allocator) {
    *names = (tw_value_names){.kernel = kernel};
    tw_arena_init(&names->arena, allocator);
    tw_name_table_init(&names->used, allocator);
    names->names = TW_ARENA_NEW(&names->arena, tw_value_name, (size_t)kernel->value_count + 1);
    if (!names->names) return false;
    define_args(names, &kernel->body);
    define_block(names, &kernel->body);
    return !names->failed;
}

void tw_value_names_free(tw_value_names *names) {
    tw_name_table_free(&names->used);
    tw_arena_free(&names->arena);
}

bool tw_value_is_inline(const tw_kernel *kernel, tw_value value) {
    const tw_value_info *info = tw_value_get(kernel, value);
    return info->type == tw_type_scalar(TW_I32) && info->op && info->op->opcode == TW_OP_CONSTANT &&
           info->op->attrs[0].kind == TW_ATTR_INT;
}
