/* A fused kernel of one's own: y = x / sqrt(mean(x^2) + epsilon) * weight, row by row, in f16 with f32
 * arithmetic (the normalisation of many language models). One wave a row: the row stays in registers, the
 * waves do not meet.
 *
 *     cc custom_op.c $(pkg-config --cflags --libs tilewright) -lm && ./a.out [device] */
#include <math.h>
#include <stdio.h>
#include <tilewright.h>

enum { ROWS = 5, COLUMNS = 1000, WAVES = 4, MAX_PER_LANE = 32 };

/* The lane's elements are lane, lane + wave size, ...; past the end they count as 0. Columns are a constant
 * here, so that the compiler sees every load at once; a parameter would do as well. */
static tw_kernel *build_norm(tw_context *ctx, tw_target target) {
    const uint32_t lanes = target.wave_size;
    const unsigned per_lane = (COLUMNS + lanes - 1) / lanes;
    tw_builder *b =
        tw_kernel_begin(ctx, "rms_norm", target, &(tw_kernel_options){.workgroup_size = WAVES * lanes});
    if (b && per_lane > MAX_PER_LANE) tw_builder_fail(b, "a row must have fewer columns (got %d)", COLUMNS);
    const tw_type *f16 = tw_type_scalar(TW_F16);
    tw_value x = tw_param_ptr(b, "x", TW_F16, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value weight = tw_param_ptr(b, "weight", TW_F16, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value y = tw_param_ptr(b, "y", TW_F16, TW_PARAM_NOALIAS);
    tw_value rows = tw_param(b, "rows", TW_I32), epsilon = tw_param(b, "epsilon", TW_F32);

    tw_value group = tw_workgroup_id(b, 0), wave = tw_wave_id(b), lane = tw_lane_id(b),
             waves = tw_i32(b, WAVES);
    tw_value first = tw_mul(b, group, waves);
    tw_value row = tw_add(b, first, wave);
    tw_value has_row = tw_icmp(b, TW_SLT, row, rows);
    tw_if_begin(b, has_row);

    tw_value columns = tw_i32(b, COLUMNS), zero = tw_f32(b, 0), sum = zero;
    tw_value row_start = tw_mul(b, row, columns);
    tw_value in[MAX_PER_LANE], column[MAX_PER_LANE], inside[MAX_PER_LANE];
    for (unsigned i = 0; i < per_lane && i < MAX_PER_LANE; i++) {
        tw_value step = tw_i32(b, (int32_t)(i * lanes));
        column[i] = tw_add(b, lane, step);
        inside[i] = tw_icmp(b, TW_SLT, column[i], columns);
        tw_value at = tw_add(b, row_start, column[i]);
        tw_if_begin(b, inside[i]);
        tw_value loaded = tw_global_load(b, f16, x, at, 2);
        tw_value wide = tw_fpext(b, loaded, TW_F32);
        tw_if_else(b, 1, &wide);
        tw_if_end(b, 1, &zero, &in[i]);
        sum = tw_fma(b, in[i], in[i], sum);
    }
    tw_value total = tw_wave_reduce(b, TW_REDUCE_FADD, sum);
    tw_value share = tw_f32(b, 1.0f / COLUMNS);
    tw_value mean = tw_fma(b, total, share, epsilon);
    tw_value scale = tw_rsqrt(b, mean);
    for (unsigned i = 0; i < per_lane && i < MAX_PER_LANE; i++) {
        tw_if_begin(b, inside[i]);
        tw_value w = tw_global_load(b, f16, weight, column[i], 2);
        tw_value factor = tw_fpext(b, w, TW_F32);
        tw_value normal = tw_fmul(b, in[i], scale);
        tw_value scaled = tw_fmul(b, normal, factor);
        tw_value narrow = tw_fptrunc(b, scaled, TW_F16);
        tw_value at = tw_add(b, row_start, column[i]);
        tw_global_store(b, narrow, y, at, 2);
        tw_if_end(b, 0, NULL, NULL);
    }
    tw_if_end(b, 0, NULL, NULL);
    return tw_kernel_end(b);
}

int main(int argc, char **argv) {
    static uint16_t x[ROWS * COLUMNS], weight[COLUMNS], y[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        x[i] = tw_f32_to_f16((float)(i * 37 % 201 - 100) / 32);
    for (int i = 0; i < COLUMNS; i++)
        weight[i] = tw_f32_to_f16((float)(i % 7 + 1) / 4);
    const float epsilon = 1e-5f;

    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return 1;
    tw_diag *diag = tw_context_diag(ctx);
    tw_device *device = NULL;
    tw_compiler *compiler = NULL;
    tw_kernel *kernel = NULL;
    tw_code_object *object = NULL;
    tw_module *module = NULL;
    tw_buffer *bx = NULL, *bw = NULL, *by = NULL;
    int failed =
        tw_device_open(argc > 1 ? argv[1] : "auto:gfx1250", &device, diag) ||
        tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag) ||
        !(kernel = build_norm(ctx, tw_device_target(device))) ||
        tw_compile(compiler, kernel, NULL, &object, diag) || tw_module_load(device, object, &module, diag) ||
        tw_buffer_new(device, sizeof x, &bx, diag) || tw_buffer_new(device, sizeof weight, &bw, diag) ||
        tw_buffer_new(device, sizeof y, &by, diag) || tw_buffer_write(bx, 0, x, sizeof x, diag) ||
        tw_buffer_write(bw, 0, weight, sizeof weight, diag);
    if (!failed) {
        tw_launch_arg args[] = {TW_BUFFER_ARG(bx), TW_BUFFER_ARG(bw), TW_BUFFER_ARG(by), TW_I32_ARG(ROWS),
                                TW_F32_ARG(epsilon)};
        tw_dim3 grid = {(ROWS + WAVES - 1) / WAVES, 1, 1};
        tw_dim3 block = {WAVES * tw_device_target(device).wave_size, 1, 1};
        failed = tw_launch(module, "rms_norm", grid, block, args, 5, diag) ||
                 tw_buffer_read(by, 0, y, sizeof y, diag);
    }
    if (failed) fputs(tw_context_diagnostics(ctx), stderr);

    /* The f32 arithmetic is good for about 2^-20, storing as f16 for half a unit in the last place: 2^-11. */
    double worst = 0;
    for (int row = 0; !failed && row < ROWS; row++) {
        double squares = 0;
        for (int i = 0; i < COLUMNS; i++)
            squares += pow(tw_f16_to_f32(x[row * COLUMNS + i]), 2);
        double scale = 1 / sqrt(squares / COLUMNS + epsilon);
        for (int i = 0; i < COLUMNS; i++) {
            double expected = tw_f16_to_f32(x[row * COLUMNS + i]) * scale * tw_f16_to_f32(weight[i]);
            double error = fabs(tw_f16_to_f32(y[row * COLUMNS + i]) - expected) / (fabs(expected) + 0x1p-14);
            if (!(error <= worst)) worst = error;
        }
    }
    if (!failed) {
        failed = !(worst <= 0x1.01p-11);
        printf("rms_norm on %s: largest relative error %.2g\n", tw_device_name(device), worst);
    }
    tw_device_close(device);
    tw_code_object_release(object);
    tw_compiler_close(compiler);
    tw_context_free(ctx);
    return failed;
}
