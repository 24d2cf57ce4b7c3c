/* Races in LDS, by vector clocks.
 *
 * Each wave has a time, which moves on when the wave lets others know of what it did (it signals a barrier,
 * or does an atomic that others may wait for), and a clock: for every wave of the workgroup the last time of
 * which everything happened before. A byte remembers its last writer and two readers with their times. An
 * access is a race with one that its wave's clock does not cover. */
#include "run/emu/lds_race.h"
#include "run/emu/code.h"

#include <stdlib.h>

enum { WAVE_BITS = 8, TIME_LIMIT = (1 << 24) - 1 };

/* The last writers and readers of a dword, each with its time and the bytes that it touched. Two of a kind:
 * waves that run at the same time. With more of them the last one replaces the second. */
typedef struct touches {
    uint32_t mark[2]; /* time << WAVE_BITS | wave + 1; 0: nobody */
    uint8_t bytes[2]; /* one bit a byte */
} touches;

struct emu_lds_dword {
    touches written, read;
    uint8_t atomic; /* bytes that atomics wrote last */
    uint8_t shared; /* bytes where atomics with a result were: waves may wait for each other through them */
};

static size_t dwords(const emu_group *g) { return g->lds_bytes / 4u + 1; }

tw_status tw_emu_lds_race_init(emu_group *g) {
    g->lds_dwords = calloc(dwords(g), sizeof *g->lds_dwords);
    return g->lds_dwords ? TW_OK : TW_ERR_NO_MEMORY;
}

/* Times go on from workgroup to workgroup, so that marks of the last one are all covered. */
void tw_emu_lds_race_start(emu_group *g) {
    uint32_t latest = 0;
    for (uint32_t k = 0; k < g->wave_count; k++) {
        if (g->last_times[k] > latest) latest = g->last_times[k];
    }
    if (latest > TIME_LIMIT / 2) {
        latest = 0;
        memset(g->lds_dwords, 0, dwords(g) * sizeof *g->lds_dwords);
    }
    g->polls = tw_emu_code_polls(g->launch->code);
    for (uint32_t k = 0; k < g->wave_count; k++) {
        g->waves[k].time = latest + 1;
        for (uint32_t n = 0; n < g->wave_count; n++)
            g->waves[k].clock[n] = latest;
        g->barrier_clock[k] = g->passed_clock[k] = g->shared_clock[k] = latest;
    }
}

void tw_emu_lds_race_finish(emu_group *g) {
    for (uint32_t k = 0; k < g->wave_count; k++)
        g->last_times[k] = g->waves[k].time;
}

static void join(uint32_t *into, const uint32_t *from, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        if (from[k] > into[k]) into[k] = from[k];
    }
}

/* Whoever learns of `into` from now on comes behind what the wave has done. */
static void publish(tw_emu_wave *w, uint32_t *into) {
    if (w->time >= TIME_LIMIT) return;
    join(into, w->clock, w->group->wave_count);
    if (w->time > into[w->index]) into[w->index] = w->time;
    w->time++;
}

void tw_emu_lds_race_signal(tw_emu_wave *w, uint32_t *clock) { publish(w, clock); }

void tw_emu_lds_race_barrier(emu_group *g) {
    memcpy(g->passed_clock, g->barrier_clock, sizeof g->passed_clock);
}

void tw_emu_lds_race_wait(tw_emu_wave *w, const uint32_t *clock) {
    join(w->clock, clock, w->group->wave_count);
}

/* ---- accesses ---- */

static bool concurrent(const tw_emu_wave *w, uint32_t mark) {
    uint32_t wave = (mark & ((1u << WAVE_BITS) - 1)) - 1;
    return mark && wave != w->index && mark >> WAVE_BITS > w->clock[wave];
}

static void report(tw_emu_wave *w, int lane, uint32_t offset, uint32_t mark, emu_intent intent,
                   const char *then) {
    static const char *const NOW[] = {"load", "store", "atomic"};
    tw_emu_report(w, lane, EMU_REPORT_LDS_RACE,
                  "race in LDS: %s of byte %u, which wave %u %s without a barrier between", NOW[intent],
                  offset, (mark & ((1u << WAVE_BITS) - 1)) - 1, then);
}

/* Whether the bytes hold already what the store is about to write. */
static bool stores_the_same(const tw_emu_wave *w, uint32_t dword, unsigned bytes, const uint8_t *stored) {
    unsigned from = (unsigned)__builtin_ctz(bytes), count = (unsigned)__builtin_popcount(bytes);
    return !memcmp(w->group->lds + 4 * dword + from, stored, count);
}

static bool clashes(tw_emu_wave *w, const touches *t, unsigned bytes, int lane, uint32_t dword,
                    emu_intent intent, const char *then, const uint8_t *stored) {
    for (unsigned k = 0; k < 2; k++) {
        unsigned both = t->bytes[k] & bytes;
        if (!both || !concurrent(w, t->mark[k])) continue;
        if (stored && stores_the_same(w, dword, bytes, stored)) return false;
        report(w, lane, 4 * dword + (unsigned)__builtin_ctz(both), t->mark[k], intent, then);
        return true;
    }
    return false;
}

