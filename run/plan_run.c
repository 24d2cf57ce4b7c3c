#include <stdlib.h>
#include <string.h>

#include "run/plan_internal.h"
#include "support/fail.h"

/* ---- packing ---- */

static tw_launch_arg launch_arg(const tw_plan_arg *arg) {
    tw_launch_arg out = {.kind = arg->kind};
    switch (arg->kind) {
    case TW_LAUNCH_I32: out.as.i32 = arg->as.i32; break;
    case TW_LAUNCH_I64: out.as.i64 = arg->as.i64; break;
    case TW_LAUNCH_F32: out.as.f32 = arg->as.f32; break;
    case TW_LAUNCH_F64: out.as.f64 = arg->as.f64; break;
    case TW_LAUNCH_BYTES:
        out.as.bytes.data = arg->as.bytes.data;
        out.as.bytes.size = arg->as.bytes.size;
        break;
    case TW_LAUNCH_BUFFER:
    case TW_LAUNCH_NULL: break;
    }
    return out;
}

/* Two names that are both known must agree. */
static tw_status check_names(const tw_plan_launch *launch, const tw_kernel_info *kernel, tw_diag *diag) {
    for (size_t i = 0; i < launch->arg_count; i++) {
        const tw_arg_info *info = tw_kernarg_explicit_at(kernel, i);
        const char *name = launch->args[i].name;
        if (info && info->name[0] && name[0] && strcmp(info->name, name))
            return tw_fail_at(diag, TW_ERR_USAGE, kernel->name, 0, 0,
                              "argument %zu of this kernel is %s (got %s)", i, info->name, name);
    }
    return TW_OK;
}

void tw_plan_kernarg_free(tw_plan_kernarg *kernarg) {
    free(kernarg->bytes);
    free(kernarg->pointers);
    *kernarg = (tw_plan_kernarg){0};
}

tw_status tw_plan_pack(const tw_plan_launch *launch, const tw_kernel_info *kernel, tw_target target,
                       tw_plan_kernarg *out, tw_diag *diag) {
    size_t size = tw_kernarg_explicit_size(kernel), count = launch->arg_count;
    *out = (tw_plan_kernarg){
        .bytes = calloc(size + 1, 1), .size = size, .pointers = calloc(count + 1, sizeof(tw_plan_pointer))};
    tw_launch_arg *args = calloc(count + 1, sizeof *args);
    tw_launch_shape shape = {
        .grid = launch->grid, .block = launch->block, .dynamic_lds = launch->dynamic_lds};
    tw_status status = out->bytes && out->pointers && args ? TW_OK : tw_fail_no_memory(diag);
    for (size_t i = 0; !status && i < count; i++)
        args[i] = launch_arg(&launch->args[i]);
    if (!status) status = tw_launch_check(kernel, target, &shape, diag);
    if (!status) status = check_names(launch, kernel, diag);
    if (!status) status = tw_kernarg_pack(kernel, args, count, out->bytes, diag);
    for (size_t i = 0; !status && i < count; i++)
        if (launch->args[i].kind == TW_LAUNCH_BUFFER)
            out->pointers[out->pointer_count++] =
                (tw_plan_pointer){tw_kernarg_explicit_at(kernel, i)->offset, launch->args[i].as.buffer.index,
                                  launch->args[i].as.buffer.offset};
    free(args);
    return status;
}

/* ---- execution ---- */

static tw_status check_buffers(const tw_plan *plan, tw_buffer *const *buffers, size_t count, tw_diag *diag) {
    size_t wanted = tw_plan_buffer_count(plan);
    if (count != wanted || (count && !buffers))
        return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                          "this plan has %zu buffers (got %zu)", wanted, buffers ? count : 0);
    for (size_t i = 0; i < count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        if (!buffers[i] || tw_buffer_size(buffers[i]) < buffer->bytes)
            return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                              "buffer %s needs %llu bytes (got %zu)", buffer->name,
                              (unsigned long long)buffer->bytes, tw_buffer_size(buffers[i]));
    }
    return TW_OK;
}

