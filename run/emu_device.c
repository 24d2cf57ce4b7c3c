#include "run/emu_device.h"

#include <stdio.h>
#include <stdlib.h>

#include "run/device_internal.h"
#include "support/fail.h"

typedef struct emu_device {
    tw_emu *emu;
    tw_emu_settings settings;
} emu_device;

static void emu_close(void *state) {
    emu_device *device = state;
    tw_emu_free(device->emu);
    free(device);
}

static tw_status emu_allocate(void *state, size_t bytes, const char *name, uint64_t *address, tw_diag *diag) {
    return tw_emu_alloc(((emu_device *)state)->emu, bytes, name, address, diag);
}

static void emu_release(void *state, uint64_t address) {
    tw_emu_release(((emu_device *)state)->emu, address, NULL);
}

static tw_status emu_write(void *state, uint64_t address, const void *from, size_t bytes, tw_diag *diag) {
    return tw_emu_write(((emu_device *)state)->emu, address, from, bytes, diag);
}

static tw_status emu_read(void *state, uint64_t address, void *to, size_t bytes, tw_diag *diag) {
    return tw_emu_read(((emu_device *)state)->emu, address, to, bytes, diag);
}

static tw_status emu_fill(void *state, uint64_t address, uint8_t value, size_t bytes, tw_diag *diag) {
    return tw_emu_fill(((emu_device *)state)->emu, address, value, bytes, diag);
}

static tw_status emu_load(void *state, tw_code_object *object, void **module, tw_diag *diag) {
    tw_emu_module *loaded = NULL;
    tw_status status = tw_emu_load(((emu_device *)state)->emu, object, &loaded, diag);
    *module = loaded;
    return status;
}

static void emu_unload(void *state, void *module) {
    (void)state;
    tw_emu_unload(module);
}

static tw_status emu_launch(void *state, void *module, const tw_device_launch *launch,
                            tw_launch_counts *counts, tw_diag *diag) {
    const tw_emu_settings *settings = &((emu_device *)state)->settings;
    size_t size = launch->kernel->kernarg_size;
    uint8_t *segment = malloc(size ? 2 * size : 1);
    if (!segment) return tw_fail_no_memory(diag);
    uint8_t *known = segment + size;
    tw_launch_shape shape = launch->shape;
    tw_emu_apertures(((emu_device *)state)->emu, &shape.private_base, &shape.shared_base);
    tw_status status =
        tw_kernarg_fill(launch->kernel, &shape, launch->kernarg, launch->kernarg_size, segment, known, diag);
    if (!status) {
        tw_emu_launch request = {
            .kernel = launch->kernel,
            .grid = launch->shape.grid,
            .block = launch->shape.block,
            .dynamic_lds = launch->shape.dynamic_lds,
            .kernarg = segment,
            .kernarg_size = size,
            .kernarg_known = known,
            .threads = settings->threads,
            .budget = settings->budget,
            .disabled_checks = settings->disabled_checks,
            .max_reports = settings->max_reports,
            .trace = settings->trace,
            .traced = settings->traced,
            .trace_user = settings->trace_user,
        };
        status = tw_emu_run(module, &request, counts, diag);
    }
    free(segment);
    return status;
}

static const tw_device_ops emu_ops = {
    .close = emu_close,
    .allocate = emu_allocate,
    .release = emu_release,
    .write = emu_write,
    .read = emu_read,
    .fill = emu_fill,
    .load = emu_load,
    .unload = emu_unload,
    .launch = emu_launch,
};

tw_status tw_emu_device_open(const char *text, tw_device_impl *out, tw_diag *diag) {
    tw_target target;
    tw_status status = tw_target_parse(text, &target, diag);
    if (status) return status;
    emu_device *device = calloc(1, sizeof *device);
    if (!device) return tw_fail_no_memory(diag);
    status = tw_emu_new(target, &device->emu, diag);
    if (status) {
        free(device);
        return status;
    }
    char name[TW_TARGET_NAME_MAX];
    tw_target_format(target, name);
    *out = (tw_device_impl){.ops = &emu_ops, .state = device, .target = target};
    snprintf(out->name, sizeof out->name, "emu:%s", name);
    return TW_OK;
}

tw_status tw_device_set_emu(tw_device *device, const tw_emu_settings *settings, tw_diag *diag) {
    if (device->impl.ops != &emu_ops)
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "these settings are for an emulator (got %s)",
                       device->impl.name);
    tw_device_lock(device);
    ((emu_device *)device->impl.state)->settings = *settings;
    tw_device_unlock(device);
    return TW_OK;
}
