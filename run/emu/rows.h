/* The instruction tables: every mnemonic that the emulator knows. */
#ifndef TW_RUN_EMU_ROWS_H
#define TW_RUN_EMU_ROWS_H

#include "run/emu/state.h"

/* How the operands of a row stand in the text. */
typedef enum emu_bind {
    EMU_BIND_VECTOR = 0, /* d, [mask,] sources */
    EMU_BIND_COMPARE,    /* mask, a, b; v_cmpx without the mask on gfx10 and later */
    EMU_BIND_SCALAR,     /* d, sources */
    EMU_BIND_SCALAR_K,   /* d or a, 16-bit immediate */
    EMU_BIND_BRANCH,
    EMU_BIND_NONE, /* nothing to bind: waits, hints */
    EMU_BIND_SMEM,
    EMU_BIND_GLOBAL,
    EMU_BIND_BUFFER,
    EMU_BIND_LDS,
    EMU_BIND_COPY,
    EMU_BIND_TENSOR,
    EMU_BIND_WAIT,
    EMU_BIND_SPECIAL, /* operands in the order of the text; the handler knows */
    EMU_BIND_MATRIX,
    EMU_BIND_SCALED
} emu_bind;

/* Numbers of the lane functions. */
enum {
    EMU_LANE_NONE = 0,
#define V(name, dst, A_, B_, C_, flags, E)     EMU_LANE_##name,
#define R2(name, dst, A_, B_, C_, flags, E, K) EMU_LANE_##name,
#define CMP(name, A_, B_, E)                   EMU_LANE_##name,
#define CLAMPED(name, dst, A_, B_, C_, E)      EMU_LANE_##name##_clamped,
#include "run/emu/vop.def"
#include "run/emu/vop16.def"
#include "run/emu/vop3p.def"
#include "run/emu/vop_fp8.def"
#include "run/emu/vopc.def"
#undef V
#undef R2
#undef CMP
#undef CLAMPED
    EMU_LANE_COUNT
};

/* The lane functions for the host that this runs on. */
const emu_lane_fn *tw_emu_lanes(void);
extern const emu_lane_fn tw_emu_lanes_base[EMU_LANE_COUNT];
extern const emu_lane_fn tw_emu_lanes_v3[EMU_LANE_COUNT];

/* The lane function of an integer row under "clamp"; EMU_LANE_NONE where it has none. */
uint16_t tw_emu_clamped_lane(uint16_t lane);

/* Looks a mnemonic (without encoding suffix) up, aliases included; NULL when nobody knows it. */
typedef struct emu_table emu_table;
emu_table *tw_emu_table_new(void); /* NULL: no memory */
void tw_emu_table_free(emu_table *table);
const emu_row *tw_emu_table_find(const emu_table *table, const char *mnemonic);
size_t tw_emu_row_count(void);
const emu_row *tw_emu_row_at(size_t index);

#endif
