/* The bundle reader on hostile descriptions. An input that starts with '{' is the text of a bundle.json; any
 * other one is a list of edits to a good description, four bytes each, which reach deeper than broken JSON
 * does. The other files of the bundle are good ones. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/compiler.h"
#include "run/bundle_internal.h"
#include "tests/fuzz/fuzz.h"

static const char kernel[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "define amdgpu_kernel void @k(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %n) #0 {\n"
    "  ret void\n"
    "}\n"
    "attributes #0 = { \"amdgpu-no-implicitarg-ptr\" }\n";

static char folder[] = "/tmp/tilewright-fuzz-XXXXXX";
static const char *const files[] = {"x.bin", "k0.hsaco", "y.expected.f64", "y.bound.f64", "bundle.json"};
static char *description;

static void remove_folder(void) {
    char path[96];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    free(description);
}

static tw_code_object *compile(tw_target target) {
    tw_compiler *compiler;
    tw_code_object *object = NULL;
    if (tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL)) exit(1);
    if (tw_compile_llvm_ir(compiler, kernel, sizeof kernel - 1, target, NULL, &object, NULL)) exit(1);
    tw_compiler_close(compiler);
    return object;
}

/* Writes the good bundle, once. */
static void set_up(void) {
    static uint32_t words[16];
    static const double expected[4], bound[4];
    tw_target target;
    if (!mkdtemp(folder) || tw_target_parse("gfx942", &target, NULL)) exit(1);
    atexit(remove_folder);
    tw_code_object *object = compile(target);
    tw_plan *plan = tw_plan_new("fuzz");
    uint32_t x = tw_plan_add_buffer(plan, "x", TW_PLAN_INPUT, sizeof words);
    uint32_t y = tw_plan_add_buffer(plan, "y", TW_PLAN_OUTPUT, 32);
    for (int i = 0; i < 2; i++) {
        tw_plan_add_launch(plan, 0, "k", (tw_dim3){2, 1, 1}, (tw_dim3){64, 1, 1}, 16);
        tw_plan_zero(plan, y);
        tw_plan_arg_buffer(plan, "x", x, 4);
        tw_plan_arg_buffer(plan, "y", y, 0);
        tw_plan_arg_i32(plan, "n", 4);
    }
    tw_plan_host hosts[] = {{words, NULL}, {NULL, NULL}};
    tw_bundle_output output = {y, TW_F32, 2, {2, 2}, expected, bound};
    tw_bundle_source source = {plan, target, &object, 1, hosts, 2, &output, 1};
    if (tw_bundle_write(folder, &source, NULL)) exit(1);
    tw_plan_free(plan);
    tw_code_object_release(object);
    char path[96];
    snprintf(path, sizeof path, "%s/bundle.json", folder);
    json_t *root = json_load_file(path, 0, NULL);
    description = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    if (!description) exit(1);
}

/* ---- edits ---- */

typedef struct spot {
    json_t *parent; /* an object (then `key`) or an array (then `index`) */
    const char *key;
    size_t index;
} spot;

/* Counts the values below `node` in `left`, from where it stands down to 0; true there. */
static bool find(json_t *node, size_t *left, spot *out) {
    void *next;
    const char *key;
    json_t *child;
    size_t index;
    json_object_foreach_safe(node, next, key, child) {
        *out = (spot){node, key, 0};
        if (!(*left)-- || find(child, left, out)) return true;
    }
    json_array_foreach(node, index, child) {
        *out = (spot){node, NULL, index};
        if (!(*left)-- || find(child, left, out)) return true;
    }
    return false;
}

static json_t *strange_value(uint8_t which) {
    static const char *const texts[] = {"null",
                                        "true",
                                        "-1",
                                        "0",
                                        "1",
                                        "8",
                                        "64",
                                        "4294967295",
                                        "4294967296",
                                        "1.5",
                                        "1e300",
                                        "[]",
                                        "{}",
                                        "[0,0]",
                                        "[1,1,1]",
                                        "\"\"",
                                        "\"x\"",
                                        "\"y\"",
                                        "\"k\"",
                                        "\"..\"",
                                        "\"/\"",
                                        "\"x.bin\"",
                                        "\"zz\"",
                                        "\"00\"",
                                        "[[[]]]",
                                        "256",
                                        "\"gfx90a\"",
                                        "\"i8\"",
                                        "\"f16\"",
                                        "[99999999]",
                                        "[\"y\"]",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "{\"name\":\"x\"}"};
    return json_loads(texts[which % (sizeof texts / sizeof texts[0])], JSON_DECODE_ANY, NULL);
}

