/* GPUs, through a HIP runtime that is opened when a device is: no ROCm is needed to build or to start. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/device_ops.h"
#include "run/hip_abi.h"
#include "support/fail.h"
#include "support/strbuf.h"

typedef struct hip_device {
    void *library;
    tw_hip_api api;
    int index;
} hip_device;

typedef struct hip_module {
    void *handle;
} hip_module;

/* ---- the library ---- */

/* TILEWRIGHT_HIP names the one library to use. Without it: the ROCm that ROCM_PATH names, /opt/rocm, then the
 * loader's path, newest first. RTLD_NODELETE because the runtime has threads that outlive a dlclose. */
static void *open_library(tw_strbuf *tried) {
    char rocm[PATH_MAX] = "";
    const char *chosen = secure_getenv("TILEWRIGHT_HIP"), *root = secure_getenv("ROCM_PATH");
    if (root && root[0]) snprintf(rocm, sizeof rocm, "%s/lib/libamdhip64.so", root);
    const char *const candidates[] = {rocm,
                                      "/opt/rocm/lib/libamdhip64.so",
                                      "libamdhip64.so",
                                      "libamdhip64.so.7",
                                      "libamdhip64.so.6",
                                      "libamdhip64.so.5"};
    bool only = chosen && chosen[0];
    for (size_t i = 0; i < (only ? 1 : sizeof candidates / sizeof candidates[0]); i++) {
        const char *path = only ? chosen : candidates[i];
        if (!path[0]) continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library) return library;
        const char *why = dlerror();
        bool absent = !why || (!strncmp(why, path, strlen(path)) && strstr(why, "No such file"));
        /* Anything but a file that is not there (a library that it needs, say) in the loader's words. */
        tw_strbuf_printf(tried, "%s%s", tried->length ? ", " : "tried ", absent ? path : why);
    }
    return NULL;
}

