/* Traces: callbacks around instructions, and what they may look at. */
#include "run/emu/trace.h"

#include "run/emu/exec.h"

/* ---- what a wave has ---- */

uint32_t tw_emu_wave_sgpr(const tw_emu_wave *w, unsigned index) {
    return index < EMU_S_VCC ? w->s[index] : 0;
}

static bool in_file(const tw_emu_wave *w, unsigned reg, unsigned lane) {
    return reg < w->launch->file_registers && lane < w->halves * EMU_LANES;
}

static uint32_t file_word(const tw_emu_wave *w, unsigned reg, unsigned lane) {
    return in_file(w, reg, lane) ? w->v[lane / EMU_LANES][reg * EMU_LANES + lane % EMU_LANES] : 0;
}

uint32_t tw_emu_wave_vgpr(const tw_emu_wave *w, unsigned index, unsigned lane) {
    return index < w->vgprs ? file_word(w, index, lane) : 0;
}

uint32_t tw_emu_wave_agpr(const tw_emu_wave *w, unsigned index, unsigned lane) {
    return index < w->launch->agprs ? file_word(w, EMU_AGPR_BASE + index, lane) : 0;
}

uint32_t tw_emu_wave_unknown(const tw_emu_wave *w, tw_emu_file file, unsigned index, unsigned lane) {
    if (file == TW_EMU_SGPR) return index < EMU_S_VCC ? w->su[index] : 0;
    if (file == TW_EMU_AGPR) index += EMU_AGPR_BASE;
    if (file == TW_EMU_SPECIAL || !in_file(w, index, lane) || w->vflag[index] == EMU_VFLAG_KNOWN) return 0;
    return w->u[lane / EMU_LANES][index * EMU_LANES + lane % EMU_LANES];
}

unsigned tw_emu_wave_lanes(const tw_emu_wave *w) { return w->halves * EMU_LANES; }

unsigned tw_emu_wave_count(const tw_emu_wave *w, tw_emu_file file) {
    switch (file) {
    case TW_EMU_SGPR: return EMU_S_VCC;
    case TW_EMU_VGPR: return w->vgprs;
    case TW_EMU_AGPR: return w->launch->agprs;
    case TW_EMU_SPECIAL: break;
    }
    return 0;
}

const uint8_t *tw_emu_wave_lds(const tw_emu_wave *w, uint32_t *bytes) {
    *bytes = w->group->lds_bytes;
    return w->group->lds;
}

static const struct special {
    const char *name;
    unsigned reg, words;
} specials[] = {{"vcc", EMU_S_VCC, 2},
                {"exec", EMU_S_EXEC, 2},
                {"m0", EMU_S_M0, 1},
                {"flat_scratch", EMU_S_FLAT_SCRATCH, 2}};
enum { SPECIAL_COUNT = sizeof specials / sizeof specials[0] };

/* The words of a special register that `s` is the file of. */
static bool special_words(const tw_emu_wave *w, const uint32_t *s, const char *name, uint64_t *out) {
    for (unsigned k = 0; k < SPECIAL_COUNT; k++) {
        const struct special *special = &specials[k];
        bool lane_mask = special->reg == EMU_S_VCC || special->reg == EMU_S_EXEC;
        bool wide = special->words == 2 && (!lane_mask || w->halves == 2);
        *out = s[special->reg] | (wide ? (uint64_t)s[special->reg + 1] << 32 : 0);
        if (!strcmp(name, special->name)) return true;
    }
    return false;
}

uint64_t tw_emu_wave_special(const tw_emu_wave *w, const char *name) {
    uint64_t value;
    if (special_words(w, w->s, name, &value)) return value;
    if (!strcmp(name, "scc")) return w->scc;
    return !strcmp(name, "pc") ? w->current->pc : 0;
}

uint64_t tw_emu_wave_special_unknown(const tw_emu_wave *w, const char *name) {
    uint64_t unknown;
    if (special_words(w, w->su, name, &unknown)) return unknown;
    return !strcmp(name, "scc") ? w->scc_unknown : 0;
}

/* ---- what an instruction wrote ---- */

/* More than any instruction writes: a matrix of 32 registers, and some scalars. */
enum { MAX_WRITES = 128 };

typedef struct write_list {
    tw_emu_written writes[MAX_WRITES];
    size_t count;
} write_list;

