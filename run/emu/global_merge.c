/* The notes of one workgroup against those of all before it. */
#include <stdio.h>
#include <stdlib.h>

#include "run/emu/global_log.h"

/* Sets of the bytes of a buffer, a bit a byte. */
enum {
    SET_READ = 0,
    SET_WRITE,
    SET_ATOMIC,
    SET_SYNC,
    SET_LATE_READ,
    SET_LATE_WRITE,
    SET_LATE_ATOMIC,
    SET_COUNT
};
enum { TO_LATE = SET_LATE_READ - SET_READ };

typedef struct buffer_shadow {
    const emu_buffer *buffer;
    uint64_t *set[SET_COUNT]; /* each `words` long */
    uint32_t *writer;         /* of each dword: number of the workgroup that changed it last, + 1 */
} buffer_shadow;

enum { MAX_TOLD = 64 };

struct emu_global_shadow {
    buffer_shadow *buffers;
    size_t count, capacity;
    const emu_inst *told[MAX_TOLD]; /* instructions that were reported: once each in a launch */
    size_t told_count;
};

emu_global_shadow *tw_emu_global_shadow_new(void) { return calloc(1, sizeof(emu_global_shadow)); }

void tw_emu_global_shadow_free(emu_global_shadow *shadow) {
    if (!shadow) return;
    for (size_t k = 0; k < shadow->count; k++) {
        free(shadow->buffers[k].set[0]);
        free(shadow->buffers[k].writer);
    }
    free(shadow->buffers);
    free(shadow);
}

static size_t set_words(const emu_buffer *b) { return b->bytes / 64 + 1; }

static buffer_shadow *shadow_of(emu_global_shadow *s, const emu_buffer *b) {
    for (size_t k = 0; k < s->count; k++) {
        if (s->buffers[k].buffer == b) return &s->buffers[k];
    }
    if (s->count == s->capacity) {
        size_t capacity = 2 * s->capacity + 8;
        buffer_shadow *more = realloc(s->buffers, capacity * sizeof *more);
        if (!more) return NULL;
        s->buffers = more;
        s->capacity = capacity;
    }
    /* Large parts of what nobody touches are never made real. */
    buffer_shadow fresh = {.buffer = b};
    fresh.set[0] = calloc(SET_COUNT * set_words(b), sizeof *fresh.set[0]);
    fresh.writer = calloc(b->bytes / 4 + 1, sizeof *fresh.writer);
    if (!fresh.set[0] || !fresh.writer) {
        free(fresh.set[0]);
        free(fresh.writer);
        return NULL;
    }
    for (unsigned k = 1; k < SET_COUNT; k++)
        fresh.set[k] = fresh.set[0] + k * set_words(b);
    s->buffers[s->count] = fresh;
    return &s->buffers[s->count++];
}

/* ---- ranges of bytes ---- */

/* Bits of word `word` that belong to bytes from..to-1. */
static uint64_t range_mask(uint64_t word, uint64_t from, uint64_t to) {
    uint64_t mask = ~0ull, base = word * 64;
    if (from > base) mask &= ~0ull << (from - base);
    if (to < base + 64) mask &= ~0ull >> (base + 64 - to);
    return mask;
}

static void fill(uint64_t *set, uint64_t from, uint64_t to) {
    for (uint64_t word = from / 64; word <= (to - 1) / 64; word++)
        set[word] |= range_mask(word, from, to);
}

typedef struct range {
    uint64_t from, to;
    unsigned lane; /* the first, counted from the note's */
} range;

/* The next range of the note's bytes: lanes side by side are one. `*lanes` are those to come. */
static bool next_range(const emu_global_note *n, uint32_t *lanes, range *out) {
    if (!*lanes) return false;
    unsigned l = (unsigned)__builtin_ctz(*lanes);
    uint64_t from = (uint64_t)(n->first + (int64_t)n->stride * l);
    *out = (range){from, from + n->bytes, l};
    if (n->stride == 0) {
        *lanes = 0;
    } else if (n->stride == (int64_t)n->bytes) {
        unsigned run = (unsigned)__builtin_ctzll(~(uint64_t)(*lanes >> l));
        out->to = from + (uint64_t)run * n->bytes;
        *lanes &= (uint32_t)(~0ull << (l + run));
    } else {
        *lanes &= *lanes - 1;
    }
    return true;
}

/* ---- comparing ---- */

/* The first byte of the range that an earlier workgroup touched in a way that `kind` must not meet. */
static bool clash(const buffer_shadow *s, const emu_global_note *n, const range *r, uint64_t *at,
                  bool *written) {
    unsigned late = n->ordered ? TO_LATE : 0;
    const uint64_t *reads = s->set[SET_READ + late], *writes = s->set[SET_WRITE + late],
                   *atomics = s->set[SET_ATOMIC + late];
    for (uint64_t word = r->from / 64; word <= (r->to - 1) / 64; word++) {
        uint64_t mask = range_mask(word, r->from, r->to) & ~s->set[SET_SYNC][word];
        uint64_t changed = writes[word], seen = 0;
        if (!(n->kind & EMU_NOTE_ATOMIC)) changed |= atomics[word];
        if (n->kind & (EMU_NOTE_WRITE | EMU_NOTE_ATOMIC)) seen = reads[word];
        uint64_t bad = (changed | seen) & mask;
        if (!bad) continue;
        *at = word * 64 + (unsigned)__builtin_ctzll(bad);
        *written = changed >> (*at % 64) & 1;
        return true;
    }
    return false;
}

