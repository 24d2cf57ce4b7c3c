/* Compiles of whole tuning grids. */
#include "instances/grid.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "instances/family.h"
#include "jit/backend.h"
#include "jit/compile.h"
#include "support/fail.h"
#include "support/thread_pool.h"

typedef struct sweep {
    const tw_grid_sweep *what;
    tw_instance *instances;
    size_t count;
    pthread_mutex_t lock; /* of the counts and of visits */
    tw_grid_counts *counts;
} sweep;

bool tw_kernel_spills(const tw_kernel_info *info) {
    return info->sgpr_spills || info->vgpr_spills || info->scratch_bytes;
}

/* All of a grid have the same problem: a word of it would choose nothing, or everything. */
static tw_status set_in_spec(tw_instance *instance, const char *word, tw_diag *diag) {
    tw_status status = tw_instance_set(instance, word, diag);
    if (!status && tw_field_find(instance->family->spec, word, strcspn(word, "=")) < 0)
        status = tw_fail(diag, TW_ERR_INVALID,
                         "a word must name a field of the spec, as grids have no problem (got %s)", word);
    return status;
}

tw_status tw_grid_matches(const tw_instance *instance, const char *const *words, size_t count, bool *matches,
                          tw_diag *diag) {
    tw_instance with = *instance;
    for (size_t i = 0; i < count; i++) {
        tw_status status = set_in_spec(&with, words[i], diag);
        if (status) return status;
    }
    *matches = !memcmp(&with, instance, sizeof with);
    return TW_OK;
}

/* The instances that the sweep wants; with NULL for `out` it counts them. */
static tw_status collect(const tw_family *family, const tw_grid_sweep *what, tw_instance *out, size_t *count,
                         tw_diag *diag) {
    tw_instance instance;
    size_t number = 0;
    *count = 0;
    for (size_t cursor = 0; tw_family_grid_next(family, what->target, &cursor, &instance);) {
        bool matches;
        tw_status status = tw_grid_matches(&instance, what->words, what->word_count, &matches, diag);
        if (status) return status;
        if (!matches) continue;
        size_t step = what->step ? what->step : 1, at = number++;
        if (at < what->first || (at - what->first) % step) continue;
        if (out) out[*count] = instance;
        ++*count;
    }
    return TW_OK;
}

static void tell(sweep *s, const tw_grid_kernel *kernel) {
    const tw_kernel_info *info = kernel->info;
    pthread_mutex_lock(&s->lock);
    if (info) {
        s->counts->compiled++;
        s->counts->spilling += tw_kernel_spills(info);
        s->counts->sgpr_spills += info->sgpr_spills;
        s->counts->vgpr_spills += info->vgpr_spills;
        s->counts->scratch_bytes += info->scratch_bytes;
        if (info->vgprs > s->counts->most_vgprs) s->counts->most_vgprs = info->vgprs;
    }
    if (s->what->visit) s->what->visit(s->what->user, kernel);
    pthread_mutex_unlock(&s->lock);
}

/* One turn of the loop over the instances. False when memory is out. */
static bool compile_one(void *user, size_t index, unsigned thread) {
    sweep *s = user;
    char label[TW_LABEL_MAX];
    (void)thread;
    tw_instance_label(&s->instances[index], label);
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return false;
    const tw_worker_limits limits = {0};
    const tw_compile_options options = {.worker = &limits, .name = label};
    tw_kernel *kernel = tw_instance_build(ctx, &s->instances[index], s->what->target);
    tw_code_object *object = NULL;
    tw_grid_kernel result = {.instance = &s->instances[index], .label = label};
    if (kernel && !tw_compile(s->what->compiler, kernel, &options, &object, tw_context_diag(ctx)))
        result.info = tw_code_object_kernel(object, label);
    if (!result.info) result.error = tw_diag_first_error(tw_context_diag(ctx));
    tell(s, &result);
    tw_code_object_release(object);
    tw_context_free(ctx);
    return true;
}

static tw_status compile_all(sweep *s, tw_diag *diag) {
    tw_thread_pool *pool = tw_thread_pool_new(NULL, s->what->jobs);
    if (!pool) return tw_fail_no_memory(diag);
    size_t done = tw_thread_pool_for(pool, s->count, compile_one, s);
    tw_thread_pool_free(pool);
    return done == s->count ? TW_OK : tw_fail_no_memory(diag);
}

tw_status tw_grid_compile(const tw_family *family, const tw_grid_sweep *what, tw_grid_counts *counts,
                          tw_diag *diag) {
    uint64_t start = tw_now();
    *counts = (tw_grid_counts){0};
    sweep s = {.what = what, .counts = counts};
    tw_status status = collect(family, what, NULL, &s.count, diag);
    if (status || !s.count) return status;
    s.instances = calloc(s.count, sizeof *s.instances);
    if (!s.instances) return tw_fail_no_memory(diag);
    status = collect(family, what, s.instances, &s.count, diag);
    counts->configurations = s.count;
    pthread_mutex_init(&s.lock, NULL);
    if (!status) status = compile_all(&s, diag);
    pthread_mutex_destroy(&s.lock);
    free(s.instances);
    counts->nanoseconds = tw_now() - start;
    return status;
}
