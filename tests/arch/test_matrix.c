#include "arch/matrix.h"

#include <stdio.h>
#include <string.h>

#include "arch/transpose.h"
#include "tests/arch/every_target.h"

#define MAX_ATOMS 64

static void extent(const tw_matrix_info *info, tw_matrix_operand operand, unsigned *rows, unsigned *columns) {
    *rows = operand == TW_MATRIX_B ? info->k : info->m;
    *columns = operand == TW_MATRIX_A ? info->k : info->n;
}

/* Every element of the operand is held, by as many lanes as the operand is copied to, and nothing else is. */
static void check_cover(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned copies) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    tw_lane_map map = tw_matrix_lane_map(atom, operand);
    unsigned seen[64][64] = {0}, rows, columns;
    extent(&info, operand, &rows, &columns);
    for (unsigned lane = 0; lane < info.wave_size; lane++)
        for (unsigned slot = 0; slot < info.slots[operand]; slot++) {
            unsigned row = 999, column = 999, back_lane, back_slot;
            assert_int_equal(tw_matrix_element(atom, operand, lane, slot, &row, &column), TW_OK);
            assert_true(row < rows && column < columns);
            seen[row][column]++;
            tw_lane_map_place(&map, row, column, &back_lane, &back_slot);
            assert_int_equal(back_slot, slot);
            assert_true(copies == 1 ? back_lane == lane : back_lane == lane % (info.wave_size / copies));
        }
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++)
            assert_int_equal(seen[row][column], copies);
    unsigned row, column;
    assert_int_equal(tw_matrix_element(atom, operand, info.wave_size, 0, &row, &column), TW_ERR_USAGE);
    assert_int_equal(tw_matrix_element(atom, operand, 0, info.slots[operand], &row, &column), TW_ERR_USAGE);
}

static void every_map_covers_its_matrix(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        /* gfx11 copies A and B to each group of 16 lanes. */
        bool gfx11 = tw_arch_get(on.arch)->isa == TW_ISA_GFX11;
        unsigned copies = gfx11 ? on.wave_size / 16u : 1;
        const tw_matrix_atom *atom;
        size_t count = 0;
        for (; (atom = tw_matrix_atom_at(on, count)); count++) {
            assert_int_equal(tw_matrix_atom_info(atom).wave_size, on.wave_size);
            check_cover(atom, TW_MATRIX_A, copies);
            check_cover(atom, TW_MATRIX_B, copies);
            check_cover(atom, TW_MATRIX_D, 1);
            assert_ptr_equal(tw_matrix_atom_by_name(on, tw_matrix_atom_info(atom).name), atom);
        }
        assert_in_range(count, 3, MAX_ATOMS);
    }
    assert_null(tw_matrix_atom_at((tw_target){0}, 0));
    assert_null(tw_matrix_atom_at((tw_target){TW_ARCH_GFX1250, 64, 0, 0}, 0));
    assert_null(tw_matrix_atom_by_name(target("gfx942"), "mfma.f32.16x16x32.f16"));
    assert_null(tw_matrix_atom_by_name(target("gfx950"), NULL));
    unsigned row, column;
    assert_int_equal(tw_matrix_element(NULL, TW_MATRIX_A, 0, 0, &row, &column), TW_ERR_USAGE);
    const tw_matrix_atom *atom = tw_matrix_atom_at(target("gfx950"), 0);
    assert_int_equal(tw_matrix_element(atom, (tw_matrix_operand)3, 0, 0, &row, &column), TW_ERR_USAGE);
}

/* ---- the closed formulas of the documents, from element to lane and slot ---- */

typedef void formula(const tw_matrix_info *atom, unsigned i, unsigned k, unsigned *lane, unsigned *slot);

