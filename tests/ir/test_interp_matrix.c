/* Matrix products in the interpreter: each atom of each target multiplies matrices that the kernel reads and
 * writes by the lane maps, against a product of integers. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/interp.h"
#include "ir/matrix.h"

static const char *const targets[] = {"gfx90a",  "gfx942",  "gfx950",  "gfx1100",        "gfx1100:wave64",
                                      "gfx1151", "gfx1200", "gfx1201", "gfx1201:wave64", "gfx1250"};

/* The index of element `slot` of this lane in a dense matrix of `columns` columns. */
static tw_value index_of(tw_builder *b, const tw_matrix_atom *atom, tw_matrix_operand operand,
                         unsigned columns, unsigned slot) {
    tw_lane_map map = tw_matrix_lane_map(atom, operand);
    tw_value lane = tw_lane_id(b), row, column;
    tw_lane_map_values(b, &map, lane, slot, &row, &column);
    tw_value pitch = tw_i32(b, (int32_t)columns);
    tw_value start = tw_mul(b, row, pitch);
    return tw_add(b, start, column);
}

static tw_value load_fragment(tw_builder *b, const tw_matrix_atom *atom, tw_matrix_operand operand,
                              tw_value pointer, unsigned columns) {
    const char *name = tw_matrix_atom_info(atom).name;
    const tw_type *type = tw_fragment_type(tw_builder_target(b), name, operand);
    tw_value elements[TW_MAX_LANES];
    for (unsigned slot = 0; slot < type->lanes; slot++) {
        tw_value index = index_of(b, atom, operand, columns, slot);
        elements[slot] = tw_global_load(b, tw_type_scalar(type->scalar), pointer, index, 0);
    }
    return type->lanes == 1 ? elements[0] : tw_vector_build(b, elements, type->lanes);
}

/* d = a * b + c, all dense and row by row; c and d in one buffer. */
static tw_kernel *product_kernel(tw_context *ctx, tw_target target, const tw_matrix_atom *atom) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    tw_builder *b =
        tw_kernel_begin(ctx, "product", target, &(tw_kernel_options){.workgroup_size = target.wave_size});
    tw_value pointers[3];
    static const char *const names[] = {"a", "b", "d"};
    for (unsigned i = 0; i < 3; i++) {
        const tw_type *type = tw_fragment_type(target, info.name, (tw_matrix_operand)i);
        pointers[i] = tw_param_ptr(b, names[i], type->scalar, 0);
    }
    tw_value x = load_fragment(b, atom, TW_MATRIX_A, pointers[0], info.k);
    tw_value y = load_fragment(b, atom, TW_MATRIX_B, pointers[1], info.n);
    tw_value z = load_fragment(b, atom, TW_MATRIX_D, pointers[2], info.n);
    tw_value d = tw_mma(b, info.name, x, y, z);
    for (unsigned slot = 0; slot < info.slots[TW_MATRIX_D]; slot++) {
        tw_value index = index_of(b, atom, TW_MATRIX_D, info.n, slot);
        tw_value element = tw_vector_extract(b, d, slot);
        tw_global_store(b, element, pointers[2], index, 0);
    }
    return tw_kernel_end(b);
}

static uint64_t bits_of(tw_scalar scalar, int value) {
    tw_float_format format;
    if (!tw_scalar_float_format(scalar, &format))
        return (uint64_t)value & tw_width_mask(tw_scalar_bits(scalar));
    return tw_float_convert(TW_FLOAT_F32, (uint32_t)tw_f32_bits((float)value), format, TW_ROUND_NEAREST_EVEN,
                            TW_OVERFLOW_SATURATE);
}

/* Small integers that every format holds; the buffer has them as elements of the format. */
static void fill(int *values, uint8_t *bytes, unsigned count, tw_scalar scalar, unsigned seed) {
    unsigned size = tw_scalar_bits(scalar) / 8;
    for (unsigned i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        values[i] = (int)(seed >> 16) % 9 - 4;
        uint64_t bits = bits_of(scalar, values[i]);
        memcpy(bytes + (size_t)i * size, &bits, size);
    }
}