static void note(const tw_emu_wave *w, touches *t, uint32_t mine, unsigned bytes) {
    unsigned slot = t->mark[0] == mine || !concurrent(w, t->mark[0]) ? 0 : 1;
    t->bytes[slot] = (uint8_t)(t->mark[slot] == mine ? t->bytes[slot] | bytes : bytes);
    t->mark[slot] = mine;
}

/* A load of a loop that waits comes behind what the writers of the bytes did up to their stores. Of other
 * waves the writers may know more by now than they did then. */
static void polls(tw_emu_wave *w, const touches *t, unsigned bytes) {
    emu_group *g = w->group;
    g->polls = true;
    for (unsigned k = 0; k < 2; k++) {
        uint32_t wave = (t->mark[k] & ((1u << WAVE_BITS) - 1)) - 1;
        if (!(t->bytes[k] & bytes) || !concurrent(w, t->mark[k])) continue;
        uint32_t mine = w->clock[w->index];
        join(w->clock, g->waves[wave].clock, g->wave_count);
        w->clock[w->index] = mine;
        w->clock[wave] = t->mark[k] >> WAVE_BITS;
    }
}

/* Atomics are ordered among each other. Where atomics with a result work, plain accesses are part of the same
 * protocol: the first look of a compare-and-swap loop, the release of a lock. Relaxed atomic stores look like
 * plain ones: two waves may write the same value (`stored`; NULL where a store cannot be an atomic). */
static void touch(tw_emu_wave *w, int lane, uint32_t dword, unsigned bytes, emu_intent intent, uint32_t mine,
                  const uint8_t *stored) {
    emu_lds_dword *d = &w->group->lds_dwords[dword];
    unsigned plain = bytes & ~(unsigned)d->shared;
    if (intent == EMU_READS && w->current->flags & EMU_I_POLLS) {
        polls(w, &d->written, bytes);
        return;
    }
    unsigned against_writes = intent == EMU_UPDATES ? plain & ~(unsigned)d->atomic : plain;
    if (against_writes && clashes(w, &d->written, against_writes, lane, dword, intent, "wrote", stored))
        return;
    if (intent == EMU_READS) {
        note(w, &d->read, mine, bytes);
        return;
    }
    if (plain && clashes(w, &d->read, plain, lane, dword, intent, "read", NULL)) return;
    note(w, &d->written, mine, bytes);
    d->atomic = (uint8_t)(intent == EMU_UPDATES ? d->atomic | bytes : d->atomic & ~bytes);
}

static uint32_t my_mark(const tw_emu_wave *w) { return w->time << WAVE_BITS | (w->index + 1u); }

static void touch_range(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                        uint32_t mine) {
    bool may_be_atomic = intent == EMU_WRITES && bytes <= 8 && offset % bytes == 0;
    const uint8_t *stored = may_be_atomic ? w->storing : NULL;
    while (bytes) {
        unsigned from = offset % 4, count = bytes < 4 - from ? bytes : 4 - from;
        touch(w, lane, offset / 4, ((1u << count) - 1) << from, intent, mine, stored);
        if (stored) stored += count;
        offset += count;
        bytes -= count;
    }
}

void tw_emu_lds_race_touch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                           bool returns) {
    emu_group *g = w->group;
    bool shared = returns;
    for (unsigned k = 0; k < bytes; k++) {
        emu_lds_dword *d = &g->lds_dwords[(offset + k) / 4];
        if (returns) d->shared |= (uint8_t)(1u << (offset + k) % 4);
        shared |= d->shared >> (offset + k) % 4 & 1;
    }
    if (returns) join(w->clock, g->shared_clock, g->wave_count);
    touch_range(w, lane, offset, bytes, intent, my_mark(w));
    if (shared && intent != EMU_READS) publish(w, g->shared_clock);
    if (g->polls && intent == EMU_WRITES && w->time < TIME_LIMIT / 2) w->time++;
}

void tw_emu_lds_race_loads(tw_emu_wave *w, unsigned first_lane, const uint64_t *offset, uint32_t lanes,
                           unsigned bytes) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        tw_emu_lds_race_touch(w, (int)(first_lane + l), (uint32_t)offset[l], bytes, EMU_READS, false);
    }
}

void tw_emu_lds_race_stores(tw_emu_wave *w, unsigned first_lane, const uint64_t *offset, uint32_t lanes,
                            unsigned bytes, const uint32_t *value, unsigned shift) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint32_t word[2] = {value[l] >> shift, bytes == 8 ? value[EMU_LANES + l] : 0};
        w->storing = word;
        tw_emu_lds_race_touch(w, (int)(first_lane + l), (uint32_t)offset[l], bytes, EMU_WRITES, false);
    }
    w->storing = NULL;
}
