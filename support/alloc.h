/* The allocator that a user may supply. */
#ifndef TW_SUPPORT_ALLOC_H
#define TW_SUPPORT_ALLOC_H

#include "support/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A user-supplied allocator. `allocate` returns memory aligned for any object, or NULL; `release` takes what
 * `allocate` gave and never NULL. Both are called from the thread that uses the object they serve. */
typedef struct tw_allocator {
    void *(*allocate)(void *user, size_t bytes);
    void (*release)(void *user, void *memory);
    void *user;
} tw_allocator;

#ifdef __cplusplus
}
#endif

#endif