/* CDNA: groups of e consecutive k in a lane, e = k * m / 64. */
static void mfma_input(const tw_matrix_info *atom, unsigned i, unsigned k, unsigned *lane, unsigned *slot) {
    unsigned e = atom->k * atom->m / 64;
    *lane = k / e * atom->m + i;
    *slot = k % e;
}
static void mfma_output(const tw_matrix_info *atom, unsigned i, unsigned j, unsigned *lane, unsigned *slot) {
    *lane = i / 4 % (64 / atom->n) * atom->n + j;
    *slot = i / (256 / atom->n) * 4 + i % 4;
}
static void mfma_f64_output(const tw_matrix_info *atom, unsigned i, unsigned j, unsigned *lane,
                            unsigned *slot) {
    (void)atom;
    *lane = i % 4 * 16 + j;
    *slot = i / 4;
}
static void gfx11_input(const tw_matrix_info *atom, unsigned i, unsigned k, unsigned *lane, unsigned *slot) {
    (void)atom;
    *lane = i;
    *slot = k;
}
static void gfx11_output(const tw_matrix_info *atom, unsigned i, unsigned j, unsigned *lane, unsigned *slot) {
    unsigned rows = atom->wave_size / 16u; /* in a register */
    *lane = i % rows * 16 + j;
    *slot = i / rows;
}
static void gfx12_input(const tw_matrix_info *atom, unsigned i, unsigned k, unsigned *lane, unsigned *slot) {
    bool bytes = tw_matrix_format_bits(atom->a) == 8;
    if (atom->wave_size == 32) {
        *lane = i + 16 * (bytes ? k / 8 : k / 4 % 2);
        *slot = bytes ? k % 8 : k % 4 + k / 8 * 4;
    } else {
        *lane = bytes ? 32 * (k / 4 % 2) + 16 * (k / 8) + i : 16 * (k / 4) + i;
        *slot = k % 4;
    }
}
static void gfx12_output(const tw_matrix_info *atom, unsigned i, unsigned j, unsigned *lane, unsigned *slot) {
    if (atom->wave_size == 32) {
        *lane = i / 8 * 16 + j;
        *slot = i % 8;
    } else {
        *lane = 32 * (i / 4 % 2) + 16 * (i / 8) + j;
        *slot = i % 4;
    }
}
static void gfx1250_input(const tw_matrix_info *atom, unsigned i, unsigned k, unsigned *lane,
                          unsigned *slot) {
    if (atom->k == 4) {
        *lane = i + 16 * (k / 2);
        *slot = k % 2;
    } else {
        *lane = i + 16 * (k / 8 % 2);
        *slot = 8 * (k / 16) + k % 8;
    }
}

static void check_formula(const tw_matrix_atom *atom, tw_matrix_operand operand, formula *place) {
    tw_matrix_info info = tw_matrix_atom_info(atom);
    unsigned outer = operand == TW_MATRIX_B ? info.n : info.m;
    unsigned inner = operand == TW_MATRIX_D ? info.n : info.k;
    for (unsigned i = 0; i < outer; i++)
        for (unsigned k = 0; k < inner; k++) {
            unsigned lane, slot, row, column;
            place(&info, i, k, &lane, &slot);
            assert_int_equal(tw_matrix_element(atom, operand, lane, slot, &row, &column), TW_OK);
            assert_int_equal(row, operand == TW_MATRIX_B ? k : i);
            assert_int_equal(column, operand == TW_MATRIX_B ? i : k);
        }
}

static void maps_are_those_of_the_documents(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        const tw_matrix_atom *atom;
        for (size_t i = 0; (atom = tw_matrix_atom_at(on, i)); i++) {
            formula *input = NULL, *output = NULL;
            switch (tw_arch_get(on.arch)->isa) {
            case TW_ISA_GFX9:
                input = mfma_input;
                output = tw_matrix_atom_info(atom).d == TW_MATRIX_F64 ? mfma_f64_output : mfma_output;
                break;
            case TW_ISA_GFX11: input = gfx11_input, output = gfx11_output; break;
            case TW_ISA_GFX12: input = gfx12_input, output = gfx12_output; break;
            case TW_ISA_GFX1250: input = gfx1250_input, output = gfx12_output; break;
            }
            check_formula(atom, TW_MATRIX_A, input);
            check_formula(atom, TW_MATRIX_B, input);
            check_formula(atom, TW_MATRIX_D, output);
        }
    }
}

