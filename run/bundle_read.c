#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/bundle_internal.h"
#include "run/element.h"
#include "support/fail.h"

typedef struct reader {
    tw_bundle *bundle;
    const char *directory;
    tw_diag *diag;
} reader;

/* ---- members, each with its checks ---- */

enum { PLACE_MAX = 128, PARENT_MAX = 80, KEY_MAX = 32 };

/* Where a member stands: "launches[2].grid". */
typedef struct place {
    char text[PLACE_MAX];
} place;

static place member_of(const place *parent, const char *key) {
    place p;
    snprintf(p.text, sizeof p.text, "%.*s%s%.*s", PARENT_MAX, parent ? parent->text : "", parent ? "." : "",
             KEY_MAX, key);
    return p;
}

static place element_of(const place *parent, size_t index) {
    place p;
    snprintf(p.text, sizeof p.text, "%.*s[%zu]", PARENT_MAX, parent->text, index);
    return p;
}

static tw_status refuse(reader *r, const place *p, const char *rule, const json_t *got) {
    char *text = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    tw_status status = tw_fail(r->diag, TW_ERR_INVALID, "%s %s (got %.60s)", p->text, rule,
                               text  ? text
                               : got ? "a large value"
                                     : "none");
    free(text);
    return status;
}

static tw_status get_integer(reader *r, const place *p, const json_t *value, uint64_t low, uint64_t high,
                             uint64_t *out) {
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *out = (uint64_t)json_integer_value(value);
        if (*out >= low && *out <= high) return TW_OK;
    }
    char rule[80];
    snprintf(rule, sizeof rule, "must be an integer %llu..%llu", (unsigned long long)low,
             (unsigned long long)high);
    return refuse(r, p, rule, value);
}

/* A copy in the arena. */
static tw_status get_string(reader *r, const place *p, const json_t *value, const char **out) {
    if (!json_is_string(value) || !json_string_length(value)) return refuse(r, p, "must be a string", value);
    *out = tw_arena_strndup(&r->bundle->arena, json_string_value(value), json_string_length(value));
    return *out ? TW_OK : tw_fail_no_memory(r->diag);
}

/* An array of low..TW_BUNDLE_MAX_COUNT entries; one that may be empty may be missing too. Gives zeroed room
 * for as many items. */
static tw_status get_array(reader *r, const place *p, const json_t *value, size_t low, size_t size,
                           void *items, size_t *count) {
    *count = json_array_size(value);
    if ((value || low) && (!json_is_array(value) || *count < low || *count > TW_BUNDLE_MAX_COUNT))
        return refuse(
            r, p, low ? "must be an array of 1 to 4096 entries" : "must be an array of up to 4096 entries",
            value);
    void *memory = tw_arena_alloc(&r->bundle->arena, *count + 1, size);
    memcpy(items, &memory, sizeof memory);
    return memory ? TW_OK : tw_fail_no_memory(r->diag);
}

static tw_status get_dim3(reader *r, const place *p, const json_t *value, tw_dim3 *out) {
    if (!json_is_array(value) || json_array_size(value) != 3)
        return refuse(r, p, "must be an array of 3 integers", value);
    uint64_t xyz[3];
    for (size_t i = 0; i < 3; i++) {
        place at = element_of(p, i);
        tw_status status = get_integer(r, &at, json_array_get(value, i), 1, UINT32_MAX, &xyz[i]);
        if (status) return status;
    }
    *out = (tw_dim3){(uint32_t)xyz[0], (uint32_t)xyz[1], (uint32_t)xyz[2]};
    return TW_OK;
}

/* The index of a buffer that is given by name. */
static tw_status get_buffer(reader *r, const place *p, const json_t *value, uint32_t *out) {
    const char *name = json_string_value(value);
    for (size_t i = 0; name && i < r->bundle->buffer_count; i++)
        if (!strcmp(r->bundle->buffers[i].name, name)) {
            *out = (uint32_t)i;
            return TW_OK;
        }
    return refuse(r, p, "must be the name of a buffer", value);
}

/* ---- buffers ---- */