static bool tell(emu_launch_state *launch, const emu_global_notes *notes, const emu_global_note *n,
                 const buffer_shadow *s, const range *r, uint64_t at, bool written, emu_report_fn found,
                 void *user) {
    static const char *const RACE =
        "race in global memory: %s of 0x%llx (byte %llu of '%s'), which %s %s in this launch";
    emu_report report = {
        .workgroup = notes->number, .order = EMU_GROUP_REPORTS, .inst = n->inst, .format = RACE};
    char message[320], who[64] = "an earlier workgroup";
    const emu_buffer *b = n->buffer;
    uint32_t writer = s->writer[at / 4];
    if (written && writer) {
        tw_dim3 grid = launch->options->grid, id;
        uint64_t number = writer - 1;
        id = (tw_dim3){(uint32_t)(number % grid.x), (uint32_t)(number / grid.x % grid.y),
                       (uint32_t)(number / grid.x / grid.y)};
        snprintf(who, sizeof who, "workgroup (%u, %u, %u)", id.x, id.y, id.z);
    }
    const char *access = n->kind & EMU_NOTE_WRITE ? "store" : n->kind & EMU_NOTE_ATOMIC ? "atomic" : "load";
    snprintf(message, sizeof message, RACE, access, (unsigned long long)(b->address + at),
             (unsigned long long)at, b->name, who, written ? "wrote" : "read");
    unsigned in_range = n->bytes ? (unsigned)((at - r->from) / n->bytes) : 0;
    int lane = n->lane < 0 ? -1 : n->lane + (int)(r->lane + in_range);
    tw_emu_report_text(launch, notes->id, n->wave, lane, EMU_REPORT_GLOBAL_RACE, message, &report);
    return found(user, &report);
}

/* Plain places that a protocol of this workgroup covers, before anything is compared. */
static bool note_syncs(emu_global_shadow *shadow, const emu_global_notes *notes) {
    for (size_t k = 0; k < notes->count; k++) {
        const emu_global_note *n = &notes->note[k];
        if (!(n->kind & EMU_NOTE_SYNC)) continue;
        buffer_shadow *s = shadow_of(shadow, n->buffer);
        if (!s) return false;
        range r;
        for (uint32_t lanes = n->lanes; next_range(n, &lanes, &r);)
            fill(s->set[SET_SYNC], r.from, r.to);
    }
    return true;
}

static bool compare(emu_launch_state *launch, emu_global_shadow *shadow, const emu_global_notes *notes,
                    emu_report_fn found, void *user) {
    for (size_t k = 0; k < notes->count; k++) {
        const emu_global_note *n = &notes->note[k];
        if (!(n->kind & (EMU_NOTE_READ | EMU_NOTE_WRITE | EMU_NOTE_ATOMIC))) continue;
        const buffer_shadow *s = shadow_of(shadow, n->buffer);
        if (!s) return false;
        range r;
        for (uint32_t lanes = n->lanes; next_range(n, &lanes, &r);) {
            uint64_t at;
            bool written, seen = false;
            if (!clash(s, n, &r, &at, &written)) continue;
            for (size_t t = 0; t < shadow->told_count && !seen; t++)
                seen = shadow->told[t] == n->inst;
            if (seen || shadow->told_count == MAX_TOLD) break;
            shadow->told[shadow->told_count++] = n->inst;
            if (!tell(launch, notes, n, s, &r, at, written, found, user)) return false;
            break;
        }
    }
    return true;
}

static bool remember(emu_global_shadow *shadow, const emu_global_notes *notes) {
    for (size_t k = 0; k < notes->count; k++) {
        const emu_global_note *n = &notes->note[k];
        unsigned set = n->kind & EMU_NOTE_ATOMIC  ? SET_ATOMIC
                       : n->kind & EMU_NOTE_WRITE ? SET_WRITE
                       : n->kind & EMU_NOTE_READ  ? SET_READ
                                                  : SET_COUNT;
        if (set == SET_COUNT) continue;
        buffer_shadow *s = shadow_of(shadow, n->buffer);
        if (!s) return false;
        range r;
        for (uint32_t lanes = n->lanes; next_range(n, &lanes, &r);) {
            fill(s->set[set], r.from, r.to);
            if (k >= notes->released) fill(s->set[set + TO_LATE], r.from, r.to);
            if (set == SET_READ) continue;
            for (uint64_t d = r.from / 4; d <= (r.to - 1) / 4; d++)
                s->writer[d] = (uint32_t)notes->number + 1;
        }
    }
    return true;
}

bool tw_emu_global_merge(emu_launch_state *launch, emu_global_shadow *shadow, const emu_global_log *log,
                         emu_report_fn found, void *user) {
    const emu_global_notes *notes = tw_emu_global_log_notes(log);
    return note_syncs(shadow, notes) && compare(launch, shadow, notes, found, user) &&
           remember(shadow, notes);
}
