/* Running one workgroup: its waves take turns, a slice each, until all are done. */
#include <stdlib.h>

#include "run/emu/barrier.h"
#include "run/emu/copy.h"
#include "run/emu/global_race.h"
#include "run/emu/lds_race.h"
#include "run/emu/trace.h"

/* Instructions of a slice: waves that spin on LDS let the others come to it. */
enum { SLICE = 4096 };

emu_group *tw_emu_group_new(emu_launch_state *launch) {
    emu_group *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    size_t waves = launch->waves_per_group, registers = launch->file_registers, halves = launch->halves;
    size_t file = registers * EMU_LANES * halves;
    g->launch = launch;
    g->wave_count = launch->waves_per_group;
    g->lds_bytes = launch->lds_bytes;
    g->waves = calloc(waves, sizeof *g->waves);
    g->registers = calloc(waves * file * 2, sizeof *g->registers);
    g->flags = calloc(waves, registers);
    g->lds = calloc(1, g->lds_bytes + 1u);
    g->lds_known = calloc(1, g->lds_bytes + 1u);
    if (launch->check_lds_races && g->lds_bytes && waves > 1) {
        if (tw_emu_lds_race_init(g) != TW_OK) goto no_memory;
    }
    if (!g->waves || !g->registers || !g->flags || !g->lds || !g->lds_known) goto no_memory;
    for (size_t k = 0; k < waves; k++) {
        uint32_t *own = g->registers + k * file * 2;
        for (size_t half = 0; half < halves; half++) {
            g->waves[k].v[half] = own + half * registers * EMU_LANES;
            g->waves[k].u[half] = own + file + half * registers * EMU_LANES;
        }
        g->waves[k].vflag = g->flags + k * registers;
    }
    return g;
no_memory:
    tw_emu_group_free(g);
    return NULL;
}

void tw_emu_group_free(emu_group *g) {
    if (!g) return;
    tw_emu_copy_free(g);
    tw_emu_global_log_free(g->global_log);
    free(g->waves);
    free(g->registers);
    free(g->flags);
    free(g->lds);
    free(g->lds_known);
    free(g->lds_dwords);
    free(g);
}

/* ---- slices ---- */

/* Both of these run until the wave has executed `end` instructions, or cannot go on. */
static void run_untraced(tw_emu_wave *w, uint64_t end) {
    while (w->state == EMU_WAVE_READY && w->executed < end && !w->yield) {
        const emu_inst *i = w->pc;
        w->current = i;
        w->pc = i + 1;
        w->executed++;
        w->counts[i->cls]++;
        i->exec(w, i);
    }
}

static bool run_traced(tw_emu_wave *w, uint64_t end) {
    emu_trace_state before;
    while (w->state == EMU_WAVE_READY && w->executed < end && !w->yield) {
        const emu_inst *i = w->pc;
        w->current = i;
        if (!tw_emu_trace_before(w, i, &before)) return false;
        w->pc = i + 1;
        w->executed++;
        w->counts[i->cls]++;
        i->exec(w, i);
        if (!tw_emu_trace_after(w, i, &before)) return false;
    }
    return true;
}

static void run_slice(tw_emu_wave *w) {
    uint64_t end = w->executed + SLICE;
    if (end > w->budget) end = w->budget;
    w->yield = false;
    if (w->launch->options->trace || w->launch->options->traced) {
        if (!run_traced(w, end)) return;
    } else {
        run_untraced(w, end);
    }
    if (w->state == EMU_WAVE_READY && w->executed >= w->budget)
        tw_emu_fatal(w, -1, EMU_REPORT_ENDLESS_LOOP,
                     "an endless loop: the wave has executed its budget of instructions (got %llu)",
                     (unsigned long long)w->budget);
}

static void start(emu_group *g, uint64_t number) {
    tw_dim3 grid = g->launch->options->grid;
    g->number = number;
    g->id = (tw_dim3){(uint32_t)(number % grid.x), (uint32_t)(number / grid.x % grid.y),
                      (uint32_t)(number / grid.x / grid.y)};
    tw_emu_barrier_start(g);
    tw_emu_copy_reset(g);
    g->in_turn = g->stop = g->traced_out = false;
    g->report_count = 0;
    if (g->lds_bytes) memset(g->lds_known, g->launch->check_unknown ? 0 : 0xff, g->lds_bytes);
    for (uint32_t k = 0; k < g->wave_count; k++)
        tw_emu_wave_start(&g->waves[k], g, k);
    if (g->lds_dwords) tw_emu_lds_race_start(g);
    if (g->global_log) tw_emu_global_log_start(g->global_log, g);
}

void tw_emu_group_run(emu_group *g, uint64_t number) {
    start(g, number);
    bool running = true;
    while (running && !g->stop) {
        running = false;
        for (uint32_t k = 0; k < g->wave_count && !g->stop; k++) {
            tw_emu_wave *w = &g->waves[k];
            if (w->state != EMU_WAVE_READY) continue;
            running = true;
            run_slice(w);
            if (w->state == EMU_WAVE_DONE) {
                tw_emu_copy_end(w);
                tw_emu_barrier_wave_ended(w);
            }
        }
    }
    if (!g->stop) tw_emu_barrier_stuck(g);
    if (g->lds_dwords) tw_emu_lds_race_finish(g);
}
