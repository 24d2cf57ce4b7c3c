/* Registers that are named by a number in M0: relative moves, and gfx9's index mode. */
#include "run/emu/exec.h"

static uint32_t read_m0(tw_emu_wave *w) {
    if (w->su[EMU_S_M0])
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                      "a register number in m0 is made of bits that nobody wrote");
    return w->s[EMU_S_M0];
}

/* What M0 adds to the numbers of the source and of the result. */
static void offsets(tw_emu_wave *w, const emu_inst *i, uint32_t *source, uint32_t *result) {
    uint32_t m0 = read_m0(w);
    bool pair = i->row->arg == EMU_RELATIVE_PAIR;
    *source = pair ? m0 & 0x3ff : i->row->arg & EMU_RELATIVE_SOURCE ? m0 : 0;
    *result = pair ? m0 >> 16 & 0x3ff : i->row->arg & EMU_RELATIVE_RESULT ? m0 : 0;
}

static bool move_operand(tw_emu_wave *w, emu_operand *o, uint32_t by) {
    bool vector = o->kind == EMU_OPERAND_VGPR;
    if (!vector && o->kind != EMU_OPERAND_SGPR) return true;
    uint32_t reg = o->reg + by + (vector ? w->msb[o->slot] / EMU_LANES : 0);
    uint32_t limit = vector ? w->vgprs : EMU_S_VCC;
    if (by >= limit || reg + o->words > limit) {
        tw_emu_fatal(w, -1, EMU_REPORT_INVALID, "m0 names %s%u, which the wave does not have (got m0 0x%x)",
                     vector ? "v" : "s", reg, w->s[EMU_S_M0]);
        return false;
    }
    o->reg = (uint16_t)(o->reg + by);
    return true;
}

void tw_emu_exec_movrel(tw_emu_wave *w, const emu_inst *i) {
    emu_operand from = i->s[0], to = i->d;
    uint32_t source, result;
    offsets(w, i, &source, &result);
    if (!move_operand(w, &from, source) || !move_operand(w, &to, result)) return;
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t value[EMU_LANES], unknown[EMU_LANES];
        if (from.kind == EMU_OPERAND_VGPR) {
            memcpy(value, emu_vgpr(w, &from, half), sizeof value);
            memcpy(unknown, emu_vgpr_unknown(w, &from, half), sizeof unknown);
        } else {
            uint64_t u, v = tw_emu_scalar_read(w, &from, &u);
            for (unsigned l = 0; l < EMU_LANES; l++) {
                value[l] = (uint32_t)v;
                unknown[l] = (uint32_t)u;
            }
        }
        tw_emu_vector_store(w, &to, 0, half, emu_exec_half(w, half), value, unknown);
    }
}

void tw_emu_exec_swaprel(tw_emu_wave *w, const emu_inst *i) {
    emu_operand from = i->s[0], to = i->d;
    uint32_t source, result;
    offsets(w, i, &source, &result);
    if (!move_operand(w, &from, source) || !move_operand(w, &to, result)) return;
    for (unsigned half = 0; half < w->halves; half++) {
        uint32_t value[2][EMU_LANES], unknown[2][EMU_LANES], lanes = emu_exec_half(w, half);
        memcpy(value[0], emu_vgpr(w, &from, half), sizeof value[0]);
        memcpy(unknown[0], emu_vgpr_unknown(w, &from, half), sizeof unknown[0]);
        memcpy(value[1], emu_vgpr(w, &to, half), sizeof value[1]);
        memcpy(unknown[1], emu_vgpr_unknown(w, &to, half), sizeof unknown[1]);
        tw_emu_vector_store(w, &to, 0, half, lanes, value[0], unknown[0]);
        tw_emu_vector_store(w, &from, 0, half, lanes, value[1], unknown[1]);
    }
}

void tw_emu_exec_scalar_movrel(tw_emu_wave *w, const emu_inst *i) {
    emu_operand from = i->s[0], to = i->d;
    uint32_t source, result;
    offsets(w, i, &source, &result);
    if (!move_operand(w, &from, source) || !move_operand(w, &to, result)) return;
    uint64_t unknown, v = tw_emu_scalar_read(w, &from, &unknown);
    tw_emu_scalar_write(w, &to, v, unknown);
}

/* Index mode: M0[7:0] is added to the VGPR numbers of the operands that M0[15:12] names (sources 0, 1, 2 and
 * the result), until it is switched off. */
void tw_emu_exec_gpr_index(tw_emu_wave *w, const emu_inst *i) {
    bool index = i->row->arg == EMU_INDEX_ON || i->row->arg == EMU_INDEX_INDEX;
    bool mode = i->row->arg == EMU_INDEX_ON || i->row->arg == EMU_INDEX_MODE;
    uint32_t *m0 = &w->s[EMU_S_M0], *unknown = &w->su[EMU_S_M0];
    if (index) {
        uint64_t u, v = tw_emu_scalar_read(w, &i->s[0], &u);
        *m0 = (*m0 & ~0xffu) | ((uint32_t)v & 0xff);
        *unknown = (*unknown & ~0xffu) | ((uint32_t)u & 0xff);
    }
    if (mode) {
        *m0 = (*m0 & ~0xf000u) | (uint32_t)i->imm << 12;
        *unknown &= ~0xf000u;
    }
    if (i->row->arg == EMU_INDEX_ON) w->gpr_index_on = true;
    if (i->row->arg == EMU_INDEX_OFF) w->gpr_index_on = false;
    if (w->gpr_index_on && *unknown & 0xf0ff)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                      "a register number in m0 is made of bits that nobody wrote");
    for (unsigned slot = 0; slot < 4; slot++)
        w->msb[slot] = w->gpr_index_on && *m0 >> (12 + slot) & 1 ? (*m0 & 0xff) * EMU_LANES : 0;
}
