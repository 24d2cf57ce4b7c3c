/* What a trace callback may look at. */
#include "run/emu/exec.h"

uint32_t tw_emu_wave_sgpr(const tw_emu_wave *w, unsigned index) {
    return index < EMU_S_VCC ? w->s[index] : 0;
}

static uint32_t file_word(const tw_emu_wave *w, unsigned reg, unsigned lane) {
    if (reg >= w->launch->file_registers || lane >= w->halves * EMU_LANES) return 0;
    return w->v[lane / EMU_LANES][reg * EMU_LANES + lane % EMU_LANES];
}

uint32_t tw_emu_wave_vgpr(const tw_emu_wave *w, unsigned index, unsigned lane) {
    return index < w->vgprs ? file_word(w, index, lane) : 0;
}

uint32_t tw_emu_wave_agpr(const tw_emu_wave *w, unsigned index, unsigned lane) {
    return index < w->launch->agprs ? file_word(w, EMU_AGPR_BASE + index, lane) : 0;
}

uint64_t tw_emu_wave_special(const tw_emu_wave *w, const char *name) {
    uint64_t vcc = w->s[EMU_S_VCC] | (w->halves == 2 ? (uint64_t)w->s[EMU_S_VCC + 1] << 32 : 0);
    if (!strcmp(name, "vcc")) return vcc;
    if (!strcmp(name, "exec")) return emu_exec_mask(w);
    if (!strcmp(name, "m0")) return w->s[EMU_S_M0];
    if (!strcmp(name, "scc")) return w->scc;
    if (!strcmp(name, "pc")) return w->current->pc;
    return 0;
}
