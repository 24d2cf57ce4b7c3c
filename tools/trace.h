/* What --profile, --trace and --watch ask of the emulator, for all commands that run kernels. */
#ifndef TW_TOOLS_TRACE_H
#define TW_TOOLS_TRACE_H

#include "tools/cli.h"

/* Give cli_trace_argp in the argp's children, and a cli_trace, all zero, as the child's input. */
typedef struct cli_trace {
    bool profile;
    bool tracing, watching, by_workgroup, by_wave;
    const char *path;       /* of the trace; NULL: standard error */
    const char *watch_text; /* the PC as it was given */
    tw_dim3 workgroup;      /* that is looked at */
    uint32_t wave;          /* of the workgroup */
    uint64_t watch_pc;      /* distance from the start of the kernel */
    uint64_t watch_count;   /* how many times it has to come there, 1 or more */
    uint64_t seen;
    unsigned disabled_checks; /* tw_emu_check bits; for nothing where the device is no emulator */
    bool stopped;             /* the watch was hit, or the trace cannot be written */
    bool failed;
    FILE *out;
} cli_trace;
extern const struct argp cli_trace_argp;

/* Before launches. TW_ERR_UNSUPPORTED where the device is no emulator and something has to be traced. */
tw_status cli_trace_start(cli_trace *trace, tw_device *device, tw_diag *diag);
/* After them, with the status that they gave; whether a watch ended them, which is no error, is in
 * trace->stopped. */
tw_status cli_trace_finish(cli_trace *trace, tw_device *device, tw_status status, tw_diag *diag);

#endif
