/* The code-object reader, and all that its accessors hand out, on hostile bytes. */
#include <stdlib.h>
#include <string.h>

#include "jit/compiler.h"
#include "tests/fuzz/fuzz.h"
#include "tests/jit/kernels.h"

static volatile unsigned char sink;

static void touch(const void *bytes, size_t size) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        sink ^= at[i];
}

static void touch_text(const char *text) { touch(text, strlen(text)); }

static void touch_kernel(const tw_kernel_info *kernel) {
    touch_text(kernel->name);
    touch_text(kernel->symbol);
    touch(kernel->descriptor, sizeof kernel->descriptor);
    for (size_t a = 0; a < kernel->arg_count; a++) {
        touch_text(kernel->args[a].name);
        touch_text(kernel->args[a].value_kind);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tw_code_object *object;
    if (tw_code_object_from_bytes(data, size, &object, NULL)) return 0;
    touch_text(tw_code_object_target_id(object));
    for (size_t i = 0; i < tw_code_object_kernel_count(object); i++)
        touch_kernel(tw_code_object_kernel_at(object, i));
    for (size_t i = 0; i < tw_code_object_segment_count(object); i++) {
        tw_segment s = tw_code_object_segment_at(object, i);
        touch(s.bytes, s.file_size);
    }
    for (size_t i = 0; i < tw_code_object_symbol_count(object); i++)
        touch_text(tw_code_object_symbol_at(object, i).name);
    for (size_t i = 0; i < tw_code_object_undefined_count(object); i++)
        touch_text(tw_code_object_undefined_at(object, i));
    for (size_t i = 0; i < tw_code_object_relocation_count(object); i++)
        touch_text(tw_code_object_relocation_at(object, i).symbol);
    tw_code_object_release(object);
    return 0;
}

uint8_t *tw_fuzz_seed(size_t index, size_t *size) {
    static const struct {
        const char *text, *target;
    } rows[] = {
        {KERNEL_STORE, "gfx1250"},
        {KERNEL_TWO_WITH_VARIABLES, "gfx90a:xnack-"},
    };
    if (index >= sizeof rows / sizeof rows[0]) return NULL;
    tw_compiler *compiler;
    tw_code_object *object = NULL;
    tw_target target;
    uint8_t *copy = NULL;
    if (tw_compiler_open(TW_COMPILER_LLVM, &compiler, NULL)) return NULL;
    if (!tw_target_parse(rows[index].target, &target, NULL) &&
        !tw_compile_llvm_ir(compiler, rows[index].text, strlen(rows[index].text), target, NULL, &object,
                            NULL)) {
        const void *bytes = tw_code_object_bytes(object, size);
        copy = malloc(*size);
        if (copy) memcpy(copy, bytes, *size);
    }
    tw_code_object_release(object);
    tw_compiler_close(compiler);
    return copy;
}