/* The sizes are in the name, and so are the formats. */
static void names_tell_sizes(void **state) {
    (void)state;
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        const tw_matrix_atom *atom;
        for (size_t i = 0; (atom = tw_matrix_atom_at(target(every_target[t]), i)); i++) {
            tw_matrix_info info = tw_matrix_atom_info(atom);
            char sizes[32], d[8];
            snprintf(sizes, sizeof sizes, ".%ux%ux%u", info.m, info.n, info.k);
            assert_non_null(strstr(info.name, sizes));
            snprintf(d, sizeof d, ".%s.", tw_matrix_format_name(info.d));
            assert_non_null(strstr(info.name, d));
            const char *rest = strstr(info.name, sizes) + strlen(sizes);
            const char *a = strstr(rest, "iu8") ? "iu8" : tw_matrix_format_name(info.a);
            const char *b = strstr(rest, "iu8") ? "iu8" : tw_matrix_format_name(info.b);
            assert_non_null(strstr(rest, a));
            assert_non_null(strstr(rest, b));
            assert_int_equal(info.m * info.n, info.slots[TW_MATRIX_D] * info.wave_size);
            assert_int_equal(info.blocks, 1);
        }
    }
    assert_null(tw_matrix_format_name(TW_MATRIX_FORMAT_COUNT));
    assert_int_equal(tw_matrix_format_bits(TW_MATRIX_FORMAT_COUNT), 0);
}

/* Several products in one instruction: the slots of a lane hold all of them. */
static void blocks_have_slots_of_their_own(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned blocks, slots;
    } rows[] = {
        {"mfma.f32.32x32x1f32", 2, 32}, {"mfma.f32.16x16x4f16", 4, 16}, {"mfma.f32.4x4x4bf16.1k", 16, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const tw_matrix_atom *atom = tw_matrix_unit_by_name(target("gfx942"), rows[i].name);
        assert_non_null(atom);
        tw_matrix_info info = tw_matrix_atom_info(atom);
        assert_int_equal(info.blocks, rows[i].blocks);
        assert_int_equal(info.slots[TW_MATRIX_D], rows[i].slots);
        assert_null(tw_matrix_atom_by_name(target("gfx942"), rows[i].name));
    }
}

/* ---- transposed reads ---- */

static void sources_are_those_of_the_documents(void **state) {
    (void)state;
    const tw_transposed_read *wide = tw_transposed_lds_read(target("gfx1250"));
    const tw_transposed_read *narrow = tw_transposed_lds_read(target("gfx950"));
    assert_non_null(wide);
    assert_non_null(narrow);
    assert_int_equal(wide->slots, 8);
    assert_int_equal(narrow->slots, 4);
    unsigned lane, slot;
    for (unsigned l = 0; l < 32; l++)
        for (unsigned n = 0; n < 8; n++) {
            assert_int_equal(tw_transposed_source(wide, l, n, &lane, &slot), TW_OK);
            assert_int_equal(lane, (l & ~7u) + n);
            assert_int_equal(slot, l & 7);
        }
    for (unsigned l = 0; l < 64; l++)
        for (unsigned n = 0; n < 4; n++) {
            assert_int_equal(tw_transposed_source(narrow, l, n, &lane, &slot), TW_OK);
            assert_int_equal(lane, ((l & ~15u) | (l >> 2 & 3)) + 4 * n);
            assert_int_equal(slot, l & 3);
        }
    assert_int_equal(tw_transposed_source(wide, 32, 0, &lane, &slot), TW_ERR_USAGE);
    assert_int_equal(tw_transposed_source(wide, 0, 8, &lane, &slot), TW_ERR_USAGE);
    assert_int_equal(tw_transposed_source(NULL, 0, 0, &lane, &slot), TW_ERR_USAGE);
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        const tw_arch_info *info = tw_arch_get(target(every_target[t]).arch);
        assert_int_equal(tw_transposed_lds_read(target(every_target[t])) != NULL,
                         (info->features & TW_ARCH_HAS_TRANSPOSED_LDS_READ) != 0);
    }
}

/* A tile of k rows in memory, read through the transposed reads as the hardware moves it, is A of the atom:
 * the one check that sees the order of k. `tile` counts reads: each fetches the next 16 rows of k. */
