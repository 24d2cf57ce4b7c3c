/* The arguments that 'tilewright exec' passes to a kernel: words of the command line, buffers, files. */
#ifndef TW_TOOLS_EXEC_ARGS_H
#define TW_TOOLS_EXEC_ARGS_H

#include "run/kernarg.h"

typedef struct cli_exec_arg {
    tw_launch_arg launch;             /* a buffer's is made by cli_exec_args_upload */
    const char *read_from, *write_to; /* files of a buffer; NULL: zeros; kept by nobody */
    uint64_t bytes;                   /* of a buffer */
    size_t same_as;                   /* the earlier argument whose buffer this is; its own number else */
    uint8_t *data;                    /* the bytes of a by-value argument, or the host's copy of a buffer */
} cli_exec_arg;

typedef struct cli_exec_args {
    cli_exec_arg *items;
    size_t count;
} cli_exec_args;

/* buf:FILE, zero:BYTES[:FILE], i32:N, i64:N, f32:X, f64:X, hex:BYTES, null. TW_ERR_USAGE with the rule. `out`
 * points into `words`, and is safe to free in every case. */
tw_status cli_exec_args_parse(char *const *words, size_t count, cli_exec_args *out, tw_diag *diag);
void cli_exec_args_free(cli_exec_args *args);
/* Makes the buffers on the device and fills them. Buffers are freed with the device. */
tw_status cli_exec_args_upload(cli_exec_args *args, tw_device *device, const tw_kernel_info *kernel,
                               tw_diag *diag);
/* Launches. Explicit arguments past the last that was given are null, or zeros. */
tw_status cli_exec_args_launch(const cli_exec_args *args, tw_module *module, const tw_kernel_info *kernel,
                               const tw_launch_shape *shape, tw_diag *diag);
/* Reads the buffers back and writes the files. */
tw_status cli_exec_args_download(cli_exec_args *args, tw_diag *diag);

#endif
