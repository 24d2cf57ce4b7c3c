#include "ir/kernel.h"

#include <string.h>

#include "ir/ir.h"

#define FIRST_VALUES 64

tw_kernel *tw_kernel_new(tw_context *ctx, const char *name, size_t name_length, tw_target target,
                         const tw_kernel_options *options) {
    const tw_allocator *allocator = ctx->allocator;
    tw_kernel *kernel = allocator->allocate(allocator->user, sizeof *kernel);
    if (!kernel) return NULL;
    *kernel = (tw_kernel){.ctx = ctx, .target = target};
    if (options) kernel->options = *options;
    tw_arena_init(&kernel->arena, allocator);
    kernel->name = tw_arena_strndup(&kernel->arena, name, name_length);
    kernel->values = TW_ARENA_NEW(&kernel->arena, tw_value_info, FIRST_VALUES);
    if (!kernel->name || !kernel->values) {
        tw_arena_free(&kernel->arena);
        allocator->release(allocator->user, kernel);
        return NULL;
    }
    kernel->value_capacity = FIRST_VALUES;
    kernel->next = ctx->kernels;
    if (ctx->kernels) ctx->kernels->prev = kernel;
    ctx->kernels = kernel;
    return kernel;
}

void tw_kernel_free(tw_kernel *kernel) {
    if (!kernel) return;
    tw_context *ctx = kernel->ctx;
    if (kernel->prev) {
        kernel->prev->next = kernel->next;
    } else {
        ctx->kernels = kernel->next;
    }
    if (kernel->next) kernel->next->prev = kernel->prev;
    tw_arena_free(&kernel->arena);
    ctx->allocator->release(ctx->allocator->user, kernel);
}

const char *tw_kernel_name(const tw_kernel *kernel) { return kernel->name; }

tw_target tw_kernel_target(const tw_kernel *kernel) { return kernel->target; }

tw_kernel_options tw_kernel_get_options(const tw_kernel *kernel) { return kernel->options; }

const tw_type *tw_kernel_value_type(const tw_kernel *kernel, tw_value value) {
    return value.id <= kernel->value_count ? kernel->values[value.id].type : NULL;
}

/* Room for `extra` more values. The arena keeps the old array: doubling bounds what that costs. */
static bool reserve_values(tw_kernel *kernel, uint32_t extra) {
    if (extra < kernel->value_capacity - kernel->value_count) return true;
    if (extra > UINT32_MAX / 4 || kernel->value_count > UINT32_MAX / 4) return false;
    uint32_t capacity = kernel->value_capacity * 2;
    while (capacity - kernel->value_count <= extra)
        capacity *= 2;
    tw_value_info *values = TW_ARENA_NEW(&kernel->arena, tw_value_info, capacity);
    if (!values) return false;
    memcpy(values, kernel->values, ((size_t)kernel->value_count + 1) * sizeof *values);
    kernel->values = values;
    kernel->value_capacity = capacity;
    return true;
}

tw_value tw_value_new(tw_kernel *kernel, const tw_type *type, tw_op *op, tw_block *block, uint32_t index) {
    if (!reserve_values(kernel, 1)) return (tw_value){0};
    tw_value value = {++kernel->value_count};
    kernel->values[value.id] = (tw_value_info){.type = type, .op = op, .block = block, .index = index};
    return value;
}

/* Arrays that grow by one keep their capacity implied: the next power of two from 4 on. */
static void *grow(tw_kernel *kernel, void *array, uint32_t count, size_t size) {
    bool full = count == 0 || (count >= 4 && (count & (count - 1)) == 0);
    if (!full) return array;
    if (count > UINT32_MAX / 2) return NULL;
    void *larger = tw_arena_alloc(&kernel->arena, count ? (size_t)count * 2 : 4, size);
    if (larger && count) memcpy(larger, array, count * size);
    return larger;
}

bool tw_block_add_arg(tw_kernel *kernel, tw_block *block, const tw_type *type, tw_value *out) {
    tw_value *args = grow(kernel, block->args, block->arg_count, sizeof *args);
    if (!args) return false;
    block->args = args;
    tw_value value = tw_value_new(kernel, type, NULL, block, block->arg_count);
    if (!value.id) return false;
    args[block->arg_count++] = value;
    if (out) *out = value;
    return true;
}