static tw_status check_modules(const tw_plan *plan, tw_module *const *modules, size_t count, tw_diag *diag) {
    size_t wanted = tw_plan_object_count(plan);
    bool present = modules || !count;
    for (size_t i = 0; present && i < count; i++)
        present = modules[i];
    if (count == wanted && present) return TW_OK;
    return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                      "this plan needs %zu code objects (got %zu%s)", wanted, count,
                      present ? "" : " with a NULL");
}

tw_status tw_plan_kernarg_launch(const tw_plan_kernarg *kernarg, tw_module *module, const char *kernel,
                                 const tw_launch_shape *shape, tw_buffer *const *buffers, tw_diag *diag) {
    tw_kernarg_pointer *pointers = calloc(kernarg->pointer_count + 1, sizeof *pointers);
    if (!pointers) return tw_fail_no_memory(diag);
    for (size_t i = 0; i < kernarg->pointer_count; i++) {
        const tw_plan_pointer *from = &kernarg->pointers[i];
        pointers[i] = (tw_kernarg_pointer){from->kernarg_offset, buffers[from->buffer], from->byte_offset};
    }
    tw_status status = tw_launch_raw(module, kernel, shape->grid, shape->block, shape->dynamic_lds,
                                     kernarg->bytes, kernarg->size, pointers, kernarg->pointer_count, diag);
    free(pointers);
    return status;
}

static tw_status run_launch(const tw_plan *plan, const tw_plan_launch *launch, tw_module *module,
                            const tw_plan_kernarg *kernarg, tw_buffer *const *buffers, tw_diag *diag) {
    for (size_t i = 0; i < launch->zeroed_count; i++) {
        uint32_t b = launch->zeroed[i]; /* the caller's buffer may be larger */
        tw_status status = tw_buffer_fill(buffers[b], 0, 0, (size_t)tw_plan_buffer_at(plan, b)->bytes, diag);
        if (status) return status;
    }
    const tw_launch_shape shape = {
        .grid = launch->grid, .block = launch->block, .dynamic_lds = launch->dynamic_lds};
    return tw_plan_kernarg_launch(kernarg, module, launch->kernel, &shape, buffers, diag);
}

tw_status tw_plan_execute(const tw_plan *plan, tw_module *const *modules, size_t module_count,
                          tw_buffer *const *buffers, size_t buffer_count, tw_launch_counts *counts,
                          tw_diag *diag) {
    tw_status status = tw_plan_check(plan, diag);
    if (!status) status = check_modules(plan, modules, module_count, diag);
    if (!status) status = check_buffers(plan, buffers, buffer_count, diag);
    if (status) return status;
    size_t launches = tw_plan_launch_count(plan);
    tw_plan_kernarg *kernargs = calloc(launches, sizeof *kernargs);
    if (!kernargs) return tw_fail_no_memory(diag);
    for (size_t i = 0; !status && i < launches; i++) {
        const tw_plan_launch *launch = tw_plan_launch_at(plan, i);
        const tw_module *module = modules[launch->object];
        const tw_kernel_info *kernel = tw_kernel_find(tw_module_code_object(module), launch->kernel, diag);
        status = kernel ? tw_plan_pack(launch, kernel, tw_device_target(tw_module_device(module)),
                                       &kernargs[i], diag)
                        : TW_ERR_NOT_FOUND;
    }
    for (size_t i = 0; !status && i < launches; i++) {
        const tw_plan_launch *launch = tw_plan_launch_at(plan, i);
        tw_module *module = modules[launch->object];
        status = run_launch(plan, launch, module, &kernargs[i], buffers, diag);
        if (counts) counts[i] = tw_device_last_counts(tw_module_device(module));
    }
    for (size_t i = 0; i < launches; i++)
        tw_plan_kernarg_free(&kernargs[i]);
    free(kernargs);
    return status;
}

/* ---- from host memory to host memory ---- */

static bool is_read(const tw_plan_buffer *buffer) {
    return buffer->role == TW_PLAN_INPUT || buffer->role == TW_PLAN_INOUT;
}

