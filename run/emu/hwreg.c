/* Names of hardware registers. */
#include "run/emu/hwreg.h"

#include <stdio.h>
#include <string.h>

typedef struct hwreg_name {
    const char *name; /* without HW_REG_ */
    emu_hwreg id;
} hwreg_name;

static const hwreg_name NAMES[] = {
    {"MODE", EMU_HWREG_MODE},
    {"WAVE_MODE", EMU_HWREG_MODE},
    {"STATUS", EMU_HWREG_STATUS},
    {"WAVE_STATUS", EMU_HWREG_STATUS},
    {"WAVE_STATE_PRIV", EMU_HWREG_STATE_PRIV},
    {"TRAPSTS", EMU_HWREG_TRAPSTS},
    {"GPR_ALLOC", EMU_HWREG_GPR_ALLOC},
    {"WAVE_GPR_ALLOC", EMU_HWREG_GPR_ALLOC},
    {"LDS_ALLOC", EMU_HWREG_LDS_ALLOC},
    {"WAVE_LDS_ALLOC", EMU_HWREG_LDS_ALLOC},
    {"IB_STS2", EMU_HWREG_IB_STS2},
    {"HW_ID", EMU_HWREG_HW_ID1},
    {"HW_ID1", EMU_HWREG_HW_ID1},
    {"WAVE_HW_ID1", EMU_HWREG_HW_ID1},
    {"HW_ID2", EMU_HWREG_HW_ID2},
    {"WAVE_HW_ID2", EMU_HWREG_HW_ID2},
    {"XCC_ID", EMU_HWREG_XCC_ID},
    {"SHADER_CYCLES", EMU_HWREG_SHADER_CYCLES_LO},
    {"SHADER_CYCLES_LO", EMU_HWREG_SHADER_CYCLES_LO},
    {"SHADER_CYCLES_HI", EMU_HWREG_SHADER_CYCLES_HI},
    {"FLAT_SCR_LO", EMU_HWREG_FLAT_SCR_LO},
    {"FLAT_SCR_HI", EMU_HWREG_FLAT_SCR_HI},
    {"WAVE_SCRATCH_BASE_LO", EMU_HWREG_FLAT_SCR_LO},
    {"WAVE_SCRATCH_BASE_HI", EMU_HWREG_FLAT_SCR_HI},
    {"SH_MEM_BASES", EMU_HWREG_SH_MEM_BASES},
    {"WAVE_SCHED_MODE", EMU_HWREG_SCHED_MODE},
    {"XNACK_STATE_PRIV", EMU_HWREG_XNACK_STATE},
};

int tw_emu_hwreg_parse(const char *text, unsigned *offset, unsigned *size) {
    char name[48];
    *offset = 0;
    *size = 32;
    int fields = sscanf(text, "HW_REG_%47[A-Z0-9_], %u, %u", name, offset, size);
    if ((fields != 1 && fields != 3) || *offset > 31 || *size < 1 || *size > 32 - *offset) return -1;
    for (unsigned i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (!strcmp(name, NAMES[i].name)) return (int)NAMES[i].id;
    }
    return -1;
}
