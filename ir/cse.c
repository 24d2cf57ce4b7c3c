/* Common subexpressions: of two equal pure ops the later one goes, where the earlier one stands in the same
 * block or in one around it. Ops that read other lanes count only in the same block, where the same lanes are
 * active; loads never count, so nothing moves across a write or a barrier. */
#include <string.h>

#include "ir/ir.h"
#include "support/fail.h"

typedef struct entry {
    tw_op *op;
    uint32_t hash;
    uint32_t next; /* in its bucket: place + 1, 0 at the end */
} entry;

typedef struct finder {
    tw_kernel *kernel;
    tw_value *instead; /* by value: what stands for it, or poison */
    entry *entries;    /* a stack: blocks take away what they added */
    uint32_t entry_count;
    uint32_t *buckets; /* the newest entry's place + 1 */
    uint32_t bucket_mask;
    bool changed;
} finder;

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

static uint32_t hash_op(const finder *f, const tw_op *op) {
    const tw_op_info *info = tw_op_info_get(op->opcode);
    uint32_t hash = hash_type(op->opcode, tw_type_of(f->kernel, op->first_result));
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

static bool same_op(const finder *f, const tw_op *a, const tw_op *b) {
    if (a->opcode != b->opcode || a->operand_count != b->operand_count) return false;
    if (tw_type_of(f->kernel, a->first_result) != tw_type_of(f->kernel, b->first_result)) return false;
    if (memcmp(a->operands, b->operands, a->operand_count * sizeof *a->operands)) return false;
    const tw_op_info *info = tw_op_info_get(a->opcode);
    for (uint32_t i = 0; i < info->attr_count; i++)
        if (!same_attr(&a->attrs[i], &b->attrs[i])) return false;
    return true;
}

/* ---- the walk ---- */

/* The equal op that `op` may be replaced by; NULL, and `op` is kept in mind, where there is none. */
static tw_op *find_or_add(finder *f, tw_op *op, bool same_block) {
    uint32_t hash = hash_op(f, op);
    uint32_t *bucket = &f->buckets[hash & f->bucket_mask];
    for (uint32_t at = *bucket; at; at = f->entries[at - 1].next) {
        const entry *e = &f->entries[at - 1];
        if (e->hash != hash || !same_op(f, e->op, op)) continue;
        if (!same_block || e->op->parent == op->parent) return e->op;
    }
    f->entries[f->entry_count++] = (entry){op, hash, *bucket};
    *bucket = f->entry_count;
    return NULL;
}

static void rewrite_operands(finder *f, tw_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (f->instead[op->operands[i].id].id) op->operands[i] = f->instead[op->operands[i].id];
}

static void visit_block(finder *f, tw_block *block) {
    uint32_t entries_before = f->entry_count;
    for (tw_op *op = block->first, *next; op; op = next) {
        next = op->next;
        rewrite_operands(f, op);
        tw_effect effect = tw_op_info_get(op->opcode)->effect;
        if (effect == E_PURE || effect == E_CROSS_LANE || effect == E_WHOLE_WAVE) {
            const tw_op *equal = find_or_add(f, op, effect != E_PURE);
            if (equal) {
                f->instead[op->first_result.id] = equal->first_result;
                tw_block_remove(op);
                f->changed = true;
            }
        }
        for (uint32_t i = 0; i < op->block_count; i++)
            visit_block(f, &op->blocks[i]);
    }
    while (f->entry_count > entries_before) {
        const entry *e = &f->entries[--f->entry_count];
        f->buckets[e->hash & f->bucket_mask] = e->next;
    }
}

tw_status tw_pass_cse(tw_kernel *kernel, bool *changed, tw_diag *diag) {
    uint32_t ops = 0, buckets = 16;
    for (const tw_op *op = kernel->body.first; op; op = tw_op_after(op))
        ops++;
    while (buckets < ops && buckets < UINT32_MAX / 2)
        buckets *= 2;
    tw_arena scratch;
    tw_arena_init(&scratch, kernel->ctx->allocator);
    finder f = {.kernel = kernel,
                .instead = TW_ARENA_NEW(&scratch, tw_value, (size_t)kernel->value_count + 1),
                .entries = TW_ARENA_NEW(&scratch, entry, ops),
                .buckets = TW_ARENA_NEW(&scratch, uint32_t, buckets),
                .bucket_mask = buckets - 1};
    bool ok = f.instead && f.entries && f.buckets;
    if (ok) visit_block(&f, &kernel->body);
    tw_arena_free(&scratch);
    if (!ok) return tw_fail_no_memory(diag);
    *changed |= f.changed;
    kernel->verified &= !f.changed;
    return TW_OK;
}
