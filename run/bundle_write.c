#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "jit/file.h"
#include "run/bundle_internal.h"
#include "run/element.h"
#include "support/fail.h"
#include "support/strbuf.h"

typedef struct writer {
    const char *directory;
    const tw_bundle_source *source;
    tw_diag *diag;
    bool failed; /* JSON ran out of memory */
} writer;

tw_status tw_bundle_elements(const tw_bundle_output *output, uint64_t bytes, const char *place,
                             uint64_t *elements, tw_diag *diag) {
    size_t size = (unsigned)output->format < TW_SCALAR_COUNT ? tw_element_bytes(output->format) : 0;
    if (!size)
        return tw_fail(diag, TW_ERR_INVALID,
                       "%s must have elements of a format with a whole value (got format %d)", place,
                       (int)output->format);
    if (output->rank < 1 || output->rank > TW_BUNDLE_MAX_RANK)
        return tw_fail(diag, TW_ERR_INVALID, "%s must have a rank of 1..%d (got %u)", place,
                       TW_BUNDLE_MAX_RANK, output->rank);
    uint64_t count = 1;
    for (uint32_t i = 0; i < output->rank; i++)
        if (__builtin_mul_overflow(count, output->shape[i], &count)) count = UINT64_MAX;
    if (count > bytes / size)
        return tw_fail(diag, TW_ERR_INVALID,
                       "%s must fit in its buffer of %llu bytes (got %llu elements of %zu)", place,
                       (unsigned long long)bytes, (unsigned long long)count, size);
    *elements = count;
    return TW_OK;
}

/* ---- JSON: errors are sticky, and a value is handed over when it is complete ---- */

static void set(writer *w, json_t *object, const char *key, json_t *value) {
    w->failed |= json_object_set_new(object, key, value) != 0; /* takes the reference; refuses NULL */
}

static void push(writer *w, json_t *array, json_t *value) {
    w->failed |= json_array_append_new(array, value) != 0;
}

static json_t *dim3_json(writer *w, tw_dim3 d) {
    json_t *array = json_array();
    push(w, array, json_integer(d.x));
    push(w, array, json_integer(d.y));
    push(w, array, json_integer(d.z));
    return array;
}

/* ---- files ---- */

static tw_status write_file(writer *w, const char *name, const void *bytes, size_t size) {
    tw_strbuf path;
    tw_strbuf_init(&path, NULL);
    tw_strbuf_printf(&path, "%s/%s", w->directory, name);
    tw_status status =
        path.failed ? tw_fail_no_memory(w->diag) : tw_file_write(tw_strbuf_text(&path), bytes, size, w->diag);
    tw_strbuf_free(&path);
    return status;
}

/* Raw little-endian doubles. */
static tw_status write_doubles(writer *w, const char *name, const double *values, uint64_t count) {
    size_t size = (size_t)count * 8;
    uint8_t *bytes = malloc(size ? size : 1);
    if (!bytes) return tw_fail_no_memory(w->diag);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], 8);
        for (unsigned b = 0; b < 8; b++)
            bytes[8 * i + b] = (uint8_t)(bits >> (8 * b));
    }
    tw_status status = write_file(w, name, bytes, size);
    free(bytes);
    return status;
}

/* ---- members ---- */

static tw_status add_buffers(writer *w, json_t *list) {
    const tw_plan *plan = w->source->plan;
    for (size_t i = 0; i < tw_plan_buffer_count(plan); i++) {
        const tw_plan_buffer *buffer = tw_plan_buffer_at(plan, i);
        const void *data = w->source->hosts[i].input;
        bool starts_with_data = buffer->role == TW_PLAN_INPUT || buffer->role == TW_PLAN_INOUT;
        char file[96];
        snprintf(file, sizeof file, "%s.bin", buffer->name);
        json_t *entry = json_object();
        set(w, entry, "name", json_string(buffer->name));
        set(w, entry, "bytes", json_integer((json_int_t)buffer->bytes));
        set(w, entry, starts_with_data ? "file" : "fill",
            starts_with_data ? json_string(file) : json_integer(255));
        push(w, list, entry);
        if (!starts_with_data) continue;
        if (!data && buffer->bytes)
            return tw_fail(w->diag, TW_ERR_USAGE, "buffer %s needs input (got NULL)", buffer->name);
        tw_status status = write_file(w, file, data ? data : "", (size_t)buffer->bytes);
        if (status) return status;
    }
    return TW_OK;
}

