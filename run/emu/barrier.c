/* Barriers. Each has a number of arrivals that it waits for; the arrival that fills it lets everybody pass.
 * What the waves did before they arrived has happened before what they do after they passed (lds_race.c). */
#include "run/emu/barrier.h"

#include "run/emu/exec.h"
#include "run/emu/lds_race.h"

enum { WORKGROUP = -1, CLUSTER = -3, NULL_BARRIER = 0 };

void tw_emu_barrier_start(emu_group *g) {
    g->arrived = 0;
    g->cluster_phase = 0;
    for (unsigned k = 0; k <= EMU_NAMED_BARRIERS; k++)
        g->named[k].members = g->named[k].arrived = 0;
}

static uint32_t live_waves(const emu_group *g) {
    uint32_t live = 0;
    for (uint32_t k = 0; k < g->wave_count; k++)
        live += g->waves[k].state < EMU_WAVE_DONE;
    return live;
}

static bool waits_for(const tw_emu_wave *w, int barrier) {
    return w->state == EMU_WAVE_BARRIER && w->waits_for == barrier;
}

static void wait_for(tw_emu_wave *w, int barrier) {
    w->state = EMU_WAVE_BARRIER;
    w->waits_for = (int8_t)barrier;
}

static void report_skipped(tw_emu_wave *w) {
    const emu_group *g = w->group;
    tw_emu_report(w, -1, EMU_REPORT_BARRIER_SKIPPED, "a barrier that %u of the workgroup's %u waves skipped",
                  g->wave_count - live_waves(g), g->wave_count);
}

/* ---- the barrier of the workgroup ---- */

static void complete(emu_group *g) {
    g->arrived = 0;
    tw_emu_lds_race_barrier(g);
    for (uint32_t k = 0; k < g->wave_count; k++) {
        tw_emu_wave *w = &g->waves[k];
        if (waits_for(w, WORKGROUP)) {
            w->state = EMU_WAVE_READY;
            w->barrier_signalled = w->barrier_passed = false;
            tw_emu_lds_race_wait(w, g->passed_clock);
        } else if (w->barrier_signalled) {
            w->barrier_passed = true;
        }
    }
}

static void arrive(tw_emu_wave *w) {
    emu_group *g = w->group;
    uint32_t live = live_waves(g);
    tw_emu_lds_race_signal(w, g->barrier_clock);
    if (++g->arrived < live) return;
    if (live < g->wave_count) report_skipped(w);
    complete(g);
}

void tw_emu_barrier_wave_ended(tw_emu_wave *w) {
    emu_group *g = w->group;
    uint32_t live = live_waves(g);
    if (w->barrier_signalled)
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE,
                      "the wave ends between the signal of a barrier and the wait for it");
    /* Barriers do not wait for it any more. */
    tw_emu_lds_race_signal(w, g->barrier_clock);
    if (!live || g->arrived < live) return;
    for (uint32_t k = 0; k < g->wave_count; k++) {
        if (!waits_for(&g->waves[k], WORKGROUP)) continue;
        report_skipped(&g->waves[k]);
        break;
    }
    complete(g);
}

void tw_emu_barrier_stuck(emu_group *g) {
    for (uint32_t k = 0; k < g->wave_count; k++) {
        tw_emu_wave *w = &g->waves[k];
        if (w->state != EMU_WAVE_BARRIER) continue;
        tw_emu_fatal(w, -1, EMU_REPORT_BARRIER_STUCK,
                     "the wave waits for ever: nobody is left to signal barrier %d", w->waits_for);
        return;
    }
}

/* ---- which barrier ---- */

typedef struct named_operand {
    int id;
    uint32_t count; /* of M0; 0: none given */
} named_operand;

/* An immediate, or M0: the number in the low bits, a count of members in bits 22:16. */
static bool read_operand(tw_emu_wave *w, const emu_inst *i, named_operand *out) {
    uint64_t unknown;
    uint32_t v = (uint32_t)tw_emu_scalar_read(w, &i->s[0], &unknown);
    bool m0 = i->s[0].kind == EMU_OPERAND_SGPR;
    if (unknown) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNINITIALISED, "a barrier's number is made of bits that nobody wrote");
        return false;
    }
    out->id = m0 ? (int)(v & 0x3f) : (int16_t)v;
    out->count = m0 ? v >> 16 & 0x7f : 0;
    bool named = w->launch->isa == TW_ISA_GFX1250 && out->id >= 0 && out->id <= EMU_NAMED_BARRIERS;
    if (!named && out->id != WORKGROUP && (out->id != CLUSTER || w->launch->isa != TW_ISA_GFX1250)) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "the emulator does not know this barrier (got %d)", out->id);
        return false;
    }
    if (out->id > 0 && (uint32_t)out->id > w->launch->named_barriers) {
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE, "barrier %d, where the kernel has %u named barriers",
                      out->id, w->launch->named_barriers);
        return false;
    }
    return true;
}

/* ---- named barriers ---- */

static void complete_named(emu_group *g, int id) {
    emu_named_barrier *b = &g->named[id];
    b->arrived = 0;
    memcpy(b->passed, b->clock, sizeof b->passed);
    for (uint32_t k = 0; k < g->wave_count; k++) {
        tw_emu_wave *w = &g->waves[k];
        if (w->joined != id) continue;
        if (waits_for(w, id)) {
            w->state = EMU_WAVE_READY;
            tw_emu_lds_race_wait(w, b->passed);
        } else {
            w->named_passed = true;
        }
    }
}