static tw_status read_buffer(reader *r, const place *p, const json_t *value, size_t index) {
    tw_bundle_buffer *buffer = &r->bundle->buffers[index];
    const json_t *file = json_object_get(value, "file"), *fill = json_object_get(value, "fill");
    place name = member_of(p, "name"), bytes = member_of(p, "bytes"), start = member_of(p, "file");
    tw_status status = get_string(r, &name, json_object_get(value, "name"), &buffer->name);
    for (size_t i = 0; !status && i < index; i++)
        if (!strcmp(r->bundle->buffers[i].name, buffer->name))
            status = refuse(r, &name, "must be there once", json_object_get(value, "name"));
    if (!status)
        status =
            get_integer(r, &bytes, json_object_get(value, "bytes"), 0, TW_BUNDLE_MAX_BYTES, &buffer->bytes);
    if (status) return status;
    if (!file == !fill) return refuse(r, p, "must have a file or a fill", value);
    if (fill) {
        uint64_t byte = 0;
        start = member_of(p, "fill");
        status = get_integer(r, &start, fill, 0, 255, &byte);
        buffer->fill = (uint8_t)byte;
        return status;
    }
    const char *path;
    uint8_t *data;
    size_t size = (size_t)buffer->bytes;
    status = get_string(r, &start, file, &path);
    if (!status)
        status =
            tw_bundle_file(&r->bundle->arena, r->directory, path, TW_BUNDLE_MAX_BYTES, &size, &data, r->diag);
    if (!status) buffer->data = data;
    return status;
}

/* ---- launches ---- */

