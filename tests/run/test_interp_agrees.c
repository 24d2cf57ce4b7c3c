/* The interpreter of the tile IR and the machine code that LLVM makes of the lowered kernel, on the emulator,
 * compute the same bytes: for every op, on every target that the emulator has. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/interp.h"
#include "jit/compile.h"
#include "run/device.h"
#include "tests/ir/all_ops.h"
#include "tests/llvm_compiler.h"

static const char *const targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1100:wave64",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1201:wave64", "gfx1250"};

/* What the kernels read and write. */
typedef struct memory {
    uint8_t in[ALL_OPS_IN_BYTES];
    uint8_t out[ALL_OPS_OUT_BYTES];
    uint16_t halves[ALL_OPS_HALVES];
    float singles[ALL_OPS_SINGLES];
} memory;

/* Bytes without bit 6 make floats below 2 and no NaN: which NaN an op gives is left open. */
static memory *new_memory(void) {
    memory *m = calloc(1, sizeof *m);
    assert_non_null(m);
    uint64_t random = 88172645463325252u;
    for (size_t i = 0; i < sizeof m->in; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        m->in[i] = (uint8_t)(random >> 32) & 0xbf;
    }
    for (size_t i = 0; i < ALL_OPS_HALVES; i++)
        m->halves[i] = (uint16_t)(0x3c00 + i % 64);
    for (size_t i = 0; i < ALL_OPS_SINGLES; i++)
        m->singles[i] = (float)i;
    return m;
}

static void interpret(tw_context *ctx, const tw_kernel *kernel, memory *m) {
    const tw_interp_arg args[] = {TW_INTERP_MEMORY(m->in, sizeof m->in),
                                  TW_INTERP_MEMORY(m->out, sizeof m->out),
                                  TW_INTERP_MEMORY(m->halves, sizeof m->halves),
                                  TW_INTERP_MEMORY(m->singles, sizeof m->singles),
                                  TW_INTERP_BITS(ALL_OPS_N),
                                  TW_INTERP_BITS(ALL_OPS_FAR),
                                  TW_INTERP_BITS(ALL_OPS_X)};
    if (tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 7, NULL, tw_context_diag(ctx)))
        fail_msg("%s", tw_context_diagnostics(ctx));
}

static tw_buffer *buffer_of(tw_device *device, const char *name, const void *bytes, size_t size) {
    tw_buffer *buffer;
    assert_int_equal(tw_buffer_new_named(device, size, name, &buffer, NULL), TW_OK);
    assert_int_equal(tw_buffer_write(buffer, 0, bytes, size, NULL), TW_OK);
    return buffer;
}

/* False where the emulator does not know an instruction. */
static bool launch(tw_device *device, tw_code_object *object, const tw_kernel *kernel, memory *m) {
    tw_diag *diag = tw_diag_new(NULL);
    tw_module *module;
    assert_int_equal(tw_module_load(device, object, &module, diag), TW_OK);
    tw_buffer *in = buffer_of(device, "in", m->in, sizeof m->in);
    tw_buffer *out = buffer_of(device, "out", m->out, sizeof m->out);
    tw_buffer *halves = buffer_of(device, "halves", m->halves, sizeof m->halves);
    tw_buffer *singles = buffer_of(device, "singles", m->singles, sizeof m->singles);
    const tw_launch_arg args[] = {TW_BUFFER_ARG(in),      TW_BUFFER_ARG(out),    TW_BUFFER_ARG(halves),
                                  TW_BUFFER_ARG(singles), TW_I32_ARG(ALL_OPS_N), TW_I64_ARG(ALL_OPS_FAR),
                                  TW_F32_ARG(1.5f)};
    tw_kernel_options o = tw_kernel_get_options(kernel);
    tw_dim3 block = {o.workgroup_size, o.workgroup_size_y ? o.workgroup_size_y : 1,
                     o.workgroup_size_z ? o.workgroup_size_z : 1};
    tw_status status = tw_launch(module, tw_kernel_name(kernel), (tw_dim3){1, 1, 1}, block, args, 7, diag);
    bool known = !strstr(tw_diag_text(diag), "does not know this instruction");
    if (status) print_message("%s", tw_diag_text(diag));
    if (known) assert_int_equal(status, TW_OK);
    tw_buffer_read(out, 0, m->out, sizeof m->out, NULL);
    tw_buffer_read(halves, 0, m->halves, sizeof m->halves, NULL);
    tw_buffer_read(singles, 0, m->singles, sizeof m->singles, NULL);
    tw_module_unload(module);
    tw_buffer_free(in);
    tw_buffer_free(out);
    tw_buffer_free(halves);
    tw_buffer_free(singles);
    tw_diag_free(diag);
    return known;
}

/* How many pieces of 16 bytes differ; the first few are printed. */
static unsigned differences(const void *expected, const void *got, size_t size, const char *what) {
    const uint8_t *e = expected, *g = got;
    unsigned count = 0;
    for (size_t at = 0; at < size; at += 16) {
        if (!memcmp(e + at, g + at, 16)) continue;
        if (count++ >= 4) continue;
        print_error("%s[%zu]: interpreter", what, at);
        for (int i = 0; i < 16; i++)
            print_error(" %02x", e[at + (size_t)i]);
        print_error(", machine code");
        for (int i = 0; i < 16; i++)
            print_error(" %02x", g[at + (size_t)i]);
        print_error("\n");
    }
    return count;
}

typedef struct job {
    const char *target;
    size_t index;
    char name[64];
} job;

static void agree(void **state) {
    const job *j = *state;
    char device_name[64];
    tw_device *device;
    snprintf(device_name, sizeof device_name, "emu:%s", j->target);
    assert_int_equal(tw_device_open(device_name, &device, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = all_ops_build(ctx, tw_device_target(device), j->index);
    if (!kernel) fail_msg("%s", tw_context_diagnostics(ctx));
    tw_code_object *object;
    if (tw_compile(compiler, kernel, &(tw_compile_options){0}, &object, tw_context_diag(ctx)))
        fail_msg("%s", tw_context_diagnostics(ctx));
    memory *expected = new_memory(), *got = new_memory();
    bool runs = launch(device, object, kernel, got);
    interpret(ctx, kernel, expected);
    unsigned count = 0;
    if (runs) {
        count += differences(expected->out, got->out, sizeof got->out, "out");
        count += differences(expected->halves, got->halves, sizeof got->halves, "halves");
        count += differences(expected->singles, got->singles, sizeof got->singles, "singles");
    }
    free(got);
    free(expected);
    tw_code_object_release(object);
    tw_context_free(ctx);
    tw_device_close(device);
    if (!runs) skip();
    assert_int_equal(count, 0);
}

int main(void) {
    static job jobs[256];
    static struct CMUnitTest tests[256];
    size_t count = 0;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        for (size_t index = 0; index < all_ops_count(); index++) {
            if (!all_ops_is_exact(index)) continue;
            job *j = &jobs[count];
            *j = (job){.target = targets[t], .index = index};
            snprintf(j->name, sizeof j->name, "%s %s", targets[t], all_ops_name(index));
            tests[count++] = (struct CMUnitTest){j->name, agree, NULL, NULL, j};
        }
    }
    return _cmocka_run_group_tests("interp_agrees", tests, count, open_compiler, close_compiler);
}