static void check_atom(tw_target target, const tw_matrix_atom *atom) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    static int values[3][1024 * 2];
    static uint8_t bytes[3][1024 * 8];
    unsigned counts[] = {(unsigned)info.m * info.k, (unsigned)info.k * info.n, (unsigned)info.m * info.n};
    tw_interp_arg args[3];
    tw_scalar scalar = TW_I1;
    for (unsigned i = 0; i < 3; i++) {
        scalar = tw_fragment_type(target, info.name, (tw_matrix_operand)i)->scalar;
        fill(values[i], bytes[i], counts[i], scalar, i + 1);
        args[i] = TW_INTERP_MEMORY(bytes[i], counts[i] * (tw_scalar_bits(scalar) / 8));
    }
    tw_context *ctx = tw_context_new(NULL);
    tw_kernel *kernel = product_kernel(ctx, target, atom);
    if (!kernel) fail_msg("%s: %s", info.name, tw_context_diagnostics(ctx));
    if (tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 3, NULL, tw_context_diag(ctx)))
        fail_msg("%s: %s", info.name, tw_context_diagnostics(ctx));
    for (unsigned row = 0; row < info.m; row++)
        for (unsigned column = 0; column < info.n; column++) {
            int sum = values[2][row * info.n + column];
            for (unsigned k = 0; k < info.k; k++)
                sum += values[0][row * info.k + k] * values[1][k * info.n + column];
            uint32_t got;
            memcpy(&got, bytes[2] + 4 * (size_t)(row * info.n + column), sizeof got);
            if (got != bits_of(scalar, sum))
                fail_msg("%s at %u, %u: 0x%x", info.name, row, column, (unsigned)got);
        }
    tw_context_free(ctx);
}

static void atoms_multiply(void **state) {
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        tw_target target;
        assert_int_equal(tw_target_parse(targets[t], &target, NULL), TW_OK);
        const tw_matrix_atom *atom;
        size_t count = 0;
        for (size_t i = 0; (atom = tw_matrix_atom_at(target, i)); i++) {
            if (!tw_fragment_type(target, tw_matrix_atom_info(atom).name, TW_MATRIX_A)) continue;
            check_atom(target, atom);
            count++;
        }
        assert_true(count >= 3);
    }
}

static void fragments_have_types(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx942", &target, NULL), TW_OK);
    assert_ptr_equal(tw_fragment_type(target, "mfma.f32.16x16x32.fp8.bf8", TW_MATRIX_A),
                     tw_type_vector(TW_F8E4M3FNUZ, 8));
    assert_ptr_equal(tw_fragment_type(target, "mfma.f32.16x16x32.fp8.bf8", TW_MATRIX_B),
                     tw_type_vector(TW_F8E5M2FNUZ, 8));
    assert_ptr_equal(tw_fragment_type(target, "mfma.f32.32x32x2f32", TW_MATRIX_A), tw_type_scalar(TW_F32));
    assert_ptr_equal(tw_fragment_type(target, "mfma.f32.32x32x8f16", TW_MATRIX_D),
                     tw_type_vector(TW_F32, 16));
    assert_null(tw_fragment_type(target, "mfma.f64.16x16x4f64", TW_MATRIX_A));
    assert_null(tw_fragment_type(target, "wmma.f32.16x16x16.f16", TW_MATRIX_A));
    assert_null(tw_fragment_type(target, NULL, TW_MATRIX_A));
    assert_null(tw_fragment_type(target, "mfma.f32.32x32x8f16", (tw_matrix_operand)3));
}

