/* Reports: what a check found, and where. */
#include <stdarg.h>
#include <stdio.h>

#include "run/emu/exec.h"

/* One report a place and kind is enough for a workgroup. */
static bool reported(const emu_group *g, const emu_inst *inst, const char *kind) {
    for (uint32_t k = 0; k < g->report_count; k++) {
        if (g->reports[k].inst == inst && g->reports[k].kind == kind) return true;
    }
    return false;
}

static void add(tw_emu_wave *w, int lane, bool fatal, const char *format, va_list arguments) {
    emu_group *g = w->group;
    if (g->report_count == EMU_GROUP_REPORTS || reported(g, w->current, format)) return;
    emu_report *r = &g->reports[g->report_count++];
    *r = (emu_report){.workgroup = g->number, .inst = w->current, .kind = format, .fatal = fatal};
    char message[320], place[40] = "";
    uint64_t offset;
    vsnprintf(message, sizeof message, format, arguments);
    r->where = tw_emu_code_where(w->launch->code, w->current->pc, &offset);
    if (lane >= 0) snprintf(place, sizeof place, ", lane %d", lane);
    snprintf(r->text, sizeof r->text, "%s; at +0x%llx '%s', workgroup (%u, %u, %u), wave %u%s", message,
             (unsigned long long)offset, w->current->text, g->id.x, g->id.y, g->id.z, w->index, place);
}

void tw_emu_report(tw_emu_wave *w, int lane, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add(w, lane, false, format, arguments);
    va_end(arguments);
}

void tw_emu_fatal(tw_emu_wave *w, int lane, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (w->group->report_count == EMU_GROUP_REPORTS) w->group->report_count--; /* this one must be seen */
    add(w, lane, true, format, arguments);
    va_end(arguments);
    w->state = EMU_WAVE_FAILED;
    w->group->stop = true;
}