bool tw_kernel_add_param(tw_kernel *kernel, const char *name, size_t name_length, const tw_type *type,
                         unsigned flags, tw_value *out) {
    uint32_t index = kernel->body.arg_count;
    tw_param_info *params = grow(kernel, kernel->params, index, sizeof *params);
    if (!params) return false;
    kernel->params = params;
    char *kept = tw_arena_strndup(&kernel->arena, name, name_length);
    tw_value value = {0};
    if (!kept || !tw_block_add_arg(kernel, &kernel->body, type, &value)) return false;
    params[index] = (tw_param_info){kept, flags};
    kernel->values[value.id].name = kept;
    if (out) *out = value;
    return true;
}

static size_t padded(size_t bytes) { return (bytes + 15) & ~(size_t)15; }

/* One piece of memory an op: most kernels are many small ops. */
tw_op *tw_op_new(tw_kernel *kernel, tw_opcode opcode, uint32_t operand_count, uint32_t block_count) {
    const tw_op_info *info = tw_op_info_get(opcode);
    if (!info || operand_count > UINT32_MAX / 64) return NULL;
    size_t op_bytes = padded(sizeof(tw_op));
    /* At least one: the folder turns ops into constants where they stand. */
    size_t attr_bytes = padded((info->attr_count ? info->attr_count : 1) * sizeof(tw_attr));
    size_t block_bytes = padded(block_count * sizeof(tw_block));
    size_t operand_bytes = operand_count * sizeof(tw_value);
    char *memory = tw_arena_alloc(&kernel->arena, op_bytes + attr_bytes + block_bytes + operand_bytes, 1);
    if (!memory) return NULL;
    kernel->verified = false;
    tw_op *op = (tw_op *)memory;
    op->opcode = opcode;
    op->operand_count = operand_count;
    op->block_count = block_count;
    op->attrs = (tw_attr *)(memory + op_bytes);
    op->blocks = block_count ? (tw_block *)(memory + op_bytes + attr_bytes) : NULL;
    op->operands = (tw_value *)(memory + op_bytes + attr_bytes + block_bytes);
    for (uint32_t i = 0; i < block_count; i++)
        op->blocks[i].parent = op;
    return op;
}

bool tw_op_add_results(tw_kernel *kernel, tw_op *op, const tw_type *const *types, uint32_t count) {
    if (!reserve_values(kernel, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        tw_value value = tw_value_new(kernel, types[i], op, NULL, i);
        if (!i) op->first_result = value;
    }
    op->result_count = count;
    return true;
}

void tw_block_append(tw_block *block, tw_op *op) {
    op->parent = block;
    op->prev = block->last;
    op->next = NULL;
    if (block->last) {
        block->last->next = op;
    } else {
        block->first = op;
    }
    block->last = op;
}

void tw_block_insert_before(tw_op *place, tw_op *op) {
    tw_block *block = place->parent;
    op->parent = block;
    op->prev = place->prev;
    op->next = place;
    if (place->prev) {
        place->prev->next = op;
    } else {
        block->first = op;
    }
    place->prev = op;
}

void tw_block_remove(tw_op *op) {
    tw_block *block = op->parent;
    if (op->prev) {
        op->prev->next = op->next;
    } else {
        block->first = op->next;
    }
    if (op->next) {
        op->next->prev = op->prev;
    } else {
        block->last = op->prev;
    }
    op->parent = NULL;
    op->prev = op->next = NULL;
}

static const tw_attr_info *find_attr(const tw_op *op, const char *name, size_t *index) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    for (size_t i = 0; info && i < info->attr_count; i++) {
        if (strcmp(info->attrs[i].name, name)) continue;
        *index = i;
        return &info->attrs[i];
    }
    return NULL;
}

const tw_attr *tw_op_attr(const tw_op *op, const char *name) {
    size_t index;
    return find_attr(op, name, &index) ? &op->attrs[index] : NULL;
}

int64_t tw_op_attr_value(const tw_op *op, const char *name) {
    size_t index;
    const tw_attr_info *info = find_attr(op, name, &index);
    if (!info) return 0;
    const tw_attr *attr = &op->attrs[index];
    switch (attr->kind) {
    case TW_ATTR_INT: return attr->as.i;
    case TW_ATTR_BOOL: return attr->as.b;
    default: return info->default_value;
    }
}