/* Memory holds its own indices. Each lane reads from another place, so that the source is seen. */
static void read_transposed(const char *name, bool from_lds, uint16_t out[64][8]) {
    static uint16_t memory[1024];
    tw_target target;
    tw_context *ctx = tw_context_new(NULL);
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    for (unsigned i = 0; i < 1024; i++)
        memory[i] = (uint16_t)i;
    memset(out, 0, sizeof(uint16_t[64][8]));
    tw_builder *b =
        tw_kernel_begin(ctx, "transposed", target, &(tw_kernel_options){.workgroup_size = target.wave_size});
    tw_value in = tw_param_ptr(b, "in", TW_I16, 0), result = tw_param_ptr(b, "out", TW_I16, 0);
    tw_value lane = tw_lane_id(b), eight = tw_i32(b, 8), first = tw_mul(b, lane, eight);
    tw_value array = tw_lds_alloc(b, TW_I16, 1024, 16);
    tw_value row = tw_global_load(b, tw_type_vector(TW_I16, 8), in, first, 0);
    tw_lds_store(b, row, array, first, 0);
    tw_barrier(b, TW_FENCE_LDS);
    tw_value read =
        from_lds ? tw_lds_load_transposed(b, array, first) : tw_global_load_transposed(b, in, first);
    tw_global_store(b, read, result, first, 0);
    tw_kernel *kernel = tw_kernel_end(b);
    if (!kernel) fail_msg("%s: %s", name, tw_context_diagnostics(ctx));
    tw_interp_arg args[] = {TW_INTERP_MEMORY(memory, sizeof memory),
                            TW_INTERP_MEMORY(out, sizeof(uint16_t[64][8]))};
    if (tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 2, NULL, tw_context_diag(ctx)))
        fail_msg("%s: %s", name, tw_context_diagnostics(ctx));
    tw_context_free(ctx);
}

/* As the documents have it: source lane and element by formula. */
static void transposed_reads_move_elements(void **state) {
    (void)state;
    uint16_t out[64][8];
    static const char *const global[] = {"gfx1200", "gfx1201", "gfx1250"};
    for (unsigned i = 0; i <= 3; i++) {
        read_transposed(i < 3 ? global[i] : "gfx1250", i == 3, out);
        for (unsigned lane = 0; lane < 32; lane++)
            for (unsigned n = 0; n < 8; n++)
                assert_int_equal(out[lane][n], 8 * ((lane & ~7u) + n) + (lane & 7));
    }
    read_transposed("gfx950", true, out);
    for (unsigned lane = 0; lane < 64; lane++)
        for (unsigned n = 0; n < 4; n++)
            assert_int_equal(out[lane][n], 8 * (((lane & ~15u) | (lane >> 2 & 3)) + 4 * n) + (lane & 3));
}

/* On gfx11 lane l and lane l + 16 hold the same of A and B, and other things of C. */
static void copies_must_agree(void **state) {
    (void)state;
    tw_target target;
    assert_int_equal(tw_target_parse("gfx1100", &target, NULL), TW_OK);
    for (unsigned wrong = 0; wrong <= 3; wrong++) {
        tw_context *ctx = tw_context_new(NULL);
        tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
        tw_value in = tw_param_ptr(b, "in", TW_F32, 0), lane = tw_lane_id(b), fragments[3];
        for (unsigned i = 0; i < 3; i++) {
            const tw_type *type = tw_fragment_type(target, "wmma.f32.16x16x16.f16", (tw_matrix_operand)i);
            tw_value mask = tw_i32(b, i == wrong || i == TW_MATRIX_D ? 31 : 15);
            tw_value number = tw_and(b, lane, mask), x = tw_sitofp(b, number, type->scalar);
            fragments[i] = tw_vector_splat(b, x, type->lanes);
        }
        tw_value d = tw_mma(b, "wmma.f32.16x16x16.f16", fragments[0], fragments[1], fragments[2]);
        tw_value one = tw_vector_extract(b, d, 0);
        tw_global_store(b, one, in, lane, 0);
        tw_kernel *kernel = tw_kernel_end(b);
        if (!kernel) fail_msg("%s", tw_context_diagnostics(ctx));
        float memory[32];
        tw_interp_arg args[] = {TW_INTERP_MEMORY(memory, sizeof memory)};
        tw_diag *diag = tw_diag_new(NULL);
        tw_status status = tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 1, NULL, diag);
        char text[256];
        snprintf(text, sizeof text,
                 "tile.mma: in work-item 16 of workgroup 0, 0, 0 lanes that hold copies of an element of "
                 "operand %u must have the same bits (got 0x0 and 0x4c00)",
                 wrong);
        assert_int_equal(status, wrong < 2 ? TW_ERR_DEVICE : TW_OK);
        assert_string_equal(status ? tw_diag_first_error(diag) : text, text);
        tw_diag_free(diag);
        tw_context_free(ctx);
    }
}

