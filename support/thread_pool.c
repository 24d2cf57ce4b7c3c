#include "support/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/arena.h"

typedef struct worker {
    tw_thread_pool *pool;
    pthread_t thread;
    unsigned index;
} worker;

struct tw_thread_pool {
    const tw_allocator *allocator;
    pthread_mutex_t turn; /* held by the caller whose loop runs */

    pthread_mutex_t lock; /* guards all that follows up to the loop */
    pthread_cond_t wake, done;
    uint64_t loops; /* how many were started: a worker that sees a new number joins in */
    unsigned busy;  /* workers in the present loop */
    bool quit;

    tw_thread_pool_body body;
    void *user;
    size_t count;
    atomic_size_t next;    /* the index to hand out */
    atomic_size_t stopped; /* the lowest index that ended the loop, or `count` */

    unsigned worker_count; /* without the caller */
    worker workers[];
};

static unsigned usable_processors(void) {
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set) && CPU_COUNT(&set) > 0) return (unsigned)CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static void take_turns(tw_thread_pool *pool, unsigned thread) {
    for (;;) {
        size_t index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->count || index > atomic_load(&pool->stopped)) return;
        if (pool->body(pool->user, index, thread)) continue;
        size_t lowest = atomic_load(&pool->stopped);
        while (index < lowest && !atomic_compare_exchange_weak(&pool->stopped, &lowest, index)) {
        }
    }
}

static void *work(void *argument) {
    worker *self = argument;
    tw_thread_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->quit && pool->loops == seen)
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->quit) break;
        seen = pool->loops;
        pthread_mutex_unlock(&pool->lock);
        take_turns(pool, self->index);
        pthread_mutex_lock(&pool->lock);
        if (!--pool->busy) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The workers take no signals: those belong to the program's own threads. */
static void start_workers(tw_thread_pool *pool, unsigned wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->worker_count < wanted) {
        worker *w = &pool->workers[pool->worker_count];
        *w = (worker){.pool = pool, .index = pool->worker_count + 1};
        if (pthread_create(&w->thread, NULL, work, w)) break;
        pool->worker_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

tw_thread_pool *tw_thread_pool_new(const tw_allocator *allocator, unsigned threads) {
    if (!allocator) allocator = &tw_allocator_default;
    if (!threads) threads = usable_processors();
    if (threads > TW_THREAD_POOL_MAX) threads = TW_THREAD_POOL_MAX;
    tw_thread_pool *pool =
        allocator->allocate(allocator->user, sizeof *pool + (threads - 1) * sizeof pool->workers[0]);
    if (!pool) return NULL;
    *pool = (tw_thread_pool){.allocator = allocator};
    pthread_mutex_init(&pool->turn, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    start_workers(pool, threads - 1);
    return pool;
}

void tw_thread_pool_free(tw_thread_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->turn);
    pool->allocator->release(pool->allocator->user, pool);
}

unsigned tw_thread_pool_threads(const tw_thread_pool *pool) { return pool->worker_count + 1; }

size_t tw_thread_pool_for(tw_thread_pool *pool, size_t count, tw_thread_pool_body body, void *user) {
    pthread_mutex_lock(&pool->turn);
    pool->body = body;
    pool->user = user;
    pool->count = count;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->stopped, count);
    bool shared = count > 1 && pool->worker_count;
    if (shared) {
        pthread_mutex_lock(&pool->lock);
        pool->loops++;
        pool->busy = pool->worker_count;
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
    take_turns(pool, 0);
    if (shared) {
        pthread_mutex_lock(&pool->lock);
        while (pool->busy)
            pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
    }
    size_t stopped = atomic_load(&pool->stopped);
    pthread_mutex_unlock(&pool->turn);
    return stopped;
}