static void signal_named(tw_emu_wave *w, named_operand o) {
    emu_named_barrier *b = &w->group->named[o.id];
    if (o.id == NULL_BARRIER) return;
    if (o.count) b->members = o.count;
    if (!b->members) {
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE, "the signal of barrier %d, which has no members",
                      o.id);
        return;
    }
    tw_emu_lds_race_signal(w, b->clock);
    if (++b->arrived >= b->members) complete_named(w->group, o.id);
}

static void wait_named(tw_emu_wave *w) {
    int id = w->joined;
    if (id == NULL_BARRIER) {
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE,
                      "a wait for a named barrier by a wave that joined none");
    } else if (!w->named_passed) {
        wait_for(w, id);
    } else {
        w->named_passed = false;
        tw_emu_lds_race_wait(w, w->group->named[id].passed);
    }
}

void tw_emu_exec_barrier_init(tw_emu_wave *w, const emu_inst *i) {
    named_operand o;
    if (!read_operand(w, i, &o) || o.id <= 0) return;
    emu_named_barrier *b = &w->group->named[o.id];
    b->members = w->s[EMU_S_M0] >> 16 & 0x7f;
    b->arrived = 0;
    if (w->su[EMU_S_M0] >> 16 & 0x7f)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                      "a barrier's members are counted by bits that nobody wrote");
    memset(b->clock, 0, sizeof b->clock);
}

void tw_emu_exec_barrier_join(tw_emu_wave *w, const emu_inst *i) {
    named_operand o;
    if (!read_operand(w, i, &o) || o.id < 0) return;
    w->joined = (uint8_t)o.id;
    w->named_passed = false;
}

/* Hints to waves that sleep: here nobody sleeps longer than others run. */
void tw_emu_exec_barrier_wakeup(tw_emu_wave *w, const emu_inst *i) {
    named_operand o;
    (void)read_operand(w, i, &o);
}

/* ---- the cluster, which is this workgroup: one arrival fills its barrier ---- */

static void signal_cluster(tw_emu_wave *w) {
    emu_group *g = w->group;
    g->cluster_phase++;
    for (uint32_t k = 0; k < g->wave_count; k++) {
        if (!waits_for(&g->waves[k], CLUSTER)) continue;
        g->waves[k].state = EMU_WAVE_READY;
        g->waves[k].cluster_phase++;
    }
}

static void wait_cluster(tw_emu_wave *w) {
    if (w->cluster_phase == w->group->cluster_phase)
        wait_for(w, CLUSTER);
    else
        w->cluster_phase++;
}

/* ---- instructions ---- */

void tw_emu_exec_barrier(tw_emu_wave *w, const emu_inst *i) {
    (void)i;
    wait_for(w, WORKGROUP);
    arrive(w);
}

static void is_first(tw_emu_wave *w, const emu_inst *i, bool first) {
    if (!i->row->arg) return;
    w->scc = first;
    w->scc_unknown = 0;
}

void tw_emu_exec_barrier_signal(tw_emu_wave *w, const emu_inst *i) {
    named_operand o;
    if (!read_operand(w, i, &o)) return;
    if (o.id >= 0) {
        is_first(w, i, w->group->named[o.id].arrived == 0);
        signal_named(w, o);
        return;
    }
    if (o.id == CLUSTER) {
        is_first(w, i, true);
        signal_cluster(w);
        return;
    }
    if (w->barrier_signalled) {
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE, "a second barrier signal without a wait between");
        return;
    }
    w->barrier_signalled = true;
    is_first(w, i, w->group->arrived == 0);
    arrive(w);
}

void tw_emu_exec_barrier_wait(tw_emu_wave *w, const emu_inst *i) {
    int id = (int16_t)i->s[0].bits[0];
    if (id > 0 && w->launch->isa == TW_ISA_GFX1250) {
        wait_named(w); /* the one that was joined last, whatever the number says */
    } else if (id == CLUSTER && w->launch->isa == TW_ISA_GFX1250) {
        wait_cluster(w);
    } else if (id != WORKGROUP && id != NULL_BARRIER) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "the emulator does not know this barrier (got %d)", id);
    } else if (id == NULL_BARRIER) {
        return;
    } else if (!w->barrier_signalled) {
        tw_emu_report(w, -1, EMU_REPORT_BARRIER_MISUSE, "a barrier wait without a signal before");
    } else if (!w->barrier_passed) {
        wait_for(w, WORKGROUP);
    } else {
        w->barrier_signalled = w->barrier_passed = false;
        tw_emu_lds_race_wait(w, w->group->passed_clock);
    }
}

/* Signals in bits 22:16, members in 10:4, bit 0 that there is such a barrier (RDNA4 ISA). */
void tw_emu_exec_barrier_state(tw_emu_wave *w, const emu_inst *i) {
    const emu_group *g = w->group;
    named_operand o;
    if (!read_operand(w, i, &o)) return;
    if (o.id == CLUSTER) {
        tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN,
                     "nothing public says what the state of the cluster's barrier is");
        return;
    }
    uint32_t arrived = o.id == WORKGROUP ? g->arrived : g->named[o.id].arrived;
    uint32_t members = o.id == WORKGROUP ? live_waves(g) : g->named[o.id].members;
    tw_emu_scalar_write(w, &i->d, o.id == NULL_BARRIER ? 0 : arrived << 16 | members << 4 | 1, 0);
}
