/* What an emulator and its modules are made of. */
#ifndef TW_RUN_EMU_DEVICE_H
#define TW_RUN_EMU_DEVICE_H

#include "run/emu/code.h"
#include "run/emu/memory.h"
#include "run/emu/schedule.h"

struct tw_emu {
    tw_target target;
    tw_isa isa;
    emu_table *table;
    emu_memory memory;
    tw_emu_module *modules;
};

struct tw_emu_module {
    tw_emu *emu;
    tw_emu_module *next;
    tw_code_object *object;
    emu_buffer *image;     /* all segments */
    uint64_t first;        /* the virtual address that lies at the start of the image */
    uint64_t bias;         /* device address - virtual address */
    uint64_t code_address; /* virtual */
    size_t code_bytes;
    emu_code *code[2]; /* decoded for wave32 and wave64, when a launch first needs it */
};

tw_status tw_emu_module_code(tw_emu_module *module, unsigned wave_size, emu_code **out, tw_diag *diag);

#endif
