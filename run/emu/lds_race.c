/* Races in LDS, by vector clocks.
 *
 * Each wave has a time, which moves on when the wave lets others know of what it did (it signals a barrier,
 * or does an atomic that others may wait for), and a clock: for every wave of the workgroup the last time of
 * which everything happened before. A byte remembers its last writer and two readers with their times. An
 * access is a race with one that its wave's clock does not cover. */
#include "run/emu/lds_race.h"

#include <stdlib.h>

enum { WAVE_BITS = 8, TIME_LIMIT = (1 << 24) - 1 };

struct emu_lds_byte {
    uint32_t writer[2],
        reader[2]; /* time << WAVE_BITS | wave + 1; 0: nobody. Two writers: atomics of two waves */
    bool atomic;   /* the writers were atomics */
    bool shared;   /* atomics with a result were here: waves may wait for each other through it */
};

tw_status tw_emu_lds_race_init(emu_group *g) {
    g->lds_bytes_touched = calloc(g->lds_bytes, sizeof *g->lds_bytes_touched);
    return g->lds_bytes_touched ? TW_OK : TW_ERR_NO_MEMORY;
}

/* Times go on from workgroup to workgroup, so that marks of the last one are all covered. */
void tw_emu_lds_race_start(emu_group *g) {
    uint32_t latest = 0;
    for (uint32_t k = 0; k < g->wave_count; k++) {
        if (g->last_times[k] > latest) latest = g->last_times[k];
    }
    if (latest > TIME_LIMIT / 2) {
        latest = 0;
        memset(g->lds_bytes_touched, 0, g->lds_bytes * sizeof *g->lds_bytes_touched);
    }
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

void tw_emu_lds_race_signal(tw_emu_wave *w) { publish(w, w->group->barrier_clock); }

void tw_emu_lds_race_barrier(emu_group *g) {
    memcpy(g->passed_clock, g->barrier_clock, sizeof g->passed_clock);
}

void tw_emu_lds_race_wait(tw_emu_wave *w) { join(w->clock, w->group->passed_clock, w->group->wave_count); }

/* ---- accesses ---- */

static bool concurrent(const tw_emu_wave *w, uint32_t mark) {
    uint32_t wave = (mark & ((1u << WAVE_BITS) - 1)) - 1;
    return mark && wave != w->index && mark >> WAVE_BITS > w->clock[wave];
}

static void report(tw_emu_wave *w, int lane, uint32_t offset, uint32_t mark, emu_intent intent,
                   const char *then) {
    static const char *const NOW[] = {"load", "store", "atomic"};
    tw_emu_report(w, lane, "race in LDS: %s of byte %u, which wave %u %s without a barrier between",
                  NOW[intent], offset, (mark & ((1u << WAVE_BITS) - 1)) - 1, then);
}

/* Two marks of waves that run at the same time are kept; with more of them the last one replaces the second.
 */
static void note(const tw_emu_wave *w, uint32_t mark[2], uint32_t mine) {
    mark[concurrent(w, mark[0])] = mine;
}

/* Atomics are ordered among each other. Where atomics with a result work, plain accesses are part of the same
 * protocol: the first look of a compare-and-swap loop, the release of a lock. */
static bool touch(tw_emu_wave *w, int lane, uint32_t offset, emu_intent intent, uint32_t mine) {
    emu_lds_byte *b = &w->group->lds_bytes_touched[offset];
    bool after_atomic = intent == EMU_UPDATES && b->atomic;
    for (unsigned k = 0; k < 2 && !b->shared; k++) {
        if (!after_atomic && concurrent(w, b->writer[k])) {
            report(w, lane, offset, b->writer[k], intent, "wrote");
            return false;
        }
        if (intent != EMU_READS && concurrent(w, b->reader[k])) {
            report(w, lane, offset, b->reader[k], intent, "read");
            return false;
        }
    }
    if (intent == EMU_READS) {
        note(w, b->reader, mine);
    } else if (after_atomic) {
        note(w, b->writer, mine);
    } else {
        b->writer[0] = mine;
        b->writer[1] = 0;
        b->atomic = intent == EMU_UPDATES;
    }
    return true;
}

void tw_emu_lds_race_touch(tw_emu_wave *w, int lane, uint32_t offset, unsigned bytes, emu_intent intent,
                           bool returns) {
    emu_group *g = w->group;
    emu_lds_byte *b = g->lds_bytes_touched + offset;
    uint32_t mine = w->time << WAVE_BITS | (w->index + 1u);
    bool shared = b->shared || returns;
    if (returns) {
        for (unsigned k = 0; k < bytes; k++)
            b[k].shared = true;
        join(w->clock, g->shared_clock, g->wave_count);
    }
    for (unsigned k = 0; k < bytes; k++) {
        if (!touch(w, lane, offset + k, intent, mine)) break;
    }
    if (shared && intent != EMU_READS) publish(w, g->shared_clock);
}