static void add(write_list *list, tw_emu_file file, unsigned index, const char *name) {
    if (list->count < MAX_WRITES) list->writes[list->count++] = (tw_emu_written){file, index, name};
}

static void add_vector(write_list *list, const tw_emu_wave *w, const emu_operand *o) {
    if (o->kind != EMU_OPERAND_VGPR) return;
    unsigned first = o->reg + w->msb[o->slot] / EMU_LANES;
    bool accumulator = w->launch->isa == TW_ISA_GFX9 && first >= EMU_AGPR_BASE;
    for (unsigned k = 0; k < o->words; k++)
        add(list, accumulator ? TW_EMU_AGPR : TW_EMU_VGPR,
            accumulator ? first + k - EMU_AGPR_BASE : first + k, NULL);
}

static bool names(const emu_operand *o, unsigned reg) {
    return o->kind == EMU_OPERAND_SGPR && reg >= o->reg && reg < (unsigned)o->reg + o->words;
}

/* Scalars that the instruction names as results, and all that are not what they were. */
static void add_scalars(write_list *list, const tw_emu_wave *w, const emu_inst *i,
                        const emu_trace_state *before) {
    for (unsigned reg = 0; reg < EMU_S_VCC; reg++)
        if (names(&i->d, reg) || names(&i->d2, reg) || w->s[reg] != before->s[reg])
            add(list, TW_EMU_SGPR, reg, NULL);
    for (unsigned k = 0; k < SPECIAL_COUNT; k++) {
        const struct special *s = &specials[k];
        bool wrote = false;
        for (unsigned reg = s->reg; reg < s->reg + s->words; reg++)
            wrote |= names(&i->d, reg) || names(&i->d2, reg) || w->s[reg] != before->s[reg];
        if (wrote) add(list, TW_EMU_SPECIAL, 0, s->name);
    }
    if (w->scc != before->scc || (i->row && i->row->flags & EMU_ROW_WRITES_SCC))
        add(list, TW_EMU_SPECIAL, 0, "scc");
}

/* Buffer stores, and atomics that give nothing back, have their data where others have the result. */
static bool has_result(const emu_inst *i) {
    if (i->exec == tw_emu_exec_vmem_store || i->exec == tw_emu_exec_lds_store) return false;
    bool atomic = i->exec == tw_emu_exec_vmem_atomic || i->exec == tw_emu_exec_lds_atomic;
    return !atomic || i->flags & EMU_I_RETURN;
}

static void find_writes(write_list *list, const tw_emu_wave *w, const emu_inst *i,
                        const emu_trace_state *before) {
    list->count = 0;
    add_scalars(list, w, i, before);
    if (!i->row || !has_result(i)) return;
    add_vector(list, w, &i->d);
    if (i->dual) add_vector(list, w, &i->dual->d);
    if (i->exec == tw_emu_exec_swap || i->exec == tw_emu_exec_permlane_swap) add_vector(list, w, &i->s[0]);
}

/* ---- callbacks ---- */

static bool call(tw_emu_wave *w, const emu_inst *i, tw_emu_trace_fn function, uint64_t exec,
                 const write_list *list) {
    tw_emu_trace_event event = {.kernel = w->launch->kernel->name,
                                .pc = i->pc,
                                .text = i->text,
                                .workgroup = w->group->id,
                                .wave = w->index,
                                .exec = exec,
                                .state = w,
                                .writes = list ? list->writes : NULL,
                                .write_count = list ? list->count : 0};
    event.function = tw_emu_code_where(w->launch->code, i->pc, &event.offset);
    if (function(w->launch->options->trace_user, &event)) return true;
    w->group->stop = w->group->traced_out = true;
    return false;
}

bool tw_emu_trace_before(tw_emu_wave *w, const emu_inst *i, emu_trace_state *before) {
    const tw_emu_launch *o = w->launch->options;
    if (i->exec == tw_emu_exec_link) return true;
    memcpy(before->s, w->s, sizeof before->s);
    before->scc = w->scc;
    before->exec = emu_exec_mask(w);
    return !o->trace || call(w, i, o->trace, before->exec, NULL);
}

bool tw_emu_trace_after(tw_emu_wave *w, const emu_inst *i, const emu_trace_state *before) {
    const tw_emu_launch *o = w->launch->options;
    write_list list;
    if (!o->traced || i->exec == tw_emu_exec_link) return true;
    find_writes(&list, w, i, before);
    return call(w, i, o->traced, before->exec, &list);
}
