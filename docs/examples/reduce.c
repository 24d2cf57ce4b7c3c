/* The sum of an array: each workgroup adds its share in LDS, with barriers between the steps of the tree, and
 * then adds its sum to the result with one atomic.
 *
 *     cc reduce.c $(pkg-config --cflags --libs tilewright) && ./a.out [device] */
#include <stdio.h>
#include <tilewright.h>

enum { GROUP = 256, GROUPS = 3 };

static tw_kernel *build_sum(tw_context *ctx, tw_target target) {
    tw_builder *b = tw_kernel_begin(ctx, "sum", target, &(tw_kernel_options){.workgroup_size = GROUP});
    const tw_type *f32 = tw_type_scalar(TW_F32);
    tw_value x = tw_param_ptr(b, "x", TW_F32, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value result = tw_param_ptr(b, "result", TW_F32, TW_PARAM_NOALIAS);
    tw_value n = tw_param(b, "n", TW_I32);
    tw_value lds = tw_lds_alloc(b, TW_F32, GROUP, 16);
    tw_value item = tw_workitem_id(b, 0), group = tw_workgroup_id(b, 0), size = tw_i32(b, GROUP);

    /* Every work-item adds elements first, first + all items, ... */
    tw_value start = tw_mul(b, group, size);
    tw_value first = tw_add(b, start, item);
    tw_value all = tw_i32(b, GROUP * GROUPS), zero = tw_f32(b, 0), sum, total;
    tw_value i = tw_for_begin(b, first, n, all, 1, &zero, &sum);
    tw_value element = tw_global_load(b, f32, x, i, 4);
    tw_value next = tw_fadd(b, sum, element);
    tw_for_end(b, 1, &next, &total);
    tw_lds_store(b, total, lds, item, 4);

    /* The lower half adds the upper half, until one is left. */
    for (int half = GROUP / 2; half > 0; half /= 2) {
        tw_barrier(b, TW_FENCE_LDS);
        tw_value count = tw_i32(b, half);
        tw_value lower = tw_icmp(b, TW_SLT, item, count);
        tw_if_begin(b, lower);
        tw_value other = tw_add(b, item, count);
        tw_value mine = tw_lds_load(b, f32, lds, item, 4);
        tw_value theirs = tw_lds_load(b, f32, lds, other, 4);
        tw_value both = tw_fadd(b, mine, theirs);
        tw_lds_store(b, both, lds, item, 4);
        tw_if_end(b, 0, NULL, NULL);
    }
    tw_value none = tw_i32(b, 0);
    tw_value leader = tw_icmp(b, TW_EQ, item, none);
    tw_if_begin(b, leader);
    tw_value of_group = tw_lds_load(b, f32, lds, item, 4);
    tw_global_atomic_fadd(b, of_group, result, none);
    tw_if_end(b, 0, NULL, NULL);
    return tw_kernel_end(b);
}

int main(int argc, char **argv) {
    enum { N = 10007 };
    static float x[N];
    double expected = 0;
    for (int i = 0; i < N; i++)
        expected += x[i] = (float)(i % 13 - 5); /* small integers: fp32 sums are exact in any order */
    float got = 0;

    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return 1;
    tw_diag *diag = tw_context_diag(ctx);
    tw_device *device = NULL;
    tw_compiler *compiler = NULL;
    tw_kernel *kernel = NULL;
    tw_code_object *object = NULL;
    tw_module *module = NULL;
    tw_buffer *bx = NULL, *result = NULL;
    int failed =
        tw_device_open(argc > 1 ? argv[1] : "auto:gfx1250", &device, diag) ||
        tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag) ||
        !(kernel = build_sum(ctx, tw_device_target(device))) ||
        tw_compile(compiler, kernel, NULL, &object, diag) || tw_module_load(device, object, &module, diag) ||
        tw_buffer_new(device, sizeof x, &bx, diag) || tw_buffer_new(device, sizeof got, &result, diag) ||
        tw_buffer_write(bx, 0, x, sizeof x, diag) || tw_buffer_fill(result, 0, 0, sizeof got, diag);
    if (!failed) {
        tw_launch_arg args[] = {TW_BUFFER_ARG(bx), TW_BUFFER_ARG(result), TW_I32_ARG(N)};
        failed = tw_launch(module, "sum", (tw_dim3){GROUPS, 1, 1}, (tw_dim3){GROUP, 1, 1}, args, 3, diag) ||
                 tw_buffer_read(result, 0, &got, sizeof got, diag);
    }
    if (failed) {
        fputs(tw_context_diagnostics(ctx), stderr);
    } else {
        failed = got != expected;
        printf("sum on %s: %g, expected %g\n", tw_device_name(device), got, expected);
    }
    tw_device_close(device);
    tw_code_object_release(object);
    tw_compiler_close(compiler);
    tw_context_free(ctx);
    return failed;
}
