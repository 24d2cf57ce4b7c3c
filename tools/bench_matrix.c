#include "tools/bench_matrix.h"

#include <string.h>
#include <time.h>

#include "run/device.h"
#include "support/strbuf.h"

enum { STEPS = 32, ROUNDS = 4000 };

typedef struct measured {
    const char *name, *target, *text, *input, *output;
    double goal;
} measured;
static const measured TABLE[] = {
    {"MFMA 16x16x16 f16", "gfx942", "v_mfma_f32_16x16x16_f16 $0, $1, $1, $0", "<2 x i32>", "<4 x float>", 2},
    {"MFMA 32x32x8 f16", "gfx942", "v_mfma_f32_32x32x8_f16 $0, $1, $1, $0", "<2 x i32>", "<16 x float>", 0},
    {"WMMA 16x16x16 f16", "gfx1201", "v_wmma_f32_16x16x16_f16 $0, $1, $1, $0", "<4 x i32>", "<8 x float>", 2},
    {"WMMA 16x16x32 bf16", "gfx1250", "v_wmma_f32_16x16x32_bf16 $0, $1, $1, $0", "<8 x i32>", "<8 x float>",
     2},
    {"WMMA 16x16x64 fp8", "gfx1250", "v_wmma_f32_16x16x64_fp8_fp8 $0, $1, $1, $0", "<8 x i32>", "<8 x float>",
     0},
};

const char *bench_matrix_name(size_t index) {
    return index < sizeof TABLE / sizeof TABLE[0] ? TABLE[index].name : NULL;
}

double bench_matrix_goal(size_t index) { return TABLE[index].goal; }

/* A loop around STEPS instructions, each adding to the sum of the one before. */
static void append_kernel(tw_strbuf *ir, const measured *m) {
    tw_strbuf_printf(
        ir,
        "target triple = \"amdgcn-amd-amdhsa\"\n"
        "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"1,64\" \"amdgpu-no-implicitarg-ptr\" }\n"
        "define amdgpu_kernel void @multiply(ptr addrspace(1) %%p) #0 {\nentry:\n"
        "  %%a = load %s, ptr addrspace(1) %%p\n  %%z = load %s, ptr addrspace(1) %%p\n  br label %%loop\n"
        "loop:\n  %%i = phi i32 [ 0, %%entry ], [ %%next, %%loop ]\n"
        "  %%s = phi %s [ %%z, %%entry ], [ %%r, %%loop ]\n  %%r = call %s asm sideeffect \"",
        m->input, m->output, m->output, m->output);
    for (unsigned step = 0; step < STEPS; step++)
        tw_strbuf_printf(ir, "%s\\0A", m->text);
    tw_strbuf_printf(ir,
                     "\", \"=v,v,0\"(%s %%a, %s %%s)\n  %%next = add i32 %%i, 1\n"
                     "  %%more = icmp ult i32 %%next, %u\n  br i1 %%more, label %%loop, label %%end\n"
                     "end:\n  store %s %%r, ptr addrspace(1) %%p\n  ret void\n}\n",
                     m->input, m->output, (unsigned)ROUNDS, m->output);
}

static tw_status compile(const measured *m, tw_compiler *compiler, tw_code_object **object, tw_diag *diag) {
    tw_target target;
    tw_strbuf ir;
    tw_status status = tw_target_parse(m->target, &target, diag);
    if (status != TW_OK) return status;
    tw_strbuf_init(&ir, NULL);
    append_kernel(&ir, m);
    status = tw_compile_llvm_ir(compiler, tw_strbuf_text(&ir), ir.length, target, NULL, object, diag);
    tw_strbuf_free(&ir);
    return status;
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static tw_status launch(tw_device *device, tw_code_object *object, double *rate, tw_diag *diag) {
    tw_module *module = NULL;
    tw_buffer *buffer = NULL;
    uint64_t kernarg = 0;
    tw_status status = tw_module_load(device, object, &module, diag);
    if (status == TW_OK) status = tw_buffer_new(device, 256, &buffer, diag);
    if (status == TW_OK) status = tw_buffer_fill(buffer, 0, 0x3c, 256, diag);
    tw_kernarg_pointer pointer = {.kernarg_offset = 0, .buffer = buffer};
    double start = processor_seconds();
    if (status == TW_OK)
        status = tw_launch_raw(module, "multiply", (tw_dim3){1, 1, 1},
                               (tw_dim3){tw_device_target(device).wave_size, 1, 1}, 0, &kernarg,
                               sizeof kernarg, &pointer, 1, diag);
    *rate = (double)tw_device_last_counts(device).matrix / (processor_seconds() - start) / 1e6;
    tw_buffer_free(buffer);
    tw_module_unload(module);
    return status;
}

tw_status bench_matrix_rate(size_t index, tw_compiler *compiler, double *rate, tw_diag *diag) {
    const measured *m = &TABLE[index];
    char name[32] = "emu:";
    tw_code_object *object = NULL;
    tw_device *device = NULL;
    tw_status status = compile(m, compiler, &object, diag);
    strcat(name, m->target);
    if (status == TW_OK) status = tw_device_open(name, &device, diag);
    if (status == TW_OK) status = launch(device, object, rate, diag);
    tw_device_close(device);
    tw_code_object_release(object);
    return status;
}
