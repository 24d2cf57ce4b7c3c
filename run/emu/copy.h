/* Copies between global memory and LDS that go on while the wave does: they are complete when a wait says so,
 * and here not a moment earlier. */
#ifndef TW_RUN_EMU_COPY_H
#define TW_RUN_EMU_COPY_H

#include "run/emu/access.h"

/* The counter that a copy holds up. Copies of one counter complete in order. */
typedef enum emu_counter {
    EMU_COUNTER_VM = 0, /* gfx9: every vector memory instruction */
    EMU_COUNTER_ASYNC,
    EMU_COUNTER_TENSOR,
    EMU_COUNTER_COUNT
} emu_counter;

/* Bytes that lie side by side on both ends. */
typedef struct emu_piece {
    emu_buffer *buffer; /* NULL: zeros come in its place */
    uint64_t offset;    /* in the buffer */
    uint32_t lds;
    uint32_t bytes; /* in LDS */
    uint32_t read;  /* of them from memory, extended to `bytes` */
    int32_t lane;   /* -1: of the whole wave */
} emu_piece;

/* One copy while it is put together, and then until it is complete. */
typedef struct emu_copy {
    const emu_inst *inst;
    uint64_t number;    /* among the operations of its counter */
    bool store;         /* from LDS to memory */
    bool sign;          /* sign extension */
    bool failed;        /* memory ran out */
    uint64_t low, high; /* addresses in memory */
    emu_piece *pieces;
    uint32_t count, capacity;
} emu_copy;

/* Whether M0 names this workgroup alone for what a cluster loads; reported where it does not. */
bool tw_emu_copy_alone(tw_emu_wave *w);
/* Adds a piece; false when memory ran out. */
bool tw_emu_copy_add(emu_copy *copy, emu_piece piece);
/* The copy is under way: takes the pieces over. */
void tw_emu_copy_start(tw_emu_wave *w, emu_counter counter, emu_copy *copy);
/* Counts an operation that moves nothing. */
void tw_emu_copy_count(tw_emu_wave *w, emu_counter counter);
/* All but the last `rest` operations of the counter are complete. */
void tw_emu_copy_wait(tw_emu_wave *w, emu_counter counter, uint64_t rest);
/* Everything is complete. */
void tw_emu_copy_finish(tw_emu_wave *w);
/* The same because the wave has ended; notes the loads that were under way. */
void tw_emu_copy_end(tw_emu_wave *w);
void tw_emu_copy_reset(emu_group *g); /* a workgroup begins */
void tw_emu_copy_free(emu_group *g);

/* Reports lanes of a block that meet a copy under way in LDS. */
void tw_emu_copy_check_lds_block(tw_emu_wave *w, unsigned half, const uint64_t *offset, uint32_t lanes,
                                 unsigned bytes, emu_intent intent);

#endif
