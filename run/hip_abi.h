/* The part of HIP's binary interface that run/hip_device.c calls, declared here so that building needs no
 * ROCm. Checked against the headers of ROCm 5.2 (Debian's libamdhip64-dev) and ROCm 6; functions not named
 * with a revision kept their signature from 4.2 on. */
#ifndef TW_RUN_HIP_ABI_H
#define TW_RUN_HIP_ABI_H

#include <stddef.h>

/* hipError_t values that get a treatment of their own. */
enum {
    TW_HIP_SUCCESS = 0,
    TW_HIP_ERROR_OUT_OF_MEMORY = 2,
    TW_HIP_ERROR_NO_DEVICE = 100,
    TW_HIP_ERROR_INVALID_DEVICE = 101
};

/* hipMemcpyKind */
enum { TW_HIP_HOST_TO_DEVICE = 1, TW_HIP_DEVICE_TO_HOST = 2 };

/* Marks in the `extra` list of hipModuleLaunchKernel. */
#define TW_HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define TW_HIP_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)
#define TW_HIP_LAUNCH_PARAM_END            ((void *)3)

/* Device properties. The structure changed once: the symbol hipGetDeviceProperties fills the old layout for
 * programs built with ROCm 5 (792 bytes in 5.2), hipGetDevicePropertiesR0600, which ROCm 6 brought, the new
 * one (1472 bytes). Of either only gcnArchName is read, from its place; the rest is room, generous because a
 * later release may append fields. The name is taken only where it reads as a target
 * ("gfx942:sramecc+:xnack-"). */
enum {
    TW_HIP_PROPERTIES_BYTES = 16384,
    TW_HIP_ARCH_NAME_BYTES = 256,
    TW_HIP_ARCH_NAME_OFFSET = 396,       /* hipGetDeviceProperties */
    TW_HIP_ARCH_NAME_OFFSET_R0600 = 1160 /* hipGetDevicePropertiesR0600 */
};

/* name, result and parameters; all return hipError_t, an int, unless said otherwise. */
#define TW_HIP_FUNCTIONS(X)                                                                     \
    X(hipGetDeviceCount, int, (int *count))                                                     \
    X(hipSetDevice, int, (int device))                                                          \
    X(hipMalloc, int, (void **address, size_t bytes))                                           \
    X(hipFree, int, (void *address))                                                            \
    X(hipMemcpy, int, (void *to, const void *from, size_t bytes, int kind))                     \
    X(hipMemset, int, (void *address, int value, size_t bytes))                                 \
    X(hipDeviceSynchronize, int, (void))                                                        \
    X(hipModuleLoadData, int, (void **module, const void *image))                               \
    X(hipModuleUnload, int, (void *module))                                                     \
    X(hipModuleGetFunction, int, (void **function, void *module, const char *name))             \
    X(hipModuleLaunchKernel, int,                                                               \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,     \
       unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream, void **parameters, \
       void **extra))                                                                           \
    X(hipGetErrorString, const char *, (int error))

typedef int (*tw_hip_get_properties)(void *properties, int device);

typedef struct tw_hip_api {
#define TW_HIP_FIELD(name, result, parameters) result(*name) parameters;
    TW_HIP_FUNCTIONS(TW_HIP_FIELD)
#undef TW_HIP_FIELD
    tw_hip_get_properties get_properties;
    size_t arch_name_offset; /* in what get_properties fills */
} tw_hip_api;

#endif
