/* How the kernels of tests/lower/op_kernels.c get their operands and keep their results. */
#ifndef TW_TESTS_LOWER_OP_MAKER_H
#define TW_TESTS_LOWER_OP_MAKER_H

#include "ir/build.h"
#include "ir/op_info.h"

typedef struct maker {
    tw_builder *b;
    unsigned how;
    tw_value pointers[TW_SCALAR_COUNT];
    tw_value tid;
    uint32_t items; /* of the workgroup */
    uint32_t place; /* of the next access, in elements */
} maker;

/* Lanes for the tests: 1, 2, 3 and, in wide kernels, 4, 5 and 8. The next one, 0 past the end. */
unsigned maker_next_lanes(const maker *m, unsigned lanes);
bool maker_is_data(const tw_type *type);
unsigned maker_padded_lanes(const tw_type *type); /* a power of two */
/* A place for a value of `type` that no other access and no other work-item has. */
tw_value maker_next_index(maker *m, const tw_type *type, bool uniform);
/* The same as a byte offset. */
tw_value maker_next_offset(maker *m, const tw_type *type, bool uniform);
/* A resource of all there is behind the pointer. */
tw_value maker_whole_buffer(maker *m, tw_scalar scalar);
bool maker_has(const maker *m, tw_arch_feature feature);
/* A value of any type from memory, and one to memory. */
tw_value maker_load(maker *m, const tw_type *type);
void maker_store(maker *m, tw_value value);

#endif
