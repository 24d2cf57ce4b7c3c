/* Which instructions have a fast handler. */
#include "run/emu/fast.h"

/* Modifiers that a fast handler applies: no parts of registers (SDWA), no other lanes (DPP). */
static bool simple_sources(const emu_inst *i) {
    if (i->flags & EMU_I_DPP || i->sources < 1 || i->sources > EMU_FAST_SOURCES) return false;
    for (unsigned k = 0; k < i->sources; k++) {
        const emu_operand *o = &i->s[k];
        if (o->sel || o->words < 1 || o->words > 2) return false;
        if (o->kind != EMU_OPERAND_VGPR && o->kind != EMU_OPERAND_SGPR && o->kind != EMU_OPERAND_CONST)
            return false;
    }
    return !(i->row->flags & EMU_ROW_FLUSH);
}

static bool simple_result(const emu_inst *i) {
    return i->d.kind == EMU_OPERAND_VGPR && i->d.words <= 2 && !i->omod && !i->dst_sel &&
           !(i->flags & EMU_I_CLAMP);
}

/* Half of a dual instruction. */
static bool simple_half(const emu_inst *i) {
    return i->row->bind == EMU_BIND_VECTOR && simple_sources(i) && simple_result(i) &&
           !(i->flags & (EMU_I_MODS | EMU_I_RESULT | EMU_I_CARRY_OUT));
}

emu_exec_fn tw_emu_fast_handler(const emu_inst *i) {
    const emu_fast_handlers *fast = tw_emu_fast_handlers();
    if (i->exec == tw_emu_exec_scalar) return tw_emu_fast_scalar(i);
    if (i->exec == tw_emu_exec_dual) return simple_half(i) && simple_half(i->dual) ? fast->dual : i->exec;
    bool nan = i->row && i->row->flags & EMU_ROW_FLOAT;
    if (i->exec == tw_emu_exec_vector && simple_sources(i) && simple_result(i))
        return fast->plain[i->sources - 1][nan];
    if (i->exec == tw_emu_exec_vector_full && simple_sources(i) && simple_result(i))
        return fast->modified[i->sources - 1][nan];
    if (i->exec == tw_emu_exec_compare && simple_sources(i))
        return fast->compare[(i->flags & EMU_I_MODS) != 0];
    return i->exec;
}