static json_t *kernarg_json(writer *w, const tw_plan_kernarg *kernarg) {
    tw_strbuf hex;
    tw_strbuf_init(&hex, NULL);
    for (size_t i = 0; i < kernarg->size; i++)
        tw_strbuf_printf(&hex, "%02x", kernarg->bytes[i]);
    w->failed |= hex.failed;
    json_t *text = json_string(tw_strbuf_text(&hex));
    tw_strbuf_free(&hex);
    return text;
}

static json_t *zero_json(writer *w, const tw_plan_launch *launch) {
    json_t *names = json_array();
    for (size_t i = 0; i < launch->zeroed_count; i++)
        push(w, names, json_string(tw_plan_buffer_at(w->source->plan, launch->zeroed[i])->name));
    return names;
}

static json_t *pointers_json(writer *w, const tw_plan_kernarg *kernarg) {
    json_t *list = json_array();
    for (size_t i = 0; i < kernarg->pointer_count; i++) {
        const tw_plan_pointer *pointer = &kernarg->pointers[i];
        json_t *entry = json_object();
        set(w, entry, "offset", json_integer(pointer->kernarg_offset));
        set(w, entry, "buffer", json_string(tw_plan_buffer_at(w->source->plan, pointer->buffer)->name));
        set(w, entry, "byte_offset", json_integer((json_int_t)pointer->byte_offset));
        push(w, list, entry);
    }
    return list;
}

static tw_status add_launch(writer *w, json_t *list, const tw_plan_launch *launch) {
    const tw_kernel_info *kernel =
        tw_kernel_find(w->source->objects[launch->object], launch->kernel, w->diag);
    if (!kernel) return TW_ERR_NOT_FOUND;
    tw_plan_kernarg kernarg;
    tw_status status = tw_plan_pack(launch, kernel, w->source->target, &kernarg, w->diag);
    if (!status) {
        char file[32];
        snprintf(file, sizeof file, "k%u.hsaco", launch->object);
        json_t *entry = json_object();
        set(w, entry, "code_object", json_string(file));
        set(w, entry, "kernel", json_string(launch->kernel));
        set(w, entry, "grid", dim3_json(w, launch->grid));
        set(w, entry, "block", dim3_json(w, launch->block));
        set(w, entry, "dynamic_lds", json_integer(launch->dynamic_lds));
        set(w, entry, "zero", zero_json(w, launch));
        set(w, entry, "kernarg", kernarg_json(w, &kernarg));
        set(w, entry, "pointers", pointers_json(w, &kernarg));
        push(w, list, entry);
    }
    tw_plan_kernarg_free(&kernarg);
    return status;
}

static tw_status add_launches(writer *w, json_t *list) {
    tw_status status = TW_OK;
    for (size_t i = 0; !status && i < w->source->object_count; i++) {
        char file[32];
        size_t size;
        const void *bytes = tw_code_object_bytes(w->source->objects[i], &size);
        snprintf(file, sizeof file, "k%zu.hsaco", i);
        status = write_file(w, file, bytes, size);
    }
    for (size_t i = 0; !status && i < tw_plan_launch_count(w->source->plan); i++)
        status = add_launch(w, list, tw_plan_launch_at(w->source->plan, i));
    return status;
}

static tw_status check_bounds(const tw_bundle_output *output, const char *place, uint64_t elements,
                              tw_diag *diag) {
    if (elements && (!output->expected || !output->bound))
        return tw_fail(diag, TW_ERR_USAGE, "%s needs expected values and bounds (got NULL)", place);
    for (uint64_t i = 0; i < elements; i++)
        if (!(output->bound[i] >= 0))
            return tw_fail(diag, TW_ERR_INVALID,
                           "%s must have bounds of 0 or more (got another value at element %llu)", place,
                           (unsigned long long)i);
    return TW_OK;
}

