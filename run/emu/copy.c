/* Copies that are under way: queues, waits, and who touches their bytes meanwhile. */
#include "run/emu/copy.h"

#include <stdio.h>
#include <stdlib.h>

#include "run/emu/lds_race.h"

/* How many copies under way write and read a byte of LDS. */
typedef struct lds_use {
    uint16_t written, read;
} lds_use;

typedef struct queue {
    emu_copy *copies;
    uint32_t first, count, capacity;
    uint64_t issued;
} queue;

struct emu_copies {
    lds_use *lds;
    queue queues[EMU_MAX_WAVES][EMU_COUNTER_COUNT];
};

static emu_copies *copies_of(tw_emu_wave *w) {
    emu_group *g = w->group;
    if (g->copies) return g->copies;
    emu_copies *c = calloc(1, sizeof *c);
    if (c) c->lds = calloc(g->lds_bytes + 1u, sizeof *c->lds);
    if (!c || !c->lds) {
        free(c);
        tw_emu_no_memory(w);
        return NULL;
    }
    g->copies = c;
    return c;
}

void tw_emu_copy_free(emu_group *g) {
    if (!g->copies) return;
    tw_emu_copy_reset(g);
    for (unsigned k = 0; k < EMU_MAX_WAVES; k++) {
        for (unsigned n = 0; n < EMU_COUNTER_COUNT; n++)
            free(g->copies->queues[k][n].copies);
    }
    free(g->copies->lds);
    free(g->copies);
    g->copies = NULL;
}

static void mark_lds(emu_copies *c, const emu_copy *copy, int step) {
    for (uint32_t k = 0; k < copy->count; k++) {
        const emu_piece *p = &copy->pieces[k];
        for (uint32_t n = p->lds; n < p->lds + p->bytes; n++) {
            uint16_t *use = copy->store ? &c->lds[n].read : &c->lds[n].written;
            *use = (uint16_t)(*use + step);
        }
    }
}

static void drop_first(emu_group *g, queue *q) {
    emu_copy *copy = &q->copies[q->first];
    mark_lds(g->copies, copy, -1);
    free(copy->pieces);
    g->copies_in_flight--;
    g->stores_in_flight -= copy->store;
    q->first++;
    if (--q->count == 0) q->first = 0;
}

/* A launch that ended with a fault leaves copies behind. */
void tw_emu_copy_reset(emu_group *g) {
    if (!g->copies) return;
    for (unsigned k = 0; k < EMU_MAX_WAVES; k++) {
        for (unsigned n = 0; n < EMU_COUNTER_COUNT; n++) {
            queue *q = &g->copies->queues[k][n];
            while (q->count)
                drop_first(g, q);
            q->issued = 0;
        }
    }
}

bool tw_emu_copy_add(emu_copy *copy, emu_piece piece) {
    if (copy->count == copy->capacity) {
        uint32_t capacity = copy->capacity ? 2 * copy->capacity : EMU_LANES;
        emu_piece *more = realloc(copy->pieces, capacity * sizeof *more);
        if (!more) {
            copy->failed = true;
            return false;
        }
        copy->pieces = more;
        copy->capacity = capacity;
    }
    copy->pieces[copy->count++] = piece;
    return true;
}

/* The number of operations of a counter so far. */
static uint64_t issued(const tw_emu_wave *w, const queue *q, emu_counter counter) {
    return counter == EMU_COUNTER_VM ? w->counts[EMU_CLASS_VMEM] : q->issued;
}

void tw_emu_copy_count(tw_emu_wave *w, emu_counter counter) {
    emu_copies *c = copies_of(w);
    if (c) c->queues[w->index][counter].issued++;
}

/* The first address of the copy in memory, and the one behind its last. */
static void note_bounds(emu_copy *copy) {
    copy->low = UINT64_MAX;
    copy->high = 0;
    for (uint32_t k = 0; k < copy->count; k++) {
        const emu_piece *p = &copy->pieces[k];
        if (!p->buffer) continue;
        uint64_t at = p->buffer->address + p->offset;
        if (at < copy->low) copy->low = at;
        if (at + p->read > copy->high) copy->high = at + p->read;
    }
}

