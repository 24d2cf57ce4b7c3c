/* What values are called in texts: the tile IR's and LLVM's. */
#ifndef TW_IR_VALUE_NAMES_H
#define TW_IR_VALUE_NAMES_H

#include "ir/ir.h"
#include "ir/name_table.h"
#include "support/strbuf.h"

typedef struct tw_value_name {
    const char *text; /* not terminated; NULL: the value is called by its number */
    uint32_t length, number;
    bool known; /* stands in the text */
} tw_value_name;

typedef struct tw_value_names {
    const tw_kernel *kernel;
    tw_arena arena;
    tw_name_table used;
    tw_value_name *names; /* by value id */
    uint32_t next_number;
    bool failed; /* memory ran out */
} tw_value_names;

/* Names all values in the order of the text, so that two kernels that are built alike, or read back from
 * their text, read alike. False when memory is out; free the names in both cases. The kernel must outlive
 * them. */
bool tw_value_names_init(tw_value_names *names, const tw_kernel *kernel, const tw_allocator *allocator);
void tw_value_names_free(tw_value_names *names);
/* An i32 constant has no line of its own and no name: it stands where it is used. */
bool tw_value_is_inline(const tw_kernel *kernel, tw_value value);

#endif