static void check_fragment(const char *on, const char *name, unsigned tiles) {
    tw_target t = target(on);
    const tw_transposed_read *read = tw_transposed_lds_read(t);
    const tw_matrix_atom *atom = tw_matrix_atom_by_name(t, name);
    assert_non_null(atom);
    assert_int_equal(tw_matrix_atom_info(atom).slots[TW_MATRIX_A], tiles * read->slots);
    for (unsigned lane = 0; lane < read->wave_size; lane++)
        for (unsigned slot = 0; slot < tiles * read->slots; slot++) {
            unsigned i, k, column_i, row_k, source, element;
            assert_int_equal(tw_matrix_element(atom, TW_MATRIX_A, lane, slot, &i, &k), TW_OK);
            assert_int_equal(tw_transposed_source(read, lane, slot % read->slots, &source, &element), TW_OK);
            tw_lane_map_element(&read->memory, source, element, &row_k, &column_i);
            assert_int_equal(column_i, i);
            assert_int_equal(row_k + slot / read->slots * 16, k);
        }
}

/* The global loads of gfx12 move elements as gfx1250's LDS read does; wave64 is not known. */
static void global_loads_transpose_as_lds_reads_do(void **state) {
    (void)state;
    const tw_transposed_read *lds = tw_transposed_lds_read(target("gfx1250"));
    for (size_t t = 0; t < EVERY_TARGET; t++) {
        tw_target on = target(every_target[t]);
        const tw_transposed_read *load = tw_transposed_global_load(on);
        bool has =
            (tw_arch_get(on.arch)->features & TW_ARCH_HAS_TRANSPOSED_GLOBAL_LOAD) && on.wave_size == 32;
        assert_int_equal(load != NULL, has);
        for (unsigned lane = 0; has && lane < 32; lane++)
            for (unsigned slot = 0; slot < 8; slot++) {
                unsigned source[2], element[2];
                assert_int_equal(tw_transposed_source(load, lane, slot, &source[0], &element[0]), TW_OK);
                assert_int_equal(tw_transposed_source(lds, lane, slot, &source[1], &element[1]), TW_OK);
                assert_int_equal(source[0], source[1]);
                assert_int_equal(element[0], element[1]);
            }
    }
}

static void transposed_reads_make_fragments(void **state) {
    (void)state;
    check_fragment("gfx950", "mfma.f32.16x16x16f16", 1);
    check_fragment("gfx950", "mfma.f32.16x16x16bf16.1k", 1);
    check_fragment("gfx1250", "wmma.f32.16x16x32.f16", 2);
    check_fragment("gfx1250", "wmma.f32.16x16x32.bf16", 2);
}

/* What a lane reads is contiguous in memory: the slot is the low bits of the column. */
static void transposed_reads_are_contiguous(void **state) {
    (void)state;
    static const char *const on[] = {"gfx950", "gfx1250"};
    for (int t = 0; t < 2; t++) {
        const tw_transposed_read *read = tw_transposed_lds_read(target(on[t]));
        assert_int_equal(tw_lane_map_slots(&read->memory), read->slots);
        assert_int_equal(tw_lane_map_slots(&read->registers), read->slots);
        for (unsigned lane = 0; lane < read->wave_size; lane++) {
            unsigned row, column, first_row, first_column;
            tw_lane_map_element(&read->memory, lane, 0, &first_row, &first_column);
            for (unsigned slot = 0; slot < read->slots; slot++) {
                tw_lane_map_element(&read->memory, lane, slot, &row, &column);
                assert_int_equal(row, first_row);
                assert_int_equal(column, first_column + slot);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_map_covers_its_matrix),
        cmocka_unit_test(maps_are_those_of_the_documents),
        cmocka_unit_test(names_tell_sizes),
        cmocka_unit_test(blocks_have_slots_of_their_own),
        cmocka_unit_test(sources_are_those_of_the_documents),
        cmocka_unit_test(global_loads_transpose_as_lds_reads_do),
        cmocka_unit_test(transposed_reads_make_fragments),
        cmocka_unit_test(transposed_reads_are_contiguous),
    };
    return cmocka_run_group_tests_name("arch-matrix", tests, NULL, NULL);
}