/* Reads the code object, or finds it among those that an earlier launch named. */
static tw_status read_object(reader *r, const place *p, const json_t *value, uint32_t *out) {
    tw_bundle *bundle = r->bundle;
    const char *path;
    tw_status status = get_string(r, p, value, &path);
    if (status) return status;
    for (size_t i = 0; i < bundle->object_count; i++)
        if (!strcmp(bundle->objects[i].file, path)) {
            *out = (uint32_t)i;
            return TW_OK;
        }
    tw_bundle_object *entry = &bundle->objects[bundle->object_count];
    uint8_t *bytes;
    size_t size = SIZE_MAX;
    status = tw_bundle_file(&bundle->arena, r->directory, path, TW_BUNDLE_MAX_OBJECT, &size, &bytes, r->diag);
    if (!status) status = tw_code_object_from_bytes(bytes, size, &entry->object, r->diag);
    if (status) return status;
    entry->file = path;
    *out = (uint32_t)bundle->object_count++;
    if (!tw_target_runs_on(tw_code_object_target(entry->object), bundle->target))
        return tw_fail(r->diag, TW_ERR_INVALID, "%s must be code for the bundle's target (got %s)", p->text,
                       tw_code_object_target_id(entry->object));
    return TW_OK;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* The explicit arguments. What stands behind them may only be the zeros that round up a struct. */
static tw_status read_kernarg(reader *r, const place *p, const json_t *value, const tw_kernel_info *kernel,
                              tw_plan_kernarg *out) {
    size_t wanted = tw_kernarg_explicit_size(kernel), digits = json_string_length(value);
    const char *text = json_string_value(value);
    if (!text || digits % 2 || digits / 2 < wanted || digits / 2 > wanted + 15) {
        char rule[96];
        snprintf(rule, sizeof rule, "must be the kernel's %zu bytes of explicit arguments in hex", wanted);
        return refuse(r, p, rule, value);
    }
    out->size = wanted;
    out->bytes = tw_arena_alloc(&r->bundle->arena, wanted + 1, 1);
    if (!out->bytes) return tw_fail_no_memory(r->diag);
    for (size_t i = 0; i < digits / 2; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return refuse(r, p, "must be hexadecimal digits", value);
        if (i < wanted)
            out->bytes[i] = (uint8_t)(high * 16 + low);
        else if (high || low)
            return refuse(r, p, "must be zero behind the kernel's explicit arguments", value);
    }
    return TW_OK;
}

static tw_status read_pointer(reader *r, const place *p, const json_t *value, size_t kernarg_size,
                              tw_plan_pointer *out) {
    place offset = member_of(p, "offset"), buffer = member_of(p, "buffer"),
          byte_offset = member_of(p, "byte_offset");
    uint64_t at = 0;
    if (kernarg_size < 8) return refuse(r, p, "must lie in the explicit arguments", value);
    tw_status status = get_integer(r, &offset, json_object_get(value, "offset"), 0, kernarg_size - 8, &at);
    if (!status) status = get_buffer(r, &buffer, json_object_get(value, "buffer"), &out->buffer);
    out->kernarg_offset = (uint32_t)at;
    if (!status && json_object_get(value, "byte_offset"))
        status = get_integer(r, &byte_offset, json_object_get(value, "byte_offset"), 0,
                             r->bundle->buffers[out->buffer].bytes, &out->byte_offset);
    return status;
}

static tw_status read_zeroed(reader *r, const place *p, const json_t *value, tw_bundle_launch *launch) {
    uint32_t *zeroed = NULL;
    tw_status status = get_array(r, p, value, 0, sizeof *zeroed, &zeroed, &launch->zeroed_count);
    for (size_t i = 0; !status && i < launch->zeroed_count; i++) {
        place at = element_of(p, i);
        status = get_buffer(r, &at, json_array_get(value, i), &zeroed[i]);
    }
    launch->zeroed = zeroed;
    return status;
}

static tw_status read_launch(reader *r, const place *p, const json_t *value, size_t index) {
    tw_bundle_launch *launch = &r->bundle->launches[index];
    place object = member_of(p, "code_object"), kernel = member_of(p, "kernel"), grid = member_of(p, "grid"),
          block = member_of(p, "block"), lds = member_of(p, "dynamic_lds"), zero = member_of(p, "zero"),
          kernarg = member_of(p, "kernarg"), pointers = member_of(p, "pointers");
    uint64_t dynamic_lds = 0;
    tw_status status = read_object(r, &object, json_object_get(value, "code_object"), &launch->object);
    if (!status) status = get_string(r, &kernel, json_object_get(value, "kernel"), &launch->kernel);
    if (!status) status = get_dim3(r, &grid, json_object_get(value, "grid"), &launch->shape.grid);
    if (!status) status = get_dim3(r, &block, json_object_get(value, "block"), &launch->shape.block);
    if (!status && json_object_get(value, "dynamic_lds"))
        status = get_integer(r, &lds, json_object_get(value, "dynamic_lds"), 0, UINT32_MAX, &dynamic_lds);
    launch->shape.dynamic_lds = (uint32_t)dynamic_lds;
    if (!status) status = read_zeroed(r, &zero, json_object_get(value, "zero"), launch);
    if (status) return status;

    const tw_kernel_info *info =
        tw_kernel_find(r->bundle->objects[launch->object].object, launch->kernel, r->diag);
    if (!info) return TW_ERR_INVALID;
    status = tw_launch_check(info, r->bundle->target, &launch->shape, r->diag);
    if (!status)
        status = read_kernarg(r, &kernarg, json_object_get(value, "kernarg"), info, &launch->kernarg);
    const json_t *list = json_object_get(value, "pointers");
    if (!status)
        status = get_array(r, &pointers, list, 0, sizeof(tw_plan_pointer), &launch->kernarg.pointers,
                           &launch->kernarg.pointer_count);
    for (size_t i = 0; !status && i < launch->kernarg.pointer_count; i++) {
        place at = element_of(&pointers, i);
        status =
            read_pointer(r, &at, json_array_get(list, i), launch->kernarg.size, &launch->kernarg.pointers[i]);
    }
    return status;
}

/* ---- outputs ---- */

static tw_status get_format(reader *r, const place *p, const json_t *value, tw_scalar *out) {
    const char *name = json_string_value(value);
    for (unsigned s = 0; name && s < TW_SCALAR_COUNT; s++)
        if (tw_element_bytes((tw_scalar)s) && !strcmp(tw_scalar_name((tw_scalar)s), name)) {
            *out = (tw_scalar)s;
            return TW_OK;
        }
    return refuse(r, p, "must be the name of an element format", value);
}

/* Raw little-endian doubles, one an element. */
static tw_status read_doubles(reader *r, const place *p, const json_t *value, uint64_t elements,
                              const double **out) {
    const char *path;
    uint8_t *bytes;
    size_t size = (size_t)elements * 8;
    tw_status status = get_string(r, p, value, &path);
    if (!status)
        status = tw_bundle_file(&r->bundle->arena, r->directory, path, TW_BUNDLE_MAX_BYTES, &size, &bytes,
                                r->diag);
    if (status) return status;
    double *doubles = (double *)(void *)bytes; /* the arena aligns for any object */
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t bits = 0;
        for (unsigned b = 0; b < 8; b++)
            bits |= (uint64_t)bytes[8 * i + b] << (8 * b);
        memcpy(&doubles[i], &bits, 8);
    }
    *out = doubles;
    return TW_OK;
}

