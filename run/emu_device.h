/* What only the emulator can be told. */
#ifndef TW_RUN_EMU_DEVICE_H
#define TW_RUN_EMU_DEVICE_H

#include "run/emu/emu.h"

/* How launches on an emulated device run; all zero is the default. See tw_emu_launch for the fields. */
typedef struct tw_emu_settings {
    unsigned threads;
    uint64_t budget;
    unsigned disabled_checks;
    unsigned max_reports;
    tw_emu_trace_fn trace, traced;
    void *trace_user;
} tw_emu_settings;

/* Holds for launches that begin later. TW_ERR_UNSUPPORTED where the device is no emulator. */
tw_status tw_device_set_emu(tw_device *device, const tw_emu_settings *settings, tw_diag *diag);

#endif
