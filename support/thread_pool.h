/* Threads that share the work of a loop. */
#ifndef TW_SUPPORT_THREAD_POOL_H
#define TW_SUPPORT_THREAD_POOL_H

#include "support/alloc.h"

typedef struct tw_thread_pool tw_thread_pool;

/* `threads` counts the caller of tw_thread_pool_for too; 0 means one for each processor that this process may
 * run on, and no pool has more than TW_THREAD_POOL_MAX. Where the system gives fewer threads the pool makes
 * do with them. `allocator` may be NULL, and must outlive the pool. NULL when memory is out. */
#define TW_THREAD_POOL_MAX 256
tw_thread_pool *tw_thread_pool_new(const tw_allocator *allocator, unsigned threads);
void tw_thread_pool_free(tw_thread_pool *pool); /* no loop may be under way; NULL is fine */
unsigned tw_thread_pool_threads(const tw_thread_pool *pool);

/* One turn of a loop. `thread` is below tw_thread_pool_threads: an index for scratch memory that one thread
 * uses at a time. False ends the loop. */
typedef bool (*tw_thread_pool_body)(void *user, size_t index, unsigned thread);

/* Calls `body` for the indices 0 .. count - 1, handed out in order, and waits for them. Returns `count`, or
 * the lowest index whose body returned false: all indices below it have run, those above may have. So what a
 * loop computes does not depend on the number of threads as long as each turn depends on its index alone.
 * Several threads may call; their loops run one after the other. A body must not start a loop on its pool. */
size_t tw_thread_pool_for(tw_thread_pool *pool, size_t count, tw_thread_pool_body body, void *user);

#endif