static tw_status read_shape(reader *r, const place *p, const json_t *value, tw_bundle_output *output) {
    size_t rank = json_array_size(value);
    if (!json_is_array(value) || rank < 1 || rank > TW_BUNDLE_MAX_RANK)
        return refuse(r, p, "must be an array of 1 to 8 integers", value);
    output->rank = (uint32_t)rank;
    for (size_t i = 0; i < rank; i++) {
        place at = element_of(p, i);
        tw_status status =
            get_integer(r, &at, json_array_get(value, i), 0, TW_BUNDLE_MAX_BYTES, &output->shape[i]);
        if (status) return status;
    }
    return TW_OK;
}

static tw_status read_output(reader *r, const place *p, const json_t *value, size_t index) {
    tw_bundle_output *output = &r->bundle->outputs[index];
    place buffer = member_of(p, "buffer"), format = member_of(p, "dtype"), shape = member_of(p, "shape"),
          expected = member_of(p, "expected"), bound = member_of(p, "bound");
    uint64_t elements = 0;
    tw_status status = get_buffer(r, &buffer, json_object_get(value, "buffer"), &output->buffer);
    if (!status) status = get_format(r, &format, json_object_get(value, "dtype"), &output->format);
    if (!status) status = read_shape(r, &shape, json_object_get(value, "shape"), output);
    if (!status)
        status =
            tw_bundle_elements(output, r->bundle->buffers[output->buffer].bytes, p->text, &elements, r->diag);
    if (!status)
        status = read_doubles(r, &expected, json_object_get(value, "expected"), elements, &output->expected);
    if (!status) status = read_doubles(r, &bound, json_object_get(value, "bound"), elements, &output->bound);
    for (uint64_t i = 0; !status && i < elements; i++)
        if (!(output->bound[i] >= 0))
            status =
                tw_fail(r->diag, TW_ERR_INVALID, "%s must be 0 or more (got another value at element %llu)",
                        bound.text, (unsigned long long)i);
    return status;
}

/* ---- the whole ---- */

static tw_status read_list(reader *r, const json_t *root, const char *key, size_t size, void *items,
                           size_t *count,
                           tw_status (*read_entry)(reader *, const place *, const json_t *, size_t)) {
    place p = member_of(NULL, key);
    const json_t *list = json_object_get(root, key);
    size_t entries;
    tw_status status = get_array(r, &p, list, 1, size, items, &entries);
    for (size_t i = 0; !status && i < entries; i++) {
        place at = element_of(&p, i);
        const json_t *entry = json_array_get(list, i);
        status =
            json_is_object(entry) ? read_entry(r, &at, entry, i) : refuse(r, &at, "must be an object", entry);
        if (!status) *count = i + 1;
    }
    return status;
}

