/* Launches: checks, the memory that a launch brings along, workgroups on threads, counts and reports. */
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "run/emu/device.h"
#include "run/emu/global_race.h"
#include "support/thread_pool.h"

enum { DEFAULT_REPORTS = 8, DYNAMIC_STACK_BYTES = 16384 };
static const uint64_t DEFAULT_BUDGET = 1ull << 32;

/* ---- the order of workgroups ----
 * Workgroups start in order. One that comes to an operation whose outcome depends on their order waits until
 * all earlier ones are complete, so that the result is the same whatever the number of threads. */

typedef struct report_list {
    emu_report *reports;
    size_t count, capacity;
    bool failed;
} report_list;

struct emu_turns {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    uint8_t *complete; /* one bit a workgroup */
    uint64_t groups;
    uint64_t first_open; /* all workgroups below are complete */
    report_list found;
    size_t max_reports;
    bool stop;
    tw_launch_counts counts;
    emu_global_shadow *shadow; /* NULL: races between workgroups are not looked for */
    struct waiting_log *logs;  /* of complete workgroups that an open one comes before, in order */
    size_t log_bytes;
};

typedef struct waiting_log {
    struct waiting_log *next;
    emu_global_log *log;
} waiting_log;

void tw_emu_wait_turn(tw_emu_wave *w) {
    emu_group *g = w->group;
    struct emu_turns *t = w->launch->turns;
    if (g->in_turn) return;
    pthread_mutex_lock(&t->lock);
    while (t->first_open < g->number)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
    g->in_turn = true;
}

static void keep_reports(report_list *list, const emu_report *reports, size_t count) {
    if (list->count + count > list->capacity) {
        size_t capacity = 2 * list->capacity + count;
        emu_report *more = realloc(list->reports, capacity * sizeof *more);
        if (!more) {
            list->failed = true;
            return;
        }
        list->reports = more;
        list->capacity = capacity;
    }
    memcpy(list->reports + list->count, reports, count * sizeof *reports);
    list->count += count;
}

/* Reports that differ in place or check, of workgroups that no unfinished one comes before. */
static size_t settled_reports(const struct emu_turns *t) {
    size_t count = 0;
    for (size_t k = 0; k < t->found.count; k++) {
        const emu_report *r = &t->found.reports[k];
        bool counts = !r->note && r->workgroup < t->first_open;
        for (size_t n = 0; counts && n < k; n++) {
            const emu_report *o = &t->found.reports[n];
            counts = o->workgroup >= t->first_open || o->inst != r->inst || o->format != r->format;
        }
        count += counts;
    }
    return count;
}

static void add_counts(tw_launch_counts *c, emu_group *g) {
    uint64_t classes[EMU_CLASS_COUNT] = {0};
    for (uint32_t k = 0; k < g->wave_count; k++) {
        c->wave_instructions += g->waves[k].executed;
        for (unsigned n = 0; n < EMU_CLASS_COUNT; n++)
            classes[n] += g->waves[k].counts[n];
    }
    c->valu += classes[EMU_CLASS_VALU];
    c->salu += classes[EMU_CLASS_SALU];
    c->vmem += classes[EMU_CLASS_VMEM];
    c->smem += classes[EMU_CLASS_SMEM];
    c->lds += classes[EMU_CLASS_LDS];
    c->matrix += classes[EMU_CLASS_MATRIX];
    c->branch += classes[EMU_CLASS_BRANCH];
    c->waits += classes[EMU_CLASS_WAIT];
    c->other += classes[EMU_CLASS_OTHER];
    c->global_bytes_read += g->bytes_read;
    c->global_bytes_written += g->bytes_written;
    c->scalar_bytes_read += g->scalar_read;
    c->scratch_bytes_read += g->scratch_read;
    c->scratch_bytes_written += g->scratch_written;
    c->lds_bytes_read += g->lds_read;
    c->lds_bytes_written += g->lds_written;
    c->lds_bank_conflicts += g->bank_conflicts;
    c->waves += g->wave_count;
    c->workgroups++;
    g->bytes_read = g->bytes_written = g->lds_read = g->lds_written = g->bank_conflicts = 0;
    g->scalar_read = g->scratch_read = g->scratch_written = 0;
}

/* ---- races between workgroups ---- */

static bool keep_race(void *user, const emu_report *report) {
    report_list *list = user;
    keep_reports(list, report, 1);
    return !list->failed;
}

