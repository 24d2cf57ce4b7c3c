#include "support/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

static void *default_allocate(void *user, size_t bytes) {
    (void)user;
    return malloc(bytes);
}

static void default_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

const tw_allocator tw_allocator_default = {default_allocate, default_release, NULL};

struct tw_arena_chunk {
    tw_arena_chunk *next;
    alignas(max_align_t) unsigned char bytes[];
};

#define FIRST_CHUNK ((size_t)4096)
#define CHUNK_LIMIT ((size_t)1 << 20)

void tw_arena_init(tw_arena *arena, const tw_allocator *allocator) {
    *arena = (tw_arena){.allocator = allocator ? allocator : &tw_allocator_default};
}

void tw_arena_free(tw_arena *arena) {
    tw_arena_chunk *chunk = arena->chunks;
    while (chunk) {
        tw_arena_chunk *next = chunk->next;
        arena->allocator->release(arena->allocator->user, chunk);
        chunk = next;
    }
    arena->chunks = NULL;
    arena->used = arena->capacity = 0;
}

static bool add_chunk(tw_arena *arena, size_t bytes) {
    /* Double up to the limit, so that small kernels stay small and large ones do few allocations. */
    size_t capacity = arena->capacity ? arena->capacity * 2 : FIRST_CHUNK;
    if (capacity > CHUNK_LIMIT) capacity = CHUNK_LIMIT;
    if (capacity < bytes) capacity = bytes;
    if (capacity > SIZE_MAX - sizeof(tw_arena_chunk)) return false;
    tw_arena_chunk *chunk = arena->allocator->allocate(arena->allocator->user, sizeof *chunk + capacity);
    if (!chunk) return false;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->used = 0;
    arena->capacity = capacity;
    return true;
}

void *tw_arena_alloc(tw_arena *arena, size_t count, size_t bytes) {
    if (bytes && count > (SIZE_MAX - alignof(max_align_t)) / bytes) return NULL;
    size_t size = count * bytes;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (!size) size = alignof(max_align_t);
    if (size > arena->capacity - arena->used && !add_chunk(arena, size)) return NULL;
    void *memory = arena->chunks->bytes + arena->used;
    arena->used += size;
    return memset(memory, 0, size);
}

char *tw_arena_strndup(tw_arena *arena, const char *text, size_t length) {
    if (length == SIZE_MAX) return NULL;
    char *copy = tw_arena_alloc(arena, length + 1, 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}
