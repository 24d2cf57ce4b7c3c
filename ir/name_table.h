/* A map from names to 32-bit numbers, for the parser and the printer. */
#ifndef TW_IR_NAME_TABLE_H
#define TW_IR_NAME_TABLE_H

#include "support/arena.h"

typedef struct tw_name_entry {
    const char *name; /* not terminated */
    uint32_t length;
    uint32_t value; /* the user's */
    uint64_t hash;
} tw_name_entry;

typedef struct tw_name_table {
    const tw_allocator *allocator;
    tw_name_entry *slots;
    uint32_t count, capacity;
} tw_name_table;

void tw_name_table_init(tw_name_table *table, const tw_allocator *allocator);
void tw_name_table_free(tw_name_table *table);
/* NULL where there is no such name. Valid until the next insertion. */
tw_name_entry *tw_name_table_find(const tw_name_table *table, const char *name, size_t length);
/* The entry of `name`, new with `value` if there was none (*found says which). The table keeps the pointer:
 * the bytes must outlive it. NULL when memory is out. */
tw_name_entry *tw_name_table_insert(tw_name_table *table, const char *name, size_t length, uint32_t value,
                                    bool *found);

#endif