/* D's first element for products of bf16 whose first k alone has an A that is not 0, and a C of f32. */
static uint32_t product_of(const char *name, uint32_t a, uint32_t b_bits, uint32_t c) {
    tw_target target;
    assert_int_equal(tw_target_parse(name, &target, NULL), TW_OK);
    tw_context *ctx = tw_context_new(NULL);
    tw_builder *b = tw_kernel_begin(ctx, "k", target, &(tw_kernel_options){.workgroup_size = 64});
    tw_value out = tw_param_ptr(b, "out", TW_F32, 0), lane = tw_lane_id(b), width = tw_i32(b, 16);
    const tw_type *fragment = tw_type_vector(TW_BF16, 4);
    tw_value zeros = tw_constant(b, fragment, 0), x = tw_constant(b, tw_type_scalar(TW_BF16), a);
    tw_value first = tw_vector_insert(b, x, zeros, 0), low = tw_icmp(b, TW_ULT, lane, width);
    tw_value left = tw_select(b, low, first, zeros), right = tw_constant(b, fragment, b_bits);
    tw_value sum = tw_constant(b, tw_type_vector(TW_F32, 4), c);
    tw_value d = tw_mma(b, "mfma.f32.16x16x16bf16.1k", left, right, sum), one = tw_vector_extract(b, d, 0);
    tw_global_store(b, one, out, lane, 0);
    tw_kernel *kernel = tw_kernel_end(b);
    if (!kernel) fail_msg("%s", tw_context_diagnostics(ctx));
    uint32_t memory[64];
    tw_interp_arg args[] = {TW_INTERP_MEMORY(memory, sizeof memory)};
    assert_int_equal(tw_interp_run(kernel, (const uint32_t[]){1, 1, 1}, args, 1, NULL, NULL), TW_OK);
    tw_context_free(ctx);
    return memory[0];
}

/* docs/ir.md: denormals count, but gfx90a takes those of f16 and bf16 products for zeros. */
static void denormals_count_except_on_gfx90a(void **state) {
    (void)state;
    static const struct {
        uint32_t a, b, c, kept, flushed;
    } rows[] = {
        {0x0040, 0x4000, 0, 0x00800000, 0},                   /* A: 2^-127 * 2 */
        {0x4000, 0x8040, 0, 0x80800000, 0},                   /* B */
        {0x4000, 0x0080, 0x80400000, 0x00c00000, 0x01000000}, /* C: 2 * 2^-126 - 2^-127 */
        {0x0080, 0x3f00, 0, 0x00400000, 0},                   /* the result: 2^-126 / 2 */
        {0x8080, 0x3f00, 0, 0x80400000, 0x80000000},          /* keeps its sign */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(product_of("gfx942", rows[i].a, rows[i].b, rows[i].c), rows[i].kept);
        assert_int_equal(product_of("gfx90a", rows[i].a, rows[i].b, rows[i].c), rows[i].flushed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_must_agree),    cmocka_unit_test(transposed_reads_move_elements),
        cmocka_unit_test(atoms_multiply),       cmocka_unit_test(denormals_count_except_on_gfx90a),
        cmocka_unit_test(fragments_have_types),
    };
    return cmocka_run_group_tests_name("interp_matrix", tests, NULL, NULL);
}
