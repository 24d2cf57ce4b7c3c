/* What workgroups note about global memory.
 *
 * Plain accesses race with those of another workgroup unless atomics order them. An atomic that sees a value,
 * or a load that other workgroups' stores must reach (a scope of the device), followed by an invalidation of
 * the caches, is an acquire: what the workgroup does then comes behind what earlier ones did before their
 * last atomic. */
#include "run/emu/global_race.h"

#include <stdlib.h>

#include "run/emu/block_copy.h"
#include "run/emu/global_log.h"

enum { FIRST_NOTES = 256, MAX_NOTES = 1 << 22, RECENT = 256 };

struct emu_global_log {
    emu_global_notes notes;
    size_t capacity;
    size_t phase;            /* the first note behind the last acquire or release */
    uint32_t recent[RECENT]; /* numbers of notes + 1: what loops do again and again */
    bool saw_value, acquired;
};

emu_global_log *tw_emu_global_log_new(void) { return calloc(1, sizeof(emu_global_log)); }

void tw_emu_global_log_free(emu_global_log *log) {
    if (!log) return;
    free(log->notes.note);
    free(log);
}

void tw_emu_global_log_start(emu_global_log *log, const emu_group *g) {
    log->notes.number = g->number;
    log->notes.id = g->id;
    log->notes.count = log->notes.released = log->phase = 0;
    log->saw_value = log->acquired = log->notes.incomplete = false;
    memset(log->recent, 0, sizeof log->recent);
}

uint64_t tw_emu_global_log_number(const emu_global_log *log) { return log->notes.number; }
size_t tw_emu_global_log_bytes(const emu_global_log *log) { return log->capacity * sizeof *log->notes.note; }
const emu_global_notes *tw_emu_global_log_notes(const emu_global_log *log) { return &log->notes; }

static bool same(const emu_global_note *a, const emu_global_note *b) {
    return a->buffer == b->buffer && a->first == b->first && a->inst == b->inst && a->lanes == b->lanes &&
           a->stride == b->stride && a->kind == b->kind;
}

static void add(emu_global_log *log, const emu_global_note *note) {
    emu_global_notes *n = &log->notes;
    uint64_t key = ((uint64_t)note->first ^ (uint64_t)(uintptr_t)note->inst) * 0x9e3779b97f4a7c15ull;
    uint32_t *recent = &log->recent[key >> 56];
    if (*recent > log->phase && same(&n->note[*recent - 1], note)) return;
    if (n->count == log->capacity) {
        size_t capacity = log->capacity ? 2 * log->capacity : FIRST_NOTES;
        emu_global_note *more = capacity > MAX_NOTES ? NULL : realloc(n->note, capacity * sizeof *more);
        if (!more) {
            n->incomplete = true; /* what comes now is not compared */
            return;
        }
        n->note = more;
        log->capacity = capacity;
    }
    n->note[n->count++] = *note;
    *recent = (uint32_t)n->count;
}

/* Whether a plain store may be a relaxed atomic one. */
static bool may_be_atomic(const tw_emu_wave *w, unsigned bytes, bool aligned) {
    bool alike = w->launch->features & TW_ARCH_HAS_PLAIN_ATOMIC_STORE;
    return alike && aligned && bytes <= 8 && !w->launch->strict_stores;
}

static uint8_t kind_of(const tw_emu_wave *w, emu_intent intent, unsigned bytes, bool aligned) {
    const emu_inst *i = w->current;
    bool scoped = i->flags & EMU_I_SCOPED;
    if (intent == EMU_READS) return scoped ? EMU_NOTE_SYNC : EMU_NOTE_READ;
    if (intent == EMU_WRITES && scoped) return EMU_NOTE_ATOMIC;
    if (intent == EMU_WRITES)
        return EMU_NOTE_WRITE | (may_be_atomic(w, bytes, aligned) ? EMU_NOTE_ATOMIC : 0);
    /* Below the scope of the device gfx12 may update a cache of its own. */
    if (w->launch->isa >= TW_ISA_GFX12 && !scoped) return EMU_NOTE_WRITE;
    return EMU_NOTE_ATOMIC | (i->flags & EMU_I_RETURN ? EMU_NOTE_SYNC : 0);
}

static void note(tw_emu_wave *w, emu_global_note *n) {
    emu_global_log *log = w->group->global_log;
    n->inst = w->current;
    n->wave = (uint8_t)w->index;
    n->ordered = log->acquired;
    add(log, n);
    if (n->kind & EMU_NOTE_SYNC) log->saw_value = true;
    if (n->kind & EMU_NOTE_ATOMIC) {
        log->notes.released = log->notes.count;
        if (!(n->kind & EMU_NOTE_WRITE)) log->phase = log->notes.count;
    }
}

void tw_emu_global_note(tw_emu_wave *w, int lane, const emu_buffer *b, uint64_t offset, uint32_t bytes,
                        emu_intent intent) {
    if (b->read_only || b == w->launch->scratch) return;
    emu_global_note n = {.buffer = b,
                         .first = (int64_t)offset,
                         .bytes = bytes,
                         .lanes = 1,
                         .lane = (int16_t)lane,
                         .kind = kind_of(w, intent, bytes, offset % bytes == 0)};
    note(w, &n);
}

/* As few notes as there are runs of lanes with equal steps: mostly one. */
void tw_emu_global_note_block(tw_emu_wave *w, unsigned half, const emu_buffer *b, const uint64_t *offset,
                              uint32_t lanes, unsigned bytes, emu_intent intent) {
    if (b->read_only || b == w->launch->scratch) return;
    uint64_t low_bits = 0;
    for (uint32_t rest = intent == EMU_WRITES ? lanes : 0; rest; rest &= rest - 1)
        low_bits |= offset[__builtin_ctz(rest)];
    emu_global_note n = {.buffer = b,
                         .bytes = bytes,
                         .lane = (int16_t)(half * EMU_LANES),
                         .kind = kind_of(w, intent, bytes, low_bits % bytes == 0)};
    int64_t step = (int64_t)(offset[1] - offset[0]);
    if (lanes == 0xffffffffu && step == (int32_t)step &&
        tw_emu_block_loops()->steps(offset, (uint64_t)step)) {
        n.first = (int64_t)offset[0];
        n.stride = (int32_t)step;
        n.lanes = lanes;
        note(w, &n);
        return;
    }
    while (lanes) {
        unsigned l0 = (unsigned)__builtin_ctz(lanes);
        uint32_t rest = lanes & (lanes - 1);
        int64_t stride = 0;
        if (rest) {
            unsigned l1 = (unsigned)__builtin_ctz(rest);
            stride = (int64_t)(offset[l1] - offset[l0]) / (int)(l1 - l0);
            if (stride != (int32_t)stride) stride = 0;
        }
        uint64_t first = offset[l0] - (uint64_t)stride * l0;
        uint32_t off = 0;
        for (unsigned l = 0; l < EMU_LANES; l++)
            off |= (uint32_t)(offset[l] != first + (uint64_t)stride * l) << l;
        n.first = (int64_t)first;
        n.stride = (int32_t)stride;
        n.lanes = lanes & ~off;
        note(w, &n);
        lanes &= off;
    }
}

void tw_emu_exec_acquire(tw_emu_wave *w, const emu_inst *i) {
    emu_global_log *log = w->group->global_log;
    if (!log || !log->saw_value || (i->row->arg && !(i->flags & EMU_I_SCOPED))) return;
    log->acquired = true;
    log->phase = log->notes.count;
}