/* The workgroup's notes wait until those before it were compared; it gets new ones. */
static void hand_over_log(emu_group *g) {
    struct emu_turns *t = g->launch->turns;
    waiting_log *entry = calloc(1, sizeof *entry), **at = &t->logs;
    emu_global_log *fresh = tw_emu_global_log_new();
    if (!entry || !fresh) {
        free(entry);
        tw_emu_global_log_free(fresh);
        t->found.failed = true;
        return;
    }
    while (*at && tw_emu_global_log_number((*at)->log) < g->number)
        at = &(*at)->next;
    *entry = (waiting_log){*at, g->global_log};
    *at = entry;
    t->log_bytes += tw_emu_global_log_bytes(g->global_log);
    g->global_log = fresh;
}

static void merge_log(emu_launch_state *launch, const emu_global_log *log) {
    struct emu_turns *t = launch->turns;
    if (!tw_emu_global_merge(launch, t->shadow, log, keep_race, &t->found)) t->found.failed = true;
}

static void pop_log(struct emu_turns *t) {
    waiting_log *first = t->logs;
    t->logs = first->next;
    t->log_bytes -= tw_emu_global_log_bytes(first->log);
    tw_emu_global_log_free(first->log);
    free(first);
}

/* The workgroup is complete: compares it, where its turn has come, and those that waited for it. */
static void advance(emu_group *g) {
    struct emu_turns *t = g->launch->turns;
    if (t->shadow && t->first_open == g->number)
        merge_log(g->launch, g->global_log);
    else if (t->shadow)
        hand_over_log(g);
    t->complete[g->number / 8] |= (uint8_t)(1u << g->number % 8);
    while (t->first_open < t->groups && t->complete[t->first_open / 8] >> t->first_open % 8 & 1) {
        t->first_open++;
        while (t->logs && tw_emu_global_log_number(t->logs->log) < t->first_open) {
            merge_log(g->launch, t->logs->log);
            pop_log(t);
        }
    }
}

