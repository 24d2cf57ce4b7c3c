/* Reads that transpose 16-bit tiles on the way to the registers: from LDS gfx950 ds_read_b64_tr_b16 and
 * gfx1250 ds_load_tr16_b128, from global memory gfx12 global_load_tr_b128. */
#ifndef TW_ARCH_TRANSPOSE_H
#define TW_ARCH_TRANSPOSE_H

#include "arch/lane_map.h"
#include "arch/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One read moves a tile of 16 columns and 16 rows (gfx950, 8 bits: 32). In memory a row is contiguous: each
 * lane gives the address of `slots` neighbouring elements of one row, those that `memory` names (its slot
 * counts elements from the address). In the registers a lane gets `slots` neighbouring elements of one
 * column: those that `registers` names. With rows as k, that is how A and B of the matrix atoms of gfx950 and
 * gfx1250 are laid out. On gfx1200 and gfx1201 the atoms have k in another order: there A and B of one
 * product must both come from transposed loads, and then the order makes no difference. */
typedef struct tw_transposed_read {
    const char *name; /* the intrinsic's stem, e.g. "ds.load.tr16.b128" */
    uint8_t wave_size;
    uint8_t slots; /* elements a lane reads, and gets */
    tw_lane_map memory, registers;
    uint8_t bits; /* of an element */
} tw_transposed_read;

/* NULL where the target has none. Constant data. */
TW_API const tw_transposed_read *tw_transposed_lds_read(tw_target target);
TW_API const tw_transposed_read *tw_transposed_global_load(tw_target target);
/* Any of them by its name, those of 8 bits too. */
TW_API const tw_transposed_read *tw_transposed_by_name(tw_target target, const char *name);
/* Which lane's address, and which element from there, ends in `slot` of `lane`. TW_ERR_USAGE when lane or
 * slot is out of range. */
TW_API tw_status tw_transposed_source(const tw_transposed_read *read, unsigned lane, unsigned slot,
                                      unsigned *source_lane, unsigned *source_slot);

#ifdef __cplusplus
}
#endif
#endif