void tw_emu_copy_start(tw_emu_wave *w, emu_counter counter, emu_copy *copy) {
    emu_group *g = w->group;
    emu_copies *c = copies_of(w);
    queue *q = c ? &c->queues[w->index][counter] : NULL;
    if (q && q->first + q->count == q->capacity) {
        uint32_t capacity = 2 * q->capacity + 16;
        emu_copy *more = realloc(q->copies, capacity * sizeof *more);
        if (more) {
            q->copies = more;
            q->capacity = capacity;
        } else {
            copy->failed = true;
        }
    }
    if (!q || copy->failed) {
        free(copy->pieces);
        tw_emu_no_memory(w);
        return;
    }
    q->issued++;
    copy->number = issued(w, q, counter);
    copy->inst = w->current;
    note_bounds(copy);
    q->copies[q->first + q->count++] = *copy;
    g->copies_in_flight++;
    g->stores_in_flight += copy->store;
    mark_lds(c, copy, 1);
}

/* ---- completion ---- */

/* What is loaded lands in LDS: bytes beyond those read are their extension. */
static void load_piece(tw_emu_wave *w, const emu_copy *copy, const emu_piece *p) {
    emu_group *g = w->group;
    uint8_t *data = g->lds + p->lds, *known = g->lds_known + p->lds;
    if (g->lds_dwords) tw_emu_lds_race_touch(w, p->lane, p->lds, p->bytes, EMU_WRITES, false);
    uint32_t read = p->buffer ? p->read : 0;
    if (read && g->global_log && p->buffer != w->launch->scratch)
        tw_emu_global_note(w, p->lane, p->buffer, p->offset, read, EMU_READS);
    if (read) {
        memcpy(data, p->buffer->data + p->offset, read);
        memcpy(known, p->buffer->known + p->offset, read);
        if (!w->shadow || __atomic_load_n(&p->buffer->all_known, __ATOMIC_RELAXED)) memset(known, 0xff, read);
    }
    uint8_t fill = read && read < p->bytes && copy->sign && data[read - 1] & 0x80 ? 0xff : 0;
    memset(data + read, fill, p->bytes - read);
    memset(known + read, read && read < p->bytes && copy->sign && !(known[read - 1] & 0x80) ? 0 : 0xff,
           p->bytes - read);
}

static void store_piece(tw_emu_wave *w, const emu_piece *p) {
    emu_group *g = w->group;
    emu_buffer *b = p->buffer;
    const uint8_t *known = g->lds_known + p->lds;
    if (g->lds_dwords) tw_emu_lds_race_touch(w, p->lane, p->lds, p->bytes, EMU_READS, false);
    if (g->global_log) tw_emu_global_note(w, p->lane, b, p->offset, p->bytes, EMU_WRITES);
    memcpy(b->data + p->offset, g->lds + p->lds, p->bytes);
    bool all = true;
    for (uint32_t k = 0; k < p->bytes && all; k++)
        all = known[k] == 0xff;
    if (__atomic_load_n(&b->all_known, __ATOMIC_RELAXED)) {
        if (all) return;
        __atomic_store_n(&b->all_known, false, __ATOMIC_RELAXED);
    }
    memcpy(b->known + p->offset, known, p->bytes);
}

static void complete_first(tw_emu_wave *w, queue *q) {
    const emu_copy *copy = &q->copies[q->first];
    const emu_inst *wait = w->current;
    w->current = copy->inst; /* reports are about the copy */
    for (uint32_t k = 0; k < copy->count; k++) {
        if (copy->store)
            store_piece(w, &copy->pieces[k]);
        else
            load_piece(w, copy, &copy->pieces[k]);
    }
    w->current = wait;
    drop_first(w->group, q);
}

void tw_emu_copy_wait(tw_emu_wave *w, emu_counter counter, uint64_t rest) {
    if (!w->group->copies) return;
    queue *q = &w->group->copies->queues[w->index][counter];
    uint64_t last = issued(w, q, counter);
    while (q->count && q->copies[q->first].number + rest <= last)
        complete_first(w, q);
}

void tw_emu_copy_finish(tw_emu_wave *w) {
    for (unsigned n = 0; n < EMU_COUNTER_COUNT && w->group->copies_in_flight; n++)
        tw_emu_copy_wait(w, (emu_counter)n, 0);
}

/* Loads that no wait of their wave completed: nobody can know when their bytes are in LDS. Stores are fine.
 */
void tw_emu_copy_end(tw_emu_wave *w) {
    for (unsigned n = 0; n < EMU_COUNTER_COUNT && w->group->copies_in_flight; n++) {
        const queue *q = &w->group->copies->queues[w->index][n];
        const emu_inst *end = w->current;
        for (uint32_t k = q->first; k < q->first + q->count; k++) {
            if (q->copies[k].store) continue;
            w->current = q->copies[k].inst;
            tw_emu_report(w, -1, EMU_REPORT_LOST_COPY,
                          "a copy into LDS is lost: the wave ends before a wait for it");
        }
        w->current = end;
    }
    tw_emu_copy_finish(w);
}

