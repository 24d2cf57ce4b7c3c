#include "run/device_internal.h"

#include <stdlib.h>
#include <string.h>

#include "support/fail.h"

/* ---- opening ---- */

/* "auto" takes a GPU where there is one. With a target it takes only a GPU that runs the target's code, and
 * the emulator where there is none; without, there is nothing to fall back to. */
static tw_status open_auto(const char *text, tw_device_impl *out, tw_diag *diag) {
    tw_target target;
    if (!text) {
        tw_status status = tw_hip_device_find(NULL, out, diag);
        if (status == TW_ERR_NOT_FOUND)
            tw_note(diag, "auto",
                    "a target to fall back to is missing: write auto:gfx1250, for example (got auto)");
        return status;
    }
    tw_status status = tw_target_parse(text, &target, diag);
    if (status) return status;
    if (!tw_hip_device_find(&target, out, NULL)) return TW_OK;
    return tw_emu_device_open(text, out, diag);
}

static tw_status open_by_name(const char *name, tw_device_impl *out, tw_diag *diag) {
    static const struct {
        const char *prefix;
        tw_status (*open)(const char *text, tw_device_impl *out, tw_diag *diag);
    } kinds[] = {{"emu:", tw_emu_device_open}, {"hip:", tw_hip_device_open}, {"auto:", open_auto}};
    if (!strcmp(name, "auto")) return open_auto(NULL, out, diag);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        size_t length = strlen(kinds[i].prefix);
        if (!strncmp(name, kinds[i].prefix, length)) return kinds[i].open(name + length, out, diag);
    }
    return tw_fail(diag, TW_ERR_INVALID, "a device must be emu:TARGET, hip:N, auto or auto:TARGET (got %s)",
                   name);
}

tw_status tw_device_open(const char *name, tw_device **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_device_open needs a place for the device (got NULL)");
    *out = NULL;
    if (!name) return tw_fail(diag, TW_ERR_USAGE, "tw_device_open needs a name (got NULL)");
    tw_device *device = calloc(1, sizeof *device);
    if (!device) return tw_fail_no_memory(diag);
    tw_status status = open_by_name(name, &device->impl, diag);
    if (!status && pthread_mutex_init(&device->lock, NULL)) {
        device->impl.ops->close(device->impl.state);
        status = tw_fail_no_memory(diag);
    }
    if (status) {
        free(device);
        return status;
    }
    *out = device;
    return TW_OK;
}

void tw_device_close(tw_device *device) {
    if (!device) return;
    while (device->modules)
        tw_module_unload(device->modules);
    while (device->buffers)
        tw_buffer_free(device->buffers);
    device->impl.ops->close(device->impl.state);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

const char *tw_device_name(const tw_device *device) { return device->impl.name; }

tw_target tw_device_target(const tw_device *device) { return device->impl.target; }

void tw_device_lock(const tw_device *device) { pthread_mutex_lock((pthread_mutex_t *)&device->lock); }

void tw_device_unlock(const tw_device *device) { pthread_mutex_unlock((pthread_mutex_t *)&device->lock); }

tw_launch_counts tw_device_last_counts(const tw_device *device) {
    tw_device_lock(device);
    tw_launch_counts counts = device->counts;
    tw_device_unlock(device);
    return counts;
}

/* ---- buffers ---- */

tw_status tw_buffer_new_named(tw_device *device, size_t bytes, const char *name, tw_buffer **out,
                              tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_buffer_new needs a place for the buffer (got NULL)");
    *out = NULL;
    if (!device) return tw_fail(diag, TW_ERR_USAGE, "tw_buffer_new needs a device (got NULL)");
    tw_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) return tw_fail_no_memory(diag);
    *buffer = (tw_buffer){.device = device, .bytes = bytes};
    tw_device_lock(device);
    tw_status status = bytes ? device->impl.ops->allocate(device->impl.state, bytes, name ? name : "",
                                                          &buffer->address, diag)
                             : TW_OK;
    if (!status) {
        buffer->next = device->buffers;
        if (buffer->next) buffer->next->link = &buffer->next;
        buffer->link = &device->buffers;
        device->buffers = buffer;
        *out = buffer;
    }
    tw_device_unlock(device);
    if (status) free(buffer);
    return status;
}

tw_status tw_buffer_new(tw_device *device, size_t bytes, tw_buffer **out, tw_diag *diag) {
    return tw_buffer_new_named(device, bytes, NULL, out, diag);
}

void tw_buffer_free(tw_buffer *buffer) {
    if (!buffer) return;
    tw_device *device = buffer->device;
    tw_device_lock(device);
    *buffer->link = buffer->next;
    if (buffer->next) buffer->next->link = buffer->link;
    if (buffer->bytes) device->impl.ops->release(device->impl.state, buffer->address);
    tw_device_unlock(device);
    free(buffer);
}

size_t tw_buffer_size(const tw_buffer *buffer) { return buffer ? buffer->bytes : 0; }

/* The one gate of every copy. `host`: its side in the host's memory is there. */
static tw_status check_range(const tw_buffer *buffer, size_t offset, size_t bytes, bool host, tw_diag *diag) {
    if (!buffer) return tw_fail(diag, TW_ERR_USAGE, "a copy needs a buffer (got NULL)");
    if (!host && bytes)
        return tw_fail(diag, TW_ERR_USAGE, "a copy of %zu bytes needs host memory (got NULL)", bytes);
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return tw_fail(diag, TW_ERR_USAGE,
                       "a copy must stay inside the %zu bytes of the buffer (got %zu at offset %zu)",
                       buffer->bytes, bytes, offset);
    return TW_OK;
}

tw_status tw_buffer_write(tw_buffer *buffer, size_t offset, const void *from, size_t bytes, tw_diag *diag) {
    tw_status status = check_range(buffer, offset, bytes, from, diag);
    if (status || !bytes) return status;
    const tw_device_impl *impl = &buffer->device->impl;
    tw_device_lock(buffer->device);
    status = impl->ops->write(impl->state, buffer->address + offset, from, bytes, diag);
    tw_device_unlock(buffer->device);
    return status;
}

tw_status tw_buffer_read(const tw_buffer *buffer, size_t offset, void *to, size_t bytes, tw_diag *diag) {
    tw_status status = check_range(buffer, offset, bytes, to, diag);
    if (status || !bytes) return status;
    const tw_device_impl *impl = &buffer->device->impl;
    tw_device_lock(buffer->device);
    status = impl->ops->read(impl->state, buffer->address + offset, to, bytes, diag);
    tw_device_unlock(buffer->device);
    return status;
}

tw_status tw_buffer_fill(tw_buffer *buffer, size_t offset, uint8_t value, size_t bytes, tw_diag *diag) {
    tw_status status = check_range(buffer, offset, bytes, true, diag);
    if (status || !bytes) return status;
    const tw_device_impl *impl = &buffer->device->impl;
    tw_device_lock(buffer->device);
    status = impl->ops->fill(impl->state, buffer->address + offset, value, bytes, diag);
    tw_device_unlock(buffer->device);
    return status;
}