static void edit(json_t *root, const uint8_t bytes[4]) {
    spot at;
    size_t left = SIZE_MAX;
    find(root, &left, &at);
    size_t values = SIZE_MAX - left;
    /* Mixed, so that the small numbers that mutations like do not all name the first values. */
    left = values ? (((uint32_t)(bytes[1] | bytes[2] << 8) * 2654435761u) >> 11) % values : 0;
    if (!find(root, &left, &at)) return;
    json_t *value = bytes[0] % 4 == 0 ? NULL : strange_value(bytes[3]);
    if (bytes[0] % 4 == 3) { /* the value that stands there, once more */
        json_t *here = at.key ? json_object_get(at.parent, at.key) : json_array_get(at.parent, at.index);
        json_decref(value);
        value = json_deep_copy(here);
        if (!at.key) {
            json_array_append_new(at.parent, value);
            return;
        }
    }
    if (at.key) {
        char key[32];
        snprintf(key, sizeof key, "%s", at.key);
        if (value)
            json_object_set_new(at.parent, key, value);
        else
            json_object_del(at.parent, key);
    } else if (value) {
        json_array_set_new(at.parent, at.index, value);
    } else {
        json_array_remove(at.parent, at.index);
    }
}

static char *apply_edits(const uint8_t *data, size_t size) {
    json_t *root = json_loads(description, 0, NULL);
    for (size_t at = 0; at + 4 <= size && at < 64; at += 4)
        edit(root, data + at);
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

/* ---- the target ---- */

/* What a replay relies on. */
static void check(bool holds) {
    if (!holds) abort();
}

static void check_launch(const tw_bundle *bundle, const tw_bundle_launch *launch) {
    check(launch->object < bundle->object_count);
    const tw_kernel_info *info =
        tw_code_object_kernel(bundle->objects[launch->object].object, launch->kernel);
    check(info && launch->kernarg.size == tw_kernarg_explicit_size(info));
    check(!tw_launch_check(info, bundle->target, &launch->shape, NULL));
    for (size_t i = 0; i < launch->zeroed_count; i++)
        check(launch->zeroed[i] < bundle->buffer_count);
    for (size_t i = 0; i < launch->kernarg.pointer_count; i++) {
        const tw_plan_pointer *pointer = &launch->kernarg.pointers[i];
        check(pointer->buffer < bundle->buffer_count);
        check(pointer->byte_offset <= bundle->buffers[pointer->buffer].bytes);
        check((uint64_t)pointer->kernarg_offset + 8 <= launch->kernarg.size);
        launch->kernarg.bytes[pointer->kernarg_offset + 7] ^= 1; /* a sanitizer sees whether it is there */
    }
}

static void check_output(const tw_bundle *bundle, const tw_bundle_output *output) {
    uint64_t elements;
    check(output->buffer < bundle->buffer_count);
    check(!tw_bundle_elements(output, bundle->buffers[output->buffer].bytes, "", &elements, NULL));
    for (uint64_t i = 0; i < elements; i++)
        check(output->bound[i] >= 0 && output->expected[i] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!description) set_up();
    char *text = size && data[0] == '{' ? NULL : apply_edits(data, size);
    tw_diag *diag = tw_diag_new(NULL);
    tw_bundle *bundle;
    tw_status status =
        tw_bundle_parse(text ? text : (const char *)data, text ? strlen(text) : size, folder, &bundle, diag);
    check(!status == !tw_diag_first_error(diag)[0]);
    if (!status) {
        check(bundle->launch_count > 0 && bundle->output_count > 0);
        for (size_t i = 0; i < bundle->launch_count; i++)
            check_launch(bundle, &bundle->launches[i]);
        for (size_t i = 0; i < bundle->output_count; i++)
            check_output(bundle, &bundle->outputs[i]);
        tw_bundle_free(bundle);
    }
    tw_diag_free(diag);
    free(text);
    return 0;
}

uint8_t *tw_fuzz_seed(size_t index, size_t *size) {
    enum { EDIT_SEEDS = 8, EDIT_BYTES = 8 };
    if (!description) set_up();
    if (index > EDIT_SEEDS) return NULL;
    *size = index ? EDIT_BYTES : strlen(description);
    uint8_t *copy = malloc(*size);
    if (copy && index) {
        for (size_t i = 0; i < EDIT_BYTES; i++)
            copy[i] = (uint8_t)((index * 37 + i) * 151);
    } else if (copy) {
        memcpy(copy, description, *size);
    }
    return copy;
}
