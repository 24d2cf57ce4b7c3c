/* Common subexpressions: of two equal pure ops the later one goes, where the earlier one stands in the same
 * block or in one around it. Ops that read other lanes count only in the same block, where the same lanes are
 * active; loads never count, so nothing moves across a write or a barrier. */
#include "ir/cse.h"

#include <string.h>

struct tw_cse_entry {
    tw_op *op;
    uint32_t hash;
    uint32_t next; /* in its bucket: place + 1, 0 at the end */
};

/* ---- what makes ops equal ---- */

static uint32_t mix(uint32_t hash, uint64_t value) {
    uint64_t product = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(product >> 32);
}

static uint32_t hash_attr(uint32_t hash, const tw_attr *attr) {
    switch (attr->kind) {
    case TW_ATTR_INT: return mix(hash, (uint64_t)attr->as.i);
    case TW_ATTR_STRING:
        for (const char *s = attr->as.s; *s; s++)
            hash = mix(hash, (unsigned char)*s);
        return hash;
    case TW_ATTR_INTS:
        for (uint32_t i = 0; i < attr->as.ints.count; i++)
            hash = mix(hash, (uint64_t)attr->as.ints.values[i]);
        return hash;
    default: return hash;
    }
}

/* By what the type is, not by where it lies: the same in every run. */
static uint32_t hash_type(uint32_t hash, const tw_type *type) {
    return mix(hash, (uint64_t)type->kind | (uint64_t)type->scalar << 8 | (uint64_t)type->lanes << 16 |
                         (uint64_t)type->space << 32);
}

static uint32_t hash_op(const tw_cse *cse, const tw_op *op) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    uint32_t hash = hash_type(op->opcode, tw_type_of(cse->kernel, op->first_result));
    for (uint32_t i = 0; i < op->operand_count; i++)
        hash = mix(hash, op->operands[i].id);
    for (uint32_t i = 0; i < info->attr_count; i++)
        hash = hash_attr(hash, &op->attrs[i]);
    return hash;
}

static bool same_attr(const tw_attr *a, const tw_attr *b) {
    if (a->kind != b->kind) return false;
    switch (a->kind) {
    case TW_ATTR_NONE: return true;
    case TW_ATTR_INT: return a->as.i == b->as.i;
    case TW_ATTR_STRING: return !strcmp(a->as.s, b->as.s);
    case TW_ATTR_INTS:
        return a->as.ints.count == b->as.ints.count &&
               !memcmp(a->as.ints.values, b->as.ints.values, a->as.ints.count * sizeof(int64_t));
    default: return false; /* no pure op has another kind */
    }
}

static bool same_op(const tw_cse *cse, const tw_op *a, const tw_op *b) {
    if (a->opcode != b->opcode || a->operand_count != b->operand_count) return false;
    if (tw_type_of(cse->kernel, a->first_result) != tw_type_of(cse->kernel, b->first_result)) return false;
    if (memcmp(a->operands, b->operands, a->operand_count * sizeof *a->operands)) return false;
    const tw_op_info *info = tw_op_info_get(a->opcode);
    for (uint32_t i = 0; i < info->attr_count; i++)
        if (!same_attr(&a->attrs[i], &b->attrs[i])) return false;
    return true;
}

/* ---- the table ---- */

bool tw_cse_init(tw_cse *cse, const tw_kernel *kernel, tw_arena *arena) {
    uint32_t ops = 0, buckets = 16;
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        ops++;
    while (buckets < ops && buckets < UINT32_MAX / 2)
        buckets *= 2;
    *cse = (tw_cse){.kernel = kernel,
                    .entries = TW_ARENA_NEW(arena, tw_cse_entry, ops),
                    .buckets = TW_ARENA_NEW(arena, uint32_t, buckets),
                    .bucket_mask = buckets - 1};
    return cse->entries && cse->buckets;
}

const tw_op *tw_cse_find_or_add(tw_cse *cse, tw_op *op) {
    tw_effect effect = tw_op_info_get(op->opcode)->effect;
    if (effect != E_PURE && effect != E_CROSS_LANE && effect != E_WHOLE_WAVE) return NULL;
    uint32_t hash = hash_op(cse, op);
    uint32_t *bucket = &cse->buckets[hash & cse->bucket_mask];
    for (uint32_t at = *bucket; at; at = cse->entries[at - 1].next) {
        const tw_cse_entry *e = &cse->entries[at - 1];
        if (e->hash != hash || !same_op(cse, e->op, op)) continue;
        if (effect == E_PURE || e->op->parent == op->parent) return e->op;
    }
    cse->entries[cse->entry_count++] = (tw_cse_entry){op, hash, *bucket};
    *bucket = cse->entry_count;
    return NULL;
}

void tw_cse_forget(tw_cse *cse, uint32_t count) {
    while (cse->entry_count > count) {
        const tw_cse_entry *e = &cse->entries[--cse->entry_count];
        cse->buckets[e->hash & cse->bucket_mask] = e->next;
    }
}
