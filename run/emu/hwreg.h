/* Hardware registers that s_getreg and s_setreg name. */
#ifndef TW_RUN_EMU_HWREG_H
#define TW_RUN_EMU_HWREG_H

typedef enum emu_hwreg {
    EMU_HWREG_MODE = 0,
    EMU_HWREG_STATUS,
    EMU_HWREG_STATE_PRIV,
    EMU_HWREG_TRAPSTS,
    EMU_HWREG_GPR_ALLOC,
    EMU_HWREG_LDS_ALLOC,
    EMU_HWREG_IB_STS2,
    EMU_HWREG_HW_ID1,
    EMU_HWREG_HW_ID2,
    EMU_HWREG_XCC_ID,
    EMU_HWREG_SHADER_CYCLES_LO,
    EMU_HWREG_SHADER_CYCLES_HI,
    EMU_HWREG_FLAT_SCR_LO,
    EMU_HWREG_FLAT_SCR_HI,
    EMU_HWREG_SH_MEM_BASES,
    EMU_HWREG_SCHED_MODE,
    EMU_HWREG_XNACK_STATE,
    EMU_HWREG_TRAP_CONTROL,
    EMU_HWREG_TRAP_HANDLER,
    EMU_HWREG_SNAPSHOT, /* of a profiler */
    EMU_HWREG_DYNAMIC_VGPRS,
    EMU_HWREG_COUNT
} emu_hwreg;

/* Reads "HW_REG_MODE, 4, 2" or "HW_REG_MODE" (all 32 bits). An emu_hwreg, or -1. */
int tw_emu_hwreg_parse(const char *text, unsigned *offset, unsigned *size);

#endif
