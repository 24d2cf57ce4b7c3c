/* A HIP runtime that runs nothing: it keeps memory on the host, checks what it is given and writes down its
 * calls. Built twice: with the device properties of ROCm 6, and (FAKE_HIP_ROCM5) with those of ROCm 5.
 *
 * FAKE_HIP_ARCHS is a list of devices, "gfx942:sramecc+:xnack-,gfx1100"; FAKE_HIP_FAIL names a function that
 * fails. fake_hip_log is the text that a test reads and clears. */
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/hip_abi.h"

#define EXPORT __attribute__((visibility("default")))

#define DECLARE(name, result, parameters) EXPORT result name parameters;
TW_HIP_FUNCTIONS(DECLARE)
EXPORT int hipGetDeviceProperties(void *properties, int device);
EXPORT int hipGetDevicePropertiesR0600(void *properties, int device);

EXPORT char fake_hip_log[8192];
EXPORT int fake_hip_live;     /* allocations and modules */
EXPORT int fake_hip_overlaps; /* calls that found another one under way: a device makes one at a time */

static _Thread_local int current = -1;

static atomic_int under_way;

/* Writes down a call, and stays long enough for another thread to come. */
static void note(const char *format, ...) {
    size_t used = strlen(fake_hip_log);
    va_list arguments;
    if (atomic_fetch_add(&under_way, 1)) fake_hip_overlaps++;
    va_start(arguments, format);
    vsnprintf(fake_hip_log + used, sizeof fake_hip_log - used, format, arguments);
    va_end(arguments);
    sched_yield();
    atomic_fetch_sub(&under_way, 1);
}

static bool fails(const char *name) {
    const char *chosen = getenv("FAKE_HIP_FAIL");
    return chosen && !strcmp(chosen, name);
}

/* The name of device `index` in `name`, or false. */
static bool arch_of(int index, char name[64]) {
    const char *at = getenv("FAKE_HIP_ARCHS");
    for (; at && *at && index > 0; index--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    if (!at || !*at || index < 0) return false;
    snprintf(name, 64, "%.*s", (int)strcspn(at, ","), at);
    return true;
}

const char *hipGetErrorString(int error) {
    switch (error) {
    case 2: return "out of memory";
    case 100: return "no ROCm-capable device is detected";
    case 719: return "unspecified launch failure";
    default: return "invalid argument";
    }
}

int hipGetDeviceCount(int *count) {
    char name[64];
    for (*count = 0; arch_of(*count, name);)
        ++*count;
    return fails("hipGetDeviceCount") ? 100 : 0;
}

int hipSetDevice(int device) {
    char name[64];
    if (!arch_of(device, name) || fails("hipSetDevice")) return 101;
    current = device;
    return 0;
}

#ifdef FAKE_HIP_ROCM5
enum { PROPERTIES_BYTES = 792, ARCH_NAME = 396 };
#define GET_PROPERTIES hipGetDeviceProperties
#else
enum { PROPERTIES_BYTES = 1472, ARCH_NAME = 1160 };
#define GET_PROPERTIES hipGetDevicePropertiesR0600
/* The old entry point is still there in new releases, and fills the old layout. */
int hipGetDeviceProperties(void *properties, int device) {
    (void)device;
    memset(properties, 0x7f, 792);
    return 0;
}
#endif

int GET_PROPERTIES(void *properties, int device) {
    char name[64];
    if (!arch_of(device, name) || fails("hipGetDeviceProperties")) return 101;
    memset(properties, 0x7f, PROPERTIES_BYTES);
    memset((char *)properties + ARCH_NAME, 0, 256);
    memcpy((char *)properties + ARCH_NAME, name, strlen(name));
    return 0;
}

int hipMalloc(void **address, size_t bytes) {
    if (fails("hipMalloc")) return 2;
    *address = malloc(bytes);
    fake_hip_live++;
    note("hipMalloc %zu on %d\n", bytes, current);
    return *address ? 0 : 2;
}

int hipFree(void *address) {
    free(address);
    fake_hip_live--;
    note("hipFree on %d\n", current);
    return 0;
}

int hipMemcpy(void *to, const void *from, size_t bytes, int kind) {
    if (fails("hipMemcpy")) return 1;
    memcpy(to, from, bytes);
    note("hipMemcpy %zu %s on %d\n", bytes, kind == 1 ? "in" : kind == 2 ? "out" : "?", current);
    return 0;
}

int hipMemset(void *address, int value, size_t bytes) {
    if (fails("hipMemset")) return 1;
    memset(address, value, bytes);
    note("hipMemset %zu %d on %d\n", bytes, value, current);
    return 0;
}

int hipDeviceSynchronize(void) {
    note("hipDeviceSynchronize on %d\n", current);
    return fails("hipDeviceSynchronize") ? 719 : 0;
}

int hipModuleLoadData(void **module, const void *image) {
    if (fails("hipModuleLoadData") || memcmp(image, "\177ELF", 4)) return 1;
    *module = malloc(1);
    fake_hip_live++;
    note("hipModuleLoadData on %d\n", current);
    return 0;
}

int hipModuleUnload(void *module) {
    free(module);
    fake_hip_live--;
    note("hipModuleUnload on %d\n", current);
    return 0;
}

int hipModuleGetFunction(void **function, void *module, const char *name) {
    if (fails("hipModuleGetFunction")) return 1;
    *function = module;
    note("hipModuleGetFunction %s on %d\n", name, current);
    return 0;
}

int hipModuleLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned lds_bytes, void *stream,
                          void **parameters, void **extra) {
    if (fails("hipModuleLaunchKernel") || !function || stream || parameters) return 1;
    if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4] != (void *)3) return 1;
    size_t size = *(size_t *)extra[3];
    const unsigned char *kernarg = extra[1];
    note("hipModuleLaunchKernel %u,%u,%u %u,%u,%u lds %u kernarg %zu:", grid_x, grid_y, grid_z, block_x,
         block_y, block_z, lds_bytes, size);
    for (size_t i = 0; i < size; i++)
        note("%02x", kernarg[i]);
    note(" on %d\n", current);
    return 0;
}
