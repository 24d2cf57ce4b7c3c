#include "ir/name_table.h"

#include <string.h>

void tw_name_table_init(tw_name_table *table, const tw_allocator *allocator) {
    *table = (tw_name_table){.allocator = allocator ? allocator : &tw_allocator_default};
}

void tw_name_table_free(tw_name_table *table) {
    if (table->slots) table->allocator->release(table->allocator->user, table->slots);
    tw_name_table_init(table, table->allocator);
}

static uint64_t hash_name(const char *name, size_t length) {
    uint64_t hash = 0x9E3779B97F4A7C15u ^ length;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)name[i]) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* The slot that holds the name, or the free one where it belongs. */
static tw_name_entry *probe(const tw_name_table *table, const char *name, size_t length, uint64_t hash) {
    uint32_t mask = table->capacity - 1;
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        tw_name_entry *entry = &table->slots[at];
        if (!entry->name) return entry;
        if (entry->hash == hash && entry->length == length && memcmp(entry->name, name, length) == 0)
            return entry;
    }
}

static bool grow(tw_name_table *table) {
    uint32_t capacity = table->capacity ? table->capacity * 2 : 64;
    if (capacity < table->capacity) return false;
    size_t bytes = capacity * sizeof *table->slots;
    tw_name_table larger = {table->allocator, table->allocator->allocate(table->allocator->user, bytes),
                            table->count, capacity};
    if (!larger.slots) return false;
    memset(larger.slots, 0, bytes);
    for (uint32_t i = 0; i < table->capacity; i++) {
        const tw_name_entry *entry = &table->slots[i];
        if (entry->name) *probe(&larger, entry->name, entry->length, entry->hash) = *entry;
    }
    if (table->slots) table->allocator->release(table->allocator->user, table->slots);
    *table = larger;
    return true;
}

tw_name_entry *tw_name_table_find(const tw_name_table *table, const char *name, size_t length) {
    if (!table->count) return NULL;
    tw_name_entry *entry = probe(table, name, length, hash_name(name, length));
    return entry->name ? entry : NULL;
}

tw_name_entry *tw_name_table_insert(tw_name_table *table, const char *name, size_t length, uint32_t value,
                                    bool *found) {
    if (table->count >= table->capacity / 2 && !grow(table)) return NULL;
    uint64_t hash = hash_name(name, length);
    tw_name_entry *entry = probe(table, name, length, hash);
    *found = entry->name != NULL;
    if (*found) return entry;
    *entry = (tw_name_entry){name, (uint32_t)length, value, hash};
    table->count++;
    return entry;
}