static bool is_written(const tw_plan_buffer *buffer) {
    return buffer->role == TW_PLAN_OUTPUT || buffer->role == TW_PLAN_INOUT;
}

static tw_status check_hosts(const tw_plan *plan, const tw_plan_host *hosts, size_t count, tw_diag *diag) {
    size_t wanted = tw_plan_buffer_count(plan);
    if (count != wanted || (count && !hosts))
        return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                          "this plan has %zu buffers (got %zu)", wanted, hosts ? count : 0);
    for (size_t i = 0; i < count; i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        if (!buffer->bytes) continue;
        if (is_read(buffer) && !hosts[i].input)
            return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                              "buffer %s needs input (got NULL)", buffer->name);
        if (is_written(buffer) && !hosts[i].output)
            return tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                              "buffer %s needs a place for output (got NULL)", buffer->name);
    }
    return TW_OK;
}

/* One object given for several launches is loaded once: later entries repeat the module. */
static tw_status load_modules(tw_device *device, tw_code_object *const *objects, size_t count,
                              tw_module **modules, tw_diag *diag) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i && !modules[i]; j++)
            if (objects[j] == objects[i]) modules[i] = modules[j];
        if (modules[i]) continue;
        tw_status status = tw_module_load(device, objects[i], &modules[i], diag);
        if (status) return status;
    }
    return TW_OK;
}

/* From the end, so that what is compared is still alive. */
static void unload_modules(tw_module **modules, size_t count) {
    for (size_t i = count; i-- > 0;) {
        bool repeated = false;
        for (size_t j = 0; j < i; j++)
            repeated |= modules[j] == modules[i];
        if (!repeated) tw_module_unload(modules[i]);
    }
}

static tw_status make_buffers(const tw_plan *plan, tw_device *device, const tw_plan_host *hosts,
                              tw_buffer **buffers, tw_diag *diag) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < tw_plan_buffer_count(plan); i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        status = tw_buffer_new_named(device, (size_t)buffer->bytes, buffer->name, &buffers[i], diag);
        if (!status && is_read(buffer))
            status = tw_buffer_write(buffers[i], 0, hosts[i].input, (size_t)buffer->bytes, diag);
    }
    return status;
}

static tw_status copy_back(const tw_plan *plan, const tw_plan_host *hosts, tw_buffer *const *buffers,
                           tw_diag *diag) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < tw_plan_buffer_count(plan); i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        if (is_written(buffer))
            status = tw_buffer_read(buffers[i], 0, hosts[i].output, (size_t)buffer->bytes, diag);
    }
    return status;
}

tw_status tw_plan_run(const tw_plan *plan, tw_device *device, tw_code_object *const *objects,
                      size_t object_count, const tw_plan_host *hosts, size_t host_count,
                      tw_launch_counts *counts, tw_diag *diag) {
    tw_status status = tw_plan_check(plan, diag);
    if (!status) status = check_hosts(plan, hosts, host_count, diag);
    size_t wanted = tw_plan_object_count(plan);
    if (!status && (object_count != wanted || !objects))
        status = tw_fail_at(diag, TW_ERR_USAGE, tw_plan_label(plan), 0, 0,
                            "this plan needs %zu code objects (got %zu)", wanted, objects ? object_count : 0);
    if (status) return status;
    tw_module **modules = calloc(object_count + 1, sizeof *modules);
    tw_buffer **buffers = calloc(host_count + 1, sizeof *buffers);
    status = modules && buffers ? load_modules(device, objects, object_count, modules, diag)
                                : tw_fail_no_memory(diag);
    if (!status) status = make_buffers(plan, device, hosts, buffers, diag);
    if (!status) status = tw_plan_execute(plan, modules, object_count, buffers, host_count, counts, diag);
    if (!status) status = copy_back(plan, hosts, buffers, diag);
    for (size_t i = 0; buffers && i < host_count; i++)
        tw_buffer_free(buffers[i]);
    if (modules) unload_modules(modules, object_count);
    free(buffers);
    free(modules);
    return status;
}
