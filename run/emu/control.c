/* Control flow, barriers, modes and what the scalar unit knows of the hardware. */
#include "run/emu/exec.h"

#include <fenv.h>

#include "run/emu/hwreg.h"

void tw_emu_exec_nop(tw_emu_wave *w, const emu_inst *i) { (void)w, (void)i; }

void tw_emu_exec_link(tw_emu_wave *w, const emu_inst *i) {
    w->pc = i->target;
    w->executed--; /* it is no instruction */
    w->counts[i->cls]--;
}

void tw_emu_exec_unknown(tw_emu_wave *w, const emu_inst *i) {
    tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "the emulator does not know this instruction: %s",
                 (const char *)i->fn.any);
}

void tw_emu_exec_undecodable(tw_emu_wave *w, const emu_inst *i) {
    (void)i;
    tw_emu_fatal(w, -1, EMU_REPORT_NO_CODE, "there is no instruction at this address");
}

void tw_emu_exec_endpgm(tw_emu_wave *w, const emu_inst *i) {
    (void)i;
    w->state = EMU_WAVE_DONE;
}

/* ---- branches ---- */

static bool vcc_zero(const tw_emu_wave *w) {
    return !w->s[EMU_S_VCC] && (w->halves == 1 || !w->s[EMU_S_VCC + 1]);
}

void tw_emu_exec_branch(tw_emu_wave *w, const emu_inst *i) {
    bool taken = true, undecided = false;
    switch ((emu_branch)i->row->arg) {
    case EMU_BRANCH_ALWAYS: break;
    case EMU_BRANCH_SCC0: taken = !w->scc; break;
    case EMU_BRANCH_SCC1: taken = w->scc; break;
    case EMU_BRANCH_VCCZ: taken = vcc_zero(w); break;
    case EMU_BRANCH_VCCNZ: taken = !vcc_zero(w); break;
    case EMU_BRANCH_EXECZ: taken = !emu_exec_mask(w); break;
    case EMU_BRANCH_EXECNZ: taken = emu_exec_mask(w); break;
    case EMU_BRANCH_CALL: tw_emu_scalar_write(w, &i->d, i->pc + i->size, 0); break;
    }
    if (i->row->arg == EMU_BRANCH_SCC0 || i->row->arg == EMU_BRANCH_SCC1) undecided = w->scc_unknown;
    if (i->row->arg == EMU_BRANCH_VCCZ || i->row->arg == EMU_BRANCH_VCCNZ) undecided = emu_vcc_undecided(w);
    if (undecided)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED, "a branch depends on bits that nobody wrote");
    if (taken) w->pc = i->target;
}

void tw_emu_exec_getpc(tw_emu_wave *w, const emu_inst *i) {
    tw_emu_scalar_write(w, &i->d, i->pc + i->size, 0);
}

static void jump(tw_emu_wave *w, uint64_t to) {
    const emu_inst *target = tw_emu_code_at(w->launch->code, to);
    if (!target)
        tw_emu_no_memory(w);
    else if (target->exec == tw_emu_exec_undecodable)
        tw_emu_fatal(w, -1, EMU_REPORT_NO_CODE, "a jump to an address that holds no code (got 0x%llx)",
                     (unsigned long long)to);
    else
        w->pc = target;
}

/* The address of a jump, of which no bit may be unknown. */
static bool jump_operand(tw_emu_wave *w, const emu_inst *i, uint64_t *to) {
    uint64_t unknown;
    *to = tw_emu_scalar_read(w, &i->s[0], &unknown);
    if (unknown)
        tw_emu_fatal(w, -1, EMU_REPORT_UNINITIALISED, "a jump to an address made of bits that nobody wrote");
    return !unknown;
}

void tw_emu_exec_setpc(tw_emu_wave *w, const emu_inst *i) {
    uint64_t to;
    if (!jump_operand(w, i, &to)) return;
    if (i->row->arg) tw_emu_scalar_write(w, &i->d, i->pc + i->size, 0);
    jump(w, to);
}

void tw_emu_exec_add_pc(tw_emu_wave *w, const emu_inst *i) {
    uint64_t by;
    if (jump_operand(w, i, &by)) jump(w, i->pc + i->size + by);
}

/* ---- sleep and traps ---- */

void tw_emu_exec_sleep(tw_emu_wave *w, const emu_inst *i) {
    (void)i;
    w->yield = true;
}

void tw_emu_exec_trap(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown;
    unsigned number = (unsigned)tw_emu_scalar_read(w, &i->s[0], &unknown);
    tw_emu_fatal(w, -1, EMU_REPORT_TRAP, "the kernel trapped (got trap %u)", number);
}

/* Nobody listens: only what needs no answer from outside goes through. */
void tw_emu_exec_sendmsg(tw_emu_wave *w, const emu_inst *i) {
    if (i->imm == EMU_MESSAGE_DEALLOC_VGPRS && !i->row->arg) return;
    if (i->imm == EMU_MESSAGE_GET_REALTIME && i->row->arg)
        tw_emu_scalar_write(w, &i->d, w->executed, 0);
    else
        tw_emu_fatal(w, -1, EMU_REPORT_MESSAGE, "a message that nobody answers in the emulator");
}

/* ---- modes and hardware registers ---- */

