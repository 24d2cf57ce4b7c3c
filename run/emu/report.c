/* Reports: what a check found, and where. */
#include <stdarg.h>
#include <stdio.h>

#include "run/emu/exec.h"

const emu_report_row tw_emu_report_rows[EMU_REPORT_COUNT] = {
#define ERROR                              false
#define NOTE                               true
#define REPORT(kind, name, severity, when) {name, severity},
#include "run/emu/reports.def"
#undef REPORT
#undef NOTE
#undef ERROR
};

/* One report a place and check is enough for a workgroup. */
static bool reported(const emu_group *g, const emu_inst *inst, const char *format) {
    for (uint32_t k = 0; k < g->report_count; k++) {
        if (g->reports[k].inst == inst && g->reports[k].format == format) return true;
    }
    return false;
}

void tw_emu_report_text(const emu_launch_state *launch, tw_dim3 id, unsigned wave, int lane,
                        emu_report_kind kind, const char *message, emu_report *out) {
    char place[40] = "", tag[40] = "";
    uint64_t offset;
    out->where = tw_emu_code_where(launch->code, out->inst->pc, &offset);
    if (lane >= 0) snprintf(place, sizeof place, ", lane %d", lane);
    if (kind < EMU_REPORT_COUNT) {
        out->note = tw_emu_report_rows[kind].note;
        snprintf(tag, sizeof tag, " [%s]", tw_emu_report_rows[kind].name);
    }
    snprintf(out->text, sizeof out->text, "%s; at +0x%llx '%s', workgroup (%u, %u, %u), wave %u%s%s", message,
             (unsigned long long)offset, out->inst->text, id.x, id.y, id.z, wave, place, tag);
}

static void add(tw_emu_wave *w, int lane, bool fatal, emu_report_kind kind, const char *format,
                va_list arguments) {
    emu_group *g = w->group;
    if (g->report_count == EMU_GROUP_REPORTS || reported(g, w->current, format)) return;
    emu_report *r = &g->reports[g->report_count];
    *r = (emu_report){.workgroup = g->number,
                      .order = g->report_count++,
                      .inst = w->current,
                      .format = format,
                      .fatal = fatal};
    char message[320];
    vsnprintf(message, sizeof message, format, arguments);
    tw_emu_report_text(w->launch, g->id, w->index, lane, kind, message, r);
}

void tw_emu_report(tw_emu_wave *w, int lane, emu_report_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(w, lane, false, kind, format, arguments);
    va_end(arguments);
}

void tw_emu_fatal(tw_emu_wave *w, int lane, emu_report_kind kind, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (w->group->report_count == EMU_GROUP_REPORTS) w->group->report_count--; /* this one must be seen */
    add(w, lane, true, kind, format, arguments);
    va_end(arguments);
    w->state = EMU_WAVE_FAILED;
    w->group->stop = true;
}

void tw_emu_no_memory(tw_emu_wave *w) { tw_emu_fatal(w, -1, EMU_REPORT_COUNT, "out of memory"); }
