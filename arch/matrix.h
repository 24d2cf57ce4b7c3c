/* Matrix atoms: what one matrix instruction multiplies, and which lane and element slot holds what.
 * The maps are data (arch/matrix.def); one function reads them. */
#ifndef TW_ARCH_MATRIX_H
#define TW_ARCH_MATRIX_H

#include "arch/lane_map.h"
#include "arch/target.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tw_matrix_operand {
    TW_MATRIX_A = 0,
    TW_MATRIX_B,
    TW_MATRIX_D,
    TW_MATRIX_INDEX  /* of a sparse A: an entry of two bits for each of its elements, at the same row and
                        column */
} tw_matrix_operand; /* C is laid out as D */

typedef enum tw_matrix_format {
    TW_MATRIX_F16 = 0,
    TW_MATRIX_BF16,
    TW_MATRIX_F32,
    TW_MATRIX_FP8,
    TW_MATRIX_BF8,
    TW_MATRIX_I8, /* signed; unsigned too where the instruction has a choice ("iu8") */
    TW_MATRIX_I32,
    TW_MATRIX_F64,
    TW_MATRIX_XF32, /* f32 registers of which the leading 19 bits count */
    TW_MATRIX_I4,   /* as I8 */
    TW_MATRIX_FP6,  /* E2M3 */
    TW_MATRIX_BF6,  /* E3M2 */
    TW_MATRIX_FP4,  /* E2M1 */
    TW_MATRIX_FORMAT_COUNT
} tw_matrix_format;

/* "f16", ...; NULL and 0 for a number that is no format. */
TW_API const char *tw_matrix_format_name(tw_matrix_format format);
TW_API unsigned tw_matrix_format_bits(tw_matrix_format format);

typedef struct tw_matrix_atom tw_matrix_atom;

/* D (m x n) = A (m x k) * B (k x n) + C. Of a sparse A a lane has two elements for each four k, so its
 * columns are k / 2; column c belongs to row 4 * (c / 2) + entry of B. */
typedef struct tw_matrix_info {
    const char *name; /* the intrinsic's stem, e.g. "wmma.f32.16x16x32.f16" */
    uint8_t wave_size;
    uint8_t sparse; /* 1: A is */
    uint16_t m, n, k;
    uint16_t blocks; /* independent products in one instruction */
    tw_matrix_format a, b, d;
    uint16_t slots[3]; /* elements a lane holds of A, B, D */
    tw_matrix_format c;
} tw_matrix_info;

/* The atoms of a target (of its wave size) that make one product with a result of 32 bits or more, in table
 * order: the atom at `index`, or NULL past the end. Constant data. */
TW_API const tw_matrix_atom *tw_matrix_atom_at(tw_target target, size_t index);
TW_API const tw_matrix_atom *tw_matrix_atom_by_name(tw_target target, const char *name);
/* The targets (bit 1 << tw_arch) that have an atom of that name, for some wave size; 0 for a name of no atom.
 */
TW_API uint32_t tw_matrix_atom_targets(const char *name);
/* Among all that the matrix units know: those atoms, and forms with several blocks, results of 16 bits, and
 * formats that few chips have. */
TW_API const tw_matrix_atom *tw_matrix_unit_by_name(tw_target target, const char *name);
TW_API tw_matrix_info tw_matrix_atom_info(const tw_matrix_atom *atom);
/* Which element lane `lane`, slot `slot` (counted from bit 0 of the first register) holds: row and column of
 * A (m x k; the index too), B (k x n) or D (m x n). TW_ERR_USAGE when lane or slot is out of range. */
TW_API tw_status tw_matrix_element(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane,
                                   unsigned slot, unsigned *row, unsigned *column);
/* Which of the products that element belongs to; 0 where there is one. */
TW_API tw_status tw_matrix_block(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned lane,
                                 unsigned slot, unsigned *block);
/* Where an element lies: the lowest lane and slot. TW_ERR_USAGE for one that is not there. */
TW_API tw_status tw_matrix_place(const tw_matrix_atom *atom, tw_matrix_operand operand, unsigned block,
                                 unsigned row, unsigned column, unsigned *lane, unsigned *slot);
/* The bits of the lane that make no difference: lanes that differ in them hold copies of the operand. */
TW_API unsigned tw_matrix_copies(const tw_matrix_atom *atom, tw_matrix_operand operand);
/* The same as bits, for code that computes with them: rows and columns are those of tw_matrix_element. */
TW_API tw_lane_map tw_matrix_lane_map(const tw_matrix_atom *atom, tw_matrix_operand operand);

#ifdef __cplusplus
}
#endif
#endif