void tw_emu_mode_changed(tw_emu_wave *w) {
    bool ieee = w->mode >> 9 & 1, clamp = w->mode >> 8 & 1;
    /* gfx12 has neither bit: NaNs clamp to zero, and minima know only numbers. */
    if (w->launch->isa >= TW_ISA_GFX12) {
        ieee = false;
        clamp = true;
    }
    w->lane_mode = (ieee ? EMU_MODE_IEEE : 0) | (clamp ? EMU_MODE_DX10_CLAMP : 0) |
                   (w->mode >> 23 & 1 ? EMU_MODE_FP16_OVFL : 0) |
                   (tw_arch_get(w->launch->target.arch)->fp8 == TW_FP8_FNUZ ? EMU_MODE_FNUZ : 0) |
                   (w->launch->isa == TW_ISA_GFX12 ? EMU_MODE_RDNA4 : 0);
    w->slow_float = (w->mode & 0xff) != 0xf0 || w->lane_mode & EMU_MODE_FP16_OVFL;
}

static uint32_t read_hwreg(tw_emu_wave *w, emu_hwreg id) {
    switch (id) {
    case EMU_HWREG_MODE: return w->mode;
    case EMU_HWREG_SHADER_CYCLES_LO: return (uint32_t)w->executed;
    case EMU_HWREG_SHADER_CYCLES_HI: return (uint32_t)(w->executed >> 32);
    case EMU_HWREG_FLAT_SCR_LO: return w->s[EMU_S_FLAT_SCRATCH];
    case EMU_HWREG_FLAT_SCR_HI: return w->s[EMU_S_FLAT_SCRATCH + 1];
    case EMU_HWREG_SH_MEM_BASES:
        return (uint32_t)(EMU_SHARED_APERTURE >> 32 & 0xffff0000u) | (uint32_t)(EMU_PRIVATE_APERTURE >> 48);
    default: return 0; /* where in the hardware a wave runs: always the first place */
    }
}

static void write_hwreg(tw_emu_wave *w, const emu_inst *i, uint32_t value) {
    unsigned offset = (unsigned)(i->imm2 & 0xff), size = (unsigned)(i->imm2 >> 8);
    uint32_t mask = (size == 32 ? 0xffffffffu : (1u << size) - 1) << offset;
    switch ((emu_hwreg)i->imm) {
    case EMU_HWREG_MODE:
        w->mode = (w->mode & ~mask) | (value << offset & mask);
        tw_emu_mode_changed(w);
        break;
    case EMU_HWREG_FLAT_SCR_LO: w->s[EMU_S_FLAT_SCRATCH] = value; break;
    case EMU_HWREG_FLAT_SCR_HI: w->s[EMU_S_FLAT_SCRATCH + 1] = value; break;
    case EMU_HWREG_SCHED_MODE:
    case EMU_HWREG_TRAP_CONTROL:
    case EMU_HWREG_TRAPSTS: break;
    default: tw_emu_fatal(w, -1, EMU_REPORT_UNKNOWN, "the emulator cannot write this hardware register");
    }
}

void tw_emu_exec_getreg(tw_emu_wave *w, const emu_inst *i) {
    unsigned offset = (unsigned)(i->imm2 & 0xff), size = (unsigned)(i->imm2 >> 8);
    uint32_t v = read_hwreg(w, (emu_hwreg)i->imm) >> offset;
    if (size < 32) v &= (1u << size) - 1;
    tw_emu_scalar_write(w, &i->d, v, 0);
}

/* gfx1250 keeps the blocks of VGPRs in bits 19:12 of the mode register, the result's first. */
enum { MSB_SHIFT = 12, MSB_BITS = 0xff };

static void set_mode_msb(tw_emu_wave *w, uint32_t bits) {
    w->mode = (w->mode & ~((uint32_t)MSB_BITS << MSB_SHIFT)) | (bits & MSB_BITS) << MSB_SHIFT;
    for (unsigned slot = 0; slot < 4; slot++)
        w->msb[slot] = (bits >> (2 * ((slot + 1) % 4)) & 3) * 256 * EMU_LANES;
}

void tw_emu_exec_setreg(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown, v = tw_emu_scalar_read(w, &i->s[0], &unknown);
    if (unknown)
        tw_emu_report(w, -1, EMU_REPORT_UNINITIALISED,
                      "a hardware register is set to bits that nobody wrote");
    write_hwreg(w, i, (uint32_t)v);
    if ((emu_hwreg)i->imm != EMU_HWREG_MODE || w->launch->isa != TW_ISA_GFX1250) return;
    /* A literal sets them from its own bits 19:12, whatever field is written; LLVM relies on it. */
    set_mode_msb(w, (i->row->arg ? (uint32_t)v : w->mode) >> MSB_SHIFT);
}

void tw_emu_exec_mode_bits(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown;
    uint32_t v = (uint32_t)tw_emu_scalar_read(w, &i->s[0], &unknown) & 15, shift = i->row->arg;
    w->mode = (w->mode & ~(15u << shift)) | v << shift;
    tw_emu_mode_changed(w);
}

/* Bits 1:0, 3:2, 5:4 and 7:6: which block of 256 VGPRs sources 0, 1, 2 and the result are in. */
void tw_emu_exec_vgpr_msb(tw_emu_wave *w, const emu_inst *i) {
    uint64_t unknown;
    uint32_t v = (uint32_t)tw_emu_scalar_read(w, &i->s[0], &unknown);
    set_mode_msb(w, v << 2 | (v & MSB_BITS) >> 6);
}

void tw_emu_exec_clock(tw_emu_wave *w, const emu_inst *i) { tw_emu_scalar_write(w, &i->d, w->executed, 0); }
