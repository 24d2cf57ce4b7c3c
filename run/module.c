#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/device_internal.h"
#include "support/fail.h"

/* ---- modules ---- */

static tw_status check_object(const tw_device *device, const tw_code_object *object, tw_diag *diag) {
    if (!tw_target_runs_on(tw_code_object_target(object), device->impl.target))
        return tw_fail(diag, TW_ERR_UNSUPPORTED, "%s runs no code of another target (got %s)",
                       device->impl.name, tw_code_object_target_id(object));
    if (tw_code_object_undefined_count(object))
        return tw_fail(diag, TW_ERR_COMPILE, "a code object that runs has no undefined symbol (got %s)",
                       tw_code_object_undefined_at(object, 0));
    return TW_OK;
}

tw_status tw_module_load(tw_device *device, tw_code_object *object, tw_module **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_module_load needs a place for the module (got NULL)");
    *out = NULL;
    if (!device || !object)
        return tw_fail(diag, TW_ERR_USAGE, "tw_module_load needs a device and a code object (got NULL)");
    tw_status status = check_object(device, object, diag);
    if (status) return status;
    tw_module *module = calloc(1, sizeof *module);
    if (!module) return tw_fail_no_memory(diag);
    *module = (tw_module){.device = device, .object = tw_code_object_retain(object)};
    tw_device_lock(device);
    status = device->impl.ops->load(device->impl.state, object, &module->state, diag);
    if (!status) {
        module->next = device->modules;
        if (module->next) module->next->link = &module->next;
        module->link = &device->modules;
        device->modules = module;
        *out = module;
    }
    tw_device_unlock(device);
    if (status) {
        tw_code_object_release(object);
        free(module);
    }
    return status;
}

void tw_module_unload(tw_module *module) {
    if (!module) return;
    tw_device *device = module->device;
    tw_device_lock(device);
    *module->link = module->next;
    if (module->next) module->next->link = module->link;
    device->impl.ops->unload(device->impl.state, module->state);
    tw_device_unlock(device);
    tw_code_object_release(module->object);
    free(module);
}

tw_code_object *tw_module_code_object(const tw_module *module) { return module->object; }

tw_device *tw_module_device(const tw_module *module) { return module->device; }

/* ---- launches ---- */

static tw_status check_pointer(const tw_module *module, const tw_kernel_info *kernel,
                               const tw_kernarg_pointer *pointer, size_t kernarg_size, tw_diag *diag) {
    if (!pointer->buffer)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "the pointer at kernarg offset %u needs a buffer (got NULL)",
                          pointer->kernarg_offset);
    if (pointer->buffer->device != module->device)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "the buffer at kernarg offset %u must live on %s (got one of %s)",
                          pointer->kernarg_offset, module->device->impl.name,
                          pointer->buffer->device->impl.name);
    if ((uint64_t)pointer->kernarg_offset + 8 > kernarg_size)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "a pointer must lie in the %zu bytes of explicit arguments (got offset %u)",
                          kernarg_size, pointer->kernarg_offset);
    if (pointer->byte_offset > pointer->buffer->bytes)
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "an address must lie in its buffer of %zu bytes (got offset %llu)",
                          pointer->buffer->bytes, (unsigned long long)pointer->byte_offset);
    return TW_OK;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Patches the addresses into `kernarg` and runs. */
static tw_status launch(tw_module *module, const tw_kernel_info *kernel, const tw_launch_shape *shape,
                        uint8_t *kernarg, size_t kernarg_size, const tw_kernarg_pointer *pointers,
                        size_t pointer_count, tw_diag *diag) {
    tw_device *device = module->device;
    tw_status status = tw_launch_check(kernel, device->impl.target, shape, diag);
    for (size_t i = 0; !status && i < pointer_count; i++) {
        status = check_pointer(module, kernel, &pointers[i], kernarg_size, diag);
        if (!status)
            tw_kernarg_put_address(kernarg + pointers[i].kernarg_offset,
                                   pointers[i].buffer->address + pointers[i].byte_offset);
    }
    if (status) return status;
    tw_device_launch request = {
        .kernel = kernel, .shape = *shape, .kernarg = kernarg, .kernarg_size = kernarg_size};
    tw_launch_counts counts = {0};
    tw_device_lock(device);
    uint64_t start = now();
    status = device->impl.ops->launch(device->impl.state, module->state, &request, &counts, diag);
    counts.nanoseconds = now() - start;
    device->counts = counts;
    tw_device_unlock(device);
    return status;
}

tw_status tw_launch(tw_module *module, const char *name, tw_dim3 grid, tw_dim3 block,
                    const tw_launch_arg *args, size_t arg_count, tw_diag *diag) {
    if (!module || (arg_count && !args))
        return tw_fail(diag, TW_ERR_USAGE, "tw_launch needs a module and its arguments (got NULL)");
    const tw_kernel_info *kernel = tw_kernel_find(module->object, name, diag);
    if (!kernel) return TW_ERR_NOT_FOUND;
    tw_launch_shape shape = {.grid = grid, .block = block};
    size_t size = tw_kernarg_explicit_size(kernel), pointer_count = 0;
    uint8_t *kernarg = calloc(size ? size : 1, 1);
    tw_kernarg_pointer *pointers = calloc(arg_count ? arg_count : 1, sizeof *pointers);
    tw_status status = kernarg && pointers ? tw_kernarg_pack(kernel, args, arg_count, kernarg, diag)
                                           : tw_fail_no_memory(diag);
    for (size_t i = 0; !status && i < arg_count; i++)
        if (args[i].kind == TW_LAUNCH_BUFFER)
            pointers[pointer_count++] =
                (tw_kernarg_pointer){tw_kernarg_explicit_at(kernel, i)->offset, args[i].as.buffer.buffer,
                                     args[i].as.buffer.offset};
    if (!status) status = launch(module, kernel, &shape, kernarg, size, pointers, pointer_count, diag);
    free(kernarg);
    free(pointers);
    return status;
}

tw_status tw_launch_raw(tw_module *module, const char *name, tw_dim3 grid, tw_dim3 block,
                        uint32_t dynamic_lds, const void *kernarg, size_t kernarg_size,
                        const tw_kernarg_pointer *pointers, size_t pointer_count, tw_diag *diag) {
    if (!module || (kernarg_size && !kernarg) || (pointer_count && !pointers))
        return tw_fail(diag, TW_ERR_USAGE,
                       "tw_launch_raw needs a module, kernarg bytes and pointers (got NULL)");
    const tw_kernel_info *kernel = tw_kernel_find(module->object, name, diag);
    if (!kernel) return TW_ERR_NOT_FOUND;
    if (kernarg_size != tw_kernarg_explicit_size(kernel))
        return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                          "the explicit arguments of this kernel have %u bytes (got %zu)",
                          tw_kernarg_explicit_size(kernel), kernarg_size);
    tw_launch_shape shape = {.grid = grid, .block = block, .dynamic_lds = dynamic_lds};
    uint8_t *copy = malloc(kernarg_size ? kernarg_size : 1);
    if (!copy) return tw_fail_no_memory(diag);
    if (kernarg_size) memcpy(copy, kernarg, kernarg_size);
    tw_status status = launch(module, kernel, &shape, copy, kernarg_size, pointers, pointer_count, diag);
    free(copy);
    return status;
}
