#include "tools/bench_valu.h"

#include <string.h>
#include <time.h>

#include "ir/build.h"
#include "jit/compile.h"
#include "run/device.h"
#include "support/fail.h"

enum { GROUP = 256, GROUPS = 4, ROUNDS = 500, CARRIED = 6 };

static const char *const TARGETS[] = {"gfx1250", "gfx1201"};

const char *bench_valu_target(size_t index) {
    return index < sizeof TARGETS / sizeof TARGETS[0] ? TARGETS[index] : NULL;
}

/* Two steps of a shift register and a multiplicative generator. */
static tw_value random_bits(tw_builder *b, tw_value x) {
    tw_value left = tw_shl(b, x, tw_i32(b, 13));
    tw_value y = tw_xor(b, x, left);
    tw_value right = tw_lshr(b, y, tw_i32(b, 17));
    tw_value z = tw_xor(b, y, right);
    tw_value product = tw_mul(b, z, tw_i32(b, 1664525));
    return tw_add(b, product, tw_i32(b, 1013904223));
}

/* The place in a padded array of tiles that an element would have. */
static tw_value tiled_place(tw_builder *b, tw_value bits, tw_value item) {
    tw_value row = tw_and(b, tw_lshr(b, bits, tw_i32(b, 9)), tw_i32(b, 63));
    tw_value column = tw_and(b, bits, tw_i32(b, 31));
    tw_value line = tw_add(b, tw_mul(b, row, tw_i32(b, 33)), column);
    return tw_add(b, tw_shl(b, line, tw_i32(b, 2)), item);
}

/* One round: what lies between -2 and 2 stays there. */
static void round_of(tw_builder *b, tw_value item, const tw_value in[CARRIED], tw_value out[CARRIED]) {
    tw_value x = in[0], y = in[1], sum = in[2], most = in[3], bits = in[4], place = in[5];
    tw_value c = tw_f32(b, 0.375f), half = tw_f32(b, 0.5f), one = tw_f32(b, 1);
    tw_value poly = tw_fma(b, x, tw_f32(b, 0.125f), c);
    poly = tw_fma(b, poly, x, tw_fmul(b, y, c));
    poly = tw_fma(b, poly, half, tw_f32(b, -0.25f));
    tw_value over = tw_fcmp(b, TW_FOGT, poly, one);
    poly = tw_select(b, over, tw_fsub(b, poly, one), poly);
    tw_value turned = tw_fadd(b, tw_fmul(b, y, half), tw_fmul(b, poly, half));
    tw_value next = random_bits(b, bits);
    tw_value where = tiled_place(b, next, item);
    tw_value before = tw_icmp(b, TW_ULT, where, place);
    out[0] = poly;
    out[1] = tw_select(b, before, turned, tw_fneg(b, turned));
    out[2] = tw_fma(b, poly, turned, tw_fmul(b, sum, half));
    out[3] = tw_fmax(b, most, turned);
    out[4] = next;
    out[5] = tw_select(b, before, where, tw_xor(b, place, where));
}

static tw_kernel *build(tw_context *ctx, tw_target target) {
    tw_builder *b =
        tw_kernel_begin(ctx, "vector_work", target, &(tw_kernel_options){.workgroup_size = GROUP});
    tw_value result = tw_param_ptr(b, "result", TW_F32, TW_PARAM_NOALIAS);
    tw_value rounds = tw_param(b, "rounds", TW_I32);
    tw_value item = tw_workitem_id(b, 0);
    tw_value number = tw_add(b, tw_mul(b, tw_workgroup_id(b, 0), tw_i32(b, GROUP)), item);
    tw_value x = tw_fmul(b, tw_sitofp(b, item, TW_F32), tw_f32(b, 0x1p-9f)), zero = tw_f32(b, 0);
    tw_value carried[CARRIED], next[CARRIED], last[CARRIED];
    tw_value first[CARRIED] = {x, tw_fneg(b, x), zero, zero, number, number};
    tw_for_begin(b, tw_i32(b, 0), rounds, tw_i32(b, 1), CARRIED, first, carried);
    tw_for_unroll(b, 4);
    round_of(b, item, carried, next);
    tw_for_end(b, CARRIED, next, last);
    tw_value place = tw_sitofp(b, tw_and(b, last[5], tw_i32(b, 0xffff)), TW_F32);
    tw_value sum = tw_fadd(b, tw_fadd(b, last[2], last[3]), tw_fadd(b, last[1], place));
    tw_global_store(b, sum, result, number, 4);
    return tw_kernel_end(b);
}

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static tw_status launch(tw_device *device, tw_code_object *object, bench_valu_result *result, tw_diag *diag) {
    tw_module *module = NULL;
    tw_buffer *buffer = NULL;
    tw_status status = tw_module_load(device, object, &module, diag);
    if (status == TW_OK) status = tw_buffer_new(device, sizeof(float) * GROUP * GROUPS, &buffer, diag);
    double spent = 0;
    /* The first launch decodes. */
    for (int32_t rounds = 1; status == TW_OK && rounds <= ROUNDS; rounds += ROUNDS - 1) {
        tw_launch_arg args[] = {TW_BUFFER_ARG(buffer), TW_I32_ARG(rounds)};
        double start = processor_seconds();
        status =
            tw_launch(module, "vector_work", (tw_dim3){GROUPS, 1, 1}, (tw_dim3){GROUP, 1, 1}, args, 2, diag);
        spent = processor_seconds() - start;
    }
    if (status == TW_OK) {
        tw_launch_counts counts = tw_device_last_counts(device);
        result->rate = (double)counts.wave_instructions / spent / 1e6;
        result->share = 100.0 * (double)counts.valu / (double)counts.wave_instructions;
    }
    tw_buffer_free(buffer);
    tw_module_unload(module);
    return status;
}

tw_status bench_valu_run(size_t index, tw_compiler *compiler, bench_valu_result *result, tw_diag *diag) {
    char name[32] = "emu:";
    tw_target target;
    tw_code_object *object = NULL;
    tw_device *device = NULL;
    tw_status status = tw_target_parse(TARGETS[index], &target, diag);
    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return tw_fail_no_memory(diag);
    tw_kernel *kernel = status == TW_OK ? build(ctx, target) : NULL;
    if (status == TW_OK && !kernel)
        status = tw_fail(diag, TW_ERR_INVALID, "%s", tw_diag_first_error(tw_context_diag(ctx)));
    if (status == TW_OK) status = tw_compile(compiler, kernel, NULL, &object, diag);
    strcat(name, TARGETS[index]);
    if (status == TW_OK) status = tw_device_open(name, &device, diag);
    if (status == TW_OK) status = launch(device, object, result, diag);
    tw_device_close(device);
    tw_code_object_release(object);
    tw_context_free(ctx);
    return status;
}
