/* What a kind of device is: one table of functions each. run/device.c does everything that is the same for
 * all: names, checks, ownership, locking. Calls on one device arrive one at a time. */
#ifndef TW_RUN_DEVICE_OPS_H
#define TW_RUN_DEVICE_OPS_H

#include "run/kernarg.h"

/* A launch that was checked against the kernel's metadata and the target. */
typedef struct tw_device_launch {
    const tw_kernel_info *kernel;
    tw_launch_shape shape;
    const uint8_t *kernarg; /* the explicit arguments, device addresses included */
    size_t kernarg_size;
} tw_device_launch;

typedef struct tw_device_ops {
    /* Frees the state and all that is left on the device. */
    void (*close)(void *state);
    /* Memory is named by its device address. `bytes` is never 0 here: empty buffers need no memory. */
    tw_status (*allocate)(void *state, size_t bytes, const char *name, uint64_t *address, tw_diag *diag);
    void (*release)(void *state, uint64_t address);
    /* The range lies in one buffer, and `bytes` is not 0. */
    tw_status (*write)(void *state, uint64_t address, const void *from, size_t bytes, tw_diag *diag);
    tw_status (*read)(void *state, uint64_t address, void *to, size_t bytes, tw_diag *diag);
    tw_status (*fill)(void *state, uint64_t address, uint8_t value, size_t bytes, tw_diag *diag);
    /* The code object is for this device's target, has no undefined symbol, and outlives the module. */
    tw_status (*load)(void *state, tw_code_object *object, void **module, tw_diag *diag);
    void (*unload)(void *state, void *module);
    /* Runs to the end. `counts` is all zero when called. */
    tw_status (*launch)(void *state, void *module, const tw_device_launch *launch, tw_launch_counts *counts,
                        tw_diag *diag);
} tw_device_ops;

/* What opening a device gives. */
typedef struct tw_device_impl {
    const tw_device_ops *ops;
    void *state;
    tw_target target;
    char name[TW_TARGET_NAME_MAX + 8];
} tw_device_impl;

/* "emu:" and what follows is read by the first, "hip:" by the second; `text` is what stands behind the colon.
 */
tw_status tw_emu_device_open(const char *text, tw_device_impl *out, tw_diag *diag);
tw_status tw_hip_device_open(const char *text, tw_device_impl *out, tw_diag *diag);
/* The first GPU that runs code for `target` (any GPU where it is NULL); TW_ERR_NOT_FOUND with the reason. */
tw_status tw_hip_device_find(const tw_target *target, tw_device_impl *out, tw_diag *diag);

#endif