static tw_status load_api(hip_device *device, const char *name, tw_diag *diag) {
    tw_strbuf tried;
    tw_strbuf_init(&tried, NULL);
    device->library = open_library(&tried);
    tw_status status = TW_OK;
    if (!device->library)
        status = tw_fail(diag, TW_ERR_NOT_FOUND, "%s: no HIP driver: libamdhip64.so cannot be opened (%s)",
                         name, tw_strbuf_text(&tried));
    tw_strbuf_free(&tried);
    if (status) return status;

    const char *missing = NULL;
#define TW_HIP_RESOLVE(symbol, result, parameters)                   \
    *(void **)&device->api.symbol = dlsym(device->library, #symbol); \
    if (!device->api.symbol) missing = #symbol;
    TW_HIP_FUNCTIONS(TW_HIP_RESOLVE)
#undef TW_HIP_RESOLVE
    device->api.arch_name_offset = TW_HIP_ARCH_NAME_OFFSET_R0600;
    *(void **)&device->api.get_properties = dlsym(device->library, "hipGetDevicePropertiesR0600");
    if (!device->api.get_properties) {
        device->api.arch_name_offset = TW_HIP_ARCH_NAME_OFFSET;
        *(void **)&device->api.get_properties = dlsym(device->library, "hipGetDeviceProperties");
    }
    if (!device->api.get_properties) missing = "hipGetDeviceProperties";
    if (missing)
        return tw_fail(diag, TW_ERR_NOT_FOUND,
                       "%s: the HIP driver lacks a function that is needed (got no %s)", name, missing);
    return TW_OK;
}

/* TW_OK, or the driver's own words. */
static tw_status check(const hip_device *device, int error, const char *call, tw_diag *diag) {
    if (error == TW_HIP_SUCCESS) return TW_OK;
    const char *text = device->api.hipGetErrorString(error);
    return tw_fail(diag, error == TW_HIP_ERROR_OUT_OF_MEMORY ? TW_ERR_NO_MEMORY : TW_ERR_DEVICE,
                   "hip:%d: %s must succeed (got %s, error %d)", device->index, call, text ? text : "no text",
                   error);
}

/* The current device belongs to the thread, and any thread may call. */
static tw_status select_device(const hip_device *device, tw_diag *diag) {
    return check(device, device->api.hipSetDevice(device->index), "hipSetDevice", diag);
}

/* ---- memory ---- */

static tw_status hip_allocate(void *state, size_t bytes, const char *name, uint64_t *address, tw_diag *diag) {
    (void)name;
    hip_device *device = state;
    void *memory = NULL;
    tw_status status = select_device(device, diag);
    if (!status) status = check(device, device->api.hipMalloc(&memory, bytes), "hipMalloc", diag);
    *address = (uintptr_t)memory;
    return status;
}

static void hip_release(void *state, uint64_t address) {
    hip_device *device = state;
    if (!select_device(device, NULL)) device->api.hipFree((void *)(uintptr_t)address);
}

static tw_status hip_write(void *state, uint64_t address, const void *from, size_t bytes, tw_diag *diag) {
    hip_device *device = state;
    tw_status status = select_device(device, diag);
    if (status) return status;
    return check(device,
                 device->api.hipMemcpy((void *)(uintptr_t)address, from, bytes, TW_HIP_HOST_TO_DEVICE),
                 "hipMemcpy", diag);
}

static tw_status hip_read(void *state, uint64_t address, void *to, size_t bytes, tw_diag *diag) {
    hip_device *device = state;
    tw_status status = select_device(device, diag);
    if (status) return status;
    return check(device,
                 device->api.hipMemcpy(to, (const void *)(uintptr_t)address, bytes, TW_HIP_DEVICE_TO_HOST),
                 "hipMemcpy", diag);
}

static tw_status hip_fill(void *state, uint64_t address, uint8_t value, size_t bytes, tw_diag *diag) {
    hip_device *device = state;
    tw_status status = select_device(device, diag);
    if (status) return status;
    return check(device, device->api.hipMemset((void *)(uintptr_t)address, value, bytes), "hipMemset", diag);
}

/* ---- code ---- */

static tw_status hip_load(void *state, tw_code_object *object, void **out, tw_diag *diag) {
    hip_device *device = state;
    size_t size;
    const void *image = tw_code_object_bytes(object, &size);
    hip_module *module = calloc(1, sizeof *module);
    if (!module) return tw_fail_no_memory(diag);
    tw_status status = select_device(device, diag);
    if (!status)
        status =
            check(device, device->api.hipModuleLoadData(&module->handle, image), "hipModuleLoadData", diag);
    if (status) {
        free(module);
        return status;
    }
    *out = module;
    return TW_OK;
}

static void hip_unload(void *state, void *module) {
    hip_device *device = state;
    if (!select_device(device, NULL)) device->api.hipModuleUnload(((hip_module *)module)->handle);
    free(module);
}

/* HIP fills the hidden arguments itself, behind the explicit ones that it is given. */
static tw_status hip_launch(void *state, void *module, const tw_device_launch *launch,
                            tw_launch_counts *counts, tw_diag *diag) {
    (void)counts;
    hip_device *device = state;
    const tw_dim3 grid = launch->shape.grid, block = launch->shape.block;
    void *function = NULL;
    tw_status status = select_device(device, diag);
    if (!status)
        status = check(
            device,
            device->api.hipModuleGetFunction(&function, ((hip_module *)module)->handle, launch->kernel->name),
            "hipModuleGetFunction", diag);
    if (status) return status;
    size_t size = launch->kernarg_size;
    void *extra[] = {TW_HIP_LAUNCH_PARAM_BUFFER_POINTER, (void *)launch->kernarg,
                     TW_HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, TW_HIP_LAUNCH_PARAM_END};
    status = check(device,
                   device->api.hipModuleLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
                                                     block.z, launch->shape.dynamic_lds, NULL, NULL, extra),
                   "hipModuleLaunchKernel", diag);
    if (status) return status;
    return check(device, device->api.hipDeviceSynchronize(), "hipDeviceSynchronize", diag);
}

static void hip_close(void *state) {
    hip_device *device = state;
    if (device->library) dlclose(device->library);
    free(device);
}

