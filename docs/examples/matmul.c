/* D = A * B in f16 with f32 sums, on the matrix unit of whatever target the device is: the target's table of
 * atoms gives the instruction, its lane maps say which element each lane loads and stores. A wave makes one
 * tile.
 *
 *     cc matmul.c $(pkg-config --cflags --libs tilewright) && ./a.out [device] */
#include <stdio.h>
#include <tilewright.h>

enum { M = 64, N = 32, K = 128, MAX_SLOTS = 64 };

/* The atom with the most products among those of f16 operands and f32 sums, one result a tile. */
static const tw_matrix_atom *choose_atom(tw_target target) {
    const tw_matrix_atom *atom, *best = NULL;
    unsigned most = 0;
    for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
        tw_matrix_info info = tw_matrix_atom_info(atom);
        unsigned products = info.m * info.n * info.k;
        if (info.a != TW_MATRIX_F16 || info.b != TW_MATRIX_F16 || info.d != TW_MATRIX_F32 || info.sparse)
            continue;
        if (M % info.m || N % info.n || K % info.k || products <= most) continue;
        best = atom, most = products;
    }
    return best;
}

/* The fragment of an operand whose matrix is row-major with `columns` columns; its tile begins at (row,
 * column). */
static tw_value load_fragment(tw_builder *b, const tw_matrix_atom *atom, tw_matrix_operand operand,
                              tw_value pointer, tw_value row, tw_value column, int columns) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    tw_lane_map map = tw_matrix_lane_map(atom, operand);
    tw_value lane = tw_lane_id(b), width = tw_i32(b, columns), elements[MAX_SLOTS];
    for (unsigned slot = 0; slot < info.slots[operand]; slot++) {
        tw_value in_row, in_column;
        tw_lane_map_values(b, &map, lane, slot, &in_row, &in_column);
        tw_value r = tw_add(b, row, in_row), c = tw_add(b, column, in_column);
        tw_value start = tw_mul(b, r, width);
        tw_value at = tw_add(b, start, c);
        elements[slot] = tw_global_load(b, tw_type_scalar(TW_F16), pointer, at, 2);
    }
    return tw_vector_build(b, elements, info.slots[operand]);
}

static tw_kernel *build_matmul(tw_context *ctx, tw_target target, const tw_matrix_atom **chosen) {
    const tw_matrix_atom *atom = *chosen = choose_atom(target);
    tw_builder *b =
        tw_kernel_begin(ctx, "matmul", target, &(tw_kernel_options){.workgroup_size = target.wave_size});
    if (!b || !atom) {
        if (b) tw_builder_fail(b, "the target must have an atom of f16 with f32 sums (got none)");
        return b ? tw_kernel_end(b) : NULL;
    }
    tw_matrix_info info = tw_matrix_atom_info(atom);
    tw_value pa = tw_param_ptr(b, "a", TW_F16, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value pb = tw_param_ptr(b, "b", TW_F16, TW_PARAM_READONLY | TW_PARAM_NOALIAS);
    tw_value pd = tw_param_ptr(b, "d", TW_F32, TW_PARAM_NOALIAS);
    tw_value gx = tw_workgroup_id(b, 0), gy = tw_workgroup_id(b, 1), lane = tw_lane_id(b);
    tw_value m = tw_i32(b, info.m), n = tw_i32(b, info.n);
    tw_value row = tw_mul(b, gy, m), column = tw_mul(b, gx, n);

    const tw_type *sums = tw_fragment_type(target, info.name, TW_MATRIX_D);
    tw_value none = tw_constant(b, sums, 0), sum, total;
    tw_value from = tw_i32(b, 0), to = tw_i32(b, K), step = tw_i32(b, info.k);
    tw_value k = tw_for_begin(b, from, to, step, 1, &none, &sum);
    tw_value fa = load_fragment(b, atom, TW_MATRIX_A, pa, row, k, K);
    tw_value fb = load_fragment(b, atom, TW_MATRIX_B, pb, k, column, N);
    tw_value next = tw_mma(b, info.name, fa, fb, sum);
    tw_for_end(b, 1, &next, &total);

    tw_lane_map map = tw_matrix_lane_map(atom, TW_MATRIX_D);
    tw_value width = tw_i32(b, N);
    for (unsigned slot = 0; slot < info.slots[TW_MATRIX_D]; slot++) {
        tw_value in_row, in_column;
        tw_lane_map_values(b, &map, lane, slot, &in_row, &in_column);
        tw_value r = tw_add(b, row, in_row), c = tw_add(b, column, in_column);
        tw_value start = tw_mul(b, r, width);
        tw_value at = tw_add(b, start, c), value = tw_vector_extract(b, total, slot);
        tw_global_store(b, value, pd, at, 4);
    }
    return tw_kernel_end(b);
}

int main(int argc, char **argv) {
    static uint16_t a[M * K], b[K * N];
    static float d[M * N];
    /* Small integers: f16 has them, and every sum is exact in any order. */
    for (int i = 0; i < M * K; i++)
        a[i] = tw_f32_to_f16((float)(i % 7 - 3));
    for (int i = 0; i < K * N; i++)
        b[i] = tw_f32_to_f16((float)(i % 11 - 5));

    tw_context *ctx = tw_context_new(NULL);
    if (!ctx) return 1;
    tw_diag *diag = tw_context_diag(ctx);
    tw_device *device = NULL;
    tw_compiler *compiler = NULL;
    tw_kernel *kernel = NULL;
    tw_code_object *object = NULL;
    tw_module *module = NULL;
    tw_buffer *ba = NULL, *bb = NULL, *bd = NULL;
    const tw_matrix_atom *atom = NULL;
    int failed = tw_device_open(argc > 1 ? argv[1] : "auto:gfx1250", &device, diag) ||
                 tw_compiler_open(TW_COMPILER_AUTO, &compiler, diag) ||
                 !(kernel = build_matmul(ctx, tw_device_target(device), &atom)) ||
                 tw_compile(compiler, kernel, NULL, &object, diag) ||
                 tw_module_load(device, object, &module, diag) ||
                 tw_buffer_new(device, sizeof a, &ba, diag) || tw_buffer_new(device, sizeof b, &bb, diag) ||
                 tw_buffer_new(device, sizeof d, &bd, diag) || tw_buffer_write(ba, 0, a, sizeof a, diag) ||
                 tw_buffer_write(bb, 0, b, sizeof b, diag);
    if (!failed) {
        tw_matrix_info info = tw_matrix_atom_info(atom);
        tw_launch_arg args[] = {TW_BUFFER_ARG(ba), TW_BUFFER_ARG(bb), TW_BUFFER_ARG(bd)};
        failed = tw_launch(module, "matmul", (tw_dim3){N / info.n, M / info.m, 1},
                           (tw_dim3){info.wave_size, 1, 1}, args, 3, diag) ||
                 tw_buffer_read(bd, 0, d, sizeof d, diag);
    }
    if (failed) fputs(tw_context_diagnostics(ctx), stderr);
    for (int i = 0; !failed && i < M * N; i++) {
        float exact = 0;
        for (int k = 0; k < K; k++)
            exact += (float)((i / N * K + k) % 7 - 3) * (float)((k * N + i % N) % 11 - 5);
        failed = d[i] != exact;
    }
    if (!failed)
        printf("matmul on %s with %s: all %d elements right\n", tw_device_name(device),
               tw_matrix_atom_info(atom).name, M * N);

    tw_device_close(device);
    tw_code_object_release(object);
    tw_compiler_close(compiler);
    tw_context_free(ctx);
    return failed;
}
