/* y = a * x + y: builds a kernel, compiles it in this process, runs it, checks it.
 *
 *     cc axpy.c $(pkg-config --cflags --libs tilewright) && ./a.out [device]
 *
 * The device is "emu:gfx1250" (the emulator inside the library), "hip:0" (a GPU) or, by default,
 * "auto:gfx1250": a GPU where there is one, else the emulator. */
#include <stdio.h>
#include <tilewright.h>

static tw_kernel *build_axpy(tw_context *ctx, tw_target target) {
    tw_builder *b = tw_kernel_begin(ctx, "axpy", target, &(tw_kernel_options){.workgroup_size = 256});
    tw_value x = tw_param_ptr(b, "x", TW_F32, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value y = tw_param_ptr(b, "y", TW_F32, TW_PARAM_NOALIAS);
    tw_value a = tw_param(b, "a", TW_F32), n = tw_param(b, "n", TW_I32);
    tw_value group = tw_workgroup_id(b, 0), item = tw_workitem_id(b, 0), size = tw_i32(b, 256);
    tw_value start = tw_mul(b, group, size);
    tw_value i = tw_add(b, start, item);
    tw_value inside = tw_icmp(b, TW_SLT, i, n);
    tw_if_begin(b, inside);
    tw_value xi = tw_global_load(b, tw_type_scalar(TW_F32), x, i, 4);
    tw_value yi = tw_global_load(b, tw_type_scalar(TW_F32), y, i, 4);
    tw_value sum = tw_fma(b, a, xi, yi);
    tw_global_store(b, sum, y, i, 4);
    tw_if_end(b, 0, NULL, NULL);
    return tw_kernel_end(b); /* NULL on error */
}

int main(int argc, char **argv) {
    enum { N = 1000 };
    float x[N], y[N];
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 1;

    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return 1;
    tw_diag *diag = tw_context_diag(ctx);
    tw_device *device = NULL;
    tw_compiler *compiler = NULL;
    tw_kernel *kernel = NULL;
    tw_code_object *object = NULL;
    tw_module *module = NULL;
    tw_buffer *bx = NULL, *by = NULL;
    int failed = tw_device_open(argc > 1 ? argv[1] : "auto:gfx1250", &device, diag) ||
                 tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag) ||
                 !(kernel = build_axpy(ctx, tw_device_target(device))) ||
                 tw_compile(compiler, kernel, NULL, &object, diag) ||
                 tw_module_load(device, object, &module, diag) ||
                 tw_buffer_new(device, sizeof x, &bx, diag) || tw_buffer_new(device, sizeof y, &by, diag) ||
                 tw_buffer_write(bx, 0, x, sizeof x, diag) || tw_buffer_write(by, 0, y, sizeof y, diag);
    if (!failed) {
        tw_launch_arg args[] = {TW_BUFFER_ARG(bx), TW_BUFFER_ARG(by), TW_F32_ARG(2), TW_I32_ARG(N)};
        failed = tw_launch(module, "axpy", (tw_dim3){(N + 255) / 256, 1, 1}, (tw_dim3){256, 1, 1}, args, 4,
                           diag) ||
                 tw_buffer_read(by, 0, y, sizeof y, diag);
    }
    if (failed) fputs(tw_context_diagnostics(ctx), stderr);
    for (int i = 0; !failed && i < N; i++)
        failed = y[i] != 2 * x[i] + 1;
    if (!failed)
        printf("axpy on %s: y[%d] = %g, all %d elements right\n", tw_device_name(device), N - 1, y[N - 1], N);

    tw_device_close(device); /* frees its modules and buffers, too */
    tw_code_object_release(object);
    tw_compiler_close(compiler);
    tw_context_free(ctx); /* frees its kernels, too */
    return failed;
}
