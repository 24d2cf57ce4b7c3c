/* The memory that contexts and kernels live in. */
#ifndef TW_SUPPORT_ARENA_H
#define TW_SUPPORT_ARENA_H

#include "support/alloc.h"

extern const tw_allocator tw_allocator_default; /* malloc and free */

typedef struct tw_arena_chunk tw_arena_chunk;

/* A bump allocator: everything is freed at once. Zero-initialised apart from `allocator` it is ready to use.
 * One thread at a time. */
typedef struct tw_arena {
    const tw_allocator *allocator; /* must outlive the arena */
    tw_arena_chunk *chunks;        /* newest first */
    size_t used, capacity;         /* of the newest chunk */
} tw_arena;

void tw_arena_init(tw_arena *arena, const tw_allocator *allocator);
void tw_arena_free(tw_arena *arena);
/* Zeroed, aligned for any object; NULL when memory is out or `count * bytes` overflows. */
void *tw_arena_alloc(tw_arena *arena, size_t count, size_t bytes);
/* A terminated copy of the first `length` bytes; NULL when memory is out. */
char *tw_arena_strndup(tw_arena *arena, const char *text, size_t length);

#define TW_ARENA_NEW(arena, type, count) ((type *)tw_arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