static const tw_device_ops hip_ops = {
    .close = hip_close,
    .allocate = hip_allocate,
    .release = hip_release,
    .write = hip_write,
    .read = hip_read,
    .fill = hip_fill,
    .load = hip_load,
    .unload = hip_unload,
    .launch = hip_launch,
};

/* ---- opening ---- */

/* How many devices the driver has; TW_ERR_NOT_FOUND where it has none or does not start. */
static tw_status count_devices(const hip_device *device, const char *name, int *count, tw_diag *diag) {
    int error = device->api.hipGetDeviceCount(count);
    const char *text = error ? device->api.hipGetErrorString(error) : NULL;
    if (error)
        return tw_fail(diag, TW_ERR_NOT_FOUND, "%s: no HIP device: hipGetDeviceCount failed (%s, error %d)",
                       name, text ? text : "no text", error);
    if (*count < 1) return tw_fail(diag, TW_ERR_NOT_FOUND, "%s: no HIP device (the driver has 0)", name);
    return TW_OK;
}

/* What the device is, by the name of its processor. */
static tw_status read_target(const hip_device *device, tw_target *target, tw_diag *diag) {
    char *properties = calloc(1, TW_HIP_PROPERTIES_BYTES);
    if (!properties) return tw_fail_no_memory(diag);
    tw_status status =
        check(device, device->api.get_properties(properties, device->index), "hipGetDeviceProperties", diag);
    if (!status) {
        char *name = properties + device->api.arch_name_offset;
        name[TW_HIP_ARCH_NAME_BYTES - 1] = 0;
        if (tw_target_parse(name, target, NULL))
            status =
                tw_fail(diag, TW_ERR_UNSUPPORTED,
                        "hip:%d: the GPU must be a target of this library (got %.64s)", device->index, name);
    }
    free(properties);
    return status;
}

static void describe(hip_device *device, tw_target target, tw_device_impl *out) {
    *out = (tw_device_impl){.ops = &hip_ops, .state = device, .target = target};
    snprintf(out->name, sizeof out->name, "hip:%d", device->index);
}

tw_status tw_hip_device_open(const char *text, tw_device_impl *out, tw_diag *diag) {
    char *end, name[32];
    long index = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || index > 9999)
        return tw_fail(diag, TW_ERR_INVALID, "hip: must be followed by the number of a device (got hip:%s)",
                       text);
    snprintf(name, sizeof name, "hip:%ld", index);
    hip_device *device = calloc(1, sizeof *device);
    if (!device) return tw_fail_no_memory(diag);
    device->index = (int)index;
    int count = 0;
    tw_target target;
    tw_status status = load_api(device, name, diag);
    if (!status) status = count_devices(device, name, &count, diag);
    if (!status && index >= count)
        status = tw_fail(diag, TW_ERR_NOT_FOUND, "%s: the driver has %d device%s (got number %ld)", name,
                         count, count == 1 ? "" : "s", index);
    if (!status) status = read_target(device, &target, diag);
    if (status) {
        hip_close(device);
        return status;
    }
    describe(device, target, out);
    return TW_OK;
}

tw_status tw_hip_device_find(const tw_target *wanted, tw_device_impl *out, tw_diag *diag) {
    hip_device *device = calloc(1, sizeof *device);
    if (!device) return tw_fail_no_memory(diag);
    int count = 0;
    tw_target target;
    tw_status status = load_api(device, "auto", diag);
    if (!status) status = count_devices(device, "auto", &count, diag);
    if (!status) {
        status = TW_ERR_NOT_FOUND;
        for (device->index = 0; status && device->index < count; device->index++)
            if (!read_target(device, &target, NULL) && (!wanted || tw_target_runs_on(*wanted, target)))
                status = TW_OK;
        if (!status) device->index--;
        if (status)
            tw_fail(diag, status, "auto: none of the driver's %d devices serves this library's targets",
                    count);
    }
    if (status) {
        hip_close(device);
        return status;
    }
    describe(device, target, out);
    return TW_OK;
}
