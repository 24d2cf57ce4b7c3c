/* Matrix fragments: what a lane holds of the operands of tile.mma, and where in the matrix that is. */
#ifndef TW_IR_MATRIX_H
#define TW_IR_MATRIX_H

#include "arch/matrix.h"
#include "ir/build.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of an operand's fragment: a vector (a scalar where a lane has one element) of tw_matrix_info.slots
 * elements, slot 0 first; fp8 and bf8 in the target's own formats. NULL where the target has no such atom, or
 * the tile IR no such element (f64). C has the type of D. */
TW_API const tw_type *tw_fragment_type(tw_target target, const char *atom, tw_matrix_operand operand);

/* D = A * B + C. `atom` is a name from tw_matrix_atom_at, e.g. "wmma.f32.16x16x32.f16". All lanes of the wave
 * must be active. */
TW_API tw_value tw_mma(tw_builder *b, const char *atom, tw_value a, tw_value b_fragment, tw_value c);

/* Ops that compute where in the tile element `slot` of lane `lane` (an i32) is by the map: row and column as
 * i32, each NULL where it is not wanted. Maps: tw_matrix_lane_map for fragments (of A: row and k; of B: k and
 * column), and those of a tw_transposed_read. */
TW_API void tw_lane_map_values(tw_builder *b, const tw_lane_map *map, tw_value lane, unsigned slot,
                               tw_value *row, tw_value *column);

#ifdef __cplusplus
}
#endif
#endif