/* Notes that wait take memory: whoever is far ahead stops until the others have caught up. */
static void wait_for_room(emu_launch_state *launch, uint64_t number) {
    static const size_t LIMIT = 256u << 20;
    struct emu_turns *t = launch->turns;
    if (!t->shadow) return;
    pthread_mutex_lock(&t->lock);
    while (t->log_bytes > LIMIT && t->first_open < number)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* Whether the loop over workgroups goes on. */
static bool finish_group(emu_group *g) {
    struct emu_turns *t = g->launch->turns;
    pthread_mutex_lock(&t->lock);
    add_counts(&t->counts, g);
    if (g->report_count) keep_reports(&t->found, g->reports, g->report_count);
    advance(g);
    if (t->found.count && settled_reports(t) >= t->max_reports) t->stop = true;
    bool go_on = !t->stop && !g->stop;
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
    return go_on;
}

/* ---- reports to diagnostics ---- */

static int by_workgroup(const void *a, const void *b) {
    const emu_report *x = a, *y = b;
    if (x->workgroup != y->workgroup) return x->workgroup < y->workgroup ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static tw_status tell_reports(struct emu_turns *t, tw_diag *diag) {
    report_list *list = &t->found;
    size_t told = 0;
    tw_status status = TW_OK;
    if (list->failed) return tw_fail_no_memory(diag);
    if (!list->count) return TW_OK;
    qsort(list->reports, list->count, sizeof *list->reports, by_workgroup);
    for (size_t k = 0; k < list->count && told < t->max_reports; k++) {
        const emu_report *r = &list->reports[k];
        bool seen = false;
        for (size_t n = 0; n < k && !seen; n++)
            seen = list->reports[n].inst == r->inst && list->reports[n].format == r->format;
        if (seen) continue;
        if (r->note) {
            tw_note(diag, r->where, "%s", r->text);
            continue;
        }
        status = tw_fail_at(diag, TW_ERR_DEVICE, r->where, 0, 0, "%s", r->text);
        told++;
        if (r->fatal) break;
    }
    return status;
}

/* ---- setting up ---- */

static uint32_t read32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static tw_status check_shape(const tw_emu *emu, const tw_emu_launch *o, tw_diag *diag) {
    const tw_arch_info *arch = tw_arch_get(emu->target.arch);
    uint64_t items = (uint64_t)o->block.x * o->block.y * o->block.z;
    if (!o->grid.x || !o->grid.y || !o->grid.z || !o->block.x || !o->block.y || !o->block.z)
        return tw_fail(diag, TW_ERR_USAGE,
                       "grid and block must not be empty (got grid %u,%u,%u block %u,%u,%u)", o->grid.x,
                       o->grid.y, o->grid.z, o->block.x, o->block.y, o->block.z);
    uint32_t limit = o->kernel->max_workgroup ? o->kernel->max_workgroup : arch->max_workgroup;
    if (o->block.x > 1024 || o->block.y > 1024 || o->block.z > 1024 || items > limit)
        return tw_fail(diag, TW_ERR_USAGE, "a workgroup of '%s' has at most %u work-items (got %llu)",
                       o->kernel->name, limit, (unsigned long long)items);
    for (unsigned k = 0; k < 3; k++) {
        uint32_t wanted = o->kernel->required_workgroup[k];
        uint32_t got = k == 0 ? o->block.x : k == 1 ? o->block.y : o->block.z;
        if (wanted && wanted != got)
            return tw_fail(diag, TW_ERR_USAGE,
                           "the kernel's workgroup must have %u work-items in dimension %u (got %u)", wanted,
                           k, got);
    }
    uint64_t lds = (uint64_t)o->kernel->lds_bytes + o->dynamic_lds;
    if (lds > arch->lds_bytes)
        return tw_fail(diag, TW_ERR_USAGE, "LDS of a workgroup must be at most %u bytes (got %llu)",
                       arch->lds_bytes, (unsigned long long)lds);
    if (o->kernarg_size < o->kernel->kernarg_size)
        return tw_fail(diag, TW_ERR_USAGE, "the kernarg segment has %u bytes (got %zu)",
                       o->kernel->kernarg_size, o->kernarg_size);
    if ((uint64_t)o->grid.x * o->grid.y >= 1ull << 32 ||
        (uint64_t)o->grid.x * o->grid.y * o->grid.z >= 1ull << 40)
        return tw_fail(diag, TW_ERR_LIMIT, "the emulator runs fewer than 2^40 workgroups (got %u x %u x %u)",
                       o->grid.x, o->grid.y, o->grid.z);
    return TW_OK;
}

/* VGPRs come in granules; CDNA splits one file between VGPRs and AGPRs. */
static void register_counts(emu_launch_state *s) {
    uint32_t granules = (s->rsrc1 & 0x3f) + 1;
    if (s->isa == TW_ISA_GFX9) {
        uint32_t total = granules * 8, accumulators = ((s->rsrc3 & 0x3f) + 1) * 4;
        s->vgprs = accumulators < total ? accumulators : total;
        s->agprs = total - s->vgprs;
        s->file_registers = 2 * EMU_AGPR_BASE;
    } else {
        uint32_t granule = s->isa == TW_ISA_GFX1250 ? 16 : s->halves == 2 ? 4 : 8;
        s->file_registers = s->isa == TW_ISA_GFX1250 ? 1024 : 256;
        s->vgprs = granules * granule;
    }
    if (s->vgprs > s->file_registers) s->vgprs = s->file_registers;
}

static void read_descriptor(emu_launch_state *s, const uint8_t *d) {
    s->rsrc3 = read32(d + 44);
    if (s->isa == TW_ISA_GFX1250) s->named_barriers = 4 * (s->rsrc3 >> 14 & 7); /* allocated in fours */
    s->rsrc1 = read32(d + 48);
    s->rsrc2 = read32(d + 52);
    s->properties = (uint16_t)(d[56] | d[57] << 8);
    s->preload = (uint16_t)(d[58] | d[59] << 8);
}

static tw_status make_kernarg(emu_launch_state *s, const tw_emu_launch *o, tw_diag *diag) {
    size_t bytes = (o->kernarg_size + 3) / 4 * 4;
    tw_status status = tw_emu_memory_alloc(s->memory, bytes, "kernarg segment", &s->kernarg, diag);
    if (status != TW_OK || !o->kernarg_size) return status;
    memcpy(s->kernarg->data, o->kernarg, o->kernarg_size);
    for (size_t k = 0; k < o->kernarg_size; k++)
        s->kernarg->known[k] = !o->kernarg_known || o->kernarg_known[k] ? 0xff : 0;
    s->kernarg->read_only = true;
    return TW_OK;
}

static void put(uint8_t *to, uint64_t value, unsigned bytes) {
    for (unsigned k = 0; k < bytes; k++)
        to[k] = (uint8_t)(value >> (8 * k));
}

/* The dispatch packet of the queue (64 bytes), and a queue with nothing in it. */
static tw_status make_packet(emu_launch_state *s, const tw_emu_launch *o, uint64_t descriptor,
                             tw_diag *diag) {
    tw_status status = tw_emu_memory_alloc(s->memory, 512, "dispatch packet", &s->packet, diag);
    if (status != TW_OK) return status;
    uint8_t *p = s->packet->data;
    put(p + 2, 3, 2); /* dimensions */
    put(p + 4, o->block.x, 2);
    put(p + 6, o->block.y, 2);
    put(p + 8, o->block.z, 2);
    put(p + 12, (uint64_t)o->grid.x * o->block.x, 4);
    put(p + 16, (uint64_t)o->grid.y * o->block.y, 4);
    put(p + 20, (uint64_t)o->grid.z * o->block.z, 4);
    put(p + 24, s->scratch_bytes, 4);
    put(p + 28, s->lds_bytes, 4);
    put(p + 32, descriptor, 8);
    put(p + 40, s->kernarg->address, 8);
    memset(s->packet->known, 0xff, s->packet->bytes);
    s->packet->all_known = s->packet->read_only = true;
    return TW_OK;
}

static tw_status make_scratch(emu_launch_state *s, unsigned threads, tw_diag *diag) {
    s->scratch_bytes = (s->kernel->scratch_bytes + 3u) & ~3u;
    if (s->kernel->uses_dynamic_stack) s->scratch_bytes += DYNAMIC_STACK_BYTES;
    if (!s->scratch_bytes) return TW_OK;
    uint64_t group = (uint64_t)s->waves_per_group * s->halves * EMU_LANES * s->scratch_bytes;
    return tw_emu_memory_alloc(s->memory, group * threads, "scratch", &s->scratch, diag);
}

/* Where arguments are preloaded, the first 256 bytes of a gfx9 kernel load them for firmware that does not do
 * it; firmware that does starts behind them. Later hardware has always done it, and kernels have no such
 * code. Source: LLVM's AMDGPU usage guide, preloaded kernel arguments. */
static uint64_t preload_prologue(const emu_launch_state *s) {
    return s->isa == TW_ISA_GFX9 && (s->preload & 0x7f) ? 256 : 0;
}

static tw_status prepare(tw_emu_module *module, const tw_emu_launch *o, emu_launch_state *s, tw_diag *diag) {
    tw_emu *emu = module->emu;
    tw_status status = check_shape(emu, o, diag);
    if (status != TW_OK) return status;
    s->memory = &emu->memory;
    s->options = o;
    s->kernel = o->kernel;
    s->target = emu->target;
    s->target.wave_size = (uint8_t)o->kernel->wave_size;
    s->isa = emu->isa;
    s->features = tw_arch_get(emu->target.arch)->features;
    s->halves = s->target.wave_size == 64 ? 2 : 1;
    s->check_unknown = !(o->disabled_checks & TW_EMU_CHECK_UNINITIALISED);
    s->check_alignment = !(o->disabled_checks & TW_EMU_CHECK_ALIGNMENT);
    s->strict_alignment = o->strict_checks & TW_EMU_STRICT_ALIGNMENT;
    s->strict_stores = o->strict_checks & TW_EMU_STRICT_STORES;
    s->check_buffer_range = !(o->disabled_checks & TW_EMU_CHECK_BUFFER_RANGE);
    s->check_lds_range = !(o->disabled_checks & TW_EMU_CHECK_LDS_RANGE);
    s->check_global_races = !(o->disabled_checks & TW_EMU_CHECK_GLOBAL_RACES);
    s->check_lds_races = !(o->disabled_checks & TW_EMU_CHECK_LDS_RACES);
    s->work_items = o->block.x * o->block.y * o->block.z;
    s->waves_per_group = (s->work_items + s->target.wave_size - 1) / s->target.wave_size;
    s->groups = (uint64_t)o->grid.x * o->grid.y * o->grid.z;
    s->budget = o->budget ? o->budget : DEFAULT_BUDGET;
    s->lds_bytes = o->kernel->lds_bytes + o->dynamic_lds;
    s->lds_banks = tw_arch_get(s->target.arch)->lds_banks;
    read_descriptor(s, o->kernel->descriptor);
    register_counts(s);
    status = tw_emu_module_code(module, s->target.wave_size, &s->code, diag);
    if (status != TW_OK) return status;
    s->entry = tw_emu_code_at(s->code, module->bias + o->kernel->entry_address + preload_prologue(s));
    return s->entry ? TW_OK : tw_fail_no_memory(diag);
}

/* ---- running ---- */

typedef struct runner {
    emu_launch_state *launch;
    emu_group **groups; /* one a thread */
} runner;

static bool run_group(void *user, size_t index, unsigned thread) {
    runner *r = user;
    emu_group *g = r->groups[thread];
    fenv_t host;
    wait_for_room(r->launch, index);
    feholdexcept(&host);
    fesetenv(FE_DFL_ENV); /* round to nearest, denormals kept, whatever the host does */
    tw_emu_group_run(g, index);
    fesetenv(&host);
    return finish_group(g);
}

static tw_status run_all(emu_launch_state *s, tw_thread_pool *pool, unsigned threads, tw_diag *diag) {
    runner r = {s, calloc(threads, sizeof *r.groups)};
    tw_status status = r.groups ? TW_OK : tw_fail_no_memory(diag);
    for (unsigned k = 0; k < threads && status == TW_OK; k++) {
        r.groups[k] = tw_emu_group_new(s);
        if (!r.groups[k]) {
            status = tw_fail_no_memory(diag);
            break;
        }
        if (s->turns->shadow && !(r.groups[k]->global_log = tw_emu_global_log_new())) {
            status = tw_fail_no_memory(diag);
            break;
        }
        r.groups[k]->scratch_offset =
            (uint64_t)k * s->waves_per_group * s->halves * EMU_LANES * s->scratch_bytes;
    }
    bool traced_out = false;
    if (status == TW_OK) {
        tw_thread_pool_for(pool, s->groups, run_group, &r);
        for (unsigned k = 0; k < threads; k++)
            traced_out |= r.groups[k]->traced_out;
        status = tell_reports(s->turns, diag);
        if (status == TW_OK && traced_out)
            status = tw_fail(diag, TW_ERR_LIMIT, "the trace ended the launch of '%s'", s->kernel->name);
    }
    for (unsigned k = 0; r.groups && k < threads; k++)
        tw_emu_group_free(r.groups[k]);
    free(r.groups);
    return status;
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void release(emu_memory *memory, emu_buffer *buffer) {
    if (buffer) tw_emu_memory_forget(memory, buffer);
}

tw_status tw_emu_run(tw_emu_module *module, const tw_emu_launch *o, tw_launch_counts *counts, tw_diag *diag) {
    emu_launch_state s = {0};
    struct emu_turns turns = {.max_reports = o->max_reports ? o->max_reports : DEFAULT_REPORTS};
    uint64_t begin = now();
    unsigned threads = o->trace || o->traced ? 1 : o->threads;
    tw_thread_pool *pool = tw_thread_pool_new(NULL, threads);
    if (counts) memset(counts, 0, sizeof *counts);
    if (!pool) return tw_fail_no_memory(diag);
    threads = tw_thread_pool_threads(pool);
    pthread_mutex_init(&turns.lock, NULL);
    pthread_cond_init(&turns.moved, NULL);
    s.turns = &turns;
    tw_status status = prepare(module, o, &s, diag);
    turns.groups = s.groups;
    if (status == TW_OK) status = make_kernarg(&s, o, diag);
    if (status == TW_OK) status = make_scratch(&s, threads, diag);
    if (status == TW_OK) status = make_packet(&s, o, module->bias + o->kernel->descriptor_address, diag);
    if (status == TW_OK) {
        bool races = s.check_global_races && s.groups > 1;
        turns.complete = calloc(s.groups / 8 + 1, 1);
        if (races) turns.shadow = tw_emu_global_shadow_new();
        status = turns.complete && (turns.shadow || !races) ? run_all(&s, pool, threads, diag)
                                                            : tw_fail_no_memory(diag);
    }
    turns.counts.nanoseconds = now() - begin;
    if (counts) *counts = turns.counts;
    release(s.memory, s.kernarg);
    release(s.memory, s.packet);
    release(s.memory, s.scratch);
    while (turns.logs)
        pop_log(&turns);
    tw_emu_global_shadow_free(turns.shadow);
    free(turns.complete);
    free(turns.found.reports);
    pthread_cond_destroy(&turns.moved);
    pthread_mutex_destroy(&turns.lock);
    tw_thread_pool_free(pool);
    return status;
}