static tw_status add_output(writer *w, json_t *list, size_t index) {
    const tw_bundle_output *output = &w->source->outputs[index];
    const tw_plan_buffer *buffer = tw_plan_buffer_at(w->source->plan, output->buffer);
    char place[32], expected[96], bound[96];
    uint64_t elements = 0;
    snprintf(place, sizeof place, "outputs[%zu]", index);
    if (!buffer)
        return tw_fail(w->diag, TW_ERR_USAGE, "%s must be one of the plan's %zu buffers (got index %u)",
                       place, tw_plan_buffer_count(w->source->plan), output->buffer);
    tw_status status = tw_bundle_elements(output, buffer->bytes, place, &elements, w->diag);
    if (!status) status = check_bounds(output, place, elements, w->diag);
    if (status) return status;
    snprintf(expected, sizeof expected, "%s.expected.f64", buffer->name);
    snprintf(bound, sizeof bound, "%s.bound.f64", buffer->name);
    json_t *entry = json_object(), *shape = json_array();
    for (uint32_t i = 0; i < output->rank; i++)
        push(w, shape, json_integer((json_int_t)output->shape[i]));
    set(w, entry, "buffer", json_string(buffer->name));
    set(w, entry, "dtype", json_string(tw_scalar_name(output->format)));
    set(w, entry, "shape", shape);
    set(w, entry, "expected", json_string(expected));
    set(w, entry, "bound", json_string(bound));
    push(w, list, entry);
    status = write_doubles(w, expected, output->expected, elements);
    return status ? status : write_doubles(w, bound, output->bound, elements);
}

/* ---- the whole ---- */

static tw_status check_source(const tw_bundle_source *source, tw_diag *diag) {
    tw_status status = tw_plan_check(source->plan, diag);
    if (status) return status;
    if (source->object_count != tw_plan_object_count(source->plan))
        return tw_fail(diag, TW_ERR_USAGE, "this plan needs %zu code objects (got %zu)",
                       tw_plan_object_count(source->plan), source->object_count);
    if (source->host_count != tw_plan_buffer_count(source->plan))
        return tw_fail(diag, TW_ERR_USAGE, "this plan has %zu buffers (got %zu)",
                       tw_plan_buffer_count(source->plan), source->host_count);
    for (size_t i = 0; i < source->output_count; i++)
        for (size_t j = 0; j < i; j++)
            if (source->outputs[i].buffer == source->outputs[j].buffer)
                return tw_fail(diag, TW_ERR_USAGE, "a buffer must be an output once (got index %u)",
                               source->outputs[i].buffer);
    if (!source->output_count)
        return tw_fail(diag, TW_ERR_USAGE, "a bundle must have at least 1 output (got 0)");
    return TW_OK;
}

static tw_status fill_root(writer *w, json_t *root) {
    char target[TW_TARGET_NAME_MAX];
    tw_target_format(w->source->target, target);
    json_t *buffers = json_array(), *launches = json_array(), *outputs = json_array();
    tw_status status = add_buffers(w, buffers);
    if (!status) status = add_launches(w, launches);
    for (size_t i = 0; !status && i < w->source->output_count; i++)
        status = add_output(w, outputs, i);
    set(w, root, "format", json_string("tilewright-bundle"));
    set(w, root, "version", json_integer(TW_BUNDLE_VERSION));
    set(w, root, "target", json_string(target));
    set(w, root, "buffers", buffers);
    set(w, root, "launches", launches);
    set(w, root, "outputs", outputs);
    return status;
}

tw_status tw_bundle_write(const char *directory, const tw_bundle_source *source, tw_diag *diag) {
    if (!directory || !source || !source->plan)
        return tw_fail(diag, TW_ERR_USAGE, "tw_bundle_write needs a folder and a plan (got NULL)");
    tw_status status = check_source(source, diag);
    if (status) return status;
    if (mkdir(directory, 0777) && errno != EEXIST)
        return tw_fail(diag, TW_ERR_IO, "the folder %s cannot be made (%s)", directory, strerror(errno));
    writer w = {.directory = directory, .source = source, .diag = diag};
    json_t *root = json_object();
    status = root ? fill_root(&w, root) : tw_fail_no_memory(diag);
    char *text = status || w.failed ? NULL : json_dumps(root, JSON_INDENT(1));
    if (!status) status = text ? write_file(&w, "bundle.json", text, strlen(text)) : tw_fail_no_memory(diag);
    free(text);
    json_decref(root);
    return status;
}