static tw_status read_head(reader *r, const json_t *root) {
    place format = member_of(NULL, "format"), version = member_of(NULL, "version"),
          target = member_of(NULL, "target");
    const json_t *value = json_object_get(root, "format"), *number = json_object_get(root, "version");
    const char *name;
    if (!json_is_string(value) || strcmp(json_string_value(value), "tilewright-bundle"))
        return refuse(r, &format, "must be \"tilewright-bundle\"", value);
    if (json_is_integer(number) && json_integer_value(number) > TW_BUNDLE_VERSION)
        return tw_fail(r->diag, TW_ERR_UNSUPPORTED, "version must be at most %d for this reader (got %lld)",
                       TW_BUNDLE_VERSION, (long long)json_integer_value(number));
    uint64_t ignored;
    tw_status status = get_integer(r, &version, number, 1, TW_BUNDLE_VERSION, &ignored);
    if (!status) status = get_string(r, &target, json_object_get(root, "target"), &name);
    return status ? status : tw_target_parse(name, &r->bundle->target, r->diag);
}

static tw_status read_root(reader *r, const json_t *root) {
    tw_bundle *bundle = r->bundle;
    place top = {"bundle.json"};
    if (!json_is_object(root)) return refuse(r, &top, "must hold an object", root);
    tw_status status = read_head(r, root);
    if (!status)
        status = read_list(r, root, "buffers", sizeof *bundle->buffers, &bundle->buffers,
                           &bundle->buffer_count, read_buffer);
    if (!status) {
        bundle->objects = TW_ARENA_NEW(&bundle->arena, tw_bundle_object, TW_BUNDLE_MAX_COUNT);
        status = bundle->objects ? TW_OK : tw_fail_no_memory(r->diag);
    }
    if (!status)
        status = read_list(r, root, "launches", sizeof *bundle->launches, &bundle->launches,
                           &bundle->launch_count, read_launch);
    if (!status)
        status = read_list(r, root, "outputs", sizeof *bundle->outputs, &bundle->outputs,
                           &bundle->output_count, read_output);
    return status;
}

tw_status tw_bundle_parse(const char *text, size_t length, const char *directory, tw_bundle **out,
                          tw_diag *diag) {
    *out = NULL;
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    /* Out of memory, the parser sets this code or says nothing at all. */
    if (!root && (!error.text[0] || json_error_code(&error) == json_error_out_of_memory))
        return tw_fail_no_memory(diag);
    if (!root)
        return tw_fail_at(diag, TW_ERR_INVALID, "bundle.json", error.line > 0 ? (uint32_t)error.line : 0,
                          error.column > 0 ? (uint32_t)error.column : 0, "the file must be JSON (got: %s)",
                          error.text);
    tw_bundle *bundle = calloc(1, sizeof *bundle);
    tw_status status = bundle ? TW_OK : tw_fail_no_memory(diag);
    if (!status) {
        tw_arena_init(&bundle->arena, NULL);
        reader r = {.bundle = bundle, .directory = directory, .diag = diag};
        status = read_root(&r, root);
    }
    json_decref(root);
    if (status) {
        tw_bundle_free(bundle);
        return status;
    }
    *out = bundle;
    return TW_OK;
}

tw_status tw_bundle_read(const char *directory, tw_bundle **out, tw_diag *diag) {
    if (!out) return tw_fail(diag, TW_ERR_USAGE, "tw_bundle_read needs a place for the bundle (got NULL)");
    *out = NULL;
    if (!directory) return tw_fail(diag, TW_ERR_USAGE, "tw_bundle_read needs a folder (got NULL)");
    tw_arena arena;
    tw_arena_init(&arena, NULL);
    uint8_t *text;
    size_t size = SIZE_MAX;
    tw_status status =
        tw_bundle_file(&arena, directory, "bundle.json", TW_BUNDLE_MAX_JSON, &size, &text, diag);
    if (!status) status = tw_bundle_parse((const char *)text, size, directory, out, diag);
    tw_arena_free(&arena);
    return status;
}

void tw_bundle_free(tw_bundle *bundle) {
    if (!bundle) return;
    for (size_t i = 0; i < bundle->object_count; i++)
        tw_code_object_release(bundle->objects[i].object);
    tw_arena_free(&bundle->arena);
    free(bundle);
}

tw_target tw_bundle_target(const tw_bundle *bundle) { return bundle->target; }