void tw_emu_exec_wait(tw_emu_wave *w, const emu_inst *i) {
    if (w->group->copies_in_flight) tw_emu_copy_wait(w, (emu_counter)i->imm2, (uint64_t)i->imm);
}

void tw_emu_exec_wait_all(tw_emu_wave *w, const emu_inst *i) {
    (void)i;
    tw_emu_copy_finish(w);
}

/* ---- accesses that meet a copy ---- */

typedef bool (*meets_fn)(const emu_piece *p, uint64_t from, unsigned bytes);

static bool meets_lds(const emu_piece *p, uint64_t from, unsigned bytes) {
    return p->lds < from + bytes && from < (uint64_t)p->lds + p->bytes;
}

static bool meets_global(const emu_piece *p, uint64_t from, unsigned bytes) {
    if (!p->buffer) return false;
    uint64_t at = p->buffer->address + p->offset;
    return at < from + bytes && from < at + p->read;
}

/* The first copy under way whose end of that kind holds one of the bytes. */
static const emu_copy *find(const emu_group *g, meets_fn meets, uint64_t from, unsigned bytes,
                            bool only_written, bool lds, unsigned *wave) {
    for (unsigned k = 0; k < g->wave_count; k++) {
        for (unsigned n = 0; n < EMU_COUNTER_COUNT; n++) {
            const queue *q = &g->copies->queues[k][n];
            for (uint32_t c = q->first; c < q->first + q->count; c++) {
                const emu_copy *copy = &q->copies[c];
                if (only_written && copy->store == lds) continue;
                if (!lds && (from >= copy->high || from + bytes <= copy->low)) continue;
                for (uint32_t p = 0; p < copy->count; p++) {
                    if (!meets(&copy->pieces[p], from, bytes)) continue;
                    *wave = k;
                    return copy;
                }
            }
        }
    }
    return NULL;
}

static bool tell(tw_emu_wave *w, int lane, const emu_copy *copy, bool lds, unsigned wave, const char *where,
                 emu_intent intent) {
    static const char *const ACCESS[] = {"load", "store", "atomic"};
    bool written = copy->store != lds;
    if (written && intent == EMU_READS)
        tw_emu_report(w, lane, EMU_REPORT_COPY_UNDER_WAY,
                      "%s of %s before the wait for the copy that writes it: '%s' of wave %u", ACCESS[intent],
                      where, copy->inst->text, wave);
    else
        tw_emu_report(w, lane, EMU_REPORT_COPY_UNDER_WAY,
                      "%s of %s while a copy that %s it is under way: '%s' of wave %u", ACCESS[intent], where,
                      written ? "writes" : "reads", copy->inst->text, wave);
    return false;
}

bool tw_emu_copy_check_lds(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent) {
    const emu_group *g = w->group;
    unsigned use = 0, wave;
    for (unsigned k = 0; k < bytes && offset + k < g->lds_bytes; k++) {
        const lds_use *u = &g->copies->lds[offset + k];
        use |= intent == EMU_READS ? u->written : (unsigned)(u->written | u->read);
    }
    if (!use) return true;
    const emu_copy *copy = find(g, meets_lds, offset, bytes, intent == EMU_READS, true, &wave);
    char where[40];
    snprintf(where, sizeof where, "byte %u of LDS", offset);
    return copy ? tell(w, lane, copy, true, wave, where, intent) : true;
}

void tw_emu_copy_check_lds_block(tw_emu_wave *w, unsigned half, const uint64_t *offset, uint32_t lanes,
                                 unsigned bytes, emu_intent intent) {
    for (; lanes; lanes &= lanes - 1) {
        unsigned l = (unsigned)__builtin_ctz(lanes);
        tw_emu_copy_check_lds(w, (int)(half * EMU_LANES + l), (uint32_t)offset[l], bytes, intent);
    }
}

bool tw_emu_copy_check_global(tw_emu_wave *w, int lane, uint64_t address, unsigned bytes, emu_intent intent) {
    unsigned wave;
    const emu_copy *copy = find(w->group, meets_global, address, bytes, intent == EMU_READS, false, &wave);
    char where[40];
    snprintf(where, sizeof where, "0x%llx", (unsigned long long)address);
    return copy ? tell(w, lane, copy, false, wave, where, intent) : true;
}
