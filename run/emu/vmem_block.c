/* Loads and stores of up to 32 registers, each in its own place, and loads for a cluster. */
#include "run/emu/copy.h"
#include "run/emu/vmem.h"

enum { REGISTERS = 32 };

/* The instruction for one of the registers. */
static emu_inst part(const emu_inst *i, unsigned k, bool store) {
    emu_inst one = *i;
    emu_operand *data = store ? &one.s[1] : &one.d;
    one.imm += 4 * k;
    data->reg = (uint16_t)(data->reg + k);
    data->words = 1;
    return one;
}

/* All addresses are read before a register is written: the block may hold the address. */
static void load(tw_emu_wave *w, const emu_inst *i, uint32_t mask) {
    uint32_t value[REGISTERS][EMU_LANES], unknown[REGISTERS][EMU_LANES], loaded[REGISTERS];
    bool any[REGISTERS];
    for (unsigned half = 0; half < w->halves; half++) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned k = (unsigned)__builtin_ctz(rest);
            emu_inst one = part(i, k, false);
            loaded[k] = tw_emu_vmem_load_half(w, &one, half, value[k], unknown[k], &any[k]);
        }
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned k = (unsigned)__builtin_ctz(rest);
            emu_inst one = part(i, k, false);
            tw_emu_vector_store(w, &one.d, 0, half, loaded[k], value[k], any[k] ? unknown[k] : NULL);
        }
    }
}

void tw_emu_exec_vmem_block(tw_emu_wave *w, const emu_inst *i) {
    uint32_t mask = w->s[EMU_S_M0];
    if (w->su[EMU_S_M0]) {
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                      "the mask of registers in m0 is made of bits that nobody wrote");
        return;
    }
    if (!(i->row->flags & EMU_ROW_STORE)) {
        load(w, i, mask);
        return;
    }
    for (; mask; mask &= mask - 1) {
        emu_inst one = part(i, (unsigned)__builtin_ctz(mask), true);
        tw_emu_exec_vmem_store(w, &one);
    }
}

void tw_emu_exec_cluster_load(tw_emu_wave *w, const emu_inst *i) {
    if (tw_emu_copy_alone(w)) tw_emu_exec_vmem_load(w, i);
}
